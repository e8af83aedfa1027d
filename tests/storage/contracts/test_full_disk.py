"""A disk that gets full while a file is written, and other interruptions."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bosaris_py.storage import rows
from bosaris_py.trials import Scores

ROOT = Path(__file__).resolve().parents[3]

# A limit of the size of files stands in for a full disk: the system gives the same kind
# of error at the same place, and needs no disk for it.
PROGRAM = """
import resource, signal, sys
import numpy as np
import bosaris_py as b

models, segments = [f"m{i}" for i in range(300)], [f"s{i}" for i in range(300)]
scores = b.Scores(np.zeros((300, 300)), models, segments)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), -1))
try:
    scores.save(sys.argv[1])
except OSError as error:
    print(error.filename, error.strerror)
"""

needs_posix = pytest.mark.skipif(os.name != "posix", reason="needs limits of the system")


def save_with_limit(path: Path, limit: int) -> str:
    """Save in a process of its own, which must stay alive; return what it prints."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(limit)],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert not run.stderr
    return run.stdout.strip()


# Nothing, the first header, half the scores, and all of them but not the ids.
@pytest.mark.slow
@needs_posix
@pytest.mark.parametrize("limit", [0, 1000, 100_000, 725_000])
def test_full_disk_is_an_error_and_leaves_the_old_file(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "full.h5"
    path.write_text("old")
    assert save_with_limit(path, limit) == f"{path} File too large"
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.slow
@needs_posix
def test_last_byte_that_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "full.h5"
    assert not save_with_limit(path, 10**7)
    size = path.stat().st_size
    assert save_with_limit(path, size - 1) == f"{path} File too large"
    assert not save_with_limit(path, size)
    assert path.stat().st_size == size
    assert list(tmp_path.iterdir()) == [path]


@needs_posix
def test_interruption_in_the_midst_of_writing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.h5"
    scores = Scores(np.ones((2, 3)), ["m1", "m2"], ["s1", "s2", "s3"])
    scores.save(path)
    before = path.read_bytes()

    def interrupt(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("bosaris_py.storage.hdf5.writing.put_strings", interrupt)
    with pytest.raises(KeyboardInterrupt):
        scores.save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@needs_posix
def test_interruption_ends_writing_at_the_next_part(tmp_path: Path) -> None:
    path, written = tmp_path / "a.h5", []
    ids = {"modelset": np.array([f"m{i}" for i in range(10**4)]), "segset": np.array(["s"])}

    def parts() -> Iterator[rows.ScoredRows]:
        for i in range(10**4):
            if i == 3:
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.001)
            written.append(i)
            yield slice(i, i + 1), np.ones((1, 1)), np.ones((1, 1), dtype=np.bool_)

    with pytest.raises(KeyboardInterrupt):
        rows.write_score_rows(path, parts(), **ids)
    assert 3 <= len(written) < 10**4
    assert not list(tmp_path.iterdir())


def test_interruption_while_the_writing_thread_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Interrupted(ThreadPoolExecutor):
        def submit(self, *args: Any, **named: Any) -> Any:
            super().submit(*args, **named)
            raise KeyboardInterrupt

    monkeypatch.setattr("bosaris_py.storage.hdf5.creation.ThreadPoolExecutor", Interrupted)
    written = []

    def parts() -> Iterator[rows.ScoredRows]:
        for i in range(10**3):
            time.sleep(0.001)
            written.append(i)
            yield slice(i, i + 1), np.ones((1, 1)), np.ones((1, 1), dtype=np.bool_)

    ids = {"modelset": np.array([f"m{i}" for i in range(10**3)]), "segset": np.array(["s"])}
    with pytest.raises(KeyboardInterrupt):
        rows.write_score_rows(tmp_path / "a.h5", parts(), **ids)
    assert len(written) < 10**3
    assert not list(tmp_path.iterdir())


def test_saving_when_no_thread_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor.submit", refuse)
    scores = Scores(np.ones((2, 3)), ["m1", "m2"], ["s1", "s2", "s3"])
    scores.save(tmp_path / "a.h5")
    assert Scores.read(tmp_path / "a.h5") == scores
