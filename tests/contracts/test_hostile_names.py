"""Names of others in each table of the package: escaped, or read back; no row, tag or command."""

import csv
import html
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py._tables import Table
from bosaris_py.evaluation import ConditionRow, SystemTable
from bosaris_py.uncertainty.estimate import Estimate
from bosaris_py.uncertainty.papers import BootstrapTable
from tests.test_tables import HOSTILE

IS_TAR = np.arange(40)[None, :] < 15
KEY = bp.Key(["m"], [f"s{i:02}" for i in range(40)], IS_TAR, ~IS_TAR)
SCORES = bp.Scores(np.random.default_rng(2125).normal(2.0 * IS_TAR, 1.0), ["m"], KEY.segset)


def row(name: str) -> ConditionRow:
    figures: dict[str, float | None] = {"eer": 0.05}
    common = {"kind": "condition", "weight": None, "n_tar": 9, "n_non": 9, "how": "HOW"}
    return ConditionRow(name=name, figures=figures, intervals={}, **common)  # type: ignore[arg-type]


def bootstrapped(name: str) -> BootstrapTable:
    options = {"methods": ["iid"], "replications": 100, "rng": 1}
    return unc.bootstrap_table({name: SCORES}, KEY, unc.EER(), **options)  # type: ignore[arg-type]


def compared(name: str) -> unc.ComparisonTable:
    return unc.ComparisonTable.from_differences({(name, "b"): Estimate.from_error(0.1, 0.1)}, "EER")


TABLES: dict[str, Callable[[str], Table]] = {
    "BootstrapTable": bootstrapped,
    "ComparisonTable": compared,
    "Evaluation": lambda name: bp.evaluate({name: SCORES}, KEY),
    "SystemTable": lambda name: SystemTable([(name, row(name))]),
}


def subclasses(cls: type) -> set[str]:
    own = {each for each in cls.__subclasses__() if each.__module__.startswith("bosaris_py")}
    return {each.__name__ for each in own}.union(*map(subclasses, own))


def test_every_table_is_here() -> None:
    for name in bp.__all__:
        getattr(bp, name)
    for name in unc.__all__:
        getattr(unc, name)
    assert subclasses(Table) - {"AnnotatedTable"} == set(TABLES)


def cells_of(text: str) -> list[str]:
    return [html.unescape(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", text)]


@pytest.fixture(params=TABLES)
def make(request: pytest.FixtureRequest) -> Callable[[str], Table]:
    return TABLES[request.param]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_name_changes_no_form(make: Callable[[str], Table], name: str, tmp_path: Path) -> None:
    """Each form has the rows, columns, tags and commands that it has with a plain name."""
    plain, found = make("plain"), make(name)

    rows = list(csv.reader(io.StringIO(found.to_csv(tmp_path / "t.csv"), newline="")))
    expected = list(csv.reader(io.StringIO(plain.to_csv(), newline="")))
    assert rows == [[name if cell == "plain" else cell for cell in line] for line in expected]
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as stream:
        assert [len(line) for line in csv.reader(stream)] == [len(line) for line in expected]

    found.to_json(tmp_path / "t.json")
    content = (tmp_path / "t.json").read_text(encoding="utf-8")
    assert json.loads(content) == json.loads(plain.to_json().replace('"plain"', json.dumps(name)))

    for form in ("to_markdown", "to_latex", "__repr__"):
        lines, wanted = (getattr(each, form)().splitlines() for each in (found, plain))
        assert len(lines) == len(wanted)
        assert all(map(str.isprintable, lines))
    bars = [len(re.findall(r"(?<!\\)(?:\\\\)*\|", each.to_markdown())) for each in (found, plain)]
    assert bars[0] == bars[1]
    bare = re.sub(r"\\.", "", found.to_markdown())
    assert not re.search(r"<[A-Za-z/!?]|[`*]|\][(\[:]", bare)

    text = found.to_latex()
    commands = {*re.findall(r"\\([a-zA-Z]+|.)", text)}
    known = {*re.findall(r"\\([a-zA-Z]+|.)", plain.to_latex())}
    assert commands <= known | {"textbackslash", "textasciitilde", "textasciicircum", *"&%$#_{}"}
    assert not set(re.sub(r"\\([a-zA-Z]+|.)", "", text)) & set("$%#_^~\\")

    page, other = found._repr_html_(), plain._repr_html_()
    tags, known_tags = (Counter(re.findall(r"</?\w+", each)) for each in (page, other))
    for tag in ("<bdi", "</bdi"):
        tags.pop(tag, None)
    assert tags == known_tags
    assert len(page) < len(other) + 10**4
    assert all(map(str.isprintable, cells_of(page)))
