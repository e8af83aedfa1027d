"""The page of the papers: each equation, table and figure has a row, and each line runs."""

import doctest
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bosaris_py.errors import BosarisWarning

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "papers.md"
PAPERS = ROOT.parent / "shared" / "papers"

# Of each section: its text among the papers, numbers of equations, tables and figures.
ITEMS: dict[str, tuple[str, list[str], list[str], list[str]]] = {
    "Theory": ("bosaris_theory", [*map(str, range(1, 33))], [], ["1", "2", "3", "4"]),
    "NISTIR 7722": ("nistir7722", [*map(str, range(1, 16))], ["1", "2"], ["1", "2", "3", "4"]),
    "Data dependence": (
        "wu2016",
        [*map(str, range(1, 12)), *(f"A.{i}" for i in range(1, 8))],
        ["I", "II", "III"],
        ["1", "2", "3", "4"],
    ),
    "Person authentication": (
        "bengio2004",
        [*map(str, range(1, 22))],
        [*map(str, range(1, 7))],
        ["1", "2", "3"],
    ),
    "Conditions": ("vanleeuwen2008", [*map(str, range(1, 23))], ["1", "2", "3"], ["1", "2", "3"]),
}


class Row(NamedTuple):
    """A row of a table of the page."""

    section: str
    item: str
    line: str


def rows() -> Iterator[Row]:
    for part in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        section, *lines = part.splitlines()
        for line in lines:
            if line.startswith("| ") and not line.startswith("| Item"):
                item, _, here = (cell.strip() for cell in line.strip("| ").split(" | "))
                yield Row(section, item, here)


ROWS = [*rows()]


def named(section: str, what: str) -> set[str]:
    """Return the numbers of the equations, tables or figures that have a row."""
    found = set()
    for row in ROWS:
        if row.section == section and what == "equation":
            found |= set(re.findall(r"\(([A0-9.]+)\)", row.item))
        elif row.section == section:
            for numbers in re.findall(rf"{what}s? ((?:[IVX0-9]+(?:, )?)+)", row.item):
                found |= set(re.findall(r"[IVX0-9]+", numbers))
    return found


@pytest.mark.parametrize("section", ITEMS)
def test_every_item_has_a_row(section: str) -> None:
    _, equations, tables, figures = ITEMS[section]
    assert named(section, "equation") == {*equations}
    assert named(section, "Table") == {*tables}
    assert named(section, "Figure") == {*figures}


@pytest.mark.parametrize("section", ITEMS)
def test_the_numbers_are_those_of_the_paper(section: str) -> None:
    texts = [*PAPERS.glob(f"{ITEMS[section][0]}*.txt")]
    if not texts:
        pytest.skip("the texts of the papers are not beside the project")
    text = texts[0].read_text(encoding="utf-8")
    _, equations, tables, figures = ITEMS[section]
    # Numbers at the end of a formula, after a tag, or on a line of their own.
    ends = r"(?:\(|\\tag\{)([A0-9.]{1,3})(?:\)|\})[\s,$.]*(?:$|\\\\|\\end|k = )"
    found = {number for number in re.findall(ends, text, re.MULTILINE) if number[0] != "0"}
    # Years and other numbers in brackets are not in sequence.
    missing = {*equations} - found
    # Some are printed in the middle of lines.
    assert len(missing) <= len(equations) // 3, sorted(missing)
    last = max(int(number) for number in equations if number.isdigit())
    assert str(last + 1) not in found
    for what, numbers in ((r"Table|TABLE", tables), (r"Figure|Fig\.", figures)):
        for number in numbers:
            assert re.search(rf"(?:{what})\s+{number}\b", text), (what, number)


@pytest.fixture(scope="module")
def namespace() -> dict[str, Any]:
    """Run the first block of the page."""
    block = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None
    found: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(block[1]):
        assert not example.want
        exec(compile(example.source, str(PAGE), "exec"), found)
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_every_line_runs(namespace: dict[str, Any]) -> None:
    for row in ROWS:
        code = re.fullmatch(r"`([^`]+)`", row.line)
        if code is None:
            assert row.line.startswith("not in the package"), row
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BosarisWarning)
            try:
                eval(compile(code[1], row.item, "eval"), namespace)
            except Exception as error:
                raise AssertionError(row) from error


def test_what_is_not_there_is_said() -> None:
    """Footnotes 12 and 14 of the theory paper, and what is a sketch or a step of a proof."""
    absent = {row.item for row in ROWS if not row.line.startswith("`")}
    assert absent == {"Footnote 12", "Footnote 14", "(A.7)", "Figure 1"}


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_tables_of_bengio_and_mariethoz(namespace: dict[str, Any]) -> None:
    """The lines give the digits that the paper prints: per cent, in Tables 2 and 5 of the width."""
    values = {}
    for row in ROWS:
        if row.section == "Person authentication" and row.item.startswith("Table"):
            values[row.item] = eval(row.line.strip("`"), namespace)
    # Width of model A at 95 %; the paper prints the whole width.
    assert values["Table 2"] == pytest.approx([0.01531, 0.00156, 0.00125], abs=1e-5)
    assert values["Table 5"] == pytest.approx([0.00676, 0.00805, 0.01058], abs=1e-5)
    assert values["Table 1"] == pytest.approx([0.0182, 0.0235], abs=6e-5)
    assert values["Table 4"] == pytest.approx([0.114, 0.118], abs=6e-4)
    assert values["Table 3"] == pytest.approx([0.647, 1.0, 1.0], abs=6e-3)
