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

import attrs
import matplotlib as mpl
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py._notes import Caution
from bosaris_py.errors import (
    BosarisWarning,
    FewSpeakersWarning,
    InvalidInputError,
    MissingTrialsWarning,
)
from bosaris_py.evaluation import ConditionRow, SystemTable
from bosaris_py.report import drawings
from bosaris_py.report.answer import answer
from bosaris_py.uncertainty import ComparisonTable
from tests.forms import as_list

DATA = Path(__file__).parent.parent / "examples" / "japanese_vowels"
MODELS = [f"p{i // 2}-m{i:02}" for i in range(12)]
SEGMENTS = [f"p{j % 6}-s{j:02}" for j in range(40)]
IS_TAR = np.array([[model[:2] == segment[:2] for segment in SEGMENTS] for model in MODELS])
KEY = bp.Key(MODELS, SEGMENTS, IS_TAR, ~IS_TAR)
HOSTILE = [
    "<script>alert(1)</script>",
    "--><img src=http://evil.example/x onerror=alert(1)>",
    '" onload="alert(1)',
    "$\\frac{1}$",
    "_hidden",
    "&lt;b&gt;",
    "]]></style></svg>",
    'url(#x) href="#y"',
    "\x1b[31m\u202ered\n\ud800",
    "x" * 400,
    "x" * 399 + "y",
    "語 😀",
]

ELEMENTS = {
    "ol",
    *("html", "head", "meta", "title", "style", "script", "body", "header", "nav", "main"),
    *("section", "div", "span", "bdi", "h1", "h2", "h3", "p", "a", "ul", "li", "dl", "dt", "dd"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td", "details", "summary", "figure"),
    *("figcaption", "label", "input", "output"),
    *("svg", "defs", "g", "path", "use", "clippath", "rect"),
}


def make(seed: int, strength: float) -> bp.Scores:
    """Return made-up scores of all trials."""
    noise = np.random.default_rng(seed).normal(0, 1, IS_TAR.shape)
    return bp.Scores(strength * (2 * IS_TAR - 1) + noise, MODELS, SEGMENTS)


def evaluate(systems: Any, **options: Any) -> bp.Evaluation:
    """Judge systems; what evaluate warns of is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BosarisWarning)
        return bp.evaluate(systems, KEY, **options)


def written(evaluation: bp.Evaluation, folder: Path, **options: Any) -> str:
    """Return the text of a report."""
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

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def evaluation() -> bp.Evaluation:
    names = ["short", "long"]
    conditions = {
        name: np.tile(np.arange(len(SEGMENTS)) % 2 == i, (len(MODELS), 1))
        for i, name in enumerate(names)
    }
    systems = {"A": make(1, 1.0), "B": make(2, 1.5)}
    options = {"speakers": lambda name: name[:2], "replications": 20, "rng": 3}
    return evaluate(systems, conditions=conditions, **options)


@pytest.fixture(scope="module")
def page_text(evaluation, tmp_path_factory) -> str:
    """Text of the report, drawn once for all tests that only read it."""
    return written(evaluation, tmp_path_factory.mktemp("report"))


class TestContent:
    def test_says_what_was_evaluated(self, evaluation, tmp_path):
        (tmp_path / "scores.txt").write_bytes(b"abc")
        text = written(
            evaluation, tmp_path, files={"A": tmp_path / "scores.txt"}, date="2026-01-31"
        )
        # FIPS 180-2, appendix B.1.
        digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        for fact in (
            "80 targets, 400 non-targets",
            "12 models, 40 segments",
            "6 of the models, 6 of the segments",
            "P(target) 0.01, C(miss) 1, C(false alarm) 1",
            "speaker bootstrap, 20 replicates",
            "<dt>Seed</dt><dd>3</dd>",
            "2026-01-31",
            f"bosaris_py {bp.__version__}, Python ",
            f"numpy {np.__version__}",
            digest,
        ):
            assert fact in text

    def test_has_every_figure_of_the_table_and_its_interval(self, evaluation, page_text):
        text = html.unescape(re.sub(r"</?span[^>]*>", "", page_text))
        cells = {cell for row in evaluation._texts() for cell in row}
        assert len(cells) > 50
        assert [cell for cell in cells if f">{cell}</t" not in text] == []

    def test_explains_each_drawing_and_each_column(self, page_text):
        figures = re.findall(r"<figure[ >].*?</figure>", page_text, re.DOTALL)
        # DET, Bayes, forests of systems, of each one's conditions and of differences, Tippett, ECE,
        # PAV, scores.
        assert len(figures) == 2 + 1 + 2 + 1 + 3 + 2
        for figure in figures:
            assert re.search(r"<h3>[^<]+</h3><p>[^<]+\.\s*</p>", figure)
            assert figure.count("<svg ") == 1
        for name in ("EER", "minDCF", "actDCF", "minCllr", "Cllr", "Costs"):
            assert f"<dt>{name}</dt>" in page_text
        assert "<dt>actCprimary</dt>" not in page_text

    @pytest.mark.slow
    def test_names_the_plan(self, tmp_path):
        table = evaluate({"A": make(1, 1.0)}, plan="VoxSRC")
        text = written(table, tmp_path)
        assert f"<dd>{table.plan.name}</dd>" in text
        assert "<dt>actCprimary</dt>" in text

    @pytest.mark.slow
    def test_has_cases_with_their_words(self, evaluation, page_text, tmp_path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BosarisWarning)
            case = bp.case_llr(
                2.0, make(1, 1.0), KEY, propositions=("<he> speaks", "another"), reference="12 men",
                speakers=lambda name: name[:2], rng=1,
            )  # fmt: skip
        text = written(evaluation, tmp_path, cases={"recording & 1": case})
        assert '<section id="cases">' in text
        assert "<h3>recording &amp; 1</h3>" in text
        assert f"<strong>{case.verbal}</strong>" in text
        assert "proposition 1: &lt;he&gt; speaks<br>proposition 2: another<br>" in text
        assert '<section id="cases">' not in page_text
        for wrong in (case, [case], {"A": 1.0}):
            with pytest.raises(InvalidInputError, match="`cases` must map names to what"):
                evaluation.report(tmp_path / "other.html", cases=wrong)
        assert not (tmp_path / "other.html").exists()

    @pytest.mark.slow
    def test_names_what_was_cross_fitted(self, tmp_path):
        options = {"cross_fit": bp.LinearCalibration, "speakers": lambda name: name[:2], "rng": 3}
        text = written(evaluate({"A": make(1, 1.0)}, **options), tmp_path)
        assert (
            "<dt>Calibration</dt><dd>cross-fitted: LinearCalibration, trained at prior 0.5</dd>"
            in text
        )
        assert "<dt>Seed</dt><dd>3</dd>" in text

    def test_of_files_has_what_needs_no_single_scores(self, tmp_path):
        KEY.save(tmp_path / "key.h5")
        make(1, 1.0).save(tmp_path / "a.h5")
        found = bp.evaluate_files({"A": tmp_path / "a.h5"}, tmp_path / "key.h5")
        text = written(found, tmp_path)
        assert re.findall(r"<h3>(.*?)</h3><p>", text) == [
            "Detection error trade-off (DET)",
            "Normalized Bayes error-rate",
        ]
        in_memory = evaluate({"A": make(1, 1.0)})
        assert found._texts() == in_memory._texts()


def section(text: str, name: str) -> str:
    """Return the text of a section, without tags."""
    found = re.search(rf'<section id="{name}">(.*?)</section>', text, re.DOTALL)
    return html.unescape(re.sub("<[^>]*>", " ", found[1])) if found else ""


class TestAnswer:
    """The first sentences, from the numbers of tables that are made here."""

    def table(self, **eers: float) -> SystemTable:
        rows = []
        for name, eer in eers.items():
            figures = {"eer": eer, "cllr": 4 * eer}
            ends = {"eer": (eer / 2, 2 * eer)}
            common = {"kind": "pooled", "weight": None, "n_tar": 9, "n_non": 9, "how": "HOW"}
            row = ConditionRow(name="pooled", figures=figures, intervals=ends, **common)
            rows.append((name, row))
        return SystemTable(rows)

    def test_three_sentences(self) -> None:
        # Of 4, 4 and 1 standard errors: p-values 6e-5, 6e-5 and 0.3.
        differences = {
            pair: unc.Estimate.from_error(0.1, 0.1 / n)
            for pair, n in ((("A", "B"), 4), (("B", "C"), 4), (("A", "C"), 1))
        }
        table = self.table(A=0.05, B=0.02, C=0.03)
        few = Caution(FewSpeakersWarning, "", count=7.0, about=(("system", "A"),))
        compared = ComparisonTable.from_differences(differences, "EER")
        found = [*answer(table, compared, [few])]
        assert found == [
            "B has the lowest EER: 2.00 % (1.00 to 4.00); and the lowest Cllr: 0.0800 bits.",
            "The EER of B is significantly lower than that of A and C; of the other pairs 0 of 1 "
            "differ (level 0.05, corrected for 3 pairs).",
            # 1 - 0.05^(1/7) = 0.348.
            "Figures rest on 7 speakers: a kind of speaker as common as 35 % may be missing from "
            "these trials (HOW).",
        ]

    def test_what_is_not_known_is_said(self) -> None:
        one = [*answer(self.table(A=0.05), None, [])]
        assert one[0] == "A has an EER of 5.00 % (2.50 to 10.00) and a Cllr of 0.2000 bits."
        assert one[1] == "There is one system, so that no difference was tested."
        assert one[2] == "Figures have intervals (HOW)."
        two = [*answer(self.table(A=0.05, B=0.05), None, [])]
        assert two[0].startswith("A and B have the lowest EER: 5.00 %")
        assert two[1] == "Differences between systems were not tested."

    def test_conditions_and_pairs_are_not_all_trials(self) -> None:
        for about in ((("system", "A"), ("condition", "women")), (("pair", "A and B"),)):
            few = Caution(FewSpeakersWarning, "", count=7.0, about=about)
            *_, last = answer(self.table(A=0.05), None, [few])
            assert last == "Figures have intervals (HOW)."

    def test_comes_first_and_best_values_are_bold(self, evaluation, page_text):
        assert page_text.index('<section id="answer">') < page_text.index('<section id="cautions">')
        rows = {name: row for name, row in evaluation.table.rows if row.kind == "pooled"}
        best = min(rows, key=lambda name: rows[name].figures["eer"])
        assert f"{best} has the lowest EER: " in section(page_text, "answer")
        systems = page_text[page_text.index('<section id="systems">') :]
        systems = systems[: systems.index("</table>")]
        bold = re.findall(r"font-weight: bold\">([\d.]+)", systems)
        lowest = [min(row.figures[name] for row in rows.values()) for name in rows["A"].figures]
        # An EER is in per cent.
        lowest[0] *= 100
        # Systems that tie are all best.
        assert len(bold) >= len(lowest)
        assert {*bold} == {f"{value:.{2 if i == 0 else 4}f}" for i, value in enumerate(lowest)}


class TestFootnotes:
    def test_table_of_systems_explains_the_signs_of_all_trials(self, evaluation, page_text):
        of_all = {
            one["category"] for one in evaluation.cautions if one["condition"] in (None, "pooled")
        }
        assert of_all == {"FewErrorsWarning"}
        systems = section(page_text, "systems")
        caption = systems[systems.index("(") :]
        assert [sign for sign in "*+#~^" if f"; {sign} " in caption] == ["+"]


class TestConditions:
    def test_pivot_has_the_eer_of_each_condition_and_system(self, evaluation, page_text):
        text = page_text[page_text.index('<div class="wide pivoted">') :]
        text = text[: text.index("</table>")]
        rows = re.findall(r"<tr><td>(.*?)</tr>", text)
        table = [re.findall(r"(?:^|<td[^>]*>)([^<]*)", row) for row in rows]
        expected: dict[str, list[str]] = {}
        for _, row in evaluation.table.rows:
            cells = expected.setdefault(row.name, [row.name, str(row.n_tar), str(row.n_non)])
            cells.append(f"{100 * row.figures['eer']:.2f}")
        assert table == [*expected.values()]

    def test_the_strongest_colour_has_the_highest_eer(self, evaluation, page_text):
        shades = {
            float(value): int(shade)
            for shade, value in re.findall(r'<td class="shade(\d)">([\d.]+)', page_text)
        }
        highest = max(shades)
        assert highest == round(
            100 * max(row.figures["eer"] for _, row in evaluation.table.rows), 2
        )
        # Five steps of equal width, up to what is printed of an EER.
        for value, shade in shades.items():
            assert shade - 1 - 0.01 <= 5 * value / highest <= shade + 0.01


class TestCautions:
    def test_each_system_has_a_row_and_each_flag_one_explanation(self, evaluation, page_text):
        text = page_text[page_text.index('<section id="cautions">') :]
        text = text[: text.index("</section>")]
        for name in evaluation.results:
            assert text.count(f"<td>{name}</td>") == 1
        flags = {
            flag for row in re.findall(r"<td>([^<]*)</td></tr>", text) for flag in row.split(", ")
        }
        explained = re.findall(r"<dt>(.*?)</dt>", text)
        assert flags <= {*explained}
        assert len(explained) == len({*explained}) >= 2

    def test_nothing_that_was_warned_of_is_missing(self, evaluation, page_text):
        text = section(page_text, "warnings")
        assert len(evaluation.cautions) > 5
        for caution in evaluation._heard:
            assert html.escape(caution.finding) in html.escape(text)
            assert caution.advice in text

    def text(self, scores: bp.Scores, folder: Path, **options: Any) -> str:
        return html.unescape(written(evaluate({"A": scores}, **options), folder))

    @pytest.mark.slow
    def test_few_errors_are_counted(self, tmp_path):
        scores = make(1, 1.0)
        llr = np.asarray(scores.scoremat)
        # At even odds the Bayes threshold is 0.
        misses, alarms = (IS_TAR & (llr < 0)).sum(), (~IS_TAR & (llr >= 0)).sum()
        assert misses < 30
        text = self.text(scores, tmp_path, prior=0.5)
        assert f"there are {misses} misses and {alarms} false alarms" in text

    @pytest.mark.slow
    def test_separable_scores(self, tmp_path):
        text = self.text(bp.Scores(np.where(IS_TAR, 5.0, -5.0), MODELS, SEGMENTS), tmp_path)
        # No error in n trials: (1 - rate)^n = 0.05, n = 80 and 400.
        assert "misses are rarer than 3.7 % and false alarms than 0.75 %" in text

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("change", "words"),
        [
            (lambda s: -s, "Above 1, the scores are worse than none"),
            (lambda s: 0.1 * s, "They may need a calibration"),
            (lambda s: s + 6.0, "times that of no detector"),
        ],
    )
    def test_scores_that_are_no_llrs(self, tmp_path, change, words):
        # LLRs of two normal distributions, means +-2, variance 1: four times the score.
        text = self.text(make(1, 2.0).transform(lambda s: change(4.0 * s)), tmp_path)
        assert words in text
        assert words not in self.text(make(1, 2.0).transform(lambda s: 4.0 * s), tmp_path)

    @pytest.mark.slow
    def test_missing_trials(self, tmp_path):
        scores = make(1, 1.0).filter(MODELS[1:], SEGMENTS, keep=True)
        with pytest.warns(MissingTrialsWarning) as caught:
            found = bp.evaluate({"A": scores}, KEY)
        text = html.unescape(written(found, tmp_path))
        assert "<h3>Missing trials</h3>" in text
        for warning in caught:
            assert str(warning.message) in text

    @pytest.mark.slow
    def test_speakers(self, tmp_path):
        assert "Who speaks was not given" in self.text(make(1, 1.0), tmp_path)
        text = self.text(make(1, 1.0), tmp_path, speakers=lambda name: name[:2])
        assert "There are 6 speakers of the models" in text

    @pytest.mark.slow
    def test_many_of_a_kind_are_folded(self, tmp_path):
        text = written(evaluate({f"s{i}": make(i, 1.0) for i in range(4)}), tmp_path)
        # Two operating points and the EER for each of four systems; six are shown.
        assert "<summary>6 more</summary>" in text

    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")
    def test_compares_pairs_as_the_evaluation_does(self, evaluation, page_text):
        text = html.unescape(page_text)
        (row,) = attrs.evolve(evaluation.compare(), percent=True)._texts()[1:]
        section = text[text.index('section id="comparisons"') : text.index('section id="figures"')]
        for cell in row:
            # What a page sets apart stands in an element of its own.
            for part in getattr(cell, "parts", (cell,)):
                assert part in section
        assert "Differences of EERs" in text

    @pytest.mark.slow
    def test_without_intervals_there_is_neither_comparison_nor_band(self, tmp_path):
        text = written(evaluate({"A": make(1, 1.0), "B": make(2, 1.0)}), tmp_path)
        for word in ('id="comparisons"', "Shade:", "<dt>Bands</dt>"):
            assert word not in text

    @pytest.mark.slow
    @pytest.mark.parametrize(("count", "shaded"), [(1, "A"), (2, "A and B"), (3, "C")])
    def test_bands_of_few_systems_or_of_the_best(self, tmp_path, count, shaded):
        systems = {name: make(1, 1.0 + i / 2) for i, name in enumerate("ABC"[:count])}
        options = {"speakers": lambda name: name[:2], "replications": 10, "rng": 3}
        text = written(evaluate(systems, **options), tmp_path)
        # DET, Bayes, Tippett, ECE, PAV.
        assert text.count(f"Shade: where the true curve of {shaded} may lie") == 5
        assert "95 % at each point, 10 replicates" in text


class TestSmallPaths:
    @pytest.mark.parametrize(("n_points", "unit"), [(50, 100), (400, 10)])
    def test_points_are_where_they_were(self, n_points, unit):
        points = np.random.default_rng(0).uniform(-9, 300, (n_points, 2)).round(3)
        written = "".join(f"{'L' if i else 'M'} {x} {y} " for i, (x, y) in enumerate(points))
        text = re.sub(r"[-MLz\d.\s]+", drawings._relative, written)
        numbers = np.array(re.findall(r"-?(?:\d*\.\d+|\d+)", text), dtype=float).reshape(-1, 2)
        # The first pair is a point, others are steps; half units of rounding do not add up.
        assert np.abs(np.cumsum(numbers, axis=0) - points).max() <= 0.5 / unit + 1e-9
        assert len(text) < 0.95 * len(written)

    def test_a_closed_path_goes_on_from_its_start(self):
        text = "M 1 2 L 3 2 L 3 5 z L 2 2 z"
        assert re.sub(r"[-MLz\d.\s]+", drawings._relative, text) == "M1 2l2 0 0 3zl1 0z"


class TestFile:
    @pytest.mark.slow
    def test_same_input_same_bytes_whatever_the_user_set(self, evaluation, page_text, tmp_path):
        with mpl.rc_context({"axes.facecolor": "black", "font.size": 20, "svg.fonttype": "none"}):
            assert written(evaluation, tmp_path) == page_text

    @pytest.mark.slow
    def test_flat_trials_give_the_bytes_of_dense_ones(self, tmp_path):
        scores, flat = make(1, 1.0), tmp_path / "flat.html"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BosarisWarning)
            bp.evaluate(as_list(scores), as_list(KEY)).report(flat)
        assert flat.read_text(encoding="utf-8") == written(evaluate(scores), tmp_path)

    @pytest.mark.slow
    @pytest.mark.parametrize("llrs", [[2, -1], [np.inf, -np.inf], [-np.inf, np.inf], [0, 0]])
    def test_two_trials(self, tmp_path, llrs):
        key = bp.Key(["a"], ["s", "t"], [[True, False]], [[False, True]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BosarisWarning)
            found = bp.evaluate(bp.Scores([llrs], ["a"], ["s", "t"]), key)
        assert written(found, tmp_path).count("<svg ") == 6

    @pytest.mark.slow
    def test_hostile_names(self, tmp_path):
        systems = {name: make(i, 1.0) for i, name in enumerate(HOSTILE)}
        evaluate(systems).report(tmp_path / "report.html", title=HOSTILE[0], date=HOSTILE[1])
        text = (tmp_path / "report.html").read_text(encoding="utf-8")
        elements = Elements(text)
        assert len(elements.all("script")) == len(elements.all("style")) == 1
        assert not elements.all("img")
        assert {tag for tag, _ in elements.found} <= ELEMENTS
        assert not [a for _, attributes in elements.found for a in attributes if a.startswith("on")]
        for name in HOSTILE[:8]:
            assert name in elements.text
        # A drawing of each, though two are alike in what a legend can show.
        assert len(re.findall("<h3>(?:<bdi>)?Scores of ", text)) == len(HOSTILE)

    @pytest.mark.slow
    def test_hostile_conditions(self, tmp_path):
        names = ["pooled", "equalised", *HOSTILE[:4]]
        column = np.arange(len(SEGMENTS)) % len(names)
        conditions = {name: np.tile(column == i, (len(MODELS), 1)) for i, name in enumerate(names)}
        text = written(evaluate({"A": make(1, 1.0)}, conditions=conditions), tmp_path)
        elements = Elements(text)
        assert {tag for tag, _ in elements.found} <= ELEMENTS
        assert all(name in elements.text for name in names)

    def test_asks_for_nothing_and_runs_one_script(self, page_text):
        assert not re.search(r"https?:|//|@import|<!--", page_text.replace("// What is", ""))
        (policy,) = (
            attributes["content"]
            for attributes in Elements(page_text).all("meta")
            if attributes.get("http-equiv") == "Content-Security-Policy"
        )
        script = re.search(r"<script>(.*?)</script>", page_text, re.DOTALL)[1]
        assert len(script.encode()) <= 2_000
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in policy
        )

    def test_every_reference_in_a_drawing_has_one_target(self, page_text):
        elements = Elements(page_text)
        counts = Counter(a["id"] for _, a in elements.found if "id" in a)
        assert max(counts.values()) == 1
        values = " ".join(v for _, a in elements.found for v in a.values() if v)
        wanted = {a["href"][1:] for tag, a in elements.found if tag in ("use", "a")}
        wanted |= set(re.findall(r"url\(#([^)]*)\)", values))
        assert len(wanted) > 100
        assert wanted <= set(counts)

    @pytest.mark.parametrize(
        ("place", "error"),
        [("no/such/folder/r.html", FileNotFoundError), ("folder", IsADirectoryError)],
    )
    def test_bad_paths(self, evaluation, tmp_path, place, error):
        (tmp_path / "folder").mkdir()
        with pytest.raises(error):
            evaluation.report(tmp_path / place)
        assert [path.name for path in tmp_path.iterdir()] == ["folder"]

    def test_files_have_roles(self, evaluation, tmp_path):
        with pytest.raises(InvalidInputError, match="`files` must map roles to paths"):
            evaluation.report(tmp_path / "report.html", files=["a.h5"])
        assert not list(tmp_path.iterdir())

    def test_old_file_stays_if_a_named_one_is_missing(self, evaluation, tmp_path):
        (tmp_path / "report.html").write_text("old")
        with pytest.raises(FileNotFoundError):
            evaluation.report(tmp_path / "report.html", files={"A": tmp_path / "absent"})
        assert (tmp_path / "report.html").read_text() == "old"

    # With so much noise the last systems have a Cllr far above 1.
    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
    @pytest.mark.slow
    def test_24_systems_of_33300_trials_stay_below_1_mb(self, demo, tmp_path):
        scores, key = demo
        rng = np.random.default_rng(0)
        noise = {f"system {i}": rng.normal(0, 0.3 * i, key.tar.shape) for i in range(24)}
        systems = {
            name: bp.Scores(np.asarray(scores["fusion"].scoremat) + part, key.modelset, key.segset)
            for name, part in noise.items()
        }
        bp.evaluate(systems, key).report(tmp_path / "report.html")
        assert (tmp_path / "report.html").stat().st_size < 1_000_000


@pytest.fixture(scope="module")
def demo() -> tuple[dict[str, bp.Scores], bp.Key]:
    """The systems of the demo, calibrated, their fusion, and the key of the eval set."""
    names = ("gaussian", "cosine")
    dev_key, key = (bp.Key.read(DATA / f"{part}_key.h5") for part in ("dev", "eval"))
    dev, test = (
        {name: bp.Scores.read(DATA / f"{part}_scores_{name}.h5") for name in names}
        for part in ("dev", "eval")
    )
    systems = {
        name: bp.LinearCalibration.fit_scores(dev[name], dev_key).apply(test[name])
        for name in names
    }
    fusion = bp.LinearFusion.fit_scores(dev, dev_key)
    return systems | {"fusion": fusion.apply(test, key)}, key
