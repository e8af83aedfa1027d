"""Scores in files, judged by two passes over them.

The first pass collects the target scores and adds up the non-targets' part of Cllr. All other
metrics depend on how many non-targets lie at and between the target scores: the second pass
counts them. What is kept is a few numbers for each target.

What tasks return adds up exactly: counts are whole numbers, and sums of floating-point numbers
are returned block by block and added with `math.fsum` in the end. So the outcome does not
depend on who runs which blocks.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    Float64Array,
    FloatArray,
    IntArray,
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
)
from bosaris_py.evaluation.pooled_scores import Evidence, count_below
from bosaris_py.numerics.cllr import mean_bits, sum_of_bits, total_cost
from bosaris_py.numerics.counts import RunningCounts, SortedScores
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.roc import ROC
from bosaris_py.trials.blocks import TrialBlock

Files: TypeAlias = FilePath | Sequence[FilePath]
# Non-targets at each threshold; and below, between and above them.
Counts: TypeAlias = tuple[IntArray, IntArray]

# Tasks are about this large, so that a bar moves; but there are not too many, as each
# returns one count for each target score.
_TASK_BYTES = 2**28

# Some for each worker, so that all end at about the same time.
_TASKS_PER_WORKER = 4

# What may be kept between the passes of which cells are non-targets; for files with
# more, keys are read again.
_KEPT_BYTES = 2**27

# Start, end and number of points of the horizontal axis of a Bayes plot by default: counted
# beforehand, they save the plot a third pass.
_PLO = (-10.0, 0.0, 1001)


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
        # The cells of the others are filled with the last of those that stay.
        n_kept = vector.size - self.others.size
        tail = np.ones(self.others.size, dtype=np.bool_)
        tail[self.others[self.others >= n_kept] - n_kept] = False
        vector[self.others[self.others < n_kept]] = vector[n_kept:][tail]
        return vector[:n_kept]


Known: TypeAlias = tuple[_NonTargets, ...]


def _summarise(blocks: ReadBlocks, *, n_bytes: int) -> tuple[list[float], Known]:
    """Return the non-targets' log2(1 + exp(score)) by blocks, and where the first of them are."""
    # Sums by blocks: added exactly in the end, they do not depend on tasks.
    bits: list[float] = []
    known: list[_NonTargets] = []
    for _, block in blocks:
        non = _NonTargets.of(block)
        # The first blocks of a task are remembered, until the memory is spent.
        n_bytes -= sum(part.nbytes for part in (non.others, non.packed) if part is not None)
        if n_bytes >= 0:
            known.append(non)
        bits.append(sum_of_bits(non.take(block.scores[0]), sign=1.0))
    return bits, tuple(known)


def _count(shared: tuple[Pairs, Float64Array], task: tuple[Task, Known]) -> Counts:
    """Count the non-targets of a task; keys are read only where it is not known which they are."""
    (pairs, thresholds), ((i, blocks), known) = shared, task
    counts = RunningCounts(thresholds)
    if known:
        read = pairs[i].read_scores(blocks[: len(known)])
        for non, (scores,) in zip(known, read, strict=True):
            counts.add(non.take(scores))
    if len(known) < len(blocks):
        for block in pairs[i].read(blocks[len(known) :]):
            counts.add(_NonTargets.of(block).take(block.scores[0]))
    return counts.result()


def _add(first: Counts, second: Counts) -> Counts:
    return first[0] + second[0], first[1] + second[1]


def _count_all(
    passes: FilePasses, thresholds: Float64Array, tasks: Sequence[tuple[Task, Known]], n_non: int
) -> Counts:
    """Count the non-targets of all tasks, which must be `n_non`."""
    runner = passes.runner("non-target scores")
    with passes.blaming_changes():
        at, between = runner.reduce(_count, _add, (passes.pairs, thresholds), tasks)
    check_unchanged(int(at.sum() + between.sum()), n_non)
    return at, between


def _tasks(passes: FilePasses) -> list[Task]:
    """Cut the files into tasks that keep all workers busy."""
    n_workers = n_at_once(passes.where.workers, passes.where.client)
    n_tasks = min(MOST_TASKS, passes.n_bytes // _TASK_BYTES)
    return passes.tasks(max(_TASKS_PER_WORKER * n_workers, n_tasks))


@attrs.frozen(eq=False, repr=False)
class StreamedScores(Evidence):
    """What two passes over score files found out about their trials.

    Make one with `from_files`.

    Parameters
    ----------
    passes : FilePasses
        How to pass over the files once more.
    tar : SortedScores
        The target scores.
    thresholds : (k,) ndarray of float64
        All thresholds at which non-targets have been counted, ascending; the target
        scores are among them.
    at : (k,) ndarray of int64
        Non-targets at each of these.
    between : (k + 1,) ndarray of int64
        Non-targets below, between and above them.
    cllr : float
        Cost of the log-likelihood-ratios, in bits.
    """

    passes: FilePasses
    tar: SortedScores
    thresholds: Float64Array = attrs.field(converter=read_only)
    at: IntArray = attrs.field(converter=read_only)
    between: IntArray = attrs.field(converter=read_only)
    cllr: float

    __reduce__ = by_constructor

    @classmethod
    def from_files(
        cls,
        score_file: Files,
        key_file: Files,
        *,
        priors: PriorLike | None = None,
        block_rows: int | None = None,
        workers: int = 1,
        client: Any = None,
        progress: bool = False,
    ) -> "StreamedScores":
        """Pass over files twice.

        Parameters
        ----------
        score_file, key_file, priors, block_rows, workers, client, progress
            As for `Results.from_files <bosaris_py.Results.from_files>`.

        Returns
        -------
        StreamedScores

        Raises
        ------
        InvalidInputError, FileFormatError, RuntimeError
            As for `Results.from_files <bosaris_py.Results.from_files>`.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score, with counts.
        """
        # With infinity, each threshold has a counted one at or above it; see `error_rates`.
        wanted = [np.array([np.inf]), DecisionCosts.from_plo(np.linspace(*_PLO)).thresholds]
        if priors is not None:
            wanted.append(np.ravel(DecisionCosts.from_prior(priors).thresholds))
        where = Where(block_rows, workers, client, progress)
        passes, all_ids = FilePasses.open(_pair(score_file, key_file), where)
        with passes.keeping_workers() as kept:
            tasks = _tasks(kept)
            # What a cluster finds does not go through the network twice.
            n_bytes = 0 if client is not None else _KEPT_BYTES // max(1, len(tasks))
            summarise = functools.partial(_summarise, n_bytes=n_bytes)
            found = kept.first(summarise, all_ids, "target scores", tasks)
            tar = SortedScores.from_scores(np.concatenate([x.tar[0] for x in found]), name="tar")
            n_non = sum(part.counts.scored_non for part in found)
            thresholds = np.unique(np.concatenate((tar.values.astype(np.float64), *wanted)))
            again = [(part.task, part.kept[1]) for part in found]
            at, between = _count_all(kept, thresholds, again, n_non)
        miss_bits = mean_bits(tar.values, None, sign=-1.0)
        fa_bits = total_cost(bit for part in found for bit in part.kept[0]) / n_non
        thresholds, at, between = map(mark_read_only, (thresholds, at, between))
        return cls(passes, tar, thresholds, at, between, (miss_bits + fa_bits) / 2.0)

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return self.tar.size

    @functools.cached_property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(self.at.sum() + self.between.sum())

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC."""
        scores, tar_at = np.unique(self.tar.values.astype(np.float64), return_counts=True)
        positions = np.searchsorted(self.thresholds, scores)
        # Gaps between target scores are those between all thresholds, put together with
        # what lies at thresholds that are no target scores.
        elsewhere = self.at.copy()
        elsewhere[positions] = 0
        gaps = self.between.copy()
        gaps[:-1] += elsewhere
        starts = np.concatenate(([0], positions + 1))
        counts = tar_at, self.at[positions], np.add.reduceat(gaps, starts)
        return ROC(mark_read_only(scores), *(mark_read_only(count) for count in counts))

    @functools.cached_property
    def _below(self) -> IntArray:
        """Non-targets below each threshold, then all of them."""
        return count_below(self.at, self.between)

    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds.

        Where a threshold has not been counted and lies between others with non-targets
        in between, the files are read once more.

        Parameters
        ----------
        thresholds : ndarray of float64
            As for ``Evidence.error_rates``.

        Returns
        -------
        pmiss, pfa : ndarray of float64, shaped like `thresholds`
            Miss and false-alarm rates.

        Raises
        ------
        FileFormatError
            If the files must be read again and have changed.
        """
        limits = np.asarray(thresholds, dtype=np.float64)
        positions = np.searchsorted(self.thresholds, limits)
        exact = self.thresholds.take(positions, mode="clip") == limits
        # No non-target in the gap: the count is that at the next threshold.
        below = self._below[positions]
        unknown = ~exact & (self.between[positions] > 0) & np.isfinite(limits)
        below = np.where(limits == -np.inf, 0, below)
        if unknown.any():
            asked = np.unique(limits[unknown])
            tasks = [(task, ()) for task in _tasks(self.passes)]
            counts = _count_all(self.passes, asked, tasks, self.n_non)
            below[unknown] = count_below(*counts)[np.searchsorted(asked, limits[unknown])]
        return self.tar.count_below(limits) / self.n_tar, (self.n_non - below) / self.n_non


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
