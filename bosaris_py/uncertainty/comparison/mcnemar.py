"""McNemar's test of two systems' decisions on the same trials."""

from __future__ import annotations

import math
from typing import Literal

import attrs
import scipy

from bosaris_py._validation import check_choice, invalid
from bosaris_py.uncertainty.decisions import Decisions, Disagreements, disagreements_of

McNemarMethod = Literal["exact", "mid-p", "chi2", "corrected"]
Classes = Literal["both", "tar", "non"]


@attrs.frozen(repr=False)
class McNemarTest:
    """The outcome of McNemar's test.

    Parameters
    ----------
    only_a_errs, only_b_errs : float
        Number of trials on which only the first, or only the second system errs.
    p_value : float
        Chance of so uneven a division, or a more uneven one, if systems are alike.
    method : str
        Which variant of the test it was.
    """

    only_a_errs: float
    only_b_errs: float
    p_value: float
    method: str

    def __repr__(self) -> str:
        """Put the counts and p on one line."""
        return (
            f"McNemar: only the first errs on {self.only_a_errs:g} trials, only the second on "
            f"{self.only_b_errs:g}, p {self.p_value:.3g} ({self.method})"
        )


def mcnemar_test(
    a: Decisions | Disagreements,
    b: Decisions | None = None,
    *,
    classes: Classes = "both",
    method: McNemarMethod = "exact",
) -> McNemarTest:
    r"""Test if two systems err equally often on the trials where they disagree.

    Parameters
    ----------
    a, b : Decisions
        Decisions of the two systems on the same trials; or `Disagreements` as `a` alone.
    classes : {"both", "tar", "non"}, default: "both"
        Which trials to use. "both" compares the error-rates of all trials, which the larger class
        dominates; for a detection cost see `dcf_z_test`.
    method : {"exact", "mid-p", "chi2", "corrected"}, default: "exact"
        "exact" is the two-sided binomial test, which is conservative; "mid-p" counts half of the
        observed division's probability [2]_; "chi2" and "corrected" are McNemar's
        approximation [1]_ without and with continuity correction.

    Returns
    -------
    McNemarTest

    Raises
    ------
    TrialMismatchError
        If decisions are not on equally many trials.

    Notes
    -----
    If the systems are alike, the number of trials on which only the first errs is binomial with
    probability 1/2, given the number on which one of them errs. The test takes trials for
    independent; if they share speakers it reports differences that do not exist.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated
       proportions or percentages", Psychometrika 12, 1947, doi:10.1007/BF02295996.
    .. [2] M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary matched-pairs
       data", BMC Medical Research Methodology 13, 2013, doi:10.1186/1471-2288-13-91.

    Examples
    --------
    >>> pair = Disagreements(
    ...     missed_by_a=1, missed_by_b=5, n_tar=400, accepted_by_a=0, accepted_by_b=0, n_non=10
    ... )
    >>> mcnemar_test(pair)
    McNemar: only the first errs on 1 trials, only the second on 5, p 0.219 (exact)
    """
    check_choice(classes, Classes, "classes")
    check_choice(method, McNemarMethod, "method")
    pair = disagreements_of(a, b)
    only_a = only_b = 0.0
    if classes != "non":
        only_a, only_b = only_a + pair.missed_by_a, only_b + pair.missed_by_b
    if classes != "tar":
        only_a, only_b = only_a + pair.accepted_by_a, only_b + pair.accepted_by_b
    return McNemarTest(only_a, only_b, _mcnemar_p(only_a, only_b, method), method)


def _mcnemar_p(only_a: float, only_b: float, method: McNemarMethod) -> float:
    n, fewer = only_a + only_b, min(only_a, only_b)
    if n == 0:
        return 1.0
    if method in ("chi2", "corrected"):
        gap = abs(only_a - only_b) - (1.0 if method == "corrected" else 0.0)
        # The upper tail of chi-square with one degree of freedom.
        return float(scipy.special.erfc(math.sqrt(0.5 * max(gap, 0.0) ** 2 / n)))
    if n != int(n) or fewer != int(fewer):
        hint = 'method="chi2" takes any numbers.'
        raise invalid(
            "a", f'be whole numbers with method="{method}"', f"{only_a:g}, {only_b:g}", hint
        )
    # Given n disagreements, those of one system are binomial with probability 1/2; the
    # distribution is symmetric, so the two-sided p-value is twice the lower tail.
    up_to = float(scipy.special.bdtr(fewer, int(n), 0.5))
    p_value = 2.0 * up_to
    if method == "mid-p":
        # Fagerland et al.: minus the probability of the observed division.
        below = float(scipy.special.bdtr(fewer - 1.0, int(n), 0.5)) if fewer else 0.0
        p_value -= up_to - below
    return min(p_value, 1.0)
