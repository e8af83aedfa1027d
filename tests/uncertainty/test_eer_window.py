"""Replicates of the EER from a window of the curve, against lists of picks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from bosaris_py import numerics
from bosaris_py import uncertainty as unc
from bosaris_py.numerics.rocch import eer_of_hull, eers_of_hulls
from bosaris_py.uncertainty import lazy_curve
from bosaris_py.uncertainty.lazy_curve import EERWindow, LazyEER
from bosaris_py.uncertainty.resampling import IidPlan, TrialStrata
from bosaris_py.uncertainty.statistic_samplers import CurveIndex
from tests.score_strategies import score_lists, tied_scores
from tests.uncertainty.naive_conditions import same_law

scores_of_a_class = score_lists(st.one_of(tied_scores, st.floats(-5, 5)), max_size=60)


def index_of(tar: np.ndarray, non: np.ndarray) -> CurveIndex:
    strata = TrialStrata.single(tar.size, non.size)
    return CurveIndex.from_sorted(strata.tar.sorted(tar), strata.non.sorted(non))


def points_of(tar: np.ndarray, non: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    thresholds = np.concatenate(([-np.inf], np.unique(tar), [np.inf]))
    pmiss = [np.mean(tar < t) for t in thresholds]
    return np.array([pmiss]), np.array([[np.mean(non >= t) for t in thresholds]])


@given(scores_of_a_class, scores_of_a_class)
def test_search_of_many_curves(tar: np.ndarray, non: np.ndarray) -> None:
    pmiss, pfa = points_of(tar, non)
    eers, priors = eers_of_hulls(np.repeat(pmiss, 3, axis=0), np.repeat(pfa, 3, axis=0))
    assert eers == pytest.approx([eer_of_hull(pmiss[0], pfa[0])] * 3, abs=1e-12)
    least = (priors[:, None] * pmiss + (1 - priors[:, None]) * pfa).min(axis=1)
    assert least == pytest.approx(eers, abs=1e-12)


@pytest.mark.parametrize(
    ("in_window", "in_cells", "in_priors"),
    [(6.5, 5.0, 1.25), (2.0, 1.5, 0.5), (0.3, 0.2, 0.0)],
    ids=["wide", "narrow", "hardly any"],
)
@pytest.mark.parametrize("decimals", [1, 9], ids=["ties", "no ties"])
def test_law_of_the_replicates(
    monkeypatch: pytest.MonkeyPatch,
    in_window: float,
    in_cells: float,
    in_priors: float,
    decimals: int,
) -> None:
    """Where the window lies must not matter, only how often more than it is drawn."""
    monkeypatch.setattr(lazy_curve, "_IN_WINDOW", in_window)
    monkeypatch.setattr(lazy_curve, "_IN_CELLS", in_cells)
    monkeypatch.setattr(lazy_curve, "_IN_PRIORS", in_priors)
    rng = np.random.default_rng(1)
    tar = (1.5 + rng.normal(size=500)).round(decimals)
    non = rng.normal(size=700).round(decimals)
    window = EERWindow.from_index(index_of(tar, non))
    assert window is not None
    n_completed = 0
    complete = EERWindow._complete

    def counted(self: EERWindow, *arguments: object) -> float:
        nonlocal n_completed
        n_completed += 1
        return complete(self, *arguments)

    monkeypatch.setattr(EERWindow, "_complete", counted)
    n = 1500
    fast = window.draw(n, np.random.default_rng(2))
    if in_window > 6:
        assert n_completed < 0.05 * n
    elif in_window < 1:
        assert n_completed > 0.3 * n
    plain = [numerics.eer(rng.choice(tar, tar.size), rng.choice(non, non.size)) for _ in range(n)]
    assert same_law(fast, np.array(plain))


@pytest.mark.parametrize("mean", [0.1, 0.5, 0.97])
def test_law_of_poisson_numbers(mean: float) -> None:
    """Of 16 bits and the rest: the chances are those of the law, to rounding."""
    poisson = lazy_curve._Poisson.of(mean)
    parts = np.diff(np.r_[0, poisson.cuts]) / 2**16
    chances = (1.0 - parts.sum()) * np.diff(poisson.rest, prepend=0.0)
    chances[: parts.size] += parts
    assert chances == pytest.approx(stats.poisson.pmf(np.arange(chances.size), mean), abs=1e-15)
    drawn = np.bincount(poisson.draw(400_001, np.random.default_rng(8)))
    tail = 4
    expected = np.append(chances[:tail], chances[tail:].sum()) * 400_001
    found = np.append(drawn[:tail], drawn[tail:].sum())
    assert stats.chisquare(found, expected).pvalue > 0.001


@pytest.mark.parametrize("fewer", [-3.0, 0.0, 2.25], ids=["over", "as many", "fewer"])
def test_law_of_picks_in_a_window(monkeypatch: pytest.MonkeyPatch, fewer: float) -> None:
    """However many Poisson numbers there are, trials are picked with equal chances."""
    monkeypatch.setattr(lazy_curve, "_FEWER_PICKS", min(fewer, 0.5))
    below, n = np.array([0, 7, 8, 8, 19, 21, 30, 31, 40]), 20_000
    window = lazy_curve._ClassWindow.of(below, np.array([0, 2, 6, 8]), 1)
    in_cells, up_to = window.draw(n, np.random.default_rng(9))
    assert (in_cells.sum(axis=1) == 40).all()
    assert np.array_equal(up_to[:, -1], in_cells[:, :2].sum(axis=1))
    picks = np.diff(up_to, axis=1, prepend=in_cells[:, :1])
    plain = np.random.default_rng(10).multinomial(40, np.diff(below) / 40, n)[:, 2:6]
    assert not picks[:, 0].any()
    for column in (1, 2, 3):
        table = np.stack([np.bincount(x[:, column], minlength=41) for x in (picks, plain)])
        common = table[:, table.sum(axis=0) > 20]
        assert stats.chi2_contingency(common).pvalue > 0.001
    assert np.cov(picks.T) == pytest.approx(np.cov(plain.T), abs=0.25)


def test_law_of_a_window_of_many_trials() -> None:
    """An EER of 16 %: 5,000 trials in the window. Against lazy draws, which share no picks."""
    rng = np.random.default_rng(6)
    index = index_of(2 + rng.normal(size=12_672), rng.normal(size=31_720))
    window, lazy = EERWindow.from_index(index), LazyEER.from_index(index)
    assert window is not None
    assert sum(part.places.size for part in (window.tar, window.non)) > 5_000
    draws = [sampler.draw(1500, np.random.default_rng(7)) for sampler in (window, lazy)]
    assert same_law(*draws)


def test_which_way_is_taken() -> None:
    rng = np.random.default_rng(3)
    tar, non = 2 + rng.normal(size=1000), rng.normal(size=1000)

    def sampler(tar: np.ndarray, non: np.ndarray, labels: np.ndarray | None = None) -> object:
        sizes = tar.size, non.size
        strata = TrialStrata.from_labels(labels, labels, None, sizes)
        return unc.EER().sampler(tar, non, IidPlan(strata))

    assert isinstance(sampler(tar, non), EERWindow)
    halves = np.repeat(["x", "y"], 500)
    for other in (
        sampler(tar[:50], non[:50]),  # few trials
        sampler(tar + 20, non),  # no errors
        sampler(tar, rng.normal(size=200_000)),  # many non-targets for each target
        sampler(tar, non, halves),  # conditions
    ):
        assert isinstance(other, LazyEER)


def test_the_same_for_any_number_of_workers() -> None:
    rng = np.random.default_rng(4)
    tar, non = 2 + rng.normal(size=1000), rng.normal(size=1000)
    one, two = (
        unc.bootstrap(tar, non, unc.EER(), replications=600, rng=5, workers=n) for n in (1, 2)
    )
    assert np.array_equal(one.replicates, two.replicates)
