"""Pictures of the documentation can be drawn again from what is in the repository."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script_name", "names"),
    [
        ("draw_conditions.py", ["conditions_det.png", "conditions_bayes.png"]),
        ("draw_plots.py", ["plots.png"]),
    ],
)
def test_pictures(script_name: str, names: list[str], tmp_path: Path) -> None:
    script = ROOT / "docs" / script_name
    command = [sys.executable, "-W", "error", str(script), "--output", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    # The examples of the page came out as they are written there.
    assert done.stdout == ""
    for name in names:
        drawn, shown = (tmp_path / name).read_bytes(), (ROOT / "docs" / "images" / name)
        assert drawn.startswith(b"\x89PNG")
        # The same size; other versions of matplotlib may draw other pixels.
        assert drawn[16:24] == shown.read_bytes()[16:24]
