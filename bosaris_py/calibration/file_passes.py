"""Passes over a key and the score files beside it: what is done in each, and who does it."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeAlias, TypeVar

import attrs

from bosaris_py._execution import map_tasks
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials.file_blocks import TrialBlocks, TrialCounts

__all__ = ["FilePasses", "Task", "files_of_systems", "lacking", "one_file"]

Result = TypeVar("Result")
Task: TypeAlias = list[slice]

# Blocks in a task, and limits for the number of tasks. Neither depends on who does them,
# and so the sums do not either.
_TASK_BLOCKS = 16
_FEWEST_TASKS = 16
_MOST_TASKS = 256


def one_file(path: Any, name: str, owner: str) -> FilePath:
    """Return the name of a file; refuse what is none, such as a list of names."""
    if not isinstance(path, str | os.PathLike):
        raise invalid(name, owner, "be the name of a file", describe(path))
    return path


def files_of_systems(paths: Any, owner: str) -> list[FilePath]:
    """Return the names of score files; refuse what is no list of at least one."""
    if isinstance(paths, str | os.PathLike) or not isinstance(paths, Iterable):
        hint = "Put the files of all systems into a list."
        raise invalid("score_files", owner, "be a list of files", describe(paths), hint)
    return [one_file(path, "score_files", owner) for path in paths]


@attrs.frozen(eq=False)
class FilePasses:
    """How passes over a key and the score files beside it run.

    Parameters
    ----------
    source : TrialBlocks
        The files.
    block_rows : int or None
        Rows in a block.
    workers : int
        Number of processes.
    client : dask.distributed.Client or None
        A cluster instead.
    progress : bool
        Show progress bars.
    pool : ProcessPoolExecutor or None
        The processes, where they are kept from pass to pass.
    """

    source: TrialBlocks
    block_rows: int | None = None
    workers: int = 1
    client: Any = None
    progress: bool = False
    pool: ProcessPoolExecutor | None = None

    def tasks(self) -> list[Task]:
        """Cut the files into tasks, the same each time and for everybody."""
        blocks = self.source.cut(self.block_rows)
        wanted = min(max(len(blocks) // _TASK_BLOCKS, _FEWEST_TASKS), _MOST_TASKS)
        step = max(1, -(-len(blocks) // wanted))
        return [blocks[start : start + step] for start in range(0, len(blocks), step)]

    def run(
        self, function: Callable[[Any, Task], Result], settings: Any, label: str
    ) -> list[Result]:
        """Return ``function((source, settings), task)`` for all tasks, in their order."""
        return map_tasks(
            function,
            (self.source, settings),
            self.tasks(),
            workers=self.workers,
            client=self.client,
            pool=self.pool,
            progress=self.progress,
            label=label,
        )


def lacking(passes: FilePasses, *, is_key: bool) -> TrialMismatchError:
    """Return the error for systems that lack scores of trials, with the counts of each.

    Parameters
    ----------
    passes : FilePasses
        How to pass over the files, in which something is missing.
    is_key : bool
        Count targets and non-targets, and not just trials.
    """
    source = passes.source
    complaints = []
    for number, (file, frame) in enumerate(zip(source.scores, source.frames, strict=True), start=1):
        alone = attrs.evolve(passes, source=attrs.evolve(source, scores=(file,), frames=(frame,)))
        counts = sum(alone.run(_count, None, "missing scores"), TrialCounts())
        kinds = [
            (counts.n_tar, counts.scored_tar, "targets"),
            (counts.n_non, counts.scored_non, "non-targets"),
        ]
        if not is_key:
            kinds = [(counts.n_tar + counts.n_non, counts.scored_tar + counts.scored_non, "trials")]
        numbers = [
            f"{total - found} of {total} {noun}" for total, found, noun in kinds if found < total
        ]
        if numbers:
            complaints.append(f"system {number} lacks {' and '.join(numbers)}")
    message = (
        f"Every system must have a score for each trial; {'; '.join(complaints)}. "
        "Fill them with set_missing_to_value, best after calibration, or take these "
        "trials out of the key."
    )
    return TrialMismatchError(message)


def _count(shared: tuple[TrialBlocks, None], task: Task) -> TrialCounts:
    """Count trials."""
    return sum((block.count() for block in shared[0].read(task)), TrialCounts())
