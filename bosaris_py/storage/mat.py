"""Read and write all kinds of objects as MATLAB files.

The variable is called ``ndx``, ``key``, ``scr``, ``qual`` (both quality classes) or
``idmap``; its fields are those of the toolkit's class. Files are written in MATLAB's
format of versions 5 to 7, compressed, with the types that MATLAB itself would use:
logical masks, cell columns of character rows, double or single scores. Files of version
7.3, which are HDF5 inside, are read too, and guarded in the same way.

Only plain structs are read. A class object that was saved as it is can be opened by
nothing but MATLAB; the toolkit's own save functions turn objects into structs.

`open_struct` finds the struct; its `StructFields` are the same for files of versions 5 to 7,
which `bosaris_py.storage._mat5` takes apart, and for those of version 7.3, which are HDF5.
"""

import contextlib
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import attrs
import h5py
import numpy as np
import numpy.typing as npt
import scipy.io

from bosaris_py._arrays import mark_read_only
from bosaris_py._validation import FilePath, as_ids, as_matrix, check_shape, list_some
from bosaris_py._version import __version__
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage._guarded_hdf5 import (
    GuardedFile,
    MemoryBudget,
    check_mask_values,
    open_guarded,
    refuse_nul,
)
from bosaris_py.storage._mat5 import Matrix, find_variable
from bosaris_py.storage.atomic import atomic_write
from bosaris_py.storage.schema import CLASS_NAMES, Arrays, MatrixChecks

VARIABLES = {
    "ndx": "ndx",
    "key": "key",
    "scores": "scr",
    "segment_quality": "qual",
    "quality_measures": "qual",
    "id_map": "idmap",
}

# Fields that tell the kind, so that a wrong one can be named.
_SIGNS = {
    "trialmask": "ndx",
    "tar": "key",
    "scoremat": "scores",
    "modelQ": "quality_measures",
    "values": "segment_quality",
    "leftids": "id_map",
}

# The start of a file, up to the version and the mark of the byte order.
_HEADER_SIZE = 128

_SAVE_AS_STRUCT = "save it with the toolkit's save_mat, or as struct(object)"

_Shape = tuple[int | None, ...]


class _Source(Protocol):
    """How the two formats give the fields of the struct."""

    @property
    def budget(self) -> MemoryBudget:
        """What the arrays may take."""

    @property
    def names(self) -> set[str]:
        """Names of the fields."""

    def ids(self, name: str) -> list[str]:
        """Return the strings of a cell array."""

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """Return a matrix of numbers, rows first, with the type as stored."""


@attrs.frozen(eq=False)
class StructFields:
    """Fields of the one struct of a file, checked and read-only."""

    path: Path
    variable: str
    source: _Source

    @property
    def names(self) -> set[str]:
        """Names of the fields that the struct has."""
        return self.source.names

    def error(self, name: str, text: str) -> FileFormatError:
        """Return an error about one field."""
        return FileFormatError(f"{self.path}: field `{self.variable}.{name}` {text}")

    def ids(self, name: str) -> npt.NDArray[np.str_]:
        """Return the ids of a cell array."""
        self._require(name)
        ids = self.source.ids(name)
        # Every id takes the room of the longest.
        size = 4 * len(ids) * max(map(len, ids), default=0)
        self.source.budget.claim(size, f"field `{self.variable}.{name}`")
        return mark_read_only(np.array(ids, dtype=np.str_))

    def matrix(self, name: str, shape: _Shape) -> npt.NDArray[Any]:
        """Return a matrix of scores or measures as float32 or float64."""
        self._require(name)
        numbers = self.source.numbers(name)
        if numbers.dtype.kind not in "iuf" or numbers.dtype.itemsize > 8:
            raise self.error(name, f"must hold real numbers; it is of type {numbers.dtype}")
        if numbers.dtype not in (np.float32, np.float64):
            numbers = numbers.astype(np.float64)
        return self._shaped(numbers, name, shape)

    def mask(
        self, name: str, shape: tuple[int, ...], *, optional: bool = False
    ) -> npt.NDArray[Any]:
        """Return a mask as bool; all true if it is `optional` and absent."""
        if optional and name not in self.names:
            return mark_read_only(np.ones(shape, dtype=np.bool_))
        self._require(name)
        numbers = self.source.numbers(name)
        if numbers.dtype.kind not in "biuf":
            raise self.error(name, f"must hold a mask; it is of type {numbers.dtype}")
        where = f"{self.path}: field `{self.variable}.{name}`"
        return self._shaped(check_mask_values(numbers, where), name, shape)

    def _require(self, name: str) -> None:
        """Refuse a struct without this field."""
        if name not in self.names:
            found = f"; the struct has {list_some(sorted(self.names))}" if self.names else ""
            raise self.error(name, f"is missing{found}")

    def _shaped(self, array: npt.NDArray[Any], name: str, shape: _Shape) -> npt.NDArray[Any]:
        """Return an array in C order and of the wanted shape; None stands for any extent."""
        wanted = tuple(
            found if extent is None else extent
            for extent, found in zip(shape, array.shape, strict=False)
        )
        is_vector = len(shape) == 1 and array.size == wanted[0] and min(array.shape) <= 1
        # MATLAB forgets the other extent of an empty matrix.
        is_empty = array.size == 0 and 0 in wanted
        if array.shape != wanted and not is_vector and not is_empty:
            text = f"has shape {array.shape}; the ids ask for {wanted}"
            if array.shape == wanted[::-1]:
                text += ". Models and segments look swapped"
            raise self.error(name, text)
        return mark_read_only(mark_read_only(np.ascontiguousarray(array)).reshape(wanted))


@contextlib.contextmanager
def open_struct(path: FilePath, kind: str, max_bytes: int | None) -> Iterator[StructFields]:
    """Open a file of either format and find the struct in it.

    Yields
    ------
    StructFields
        The struct; the file is closed when the block ends.
    """
    file_path = Path(path)
    variable = VARIABLES[kind]
    with file_path.open("rb") as stream:
        header = stream.read(_HEADER_SIZE)
    version, order = _version_and_order(file_path, header)
    if version == 2:
        with open_guarded(file_path, max_bytes) as file:
            source: _Source = _Struct73(file, variable)
            _check_kind(file_path, kind, source.names)
            yield StructFields(file_path, variable, source)
        return
    try:
        source = _Struct5.find(file_path, variable, order, max_bytes)
        _check_kind(file_path, kind, source.names)
        yield StructFields(file_path, variable, source)
    except (ValueError, struct.error, zlib.error) as error:
        message = f"{file_path}: damaged or truncated MATLAB file: {error}"
        raise FileFormatError(message) from error


def _version_and_order(path: Path, header: bytes) -> tuple[int, str]:
    """Return version and byte order from the header; 1 is MATLAB's 5 to 7, 2 is 7.3."""
    if header.startswith(b"\x89HDF"):
        message = f"{path}: a plain HDF5 file, not a MATLAB file; give it the extension .h5"
        raise FileFormatError(message)
    # The version is a number of two bytes, 0x0100 or 0x0200; the mark behind it tells
    # their order.
    order = {b"IM": "<", b"MI": ">"}.get(header[126:128], "")
    version = header[125 if order == "<" else 124] if order else 0
    if version not in (1, 2):
        message = f"{path}: no MATLAB file of version 5 or later, or truncated"
        raise FileFormatError(message)
    return version, order


def _check_kind(path: Path, kind: str, names: set[str]) -> None:
    """Refuse a struct that is plainly of another class."""
    found = {_SIGNS[name] for name in names if name in _SIGNS}
    if found and kind not in found:
        message = f"{path}: expected {CLASS_NAMES[kind]}; the file holds {CLASS_NAMES[min(found)]}"
        raise FileFormatError(message)


def _no_variable(path: Path, variable: str, found: list[str]) -> FileFormatError:
    """Return the error for a file without the variable."""
    kinds = [CLASS_NAMES[kind] for kind, name in VARIABLES.items() if name in found]
    names = list_some(found) if found else "nothing"
    hint = f" ({' or '.join(kinds)})" if kinds else ""
    message = f"{path}: the variable `{variable}` is missing; the file holds {names}{hint}"
    return FileFormatError(message)


def _no_struct(path: Path, variable: str, found: str) -> FileFormatError:
    """Return the error for a variable that is no single struct."""
    message = f"{path}: the variable `{variable}` must be one struct; it is {found}"
    return FileFormatError(message)


@attrs.frozen(eq=False)
class _Struct5:
    """The struct of a file of MATLAB's formats 5 to 7."""

    path: Path
    variable: str
    fields: dict[str, Matrix]
    budget: MemoryBudget

    @classmethod
    def find(cls, path: Path, variable: str, order: str, max_bytes: int | None) -> "_Struct5":
        """Find the struct in a file, refusing a variable that is no plain struct."""
        budget = MemoryBudget(path, max_bytes)
        budget.claim(path.stat().st_size, "the file")
        found, names = find_variable(path.read_bytes(), order, variable, budget)
        if found is None:
            raise _no_variable(path, variable, names)
        if found.is_object:
            raise _no_struct(path, variable, f"{found.description}; {_SAVE_AS_STRUCT}")
        fields = found.fields()
        if fields is None:
            many = f"of extents {found.extents}"
            raise _no_struct(path, variable, f"{found.description} {many}")
        return cls(path, variable, fields, budget)

    @property
    def names(self) -> set[str]:
        """Names of the fields."""
        return set(self.fields)

    def ids(self, name: str) -> list[str]:
        """Return the strings of a cell array."""
        cells = self.fields[name]
        error = f"{self.path}: field `{self.variable}.{name}`"
        # An empty list can come without its class.
        if cells.count == 0:
            return []
        if max(cells.extents) != cells.count:
            message = f"{error} must be a list of ids; it has shape {cells.extents}"
            raise FileFormatError(message)
        ids = cells.strings()
        if ids is None:
            message = (
                f"{error} must be a cell array with one row of characters in each cell; "
                f"it is {cells.description}"
            )
            raise FileFormatError(message)
        return ids

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """Return a matrix of numbers, rows first."""
        matrix = self.fields[name]
        array = matrix.numbers()
        if array is None:
            message = (
                f"{self.path}: field `{self.variable}.{name}` must be a full real matrix; "
                f"it is {'complex' if matrix.is_complex else matrix.description}"
            )
            raise FileFormatError(message)
        self.budget.claim(array.nbytes, f"field `{self.variable}.{name}`")
        return array


@attrs.define(eq=False)
class _Struct73:
    """The struct of a file of MATLAB's format 7.3, which is HDF5 inside.

    Matrices lie in it with their extents reversed, characters are numbers of two
    bytes, and the elements of a cell array are separate data sets to which the array
    refers. These references are the one kind that is followed, inside the file only.
    """

    file: GuardedFile
    variable: str

    def __attrs_post_init__(self) -> None:
        """Refuse a variable that is no plain struct."""
        path = self.file.path
        if not self.file.holds(self.variable):
            present = [name for name in self.file.members() if not name.startswith("#")]
            raise _no_variable(path, self.variable, present)
        group = self.file.find(self.variable)
        kind = self.file.attribute("MATLAB_class", group)
        if self.file.attribute("MATLAB_object_decode", group) is not None or (
            kind in CLASS_NAMES.values() or kind in ("Quality", "Seg_Quality", "Id_Map")
        ):
            raise _no_struct(path, self.variable, f"a class object; {_SAVE_AS_STRUCT}")
        if not isinstance(group, h5py.h5g.GroupID) or kind != "struct":
            raise _no_struct(path, self.variable, f"a {kind}" if kind else "something else")

    @property
    def budget(self) -> MemoryBudget:
        """What the arrays may take."""
        return self.file.budget

    @property
    def names(self) -> set[str]:
        """Names of the fields."""
        return {os.fsdecode(name) for name in self.file.find(self.variable)}

    def ids(self, name: str) -> list[str]:
        """Return the strings of a cell array."""
        place = f"{self.variable}/{name}"
        found = self.file.find(place)
        if self._empty_extents(found, place) is not None:
            return []
        cells = self.file.check_dataset(found, place, {"reference"}, "a cell array of ids")
        if not cells.dataset.id.get_type().equal(h5py.h5t.STD_REF_OBJ):
            raise self.file.error(place, "must refer to whole objects")
        if cells.count and max(cells.shape, default=1) != cells.count:
            raise self.file.error(place, f"must be a list of ids; it has shape {cells.shape}")
        # A reference and a string of Python take about so much each.
        self.file.budget.claim(200 * cells.count, f"data set `/{place}`")
        return [self._string(reference, place) for reference in np.ravel(cells.dataset[()])]

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """Return a matrix of numbers, rows first."""
        place = f"{self.variable}/{name}"
        found = self.file.find(place)
        extents = self._empty_extents(found, place)
        if extents is not None:
            is_single = self.file.attribute("MATLAB_class", found) == "single"
            return np.empty(extents, dtype=np.float32 if is_single else np.float64)
        if isinstance(found, h5py.h5g.GroupID):
            raise self.file.error(place, "must be a full matrix; it is a struct or sparse")
        checked = self.file.check_dataset(found, place, {"integer", "float"}, "numbers")
        if len(checked.shape) != 2:
            raise self.file.error(place, f"must have two extents; it has shape {checked.shape}")
        self.file.budget.claim(2 * checked.stored_bytes, f"data set `/{place}`")
        return np.asarray(checked.dataset[()]).T

    def _empty_extents(self, found: Any, place: str) -> tuple[int, ...] | None:
        """Return the extents of an empty matrix, which are stored in its place."""
        if not isinstance(found, h5py.h5d.DatasetID):
            return None
        if not h5py.h5a.exists(found, b"MATLAB_empty"):
            return None
        checked = self.file.check_dataset(found, place, {"integer"}, "extents")
        if checked.count > 2:
            raise self.file.error(place, "is empty and has more than two extents")
        extents = tuple(int(extent) for extent in np.ravel(checked.dataset[()]))
        if np.prod(extents) != 0:
            raise self.file.error(place, f"is marked as empty but has extents {extents}")
        return extents

    def _string(self, reference: Any, place: str) -> str:
        """Return the characters that an element of a cell array refers to."""
        if not reference:
            raise self.file.error(place, "refers to nothing")
        found = h5py.h5r.dereference(reference, self.file.file.id)
        place = f"{place}{{}}"
        if self._empty_extents(found, place) is not None:
            return ""
        letters = self.file.check_dataset(found, place, {"integer"}, "characters")
        if self.file.attribute("MATLAB_class", found) != "char" or letters.item_size != 2:
            raise self.file.error(place, "must hold characters")
        if letters.count and max(letters.shape, default=1) != letters.count:
            raise self.file.error(place, "must hold one row of characters in each cell")
        self.file.budget.claim(8 * letters.count, f"data set `/{place}`")
        units = np.ravel(letters.dataset[()]).astype("<u2")
        return units.tobytes().decode("utf-16-le")


# A variable must stay below this in versions 5 to 7.
_LARGEST_VARIABLE = 2**31

# The text at the start of the file; behind it come the version and the mark of the byte order.
_HEADER_TEXT = 116


def read_ndx(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the trial list of an `Ndx` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Refuse a file whose arrays need more memory; None stands for the memory of
        the machine.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, `trialmask` (m, n) of bool; all
        read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "ndx", max_bytes) as fields:
        models, segments = fields.ids("modelset"), fields.ids("segset")
        shape = (models.size, segments.size)
        return {
            "modelset": models,
            "segset": segments,
            "trialmask": fields.mask("trialmask", shape),
        }


def read_key(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the target and non-target trials of a `Key` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, `tar` and `non` (m, n) of bool; all
        read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "key", max_bytes) as fields:
        models, segments = fields.ids("modelset"), fields.ids("segset")
        shape = (models.size, segments.size)
        return {
            "modelset": models,
            "segset": segments,
            "tar": fields.mask("tar", shape),
            "non": fields.mask("non", shape),
        }


def read_scores(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the score matrix of a `Scores` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `scoremat` (m, n) of float32 if stored as single, else of float64; `modelset`
        (m,) and `segset` (n,) of str; `scoremask` (m, n) of bool; all read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "scores", max_bytes) as fields:
        models, segments = fields.ids("modelset"), fields.ids("segset")
        shape = (models.size, segments.size)
        return {
            "scoremat": fields.matrix("scoremat", shape),
            "modelset": models,
            "segset": segments,
            "scoremask": fields.mask("scoremask", shape),
        }


def read_segment_quality(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the quality measures of segments of a `SegmentQuality` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `ids` (n,) of str and `values` (q, n) of float; both read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "segment_quality", max_bytes) as fields:
        ids = fields.ids("ids")
        return {"ids": ids, "values": fields.matrix("values", (None, ids.size))}


def read_quality_measures(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the model and segment measures of a `QualityMeasures` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, `modelQ` (q, m) and `segQ` (q, n) of
        float, `hasmodel` (m,), `hasseg` (n,) and `scoremask` (m, n) of bool; all
        read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    A struct without ``hasmodel`` or without ``scoremask`` comes from an early release
    of the toolkit; these masks are all true then.
    """
    with open_struct(path, "quality_measures", max_bytes) as fields:
        models, segments = fields.ids("modelset"), fields.ids("segset")
        model_values = fields.matrix("modelQ", (None, models.size))
        shape = (models.size, segments.size)
        has_both = "hasmodel" in fields.names
        return {
            "modelset": models,
            "segset": segments,
            "modelQ": model_values,
            "segQ": fields.matrix("segQ", (model_values.shape[0], segments.size)),
            "hasmodel": fields.mask("hasmodel", shape[:1], optional=not has_both),
            "hasseg": fields.mask("hasseg", shape[1:], optional=not has_both),
            "scoremask": fields.mask("scoremask", shape, optional=True),
        }


def read_id_map(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the pairs of an `IdMap` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `leftids` and `rightids` (n,) of str; both read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "id_map", max_bytes) as fields:
        left, right = fields.ids("leftids"), fields.ids("rightids")
        if left.size != right.size:
            text = f"has {right.size} ids, `leftids` {left.size}; they must be pairs"
            raise fields.error("rightids", text)
        return {"leftids": left, "rightids": right}


def write_ndx(
    path: FilePath, *, modelset: npt.ArrayLike, segset: npt.ArrayLike, trialmask: npt.ArrayLike
) -> None:
    """Write an `Ndx` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    trialmask : (m, n) array_like of bool
        Which of all pairs are trials.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of(modelset, segset)
    _write(
        path,
        "ndx",
        modelset=checks.models,
        segset=checks.segments,
        trialmask=checks.mask(trialmask, "trialmask"),
    )


def write_key(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
) -> None:
    """Write a `Key` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    tar, non : (m, n) array_like of bool
        Target and non-target trials, disjoint.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, a trial is in both masks, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of(modelset, segset)
    targets, nontargets = checks.classes(tar, non)
    _write(path, "key", modelset=checks.models, segset=checks.segments, tar=targets, non=nontargets)


def write_scores(
    path: FilePath,
    *,
    scoremat: npt.ArrayLike,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    scoremask: npt.ArrayLike,
) -> None:
    """Write a `Scores` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    scoremat : (m, n) array_like of float
        The scores; float32 becomes single, everything else double.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    scoremask : (m, n) array_like of bool
        Which scores are valid.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of(modelset, segset)
    _write(
        path,
        "scores",
        scoremat=checks.scores(scoremat, "scoremat"),
        modelset=checks.models,
        segset=checks.segments,
        scoremask=checks.mask(scoremask, "scoremask"),
    )


def write_segment_quality(path: FilePath, *, ids: npt.ArrayLike, values: npt.ArrayLike) -> None:
    """Write a `SegmentQuality` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    ids : (n,) array_like of str
        Ids of the segments.
    values : (q, n) array_like of float
        Their quality measures.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    names = as_ids(ids, "ids")
    measures = as_matrix(values, "values")
    shape = (measures.shape[0], names.size)
    check_shape(measures, shape, "values", "like `ids`")
    _write(path, "segment_quality", ids=names, values=measures.astype(np.float64, copy=False))


def write_quality_measures(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    modelQ: npt.ArrayLike,
    segQ: npt.ArrayLike,
    hasmodel: npt.ArrayLike,
    hasseg: npt.ArrayLike,
    scoremask: npt.ArrayLike,
) -> None:
    """Write a `QualityMeasures` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models.
    segset : (n,) array_like of str
        Ids of the segments.
    modelQ : (q, m) array_like of float
        Quality measures of the models.
    segQ : (q, n) array_like of float
        Quality measures of the segments.
    hasmodel, hasseg : (m,) and (n,) array_like of bool
        For which of them there are measures.
    scoremask : (m, n) array_like of bool
        For which trials there are measures.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of(modelset, segset)
    model_values, segment_values = checks.measures(modelQ, segQ)
    has_model, has_segment = checks.measured(hasmodel, hasseg)
    _write(
        path,
        "quality_measures",
        modelQ=model_values,
        segQ=segment_values,
        modelset=checks.models,
        segset=checks.segments,
        # The toolkit keeps these two as rows.
        hasmodel=has_model[np.newaxis],
        hasseg=has_segment[np.newaxis],
        scoremask=checks.mask(scoremask, "scoremask"),
    )


def write_id_map(path: FilePath, *, leftids: npt.ArrayLike, rightids: npt.ArrayLike) -> None:
    """Write an `IdMap` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    leftids, rightids : (n,) array_like of str
        The pairs.

    Raises
    ------
    InvalidInputError
        If lengths differ, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    left, right = as_ids(leftids, "leftids"), as_ids(rightids, "rightids")
    check_shape(right, left.shape, "rightids", "like `leftids`")
    _write(path, "id_map", leftids=left, rightids=right)


def _write(path: FilePath, kind: str, **fields: npt.NDArray[Any]) -> None:
    """Write one struct and give the file a header without the time of day."""
    size = sum(array.nbytes for array in fields.values())
    if size >= _LARGEST_VARIABLE:
        message = f"{path}: MATLAB's format 7 ends at 2 GB for one variable; save as .h5 instead"
        raise InvalidInputError(message)
    record: dict[str, Any] = {}
    for name, array in fields.items():
        record[name] = array
        if array.dtype.kind == "U":
            refuse_nul(array, name)
            record[name] = np.empty((array.size, 1), dtype=object)
            record[name][:, 0] = array
    with atomic_write(path) as temporary:
        try:
            scipy.io.savemat(
                str(temporary), {VARIABLES[kind]: record}, appendmat=False, do_compression=True
            )
        except UnicodeEncodeError as error:
            message = f"{path}: an id cannot be encoded as UTF-8: {error}"
            raise InvalidInputError(message) from error
        text = f"MATLAB 5.0 MAT-file, written by bosaris_py {__version__}"
        with temporary.open("rb+") as stream:
            stream.write(text.ljust(_HEADER_TEXT).encode())
