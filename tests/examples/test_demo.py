"""The demo, run as a stranger would: what it prints is what docs/demo.md shows."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bosaris_py import Scores

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_page_shows_what_the_demo_prints(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), "--output", str(tmp_path)]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    page = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", page, flags=re.DOTALL | re.MULTILINE)
    blocks = [text for language, text in fenced if not language]
    assert len(blocks) == 2
    lines = f"{finished.stdout}{finished.stderr}".splitlines()
    assert len(lines) <= 60
    assert len([line for line in lines if line.startswith("Note: ")]) == 1
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 110
    printed = {line.rstrip() for line in finished.stdout.splitlines()}
    # The fusion against each of its systems.
    assert sum(line.endswith("  yes") for line in printed) == 2
    for line in "".join(blocks).splitlines():
        assert line.rstrip() in printed

    fused = Scores.read(tmp_path / "fused_eval_scores.h5")
    assert Scores.read(tmp_path / "fused_eval_scores.txt").n_trials == fused.n_trials == 38_697
    assert json.loads((tmp_path / "fusion.json").read_text())["kind"] == "LinearFusion"
    for name in ("det", "bayes", "differences"):
        for suffix in ("png", "pdf"):
            assert (tmp_path / f"{name}.{suffix}").stat().st_size > 10_000
