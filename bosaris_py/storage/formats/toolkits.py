"""Score files of WeSpeaker and SpeechBrain, and keys of DCA-PLDA."""

from bosaris_py.storage.formats.trial_format import (
    BONAFIDE_SPOOF,
    LABEL,
    MODEL,
    ONE_ZERO,
    SCORE,
    SEGMENT,
    TARGET_NONTARGET_SPOOF,
    TGT_IMP,
    TrialFormat,
)

__all__ = ["FORMATS"]

_NORMALISATION = ("model_magnitude", "segment_magnitude", "model_mean", "segment_mean")

FORMATS = (
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
)
