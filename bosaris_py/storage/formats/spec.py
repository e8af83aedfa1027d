"""Description of a text format: columns, separators, labels."""

import enum
from collections.abc import Mapping

import attrs

MODEL, SEGMENT, SIDE, LABEL, SCORE = ROLES = ("model", "segment", "side", "label", "score")

# A column that is not read.
SKIPPED = "-"


class TrialClass(enum.IntEnum):
    """What a label says of a trial."""

    NONTARGET = 0
    TARGET = 1
    # A third class: the claimed speaker, but no speech of hers.
    SPOOF = 2
    # A trial that the caller does not want.
    DROPPED = 3


@attrs.frozen
class Vocabulary:
    """The words that stand for target and non-target.

    Parameters
    ----------
    name : str
        The words, for messages.
    classes : mapping of str to TrialClass
        What each means, in lower case; they are read in any case of letters.
    """

    name: str
    classes: Mapping[str, TrialClass]

    def word_for(self, trial_class: TrialClass) -> str:
        """Return the word for a class."""
        return next(word for word, meaning in self.classes.items() if meaning == trial_class)


def _vocabulary(target: str, nontarget: str, spoof: str | None = None) -> Vocabulary:
    classes = {target: TrialClass.TARGET, nontarget: TrialClass.NONTARGET}
    if spoof is not None:
        classes[spoof] = TrialClass.SPOOF
    return Vocabulary("|".join(classes), classes)


TARGET_NONTARGET = _vocabulary("target", "nontarget")

TARGET_NONTARGET_SPOOF = _vocabulary("target", "nontarget", "spoof")

TGT_IMP = _vocabulary("tgt", "imp")

ONE_ZERO = _vocabulary("1", "0")

ONE_MINUS_ONE = _vocabulary("1", "-1")

# Of a detector of spoofs: bona fide speech is what it accepts.
BONAFIDE_SPOOF = _vocabulary("bonafide", "spoof")

TRUE_FALSE = _vocabulary("true", "false")

VOCABULARIES = (
    TARGET_NONTARGET_SPOOF,
    TGT_IMP,
    ONE_ZERO,
    ONE_MINUS_ONE,
    BONAFIDE_SPOOF,
    TRUE_FALSE,
)


@attrs.frozen(kw_only=True)
class TrialFormat:
    """The layout of one text format.

    Parameters
    ----------
    name : str
        By which users ask for it.
    description : str
        The layout of a line, and who writes such files.
    variants : tuple of tuple of str
        For files without a header, what the columns are, one tuple for each number of
        columns. ``"model"``, ``"segment"``, ``"side"``, ``"label"`` and ``"score"`` are
        what they say, ``"-"`` is not read, other names are extra columns.
    header : mapping of str to tuple of str
        For files with a header, the names that the column of each of these may have,
        the usual one first.
    order : tuple of str
        For files with a header, in which order columns are written; the others follow.
    required : tuple of str
        Which of the columns of a file with a header must be there.
    first_word : str
        For files without a header but with a first line of no interest: its first word.
    first_line : str
        That line, as it is written.
    vocabularies : tuple of Vocabulary
        The labels; a file uses one of them.
    is_target_if_same : tuple of str
        For formats without labels: a trial is a target if these two columns are equal,
        and a spoof if the second is ``attack``.
    numbers : frozenset of str
        Extra columns that hold numbers.
    missing : tuple of str
        What stands for a missing number.
    last_optional : bool
        A line may lack its last column, the score.
    model_id : str
        Id of the one model of files that have no column of models.
    separator : str
        What is written between columns; a blank stands for any number of blanks.
    skipped_text : str
        What is written in columns that are not read.
    """

    name: str
    description: str
    variants: tuple[tuple[str, ...], ...] = ()
    header: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    order: tuple[str, ...] = ROLES
    required: tuple[str, ...] = ()
    first_word: str = ""
    first_line: str = ""
    vocabularies: tuple[Vocabulary, ...] = ()
    is_target_if_same: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    missing: tuple[str, ...] = ()
    last_optional: bool = False
    model_id: str = "all"
    separator: str = " "
    skipped_text: str = "-"

    @property
    def has_header(self) -> bool:
        """Whether the columns are found by the names in the first line."""
        return bool(self.header)
