"""The demos, run as a stranger would, and the ports of the toolkit's."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bosaris_py import Scores

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


def run(name: str, output: Path) -> str:
    # The demos show scores before calibration, and maps on the trials of their training.
    told = ["-W", "ignore:not calibrated", "-W", "ignore:The map was trained on these"]
    command = [sys.executable, "-W", "error", *told, f"examples/{name}", "--output", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def table(said: str, column: int) -> dict[str, float]:
    """Return the numbers in one column of the table of systems."""
    rows = re.findall(r"^(system 1|system 2|fusion|\w+ fusion) +([\d.].*)$", said, re.MULTILINE)
    return {name: float(re.findall(r"[\d.]+", row)[column]) for name, row in rows}


def test_demo(tmp_path: Path) -> None:
    lines = run("demo.py", tmp_path).splitlines()
    assert len(lines) <= 39
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 110
    # The fusion against each of its systems.
    assert sum(line.endswith("  yes") for line in lines) == 2
    assert table("\n".join(lines), 0)["fusion"] == 1.17
    fused = Scores.read(tmp_path / "fused_eval_scores.h5")
    assert Scores.read(tmp_path / "fused_eval_scores.txt").n_trials == fused.n_trials == 38_697
    assert json.loads((tmp_path / "fusion.json").read_text())["kind"] == "LinearFusion"
    pictures = [tmp_path / f"{name}.{end}" for name in ("det", "bayes") for end in ("png", "pdf")]
    assert all(path.stat().st_size > 10_000 for path in pictures)


DEMOS = {"main": "nber det det_fusion", "with_files": "files_dcf files_det files_det_fusion"}


@pytest.mark.parametrize("name", DEMOS)
def test_demos_of_the_toolkit(name: str, tmp_path: Path) -> None:
    said = run(f"toolkit_demo_{name}.py", tmp_path)
    # effective_prior(0.04, 10, 1) = 0.4 / (0.4 + 0.96).
    assert "effective prior of 0.294" in said
    act, least, eer = (table(said, column) for column in (0, 1, 3))
    assert eer["fusion"] < min(eer["system 1"], eer["system 2"])
    # N(3, 1) against N(0, 1): Phi(-1.5) is 6.68 %; 5000 targets leave 0.35 % of doubt.
    assert eer["system 2"] == pytest.approx(6.68, abs=1.0)
    # N(5, 2) against N(0, 1): the rates are equal at 5/3, 4.78 %; the hull of the likelihood-
    # ratio of unequal variances lies a little below.
    assert eer["system 1"] == pytest.approx(4.78, abs=1.0)
    # Fusion calibrates: only its actual cost is near its minimum.
    assert act["fusion"] < 1.1 * least["fusion"]
    assert all(act[name] > 1.1 * least[name] for name in ("system 1", "system 2"))
    assert all((tmp_path / f"{plot}.png").stat().st_size > 10_000 for plot in DEMOS[name].split())


def test_quality_fusion(tmp_path: Path) -> None:
    cllr = table(run("quality_fusion.py", tmp_path), 1)
    assert cllr["quality fusion"] < cllr["linear fusion"]
    # As the README of the data has it, there trained at even odds.
    assert cllr["linear fusion"] == pytest.approx(0.307, abs=0.003)
    assert (tmp_path / "quality_fusion.png").stat().st_size > 10_000
