"""Threads of this process: how many pay, and work on many scores that they share."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")

# More threads wait for each other: HDF5 reads for one at a time.
_MOST_THREADS = 4

# Each thread gets so many scores at least: fewer do not pay for its start and its own tables.
_FEWEST_SCORES = 2**21


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
    if n_scores < 2 * _FEWEST_SCORES:
        return 1
    # Other threads, and processes that a program started, share the processors already.
    if (
        threading.current_thread() is not threading.main_thread()
        or multiprocessing.parent_process()
    ):
        return 1
    # What limits the threads of numerical libraries limits these: joblib, for one, sets it.
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    most = max(1, int(limit)) if limit.isdecimal() else n_threads()
    return min(most, n_threads(), n_scores // _FEWEST_SCORES)


def in_threads(function: Callable[[slice], Result], n_scores: int, unit: int = 1) -> list[Result]:
    """Return what a function gives for each part of the scores, in order; many share the threads.

    All parts but the last are whole multiples of `unit`: a computation whose rounding depends on
    its blocks has the same ones with any number of threads.
    """
    n = n_threads_for(n_scores)
    if n == 1:
        return [function(slice(0, n_scores))] if n_scores else []
    step = -(-n_scores // (n * unit)) * unit
    parts = [slice(start, min(start + step, n_scores)) for start in range(0, n_scores, step)]
    with ThreadPoolExecutor(len(parts)) as pool:
        try:
            found = pool.map(function, parts)
        except RuntimeError:
            # No thread can be started: the system refuses, or the program ends.
            return [function(part) for part in parts]
        return list(found)
