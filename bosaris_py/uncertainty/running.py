"""Drawing replicates in blocks: progress, worker processes, and repeatable randomness.

Every block of replicates draws from its own child of the random generator, and
the size of a block depends on the statistic alone. So the replicates are the
same for any number of workers, and for any order in which blocks finish.
"""

import multiprocessing
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from bosaris_py._validation import describe, invalid
from bosaris_py.uncertainty.randomness import Rng, as_generator
from bosaris_py.uncertainty.samplers import Sampler

__all__ = ["Rng", "as_generator", "draw_replicates", "map_tasks", "whole_number"]

Float64Array = npt.NDArray[np.float64]

Task = TypeVar("Task")
Result = TypeVar("Result")


def whole_number(value: Any, least: int, name: str, owner: str) -> int:
    """Return `value` as an int; raise unless it is a whole number and at least `least`."""
    try:
        number = int(value)
        good = number == value and not isinstance(value, bool) and number >= least
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        raise invalid(name, owner, f"be a whole number, at least {least}", describe(value))
    return number


def draw_replicates(
    sampler: Sampler,
    replications: int,
    rng: np.random.Generator,
    *,
    workers: int = 1,
    progress: bool = False,
) -> Float64Array:
    """Draw replicates of a statistic, block by block.

    Parameters
    ----------
    sampler : Sampler
        Draws the replicates.
    replications : int
        How many.
    rng : Generator
        Each block draws from a child of it.
    workers : int, default: 1
        Number of processes.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    (replications, ...) ndarray of float64
    """
    blocks = list(_blocks(sampler.block, replications, rng))
    drawn = map_tasks(
        _draw_block, sampler, blocks, workers=workers, progress=progress, label="bootstrap"
    )
    return np.concatenate(drawn)


def _blocks(
    size: int, replications: int, rng: np.random.Generator
) -> Iterator[tuple[int, np.random.Generator]]:
    """Yield the size of each block with the generator it draws from."""
    n_full, rest = divmod(replications, size)
    sizes = [size] * n_full + [rest] * bool(rest)
    yield from zip(sizes, rng.spawn(len(sizes)), strict=True)


def _draw_block(sampler: Sampler, block: tuple[int, np.random.Generator]) -> Float64Array:
    return sampler.draw(*block)


def map_tasks(
    function: Callable[[Any, Task], Result],
    shared: Any,
    tasks: Sequence[Task],
    *,
    workers: int,
    progress: bool,
    label: str,
) -> list[Result]:
    """Return ``function(shared, task)`` for all tasks, in their order.

    Parameters
    ----------
    function : callable
        Defined at the top of a module, so that workers find it.
    shared : object
        What all tasks need; sent to each process once.
    tasks : sequence
        One argument for each call.
    workers : int
        Number of processes; 1 stays in this one.
    progress : bool
        Show a progress bar, one step for each task.
    label : str
        What the bar says.

    Returns
    -------
    list

    Notes
    -----
    Processes are started afresh, not forked, which is safe whatever threads
    there are. A script must therefore protect its main part by
    ``if __name__ == "__main__":``, as always with Python's multiprocessing. Each
    has a copy of `shared` in its memory.
    """
    workers = min(workers, len(tasks))
    if workers <= 1:
        results: Iterable[Result] = map(function, repeat(shared), tasks)
        return list(_with_progress(results, len(tasks), label, progress=progress))
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    with ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start_worker, initargs=(shared,)
    ) as pool:
        # A few tasks a message keep the traffic small and the bar moving.
        chunk = max(1, len(tasks) // (16 * workers))
        try:
            results = pool.map(_work, repeat(function), tasks, chunksize=chunk)
        except (OSError, RuntimeError):  # no process could be started
            raise
        except Exception as error:
            hint = "Define the function at the top of a module, or use workers=1."
            expected = "be of a kind that can be sent to another process if workers are several"
            raise invalid("statistic", "bootstrap", expected, str(error), hint) from error
        try:
            return list(_with_progress(results, len(tasks), label, progress=progress))
        except BrokenProcessPool as error:
            message = (
                f"A worker process of {label} could not start, or was killed. Put the program into "
                'a file (not "python -" or a pipe) with its main part under '
                'if __name__ == "__main__":, see that each process has memory enough for a copy '
                "of the scores, or use workers=1."
            )
            raise BrokenProcessPool(message) from error


def _with_progress(
    results: Iterable[Result], total: int, label: str, *, progress: bool
) -> Iterable[Result]:
    bar: Iterable[Result] = tqdm(results, total=total, desc=label, disable=not progress)
    return bar


# What the tasks of this process share; set once, when it starts.
_in_worker: list[Any] = []


def _start_worker(shared: Any) -> None:
    _in_worker.append(shared)


def _work(function: Callable[[Any, Task], Result], task: Task) -> Result:
    return function(_in_worker[-1], task)
