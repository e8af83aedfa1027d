"""Sample quantiles as the papers take them: Hyndman and Fan's definition 2."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import check_not_empty, describe, invalid, refuse_nan

__all__ = ["quantile"]

# How far a probability that was computed, such as (1 - 0.95) / 2, may lie from the one meant.
_FUZZ = 4 * np.finfo(np.float64).eps


def quantile(values: npt.ArrayLike, probability: npt.ArrayLike) -> Any:
    r"""Compute quantiles by inverting the distribution function, averaging at its steps.

    Parameters
    ----------
    values : (n,) or (n, ...) array_like of float
        The sample, along the first axis; no NaN.
    probability : float or (k,) array_like of float
        Probabilities in [0, 1].

    Returns
    -------
    float or ndarray of float64
        With the sample in ascending order :math:`x_{(1)} \le \dots \le x_{(n)}`:
        the mean of :math:`x_{(np)}` and :math:`x_{(np+1)}` where :math:`np` is
        a whole number, else :math:`x_{(\lceil np \rceil)}`; the smallest value
        at 0, the largest at 1. Axes: those of `probability`, then those of
        `values` without the first.

    Raises
    ------
    InvalidInputError
        If the sample is empty or holds NaN, or a probability is not in [0, 1].

    Notes
    -----
    Definition 2 of [1]_, which NISTIR 7722 and Wu et al. use for their
    confidence intervals. numpy's ``averaged_inverted_cdf`` multiplies in
    floating point and then takes some whole numbers for fractions: for n = 100
    and p = 0.29 the product is 28.999999999999996 and the answer the 29th value
    where it should be the mean of the 29th and the 30th. Here a product counts
    as whole if a change of the probability by rounding alone could make it so.

    References
    ----------
    .. [1] R. J. Hyndman and Y. Fan, "Sample quantiles in statistical packages",
       The American Statistician 50, 1996, doi:10.2307/2684934.

    Examples
    --------
    >>> quantile(range(1, 101), 0.29)
    29.5
    >>> quantile([1.0, 2.0, 3.0], [0.0, 0.5, 1.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim == 0:
        raise invalid("values", "quantile", "be a list of numbers", describe(values))
    check_not_empty(sample, "values", "quantile")
    refuse_nan(sample, "values", "quantile")
    p = np.asarray(probability, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        hint = "Percentages must be divided by 100."
        raise invalid("probability", "quantile", "lie in [0, 1]", describe(probability), hint)
    ordered = np.sort(sample, axis=0)
    size = ordered.shape[0]
    product = size * p
    nearest = np.rint(product)
    whole = np.abs(product - nearest) <= size * _FUZZ
    lower = np.where(whole, nearest, np.ceil(product)).astype(np.int64)
    upper = np.where(whole, lower + 1, lower)
    low = ordered[np.clip(lower, 1, size) - 1]
    high = ordered[np.clip(upper, 1, size) - 1]
    # Equal neighbours are returned as they are, infinite ones too.
    middle = np.where(low == high, low, 0.5 * low + 0.5 * high)
    return float(middle) if middle.ndim == 0 else middle
