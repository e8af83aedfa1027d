"""Lazily drawn replicates against the same replicates drawn in full."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosaris_py import numerics
from bosaris_py.numerics.roc import ROC
from bosaris_py.uncertainty.lazy_curve import LazyCurve
from tests.score_strategies import score_lists, tied_scores


class ScriptedGenerator:
    """Answers a binomial draw by looking it up; its "probability" is the place to look."""

    def __init__(self) -> None:
        self.left_halves: list[int] = []
        self.n_draws = 0

    def binomial(self, n: np.ndarray, place: np.ndarray) -> np.ndarray:
        self.n_draws += n.size
        drawn = np.array([self.left_halves[int(i)] for i in place], dtype=np.int64)
        assert np.all(drawn <= n)
        return drawn


def script(
    roc: ROC, rng: np.random.Generator
) -> tuple[LazyCurve, ScriptedGenerator, np.ndarray, np.ndarray]:
    """Draw a replicate in full; return it as a script for lazy draws, and as two lists."""
    curve = LazyCurve.from_roc(roc)
    n_levels = len(curve.tar_shares)
    cells = (
        np.concatenate(([0], roc.tar_at)),
        np.concatenate((roc.non_between[:1], roc.non_at + roc.non_between[1:])),
    )
    generator = ScriptedGenerator()
    shares, lists = [], []
    for counts in cells:
        drawn = rng.multinomial(counts.sum(), counts / counts.sum())
        # A trial in a cell has a score just at its lower edge; only order matters.
        lists.append(np.repeat(np.arange(drawn.size, dtype=float), drawn))
        padded = np.zeros(2**n_levels, dtype=np.int64)
        padded[: drawn.size] = drawn
        levels = []
        for level in range(n_levels, 0, -1):
            left = padded.reshape(-1, 2, 2 ** (level - 1)).sum(axis=2)[:, 0]
            start = len(generator.left_halves)
            levels.append(np.arange(start, start + left.size, dtype=float))
            generator.left_halves += left.tolist()
        shares.append(tuple(levels))
    return LazyCurve(curve.tar_total, curve.non_total, *shares), generator, *lists


@given(
    score_lists(st.one_of(tied_scores, st.floats(-5, 5)), max_size=60),
    score_lists(st.one_of(tied_scores, st.floats(-5, 5)), max_size=60),
    st.floats(0.01, 0.99),
    st.integers(0, 2**32),
)
def test_what_is_not_drawn_does_not_matter(
    tar: np.ndarray, non: np.ndarray, prior: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    curve, generator, tar_drawn, non_drawn = script(ROC.from_scores(tar, non), rng)
    lazy = curve.draw_min_costs(1, prior, 1 - prior, generator)[0]
    # Sums of the same fractions in another order.
    assert lazy == pytest.approx(numerics.min_dcf(tar_drawn, non_drawn, prior), abs=1e-14)
    lazy = curve.draw_eers(1, generator)[0]
    assert lazy == pytest.approx(numerics.eer(tar_drawn, non_drawn), abs=1e-12)


@pytest.mark.parametrize("separation", [-1.0, 0.0, 1.0, 3.0, 9.0])
def test_the_same_for_larger_sets(separation: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(20):
        tar, non = rng.normal(separation, 1, 700), rng.normal(0, 1, 2000)
        curve, generator, *lists = script(ROC.from_scores(tar, non), rng)
        eer = curve.draw_eers(1, generator)[0]
        assert eer == pytest.approx(numerics.eer(*lists), abs=1e-12)
        for prior in (0.001, 0.1, 0.5, 0.99):
            cost = curve.draw_min_costs(1, prior, 1 - prior, generator)[0]
            assert cost == pytest.approx(numerics.min_dcf(*lists, prior), abs=1e-14)


def test_few_draws_suffice() -> None:
    rng = np.random.default_rng(8)
    tar, non = rng.normal(3, 1, 50_000), rng.normal(0, 1, 200_000)
    curve, generator, *_ = script(ROC.from_scores(tar, non), rng)
    curve.draw_min_costs(1, 0.1, 0.9, generator)
    for_min_cost = generator.n_draws
    curve.draw_eers(1, generator)
    # A full replicate takes 2 * 2**16 draws.
    assert for_min_cost < 2000
    assert generator.n_draws - for_min_cost < 10_000
