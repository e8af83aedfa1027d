"""The report: true, explained, safe against hostile names, the same bytes again, one small file."""

import base64
import hashlib
import html
import re
import warnings
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import report
from bosaris_py.errors import BosarisWarning, InvalidInputError
from tests.test_tables import HOSTILE as NAMES

MODELS = [f"p{i // 2}-m{i:02}" for i in range(12)]
SEGMENTS = [f"p{j % 6}-s{j:02}" for j in range(40)]
IS_TAR = np.array([[model[:2] == segment[:2] for segment in SEGMENTS] for model in MODELS])
KEY = bp.Key(MODELS, SEGMENTS, IS_TAR, ~IS_TAR)
HOSTILE = [
    *("--><img src=http://evil.example/x onerror=alert(1)>", '" onload="alert(1)', "_hidden"),
    *("]]></style></svg>", 'url(#x) href="#y"', "x" * 399 + "y", "x" * 400, "語 😀"),
    *(NAMES[name] for name in ("tag", "code", "latex", "row", "left", "escape", "half")),
]


def make(seed, strength):
    """Return made-up scores of all trials."""
    noise = np.random.default_rng(seed).normal(0, 1, IS_TAR.shape)
    return bp.Scores(strength * (2 * IS_TAR - 1) + noise, MODELS, SEGMENTS)


def speaker(name: str) -> str:
    return name[:2]


def quietly(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function; what it warns of is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BosarisWarning)
        return function(*args, **options)


def evaluate(systems: Any, **options: Any) -> bp.Evaluation:
    return quietly(bp.evaluate, systems, KEY, **options)


def written(evaluation: bp.Evaluation, folder: Path, **options: Any) -> str:
    """Return the text of a report, which warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluation.report(folder / "report.html", **options)
    return (folder / "report.html").read_text(encoding="utf-8")


class Elements(HTMLParser):
    """All elements with their attributes, and the text outside of drawings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def section(text: str, name: str) -> str:
    """Return the text of a section, without tags."""
    (found,) = re.findall(rf'<section id="{name}">(.*?)</section>', text, re.DOTALL)
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", found)).split())


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The titles of figures, which are not drawn."""
    titles: list[str] = []

    def noted(drawing: report.Drawing, number: int) -> str:
        titles.append(drawing.title)
        return f"<figure>{html.escape(drawing.sentence)}</figure>"

    monkeypatch.setattr(report.Drawing, "html", noted)
    return titles


@pytest.fixture(scope="module")
def evaluation() -> bp.Evaluation:
    conditions = {
        name: np.tile(np.arange(len(SEGMENTS)) % 2 == i, (len(MODELS), 1))
        for i, name in enumerate(["short", "long"])
    }
    options = {"speakers": speaker, "replications": 20, "rng": 3}
    return evaluate({"A": make(1, 1.0), "B": make(2, 1.5)}, conditions=conditions, **options)


@pytest.fixture(scope="module")
def page(evaluation: bp.Evaluation, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Text of the report, drawn once for all tests that only read it."""
    return written(evaluation, tmp_path_factory.mktemp("report"))


# ---- What it says


def test_what_was_evaluated(evaluation: bp.Evaluation, tmp_path: Path, drawn: list[str]) -> None:
    (tmp_path / "scores.txt").write_bytes(b"abc")
    how = {"files": {"A": tmp_path / "scores.txt"}, "date": "2026-01-31", "author": "A. Author"}
    text = written(evaluation, tmp_path, **how)
    facts = section(text, "summary")
    told = "80 targets, 400 non-targets; 12 models, 40 segments; 6 of the models, 6 of the segments"
    told += (
        "; P(target) 0.01, C(miss) 1, C(false alarm) 1; Costs normalized; Date 2026-01-31; Seed 3"
    )
    told += f"; 95 % at each point, 20 replicates; bosaris_py {bp.__version__}, Python "
    # FIPS 180-2, appendix B.1.
    told += "; ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    told += "; speaker bootstrap, 20 replicates"
    assert [fact for fact in told.split("; ") if fact not in facts] == []
    assert "<p>A. Author</p>" in text


def test_every_figure_with_its_interval_and_meaning(evaluation: bp.Evaluation, page: str) -> None:
    text = html.unescape(re.sub(r"</?span[^>]*>", "", page))
    cells = {cell for row in evaluation._texts() for cell in row}
    assert len(cells) > 50
    assert [cell for cell in cells if f">{cell}</t" not in text] == []
    found = re.findall(r"<figure[ >].*?</figure>", page, re.DOTALL)
    # DET, Bayes, Tippett, ECE, PAV; forests of systems, of each one's conditions, of differences.
    assert len(found) == 5 + 1 + 2 + 1
    for one in found:
        assert re.search(r"<h3>[^<]+</h3><p>[^<]+\.\s*</p>", one)
        assert one.count("<svg ") == 1
    for name in ("EER", "minDCF", "actDCF", "minCllr", "Cllr"):
        assert f"<dt>{name}</dt>" in page
    assert "<dt>actCprimary</dt>" not in page
    assert page.count("Shade: where the true curve of A and B may lie") == 4


def test_the_best_system_and_its_differences_come_first(evaluation, page):
    text = section(page, "systems")
    rows = {row.system: row for row in evaluation.rows if row.condition in (None, "pooled")}
    best, other = sorted(rows, key=lambda name: rows[name].figures["eer"])
    value, low, high = (100 * x for x in (rows[best].figures["eer"], *rows[best].ends("eer")))
    answer = f"{best} has the lowest EER: {value:.2f} % ({low:.2f} to {high:.2f}). It is "
    assert text.removeprefix("Systems ").startswith(answer)
    (compared,) = quietly(evaluation.compare).rows
    differs = compared.p_holm <= 0.05
    assert (f"significantly lower than that of {other}" in text) == differs
    assert (f"not shown to differ from that of {other}" in text) != differs
    assert f"{compared.p_holm:.3g}" in section(page, "comparisons")


def test_notes_are_listed_by_kind(evaluation: bp.Evaluation, page: str) -> None:
    """Each that the evaluation gave; many of a kind are folded."""
    text = section(page, "notes")
    assert evaluation.notes
    for note in evaluation.notes:
        assert note.text in text
    heads = re.findall(r"<details( open)?><summary>([^<]*) \((\d+)\)</summary>", page)
    assert heads
    assert all((is_open == " open") == (int(count) <= 6) for is_open, _, count in heads)


def test_a_validation_begins_with_what_misleads(tmp_path: Path, drawn: list[str]) -> None:
    scores = make(1, 1.0)
    text = written(evaluate({"A": scores}, speakers=speaker), tmp_path, validate=True)
    assert re.findall(r'<section id="(\w+)">', text)[0] == "validation"
    found = quietly(bp.validate, scores, KEY, speakers=speaker).figures
    cell = r'<td>([^<]*)<span class="interval"> ([^<]*)</span></td>'
    rows = re.findall(rf"<tr><td>([^<]*)</td>{cell}</tr>", text)
    names = {
        "misleading_tar": ("targets with LR < 1 (%)", 100),
        "misleading_non": ("non-targets with LR > 1 (%)", 100),
        "cllr": ("Cllr", 1),
    }
    for (head, value, ends), (name, (words, scale)) in zip(rows, names.items(), strict=False):
        one = found[name]
        assert (html.unescape(head), value) == (words, f"{scale * one.value:.4g}")
        assert ends == f"[{scale * one.low:.4g}, {scale * one.high:.4g}]"
    # Of two lists there are no speakers, and so no intervals.
    lists = bp.evaluate({"A": scores.get_tar_non(KEY)})
    plain = section(written(lists, tmp_path, validate=True), "validation")
    assert f"Cllr {found['cllr'].value:.4g} no interval" in plain
    assert '<section id="validation">' not in written(lists, tmp_path)


def test_cases_have_their_words(evaluation, page, tmp_path, drawn):
    told = {"propositions": ("<he> speaks", "another"), "reference": "12 men", "folds": 3}
    case = quietly(bp.case_llr, 9.0, make(1, 1.0), KEY, speakers=speaker, **told)
    text = written(evaluation, tmp_path, cases={"recording & 1": case})
    assert "<h3>recording &amp; 1</h3>" in text
    assert f"<strong>{case.verbal}</strong>" in text
    assert "proposition 1: &lt;he&gt; speaks<br>proposition 2: another<br>" in text
    assert ": the bound of the reference set, no interval" in section(text, "cases")


def test_what_is_drawn(evaluation: bp.Evaluation, tmp_path: Path, drawn: list[str]) -> None:
    curves = ["Detection error trade-off (DET)", "Normalized Bayes error-rate", "Tippett plot"]
    curves += ["Empirical cross-entropy (ECE)", "Calibration by the PAV algorithm"]
    text = written(evaluate({"A": make(1, 1.0)}, plan="VoxSRC"), tmp_path)
    assert "Plan VoxSRC" in section(text, "summary")
    assert drawn == [*curves, "Scores of A"]
    drawn.clear()
    written(evaluation, tmp_path)
    forests = ["EER of the systems", "EER by condition: A", "EER by condition: B"]
    assert drawn == [*curves, *forests, "Differences of EERs"]
    drawn.clear()
    KEY.save(tmp_path / "key.h5")
    make(1, 1.0).save(tmp_path / "a.h5")
    of_files = bp.evaluate({"A": bp.Results.from_files(tmp_path / "a.h5", tmp_path / "key.h5")})
    written(of_files, tmp_path)
    assert drawn == curves[:2]


@pytest.mark.parametrize(("count", "shaded"), [(1, "A"), (3, "C")])
def test_bands_of_few_systems_or_of_the_best(count, shaded, tmp_path, drawn):
    systems = {name: make(1, 1.0 + i / 2) for i, name in enumerate("ABC"[:count])}
    found = evaluate(systems, speakers=speaker, replications=10, rng=3)
    assert f"Shade: where the true curve of {shaded} may lie" in written(found, tmp_path)
    fewer = make(1, 1.0).filter(MODELS[1:], SEGMENTS, keep=True)
    found = evaluate(systems | {"A B": fewer}, speakers=speaker)
    told = section(written(found, tmp_path), "comparisons")
    assert "Systems were not compared: `A` and `A B` must be of the same trials;" in told


@pytest.mark.slow
@pytest.mark.parametrize("llrs", [[2, -1], [np.inf, -np.inf], [0, 0], [-2, 1]])
def test_two_trials(tmp_path: Path, llrs: list[float]) -> None:
    """Whatever lies outside of windows is no news in a report."""
    key = bp.Key(["a"], ["s", "t"], [[True, False]], [[False, True]])
    found = quietly(bp.evaluate, bp.Scores([llrs], ["a"], ["s", "t"]), key)
    assert written(found, tmp_path, validate=llrs != [-2, 1]).count("<svg ") == 6


def test_names_of_legends_are_short_and_differ() -> None:
    names = ["x" * 32, "x" * 33, "x" * 34, "_a", "a\nb"]
    shown = [*report.short_names(names).values()]
    cut = "x" * 31 + "…"
    assert shown == ["x" * 32, cut, f"{cut}\u00a0(2)", "'_a'", report.drawable("a\nb")]
    assert "\n" not in shown[4]


# ---- The file


@pytest.mark.slow
def test_same_input_same_bytes_whatever_the_user_set(evaluation, page, tmp_path):
    with mpl.rc_context({"axes.facecolor": "black", "font.size": 20, "svg.fonttype": "none"}):
        assert written(evaluation, tmp_path) == page


@pytest.mark.slow
def test_hostile_names(page: str, tmp_path: Path) -> None:
    systems = {name: make(i, 1.0) for i, name in enumerate(HOSTILE)}
    column = np.arange(len(SEGMENTS)) % 5
    names = ["pooled", "equalised", *HOSTILE[:3]]
    conditions = {name: np.tile(column == i, (len(MODELS), 1)) for i, name in enumerate(names)}
    found = evaluate(systems, conditions=conditions)
    how = {"title": HOSTILE[0], "date": HOSTILE[1], "author": HOSTILE[2], "validate": True}
    elements = Elements(written(found, tmp_path, **how))
    tags = Counter(tag for tag, _ in elements.found)
    assert tags["script"] == tags["style"] == 1
    assert {*tags} <= {"bdi", *(tag for tag, _ in Elements(page).found)}
    assert not [a for _, attributes in elements.found for a in attributes if a.startswith("on")]
    assert [name for name in HOSTILE[:5] if name not in elements.text] == []


def test_asks_for_nothing_and_runs_one_script(page: str) -> None:
    assert not re.search(r"https?:|//|@import|<!--", page.replace("// What has no", ""))
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(script.encode()) <= 2_000
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert rules in page


def test_every_reference_in_a_drawing_has_one_target(page: str) -> None:
    elements = Elements(page)
    counts = Counter(a["id"] for _, a in elements.found if "id" in a)
    assert max(counts.values()) == 1
    values = " ".join(v for _, a in elements.found for v in a.values() if v)
    wanted = {a["href"][1:] for tag, a in elements.found if tag in ("use", "a")}
    wanted |= set(re.findall(r"url\(#([^)]*)\)", values))
    assert len(wanted) > 100
    assert wanted <= set(counts)


def test_bad_files_leave_the_old_report(evaluation, tmp_path, drawn):
    old = tmp_path / "report.html"
    old.write_text("old")
    for file, error in ((tmp_path / "absent", FileNotFoundError), (old, InvalidInputError)):
        with pytest.raises(error):
            evaluation.report(old, files={"A": file})
    assert old.read_text() == "old"
    assert [*tmp_path.iterdir()] == [old]


@pytest.mark.slow
def test_24_systems_of_39_thousand_trials_make_a_small_file(tmp_path: Path) -> None:
    _, test = bp.load_example("asvspoof2019_la")
    (scores, *_), rng = test.scores.values(), np.random.default_rng(0)
    noisy = (
        scores.transform(lambda x, i=i: x + rng.normal(0, 0.3 * i, x.shape)) for i in range(24)
    )
    systems = {f"system {i}": one for i, one in enumerate(noisy)}
    quietly(quietly(bp.evaluate, systems, test.key).report, tmp_path / "report.html")
    assert (tmp_path / "report.html").stat().st_size < 1_300_000


def test_three_speakers_have_no_interval_to_draw(tmp_path: Path, drawn: list[str]) -> None:
    found = evaluate({"A": make(1, 1.0), "B": make(2, 1.5)}, speakers=lambda name: len(name) % 3)
    assert found.rows[0].estimates["eer"].low is None
    written(found, tmp_path)
    assert not any("of the systems" in title or "Differences" in title for title in drawn)
