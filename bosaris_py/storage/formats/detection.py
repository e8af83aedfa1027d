"""Find out the format of a file from its first lines."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from bosaris_py._validation import FilePath, as_path
from bosaris_py.errors import FileFormatError
from bosaris_py.storage.formats.catalogue import (
    FORMATS,
    LABEL,
    MODEL,
    SCORE,
    SEGMENT,
    VOCABULARIES,
    TrialFormat,
    Vocabulary,
)
from bosaris_py.storage.formats.reading_plan import cut_header
from bosaris_py.storage.tokens import FirstLine, read_blocks, show

_LINES_LOOKED_AT, _LONGEST_LOOKED_AT = 1000, 1000

# Columns of the widest format without a header.
_MOST_WORDS = max(len(variant) for item in FORMATS.values() for variant in item.variants)

# Labels, not scores, if a column has nothing else.
_TRUTH_VALUES = frozenset(("1", "0", "-1", "+1"))


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
    - a column of a few words, such as genders, if it holds no others.

    Columns are what lies between blanks; where no format fits, between tabs, commas or semicolons,
    as in a table that was written without its header.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py.storage.formats import detect_format
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("0.731 anna/1.wav s1.wav\n-0.2 bert/1.wav s1.wav\n")
    >>> detect_format(path)
    'voxceleb-scores'
    """
    file_path = as_path(path)
    return detect_in(FirstLine.of(read_blocks(file_path), file_path), file_path).name


def detect_in(
    first: FirstLine | None, path: Path, vocabulary: Vocabulary | None = None
) -> TrialFormat:
    """Find out the format from the first block of a file; `vocabulary` is the caller's."""
    if first is None:
        message = f"{path}: there is no line in this file, so its format cannot be found out"
        raise FileFormatError(message)
    candidates = _formats_by_header(first) or _formats_by_content(_first_rows(first), vocabulary)
    separator, cells = cut_header(first.text)
    by_blanks = True
    if not candidates and separator:
        by_blanks = False
        candidates = _formats_by_content(_first_cells(first, separator), vocabulary)
    # Of formats that would read the file in the same way, the first. Names of extra columns
    # say nothing that the file does not say.
    width = len(first.text.split()) if by_blanks else len(cells)
    distinct: dict[tuple[object, ...], TrialFormat] = {}
    for item in candidates:
        variants = [v for v in item.variants if len(v) in (width, width + item.last_optional)]
        roles = variants[0] if variants else (item.name,)
        own = item.vocabularies if vocabulary is None else (vocabulary,)
        words = tuple(words.name for words in own) if LABEL in roles else ()
        distinct.setdefault((roles, words, item.model_id), item)
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    if not distinct:
        looks = {"\t": "tabs", ",": "commas", ";": "semicolons", None: "blanks"}[separator]
        found = (
            f"{path}: no format fits the first lines, of {len(cells)} columns between {looks}, "
            f"such as {show(first.text)}."
        )
        if odd := _first_odd_line(first, vocabulary):
            found = f"{path}:{odd[0]}: {odd[1]} is not like the lines before it."
        hint = (
            "Tell the columns, as in model=known,segment=questioned,score=llr; what other words "
            f"mean, as in H1=target,H2=nontarget; or the format, one of {', '.join(FORMATS)}."
        )
        if first.text.startswith(b"#"):
            hint = f"Is the first line a comment? Take it out. {hint}"
        elif len(cells) == 1:
            hint = f"Bare numbers have the one column score, bare labels the column label. {hint}"
        use = dict.fromkeys(("columns", "labels", "format"))
        raise FileFormatError(found, hint=hint, use=use, path=path)
    names = ", ".join(item.name for item in distinct.values())
    message = f"{path}: {show(first.text)} could be {names}."
    raise FileFormatError(message, use={"format": None}, path=path)


def _formats_by_header(first: FirstLine) -> list[TrialFormat]:
    """Return the formats whose needed columns are named in the first line."""
    separator, names = cut_header(first.text)
    in_lower = [name.lower() for name in names]
    words = [
        item for item in FORMATS.values() if item.first_word and item.first_word == in_lower[0]
    ]
    if words:
        return words
    counts: dict[str, int] = {}
    for item in FORMATS.values():
        is_any = item.name == "csv"
        if not item.has_header or not (is_any or (separator == ",") == (item.separator == ",")):
            continue
        found = {
            role
            for role, accepted in item.header.items()
            if any(name.lower() in in_lower for name in accepted)
        }
        if found.issuperset(item.required):
            counts[item.name] = len(found)
    n_any = counts.pop("csv", 0)
    if counts:
        return [FORMATS[name] for name in counts if counts[name] == max(counts.values())]
    # The names of any table are common words; between blanks they may be a line of trials.
    is_known = {"model", "segment"} <= set(in_lower) or n_any > 2
    return [FORMATS["csv"]] if n_any and separator and is_known else []


@attrs.frozen
class _Sample:
    """The distinct values of one column in the first lines, in lower case."""

    words: frozenset[str]
    is_numeric: bool
    # All are numbers, and some are not written as whole ones.
    has_decimals: bool

    @classmethod
    def of(cls, column: Iterable[bytes | None]) -> "_Sample":
        present = set(column) - {None}
        shown = {word[:_LONGEST_LOOKED_AT] for word in present if word}
        words = frozenset(word.decode(errors="replace").lower() for word in shown)
        is_numeric = _are_numbers(words)
        digits = "".join(words).replace("+", "").replace("-", "")
        return cls(words, is_numeric, is_numeric and bool(digits) and not digits.isdigit())

    def fits_label(self, vocabularies: Iterable[Vocabulary]) -> bool:
        """Tell whether these can be labels."""
        return any(self.words <= set(item.classes) for item in vocabularies)

    def fits(self, role: str, item: TrialFormat, vocabulary: Vocabulary | None) -> bool:
        """Tell whether the column looks as a format says."""
        own = () if vocabulary is None else (vocabulary,)
        if role == SCORE:
            present = self.words.difference(item.missing, ("nan",))
            return _are_numbers(present) and not present <= _TRUTH_VALUES
        if role == LABEL:
            return self.fits_label(own or item.vocabularies)
        if role in (MODEL, SEGMENT) or role in item.is_target_if_same:
            are_labels = self.words <= _TRUTH_VALUES or self.fits_label((*VOCABULARIES, *own))
            return not self.has_decimals and not are_labels
        if role in item.words:
            return self.words <= set(item.words[role])
        return self.is_numeric if role in item.numbers else not self.has_decimals


def _are_numbers(words: frozenset[str]) -> bool:
    """Tell whether all words are numbers."""
    try:
        list(map(float, words))
    except ValueError:
        return False
    return "_" not in "".join(words)


def _first_lines(first: FirstLine) -> list[bytes]:
    return [first.text, *first.rest.split(b"\n", _LINES_LOOKED_AT)[: _LINES_LOOKED_AT - 1]]


def _first_rows(first: FirstLine) -> list[list[bytes]]:
    """Return the words of the first lines; of one with more than any format has, some."""
    return [line.split(None, _MOST_WORDS) for line in _first_lines(first)]


def _first_cells(first: FirstLine, separator: str) -> list[list[bytes]]:
    """Return the cells of the first lines of a table without a header; none if some are quoted."""
    lines = [line for line in _first_lines(first) if line.strip()]
    if any(b'"' in line for line in lines):
        return []
    mark = separator.encode()
    return [[cell.strip() for cell in line.split(mark, _MOST_WORDS)] for line in lines]


def _first_odd_line(first: FirstLine, vocabulary: Vocabulary | None) -> tuple[int, str] | None:
    """Return number and text of the line from which on no format fits, if one fits before."""
    rows = _first_rows(first)
    # As many of them fit, and so many do not; the halves between are tried.
    fit, unfit = 0, len(rows)
    while unfit - fit > 1:
        middle = (fit + unfit) // 2
        if _formats_by_content(rows[:middle], vocabulary):
            fit = middle
        else:
            unfit = middle
    return (first.number + fit, show(_first_lines(first)[fit])) if fit else None


def _has_target(rows: list[list[bytes]], variant: Sequence[str], item: TrialFormat) -> bool:
    """Tell whether a row is a target, if equal ids make one; else they may be something else."""
    if not item.is_target_if_same:
        return True
    first, second = map(variant.index, item.is_target_if_same)
    return any(row[first] == row[second] for row in rows)


def _formats_by_content(
    rows: list[list[bytes]], vocabulary: Vocabulary | None
) -> list[TrialFormat]:
    """Return the formats without a header that the first lines fit."""
    rows = [row for row in rows if row]
    widths = set(map(len, rows))
    if max(widths, default=_MOST_WORDS + 1) > _MOST_WORDS:
        return []
    # Each column is looked at once, whatever the number of formats.
    samples = [_Sample.of(column) for column in itertools.zip_longest(*rows)]
    fitting = []
    for item in FORMATS.values():
        for variant in item.variants:
            width = len(variant)
            is_short = item.last_optional and widths == {width - 1, width}
            if item.first_word or (widths != {width} and not is_short):
                continue
            pairs = zip(variant, samples, strict=True)
            if all(sample.fits(role, item, vocabulary) for role, sample in pairs) and (
                _has_target(rows, variant, item)
            ):
                fitting.append(item)
    return [item for item in fitting if item.words] or fitting
