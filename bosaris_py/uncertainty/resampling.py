"""How to resample: plans that weight trials by picks, by sets or by speakers, and their options.

A plan knows nothing about scores. It draws how often each trial was picked, in the order of the
trials it was made for; `reordered` makes the same plan for the trials in another order, so that
weights come out in the order of sorted scores. Two systems are resampled alike by giving both the
weights of one draw. A plan knows the conditions of the trials too; the evaluation of a statistic
divides the weights of each condition by their sum, see `Strata`.

The weight of a speaker multiplies all trials that the speaker takes part in, on either side. With
weights :math:`w`, a target trial of speaker i gets :math:`w_i`, a non-target trial with a model of
speaker i and a segment of speaker j gets :math:`w_i w_j`. A target trial has one speaker, so its
weight is never squared.
"""

from __future__ import annotations

import functools
from typing import Any, Literal, Protocol, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import IndexArray, IntArray, Weights, mark_read_only
from bosaris_py._execution import whole_number
from bosaris_py._validation import (
    as_generator,
    check_choice,
    check_fraction,
    describe,
    invalid,
    one_of,
)
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.speakers import TrialSpeakers, Unknown, refuse_same_speaker
from bosaris_py.uncertainty.bootstrap_result import IntervalKind
from bosaris_py.uncertainty.strata import ScoredTrials, SetIndex, Strata, TrialStrata, draw_picks


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
    """Pick trials, independently in both classes: of each condition as many as it has."""

    # Algorithm I of Wu et al. 2016, NISTIR 7722, section 2.4.

    strata: TrialStrata

    def draw_weights(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw how often each trial is picked."""
        return self.strata.tar.draw_picks(rng), self.strata.non.draw_picks(rng)

    def reordered(self, tar_order: IndexArray, non_order: IndexArray) -> "IidPlan":
        """Return the plan for the trials in another order."""
        return IidPlan(self.strata.reordered(tar_order, non_order))


@attrs.frozen(eq=False)
class SetPlan:
    """Pick as many sets of trials of each class as there are, and on request trials within them.

    A set may be of several conditions. With `two_layer`, the trials of each set that is picked, or
    those of each condition in the set, are replaced by as many picks from them; if a set is picked
    twice, its trials are drawn anew each time.
    """

    tar: SetIndex
    non: SetIndex
    strata: TrialStrata
    two_layer: bool = attrs.field(kw_only=True)

    @functools.cached_property
    def cells(self) -> tuple[SetIndex, SetIndex]:
        """The trials of each class by set and condition, see `Strata.cells`."""
        return self.strata.tar.cells(self.tar), self.strata.non.cells(self.non)

    def draw_weights(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw how often each trial is picked."""
        return (
            self._draw_class(self.tar, self.cells[0], self.strata.tar, rng),
            self._draw_class(self.non, self.cells[1], self.strata.non, rng),
        )

    def reordered(self, tar_order: IndexArray, non_order: IndexArray) -> "SetPlan":
        """Return the plan for the trials in another order."""
        return SetPlan(
            self.tar.reordered(tar_order),
            self.non.reordered(non_order),
            self.strata.reordered(tar_order, non_order),
            two_layer=self.two_layer,
        )

    def _draw_class(
        self, sets: SetIndex, cells: SetIndex, strata: Strata, rng: np.random.Generator
    ) -> IntArray:
        # Algorithm II of Wu et al. 2016, of two layers algorithm III; sets may be of any size.
        picks = draw_picks(sets.n_sets, rng)
        if not self.two_layer:
            return picks[sets.labels]
        sizes = cells.sizes
        n_picks = np.repeat(picks, strata.n_sets) * sizes
        starts = np.cumsum(sizes) - sizes
        first = int(sizes[0])
        if np.all(sizes == first):
            within = rng.integers(0, first, size=int(n_picks.sum()))
        else:
            within = rng.integers(0, np.repeat(sizes, n_picks))
        within += np.repeat(starts, n_picks)
        return np.bincount(cells.order[within], minlength=sets.n_trials)


SpeakerWeights: TypeAlias = Literal["multinomial", "exponential", "double-or-nothing"]

_FEWEST_SPEAKERS = 2


@attrs.frozen(eq=False)
class Speakers:
    """Who speaks in the trials of a key, and how speakers are weighted."""

    model_speakers: IdMap | None
    segment_speakers: IdMap | None
    unknown: Unknown
    weights: SpeakerWeights = attrs.field(validator=one_of(SpeakerWeights))
    pigeonhole: bool = False


@attrs.frozen(eq=False)
class TrialUnits:
    """The numbers of the one or two persons whose weights multiply in each trial of one class."""

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


@attrs.frozen
class PersonWeights:
    """The law of the weights of all persons: mean and variance are 1 (multinomial: 1 - 1/k).

    `n_second` is the number of persons on the segments' side if they are drawn independently of
    those on the models' side; None if both sides are the same persons.
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

    # Owen and Eckles 2012: any independent weights of mean and variance one will do.
    def _draw_side(self, n: int, rng: np.random.Generator) -> Weights:
        if self.weighting == "multinomial":
            return draw_picks(n, rng)
        if self.weighting == "exponential":
            return rng.standard_exponential(n)
        return 2 * rng.integers(0, 2, size=n)


@attrs.frozen(eq=False)
class SpeakerPlan:
    """Draw a weight for each of the persons in the trials of both classes."""

    tar: TrialUnits
    non: TrialUnits
    persons: PersonWeights
    strata: TrialStrata

    @classmethod
    def from_persons(
        cls,
        tar: tuple[IntArray, IntArray],
        non: tuple[IntArray, IntArray],
        who: Speakers,
        strata: TrialStrata,
    ) -> "SpeakerPlan":
        """Make a plan for the persons who take part in trials, at least two.

        `tar` and `non` are the person of the model and of the segment of each trial. In a
        pigeonhole bootstrap the two sides are different persons, drawn independently.
        """
        tar_second = n_second = None
        if who.pigeonhole:
            (tar_first, non_first), n_first = _renumber(tar[0], non[0])
            (tar_second, non_second), n_second = _renumber(tar[1], non[1])
            sides = [(n_first, "models of "), (n_second, "segments of ")]
        else:
            refuse_same_speaker(*non)
            (tar_first, non_first, non_second), n_first = _renumber(tar[0], *non)
            sides = [(n_first, "")]
        for n, what in sides:
            if n < _FEWEST_SPEAKERS:
                raise invalid("key", f"have {what}at least two speakers with trials", f"{n}")
        return cls(
            TrialUnits(tar_first, tar_second),
            TrialUnits(non_first, non_second),
            PersonWeights(n_first, n_second, who.weights),
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


def _renumber(*lists: IntArray) -> tuple[list[IntArray], int]:
    """Give numbers without gaps to the persons who occur in any of the lists."""
    size = 1 + max((int(persons.max()) for persons in lists if persons.size), default=-1)
    present = np.zeros(size, dtype=np.bool_)
    for persons in lists:
        present[persons] = True
    numbers = (np.cumsum(present) - 1).astype(np.min_scalar_type(size))
    return [mark_read_only(numbers[persons]) for persons in lists], int(np.count_nonzero(present))


# ---- Options

Method: TypeAlias = Literal["iid", "one-layer", "two-layer"]

ScoresMethod: TypeAlias = Literal["iid", "one-layer", "two-layer", "speaker"]

# A standard deviation takes two.
_FEWEST_REPLICATIONS = 2


def _to_replications(value: Any) -> int:
    return whole_number(value, _FEWEST_REPLICATIONS, "replications")


def _to_workers(value: Any) -> int:
    return whole_number(value, 1, "workers")


def _to_confidence(value: float) -> float:
    return check_fraction(value, "confidence")


@attrs.frozen(eq=False)
class Resampling:
    """The options that all bootstraps share, checked; `speakers` are for scores with a key."""

    method: ScoresMethod
    replications: int = attrs.field(converter=_to_replications)
    confidence: float = attrs.field(converter=_to_confidence)
    # None is that of the statistic.
    interval: IntervalKind | None = attrs.field(
        validator=attrs.validators.optional(one_of(IntervalKind))
    )
    rng: np.random.Generator = attrs.field(converter=as_generator)
    workers: int = attrs.field(converter=_to_workers)
    progress: bool
    speakers: Speakers | None = None

    def __attrs_post_init__(self) -> None:
        """Check the method, and that nothing was asked for that the method does not do."""
        check_choice(self.method, Method if self.speakers is None else ScoresMethod, "method")
        if self.speakers is not None and self.method != "speaker":
            hint = 'Did you mean method="speaker"?'
            expected = f'be left out with method="{self.method}"'
            if self.speakers.weights != "multinomial":
                raise invalid("weights", expected, describe(self.speakers.weights), hint)
            if self.speakers.pigeonhole:
                raise invalid("pigeonhole", expected, "True", hint)

    def plan_of_lists(
        self, strata: TrialStrata, tar_sets: npt.ArrayLike | None, non_sets: npt.ArrayLike | None
    ) -> ResamplingPlan:
        """Make the plan for lists of scores, after checking the labels it needs."""
        if self.method == "iid":
            for labels, name in ((tar_sets, "tar_sets"), (non_sets, "non_sets")):
                if labels is not None:
                    hint = 'Did you mean method="one-layer" or "two-layer"?'
                    raise invalid(name, 'be left out with method="iid"', "labels", hint)
            return IidPlan(strata)
        return SetPlan(
            SetIndex.from_labels(tar_sets, strata.tar.n_trials, "tar_sets"),
            SetIndex.from_labels(non_sets, strata.non.n_trials, "non_sets"),
            strata,
            two_layer=self.method == "two-layer",
        )

    def plan_of_trials(self, key: AnyKey, trials: ScoredTrials, who: Speakers) -> ResamplingPlan:
        """Make the plan for the trials of a key that have scores."""
        (tar_rows, tar_cols), (non_rows, non_cols) = trials.tar, trials.non
        if self.method == "speaker":
            maps, one_person = (who.model_speakers, who.segment_speakers), not who.pigeonhole
            speakers = TrialSpeakers.of_key(key, *maps, unknown=who.unknown, one_person=one_person)
            # Numbers that take little memory, one or two for each trial.
            of_models, of_segments = (
                numbers.astype(np.min_scalar_type(speakers.n_speakers))
                for numbers in (speakers.of_models, speakers.of_segments)
            )
            tar = of_models[tar_rows], of_segments[tar_cols]
            non = of_models[non_rows], of_segments[non_cols]
            return SpeakerPlan.from_persons(tar, non, who, trials.strata)
        tar_sets = non_sets = None
        if self.method != "iid":
            speakers = TrialSpeakers.of_models_only(key, who.model_speakers, unknown=who.unknown)
            tar_sets, non_sets = speakers.of_models[tar_rows], speakers.of_models[non_rows]
            for labels, what in ((tar_sets, "target"), (non_sets, "non-target")):
                if labels.min() == labels.max():
                    expected = f"have {what} trials of models of at least two speakers"
                    raise invalid("key", expected, "1")
        return self.plan_of_lists(trials.strata, tar_sets, non_sets)
