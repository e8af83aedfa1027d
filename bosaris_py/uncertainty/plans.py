"""How a bootstrap draws: the weight of every trial in one replicate.

A plan knows nothing about scores. It draws how often each trial was picked, in
the order of the trials it was made for; `reordered` makes the same plan for the
trials in another order, so that weights come out in the order of sorted scores.
Two systems are resampled alike by giving both the weights of one draw.
"""

from typing import Protocol

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen
from bosaris_py.uncertainty.sets import SetIndex

__all__ = ["IidPlan", "ResamplingPlan", "SetPlan", "draw_picks"]

IntArray = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Order = npt.NDArray[np.intp]


class ResamplingPlan(Protocol):
    """Anything that draws the weights of one replicate."""

    def draw_weights(self, rng: np.random.Generator) -> tuple[Weights, Weights]:
        """Draw the weight of each target trial and of each non-target trial."""

    def reordered(self, tar_order: Order, non_order: Order) -> "ResamplingPlan":
        """Return the plan for the trials in another order."""


@attrs.frozen(eq=False)
class IidPlan:
    """Pick trials, independently in both classes.

    Parameters
    ----------
    n_tar, n_non : int
        Number of trials of each class; as many are picked, with replacement.
    """

    n_tar: int
    n_non: int

    def draw_weights(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw how often each trial is picked."""
        return draw_picks(self.n_tar, rng), draw_picks(self.n_non, rng)

    def reordered(self, tar_order: Order, non_order: Order) -> "IidPlan":
        """Return itself: all trials are alike."""
        return self


@attrs.frozen(eq=False)
class SetPlan:
    """Pick sets of trials, and on request trials within them.

    Parameters
    ----------
    tar, non : SetIndex
        The sets of each class; as many are picked as there are, with
        replacement.
    two_layer : bool
        Also replace the trials of each set that is picked by as many picks
        from them. If a set is picked twice, its trials are drawn anew each time.
    """

    tar: SetIndex
    non: SetIndex
    two_layer: bool = attrs.field(kw_only=True)
    _tar_members: IntArray = attrs.field(init=False)
    _non_members: IntArray = attrs.field(init=False)

    @_tar_members.default
    def _tar_members_default(self) -> IntArray:
        return _members(self.tar)

    @_non_members.default
    def _non_members_default(self) -> IntArray:
        return _members(self.non)

    def draw_weights(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw how often each trial is picked."""
        return (
            self._draw_class(self.tar, self._tar_members, rng),
            self._draw_class(self.non, self._non_members, rng),
        )

    def reordered(self, tar_order: Order, non_order: Order) -> "SetPlan":
        """Return the plan for the trials in another order."""
        return SetPlan(
            self.tar.reordered(tar_order),
            self.non.reordered(non_order),
            two_layer=self.two_layer,
        )

    def _draw_class(self, index: SetIndex, members: IntArray, rng: np.random.Generator) -> IntArray:
        picks = draw_picks(index.n_sets, rng)
        if not self.two_layer:
            return picks[index.labels]
        sizes, n_picks = index.sizes, picks * index.sizes
        starts = np.cumsum(sizes) - sizes
        first = int(sizes[0])
        if np.all(sizes == first):
            within = rng.integers(0, first, size=int(n_picks.sum()))
        else:
            within = rng.integers(0, np.repeat(sizes, n_picks))
        within += np.repeat(starts, n_picks)
        return np.bincount(members[within], minlength=index.labels.size)


def draw_picks(n: int, rng: np.random.Generator) -> IntArray:
    """Pick n times with replacement from n things; return how often each was picked."""
    return np.bincount(rng.integers(0, n, size=n), minlength=n)


def _members(index: SetIndex) -> IntArray:
    """Return the trials' positions, set by set."""
    return frozen(np.argsort(index.labels, kind="stable").astype(np.int64))
