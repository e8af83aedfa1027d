"""Trials, labels, scores and columns from the data frames of other libraries.

Columns are taken by what they can do, not by their class, so none of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from numbers import Number
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, BoolArray, FloatArray, StrArray, mark_read_only
from bosaris_py.errors import InvalidInputError
from bosaris_py.files.columns import SPOOF, VOCABULARIES, Column, Factor, order_trials
from bosaris_py.files.formats import find_format
from bosaris_py.trials.key import Key, Ndx
from bosaris_py.trials.scores import Scores

# A code for each row, and the texts that they stand for.
Coded: TypeAlias = tuple[AnyArray, list[str]]

# What becomes of trials of the third class.
Spoofs: TypeAlias = Literal["error", "nontarget", "keep"]

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
    spoof: Spoofs = "keep",
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
    spoof : {"keep", "nontarget", "error"}, default: "keep"
        What to do with rows whose label is ``spoof``, as for `read_key`: count them as non-targets,
        or keep them as spoofs.

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
    >>> bp.evaluate(data.scores, data.key, prior=0.5).records()[0]["eer"]
    0.0
    """
    check.check_choice(spoof, Spoofs, "spoof")
    names, extra = _names(score, "score"), _names(columns, "columns")
    frame = _Frame(df, (model, segment))
    header = find_format("csv").header
    if label is None:
        taken: tuple[str | None, ...] = (model, segment, *extra, *names)
        likely = [n for n in frame.names if n not in taken and str(n).lower() in header["label"]]
        if len(likely) > 1:
            hint = f"Give label={likely[0]!r}, or the other."
            raise check.invalid(
                "label", "name one of the columns that may be it", str(likely), hint
            )
        label = likely[0] if likely else None
    labels = None if label is None else frame.labels(label, tar, non, spoof)
    if score is None:
        taken = (model, segment, label, *extra)
        names = [n for n in frame.names if n not in taken and frame.may_be_score(n, header)]
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
    used = np.zeros(ids.size, dtype=np.bool_)
    used[codes] = True
    if used.all() and (ids[:-1] < ids[1:]).all():
        return ids, codes
    order = np.flatnonzero(used)[np.argsort(ids[used])]
    position = np.zeros(ids.size, dtype=np.int32)
    position[order] = np.arange(order.size)
    return mark_read_only(ids[order]), position.take(codes)


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
            raise check.invalid(
                "df", "be a data frame, or a mapping of names to columns", check.describe(df)
            )
        if names is df:
            check.check_same_rows(df)
        self._frame = df
        self.names = list(names)
        self._n_rows = len(df[self.names[0]]) if self.names else 0
        if not self._n_rows:
            raise check.invalid("df", "have a row for each trial", "no rows")

    def column(self, name: object, argument: str) -> Any:
        """Return a column as the library has it."""
        if name not in self.names:
            raise check.invalid(
                argument, f"name a column ({check.list_some(self.names, 20)})", check.describe(name)
            )
        column = self._frame[name]
        if getattr(column, "ndim", 1) != 1:
            raise check.invalid(argument, "name one column", f"several named {name!r}")
        # Columns of a mapping may differ.
        if len(column) != self._n_rows:
            found = f"{len(column)} in column {name!r}"
            raise check.invalid("df", f"have {self._n_rows} rows in each column", found)
        return column

    def kind(self, name: object, argument: str = "score") -> str:
        """Return numpy's letter for the type of a column; "O" for categories, too."""
        column = self.column(name, argument)
        dtype = getattr(column, "dtype", getattr(column, "type", None))
        # Types of polars and pyarrow have no letter, but an empty part becomes an array.
        part = column if dtype is None else column[:0]
        return str(getattr(dtype, "kind", np.asarray(part).dtype.kind))

    def may_be_score(self, name: object, header: Mapping[str, Collection[str]]) -> bool:
        """Tell whether a column holds numbers, also as objects, or is called a score."""
        if self.kind(name) in "iuf" or str(name).lower() in header["score"]:
            return True
        types = {*map(type, self._frame[name][:100])} - {bool}
        return any(issubclass(each, Number) for each in types)

    def coded(self, name: object, argument: str) -> Coded:
        """Return a column of text or whole numbers as codes, and what they mean."""
        column = self.column(name, argument)
        # What describes trials may be bins and dates, too; ids are what they are elsewhere.
        expected = "name a column of text or whole numbers"
        if self.kind(name, argument) == "f":
            hint = f"Whole ones become such where some are missing: df[{name!r}].astype('Int64')."
            raise check.invalid(argument, expected, f"fractions in column {name!r}", hint)
        codes, levels = _coded(column)
        if codes.min() < 0:
            hint = "Fill it, for instance with 'unknown'." if argument == "columns" else ""
            raise _bad_rows(argument, "hold a value in each row", "none", codes < 0, hint)
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

    def labels(self, name: object, tar: object, non: object, spoof: Spoofs) -> npt.NDArray[np.int8]:
        """Return the label of each row: 1 for a target, -1 for a non-target, -2 for a spoof."""
        if self.kind(name, "label") == "f":
            levels, codes = np.unique(self.column(name, "label"), return_inverse=True)
            words = [f"{level:g}" for level in levels]
        else:
            codes, words = self.coded(name, "label")
        # Rows that were taken out leave their categories.
        used = [words[code] for code in np.flatnonzero(np.bincount(codes))]
        if tar == "target":
            if non is not None:
                raise check.invalid("non", "be given with `tar` only", check.describe(non))
            lower = {word.lower() for word in used}
            known = next((each for each in VOCABULARIES if lower <= set(each)), None)
            if known is None:
                expected = "hold target|nontarget, tgt|imp, 1|0, 1|-1, bonafide|spoof or true|false"
                raise check.invalid("label", expected, check.list_some(map(repr, used)), _TAR)
            classes = [known.get(word.lower(), 0) for word in words]
        else:
            _check_named(used, tar, non, name)
            classes = [int(word == str(tar)) for word in words]
        labels = _LABELS[classes][codes]
        if spoof == "error" and (spoofs := labels == _LABELS[SPOOF]).any():
            hint = 'spoof="keep" keeps them, spoof="nontarget" counts them as non-targets.'
            raise _bad_rows("label", "be of targets and non-targets", "a spoof", spoofs, hint)
        return np.maximum(labels, -1) if spoof == "nontarget" else labels


def _coded(column: Any) -> tuple[AnyArray, Sequence[object]]:
    """Return codes, -1 where a value is missing, and the values that they stand for."""
    if hasattr(column, "factorize"):  # pandas
        if hasattr(column, "cat"):
            return column.cat.codes.to_numpy(), column.cat.categories.tolist()
        codes, levels = column.factorize()
        return codes, levels.tolist()
    if hasattr(column, "dictionary_encode"):  # pyarrow
        if not hasattr(column.type, "index_type"):
            column = column.dictionary_encode()
        if hasattr(column, "combine_chunks"):
            column = column.unify_dictionaries().combine_chunks()
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return codes, column.dictionary.to_pylist()
    if hasattr(column, "replace_strict"):  # polars
        values = column.unique().drop_nulls()
        codes = column.replace_strict(values, np.arange(len(values), dtype=np.int32), default=None)
        return codes.fill_null(-1).to_numpy(), values.to_list()
    factor = Factor.from_values(column)
    return factor.codes, factor.levels.tolist()


def _check_named(labels: Sequence[str], tar: object, non: Any, name: object) -> None:
    """Raise unless `tar` is a label, and the others are one, or those that are named."""
    if str(tar) not in labels:
        expected = f"be a label of column {name!r} ({check.list_some(labels)})"
        raise check.invalid("tar", expected, check.describe(tar))
    others = [label for label in labels if label != str(tar)]
    hint = "Leave out rows whose label is unknown."
    if non is None and len(others) > 1:
        expected = f"name the labels that mean non-target, where column {name!r} has several others"
        raise check.invalid("non", expected, check.list_some(map(repr, others)), hint)
    given = [non] if isinstance(non, str | Number) else [*(others if non is None else non)]
    if strangers := {*others} - {*map(str, given)}:
        expected = f"name all labels of column {name!r} but `tar`"
        raise check.invalid(
            "non", expected, f"none of {check.list_some(map(repr, strangers))}", hint
        )


def _bad_rows(
    name: str, expected: str, got: str, bad: BoolArray, hint: str = ""
) -> InvalidInputError:
    """Build the error that names the first bad row, counted from 0."""
    found = f"{got} in row {np.argmax(bad)} ({np.count_nonzero(bad)} rows in all)"
    return check.invalid(name, expected, found, hint)
