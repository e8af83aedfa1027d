"""Trials: which are to be scored, their answers, scores and quality measures.

Rows are models, columns are test segments; wherever trials become a vector the
model index runs fastest. All objects are immutable.
"""

from bosaris_py.trials.condition_members import ConditionMembers
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.flat_key import FlatKey
from bosaris_py.trials.flat_ndx import FlatNdx
from bosaris_py.trials.flat_scores import FlatScores
from bosaris_py.trials.from_tables import read_key, read_scores, read_trials, to_table
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import Key
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.ndx import Ndx
from bosaris_py.trials.quality_measures import QualityMeasures
from bosaris_py.trials.scores import Scores
from bosaris_py.trials.segment_quality import SegmentQuality
from bosaris_py.trials.trial_comparison import TrialComparison, compare_trials

__all__ = [
    "ConditionMembers",
    "Conditions",
    "FlatKey",
    "FlatNdx",
    "FlatScores",
    "IdMap",
    "Key",
    "Ndx",
    "QualityMeasures",
    "Scores",
    "SegmentQuality",
    "TrialComparison",
    "TrialMetadata",
    "compare_trials",
    "read_key",
    "read_scores",
    "read_trials",
    "to_table",
]
