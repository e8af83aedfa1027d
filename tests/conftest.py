"""Fixtures shared by all tests."""

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

# Times vary too much between machines to fail a test; `make test-all` looks at more examples.
settings.register_profile("quick", max_examples=30, deadline=None)
settings.register_profile("thorough", max_examples=100, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


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
