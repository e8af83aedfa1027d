"""The page of the papers: each equation, table and figure has a row, and each line runs."""

import doctest
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")

# Of each section: how many equations, tables and figures there are; some have other numbers.
ITEMS: dict[str, tuple[int, int, int]] = {
    "Theory": (32, 0, 4),
    "NISTIR 7722": (15, 2, 4),
    "Data dependence": (11, 3, 4),
    "Person authentication": (21, 6, 3),
    "Conditions": (22, 3, 3),
}


class Row(NamedTuple):
    section: str
    item: str
    line: str


ROWS = [
    Row(part.splitlines()[0], *(line.strip("| ").split(" | ")[i].strip() for i in (0, 2)))
    for part in PAGE.split("\n## ")[3:]
    for line in re.findall(r"^\| (?!Item).*", part, re.MULTILINE)
]


def named(section: str, what: str) -> set[str]:
    """Return the numbers of the equations, tables or figures that have a row."""
    items = "\n".join(row.item for row in ROWS if row.section == section)
    if what == "equation":
        return set(re.findall(r"\(([A0-9.]+)\)", items))
    numbers = re.findall(rf"{what}s? ((?:[IVX0-9]+(?:, )?)+)", items)
    return set(re.findall(r"[IVX0-9]+", " ".join(numbers)))


@pytest.mark.parametrize("section", ITEMS)
def test_every_item_has_a_row(section: str) -> None:
    equations, tables, figures = ({str(i + 1) for i in range(n)} for n in ITEMS[section])
    if section == "Data dependence":
        equations |= {f"A.{i}" for i in range(1, 8)}
        tables = {"I", "II", "III"}
    assert named(section, "equation") == equations
    assert named(section, "Table") == tables
    assert named(section, "Figure") == figures


@pytest.fixture(scope="module")
def namespace() -> dict[str, Any]:
    """Run the first block of the page."""
    block = PAGE.split("```python\n")[1].split("```")[0]
    found: dict[str, Any] = {}
    for example in doctest.DocTestParser().get_examples(block):
        exec(example.source, found)
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_every_line_runs(namespace: dict[str, Any]) -> None:
    for row in ROWS:
        code = re.fullmatch(r"`([^`]+)`", row.line)
        if code is None:
            assert row.line.startswith("not in the package"), row
            continue
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
