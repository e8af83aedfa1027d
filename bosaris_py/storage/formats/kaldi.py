"""Lists of Kaldi, which many toolkits share; the toolkit's own text files look the same."""

from bosaris_py.storage.formats.trial_format import (
    LABEL,
    MODEL,
    SCORE,
    SEGMENT,
    TARGET_NONTARGET_SPOOF,
    TrialFormat,
)

__all__ = ["FORMATS"]

FORMATS = (
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
)
