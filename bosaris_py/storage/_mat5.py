"""The few parts of MATLAB's file formats 5 to 7 that a struct of this package needs.

scipy reads these files too, but it crashes the process on some damaged ones and says of itself that
it is not made for files of unknown origin. What is needed here is little: one struct whose fields
are full matrices of numbers and cell arrays of character rows.

A file is a header of 128 bytes and then elements, each a tag (type and number of bytes) and its
data, padded to a multiple of eight bytes. A matrix is an element whose data are elements again:
flags, extents, name, and the contents, which depend on the class. From version 7 on, every variable
is such an element compressed with zlib. MathWorks describes it in "MAT-File Format", chapter 1.
"""

from __future__ import annotations

import math
import struct
import zlib

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py.storage.memory import MemoryBudget

# In bytes: a text, the version, and the mark of the byte order.
HEADER_SIZE = 128

# Types of elements.
_MATRIX, _COMPRESSED = 14, 15

# zlib shrinks at most 1032-fold; a variable that claims more is not in the file.
_BELIEVABLE_RATIO = 1100

# Enough of a compressed variable to see its name, which has at most 63 letters.
_PEEK_BYTES = 512

# Strings that are remembered: more or longer ones leave the 32 kB that zlib looks back.
_MOST_KNOWN, _SHORT = 1024, 1024

# Classes of matrices.
_CELL, _STRUCT, _OBJECT, _CHAR, _SPARSE, _FUNCTION, _OPAQUE = 1, 2, 3, 4, 5, 16, 17

# Only MATLAB itself can read these.
OBJECT = "a class object"

_CLASS_NAMES = {
    _CELL: "a cell array",
    _STRUCT: "a struct",
    _OBJECT: OBJECT,
    _CHAR: "text",
    _SPARSE: "a sparse matrix",
    _FUNCTION: "a function",
    _OPAQUE: OBJECT,
}

_NUMBER_CLASSES = dict(
    enumerate(["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"], start=6)
)

# The bit of the flags that says that imaginary parts follow.
_COMPLEX = 0x0800

# MATLAB stores numbers in a shorter type than that of their class if it can, such as whole
# doubles as bytes.
_NUMBER_TYPES = {
    **dict(enumerate(["i1", "u1", "i2", "u2", "i4", "u4", "f4"], start=1)),
    **{9: "f8", 12: "i8", 13: "u8"},
}

_TEXT_TYPES = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}


class _DamagedError(ValueError):
    """The bytes do not follow the format."""


@attrs.define(eq=False)
class _Cursor:
    """A position in a sequence of elements; `order` is that of the bytes, < or >."""

    data: memoryview
    order: str
    position: int = 0

    @property
    def is_at_end(self) -> bool:
        """Whether there is no other element."""
        return self.position >= len(self.data)

    def next(self) -> tuple[int, memoryview]:
        """Return type and data of the next element."""
        (word,) = struct.unpack_from(f"{self.order}I", self.data, self.position)
        if word >> 16:
            # A short element keeps its data in the second half of the tag.
            kind, size, begin = word & 0xFFFF, word >> 16, self.position + 4
            after = self.position + 8
        else:
            (size,) = struct.unpack_from(f"{self.order}I", self.data, self.position + 4)
            kind, begin = word, self.position + 8
            after = begin + size + (-size % 8 if kind != _COMPRESSED else 0)
        stop = begin + size
        if stop > min(after, len(self.data)):
            raise _DamagedError(f"an element of {size} bytes does not fit")
        self.position = after
        return kind, self.data[begin:stop]

    def next_data(self) -> memoryview:
        """Return the data of the next element, which must be a matrix."""
        kind, data = self.next()
        if kind != _MATRIX:
            raise _DamagedError(f"an element of type {kind} in the place of a matrix")
        return data

    def next_matrix(self) -> "Matrix":
        """Return the next element, which must be a matrix."""
        return Matrix.parse(self.next_data(), self.order)


@attrs.frozen(eq=False)
class Matrix:
    """A variable, or a field of a struct, of which only the beginning is read yet."""

    # MATLAB's class.
    kind: int
    is_complex: bool
    # At least two.
    extents: tuple[int, ...]
    # Empty for a field.
    name: str
    # What follows.
    contents: _Cursor

    @classmethod
    def parse(cls, data: memoryview, order: str) -> "Matrix":
        """Read the beginning of a matrix element from its data."""
        cursor = _Cursor(data, order)
        if cursor.is_at_end:
            # What MATLAB writes for a field that was never set.
            return cls(kind=6, is_complex=False, extents=(0, 0), name="", contents=cursor)
        flags = struct.unpack(f"{order}II", cursor.next()[1])[0]
        kind = flags & 0xFF
        extents: tuple[int, ...] = (1, 1)
        # Objects of newer classes have no extents: the name comes at once.
        if kind != _OPAQUE:
            encoded = cursor.next()[1]
            extents = struct.unpack(f"{order}{len(encoded) // 4}i", encoded)
            if len(extents) < 2 or min(extents) < 0:
                raise _DamagedError(f"a matrix with the extents {extents}")
        name = bytes(cursor.next()[1]).decode("latin-1")
        is_complex = bool(flags & _COMPLEX)
        return cls(kind=kind, is_complex=is_complex, extents=extents, name=name, contents=cursor)

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.extents)

    @property
    def description(self) -> str:
        """The class in words."""
        return _CLASS_NAMES.get(self.kind, "a matrix")

    def fields(self) -> "dict[str, Matrix] | None":
        """Return the fields of a single struct, None for anything else."""
        if self.kind != _STRUCT or self.count != 1:
            return None
        cursor = self.contents
        (width,) = struct.unpack(f"{cursor.order}i", cursor.next()[1])
        encoded = bytes(cursor.next()[1])
        if width < 1 or len(encoded) % width:
            raise _DamagedError(f"names of fields of {width} bytes")
        names = [
            encoded[start : start + width].split(b"\0")[0].decode("latin-1")
            for start in range(0, len(encoded), width)
        ]
        return {name: cursor.next_matrix() for name in names}

    def strings(self) -> list[str] | None:
        """Return the rows of characters in a cell array, None for anything else."""
        if self.kind != _CELL:
            return None
        rows = []
        # zlib shrinks a string that comes again and again to nothing: it is read once.
        known: dict[bytes, str] = {}
        for _ in range(self.count):
            data = self.contents.next_data()
            row = known.get(bytes(data[:_SHORT]))
            if row is None:
                row = Matrix.parse(data, self.contents.order).text()
                if row is None:
                    return None
                if len(data) < _SHORT and len(known) < _MOST_KNOWN:
                    known[bytes(data)] = row
            rows.append(row)
        return rows

    def text(self) -> str | None:
        """Return a row of characters, None for anything else."""
        if self.kind != _CHAR or len(self.extents) != 2:
            return None
        if self.count == 0:
            return ""
        if self.extents[0] != 1:
            return None
        kind, encoded = self.contents.next()
        codec = _TEXT_TYPES.get(kind)
        if codec is None:
            raise _DamagedError(f"characters in an element of type {kind}")
        if codec in ("utf-16", "utf-32"):
            codec += "-le" if self.contents.order == "<" else "-be"
        return bytes(encoded).decode(codec)

    def numbers(self) -> npt.NDArray[np.number] | None:
        """Return a full real matrix, None for anything else; logical ones as uint8."""
        number_class = _NUMBER_CLASSES.get(self.kind)
        if number_class is None or self.is_complex or len(self.extents) != 2:
            return None
        if self.count == 0:
            return np.empty(self.extents, dtype=number_class)
        kind, data = self.contents.next()
        stored_type = _NUMBER_TYPES.get(kind)
        if stored_type is None:
            raise _DamagedError(f"numbers in an element of type {kind}")
        stored = np.frombuffer(data, dtype=f"{self.contents.order}{stored_type}")
        return stored.reshape(self.extents, order="F").astype(number_class, order="C")


def find_variable(
    data: bytes, order: str, wanted: str, budget: MemoryBudget
) -> tuple[Matrix | None, list[str]]:
    """Look for a variable in the bytes of a file; return it and the names up to it.

    A damaged file raises `ValueError`, `struct.error` or `zlib.error`; the methods of `Matrix`
    raise the first of these.
    """
    cursor = _Cursor(memoryview(data)[HEADER_SIZE:], order)
    names = []
    while not cursor.is_at_end:
        kind, element = cursor.next()
        if kind == _COMPRESSED:
            peek = memoryview(zlib.decompressobj().decompress(element, _PEEK_BYTES))
            kind, size = struct.unpack_from(f"{order}II", peek)
            head = peek[8:]
        else:
            size, head = len(element), element
        if kind != _MATRIX:
            continue
        names.append(Matrix.parse(head, order).name)
        if names[-1] == wanted:
            whole = element if head is element else _unpack(element, 8 + size, budget)[8:]
            return Matrix.parse(whole, order), names
    return None, names


def _unpack(element: memoryview, size: int, budget: MemoryBudget) -> memoryview:
    """Decompress a variable of a known size, and check that it is complete."""
    if size > _BELIEVABLE_RATIO * len(element):
        message = f"a variable of {size} bytes cannot be in {len(element)} compressed ones"
        raise _DamagedError(message)
    budget.claim(size, "the variable")
    stream = zlib.decompressobj()
    unpacked = stream.decompress(element, size)
    # Reaching the end of the stream compares the checksum.
    stream.decompress(stream.unconsumed_tail, _PEEK_BYTES)
    if len(unpacked) < size or not stream.eof:
        raise _DamagedError("a compressed variable is cut off")
    return memoryview(unpacked)
