"""The consistency band of reliability diagrams: coverage, a naive twin, limits."""

import math

import numpy as np
import pytest

from bosaris_py import Results
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import ConsistencyBand, PAVCurve


def naive_pav(y: list[float], w: list[float]) -> list[float]:
    """Pool adjacent violators, as it is told: blocks of (sum, weight, length)."""
    blocks: list[list[float]] = []
    for value, weight in zip(y, w, strict=True):
        blocks.append([value * weight, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            total, mass, size = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += mass
            blocks[-1][2] += size
    return [total / mass for total, mass, size in blocks for _ in range(int(size))]


def naive_band(tar: list[float], non: list[float], prior: float) -> np.ndarray:
    """Draw a class for each trial on its own, with another generator."""
    rng = np.random.default_rng(99)
    llrs = sorted({*tar, *non})
    counts = [tar.count(llr) + non.count(llr) for llr in llrs]
    design = len(tar) / (len(tar) + len(non))
    right = [1 / (1 + (1 - design) / design * math.exp(-llr)) for llr in llrs]
    expected = sum(c * p for c, p in zip(counts, right, strict=True)) / sum(counts)
    curves = []
    for _ in range(4000):
        drawn = [int((rng.random(c) < p).sum()) for c, p in zip(counts, right, strict=True)]
        share = sum(drawn) / sum(counts)
        if not 0 < share < 1:
            continue
        fitted = naive_pav([k / c for k, c in zip(drawn, counts, strict=True)], counts)
        odds = np.array([q / (1 - q) if q < 1 else np.inf for q in fitted])
        odds *= (1 - design) / design * (1 - share) / share * expected / (1 - expected)
        odds *= prior / (1 - prior)
        curves.append(np.where(np.isinf(odds), 1.0, odds / (1 + np.where(np.isinf(odds), 0, odds))))
    return np.quantile(curves, [0.1, 0.9], axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.5, 0.2])
def test_the_band_is_that_of_a_naive_twin(prior: float) -> None:
    rng = np.random.default_rng(2)
    tar = rng.normal(1, 1.4, 25).round(1).tolist()
    non = rng.normal(-1, 1.4, 60).round(1).tolist()
    options = {"confidence": 0.8, "replications": 4000, "rng": 5}
    band = ConsistencyBand.from_results(Results(tar, non), prior, **options)
    low, high = naive_band(tar, non, prior)
    # Quantiles of 4,000 draws at 10 %: a standard error of a rank of 19; steps between the values
    # that 85 trials can have are up to .03. A quantile jumps from 0 where a tenth of draws is 0.
    for ends, naive in ((band.low, low), (band.high, high)):
        assert np.mean(np.abs(ends - naive) <= 0.035) >= 0.95
        assert np.abs(ends - naive).mean() < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(("n_tar", "n_non", "prior"), [(300, 300, 0.5), (100, 900, 0.5)])
def test_curves_of_right_llrs_are_within(n_tar: int, n_non: int, prior: float) -> None:
    inside: list[float] = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        # Calibrated: means +-m and variance 2 m.
        results = Results(rng.normal(2, 2, n_tar), rng.normal(-2, 2, n_non))
        band = ConsistencyBand.from_results(results, prior, rng=seed)
        curve = PAVCurve.from_results(results)
        llr = np.log(band.at / (1 - band.at)) - math.log(prior / (1 - prior))
        pool = np.searchsorted(curve.lowest, llr, side="right") - 1
        shown = 1 / (1 + (1 - prior) / prior * np.exp(-curve.llr[pool.clip(0)]))
        inside.append(float(np.mean((shown >= band.low - 1e-12) & (shown <= band.high + 1e-12))))
    # 60 sets whose shares have a standard deviation of some 8 %: a standard error of 1 %.
    assert 0.915 <= np.mean(inside) <= 0.985


def test_large_sets_are_taken_in_groups() -> None:
    rng = np.random.default_rng(1)
    results = Results(rng.normal(2, 2, 4000), rng.normal(-2, 2, 4000))
    band = ConsistencyBand.from_results(results, replications=20)
    assert band.at.size == 1000
    assert band.counts.sum() == 8000
    assert (np.diff(band.at) > 0).all()
    # About the diagonal, and narrow.
    assert (band.low <= band.at + 0.03).all()
    assert (band.high >= band.at - 0.03).all()
    assert np.mean(band.high - band.low) < 0.15


def test_the_same_each_time_and_another_with_other_numbers() -> None:
    results = Results([1.0, 3.0, 4.0, -1.0], [-2.0, 0.5, 2.0])
    one, two = (ConsistencyBand.from_results(results) for _ in range(2))
    np.testing.assert_array_equal(one.low, two.low)
    other = ConsistencyBand.from_results(results, rng=3, replications=11)
    assert not np.array_equal(one.high, other.high) or not np.array_equal(one.low, other.low)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
def test_scores_that_leave_no_doubt() -> None:
    # A class is never drawn where all posteriors are 0 or 1 of one kind.
    band = ConsistencyBand.from_results(Results([np.inf], [np.inf, np.inf]))
    assert (band.low.tolist(), band.high.tolist()) == ([0.0], [1.0])
    sure = ConsistencyBand.from_results(Results([np.inf], [-np.inf]))
    assert (sure.low.tolist(), sure.high.tolist()) == ([0.0, 1.0], [0.0, 1.0])


def test_wrong_options() -> None:
    results = Results([1.0], [0.0])
    for options, message in (
        ({"confidence": 1.0}, "`confidence` must be in"),
        ({"replications": 1}, "`replications` must be at least 2"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            ConsistencyBand.from_results(results, **options)  # type: ignore[arg-type]
