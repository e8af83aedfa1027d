"""Run independent tasks one after the other, in threads, or on any executor, with a bar.

The tasks and the order of their results do not depend on where they run.
"""

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any, TypeVar

from bosaris_py._validation import describe, invalid

Task = TypeVar("Task")

Result = TypeVar("Result")

# A bar appears after a second; at its end it vanishes, and stays in no log, between no lines.
_BAR = {"delay": 1.0, "leave": False}


def progress_bar(items: object = None, *, shown: bool, **named: object) -> Any:
    """Return a bar of tqdm, around items if there are any."""
    if items is not None and not shown:
        return items
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


def whole_number(value: object, least: int, name: str, most: int = sys.maxsize) -> int:
    """Return `value` as an int; raise unless it is a whole number from `least` to `most`."""
    try:
        number: int = int(value)  # type: ignore[call-overload]
        good = number == value and not isinstance(value, bool) and least <= number <= most
    except (TypeError, ValueError, OverflowError):
        good = False
    if not good:
        limit = "" if most == sys.maxsize else f" and at most {most:,}"
        raise invalid(name, f"be a whole number, at least {least}{limit}", describe(value))
    return number


def run_tasks(
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    *,
    workers: int = 1,
    executor: Executor | None = None,
    label: str = "",
    progress: bool = False,
) -> Iterator[Result]:
    """Yield ``function(task)`` for all tasks, in their order.

    One worker is the caller's thread, several are threads. An executor, of processes or of other
    machines, takes their place: then the function stands at the top of a module.
    """
    show = functools.partial(progress_bar, shown=progress, total=len(tasks), desc=label)
    if executor is None and workers == 1:
        yield from show(map(function, tasks))
        return
    if not hasattr(executor, "submit") and executor is not None:
        raise invalid("executor", "be a concurrent.futures.Executor", describe(executor))
    pool = ThreadPoolExecutor(workers) if executor is None else executor
    futures = [pool.submit(function, task) for task in tasks]
    try:
        for future in show(futures):
            yield future.result()
    finally:
        # What is not begun need not be done when something failed.
        for future in futures:
            future.cancel()
        if executor is None:
            pool.shutdown()
