"""The scripts of the gallery run, are short, and have a page each."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("gallery", ROOT / "docs" / "gallery.py")
assert _spec is not None
assert _spec.loader is not None
gallery = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gallery)


def test_there_are_enough() -> None:
    assert len(gallery.SCRIPTS) >= 16
    assert sorted(gallery.SCRIPTS) == sorted((ROOT / "docs" / "gallery").glob("*.py"))


@pytest.mark.parametrize("script", gallery.SCRIPTS, ids=lambda script: script.stem)
def test_script(script: Path) -> None:
    assert len(script.read_text(encoding="utf-8").splitlines()) < 40
    assert all(axes.has_data() for axes in gallery.draw(script).axes)
    page = gallery.page(script)
    assert page.startswith("# ")
    assert "Explained in: [" in page
