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
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import h5py
import numpy as np

from bosaris_py._arrays import AnyArray, StrArray, mark_read_only
from bosaris_py._notes import warn_caller
from bosaris_py._validation import FilePath, as_path, list_some, safe
from bosaris_py._version import __version__
from bosaris_py.errors import BosarisError, FileFormatError, InvalidInputError, OldFormatWarning
from bosaris_py.files.columns import as_text
from bosaris_py.files.layout import FIELDS, IDS, KINDS, SIGNS, SIGNS_OF_KEYS, TYPES, Arrays, fit
from bosaris_py.files.models import refuse_newer
from bosaris_py.files.replacing import FULL_DISK, replacing

# Of a column: positions in levels, and the levels; or numbers.
StoredColumn: TypeAlias = tuple[AnyArray, StrArray] | AnyArray

_FORMAT_VERSION = "1.0"

COLUMN_KINDS = ("trial", "model", "segment")


_GZIP, _SHUFFLE = h5py.h5z.FILTER_DEFLATE, h5py.h5z.FILTER_SHUFFLE
_FLETCHER = h5py.h5z.FILTER_FLETCHER32

# Chunks are rows of about so many bytes, and of lists so many trials, that they can be read alike.
_CHUNK_BYTES, CHUNK_TRIALS = 2**20, 2**17

# Below this size compressed data take more bytes than plain ones.
_COMPRESS_FROM = 2**12


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


# Opening, and finding data sets.


@attrs.define(eq=False)
class Source:
    """An open file, of which only plain data sets inside it are read, within so much memory."""

    path: Path
    file: Any
    # Bytes that may still be read.
    room: int
    limit: str

    def error(self, name: str, text: str) -> FileFormatError:
        """Return an error about the data set `name`."""
        return FileFormatError(f"{self.path}: data set `/{safe(name)}` {text}")

    def find(self, name: str) -> Any:
        """Return the object of a path, None if there is none; raise if a link leads away."""
        place = self.file
        for part in name.split("/"):
            link = place.get(part, getlink=True) if isinstance(place, h5py.Group) else None
            if link is None:
                return None
            if not isinstance(link, h5py.HardLink):
                raise self.error(
                    name, "is reached by a soft or external link, which is not followed"
                )
            place = place[part]
        return place

    def first_of(self, names: Iterable[str]) -> str | None:
        """Return the first of `names` that the file has, None if it has none."""
        return next((name for name in names if self.find(name) is not None), None)

    def attribute(self, name: str, place: Any = None) -> str:
        """Return a short text attribute of the root or another object, empty if there is none."""
        found = (self.file if place is None else place).id
        if not h5py.h5a.exists(found, name.encode()):
            return ""
        attribute = h5py.h5a.open(found, name.encode())
        kind = attribute.get_type()
        is_text = isinstance(kind, h5py.h5t.TypeStringID) and not kind.is_variable_str()
        if not is_text or math.prod(attribute.shape) != 1 or kind.get_size() > 1024:
            return ""
        value = np.zeros((), dtype=f"S{kind.get_size()}")
        attribute.read(value)
        return bytes(value.item()).decode(errors="replace")

    def data_set(self, name: str, content: str) -> "DataSet":
        """Return a plain data set of a content of `TYPES`, unread."""
        found = self.find(name)
        if found is None:
            raise self.error(name, "is missing")
        return self.checked(found, name, *TYPES[content], content=content)

    def checked(
        self, found: Any, name: str, kinds: str, wanted: str, *, content: str = ""
    ) -> "DataSet":
        """Refuse what is no plain data set of these kinds of types."""
        if not isinstance(found, h5py.Dataset) or found.is_virtual or found.external:
            raise self.error(name, "is no plain data set in this file")
        shape, kind = (0,) if found.shape is None else found.shape, found.dtype.kind
        is_text = kind != "O" or not content or h5py.check_string_dtype(found.dtype) is not None
        good = is_text and kind in kinds and not h5py.check_enum_dtype(found.dtype)
        if kind in "iuf":
            # Numbers of other bits, which damage makes, would be converted in silence.
            is_plain = found.id.get_type().equal(h5py.h5t.py_create(found.dtype))
            good = good and found.dtype.itemsize <= 8 and is_plain
        if content == "ids":
            good = good and sum(extent != 1 for extent in shape) <= 1
        if not good or len(shape) > 2:
            wanted = f"a list of {wanted}" if content == "ids" else f"{wanted} in a matrix or list"
            raise self.error(name, f"must hold {wanted}; it has type {found.dtype}, shape {shape}")
        return DataSet(self, name, content, found, tuple(shape))


@attrs.frozen(eq=False)
class DataSet:
    """A plain data set of numbers or text, of at most two dimensions."""

    source: Source
    name: str
    content: str
    data: Any
    shape: tuple[int, ...]

    def error(self, text: str) -> FileFormatError:
        """Return an error about this data set."""
        return self.source.error(self.name, text)

    @property
    def memory_type(self) -> np.dtype[Any]:
        """The type of the array that is read: scores become float32 or float64."""
        kind, size = self.data.dtype.kind, self.data.dtype.itemsize
        if self.content == "numbers":
            return np.dtype(np.float32 if kind == "f" and size <= 4 else np.float64)
        native: np.dtype[Any] = self.data.dtype.newbyteorder("=")
        return np.dtype(np.uint8) if kind == "b" else native

    @property
    def is_unsigned(self) -> bool:
        """Whether the type cannot hold a negative number."""
        return bool(self.data.dtype.kind in "ub")

    def check(self, *, whole: bool = True) -> None:
        """Refuse more than fits into memory, and chunks that do not unpack to their size."""
        kind, size = self.data.dtype.kind, self.data.dtype.itemsize
        # Ids take four bytes for each character, and a string of Python each.
        each = {"S": 6 * size, "O": 200}.get(kind, 8 if self.content == "numbers" else 2 * size)
        needed = max(math.prod(self.shape) * each * whole, math.prod(self.data.chunks or ()) * size)
        self._claim(needed)
        if self.data.chunks is not None:
            with reading(self.source.path, self.name):
                is_own = self.source.attribute("format").startswith("bosaris_py.")
                _check_chunks(self.data, self.shape, whole=is_own)

    def read(self, rows: slice | None = None) -> AnyArray:
        """Return all elements, or some rows, in their `memory_type`."""
        shape, space = self.shape, h5py.h5s.ALL
        if rows is not None:
            shape = (rows.stop - rows.start, *shape[1:])
            space = self.data.id.get_space()
            space.select_hyperslab((rows.start, *[0] * (len(shape) - 1)), shape)
        # The library leaves what was never written as it is.
        out = np.zeros(shape, dtype=self.memory_type)
        # A damaged file can hold what numpy's bool must never hold.
        stored = self.data.id.get_type() if self.data.dtype.kind == "b" else None
        if out.size:
            with reading(self.source.path, self.name):
                memory = h5py.h5s.create_simple(shape) if rows is not None else space
                self.data.id.read(memory, space, out, mtype=stored)
        return mark_read_only(out) if rows is None else out

    def read_ids(self) -> StrArray:
        """Return all ids as a vector of str."""
        if math.prod(self.shape) == 0:
            return mark_read_only(np.empty(0, dtype=np.str_))
        with reading(self.source.path, self.name):
            if self.data.dtype.kind == "O":
                texts = [bytes(item or b"").decode() for item in np.ravel(self.data[()])]
                # Each takes the room of the longest.
                self._claim(4 * len(texts) * max(map(len, texts)))
                return mark_read_only(np.array(texts, dtype=np.str_))
            # A longer type makes the library end each id where its padding begins.
            kind, size = self.data.id.get_type().copy(), self.data.dtype.itemsize + 1
            kind.set_size(size)
            kind.set_strpad(h5py.h5t.STR_NULLTERM)
            encoded = np.zeros(self.shape, dtype=f"S{size}")
            self.data.id.read(h5py.h5s.ALL, h5py.h5s.ALL, encoded, mtype=kind)
            return mark_read_only(as_text(encoded.ravel()))

    def _claim(self, needed: int) -> None:
        """Refuse more than may still be read."""
        self.source.room -= needed
        if self.source.room < 0:
            raise self.error(f"needs {needed:,} bytes of memory, more than {self.source.limit}")

    def read_mask(self, shape: tuple[int, ...], *, signed: bool = False) -> AnyArray:
        """Return a mask as bool, or as int8 holding -1, 0 and 1 if `signed`."""
        where = f"{self.source.path}: data set `/{self.name}`"
        return check_mask(self.read().reshape(shape), where, signed=signed)


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
        is_open = isinstance(error, BlockingIOError) or "already open" in text
        fault = "open elsewhere for writing" if is_open else "damaged, or cannot be read"
        where = f" data set `/{safe(name)}`" * bool(name)
        raise FileFormatError(f"{path}:{where} {fault}: {text}") from error


def open_source(path: FilePath, max_bytes: int | None = None, **options: Any) -> Source:
    """Open a file, whose `Source.file` is to be closed.

    `max_bytes` limits the memory of what is read; None stands for `half_of_memory`.
    """
    file_path = as_path(path)
    with file_path.open("rb") as stream:
        head = stream.read(16)
    room = half_of_memory() if max_bytes is None else max_bytes
    limit = f"{'half of the memory' if max_bytes is None else '`max_bytes`'}, {room:,}"
    if not h5py.is_hdf5(file_path):
        what = "a MATLAB file; call it .mat" if head.startswith(b"MATLAB") else "damaged or no HDF5"
        raise FileFormatError(f"{file_path}: {what}")
    with reading(file_path):
        # Readers on network folders must not fail for want of a lock.
        file = h5py.File(file_path, "r", locking="best-effort", **options)
    return Source(file_path, file, room, limit)


@contextlib.contextmanager
def opened(path: FilePath, max_bytes: int | None = None) -> Iterator[Source]:
    """Open a file for reading; whatever goes wrong is a FileFormatError or an OSError."""
    # No chunk is read twice.
    source = open_source(path, max_bytes, rdcc_nbytes=0)
    with source.file, reading(source.path):
        yield source


def _check_chunks(data: Any, shape: tuple[int, ...], *, whole: bool) -> None:
    """Raise `ValueError` if chunks do not unpack to their size, at which the library never looks.

    What it reads behind the end of a short one crashes it, or is what the memory held before. In a
    file of this package (`whole`) none may be missing.
    """
    properties = data.id.get_create_plist()
    filters = [properties.get_filter(i)[0] for i in range(properties.get_nfilters())]
    others = {*filters} - {_GZIP, _SHUFFLE, _FLETCHER}
    if others or len({*filters}) < len(filters):
        raise ValueError("compressed otherwise than by gzip; write it again with gzip or without")
    # Of a string of any length, length, address and number are stored.
    addresses = data.file.id.get_create_plist().get_sizes()[0]
    is_pointer = h5py.check_string_dtype(data.dtype) is not None and data.dtype.kind == "O"
    each = 8 + addresses if is_pointer else data.id.get_type().get_size()
    size = math.prod(data.chunks) * each

    def check(chunk: Any) -> str | None:
        if any(start >= n for start, n in zip(chunk.chunk_offset, shape, strict=True)):
            return "a chunk outside its extents"
        used = [code for i, code in enumerate(filters) if not chunk.filter_mask >> i & 1]
        behind = used[used.index(_GZIP) :] if _GZIP in used else used
        end = chunk.size - 4 * (_FLETCHER in behind)
        wanted = size + 4 * (_FLETCHER in used and _FLETCHER not in behind)
        if _GZIP not in used:
            return None if end == wanted else f"a chunk of {end} bytes, not {wanted}"
        _, packed = data.id.read_direct_chunk(chunk.chunk_offset)
        stream = zlib.decompressobj()
        found = len(stream.decompress(packed[: max(0, end)], wanted + 1))
        whole = found == wanted and stream.eof
        return None if whole else f"a chunk that does not unpack to {wanted} bytes"

    if fault := data.id.chunk_iter(check):
        raise ValueError(fault)
    n_chunks = math.prod(-(-n // step) for n, step in zip(shape, data.chunks, strict=True))
    if whole and data.id.get_num_chunks() != n_chunks:
        raise ValueError("chunks are missing")


def check_mask(stored: AnyArray, where: str, *, signed: bool = False) -> AnyArray:
    """Turn numbers into a read-only mask; refuse all but 0, 1 and, if `signed`, -1.

    The toolkit takes any number above 0.5 as true, and below -0.5 as non-target.
    """
    least = -1 if signed and stored.dtype.kind != "u" else 0
    wanted = np.dtype(np.int8 if signed else np.bool_)
    # Of integers the ends tell all.
    ends = stored.min(initial=0), stored.max(initial=0)
    if stored.dtype.kind not in "iu" or ends[0] < least or ends[1] > 1:
        wrong = stored[(stored != 0) & (stored != 1) & (stored != least)]
        if wrong.size:
            raise FileFormatError(
                f"{where} must hold whole numbers from {least} to 1; got {wrong[0]}"
            )
    is_byte = stored.dtype.itemsize == 1
    return mark_read_only(stored.view(wanted) if is_byte else stored.astype(wanted))


# Objects.


def read(kind: str, path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the arrays of an object of a kind of `KINDS`: the arguments of its constructor.

    A key of two masks, scores without a mask, and a key of targets alone that does not say that it
    is one give an `OldFormatWarning`.
    """
    with opened(path, max_bytes) as source:
        if source.find("trials/models") is not None and f"flat_{kind}" in KINDS:
            # A list, which is too sparse for a matrix.
            kind = f"flat_{kind}"
        found, sizes = find_fields(source, kind)
        arrays = _read_fields(found, sizes)
        says_what = source.attribute("format") or source.find("file_format") is not None
    if "labels" in arrays:
        labels = arrays.pop("labels")
        arrays |= {"tar": mark_read_only(labels == 1), "non": mark_read_only(labels == -1)}
    for name in KINDS[kind].fields:
        if name not in arrays:
            arrays[name] = mark_read_only(np.ones([sizes[dim] for dim in FIELDS[name].dims], bool))
    warn_of_old_layout(path, kind, found)
    if kind == "key" and not says_what and arrays["tar"].any() and not arrays["non"].any():
        advice = "Ndx.read and read_trials read trials without labels; the key is another file."
        warn_caller(f"{path}: all trials are targets. Is it an Ndx?", OldFormatWarning, advice)
    return arrays


def find_fields(source: Source, kind: str) -> tuple[dict[str, DataSet], dict[str, int]]:
    """Find the data sets of an object, and the extent of each dimension; check types and shapes."""
    declared = source.attribute("format")
    is_own = declared.startswith("bosaris_py.")
    if is_own:
        stored = declared.removeprefix("bosaris_py.")
        # A key with columns is a list of trials, too.
        if stored != "trial_metadata" or kind not in ("flat_key", "flat_ndx"):
            _refuse_other(source, kind, stored)
        version = source.attribute("format_version") or _FORMAT_VERSION
        refuse_newer(f"{source.path}: the attribute format_version", version, _FORMAT_VERSION)
    names = KINDS[kind].fields
    if kind == "key" and source.first_of(FIELDS["tar"].names) is None:
        names = (*IDS, "labels")
    found: dict[str, DataSet] = {}
    sizes: dict[str, int] = {}
    # The ids tell the extents of all others.
    for name in sorted(names, key=lambda name: FIELDS[name].content != "ids"):
        # The mask of models decides for that of segments.
        is_left = name == "hasseg" and "hasmodel" not in found
        place = None if is_left else source.first_of(FIELDS[name].names)
        if place is not None:
            made = found[name] = source.data_set(place, FIELDS[name].content)
            shape = made.shape[::-1] if _is_transposed(found, name) else made.shape
            fit(name, (math.prod(shape),) if made.content == "ids" else shape, sizes, made.error)
        elif (is_own and kind != "trial_metadata") or not _may_lack(name, kind, found):
            _refuse_other(source, kind, _recognise(source, kind))
            raise source.error(FIELDS[name].names[0], "is missing")
    if kind in SIGNS_OF_KEYS and source.find(SIGNS_OF_KEYS[kind][0]) is not None:
        _refuse_other(source, kind, SIGNS_OF_KEYS[kind][1])
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
    for data_set in found.values():
        data_set.check()
    arrays: Arrays = {}
    for name, data_set in found.items():
        shape = tuple(sizes[dim] for dim in FIELDS[name].dims)
        if data_set.content == "ids":
            arrays[name] = data_set.read_ids()
        elif data_set.content == "mask":
            is_signed = name == "labels" or (name == "trialmask" and not data_set.is_unsigned)
            arrays[name] = data_set.read_mask(shape, signed=is_signed)
        else:
            array = data_set.read()
            if _is_transposed(found, name) and array.ndim == 2:
                array = np.ascontiguousarray(array.T)
            arrays[name] = mark_read_only(array.reshape(shape))
    if "trialmask" in arrays and arrays["trialmask"].dtype == np.int8:
        trials = arrays["trialmask"]
        if trials.min(initial=0) < 0:
            raise found["trialmask"].error("holds -1 for non-targets: is this a Key?")
        arrays["trialmask"] = mark_read_only(trials.view(np.bool_))
    return arrays


def warn_of_old_layout(path: FilePath, kind: str, found: Mapping[str, DataSet]) -> None:
    """Warn if a key comes as two masks, or scores come without a mask."""
    text = "a key in the old layout with two masks" if "tar" in found else ""
    if kind == "scores" and "scoremask" not in found:
        text = "the file does not say which scores are valid; taking all as valid"
    if text:
        warn_caller(f"{path}: {text}", OldFormatWarning)


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file, by the file's own word, else by its data sets."""
    with opened(path) as source:
        declared = source.attribute("format").removeprefix("bosaris_py.")
        found = declared if declared in KINDS else _recognise(source)
        if found not in KINDS and source.find("trial_mask") is not None:
            # Labels are of a type that can hold -1.
            found = "ndx" if source.data_set("trial_mask", "mask").is_unsigned else "key"
        if found not in KINDS:
            raise FileFormatError(f"{path}: none of {', '.join(KINDS)}; the file holds {found}")
        return found


def _recognise(source: Source, kind: str = "") -> str:
    """Name the kind that a file may be of, `kind` if possible, or else what it holds."""
    found = [name for signs, name in SIGNS if all(source.find(n) is not None for n in signs)]
    if found:
        return kind if kind in found else found[0]
    if source.find("trial_mask") is not None:
        return kind if kind in ("ndx", "key") else "an Ndx or Key"
    return list_some(source.file) or "nothing at all"


def _refuse_other(source: Source, kind: str, found: str) -> None:
    """Raise if a file holds something else than what was asked for."""
    if found != kind:
        name = KINDS[found].class_name if found in KINDS else safe(found)
        wanted = KINDS[kind].class_name
        raise FileFormatError(f"{source.path}: expected {wanted}; the file holds {name}")


# Writing.


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


@contextlib.contextmanager
def creating(path: FilePath, kind: str, size: int) -> Iterator[Any]:
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
            put_attribute(file, "format_version", _FORMAT_VERSION)
            put_attribute(file, "created_by", f"bosaris_py {__version__}")
            yield file


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


def put(root: Any, name: str, array: AnyArray) -> None:
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
    made = new_data_set(
        root, name, array.shape, array.dtype if kind is None else h5py.Datatype(kind)
    )
    if array.size:
        made.id.write(h5py.h5s.ALL, h5py.h5s.ALL, array, mtype=kind)


def new_data_set(root: Any, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """Create a data set in chunks with checksums, without a time stamp."""
    options: dict[str, Any] = {}
    if math.prod(shape):
        # Chunks of whole rows are what streaming reads at once; only longer rows are cut.
        kind = None if isinstance(dtype, h5py.Datatype) else np.dtype(dtype)
        most = CHUNK_TRIALS if len(shape) == 1 or kind is None else _CHUNK_BYTES // kind.itemsize
        row = math.prod(shape[1:])
        chunks = (max(1, min(shape[0], most // row)), *(min(row, most) for _ in shape[1:]))
        # What is read where a chunk is lost is no id, score, label or position.
        lost: Any = b"\xff" if kind is None else np.nan if kind.kind == "f" else np.iinfo(kind).max
        options = {"chunks": chunks, "fletcher32": True, "fillvalue": lost}
        if kind is not None and kind.kind in "iu" and math.prod(shape) >= _COMPRESS_FROM:
            # Scores would hardly shrink. Shuffled are the bytes of positions, which change little.
            shuffle = kind.itemsize > 1
            options |= {"compression": "gzip", "compression_opts": 1, "shuffle": shuffle}
    return root.create_dataset(name, shape, dtype, track_times=False, **options)


def put_attribute(root: Any, name: str, text: str) -> None:
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


def _text_type(width: int, *, is_ascii: bool) -> Any:
    """Return the HDF5 type of a null-terminated string of `width` bytes."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(width)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    kind.set_cset(h5py.h5t.CSET_ASCII if is_ascii else h5py.h5t.CSET_UTF8)
    return kind


# Trials and their columns.


def read_metadata(path: FilePath, *, max_bytes: int | None = None) -> dict[str, Any]:
    """Read trials and their columns: what `write_metadata` takes, in a dict, read-only."""
    with opened(path, max_bytes) as source:
        found, sizes = find_fields(source, "trial_metadata")
        if source.find("columns/trial/names") is None:
            _refuse_other(source, "trial_metadata", _recognise(source))
        arrays: dict[str, Any] = {"is_target": None, **_read_fields(found, sizes)}
        arrays["form"] = source.attribute("form")
        arrays["columns"] = {
            kind: _read_columns(source, f"columns/{kind}", sizes[dim])
            for kind, dim in zip(COLUMN_KINDS, "kmn", strict=True)
        }
    return arrays


def _read_columns(source: Source, where: str, size: int) -> dict[str, StoredColumn]:
    """Read all columns of one kind, with an element for each of `size` trials or ids."""
    names = source.data_set(f"{where}/names", "ids")
    names.check()
    columns: dict[str, StoredColumn] = {}
    for number, name in enumerate(names.read_ids().tolist()):
        is_factor = source.find(f"{where}/{number}/codes") is not None
        place = f"{where}/{number}/{'codes' if is_factor else 'values'}"
        found = source.data_set(place, "positions" if is_factor else "numbers")
        if found.shape != (size,) or name in columns:
            raise found.error(f"has shape {found.shape}, not {(size,)}, or a name that was before")
        if found.data.dtype.kind in "iu":
            # Whole numbers stay what they are.
            found = attrs.evolve(found, content="positions")
        found.check()
        columns[name] = values = mark_read_only(found.read())
        if is_factor:
            levels = source.data_set(f"{where}/{number}/levels", "ids")
            levels.check()
            columns[name] = values, levels.read_ids()
    return columns


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
            if isinstance(column, tuple):
                arrays[f"{where}/codes"], arrays[f"{where}/levels"] = column
            else:
                arrays[f"{where}/values"] = column
    with creating(path, "trial_metadata", sum(array.nbytes for array in arrays.values())) as file:
        put_attribute(file, "form", form)
        if matrix is not None:
            put(file, FIELDS["labels"].names[0], matrix)
            put(file, "file_format", np.array(["2.0"]))
        for name, array in arrays.items():
            put(file, name, array)
