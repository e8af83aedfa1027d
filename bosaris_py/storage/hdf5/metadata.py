"""Read and write trials and their columns as HDF5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import h5py
import numpy as np

from bosaris_py._arrays import AnyArray, BoolArray, StrArray
from bosaris_py._validation import FilePath
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage.columns import Factor
from bosaris_py.storage.hdf5.guarded import GuardedFile, open_guarded
from bosaris_py.storage.hdf5.objects import missing, open_fields
from bosaris_py.storage.hdf5.writing import put_attribute, put_column, put_strings, write_hdf5

COLUMN_KINDS = ("trial", "model", "segment")

Columns = Mapping[str, Factor | AnyArray]


def read_metadata(path: FilePath, *, max_bytes: int | None = None) -> dict[str, Any]:
    """Read trials and their columns: what `write_metadata` takes, in a dict, read-only."""
    with open_guarded(path, max_bytes) as source:
        opened = open_fields(source, "trial_metadata")
        if not source.holds("columns/trial/names"):
            raise missing(source, "trial_metadata", "columns/trial/names")
        arrays: dict[str, Any] = opened.read()
        if "is_target" not in opened.data_sets:
            arrays["is_target"] = None
        arrays["form"] = source.attribute("form") or ""
        arrays["columns"] = {
            kind: _read_columns(source, kind, opened.sizes[dim])
            for kind, dim in zip(COLUMN_KINDS, "kmn", strict=True)
        }
    return arrays


def _read_columns(source: GuardedFile, kind: str, size: int) -> dict[str, Any]:
    """Read all columns of one kind."""
    found = source.data_set(f"columns/{kind}/names", "ids")
    found.claim()
    names = found.read_strings().tolist()
    if len(set(names)) < len(names):
        raise found.error("names a column twice")
    return {
        name: _read_column(source, f"columns/{kind}/{number}", size)
        for number, name in enumerate(names)
    }


def _read_column(source: GuardedFile, where: str, size: int) -> Factor | AnyArray:
    """Read one column, with an element for each of `size` trials, models or segments."""
    is_factor = source.holds(f"{where}/codes")
    content = "positions" if is_factor else "numbers"
    found = source.data_set(f"{where}/{'codes' if is_factor else 'values'}", content)
    if found.type_class == "integer":
        # Whole numbers stay what they are.
        found.content = "positions"
    if found.shape != (size,):
        raise found.error(f"has shape {found.shape}; {(size,)} is expected")
    found.claim()
    if not is_factor:
        return found.read()
    levels = source.data_set(f"{where}/levels", "ids")
    levels.claim()
    try:
        return Factor(found.read(), levels.read_strings())
    except InvalidInputError as error:
        raise FileFormatError(f"{source.path}: `/{where}`: {error}") from error


def write_metadata(
    path: FilePath,
    *,
    form: str,
    modelset: StrArray,
    segset: StrArray,
    models: AnyArray,
    segments: AnyArray,
    is_target: BoolArray | None,
    columns: Mapping[str, Columns],
) -> None:
    """Write trials and their columns, replacing an existing file in one step.

    `form` is the name of the class that holds the trials. `models` and `segments` are positions in
    the lists of ids, by segment, then by model. `columns` has for each of `COLUMN_KINDS` the
    columns: `Factor` or numeric array.
    """

    def fill(file: h5py.File) -> None:
        put_attribute(file.id, "form", form)
        put_strings(file, "ID/row_ids", modelset)
        put_strings(file, "ID/column_ids", segset)
        put_column(file, "trials/models", models)
        put_column(file, "trials/segments", segments)
        if is_target is not None:
            put_column(file, "trials/is_target", is_target.astype(np.uint8))
        for kind in COLUMN_KINDS:
            table = columns[kind]
            put_strings(file, f"columns/{kind}/names", np.array(list(table), dtype=np.str_))
            for number, column in enumerate(table.values()):
                where = f"columns/{kind}/{number}"
                if isinstance(column, Factor):
                    put_column(file, f"{where}/codes", column.codes)
                    put_strings(file, f"{where}/levels", column.levels)
                else:
                    put_column(file, f"{where}/values", column)

    write_hdf5(path, "trial_metadata", fill)
