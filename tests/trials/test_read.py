"""What users give for a key and for systems."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.trials import read
from tests.forms import as_list

KEY = bp.Key(["ma", "mb"], ["sa", "sb"], np.eye(2, dtype=bool), ~np.eye(2, dtype=bool))
SCORES = bp.Scores(np.zeros((2, 2)), *KEY.ids)


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (SCORES, ["system"]),
        ({"a": SCORES, "b": "c.h5"}, ["a", "b"]),
        ("x/c.h5", ["c"]),
        (Path("c.txt.gz"), ["c"]),
        ([SCORES, "c.h5", Path("d/c.h5"), "e.txt"], ["system 1", "c", "system 3", "e"]),
        ((as_list(SCORES),), ["system 1"]),
    ],
)
def test_names_of_systems(given: Any, names: list[str]) -> None:
    assert list(read.named_systems(given)) == names


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (KEY, "Did you swap `systems` and `key`"),
        (3, "`systems` must map names to Scores or files; got 3.$"),
        ([], "hold at least one system"),
        ({}, "hold at least one system"),
        ({"": SCORES}, "be named by text"),
        ({1: SCORES}, "be named by text"),
        ({"a": KEY}, r"`systems\['a'\]` must be a Scores or a file"),
    ],
)
def test_what_is_no_system(given: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read.named_systems(given)
