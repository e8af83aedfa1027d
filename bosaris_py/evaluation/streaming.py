"""Evaluate score files block by block, in threads, processes or on a cluster.

Two passes are needed and two are enough. The first collects the target scores: all
metrics depend on how many non-targets lie at and between them, and before all targets
are known no non-target can be counted. It also adds up the part of Cllr that non-targets
have. The second counts them. What is kept is a few numbers for each target.

What does not need the targets is summed in the first pass, which mostly waits for files.

Both passes consist of tasks, each of which reads some blocks of rows of one pair of
files. What a task returns adds up exactly: counts are whole numbers, and sums of
floating-point numbers are returned block by block and added with `math.fsum` in the
end. So the outcome does not depend on who runs which blocks.
"""

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, FloatArray, by_constructor, mark_read_only, read_only
from bosaris_py._execution import (
    check_client,
    map_tasks,
    n_at_once,
    reduce_tasks,
    whole_number,
    worker_processes,
)
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.errors import FileFormatError
from bosaris_py.evaluation.pooled_scores import Evidence
from bosaris_py.numerics.cllr import mean_bits, sum_of_bits, total_cost
from bosaris_py.numerics.counts import RunningCounts, SortedScores
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.roc import ROC
from bosaris_py.trials.blocks import TrialBlock, TrialBlocks, TrialCounts, TrialIds

# Tasks are about this large, so that a bar moves; but there are not too many, as each
# returns one count for each target score.
_TASK_BYTES = 2**28

_MOST_TASKS = 256

# Some for each worker, so that all end at about the same time.
_TASKS_PER_WORKER = 4

# What may be kept between the passes of which cells are non-targets; for files with
# more, keys are read again.
_KEPT_BYTES = 2**27


@attrs.frozen(eq=False)
class NonTargets:
    """Which cells of a block are non-targets with a score, in little memory.

    Parameters
    ----------
    others : (k,) array of int32 or int64, or None
        The cells that are not, where they are few.
    packed : array of uint8, or None
        Else one bit for each cell.
    """

    others: npt.NDArray[Any] | None
    packed: npt.NDArray[np.uint8] | None

    @classmethod
    def of(cls, block: TrialBlock) -> "NonTargets":
        """Note which cells of a block they are."""
        others = block.few_others
        if others is not None:
            return cls(others.astype(np.int32 if block.labels.size < 2**31 else np.int64), None)
        return cls(None, np.packbits(block.scored_labels().ravel() == -1))

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        return sum(part.nbytes for part in (self.others, self.packed) if part is not None)

    def take(self, scores: FloatArray) -> FloatArray:
        """Return the scores of the non-targets, in any order.

        Parameters
        ----------
        scores : (r, n) array of float
            The scores of the block. Its memory is used for the result.
        """
        vector = scores.reshape(-1)
        if self.packed is not None:
            return vector[np.unpackbits(self.packed, count=vector.size).view(np.bool_)]
        assert self.others is not None
        # The places of the others are filled with the last of those that stay.
        n_kept = vector.size - self.others.size
        tail = np.ones(self.others.size, dtype=np.bool_)
        tail[self.others[self.others >= n_kept] - n_kept] = False
        vector[self.others[self.others < n_kept]] = vector[n_kept:][tail]
        return vector[:n_kept]


@attrs.frozen(eq=False)
class Looked:
    """What the first pass finds in some blocks.

    Parameters
    ----------
    pair : int
        Of which pair of files.
    tar : array of float
        The target scores.
    counts : TrialCounts
        Numbers of trials.
    bits : list of float
        For each block the sum of log2(1 + exp(score)) of the non-targets.
    non : tuple of NonTargets
        Where the non-targets are, for as many of the blocks as may be kept.
    """

    pair: int
    tar: FloatArray
    counts: TrialCounts
    bits: list[float]
    non: tuple[NonTargets, ...]


@attrs.frozen(eq=False)
class Counted:
    """What the second pass finds in some blocks.

    Parameters
    ----------
    at : (k,) array of int64
        Non-targets at each threshold.
    between : (k + 1,) array of int64
        Non-targets in each gap.
    """

    at: npt.NDArray[np.int64]
    between: npt.NDArray[np.int64]


Task: TypeAlias = tuple[int, list[slice]]


@attrs.frozen(eq=False)
class Passes:
    """How passes over pairs of files run.

    Parameters
    ----------
    pairs : tuple of TrialBlocks
        Scores beside keys, one pair or several.
    block_rows : int or None
        Rows in a block.
    workers : int
        Number of processes.
    client : dask.distributed.Client or None
        A cluster instead.
    progress : bool
        Show progress bars.
    """

    pairs: tuple[TrialBlocks, ...]
    block_rows: int | None = None
    workers: int = 1
    client: Any = None
    progress: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the cluster, which is a connection of this process."""
        return type(self), (self.pairs, self.block_rows, self.workers, None, self.progress)

    def look(self, pool: ProcessPoolExecutor | None = None) -> list[Looked]:
        """Return the targets of each pair of files, one or several times for each."""
        tasks = self._tasks()
        # The answer of a cluster does not go through the network.
        n_bytes = 0 if self.client is not None else _KEPT_BYTES // max(1, len(tasks))
        found = map_tasks(
            _look,
            (self.pairs, n_bytes),
            tasks,
            workers=self.workers,
            client=self.client,
            pool=pool,
            progress=self.progress,
            label="target scores",
        )
        return found

    def count(
        self,
        thresholds: Float64Array,
        looked: Sequence[Looked] | None,
        pool: ProcessPoolExecutor | None = None,
    ) -> Counted:
        """Count the non-targets at and between thresholds.

        Parameters
        ----------
        thresholds : (k,) array of float64
            Strictly ascending.
        looked : sequence of Looked or None
            What the first pass returned; None: read the keys again.
        pool : ProcessPoolExecutor, optional
            The processes of the first pass.
        """
        tasks = self._tasks()
        known = repeat(()) if looked is None else (part.non for part in looked)
        return reduce_tasks(
            _count,
            _add,
            (self.pairs, thresholds),
            list(zip(tasks, known, strict=False)),
            workers=self.workers,
            client=self.client,
            pool=pool,
            progress=self.progress,
            label="non-target scores",
        )

    def _tasks(self) -> list[Task]:
        """Cut all files into tasks, the same each time."""
        n_workers = n_at_once(self.workers, self.client)
        total = sum(_n_bytes(pair) for pair in self.pairs)
        wanted = max(_TASKS_PER_WORKER * n_workers, min(_MOST_TASKS, total // _TASK_BYTES))
        tasks: list[Task] = []
        for i, pair in enumerate(self.pairs):
            blocks = pair.cut(self.block_rows)
            share = max(1, round(wanted * _n_bytes(pair) / max(1, total)))
            step = max(1, -(-len(blocks) // share))
            tasks += [(i, blocks[start : start + step]) for start in range(0, len(blocks), step)]
        return tasks


def _n_bytes(pair: TrialBlocks) -> int:
    """Return the size of the scores of a pair of files, at least 1."""
    return max(1, pair.n_cells * pair.scores[0].item_size)


def _look(shared: tuple[tuple[TrialBlocks, ...], int], task: Task) -> Looked:
    """Do the first pass over the blocks of a task."""
    (pairs, n_bytes), (i, blocks) = shared, task
    tar, counts = [], TrialCounts()
    bits: list[float] = []
    kept: list[NonTargets] = []
    for k, block in enumerate(pairs[i].read(blocks)):
        counts += block.count()
        tar.append(block.scores_of(1)[0])
        non = NonTargets.of(block)
        if len(kept) == k and sum(part.n_bytes for part in kept) + non.n_bytes <= n_bytes:
            kept.append(non)
        bits.append(sum_of_bits(non.take(block.scores[0]), sign=1.0))
    return Looked(i, np.concatenate(tar), counts, bits, tuple(kept))


def _count(
    shared: tuple[tuple[TrialBlocks, ...], Float64Array], task: tuple[Task, tuple[NonTargets, ...]]
) -> Counted:
    """Do the second pass over the blocks of a task."""
    (pairs, thresholds), ((i, blocks), known) = shared, task
    counts = RunningCounts(thresholds)
    for scores in _non_targets(pairs[i], blocks, known):
        counts.add(scores)
    return Counted(*counts.result())


def _non_targets(
    pair: TrialBlocks, blocks: list[slice], known: tuple[NonTargets, ...]
) -> Iterator[FloatArray]:
    """Yield the scores of the non-targets of each block."""
    if known:
        for non, (scores,) in zip(known, pair.read_scores(blocks[: len(known)]), strict=True):
            yield non.take(scores)
    if len(known) < len(blocks):
        for block in pair.read(blocks[len(known) :]):
            yield _scores_of_non(block)


def _scores_of_non(block: TrialBlock) -> FloatArray:
    return NonTargets.of(block).take(block.scores[0])


def _add(first: Counted, second: Counted) -> Counted:
    return Counted(first.at + second.at, first.between + second.between)


Files = FilePath | Sequence[FilePath]

# The horizontal axis of a Bayes plot, unless it is told otherwise.
_PLO = (-10.0, 0.0, 1001)


@attrs.frozen(eq=False, repr=False)
class StreamedScores(Evidence):
    """What two passes over score files found out about their trials.

    Make one with `from_files`.

    Parameters
    ----------
    passes : Passes
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

    passes: Passes
    tar: SortedScores
    thresholds: Float64Array = attrs.field(converter=read_only)
    at: npt.NDArray[np.int64] = attrs.field(converter=read_only)
    between: npt.NDArray[np.int64] = attrs.field(converter=read_only)
    cllr: float

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that arrays stay read-only."""
        return by_constructor(self)

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
        """Pass over files twice; as ``Results.from_files``.

        Parameters
        ----------
        score_file, key_file : str, path-like, or sequences of these
            HDF5 files of scores and of the keys that belong to them.
        priors : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
            Operating points whose actual costs will be asked for.
        block_rows : int, optional
            Rows (models) that are read at once.
        workers : int, default: 1
            Number of processes.
        client : dask.distributed.Client, optional
            A cluster to run on.
        progress : bool, default: False
            Show progress bars.

        Returns
        -------
        StreamedScores

        Raises
        ------
        InvalidInputError
            If an argument is bad, ids are repeated, no target or no non-target has a
            score, or one is NaN.
        FileFormatError
            If a file is damaged, foreign, or changes while it is read.
        RuntimeError
            If workers are lost.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score, with counts.
        """
        if block_rows is not None:
            block_rows = whole_number(block_rows, 1, "block_rows")
        n_workers = whole_number(workers, 1, "workers")
        check_client(client, n_workers)
        wanted = [np.array([np.inf]), DecisionCosts.from_plo(np.linspace(*_PLO)).thresholds]
        if priors is not None:
            wanted.append(np.ravel(DecisionCosts.from_prior(priors).thresholds))
        opened = [
            TrialBlocks.open([scores], key, any_order=True)
            for scores, key in _pair(score_file, key_file)
        ]
        pairs = tuple(blocks for blocks, _ in opened)
        passes = Passes(pairs, block_rows, n_workers, client, progress)
        with worker_processes(n_workers) as pool:
            looked = passes.look(pool)
            tar, n_non = _targets([ids for _, ids in opened], looked)
            values = tar.values.astype(np.float64)
            thresholds = np.unique(np.concatenate((values, *wanted)))
            counted = passes.count(thresholds, looked, pool)
        _check_count(counted, n_non)
        miss_bits = mean_bits(tar.values, None, sign=-1.0)
        bits = (miss_bits + total_cost(bit for part in looked for bit in part.bits) / n_non) / 2.0
        return cls(
            passes,
            tar,
            mark_read_only(thresholds),
            mark_read_only(counted.at),
            mark_read_only(counted.between),
            bits,
        )

    def __repr__(self) -> str:
        """Show the counts."""
        return f"StreamedScores: {self.n_tar} targets, {self.n_non} non-targets"

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return self.tar.size

    @functools.cached_property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(self.at.sum() + self.between.sum())

    @functools.cached_property
    def _distinct(self) -> tuple[Float64Array, npt.NDArray[np.int64]]:
        """The distinct target scores, and the number of targets at each."""
        scores, counts = np.unique(self.tar.values.astype(np.float64), return_counts=True)
        return mark_read_only(scores), mark_read_only(counts)

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC."""
        scores, tar_at = self._distinct
        places = np.searchsorted(self.thresholds, scores)
        # Gaps between target scores are those between all thresholds, put together with
        # what lies at thresholds that are no target scores.
        elsewhere = self.at.copy()
        elsewhere[places] = 0
        gaps = self.between.copy()
        gaps[:-1] += elsewhere
        starts = np.concatenate(([0], places + 1))
        return ROC(
            scores,
            tar_at,
            mark_read_only(self.at[places]),
            mark_read_only(np.add.reduceat(gaps, starts)),
        )

    @functools.cached_property
    def _below(self) -> npt.NDArray[np.int64]:
        """Non-targets below each threshold, then all of them."""
        return mark_read_only(np.cumsum(self.between) + np.concatenate(([0], np.cumsum(self.at))))

    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds.

        Where a threshold has not been counted and lies between others with non-targets
        in between, the files are read once more.

        Parameters
        ----------
        thresholds : ndarray of float64
            Accept iff score >= threshold; any shape and order, no NaN.

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
        places = np.searchsorted(self.thresholds, limits)
        exact = self.thresholds.take(places, mode="clip") == limits
        # No non-target in the gap: the count is that at the next threshold.
        below = self._below[places]
        unknown = ~exact & (self.between[places] > 0) & np.isfinite(limits)
        below = np.where(limits == -np.inf, 0, below)
        if unknown.any():
            asked = np.unique(limits[unknown])
            counted = self.passes.count(asked, None)
            _check_count(counted, self.n_non)
            known = np.cumsum(counted.between[:-1]) + np.concatenate(
                ([0], np.cumsum(counted.at[:-1]))
            )
            below[unknown] = known[np.searchsorted(asked, limits[unknown])]
        pmiss = self.tar.count_below(limits) / self.n_tar
        pfa = (self.n_non - below) / self.n_non
        return pmiss, pfa


def _pair(score_files: Files, key_files: Files) -> list[tuple[FilePath, FilePath]]:
    """Put each score file beside its key."""
    scores = _as_list(score_files, "score_file")
    keys = _as_list(key_files, "key_file")
    if len(scores) != len(keys):
        expected = f"be as many files as there are score files, {len(scores)}"
        raise invalid("key_file", expected, f"{len(keys)}")
    pairs = list(zip(scores, keys, strict=True))
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        places = (os.path.realpath(pair[0]), os.path.realpath(pair[1]))
        if places in seen:
            got = f"{os.fspath(pair[0])} twice with the same key"
            hint = "All of its trials would count twice."
            raise invalid("score_file", "hold each file once", got, hint)
        seen.add(places)
    return pairs


def _as_list(files: Any, name: str) -> list[FilePath]:
    """Return names of files in a list; refuse anything else, and no file at all."""
    is_one = isinstance(files, str | os.PathLike)
    is_several = isinstance(files, Iterable) and not isinstance(files, bytes)
    listed = [files] if is_one else list(files) if is_several else []
    if not listed or not all(isinstance(file, str | os.PathLike) for file in listed):
        raise invalid(name, "be the name of a file, or several of them", describe(files))
    return listed


def _targets(all_ids: list[TrialIds], looked: list[Looked]) -> tuple[SortedScores, int]:
    """Check what the first pass found; return the targets and the number of non-targets."""
    totals = [TrialCounts() for _ in all_ids]
    for part in looked:
        totals[part.pair] += part.counts
    for ids, counts in zip(all_ids, totals, strict=True):
        ids.refuse_nan(counts)
    for ids, counts in zip(all_ids, totals, strict=True):
        ids.warn_missing(counts, is_key=True)
    n_tar = sum(counts.scored_tar for counts in totals)
    n_non = sum(counts.scored_non for counts in totals)
    for number, what in ((n_tar, "targets"), (n_non, "non-targets")):
        if number == 0:
            raise invalid("key_file", f"hold {what} that have scores", "none")
    scores = np.concatenate([part.tar for part in looked])
    return SortedScores.from_scores(scores, name="tar"), n_non


def _check_count(counted: Counted, n_non: int) -> None:
    """Refuse counts of another number of trials than there were in the first pass."""
    found = int(counted.at.sum() + counted.between.sum())
    if found != n_non:
        message = (
            f"a pass over the files found {found} non-targets, the first {n_non}: "
            "a file has changed meanwhile"
        )
        raise FileFormatError(message)
