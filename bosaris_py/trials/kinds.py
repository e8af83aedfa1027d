"""Kinds of non-targets: how a key tells zero-effort impostors from spoofs.

What a kind is, says `files.labels.NON_TARGET_KINDS`. The classes of a sample are
numbered: 0 are the targets, then come the kinds in the order of that table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import BoolArray
from bosaris_py._validation import invalid
from bosaris_py.files.columns import Factor
from bosaris_py.files.labels import NON_TARGET_KINDS
from bosaris_py.trials.key import Key

# The words of the classes in the column ``kind``, and what they are called in messages.
CLASS_WORDS = ("target", *(kind.word for kind in NON_TARGET_KINDS))
CLASS_NOUNS = ("targets", *(f"{kind.noun}s" for kind in NON_TARGET_KINDS))

# What protocols have in the place of an attack where there is none, or none is known.
_UNNAMED = ("-", "bonafide")


def class_numbers(key: Key) -> npt.NDArray[np.uint8]:
    """Return the number of the class of each trial, column by column; spoofs must be known."""
    if not key.n_spoof:
        hint = 'read_key(path) reads labels of three kinds; Key.from_trials takes "spoof".'
        raise invalid("key", "have spoofs", "none", hint)
    # Labels 1, -1, -2.
    return np.where(key.labels == 1, 0, -key.labels).astype(np.uint8)


def have_one_speaker(numbers: npt.NDArray[np.uint8]) -> BoolArray:
    """Tell which trials have the speaker of their model only, by the number of their class."""
    one = [False, *(not kind.has_two_speakers for kind in NON_TARGET_KINDS)]
    return np.array(one)[numbers]


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
