"""Fixtures of the tests of the toolkit's names."""

from pathlib import Path

import numpy as np
import pytest

import bosaris_py.matlab as b


@pytest.fixture(scope="session")
def quality_record(oracle: Path) -> dict[str, np.ndarray]:
    """Return the toolkit's fusions with quality measures, 12 models x 25 segments."""
    with np.load(oracle / "fusion_quality.npz") as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="session")
def names() -> tuple[list[str], list[str]]:
    """Names for its models and segments, which are not recorded."""
    return [f"m{i:02d}" for i in range(12)], [f"s{j:02d}" for j in range(25)]


@pytest.fixture(scope="session")
def part_of(quality_record, names):
    """Return key and scores of "dev" or "eval"."""

    def part(which: str) -> tuple[b.Key, list[b.Scores]]:
        key = b.Key(*names, quality_record[f"{which}_tar"] > 0, quality_record[f"{which}_non"] > 0)
        systems = [b.Scores(quality_record[f"{which}_{name}"], *names) for name in ("s1", "s2")]
        return key, systems

    return part


@pytest.fixture
def dev(part_of):
    return part_of("dev")


@pytest.fixture
def evaluation(part_of):
    return part_of("eval")
