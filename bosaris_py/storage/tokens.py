"""Split blocks of text into tokens, ids and numbers.

A score file can have many millions of lines, and its two id columns repeat a few
thousand ids. So no Python object is made for a line. A block of whole lines is an
array of bytes; comparisons on it find where the tokens begin and end; ids are compared
as numbers of eight bytes each.
"""

import contextlib
import gzip
import io
import math
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from bosaris_py._arrays import IndexArray, mark_read_only
from bosaris_py._validation import FilePath
from bosaris_py.errors import FileFormatError
from bosaris_py.storage._guarded_hdf5 import MemoryBudget, character_codes, decode_ids

WordArray = npt.NDArray[np.uint64]

# About what fits into the cache together with the work arrays.
_BLOCK_BYTES = 2**21

_LONGEST_LINE = 2**26

# Eight zero bytes behind the data let the last token be read as a whole word.
_PADDING = bytes(8)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_GZIP_MAGIC = b"\x1f\x8b"

_SHOWN_OF_LINE = 80

# Keeps the first so many bytes of a little-endian word.
_KEEP = np.array([(1 << 8 * count) - 1 for count in range(9)], dtype=np.uint64)


def line_error(path: Path, line: int, text: str) -> FileFormatError:
    """Return an error that points at one line of a text file."""
    return FileFormatError(f"{path}:{line}: {text}")


@attrs.frozen(eq=False)
class Block:
    """Some whole lines of a file, cut into tokens.

    Parameters
    ----------
    data : (n,) ndarray of uint8
        The bytes, with some zeros behind the last line.
    starts, stops : (lines, columns) ndarray of int
        Where each token begins and ends.
    """

    data: npt.NDArray[np.uint8]
    starts: IndexArray
    stops: IndexArray

    def token(self, row: int, column: int) -> bytes:
        """Return one token."""
        return self.data[self.starts[row, column] : self.stops[row, column]].tobytes()


@attrs.define
class LineNumbers:
    """Where in the file the records are, blank lines not being records."""

    path: Path
    _records: list[int] = attrs.field(factory=list, init=False)
    _lines: list[IndexArray | int] = attrs.field(factory=list, init=False)
    _count: int = attrs.field(default=0, init=False)

    def add(self, lines: IndexArray | int, count: int) -> None:
        """Note the numbers of `count` lines, or the first of them if none is blank."""
        self._records.append(self._count)
        self._lines.append(lines)
        self._count += count

    def __getitem__(self, record: int) -> int:
        """Return the number, from 1, of the line that holds a record, counted from 0."""
        place = int(np.searchsorted(self._records, record, side="right")) - 1
        offset = record - self._records[place]
        lines = self._lines[place]
        return lines + offset if isinstance(lines, int) else int(lines[offset])

    def error(self, record: int, text: str) -> FileFormatError:
        """Return an error about one record."""
        return line_error(self.path, self[record], text)


def read_blocks(path: FilePath, *, progress: bool = False) -> Iterator[tuple[int, bytes]]:
    """Read a text file in blocks of whole lines.

    Parameters
    ----------
    path : str or path-like
        The file, in UTF-8 or ASCII; a byte order mark is skipped. If its name ends in
        ``.gz`` it is decompressed on the way.
    progress : bool, optional
        Show a progress bar, of the bytes on the disk.

    Yields
    ------
    line : int
        Number of the first line of the block, counted from 1.
    data : bytes
        The lines, the last one ended like the others even at the end of the file.

    Raises
    ------
    FileFormatError
        If the file is in UTF-16, has a line of absurd length, or is named ``.gz`` and
        is no complete file of that kind.
    """
    file_path = Path(path)
    line = 1
    pending: list[bytes] = []
    for number, part in enumerate(_read_parts(file_path, progress=progress)):
        if number == 0:
            _refuse_foreign(file_path, part)
            part = part.removeprefix(_BYTE_ORDER_MARK)
        cut = part.rfind(b"\n") + 1
        if cut == 0:
            pending.append(part)
            if sum(map(len, pending)) > _LONGEST_LINE:
                text = f"a line of more than {_LONGEST_LINE} bytes; this is no score file"
                raise line_error(file_path, line, text)
            continue
        data = b"".join([*pending, part[:cut]])
        pending = [part[cut:]]
        yield line, data
        line += data.count(b"\n")
    rest = b"".join(pending)
    if rest:
        yield line, rest + b"\n"


def _read_parts(path: Path, *, progress: bool) -> Iterator[bytes]:
    """Read a file in parts of equal size, decompressed if its name says so."""
    with contextlib.ExitStack() as stack:
        on_disk = stack.enter_context(path.open("rb"))
        size = os.fstat(on_disk.fileno()).st_size
        bar = stack.enter_context(
            tqdm(total=size, desc=path.name, unit="B", unit_scale=True, disable=not progress)
        )
        stream: io.BufferedIOBase = on_disk
        if path.suffix.lower() == ".gz":
            stream = stack.enter_context(gzip.GzipFile(fileobj=on_disk, mode="rb"))
        try:
            while part := stream.read(_BLOCK_BYTES):
                bar.update(on_disk.tell() - bar.n)
                yield part
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            message = f"{path}: this is no complete gzip file: {error}"
            raise FileFormatError(message) from error


def _refuse_foreign(path: Path, head: bytes) -> None:
    """Raise for what is often taken for text in UTF-8."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = f"{path}: the text is in UTF-16; save it in UTF-8"
        raise FileFormatError(message)
    if head.startswith(_GZIP_MAGIC):
        message = f"{path}: this is a gzip file; let its name end in .gz"
        raise FileFormatError(message)


def cut_into_columns(
    data: bytes,
    line: int,
    columns: int,
    layout: str,
    numbers: LineNumbers,
    *,
    last_optional: bool = False,
) -> Block:
    """Cut whole lines into a fixed number of tokens each.

    Parameters
    ----------
    data : bytes
        Lines, each ended by a newline; tokens are separated by blanks and tabs.
    line : int
        Number of the first line.
    columns : int
        Tokens that every line has to have, unless it is blank.
    layout : str
        What they are, for the error message.
    numbers : LineNumbers
        Where the numbers of the lines are noted.
    last_optional : bool, optional
        A line may lack its last token, which is then empty.

    Returns
    -------
    Block
        The tokens of the lines that are not blank.

    Raises
    ------
    FileFormatError
        If a line has another number of tokens, or a control character.

    Notes
    -----
    A handful of passes over the bytes, each as fast as the memory gives them.
    """
    padded = np.frombuffer(data + _PADDING, dtype=np.uint8)
    letters = padded[: len(data)]
    _refuse_control_characters(letters, data, line, numbers.path)
    is_blank = letters <= ord(" ")
    edges = np.flatnonzero(is_blank[1:] != is_blank[:-1]) + 1
    if data and not is_blank[0]:
        edges = np.concatenate(([0], edges))
    starts, stops = edges[0::2], edges[1::2]
    newlines = np.flatnonzero(letters == ord("\n"))
    if starts.size == columns * newlines.size:
        starts, stops = starts.reshape(-1, columns), stops.reshape(-1, columns)
        # Every line has its tokens if no first token precedes, and no last one exceeds,
        # the line of the same number.
        behind = np.all(starts[1:, 0] > newlines[:-1])
        if behind and np.all(stops[:, -1] <= newlines):
            numbers.add(line, newlines.size)
            return Block(padded, starts, stops)
    # Blank lines, an optional token that is absent, or a fault.
    starts, stops = edges[0::2], edges[1::2]
    counts = np.bincount(np.searchsorted(newlines, starts), minlength=newlines.size)
    is_fault = (counts != columns) & (counts != 0)
    if last_optional:
        is_fault &= counts != columns - 1
    if is_fault.any():
        fault = int(np.argmax(is_fault))
        raise _column_error(
            data, newlines, fault, line, int(counts[fault]), columns, layout, numbers
        )
    filled = np.flatnonzero(counts)
    numbers.add(filled + line, filled.size)
    counts = counts[filled]
    if not last_optional:
        return Block(padded, starts.reshape(-1, columns), stops.reshape(-1, columns))
    firsts = np.cumsum(counts) - counts
    tokens = firsts[:, np.newaxis] + np.arange(columns)
    is_short = counts < columns
    tokens[is_short, -1] -= 1
    starts, stops = starts[tokens], stops[tokens]
    starts[is_short, -1] = stops[is_short, -1]
    return Block(padded, starts, stops)


def cut_at_separator(
    data: bytes, line: int, separator: str, columns: int, layout: str, numbers: LineNumbers
) -> Block:
    """Cut whole lines into fields at each separator, so that fields may be empty.

    Parameters
    ----------
    data : bytes
        Lines, each ended by a newline.
    line : int
        Number of the first line.
    separator : str
        One character: a tab, comma or semicolon.
    columns : int
        Fields that every line has to have, unless it is blank.
    layout : str
        What they are, for the error message.
    numbers : LineNumbers
        Where the numbers of the lines are noted.

    Returns
    -------
    Block
        The fields of the lines that are not blank, without the blanks around them and
        without the quotes around them.

    Raises
    ------
    FileFormatError
        If a line has another number of fields, a control character, or quotes that are
        not around a whole field.
    """
    padded = np.frombuffer(data + _PADDING, dtype=np.uint8)
    letters = padded[: len(data)]
    _refuse_control_characters(letters, data, line, numbers.path)
    is_newline = letters == ord("\n")
    newlines = np.flatnonzero(is_newline)
    edges = np.flatnonzero(is_newline | (letters == ord(separator)))
    lines: IndexArray | int = line
    starts: IndexArray
    stops: IndexArray
    if edges.size != columns * newlines.size or np.any(edges[columns - 1 :: columns] != newlines):
        # Blank lines, or a fault.
        texts = np.flatnonzero(letters > ord(" "))
        is_filled = np.searchsorted(texts, newlines) > np.searchsorted(texts, _begins(newlines))
        counts = np.diff(np.searchsorted(edges, newlines, side="right"), prepend=0)
        is_fault = is_filled & (counts != columns)
        if is_fault.any():
            fault = int(np.argmax(is_fault))
            raise _column_error(
                data, newlines, fault, line, int(counts[fault]), columns, layout, numbers
            )
        starts = _begins(edges)[np.repeat(is_filled, counts)]
        edges = edges[np.repeat(is_filled, counts)]
        lines = np.flatnonzero(is_filled) + line
    else:
        starts = _begins(edges)
    stops = edges.copy()
    _trim(letters, starts, stops)
    starts, stops = starts.reshape(-1, columns), stops.reshape(-1, columns)
    is_empty = (starts == stops).all(axis=1)
    if is_empty.any():
        starts, stops = starts[~is_empty], stops[~is_empty]
        all_lines = np.arange(lines, lines + is_empty.size) if isinstance(lines, int) else lines
        lines = all_lines[~is_empty]
    if b'"' in data:
        _take_off_quotes(letters, starts, stops, line, newlines, numbers)
    numbers.add(lines, starts.shape[0])
    return Block(padded, starts, stops)


def _begins(ends: IndexArray) -> IndexArray:
    """Return where the parts of a text begin that end at `ends`, one character apart."""
    begins = np.empty_like(ends)
    begins[:1] = 0
    begins[1:] = ends[:-1] + 1
    return begins


def _trim(letters: npt.NDArray[np.uint8], starts: IndexArray, stops: IndexArray) -> None:
    """Move the ends of tokens inwards over blanks."""
    while (is_blank := (starts < stops) & (letters[starts] <= ord(" "))).any():
        starts += is_blank
    while (is_blank := (starts < stops) & (letters[stops - 1] <= ord(" "))).any():
        stops -= is_blank


def _take_off_quotes(
    letters: npt.NDArray[np.uint8],
    starts: IndexArray,
    stops: IndexArray,
    line: int,
    newlines: IndexArray,
    numbers: LineNumbers,
) -> None:
    """Move the ends of tokens inwards over a pair of quotes; refuse other quotes."""
    quote = ord('"')
    is_quoted = (letters[starts] == quote) & (letters[stops - 1] == quote) & (stops - starts > 1)
    places = np.flatnonzero(letters == quote)
    outer = np.concatenate((starts[is_quoted], stops[is_quoted] - 1))
    inner = np.setdiff1d(places, outer, assume_unique=True)
    if inner.size:
        at_line = line + int(np.searchsorted(newlines, inner.min()))
        text = "has a quote inside a field; only quotes around a whole field are understood"
        raise line_error(numbers.path, at_line, text)
    starts += is_quoted
    stops -= is_quoted


def _column_error(
    data: bytes,
    newlines: IndexArray,
    fault: int,
    line: int,
    found: int,
    columns: int,
    layout: str,
    numbers: LineNumbers,
) -> FileFormatError:
    """Return the error for a line, counted from 0 in `data`, of too many or few columns."""
    text = data[newlines[fault - 1] + 1 if fault else 0 : newlines[fault]]
    count = f"{found} column{'s' if found > 1 else ''}"
    message = f"expected {columns} columns ({layout}), found {count}: {show(text)}"
    if b"\r" in text.strip(b"\r"):
        message += ". The line ends are carriage returns alone"
    if b'"' in text:
        message += ". A separator inside quotes is not understood"
    return line_error(numbers.path, line + fault, message)


def _refuse_control_characters(
    letters: npt.NDArray[np.uint8], data: bytes, line: int, path: Path
) -> None:
    """Raise for bytes that no text holds; they would pass as blanks."""
    # 9 to 13 are tab, line feed, vertical tab, form feed and carriage return.
    is_control = (letters < 9) | ((letters > 13) & (letters < 32))
    if is_control.any():
        place = int(np.argmax(is_control))
        at_line = line + data.count(b"\n", 0, place)
        text = f"holds the control character 0x{data[place]:02x}; this is no text file"
        raise line_error(path, at_line, text)


def show(text: bytes) -> str:
    """Return the text of a line in quotes, cut to a readable length."""
    decoded = text.strip().decode(errors="replace")
    if len(decoded) > _SHOWN_OF_LINE:
        decoded = f"{decoded[:_SHOWN_OF_LINE]}..."
    return repr(decoded)


def token_words(
    block: Block, starts: IndexArray, lengths: IndexArray
) -> Iterator[tuple[int, IndexArray | None, WordArray]]:
    """Give tokens as words of eight bytes: number of the word, tokens, words.

    Tokens that are too short to have the word are left out; None stands for all. Bytes
    behind the end of a token are zero.
    """
    longest = int(lengths.max(initial=0))
    # Every byte as the begin of a word: overlapping, unaligned and without a copy.
    at_every_byte = np.ndarray(
        (block.data.size - 7,), dtype="<u8", buffer=block.data.data, strides=(1,)
    )
    for number in range(-(-longest // 8)):
        rest = lengths - 8 * number
        if number == 0:
            yield number, None, at_every_byte[starts] & _KEEP[np.minimum(rest, 8)]
            continue
        chosen: IndexArray | None = np.flatnonzero(rest > 0)
        if chosen is not None and chosen.size == lengths.size:
            chosen = None
        if chosen is None:
            yield number, None, at_every_byte[starts + 8 * number] & _KEEP[np.minimum(rest, 8)]
        else:
            words = at_every_byte[starts[chosen] + 8 * number]
            yield number, chosen, words & _KEEP[np.minimum(rest[chosen], 8)]


def same_tokens(block: Block, first: int, second: int) -> npt.NDArray[np.bool_]:
    """Tell for each line whether two of its tokens are the same."""
    starts = [np.ascontiguousarray(block.starts[:, column]) for column in (first, second)]
    lengths = block.stops[:, first] - starts[0]
    same: npt.NDArray[np.bool_] = lengths == block.stops[:, second] - starts[1]
    alike = np.flatnonzero(same)
    both = [token_words(block, begin[alike], lengths[alike]) for begin in starts]
    for (_, chosen, left), (_, _, right) in zip(*both, strict=True):
        same[alike if chosen is None else alike[chosen]] &= left == right
    return same


_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)

_SHIFT = np.uint64(29)

# Longer ids go one by one, so that a single one cannot blow up the arrays of all.
_LONGEST_ID = 256

_FIRST_ROOM = 1024

_FIRST_BITS = 12


@attrs.define(eq=False)
class IdColumn:
    """The ids of one column, numbered in the order in which they turn up.

    Ids are found by a hash of 64 bits and then compared byte by byte, so the numbers
    are right even if two ids share a hash; such ids, and very long ones, are kept in a
    dictionary. The length of a column is its number of distinct ids.
    """

    _count: int = attrs.field(default=0, init=False)
    _ids: list[bytes] = attrs.field(factory=list, init=False)
    _odd_codes: dict[bytes, int] = attrs.field(factory=dict, init=False)
    # What is known of the id of each code: its hash, length and words. Behind the last
    # code there is room for more.
    _hashes: WordArray = attrs.field(init=False)
    _lengths: IndexArray = attrs.field(init=False)
    _id_words: list[WordArray] = attrs.field(factory=list, init=False)
    # From the upper bits of a hash to a code, or to -1. A code whose place is taken lies
    # in one of the next places, before the first that is free.
    _table: npt.NDArray[np.int32] = attrs.field(init=False)
    _table_shift: np.uint64 = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start without ids, but with room for some."""
        self._hashes = np.zeros(_FIRST_ROOM, dtype=np.uint64)
        self._lengths = np.full(_FIRST_ROOM, -1)
        self._new_table()

    def __len__(self) -> int:
        """Return the number of distinct ids."""
        return self._count

    @property
    def ids(self) -> list[bytes]:
        """The distinct ids; the place of an id is its code."""
        known = len(self._ids)
        if known < self._count:
            self._ids += self._letters(slice(known, self._count)).tolist()
            for name, code in self._odd_codes.items():
                self._ids[code] = name
        return self._ids

    def letters(self) -> npt.NDArray[np.bytes_] | None:
        """Return the distinct ids as an array; None if they do not all fit into one."""
        return None if self._odd_codes else self._letters(slice(0, self._count))

    def _letters(self, part: slice) -> npt.NDArray[np.bytes_]:
        """Return some ids as an array of bytes, empty where an id is in the dictionary."""
        words = np.zeros((part.stop - part.start, max(1, len(self._id_words))), dtype="<u8")
        for number, column in enumerate(self._id_words):
            words[:, number] = column[part]
        return words.view(f"S{8 * words.shape[1]}").ravel()

    def encode(self, block: Block, column: int) -> IndexArray:
        """Return the codes of one column of a block, giving new codes to new ids.

        Parameters
        ----------
        block : Block
            Lines of the file.
        column : int
            Which of its columns.

        Returns
        -------
        (lines,) ndarray of int
            Indices into `ids`.
        """
        starts = np.ascontiguousarray(block.starts[:, column])
        lengths = block.stops[:, column] - starts
        is_long = lengths > _LONGEST_ID
        if not is_long.any():
            return self._encode(block, starts, lengths)
        codes = np.empty(starts.size, dtype=np.intp)
        is_short = ~is_long
        codes[is_short] = self._encode(block, starts[is_short], lengths[is_short])
        self._encode_singly(codes, np.flatnonzero(is_long), block, starts, lengths)
        return codes

    def _encode(self, block: Block, starts: IndexArray, lengths: IndexArray) -> IndexArray:
        """Return the codes of tokens that are not too long."""
        hashes = lengths.astype(np.uint64) * _MULTIPLIER
        words = list(token_words(block, starts, lengths))
        for _, chosen, word in words:
            if chosen is None:
                hashes = _mix(hashes, word)
            else:
                hashes[chosen] = _mix(hashes[chosen], word)
        # One of the two columns of most files is constant over long runs.
        is_head = np.concatenate(([True], hashes[1:] != hashes[:-1]))[: hashes.size]
        heads = np.flatnonzero(is_head)
        if 4 * heads.size > hashes.size:
            codes = self._look_up(hashes, block, starts, lengths)
        else:
            head_codes = self._look_up(hashes[heads], block, starts[heads], lengths[heads])
            codes = np.repeat(head_codes, np.diff(np.append(heads, hashes.size)))
        is_same = self._lengths[codes] == lengths
        for number, chosen, word in words:
            if number == len(self._id_words):
                # No known id is so long; the lengths have told them apart already.
                break
            if chosen is None:
                is_same &= self._id_words[number][codes] == word
            else:
                is_same[chosen] &= self._id_words[number][codes[chosen]] == word
        if not is_same.all():
            self._encode_singly(codes, np.flatnonzero(~is_same), block, starts, lengths)
        return codes

    def _encode_singly(
        self,
        codes: IndexArray,
        which: IndexArray,
        block: Block,
        starts: IndexArray,
        lengths: IndexArray,
    ) -> None:
        """Set the codes of the tokens `which` by a dictionary of their bytes."""
        for token in which.tolist():
            start = starts[token]
            name = block.data[start : start + lengths[token]].tobytes()
            code = self._odd_codes.get(name)
            if code is None:
                code = self._odd_codes[name] = self._count
                self._count += 1
            codes[token] = code
        # The places of these codes are never looked up; their lengths stay -1.
        self._make_room(self._count)

    def _look_up(
        self, hashes: WordArray, block: Block, starts: IndexArray, lengths: IndexArray
    ) -> IndexArray:
        """Return the code that each hash stands for, making new ones."""
        slots = (hashes >> self._table_shift).astype(np.intp)
        codes = self._table[slots].astype(np.intp)
        strays = np.flatnonzero((self._hashes[codes] != hashes) & (codes >= 0))
        while strays.size:
            slots[strays] = (slots[strays] + 1) & (self._table.size - 1)
            codes[strays] = self._table[slots[strays]]
            found = codes[strays]
            strays = strays[(self._hashes[found] != hashes[strays]) & (found >= 0)]
        missed = np.flatnonzero(codes < 0)
        if missed.size:
            _, first, inverse = np.unique(hashes[missed], return_index=True, return_inverse=True)
            codes[missed] = self._count + inverse
            chosen = missed[first]
            self._add(hashes[chosen], block, starts[chosen], lengths[chosen])
        return codes

    def _add(
        self, hashes: WordArray, block: Block, starts: IndexArray, lengths: IndexArray
    ) -> None:
        """Give codes to new ids, whose hashes differ."""
        old = self._count
        self._count += hashes.size
        new = slice(old, self._count)
        self._make_room(self._count)
        self._hashes[new] = hashes
        self._lengths[new] = lengths
        for number, chosen, word in token_words(block, starts, lengths):
            if number == len(self._id_words):
                self._id_words.append(np.zeros(self._hashes.size, dtype=np.uint64))
            self._id_words[number][new if chosen is None else old + chosen] = word
        if 2 * self._count > self._table.size:
            self._new_table()
        else:
            self._enter(np.arange(old, self._count))

    def _make_room(self, count: int) -> None:
        """Double the arrays until they hold `count` ids."""
        room = self._hashes.size
        if count <= room:
            return
        while room < count:
            room *= 2
        more = room - self._hashes.size
        zeros = np.zeros(more, dtype=np.uint64)
        self._hashes = np.append(self._hashes, zeros)
        self._lengths = np.append(self._lengths, np.full(more, -1))
        self._id_words = [np.append(words, zeros) for words in self._id_words]

    def _new_table(self) -> None:
        """Make a table of which at most a quarter is taken."""
        bits = max(_FIRST_BITS, (4 * self._count).bit_length())
        self._table = np.full(1 << bits, -1, dtype=np.int32)
        self._table_shift = np.uint64(64 - bits)
        self._enter(np.flatnonzero(self._lengths[: self._count] >= 0))

    def _enter(self, codes: IndexArray) -> None:
        """Enter codes into the table."""
        slots = (self._hashes[codes] >> self._table_shift).astype(np.intp)
        while codes.size:
            is_free = self._table[slots] < 0
            # Of several codes for one place, the last gets it.
            self._table[slots[is_free]] = codes[is_free]
            outside = self._table[slots] != codes
            codes, slots = codes[outside], (slots[outside] + 1) & (self._table.size - 1)


def _mix(hashes: WordArray, words: WordArray) -> WordArray:
    """Stir one more word into each hash, so that its upper bits depend on all of it."""
    mixed = (hashes ^ words) * _MULTIPLIER
    mixed ^= mixed >> _SHIFT
    mixed *= _MULTIPLIER
    return mixed


@attrs.frozen(eq=False)
class DecodedIds:
    """The distinct ids of a column as text.

    Parameters
    ----------
    names : (n,) ndarray of str
        The ids in ascending order.
    rank : (codes,) ndarray of int32
        The place in `names` of each code; several codes may stand for one id.
    """

    names: npt.NDArray[np.str_]
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
        """Decode and sort the ids of a column.

        Parameters
        ----------
        column : IdColumn
            The ids.
        codes : (records,) ndarray of int
            Where they occur, for error messages.
        numbers : LineNumbers
            In which lines that is.
        budget : MemoryBudget
            What the arrays may take.
        suffixes : sequence of bytes, optional
            The first that fits is taken off the end of an id.

        Returns
        -------
        DecodedIds
            The ids.

        Raises
        ------
        FileFormatError
            If an id is not in UTF-8, or could not be written as text again.
        """
        letters = column.letters()
        if letters is None or character_codes(letters).max(initial=0) > 127:
            names = [_without(name, suffixes) for name in column.ids] if suffixes else column.ids
            return cls.decode(names, codes, numbers, budget)
        longest = int(np.strings.str_len(letters).max(initial=1))
        budget.claim(8 * longest * letters.size, f"a list of {letters.size} ids")
        letters = _without_suffixes(letters, suffixes)
        # As numbers of eight bytes, the first the most significant, ids sort as texts do.
        words = letters.view(">u8").reshape(letters.size, letters.itemsize // 8).astype(np.uint64)
        # What all ids have in common, such as an extension, does not order them.
        words = words[:, (words != words[:1]).any(axis=0) | (np.arange(words.shape[1]) == 0)]
        order = np.lexsort(words.T[::-1])
        words = words[order]
        is_new = np.ones(letters.size, dtype=np.bool_)
        is_new[1:] = (words[1:] != words[:-1]).any(axis=1)
        rank = np.empty(letters.size, dtype=np.int32)
        rank[order] = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
        return cls(mark_read_only(decode_ids(letters[order[is_new]])), rank)

    @classmethod
    def decode(
        cls,
        ids: Sequence[bytes],
        codes: npt.NDArray[np.integer],
        numbers: LineNumbers,
        budget: MemoryBudget,
    ) -> "DecodedIds":
        """Decode and sort ids.

        Parameters
        ----------
        ids : sequence of bytes
            The id of each code; ids may be equal.
        codes : (records,) ndarray of int
            Where they occur, for error messages.
        numbers : LineNumbers
            In which lines that is.
        budget : MemoryBudget
            What the arrays may take.

        Returns
        -------
        DecodedIds
            The ids.

        Raises
        ------
        FileFormatError
            If an id is not in UTF-8, or could not be written as text again.
        """
        # Four bytes for each character of the longest id, here and where they are used.
        longest = max(map(len, ids), default=1)
        budget.claim(8 * longest * len(ids), f"a list of {len(ids)} ids")
        # UTF-8 sorts like the characters do, and much faster.
        distinct = sorted(set(ids))
        texts: list[str] = []
        for name in distinct:
            try:
                text = name.decode()
            except UnicodeDecodeError:
                message = f"the id {show(name)} is not in UTF-8"
                raise numbers.error(_first(codes, ids, name), message) from None
            fault = "" if name.isascii() else _fault_of_id(text)
            if fault:
                raise numbers.error(_first(codes, ids, name), f"the id {text!r} {fault}")
            texts.append(text)
        place = dict(zip(distinct, range(len(distinct)), strict=True))
        rank = np.fromiter(map(place.__getitem__, ids), dtype=np.int32, count=len(ids))
        return cls(mark_read_only(np.array(texts, dtype=np.str_)), rank)

    def name_of(self, code: int) -> str:
        """Return the id of one code."""
        return str(self.names[self.rank[code]])

    def in_order(self, codes: npt.NDArray[np.integer]) -> npt.NDArray[np.str_]:
        """Return the ids of all records."""
        return mark_read_only(self.names[self.rank[codes]])


def _without(name: bytes, suffixes: Sequence[bytes]) -> bytes:
    """Take the first fitting suffix off an id."""
    for suffix in suffixes:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def _without_suffixes(
    letters: npt.NDArray[np.bytes_], suffixes: Sequence[bytes]
) -> npt.NDArray[np.bytes_]:
    """Take the first fitting suffix off each id."""
    if not suffixes:
        return letters
    stripped = letters.copy()
    is_open = np.ones(letters.size, dtype=np.bool_)
    lengths = np.strings.str_len(letters)
    for suffix in suffixes:
        fits = np.flatnonzero(is_open & np.strings.endswith(letters, suffix))
        is_open[fits] = False
        if not fits.size:
            continue
        cells = character_codes(stripped[fits])
        cells[np.arange(cells.shape[1]) >= (lengths[fits] - len(suffix))[:, np.newaxis]] = 0
        stripped[fits] = cells.view(letters.dtype).ravel()
    return stripped


def _first(codes: npt.NDArray[np.integer], ids: Sequence[bytes], name: bytes) -> int:
    """Return the first record with an id."""
    return int(np.argmax(codes == ids.index(name)))


def _fault_of_id(text: str) -> str:
    """Say what is wrong with an id that could not be written as text again."""
    if text.startswith("\ufeff"):
        return "starts with a byte order mark; were files joined?"
    if any(letter.isspace() and not letter.isascii() for letter in text):
        return "holds a blank that is none in ASCII; write blanks or tabs between columns"
    return ""


_LONGEST_NUMBER = 64

# A sign, a point and 15 digits are 17 letters; they fill three words.
_LONGEST_DECIMAL = 24

_POWERS_OF_TEN = np.array([float(10**power) for power in range(23)])

_NUMBER_WITH_COMMA = re.compile(rb"[+-]?\d+,\d+([eE][+-]?\d+)?")


def read_numbers(
    block: Block,
    column: int,
    numbers: LineNumbers,
    first_record: int,
    rows: IndexArray | None = None,
) -> npt.NDArray[np.float64]:
    """Return one column of a block as float64.

    Parameters
    ----------
    block : Block
        Lines of the file.
    column : int
        Which of its columns.
    numbers : LineNumbers
        Where the lines are, for the error message.
    first_record : int
        Number of the first line of the block, blank ones not counted.
    rows : (r,) ndarray of int, optional
        Which lines of the block; all by default.

    Returns
    -------
    (r,) ndarray of float64
        The nearest floats to the numbers as written; ``inf`` and ``nan`` in any case
        of letters are numbers too.

    Raises
    ------
    FileFormatError
        If a token is no number, or too large for one.
    """
    if rows is None:
        rows = np.arange(block.starts.shape[0])
    starts = block.starts[rows, column]
    lengths = block.stops[rows, column] - starts
    longest = int(lengths.max(initial=1))
    if longest > _LONGEST_NUMBER:
        return _one_by_one(block, column, numbers, first_record, rows)
    padded = np.zeros((starts.size, -(-longest // 8)), dtype="<u8")
    for number, chosen, word in token_words(block, starts, lengths):
        padded[slice(None) if chosen is None else chosen, number] = word
    values, is_plain = _plain_decimals(padded, lengths)
    others = np.flatnonzero(~is_plain)
    if others.size:
        values[others] = _any_numbers(
            block, column, numbers, first_record, rows[others], padded[others]
        )
    return values


def _plain_decimals(
    padded: npt.NDArray[np.uint64], lengths: IndexArray
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Convert numbers such as ``-12.345`` that have at most 15 digits.

    Parameters
    ----------
    padded : (r, words) ndarray of uint64
        The letters of each token, with zeros behind them.
    lengths : (r,) ndarray of int
        The number of letters.

    Returns
    -------
    values : (r,) ndarray of float64
        The numbers.
    is_plain : (r,) ndarray of bool
        Which of them are right; the others are written in another way.

    Notes
    -----
    The digits make a whole number below 2^53, and powers of ten up to 10^22 are
    floats too, so the one division rounds once: the nearest float [1]_.

    References
    ----------
    .. [1] W. D. Clinger, "How to read floating point numbers accurately", Proc.
       PLDI, 1990, pp. 92-101.
    """
    width = min(8 * padded.shape[1], _LONGEST_DECIMAL)
    letters = np.ascontiguousarray(padded.view(np.uint8)[:, :width].T)
    whole = np.zeros(lengths.size)
    n_digits, n_behind = np.zeros((2, lengths.size), dtype=np.uint8)
    n_points = np.zeros(lengths.size, dtype=np.uint8)
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
    # Of what is not plain there may be more digits than powers.
    values = whole / _POWERS_OF_TEN[np.minimum(n_behind, 22)]
    np.negative(values, out=values, where=is_negative)
    return values, is_plain


def _any_numbers(
    block: Block,
    column: int,
    numbers: LineNumbers,
    first_record: int,
    rows: IndexArray,
    padded: npt.NDArray[np.uint64],
) -> npt.NDArray[np.float64]:
    """Convert numbers written in any way."""
    # float() would take 1_000, which is a typing error in a score file.
    if not (padded.view(np.uint8) == ord("_")).any():
        with contextlib.suppress(ValueError):
            texts = padded.view(f"S{8 * padded.shape[1]}").ravel()
            values = texts.astype(np.float64)
            infinite = np.flatnonzero(np.isinf(values))
            _, distinct = np.unique(texts[infinite], return_index=True)
            suspects = rows[np.sort(infinite[distinct])]
            _one_by_one(block, column, numbers, first_record, suspects)
            return values
    return _one_by_one(block, column, numbers, first_record, rows)


def _one_by_one(
    block: Block, column: int, numbers: LineNumbers, first_record: int, rows: IndexArray
) -> npt.NDArray[np.float64]:
    """Convert numbers in a loop, which says where the first fault is."""
    return np.array(
        [_number(block.token(row, column), numbers, first_record + row) for row in rows.tolist()],
        dtype=np.float64,
    )


def _number(token: bytes, numbers: LineNumbers, record: int) -> float:
    """Convert one token, or say what is wrong with it."""
    if b"_" not in token:
        with contextlib.suppress(ValueError):
            value = float(token)
            if not math.isinf(value) or b"inf" in token.lower():
                return value
            text = f"{show(token)} is out of the range of floating-point numbers"
            raise numbers.error(record, text)
    text = f"{show(token)} is not a number"
    if _NUMBER_WITH_COMMA.fullmatch(token):
        text += "; write the decimal point as a point, not as a comma"
    elif token.lower() in (b"target", b"nontarget"):
        text += "; is this a Key?"
    raise numbers.error(record, text)
