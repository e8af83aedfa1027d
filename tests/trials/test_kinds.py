"""Kinds of non-targets: what metadata say of trials and segments, and what a further kind takes."""

import subprocess
import sys

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.files.labels import NON_TARGET_KINDS
from bosaris_py.trials.kinds import (
    attack_groups,
    check_classes,
    class_numbers,
    have_one_speaker,
    nouns_of_third,
)


def trials_of(words: list[str], **columns: list[str]) -> tuple[bp.Key, bp.TrialMetadata]:
    """Return trials of one model with segments of their own, in the order of the words."""
    models, segments = ["m"] * len(words), [f"s{i}" for i in range(len(words))]
    key = bp.Key.from_trials(models, segments, np.array(words) == "target")
    given = {"kind": words, **columns}
    return key, bp.TrialMetadata.from_trials(models, segments, given, key)


def test_classes_are_numbered_in_the_order_of_the_table() -> None:
    key, metadata = trials_of(["spoof", "target", "nontarget", "spoof"])
    assert [kind.word for kind in NON_TARGET_KINDS] == ["nontarget", "spoof"]
    numbers = class_numbers(key, metadata)
    np.testing.assert_array_equal(numbers, [2, 0, 1, 2])
    np.testing.assert_array_equal(have_one_speaker(numbers), [True, False, False, True])
    assert nouns_of_third(metadata) == "2 spoofs"
    assert nouns_of_third(None) == ""


def test_the_key_says_what_is_a_target() -> None:
    key, _ = trials_of(["nontarget", "target"])
    # The words of the metadata are the other way round.
    _, metadata = trials_of(["target", "nontarget"])
    np.testing.assert_array_equal(class_numbers(key, metadata), [1, 0])
    _, metadata = trials_of(["nontarget", "spoof"])
    with pytest.raises(InvalidInputError, match=r"describe as spoofs only non-targets.*1 targets"):
        class_numbers(key, metadata)


def test_words_are_known() -> None:
    key, metadata = trials_of(["target", "replay"])
    with pytest.raises(InvalidInputError, match=r"hold nontarget, spoof, target.*'replay'"):
        class_numbers(key, metadata)


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
FURTHER = """
import attrs, numpy as np
from bosaris_py.files import labels
replay = attrs.evolve(labels.NON_TARGET_KINDS[1], word="replay", noun="replay", is_optional=True)
labels.NON_TARGET_KINDS += (replay,)
labels.THIRD_KINDS += (replay,)
labels.KINDS = ("nontarget", "replay", "spoof", "target")

import bosaris_py as bp
from bosaris_py.trials.sample import ListedSample

def sample(*words):
    words = np.repeat(words, 2)
    models, segments = ["m"] * words.size, [f"s{i}" for i in range(words.size)]
    key = bp.Key.from_trials(models, segments, words == "target")
    metadata = bp.TrialMetadata.from_trials(models, segments, {"kind": words}, key)
    scores = bp.Scores.from_trials(models, segments, np.arange(words.size) + 0.0)
    return ListedSample.of_kinds(scores, (key, metadata))

four = sample("nontarget", "spoof", "replay", "target")
assert four.kinds == ("nontarget", "spoof", "replay") and four.kind_shares == (1 / 3,) * 3
# One impostor, both spoofs and both replays are accepted at 1.
weighted = four.with_shares(0.5, 0.125, 0.375)
assert weighted.error_rates(np.array([1.0]))[1].tolist() == [0.5 * 0.5 + 0.125 + 0.375]
assert four.with_shares(0.0, 0.0, 1.0).kinds == ("replay",)
assert four.with_shares(0.0, 0.0, 1.0).non.scores.tolist() == [4.0, 5.0]
assert four.with_kinds_pooled().error_rates(np.array([1.0]))[1].tolist() == [5 / 6]
some = {word: np.arange(word != "replay") for word in ("target", *four.kinds)}
assert four.part(some).kinds == ("nontarget", "spoof")

three = sample("nontarget", "spoof", "target")
assert three.kinds == ("nontarget", "spoof") and three.kind_shares == (0.5, 0.5)
assert three.with_shares(0.5, 0.5, 0.0).error_rates(np.array([1.0]))[1].tolist() == [0.75]
try:
    three.with_shares(0.5, 0.25, 0.25)
except bp.errors.InvalidInputError as error:
    assert "have replays with scores" in str(error), error
else:
    raise AssertionError("a share of a kind without trials")
"""


def test_a_further_kind_is_a_row_of_the_table() -> None:
    found = subprocess.run([sys.executable, "-c", FURTHER], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
