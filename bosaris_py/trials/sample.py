"""The sample: the scored trials of one system, joined once, each class sorted once.

Each evaluation asks the sample of a system: for counts, the ROC, Cllr, error-rates at thresholds,
and for the condition, the weight and the speakers of each trial. Trials lie in memory
(`ListedSample`) or in files that are read in blocks (`evaluation.StreamedSample`).

A sample has a list of classes: the targets, then the non-targets, which may be of several kinds,
such as zero-effort impostors and spoofed trials. Each kind has a fixed share of the false-alarm
rate. A trial has two speakers, those of its model and of its segment, or only one.
"""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.numerics.counts as counting
import bosaris_py.trials.scores as scoring
from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Positions,
    StrArray,
    Weighting,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import as_score_lists, invalid
from bosaris_py.files.labels import NON_TARGET_KINDS
from bosaris_py.numerics.llr_cost import mean_bits
from bosaris_py.numerics.metrics import sorted_error_rates
from bosaris_py.numerics.roc import ROC, all_within, check_llrs
from bosaris_py.numerics.rocch import ROCCH
from bosaris_py.trials.conditions import ConditionMembers, Conditions, any_of, check_conditions
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.key import AnyKey, Key
from bosaris_py.trials.kinds import (
    CLASS_NOUNS,
    CLASS_WORDS,
    attack_groups,
    check_classes,
    class_numbers,
    have_one_speaker,
)
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speaker_pairs import SpeakerPairs
from bosaris_py.trials.speakers import Speakers, TrialSpeakers
from bosaris_py.trials.strata import SortedStrata, Strata, TrialStrata, slices_of

# The person of the model and of the segment of each trial; None where a trial has one person.
Persons: TypeAlias = tuple[Positions, Positions | None]

Chosen: TypeAlias = Positions | BoolArray | slice

RowKind: TypeAlias = Literal["condition", "pooled", "equalised"]


@attrs.frozen(eq=False, repr=False)
class ScoredClass:
    """The scored trials of one class, or of one kind of non-targets, column by column of the key.

    Each trial has the weight of its condition over the condition's trials (`strata`), or a weight
    of its own (`weights`), not both. A trial of several conditions is listed once for each.
    """

    scores: FloatArray = attrs.field(converter=read_only)
    strata: Strata
    weights: Float64Array | None = attrs.field(
        default=None, converter=attrs.converters.optional(read_only)
    )
    persons: Persons | None = None
    # Number of trials, each once.
    n_trials: int = attrs.field(
        default=attrs.Factory(lambda self: self.scores.size, takes_self=True)
    )
    # The order of the scores, where it is known from a class that these trials were taken from.
    _order: IndexArray | None = attrs.field(default=None, kw_only=True)

    __reduce__ = by_constructor

    def __repr__(self) -> str:
        """Show the counts."""
        return f"ScoredClass: {self.n_trials} trials of {self.strata.n_sets} conditions"

    @functools.cached_property
    def order(self) -> IndexArray:
        """Positions of the trials by condition, then score, equal scores as they came."""
        if self._order is not None:
            return self._order
        order = np.argsort(self.scores, kind="stable")
        return mark_read_only(self.strata.ordered(order))

    @functools.cached_property
    def sorted(self) -> SortedStrata:
        """The scores of each condition, ascending, with weights of their own."""
        if self.weights is not None:
            given = counting.SortedScores.from_scores(self.scores, self.weights, name="scores")
            return SortedStrata((given,), self.strata.shares)
        if self.is_arranged:
            values = mark_read_only(self.scores[self.order])
            parts = [values[part] for part in slices_of(self.strata.sizes.tolist())]
        else:
            parts = [mark_read_only(np.sort(part)) for part in self.strata.split(self.scores)]
        return SortedStrata(tuple(map(counting.SortedScores, parts)), self.strata.shares)

    @functools.cached_property
    def _listed(self) -> list[FloatArray]:
        return self.strata.split(self.scores)

    @property
    def is_arranged(self) -> bool:
        """Whether the order of the scores is known."""
        return self._order is not None or _is_kept(self, "order")

    @property
    def values(self) -> counting.SortedScores:
        """All scores, ascending; of a class without conditions."""
        (part,) = self.sorted.parts
        return part

    @property
    def trial_weights(self) -> Float64Array | None:
        """The weight of each trial; None if all weigh the same."""
        return self.strata.trial_weights() if self.weights is None else self.weights

    def take(self, chosen: Chosen, strata: Strata | None = None) -> "ScoredClass":
        """Return some trials of a class without conditions; what is sorted is not sorted again."""
        scores = mark_read_only(self.scores[chosen])
        strata = Strata.single(scores.size) if strata is None else strata
        order = None
        if self.is_arranged:
            order = self.order
            if not isinstance(chosen, slice):
                number = np.full(self.scores.size, -1, dtype=np.intp)
                number[chosen] = np.arange(scores.size)
                order = number[order]
                order = order[order >= 0]
            order = mark_read_only(strata.ordered(order))
        persons = self.persons
        if persons is not None:
            persons = persons[0][chosen], None if persons[1] is None else persons[1][chosen]
        weights = None if self.weights is None else self.weights[chosen]
        return ScoredClass(scores, strata, weights, persons, order=order)

    def divided(self, parts: Sequence[tuple[Positions, float]]) -> "ScoredClass":
        """Divide a class into conditions, given the positions and the share of each.

        Trials of no condition are left out. What stands in several is listed once for each; such a
        class cannot be resampled.
        """
        held = [(part, share) for part, share in parts if part.size and share > 0]
        sizes = np.array([part.size for part, _ in held])
        shares = np.array([share for _, share in held])
        numbers = np.full(self.scores.size, -1, dtype=np.min_scalar_type(-len(held) - 1))
        for number, (part, _) in enumerate(held):
            # Positions ascend, so the last one tells whether all are there.
            if part[-1] >= self.scores.size:
                expected = f"belong to the {self.scores.size} trials of the class"
                raise invalid("members", expected, f"position {part[-1]}")
            numbers[part] = number
        chosen = np.flatnonzero(numbers >= 0)
        if chosen.size == sizes.sum():
            everything = slice(None) if chosen.size == self.scores.size else chosen
            if len(held) == 1:
                return self.take(everything)
            labels = mark_read_only(numbers[everything].copy())
            return self.take(everything, Strata(labels, sizes, shares))
        labels = mark_read_only(np.repeat(np.arange(len(held)), sizes))
        listed = mark_read_only(self.scores[np.concatenate([part for part, _ in held])])
        return ScoredClass(listed, Strata(labels, sizes, shares), n_trials=chosen.size)

    @property
    def is_repeated(self) -> bool:
        """Whether trials of several conditions are listed several times."""
        return self.n_trials < self.scores.size

    def parts_of_roc(self, target_scores: Float64Array, *, is_tar: bool) -> list[ROC]:
        """Count the trials of each condition at the target scores, weighted: parts that add up."""
        none_at, none_between = (np.zeros(target_scores.size + i, np.int64) for i in (0, 1))
        parts = []
        counted = [counting.count_sorted(target_scores, part) for part in self.sorted.parts]
        # Van Leeuwen (2008), equation 12: a condition counts with its share over its trials.
        for (at, between), size, share in zip(
            counted, self.strata.sizes.tolist(), self.strata.shares.tolist(), strict=True
        ):
            factor = share * self.n_trials / size
            if is_tar:
                parts.append(ROC(target_scores, at, none_at, none_between).weighted(factor, 0.0))
            else:
                parts.append(ROC(target_scores, none_at, at, between).weighted(0.0, factor))
        return parts

    def share(self, thresholds: Float64Array, *, accepted: bool) -> Float64Array:
        """Return the weighted share of scores from, or else below, thresholds that ascend."""
        # Van Leeuwen (2008), equations 3 and 4.
        total = np.zeros(thresholds.size)
        for number, (share, size) in enumerate(
            zip(self.strata.shares, self.strata.sizes.tolist(), strict=True)
        ):
            below = self.sorted.parts[number].count_below(thresholds)
            total += share * ((size - below if accepted else below) / size)
        return total

    def mean_bits(self, sign: float) -> list[float]:
        """Return the mean of log2(1 + exp(sign * score)) of each condition, times its share."""
        # Van Leeuwen (2008), equations 9 to 11: both sums of Cllr are averaged over conditions.
        parts = zip(self.strata.shares.tolist(), self._listed, strict=True)
        return [share * mean_bits(scores, None, sign=sign) for share, scores in parts]


def _is_kept(scored: object, name: str) -> bool:
    """Tell whether a cached property has been computed; that does not compute it."""
    try:
        object.__getattribute__(scored, name)
    except AttributeError:
        return False
    return True


class Sample(abc.ABC):
    """The scored trials of one system, as far as its metrics depend on them.

    Implementations are frozen, can be pickled, and check their scores when they are made. What is
    costly is computed when first asked for, and kept.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """Show the counts."""
        return f"{type(self).__name__}: {self.n_tar} targets, {self.n_non} non-targets"

    @property
    @abc.abstractmethod
    def n_tar(self) -> int:
        """Number of target trials, those of weight 0 left out."""

    @property
    @abc.abstractmethod
    def n_non(self) -> int:
        """Number of non-target trials, those of weight 0 left out."""

    @property
    @abc.abstractmethod
    def roc(self) -> ROC:
        """The steppy ROC."""

    @property
    @abc.abstractmethod
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""

    @property
    def hull(self) -> ROCCH:
        """The ROC's convex hull, which the ROC keeps."""
        return self.roc.convex_hull()

    @abc.abstractmethod
    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates, the miss rate first, at thresholds of any shape and order."""

    def within(self, low: float, high: float) -> bool:
        """Tell whether all scores lie in a range; False if that is not known.

        Parameters
        ----------
        low, high : float
            The range, both ends included.

        Returns
        -------
        bool
        """
        return False


@attrs.frozen(eq=False, repr=False)
class ListedSample(Sample):
    """Scored trials in memory, which conditions may divide; made by `of` or `from_scores`."""

    # The targets, then the non-targets, of one kind or of several.
    classes: tuple[ScoredClass, ...]
    # The share of each kind of non-targets in the false-alarm rate.
    kind_shares: tuple[float, ...] = (1.0,)
    # The words of these kinds.
    kinds: tuple[str, ...] = attrs.field(
        default=attrs.Factory(lambda self: CLASS_WORDS[1 : len(self.classes)], takes_self=True),
        kw_only=True,
    )
    # The name of each person, by the number that it has in the classes.
    speaker_ids: StrArray | None = attrs.field(default=None, kw_only=True)
    _pairs: SpeakerPairs | None = attrs.field(default=None, kw_only=True)

    @classmethod
    def from_scores(
        cls,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
        *,
        strata: TrialStrata | None = None,
    ) -> "ListedSample":
        """Take two lists of scores, with weights (0 says no trial) or conditions of the trials."""
        tar, non = as_score_lists(tar, non, tar_weights, non_weights)
        classes = []
        for number, (scores, weights, name) in enumerate(
            ((tar, tar_weights, "tar"), (non, non_weights, "non"))
        ):
            array, checked = counting.as_trials(scores, weights, name)
            if checked is not None and not checked.all():
                array, checked = array[checked > 0], checked[checked > 0]
            own = Strata.single(array.size) if strata is None else strata[number]
            classes.append(ScoredClass(array, own, checked))
        return cls(tuple(classes))

    @classmethod
    def of(
        cls,
        scores: AnyScores,
        key: KeyLike,
        conditions: Conditions | None = None,
        speakers: Callable[[], TrialSpeakers] | None = None,
        *,
        allow_empty: bool = False,
    ) -> "ListedSample":
        """Join the scores of a system with a key, and with conditions and their weights."""
        # `speakers` finds who speaks in models and segments; it is asked when scores and key fit.
        scoring.check_scores(scores)
        key, _ = split_key(key)
        if conditions is not None:
            check_conditions(conditions)
        lists = scoring.class_scores(scores, key)
        for listed, what in zip(lists, ("targets", "non-targets"), strict=True):
            if not (listed.size or allow_empty):
                hint = scoring.why_unscored(scores, key, targets=what == "targets")
                raise invalid("key", f"have {what} with scores", "none", hint)
        sides, named = _persons(scores, key, None if speakers is None else speakers())
        classes = []
        for listed, name, side in zip(lists, ("tar", "non"), sides, strict=True):
            array = counting.as_trials(listed, None, name)[0] if listed.size else listed
            # The arrays are fresh, and not copied once more.
            alike = Strata.single(array.size)
            classes.append(ScoredClass(mark_read_only(array), alike, None, side))
        sample = cls(tuple(classes), **named)
        if conditions is None:
            return sample
        return sample.weighted(conditions.scored_members(scores, key))

    @classmethod
    def of_kinds(
        cls, scores: AnyScores, key: KeyLike, who: Speakers | None = None, layer: str | None = None
    ) -> "ListedSample":
        """Join the scores of a system with a key and the kinds of its non-targets."""
        # The metadata have a column `kind` of the words target, nontarget and spoof; all kinds have
        # the same share. A spoof has one person, the speaker of its model. `layer` is a column:
        # spoofs with the same value are a group, -2, -3, ... in place of a second person.
        plain, metadata = split_key(key)
        numbers = class_numbers(plain, metadata)
        tar, non = scoring.class_scores(scores, plain)
        scored = scoring.scored_trials(scores, plain)
        alone = have_one_speaker(numbers)
        found = None if who is None else who.of_trials((plain, metadata), one_sided=alone)
        (of_tar, of_non), named = _persons(scores, plain, found)
        attacks = None
        if layer is not None and metadata is not None:
            attacks = metadata.for_trials(plain).factor(layer)
        places = np.flatnonzero(numbers > 0 if scored is None else (numbers > 0) & scored)
        lists: list[tuple[FloatArray, Persons | None]] = [(tar, of_tar)]
        for number, kind in enumerate(NON_TARGET_KINDS, 1):
            own = numbers[places] == number
            second = None if of_non is None or of_non[1] is None else of_non[1][own]
            if not kind.has_two_speakers:
                second = np.full(np.count_nonzero(own), -1, dtype=np.int64)
                if layer is not None and attacks is not None:
                    second = attack_groups(attacks.take(places[own]), layer)
            lists.append((non[own], None if of_non is None else (of_non[0][own], second)))
        check_classes([scores.size for scores, _ in lists])
        classes = {}
        for (listed, persons), word, noun in zip(lists, CLASS_WORDS, CLASS_NOUNS, strict=True):
            if listed.size:
                array = counting.as_trials(listed, None, noun)[0]
                alike = Strata.single(array.size)
                classes[word] = ScoredClass(mark_read_only(array), alike, None, persons)
        return cls._of_words(classes, **named)

    @classmethod
    def _of_words(cls, classes: Mapping[str, ScoredClass], **named: Any) -> "ListedSample":
        """Take the targets, and the kinds of non-targets that there are, with equal shares."""
        _, *words = classes
        shares = (1.0 / len(words),) * len(words)
        return cls(tuple(classes.values()), shares, kinds=tuple(words), **named)

    def part(self, positions: Mapping[str, IndexArray]) -> "ListedSample":
        """Return the trials at some positions of the targets and of each kind of non-targets."""
        words = "target", *self.kinds
        taken = {
            word: one.take(mark_read_only(positions[word]))
            for word, one in zip(words, self.classes, strict=True)
        }
        held = {word: one for word, one in taken.items() if one.n_trials}
        return ListedSample._of_words(held, speaker_ids=self.speaker_ids)

    def with_shares(self, *shares: float) -> "ListedSample":
        """Return the sample with given shares of all kinds, of sum one; 0 leaves a kind out."""
        parts = dict(zip(self.kinds, self.classes[1:], strict=True))
        held = {}
        for kind, share in zip(NON_TARGET_KINDS, shares, strict=True):
            if share > 0:
                if kind.word not in parts:
                    raise invalid("key", f"have {kind.noun}s with scores", "none")
                held[kind.word] = share
        classes = self.tar, *(parts[word] for word in held)
        return ListedSample(
            classes, tuple(held.values()), kinds=tuple(held), speaker_ids=self.speaker_ids
        )

    def with_kinds_pooled(self) -> "ListedSample":
        """Return the sample with all non-targets alike."""
        pooled = self.non
        alike = Strata.single(pooled.scores.size)
        pooled = ScoredClass(pooled.scores, alike, None, pooled.persons)
        return ListedSample((self.tar, pooled), speaker_ids=self.speaker_ids)

    @property
    def tar(self) -> ScoredClass:
        """The targets."""
        return self.classes[0]

    @functools.cached_property
    def non(self) -> ScoredClass:
        """The non-targets; several kinds are conditions, with the shares that they have."""
        kinds = self.classes[1:]
        return kinds[0] if len(kinds) == 1 else _joined(kinds, self.kind_shares)

    @property
    def counts(self) -> tuple[IntArray, IntArray]:
        """Number of trials at each position: one."""
        tar, non = (np.broadcast_to(1, part.scores.size) for part in (self.tar, self.non))
        return tar, non

    @property
    def lists(self) -> tuple[FloatArray, FloatArray]:
        """Target and non-target scores, in the order of the trials."""
        return self.tar.scores, self.non.scores

    @property
    def lists_of_kinds(self) -> dict[str, FloatArray]:
        """Scores of the targets and of each kind of non-targets, by the word of the class."""
        words = "target", *self.kinds
        return {word: one.scores for word, one in zip(words, self.classes, strict=True)}

    @property
    def strata(self) -> TrialStrata:
        """The conditions of the trials of both classes."""
        return TrialStrata(self.tar.strata, self.non.strata)

    @property
    def trial_weights(self) -> tuple[Float64Array | None, Float64Array | None]:
        """The weight of each trial of both classes; None where all weigh the same."""
        return self.tar.trial_weights, self.non.trial_weights

    @functools.cached_property
    def pairs(self) -> SpeakerPairs:
        """The trials by speaker and by pair of speakers."""
        if self._pairs is not None:
            return self._pairs
        (tar, _), (one, other) = self.persons
        found = SpeakerPairs.from_numbers(tar, one, other, self.strata)
        if self.speaker_ids is None:
            return found
        return attrs.evolve(found, ids=mark_read_only(self.speaker_ids[found.present]))

    def sharing_pairs(self, other: "ListedSample") -> "ListedSample":
        """Take over the pairs of speakers of another system, if the trials have the same."""
        mine, theirs = ([p for side in one.persons for p in side] for one in (self, other))
        same = all(np.array_equal(*both) for both in zip(mine, theirs, strict=True))
        alike = same and self.strata.is_single and other.strata.is_single
        return attrs.evolve(self, pairs=other.pairs) if alike else self

    @property
    def persons(self) -> tuple[tuple[Positions, Positions], tuple[Positions, Positions]]:
        """The numbers of the persons of model and segment, of both classes."""
        (tar, tar_segments), (non, non_segments) = (
            (None, None) if side.persons is None else side.persons for side in (self.tar, self.non)
        )
        if tar is None or tar_segments is None or non is None or non_segments is None:
            raise invalid("sample", "know the two speakers of each trial", repr(self))
        return (tar, tar_segments), (non, non_segments)

    def arranged(self) -> "ListedSample":
        """Sort the scores such that their order is kept, which weights of trials need."""
        for part in (self.tar, self.non):
            assert part.order.size == part.scores.size
        return self

    @property
    def n_tar(self) -> int:
        """Number of target trials, those of weight 0 left out."""
        return self.tar.n_trials

    @property
    def n_non(self) -> int:
        """Number of non-target trials, those of weight 0 left out."""
        return self.non.n_trials

    def _summed_roc(self) -> ROC:
        listed = np.concatenate([part.values for part in self.tar.sorted.parts])
        target_scores = mark_read_only(np.unique(listed.astype(np.float64, copy=False)))
        parts = self.tar.parts_of_roc(target_scores, is_tar=True)
        parts += self.non.parts_of_roc(target_scores, is_tar=False)
        return functools.reduce(ROC.__add__, parts)

    def _summed_cllr(self) -> float:
        return math.fsum(self.tar.mean_bits(-1.0) + self.non.mean_bits(1.0)) / 2.0

    def pooled(self, members: Sequence[ConditionMembers]) -> Self:
        """Return the trials of some conditions, all alike.

        Parameters
        ----------
        members : sequence of ConditionMembers
            The conditions.

        Returns
        -------
        ListedSample
        """
        tar, non = self.counts
        return self.restricted(
            any_of((item.tar for item in members), tar.size),
            any_of((item.non for item in members), non.size),
        )

    def weighted(self, members: Sequence[ConditionMembers]) -> Self:
        r"""Divide the trials of a sample without conditions into weighted conditions.

        Parameters
        ----------
        members : sequence of ConditionMembers
            Where the trials of each condition stand, see `Conditions.members`. Other trials do not
            count.

        Returns
        -------
        ListedSample

        Notes
        -----
        With the shares :math:`w_\alpha` of the conditions, which in each class sum to one over the
        conditions that have trials of it,

        .. math::

            P_{miss}(\theta) = \sum_\alpha w_\alpha P_{miss}^\alpha(\theta), \qquad
            P_{fa}(\theta) = \sum_\alpha w_\alpha P_{fa}^\alpha(\theta)

        and the two sums of Cllr are averaged likewise [1]_ (equations 3, 4 and 9 to 11). That is
        the same as weighting each trial (equations 13 to 22). Here each condition is counted at all
        target scores, and its counts are added with the factor :math:`w_\alpha N / N_\alpha`.
        Minimum Cllr, minimum DCF and the EER are those of this one ROC: one threshold for all
        conditions. `n_tar` and `n_non` count trials, not weights. Apply the rule of 30 to each
        condition.

        References
        ----------
        .. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker Recognition using
           multiple conditions in an evaluation", 2008.
        """
        tar = [(item.tar, item.tar_weight) for item in members]
        non = [(item.non, item.non_weight) for item in members]
        for parts, noun in ((tar, "targets"), (non, "non-targets")):
            if not any(share for _, share in parts):
                raise invalid("conditions", f"have {noun} in some condition", "none")
        return self._divided(tar, non)

    def rows(
        self, members: Sequence[ConditionMembers]
    ) -> Iterator[tuple[str, RowKind, float | None, Self]]:
        """Yield the rows of a table of conditions: all pooled, each alone, all weighted.

        Parameters
        ----------
        members : sequence of ConditionMembers
            As for `weighted`. Trials outside all conditions are in no row.

        Yields
        ------
        name, kind, weight, sample
            The condition, ``"condition"``, ``"pooled"`` or ``"equalised"``, and its trials, one
            after the other so that not all are copied at once. A class may be empty.
        """
        pooled = self.pooled(members)
        yield "pooled", "pooled", None, pooled
        for item in members:
            yield item.name, "condition", item.weight, self.restricted(item.tar, item.non)
        is_whole = pooled.n_tar and pooled.n_non
        yield "equalised", "equalised", None, self.weighted(members) if is_whole else pooled

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC; of conditions, the weighted sum of their ROCs."""
        tar, non = self.tar, self.non
        if self.strata.is_single:
            return ROC.from_sorted(tar.values, non.values)
        return self._summed_roc()

    @functools.cached_property
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""
        tar, non = self.tar, self.non
        if self.strata.is_single:
            miss_bits = mean_bits(tar.values.values, tar.values.weights, sign=-1.0)
            return (miss_bits + mean_bits(non.scores, non.weights, sign=1.0)) / 2.0
        return self._summed_cllr()

    def warn_unless_llrs(self) -> None:
        """Warn of scores that are inverted, or cannot be log-likelihood-ratios."""
        check_llrs(*self.lists, self.tar.weights, self.non.weights)

    def within(self, low: float, high: float) -> bool:
        """Tell whether all scores lie in a range, but for a few that are infinite."""
        return all_within(low, high, *self.lists)

    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates; without conditions faster than in general."""
        tar, non = self.tar, self.non
        if not (self.strata.is_single and tar.n_trials and non.n_trials):
            return self._mean_rates(thresholds)
        return sorted_error_rates(tar.values, non.values, thresholds)

    def _mean_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the weighted means of the error-rates of conditions; NaN of an empty class."""
        # Counting wants ascending thresholds, each once.
        limits, positions = np.unique(thresholds, return_inverse=True)
        pmiss, pfa = (
            trials.share(limits, accepted=accepted)
            if trials.n_trials
            else np.full(limits.size, np.nan)
            for trials, accepted in ((self.tar, False), (self.non, True))
        )
        shape = np.shape(thresholds)
        return pmiss[positions].reshape(shape), pfa[positions].reshape(shape)

    def restricted(self, tar: Chosen, non: Chosen) -> Self:
        """Return some trials of a sample without conditions, at ascending positions."""
        return type(self)((self.tar.take(tar), self.non.take(non)))

    def _divided(
        self, tar: Sequence[tuple[Positions, float]], non: Sequence[tuple[Positions, float]]
    ) -> Self:
        """Divide each class into conditions: their positions and shares."""
        classes = self.tar.divided(tar), self.non.divided(non)
        return type(self)(classes, speaker_ids=self.speaker_ids)

    def of_system(
        self, scores: AnyScores, key: AnyKey, conditions: Conditions | None = None
    ) -> "ListedSample":
        """Return the scores of another system on the same trials, with the speakers of these."""
        other = ListedSample.of(scores, key, conditions)
        classes = tuple(
            attrs.evolve(theirs, strata=mine.strata, persons=mine.persons)
            for mine, theirs in zip(self.classes, other.classes, strict=True)
        )
        pairs = self.pairs if _is_kept(self, "pairs") else self._pairs
        return ListedSample(classes, pairs=pairs, speaker_ids=self.speaker_ids)


def _joined(kinds: Sequence[ScoredClass], shares: Sequence[float]) -> ScoredClass:
    """Return kinds of non-targets as one class, whose conditions are those of all kinds."""
    begin = np.cumsum([0, *(kind.strata.n_sets for kind in kinds)]).tolist()
    labels = [
        np.full(kind.scores.size, first)
        if kind.strata.labels is None
        else kind.strata.labels + first
        for kind, first in zip(kinds, begin, strict=False)
    ]
    weights = [share * kind.strata.shares for kind, share in zip(kinds, shares, strict=True)]
    sizes = [kind.strata.sizes for kind in kinds]
    strata = Strata(*(mark_read_only(np.concatenate(part)) for part in (labels, sizes, weights)))
    persons: Persons | None = None
    known = [kind.persons for kind in kinds if kind.persons is not None]
    if len(known) == len(kinds):
        # -1: a trial of this kind has one person.
        others = [np.full_like(one, -1, np.int64) if two is None else two for one, two in known]
        persons = np.concatenate([one for one, _ in known]), np.concatenate(others)
    scores = mark_read_only(np.concatenate([kind.scores for kind in kinds]))
    order = None
    if all(kind.is_arranged for kind in kinds):
        # Kinds are conditions, which stand one after the other in the order, too.
        starts = np.cumsum([0, *(kind.scores.size for kind in kinds)]).tolist()
        parts = [kind.order + start for kind, start in zip(kinds, starts, strict=False)]
        order = mark_read_only(np.concatenate(parts))
    return ScoredClass(scores, strata, None, persons, order=order)


def _persons(
    scores: AnyScores, key: AnyKey, speakers: TrialSpeakers | None
) -> tuple[Sequence[Persons | None], dict[str, Any]]:
    """Return the persons of each scored trial, of targets and non-targets, and their names."""
    if speakers is None:
        return (None, None), {}
    named = {"speaker_ids": speakers.ids}
    # Numbers that take little memory.
    small = np.min_scalar_type(speakers.n_speakers)
    of_models, of_segments = speakers.of_models.astype(small), speakers.of_segments.astype(small)
    scored = scoring.scored_trials(scores, key)
    if scored is None and isinstance(key, Key):
        # Column by column: numpy lists what a mask chooses of the transpose row by row.
        one, other = (
            np.broadcast_to(side, key.shape).T for side in (of_models[:, np.newaxis], of_segments)
        )
        return [(one[mask.T], other[mask.T]) for mask in (key.tar, key.non)], named
    models, segments = key.trial_positions()
    labels = key.trial_labels()
    if scored is not None:
        models, segments, labels = models[scored], segments[scored], labels[scored]
    chosen = (labels, ~labels)
    return [(of_models[models[mask]], of_segments[segments[mask]]) for mask in chosen], named
