"""The covariance by speakers, trial by trial in dictionaries: shares no code with the library."""

import itertools
import math
from collections import defaultdict

import numpy as np

# Residual and weight of a trial, of sum one in each class, whether it is a target, who takes part.
Part = tuple[float, float, bool, set[str]]


def speaker_covariance(parts: list[Part]) -> np.ndarray:
    """Covariance of the target and the non-target part: jackknife scaling, and the floor."""
    speakers = sorted(set().union(*(who for *_, who in parts)))
    k = len(speakers)
    mass, sums, pairs = defaultdict(float), defaultdict(float), defaultdict(float)
    for residual, weight, is_target, who in parts:
        for speaker in who:
            mass[is_target, speaker] += weight
            sums[is_target, speaker] += residual
        if not is_target:
            pairs[frozenset(who)] += residual
    factor = {
        (c, s): 1.0 / max(1.0 - mass[c, s], 1.0 / k)
        for c, s in itertools.product((True, False), speakers)
    }
    u = [sums[True, s] * factor[True, s] for s in speakers]
    v = [sums[False, s] * factor[False, s] for s in speakers]
    of_pairs = sum(x**2 * math.prod(factor[False, s] for s in who) for who, x in pairs.items())
    var_tar = sum(x * x for x in u)
    var_non = max(sum(x * x for x in v) - of_pairs, of_pairs)
    limit = math.sqrt(var_tar * var_non)
    shared = min(max(sum(x * y for x, y in zip(u, v, strict=True)), -limit), limit)
    return (k - 1) / k * np.array([[var_tar, shared], [shared, var_non]])
