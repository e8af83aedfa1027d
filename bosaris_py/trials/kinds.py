"""Kinds of non-targets: how the metadata of a key tell zero-effort impostors from spoofs.

What a kind is, says `files.labels.NON_TARGET_KINDS`. The classes of a sample are
numbered: 0 are the targets, then come the kinds in the order of that table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import BoolArray
from bosaris_py._validation import invalid, list_some
from bosaris_py.files.columns import Factor
from bosaris_py.files.labels import KIND, KINDS, NON_TARGET_KINDS, THIRD_KINDS
from bosaris_py.trials.key import Key
from bosaris_py.trials.metadata import TrialMetadata

# The words of the classes in the column ``kind``, and what they are called in messages.
CLASS_WORDS = ("target", *(kind.word for kind in NON_TARGET_KINDS))
CLASS_NOUNS = ("targets", *(f"{kind.noun}s" for kind in NON_TARGET_KINDS))

# What protocols have in the place of an attack where there is none, or none is known.
_UNNAMED = ("-", "bonafide")

# The words of kinds that are neither targets nor zero-effort impostors.
_THIRD_WORDS = tuple(kind.word for kind in THIRD_KINDS)


def class_numbers(key: Key, metadata: TrialMetadata | None) -> npt.NDArray[np.uint8]:
    """Return the number of the class of each trial, column by column, by the column ``kind``."""
    if metadata is None or KIND not in metadata.names:
        got = "no metadata" if metadata is None else list_some(metadata.names) or "no column"
        hint = 'read_key(path, spoof="keep") gives the pair.'
        raise invalid("key", f"be a pair (key, metadata) with a column {KIND!r}", got, hint)
    kinds = metadata.for_trials(key).factor(KIND)
    levels = kinds.levels.tolist()
    if strange := sorted(set(levels) - set(KINDS)):
        expected = f"hold {', '.join(KINDS)} in the column {KIND!r}"
        raise invalid("metadata", expected, list_some(map(repr, strange)))
    of_word = {kind.word: number for number, kind in enumerate(NON_TARGET_KINDS, 1)}
    # A non-target of the key that is called a target has no other kind than the first.
    numbers = np.array([of_word.get(level, 1) for level in levels], dtype=np.uint8)[kinds.codes]
    is_tar = key.is_target
    check_targets(int(np.count_nonzero(is_tar & (numbers > 1))))
    numbers[is_tar] = 0
    return numbers


def have_one_speaker(numbers: npt.NDArray[np.uint8]) -> BoolArray:
    """Tell which trials have the speaker of their model only, by the number of their class."""
    one = [False, *(not kind.has_two_speakers for kind in NON_TARGET_KINDS)]
    return np.array(one)[numbers]


def check_targets(n_clashes: int) -> None:
    """Raise if metadata call targets spoofs."""
    if n_clashes:
        nouns = " or ".join(CLASS_NOUNS[2:])
        expected = f"describe as {nouns} only non-targets of the key"
        raise invalid("metadata", expected, f"{n_clashes} targets")


def check_classes(counts: Sequence[int], argument: str = "key", where: str = "") -> None:
    """Raise if a class has no trials that must have some; `counts` has one number for each."""
    optional = (False, *(kind.is_optional for kind in NON_TARGET_KINDS))
    for count, noun, may_lack in zip(counts, CLASS_NOUNS, optional, strict=True):
        if not (count or may_lack):
            raise invalid(argument, f"have {noun} with scores{where}", "none")


def attack_groups(attacks: Factor, column: str) -> npt.NDArray[np.int64]:
    """Return a number for the attack of each spoof, in place of a second person: -2, -3, ..."""
    for code, level in enumerate(attacks.levels.tolist()):
        if level in _UNNAMED and (count := int(np.count_nonzero(attacks.codes == code))):
            hint = "Give unknown attacks names of their own; those of one name are drawn together."
            expected = f"name a column with the attack of each spoof, which {column!r} lacks"
            raise invalid("layer", expected, f"{level!r} for {count} spoofs", hint)
    return -2 - np.asarray(attacks.codes, dtype=np.int64)


def nouns_of_third(metadata: TrialMetadata | None) -> str:
    """Say how many spoofs metadata know, in the column ``kind``; empty if there are none."""
    if metadata is None or KIND not in metadata.names:
        return ""
    kinds = metadata.factor(KIND)
    sizes = np.bincount(kinds.codes, minlength=kinds.levels.size).tolist()
    of_word = dict(zip(kinds.levels.tolist(), sizes, strict=True))
    counts = [(of_word.get(kind.word, 0), kind.noun) for kind in THIRD_KINDS]
    return " and ".join(f"{count} {noun}s" for count, noun in counts if count)


def factor_is_third(kinds: Factor) -> BoolArray:
    """Tell which trials of a column ``kind`` are neither targets nor zero-effort impostors."""
    third = np.flatnonzero(np.isin(kinds.levels, _THIRD_WORDS))
    is_third: BoolArray = np.isin(kinds.codes, third)
    return is_third
