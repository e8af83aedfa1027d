"""Numbers of histogram, PAV, Tippett, ECE and reliability plots, against naive forms."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from bosaris_py import Conditions, Key, Results, Scores, optimal_llrs
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import ECECurve, PAVCurve, ReliabilityCurve, ScoreHistogram, TippettCurve
from tests.score_strategies import weighted_scores

Weighted = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def results() -> Results:
    rng = np.random.default_rng(4)
    # Rounded, so that scores are equal within and between the classes.
    return Results(rng.normal(1, 2, 150).round(1), rng.normal(-2, 2, 400).round(1))


def _lists(results: Results) -> tuple[np.ndarray, np.ndarray]:
    return results.sample.tar.scores, results.sample.non.listed


def _mixture() -> tuple[Results, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Results of two conditions, and the same trials with their weights."""
    rng = np.random.default_rng(8)
    models, segments = [f"m{i}" for i in range(10)], [f"s{i}" for i in range(40)]
    tar = np.zeros((10, 40), dtype=bool)
    tar[np.arange(40) % 10, np.arange(40)] = True
    key = Key(models, segments, tar, ~tar)
    scores = Scores(rng.normal(3.0 * tar - 1, 1.5), models, segments)
    rare = np.zeros((10, 40), dtype=bool)
    rare[:, 30:] = True
    conditions = Conditions({"common": ~rare, "rare": rare}, {"common": 0.4, "rare": 0.6})
    weights = conditions.trial_weights(key)
    return Results.from_scores(scores, key, conditions), *scores.get_tar_non(key), *weights


# ---- Tippett


@pytest.mark.parametrize("values", [None, [-3.0, -0.1, 0.0, 0.1, 5.0, np.inf]])
def test_tippett_counts(results: Results, values: Any) -> None:
    tar, non = _lists(results)
    curve = TippettCurve.from_results(results, values)
    for x, above, other, below in zip(
        curve.llr, curve.tar_above, curve.non_above, curve.non_below, strict=True
    ):
        assert above == pytest.approx(np.mean(tar >= x), abs=1e-15)
        assert other == np.mean(non >= x)
        assert below == pytest.approx(np.mean(non <= x), abs=1e-15)
    assert curve.misleading_tar == np.mean(tar < 0)
    assert curve.misleading_non == np.mean(non > 0)
    if values is None:
        # Each step is there.
        assert curve.llr[1:-1].tolist() == sorted({*tar.tolist(), *non.tolist()})


def test_tippett_of_conditions_is_that_of_weighted_trials() -> None:
    mixed, tar, non, tar_weights, non_weights = _mixture()
    curve = TippettCurve.from_results(mixed, [-1.0, 0.0, 1.0])
    for i, x in enumerate((-1.0, 0.0, 1.0)):
        assert curve.tar_above[i] == pytest.approx(np.average(tar >= x, weights=tar_weights))
        assert curve.non_below[i] == pytest.approx(np.average(non <= x, weights=non_weights))


def test_tippett_of_many_scores_is_on_a_grid() -> None:
    rng = np.random.default_rng(1)
    tar, non = rng.normal(2, 2, 3000), rng.normal(-2, 2, 9000)
    curve = TippettCurve.from_results(Results(tar, non))
    assert curve.llr.size == 2003
    assert (curve.llr[1], curve.llr[-2]) == (non.min(), max(tar.max(), non.max()))
    assert curve.non_above[1000] == np.mean(non >= curve.llr[1000])


# ---- ECE


def _naive_ece(tar: Any, non: Any, plo: float) -> float:
    prior = 1 / (1 + math.exp(-plo))
    odds = prior / (1 - prior)
    first = np.mean([math.log2(1 + 1 / (math.exp(s) * odds)) for s in tar])
    second = np.mean([math.log2(1 + math.exp(s) * odds) for s in non])
    return float(prior * first + (1 - prior) * second)


def test_ece_is_the_formula(results: Results) -> None:
    plo = [-3.0, -1.0, 0.0, 0.5, 4.0]
    curve = ECECurve.from_results(results, plo)
    tar, non = _lists(results)
    best = optimal_llrs(tar, non)
    for i, x in enumerate(plo):
        assert curve.ece[i] == pytest.approx(_naive_ece(tar, non, x), rel=1e-12)
        assert curve.neutral[i] == pytest.approx(_naive_ece([0.0], [0.0], x), rel=1e-12)
        finite = [group[np.isfinite(group)] for group in best]
        # Infinite LLRs on the right side cost nothing.
        prior = 1 / (1 + math.exp(-x))
        expected = prior * np.log2(1 + np.exp(-(finite[0] + x))).sum() / tar.size
        expected += (1 - prior) * np.log2(1 + np.exp(finite[1] + x)).sum() / non.size
        assert curve.min_ece[i] == pytest.approx(expected, rel=1e-12)
    assert curve.ece[2] == pytest.approx(results.cllr, rel=1e-14)
    assert curve.min_ece[2] == pytest.approx(results.min_cllr, rel=1e-14)
    assert (curve.min_ece <= np.minimum(curve.ece, curve.neutral) + 1e-12).all()


def test_ece_of_conditions_is_that_of_weighted_trials() -> None:
    mixed, tar, non, tar_weights, non_weights = _mixture()
    weighted = Results(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    one, other = (ECECurve.from_results(r) for r in (mixed, weighted))
    # Sums in two orders.
    np.testing.assert_allclose(one.ece, other.ece, rtol=1e-12)
    np.testing.assert_allclose(one.min_ece, other.min_ece, rtol=1e-10)


@given(weighted_scores(), weighted_scores())
def test_whole_weights_are_repeated_trials(tar: Weighted, non: Weighted) -> None:
    weighted = Results(tar[0], non[0], tar_weights=tar[1], non_weights=non[1])
    repeated = Results(*(np.repeat(values, weights.astype(int)) for values, weights in (tar, non)))
    for kind, fields in (
        (TippettCurve, ("llr", "tar_above", "non_above", "non_below")),
        (ECECurve, ("ece", "min_ece")),
        (PAVCurve, ("lowest", "highest", "llr")),
        (ScoreHistogram, ("tar", "non", "tar_outside")),
        (ReliabilityCurve, ("predicted", "observed", "low", "high")),
    ):
        one, other = kind.from_results(weighted), kind.from_results(repeated)
        for field in fields:
            first, second = getattr(one, field), getattr(other, field)
            np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


# ---- PAV


def test_pav_pools_are_those_of_the_optimal_llrs(results: Results) -> None:
    tar, non = _lists(results)
    curve = PAVCurve.from_results(results)
    scores = np.concatenate((tar, non))
    llrs = np.concatenate(optimal_llrs(tar, non))
    for low, high, llr in zip(curve.lowest, curve.highest, curve.llr, strict=True):
        inside = (scores >= low) & (scores <= high)
        assert inside.any()
        assert np.unique(llrs[inside]).tolist() == pytest.approx([llr])
        assert {low, high} <= set(scores[inside].tolist())
    assert (curve.highest[:-1] < curve.lowest[1:]).all()


def test_dev_pav_is_the_area_between_the_lines(results: Results) -> None:
    curve = PAVCurve.from_results(results)
    kept = np.isfinite(curve.llr)
    ends = np.stack((curve.lowest[kept], curve.highest[kept]), 1).ravel()
    x = np.linspace(ends[0], ends[-1], 2_000_001)
    gap = np.abs(np.interp(x, ends, np.repeat(curve.llr[kept], 2)) - x)
    # A Riemann sum of two million steps across some jumps.
    assert curve.dev_pav == pytest.approx(gap.mean() / math.log(10), rel=1e-4)


@pytest.mark.parametrize(
    ("tar", "non", "expected"),
    [
        # LRs of 1, 2 and 10 for all trials, as many of each class: their optimum is 1.
        ([0.0] * 3, [0.0] * 3, 0.0),
        ([math.log(2)] * 3, [math.log(2)] * 3, math.log10(2)),
        ([math.log(10)] * 3, [math.log(10)] * 3, 1.0),
        # A target with an LR of 0, a non-target with an infinite one, each among others.
        ([-math.inf, 1.0, 2.0], [0.0, -1.0, 1.5], math.inf),
        ([1.0, 2.0, 0.0], [math.inf, -1.0, 1.5], math.inf),
        # On the right side they have no part: that of the last test.
        ([0.0, math.inf], [2.0, -math.inf], 1.0 / math.log(10)),
    ],
)
def test_dev_pav_of_constants_and_infinite_llrs(
    tar: list[float], non: list[float], expected: float
) -> None:
    """As defined by its authors' program, lir; each value is by hand."""
    curve = PAVCurve.from_results(Results(tar, non))
    assert curve.dev_pav == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_dev_pav_by_hand() -> None:
    # One finite pool, from 0 to 2, of 1 target in 2 and 1 non-target in 2: LLR 0. The area
    # between 0 and x over 0 ... 2 is 2, the range 2, so the mean distance is 1.
    curve = PAVCurve.from_results(Results([0.0, 5.0], [2.0, -5.0]))
    assert curve.llr.tolist() == [-math.inf, 0.0, math.inf]
    assert curve.dev_pav == pytest.approx(1.0 / math.log(10))
    # From -1 to 1 the lines cross: two triangles of area 1/2 over a range of 2.
    curve = PAVCurve.from_results(Results([-1.0, 5.0], [1.0, -5.0]))
    assert curve.dev_pav == pytest.approx(0.5 / math.log(10))


def test_dev_pav_of_separable_scores_is_undefined() -> None:
    assert math.isnan(PAVCurve.from_results(Results([1.0, 2.0], [-1.0, 0.0])).dev_pav)


# ---- Histogram


def test_histogram_is_numpys(results: Results) -> None:
    tar, non = _lists(results)
    histogram = ScoreHistogram.from_results(results, bins=17)
    for scores, density in ((tar, histogram.tar), (non, histogram.non)):
        expected, edges = np.histogram(
            scores, 17, (min(tar.min(), non.min()), max(tar.max(), non.max())), density=True
        )
        np.testing.assert_allclose(density, expected, rtol=1e-12)
        np.testing.assert_allclose(histogram.edges, edges, rtol=1e-12)


def test_histogram_tells_what_lies_outside() -> None:
    results = Results([-np.inf, 0.5, 1.5, 9.0], [-5.0, 0.2])
    histogram = ScoreHistogram.from_results(results, [0.0, 1.0, 2.0])
    assert histogram.tar.tolist() == [0.25, 0.25]
    assert histogram.tar_outside.tolist() == [0.25, 0.25]
    assert histogram.non_outside.tolist() == [0.5, 0.0]


# ---- Reliability


@pytest.mark.parametrize("prior", [0.5, 0.1])
def test_reliability_is_counted_per_bin(results: Results, prior: float) -> None:
    tar, non = _lists(results)
    curve = ReliabilityCurve.from_results(results, prior, bins=5)
    plo = math.log(prior / (1 - prior))
    posteriors = [1 / (1 + np.exp(-(group + plo))) for group in (tar, non)]
    row = 0
    for low in np.arange(5) / 5:
        inside = [(p >= low) & (p < low + 0.2) for p in posteriors]
        if not (inside[0].any() or inside[1].any()):
            continue
        masses = prior * inside[0].sum() / tar.size, (1 - prior) * inside[1].sum() / non.size
        means = [p[i].sum() for p, i in zip(posteriors, inside, strict=True)]
        predicted = prior * means[0] / tar.size + (1 - prior) * means[1] / non.size
        assert curve.observed[row] == pytest.approx(masses[0] / sum(masses))
        assert curve.predicted[row] == pytest.approx(predicted / sum(masses))
        assert (curve.n_tar[row], curve.n_non[row]) == (inside[0].sum(), inside[1].sum())
        row += 1
    assert row == curve.observed.size


def test_consistency_bars_are_binomial_at_the_prior_of_the_test_set() -> None:
    # All scores 0: one bin; of 30 trials a third are targets, so the number of targets is
    # binomial(30, 1/3); at even odds a target weighs 1/20, a non-target 1/40.
    curve = ReliabilityCurve.from_results(Results(np.zeros(10), np.zeros(20)), bins=1)
    low, high = stats.binom.interval(0.95, 30, 1 / 3)
    expected = [
        Fraction(int(k), 20) / (Fraction(int(k), 20) + Fraction(30 - int(k), 40))
        for k in (low, high)
    ]
    assert [curve.low[0], curve.high[0]] == pytest.approx([float(e) for e in expected])


def test_consistency_bars_hold_calibrated_scores() -> None:
    """Gaussian LLRs of mean +-m and variance 2 m are calibrated; 200 sets of 10 bins."""
    rng = np.random.default_rng(3)
    held = []
    for _ in range(200):
        results = Results(rng.normal(1, math.sqrt(2), 300), rng.normal(-1, math.sqrt(2), 900))
        curve = ReliabilityCurve.from_results(results, 0.25)
        held += ((curve.low <= curve.observed) & (curve.observed <= curve.high)).tolist()
    # 2000 bars of at least 95 %; numbers are discrete, so that bars hold somewhat more.
    assert 0.94 < np.mean(held) < 0.99


def _of_file(tmp_path: Any) -> Results:
    tar = np.eye(3, dtype=bool)
    names = ["a", "b", "c"], ["d", "e", "f"]
    Key(*names, tar, ~tar).save(tmp_path / "key.h5")
    Scores(np.arange(9.0).reshape(3, 3), *names).save(tmp_path / "scores.h5")
    return Results.from_files(tmp_path / "scores.h5", tmp_path / "key.h5")


@pytest.mark.parametrize("kind", [ScoreHistogram, PAVCurve, ECECurve, ReliabilityCurve])
def test_scores_in_files_are_refused(kind: Any, tmp_path: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"be of scores in memory; .* needs each score"):
        kind.from_results(_of_file(tmp_path))


def test_tippett_reads_files(tmp_path: Any) -> None:
    curve = TippettCurve.from_results(_of_file(tmp_path), [3.0, 4.0])
    assert curve.tar_above.tolist() == pytest.approx([2 / 3, 2 / 3])
    assert curve.non_above.tolist() == [4 / 6, 3 / 6]


GOOD = Results([1.0, 2.0], [0.0, 1.5])


@given(st.floats(-20, 20), st.floats(0.1, 5))
def test_shifted_scores_move_the_ece_curve(shift: float, plo: float) -> None:
    """Adding c to all LLRs is a change of the prior log-odds inside the logarithms."""
    tar, non = np.array([1.0, 3.0]), np.array([-2.0, 2.0])
    moved = ECECurve.from_results(Results(tar + shift, non + shift), [plo]).ece[0]
    prior = 1 / (1 + math.exp(-plo))
    costs = [
        np.logaddexp(0, sign * (group + shift + plo)).mean()
        for sign, group in ((-1, tar), (1, non))
    ]
    assert moved == pytest.approx((prior * costs[0] + (1 - prior) * costs[1]) / math.log(2))
