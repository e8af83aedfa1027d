"""A writer that is killed leaves the old file or the new one, and no half that looks like one."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tqdm import tqdm

import bosaris_py as bp
from bosaris_py.files.writing import write_table
from bosaris_py.storage import rows

MODELS, SEGMENTS = [f"m{i:03}" for i in range(60)], [f"s{i:03}" for i in range(200)]


def scores_of(seed: int) -> bp.Scores:
    return bp.Scores(np.random.default_rng(seed).standard_normal((60, 200)), MODELS, SEGMENTS)


def key_of(seed: int) -> bp.Key:
    tar = np.random.default_rng(seed).random((60, 200)) < 0.3
    return bp.Key(MODELS, SEGMENTS, tar, ~tar)


def in_parts(path: Path, scores: bp.Scores) -> None:
    blocks = [slice(start, start + 10) for start in range(0, 60, 10)]
    parts = [(block, scores.scoremat[block], scores.scoremask[block]) for block in blocks]
    rows.write_score_rows(path, parts, modelset=scores.modelset, segset=scores.segset)


def applied(path: Path, scores: bp.Scores) -> None:
    """Calibrate a file into another one; the input lies beside it."""
    source = path.parent.parent / f"{scores.scoremat[0, 0]}.h5"
    if not source.exists():
        scores.save(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bp.errors.ExtrapolationWarning)
        linear(0).apply_file(source, path)


def save(path: Path, each: Any) -> None:
    each.save(path)


def write_csv(path: Path, each: bp.Scores) -> None:
    write_table(path, bp.trials.to_table(scores=each), "csv")


def linear(seed: int) -> bp.LinearCalibration:
    rng = np.random.default_rng(seed)
    return bp.LinearCalibration.fit(rng.standard_normal(50) + 1, rng.standard_normal(50))


# Name of the file; how the old and the new content are made; how they are written.
WRITERS: dict[str, tuple[str, Callable[[int], Any], Callable[[Path, Any], None]]] = {
    "Scores": ("a.h5", scores_of, save),
    "Key": ("a.h5", key_of, save),
    "FlatScores": ("a.h5", lambda seed: scores_of(seed).to_flat(), save),
    "parts": ("a.h5", scores_of, in_parts),
    "apply_file": ("a.h5", scores_of, applied),
    "MATLAB": ("a.mat", scores_of, save),
    "text": ("a.txt", scores_of, save),
    "JSON": ("a.json", linear, save),
    "table": ("a.csv", scores_of, write_csv),
    "packed table": ("a.csv.gz", scores_of, write_csv),
}


def kill_while_writing(
    path: Path, contents: list[Any], write: Callable[..., None], wait: float
) -> None:
    """Let a child write both contents by turns, and kill it after a while."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            # All processes share the lock of tqdm: a child that is killed with it would stop them.
            tqdm.set_lock(threading.RLock())
            os.write(sending, b"!")
            while True:
                for content in contents:
                    write(path, content)
        finally:
            os._exit(1)
    os.read(receiving, 1)
    os.close(receiving)
    os.close(sending)
    time.sleep(wait)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL, "the child ended by itself"


@pytest.mark.parametrize(
    "count", [3, pytest.param(40, marks=pytest.mark.slow)], ids=["some", "many"]
)
@pytest.mark.parametrize("name", WRITERS)
def test_killed_writers(tmp_path: Path, name: str, count: int) -> None:
    file, make, write = WRITERS[name]
    folder = tmp_path / "folder"
    folder.mkdir()
    path, rng = folder / file, np.random.default_rng(count)
    contents = [make(seed) for seed in (1, 2)]
    whole, seconds = [], 0.0
    for content in contents:
        begin = time.perf_counter()
        write(path, content)
        seconds = time.perf_counter() - begin
        whole.append(path.read_bytes())
    suffixes = "".join(path.suffixes)
    litter = 0
    for _ in range(count):
        kill_while_writing(path, contents, write, float(rng.random()) * 3 * seconds)
        # To the byte one of the two: nothing is lost or torn.
        assert path.read_bytes() in whole
        others = {each for each in folder.iterdir() if each != path}
        litter += len(others)
        for each in others:
            assert each.name.startswith(f".{file}.")
            assert each.suffix == ".bosaris_py"
            each.unlink()
        assert list(folder.glob(f"*{suffixes}")) == [path]
    # Most kills come in the midst of writing: the test tests something.
    assert count < 10 or litter > 0
