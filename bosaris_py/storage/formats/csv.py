"""Tables with a header of which nothing else is known."""

from bosaris_py.storage.formats.trial_format import (
    LABEL,
    MODEL,
    SCORE,
    SEGMENT,
    SIDE,
    VOCABULARIES,
    TrialFormat,
)

__all__ = ["FORMATS"]

FORMATS = (
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
