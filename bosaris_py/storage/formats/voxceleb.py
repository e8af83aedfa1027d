"""Lists of VoxCeleb and CN-Celeb, and the scores of their challenges."""

from bosaris_py.storage.formats.trial_format import (
    LABEL,
    MODEL,
    ONE_ZERO,
    SCORE,
    SEGMENT,
    TrialFormat,
)

__all__ = ["FORMATS"]

FORMATS = (
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
)
