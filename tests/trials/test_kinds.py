"""Kinds of non-targets: what a key says of them."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.files.labels import NON_TARGET_KINDS
from bosaris_py.trials.kinds import attack_groups, check_classes, class_numbers, have_one_speaker


def test_classes_are_numbered_in_the_order_of_the_table() -> None:
    names = [f"s{i}" for i in range(4)]
    key = bp.Key.from_trials(["m"] * 4, names, ["spoof", "target", "nontarget", "spoof"])
    assert [kind.word for kind in NON_TARGET_KINDS] == ["nontarget", "spoof"]
    numbers = class_numbers(key)
    np.testing.assert_array_equal(numbers, [2, 0, 1, 2])
    np.testing.assert_array_equal(have_one_speaker(numbers), [True, False, False, True])
    with pytest.raises(InvalidInputError, match="have spoofs"):
        class_numbers(key.bona_fide())


@pytest.mark.parametrize(
    ("counts", "text"),
    [((0, 1, 1), "have targets"), ((1, 0, 1), "zero-effort impostors"), ((1, 1, 0), "spoofs")],
)
def test_each_class_has_trials(counts: tuple[int, ...], text: str) -> None:
    check_classes((1, 1, 1))
    with pytest.raises(InvalidInputError, match=f"{text} with scores in set 2"):
        check_classes(counts, where=" in set 2")


def test_attacks_are_numbered_from_minus_two() -> None:
    attacks = bp.Factor([1, 0, 1], ["A07", "A08", "-"])
    np.testing.assert_array_equal(attack_groups(attacks, "attack"), [-3, -2, -3])
    with pytest.raises(InvalidInputError, match="'attack' lacks; got '-' for 2 spoofs"):
        attack_groups(bp.Factor([2, 0, 2], ["A07", "A08", "-"]), "attack")


# A row more in the table, before anything has read it. Kinds: 2 trials of each word; scores 0 to 7.
