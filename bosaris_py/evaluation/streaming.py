"""Scores in files, judged by two passes over them.

The first pass collects the target scores and adds up the non-targets' part of Cllr. All other
metrics depend on how many non-targets lie at and between the target scores: the second pass counts
them. What is kept is a few numbers for each target.

What tasks return adds up exactly: counts are whole numbers, and sums of floating-point numbers
are returned block by block and added with `math.fsum` in the end. So the outcome does not
depend on who runs which blocks.

Trials may be divided into groups, by conditions or columns of metadata. All groups are counted
in the same two passes, each at the target scores of all; whatever is asked of several groups is
a sum of their counts.
"""

from __future__ import annotations

import functools
import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    StrArray,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._execution import n_at_once
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.calibration.passes import (
    MOST_TASKS,
    FilePasses,
    Pairs,
    ReadBlocks,
    Task,
    Where,
    check_unchanged,
    reads_ahead,
)
from bosaris_py.errors import TrialMismatchError
from bosaris_py.evaluation.pooled_scores import (
    ConditionMixture,
    Evidence,
    ListedShare,
    Share,
    count_below,
)
from bosaris_py.numerics.cllr import bits_of, mean_bits, sums_of_nats, total_cost
from bosaris_py.numerics.counts import RunningCounts, SortedScores
from bosaris_py.numerics.priors import DecisionCosts, PriorLike, sigmoid
from bosaris_py.numerics.roc import ROC, all_within
from bosaris_py.numerics.scoring_rules import resolve_prior
from bosaris_py.storage.factors import Factor
from bosaris_py.trials import ConditionMembers, Conditions, FlatNdx, Ndx, TrialMetadata
from bosaris_py.trials.blocks import TrialBlock, TrialCounts, TrialIds, without
from bosaris_py.trials.key import AnyNdx

Files: TypeAlias = FilePath | Sequence[FilePath]
# Non-targets at each threshold; and below, between and above them. A row for each group.
Counts: TypeAlias = tuple[IntArray, IntArray]

# Tasks are about this large, so that a bar moves; but there are not too many, as each opens the
# files and returns one count for each target score.
_TASK_BYTES = 2**29

# Some for each worker, so that all end at about the same time.
_TASKS_PER_WORKER = 4

# What may be kept between the passes of which cells are non-targets; for files with
# more, keys are read again.
_KEPT_BYTES = 2**27

# Start, end and number of points of the horizontal axis of a Bayes plot by default: counted
# beforehand, they save the plot a third pass.
_PLO = (-10.0, 0.0, 1001)

# More combinations of values are a mistake, such as a column of ids.
_MOST_GROUPS = 10_000

_NONE = mark_read_only(np.zeros(0, dtype=np.intp))

# So few groups are looked for one by one; sorting costs as much as twenty looks.
_FEW_GROUPS = 20


@attrs.frozen(eq=False)
class _NonTargets:
    """Which cells of a block are non-targets with a score: the few `others`, or one bit each."""

    others: npt.NDArray[Any] | None
    packed: npt.NDArray[np.uint8] | None

    @classmethod
    def of(cls, block: TrialBlock) -> "_NonTargets":
        """Note which cells of a block they are."""
        others = block.few_others
        if others is not None:
            return cls(others.astype(np.int32 if block.labels.size < 2**31 else np.int64), None)
        return cls(None, np.packbits(block.scored_labels.ravel() == -1))

    def take(self, scores: FloatArray) -> FloatArray:
        """Return the scores of the non-targets in any order, in the memory of all scores."""
        vector = scores.reshape(-1)
        if self.packed is not None:
            return vector[np.unpackbits(self.packed, count=vector.size).view(np.bool_)]
        assert self.others is not None
        return without(vector, self.others)


Known: TypeAlias = tuple[_NonTargets, ...]


@attrs.frozen(eq=False)
class Division:
    """What divides the trials of key files into numbered groups."""

    # The number of a group has a digit for each of the factors `names`, below its size in `sizes`;
    # the last one runs fastest. Digits are positions in `levels`; those beyond say that a trial is
    # in none, or in several. A trial's number is the sum of those of its model and its segment in
    # its pair of files. Conditions add a number by its ids, times a factor.

    names: tuple[str, ...]
    levels: tuple[StrArray, ...]
    sizes: tuple[int, ...]
    sides: tuple[tuple[AnyArray, AnyArray], ...]
    by_trial: tuple[tuple[Conditions, int], ...]
    ids: tuple[TrialIds, ...]

    @classmethod
    def of(
        cls, division: Conditions | TrialMetadata, columns: Sequence[str], ids: Sequence[TrialIds]
    ) -> Self:
        """Divide by conditions, or by columns of metadata."""
        # By trials there are conditions; by models and segments, None.
        factors: list[tuple[Conditions | None, StrArray]] = []
        if isinstance(division, Conditions):
            for each in ids:
                division.rows((each.modelset.size, each.segset.size))
            columns = ("condition",)
            factors = [(division, np.array(division.names))]
        else:
            for name in columns:
                kind, factor = division.stored(name)
                single = None
                if kind == "trial":
                    single = Conditions.from_factors(division.trials, {name: factor})
                levels = factor.levels if single is None else np.array(single.names)
                factors.append((single, levels))
        sizes = [levels.size + (0 if by is None else 2) for by, levels in factors]
        size = math.prod(sizes)
        if size > _MOST_GROUPS:
            expected = f"have at most {_MOST_GROUPS} combinations of values"
            raise invalid("conditions", expected, str(size), "Is a column one of ids?")
        dtype, steps = np.min_scalar_type(size), _steps(sizes)
        by_trial = [(c, step) for (c, _), step in zip(factors, steps, strict=True) if c is not None]
        sides = []
        for each in ids:
            numbers = [np.zeros(n.size, dtype=dtype) for n in (each.modelset, each.segset)]
            if isinstance(division, TrialMetadata):
                nothing = np.zeros(0, dtype=np.intp)
                # No trial of the key is needed to find its models and segments.
                described = division.for_trials(
                    FlatNdx(each.modelset, each.segset, nothing, nothing)
                )
                for name, (by, _), step in zip(columns, factors, steps, strict=True):
                    if by is None:
                        kind, factor = described.stored(name)
                        side = numbers[0 if kind == "model" else 1]
                        side += (factor.codes.astype(np.intp) * step).astype(dtype)
            sides.append((numbers[0], numbers[1]))
        known = tuple(ids) if by_trial else ()
        levels_of = tuple(levels for _, levels in factors)
        return cls(tuple(columns), levels_of, tuple(sizes), tuple(sides), tuple(by_trial), known)

    def refuse_undescribed(self, n_trials: Mapping[int, int]) -> None:
        """Raise if trials have no value in a column of trials."""
        numbers = np.array(list(n_trials))
        outside = [
            digits >= levels.size
            for digits, levels in zip(self.digits(numbers), self.levels, strict=True)
        ]
        count = sum(n_trials[number] for number in numbers[np.any(outside, axis=0)].tolist())
        if count:
            raise TrialMismatchError(f"The metadata do not describe {count} trials of the key.")

    def digits(self, groups: npt.ArrayLike) -> list[IndexArray]:
        """Return for each factor the level of some groups."""
        numbers = np.asarray(groups, dtype=np.intp)
        steps = zip(_steps(self.sizes), self.sizes, strict=True)
        return [numbers // step % size for step, size in steps]

    def numbers(self, i: int, block: TrialBlock) -> AnyArray:
        """Return the group of each cell of a block of the i-th pair, in a vector."""
        (of_model, of_segment), rows = self.sides[i], block.rows
        if block.cells is not None:
            models, segments = block.cells
            numbers: AnyArray = of_model[models] + of_segment[segments]
        else:
            numbers = np.add.outer(of_model[rows], of_segment).ravel()
        if self.by_trial:
            ids = self.ids[i]
            if block.cells is not None:
                trials: AnyNdx = FlatNdx(ids.modelset, ids.segset, *block.cells)
                cells = np.arange(numbers.size)
            else:
                trials = Ndx(ids.modelset[rows], ids.segset, block.labels != 0)
                cells = np.ravel_multi_index(trials.trial_positions(), trials.shape)
            for conditions, step in self.by_trial:
                cut = conditions
                if block.cells is None:
                    cut = conditions.rows((of_model.size, of_segment.size), rows)
                numbers[cells] += (cut.numbers(trials) * step).astype(numbers.dtype)
        return numbers


def _steps(sizes: Sequence[int]) -> list[int]:
    """Return what each digit of a group's number counts."""
    return [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]


def _split(numbers: AnyArray, block: TrialBlock, label: int) -> Iterator[tuple[int, FloatArray]]:
    """Yield the scores of one class of each group that has some."""
    chosen = block.scored_labels.reshape(-1) == label
    numbers, values = numbers[chosen], block.scores[0].reshape(-1)[chosen]
    present = np.flatnonzero(np.bincount(numbers)).tolist()
    if len(present) == 1:
        yield present[0], values
    elif len(present) <= _FEW_GROUPS:
        yield from ((group, values[numbers == group]) for group in present)
    elif present:
        # Numbers of one or two bytes are sorted in linear time.
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], present[1:])
        yield from zip(present, np.split(values[order], ends), strict=True)


@attrs.define(eq=False)
class _Found:
    """What the first pass found of a group: trials, scored or not, and its scores."""

    n_trials: int = 0
    n_non: int = 0
    tar: list[FloatArray] = attrs.field(factory=list)
    # Parts of the sum of log(1 + exp(score)) over non-targets: added exactly in the end, they do
    # not depend on tasks.
    nats: list[float] = attrs.field(factory=list)

    def __iadd__(self, other: "_Found") -> Self:
        """Add what a later task found."""
        self.n_trials += other.n_trials
        self.n_non += other.n_non
        self.tar += other.tar
        self.nats += other.nats
        return self


def _summarise(
    i: int, blocks: ReadBlocks, *, n_bytes: int, division: Division | None
) -> tuple[dict[int, _Found], Known]:
    """Return what there is of each group, and where the first non-targets are."""
    found: dict[int, _Found] = defaultdict(_Found)
    known: list[_NonTargets] = []
    for _, block in blocks:
        if division is None:
            non = _NonTargets.of(block)
            # The first blocks of a task are remembered, until the memory is spent.
            n_bytes -= sum(part.nbytes for part in (non.others, non.packed) if part is not None)
            if n_bytes >= 0:
                known.append(non)
            parts: Iterable[tuple[int, FloatArray]] = [(0, non.take(block.scores[0]))]
        else:
            numbers = division.numbers(i, block)
            counts = np.bincount(numbers[block.labels.reshape(-1) != 0])
            for group in np.flatnonzero(counts).tolist():
                found[group].n_trials += int(counts[group])
            for group, tar in _split(numbers, block, 1):
                found[group].tar.append(tar)
            parts = _split(numbers, block, -1)
        for group, scores in parts:
            found[group].n_non += scores.size
            found[group].nats += sums_of_nats(scores, sign=1.0)
    return dict(found), tuple(known)


def _count(
    shared: tuple[Pairs, tuple[Division | None, Sequence[int], Float64Array]],
    task: tuple[Task, Known],
) -> Counts:
    """Count the non-targets of a task; keys are read only where it is not known which they are."""
    (pairs, (division, groups, thresholds)), ((i, blocks), known) = shared, task
    counts = [RunningCounts(thresholds) for _ in groups]
    if known:
        read = pairs[i].read_scores(blocks[: len(known)], ahead=reads_ahead())
        for non, (scores,) in zip(known, read, strict=True):
            counts[0].add(non.take(scores))
    if len(known) < len(blocks):
        for block in pairs[i].read(blocks[len(known) :], ahead=reads_ahead()):
            if division is None:
                counts[0].add(_NonTargets.of(block).take(block.scores[0]))
                continue
            # A group that was not there in the first pass is missed, which is noticed.
            for group, scores in _split(division.numbers(i, block), block, -1):
                if group in groups:
                    counts[groups.index(group)].add(scores)
    at, between = zip(*(each.result() for each in counts), strict=True)
    return np.stack(at), np.stack(between)


def _add(first: Counts, second: Counts) -> Counts:
    return first[0] + second[0], first[1] + second[1]


def _tasks(passes: FilePasses) -> list[Task]:
    """Cut the files into tasks that keep all workers busy."""
    least = _TASKS_PER_WORKER * n_at_once(passes.where.workers, passes.where.client)
    n_tasks = min(MOST_TASKS, passes.n_bytes // _TASK_BYTES)
    # A multiple, so that threads end together.
    return passes.tasks(least * max(1, -(-n_tasks // least)))


@attrs.frozen(eq=False)
class _Counting:
    """How to count the non-targets of all groups once more; keeps what was counted last."""

    passes: FilePasses
    division: Division | None
    groups: tuple[int, ...]
    n_non: int
    _last: list[tuple[Float64Array, Counts]] = attrs.field(factory=list, init=False)

    def count(self, passes: FilePasses, thresholds: Float64Array, tasks: Any) -> Counts:
        """Count the non-targets of all tasks, which must be as many as in the first pass."""
        setting = self.division, self.groups, thresholds
        with passes.blaming_changes():
            runner = passes.runner("non-target scores")
            at, between = runner.reduce(_count, _add, (passes.pairs, setting), tasks)
        check_unchanged(int(at.sum() + between.sum()), self.n_non)
        return at, between

    def again(self, thresholds: Float64Array) -> Counts:
        """Count at other thresholds, all groups in one pass over the files."""
        if not (self._last and np.array_equal(self._last[0][0], thresholds)):
            tasks = [(task, ()) for task in _tasks(self.passes)]
            self._last[:] = [(thresholds, self.count(self.passes, thresholds, tasks))]
        return self._last[0][1]


@attrs.frozen(eq=False, repr=False)
class StreamedScores(Evidence):
    """What two passes over score files found out about their trials, or about groups of them.

    Make one with `from_files`.

    Parameters
    ----------
    counting : object
        How to pass over the files once more.
    groups : tuple of int
        Which of the counted groups of non-targets these are.
    tar : SortedScores
        The target scores.
    thresholds : (k,) ndarray of float64
        All thresholds at which non-targets have been counted, ascending; the target scores are
        among them.
    at : (k,) ndarray of int64
        Non-targets at each of these.
    between : (k + 1,) ndarray of int64
        Non-targets below, between and above them.
    fa_bits : float
        Sum of log2(1 + exp(score)) over the non-targets.
    """

    counting: _Counting
    groups: tuple[int, ...]
    tar: SortedScores
    thresholds: Float64Array = attrs.field(converter=read_only)
    at: IntArray = attrs.field(converter=read_only)
    between: IntArray = attrs.field(converter=read_only)
    fa_bits: float

    __reduce__ = by_constructor

    @classmethod
    def from_files(cls, score_file: Files, key_file: Files, **options: Any) -> "StreamedScores":
        """Pass over files twice.

        Parameters
        ----------
        score_file, key_file
            As for `Results.from_files <bosaris_py.Results.from_files>`.
        **options
            ``priors``, ``block_rows``, ``workers``, ``client``, ``progress``, likewise.

        Returns
        -------
        StreamedScores

        Raises
        ------
        FileFormatError, RuntimeError
            As for `Results.from_files <bosaris_py.Results.from_files>`.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score, with counts.
        """
        return FileGroups.read(score_file, key_file, None, **options).parts[0]

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return self.tar.size

    @functools.cached_property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(self.at.sum() + self.between.sum())

    def _within(self, low: float, high: float) -> bool:
        """Tell whether all scores lie in a range."""
        # Only if all targets do, the files may have to be read once more.
        if not all_within(low, high, self.tar.values[[0, -1]]):
            return False
        below = self.non_below(np.array([low, np.nextafter(high, np.inf)]))
        return bool(below.tolist() == [0, self.n_non])

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC."""
        scores, tar_at = np.unique(self.tar.values.astype(np.float64), return_counts=True)
        return ROC(mark_read_only(scores), mark_read_only(tar_at), *self.counts_at(scores))

    @functools.cached_property
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""
        return (mean_bits(self.tar.values, None, sign=-1.0) + self.fa_bits / self.n_non) / 2.0

    def counts_at(self, scores: Float64Array) -> Counts:
        """Return the non-targets at and between some of the counted thresholds."""
        positions = np.searchsorted(self.thresholds, scores)
        # Gaps between the scores are those between all thresholds, put together with
        # what lies at thresholds that are none of them.
        elsewhere = self.at.copy()
        elsewhere[positions] = 0
        gaps = self.between.copy()
        gaps[:-1] += elsewhere
        starts = np.concatenate(([0], positions + 1))
        return mark_read_only(self.at[positions]), mark_read_only(np.add.reduceat(gaps, starts))

    @functools.cached_property
    def _below(self) -> IntArray:
        """Non-targets below each threshold, then all of them."""
        return count_below(self.at, self.between)

    def non_below(self, thresholds: Float64Array) -> IntArray:
        """Count the non-targets below given thresholds.

        Where a threshold has not been counted and lies between others with non-targets in between,
        the files are read once more.

        Parameters
        ----------
        thresholds : ndarray of float64
            As for ``Evidence.error_rates``.

        Returns
        -------
        ndarray of int64, shaped like `thresholds`

        Raises
        ------
        FileFormatError
            If the files must be read again and have changed.
        """
        limits = np.asarray(thresholds, dtype=np.float64)
        positions = np.searchsorted(self.thresholds, limits)
        exact = self.thresholds.take(positions, mode="clip") == limits
        # No non-target in the gap: the count is that at the next threshold.
        below = np.where(limits == -np.inf, 0, self._below[positions])
        unknown = ~exact & (self.between[positions] > 0) & np.isfinite(limits)
        if unknown.any():
            # All thresholds, so that the other groups are counted in the same pass.
            asked = np.unique(limits[np.isfinite(limits)])
            at, between = self.counting.again(asked)
            rows = [self.counting.groups.index(group) for group in self.groups]
            counts = count_below(at[rows].sum(axis=0), between[rows].sum(axis=0))
            below[unknown] = counts[np.searchsorted(asked, limits[unknown])]
        return np.asarray(below)

    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds.

        Parameters
        ----------
        thresholds : ndarray of float64
            As for ``Evidence.error_rates``; others than those counted cost a pass.

        Returns
        -------
        pmiss, pfa : ndarray of float64, shaped like `thresholds`

        Raises
        ------
        FileFormatError
            If the files must be read again and have changed.
        """
        below = self.non_below(thresholds)
        pmiss: Float64Array = self.tar.count_below(thresholds) / self.n_tar
        return pmiss, (self.n_non - below) / self.n_non


@attrs.frozen(eq=False)
class _StreamedShare(Share):
    """The non-targets of one condition, counted in files."""

    evidence: StreamedScores

    @property
    def size(self) -> int:
        """Number of trials."""
        return self.evidence.n_non

    def below(self, thresholds: Float64Array) -> IntArray:
        """Count the scores below thresholds that ascend."""
        return self.evidence.non_below(thresholds)

    def roc(self, target_scores: Float64Array, *, is_tar: bool) -> ROC:
        """Return a part of a ROC that has these trials only."""
        assert not is_tar, "targets are listed"
        nobody = np.broadcast_to(mark_read_only(np.zeros(1, dtype=np.int64)), target_scores.shape)
        return ROC(target_scores, nobody, *self.evidence.counts_at(target_scores))

    def mean_bits(self, sign: float) -> float:
        """Return the mean of log2(1 + exp(score))."""
        assert sign > 0, "targets are listed"
        return self.evidence.fa_bits / self.size


@attrs.frozen(eq=False)
class FileGroups:
    """Groups of the trials in files, all counted in two passes.

    Parameters
    ----------
    division : Division or None
        What divides them; None: there is one group.
    groups : tuple of int
        The groups that have trials, by their numbers.
    parts : tuple of StreamedScores
        Each of them.
    n_trials : tuple of int
        Trials of the key in each, with or without score; 0 without a division.
    """

    division: Division | None
    groups: tuple[int, ...]
    parts: tuple[StreamedScores, ...]
    n_trials: tuple[int, ...]

    @classmethod
    def read(
        cls,
        score_file: Files,
        key_file: Files,
        division: Conditions | TrialMetadata | None,
        columns: Sequence[str] = (),
        *,
        priors: PriorLike | None = None,
        block_rows: int | None = None,
        workers: int = 1,
        client: Any = None,
        progress: bool = False,
    ) -> Self:
        """Pass over files twice; `columns` of the metadata divide them, if it is that."""
        # With infinity, each threshold has a counted one at or above it; see `non_below`.
        wanted = [np.array([np.inf]), DecisionCosts.from_plo(np.linspace(*_PLO)).thresholds]
        if priors is not None:
            wanted.append(np.ravel(DecisionCosts.from_prior(priors).thresholds))
        where = Where(block_rows, workers, client, progress)
        passes, all_ids = FilePasses.open(_pair(score_file, key_file), where)
        divided = None if division is None else Division.of(division, columns, all_ids)
        with passes.keeping_workers() as kept:
            tasks = _tasks(kept)
            # What a cluster finds does not go through the network twice.
            n_bytes = 0 if client is not None else _KEPT_BYTES // max(1, len(tasks))
            summarise = functools.partial(_summarise, n_bytes=n_bytes, division=divided)
            found = kept.first(summarise, all_ids, "target scores", tasks)
            groups: dict[int, _Found] = defaultdict(_Found)
            for part in found:
                for group, more in part.kept[0].items():
                    groups[group] += more
            if divided is None:
                groups[0].tar = [part.tar[0] for part in found]
            elif isinstance(division, TrialMetadata):
                divided.refuse_undescribed({g: one.n_trials for g, one in groups.items()})
            numbers = tuple(sorted(groups))
            listed = [groups[number] for number in numbers]
            tar = [_sorted(one.tar) for one in listed]
            scores = [each.values.astype(np.float64) for each in tar]
            thresholds = mark_read_only(np.unique(np.concatenate((*scores, *wanted))))
            counting = _Counting(passes, divided, numbers, sum(one.n_non for one in listed))
            again = [(part.task, part.kept[1]) for part in found]
            counts = map(mark_read_only, counting.count(kept, thresholds, again))
        parts = [
            StreamedScores(counting, (number,), own, thresholds, at, between, bits_of(one.nats))
            for number, own, at, between, one in zip(numbers, tar, *counts, listed, strict=True)
        ]
        return cls(divided, numbers, tuple(parts), tuple(one.n_trials for one in listed))

    @classmethod
    def by_conditions(
        cls,
        score_file: Files,
        key_file: Files,
        conditions: Conditions | str | Sequence[str],
        metadata: TrialMetadata | None,
        **options: Any,
    ) -> tuple[Self, tuple[ConditionMembers, ...]]:
        """Count conditions, or combinations of columns, and return the members of each."""
        if isinstance(conditions, Conditions):
            groups = cls.read(score_file, key_file, conditions, **options)
            return groups, groups.members(conditions)
        if not isinstance(metadata, TrialMetadata):
            expected = "be TrialMetadata where conditions are columns of it"
            raise invalid("metadata", expected, describe(metadata))
        columns = (conditions,) if isinstance(conditions, str) else tuple(conditions)
        groups = cls.read(score_file, key_file, metadata, columns, **options)
        return groups, groups.members(None)

    def union(self, tar: Any, non: Any) -> StreamedScores:
        """Pool the targets of some groups, and the non-targets of some; both index `parts`."""
        every = np.arange(len(self.parts))
        chosen = [self.parts[i] for i in every[non]]
        nothing = np.zeros_like(self.parts[0].at), np.zeros_like(self.parts[0].between)
        return attrs.evolve(
            self.parts[0],
            groups=tuple(group for part in chosen for group in part.groups),
            tar=_sorted([self.parts[i].tar.values for i in every[tar]]),
            at=mark_read_only(sum((part.at for part in chosen), start=nothing[0])),
            between=mark_read_only(sum((part.between for part in chosen), start=nothing[1])),
            fa_bits=total_cost(part.fa_bits for part in chosen),
        )

    def mixture(self, members: Iterable[ConditionMembers]) -> ConditionMixture:
        """Weigh conditions, whose members are positions of groups."""
        listed = list(members)
        tar = [ListedShare(m.tar_weight, self.union(m.tar, _NONE).tar.values) for m in listed]
        non = [_StreamedShare(m.non_weight, self.union(_NONE, m.non)) for m in listed]
        return ConditionMixture.from_shares(tar, non)

    def metadata(self) -> TrialMetadata:
        """Describe the groups, one trial for each, by the columns that divide them."""
        assert self.division is not None, "columns divide the trials"
        digits = zip(self.division.digits(self.groups), self.division.levels, strict=True)
        names = [str(number) for number in range(len(self.groups))]
        positions = np.arange(len(names))
        return TrialMetadata(
            FlatNdx(names, ["files"], positions, np.zeros_like(positions)),
            dict(zip(self.division.names, (Factor(*each) for each in digits), strict=True)),
        )

    def members(self, conditions: Conditions | None) -> tuple[ConditionMembers, ...]:
        """Return the groups as weighted conditions: those given, or each group alike."""
        assert self.division is not None, "there is something that divides the trials"
        if conditions is None:
            columns = self.metadata()
            texts = [columns.factor(name).values().tolist() for name in self.division.names]
            names = [", ".join(each) for each in zip(*texts, strict=True)]
            conditions = Conditions({name: np.zeros(0, dtype=np.bool_) for name in names})
            numbers = np.arange(len(names))
        else:
            numbers = np.array(self.groups)
        # The last two are those of no condition, and of several.
        at = [np.flatnonzero(numbers == number) for number in range(len(conditions) + 2)]
        n_tar, n_non = np.array([(part.n_tar, part.n_non) for part in self.parts]).T
        held = [sum(self.n_trials[i] for i in lines) for lines in at]
        none, several = (f"{count} trials" if count else "" for count in held[-2:])
        tar, non = ([lines[n[lines] > 0] for lines in at] for n in (n_tar, n_non))
        return conditions.checked_members(tar, non, lambda: held, several, none)


def _add_posteriors(shared: tuple[Pairs, float], task: Task) -> list[Float64Array]:
    """Add up the posteriors of a target by blocks, for each system, targets before the others."""
    (pairs, plo), (i, blocks) = shared, task
    return [
        np.array([sigmoid(row.astype(np.float64) + plo).sum() for row in block.scores_of(label)])
        for block in pairs[i].read(blocks, ahead=reads_ahead())
        for label in (1, -1)
    ]


def target_proportions_of_files(
    score_files: Sequence[FilePath], key_file: FilePath, **options: Any
) -> Float64Array:
    """Do what `estimate_target_proportions` does, for files that have all trials of a key."""
    # The prior is the share of targets among the trials.
    passes, all_ids = FilePasses.open([(list(score_files), key_file)], Where(**options))
    with passes.keeping_workers() as kept:
        tasks = kept.tasks()
        found = kept.first(_nothing, all_ids, "target scores", tasks, needs_all=True)
        counts = sum((part.counts for part in found), TrialCounts())
        _, plo = resolve_prior(counts.n_tar / (counts.n_tar + counts.n_non))
        sums = kept.run(_add_posteriors, plo, "posteriors", tasks)
    of_system = zip(*(values for part in sums for values in part), strict=True)
    totals = [math.fsum(values) for values in of_system]
    return np.array(totals) / (counts.n_tar + counts.n_non)


def _nothing(_: int, blocks: ReadBlocks) -> None:
    """Keep nothing of the non-targets."""
    for _rows, _block in blocks:
        pass


def _sorted(lists: Sequence[FloatArray]) -> SortedScores:
    """Sort the targets of several blocks or groups."""
    joined = np.concatenate([np.empty(0, np.float32), *lists])
    return SortedScores(mark_read_only(np.sort(joined)))


def _pair(score_files: Files, key_files: Files) -> list[tuple[list[FilePath], FilePath]]:
    """Put each score file beside its key."""
    scores = _as_list(score_files, "score_file")
    keys = _as_list(key_files, "key_file")
    if len(scores) != len(keys):
        expected = f"be as many files as there are score files, {len(scores)}"
        raise invalid("key_file", expected, f"{len(keys)}")
    pairs = list(zip(scores, keys, strict=True))
    real = [(os.path.realpath(score), os.path.realpath(key)) for score, key in pairs]
    for i, pair in enumerate(real):
        if pair in real[:i]:
            got = f"{os.fspath(scores[i])} twice with the same key"
            hint = "All of its trials would count twice."
            raise invalid("score_file", "hold each file once", got, hint)
    return [([score], key) for score, key in pairs]


def _as_list(files: Any, name: str) -> list[FilePath]:
    """Return names of files in a list; refuse anything else, and no file at all."""
    is_one = isinstance(files, str | os.PathLike)
    is_several = isinstance(files, Iterable) and not isinstance(files, bytes)
    listed = [files] if is_one else list(files) if is_several else []
    if not listed or not all(isinstance(file, str | os.PathLike) for file in listed):
        raise invalid(name, "be the name of a file, or several of them", describe(files))
    return listed
