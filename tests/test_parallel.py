"""Tasks: the same results wherever they run, and an error instead of half of them."""

import threading
import time
from concurrent.futures import ProcessPoolExecutor

import pytest

from bosaris_py import _parallel
from bosaris_py._parallel import run_tasks, whole_number
from bosaris_py.errors import InvalidInputError


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", True, None, float("nan")])
def test_numbers_that_are_not_whole(bad: object) -> None:
    with pytest.raises(InvalidInputError, match="`rows` must be a whole number, at least 1"):
        whole_number(bad, 1, "rows")


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
    assert list(_parallel.progress_bar(range(3), shown=False)) == [0, 1, 2]
    assert capsys.readouterr().err == ""


def reciprocal(number: float) -> float:
    return 1 / number


@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_the_order_of_tasks(workers: int) -> None:
    assert list(run_tasks(reciprocal, [1, 2, 4, 8], workers=workers)) == [1.0, 0.5, 0.25, 0.125]
    assert list(run_tasks(reciprocal, [], workers=workers)) == []
    with pytest.raises(ZeroDivisionError):
        list(run_tasks(reciprocal, [1, 0, 2], workers=workers))


def test_an_executor_takes_the_place_of_threads(capsys: pytest.CaptureFixture[str]) -> None:
    with ProcessPoolExecutor(2) as executor:
        found = run_tasks(reciprocal, [2, 4], executor=executor, label="scores", progress=True)
        assert list(found) == [0.5, 0.25]
    assert "scores: 100%" in capsys.readouterr().err


def test_nothing_begins_after_a_failure() -> None:
    both, begun = threading.Barrier(2), []

    def meet(task: int) -> None:
        begun.append(task)
        if task < 2:
            both.wait(60)
            raise ValueError(task)
        time.sleep(0.01)

    with pytest.raises(ValueError, match="0"):
        list(run_tasks(meet, range(1000), workers=2))
    assert len(begun) < 1000
