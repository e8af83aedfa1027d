"""McNemar's test, and tables of many comparisons with corrected p-values.

`mcnemar_test` asks which system errs on more of the trials where they disagree;
`holm_correction` keeps the chance of any false alarm low when many systems are compared.
"""

import math
from collections.abc import Mapping
from typing import Literal, Protocol, get_args

import attrs
import numpy as np
import numpy.typing as npt
from scipy import special

from bosaris_py._validation import as_vector, check_fraction, frozen, invalid
from bosaris_py.uncertainty.decisions import Decisions, Disagreements, disagreements_of
from bosaris_py.uncertainty.estimates import check_choice

__all__ = [
    "ComparisonTable",
    "HolmResult",
    "McNemarTest",
    "holm_correction",
    "mcnemar_test",
]

Float64Array = npt.NDArray[np.float64]
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
        Decisions of the two systems on the same trials; or `Disagreements` as `a`
        alone.
    classes : {"both", "tar", "non"}, default: "both"
        Which trials to use. "both" compares the error-rates of all trials, which
        the larger class dominates; for a detection cost see `dcf_z_test` and
        `speaker_z_test`.
    method : {"exact", "mid-p", "chi2", "corrected"}, default: "exact"
        "exact" is the two-sided binomial test, which is conservative; "mid-p" counts
        half of the observed division's probability, which is hardly ever too liberal
        [2]_; "chi2" and "corrected" are McNemar's approximation [1]_ without and with
        continuity correction.

    Returns
    -------
    McNemarTest

    Raises
    ------
    InvalidInputError
        If the arguments are no decisions, or a choice is unknown.
    TrialMismatchError
        If decisions are not on equally many trials.

    Notes
    -----
    If the systems are alike, the number of trials on which only the first errs is
    binomial with probability 1/2, given the number of trials on which one of them
    errs. The test takes trials for independent; if they share speakers it reports
    differences that do not exist. It counts trials, so there are no conditions to weigh;
    `speaker_z_test` takes them.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated
       proportions or percentages", Psychometrika 12, 1947, doi:10.1007/BF02295996.
    .. [2] M. W. Fagerland, S. Lydersen and P. Laake, "The McNemar test for binary
       matched-pairs data: mid-p and asymptotic are better than exact conditional", BMC
       Medical Research Methodology 13, 2013, doi:10.1186/1471-2288-13-91.

    Examples
    --------
    >>> pair = Disagreements(
    ...     missed_by_a=1, missed_by_b=5, n_tar=400, accepted_by_a=0, accepted_by_b=0, n_non=10
    ... )
    >>> mcnemar_test(pair)
    McNemar: only the first errs on 1 trials, only the second on 5, p 0.219 (exact)
    """
    owner = "mcnemar_test"
    check_choice(classes, get_args(Classes), "classes", owner)
    check_choice(method, get_args(McNemarMethod), "method", owner)
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
        return float(special.erfc(math.sqrt(0.5 * max(gap, 0.0) ** 2 / n)))
    p_value = 2.0 * float(special.bdtr(fewer, int(n), 0.5))
    if method == "mid-p":
        at = float(special.bdtr(fewer, int(n), 0.5))
        at -= float(special.bdtr(fewer - 1.0, int(n), 0.5)) if fewer else 0.0
        p_value -= at
    return min(p_value, 1.0)


@attrs.frozen(eq=False, repr=False)
class HolmResult:
    """Several p-values, corrected for their number.

    Parameters
    ----------
    p_values : (m,) ndarray of float64
        As given. Read-only.
    adjusted : (m,) ndarray of float64
        Corrected p-values: compare them with the level as if there was one test.
    significant : (m,) ndarray of bool
        Whether the corrected p-value is at most the level.
    level : float
        The chance of at least one false alarm that is accepted.
    """

    p_values: Float64Array
    adjusted: Float64Array
    significant: npt.NDArray[np.bool_]
    level: float

    def __repr__(self) -> str:
        """Say how many tests are significant."""
        n_significant = int(np.count_nonzero(self.significant))
        return (
            f"HolmResult: {n_significant} of {self.p_values.size} tests significant at level "
            f"{self.level:g}"
        )


def holm_correction(p_values: npt.ArrayLike, *, level: float = 0.05) -> HolmResult:
    r"""Correct the p-values of several tests such that hardly ever any is wrongly significant.

    Parameters
    ----------
    p_values : (m,) array_like of float
        Each in [0, 1], of tests that may depend on each other in any way.
    level : float, default: 0.05
        The chance of at least one false alarm that is accepted, strictly between 0
        and 1.

    Returns
    -------
    HolmResult

    Raises
    ------
    InvalidInputError
        If there are no p-values, one is not in [0, 1], or `level` is not in (0, 1).

    Notes
    -----
    In ascending order, :math:`\tilde p_{(i)} = \max_{j \le i} \min(1, (m-j+1)\, p_{(j)})`
    [1]_. Never worse than Bonferroni's m p.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian Journal of Statistics 6, 1979.

    Examples
    --------
    >>> result = holm_correction([0.01, 0.04, 0.03])
    >>> result.adjusted.tolist()
    [0.03, 0.06, 0.06]
    >>> result
    HolmResult: 1 of 3 tests significant at level 0.05
    """
    owner = "holm_correction"
    given = as_vector(p_values, "p_values", owner).astype(np.float64)
    alpha = check_fraction(level, "level", owner)
    if given.size == 0:
        raise invalid("p_values", owner, "hold at least one p-value", "none")
    bad = ~((given >= 0) & (given <= 1))
    if bad.any():
        raise invalid("p_values", owner, "lie in [0, 1]", f"{given[bad][0]}")
    order = np.argsort(given, kind="stable")
    factors = np.arange(given.size, 0, -1)
    adjusted = np.empty_like(given)
    adjusted[order] = np.minimum(np.maximum.accumulate(given[order] * factors), 1.0)
    return HolmResult(
        frozen(given.copy()), frozen(adjusted), frozen(adjusted <= alpha), float(alpha)
    )


class Comparison(Protocol):
    """What a row of a table of comparisons needs."""

    @property
    def difference(self) -> float:
        """First system minus second."""

    @property
    def standard_error(self) -> float:
        """Standard error of the difference."""

    @property
    def p_value(self) -> float:
        """Chance of such a difference if systems are alike."""


@attrs.frozen(eq=False, repr=False)
class ComparisonTable:
    """Comparisons of several systems, with p-values corrected for their number.

    Make one with `from_tests`; it prints as a table.

    Parameters
    ----------
    pairs : tuple of (str, str)
        Names of the two systems of each comparison.
    tests : tuple
        Result of each comparison.
    holm : HolmResult
        The corrected p-values.

    Examples
    --------
    >>> from bosaris_py.uncertainty.decisions import ErrorCounts
    >>> from bosaris_py.uncertainty.significance import hter_z_test
    >>> a, b = ErrorCounts(40, 400, 600, 6000), ErrorCounts(80, 400, 1200, 6000)
    >>> c = ErrorCounts(44, 400, 620, 6000)
    >>> ComparisonTable.from_tests({
    ...     ("A", "B"): hter_z_test(a, b), ("A", "C"): hter_z_test(a, c)})
    first  second  difference      SE         p   p Holm  significant
    A      B             -0.1  0.0129  9.49e-15  1.9e-14  yes
    A      C        -0.006667  0.0112     0.551    0.551  no
    (Holm's correction, level 0.05)
    """

    pairs: tuple[tuple[str, str], ...]
    tests: tuple[Comparison, ...]
    holm: HolmResult

    @classmethod
    def from_tests(
        cls, tests: Mapping[tuple[str, str], Comparison], *, level: float = 0.05
    ) -> "ComparisonTable":
        """Collect the comparisons of several pairs of systems.

        Parameters
        ----------
        tests : mapping from (str, str) to a test result
            For the names of two systems, the result of their comparison: anything with
            attributes difference, standard_error and p_value.
        level : float, default: 0.05
            The chance of at least one false alarm that is accepted.

        Returns
        -------
        ComparisonTable

        Raises
        ------
        InvalidInputError
            If there are no comparisons, or `level` is not in (0, 1).
        """
        if not tests:
            owner = "ComparisonTable.from_tests"
            raise invalid("tests", owner, "hold at least one comparison", "none")
        results = tuple(tests.values())
        corrected = holm_correction([test.p_value for test in results], level=level)
        return cls(tuple(tests), results, corrected)

    def __repr__(self) -> str:
        """Lay the comparisons out as a table."""
        rows = [("first", "second", "difference", "SE", "p", "p Holm", "significant")]
        for (first, second), test, adjusted, significant in zip(
            self.pairs, self.tests, self.holm.adjusted, self.holm.significant, strict=True
        ):
            rows.append(
                (
                    first,
                    second,
                    f"{test.difference:.4g}",
                    f"{test.standard_error:.3g}",
                    f"{test.p_value:.3g}",
                    f"{adjusted:.3g}",
                    "yes" if significant else "no",
                )
            )
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        left = (0, 1, 6)
        lines = [
            "  ".join(
                text.ljust(width) if i in left else text.rjust(width)
                for i, (text, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, f"(Holm's correction, level {self.holm.level:g})"])
