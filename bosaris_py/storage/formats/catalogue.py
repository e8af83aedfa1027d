"""Text formats of the field: how a format is described, and the description of each.

To add a format, add a `TrialFormat` to `_ALL`, a file to the tests and an example to
``docs/formats.md``.
"""

import enum
from collections.abc import Mapping
from types import MappingProxyType

import attrs

from bosaris_py._validation import describe, invalid

MODEL, SEGMENT, SIDE, LABEL, SCORE = ROLES = ("model", "segment", "side", "label", "score")

# A column that is not read.
SKIPPED = "-"


class TrialClass(enum.IntEnum):
    """What a label says of a trial."""

    NONTARGET = 0
    TARGET = 1
    # A third class: synthetic, converted or replayed speech of the claimed speaker.
    SPOOF = 2
    # A trial that the caller does not want.
    DROPPED = 3


@attrs.frozen
class Vocabulary:
    """The words that stand for the classes, in lower case; `name` lists them for messages."""

    name: str
    classes: Mapping[str, TrialClass]

    def word_for(self, trial_class: TrialClass) -> str:
        """Return the word for a class."""
        return next(word for word, meaning in self.classes.items() if meaning == trial_class)


def _vocabulary(*words: str) -> Vocabulary:
    """Return words for target and non-target, and perhaps for spoofs."""
    order = (TrialClass.TARGET, TrialClass.NONTARGET, TrialClass.SPOOF)
    return Vocabulary("|".join(words), dict(zip(words, order, strict=False)))


TARGET_NONTARGET = _vocabulary("target", "nontarget")
TARGET_NONTARGET_SPOOF = _vocabulary("target", "nontarget", "spoof")
TGT_IMP = _vocabulary("tgt", "imp")
ONE_ZERO = _vocabulary("1", "0")
ONE_MINUS_ONE = _vocabulary("1", "-1")
# Of a detector of spoofs: it accepts bona fide speech.
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


_NIST_HEADER = {
    # Evaluations of faces and of voices with faces name a model by its image.
    MODEL: ("modelid", "imageid"),
    SEGMENT: ("segmentid",),
    SIDE: ("side",),
    LABEL: ("targettype",),
    SCORE: ("LLR",),
}

_NORMALISATION = ("model_magnitude", "segment_magnitude", "model_mean", "segment_mean")

_MODEL_OF_CM = "bonafide"

_EVALUATION = ("trim", "subset")

_LA_2021 = ("codec", "transmission", "attack")

_PA_2021 = (
    "room",
    "microphone",
    "distance",
    "attacker_room",
    "attacker_microphone",
    "replay_device",
    "attacker_distance",
)

_DF_2021 = ("codec", "source", "attack")


_ALL = (
    # Tables of the NIST speaker recognition evaluations, and of Hyperion, which took the names.
    TrialFormat(
        name="nist",
        description="trial lists, keys and system outputs of NIST SRE16 and later (.tsv)",
        header=_NIST_HEADER,
        required=(MODEL, SEGMENT),
        vocabularies=(TARGET_NONTARGET,),
        separator="\t",
    ),
    TrialFormat(
        name="hyperion",
        description="keys and scores of Hyperion (.csv)",
        header=_NIST_HEADER,
        required=(MODEL, SEGMENT),
        vocabularies=(TARGET_NONTARGET_SPOOF,),
        separator=",",
    ),
    # Lists of Kaldi, which many toolkits share; the toolkit's own text files look the same.
    TrialFormat(
        name="kaldi-trials",
        description="model segment [target|nontarget]: Kaldi, WeSpeaker, BOSARIS .txt",
        variants=((MODEL, SEGMENT), (MODEL, SEGMENT, LABEL)),
        vocabularies=(TARGET_NONTARGET_SPOOF,),
    ),
    TrialFormat(
        name="kaldi-scores",
        description="model segment [score]: Kaldi, BOSARIS .txt, ASVspoof 2021 ASV scores",
        variants=((MODEL, SEGMENT, SCORE),),
        last_optional=True,
    ),
    TrialFormat(
        name="kaldi-eer",
        description="score target|nontarget: what compute-eer of Kaldi reads",
        variants=((SCORE, LABEL),),
        vocabularies=(TARGET_NONTARGET_SPOOF,),
    ),
    # Lists of VoxCeleb and CN-Celeb, and the scores of their challenges.
    TrialFormat(
        name="voxceleb-trials",
        description="1|0 model segment: VoxCeleb and VoxSRC; model segment: VoxSRC test sets",
        variants=((MODEL, SEGMENT), (LABEL, MODEL, SEGMENT)),
        vocabularies=(ONE_ZERO,),
    ),
    TrialFormat(
        name="voxceleb-scores",
        description="score model segment: VoxSRC, voxceleb_trainer",
        variants=((SCORE, MODEL, SEGMENT),),
    ),
    TrialFormat(
        name="cnceleb-trials",
        description="model segment 1|0: CN-Celeb trials.lst",
        variants=((MODEL, SEGMENT, LABEL),),
        vocabularies=(ONE_ZERO,),
    ),
    # Score files of WeSpeaker and SpeechBrain, and keys of DCA-PLDA.
    TrialFormat(
        name="wespeaker-scores",
        description="model segment score label: WeSpeaker, ASVspoof 5 baselines",
        variants=((MODEL, SEGMENT, SCORE), (MODEL, SEGMENT, SCORE, LABEL)),
        vocabularies=(TARGET_NONTARGET_SPOOF, BONAFIDE_SPOOF),
    ),
    TrialFormat(
        name="wespeaker-normalised",
        description="model segment score label and four numbers: score_norm of WeSpeaker",
        variants=((MODEL, SEGMENT, SCORE, LABEL, *_NORMALISATION),),
        vocabularies=(TARGET_NONTARGET_SPOOF,),
        numbers=frozenset(_NORMALISATION),
    ),
    TrialFormat(
        name="speechbrain-scores",
        description="model segment 1|0 score: scores.txt of SpeechBrain's VoxCeleb recipe",
        variants=((MODEL, SEGMENT, LABEL, SCORE),),
        vocabularies=(ONE_ZERO,),
    ),
    TrialFormat(
        name="dca-plda-key",
        description="model segment tgt|imp: keys of DCA-PLDA",
        variants=((MODEL, SEGMENT, LABEL),),
        vocabularies=(TGT_IMP,),
    ),
    # Trial lists of the Short-duration and Text-dependent Speaker Verification challenges.
    TrialFormat(
        name="sdsv-trials",
        description="model segment below a header that begins with model-id: SdSVC, TdSVC",
        variants=((MODEL, SEGMENT),),
        first_word="model-id",
        first_line="model-id evaluation-file-id",
    ),
    # Keys and scores of the ASVspoof challenges.
    # A countermeasure (CM) accepts bona fide speech: its one model is called ``bonafide``, its
    # targets are bona fide utterances. A speaker verifier (ASV) has spoofs as a third class.
    TrialFormat(
        name="asvspoof2019-cm-key",
        description="speaker segment environment attack bonafide|spoof: ASVspoof 2019 CM protocols",
        variants=(("speaker", SEGMENT, "environment", "attack", LABEL),),
        vocabularies=(BONAFIDE_SPOOF,),
        model_id=_MODEL_OF_CM,
    ),
    TrialFormat(
        name="asvspoof2019-cm-scores",
        description="segment attack bonafide|spoof score: ASVspoof 2019 CM scores",
        variants=((SEGMENT, "attack", LABEL, SCORE),),
        vocabularies=(BONAFIDE_SPOOF,),
        model_id=_MODEL_OF_CM,
    ),
    TrialFormat(
        name="asvspoof2019-asv-key",
        description="model segment [environment] attack target|nontarget|spoof: ASVspoof 2019 ASV",
        variants=(
            (MODEL, SEGMENT, "attack", LABEL),
            (MODEL, SEGMENT, "environment", "attack", LABEL),
        ),
        vocabularies=(TARGET_NONTARGET_SPOOF,),
    ),
    TrialFormat(
        name="asvspoof2019-asv-scores",
        description="attack target|nontarget|spoof score: ASVspoof 2019 ASV scores",
        variants=(("attack", LABEL, SCORE),),
        vocabularies=(TARGET_NONTARGET_SPOOF,),
    ),
    TrialFormat(
        name="asvspoof2021-cm-scores",
        description="segment score: ASVspoof 2021 CM scores",
        variants=((SEGMENT, SCORE),),
        model_id=_MODEL_OF_CM,
    ),
    TrialFormat(
        name="asvspoof2021-la-key",
        description="speaker segment codec transmission attack bonafide|spoof trim subset",
        variants=(("speaker", SEGMENT, *_LA_2021, LABEL, *_EVALUATION),),
        vocabularies=(BONAFIDE_SPOOF,),
        model_id=_MODEL_OF_CM,
    ),
    TrialFormat(
        name="asvspoof2021-la-asv-key",
        description="model segment codec transmission attack target|nontarget|spoof trim subset",
        variants=((MODEL, SEGMENT, *_LA_2021, LABEL, *_EVALUATION),),
        vocabularies=(TARGET_NONTARGET_SPOOF,),
    ),
    TrialFormat(
        name="asvspoof2021-pa-key",
        description="speaker segment, seven factors, bonafide|spoof trim subset",
        variants=(("speaker", SEGMENT, *_PA_2021, LABEL, *_EVALUATION),),
        vocabularies=(BONAFIDE_SPOOF,),
        model_id=_MODEL_OF_CM,
    ),
    TrialFormat(
        name="asvspoof2021-df-key",
        description="speaker segment codec source attack bonafide|spoof trim subset vocoder - ...",
        variants=(
            ("speaker", SEGMENT, *_DF_2021, LABEL, *_EVALUATION, "vocoder", "-", "-", "-", "-"),
        ),
        vocabularies=(BONAFIDE_SPOOF,),
        model_id=_MODEL_OF_CM,
    ),
    TrialFormat(
        name="asvspoof5-cm-scores",
        description="header filename, cm-score: ASVspoof 5 track 1 (.tsv)",
        header={SEGMENT: ("filename",), SCORE: ("cm-score",)},
        required=(SEGMENT, SCORE),
        separator="\t",
        model_id=_MODEL_OF_CM,
    ),
    TrialFormat(
        name="asvspoof5-cm-key",
        description="header filename, cm-label: ASVspoof 5 track 1 (.tsv)",
        header={SEGMENT: ("filename",), LABEL: ("cm-label",)},
        required=(SEGMENT, LABEL),
        vocabularies=(BONAFIDE_SPOOF,),
        separator="\t",
        model_id=_MODEL_OF_CM,
    ),
    TrialFormat(
        name="asvspoof5-sasv-scores",
        description="header spk, filename, cm-score, asv-score, sasv-score: ASVspoof 5 track 2",
        header={MODEL: ("spk",), SEGMENT: ("filename",), SCORE: ("sasv-score",)},
        order=(MODEL, SEGMENT, "cm-score", "asv-score", SCORE),
        required=(MODEL, SEGMENT, SCORE),
        numbers=frozenset(("cm-score", "asv-score")),
        missing=("-",),
        separator="\t",
    ),
    TrialFormat(
        name="asvspoof5-sasv-key",
        description="header spk, filename, cm-label, asv-label: ASVspoof 5 track 2 (.tsv)",
        header={MODEL: ("spk",), SEGMENT: ("filename",), LABEL: ("asv-label",)},
        order=(MODEL, SEGMENT, "cm-label", LABEL),
        required=(MODEL, SEGMENT, LABEL),
        vocabularies=(TARGET_NONTARGET_SPOOF,),
        separator="\t",
    ),
    # Score files of bob: verification by four or five columns, anything by two.
    TrialFormat(
        name="bob-2",
        description="1|-1 score: bob.measure",
        variants=((LABEL, SCORE),),
        vocabularies=(ONE_MINUS_ONE,),
    ),
    TrialFormat(
        name="bob-4",
        description="claimed real segment score: bob.bio; real is `attack` for spoofs",
        variants=((MODEL, "real", SEGMENT, SCORE),),
        is_target_if_same=(MODEL, "real"),
    ),
    TrialFormat(
        name="bob-5",
        description="claimed model real segment score: bob.bio; real is `attack` for spoofs",
        variants=(("claimed", MODEL, "real", SEGMENT, SCORE),),
        is_target_if_same=("claimed", "real"),
    ),
    # Tables with a header of which nothing else is known.
    TrialFormat(
        name="csv",
        description="any table with a header; `columns` maps what is needed to its names",
        header={
            MODEL: ("model", "modelid", "enroll", "enrol"),
            SEGMENT: ("segment", "segmentid", "test"),
            SIDE: ("side",),
            LABEL: ("label", "targettype", "target"),
            SCORE: ("score", "llr"),
        },
        required=(MODEL, SEGMENT),
        vocabularies=VOCABULARIES,
        separator=",",
    ),
)

FORMATS: Mapping[str, TrialFormat] = MappingProxyType({item.name: item for item in _ALL})


def find_format(name: str) -> TrialFormat:
    """Return a format by name, or say which there are."""
    if not isinstance(name, str):
        raise invalid("format", "be a name", describe(name))
    found = FORMATS.get(name)
    if found is None:
        raise invalid("format", f"be one of {', '.join(FORMATS)}", describe(name))
    return found
