"""Corrections of several p-values for their number: Holm, Benjamini and Yekutieli."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import BoolArray, Float64Array, Readable, mark_read_only
from bosaris_py._validation import as_vector, check_fraction, invalid

Correction = Literal["max-t", "holm", "by"]

# What a correction is called in the head of a column, and below a table.
HEADS: dict[Correction, str] = {"max-t": "max-t", "holm": "Holm", "by": "BY"}
WORDS: dict[Correction, str] = {
    "max-t": "largest t of all pairs, step-down",
    "holm": "Holm's correction",
    "by": "false discovery rate of Benjamini and Yekutieli",
}


@attrs.frozen(eq=False, repr=False)
class CorrectedPValues(metaclass=Readable):
    """Several p-values, corrected for their number.

    Parameters
    ----------
    p_values : (m,) ndarray of float64
        As given. Read-only.
    adjusted : (m,) ndarray of float64
        Corrected p-values: compare them with the level as if there was one test.
    significant : (m,) ndarray of bool
        Whether the corrected p-value is at most the level.
    level : float
        The accepted chance of at least one false alarm; with "by" the accepted mean share of false
        alarms among the significant tests.
    correction : {"max-t", "holm", "by"}
        How they were corrected.
    """

    p_values: Float64Array
    adjusted: Float64Array
    significant: BoolArray
    level: float
    correction: Correction = "holm"

    def __repr__(self) -> str:
        """Say how many tests are significant."""
        n_significant = int(np.count_nonzero(self.significant))
        return (
            f"CorrectedPValues: {n_significant} of {self.p_values.size} tests significant at level "
            f"{self.level:g} ({HEADS[self.correction]})"
        )


def compared(
    p_values: Float64Array, adjusted: Float64Array, level: float, correction: Correction
) -> CorrectedPValues:
    """Compare corrected p-values with the level."""
    arrays = mark_read_only(p_values), mark_read_only(adjusted)
    return CorrectedPValues(*arrays, mark_read_only(adjusted <= level), level, correction)


def holm_correction(p_values: npt.ArrayLike, *, level: float = 0.05) -> CorrectedPValues:
    r"""Correct the p-values of several tests such that hardly ever any is wrongly significant.

    Parameters
    ----------
    p_values : (m,) array_like of float
        Each in [0, 1], of tests that may depend on each other in any way.
    level : float, default: 0.05
        The chance of at least one false alarm that is accepted, in (0, 1).

    Returns
    -------
    CorrectedPValues

    See Also
    --------
    by_correction : Of many tests, where some false alarms are accepted.

    Notes
    -----
    In ascending order, :math:`\tilde p_{(i)} = \max_{j \le i} \min(1, (m-j+1)\, p_{(j)})`: S. Holm,
    Scandinavian Journal of Statistics 6, 1979. Never worse than Bonferroni's m p.

    Examples
    --------
    >>> result = holm_correction([0.01, 0.04, 0.03])
    >>> result.adjusted.tolist()
    [0.03, 0.06, 0.06]
    >>> result
    CorrectedPValues: 1 of 3 tests significant at level 0.05 (Holm)
    """

    def step_down(ascending: Float64Array) -> Float64Array:
        # Each times the tests still left, and not below the one before.
        scaled = ascending * np.arange(ascending.size, 0, -1)
        return np.asarray(np.maximum.accumulate(scaled))

    return _corrected(p_values, level, "holm", step_down)


def by_correction(p_values: npt.ArrayLike, *, level: float = 0.05) -> CorrectedPValues:
    r"""Correct the p-values of many tests such that few of the significant ones are wrong.

    For tables of many conditions. What is controlled is the false discovery rate: the mean share of
    false alarms among the significant tests.

    Parameters
    ----------
    p_values : (m,) array_like of float
        Each in [0, 1], of tests that may depend on each other in any way.
    level : float, default: 0.05
        The accepted false discovery rate, in (0, 1).

    Returns
    -------
    CorrectedPValues

    See Also
    --------
    holm_correction : Where hardly ever any false alarm is accepted.

    Notes
    -----
    In ascending order, :math:`\tilde p_{(i)} = \min_{j \ge i} \min(1, c\, m\, p_{(j)} / j)` with
    :math:`c = \sum_{k=1}^m 1/k`: Y. Benjamini and D. Yekutieli, Annals of Statistics 29, 2001,
    theorem 1.3, which holds under any dependence. Of few tests Holm's correction finds more: c is
    1.8 for three tests.

    Examples
    --------
    >>> result = by_correction([0.01, 0.02, 0.03])
    >>> result.adjusted.round(3).tolist()
    [0.055, 0.055, 0.055]
    >>> by_correction([0.001] * 5 + [0.5] * 5)
    CorrectedPValues: 5 of 10 tests significant at level 0.05 (BY)
    """

    def step_up(ascending: Float64Array) -> Float64Array:
        # From the largest one on, not above the one before.
        counts = np.arange(1, ascending.size + 1)
        scaled = ascending * (ascending.size * float((1.0 / counts).sum())) / counts
        return np.asarray(np.minimum.accumulate(scaled[::-1])[::-1])

    return _corrected(p_values, level, "by", step_up)


def _corrected(
    p_values: npt.ArrayLike,
    level: float,
    correction: Correction,
    adjust: Callable[[Float64Array], Float64Array],
) -> CorrectedPValues:
    """Correct p-values in ascending order; none exceeds 1."""
    given = as_vector(p_values, "p_values").astype(np.float64)
    alpha = check_fraction(level, "level")
    if given.size == 0:
        raise invalid("p_values", "hold at least one p-value", "none")
    bad = ~((given >= 0) & (given <= 1))
    if bad.any():
        raise invalid("p_values", "lie in [0, 1]", f"{given[bad][0]}")
    order = np.argsort(given, kind="stable")
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(adjust(given[order]), 1.0)
    return compared(given, adjusted, alpha, correction)
