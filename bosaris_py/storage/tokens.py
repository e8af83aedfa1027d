"""Read text files as blocks of tokens; code the ids, convert the numbers.

A score file can have many millions of lines, and its two id columns repeat some thousand ids. So no
Python object is made for an id in a line. A block of whole lines is an array of bytes, comparisons
find where its tokens begin and end, and ids are compared as numbers of eight bytes.
"""

from __future__ import annotations

import contextlib
import gzip
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, IndexArray, StrArray, mark_read_only
from bosaris_py._cautions import warn_caller
from bosaris_py._validation import FilePath, as_path
from bosaris_py.errors import BosarisWarning, FileFormatError
from bosaris_py.storage.atomic import open_unchanged
from bosaris_py.storage.ids import LONGEST_STORED_ID, BytesArray, character_codes, decode_ids
from bosaris_py.storage.memory import MemoryBudget

WordArray = npt.NDArray[np.uint64]

# A block and the arrays made of it fit into the second-level cache, a few MB; larger and
# smaller ones take longer.
_BLOCK_BYTES = 2**20

_LONGEST_LINE = 2**26
# What all else is found out from.
_LONGEST_FIRST_LINE, _MOST_COLUMNS = 2**18, 10_000

# Memory that cutting and coding a block takes, for each of its bytes.
_BYTES_OF_LETTER = 12

# Behind the last token; the last word of eight bytes may reach so far.
_PADDING = bytes(8)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"
_SHOWN_OF_LINE = 80

# Room for ids at the beginning, and in their table; it has four places for each id when it grows.
_FIRST_IDS, _FIRST_SLOTS, _SLOTS_PER_ID = 1024, 4096, 4

# With at most one change of id in so many lines, only the changes are looked up.
_LINES_PER_CHANGE = 4

# Longer ids are coded one by one, so that a single one cannot blow up the words of all.
_LONGEST_ID = 128

# Memory of a distinct id and its place in the table besides its letters.
_BYTES_OF_DISTINCT_ID = 64


def line_error(path: Path, line: int, text: str, **use: str | None) -> FileFormatError:
    """Return an error that points at one line of a text file, and at keywords that help."""
    return FileFormatError(f"{path}:{line}: {text}", use=use, path=path)


def show(text: bytes) -> str:
    """Return the text of a line in quotes, cut to a readable length."""
    # A letter has at most four bytes.
    decoded = text.strip()[: 4 * _SHOWN_OF_LINE + 4].decode(errors="replace")
    if len(decoded) > _SHOWN_OF_LINE:
        decoded = f"{decoded[:_SHOWN_OF_LINE]}..."
    return repr(decoded)


# Blocks of whole lines


def read_blocks(
    path: FilePath, budget: MemoryBudget | None = None, *, progress: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Yield blocks of whole lines, each with the number of its first line, from 1.

    The last line is ended like the others even at the end of the file, with a warning. A byte order
    mark is skipped; a file whose name ends in ``.gz`` is decompressed.
    """
    file_path = as_path(path)
    budget = budget or MemoryBudget(file_path, None)
    line, length = 1, 0
    pending: list[bytes] = []
    for number, part in enumerate(_read_parts(file_path, progress=progress)):
        if number == 0:
            if part.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise FileFormatError(f"{file_path}: the text is in UTF-16; save it in UTF-8")
            if part.startswith(_GZIP_MAGIC):
                raise FileFormatError(f"{file_path}: this is a gzip file; let its name end in .gz")
            part = part.removeprefix(_BYTE_ORDER_MARK)
        length += len(part)
        budget.claim_once(_BYTES_OF_LETTER * length, "a part of the text")
        cut = part.rfind(b"\n") + 1
        if cut == 0:
            pending.append(part)
            if length > _LONGEST_LINE:
                text = f"a line of more than {_LONGEST_LINE} bytes; this is no score file"
                raise line_error(file_path, line, text)
            continue
        data = b"".join([*pending, part[:cut]])
        pending, length = [part[cut:]], len(part) - cut
        yield line, data
        # Ten times as fast as `data.count`.
        line += int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n")))
    rest = b"".join(pending)
    if rest:
        yield line, rest + b"\n"
        if rest.strip():
            message = f"{file_path}: the last line has no end; is the file complete?"
            warn_caller(message, BosarisWarning)


def _read_parts(path: Path, *, progress: bool) -> Iterator[bytes]:
    """Read a file in parts of equal size, decompressed if its name says so."""
    with contextlib.ExitStack() as stack:
        on_disk = stack.enter_context(open_unchanged(path))
        bar: Any = None
        if progress:
            # It takes longer to import than this module, which every object needs.
            from bosaris_py._parallel import progress_bar

            size = os.fstat(on_disk.fileno()).st_size
            bar = stack.enter_context(
                progress_bar(total=size, desc=path.name, unit="B", unit_scale=True, shown=True)
            )
        stream: Any = on_disk
        if path.suffix.lower() == ".gz":
            stream = stack.enter_context(gzip.GzipFile(fileobj=on_disk, mode="rb"))
        try:
            while part := stream.read(_BLOCK_BYTES):
                if progress:
                    # A pipe has no position.
                    bar.update(on_disk.tell() - bar.n if on_disk.seekable() else len(part))
                yield part
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FileFormatError(f"{path}: this is no complete gzip file: {error}") from error


@attrs.frozen
class FirstLine:
    """The first line of a file that is not blank, and the lines behind it in its block."""

    number: int
    text: bytes
    rest: bytes

    @classmethod
    def of(cls, blocks: Iterable[tuple[int, bytes]], path: Path) -> "FirstLine | None":
        """Take blocks until one holds such a line; None if there is none."""
        for line, data in blocks:
            n_blank = len(data) - len(data.lstrip())
            if n_blank < len(data):
                begin = data.rfind(b"\n", 0, n_blank) + 1
                number = line + data.count(b"\n", 0, begin)
                end = data.find(b"\n", begin, begin + _LONGEST_FIRST_LINE)
                text, rest = data[begin:end], data[end + 1 :]
                # Before anything makes an object of each column.
                if end < 0 or max(map(text.count, (b" ", b"\t", b",", b";"))) >= _MOST_COLUMNS:
                    limits = f"{_LONGEST_FIRST_LINE} bytes or {_MOST_COLUMNS} columns"
                    message = f"a first line of more than {limits}; this is no table of trials"
                    raise line_error(path, number, message)
                return cls(number, text, rest)
        return None


@attrs.define
class LineNumbers:
    """In which lines of a file its records are; blank lines are not records."""

    path: Path
    count: int = attrs.field(default=0, init=False)
    _records: list[int] = attrs.field(factory=list, init=False)
    _lines: list[IndexArray | int] = attrs.field(factory=list, init=False)

    def add(self, lines: IndexArray | int, count: int) -> None:
        """Append the line numbers of `count` records, or the first if none is blank."""
        self._records.append(self.count)
        self._lines.append(lines)
        self.count += count

    def __getitem__(self, record: int) -> int:
        """Return the number, from 1, of the line of a record, counted from 0."""
        block = int(np.searchsorted(self._records, record, side="right")) - 1
        offset = record - self._records[block]
        lines = self._lines[block]
        return lines + offset if isinstance(lines, int) else int(lines[offset])

    def error(self, record: int, text: str, **use: str | None) -> FileFormatError:
        """Return an error about one record, and keywords that help."""
        return line_error(self.path, self[record], text, **use)


# Tokens


@attrs.frozen
class Layout:
    """How each line is cut into columns.

    A separator of None stands for blanks and tabs in any number; other separators allow empty
    fields, and quotes around a field. `text` names the columns in messages.
    """

    text: str
    columns: int = attrs.field(
        default=attrs.Factory(lambda self: len(self.text.split()), takes_self=True)
    )
    separator: str | None = None
    last_optional: bool = False


@attrs.frozen(eq=False)
class Block:
    """Some whole lines of a file, cut into tokens.

    `starts` and `stops`, (lines, columns), are positions in the bytes `data`; `first` is the number
    of the first record.
    """

    data: npt.NDArray[np.uint8]
    starts: IndexArray
    stops: IndexArray
    numbers: LineNumbers
    first: int

    def __len__(self) -> int:
        """Return the number of lines that are not blank."""
        return len(self.starts)

    def token(self, row: int, column: int) -> bytes:
        """Return one token."""
        return self.data[self.starts[row, column] : self.stops[row, column]].tobytes()

    def column(
        self, column: int | slice, rows: IndexArray | slice = slice(None)
    ) -> tuple[IndexArray, IndexArray]:
        """Return where the tokens of one or more columns begin, and their lengths, row by row."""
        starts = np.ascontiguousarray(self.starts[rows, column])
        return starts.ravel(), (self.stops[rows, column] - starts).ravel()

    def words(self, starts: IndexArray, lengths: IndexArray) -> WordArray:
        """Return tokens as columns of little-endian words of eight bytes, with zeros behind."""
        # Every byte as the begin of a word: overlapping, unaligned and without a copy.
        at_every_byte = np.ndarray(
            (self.data.size - 7,), dtype="<u8", buffer=self.data.data, strides=(1,)
        )
        n_words = max(1, -(-int(lengths.max(initial=0)) // 8))
        words = np.empty((n_words, starts.size), dtype=np.uint64)
        np.bitwise_and(at_every_byte[starts], _KEEP[np.minimum(lengths, 8)], out=words[0])
        for number in range(1, n_words):
            at = np.minimum(starts + 8 * number, at_every_byte.size - 1)
            kept = np.clip(lengths - 8 * number, 0, 8)
            np.bitwise_and(at_every_byte[at], _KEEP[kept], out=words[number])
        return words

    def error(self, row: int, text: str) -> FileFormatError:
        """Return an error about one line of the block."""
        return self.numbers.error(self.first + row, text)


# Keeps the first so many bytes of a little-endian word.
_KEEP = np.array([(1 << 8 * count) - 1 for count in range(9)], dtype=np.uint64)


def _as_bytes(words: WordArray) -> BytesArray:
    """Return tokens, given as columns of words, as byte strings."""
    letters = np.ascontiguousarray(words.T).view(f"S{8 * words.shape[0]}")
    array: BytesArray = letters.ravel()
    return array


@attrs.frozen(eq=False)
class _Text:
    """Whole lines as bytes. Line `i` lies between newlines `i` and `i + 1`."""

    letters: npt.NDArray[np.uint8]
    newlines: IndexArray
    # Number of the first line.
    line: int
    path: Path

    @classmethod
    def of(cls, letters: npt.NDArray[np.uint8], line: int, path: Path) -> "_Text":
        """Find the ends of lines; the first letter is a newline before the first line."""
        return cls(letters, np.flatnonzero(letters == ord("\n")), line, path)

    def error(self, position: int, text: str) -> FileFormatError:
        """Return an error about the line of one letter."""
        number = self.line + int(np.searchsorted(self.newlines, position)) - 1
        return line_error(self.path, number, text)

    def cut_odd_lines(
        self, starts: IndexArray, stops: IndexArray, layout: Layout
    ) -> tuple[IndexArray, IndexArray, IndexArray]:
        """Leave out blank lines and add optional tokens that are absent, or refuse a line."""
        letters, newlines = self.letters, self.newlines
        counts = np.diff(np.searchsorted(starts, newlines, side="right"))
        has_text = np.diff(np.searchsorted(np.flatnonzero(letters > ord(" ")), newlines)) > 0
        is_fault = has_text & (counts != layout.columns)
        if layout.last_optional:
            is_fault &= counts != layout.columns - 1
        if is_fault.any():
            fault = int(np.argmax(is_fault))
            text = letters[newlines[fault] + 1 : newlines[fault + 1]].tobytes()
            count = f"{counts[fault]} column{'s' if counts[fault] > 1 else ''}"
            message = f"expected {layout.columns} columns ({layout.text}), found {count}: "
            message += show(text)
            if b"\r" in text.strip(b"\r"):
                message += ". The line ends are carriage returns alone"
            if b'"' in text:
                message += ". A separator inside quotes is not understood"
            raise line_error(self.path, self.line + fault, message)
        is_kept = np.repeat(has_text, counts)
        lines = np.flatnonzero(has_text) + self.line
        starts, stops, counts = starts[is_kept], stops[is_kept], counts[has_text]
        is_short = counts < layout.columns
        ends, at = np.cumsum(counts)[is_short], newlines[1:][has_text][is_short]
        return np.insert(starts, ends, at), np.insert(stops, ends, at), lines

    def trim(self, starts: IndexArray, stops: IndexArray) -> None:
        """Move the ends of tokens inwards over blanks."""
        solid: IndexArray | None = None
        for ends, before in ((starts, 0), (stops, 1)):
            is_blank = (starts < stops) & (self.letters[ends - before] <= ord(" "))
            if not is_blank.any():
                continue
            if solid is None:
                solid = np.flatnonzero(self.letters > ord(" "))
                solid = np.concatenate(([-1], solid, [self.letters.size]))
            # The next letter that is no blank, or the one before; a blank field is left empty.
            at = solid[np.searchsorted(solid, ends[is_blank]) - before] + before
            ends[is_blank] = np.clip(at, starts[is_blank], stops[is_blank])

    def take_off_quotes(self, starts: IndexArray, stops: IndexArray) -> None:
        """Move the ends of tokens inwards over a pair of quotes; refuse other quotes."""
        is_quote = self.letters == ord('"')
        is_quoted = is_quote[starts] & is_quote[stops - 1] & (stops - starts > 1)
        outer = np.concatenate((starts[is_quoted], stops[is_quoted] - 1))
        inner = np.setdiff1d(np.flatnonzero(is_quote), outer, assume_unique=True)
        if inner.size:
            text = "has a quote inside a field; only quotes around a whole field are understood"
            raise self.error(int(inner.min()), text)
        starts += is_quoted
        stops -= is_quoted


def cut_blocks(
    blocks: Iterable[tuple[int, bytes]], layout: Layout, numbers: LineNumbers
) -> Iterator[Block]:
    """Cut blocks of lines into tokens, and note in which lines the records are."""
    for line, data in blocks:
        yield cut_lines(data, line, layout, numbers)


def cut_lines(data: bytes, line: int, layout: Layout, numbers: LineNumbers) -> Block:
    """Cut whole lines, the first of which has the number `line`, into tokens.

    A handful of passes over the bytes; only lines that are not as they should be take more.
    """
    padded = np.frombuffer(b"\n" + data + _PADDING, dtype=np.uint8)
    text = _Text.of(padded[: len(data) + 1], line, numbers.path)
    letters, newlines = text.letters, text.newlines
    # 9 to 13 are tab, line feed, vertical tab, form feed and carriage return.
    is_control = (letters < 32) & (letters - np.uint8(9) > 4)
    if is_control.any():
        position = int(np.argmax(is_control))
        fault = f"holds the control character 0x{letters[position]:02x}; this is no text file"
        raise text.error(position, fault)
    if layout.separator is None:
        is_blank = letters <= ord(" ")
        edges = np.flatnonzero(is_blank[1:] != is_blank[:-1]) + 1
        starts, stops = edges[0::2], edges[1::2]
    else:
        edges = np.flatnonzero((letters == ord("\n")) | (letters == ord(layout.separator)))
        starts, stops = edges[:-1] + 1, edges[1:].copy()
    columns = layout.columns
    lines: IndexArray | int = line
    # Every line has its tokens if the first is behind the newline before, and the last before
    # the newline behind.
    if not (
        starts.size == columns * (newlines.size - 1)
        and (starts[0::columns] > newlines[:-1]).all()
        and (stops[columns - 1 :: columns] <= newlines[1:]).all()
    ):
        starts, stops, lines = text.cut_odd_lines(starts, stops, layout)
    starts, stops = starts.reshape(-1, columns), stops.reshape(-1, columns)
    if layout.separator is not None:
        text.trim(starts, stops)
        is_empty = (starts == stops).all(axis=1)
        if is_empty.any():
            if isinstance(lines, int):
                lines = np.arange(lines, lines + is_empty.size)
            starts, stops, lines = starts[~is_empty], stops[~is_empty], lines[~is_empty]
        if b'"' in data:
            text.take_off_quotes(starts, stops)
    first = numbers.count
    numbers.add(lines, starts.shape[0])
    return Block(padded, starts, stops, numbers, first)


# Ids


# Marks a long id: the word is this control character, which no text holds, and a number.
_LONG_MARK = 1

# Random numbers, two for each word, so that nobody can choose ids that share a slot.
_KEYS = np.frombuffer(os.urandom(16 * _LONGEST_ID // 8), dtype=np.uint64).reshape(-1, 2)
_OF_ZEROS = np.cumsum(_KEYS.prod(axis=1, dtype=np.uint64), dtype=np.uint64)
_HALF_WORD, _LOWER_HALF = np.uint64(32), np.uint64(2**32 - 1)


def _hash(words: WordArray) -> WordArray:
    """Return a hash of each token, in its upper half; words of zeros behind it do not count.

    Two ids get the same with a probability of 2^-32: sums of products of pairs of halves of words,
    M. Thorup, "High speed hashing for integers and strings", arXiv:1504.06804, 2015, section 3.6.
    What words of zeros add is taken off.
    """
    hashes = np.zeros(words.shape[1], dtype=np.uint64)
    hashes -= _OF_ZEROS[len(words) - 1]
    for column, (first, second) in zip(words, _KEYS, strict=False):
        product = column >> _HALF_WORD
        product += first
        lower = column & _LOWER_HALF
        lower += second
        product *= lower
        hashes += product
    return hashes


@attrs.define(eq=False)
class IdColumn:
    """The distinct ids of one column, numbered in the order in which they turn up.

    A table leads from the upper bits of a hash to a code; the words of the id decide. A code whose
    slot is taken lies in one of the next slots, before the first that is free.
    """

    _count: int = attrs.field(default=0, init=False)
    _ids: list[bytes] = attrs.field(factory=list, init=False)
    _long: dict[bytes, int] = attrs.field(factory=dict, init=False)
    # The words of the id of each code, one code a column, with room for more.
    _words: WordArray = attrs.field(init=False)
    _table: npt.NDArray[np.int32] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start with room for some ids."""
        self._words = np.zeros((1, _FIRST_IDS), dtype=np.uint64)
        self._table = np.full(_FIRST_SLOTS, -1, dtype=np.int32)

    def __len__(self) -> int:
        """Return the number of distinct ids."""
        return self._count

    @property
    def ids(self) -> list[bytes]:
        """The distinct ids; the position of an id is its code."""
        if len(self._ids) < self._count:
            long = list(self._long)
            self._ids = _as_bytes(self._words[:, : self._count]).tolist()
            for code in np.flatnonzero(self._words[0, : self._count] & 0xFF == _LONG_MARK):
                self._ids[code] = long[int(self._words[0, code]) >> 8]
        return self._ids

    @property
    def longest(self) -> int:
        """Length of the longest of the long ids, 0 if there are none."""
        return max(map(len, self._long), default=0)

    def letters(self) -> BytesArray:
        """Return the distinct ids as an array."""
        if self._long:
            return np.array(self.ids)
        return _as_bytes(self._words[:, : self._count])

    def encode(self, block: Block, column: int) -> IndexArray:
        """Return the code of each token in a column of a block."""
        starts, lengths = block.column(column)
        long = np.flatnonzero(lengths > _LONGEST_ID)
        words = block.words(starts, np.where(lengths > _LONGEST_ID, 8, lengths))
        for row in long.tolist():
            number = self._long.setdefault(block.token(row, column), len(self._long))
            words[0, row] = number << 8 | _LONG_MARK
        # One of the two columns of most files is constant over many lines.
        is_first = np.ones(len(block), dtype=np.bool_)
        is_first[1:] = (words[:, 1:] != words[:, :-1]).any(axis=0)
        firsts = np.flatnonzero(is_first)
        if _LINES_PER_CHANGE * firsts.size > is_first.size:
            return self._encode(words)
        return np.repeat(self._encode(words[:, firsts]), np.diff(firsts, append=is_first.size))

    def _encode(self, words: WordArray) -> IndexArray:
        """Return the code of each token, giving new codes to new ids."""
        slots = self._slots(words)
        codes = self._table[slots].astype(np.intp)
        strays = np.flatnonzero(self._differs(codes, words))
        while strays.size:
            slots[strays] = (slots[strays] + 1) & (self._table.size - 1)
            codes[strays] = self._table[slots[strays]]
            strays = strays[self._differs(codes[strays], words[:, strays])]
        new = np.flatnonzero(codes < 0)
        if new.size:
            names: list[bytes] = _as_bytes(words[:, new]).tolist()
            fresh = {name: code for code, name in enumerate(dict.fromkeys(names), self._count)}
            codes[new] = np.fromiter(map(fresh.__getitem__, names), dtype=np.intp, count=new.size)
            self._add(words[:, new], codes[new], len(fresh))
        return codes

    def _slots(self, words: WordArray) -> IndexArray:
        """Return where in the table the search for each token begins."""
        shift = 65 - self._table.size.bit_length()
        return (_hash(words) >> np.uint64(shift)).astype(np.intp)

    def _differs(self, codes: IndexArray, words: WordArray) -> npt.NDArray[np.bool_]:
        """Tell which tokens are not the id of the code found for them; -1 is no id."""
        differs: npt.NDArray[np.bool_] = np.zeros(codes.size, dtype=np.bool_)
        for number in range(max(words.shape[0], self._words.shape[0])):
            mine = self._words[number][codes] if number < self._words.shape[0] else _NO_WORD
            differs |= mine != (words[number] if number < words.shape[0] else _NO_WORD)
        return differs & (codes >= 0)

    def _add(self, words: WordArray, codes: IndexArray, n_new: int) -> None:
        """Enter new ids, each given once or more."""
        old, self._count = self._count, self._count + n_new
        n_words, room = self._words.shape
        if self._count > room or words.shape[0] > n_words:
            known = self._words
            shape = max(n_words, words.shape[0]), room if self._count <= room else 2 * self._count
            self._words = np.zeros(shape, dtype=np.uint64)
            self._words[:n_words, :old] = known[:, :old]
        self._words[: words.shape[0], codes] = words
        if 2 * self._count > self._table.size:
            size = 1 << (_SLOTS_PER_ID * self._count).bit_length()
            self._table, old = np.full(size, -1, dtype=np.int32), 0
        entered = np.arange(old, self._count)
        slots = self._slots(self._words[:, old : self._count])
        while entered.size:
            is_free = self._table[slots] < 0
            # Of several codes for one slot, the last gets it.
            self._table[slots[is_free]] = entered[is_free]
            is_left = self._table[slots] != entered
            entered = entered[is_left]
            slots = (slots[is_left] + 1) & (self._table.size - 1)


_NO_WORD = np.uint64(0)


@attrs.frozen(eq=False)
class DecodedIds:
    """The distinct ids of a column as text.

    `names` are in ascending order; `rank` has the position in `names` of each code, of which
    several may stand for one id.
    """

    names: StrArray
    rank: npt.NDArray[np.int32]

    @classmethod
    def of(
        cls,
        column: IdColumn,
        codes: npt.NDArray[np.integer],
        numbers: LineNumbers,
        budget: MemoryBudget,
        suffixes: Sequence[bytes] = (),
    ) -> "DecodedIds":
        """Decode and sort the ids of a column, without the first of the suffixes that fits.

        Raises if an id is not in UTF-8 or could not be written as text again; `codes` are those of
        all records, for the line number.
        """
        if column.longest > LONGEST_STORED_ID:
            letters = np.array([name[: LONGEST_STORED_ID + 1] for name in column.ids])
        else:
            letters = column.letters()
        longest = int(np.strings.str_len(letters).max(initial=1))
        if longest > LONGEST_STORED_ID:
            record = int(np.argmax(codes == int(np.strings.str_len(letters).argmax())))
            text = f"an id of {longest} bytes; {LONGEST_STORED_ID} is the most"
            raise numbers.error(record, text)
        # The words, their copies and their order, and four bytes for each character here and
        # where they are used.
        size = (8 * longest + _BYTES_OF_DISTINCT_ID) * letters.size
        budget.claim(size, f"a list of {letters.size} ids")
        letters = _without_suffixes(letters, suffixes)
        # UTF-8 sorts like the characters do. As numbers of eight bytes, the first the most
        # significant, ids sort faster than as texts.
        n_words = -(-letters.itemsize // 8)
        letters = letters.astype(f"S{8 * n_words}", copy=False)
        words = letters.view(">u8").reshape(-1, n_words).astype(np.uint64)
        order = np.lexsort(words.T[::-1])
        is_new = np.ones(letters.size, dtype=np.bool_)
        is_new[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1)
        rank = np.empty(letters.size, dtype=np.int32)
        rank[order] = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
        distinct = letters[order[is_new]]
        is_foreign = (character_codes(distinct) > 127).any(axis=1)
        for place in np.flatnonzero(is_foreign).tolist():
            fault = _fault_of_id(bytes(distinct[place]))
            if fault:
                raise numbers.error(int(np.argmax(rank[codes] == place)), fault)
        return cls(mark_read_only(decode_ids(distinct)), rank)

    def name_of(self, code: int) -> str:
        """Return the id of one code."""
        return str(self.names[self.rank[code]])

    def in_order(self, codes: npt.NDArray[np.integer]) -> StrArray:
        """Return the ids of all records."""
        return mark_read_only(self.names[self.rank[codes]])


def _without_suffixes(letters: BytesArray, suffixes: Sequence[bytes]) -> BytesArray:
    """Take the first fitting suffix off each id."""
    stripped = letters.copy()
    lengths = np.strings.str_len(letters)
    is_open = np.ones(letters.size, dtype=np.bool_)
    for suffix in suffixes:
        fits = np.flatnonzero(is_open & np.strings.endswith(letters, suffix))
        is_open[fits] = False
        if fits.size:
            cells = character_codes(stripped[fits])
            cells[np.arange(cells.shape[1]) >= (lengths[fits] - len(suffix))[:, np.newaxis]] = 0
            stripped[fits] = cells.view(letters.dtype).ravel()
    return stripped


def _fault_of_id(name: bytes) -> str:
    """Say what is wrong with an id that is not in ASCII; it must survive being written."""
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return f"the id {show(name)} is not in UTF-8"
    if text.startswith("\ufeff"):
        return f"the id {text!r} starts with a byte order mark; were files joined?"
    if any(letter.isspace() and not letter.isascii() for letter in text):
        return (
            f"the id {text!r} holds a blank that is none in ASCII; "
            "write blanks or tabs between columns"
        )
    return ""


# Numbers

_LONGEST_NUMBER = 64

# A sign, a point and 15 digits.
_LONGEST_DECIMAL = 17
_POWERS_OF_TEN = np.array([float(10**power) for power in range(_LONGEST_DECIMAL + 1)])

_NUMBER_WITH_COMMA = re.compile(rb"[+-]?\d+,\d+([eE][+-]?\d+)?")


def read_numbers(
    block: Block, column: int | slice, rows: IndexArray | slice = slice(None)
) -> Float64Array:
    """Return a column of a block, or some rows of it, as the nearest float64 values.

    Several columns come row by row.

    ``inf`` and ``nan`` in any case of letters are numbers; what is too large for one is not.
    """
    starts, lengths = block.column(column, rows)
    longest = int(lengths.max(initial=1))
    words = block.words(starts, np.minimum(lengths, _LONGEST_NUMBER))
    values = np.full(starts.size, np.inf)
    others = np.arange(starts.size)
    if longest <= _LONGEST_DECIMAL:
        values, is_plain = _convert_decimals(words, lengths)
        others = np.flatnonzero(~is_plain)
    if not others.size:
        return values
    tokens: list[bytes] = _as_bytes(words[:, others]).tolist()
    if longest > _LONGEST_NUMBER:
        ends = starts + lengths
        tokens = [block.data[starts[i] : ends[i]].tobytes() for i in others.tolist()]
    # float() takes 1_000, which is a typing error in a score file, and gives inf for 1e999.
    found = np.full(others.size, np.inf)
    if b"_" not in b"".join(tokens):
        with contextlib.suppress(ValueError):
            found = np.fromiter(map(float, tokens), dtype=np.float64, count=others.size)
    for item in np.flatnonzero(np.isinf(found)).tolist():
        fault = _fault_of_number(tokens[item])
        if fault:
            in_rows = np.arange(len(block))[rows]
            row = int(in_rows[others[item] * in_rows.size // starts.size])
            raise block.error(row, f"{show(tokens[item])} {fault}")
    values[others] = found
    return values


def _convert_decimals(
    words: WordArray, lengths: IndexArray
) -> tuple[Float64Array, npt.NDArray[np.bool_]]:
    """Convert numbers such as ``-12.345`` of at most 15 digits; tell which tokens are such.

    This takes half the time of ``float`` for each token.
    """
    letters = np.ascontiguousarray(words.T).view(np.uint8)[:, :_LONGEST_DECIMAL].T.copy()
    # The digits make a whole number below 2^53, and powers of ten up to 10^22 are floats too,
    # so the one division rounds once, to the nearest float: W. D. Clinger, "How to read
    # floating point numbers accurately", Proc. PLDI, 1990, pp. 92-101.
    whole = np.zeros(lengths.size)
    n_digits, n_behind, n_points = np.zeros((3, lengths.size), dtype=np.uint8)
    for letter in letters:
        digit = letter - np.uint8(ord("0"))
        is_digit = digit < 10
        np.copyto(whole, 10.0 * whole + digit, where=is_digit)
        n_digits += is_digit
        n_behind += is_digit & (n_points > 0)
        n_points += letter == ord(".")
    is_negative = letters[0] == ord("-")
    has_sign = is_negative | (letters[0] == ord("+"))
    is_plain = (n_digits > 0) & (n_digits <= 15) & (n_points <= 1)
    is_plain &= n_digits + n_points + has_sign == lengths
    values = whole / _POWERS_OF_TEN[n_behind]
    np.negative(values, out=values, where=is_negative)
    return values, is_plain


def is_number(token: bytes | str) -> bool:
    """Tell whether a token is written as a number."""
    try:
        float(token)
    except ValueError:
        return False
    return True


def _fault_of_number(token: bytes) -> str:
    """Say what is wrong with a token that should be a number."""
    if b"_" not in token and is_number(token):
        is_infinite = math.isinf(float(token)) and b"inf" not in token.lower()
        return "is out of the range of floating-point numbers" if is_infinite else ""
    if _NUMBER_WITH_COMMA.fullmatch(token):
        return "is not a number; write the decimal point as a point, not as a comma"
    if token.lower() in (b"target", b"nontarget"):
        return "is not a number; is this a Key?"
    return "is not a number"
