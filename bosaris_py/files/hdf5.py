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
import functools
import math
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import attrs
import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py import errors
from bosaris_py._arrays import AnyArray, StrArray, mark_read_only
from bosaris_py._notes import Note
from bosaris_py._validation import FilePath, as_path, list_some, safe
from bosaris_py.errors import FileFormatError
from bosaris_py.files import hdf5_writing as layout
from bosaris_py.files.hdf5_writing import FIELDS, H5, IDS, KINDS, Arrays

# What data sets may hold, in kinds of numpy's types; O are strings of any length.
_TYPES = {"ids": "SO", "numbers": "iuf", "positions": "iu", "mask": "biuf", "any": "biufO"}
COLUMN_KINDS = ("trial", "model", "segment")

_GZIP, _SHUFFLE = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE
_FLETCHER, _LZF = h5py.h5z.FILTER_FLETCHER32, h5py.h5z.FILTER_LZF
_FILTERS = {_GZIP, _SHUFFLE, _FLETCHER, _LZF}

# Scores of the toolkit and of SIDEKIT have a mask; those of others, and measures, may have none.
_MASKED = {("scores", name) for name in FIELDS["modelset"].names[:2]}
# So many links may lead from one to the next.
_MOST_LINKS = 16


def half_of_memory() -> int:
    """Return half of the memory that the machine and its container allow."""
    limits = []
    with contextlib.suppress(AttributeError, ValueError, OSError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    # Control groups say "max" where there is no limit.
    with contextlib.suppress(OSError, ValueError):
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits, default=2**34) // 2


def refuse_newer(where: str, version: object, readable: str) -> None:
    """Refuse a version of a format whose first number is above that of the one that is known."""
    major = str(version).split(".")[0]
    if not major.isdecimal() or int(major) > int(readable.split(".")[0]):
        message = f"{where} is {version!r}, this installation reads {readable}; update bosaris_py"
        raise FileFormatError(message)


def as_text(encoded: npt.NDArray[np.bytes_]) -> StrArray:
    """Return UTF-8 as text; raise `UnicodeDecodeError` if it is none."""
    try:
        # Of ASCII, which this takes, it is much faster.
        return encoded.astype(f"U{max(1, int(np.strings.str_len(encoded).max(initial=0)))}")
    except UnicodeDecodeError:
        return np.strings.decode(encoded, "utf-8")


# Opening, and finding data sets.


@contextlib.contextmanager
def opened(path: FilePath, max_bytes: int | None = None) -> Iterator[Source]:
    """Open a file for reading; whatever goes wrong is a FileFormatError or an OSError.

    `max_bytes` limits the memory of what is read; None stands for `half_of_memory`.
    """
    file_path = as_path(path)
    with file_path.open("rb"):
        if not h5py.is_hdf5(file_path):
            raise FileFormatError(f"{file_path}: damaged, or no HDF5 (MATLAB files end in .mat)")
    room = half_of_memory() if max_bytes is None else max_bytes
    # Readers on network folders must not fail for want of a lock. No chunk is read twice.
    options = {"locking": "best-effort", "rdcc_nbytes": 0}
    with _reading(file_path), h5py.File(file_path, "r", **options) as file:
        yield Source(file_path, file, room)


@contextlib.contextmanager
def _reading(path: Path, name: str = "") -> Iterator[None]:
    """Turn whatever goes wrong inside HDF5 into `FileFormatError`."""
    try:
        yield
    except errors.BosarisError:
        raise
    # h5py maps the faults of a damaged file to a dozen built-in exceptions.
    except Exception as error:
        text = safe(str(error).strip() or type(error).__name__, 300)
        is_open = "unable to lock" in text or "already open" in text
        fault = "open elsewhere for writing" if is_open else "damaged, or cannot be read"
        where = f" data set `/{safe(name)}`" * bool(name)
        raise FileFormatError(f"{path}:{where} {fault}: {text}") from error


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

    def name_of(self, field: str) -> str | None:
        """Return the first name of a field that the file has, None if there is none."""
        return next((name for name in FIELDS[field].names if self.find(name) is not None), None)

    def attribute(self, name: str, place: H5 | None = None) -> str:
        """Return a text attribute of the root or another object, empty if there is none."""
        value = (self.file if place is None else place).attrs.get(name)
        return value.decode(errors="replace") if type(value) is np.bytes_ else ""

    @functools.cached_property
    def format(self) -> str:
        """What this package has written of the kind, empty in files of others."""
        name = self.attribute("format")
        return name.removeprefix("bosaris_py.") if name.startswith("bosaris_py.") else ""

    @functools.cached_property
    def kinds(self) -> list[str]:
        """The kinds of `KINDS` that the file may hold, by its own word or its data sets."""
        if self.format in KINDS:
            return [self.format]
        found = [name for name, kind in KINDS.items() if self.name_of(kind.sign)]
        if "ndx" in found:
            # The toolkit's Ndx has the data set of its Key, where labels are of a type for -1.
            is_key = self.find("file_format") is not None
            is_ndx = not is_key and self.data_set("trial_mask", "mask").is_unsigned
            at = found.index("ndx")
            found[at : at + 1] = ["key"] if is_key else ["ndx"] if is_ndx else ["key", "ndx"]
        if "flat_ndx" in found[1:]:
            # A list with labels or scores.
            found.remove("flat_ndx")
        return found

    @property
    def holds(self) -> str:
        """What the file holds, for an error."""
        if self.kinds:
            return KINDS[self.kinds[0]].class_name
        names = [*self.file]
        if any("OCTAVE_NEW_FORMAT" in getattr(self.find(each), "attrs", ()) for each in names[:9]):
            return "variables in Octave's own format; save with -v7, as .mat"
        return list_some(names) or "nothing at all"

    def has_times(self, name: str) -> bool:
        """Tell whether there are times, of which SIDEKIT writes -1 where there is none."""
        kind = getattr(getattr(self.find(name), "dtype", None), "kind", "")
        return kind in ("i", "f") and bool((self.data_set(name, "any").check().read() != -1).any())

    def data_set(self, name: str, content: str, found: H5 | None = None) -> DataSet:
        """Return a plain data set of a content of `_TYPES`, unread."""
        found = self.find(name) if found is None else found
        if found is None:
            raise self.error(name, "is missing")
        if not hasattr(found, "shape") or found.is_virtual or found.external:
            raise self.error(name, "is no plain data set in this file")
        shape, dtype = tuple(found.shape or (0,) * (found.shape is None)), found.dtype
        good = (
            dtype.kind in _TYPES[content] and not h5py.check_enum_dtype(dtype) and len(shape) <= 2
        )
        if dtype.kind in "iuf":
            # Numbers of other bits, which damage makes, would be converted in silence.
            is_plain = found.id.get_type().equal(h5py.h5t.py_create(dtype))
            good = good and dtype.itemsize <= 8 and is_plain
        if content == "ids":
            good = good and sum(extent != 1 for extent in shape) <= 1
            good = good and (dtype.kind == "S" or h5py.check_string_dtype(dtype) is not None)
        properties = found.id.get_create_plist()
        filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
        if not good:
            raise self.error(name, f"cannot hold {content}: it has type {dtype}, shape {shape}")
        # Each once, and one of two that pack.
        if not _FILTERS.issuperset(filters) or len(
            {_LZF if f == _GZIP else f for f in filters}
        ) < len(filters):
            raise self.error(name, "is packed otherwise than by gzip or lzf; use gzip")
        return DataSet(self, name, content, found, shape, filters)

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
    # The codes of what packs its chunks, in their order.
    filters: list[int]

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

    @functools.cached_property
    def chunks(self) -> list[h5py.h5d.StoreInfo]:
        """Places and sizes of the chunks that are stored."""
        found: list[h5py.h5d.StoreInfo] = []
        if self.data.chunks is not None:
            self.data.id.chunk_iter(found.append)
        return found

    @functools.cached_property
    def is_read_unpacked(self) -> bool:
        """Whether all is packed by gzip, so that it is unpacked once, for its size and content."""
        is_all = not any(chunk.filter_mask for chunk in self.chunks)
        return _GZIP in self.filters and self.content != "ids" and is_all

    @functools.cached_property
    def chunk_size(self) -> int:
        """Bytes of a chunk that is not packed."""
        each = self.data.id.get_type().get_size()
        if self.data.dtype.kind == "O":
            # Of a string of any length, length, address and number are stored.
            each = 8 + self.data.file.id.get_create_plist().get_sizes()[0]
        return int(math.prod(self.data.chunks) * each)

    def check(self, *, whole: bool = True) -> DataSet:
        """Refuse more than fits into memory, and chunks that do not unpack to their size.

        At their size the library never looks: what it reads behind the end of a short one crashes
        it, or is what the memory held before. In a file of this package none may be missing.
        """
        size, shape, steps = self.data.dtype.itemsize, self.shape, self.data.chunks or ()
        # Ids take four bytes for each character, and numbers room to be looked at.
        each = {"ids": 6 * size, "numbers": 8}.get(self.content, 2 * size)
        self.source.claim(self.name, max(math.prod(shape) * each * whole, math.prod(steps) * size))
        with _reading(self.source.path, self.name):
            for chunk in self.chunks:
                used = self._used(chunk)
                is_packed = _GZIP in used or _LZF in used
                if any(at >= n for at, n in zip(chunk.chunk_offset, shape, strict=True)):
                    raise ValueError("a chunk outside its extents")
                if is_packed and not self.is_read_unpacked:
                    self._unpack(chunk)
                elif not is_packed and chunk.size != self.chunk_size + 4 * (_FLETCHER in used):
                    raise ValueError(f"a chunk that has not {self.chunk_size} bytes")
            n_chunks = math.prod(-(-n // step) for n, step in zip(shape, steps, strict=False))
            if self.source.format and steps and len(self.chunks) != n_chunks:
                raise ValueError("chunks are missing")
        return self

    def _used(self, chunk: h5py.h5d.StoreInfo) -> list[int]:
        """Return the filters of a chunk; one that does not shrink may be stored without some."""
        return [code for i, code in enumerate(self.filters) if not chunk.filter_mask >> i & 1]

    def _unpack(self, chunk: h5py.h5d.StoreInfo) -> bytes:
        """Return what gzip packed, of lzf only as many zeros; raise `ValueError` if not all."""
        data: bytes = self.data.id.read_direct_chunk(chunk.chunk_offset)[1]
        size = self.chunk_size
        for code in reversed(self._used(chunk)):
            if code == _FLETCHER:
                data = data[:-4]
            elif code == _SHUFFLE:
                by_byte = np.frombuffer(data, np.uint8).reshape(self.data.dtype.itemsize, -1)
                data = by_byte.T.tobytes()
            elif code == _LZF:
                data = bytes(_size_of_lzf(data, size + 4))
            else:
                stream = zlib.decompressobj()
                # The checksum of the library may be packed with the data; gzip has its own.
                data = stream.decompress(data, size + 5)
                data = data if stream.eof else b""
        if len(data) != size:
            raise ValueError(f"a chunk that does not unpack to {size} bytes")
        return data

    def _unpack_rows(self, out: AnyArray, first: int) -> None:
        """Fill an array with the rows from `first` on, of chunks that gzip packed."""
        # As the library does where a chunk was never written.
        out[...] = self.data.fillvalue
        wide, (height, width) = out.reshape(len(out), -1), (*self.data.chunks, 1)[:2]
        for chunk in self.chunks:
            top, left = (*chunk.chunk_offset, 0)[:2]
            top -= first
            place = wide[max(top, 0) : max(top + height, 0), left : left + width]
            if place.size:
                part = np.frombuffer(self._unpack(chunk), self.data.dtype).reshape(height, width)
                place[...] = part[max(-top, 0) :][: len(place), : place.shape[1]]

    def read(self, rows: slice = slice(None)) -> AnyArray:
        """Return all elements, or some rows, in their `memory_type`."""
        start, stop, _ = rows.indices(self.shape[0] if self.shape else 1)
        # The library leaves what was never written as it is.
        out = np.zeros((stop - start, *self.shape[1:]) if self.shape else (), self.memory_type)
        with _reading(self.source.path, self.name):
            if out.size and self.is_read_unpacked:
                self._unpack_rows(out, start)
            elif out.size:
                self.data.read_direct(out, rows if self.shape and rows != slice(None) else ())
        # Whole matrices are kept by objects. A damaged file can hold what numpy's bool must not.
        out = mark_read_only(out) if rows == slice(None) else out
        return out.view(np.uint8) if out.dtype == np.bool_ else out

    def read_ids(self) -> StrArray:
        """Return all ids as a vector of str."""
        if math.prod(self.shape) == 0:
            return mark_read_only(np.empty(0, dtype=np.str_))
        with _reading(self.source.path, self.name):
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


def _size_of_lzf(packed: bytes, wanted: int) -> int:
    """Return how many bytes a packed chunk has, or a few more than wanted; -1 of half a one."""
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


# Objects.


def fit(
    name: str,
    shape: tuple[int, ...],
    sizes: dict[str, int],
    error: Callable[[str], FileFormatError],
) -> None:
    """Take the extents of a field that none before it has; raise if others are not the same."""
    dims, count = FIELDS[name].dims, math.prod(shape)
    if "q" in dims and "q" not in sizes:
        # One measure of many ids, or many measures of one id, may be a vector.
        is_one = shape == (sizes[dims[-1]],)
        sizes["q"] = shape[0] if len(shape) == 2 else 1 if is_one else count
    wanted = tuple(sizes.setdefault(dim, count) for dim in dims)
    is_empty = 0 in wanted and count == 0
    if not is_empty and [n for n in shape if n != 1] != [n for n in wanted if n != 1]:
        swapped = ". Models and segments look swapped" if shape == wanted[::-1] else ""
        raise error(f"has shape {shape}; the ids before it ask for {wanted}{swapped}")


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


def read(
    kind: str, path: FilePath, *, max_bytes: int | None = None
) -> tuple[Arrays, tuple[Note, ...]]:
    """Read the arrays of an object of a kind of `KINDS`, and notes on its layout.

    A key comes as `labels`, or as the masks `tar` and `non` of an old layout; a list of trials
    with its `columns`, if it has any.
    """
    with opened(path, max_bytes) as source:
        # A list is too sparse for a matrix.
        kind = f"flat_{kind}" if f"flat_{kind}" in source.kinds else kind
        found, sizes = find_fields(source, kind)
        arrays = _read_fields(found, sizes)
        notes = [*notes_of_layout(path, kind, found)]
        if source.find("columns/trial/names") is not None:
            arrays["columns"] = {
                each: _read_columns(source, f"columns/{each}", sizes[dim])
                for each, dim in zip(COLUMN_KINDS, "kmn", strict=True)
            }
        if kind == "id_map" and any(map(source.has_times, ("start", "stop"))):
            notes.append(note_of_times(path))
        says_what = source.format or source.find("file_format") is not None
    for name in {*layout.MASKS}.intersection(KINDS[kind].fields).difference(arrays):
        arrays[name] = mark_read_only(np.ones([sizes[dim] for dim in FIELDS[name].dims], bool))
    labels = arrays.get("labels", np.empty(0))
    if not says_what and labels.min(initial=0) == 0 < labels.max(initial=0):
        text = f"{path}: all trials are targets. Is it an Ndx?"
        advice = "Ndx.read and read_trials read trials without labels; the key is another file."
        notes.append(Note(errors.BosarisWarning, text, advice=advice))
    return arrays, tuple(notes)


def find_fields(source: Source, kind: str) -> tuple[dict[str, DataSet], dict[str, int]]:
    """Find the data sets of an object, and the extent of each dimension; check types and shapes."""
    if source.format:
        version = source.attribute("format_version") or layout.FORMAT_VERSION
        refuse_newer(f"{source.path}: the attribute format_version", version, layout.FORMAT_VERSION)
    if kind not in source.kinds:
        wanted = KINDS[kind].class_name
        raise FileFormatError(f"{source.path}: expected {wanted}; the file holds {source.holds}")
    names = KINDS[kind].fields
    if kind == "key" and source.name_of("tar") is None:
        names = (*IDS, "labels")
    found: dict[str, DataSet] = {}
    sizes: dict[str, int] = {}
    # The ids tell the extents of all others.
    for name in sorted(names, key=lambda name: FIELDS[name].content != "ids"):
        place = source.name_of(name)
        if place is not None:
            made = found[name] = source.data_set(place, FIELDS[name].content)
            shape = made.shape[::-1] if _is_transposed(found, name) else made.shape
            shape = (math.prod(shape),) if made.content == "ids" else shape
            fit(name, shape, sizes, made.error)
        elif source.format or name not in layout.MASKS or (kind, found["modelset"].name) in _MASKED:
            raise source.error(FIELDS[name].names[0], "is missing")
    if "labels" in found and found["labels"].is_unsigned:
        raise found["labels"].error("cannot hold -1 for non-targets: is this an Ndx?")
    return found, sizes


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
        array = array.reshape([sizes[dim] for dim in FIELDS[name].dims])
        if name == "trialmask":
            if array.min(initial=0) < 0:
                raise data_set.error("holds -1 for non-targets: is this a Key?")
            array = array.view(np.bool_)
        arrays[name] = mark_read_only(array)
    return arrays


def _read_columns(source: Source, where: str, size: int) -> dict[str, layout.StoredColumn]:
    """Read all columns of one kind, with an element for each of `size` trials or ids."""
    columns: dict[str, layout.StoredColumn] = {}
    names = source.data_set(f"{where}/names", "ids").check().read_ids().tolist()
    for number, name in enumerate(names):
        is_factor = source.find(f"{where}/{number}/codes") is not None
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


def note_of_times(path: FilePath) -> Note:
    """Say that an `IdMap` keeps no times, which files of SIDEKIT and its relatives have."""
    text = f"{path}: start and stop of the segments are left out: an IdMap has pairs of ids."
    return Note(errors.BosarisWarning, text)


def notes_of_layout(path: FilePath, kind: str, found: Mapping[str, DataSet]) -> tuple[Note, ...]:
    """Return a note if a key comes as two masks, or scores come without a mask."""
    text = "a key in the old layout with two masks" if "tar" in found else ""
    if kind == "scores" and "scoremask" not in found:
        text = "the file does not say which scores are valid; taking all as valid"
    return (Note(errors.BosarisWarning, f"{path}: {text}"),) if text else ()


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file, by the file's own word, else by its data sets."""
    with opened(path) as source:
        if not source.kinds:
            known = ", ".join(KINDS)
            raise FileFormatError(f"{path}: none of {known}; the file holds {source.holds}")
        return source.kinds[0]


def is_list(path: FilePath) -> bool:
    """Tell whether a file holds a list of trials, which fits into memory."""
    return kind_of(path).startswith("flat_")
