r"""Trials grouped by set, condition and speaker, and the plans that resample them.

Where conditions are weighted, an error-rate is

.. math::

    P = \sum_\alpha w_\alpha \frac{e_\alpha}{n_\alpha},

with :math:`e_\alpha` errors in :math:`n_\alpha` trials of condition :math:`\alpha`. Weight and
number of trials of a condition are matters of design, so trials are resampled within their
condition. Where sets or speakers are picked, :math:`w_\alpha` is divided by the replicate's number
of trials of the condition: the same metric of other trials.

A plan knows nothing about scores. It draws how often each trial was picked, in the order of the
trials it was made for; `reordered` makes the same plan for another order. Two systems are resampled
alike by giving both the weights of one draw. Trials are vectors, column by column.

With weights :math:`w` of speakers, a target trial of speaker i gets :math:`w_i`, which is never
squared. A non-target trial of speakers i and j gets :math:`w_i w_j`.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Positions,
    Readable,
    Weights,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._execution import whole_number
from bosaris_py._validation import (
    Rng,
    as_generator,
    as_score_lists,
    as_vector,
    check_choice,
    check_class_rows,
    check_fraction,
    check_not_empty,
    describe,
    invalid,
    list_some,
    one_of,
    refuse_nan,
)
from bosaris_py.errors import TrialMismatchError
from bosaris_py.numerics.counts import SortedScores
from bosaris_py.trials.alignment import refuse_strangers, true_positions
from bosaris_py.trials.base import frame_of
from bosaris_py.trials.conditions import Conditions, check_conditions
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import AnyKey, Key, check_key
from bosaris_py.trials.scores import AnyScores, scored_trials
from bosaris_py.trials.speakers import TrialSpeakers, Unknown, refuse_same_speaker
from bosaris_py.uncertainty.bootstrap_result import IntervalKind


def draw_picks(n: int, rng: np.random.Generator) -> IntArray:
    """Pick n times with replacement from n things; return how often each was picked."""
    return np.bincount(rng.integers(0, n, size=n), minlength=n)


def as_scores(scores: npt.ArrayLike, name: str) -> FloatArray:
    """Return the scores of one class, checked."""
    array = as_vector(scores, name)
    check_not_empty(array, name)
    refuse_nan(array, name)
    return array


def as_classes(
    tar: npt.ArrayLike, non: npt.ArrayLike, **columns: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the scores of both classes, checked, also against the indexes of their columns."""
    check_class_rows(tar, non, **columns)
    tar, non = as_score_lists(tar, non)
    return as_scores(tar, "tar"), as_scores(non, "non")


# ---- Labels of sets

_FEWEST_SETS = 2


@attrs.frozen(eq=False, repr=False)
class TrialGroups:
    """Which group each trial of one class belongs to."""

    # `labels` numbers the group of each trial from 0, None if there is one group only; `sizes` is
    # the number of trials in each group.

    labels: AnyArray | None = attrs.field(converter=attrs.converters.optional(read_only))
    sizes: IntArray = attrs.field(converter=read_only)

    __reduce__ = by_constructor

    def __repr__(self) -> str:
        """Say how many groups there are and how large."""
        smallest, largest = int(self.sizes.min()), int(self.sizes.max())
        return f"{type(self).__name__}: {self.n_sets} of {smallest} to {largest} trials"

    @property
    def n_sets(self) -> int:
        """Number of groups."""
        return int(self.sizes.size)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(self.sizes.sum())

    def reordered(self, order: IndexArray) -> Self:
        """Take the trials in another order."""
        if self.labels is None:
            return self
        return attrs.evolve(self, labels=mark_read_only(self.labels[order]))

    @functools.cached_property
    def order(self) -> IndexArray:
        """Positions of the trials, group by group."""
        labels = np.zeros(self.n_trials, np.uint8) if self.labels is None else self.labels
        return np.argsort(labels, kind="stable")


@attrs.frozen(eq=False, repr=False)
class SetIndex(TrialGroups):
    """Which set each trial of one class belongs to."""

    labels: AnyArray = attrs.field(converter=read_only)
    sizes: IntArray = attrs.field(converter=read_only)

    @classmethod
    def from_labels(cls, labels: npt.ArrayLike | None, n_trials: int, name: str) -> "SetIndex":
        """Give each set a number; there must be two sets or more, and a label for each trial."""
        if labels is None:
            hint = 'Give the label of each trial\'s set, or use method="iid".'
            raise invalid(name, "be given when sets are resampled", "None", hint)
        array = as_labels(labels, name, n_trials)
        _, numbers, sizes = np.unique(array, return_inverse=True, return_counts=True)
        if sizes.size < _FEWEST_SETS:
            expected = f"name at least {_FEWEST_SETS} sets"
            raise invalid(name, expected, f"{sizes.size}", "One set shows no variation.")
        return SetIndex(*(mark_read_only(a.astype(np.int64)) for a in (numbers, sizes)))


@attrs.frozen(eq=False, repr=False)
class EqualSizeSets(metaclass=Readable):
    """A choice of trials that leaves sets of equal size.

    Parameters
    ----------
    mask : (n,) ndarray of bool
        Which trials are kept.
    size : int
        Number of trials in each set that is kept.
    n_sets : int
        Number of sets that are kept.

    Examples
    --------
    >>> EqualSizeSets(mask=np.array([True, False, True, True, True]), size=2, n_sets=2)
    EqualSizeSets: 2 sets of 2, 4 of 5 trials
    """

    mask: BoolArray
    size: int
    n_sets: int

    @property
    def n_kept(self) -> int:
        """Number of trials that are kept."""
        return self.size * self.n_sets

    def __repr__(self) -> str:
        """Say what is kept."""
        total = self.mask.size
        return f"EqualSizeSets: {self.n_sets} sets of {self.size}, {self.n_kept} of {total} trials"


def as_labels(labels: npt.ArrayLike, name: str, n_trials: int | None = None) -> AnyArray:
    """Return labels that can be sorted; equal ones, and no others, stay equal."""
    if not isinstance(labels, np.ndarray):
        # numpy would make the text "1" of the number 1, and "None" of a missing label.
        labels = np.array(labels, dtype=object)
    expected = "be a one-dimensional list of labels, text or whole numbers"
    unfit = invalid(name, expected, describe(labels))
    if labels.ndim != 1 or labels.dtype.kind not in "iuUSTObf":
        raise unfit
    plain = labels.dtype.kind in "iuUSb"
    listed = [] if plain else labels.tolist()
    missing = [i for i, label in enumerate(listed) if _is_missing(label)]
    if missing:
        found = (
            f"none (None or NaN) for {len(missing)} of {labels.size} trials "
            f"(positions {list_some(missing)})"
        )
        hint = "Leave these trials out, or give each a set of its own."
        raise invalid(name, "tell the set of each trial", found, hint)
    if n_trials is not None and labels.size != n_trials:
        expected = f"have one label for each of the {n_trials} trials"
        raise invalid(name, expected, f"{labels.size} labels")
    if plain:
        return labels
    kinds = {type(label) for label in listed}
    if any(issubclass(kind, (float, np.floating)) for kind in kinds):
        raise unfit
    # In order where there is one, so that a list and an array give the same replicates.
    if all(issubclass(kind, str) for kind in kinds):
        return np.array(listed, dtype=np.str_)
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
        return np.array(listed)
    # Of several types or any other: numbers, different ones for 1 and True.
    numbers: dict[Any, int] = {}
    pairs = [(isinstance(label, (bool, np.bool_)), label) for label in listed]
    try:
        return np.array([numbers.setdefault(pair, len(numbers)) for pair in pairs])
    except TypeError:
        raise unfit from None


def _is_missing(label: Any) -> bool:
    """Tell whether a label is None, NaN, or another library's mark of a missing value."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
    except ValueError:  # an array
        return False


def equal_size_sets(sets: npt.ArrayLike, *, rng: Rng = None) -> EqualSizeSets:
    """Keep as many trials as possible such that all sets have the same size.

    Parameters
    ----------
    sets : (n,) array_like of str or int
        Label of each trial's set.
    rng : Generator, int or None, keyword-only
        Decides which trials of the larger sets are kept.

    Returns
    -------
    EqualSizeSets
        With a mask of the trials to keep. Sets smaller than the size chosen are dropped, larger
        ones are sampled without replacement.

    Notes
    -----
    Wu et al. 2017, section IX (see `bootstrap`, which takes sets of any size), choose the size by
    trial and error. It has an exact answer: with the sizes in descending order, the j largest sets
    keep at most j times the size of the j-th, and only these products compete. At least two sets
    are kept; of equally good choices the one with more sets.

    Examples
    --------
    >>> chosen = equal_size_sets(["a"] * 5 + ["b"] * 4 + ["c"], rng=0)
    >>> chosen
    EqualSizeSets: 2 sets of 4, 8 of 10 trials
    """
    generator = as_generator(rng)
    labels = as_labels(sets, "sets")
    index = SetIndex.from_labels(labels, labels.size, "sets")
    descending = np.sort(index.sizes)[::-1]
    kept = descending * np.arange(1, descending.size + 1)
    # The last of equal products has the most sets.
    n_sets = descending.size - int(np.argmax(kept[: _FEWEST_SETS - 2 : -1]))
    size = int(descending[n_sets - 1])
    # In random order within each set, the first `size` trials are a random choice.
    order = np.lexsort((generator.random(labels.size), index.labels))
    starts = np.cumsum(index.sizes) - index.sizes
    rank = np.arange(order.size) - np.repeat(starts, index.sizes)
    chosen = (rank < size) & (np.repeat(index.sizes, index.sizes) >= size)
    mask = np.zeros(order.size, dtype=np.bool_)
    mask[order[chosen]] = True
    return EqualSizeSets(mark_read_only(mask), size, n_sets)


# ---- Weighted conditions

# Weights of conditions sum to one, up to what their decimals leave.
_SUM_TOLERANCE = 1e-6


class SortedStrata(NamedTuple):
    """The scores of one class, condition by condition, each sorted; `shares` as in `Strata`."""

    parts: tuple[SortedScores, ...]
    shares: Float64Array

    @property
    def slices(self) -> list[slice]:
        """Where the weights of each condition stand, if they are ordered like the parts."""
        return slices_of([part.size for part in self.parts])

    @property
    def values(self) -> FloatArray:
        """All scores, condition by condition."""
        if len(self.parts) == 1:
            return self.parts[0].values
        return np.concatenate([part.values for part in self.parts])


@attrs.frozen(eq=False, repr=False)
class Strata(TrialGroups):
    """Which condition each trial of one class belongs to, and the weight of each in the class."""

    # Conditions without trials of the class are left out; `shares` sum to one.

    shares: Float64Array = attrs.field(converter=read_only)

    @classmethod
    def single(cls, n_trials: int) -> Self:
        """All trials alike: no conditions."""
        return cls(None, mark_read_only(np.array([n_trials])), mark_read_only(np.ones(1)))

    @classmethod
    def from_codes(cls, codes: AnyArray, weights: Float64Array) -> Self:
        """Group trials by the number of their condition, given the weight of each condition."""
        # Conditions that have no trials of this class are left out; the others share the weight.
        counts = np.bincount(codes, minlength=weights.size)
        present = np.flatnonzero(counts)
        if present.size == 1:
            return cls.single(codes.size)
        numbers = np.zeros(weights.size, dtype=np.min_scalar_type(present.size - 1))
        numbers[present] = np.arange(present.size)
        shares = weights[present] / weights[present].sum()
        return cls(*map(mark_read_only, (numbers[codes], counts[present], shares)))

    @property
    def factors(self) -> Float64Array:
        """Weight of a single trial of each condition."""
        # The beta of van Leeuwen 2008, equation (12): w_alpha / n_alpha.
        return np.asarray(self.shares / self.sizes)

    @functools.cached_property
    def _in_order(self) -> bool:
        """Whether trials stand condition by condition."""
        return self.labels is None or not bool(np.any(self.labels[1:] < self.labels[:-1]))

    def members(self) -> list[IndexArray]:
        """Return the positions of the trials of each condition, ascending."""
        return np.split(self.order, np.cumsum(self.sizes)[:-1])

    def split(self, values: AnyArray) -> list[AnyArray]:
        """Return the values of the trials of each condition."""
        return [values] if self.labels is None else [values[part] for part in self.members()]

    def arranged(self, scores: FloatArray) -> tuple[SortedStrata, IndexArray]:
        """Sort the scores of each condition; return them, and the order that does it."""
        if self.labels is None:
            order = np.argsort(scores, kind="stable")
        else:
            members = self.members()
            order = np.concatenate(
                [part[np.argsort(scores[part], kind="stable")] for part in members]
            )
        values = mark_read_only(scores[order])
        parts = tuple(SortedScores(values[part]) for part in slices_of(self.sizes.tolist()))
        return SortedStrata(parts, self.shares), order

    def sorted(self, scores: FloatArray) -> SortedStrata:
        """Sort the scores of each condition."""
        parts = (SortedScores(mark_read_only(np.sort(part))) for part in self.split(scores))
        return SortedStrata(tuple(parts), self.shares)

    def trial_weights(self) -> Float64Array | None:
        """Return what each trial weighs, of one in all; None if there is one condition."""
        return None if self.labels is None else self.factors[self.labels]

    def totals(self, weights: npt.NDArray[Any]) -> Float64Array:
        """Add up a number for each trial within conditions: (k,)."""
        if self.labels is None:
            return np.array([weights.sum()], dtype=np.float64)
        totals = np.bincount(self.labels, weights=weights, minlength=self.n_sets)
        return np.asarray(totals, dtype=np.float64)

    def mean(self, values: npt.NDArray[Any]) -> float:
        """Return the condition-weighted mean of a number for each trial."""
        return float(np.dot(self.shares, self.totals(values) / self.sizes))

    def complete(self, weights: Weights) -> bool:
        """Tell if each condition has kept some weight."""
        if self.labels is None:
            return bool(weights.any())
        if self._in_order:
            return all(weights[part].any() for part in slices_of(self.sizes.tolist()))
        return bool(self.totals(weights).all())

    def weigh(self, weights: Weights) -> Weights:
        """Give each condition its share of one; with one condition weights stay as they are."""
        if self.labels is None:
            return weights
        # The same in a replicate, where the condition has another number of trials.
        return np.asarray((self.shares / self.totals(weights))[self.labels] * weights)

    def draw_picks(self, rng: np.random.Generator) -> IntArray:
        """Pick as many trials of each condition as it has; return how often each was picked."""
        if self.labels is None:
            return draw_picks(int(self.sizes[0]), rng)
        picks = np.concatenate([draw_picks(size, rng) for size in self.sizes.tolist()])
        if self._in_order:
            return picks
        placed = np.empty_like(picks)
        placed[self.order] = picks
        return placed

    def cells(self, sets: SetIndex) -> SetIndex:
        """Return the trials of each set and condition: cell (s, c) has the number s k + c."""
        # Cells may be empty.
        if self.labels is None:
            return sets
        labels = sets.labels * self.n_sets + self.labels
        sizes = np.bincount(labels, minlength=sets.n_sets * self.n_sets)
        return SetIndex(mark_read_only(labels), mark_read_only(sizes))


class TrialStrata(NamedTuple):
    """The conditions of the trials of both classes."""

    tar: Strata
    non: Strata

    @classmethod
    def single(cls, n_tar: int, n_non: int) -> "TrialStrata":
        """No conditions."""
        return cls(Strata.single(n_tar), Strata.single(n_non))

    @classmethod
    def from_labels(
        cls,
        tar_labels: npt.ArrayLike | None,
        non_labels: npt.ArrayLike | None,
        weights: Mapping[Any, float] | None,
        sizes: tuple[int, int],
    ) -> "TrialStrata":
        """Make strata of the arguments `tar_conditions`, `non_conditions`, `condition_weights`."""
        if tar_labels is None and non_labels is None:
            if weights is not None:
                hint = "Give the condition of each trial in `tar_conditions` and `non_conditions`."
                expected = "be left out where there are no conditions"
                raise invalid("condition_weights", expected, describe(weights), hint)
            return cls.single(*sizes)
        arrays = []
        names = ("tar_conditions", "non_conditions")
        for labels, name, size in zip((tar_labels, non_labels), names, sizes, strict=True):
            if labels is None:
                hint = "Conditions weight both classes; give the label of each trial."
                raise invalid(name, "be given like the other one", "None", hint)
            arrays.append(as_labels(labels, name, size))
        levels, codes = np.unique(np.concatenate(arrays), return_inverse=True)
        shares = _condition_weights(weights, levels)
        split = np.split(codes, [sizes[0]])
        return cls(*(Strata.from_codes(part, shares) for part in split))

    @property
    def shares(self) -> tuple[Float64Array, Float64Array]:
        """Weights of the conditions in each class."""
        return self.tar.shares, self.non.shares

    def sorted(self, tar: FloatArray, non: FloatArray) -> tuple[SortedStrata, SortedStrata]:
        """Sort the scores of each condition of both classes."""
        return self.tar.sorted(tar), self.non.sorted(non)

    @property
    def is_single(self) -> bool:
        """Whether there is but one condition in either class."""
        return self.tar.labels is None and self.non.labels is None

    def trial_weights(self) -> tuple[Float64Array | None, Float64Array | None]:
        """Return what each trial weighs in each class; None where there is one condition."""
        return self.tar.trial_weights(), self.non.trial_weights()

    def reordered(self, tar_order: IndexArray, non_order: IndexArray) -> "TrialStrata":
        """Take the trials in another order."""
        return TrialStrata(self.tar.reordered(tar_order), self.non.reordered(non_order))

    def complete(self, tar_weights: Weights, non_weights: Weights) -> bool:
        """Tell if each condition of each class has kept some weight."""
        return self.tar.complete(tar_weights) and self.non.complete(non_weights)

    def weigh(
        self, tar_weights: Weights, non_weights: Weights
    ) -> tuple[Float64Array, Float64Array]:
        """Return float64 weights in which each condition has its share, see `Strata.weigh`."""
        tar, non = self.tar.weigh(tar_weights), self.non.weigh(non_weights)
        return tar.astype(np.float64, copy=False), non.astype(np.float64, copy=False)


def _condition_weights(weights: Mapping[Any, float] | None, levels: AnyArray) -> Float64Array:
    """Return the weight of each label."""
    names = levels.tolist()
    if weights is None:
        return np.full(len(names), 1.0 / len(names))
    name = "condition_weights"
    given: object = weights
    if not isinstance(given, Mapping):
        expected = "map the label of each condition to its weight"
        raise invalid(name, expected, describe(weights), "For instance {'f': 0.5, 'm': 0.5}")
    missing = [label for label in names if label not in weights]
    unused = [label for label in weights if label not in names]
    for labels, found in ((missing, "none for {}"), (unused, "conditions without trials: {}")):
        if labels:
            expected = "name the conditions of the trials and no others"
            raise invalid(name, expected, found.format(list_some(labels)))
    try:
        values = np.array([weights[label] for label in names], dtype=np.float64)
    except (TypeError, ValueError):
        raise invalid(name, "be numbers", describe(list(weights.values()))) from None
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise invalid(name, "be finite and positive", list_some(values.tolist()))
    if abs(values.sum() - 1.0) > _SUM_TOLERANCE:
        raise invalid(name, "sum to one", f"{values.sum():g}")
    return values


def weighted_sum(terms: Sequence[Any], shares: Float64Array) -> Any:
    """Add up terms with a weight each; a single one, which weighs one, stays as it is."""
    if len(terms) == 1:
        return terms[0]
    total = shares[0] * terms[0]
    for term, share in zip(terms[1:], shares[1:], strict=True):
        total = total + share * term
    return total


def effective_errors(errors: AnyArray, factors: Float64Array) -> Float64Array:
    """Return how many errors of equal weight would leave a weighted rate as uncertain."""
    # `errors` (k, ...) counts those of each condition, `factors` (k,) is the weight of its trials.
    if factors.size == 1:
        return np.asarray(errors[0], dtype=np.float64)
    # (sum f e)^2 / sum f^2 max(e, 1). A condition without errors counts as uncertain as one
    # with a single error, so that a small one with a large weight is noticed.
    total = np.tensordot(factors, errors, axes=1)
    return np.asarray(total**2 / np.tensordot(factors**2, np.maximum(errors, 1), axes=1))


def slices_of(sizes: Sequence[int]) -> list[slice]:
    """Return where parts of these sizes stand that follow one another."""
    ends = list(itertools.accumulate(sizes))
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


# ---- Trials with scores

ScoredPositions = tuple[Positions, Positions]

_Chosen = Positions | slice


@attrs.frozen(eq=False)
class ScoredTrials:
    """The trials of a key that have scores and are in a condition, of both classes."""

    # `tar` and `non` are the positions of the model and of the segment of each trial of the class.

    tar: ScoredPositions
    non: ScoredPositions
    strata: TrialStrata
    # Which of all trials that have a score these are, in each class.
    _chosen: tuple[_Chosen, _Chosen]

    @classmethod
    def of(cls, scores: AnyScores, key: AnyKey, conditions: Conditions | None) -> "ScoredTrials":
        """Find the trials; those outside all conditions are left out, if these allow that."""
        check_system(scores, "scores")
        check_key(key)
        refuse_strangers(frame_of(key, scores), key.ids, scores.ids)
        scored = scored_trials(scores, key)
        if scored is None and isinstance(key, Key):
            sides = [true_positions(mask) for mask in (key.tar, key.non)]
        else:
            models, segments = key.trial_positions()
            labels = key.trial_labels()
            if scored is not None:
                models, segments, labels = models[scored], segments[scored], labels[scored]
            sides = [(models[mask], segments[mask]) for mask in (labels, ~labels)]
        n_tar, n_non = (positions.size for positions, _ in sides)
        for size, what in ((n_tar, "targets"), (n_non, "non-targets")):
            if not size:
                raise invalid("key", f"have {what} with scores", "none")
        strata = TrialStrata.single(n_tar, n_non)
        chosen: tuple[_Chosen, _Chosen] = slice(None), slice(None)
        if conditions is not None:
            check_conditions(conditions)
            members = conditions.scored_members(scores, key)
            weights = np.array([item.weight for item in members])
            tar_parts, non_parts = ([part.tar for part in members], [part.non for part in members])
            tar_strata, tar_chosen = _strata_of(tar_parts, weights, n_tar, "targets")
            non_strata, non_chosen = _strata_of(non_parts, weights, n_non, "non-targets")
            strata, chosen = TrialStrata(tar_strata, non_strata), (tar_chosen, non_chosen)
        tar, non = (
            (models[some], segments[some])
            for (models, segments), some in zip(sides, chosen, strict=True)
        )
        return cls(tar, non, strata, chosen)

    def speakers_of(self, speakers: TrialSpeakers) -> tuple[ScoredPositions, ScoredPositions]:
        """Return the speakers of the model and of the segment of each trial of both classes."""
        # Numbers that take little memory.
        small = np.min_scalar_type(speakers.n_speakers)
        models, segments = (of.astype(small) for of in (speakers.of_models, speakers.of_segments))
        (tar, tar_segments), (non, non_segments) = self.tar, self.non
        return (models[tar], segments[tar_segments]), (models[non], segments[non_segments])

    def take(self, scores: AnyScores, key: AnyKey) -> tuple[FloatArray, FloatArray]:
        """Return target and non-target scores of these trials."""
        tar, non = scores.get_tar_non(key)
        tar, non = tar[self._chosen[0]], non[self._chosen[1]]
        return as_scores(tar, "target scores"), as_scores(non, "non-target scores")


def _strata_of(
    parts: Sequence[IndexArray], weights: Float64Array, n_trials: int, what: str
) -> tuple[Strata, _Chosen]:
    """Return the strata of the trials that are in a condition, and their positions."""
    codes = np.full(n_trials, -1, dtype=np.int64)
    for number, part in enumerate(parts):
        codes[part] = number
    covered = codes >= 0
    n_covered = int(np.count_nonzero(covered))
    if n_covered == 0:
        raise invalid("conditions", f"have {what} with scores among the trials of `key`", "none")
    if n_covered < sum(part.size for part in parts):
        hint = "A trial in two conditions cannot be resampled within one of them."
        raise invalid("conditions", "not overlap", f"{what} in several conditions", hint)
    chosen = slice(None) if n_covered == n_trials else np.flatnonzero(covered)
    return Strata.from_codes(codes[covered], weights), chosen


def check_system(scores: object, name: str) -> None:
    """Raise unless `scores` holds scores of trials."""
    if not isinstance(scores, AnyScores):
        hint = "Were scores and key swapped?" if isinstance(scores, AnyKey) else ""
        raise invalid(name, "be Scores", describe(scores), hint)


def check_same_trials(systems: tuple[AnyScores, AnyScores], key: AnyKey) -> None:
    """Raise unless the same trials of a key have scores in both systems."""
    for scores, name in zip(systems, ("scores_a", "scores_b"), strict=True):
        check_system(scores, name)
    check_key(key)
    mask_a, mask_b = (_scored_mask(scores, key) for scores in systems)
    only_a, only_b = np.count_nonzero(mask_a & ~mask_b), np.count_nonzero(mask_b & ~mask_a)
    if only_a or only_b:
        raise TrialMismatchError(
            f"`scores_a` and `scores_b` must be of the same trials; of the "
            f"{key.n_trials} trials of `key`, {only_a} have a score in `scores_a` only and "
            f"{only_b} in `scores_b` only. Filter the key to the trials that both systems have "
            "scored."
        )


def refuse_missing(scores: AnyScores, key: AnyKey, name: str) -> None:
    """Raise unless each trial of a key has a score."""
    scored = scored_trials(scores, key)
    if scored is not None:
        missing = int(np.count_nonzero(~scored))
        raise TrialMismatchError(
            f"`{name}` must have a score for every trial of `key`; "
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
    """The law of the weights of all persons: mean and variance are 1 (multinomial: 1 - 1/k)."""

    # `n_second` is the number of persons on the segments' side if they are drawn independently of
    # those on the models' side; None if both sides are the same persons.

    n_first: int
    n_second: int | None
    weighting: SpeakerWeights

    @property
    def shape(self) -> tuple[int, int]:
        """Number of persons on either side."""
        return self.n_first, self.n_first if self.n_second is None else self.n_second

    def draw(self, n_replicates: int, rng: np.random.Generator) -> tuple[Weights, Weights]:
        """Draw weights for both sides: (n_replicates, n) each."""
        # Replicate by replicate, so that drawing several at once makes no difference.
        if self.n_second is None:
            weights = self._draw_side((n_replicates, self.n_first), rng)
            return weights, weights
        drawn = [[self._draw_side((1, n), rng) for n in self.shape] for _ in range(n_replicates)]
        first, second = map(np.concatenate, zip(*drawn, strict=True))
        return first, second

    # Owen and Eckles 2012: any independent weights of mean and variance one will do.
    def _draw_side(self, shape: tuple[int, int], rng: np.random.Generator) -> Weights:
        if self.weighting == "exponential":
            return rng.standard_exponential(shape)
        if self.weighting != "multinomial":
            return 2 * rng.integers(0, 2, size=shape)
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
    def from_persons(
        cls,
        tar: tuple[IntArray, IntArray],
        non: tuple[IntArray, IntArray],
        who: Speakers,
        strata: TrialStrata,
    ) -> "SpeakerPlan":
        """Make a plan for the persons who take part in trials, at least two."""
        # `tar` and `non` are the person of the model and of the segment of each trial. In a
        # pigeonhole bootstrap the two sides are different persons, drawn independently.
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
        return _reordered(self, tar_order, non_order)


def _reordered(plan: _Plan, tar_order: IndexArray, non_order: IndexArray) -> _Plan:
    tar, non = plan.tar.reordered(tar_order), plan.non.reordered(non_order)
    return attrs.evolve(plan, tar=tar, non=non, strata=plan.strata.reordered(tar_order, non_order))


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


def _to_replications(value: Any) -> int:
    return whole_number(value, 2, "replications")  # a standard deviation takes two


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
        if self.method == "speaker":
            maps, one_person = (who.model_speakers, who.segment_speakers), not who.pigeonhole
            speakers = TrialSpeakers.of_key(key, *maps, unknown=who.unknown, one_person=one_person)
            return SpeakerPlan.from_persons(*trials.speakers_of(speakers), who, trials.strata)
        tar_sets = non_sets = None
        if self.method != "iid":
            speakers = TrialSpeakers.of_models_only(key, who.model_speakers, unknown=who.unknown)
            tar_sets, non_sets = (speakers.of_models[of[0]] for of in (trials.tar, trials.non))
            for labels, what in ((tar_sets, "target"), (non_sets, "non-target")):
                if labels.min() == labels.max():
                    expected = f"have {what} trials of models of at least two speakers"
                    raise invalid("key", expected, "1")
        return self.plan_of_lists(trials.strata, tar_sets, non_sets)
