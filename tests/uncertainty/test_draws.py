"""Draws: laws of how often trials count, and rows that equal them."""

import numpy as np
import pytest

from bosaris_py.metrics.costs import DCF, Cllr, MinDCF
from bosaris_py.metrics.metric import Metric
from bosaris_py.metrics.ranks import AUC, EER
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.uncertainty.draws import (
    IidDraws,
    SetDraws,
    SpeakerDraws,
    TimesRows,
    TwoLayerDraws,
    picked_units,
)
from tests.uncertainty.samples import make_sample

SIZES = np.array(
    [Metric(lambda tar, non: float(tar.size)), Metric(lambda tar, non: float(non.size))]
)


def test_as_many_units_are_picked_as_there_are() -> None:
    picks = picked_units(1000, 7, np.random.default_rng(1))
    assert (picks.sum(axis=1) == 7).all()
    # Binomial of 7 picks at 1/7: mean 1, variance 6/7; 4 standard errors of 7000 numbers.
    assert picks.mean() == 1.0
    assert abs(picks.var() - 6 / 7) < 4 * np.sqrt(2 / 7000)


def test_trials_are_drawn_within_conditions() -> None:
    sample = make_sample(np.random.default_rng(2), groups=True)
    (rows,) = IidDraws((sample,)).rows(5, np.random.default_rng(3))
    for tar, non in rows.times():
        for one, times in ((sample.tar, tar), (sample.non, non)):
            groups = one.groups
            assert np.array_equal(np.bincount(groups, times), np.bincount(groups))


@pytest.mark.parametrize("metric", [EER(), MinDCF(0.1), DCF(0.5, 0.1), Cllr(), AUC()])
@pytest.mark.parametrize("kind", [IidDraws, TwoLayerDraws])
def test_fast_ways_have_the_law_of_trials_drawn_one_by_one(metric, kind) -> None:
    """Means of 400 replicates agree within 5 standard errors, and deviations within a fifth."""
    sample = make_sample(np.random.default_rng(4), one_side=True)
    draws = IidDraws((sample,)) if kind is IidDraws else TwoLayerDraws.from_systems([sample])
    (fast,) = draws.rows(400, np.random.default_rng(5))
    # Of two systems it is known how often each trial was drawn.
    both = (
        IidDraws((sample, sample)) if kind is IidDraws else TwoLayerDraws.from_systems([sample] * 2)
    )
    plain, again = both.rows(400, np.random.default_rng(6))
    assert isinstance(plain, TimesRows)
    one, other = metric.values(fast), metric.values(plain)
    assert np.array_equal(other, metric.values(again))
    assert abs(one.mean() - other.mean()) < 5 * other.std() * np.sqrt(2 / 400)
    assert abs(np.log(one.std() / other.std())) < 0.2


def test_sets_of_two_layers_keep_their_sizes() -> None:
    sets = np.array([0, 0, 1, 1, 1, 2])
    one = ScoredClass(np.arange(6.0), speakers=(sets, None))
    draws = TwoLayerDraws.from_systems([Sample(one, one)] * 2)
    rows, _ = draws.rows(50, np.random.default_rng(7))
    for tar, _ in rows.times():
        # As many picks of sets of 2, 3 and 1 trials as there are sets.
        sums = np.bincount(sets, tar)
        picks = sums / np.array([2, 3, 1])
        assert picks.sum() == 3
        assert (picks == picks.astype(int)).all()


def test_systems_meet_the_same_speakers() -> None:
    sample = make_sample(np.random.default_rng(8))
    one, other = SpeakerDraws.from_systems([sample, sample]).rows(20, np.random.default_rng(9))
    assert np.array_equal(EER().values(one), EER().values(other))


def test_sets_that_a_class_lacks_are_not_drawn() -> None:
    tar = ScoredClass(np.array([1.0, 2.0]), speakers=(np.array([3, 9]), None))
    non = ScoredClass(np.array([0.0, 0.5, 1.5]), speakers=(np.array([3, 4, 4]), None))
    draws = SetDraws.from_systems([Sample(tar, non)])
    assert draws.n_units == (2, 2)
    (rows,) = draws.rows(100, np.random.default_rng(10))
    assert not np.isnan(EER().values(rows)).any()
