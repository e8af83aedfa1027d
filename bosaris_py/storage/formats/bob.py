"""Score files of bob: verification by four or five columns, anything by two."""

from bosaris_py.storage.formats.trial_format import (
    LABEL,
    MODEL,
    ONE_MINUS_ONE,
    SCORE,
    SEGMENT,
    TrialFormat,
)

__all__ = ["FORMATS"]

FORMATS = (
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
)
