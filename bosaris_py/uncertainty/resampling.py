r"""Plans that resample the trials of a sample, and the options of all bootstraps.

A plan knows nothing about scores. It draws how often each trial was picked, in the order of the
trials it was made for; `reordered` makes the same plan for another order. Two systems are resampled
alike by giving both the weights of one draw. Trials are vectors, column by column.

With weights :math:`w` of speakers, a target trial of speaker i gets :math:`w_i`, which is never
squared. A non-target trial of speakers i and j gets :math:`w_i w_j`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    IndexArray,
    IntArray,
    Positions,
    Weights,
    mark_read_only,
)
from bosaris_py._parallel import whole_number
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.key import AnyKey, as_key
from bosaris_py.trials.kinds import nouns_of_third
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores, scored_trials
from bosaris_py.trials.speakers import Speakers, TrialSpeakers, refuse_same_speaker
from bosaris_py.trials.strata import SetIndex, Strata, TrialStrata, draw_picks
from bosaris_py.uncertainty.bootstrap_result import IntervalKind


def sample_of_lists(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    labels: tuple[npt.ArrayLike | None, npt.ArrayLike | None],
    weights: Mapping[Any, float] | None,
    **columns: npt.ArrayLike | None,
) -> ListedSample:
    """Return the sample of two lists of scores in conditions, checked against `columns`, too."""
    check.check_class_rows(tar, non, tar_conditions=labels[0], non_conditions=labels[1], **columns)
    sample = ListedSample.from_scores(tar, non)
    strata = TrialStrata.from_labels(*labels, weights, (sample.n_tar, sample.n_non))
    return sample if strata.is_single else ListedSample.from_scores(tar, non, strata=strata)


def effective_errors(errors: AnyArray, factors: Float64Array) -> Float64Array:
    """Return how many errors of equal weight would leave a weighted rate as uncertain."""
    # `errors` (k, ...) counts those of each condition, `factors` (k,) is the weight of its trials.
    if factors.size == 1:
        return np.asarray(errors[0], dtype=np.float64)
    # (sum f e)^2 / sum f^2 max(e, 1). A condition without errors counts as uncertain as one
    # with a single error, so that a small one with a large weight is noticed.
    total = np.tensordot(factors, errors, axes=1)
    return np.asarray(total**2 / np.tensordot(factors**2, np.maximum(errors, 1), axes=1))


def check_system(scores: object, name: str) -> None:
    """Raise unless `scores` holds scores of trials."""
    if not isinstance(scores, AnyScores):
        hint = "Were scores and key swapped?" if isinstance(scores, AnyKey) else ""
        raise check.invalid(name, "be Scores", check.describe(scores), hint)


def refuse_mixture(metadata: TrialMetadata | None) -> None:
    """Raise if non-targets are of two kinds, which a metric of two classes would mix."""
    if third := nouns_of_third(metadata):
        hint = (
            "For instance unc.ADCF() or unc.SVEER(). To pool spoofs with zero-effort impostors, "
            'read them with spoof="nontarget", or leave out the metadata.'
        )
        expected = "be one of three classes where trials are spoofs"
        raise check.invalid("statistic", expected, f"one of two, and {third}", hint)


def check_same_trials(systems: tuple[AnyScores, AnyScores], key: AnyKey) -> None:
    """Raise unless the same trials of a key have scores in both systems."""
    for scores, name in zip(systems, ("scores_a", "scores_b"), strict=True):
        check_system(scores, name)
    key = as_key(key)
    mask_a, mask_b = (_scored_mask(scores, key) for scores in systems)
    only_a, only_b = np.count_nonzero(mask_a & ~mask_b), np.count_nonzero(mask_b & ~mask_a)
    if only_a or only_b:
        raise TrialMismatchError(
            f"`scores_a` and `scores_b` must be of the same trials; of the "
            f"{key.n_trials} trials of the key, {only_a} have a score in `scores_a` only and "
            f"{only_b} in `scores_b` only. Filter the key to the trials that both systems have "
            "scored."
        )


def refuse_missing(scores: AnyScores, key: AnyKey, name: str) -> None:
    """Raise unless each trial of a key has a score."""
    scored = scored_trials(scores, key)
    if scored is not None:
        missing = int(np.count_nonzero(~scored))
        raise TrialMismatchError(
            f"`{name}` must have a score for every trial of the key; "
            f"{missing} of {key.n_trials} have none. Filter the key to the trials that both "
            "systems have scored."
        )


def _scored_mask(scores: AnyScores, key: AnyKey) -> BoolArray:
    """Tell for each trial of a key, column by column, whether it has a score."""
    scored = scored_trials(scores, key)
    return np.ones(key.n_trials, dtype=np.bool_) if scored is None else scored


# ---- Plans

_Plan = TypeVar("_Plan", "SetPlan", "SpeakerPlan")


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
    """Pick as many sets of trials of each class as there are, and on request trials within them."""

    # A set may be of several conditions. With `two_layer`, the trials of each set that is picked,
    # or those of each condition in the set, are replaced by as many picks from them; if a set is
    # picked twice, its trials are drawn anew each time.

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
        return _reordered(self, tar_order, non_order)

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
        if np.all(sizes == sizes[0]):
            within = rng.integers(0, int(sizes[0]), size=int(n_picks.sum()))
        else:
            within = rng.integers(0, np.repeat(sizes, n_picks))
        within += np.repeat(starts, n_picks)
        return np.bincount(cells.order[within], minlength=sets.n_trials)


_FEWEST_SPEAKERS = 2


@attrs.frozen(eq=False)
class TrialUnits:
    """The numbers of the one or two persons whose weights multiply in each trial of one class."""

    first: Positions
    second: Positions | None

    def weights(self, of_first: Weights, of_second: Weights) -> Weights:
        """Return the weight of each trial, given those of the persons."""
        if self.second is None:
            return of_first[self.first]
        return of_first[self.first] * of_second[self.second]

    def part(self, place: slice) -> "TrialUnits":
        """Take some trials that follow one another."""
        second = None if self.second is None else self.second[place]
        return TrialUnits(self.first[place], second)

    def reordered(self, order: IndexArray) -> "TrialUnits":
        """Take the trials in another order."""
        second = None if self.second is None else mark_read_only(self.second[order])
        return TrialUnits(mark_read_only(self.first[order]), second)


@attrs.frozen(eq=False)
class PersonWeights:
    """The law of the weights of all persons: how often each is picked."""

    # `n_second` is the number of persons on the segments' side if they are drawn independently of
    # those on the models' side; None if both sides are the same persons.

    # Behind the persons stand a constant one, if `constant`, which is the other side of trials of
    # one person, and `n_groups` groups of such trials, drawn by themselves.

    n_first: int
    n_second: int | None
    constant: bool = False
    n_groups: int = 0

    @property
    def degrees(self) -> float:
        """Persons less one."""
        return float(self.n_first - 1)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of persons on either side."""
        n_first = self.n_first + self.constant + self.n_groups
        return n_first, n_first if self.n_second is None else self.n_second

    def draw(self, n_replicates: int, rng: np.random.Generator) -> tuple[Weights, Weights]:
        """Draw weights for both sides: (n_replicates, n) each."""
        # Replicate by replicate, so that drawing several at once makes no difference.
        if self.n_second is None:
            weights = self._draw_side((n_replicates, self.n_first), rng)
            if self.constant:
                ones = np.ones((n_replicates, 1), dtype=weights.dtype)
                weights = np.concatenate((weights, ones), axis=1)
            if self.n_groups:
                groups = self._draw_side((n_replicates, self.n_groups), rng)
                weights = np.concatenate((weights, groups), axis=1)
            return weights, weights
        drawn = [[self._draw_side((1, n), rng) for n in self.shape] for _ in range(n_replicates)]
        first, second = map(np.concatenate, zip(*drawn, strict=True))
        return first, second

    @staticmethod
    def _draw_side(shape: tuple[int, int], rng: np.random.Generator) -> Weights:
        n_replicates, n = shape
        picks = rng.integers(0, n, size=shape) + n * np.arange(n_replicates)[:, None]
        return np.bincount(picks.ravel(), minlength=picks.size).reshape(shape)


@attrs.frozen(eq=False)
class SpeakerPlan:
    """Draw a weight for each of the persons in the trials of both classes."""

    tar: TrialUnits
    non: TrialUnits
    persons: PersonWeights
    strata: TrialStrata

    @classmethod
    def of(cls, sample: ListedSample, *, pigeonhole: bool) -> "SpeakerPlan":
        """Make a plan for the persons who take part in trials, at least two."""
        # In a pigeonhole bootstrap the two sides are different persons, drawn independently.
        tar, non = sample.persons
        tar_second = None
        if pigeonhole:
            (tar_first, non_first), models = _renumber(tar[0], non[0])
            (tar_second, non_second), segments = _renumber(tar[1], non[1])
            sides = [(models.size, "models of "), (segments.size, "segments of ")]
            persons = PersonWeights(models.size, segments.size)
        else:
            refuse_same_speaker(*non)
            alone = non[1] < 0
            if alone.any():
                return cls._with_single(sample, alone)
            (tar_first, non_first, non_second), present = _renumber(tar[0], *non)
            sides = [(present.size, "")]
            persons = PersonWeights(present.size, None)
        for n, what in sides:
            if n < _FEWEST_SPEAKERS:
                raise check.invalid("key", f"have {what}at least two speakers with trials", f"{n}")
        return cls(
            TrialUnits(tar_first, tar_second),
            TrialUnits(non_first, non_second),
            persons,
            sample.strata,
        )

    @classmethod
    def _with_single(cls, sample: ListedSample, alone: BoolArray) -> "SpeakerPlan":
        """Make a plan for a sample with non-targets of one person, perhaps in groups."""
        tar, (first, second) = sample.persons
        (tar_first, non_first, others), present = _renumber(tar[0], first, second[~alone])
        n = present.size
        if n < _FEWEST_SPEAKERS:
            raise check.invalid("key", "have at least two speakers with trials", f"{n}")
        # -1 is nobody, -2 the first group.
        groups = -2 - second[alone].astype(np.int64)
        constant, n_groups = bool((groups < 0).any()), int(groups.max()) + 1
        non_second = np.empty(second.size, dtype=np.min_scalar_type(n + 1 + n_groups))
        non_second[~alone] = others
        non_second[alone] = np.where(groups < 0, n, n + constant + groups)
        return cls(
            TrialUnits(tar_first, None),
            TrialUnits(non_first, mark_read_only(non_second)),
            PersonWeights(present.size, None, constant, n_groups),
            sample.strata,
        )

    def draw_weights(self, rng: np.random.Generator) -> tuple[Weights, Weights]:
        """Draw the weight of each target trial and of each non-target trial."""
        first, second = self.persons.draw(1, rng)
        return self.tar.weights(first[0], second[0]), self.non.weights(first[0], second[0])

    def reordered(self, tar_order: IndexArray, non_order: IndexArray) -> "SpeakerPlan":
        """Return the plan for the trials in another order."""
        return _reordered(self, tar_order, non_order)


def _reordered(plan: _Plan, tar_order: IndexArray, non_order: IndexArray) -> _Plan:
    tar, non = plan.tar.reordered(tar_order), plan.non.reordered(non_order)
    return attrs.evolve(plan, tar=tar, non=non, strata=plan.strata.reordered(tar_order, non_order))


def _renumber(*lists: Positions) -> tuple[list[Positions], IntArray]:
    """Give numbers without gaps to the persons who occur in any of the lists, and list them."""
    size = 1 + max((int(persons.max()) for persons in lists if persons.size), default=-1)
    present = np.zeros(size, dtype=np.bool_)
    for persons in lists:
        present[persons] = True
    numbers = (np.cumsum(present) - 1).astype(np.min_scalar_type(size))
    return [mark_read_only(numbers[persons]) for persons in lists], np.flatnonzero(present)


# ---- Options

Method: TypeAlias = Literal["iid", "one-layer", "two-layer"]

ScoresMethod: TypeAlias = Literal["iid", "one-layer", "two-layer", "speaker"]


# So many would change no digit of an interval, and their values alone take 80 MB for each figure.
_MOST_REPLICATIONS = 10**7


def _to_replications(value: object) -> int:
    # A standard deviation takes two.
    return whole_number(value, 2, "replications", _MOST_REPLICATIONS)


def _to_workers(value: object) -> int:
    return whole_number(value, 1, "workers")


def _to_confidence(value: float) -> float:
    return check.check_fraction(value, "confidence")


@attrs.frozen(eq=False)
class Resampling:
    """How to resample: what all bootstraps have in common.

    Parameters
    ----------
    method : {"iid", "one-layer", "two-layer", "speaker"}
        What is drawn: trials, sets of trials, sets and trials in them, or speakers.
    replications : int, default: 2000
        Number of replicates, at least 2.
    confidence : float, default: 0.95
        Nominal coverage of intervals, strictly between 0 and 1.
    interval : {"percentile", "basic", "ratio", "normal", "student"}, optional
        Kind of interval; by default the one of the statistic.
    rng : Generator, int or None
        Source of randomness.
    workers : int, default: 1
        Number of processes.
    progress : bool, default: False
        Show a progress bar.
    pigeonhole : bool, default: False
        Whether persons on the two sides are different, drawn independently.
    """

    method: ScoresMethod = attrs.field(validator=check.one_of(ScoresMethod))
    replications: int = attrs.field(default=2000, converter=_to_replications)
    confidence: float = attrs.field(default=0.95, converter=_to_confidence)
    interval: IntervalKind | None = attrs.field(
        default=None, validator=attrs.validators.optional(check.one_of(IntervalKind))
    )
    rng: np.random.Generator = attrs.field(default=None, converter=check.as_generator)
    workers: int = attrs.field(default=1, converter=_to_workers)
    progress: bool = False
    pigeonhole: bool = False

    def __attrs_post_init__(self) -> None:
        """Check that nothing was asked for that the method does not do."""
        if self.method != "speaker":
            hint = 'Speakers take method="speaker".'
            expected = f'be left out with method="{self.method}"'
            if self.pigeonhole:
                raise check.invalid("pigeonhole", expected, "True", hint)

    def sample(
        self, scores: AnyScores, key: KeyLike, who: Speakers, conditions: Conditions | None
    ) -> ListedSample:
        """Join scores and key, with the speakers that the method draws.

        Parameters
        ----------
        scores, key
            As for `bootstrap_scores`.
        who : Speakers
            Who speaks.
        conditions
            As for `bootstrap_scores`.

        Returns
        -------
        ListedSample
        """
        check_system(scores, "scores")
        # Of a file, read once.
        both = split_key(key)
        refuse_mixture(both[1])
        if self.method == "iid":
            who.maps(both)
            return self._checked(ListedSample.of(scores, both, conditions))

        def speakers() -> TrialSpeakers:
            if self.method == "speaker":
                return who.of_trials(both, one_person=not self.pigeonhole)
            return who.of_models(both)

        return self._checked(ListedSample.of(scores, both, conditions, speakers))

    def kinds_sample(
        self, scores: AnyScores, key: KeyLike, who: Speakers, layer: str | None = None
    ) -> ListedSample:
        """Join scores, key and the kinds of trials, with the speakers that the method draws.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of the system.
        key : pair (key, metadata)
            Trials, and a column ``kind``.
        who : Speakers
            Who speaks; of a spoof the person whose voice is claimed, that of the model.
        layer : str, optional
            A column of the metadata whose values are drawn beside the speakers of spoofs.

        Returns
        -------
        ListedSample
            With two kinds of non-targets, each with half of the false-alarm rate.
        """
        check_system(scores, "scores")
        if self.pigeonhole:
            hint = "A spoof has one person."
            raise check.invalid("pigeonhole", "be left out where spoofs are drawn", "True", hint)
        both = split_key(key)
        speakers = None if self.method == "iid" else who
        return self._checked(ListedSample.of_kinds(scores, both, speakers, layer))

    def _checked(self, sample: ListedSample) -> ListedSample:
        refuse_repeated(sample)
        if self.method in ("one-layer", "two-layer"):
            for one, what in ((sample.tar, "target"), (sample.non, "non-target")):
                persons = one.persons
                if persons is not None and persons[0].min() == persons[0].max():
                    expected = f"have {what} trials of models of at least two speakers"
                    raise check.invalid("key", expected, "1")
        return sample

    def plan(
        self,
        sample: ListedSample,
        tar_sets: npt.ArrayLike | None = None,
        non_sets: npt.ArrayLike | None = None,
    ) -> ResamplingPlan:
        """Make the plan for the trials of a sample.

        Parameters
        ----------
        sample : ListedSample
            The trials; by sets or by speaker, with speakers unless sets are given.
        tar_sets, non_sets : array_like of str or int, optional
            Label of each trial's set; by default the speaker of its model.

        Returns
        -------
        ResamplingPlan
        """
        strata = sample.strata
        if self.method == "speaker":
            return SpeakerPlan.of(sample, pigeonhole=self.pigeonhole)
        if self.method == "iid":
            for labels, name in ((tar_sets, "tar_sets"), (non_sets, "non_sets")):
                if labels is not None:
                    hint = 'Sets take method="one-layer" or "two-layer".'
                    raise check.invalid(name, 'be left out with method="iid"', "labels", hint)
            return IidPlan(strata)
        if sample.tar.persons is not None and sample.non.persons is not None:
            tar_sets, non_sets = sample.tar.persons[0], sample.non.persons[0]
        return SetPlan(
            SetIndex.from_labels(tar_sets, strata.tar.n_trials, "tar_sets"),
            SetIndex.from_labels(non_sets, strata.non.n_trials, "non_sets"),
            strata,
            two_layer=self.method == "two-layer",
        )


def refuse_repeated(sample: ListedSample) -> None:
    """Raise if trials are of several conditions."""
    for one, what in ((sample.tar, "targets"), (sample.non, "non-targets")):
        if one.is_repeated:
            hint = "A trial in two conditions cannot be resampled within one of them."
            raise check.invalid("conditions", "not overlap", f"{what} in several conditions", hint)
