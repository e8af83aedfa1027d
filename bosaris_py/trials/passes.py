"""Passes over keys and score files, block by block, in threads or processes.

A pass calls one function for each task: some blocks of rows of one key and of the score files
beside it. Tasks and the order of their results do not depend on who does them. The first pass
collects the target scores, which are few, and whatever the caller needs of the non-targets. What
trains and what evaluates on files takes its passes from here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from typing import Generic, Self, TypeAlias, TypeVar

import attrs
import numpy as np

from bosaris_py._arrays import FloatArray
from bosaris_py._parallel import Runner, whole_number, worker_processes
from bosaris_py._validation import FilePath, as_path, describe, invalid, log_of_base
from bosaris_py.errors import FileFormatError, TrialMismatchError
from bosaris_py.trials.blocks import TrialBlock, TrialBlocks, TrialCounts, TrialIds

Kept = TypeVar("Kept")

Result = TypeVar("Result")

Setting = TypeVar("Setting")

Pairs: TypeAlias = tuple[TrialBlocks, ...]

# Which pair of key and score files, and which blocks of it.
Task: TypeAlias = tuple[int, list[slice]]

# Blocks as they are read, each with its part of the rows.
ReadBlocks: TypeAlias = Iterator[tuple[slice, TrialBlock]]

# Blocks in a task, and limits for the number of tasks. Rounding of floating-point sums depends
# on where tasks begin, so none of these depends on the number of workers. Some 16 tasks keep a
# few workers busy; with 256 the time to start one is nothing beside that of its blocks.
_TASK_BLOCKS = 16

_FEWEST_TASKS = 16

MOST_TASKS = 256


def files_of_systems(paths: object) -> list[FilePath]:
    """Return the names of score files; refuse what is no list of names."""
    if isinstance(paths, str | os.PathLike) or not isinstance(paths, Iterable):
        hint = "Put the files of all systems into a list."
        raise invalid("score_files", "be a list of files", describe(paths), hint)
    return [as_path(path, "score_files") for path in paths]


def _block_rows(value: object) -> int | None:
    return None if value is None else whole_number(value, 1, "block_rows")


def _workers(value: object) -> int:
    return whole_number(value, 1, "workers")


@attrs.frozen(eq=False)
class Where:
    """Where passes run: rows in a block, worker processes, and progress bars."""

    block_rows: int | None = attrs.field(default=None, converter=_block_rows)
    workers: int = attrs.field(default=1, converter=_workers)
    progress: bool = False


@attrs.frozen(eq=False)
class FirstPass(Generic[Kept]):
    """Counts and target scores of a task, and what the caller keeps of its non-targets."""

    task: Task
    counts: TrialCounts
    tar: FloatArray
    kept: Kept


@attrs.frozen(eq=False)
class FilePasses:
    """Keys with the score files beside each, and where passes over them run."""

    pairs: Pairs
    where: Where = attrs.field(factory=Where)
    # Worker processes that live from pass to pass.
    pool: ProcessPoolExecutor | None = None

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the pool, which is of this process."""
        return type(self), (self.pairs, self.where)

    @classmethod
    def open(
        cls,
        files: Iterable[tuple[Sequence[FilePath], FilePath]],
        where: Where,
        base: float | None = None,
    ) -> tuple[Self, list[TrialIds]]:
        """Open score files, and the key beside them, once or several times; align their ids."""
        factor = None if base is None else log_of_base(base)
        # Sums and counts do not depend on the order of rows: that of the score file reads faster.
        opened = [TrialBlocks.open(scores, key, any_order=True) for scores, key in files]
        pairs = tuple(attrs.evolve(blocks, factor=factor) for blocks, _ in opened)
        return cls(pairs, where), [ids for _, ids in opened]

    @contextmanager
    def keeping_workers(self) -> Iterator[Self]:
        """Give the same passes with worker processes that are started once for all of them."""
        with worker_processes(self.where.workers) as pool:
            yield attrs.evolve(self, pool=pool)

    @property
    def n_bytes(self) -> int:
        """Size of all scores."""
        return sum(_n_bytes(pair) for pair in self.pairs)

    def tasks(self, n_tasks: int | None = None) -> list[Task]:
        """Cut the files into tasks, the same each time; by default for any number of workers."""
        all_blocks = [pair.cut(self.where.block_rows) for pair in self.pairs]
        if n_tasks is None:
            n_blocks = sum(len(blocks) for blocks in all_blocks)
            n_tasks = min(max(n_blocks // _TASK_BLOCKS, _FEWEST_TASKS), MOST_TASKS)
        n_bytes = self.n_bytes
        tasks: list[Task] = []
        for i, (pair, blocks) in enumerate(zip(self.pairs, all_blocks, strict=True)):
            # Each pair of files gets tasks in proportion to its size.
            share = max(1, round(n_tasks * _n_bytes(pair) / n_bytes))
            step = max(1, -(-len(blocks) // share))
            tasks += [(i, blocks[start : start + step]) for start in range(0, len(blocks), step)]
        return tasks

    def run(
        self,
        function: Callable[[tuple[Pairs, Setting], Task], Result],
        setting: Setting,
        label: str,
        tasks: list[Task] | None = None,
    ) -> list[Result]:
        """Return ``function((pairs, setting), task)`` for all tasks, in their order."""
        tasks = self.tasks() if tasks is None else tasks
        with self.blaming_changes():
            return self.runner(label).map(function, (self.pairs, setting), tasks)

    @contextmanager
    def blaming_changes(self) -> Iterator[None]:
        """Say of whatever fails in a pass that a file has changed, if so: that explains it."""
        try:
            yield
        except Exception:
            for pair in self.pairs:
                for file in (pair.trials, *pair.scores):
                    file.stamp.check()
            raise

    def runner(self, label: str) -> Runner:
        """Return what runs the tasks of one pass."""
        where = self.where
        return Runner(label, where.workers, self.pool, where.progress, n_threads())

    def first(
        self,
        keep: Callable[[int, ReadBlocks], Kept],
        all_ids: Sequence[TrialIds],
        label: str,
        tasks: list[Task],
        *,
        needs_all: bool = False,
    ) -> list[FirstPass[Kept]]:
        """Collect the targets, and what `keep` makes of the blocks of a pair; check the trials."""
        # Refuses NaN, a class without scores and, if all are needed, trials without scores; warns
        # of the latter otherwise.
        found = self.run(_look, keep, label, tasks)
        totals = [TrialCounts() for _ in all_ids]
        for part in found:
            totals[part.task[0]] += part.counts
        # NaN comes first: it makes whatever else was found worthless.
        for ids, counts in zip(all_ids, totals, strict=True):
            ids.refuse_nan(counts)
        total = sum(totals, TrialCounts())
        if needs_all and (total.scored_tar, total.scored_non) != (total.n_tar, total.n_non):
            raise missing_scores(self, is_key=True)
        # Before classes without scores are refused: ids that do not match are often the reason.
        for ids, counts in zip(all_ids, totals, strict=True):
            ids.warn_missing(counts, is_key=True)
        for what, n_scored in (("targets", total.scored_tar), ("non-targets", total.scored_non)):
            if not n_scored:
                # Read as a key, a trial list of a signed type has targets only.
                alone = what == "non-targets" and not total.n_non
                hint = f"All {total.n_tar} trials are targets: is it an Ndx?" if alone else ""
                raise invalid("key_file", f"hold {what} that have scores", "none", hint)
        return found


def n_processors() -> int:
    """Return how many processors are ours."""
    # Not everywhere a process can be confined to some processors.
    ours = getattr(os, "sched_getaffinity", None)
    return len(ours(0)) if ours else os.cpu_count() or 1


def n_threads() -> int:
    """Return how many threads pay: more than four wait for each other to read HDF5."""
    return min(4, n_processors())


def reads_ahead() -> bool:
    """Tell whether a processor is free to read a block while the one before is being used."""
    return n_threads() == 1 or n_threads() < n_processors()


def _n_bytes(pair: TrialBlocks) -> int:
    """Return the size of the scores of a pair of files, at least 1."""
    return max(1, pair.n_cells * pair.scores[0].item_size)


def _look(shared: tuple[Pairs, Callable[[int, ReadBlocks], Kept]], task: Task) -> FirstPass[Kept]:
    """Do the first pass over the blocks of a task."""
    (pairs, keep), (i, blocks) = shared, task
    counts, tar = [], []

    def read() -> ReadBlocks:
        for rows, block in zip(blocks, pairs[i].read(blocks, ahead=reads_ahead()), strict=True):
            counts.append(block.count())
            tar.append(block.scores_of(1))
            # Last, because `keep` may use the memory of the scores for something else.
            yield rows, block

    kept = keep(i, read())
    return FirstPass(task, sum(counts, TrialCounts()), np.concatenate(tar, axis=1), kept)


def check_unchanged(n_found: float, n_non: int) -> None:
    """Refuse another number of non-targets than there were in the first pass."""
    if n_found != n_non:
        raise FileFormatError(
            f"a pass over the files found {n_found:.0f} non-targets, the first {n_non}: "
            "a file has changed meanwhile"
        )


def missing_scores(passes: FilePasses, *, is_key: bool) -> TrialMismatchError:
    """Return the error for systems that lack scores of trials, with the counts of each."""
    (source,) = passes.pairs
    complaints = []
    for number, (file, frame) in enumerate(zip(source.scores, source.frames, strict=True), start=1):
        # Blocks tell only which trials have all scores, so each system is counted by itself.
        alone = attrs.evolve(source, scores=(file,), frames=(frame,))
        parts = attrs.evolve(passes, pairs=(alone,)).run(_count_trials, None, "missing scores")
        counts = sum(parts, TrialCounts())
        n_tar, n_non = counts.n_tar - counts.scored_tar, counts.n_non - counts.scored_non
        kinds = [(n_tar, counts.n_tar, "targets"), (n_non, counts.n_non, "non-targets")]
        if not is_key:
            kinds = [(n_tar + n_non, counts.n_tar + counts.n_non, "trials")]
        lacks = [f"{missing} of {total} {noun}" for missing, total, noun in kinds if missing]
        if lacks:
            complaints.append(f"system {number} lacks {' and '.join(lacks)}")
    return TrialMismatchError(
        f"Every system must have a score for each trial; {'; '.join(complaints)}. "
        "Fill them with set_missing_to_value, best after calibration, or take these "
        "trials out of the key."
    )


def _count_trials(shared: tuple[Pairs, None], task: Task) -> TrialCounts:
    """Count trials."""
    (pairs, _), (i, blocks) = shared, task
    return sum((block.count() for block in pairs[i].read(blocks)), TrialCounts())
