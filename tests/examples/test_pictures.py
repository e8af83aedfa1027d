"""Pictures of the README can be drawn again from what is in the repository."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_pictures(tmp_path: Path) -> None:
    script = ROOT / "docs" / "draw_hero.py"
    command = [sys.executable, "-W", "error", str(script), "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for name in ("hero.svg", "hero_dark.svg"):
        drawn, shown = (folder / name for folder in (tmp_path, ROOT / "docs" / "images"))
        # The same size; other versions of matplotlib may draw other letters.
        sizes = [
            path.read_text(encoding="utf-8").split("viewBox=")[1][:20] for path in (drawn, shown)
        ]
        assert sizes[0] == sizes[1]
