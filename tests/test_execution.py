"""Tasks: the same results wherever they run, and an error instead of half of them."""

import operator
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from bosaris_py import _execution
from bosaris_py._execution import Runner, n_at_once, until_stopped, whole_number, worker_processes
from bosaris_py.errors import InvalidInputError


class Future:
    """What a Dask future shows of itself."""

    def __init__(self, call: Callable[[], Any] | None) -> None:
        self.status = "pending"
        if call is not None:
            try:
                self.value, self.status = call(), "finished"
            except Exception as error:
                self.value, self.status = error, "error"

    def done(self) -> bool:
        return self.status != "pending"

    def result(self) -> Any:
        if self.status == "error":
            raise self.value
        return self.value


class Client:
    """A cluster inside this process: one worker, or none at all."""

    def __init__(self, *, n_workers: int = 1) -> None:
        self.workers = dict.fromkeys(range(n_workers))
        self.submitted = 0
        self.cancelled: list[Future] = []

    def submit(self, function: Callable[..., Any], *args: Any, pure: bool) -> Future:
        assert not pure, "two calls with the same arguments are two tasks"
        self.submitted += 1
        known = [arg.result() if isinstance(arg, Future) and arg.done() else arg for arg in args]
        return Future((lambda: function(*known)) if self.workers else None)

    def gather(self, futures: list[Future]) -> list[Any]:
        return [future.result() for future in futures]

    def cancel(self, futures: list[Future]) -> None:
        self.cancelled = list(futures)

    def nthreads(self) -> dict[int, int]:
        return dict.fromkeys(self.workers, 2)

    def scheduler_info(self) -> dict[str, Any]:
        return {"workers": self.workers}


WHERE = [{"workers": 1}, {"threads": 3}, {"workers": 2}, {"client": Client()}]


@pytest.mark.parametrize("where", WHERE)
def test_results_come_in_the_order_of_tasks(where: dict[str, Any]) -> None:
    assert Runner("x", **where).map(operator.mul, 3, [1, 2, 5]) == [3, 6, 15]


@pytest.mark.parametrize("n_tasks", [1, 7, 8, 9, 70])
@pytest.mark.parametrize("where", [{}, {"threads": 2}, {"client": Client()}])
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


@pytest.mark.slow
def test_processes_are_made_with_what_tasks_need_and_no_more() -> None:
    code = f"import sys, {_execution._MODULE_OF_TASKS}; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    # It takes longer to import than all of the package.
    assert "scipy.stats" not in loaded.stdout.split()


def test_a_kept_process_that_is_killed_is_an_error() -> None:
    with (
        pytest.raises(BrokenProcessPool, match="A worker process of counting could not start"),
        worker_processes(2) as pool,
    ):
        Runner("counting", workers=2, pool=pool).map(operator.is_, Deadly(), [1, 2])


def test_no_tasks() -> None:
    assert Runner("x").map(operator.mul, 3, []) == []
    assert Runner("x", client=Client()).map(operator.mul, 3, []) == []


def test_what_is_shared_travels_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler can then keep it, and no worker's end loses it."""
    monkeypatch.setattr(_execution, "_PIECE_BYTES", 10)
    client = Client()
    assert Runner("x", client=client).map(operator.add, b"a" * 100, [b"b"]) == [b"a" * 100 + b"b"]
    assert client.submitted > 10


class Deadly:
    """Ends the process that receives it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


def test_a_killed_process_is_an_error() -> None:
    with pytest.raises(BrokenProcessPool, match="A worker process of counting could not start"):
        Runner("counting", workers=2).map(operator.is_, Deadly(), [1, 2])


class Broken:
    """A pool whose worker ends while the next one is being started."""

    def map(self, *args: Any, **kwargs: Any) -> Any:
        raise OSError("handle is closed")


def test_a_process_that_ends_while_others_start_is_the_same_error() -> None:
    with pytest.raises(BrokenProcessPool, match="A worker process of counting could not start"):
        Runner("counting", workers=2, pool=Broken()).map(operator.is_, None, [1, 2])  # type: ignore[arg-type]


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


@pytest.mark.skipif(os.name != "posix", reason="there threads get no signals")
@pytest.mark.parametrize("fault", [KeyboardInterrupt, ValueError])
def test_tasks_that_have_begun_end_at_their_next_block(fault: type[BaseException]) -> None:
    """Ctrl-C reaches the thread that waits; an error of a task, the one that looks at it."""
    begun, seen = threading.Barrier(3), []

    def count(_: None, task: int) -> None:
        if task < 2:
            begun.wait(60)
        if task == 0 and fault is ValueError:
            raise fault
        for _block in until_stopped(range(10**4)):
            seen.append(task)
            time.sleep(0.001)

    def interrupt() -> None:
        begun.wait(60)
        # A signal that comes just before a thread begins to wait does not wake it.
        time.sleep(0.5)
        if fault is KeyboardInterrupt:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    helper = threading.Thread(target=interrupt)
    helper.start()
    with pytest.raises(fault):
        Runner("x", threads=2).map(count, None, range(100))
    helper.join()
    assert len(seen) < 10**4
    assert not [thread for thread in threading.enumerate() if "PoolExecutor" in thread.name]


def test_tasks_end_if_ctrl_c_comes_while_threads_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted(ThreadPoolExecutor):
        def map(self, *args: Any, **named: Any) -> Any:
            super().map(*args, **named)
            raise KeyboardInterrupt

    monkeypatch.setattr(_execution, "ThreadPoolExecutor", Interrupted)
    seen = []

    def count(_: None, task: int) -> None:
        for _block in until_stopped(range(10**3)):
            seen.append(task)
            time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        Runner("x", threads=2).map(count, None, range(2))
    assert len(seen) < 10**3


def test_a_failure_cancels_the_other_tasks() -> None:
    client = Client()
    with pytest.raises(ZeroDivisionError):
        Runner("x", client=client).map(operator.truediv, 1, [1, 0])
    assert client.cancelled


def test_a_cluster_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_execution, "_SECONDS_WITHOUT_WORKERS", 0.05)
    client = Client(n_workers=0)
    with pytest.raises(RuntimeError, match=r"had no worker for 0\.05 seconds .* no result"):
        Runner("x", client=client).reduce(operator.mul, operator.add, 1, [1, 2])
    assert client.cancelled


def test_what_cannot_be_sent_is_named() -> None:
    with pytest.raises(InvalidInputError, match="be of a kind that can be sent"):
        Runner("x", workers=2).map(operator.mul, lambda: None, [1, 2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"client": "tcp://host:8786"}, "must be a dask.distributed.Client; got 'tcp"),
        ({"client": Client(), "workers": 2}, "must be 1 if there is a client; got 2"),
    ],
)
def test_bad_clients(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Runner("x", **options).map(operator.mul, 1, [1])


class LostClient(Client):
    """A client whose scheduler does not answer any more."""

    def nthreads(self) -> dict[int, int]:
        raise OSError("Timed out trying to connect")

    def submit(self, function: Callable[..., Any], *args: Any, pure: bool) -> Future:
        raise OSError("Timed out trying to connect")


def test_a_scheduler_out_of_reach_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"cannot be reached .*while it worked on squares"):
        Runner("squares", client=LostClient()).map(operator.mul, 3, [1, 2])
    with pytest.raises(RuntimeError, match=r"cannot be reached"):
        n_at_once(1, LostClient())


def test_a_closed_client_is_refused() -> None:
    client = Client()
    client.status = "closed"
    with pytest.raises(InvalidInputError, match=r"`client` .*be connected to its scheduler; got"):
        n_at_once(1, client)


_SLEEPERS = """
import time
from bosaris_py._execution import Runner

def sleep(shared, task):
    import os
    print(os.getpid(), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    Runner("sleep", workers=2).map(sleep, None, [1, 2])
"""


@pytest.mark.slow
def test_processes_end_with_the_program(tmp_path: Path) -> None:
    script = tmp_path / "sleepers.py"
    script.write_text(_SLEEPERS)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline().strip().isdigit()
        program.kill()
        # The pipe ends when the last process that holds it does; what sleeps would keep it.
        program.communicate(timeout=60)


def test_how_many_tasks_run_at_once() -> None:
    assert [n_at_once(3, None), n_at_once(1, Client(n_workers=4))] == [3, 8]
    assert n_at_once(1, Client(n_workers=0)) == 1


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", True, None, float("nan")])
def test_numbers_that_are_not_whole(bad: object) -> None:
    with pytest.raises(InvalidInputError, match="`rows` must be a whole number, at least 1"):
        whole_number(bad, 1, "rows")


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    Runner("target scores", progress=True).map(operator.mul, 1, [1, 2])
    Runner("non", client=Client(), progress=True).reduce(operator.mul, operator.add, 1, [1, 2])
    shown = capsys.readouterr().err
    assert "target scores: 100%" in shown
    assert "non: 100%" in shown


@pytest.mark.parametrize(("seconds", "is_seen"), [(5.0, False), (0.0, True)])
def test_bars_wait_before_they_appear_and_vanish_at_their_end(
    capsys, monkeypatch, seconds, is_seen
):
    # As a user has it, but for the second that a test need not wait.
    monkeypatch.setattr(_execution, "_BAR", {"delay": seconds, "leave": False})
    assert list(_execution.progress_bar(range(3), shown=True, desc="rows")) == [0, 1, 2]
    shown = capsys.readouterr().err
    assert ("rows" in shown) == is_seen
    # The line is overwritten by blanks, and the next text begins where it began.
    assert not shown or (shown.endswith("\r") and shown.split("\r")[-2].strip() == "")


def test_no_bar_where_none_is_asked_for(capsys):
    assert list(_execution.progress_bar(range(3), shown=False)) == [0, 1, 2]
    assert capsys.readouterr().err == ""
