"""Columns of categories, and positions of trials in lists of ids.

A trial is one whole number, its code, made of the positions of its model and segment in the lists
of ids. Codes ascend in column-major order, so all work is sorting and comparing whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

import attrs
import numpy as np
from numpy.typing import DTypeLike

from bosaris_py import _arrays as arrays, _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray, StrArray


class Codes(dict[Any, int]):
    """A number for each text, in the order in which they turn up."""

    def __missing__(self, text: Any) -> int:
        """Give a new text the next number."""
        self[text] = code = len(self)
        return code


@attrs.frozen(init=False, eq=False, repr=False)
class Factor:
    """A column of categories, such as the gender or the microphone of each trial.

    Parameters
    ----------
    codes : (k,) array_like of int
        The category of each item, as a position in `levels`.
    levels : (n,) array_like of str
        The categories, each once; some may occur nowhere.

    Notes
    -----
    Codes are kept in the shortest unsigned type that holds them: one byte per
    item for up to 256 levels. Two factors are equal if they have the same
    values, whatever the order of their levels.

    Examples
    --------
    >>> gender = Factor.from_values(["m", "f", "f", "m"])
    >>> gender
    Factor: 4 values of 2 levels (f, m)
    >>> gender.codes
    array([1, 0, 0, 1], dtype=uint8)
    >>> gender.take([0, 3]).values().tolist()
    ['m', 'm']
    """

    codes: IntArray
    levels: StrArray

    def __init__(self, codes: ArrayLike, levels: ArrayLike | Sequence[str]) -> None:
        names = check.as_ids(levels, "levels")
        check.check_unique(names, "levels")
        dtype = np.min_scalar_type(max(0, names.size - 1))
        hint = "Factor.from_values makes codes of texts."
        self.__attrs_init__(as_positions(codes, "levels", names.size, "codes", dtype, hint), names)

    @classmethod
    def from_values(cls, values: ArrayLike | Sequence[object]) -> "Factor":
        """Make a factor of one value per item.

        Parameters
        ----------
        values : (k,) array_like of str, int or bool
            The category of each item. Whole numbers and truth values become their text, such as
            ``"3"`` and ``"True"``.

        Returns
        -------
        Factor
            With the distinct values as levels, in ascending order.
        """
        array: AnyArray = np.asarray(check.as_list(values))
        if not (array.dtype.kind in "bui" and array.ndim == 1):
            array = check.as_ids(values, "values")
        numbers = Codes()
        codes = np.fromiter(map(numbers.__getitem__, array.tolist()), np.int32, array.size)
        levels, rank = np.unique(np.array(list(map(str, numbers)), np.str_), return_inverse=True)
        return cls(rank[codes], levels)

    @classmethod
    def unchecked(cls, codes: AnyArray, levels: StrArray) -> "Factor":
        """Make a factor of codes and distinct levels that need no check.

        Parameters
        ----------
        codes : (k,) array of int
            Position in `levels` of each value.
        levels : (n,) array of str
            The distinct values.

        Returns
        -------
        Factor
            The values.
        """
        made: Factor = cls.__new__(cls)
        codes = codes.astype(np.min_scalar_type(max(0, levels.size - 1)))
        made.__attrs_init__(*map(arrays.mark_read_only, (codes, levels)))
        return made

    def __len__(self) -> int:
        """Return the number of items."""
        return int(self.codes.size)

    def __repr__(self) -> str:
        """Return the counts and the first levels."""
        shown = check.list_some(self.levels)
        return f"Factor: {len(self)} values of {self.levels.size} levels ({shown})"

    def __eq__(self, other: object) -> bool:
        """Compare the values of both."""
        if not isinstance(other, Factor):
            return NotImplemented
        return np.array_equal(self.values(), other.values())

    __hash__ = None  # type: ignore[assignment]
    __reduce__ = arrays.by_constructor

    def values(self) -> StrArray:
        """Return the text of each item.

        Returns
        -------
        (k,) ndarray of str
            Four bytes per character: for millions of items prefer `codes`.
        """
        return arrays.mark_read_only(self.levels[self.codes])

    def take(self, indices: AnyArray | slice) -> "Factor":
        """Return the factor of other items.

        Parameters
        ----------
        indices : slice, (j,) array_like of int, or (k,) array_like of bool
            Which items, in any order and more than once.

        Returns
        -------
        Factor
            With the same levels, those that occur no more included.
        """
        return Factor(arrays.mark_read_only(np.array(self.codes[indices])), self.levels)

    def counts(self) -> IntArray:
        """Count the items of each level.

        Returns
        -------
        (n,) ndarray of int64
            In the order of `levels`.
        """
        counts = np.bincount(self.codes, minlength=self.levels.size)
        return arrays.mark_read_only(counts.astype(np.int64))


# A column of a table: categories, or numbers.
Column = Factor | FloatArray


def equal_columns(first: Factor | AnyArray | None, second: Factor | AnyArray | None) -> bool:
    """Compare two columns, of which either may be absent."""
    if first is None or second is None:
        return first is second
    if isinstance(first, Factor) or isinstance(second, Factor):
        return bool(first == second) if type(first) is type(second) else False
    return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")


def as_positions(
    values: ArrayLike, items: str, size: int, name: str, dtype: DTypeLike, hint: str
) -> AnyArray:
    """Return positions in a list, the argument `items`, as a read-only vector of a type.

    The hint is for those who give texts.
    """
    array = np.asarray(values)
    if array.ndim != 1:
        raise check.invalid(name, "be one-dimensional", check.describe(array))
    # Truth values are no positions: they would pick the first two ids.
    if array.size and array.dtype.kind not in "iu":
        shown = hint if array.dtype.kind in "OSTU" else ""
        raise check.invalid(
            name, f"be positions in `{items}`, whole numbers", check.describe(array), shown
        )
    if (is_bad := (array < 0) | (array >= size)).any():
        at, n_bad = int(np.argmax(is_bad)), np.count_nonzero(is_bad)
        found = f"{array[at]} for item {at} ({n_bad} of {array.size} are out of range)"
        raise check.invalid(name, f"be positions in `{items}`, which has {size}", found)
    if array.dtype != dtype:
        return arrays.mark_read_only(array.astype(dtype))
    return arrays.read_only(array)


# Lists of trials


def trial_codes(models: AnyArray, segments: AnyArray, n_models: int) -> IntArray:
    """Return ``segments * n_models + models``: codes in column-major order."""
    codes = segments.astype(np.int64)
    codes *= n_models
    codes += models
    return codes


def disagree(first: AnyArray, second: AnyArray) -> BoolArray:
    """Tell where two arrays differ. NaN agrees with NaN."""
    differs: BoolArray = first != second
    if first.dtype.kind == "f":
        differs &= ~(np.isnan(first) & np.isnan(second))
    return differs


@attrs.frozen(eq=False)
class TrialOrder:
    """How a list of trials is brought into column-major order, each trial once.

    `codes` has the code of each trial, ascending. `order` has the first line of each trial, in the
    new order; None if the list is in order. `repeated` are the lines that list a trial again,
    `first` the line that lists it first.
    """

    codes: IntArray
    order: IntArray | None
    repeated: IntArray
    first: IntArray

    def conflicts(self, contents: Factor | AnyArray) -> BoolArray:
        """Tell for each repeated line whether its content differs from that of the first."""
        # Codes of a factor differ where its texts do.
        values = contents.codes if isinstance(contents, Factor) else contents
        return disagree(values[self.first], values[self.repeated])


def order_trials(models: AnyArray, segments: AnyArray, n_models: int) -> TrialOrder:
    """Find the column-major order of a list of trials, and the lines that repeat one."""
    none = np.empty(0, dtype=np.intp)
    codes = trial_codes(models, segments, n_models)
    if (codes[1:] > codes[:-1]).all():
        return TrialOrder(codes, None, none, none)
    order = np.argsort(codes, kind="stable")
    codes = codes[order]
    is_new = np.ones(codes.size, dtype=np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=is_new[1:])
    if is_new.all():
        return TrialOrder(codes, order, none, none)
    again = np.flatnonzero(~is_new)
    first = order[is_new]
    # Of the distinct trials before a repeated line, the last is the same as it.
    which = np.searchsorted(np.flatnonzero(is_new), again) - 1
    return TrialOrder(codes[is_new], first, order[again], first[which])


# Tables: columns of the lines of a file


@attrs.frozen(eq=False, repr=False)
class Table:
    """The lines of a text file, in their order, as columns.

    Nothing is sorted out yet: lines that are repeated are all there, and scores may be missing.

    Parameters
    ----------
    models, segments : Factor
        Model and test segment of each line.
    is_target : (k,) array of bool, optional
        Which lines are targets; None if the file has no labels.
    scores : (k,) array of float, optional
        The scores, NaN where a line has none; None if the file has no scores.
    columns : mapping of str to Factor or (k,) array of float
        The other columns by name.
    lines : (k,) array of int, optional
        The number of each line in its file, from 1.
    notes : tuple of Note
        What is odd about the file.

    Examples
    --------
    >>> from bosaris_py.files.columns import Factor, Table
    >>> table = Table(Factor.from_values(["anna", "bert"]), Factor.from_values(["s1", "s1"]))
    >>> table
    Table: 2 lines, 2 models x 1 segments
    >>> table.take([1]).models.values()
    array(['bert'], dtype='<U4')
    """

    models: Factor
    segments: Factor
    is_target: BoolArray | None = None
    scores: FloatArray | None = None
    columns: Mapping[str, Column] = attrs.field(factory=dict)
    lines: AnyArray | None = None
    notes: tuple[errors.Note, ...] = ()

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.models)

    def __repr__(self) -> str:
        """Return the counts in one line."""
        sizes = self.models.levels.size, self.segments.levels.size
        text = f"Table: {len(self)} lines, {sizes[0]} models x {sizes[1]} segments"
        if self.is_target is not None:
            n_tar, n_spoof = int(np.count_nonzero(self.is_target)), 0
            if are_kinds(kinds := self.columns.get(KIND)):
                n_spoof = int(kinds.counts()[kinds.levels == "spoof"].sum())
            text += f", {n_tar} targets, {len(self) - n_tar - n_spoof} non-targets"
            text += f", {n_spoof} spoofs" * (n_spoof > 0)
        if self.scores is not None:
            text += f", {np.count_nonzero(~np.isnan(self.scores))} scores"
        # The kinds are counted above.
        others = [name for name in self.columns if name != KIND]
        return text + (f", columns {', '.join(others)}" if others else "")

    def take(self, lines: ArrayLike) -> Table:
        """Return a table of other lines, given by positions or by a mask.

        Ids of models and segments that occur no more are left out.

        Parameters
        ----------
        lines : (m,) array of int, or (k,) array of bool
            The lines to take.

        Returns
        -------
        Table
            The table of these lines.
        """
        chosen = np.asarray(lines)
        chosen = chosen if chosen.dtype == np.bool_ else chosen.astype(np.intp)
        return attrs.evolve(
            self,
            models=_used(self.models.take(chosen)),
            segments=_used(self.segments.take(chosen)),
            is_target=_taken(self.is_target, chosen),
            scores=_taken(self.scores, chosen),
            columns={name: _taken(each, chosen) for name, each in self.columns.items()},
            lines=_taken(self.lines, chosen),
        )


def _taken(values: Factor | AnyArray | None, chosen: AnyArray) -> Any:
    """Return other items of a column, which may be absent."""
    if isinstance(values, Factor):
        return values.take(chosen)
    return None if values is None else arrays.mark_read_only(values[chosen])


def _used(ids: Factor) -> Factor:
    """Leave out the levels that no item has."""
    is_used = ids.counts() > 0
    if is_used.all():
        return ids
    return Factor((np.cumsum(is_used) - 1)[ids.codes], ids.levels[is_used])


# Labels: targets, non-targets and their kinds, in the words of files and of users

# Classes of trials; those of the last kind are left out. A spoof is synthetic, converted or
# replayed speech of the claimed speaker.
NONTARGET, TARGET, SPOOF, DROPPED = range(4)


# The column of kinds of trials, and its words in the order of a factor's levels.
KIND = "kind"
KINDS = ("nontarget", "spoof", "target")


def are_kinds(column: object) -> TypeGuard[Factor]:
    """Tell whether a column says of each trial what kind it is."""
    return isinstance(column, Factor) and set(column.levels.tolist()) <= set(KINDS)


def factor_of_kinds(classes: IntArray) -> Factor:
    """Return the column of kinds of the class of each trial."""
    # Trials that are left out have a level, too, until they go.
    words = ("nontarget", "target", "spoof", "nontarget")
    level = np.array([KINDS.index(word) for word in words], np.uint8)
    return Factor(arrays.mark_read_only(level[classes]), KINDS)


# The classes of words, as `spell` writes them.
Vocabulary = Mapping[str, int]


def vocabulary(words: str) -> Vocabulary:
    """Return the classes of words for target, non-target and perhaps spoof: ``tgt|imp``."""
    sides = zip(words.split("|"), (TARGET, NONTARGET, SPOOF), strict=False)
    return {word: side for group, side in sides for word in group.split()}


# A file uses words of one of these; `genuine` is the target of a verifier or of a detector of
# spoofs, whose words come first.
_WORDS = (
    "target|nontarget|spoof",
    "bonafide human genuine real live authentic original"
    "|spoof spoofed fake synthetic deepfake forged attack",
    "target tar tgt trg true genuine client mated same match matched positive pos samespeaker "
    "samesource ss hp|nontarget non nontar nontgt imp impostor imposter nonmated unmated different "
    "diff nonmatch nomatch mismatch unmatched false negative neg differentspeaker differentsource "
    "ds hd|spoof",
    # The types of trials of SdSV: a target, or another speaker or phrase.
    "tc|tw ic iw",
    "1|0",
    "1|-1",
)
VOCABULARIES = tuple(map(vocabulary, _WORDS))


# The words of a detector of spoofs.
DETECTION = VOCABULARIES[1]


def spell(word: str) -> str:
    """Return a word of a label as vocabularies have it: without hyphens, 1.0 as 1."""
    try:
        return f"{float(word):g}"
    except ValueError:
        return re.sub("[-_ ]", "", word.lower())


def classes_of(
    words: Iterable[str], vocabularies: Iterable[Vocabulary] = VOCABULARIES
) -> dict[str, int]:
    """Return the class of each word by the first vocabulary that has all; empty if none has."""
    spelled = {word: spell(word) for word in words}
    known = next((each for each in vocabularies if each.keys() >= {*spelled.values()}), None)
    return {} if known is None else {word: known[plain] for word, plain in spelled.items()}


def as_labels(labels: object, name: str) -> BoolArray:
    """Return which trials are targets, of truth values, 0 and 1, -1 and 1, or words as in files."""
    if isinstance(labels, Mapping | set | frozenset):
        raise check.invalid(name, "be a list in the order of the scores", check.describe(labels))
    array: AnyArray = np.asarray(check.as_list(labels))
    if array.ndim != 1:
        raise check.invalid(name, "be one-dimensional", check.describe(array))
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
        raise check.invalid(name, "be True and False, 0 and 1, or -1 and 1", found, hint)
    words = Factor.from_values(array if array.dtype.kind == "U" else array.tolist())
    classes = classes_of(words.levels.tolist())
    if (words.levels.size and not classes) or SPOOF in classes.values():
        some = check.list_some(map(repr, words.levels.tolist()))
        hint = f"Say which word means a target: {name} == WORD, where WORD is one of {some}."
        expected = "be words of one kind, such as target and nontarget, or same and different"
        raise check.invalid(name, expected, check.list_some(words.levels), hint)
    # By level, of which there are two.
    return np.array([side == TARGET for side in classes.values()], np.bool_)[words.codes]
