"""Read and write all kinds of objects as MATLAB files.

The variable is called ``ndx``, ``key``, ``scr``, ``qual`` (both quality classes) or ``idmap``; its
fields are those of the toolkit's class. Files are written in MATLAB's format of versions 5 to 7,
compressed, with MATLAB's types: logical masks, cell columns of character rows, double or single
scores. Files of version 7.3, which are HDF5 inside, are read too, and sparse matrices. Only plain
structs are read: the toolkit's save functions turn objects into structs.
"""

import contextlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import h5py
import numpy as np
import scipy

from bosaris_py import __version__, _validation as check, errors
from bosaris_py._arrays import AnyArray, FilePath, mark_read_only
from bosaris_py.files import hdf5
from bosaris_py.files.hdf5 import FIELDS, KINDS, MASKS, Arrays
from bosaris_py.files.replacing import replacing

# How files of Octave's own formats begin.
OCTAVE = (b"# Created by Octave", b"Octave-1-")

_NO_CELLS = (
    "must be a cell array of texts: {0} = cellstr({0}) makes one of characters or strings, and "
    "{0} = arrayfun(@num2str, {0}, 'UniformOutput', false) of numbers; {{'m1'}} is one id"
)

# It marks them as full, with numbers of rows as their content.
_OCTAVE_SPARSE = "damaged, or a sparse logical matrix as Octave writes it: save full(mask)"

# Fields of a struct: matrices with rows first, of cell arrays of texts vectors; None is neither.
Struct = dict[str, AnyArray | None]


def read(kind: str, path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the arrays of an object of a kind of `KINDS`: the arguments of its constructor.

    Masks that early releases of the toolkit did not write are all true.
    """
    wanted = KINDS[kind]
    struct = _load(check.as_path(path), wanted.variable, max_bytes)
    arrays: Arrays = {}
    sizes: dict[str, int] = {}
    # The ids tell the extents of all others.
    for name in sorted(wanted.fields, key=lambda name: FIELDS[name].content != "ids"):
        field, where = FIELDS[name], f"{path}: field `{wanted.variable}.{name}`"
        if name in struct:
            arrays[name] = _array(struct[name], field, sizes, where)
        elif name in MASKS and kind == "quality_measures":
            arrays[name] = mark_read_only(np.ones([sizes[dim] for dim in field.dims], np.bool_))
        else:
            raise errors.FileFormatError(f"{where} is missing; is this another object?")
    return arrays


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file: the first of `KINDS` whose struct it has."""
    place = check.as_path(path)
    present = _variables(place)
    for name, kind in KINDS.items():
        # Two classes share a variable; its fields tell which it is.
        if kind.variable in present and (
            kind.variable != "qual" or kind.sign in _load(place, "qual", None)
        ):
            return name
    text = "no struct of the toolkit, such as scr or key; save bare scores as text: save -ascii"
    raise errors.FileFormatError(f"{path}: holds {check.list_some(present) or 'nothing'}, {text}")


def write(kind: str, path: FilePath, **arrays: AnyArray) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step."""
    if sum(array.nbytes for array in arrays.values()) >= 2**31:
        message = f"{path}: MATLAB's format 7 ends at 2 GB for one variable; save as .h5 instead"
        raise errors.InvalidInputError(message)
    record: dict[str, AnyArray] = {}
    for name in KINDS[kind].fields:
        array, field = arrays[name], FIELDS[name]
        if field.content == "ids":
            hdf5.refuse_unstorable(array, name)
            array = array[:, np.newaxis].astype(object)
        elif field.dims in ("m", "n"):
            # The toolkit keeps `hasmodel` and `hasseg` as rows.
            array = array[np.newaxis]
        record[name] = array.astype(np.float64) if "q" in field.dims else array
    with replacing(path) as temporary:
        variables = {KINDS[kind].variable: record}
        scipy.io.savemat(str(temporary), variables, appendmat=False, do_compression=True)
        # scipy's header holds the time of day; equal content shall give equal files.
        text = f"MATLAB 5.0 MAT-file, written by bosaris_py {__version__}"
        with temporary.open("rb+") as stream:
            stream.write(text.ljust(116).encode())


def _array(
    value: AnyArray | None, field: hdf5.Field, sizes: dict[str, int], where: str
) -> AnyArray:
    """Return a field as ids, a mask, or float32 or float64."""
    is_text = field.content == "ids"
    if value is None or value.ndim > 2 or (value.dtype.kind not in ("U" if is_text else "biuf")):
        fault = _NO_CELLS.format(where.split("`")[1]) if is_text else "must be a matrix of numbers"
        raise errors.FileFormatError(f"{where} {fault}")
    if fault := hdf5.fit(field.dims, (value.size,) if is_text else value.shape, sizes):
        raise errors.FileFormatError(f"{where} {fault}")
    array = np.array(value, order="C").reshape([sizes[dim] for dim in field.dims])
    if field.content == "mask":
        if array.dtype == np.int32:
            raise errors.FileFormatError(f"{where} {_OCTAVE_SPARSE}")
        return hdf5.as_mask(array, where)
    is_float = array.dtype in (np.float32, np.float64)
    return mark_read_only(array if is_text or is_float else array.astype(np.float64))


def _order(path: Path) -> Literal["little", "big"] | None:
    """Return the byte order of a file, None of one of version 7.3, which is HDF5 inside."""
    with path.open("rb") as stream:
        mark = stream.read(128)[124:]
    orders: dict[bytes, Literal["little", "big"]] = {b"\0\1IM": "little", b"\1\0MI": "big"}
    if mark not in orders and mark not in (b"\0\2IM", b"\2\0MI"):
        text = "no MATLAB file of version 5 to 7.3, or truncated; Octave saves one with -v7"
        raise errors.FileFormatError(f"{path}: {text}")
    return orders.get(mark)


def _variables(path: Path) -> list[str]:
    """Return the names of the variables in a file."""
    if _order(path) is None:
        with hdf5.opened(path) as source:
            return [name for name in source.file if not name.startswith("#")]
    with _damage(path):
        return [name for name, *_ in scipy.io.whosmat(path, appendmat=False)]


def _load(path: Path, variable: str, max_bytes: int | None) -> Struct:
    """Return the fields of the one struct that is called so."""
    order, room = _order(path), hdf5.half_of_memory() if max_bytes is None else max_bytes
    if order is None:
        with hdf5.opened(path, room) as source:
            return _struct_of_73(source, variable)
    _claim(path, path.stat().st_size, room)
    with _damage(path):
        load: Callable[..., dict[str, AnyArray]] = scipy.io.loadmat
        codec = f"utf-16-{order[0]}e"
        found = load(path, variable_names=[variable], uint16_codec=codec).get(variable)
        if found is None or found.dtype.names is None or found.size != 1:
            raise _no_struct(path, variable)
        fields = dict(zip(found.dtype.names, found.item(), strict=True))
        # Of a compressed file, and of sparse matrices, this is known only now.
        _claim(path, sum(8 * math.prod(value.shape) for value in fields.values()), room)
        return {name: _plain(value) for name, value in fields.items()}


def _plain(value: AnyArray | scipy.sparse.csc_array) -> AnyArray | None:
    """Return a full matrix, or of a list of rows of characters the texts; None of other values."""
    if scipy.sparse.issparse(value):
        # Places outside of it would be written to.
        value.check_format(full_check=True)
        return value.toarray()
    if value.dtype.kind in "UV":
        return None
    if value.dtype != np.dtype(object):
        return value
    items = [np.asarray(item) for item in value.ravel()]
    good = all(item.size == 0 or (item.size == 1 and item.dtype.kind == "U") for item in items)
    if not good or (value.size and value.size != max(value.shape)):
        return None
    return np.array([str(item.item()) if item.size else "" for item in items], np.str_)


@contextlib.contextmanager
def _damage(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong inside scipy's reader into `FileFormatError`."""
    try:
        yield
    except errors.FileFormatError:
        raise
    # scipy maps the faults of a damaged file to a dozen built-in exceptions.
    except Exception as error:
        raise errors.FileFormatError(
            f"{path}: {_OCTAVE_SPARSE} ({check.safe(error, 200)})"
        ) from error


def _no_struct(path: Path, variable: str) -> errors.FileFormatError:
    """Return the error for a file without the variable, or for one that is no single struct."""
    held = check.list_some(_variables(path)) or "nothing"
    text = f"which the toolkit's save_mat or struct({variable}) makes; the file holds {held}"
    return errors.FileFormatError(f"{path}: `{variable}` is not one struct, {text}")


def _claim(path: Path, needed: int, room: int) -> None:
    """Refuse more bytes than may be read."""
    if needed > room:
        text = f"larger than `max_bytes`, {room:,}; by default half of the memory"
        raise errors.FileFormatError(f"{path}: {text}")


# Version 7.3: matrices have their extents reversed, characters are numbers of two bytes, and a cell
# array refers to its elements.


def _struct_of_73(source: hdf5.Source, variable: str) -> Struct:
    """Return the fields of a struct in a file of version 7.3."""
    group = source.find(variable)
    if not hasattr(group, "keys") or source.attribute("MATLAB_class", group) != "struct":
        raise _no_struct(source.path, variable)
    return {name: _value_of_73(source, f"{variable}/{name}") for name in group if name in FIELDS}


def _value_of_73(source: hdf5.Source, place: str) -> AnyArray | None:
    """Return a matrix or, of a cell array, its texts; None for what is neither."""
    found = source.find(place)
    if "MATLAB_sparse" in getattr(found, "attrs", ()):
        names = [f"{place}/{part}" for part in ("data", "ir", "jc")]
        data, rows, ends = (source.data_set(name, "any").check().read() for name in names)
        shape = int(found.attrs["MATLAB_sparse"]), ends.size - 1
        source.claim(place, 8 * math.prod(shape))
        return _plain(scipy.sparse.csc_array((data, rows, ends), shape))
    kind = "" if found is None else source.attribute("MATLAB_class", found)
    if kind in ("", "char", "struct"):
        return None
    if "MATLAB_empty" in found.attrs:
        extents = source.data_set(place, "positions").check().read().ravel()
        return np.empty(extents if 0 in extents else 1)
    data_set = source.data_set(place, "any").check()
    if kind != "cell":
        return data_set.read().T
    texts = [_text_of_73(source, item, place) for item in np.ravel(found[()])]
    is_list = None not in texts and len(texts) == max(found.shape)
    return np.array(texts, np.str_) if is_list else None


def _text_of_73(source: hdf5.Source, reference: h5py.Reference, place: str) -> str | None:
    """Return the row of characters that an element of a cell array refers to, if it is one."""
    found = source.file[reference] if reference else None
    if found is None or source.attribute("MATLAB_class", found) != "char":
        return None
    if "MATLAB_empty" in found.attrs:
        return ""
    letters = source.data_set(f"{place}{{}}", "positions", found).check().read()
    is_row = letters.size == max(letters.shape) and letters.itemsize == 2
    return letters.tobytes().decode("utf-16-le") if is_row else None
