"""What files of trials hold, and how it is written as HDF5; `hdf5` tells the layout."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import attrs
import h5py
import numpy as np

from bosaris_py._arrays import AnyArray, StrArray
from bosaris_py._validation import FilePath
from bosaris_py._version import __version__
from bosaris_py.errors import InvalidInputError
from bosaris_py.files.replacing import FULL_DISK, replacing

FORMAT_VERSION = "1.0"

# What h5py, which has no types, gives: files, groups, data sets and their identifiers.
H5: TypeAlias = "h5py.Dataset"
# Of a column: positions in levels, and the levels; or numbers.
StoredColumn: TypeAlias = tuple[AnyArray, StrArray] | AnyArray
# Arguments of the constructor of the class that was read, by name.
Arrays: TypeAlias = dict[str, Any]


@attrs.frozen
class Field:
    """Content of an argument of a class, its dimensions, and the names of its data set.

    Dimensions are letters: m models, n segments, k trials, q quality measures. The first name is
    written; a reader takes the first that it finds.
    """

    content: str
    dims: str
    names: tuple[str, ...]


# The toolkit; SIDEKIT, one release of which misspelt the segments; PyBOSARIS; DCA-PLDA.
_MODELS = ("ID/row_ids", "modelset", "model_names", "enroll_ids", "train_ids")
_SEGMENTS = ("ID/column_ids", "segset", "segest", "test_names", "test_ids")

# In the order in which they are written.
FIELDS = {
    "trialmask": Field("mask", "mn", ("trial_mask",)),
    # Of a key: 1 for targets, -1 for non-targets, 0 for no trial.
    "labels": Field("mask", "mn", ("trial_mask",)),
    "modelQ": Field("numbers", "qm", ("modelQ",)),
    "segQ": Field("numbers", "qn", ("segQ",)),
    "scoremat": Field("numbers", "mn", ("scores", "score_mat")),
    "scoremask": Field("mask", "mn", ("score_mask",)),
    "values": Field("numbers", "qn", ("values",)),
    "ids": Field("ids", "n", ("ids",)),
    "modelset": Field("ids", "m", _MODELS),
    "segset": Field("ids", "n", _SEGMENTS),
    "hasmodel": Field("mask", "m", ("ID/has_row", "hasmodel")),
    "hasseg": Field("mask", "n", ("ID/has_column", "hasseg")),
    "models": Field("positions", "k", ("trials/models",)),
    "segments": Field("positions", "k", ("trials/segments",)),
    "is_target": Field("mask", "k", ("trials/is_target",)),
    "scores": Field("numbers", "k", ("trials/scores",)),
    "leftids": Field("ids", "n", ("left_ids", "leftids")),
    "rightids": Field("ids", "n", ("right_ids", "rightids")),
    # Never written so: the toolkit's first format of keys had two masks.
    "tar": Field("mask", "mn", ("target_mask", "tar_mask")),
    "non": Field("mask", "mn", ("nontarget_mask", "non_mask")),
}


@attrs.frozen
class Kind:
    """A class of objects: its fields in the order of the toolkit's structs, and their variable.

    A file is recognised by a field, the sign. The variable is empty if no MATLAB file holds any.
    """

    class_name: str
    sign: str
    fields: tuple[str, ...]
    variable: str = ""


IDS = ("modelset", "segset")
# All true where a file of another program lacks them.
MASKS = ("hasmodel", "hasseg", "scoremask")
_TRIALS = (*IDS, "models", "segments")

# In the order in which they are looked for.
KINDS = {
    "flat_key": Kind("Key", "is_target", (*_TRIALS, "is_target")),
    "flat_scores": Kind("Scores", "scores", (*_TRIALS, "scores")),
    "flat_ndx": Kind("Ndx", "models", _TRIALS),
    "key": Kind("Key", "tar", (*IDS, "tar", "non"), "key"),
    "ndx": Kind("Ndx", "trialmask", (*IDS, "trialmask"), "ndx"),
    "scores": Kind("Scores", "scoremat", ("scoremat", *IDS, "scoremask"), "scr"),
    "segment_quality": Kind("SegmentQuality", "values", ("ids", "values"), "qual"),
    "quality_measures": Kind("QualityMeasures", "modelQ", ("modelQ", "segQ", *IDS, *MASKS), "qual"),
    "id_map": Kind("IdMap", "leftids", ("leftids", "rightids"), "idmap"),
}

# Chunks are rows of about so many bytes, and of lists so many trials, that they can be read alike.
_CHUNK_BYTES, _CHUNK_TRIALS = 2**20, 2**17
# Below this size compressed data take more bytes than plain ones.
_COMPRESS_FROM = 2**12


def write(
    kind: str,
    path: FilePath,
    columns: Mapping[str, Mapping[str, StoredColumn]] | None = None,
    /,
    **arrays: AnyArray,
) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step.

    Of a key with columns, whose kind is trial_metadata, `labels` are the matrix for the toolkit.
    """
    stored: dict[str, AnyArray] = {}
    for name in filter(arrays.__contains__, FIELDS):
        is_double = "q" in FIELDS[name].dims
        stored[FIELDS[name].names[0]] = np.asarray(arrays[name], np.float64 if is_double else None)
    if "labels" in arrays:
        # By this the toolkit tells a key from a trial list.
        stored["file_format"] = np.array(["2.0"])
    for side, table in (columns or {}).items():
        stored[f"columns/{side}/names"] = np.array(list(table), dtype=np.str_)
        for number, column in enumerate(table.values()):
            where = f"columns/{side}/{number}"
            if type(column) is tuple:
                stored[f"{where}/codes"], stored[f"{where}/levels"] = column
            else:
                stored[f"{where}/values"] = np.asarray(column)
    with creating(path, kind, sum(array.nbytes for array in stored.values())) as file:
        if columns is not None:
            file.attrs["form"] = np.bytes_("Key" if "labels" in arrays else "FlatKey")
        for name, array in stored.items():
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
            file.attrs["format"] = np.bytes_(f"bosaris_py.{kind}")
            file.attrs["format_version"] = np.bytes_(FORMAT_VERSION)
            file.attrs["created_by"] = np.bytes_(f"bosaris_py {__version__}")
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
        kind = h5py.h5t.C_S1.copy()
        kind.set_size(array.dtype.itemsize)
        kind.set_strpad(h5py.h5t.STR_NULLTERM)
        if array.size and array.view(np.uint8).max() > 127:
            kind.set_cset(h5py.h5t.CSET_UTF8)
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


def refuse_unstorable(ids: StrArray, name: str) -> None:
    """Raise if an id holds a NUL, which ends a string, or is no Unicode."""
    text = "".join(ids.tolist())
    if "\0" in text or text.encode(errors="ignore").decode() != text:
        raise InvalidInputError(f"an id of `{name}` holds a NUL character or is no Unicode text")
