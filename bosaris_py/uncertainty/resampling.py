"""Plans of resampling: sets, layers, speakers.

A plan knows nothing about scores. It draws how often each trial was picked, in
the order of the trials it was made for; `reordered` makes the same plan for the
trials in another order, so that weights come out in the order of sorted scores.
Two systems are resampled alike by giving both the weights of one draw.

A plan knows the conditions of the trials too. Who evaluates a statistic at the
weights divides those of each condition by their sum, see `Strata`.

The weight of a speaker multiplies all trials that the speaker takes part in, on
either side. With weights :math:`w`, a target trial of speaker i gets :math:`w_i`,
a non-target trial with a model of speaker i and a segment of speaker j gets
:math:`w_i w_j`. A target trial has one speaker, so its weight is never squared.
"""

import functools
from typing import Literal, Protocol, TypeAlias, get_args

import attrs
import numpy as np

from bosaris_py._arrays import IndexArray, IntArray, Weights, mark_read_only
from bosaris_py._validation import invalid
from bosaris_py.uncertainty.bootstrap_result import check_choice
from bosaris_py.uncertainty.strata import SetIndex, Strata, TrialStrata, draw_picks


class ResamplingPlan(Protocol):
    """Anything that draws the weights of one replicate."""

    @property
    def strata(self) -> TrialStrata:
        """The conditions of the trials."""

    def draw_weights(self, rng: np.random.Generator) -> tuple[Weights, Weights]:
        """Draw the weight of each target trial and of each non-target trial."""

    def reordered(self, tar_order: IndexArray, non_order: IndexArray) -> "ResamplingPlan":
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

    def reordered(self, tar_order: IndexArray, non_order: IndexArray) -> "IidPlan":
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
    def _members(self) -> tuple[IndexArray, IndexArray]:
        """Positions of the trials of each class, cell by cell."""
        tar, non = (np.argsort(cells.labels, kind="stable") for cells in self.cells)
        return tar, non

    def draw_weights(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw how often each trial is picked."""
        return self._draw_class(0, rng), self._draw_class(1, rng)

    def reordered(self, tar_order: IndexArray, non_order: IndexArray) -> "SetPlan":
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


SpeakerWeights: TypeAlias = Literal["multinomial", "exponential", "double-or-nothing"]

_FEWEST_SPEAKERS = 2

# A table of all pairs may have this many cells for each trial, or in any case this many
# in all; beyond, the pairs that occur are listed.
_CELLS_PER_TRIAL = 4

_SMALL_TABLE = 2**16


@attrs.frozen(eq=False)
class TrialUnits:
    """The one or two persons whose weights multiply in each trial of one class.

    Parameters
    ----------
    first : (n,) ndarray of int
        Number of the first person, from 0.
    second : (n,) ndarray of int or None
        Number of the second person; None if trials have but one.
    """

    first: IntArray
    second: IntArray | None

    def weights(self, of_first: Weights, of_second: Weights) -> Weights:
        """Return the weight of each trial, given those of the persons."""
        if self.second is None:
            return of_first[self.first]
        return of_first[self.first] * of_second[self.second]

    def reordered(self, order: IndexArray) -> "TrialUnits":
        """Take the trials in another order."""
        second = None if self.second is None else mark_read_only(self.second[order])
        return TrialUnits(mark_read_only(self.first[order]), second)


@attrs.frozen(eq=False)
class UnitGroups:
    """Trials with the same weight in every replicate, grouped.

    Parameters
    ----------
    index : SetIndex
        Group of each trial, and number of trials in each group, zero for pairs of
        a table who do not meet.
    shape : tuple of int
        Number of persons, (k,) or (k, l). If it has as many cells as there are
        groups, groups are the cells of this table, row by row.
    first, second : (n_groups,) ndarray of int or None
        Persons of each group if only those who meet are listed; else None.
    """

    index: SetIndex
    shape: tuple[int, ...]
    first: IntArray | None = None
    second: IntArray | None = None


@attrs.frozen
class PersonWeights:
    """The law of the weights of all persons.

    Parameters
    ----------
    n_first : int
        Number of persons, or of those on the models' side.
    n_second : int or None
        Number of persons on the segments' side if they are drawn independently;
        None if both sides are the same persons.
    weighting : {"multinomial", "exponential", "double-or-nothing"}
        The law of one weight; mean and variance are 1 (multinomial: 1 - 1/k).
    """

    n_first: int
    n_second: int | None
    weighting: SpeakerWeights

    @property
    def shape(self) -> tuple[int, int]:
        """Number of persons on either side."""
        return self.n_first, self.n_first if self.n_second is None else self.n_second

    def draw(self, n_replicates: int, rng: np.random.Generator) -> tuple[Weights, Weights]:
        """Draw weights for both sides: (n_replicates, n) each.

        Replicate by replicate, so that drawing several at once makes no difference.
        """
        sides = (self.n_first,) if self.n_second is None else (self.n_first, self.n_second)
        drawn = [[self._draw_side(n, rng) for n in sides] for _ in range(n_replicates)]
        first, *second = (np.array(weights) for weights in zip(*drawn, strict=True))
        return first, second[0] if second else first

    def _draw_side(self, n: int, rng: np.random.Generator) -> Weights:
        if self.weighting == "multinomial":
            return draw_picks(n, rng)
        if self.weighting == "exponential":
            return rng.standard_exponential(n)
        return 2 * rng.integers(0, 2, size=n)


@attrs.frozen(eq=False)
class SpeakerPlan:
    """Draw a weight for each person.

    Parameters
    ----------
    tar, non : TrialUnits
        The persons in the trials of each class.
    persons : PersonWeights
        Draws their weights.
    strata : TrialStrata
        The conditions of the trials.
    """

    tar: TrialUnits
    non: TrialUnits
    persons: PersonWeights
    strata: TrialStrata

    @classmethod
    def from_persons(
        cls,
        tar: tuple[IntArray, IntArray],
        non: tuple[IntArray, IntArray],
        *,
        pigeonhole: bool,
        weighting: SpeakerWeights,
        strata: TrialStrata,
    ) -> "SpeakerPlan":
        """Make a plan for the persons who take part in trials, at least two.

        Parameters
        ----------
        tar, non : pair of (n,) ndarray of int
            Person of the model and person of the segment of each trial.
        pigeonhole : bool
            Whether the two sides are different persons, drawn independently.
        weighting : str
            The law of the weights.
        strata : TrialStrata
            The conditions of the trials.

        Returns
        -------
        SpeakerPlan
        """
        check_choice(weighting, get_args(SpeakerWeights), "weights")
        if pigeonhole:
            (tar_first, non_first), n_persons = _renumber(tar[0], non[0])
            (tar_second, non_second), n_others = _renumber(tar[1], non[1])
            for n, what in ((n_persons, "models"), (n_others, "segments")):
                if n < _FEWEST_SPEAKERS:
                    expected = f"have {what} of at least two speakers with trials"
                    raise invalid("key", expected, f"{n}")
            return cls(
                TrialUnits(tar_first, tar_second),
                TrialUnits(non_first, non_second),
                PersonWeights(n_persons, n_others, weighting),
                strata,
            )
        same = int(np.count_nonzero(non[0] == non[1]))
        if same:
            found = f"{same} with the same speaker on both sides"
            expected = "have two speakers in each non-target trial"
            raise invalid("key", expected, found, "Is the map of speakers right?")
        (tar_first, non_first, non_second), n_persons = _renumber(tar[0], *non)
        if n_persons < _FEWEST_SPEAKERS:
            raise invalid("key", "have at least two speakers with trials", f"{n_persons}")
        return cls(
            TrialUnits(tar_first, None),
            TrialUnits(non_first, non_second),
            PersonWeights(n_persons, None, weighting),
            strata,
        )

    def draw_weights(self, rng: np.random.Generator) -> tuple[Weights, Weights]:
        """Draw the weight of each target trial and of each non-target trial."""
        first, second = self.persons.draw(1, rng)
        return self.tar.weights(first[0], second[0]), self.non.weights(first[0], second[0])

    def reordered(self, tar_order: IndexArray, non_order: IndexArray) -> "SpeakerPlan":
        """Return the plan for the trials in another order."""
        return SpeakerPlan(
            self.tar.reordered(tar_order),
            self.non.reordered(non_order),
            self.persons,
            self.strata.reordered(tar_order, non_order),
        )

    def groups(self) -> tuple[list[UnitGroups], list[UnitGroups]]:
        """Group the trials of each condition by the persons who take part, in each class."""
        return self._groups(self.tar, self.strata.tar), self._groups(self.non, self.strata.non)

    def _groups(self, units: TrialUnits, strata: Strata) -> list[UnitGroups]:
        first = strata.split(units.first)
        if units.second is None:
            return [self._group(part, None) for part in first]
        return list(map(self._group, first, strata.split(units.second)))

    def _group(self, first: IntArray, second: IntArray | None) -> UnitGroups:
        n_first, n_second = self.persons.shape
        if second is None:
            return UnitGroups(_index(first, n_first), (n_first,))
        if self.persons.n_second is None:
            # Model and segment change places: the weight stays.
            first, second = np.minimum(first, second), np.maximum(first, second)
        pairs = first * n_second + second
        if n_first * n_second <= max(_CELLS_PER_TRIAL * pairs.size, _SMALL_TABLE):
            return UnitGroups(_index(pairs, n_first * n_second), (n_first, n_second))
        listed, labels = np.unique(pairs, return_inverse=True)
        return UnitGroups(
            _index(labels, listed.size),
            (n_first, n_second),
            mark_read_only(listed // n_second),
            mark_read_only(listed % n_second),
        )


def _index(labels: IntArray, n_groups: int) -> SetIndex:
    return SetIndex(mark_read_only(labels), mark_read_only(np.bincount(labels, minlength=n_groups)))


def _renumber(*lists: IntArray) -> tuple[list[IntArray], int]:
    """Give numbers without gaps to the persons who occur in any of the lists."""
    size = 1 + max((int(persons.max()) for persons in lists if persons.size), default=-1)
    present = np.zeros(size, dtype=np.bool_)
    for persons in lists:
        present[persons] = True
    numbers = np.cumsum(present) - 1
    return [mark_read_only(numbers[persons]) for persons in lists], int(np.count_nonzero(present))
