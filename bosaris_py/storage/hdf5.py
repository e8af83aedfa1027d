r"""Read and write all kinds of objects as HDF5.

Written files have exactly the toolkit's data sets and types, so MATLAB reads them:

========================  =======================================  ======================
object                    data sets                                types
========================  =======================================  ======================
`Ndx`                     ``/trial_mask``                          uint8 0, 1
`Key`                     ``/trial_mask``, ``/file_format``        int8 1, -1, 0; ``"2.0"``
`Scores`                  ``/scores``, ``/score_mask``             float32 or 64; uint8
`QualityMeasures`         ``/modelQ``, ``/segQ``, ``/score_mask``  float64; uint8
\                         ``/ID/has_row``, ``/ID/has_column``      uint8 0, 1
the four above            ``/ID/row_ids``, ``/ID/column_ids``      strings
`SegmentQuality`          ``/values``, ``/ids``                    float64; strings
`IdMap`                   ``/left_ids``, ``/right_ids``            strings
========================  =======================================  ======================

Rows are models and columns are segments, as h5dump shows them. Ids are strings of fixed
length, null-terminated, ASCII (UTF-8 if they are not ASCII). The root carries the attributes
``format`` (such as ``bosaris_py.scores``), ``format_version`` and ``created_by``, and each
data set the checksums of its blocks of rows; the toolkit ignores them. Scores are not
compressed (it saves less than a fifth and costs several times the time), masks are, with gzip.
The same content gives the same file, bit for bit.

Lists of trials have a layout of this package's own, which the MATLAB toolkit does not read:

====================  ==========================================  ===========================
object                data sets                                   types
====================  ==========================================  ===========================
all                   ``/ID/row_ids``, ``/ID/column_ids``         strings: models, segments
all                   ``/trials/models``, ``/trials/segments``    int32, int64 if that is too
                                                                  short: positions from 0 in
                                                                  the two lists of ids
`FlatKey`             ``/trials/is_target``                       uint8 0, 1
`FlatScores`          ``/trials/scores``                          float32 or float64
====================  ==========================================  ===========================

The data sets in ``/trials`` have one dimension and one element for each trial. Trials are written
by segment, then by model, each once; a reader takes them in any order. `TrialMetadata` has the
same, ``/trials/is_target`` where the labels are known, and the columns:

====================================  =================================================
data set                              content
====================================  =================================================
``/columns/<kind>/names``             strings: names of the columns, in their order
``/columns/<kind>/<i>/codes``         unsigned integers: positions in the levels
``/columns/<kind>/<i>/levels``        strings: the categories
``/columns/<kind>/<i>/values``        integers or floats: of a column that is measured
====================================  =================================================

``<kind>`` is ``trial``, ``model`` or ``segment``: columns have an element for each trial, model or
segment. ``<i>`` is the number of the column from 0; names are no parts of paths, because they may
be any text. A column has either codes and levels, or values. The attribute ``form`` of the root
names the class that holds the trials.

Reading takes strings of fixed and variable length, however padded, as vectors, rows or columns. It
takes masks of any integer, boolean or float type, and scores of any real type (float32 stays
float32). A matrix of one row or column may be stored as a vector. The older layouts are those of
`schema.LAYOUTS`. What a score file never holds (links, data in other files, other types, a size
that the file does not back) is refused before any data are read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, BoolArray, StrArray, mark_read_only
from bosaris_py._validation import FilePath, list_some, warn_caller
from bosaris_py._version import __version__
from bosaris_py.errors import FileFormatError, InvalidInputError, OldFormatWarning
from bosaris_py.storage._stored_bytes import checksums
from bosaris_py.storage.atomic import atomic_write
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.hdf5_reading import (
    CHECKSUMS,
    Filling,
    GuardedDataset,
    GuardedFile,
    character_codes,
    create_hdf5,
    open_guarded,
    refuse_unstorable,
)
from bosaris_py.storage.schema import (
    FIELDS,
    FORMAT_VERSION,
    KINDS,
    LAYOUTS,
    SIGNS,
    Arrays,
    Layout,
    check_fields,
    refuse_newer,
)

COLUMN_KINDS = ("trial", "model", "segment")

Columns = Mapping[str, Factor | AnyArray]

USE_KEY = "Read it with Key.read and call to_ndx() on the result"

_USE_NDX = "cannot hold -1 for non-targets: this is an Ndx; read it with Ndx.read"

# A file with this data set is of a kind that holds more than what was asked for.
_OTHER_KIND = {"ndx": ("file_format", "Key"), "flat_ndx": ("trials/is_target", "FlatKey")}

# Matrices up to this size are one chunk, as the toolkit writes them.
_CHUNK_BYTES = 2**20

# Trials in a chunk of all data sets in /trials, so that a range of them can be read at once.
CHUNK_TRIALS = 2**17

# Checksums of a data set: an attribute takes less than 64 kB.
_MOST_CHECKSUMS = 16_000

# Below this size compressed data take more bytes than plain ones.
_COMPRESS_FROM = 2**12

# Level 1 is the fastest. Masks and ascending positions shrink no further at the others.
_GZIP = {"compression": "gzip", "compression_opts": 1}

# Bytes sorted by their place in the number: for positions and codes, which change little from
# trial to trial. Scores would hardly shrink.
_SHUFFLED_GZIP = {**_GZIP, "shuffle": True}


def read(kind: str, path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the arrays of an object of a kind of `schema.KINDS`: the arguments of its constructor.

    The toolkit takes any mask above 0.5 as target and below -0.5 as non-target, and so reads an Ndx
    file as a key full of targets. Here other values than 1, -1 and 0 are refused, and so is a key
    of an unsigned type, which cannot mark non-targets. The mask of quality measures is honoured,
    which the toolkit ignores. A key of two masks, and scores without a mask, give an
    `OldFormatWarning`. The start and stop frames of SIDEKIT's `IdMap` are not read.
    """
    with open_guarded(path, max_bytes, remember_chunks=False) as source:
        opened = open_fields(source, kind)
        arrays = opened.read()
    opened.warn_of_old_layout(path)
    return arrays


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file, by the file's own word, else by its data sets."""
    with open_guarded(path) as source:
        declared = (source.attribute("format") or "").removeprefix("bosaris_py.")
        if declared in KINDS:
            return declared
        found = [name for signs, name in SIGNS if all(map(source.holds, signs))]
        if found:
            return found[0]
        mask = "trial_mask"
        if not source.holds(mask):
            found_sets = list_some(source.members()) or "nothing at all"
            message = f"{source.path}: none of {', '.join(KINDS)}; the file holds {found_sets}"
            raise FileFormatError(f"{message}. {_LAYOUT_HINT}")
        # Labels are of a type that can hold -1.
        return "ndx" if source.data_set(mask, "mask").is_unsigned else "key"


def write(kind: str, path: FilePath, **arrays: AnyArray) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step."""
    check_fields(kind, arrays)
    if kind == "key":
        arrays["labels"] = arrays.pop("tar").view(np.int8) - arrays.pop("non").view(np.int8)

    def fill(root: Any) -> None:
        for name in sorted(arrays, key=list(FIELDS).index):
            _put_field(root, name, arrays[name])
            if name == "labels":
                # By this the toolkit tells a key from a trial list.
                put_strings(root, "file_format", np.array(["2.0"]))

    write_hdf5(path, kind, fill)


@attrs.frozen(eq=False)
class OpenedFields:
    """The data sets of an object in an open file, checked against each other and unread."""

    fields: tuple[str, ...]
    layout: Layout
    data_sets: dict[str, GuardedDataset] = attrs.field(factory=dict)
    # Extent of each dimension of the fields.
    sizes: dict[str, int] = attrs.field(factory=dict)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape that a field has in memory."""
        return tuple(self.sizes[dim] for dim in FIELDS[name].dims)

    def read(self) -> Arrays:
        """Read all fields; masks that the file may lack and does are all true."""
        for name, data_set in self.data_sets.items():
            # These two become a second array.
            data_set.claim(2 if name in ("trialmask", "labels") else 1)
        arrays: Arrays = {}
        for name in self.fields:
            shape = self.shape(name)
            if name not in self.data_sets:
                arrays[name] = mark_read_only(np.ones(shape, dtype=np.bool_))
            elif name == "labels":
                labels = self.data_sets[name].read_mask(signed=True).reshape(shape)
                arrays["tar"] = mark_read_only(labels == 1)
                arrays["non"] = mark_read_only(labels == -1)
            elif name == "trialmask":
                arrays[name] = _read_trials(self.data_sets[name]).reshape(shape)
            else:
                array = self.data_sets[name].read()
                if self._is_transposed(name) and array.ndim == 2:
                    array = mark_read_only(np.ascontiguousarray(array.T))
                arrays[name] = array.reshape(shape)
        return arrays

    def warn_of_old_layout(self, path: FilePath) -> None:
        """Warn if a key comes as two masks, or scores come without a mask."""
        if "scoremat" in self.fields and "scoremask" not in self.data_sets:
            message = f"{path}: the file does not say which scores are valid; taking all as valid"
            warn_caller(message, OldFormatWarning)
        elif "tar" in self.fields:
            message = f"{path}: a key in the old layout with two masks; save it again to update it"
            warn_caller(message, OldFormatWarning)

    def add(self, name: str, found: GuardedDataset) -> None:
        """Take in a data set, refusing one that does not fit those before it."""
        dims = FIELDS[name].dims
        self.data_sets[name] = found
        if found.content == "ids":
            if self.sizes.setdefault(dims, found.count) != found.count:
                first = self._ids(dims)
                text = f"has {found.count} ids, `/{first.name}` {first.count}; they must be pairs"
                raise found.error(text)
        elif dims == "k":
            self._check_vector(found)
        elif dims == "mn":
            self._check_matrix(found)
        else:
            self._check_measures(name, found)

    def _ids(self, dim: str) -> GuardedDataset:
        """Return the data set of ids that tells the extent of a dimension."""
        return next(found for name, found in self.data_sets.items() if FIELDS[name].dims == dim)

    def _is_transposed(self, name: str) -> bool:
        return self.layout.quality_transposed and "q" in FIELDS[name].dims

    def _check_vector(self, found: GuardedDataset) -> None:
        """Refuse a data set that is no vector with an element for each trial."""
        if len(found.shape) != 1:
            raise found.error(f"must have one dimension; its shape is {found.shape}")
        if self.sizes.setdefault("k", found.count) != found.count:
            raise found.error(f"has {found.count} elements; `/trials/models` has {self.sizes['k']}")

    def _check_matrix(self, found: GuardedDataset) -> None:
        """Refuse a matrix that does not fit the ids."""
        shape = (self.sizes["m"], self.sizes["n"])
        is_vector = 1 in shape and found.shape == (max(shape),)
        # One id without trials, or an empty object, may be stored without a second extent.
        is_empty = 0 in shape and found.count == 0
        if found.shape == shape or is_vector or is_empty:
            return
        text = (
            f"has shape {found.shape}; `/{self._ids('m').name}` names {shape[0]} models and "
            f"`/{self._ids('n').name}` {shape[1]} segments"
        )
        if found.shape == shape[::-1]:
            text += ". Models and segments look swapped"
        raise found.error(text)

    def _check_measures(self, name: str, found: GuardedDataset) -> None:
        """Refuse measures of models or segments, or flags of who has them, that do not fit."""
        dims, shape = FIELDS[name].dims, found.shape
        size, what = self.sizes[dims[-1]], "models" if dims[-1] == "m" else "segments"
        text = f"has shape {shape}; `/{self._ids(dims[-1]).name}` names {size} {what}"
        if found.content == "mask":
            # A vector may be stored as a row or column.
            if found.count != size or (len(shape) == 2 and min(shape) > 1):
                raise found.error(text)
            return
        if len(shape) == 1:
            # One measure of many ids, or many measures of one id.
            shape = (1, shape[0]) if shape[0] == size else (shape[0], 1)
        elif len(shape) == 2 and self._is_transposed(name):
            shape = shape[::-1]
        if len(shape) != 2 or shape[1] != size:
            if len(shape) == 2 and shape[0] == size:
                text += ". Rows and columns look swapped"
            raise found.error(text)
        if self.sizes.setdefault("q", shape[0]) != shape[0]:
            text = f"has {shape[0]} measures for each segment, `/modelQ` {self.sizes['q']}"
            raise found.error(f"{text} for each model")


def _read_trials(found: GuardedDataset) -> BoolArray:
    """Read the mask of a trial list, refusing that of a key."""
    trials = found.read_mask(signed=not found.is_unsigned)
    if trials.dtype != np.bool_:
        if (trials < 0).any():
            raise found.error(f"holds -1: this is a Key. {USE_KEY}")
        trials = mark_read_only(trials.view(np.bool_))
    return trials


def open_fields(source: GuardedFile, kind: str) -> OpenedFields:
    """Find the data sets of an object and check types and shapes; nothing is read yet."""
    is_own = _expect_kind(source, kind)
    fields = KINDS[kind].fields
    layout = find_layout(source, kind) if "modelset" in fields else LAYOUTS[0]
    if kind == "key" and source.first_of(layout.data_sets["tar"]) is None:
        fields = ("modelset", "segset", "labels")
    opened = OpenedFields(fields, layout)
    optional = KINDS[kind].optional | layout.may_lack
    if kind != "trial_metadata" and is_own:
        # This package writes everything: what is missing is lost.
        optional = frozenset()
    # The ids tell the extents of all others.
    for name in sorted(fields, key=lambda name: FIELDS[name].content != "ids"):
        # Early releases of the toolkit had neither of the two.
        if name == "hasseg" and "hasmodel" not in opened.data_sets:
            continue
        path = source.first_of(layout.data_sets[name])
        if path is not None:
            opened.add(name, source.data_set(path, FIELDS[name].content))
        elif name not in optional:
            raise _missing(source, kind, layout.data_sets[name][0])
    if kind in _OTHER_KIND and source.holds(_OTHER_KIND[kind][0]):
        raise _wrong_kind(source, kind, _OTHER_KIND[kind][1])
    if "labels" in fields and opened.data_sets["labels"].is_unsigned:
        raise opened.data_sets["labels"].error(_USE_NDX)
    return opened


def find_layout(source: GuardedFile, kind: str) -> Layout:
    """Tell the layout of a file from the data set that holds the models."""
    for layout in LAYOUTS:
        if source.first_of(layout.data_sets["modelset"]) is not None:
            return layout
    raise _missing(source, kind, FIELDS["modelset"].data_sets[0])


def _expect_kind(source: GuardedFile, kind: str) -> bool:
    """Refuse a file of another kind or a newer format; tell if this package has written it."""
    declared = source.attribute("format") or ""
    if not declared.startswith("bosaris_py."):
        return False
    found = declared.removeprefix("bosaris_py.")
    if found != kind:
        raise _wrong_kind(source, kind, KINDS[found].class_name if found in KINDS else found)
    version = source.attribute("format_version") or FORMAT_VERSION
    if version != FORMAT_VERSION:
        refuse_newer(f"{source.path}: the attribute format_version", version, FORMAT_VERSION)
    return True


# For files of other programs.
_LAYOUT_HINT = "The page on the file format names the data sets; others are read with h5py."


def _wrong_kind(source: GuardedFile, kind: str, found: str) -> FileFormatError:
    """Return the error for a file that holds something else."""
    wanted = KINDS[kind].class_name
    hint = ""
    if (wanted, found) in (("Ndx", "Key"), ("FlatNdx", "FlatKey")):
        hint = f" Read it with {found}.read and call to_ndx() on the result."
    elif found == f"Flat{wanted}":
        hint = (
            f" Read it with {found}.read; to_dense() makes a matrix of it if it is not too large."
        )
    elif wanted == f"Flat{found}":
        hint = f" Read it with {found}.read and call to_flat() on the result."
    elif "`" in found or found == "nothing at all":
        hint = f" {_LAYOUT_HINT}"
    return FileFormatError(f"{source.path}: expected {wanted}; the file holds {found}.{hint}")


def _missing(source: GuardedFile, kind: str, name: str) -> FileFormatError:
    """Return the error for a file that lacks a data set: of this kind, or of another."""
    found = _recognise(source, kind)
    if found == KINDS[kind].class_name:
        return source.error(name, "is missing")
    return _wrong_kind(source, kind, found)


def _recognise(source: GuardedFile, kind: str) -> str:
    """Name the class of which a file may be, `kind` if possible, or else its data sets."""
    found = [name for signs, name in SIGNS if all(source.holds(sign) for sign in signs)]
    if found:
        return KINDS[kind if kind in found else found[0]].class_name
    if source.holds("trial_mask"):
        return KINDS[kind].class_name if kind in ("ndx", "key") else "an Ndx or Key"
    members = source.members()
    return f"`{list_some(members)}`" if members else "nothing at all"


def write_hdf5(path: FilePath, kind: str, fill: Filling) -> None:
    """Create a file of one kind, let `fill` put its data sets, and put it in place."""
    # The oldest format of the library, because MATLAB of the toolkit's days reads it.
    versions = ("earliest", "v108")

    def fill_all(file: Any) -> Iterable[None] | None:
        put_attribute(file.id, "format", f"bosaris_py.{kind}")
        put_attribute(file.id, "format_version", FORMAT_VERSION)
        put_attribute(file.id, "created_by", f"bosaris_py {__version__}")
        return fill(file)

    with atomic_write(path) as temporary:
        create_hdf5(temporary, path, fill_all, libver=versions)


def _put_field(root: Any, name: str, array: AnyArray) -> None:
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
    root: Any, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike, data: AnyArray | None = None
) -> Any:
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
    return _put(root, field.data_sets[0], data, shape=shape, dtype=dtype, **options)


def _chunk_shape(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Return the shape of blocks of whole rows of about `_CHUNK_BYTES`."""
    # A block of rows is what streaming reads at once. Only if a single row is longer than
    # that is it cut, too. Without elements there are no blocks.
    rows, columns = shape
    if 0 in shape:
        return None
    in_block = _CHUNK_BYTES // dtype.itemsize
    return max(1, min(rows, in_block // columns)), min(columns, in_block)


def _put(root: Any, name: str, data: AnyArray | None, **options: Any) -> Any:
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
                made.id.write_direct_chunk((start, 0), rows_of_chunk)
            made[whole:] = data[whole:]
        rows = _block_rows(made)
        _put_checksums(made.id, rows, checksums(data, rows))
    return made


def _block_rows(dataset: Any) -> int:
    """Return the rows of a data set that have one checksum: those of a chunk, or of several."""
    shape = dataset.shape
    row_bytes = max(1, math.prod(shape[1:]) * dataset.dtype.itemsize)
    rows = dataset.chunks[0] if dataset.chunks else max(1, _CHUNK_BYTES // row_bytes)
    return int(rows * max(1, -(-shape[0] // (rows * _MOST_CHECKSUMS))))


def _put_checksums(dataset: Any, rows: int, values: list[int]) -> None:
    """Put the checksums of the blocks of so many rows, unless there are no elements."""
    if math.prod(dataset.shape):
        content = np.array([rows, *values], dtype="<u4")
        space = h5py.h5s.create_simple(content.shape)
        h5py.h5a.create(dataset, CHECKSUMS, h5py.h5t.STD_U32LE, space).write(content)


class FieldWriter:
    """Fills the data set of a field part by part, and makes that of a vector as short as they are.

    Parameters
    ----------
    root, name, shape, dtype
        As for `new_field`.
    """

    def __init__(self, root: Any, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> None:
        self._made = new_field(root, name, shape, dtype)
        self._step = _block_rows(self._made)
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
        _put_checksums(self._made.id, self._step, self._checksums + rest)


def put_attribute(location: Any, name: str, text: str) -> None:
    """Put a scalar text attribute of fixed length."""
    kind = _string_type(len(text) + 1, is_ascii=True)
    attribute = h5py.h5a.create(location, name.encode(), kind, h5py.h5s.create(h5py.h5s.SCALAR))
    attribute.write(np.array(text.encode(), dtype=f"S{len(text) + 1}"), mtype=kind)


def put_strings(root: Any, name: str, ids: StrArray) -> None:
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
        _put_checksums(dataset, ids.size, checksums(stored, ids.size))


def _string_type(width: int, *, is_ascii: bool) -> Any:
    """Return the HDF5 type of a null-terminated string of `width` bytes."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(width)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    kind.set_cset(h5py.h5t.CSET_ASCII if is_ascii else h5py.h5t.CSET_UTF8)
    return kind


def read_metadata(path: FilePath, *, max_bytes: int | None = None) -> dict[str, Any]:
    """Read trials and their columns: what `write_metadata` takes, in a dict, read-only."""
    with open_guarded(path, max_bytes) as source:
        opened = open_fields(source, "trial_metadata")
        if not source.holds("columns/trial/names"):
            raise _missing(source, "trial_metadata", "columns/trial/names")
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

    def fill(file: Any) -> None:
        put_attribute(file.id, "form", form)
        put_strings(file, "ID/row_ids", modelset)
        put_strings(file, "ID/column_ids", segset)
        _put_column(file, "trials/models", models)
        _put_column(file, "trials/segments", segments)
        if is_target is not None:
            _put_column(file, "trials/is_target", is_target.astype(np.uint8))
        for kind in COLUMN_KINDS:
            table = columns[kind]
            put_strings(file, f"columns/{kind}/names", np.array(list(table), dtype=np.str_))
            for number, column in enumerate(table.values()):
                where = f"columns/{kind}/{number}"
                if isinstance(column, Factor):
                    _put_column(file, f"{where}/codes", column.codes)
                    put_strings(file, f"{where}/levels", column.levels)
                else:
                    _put_column(file, f"{where}/values", column)

    write_hdf5(path, "trial_metadata", fill)


def _put_column(root: Any, name: str, column: AnyArray) -> None:
    """Put a vector, positions and codes in compressed chunks; floats would hardly shrink."""
    options: dict[str, Any] = {}
    if column.dtype.kind != "f" and column.size >= _COMPRESS_FROM:
        chunk = min(column.size, _CHUNK_BYTES // column.itemsize)
        options = {"chunks": (chunk,), **_SHUFFLED_GZIP}
    _put(root, name, column, **options)
