"""What writers of HDF5 files share: types, blocks, and a file that appears in one step."""

from collections.abc import Callable
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath
from bosaris_py._version import __version__
from bosaris_py.errors import InvalidInputError
from bosaris_py.storage._hdf5_layouts import FORMAT_VERSION
from bosaris_py.storage._ids import character_codes, refuse_nul
from bosaris_py.storage._written_hdf5 import create_hdf5
from bosaris_py.storage.atomic import atomic_write

__all__ = [
    "new_mask",
    "new_numbers",
    "new_vector",
    "put_array",
    "put_attribute",
    "put_ids",
    "put_mask",
    "put_numbers",
    "put_strings",
    "put_vector",
    "write_hdf5",
]

_CHUNK_BYTES = 2**20
# Below this size compressed data take more bytes than plain ones.
_COMPRESS_FROM = 2**12
# The fastest level: a mask shrinks no further at the others.
_GZIP_LEVEL = 1


def write_hdf5(path: FilePath, kind: str, fill: Callable[[Any], None]) -> None:
    """Create a file of one kind, let `fill` put its data sets, and put it in place."""
    # The oldest format of the library, because MATLAB of the toolkit's days reads it.
    versions = ("earliest", "v108")

    def fill_all(file: Any) -> None:
        put_attribute(file.id, "format", f"bosaris_py.{kind}")
        put_attribute(file.id, "format_version", FORMAT_VERSION)
        put_attribute(file.id, "created_by", f"bosaris_py {__version__}")
        fill(file)

    with atomic_write(path) as temporary:
        create_hdf5(temporary, path, fill_all, libver=versions)


def _string_type(width: int, *, is_ascii: bool) -> Any:
    """Return the HDF5 type of a null-terminated string of `width` bytes."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(width)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    kind.set_cset(h5py.h5t.CSET_ASCII if is_ascii else h5py.h5t.CSET_UTF8)
    return kind


def put_attribute(location: Any, name: str, text: str) -> None:
    """Put a scalar text attribute of fixed length."""
    kind = _string_type(len(text) + 1, is_ascii=True)
    scalar = h5py.h5s.create(h5py.h5s.SCALAR)
    attribute = h5py.h5a.create(location, name.encode(), kind, scalar)
    attribute.write(np.array(text.encode(), dtype=f"S{len(text) + 1}"), mtype=kind)


def put_ids(root: Any, models: npt.NDArray[np.str_], segments: npt.NDArray[np.str_]) -> None:
    """Put the ids of rows and columns, in the toolkit's order."""
    put_strings(root, "ID/row_ids", models)
    put_strings(root, "ID/column_ids", segments)


def put_strings(root: Any, name: str, ids: npt.NDArray[np.str_]) -> None:
    """Put strings of fixed length, one byte longer than the longest, as MATLAB does."""
    refuse_nul(ids, name)
    is_ascii = bool(character_codes(ids).max(initial=0) < 128)
    try:
        encoded = ids.astype(np.bytes_) if is_ascii else np.strings.encode(ids, "utf-8")
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
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, encoded.astype(f"S{width}"), mtype=kind)


def put_numbers(root: Any, name: str, numbers: npt.NDArray[Any]) -> None:
    """Put a matrix of numbers, in blocks of rows and uncompressed."""
    put_array(root, name, numbers, chunks=_chunk_shape(numbers.shape, numbers.dtype))


def put_mask(root: Any, name: str, mask: npt.NDArray[Any]) -> None:
    """Put a mask, in blocks of rows and compressed unless it is tiny."""
    chunks = _chunk_shape(mask.shape, mask.dtype)
    put_array(root, name, mask, chunks=chunks, **_compression(mask.size))


def new_numbers(root: Any, name: str, shape: tuple[int, int], dtype: npt.DTypeLike) -> Any:
    """Create what `put_numbers` would put, to be filled row by row."""
    chunks = _chunk_shape(shape, np.dtype(dtype))
    return root.create_dataset(name, shape, dtype, track_times=False, chunks=chunks)


def new_mask(root: Any, name: str, shape: tuple[int, int], dtype: npt.DTypeLike) -> Any:
    """Create what `put_mask` would put, to be filled row by row."""
    options = {"chunks": _chunk_shape(shape, np.dtype(dtype)), **_compression(shape[0] * shape[1])}
    return root.create_dataset(name, shape, dtype, track_times=False, **options)


def new_vector(
    root: Any, name: str, count: int, dtype: npt.DTypeLike, *, chunk: int, compressed: bool
) -> Any:
    """Create a vector in blocks, to be filled part by part; it can be made shorter."""
    options: dict[str, Any] = {}
    if count:
        options["chunks"] = (min(count, chunk),)
    if count and compressed:
        options.update(compression="gzip", compression_opts=_GZIP_LEVEL, shuffle=True)
    return root.create_dataset(name, (count,), dtype, track_times=False, **options)


def _compression(size: int) -> dict[str, Any]:
    if size < _COMPRESS_FROM:
        return {}
    return {"compression": "gzip", "compression_opts": _GZIP_LEVEL}


def put_array(root: Any, name: str, data: npt.NDArray[Any], **options: Any) -> None:
    """Put a data set without a time stamp, so that equal content gives equal files."""
    root.create_dataset(name, data=data, track_times=False, **options)


def put_vector(root: Any, name: str, vector: npt.NDArray[Any]) -> None:
    """Put one number per trial in blocks, compressed after sorting bytes by their place.

    That is for positions and codes, which change little from trial to trial; scores would
    hardly shrink.
    """
    options: dict[str, Any] = {}
    if vector.size >= _COMPRESS_FROM:
        options = {
            "chunks": (min(vector.size, _CHUNK_BYTES // vector.itemsize),),
            **_compression(vector.size),
            "shuffle": True,
        }
    put_array(root, name, vector, **options)


def _chunk_shape(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Return the shape of blocks of whole rows of about `_CHUNK_BYTES`.

    A block of rows is what streaming reads at once. Only if a single row is longer
    than that is it cut, too. Without elements there are no blocks.
    """
    rows, columns = shape
    if 0 in shape:
        return None
    in_block = _CHUNK_BYTES // dtype.itemsize
    return max(1, min(rows, in_block // columns)), min(columns, in_block)
