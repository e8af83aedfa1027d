"""Catalogue of the text formats: columns, labels and separators of each, by name."""

from collections.abc import Mapping
from types import MappingProxyType

from bosaris_py._validation import describe, invalid
from bosaris_py.storage.formats.spec import (
    BONAFIDE_SPOOF,
    LABEL,
    MODEL,
    ONE_MINUS_ONE,
    ONE_ZERO,
    SCORE,
    SEGMENT,
    SIDE,
    TARGET_NONTARGET,
    TARGET_NONTARGET_SPOOF,
    TGT_IMP,
    VOCABULARIES,
    TrialFormat,
)

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
