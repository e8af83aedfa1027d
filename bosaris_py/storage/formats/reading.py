"""Read any of the text formats into a `TrialTable`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypedDict, Unpack

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.storage.tokens as tokens
from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    Int32Array,
    StrArray,
    mark_read_only,
)
from bosaris_py._cautions import warn_caller
from bosaris_py._validation import FilePath, as_path, describe, invalid, list_some, one_of
from bosaris_py.errors import BosarisWarning, FileFormatError, TrialMismatchError
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.formats.catalogue import (
    KIND,
    LABEL,
    MODEL,
    NON_TARGET_KINDS,
    SCORE,
    SEGMENT,
    SIDE,
    SKIPPED,
    THIRD_KINDS,
    VOCABULARIES,
    TrialClass,
    Vocabulary,
    classes_are_third,
    factor_of_kinds,
    find_format,
)
from bosaris_py.storage.formats.detection import detect_in
from bosaris_py.storage.formats.reading_plan import (
    Columns,
    ReadingPlan,
    check_names,
    format_of_columns,
    listed,
    make_plan,
)
from bosaris_py.storage.memory import MemoryBudget, within_memory
from bosaris_py.storage.text import formatter, row_slices, write_parts
from bosaris_py.storage.trial_table import ExtraColumn, TrialTable

Labels = Mapping[str, bool | str | None]

# One word of eight bytes.
_LONGEST_MISSING = 8

# A column with more unknown words is no column of labels; the rest need not be read.
_MANY_UNKNOWN = 20

# A part of a file has so many lines, about 25 MB of memory: few parts, few times the same ids.
_LINES_OF_PART = 2**18


class TextOptions(TypedDict, total=False):
    """What `read_table` makes of the texts in the lines."""

    spoof: str
    side: str
    strip_suffix: str | Sequence[str]
    missing: str | Sequence[str]


class ReadOptions(TextOptions, total=False):
    """Keywords of `read_table` that other readers pass on."""

    columns: Columns | None
    labels: Labels | None
    numbers: Sequence[str]
    extra: Sequence[str] | None
    max_bytes: int | None
    progress: bool


def read_table(
    path: FilePath,
    format: str | None = None,
    *,
    columns: Columns | None = None,
    labels: Labels | None = None,
    numbers: Sequence[str] = (),
    extra: Sequence[str] | None = None,
    max_bytes: int | None = None,
    progress: bool = False,
    **texts: Unpack[TextOptions],
) -> TrialTable:
    r"""Read a trial list, a key or scores from one of the text formats of the field.

    Parameters
    ----------
    path : str or path-like
        The file, in UTF-8; decompressed if its name ends in ``.gz``.
    format : str, optional
        Name of the format, one of ``FORMATS``. By default it is found out from the first thousand
        lines.
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
    numbers : sequence of str, optional
        Extra columns that hold numbers, not categories.
    extra : sequence of str, optional
        The extra columns to keep; all by default.
    max_bytes : int, optional
        Refuse a file whose contents would take more memory than this.
    progress : bool, optional
        Show a progress bar.
    **texts
        ``spoof``, {"error", "nontarget", "keep", "drop"}: what to do with trials of the third
        class. Where they become non-targets the words of all labels are kept in the column
        ``label``. "keep" adds a column ``kind`` of the words target, nontarget and spoof, which the
        metrics of three classes need.

        ``side``, {"column", "join", "ignore"}: what to do with a column of sides, the channels of a
        telephone call. It is kept as an extra column, joined to the segment as in ``segment:a``, or
        left out.

        ``strip_suffix``, str or sequence of str: taken off the end of models and segments, for
        instance ``".wav"``; of several the first that fits.

        ``missing``, str or sequence of str: what stands for a missing number, besides what the
        format says; in any case of letters, at most eight of them.

    Returns
    -------
    TrialTable
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
    >>> from bosaris_py.storage.formats import read_table
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trials.txt"
    >>> _ = path.write_text("1 anna/1.wav s1.wav\n0 bert/1.wav s1.wav\n")
    >>> table = read_table(path, strip_suffix=".wav")
    >>> table.model_ids().tolist(), table.is_target.tolist()
    (['anna/1', 'bert/1'], [True, False])
    """
    (table,) = _read_parts(
        path,
        format,
        in_parts=False,
        columns=columns,
        labels=labels,
        numbers=numbers,
        extra=extra,
        max_bytes=max_bytes,
        progress=progress,
        **texts,
    )
    return table


def read_parts(
    path: FilePath, format: str | None = None, **options: Unpack[ReadOptions]
) -> Iterator[TrialTable]:
    """Read a file as `read_table` does, and give its lines some hundred thousand at a time.

    The tables have the same columns. There is one table where columns, words of labels or numbers
    of segments depend on all lines. So it is without segments, and if spoofs become non-targets or
    are kept.
    """
    return _read_parts(path, format, in_parts=True, **options)


def _read_parts(
    path: FilePath,
    format: str | None,
    *,
    in_parts: bool,
    columns: Columns | None = None,
    labels: Labels | None = None,
    numbers: Sequence[str] = (),
    extra: Sequence[str] | None = None,
    max_bytes: int | None = None,
    progress: bool = False,
    **texts: Unpack[TextOptions],
) -> Iterator[TrialTable]:
    """Give the table of a file, or the tables of its parts."""
    options = _Options(numbers, extra, **texts)
    file_path = as_path(path)
    with within_memory(path):
        budget = MemoryBudget(file_path, max_bytes)
        blocks = tokens.read_blocks(file_path, budget, progress=progress)
        first = tokens.FirstLine.of(blocks, file_path)
        vocabulary = None if labels is None else _vocabulary_of(labels)
        columns = None if columns is None else listed(columns, first)
        if format is not None:
            trial_format = find_format(format)
        elif columns is None:
            trial_format = detect_in(first, file_path, vocabulary)
        elif isinstance(columns, Mapping):
            trial_format = find_format("csv")
        else:
            trial_format = format_of_columns(columns)
        if first is None:
            message = f"{file_path}: there is no line in this file; was it cut off?"
            warn_caller(message, BosarisWarning)
            yield TrialTable([], [], [], [])
            return
        plan = make_plan(file_path, trial_format, first, columns)
        reader = _Reader(
            plan,
            trial_format.vocabularies if vocabulary is None else (vocabulary,),
            options,
            tokens.LineNumbers(file_path),
            budget,
        )
        head = first.number, first.text + b"\n" + first.rest
        if plan.skips_first_line:
            head = first.number + 1, first.rest
        in_parts = in_parts and reader.has_alike_parts()
        for line, data in itertools.chain([head], blocks):
            if in_parts and reader.numbers.count >= _LINES_OF_PART:
                reader.told = "in a part of the file"
                yield reader.table()
                reader = reader.successor()
            reader.add(tokens.cut_lines(data, line, plan.layout, reader.numbers))
        if not reader.numbers.count and reader.told == "in all":
            message = f"{file_path}: there is no trial below the header; was the file cut off?"
            warn_caller(message, BosarisWarning)
        yield reader.table()


def _as_texts(value: object) -> tuple[object, ...]:
    """Return one or more texts as a tuple; what is no text is refused later."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return (value,)
    return tuple(value)


@attrs.frozen
class _Options:
    """Arguments of `read_table`, checked."""

    numbers: Sequence[str]
    extra: Sequence[str] | None
    spoof: str = attrs.field(
        default="error", validator=one_of(("error", "nontarget", "keep", "drop"))
    )
    side: str = attrs.field(default="column", validator=one_of(("column", "join", "ignore")))
    strip_suffix: tuple[str, ...] = attrs.field(default=(), converter=_as_texts)
    missing: tuple[str, ...] = attrs.field(default=(), converter=_as_texts)

    def __attrs_post_init__(self) -> None:
        """Check the others."""
        for name in ("numbers", "strip_suffix", "missing"):
            check_names(getattr(self, name), name)
        if self.extra is not None:
            check_names(self.extra, "extra")
        if "" in self.strip_suffix:
            raise invalid("strip_suffix", "not be empty", "''")
        long = [text for text in self.missing if len(text.encode()) > _LONGEST_MISSING]
        if long:
            expected = f"have at most {_LONGEST_MISSING} letters"
            raise invalid("missing", expected, list_some(map(repr, long)))


_CLASSES: dict[bool | str | None, TrialClass] = {
    True: TrialClass.TARGET,
    False: TrialClass.NONTARGET,
    "target": TrialClass.TARGET,
    None: TrialClass.DROPPED,
    **{kind.word: kind.trial_class for kind in NON_TARGET_KINDS},
}
_MEANINGS = ", ".join(("True", "False", *(f'"{kind.word}"' for kind in THIRD_KINDS)))


def _vocabulary_of(labels: Labels) -> Vocabulary:
    """Return the words that the caller gives."""
    if not isinstance(labels, Mapping):
        raise invalid("labels", "be a mapping of words", describe(labels))
    if not labels:
        raise invalid("labels", f"map words to {_MEANINGS} or None", describe(labels))
    for word, meaning in labels.items():
        # 1 == True, but whoever writes 1 may mean the word.
        is_known = meaning is None or isinstance(meaning, (bool, str))
        if not is_known or meaning not in _CLASSES:
            expected = f"map each word to {_MEANINGS} or None (to leave the line out)"
            raise invalid("labels", expected, f"{meaning!r} for {word!r}")
    classes = {str(word).lower(): _CLASSES[meaning] for word, meaning in labels.items()}
    return Vocabulary("|".join(classes), classes)


@attrs.define(eq=False)
class _CodeColumn:
    """A column of ids, labels or categories."""

    position: int
    ids: tokens.IdColumn = attrs.field(factory=tokens.IdColumn, init=False)
    _parts: list[AnyArray] = attrs.field(factory=list, init=False)

    def add(self, block: tokens.Block) -> None:
        """Take this column of a block."""
        codes = self.ids.encode(block, self.position)
        self._parts.append(codes.astype(np.min_scalar_type(max(0, len(self.ids) - 1))))

    def codes(self) -> AnyArray:
        """Return the code of each line."""
        if len(self._parts) != 1:
            self._parts = [np.concatenate([np.empty(0, dtype=np.uint8), *self._parts])]
        return self._parts[0]

    def first_record(self, name: bytes) -> int:
        """Return the first record that has this text."""
        return int(np.argmax(self.codes() == self.ids.ids.index(name)))

    def values(self, reader: "_Reader") -> Factor:
        """Return the column as categories."""
        decoded = tokens.DecodedIds.of(self.ids, self.codes(), reader.numbers, reader.budget)
        return Factor(mark_read_only(decoded.rank[self.codes()]), decoded.names)


# Sets the bit that distinguishes lower from upper case in every byte of a word.
_LOWER_CASE = np.uint64(0x2020202020202020)


@attrs.define(eq=False)
class _NumberColumn:
    """A column of numbers, some of which may be missing; NaN stands for these."""

    position: int
    name: str
    missing: Sequence[str]
    may_be_empty: bool = False
    _parts: list[Float64Array] = attrs.field(factory=list, init=False)
    _n_nan: int = attrs.field(default=0, init=False)
    _first_nan: int = attrs.field(default=-1, init=False)

    def add(self, block: tokens.Block) -> None:
        """Take this column of a block."""
        is_missing = self._is_missing(block)
        if is_missing.any():
            values = np.full(len(block), np.nan)
            present = np.flatnonzero(~is_missing)
            values[present] = tokens.read_numbers(block, self.position, present)
        else:
            values = tokens.read_numbers(block, self.position)
        is_nan = np.isnan(values) & ~is_missing
        if is_nan.any():
            if not self._n_nan:
                self._first_nan = block.first + int(np.argmax(is_nan))
            self._n_nan += int(np.count_nonzero(is_nan))
        self._parts.append(values)

    def _is_missing(self, block: tokens.Block) -> BoolArray:
        """Tell which lines say that there is no number."""
        is_missing: BoolArray = np.zeros(len(block), dtype=np.bool_)
        if not self.missing and not self.may_be_empty:
            return is_missing
        starts, lengths = block.column(self.position)
        if self.may_be_empty:
            is_missing |= lengths == 0
        # Texts for missing numbers fit into one word; see `_LONGEST_MISSING`.
        words = block.words(starts, np.minimum(lengths, 8))[0] | _LOWER_CASE
        for text in self.missing:
            encoded = text.encode()
            wanted = int.from_bytes(encoded, "little") | int(_LOWER_CASE)
            is_missing |= (lengths == len(encoded)) & (words == np.uint64(wanted))
        return is_missing

    def values(self, reader: "_Reader") -> Float64Array:
        """Return all numbers; raise if the file has NaN and `missing` does not name it."""
        if self._n_nan:
            text = (
                f"the {self.name} is NaN here ({_count_lines(self._n_nan)} {reader.told}). Does "
                "it say that there is none?"
            )
            raise reader.numbers.error(self._first_nan, text, missing="nan")
        return mark_read_only(np.concatenate([np.empty(0), *self._parts]))


def _count_lines(count: int) -> str:
    """Return a number of lines in words."""
    return "1 line" if count == 1 else f"{count} lines"


@attrs.define(eq=False)
class _Reader:
    """The columns of a file while it is read."""

    plan: ReadingPlan
    # The labels that the file may have; it uses one set of them.
    vocabularies: Sequence[Vocabulary]
    options: _Options
    numbers: tokens.LineNumbers
    budget: MemoryBudget
    # Where errors count lines.
    told: str = "in all"
    # By role, or by name for extra columns.
    roles: dict[str, _CodeColumn] = attrs.field(factory=dict, init=False)
    scores: _NumberColumn | None = attrs.field(default=None, init=False)
    extra: dict[str, _CodeColumn | _NumberColumn] = attrs.field(factory=dict, init=False)
    # For formats that name the claimed and the real identity: one coding for both.
    _identities: tokens.IdColumn = attrs.field(factory=tokens.IdColumn, init=False)
    _classes_if_same: list[npt.NDArray[np.uint8]] = attrs.field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        """Prepare to take the columns that are wanted."""
        options, columns = self.options, self.plan.columns
        missing = (*self.plan.format.missing, *options.missing)
        names = [c.name for c in columns if c.role is None and c.name != SKIPPED]
        for argument, wanted in (("numbers", options.numbers), ("extra", options.extra or ())):
            absent = sorted(set(wanted) - set(names))
            if absent:
                found = f"{list_some(absent)}; the file has {list_some(names, 20) or 'none'}"
                raise invalid(argument, "name extra columns of the file", found)
        has_segments = any(column.role == SEGMENT for column in columns)
        for position, column in enumerate(columns):
            name = column.name
            if column.role == SCORE:
                optional = self.plan.format.last_optional
                self.scores = _NumberColumn(position, "score", missing, optional)
            elif column.role == SIDE and (options.side == "ignore" or not has_segments):
                continue
            elif column.role is not None:
                self.roles[column.role] = _CodeColumn(position)
            elif name == SKIPPED or (options.extra is not None and name not in options.extra):
                continue
            elif name in options.numbers or name in self.plan.format.numbers:
                self.extra[name] = _NumberColumn(position, name, (*missing, "nan"))
            else:
                self.extra[name] = _CodeColumn(position)

    def add(self, block: tokens.Block) -> None:
        """Take one block."""
        scores = [] if self.scores is None else [self.scores]
        columns = [*self.roles.values(), *scores, *self.extra.values()]
        # Labels take a byte.
        sized = (column for column in columns if column is not self.roles.get(LABEL))
        size = sum(16 if isinstance(column, _NumberColumn) else 8 for column in sized)
        self.budget.claim(size * len(block), "the columns")
        for column in columns:
            column.add(block)
        if LABEL in self.roles:
            self._refuse_many_labels()
        if self.plan.format.is_target_if_same:
            claimed, real = (
                self._identities.encode(block, self.plan.position(name))
                for name in self.plan.format.is_target_if_same
            )
            is_attack = np.array([name == b"attack" for name in self._identities.ids])
            classes = (claimed == real).astype(np.uint8)
            classes[is_attack[real]] = TrialClass.SPOOF
            self._classes_if_same.append(classes)

    def has_alike_parts(self) -> bool:
        """Tell whether the lines of a part are told and written without the others."""
        keeps_words = LABEL in self.roles and self.options.spoof in ("nontarget", "keep")
        return SEGMENT in self.roles and LABEL not in self.extra and not keeps_words

    def successor(self) -> "_Reader":
        """Return the reader of the next part; labels stay words of one vocabulary."""
        words = set(self._words()) if LABEL in self.roles else set()
        fitting = [item for item in self.vocabularies if words <= set(item.classes)]
        path = self.numbers.path
        budget = MemoryBudget(path, self.budget.max_bytes)
        numbers = tokens.LineNumbers(path)
        return attrs.evolve(self, vocabularies=fitting, numbers=numbers, budget=budget)

    def table(self) -> TrialTable:
        """Return what was collected."""
        classes = self._classes()
        modelset, models = self._ids(MODEL)
        segset, segments = self._ids(SEGMENT)
        columns: dict[str, ExtraColumn] = {}
        if SIDE in self.roles:
            sides = self.roles[SIDE].values(self)
            if self.options.side == "join":
                segset, segments = _join_ids(segset, segments, sides)
            else:
                columns[SIDE] = sides
        for name, column in self.extra.items():
            columns[name] = column.values(self)
        if classes is not None and classes_are_third(classes).any() and LABEL in self.roles:
            # The words of all labels are kept where spoofs count as non-targets.
            levels, rank = np.unique(np.array(self._words()), return_inverse=True)
            codes = rank.astype(np.uint8)[self.roles[LABEL].codes()]
            columns[LABEL] = Factor(mark_read_only(codes), levels)
        if classes is not None and self.options.spoof == "keep":
            columns[KIND] = factor_of_kinds(classes)
        table = TrialTable(
            modelset,
            models,
            segset,
            segments,
            None if classes is None else mark_read_only(classes == TrialClass.TARGET),
            None if self.scores is None else self.scores.values(self),
            columns,
        )
        if classes is not None and (classes == TrialClass.DROPPED).any():
            return table.take(classes != TrialClass.DROPPED)
        return table

    def _ids(self, role: str) -> tuple[StrArray, Int32Array]:
        """Return the ids of models or segments, and their position for each line."""
        count = self.numbers.count
        column = self.roles.get(role)
        if column is not None:
            if (column.ids.letters() == b"").any():
                raise self.numbers.error(column.first_record(b""), f"the {role} is empty")
            codes = column.codes()
            suffixes = [suffix.encode() for suffix in self.options.strip_suffix]
            ids = tokens.DecodedIds.of(column.ids, codes, self.numbers, self.budget, suffixes)
            # An empty id would be the first in the order of the ids.
            if ids.names.size and not ids.names[0]:
                name = column.ids.ids[int(np.argmax(ids.rank == 0))]
                text = f"nothing is left of the {role} {tokens.show(name)}"
                raise self.numbers.error(column.first_record(name), text)
            return ids.names, mark_read_only(ids.rank[codes])
        if role == MODEL:
            names = np.array([self.plan.format.model_id][:count], dtype=np.str_)
            return mark_read_only(names), mark_read_only(np.zeros(count, dtype=np.int32))
        positions = np.arange(count, dtype=np.int32)
        width = len(str(count))
        names = np.strings.zfill((positions + 1).astype(np.str_), width)
        return mark_read_only(names.astype(f"U{width}")), mark_read_only(positions)

    def _words(self) -> list[str]:
        """Return the labels of the file in the order of their codes, in lower case."""
        return [name.decode(errors="replace").lower() for name in self.roles[LABEL].ids.ids]

    def _classes(self) -> npt.NDArray[np.uint8] | None:
        """Return the class of each line; raise if a label is not known, or a spoof not allowed."""
        classes: npt.NDArray[np.uint8]
        if LABEL in self.roles:
            words = self._words()
            fitting = (item for item in self.vocabularies if set(words) <= set(item.classes))
            chosen = next(fitting, None)
            if chosen is None:
                overlaps = [len(set(words) & set(item.classes)) for item in self.vocabularies]
                raise self._label_error(set(self.vocabularies[int(np.argmax(overlaps))].classes))
            of_code = np.array([chosen.classes[word] for word in words], dtype=np.uint8)
            classes = of_code[self.roles[LABEL].codes()]
        elif self._classes_if_same:
            classes = np.concatenate(self._classes_if_same)
        else:
            return None
        is_third = classes_are_third(classes)
        if self.options.spoof == "error" and is_third.any():
            first = int(np.argmax(is_third))
            noun = next(kind.noun for kind in THIRD_KINDS if kind.trial_class == classes[first])
            text = (
                f"the trial is a {noun} ({_count_lines(int(np.count_nonzero(is_third)))} "
                f"{self.told}), neither target nor non-target. They can be dropped, kept, or count "
                "as non-targets."
            )
            raise self.numbers.error(first, text, spoof="drop")
        if self.options.spoof == "drop":
            classes[is_third] = TrialClass.DROPPED
        return classes

    def _refuse_many_labels(self) -> None:
        """Raise if this cannot be a column of labels, so that the rest need not be read."""
        known: set[str] = set().union(*(item.classes for item in self.vocabularies))
        if len(self.roles[LABEL].ids) > _MANY_UNKNOWN + len(known):
            raise self._label_error(known)

    def _label_error(self, known: set[str]) -> FileFormatError:
        """Return the error that lists the labels that are not known."""
        column = self.roles[LABEL]
        words, codes = self._words(), column.codes()
        counts = np.bincount(codes, minlength=len(words))
        present, lines = np.unique(codes, return_index=True)
        firsts = dict(zip(present.tolist(), lines.tolist(), strict=True))
        unknown = [code for code, word in enumerate(words) if word not in known]
        in_order = sorted(unknown, key=firsts.__getitem__)[:_MANY_UNKNOWN]
        found = list_some(
            f"{tokens.show(column.ids.ids[code])} ({_count_lines(int(counts[code]))}, first "
            f"{self.numbers[firsts[code]]})"
            for code in in_order
        )
        expected = " or ".join(item.name for item in self.vocabularies)
        text, use = f"labels must be {expected}; found {found}.", dict[str, None]()
        found_words = {words[code] for code in unknown}
        others = [item.name for item in VOCABULARIES if found_words <= set(item.classes)]
        if others and others[0] not in expected:
            text += f" These look like {others[0]}: is it another format?"
        elif all(map(tokens.is_number, found_words)):
            text += " Are these scores?"
        else:
            use["labels"] = None
        return self.numbers.error(firsts[in_order[0]], text, **use)


def _join_ids(names: StrArray, positions: Int32Array, side: Factor) -> tuple[StrArray, Int32Array]:
    """Join segments and sides to ids such as ``segment:a``; return them and their positions."""
    width = max(1, side.levels.size)
    pairs = positions.astype(np.int64) * width + side.codes
    is_used = np.zeros(names.size * width, dtype=np.bool_)
    is_used[pairs] = True
    used = np.flatnonzero(is_used)
    texts = [f"{names[pair // width]}:{side.levels[pair % width]}" for pair in used.tolist()]
    joined = np.array(texts, dtype=np.str_)
    # Joined ids need not be in the order of their parts.
    order = np.argsort(joined, kind="stable")
    rank = np.empty(names.size * width, dtype=np.int32)
    rank[used[order]] = np.arange(used.size, dtype=np.int32)
    return mark_read_only(joined[order]), mark_read_only(rank[pairs])


def read_answers(
    path: FilePath, trials: TrialTable, *, max_bytes: int | None = None, progress: bool = False
) -> TrialTable:
    r"""Read a file that has one score in each line, such as answer.txt of SdSV.

    Nothing in such a file says to which trials the scores belong, except their order.

    Parameters
    ----------
    path : str or path-like
        The file.
    trials : TrialTable
        The trial list in whose order the scores are.
    max_bytes : int, optional
        Refuse a file whose contents would take more memory than this.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    TrialTable
        The trial list with the scores.

    Raises
    ------
    FileFormatError
        If a line has not one number.
    TrialMismatchError
        If the file has not as many scores as there are trials.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py import TrialTable
    >>> from bosaris_py.storage.formats import read_answers
    >>> trials = TrialTable.from_trials(["m1", "m2"], ["s1", "s1"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "answer.txt"
    >>> _ = path.write_text("-6.12\n3.5\n")
    >>> read_answers(path, trials).scores.tolist()
    [-6.12, 3.5]
    """
    if not isinstance(trials, TrialTable):
        raise invalid("trials", "be a TrialTable", describe(trials))
    numbers = tokens.LineNumbers(as_path(path))
    budget = MemoryBudget(as_path(path), max_bytes)
    parts = [np.empty(0)]
    with within_memory(path):
        blocks = tokens.read_blocks(path, budget, progress=progress)
        for block in tokens.cut_blocks(blocks, tokens.Layout("score"), numbers):
            values = tokens.read_numbers(block, 0)
            if np.isnan(values).any():
                raise block.error(int(np.argmax(np.isnan(values))), "the score is NaN")
            budget.claim(16 * values.size, "the scores")
            parts.append(values)
    if numbers.count != len(trials):
        message = f"{path}: {numbers.count} scores for a list of {len(trials)} trials"
        raise TrialMismatchError(message)
    return attrs.evolve(trials, scores=mark_read_only(np.concatenate(parts)))


def write_answers(path: FilePath, table: TrialTable, *, number_format: str | None = None) -> None:
    """Write the scores of a table alone, one in each line.

    Parameters
    ----------
    path : str or path-like
        The file, which is replaced in one step.
    table : TrialTable
        Scores in the order of the trial list: see `bosaris_py.TrialTable.in_order_of`.
    number_format : str, optional
        As for `write_table`.
    """
    if not isinstance(table, TrialTable):
        raise invalid("table", "be a TrialTable", describe(table))
    if table.scores is None:
        raise invalid("table", "have scores", repr(table))
    scores = table.scores
    is_missing = np.isnan(scores)
    if is_missing.any():
        found = f"{np.count_nonzero(is_missing)} missing of {scores.size}"
        raise invalid("table", "have all scores", found)
    form = formatter(number_format)
    parts = (map(form, scores[part].tolist()) for part in row_slices(scores.size))
    write_parts(path, ("\n".join(part) + "\n" for part in parts))
