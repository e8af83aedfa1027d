"""Read any of the text formats into a `TrialTable`."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import mark_read_only
from bosaris_py._validation import FilePath, describe, invalid, list_some, warn_caller
from bosaris_py.errors import BosarisWarning
from bosaris_py.storage._guarded_hdf5 import MemoryBudget
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.formats.catalogue import find_format
from bosaris_py.storage.formats.columns import (
    CodeColumn,
    Columns,
    FirstLine,
    LabelReader,
    Labels,
    NumberColumn,
    Plan,
    as_vocabularies,
    classes_after_policy,
    joined_ids,
    make_plan,
    told_format,
)
from bosaris_py.storage.formats.detection import detect_in
from bosaris_py.storage.formats.spec import (
    LABEL,
    MODEL,
    SCORE,
    SEGMENT,
    SIDE,
    SKIPPED,
    TrialClass,
    TrialFormat,
    Vocabulary,
)
from bosaris_py.storage.tokens import (
    Block,
    LineNumbers,
    cut_at_separator,
    cut_into_columns,
    read_blocks,
    same_tokens,
    show,
)
from bosaris_py.storage.trial_table import ExtraColumn, TrialTable

_LONGEST_MISSING = 8


class ReadOptions(TypedDict, total=False):
    """Keywords of `read_table` that other readers pass on."""

    columns: Columns | None
    labels: Labels | None
    spoof: str
    side: str
    strip_suffix: str | Sequence[str]
    missing: str | Sequence[str]
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
    spoof: str = "error",
    side: str = "column",
    strip_suffix: str | Sequence[str] = (),
    missing: str | Sequence[str] = (),
    numbers: Sequence[str] = (),
    extra: Sequence[str] | None = None,
    max_bytes: int | None = None,
    progress: bool = False,
) -> TrialTable:
    r"""Read a trial list, a key or scores from one of the text formats of the field.

    Parameters
    ----------
    path : str or path-like
        The file, in UTF-8; decompressed if its name ends in ``.gz``.
    format : str, optional
        Name of the format, one of ``FORMATS``. By default it is found out from the first
        thousand lines.
    columns : str, sequence of str, or mapping, optional
        What the columns are. For files without a header, from left to right, for
        instance ``"label model segment"``: ``model``, ``segment``, ``side``, ``label``,
        ``score``, ``-`` for a column that is not read, other names for extra columns.
        For files with a header, the names of the columns that have another name than
        usual, for instance ``{"model": "enroll", "score": "cosine"}``; None says that
        there is no such column.
    labels : mapping of str to bool, str or None, optional
        What the labels mean, if they are not those of the format: True for targets,
        False for non-targets, ``"spoof"``, or None for lines to be left out.
    spoof : {"error", "nontarget", "drop"}, optional
        What to do with trials of the third class. Where they become non-targets the
        words of all labels are kept in the column ``label``.
    side : {"column", "join", "ignore"}, optional
        What to do with a column of sides (channels of a telephone call): keep it as an
        extra column, join it to the segment as in ``segment:a``, or leave it out.
    strip_suffix : str or sequence of str, optional
        Taken off the end of models and segments, for instance ``".wav"``; of several
        the first that fits.
    missing : str or sequence of str, optional
        What stands for a missing number, besides what the format says; in any case of
        letters, at most eight of them.
    numbers : sequence of str, optional
        Extra columns that hold numbers, not categories.
    extra : sequence of str, optional
        The extra columns to keep; all by default.
    max_bytes : int, optional
        Refuse a file whose contents would take more memory than this.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    TrialTable
        All lines in the order of the file. If it has no column of models, they are all
        of one model; if it has no segments, the lines are numbered.

    Raises
    ------
    FileFormatError
        If the file is not what the format says, with the number of the line; if labels
        are not known; if a score is NaN; or if several formats would fit.
    InvalidInputError
        If an argument is not what it must be.
    FileNotFoundError
        If there is no such file.

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
    options = _Options.of(spoof, side, strip_suffix, missing, numbers, extra)
    file_path = Path(path)
    blocks = read_blocks(file_path, progress=progress)
    head: tuple[int, bytes] | None = None
    first: FirstLine | None = None
    while first is None and (head := next(blocks, None)) is not None:
        first = FirstLine.of(head[1], head[0])
    told = as_vocabularies(labels, ())
    trial_format = _choose_format(format, columns, file_path, head, told)
    if head is None or first is None:
        message = f"{file_path}: there is no line in this file; was it cut off?"
        warn_caller(message, BosarisWarning)
        return TrialTable([], [], [], [])
    plan = make_plan(file_path, trial_format, first, columns)
    parts = _Parts.of(
        plan, told or trial_format.vocabularies, options, MemoryBudget(file_path, max_bytes)
    )
    line_numbers = LineNumbers(file_path)
    if plan.skips_first_line:
        head = first.rest_of(*head)
    for line, data in itertools.chain([head], blocks):
        parts.add(_cut(data, line, plan, line_numbers), line_numbers)
    if not parts.records:
        message = f"{file_path}: there is no trial below the header; was the file cut off?"
        warn_caller(message, BosarisWarning)
    return parts.table(line_numbers)


def _choose_format(
    name: str | None,
    columns: Columns | None,
    path: Path,
    head: tuple[int, bytes] | None,
    told: Sequence[Vocabulary],
) -> TrialFormat:
    """Return the format that is asked for, told by its columns, or found."""
    if name is not None:
        return find_format(name)
    if columns is None:
        return find_format(detect_in(head[1] if head else b"", path, told))
    if isinstance(columns, Mapping):
        return find_format("csv")
    return told_format(columns)


def _cut(data: bytes, line: int, plan: Plan, numbers: LineNumbers) -> Block:
    """Cut lines into tokens."""
    count = len(plan.columns)
    if plan.separator is not None:
        return cut_at_separator(data, line, plan.separator, count, plan.layout, numbers)
    optional = plan.format.last_optional
    return cut_into_columns(data, line, count, plan.layout, numbers, last_optional=optional)


@attrs.frozen
class _Options:
    """Arguments of `read_table`, checked."""

    spoof: str
    side: str
    suffixes: tuple[bytes, ...]
    missing: tuple[str, ...]
    numbers: frozenset[str]
    extra: frozenset[str] | None

    @classmethod
    def of(
        cls,
        spoof: str,
        side: str,
        strip_suffix: str | Sequence[str],
        missing: str | Sequence[str],
        numbers: Sequence[str],
        extra: Sequence[str] | None,
    ) -> "_Options":
        for name, value, allowed in (
            ("spoof", spoof, ("error", "nontarget", "drop")),
            ("side", side, ("column", "join", "ignore")),
        ):
            if value not in allowed:
                raise invalid(name, f"be one of {', '.join(allowed)}", describe(value))
        for name, names in (("numbers", numbers), ("extra", extra)):
            if isinstance(names, str):
                raise invalid(name, "be a list of names", describe(names))
        suffixes = (strip_suffix,) if isinstance(strip_suffix, str) else tuple(strip_suffix)
        if "" in suffixes:
            raise invalid("strip_suffix", "not be empty", "''")
        texts = (missing,) if isinstance(missing, str) else tuple(missing)
        long = [text for text in texts if len(text.encode()) > _LONGEST_MISSING]
        if long:
            expected = f"have at most {_LONGEST_MISSING} letters"
            raise invalid("missing", expected, list_some(map(repr, long)))
        return cls(
            spoof,
            side,
            tuple(suffix.encode() for suffix in suffixes),
            texts,
            frozenset(numbers),
            None if extra is None else frozenset(extra),
        )


@attrs.define(eq=False)
class _Parts:
    """The columns of a file while it is read."""

    plan: Plan
    options: _Options
    budget: MemoryBudget
    codes: dict[str, CodeColumn]
    scores: NumberColumn | None
    labels: LabelReader | None
    factors: dict[str, CodeColumn]
    measures: dict[str, NumberColumn]
    _same: list[npt.NDArray[np.uint8]] = attrs.field(factory=list, init=False)
    records: int = attrs.field(default=0, init=False)

    @classmethod
    def of(
        cls, plan: Plan, vocabularies: Sequence[Vocabulary], options: _Options, budget: MemoryBudget
    ) -> "_Parts":
        """Prepare to take the columns that are wanted."""
        missing = (*plan.format.missing, *options.missing)
        places = {role: plan.place(role) for role in (MODEL, SEGMENT, SIDE)}
        if options.side == "ignore" or places[SEGMENT] is None:
            places[SIDE] = None
        codes = {role: CodeColumn(place) for role, place in places.items() if place is not None}
        score_place, label_place = plan.place(SCORE), plan.place(LABEL)
        names = {
            column.name: place
            for place, column in enumerate(plan.columns)
            if column.role is None and column.name != SKIPPED
        }
        for argument, wanted in (("numbers", options.numbers), ("extra", options.extra or ())):
            absent = sorted(set(wanted) - set(names))
            if absent:
                found = f"{list_some(absent)}; the file has {list_some(names, 20) or 'none'}"
                raise invalid(argument, "name extra columns of the file", found)
        number_names = options.numbers | plan.format.numbers
        kept = [name for name in names if options.extra is None or name in options.extra]
        return cls(
            plan,
            options,
            budget,
            codes,
            None
            if score_place is None
            else NumberColumn(score_place, "score", missing, plan.format.last_optional),
            None if label_place is None else LabelReader(CodeColumn(label_place), vocabularies),
            {name: CodeColumn(names[name]) for name in kept if name not in number_names},
            {
                name: NumberColumn(names[name], name, (*missing, "nan"))
                for name in kept
                if name in number_names
            },
        )

    def add(self, block: Block, numbers: LineNumbers) -> None:
        """Take one block."""
        lines = block.starts.shape[0]
        coded = len(self.codes) + len(self.factors)
        numeric = len(self.measures) + (self.scores is not None)
        self.budget.claim((8 * coded + 16 * numeric) * lines, "the columns")
        for column in (*self.codes.values(), *self.factors.values()):
            column.add(block)
        if self.labels is not None:
            self.labels.add(block, numbers)
        for measure in (self.scores, *self.measures.values()):
            if measure is not None:
                measure.add(block, numbers, self.records)
        if self.plan.format.is_target_if_same:
            pair = [self.plan.place_of_name(name) for name in self.plan.format.is_target_if_same]
            self._same.append(self._classes_if_same(block, *pair))
        self.records += lines

    def _classes_if_same(self, block: Block, claimed: int, real: int) -> npt.NDArray[np.uint8]:
        """Return the classes of formats that tell who is claimed and who it really is."""
        attack = CodeColumn(real)
        attack.add(block)
        is_attack = np.array([name == b"attack" for name in attack.ids.ids], dtype=np.bool_)
        classes = same_tokens(block, claimed, real).astype(np.uint8)
        classes[is_attack[attack.codes()]] = TrialClass.SPOOF
        return classes

    def table(self, numbers: LineNumbers) -> TrialTable:
        """Return what was gathered."""
        classes = self._classes(numbers)
        modelset, models = self._ids(MODEL, numbers)
        segset, segments = self._ids(SEGMENT, numbers)
        columns: dict[str, ExtraColumn] = {}
        if SIDE in self.codes:
            sides = self.codes[SIDE].factor(numbers, self.budget)
            if self.options.side == "join":
                segset, segments = joined_ids(segset, segments, sides)
            else:
                columns["side"] = sides
        for column in self.plan.columns:
            name = column.name
            if column.role is None and name in self.factors:
                columns[name] = self.factors[name].factor(numbers, self.budget)
            elif column.role is None and name in self.measures:
                columns[name] = self.measures[name].values(numbers)
        words = self._label_factor(numbers)
        if words is not None:
            columns[LABEL] = words
        table = TrialTable(
            modelset,
            models,
            segset,
            segments,
            None if classes is None else mark_read_only(classes == TrialClass.TARGET),
            None if self.scores is None else self.scores.values(numbers),
            columns,
        )
        if classes is not None and (classes == TrialClass.DROPPED).any():
            return table.take(classes != TrialClass.DROPPED)
        return table

    def _classes(self, numbers: LineNumbers) -> npt.NDArray[np.uint8] | None:
        """Return the class of each line, after what the caller wants done with spoofs."""
        if self.labels is not None:
            classes = self.labels.classes(numbers)
        elif self._same:
            classes = np.concatenate(self._same)
        else:
            return None
        return classes_after_policy(classes, self.options.spoof, numbers)

    def _label_factor(self, numbers: LineNumbers) -> Factor | None:
        """Return the words of the labels if spoofs count as non-targets."""
        if self.labels is None or self.options.spoof != "nontarget":
            return None
        if not (self.labels.classes(numbers) == TrialClass.SPOOF).any():
            return None
        words = np.array(self.labels.words())
        levels, rank = np.unique(words, return_inverse=True)
        return Factor(mark_read_only(rank.astype(np.uint8)[self.labels.column.codes()]), levels)

    def _ids(
        self, role: str, numbers: LineNumbers
    ) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.int32]]:
        """Return the ids of models or segments, and their place for each line."""
        column = self.codes.get(role)
        if column is not None:
            column.refuse_empty(numbers, role)
            ids = column.decoded(numbers, self.budget, self.options.suffixes)
            # An empty id would be the first in the order of the ids.
            if ids.names.size and not ids.names[0]:
                code = int(np.argmax(ids.rank == 0))
                text = f"nothing is left of the {role} {show(column.ids.ids[code])}"
                raise numbers.error(column.first_line(column.ids.ids[code]), text)
            return ids.names, mark_read_only(ids.rank[column.codes()])
        if role == MODEL:
            names = np.array([self.plan.format.model_id][: self.records], dtype=np.str_)
            return mark_read_only(names), mark_read_only(np.zeros(self.records, dtype=np.int32))
        places = np.arange(self.records, dtype=np.int32)
        width = len(str(self.records))
        names = np.strings.zfill((places + 1).astype(np.str_), width)
        return mark_read_only(names.astype(f"U{width}")), mark_read_only(places)
