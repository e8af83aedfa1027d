"""Scores that are hardly what a figure takes them for: inverted ones, and no llrs."""

from __future__ import annotations

import math
from collections.abc import Callable

from bosaris_py._arrays import FloatArray
from bosaris_py._validation import warn_caller
from bosaris_py.errors import SuspectScoresWarning

# Of no more trials of a class nothing is said.
FEW_TRIALS = 30

# So many standard errors are not chance.
_STANDARD_ERRORS = 3.0

# Where the hull's EER is lower, at least half of the square lies below the curve.
_SURE_EER = 0.25

# Llrs from -1 to 1 leave a Bayes error-rate of at least 1 / (1 + e) at prior 0.5.
_LOWEST_ERROR = 1.0 / (1.0 + math.e)


def warn_if_inverted(eer: float, auc: Callable[[], float], n_tar: int, n_non: int) -> None:
    """Warn if the AUC is below 0.5 by more than chance explains; never of 30 trials of a class.

    That is 3 standard errors of the Mann-Whitney statistic of scores that tell nothing. The
    area is asked for only if the hull's EER leaves it in doubt.
    """
    if eer <= _SURE_EER or min(n_tar, n_non) <= FEW_TRIALS:
        return
    error = math.sqrt((n_tar + n_non + 1) / (12.0 * n_tar * n_non))
    if (area := auc()) < 0.5 - _STANDARD_ERRORS * error:
        message = (
            f"The area under the ROC is {area:.3g}, so higher scores speak against targets. "
            "Are targets and non-targets swapped, or the scores distances? Then take -scores."
        )
        warn_caller(message, SuspectScoresWarning)


def warn_of_negative(scale: float) -> None:
    """Warn of a map that was trained to fall as the scores rise."""
    message = (
        f"The scale is negative ({scale:.4g}), so higher scores speak "
        "against targets. Are targets and non-targets swapped, or the scores distances?"
    )
    warn_caller(message, SuspectScoresWarning)


def warn_unless_llrs(min_error: Callable[[], float], largest: float, n_smaller: int) -> None:
    """Warn if scores are too good to be llrs, given their largest absolute value.

    All lie from -1 to 1, but at prior 0.5 the best threshold makes fewer errors than llrs in
    that range can. The margin is 3 standard errors of a rate of `n_smaller` trials.
    """
    if largest > 1.0 or n_smaller <= FEW_TRIALS:
        return
    variance = _LOWEST_ERROR * (1.0 - _LOWEST_ERROR) / n_smaller
    if min_error() < _LOWEST_ERROR - _STANDARD_ERRORS * math.sqrt(variance):
        message = (
            "These scores are no log-likelihood-ratios: all lie between -1 and 1, but they tell "
            "the classes apart better than such llrs can. Calibrate them first, for instance "
            "with LinearCalibration.fit, or judge them by eer, min_dcf and min_cllr."
        )
        warn_caller(message, SuspectScoresWarning)


def largest_of(*lists: FloatArray) -> float:
    """Return the largest absolute score; of scores beyond 1, any such one."""
    largest = 0.0
    for scores in lists:
        # Most scores that are llrs show in the first few that some are beyond 1.
        for part in (scores[:8], scores):
            largest = max(largest, float(part.max(initial=0.0)), -float(part.min(initial=0.0)))
            if largest > 1.0:
                return largest
    return largest
