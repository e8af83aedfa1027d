"""Calibration and fusion that are trained on conditions of equal weight."""

import numpy as np
import pytest

from bosaris_py import (
    Conditions,
    Key,
    LinearCalibration,
    LinearFusion,
    PAVCalibration,
    QualityFusion,
    Scores,
    SegmentQuality,
    cllr,
    min_cllr,
)
from bosaris_py.errors import MissingTrialsWarning

MODELS = [f"m{i}" for i in range(12)]
SEGMENTS = [f"s{j}" for j in range(60)]


@pytest.fixture
def key() -> Key:
    tar = np.zeros((12, 60), dtype=bool)
    tar[np.arange(60) % 12, np.arange(60)] = True
    return Key(MODELS, SEGMENTS, tar, ~tar)


@pytest.fixture
def conditions(key: Key) -> Conditions:
    """Return a rare condition, of the last ten segments, and a common one."""
    rare = np.zeros((12, 60), dtype=bool)
    rare[:, 50:] = True
    return Conditions({"common": ~rare, "rare": rare})


@pytest.fixture
def systems(key: Key) -> list[Scores]:
    """Return two systems that are worse, and shifted, in the rare condition."""
    rng = np.random.default_rng(3)
    shift = np.where(np.arange(60) >= 50, 1.5, 0.0)
    return [
        Scores(rng.normal(gain * key.tar, 1.0) + shift, MODELS, SEGMENTS) for gain in (2.0, 1.5)
    ]


def repeated(vector: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return each trial as often as its weight says."""
    return np.repeat(vector, weights.astype(int), axis=-1)


@pytest.fixture
def times(key: Key) -> tuple[np.ndarray, np.ndarray]:
    """Return how often a trial must be repeated: the common segments are 5 times as many.

    Each segment has one target and eleven non-targets.
    """
    per_segment = np.where(np.arange(60) >= 50, 5, 1)
    return per_segment, np.repeat(per_segment, 11)


def test_linear_calibration(systems, key, conditions, times) -> None:
    # Weights that make both conditions equal are those of trials that are repeated.
    tar, non = systems[0].get_tar_non(key)
    expected = LinearCalibration.fit(repeated(tar, times[0]), repeated(non, times[1]), ridge=0)
    found = LinearCalibration.fit_scores(systems[0], key, conditions=conditions, ridge=0)
    # Two runs of Newton's method end within rounding of the same optimum.
    assert found.scale == pytest.approx(expected.scale, rel=1e-9)
    assert found.offset == pytest.approx(expected.offset, rel=1e-9)
    assert (found.n_tar, found.n_non) == (key.n_tar, key.n_non)


def test_linear_fusion(systems, key, conditions, times) -> None:
    tar = np.stack([system.get_tar_non(key)[0] for system in systems])
    non = np.stack([system.get_tar_non(key)[1] for system in systems])
    expected = LinearFusion.fit(repeated(tar, times[0]), repeated(non, times[1]), ridge=0)
    found = LinearFusion.fit_scores(systems, key, conditions=conditions, ridge=0)
    assert found.weights == pytest.approx(expected.weights, rel=1e-9)
    assert found.offset == pytest.approx(expected.offset, rel=1e-9)


def test_quality_fusion(systems, key, conditions, times) -> None:
    quality = SegmentQuality(SEGMENTS, np.random.default_rng(4).random((1, 60)))
    found = QualityFusion.fit_scores(systems, [quality], key, conditions=conditions, ridge=0)
    weights = [share.astype(float) for share in times]
    expected = QualityFusion.fit_scores(
        systems, [quality], key, tar_weights=weights[0], non_weights=weights[1], ridge=0
    )
    assert found.apply(systems, [quality], key).scoremat == pytest.approx(
        expected.apply(systems, [quality], key).scoremat, rel=1e-8
    )


def test_pav_minimises_the_weighted_cllr(systems, key, conditions) -> None:
    # The two dummy trials are all that keeps the map from the optimum: they cost at
    # most log2(61) bits over 60 targets and log2(661) bits over 660 non-targets.
    found = PAVCalibration.fit_scores(systems[0], key, conditions=conditions)
    tar, non = systems[0].get_tar_non(key)
    weights = dict(zip(("tar_weights", "non_weights"), conditions.trial_weights(key), strict=True))
    best = min_cllr(tar, non, **weights)
    reached = cllr(found.apply(tar), found.apply(non), **weights)
    assert best <= reached <= best + (np.log2(61) / 60 + np.log2(661) / 660) / 2
    assert reached < cllr(tar, non, **weights)


@pytest.mark.parametrize("kind", [LinearCalibration, PAVCalibration])
def test_trials_without_score_have_no_share(kind, systems, key, conditions) -> None:
    # Half the rare segments have no score; the other half then stands for them.
    kept = SEGMENTS[:55]
    partial = systems[0].filter(MODELS, kept, keep=True)
    with pytest.warns(MissingTrialsWarning):
        found = kind.fit_scores(partial, key, conditions=conditions)
    inner = key.filter(MODELS, kept, keep=True)
    mask = np.zeros((12, 55), dtype=bool)
    mask[:, 50:] = True
    whole = Conditions({"common": ~mask, "rare": mask})
    assert found == kind.fit_scores(partial, inner, conditions=whole)
