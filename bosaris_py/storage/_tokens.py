"""Split text files into columns, and columns into ids and numbers, in bulk.

A score file can have many millions of lines, and its two id columns repeat a few
thousand ids. So no Python object is made for a line. A block of whole lines is an
array of bytes; comparisons on it find where the tokens begin and end; ids are compared
as numbers of eight bytes each.
"""

import contextlib
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from bosaris_py.errors import FileFormatError

__all__ = [
    "Block",
    "IdColumn",
    "LineNumbers",
    "cut_into_columns",
    "line_error",
    "read_blocks",
    "read_numbers",
    "show",
]

IntArray = npt.NDArray[np.intp]

# About what fits into the cache together with the work arrays.
_BLOCK_BYTES = 2**21
_LONGEST_LINE = 2**26
# Eight zero bytes behind the data let the last token be read as a whole word.
_PADDING = bytes(8)
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SHOWN_OF_LINE = 80

# Keeps the first so many bytes of a little-endian word.
_KEEP = np.array([(1 << 8 * count) - 1 for count in range(9)], dtype=np.uint64)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
# Longer ids go one by one, so that a single one cannot blow up the arrays of all.
_LONGEST_ID = 256
_LONGEST_NUMBER = 64
_NUMBER_WITH_COMMA = re.compile(rb"[+-]?\d+,\d+([eE][+-]?\d+)?")


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
    starts: IntArray
    stops: IntArray

    def token(self, row: int, column: int) -> bytes:
        """Return one token."""
        return self.data[self.starts[row, column] : self.stops[row, column]].tobytes()


@attrs.define
class LineNumbers:
    """Where in the file the records are, blank lines not being records."""

    path: Path
    _records: list[int] = attrs.field(factory=list, init=False)
    _lines: list[IntArray | int] = attrs.field(factory=list, init=False)
    _count: int = attrs.field(default=0, init=False)

    def add(self, lines: IntArray | int, count: int) -> None:
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


def read_blocks(
    path: str | os.PathLike[str], *, progress: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Read a text file in blocks of whole lines.

    Parameters
    ----------
    path : str or path-like
        The file, in UTF-8 or ASCII; a byte order mark is skipped.
    progress : bool, optional
        Show a progress bar.

    Yields
    ------
    line : int
        Number of the first line of the block, counted from 1.
    data : bytes
        The lines, the last one ended like the others even at the end of the file.

    Raises
    ------
    FileFormatError
        If the file is in UTF-16, or has a line of absurd length.
    """
    file_path = Path(path)
    line = 1
    with contextlib.ExitStack() as stack:
        stream = stack.enter_context(file_path.open("rb"))
        size = os.fstat(stream.fileno()).st_size
        bar = stack.enter_context(
            tqdm(total=size, desc=file_path.name, unit="B", unit_scale=True, disable=not progress)
        )
        pending: list[bytes] = []
        first = True
        while part := stream.read(_BLOCK_BYTES):
            bar.update(len(part))
            if first:
                _refuse_utf16(file_path, part)
                part = part.removeprefix(_BYTE_ORDER_MARK)
                first = False
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


def _refuse_utf16(path: Path, head: bytes) -> None:
    """Raise for the encoding that Windows programs like to write."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        message = f"{path}: the text is in UTF-16; save it in UTF-8"
        raise FileFormatError(message)


def cut_into_columns(
    data: bytes, line: int, columns: int, layout: str, numbers: LineNumbers
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
    # Blank lines, or a fault.
    line_of_token = np.searchsorted(newlines, edges[0::2])
    counts = np.bincount(line_of_token, minlength=newlines.size)
    faults = np.flatnonzero((counts != columns) & (counts != 0))
    if faults.size:
        fault = int(faults[0])
        text = data[newlines[fault - 1] + 1 if fault else 0 : newlines[fault]]
        found = f"{counts[fault]} column{'s' if counts[fault] > 1 else ''}"
        message = f"expected {columns} columns ({layout}), found {found}: {show(text)}"
        if b"\r" in text.strip(b"\r"):
            message += ". The line ends are carriage returns alone"
        raise line_error(numbers.path, line + fault, message)
    filled = np.flatnonzero(counts)
    numbers.add(filled + line, filled.size)
    return Block(padded, edges[0::2].reshape(-1, columns), edges[1::2].reshape(-1, columns))


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


def _words(
    block: Block, starts: IntArray, lengths: IntArray
) -> Iterator[tuple[int, IntArray | None, npt.NDArray[np.uint64]]]:
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
        chosen: IntArray | None = np.flatnonzero(rest > 0)
        if chosen is not None and chosen.size == lengths.size:
            chosen = None
        if chosen is None:
            yield number, None, at_every_byte[starts + 8 * number] & _KEEP[np.minimum(rest, 8)]
        else:
            words = at_every_byte[starts[chosen] + 8 * number]
            yield number, chosen, words & _KEEP[np.minimum(rest[chosen], 8)]


@attrs.define(eq=False)
class IdColumn:
    """The ids of one column, numbered in the order in which they turn up.

    Ids are found by a hash of 64 bits and then compared byte by byte, so the numbers
    are right even if two ids share a hash; such ids, and very long ones, are kept in a
    dictionary.

    Attributes
    ----------
    ids : list of bytes
        The distinct ids; the place of an id is its code.
    """

    ids: list[bytes] = attrs.field(factory=list, init=False)
    _odd_codes: dict[bytes, int] = attrs.field(factory=dict, init=False)
    # What is known of the id of each code: its hash, length and words.
    _hashes: npt.NDArray[np.uint64] = attrs.field(init=False)
    _lengths: IntArray = attrs.field(init=False)
    _id_words: list[npt.NDArray[np.uint64]] = attrs.field(factory=list, init=False)
    # Two ways from a hash to a code: a table with gaps, which may have lost some, and
    # the complete sorted list.
    _table: IntArray = attrs.field(init=False)
    _table_shift: np.uint64 = attrs.field(init=False)
    _sorted_hashes: npt.NDArray[np.uint64] = attrs.field(init=False)
    _sorted_codes: IntArray = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start without ids."""
        self._hashes = np.empty(0, dtype=np.uint64)
        self._lengths = np.empty(0, dtype=np.intp)
        self._sorted_hashes, self._sorted_codes = self._hashes, self._lengths
        self._index(self._hashes, self._lengths)

    def encode(self, block: Block, column: int) -> IntArray:
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

    def _encode(self, block: Block, starts: IntArray, lengths: IntArray) -> IntArray:
        """Return the codes of tokens that are not too long."""
        hashes = lengths.astype(np.uint64) * _MULTIPLIER
        words = list(_words(block, starts, lengths))
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
        self, codes: IntArray, which: IntArray, block: Block, starts: IntArray, lengths: IntArray
    ) -> None:
        """Set the codes of the tokens `which` by a dictionary of their bytes."""
        for token in which.tolist():
            start = starts[token]
            name = block.data[start : start + lengths[token]].tobytes()
            code = self._odd_codes.get(name)
            if code is None:
                code = self._odd_codes[name] = len(self.ids)
                self.ids.append(name)
            codes[token] = code
        # These places are never looked up; they keep the others in step.
        added = len(self.ids) - self._hashes.size
        self._hashes = np.append(self._hashes, np.zeros(added, dtype=np.uint64))
        self._lengths = np.append(self._lengths, np.full(added, -1))
        self._lengthen_words(added)

    def _look_up(
        self,
        hashes: npt.NDArray[np.uint64],
        block: Block,
        starts: IntArray,
        lengths: IntArray,
    ) -> IntArray:
        """Return the code that each hash stands for, making new ones."""
        codes = self._table[(hashes >> self._table_shift).astype(np.intp)]
        if self._hashes.size:
            missed = np.flatnonzero((codes < 0) | (self._hashes[codes] != hashes))
        else:
            missed = np.arange(hashes.size)
        if missed.size == 0:
            return codes
        wanted = hashes[missed]
        if self._sorted_hashes.size:
            places = np.searchsorted(self._sorted_hashes, wanted)
            places[places == self._sorted_hashes.size] = 0
            is_known = self._sorted_hashes[places] == wanted
            codes[missed[is_known]] = self._sorted_codes[places[is_known]]
            missed = missed[~is_known]
        if missed.size:
            _, first, inverse = np.unique(hashes[missed], return_index=True, return_inverse=True)
            codes[missed] = len(self.ids) + inverse
            chosen = missed[first]
            self._add(hashes[chosen], block, starts[chosen], lengths[chosen])
        return codes

    def _add(
        self,
        hashes: npt.NDArray[np.uint64],
        block: Block,
        starts: IntArray,
        lengths: IntArray,
    ) -> None:
        """Give codes to new ids."""
        stops = starts + lengths
        data = block.data.tobytes()
        self.ids += [data[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
        old = self._hashes.size
        self._hashes = np.concatenate((self._hashes, hashes))
        self._lengths = np.concatenate((self._lengths, lengths))
        self._lengthen_words(hashes.size)
        for number, chosen, word in _words(block, starts, lengths):
            if number == len(self._id_words):
                self._id_words.append(np.zeros(self._hashes.size, dtype=np.uint64))
            place = slice(old, None) if chosen is None else old + chosen
            self._id_words[number][place] = word
        self._index(hashes, np.arange(old, old + hashes.size))

    def _lengthen_words(self, count: int) -> None:
        """Make place for the words of `count` more ids."""
        zeros = np.zeros(count, dtype=np.uint64)
        self._id_words = [np.append(words, zeros) for words in self._id_words]

    def _index(self, hashes: npt.NDArray[np.uint64], codes: IntArray) -> None:
        """Enter new hashes, which are sorted, into both ways from a hash to a code."""
        both = np.append(self._sorted_hashes, hashes)
        # A stable sort merges the two sorted parts in one pass.
        order = np.argsort(both, kind="stable")
        self._sorted_hashes = both[order]
        self._sorted_codes = np.append(self._sorted_codes, codes)[order]
        bits = min(22, max(10, (16 * both.size).bit_length()))
        self._table_shift = np.uint64(64 - bits)
        self._table = np.full(1 << bits, -1, dtype=np.intp)
        self._table[(self._sorted_hashes >> self._table_shift).astype(np.intp)] = self._sorted_codes


def _mix(hashes: npt.NDArray[np.uint64], words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Stir one more word into each hash, so that its upper bits depend on all of it."""
    mixed = (hashes ^ words) * _MULTIPLIER
    mixed ^= mixed >> _SHIFT
    mixed *= _MULTIPLIER
    return mixed


def read_numbers(
    block: Block, column: int, numbers: LineNumbers, first_record: int
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

    Returns
    -------
    (lines,) ndarray of float64
        The nearest floats to the numbers as written; ``inf`` and ``nan`` in any case
        of letters are numbers too.

    Raises
    ------
    FileFormatError
        If a token is no number, or too large for one.
    """
    starts = np.ascontiguousarray(block.starts[:, column])
    lengths = block.stops[:, column] - starts
    longest = int(lengths.max(initial=1))
    if longest <= _LONGEST_NUMBER:
        padded = np.zeros((starts.size, -(-longest // 8)), dtype="<u8")
        for number, chosen, word in _words(block, starts, lengths):
            padded[slice(None) if chosen is None else chosen, number] = word
        # float() would take 1_000, which is a typing error in a score file.
        if not (padded.view(np.uint8) == ord("_")).any():
            with contextlib.suppress(ValueError):
                texts = padded.view(f"S{8 * padded.shape[1]}").ravel()
                values = texts.astype(np.float64)
                infinite = np.flatnonzero(np.isinf(values))
                _, distinct = np.unique(texts[infinite], return_index=True)
                for row in np.sort(infinite[distinct]).tolist():
                    _number(block.token(row, column), numbers, first_record + row)
                return values
    return np.array(
        [
            _number(block.token(row, column), numbers, first_record + row)
            for row in range(starts.size)
        ],
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
