"""Text files of trials: one reader for all formats of `formats.FORMATS`.

A file is cut by Python's ``split``, some megabytes at a time, ids are numbered by a dict, numbers
are read by ``float``. Only where the count of cells is wrong is it gone through line by line, so
that an error names file, line and cell.
"""

import contextlib
import gzip
import itertools
import math
import operator
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, FilePath, FloatArray, IntArray, mark_read_only
from bosaris_py._parallel import progress_bar
from bosaris_py.files import columns as kinds, detection, formats
from bosaris_py.files.columns import Codes, Column, Factor, Table, TrialOrder, Vocabulary
from bosaris_py.files.detection import line_error
from bosaris_py.files.formats import Columns, Plan, find_format, odd_number, show
from bosaris_py.files.hdf5 import as_text, half_of_memory

Labels = str | Mapping[str, bool | str | None]

# Bytes that are read and cut at once: first those that are looked at, then so few that their cells
# stay in the processor's cache, which halves the time.
_HEAD_BYTES, _BLOCK_BYTES = 2**20, 2**17
_LONGEST_LINE = 2**26
# Ids that files of this package can store, in characters and in bytes of UTF-8.
LONGEST_ID, _LONGEST_STORED_ID = 4096, 4 * 4096
_CONTROLS = bytes(code for code in range(32) if not 9 <= code <= 13)

# How files begin that are no text of trials, and what to do.
_LINES = "write a line for each trial, such as: model segment score"
_NO_TEXTS: dict[tuple[bytes, ...], str] = {
    (b"\xff\xfe", b"\xfe\xff"): "the text is in UTF-16; save it in UTF-8",
    (b"\x1f\x8b",): "this is a gzip file; let its name end in .gz; in Octave save with '-v7'",
    (b"\0",): "this is no text; if it is MATLAB's format -v4, save a struct with '-v7'",
    (b"\x89HDF", b"MATLAB"): "this is a file of HDF5 or MATLAB; here a text is needed",
    (b"BZh", b"\xfd7zXZ"): "this is a packed file; unpack it, or let gzip pack it",
    (b"\x93NUMPY",): f"this is an array of numpy (.npy), which has no ids; {_LINES}",
    (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"): f"this is a pickle of Python; {_LINES}",
    (b"PK\x03\x04",): f"this is a zip archive, as .npz, .xlsx and .pt are; {_LINES}",
    (b"PAR1", b"%PDF", b"\xd0\xcf\x11\xe0", b"<"): f"this is no plain text; {_LINES}",
    (b"# Created by Octave", b"Octave-1-"): "this is Octave's own format; save with '-v7'",
}


# Parts of files, and their cells


def file_parts(
    path: Path, notes: list[errors.Note], *, progress: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Give parts of whole lines, each with the number of its first line.

    The last line is ended like the others, with a note. A byte order mark is skipped.
    """
    line, is_packed = 1, path.suffix.lower() == ".gz"
    with contextlib.ExitStack() as stack:
        is_pipe = str(path) == "-"
        on_disk = sys.stdin.buffer if is_pipe else stack.enter_context(path.open("rb"))
        size = path.stat().st_size if path.is_file() else None
        how = {"total": size, "desc": path.name, "unit": "B", "unit_scale": True}
        bar = stack.enter_context(progress_bar(**how, shown=progress))
        stream = gzip.GzipFile(fileobj=on_disk, mode="rb") if is_packed else on_disk
        try:
            while data := stream.read(_HEAD_BYTES if line == 1 else _BLOCK_BYTES):
                data += stream.readline(_LONGEST_LINE)
                # A pipe has no position.
                bar.update(on_disk.tell() - bar.n if on_disk.seekable() else len(data))
                if line == 1:
                    found = (what for mark, what in _NO_TEXTS.items() if data.startswith(mark))
                    if what := next(found, ""):
                        raise errors.FileFormatError(f"{path}: {what}", path=path)
                    data = data.removeprefix(b"\xef\xbb\xbf")
                    data = data if b"\n" in data else data.replace(b"\r", b"\n")
                if not data.endswith(b"\n"):
                    if len(data) > _LONGEST_LINE:
                        fault = f"a line of more than {_LONGEST_LINE} bytes"
                        raise line_error(path, line + data.count(b"\n"), fault)
                    if data.rpartition(b"\n")[2].strip():
                        text = f"{path}: the last line has no end; is the file complete?"
                        notes.append(errors.Note(errors.BosarisWarning, text))
                    data += b"\n"
                yield line, data
                line += data.count(b"\n")
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            text = f"{path}: this is no complete gzip file: {error}"
            raise errors.FileFormatError(text) from error


def read_words(path: FilePath) -> list[str]:
    """Return all words of a text, whatever lines they are in."""
    notes: list[errors.Note] = []
    data = b"".join(part for _, part in file_parts(check.as_path(path), notes))
    errors.warn(notes)
    try:
        return data.decode().split()
    except UnicodeDecodeError as error:
        raise errors.FileFormatError(f"{path}: the names are not in UTF-8: {error}") from error


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


def cut(data: bytes, line: int, plan: Plan, path: Path) -> tuple[list[list[bytes]], Sequence[int]]:
    """Return the cells of each column of whole lines, and the numbers of the lines."""
    names, mark = plan.names, plan.separator
    width, n_lines = len(names), data.count(b"\n")
    cells: list[bytes] = []
    # The end of a line becomes a cell of its own, so that each line has its width if each of
    # them is where it must be.
    end = b"\0" if mark is None else b"\n"
    if mark is None and b"\0" not in data and b'"' not in data:
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
        row = formats.unquote(text, mark)
        if not any(row):
            continue
        if len(row) == width - 1 and mark is None and plan.format.last_optional:
            row.append(b"")
        if len(row) != width:
            expected = f"expected {width} columns ({' '.join(names[:20])})"
            fault = f"{expected}, found {len(row)}: {show(text)}"
            fault += ". Is a comma decimal? Write a point" * (mark == b"," and len(row) > width)
            fault += ". The line ends are carriage returns alone" * (b"\r" in text.strip())
            raise line_error(path, number, fault)
        cells += row
        numbers.append(number)
    return [cells[at::width] for at in range(width)], numbers


def _fault_of_id(name: bytes) -> str:
    """Say what is wrong with an id; it must survive being written."""
    if len(name) > _LONGEST_STORED_ID:
        return f"an id of {len(name)} bytes; {_LONGEST_STORED_ID} is the most"
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return f"the id {show(name)} is not in UTF-8"
    if text.startswith("\ufeff") or any(code in _CONTROLS for code in name):
        return f"the id {text!r} holds a control character or a byte order mark"
    is_odd = any(letter.isspace() and not letter.isascii() for letter in text)
    blank = "holds a blank that is none in ASCII; write blanks or tabs between columns"
    return f"the id {text!r} {blank}" if is_odd else ""


@attrs.define
class Texts:
    """A column of ids, labels or categories while it is read."""

    name: str
    codes: Codes = attrs.field(factory=Codes)
    parts: list[IntArray] = attrs.field(factory=list)
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
        for name in new if self.longest > _LONGEST_STORED_ID or not is_plain else ():
            if fault := _fault_of_id(name):
                raise self.error(name, numbers, path, fault)
        return new

    def error(
        self, text: bytes, numbers: Sequence[int], path: Path, fault: str
    ) -> errors.FileFormatError:
        """Return the error about the first of the latest lines that has a text."""
        at = int(np.argmax(self.parts[-1] == self.codes[text]))
        return line_error(path, numbers[at], fault)

    def all_codes(self) -> IntArray:
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
    parts: list[FloatArray] = attrs.field(factory=list)

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
        text = cell.decode(errors="replace").lower()
        if cell.lower() in self.missing:
            return math.nan
        with contextlib.suppress(ValueError):
            value = math.nan if "_" in text else float(cell)
            if math.isfinite(value) or "inf" in text:
                return value
            if math.isinf(value):
                fault = "is out of the range of floating-point numbers"
                raise line_error(path, number, f"{show(cell)} {fault}")
        if text.lstrip("+-") in formats.MISSING_WORDS and text[:2] != "--":
            fault = f"the {self.name} is {text or 'empty'} here. Does it say that there is none?"
            raise line_error(path, number, fault, missing=text)
        fault = odd_number(text) or "is not a number"
        fault += "; is this a key?" * (text in ("target", "nontarget"))
        raise line_error(path, number, f"{show(cell)} {fault}")

    def values(self) -> FloatArray:
        """Return all numbers."""
        return mark_read_only(np.concatenate([np.empty(0), *self.parts]))


# Tables


def read_table(
    path: FilePath,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Labels | None = None,
    spoof: str = "keep",
    missing: str | Sequence[str] = (),
    strip_suffix: str = "",
    max_bytes: int | None = None,
    *,
    extra: bool = True,
    progress: bool = False,
) -> Table:
    r"""Read a trial list, a key or scores from one of the text formats of the field.

    Parameters
    ----------
    path : str or path-like
        The file, in UTF-8, or ``-`` for standard input; decompressed if its name ends in ``.gz``.
    format : str, optional
        Name of the format, of those that the page on file formats lists. By default it is found out
        from the first thousand lines.
    columns : str, sequence of str, or mapping, optional
        What the columns are. For files without a header, from left to right, for instance ``"label
        model segment"``: ``model``, ``segment``, ``side``, ``label``, ``score``, ``-`` for a column
        that is not read, other names for extra columns. For files with a header, the names of the
        columns that have another name than usual, for instance ``{"model": "enroll", "score":
        "cosine"}`` or ``"model=enroll,score=cosine"``; None, or nothing behind the sign, says that
        there is no such column. For files without a header a mapping may have positions,
        ``{"model": 1, "segment": 0, "score": 4}``; others are not read.
    labels : str, or mapping of str to bool, str or None, optional
        What the labels mean, if they are not those of the format: True for targets, False for
        non-targets, ``"spoof"``, or None for lines to be left out. Or all in one text, such as
        ``"yes=target,no=nontarget"``.
    spoof : {"keep", "nontarget", "drop"}, default: "keep"
        What to do with trials of the third class. Where they become non-targets the words of all
        labels are kept in the column ``label``. "keep" also adds a column ``kind`` of the words
        target, nontarget and spoof if there are spoofs; the metrics of three classes need it.
    missing : str or sequence of str, optional
        What stands for a missing number, besides what the format says; in any case of letters.
    strip_suffix : str, optional
        Taken off the end of models and segments, for instance ``".wav"``.
    max_bytes : int, optional
        Refuse a file whose contents would take more memory than this; by default half of the
        memory of the machine.
    extra : bool, default: True
        Read the extra columns.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    Table
        All lines in the order of the file. If it has no column of models, they are all of one
        model; if it has no segments, the lines are numbered. Its notes say if there is no trial.

    Raises
    ------
    FileFormatError
        If the file is not what the format says, with the number of the line; if labels are not
        known; if a score is NaN; or if several formats would fit.

    See Also
    --------
    bosaris_py.read_key : The same, as a Key.
    bosaris_py.read_scores : The same, as Scores.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py.files.text import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trials.txt"
    >>> _ = path.write_text("1 anna/1.wav s1.wav\n0 bert/1.wav s1.wav\n")
    >>> table = read_table(path)
    >>> table.models.values().tolist(), table.is_target.tolist()
    (['anna/1.wav', 'bert/1.wav'], [True, False])
    """
    check.check_choice(spoof, ("keep", "nontarget", "drop"), "spoof")
    absent = check.as_ids([missing] if isinstance(missing, str) else missing, "missing").tolist()
    words = None if labels is None else _vocabulary_of(labels)
    chosen = None if format is None else find_format(format)
    file, notes = check.as_path(path), list[errors.Note]()
    parts = file_parts(file, notes, progress=progress)
    head = read_head(parts)
    if head is None:
        if chosen is None and columns is None:
            raise errors.FileFormatError(f"{file}: there is no line in this file", path=file)
        return Table(Factor([], []), Factor([], []), notes=(*notes, no_line(file)))
    plan = detection.find_plan(file, head.lines, head.number, chosen, columns, words)
    known = plan.format.vocabularies
    if words is not None:
        # Beside new words those that are known need not be given.
        known = (words, *({**each, **words} for each in known if words.keys().isdisjoint(each)))
    found = read_columns(file, head, parts, plan, known, absent, extra=extra, max_bytes=max_bytes)
    if not found.lines.size:
        notes.append(no_line(file, "trial below the header"))
    return attrs.evolve(found.table(spoof, strip_suffix), notes=tuple(notes))


def no_line(path: Path, what: str = "line in this file") -> errors.Note:
    """Say that a file is empty."""
    return errors.Note(errors.BosarisWarning, f"{path}: there is no {what}; was it cut off?")


def detect_format(path: FilePath) -> str:
    r"""Find out the format of a file from its first thousand lines.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    str
        Name of the format. Of formats that read the file in the same way, the first.

    Raises
    ------
    FileFormatError
        If no format fits, or several do that would read different things.

    Notes
    -----
    A file whose first line names the columns of a format with a header has that format; ``csv`` is
    any table whose first line names two roles, or has a word above numbers or above labels.
    Without a header, a format fits if it has that number of columns and each looks right:

    - a score if all are numbers, but not only 1, 0 and -1, nor 0, 1 and 2, nor whole numbers of one
      length of four digits or more;
    - a label if all are words of one vocabulary of the format;
    - an id unless all are numbers with a decimal point, or all are labels;
    - a gender if all are F or M, a side if all are A, B or X.

    Columns are what lies between blanks; where no format fits, between tabs, commas, semicolons or
    bars.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py.files.text import detect_format
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("0.731 anna/1.wav s1.wav\n-0.2 bert/1.wav s1.wav\n")
    >>> detect_format(path)
    'voxceleb-scores'
    """
    file = check.as_path(path)
    if (head := read_head(file_parts(file, []))) is None:
        raise errors.FileFormatError(f"{file}: there is no line in this file", path=file)
    return detection.find_plan(file, head.lines, head.number).format.name


def first_lines(path: Path) -> list[bytes]:
    """Return the first lines of a file, for an error about it; none of a pipe."""
    head = read_head(file_parts(path, [])) if path.is_file() else None
    return [] if head is None else head.lines


# As `kinds` has them: a non-target, a target, a spoof, and one that is left out.
_WORDS = (False, "nontarget"), (True, "target"), ("spoof",), (None, "drop")
_CLASSES: dict[object, int] = {word: side for side, words in enumerate(_WORDS) for word in words}


def _vocabulary_of(labels: object) -> Vocabulary:
    """Return the words that the caller gives."""
    expected = 'map each word to "target", "nontarget", "spoof" or "drop"'
    if isinstance(labels, str):
        # As in `bosaris --labels`.
        labels = dict(part.partition("=")[::2] for part in labels.split(","))
    if not isinstance(labels, Mapping) or not labels:
        raise check.invalid("labels", expected, check.describe(labels))
    for word, meaning in labels.items():
        # 1 == True, but whoever writes 1 may mean the word.
        if type(meaning) in (int, float) or meaning not in _CLASSES:
            raise check.invalid("labels", expected, f"{meaning!r} for {word!r}")
    return {kinds.spell(str(word)): _CLASSES[meaning] for word, meaning in labels.items()}


@attrs.frozen(eq=False)
class ReadColumns:
    """The columns of a file that was read, by role or by name."""

    path: Path
    plan: Plan
    lines: AnyArray
    ids: Mapping[str, Texts]
    score: Numbers | None
    extra: Mapping[str, Texts | Numbers]
    # The class of each line, if there are labels.
    classes: IntArray | None

    def table(self, spoof: str, suffix: str = "") -> Table:
        """Return the table, with spoofs as is wanted, of ids without a suffix."""
        columns: dict[str, Column] = {name: each.values() for name, each in self.extra.items()}
        scores = None if self.score is None else self.score.values()
        ids = self._side("model", suffix), self._side("segment", suffix)
        if self.classes is None:
            return Table(*ids, None, scores, columns, self.lines)
        is_spoof, words = self.classes == kinds.SPOOF, self.ids.get("label")
        if is_spoof.any() and spoof != "drop" and words is not None:
            # The words of all labels are kept where spoofs count as non-targets.
            known = Factor.from_values([text.decode().lower() for text in words.codes])
            columns["label"] = known.take(words.all_codes())
        if is_spoof.any() and spoof == "keep":
            columns[kinds.KIND] = kinds.factor_of_kinds(self.classes)
        is_target = mark_read_only(self.classes == kinds.TARGET)
        table = Table(*ids, is_target, scores, columns, self.lines)
        is_dropped = (self.classes == kinds.DROPPED) | (is_spoof & (spoof == "drop"))
        return table.take(~is_dropped) if is_dropped.any() else table

    def _side(self, role: str, suffix: str) -> Factor:
        """Return the models or segments; without a column one model, and numbers of lines."""
        count = self.lines.size
        if role in self.ids:
            factor = self.ids[role].values()
            stripped = [name.removesuffix(suffix) for name in factor.levels.tolist() if suffix]
            if "" in stripped:
                text = f"{self.path}: nothing is left of the {role} {suffix!r}"
                raise errors.FileFormatError(text)
            return Factor.from_values(stripped).take(factor.codes) if suffix else factor
        if role == "model":
            # The same on both sides, however either was told.
            return Factor(np.zeros(count, np.int32), ["all"][:count])
        # No id of another file, where numbers are frequent.
        names = [f"line-{number:0{len(str(count))}}" for number in range(1, 1 + count)]
        return Factor(np.arange(count), np.array(names, dtype=np.str_))


def read_columns(
    path: Path,
    head: Head,
    parts: Iterable[tuple[int, bytes]],
    plan: Plan,
    vocabularies: Sequence[Vocabulary],
    missing: Sequence[str] = (),
    *,
    extra: bool = True,
    max_bytes: int | None = None,
) -> ReadColumns:
    """Read the columns of a file; what is wrong is told with its line."""
    absent = frozenset(word.lower().encode() for word in (*missing, *plan.format.missing.split()))
    ids: dict[str, Texts] = {}
    score: Numbers | None = None
    others: dict[str, Texts | Numbers] = {}
    columns: list[tuple[int, Texts | Numbers]] = []
    for place, (role, name) in enumerate(plan.columns):
        column: Texts | Numbers
        if role == "score":
            column = score = Numbers("score", absent.union([b""] * plan.format.last_optional))
        elif role in ("model", "segment", "label"):
            column = ids[role] = Texts(role)
        elif name == "-" or not extra or (role == "side" and "segment" not in plan.names):
            continue
        elif name in plan.format.numbers:
            column = others[name] = Numbers(name, absent | {b"nan"})
        else:
            column = others[role or name] = Texts(name)
        columns.append((place, column))
    same = [plan.names.index(name) for name in plan.format.same or ()]
    lines: list[Sequence[int]] = []
    classes: list[AnyArray] = []
    room = half_of_memory() if max_bytes is None else max_bytes
    skips = plan.skips_first_line
    first = head.number + skips, head.rest.partition(b"\n")[2] if skips else head.rest
    for line, data in itertools.chain([first], parts):
        cells, numbers = cut(data, line, plan, path)
        lines.append(numbers)
        for place, column in columns:
            new = column.add(cells[place], numbers, path)
            if column is ids.get("label"):
                vocabularies = _known(ids["label"], new, vocabularies, numbers, path)
        if same:
            claimed, real = cells[same[0]], cells[same[1]]
            classes.append(np.fromiter(map(operator.eq, claimed, real), np.uint8, len(real)))
            classes[-1][[name == b"attack" for name in real]] = kinds.SPOOF
        # Of each line numbers, and of each id a text that takes the room of the longest.
        texts = [column for _, column in columns if isinstance(column, Texts)]
        needed = sum((6 * column.longest + 64) * len(column.codes) for column in texts)
        if needed + 16 * len(columns) * sum(map(len, lines)) > room:
            text = f"{path}: takes more memory than `max_bytes`, or half of it"
            raise errors.FileFormatError(text)
    if "label" in ids:
        meanings = [vocabularies[0][kinds.spell(text.decode())] for text in ids["label"].codes]
        classes = [np.array(meanings, np.uint8)[ids["label"].all_codes()]]
    all_lines = np.concatenate([np.asarray(each, np.int64) for each in lines])
    found = np.concatenate(classes) if classes else None
    return ReadColumns(path, plan, all_lines, ids, score, others, found)


def _known(
    column: Texts,
    new: list[bytes],
    vocabularies: Sequence[Vocabulary],
    numbers: Sequence[int],
    path: Path,
) -> Sequence[Vocabulary]:
    """Return the sets of labels that have all new ones, too; raise if there is none."""
    for text in new:
        word = text.decode(errors="replace").lower()
        fitting = [words for words in vocabularies if kinds.spell(word) in words]
        if not fitting:
            expected = " or ".join("|".join([*words][:3]) for words in vocabularies[:2])
            fault = f"labels must be {expected}; found {show(text)}"
            words = sorted(each.decode(errors="replace").lower() for each in column.codes)
            is_known = bool(kinds.classes_of([word])) and not {*words} <= {"0", "1", "2"}
            if formats.Look(column.codes).has_decimals:
                fault += ". Are these scores?"
            elif not is_known and all(words) and (advice := formats.suggest_labels(words)):
                fault += f"; use {advice}"
            else:
                fault += "; is it another format, or are these no labels?"
            raise column.error(text, numbers, path, fault)
        vocabularies = fitting
    return vocabularies


def refuse_conflicts(
    path: FilePath, table: Table, order: TrialOrder, contents: Mapping[str, Factor | AnyArray]
) -> None:
    """Raise if a line lists a trial again with other contents."""
    for name, column in contents.items():
        bad = np.flatnonzero(order.conflicts(column))
        if bad.size and table.lines is not None:
            worst = bad[np.argmin(order.repeated[bad])]
            lines = [int(order.first[worst]), int(order.repeated[worst])]
            values = column.values() if isinstance(column, Factor) else column
            first, second = values[lines].tolist()
            sides = table.models, table.segments
            model, segment = (side.levels[side.codes[lines[0]]] for side in sides)
            text = f"trial {model} {segment} is listed again: its {name} is {second} here and "
            text += f"{first} in line {table.lines[lines[0]]} ({bad.size} such lines)"
            raise line_error(check.as_path(path), int(table.lines[lines[1]]), text)
