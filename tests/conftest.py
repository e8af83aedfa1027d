"""Fixtures shared by all tests."""

from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20111209)


@pytest.fixture(scope="session")
def oracle() -> Path:
    """Folder with the outputs of the MATLAB toolkit; its README explains the keys."""
    return ROOT / "tests" / "reference" / "oracle"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with real score sets that may not be distributed."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real score sets are not distributed; none found at ../shared/data")
    return folder
