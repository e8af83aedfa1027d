"""Training on files on a Dask cluster, also when it loses a worker."""

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bosaris_py import Key, LinearCalibration, Scores
from bosaris_py.calibration import file_objective

pytestmark = [pytest.mark.network, pytest.mark.slow]


def die_in_second() -> None:
    """Run on a worker: its process will be killed while it works on its second sum."""
    work = file_objective._sum
    calls = []

    def deadly(shared: Any, task: Any) -> Any:
        calls.append(task)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        return work(shared, task)

    # A task names the function, and the worker finds this one.
    file_objective._sum = deadly


def test_a_lost_worker_changes_nothing(tmp_path: Path) -> None:
    """Six million trials, more than are kept in memory; to the last bit."""
    rng = np.random.default_rng(1)
    shape = (2000, 3000)
    models, segments = ([f"{x}{i}" for i in range(n)] for x, n in zip("ms", shape, strict=True))
    is_tar = rng.random(shape, dtype=np.float32) < 1e-3
    values = rng.standard_normal(shape, dtype=np.float32) + np.float32(2) * is_tar
    paths = tmp_path / "scores.h5", tmp_path / "key.h5"
    Scores(values, models, segments).save(paths[0])
    Key(models, segments, is_tar, ~is_tar).save(paths[1])
    expected = LinearCalibration.fit_files(*paths, block_rows=20)
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        before = client.run(os.getpid)
        client.run(die_in_second, workers=[min(before)])
        assert LinearCalibration.fit_files(*paths, block_rows=20, client=client) == expected
        client.wait_for_workers(2)
        assert set(client.run(os.getpid).values()) != set(before.values())
