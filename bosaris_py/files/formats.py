"""Text formats of the field as data, and how the format of a file is found out.

A format is one line: its columns from left to right. ``model``, ``segment``, ``side``, ``label``
and ``score`` are what they say, ``-`` is not read, other names are extra columns. ``[...]`` may be
absent. Behind a colon stand the words of labels, for target, non-target and spoof; a file uses one
set of them. ``#`` marks extra columns of numbers. ``=`` tells the names that a column may have in a
header, the usual one first; files of such a format have a header, those of others have none.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from bosaris_py._validation import describe, invalid
from bosaris_py.errors import FileFormatError, printable
from bosaris_py.files.columns import VOCABULARIES, Vocabulary, vocabulary

ROLES = ("model", "segment", "side", "label", "score")

# What files call a recording: `test_file`, `enrollment_wav`; the likeliest names first.
_ENDINGS = ["_file", "_path", "_wav", "_audio", "_utterance", "_segment", "_name", "id", "utt"]
_MODEL = (
    "model|modelid|model_id|enroll|enrol|enrollment|enrolment|enroll_id|enrol_id|enroll_utt|"
    "enrol_utt|utt1|speakerid|enrollment_id|enrolment_id|enrollment_utt|enrolment_utt"
)
_SEGMENT = (
    "segment|segmentid|segment_id|test|trial|test_id|trial_id|test_utt|trial_utt|utt2|"
    "flac_file_name"
)


def _with_endings(*sides: str) -> str:
    return "|".join(side + ending for side in sides for ending in _ENDINGS)


_MODEL += "|" + _with_endings("enroll", "enrol", "enrollment", "enrolment")
_SEGMENT += "|" + _with_endings("test", "trial")
_ANY_WORDS = ",".join("|".join(words) for words in VOCABULARIES)

_TNS, _TN, _BS = (
    "label:target|nontarget|spoof",
    "label=targettype:target|nontarget",
    "bonafide|spoof",
)
_NIST = "model=modelid|imageid segment=segmentid [side]"
_LA = "codec transmission attack"
_PA = "room microphone distance attacker_room attacker_microphone replay_device attacker_distance"

# Of formats that read a file in the same way, the first is the one that is found.
_LINES = {
    # Tables of the NIST evaluations, and of Hyperion, which took the names.
    "nist": f"{_NIST} [{_TN}] [score=LLR]",
    "hyperion": f"{_NIST} [{_TN}|spoof] [score=LLR]",
    # Kaldi, WeSpeaker and the toolkit; `kaldi-eer` is what compute-eer reads.
    "kaldi-trials": f"model segment [{_TNS}]",
    "kaldi-scores": "model segment [score]",
    "kaldi-eer": f"score {_TNS}",
    # VoxCeleb, VoxSRC and CN-Celeb.
    "voxceleb-trials": "[label:1|0] model segment",
    "voxceleb-scores": "score model segment",
    "cnceleb-trials": "model segment label:1|0",
    "wespeaker-scores": f"model segment score [{_TNS},{_BS}]",
    "wespeaker-normalised": f"model segment score {_TNS} "
    "model_magnitude# segment_magnitude# model_mean# segment_mean#",
    "speechbrain-scores": "model segment label:1|0 score",
    "dca-plda-key": "model segment label:tgt|imp",
    # The short-duration and text-dependent challenges, below a first line.
    "sdsv-trials": "model segment",
    # The ASVspoof challenges: countermeasures (CM) and speaker verifiers (ASV).
    "asvspoof2015-cm-key": "speaker segment attack label:human|spoof",
    "asvspoof2017-cm-key": "segment label:genuine|spoof "
    "speaker phrase environment playback recording",
    "asvspoof2019-cm-key": f"speaker segment environment attack label:{_BS}",
    "asvspoof2019-cm-scores": f"segment attack label:{_BS} score",
    "asvspoof2019-asv-key": f"model segment [environment] attack {_TNS}",
    "asvspoof2019-asv-scores": f"attack {_TNS} score",
    "asvspoof2021-cm-scores": "segment score",
    "asvspoof2021-la-key": f"speaker segment {_LA} label:{_BS} trim subset",
    "asvspoof2021-la-asv-key": f"model segment {_LA} {_TNS} trim subset",
    "asvspoof2021-pa-key": f"speaker segment {_PA} label:{_BS} trim subset",
    "asvspoof2021-df-key": f"speaker segment codec source attack label:{_BS} "
    "trim subset vocoder - - - -",
    "asvspoof5-cm-scores": "segment=filename score=cm-score",
    "asvspoof5-cm-key": f"segment=filename label=cm-label:{_BS}",
    "asvspoof5-cm-protocol": "speaker segment gender codec codec_q codec_seed attack_tag attack "
    f"label:{_BS} -",
    "asvspoof5-sasv-protocol": f"model segment gender attack {_TNS}",
    "asvspoof5-sasv-scores": "model=spk segment=filename [cm-score#] [asv-score#] score=sasv-score",
    "asvspoof5-sasv-key": "model=spk segment=filename [cm-label] "
    "label=asv-label:target|nontarget|spoof",
    # bob: a trial is a target if claimed and real identity are equal, a spoof of an `attack`.
    "bob-2": "label:1|-1 score",
    "bob-4": "model real segment score",
    "bob-5": "claimed model real segment score",
    # Tables with a header of which nothing else is known.
    "csv": f"model={_MODEL} segment={_SEGMENT} [side] "
    f"[label=label|targettype|target:{_ANY_WORDS}] [score=score|llr]",
}
# What comes before the lines of trials; its first word must be there.
_FIRST_LINES = {"sdsv-trials": "model-id evaluation-file-id"}
# What stands for a missing number.
_MISSING = {"asvspoof5-sasv-scores": "-"}

_COLUMN = re.compile(r"(\[?)([^=:#\]]+)(#?)(?:=([^:\]]+))?(?::([^\]]+))?\]?")


@attrs.frozen
class FormatColumn:
    """A column of a format: a role or a name, and what is known of it."""

    name: str
    header: tuple[str, ...] = ()
    is_optional: bool = False
    is_number: bool = False


@attrs.frozen
class Format:
    """The layout of one text format."""

    name: str
    columns: tuple[FormatColumn, ...]
    vocabularies: tuple[Vocabulary, ...] = ()
    # A line of no interest before the trials.
    first_line: str = ""
    # What stands for a missing number.
    missing: str = ""
    # What is written between columns; a blank stands for any number of blanks.
    separator: str = " "

    @property
    def has_header(self) -> bool:
        """Whether columns are found by the names in the first line."""
        return bool(self.header)

    @property
    def header(self) -> dict[str, tuple[str, ...]]:
        """The names that the column of each role may have."""
        return {column.name: column.header for column in self.columns if column.header}

    @property
    def required(self) -> tuple[str, ...]:
        """The roles that a file with a header must have."""
        return tuple(c.name for c in self.columns if c.header and not c.is_optional)

    @property
    def last_optional(self) -> bool:
        """Whether a line may lack its last column, the score."""
        last = self.columns[-1]
        return not self.has_header and last.name == "score" and last.is_optional

    @property
    def variants(self) -> list[tuple[str, ...]]:
        """The columns of files without a header, with and without what may be absent."""
        every = tuple(column.name for column in self.columns)
        least = tuple(column.name for column in self.columns if not column.is_optional)
        if self.has_header:
            return []
        return [every] if least == every or self.last_optional else [least, every]

    @property
    def numbers(self) -> list[str]:
        """The extra columns that hold numbers."""
        return [column.name for column in self.columns if column.is_number]

    @property
    def same(self) -> tuple[str, str] | None:
        """Two columns that are equal where a trial is a target, in formats that tell so."""
        names = [column.name for column in self.columns]
        return ("claimed" if "claimed" in names else "model", "real") if "real" in names else None

    @property
    def model_id(self) -> str:
        """Id of the one model of files without models; a countermeasure accepts bona fide."""
        accepts = [word for words in self.vocabularies[:1] for word in words]
        return "bonafide" if "-cm-" in self.name or accepts[:1] == ["bonafide"] else "all"


def _parsed(name: str, line: str) -> Format:
    """Read a line of the catalogue."""
    found = [_COLUMN.findall(text)[0] for text in line.split()]
    has_header = "=" in line
    columns = tuple(
        FormatColumn(
            column,
            tuple(header.split("|")) if header else (column,) * (column == "side" and has_header),
            bool(bracket),
            bool(number),
        )
        for bracket, column, number, header, _ in found
    )
    words = next((labels for *_, labels in found if labels), "")
    return Format(
        name,
        columns,
        tuple(map(vocabulary, words.split(","))) if words else (),
        _FIRST_LINES.get(name, ""),
        _MISSING.get(name, ""),
        ("," if name in ("hyperion", "csv") else "\t") if has_header else " ",
    )


FORMATS: Mapping[str, Format] = {name: _parsed(name, line) for name, line in _LINES.items()}


def find_format(name: str, argument: str = "format") -> Format:
    """Return a format by name, or say which there are."""
    found = FORMATS.get(str(name))
    if found is None:
        known = f"be one of {', '.join(FORMATS)}"
        raise invalid(argument, known, describe(name))
    return found


def show(text: bytes) -> str:
    """Return the text of a line in quotes, cut to a readable length."""
    shown = text.strip()[:400].decode(errors="replace")
    return repr(printable(shown) if len(shown) <= 80 else f"{printable(shown[:80])}...")


def cut_header(line: bytes) -> tuple[str | None, list[str]]:
    """Return the separator of a header, and its names."""
    text = line.decode(errors="replace").strip("\r\n")
    separator = next((mark for mark in "\t,;" if mark in text), None)
    names = text.split(separator) or [text]
    return separator, [name.strip().strip('"') if separator else name.strip('"') for name in names]


# Detection

_LINES_LOOKED_AT, _LONGEST_LOOKED_AT = 1000, 1000
# Columns of the widest format without a header.
_MOST_WORDS = max(len(item.columns) for item in FORMATS.values() if not item.has_header)
# Labels, not scores, if a column has nothing else.
_TRUTH_VALUES = {"1", "0", "-1", "+1"}


def detect_lines(
    lines: Sequence[bytes], path: Path, labels: Vocabulary | None = None, first: int = 1
) -> Format:
    """Find out the format from the first lines of a file, which begin with a number of their own.

    `labels` are those of the caller.
    """
    if not lines:
        raise FileFormatError(f"{path}: there is no line in this file to find out its format")
    lines = lines[:_LINES_LOOKED_AT]
    rows = [line.split(None, _MOST_WORDS) for line in lines]
    separator, cells = cut_header(lines[0])
    width = len(rows[0])
    found = _by_header(separator, cells) or _by_content(rows, labels)
    if not found and separator and b'"' not in b"".join(lines):
        mark, width = separator.encode(), len(cells)
        rows = [[cell.strip() for cell in line.split(mark, _MOST_WORDS)] for line in lines]
        found = _by_content(rows, labels)
    distinct: dict[object, Format] = {}
    for item in found:
        widths = width, width + item.last_optional
        roles = next((v for v in item.variants if len(v) in widths), ())
        words = item.vocabularies if labels is None and "label" in roles else ()
        distinct.setdefault((roles or item.name, str(words), item.model_id), item)
    if len(distinct) == 1:
        return found[0]
    if distinct:
        names = ", ".join(item.name for item in distinct.values())
        message = f"{path}: {show(lines[0])} could be {names}."
        raise FileFormatError(message, use={"format": None}, path=path)
    message = f"{path}: no format fits the first lines, such as {show(lines[0])}."
    fitting = next((n for n in range(1, len(rows)) if not _by_content(rows[: n + 1], labels)), 0)
    if fitting and _by_content(rows[:1], labels):
        where = f"{path}:{first + fitting}:"
        message = f"{where} {show(lines[fitting])} is not like the lines before it."
    hint = (
        "Tell the columns, as in model=known,segment=questioned,score=llr; what other words "
        f"mean, as in H1=target,H2=nontarget; or the format, one of {', '.join(FORMATS)}."
    )
    use = dict.fromkeys(("columns", "labels", "format"))
    raise FileFormatError(message, hint=hint, use=use, path=path)


def _by_header(separator: str | None, names: list[str]) -> list[Format]:
    """Return the formats whose needed columns are named in the first line."""
    lower = [name.lower() for name in names]
    words = [item for item in FORMATS.values() if item.first_line.split(" ")[0] == lower[0]]
    if words and lower[0]:
        return words
    counts = {}
    for item in FORMATS.values():
        if item.has_header and (
            item.name == "csv" or (separator == ",") == (item.separator == ",")
        ):
            header = item.header.items()
            found = {role for role, known in header if any(n.lower() in lower for n in known)}
            if found.issuperset(item.required):
                counts[item.name] = len(found)
    n_any = counts.pop("csv", 0)
    if counts:
        return [FORMATS[name] for name in counts if counts[name] == max(counts.values())]
    # The names of any table are common words; between blanks they may be a line of trials.
    is_known = {"model", "segment"} <= set(lower) or n_any > 2
    return [FORMATS["csv"]] if n_any and separator and is_known else []


def _are_numbers(words: Iterable[str]) -> bool:
    """Tell whether all words are numbers."""
    try:
        list(map(float, words))
    except ValueError:
        return False
    return "_" not in "".join(words)


def _by_content(rows: Sequence[Sequence[bytes]], labels: Vocabulary | None) -> list[Format]:
    """Return the formats without a header that the first lines fit."""
    widths = set(map(len, rows))
    if max(widths) > _MOST_WORDS:
        return []
    known = [*VOCABULARIES, *([labels] if labels else [])]
    columns = []
    for column in itertools.zip_longest(*rows):
        shown = {word[:_LONGEST_LOOKED_AT] for word in set(column) if word}
        words = {word.decode(errors="replace").lower() for word in shown}
        digits = re.sub(r"[+-]", "", "".join(words))
        has_decimals = _are_numbers(words) and bool(digits) and not digits.isdigit()
        are_labels = words <= _TRUTH_VALUES or any(words <= set(item) for item in known)
        columns.append((words, has_decimals, are_labels))

    def fits(item: Format, role: str, words: set[str], *, decimals: bool, labelled: bool) -> bool:
        if role == "score":
            present = words - {item.missing, "nan"}
            return _are_numbers(present) and not present <= _TRUTH_VALUES
        if role == "label":
            return any(words <= set(v) for v in ([labels] if labels else item.vocabularies))
        if role in ("model", "segment") or role in (item.same or ()):
            return not decimals and not labelled
        if role == "gender":
            return words <= {"f", "m"}
        return _are_numbers(words) if role in item.numbers else not decimals

    fitting = []
    for item in FORMATS.values():
        for variant in item.variants:
            width = len(variant)
            if item.first_line or not (
                widths == {width} or (item.last_optional and widths == {width - 1, width})
            ):
                continue
            looks = (
                fits(item, role, words, decimals=decimals, labelled=labelled)
                for role, (words, decimals, labelled) in zip(variant, columns, strict=True)
            )
            # Where equal ids make a target, one must be there; else they may be something else.
            places = [variant.index(name) for name in item.same or ()]
            if all(looks) and (not places or any(r[places[0]] == r[places[1]] for r in rows)):
                fitting.append(item)
    return [item for item in fitting if "gender" in [c.name for c in item.columns]] or fitting
