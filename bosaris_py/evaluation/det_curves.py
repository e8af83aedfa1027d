"""Points of ROC curves chosen so that a DET plot of them is right and small.

A DET plot shows both error-rates through the probit, the inverse of the
standard normal distribution function. All functions here take and return
error-rates; distances and cells below are measured in probits.
"""

import numpy as np
import numpy.typing as npt
from scipy import special

from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.rocch import ROCCH

__all__ = ["hull_points", "steppy_points"]

Float64Array = npt.NDArray[np.float64]
Limits = tuple[float, float]

# Up to this many vertices are drawn as they are.
_FEW_VERTICES = 10_000
# Side of a cell, as a share of the window's: on a plot of 15 cm about 0.02 mm, a dot of a
# 1200 dpi printer. Outside the window cells are larger; they matter only after zooming out.
_CELLS_IN_WINDOW = 8192
_CELLS_OUTSIDE = 1024
# Largest step between neighbouring points of a curved stroke, as a share of the window.
_STEPS_IN_WINDOW = 500
# Probabilities nearer to 0 or 1 than this probit (1e-16) lie past the edge of any plot.
_FARTHEST = 8.2


def steppy_points(
    roc: ROC, pfa_limits: Limits, pmiss_limits: Limits
) -> tuple[Float64Array, Float64Array]:
    """Return points of the steppy ROC, enough for a DET plot in a window.

    Of small curves these are all vertices; of large ones an exact subset, whose
    picture cannot be told from that of all. No vertex is ever moved or averaged.

    Parameters
    ----------
    roc : ROC
        The curve.
    pfa_limits, pmiss_limits : (float, float)
        The window, within (0, 1).

    Returns
    -------
    pfa, pmiss : (m,) ndarray of float64
        From (1, 0) to (0, 1), both included.

    Notes
    -----
    Above 10,000 vertices, the plane is cut into cells, 8192 of them along each side
    of the window and 1024 to the same length outside; of the vertices in a cell
    the first and the last are kept. A ROC falls monotonically, so what is left
    out between these two lies in the same cell, and the two curves nowhere
    differ by more than the size of a cell. At most 2 x (8192 + 8192) vertices
    remain in the window. Cells are found by binary search of their borders
    in the error-rates, O(cells log n) time.

    The step of a group of equal scores of both classes is straight in the
    error-rates, but curved in a DET plot. Where such a step is longer than 1/500
    of the window, points along it are added, as in `hull_points`; a straight
    stroke would run below the convex hull, where no detector can be.
    """
    pfa, pmiss = roc.pfa, roc.pmiss
    if pfa.size > _FEW_VERTICES:
        kept = _ends_in_cells(pfa, pmiss, pfa_limits, pmiss_limits)
        pfa, pmiss = pfa[kept], pmiss[kept]
    return _with_curved_strokes(pfa, pmiss, pfa_limits, pmiss_limits)


def hull_points(
    hull: ROCCH, pfa_limits: Limits, pmiss_limits: Limits
) -> tuple[Float64Array, Float64Array]:
    """Return points along the ROC's convex hull, dense enough for a DET plot in a window.

    The edges of the hull are straight in the error-rates but curved in their probits.

    Parameters
    ----------
    hull : ROCCH
        The hull.
    pfa_limits, pmiss_limits : (float, float)
        The window, within (0, 1), which sets the density.

    Returns
    -------
    pfa, pmiss : (m,) ndarray of float64
        From (1, 0) to (0, 1), all vertices of the hull among them.

    Notes
    -----
    Points are equally spaced in the probit of pfa, and further ones in that of
    pmiss, so that neither axis makes a step of more than 1/500 of the window and steep
    parts are as smooth as flat ones. (The toolkit's ``rocchdet.m`` takes 100
    steps of equal pfa for each edge and keeps what lies in the window.)
    """
    return _with_curved_strokes(hull.pfa, hull.pmiss, pfa_limits, pmiss_limits)


def _ends_in_cells(
    pfa: Float64Array, pmiss: Float64Array, pfa_limits: Limits, pmiss_limits: Limits
) -> npt.NDArray[np.intp]:
    """Return the indices of the first and last vertex in each cell of the plane."""
    entries = np.concatenate(
        (
            [0],
            # First vertex below each border, for rates that fall from 1 to 0.
            pfa.size - np.searchsorted(pfa[::-1], _cell_borders(pfa_limits)),
            np.searchsorted(pmiss, _cell_borders(pmiss_limits)),
        )
    )
    entries = entries[entries < pfa.size]
    return np.unique(np.concatenate((entries, entries[entries > 0] - 1, [pfa.size - 1])))


def _cell_borders(limits: Limits) -> Float64Array:
    """Return the borders of the cells along one axis, as ascending rates."""
    low, high = special.ndtri(limits)
    coarse = (high - low) / _CELLS_OUTSIDE
    below = np.arange(low, -_FARTHEST, -coarse)[:0:-1]
    above = np.arange(high, _FARTHEST, coarse)[1:]
    inside = np.linspace(low, high, _CELLS_IN_WINDOW + 1)
    return np.asarray(special.ndtr(np.concatenate((below, inside, above))))


def _with_curved_strokes(
    pfa: Float64Array, pmiss: Float64Array, pfa_limits: Limits, pmiss_limits: Limits
) -> tuple[Float64Array, Float64Array]:
    """Add points along strokes that are visibly curved on probit scales."""
    pfa_step = _step(pfa_limits)
    pmiss_step = _step(pmiss_limits)
    x, y = _probits(pfa), _probits(pmiss)
    slanted = (np.diff(x) != 0) & (np.diff(y) != 0)
    long = (np.abs(np.diff(x)) > pfa_step) | (np.abs(np.diff(y)) > pmiss_step)
    pieces, done = [], 0
    for i in np.flatnonzero(slanted & long).tolist():
        ends = slice(i, i + 2)
        pieces.append(np.stack((pfa[done : i + 1], pmiss[done : i + 1])))
        pieces.append(_points_between(pfa[ends], pmiss[ends], pfa_step, pmiss_step))
        done = i + 1
    pieces.append(np.stack((pfa[done:], pmiss[done:])))
    points = np.concatenate(pieces, axis=1)
    return points[0], points[1]


def _step(limits: Limits) -> float:
    low, high = special.ndtri(limits)
    return float(high - low) / _STEPS_IN_WINDOW


def _probits(rates: Float64Array) -> Float64Array:
    return np.asarray(np.clip(special.ndtri(rates), -_FARTHEST, _FARTHEST))


def _points_between(
    pfa: Float64Array, pmiss: Float64Array, pfa_step: float, pmiss_step: float
) -> Float64Array:
    """Return points on the straight line between two vertices, without these: (2, n)."""
    by_pfa = _between(pfa, pfa_step)
    by_pmiss = _between(pmiss, pmiss_step)
    points = np.concatenate(
        (
            [by_pfa, _along(by_pfa, pfa, pmiss)],
            [_along(by_pmiss, pmiss, pfa), by_pmiss],
        ),
        axis=1,
    )
    # Each rate by itself, so that rounding cannot make the curve go back.
    return np.stack((np.sort(points[0])[::-1], np.sort(points[1])))


def _between(ends: Float64Array, step: float) -> Float64Array:
    """Return rates strictly between two, equally spaced in probits."""
    first, last = _probits(ends)
    n_steps = int(np.ceil(abs(last - first) / step))
    rates = special.ndtr(np.linspace(first, last, n_steps + 1)[1:-1])
    # Between neighbouring floating-point numbers there is nothing to sample.
    return np.asarray(rates[(rates > ends.min()) & (rates < ends.max())])


def _along(rates: Float64Array, ends: Float64Array, other_ends: Float64Array) -> Float64Array:
    """Return the other error-rate on the straight line through both ends."""
    share = (rates - ends[0]) / (ends[1] - ends[0])
    return np.asarray((1.0 - share) * other_ends[0] + share * other_ends[1])
