"""The ROC engine against naive exact arithmetic, and the laws it must obey."""

import copy
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm

import bosaris_py
from bosaris_py import Results, error_rates_at
from bosaris_py.errors import InvalidInputError, SuspectScoresWarning
from bosaris_py.numerics import ROC, OperatingPoint, Threshold, auc, eer, min_dcf, prbep
from bosaris_py.numerics.counts import SortedScores, sort_classes
from bosaris_py.numerics.roc import _SAMPLE, _look_inverted, warn_if_inverted
from bosaris_py.numerics.rocch import _convex, _scan_hull, eer_of_hull, eers_of_hulls
from tests.score_strategies import naive_hull, naive_points, priors, score_lists, weighted_scores

# Ratios of the same whole numbers, divided once: equal to the last bit or two.
ATOL = 1e-15


@given(score_lists(), score_lists())
def test_vertices_are_points_of_the_roc_at_their_thresholds(
    tar: np.ndarray, non: np.ndarray
) -> None:
    roc = ROC.from_scores(tar, non)
    for threshold, pmiss, pfa in zip(
        roc.thresholds[:-1], roc.pmiss[:-1], roc.pfa[:-1], strict=True
    ):
        if threshold == np.inf:
            continue
        assert pmiss == np.mean(tar < threshold)
        assert pfa == np.mean(non >= threshold)
    assert (roc.pmiss[0], roc.pfa[0]) == (0.0, 1.0)
    assert (roc.pmiss[-1], roc.pfa[-1]) == (1.0, 0.0)
    assert np.all(roc.thresholds[1:] >= roc.thresholds[:-1])


@given(score_lists(), score_lists())
def test_steppy_roc_passes_through_every_naive_point(tar: np.ndarray, non: np.ndarray) -> None:
    """Each point lies on the staircase: on an edge of it, at its end or in between."""
    roc = ROC.from_scores(tar, non)
    edges = list(zip(roc.pmiss, roc.pfa, roc.pmiss[1:], roc.pfa[1:], strict=False))
    for pmiss, pfa in naive_points(tar, non):
        assert any(
            m0 - ATOL <= pmiss <= m1 + ATOL
            and f1 - ATOL <= pfa <= f0 + ATOL
            and abs((m1 - m0) * (float(pfa) - f0) - (f1 - f0) * (float(pmiss) - m0)) < ATOL
            for m0, f0, m1, f1 in edges
        )


def scores_of_kind(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Many scores of both classes that are hard on grids, hashes, or differences."""
    tar, non = rng.normal(1.0, 1.0, 3000), rng.normal(0.0, 1.0, 40_000)
    if kind == "cauchy":
        tar, non = rng.standard_cauchy(3000) + 1.0, rng.standard_cauchy(40_000)
    elif kind == "outliers":
        tar[:3], non[:3] = [1e300, -1e300, 1e308], [-1e308, 1e308, 1e300]
    elif kind == "huge":
        tar, non = rng.uniform(-1.0, 1.0, 3000) * 1.7e308, rng.uniform(-1.0, 1.0, 40_000) * 1.7e308
    elif kind == "denormal":
        tar, non = tar * 1e-310, non * 1e-310
    elif kind == "infinite":
        tar[:200], non[:9000] = (
            np.repeat([np.inf, -np.inf], 100),
            np.repeat([np.inf, -np.inf], 4500),
        )
    elif kind == "tied":
        tar, non = tar.round(1), non.round(1)
    elif kind == "constant":
        tar, non = np.full(3000, 0.5), np.full(40_000, 0.5)
    elif kind == "one cell":
        tar[:2999], non[:39_999] = tar[:2999] * 1e-12, non[:39_999] * 1e-12
    elif kind == "one target":
        tar = tar[:1]
    elif kind == "one non-target":
        non = non[:1]
    return tar, non


WHOLE = ["normal", "tied", "constant", "one target", "one non-target"]
KINDS = [*WHOLE, "cauchy", "outliers", "huge", "denormal", "infinite", "one cell"]


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [(kind, dtype) for dtype in (np.float64, np.float32) for kind in KINDS]
    + [(kind, np.int16) for kind in WHOLE],
)
def test_counts_are_those_of_one_sort_of_all_trials(
    kind: str, dtype: type, rng: np.random.Generator
) -> None:
    """Sizes at which nothing but the targets is sorted, against a full sort with labels."""
    tar, non = scores_of_kind(kind, rng)
    if dtype == np.int16:
        tar, non = 100 * tar, 100 * non
    with np.errstate(over="ignore", under="ignore"):
        tar, non = tar.astype(dtype), non.astype(dtype)
    scores = np.concatenate((tar, non)).astype(np.float64)
    order = np.argsort(scores, kind="stable")
    is_target = (np.arange(scores.size) < tar.size)[order]
    values, starts = np.unique(scores[order], return_index=True)
    misses = np.append(0, np.cumsum(is_target))[np.append(starts, scores.size)]
    alarms = non.size - np.append(0, np.cumsum(~is_target))[np.append(starts, scores.size)]

    roc = ROC.from_scores(tar, non)
    place = np.flatnonzero(np.diff(misses) > 0)
    np.testing.assert_array_equal(roc.target_scores, values[place])
    np.testing.assert_array_equal(roc.tar_at, np.diff(misses)[place])
    np.testing.assert_array_equal(roc.non_at, -np.diff(alarms)[place])
    above = np.append(alarms[place + 1], 0)
    np.testing.assert_array_equal(
        roc.non_between, np.append(non.size, above[:-1]) - np.append(alarms[place], 0)
    )
    probabilities = np.array([0.001, 0.1, 0.5, 0.9])
    costs = np.multiply.outer(probabilities, misses / tar.size)
    costs += np.multiply.outer(1.0 - probabilities, alarms / non.size)
    np.testing.assert_allclose(min_dcf(tar, non, probabilities), costs.min(axis=1), atol=ATOL)
    wins = np.sum(np.diff(misses) * (2 * non.size - alarms[1:] - alarms[:-1]))
    assert auc(tar, non) == pytest.approx(wins / (2 * tar.size * non.size), rel=1e-14)
    # Mirrored, the other class is the one that is sorted.
    mirrored = min_dcf(-non.astype(float), -tar.astype(float), 1.0 - probabilities)
    np.testing.assert_allclose(mirrored, costs.min(axis=1), atol=ATOL)


@given(score_lists(), score_lists())
def test_no_vertex_is_superfluous(tar: np.ndarray, non: np.ndarray) -> None:
    roc = ROC.from_scores(tar, non)
    d_miss, d_fa = np.diff(roc.pmiss), np.diff(roc.pfa)
    assert not np.any((d_miss == 0) & (d_fa == 0))
    assert not np.any((d_miss[1:] == 0) & (d_miss[:-1] == 0))
    assert not np.any((d_fa[1:] == 0) & (d_fa[:-1] == 0))


@given(score_lists(), score_lists())
def test_hull_vertices_are_exact(tar: np.ndarray, non: np.ndarray) -> None:
    hull = ROC.from_scores(tar, non).convex_hull()
    ours = [
        (Fraction(m, tar.size), Fraction(f, non.size))
        for m, f in zip(hull.misses.tolist(), hull.false_alarms.tolist(), strict=True)
    ]
    assert ours == naive_hull(tar, non)


def test_hull_pools_equal_means_that_floats_keep_apart(oracle_case: dict) -> None:
    """Labels 1 0 1 1 0 1 0 0 1: two pools of mean 1/2, which running means do not join."""
    labels = np.array(oracle_case["in"]["y"], dtype=float)
    assert len(oracle_case["out"]["height"]) == 3
    scores = np.arange(labels.size, dtype=float)
    hull = ROC.from_scores(scores[labels == 1], scores[labels == 0]).convex_hull()
    assert hull.misses.tolist() == [0, 4, 5]
    assert hull.false_alarms.tolist() == [4, 0, 0]


@pytest.fixture
def oracle_case(oracle: Path) -> dict:
    cases = json.loads((oracle / "edge_cases.json").read_text())
    return next(case for case in cases if case["name"].startswith("pavx floating-point"))


def test_hull_of_counts_whose_products_overflow() -> None:
    """Slopes that differ by 1 in 2**80 are told apart, and equal ones are pooled."""
    big = 2**40
    x = np.array([0, big, 2 * big + 1, 3 * big + 2, 4 * big + 2])
    y = np.array([4 * big, 3 * big, 2 * big - 1, big - 2, -2])
    # Chain slopes: -1, -1 exactly, -1, -1 - so nothing turns; then bend one point by 1.
    assert not _convex(x, y).any()
    y_bent = y - np.array([0, 1, 0, 0, 0])
    assert _convex(x, y_bent).tolist() == [True, False, False]
    # Cross products of -1, 0 and 1 beside products of 2**80.
    big = 2**40
    for dx, dy in [
        ((big + 1, big + 2), (-big, -big - 1)),
        ((big, 2 * big), (-big - 1, -2 * big - 2)),
        ((big, big + 1), (-big - 1, -big - 2)),
    ]:
        x, y = np.cumsum((0, *dx)), np.cumsum((4 * big, *dy))
        assert _convex(x, y).tolist() == [dx[0] * dy[1] > dy[0] * dx[1]]


@given(score_lists(), score_lists())
def test_scan_and_rounds_find_the_same_hull(tar: np.ndarray, non: np.ndarray) -> None:
    hull = ROC.from_scores(tar, non).convex_hull()
    values = np.unique(np.concatenate((tar, non)))
    misses = [0, *(int(np.sum(tar < v)) for v in values), tar.size]
    false_alarms = [non.size, *(int(np.sum(non >= v)) for v in values), 0]
    distinct = sorted(set(zip(misses, false_alarms, strict=True)), key=lambda p: (p[0], -p[1]))
    x, y = [p[0] for p in distinct], [p[1] for p in distinct]
    kept = _scan_hull(x, y)
    assert [(x[i], y[i]) for i in kept] == list(
        zip(hull.misses.tolist(), hull.false_alarms.tolist(), strict=True)
    )


@pytest.mark.slow
def test_smooth_arc_needs_the_scan() -> None:
    """A long convex arc collapses point by point from one end; the answer is still exact."""
    n = 2000
    # Gaps of 1, 2, 3 ... non-targets below each target bend the curve the right way;
    # one heap of non-targets above all targets makes every vertex superfluous.
    tar = np.arange(n, dtype=float)
    gaps = np.repeat(tar - 0.5, np.arange(n, 0, -1))
    hull = ROC.from_scores(tar, gaps).convex_hull()
    assert hull.misses.tolist() == [0, *range(n + 1)]
    # The gaps fall by at most n per target, the heap by 5000 per target on the whole.
    heap = np.concatenate((gaps, np.full(5000 * n, n + 1.0)))
    assert ROC.from_scores(tar, heap).convex_hull().misses.tolist() == [0, 0, n]


@given(score_lists(), score_lists(), priors)
def test_min_dcf_tries_every_threshold(tar: np.ndarray, non: np.ndarray, prior: float) -> None:
    naive = min(
        prior * float(pmiss) + (1 - prior) * float(pfa)
        for pmiss, pfa in [(Fraction(0), Fraction(1)), *naive_points(tar, non)]
    )
    assert min_dcf(tar, non, prior) == pytest.approx(naive, rel=1e-12, abs=ATOL)


@given(score_lists(), score_lists())
def test_eer_is_the_largest_minimum_cost(tar: np.ndarray, non: np.ndarray) -> None:
    """Theory paper, equation (26): the maximum is at a prior where an edge is indifferent."""
    hull = ROC.from_scores(tar, non).convex_hull()
    finite = hull.llr[np.isfinite(hull.llr)]
    candidates = 1 / (1 + np.exp(finite))
    best = max((float(min_dcf(tar, non, p)) for p in candidates), default=0.0)
    assert hull.eer == pytest.approx(best, abs=1e-12)
    assert eer(tar, non) == hull.eer
    assert 0 <= hull.eer <= 0.5


@given(score_lists(), score_lists(), st.floats(0.01, 100))
def test_unequal_error_rate_is_the_largest_cost_at_its_costs(
    tar: np.ndarray, non: np.ndarray, ratio: float
) -> None:
    """Theory paper, equation (28); PRBEP by equation (29)."""
    hull = ROC.from_scores(tar, non).convex_hull()
    uer = hull.unequal_error_rate(ratio)
    finite = hull.llr[np.isfinite(hull.llr)]
    odds = np.exp(-finite) / ratio
    points = [OperatingPoint(p, ratio, 1.0) for p in odds / (1 + odds) if 0 < p < 1]
    best = max((float(min_dcf(tar, non, point)) for point in points), default=0.0)
    assert uer == pytest.approx(best, rel=1e-9, abs=1e-12)
    if ratio < 1.001 and ratio > 0.999:
        assert uer == pytest.approx(hull.eer, rel=1e-2)
    expected = non.size * hull.unequal_error_rate(tar.size / non.size)
    assert prbep(tar, non) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(score_lists(), score_lists())
def test_auc_counts_pairs(tar: np.ndarray, non: np.ndarray) -> None:
    wins = np.sum(tar[:, None] > non) + 0.5 * np.sum(tar[:, None] == non)
    assert auc(tar, non) == pytest.approx(wins / (tar.size * non.size), rel=1e-14, abs=0)


@given(score_lists(), score_lists(), st.randoms(use_true_random=False))
def test_order_does_not_matter(tar: np.ndarray, non: np.ndarray, random) -> None:
    shuffled = tar.tolist()
    random.shuffle(shuffled)
    one, other = ROC.from_scores(tar, non), ROC.from_scores(shuffled, non[::-1])
    np.testing.assert_array_equal(one.pmiss, other.pmiss)
    np.testing.assert_array_equal(one.pfa, other.pfa)


@given(score_lists(st.integers(-8, 8).map(float)), score_lists(st.integers(-8, 8).map(float)))
def test_rising_maps_change_nothing_but_thresholds(tar: np.ndarray, non: np.ndarray) -> None:
    one = ROC.from_scores(tar, non)
    for warp in (lambda s: s**3 + 1.0, lambda s: np.exp(s), lambda s: (s / 16).astype(np.float32)):
        other = ROC.from_scores(warp(tar), warp(non))
        np.testing.assert_array_equal(one.pmiss, other.pmiss)
        np.testing.assert_array_equal(one.pfa, other.pfa)
        assert one.convex_hull().min_cllr == other.convex_hull().min_cllr


@given(score_lists(), score_lists())
def test_swapping_classes_and_sign_swaps_the_error_rates(tar: np.ndarray, non: np.ndarray) -> None:
    one = ROC.from_scores(tar, non).convex_hull()
    other = ROC.from_scores(-non, -tar).convex_hull()
    np.testing.assert_array_equal(one.pmiss, other.pfa[::-1])
    np.testing.assert_array_equal(one.pfa, other.pmiss[::-1])


@given(weighted_scores(), weighted_scores())
def test_whole_weights_are_repeated_trials(
    tar: tuple[np.ndarray, np.ndarray], non: tuple[np.ndarray, np.ndarray]
) -> None:
    weighted = ROC.from_scores(tar[0], non[0], tar_weights=tar[1], non_weights=non[1])
    repeated = ROC.from_scores(np.repeat(*tar), np.repeat(*non))
    for name in ("misses", "false_alarms"):
        a = getattr(weighted.convex_hull(), name)
        assert a.dtype == np.int64
        np.testing.assert_array_equal(a, getattr(repeated.convex_hull(), name))
    np.testing.assert_array_equal(weighted.pmiss, repeated.pmiss)
    np.testing.assert_array_equal(weighted.pfa, repeated.pfa)
    assert weighted.auc == pytest.approx(repeated.auc, rel=1e-14, abs=0)
    assert weighted.convex_hull().prbep == pytest.approx(repeated.convex_hull().prbep, rel=1e-14)
    assert weighted.eer_threshold.pmiss == repeated.eer_threshold.pmiss
    assert weighted.eer_threshold.pfa == repeated.eer_threshold.pfa


@given(weighted_scores(), weighted_scores(), st.floats(0.01, 100), st.floats(0.01, 100))
def test_a_common_factor_of_a_class_changes_no_rate(
    tar: tuple[np.ndarray, np.ndarray],
    non: tuple[np.ndarray, np.ndarray],
    tar_factor: float,
    non_factor: float,
) -> None:
    one = ROC.from_scores(tar[0], non[0], tar_weights=tar[1], non_weights=non[1])
    other = ROC.from_scores(
        tar[0], non[0], tar_weights=tar[1] * tar_factor, non_weights=non[1] * non_factor
    )
    # Sums of up to 20 rounded products.
    assert other.auc == pytest.approx(one.auc, abs=1e-13)
    assert other.convex_hull().eer == pytest.approx(one.convex_hull().eer, abs=1e-13)
    assert other.convex_hull().min_cllr == pytest.approx(one.convex_hull().min_cllr, abs=1e-12)


@given(score_lists(), score_lists(), st.data())
def test_counts_of_two_parts_add_up(tar: np.ndarray, non: np.ndarray, data) -> None:
    whole = ROC.from_scores(tar, non)
    i, j = data.draw(st.integers(0, tar.size)), data.draw(st.integers(0, non.size))
    parts = [
        ROC.at_target_scores(whole.target_scores, t, n)
        for t, n in ((tar[:i], non[:j]), (tar[i:], non[j:]))
    ]
    total = parts[0] + parts[1]
    for name in ("target_scores", "tar_at", "non_at", "non_between"):
        np.testing.assert_array_equal(getattr(total, name), getattr(whole, name))


def test_a_part_without_weight_adds_nothing() -> None:
    part = ROC.at_target_scores([1.0, 2.0], [1.0], [0.0, 1.5], tar_weights=[0], non_weights=[0, 0])
    for weights in (part.tar_at, part.non_at, part.non_between):
        assert not weights.any()


@given(score_lists(max_size=200), score_lists(max_size=5))
def test_few_non_targets_are_counted_as_many_are(tar: np.ndarray, non: np.ndarray) -> None:
    """The shorter list is searched in the longer one; both ways count alike."""
    few = ROC.from_scores(tar, non)
    many = ROC.from_scores(tar, np.tile(non, 300))
    np.testing.assert_array_equal(few.non_at * 300, many.non_at)
    np.testing.assert_array_equal(few.non_between * 300, many.non_between)


def test_inverted_scores_are_those_beyond_three_standard_errors() -> None:
    """Of 100 and 100 scores that tell nothing: sqrt(201 / 120000) = 0.0409, so 0.3772."""
    with pytest.warns(SuspectScoresWarning, match=r"area under the ROC is 0\.377"):
        warn_if_inverted(0.6, lambda: 0.377, 100, 100)
    warn_if_inverted(0.6, lambda: 0.378, 100, 100)
    warn_if_inverted(0.6, lambda: 0.0, 30, 100)


@pytest.mark.parametrize("scale", [1e-100, 0.01, 1.0, 1e100])
@pytest.mark.parametrize("n_non", [40, 5000])
def test_lists_look_inverted_on_any_scale(
    rng: np.random.Generator, scale: float, n_non: int
) -> None:
    """Means that lie three standard errors apart, whatever the unit of the scores."""
    low, high = rng.normal(0, 1, 40), rng.normal(0, 1, n_non)
    low, high = (low - low.mean()) / low.std(), (high - high.mean()) / high.std()
    some = high[:: high.size // _SAMPLE + 1]
    error = math.sqrt(1 / 40 + some.var() / some.size)
    for gap, expected in ((3.1, True), (2.9, False), (-3.1, False)):
        moved = high - some.mean() + gap * error
        assert _look_inverted(scale * low, scale * moved) == expected
    assert not _look_inverted(np.array([0.0, -np.inf] * 20), high)
    assert not _look_inverted(low[:5], high + 100)


def test_all_may_be_missed() -> None:
    """The highest target score, unless only rejecting all saves false alarms."""
    roc = ROC.from_scores([1.0, 4.0], [0.0, 2.0])
    assert (roc.threshold_at(pmiss=1.0), roc.threshold_at(pmiss=1.0).pmiss) == (4.0, 0.5)
    assert ROC.from_scores([1.0, 4.0], [0.0, 4.0]).threshold_at(pmiss=1.0) == np.inf
    assert ROC.from_scores([1.0], [0.0]).threshold_at(pmiss=1.0) == 1.0


@given(score_lists(), score_lists(), st.floats(0, 1))
def test_threshold_at_limits(tar: np.ndarray, non: np.ndarray, limit: float) -> None:
    roc = ROC.from_scores(tar, non)
    for name in ("pmiss", "pfa"):
        threshold = roc.threshold_at(**{name: limit})
        assert getattr(threshold, name) <= limit
        if threshold < np.inf:
            assert threshold.pmiss == np.mean(tar < threshold)
            assert threshold.pfa == np.mean(non >= threshold)
        other = "pfa" if name == "pmiss" else "pmiss"
        allowed = [
            (float(m), float(f))
            for m, f in [(Fraction(0), Fraction(1)), *naive_points(tar, non)]
            if float(m if name == "pmiss" else f) <= limit
        ]
        best = min(f if name == "pmiss" else m for m, f in allowed)
        assert getattr(threshold, other) == pytest.approx(best, abs=ATOL)


@given(score_lists(), score_lists())
def test_eer_threshold_is_minimax(tar: np.ndarray, non: np.ndarray) -> None:
    threshold = ROC.from_scores(tar, non).eer_threshold
    naive = min(
        max(float(m), float(f)) for m, f in [(Fraction(0), Fraction(1)), *naive_points(tar, non)]
    )
    assert max(threshold.pmiss, threshold.pfa) == pytest.approx(naive, abs=ATOL)


@given(score_lists(), score_lists(), priors)
def test_min_dcf_threshold_attains_the_minimum(
    tar: np.ndarray, non: np.ndarray, prior: float
) -> None:
    hull = ROC.from_scores(tar, non).convex_hull()
    threshold = hull.min_dcf_threshold(prior)
    attained = prior * threshold.pmiss + (1 - prior) * threshold.pfa
    assert attained == pytest.approx(hull.min_dcf(prior), rel=1e-14, abs=ATOL)
    if threshold < np.inf:
        assert threshold.pmiss == np.mean(tar < threshold)
        assert threshold.pfa == np.mean(non >= threshold)


def test_gaussian_scores_have_the_textbook_eer(rng: np.random.Generator) -> None:
    """Targets N(s^2/2, s^2) and non-targets N(-s^2/2, s^2): EER = Phi(-s/2)."""
    s, n = 2.0, 200_000
    tar, non = rng.normal(s**2 / 2, s, n), rng.normal(-(s**2) / 2, s, n)
    expected = norm.cdf(-s / 2)
    # Four binomial standard errors; the two rates vary independently.
    tolerance = 4 * np.sqrt(expected * (1 - expected) / (2 * n))
    assert eer(tar, non) == pytest.approx(expected, abs=tolerance)
    assert auc(tar, non) == pytest.approx(norm.cdf(s / np.sqrt(2)), abs=4 / np.sqrt(n))


def test_small_cases_by_hand() -> None:
    hull = ROC.from_scores([1, 2, 3], [0, 2]).convex_hull()
    # Vertices (pmiss, pfa): (0, 1), (0, 1/2), (2/3, 0), (1, 0).
    assert hull.misses.tolist() == [0, 0, 2, 3]
    assert hull.false_alarms.tolist() == [2, 1, 0, 0]
    # On the edge from (0, 1/2) to (2/3, 0): p = 1/2 - 3/4 p, so p = 2/7.
    assert hull.eer == pytest.approx(2 / 7, abs=ATOL)
    # Misses m and false alarms 1 - m/2 are equal at 2/3.
    assert hull.prbep == pytest.approx(2 / 3, abs=ATOL)
    np.testing.assert_allclose(hull.llr, [-np.inf, np.log(4 / 3), np.inf], rtol=1e-15)


def test_perfect_useless_and_inverted_systems() -> None:
    perfect = ROC.from_scores([2.0, 3.0], [0.0, 1.0])
    assert perfect.convex_hull().eer == 0.0
    assert perfect.auc == 1.0
    assert perfect.convex_hull().prbep == 0.0
    useless = ROC.from_scores([1.0, 1.0], [1.0])
    assert useless.convex_hull().eer == 0.5
    assert useless.auc == 0.5
    assert useless.convex_hull().llr.tolist() == [0.0]
    inverted = ROC.from_scores([0.0], [1.0])
    assert inverted.convex_hull().eer == 0.5
    assert inverted.auc == 0.0


def test_float32_and_float64_scores_mix() -> None:
    """0.1 in float32 lies above 0.1 in float64: the comparison is exact, in float64."""
    single = np.array([0.1], dtype=np.float32)
    assert ROC.from_scores(single, [0.1]).auc == 1.0
    assert ROC.from_scores([0.1], single).auc == 0.0
    assert ROC.from_scores(single, single).auc == 0.5
    many = np.repeat(single, 100)
    assert ROC.from_scores([0.1], many).auc == 0.0


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1), st.floats(allow_nan=False))
def test_float32_scores_are_compared_in_float64(scores: list[float], threshold: float) -> None:
    ordered = SortedScores.from_scores(np.array(scores, dtype=np.float32), name="tar")
    exact = np.array(scores, dtype=np.float64)
    assert ordered.count_below(threshold) == np.sum(exact < threshold)
    assert ordered.count_up_to(threshold) == np.sum(exact <= threshold)


def test_threshold_is_a_float_that_survives_copying() -> None:
    threshold = Threshold(1.5, pmiss=0.25, pfa=0.5)
    for twin in (copy.deepcopy(threshold), pickle.loads(pickle.dumps(threshold))):
        assert twin == 1.5
        assert (twin.pmiss, twin.pfa) == (0.25, 0.5)
    assert isinstance(threshold, float)


def test_arrays_cannot_be_changed() -> None:
    roc = ROC.from_scores([1.0, 2.0], [0.0, 1.5])
    hull = roc.convex_hull()
    for array in (
        *(roc.target_scores, roc.tar_at, roc.non_at, roc.non_between),
        *(roc.thresholds, roc.pmiss, roc.pfa, hull.thresholds, hull.llr, hull.pfa, hull.pmiss),
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_copies_stay_read_only() -> None:
    roc = ROC.from_scores([1.0, 2.0], [0.0, 1.5], tar_weights=[1.0, 0.5])
    for original in (roc, roc.convex_hull(), SortedScores.from_scores([1.0], name="a")):
        for twin in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
            for field in attrs.fields(type(original)):
                array = getattr(twin, field.name)
                np.testing.assert_array_equal(array, getattr(original, field.name))
                assert array is None or not array.flags.writeable


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda roc: roc.threshold_at(), "exactly one of them; got neither"),
        (lambda roc: roc.threshold_at(pmiss=0.1, pfa=0.1), "exactly one of them; got both"),
        (lambda roc: roc.threshold_at(pfa=5), r"lie in \[0, 1\]; got 5. Percentages"),
        (lambda roc: roc.threshold_at(pfa="x"), "be a number; got 'x'"),
        (lambda roc: roc.convex_hull().unequal_error_rate(0.0), "positive, finite"),
        (lambda roc: roc.convex_hull().min_dcf_threshold([0.1, 0.2]), "one probability"),
        (lambda roc: roc + ROC.from_scores([5.0, 6.0], [1.0]), "same target scores"),
        (lambda roc: ROC.at_target_scores([1.0, 1.0], [], []), "strictly ascending"),
        (lambda roc: ROC.at_target_scores([1.0], [2.0], []), "among `target_scores`"),
    ],
)
def test_bad_calls(call, message: str) -> None:
    roc = ROC.from_scores([1.0, 2.0], [0.0, 1.5])
    with pytest.raises(InvalidInputError, match=message):
        call(roc)


@pytest.mark.parametrize("decimals", [1, 9])
def test_fractional_weights_move_no_corner_by_rounding(
    rng: np.random.Generator, decimals: int
) -> None:
    """Weights in steps of 1/7, 0.1 and 0.3: a rate falls by far more than rounding, or not."""
    for _ in range(20):
        scores = [np.round(rng.normal(mean, 1, 60), decimals) for mean in (1, 0)]
        weights = [rng.choice([0.1, 0.3, 1 / 7], 60) for _ in scores]
        roc = ROC.from_scores(*scores, tar_weights=weights[0], non_weights=weights[1])
        for steps in (np.diff(roc.pmiss), -np.diff(roc.pfa)):
            assert np.all((steps == 0) | (steps > 1e-3))
        assert np.all(np.diff(roc.thresholds) > 0)


@pytest.mark.slow
def test_small_rates_of_fractional_weights_are_exact_sums() -> None:
    """Weights of 1e-12 beside 1e5 others: a difference of running totals would be noise.

    Against exact fractions; every way to the same rates.
    """
    rng = np.random.default_rng(3)
    tar = np.concatenate((rng.normal(2.0, 1.0, 2000), [-30.0, -29.0, 30.0, 31.0]))
    non = np.concatenate((rng.normal(0.0, 1.0, 100_000), [29.5, 30.5, 30.5, -29.5]))
    tar_weights, non_weights = np.full(tar.size, 0.1), np.full(non.size, 1 / 3)
    tar_weights[-4:], non_weights[-4:] = 1e-12 / 3, 1e-12 / 7
    weights = {"tar_weights": tar_weights, "non_weights": non_weights}
    limits = [-29.0, -28.0, 29.0, 30.0, 30.5, 31.0]

    def exact(scores, masses, chosen) -> float:
        total = sum(map(Fraction, masses.tolist()))
        return float(sum(map(Fraction, masses[chosen(scores)].tolist())) / total)

    pmiss = [exact(tar, tar_weights, lambda s, t=t: s < t) for t in limits[:2]]
    pfa = [exact(non, non_weights, lambda s, t=t: s >= t) for t in limits[2:]]
    results = Results(tar, non, **weights)
    answers = [error_rates_at(tar, non, limits, **weights)]
    # After some questions the non-targets are sorted.
    answers += [results.error_rates_at(limits) for _ in range(20)]
    for misses, alarms in answers:
        np.testing.assert_allclose(misses[:2], pmiss, rtol=4e-15)
        np.testing.assert_allclose(alarms[2:], pfa, rtol=4e-15)
    ordered = sort_classes(tar, non, tar_weights, non_weights)
    for roc in (results.roc, ROC.from_sorted(*ordered)):
        for limit, rate in zip((30.0, 31.0), (pfa[1], pfa[3]), strict=True):
            place = np.flatnonzero(roc.thresholds == limit)[0]
            assert roc.pfa[place] == pytest.approx(rate, rel=4e-15)
        place = np.flatnonzero(roc.thresholds == np.nextafter(-29.0, 0.0))[0]
        assert roc.pmiss[place] == pytest.approx(pmiss[1], rel=4e-15)


@pytest.mark.parametrize("largest", [np.inf, np.finfo(np.float64).max])
def test_largest_scores_swap_with_the_classes(largest: float) -> None:
    tar = np.array([-largest, -1.0, 0.0, 1.0, 2.0, largest, largest, 3.0])
    non = np.array([-largest, 0.5, largest])
    hull = ROC.from_scores(tar, non).convex_hull()
    assert bosaris_py.eer(tar, non) == hull.eer
    for found, expected in zip(
        bosaris_py.optimal_llrs(tar, non), (hull.llr_of(tar), hull.llr_of(non)), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


@given(weighted_scores(), weighted_scores())
def test_target_scores_without_weight_change_no_curve(tar, non) -> None:
    """As a part has them that is counted at the target scores of the whole."""
    values = np.unique(tar[0])
    weights = {"tar_weights": tar[1], "non_weights": non[1]}
    part = ROC.at_target_scores(values, tar[0], non[0], **weights)
    alone = ROC.from_scores(tar[0], non[0], **weights)
    np.testing.assert_array_equal(part.pmiss, alone.pmiss)
    np.testing.assert_array_equal(part.pfa, alone.pfa)
    for definition in ("rocch", "interpolated", "step"):
        assert part.equal_error_rate(definition) == alone.equal_error_rate(definition)
    assert part.eer_threshold == alone.eer_threshold
    assert part.auc == alone.auc


@given(st.lists(st.tuples(score_lists(), score_lists()), min_size=1, max_size=4))
def test_eer_of_points_without_a_hull(classes: list) -> None:
    """The search for the prior finds what the hull says, for one curve and for many."""
    rocs = [ROC.from_scores(tar, non) for tar, non in classes]
    size = max(roc.pmiss.size for roc in rocs)
    pmiss = np.stack([np.pad(roc.pmiss, (0, size - roc.pmiss.size), mode="edge") for roc in rocs])
    pfa = np.stack([np.pad(roc.pfa, (0, size - roc.pfa.size), mode="edge") for roc in rocs])
    eers, priors = eers_of_hulls(pmiss, pfa)
    for i, roc in enumerate(rocs):
        expected = roc.convex_hull().eer
        assert eer_of_hull(roc.pmiss, roc.pfa) == pytest.approx(expected, rel=1e-12, abs=1e-13)
        assert eers[i] == pytest.approx(expected, rel=1e-12, abs=1e-13)
        # The EER is the least cost at this prior.
        least = (priors[i] * roc.pmiss + (1 - priors[i]) * roc.pfa).min()
        assert least == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_eer_of_one_point_is_on_its_line_to_a_useless_decision() -> None:
    # The lines from (pmiss, pfa) to (0, 1) and to (1, 0) meet the diagonal there.
    assert eer_of_hull(np.array([0.5]), np.array([0.25])) == pytest.approx(0.4, rel=1e-15)
    assert eer_of_hull(np.array([0.25]), np.array([0.5])) == pytest.approx(0.4, rel=1e-15)


def test_the_search_for_an_eer_ends_where_rounding_hides_the_least_cost() -> None:
    """The line from far away meets the diagonal by 3e-14 of the value too high."""
    hexadecimal = "0x1.00488aa94bb8ep-11", "0x1.00401222aa52fp-1"
    pmiss = np.array([0.0, *map(float.fromhex, hexadecimal), 1.0])
    pfa = np.array([float.fromhex("0x1.2492492492490p-3"), 0.0, 0.0, 0.0])
    exact = pfa[0] * pmiss[1] / (pfa[0] + pmiss[1])
    assert eers_of_hulls(pmiss[None], pfa[None])[0] == pytest.approx(exact, rel=1e-12)
    assert eer_of_hull(pmiss, pfa) == pytest.approx(exact, rel=1e-12)
