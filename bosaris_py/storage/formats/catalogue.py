"""Text formats of the field: how a format is described, and the description of each.

To add a format, add a `TrialFormat` to `_ALL`, a file to the tests and an example to
``docs/formats.md``.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, BoolArray, Readable, mark_read_only
from bosaris_py._validation import as_list, describe, invalid, list_some, nearest
from bosaris_py.storage.factors import Factor

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
class NonTargetKind:
    """A kind of non-targets: its class and word in files, its noun in messages, who speaks."""

    trial_class: TrialClass
    word: str
    noun: str
    # Trials of two speakers are resampled by pairs of these; others by the speaker of the model.
    has_two_speakers: bool = True
    # Whether there may be no trials of the kind where others have some.
    is_optional: bool = False


# In the order that samples and costs have. A further kind needs a class above, a row here and the
# words of its formats below; a price in `numerics.SpoofCosts`; and an argument of the functions of
# `evaluation.third_class`. Plots over the prior of spoofs know these two.
NON_TARGET_KINDS = (
    NonTargetKind(TrialClass.NONTARGET, "nontarget", "zero-effort impostor"),
    NonTargetKind(TrialClass.SPOOF, "spoof", "spoof", has_two_speakers=False),
)
# Those that an evaluation of two classes does not know.
THIRD_KINDS = NON_TARGET_KINDS[1:]

# The column of kinds of trials, and its words in the order of a factor's levels.
KIND = "kind"
KINDS = tuple(sorted(("target", *(kind.word for kind in NON_TARGET_KINDS))))

_LEVEL_OF_CLASS = np.zeros(1 + max(TrialClass), dtype=np.uint8)
_LEVEL_OF_CLASS[TrialClass.TARGET] = KINDS.index("target")
for _kind in NON_TARGET_KINDS:
    _LEVEL_OF_CLASS[_kind.trial_class] = KINDS.index(_kind.word)


def factor_of_kinds(classes: npt.NDArray[np.uint8]) -> Factor:
    """Return the column of kinds of the class of each trial."""
    return Factor(mark_read_only(_LEVEL_OF_CLASS[classes]), KINDS)


def classes_are_third(classes: npt.NDArray[np.uint8]) -> BoolArray:
    """Tell which trials are neither targets nor zero-effort impostors, nor dropped."""
    is_third: BoolArray = np.isin(classes, [kind.trial_class for kind in THIRD_KINDS])
    return is_third


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
HUMAN_SPOOF = _vocabulary("human", "spoof")
GENUINE_SPOOF = _vocabulary("genuine", "spoof")
TRUE_FALSE = _vocabulary("true", "false")

VOCABULARIES = (
    TARGET_NONTARGET_SPOOF,
    TGT_IMP,
    ONE_ZERO,
    ONE_MINUS_ONE,
    BONAFIDE_SPOOF,
    HUMAN_SPOOF,
    GENUINE_SPOOF,
    TRUE_FALSE,
)


# Words of detectors of any field, without hyphens: one of each class make a pair.
_WORDS = {
    word: trial_class
    for trial_class, words in (
        (TrialClass.TARGET, "target tar tgt genuine client mated same match bonafide true"),
        (
            TrialClass.NONTARGET,
            "nontarget non nontgt imp impostor imposter nonmated unmated different diff "
            "nonmatch mismatch false",
        ),
    )
    for word in words.split()
}


def as_labels(labels: object, name: str) -> BoolArray:
    """Return which trials are targets, of truth values, 0 and 1, -1 and 1, or words as in files."""
    if isinstance(labels, Mapping | set | frozenset):
        raise invalid(name, "be a list in the order of the scores", describe(labels))
    array: AnyArray = np.asarray(as_list(labels))
    if array.ndim != 1:
        raise invalid(name, "be one-dimensional", describe(array))
    if array.dtype.kind == "b":
        return array
    if array.dtype.kind in "iuf":
        is_target: BoolArray = array == 1
        if (array[~is_target] == 0).all() or (array[~is_target] == -1).all():
            return is_target
        expected = "be True and False, 0 and 1, or -1 and 1"
        if np.isnan(array).any():
            raise invalid(name, expected, f"NaN at position {np.argmax(np.isnan(array))}")
        low, high = array.min(), array.max()
        hint = "Labels come first, then scores."
        if ((array == low) | (array == high)).all():
            hint = f"Say which means a target: {name} == {high:g}."
        raise invalid(name, expected, f"numbers from {low:g} to {high:g}", hint)
    words = Factor.from_values(array if array.dtype.kind == "U" else array.tolist())
    lower = [str(word).lower() for word in words.levels]
    classes = next((each.classes for each in VOCABULARIES if set(lower) <= set(each.classes)), {})
    if not classes and len(lower) == 2:
        spelled = {word: re.sub("[-_ ]", "", word) for word in lower}
        pair = {word: _WORDS[plain] for word, plain in spelled.items() if plain in _WORDS}
        classes = pair if len(set(pair.values())) == 2 else {}
    if not {classes.get(word) for word in lower} <= {TrialClass.TARGET, TrialClass.NONTARGET}:
        known = ", ".join((*(vocabulary.name for vocabulary in VOCABULARIES), "genuine|impostor"))
        some = list_some(map(repr, words.levels.tolist()))
        hint = f"Say which word means a target: {name} == WORD, where WORD is one of {some}."
        raise invalid(name, f"be words of one kind ({known})", list_some(words.levels), hint)
    # By level, of which there are two.
    return np.array([classes[word] == TrialClass.TARGET for word in lower])[words.codes]


@attrs.frozen
class TrialFormat(metaclass=Readable):
    """The layout of one text format.

    Parameters
    ----------
    name : str
        By which users ask for it.
    description : str
        The layout of a line, and who writes such files.
    variants : tuple of tuple of str
        For files without a header, what the columns are, one tuple for each number of columns.
        ``"model"``, ``"segment"``, ``"side"``, ``"label"`` and ``"score"`` are what they say,
        ``"-"`` is not read, other names are extra columns.
    header : mapping of str to tuple of str
        For files with a header, the names that the column of each of these may have, the usual one
        first.
    order : tuple of str
        For files with a header, in which order columns are written; the others follow.
    required : tuple of str
        Which of the columns of a file with a header must be there; by default all of `header`.
    first_line : str
        For files without a header but with a first line of no interest: that line, of which the
        first word must be there.
    vocabularies : tuple of Vocabulary
        The labels; a file uses one of them.
    is_target_if_same : tuple of str
        For formats without labels: a trial is a target if these two columns are equal, and a spoof
        if the second is ``attack``.
    numbers : frozenset of str
        Extra columns that hold numbers.
    words : mapping of str to tuple of str
        Extra columns that hold nothing but these words, in lower case. Of formats that fit, one
        with such columns goes before those without.
    missing : tuple of str
        What stands for a missing number.
    last_optional : bool
        A line may lack its last column, the score.
    model_id : str
        Id of the one model of files that have no column of models.
    separator : str
        What is written between columns, by default a tab below a header; a blank stands for any
        number of blanks.
    """

    name: str
    description: str
    variants: tuple[tuple[str, ...], ...] = ()
    header: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    order: tuple[str, ...] = ROLES
    required: tuple[str, ...] = attrs.Factory(lambda self: tuple(self.header), takes_self=True)
    first_line: str = ""
    vocabularies: tuple[Vocabulary, ...] = ()
    is_target_if_same: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    words: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict)
    missing: tuple[str, ...] = ()
    last_optional: bool = False
    model_id: str = "all"
    separator: str = attrs.Factory(lambda self: "\t" if self.header else " ", takes_self=True)

    @property
    def has_header(self) -> bool:
        """Whether the columns are found by the names in the first line."""
        return bool(self.header)

    @property
    def first_word(self) -> str:
        """First word of `first_line`."""
        return self.first_line.partition(" ")[0]


_NIST_HEADER = {
    # Evaluations of faces and of voices with faces name a model by its image.
    MODEL: ("modelid", "imageid"),
    SEGMENT: ("segmentid",),
    SIDE: ("side",),
    LABEL: ("targettype",),
    SCORE: ("LLR",),
}

# What files call a recording: `test_file`, `enrollment_wav`.
_ENDINGS = ("_file", "_path", "_wav", "_audio", "_utterance", "_segment", "_name", "id", "utt")

# What tables of any origin call the two sides of a trial, the likeliest first.
_MODEL_NAMES = (
    *("model", "modelid", "model_id", "enroll", "enrol", "enrollment", "enrolment"),
    *("enroll_id", "enrol_id", "enroll_utt", "enrol_utt", "utt1", "speakerid"),
    *("enrollment_id", "enrolment_id", "enrollment_utt", "enrolment_utt"),
    *(f"{enrol}{ending}" for enrol in ("enroll", "enrol", "enrollment") for ending in _ENDINGS),
)
_SEGMENT_NAMES = (
    *("segment", "segmentid", "segment_id", "test", "trial", "test_id", "trial_id"),
    *("test_utt", "trial_utt", "utt2", "flac_file_name"),
    *(f"{test}{ending}" for test in ("test", "trial") for ending in _ENDINGS),
)

_NORMALISATION = ("model_magnitude", "segment_magnitude", "model_mean", "segment_mean")

_EVALUATION = ("trim", "subset")

_LA_2021 = ("codec", "transmission", "attack")

_PA_2021 = (
    *("room", "microphone", "distance"),
    *("attacker_room", "attacker_microphone", "replay_device", "attacker_distance"),
)

_DF_2021 = ("codec", "source", "attack")

_CODED_5 = ("codec", "codec_q", "codec_seed", "attack_tag")

_GENDERS = {"gender": ("f", "m")}

# Verifiers whose labels know spoofs, or are 1 and 0. A countermeasure (CM) accepts bona fide
# speech: its one model is called ``bonafide``, its targets are bona fide utterances.
_verifier = partial(TrialFormat, vocabularies=(TARGET_NONTARGET_SPOOF,))
_one_or_zero = partial(TrialFormat, vocabularies=(ONE_ZERO,))
_countermeasure = partial(TrialFormat, vocabularies=(BONAFIDE_SPOOF,), model_id="bonafide")

_ALL = (
    # Tables of the NIST speaker recognition evaluations, and of Hyperion, which took the names.
    TrialFormat(
        "nist",
        "trial lists, keys and system outputs of NIST SRE16 and later (.tsv)",
        header=_NIST_HEADER,
        required=(MODEL, SEGMENT),
        vocabularies=(TARGET_NONTARGET,),
    ),
    _verifier(
        "hyperion",
        "keys and scores of Hyperion (.csv)",
        header=_NIST_HEADER,
        required=(MODEL, SEGMENT),
        separator=",",
    ),
    # Lists of Kaldi, which many toolkits share; the toolkit's own text files look the same.
    _verifier(
        "kaldi-trials",
        "model segment [target|nontarget]: Kaldi, WeSpeaker, BOSARIS .txt",
        ((MODEL, SEGMENT), (MODEL, SEGMENT, LABEL)),
    ),
    TrialFormat(
        "kaldi-scores",
        "model segment [score]: Kaldi, BOSARIS .txt, ASVspoof 2021 ASV scores",
        ((MODEL, SEGMENT, SCORE),),
        last_optional=True,
    ),
    _verifier(
        "kaldi-eer", "score target|nontarget: what compute-eer of Kaldi reads", ((SCORE, LABEL),)
    ),
    # Lists of VoxCeleb and CN-Celeb, and the scores of their challenges.
    _one_or_zero(
        "voxceleb-trials",
        "1|0 model segment: VoxCeleb and VoxSRC; model segment: VoxSRC test sets",
        ((MODEL, SEGMENT), (LABEL, MODEL, SEGMENT)),
    ),
    TrialFormat(
        "voxceleb-scores",
        "score model segment: VoxSRC, voxceleb_trainer",
        ((SCORE, MODEL, SEGMENT),),
    ),
    _one_or_zero(
        "cnceleb-trials", "model segment 1|0: CN-Celeb trials.lst", ((MODEL, SEGMENT, LABEL),)
    ),
    # Score files of WeSpeaker and SpeechBrain, and keys of DCA-PLDA.
    TrialFormat(
        "wespeaker-scores",
        "model segment score label: WeSpeaker, ASVspoof 5 baselines",
        ((MODEL, SEGMENT, SCORE), (MODEL, SEGMENT, SCORE, LABEL)),
        vocabularies=(TARGET_NONTARGET_SPOOF, BONAFIDE_SPOOF),
    ),
    _verifier(
        "wespeaker-normalised",
        "model segment score label and four numbers: score_norm of WeSpeaker",
        ((MODEL, SEGMENT, SCORE, LABEL, *_NORMALISATION),),
        numbers=frozenset(_NORMALISATION),
    ),
    _one_or_zero(
        "speechbrain-scores",
        "model segment 1|0 score: scores.txt of SpeechBrain's VoxCeleb recipe",
        ((MODEL, SEGMENT, LABEL, SCORE),),
    ),
    TrialFormat(
        "dca-plda-key",
        "model segment tgt|imp: keys of DCA-PLDA",
        ((MODEL, SEGMENT, LABEL),),
        vocabularies=(TGT_IMP,),
    ),
    # Trial lists of the Short-duration and Text-dependent Speaker Verification challenges.
    TrialFormat(
        "sdsv-trials",
        "model segment below a header that begins with model-id: SdSVC, TdSVC",
        ((MODEL, SEGMENT),),
        first_line="model-id evaluation-file-id",
    ),
    # Keys and scores of the ASVspoof challenges: of countermeasures (CM), and of speaker
    # verifiers (ASV), which have spoofs as a third class.
    _countermeasure(
        "asvspoof2015-cm-key",
        "speaker segment attack human|spoof: ASVspoof 2015 CM protocols",
        (("speaker", SEGMENT, "attack", LABEL),),
        vocabularies=(HUMAN_SPOOF,),
    ),
    _countermeasure(
        "asvspoof2017-cm-key",
        "segment genuine|spoof speaker phrase environment playback recording: ASVspoof 2017",
        ((SEGMENT, LABEL, "speaker", "phrase", "environment", "playback", "recording"),),
        vocabularies=(GENUINE_SPOOF,),
    ),
    _countermeasure(
        "asvspoof2019-cm-key",
        "speaker segment environment attack bonafide|spoof: ASVspoof 2019 CM protocols",
        (("speaker", SEGMENT, "environment", "attack", LABEL),),
    ),
    _countermeasure(
        "asvspoof2019-cm-scores",
        "segment attack bonafide|spoof score: ASVspoof 2019 CM scores",
        ((SEGMENT, "attack", LABEL, SCORE),),
    ),
    _verifier(
        "asvspoof2019-asv-key",
        "model segment [environment] attack target|nontarget|spoof: ASVspoof 2019 ASV",
        ((MODEL, SEGMENT, "attack", LABEL), (MODEL, SEGMENT, "environment", "attack", LABEL)),
    ),
    _verifier(
        "asvspoof2019-asv-scores",
        "attack target|nontarget|spoof score: ASVspoof 2019 ASV scores",
        (("attack", LABEL, SCORE),),
    ),
    _countermeasure(
        "asvspoof2021-cm-scores", "segment score: ASVspoof 2021 CM scores", ((SEGMENT, SCORE),)
    ),
    _countermeasure(
        "asvspoof2021-la-key",
        "speaker segment codec transmission attack bonafide|spoof trim subset",
        (("speaker", SEGMENT, *_LA_2021, LABEL, *_EVALUATION),),
    ),
    _verifier(
        "asvspoof2021-la-asv-key",
        "model segment codec transmission attack target|nontarget|spoof trim subset",
        ((MODEL, SEGMENT, *_LA_2021, LABEL, *_EVALUATION),),
    ),
    _countermeasure(
        "asvspoof2021-pa-key",
        "speaker segment, seven factors, bonafide|spoof trim subset",
        (("speaker", SEGMENT, *_PA_2021, LABEL, *_EVALUATION),),
    ),
    _countermeasure(
        "asvspoof2021-df-key",
        "speaker segment codec source attack bonafide|spoof trim subset vocoder - ...",
        (("speaker", SEGMENT, *_DF_2021, LABEL, *_EVALUATION, "vocoder", *"----"),),
    ),
    _countermeasure(
        "asvspoof5-cm-scores",
        "header filename, cm-score: ASVspoof 5 track 1 (.tsv)",
        header={SEGMENT: ("filename",), SCORE: ("cm-score",)},
    ),
    _countermeasure(
        "asvspoof5-cm-key",
        "header filename, cm-label: ASVspoof 5 track 1 (.tsv)",
        header={SEGMENT: ("filename",), LABEL: ("cm-label",)},
    ),
    _countermeasure(
        "asvspoof5-cm-protocol",
        "speaker segment gender, codec and attack in five columns, bonafide|spoof, -: ASVspoof 5",
        (("speaker", SEGMENT, "gender", *_CODED_5, "attack", LABEL, SKIPPED),),
        words=_GENDERS,
    ),
    _verifier(
        "asvspoof5-sasv-protocol",
        "model segment gender attack target|nontarget|spoof: ASVspoof 5 track 2",
        ((MODEL, SEGMENT, "gender", "attack", LABEL),),
        words=_GENDERS,
    ),
    TrialFormat(
        "asvspoof5-sasv-scores",
        "header spk, filename, cm-score, asv-score, sasv-score: ASVspoof 5 track 2",
        header={MODEL: ("spk",), SEGMENT: ("filename",), SCORE: ("sasv-score",)},
        order=(MODEL, SEGMENT, "cm-score", "asv-score", SCORE),
        numbers=frozenset(("cm-score", "asv-score")),
        missing=("-",),
    ),
    _verifier(
        "asvspoof5-sasv-key",
        "header spk, filename, cm-label, asv-label: ASVspoof 5 track 2 (.tsv)",
        header={MODEL: ("spk",), SEGMENT: ("filename",), LABEL: ("asv-label",)},
        order=(MODEL, SEGMENT, "cm-label", LABEL),
    ),
    # Score files of bob: verification by four or five columns, anything by two.
    TrialFormat(
        "bob-2", "1|-1 score: bob.measure", ((LABEL, SCORE),), vocabularies=(ONE_MINUS_ONE,)
    ),
    TrialFormat(
        "bob-4",
        "claimed real segment score: bob.bio; real is `attack` for spoofs",
        ((MODEL, "real", SEGMENT, SCORE),),
        is_target_if_same=(MODEL, "real"),
    ),
    TrialFormat(
        "bob-5",
        "claimed model real segment score: bob.bio; real is `attack` for spoofs",
        (("claimed", MODEL, "real", SEGMENT, SCORE),),
        is_target_if_same=("claimed", "real"),
    ),
    # Tables with a header of which nothing else is known.
    TrialFormat(
        "csv",
        "any table with a header; `columns` maps what is needed to its names",
        header={
            MODEL: _MODEL_NAMES,
            SEGMENT: _SEGMENT_NAMES,
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


def find_format(name: str, argument: str = "format") -> TrialFormat:
    """Return a format by name, or say which there are."""
    if not isinstance(name, str):
        raise invalid(argument, "be a name", describe(name))
    found = FORMATS.get(name)
    if found is None:
        known = f"be one of {', '.join(FORMATS)}"
        raise invalid(argument, known, describe(name), nearest(name, FORMATS))
    return found
