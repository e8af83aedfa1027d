"""Write the data sets of this package's HDF5 files."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, StrArray
from bosaris_py._validation import FilePath
from bosaris_py._version import __version__
from bosaris_py.errors import InvalidInputError
from bosaris_py.storage.atomic import atomic_write
from bosaris_py.storage.hdf5.checksums import block_rows, checksums, put_checksums
from bosaris_py.storage.hdf5.creation import Filling, create_hdf5
from bosaris_py.storage.ids import character_codes, refuse_unstorable
from bosaris_py.storage.schema import FIELDS, FORMAT_VERSION

# The attribute that says what has made the scores, and its one value.
MADE_BY, BY_MAP = "made_by", "map"

# Matrices up to this size are one chunk, as the toolkit writes them.
_CHUNK_BYTES = 2**20

# Trials in a chunk of all data sets in /trials, so that a range of them can be read at once.
CHUNK_TRIALS = 2**17

# Below this size compressed data take more bytes than plain ones.
_COMPRESS_FROM = 2**12

# Level 1 is the fastest. Masks and ascending positions shrink no further at the others.
_GZIP = {"compression": "gzip", "compression_opts": 1}

# Bytes sorted by their place in the number: for positions and codes, which change little from
# trial to trial. Scores would hardly shrink.
_SHUFFLED_GZIP = {**_GZIP, "shuffle": True}


def write_hdf5(path: FilePath, kind: str, fill: Filling, *, from_map: bool = False) -> None:
    """Create a file of one kind, let `fill` put its data sets, and put it in place.

    `from_map` says of scores that they are log-likelihood-ratios which a trained map has made.
    """
    # The oldest format of the library, because MATLAB of the toolkit's days reads it.
    versions = ("earliest", "v108")

    def fill_all(file: h5py.File) -> Iterable[None] | None:
        put_attribute(file.id, "format", f"bosaris_py.{kind}")
        put_attribute(file.id, "format_version", FORMAT_VERSION)
        put_attribute(file.id, "created_by", f"bosaris_py {__version__}")
        if from_map:
            put_attribute(file.id, MADE_BY, BY_MAP)
        return fill(file)

    with atomic_write(path) as temporary:
        create_hdf5(temporary, path, fill_all, libver=versions)


def put_field(root: object, name: str, array: AnyArray) -> None:
    """Put the data set of a field."""
    if array.dtype.kind == "U":
        put_strings(root, FIELDS[name].data_sets[0], array)
        return
    if array.dtype == np.bool_:
        array = array.view(np.uint8)
    elif "q" in FIELDS[name].dims:
        array = array.astype(np.float64, copy=False)
    new_field(root, name, array.shape, array.dtype, array)


def new_field(
    root: h5py.Group,
    name: str,
    shape: tuple[int, ...],
    dtype: npt.DTypeLike,
    data: AnyArray | None = None,
) -> h5py.Dataset:
    """Create the data set of a field, with `data` or to be filled by a `FieldWriter`."""
    field, size = FIELDS[name], math.prod(shape)
    options: dict[str, Any] = {}
    if len(shape) == 2:
        options["chunks"] = _chunk_shape(shape, np.dtype(dtype))
        if field.content == "mask" and size >= _COMPRESS_FROM:
            options.update(_GZIP)
    elif field.dims == "k" and size:
        options["chunks"] = (min(size, CHUNK_TRIALS),)
        if field.content != "numbers":
            options.update(_SHUFFLED_GZIP)
    return put(root, field.data_sets[0], data, shape=shape, dtype=dtype, **options)


def _chunk_shape(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> tuple[int, int] | None:
    """Return the shape of blocks of whole rows of about `_CHUNK_BYTES`."""
    # A block of rows is what streaming reads at once. Only if a single row is longer than
    # that is it cut, too. Without elements there are no blocks.
    rows, columns = shape
    if 0 in shape:
        return None
    in_block = _CHUNK_BYTES // dtype.itemsize
    return max(1, min(rows, in_block // columns)), min(columns, in_block)


def put(root: h5py.Group, name: str, data: AnyArray | None, **options: Any) -> h5py.Dataset:
    """Create a data set without a time stamp, so that equal content gives equal files."""
    # Whole chunks of rows that are not compressed need not pass through the library's cache.
    chunk = options.get("chunks") or (0,)
    direct = data is not None and data.shape[1:] == chunk[1:] != () and "compression" not in options
    made = root.create_dataset(name, data=None if direct else data, track_times=False, **options)
    if data is not None:
        if direct:
            whole = len(data) - len(data) % chunk[0]
            for start in range(0, whole, chunk[0]):
                rows_of_chunk = np.ascontiguousarray(data[start : start + chunk[0]])
                # h5py 3.11 takes no lock for single chunks.
                with h5py._objects.phil:
                    made.id.write_direct_chunk((start, 0), rows_of_chunk)
            made[whole:] = data[whole:]
        rows = block_rows(made)
        put_checksums(made.id, rows, checksums(data, rows))
    return made


class FieldWriter:
    """Fills the data set of a field part by part, and makes that of a vector as short as they are.

    Parameters
    ----------
    root, name, shape, dtype
        As for `new_field`.
    """

    def __init__(
        self, root: object, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike
    ) -> None:
        self._made = new_field(root, name, shape, dtype)
        self._step = block_rows(self._made)
        self.done = 0
        self._checksums: list[int] = []
        # Rows of a block that is not complete.
        self._rest: AnyArray = np.empty((0, *shape[1:]), self._made.dtype)

    def append(self, part: AnyArray) -> None:
        """Write the next rows."""
        part = part.astype(self._made.dtype, copy=False)
        self._made[self.done : self.done + len(part)] = part
        self.done += len(part)
        part = np.concatenate([self._rest, part]) if len(self._rest) else part
        whole = len(part) // self._step * self._step
        self._checksums += checksums(part[:whole], self._step)
        self._rest = part[whole:].copy()

    def close(self) -> None:
        """Finish the data set."""
        if self.done < self._made.shape[0]:
            self._made.resize((self.done,))
        rest = checksums(self._rest, self._step)
        put_checksums(self._made.id, self._step, self._checksums + rest)


def put_attribute(location: object, name: str, text: str) -> None:
    """Put a scalar text attribute of fixed length."""
    kind = _string_type(len(text) + 1, is_ascii=True)
    attribute = h5py.h5a.create(location, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(text.encode(), dtype=f"S{len(text) + 1}"), mtype=kind)


def put_strings(root: h5py.Group, name: str, ids: StrArray) -> None:
    """Put strings of fixed length, one byte longer than the longest, as MATLAB does."""
    refuse_unstorable(ids, name)
    codes = character_codes(ids)
    is_ascii = bool(codes.max(initial=0) < 128)
    if is_ascii:
        # numpy's own conversion looks at each string by itself.
        encoded = codes.astype(np.uint8).view(f"S{codes.shape[1]}").reshape(ids.shape)
    else:
        try:
            encoded = np.strings.encode(ids, "utf-8")
        except UnicodeEncodeError as error:
            message = f"an id for `/{name}` cannot be encoded as UTF-8: {error}"
            raise InvalidInputError(message) from error
    width = 1 + (int(np.strings.str_len(encoded).max()) if ids.size else 0)
    kind = _string_type(width, is_ascii=is_ascii)
    space = h5py.h5s.create_simple(ids.shape)
    parents = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    parents.set_create_intermediate_group(True)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_obj_track_times(False)
    dataset = h5py.h5d.create(root.id, name.encode(), kind, space, properties, lcpl=parents)
    if ids.size:
        stored = encoded.astype(f"S{width}")
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, stored, mtype=kind)
        put_checksums(dataset, ids.size, checksums(stored, ids.size))


def _string_type(width: int, *, is_ascii: bool) -> h5py.h5t.TypeStringID:
    """Return the HDF5 type of a null-terminated string of `width` bytes."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(width)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    kind.set_cset(h5py.h5t.CSET_ASCII if is_ascii else h5py.h5t.CSET_UTF8)
    return kind


def put_column(root: h5py.Group, name: str, column: AnyArray) -> None:
    """Put a vector, positions and codes in compressed chunks; floats would hardly shrink."""
    options: dict[str, Any] = {}
    if column.dtype.kind != "f" and column.size >= _COMPRESS_FROM:
        chunk = min(column.size, _CHUNK_BYTES // column.itemsize)
        options = {"chunks": (chunk,), **_SHUFFLED_GZIP}
    put(root, name, column, **options)
