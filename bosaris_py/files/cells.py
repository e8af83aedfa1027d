"""Parts of text files, their cells, and columns while they are read.

A file is cut by Python's ``split``, some megabytes at a time, ids are numbered by a dict, numbers
are read by ``float``. Only where the count of cells is wrong is it gone through line by line, so
that an error names file, line and cell.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import itertools
import math
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, mark_read_only
from bosaris_py._notes import Note, warn
from bosaris_py._parallel import progress_bar
from bosaris_py._validation import FilePath, as_path
from bosaris_py.errors import BosarisWarning, FileFormatError
from bosaris_py.files.columns import Codes, Factor
from bosaris_py.files.formats import show
from bosaris_py.files.hdf5 import as_text

# Bytes that are read and cut at once; more take more memory, not less time.
_BLOCK_BYTES = 2**21
_LONGEST_LINE = 2**26
# Ids that files of this package can store, in characters and in bytes of UTF-8.
LONGEST_ID, _LONGEST_STORED_ID = 4096, 4 * 4096
_CONTROLS = bytes(code for code in range(32) if not 9 <= code <= 13)
_NUMBER_WITH_COMMA = re.compile(rb"[+-]?\d+,\d+([eE][+-]?\d+)?")


def line_error(path: Path, line: int, text: str, **use: str | None) -> FileFormatError:
    """Return an error about one line, and keywords that help."""
    return FileFormatError(f"{path}:{line}: {text}", use=use, path=path)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file, or standard input; raise if a file changes before it is closed."""
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    with path.open("rb") as stream:
        before = os.fstat(stream.fileno())
        yield stream
        now = os.fstat(stream.fileno())
        changes = (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns)
        if stream.seekable() and changes:
            message = f"{path}: changed while it was being read; wait until it is complete"
            raise FileFormatError(message)


def file_parts(
    path: Path, notes: list[Note], *, progress: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Give parts of whole lines, each with the number of its first line.

    The last line is ended like the others, with a note. A byte order mark is skipped.
    """
    line, rest, is_first = 1, b"", True
    with contextlib.ExitStack() as stack:
        on_disk = stack.enter_context(_opened(path))
        size = path.stat().st_size if path.is_file() else None
        bar = stack.enter_context(
            progress_bar(total=size, desc=path.name, unit="B", unit_scale=True, shown=progress)
        )
        is_packed = path.suffix.lower() == ".gz"
        stream = gzip.GzipFile(fileobj=on_disk, mode="rb") if is_packed else on_disk
        try:
            while part := stream.read(_BLOCK_BYTES):
                # A pipe has no position.
                bar.update(on_disk.tell() - bar.n if on_disk.seekable() else len(part))
                if is_first and part.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise FileFormatError(f"{path}: the text is in UTF-16; save it in UTF-8")
                if is_first and part.startswith(b"\x1f\x8b"):
                    raise FileFormatError(f"{path}: a gzip file; let its name end in .gz")
                part = part.removeprefix(b"\xef\xbb\xbf") if is_first else part
                is_first = False
                whole, end, part = part.rpartition(b"\n")
                if end:
                    data, rest = rest + whole + end, part
                    yield line, data
                    line += data.count(b"\n")
                else:
                    rest += part
                if len(rest) > _LONGEST_LINE:
                    raise line_error(path, line, f"a line of more than {_LONGEST_LINE} bytes")
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FileFormatError(f"{path}: this is no complete gzip file: {error}") from error
    if rest:
        if rest.strip():
            text = f"{path}: the last line has no end; is the file complete?"
            notes.append(Note(BosarisWarning, text))
        yield line, rest + b"\n"


def read_words(path: FilePath) -> list[str]:
    """Return all words of a text, whatever lines they are in."""
    notes: list[Note] = []
    try:
        parts = file_parts(as_path(path), notes)
        found = [word for _, data in parts for word in data.decode().split()]
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: the names are not in UTF-8: {error}") from error
    warn(notes)
    return found


@attrs.frozen
class Head:
    """The first part of a file that is not blank, from its first line that is not."""

    number: int
    lines: list[bytes]
    rest: bytes


def read_head(parts: Iterable[tuple[int, bytes]]) -> Head | None:
    """Take parts until one has a line that is not blank; None if there is none."""
    for line, data in parts:
        if rest := data.lstrip():
            begin = data.rfind(b"\n", 0, len(data) - len(rest)) + 1
            lines = data[begin:].split(b"\n", 1000)[:1000]
            number = line + data.count(b"\n", 0, begin)
            return Head(number, [each for each in lines if each.strip()], data[begin:])
    return None


def cut(
    data: bytes,
    line: int,
    names: Sequence[str],
    mark: bytes | None,
    path: Path,
    *,
    last_optional: bool = False,
) -> tuple[list[list[bytes]], Sequence[int]]:
    """Return the cells of each column of whole lines, and the numbers of the lines.

    The columns are called `names` and separated by `mark`; None stands for blanks and tabs.
    """
    width, n_lines = len(names), data.count(b"\n")
    cells: list[bytes] = []
    # The end of a line becomes a cell of its own, so that each line has its width if each of
    # them is where it must be.
    end = b"\0" if mark is None else b"\n"
    if mark is None and b"\0" not in data:
        cells = data.replace(b"\n", b" \0 ").split()
    elif mark is not None and b'"' not in data:
        cells = data.replace(b"\n", mark + b"\n" + mark).split(mark)[:-1]
        if b" " in data or b"\r" in data or (b"\t" in data and mark != b"\t"):
            cells = [cell.strip(b" \t\r\v\f") for cell in cells]
    ends = cells[width :: width + 1]
    is_whole = len(cells) == n_lines * (width + 1) and ends.count(end) == n_lines
    # Between blanks no cell is empty.
    if is_whole and (mark is None or b"" not in cells):
        return [cells[at :: width + 1] for at in range(width)], range(line, line + n_lines)
    cells, numbers = [], []
    for number, text in enumerate(data.split(b"\n")[:-1], line):
        row = text.split(mark)
        if mark is not None:
            row = [cell.strip() for cell in (_unquote(text, mark) if b'"' in text else row)]
        if not any(row):
            continue
        if len(row) == width - 1 and mark is None and last_optional:
            row.append(b"")
        if len(row) != width:
            expected = f"expected {width} columns ({' '.join(names[:20])})"
            fault = f"{expected}, found {len(row)}: {show(text)}"
            fault += ". The line ends are carriage returns alone" * (b"\r" in text.strip())
            raise line_error(path, number, fault)
        cells += row
        numbers.append(number)
    return [cells[at::width] for at in range(width)], numbers


def _unquote(text: bytes, mark: bytes) -> list[bytes]:
    """Cut a line in which cells are in quotes; quotes that do not end make one cell."""
    line = text.decode(errors="surrogateescape").rstrip("\r")
    try:
        (row,) = csv.reader([line], delimiter=mark.decode(), strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        return [text]
    return [cell.encode(errors="surrogateescape") for cell in row]


def _fault_of_id(name: bytes) -> str:
    """Say what is wrong with an id; it must survive being written."""
    if len(name) > _LONGEST_STORED_ID:
        return f"an id of {len(name)} bytes; {_LONGEST_STORED_ID} is the most"
    if found := [code for code in name if code in _CONTROLS]:
        return f"holds the control character 0x{found[0]:02x}; this is no text file"
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return f"the id {show(name)} is not in UTF-8"
    if text.startswith("\ufeff"):
        return f"the id {text!r} starts with a byte order mark; were files joined?"
    if any(letter.isspace() and not letter.isascii() for letter in text):
        blank = "holds a blank that is none in ASCII; write blanks or tabs between columns"
        return f"the id {text!r} {blank}"
    return ""


@attrs.define
class Texts:
    """A column of ids, labels or categories while it is read."""

    name: str
    codes: Codes = attrs.field(factory=Codes)
    parts: list[npt.NDArray[np.int32]] = attrs.field(factory=list)
    longest: int = 0

    def add(self, cells: list[bytes], numbers: Sequence[int], path: Path) -> list[bytes]:
        """Take the cells of some lines; return those that are new."""
        old = len(self.codes)
        codes = np.fromiter(map(self.codes.__getitem__, cells), np.int32, len(cells))
        self.parts.append(codes)
        new: list[bytes] = [*itertools.islice(reversed(self.codes), len(self.codes) - old)][::-1]
        self.longest = max(self.longest, max(map(len, new), default=0))
        if self.name in ("model", "segment") and b"" in new:
            raise self.error(b"", numbers, path, f"the {self.name} is empty")
        joined = b"".join(new)
        is_plain = joined.isascii() and joined.translate(None, _CONTROLS) == joined
        if self.longest > _LONGEST_STORED_ID or not is_plain:
            for name in new:
                if fault := _fault_of_id(name):
                    raise self.error(name, numbers, path, fault)
        return new

    def error(
        self, text: bytes, numbers: Sequence[int], path: Path, fault: str, **use: str | None
    ) -> FileFormatError:
        """Return the error about the first of the latest lines that has a text."""
        at = int(np.argmax(self.parts[-1] == self.codes[text]))
        return line_error(path, numbers[at], fault, **use)

    def all_codes(self) -> npt.NDArray[np.int32]:
        """Return the code of each line."""
        return np.concatenate([np.empty(0, np.int32), *self.parts])

    def values(self) -> Factor:
        """Return the column as categories, in ascending order."""
        texts = np.array(list(self.codes), dtype=np.bytes_)
        # UTF-8 sorts like the characters do.
        order = np.argsort(texts)
        rank = np.empty(texts.size, dtype=np.int32)
        rank[order] = np.arange(texts.size, dtype=np.int32)
        return Factor.unchecked(rank[self.all_codes()], as_text(texts[order]))


@attrs.define
class Numbers:
    """A column of numbers while it is read; NaN stands for those that are missing."""

    name: str
    # In lower case.
    missing: frozenset[bytes] = frozenset()
    parts: list[Float64Array] = attrs.field(factory=list)

    def add(self, cells: list[bytes], numbers: Sequence[int], path: Path) -> list[bytes]:
        """Take the cells of some lines."""
        try:
            values = np.fromiter(map(float, cells), np.float64, len(cells))
            is_odd = ~np.isfinite(values)
        except ValueError:
            values = np.empty(0)
        # float() takes 1_000, a typing error in a score file, and gives inf for 1e999.
        if values.size < len(cells) or is_odd.any() or b"_" in b"".join(cells):
            lines = zip(cells, numbers, strict=True)
            values = np.array([self._number(*item, path) for item in lines])
        self.parts.append(values)
        return []

    def _number(self, cell: bytes, number: int, path: Path) -> float:
        """Return the number in a cell, or say what is wrong with it."""
        if cell.lower() in self.missing:
            return math.nan
        try:
            value = math.nan if b"_" in cell else float(cell)
        except ValueError:
            value = math.nan
        if math.isinf(value) and b"inf" not in cell.lower():
            text = f"{show(cell)} is out of the range of floating-point numbers"
        elif not math.isnan(value):
            return value
        elif cell.lower().lstrip(b"+-") == b"nan":
            text = f"the {self.name} is NaN here. Does it say that there is none?"
            raise line_error(path, number, text, missing="nan")
        else:
            text = f"{show(cell)} is not a number"
            if _NUMBER_WITH_COMMA.fullmatch(cell):
                text += "; write the decimal point as a point, not as a comma"
            text += "; is this a Key?" if cell.lower() in (b"target", b"nontarget") else ""
        raise line_error(path, number, text)

    def values(self) -> Float64Array:
        """Return all numbers."""
        return mark_read_only(np.concatenate([np.empty(0), *self.parts]))
