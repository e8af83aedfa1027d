"""Types that all readers and writers share."""

from typing import Any, TypeAlias

import numpy.typing as npt

__all__ = ["CLASS_NAMES", "Arrays"]

# Keys are the argument names of the constructor of the class that was read.
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]

CLASS_NAMES = {
    "ndx": "Ndx",
    "key": "Key",
    "scores": "Scores",
    "flat_ndx": "FlatNdx",
    "flat_key": "FlatKey",
    "flat_scores": "FlatScores",
    "trial_metadata": "TrialMetadata",
    "segment_quality": "SegmentQuality",
    "quality_measures": "QualityMeasures",
    "id_map": "IdMap",
}
