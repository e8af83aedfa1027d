"""Scores in files, evaluated by two passes over them.

The first pass collects the target scores and adds up the non-targets' part of Cllr. All other
metrics depend on how many non-targets lie at and between the target scores: the second pass counts
them. What is kept is a few numbers for each target.

What tasks return adds up exactly: counts are whole numbers, and sums of floating-point numbers
are returned block by block and added with `math.fsum` in the end. So the outcome does not
depend on who runs which blocks.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    Float64Array,
    FloatArray,
    IntArray,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.numerics.counts import RunningCounts, SortedScores, distinct_scores
from bosaris_py.numerics.llr_cost import mean_bits, sum_in_bits, sums_of_nats
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.roc import ROC, all_within, warn_unless_llrs
from bosaris_py.trials.blocks import TrialBlock, without
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
from bosaris_py.trials.sample import Sample

Files: TypeAlias = FilePath | Sequence[FilePath]
# Non-targets at each threshold; and below, between and above them.
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


class _Found(NamedTuple):
    """What the first pass found of the non-targets of a task."""

    n_non: int
    # Parts of the sum of log(1 + exp(score)): added exactly in the end, they do not depend on
    # tasks.
    nats: list[float]
    # Where the non-targets of the first blocks are.
    known: Known


def _summarise(_: int, blocks: ReadBlocks, *, n_bytes: int) -> _Found:
    """Add up the non-targets, and remember where the first are, until the memory is spent."""
    n_non = 0
    nats: list[float] = []
    known: list[_NonTargetCells] = []
    for n_read, (_rows, block) in enumerate(blocks):
        non = _NonTargetCells.of(block)
        n_bytes -= sum(part.nbytes for part in (non.others, non.packed) if part is not None)
        if n_bytes >= 0 and len(known) == n_read:
            known.append(non)
        scores = non.take(block.scores[0])
        n_non += scores.size
        nats += sums_of_nats(scores, sign=1.0)
    return _Found(n_non, nats, tuple(known))


def _count(shared: tuple[Pairs, Float64Array], task: tuple[Task, Known]) -> Counts:
    """Count the non-targets of a task; keys are read only where it is not known which they are."""
    (pairs, thresholds), ((i, blocks), known) = shared, task
    counts = RunningCounts(thresholds)
    if known:
        read = pairs[i].read_scores(blocks[: len(known)], ahead=reads_ahead())
        for non, (scores,) in zip(known, read, strict=True):
            counts.add(non.take(scores))
    if len(known) < len(blocks):
        for block in pairs[i].read(blocks[len(known) :], ahead=reads_ahead()):
            counts.add(_NonTargetCells.of(block).take(block.scores[0]))
    return counts.result()


def _add(first: Counts, second: Counts) -> Counts:
    return first[0] + second[0], first[1] + second[1]


def _tasks(passes: FilePasses) -> list[Task]:
    """Cut the files into tasks that keep all workers busy."""
    least = _TASKS_PER_WORKER * passes.where.workers
    n_tasks = min(MOST_TASKS, passes.n_bytes // _TASK_BYTES)
    # A multiple, so that threads end together.
    return passes.tasks(least * max(1, -(-n_tasks // least)))


def _thresholds(tar: FloatArray, prior: PriorLike | None) -> Float64Array:
    """Return where non-targets are counted: at the target scores, and what may be asked for."""
    # With infinity, each threshold has a counted one at or above it; see `below`.
    wanted = [np.array([np.inf]), DecisionCosts.from_plo(np.linspace(*_PLO)).thresholds]
    if prior is not None:
        wanted.append(np.ravel(DecisionCosts.from_prior(prior).thresholds))
    return mark_read_only(np.unique(np.concatenate((tar.astype(np.float64), *wanted))))


def _count_all(
    passes: FilePasses, thresholds: Float64Array, n_non: int, tasks: list[tuple[Task, Known]]
) -> Counts:
    """Count the non-targets of all tasks, which must be as many as in the first pass."""
    with passes.blaming_changes():
        runner = passes.runner("non-target scores")
        at, between = runner.reduce(_count, _add, (passes.pairs, thresholds), tasks)
    check_unchanged(int(at.sum() + between.sum()), n_non)
    return at, between


def _running(at: IntArray, between: IntArray) -> IntArray:
    """Return the counts below each threshold, then of all, from those at and between thresholds."""
    below: IntArray = np.cumsum(between)
    below[1:] += np.cumsum(at)
    return below


@attrs.frozen(eq=False, repr=False)
class StreamedSample(Sample):
    """Scored trials in files of any size, counted in two passes; made by `from_files`.

    Parameters
    ----------
    passes : object
        What reads the files.
    tar : object
        The target scores, ascending.
    thresholds : (k,) ndarray of float64
        Where non-targets are counted, ascending: all target scores and others, infinity last.
    at : (k,) ndarray of int
        Non-targets at each threshold.
    between : (k + 1,) ndarray of int
        Non-targets below, between and above the thresholds.
    fa_bits : float
        Sum of log2(1 + exp(score)) over the non-targets.
    """

    passes: FilePasses
    tar: SortedScores
    thresholds: Float64Array = attrs.field(converter=read_only)
    at: IntArray = attrs.field(converter=read_only)
    between: IntArray = attrs.field(converter=read_only)
    fa_bits: float
    # What was counted last at other thresholds.
    _again: list[tuple[Float64Array, Counts]] = attrs.field(factory=list, init=False)

    __reduce__ = by_constructor

    @classmethod
    def from_files(
        cls,
        score_file: Files,
        key_file: Files,
        *,
        prior: PriorLike | None = None,
        base: float | None = None,
        block_rows: int | None = None,
        workers: int = 1,
        progress: bool = False,
    ) -> Self:
        """Pass over files twice.

        Parameters
        ----------
        score_file, key_file, prior, base, block_rows, workers, progress
            As for `Results.from_files <bosaris_py.Results.from_files>`.

        Returns
        -------
        StreamedSample

        Raises
        ------
        FileFormatError, RuntimeError
            As for `Results.from_files <bosaris_py.Results.from_files>`.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score, with counts.
        """
        where = Where(block_rows, workers, progress)
        # 1. Align the ids of each pair of files.
        passes, all_ids = FilePasses.open(_pair(score_file, key_file), where, base)
        with passes.keeping_workers() as kept:
            # 2. First pass: the targets, and sums over the non-targets.
            tasks = _tasks(kept)
            summarise = functools.partial(_summarise, n_bytes=_KEPT_BYTES // max(1, len(tasks)))
            found = kept.first(summarise, all_ids, "target scores", tasks)
            tar = mark_read_only(np.sort(np.concatenate([part.tar[0] for part in found])))
            # 3. Second pass: the non-targets at and between thresholds.
            thresholds = _thresholds(tar, prior)
            n_non = sum(part.kept.n_non for part in found)
            again = [(part.task, part.kept.known) for part in found]
            at, between = _count_all(kept, thresholds, n_non, again)
        fa_bits = sum_in_bits(part for task in found for part in task.kept.nats)
        return cls(passes, SortedScores(tar), thresholds, at, between, fa_bits)

    @property
    def n_tar(self) -> int:
        """Number of targets."""
        return self.tar.size

    @functools.cached_property
    def n_non(self) -> int:
        """Number of non-targets."""
        return int(self.at.sum() + self.between.sum())

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC."""
        scores, tar_at = distinct_scores(self.tar)
        positions = np.searchsorted(self.thresholds, scores)
        # Gaps between the scores are those between all thresholds, put together with
        # what lies at thresholds that are none of them.
        elsewhere = self.at.copy()
        elsewhere[positions] = 0
        gaps = self.between.copy()
        gaps[:-1] += elsewhere
        starts = np.concatenate(([0], positions + 1))
        between = mark_read_only(np.add.reduceat(gaps, starts))
        return ROC(scores, tar_at, mark_read_only(self.at[positions]), between)

    @functools.cached_property
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""
        miss_bits = mean_bits(self.tar.values, None, sign=-1.0)
        return math.fsum((miss_bits, self.fa_bits / self.n_non)) / 2.0

    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds.

        Parameters
        ----------
        thresholds : ndarray of float64
            Accept iff score >= threshold; any shape and order, no NaN.

        Returns
        -------
        pmiss, pfa : ndarray of float64, shaped like `thresholds`
        """
        # Counting wants ascending thresholds, each once.
        limits, positions = np.unique(thresholds, return_inverse=True)
        pmiss = self.tar.count_below(limits) / self.n_tar
        pfa = (self.n_non - self._non_below(limits)) / self.n_non
        shape = np.shape(thresholds)
        return pmiss[positions].reshape(shape), pfa[positions].reshape(shape)

    def _non_below(self, limits: Float64Array) -> IntArray:
        """Count the non-targets below thresholds.

        Where a threshold has not been counted and lies between others with non-targets in between,
        the files are read once more.
        """
        positions = np.searchsorted(self.thresholds, limits)
        exact = self.thresholds.take(positions, mode="clip") == limits
        # No non-target in the gap: the count is that at the next threshold.
        below = np.where(limits == -np.inf, 0, _running(self.at, self.between)[positions])
        unknown = ~exact & (self.between[positions] > 0) & np.isfinite(limits)
        if unknown.any():
            asked = np.unique(limits[np.isfinite(limits)])
            counts = self._at_other_thresholds(asked)
            below[unknown] = _running(*counts)[np.searchsorted(asked, limits[unknown])]
        return np.asarray(below)

    def _at_other_thresholds(self, thresholds: Float64Array) -> Counts:
        """Count at other thresholds, in one more pass over the files."""
        if not (self._again and np.array_equal(self._again[0][0], thresholds)):
            tasks: list[tuple[Task, Known]] = [(task, ()) for task in _tasks(self.passes)]
            counts = _count_all(self.passes, thresholds, self.n_non, tasks)
            self._again[:] = [(thresholds, counts)]
        return self._again[0][1]

    def within(self, low: float, high: float) -> bool:
        """Tell whether all scores lie in a range.

        Parameters
        ----------
        low, high : float
            The range, both ends included.

        Returns
        -------
        bool
        """
        # Only if all targets do, the files may have to be read once more.
        if not all_within(low, high, self.tar.values):
            return False
        below = self._non_below(np.array([low, np.nextafter(high, np.inf)]))
        return bool(below.tolist() == [0, self.n_non])

    def warn_unless_llrs(self) -> None:
        """Warn of scores that cannot be log-likelihood-ratios."""
        least = min(self.n_tar, self.n_non)
        warn_unless_llrs(self.within, lambda: self.cllr, lambda: self.hull, least)


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
