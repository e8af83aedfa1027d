"""What the README tells readers to type does what it shows."""

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    # Paths in the README start at its folder.
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(ROOT / "README.md"), module_relative=False, encoding="utf-8")
    assert found.attempted > 5
    assert found.failed == 0
