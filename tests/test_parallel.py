"""Tasks: the same results wherever they run, and an error instead of half of them."""

import operator
import os
import threading
import time
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from bosaris_py import _parallel
from bosaris_py._parallel import Runner, whole_number, worker_processes
from bosaris_py.errors import InvalidInputError

WHERE = [{"workers": 1}, {"threads": 3}, {"workers": 2}]


@pytest.mark.parametrize("where", WHERE)
def test_results_come_in_the_order_of_tasks(where: dict[str, Any]) -> None:
    assert Runner("x", **where).map(operator.mul, 3, [1, 2, 5]) == [3, 6, 15]


@pytest.mark.parametrize("n_tasks", [1, 7, 8, 9, 70])
@pytest.mark.parametrize("where", [{}, {"threads": 2}])
def test_results_are_combined_in_the_order_of_tasks(n_tasks: int, where: dict[str, Any]) -> None:
    """Joining lists shows every exchange."""
    tasks = [[i] for i in range(n_tasks)]
    joined = Runner("x", **where).reduce(operator.mul, operator.add, 2, tasks)
    assert joined == [i for i in range(n_tasks) for _ in range(2)]


def test_combining_in_processes() -> None:
    assert Runner("x", workers=2).reduce(operator.mul, operator.add, 2, [1, 2, 3]) == 12


def test_processes_are_kept_for_several_calls() -> None:
    with worker_processes(2) as pool:
        assert Runner("x", workers=2, pool=pool).map(operator.mul, 3, [1, 2]) == [3, 6]
        found = Runner("x", workers=2, pool=pool).reduce(operator.mul, operator.add, [5], [1, 2])
        assert found == [5, 5, 5]
    with worker_processes(1) as pool:
        assert pool is None


def test_a_kept_process_that_is_killed_is_an_error() -> None:
    with (
        pytest.raises(BrokenProcessPool, match="A worker process of counting could not start"),
        worker_processes(2) as pool,
    ):
        Runner("counting", workers=2, pool=pool).map(operator.is_, Deadly(), [1, 2])


def test_no_tasks() -> None:
    assert Runner("x").map(operator.mul, 3, []) == []


class Deadly:
    """Ends the process that receives it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


def test_a_killed_process_is_an_error() -> None:
    with pytest.raises(BrokenProcessPool, match="A worker process of counting could not start"):
        Runner("counting", workers=2).map(operator.is_, Deadly(), [1, 2])


@pytest.mark.parametrize("where", WHERE)
def test_errors_of_tasks_come_through(where: dict[str, Any]) -> None:
    with pytest.raises(ZeroDivisionError):
        Runner("x", **where).map(operator.truediv, 1, [1, 0, 2])
    with pytest.raises(ZeroDivisionError):
        Runner("x", **where).reduce(operator.truediv, operator.add, 1, [1, 0, 2])


def test_threads_run_at_the_same_time_and_begin_nothing_after_a_failure() -> None:
    both, begun = threading.Barrier(2), []

    def meet(_: None, task: int) -> None:
        begun.append(task)
        if task < 2:
            both.wait(60)
            raise ValueError(task)
        time.sleep(0.01)

    with pytest.raises(ValueError, match="0"):
        Runner("x", threads=2).map(meet, None, range(1000))
    assert len(begun) < 1000


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", True, None, float("nan")])
def test_numbers_that_are_not_whole(bad: object) -> None:
    with pytest.raises(InvalidInputError, match="`rows` must be a whole number, at least 1"):
        whole_number(bad, 1, "rows")


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Runner("target scores", progress=True).map(operator.mul, 1, [1, 2])
    Runner("non", progress=True).reduce(operator.mul, operator.add, 1, [1, 2])
    shown = capsys.readouterr().err
    assert "target scores: 100%" in shown
    assert "non: 100%" in shown


@pytest.mark.parametrize(("seconds", "is_seen"), [(5.0, False), (0.0, True)])
def test_bars_wait_before_they_appear_and_vanish_at_their_end(
    capsys, monkeypatch, seconds, is_seen
):
    # As a user has it, but for the second that a test need not wait.
    monkeypatch.setattr(_parallel, "_BAR", {"delay": seconds, "leave": False})
    assert list(_parallel.progress_bar(range(3), shown=True, desc="rows")) == [0, 1, 2]
    shown = capsys.readouterr().err
    assert ("rows" in shown) == is_seen
    # The line is overwritten by blanks, and the next text begins where it began.
    assert not shown or (shown.endswith("\r") and shown.split("\r")[-2].strip() == "")


def test_no_bar_where_none_is_asked_for(capsys):
    assert list(_parallel.progress_bar(range(3), shown=False)) == [0, 1, 2]
    assert capsys.readouterr().err == ""
