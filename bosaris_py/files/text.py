"""Text files of trials: one reader for all formats of `formats.FORMATS`."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, BoolArray, FloatArray, mark_read_only
from bosaris_py._notes import Note
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
from bosaris_py.files.cells import Head, Numbers, Texts, cut, file_parts, line_error, read_head
from bosaris_py.files.columns import (
    DROPPED,
    KIND,
    NONTARGET,
    SPOOF,
    TARGET,
    THIRD_KINDS,
    VOCABULARIES,
    Column,
    Factor,
    TrialOrder,
    Vocabulary,
    factor_of_kinds,
)
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

Columns = str | Sequence[str] | Mapping[str, str | None] | Mapping[str, int]
Labels = Mapping[str, bool | str | None]


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
    lines : (k,) array of int, optional
        The number of each line in its file, from 1.
    notes : tuple of Note
        What is odd about the file.

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
    lines: AnyArray | None = None
    notes: tuple[Note, ...] = ()

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
        return text + (f", columns {', '.join(self.columns)}" if self.columns else "")

    def take(self, lines: npt.ArrayLike) -> Table:
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

        def part(column: AnyArray | None) -> AnyArray | None:
            return None if column is None else mark_read_only(column[chosen])

        columns: dict[str, Column] = {}
        for name, each in self.columns.items():
            if isinstance(each, Factor):
                columns[name] = each.take(chosen)
            else:
                columns[name] = mark_read_only(each[chosen])
        return attrs.evolve(
            self,
            models=_used(self.models.take(chosen)),
            segments=_used(self.segments.take(chosen)),
            is_target=part(self.is_target),
            scores=part(self.scores),
            columns=columns,
            lines=part(self.lines),
        )


def _used(ids: Factor) -> Factor:
    """Leave out the levels that no item has."""
    is_used = ids.counts() > 0
    if is_used.all():
        return ids
    return Factor((np.cumsum(is_used) - 1)[ids.codes], ids.levels[is_used])


# Which column is which


@attrs.frozen
class Plan:
    """How the lines of a file are read: roles and names from left to right."""

    format: Format
    # The role of each column, or None, and its name.
    columns: tuple[tuple[str | None, str], ...]
    # None stands for blanks and tabs.
    separator: bytes | None = None
    skips_first_line: bool = False

    @property
    def names(self) -> list[str]:
        """Roles and names."""
        return [role or name for role, name in self.columns]


def plan_of_names(
    format: Format,
    names: Iterable[str],
    separator: str | None = None,
    *,
    skips_first_line: bool = False,
) -> Plan:
    """Return the plan of columns that have the names of their roles."""
    columns = tuple((name if name in ROLES else None, name) for name in names)
    return Plan(format, columns, separator.encode() if separator else None, skips_first_line)


def format_of_names(names: Sequence[str]) -> Format:
    """Return the format of a file of these columns without a header."""
    return Format("columns", tuple(map(FormatColumn, names)), VOCABULARIES)


def _as_names(columns: object, width: int) -> list[str]:
    """Return columns from left to right, given by names or by a mapping to positions."""
    match columns:
        case str():
            names = columns.replace(",", " ").split()
        case Mapping():
            role_at = {at: role for role, at in columns.items() if at is not None}
            if len(role_at) < len(columns) or not role_at.keys() <= {*range(width)}:
                last = f"each to a position from 0 to {width - 1}"
                expected = f"map roles to names in the header, or {last}"
                raise invalid("columns", expected, repr(dict(columns)))
            names = [role_at.get(at, "-") for at in range(width)]
        case list() | tuple():
            names = [*columns]
        case _:
            raise invalid("columns", "be a list of names", describe(columns))
    if not names or not all(isinstance(name, str) for name in names):
        raise invalid("columns", "be a list of names", describe(columns))
    if repeated := {*repetitions(names)} - {"-"}:
        raise invalid("columns", "name each column once", f"{sorted(repeated)} more than once")
    return names


def _plan_of(
    path: Path, head: Head, format: Format | None, columns: Columns | None, words: Vocabulary | None
) -> Plan:
    """Find out which column is which, or say what the file lacks or has too much."""
    first = head.lines[0]
    separator, cells = cut_header(first)
    to_names = isinstance(columns, Mapping) and not any(type(at) is int for at in columns.values())
    names = None if columns is None or to_names else _as_names(columns, len(cells))
    if format is None and names is not None:
        format = format_of_names(names)
    if format is None:
        to_csv = FORMATS["csv"] if to_names else None
        format = to_csv or detect_lines(head.lines, path, words, head.number)
    if format.has_header:
        return _plan_by_header(path, head, format, columns)
    if to_names:
        hint = "Only files with a header have names to map; give the columns from left to right."
        raise invalid("columns", "be a list of columns", describe(columns), hint)
    first_word = format.first_line.split(" ")[0]
    if first_word and cells[0].lower() != first_word:
        text = f"the first line must begin with {first_word}, found {show(first)}"
        raise line_error(path, head.number, text)
    variants = format.variants if names is None else [tuple(names)]
    width = len(first.split())
    found = [v for v in variants if len(v) in (width, width + format.last_optional)]
    # A table without a header, such as spreadsheets write.
    by_mark = [v for v in variants if separator and len(v) == len(cells)]
    if not found and not by_mark:
        layouts = " or ".join(f"{len(v)} ({' '.join(v)})" for v in variants)
        text = f"expected {layouts} columns, found {width}: {show(first)}"
        raise line_error(path, head.number, text)
    mark = None if found else separator
    return plan_of_names(format, [*found, *by_mark][0], mark, skips_first_line=bool(first_word))


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
    if repeated := repetitions(filter(None, names)):
        text = f"the header names {list_some(repeated)} more than once"
        raise line_error(path, head.number, text)
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


# Tables


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
        The file, in UTF-8, or ``-`` for standard input; decompressed if its name ends in ``.gz``.
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
    check_choice(spoof, ("error", "nontarget", "keep", "drop"), "spoof")
    absent = (missing,) if isinstance(missing, str) else tuple(missing)
    texts: list[tuple[str, object]] = [("strip_suffix", strip_suffix)]
    for name, value in [*texts, *(("missing", word) for word in absent)]:
        if not isinstance(value, str) or value.encode(errors="ignore").decode() != value:
            raise invalid(name, "be text that UTF-8 can encode", describe(value))
    words = None if labels is None else _vocabulary_of(labels)
    chosen = None if format is None else find_format(format)
    file, notes = as_path(path), list[Note]()
    parts = file_parts(file, notes, progress=progress)
    head = read_head(parts)
    if head is None:
        if chosen is None and columns is None:
            detect_lines([], file)
        return Table(Factor([], []), Factor([], []), notes=(*notes, no_line(file)))
    plan = _plan_of(file, head, chosen, columns, words)
    known = plan.format.vocabularies if words is None else (words,)
    found = read_columns(file, head, parts, plan, known, absent, extra=extra, max_bytes=max_bytes)
    if not found.lines.size:
        text = f"{file}: there is no trial below the header; was the file cut off?"
        notes.append(Note(BosarisWarning, text))
    return attrs.evolve(found.table(spoof, strip_suffix), notes=tuple(notes))


def no_line(path: Path) -> Note:
    """Say that a file is empty."""
    return Note(BosarisWarning, f"{path}: there is no line in this file; was it cut off?")


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
    head = read_head(file_parts(file, []))
    return detect_lines([] if head is None else head.lines, file).name


_CLASSES: dict[object, int] = {True: TARGET, False: NONTARGET, None: DROPPED, "spoof": SPOOF}
_CLASSES |= {"target": TARGET, "nontarget": NONTARGET}


def _vocabulary_of(labels: object) -> Vocabulary:
    """Return the words that the caller gives."""
    expected = 'map each word to True, False, "spoof" or None (to leave the line out)'
    if not isinstance(labels, Mapping) or not labels:
        raise invalid("labels", expected, describe(labels))
    for word, meaning in labels.items():
        # 1 == True, but whoever writes 1 may mean the word.
        if type(meaning) in (int, float) or meaning not in _CLASSES:
            raise invalid("labels", expected, f"{meaning!r} for {word!r}")
    return {str(word).lower(): _CLASSES[meaning] for word, meaning in labels.items()}


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
    classes: npt.NDArray[np.uint8] | None

    def table(self, spoof: str, suffix: str = "") -> Table:
        """Return the table, with spoofs as is wanted, of ids without a suffix."""
        columns: dict[str, Column] = {name: each.values() for name, each in self.extra.items()}
        scores = None if self.score is None else self.score.values()
        ids = self._side("model", suffix), self._side("segment", suffix)
        if self.classes is None:
            return Table(*ids, None, scores, columns, self.lines)
        is_spoof = self.classes == SPOOF
        if spoof == "error" and is_spoof.any():
            text = (
                f"the trial is a {THIRD_KINDS[0].noun} ({np.count_nonzero(is_spoof)} in all), "
                "neither target nor non-target. They can be dropped, kept, or count as non-targets."
            )
            raise line_error(self.path, int(self.lines[np.argmax(is_spoof)]), text, spoof="drop")
        if is_spoof.any() and spoof != "drop" and "label" in self.ids:
            # The words of all labels are kept where spoofs count as non-targets.
            words = Factor.from_values([text.decode().lower() for text in self.ids["label"].codes])
            columns["label"] = words.take(self.ids["label"].all_codes())
        if spoof == "keep":
            columns[KIND] = factor_of_kinds(self.classes)
        is_target = mark_read_only(self.classes == TARGET)
        table = Table(*ids, is_target, scores, columns, self.lines)
        is_dropped = (self.classes == DROPPED) | (is_spoof & (spoof == "drop"))
        return table.take(~is_dropped) if is_dropped.any() else table

    def _side(self, role: str, suffix: str) -> Factor:
        """Return the models or segments; without a column one model, and numbers of lines."""
        count = self.lines.size
        if role in self.ids:
            factor = self.ids[role].values()
            if not suffix:
                return factor
            stripped = [name.removesuffix(suffix) for name in factor.levels.tolist()]
            if "" in stripped:
                fault = f"{self.path}: nothing is left of the {role} {suffix!r}"
                raise FileFormatError(fault)
            return Factor.from_values(stripped).take(factor.codes)
        if role == "model":
            return Factor(np.zeros(count, np.int32), [self.plan.format.model_id][:count])
        width = len(str(count))
        names = [f"{number:0{width}}" for number in range(1, 1 + count)]
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
    absent = frozenset(word.lower().encode() for word in (plan.format.missing, *missing) if word)
    ids: dict[str, Texts] = {}
    score: Numbers | None = None
    others: dict[str, Texts | Numbers] = {}
    columns: list[tuple[int, Texts | Numbers]] = []
    for place, (role, name) in enumerate(plan.columns):
        column: Texts | Numbers
        if role == "score":
            column = score = Numbers(
                "score", absent | ({b""} if plan.format.last_optional else set())
            )
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
    first = (head.number, head.rest)
    if plan.skips_first_line:
        first = (head.number + 1, head.rest.partition(b"\n")[2])
    for line, data in itertools.chain([first], parts):
        optional = plan.format.last_optional
        cells, numbers = cut(data, line, plan.names, plan.separator, path, last_optional=optional)
        lines.append(numbers)
        for place, column in columns:
            new = column.add(cells[place], numbers, path)
            if column is ids.get("label"):
                vocabularies = _known(ids["label"], new, vocabularies, numbers, path)
        if same:
            claimed, real = cells[same[0]], cells[same[1]]
            classes.append(np.fromiter(map(operator.eq, claimed, real), np.uint8, len(real)))
            classes[-1][[name == b"attack" for name in real]] = SPOOF
        # Of each line numbers, and of each id a text that takes the room of the longest.
        texts = [column for _, column in columns if isinstance(column, Texts)]
        needed = sum((6 * column.longest + 64) * len(column.codes) for column in texts)
        if needed + 16 * len(columns) * sum(map(len, lines)) > room:
            text = "takes more memory than `max_bytes`, by default half of the memory"
            raise FileFormatError(f"{path}: {text}")
    if "label" in ids:
        meanings = [vocabularies[0][text.decode().lower()] for text in ids["label"].codes]
        classes = [np.array(meanings, np.uint8)[ids["label"].all_codes()]]
    found = np.concatenate(classes) if classes else None
    all_lines = np.concatenate([np.asarray(each, np.int64) for each in lines])
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


def refuse_conflicts(
    path: FilePath, table: Table, order: TrialOrder, contents: Mapping[str, Factor | AnyArray]
) -> None:
    """Raise if a line lists a trial again with other contents."""
    for name, column in contents.items():
        bad = np.flatnonzero(order.conflicts(column))
        if bad.size and table.lines is not None:
            worst = bad[np.argmin(order.repeated[bad])]
            lines = [int(order.first[worst]), int(order.repeated[worst])]
            columns = {"m": table.models, "s": table.segments, name: column}
            part = Table(table.models, table.segments, columns=columns).take(lines).columns
            (model, _), (segment, _), (first, second) = (
                (each.values() if isinstance(each, Factor) else each).tolist()
                for each in part.values()
            )
            text = f"trial {model} {segment} is listed again: its {name} is {second} here and "
            text += f"{first} in line {table.lines[lines[0]]} ({bad.size} such lines)"
            raise line_error(as_path(path), int(table.lines[lines[1]]), text)
