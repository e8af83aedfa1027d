"""Samples of trials whose speakers are given by number."""

import numpy as np
from bosaris_py.trials.strata import TrialStrata

from bosaris_py.trials.sample import ListedSample, ScoredClass

Persons = tuple[np.ndarray, np.ndarray]


def speaker_sample(
    tar: tuple[np.ndarray, Persons],
    non: tuple[np.ndarray, Persons],
    strata: TrialStrata | None = None,
) -> ListedSample:
    """Take scores, and persons of both sides, of each class."""
    parts = strata or TrialStrata.single(tar[0].size, non[0].size)
    sides = zip((tar, non), parts, strict=True)
    return ListedSample(tuple(ScoredClass(x, own, None, who) for (x, who), own in sides))
