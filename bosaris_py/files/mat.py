"""Read and write all kinds of objects as MATLAB files.

The variable is called ``ndx``, ``key``, ``scr``, ``qual`` (both quality classes) or ``idmap``; its
fields are those of the toolkit's class. Files are written in MATLAB's format of versions 5 to 7,
compressed, with MATLAB's types: logical masks, cell columns of character rows, double or single
scores. Files of version 7.3, which are HDF5 inside, are read too. Only plain structs are read: the
toolkit's save functions turn objects into structs.
"""

from __future__ import annotations

import contextlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, TypeAlias

import h5py
import numpy as np
import scipy

from bosaris_py._arrays import AnyArray, mark_read_only
from bosaris_py._validation import FilePath, as_path, list_some, safe
from bosaris_py._version import __version__
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.files.hdf5 import H5, Arrays, Source, check_mask, fit, half_of_memory, opened
from bosaris_py.files.hdf5_writing import refuse_unstorable
from bosaris_py.files.layout import FIELDS, KINDS
from bosaris_py.files.replacing import replacing

# Fields by which the kind of a struct is recognised.
_SIGNS = {
    "trialmask": "ndx",
    "tar": "key",
    "scoremat": "scores",
    "modelQ": "quality_measures",
    "values": "segment_quality",
    "leftids": "id_map",
}

# The text at the start of a file; behind it come the version and the mark of the byte order.
_HEADER_TEXT = 116
# Types of what a file of version 5 to 7 is made of.
_MATRIX, _COMPRESSED = 14, 15

# Fields of a struct: matrices with rows first, of cell arrays of texts vectors; None is neither.
Struct: TypeAlias = dict[str, AnyArray | None]


def read(kind: str, path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the arrays of an object of a kind of `KINDS`: the arguments of its constructor.

    Masks that early releases of the toolkit did not write are all true.
    """
    file_path, wanted = as_path(path), KINDS[kind]
    struct = _load(file_path, str(wanted.variable), max_bytes)
    found = [_SIGNS[name] for name in struct if name in _SIGNS]
    if found and kind not in found:
        other = KINDS[found[0]].class_name
        raise FileFormatError(f"{path}: expected {wanted.class_name}; the file holds {other}")
    optional = {*wanted.optional} - ({"hasseg"} if "hasmodel" in struct else set())
    arrays: Arrays = {}
    sizes: dict[str, int] = {}
    # The ids tell the extents of all others.
    for name in sorted(wanted.fields, key=lambda name: FIELDS[name].content != "ids"):
        where = f"{file_path}: field `{wanted.variable}.{name}`"
        if name in struct:
            arrays[name] = _array(struct[name], name, sizes, where)
        elif name in optional:
            shape = [sizes[dim] for dim in FIELDS[name].dims]
            arrays[name] = mark_read_only(np.ones(shape, dtype=np.bool_))
        else:
            has = list_some(sorted(struct)) or "nothing"
            raise FileFormatError(f"{where} is missing; the struct has {has}")
    return arrays


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file: the first of `KINDS` whose struct it has."""
    file_path = as_path(path)
    present = _variables(file_path)
    for name, kind in KINDS.items():
        # Two classes share a variable; its fields tell which it is.
        if kind.variable in present and (
            kind.variable != "qual" or kind.fields[0] in _load(file_path, "qual", None)
        ):
            return name
    raise _no_variable(file_path, "ndx", present)


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


def _array(value: AnyArray | None, name: str, sizes: dict[str, int], where: str) -> AnyArray:
    """Return a field as ids, a mask, or float32 or float64."""

    def error(text: str) -> FileFormatError:
        return FileFormatError(f"{where} {text}")

    content = FIELDS[name].content
    kind = "" if value is None else value.dtype.kind
    if value is not None and content == "ids" and (kind == "U" or value.size == 0):
        fit(name, (value.size,), sizes, error)
        return mark_read_only(value.ravel().astype(np.str_))
    if content == "ids":
        raise error("must be a cell array of rows of characters; cellstr(x) makes one")
    if value is None or kind not in "biuf":
        raise error("must be a full matrix of real numbers; full(x) makes one of a sparse matrix")
    shape = fit(name, value.shape, sizes, error)
    array = np.array(value, order="C").reshape(shape)
    if content == "mask":
        return check_mask(array, where)
    is_float = array.dtype in (np.float32, np.float64)
    return mark_read_only(array if is_float else array.astype(np.float64))


def _version(path: Path) -> tuple[bool, str]:
    """Tell whether a file is of version 7.3, which is HDF5 inside, and how its texts are coded."""
    with path.open("rb") as stream:
        header = stream.read(128)
    # The version is a number of two bytes; the mark behind it tells their order.
    place = {b"IM": 125, b"MI": 124}.get(header[126:128])
    if place is None or header[place] not in (1, 2):
        text = "no MATLAB file of version 5 to 7.3, or truncated; Octave saves one with -v7"
        raise FileFormatError(f"{path}: {text}")
    return header[place] == 2, "utf-16-le" if place == 125 else "utf-16-be"


def _variables(path: Path) -> list[str]:
    """Return the names of the variables in a file."""
    if _version(path)[0]:
        with opened(path) as source:
            return [name for name in source.file if not name.startswith("#")]
    with _damage(path):
        return [name for name, *_ in scipy.io.whosmat(path, appendmat=False)]


def _load(path: Path, variable: str, max_bytes: int | None) -> Struct:
    """Return the fields of the one struct that is called so."""
    if variable not in (present := _variables(path)):
        raise _no_variable(path, variable, present)
    is_73, codec = _version(path)
    if is_73:
        with opened(path, max_bytes) as source:
            return _struct_of_73(source, variable)
    room = half_of_memory() if max_bytes is None else max_bytes
    too_large = f"{path}: larger than `max_bytes`, {room:,}; by default half of the memory"
    if path.stat().st_size > room:
        raise FileFormatError(too_large)
    with _damage(path):
        options: Any = {"variable_names": [variable], "uint16_codec": codec}
        packed: Any = _packed(path)
        found: AnyArray = scipy.io.loadmat(packed, appendmat=False, **options)[variable]
        if type(found) is not np.ndarray or found.dtype.names is None or found.size != 1:
            raise _no_struct(path, variable)
        fields = dict(zip(found.dtype.names, found.item(), strict=True))
        # Of a compressed file this is known only now.
        if sum(getattr(value, "nbytes", 0) for value in fields.values()) > room:
            raise FileFormatError(too_large)
        return {name: _plain(value) for name, value in fields.items()}


def _packed(path: Path) -> io.BytesIO:
    """Return the file with its variables compressed: only there scipy sees bytes that are left."""
    data, place = path.read_bytes(), 128
    order: Literal["little", "big"] = "little" if data[126:128] == b"IM" else "big"
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


def _plain(value: object) -> AnyArray | None:
    """Return a full matrix, or of a list of rows of characters the texts; None of other values."""
    if not isinstance(value, np.ndarray) or value.dtype.kind == "U":
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
        text = "damaged, or a sparse logical matrix that Octave wrote is in it: save full(x)"
        raise FileFormatError(f"{path}: {text} ({safe(error, 200)})") from error


def _no_variable(path: Path, variable: str, found: list[str]) -> FileFormatError:
    """Return the error for a file without the variable."""
    names = list_some(found) or "nothing"
    return FileFormatError(f"{path}: the variable `{variable}` is missing; the file holds {names}")


def _no_struct(path: Path, variable: str) -> FileFormatError:
    """Return the error for a variable that is no single struct."""
    hint = "save it with the toolkit's save_mat, or as struct(object)"
    return FileFormatError(f"{path}: the variable `{variable}` must be one struct; {hint}")


# Version 7.3: matrices have their extents reversed, characters are numbers of two bytes, and a cell
# array refers to its elements.


def _struct_of_73(source: Source, variable: str) -> Struct:
    """Return the fields of a struct in a file of version 7.3."""
    group = source.find(variable)
    is_struct = hasattr(group, "keys") and source.attribute("MATLAB_class", group) == "struct"
    if group is None or not is_struct or source.attribute("MATLAB_object_decode", group):
        raise _no_struct(source.path, variable)
    return {name: _value_of_73(source, f"{variable}/{name}") for name in group if name in FIELDS}


def _value_of_73(source: Source, place: str) -> AnyArray | None:
    """Return a matrix or, of a cell array, its texts; None for what is neither."""
    found = source.find(place)
    if found is None or not hasattr(found, "shape"):
        # A struct, or a sparse matrix.
        return None
    kind = source.attribute("MATLAB_class", found)
    if (extents := _empty_extents(source, found, place)) is not None:
        return np.empty(extents, dtype=np.float32 if kind == "single" else np.float64)
    data_set = source.data_set(place, "any", found).check()
    if kind == "char":
        return None
    if found.dtype.kind != "O":
        return data_set.read().T
    is_list = h5py.check_ref_dtype(found.dtype) is h5py.Reference and found.size == max(found.shape)
    texts = [_text_of_73(source, item, place) for item in np.ravel(found[()] if is_list else [])]
    return np.array(texts, np.str_) if is_list else None


def _text_of_73(source: Source, reference: h5py.Reference, place: str) -> str:
    """Return the row of characters that an element of a cell array refers to."""
    if not reference:
        raise source.error(place, "refers to nothing")
    found = source.file[reference]
    if source.attribute("MATLAB_class", found) != "char":
        raise source.error(place, "must hold rows of characters only")
    if _empty_extents(source, found, place) is not None:
        return ""
    letters = source.data_set(f"{place}{{}}", "letters", found).check()
    if found.size != max(found.shape, default=1) or found.dtype.itemsize != 2:
        raise letters.error("must hold one row of characters in each cell")
    return letters.read().ravel().astype("<u2").tobytes().decode("utf-16-le")


def _empty_extents(source: Source, found: H5, place: str) -> tuple[int, ...] | None:
    """Return the extents of an empty matrix, which are stored in its place."""
    if "MATLAB_empty" not in found.attrs:
        return None
    checked = source.data_set(place, "extents", found).check()
    extents = tuple(checked.read().ravel().tolist())
    if len(extents) != 2 or 0 not in extents:
        raise checked.error(f"is marked as empty but has extents {extents}")
    return extents
