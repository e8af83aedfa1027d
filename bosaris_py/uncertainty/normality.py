"""The papers' check that a normal interval is in order: Shapiro and Wilk's test."""

import attrs
import numpy.typing as npt

from bosaris_py._validation import as_vector, invalid, refuse_nan

__all__ = ["NormalityTest", "normality_test"]

# Royston's approximation of the p-value holds for these sample sizes.
_FEWEST, _MOST = 3, 5000


@attrs.frozen
class NormalityTest:
    """The outcome of Shapiro and Wilk's test.

    Parameters
    ----------
    w : float
        The statistic W, at most 1; smaller means less normal.
    p_value : float
        Chance of a W at most as large if the sample is normal.
    """

    w: float
    p_value: float


def normality_test(sample: npt.ArrayLike) -> NormalityTest:
    """Test if a sample looks normal, by Shapiro and Wilk's test.

    Both papers do so with bootstrap replicates, and the second with the
    distribution of standard errors, before they use normal tests.

    Parameters
    ----------
    sample : (n,) array_like of float
        3 to 5000 values, not all equal; no NaN.

    Returns
    -------
    NormalityTest
        With W and the p-value. A small p-value speaks against normality.

    Raises
    ------
    InvalidInputError
        If the sample is too small, too large, constant or not one-dimensional.

    Notes
    -----
    NISTIR 7722, section 3; Wu et al. 2016, sections VIII-A and VIII-B. A
    fixed-threshold DCF takes few distinct values where there are few errors,
    and the test then finds steps, not skewness.

    Examples
    --------
    >>> import numpy as np
    >>> sample = np.random.default_rng(0).normal(size=2000)
    >>> normality_test(sample).p_value > 0.05
    True
    """
    values = as_vector(sample, "sample", "normality_test")
    refuse_nan(values, "sample", "normality_test")
    if not _FEWEST <= values.size <= _MOST:
        expected = f"hold {_FEWEST} to {_MOST} values"
        hint = "The p-value of Shapiro and Wilk's test is not known for other sizes."
        raise invalid("sample", "normality_test", expected, f"{values.size}", hint)
    if values.min() == values.max():
        raise invalid("sample", "normality_test", "not be constant", f"only {values[0]:g}")
    # Importing scipy.stats takes longer than most bootstraps.
    from scipy import stats

    w, p_value = stats.shapiro(values)
    return NormalityTest(float(w), float(p_value))
