"""Labels of users: truth values, numbers and words."""

from typing import Any

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.files.labels import KINDS, as_labels, factor_of_kinds


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([True, False], [True, False]),
        ([1, 0], [True, False]),
        ([1, -1], [True, False]),
        ([0.0, 1.0], [False, True]),
        ([1, 1], [True, True]),
        (["target", "nontarget"], [True, False]),
        (["Same", "different"], [True, False]),
        (["bonafide", "spoof", "spoof"], [True, False, False]),
        (["non-mated", "mated"], [False, True]),
    ],
)
def test_labels(labels: list[Any], expected: list[bool]) -> None:
    assert as_labels(labels, "labels").tolist() == expected


@pytest.mark.parametrize(
    "labels",
    [
        [[True], [False]],
        [1, 0, -1],
        [0, 2],
        [1.0, np.nan],
        [1, 0.5],
        ["yes", "no"],
        ["target", "nontarget", "spoof"],
        {"a": 1},
    ],
)
def test_labels_that_are_none(labels: Any) -> None:
    with pytest.raises(InvalidInputError):
        as_labels(labels, "labels")


def test_the_column_of_kinds_has_the_words_of_the_classes() -> None:
    factor = factor_of_kinds(np.array([2, 1, 0], np.uint8))
    assert factor.values().tolist() == ["spoof", "target", "nontarget"]
    assert factor.levels.tolist() == list(KINDS) == sorted(KINDS)
