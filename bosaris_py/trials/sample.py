r"""The sample: the scored trials of one system, each class sorted once.

Every trial has a mass; a metric is a number of two distributions of mass. The masses of a class
add up to one. A class is divided into groups with fixed shares: conditions, and among non-targets
zero-effort impostors and spoofs. Within a group, the masses are in proportion to how many `times`
each trial counts: once, as often as a replicate draws it, 0 times without its speaker, or as its
weight says. Van Leeuwen [1]_, equation (12):

.. math:: m_i = w_\alpha \frac{t_i}{\sum_{j \in \alpha} t_j}

References
----------
.. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker Recognition using
   multiple conditions in an evaluation", 2008.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import attrs
import numpy as np

import bosaris_py.trials.scores as scoring
from bosaris_py import _arrays as arrays, _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray, Weights
from bosaris_py.numerics import ROC, ROCCH, roc as counting
from bosaris_py.numerics.scoring import mean_bits
from bosaris_py.trials.conditions import ConditionMembers, ConditionsLike, as_conditions, masses
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.scores import Scores
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers

# How often each target and each non-target counts, in the order of the sorted scores.
Times = tuple[Weights, Weights] | None

# The speaker of the model and of the segment of each trial, as numbers; of a trial with one speaker
# the second is -1, or there is none.
Speakers = tuple[IntArray, IntArray | None]

Chosen = IntArray | BoolArray | slice

# Thresholds that matter. "hull": target scores, or non-target scores if targets are over twice as
# many; all vertices of the hull lie there. "ties": also the next float above each, which the area
# and interpolation need. "all": each distinct score.
Grid = Literal["hull", "ties", "all"]

_FEW_THRESHOLDS = 6

# The kinds of non-targets: zero-effort impostors and spoofs.
KINDS = ("nontarget", "spoof")

_NOUNS = ("targets", "non-targets")


@attrs.frozen(eq=False, repr=False)
class ScoredClass:
    """The scored trials of one class, in the order in which they were given.

    Parameters
    ----------
    listed : (n,) ndarray of float
        The scores. Of two detectors in tandem (n, 2), which are not sorted.
    groups : (n,) ndarray of int, optional
        The group of each trial; by default all are in one.
    shares : (n_groups,) ndarray of float64
        The mass of each group; one of share 0 is left out.
    weights : (n,) ndarray of float64, optional
        How often each trial counts; by default once.
    speakers : pair of (n,) ndarray of int, optional
        The speakers of the model and of the segment; of sets of trials, the set.
    """

    listed: FloatArray
    groups: AnyArray | None = None
    shares: FloatArray = attrs.field(factory=lambda: np.ones(1))
    weights: FloatArray | None = None
    speakers: Speakers | None = None
    # The trial of each listed score, where some are listed more than once.
    trials: IntArray | None = attrs.field(default=None, kw_only=True)
    # The order of the scores, where it is known from a class that these trials were taken from.
    _order: IntArray | None = attrs.field(default=None, kw_only=True)

    __reduce__ = arrays.by_constructor

    def __repr__(self) -> str:
        """Show the counts."""
        return f"ScoredClass: {self.size} trials, {self.shares.size} groups"

    @property
    def size(self) -> int:
        """Number of trials; one that is in several groups is listed in each."""
        return len(self.listed)

    @functools.cached_property
    def n_trials(self) -> int:
        """Number of trials, each once."""
        return self.size if self.trials is None else int(np.unique(self.trials).size)

    @property
    def is_plain(self) -> bool:
        """Whether all trials have the same mass."""
        return self.groups is None and self.weights is None

    @functools.cached_property
    def order(self) -> IntArray:
        """Places in the list by ascending score, equal scores as they were given."""
        if self._order is not None:
            return self._order
        if self.listed.ndim > 1:
            return arrays.mark_read_only(np.arange(self.size))
        return arrays.mark_read_only(np.argsort(self.listed, kind="stable"))

    @functools.cached_property
    def scores(self) -> FloatArray:
        """The scores, ascending."""
        # Without an order numpy sorts ten times as fast.
        alone = self.is_plain and self.speakers is None and self._order is None
        scores = np.sort(self.listed) if alone else self.listed[self.order]
        scores.setflags(write=False)
        return scores

    @functools.cached_property
    def sorted_groups(self) -> AnyArray | None:
        """The group of each sorted score."""
        return None if self.groups is None else self.groups[self.order]

    @functools.cached_property
    def sorted_weights(self) -> FloatArray | None:
        """The weight of each sorted score."""
        return None if self.weights is None else self.weights[self.order]

    @functools.cached_property
    def sorted_speakers(self) -> Speakers | None:
        """The speakers of each sorted score."""
        if self.speakers is None:
            return None
        first, second = self.speakers
        return first[self.order], None if second is None else second[self.order]

    @property
    def n_meetings(self) -> int:
        """Number of speakers, or of pairs of speakers who meet; 0 if they are not known."""
        if self.speakers is None:
            return 0
        first, second = self.speakers
        other = first if second is None else np.where(second < 0, first, second)
        low, high = np.minimum(first, other).astype(np.int64), np.maximum(first, other)
        # numpy's unique makes a table, which takes twenty times as long as a sort.
        codes = np.sort(low << 31 | high.astype(np.int64))
        return int(np.count_nonzero(np.diff(codes)) + (codes.size > 0))

    def _counts(self, times: Weights | None) -> Weights:
        """Return how often each sorted trial counts."""
        if self.sorted_weights is None:
            return np.ones(self.size) if times is None else times
        return self.sorted_weights if times is None else self.sorted_weights * times

    @functools.cached_property
    def _cumulated(self) -> Weights | None:
        return None if self.is_plain else self._cumulate(None)

    def cumulated(self, times: Weights | None = None) -> Weights | None:
        """Return the mass of the first 0, 1, 2, ... sorted trials; None if they are counted.

        Sums of counts, not masses yet: callers divide by the last one, so that equal counts give
        equal rates. Of groups they add up to the number of trials.
        """
        return self._cumulated if times is None else self._cumulate(times)

    def _cumulate(self, times: Weights | None) -> Weights:
        groups, counts = self.sorted_groups, self._counts(times)
        if groups is None:
            return counting.running_sum(counts)
        total = np.zeros(self.size + 1)
        for group in np.flatnonzero(self.shares).tolist():
            sums = counting.running_sum(np.where(groups == group, counts, 0))
            with np.errstate(invalid="ignore"):
                total += self.n_trials * self.shares[group] * (sums / sums[-1])
        return total

    def masses(self, times: Weights | None = None) -> FloatArray:
        """Return the mass of each sorted trial, NaN if a group has none."""
        return masses(self._counts(times), self.sorted_groups, self.shares)

    @functools.cached_property
    def effective_size(self) -> float:
        """As many trials of one mass tell as much: of a heavy condition with few trials, few."""
        return self.size if self.is_plain else float(1.0 / np.square(self.masses()).sum())

    def mean(self, losses: FloatArray, times: Weights | None = None) -> FloatArray:
        """Return the mean loss of the sorted trials; of several losses (k, n), each of them."""
        if times is None and self.is_plain:
            return np.asarray(losses.mean(axis=-1))
        masses = self.masses(times)
        # An infinite loss of a trial without mass is no loss.
        return np.asarray(np.dot(np.where(masses == 0.0, 0.0, losses), masses))

    def shares_below(
        self, thresholds: FloatArray, times: Weights | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mass of the scores below each threshold, and of those at or above it."""
        if times is None and self.is_plain and thresholds.size <= _FEW_THRESHOLDS:
            # A pass for each takes less time than a sort.
            limits = thresholds.ravel()
            below = np.array([np.count_nonzero(self.listed < limit) for limit in limits])
            below = below.reshape(thresholds.shape)
        else:
            below = counting.count_below(self.scores, thresholds)
        mass = self.cumulated(times)
        total = self.size if mass is None else mass[-1]
        under = below if mass is None else mass[below]
        with np.errstate(invalid="ignore"):
            return under / np.float64(total), (total - under) / np.float64(total)

    def take(self, chosen: Chosen) -> "ScoredClass":
        """Return some of the listed trials."""
        groups, weights, trials, first, second = (
            None if each is None else each[chosen]
            for each in (self.groups, self.weights, self.trials, *(self.speakers or (None, None)))
        )
        who = None if first is None else (first, second)
        return ScoredClass(self.listed[chosen], groups, self.shares, weights, who, trials=trials)

    def part(self, chosen: BoolArray) -> "ScoredClass":
        """Return the listed trials under a mask; what is sorted is not sorted again."""
        place = np.cumsum(chosen) - 1
        order = place[self.order[chosen[self.order]]]
        return attrs.evolve(self.take(chosen), order=arrays.mark_read_only(order))

    def divided(self, parts: Sequence[tuple[IntArray, float]]) -> "ScoredClass":
        """Divide the class into groups, given places in the list and the share of each.

        Trials of no group are left out; what stands in several is listed once in each.
        """
        held = [(part, share) for part, share in parts if part.size and share > 0]
        places = np.concatenate([part for part, _ in held])
        if places.max(initial=0) >= self.size:
            expected = f"belong to the {self.size} trials of the class"
            raise check.invalid("members", expected, f"position {places.max()}")
        if len(held) == 1:
            return self if np.array_equal(places, range(self.size)) else self.take(places)
        found = self.take(places)
        groups = np.repeat(np.arange(len(held)), [part.size for part, _ in held])
        is_twice = found.trials is None and np.unique(places).size < places.size
        trials = places if is_twice else found.trials
        shares = np.array([share for _, share in held])
        return attrs.evolve(found, groups=groups, shares=shares, trials=trials)


@attrs.frozen(eq=False, repr=False)
class Sample:
    """The scored trials of one system; a metric is a number of it.

    Parameters
    ----------
    tar, non : ScoredClass
        The two classes.
    kinds : (n_non,) ndarray of int, optional
        The kind of each listed non-target, 0 of a zero-effort impostor and 1 of a spoof; by default
        there are no spoofs.
    speaker_ids : (n_speakers,) ndarray of str, optional
        The name of each speaker by number.
    notes : tuple of Note
        What is missing, and what conditions lack; a sample warns of nothing.

    Examples
    --------
    >>> from bosaris_py import Sample
    >>> sample = Sample.from_scores([1.0, 3.0], [0.0, 2.0])
    >>> sample
    Sample: 2 targets, 2 non-targets
    >>> sample.rates([1.0, 2.5])
    (array([0. , 0.5]), array([0.5, 0. ]))
    """

    tar: ScoredClass
    non: ScoredClass
    kinds: AnyArray | None = None
    speaker_ids: arrays.StrArray | None = None
    notes: tuple[errors.Note, ...] = attrs.field(default=(), kw_only=True)
    # Whether most scores stay in files.
    in_files: ClassVar[bool] = False

    __reduce__ = arrays.by_constructor

    @classmethod
    def from_scores(
        cls,
        tar: ArrayLike,
        non: ArrayLike,
        tar_weights: arrays.Weighting = None,
        non_weights: arrays.Weighting = None,
    ) -> "Sample":
        """Take two lists of scores.

        Parameters
        ----------
        tar, non : (n_tar,), (n_non,) array_like of float
            The scores; no NaN, +-inf allowed.
        tar_weights, non_weights : array_like of float, optional
            Trial weights, finite and not negative; one each by default, 0 says no trial.

        Returns
        -------
        Sample
        """
        tar, non = check.as_score_lists(tar, non, tar_weights, non_weights)
        left = counting.as_class(tar, tar_weights, "tar")
        right = counting.as_class(non, non_weights, "non")
        first, second = (ScoredClass(listed, weights=own) for listed, own in (left, right))
        return cls(first, second)

    @classmethod
    def from_trials(
        cls,
        scores: Scores,
        key: Key,
        conditions: ConditionsLike = None,
        speakers: SpeakersLike | TrialSpeakers = None,
        *,
        allow_empty: bool = False,
    ) -> "Sample":
        """Join the scores of a system with a key, with weighted conditions and with speakers.

        Parameters
        ----------
        scores, key
            The scores of a system, and its trials.
        conditions
            A column of the key, several which are crossed, or `Conditions`.
        speakers
            A column of the key, a mapping, a function of the id, or a pair (models, segments).
        allow_empty : bool, default: False
            Whether a class may be without scores.

        Returns
        -------
        Sample
        """
        scoring.check_scores(scores)
        key, who = as_key(key), speakers
        if not (who is None or isinstance(who, TrialSpeakers)):
            who = TrialSpeakers.from_key(key, who)
        given = None if conditions is None else as_conditions(conditions, key)
        values, found, notes = scoring.join(scores, key)
        labels = key.labels if found is None else key.labels[found]
        pairs: list[IntArray] = []
        if who is not None:
            small = np.min_scalar_type(-who.n_speakers - 1)
            pairs = [side.astype(small) for side in who.pairs(*key.trial_positions())]
            pairs = pairs if found is None else [side[found] for side in pairs]
            # A spoof has one speaker, the one who is claimed.
            pairs[1][labels == -2] = -1
        # Targets are mostly few, which numpy reads faster by numbers.
        chosen: tuple[Chosen, ...] = np.flatnonzero(labels == 1), labels != 1
        classes = []
        for places, name, noun in zip(chosen, ("tar", "non"), _NOUNS, strict=True):
            listed = values[places]
            if listed.size:
                listed, _ = counting.as_class(listed, None, name)
            elif not allow_empty:
                raise check.invalid("key", f"have {noun} with scores", "none")
            sides = (pairs[0][places], pairs[1][places]) if pairs else None
            classes.append(ScoredClass(listed, speakers=sides))
        kinds = (labels[chosen[1]] == -2).astype(np.int64) if key.n_spoof else None
        ids = None if who is None else who.ids
        sample = cls(classes[0], classes[1], kinds, ids, notes=tuple(notes))
        if given is None:
            return sample
        members, more = given.noted_members(scores, key)
        return attrs.evolve(sample.weighted(members), notes=(*notes, *more))

    def __repr__(self) -> str:
        """Show the counts."""
        spoofs = f", {self.n_spoof} spoofs" if self.n_spoof else ""
        return f"{type(self).__name__}: {self.n_tar} targets, {self.n_non} non-targets{spoofs}"

    @property
    def n_tar(self) -> int:
        """Number of targets."""
        return self.tar.n_trials

    @property
    def n_non(self) -> int:
        """Number of non-targets that are no spoofs."""
        return self.non.n_trials - self.n_spoof

    @property
    def n_spoof(self) -> int:
        """Number of spoofs."""
        if self.kinds is None:
            return 0
        spoofs = np.flatnonzero(self.kinds == 1)
        return spoofs.size if self.non.trials is None else np.unique(self.non.trials[spoofs]).size

    @property
    def n_speakers(self) -> int:
        """How many speakers the trials have; 0 where they are not known."""
        sides = [s for one in (self.tar, self.non) for s in one.speakers or () if s is not None]
        return np.unique(np.concatenate([[-1], *sides])).size - 1

    # ---- Kinds of non-targets

    def with_shares(self, zero_effort: float, spoof: float) -> "Sample":
        """Return the sample in which the kinds of non-targets have given shares; nothing is sorted.

        Parameters
        ----------
        zero_effort, spoof : float
            The share of zero-effort impostors and of spoofs, of sum one; 0 leaves a kind out.

        Returns
        -------
        Sample
        """
        kinds = np.zeros(self.non.size, np.int64) if self.kinds is None else self.kinds
        for kind, share in zip(KINDS, (zero_effort, spoof), strict=True):
            if share > 0 and not (kinds == KINDS.index(kind)).any():
                raise check.invalid("key", f"have {kind}s with scores", "none")
        if 0.0 in (zero_effort, spoof):
            chosen = kinds == (0 if zero_effort else 1)
            if chosen.all():
                return self if self.kinds is None else attrs.evolve(self, kinds=None)
            part = self.non.part(chosen)
            held = _shares_with_trials(part.shares, part.groups)
            return attrs.evolve(self, non=attrs.evolve(part, shares=held), kinds=None)
        n_groups = self.non.shares.size
        groups = kinds if self.non.groups is None else kinds * n_groups + self.non.groups
        each = [
            share * _shares_with_trials(self.non.shares, groups[kinds == kind] % n_groups)
            for kind, share in enumerate((zero_effort, spoof))
        ]
        order, shares = self.non.order, np.concatenate(each)
        non = attrs.evolve(self.non, groups=groups, shares=shares, order=order)
        return attrs.evolve(self, non=non)

    def bona_fide(self) -> "Sample":
        """Return the sample without its spoofs.

        Returns
        -------
        Sample
        """
        return self if self.kinds is None else self.with_shares(1.0, 0.0)

    def take(self, tar: Chosen, non: Chosen) -> "Sample":
        """Return some of the listed trials of both classes.

        Parameters
        ----------
        tar, non : places or masks
            Which of them.

        Returns
        -------
        Sample
        """
        kinds = None if self.kinds is None else self.kinds[non]
        return attrs.evolve(self, tar=self.tar.take(tar), non=self.non.take(non), kinds=kinds)

    def weighted(self, members: Sequence[ConditionMembers]) -> "Sample":
        """Divide the trials into weighted conditions; trials of no condition are left out.

        Parameters
        ----------
        members : sequence of ConditionMembers
            Where the trials of each condition stand in the lists, and the shares of conditions.

        Returns
        -------
        Sample
        """
        tar = [(item.tar, item.tar_weight) for item in members]
        non = [(item.non, item.non_weight) for item in members]
        for parts, noun in zip((tar, non), _NOUNS, strict=True):
            if not any(part.size and share for part, share in parts):
                raise check.invalid("conditions", f"have {noun} in some condition", "none")
        kinds = None
        if self.kinds is not None:
            kept = [part for part, share in non if part.size and share > 0]
            kinds = self.kinds[np.concatenate(kept)]
        return attrs.evolve(self, tar=self.tar.divided(tar), non=self.non.divided(non), kinds=kinds)

    # ---- The two distributions of mass

    @functools.cached_property
    def thresholds(self) -> FloatArray:
        """The thresholds that matter for ranks, ascending from -inf to inf.

        Between are the distinct scores of targets, which they accept; or of non-targets, which they
        reject, if targets are over twice as many.
        """
        return self.grid("hull")

    def grid(self, grid: Grid) -> FloatArray:
        """Return thresholds that matter, ascending from -inf to inf.

        Parameters
        ----------
        grid : {"hull", "ties", "all"}
            `thresholds`, both sides of each score of that class, or each distinct score.

        Returns
        -------
        (k,) ndarray of float64
        """
        if self.tar.listed.ndim > 1:
            # Two detectors have no threshold in common.
            return counting.with_ends(np.empty(0))
        if grid == "all":
            # Two ascending runs are merged by the stable sort.
            runs = [counting.distinct(one.scores) for one in (self.tar, self.non)]
            both = np.sort(np.concatenate(runs), kind="stable")
            return counting.with_ends(counting.distinct(both))
        at_targets = self._at_targets
        scores = counting.distinct((self.tar if at_targets else self.non).scores)
        if grid == "ties":
            return counting.with_ends(counting.both_sides(scores))
        return counting.with_ends(scores if at_targets else counting.just_above(scores))

    @property
    def _at_targets(self) -> bool:
        return self.tar.size <= 2 * self.non.size

    @functools.cached_property
    def _below(self) -> dict[Grid, tuple[IntArray, IntArray]]:
        return {}

    def counts_below(self, grid: Grid) -> tuple[IntArray, IntArray]:
        """Return the numbers of trials of both classes below each threshold of a grid.

        Parameters
        ----------
        grid
            As for `grid`.

        Returns
        -------
        tar, non : (k,) ndarray of int64
        """
        if grid not in self._below:
            self._below[grid] = self._count(self.grid(grid))
        return self._below[grid]

    def _count(self, thresholds: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the numbers of trials of both classes below thresholds that end with inf."""
        below = [counting.count_below(one.scores, thresholds) for one in (self.tar, self.non)]
        # The last one rejects scores of inf, too.
        below[0][-1], below[1][-1] = self.tar.size, self.non.size
        return below[0], below[1]

    def _errors(
        self, below: tuple[IntArray, IntArray], times: Times = None
    ) -> tuple[Weights, Weights]:
        """Return the mass of the misses and false alarms at thresholds."""
        tar, non = (None, None) if times is None else times
        of_tar, of_non = self.tar.cumulated(tar), self.non.cumulated(non)
        misses = below[0] if of_tar is None else of_tar[below[0]]
        rejected = below[1] if of_non is None else of_non[below[1]]
        return misses, rejected[-1] - rejected

    def rates_at_all(
        self, times: Times = None, grid: Grid = "hull"
    ) -> tuple[FloatArray, FloatArray]:
        """Return both error-rates at the thresholds that matter, as rows of one.

        Parameters
        ----------
        times : pair of (n_tar,), (n_non,) ndarray, optional
            How often each sorted trial counts.
        grid : {"hull", "ties", "all"}, default: "hull"
            Which thresholds; see `Sample.grid`.

        Returns
        -------
        pmiss, pfa : (1, k) ndarray of float64
        """
        misses, alarms = self._errors(self.counts_below(grid), times)
        with np.errstate(invalid="ignore"):
            return (misses / misses[-1])[None], (alarms / alarms[0])[None]

    def roc(self, times: Times = None) -> ROC:
        """Return the steppy ROC.

        Parameters
        ----------
        times
            As for `rates_at_all`.

        Returns
        -------
        ROC
        """
        thresholds = counting.with_ends(counting.both_sides(counting.distinct(self.tar.scores)))
        found = self._errors(self._count(thresholds), times)
        return ROC(*map(arrays.mark_read_only, (thresholds, *found)))

    @functools.cached_property
    def hull(self) -> ROCCH:
        """The convex hull of the ROC."""
        limits = self.thresholds
        if not self._at_targets:
            # The next target score is the same threshold, and known from the targets alone.
            targets = np.append(counting.distinct(self.tar.scores), np.inf)
            limits = targets[np.searchsorted(targets, limits)]
        return ROCCH.from_points(limits, *self._errors(self.counts_below("hull")))

    def rates(self, thresholds: ArrayLike, times: Times = None) -> tuple[FloatArray, FloatArray]:
        """Return both error-rates at given thresholds.

        Parameters
        ----------
        thresholds : array_like of float
            Accept iff score >= threshold; of any shape and order.
        times
            As for `rates_at_all`.

        Returns
        -------
        pmiss, pfa : ndarray of float64, like ``thresholds``
        """
        limits = np.asarray(thresholds, dtype=np.float64)
        tar, non = (None, None) if times is None else times
        return self.tar.shares_below(limits, tar)[0], self.non.shares_below(limits, non)[1]

    @property
    def bits(self) -> tuple[float, float]:
        """Mean cost of the scores of both classes as log-likelihood-ratios, in bits."""
        return mean_bits(self.tar.listed, -1.0), mean_bits(self.non.listed, 1.0)

    def mean(
        self, losses: tuple[FloatArray, FloatArray], times: Times = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean loss of each class, given that of each sorted trial.

        Parameters
        ----------
        losses : pair of (n_tar,), (n_non,) ndarray of float64
            What each trial loses; or several losses, (k, n_tar) and (k, n_non).
        times
            As for `rates_at_all`.

        Returns
        -------
        tar, non : () or (k,) ndarray of float64
        """
        tar, non = (None, None) if times is None else times
        return self.tar.mean(losses[0], tar), self.non.mean(losses[1], non)


def _shares_with_trials(shares: FloatArray, groups: AnyArray | None) -> FloatArray:
    """Return the shares of groups; one without trials leaves its share to the others."""
    if groups is None:
        return shares
    held = shares * (np.bincount(groups, minlength=shares.size) > 0)
    return np.asarray(held / held.sum())


def check_same_trials(systems: Mapping[str, Scores], key: Key) -> None:
    """Raise unless the same trials of a key have scores in all systems."""
    for name, scores in systems.items():
        scoring.check_scores(scores, name)
    masks = {name: scoring.trials_within(one, as_key(key)) for name, one in systems.items()}
    first, *others = masks
    for name in others:
        only = [np.count_nonzero(masks[a] & ~masks[b]) for a, b in ((first, name), (name, first))]
        if any(only):
            raise errors.TrialMismatchError(
                f"`{first}` and `{name}` must be of the same trials; {only[0]} trials of the key "
                f"have a score in `{first}` only and {only[1]} in `{name}` only. Filter the key."
            )


def lists_of_kinds(sample: Sample) -> dict[str, FloatArray]:
    """Return the scores of targets and of each kind of non-targets, by their words."""
    kinds = np.zeros(sample.non.size) if sample.kinds is None else sample.kinds
    lists = {word: sample.non.listed[kinds == number] for number, word in enumerate(KINDS)}
    return {"target": sample.tar.listed} | {word: one for word, one in lists.items() if one.size}
