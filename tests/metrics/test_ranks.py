"""Metrics of ranks: fractions by hand, naive scorers, laws of ranks."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import auc, cllr, eer, min_cllr, optimal_llrs, prbep
from bosaris_py.errors import InvalidInputError
from bosaris_py.metrics.ranks import AUC, EER, PRBEP, MinCllr, PfaAt, PmissAt, inverted
from bosaris_py.trials.sample import Sample
from tests.score_strategies import naive_points, score_lists

DEFINITIONS = ("rocch", "interpolated", "step")


def test_fractions_by_hand() -> None:
    """Points (pmiss, pfa): (0, 1) (0, 1/2) (1/3, 1/2) (1/3, 0) (1, 0).

    The straight edge at pmiss = 1/3 crosses; its ends are 1/6 and 1/3 off the diagonal. On the
    hull, 1/5 = 1/2 (1 - x / (1/3)).
    """
    tar, non = [1.0, 3.0, 4.0], [0.0, 2.0]
    found = [eer(tar, non, definition=name) for name in DEFINITIONS]
    assert found == pytest.approx([1 / 5, 1 / 3, 5 / 12], rel=1e-15)
    assert [EER(name)(tar, non) for name in DEFINITIONS] == found
    # m misses and 1 - m false alarms on the edge to (1, 0): both 1/2.
    assert prbep(tar, non) == PRBEP()(tar, non) == pytest.approx(1 / 2, rel=1e-15)
    assert auc(tar, non) == AUC()(tar, non) == pytest.approx(5 / 6, rel=1e-15)
    assert (PmissAt(0.5)(tar, non), PmissAt(0.4)(tar, non)) == pytest.approx((0, 1 / 3))
    assert (PfaAt(0.3)(tar, non), PfaAt(0.4)(tar, non)) == (0.5, 0.0)
    # 1 - 0.9 is a tenth but for rounding.
    ten = np.arange(10.0)
    assert (PfaAt(1 - 0.9)(ten, [0.5]), PmissAt(1 - 0.9)([8.5], ten)) == (0.0, 0.0)


def test_a_tie_of_the_classes_is_one_step() -> None:
    """From (0, 2/3) to (1/2, 1/3): crossing at 2/5; nearer is the end, 1/6 off."""
    tar, non = [1.0, 2.0], [0.0, 1.0, 3.0]
    assert eer(tar, non, definition="interpolated") == pytest.approx(2 / 5, rel=1e-15)
    assert eer(tar, non, definition="step") == pytest.approx(5 / 12, rel=1e-15)
    # So are equal scores of one class: (1/2, 1) and (1/2, 0) are as near.
    assert eer([0.0, 9.0], [1.0, 1.0], definition="step") == 0.25


@given(score_lists(), score_lists(), st.floats(0, 0.99))
def test_one_rate_within_a_limit_of_the_other(tar, non, limit: float) -> None:
    points = [(0.0, 1.0), *((float(m), float(f)) for m, f in naive_points(tar, non))]
    least = min(m for m, f in points if f <= limit), min(f for m, f in points if m <= limit)
    found = PmissAt(limit)(tar, non), PfaAt(limit)(tar, non)
    assert found == pytest.approx(least, abs=1e-15)


def test_optimal_llrs_by_hand() -> None:
    tar, non = optimal_llrs([1.0, 3.0, 2.0], [0.0, 2.0])
    np.testing.assert_allclose(tar, [np.log(4 / 3), np.inf, np.log(4 / 3)], rtol=1e-15)
    np.testing.assert_allclose(non, [-np.inf, np.log(4 / 3)], rtol=1e-15)


@given(score_lists(), score_lists())
def test_the_minimum_is_the_cllr_of_the_optimal_llrs(tar: np.ndarray, non: np.ndarray) -> None:
    llrs, least = optimal_llrs(tar, non), min_cllr(tar, non)
    assert least == pytest.approx(cllr(*llrs), abs=1e-13)
    assert least <= cllr(tar, non) + 1e-14
    # They rise with the scores, and are calibrated already.
    order = np.argsort(np.concatenate((tar, non)), kind="stable")
    rising = np.concatenate(llrs)[order]
    assert np.all(rising[1:] >= rising[:-1])
    for again, first in zip(optimal_llrs(*llrs), llrs, strict=True):
        np.testing.assert_allclose(again, first, rtol=1e-12, atol=1e-12)
    # Pooling keeps means: posteriors average to the share of targets.
    posterior = 1 / (1 + np.exp(-rising) * non.size / tar.size)
    assert posterior.mean() == pytest.approx(tar.size / (tar.size + non.size), rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "prices"),
    [
        *((EER(), [(0.5, 0), (0.5, 1)]), (AUC(), [(-1, 0), (-1, 1)]), (PRBEP(), [])),
        *((MinCllr(), [(1, 0), (1, 1)]), (PmissAt(0.1), [(1, 0)]), (PfaAt(0.1), [(1, 1)])),
    ],
)
def test_what_errors_of_each_class_cost(metric, prices) -> None:
    scores = [0.0, 1.0, 3.0], [0.5, 1.0, 2.0]
    openings = metric.openings(Sample.from_scores(*scores))
    without = metric.openings(Sample.from_scores([2.0, 3.0], [0.0, 1.0]))
    assert all(opening.rate in (0.0, np.inf) for opening in without)
    assert [(opening.price, opening.place) for opening in openings] == prices
    # As many errors as the value says, or no number that matters.
    assert {opening.rate for opening in openings} <= {metric(*scores), np.inf}


def test_what_a_metric_is_made_of() -> None:
    with pytest.raises(InvalidInputError):
        EER("brentq")
    for rate in (1.0, -0.1):
        for metric in (PmissAt, PfaAt):
            with pytest.raises(InvalidInputError):
                metric(rate)


def test_rates_that_trials_cannot_show() -> None:
    """A rate of 0 is one that was asked for, and 0.1 of ten trials is one of them."""
    sample = Sample.from_scores(np.arange(10.0), np.arange(10.0))
    for metric in (PmissAt, PfaAt):
        said = [len(metric(rate).notes(sample)) for rate in (0.0, 0.09, 0.1)]
        assert said == [0, 1, 0]


def sample_of_area(n: int, below: int) -> Sample:
    """Make n and n trials; so many targets lie below all non-targets, the others above."""
    tar = np.append(np.arange(below) - 2.0 * n, np.arange(n - below) + 2.0 * n)
    return Sample.from_scores(tar, np.arange(n))


@pytest.mark.parametrize(
    ("n", "below", "said"),
    # Three standard errors of scores that tell nothing, sqrt((2 n + 1) / 12) / n each, below 0.5:
    # an area below 0.3772 of 100, 2/13 of 13, below 0.0416 of 7, and of 6 a negative one.
    [(13, 11, 0), (100, 62, 0), (100, 63, 1), (7, 7, 1), (7, 6, 0), (6, 6, 0)],
)
def test_inverted_is_beyond_three_standard_errors(n: int, below: int, said: int) -> None:
    sample = sample_of_area(n, below)
    assert len(inverted(sample)) == said
    heavy = np.where(np.arange(n) == n - 1, 1e6, 1.0)
    assert not inverted(Sample.from_scores(sample.tar.listed, sample.non.listed, heavy, heavy))
