"""Run independent tasks in threads of this process or in worker processes.

The tasks and the order in which their results are put together do not depend on
where they run, so neither do the results.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import multiprocessing
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import repeat
from typing import Any, TypeVar

import attrs

from bosaris_py._validation import describe, invalid

Shared = TypeVar("Shared")

Task = TypeVar("Task")

Result = TypeVar("Result")

# A bar appears after a second; at its end it vanishes, and stays in no log, between no lines.
_BAR = {"delay": 1.0, "leave": False}


def progress_bar(items: object = None, *, shown: bool, **named: object) -> Any:
    """Return a bar of tqdm, around items if there are any."""
    # It takes longer to import than this module, and few ask for a bar.
    from tqdm import tqdm

    return tqdm(items, disable=not shown, **_BAR, **named)


def clear_bars() -> None:
    """Take bars that are shown off the line, so that a message has it; their next step is below."""
    loaded = sys.modules.get("tqdm")
    for bar in list(getattr(loaded.tqdm, "_instances", ())) if loaded else ():
        # A bar that waits for its second is not on the line: to clear it would show it.
        if bar.last_print_t >= bar.start_t + bar.delay:
            bar.clear()


def whole_number(value: Any, least: int, name: str, most: int = sys.maxsize) -> int:
    """Return `value` as an int; raise unless it is a whole number from `least` to `most`."""
    try:
        number = int(value)
        good = number == value and not isinstance(value, bool) and least <= number <= most
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        limit = "" if most == sys.maxsize else f" and at most {most:,}"
        raise invalid(name, f"be a whole number, at least {least}{limit}", describe(value))
    return number


@attrs.frozen
class Runner:
    """Where tasks run, one step of a progress bar for each."""

    # Tasks run in this process, in `threads` where they spend their time in numpy, unless there are
    # several `workers`, which are processes. A `pool` from `worker_processes` is for several calls
    # with little to share. `label` names the work for the bar and for messages.

    label: str
    workers: int = 1
    pool: ProcessPoolExecutor | None = None
    progress: bool = False
    threads: int = 1

    def map(
        self, function: Callable[[Shared, Task], Result], shared: Shared, tasks: Sequence[Task]
    ) -> list[Result]:
        """Return ``function(shared, task)`` for all tasks, in their order."""
        # The function is defined at the top of a module, so that workers find it.
        with self._results(function, shared, tasks) as results:
            return list(results)

    def reduce(
        self,
        function: Callable[[Shared, Task], Result],
        combine: Callable[[Result, Result], Result],
        shared: Shared,
        tasks: Sequence[Task],
    ) -> Result:
        """Return the results of ``function(shared, task)`` for all tasks, combined into one."""
        # Only one result is kept, not one for each task, of which there is at least one.
        with self._results(function, shared, tasks) as results:
            return functools.reduce(combine, results)

    @contextlib.contextmanager
    def _results(
        self, function: Callable[[Shared, Task], Result], shared: Shared, tasks: Sequence[Task]
    ) -> Iterator[Iterable[Result]]:
        """Give the results in the order of the tasks."""
        workers, threads = min(self.workers, len(tasks)), min(self.threads, len(tasks))
        with contextlib.ExitStack() as stack:
            pool: Executor | None = None
            if workers > 1:
                pool = self.pool or stack.enter_context(_start_pool(workers, shared))
                call = (_work, function) if self.pool is None else (function, shared)
                # A few tasks a message keep the traffic small and the bar moving.
                chunk = max(1, len(tasks) // (16 * workers))
                found = pool.map(call[0], repeat(call[1]), tasks, chunksize=chunk)
            elif threads > 1:
                pool = stack.enter_context(ThreadPoolExecutor(threads))
                # Warnings of threads are those of the call.
                here = contextvars.copy_context()
                found = pool.map(lambda task: here.copy().run(function, shared, task), tasks)
            else:
                found = map(function, repeat(shared), tasks)
            try:
                yield progress_bar(found, total=len(tasks), desc=self.label, shown=self.progress)
            except BrokenProcessPool as error:
                raise BrokenProcessPool(
                    f"A worker process of {self.label} could not start, or was killed. Put the "
                    'program into a file (not "python -" or a pipe) with its main part under '
                    'if __name__ == "__main__":, see that each process has memory enough for a '
                    "copy of the scores, or use workers=1."
                ) from error
            except BaseException:
                # What is not begun need not be done.
                if pool is not None:
                    pool.shutdown(wait=False, cancel_futures=True)
                raise


@contextlib.contextmanager
def worker_processes(workers: int) -> Iterator[ProcessPoolExecutor | None]:
    """Keep so many worker processes for several calls, as each takes a second to start."""
    # What is yielded is the `pool` of a `Runner`: None for one worker.
    if workers <= 1:
        yield None
        return
    with _start_pool(workers) as pool:
        yield pool


def _start_pool(workers: int, *shared: object) -> ProcessPoolExecutor:
    """Make worker processes, which get what they share when they start."""
    # Started afresh, not forked, which is safe whatever threads there are.
    afresh = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, afresh, initializer=_keep, initargs=shared)


# What the tasks of this process share; set once, when it starts.
_in_worker: list[Any] = []


def _keep(*shared: object) -> None:
    _in_worker.extend(shared)


def _work(function: Callable[[Shared, Task], Result], task: Task) -> Result:
    return function(_in_worker[-1], task)
