"""The table of the page for users of SIDEKIT: each line of its right column runs."""

import re
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import matlab

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sidekit.md"
# Prose instead of a line.
WORDS = ("not needed", "dropped when")


# Two targets have no 30 errors to mark.
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.PlotRangeWarning")
def test_each_line_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    models, segments = ["m1", "m2"], ["a", "b", "c"]
    tar = np.array([[True, False, False], [False, True, False]])
    key = bp.Key(models, segments, tar, ~tar)
    scores = bp.Scores(np.arange(6.0).reshape(2, 3), models, segments)
    key.save("key.h5")
    scores.save("scores.h5")
    key.to_ndx().save("ndx.h5")
    parts = [scores.filter([model], segments, keep=True) for model in models]
    space = {
        **{name: getattr(bp, name) for name in bp.__all__},
        **{"np": np, "matlab": matlab, "key": key, "scores": scores, "ndx": key.to_ndx()},
        **{"models": models, "segments": segments, "tar": tar, "non": ~tar},
        **{"matrix": scores.scoremat, "mask": scores.scoremask, "a": parts[0], "b": parts[1]},
        **{"c": bp.Scores([[1.0]], ["m3"], ["a"]), "m": ["m1", "m1"], "s": ["a", "b"]},
        **{"t": ["target", "nontarget"], "on_key": scores.align_with_ndx(key)},
        **{"tar_scores": [1.0, 2.0], "non_scores": [0.0, 1.5]},
    }
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*) \| (.*) \|$", text.partition("## Line by line")[2], re.MULTILINE)
    lines = [re.findall(r"`([^`]*)`", right) for left, right in rows if left.startswith("`")]
    assert len(lines) > 30
    for (left, right), found in zip(rows[2:], lines, strict=True):
        assert found or right.startswith(WORDS), left
        for line in found:
            exec(line, space)
