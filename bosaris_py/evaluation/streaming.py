"""Scores in files, evaluated by two passes over them.

The first pass collects the target scores and adds up the non-targets' part of Cllr. All other
metrics depend on how many non-targets lie below each target score, and up to it: the second pass
counts them. What is kept is a few numbers for each target.

What tasks return adds up exactly: counts are whole numbers, and sums of floating-point numbers
are returned block by block and added with `math.fsum` in the end. So the outcome does not
depend on who runs which blocks.
"""

from __future__ import annotations

import functools
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
from bosaris_py._notes import Note
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.metrics.strange import FEW_TRIALS, range_notes
from bosaris_py.numerics.hull import ROCCH
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.roc import ROC, both_sides, count_below, distinct, with_ends
from bosaris_py.numerics.scoring import mean_bits, mean_of_nats, sums_of_nats
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
from bosaris_py.trials.sample import Grid, Sample, ScoredClass, Times

Files: TypeAlias = FilePath | Sequence[FilePath]
# Non-targets below each threshold, and all of them.
Counts: TypeAlias = tuple[IntArray, int]

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
    below, n_non = np.zeros(thresholds.size, dtype=np.int64), 0

    def add(non: _NonTargetCells, block: FloatArray) -> None:
        nonlocal below, n_non
        scores = np.sort(non.take(block))
        below += count_below(scores, thresholds)
        n_non += scores.size

    if known:
        read = pairs[i].read_scores(blocks[: len(known)], ahead=reads_ahead())
        for non, (scores,) in zip(known, read, strict=True):
            add(non, scores)
    if len(known) < len(blocks):
        for block in pairs[i].read(blocks[len(known) :], ahead=reads_ahead()):
            add(_NonTargetCells.of(block), block.scores[0])
    return below, n_non


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
    # With infinity, each threshold has a counted one at or above it; see `_non_below`.
    wanted = [np.array([np.inf]), DecisionCosts.from_plo(np.linspace(*_PLO)).thresholds]
    if prior is not None:
        wanted.append(np.ravel(DecisionCosts.from_prior(prior).thresholds))
    return mark_read_only(np.unique(np.concatenate((both_sides(distinct(tar)), *wanted))))


def _count_all(
    passes: FilePasses, thresholds: Float64Array, n_non: int, tasks: list[tuple[Task, Known]]
) -> IntArray:
    """Count the non-targets of all tasks, which must be as many as in the first pass."""
    with passes.blaming_changes():
        runner = passes.runner("non-target scores")
        below, counted = runner.reduce(_count, _add, (passes.pairs, thresholds), tasks)
    check_unchanged(counted, n_non)
    return below


@attrs.frozen(eq=False, repr=False)
class _CountedClass(ScoredClass):
    """A class of which no score is kept."""

    n_trials: int = attrs.field(default=0, kw_only=True)

    __reduce__ = by_constructor

    @property
    def size(self) -> int:
        """Number of trials."""
        return self.n_trials


@attrs.frozen(eq=False, repr=False)
class StreamedSample(Sample):
    """Scored trials in files of any size, counted in two passes; made by `from_files`.

    Parameters
    ----------
    tar, non : object
        The target scores, and the number of non-targets.
    kinds, speaker_ids : None
        Not known of files.
    passes : object
        What reads the files.
    limits : (k,) ndarray of float64
        Where non-targets are counted, ascending: at and just above all target scores, and at
        others, infinity last.
    below : (k,) ndarray of int
        Non-targets below each of them.
    fa_bits : float
        Mean of log2(1 + exp(score)) of the non-targets.
    """

    passes: FilePasses = attrs.field(kw_only=True)
    limits: Float64Array = attrs.field(kw_only=True, converter=read_only)
    below: IntArray = attrs.field(kw_only=True, converter=read_only)
    fa_bits: float = attrs.field(kw_only=True)
    # What was counted last at other thresholds.
    _again: list[tuple[Float64Array, IntArray]] = attrs.field(factory=list, init=False)

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
            below = _count_all(kept, thresholds, n_non, again)
        fa_bits = mean_of_nats((part for task in found for part in task.kept.nats), n_non)
        non = _CountedClass(np.empty(0), n_trials=n_non)
        counted: Any = {"passes": passes, "limits": thresholds, "below": below}
        return cls(ScoredClass(tar), non, **counted, fa_bits=fa_bits)

    def roc(self, times: Times = None) -> ROC:
        """Return the steppy ROC.

        Parameters
        ----------
        times : None
            Trials of files count once.

        Returns
        -------
        ROC
        """
        thresholds = with_ends(both_sides(distinct(self.tar.scores)))
        misses = count_below(self.tar.scores, thresholds)
        below = self.below[np.searchsorted(self.limits, thresholds)]
        # All score below or at the last, and -inf is not counted unless a target has it.
        misses[-1], below[0], below[-1] = self.tar.size, 0, self.non.size
        return ROC(*map(mark_read_only, (thresholds, misses, self.non.size - below)))

    @functools.cached_property
    def hull(self) -> ROCCH:
        """The convex hull of the ROC."""
        return self.roc().convex_hull()

    def rates_at_all(
        self, times: Times = None, grid: Grid = "hull"
    ) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at the thresholds that matter, as rows of one.

        Parameters
        ----------
        times : None
            Trials of files count once.
        grid : {"hull", "ties", "all"}, default: "hull"
            Each non-target between two target scores is a step of "all".

        Returns
        -------
        pmiss, pfa : (1, k) ndarray of float64
        """
        roc = self.roc()
        misses, alarms = roc.misses, roc.false_alarms
        if grid == "all":
            # Of a run of non-targets the two steps that are nearest to the diagonal.
            ends = np.append(np.where(np.diff(misses) == 0, alarms[1:], alarms[:-1]), alarms[-1])
            near = misses * self.non.size // self.tar.size
            steps = [np.clip(near + one, ends, alarms) for one in (1, 0)]
            misses, alarms = np.repeat(misses, 3), np.stack((alarms, *steps), axis=1).ravel()
        return (misses / self.tar.size)[None], (alarms / self.non.size)[None]

    @functools.cached_property
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""
        return (mean_bits(self.tar.scores, -1.0) + self.fa_bits) / 2.0

    def rates(
        self, thresholds: npt.ArrayLike, times: Times = None
    ) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds.

        Parameters
        ----------
        thresholds : array_like of float
            Accept iff score >= threshold; any shape and order, no NaN.
        times : None
            Trials of files count once.

        Returns
        -------
        pmiss, pfa : ndarray of float64, shaped like ``thresholds``
        """
        # Counting wants ascending thresholds, each once.
        limits, positions = np.unique(np.asarray(thresholds, np.float64), return_inverse=True)
        pmiss = count_below(self.tar.scores, limits) / self.tar.size
        pfa = (self.non.size - self._non_below(limits)) / self.non.size
        shape = np.shape(thresholds)
        return pmiss[positions].reshape(shape), pfa[positions].reshape(shape)

    def _non_below(self, limits: Float64Array) -> IntArray:
        """Count the non-targets below thresholds.

        Where a threshold has not been counted and lies between others with non-targets in between,
        the files are read once more.
        """
        positions = np.searchsorted(self.limits, limits)
        exact = self.limits[positions] == limits
        below = np.where(limits == -np.inf, 0, self.below[positions])
        # No non-target from the threshold before: the count is that at the next one.
        before = np.append(0, self.below)[positions]
        unknown = ~exact & (below > before) & np.isfinite(limits)
        if unknown.any():
            asked = np.unique(limits[np.isfinite(limits)])
            counts = self._at_other_thresholds(asked)
            below[unknown] = counts[np.searchsorted(asked, limits[unknown])]
        return np.asarray(below)

    def _at_other_thresholds(self, thresholds: Float64Array) -> IntArray:
        """Count at other thresholds, in one more pass over the files."""
        if not (self._again and np.array_equal(self._again[0][0], thresholds)):
            tasks: list[tuple[Task, Known]] = [(task, ()) for task in _tasks(self.passes)]
            counts = _count_all(self.passes, thresholds, self.non.size, tasks)
            self._again[:] = [(thresholds, counts)]
        return self._again[0][1]

    def range_notes(self) -> list[Note]:
        """Tell of scores that cannot be log-likelihood-ratios.

        Returns
        -------
        list of Note
        """
        if min(self.tar.size, self.non.size) <= FEW_TRIALS:
            return []
        return range_notes(self._within, self.cllr, lambda: self.cllr, self)

    def _within(self, low: float, high: float) -> bool:
        """Tell whether all scores lie in a range."""
        # Only if all targets do, the files may have to be read once more.
        if self.tar.scores[0] < low or self.tar.scores[-1] > high:
            return False
        below = self._non_below(np.array([low, np.nextafter(high, np.inf)]))
        return bool(below.tolist() == [0, self.non.size])


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
