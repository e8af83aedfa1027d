"""The two passes over score files: first the targets, then what lies between them.

What does not need the targets is summed in the first pass, which mostly waits for files.

Both passes consist of tasks, each of which reads some blocks of rows of one pair of
files. What a task returns adds up exactly: counts are whole numbers, and sums of
floating-point numbers are returned block by block and added with `math.fsum` in the
end. So the outcome does not depend on who runs which blocks.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._execution import map_tasks, n_at_once, reduce_tasks
from bosaris_py.numerics.cllr import sum_of_bits
from bosaris_py.numerics.running_counts import RunningCounts
from bosaris_py.trials.file_blocks import TrialBlock, TrialBlocks, TrialCounts

__all__ = ["Counted", "Looked", "Passes"]

Float64Array: TypeAlias = npt.NDArray[np.float64]
FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]

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
    shared: tuple[tuple[TrialBlocks, ...], Float64Array],
    task: tuple[Task, tuple[NonTargets, ...]],
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
