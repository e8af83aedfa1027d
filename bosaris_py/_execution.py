"""Run independent tasks: in threads of this process, in worker processes, or on a cluster.

The tasks and the order in which their results are put together do not depend on
where they run, so neither do the results.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import multiprocessing
import multiprocessing.connection
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeVar

import attrs

from bosaris_py._validation import describe, invalid

if TYPE_CHECKING:
    # Dask is an extra, which only those need who have a client of it.
    from distributed import Client, Future

Shared = TypeVar("Shared")

Task = TypeVar("Task")

Result = TypeVar("Result")

# What all tasks of a cluster share travels in pieces of this size: the scheduler keeps
# them, so that no worker's end can lose them, and warns of single larger ones.
_PIECE_BYTES = 2**22

# Results of a cluster are combined in a tree whose nodes have so many branches.
_BRANCHES = 8

_SECONDS_BETWEEN_LOOKS = 0.02

# The package itself imports nothing before it is used.
_MODULE_OF_TASKS = "bosaris_py.evaluation.streaming"

# How long a cluster may be without any worker: one that restarts takes seconds.
_SECONDS_WITHOUT_WORKERS = 60.0


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

    # Tasks run in this process unless there are `workers` processes. A `pool` from
    # `worker_processes` is for several calls with little to share. A `client` of dask.distributed
    # runs them on its cluster; `workers` must be 1 then. In this process there can be `threads`,
    # for tasks that spend their time in numpy. `label` names the work for the bar and for messages.

    label: str
    workers: int = 1
    client: Client | None = None
    pool: ProcessPoolExecutor | None = None
    progress: bool = False
    threads: int = 1

    def map(
        self, function: Callable[[Shared, Task], Result], shared: Shared, tasks: Sequence[Task]
    ) -> list[Result]:
        """Return ``function(shared, task)`` for all tasks, in their order."""
        # The function is defined at the top of a module, so that workers find it. What is shared is
        # sent to each process once, which then has a copy of it. Processes are started afresh, not
        # forked, which is safe whatever threads there are. A script must therefore protect its main
        # part by `if __name__ == "__main__":`, as always with Python's multiprocessing. Raises
        # RuntimeError if worker processes cannot start or are killed (`BrokenProcessPool`), or a
        # cluster has lost all its workers.
        if check_client(self.client, self.workers) and tasks:
            with _OnCluster(self.client, self.label, progress=self.progress) as cluster:
                leaves = cluster.submit(function, shared, tasks)
                return cluster.results(leaves, leaves)
        with self._local_results(function, shared, tasks) as results:
            return list(results)

    def reduce(
        self,
        function: Callable[[Shared, Task], Result],
        combine: Callable[[Result, Result], Result],
        shared: Shared,
        tasks: Sequence[Task],
    ) -> Result:
        """Return the results of ``function(shared, task)`` for all tasks, combined into one."""
        # Only one result is kept here, not one for each task; on a cluster the workers combine them
        # in a tree, and one result travels. There is at least one task. `combine` takes the results
        # of two runs of tasks, the earlier first, and returns that of both as a new object. It must
        # be associative, exactly, for the same outcome wherever tasks run: whole numbers added,
        # lists joined.
        if check_client(self.client, self.workers):
            with _OnCluster(self.client, self.label, progress=self.progress) as cluster:
                leaves = cluster.submit(function, shared, tasks)
                combined: Result = cluster.results([cluster.combine(combine, leaves)], leaves)[0]
                return combined
        with self._local_results(function, shared, tasks) as results:
            return functools.reduce(combine, results)

    @contextlib.contextmanager
    def _local_results(
        self, function: Callable[[Shared, Task], Result], shared: Shared, tasks: Sequence[Task]
    ) -> Iterator[Iterable[Result]]:
        """Give the results in the order of the tasks, computed here or in worker processes."""
        bar = functools.partial(
            progress_bar, total=len(tasks), desc=self.label, shown=self.progress
        )
        workers = min(self.workers, len(tasks))
        if workers <= 1 and min(self.threads, len(tasks)) <= 1:
            yield bar(map(function, repeat(shared), tasks))
            return
        with contextlib.ExitStack() as stack:
            if workers <= 1:
                stop = threading.Event()
                begin = functools.partial(setattr, _this_thread, "stop", stop)
                threads = ThreadPoolExecutor(self.threads, initializer=begin)
                stack.enter_context(threads)
                # What is not begun need not be done if something goes wrong, such as Ctrl-C while
                # threads begin; what is begun ends at its next block.
                stack.callback(threads.shutdown, cancel_futures=True)
                stack.callback(stop.set)
                # Warnings of threads are those of the call.
                here = contextvars.copy_context()
                found = threads.map(lambda task: here.copy().run(function, shared, task), tasks)
                yield bar(found)
                return
            # To a kept pool what is shared is sent with each message, not with each task.
            call: tuple[Callable[..., Result], object] = (function, shared)
            pool = self.pool
            if pool is None:
                call = (_work, function)
                pool = stack.enter_context(_start_pool(workers, shared))
            # A few tasks a message keep the traffic small and the bar moving.
            chunk = max(1, len(tasks) // (16 * workers))
            try:
                with _sendable():
                    results = pool.map(call[0], repeat(call[1]), tasks, chunksize=chunk)
                yield bar(results)
            except BrokenProcessPool as error:
                raise BrokenProcessPool(
                    f"A worker process of {self.label} could not start, or was killed. Put the "
                    'program into a file (not "python -" or a pipe) with its main part under '
                    'if __name__ == "__main__":, see that each process has memory enough for a '
                    "copy of the scores, or use workers=1."
                ) from error
            except BaseException:
                # What is not begun need not be done.
                pool.shutdown(wait=False, cancel_futures=True)
                raise


# Its `stop` is set when the tasks of a thread are not waited for any more.
_this_thread = threading.local()


def until_stopped(items: Iterable[Task]) -> Iterator[Task]:
    """Yield what a task works on; raise if its result is not waited for any more."""
    stop: threading.Event | None = getattr(_this_thread, "stop", None)
    for item in items:
        if stop is not None and stop.is_set():
            raise CancelledError
        yield item


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
    has_server = "forkserver" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if has_server else "spawn")
    if has_server:
        # The server imports what tasks need once; processes that it makes later have it at once.
        context.set_forkserver_preload(["__main__", _MODULE_OF_TASKS])
    return ProcessPoolExecutor(
        workers, mp_context=context, initializer=_start_worker, initargs=shared
    )


@contextlib.contextmanager
def _sendable() -> Iterator[None]:
    """Say what cannot be sent to another process."""
    try:
        yield
    except OSError as error:  # a process ended while the next was being started
        raise BrokenProcessPool(str(error)) from error
    except RuntimeError:  # no process could be started, or one has ended already
        raise
    except Exception as error:
        hint = "Define the function at the top of a module, or use workers=1."
        expected = "be of a kind that can be sent to another process if workers are several"
        raise invalid("statistic", expected, str(error), hint) from error


# What the tasks of this process share; set once, when it starts.
_in_worker: list[Any] = []


def _start_worker(*shared: object) -> None:
    _in_worker.extend(shared)
    program = multiprocessing.parent_process()
    if program is not None:
        threading.Thread(target=_end_with, args=(program.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    """End this process when the program ends: killed outright, it cannot end its workers."""
    multiprocessing.connection.wait([sentinel])
    os._exit(1)


def _work(function: Callable[[Shared, Task], Result], task: Task) -> Result:
    return function(_in_worker[-1], task)


def check_client(client: Client | None, workers: int) -> bool:
    """Tell whether tasks shall run on a cluster; refuse what is no client of one."""
    if client is None:
        return False
    if not all(hasattr(client, name) for name in ("submit", "gather", "cancel", "nthreads")):
        raise invalid("client", "be a dask.distributed.Client", describe(client))
    if getattr(client, "asynchronous", False):
        expected = "be a client that waits for its results"
        raise invalid("client", expected, "one made with asynchronous=True")
    if getattr(client, "status", "running") not in ("running", "connecting"):
        hint = "Results of files are counted again for thresholds that were not asked for before."
        got = f"one that is {client.status}"
        raise invalid("client", "be connected to its scheduler", got, hint)
    if workers != 1:
        hint = "The cluster has workers of its own."
        raise invalid("workers", "be 1 if there is a client", describe(workers), hint)
    return True


def n_at_once(workers: int, client: Client | None) -> int:
    """Return how many tasks run at the same time, at least 1."""
    if client is None:
        return workers
    check_client(client, workers)
    with _scheduler_in_reach("files"):
        return max(1, sum(int(count) for count in client.nthreads().values()))


def _lost(what: str, label: str) -> RuntimeError:
    return RuntimeError(
        f"The cluster {what} while it worked on {label}; there is no result. Look into "
        "the workers' logs (memory, and whether they see the files), and run it again."
    )


@contextlib.contextmanager
def _scheduler_in_reach(label: str) -> Iterator[None]:
    """Say so if a request finds no scheduler, which Dask reports as one of many OSErrors."""
    try:
        yield
    except OSError as error:
        raise _lost(f"cannot be reached ({error})", label) from error


class _OnCluster:
    """The tasks of one call on a Dask cluster; all are cancelled when it fails."""

    def __init__(self, client: Client, label: str, *, progress: bool) -> None:
        self.client, self.label, self.progress = client, label, progress
        self.futures: list[Future] = []

    def __enter__(self) -> "_OnCluster":
        """Return itself."""
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        """Cancel what was submitted if something went wrong."""
        if kind is not None:
            # The scheduler may be what is gone.
            with contextlib.suppress(Exception):
                self.client.cancel(self.futures)

    def submit(
        self, function: Callable[[Shared, Task], Result], shared: Shared, tasks: Sequence[Task]
    ) -> list[Future]:
        """Submit ``function(shared, task)`` for all tasks; return the futures."""
        # Its messages are its own; no file is involved.
        from distributed.protocol.serialize import serialize_bytes

        # A worker gets what is shared from another that has it. If all those are lost, it is
        # made again like any result: the pieces stay with the scheduler.
        data = serialize_bytes(shared)
        starts = range(0, len(data), _PIECE_BYTES)
        pieces = [self._add(_same, data[start : start + _PIECE_BYTES]) for start in starts]
        shared_there = self._add(_join, *pieces)
        return [self._add(function, shared_there, task) for task in tasks]

    def combine(self, combine: Callable[[Result, Result], Result], leaves: list[Future]) -> Future:
        """Submit a tree that combines all leaves; return the future of its root."""
        nodes = leaves
        while len(nodes) > 1:
            starts = range(0, len(nodes), _BRANCHES)
            groups = [nodes[start : start + _BRANCHES] for start in starts]
            nodes = [self._add(_combine_all, combine, *group) for group in groups]
        return nodes[0]

    def _add(self, function: Callable[..., object], *args: object) -> Future:
        with _scheduler_in_reach(self.label):
            future = self.client.submit(function, *args, pure=False)
        self.futures.append(future)
        return future

    def results(self, wanted: list[Future], leaves: list[Future]) -> list[Any]:
        """Wait for the wanted futures, raise what failed, and return their results."""
        # A future that is held keeps its result in some worker's memory.
        self.futures = list(wanted)
        waiting = list(leaves)
        seen = time.monotonic()
        with progress_bar(total=len(leaves), desc=self.label, shown=self.progress) as bar:
            while not all(future.done() for future in wanted):
                time.sleep(_SECONDS_BETWEEN_LOOKS)
                still = [future for future in waiting if not future.done()]
                bar.update(len(waiting) - len(still))
                waiting = still
                now = time.monotonic()
                with _scheduler_in_reach(self.label):
                    if self.client.scheduler_info().get("workers"):
                        seen = now
                if now - seen > _SECONDS_WITHOUT_WORKERS:
                    what = f"had no worker for {_SECONDS_WITHOUT_WORKERS:g} seconds"
                    raise _lost(what, self.label)
            bar.update(len(waiting))
        for future in wanted:
            if future.status != "finished":
                self._raise_failure(future)
        with _scheduler_in_reach(self.label):
            return list(self.client.gather(wanted))

    def _raise_failure(self, future: Future) -> None:
        """Raise the error of a task, or say that the cluster lost it."""
        try:
            future.result()
        except Exception as error:
            # Dask's own: a task whose workers die each time, a lost scheduler.
            if type(error).__module__.partition(".")[0] in ("distributed", "asyncio"):
                raise _lost(f"lost its workers or its scheduler ({error})", self.label) from error
            raise


def _same(piece: bytes) -> bytes:
    return piece


def _join(*pieces: bytes) -> Any:
    """Return on a worker what all tasks share."""
    from distributed.protocol.serialize import deserialize_bytes

    return deserialize_bytes(b"".join(pieces))


def _combine_all(combine: Callable[[Result, Result], Result], *results: Result) -> Result:
    return functools.reduce(combine, results)
