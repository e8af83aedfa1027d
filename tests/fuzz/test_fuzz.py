"""The targets of the fuzzer take inputs, and find what is not documented."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from bosaris_py.errors import FileFormatError
from tests.fuzz import fuzz


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_targets(tmp_path: Path, name: str) -> None:
    target, rng = fuzz.Target(name, tmp_path), random.Random(8)
    for seed in target.seeds[:3]:
        target(seed)
    assert target.read > 0
    for _ in range(10):
        target(fuzz.mutate(rng.choice(target.seeds), target.seeds, rng))
    assert target.count == min(3, len(target.seeds)) + 10


def test_an_undocumented_error_passes_through(tmp_path: Path) -> None:
    def fail(error: Exception) -> None:
        raise error

    target = fuzz.Target("json", tmp_path)
    target.readers = [lambda _: fail(FileFormatError("documented"))]
    target(b"x")
    target.readers = [lambda _: fail(ValueError("raw"))]
    with pytest.raises(ValueError, match="raw"):
        target(b"x")
