"""Fixtures of the plot tests."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bosaris_py.evaluation import Results

Drawing = dict[str, Any]


@pytest.fixture(scope="session")
def drawings(oracle: Path) -> Drawing:
    """What the toolkit drew: windows, axes, lines, legends and warnings."""
    return json.loads((oracle / "plots.json").read_text())


@pytest.fixture(scope="session")
def gauss(oracle: Path) -> tuple[np.ndarray, np.ndarray]:
    """Target and non-target scores that the toolkit drew."""
    with np.load(oracle / "stats_gauss.npz") as file:
        return file["tar"], file["non"]


@pytest.fixture(scope="session")
def results(gauss: tuple[np.ndarray, np.ndarray]) -> Results:
    return Results(*gauss)
