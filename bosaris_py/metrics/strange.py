"""What scores tell against themselves: that they are inverted, or no log-likelihood-ratios."""

from __future__ import annotations

import math

import numpy as np

from bosaris_py._arrays import FloatArray
from bosaris_py._notes import Note
from bosaris_py.errors import SuspectScoresWarning
from bosaris_py.numerics.hull import areas
from bosaris_py.trials.sample import Sample

# Of no more trials of a class nothing is said.
FEW_TRIALS = 30

# So many standard errors are not chance.
_STANDARD_ERRORS = 3.0

# Where the hull's EER is lower, at least half of the square lies below the curve.
_SURE_EER = 0.25

# Scores with more than this Cllr after calibration tell hardly anything, as inverted ones do.
_USEFUL = 0.9

# Llrs from -1 to 1 leave a Bayes error-rate of at least 1 / (1 + e) at prior 0.5, and a Cllr of
# log2(1 + 1 / e) = 0.452; llrs of one sign leave one of 0.5.
_LOWEST_ERROR, _LOWEST_BITS = 1.0 / (1.0 + math.e), 0.45

# A list whose share of finite scores is at least this has a few infinite ones.
_MOSTLY = 0.99

# Of so many trials of a class the mean shows whether a sort is worth its time, and of so many
# Cllr shows whether they are worse than none.
_SAMPLE, _SAMPLE_OF_COSTS = 100, 300

_SWAPPED = "Are targets and non-targets swapped, or the scores distances?"

# Normal classes so far apart, one standard deviation of either, have an AUC of 0.76 or 0.24.
_FAR_BELOW = 0.9


def inverted(sample: Sample) -> list[Note]:
    """Note an AUC below 0.5 by more than chance explains; never of 30 trials of a class.

    That is 3 standard errors of the Mann-Whitney statistic of scores that tell nothing.
    """
    n_tar, n_non = sample.tar.size, sample.non.size
    if min(n_tar, n_non) <= FEW_TRIALS:
        return []
    pmiss, pfa = sample.rates_at_all()
    # One point with low rates tells that the EER is low, and so the area large.
    low = pmiss[0].searchsorted(_SURE_EER, side="right") - 1
    if pfa[0, low] <= _SURE_EER or sample.hull.eer <= _SURE_EER:
        return []
    area = float(areas(*sample.rates_at_all(grid="ties"))[0])
    error = math.sqrt((n_tar + n_non + 1) / (12.0 * n_tar * n_non))
    if area >= 0.5 - _STANDARD_ERRORS * error:
        return []
    message = f"The area under the ROC is {area:.3g}, so higher scores speak against targets. "
    return [Note(SuspectScoresWarning, f"{message}{_SWAPPED} Then take -scores.")]


def no_llrs(sample: Sample) -> list[Note]:
    """Note scores that can be no llrs: inverted ones, or what `ill_ranged` finds."""
    if min(sample.tar.size, sample.non.size) <= FEW_TRIALS:
        return []
    # Mostly a look at some scores shows that nothing is strange, without a sort.
    looks = _look_inverted(sample.tar.listed, sample.non.listed)
    return (inverted(sample) if looks else []) or ill_ranged(sample)


def ill_ranged(sample: Sample) -> list[Note]:
    """Note scores that are too good for their range, of one sign, or worse than none."""
    if min(sample.tar.size, sample.non.size) <= FEW_TRIALS:
        return []
    lists = [one.listed for one in (sample.tar, sample.non)]
    # Margins are 3 standard errors of an error-rate of the smaller class, or half of Cllr.
    about = _some_bits(*lists)
    if about < _LOWEST_BITS:
        return []
    reason = ""
    one_sign = _within(0.0, math.inf, *lists) or _within(-math.inf, 0.0, *lists)
    if one_sign or _within(-1.0, 1.0, *lists):
        # At prior 0.5 llrs of one sign decide always alike, which makes half of the errors.
        least = 0.5 if one_sign else _LOWEST_ERROR
        n_smaller = min(sample.tar.size, sample.non.size)
        margin = _STANDARD_ERRORS * math.sqrt(least * (1.0 - least) / n_smaller)
        if float(sample.hull.min_dcf(0.5, normalize=False)) < least - margin:
            where = "have one sign" if one_sign else "lie between -1 and 1"
            reason = f"all {where}, but they tell the classes apart better than such llrs can"
    # Infinite: a hard decision that is wrong, such as of a PAV map, which are llrs all the same.
    elif about > _USEFUL and 1.0 < (bits := sum(sample.bits) / 2.0) < math.inf:
        lowest = sample.hull.min_cllr
        # That of calibrated llrs is at most 1, up to chance, and minCllr little less than it.
        if lowest < min(bits / 2.0, _USEFUL):
            what = f"where 0 for each has 1, and calibration leaves {lowest:.3g}"
            reason = f"Cllr is {bits:.3g}, {what}"
    if not reason:
        return []
    advice = (
        "Calibrate them first, for instance with LinearCalibration.fit, or evaluate them by "
        "eer, min_dcf and min_cllr."
    )
    text = f"These scores are no log-likelihood-ratios: {reason}."
    return [Note(SuspectScoresWarning, text, advice=advice)]


def _look_inverted(tar: FloatArray, non: FloatArray) -> bool:
    """Tell whether the mean of some targets lies far below that of some non-targets."""
    some = tar[:: tar.size // _SAMPLE + 1], non[:: non.size // _SAMPLE + 1]
    with np.errstate(invalid="ignore", over="ignore"):
        gap = float(some[1].mean() - some[0].mean())
        # Infinite scores make it NaN, and leave the question open.
        error = sum(float(scores.var()) / scores.size for scores in some)
        return gap > 0.0 and gap * gap > _STANDARD_ERRORS**2 * error


def _some_bits(tar: FloatArray, non: FloatArray) -> float:
    """Return Cllr of some of the scores; a few infinite ones do not count."""
    costs = (
        np.logaddexp(0.0, sign * _mostly_finite(scores[:: scores.size // _SAMPLE_OF_COSTS + 1]))
        for sign, scores in ((-1.0, tar), (1.0, non))
    )
    return float(sum(cost.mean() for cost in costs)) / math.log(4.0)


def _within(low: float, high: float, *lists: FloatArray) -> bool:
    """Tell whether all scores lie in a range, but for a few that are infinite."""
    # Mostly the first few show that some do not.
    first = np.concatenate([one[:8] for one in lists])
    if not ((first >= low) & (first <= high) | np.isinf(first)).all():
        return False
    return all(one.min() >= low and one.max() <= high for one in map(_mostly_finite, lists))


def _mostly_finite(scores: FloatArray) -> FloatArray:
    """Return the finite scores of a list, or all where many are infinite."""
    # Given that it is finite, an llr changes by the log-ratio of the shares of finite ones: little.
    finite = scores[np.isfinite(scores)]
    return finite if finite.size >= _MOSTLY * scores.size else scores


def negative_scale(scale: float) -> Note:
    """Note a map that was trained to fall as the scores rise."""
    message = f"The scale is negative ({scale:.4g}), so higher scores speak against targets. "
    return Note(SuspectScoresWarning, message + _SWAPPED)


def inverted_systems(separation: FloatArray, n_smaller: int) -> list[Note]:
    """Note systems whose targets have far lower scores than the non-targets."""
    # `separation` is in standard deviations, both classes counting the same; measures of quality,
    # which tell little of the class, stay below the limit.
    found = np.flatnonzero(separation < -_FAR_BELOW) + 1
    if not found.size or n_smaller <= FEW_TRIALS:
        return []
    which = " and ".join(map(str, found))
    message = f"Higher scores of system {which} speak against targets. {_SWAPPED}"
    return [Note(SuspectScoresWarning, message)]
