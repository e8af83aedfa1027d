"""The examples that the documentation shows of each format."""

from pathlib import Path

import pytest

from bosaris_py.storage.formats import FORMATS, read_table

PAGE = Path(__file__).parents[3] / "docs" / "formats.md"
NAME_WIDTH = 25


def examples() -> list[tuple[str, str]]:
    """Return name and lines of each example."""
    block = PAGE.read_text().split("### Examples")[1].split("```")[1]
    found: list[tuple[str, str]] = []
    for line in block.splitlines()[1:]:
        name, content = line[:NAME_WIDTH].strip(), line[NAME_WIDTH:].replace("→", "\t")
        if name:
            found.append((name, ""))
        found[-1] = found[-1][0], f"{found[-1][1]}{content}\n"
    return found


@pytest.mark.parametrize(("name", "content"), examples())
def test_examples_are_what_they_are_called(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(content)
    assert len(read_table(path, name, spoof="nontarget")) == 2


def test_every_format_has_an_example() -> None:
    assert {name for name, _ in examples()} == set(FORMATS)
    # In the tables above, too.
    tables = PAGE.read_text().split("### Two lines of each")[0]
    assert all(f"| `{name}` |" in tables for name in FORMATS)
