"""Columns of facts about trials, models and segments, and comparison of trial lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, BoolArray, FloatArray, StrArray, read_only
from bosaris_py._cautions import warn_caller
from bosaris_py._validation import FilePath
from bosaris_py.errors import BosarisWarning, FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.files import hdf5
from bosaris_py.files.columns import Factor, equal_columns, order_trials
from bosaris_py.files.hdf5 import COLUMN_KINDS
from bosaris_py.files.text import Table
from bosaris_py.trials.alignment import IdList
from bosaris_py.trials.conditions import (
    Column,
    Conditions,
    Lacking,
    Uncovered,
    WeightsLike,
    as_factor,
    in_order,
    take_items,
    unmasked,
)
from bosaris_py.trials.key import Key, Ndx, as_key, as_labels, as_ndx, describe_trials
from bosaris_py.trials.scores import (
    Scores,
    scored_ndx,
    scored_trials,
    trials_within,
    why_none_scored,
)

_BY_ID = "TrialMetadata.from_trials(models, segments, columns) finds trials by their ids."

_FORMS = ("Ndx", "Key", "FlatNdx", "FlatKey")

_HDF5 = (".h5", ".hdf5")

# Trials of each kind that a comparison names.
_SHOWN = 5

Pair = tuple[str, str]

Columns: TypeAlias = Mapping[str, Column]

ColumnsLike: TypeAlias = Mapping[str, Factor | npt.ArrayLike | Mapping[str, object]]


def _as_columns(
    columns: ColumnsLike,
    kind: str,
    size: int | None,
    ids: StrArray | None = None,
    argument: str = "",
) -> Columns:
    """Return checked columns of one kind under a mapping that cannot be changed."""
    whole = argument or f"{kind}_columns"
    listed: object = columns
    if not isinstance(listed, Mapping):
        raise check.invalid(whole, "map names to columns", check.describe(listed))
    checked = {}
    for name, values in listed.items():
        if not isinstance(name, str) or not name:
            raise check.invalid(whole, "be named by text", check.describe(name))
        argument = f"{whole}[{name!r}]"
        # Without an argument of its own, a column of trials is in the order of the trials.
        if whole == "trial_columns":
            check.refuse_series(values, argument, _BY_ID)
        given: object = values
        if ids is not None and (isinstance(given, Mapping) or check.is_column(given)):
            values = _of_ids(given, argument, kind, ids)
        column = _as_column(values, argument)
        if size is not None and len(column) != size:
            expected = f"have one value for each of the {size} {kind}s"
            raise check.invalid(argument, expected, str(len(column)))
        checked[name] = column
    return MappingProxyType(checked)


def _of_ids(values: Any, name: str, kind: str, ids: StrArray) -> list[Any]:
    """Return a value for each id, of a mapping or of a Series with ids as its index."""
    is_mapping, index = isinstance(values, Mapping), check.row_labels(values)
    pairs = () if index is None else zip(index, values, strict=True)
    found = dict(values if is_mapping else pairs)
    if not (is_mapping or any(one in found for one in ids.tolist())):
        remedy = f"A dict {{id: value}}, or a Series with the ids as its index, gives each {kind} "
        check.refuse_series(values, name, f"{remedy}its own; {_BY_ID}", kind)
    absent = [one for one in ids.tolist() if one not in found]
    if absent:
        found_in = f"none for {len(absent)} of {ids.size}: {check.list_some(absent)}"
        raise check.invalid(name, f"have a value for each {kind}", found_in)
    if len(found) < len(values):
        raise check.invalid(
            name, "have each id once", check.list_some(map(repr, check.repetitions(index)))
        )
    # Not `get`: of a mapping, None may be a value.
    return [found[one] for one in ids.tolist()]


def _as_column(values: object, name: str) -> Column:
    """Return a column: numbers as a read-only array, everything else as a factor."""
    if isinstance(values, Factor):
        return values
    if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
        raise check.invalid(name, "be a list of values", check.describe(values))
    values = unmasked(values, name)
    array = values if isinstance(values, np.ndarray) else _as_array(values)
    if array.ndim != 1:
        raise check.invalid(name, "be one-dimensional", check.describe(array))
    if array.dtype.kind == "f":
        # float32 stays as it is. float16 is slow in numpy, and longer types differ between
        # machines.
        short = array.dtype.itemsize <= np.dtype(np.float32).itemsize
        return read_only(array.astype(np.float32 if short else np.float64, copy=False))
    if array.dtype.kind in "iu":
        return read_only(array.astype(array.dtype.newbyteorder("="), copy=False))
    return as_factor(values, name)


def _as_array(values: Any) -> AnyArray:
    """Return numbers as an array, and anything else as an array of objects."""
    listed = list(values)
    numbers = int, float, np.integer, np.floating
    if all(isinstance(value, numbers) and not isinstance(value, bool) for value in listed):
        return np.array(listed)
    # With None in front, numpy keeps the objects and does not make text of numbers among them.
    return np.array([None, *listed], dtype=object)[1:]


@attrs.frozen(eq=False, init=False, repr=False)
class TrialMetadata:
    """Columns that describe trials, their models and their segments.

    Parameters
    ----------
    trials : Ndx or Key
        The trials that are described.
    trial_columns : mapping of str to Factor or (n_trials,) array_like, optional
        One value for each trial, column by column (the model runs fastest).
    model_columns : mapping of str to Factor, (m,) array_like, or mapping, optional
        One value for each id of ``trials.modelset``, in its order; or ``{id: value}``, or a Series
        with the ids as its index, which may have more.
    segment_columns : mapping of str to Factor, (n,) array_like, or mapping, optional
        The same for ``trials.segset``.

    Notes
    -----
    Text and truth values are kept as a `Factor`: one or two bytes for each
    trial, whatever the length of the text. Numbers are kept in their type, as
    read-only arrays, and may be NaN where nothing is known. What belongs to a
    model or a segment is stored once for each of them.

    Examples
    --------
    >>> from bosaris_py.trials import Key
    >>> key = Key(["anna", "bert"], ["s1", "s2"],
    ...           tar=[[True, False], [False, True]],
    ...           non=[[False, True], [True, False]])
    >>> metadata = TrialMetadata(
    ...     key,
    ...     trial_columns={"phone_match": ["Y", "N", "N", "Y"]},
    ...     model_columns={"gender": ["f", "m"]},
    ...     segment_columns={"duration": [3.5, 12.0]},
    ... )
    >>> metadata
    TrialMetadata: 4 trials; phone_match by trial; gender by model; duration by segment
    >>> metadata.column("duration").tolist()
    [3.5, 3.5, 12.0, 12.0]
    >>> metadata.conditions("gender", "phone_match").names
    ('f, N', 'f, Y', 'm, N', 'm, Y')
    """

    trials: Ndx | Key
    # Columns of the trials, of the models, of the segments.
    _tables: tuple[Columns, ...]

    def __init__(
        self,
        trials: Ndx | Key,
        trial_columns: ColumnsLike | None = None,
        model_columns: ColumnsLike | None = None,
        segment_columns: ColumnsLike | None = None,
    ) -> None:
        trials = as_ndx(trials)
        given = (trial_columns or {}, model_columns or {}, segment_columns or {})
        sizes = (trials.n_trials, trials.modelset.size, trials.segset.size)
        id_lists = None, *trials.ids
        tables = tuple(map(_as_columns, given, COLUMN_KINDS, sizes, id_lists))
        names = [name for table in tables for name in table]
        repeated = sorted(check.repetitions(names))
        if repeated:
            found = f"{check.list_some(map(repr, repeated))} more than once"
            hint = "A column belongs to trials, to models or to segments."
            raise check.invalid("columns", "have different names", found, hint)
        self.__attrs_init__(trials, tables)

    @classmethod
    def from_trials(
        cls, models: IdList, segments: IdList, columns: ColumnsLike, key: Ndx | Key | None = None
    ) -> "TrialMetadata":
        """Take columns of a table of trials in any order, such as a data frame.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            Model and test segment of each line.
        columns : mapping of str to Factor or (k,) array_like
            One value for each line.
        key : Ndx or Key, optional
            The trials that are to be described, which are found by their ids; by default those of
            the table.

        Returns
        -------
        TrialMetadata
            One value of each column for each trial.

        Raises
        ------
        TrialMismatchError
            If the table lacks some of the trials of `key`.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> table = {"model": ["bert", "anna"], "segment": ["s1", "s1"], "gender": ["m", "f"]}
        >>> metadata = TrialMetadata.from_trials(
        ...     table["model"], table["segment"], {"gender": table["gender"]}, Ndx(["anna"], ["s1"])
        ... )
        >>> metadata.factor("gender").values().tolist()
        ['f']
        """
        if isinstance(columns, Mapping):
            named = {f"columns[{name!r}]": values for name, values in columns.items()}
            check.check_same_rows({"models": models, "segments": segments, **named})
        checked = _as_columns(columns, "trial", None, argument="columns")
        metadata = cls(*in_order(models, segments, checked, "columns"))
        return metadata if key is None else metadata.for_trials(key)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as a call that builds the object again, so that arrays stay read-only."""
        # A call of the class, because numpy drops the flag that makes arrays read-only.
        return TrialMetadata, (self.trials, *map(dict, self._tables))

    def __repr__(self) -> str:
        """Show the columns."""
        parts = [f"TrialMetadata: {self.trials.n_trials} trials"]
        for kind, table in zip(COLUMN_KINDS, self._tables, strict=True):
            if table:
                parts.append(f"{', '.join(map(check.safe, table))} by {kind}")
        return "; ".join(parts)

    def __eq__(self, other: object) -> bool:
        """Compare trials and columns; NaN equals NaN."""
        if not isinstance(other, TrialMetadata):
            return NotImplemented
        return self.trials == other.trials and all(
            mine.keys() == theirs.keys()
            and all(equal_columns(mine[name], theirs[name]) for name in mine)
            for mine, theirs in zip(self._tables, other._tables, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns: those of trials, of models, of segments."""
        return tuple(name for table in self._tables for name in table)

    def column(self, name: str) -> Column:
        """Return a column with one value for each trial.

        Parameters
        ----------
        name : str
            A column of any kind; the value of a model or segment is repeated for all its trials.
            ``"model"`` and ``"segment"`` are the ids, unless a column is so named.

        Returns
        -------
        Factor, or (n_trials,) ndarray of a numeric type
            Column by column, the order of all vectors of trials.
        """
        for kind, table in enumerate(self._tables):
            if name in table:
                column = table[name]
                return (
                    take_items(column, self.trials.trial_positions()[kind - 1]) if kind else column
                )
        if name in (sides := ("model", "segment")):
            side = sides.index(name)
            ids = Factor.from_values(self.trials.ids[side])
            return take_items(ids, self.trials.trial_positions()[side])
        raise _unknown_column(name, self.names)

    def factor(self, name: str) -> Factor:
        """Return a column of categories with one value for each trial.

        Parameters
        ----------
        name : str
            A column of text, truth values or whole numbers, of any kind.

        Returns
        -------
        Factor
            Column by column. Whole numbers become their text.
        """
        return _as_categories(self.column(name), name)

    def model_column(self, name: str) -> Column:
        """Return a column of the models, with one value for each.

        Parameters
        ----------
        name : str
            The column.

        Returns
        -------
        Factor, or ndarray of a numeric type
            In the order of ``trials.modelset``.
        """
        return _find_column(self._tables[1], name)

    def segment_column(self, name: str) -> Column:
        """Return a column of the segments, with one value for each.

        Parameters
        ----------
        name
            As for `model_column`.

        Returns
        -------
        Factor, or ndarray of a numeric type
            In the order of ``trials.segset``.
        """
        return _find_column(self._tables[2], name)

    def with_columns(
        self,
        trial_columns: ColumnsLike | None = None,
        model_columns: ColumnsLike | None = None,
        segment_columns: ColumnsLike | None = None,
    ) -> "TrialMetadata":
        """Add columns, or replace those of the same name and kind.

        Parameters
        ----------
        trial_columns, model_columns, segment_columns : mapping, optional
            As for the class.

        Returns
        -------
        TrialMetadata

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> metadata = TrialMetadata(Ndx(["anna"], ["s1", "s2"]))
        >>> metadata.with_columns(segment_columns={"length": ["short", "long"]}).names
        ('length',)
        """
        added = (trial_columns, model_columns, segment_columns)
        tables = [
            {**table, **(columns or {})} for table, columns in zip(self._tables, added, strict=True)
        ]
        return TrialMetadata(self.trials, *tables)

    def for_trials(self, other: Ndx | Key) -> "TrialMetadata":
        """Bring the columns into the order of other trials, which are found by their ids.

        Parameters
        ----------
        other : Ndx or Key
            The trials that are wanted, for instance the key of one evaluation.

        Returns
        -------
        TrialMetadata
            Of `other`.

        Raises
        ------
        TrialMismatchError
            If trials, models or segments of `other` are not described, with counts and the first of
            them.
        """
        other = as_ndx(other)
        lines = self.trials.locate(other) if self._tables[0] else None
        if lines is not None and (lines < 0).any():
            message = f"The metadata do not describe {describe_trials(other, lines < 0)}."
            raise TrialMismatchError(message)
        positions = [lines]
        for noun, table, ids, wanted in (
            ("models", self._tables[1], self.trials.model_index, other.model_index),
            ("segments", self._tables[2], self.trials.segment_index, other.segment_index),
        ):
            found = ids.locate(wanted) if table else None
            if found is not None and (found < 0).any():
                absent = wanted.ids[found < 0]
                raise TrialMismatchError(
                    f"The metadata do not describe {absent.size} of {wanted.ids.size} {noun}: "
                    f"{check.list_some(absent)}."
                )
            positions.append(found)
        tables = (
            table
            if at is None
            else {name: take_items(column, at) for name, column in table.items()}
            for table, at in zip(self._tables, positions, strict=True)
        )
        return TrialMetadata(other, *tables)

    def conditions(
        self,
        *factors: str,
        weights: WeightsLike | None = None,
        uncovered: Uncovered = "error",
        lacking: Lacking = "warn",
    ) -> Conditions:
        """Make a condition of each combination of the values of columns.

        Parameters
        ----------
        *factors : str
            Names of columns of categories, for instance ``"gender", "phone_num_match"``.
        weights, uncovered, lacking
            As for `Conditions.from_factors`.

        Returns
        -------
        Conditions
            They fit any key whose trials are described here.
        """
        if not factors:
            raise check.invalid(
                "factors", f"name at least one column ({', '.join(self.names)})", "none"
            )
        columns = {name: self.factor(name) for name in factors}
        for name, column in columns.items():
            blank = np.flatnonzero(column.levels == "")
            if n_blank := int(np.isin(column.codes, blank).sum()):
                warn_caller(
                    f"{n_blank} of {len(column)} trials have no value in column {name!r}; they "
                    "are a condition of their own, with its weight.",
                    BosarisWarning,
                )
        return Conditions.from_factors(
            self.trials, columns, weights, uncovered=uncovered, lacking=lacking
        )

    def save(self, path: FilePath) -> None:
        """Save trials and columns in an HDF5 file, replacing an existing one in one step.

        Parameters
        ----------
        path : str or path-like
            Name of the file: ``.h5`` or ``.hdf5``.
        """
        _check_extension(path)
        trials = self.trials
        models, segments = trials.trial_positions()
        labels = trials.is_target if isinstance(trials, Key) else None
        hdf5.write_metadata(
            path,
            form="Flat" * trials.is_sparse + type(trials).__name__,
            modelset=trials.modelset,
            segset=trials.segset,
            models=models,
            segments=segments,
            is_target=labels,
            columns={
                kind: {
                    name: (column.codes, column.levels) if isinstance(column, Factor) else column
                    for name, column in table.items()
                }
                for kind, table in zip(COLUMN_KINDS, self._tables, strict=True)
            },
        )

    @classmethod
    def read(cls, path: FilePath, *, max_bytes: int | None = None) -> "TrialMetadata":
        """Read what `save` has written.

        Parameters
        ----------
        path : str or path-like
            Name of the file: ``.h5`` or ``.hdf5``.
        max_bytes : int, optional
            Refuse a file whose contents would take more memory than this.

        Returns
        -------
        TrialMetadata
        """
        _check_extension(path)
        arrays = hdf5.read_metadata(path, max_bytes=max_bytes)
        try:
            trials = _as_trials(arrays, path)
            tables = (
                {
                    name: Factor(*column) if isinstance(column, tuple) else column
                    for name, column in arrays["columns"][kind].items()
                }
                for kind in COLUMN_KINDS
            )
            return cls(trials, *tables)
        except InvalidInputError as error:
            raise FileFormatError(f"{path}: {error}") from error


def _as_categories(column: Column, name: str) -> Factor:
    """Return a column of categories; raise if it holds measured quantities."""
    if isinstance(column, Factor):
        return column
    if column.dtype.kind == "f":
        hint = "Add a column of classes, such as 'short' and 'long', by with_columns."
        raise check.invalid(
            "name", "name categories", f"{check.describe(column)} in column {name!r}", hint
        )
    return Factor.from_values(column)


def _unknown_column(name: object, known: Iterable[str]) -> InvalidInputError:
    """Return the error for a column that does not exist."""
    expected = f"be a column ({', '.join(known) or 'there is none'})"
    hint = "Columns come from a key file that has them, or from from_frame(df, columns=[...])."
    return check.invalid("name", expected, check.describe(name), "" if known else hint)


def _find_column(table: Columns, name: str) -> Column:
    """Return a column of a table."""
    if name not in table:
        raise _unknown_column(name, table)
    return table[name]


def _as_trials(arrays: dict[str, Any], path: FilePath) -> Ndx | Key:
    """Return the trials of a file."""
    ids = arrays["modelset"], arrays["segset"]
    positions = arrays["models"], arrays["segments"]
    # A damaged or foreign file must not make another class than it says.
    form, labels = arrays["form"], arrays["is_target"]
    if (form in ("Key", "FlatKey")) != (labels is not None) or form not in _FORMS:
        found = "with" if labels is not None else "without"
        message = f"{path}: the attribute form is {form!r}, {found} `/trials/is_target`"
        raise FileFormatError(message)
    # In another order the constructors would sort the trials, but not the columns beside them.
    if order_trials(*positions, ids[0].size).order is not None:
        raise FileFormatError(f"{path}: trials must come by segment, then by model, each once")
    if labels is None:
        return Ndx._from_list(arrays, None, "")
    return Key._from_list(arrays, as_labels(labels), "is_target")


def _check_extension(path: FilePath) -> None:
    """Refuse a file name of another format than HDF5."""
    if check.as_path(path).suffix.lower() not in _HDF5:
        raise check.invalid("path", f"end in {' or '.join(_HDF5)}", repr(str(path)))


def to_table(
    trials: Ndx | Key | None = None,
    *,
    scores: Scores | None = None,
    metadata: TrialMetadata | None = None,
) -> Table:
    """Return trials, scores or both as a table, which can be written in any text format.

    Parameters
    ----------
    trials : Ndx or Key, optional
        The trials; labels are those of a key. By default all that have scores.
    scores : Scores, optional
        The scores. Trials without one have NaN.
    metadata : TrialMetadata, optional
        Describes the trials; its columns become columns of the table.

    Returns
    -------
    Table
        One line for each trial, column by column.

    Raises
    ------
    TrialMismatchError
        If the metadata do not describe all the trials.

    Warns
    -----
    MissingTrialsWarning
        If trials have no scores.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False])
    >>> bp.trials.to_table(key)
    Table: 2 lines, 1 models x 2 segments, 1 targets, 1 non-targets
    """
    if trials is None:
        if scores is None:
            raise check.invalid("trials", "be given where there are no `scores`", "None")
        trials = scored_ndx(scores)
    trials = as_ndx(trials)
    values: FloatArray | None = None
    if scores is not None:
        found = scored_trials(scores, trials)
        values = scores.get_scores(trials)
        if found is not None and not found.all():
            present = values
            values = np.full(trials.n_trials, np.nan, dtype=present.dtype)
            values[found] = present
    columns = {}
    if metadata is not None:
        if not isinstance(metadata, TrialMetadata):
            raise check.invalid("metadata", "be a TrialMetadata", check.describe(metadata))
        described = metadata.for_trials(trials)
        columns = {name: described.column(name) for name in described.names}
    models, segments = trials.trial_positions()
    labels = trials.is_target if isinstance(trials, Key) else None
    sides = models, trials.modelset, segments, trials.segset
    left, right = Factor.of_distinct(*sides[:2]), Factor.of_distinct(*sides[2:])
    return Table(left, right, labels, values, columns)


@attrs.frozen(kw_only=True)
class TrialComparison:
    """The trials of scores beside those of a key.

    Parameters
    ----------
    n_common : int
        Trials of the key that have a score.
    n_tar_missing, n_non_missing : int
        Targets and non-targets of the key that have none.
    n_unknown : int
        Scores of trials that the key does not have.
    missing, unknown : tuple of (model, segment)
        The first five of these trials, column by column.
    has_labels : bool
        Whether labels of the trials are known; without, `n_non_missing` counts all that is missing.
    n_infinite : int
        Scores that are infinite.
    n_nan : int
        Scores that are NaN, which no metric takes.
    is_constant : bool
        Whether all of several scores are the same.
    why_none : str
        In what the ids differ, if no trial has a score.
    """

    n_common: int
    n_tar_missing: int
    n_non_missing: int
    missing: tuple[Pair, ...]
    n_unknown: int
    unknown: tuple[Pair, ...]
    has_labels: bool = True
    n_infinite: int = 0
    n_nan: int = 0
    is_constant: bool = False
    why_none: str = ""

    @property
    def n_missing(self) -> int:
        """Number of trials of the key that have no score."""
        return self.n_tar_missing + self.n_non_missing

    @property
    def is_equal(self) -> bool:
        """Whether both have the same trials."""
        return not self.n_missing and not self.n_unknown

    @property
    def lines(self) -> list[str]:
        """The counts and the first examples, in a few sentences."""
        lines = [f"{self.n_common} trials of the {self._whose} have a score."]
        if self.n_missing:
            classes = f" ({self.n_tar_missing} targets, {self.n_non_missing} non-targets)"
            lines.append(
                f"{self.n_missing} have none{classes if self.has_labels else ''}: "
                f"{_names(self.missing, self.n_missing)}."
            )
        if self.n_unknown:
            lines.append(
                f"{self.n_unknown} scores are of trials that the {self._whose} does not have: "
                f"{_names(self.unknown, self.n_unknown)}."
            )
        return lines

    @property
    def _whose(self) -> str:
        return "key" if self.has_labels else "list"

    @property
    def problems(self) -> list[str]:
        """What is wrong with the scores as an answer to these trials; empty if nothing is."""
        found = self.lines[1:]
        if self.n_nan:
            found.append(f"{self.n_nan} scores are NaN.")
        if self.n_infinite:
            found.append(f"{self.n_infinite} scores are infinite.")
        if self.is_constant:
            found.append("All scores are the same number.")
        if not self.n_common:
            why = self.why_none or "Are the ids written alike in both files?"
            found.append(f"No trial has a score. {why}")
        return found

    def __str__(self) -> str:
        """Return `lines`, one below the other."""
        return "\n".join(self.lines)


def compare_trials(
    scores: Scores, key: Ndx | Key | tuple[Ndx | Key, TrialMetadata]
) -> TrialComparison:
    """Tell which trials scores and a key, or a list, have in common, and which only one has.

    Parameters
    ----------
    scores : Scores
        The scores.
    key : Ndx or Key, or pair of it and its metadata
        The trials that are to be judged, as `read_key` or `read_trials` gives them; labels need
        not be known.

    Returns
    -------
    TrialComparison
        Counts and first examples; printed it is a short report.

    Notes
    -----
    Scores that the key lacks are usual: a system may score all pairs. Trials of the key
    without a score are a gap that no metric counts.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False])
    >>> scores = bp.Scores.from_trials(["m1", "m2"], ["s1", "s1"], [2.0, 0.5])
    >>> print(bp.compare_trials(scores, key))
    1 trials of the key have a score.
    1 have none (0 targets, 1 non-targets): (m1, s2).
    1 scores are of trials that the key does not have: (m2, s1).
    """
    found = key[0] if isinstance(key, tuple) and key else key
    has_labels = not isinstance(found, Ndx)
    key = as_key(key) if has_labels else as_ndx(key)
    scored = scored_ndx(scores)
    is_missing = ~trials_within(scored, key)
    is_unknown = ~trials_within(key, scored)
    n_missing = int(np.count_nonzero(is_missing))
    n_tar_missing = 0
    if isinstance(key, Key):
        n_tar_missing = int(np.count_nonzero(is_missing & key.is_target))
    values = scores.values
    return TrialComparison(
        n_common=key.n_trials - n_missing,
        n_tar_missing=n_tar_missing,
        n_non_missing=n_missing - n_tar_missing,
        missing=_first_pairs(key, is_missing),
        n_unknown=int(np.count_nonzero(is_unknown)),
        unknown=_first_pairs(scored, is_unknown),
        has_labels=has_labels,
        n_infinite=int(np.count_nonzero(np.isinf(values))),
        n_nan=int(np.count_nonzero(np.isnan(values))),
        is_constant=bool(values.size > 1 and values.min() == values.max()),
        why_none=why_none_scored(scores, key) if n_missing == key.n_trials else "",
    )


def _first_pairs(trials: Ndx | Key, chosen: BoolArray) -> tuple[Pair, ...]:
    """Return the first trials under a vector mask."""
    models, segments = trials.trial_positions()
    lines = np.flatnonzero(chosen)[:_SHOWN].tolist()
    return tuple(
        (str(trials.modelset[models[line]]), str(trials.segset[segments[line]])) for line in lines
    )


def _names(pairs: tuple[Pair, ...], count: int) -> str:
    """Return pairs in words, with an ellipsis if there are more."""
    text = check.list_some((f"({model}, {segment})" for model, segment in pairs), _SHOWN)
    return f"{text}, ..." if count > len(pairs) else text
