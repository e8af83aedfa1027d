"""What is known about trials besides their ids: gender, microphone, duration, ..."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from bosaris_py._validation import FilePath, describe, frozen, invalid, list_some
from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.storage import metadata_hdf5
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.formats import TrialTable
from bosaris_py.storage.metadata_hdf5 import COLUMN_KINDS
from bosaris_py.storage.trial_order import ascends, order_trials, trial_codes
from bosaris_py.trials._columns import (
    Column,
    Columns,
    ColumnsLike,
    as_columns,
    equal_columns,
    take,
    take_all,
)
from bosaris_py.trials.condition_members import WeightsLike
from bosaris_py.trials.conditions import Conditions, Lacking, Uncovered
from bosaris_py.trials.flat_key import FlatKey
from bosaris_py.trials.flat_ndx import FlatNdx
from bosaris_py.trials.forms import AnyNdx, check_ndx
from bosaris_py.trials.ids import IdIndex
from bosaris_py.trials.key import Key
from bosaris_py.trials.trial_places import describe_trials, trial_places

__all__ = ["TrialMetadata"]

_FORMS = ("Ndx", "Key", "FlatNdx", "FlatKey")
_HDF5 = (".h5", ".hdf5")


@attrs.frozen(eq=False, init=False, repr=False)
class TrialMetadata:
    """Columns that describe trials, their models and their segments.

    Parameters
    ----------
    trials : Ndx, Key, FlatNdx or FlatKey
        The trials that are described.
    trial_columns : mapping of str to Factor or (n_trials,) array_like, optional
        One value for each trial, column by column (the model runs fastest).
    model_columns : mapping of str to Factor or (m,) array_like, optional
        One value for each id of ``trials.modelset``.
    segment_columns : mapping of str to Factor or (n,) array_like, optional
        One value for each id of ``trials.segset``.

    Raises
    ------
    InvalidInputError
        If a column has another length, is neither text nor numbers, or two
        columns have the same name.

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

    trials: AnyNdx
    _trial_columns: Columns
    _model_columns: Columns
    _segment_columns: Columns

    def __init__(
        self,
        trials: AnyNdx,
        trial_columns: ColumnsLike | None = None,
        model_columns: ColumnsLike | None = None,
        segment_columns: ColumnsLike | None = None,
    ) -> None:
        check_ndx(trials, "TrialMetadata")
        given = (trial_columns or {}, model_columns or {}, segment_columns or {})
        sizes = (trials.n_trials, trials.modelset.size, trials.segset.size)
        tables = [
            as_columns(columns, kind, size)
            for columns, kind, size in zip(given, COLUMN_KINDS, sizes, strict=True)
        ]
        names = [name for table in tables for name in table]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            found = f"{list_some(map(repr, repeated))} more than once"
            hint = "A column belongs to trials, to models or to segments."
            raise invalid("columns", "TrialMetadata", "have different names", found, hint)
        self.__attrs_init__(trials, *tables)

    @classmethod
    def from_table(cls, table: TrialTable, trials: AnyNdx | None = None) -> "TrialMetadata":
        """Take the extra columns of a text file.

        Parameters
        ----------
        table : TrialTable
            The lines of the file.
        trials : Ndx, Key, FlatNdx or FlatKey, optional
            The trials that are to be described; by default those of the table, as a list.

        Returns
        -------
        TrialMetadata
            With the columns of the table, one value for each trial.

        Raises
        ------
        InvalidInputError
            If a trial is listed again with another value.
        TrialMismatchError
            If the table lacks some of `trials`.
        """
        order = order_trials(table.models, table.segments, table.modelset.size)
        for name, column in table.columns.items():
            values = column.codes if isinstance(column, Factor) else column
            if order.conflicts(values).any():
                count = np.count_nonzero(order.conflicts(values))
                found = f"another value in {count} lines of column {name!r}"
                expected = "have the same columns for a trial listed twice"
                raise invalid("table", "TrialMetadata.from_table", expected, found)
        if order.order is not None:
            table = table.take(order.order)
        listed = FlatNdx(table.modelset, table.segset, table.models, table.segments)
        metadata = cls(listed, table.columns)
        return metadata if trials is None else metadata.for_trials(trials)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call that builds the object again, so that arrays stay read-only."""
        return _restored, (self.trials, *(dict(table) for table in self._tables))

    def __repr__(self) -> str:
        """Show the columns."""
        parts = [f"TrialMetadata: {self.trials.n_trials} trials"]
        for kind, table in zip(COLUMN_KINDS, self._tables, strict=True):
            if table:
                parts.append(f"{', '.join(table)} by {kind}")
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
    def _tables(self) -> tuple[Columns, Columns, Columns]:
        return self._trial_columns, self._model_columns, self._segment_columns

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns: those of trials, of models, of segments."""
        return tuple(name for table in self._tables for name in table)

    def column(self, name: str) -> Column:
        """Return a column with one value for each trial.

        Parameters
        ----------
        name : str
            A column of any kind; the value of a model or segment is repeated for
            all its trials.

        Returns
        -------
        Factor, or (n_trials,) ndarray of a numeric type
            Column by column, the order of all vectors of trials.

        Raises
        ------
        InvalidInputError
            If there is no such column.
        """
        if name in self._trial_columns:
            return self._trial_columns[name]
        for number, table in enumerate((self._model_columns, self._segment_columns)):
            if name in table:
                return take(table[name], self.trials.trial_positions()[number])
        raise self._unknown(name, "column", self.names)

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

        Raises
        ------
        InvalidInputError
            If there is no such column, or it holds measured quantities.
        """
        column = self.column(name)
        if isinstance(column, Factor):
            return column
        if column.dtype.kind == "f":
            hint = "Add a column of classes, such as 'short' and 'long', by with_columns."
            found = f"{describe(column)} in column {name!r}"
            raise invalid("name", "TrialMetadata.factor", "name categories", found, hint)
        return Factor.from_values(column)

    def model_column(self, name: str) -> Column:
        """Return a column with one value for each model.

        Parameters
        ----------
        name : str
            A column of the models.

        Returns
        -------
        Factor, or (m,) ndarray of a numeric type
            In the order of ``trials.modelset``.

        Raises
        ------
        InvalidInputError
            If the models have no such column.
        """
        if name not in self._model_columns:
            raise self._unknown(name, "model_column", tuple(self._model_columns))
        return self._model_columns[name]

    def segment_column(self, name: str) -> Column:
        """Return a column with one value for each segment.

        Parameters
        ----------
        name : str
            A column of the segments.

        Returns
        -------
        Factor, or (n,) ndarray of a numeric type
            In the order of ``trials.segset``.

        Raises
        ------
        InvalidInputError
            If the segments have no such column.
        """
        if name not in self._segment_columns:
            raise self._unknown(name, "segment_column", tuple(self._segment_columns))
        return self._segment_columns[name]

    def _unknown(self, name: object, method: str, known: tuple[str, ...]) -> InvalidInputError:
        """Return the error for a column that does not exist."""
        expected = f"be a column ({', '.join(known) or 'there is none'})"
        return invalid("name", f"TrialMetadata.{method}", expected, describe(name))

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

        Raises
        ------
        InvalidInputError
            As for the class.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> ndx = Ndx(["anna"], ["s1", "s2"])
        >>> metadata = TrialMetadata(ndx, segment_columns={"duration": [3.5, 12.0]})
        >>> short = metadata.segment_column("duration") < 10
        >>> classes = ["short" if flag else "long" for flag in short]
        >>> metadata.with_columns(segment_columns={"length": classes}).factor("length").counts()
        array([1, 1])
        """
        added = (trial_columns, model_columns, segment_columns)
        tables = [
            {**table, **(columns or {})} for table, columns in zip(self._tables, added, strict=True)
        ]
        return TrialMetadata(self.trials, *tables)

    def for_trials(self, other: AnyNdx) -> "TrialMetadata":
        """Bring the columns into the order of other trials, which are found by their ids.

        Parameters
        ----------
        other : Ndx, Key, FlatNdx or FlatKey
            The trials that are wanted, for instance the key of one evaluation.

        Returns
        -------
        TrialMetadata
            Of `other`.

        Raises
        ------
        TrialMismatchError
            If trials, models or segments of `other` are not described, with counts
            and the first of them.
        """
        check_ndx(other, "TrialMetadata.for_trials")
        trial_columns = self._trial_columns
        if trial_columns:
            places = trial_places(self.trials, other)
            if places is not None:
                if (places < 0).any():
                    message = f"The metadata do not describe {describe_trials(other, places < 0)}."
                    raise TrialMismatchError(message)
                trial_columns = take_all(trial_columns, places)
        rows = ("models", self._model_columns, self.trials.modelset, other.modelset)
        cols = ("segments", self._segment_columns, self.trials.segset, other.segset)
        tables = []
        for noun, table, ids, wanted in (rows, cols):
            positions = IdIndex.of(ids).locate(IdIndex.of(wanted)) if table else None
            if positions is not None and (positions < 0).any():
                absent = wanted[positions < 0]
                message = (
                    f"The metadata do not describe {absent.size} of {wanted.size} {noun}: "
                    f"{list_some(absent)}."
                )
                raise TrialMismatchError(message)
            tables.append(table if positions is None else take_all(table, positions))
        return TrialMetadata(other, trial_columns, *tables)

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
            Names of columns of categories, for instance ``"gender",
            "phone_num_match"``.
        weights : mapping of str to float, or sequence of float, optional
            The weight of each combination that occurs; equal by default.
        uncovered : {"error", "ignore"}, default: "error"
            What to do with trials of a key that are not described here.
        lacking : {"warn", "ignore", "error"}, default: "warn"
            What to do with conditions that have trials of one class only.

        Returns
        -------
        Conditions
            See `Conditions.from_factors`. They fit any key whose trials are
            described here.

        Raises
        ------
        InvalidInputError
            If no column is named, there is no such column, or it holds measured
            quantities; or weights are bad.
        """
        if not factors:
            expected = f"name at least one column ({', '.join(self.names)})"
            raise invalid("factors", "TrialMetadata.conditions", expected, "none")
        return Conditions.from_factors(
            self.trials,
            {name: self.factor(name) for name in factors},
            weights,
            uncovered=uncovered,
            lacking=lacking,
        )

    def save(self, path: FilePath) -> None:
        """Save trials and columns in an HDF5 file, replacing an existing one in one step.

        Parameters
        ----------
        path : str or path-like
            Name of the file: ``.h5`` or ``.hdf5``.

        Raises
        ------
        InvalidInputError
            If the extension is another one, or a name of a column or a text cannot
            be stored.
        OSError
            If the file cannot be written.
        """
        _check_extension(path, "save")
        models, segments = self.trials.trial_positions()
        trials = self.trials
        labels = trials.trial_labels() if isinstance(trials, (Key, FlatKey)) else None
        metadata_hdf5.write_metadata(
            path,
            form=type(self.trials).__name__,
            modelset=self.trials.modelset,
            segset=self.trials.segset,
            models=models,
            segments=segments,
            is_target=labels,
            columns=dict(zip(COLUMN_KINDS, self._tables, strict=True)),
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

        Raises
        ------
        InvalidInputError
            If the extension is another one.
        FileFormatError
            If the file does not hold metadata, or is damaged.
        """
        _check_extension(path, "read")
        arrays = metadata_hdf5.read_metadata(path, max_bytes=max_bytes)
        try:
            trials = _as_trials(arrays, path)
            return cls(trials, *(arrays["columns"][kind] for kind in COLUMN_KINDS))
        except InvalidInputError as error:
            message = f"{path}: {error}"
            raise FileFormatError(message) from error


def _as_trials(arrays: Mapping[str, Any], path: FilePath) -> AnyNdx:
    """Return the trials of a file in the form in which they were saved."""
    ids = arrays["modelset"], arrays["segset"]
    positions = arrays["models"], arrays["segments"]
    form, labels = arrays["form"], arrays["is_target"]
    if (form in ("Key", "FlatKey")) != (labels is not None) or form not in _FORMS:
        found = "with" if labels is not None else "without"
        message = f"{path}: the attribute form is {form!r}, {found} `/trials/is_target`"
        raise FileFormatError(message)
    # Other orders would part the trials from their columns.
    if not ascends(trial_codes(*positions, ids[0].size)):
        message = f"{path}: trials must come by segment, then by model, each once"
        raise FileFormatError(message)
    flat = FlatNdx(*ids, *positions) if labels is None else FlatKey(*ids, *positions, labels)
    size = flat.modelset.size * flat.segset.size
    return flat if form.startswith("Flat") else flat.to_dense(max_cells=max(1, size))


def _restored(trials: AnyNdx, *tables: dict[str, Column]) -> TrialMetadata:
    """Build an object from what a pickle or a deep copy has just made."""
    return TrialMetadata(
        trials,
        *(
            {name: c if isinstance(c, Factor) else frozen(c) for name, c in table.items()}
            for table in tables
        ),
    )


def _check_extension(path: FilePath, method: str) -> None:
    """Refuse a file name of another format than HDF5."""
    if Path(path).suffix.lower() not in _HDF5:
        expected = f"end in {' or '.join(_HDF5)}"
        raise invalid("path", f"TrialMetadata.{method}", expected, repr(str(path)))
