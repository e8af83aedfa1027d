"""The README: its example runs, its links lead somewhere, and it fits two screens."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")


def test_example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The lines run in an empty folder, and so does the command below them."""
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert outcome.attempted == 9
    assert outcome.failed == 0
    (line,) = re.findall(r"^    (bosaris .*)$", PAGE, flags=re.MULTILINE)
    command = [sys.executable, "-m", "bosaris_py", *line.split()[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "1.17" in done.stdout


def test_links() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", PAGE) if "://" not in link]
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_length() -> None:
    assert len(PAGE.splitlines()) <= 90
    pictures = re.findall(r'src(?:set)?="([^"]+)"', PAGE)
    assert pictures == ["docs/images/hero_dark.svg", "docs/images/hero.svg"]
    assert all((ROOT / picture).exists() for picture in pictures)
