"""One class of scores, sorted once: the only sort and the only tie rule of the package.

Everything that counts trials below a threshold asks a `SortedScores`, so that
the decision rule (accept iff score >= threshold) is written in one place.
"""

from typing import Any, TypeAlias, cast

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FloatArray,
    as_vector,
    as_weights,
    by_constructor,
    check_not_empty,
    check_weight_range,
    frozen,
    read_only,
    refuse_nan,
)

__all__ = ["SortedScores", "Weights", "sort_classes"]

# Counts (int64) where all trials weigh whole numbers, else float64.
Weights: TypeAlias = npt.NDArray[Any]

# A trial's weight is exact as a whole number up to here, also in a float64 sum.
_EXACT_SUM = 2.0**53


@attrs.frozen(eq=False, repr=False)
class SortedScores:
    """The scores of one class in ascending order, with running weights.

    Parameters
    ----------
    values : (n,) ndarray of float32 or float64
        Scores, ascending, without NaN. Read-only.
    cumulative : (n + 1,) ndarray of int64 or float64, or None
        Weight of the first i scores; None if each trial weighs one. int64 if
        all weights are whole numbers, so that sums stay exact.
    """

    values: FloatArray = attrs.field(converter=read_only)
    cumulative: Weights | None = attrs.field(
        default=None, converter=attrs.converters.optional(read_only)
    )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that arrays stay read-only."""
        return by_constructor(self)

    @classmethod
    def from_scores(
        cls,
        scores: npt.ArrayLike,
        weights: npt.ArrayLike | None = None,
        *,
        name: str,
        owner: str,
    ) -> "SortedScores":
        """Sort a copy of `scores`; refuse NaN and an empty class.

        A trial of weight 0 is no trial. `name` and `owner` go into the error
        messages. O(n log n) time; memory for one copy, and two more of float64
        where there are weights.
        """
        array = as_vector(scores, name, owner)
        check_not_empty(array, name, owner)
        checked = as_weights(weights, array.size, f"{name}_weights", owner)
        if checked is None:
            values = np.sort(array)
            cumulative = None
        else:
            check_weight_range(checked, f"{name}_weights", owner)
            # NaN is refused before trials without weight are left out.
            if np.isnan(array.min()):
                refuse_nan(array, name, owner)
            counted = checked > 0
            if not counted.all():
                array, checked = array[counted], checked[counted]
            order = np.argsort(array, kind="stable")
            values = array[order]
            cumulative = _running_total(checked[order])
        # numpy sorts NaN to the end, so one look replaces a pass over the data.
        if np.isnan(values[-1]):
            refuse_nan(array, name, owner)
        return cls(frozen(values), cumulative)

    def __repr__(self) -> str:
        """Say how many scores there are and where they lie."""
        span = f"{self.values[0]:g} ... {self.values[-1]:g}"
        weight = "" if self.cumulative is None else f", total weight {self.total:g}"
        return f"SortedScores: {self.values.size} scores, {span}{weight}"

    @property
    def size(self) -> int:
        """Number of trials, those of weight 0 left out."""
        return int(self.values.size)

    @property
    def total(self) -> int | float:
        """Total weight: the number of trials unless they are weighted."""
        if self.cumulative is None:
            return self.size
        return cast("int | float", self.cumulative[-1].item())

    @property
    def weights(self) -> npt.NDArray[np.float64] | None:
        """Weight of each trial in the order of `values`; None if all weigh one."""
        if self.cumulative is None:
            return None
        return np.diff(self.cumulative).astype(np.float64, copy=False)

    def weight_below(self, thresholds: npt.ArrayLike) -> Weights:
        """Return the weight of the scores below each threshold, those rejected."""
        return self.weight_of_first(self.count_below(thresholds))

    def count_below(self, thresholds: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the number of scores below each threshold, comparing in float64."""
        limits: FloatArray = np.asarray(thresholds, dtype=np.float64)
        if self.values.dtype == np.float32:
            # Searching float32 scores for float64 values would first copy all
            # scores. Rounding each threshold up to float32 asks the same
            # question: no float32 number lies between the two.
            limits = _round_to_float32(limits, towards=np.inf)
        return np.asarray(np.searchsorted(self.values, limits, side="left"))

    def count_up_to(self, thresholds: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the number of scores below or equal to each threshold."""
        limits: FloatArray = np.asarray(thresholds, dtype=np.float64)
        if self.values.dtype == np.float32:
            limits = _round_to_float32(limits, towards=-np.inf)
        return np.asarray(np.searchsorted(self.values, limits, side="right"))

    def distinct(self) -> tuple[FloatArray, npt.NDArray[np.int64]]:
        """Return the distinct scores and how many scores lie below each."""
        starts = np.flatnonzero(self.values[1:] != self.values[:-1])
        starts += 1
        below = np.concatenate((np.zeros(1, dtype=np.int64), starts))
        return self.values[below], below

    def weight_of_first(self, counts: npt.NDArray[np.int64]) -> Weights:
        """Return the total weight of the lowest scores, given how many."""
        return counts if self.cumulative is None else self.cumulative[counts]


def sort_classes(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    tar_weights: npt.ArrayLike | None,
    non_weights: npt.ArrayLike | None,
    owner: str,
) -> tuple[SortedScores, SortedScores]:
    """Sort targets and non-targets, each on its own."""
    return (
        SortedScores.from_scores(tar, tar_weights, name="tar", owner=owner),
        SortedScores.from_scores(non, non_weights, name="non", owner=owner),
    )


def _running_total(weights: npt.NDArray[np.float64]) -> Weights:
    cumulative = np.zeros(weights.size + 1)
    np.cumsum(weights, out=cumulative[1:])
    if cumulative[-1] < _EXACT_SUM and np.array_equal(weights, np.rint(weights)):
        return frozen(cumulative.astype(np.int64))
    return frozen(cumulative)


def _round_to_float32(limits: FloatArray, *, towards: float) -> FloatArray:
    # Beyond the largest float32 both steps end at infinity, as they should.
    with np.errstate(over="ignore"):
        rounded = np.asarray(limits.astype(np.float32))
        overshot = rounded < limits if towards > 0 else rounded > limits
        return np.where(overshot, np.nextafter(rounded, np.float32(towards)), rounded)
