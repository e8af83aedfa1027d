"""Split text files into columns, and columns into ids and numbers, in bulk.

A score file can have many millions of lines, and its two id columns repeat a few
thousand ids. So no Python object is made for a line. A block of whole lines is an
array of bytes; comparisons on it find where the tokens begin and end; ids are compared
as numbers of eight bytes each.
"""

import contextlib
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from bosaris_py._validation import FilePath
from bosaris_py.errors import FileFormatError

__all__ = [
    "Block",
    "IntArray",
    "LineNumbers",
    "WordArray",
    "cut_at_separator",
    "cut_into_columns",
    "line_error",
    "read_blocks",
    "same_tokens",
    "show",
    "token_words",
]

IntArray = npt.NDArray[np.intp]
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
    lines: IntArray | int = line
    starts: IntArray
    stops: IntArray
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


def _begins(ends: IntArray) -> IntArray:
    """Return where the parts of a text begin that end at `ends`, one character apart."""
    begins = np.empty_like(ends)
    begins[:1] = 0
    begins[1:] = ends[:-1] + 1
    return begins


def _trim(letters: npt.NDArray[np.uint8], starts: IntArray, stops: IntArray) -> None:
    """Move the ends of tokens inwards over blanks."""
    while (is_blank := (starts < stops) & (letters[starts] <= ord(" "))).any():
        starts += is_blank
    while (is_blank := (starts < stops) & (letters[stops - 1] <= ord(" "))).any():
        stops -= is_blank


def _take_off_quotes(
    letters: npt.NDArray[np.uint8],
    starts: IntArray,
    stops: IntArray,
    line: int,
    newlines: IntArray,
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
    newlines: IntArray,
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
    block: Block, starts: IntArray, lengths: IntArray
) -> Iterator[tuple[int, IntArray | None, WordArray]]:
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
