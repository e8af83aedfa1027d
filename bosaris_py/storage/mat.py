"""Read and write all kinds of objects as MATLAB files.

The variable is called ``ndx``, ``key``, ``scr``, ``qual`` (both quality classes) or ``idmap``; its
fields are those of the toolkit's class. Files are written in MATLAB's format of versions 5 to 7,
compressed, with MATLAB's types: logical masks, cell columns of character rows, double or single
scores. Files of version 7.3, which are HDF5 inside, are read too.

Only plain structs are read. A class object that was saved as it is can be opened by nothing but
MATLAB; the toolkit's own save functions turn objects into structs.
"""

from __future__ import annotations

import contextlib
import math
import os
import struct
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

import attrs
import h5py
import numpy as np
import scipy

from bosaris_py._arrays import AnyArray, StrArray, mark_read_only
from bosaris_py._validation import FilePath, as_path, list_some
from bosaris_py._version import __version__
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage._mat5 import HEADER_SIZE, OBJECT, Matrix, find_variable
from bosaris_py.storage.atomic import atomic_write, open_unchanged
from bosaris_py.storage.hdf5.guarded import GuardedFile, check_mask_values, open_guarded
from bosaris_py.storage.ids import LONGEST_ID, refuse_unstorable
from bosaris_py.storage.memory import MemoryBudget
from bosaris_py.storage.schema import FIELDS, KINDS, STRUCT_SIGNS, Arrays, check_fields

_SAVE_AS_STRUCT = "save it with the toolkit's save_mat, or as struct(object)"

# A variable must stay below this in versions 5 to 7.
_LARGEST_VARIABLE = 2**31

# The text at the start of the file; behind it come the version and the mark of the byte order.
_HEADER_TEXT = 116

# Memory of a reference and a string of Python.
_BYTES_OF_CELL = 200

# The header of an object of HDF5 with type, shape and place has more bytes.
_LEAST_HEADER = 40


def read(kind: str, path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the arrays of an object of a kind of `schema.KINDS`: the arguments of its constructor.

    Quality measures without ``hasmodel`` or ``scoremask`` come from an early release of the
    toolkit; these masks are all true then.
    """
    optional = KINDS[kind].optional
    arrays: Arrays = {}
    sizes: dict[str, int] = {}
    with _open_struct(as_path(path), kind, max_bytes) as found:
        if "hasmodel" not in found.names:
            optional = optional | {"hasseg"}
        # The ids tell the extents of all others.
        for name in sorted(KINDS[kind].fields, key=lambda name: FIELDS[name].content != "ids"):
            content, dims = FIELDS[name].content, FIELDS[name].dims
            # The number of quality measures is not known before the first of them is read.
            shape = tuple(sizes.get(dim) for dim in dims)
            if name not in found.names and name in optional:
                arrays[name] = mark_read_only(np.ones([sizes[dim] for dim in dims], dtype=np.bool_))
            elif content == "ids":
                arrays[name] = found.ids(name)
                if sizes.setdefault(dims, arrays[name].size) != arrays[name].size:
                    text = f"has {arrays[name].size} ids, `{next(iter(arrays))}` {sizes[dims]}"
                    raise found.error(name, f"{text}; they must be pairs")
            else:
                arrays[name] = found.array(name, content, shape)
                sizes.update(zip(dims, arrays[name].shape, strict=True))
    return arrays


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file: the first of `schema.KINDS` whose struct it has."""
    reasons = []
    for name, kind in KINDS.items():
        if kind.variable is not None:
            try:
                with _open_struct(as_path(path), name, None):
                    return name
            except FileFormatError as error:
                reasons.append(error)
    raise reasons[0]


def write(kind: str, path: FilePath, **arrays: AnyArray) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step."""
    check_fields(kind, arrays)
    if sum(array.nbytes for array in arrays.values()) >= _LARGEST_VARIABLE:
        message = f"{path}: MATLAB's format 7 ends at 2 GB for one variable; save as .h5 instead"
        raise InvalidInputError(message)
    record: dict[str, AnyArray] = {}
    for name in KINDS[kind].fields:
        array, field = arrays[name], FIELDS[name]
        if field.content == "ids":
            refuse_unstorable(array, name)
            record[name] = np.empty((array.size, 1), dtype=object)
            record[name][:, 0] = array
        elif field.dims in ("m", "n"):
            # The toolkit keeps `hasmodel` and `hasseg` as rows.
            record[name] = array[np.newaxis]
        else:
            record[name] = array.astype(np.float64, copy=False) if "q" in field.dims else array
    # Only here, because few write this format, and the import is slow.
    with atomic_write(path) as temporary:
        try:
            scipy.io.savemat(
                str(temporary),
                {str(KINDS[kind].variable): record},
                appendmat=False,
                do_compression=True,
            )
        except UnicodeEncodeError as error:
            raise InvalidInputError(f"{path}: an id cannot be encoded as UTF-8: {error}") from error
        # scipy's header holds the time of day; equal content shall give equal files.
        text = f"MATLAB 5.0 MAT-file, written by bosaris_py {__version__}"
        with temporary.open("rb+") as stream:
            stream.write(text.ljust(_HEADER_TEXT).encode())


@contextlib.contextmanager
def _open_struct(path: Path, kind: str, max_bytes: int | None) -> Iterator["_Struct"]:
    """Open a file of either format, and find the struct of a kind in it."""
    variable = str(KINDS[kind].variable)
    with path.open("rb") as stream:
        header = stream.read(HEADER_SIZE)
    version, order = _version_and_order(path, header)
    found: _Struct
    if version == 2:
        with open_guarded(path, max_bytes) as file:
            found = _Struct73.find(file, variable)
            found.check_kind(kind)
            yield found
        return
    try:
        with open_unchanged(path):
            found = _Struct5.find(path, variable, order, max_bytes)
            found.check_kind(kind)
            yield found
    except (ValueError, struct.error, zlib.error, MemoryError) as error:
        raise FileFormatError(f"{path}: damaged or truncated MATLAB file: {error}") from error


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
        raise FileFormatError(f"{path}: no MATLAB file of version 5 or later, or truncated")
    return version, order


@attrs.frozen(eq=False)
class _Struct(ABC):
    """The one struct of a file, whose fields are checked and read-only."""

    path: Path
    variable: str
    budget: MemoryBudget
    names: frozenset[str]

    @abstractmethod
    def strings(self, name: str) -> list[str]:
        """Return the strings of a cell array."""

    @abstractmethod
    def numbers(self, name: str) -> AnyArray:
        """Return a matrix of numbers, rows first, with the type as stored."""

    def error(self, name: str, text: str) -> FileFormatError:
        """Return an error about one field."""
        return FileFormatError(f"{self.path}: field `{self.variable}.{name}` {text}")

    def check_kind(self, kind: str) -> None:
        """Refuse a struct that is plainly of another class."""
        found = {STRUCT_SIGNS[name] for name in self.names & STRUCT_SIGNS.keys()}
        if found and kind not in found:
            names = KINDS[kind].class_name, KINDS[min(found)].class_name
            raise FileFormatError(f"{self.path}: expected {names[0]}; the file holds {names[1]}")

    def ids(self, name: str) -> StrArray:
        """Return the ids of a cell array."""
        self._require(name)
        ids = self.strings(name)
        if max(map(len, ids), default=0) > LONGEST_ID:
            raise self.error(name, f"holds an id of more than {LONGEST_ID} characters")
        # Every id takes the room of the longest.
        size = 4 * len(ids) * max(map(len, ids), default=0)
        self.budget.claim(size, f"field `{self.variable}.{name}`")
        return mark_read_only(np.array(ids, dtype=np.str_))

    def array(self, name: str, content: str, shape: tuple[int | None, ...]) -> AnyArray:
        """Return numbers as float32 or float64, or a mask as bool; None: any extent."""
        self._require(name)
        array = self.numbers(name)
        if content == "mask":
            if array.dtype.kind not in "biuf":
                raise self.error(name, f"must hold a mask; it is of type {array.dtype}")
            array = check_mask_values(array, f"{self.path}: field `{self.variable}.{name}`")
        elif array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
            raise self.error(name, f"must hold real numbers; it is of type {array.dtype}")
        elif array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
        return self._shaped(array, name, shape)

    def _require(self, name: str) -> None:
        """Refuse a struct without this field."""
        if name not in self.names:
            found = f"; the struct has {list_some(sorted(self.names))}" if self.names else ""
            raise self.error(name, f"is missing{found}")

    def _shaped(self, array: AnyArray, name: str, shape: tuple[int | None, ...]) -> AnyArray:
        """Return an array in C order and of the wanted shape."""
        wanted = tuple(
            found if extent is None else extent
            for extent, found in zip(shape, array.shape, strict=False)
        )
        is_vector = len(shape) == 1 and array.size == wanted[0] and min(array.shape) <= 1
        # MATLAB does not keep the other extent of an empty matrix.
        is_empty = array.size == 0 and 0 in wanted
        if array.shape != wanted and not is_vector and not is_empty:
            text = f"has shape {array.shape}; the ids ask for {wanted}"
            if array.shape == wanted[::-1]:
                text += ". Models and segments look swapped"
            raise self.error(name, text)
        return mark_read_only(mark_read_only(np.ascontiguousarray(array)).reshape(wanted))


def _no_variable(path: Path, variable: str, found: list[str]) -> FileFormatError:
    """Return the error for a file without the variable."""
    kinds = [kind.class_name for kind in KINDS.values() if kind.variable in found]
    names = list_some(found) if found else "nothing"
    hint = f" ({' or '.join(kinds)})" if kinds else ""
    message = f"{path}: the variable `{variable}` is missing; the file holds {names}{hint}"
    return FileFormatError(message)


def _no_struct(path: Path, variable: str, found: str) -> FileFormatError:
    """Return the error for a variable that is no single struct."""
    return FileFormatError(f"{path}: the variable `{variable}` must be one struct; it is {found}")


@attrs.frozen(eq=False)
class _Struct5(_Struct):
    """The struct of a file of MATLAB's formats 5 to 7."""

    fields: dict[str, Matrix]

    @classmethod
    def find(cls, path: Path, variable: str, order: str, max_bytes: int | None) -> "_Struct5":
        """Find the struct in a file, refusing a variable that is no plain struct."""
        budget = MemoryBudget(path, max_bytes)
        budget.claim(path.stat().st_size, "the file")
        found, names = find_variable(path.read_bytes(), order, variable, budget)
        if found is None:
            raise _no_variable(path, variable, names)
        if found.description == OBJECT:
            raise _no_struct(path, variable, f"{found.description}; {_SAVE_AS_STRUCT}")
        fields = found.fields()
        if fields is None:
            raise _no_struct(path, variable, f"{found.description} of extents {found.extents}")
        return cls(path, variable, budget, frozenset(fields), fields)

    def strings(self, name: str) -> list[str]:
        """Return the strings of a cell array."""
        cells = self.fields[name]
        # An empty list can come without its class.
        if cells.count == 0:
            return []
        if max(cells.extents) != cells.count:
            raise self.error(name, f"must be a list of ids; it has shape {cells.extents}")
        ids = cells.strings()
        if ids is None:
            text = (
                "must be a cell array with one row of characters in each cell; "
                f"it is {cells.description}"
            )
            raise self.error(name, text)
        return ids

    def numbers(self, name: str) -> AnyArray:
        """Return a matrix of numbers, rows first."""
        matrix = self.fields[name]
        array = matrix.numbers()
        if array is None:
            found = "complex" if matrix.is_complex else matrix.description
            raise self.error(name, f"must be a full real matrix; it is {found}")
        self.budget.claim(array.nbytes, f"field `{self.variable}.{name}`")
        return array


@attrs.frozen(eq=False)
class _Struct73(_Struct):
    """The struct of a file of MATLAB's format 7.3, which is HDF5 inside.

    Matrices lie in it with their extents reversed, characters are numbers of two bytes, and the
    elements of a cell array are separate data sets to which the array refers. These references are
    the one kind that is followed, inside the file only.
    """

    file: GuardedFile

    @classmethod
    def find(cls, file: GuardedFile, variable: str) -> "_Struct73":
        """Find the struct in a file, refusing a variable that is no plain struct."""
        path, group = file.path, file.find(variable)
        if group is None:
            present = [name for name in file.members() if not name.startswith("#")]
            raise _no_variable(path, variable, present)
        kind = file.attribute("MATLAB_class", group)
        classes = {
            "Quality",
            "Seg_Quality",
            "Id_Map",
            *(each.class_name for each in KINDS.values()),
        }
        if file.attribute("MATLAB_object_decode", group) is not None or kind in classes:
            raise _no_struct(path, variable, f"a class object; {_SAVE_AS_STRUCT}")
        if not isinstance(group, h5py.h5g.GroupID) or kind != "struct":
            raise _no_struct(path, variable, f"a {kind}" if kind else "something else")
        names = frozenset(os.fsdecode(name) for name in group)
        return cls(path, variable, file.budget, names, file)

    def strings(self, name: str) -> list[str]:
        """Return the strings of a cell array."""
        place = f"{self.variable}/{name}"
        found = self.file.find(place)
        if self._empty_extents(found, place) is not None:
            return []
        cells = self.file.check_dataset(found, place, {"reference"}, "a cell array of ids")
        # A reference to a region of a data set would be read through another.
        if not cells.dataset.id.get_type().equal(h5py.h5t.STD_REF_OBJ):
            raise cells.error("must refer to whole objects")
        if cells.count and max(cells.shape, default=1) != cells.count:
            raise cells.error(f"must be a list of ids; it has shape {cells.shape}")
        self.budget.claim(_BYTES_OF_CELL * cells.count, f"data set `/{place}`")
        # Each string of a real file has a header of its own.
        if cells.count * _LEAST_HEADER > self.path.stat().st_size:
            raise cells.error(f"refers to {cells.count} strings, more than the file can hold")
        cells.check_chunks()
        return [self._string(reference, place) for reference in np.ravel(cells.dataset[()])]

    def numbers(self, name: str) -> AnyArray:
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
            raise checked.error(f"must have two extents; it has shape {checked.shape}")
        self.budget.claim(2 * checked.stored_bytes, f"data set `/{place}`")
        return checked.read_numbers().T

    def _empty_extents(self, found: object, place: str) -> tuple[int, ...] | None:
        """Return the extents of an empty matrix, which are stored in its place."""
        if not isinstance(found, h5py.h5d.DatasetID):
            return None
        if not h5py.h5a.exists(found, b"MATLAB_empty"):
            return None
        checked = self.file.check_dataset(found, place, {"integer"}, "extents")
        if checked.count > 2:
            raise checked.error("is empty and has more than two extents")
        extents = tuple(int(extent) for extent in np.ravel(checked.read_numbers()))
        if math.prod(extents) != 0:
            raise checked.error(f"is marked as empty but has extents {extents}")
        return extents

    def _string(self, reference: object, place: str) -> str:
        """Return the characters that an element of a cell array refers to."""
        if not reference:
            raise self.file.error(place, "refers to nothing")
        found = h5py.h5r.dereference(reference, self.file.file.id)
        place = f"{place}{{}}"
        if self._empty_extents(found, place) is not None:
            return ""
        letters = self.file.check_dataset(found, place, {"integer"}, "characters")
        if self.file.attribute("MATLAB_class", found) != "char" or letters.item_size != 2:
            raise letters.error("must hold characters")
        if letters.count and max(letters.shape, default=1) != letters.count:
            raise letters.error("must hold one row of characters in each cell")
        self.budget.claim(8 * letters.count, f"data set `/{place}`")
        return np.ravel(letters.read_numbers()).astype("<u2").tobytes().decode("utf-16-le")
