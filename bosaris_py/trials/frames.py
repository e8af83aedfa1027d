"""Trials, labels, scores and columns from the data frames of other libraries.

Columns are taken by what they can do, not by their class, so none of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, FloatArray, Given, IntArray
from bosaris_py.files.columns import Codes, Factor, classes_of, order_trials
from bosaris_py.files.formats import find_format
from bosaris_py.trials.alignment import code_trials
from bosaris_py.trials.key import Key, Ndx
from bosaris_py.trials.scores import Scores

# The columns of a data frame by name, as its library has them.
Frame = Mapping[str, Given]

# Labels of a key, by class.
_LABELS = np.array([-1, 1, -2], dtype=np.int8)


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
    frame, header = _columns(df, (model, segment)), find_format("csv").header
    described = model, segment, *extra
    if label is None:
        free = [name for name in frame if name not in (*described, *names)]
        likely = [name for name in free if str(name).lower() in header["label"]]
        if len(likely) > 1:
            expected, hint = "name one of the columns that may be it", f"Give label={likely[0]!r}."
            raise check.invalid("label", expected, str(likely), hint)
        label = likely[0] if likely else None
    if score is None:
        free = [name for name in frame if name not in (*described, label)]
        names = [n for n in free if str(n).lower() in header["score"] or _is_numeric(frame[n])]
    labels = None if label is None else _labels(frame, label, tar, non)
    scores = {str(name): _scores(frame, name) for name in names}
    if score is None:
        _check_found(scores, label, [name for name in scores if name.lower() in header["score"]])
    ids, rows, cols = code_trials(_texts(frame, model, "model"), _texts(frame, segment, "segment"))
    order = order_trials(rows, cols, ids[0].size)
    if order.repeated.size:
        first, again = order.first[0], order.repeated[0]
        found = f"row {first} again in row {again} ({order.repeated.size} rows in all)"
        raise check.invalid("df", "have one row for each trial", found)
    at = np.arange(rows.size) if order.order is None else order.order
    systems = {n: Scores._from_vector(ids, order.codes, x[at]) for n, x in scores.items()}
    if labels is None:
        if extra:
            raise check.invalid("columns", "be left out without labels", check.list_some(extra))
        return TrialFrame(Ndx._from_positions(ids, rows, cols), systems)
    known = {name: _described(frame, name).take(at) for name in extra}
    return TrialFrame(Key._from_vector(ids, order.codes, labels[at]).with_columns(**known), systems)


def _names(given: str | Sequence[str] | None, argument: str) -> list[str]:
    """Return the names of columns as a list."""
    if isinstance(given, set | frozenset):
        raise check.invalid(argument, "be a list of names", check.describe(given), check.NO_SET)
    return check.listed(given, argument)


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


def _columns(df: Given, ids: Sequence[object]) -> Frame:
    """Return the columns of a data frame of any library."""
    # What `to_frame` made has its ids as index.
    levels = getattr(check.row_labels(df), "names", None) or ()
    if levels := [name for name in levels if name in ids and name not in df]:
        df = df.reset_index(level=levels)
    # A table of pyarrow has its columns themselves under the name of `columns`.
    names = getattr(df, "column_names", getattr(df, "columns", None))
    if isinstance(df, Mapping):
        check.check_same_rows(df)
        names = df.keys()
    if names is None:
        expected = "be a data frame, or a mapping of names to columns"
        raise check.invalid("df", expected, check.describe(df))
    frame = {name: df[name] for name in names}
    sizes = {len(column) for column in frame.values()}
    if len(sizes) != 1 or sizes == {0}:
        found = f"columns of {check.list_some(sorted(sizes))} rows"
        raise check.invalid("df", "have a row for each trial in each column", found)
    return frame


def _column(frame: Frame, name: str, argument: str) -> Given:
    if name in [*frame]:
        return frame[name]
    expected = f"name one column ({check.list_some(frame, 20)})"
    raise check.invalid(argument, expected, check.describe(name))


def _is_numeric(column: Given) -> bool:
    """Tell whether a column holds numbers, also as objects."""
    types = {*map(type, np.asarray(column)[:100].tolist())} - {bool}
    return any(issubclass(each, Number) for each in types)


def _coded(frame: Frame, name: str, argument: str) -> tuple[AnyArray, list[object]]:
    """Return a code for each row of a column, and the values that they stand for."""
    column = _column(frame, name, argument)
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):  # categories of pandas
        codes, levels = column.cat.codes.to_numpy(), column.cat.categories.tolist()
    else:
        numbers = Codes()
        # Of pyarrow, of pandas and numpy, of others.
        as_list = getattr(column, "to_pylist", getattr(column, "tolist", column.__iter__))
        codes = np.fromiter(map(numbers.__getitem__, as_list()), np.int32, len(column))
        levels = [*numbers]
        missing = [number for value, number in numbers.items() if check.is_missing(value)]
        codes[np.isin(codes, missing)] = -1
    if codes.min() < 0:
        found = f"none in row {np.argmin(codes)} ({np.count_nonzero(codes < 0)} rows in all)"
        hint = "Fill it, for instance with 'unknown'." if argument == "columns" else ""
        raise check.invalid(argument, "hold a value in each row", found, hint)
    return codes, levels


def _texts(frame: Frame, name: str, argument: str) -> list[str]:
    """Return a column of ids, text or whole numbers, as text."""
    codes, levels = _coded(frame, name, argument)
    if not all(isinstance(level, str | int) for level in levels):
        hint = f"Whole ones become such where some are missing: df[{name!r}].astype('Int64')."
        found = f"other values in column {name!r}"
        raise check.invalid(argument, "name a column of text or whole numbers", found, hint)
    texts = [*map(str, levels)]
    return [texts[code] for code in codes.tolist()]


def _scores(frame: Frame, name: str) -> FloatArray:
    """Return a column of scores, one in each row."""
    values = check.as_vector(np.asarray(_column(frame, name, "score")), f"score {name!r}")
    if (missing := np.isnan(values)).any():
        found = f"NaN in row {np.argmax(missing)} ({np.count_nonzero(missing)} rows in all)"
        expected = f"hold a score in each row of column {name!r}"
        raise check.invalid("score", expected, found, "Leave out rows without a score.")
    return values


def _described(frame: Frame, name: str) -> AnyArray | Factor:
    """Return a column: numbers as an array, all else as a factor, of bins in their order."""
    array: AnyArray = np.asarray(_column(frame, name, "columns"))
    if array.dtype.kind in "iuf":
        return array
    codes, levels = _coded(frame, name, "columns")
    return Factor(codes, [*map(str, levels)])


def _labels(frame: Frame, name: str, tar: object, non: Given) -> IntArray:
    """Return the label of each row: 1 for a target, -1 for a non-target, -2 for a spoof."""
    codes, levels = _coded(frame, name, "label")
    words = [f"{level:g}" if isinstance(level, float) else str(level) for level in levels]
    # Rows that were taken out leave their categories.
    used = [words[code] for code in np.flatnonzero(np.bincount(codes))]
    if tar == "target" and non is None:
        known = classes_of(used)
        if not known:
            expected = "hold target|nontarget, tgt|imp, 1|0, 1|-1, bonafide|spoof or true|false"
            hint = "tar= says which label means target, and non= which does not."
            raise check.invalid("label", expected, check.list_some(map(repr, used)), hint)
        return _LABELS[[known.get(word, 0) for word in words]][codes]
    others = {*used} - {str(tar)}
    if len(others) == len(used):
        expected = f"be a label of column {name!r} ({check.list_some(used)})"
        raise check.invalid("tar", expected, check.describe(tar))
    given = {str(non)} if isinstance(non, Number) else {*map(str, check.listed(non, "non"))}
    if others - given and (given or len(others) > 1):
        expected = f"name all labels of column {name!r} but `tar`"
        hint = "Leave out rows whose label is unknown."
        raise check.invalid("non", expected, f"others: {check.list_some(sorted(others))}", hint)
    return _LABELS[[int(word == str(tar)) for word in words]][codes]
