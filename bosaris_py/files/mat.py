"""Read and write all kinds of objects as MATLAB files.

The variable is called ``ndx``, ``key``, ``scr``, ``qual`` (both quality classes) or ``idmap``; its
fields are those of the toolkit's class. Files are written in MATLAB's format of versions 5 to 7,
compressed, with MATLAB's types: logical masks, cell columns of character rows, double or single
scores. Files of version 7.3, which are HDF5 inside, are read too, and sparse matrices. Only plain
structs are read: the toolkit's save functions turn objects into structs.
"""

from __future__ import annotations

import contextlib
import io
import math
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import h5py
import numpy as np
import scipy

from bosaris_py._arrays import AnyArray, mark_read_only
from bosaris_py._validation import FilePath, as_path, list_some, safe
from bosaris_py._version import __version__
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.files import hdf5
from bosaris_py.files.hdf5_writing import FIELDS, KINDS, MASKS, Arrays, refuse_unstorable
from bosaris_py.files.replacing import replacing

# The text at the start of a file; behind it come the version and the mark of the byte order.
_HEADER_TEXT, _HEADER = 116, 128
# Types of what a file of version 5 to 7 is made of.
_MATRIX, _COMPRESSED = 14, 15

# How files of Octave's own formats begin.
OCTAVE = (b"# Created by Octave", b"Octave-1-")

_NO_CELLS = (
    "must be a cell array of texts: {0} = cellstr({0}) makes one of characters or strings, and "
    "{0} = arrayfun(@num2str, {0}, 'UniformOutput', false) of numbers; {{'m1'}} is one id"
)

# Fields of a struct: matrices with rows first, of cell arrays of texts vectors; None is neither.
Struct: TypeAlias = dict[str, AnyArray | None]


def read(kind: str, path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the arrays of an object of a kind of `KINDS`: the arguments of its constructor.

    Masks that early releases of the toolkit did not write are all true.
    """
    file_path, wanted = as_path(path), KINDS[kind]
    struct = _load(file_path, wanted.variable, max_bytes)
    found = [name for name, other in KINDS.items() if other.variable and other.sign in struct]
    if found and kind not in found:
        other = KINDS[found[0]].class_name
        raise FileFormatError(f"{path}: expected {wanted.class_name}; the file holds {other}")
    arrays: Arrays = {}
    sizes: dict[str, int] = {}
    # The ids tell the extents of all others.
    for name in sorted(wanted.fields, key=lambda name: FIELDS[name].content != "ids"):
        place = f"{wanted.variable}.{name}"
        if name in struct:
            arrays[name] = _array(struct[name], name, sizes, place, f"{path}: field `{place}`")
        elif name in MASKS and kind == "quality_measures":
            shape = [sizes[dim] for dim in FIELDS[name].dims]
            arrays[name] = mark_read_only(np.ones(shape, dtype=np.bool_))
        else:
            has = list_some(sorted(struct)) or "nothing"
            raise FileFormatError(f"{path}: field `{place}` is missing; the struct has {has}")
    return arrays


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file: the first of `KINDS` whose struct it has."""
    file_path = as_path(path)
    present = _variables(file_path)
    for name, kind in KINDS.items():
        # Two classes share a variable; its fields tell which it is.
        if kind.variable in present and (
            kind.variable != "qual" or kind.sign in _load(file_path, "qual", None)
        ):
            return name
    has = list_some(present) or "nothing"
    raise FileFormatError(
        f"{path}: holds {has}, no struct of the toolkit, such as scr or key; save one by its "
        "save_mat, or bare scores as text: save -ascii"
    )


def write(kind: str, path: FilePath, **arrays: AnyArray) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step."""
    if sum(array.nbytes for array in arrays.values()) >= 2**31:
        message = f"{path}: MATLAB's format 7 ends at 2 GB for one variable; save as .h5 instead"
        raise InvalidInputError(message)
    record: dict[str, AnyArray] = {}
    for name in KINDS[kind].fields:
        array, field = arrays[name], FIELDS[name]
        if field.content == "ids":
            refuse_unstorable(array, name)
            array = array[:, np.newaxis].astype(object)
        elif field.dims in ("m", "n"):
            # The toolkit keeps `hasmodel` and `hasseg` as rows.
            array = array[np.newaxis]
        record[name] = array.astype(np.float64) if "q" in field.dims else array
    with replacing(path) as temporary:
        variables = {str(KINDS[kind].variable): record}
        scipy.io.savemat(str(temporary), variables, appendmat=False, do_compression=True)
        # scipy's header holds the time of day; equal content shall give equal files.
        text = f"MATLAB 5.0 MAT-file, written by bosaris_py {__version__}"
        with temporary.open("rb+") as stream:
            stream.write(text.ljust(_HEADER_TEXT).encode())


def _array(
    value: AnyArray | None, name: str, sizes: dict[str, int], place: str, where: str
) -> AnyArray:
    """Return a field as ids, a mask, or float32 or float64."""

    def error(text: str) -> FileFormatError:
        return FileFormatError(f"{where} {text}")

    kind = "" if value is None else value.dtype.kind
    if FIELDS[name].content == "ids":
        if value is None or (kind != "U" and value.size):
            raise error(_NO_CELLS.format(place))
        hdf5.fit(name, (value.size,), sizes, error)
        return mark_read_only(value.ravel().astype(np.str_))
    if value is None or kind not in "biuf" or value.ndim > 2:
        raise error("must be a matrix of real numbers")
    hdf5.fit(name, value.shape, sizes, error)
    array = np.array(value, order="C").reshape([sizes[dim] for dim in FIELDS[name].dims])
    if FIELDS[name].content == "mask":
        return hdf5.check_mask(array, where)
    is_float = array.dtype in (np.float32, np.float64)
    return mark_read_only(array if is_float else array.astype(np.float64))


def _order(path: Path) -> Literal["little", "big"] | None:
    """Return the byte order of a file, None of one of version 7.3, which is HDF5 inside."""
    with path.open("rb") as stream:
        header = stream.read(_HEADER)
    if header.startswith(OCTAVE):
        text = f"Octave's own format; MATLAB's is written by save('-v7', '{path.name}', ...)"
        raise FileFormatError(f"{path}: {text}")
    # The version is a number of two bytes; the mark behind it tells their order.
    place = {b"IM": 125, b"MI": 124}.get(header[126:128])
    if place is None or header[place] not in (1, 2):
        text = "no MATLAB file of version 5 to 7.3, or truncated; Octave saves one with -v7"
        raise FileFormatError(f"{path}: {text}")
    return None if header[place] == 2 else "little" if place == 125 else "big"


def _variables(path: Path) -> list[str]:
    """Return the names of the variables in a file."""
    if _order(path) is None:
        with hdf5.opened(path) as source:
            return [name for name in source.file if not name.startswith("#")]
    with _damage(path):
        return [name for name, *_ in scipy.io.whosmat(path, appendmat=False)]


def _load(path: Path, variable: str, max_bytes: int | None) -> Struct:
    """Return the fields of the one struct that is called so."""
    if variable not in (present := _variables(path)):
        raise _no_struct(path, variable, present)
    order, room = _order(path), hdf5.half_of_memory() if max_bytes is None else max_bytes
    if order is None:
        with hdf5.opened(path, room) as source:
            return _struct_of_73(source, variable)
    with _damage(path):
        load: Callable[..., dict[str, AnyArray]] = scipy.io.loadmat
        codec = f"utf-16-{order[0]}e"
        packed = _packed(path, order, room)
        found = load(packed, variable_names=[variable], uint16_codec=codec)[variable]
        if type(found) is not np.ndarray or found.dtype.names is None or found.size != 1:
            raise _no_struct(path, variable)
        fields = dict(zip(found.dtype.names, found.item(), strict=True))
        # Of a compressed file this is known only now.
        if sum(getattr(value, "nbytes", 0) for value in fields.values()) > room:
            raise _too_large(path, room)
        return {name: _plain(value, path, room) for name, value in fields.items()}


def _packed(path: Path, order: Literal["little", "big"], room: int) -> io.BytesIO:
    """Return the file with its variables compressed: only there scipy sees bytes that are left."""
    if path.stat().st_size > room:
        raise _too_large(path, room)
    data, place = path.read_bytes(), _HEADER
    parts = [data[:place]]
    while place < len(data):
        kind, size = (int.from_bytes(data[place + i : place + i + 4], order) for i in (0, 4))
        element = data[place : place + 8 + size]
        place += 8 + size
        if kind == _MATRIX:
            packed = zlib.compress(element, 1)
            element = _COMPRESSED.to_bytes(4, order) + len(packed).to_bytes(4, order) + packed
        parts.append(element)
    return io.BytesIO(b"".join(parts))


def _plain(value: object, path: Path, room: int) -> AnyArray | None:
    """Return a full matrix, or of a list of rows of characters the texts; None of other values."""
    if isinstance(value, scipy.sparse.csc_matrix | scipy.sparse.csc_array):
        # Places outside of it would be written to.
        value.check_format(full_check=True)
        if math.prod(value.shape) * 8 > room:
            raise _too_large(path, room)
        return value.toarray()
    if not isinstance(value, np.ndarray) or value.dtype.kind in "UV":
        return None
    if value.dtype != np.dtype(object):
        return value
    items = [np.asarray(item) for item in value.ravel()]
    good = all(item.size == 0 or (item.size == 1 and item.dtype.kind == "U") for item in items)
    if not good or (value.size and value.size != max(value.shape)):
        return None
    texts = [str(item.item()) if item.size else "" for item in items]
    if any("\ufffd" in text for text in texts):
        raise ValueError("characters that are no Unicode")
    return np.array(texts, np.str_)


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong inside scipy's reader into `FileFormatError`."""
    try:
        yield
    # scipy maps the faults of a damaged file to a dozen built-in exceptions.
    except Exception as error:
        if isinstance(error, OSError) and (error.errno or isinstance(error, FileFormatError)):
            raise
        text = (
            "damaged, or a matrix holds more than its extents ask; Octave writes sparse logical "
            "matrices so: save full(mask)"
        )
        raise FileFormatError(f"{path}: {text} ({safe(error, 200)})") from error


def _no_struct(path: Path, variable: str, present: list[str] | None = None) -> FileFormatError:
    """Return the error for a file without the variable, or for one that is no single struct."""
    text = f"must be one struct; save it with the toolkit's save_mat, or as struct({variable})"
    if present is not None:
        text = f"is missing; the file holds {list_some(present) or 'nothing'}"
    return FileFormatError(f"{path}: the variable `{variable}` {text}")


def _too_large(path: Path, room: int) -> FileFormatError:
    """Return the error for a file that takes more memory than it may."""
    text = f"larger than `max_bytes`, {room:,}; by default half of the memory"
    return FileFormatError(f"{path}: {text}")


# Version 7.3: matrices have their extents reversed, characters are numbers of two bytes, and a cell
# array refers to its elements.


def _struct_of_73(source: hdf5.Source, variable: str) -> Struct:
    """Return the fields of a struct in a file of version 7.3."""
    group = source.find(variable)
    is_struct = hasattr(group, "keys") and source.attribute("MATLAB_class", group) == "struct"
    if group is None or not is_struct or source.attribute("MATLAB_object_decode", group):
        raise _no_struct(source.path, variable)
    return {name: _value_of_73(source, f"{variable}/{name}") for name in group if name in FIELDS}


def _value_of_73(source: hdf5.Source, place: str) -> AnyArray | None:
    """Return a matrix or, of a cell array, its texts; None for what is neither."""
    found = source.find(place)
    if found is None or "MATLAB_object_decode" in found.attrs:
        return None
    if "MATLAB_sparse" in found.attrs:
        parts = [f"{place}/{part}" for part in ("data", "ir", "jc")]
        data, rows, ends = (source.data_set(part, "any").check().read() for part in parts)
        shape = int(found.attrs["MATLAB_sparse"]), ends.size - 1
        return _plain(scipy.sparse.csc_array((data, rows, ends), shape), source.path, source.room)
    kind = source.attribute("MATLAB_class", found)
    if not hasattr(found, "shape") or kind == "char":
        return None
    if "MATLAB_empty" in found.attrs:
        checked = source.data_set(place, "positions", found).check()
        extents = tuple(checked.read().ravel().tolist())
        if 0 not in extents:
            raise checked.error(f"is marked as empty but has extents {extents}")
        return np.empty(extents, dtype=np.float32 if kind == "single" else np.float64)
    data_set = source.data_set(place, "any", found).check()
    if found.dtype.kind != "O":
        return data_set.read().T
    is_list = h5py.check_ref_dtype(found.dtype) is h5py.Reference and found.size == max(found.shape)
    texts = [_text_of_73(source, item, place) for item in np.ravel(found[()] if is_list else [])]
    return None if None in texts or not is_list else np.array(texts, np.str_)


def _text_of_73(source: hdf5.Source, reference: h5py.Reference, place: str) -> str | None:
    """Return the row of characters that an element of a cell array refers to, if it is one."""
    found = source.file[reference] if reference else None
    if found is None or source.attribute("MATLAB_class", found) != "char":
        return None
    if "MATLAB_empty" in found.attrs:
        return ""
    letters = source.data_set(f"{place}{{}}", "positions", found).check()
    if found.size != max(found.shape, default=1) or found.dtype.itemsize != 2:
        return None
    return letters.read().ravel().astype("<u2").tobytes().decode("utf-16-le")
