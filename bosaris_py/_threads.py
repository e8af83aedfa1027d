"""Threads of this process: how many pay, and work on many scores that they share."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from bosaris_py._arrays import FloatArray

Result = TypeVar("Result")

# More threads wait for each other: HDF5 reads for one at a time.
_MOST_THREADS = 4

# Each thread gets so many scores at least: to start one takes the time of some 10^5.
_FEWEST_SCORES = 2**20

# Parts end where blocks of a computation end, so that these do not depend on the number of threads.
_UNIT = 2**17


def n_processors() -> int:
    """Return how many processors are ours."""
    # Not everywhere a process can be confined to some processors.
    ours = getattr(os, "sched_getaffinity", None)
    return len(ours(0)) if ours else os.cpu_count() or 1


def n_threads() -> int:
    """Return how many threads pay: one for each processor that is ours, but not many."""
    return min(_MOST_THREADS, n_processors())


def n_threads_for(n_scores: int) -> int:
    """Return how many threads share a computation on scores in memory."""
    # Other threads, and processes that a program started, share the processors already.
    is_alone = threading.current_thread() is threading.main_thread()
    if n_scores < 2 * _FEWEST_SCORES or not is_alone or multiprocessing.parent_process():
        return 1
    return min(n_threads(), n_scores // _FEWEST_SCORES)


def in_threads(function: Callable[[FloatArray], Result], scores: FloatArray) -> list[Result]:
    """Return what a function gives for each part of the scores; many are shared by threads."""
    n = n_threads_for(scores.size)
    if n == 1:
        return [function(scores)]
    step = -(-scores.size // (n * _UNIT)) * _UNIT
    parts = [scores[start : start + step] for start in range(0, scores.size, step)]
    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(function, parts))
