"""Text files of trials: one reader for all formats of `formats.FORMATS`."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import BoolArray, FloatArray, mark_read_only
from bosaris_py._notes import warn_caller
from bosaris_py._validation import (
    FilePath,
    as_path,
    check_choice,
    describe,
    invalid,
    list_some,
    repetitions,
)
from bosaris_py.errors import BosarisWarning, FileFormatError
from bosaris_py.files.cells import Layout, Numbers, Texts, cut, file_parts, line_error
from bosaris_py.files.columns import Column, Factor
from bosaris_py.files.formats import (
    FORMATS,
    ROLES,
    Format,
    FormatColumn,
    cut_header,
    detect_lines,
    find_format,
    show,
)
from bosaris_py.files.hdf5 import half_of_memory
from bosaris_py.files.labels import (
    DROPPED,
    KIND,
    NONTARGET,
    SPOOF,
    TARGET,
    THIRD_KINDS,
    VOCABULARIES,
    Vocabulary,
    factor_of_kinds,
)

Columns = str | Sequence[str] | Mapping[str, str | None] | Mapping[str, int]
Labels = Mapping[str, bool | str | None]

# What all else is found out from.
_LONGEST_FIRST_LINE, _MOST_COLUMNS = 2**18, 10_000
# Memory for each byte of a part that is cut: an object for each cell.
_BYTES_OF_LETTER = 12


@attrs.frozen(eq=False, repr=False)
class Table:
    """The lines of a text file, in their order, as columns.

    Nothing is sorted out yet: lines that are repeated are all there, and scores may be missing.

    Parameters
    ----------
    models, segments : Factor
        Model and test segment of each line.
    is_target : (k,) array of bool, optional
        Which lines are targets; None if the file has no labels.
    scores : (k,) array of float, optional
        The scores, NaN where a line has none; None if the file has no scores.
    columns : mapping of str to Factor or (k,) array of float
        The other columns by name.
    lines : sequence of sequences of int, optional
        Numbers of the lines in their file, in parts.

    Examples
    --------
    >>> from bosaris_py.files.columns import Factor
    >>> table = Table(Factor.from_values(["anna", "bert"]), Factor.from_values(["s1", "s1"]))
    >>> table
    Table: 2 lines, 2 models x 1 segments
    >>> table.take([1]).models.values()
    array(['bert'], dtype='<U4')
    """

    models: Factor
    segments: Factor
    is_target: BoolArray | None = None
    scores: FloatArray | None = None
    columns: Mapping[str, Column] = attrs.field(factory=dict)
    _lines: Sequence[Sequence[int]] = ()

    def __len__(self) -> int:
        """Return the number of lines."""
        return len(self.models)

    def __repr__(self) -> str:
        """Return the counts in one line."""
        sizes = self.models.levels.size, self.segments.levels.size
        text = f"Table: {len(self)} lines, {sizes[0]} models x {sizes[1]} segments"
        if self.is_target is not None:
            n_tar = int(np.count_nonzero(self.is_target))
            text += f", {n_tar} targets, {len(self) - n_tar} non-targets"
        if self.scores is not None:
            text += f", {np.count_nonzero(~np.isnan(self.scores))} scores"
        if self.columns:
            text += f", columns {', '.join(self.columns)}"
        return text

    def factor(self, name: str) -> Factor:
        """Return a column of text.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        Factor
            The text of each line.
        """
        column = self.columns.get(name)
        if not isinstance(column, Factor):
            raise invalid("name", "name a column of text", describe(name))
        return column

    def take(self, lines: npt.ArrayLike) -> "Table":
        """Return a table of other lines, given by positions or by a mask.

        Ids of models and segments that occur no more are left out.

        Parameters
        ----------
        lines : (m,) array of int, or (k,) array of bool
            The lines to take.

        Returns
        -------
        Table
            The table of these lines.
        """
        chosen = np.asarray(lines)
        chosen = chosen if chosen.dtype == np.bool_ else chosen.astype(np.intp)

        def taken(column: Any) -> Any:
            if column is None or isinstance(column, Factor):
                return None if column is None else column.take(chosen)
            return mark_read_only(column[chosen])

        return Table(
            _used(self.models.take(chosen)),
            _used(self.segments.take(chosen)),
            taken(self.is_target),
            taken(self.scores),
            {name: taken(column) for name, column in self.columns.items()},
        )

    def line_number(self, line: int) -> int:
        """Return in which line of its file a line of the table is.

        Parameters
        ----------
        line : int
            Position in the table.

        Returns
        -------
        int
            Number of the line in the file; the first one is 1.
        """
        for numbers in self._lines:
            if line < len(numbers):
                return numbers[line]
            line -= len(numbers)
        raise IndexError(line)


def _used(ids: Factor) -> Factor:
    """Leave out the levels that no item has."""
    is_used = ids.counts() > 0
    return (
        ids if is_used.all() else Factor((np.cumsum(is_used) - 1)[ids.codes], ids.levels[is_used])
    )


@attrs.frozen
class Head:
    """The first part of a file that is not blank, from its first line that is not."""

    number: int
    lines: list[bytes]
    rest: bytes

    @classmethod
    def of(cls, parts: Iterable[tuple[int, bytes]], path: Path) -> "Head | None":
        """Take parts until one holds such a line; None if there is none."""
        for line, data in parts:
            n_blank = len(data) - len(data.lstrip())
            if n_blank == len(data):
                continue
            begin = data.rfind(b"\n", 0, n_blank) + 1
            number = line + data.count(b"\n", 0, begin)
            end = data.find(b"\n", begin, begin + _LONGEST_FIRST_LINE)
            # Before anything makes an object of each column.
            if (
                end < 0
                or max(map(data[begin:end].count, (b" ", b"\t", b",", b";"))) > _MOST_COLUMNS
            ):
                limits = f"{_LONGEST_FIRST_LINE} bytes or {_MOST_COLUMNS} columns"
                text = f"a first line of more than {limits}; this is no table of trials"
                raise line_error(path, number, text)
            lines = data[begin:].split(b"\n", 1000)[:1000]
            return cls(number, [each for each in lines if each.strip()], data[begin:])
        return None

    def below(self) -> tuple[int, bytes]:
        """Return the part without its first line."""
        return self.number + 1, self.rest.partition(b"\n")[2]


# Reading: which column is which


@attrs.frozen
class Plan:
    """How the lines of a file are read: roles and names from left to right."""

    format: Format
    # The role of each column, or None, and its name.
    columns: tuple[tuple[str | None, str], ...]
    # None stands for blanks and tabs.
    separator: bytes | None = None
    skips_first_line: bool = False

    @classmethod
    def of_names(cls, format: Format, names: Iterable[str], **how: Any) -> "Plan":
        """Return the plan of columns that have the names of their roles."""
        return cls(format, tuple((n if n in ROLES else None, n) for n in names), **how)

    @property
    def names(self) -> list[str]:
        """Roles and names."""
        return [role or name for role, name in self.columns]


def _as_names(columns: Any) -> tuple[str, ...]:
    """Return columns from left to right, checked."""
    listed = columns if hasattr(columns, "__iter__") else [columns]
    names = tuple(columns.replace(",", " ").split() if isinstance(columns, str) else listed)
    if not all(isinstance(name, str) for name in names):
        raise invalid("columns", "be a list of names", describe(columns))
    repeated = set(repetitions(names)) - {"-"}
    if not names or repeated:
        found = f"{sorted(repeated)} more than once" if repeated else "none"
        raise invalid("columns", "name each column once", found)
    return names


def _by_position(columns: Columns, head: Head) -> Columns:
    """Return columns; those of a mapping to positions from left to right."""
    if not isinstance(columns, Mapping) or not any(isinstance(at, int) for at in columns.values()):
        return columns
    width = len(cut_header(head.lines[0])[1])
    role_at: dict[Any, str] = {at: role for role, at in columns.items() if at is not None}
    if len(role_at) < len(columns) or not role_at.keys() <= {*range(width)}:
        expected = f"map roles to names in the header, or each to a position from 0 to {width - 1}"
        raise invalid("columns", expected, repr(dict(columns)))
    return [role_at.get(at, "-") for at in range(width)]


def _plan_of(
    path: Path, head: Head, format: Format | None, columns: Columns | None, words: Any
) -> Plan:
    """Find out which column is which, or say what the file lacks or has too much."""
    columns = None if columns is None else _by_position(columns, head)
    if format is None:
        if columns is None:
            format = detect_lines(head.lines, path, words, head.number)
        elif isinstance(columns, Mapping):
            format = FORMATS["csv"]
        else:
            named = tuple(map(FormatColumn, _as_names(columns)))
            format = Format("columns", " ".join(_as_names(columns)), named, VOCABULARIES)
    if format.has_header:
        return _plan_by_header(path, head, format, columns)
    if isinstance(columns, Mapping):
        hint = "Only files with a header have names to map; give the columns from left to right."
        raise invalid("columns", "be a list of columns", describe(columns), hint)
    first = head.lines[0]
    separator, cells = cut_header(first)
    first_word = format.first_line.split(" ")[0]
    if first_word and cells[0].lower() != first_word:
        text = f"the first line must begin with {first_word}, found {show(first)}"
        raise line_error(path, head.number, text)
    variants = format.variants if columns is None else [_as_names(columns)]
    width = len(first.split())
    found = [v for v in variants if len(v) in (width, width + format.last_optional)]
    if found:
        separator = None
    else:  # a table without a header, such as spreadsheets write
        found = [v for v in variants if separator and len(v) == len(cells)]
    if not found:
        layouts = " or ".join(f"{len(v)} ({' '.join(v)})" for v in variants)
        text = f"expected {layouts} columns, found {width}: {show(first)}"
        raise line_error(path, head.number, text)
    mark = separator.encode() if separator else None
    return Plan.of_names(format, found[0], separator=mark, skips_first_line=bool(first_word))


def _plan_by_header(path: Path, head: Head, format: Format, columns: Columns | None) -> Plan:
    """Find the columns by the names in the first line."""
    given = {} if columns is None else columns
    if not isinstance(given, Mapping) or not given.keys() <= {*ROLES}:
        expected = f"map {', '.join(ROLES)} to names in the header; other columns keep their names"
        hint = 'For instance {"model": "enroll", "score": "llr"}.'
        raise invalid("columns", expected, describe(columns), hint)
    separator, names = cut_header(head.lines[0])
    if separator and not names[-1] and len(head.lines) > 1:
        # Hyperion's lists of trials: a separator too many, and no column below it.
        names = names[: max(len(cut_header(head.lines[1])[1]), len(names) - 1)]
    repeated = repetitions(filter(None, names))
    if repeated:
        raise line_error(
            path, head.number, f"the header names {list_some(repeated)} more than once"
        )
    lower = [name.lower() for name in names]
    roles: dict[int, str] = {}
    for role in ROLES:
        name = given.get(role)
        wanted = format.header.get(role, ()) if role not in given else (str(name),) * bool(name)
        at = next((lower.index(w.lower()) for w in wanted if w.lower() in lower), None)
        if at is not None and at not in roles:
            roles[at] = role
        elif name is not None or (role in format.required and role not in given):
            raise FileFormatError(
                f"{path}: no column {' or '.join(wanted)} for the {role}s in the first line; its "
                f"columns are {list_some(names, 20)}"
            )
    # Nobody could ask for a column without a name.
    found = tuple((roles.get(at), name or "-") for at, name in enumerate(names))
    return Plan(format, found, separator.encode() if separator else None, skips_first_line=True)


# Reading: tables


def read_table(
    path: FilePath,
    format: str | None = None,
    *,
    columns: Columns | None = None,
    labels: Labels | None = None,
    spoof: str = "error",
    missing: str | Sequence[str] = (),
    strip_suffix: str = "",
    extra: bool = True,
    max_bytes: int | None = None,
    progress: bool = False,
) -> Table:
    r"""Read a trial list, a key or scores from one of the text formats of the field.

    Parameters
    ----------
    path : str or path-like
        The file, in UTF-8; decompressed if its name ends in ``.gz``.
    format : str, optional
        Name of the format, one of `formats.FORMATS`. By default it is found out from the first
        thousand lines.
    columns : str, sequence of str, or mapping, optional
        What the columns are. For files without a header, from left to right, for instance ``"label
        model segment"``: ``model``, ``segment``, ``side``, ``label``, ``score``, ``-`` for a column
        that is not read, other names for extra columns. For files with a header, the names of the
        columns that have another name than usual, for instance ``{"model": "enroll", "score":
        "cosine"}``; None says that there is no such column. For files without a header a mapping
        may have positions, ``{"model": 1, "segment": 0, "score": 4}``; others are not read.
    labels : mapping of str to bool, str or None, optional
        What the labels mean, if they are not those of the format: True for targets, False for
        non-targets, ``"spoof"``, or None for lines to be left out.
    spoof : {"error", "nontarget", "keep", "drop"}, default: "error"
        What to do with trials of the third class. Where they become non-targets the words of all
        labels are kept in the column ``label``. "keep" also adds a column ``kind`` of the words
        target, nontarget and spoof, which the metrics of three classes need.
    missing : str or sequence of str, optional
        What stands for a missing number, besides what the format says; in any case of letters.
    strip_suffix : str, optional
        Taken off the end of models and segments, for instance ``".wav"``.
    extra : bool, default: True
        Read the extra columns.
    max_bytes : int, optional
        Refuse a file whose contents would take more memory than this; by default half of the
        memory of the machine.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    Table
        All lines in the order of the file. If it has no column of models, they are all of one
        model; if it has no segments, the lines are numbered.

    Raises
    ------
    FileFormatError
        If the file is not what the format says, with the number of the line; if labels are not
        known; if a score is NaN; or if several formats would fit.

    Warns
    -----
    BosarisWarning
        If there is no trial in the file.

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
    check_choice(spoof, ("error", "nontarget", "keep", "drop"), "spoof")
    absent = (missing,) if isinstance(missing, str) else tuple(missing)
    texts: list[tuple[str, object]] = [("strip_suffix", strip_suffix)]
    for name, value in [*texts, *(("missing", word) for word in absent)]:
        if not isinstance(value, str) or value.encode(errors="ignore").decode() != value:
            raise invalid(name, "be text that UTF-8 can encode", describe(value))
    words = None if labels is None else _vocabulary_of(labels)
    chosen = None if format is None else find_format(format)
    file = as_path(path)
    parts = file_parts(file, progress=progress)
    head = Head.of(parts, file)
    if head is None:
        if chosen is None and columns is None:
            detect_lines([], file)
        warn_caller(f"{file}: there is no line in this file; was it cut off?", BosarisWarning)
        return Table(Factor([], []), Factor([], []))
    plan = _plan_of(file, head, chosen, columns, words)
    known = plan.format.vocabularies if words is None else (words,)
    found = read_columns(file, head, parts, plan, known, absent, extra=extra, max_bytes=max_bytes)
    if not found.count:
        message = f"{file}: there is no trial below the header; was the file cut off?"
        warn_caller(message, BosarisWarning)
    return found.table(spoof, strip_suffix)


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
    A file with a header has the format of which most columns are named in it. Without
    one, a format fits if it has that number of columns and each of them looks right:

    - a score if all are numbers, but not only 1, 0 and -1;
    - a label if all are words of one vocabulary of the format;
    - an id unless all are numbers with a decimal point, or all are labels;
    - a gender if all are F or M.

    Columns are what lies between blanks; where no format fits, between tabs, commas or semicolons,
    as in a table that was written without its header.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py.files.text import detect_format
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("0.731 anna/1.wav s1.wav\n-0.2 bert/1.wav s1.wav\n")
    >>> detect_format(path)
    'voxceleb-scores'
    """
    file = as_path(path)
    head = Head.of(file_parts(file), file)
    return detect_lines([] if head is None else head.lines, file).name


_CLASSES: dict[object, int] = {True: TARGET, False: NONTARGET, None: DROPPED, "spoof": SPOOF}
_CLASSES |= {"target": TARGET, "nontarget": NONTARGET}


def _vocabulary_of(labels: Labels) -> Vocabulary:
    """Return the words that the caller gives."""
    expected = 'map each word to True, False, "spoof" or None (to leave the line out)'
    given: object = labels
    if not isinstance(given, Mapping) or not given:
        raise invalid("labels", expected, describe(labels))
    for word, meaning in given.items():
        # 1 == True, but whoever writes 1 may mean the word.
        if not isinstance(meaning, bool | str | None) or meaning not in _CLASSES:
            raise invalid("labels", expected, f"{meaning!r} for {word!r}")
    return {str(word).lower(): _CLASSES[meaning] for word, meaning in labels.items()}


@attrs.define(eq=False)
class _Read:
    """The columns of a file that was read."""

    path: Path
    plan: Plan
    count: int
    lines: list[Sequence[int]]
    roles: dict[str, Any]
    extra: dict[str, Any]
    # The class of each word of labels, in lower case.
    words: Vocabulary
    # Of formats that tell classes by equal columns.
    classes: list[npt.NDArray[np.uint8]]

    def table(self, spoof: str, suffix: str = "") -> Table:
        """Return the table, with spoofs as is wanted, of ids without a suffix."""
        classes = self._classes()
        columns = {
            name: column.values() if isinstance(column, Numbers) else column.factor()
            for name, column in self.extra.items()
        }
        scores = self.roles["score"].values() if "score" in self.roles else None
        table = Table(
            self._ids("model", suffix),
            self._ids("segment", suffix),
            None,
            scores,
            columns,
            self.lines,
        )
        if classes is None:
            return table
        is_spoof = classes == SPOOF
        if spoof == "error" and is_spoof.any():
            text = (
                f"the trial is a {THIRD_KINDS[0].noun} ({np.count_nonzero(is_spoof)} in all), "
                "neither target nor non-target. They can be dropped, kept, or count as non-targets."
            )
            raise line_error(
                self.path, table.line_number(int(np.argmax(is_spoof))), text, spoof="drop"
            )
        if is_spoof.any() and spoof != "drop" and "label" in self.roles:
            # The words of all labels are kept where spoofs count as non-targets.
            lower = [text.decode().lower() for text in self.roles["label"].codes]
            levels, rank = np.unique(np.array(lower), return_inverse=True)
            columns["label"] = Factor(rank[self.roles["label"].all_codes()], levels)
        if spoof == "keep":
            columns[KIND] = factor_of_kinds(classes)
        table = attrs.evolve(table, is_target=mark_read_only(classes == TARGET))
        is_dropped = (classes == DROPPED) | (is_spoof & (spoof == "drop"))
        return table.take(~is_dropped) if is_dropped.any() else table

    def _classes(self) -> npt.NDArray[np.uint8] | None:
        """Return the class of each line."""
        if "label" in self.roles:
            label = self.roles["label"]
            meaning = [self.words[text.decode().lower()] for text in label.codes]
            classes: npt.NDArray[np.uint8] = np.array(meaning, dtype=np.uint8)[label.all_codes()]
            return classes
        return np.concatenate(self.classes) if self.classes else None

    def _ids(self, role: str, suffix: str) -> Factor:
        """Return the models or segments; without a column one model, and numbers of lines."""
        if role in self.roles:
            factor: Factor = self.roles[role].factor()
            if not suffix:
                return factor
            stripped = [name.removesuffix(suffix) for name in factor.levels.tolist()]
            if "" in stripped:
                fault = f"{self.path}: nothing is left of the {role} {suffix!r}"
                raise FileFormatError(fault)
            found = Factor.from_values(stripped)
            return Factor(found.codes[factor.codes], found.levels)
        if role == "model":
            return Factor(np.zeros(self.count, np.int32), [self.plan.format.model_id][: self.count])
        width = len(str(self.count))
        names = [f"{number:0{width}}" for number in range(1, 1 + self.count)]
        return Factor(np.arange(self.count), np.array(names, dtype=np.str_))


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
) -> _Read:
    """Read the columns of a file; what is wrong is told with its line."""
    absent = frozenset(word.lower().encode() for word in (plan.format.missing, *missing) if word)
    roles: dict[str, Any] = {}
    others: dict[str, Any] = {}
    at: dict[int, int] = {}
    column: Texts | Numbers
    for place, (role, name) in enumerate(plan.columns):
        if role == "score":
            none = {b""} if plan.format.last_optional else set()
            roles[role] = column = Numbers("score", absent | none)
        elif role in ("model", "segment", "label"):
            roles[role] = column = Texts(role)
        elif name == "-" or not extra or (role == "side" and "segment" not in plan.names):
            continue
        elif name in plan.format.numbers:
            others[name] = column = Numbers(name, absent | {b"nan"})
        else:
            others[role or name] = column = Texts(name)
        at[id(column)] = place
    columns = [*roles.values(), *others.values()]
    same = [plan.names.index(name) for name in plan.format.same or ()]
    read = _Read(path, plan, 0, [], roles, others, {}, [])
    layout = Layout(plan.names, plan.separator, plan.format.last_optional)
    largest, limit = 0, None
    first = head.below() if plan.skips_first_line else (head.number, head.rest)
    for line, data in itertools.chain([first], parts):
        cells, numbers = cut(data, line, layout, path)
        read.count += len(numbers)
        read.lines.append(numbers)
        for column in columns:
            new = column.add(cells[at[id(column)]], numbers, path)
            if column is roles.get("label"):
                vocabularies = _known(roles["label"], new or [], vocabularies, numbers, path)
        if same:
            claimed, real = cells[same[0]], cells[same[1]]
            classes = np.fromiter(map(operator.eq, claimed, real), np.uint8, len(real))
            classes[[name == b"attack" for name in real]] = SPOOF
            read.classes.append(classes)
        largest = max(largest, _BYTES_OF_LETTER * len(data))
        texts = [column for column in columns if isinstance(column, Texts)]
        needed = 16 * len(columns) * read.count + largest
        needed += sum((6 * column.longest + 64) * len(column.codes) for column in texts)
        limit = refuse_memory(path, needed, limit or max_bytes, "the lines")
    read.words = vocabularies[0] if vocabularies else {}
    return read


def refuse_memory(path: Path, needed: int, limit: int | None, what: str) -> int | None:
    """Raise if a file needs more memory than a limit; return it."""
    # What is small is harmless; finding out the limit takes as long as reading a small file.
    if limit is None and needed > 2**26:
        limit = half_of_memory()
    if limit is not None and needed > limit:
        text = f"{path}: {what} needs {needed:,} bytes of memory, `max_bytes` allows"
        raise FileFormatError(f"{text} {limit:,}; by default half of the memory")
    return limit


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
        fitting = [words for words in vocabularies if word in words]
        if not fitting:
            expected = " or ".join("|".join(words) for words in vocabularies)
            fault = f"labels must be {expected}; found {show(text)}."
            others = ["|".join(words) for words in VOCABULARIES if word in words]
            use: dict[str, str | None] = {"labels": None}
            if others and others[0] not in expected:
                fault += f" It looks like {others[0]}: is it another format?"
            elif word.lstrip("+-").replace(".", "", 1).isdigit():
                fault, use = f"{fault} Are these scores?", {}
            raise column.error(text, numbers, path, fault, **use)
        vocabularies = fitting
    return vocabularies
