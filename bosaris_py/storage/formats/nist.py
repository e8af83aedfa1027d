"""Tables of the NIST speaker recognition evaluations, and of Hyperion, which took the names."""

from bosaris_py.storage.formats.trial_format import (
    LABEL,
    MODEL,
    SCORE,
    SEGMENT,
    SIDE,
    TARGET_NONTARGET,
    TARGET_NONTARGET_SPOOF,
    TrialFormat,
)

__all__ = ["FORMATS"]

_HEADER = {
    # Evaluations of faces and of voices with faces name a model by its image.
    MODEL: ("modelid", "imageid"),
    SEGMENT: ("segmentid",),
    SIDE: ("side",),
    LABEL: ("targettype",),
    SCORE: ("LLR",),
}

FORMATS = (
    TrialFormat(
        name="nist",
        description="trial lists, keys and system outputs of NIST SRE16 and later (.tsv)",
        header=_HEADER,
        required=(MODEL, SEGMENT),
        vocabularies=(TARGET_NONTARGET,),
        separator="\t",
    ),
    TrialFormat(
        name="hyperion",
        description="keys and scores of Hyperion (.csv)",
        header=_HEADER,
        required=(MODEL, SEGMENT),
        vocabularies=(TARGET_NONTARGET_SPOOF,),
        separator=",",
    ),
)
