"""Lazy draws: in law equal to drawing each trial."""

import numpy as np
import pytest
from scipy import stats

from bosaris_py.metrics.costs import DCF, ActDCF, MinDCF
from bosaris_py.metrics.ranks import AUC, EER
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.uncertainty import lazy as tested
from bosaris_py.uncertainty.draws import IidDraws
from bosaris_py.uncertainty.lazy import ClassTree, LazyErrors, LazyMinCost, lazy_draws
from tests.uncertainty.samples import make_sample


@pytest.mark.parametrize("method", ["iid", "one-layer", "two-layer"])
def test_errors_at_a_threshold_have_the_moments_of_their_draws(method: str) -> None:
    """Twelve sets of five trials; a picked set has its errors, or draws them again."""
    sets, wrong = np.repeat(np.arange(12), 5), np.arange(60) % 7 < 1 + np.arange(60) // 20
    one = ScoredClass(np.arange(60.0), speakers=(sets, None))
    found = tested._error_law(one, wrong, method)(200_000, np.random.default_rng(3))
    p, rates = wrong.mean(), wrong.reshape(12, 5).mean(axis=1)
    variance = {
        "iid": 60 * p * (1 - p),
        "one-layer": 12 * 25 * rates.var(),
        "two-layer": 12 * 25 * rates.var() + 12 * 5 * np.mean(rates * (1 - rates)),
    }[method]
    assert found.mean() == pytest.approx(60 * p, abs=4 * np.sqrt(variance / 200_000))
    assert found.var() == pytest.approx(variance, rel=0.02)


@pytest.mark.parametrize("metric", [EER(), MinDCF(0.1), MinDCF([0.2, 0.02])])
@pytest.mark.parametrize("options", [{}, {"ties": True}])
def test_equal_in_law(metric, options) -> None:
    sample = make_sample(np.random.default_rng(1), **options)
    lazy = lazy_draws(metric, sample).draw(1500, np.random.default_rng(2))
    (rows,) = IidDraws((sample,)).rows(1500, np.random.default_rng(3))
    assert stats.ks_2samp(lazy, metric.values(rows)).pvalue > 1e-4


class Rounded:
    """Draws that depend on nothing but their numbers, so that others can repeat them."""

    def __init__(self, turn: float) -> None:
        self.turn = turn

    def binomial(self, n: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.clip(np.rint(n * p + np.sin(self.turn * n + 9.0 * p)), 0, n).astype(int)


def whole_curve(tree: ClassTree, rng: Rounded) -> np.ndarray:
    """Cut all pieces down to single cells, and return the share of trials below each."""
    counts = np.array([tree.size])
    for shares in tree.shares:
        left = rng.binomial(counts, shares)
        counts = np.stack((left, counts - left), axis=1).ravel()
    return np.append(0.0, counts.cumsum()) / tree.size


def test_a_tree_halves_its_counts() -> None:
    """Cells of 1, 2 and 3 trials and an empty one: 3/6 lie left; 1/3 and 3/3 of the halves."""
    shares = ClassTree.from_counts(np.array([0, 1, 3, 6])).shares
    assert [level.tolist() for level in shares] == [[0.5], [1 / 3, 1.0]]


@pytest.mark.parametrize("options", [{}, {"ties": True}])
@pytest.mark.parametrize("prior", [0.5, 0.02, [0.2, 0.02], [0.9, 0.3, 0.01]])
def test_pieces_that_are_not_cut_decide_nothing(options, prior) -> None:
    for seed in range(8):
        sample, rng = make_sample(np.random.default_rng(seed), **options), Rounded(0.1 + seed)
        metric = MinDCF(prior)
        for lazy in (lazy_draws(metric, sample), lazy_draws(EER(), sample)):
            pmiss = whole_curve(lazy.tar, rng)[np.newaxis]
            pfa = 1.0 - whole_curve(lazy.non, rng)[np.newaxis]
            judge = metric if lazy.__class__ is LazyMinCost else EER()
            np.testing.assert_allclose(
                lazy.draw(2, rng), np.repeat(judge.of_rates(pmiss, pfa), 2), rtol=1e-12, atol=1e-14
            )


def test_classes_apart_stay_apart() -> None:
    sample = Sample.from_scores([2.0, 3.0, 4.0], [-1.0, 0.0, 1.0])
    for metric in (EER(), MinDCF(0.1)):
        assert not lazy_draws(metric, sample).draw(50, np.random.default_rng(4)).any()


class TwiceMinDCF(MinDCF):
    def of_rates(self, pmiss: np.ndarray, pfa: np.ndarray) -> np.ndarray:
        return 2 * super().of_rates(pmiss, pfa)


def test_which_metrics_have_lazy_draws() -> None:
    """Of costs at one threshold sets of equal size only; of none of them weighted trials."""
    one = DCF(0.5, 0.1)
    scores, sets = np.arange(12.0), np.repeat(np.arange(4), 3)
    equal, unequal = (
        Sample(*[ScoredClass(scores, speakers=(labels, None)) for _ in "tn"])
        for labels in (sets, np.minimum(sets, 2))
    )
    grouped, weighted = (
        make_sample(np.random.default_rng(5), **{name: True}) for name in ("groups", "weights")
    )
    for metric, sample, method, kind in (
        *((one, equal, method, LazyErrors) for method in ("iid", "one-layer", "two-layer")),
        *((one, equal, "speaker", type(None)), (one, unequal, "iid", LazyErrors)),
        *((one, unequal, "one-layer", type(None)), (ActDCF([0.1, 0.5]), equal, "iid", type(None))),
        *((MinDCF(0.1), equal, "iid", LazyMinCost), (EER(), equal, "iid", tested.LazyEER)),
        (EER("step"), equal, "iid", type(None)),
        *((metric, equal, "one-layer", type(None)) for metric in (MinDCF(0.1), EER())),
        *((metric, weighted, "iid", type(None)) for metric in (MinDCF(0.1), EER(), one)),
        *((metric, grouped, "iid", type(None)) for metric in (MinDCF(0.1), EER(), one)),
        *((metric, equal, "iid", type(None)) for metric in (AUC(), TwiceMinDCF(0.1))),
    ):
        assert type(lazy_draws(metric, sample, method)) is kind
    # Nothing above 99, everything at or above -99, and at or above a score of 0.
    for limit, cost in ((99.0, 0.1), (-99.0, 0.9), (0.0, 0.9)):
        for method in ("iid", "one-layer", "two-layer"):
            drawn = lazy_draws(DCF(limit, 0.1, normalize=False), equal, method)
            assert drawn.draw(5, np.random.default_rng(6)) == pytest.approx(cost, rel=1e-12)
