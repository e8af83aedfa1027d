"""Parts of the fast paths that can be checked by exact arithmetic."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from bosaris_py import OperatingPoint, uncertainty as unc
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.strata import SetIndex, Strata, TrialStrata
from bosaris_py.uncertainty.resampling import IidPlan, SetPlan
from bosaris_py.uncertainty.statistics.lazy_curve import LazyEER, LazyMinCost
from bosaris_py.uncertainty.statistics.roc_functions import MeanMinDCF
from bosaris_py.uncertainty.statistics.samplers import (
    CellCounts,
    CurveSampler,
    ErrorTotal,
    MeansSampler,
    SetSums,
    WeightedSampler,
    count_rejected,
)


def exact_totals(errors: list[int], size: int, *, two_layer: bool) -> dict[int, Fraction]:
    """Chance of each number of errors, by trying all picks of sets."""
    chances: dict[int, Fraction] = {}
    for picks in itertools.product(errors, repeat=len(errors)):
        totals = {0: Fraction(1, len(errors) ** len(errors))}
        for error in picks:
            p = Fraction(error, size)
            draws = {error: Fraction(1)}
            if two_layer:
                draws = {
                    e: math.comb(size, e) * p**e * (1 - p) ** (size - e) for e in range(size + 1)
                }
            following: dict[int, Fraction] = {}
            for (total, chance), (e, q) in itertools.product(totals.items(), draws.items()):
                following[total + e] = following.get(total + e, Fraction(0)) + chance * q
            totals = following
        for total, chance in totals.items():
            chances[total] = chances.get(total, Fraction(0)) + chance
    return {total: chance for total, chance in chances.items() if chance}


@pytest.mark.parametrize("two_layer", [False, True])
@pytest.mark.parametrize(
    ("errors", "size"), [([1, 2], 2), ([0, 1, 1], 3), ([0, 2, 2, 4], 4), ([0, 0], 5), ([3, 3], 3)]
)
def test_number_of_errors_has_its_exact_distribution(
    errors: list[int], size: int, *, two_layer: bool
) -> None:
    sizes, sums = np.full(len(errors), size), np.array(errors)[:, None]
    found = ErrorTotal.of(SetSums.of(sizes, sums, np.ones(1), two_layer=two_layer))
    expected = exact_totals(errors, size, two_layer=two_layer)
    chances = np.diff(found.distribution, prepend=0.0)
    # Impossible numbers are never drawn, possible ones have their chance up to rounding.
    possible = (found.first + np.flatnonzero(chances)).tolist()
    assert possible == sorted(expected)
    assert np.allclose(
        chances[chances > 0], [float(expected[total]) for total in possible], rtol=0, atol=1e-15
    )


@pytest.mark.parametrize(("n_sets", "share"), [(2, 0.5), (40, 0.03), (300, 0.4)])
def test_looked_up_draws_are_those_of_a_search(n_sets: int, share: float) -> None:
    """Bit for bit: the table of steps saves time only."""
    errors = np.random.default_rng(5).binomial(50, share, n_sets)[:, None]
    found = ErrorTotal.of(SetSums.of(np.full(n_sets, 50), errors, np.ones(1), two_layer=True))
    uniform = np.random.default_rng(6).random(100_000)
    expected = np.searchsorted(found.distribution, uniform, side="right") + found.first
    drawn = found.draw_means(uniform.size, np.random.default_rng(6))[:, 0]
    assert np.array_equal(drawn, expected / found.n_trials)


@pytest.mark.parametrize("two_layer", [False, True])
def test_transform_and_multinomial_draw_the_same(*, two_layer: bool) -> None:
    rng = np.random.default_rng(91)
    tables = [
        SetSums.of(
            np.full(n, size),
            rng.binomial(size, rng.beta(1, 5, n))[:, None],
            np.ones(1),
            two_layer=two_layer,
        )
        for n, size in ((20, 30), (25, 40))
    ]

    def combine(pmiss: np.ndarray, pfa: np.ndarray) -> np.ndarray:
        return (pmiss + pfa)[:, 0]

    totals = [ErrorTotal.of(table) for table in tables]
    drawn = [
        sampler.draw(20_000, np.random.default_rng(seed)).round(11)
        for seed, sampler in enumerate(
            (MeansSampler(*totals, combine), MeansSampler(*tables, combine))
        )
    ]
    assert stats.ks_2samp(*drawn).pvalue > 1e-3
    # 5 standard deviations of the ratio of two standard errors, each known to 0.5 %.
    assert drawn[0].std() == pytest.approx(drawn[1].std(), rel=0.035)


def test_count_rejected_in_any_order_with_repeats() -> None:
    scores = np.array([0.5, 1.0, 1.0, -2.0, np.inf, -np.inf], dtype=np.float32)
    limits = np.array([1.0, np.inf, -np.inf, 1.0, 0.7])
    expected = [int(np.sum(scores.astype(float) < limit)) for limit in limits]
    assert count_rejected(scores, limits, Strata.single(6)).tolist() == [expected]
    index = SetIndex.from_labels([1, 0, 1, 0, 1, 1], 6, "labels")
    by_set = [
        [int(np.sum((scores.astype(float) < limit) & (index.labels == s))) for limit in limits]
        for s in (0, 1)
    ]
    assert count_rejected(scores, limits, index).tolist() == by_set
    for j, limit in enumerate(limits):
        single = count_rejected(scores, np.array([limit]), index)
        assert single[:, 0].tolist() == [row[j] for row in by_set]


def test_each_statistic_knows_its_fastest_way() -> None:
    rng = np.random.default_rng(92)
    tar, non = rng.normal(1, 1, 12), rng.normal(0, 1, 20)
    iid = IidPlan(TrialStrata.single(12, 20))
    equal, unequal = (
        (
            SetIndex.from_labels(np.arange(12) % n, 12, "labels"),
            SetIndex.from_labels(np.arange(20) % 4, 20, "labels"),
            iid.strata,
        )
        for n in (3, 5)
    )
    ways = [
        (unc.DCF(0.0, 0.01, 10, 1), iid, CellCounts),
        (unc.ErrorRates([0.0, 1.0]), iid, CellCounts),
        (unc.MinDCF(0.1), iid, LazyMinCost),
        (unc.MinDCF([0.1, 0.2]), iid, CurveSampler),
        (MeanMinDCF((OperatingPoint(0.1), OperatingPoint(0.2))), iid, LazyMinCost),
        (unc.EER(), iid, LazyEER),
        (unc.AUC(), iid, CurveSampler),
        (unc.Cllr(), iid, WeightedSampler),
        (unc.Cllr(), SetPlan(*equal, two_layer=False), SetSums),
        (unc.Cllr(), SetPlan(*equal, two_layer=True), WeightedSampler),
        (unc.EER(), SetPlan(*equal, two_layer=False), WeightedSampler),
        (unc.ErrorRates([0.0, 1.0]), SetPlan(*equal, two_layer=False), SetSums),
        (unc.ErrorRates([0.0, 1.0]), SetPlan(*equal, two_layer=True), WeightedSampler),
    ]
    for two_layer in (False, True):
        ways += [
            (unc.ActDCF(0.1), SetPlan(*equal, two_layer=two_layer), ErrorTotal),
            (unc.ActDCF(0.1), SetPlan(*unequal, two_layer=two_layer), SetSums),
        ]
    for statistic, plan, kind in ways:
        sampler = statistic.sampler(ListedSample.from_scores(tar, non), plan)
        # Of means of the classes, what matters is how these are drawn.
        parts = (sampler.tar, sampler.non) if isinstance(sampler, MeansSampler) else (sampler,)
        assert all(type(part) is kind for part in parts)
        if kind is SetSums:
            assert all(part.two_layer == plan.two_layer for part in parts)
