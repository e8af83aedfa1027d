"""The scores of wanted trials as a vector, whatever forms hold the scores and the trials.

What methods of `Scores` and `FlatScores` have in common where at least one of the two
sides is a list. Each class says where the trials stand in it; the rest is the same.
"""

from collections.abc import Callable
from numbers import Real

import numpy as np
import numpy.typing as npt
from attrs import frozen

from bosaris_py._validation import BoolArray, FloatArray, as_vector, describe, invalid
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.trials._flat import name_listed
from bosaris_py.trials._frame import Frame, Positions, blocks
from bosaris_py.trials._missing import AnyKey, AnyNdx, warn_missing_listed

__all__ = ["ListedScores", "as_number", "transformed"]


@frozen(eq=False)
class ListedScores:
    """The scores that an object has of the trials of an Ndx or a Key.

    Parameters
    ----------
    ndx : Ndx, Key, FlatNdx or FlatKey
        The trials that are wanted.
    frame : Frame
        Where its models and segments lie in the object with the scores.
    values : (n_found,) array of float
        The scores, column by column of `ndx`.
    found : (n_trials,) array of bool or None
        Which trials have a score. None: all.
    """

    ndx: AnyNdx
    frame: Frame
    values: FloatArray
    found: BoolArray | None

    @property
    def n_missing(self) -> int:
        """Number of trials without a score."""
        return self.ndx.n_trials - int(self.values.size)

    def refuse_nan(self, name: str, owner: str) -> None:
        """Raise with the count and the first of the trials whose score is NaN."""
        # In blocks, to need no mask as long as the scores.
        if any(np.isnan(self.values[part]).any() for part in blocks(self.values.size, 1)):
            models, segments = self.positions()
            bad = np.isnan(self.values)
            trials = name_listed(models[bad], segments[bad], self.ndx.modelset, self.ndx.segset)
            raise invalid(name, owner, "not hold NaN where there is a trial", f"NaN for {trials}")

    def warn(self) -> None:
        """Warn of models, segments and trials that are missing."""
        n_models, n_segments = self.frame.n_rows_found, self.frame.n_cols_found
        warn_missing_listed(self.ndx, n_models, n_segments, self.found)

    def positions(self) -> tuple[Positions, Positions]:
        """Return the positions in `ndx` of the trials that have scores."""
        models, segments = self.ndx.trial_positions()
        if self.found is None:
            return models, segments
        return mark_read_only(models[self.found]), mark_read_only(segments[self.found])

    def split(self, key: AnyKey) -> tuple[FloatArray, FloatArray]:
        """Return target and non-target scores; `key` is the `ndx` of this object."""
        labels = key.trial_labels()
        if self.found is not None:
            labels = labels[self.found]
        return self.values[labels], self.values[~labels]

    def filled(self, value: float) -> FloatArray:
        """Return a score for every trial: `value` for those that have none."""
        if self.found is None:
            return self.values
        # float32 unless the value is too large for it.
        dtype = np.result_type(self.values, np.min_scalar_type(value))
        filled = np.full(self.found.size, value, dtype=dtype)
        filled[self.found] = self.values
        return mark_read_only(filled)


def as_number(value: object, name: str, owner: str) -> float:
    """Return `value` as a float; raise if it is none, or NaN."""
    if not isinstance(value, Real) or np.isnan(float(value)):
        raise invalid(name, owner, "be a number", describe(value))
    return float(value)


def transformed(
    func: Callable[[FloatArray], npt.ArrayLike], before: FloatArray, owner: str
) -> FloatArray:
    """Return what a function makes of scores; refuse another number of them, and NaN."""
    after = as_vector(func(before), "func", owner)
    if after.size != before.size:
        expected = f"return one score for each of the {before.size} that it is given"
        raise invalid("func", owner, expected, f"{after.size}")
    if np.isnan(after).any():
        count = np.count_nonzero(np.isnan(after))
        found = f"NaN for {count} of {after.size} scores"
        raise invalid("func", owner, "not return NaN", found)
    return after
