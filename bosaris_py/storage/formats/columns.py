"""Columns of a text format: which there are, their labels, and the values collected from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import mark_read_only
from bosaris_py._validation import describe, invalid, list_some
from bosaris_py.errors import FileFormatError
from bosaris_py.storage._guarded_hdf5 import MemoryBudget
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.formats.spec import (
    MODEL,
    ROLES,
    SEGMENT,
    SKIPPED,
    VOCABULARIES,
    TrialClass,
    TrialFormat,
    Vocabulary,
)
from bosaris_py.storage.tokens import (
    Block,
    DecodedIds,
    IdColumn,
    LineNumbers,
    line_error,
    read_numbers,
    show,
    token_words,
)

Columns = str | Sequence[str] | Mapping[str, str | None]

# What separates the columns of a file with a header, the likeliest first.
_SEPARATORS = ("\t", ",", ";")


@attrs.frozen
class FileColumn:
    """One column of a file.

    Parameters
    ----------
    role : str or None
        One of the roles, or None for an extra column.
    name : str
        Its name; ``"-"`` if it is not read.
    """

    role: str | None
    name: str


@attrs.frozen
class Plan:
    """How the lines of one file are read.

    Parameters
    ----------
    format : TrialFormat
        The format.
    columns : tuple of FileColumn
        From left to right.
    separator : str or None
        Between them; None stands for blanks and tabs.
    skips_first_line : bool
        The first line that is not blank is no trial.
    """

    format: TrialFormat
    columns: tuple[FileColumn, ...]
    separator: str | None
    skips_first_line: bool

    @property
    def layout(self) -> str:
        """The columns in words."""
        return " ".join(column.role or column.name for column in self.columns)

    def place(self, role: str) -> int | None:
        """Return the position of the column with a role."""
        roles = [column.role for column in self.columns]
        return roles.index(role) if role in roles else None

    def place_of_name(self, name: str) -> int:
        """Return the position of a column by its role or name."""
        return [column.role or column.name for column in self.columns].index(name)


@attrs.frozen
class FirstLine:
    """The first line of a file that is not blank.

    Parameters
    ----------
    number : int
        Number of the line.
    text : bytes
        Its content.
    """

    number: int
    text: bytes

    @classmethod
    def of(cls, data: bytes, line: int) -> "FirstLine | None":
        """Find it in some lines, of which the first has the number `line`."""
        n_blank = len(data) - len(data.lstrip())
        if n_blank == len(data):
            return None
        begin = data.rfind(b"\n", 0, n_blank) + 1
        return cls(line + data.count(b"\n", 0, begin), data[begin:].split(b"\n", 1)[0])

    def rest_of(self, line: int, data: bytes) -> tuple[int, bytes]:
        """Return what follows in the lines in which this one was found."""
        end = data.index(self.text) + len(self.text) + 1
        return self.number + 1, data[end:]

    def cut(self) -> tuple[str | None, tuple[str, ...]]:
        """Return the separator of a header, and its names."""
        text = self.text.decode(errors="replace").strip("\r\n")
        for separator in _SEPARATORS:
            if separator in text:
                names = (name.strip() for name in text.split(separator))
                return separator, tuple(name.strip('"') for name in names)
        # Blanks that only Unicode knows are no separators, but `split` takes them for such.
        return None, tuple(name.strip('"') for name in text.split()) or (text,)


def told_format(columns: Columns) -> TrialFormat:
    """Return the format of a file of which only the columns are told."""
    return TrialFormat(
        name="columns", description="", variants=(_as_names(columns),), vocabularies=VOCABULARIES
    )


def make_plan(
    path: Path, trial_format: TrialFormat, first: FirstLine, columns: Columns | None
) -> Plan:
    """Find out which column is which.

    Parameters
    ----------
    path : Path
        The file, for error messages.
    trial_format : TrialFormat
        The format of the file.
    first : FirstLine
        Its first line.
    columns : str, sequence or mapping, optional
        What the caller says of the columns.

    Returns
    -------
    Plan
        How to read the file.

    Raises
    ------
    FileFormatError
        If the file lacks columns, or has more than the format.
    InvalidInputError
        If `columns` does not fit the format.
    """
    if trial_format.has_header:
        return _plan_by_header(path, trial_format, first, columns)
    if isinstance(columns, Mapping):
        hint = "Only files with a header have names to map; give the columns from left to right."
        raise invalid("columns", "be a list of columns", describe(columns), hint)
    _, words = first.cut()
    if trial_format.first_word and words[0].lower() != trial_format.first_word:
        text = f"the first line must begin with {trial_format.first_word}, found {show(first.text)}"
        raise line_error(path, first.number, text)
    variants = trial_format.variants if columns is None else (_as_names(columns),)
    found = len(first.text.split())
    fitting = [variant for variant in variants if len(variant) == found]
    if trial_format.last_optional and not fitting:
        fitting = [variant for variant in variants if len(variant) == found + 1]
    if not fitting:
        layouts = " or ".join(f"{len(variant)} ({' '.join(variant)})" for variant in variants)
        text = f"expected {layouts} columns, found {found}: {show(first.text)}"
        raise line_error(path, first.number, text)
    return Plan(
        trial_format,
        tuple(FileColumn(name if name in ROLES else None, name) for name in fitting[0]),
        None,
        bool(trial_format.first_word),
    )


def _as_names(columns: Columns) -> tuple[str, ...]:
    """Return columns from left to right, checked."""
    names = tuple(columns.split()) if isinstance(columns, str) else tuple(columns)
    repeated = {name for name in names if name != SKIPPED and names.count(name) > 1}
    if not names or repeated:
        found = f"{sorted(repeated)} more than once" if repeated else "none"
        raise invalid("columns", "name each column once", found)
    return names


def _plan_by_header(
    path: Path, trial_format: TrialFormat, first: FirstLine, columns: Columns | None
) -> Plan:
    """Find the columns by the names in the first line."""
    if columns is not None and not isinstance(columns, Mapping):
        hint = 'For instance {"model": "enroll", "score": "llr"}.'
        expected = "map what is needed to names in the header"
        raise invalid("columns", expected, describe(columns), hint)
    told = {} if columns is None else dict(columns)
    strangers = [role for role in told if role not in ROLES]
    if strangers:
        expected = f"map only {', '.join(ROLES)}; other columns keep their names"
        raise invalid("columns", expected, list_some(strangers))
    separator, names = first.cut()
    repeated = [name for place, name in enumerate(names) if name and name in names[:place]]
    if repeated:
        text = f"the header names {list_some(repeated)} more than once"
        raise line_error(path, first.number, text)
    in_lower = [name.lower() for name in names]
    roles: dict[int, str] = {}
    for role in ROLES:
        if role in told:
            name = told[role]
            wanted: tuple[str, ...] = () if name is None else (name,)
        else:
            wanted = trial_format.header.get(role, ())
        place = next((in_lower.index(w.lower()) for w in wanted if w.lower() in in_lower), None)
        if place is not None and place not in roles:
            roles[place] = role
        elif told.get(role) is not None or (role in trial_format.required and role not in told):
            raise _missing_column(path, role, wanted, names)
    return Plan(
        trial_format,
        # Nobody could ask for a column without a name.
        tuple(FileColumn(roles.get(place), name or SKIPPED) for place, name in enumerate(names)),
        separator,
        skips_first_line=True,
    )


def _missing_column(
    path: Path, role: str, wanted: Sequence[str], names: Sequence[str]
) -> FileFormatError:
    """Return the error for a header without a needed column."""
    what = {MODEL: "models", SEGMENT: "segments"}.get(role, f"{role}s")
    message = (
        f"{path}: no column {' or '.join(wanted)} for the {what} in the first line; its columns "
        f"are {list_some(names, 20)}"
    )
    return FileFormatError(message)


# Sets the bit that tells lower case from upper in every byte of a word.
_LOWER_CASE = np.uint64(0x2020202020202020)


@attrs.define(eq=False)
class CodeColumn:
    """A column of ids or categories."""

    place: int
    ids: IdColumn = attrs.field(factory=IdColumn, init=False)
    _parts: list[npt.NDArray[Any]] = attrs.field(factory=list, init=False)

    def add(self, block: Block) -> None:
        """Take this column of a block."""
        codes = self.ids.encode(block, self.place)
        self._parts.append(codes.astype(np.min_scalar_type(max(0, len(self.ids) - 1))))

    def codes(self) -> npt.NDArray[Any]:
        """Return the code of each line."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0] if self._parts else np.empty(0, dtype=np.uint8)

    def first_line(self, name: bytes) -> int:
        """Return the first record that has this text."""
        return int(np.argmax(self.codes() == self.ids.ids.index(name)))

    def refuse_empty(self, numbers: LineNumbers, what: str) -> None:
        """Raise if the field of a line is empty."""
        letters = self.ids.letters()
        if b"" in self.ids.ids if letters is None else (letters == b"").any():
            raise numbers.error(self.first_line(b""), f"the {what} is empty")

    def decoded(
        self, numbers: LineNumbers, budget: MemoryBudget, suffixes: Sequence[bytes] = ()
    ) -> DecodedIds:
        """Return the ids as text, without the first of the suffixes that they have."""
        return DecodedIds.of(self.ids, self.codes(), numbers, budget, suffixes)

    def factor(self, numbers: LineNumbers, budget: MemoryBudget) -> Factor:
        """Return the column as categories."""
        decoded = self.decoded(numbers, budget)
        rank = decoded.rank.astype(np.min_scalar_type(max(0, decoded.names.size - 1)))
        return Factor(mark_read_only(rank[self.codes()]), decoded.names)


def joined_ids(
    names: npt.NDArray[np.str_], places: npt.NDArray[np.int32], side: Factor
) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.int32]]:
    """Join segments and sides to ids such as ``segment:a``; return them and their places."""
    width = max(1, side.levels.size)
    pairs = places.astype(np.int64) * width + side.codes
    is_used = np.zeros(names.size * width, dtype=np.bool_)
    is_used[pairs] = True
    used = np.flatnonzero(is_used)
    joined = np.array(
        [f"{names[pair // width]}:{side.levels[pair % width]}" for pair in used.tolist()],
        dtype=np.str_,
    )
    # Joined ids need not be in the order of their parts.
    order = np.argsort(joined, kind="stable")
    rank = np.empty(names.size * width, dtype=np.int32)
    rank[used[order]] = np.arange(used.size, dtype=np.int32)
    return mark_read_only(joined[order]), mark_read_only(rank[pairs])


@attrs.define(eq=False)
class NumberColumn:
    """A column of numbers, some of which may be missing."""

    place: int
    name: str
    missing: Sequence[str]
    may_be_empty: bool = False
    _parts: list[npt.NDArray[np.float64]] = attrs.field(factory=list, init=False)
    _n_nan: int = attrs.field(default=0, init=False)
    _first_nan: int = attrs.field(default=-1, init=False)

    def add(self, block: Block, numbers: LineNumbers, first_record: int) -> None:
        """Take this column of a block."""
        is_missing = self._is_missing(block)
        if is_missing is None or not is_missing.any():
            values = read_numbers(block, self.place, numbers, first_record)
            present: npt.NDArray[Any] | slice = slice(None)
        else:
            rows = np.flatnonzero(~is_missing)
            values = np.full(is_missing.size, np.nan)
            values[rows] = read_numbers(block, self.place, numbers, first_record, rows)
            present = ~is_missing
        is_nan = np.isnan(values[present])
        if is_nan.any():
            if not self._n_nan:
                is_nan = np.isnan(values)
                is_nan &= True if is_missing is None else ~is_missing
                self._first_nan = first_record + int(np.argmax(is_nan))
            self._n_nan += int(np.count_nonzero(is_nan))
        self._parts.append(values)

    def _is_missing(self, block: Block) -> npt.NDArray[np.bool_] | None:
        """Tell which lines say that there is no number."""
        if not self.missing and not self.may_be_empty:
            return None
        starts = np.ascontiguousarray(block.starts[:, self.place])
        lengths = block.stops[:, self.place] - starts
        is_missing: npt.NDArray[np.bool_] = np.zeros(starts.size, dtype=np.bool_)
        if self.may_be_empty:
            is_missing |= lengths == 0
        for text in self.missing:
            suspects = np.flatnonzero(lengths == len(text.encode()))
            if not suspects.size or not text:
                is_missing[suspects] = True
                continue
            wanted = np.frombuffer(text.encode().ljust(8, b"\0"), dtype="<u8")[0] | _LOWER_CASE
            for _, _, words in token_words(block, starts[suspects], lengths[suspects]):
                same = words | _LOWER_CASE == wanted
                is_missing[suspects[same]] = True
        return is_missing

    def values(self, numbers: LineNumbers) -> npt.NDArray[np.float64]:
        """Return all numbers, NaN where one is missing.

        Raises
        ------
        FileFormatError
            If the file says NaN where nobody said that this means "missing".
        """
        if self._n_nan:
            raise self._nan_error(numbers)
        return mark_read_only(np.concatenate(self._parts) if self._parts else np.empty(0))

    def _nan_error(self, numbers: LineNumbers) -> FileFormatError:
        lines = "1 line" if self._n_nan == 1 else f"{self._n_nan} lines"
        text = (
            f"the {self.name} is NaN here ({lines} in all); if it says that there is none, "
            'pass missing="nan"'
        )
        return numbers.error(self._first_nan, text)


Labels = Mapping[str, bool | str | None]

# A column with more other words is no column of labels, so the rest need not be read.
_STRANGERS_ENOUGH = 20

_TOLD = {
    True: TrialClass.TARGET,
    False: TrialClass.NONTARGET,
    "target": TrialClass.TARGET,
    "nontarget": TrialClass.NONTARGET,
    "spoof": TrialClass.SPOOF,
    None: TrialClass.DROPPED,
}


def as_vocabularies(labels: Labels | None, usual: tuple[Vocabulary, ...]) -> tuple[Vocabulary, ...]:
    """Return the words that the caller tells, or the usual ones."""
    if labels is None:
        return usual
    if not isinstance(labels, Mapping):
        raise invalid("labels", "be a mapping of words", describe(labels))
    if not labels:
        expected = 'map words to True, False, "spoof" or None'
        raise invalid("labels", expected, describe(labels))
    classes = {}
    for word, meaning in labels.items():
        # 1 == True, but whoever writes 1 may mean the word.
        is_told = meaning is None or isinstance(meaning, (bool, str))
        if not is_told or meaning not in _TOLD:
            expected = 'map each word to True, False, "spoof" or None (to leave the line out)'
            raise invalid("labels", expected, f"{meaning!r} for {word!r}")
        classes[str(word).lower()] = _TOLD[meaning]
    return (Vocabulary("|".join(classes), classes),)


@attrs.define(eq=False)
class LabelReader:
    """The column of labels of a file."""

    column: CodeColumn
    vocabularies: Sequence[Vocabulary]

    def add(self, block: Any, numbers: LineNumbers) -> None:
        """Take the labels of a block; raise if these cannot be labels."""
        self.column.add(block)
        known: set[str] = set().union(*(words.classes for words in self.vocabularies))
        if len(self.column.ids) > _STRANGERS_ENOUGH + len(known):
            raise self._error(known, numbers)

    def words(self) -> list[str]:
        """Return the words in the order of their codes, in lower case."""
        return [name.decode(errors="replace").lower() for name in self.column.ids.ids]

    def classes(self, numbers: LineNumbers) -> npt.NDArray[np.uint8]:
        """Return the class of each line.

        Raises
        ------
        FileFormatError
            If a word is not known, or two ways of writing labels are mixed.
        """
        words = self.words()
        chosen = next((item for item in self.vocabularies if set(words) <= set(item.classes)), None)
        if chosen is None:
            overlaps = [len(set(words) & set(item.classes)) for item in self.vocabularies]
            best = self.vocabularies[int(np.argmax(overlaps))]
            raise self._error(set(best.classes), numbers)
        of_code = np.array([chosen.classes[word] for word in words], dtype=np.uint8)
        classes: npt.NDArray[np.uint8] = of_code[self.column.codes()]
        return classes

    def _error(self, known: set[str], numbers: LineNumbers) -> FileFormatError:
        """Return the error that lists the words that are not known."""
        codes = self.column.codes()
        counts = np.bincount(codes, minlength=len(self.column.ids.ids))
        words = self.words()
        strangers = [code for code, word in enumerate(words) if word not in known]
        present, lines = np.unique(codes, return_index=True)
        firsts = dict(zip(present.tolist(), lines.tolist(), strict=True))
        in_order = sorted(strangers, key=firsts.__getitem__)[:_STRANGERS_ENOUGH]
        found = list_some(
            f"{show(self.column.ids.ids[code])} ({_lines(int(counts[code]))}, first "
            f"{numbers[firsts[code]]})"
            for code in in_order
        )
        expected = " or ".join(item.name for item in self.vocabularies)
        text = f"labels must be {expected}; found {found}"
        found_words = {words[code] for code in strangers}
        others = [item.name for item in VOCABULARIES if found_words <= set(item.classes)]
        if others and others[0] not in expected:
            text += f". These look like {others[0]}: is it another format?"
        elif all(map(_is_number, found_words)):
            text += ". Are these scores?"
        else:
            text += ". Words of your own are told by `labels`"
        return numbers.error(firsts[in_order[0]], text)


def _lines(count: int) -> str:
    """Return a number of lines in words."""
    return "1 line" if count == 1 else f"{count} lines"


def _is_number(word: str) -> bool:
    """Tell whether a word looks like a score."""
    try:
        float(word)
    except ValueError:
        return False
    return True


def classes_after_policy(
    classes: npt.NDArray[np.uint8], spoof: str, numbers: LineNumbers
) -> npt.NDArray[np.uint8]:
    """Make of spoofs what the caller wants."""
    is_spoof = classes == TrialClass.SPOOF
    if not is_spoof.any():
        return classes
    if spoof == "error":
        text = (
            f"the trial is a spoof ({_lines(int(np.count_nonzero(is_spoof)))} in all), neither "
            'target nor non-target; pass spoof="nontarget" or spoof="drop"'
        )
        raise numbers.error(int(np.argmax(is_spoof)), text)
    meaning = TrialClass.NONTARGET if spoof == "nontarget" else TrialClass.DROPPED
    return np.where(is_spoof, np.uint8(meaning), classes)
