"""Points for DET plots: exact vertices, few of them, and smooth curves along the hull."""

from pathlib import Path

import numpy as np
import pytest
from scipy import special

from bosaris_py.evaluation.curves import hull_points, steppy_points
from bosaris_py.numerics import ROC

OLD = ((5e-4, 0.5), (5e-4, 0.5))
SRE10 = ((3e-6, 0.5), (3e-4, 0.9))
# Sets of the oracle in which no target has the score of a non-target, and those where one has.
WITHOUT_TIES = [
    "few_targets",
    "gauss",
    "inverted",
    "mini_1t_1n",
    "mini_1t_1n_inv",
    "mini_1t_2n",
    "mini_ordered",
    "mini_overlap",
    "separated",
]
WITH_TIES = ["constant", "constant_shifted", "integer", "mini_tie", "ties"]


def _load(oracle: Path, name: str) -> dict[str, np.ndarray]:
    with np.load(oracle / f"stats_{name}.npz") as file:
        return {key: np.atleast_1d(file[key]) for key in file.files}


def _on_polyline(pfa: np.ndarray, pmiss: np.ndarray, roc: ROC) -> np.ndarray:
    """Distance in the error-rates of each point to the nearest stroke of a ROC."""
    start = np.stack((roc.pfa[:-1], roc.pmiss[:-1]), axis=1)
    stroke = np.stack((roc.pfa[1:], roc.pmiss[1:]), axis=1) - start
    points = np.stack((pfa, pmiss), axis=1)[:, None, :]
    share = ((points - start) * stroke).sum(axis=2) / (stroke**2).sum(axis=1)
    nearest = start + np.clip(share, 0, 1)[:, :, None] * stroke
    return np.sqrt(((points - nearest) ** 2).sum(axis=2)).min(axis=1)


def _pairs(pfa: np.ndarray, pmiss: np.ndarray) -> set[tuple[float, float]]:
    return set(zip(pfa.tolist(), pmiss.tolist(), strict=True))


@pytest.fixture(scope="module")
def large() -> ROC:
    rng = np.random.default_rng(3)
    return ROC.from_scores(rng.normal(1, 1, 200_000), rng.normal(0, 1, 300_000)).corners()


@pytest.mark.parametrize("name", WITHOUT_TIES)
def test_steppy_points_are_the_toolkits_vertices(oracle: Path, name: str) -> None:
    record = _load(oracle, name)
    pfa, pmiss = steppy_points(ROC.from_scores(record["tar"], record["non"]), *OLD)
    np.testing.assert_array_equal(pfa, record["filter_roc_pfa"])
    np.testing.assert_array_equal(pmiss, record["filter_roc_pmiss"])


@pytest.mark.parametrize("name", WITH_TIES)
def test_tied_scores_make_one_stroke_straight_in_the_rates(oracle: Path, name: str) -> None:
    # The toolkit walks through a group of equal scores target by target; here it is one
    # stroke from its first to its last point, so the vertices are some of the toolkit's.
    record = _load(oracle, name)
    roc = ROC.from_scores(record["tar"], record["non"]).corners()
    pfa, pmiss = steppy_points(roc, *OLD)
    vertices = _pairs(roc.pfa, roc.pmiss)
    assert vertices <= _pairs(record["roc_pfa"], record["roc_pmiss"])
    assert vertices <= _pairs(pfa, pmiss)
    # A handful of roundings of numbers up to 1.
    assert _on_polyline(pfa, pmiss, roc).max() < 1e-15
    assert (np.diff(pfa) <= 0).all()


def test_large_curve_keeps_an_exact_subset_of_the_vertices(large: ROC) -> None:
    pfa, pmiss = steppy_points(large, *OLD)
    index = np.searchsorted(large.pmiss, pmiss)
    assert _pairs(pfa, pmiss) <= _pairs(large.pfa, large.pmiss)
    assert (pfa[0], pmiss[0], pfa[-1], pmiss[-1]) == (1.0, 0.0, 0.0, 1.0)
    assert index.size < 2 * (8192 + 8192) < large.pfa.size / 5


def test_what_is_left_out_of_a_large_curve_cannot_be_seen(large: ROC) -> None:
    pfa, pmiss = steppy_points(large, *OLD)
    kept = np.isin(large.pfa + 2.0 * large.pmiss, pfa + 2.0 * pmiss)
    kept &= np.isin(large.pmiss, pmiss) & np.isin(large.pfa, pfa)
    positions = np.flatnonzero(kept)
    first, last = positions[:-1], positions[1:]
    skipping = last - first > 1
    first, last = first[skipping], last[skipping]
    assert first.size
    x, y = special.ndtri(large.pfa), special.ndtri(large.pmiss)
    low, high = special.ndtri(OLD[0])
    # Cells have the 8192th part of the window inside it and the 1024th outside; twice the
    # rounding of probits up to 5 is added.
    inside_x = (x[first] < high) & (x[last] > low)
    inside_y = (y[last] < high) & (y[first] > low)
    for distance, inside in ((x[first] - x[last], inside_x), (y[last] - y[first], inside_y)):
        cell = (high - low) / np.where(inside, 8192, 1024)
        assert (distance <= cell + 1e-14).all()


@pytest.mark.parametrize("window", [OLD, SRE10])
def test_hull_points_lie_on_the_hull_and_hold_its_vertices(
    oracle: Path, window: tuple[tuple[float, float], tuple[float, float]]
) -> None:
    record = _load(oracle, "gauss")
    hull = ROC.from_scores(record["tar"], record["non"]).convex_hull()
    pfa, pmiss = hull_points(hull, *window)
    assert _pairs(hull.pfa, hull.pmiss) <= _pairs(pfa, pmiss)
    on_hull = np.interp(pfa, hull.pfa[::-1], hull.pmiss[::-1])
    between = (pfa > 0) & (pfa < hull.pfa[hull.pmiss == 0].min())
    # Interpolation on lines of slope up to some hundred; roundings grow by that factor.
    np.testing.assert_allclose(pmiss[between], on_hull[between], rtol=0, atol=1e-13)
    assert (np.diff(pfa) <= 0).all()
    # Roundings only: two points can be as near as two neighbouring numbers.
    assert (np.diff(pmiss) >= -1e-15).all()


def test_hull_points_make_small_steps(oracle: Path) -> None:
    record = _load(oracle, "gauss")
    hull = ROC.from_scores(record["tar"], record["non"]).convex_hull()
    pfa, pmiss = hull_points(hull, *OLD)
    x, y = (np.clip(special.ndtri(rates), -40, 40) for rates in (pfa, pmiss))
    # Farther out the rates are so near to 1 that they are rounded visibly in probits.
    finite = (np.abs(x) < 5) & (np.abs(y) < 5)
    together = finite[:-1] & finite[1:]
    largest = -special.ndtri(5e-4) / 500
    assert np.abs(np.diff(x)[together]).max() < largest * (1 + 1e-6)
    assert np.abs(np.diff(y)[together]).max() < largest * (1 + 1e-6)


@pytest.mark.parametrize(("key", "window"), [("old", OLD), ("sre10", SRE10)])
@pytest.mark.parametrize("name", [*WITHOUT_TIES, *WITH_TIES])
def test_toolkits_hull_points_lie_on_the_drawn_curve(
    oracle: Path, name: str, key: str, window: tuple[tuple[float, float], tuple[float, float]]
) -> None:
    record = _load(oracle, name)
    x, y = record[f"rocchdet_{key}_x"], record[f"rocchdet_{key}_y"]
    hull = ROC.from_scores(record["tar"], record["non"]).convex_hull()
    exact = np.interp(special.ndtr(x), hull.pfa[::-1], hull.pmiss[::-1])
    np.testing.assert_allclose(special.ndtr(y), exact, rtol=0, atol=1e-12)
    # The picture: points in probits, which matplotlib joins by straight strokes. Sagging
    # between points is far less than their distance, the 500th part of the window.
    pfa, pmiss = hull_points(hull, *window)
    drawn_x = np.clip(special.ndtri(pfa), -40, 40)[::-1]
    drawn_y = np.clip(special.ndtri(pmiss), -40, 40)[::-1]
    drawn = np.interp(x, drawn_x, drawn_y)
    side = special.ndtri(window[1][1]) - special.ndtri(window[1][0])
    np.testing.assert_allclose(y, drawn, rtol=0, atol=side / 500)


def test_window_without_any_of_the_curve_is_fine() -> None:
    roc = ROC.from_scores([1.0, 2.0], [-1.0, 0.0])
    assert _pairs(*steppy_points(roc, *OLD)) == {(1.0, 0.0), (0.0, 0.0), (0.0, 1.0)}
    assert _pairs(*hull_points(roc.convex_hull(), *OLD)) == {(1.0, 0.0), (0.0, 0.0), (0.0, 1.0)}


def test_useless_scores_make_the_straight_diagonal() -> None:
    # One group of equal scores: pmiss = 1 - pfa, a straight line through the origin of the
    # probits, y = -x.
    pfa, pmiss = steppy_points(ROC.from_scores([0.0] * 3, [0.0] * 5), *OLD)
    visible = (pfa > 5e-4) & (pfa < 0.5)
    assert np.count_nonzero(visible) > 500
    x, y = special.ndtri(pfa[visible]), special.ndtri(pmiss[visible])
    # Rates near 1 are rounded to 1e-16, and the probit's slope there reaches 600.
    np.testing.assert_allclose(y, -x, rtol=0, atol=1e-12)


def test_a_stroke_as_wide_as_rounding_does_not_go_back() -> None:
    roc = ROC.from_scores([0.0, 1.0, 2.0], [0.0, 1.0, 2.0], non_weights=[1.0, 1e-15, 1.0])
    pfa, pmiss = steppy_points(roc, *OLD)
    assert np.all(np.diff(pfa) <= 0)
    assert np.all(np.diff(pmiss) >= 0)
