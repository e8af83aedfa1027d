"""What labels say: targets, non-targets and their kinds, in the words of files and of users."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeGuard

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, BoolArray, mark_read_only
from bosaris_py._validation import as_list, describe, invalid, list_some
from bosaris_py.files.columns import Factor

# Classes of trials; those of the last kind are left out. A spoof is synthetic, converted or
# replayed speech of the claimed speaker.
NONTARGET, TARGET, SPOOF, DROPPED = range(4)


@attrs.frozen
class NonTargetKind:
    """A kind of non-targets: its word in files, and its noun in messages."""

    word: str
    noun: str


# In the order that samples and costs have.
NON_TARGET_KINDS = (
    NonTargetKind("nontarget", "zero-effort impostor"),
    NonTargetKind("spoof", "spoof"),
)
# Those that an evaluation of two classes does not know.
THIRD_KINDS = NON_TARGET_KINDS[1:]

# The column of kinds of trials, and its words in the order of a factor's levels.
KIND = "kind"
KINDS = ("nontarget", "spoof", "target")


def are_kinds(column: object) -> TypeGuard[Factor]:
    """Tell whether a column says of each trial what kind it is."""
    return isinstance(column, Factor) and set(column.levels.tolist()) <= set(KINDS)


def factor_of_kinds(classes: npt.NDArray[np.uint8]) -> Factor:
    """Return the column of kinds of the class of each trial."""
    level = np.array([KINDS.index(word) for word in ("nontarget", "target", "spoof")], np.uint8)
    return Factor(mark_read_only(level[classes]), KINDS)


# The classes of words, in lower case.
Vocabulary = Mapping[str, int]


def vocabulary(words: str) -> Vocabulary:
    """Return the meaning of words for target, non-target and perhaps spoof: ``tgt|imp``."""
    return dict(zip(words.split("|"), (TARGET, NONTARGET, SPOOF), strict=False))


_SETS = (
    "target|nontarget|spoof tgt|imp 1|0 1|-1 bonafide|spoof human|spoof genuine|spoof true|false"
)
VOCABULARIES = tuple(map(vocabulary, _SETS.split()))

# Words of detectors of any field, without hyphens: one of each class make a pair.
_TARGETS = "target tar tgt genuine client mated same match bonafide true"
_OTHERS = (
    "nontarget non nontgt imp impostor imposter nonmated unmated different diff nonmatch mismatch "
    "false"
)
_WORDS = dict.fromkeys(_TARGETS.split(), TARGET) | dict.fromkeys(_OTHERS.split(), NONTARGET)


def as_labels(labels: object, name: str) -> BoolArray:
    """Return which trials are targets, of truth values, 0 and 1, -1 and 1, or words as in files."""
    if isinstance(labels, Mapping | set | frozenset):
        raise invalid(name, "be a list in the order of the scores", describe(labels))
    array: AnyArray = np.asarray(as_list(labels))
    if array.ndim != 1:
        raise invalid(name, "be one-dimensional", describe(array))
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in "iuf":
        is_target: BoolArray = array == 1
        if (array[~is_target] == 0).all() or (array[~is_target] == -1).all():
            return is_target
        if np.isnan(array).any():
            found, hint = f"NaN at position {np.argmax(np.isnan(array))}", ""
        else:
            low, high = array.min(), array.max()
            found = f"numbers from {low:g} to {high:g}"
            hint = "Labels come first, then scores."
            if ((array == low) | (array == high)).all():
                hint = f"Say which means a target: {name} == {high:g}."
        raise invalid(name, "be True and False, 0 and 1, or -1 and 1", found, hint)
    words = Factor.from_values(array if array.dtype.kind == "U" else array.tolist())
    lower = [str(word).lower() for word in words.levels]
    classes = next((each for each in VOCABULARIES if set(lower) <= set(each)), {})
    if not classes and len(lower) == 2:
        spelled = {word: re.sub("[-_ ]", "", word) for word in lower}
        pair = {word: _WORDS[plain] for word, plain in spelled.items() if plain in _WORDS}
        classes = pair if len(set(pair.values())) == 2 else {}
    if not {classes.get(word) for word in lower} <= {TARGET, NONTARGET}:
        known = ", ".join((*("|".join(each) for each in VOCABULARIES), "genuine|impostor"))
        some = list_some(map(repr, words.levels.tolist()))
        hint = f"Say which word means a target: {name} == WORD, where WORD is one of {some}."
        raise invalid(name, f"be words of one kind ({known})", list_some(words.levels), hint)
    # By level, of which there are two.
    return np.array([classes[word] == TARGET for word in lower])[words.codes]
