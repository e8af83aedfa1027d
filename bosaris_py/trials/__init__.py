"""Trials: which are to be scored, their labels, scores and quality measures.

Rows are models, columns are test segments; wherever trials become a vector the model index runs
fastest. All objects are immutable.
"""

from bosaris_py.trials.conditions import ConditionMembers as ConditionMembers, Conditions
from bosaris_py.trials.frames import from_frame
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import Key, Ndx
from bosaris_py.trials.quality import QualityMeasures, SegmentQuality
from bosaris_py.trials.read import (
    are_large as are_large,
    read_answers as read_answers,
    read_any as read_any,
    read_key,
    read_numbers as read_numbers,
    read_scores,
    read_trials,
)
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import (
    Scores,
    scores_of_segments as scores_of_segments,
    to_table as to_table,
)

__all__ = ["Conditions", "IdMap", "Key", "Ndx", "QualityMeasures", "Sample", "Scores"]
__all__ += ["SegmentQuality", "from_frame", "read_key", "read_scores", "read_trials"]

# What completion offers.
__dir__ = __all__.copy
