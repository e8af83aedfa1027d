"""The numbers of all curves: against the toolkit, exact fractions, naive forms and their laws."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from scipy import special

from bosaris_py import Key, Results, Sample, Scores, optimal_llrs
from bosaris_py.errors import InvalidInputError
from bosaris_py.metrics import act_dcf, curves as tested, min_dcf
from bosaris_py.metrics.curves import (
    BayesCurves,
    ECECurve,
    TippettCurve,
    hull_points,
    steppy_points,
)
from bosaris_py.numerics import ROC, sigmoid
from tests.score_strategies import score_lists, weighted_scores

Weighted = tuple[np.ndarray, np.ndarray]
Window = tuple[tuple[float, float], tuple[float, float]]

_RNG = np.random.default_rng(4)
# Rounded, so that scores are equal within and between the classes.
TAR, NON = (_RNG.normal(*law).round(1) for law in ((1, 2, 150), (-2, 2, 400)))
SAMPLE = Sample.from_scores(TAR, NON)


def _record(oracle: Path, name: str) -> dict[str, np.ndarray]:
    with np.load(oracle / f"{name}.npz") as file:
        return {key: np.atleast_1d(file[key]) for key in file.files}


# ---- Bayes error-rates

# What the toolkit calls them.
PARTS = {"miss_rate_act": "act_miss_curve", "fa_rate_act": "act_fa_curve"}
PARTS |= {"miss_rate_min": "min_miss_curve", "fa_rate_min": "min_fa_curve"}


@pytest.mark.parametrize(
    "name",
    sorted(
        path.stem
        for path in (Path(__file__).parents[1] / "reference" / "oracle").glob("stats_*.npz")
    ),
)
def test_bayes_curves_and_dr30_points_are_the_toolkits(oracle: Path, name: str) -> None:
    record = _record(oracle, name)
    grid = np.linspace(record["ndcf_axes"][0], record["ndcf_axes"][1], 1001)
    curves = BayesCurves.from_sample(Sample.from_scores(record["tar"], record["non"]), grid)
    # The record holds every tenth point.
    np.testing.assert_allclose(curves.plo[::10], record["ndcf_plo"], rtol=0, atol=1e-12)
    found = {"actDCF": curves.act_dcf, "minDCF": curves.min_dcf}
    found |= {theirs: curves.parts[ours] for ours, theirs in PARTS.items()}
    for theirs, values in found.items():
        expected = record[f"ndcf_{theirs}"]
        np.testing.assert_allclose(values[::10], expected, rtol=0, atol=1e-12)
    indices = [-1 if i is None else i for i in (curves.dr30_fa_index, curves.dr30_miss_index)]
    assert indices == [record["ndcf_dr30fa_index"], record["ndcf_dr30miss_index"]]


@given(score_lists(), score_lists())
def test_bayes_curves_are_the_metrics_and_their_parts_add_up(tar, non):
    plo = np.linspace(-9, 9, 19)
    curves = BayesCurves.from_sample(Sample.from_scores(tar, non), plo)
    # On its way through the prior a threshold is rounded, so it must not lie at a score.
    clear = ~np.isclose(np.concatenate((tar, non))[:, None], -plo, atol=1e-9).any(axis=0)
    if clear.any():
        expected = act_dcf(tar, non, sigmoid(plo[clear]))
        np.testing.assert_allclose(curves.act_dcf[clear], expected, rtol=1e-9)
    np.testing.assert_allclose(curves.min_dcf, min_dcf(tar, non, sigmoid(plo)), 1e-9, 1e-15)
    # Sums of two rounded products of numbers up to exp(9).
    for kind, whole in (("act", curves.act_dcf), ("min", curves.min_dcf)):
        parts = curves.parts[f"miss_rate_{kind}"] + curves.parts[f"fa_rate_{kind}"]
        np.testing.assert_allclose(parts, whole)
    assert (curves.min_dcf <= curves.act_dcf * (1 + 1e-12)).all()


def test_extreme_operating_points_stay_finite() -> None:
    sample = Sample.from_scores([1.0, -1.0], [0.0, 2.0])
    curves = BayesCurves.from_sample(sample, [-700.0, 0.0, 700.0])
    # With no score beyond 700, all decisions are those without a detector.
    np.testing.assert_allclose(curves.act_dcf[[0, 2]], 1.0, rtol=1e-12)


@pytest.mark.parametrize("curve", [BayesCurves, ECECurve])
@pytest.mark.parametrize("plo", [[0.0, 0.0], [1.0, 0.0], [], [0.0, np.nan], [-701.0], [np.inf]])
def test_bad_operating_points(curve: Any, plo: list[float]) -> None:
    with pytest.raises(InvalidInputError, match="plo"):
        curve.from_sample(SAMPLE, plo)


# ---- Tippett and ECE


@pytest.mark.parametrize("values", [None, [-3.0, -0.1, 0.0, 0.1, 5.0, np.inf]])
def test_tippett_counts(values: Any) -> None:
    curve = TippettCurve.from_sample(SAMPLE, values)
    for x, above, other, below in zip(
        curve.llr, curve.tar_above, curve.non_above, curve.non_below, strict=True
    ):
        assert above == pytest.approx(np.mean(x <= TAR), abs=1e-15)
        assert other == np.mean(x <= NON)
        assert below == pytest.approx(np.mean(x >= NON), abs=1e-15)
    assert curve.misleading_tar == np.mean(TAR < 0)
    assert curve.misleading_non == np.mean(NON > 0)
    if values is None:
        # Each step is there.
        assert curve.llr[1:-1].tolist() == sorted({*TAR.tolist(), *NON.tolist()})


def test_tippett_of_many_scores_is_on_a_grid() -> None:
    rng = np.random.default_rng(1)
    tar, non = rng.normal(2, 2, 3000), rng.normal(-2, 2, 9000)
    curve = TippettCurve.from_sample(Sample.from_scores(tar, non))
    assert curve.llr.size == 2003
    assert (curve.llr[1], curve.llr[-2]) == (non.min(), max(tar.max(), non.max()))
    assert curve.non_above[1000] == np.mean(non >= curve.llr[1000])


def _naive_ece(tar: Any, non: Any, plo: float) -> float:
    prior, odds = 1 / (1 + math.exp(-plo)), math.exp(plo)
    # Infinite LLRs on the right side cost nothing.
    first = np.mean([math.log2(1 + 1 / (math.exp(s) * odds)) if s < math.inf else 0 for s in tar])
    second = np.mean([math.log2(1 + math.exp(s) * odds) for s in non])
    return float(prior * first + (1 - prior) * second)


def test_ece_is_the_formula() -> None:
    plo = [-3.0, -1.0, 0.0, 0.5, 4.0]
    curve, best = ECECurve.from_sample(SAMPLE, plo), optimal_llrs(TAR, NON)
    assert curve.ece.tolist() == pytest.approx([_naive_ece(TAR, NON, x) for x in plo], rel=1e-12)
    assert curve.neutral.tolist() == pytest.approx([_naive_ece([0], [0], x) for x in plo])
    assert curve.min_ece.tolist() == pytest.approx([_naive_ece(*best, x) for x in plo], rel=1e-12)
    # By default from 1 to 316 up to 316 to 1.
    ends = ECECurve.from_sample(SAMPLE).plo[[0, -1]]
    assert ends.tolist() == pytest.approx([-math.log(10**2.5), math.log(10**2.5)])
    results = Results(TAR, NON)
    assert curve.ece[2] == pytest.approx(results.cllr, rel=1e-14)
    assert curve.min_ece[2] == pytest.approx(results.min_cllr, rel=1e-14)


@given(weighted_scores(), weighted_scores())
def test_whole_weights_are_repeated_trials(tar: Weighted, non: Weighted) -> None:
    finite = np.concatenate([tar[0][tar[1] > 0], non[0][non[1] > 0]])
    finite = finite[np.isfinite(finite)]
    # No bins divide two neighbours among floats, nor the largest ones.
    assume(not finite.size or (abs(finite).max() < 1e6 and (np.ptp(finite) or 1.0) > 1e-6))
    weighted = Sample.from_scores(tar[0], non[0], tar[1], non[1])
    repeated = Sample.from_scores(
        *(np.repeat(values, weights.astype(int)) for values, weights in (tar, non))
    )
    for kind, fields in (
        (TippettCurve, ("llr", "tar_above", "non_above", "non_below")),
        (ECECurve, ("ece", "min_ece")),
        (tested.PAVCurve, ("lowest", "highest", "llr")),
        (tested.ScoreHistogram, ("tar", "non", "tar_outside")),
    ):
        one, other = kind.from_sample(weighted), kind.from_sample(repeated)
        for field in fields:
            first, second = getattr(one, field), getattr(other, field)
            np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


# ---- PAV


def test_pav_pools_are_those_of_the_optimal_llrs() -> None:
    curve = tested.PAVCurve.from_sample(SAMPLE)
    scores, llrs = np.concatenate((TAR, NON)), np.concatenate(optimal_llrs(TAR, NON))
    for low, high, llr in zip(curve.lowest, curve.highest, curve.llr, strict=True):
        inside = (scores >= low) & (scores <= high)
        assert np.unique(llrs[inside]).tolist() == pytest.approx([llr])
        assert {low, high} <= set(scores[inside].tolist())
    assert (curve.highest[:-1] < curve.lowest[1:]).all()
    kept = np.isfinite(curve.llr)
    ends = np.stack((curve.lowest[kept], curve.highest[kept]), 1).ravel()
    x = np.linspace(ends[0], ends[-1], 2_000_001)
    gap = np.abs(np.interp(x, ends, np.repeat(curve.llr[kept], 2)) - x)
    # A Riemann sum of two million steps across some jumps.
    assert curve.dev_pav == pytest.approx(gap.mean() / math.log(10), rel=1e-4)


@pytest.mark.parametrize(
    ("tar", "non", "expected"),
    [
        # LRs of 1 and 10 for all trials, as many of each class: their optimum is 1.
        ([0.0] * 3, [0.0] * 3, 0.0),
        ([math.log(10)] * 3, [math.log(10)] * 3, 1.0),
        # A target with an LR of 0, a non-target with an infinite one, each among others.
        ([-math.inf, 1.0, 2.0], [0.0, -1.0, 1.5], math.inf),
        ([1.0, 2.0, 0.0], [math.inf, -1.0, 1.5], math.inf),
        # One finite pool, from 0 to 2, of 1 target in 2 and 1 non-target in 2: LLR 0. The area
        # between 0 and x over 0 ... 2 is 2, the range 2, so the mean distance is 1.
        ([0.0, 5.0], [2.0, -5.0], 1.0 / math.log(10)),
        # Infinite LLRs on the right side have no part.
        ([0.0, math.inf], [2.0, -math.inf], 1.0 / math.log(10)),
        # From -1 to 1 the lines cross: two triangles of area 1/2 over a range of 2.
        ([-1.0, 5.0], [1.0, -5.0], 0.5 / math.log(10)),
        # LLRs of 0 at 0, on the line, and of log 2 at 1: a triangle of that height below it.
        ([0.0, 1.0, 1.0], [0.0, 1.0, -5.0], (1.0 - math.log(2)) / 2 / math.log(10)),
        # Classes that are apart have no finite pool.
        ([1.0, 2.0], [-1.0, 0.0], math.nan),
    ],
)
def test_dev_pav_by_hand(tar: list[float], non: list[float], expected: float) -> None:
    """As defined by its authors' program, lir."""
    curve = tested.PAVCurve.from_sample(Sample.from_scores(tar, non))
    assert curve.dev_pav == pytest.approx(expected, rel=1e-12, abs=1e-15, nan_ok=True)


# ---- Histogram and reliability


def test_histogram_is_numpys() -> None:
    histogram = tested.ScoreHistogram.from_sample(SAMPLE, bins=17)
    ends = min(TAR.min(), NON.min()), max(TAR.max(), NON.max())
    for scores, density in ((TAR, histogram.tar), (NON, histogram.non)):
        expected, edges = np.histogram(scores, 17, ends, density=True)
        np.testing.assert_allclose(density, expected, rtol=1e-12)
        np.testing.assert_allclose(histogram.edges, edges, rtol=1e-12)
    sample = Sample.from_scores([-np.inf, 0.5, 1.5, 9.0], [-5.0, 0.2])
    outside = tested.ScoreHistogram.from_sample(sample, [0.0, 1.0, 2.0])
    assert outside.tar.tolist() == outside.tar_outside.tolist() == [0.25, 0.25]
    assert outside.non_outside.tolist() == [0.5, 0.0]
    # Equal scores lie in bins around them.
    alike = tested.ScoreHistogram.from_sample(Sample.from_scores([2.0, 2.0], [2.0]), bins=4)
    assert alike.edges.tolist() == [1.5, 1.75, 2.0, 2.25, 2.5]
    assert alike.tar.tolist() == alike.non.tolist() == [0.0, 0.0, 4.0, 0.0]


def test_scores_in_files_have_tippett_curves_only(tmp_path: Path) -> None:
    tar = np.eye(3, dtype=bool)
    names = ["a", "b", "c"], ["d", "e", "f"]
    Key(*names, tar, ~tar).save(tmp_path / "key.h5")
    Scores(np.arange(9.0).reshape(3, 3), *names).save(tmp_path / "scores.h5")
    sample = Results.from_files(tmp_path / "scores.h5", tmp_path / "key.h5").sample
    curve = TippettCurve.from_sample(sample, [3.0, 4.0])
    assert curve.tar_above.tolist() == pytest.approx([2 / 3, 2 / 3])
    assert curve.non_above.tolist() == [4 / 6, 3 / 6]
    # By default on a grid: which steps there are between the targets is not known.
    assert TippettCurve.from_sample(sample).llr.size == 2003
    for kind in (tested.ScoreHistogram, tested.PAVCurve, ECECurve):
        with pytest.raises(InvalidInputError, match="be of scores in memory"):
            kind.from_sample(sample)


# ---- DET

OLD: Window = ((5e-4, 0.5), (5e-4, 0.5))
SRE10: Window = ((3e-6, 0.5), (3e-4, 0.9))
# Sets of the oracle in which no target has the score of a non-target, and those where one has.
WITHOUT_TIES = ["few_targets", "gauss", "inverted", "mini_1t_1n", "mini_1t_1n_inv", "mini_1t_2n"]
WITHOUT_TIES += ["mini_ordered", "mini_overlap", "separated"]
WITH_TIES = ["constant", "constant_shifted", "integer", "mini_tie", "ties"]


def _pairs(pfa: np.ndarray, pmiss: np.ndarray) -> set[tuple[float, float]]:
    return set(zip(pfa.tolist(), pmiss.tolist(), strict=True))


def _roc(oracle: Path, name: str) -> tuple[ROC, dict[str, np.ndarray]]:
    record = _record(oracle, f"stats_{name}")
    return ROC.from_scores(record["tar"], record["non"]), record


@pytest.mark.parametrize("name", WITHOUT_TIES)
def test_steppy_points_are_the_toolkits_vertices(oracle: Path, name: str) -> None:
    roc, record = _roc(oracle, name)
    pfa, pmiss = steppy_points(roc, *OLD)
    np.testing.assert_array_equal(pfa, record["filter_roc_pfa"])
    np.testing.assert_array_equal(pmiss, record["filter_roc_pmiss"])


@pytest.mark.parametrize("name", WITH_TIES)
def test_tied_scores_make_one_stroke_straight_in_the_rates(oracle: Path, name: str) -> None:
    # The toolkit walks through a group of equal scores target by target; here it is one
    # stroke from its first to its last point, so the vertices are some of the toolkit's.
    roc, record = _roc(oracle, name)
    roc = roc.corners()
    pfa, pmiss = steppy_points(roc, *OLD)
    assert _pairs(roc.pfa, roc.pmiss) <= _pairs(record["roc_pfa"], record["roc_pmiss"])
    assert _pairs(roc.pfa, roc.pmiss) <= _pairs(pfa, pmiss)
    assert (np.diff(pfa) <= 0).all()
    start = np.stack((roc.pfa[:-1], roc.pmiss[:-1]), axis=1)
    stroke = np.stack((roc.pfa[1:], roc.pmiss[1:]), axis=1) - start
    points = np.stack((pfa, pmiss), axis=1)[:, None, :]
    share = ((points - start) * stroke).sum(axis=2) / (stroke**2).sum(axis=1)
    away = points - start - np.clip(share, 0, 1)[:, :, None] * stroke
    # A handful of roundings of numbers up to 1.
    assert np.sqrt((away**2).sum(axis=2)).min(axis=1).max() < 1e-15


def test_what_is_left_out_of_a_large_curve_cannot_be_seen() -> None:
    rng = np.random.default_rng(3)
    large = ROC.from_scores(rng.normal(1, 1, 200_000), rng.normal(0, 1, 300_000)).corners()
    pfa, pmiss = steppy_points(large, *OLD)
    # An exact subset of the vertices.
    assert _pairs(pfa, pmiss) <= _pairs(large.pfa, large.pmiss)
    assert (pfa[0], pmiss[0], pfa[-1], pmiss[-1]) == (1.0, 0.0, 0.0, 1.0)
    assert pfa.size < 2 * (8192 + 8192) < large.pfa.size / 5
    kept = np.flatnonzero(np.isin(large.pfa + 1j * large.pmiss, pfa + 1j * pmiss))
    first, last = kept[:-1][np.diff(kept) > 1], kept[1:][np.diff(kept) > 1]
    assert first.size
    x, y = special.ndtri(large.pfa), special.ndtri(large.pmiss)
    low, high = special.ndtri(OLD[0])
    # Cells have the 8192th part of the window inside it and the 1024th outside; twice the
    # rounding of probits up to 5 is added.
    inside_x = (x[first] < high) & (x[last] > low)
    inside_y = (y[last] < high) & (y[first] > low)
    for distance, inside in ((x[first] - x[last], inside_x), (y[last] - y[first], inside_y)):
        assert (distance <= (high - low) / np.where(inside, 8192, 1024) + 1e-14).all()


@pytest.mark.parametrize(("key", "window"), [("old", OLD), ("sre10", SRE10)])
@pytest.mark.parametrize("name", [*WITHOUT_TIES, *WITH_TIES])
def test_the_toolkits_hull_points_lie_on_the_drawn_curve(oracle, name, key, window):
    roc, record = _roc(oracle, name)
    hull, x, y = roc.convex_hull(), record[f"rocchdet_{key}_x"], record[f"rocchdet_{key}_y"]
    exact = np.interp(special.ndtr(x), hull.pfa[::-1], hull.pmiss[::-1])
    np.testing.assert_allclose(special.ndtr(y), exact, rtol=0, atol=1e-12)
    # The picture: points in probits, which matplotlib joins by straight strokes. Sagging
    # between points is far less than their distance, the 500th part of the window.
    pfa, pmiss = hull_points(hull, *window)
    assert _pairs(hull.pfa, hull.pmiss) <= _pairs(pfa, pmiss)
    assert (np.diff(pfa) <= 0).all()
    drawn_x, drawn_y = (np.clip(special.ndtri(rates), -40, 40)[::-1] for rates in (pfa, pmiss))
    side = special.ndtri(window[1][1]) - special.ndtri(window[1][0])
    np.testing.assert_allclose(y, np.interp(x, drawn_x, drawn_y), rtol=0, atol=side / 500)


def test_windows_without_a_curve_diagonals_and_strokes_as_wide_as_rounding() -> None:
    apart = ROC.from_scores([1.0, 2.0], [-1.0, 0.0])
    corners = {(1.0, 0.0), (0.0, 0.0), (0.0, 1.0)}
    assert _pairs(*steppy_points(apart, *OLD)) == corners
    assert _pairs(*hull_points(apart.convex_hull(), *OLD)) == corners
    # One group of equal scores: pmiss = 1 - pfa, the line y = -x in probits.
    pfa, pmiss = steppy_points(ROC.from_scores([0.0] * 3, [0.0] * 5), *OLD)
    visible = (pfa > 5e-4) & (pfa < 0.5)
    assert np.count_nonzero(visible) > 500
    # Rates near 1 are rounded to 1e-16, and the probit's slope there reaches 600.
    x, y = special.ndtri(pfa[visible]), special.ndtri(pmiss[visible])
    np.testing.assert_allclose(y, -x, rtol=0, atol=1e-12)
    narrow = ROC.from_scores([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], non_weights=[1.0, 1e-15, 1.0])
    pfa, pmiss = steppy_points(narrow, *OLD)
    assert np.all(np.diff(pfa) <= 0)
    assert np.all(np.diff(pmiss) >= 0)
