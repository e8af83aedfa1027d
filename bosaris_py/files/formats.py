"""Text formats of the field as data, and how columns and format of a file are found out.

A format is one line: its columns from left to right. ``model``, ``segment``, ``side``, ``label``
and ``score`` are what they say, ``-`` is not read, other names are extra columns. ``[...]`` may be
absent, ``/`` separates layouts. Behind a colon stand the words of labels, for target, non-target
and spoof; ``*`` are those of all vocabularies. ``#`` marks extra columns of numbers. ``=`` tells
the names that a column may have in a header, the usual one first; files of such a format have a
header, those of others need none.
"""

import contextlib
import csv
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence

import attrs

from bosaris_py import _validation as check, errors
from bosaris_py.files.columns import VOCABULARIES, Vocabulary, classes_of, spell, vocabulary

ROLES = ("model", "segment", "side", "label", "score")
Columns = str | Sequence[str] | Mapping[str, str | None] | Mapping[str, int]
Named = list[str] | dict[str, str | None] | None

_TNS, _TN = "label:target|nontarget|spoof", "label=targettype:target|nontarget"
_BS = "bonafide|spoof"
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
    f"label:{_BS} [-]",
    "asvspoof5-sasv-protocol": f"model segment gender attack {_TNS}",
    "asvspoof5-sasv-scores": "model=spk segment=filename [cm-score#] [asv-score#] score=sasv-score",
    "asvspoof5-sasv-key": "model=spk segment=filename [cm-label] "
    "label=asv-label:target|nontarget|spoof",
    # bob: a trial is a target if claimed and real identity are equal, a spoof of an `attack`.
    "bob-2": "label:1|-1 score",
    "bob-4": "model real segment score",
    "bob-5": "claimed model real segment score",
    # Lists of the older NIST evaluations, whose models are numbers.
    "sre-list": "model [gender] segment [side] [label:*] / model [gender] segment [side] score",
    # What most people write who have no format, in any words.
    "plain": "score / label:* / score label / label score / segment label / segment score label / "
    "segment label score / model segment label / label model segment / "
    "model segment label score / model segment score label",
    # Tables with a header of which nothing else is known.
    "csv": "[model=model] [segment=segment] [side] [label=label|targettype|target:*] "
    "[score=score|llr]",
}
# Formats that are taken only if no other fits.
LAST = ("sre-list", "plain")
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
    # The columns of files without a header, with and without what may be absent; short ones first.
    variants: tuple[tuple[str, ...], ...] = ()
    # A line of no interest before the trials, and what stands for a missing number.
    first_line: str = ""
    missing: str = ""

    @property
    def separator(self) -> str:
        """What is written between columns; a blank stands for any number of blanks."""
        return " " if not self.header else "," if self.name in ("hyperion", "csv") else "\t"

    @property
    def header(self) -> dict[str, tuple[str, ...]]:
        """The names that the column of each role may have; empty without a header."""
        return {column.name: column.header for column in self.columns if column.header}

    @property
    def required(self) -> tuple[str, ...]:
        """The roles that a file with a header must have."""
        return tuple(c.name for c in self.columns if c.header and not c.is_optional)

    @property
    def last_optional(self) -> bool:
        """Whether a line may lack its last column, the score."""
        last = self.columns[-1]
        return not self.header and last.name == "score" and last.is_optional

    @property
    def numbers(self) -> list[str]:
        """The extra columns that hold numbers."""
        return [column.name for column in self.columns if column.is_number]

    @property
    def same(self) -> tuple[str, str] | None:
        """Two columns that are equal where a trial is a target, in formats that tell so."""
        names = [column.name for column in self.columns]
        return ("claimed" if "claimed" in names else "model", "real") if "real" in names else None


def _parsed(name: str, line: str) -> Format:
    """Read a line of the catalogue."""
    columns: dict[str, FormatColumn] = {}
    variants: dict[tuple[str, ...], None] = {}
    words = ""
    for layout in line.split(" / "):
        found = [_COLUMN.findall(text)[0] for text in layout.split()]
        for bracket, role, number, header, labels in found:
            known = tuple(header.split("|")) if header else (role,) * (role == "side")
            known *= "=" in line
            columns.setdefault(role, FormatColumn(role, known, bool(bracket), bool(number)))
            words = words or labels
        # The last column of scores may be absent in single lines, others in all.
        choices = [
            [(), (role,)] if bracket and (role, at) != ("score", len(found) - 1) else [(role,)]
            for at, (bracket, role, *_) in enumerate(found)
        ]
        made = itertools.product(*choices)
        variants |= dict.fromkeys(tuple(itertools.chain(*each)) for each in made)
    vocabularies = tuple(map(vocabulary, words.split(","))) if words else ()
    return Format(
        name,
        tuple(columns.values()),
        VOCABULARIES if words == "*" else vocabularies,
        () if "=" in line else tuple(sorted(variants, key=len)),
        _FIRST_LINES.get(name, ""),
        _MISSING.get(name, ""),
    )


FORMATS: Mapping[str, Format] = {name: _parsed(name, line) for name, line in _LINES.items()}


def find_format(name: str, argument: str = "format") -> Format:
    """Return a format by name, or say which there are."""
    found = FORMATS.get(str(name))
    if found is None:
        raise check.invalid(argument, f"be one of {', '.join(FORMATS)}", check.describe(name))
    return found


def show(text: bytes) -> str:
    """Return the text of a line in quotes, cut to a readable length."""
    shown = text.strip()[:400].decode(errors="replace")
    return repr(errors.printable(shown[:80]) + "..." * (len(shown) > 80))


def format_of_names(names: Sequence[str]) -> Format:
    """Return the format of a file of these columns without a header."""
    return Format("columns", tuple(map(FormatColumn, names)), VOCABULARIES, (tuple(names),))


# Plans: which column of a file is which


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
    form: Format, names: Iterable[str], mark: bytes | None = None, *, skips_first_line: bool = False
) -> Plan:
    """Return the plan of columns that have the names of their roles."""
    columns = tuple((name if name in ROLES else None, name) for name in names)
    return Plan(form, columns, mark, skips_first_line)


# Names in the headers of any table

_REST = (
    "(id|ids|file|filename|path|wav|audio|utt|utterance|segment|seg|name|spk|speaker|rec|"
    "recording|sample|image|img|video)*"
)
_THING = (
    "(flac|wav|audio|cm|asv)?(utt|utterance|uttid|file|filename|fname|path|wav|audio|image|img|id|"
    "segment|seg|sample|item|rec|recording|speaker|spk|name)(id|path|file|name)*"
)
_AGAINST = "spoof|fake|imp|non|dif|att|mis|neg|dist"
# In small letters and digits alone; the likeliest names first.
NAMES: Mapping[str, Sequence[str]] = {
    "model": (
        "model[elo]?(id|s)?",
        f"(enroll?|enroll?ment|reference|ref|template|gallery|claim|claimed|known){_REST}",
        f"{_THING}[1a]",
        "(speaker|spk|subject|client|person|user)(id)?",
    ),
    "segment": (
        "segment(id|s)?",
        f"(test|trial|probe|query|questioned|evaluation|verification){_REST}",
        f"{_THING}[2b]",
        _THING,
    ),
    "side": ("side",),
    "label": (
        "labels?",
        "targettype|target",
        "(is|gt|true|trial)?(target|same|mate|mated|match|label|type)(speaker|source)?|key|class|"
        "truth|groundtruth|gt|ytrue|y|(is)?bonafide",
    ),
    "score": (
        "scores?|llrs?",
        "lrs?|loglikelihoodratio|likelihoodratio|loglr|cosine|cos|cossim|similarity|sim|plda|"
        "logits?|prob|probability|pred|prediction|output",
        f"(?!.*({_AGAINST})).*(scores?|llrs?|cosine|similarity)",
    ),
}

# Columns of the widest format without a header.
MOST_WORDS = max(len(variant) for item in FORMATS.values() for variant in item.variants)
# Names of files are no names of columns.
FILE_NAME = re.compile(r"[/\\]|\.(wav|flac|mp3|sph|m4a|ogg|png|jpe?g)$")
# What columns of formats without a header may hold.
WORDS_OF = {"gender": frozenset(("f", "m", "female", "male")), "side": frozenset("abx")}


# Numbers

# What may stand for a missing number.
MISSING_WORDS = frozenset(("", "-", "nan", "none", "null", "na", "n/a", "#n/a", "#nv", "?"))
NO_LINE = "is no line of columns; write a line for each trial, such as: model segment score"
# The same in a line, where it may hold blanks.
ODD_IN_LINE = re.compile(
    r"(?:^|[\s,;])([\w.]*(?:float\d*|tensor|array)\(.*|[\[(]+\s*[-+'\"]?\.?[\w{].*"
    r"|\{\s*['\"].*|<[a-z]+\.\w+.*|[\[{]\s*$)",
    re.IGNORECASE,
)
# What is meant to be a number, and is none.
_ODD_NUMBERS = {
    r"\(?[+-]?[\d.]+[+-][\d.]+j\)?": "is a complex number; write its real part",
    r"(['\"]?)[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+(e[+-]?\d+)?\1": "has a decimal comma; write a point",
    r"[\w.]*(float|double|decimal|half)\d*\(.*": "is how numpy shows a number; write it alone",
    r"[\w.]*(tensor|array)\(.*|<[a-z]+\.\w+.*": "is how an array is shown; write its number alone",
    r"[\[(]+\s*[-+]?\.?\d.*": "is a list; write the number alone",
    r"\{.*|\[\s*(\{.*)?": "is JSON; write a line for each trial, such as: model segment score",
    r"[a-z_]+[:=][+-]?[\d.]+(e[+-]?\d+)?": "has a name before the number; leave it out",
    r"[+-]?[\d.]+%": "is in per cent; write a fraction",
    "[\u2010-\u2015\u2212]\\.?\\d.*": "begins with a dash; write the minus sign of a keyboard",
    r"[+-]?\d{1,3}(['_,]\d{3})+(\.\d*)?": "has marks between thousands; leave them out",
    r"[+-]?[\d.]+(e[+-]?\d+)?[,;:]": "has a mark behind it; separate all columns by it, or none",
    r"b?(['\"])[+-]?[\d.]+(e[+-]?\d+)?\1": "is in quotes; leave them out",
    r"[+-]?[\d.]+d[+-]?\d+": "is how Fortran writes a number; write e for d",
    r'="[+-]?[\d.]+"': "is how Excel keeps a text; write the number alone",
    r"0x[\da-f]+": "is hexadecimal; write a decimal number",
    "[:-]{2,}": "is a rule below a header; leave its line out",
    r"[<>=~]+[+-]?[\d.]+|[+-]?\d*\.\d+[a-z]{1,3}": "has signs beside the number; leave them out",
}


def odd_number(text: str) -> str:
    """Say what a text is that is meant to be a number, and how to write it; "" of others."""
    lower = text.lower()
    return next((word for form, word in _ODD_NUMBERS.items() if re.fullmatch(form, lower)), "")


# Cells, and what is told of columns

_LONGEST_LOOKED_AT = 1000


class Look:
    """What the cells of the n-th column have in common; some may be words of `labels`."""

    def __init__(
        self, cells: Iterable[bytes], labels: Vocabulary | None = None, n: int = 0
    ) -> None:
        cells = [*cells]
        self.words = {c[:_LONGEST_LOOKED_AT].decode(errors="replace").lower() for c in cells}
        self.vocabularies = [*([] if labels is None else [labels]), *VOCABULARIES]
        self.is_told = labels is not None and bool(classes_of(self.words, [labels]))
        present = self.words - MISSING_WORDS
        digits = "".join(present)
        self.numbers: set[float] = set()
        with contextlib.suppress(ValueError):
            self.numbers = set(map(float, () if "_" in digits else present))
        # Unsigned whole numbers may be ids, and are taken for such if all are of one length.
        self.is_whole = bool(self.numbers) and digits.isdigit()
        self.are_ids = self.is_whole and len({*map(len, present)}) == 1 and len(min(present)) > 3
        self.has_decimals = bool(self.numbers) and not re.sub("[+-]", "", digits).isdigit()
        # Some code of labels, such as 1 and 2, if not that of 1 and 0; none of them is missing.
        is_coded = bool(self.numbers) and self.words == present
        self.is_truth = is_coded and self.numbers <= {-1.0, 0.0, 1.0}
        is_other = is_coded and self.numbers <= {0.0, 1.0, 2.0} and len(self.numbers) > 1
        self.are_codes = self.is_truth or is_other
        self.is_gender = len(self.words) == 2 and self.words <= WORDS_OF["gender"]
        # Whether the cells number the lines, as those of an index do, which stands first.
        numbers = [b"%d" % line for line in range(len(cells) + 1)]
        self.counts = n == 0 and len(cells) > 1 and cells in (numbers[:-1], numbers[1:])

    @property
    def is_pair(self) -> bool:
        """Whether the column has two words without digits, or H1 and H2, which may be labels."""
        is_plain = all(w.isalpha() or w in "h0 h1 h2" for w in self.words)
        return len(self.words) == 2 and is_plain and not self.is_gender

    def suits(self, role: str) -> bool:
        """Tell whether the column may have a role that its name tells; words need not be known."""
        is_odd = role == "score" and all(map(odd_number, self.words))
        return is_odd or self.may_be(role) or (role == "label" and len(self.words) == 2)

    def may_be(self, role: str) -> bool:
        """Tell whether the column may be one of scores, of labels or of ids."""
        if role == "score":
            return bool(self.numbers) and not (
                self.are_codes or self.are_ids or self.is_told or self.counts
            )
        is_label = bool(classes_of(self.words, self.vocabularies))
        return is_label if role == "label" else not (is_label or self.is_truth or self.has_decimals)


# What lies between blanks, in quotes or not.
_CELL = re.compile(rb'"([^"]*)"(?!\S)|(\S+)')


def unquote(text: bytes, mark: bytes | None) -> list[bytes]:
    """Cut a line in which cells may be in quotes; quotes that do not end make one cell."""
    if b'"' not in text:
        return [cell.strip() for cell in text.split(mark)]
    if mark is None:
        return [inner or cell for inner, cell in _CELL.findall(text)]
    line = text.decode(errors="surrogateescape").rstrip("\r")
    try:
        (row,) = csv.reader([line], delimiter=mark.decode(), strict=True, skipinitialspace=True)
    except (csv.Error, ValueError):
        return [text]
    return [cell.strip().encode(errors="surrogateescape") for cell in row]


def named_columns(columns: Columns | None, width: int) -> Named:
    """Return columns from left to right, or names in a header by role."""
    named: object = columns
    if isinstance(columns, str) and "=" in columns:
        pairs = [part.partition("=") for part in columns.split(",")]
        return {role.strip(): name.strip() or None for role, _, name in pairs}
    if columns is None:
        return None
    if isinstance(columns, str):
        named = columns.replace(",", " ").split()
    elif isinstance(columns, Mapping):
        if not any(type(at) is int for at in columns.values()):
            return {r: None if name is None else str(name) for r, name in columns.items()}
        role_at = {at: role for role, at in columns.items() if at is not None}
        if len(role_at) < len(columns) or not role_at.keys() <= {*range(width)}:
            expected = f"map roles to names in the header, or to positions from 0 to {width - 1}"
            raise check.invalid("columns", expected, repr(dict(columns)))
        named = [role_at.get(at, "-") for at in range(width)]
    if not (isinstance(named, list | tuple) and named and all(isinstance(n, str) for n in named)):
        raise check.invalid("columns", "be a list of names", check.describe(columns))
    if repeated := {*check.repetitions(named)} - {"-"}:
        got = f"{check.list_some(sorted(repeated))} more than once"
        raise check.invalid("columns", "name each column once", got)
    return [*named]


# How words begin that hardly mean targets.
_NEGATIVE = re.compile("n|un|dis|rej|imp|fa|[fid]$")


# What is true of a spoof is false of a target, and a score that is high for it low for targets.
NEGATED = " and labels='0=target,1=nontarget,false=target,true=nontarget'"
LOW = " if it is high for targets. Is it low? Then take -scores."


def denies(name: str) -> bool:
    """Tell whether a column speaks against targets, as is_spoof and distance do."""
    return re.search(rf"{_AGAINST}|(\b|_)(not|un|l[12])", name.lower()) is not None


def suggest_labels(words: Sequence[str]) -> str:
    """Return what to type for two words of labels, or more if two are known; "" of others."""
    known = max(VOCABULARIES, key=lambda each: sum(spell(word) in each for word in words))
    names = ("nontarget", "target", "spoof", "drop")
    meanings = [f"{word}={names[known.get(spell(word), -1)]}" for word in words]
    if {"target", "nontarget"} <= {each.rpartition("=")[2] for each in meanings}:
        return f"labels='{','.join(meanings)}'"
    if len(words) != 2:
        return ""
    first, second = sorted(words, key=lambda word: (bool(_NEGATIVE.match(word)), word))
    both = (first, second), (second, first)
    return " or ".join(f"labels='{target}=target,{other}=nontarget'" for target, other in both)
