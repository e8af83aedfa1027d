"""Tests of the calibrations by Gaussian models."""

import numpy as np
import pytest

from bosaris_py.calibration import GaussianCalibration, cross_fit
from bosaris_py.errors import InvalidInputError, SuspectScoresWarning
from bosaris_py.fusion import read_model
from tests.calibration.test_cross_fitting import simulated

RNG = np.random.default_rng(4)
TAR, NON = RNG.normal(2.0, 1.0, 60), RNG.normal(-1.0, 1.5, 90)


def test_gaussian_is_the_closed_form():
    found = GaussianCalibration.fit(TAR, NON, target_share=0.3)
    variance = 0.3 * TAR.var() + 0.7 * NON.var()
    scale = (TAR.mean() - NON.mean()) / variance
    assert found.scale == pytest.approx(scale, rel=1e-12)
    assert found.offset == pytest.approx(-scale * (TAR.mean() + NON.mean()) / 2, rel=1e-12)
    assert (found.low_score, found.high_score) == (
        min(TAR.min(), NON.min()), max(TAR.max(), NON.max()),
    )  # fmt: skip


def test_gaussian_scores_of_one_variance_become_their_llrs():
    # The true llr of N(1, 1) against N(-1, 1) is 2 x. Standard errors are about 1e-3.
    tar, non = RNG.normal(1, 1, 10**6), RNG.normal(-1, 1, 10**6)
    found = GaussianCalibration.fit(tar, non)
    assert found.scale == pytest.approx(2, abs=0.01)
    assert found.offset == pytest.approx(0, abs=0.01)


def test_weights_are_multiplicities():
    tar_counts, non_counts = RNG.integers(0, 3, TAR.size), RNG.integers(0, 3, NON.size)
    weighted = GaussianCalibration.fit(
        TAR, NON, tar_weights=tar_counts.astype(float), non_weights=non_counts.astype(float)
    )
    used = [np.count_nonzero(counts) for counts in (tar_counts, non_counts)]
    assert [weighted.n_tar, weighted.n_non] == used
    repeated = GaussianCalibration.fit(np.repeat(TAR, tar_counts), np.repeat(NON, non_counts))
    scores = np.linspace(-1, 2, 7)
    np.testing.assert_allclose(weighted.apply(scores), repeated.apply(scores), atol=1e-9)


def test_protocol(tmp_path):
    scores, key, speakers = simulated()
    fitted = GaussianCalibration.fit_scores(scores, key)
    assert fitted == GaussianCalibration.fit(*scores.get_tar_non(key))
    fitted.save(tmp_path / "map.json")
    read = GaussianCalibration.read(tmp_path / "map.json")
    assert read_model(tmp_path / "map.json") == read == fitted
    assert cross_fit(GaussianCalibration, scores, key, speakers=speakers, rng=1).final == fitted


def test_far_scores_are_warned_of():
    found = GaussianCalibration.fit([2.0, 4.0], [-2.0, 0.0])
    with pytest.warns(SuspectScoresWarning, match="1 of 2 scores .* -2 to 4; .* 10, by 1 of their"):
        found.apply([1.0, 10.0])


def test_distances_are_warned_of():
    with pytest.warns(SuspectScoresWarning, match=r"scale is negative \(-"):
        falling = GaussianCalibration.fit(-TAR, -NON)
    assert falling.scale == -GaussianCalibration.fit(TAR, NON).scale
    # Means that differ by less than three standard errors, and few trials, are no evidence.
    GaussianCalibration.fit(NON[::2], NON[1::2])
    GaussianCalibration.fit(NON[1::2], NON[::2])
    GaussianCalibration.fit(-TAR[:30], -NON)


BAD = [
    ([1.0], [0.0], {}),
    ([1.0, np.inf], [0.0], {}),
    ([1.0, np.nan], [0.0, 2.0], {}),
    ([], [0.0], {}),
    (TAR, NON, {"target_share": 1.0}),
    (TAR, NON, {"tar_weights": [1.0]}),
]


@pytest.mark.parametrize(("tar", "non", "options"), BAD)
def test_bad_input(tar, non, options):
    with pytest.raises(InvalidInputError):
        GaussianCalibration.fit(tar, non, **options)
