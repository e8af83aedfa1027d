"""The hull: vertices as exact fractions, its numbers, and the same numbers of many curves."""

import copy
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import ROC, ROCCH, OperatingPoint, Threshold
from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics import hull as tested
from tests.score_strategies import naive_hull, naive_points, priors, score_lists

curves = st.lists(st.tuples(score_lists(), score_lists()), min_size=1, max_size=4)


def hull_of(tar: object, non: object) -> ROCCH:
    return ROC.from_scores(tar, non).convex_hull()


def all_points(tar: np.ndarray, non: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    return [(Fraction(0), Fraction(1)), *naive_points(tar, non)]


def test_small_cases_by_hand() -> None:
    """Vertices (0, 1), (0, 1/2), (2/3, 0), (1, 0): p = 1/2 - 3/4 p, so p = 2/7."""
    hull = hull_of([1, 2, 3], [0, 2])
    assert (hull.misses.tolist(), hull.false_alarms.tolist()) == ([0, 0, 2, 3], [2, 1, 0, 0])
    assert hull.thresholds.tolist() == [-np.inf, 1.0, 3.0, np.inf]
    assert hull.eer == pytest.approx(2 / 7, rel=1e-15)
    # Misses m and false alarms 1 - m/2 are equal at 2/3.
    assert hull.prbep == pytest.approx(2 / 3, rel=1e-15)
    np.testing.assert_allclose(hull.llr, [-np.inf, np.log(4 / 3), np.inf], rtol=1e-15)
    # 2/3 of the targets, 1/2 of the non-targets: (2/3 log(7/4) + 1/2 log(7/3)) / 2 log 2.
    bits = (2 / 3 * np.log(7 / 4) + np.log(7 / 3) / 2) / (2 * np.log(2))
    assert hull.min_cllr == pytest.approx(bits, rel=1e-14)
    assert repr(hull).startswith("ROCCH: 4 vertices")
    assert hull.min_dcf(0.5) == 0.5
    assert hull.min_dcf(0.5, normalize=False) == 0.25
    best = hull.min_dcf_threshold(0.5)
    assert (best, best.pmiss, best.pfa) == (1.0, 0.0, 0.5)
    found = hull.llr_of(np.array([0.5, 1.0, 2.9, 3.0]))
    assert found.tolist() == [-np.inf, *[hull.llr[1]] * 2, np.inf]


@given(score_lists(), score_lists())
def test_vertices_are_exact(tar: np.ndarray, non: np.ndarray) -> None:
    hull = hull_of(tar, non)
    found = [
        (Fraction(m, tar.size), Fraction(f, non.size))
        for m, f in zip(hull.misses.tolist(), hull.false_alarms.tolist(), strict=True)
    ]
    assert found == naive_hull(tar, non)
    edges = [(m1 - m0, f0 - f1) for (m0, f0), (m1, f1) in itertools.pairwise(found)]
    bits = [float(m) * math.log1p(f / m) + float(f) * math.log1p(m / f) for m, f in edges if m * f]
    assert hull.min_cllr == pytest.approx(math.fsum(bits) / math.log(4), rel=1e-12, abs=1e-15)
    for threshold, pmiss, pfa in zip(hull.thresholds[:-1], hull.pmiss, hull.pfa, strict=False):
        assert (pmiss, pfa) == (np.mean(tar < threshold), np.mean(non >= threshold))


@given(score_lists(), score_lists(), st.floats(0.01, 100))
def test_error_rates_are_the_largest_least_costs(tar, non, ratio: float) -> None:
    """Theory paper, equations (26), (28), (29): at a prior where an edge is indifferent."""
    hull = hull_of(tar, non)
    finite = hull.llr[np.isfinite(hull.llr)]

    def largest(miss: float) -> float:
        odds = np.exp(-finite) / miss
        points = [OperatingPoint(p, miss, 1.0) for p in odds / (1 + odds) if 0 < p < 1]
        return max((float(hull.min_dcf(p, normalize=False)) for p in points), default=0.0)

    assert hull.eer == pytest.approx(largest(1.0), abs=1e-12)
    assert hull.unequal_error_rate(ratio) == pytest.approx(largest(ratio), rel=1e-9, abs=1e-12)
    expected = non.size * hull.unequal_error_rate(tar.size / non.size)
    assert hull.prbep == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(score_lists(), score_lists(), priors)
def test_the_threshold_of_least_cost_attains_it(tar, non, prior: float) -> None:
    hull = hull_of(tar, non)
    best = hull.min_dcf_threshold(prior)
    least = min(prior * float(m) + (1 - prior) * float(f) for m, f in all_points(tar, non))
    assert hull.min_dcf(prior, normalize=False) == pytest.approx(least, rel=1e-12, abs=1e-15)
    assert prior * best.pmiss + (1 - prior) * best.pfa == pytest.approx(least, rel=1e-12, abs=1e-15)


@given(score_lists(), score_lists())
def test_pools_hold_the_scores_between_their_ends(tar: np.ndarray, non: np.ndarray) -> None:
    hull = hull_of(tar, non)
    lowest, highest, _ = tested.pav_bins(hull, np.sort(tar), np.sort(non))
    scores = np.unique(np.concatenate((tar, non)))
    pools = np.searchsorted(hull.thresholds[1:-1], scores, side="right")
    for pool, (low, high) in enumerate(zip(lowest, highest, strict=True)):
        assert (low, high) == (scores[pools == pool].min(), scores[pools == pool].max())


near = st.integers(-9, 9)


@given(near, near, near)
def test_turns_hidden_by_rounding_are_exact(i: int, j: int, k: int) -> None:
    """Cross products of 2**80 that differ by k (i - j), less than a float shows."""
    dx, dy = [2**40 + i, 2**40 + i + k], [2**40 + j, 2**40 + j + k]
    x, y = np.cumsum([0, *dx]), sum(dy) - np.cumsum([0, *dy])
    assert tested._convex(x, y).tolist() == [dx[0] * dy[1] < dy[0] * dx[1]]


def test_a_smooth_arc_needs_the_scan() -> None:
    """A long convex arc collapses point by point from one end; the answer is still exact."""
    n = 300
    tar = np.arange(n, dtype=float)
    gaps = np.repeat(tar - 0.5, np.arange(n, 0, -1))
    assert hull_of(tar, gaps).misses.tolist() == [0, *range(n + 1)]
    heap = np.concatenate((gaps, np.full(5000 * n, n + 1.0)))
    assert hull_of(tar, heap).misses.tolist() == [0, 0, n]
    assert tested._scan_hull([0, 1, 2, 3], [3, 2, 1, 0]) == [0, 3]


def rates(classes: list) -> tuple[np.ndarray, np.ndarray]:
    """Rows of points at all scores, the last one repeated."""
    rows = [list(zip(*all_points(tar, non), strict=True)) for tar, non in classes]
    size = max(len(row[0]) for row in rows)
    found = [
        [np.pad(np.array(r, float), (0, size - len(r)), mode="edge") for r in row] for row in rows
    ]
    pmiss, pfa = np.moveaxis(np.array(found), 1, 0)
    return pmiss, pfa


@given(curves, priors)
def test_rows_have_the_numbers_of_each_curve(classes: list, prior: float) -> None:
    pmiss, pfa = rates(classes)
    hulls = [hull_of(tar, non) for tar, non in classes]
    eers, at = tested.hull_eers(pmiss, pfa)
    assert eers == pytest.approx([hull.eer for hull in hulls], rel=1e-12, abs=1e-13)
    # The EER is the least cost at this prior.
    least = (at[:, None] * pmiss + (1 - at[:, None]) * pfa).min(axis=1)
    assert least == pytest.approx(eers, rel=1e-12, abs=1e-13)
    costs = tested.min_costs(pmiss, pfa, prior, 1 - prior)
    expected = [float(hull.min_dcf(prior, normalize=False)) for hull in hulls]
    assert costs == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert tested.min_cllrs(pmiss, pfa) == pytest.approx([h.min_cllr for h in hulls], abs=1e-13)
    assert tested.areas(pmiss, pfa) == pytest.approx(
        [ROC.from_scores(*one).auc for one in classes], rel=1e-13
    )


def crossing(points: list) -> Fraction:
    """Where straight lines between the points meet pmiss = pfa."""
    for (m0, f0), (m1, f1) in itertools.pairwise(points):
        if m1 >= f1:
            rise = (m1 - m0) + (f0 - f1)
            return m1 if rise == 0 else (m0 * (f0 - f1) + f0 * (m1 - m0)) / rise
    raise AssertionError


@given(curves)
def test_steppy_rates_are_those_of_the_points(classes: list) -> None:
    pmiss, pfa = rates(classes)
    expected = [float(crossing(all_points(*one))) for one in classes]
    assert tested.steppy_eers(pmiss, pfa, "interpolated") == pytest.approx(expected, abs=1e-15)
    for found, one in zip(tested.steppy_eers(pmiss, pfa, "step"), classes, strict=True):
        points = all_points(*one)
        nearest = min(abs(m - f) for m, f in points)
        least = min((m + f) / 2 for m, f in points if abs(m - f) == nearest)
        assert found == pytest.approx(float(least), abs=1e-15)


def test_the_search_for_an_eer_ends_where_rounding_hides_the_least_cost() -> None:
    """The line from far away meets the diagonal by 3e-14 of the value too high."""
    pmiss = np.array(
        [0.0, *map(float.fromhex, ("0x1.00488aa94bb8ep-11", "0x1.00401222aa52fp-1")), 1]
    )
    pfa = np.array([float.fromhex("0x1.2492492492490p-3"), 0.0, 0.0, 0.0])
    exact = pfa[0] * pmiss[1] / (pfa[0] + pmiss[1])
    assert tested.hull_eers(pmiss[None], pfa[None])[0] == pytest.approx(exact, rel=1e-12)


def test_a_threshold_is_a_float_that_survives_copying() -> None:
    threshold = Threshold(1.5, pmiss=0.25, pfa=0.5)
    for twin in (copy.deepcopy(threshold), pickle.loads(pickle.dumps(threshold))):
        assert (twin, twin.pmiss, twin.pfa) == (1.5, 0.25, 0.5)
        assert repr(twin) == "Threshold(1.5, pmiss=0.25, pfa=0.5)"


@pytest.mark.parametrize(
    "call", [lambda h: h.unequal_error_rate(0.0), lambda h: h.min_dcf_threshold([0.1, 0.2])]
)
def test_bad_calls(call) -> None:
    with pytest.raises(InvalidInputError):
        call(hull_of([1.0], [0.0]))
