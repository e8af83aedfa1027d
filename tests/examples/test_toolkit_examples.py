"""The ports of the toolkit's demos run, warn of nothing, and tell what they ought to."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(name: str, output: Path) -> str:
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / name)]
    done = subprocess.run(
        [*command, "--output", str(output)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def table(said: str, column: int) -> dict[str, float]:
    """Return the numbers in one column of the table of systems."""
    rows = re.findall(r"^(system 1|system 2|fusion|\w+ fusion) +([\d.].*)$", said, re.MULTILINE)
    return {name: float(re.findall(r"[\d.]+", row)[column]) for name, row in rows}


def is_picture(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG") and path.stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "plots"),
    [
        ("toolkit_demo_main.py", ["nber", "det", "det_fusion"]),
        ("toolkit_demo_with_files.py", ["files_dcf", "files_det", "files_det_fusion"]),
    ],
)
def test_demos(name: str, plots: list[str], tmp_path: Path) -> None:
    said = run(name, tmp_path)
    # effective_prior(0.04, 10, 1) = 0.4 / (0.4 + 0.96).
    assert "effective prior of 0.294" in said
    act, least, eer = (table(said, column) for column in (0, 1, 3))
    assert set(eer) == {"system 1", "system 2", "fusion"}
    assert eer["fusion"] < min(eer["system 1"], eer["system 2"])
    # N(3, 1) against N(0, 1): Phi(-1.5) is 6.68 %; 5000 targets leave 0.35 % of doubt.
    assert eer["system 2"] == pytest.approx(6.68, abs=1.0)
    # N(5, 2) against N(0, 1): the rates are equal at 5/3, 4.78 %; the hull of the likelihood-
    # ratio of unequal variances lies a little below.
    assert eer["system 1"] == pytest.approx(4.78, abs=1.0)
    # Fusion calibrates: only its actual cost is near its minimum.
    assert act["fusion"] < 1.1 * least["fusion"]
    assert all(act[name] > 1.1 * least[name] for name in ("system 1", "system 2"))
    assert all(is_picture(tmp_path / f"{plot}.png") for plot in plots)


@pytest.mark.slow
def test_quality_fusion(tmp_path: Path) -> None:
    said = run("quality_fusion.py", tmp_path)
    cllr = table(said, 1)
    assert cllr["quality fusion"] < cllr["linear fusion"]
    # As the README of the data has it, there trained at even odds.
    assert cllr["linear fusion"] == pytest.approx(0.307, abs=0.003)
    assert is_picture(tmp_path / "quality_fusion.png")
    assert {path.name for path in tmp_path.glob("*.h5")} == {
        "linear_fusion.h5",
        "quality_fusion.h5",
    }
