"""HDF5 files of trial metadata: the trials as lists, and columns beside them.

====================================  =================================================
data set                              content
====================================  =================================================
``/ID/row_ids``, ``/ID/column_ids``   strings: models and segments
``/trials/models``                    integers: model of each trial, its position from 0
``/trials/segments``                  integers: segment of each trial, likewise
``/trials/is_target``                 uint8 0, 1: only where the answers are known
``/columns/<kind>/names``             strings: names of the columns, in their order
``/columns/<kind>/<i>/codes``         unsigned integers: positions in the levels
``/columns/<kind>/<i>/levels``        strings: the categories
``/columns/<kind>/<i>/values``        integers or floats: of a column that is measured
====================================  =================================================

``<kind>`` is ``trial``, ``model`` or ``segment``: columns have an element for each trial,
model or segment. ``<i>`` is the number of the column from 0; names are no parts of
paths, because they may be any text. A column has either codes and levels, or values.

Trials come by segment, then by model, as in all vectors of trials. The attribute ``form``
of the root names the class that holds them: ``Ndx``, ``Key``, ``FlatNdx`` or ``FlatKey``.
Other attributes, strings, and what is refused when reading, are as in all HDF5 files of
this package. Integers are compressed with gzip, after sorting bytes by their place.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage._guarded_hdf5 import GuardedDataset, GuardedFile, open_guarded
from bosaris_py.storage._hdf5_layouts import check_ids, expect_kind, find_layout, require
from bosaris_py.storage._hdf5_output import (
    put_array,
    put_attribute,
    put_ids,
    put_strings,
    put_vector,
    write_hdf5,
)
from bosaris_py.storage.factors import Factor

__all__ = ["COLUMN_KINDS", "read_metadata", "write_metadata"]

COLUMN_KINDS = ("trial", "model", "segment")

Columns = Mapping[str, Factor | npt.NDArray[Any]]


def read_metadata(path: FilePath, *, max_bytes: int | None = None) -> dict[str, Any]:
    """Read trials and their columns.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Refuse a file whose arrays need more memory; None stands for the memory of
        the machine, together with a check that stored bytes back what is declared.

    Returns
    -------
    dict
        `form` (str), `modelset` (m,) and `segset` (n,) of str, `models` and
        `segments` (k,) of int, `is_target` (k,) of bool or None, and `columns`: for
        each kind a dict of names to `Factor` or numeric array. All read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_guarded(path, max_bytes) as source:
        expect_kind(source, "trial_metadata")
        for name in ("trials/models", "trials/segments", "columns/trial/names"):
            require(source, "trial_metadata", name)
        model_ids, segment_ids = check_ids(source, find_layout(source, "trial_metadata"))
        trials = {name: source.integers(f"trials/{name}") for name in ("models", "segments")}
        for vector in trials.values():
            _check_vector(vector, trials["models"].count)
        labels = None
        if source.holds("trials/is_target"):
            labels = source.mask("trials/is_target")
            _check_vector(labels, trials["models"].count)
        sizes = (trials["models"].count, model_ids.count, segment_ids.count)
        return {
            "form": source.attribute("form") or "",
            "modelset": model_ids.read_strings(),
            "segset": segment_ids.read_strings(),
            **{name: vector.read_integers() for name, vector in trials.items()},
            "is_target": None if labels is None else labels.read_mask(),
            "columns": {
                kind: _read_columns(source, kind, size)
                for kind, size in zip(COLUMN_KINDS, sizes, strict=True)
            },
        }


def write_metadata(
    path: FilePath,
    *,
    form: str,
    modelset: npt.NDArray[np.str_],
    segset: npt.NDArray[np.str_],
    models: npt.NDArray[Any],
    segments: npt.NDArray[Any],
    is_target: npt.NDArray[np.bool_] | None,
    columns: Mapping[str, Columns],
) -> None:
    """Write trials and their columns, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    form : str
        Name of the class that holds the trials.
    modelset, segset : (m,) and (n,) ndarray of str
        Ids of models and segments.
    models, segments : (k,) ndarray of int
        The trials: positions in the lists of ids, column by column.
    is_target : (k,) ndarray of bool or None
        The answers, where they are known.
    columns : mapping
        For each of `COLUMN_KINDS` its columns: `Factor` or numeric array.

    Raises
    ------
    InvalidInputError
        If a text cannot be encoded.
    OSError
        If the file cannot be written.
    """

    def fill(file: Any) -> None:
        put_attribute(file.id, "form", form)
        put_ids(file, modelset, segset)
        put_vector(file, "trials/models", models)
        put_vector(file, "trials/segments", segments)
        if is_target is not None:
            put_vector(file, "trials/is_target", is_target.astype(np.uint8))
        for kind in COLUMN_KINDS:
            table = columns[kind]
            put_strings(file, f"columns/{kind}/names", np.array(list(table), dtype=np.str_))
            for number, column in enumerate(table.values()):
                where = f"columns/{kind}/{number}"
                if isinstance(column, Factor):
                    put_vector(file, f"{where}/codes", column.codes)
                    put_strings(file, f"{where}/levels", column.levels)
                elif column.dtype.kind == "f":
                    put_array(file, f"{where}/values", column)
                else:
                    put_vector(file, f"{where}/values", column)

    write_hdf5(path, "trial_metadata", fill)


def _check_vector(vector: GuardedDataset, size: int) -> None:
    """Refuse a data set that has not one element for each trial, model or segment."""
    if vector.shape != (size,):
        text = f"has shape {vector.shape}; {(size,)} is expected"
        raise vector.owner.error(vector.name, text)


def _read_columns(source: GuardedFile, kind: str, size: int) -> dict[str, Any]:
    """Read all columns of one kind."""
    names = source.strings(f"columns/{kind}/names").read_strings().tolist()
    if len(set(names)) < len(names):
        raise source.error(f"columns/{kind}/names", "names a column twice")
    return {
        name: _read_column(source, f"columns/{kind}/{number}", size)
        for number, name in enumerate(names)
    }


def _read_column(source: GuardedFile, where: str, size: int) -> Factor | npt.NDArray[Any]:
    """Read one column."""
    if not source.holds(f"{where}/codes"):
        values = source.numbers(f"{where}/values")
        _check_vector(values, size)
        is_whole = values.type_class == "integer"
        return values.read_integers() if is_whole else values.read_numbers()
    codes, levels = source.integers(f"{where}/codes"), source.strings(f"{where}/levels")
    _check_vector(codes, size)
    try:
        return Factor(codes.read_integers(), levels.read_strings())
    except InvalidInputError as error:
        message = f"{source.path}: `/{where}`: {error}"
        raise FileFormatError(message) from error
