"""One class of scores, sorted once: the only sort and the only tie rule of the package.

Everything that counts trials below a threshold asks a `SortedScores`, so that
the decision rule (accept iff score >= threshold) is written in one place.
"""

import functools
from typing import Any, cast

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import FloatArray, Weights, by_constructor, mark_read_only, read_only
from bosaris_py._validation import (
    as_vector,
    as_weights,
    check_not_empty,
    check_weight_range,
    refuse_nan,
)

# A trial's weight is exact as a whole number up to here, also in a float64 sum.
_EXACT_SUM = 2.0**53

# So many weights are looked at before it is asked if the others matter.
_BLOCK = 2**16


@attrs.frozen(eq=False, repr=False)
class SortedScores:
    """The scores of one class in ascending order, with their weights.

    Parameters
    ----------
    values : (n,) ndarray of float32 or float64
        Scores, ascending, without NaN. Read-only.
    weights : (n,) ndarray of float64, or None
        Weight of each of them; None if each trial weighs one.
    """

    values: FloatArray = attrs.field(converter=read_only)
    weights: npt.NDArray[np.float64] | None = attrs.field(
        default=None, converter=attrs.converters.optional(read_only)
    )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that arrays stay read-only."""
        return by_constructor(self)

    @classmethod
    def from_scores(
        cls, scores: npt.ArrayLike, weights: npt.ArrayLike | None = None, *, name: str
    ) -> "SortedScores":
        """Sort a copy of `scores`; refuse NaN and an empty class.

        A trial of weight 0 is no trial. `name` goes into the error messages. O(n log n) time;
        memory for one copy, and one more of float64
        where there are weights.
        """
        array = as_vector(scores, name)
        check_not_empty(array, name)
        checked = as_weights(weights, array.size, f"{name}_weights")
        if checked is None:
            values = np.sort(array)
            sorted_weights = None
        else:
            check_weight_range(checked, f"{name}_weights")
            # NaN is refused before trials without weight are left out.
            if np.isnan(array.min()):
                refuse_nan(array, name)
            counted = checked > 0
            if not counted.all():
                array, checked = array[counted], checked[counted]
            order = np.argsort(array, kind="stable")
            values = array[order]
            sorted_weights = mark_read_only(checked[order])
        # numpy sorts NaN to the end, so one look replaces a pass over the data.
        if np.isnan(values[-1]):
            refuse_nan(array, name)
        return cls(mark_read_only(values), sorted_weights)

    def __repr__(self) -> str:
        """Say how many scores there are and where they lie."""
        span = f"{self.values[0]:g} ... {self.values[-1]:g}"
        weight = "" if self.weights is None else f", total weight {self.total:g}"
        return f"SortedScores: {self.values.size} scores, {span}{weight}"

    @property
    def size(self) -> int:
        """Number of trials, those of weight 0 left out."""
        return int(self.values.size)

    @property
    def total(self) -> int | float:
        """Total weight: the number of trials unless they are weighted."""
        return self.size if self.weights is None else cast("int | float", self._running[-1].item())

    @functools.cached_property
    def is_whole(self) -> bool:
        """Whether weights are whole numbers, so that sums of them are exact."""
        return self.weights is None or are_whole(self.weights)

    @functools.cached_property
    def _running(self) -> Weights:
        """Weight of the first i scores; int64 if whole."""
        running = np.zeros(self.size + 1)
        running[1:] = running_sum(self._weights)
        return mark_read_only(running.astype(np.int64) if self.is_whole else running)

    @functools.cached_property
    def _remaining(self) -> Weights:
        """Weight of all but the first i scores, summed from the top."""
        remaining = np.zeros(self.size + 1)
        remaining[-2::-1] = running_sum(self._weights[::-1])
        return mark_read_only(remaining.astype(np.int64) if self.is_whole else remaining)

    @property
    def _weights(self) -> npt.NDArray[np.float64]:
        return np.ones(self.size) if self.weights is None else self.weights

    def weight_below(self, thresholds: npt.ArrayLike) -> Weights:
        """Return the weight of the scores below each threshold, those rejected."""
        return self.weight_of_first(self.count_below(thresholds))

    def weight_at_or_above(self, thresholds: npt.ArrayLike) -> Weights:
        """Return the weight of the scores at or above each threshold, those accepted."""
        below = self.count_below(thresholds)
        return self.size - below if self.weights is None else self._remaining[below]

    def count_below(self, thresholds: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the number of scores below each threshold, comparing in float64."""
        limits: FloatArray = np.asarray(thresholds, dtype=np.float64)
        if self.values.dtype == np.float32:
            # Searching float32 scores for float64 values would first copy all
            # scores. Rounding each threshold up to float32 asks the same
            # question: no float32 number lies between the two.
            limits = round_to_float32(limits, towards=np.inf)
        return np.asarray(np.searchsorted(self.values, limits, side="left"))

    def count_up_to(self, thresholds: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the number of scores below or equal to each threshold."""
        limits: FloatArray = np.asarray(thresholds, dtype=np.float64)
        if self.values.dtype == np.float32:
            limits = round_to_float32(limits, towards=-np.inf)
        return np.asarray(np.searchsorted(self.values, limits, side="right"))

    def edges(
        self, thresholds: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the numbers of scores below, and up to, each of some distinct thresholds."""
        limits: FloatArray = np.asarray(thresholds, dtype=np.float64)
        below = self.count_below(limits)
        up_to = below.copy()
        inside = np.flatnonzero(below < self.size)
        # Few thresholds are scores; only those are searched for twice.
        tied = inside[self.values[below[inside]] == limits[inside]]
        up_to[tied] = self.count_up_to(limits[tied])
        return below, up_to

    def distinct(self) -> tuple[FloatArray, npt.NDArray[np.int64] | None]:
        """Return the distinct scores and how many lie below each; None if all are distinct."""
        new = self.values[1:] != self.values[:-1]
        if new.all():
            return self.values, None
        starts = np.empty(np.count_nonzero(new) + 1, dtype=np.int64)
        starts[0] = 0
        starts[1:] = np.flatnonzero(new)
        starts[1:] += 1
        return self.values[starts], starts

    def weight_of_first(self, counts: npt.NDArray[np.int64]) -> Weights:
        """Return the total weight of the lowest scores, given how many."""
        return counts if self.weights is None else self._running[counts]

    def weight_from(self, edges: npt.NDArray[np.int64]) -> Weights:
        """Return the weight of the scores from each of some ascending ranks to the next.

        The last sum goes up to the highest score. Each is a sum of its own, not a
        difference of large ones.
        """
        if self.weights is None:
            counts = np.empty(edges.size, dtype=np.int64)
            np.subtract(edges[1:], edges[:-1], out=counts[:-1])
            counts[-1:] = self.size - edges[-1:]
            return counts
        held = np.empty(edges.size, dtype=np.bool_)
        np.less(edges[:-1], edges[1:], out=held[:-1])
        held[-1:] = edges[-1:] < self.size
        sums = np.zeros(edges.size)
        sums[held] = np.add.reduceat(self.weights, edges[held])
        return sums.astype(np.int64) if self.is_whole else sums


def sort_classes(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    tar_weights: npt.ArrayLike | None,
    non_weights: npt.ArrayLike | None,
) -> tuple[SortedScores, SortedScores]:
    """Sort targets and non-targets, each on its own."""
    return (
        SortedScores.from_scores(tar, tar_weights, name="tar"),
        SortedScores.from_scores(non, non_weights, name="non"),
    )


def are_whole(weights: npt.NDArray[np.float64]) -> bool:
    """Tell if weights are whole numbers of which any sum is exact."""
    for start in range(0, weights.size, _BLOCK):
        block = weights[start : start + _BLOCK]
        if not (block == np.rint(block)).all():
            return False
    return float(weights.sum()) < _EXACT_SUM


def running_sum(weights: Weights) -> Weights:
    """Return the sums of the first 1, 2, ... weights, without piling up rounding errors."""
    if weights.dtype == np.int64:
        return np.cumsum(weights)
    return np.cumsum(weights, dtype=np.longdouble).astype(np.float64)


def round_to_float32(limits: FloatArray, *, towards: float) -> FloatArray:
    """Return float32 limits that no float32 score lies between them and the given ones."""
    # Beyond the largest float32 both steps end at infinity, as they should.
    with np.errstate(over="ignore"):
        rounded = np.asarray(limits.astype(np.float32))
        overshot = rounded < limits if towards > 0 else rounded > limits
        return np.where(overshot, np.nextafter(rounded, np.float32(towards)), rounded)
