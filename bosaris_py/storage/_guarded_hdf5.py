"""Open an HDF5 file of unknown origin and read only what a score file holds.

HDF5 is a rich format. A file can name other files that the library then opens,
declare a matrix of many terabytes in a kilobyte, or hold types of which reading
runs through pointers. A score file needs none of that, so everything but plain,
fully stored numbers and strings is refused, and refused before the first byte of
data is read. Links and storage that lead out of the file are refused wherever they
are, used or not. The rest is asked of what is used: callers first *check* all data
sets (`GuardedFile.strings`, `.numbers`, `.mask`), compare the shapes, and only then
call `read` on them.
"""

import contextlib
import math
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, frozen, list_some
from bosaris_py.errors import BosarisError, FileFormatError
from bosaris_py.storage._ids import cut_at_null, decode_ids
from bosaris_py.storage._limits import MemoryBudget, format_bytes
from bosaris_py.storage._variable_strings import read_variable_strings

__all__ = [
    "GuardedDataset",
    "GuardedFile",
    "check_mask_values",
    "open_guarded",
]

# gzip, the strongest of the filters that every HDF5 library has, shrinks at most
# 1032-fold; a data set that claims more than this is not backed by the file.
_BELIEVABLE_RATIO = 1100
# Data sets up to this size are harmless whatever they claim.
_HARMLESS_BYTES = 2**26
# A fixed-length attribute longer than this is not a format name.
_LONGEST_ATTRIBUTE = 1024
# A file of scores has ten objects at most; one of MATLAB 7.3 has one for each id.
_MOST_OBJECTS = 2**20

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
_LINKS = {
    h5py.h5l.TYPE_SOFT: "a soft link",
    h5py.h5l.TYPE_EXTERNAL: "an external link",
}
_OTHER_FORMATS = (
    (b"MATLAB 5.0", "a MATLAB file of version 5 to 7; give it the extension .mat"),
    (b"MATLAB 7.3", "a MATLAB file of version 7.3; give it the extension .mat"),
    (b"\x1f\x8b", "compressed with gzip; unpack it first"),
    (b"PK\x03\x04", "a zip archive; unpack it first"),
)


@contextlib.contextmanager
def open_guarded(
    path: FilePath,
    max_bytes: int | None = None,
    *,
    remember_chunks: bool = True,
) -> Iterator["GuardedFile"]:
    """Open an HDF5 file for reading and turn whatever goes wrong into one error.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory that the arrays of the file may take; None stands for
        the memory of the machine together with a check that every large data set
        is backed by stored bytes.
    remember_chunks : bool, optional
        Keep the last chunk of each data set, a copy, for further reads of parts of it.

    Yields
    ------
    GuardedFile
        The open file. It is closed when the block ends.

    Raises
    ------
    FileFormatError
        If the file is damaged or no HDF5 file; the fault that h5py found is chained.
    OSError
        If it cannot be opened at all, for instance `FileNotFoundError`.
    """
    file_path = Path(path)
    with file_path.open("rb") as stream:
        head = stream.read(16)
    try:
        # Readers on network folders must not fail for want of a lock.
        cache = {} if remember_chunks else {"rdcc_nbytes": 0}
        with h5py.File(file_path, "r", locking="best-effort", **cache) as file:
            guarded = GuardedFile(file_path, file, MemoryBudget(file_path, max_bytes))
            guarded.refuse_foreign_storage()
            yield guarded
    except BosarisError:
        raise
    # h5py maps the faults of a damaged file to a dozen built-in exceptions.
    except Exception as error:
        reason = next((text for sign, text in _OTHER_FORMATS if head.startswith(sign)), None)
        if reason is None or file_path.suffix.lower() == ".mat":
            detail = str(error).strip() or type(error).__name__
            reason = f"damaged, truncated or no HDF5 file at all; h5py says: {detail}"
        message = f"{file_path}: {reason}"
        raise FileFormatError(message) from error


@attrs.define
class GuardedFile:
    """An open HDF5 file whose data sets are checked before they are read.

    Parameters
    ----------
    path : Path
        The file, for error messages.
    file : h5py.File
        The same, open for reading.
    budget : MemoryBudget
        What its arrays may take.
    """

    path: Path
    file: Any
    budget: MemoryBudget

    def error(self, name: str, text: str) -> FileFormatError:
        """Return an error about the data set `name` of this file."""
        return FileFormatError(f"{self.path}: data set `/{name}` {text}")

    def refuse_foreign_storage(self) -> None:
        """Refuse a file in which anything leads out of it, whether it is used or not.

        Raises
        ------
        FileFormatError
            If any link is soft or external, any data set is virtual or stored in
            another file, or there are more objects than a walk through them may meet.
        """
        groups = [("", self.file.id)]
        seen = {_address(self.file.id)}
        count = 0
        while groups:
            parent, group = groups.pop()
            links: list[tuple[str, Any]] = []
            room = _MOST_OBJECTS - count

            def note(
                name: bytes, info: Any, links: list[tuple[str, Any]] = links, room: int = room
            ) -> bool | None:
                links.append((os.fsdecode(name), info.type))
                return len(links) > room or None

            group.links.iterate(note, info=True)
            count += len(links)
            if count > _MOST_OBJECTS:
                message = f"{self.path}: more than {_MOST_OBJECTS} objects; this is no score file"
                raise FileFormatError(message)
            for name, link in links:
                path = f"{parent}{name}"
                self._refuse_link(path, link)
                found = h5py.h5o.open(group, os.fsencode(name))
                if isinstance(found, h5py.h5d.DatasetID):
                    self._refuse_storage(path, found.get_create_plist())
                # A group can be reached on several ways, even through itself.
                elif isinstance(found, h5py.h5g.GroupID) and _address(found) not in seen:
                    seen.add(_address(found))
                    groups.append((f"{path}/", found))

    def _refuse_link(self, name: str, link: int) -> None:
        """Refuse a link that is not the plain name of an object."""
        if link != h5py.h5l.TYPE_HARD:
            kind = _LINKS.get(link, "a link of unknown kind")
            raise self.error(name, f"is reached by {kind}, which a score file never holds")

    def _refuse_storage(self, name: str, properties: Any) -> None:
        """Refuse a data set whose bytes are in another file."""
        if properties.get_layout() == h5py.h5d.VIRTUAL:
            raise self.error(name, "is virtual, taken from other files; refused")
        if properties.get_external_count() > 0:
            raise self.error(name, "is stored in another file; refused")

    def members(self) -> list[str]:
        """Return the names in the root of the file."""
        return [os.fsdecode(name) for name in self.file.id]

    def attribute(self, name: str, location: Any = None) -> str | None:
        """Return a short text attribute of fixed length, None if there is none.

        Parameters
        ----------
        name : str
            Its name.
        location : h5py low-level object, optional
            What it belongs to; the root by default.
        """
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
        """Return the low-level object of a path, None if absent.

        Parameters
        ----------
        name : str
            Path inside the file, without the leading slash.

        Raises
        ------
        FileFormatError
            If a link on the way is soft or external.
        """
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

    def strings(self, name: str) -> "GuardedDataset":
        """Check a data set of ids and return it, unread.

        Parameters
        ----------
        name : str
            Its path inside the file, without the leading slash.

        Returns
        -------
        GuardedDataset
            Its `count` is the number of ids.
        """
        checked = self._check(name, {"string"}, "text")
        if len([extent for extent in checked.shape if extent != 1]) > 1:
            raise self.error(name, f"must be a list of ids; it has shape {checked.shape}")
        # Stored bytes, the same as a numpy array, and four bytes for each character.
        self.budget.claim(6 * checked.stored_bytes, f"data set `/{name}`")
        return checked

    def numbers(self, name: str) -> "GuardedDataset":
        """Check a data set of real numbers and return it, unread."""
        checked = self._check(name, {"integer", "float"}, "real numbers")
        if checked.type_class == "float" and checked.item_size > 8:
            raise self.error(name, f"holds floats of {checked.item_size} bytes; 8 is the most")
        self.budget.claim(8 * checked.count, f"data set `/{name}`")
        return checked

    def integers(self, name: str) -> "GuardedDataset":
        """Check a data set of whole numbers and return it, unread."""
        checked = self._check(name, {"integer"}, "whole numbers")
        self.budget.claim(checked.stored_bytes, f"data set `/{name}`")
        return checked

    def mask(self, name: str, *, copies: int = 1) -> "GuardedDataset":
        """Check a mask and return it, unread; `copies` arrays will be made of it."""
        checked = self._check(name, {"integer", "float", "enumeration"}, "a mask")
        if checked.type_class == "enumeration" and checked.dataset.dtype != np.bool_:
            raise self.error(name, "must hold a mask; it is of an enumeration type")
        self.budget.claim(checked.stored_bytes + copies * checked.count, f"data set `/{name}`")
        return checked

    def _check(self, name: str, classes: set[str], wanted: str) -> "GuardedDataset":
        """Refuse whatever a plain data set of the wanted types is not."""
        found = self.find(name)
        if found is None:
            raise self.error(name, "is missing")
        return self.check_dataset(found, name, classes, wanted)

    def check_dataset(
        self, found: Any, name: str, classes: set[str], wanted: str
    ) -> "GuardedDataset":
        """Refuse whatever a plain data set of the wanted types is not.

        Parameters
        ----------
        found : h5py low-level object
            What the name leads to.
        name : str
            Its name for error messages.
        classes : set of str
            Type classes that may pass.
        wanted : str
            The same in words.

        Returns
        -------
        GuardedDataset
            The data set, of rank 2 at most, unread.
        """
        if not isinstance(found, h5py.h5d.DatasetID):
            raise self.error(name, "is a group or a type, not a data set")
        properties = found.get_create_plist()
        self._refuse_storage(name, properties)
        if properties.get_layout() not in (
            h5py.h5d.COMPACT,
            h5py.h5d.CONTIGUOUS,
            h5py.h5d.CHUNKED,
        ):
            raise self.error(name, "is stored in an unknown way")
        kind = found.get_type()
        type_class = _TYPE_CLASSES.get(kind.get_class(), "unknown")
        if type_class not in classes:
            raise self.error(name, f"must hold {wanted}; it is of {type_class} type")
        self._check_filters(properties, name)
        null_space = found.get_space().get_simple_extent_type() == h5py.h5s.NULL
        shape = (0,) if null_space else tuple(int(extent) for extent in found.shape)
        if len(shape) > 2:
            raise self.error(name, f"has {len(shape)} dimensions; 2 is the most")
        checked = GuardedDataset(self, name, h5py.Dataset(found), type_class, shape)
        self._check_backing(checked, properties)
        return checked

    def _check_filters(self, properties: Any, name: str) -> None:
        """Refuse compression that this installation cannot undo."""
        for number in range(properties.get_nfilters()):
            code, _, _, title = properties.get_filter(number)
            if not h5py.h5z.filter_avail(code):
                label = title.decode(errors="replace") or "unnamed"
                text = (
                    f"is compressed with filter {code} ({label}), which this installation "
                    "lacks; write it again with gzip or without compression"
                )
                raise self.error(name, text)

    def _check_backing(self, checked: "GuardedDataset", properties: Any) -> None:
        """Refuse a declared size that the stored bytes cannot fill."""
        claimed = checked.stored_bytes
        if properties.get_layout() == h5py.h5d.CHUNKED:
            # The library makes room for a whole chunk, however small the data set.
            chunk = math.prod(properties.get_chunk()) * checked.item_size
            if chunk > max(claimed, _HARMLESS_BYTES):
                raise self.error(checked.name, f"has chunks of {format_bytes(chunk)}")
        if self.budget.max_bytes is not None or claimed <= _HARMLESS_BYTES:
            return
        stored = checked.dataset.id.get_storage_size()
        if claimed > _BELIEVABLE_RATIO * stored:
            text = (
                f"claims {format_bytes(claimed)}, but only {format_bytes(stored)} are stored; "
                "give `max_bytes` if it is really that empty"
            )
            raise self.error(checked.name, text)


def _address(found: Any) -> int:
    """Return where in the file the header of an object is."""
    return int(h5py.h5o.get_info(found).addr)


@attrs.frozen(eq=False)
class GuardedDataset:
    """A data set that passed all checks and is not read yet.

    Parameters
    ----------
    owner : GuardedFile
        The file it belongs to.
    name : str
        Its path inside the file.
    dataset : h5py.Dataset
        The data set itself.
    type_class : str
        Class of its type, such as ``"float"``.
    shape : tuple of int
        Its extents, at most two.
    """

    owner: GuardedFile
    name: str
    dataset: Any
    type_class: str
    shape: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def item_size(self) -> int:
        """Bytes of one element as stored, without what a pointer leads to."""
        return int(self.dataset.id.get_type().get_size())

    @property
    def stored_bytes(self) -> int:
        """Bytes of all elements when unpacked."""
        return self.count * self.item_size

    @property
    def is_unsigned(self) -> bool:
        """Whether the type cannot hold a negative number."""
        return bool(self.dataset.dtype.kind in "ub")

    def read_numbers(self) -> npt.NDArray[Any]:
        """Return the numbers as float32 (if stored so or shorter) or float64, read-only."""
        short = self.type_class == "float" and self.item_size <= 4
        numbers = np.empty(self.shape, dtype=np.float32 if short else np.float64)
        if numbers.size:
            self.dataset.read_direct(numbers)
        return frozen(numbers)

    def read_integers(self) -> npt.NDArray[Any]:
        """Return whole numbers in the type in which they are stored, read-only."""
        numbers = np.empty(self.shape, dtype=self.dataset.dtype.newbyteorder("="))
        if numbers.size:
            self.dataset.read_direct(numbers)
        return frozen(numbers)

    def read_mask(self, *, signed: bool = False) -> npt.NDArray[Any]:
        """Return a mask as bool, or as int8 holding -1, 0 and 1 if `signed`; read-only.

        A value that is not exactly one of these is an error. (The toolkit takes
        everything above 0.5 as true; a file where that matters is not a mask.)
        """
        if self.count == 0:
            return frozen(np.zeros(self.shape, dtype=np.int8 if signed else np.bool_))
        if self.item_size == 1:
            # Bytes are taken as they are stored, also those of an enumeration, in
            # which a damaged file can hold what numpy's bool must never hold.
            stored = np.empty(self.shape, dtype=np.uint8 if self.is_unsigned else np.int8)
            kind = self.dataset.id.get_type()
            self.dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, stored, mtype=kind)
        else:
            stored = self.dataset[()]
        return check_mask_values(
            stored, f"{self.owner.path}: data set `/{self.name}`", signed=signed
        )

    def read_strings(self) -> npt.NDArray[np.str_]:
        """Return the ids as a read-only 1-D array of str."""
        kind = self.dataset.id.get_type()
        if kind.is_variable_str():
            encoded = self._read_variable_strings()
        else:
            encoded = np.empty(self.count, dtype=f"S{self.item_size}")
            if self.count:
                self.dataset.id.read(h5py.h5s.ALL, h5py.h5s.ALL, encoded, mtype=kind)
            if kind.get_strpad() == h5py.h5t.STR_SPACEPAD:
                encoded = np.strings.rstrip(encoded, b" ")
            else:
                encoded = cut_at_null(encoded)
        try:
            return frozen(decode_ids(encoded))
        except UnicodeDecodeError as error:
            text = "holds an id that is neither ASCII nor UTF-8"
            raise self.owner.error(self.name, text) from error

    def _read_variable_strings(self) -> npt.NDArray[np.bytes_]:
        """Return strings of variable length."""
        file = self.owner
        try:
            return read_variable_strings(
                self.dataset.id, file.path, file.file.userblock_size, file.budget
            )
        except (ValueError, struct.error, zlib.error) as error:
            raise file.error(self.name, f"is damaged: {error}") from error


def check_mask_values(
    stored: npt.NDArray[Any], where: str, *, signed: bool = False
) -> npt.NDArray[Any]:
    """Turn numbers into a mask, refusing every value that a mask cannot hold.

    Parameters
    ----------
    stored : ndarray of integers, bool or float
        The numbers; taken over without a copy where possible.
    where : str
        File and data set, for the error message.
    signed : bool, optional
        Whether -1 is legal too.

    Returns
    -------
    ndarray of bool, or of int8 if `signed`
        The mask, read-only.

    Raises
    ------
    FileFormatError
        If a value is none of 0, 1 (and -1).
    """
    if stored.dtype.itemsize == 1:
        raw = stored.view(np.uint8)
        # As unsigned bytes -1, 0, 1 plus one are 0, 1, 2: one comparison finds the rest.
        good = raw.max(initial=0) <= 1 or (
            signed and stored.dtype.kind == "i" and (raw + np.uint8(1)).max(initial=0) <= 2
        )
        if good:
            frozen(stored)
            return frozen(raw.view(np.int8 if signed else np.bool_))
    legal = (stored == 0) | (stored == 1)
    if signed:
        legal |= stored == -1
    if legal.all():
        return frozen(stored.astype(np.int8 if signed else np.bool_))
    strangers = stored[~legal]
    position = tuple(int(index) for index in np.argwhere(~legal)[0])
    allowed = "1 (target), -1 (non-target) and 0" if signed else "0 and 1"
    values = list_some(np.unique(strangers).tolist())
    message = (
        f"{where} must hold only {allowed}; {strangers.size} of {stored.size} values are "
        f"others ({values}), the first at {position}"
    )
    raise FileFormatError(message)
