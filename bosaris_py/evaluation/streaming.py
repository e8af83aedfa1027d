"""Scores in files, evaluated by two passes over them.

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
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self, TypeAlias

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
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.evaluation.file_groups import GroupNumbers, describe_groups
from bosaris_py.numerics.counts import RunningCounts, distinct_scores
from bosaris_py.numerics.llr_cost import sum_in_bits, sums_of_nats, total_cost
from bosaris_py.numerics.priors import DecisionCosts, PriorLike, sigmoid
from bosaris_py.numerics.roc import ROC, all_within, warn_unless_llrs
from bosaris_py.numerics.scoring_rules import resolve_prior
from bosaris_py.storage.formats.catalogue import KIND
from bosaris_py.trials import ConditionMembers, Conditions, TrialMetadata
from bosaris_py.trials.blocks import TrialBlock, TrialCounts, without
from bosaris_py.trials.kinds import check_classes, check_targets, groups_of_kinds, kinds_of_segments
from bosaris_py.trials.passes import (
    MOST_TASKS,
    FilePasses,
    Pairs,
    ReadBlocks,
    Task,
    Where,
    check_unchanged,
    reads_ahead,
)
from bosaris_py.trials.sample import Chosen, DivisibleSample, ScoredClass
from bosaris_py.trials.strata import Strata

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

# So few groups are looked for one by one; sorting costs as much as twenty looks.
_FEW_GROUPS = 20


@attrs.frozen(eq=False)
class _NonTargetCells:
    """Which cells of a block are non-targets with a score: the few `others`, or one bit each."""

    others: AnyArray | None
    packed: npt.NDArray[np.uint8] | None

    @classmethod
    def of(cls, block: TrialBlock) -> "_NonTargetCells":
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


Known: TypeAlias = tuple[_NonTargetCells, ...]


@attrs.frozen(eq=False)
class _Columns:
    """The segments of each group of a matrix whose groups are of segments alone: of kinds."""

    of_segments: AnyArray
    # By group; and the place of each segment among those of its group.
    columns: tuple[IndexArray, ...]
    places: IndexArray
    _memory: dict[int, FloatArray] = attrs.field(factory=dict, init=False)

    @classmethod
    def of(cls, numbers: GroupNumbers | None, i: int) -> "_Columns | None":
        """Find the segments of each kind; None if kinds differ by trial, or other things divide."""
        if numbers is None or [factor.name for factor in numbers.factors] != [KIND]:
            return None
        (factor,) = numbers.factors
        if factor.by_trial is not None:
            return None
        of_segments = numbers.of_ids[i][1]
        places = np.zeros(of_segments.size, dtype=np.intp)
        columns = []
        for group in range(factor.n_digits):
            own = np.flatnonzero(of_segments == group)
            places[own] = np.arange(own.size)
            columns.append(own)
        return cls(of_segments, tuple(columns), places)

    def split(self, scores: FloatArray, others: Positions) -> Iterator[tuple[int, FloatArray]]:
        """Yield the scores of each group but those of some cells, in any order."""
        rows, segments = np.divmod(others, self.of_segments.size)
        groups = self.of_segments[segments]
        for group, columns in enumerate(self.columns):
            part = self._taken(scores, columns, group)
            mine = groups == group
            cells = rows[mine] * part.shape[1] + self.places[segments[mine]]
            if kept := part.size - cells.size:
                yield group, without(part, cells)[:kept]

    def _taken(self, scores: FloatArray, columns: IndexArray, group: int) -> FloatArray:
        """Copy some columns, row by row, to memory that is used for each block."""
        # Fresh memory takes longer than the copy.
        held = self._memory.get(group)
        if held is None or held.dtype != scores.dtype or len(held) < len(scores):
            held = self._memory[group] = np.empty((len(scores), columns.size), scores.dtype)
        part = held[: len(scores)]
        # Positions are within; only other modes write in place without a buffer.
        np.take(scores, columns, axis=1, out=part, mode="clip")
        return part

    def trials(self, block: TrialBlock, others: Positions) -> list[int]:
        """Count the trials of each group, with or without score."""
        if block.valid is not None:
            return [int(np.count_nonzero(block.labels[:, part])) for part in self.columns]
        gaps = others[block.labels.reshape(-1)[others] == 0] % self.of_segments.size
        sizes = np.bincount(self.of_segments, minlength=len(self.columns)) * len(block.labels)
        lacking = np.bincount(self.of_segments[gaps], minlength=len(self.columns))
        return (sizes - lacking).tolist()  # type: ignore[no-any-return]


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
    i: int, blocks: ReadBlocks, *, n_bytes: int, numbers: GroupNumbers | None
) -> tuple[dict[int, _Found], Known]:
    """Return what there is of each group, and where the first non-targets are."""
    found: dict[int, _Found] = defaultdict(_Found)
    known: list[_NonTargetCells] = []
    columns = _Columns.of(numbers, i)
    for n_read, (_, block) in enumerate(blocks):
        others = None if columns is None or block.cells is not None else block.few_others
        if numbers is None or others is not None:
            non = _NonTargetCells.of(block)
            # The first blocks of a task are remembered, until the memory is spent.
            n_bytes -= sum(part.nbytes for part in (non.others, non.packed) if part is not None)
            if n_bytes >= 0 and len(known) == n_read:
                known.append(non)
        parts: Iterable[tuple[int, FloatArray]]
        if numbers is None:
            parts = [(0, non.take(block.scores[0]))]
        elif others is not None:
            assert columns is not None, "they were asked for"
            at = others[block.scored_labels.reshape(-1)[others] == 1]
            of_tar = columns.of_segments[at % columns.of_segments.size]
            targets = block.scores[0].reshape(-1)[at]
            for group, count in enumerate(columns.trials(block, others)):
                if count:
                    found[group].n_trials += count
                    found[group].tar.append(targets[of_tar == group])
            parts = columns.split(block.scores[0], others)
        else:
            groups = numbers.of_cells(i, block)
            counts = np.bincount(groups[block.labels.reshape(-1) != 0])
            for group in np.flatnonzero(counts).tolist():
                found[group].n_trials += int(counts[group])
            for group, tar in _split(groups, block, 1):
                found[group].tar.append(tar)
            parts = _split(groups, block, -1)
        for group, scores in parts:
            found[group].n_non += scores.size
            found[group].nats += sums_of_nats(scores, sign=1.0)
    return dict(found), tuple(known)


def _count(
    shared: tuple[Pairs, tuple[GroupNumbers | None, Sequence[int], Float64Array]],
    task: tuple[Task, Known],
) -> Counts:
    """Count the non-targets of a task; keys are read only where it is not known which they are."""
    (pairs, (numbers, groups, thresholds)), ((i, blocks), known) = shared, task
    counts = [RunningCounts(thresholds) for _ in groups]
    columns = _Columns.of(numbers, i)

    def add(parts: Iterable[tuple[int, FloatArray]]) -> None:
        # A group that was not there in the first pass is missed, which is noticed.
        for group, scores in parts:
            if group in groups:
                counts[groups.index(group)].add(scores)

    if known:
        read = pairs[i].read_scores(blocks[: len(known)], ahead=reads_ahead())
        for non, (scores,) in zip(known, read, strict=True):
            if columns is None:
                counts[0].add(non.take(scores))
            else:
                assert non.others is not None, "others were not remembered"
                add(columns.split(scores, non.others))
    if len(known) < len(blocks):
        for block in pairs[i].read(blocks[len(known) :], ahead=reads_ahead()):
            if numbers is None:
                counts[0].add(_NonTargetCells.of(block).take(block.scores[0]))
            else:
                add(_split(numbers.of_cells(i, block), block, -1))
    at, between = zip(*(each.result() for each in counts), strict=True)
    return np.stack(at), np.stack(between)


def _add(first: Counts, second: Counts) -> Counts:
    return first[0] + second[0], first[1] + second[1]


def _tasks(passes: FilePasses) -> list[Task]:
    """Cut the files into tasks that keep all workers busy."""
    least = _TASKS_PER_WORKER * passes.where.workers
    n_tasks = min(MOST_TASKS, passes.n_bytes // _TASK_BYTES)
    # A multiple, so that threads end together.
    return passes.tasks(least * max(1, -(-n_tasks // least)))


@attrs.frozen(eq=False)
class _Group:
    """What the passes found of one group."""

    number: int
    # Trials of the key, with or without score; 0 where nothing divides them.
    n_trials: int
    tar: FloatArray
    # Non-targets at each threshold; and below, between and above them.
    at: IntArray
    between: IntArray
    # Sum of log2(1 + exp(score)) over the non-targets.
    fa_bits: float


@attrs.frozen(eq=False)
class CountedFiles:
    """The trials in files, counted group by group at the same thresholds.

    Invariants: all target scores are among the thresholds. These ascend and end with infinity.
    Counts of several groups are sums of the groups' counts.
    """

    passes: FilePasses
    numbers: GroupNumbers | None
    thresholds: Float64Array = attrs.field(converter=read_only)
    groups: tuple[_Group, ...]
    # What was counted last at other thresholds.
    _again: list[tuple[Float64Array, Counts]] = attrs.field(factory=list, init=False)

    __reduce__ = by_constructor

    @classmethod
    def read(
        cls,
        score_file: Files,
        key_file: Files,
        division: Conditions | TrialMetadata | None,
        columns: Sequence[str] = (),
        *,
        priors: PriorLike | None = None,
        base: float | None = None,
        block_rows: int | None = None,
        workers: int = 1,
        progress: bool = False,
    ) -> Self:
        """Pass over files twice; `columns` of the metadata divide them, if it is that."""
        where = Where(block_rows, workers, progress)
        # 1. Align the ids of each pair of files, and number the groups.
        passes, all_ids = FilePasses.open(_pair(score_file, key_file), where, base)
        numbers = None if division is None else GroupNumbers.of(division, columns, all_ids)
        with passes.keeping_workers() as kept:
            # 2. First pass: the targets of each group, and sums over its non-targets.
            tasks = _tasks(kept)
            n_bytes = _KEPT_BYTES // max(1, len(tasks))
            summarise = functools.partial(_summarise, n_bytes=n_bytes, numbers=numbers)
            found = kept.first(summarise, all_ids, "target scores", tasks)
            groups: dict[int, _Found] = defaultdict(_Found)
            for part in found:
                for group, more in part.kept[0].items():
                    groups[group] += more
            if numbers is None:
                groups[0].tar = [part.tar[0] for part in found]
            elif isinstance(division, TrialMetadata):
                numbers.refuse_undescribed({g: one.n_trials for g, one in groups.items()})
            held = dict(sorted(groups.items()))
            tar = [_sorted(one.tar) for one in held.values()]
            # 3. Second pass: the non-targets at and between thresholds.
            thresholds = _thresholds(tar, priors)
            n_non = sum(one.n_non for one in held.values())
            again = [(part.task, part.kept[1]) for part in found]
            counts = _count_all(kept, numbers, tuple(held), thresholds, n_non, again)
        listed = [
            _Group(number, one.n_trials, own, at, between, sum_in_bits(one.nats))
            for (number, one), own, at, between in zip(
                held.items(), tar, *map(mark_read_only, counts), strict=True
            )
        ]
        return cls(passes, numbers, thresholds, tuple(listed))

    def at_other_thresholds(self, thresholds: Float64Array) -> Counts:
        """Count all groups at other thresholds, in one more pass over the files."""
        if not (self._again and np.array_equal(self._again[0][0], thresholds)):
            tasks: list[tuple[Task, Known]] = [(task, ()) for task in _tasks(self.passes)]
            held = tuple(group.number for group in self.groups)
            n_non = sum(self.counts[1].tolist())
            counts = _count_all(self.passes, self.numbers, held, thresholds, n_non, tasks)
            self._again[:] = [(thresholds, counts)]
        return self._again[0][1]

    @functools.cached_property
    def counts(self) -> tuple[IntArray, IntArray]:
        """Number of targets and of non-targets of each group."""
        n_non = [int(group.at.sum() + group.between.sum()) for group in self.groups]
        return np.array([group.tar.size for group in self.groups]), np.array(n_non)

    @property
    def metadata(self) -> TrialMetadata:
        """The groups, one trial for each, with the columns that divide them."""
        assert self.numbers is not None, "columns divide the trials"
        return describe_groups(self.numbers.factors, [group.number for group in self.groups])

    def members(self, conditions: Conditions | None) -> tuple[ConditionMembers, ...]:
        """Return the groups as weighted conditions: those given, or each group alike."""
        none = several = ""
        if conditions is None:
            columns = self.metadata
            texts = [columns.factor(name).values().tolist() for name in columns.names]
            names = [", ".join(each) for each in zip(*texts, strict=True)]
            conditions = Conditions({name: np.zeros(0, dtype=np.bool_) for name in names})
            digits = np.arange(len(names))
        else:
            assert self.numbers is not None, "conditions divide the trials"
            (factor,) = self.numbers.factors
            digits = factor.digits([group.number for group in self.groups])
            none, several = (self._stray(digits == each) for each in (factor.none, factor.several))
        at = [np.flatnonzero(digits == number) for number in range(len(conditions))]
        tar, non = ([lines[n[lines] > 0] for lines in at] for n in self.counts)
        n_trials = np.array([group.n_trials for group in self.groups])
        sizes = [int(n_trials[lines].sum()) for lines in at]
        return conditions.checked_members(tar, non, lambda: sizes, several, none)

    def _stray(self, chosen: BoolArray) -> str:
        """Describe the trials of some groups; an empty text if there are none."""
        count = sum(g.n_trials for g, one in zip(self.groups, chosen, strict=True) if one)
        return f"{count} trials" if count else ""


def _thresholds(tar: Sequence[FloatArray], priors: PriorLike | None) -> Float64Array:
    """Return where non-targets are counted: at the target scores, and what may be asked for."""
    # With infinity, each threshold has a counted one at or above it; see `below`.
    wanted = [np.array([np.inf]), DecisionCosts.from_plo(np.linspace(*_PLO)).thresholds]
    if priors is not None:
        wanted.append(np.ravel(DecisionCosts.from_prior(priors).thresholds))
    scores = [each.astype(np.float64) for each in tar]
    return mark_read_only(np.unique(np.concatenate((*scores, *wanted))))


def _count_all(
    passes: FilePasses,
    numbers: GroupNumbers | None,
    groups: tuple[int, ...],
    thresholds: Float64Array,
    n_non: int,
    tasks: list[tuple[Task, Known]],
) -> Counts:
    """Count the non-targets of all tasks, which must be as many as in the first pass."""
    with passes.blaming_changes():
        runner = passes.runner("non-target scores")
        setting = passes.pairs, (numbers, groups, thresholds)
        at, between = runner.reduce(_count, _add, setting, tasks)
    check_unchanged(int(at.sum() + between.sum()), n_non)
    return at, between


@attrs.frozen(eq=False)
class _CountedPart:
    """The non-targets of some groups, by their positions among those of the files."""

    files: CountedFiles
    groups: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of trials."""
        return int(self.files.counts[1][list(self.groups)].sum())

    @functools.cached_property
    def _counts(self) -> Counts:
        """Non-targets at each threshold; and below, between and above them."""
        n, chosen = self.files.thresholds.size, [self.files.groups[i] for i in self.groups]
        at = sum((group.at for group in chosen), start=np.zeros(n, dtype=np.int64))
        return at, sum((g.between for g in chosen), start=np.zeros(n + 1, dtype=np.int64))

    @functools.cached_property
    def mean_bits(self) -> float:
        """Mean of log2(1 + exp(score))."""
        return total_cost(self.files.groups[i].fa_bits for i in self.groups) / self.size

    def at_scores(self, scores: Float64Array) -> Counts:
        """Return the non-targets at and between some of the counted thresholds."""
        positions = np.searchsorted(self.files.thresholds, scores)
        at, between = self._counts
        # Gaps between the scores are those between all thresholds, put together with
        # what lies at thresholds that are none of them.
        elsewhere = at.copy()
        elsewhere[positions] = 0
        gaps = between.copy()
        gaps[:-1] += elsewhere
        starts = np.concatenate(([0], positions + 1))
        return mark_read_only(at[positions]), mark_read_only(np.add.reduceat(gaps, starts))

    def below(self, limits: Float64Array) -> IntArray:
        """Count the non-targets below thresholds.

        Where a threshold has not been counted and lies between others with non-targets in between,
        the files are read once more.
        """
        counted, between = self.files.thresholds, self._counts[1]
        positions = np.searchsorted(counted, limits)
        exact = counted.take(positions, mode="clip") == limits
        # No non-target in the gap: the count is that at the next threshold.
        below = np.where(limits == -np.inf, 0, _running(*self._counts)[positions])
        unknown = ~exact & (between[positions] > 0) & np.isfinite(limits)
        if unknown.any():
            # All thresholds, so that the other groups are counted in the same pass.
            asked = np.unique(limits[np.isfinite(limits)])
            at, gaps = (
                each[list(self.groups)].sum(axis=0)
                for each in self.files.at_other_thresholds(asked)
            )
            below[unknown] = _running(at, gaps)[np.searchsorted(asked, limits[unknown])]
        return np.asarray(below)


def _running(at: IntArray, between: IntArray) -> IntArray:
    """Return the counts below each threshold, then of all, from those at and between thresholds."""
    below: IntArray = np.cumsum(between)
    below[1:] += np.cumsum(at)
    return below


@attrs.frozen(eq=False, repr=False)
class CountedClass:
    """The non-targets in files, which have been counted; conditions are groups with a share."""

    parts: tuple[_CountedPart, ...]
    shares: tuple[float, ...]

    @functools.cached_property
    def n_trials(self) -> int:
        """Number of trials, each once."""
        return sum(part.size for part in self.parts)

    def parts_of_roc(self, target_scores: Float64Array, *, is_tar: bool) -> list[ROC]:
        """Count the trials of each condition at the target scores, weighted: parts that add up."""
        assert not is_tar, "targets lie in memory"
        nobody = np.broadcast_to(mark_read_only(np.zeros(1, dtype=np.int64)), target_scores.shape)
        rocs = [ROC(target_scores, nobody, *part.at_scores(target_scores)) for part in self.parts]
        # Van Leeuwen (2008), equation 12: a condition counts with its share over its trials.
        return [
            roc.weighted(0.0, share * self.n_trials / part.size)
            for roc, share, part in zip(rocs, self.shares, self.parts, strict=True)
        ]

    def share(self, thresholds: Float64Array, *, accepted: bool) -> Float64Array:
        """Return the weighted share of scores from, or else below, thresholds that ascend."""
        total = np.zeros(thresholds.size)
        for share, part in zip(self.shares, self.parts, strict=True):
            below = part.below(thresholds)
            total += share * ((part.size - below if accepted else below) / part.size)
        return total

    def mean_bits(self, sign: float) -> list[float]:
        """Return the mean of log2(1 + exp(sign * score)) of each condition, times its share."""
        assert sign > 0, "targets lie in memory"
        return [share * p.mean_bits for share, p in zip(self.shares, self.parts, strict=True)]


@attrs.frozen(eq=False, repr=False)
class StreamedSample(DivisibleSample):
    """Scored trials in files of any size, counted in two passes; made by `from_files`.

    Positions of `restricted` and `weighted` are those of groups among all of the files.

    Parameters
    ----------
    files : object
        What the passes found.
    tar, non : object
        The targets, which lie in memory, and the counts of the non-targets.
    """

    files: CountedFiles
    tar: ScoredClass
    non: CountedClass

    __reduce__ = by_constructor

    @classmethod
    def from_files(
        cls,
        score_file: Files,
        key_file: Files,
        division: Conditions | TrialMetadata | None = None,
        columns: Sequence[str] = (),
        **options: Any,
    ) -> Self:
        """Pass over files twice.

        Parameters
        ----------
        score_file, key_file
            As for `Results.from_files <bosaris_py.Results.from_files>`.
        division : Conditions or TrialMetadata, optional
            What divides the trials into groups.
        columns : sequence of str, default: ()
            Columns of the metadata by which they are divided.
        **options
            ``priors``, ``base``, ``block_rows``, ``workers``, ``progress``, as for
            ``Results.from_files``.

        Returns
        -------
        StreamedSample
            All trials alike.

        Raises
        ------
        FileFormatError, RuntimeError
            As for `Results.from_files <bosaris_py.Results.from_files>`.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score, with counts.
        """
        files = CountedFiles.read(score_file, key_file, division, columns, **options)
        everything = [(np.arange(len(files.groups)), 1.0)]
        return cls(files, _targets(files, everything), _non_targets(files, everything))

    @classmethod
    def by_conditions(
        cls,
        score_file: Files,
        key_file: Files,
        conditions: Conditions | str | Sequence[str],
        metadata: TrialMetadata | None,
        **options: Any,
    ) -> tuple[Self, tuple[ConditionMembers, ...]]:
        """Pass over files twice, and find conditions, or combinations of columns.

        Parameters
        ----------
        score_file, key_file, conditions, metadata
            As for `Results.from_files <bosaris_py.Results.from_files>`.
        **options
            As for `from_files`.

        Returns
        -------
        sample : StreamedSample
        members : tuple of ConditionMembers
        """
        if isinstance(conditions, Conditions):
            sample = cls.from_files(score_file, key_file, conditions, **options)
            return sample, sample.files.members(conditions)
        if not isinstance(metadata, TrialMetadata):
            expected = "be TrialMetadata where conditions are columns of it"
            raise invalid("metadata", expected, describe(metadata))
        columns = (conditions,) if isinstance(conditions, str) else tuple(conditions)
        sample = cls.from_files(score_file, key_file, metadata, columns, **options)
        return sample, sample.files.members(None)

    @classmethod
    def of_kinds(
        cls, score_file: Files, key_file: Files, metadata: TrialMetadata, **options: object
    ) -> Self:
        """Pass over files twice, and tell the kinds of non-targets.

        Parameters
        ----------
        score_file, key_file
            As for `Results.from_files <bosaris_py.Results.from_files>`.
        metadata : TrialMetadata
            With the column ``kind``, of trials or of segments, in which spoofs are ``spoof``.
        **options
            As for `from_files`.

        Returns
        -------
        StreamedSample
            As `ListedSample.of_kinds` has it in memory, for `with_shares`.

        Raises
        ------
        InvalidInputError
            If kinds are not known, a class has no trial with a score, or a target is a spoof.
        """
        kinds = kinds_of_segments(metadata)
        sample = cls.from_files(score_file, key_file, kinds, (KIND,), **options)
        (n_tar, n_non), groups = sample.counts, sample._kinds
        check_classes([n_tar.sum(), *(n_non[at].sum() for at in groups)], "key_file")
        check_targets(sum(int(n_tar[at].sum()) for at in groups[1:]))
        return sample

    @property
    def _kinds(self) -> list[IndexArray]:
        """The groups of each kind of non-targets."""
        return groups_of_kinds(self.files.metadata.factor(KIND))

    def with_shares(self, *shares: float) -> Self:
        """Do what `ListedSample.with_shares` does.

        Parameters
        ----------
        *shares : float
            One for each kind, of sum one.

        Returns
        -------
        StreamedSample
        """
        held = [pair for pair in zip(self._kinds, shares, strict=True) if pair[1] > 0]
        return self._divided([(np.arange(len(self.files.groups)), 1.0)], held)

    def with_kinds_pooled(self) -> Self:
        """Return the sample with all non-targets alike.

        Returns
        -------
        StreamedSample
        """
        every = np.arange(len(self.files.groups)), 1.0
        return self._divided([every], [every])

    def warn_unless_llrs(self) -> None:
        """Warn of scores that cannot be log-likelihood-ratios."""
        least = min(self.n_tar, self.n_non)
        warn_unless_llrs(self.within, lambda: self.cllr, lambda: self.hull, least)

    @property
    def counts(self) -> tuple[IntArray, IntArray]:
        """Number of targets and of non-targets of each group of the files."""
        return self.files.counts

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC."""
        if self.non.shares == (1.0,) and len(self.tar.sorted.parts) == 1:
            # Of one condition there is nothing to add up.
            scores, at = distinct_scores(self.tar.sorted.parts[0])
            return ROC(scores, at, *self.non.parts[0].at_scores(scores))
        return self._summed_roc()

    @functools.cached_property
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""
        return self._summed_cllr()

    def within(self, low: float, high: float) -> bool:
        """Tell whether all scores lie in a range; False of conditions.

        Parameters
        ----------
        low, high : float
            The range, both ends included.

        Returns
        -------
        bool
        """
        # Only if all targets do, the files may have to be read once more.
        if len(self.non.parts) > 1 or not all_within(low, high, self.tar.scores):
            return False
        below = self.non.parts[0].below(np.array([low, np.nextafter(high, np.inf)]))
        return bool(below.tolist() == [0, self.n_non])

    def restricted(self, tar: Chosen, non: Chosen) -> Self:
        """Return the trials of some groups, all alike.

        Parameters
        ----------
        tar, non : ndarray of int, ndarray of bool, or slice
            Of which groups the targets, and the non-targets.

        Returns
        -------
        StreamedSample
            Each class may be empty.
        """
        every = np.arange(len(self.files.groups))
        return self._divided([(every[tar], 1.0)], [(every[non], 1.0)])

    def _divided(
        self, tar: Sequence[tuple[Positions, float]], non: Sequence[tuple[Positions, float]]
    ) -> Self:
        """Divide each class into conditions: their groups and shares."""
        own, others = _targets(self.files, tar), _non_targets(self.files, non)
        return attrs.evolve(self, tar=own, non=others)


def _targets(files: CountedFiles, parts: Sequence[tuple[Positions, float]]) -> ScoredClass:
    """Return the targets of some groups as conditions."""
    lists = [_sorted([files.groups[i].tar for i in groups]) for groups, _ in parts]
    joined = ScoredClass(mark_read_only(np.concatenate(lists)), Strata.single(sum(map(len, lists))))
    if len(parts) == 1:
        return joined
    ends = np.cumsum([0, *map(len, lists)])
    places = map(np.arange, ends[:-1], ends[1:])
    return joined.divided([(at, share) for at, (_, share) in zip(places, parts, strict=True)])


def _non_targets(files: CountedFiles, parts: Sequence[tuple[Positions, float]]) -> CountedClass:
    """Return the non-targets of some groups as conditions."""
    held = [(groups.tolist(), share) for groups, share in parts if share > 0]
    counted = tuple(_CountedPart(files, tuple(groups)) for groups, _ in held)
    return CountedClass(counted, tuple(share for _, share in held))


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


def _sorted(lists: Sequence[FloatArray]) -> FloatArray:
    """Sort the targets of several blocks or groups."""
    joined = np.concatenate([np.empty(0, np.float32), *lists])
    return mark_read_only(np.sort(joined))


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
