"""Open and read HDF5 files of unknown origin with bounded memory.

HDF5 is a rich format. A file can name other files that the library then opens, declare a matrix of
many terabytes in a kilobyte, or hold types of which reading runs through pointers. A score file
needs none of that, so everything but plain, fully stored numbers and strings is refused before the
first byte of data is read. Callers first *check* all data sets (`GuardedFile.data_set`), compare
the shapes, `claim` the memory, and only then call `read`.
"""

from __future__ import annotations

import contextlib
import math
import os
import struct
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:
    # Windows locks otherwise.
    fcntl = None  # type: ignore[assignment]

import attrs
import h5py
import numpy as np

from bosaris_py._arrays import AnyArray, StrArray, mark_read_only
from bosaris_py._validation import FilePath, as_path, list_some
from bosaris_py.errors import BosarisError, FileFormatError
from bosaris_py.storage.atomic import open_unchanged
from bosaris_py.storage.hdf5.checksums import checksums, read_checksums
from bosaris_py.storage.hdf5.chunks import ByteArray, StoredChunks
from bosaris_py.storage.hdf5.groups import GroupChecks
from bosaris_py.storage.hdf5.strings import read_heap_strings
from bosaris_py.storage.ids import LONGEST_STORED_ID, cut_at_null, decode_ids
from bosaris_py.storage.memory import HARMLESS_BYTES, MemoryBudget, format_bytes

# gzip, the strongest of the filters that every HDF5 library has, shrinks at most
# 1032-fold; a data set that claims more than this is not backed by the file.
_BELIEVABLE_RATIO = 1100

# A fixed-length attribute longer than this is not a format name.
_LONGEST_ATTRIBUTE = 1024

# A file of scores has ten objects at most; one of MATLAB 7.3 has one for each id.
_MOST_OBJECTS = 2**20
_MOST_REMEMBERED = 64
# Groups lie three deep; the names of their members grow with each more.
_MOST_LEVELS = 32

_TYPE_CLASSES = {
    h5py.h5t.INTEGER: "integer",
    h5py.h5t.FLOAT: "float",
    h5py.h5t.STRING: "string",
    h5py.h5t.BITFIELD: "bit field",
    h5py.h5t.OPAQUE: "opaque",
    h5py.h5t.COMPOUND: "compound",
    h5py.h5t.REFERENCE: "reference",
    h5py.h5t.ENUM: "enumeration",
    h5py.h5t.VLEN: "variable-length sequence",
    h5py.h5t.ARRAY: "array",
}

# What a data set may be asked to hold: the type classes that pass, and the same in words.
_CONTENTS = {
    "ids": ({"string"}, "text"),
    "numbers": ({"integer", "float"}, "real numbers"),
    "positions": ({"integer"}, "whole numbers"),
    # h5py stores numpy's bool as an enumeration.
    "mask": ({"integer", "float", "enumeration"}, "a mask"),
}

_LINKS = {h5py.h5l.TYPE_SOFT: "a soft link", h5py.h5l.TYPE_EXTERNAL: "an external link"}

_OTHER_FORMATS = (
    (b"MATLAB 5.0", "a MATLAB file of version 5 to 7; give it the extension .mat"),
    (b"MATLAB 7.3", "a MATLAB file of version 7.3; give it the extension .mat"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
)


@contextlib.contextmanager
def open_guarded(path: FilePath, max_bytes: int | None = None) -> Iterator["GuardedFile"]:
    """Open an HDF5 file for reading; whatever goes wrong is a FileFormatError or an OSError.

    `max_bytes` limits the memory of the arrays. None stands for half of what machine, container and
    ulimit give, together with a check that stored bytes back every large data set.
    """
    file_path = as_path(path)
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(open_unchanged(file_path))
        head = stream.read(16)
        stack.enter_context(_one_kind_of_error(file_path, head))
        if fcntl is not None:
            # A file that is open for writing elsewhere may be half written.
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                raise
            except OSError:
                # Some file systems have no locks.
                pass
        groups = GroupChecks.of_file(stream)
        # Readers on network folders must not fail for want of a lock. No chunk is read twice.
        file = h5py.File(file_path, "r", locking="best-effort", rdcc_nbytes=0)
        guarded = GuardedFile(
            file_path, stack.enter_context(file), MemoryBudget(file_path, max_bytes)
        )
        guarded.refuse_foreign_storage(groups)
        yield guarded


@contextlib.contextmanager
def _one_kind_of_error(file_path: Path, head: bytes) -> Iterator[None]:
    """Turn whatever goes wrong while a file is read into `FileFormatError`."""
    try:
        yield
    except BosarisError:
        raise
    # h5py maps the faults of a damaged file to a dozen built-in exceptions.
    except Exception as error:
        if isinstance(error, BlockingIOError) or "already open" in str(error):
            message = f"{file_path}: open elsewhere for writing; close it there and read it again"
            raise FileFormatError(message) from error
        reason = next((text for sign, text in _OTHER_FORMATS if head.startswith(sign)), None)
        if reason is None or file_path.suffix.lower() == ".mat":
            detail = str(error).strip() or type(error).__name__
            if (
                head
                and not head.startswith(b"\x89HDF")
                and all(b > 31 or b in b"\t\r\n" for b in head)
            ):
                detail = f"{detail}. Is this text? read_scores and read_key read text"
            reason = f"damaged, truncated or no HDF5 file at all; h5py says: {detail}"
        raise FileFormatError(f"{file_path}: {reason}") from error


@attrs.define
class GuardedFile:
    """An open HDF5 file whose data sets are checked before they are read."""

    path: Path
    file: h5py.File
    budget: MemoryBudget
    # Objects that the walk through the file has found, by their paths; not more than a few.
    _found: dict[str, Any] = attrs.field(factory=dict, init=False)

    def error(self, name: str, text: str) -> FileFormatError:
        """Return an error about the data set `name` of this file."""
        return FileFormatError(f"{self.path}: data set `/{name}` {text}")

    def refuse_foreign_storage(self, checks: GroupChecks | None) -> None:
        """Refuse a file in which anything leads out of it, whether it is used or not.

        That is: soft and external links, virtual data sets, data sets stored in other files, and
        more objects than a walk through them may meet. The names in each group are checked before
        the library reads them.
        """
        groups = [("", self.file.id, 0)]
        seen = {_address(self.file.id)}
        count = 0
        while groups:
            parent, group, depth = groups.pop()
            if depth > _MOST_LEVELS:
                message = f"{self.path}: more than {_MOST_LEVELS} groups, each inside the other"
                raise FileFormatError(message)
            links = _links(group, _MOST_OBJECTS - count)
            count += len(links)
            if count > _MOST_OBJECTS:
                message = f"{self.path}: more than {_MOST_OBJECTS} objects; this is no score file"
                raise FileFormatError(message)
            for name, link, header in links:
                path = f"{parent}{os.fsdecode(name)}"
                self._refuse_link(path, link)
                found = h5py.h5o.open(group, name)
                if len(self._found) < _MOST_REMEMBERED:
                    self._found[path] = found
                if isinstance(found, h5py.h5d.DatasetID):
                    self._refuse_storage(path, found.get_create_plist())
                # A group can be reached on several ways, even through itself.
                elif isinstance(found, h5py.h5g.GroupID):
                    # To tell its address, the library reads all names in the group.
                    if checks is not None:
                        checks.check(header)
                    if _address(found) not in seen:
                        seen.add(_address(found))
                        groups.append((f"{path}/", found, depth + 1))

    def _refuse_link(self, name: str, link: int) -> None:
        """Refuse a link that is not the plain name of an object."""
        if link != h5py.h5l.TYPE_HARD:
            kind = _LINKS.get(link, "a link of unknown kind")
            raise self.error(name, f"is reached by {kind}, which a score file never holds")

    def _refuse_storage(self, name: str, properties: h5py.h5p.PropDCID) -> None:
        """Refuse a data set whose bytes are in another file."""
        if properties.get_layout() == h5py.h5d.VIRTUAL:
            raise self.error(name, "is virtual, taken from other files; refused")
        if properties.get_external_count() > 0:
            raise self.error(name, "is stored in another file; refused")

    @property
    def address_size(self) -> int:
        """Bytes of an address in the file."""
        return int(self.file.id.get_create_plist().get_sizes()[0])

    def members(self) -> list[str]:
        """Return the names in the root of the file."""
        return [os.fsdecode(name) for name in self.file.id]

    def attribute(self, name: str, location: object = None) -> str | None:
        """Return a short text attribute of the root or another object, None if there is none."""
        place = self.file.id if location is None else location
        if not h5py.h5a.exists(place, name.encode()):
            return None
        attribute = h5py.h5a.open(place, name.encode())
        kind = attribute.get_type()
        if (
            kind.get_class() != h5py.h5t.STRING
            # The library reads these through pointers, and this package writes none.
            or kind.is_variable_str()
            or kind.get_size() > _LONGEST_ATTRIBUTE
            or math.prod(attribute.shape) != 1
        ):
            return None
        value = np.empty((), dtype=attribute.dtype)
        attribute.read(value)
        text = value.item()
        return text.decode(errors="replace") if isinstance(text, bytes) else str(text)

    def find(self, name: str) -> Any:
        """Return the low-level object of a path without leading slash, None if absent."""
        if name in self._found:
            return self._found[name]
        location = self.file.id
        for part in name.split("/"):
            if not isinstance(location, h5py.h5g.GroupID):
                return None
            encoded = part.encode()
            if not location.links.exists(encoded):
                return None
            self._refuse_link(name, location.links.get_info(encoded).type)
            location = h5py.h5o.open(location, encoded)
        return location

    def holds(self, name: str) -> bool:
        """Tell whether the file has an object of this name, such as ``ID/row_ids``."""
        return self.find(name) is not None

    def first_of(self, names: tuple[str, ...]) -> str | None:
        """Return the first of `names` that the file has, None if it has none."""
        return next((name for name in names if self.holds(name)), None)

    def data_set(self, name: str, content: str) -> "GuardedDataset":
        """Check a data set of ids, numbers, positions or a mask, and return it unread."""
        found = self.find(name)
        if found is None:
            raise self.error(name, "is missing")
        checked = self.check_dataset(found, name, *_CONTENTS[content], content=content)
        if content == "ids" and len([extent for extent in checked.shape if extent != 1]) > 1:
            raise self.error(name, f"must be a list of ids; it has shape {checked.shape}")
        # With the byte that ends it.
        if content == "ids" and checked.item_size > LONGEST_STORED_ID + 1:
            text = f"holds ids of {checked.item_size} bytes; {LONGEST_STORED_ID} is the most"
            raise self.error(name, text)
        if content == "numbers" and checked.item_size > 8:
            raise self.error(
                name, f"holds {checked.type_class}s of {checked.item_size} bytes; 8 is the most"
            )
        if checked.type_class == "enumeration" and checked.dataset.dtype != np.bool_:
            raise self.error(name, "must hold a mask; it is of an enumeration type")
        if checked.count and checked.shape:
            # A part of a block cannot be verified: one must fit into memory beside what is asked.
            share = max(HARMLESS_BYTES / checked.stored_bytes, 1 / 1000)
            most = math.inf if content == "ids" else share * checked.shape[0]
            try:
                checked.checksums = read_checksums(checked.dataset.id, checked.shape[0], most)
            except ValueError as error:
                raise checked.error(f"is damaged: {error}") from error
        return checked

    def check_dataset(
        self, found: object, name: str, classes: set[str], wanted: str, *, content: str = ""
    ) -> "GuardedDataset":
        """Refuse whatever a plain data set of some type classes (`wanted`, in words) is not."""
        if not isinstance(found, h5py.h5d.DatasetID):
            raise self.error(name, "is a group or a type, not a data set")
        properties = found.get_create_plist()
        self._refuse_storage(name, properties)
        if properties.get_layout() not in (h5py.h5d.COMPACT, h5py.h5d.CONTIGUOUS, h5py.h5d.CHUNKED):
            raise self.error(name, "is stored in an unknown way")
        type_class = _TYPE_CLASSES.get(found.get_type().get_class(), "unknown")
        if type_class not in classes:
            raise self.error(name, f"must hold {wanted}; it is of {type_class} type")
        null_space = found.get_space().get_simple_extent_type() == h5py.h5s.NULL
        shape = (0,) if null_space else tuple(int(extent) for extent in found.shape)
        if len(shape) > 2:
            raise self.error(name, f"has {len(shape)} dimensions; 2 is the most")
        checked = GuardedDataset(self, name, h5py.Dataset(found), content, type_class, shape)
        self._check_backing(checked, properties)
        try:
            checked.chunks = self._check_stored_size(checked, properties)
        except (ValueError, RuntimeError) as error:
            raise checked.error(f"is damaged or not readable: {error}") from error
        return checked

    def _check_stored_size(
        self, checked: "GuardedDataset", properties: h5py.h5p.PropDCID
    ) -> StoredChunks | None:
        """Raise `ValueError` if the stored bytes are not those that shape and type need."""
        dataset, size = checked.dataset.id, checked.item_size
        of_pointers = checked.type_class == "string" and dataset.get_type().is_variable_str()
        if of_pointers:
            # Length, address and number.
            size = 8 + self.address_size
        layout = properties.get_layout()
        if layout == h5py.h5d.CHUNKED:
            chunks = StoredChunks.of(dataset, size, of_pointers=of_pointers)
            chunks.harmless = HARMLESS_BYTES if self.budget.max_bytes is None else 0
            chunks.check(self.path.stat().st_size, self.budget.claim)
            return chunks
        stored = dataset.get_storage_size()
        is_unwritten = layout == h5py.h5d.CONTIGUOUS and dataset.get_offset() is None
        if stored != checked.count * size and not is_unwritten:
            raise ValueError(f"{stored} bytes are stored, not {checked.count * size}")
        return None

    def _check_backing(self, checked: "GuardedDataset", properties: h5py.h5p.PropDCID) -> None:
        """Refuse a declared size that the stored bytes cannot fill."""
        claimed = checked.stored_bytes
        if properties.get_layout() == h5py.h5d.CHUNKED:
            # The library makes room for a whole chunk, however small the data set.
            chunk = math.prod(properties.get_chunk()) * checked.item_size
            if chunk > max(claimed, HARMLESS_BYTES):
                raise self.error(checked.name, f"has chunks of {format_bytes(chunk)}")
        if self.budget.max_bytes is not None or claimed <= HARMLESS_BYTES:
            return
        stored = checked.dataset.id.get_storage_size()
        if claimed > _BELIEVABLE_RATIO * stored:
            text = (
                f"claims {format_bytes(claimed)}, but only {format_bytes(stored)} are stored; "
                "give `max_bytes` if it is really that empty"
            )
            raise self.error(checked.name, text)


def _address(found: object) -> int:
    """Return where in the file the header of an object is."""
    return int(h5py.h5o.get_info(found).addr)


def _links(group: h5py.h5g.GroupID, most: int) -> list[tuple[bytes, int, int]]:
    """Return name, type and address of the links in a group, at most one more than `most`."""
    links: list[tuple[bytes, int, int]] = []

    def note(name: bytes, info: h5py.h5l.LinkInfo) -> bool | None:
        links.append((name, info.type, info.u))
        return len(links) > most or None

    group.links.iterate(note, info=True)
    return links


@attrs.define(eq=False)
class GuardedDataset:
    """A data set of at most two dimensions that passed all checks and is not read yet."""

    source: GuardedFile
    name: str
    dataset: h5py.Dataset
    content: str
    type_class: str
    shape: tuple[int, ...]
    # None if it is not stored in chunks.
    chunks: StoredChunks | None = None
    # The rows of a block, and the checksum of each; nothing in files without them.
    checksums: tuple[int, ...] = ()
    # The last block of which a part was wanted, by its first row.
    _last_block: dict[int, AnyArray] = attrs.field(factory=dict, init=False)

    def error(self, text: str) -> FileFormatError:
        """Return an error about this data set."""
        return self.source.error(self.name, text)

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @cached_property
    def item_size(self) -> int:
        """Bytes of one element as stored, without what a pointer leads to."""
        return int(self.dataset.id.get_type().get_size())

    @property
    def stored_bytes(self) -> int:
        """Bytes of all elements when unpacked."""
        return self.count * self.item_size

    @cached_property
    def is_unsigned(self) -> bool:
        """Whether the type cannot hold a negative number."""
        return bool(self.dataset.dtype.kind in "ub")

    @cached_property
    def memory_type(self) -> np.dtype[np.generic]:
        """The type of the array that is read: scores become float32 or float64."""
        if self.content == "numbers":
            is_short = self.type_class == "float" and self.item_size <= 4
            return np.dtype(np.float32 if is_short else np.float64)
        if self._is_byte_mask:
            return np.dtype(np.uint8 if self.is_unsigned else np.int8)
        native: np.dtype[np.generic] = self.dataset.dtype.newbyteorder("=")
        return native

    @property
    def _is_byte_mask(self) -> bool:
        return self.content == "mask" and self.item_size == 1

    def claim(self, copies: int = 1) -> None:
        """Take the memory for reading from the budget, for a mask that of `copies` results."""
        size = self.stored_bytes
        if self.content == "ids":
            # Stored bytes, the same as a numpy array, and four bytes for each character.
            size *= 6
        elif self.content == "numbers":
            size = 8 * self.count
        elif self.content == "mask":
            size += copies * self.count
        self.source.budget.claim(size, f"data set `/{self.name}`")

    def read_into(self, out: AnyArray, begin: tuple[int, ...] | None = None) -> None:
        """Read all elements into an array in C order, or as many as it has from `begin` on.

        The array must be zeros where chunks may be missing: see `is_whole`. Where there are
        checksums, whole blocks are read and verified.
        """
        if not self.checksums:
            self._load(out, begin)
            return
        first, step = 0 if begin is None else begin[0], self.checksums[0]
        last, end = first + len(out), self.shape[0]
        start, stop = -(-first // step) * step, last if last == end else last // step * step
        if start < stop:
            self._load_rows(out[start - first : stop - first], start)
        # Blocks of which a part is wanted.
        for begin_row in {first // step * step, (last - 1) // step * step}:
            if begin_row < start or begin_row >= stop:
                block = self._last_block.get(begin_row)
                if block is None:
                    rows = min(step, end - begin_row)
                    block = np.zeros((rows, *self.shape[1:]), dtype=out.dtype)
                    self._load_rows(block, begin_row)
                    self._last_block.clear()
                    self._last_block[begin_row] = block
                low, high = max(first, begin_row), min(last, begin_row + step)
                out[low - first : high - first] = block[low - begin_row : high - begin_row]

    def _load_rows(self, out: AnyArray, begin: int) -> None:
        """Read whole blocks, the first of which begins with a row, and verify their checksums."""
        if self._plain_file is None:
            self._load(out, (begin, *[0] * (out.ndim - 1)))
            self._verify(out, begin)
            return
        assert self.chunks is not None
        # A block that was just read is still in the cache.
        for start in range(0, len(out), self.checksums[0]):
            block = out[start : start + self.checksums[0]]
            with self._damage():
                self.chunks.read_rows(self._plain_file, block, begin + start)
            self._verify(block, begin + start)

    @cached_property
    def _plain_file(self) -> int | None:
        """The open file, if whole rows are stored as in memory: faster than by the library."""
        chunks, kind = self.chunks, h5py.h5t.py_create(self.memory_type)
        if (
            chunks is None
            or chunks.filters
            or chunks.shape[1:] != self.shape[1:]
            # One call of the system reads no more.
            or chunks.n_bytes >= 2**31 - 2**12
            or not self.is_whole
            or not self.dataset.id.get_type().equal(kind)
            or self.source.file.userblock_size
            or not hasattr(os, "preadv")
        ):
            return None
        return int(self.source.file.id.get_vfd_handle())

    def verify(self) -> None:
        """Read all blocks that have a checksum, one at a time; a wrong one raises."""
        for start in range(0, self.shape[0], self.checksums[0]) if self.checksums else ():
            rows = min(self.checksums[0], self.shape[0] - start)
            self._load_rows(np.zeros((rows, *self.shape[1:]), dtype=self.memory_type), start)

    def _verify(self, blocks: AnyArray, begin: int = 0) -> None:
        """Refuse whole blocks, from a row on, that are not what was written."""
        if not self.checksums:
            return
        step, *known = self.checksums
        known = known[begin // step :]
        for i, found in enumerate(checksums(blocks, step)):
            if found != known[i]:
                first = begin + i * step
                last = min(first + step, begin + len(blocks)) - 1
                raise self.error(
                    f"is damaged: the checksum of rows {first} to {last} is wrong; or changed by "
                    "another program, which should have removed the attribute `checksums`"
                )

    def _load(self, out: AnyArray, begin: tuple[int, ...] | None) -> None:
        """Read elements as they are stored."""
        # Bytes are taken as they are stored, also those of an enumeration, in which a
        # damaged file can hold what numpy's bool must never hold.
        kind = self.dataset.id.get_type() if self._is_byte_mask else None
        if self.chunks is not None and self.chunks.is_packed:
            with self._damage():
                self._unpack_into(out, (0,) * out.ndim if begin is None else begin, kind)
        elif begin is None:
            self.dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, out, mtype=kind)
        else:
            space = self.dataset.id.get_space()
            space.select_hyperslab(begin, out.shape)
            self.dataset.id.read(h5py.h5s.create_simple(out.shape), space, out, mtype=kind)

    def whole_chunk(self, rows: slice) -> ByteArray | None:
        """Return rows of a mask that are one packed chunk, the same object for the same bytes."""
        chunks, n_rows = self.chunks, rows.stop - rows.start
        if (
            chunks is None
            or not (chunks.is_packed and self._is_byte_mask)
            or chunks.shape != (n_rows, *self.shape[1:])
            or (rows.start, 0) not in chunks.begins
            or (self.checksums and self.checksums[0] != n_rows)
        ):
            return None
        with self._damage():
            chunk = chunks.unpack((rows.start, 0))
        self._verify(chunk, rows.start)
        return chunk

    def _unpack_into(self, out: AnyArray, begin: tuple[int, ...], kind: object) -> None:
        """Unpack the elements from `begin` on; those of chunks never written are the fill value."""
        stored = self.dataset.id.get_type()
        wanted = stored if kind is not None else h5py.h5t.py_create(out.dtype)
        if not self.is_whole:
            properties = self.dataset.id.get_create_plist()
            if properties.fill_value_defined() == h5py.h5d.FILL_VALUE_USER_DEFINED:
                fill = np.zeros((), dtype=out.dtype)
                properties.get_fill_value(fill)
                out[...] = fill
        assert self.chunks is not None
        for place, chunk, part in self.chunks.parts(begin, out.shape):
            if stored.equal(wanted):
                elements = chunk.view(out.dtype)[..., 0]
            else:
                elements = _converted(chunk, stored, wanted, out.dtype)
            out[place] = elements[part]

    @cached_property
    def is_whole(self) -> bool:
        """Whether all elements are stored; others can be left as they were by the library."""
        if self.chunks is None:
            return int(self.dataset.id.get_storage_size()) > 0
        steps = zip(self.shape, self.chunks.shape, strict=True)
        return len(self.chunks.begins) == math.prod(-(-extent // step) for extent, step in steps)

    @contextlib.contextmanager
    def _damage(self) -> Iterator[None]:
        """Name the data set in errors about its bytes."""
        try:
            yield
        except (ValueError, struct.error, zlib.error) as error:
            raise self.error(f"is damaged: {error}") from error

    def check_chunks(self) -> None:
        """Unpack all chunks to see that the library can read them."""
        if self.chunks is not None:
            with self._damage():
                for begin in self.chunks.begins:
                    self.chunks.unpack(begin)

    def read(self) -> AnyArray:
        """Return the content, read-only: ids as a vector, else of the shape in the file."""
        if self.content == "ids":
            return self.read_strings()
        return self.read_mask() if self.content == "mask" else self.read_numbers()

    def read_numbers(self) -> AnyArray:
        """Return all elements in their `memory_type`."""
        # The library leaves what was never written as it is.
        out = (np.empty if self.is_whole else np.zeros)(self.shape, dtype=self.memory_type)
        if out.size:
            self.read_into(out)
        return mark_read_only(out)

    def read_mask(self, *, signed: bool = False) -> AnyArray:
        """Return a mask as bool, or as int8 holding -1, 0 and 1 if `signed`.

        A value that is not exactly one of these is an error. (The toolkit takes everything above
        0.5 as true; a file where that matters is not a mask.)
        """
        where = f"{self.source.path}: data set `/{self.name}`"
        return check_mask_values(self.read_numbers(), where, signed=signed)

    def read_strings(self) -> StrArray:
        """Return the ids as a vector of str."""
        kind = self.dataset.id.get_type()
        if kind.is_variable_str():
            with self._damage():
                width = self.source.address_size
                elements = self._read_elements(8 + width)
                base, claim = self.source.file.userblock_size, self.source.budget.claim
                encoded = read_heap_strings(elements, self.source.path, base, width, claim)
        else:
            stored = np.zeros(self.shape, dtype=f"S{self.item_size}")
            if self.chunks is not None and self.chunks.is_packed:
                with self._damage():
                    self._unpack_into(stored, (0,) * stored.ndim, kind)
            elif self.count:
                self.dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, stored, mtype=kind)
            encoded = stored.ravel()
            if kind.get_strpad() == h5py.h5t.STR_SPACEPAD:
                encoded = np.strings.rstrip(encoded, b" ")
            else:
                encoded = cut_at_null(encoded)
            self._verify(encoded.reshape(self.shape))
        try:
            return mark_read_only(decode_ids(encoded))
        except UnicodeDecodeError as error:
            raise self.error("holds an id that is neither ASCII nor UTF-8") from error
        except ValueError as error:
            raise self.error(f"holds {error}") from error

    def _read_elements(self, size: int) -> ByteArray:
        """Return the stored elements, each a row of `size` bytes."""
        elements = np.zeros((*self.shape, size), dtype=np.uint8)
        if self.chunks is not None:
            for place, chunk, part in self.chunks.parts((0,) * len(self.shape), self.shape):
                elements[place] = chunk[part]
        elif self.dataset.id.get_create_plist().get_layout() != h5py.h5d.CONTIGUOUS:
            raise ValueError("strings of variable length inside the header")
        # Without an address nothing was ever written: empty strings.
        elif (begin := self.dataset.id.get_offset()) is not None:
            with self.source.path.open("rb") as stream:
                stream.seek(begin)
                stored = stream.read(elements.size)
            elements = np.frombuffer(stored, dtype=np.uint8).reshape(elements.shape)
        return elements


def _converted(
    chunk: ByteArray, stored: h5py.h5t.TypeID, wanted: h5py.h5t.TypeID, dtype: np.dtype[np.generic]
) -> AnyArray:
    """Return the elements of a chunk in another type; the library converts them."""
    count, size = math.prod(chunk.shape[:-1]), stored.get_size()
    buffer = np.zeros(count * max(size, dtype.itemsize), dtype=np.uint8)
    buffer[: chunk.size] = chunk.ravel()
    h5py.h5t.convert(stored, wanted, count, buffer)
    elements: AnyArray = buffer[: count * dtype.itemsize].view(dtype).reshape(chunk.shape[:-1])
    return elements


def check_mask_values(stored: AnyArray, where: str, *, signed: bool = False) -> AnyArray:
    """Turn numbers into a read-only mask; refuse all but 0, 1 and, if `signed`, -1."""
    if stored.dtype.itemsize == 1:
        raw = stored.view(np.uint8)
        if signed and stored.dtype.kind == "i":
            good = stored.min(initial=0) >= -1 and stored.max(initial=0) <= 1
        else:
            good = raw.max(initial=0) <= 1
        if good:
            mark_read_only(stored)
            return mark_read_only(raw.view(np.int8 if signed else np.bool_))
    legal = (stored == 0) | (stored == 1)
    if signed:
        legal |= stored == -1
    if legal.all():
        return mark_read_only(stored.astype(np.int8 if signed else np.bool_))
    others = stored[~legal]
    position = tuple(int(index) for index in np.argwhere(~legal)[0])
    allowed = "1 (target), -1 (non-target) and 0" if signed else "0 and 1"
    values = list_some(np.unique(others).tolist())
    raise FileFormatError(
        f"{where} must hold only {allowed}; {others.size} of {stored.size} values are "
        f"others ({values}), the first at {position}"
    )
