"""How a bootstrap draws: how often each trial was picked in one replicate.

A plan knows nothing about scores. It draws how often each trial was picked, in
the order of the trials it was made for; `reordered` makes the same plan for the
trials in another order, so that weights come out in the order of sorted scores.
Two systems are resampled alike by giving both the weights of one draw.

A plan knows the conditions of the trials too. Who evaluates a statistic at the
weights divides those of each condition by their sum, see `Strata`.
"""

import functools
from typing import Literal, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py.uncertainty.randomness import draw_picks
from bosaris_py.uncertainty.sets import SetIndex
from bosaris_py.uncertainty.strata import Order, TrialStrata, Weights

__all__ = ["IidPlan", "ResamplingPlan", "SetPlan"]

IntArray = npt.NDArray[np.int64]


class ResamplingPlan(Protocol):
    """Anything that draws the weights of one replicate."""

    @property
    def strata(self) -> TrialStrata:
        """The conditions of the trials."""

    def draw_weights(self, rng: np.random.Generator) -> tuple[Weights, Weights]:
        """Draw the weight of each target trial and of each non-target trial."""

    def reordered(self, tar_order: Order, non_order: Order) -> "ResamplingPlan":
        """Return the plan for the trials in another order."""


@attrs.frozen(eq=False)
class IidPlan:
    """Pick trials, independently in both classes and in each condition.

    Parameters
    ----------
    strata : TrialStrata
        The conditions; of each as many trials are picked as it has, with replacement.
    """

    strata: TrialStrata

    def draw_weights(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw how often each trial is picked."""
        return self.strata.tar.draw_picks(rng), self.strata.non.draw_picks(rng)

    def reordered(self, tar_order: Order, non_order: Order) -> "IidPlan":
        """Return the plan for the trials in another order."""
        return IidPlan(self.strata.reordered(tar_order, non_order))


@attrs.frozen(eq=False)
class SetPlan:
    """Pick sets of trials, and on request trials within them.

    Parameters
    ----------
    tar, non : SetIndex
        The sets of each class; as many are picked as there are, with
        replacement.
    strata : TrialStrata, optional
        The conditions of the trials, none by default. A set may be of several.
    two_layer : bool
        Also replace the trials of each set that is picked, or those of each condition
        in the set, by as many picks from them. If a set is picked twice, its trials
        are drawn anew each time.
    """

    tar: SetIndex
    non: SetIndex
    strata: TrialStrata = attrs.field()
    two_layer: bool = attrs.field(kw_only=True)

    @strata.default
    def _strata_default(self) -> TrialStrata:
        return TrialStrata.single(self.tar.labels.size, self.non.labels.size)

    @functools.cached_property
    def cells(self) -> tuple[SetIndex, SetIndex]:
        """The trials of each class by set and condition, see `Strata.cells`."""
        return self.strata.tar.cells(self.tar), self.strata.non.cells(self.non)

    @functools.cached_property
    def _members(self) -> tuple[Order, Order]:
        """Positions of the trials of each class, cell by cell."""
        tar, non = (np.argsort(cells.labels, kind="stable") for cells in self.cells)
        return tar, non

    def draw_weights(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw how often each trial is picked."""
        return self._draw_class(0, rng), self._draw_class(1, rng)

    def reordered(self, tar_order: Order, non_order: Order) -> "SetPlan":
        """Return the plan for the trials in another order."""
        return SetPlan(
            self.tar.reordered(tar_order),
            self.non.reordered(non_order),
            self.strata.reordered(tar_order, non_order),
            two_layer=self.two_layer,
        )

    def _draw_class(self, which: Literal[0, 1], rng: np.random.Generator) -> IntArray:
        sets = (self.tar, self.non)[which]
        picks = draw_picks(sets.n_sets, rng)
        if not self.two_layer:
            return picks[sets.labels]
        cells = self.cells[which]
        sizes = cells.sizes
        n_picks = np.repeat(picks, self.strata[which].n_strata) * sizes
        starts = np.cumsum(sizes) - sizes
        first = int(sizes[0])
        if np.all(sizes == first):
            within = rng.integers(0, first, size=int(n_picks.sum()))
        else:
            within = rng.integers(0, np.repeat(sizes, n_picks))
        within += np.repeat(starts, n_picks)
        return np.bincount(self._members[which][within], minlength=cells.labels.size)
