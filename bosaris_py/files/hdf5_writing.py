"""Write all kinds of objects as HDF5, in the layout that `hdf5` tells."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping

import h5py
import numpy as np

from bosaris_py._arrays import AnyArray, StrArray
from bosaris_py._validation import FilePath
from bosaris_py._version import __version__
from bosaris_py.errors import InvalidInputError
from bosaris_py.files.hdf5 import COLUMN_KINDS, FORMAT_VERSION, H5, StoredColumn
from bosaris_py.files.layout import FIELDS, IDS
from bosaris_py.files.replacing import FULL_DISK, replacing

# Chunks are rows of about so many bytes, and of lists so many trials, that they can be read alike.
_CHUNK_BYTES, _CHUNK_TRIALS = 2**20, 2**17
# Below this size compressed data take more bytes than plain ones.
_COMPRESS_FROM = 2**12


def write(kind: str, path: FilePath, **arrays: AnyArray) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step."""
    if kind == "key":
        arrays["labels"] = arrays.pop("tar").view(np.int8) - arrays.pop("non").view(np.int8)
    with creating(path, kind, sum(array.nbytes for array in arrays.values())) as file:
        for name in sorted(arrays, key=list(FIELDS).index):
            dtype = np.float64 if "q" in FIELDS[name].dims else arrays[name].dtype
            put(file, FIELDS[name].names[0], arrays[name].astype(dtype, copy=False))
            if name == "labels":
                # By this the toolkit tells a key from a trial list.
                put(file, "file_format", np.array(["2.0"]))


def write_metadata(
    path: FilePath,
    *,
    form: str,
    columns: Mapping[str, Mapping[str, StoredColumn]],
    matrix: AnyArray | None = None,
    **trials: AnyArray | None,
) -> None:
    """Write trials and their columns, replacing an existing file in one step.

    `form` is the name of the class that holds the trials. `columns` has those of each of
    `COLUMN_KINDS`. The others are the fields of the kind, `is_target` perhaps None; trials are by
    segment, then by model. `matrix` has the labels as the toolkit reads them.
    """
    arrays = {FIELDS[name].names[0]: a for name, a in trials.items() if a is not None}
    for kind in COLUMN_KINDS:
        arrays[f"columns/{kind}/names"] = np.array(list(columns[kind]), dtype=np.str_)
        for number, column in enumerate(columns[kind].values()):
            where = f"columns/{kind}/{number}"
            if type(column) is tuple:
                arrays[f"{where}/codes"], arrays[f"{where}/levels"] = column
            else:
                arrays[f"{where}/values"] = np.asarray(column)
    if matrix is not None:
        arrays = {"trial_mask": matrix, "file_format": np.array(["2.0"]), **arrays}
    with creating(path, "trial_metadata", sum(array.nbytes for array in arrays.values())) as file:
        put_attribute(file, "form", form)
        for name, array in arrays.items():
            put(file, name, array)


def write_rows(
    path: FilePath,
    parts: Iterable[tuple[slice, AnyArray, AnyArray]],
    ids: tuple[StrArray, StrArray],
) -> None:
    """Write a `Scores` of float64 block by block: rows, their scores, and which of these hold."""
    shape = ids[0].size, ids[1].size
    with creating(path, "scores", 9 * math.prod(shape)) as file:
        scores = new_data_set(file, FIELDS["scoremat"].names[0], shape, np.dtype(np.float64))
        masks = new_data_set(file, FIELDS["scoremask"].names[0], shape, np.dtype(np.uint8))
        for rows, values, mask in parts:
            scores[rows], masks[rows] = values, mask.view(np.uint8)
        for name, each in zip(IDS, ids, strict=True):
            put(file, FIELDS[name].names[0], each)


@contextlib.contextmanager
def creating(path: FilePath, kind: str, size: int) -> Iterator[H5]:
    """Give a new file of one kind to put about so many bytes of data into."""
    with replacing(path) as temporary:
        # A full disk would end the whole process inside the library.
        with contextlib.suppress(AttributeError), temporary.open("rb+") as stream:
            try:
                os.posix_fallocate(stream.fileno(), 0, size + size // 50 + 2**16)
            except OSError as error:
                if error.errno in FULL_DISK:
                    raise
        # The oldest format of the library, because MATLAB of the toolkit's days reads it.
        with h5py.File(temporary, "w", libver=("earliest", "v108")) as file:
            put_attribute(file, "format", f"bosaris_py.{kind}")
            put_attribute(file, "format_version", FORMAT_VERSION)
            put_attribute(file, "created_by", f"bosaris_py {__version__}")
            yield file


def put(root: H5, name: str, array: AnyArray) -> None:
    """Put an array into a data set."""
    kind = None
    if array.dtype.kind == "U":
        refuse_unstorable(array, name)
        try:
            array = array.astype(np.bytes_)
        except UnicodeEncodeError:
            array = np.strings.encode(array, "utf-8")
        # One byte longer than the longest, as MATLAB does.
        array = array.astype(f"S{1 + int(np.strings.str_len(array).max(initial=0))}")
        is_ascii = bool(array.size == 0 or array.view(np.uint8).max() < 128)
        kind = _text_type(array.dtype.itemsize, is_ascii=is_ascii)
    array = np.ascontiguousarray(array.view(np.uint8) if array.dtype == np.bool_ else array)
    dtype = array.dtype if kind is None else h5py.Datatype(kind)
    made = new_data_set(root, name, array.shape, dtype)
    if array.size:
        made.id.write(h5py.h5s.ALL, h5py.h5s.ALL, array, mtype=kind)


def new_data_set(
    root: H5, name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic] | h5py.Datatype
) -> H5:
    """Create a data set in chunks with checksums, without a time stamp."""
    if not math.prod(shape):
        return root.create_dataset(name, shape, dtype, track_times=False)
    kind = None if hasattr(dtype, "id") else np.dtype(dtype)
    # Chunks of whole rows are what streaming reads at once; only longer rows are cut.
    most = _CHUNK_TRIALS if len(shape) == 1 or kind is None else _CHUNK_BYTES // kind.itemsize
    row = math.prod(shape[1:])
    chunks = (max(1, min(shape[0], most // row)), *(min(row, most) for _ in shape[1:]))
    # What is read where a chunk is lost is no id, score, label or position.
    lost = b"\xff" if kind is None else np.nan if kind.kind == "f" else np.iinfo(kind).max
    options = {"chunks": chunks, "fletcher32": True, "fillvalue": lost}
    if kind is not None and kind.kind in "iu" and math.prod(shape) >= _COMPRESS_FROM:
        # Scores would hardly shrink. Shuffled are the bytes of positions, which change little.
        options |= {"compression": "gzip", "compression_opts": 1, "shuffle": kind.itemsize > 1}
    return root.create_dataset(name, shape, dtype, track_times=False, **options)


def put_attribute(root: H5, name: str, text: str) -> None:
    """Put a text attribute of fixed length."""
    value = np.array(text.encode(), dtype=f"S{len(text) + 1}")
    kind = _text_type(len(text) + 1, is_ascii=True)
    space = h5py.h5s.create(h5py.h5s.SCALAR)
    h5py.h5a.create(root.id, name.encode(), kind, space).write(value, mtype=kind)


def refuse_unstorable(ids: StrArray, name: str) -> None:
    """Raise if an id holds a NUL, which ends a string, or is no Unicode."""
    text = "".join(ids.tolist())
    try:
        text.encode()
        fault = "holds a NUL character, which files cannot store" if "\0" in text else ""
    except UnicodeEncodeError as error:
        fault = f"cannot be encoded as UTF-8: {error}"
    if fault:
        raise InvalidInputError(f"an id of `{name}` {fault}")


def _text_type(width: int, *, is_ascii: bool) -> h5py.h5t.TypeStringID:
    """Return the HDF5 type of a null-terminated string of `width` bytes."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(width)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    kind.set_cset(h5py.h5t.CSET_ASCII if is_ascii else h5py.h5t.CSET_UTF8)
    return kind
