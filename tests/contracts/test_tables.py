"""Each table says what its numbers are in each form, and names of others change no form."""

import csv
import html
import io
import json
import re
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py._tables import Table
from bosaris_py.errors import FewSpeakersWarning
from tests.test_tables import HOSTILE

IDS = [f"s{i:02}" for i in range(24)]
SAME = np.eye(24, dtype=bool)
KEY = bp.Key(IDS, IDS, SAME, ~SAME)
POINT = bp.OperatingPoint(0.05, 10, 1)
NOISE = np.random.default_rng(5).normal(size=(3, 24, 24))
SYSTEMS = {name: bp.Scores(3.0 * SAME - 1 + NOISE[i], IDS, IDS) for i, name in enumerate("AB")}
FIRST = np.arange(24)[:, None] < [12] * 24
HALVES = bp.Conditions({"first": FIRST, "others": ~FIRST})
DRAWN: dict[str, Any] = {"replications": 40, "rng": 1}

HULL = "EER of the ROC's convex hull"
BOOTSTRAP = "95 % intervals: speaker bootstrap, 40 replicates, percentile"
COUNTS = "24 targets, 552 non-targets"
NORMAL, PLAIN = "costs are normalized", "costs are not normalized"

# Each table: options of `evaluate`, and what it must say below its figures.
EVALUATED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "points": ({"prior": [0.3, POINT]}, [COUNTS, NORMAL, HULL]),
    "costs as they are": ({"normalize": False}, [PLAIN, HULL]),
    "steps": ({"eer": "step"}, [NORMAL, "EER of the step of the ROC where both rates"]),
    "replicates": (DRAWN, [COUNTS, NORMAL, HULL, BOOTSTRAP]),
    "interpolated": ({"eer": "interpolated"}, ["EER interpolated on the steppy"]),
    "jackknife": ({"speakers": str}, [HULL, "95 % intervals: jackknife over speakers"]),
    "conditions": (DRAWN | {"conditions": HALVES}, [NORMAL, HULL, BOOTSTRAP]),
}
# Tables of other layouts, and what they say.
OTHERS: dict[str, tuple[Callable[[dict[str, bp.Scores]], Table], list[str]]] = {
    "ComparisonTable": (
        lambda systems: bp.evaluate(systems, KEY, prior=0.3, eer="interpolated").compare(),
        ["interpolated", "first minus second", "jackknife over speakers", "Holm's correction"],
    ),
    "BootstrapTable": (
        lambda systems: unc.bootstrap_table(
            systems, KEY, unc.MinDCF(0.3), methods=["iid"], **DRAWN
        ),
        ["minDCF(0.3)", "95 % intervals of 40 replicates"],
    ),
}
quiet = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")


def pages(table: Table) -> dict[str, str]:
    """Return the forms that are for reading, without what each adds for itself."""
    shown = table._repr_html_().replace("&#x27;", "'")
    latex = table.to_latex().replace(r"\%", "%").replace(r"\_", "_")
    return {"text": str(table), "Markdown": table.to_markdown(), "LaTeX": latex, "HTML": shown}


@quiet
@pytest.mark.parametrize("name", EVALUATED)
def test_each_form_says_what_its_numbers_are(name: str) -> None:
    """What is a sentence on a page is a field of JSON."""
    options, said = EVALUATED[name]
    table = bp.evaluate(SYSTEMS, KEY, **{"prior": 0.3} | options)
    for form, page in pages(table).items():
        assert [words for words in said if words not in page] == [], form
    told = json.loads(table.to_json())
    assert told["normalized"] is (PLAIN not in said)
    assert told["eer_definition"] == options.get("eer", "rocch")
    assert all(words in told["intervals"] for words in said if "intervals" in words)


@quiet
@pytest.mark.parametrize("name", OTHERS)
def test_tables_of_other_layouts_say_it_too(name: str) -> None:
    make, said = OTHERS[name]
    for form, page in pages(make(SYSTEMS)).items():
        assert [words for words in said if words not in page] == [], form


DOZEN = bp.Key(IDS[:12], IDS[:12], SAME[:12, :12], ~SAME[:12, :12])
WHOLE = bp.Scores(2.0 * SAME[:12, :12] - 1.0 + NOISE[0, :12, :12], IDS[:12], IDS[:12])
NOISY = {
    "A": WHOLE,
    # Without the scores of one target and 11 non-targets.
    "B": WHOLE.filter(IDS[1:12], IDS[:12], keep=True),
    # No log-likelihood-ratios, far from it.
    "C": WHOLE.transform(lambda scores: -9.0 * scores),
}


@pytest.mark.parametrize(
    "options", [{"speakers": str}, DRAWN, {"cross_fit": True, "rng": 1, "speakers": str}], ids=str
)
def test_a_table_warns_of_what_single_calls_warn_of(options: dict[str, Any]) -> None:
    """One warning of a category, and in the notes each system of a call of its own."""

    def evaluated(systems: dict[str, Any]) -> tuple[Any, list[str]]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = bp.evaluate(systems, DOZEN, **options)
        return found, [item.category.__name__ for item in caught]

    found, given = evaluated(NOISY)
    assert len(set(given)) == len(given) >= 2
    assert {note.kind.__name__ for note in found.notes} == set(given)
    alone = {(kind, n) for n, one in NOISY.items() for kind in evaluated({n: one})[1]}
    # What holds for all systems is said of none.
    about = {(note.kind.__name__, n) for note in found.notes for n in [note.about] if n}
    of_all = {(note.kind.__name__, n) for note in found.notes if not note.about for n in NOISY}
    assert about | of_all == alone
    few = [note for note in found.notes if note.kind is FewSpeakersWarning]
    assert all(note.count == 12 for note in few if note.about in ("", "A"))


# Names of others: escaped, or read back; no row, tag or command

TABLES: dict[str, Callable[[dict[str, bp.Scores]], Table]] = {
    "Evaluation": lambda systems: bp.evaluate(systems, KEY),
    **{kind: make for kind, (make, _) in OTHERS.items()},
}


def subclasses(cls: type) -> set[str]:
    own = {each for each in cls.__subclasses__() if each.__module__.startswith("bosaris_py")}
    return {each.__name__ for each in own}.union(*map(subclasses, own))


def test_every_table_is_here() -> None:
    for name in (*bp.__all__, *unc.__all__):
        getattr(bp, name, None) or getattr(unc, name)
    assert subclasses(Table) == set(TABLES)


@quiet
@pytest.mark.parametrize("kind", TABLES)
def test_a_name_changes_no_form(kind: str, tmp_path: Path) -> None:
    """Each form has the rows, columns, tags and commands that it has with a plain name."""
    plain = TABLES[kind]({"plain": SYSTEMS["A"], "b": SYSTEMS["B"]})
    for name in HOSTILE.values():
        found = TABLES[kind]({name: SYSTEMS["A"], "b": SYSTEMS["B"]})
        rows = list(csv.reader(io.StringIO(found.to_csv(tmp_path / "t.csv"), newline="")))
        with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as stream:
            assert [*map(len, csv.reader(stream))] == [*map(len, rows)]
        expected = list(csv.reader(io.StringIO(plain.to_csv(), newline="")))
        assert rows == [[name if cell == "plain" else cell for cell in row] for row in expected]
        told = json.loads(found.to_json())
        assert told == json.loads(plain.to_json().replace('"plain"', json.dumps(name)))

        for form in ("to_markdown", "to_latex", "__repr__"):
            lines, wanted = (getattr(each, form)().splitlines() for each in (found, plain))
            assert len(lines) == len(wanted)
            assert all(map(str.isprintable, lines))
        unescaped = r"(?<!\\)(?:\\\\)*\|"
        found_bars, bars = (re.findall(unescaped, each.to_markdown()) for each in (found, plain))
        assert len(found_bars) == len(bars)
        bare = re.sub(r"\\.", "", found.to_markdown())
        assert not re.search(r"<[A-Za-z/!?]|[`*]|\][(\[:]", bare)

        commands = [{*re.findall(r"\\([a-zA-Z]+|.)", t.to_latex())} for t in (found, plain)]
        texts = {"textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater"}
        texts |= {*"&%$#_{}"}
        assert commands[0] <= commands[1] | texts
        latex = found.to_latex().removeprefix("% ")
        assert not set(re.sub(r"\\([a-zA-Z]+|.)", "", latex)) & set("$%#_^~\\")

        page, other = found._repr_html_(), plain._repr_html_()
        tags, known = (Counter(re.findall(r"</?(?!bdi)\w+", each)) for each in (page, other))
        assert tags == known
        cells = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", page)
        assert all(map(str.isprintable, map(html.unescape, cells)))
