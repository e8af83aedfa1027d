"""Trials, labels, scores and columns from the data frames of other libraries.

Columns are taken by what they can do, not by their class, so none of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any, TypeAlias

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, BoolArray, FloatArray, Given, StrArray, mark_read_only
from bosaris_py.errors import InvalidInputError
from bosaris_py.files.columns import Codes, Column, Factor, classes_of, order_trials
from bosaris_py.files.formats import find_format
from bosaris_py.trials.alignment import inverse
from bosaris_py.trials.key import Key, LabelArray, Ndx
from bosaris_py.trials.scores import Scores

# A code for each row, and the texts that they stand for.
Coded: TypeAlias = tuple[AnyArray, list[str]]

# What may be an id, or a label.
_TEXTS = {str, int, bool}

# Labels of a key, by class.
_LABELS = np.array([-1, 1, -2], dtype=np.int8)

_TAR = "tar= says which label means target, and non= which does not."


@attrs.frozen(eq=False)
class TrialFrame:
    """What `from_frame` finds in a data frame.

    Parameters
    ----------
    key : Ndx or Key
        The trials; a key if there are labels.
    scores : mapping of str to Scores
        The scores of each system.
    """

    key: Ndx | Key
    scores: Mapping[str, Scores]


def from_frame(
    df: object,
    *,
    model: str = "model",
    segment: str = "segment",
    score: str | Sequence[str] | None = None,
    label: str | None = None,
    tar: object = "target",
    non: object = None,
    columns: str | Sequence[str] = (),
) -> TrialFrame:
    """Take trials, labels, scores and columns from a data frame with a row for each trial.

    Parameters
    ----------
    df : data frame
        Of pandas, polars or pyarrow, or a mapping of names to columns.
    model, segment : str
        The columns of ids, text or whole numbers; categories are used by their codes.
    score : str or sequence of str, optional
        A column for each system. By default ``score`` or ``llr``, or all other numbers.
    label : str, optional
        The column of labels: words as in files, 1 and 0, or truth values. By default
        ``label``, ``targettype`` or ``target`` if there is one.
    tar : str or int, default: "target"
        Any other value says which label means target.
    non : str, int or sequence of these, optional
        With `tar`, the labels that mean non-target; needed where there is more than one other.
    columns : str or sequence of str, optional
        Further columns, which the key carries: text, whole numbers, dates, and intervals as of
        ``pandas.cut``, in their order.

    Returns
    -------
    TrialFrame
        ``key`` and ``scores``; models and segments are sorted.

    Raises
    ------
    InvalidInputError
        If a column is not there, labels are not known, or rows lack a value; says which.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> table = {"model": ["anna", "anna", "bert"], "segment": ["s1", "s2", "s1"],
    ...          "label": ["target", "nontarget", "nontarget"], "llr": [2.5, -1.0, -3.0]}
    >>> data = bp.from_frame(table)
    >>> data.key
    Key: 2 models x 2 segments, 1 targets, 2 non-targets
    >>> bp.Results.from_scores(data.scores["llr"], data.key).eer
    0.0
    """
    names, extra = _names(score, "score"), _names(columns, "columns")
    frame = _Frame(df, (model, segment))
    header = find_format("csv").header
    if label is None:
        taken: tuple[object, ...] = (model, segment, *extra, *names)
        likely = [n for n in frame.names if n not in taken and str(n).lower() in header["label"]]
        if len(likely) > 1:
            expected, hint = "name one of the columns that may be it", f"Give label={likely[0]!r}."
            raise check.invalid("label", expected, str(likely), hint)
        label = likely[0] if likely else None
    labels = None if label is None else frame.labels(label, tar, non)
    if score is None:
        free = [n for n in frame.names if n not in (model, segment, label, *extra)]
        names = [n for n in free if frame.is_numeric(n) or str(n).lower() in header["score"]]
    scores = {str(name): frame.scores(name) for name in names}
    if score is None:
        _check_found(scores, label, [name for name in scores if name.lower() in header["score"]])

    (models, rows), (segments, cols) = (
        _sorted_ids(*frame.coded(name, argument))
        for name, argument in ((model, "model"), (segment, "segment"))
    )
    order = order_trials(rows, cols, models.size)
    if order.repeated.size:
        first, again = order.first[0], order.repeated[0]
        found = (
            f"({models[rows[first]]}, {segments[cols[first]]}) of row {first} again in row {again} "
            f"({order.repeated.size} rows repeat a trial)"
        )
        raise check.invalid("df", "have one row for each trial", found)
    ids, cells = (models, segments), order.codes
    at = slice(None) if order.order is None else order.order
    systems = {name: Scores._from_vector(ids, cells, values[at]) for name, values in scores.items()}
    if labels is not None:
        key = Key._from_vector(ids, cells, labels[at])
        described = {name: frame.described(name).take(np.arange(cells.size)[at]) for name in extra}
        return TrialFrame(key.with_columns(**described), systems)
    if extra:
        raise check.invalid("columns", "be left out without labels", check.list_some(extra))
    return TrialFrame(Ndx._from_vector(ids, cells, np.broadcast_to(np.True_, cells.size)), systems)


def _names(given: str | Sequence[str] | None, argument: str) -> list[str]:
    """Return the names of columns as a list."""
    if isinstance(given, set | frozenset):
        raise check.invalid(argument, "be a list of names", check.describe(given), check.NO_SET)
    return [given] if isinstance(given, str) else [*(given or ())]


def _check_found(scores: Mapping[str, FloatArray], label: object, called: Sequence[str]) -> None:
    """Raise where numbers that nobody named may be no scores; some are `called` scores."""
    for name, values in scores.items():
        # That few scores may be such numbers by chance.
        if values.size > 3 and check.are_labels(values) and name not in called:
            found = f"only {values.min():g} and {values.max():g} in column {name!r}"
            hint = f"Give label={name!r}, or the columns of scores: score=[...]."
            argument = "label" if label is None else "score"
            raise check.invalid(argument, "be given where a column looks like labels", found, hint)
    if 0 < len(called) < len(scores):
        hint = f"Give score={called[0]!r}, and columns=[...] for what describes trials."
        found = check.list_some(map(repr, scores))
        raise check.invalid("score", "be given where further columns are numbers", found, hint)


def _sorted_ids(codes: AnyArray, texts: Sequence[str]) -> tuple[StrArray, AnyArray]:
    """Return the ids that occur, sorted, and the position of each row's."""
    ids = check.as_ids(texts, "ids")
    used = np.zeros(ids.size, np.bool_)
    used[codes] = True
    if used.all() and (ids[:-1] < ids[1:]).all():
        return ids, codes
    order = np.argsort(ids)
    order = order[used[order]]
    return mark_read_only(ids[order]), inverse(order, ids.size).take(codes)


class _Frame:
    """The columns of a data frame of any library."""

    def __init__(self, df: Any, ids: Sequence[object]) -> None:
        # What `to_frame` made has its ids as index.
        levels = getattr(check.row_labels(df), "names", None) or ()
        if levels := [name for name in levels if name in ids and name not in df]:
            df = df.reset_index(level=levels)
        # A table of pyarrow has its columns themselves under the name of `columns`.
        names = getattr(df, "column_names", getattr(df, "columns", df))
        is_frame = isinstance(df, Mapping) or (names is not df and getattr(df, "ndim", 2) == 2)
        if not is_frame or callable(names):
            expected = "be a data frame, or a mapping of names to columns"
            raise check.invalid("df", expected, check.describe(df))
        if names is df:
            check.check_same_rows(df)
        self._frame, self.names = df, list(names)
        self._n_rows = len(df[self.names[0]]) if self.names else 0
        if not self._n_rows:
            raise check.invalid("df", "have a row for each trial", "no rows")

    def column(self, name: object, argument: str) -> Given:
        """Return a column as the library has it."""
        if self.names.count(name) != 1:
            expected = f"name one column ({check.list_some(self.names, 20)})"
            raise check.invalid(argument, expected, check.describe(name))
        column = self._frame[name]
        # Columns of a mapping may differ.
        if len(column) != self._n_rows:
            found = f"{len(column)} in column {name!r}"
            raise check.invalid("df", f"have {self._n_rows} rows in each column", found)
        return column

    def kind(self, name: object, argument: str) -> str:
        """Return numpy's letter for the type of a column; "O" for categories, too."""
        column = self.column(name, argument)
        dtype = getattr(column, "dtype", getattr(column, "type", None))
        # Types of polars and pyarrow have no letter, but an empty part becomes an array.
        part = column if dtype is None else column[:0]
        return str(getattr(dtype, "kind", np.asarray(part).dtype.kind))

    def is_numeric(self, name: object) -> bool:
        """Tell whether a column holds numbers, also as objects."""
        types = {*map(type, self.column(name, "score")[:100])} - {bool}
        return self.kind(name, "score") in "iuf" or any(issubclass(t, Number) for t in types)

    def coded(self, name: object, argument: str) -> Coded:
        """Return a column of text or whole numbers as codes, and what they mean."""
        column, expected = self.column(name, argument), "name a column of text or whole numbers"
        if self.kind(name, argument) == "f":
            hint = f"Whole ones become such where some are missing: df[{name!r}].astype('Int64')."
            raise check.invalid(argument, expected, f"fractions in column {name!r}", hint)
        codes, levels = _coded(column)
        if codes.min() < 0:
            hint = "Fill it, for instance with 'unknown'." if argument == "columns" else ""
            raise _bad_rows(argument, "hold a value in each row", "none", codes < 0, hint)
        # What describes trials may be bins and dates, too; ids are what they are elsewhere.
        if argument != "columns" and not {*map(type, levels)} <= _TEXTS:
            raise check.invalid(argument, expected, f"other values in column {name!r}")
        return codes, [*map(str, levels)]

    def scores(self, name: object) -> FloatArray:
        """Return a column of scores, one in each row."""
        values = check.as_vector(np.asarray(self.column(name, "score")), f"score {name!r}")
        if (missing := np.isnan(values)).any():
            expected = f"hold a score in each row of column {name!r}"
            raise _bad_rows("score", expected, "NaN", missing, "Leave out rows without a score.")
        return values

    def described(self, name: object) -> Column:
        """Return a column: numbers as an array, all else as a factor."""
        if self.kind(name, "columns") in "iuf":
            numbers: FloatArray = np.asarray(self.column(name, "columns"))
            return numbers
        return Factor(*self.coded(name, "columns"))

    def labels(self, name: object, tar: object, non: Given) -> LabelArray:
        """Return the label of each row: 1 for a target, -1 for a non-target, -2 for a spoof."""
        if self.kind(name, "label") == "f":
            levels, codes = np.unique(self.column(name, "label"), return_inverse=True)
            words = [f"{level:g}" for level in levels]
        else:
            codes, words = self.coded(name, "label")
        # Rows that were taken out leave their categories.
        used = [words[code] for code in np.flatnonzero(np.bincount(codes))]
        if tar == "target" and non is None:
            known = classes_of(used)
            if not known:
                expected = "hold target|nontarget, tgt|imp, 1|0, 1|-1, bonafide|spoof or true|false"
                raise check.invalid("label", expected, check.list_some(map(repr, used)), _TAR)
            return _LABELS[[known.get(word, 0) for word in words]][codes]
        others = {*used} - {str(tar)}
        if len(others) == len(used):
            expected = f"be a label of column {name!r} ({check.list_some(used)})"
            raise check.invalid("tar", expected, check.describe(tar))
        given = {str(non)} if isinstance(non, str | Number) else {*map(str, non or ())}
        if others - given and (given or len(others) > 1):
            expected = f"name all labels of column {name!r} but `tar`"
            hint = "Leave out rows whose label is unknown."
            raise check.invalid("non", expected, f"others: {check.list_some(sorted(others))}", hint)
        return _LABELS[[int(word == str(tar)) for word in words]][codes]


def _coded(column: Given) -> tuple[AnyArray, Sequence[object]]:
    """Return codes, -1 where a value is missing, and the values that they stand for."""
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):  # categories of pandas
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    if hasattr(column, "factorize"):  # pandas
        codes, levels = column.factorize()
        return codes, levels.tolist()
    names = "to_list", "to_pylist", "tolist"  # polars, pyarrow, numpy
    as_list = next((getattr(column, name) for name in names if hasattr(column, name)), None)
    listed = list(column) if as_list is None else as_list()
    numbers = Codes()
    codes = np.fromiter(map(numbers.__getitem__, listed), np.int32, len(listed))
    missing = [number for value, number in numbers.items() if check.is_missing(value)]
    return np.where(np.isin(codes, missing), -1, codes), list(numbers)


def _bad_rows(
    name: str, expected: str, got: str, bad: BoolArray, hint: str = ""
) -> InvalidInputError:
    """Build the error that names the first bad row, counted from 0."""
    found = f"{got} in row {np.argmax(bad)} ({np.count_nonzero(bad)} rows in all)"
    return check.invalid(name, expected, found, hint)
