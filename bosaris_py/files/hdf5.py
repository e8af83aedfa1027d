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

Rows are models and columns are segments, as h5dump shows them. Ids are strings of fixed length,
null-terminated, ASCII (UTF-8 if they are not ASCII). The root has the attributes ``format`` (such
as ``bosaris_py.scores``), ``format_version`` and ``created_by``. Each data set is stored in chunks
with HDF5's own checksum (Fletcher32); masks and positions are compressed with gzip. Equal content
gives equal files.

Lists of trials have a layout of this package's own: the ids as above, ``/trials/models`` and
``/trials/segments`` (integers: positions from 0 in the ids), and ``/trials/is_target`` (uint8) or
``/trials/scores``, with one element for each trial. A key with columns has the same and these:

====================================  =================================================
data set                              content
====================================  =================================================
``/columns/<kind>/names``             strings: names of the columns, in their order
``/columns/<kind>/<i>/codes``         unsigned integers: positions in the levels
``/columns/<kind>/<i>/levels``        strings: the categories
``/columns/<kind>/<i>/values``        integers or floats: of a column that is measured
====================================  =================================================

``<kind>`` is ``trial``, ``model`` or ``segment``, and ``<i>`` the number of the column from 0.

Reading takes strings of fixed and variable length, masks of any integer, boolean or float type, and
scores of any real type; float32 stays float32. A row or column may be stored as a vector. Links out
of the file, data in other files, and sizes beyond the memory are refused before data are read.
"""

from __future__ import annotations

import contextlib
import math
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, StrArray, mark_read_only
from bosaris_py._notes import Note
from bosaris_py._validation import FilePath, as_path, list_some, safe
from bosaris_py.errors import BosarisError, BosarisWarning, FileFormatError, OldFormatWarning
from bosaris_py.files.layout import FIELDS, IDS, KINDS, SIGNS, TYPES

# Arguments of the constructor of the class that was read, by name.
Arrays: TypeAlias = dict[str, AnyArray]
# Of a column: positions in levels, and the levels; or numbers.
StoredColumn: TypeAlias = tuple[AnyArray, StrArray] | AnyArray
# What h5py, which has no types, gives: files, groups, data sets and their identifiers.
H5: TypeAlias = "h5py.Dataset"

FORMAT_VERSION = "1.0"
COLUMN_KINDS = ("trial", "model", "segment")

_GZIP, _SHUFFLE = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE
_FLETCHER, _LZF = h5py.h5z.FILTER_FLETCHER32, h5py.h5z.FILTER_LZF

# Bytes that are unpacked at once where only their number is wanted.
_UNPACKED_AT_ONCE = 2**15
# So many links may lead from one to the next.
_MOST_LINKS = 16


def fit(
    name: str,
    shape: tuple[int, ...],
    sizes: dict[str, int],
    error: Callable[[str], FileFormatError],
) -> tuple[int, ...]:
    """Return the shape of a field in memory; raise if it is not of the extents before it."""
    dims, count = FIELDS[name].dims, math.prod(shape)
    if "q" in dims and "q" not in sizes:
        # One measure of many ids, or many measures of one id, may be a vector.
        is_one = shape == (sizes[dims[-1]],)
        sizes["q"] = shape[0] if len(shape) == 2 else 1 if is_one else count
    wanted = tuple(sizes.setdefault(dim, count) for dim in dims)
    is_vector = 1 in (len(shape), len(wanted)) and dims != "k"
    long, wanted_long = ([n for n in extents if n != 1] for extents in (shape, wanted))
    is_empty = 0 in wanted and count == 0
    if shape == wanted or is_empty or (is_vector and long == wanted_long):
        return wanted
    swapped = ". Models and segments look swapped" if shape == wanted[::-1] else ""
    raise error(f"has shape {shape}; the ids before it ask for {wanted}{swapped}")


def half_of_memory() -> int:
    """Return half of the memory that machine, container and ulimit allow."""
    limits = []
    with contextlib.suppress(AttributeError, ValueError, OSError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for place in ("memory.max", "memory/memory.limit_in_bytes"):
        # Version 2 of control groups says "max" where there is no limit.
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(Path("/sys/fs/cgroup", place).read_text()))
    with contextlib.suppress(ImportError):
        import resource

        limits += [n for n in resource.getrlimit(resource.RLIMIT_AS)[:1] if n > 0]
    return min(limits, default=2**34) // 2


def refuse_newer(where: str, version: object, readable: str) -> None:
    """Refuse a version of a format whose first number is above that of the one that is known."""
    major = str(version).split(".")[0]
    if not major.isdecimal():
        raise FileFormatError(f"{where} is {version!r}, not a version")
    if int(major) > int(readable.split(".")[0]):
        message = f"{where} is {version}, this installation reads {readable}; update bosaris_py"
        raise FileFormatError(message)


def as_text(encoded: npt.NDArray[np.bytes_]) -> StrArray:
    """Return UTF-8 as text; raise `UnicodeDecodeError` if it is none."""
    try:
        # Of ASCII, which this takes, it is much faster.
        return encoded.astype(f"U{max(1, int(np.strings.str_len(encoded).max(initial=0)))}")
    except UnicodeDecodeError:
        return np.strings.decode(encoded, "utf-8")


# Opening, and finding data sets.


@attrs.define(eq=False)
class Source:
    """An open file, of which only plain data sets inside it are read, within so much memory."""

    path: Path
    file: H5
    # Bytes that may still be read.
    room: int

    def error(self, name: str, text: str) -> FileFormatError:
        """Return an error about the data set `name`."""
        return FileFormatError(f"{self.path}: data set `/{safe(name)}` {text}")

    def find(self, name: str) -> H5 | None:
        """Return the object of a path, None if there is none; raise if a link leaves the file."""
        place, parts, n_links = self.file, name.split("/")[::-1], 0
        while parts:
            part = parts.pop()
            link = place.get(part, getlink=True) if hasattr(place, "keys") and part else None
            match link:
                case None:
                    return None
                case h5py.SoftLink() if n_links < _MOST_LINKS:
                    n_links += 1
                    place = self.file if link.path.startswith("/") else place
                    parts += [each for each in link.path.split("/")[::-1] if each not in ("", ".")]
                case h5py.HardLink():
                    place = place[part]
                case _:
                    raise self.error(name, "is reached by a link out of the file, or in a circle")
        return place

    def has(self, *names: str) -> bool:
        """Tell whether there is something at all of these paths."""
        return all(self.find(name) is not None for name in names)

    def attribute(self, name: str, place: H5 | None = None) -> str:
        """Return a short text attribute of the root or another object, empty if there is none."""
        found = (self.file if place is None else place).id
        if not h5py.h5a.exists(found, name.encode()):
            return ""
        attribute = h5py.h5a.open(found, name.encode())
        size = attribute.get_storage_size()
        if attribute.dtype.kind != "S" or attribute.shape != () or size > 1024:
            return ""
        value = np.zeros((), attribute.dtype)
        attribute.read(value)
        return bytes(value.item()).decode(errors="replace")

    def data_set(self, name: str, content: str, found: H5 | None = None) -> DataSet:
        """Return a plain data set of a content of `TYPES`, unread."""
        kinds, wanted = TYPES[content]
        found = self.find(name) if found is None else found
        if found is None:
            raise self.error(name, "is missing")
        if not hasattr(found, "shape") or found.is_virtual or found.external:
            raise self.error(name, "is no plain data set in this file")
        shape, dtype = tuple(found.shape or (0,) * (found.shape is None)), found.dtype
        good = dtype.kind in kinds and not h5py.check_enum_dtype(dtype) and len(shape) <= 2
        if dtype.kind in "iuf":
            # Numbers of other bits, which damage makes, would be converted in silence.
            is_plain = found.id.get_type().equal(h5py.h5t.py_create(dtype))
            good = good and dtype.itemsize <= 8 and is_plain
        if content == "ids":
            good = good and sum(extent != 1 for extent in shape) <= 1
            good = good and (dtype.kind == "S" or h5py.check_string_dtype(dtype) is not None)
        if not good:
            raise self.error(name, f"must hold {wanted}; it has type {dtype}, shape {shape}")
        return DataSet(self, name, content, found, shape)

    def claim(self, name: str, needed: int) -> None:
        """Refuse more bytes than may still be read."""
        self.room -= needed
        if self.room < 0:
            text = "of memory more than `max_bytes`, by default half of the memory"
            raise self.error(name, f"needs {-self.room:,} bytes {text}")


@attrs.frozen(eq=False)
class DataSet:
    """A plain data set of numbers or text, of at most two dimensions."""

    source: Source
    name: str
    content: str
    data: H5
    shape: tuple[int, ...]

    def error(self, text: str) -> FileFormatError:
        """Return an error about this data set."""
        return self.source.error(self.name, text)

    @property
    def memory_type(self) -> np.dtype[np.generic]:
        """The type of the array that is read: scores become float32 or float64."""
        dtype: np.dtype[np.generic] = self.data.dtype
        if self.content == "numbers":
            is_short = dtype.kind == "f" and dtype.itemsize <= 4
            return np.dtype(np.float32 if is_short else np.float64)
        return dtype.newbyteorder("=")

    @property
    def is_unsigned(self) -> bool:
        """Whether the type cannot hold a negative number."""
        return bool(self.data.dtype.kind in "ub")

    def check(self, *, whole: bool = True) -> DataSet:
        """Refuse more than fits into memory, and chunks that do not unpack to their size."""
        size = self.data.dtype.itemsize
        # Ids take four bytes for each character, and a string of Python each.
        each = {"S": 6 * size, "O": 200}.get(self.data.dtype.kind, 2 * size)
        each = 8 if self.content == "numbers" else each
        needed = max(math.prod(self.shape) * each * whole, math.prod(self.data.chunks or ()) * size)
        self.source.claim(self.name, needed)
        if self.data.chunks is not None:
            with reading(self.source.path, self.name):
                is_own = self.source.attribute("format").startswith("bosaris_py.")
                _check_chunks(self.data, self.shape, whole=is_own)
        return self

    def read(self, rows: slice = slice(None)) -> AnyArray:
        """Return all elements, or some rows, in their `memory_type`."""
        start, stop, _ = rows.indices(self.shape[0] if self.shape else 1)
        # The library leaves what was never written as it is.
        out = np.zeros((stop - start, *self.shape[1:]) if self.shape else (), self.memory_type)
        if out.size:
            with reading(self.source.path, self.name):
                self.data.read_direct(out, rows if self.shape and rows != slice(None) else ())
        # Whole matrices are kept by objects. A damaged file can hold what numpy's bool must not.
        out = mark_read_only(out) if rows == slice(None) else out
        return out.view(np.uint8) if out.dtype == np.bool_ else out

    def read_ids(self) -> StrArray:
        """Return all ids as a vector of str."""
        if math.prod(self.shape) == 0:
            return mark_read_only(np.empty(0, dtype=np.str_))
        with reading(self.source.path, self.name):
            if self.data.dtype.kind == "O":
                texts = [bytes(item or b"").decode() for item in np.ravel(self.data[()])]
                # Each takes the room of the longest.
                self.source.claim(self.name, 4 * len(texts) * max(map(len, texts)))
                return mark_read_only(np.array(texts, dtype=np.str_))
            # A longer type makes the library end each id where its padding begins.
            kind, size = self.data.id.get_type().copy(), self.data.dtype.itemsize + 1
            kind.set_size(size)
            kind.set_strpad(h5py.h5t.STR_NULLTERM)
            encoded = np.zeros(self.shape, dtype=f"S{size}")
            self.data.id.read(h5py.h5s.ALL, h5py.h5s.ALL, encoded, mtype=kind)
            return mark_read_only(as_text(encoded.ravel()))

    def read_mask(self, rows: slice = slice(None), *, signed: bool = False) -> AnyArray:
        """Return a mask as bool, or as int8 holding -1, 0 and 1 if `signed`."""
        where = f"{self.source.path}: data set `/{self.name}`"
        return check_mask(self.read(rows), where, signed=signed and not self.is_unsigned)


@contextlib.contextmanager
def reading(path: Path, name: str = "") -> Iterator[None]:
    """Turn whatever goes wrong inside HDF5 into `FileFormatError`."""
    try:
        yield
    except BosarisError:
        raise
    # h5py maps the faults of a damaged file to a dozen built-in exceptions.
    except Exception as error:
        text = safe(str(error).strip() or type(error).__name__, 300)
        is_open = "unable to lock" in text or "already open" in text
        fault = "open elsewhere for writing" if is_open else "damaged, or cannot be read"
        where = f" data set `/{safe(name)}`" * bool(name)
        raise FileFormatError(f"{path}:{where} {fault}: {text}") from error


@contextlib.contextmanager
def opened(path: FilePath, max_bytes: int | None = None) -> Iterator[Source]:
    """Open a file for reading; whatever goes wrong is a FileFormatError or an OSError.

    `max_bytes` limits the memory of what is read; None stands for `half_of_memory`.
    """
    file_path = as_path(path)
    with file_path.open("rb") as stream:
        head = stream.read(16)
    if not h5py.is_hdf5(file_path):
        what = "a MATLAB file; call it .mat" if head.startswith(b"MATLAB") else "damaged or no HDF5"
        raise FileFormatError(f"{file_path}: {what}")
    room = half_of_memory() if max_bytes is None else max_bytes
    # Readers on network folders must not fail for want of a lock. No chunk is read twice.
    options = {"locking": "best-effort", "rdcc_nbytes": 0}
    with reading(file_path), h5py.File(file_path, "r", **options) as file:
        yield Source(file_path, file, room)


def _check_chunks(data: H5, shape: tuple[int, ...], *, whole: bool) -> None:
    """Raise `ValueError` if chunks do not unpack to their size, at which the library never looks.

    What it reads behind the end of a short one crashes it, or is what the memory held before. In a
    file of this package (`whole`) none may be missing.
    """
    properties = data.id.get_create_plist()
    filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    known = {_GZIP, _LZF, _SHUFFLE, _FLETCHER}
    if not known.issuperset(filters) or len({*filters}) < len(filters) or known <= {*filters}:
        raise ValueError("compressed otherwise than by gzip or lzf; write it again with gzip")
    # Of a string of any length, length, address and number are stored.
    addresses = data.file.id.get_create_plist().get_sizes()[0]
    each = 8 + addresses if data.dtype.kind == "O" else data.id.get_type().get_size()
    size = math.prod(data.chunks) * each

    def fault_of(chunk: h5py.h5d.StoreInfo) -> str | None:
        if any(start >= n for start, n in zip(chunk.chunk_offset, shape, strict=True)):
            return "a chunk outside its extents"
        used = [code for i, code in enumerate(filters) if not chunk.filter_mask >> i & 1]
        packer = next((code for code in used if code in (_GZIP, _LZF)), None)
        behind = used[used.index(packer) :] if packer is not None else used
        end = chunk.size - 4 * (_FLETCHER in behind)
        wanted = size + 4 * (_FLETCHER in used and _FLETCHER not in behind)
        found = end
        if packer is not None:
            packed = data.id.read_direct_chunk(chunk.chunk_offset)[1][: max(0, end)]
            found = _unpacked_size(packed, wanted, is_lzf=packer == _LZF)
        return None if found == wanted else f"a chunk that does not unpack to {wanted} bytes"

    if fault := data.id.chunk_iter(fault_of):
        raise ValueError(fault)
    n_chunks = math.prod(-(-n // step) for n, step in zip(shape, data.chunks, strict=True))
    if whole and data.id.get_num_chunks() != n_chunks:
        raise ValueError("chunks are missing")


def _unpacked_size(packed: bytes, wanted: int, *, is_lzf: bool) -> int:
    """Return how many bytes a packed chunk has, at most one more than wanted; -1 of half a one."""
    if not is_lzf:
        stream, found = zlib.decompressobj(), 0
        while packed and found <= wanted:
            found += len(stream.decompress(packed, _UNPACKED_AT_ONCE))
            packed = stream.unconsumed_tail
        return found if stream.eof else -1
    # A byte below 32 stands before that many bytes and one; others, with one or two more, before a
    # copy of bytes that were before.
    place = found = 0
    while place < len(packed) and found <= wanted:
        length = packed[place] >> 5
        if not length:
            found, place = found + packed[place] + 1, place + packed[place] + 2
        elif length < 7:
            found, place = found + length + 2, place + 2
        else:
            found, place = found + 9 + sum(packed[place + 1 : place + 2]), place + 3
    return found if place == len(packed) else -1


def check_mask(stored: AnyArray, where: str, *, signed: bool = False) -> AnyArray:
    """Turn numbers into a read-only mask; refuse all but 0, 1 and, if `signed`, -1.

    The toolkit takes any number above 0.5 as true, and below -0.5 as non-target.
    """
    least, wanted = (-1, np.dtype(np.int8)) if signed else (0, np.dtype(np.bool_))
    # Of integers the ends tell all.
    ends = stored.min(initial=0), stored.max(initial=0)
    if stored.dtype.kind not in "iu" or ends[0] < least or ends[1] > 1:
        wrong = stored[(stored != 0) & (stored != 1) & (stored != least)]
        if wrong.size:
            text = f"must hold whole numbers from {least} to 1; got {wrong[0]}"
            raise FileFormatError(f"{where} {text}")
    is_byte = stored.dtype.itemsize == 1
    return mark_read_only(stored.view(wanted) if is_byte else stored.astype(wanted))


# Objects.


def read(
    kind: str, path: FilePath, *, max_bytes: int | None = None
) -> tuple[Arrays, tuple[Note, ...]]:
    """Read the arrays of an object of a kind of `KINDS`, and notes on an old layout.

    Notes are on a key of two masks, scores without a mask, and a key of targets alone that does not
    say that it is one.
    """
    with opened(path, max_bytes) as source:
        if f"flat_{kind}" in KINDS and source.has("trials/models"):
            # A list, which is too sparse for a matrix.
            kind = f"flat_{kind}"
        found, sizes = find_fields(source, kind)
        arrays = _read_fields(found, sizes)
        says_what = source.attribute("format") or source.has("file_format")
        has_times = kind == "id_map" and source.has("start")
    if "labels" in arrays:
        labels = arrays.pop("labels")
        arrays |= {"tar": mark_read_only(labels == 1), "non": mark_read_only(labels == -1)}
    for name in KINDS[kind].fields:
        if name not in arrays:
            arrays[name] = mark_read_only(np.ones([sizes[dim] for dim in FIELDS[name].dims], bool))
    notes = notes_of_layout(path, kind, found)
    if has_times:
        notes = (note_of_times(path),)
    if kind == "key" and not says_what and arrays["tar"].any() and not arrays["non"].any():
        text = f"{path}: all trials are targets. Is it an Ndx?"
        advice = "Ndx.read and read_trials read trials without labels; the key is another file."
        notes = (*notes, Note(OldFormatWarning, text, advice=advice))
    return arrays, notes


def find_fields(source: Source, kind: str) -> tuple[dict[str, DataSet], dict[str, int]]:
    """Find the data sets of an object, and the extent of each dimension; check types and shapes."""
    declared = source.attribute("format")
    is_own = declared.startswith("bosaris_py.")
    if is_own:
        stored = declared.removeprefix("bosaris_py.")
        # A key with columns is a list of trials, too.
        if stored != "trial_metadata" or kind not in ("flat_key", "flat_ndx"):
            _refuse_other(source, kind, stored)
        version = source.attribute("format_version") or FORMAT_VERSION
        refuse_newer(f"{source.path}: the attribute format_version", version, FORMAT_VERSION)
    names = KINDS[kind].fields
    if kind == "key" and not any(map(source.has, FIELDS["tar"].names)):
        names = (*IDS, "labels")
    found: dict[str, DataSet] = {}
    sizes: dict[str, int] = {}
    # The ids tell the extents of all others.
    for name in sorted(names, key=lambda name: FIELDS[name].content != "ids"):
        # The mask of models decides for that of segments.
        is_left = name == "hasseg" and "hasmodel" not in found
        place = next(filter(source.has, FIELDS[name].names), None)
        if place is not None and not is_left:
            made = found[name] = source.data_set(place, FIELDS[name].content)
            shape = made.shape[::-1] if _is_transposed(found, name) else made.shape
            fit(name, (math.prod(shape),) if made.content == "ids" else shape, sizes, made.error)
        elif (is_own and kind != "trial_metadata") or not _may_lack(name, kind, found):
            _refuse_other(source, kind, _recognise(source, kind))
            raise source.error(FIELDS[name].names[0], "is missing")
    if kind in ("ndx", "flat_ndx") and _recognise(source) == kind.replace("ndx", "key"):
        _refuse_other(source, kind, "key")
    if "labels" in found and found["labels"].is_unsigned:
        raise found["labels"].error("cannot hold -1 for non-targets: is this an Ndx?")
    return found, sizes


def _may_lack(name: str, kind: str, found: Mapping[str, DataSet]) -> bool:
    """Tell whether a file of another program may lack a field, given those before it."""
    if name == "hasseg":
        return "hasmodel" not in found
    if (name, kind) == ("scoremask", "scores"):
        # PyBOSARIS and DCA-PLDA.
        return found["modelset"].name not in ("ID/row_ids", "modelset")
    return name in KINDS[kind].optional


def _is_transposed(found: Mapping[str, DataSet], name: str) -> bool:
    """Tell whether these are measures in columns: in the layout of SIDEKIT."""
    return "q" in FIELDS[name].dims and "modelset" in found and found["modelset"].name == "modelset"


def _read_fields(found: Mapping[str, DataSet], sizes: Mapping[str, int]) -> Arrays:
    """Read the data sets of fields, in the shapes that they have in memory."""
    arrays: Arrays = {}
    for data_set in found.values():
        data_set.check()
    for name, data_set in found.items():
        if data_set.content == "ids":
            arrays[name] = data_set.read_ids()
            continue
        if data_set.content == "mask":
            array = data_set.read_mask(signed=name in ("labels", "trialmask"))
        else:
            array = data_set.read()
        if _is_transposed(found, name) and array.ndim == 2:
            array = np.ascontiguousarray(array.T)
        shape = [sizes[dim] for dim in FIELDS[name].dims]
        arrays[name] = mark_read_only(array).reshape(shape)
    if "trialmask" in arrays:
        if arrays["trialmask"].min(initial=0) < 0:
            raise found["trialmask"].error("holds -1 for non-targets: is this a Key?")
        arrays["trialmask"] = arrays["trialmask"].view(np.bool_)
    return arrays


def note_of_times(path: FilePath) -> Note:
    """Say that an `IdMap` keeps no times, which files of SIDEKIT and its relatives have."""
    text = f"{path}: start and stop of the segments are left out: an IdMap has pairs of ids."
    return Note(BosarisWarning, text)


def notes_of_layout(path: FilePath, kind: str, found: Mapping[str, DataSet]) -> tuple[Note, ...]:
    """Return a note if a key comes as two masks, or scores come without a mask."""
    text = "a key in the old layout with two masks" if "tar" in found else ""
    if kind == "scores" and "scoremask" not in found:
        text = "the file does not say which scores are valid; taking all as valid"
    return (Note(OldFormatWarning, f"{path}: {text}"),) if text else ()


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file, by the file's own word, else by its data sets."""
    with opened(path) as source:
        declared = source.attribute("format").removeprefix("bosaris_py.")
        found = declared if declared in KINDS else _recognise(source)
        if found not in KINDS and source.has("trial_mask"):
            # Labels are of a type that can hold -1.
            found = "ndx" if source.data_set("trial_mask", "mask").is_unsigned else "key"
        if found not in KINDS:
            raise FileFormatError(f"{path}: none of {', '.join(KINDS)}; the file holds {found}")
        return found


def is_list(path: FilePath) -> bool:
    """Tell whether a file holds a list of trials, which fits into memory."""
    with opened(path) as source:
        return source.has("trials/models")


def _recognise(source: Source, kind: str = "") -> str:
    """Name the kind that a file may be of, `kind` if possible, or else what it holds."""
    found = [name for signs, name in SIGNS if source.has(*signs)]
    if found:
        return kind if kind in found else found[0]
    if source.has("trial_mask"):
        return kind if kind in ("ndx", "key") else "an Ndx or Key"
    return list_some(source.file) or "nothing at all"


def _refuse_other(source: Source, kind: str, found: str) -> None:
    """Raise if a file holds something else than what was asked for."""
    if found != kind:
        name = KINDS[found].class_name if found in KINDS else safe(found)
        wanted = KINDS[kind].class_name
        raise FileFormatError(f"{source.path}: expected {wanted}; the file holds {name}")


def read_metadata(path: FilePath, *, max_bytes: int | None = None) -> dict[str, Any]:
    """Read trials and their columns: what `write_metadata` takes, in a dict, read-only."""
    with opened(path, max_bytes) as source:
        found, sizes = find_fields(source, "trial_metadata")
        if not source.has("columns/trial/names"):
            _refuse_other(source, "trial_metadata", _recognise(source))
        columns = {
            kind: _read_columns(source, f"columns/{kind}", sizes[dim])
            for kind, dim in zip(COLUMN_KINDS, "kmn", strict=True)
        }
        return {"is_target": None, **_read_fields(found, sizes), "columns": columns}


def _read_columns(source: Source, where: str, size: int) -> dict[str, StoredColumn]:
    """Read all columns of one kind, with an element for each of `size` trials or ids."""
    columns: dict[str, StoredColumn] = {}
    names = source.data_set(f"{where}/names", "ids").check().read_ids().tolist()
    for number, name in enumerate(names):
        is_factor = source.has(f"{where}/{number}/codes")
        place = f"{where}/{number}/{'codes' if is_factor else 'values'}"
        found = source.data_set(place, "positions" if is_factor else "numbers")
        if found.shape != (size,) or name in columns:
            raise found.error(f"has shape {found.shape}, not {(size,)}, or a name that was before")
        if found.data.dtype.kind in "iu":
            # Whole numbers stay what they are.
            found = attrs.evolve(found, content="positions")
        columns[name] = values = mark_read_only(found.check().read())
        if is_factor:
            levels = source.data_set(f"{where}/{number}/levels", "ids")
            columns[name] = values, levels.check().read_ids()
    return columns
