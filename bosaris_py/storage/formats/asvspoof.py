"""Keys and scores of the ASVspoof challenges.

A countermeasure (CM) accepts bona fide speech: its one model is called ``bonafide``, its
targets are bona fide utterances. A speaker verifier (ASV) has spoofs as a third class.
"""

from bosaris_py.storage.formats.trial_format import (
    BONAFIDE_SPOOF,
    LABEL,
    MODEL,
    SCORE,
    SEGMENT,
    TARGET_NONTARGET_SPOOF,
    TrialFormat,
)

__all__ = ["FORMATS"]

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

FORMATS = (
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
)
