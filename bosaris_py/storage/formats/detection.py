"""Find out the format of a file from its first lines."""

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import attrs

from bosaris_py._validation import FilePath
from bosaris_py.errors import FileFormatError
from bosaris_py.storage.formats.catalogue import FORMATS
from bosaris_py.storage.formats.columns import FirstLine
from bosaris_py.storage.formats.spec import (
    LABEL,
    MODEL,
    SCORE,
    SEGMENT,
    VOCABULARIES,
    TrialFormat,
    Vocabulary,
)
from bosaris_py.storage.tokens import read_blocks, show

_LINES_LOOKED_AT = 1000

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
    - an id unless all are numbers with a decimal point, or all are labels.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py.storage.formats import detect_format
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("0.731 anna/1.wav s1.wav\n-0.2 bert/1.wav s1.wav\n")
    >>> detect_format(path)
    'voxceleb-scores'
    """
    file_path = Path(path)
    return detect_in(next((data for _, data in read_blocks(file_path)), b""), file_path)


def detect_in(data: bytes, path: Path, told: Sequence[Vocabulary] = ()) -> str:
    """Find out the format from some lines of a file, which the error names.

    Parameters
    ----------
    data : bytes
        The lines.
    path : Path
        The file.
    told : sequence of Vocabulary, optional
        The labels of the caller, which then stand for those of the formats.

    Returns
    -------
    str
        Name of the format.

    Raises
    ------
    FileFormatError
        As `detect_format`.
    """
    first = FirstLine.of(data, 1)
    if first is None:
        message = f"{path}: there is no line in this file, so its format cannot be found out"
        raise FileFormatError(message)
    candidates = _formats_by_header(first) or _formats_by_content(data.lstrip(), told)
    distinct = _without_repeats(candidates, first, told)
    if len(distinct) == 1:
        return distinct[0].name
    if not distinct:
        message = (
            f"{path}: no format fits the first lines, such as {show(first.text)}; name one of "
            f"{', '.join(FORMATS)}, or tell what the `columns` are"
        )
        raise FileFormatError(message)
    names = ", ".join(item.name for item in distinct)
    message = f"{path}: {show(first.text)} could be {names}; say which by `format`"
    raise FileFormatError(message)


def _formats_by_header(first: FirstLine) -> list[TrialFormat]:
    """Return the formats whose needed columns are named in the first line."""
    separator, names = first.cut()
    beginning = names[0].lower()
    words = [item for item in FORMATS.values() if item.first_word and item.first_word == beginning]
    if words:
        return words
    in_lower = {name.lower() for name in names}
    counts: dict[str, int] = {}
    for item in FORMATS.values():
        is_any = item.name == "csv"
        if not item.has_header or not (is_any or (separator == ",") == (item.separator == ",")):
            continue
        found = {
            role
            for role, accepted in item.header.items()
            if in_lower.intersection(name.lower() for name in accepted)
        }
        if found.issuperset(item.required):
            counts[item.name] = len(found)
    named = [name for name in counts if name != "csv"]
    if not named:
        # Its names are common words; between blanks they may be a line of trials.
        is_known = in_lower.issuperset(("model", "segment")) or counts.get("csv", 0) > 2
        return [FORMATS["csv"]] if "csv" in counts and separator and is_known else []
    most = max(counts[name] for name in named)
    return [FORMATS[name] for name in named if counts[name] == most]


@attrs.frozen
class _Sample:
    """What the values of one column look like in the first lines.

    Parameters
    ----------
    words : set of str
        The values, in lower case.
    is_numeric : bool
        All are numbers.
    has_decimals : bool
        All are numbers, and some are not written as whole ones.
    """

    words: frozenset[str]
    is_numeric: bool
    has_decimals: bool

    @classmethod
    def of(cls, values: Iterable[str]) -> "_Sample":
        words = frozenset(value.lower() for value in values)
        is_numeric = all(map(_is_number, words))
        has_decimals = is_numeric and not all(word.lstrip("+-").isdigit() for word in words)
        return cls(words, is_numeric, has_decimals)

    def fits_score(self, missing: Collection[str]) -> bool:
        """Tell whether these can be scores."""
        present = self.words.difference(missing, ("nan",))
        return all(map(_is_number, present)) and not present <= _TRUTH_VALUES

    def fits_label(self, vocabularies: Sequence[Vocabulary]) -> bool:
        """Tell whether these can be labels."""
        return any(self.words <= set(item.classes) for item in vocabularies)

    def fits_id(self, told: Sequence[Vocabulary]) -> bool:
        """Tell whether these can be ids."""
        are_labels = self.words <= _TRUTH_VALUES or self.fits_label((*VOCABULARIES, *told))
        return not self.has_decimals and not are_labels


def _is_number(word: str) -> bool:
    if "_" in word:
        return False
    try:
        float(word)
    except ValueError:
        return False
    return True


def _formats_by_content(data: bytes, told: Sequence[Vocabulary]) -> list[TrialFormat]:
    """Return the formats without a header that the first lines fit."""
    lines = (line.split() for line in data.split(b"\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT])
    rows = [[word.decode(errors="replace") for word in line] for line in lines if line]
    widths = {len(row) for row in rows}
    fitting = []
    for item in FORMATS.values():
        for variant in item.variants:
            is_short = item.last_optional and widths == {len(variant) - 1, len(variant)}
            if item.first_word or (widths != {len(variant)} and not is_short):
                continue
            samples = [
                _Sample.of(row[place] for row in rows if place < len(row))
                for place in range(len(variant))
            ]
            if _fits(item, variant, samples, told):
                fitting.append(item)
    return fitting


def _fits(
    item: TrialFormat, variant: tuple[str, ...], samples: list[_Sample], told: Sequence[Vocabulary]
) -> bool:
    """Tell whether all columns look as a format says."""
    for role, sample in zip(variant, samples, strict=True):
        if role == SCORE:
            fits = sample.fits_score(item.missing)
        elif role == LABEL:
            fits = sample.fits_label(told or item.vocabularies)
        elif role in (MODEL, SEGMENT) or role in item.is_target_if_same:
            fits = sample.fits_id(told)
        elif role in item.numbers:
            fits = sample.is_numeric
        else:
            fits = not sample.has_decimals
        if not fits:
            return False
    return True


def _without_repeats(
    candidates: Sequence[TrialFormat], first: FirstLine, told: Sequence[Vocabulary]
) -> list[TrialFormat]:
    """Leave out formats that would read the file as an earlier one does."""
    width = len(first.text.split())
    seen: list[tuple[object, ...]] = []
    distinct = []
    for item in candidates:
        variants = [v for v in item.variants if len(v) in (width, width + item.last_optional)]
        roles = variants[0] if variants else ()
        # Names of extra columns tell nothing that the file does not say.
        has_label = LABEL in roles
        what = (roles, (told or item.vocabularies) if has_label else (), item.model_id)
        if not roles or what not in seen:
            seen.append(what)
            distinct.append(item)
    return distinct
