"""Lazily drawn replicates against the same replicates drawn in full."""

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from bosaris_py import numerics, uncertainty as unc
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.strata import Strata, TrialStrata
from bosaris_py.uncertainty.statistics.lazy_curve import ClassTree, LazyCurve, LazyEER, LazyMinCost
from bosaris_py.uncertainty.statistics.samplers import CurveIndex
from tests.score_strategies import score_lists, tied_scores
from tests.uncertainty.naive_conditions import same_law


class ScriptedGenerator:
    """Answers a binomial draw by looking it up; its "probability" is the place to look."""

    def __init__(self) -> None:
        self.left_halves: list[int] = []
        self.n_draws = 0

    def binomial(self, n: np.ndarray, place: np.ndarray) -> np.ndarray:
        self.n_draws += n.size
        drawn = np.array(self.left_halves, dtype=np.int64)[place.astype(np.int64)]
        assert np.all(drawn <= n)
        return drawn


def script(
    tar: np.ndarray, non: np.ndarray, strata: TrialStrata, rng: np.random.Generator
) -> tuple[LazyCurve, ScriptedGenerator, list[np.ndarray], list[np.ndarray | None]]:
    """Draw a replicate in full; return it as a script for lazy draws, and as lists."""
    sample = ListedSample.from_scores(tar, non, strata=strata)
    index = CurveIndex.from_sorted(sample.tar.sorted, sample.non.sorted)
    curve = LazyCurve.from_index(index)
    n_levels = len(curve.tar.shares)
    edges = index.target_scores
    generator = ScriptedGenerator()
    trees, lists, weights = [], [], []
    for scores, part in ((tar, strata.tar), (non, strata.non)):
        levels, columns, scores_drawn, factors = [], [], [], []
        for condition, factor in zip(part.split(scores), part.factors.tolist(), strict=True):
            # A trial in a cell has a score just at its lower edge; only order matters.
            cell = np.searchsorted(edges, condition, side="right")
            counts = np.bincount(cell, minlength=edges.size + 1)
            drawn = rng.multinomial(counts.sum(), counts / counts.sum())
            scores_drawn.append(np.repeat(np.arange(drawn.size, dtype=float), drawn))
            factors.append(np.full(counts.sum(), factor))
            padded = np.zeros(2**n_levels, dtype=np.int64)
            padded[: drawn.size] = drawn
            columns.append(padded)
        for level in range(n_levels, 0, -1):
            halves = np.column_stack(columns).reshape(-1, 2, 2 ** (level - 1), len(columns))
            left = halves.sum(axis=2)[:, 0]
            start = len(generator.left_halves)
            levels.append(np.arange(start, start + left.size, dtype=float).reshape(left.shape))
            generator.left_halves += left.ravel().tolist()
        trees.append(ClassTree(part.sizes, part.factors, tuple(levels)))
        lists.append(np.concatenate(scores_drawn))
        weights.append(None if part.labels is None else np.concatenate(factors))
    return LazyCurve(*trees), generator, lists, weights


scores_of_a_class = score_lists(st.one_of(tied_scores, st.floats(-5, 5)), max_size=60)


# The first point that is known lies on pmiss = pfa, above the hull.
ON_DIAGONAL = {
    "tar": np.array([-3, -3, -1.5, -1.5, -1, 0, 0.5, 0.5, 1, 2, 2, 2, 2, 1e-300, 7, 3, 1.5]),
    "non": np.array([-3, -3, -3, -1.5, -1, 0, 0.5, 1, 2, 2, 2, 1e-300, 7, 7, 7, 3, 1.5]),
}


@example(**ON_DIAGONAL, prior=0.5, seed=2740)
@given(scores_of_a_class, scores_of_a_class, st.floats(0.01, 0.99), st.integers(0, 2**32))
def test_what_is_not_drawn_does_not_matter(
    tar: np.ndarray, non: np.ndarray, prior: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    curve, generator, lists, _ = script(tar, non, TrialStrata.single(tar.size, non.size), rng)
    lazy = LazyMinCost(curve.tar, curve.non, ((prior, 1 - prior),)).draw(1, generator)[0]
    # Sums of the same fractions in another order.
    assert lazy == pytest.approx(numerics.min_dcf(*lists, prior), abs=1e-14)
    priors = prior, prior / 10, 1 - prior
    prices = tuple((p, 1 - p) for p in priors)
    lazy = LazyMinCost(curve.tar, curve.non, prices).draw(1, generator)[0]
    expected = sum(numerics.min_dcf(*lists, p) for p in priors) / 3
    assert lazy == pytest.approx(expected, abs=1e-14)
    lazy = LazyEER(curve.tar, curve.non).draw(1, generator)[0]
    assert lazy == pytest.approx(numerics.eer(*lists), abs=1e-12)


@given(scores_of_a_class, scores_of_a_class, st.floats(0.01, 0.99), st.integers(0, 2**32))
def test_the_same_with_weighted_conditions(
    tar: np.ndarray, non: np.ndarray, prior: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(3))
    labels = [rng.integers(0, 3, scores.size) for scores in (tar, non)]
    strata = TrialStrata(*(Strata.from_codes(part, shares) for part in labels))
    curve, generator, lists, weights = script(tar, non, strata, rng)
    options = {"tar_weights": weights[0], "non_weights": weights[1]}
    lazy = LazyMinCost(curve.tar, curve.non, ((prior, 1 - prior),)).draw(1, generator)[0]
    assert lazy == pytest.approx(numerics.min_dcf(*lists, prior, **options), abs=1e-13)
    prices = (prior, 1 - prior), (prior / 10, 1 - prior / 10)
    lazy = LazyMinCost(curve.tar, curve.non, prices).draw(1, generator)[0]
    expected = sum(numerics.min_dcf(*lists, p, **options) for p in (prior, prior / 10)) / 2
    assert lazy == pytest.approx(expected, abs=1e-13)
    lazy = LazyEER(curve.tar, curve.non).draw(1, generator)[0]
    assert lazy == pytest.approx(numerics.eer(*lists, **options), abs=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
@pytest.mark.parametrize("separation", [-1.0, 0.0, 1.0, 3.0, 9.0])
def test_the_same_for_larger_sets(separation: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        tar, non = rng.normal(separation, 1, 700), rng.normal(0, 1, 2000)
        curve, generator, lists, _ = script(tar, non, TrialStrata.single(700, 2000), rng)
        eer = LazyEER(curve.tar, curve.non).draw(1, generator)[0]
        assert eer == pytest.approx(numerics.eer(*lists), abs=1e-12)
        for prior in (0.001, 0.1, 0.5, 0.99):
            cost = LazyMinCost(curve.tar, curve.non, ((prior, 1 - prior),)).draw(1, generator)[0]
            assert cost == pytest.approx(numerics.min_dcf(*lists, prior), abs=1e-14)


def test_few_draws_suffice() -> None:
    rng = np.random.default_rng(8)
    tar, non = rng.normal(3, 1, 50_000), rng.normal(0, 1, 200_000)
    curve, generator, *_ = script(tar, non, TrialStrata.single(tar.size, non.size), rng)
    LazyMinCost(curve.tar, curve.non, ((0.1, 0.9),)).draw(1, generator)
    for_min_cost = generator.n_draws
    LazyMinCost(curve.tar, curve.non, ((0.1, 0.9), (0.01, 0.99))).draw(1, generator)
    # Pieces that both costs need are cut once.
    assert generator.n_draws - for_min_cost < 3000
    for_min_cost = generator.n_draws
    LazyEER(curve.tar, curve.non).draw(1, generator)
    # A full replicate takes 2 * 2**16 draws.
    assert for_min_cost < 2000
    assert generator.n_draws - for_min_cost < 10_000


@pytest.mark.slow
@pytest.mark.parametrize("decimals", [1, 9], ids=["ties", "no ties"])
def test_law_of_eers_is_that_of_lists_of_picks(decimals: int) -> None:
    rng = np.random.default_rng(1)
    tar = (1.5 + rng.normal(size=500)).round(decimals)
    non = rng.normal(size=700).round(decimals)
    lazy = unc.bootstrap(tar, non, unc.EER(), replications=1500, rng=2).replicates
    plain = [
        numerics.eer(rng.choice(tar, tar.size), rng.choice(non, non.size)) for _ in range(1500)
    ]
    assert same_law(lazy, np.array(plain))


@pytest.mark.slow
def test_eers_are_the_same_for_any_number_of_workers() -> None:
    rng = np.random.default_rng(4)
    tar, non = 2 + rng.normal(size=1000), rng.normal(size=1000)
    one, two = (
        unc.bootstrap(tar, non, unc.EER(), replications=600, rng=5, workers=n) for n in (1, 2)
    )
    assert np.array_equal(one.replicates, two.replicates)
