"""The ten traps of which an error or a warning says what was probably meant."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import BosarisError, BosarisWarning

RNG = np.random.default_rng(1)
TAR, NON = RNG.normal(2.0, 1.0, 40), RNG.normal(0.0, 1.0, 60)
MODELS, SEGMENTS = [f"m{i}" for i in range(4)], [f"s{i}" for i in range(6)]
SAME = np.eye(4, 6, dtype=bool)
KEY = bp.Key(MODELS, SEGMENTS, SAME, ~SAME)
SCORES = bp.Scores(RNG.normal(size=(4, 6)), MODELS, SEGMENTS)
COSINES = RNG.uniform(0.3, 0.9, 1000), RNG.uniform(-0.5, 0.4, 1000)


def read(folder: Path, *lines: str) -> bp.Key:
    path = folder / "lines.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bp.read_key(path)


HINTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "labels for scores": (
        lambda _: bp.eer(np.repeat([1.0, 0.0], [40, 60]), np.append(TAR, NON)),
        r"`tar` .* only 0 and 1.*Results\.from_labels\(labels, scores\)",
    ),
    "a transposed matrix": (
        lambda _: bp.Scores(np.zeros((6, 4)), MODELS, SEGMENTS),
        r"shape \(4, 6\) \(models, segments\); got \(6, 4\)\. Did you swap",
    ),
    "a prior in per cent": (
        lambda _: bp.min_dcf(TAR, NON, 5.0),
        r"`prior` must lie strictly between 0 and 1; got 5.* percentage\?",
    ),
    "a rate in per cent": (
        lambda _: bp.Results(TAR, NON).threshold_at(pfa=5),
        r"`pfa` must lie in \[0, 1\]; got 5\. Is it in per cent",
    ),
    "scores that are no LLRs": (lambda _: bp.act_dcf(*COSINES, 0.01), "not calibrated"),
    "ids without overlap": (
        lambda _: bp.evaluate({"a": SCORES}, bp.Key(["x1"], ["y1"], [[True]], [[False]])),
        "m0.*x1|x1.*m0",
    ),
    "a set in place of a list": (
        lambda _: bp.eer({1.0, 2.0}, NON),
        "`tar` must be a list of numbers.* set, which has no order: write a list",
    ),
    "truth values as scores": (
        lambda _: bp.eer(TAR > 0, NON),
        r"`tar` must hold real numbers; got .* bool\. A boolean array looks like a mask",
    ),
    "spoofs in a key of two classes": (
        lambda folder: bp.primary_cost(
            SCORES, read(folder, "m0 s0 target", "m1 s1 spoof", "m0 s1 nontarget"), "VoxSRC"
        ),
        r"`plan` must be one of three classes .*1 spoofs\. .*Without spoofs judge key\.bona_fide",
    ),
    "systems in another order than in training": (
        lambda _: bp.LinearFusion.fit_scores({"a": SCORES, "b": SCORES}, KEY, ridge="weak").apply(
            {"b": SCORES, "c": SCORES}, KEY
        ),
        r"systems of the training \(a, b\); got b, c",
    ),
    "a key without labels": (
        lambda folder: read(folder, "m0 s0", "m1 s1"),
        r"no labels, so it is no key\. Key\.from_mates",
    ),
}


@pytest.mark.parametrize("trap", HINTS)
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConvergenceWarning")
def test_what_was_meant_is_said(trap: str, tmp_path: Path) -> None:
    call, words = HINTS[trap]
    is_warning = trap == "scores that are no LLRs"
    with pytest.warns(BosarisWarning) if is_warning else pytest.raises(BosarisError) as told:
        call(tmp_path)
    assert re.search(words, str(told[0].message if is_warning else told.value))
