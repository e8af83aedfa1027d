"""Results from files on a Dask cluster, also when it loses workers."""

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bosaris_py import Key, Results, Scores, _execution
from bosaris_py.errors import FileFormatError
from bosaris_py.evaluation import streaming
from bosaris_py.trials import passes

pytestmark = [pytest.mark.network, pytest.mark.slow]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A score matrix of twenty million trials, and a key."""
    folder = tmp_path_factory.mktemp("cluster")
    rng = np.random.default_rng(1)
    shape = (4000, 5000)
    models, segments = ([f"{x}{i}" for i in range(n)] for x, n in zip("ms", shape, strict=True))
    is_tar = rng.random(shape, dtype=np.float32) < 1e-3
    values = rng.normal(size=shape).astype(np.float32) + 4 * is_tar - 2
    Scores(values.astype(np.float32), models, segments).save(folder / "scores.h5")
    Key(models, segments, is_tar, ~is_tar).save(folder / "key.h5")
    return folder / "scores.h5", folder / "key.h5"


def counts(results: Results) -> list[list[float]]:
    roc = results.roc
    arrays = (roc.target_scores, roc.tar_at, roc.non_at, roc.non_between)
    return [array.tolist() for array in arrays] + [[results.cllr]]


@pytest.fixture(scope="module")
def expected(files: tuple[Path, Path]) -> list[list[float]]:
    """What one process says."""
    return counts(Results.from_files(*files, block_rows=20))


@pytest.fixture
def client() -> Iterator[Any]:
    """Two worker processes on this machine, each with a nanny that starts another one."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def process_ids(client: Any) -> list[int]:
    return sorted(client.run(os.getpid).values())


def die_in_third(task_name: str) -> None:
    """Run on a worker: its process will be killed while it works on its third task."""
    module = {"_look": passes, "_count": streaming}[task_name]
    work = getattr(module, task_name)
    calls = []

    def deadly(shared: Any, task: Any) -> Any:
        calls.append(task)
        if len(calls) == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(shared, task)

    # A task names the function, and the worker finds this one.
    setattr(module, task_name, deadly)


def test_a_cluster_changes_nothing(
    client: Any, files: tuple[Path, Path], expected: list[list[float]]
) -> None:
    assert counts(Results.from_files(*files, block_rows=20, client=client)) == expected


@pytest.mark.parametrize("task_name", ["_look", "_count"])
def test_a_killed_worker_changes_nothing(
    client: Any, files: tuple[Path, Path], expected: list[list[float]], task_name: str
) -> None:
    """In either pass; what it had found already is lost with it, and found again."""
    before = client.run(os.getpid)
    victim = next(iter(before))
    client.run(die_in_third, task_name, workers=[victim])
    assert counts(Results.from_files(*files, block_rows=20, client=client)) == expected
    assert before[victim] not in process_ids(client)


def test_a_cluster_without_workers_is_given_up(
    files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_execution, "_SECONDS_WITHOUT_WORKERS", 0.5)
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        closing = threading.Timer(0.3, cluster.scale, [0])
        closing.start()
        with pytest.raises(RuntimeError, match=r"had no worker for 0\.5 seconds .* no result"):
            Results.from_files(*files, block_rows=1, client=client)
        closing.join()


def test_errors_of_files_come_through(
    client: Any, files: tuple[Path, Path], tmp_path: Path
) -> None:
    """A file that the workers do not find is an error that names it, not a wrong result."""
    damaged = tmp_path / "scores.h5"
    whole = files[0].read_bytes()
    damaged.write_bytes(whole)
    with pytest.raises(FileFormatError, match=r"scores.h5: (changed|deleted) .* being read"):
        _from_deleted(damaged, files[1], client)


def _from_deleted(scores: Path, key: Path, client: Any) -> None:
    """Judge a file that is gone as soon as it has been looked at."""
    submit = client.submit
    try:

        def disturbed(*args: Any, **options: Any) -> Any:
            scores.unlink(missing_ok=True)
            return submit(*args, **options)

        client.submit = disturbed
        Results.from_files(scores, key, client=client)
    finally:
        client.submit = submit
