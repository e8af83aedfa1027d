"""How many threads share the scores of a call, and that no number depends on it."""

import functools
import math
import multiprocessing
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.numerics import counts, threads
from bosaris_py.numerics.llr_cost import sum_in_bits, sums_of_nats
from bosaris_py.numerics.threads import in_threads, n_threads, n_threads_for

MANY = 10**9


def of_processors(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(n), raising=False)


@pytest.fixture(params=[1, 2, 3, 4])
def small_parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let so many threads share a few thousand scores."""
    of_processors(request.param, monkeypatch)
    monkeypatch.setattr(threads, "_FEWEST_SCORES", 2**12)
    return int(request.param)


def test_a_thread_for_each_processor_that_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for ours, expected in ((1, 1), (3, 3), (64, 4)):
        of_processors(ours, monkeypatch)
        assert n_threads() == expected
        assert n_threads_for(MANY) == expected
        assert n_threads_for(10**6) == 1
        for limit, limited in (("2", min(2, expected)), (" 1,4", 1), ("0", 1), ("all", expected)):
            monkeypatch.setenv("OMP_NUM_THREADS", limit)
            assert n_threads_for(MANY) == limited
        monkeypatch.delenv("OMP_NUM_THREADS")
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert n_threads() == 1


@pytest.mark.slow
def test_threads_and_processes_of_the_caller_share_the_processors_already(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_processors(4, monkeypatch)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(n_threads_for, MANY).result() == 1
    with multiprocessing.get_context("spawn").Pool(1) as processes:
        assert processes.apply(n_threads_for, (MANY,)) == 1


def test_parts_are_whole_blocks_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    of_processors(3, monkeypatch)
    scores = np.arange(3 * 2**21 + 5, dtype=np.float64)
    parts = in_threads(lambda part: scores[part], scores.size, 2**17)
    assert [part.size % 2**17 for part in parts] == [0, 0, parts[2].size % 2**17]
    assert np.array_equal(np.concatenate(parts), scores)


def test_what_a_part_raises_passes_and_no_thread_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    of_processors(2, monkeypatch)
    scores = np.zeros(2**22)
    scores[-1] = np.nan
    with pytest.raises(ValueError, match=r"non must hold no NaN.*4194303|NaN"):
        bp.ROC.from_scores([0.0], scores)
    with pytest.raises(ValueError, match="NaN"):
        bp.cllr([0.0], scores)
    assert threading.active_count() == 1 or not [
        thread for thread in threading.enumerate() if "PoolExecutor" in thread.name
    ]


def test_one_thread_does_it_where_no_other_can_be_started(
    small_parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def refuse(*_: object) -> None:
        started.append(1)
        raise RuntimeError

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refuse)
    scores = np.arange(20_000.0)
    at, between = counts.count_between([0.0, 5000.0, 9999.5], scores)
    assert (at.tolist(), between.tolist()) == ([1, 1, 0], [0, 4999, 4999, 10_000])
    assert len(started) == (small_parts > 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_thresholds", [1, 5, 300, 9000, 70_000])
def test_counts_are_those_of_a_search(
    small_parts: int, dtype: type, n_thresholds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(n_thresholds)
    # Halves of whole numbers, so that scores are tied with thresholds.
    scores = (np.rint(rng.normal(0, 1e5, 2**16 + 3)) / 2).astype(dtype)
    thresholds = np.unique(np.rint(rng.normal(0, 1e5, n_thresholds)) / 2)
    monkeypatch.setattr(counts, "_SCORES_PER_THREAD", 0)
    assert n_threads_for(scores.size) == small_parts
    at, between = counts.count_between(thresholds, scores)
    ordered = np.sort(scores.astype(np.float64))
    below, up_to = (np.searchsorted(ordered, thresholds, side=side) for side in ("left", "right"))
    assert np.array_equal(at, up_to - below)
    assert np.array_equal(between, np.append(below, scores.size) - np.append(0, up_to))


# Sizes around whole blocks of 2^17, of which some leave a part of a few scores.
@pytest.mark.parametrize("size", [2**17, 2**18 + 3, 3 * 2**17 - 1, 4 * 2**17 + 2047])
@pytest.mark.parametrize("scale", [0.01, 3.0, 300.0])
def test_cllr_has_the_same_bits(
    small_parts: int, size: int, scale: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = np.random.default_rng(size).normal(0.0, scale, size)
    # Large scores make sums of products overflow in the first block only.
    scores[:100] *= 50.0
    compute = functools.partial(sums_of_nats, scores, sign=1.0)
    found = compute()
    of_processors(1, monkeypatch)
    assert found == compute()
    assert sum_in_bits(found) == pytest.approx(
        np.logaddexp2(0.0, scores / math.log(2)).sum(), 1e-12
    )
