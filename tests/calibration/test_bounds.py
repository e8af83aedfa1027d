"""Tests of the bounds of log-likelihood-ratios."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import calibration as cal
from bosaris_py.errors import SuspectScoresWarning
from bosaris_py.trials import Key, Scores
from tests.calibration.test_cross_fitting import simulated

STEP = 0.01
# Scores are multiples of 0.1: what changes there changes right beside a point of the grid.
TENTHS = 0.1 * np.arange(-200, 200)
GRID = np.sort(
    np.concatenate((STEP * (np.arange(-2000, 2000) + 0.5), TENTHS - 1e-9, TENTHS + 1e-9))
)


def good_for_elub(tar, non):
    """Tell where no answer is worse than 0.

    Expected utilities as published: P(LR <= t | H1) + t P(LR > t | H2), with one misleading
    likelihood-ratio more in each class; of the neutral system min(1, t).
    """
    below = 1 + (tar[:, None] <= GRID).sum(axis=0)
    above = 1 + (non[:, None] > GRID).sum(axis=0)
    cost = below / (tar.size + 1) + np.exp(GRID) * above / (non.size + 1)
    return cost <= np.minimum(1, np.exp(GRID)) * (1 + 1e-12)


def good_for_iv(tar, non):
    """Tell where both log-ratios of tails keep their sign."""
    up, down = (
        [np.log((mask.sum(axis=0) + 0.5) / (mask.shape[0] + 1)) for mask in masks]
        for masks in (
            [x[:, None] >= GRID for x in (tar, non)],
            [x[:, None] < GRID for x in (tar, non)],
        )
    )
    # Beyond all that speak for a hypothesis there is no evidence, only what is added.
    above = (up[0] - up[1] >= GRID) & (tar.max() >= GRID)
    return np.where(GRID > 0, above, (down[0] - down[1] <= GRID) & (non.min() < GRID))


numbers = st.lists(
    st.floats(-9, 9).map(lambda x: round(x, 1)), min_size=1, max_size=30
).map(np.array)  # fmt: skip


@given(numbers, numbers, st.floats(0, 4))
@pytest.mark.parametrize(("kind", "is_good"), [("elub", good_for_elub), ("iv", good_for_iv)])
def test_bounds_are_those_of_a_search_on_a_grid(kind, is_good, tar, non, shift):
    tar, non = np.round(tar + shift, 1), np.round(non - shift, 1)
    found, bad = cal.llr_bounds(tar, non, kind), GRID[~is_good(tar, non)]
    assert found.low <= 0 <= found.high
    # The first bad point of the grid is within a step of the bound.
    assert found.high == pytest.approx(bad[bad > 0].min(initial=np.inf), abs=1.01 * STEP)
    assert found.low == pytest.approx(bad[bad < 0].max(initial=-np.inf), abs=1.01 * STEP)
    assert cal.llr_bounds(-non, -tar, kind) == (-found.high, -found.low)


def test_closed_forms_of_separated_classes():
    # LLRs of 0 have no bounds, however different the numbers of trials.
    for kind in ("elub", "iv", "wide"):
        for sizes in ((6, 20), (20, 6), (7, 7), (1, 1000)):
            assert cal.llr_bounds(*map(np.zeros, sizes), kind) == (0, 0)
    # ELUB: log of n / (n + 1) over 1 / (m + 1). IV, up to the targets: (n + .5) / (n + 1) over
    # .5 / (m + 1); beyond them 0.5 of each.
    tar, non = np.full(9, 20.0), np.full(19, -20.0)
    assert cal.llr_bounds(tar, non).high == pytest.approx(math.log(0.9 * 20))
    assert cal.llr_bounds(tar, non).low == pytest.approx(-math.log(0.95 * 10))
    assert cal.llr_bounds(tar, non, "iv").high == pytest.approx(math.log(9.5 / 10 * 40))
    infinite = cal.llr_bounds(np.full(9, np.inf), np.full(19, -np.inf))
    assert infinite == cal.llr_bounds(tar, non)


def test_the_breath_analyser():
    """The example of Vergeer et al. (2016), as the package lir has it; LRs of 0.101 and of 90.

    Of 1000 non-targets 10 have the higher one, of 100 targets 90. On a grid, in steps of 1e-4
    towards 0, lir 1.8.0 finds -0.9581 and 1.9089 (ELUB), -0.9785 and 1.9315 (IV).
    """
    low, high = math.log(0.101), math.log(90.0)
    tar, non = np.repeat([low, high], (10, 90)), np.repeat([low, high], (990, 10))
    elub, iv = cal.llr_bounds(tar, non), cal.llr_bounds(tar, non, "iv")
    assert elub.high == pytest.approx(math.log((90 / 101) / (11 / 1001)))
    assert elub.low == pytest.approx(-math.log((990 / 1001) / (11 / 101)))
    assert iv.high == pytest.approx(math.log((90.5 / 101) / (10.5 / 1001)))
    assert iv.low == pytest.approx(-math.log((990.5 / 1001) / (10.5 / 101)))
    published = np.array([-0.9581, 1.9089, -0.9785, 1.9315]) * math.log(10)
    np.testing.assert_allclose([*elub, *iv], published, rtol=0, atol=1e-4 * math.log(10))
    # An LR of 1000 for that of 90 has the same bounds.
    far = np.repeat([low, math.log(1000.0)], (10, 90)), np.repeat([low, math.log(1000)], (990, 10))
    np.testing.assert_allclose([*cal.llr_bounds(*far), *cal.llr_bounds(*far, "iv")], [*elub, *iv])


def test_the_far_score_of_a_small_reference_set_is_bounded():
    """150 + 300 reference scores and a far one: the line says 1e7, the bounds less than 301."""
    rng = np.random.default_rng(2)
    tar, non = rng.normal(2.0, 1.0, 150), rng.normal(-1.0, 1.0, 300)
    linear = cal.LinearCalibration.fit(tar, non, ridge=0)
    with pytest.warns(SuspectScoresWarning):
        assert linear.apply(7.0) > math.log(1e7)
    bounded = cal.BoundedCalibration.fit(tar, non, ridge=0.0, bounds="elub")
    assert bounded.apply(7.0) == bounded.high <= math.log(301)
    assert bounded.apply(0.4) == linear.apply(0.4)


@pytest.mark.parametrize(
    "calibration", [cal.LinearCalibration, cal.PAVCalibration, cal.GaussianCalibration]
)
def test_bounds_of_scores(calibration):
    scores, key, _ = simulated()
    fitted = cal.BoundedCalibration.fit_scores(scores, key, calibration=calibration, bounds="iv")
    assert fitted.map == calibration.fit_scores(scores, key)
    llrs = map(fitted.map.apply, scores.get_tar_non(key))
    assert (fitted.low, fitted.high) == cal.llr_bounds(*llrs, "iv")


@pytest.mark.parametrize("kind", ["elub", "iv", "wide"])
def test_scores_that_are_no_llrs_are_warned_of(kind):
    rng = np.random.default_rng(0)
    tar, non = rng.normal(2.0, 2.0, 300), rng.normal(-2.0, 2.0, 500)
    cal.llr_bounds(tar, non, kind)
    for change in (np.tanh, np.negative, lambda s: 1.0 / (1.0 + np.exp(-s)), lambda s: 20.0 * s):
        with pytest.warns(SuspectScoresWarning):
            cal.llr_bounds(change(tar), change(non), kind)


class TestSpeakers:
    """Units of a speaker's targets and of a pair's non-targets in place of one trial."""

    IDS = tuple(f"s{i}" for i in range(12))
    WHO = staticmethod(lambda name: int(name[1:]) // 3)
    SAME = np.equal.outer(np.arange(12) // 3, np.arange(12) // 3)
    KEY = Key(IDS, IDS, SAME, ~SAME)

    def test_speakers_apart(self) -> None:
        """36 targets of 4 speakers, 9 each; 108 non-targets of 6 pairs, 18 each."""
        scores = Scores(np.where(self.SAME, 10.0, -10.0), self.IDS, self.IDS)
        bounds = cal.llr_bounds(scores, self.KEY, speakers=self.WHO)
        # All targets over one pair, all pairs over one speaker, each with the others and itself.
        high = math.log((36 / (36 + 9)) / (18 / (108 + 18)))
        low = -math.log((108 / (108 + 18)) / (9 / (36 + 9)))
        assert bounds == pytest.approx((low, high))
        plain = cal.llr_bounds(scores, self.KEY)
        assert plain == cal.llr_bounds(*scores.get_tar_non(self.KEY))
        assert plain.low < bounds.low < 0 < bounds.high < plain.high

    @pytest.mark.parametrize("kind", ["elub", "iv", "wide"])
    def test_one_trial_of_each_pair_is_as_without_speakers(self, kind: str) -> None:
        """Each pair meets once, each speaker has one target."""
        same, meet = np.eye(12, dtype=bool), np.triu(np.ones((12, 12), dtype=bool), 1)
        key = Key(self.IDS, self.IDS, same, meet)
        llrs = np.random.default_rng(1).normal(2.0 * same - 1.0)
        scores = Scores(llrs, self.IDS, self.IDS)
        who = dict(zip(self.IDS, range(12), strict=True))
        assert cal.llr_bounds(scores, key, kind, speakers=who) == cal.llr_bounds(scores, key, kind)
