"""Trials, labels, scores and columns from the data frames of other libraries.

Columns are taken by what they can do, not by their class, so none of these libraries is imported.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from numbers import Number
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    FloatArray,
    StrArray,
    mark_read_only,
)
from bosaris_py._validation import (
    NO_SET,
    are_labels,
    as_ids,
    as_vector,
    check_choice,
    check_same_rows,
    describe,
    invalid,
    list_some,
    row_labels,
)
from bosaris_py.errors import InvalidInputError
from bosaris_py.files import columns as trial_columns
from bosaris_py.files.columns import Factor
from bosaris_py.files.formats import find_format
from bosaris_py.files.labels import DROPPED, NONTARGET, SPOOF, TARGET, VOCABULARIES
from bosaris_py.trials.key import Key, Ndx
from bosaris_py.trials.scores import Scores, stack_scores

# A code for each row, and the texts that they stand for.
Coded: TypeAlias = tuple[AnyArray, list[str]]

# Labels of a key, by class.
_LABELS = np.array([-1, 1, -2, 0], dtype=np.int8)

_TARGET, _NONTARGET = np.uint8(TARGET), np.uint8(NONTARGET)

_TAR = "tar= says which label means target, and non= which does not."

# What becomes of trials of the third class.
Spoofs: TypeAlias = Literal["error", "nontarget", "keep"]


@attrs.frozen(eq=False)
class TrialFrame:
    """What `from_frame` finds in a data frame.

    Parameters
    ----------
    key : Ndx or Key
        The trials; a key if there are labels.
    scores : mapping of str to Scores
        The scores of each system.
    rows : object, optional
        The trial of each row, for `column`; by default rows are the trials of the key.
    """

    key: Ndx | Key
    scores: Mapping[str, Scores]
    _rows: _Rows | None = attrs.field(default=None, kw_only=True, repr=False)

    def column(self, scores: Scores) -> Float64Array:
        """Return scores in the order of the rows of the data frame, as a column for it.

        Parameters
        ----------
        scores : Scores
            Scores of all trials of the data frame, such as calibrated ones.

        Returns
        -------
        (n_rows,) ndarray of float64

        Raises
        ------
        TrialMismatchError
            If scores of trials are missing; says how many.

        Examples
        --------
        >>> import bosaris_py as bp
        >>> data = bp.from_frame({"model": ["b", "a"], "segment": ["s1", "s1"], "llr": [2.0, 1.0]})
        >>> data.scores["llr"].get_scores(data.key).tolist()
        [1.0, 2.0]
        >>> data.column(data.scores["llr"]).tolist()
        [2.0, 1.0]
        """
        values: Float64Array = stack_scores(scores, self.key)[0]
        order = None if self._rows is None else self._rows.order().order
        if order is None:
            return values
        ordered = np.empty_like(values)
        ordered[order] = values
        return ordered


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
        Models and segments are sorted.

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
    for name, value in (("score", score), ("columns", columns)):
        if isinstance(value, set | frozenset):
            raise invalid(name, "be a list of names", describe(value), NO_SET)
        if not isinstance(value, Iterable | None):
            raise invalid(name, "be the name of a column, or a list of names", describe(value))
    frame = _Columns(df, (model, segment))
    extra = (columns,) if isinstance(columns, str) else tuple(columns)
    check_choice(spoof, Spoofs, "spoof")
    names: Iterable[object] = (score,) if isinstance(score, str) else score or ()
    if label is None:
        accepted = find_format("csv").header["label"]
        named = (model, segment, *extra, *names)
        likely = [n for n in frame.names if n not in named and str(n).lower() in accepted]
        if len(likely) > 1:
            hint = f"Give label={likely[0]!r}, or the other."
            raise invalid("label", "name one of the columns that may be it", str(likely), hint)
        label = likely[0] if likely else None
    if score is None:
        taken = (model, segment, label, *extra)
        names = [name for name in frame.names if name not in taken and frame.may_be_score(name)]
    with ThreadPoolExecutor() as pool:
        # Most of the time that texts take; the libraries release Python's lock.
        ids = [pool.submit(frame.coded, *side) for side in ((model, "model"), (segment, "segment"))]
        labels = None if label is None else pool.submit(frame.labels, label, tar, non, spoof)
        rows = _Rows.of(*(task.result() for task in ids))
        classes = None if labels is None else labels.result()
        found = None if classes is None else _LABELS[classes]
        if found is not None and spoof == "nontarget":
            found[found == -2] = -1
    scores = {str(name): frame.scores(name) for name in names}
    called = [name for name in scores if name.lower() in find_format("csv").header["score"]]
    for name, values in scores.items() if score is None else ():
        # That few scores may be such numbers by chance.
        if values.size > 3 and are_labels(values) and name not in called:
            found = f"only {values.min():g} and {values.max():g} in column {name!r}"
            if label is not None:
                hint = "Then give score=[...]."
                raise invalid("score", "be given where a column looks like labels", found, hint)
            hint = f"Give label={name!r}, or the columns of scores: score=[...]."
            raise invalid("label", "name the column that looks like labels", found, hint)
    if score is None and 0 < len(called) < len(scores):
        hint = f"Give score={called[0]!r}, and columns=[...] for what describes trials."
        found = list_some(map(repr, scores))
        raise invalid("score", "be given where further columns are numbers", found, hint)
    key, systems = rows.objects(found, scores)
    described: dict[str, Any] = {}
    if extra:
        order = rows.order().order
        for name in extra:
            column = frame.described(name)
            if order is not None:
                column = column.take(order)
            described[name] = column
    if described:
        if not isinstance(key, Key):
            expected = "be left out where there are no labels: a key has columns"
            raise invalid("columns", expected, list_some(described))
        key = key.with_columns(**described)
    return TrialFrame(key, systems, rows=rows)


class _Columns:
    """The columns of a data frame of any library."""

    def __init__(self, df: Any, ids: Sequence[object]) -> None:
        # What `to_frame` made has its ids as index.
        levels = getattr(row_labels(df), "names", None) or ()
        if levels := [name for name in levels if name in ids and name not in df]:
            df = df.reset_index(level=levels)
        self._frame = df
        # A table of pyarrow has its columns themselves under the name of `columns`.
        names = getattr(df, "column_names", getattr(df, "columns", df))
        if (
            isinstance(df, (str, list, tuple, np.ndarray))
            or not hasattr(df, "__getitem__")
            or callable(names)
            # A single column is indexed by its rows.
            or getattr(df, "ndim", 2) == 1
        ):
            raise invalid("df", "be a data frame, or a mapping of names to columns", describe(df))
        if isinstance(df, Mapping):
            check_same_rows(df)
        self.names = list(names)
        self._n_rows = len(df[self.names[0]]) if self.names else 0

    def column(self, name: object, argument: str) -> Any:
        """Return a column as the library has it."""
        if name not in self.names:
            known = f"name a column ({list_some(self.names, 20)})"
            raise invalid(argument, known, describe(name))
        column = self._frame[name]
        if getattr(column, "ndim", 1) != 1:
            raise invalid(argument, "name one column", f"several named {name!r}")
        # Columns of a mapping may differ.
        if len(column) != self._n_rows:
            found = f"{len(column)} in column {name!r}"
            raise invalid("df", f"have {self._n_rows} rows in each column", found)
        return column

    def is_numeric(self, name: object, argument: str = "score") -> bool:
        """Tell whether a column holds numbers, not truth values."""
        return self._kind(self.column(name, argument)) in ("i", "u", "f")

    def may_be_score(self, name: object) -> bool:
        """Tell whether a column holds numbers, also as objects, or is called a score."""
        if self.is_numeric(name) or str(name).lower() in find_format("csv").header["score"]:
            return True
        values = itertools.islice(self._frame[name], 100)
        return any(isinstance(item, Number) and not isinstance(item, bool) for item in values)

    @staticmethod
    def _kind(column: object) -> str:
        """Return numpy's letter for the type of a column; "O" for all but numbers."""
        dtype = getattr(column, "type", getattr(column, "dtype", None))
        if dtype is None:
            return np.asarray(column).dtype.kind
        # Types of polars and pyarrow are known by name: Int64, uint8, double, Boolean.
        named = re.match(r"(u?int|float|half_?float|double|bool)", str(dtype).lower())
        kind = named.group()[0] if named and not hasattr(dtype, "kind") else "O"
        return str(getattr(dtype, "kind", {"h": "f", "d": "f"}.get(kind, kind)))

    def coded(self, name: object, argument: str) -> Coded:
        """Return a column of text as codes, and what they mean."""
        column = self.column(name, argument)
        if not self._n_rows:
            raise invalid("df", "have a row for each trial", "no rows")
        if self._kind(column) == "f":
            found = f"floating-point numbers in column {name!r}"
            hint = f"Whole ones become such where some are missing: df[{name!r}].astype('Int64')."
            raise invalid(argument, "name a column of text or whole numbers", found, hint)
        codes, levels = _coded(column)
        if codes.min() < 0:
            hint = "Fill it, for instance with 'unknown'." if argument == "columns" else ""
            raise _bad_rows(argument, "hold a value in each row", "none", codes < 0, hint)
        # What describes trials may be bins and dates, too; ids are what they are elsewhere.
        texts = [_text(level, described=argument == "columns") for level in levels]
        if None in texts:
            found = f"{describe(levels[texts.index(None)])} in column {name!r}"
            raise invalid(argument, "name a column of text or whole numbers", found)
        return codes, texts  # type: ignore[return-value]

    def numbers(self, name: object, argument: str) -> AnyArray:
        """Return a column as an array of numbers."""
        column = self.column(name, argument)
        return np.asarray(column.to_numpy() if hasattr(column, "to_numpy") else column)

    def scores(self, name: object) -> FloatArray:
        """Return a column of scores, one in each row."""
        values = as_vector(self.numbers(name, "score"), f"score {name!r}")
        if (missing := np.isnan(values)).any():
            expected = f"hold a score in each row of column {name!r}"
            raise _bad_rows("score", expected, "NaN", missing, "Leave out rows without a score.")
        return values

    def labels(
        self, name: object, tar: object, non: object, spoof: Spoofs
    ) -> npt.NDArray[np.uint8]:
        """Return the class of each row."""
        if spoof == "nontarget" and not (isinstance(tar, str) and tar == "target"):
            hint = "Put target, nontarget and spoof in the place of the labels."
            raise invalid("spoof", "be left out with `tar`", repr(spoof), hint)
        if non is not None and isinstance(tar, str) and tar == "target":
            raise invalid("non", "be given with `tar` only", describe(non))
        if self.is_numeric(name, "label"):
            values = self.numbers(name, "label")
            one: Any = 1 if tar == "target" else tar
            is_target: BoolArray = values == (one if isinstance(one, Number) else np.nan)
            if tar != "target" and not is_target.any():
                found = list_some(np.unique(values).tolist())
                raise invalid("tar", f"be a label of column {name!r} ({found})", describe(tar))
            others = values[~is_target]
            if tar == "target" and not ((others == 0).all() or (others == -1).all()):
                bad = ~is_target & (values != 0)
                raise _bad_rows("label", "be 1 or 0, or 1 or -1", str(values[bad][0]), bad, _TAR)
            if tar != "target":
                _check_others(np.unique(others).tolist(), non, name)
            return np.where(is_target, _TARGET, _NONTARGET)
        if tar == "target" and self._kind(self.column(name, "label")) == "b":
            # Truth values among which some are missing become objects.
            given = self.numbers(name, "label")
            if given.dtype == np.bool_:
                return np.where(given, _TARGET, _NONTARGET)
        codes, words = self.coded(name, "label")
        # Rows that were taken out leave their categories.
        used = np.flatnonzero(np.bincount(codes)).tolist()
        if tar != "target":
            meant = np.array([word == str(tar) for word in words], dtype=np.bool_)
            if not meant.any():
                expected = f"be a label of column {name!r} ({list_some(words)})"
                raise invalid("tar", expected, describe(tar))
            rest = [words[code] for code in used if not meant[code]]
            _check_others(rest, non, name)
            return np.where(meant, _TARGET, _NONTARGET)[codes]
        lower = [word.lower() for word in words]
        for known in VOCABULARIES:
            classes = [known.get(word, DROPPED) for word in lower]
            if any(classes[code] == DROPPED for code in used):
                continue
            of_row = np.array(classes, dtype=np.uint8)[codes]
            is_third = of_row == SPOOF
            if spoof == "error" and is_third.any():
                hint = (
                    'spoof="keep" tells the kinds of trials, spoof="nontarget" only that they are '
                    "to be rejected. Or leave out such rows."
                )
                word = repr(lower[codes[np.argmax(is_third)]])
                raise _bad_rows("label", "be of targets and non-targets", word, is_third, hint)
            return of_row
        expected = "hold target|nontarget, tgt|imp, 1|0, 1|-1, bonafide|spoof or true|false"
        raise invalid("label", expected, list_some(repr(words[code]) for code in used), _TAR)

    def described(self, name: object) -> Any:
        """Return a column: numbers as an array, all else as a factor."""
        if self.is_numeric(name, "columns"):
            return self.numbers(name, "columns")
        return Factor(*self.coded(name, "columns"))


def _coded(column: Any) -> tuple[AnyArray, list[Any]]:
    """Return codes, -1 where a value is missing, and the values that they stand for."""
    if getattr(getattr(column, "dtype", None), "storage", None) == "pyarrow":
        # Texts of pandas; it would widen the codes.
        column = column.array.__arrow_array__()
    if hasattr(column, "factorize"):  # pandas
        categories = getattr(column, "cat", None)
        if categories is not None:
            return categories.codes.to_numpy(), categories.categories.tolist()
        codes, levels = column.factorize()
        return codes, levels.tolist()
    if hasattr(column, "dictionary_encode"):  # pyarrow
        if not hasattr(column.type, "index_type"):
            column = column.dictionary_encode()
        if hasattr(column, "combine_chunks"):
            column = column.unify_dictionaries().combine_chunks()
        codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return codes, column.dictionary.to_pylist()
    if hasattr(column, "to_physical"):  # polars
        if str(column.dtype) == "String":
            column = column.cast(sys.modules["polars"].Categorical)
        present = column.drop_nulls()
        if str(column.dtype).startswith(("Categorical", "Enum")):
            # Codes may be positions in a list that several frames share.
            distinct = present.unique()
            numbers, levels = distinct.to_physical().to_numpy(), distinct.to_list()
            lookup = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.int32)
            lookup[numbers] = np.arange(numbers.size)
            found = lookup[present.to_physical().to_numpy()]
        else:
            factor = Factor.from_values(present.to_numpy())
            found, levels = factor.codes, factor.levels.tolist()
        if len(present) == len(column):
            return found, levels
        codes = np.full(len(column), -1, dtype=np.int32)
        codes[column.is_not_null().to_numpy()] = found
        return codes, levels
    factor = Factor.from_values(column if isinstance(column, np.ndarray) else list(column))
    return factor.codes, factor.levels.tolist()


def _check_others(others: Sequence[object], non: Any, name: object) -> None:
    """Raise unless the labels that do not mean target are one, or those that are named."""
    if non is None and len(others) > 1:
        expected = f"name the labels that mean non-target, where column {name!r} has several others"
        hint = "Leave out rows whose label is unknown."
        raise invalid("non", expected, list_some(map(repr, others)), hint)
    given = [non] if isinstance(non, str | Number) else [*(others if non is None else non)]
    known = [*given, *map(str, given)]
    if strangers := [label for label in others if label not in known]:
        expected = f"name all labels of column {name!r} but `tar`"
        hint = "Leave out rows whose label is unknown."
        raise invalid("non", expected, f"none of {list_some(map(repr, strangers))}", hint)


def _text(level: object, *, described: bool) -> str | None:
    """Return a value as the text of an id or, if so, of a description; None if it can be none."""
    is_text = isinstance(level, (str, int, np.integer))
    # Intervals and periods are pandas' own, which need not be installed.
    is_named = isinstance(level, date | np.datetime64) or type(level).__name__ in _PANDAS_TEXTS
    return str(level) if is_text or (described and is_named) else None


_PANDAS_TEXTS = ("Interval", "Period")


def _bad_rows(
    name: str, expected: str, got: str, bad: BoolArray, hint: str = ""
) -> InvalidInputError:
    """Build the error that names the first bad row, counted from 0."""
    found = f"{got} in row {np.argmax(bad)} ({np.count_nonzero(bad)} rows in all)"
    return invalid(name, expected, found, hint)


@attrs.frozen(eq=False)
class _Side:
    """The model of each row, or the segment: a code, and what it stands for."""

    codes: AnyArray
    ids: StrArray
    # The position of each code in the sorted `ids`; None if codes are positions already.
    ranks: AnyArray | None

    @classmethod
    def of(cls, coded: Coded) -> _Side:
        """Sort the ids."""
        codes, texts = coded
        ids = as_ids(texts, "ids")
        if bool((ids[:-1] < ids[1:]).all()):
            return cls(codes, ids, None)
        order = np.argsort(ids)
        ranks = np.empty(ids.size, dtype=np.int32)
        ranks[order] = np.arange(ids.size)
        return cls(codes, mark_read_only(ids[order]), ranks)

    @property
    def positions(self) -> AnyArray:
        """Position of the id of each row."""
        return self.codes if self.ranks is None else self.ranks.take(self.codes)

    def used(self) -> _Side:
        """Leave out the ids that no row has."""
        positions = self.positions
        used = np.zeros(self.ids.size, dtype=np.bool_)
        used[positions] = True
        if used.all():
            return self
        return _Side((np.cumsum(used) - 1)[positions], mark_read_only(self.ids[used]), None)


@attrs.frozen(eq=False)
class _Rows:
    """The model and the segment of each row."""

    models: _Side
    segments: _Side

    @classmethod
    def of(cls, *coded: Coded) -> _Rows:
        """Sort both lists of ids, and leave out those that occur nowhere."""
        models, segments = (_Side.of(side).used() for side in coded)
        return cls(models, segments)

    def order(self) -> trial_columns.TrialOrder:
        """Find the order of the trials, and the rows that repeat one."""
        return trial_columns.order_trials(
            self.models.positions, self.segments.positions, self.models.ids.size
        )

    def objects(
        self, labels: AnyArray | None, scores: Mapping[str, FloatArray]
    ) -> tuple[Ndx | Key, dict[str, Scores]]:
        """Return the trials and the scores."""
        ids = self.models.ids, self.segments.ids
        cells = trial_columns.trial_codes(
            self.models.positions, self.segments.positions, ids[0].size
        )
        rows: Any = slice(None)
        if not trial_columns.ascends(cells):
            rows, cells = trial_columns.sort_codes(cells)
            if not trial_columns.ascends(cells):
                raise self._repeated(labels)
        systems = {
            name: Scores._from_vector(ids, cells, values[rows]) for name, values in scores.items()
        }
        if labels is None:
            return Ndx._from_vector(ids, cells, np.broadcast_to(np.True_, cells.size)), systems
        return Key._from_vector(ids, cells, labels[rows]), systems

    def _repeated(self, labels: AnyArray | None) -> InvalidInputError:
        """Say which row lists a trial of another row again."""
        order, n_rows = self.order(), self.models.codes.size
        clash = order.conflicts(np.zeros(n_rows) if labels is None else labels)
        among = np.flatnonzero(clash) if clash.any() else np.arange(order.repeated.size)
        which = among[np.argmin(order.repeated[among])]
        again, first = order.repeated[which], order.first[which]
        model, segment = (side.ids[side.positions[again]] for side in (self.models, self.segments))
        label = " with another label" if clash.any() else ""
        found = (
            f"({model}, {segment}) of row {first} again in row {again}{label} "
            f"({order.repeated.size} rows repeat a trial)"
        )
        return invalid("df", "have one row for each trial", found)
