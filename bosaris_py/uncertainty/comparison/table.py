"""The table of all pairs of systems: p-values with Holm's correction, groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import BoolArray, Float64Array, mark_read_only
from bosaris_py._cautions import Caution
from bosaris_py._tables import AnnotatedTable, WithInterval, joined_notes, or_none, scale_of_costs
from bosaris_py._validation import check_fraction, invalid
from bosaris_py.uncertainty.bootstrap_result import ZTest
from bosaris_py.uncertainty.comparison.paired import PairedBootstrapResult

# Several tests at once.

# Anything with the attributes difference, standard_error and p_value.
Comparison: TypeAlias = Any


def holm(p_values: Sequence[float]) -> Float64Array:
    """Correct the p-values of several tests for their number: Holm 1979."""
    p, order = np.array(p_values, dtype=np.float64), np.argsort(p_values, kind="stable")
    # Each times the tests still left, and not below the one before.
    steps = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    return np.asarray(np.minimum(steps, 1.0)[np.argsort(order)])


@attrs.frozen(eq=False, repr=False)
class ComparisonTable(AnnotatedTable):
    r"""Comparisons of several systems, with p-values corrected for their number.

    Made by `compare_systems` and `from_tests`. A p-value that is not defined counts as 1.

    Parameters
    ----------
    pairs : tuple of (str, str)
        Names of the two systems of each comparison.
    tests : tuple
        Result of each comparison.
    p_holm : (m,) ndarray of float64
        P-values with Holm's correction. Read-only.
    level : float
        The accepted chance of at least one false alarm.
    normalized : bool, optional
        Whether differences are of normalized costs; None if they are not of costs.
    metric : str
        What was compared, such as ``"minDCF(0.05)"``; empty where the tests do not say.
    cautions : tuple of Caution
        What was warned of. Pairs and systems that it concerns have a sign, which a footnote
        explains.
    percent : bool, default: False
        Whether printed differences are in per cent, as a report shows those of rates.

    Notes
    -----
    In ascending order, :math:`\tilde p_{(i)} = \max_{j \le i} \min(1, (m-j+1)\, p_{(j)})`: S. Holm,
    Scandinavian Journal of Statistics 6, 1979. The tests may depend on each other in any way.

    Examples
    --------
    >>> from bosaris_py.uncertainty import ErrorCounts, hter_z_test
    >>> a, b = ErrorCounts(40, 400, 600, 6000), ErrorCounts(80, 400, 1200, 6000)
    >>> c = ErrorCounts(44, 400, 620, 6000)
    >>> ComparisonTable.from_tests({
    ...     ("A", "B"): hter_z_test(a, b), ("A", "C"): hter_z_test(a, c)})
    first  second                  difference      SE         p   p Holm  significant
    A      B       -0.1000 [-0.1253, -0.0747]  0.0129  9.49e-15  1.9e-14  yes
    A      C        -0.0067 [-0.0286, 0.0153]  0.0112     0.551    0.551  no
    (first minus second; 95 % intervals: z-test, independent; Holm's correction, level 0.05)
    """

    pairs: tuple[tuple[str, str], ...]
    tests: tuple[Comparison, ...]
    p_holm: Float64Array
    level: float
    normalized: bool | None = None
    metric: str = ""
    cautions: tuple[Caution, ...] = attrs.field(default=(), kw_only=True)
    percent: bool = attrs.field(default=False, kw_only=True)

    @classmethod
    def from_tests(
        cls, tests: Mapping[tuple[str, str], Comparison], *, level: float = 0.05
    ) -> "ComparisonTable":
        """Collect the comparisons of several pairs of systems, or of one pair in conditions.

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
        """
        if not tests:
            raise invalid("tests", "hold at least one comparison", "none")
        level, results = check_fraction(level, "level"), tuple(tests.values())
        p_holm = mark_read_only(holm([_known_p_value(test) for test in results]))
        return cls(tuple(tests), results, p_holm, level)

    @property
    def significant(self) -> BoolArray:
        """Whether the corrected p-value of each pair is at most the level."""
        return np.asarray(self.p_holm <= self.level)

    def records(self) -> list[dict[str, Any]]:
        """Return the comparisons as dicts.

        Returns
        -------
        list of dict
            ``first``, ``second``, ``difference``, ``low`` and ``high``, which are the ends of its
            interval, ``standard_error``, ``p_value``, ``p_holm``, ``significant``, ``normalized``,
            ``metric``, ``intervals``, which says how they were made, and ``correction``; p is 1
            where the test is not defined.
        """
        p_holm, significant = self.p_holm.tolist(), self.significant.tolist()
        return [
            {
                "first": first,
                "second": second,
                "difference": or_none(test.difference),
                "low": None if ends is None else or_none(ends[0]),
                "high": None if ends is None else or_none(ends[1]),
                "standard_error": or_none(test.standard_error),
                "p_value": _known_p_value(test),
                "p_holm": p_holm[i],
                "significant": significant[i],
                "normalized": self.normalized,
                "metric": self.metric or None,
                "intervals": self._intervals or None,
                "correction": self._correction,
            }
            for i, ((first, second), test, ends) in enumerate(
                zip(self.pairs, self.tests, map(self._ends, self.tests), strict=True)
            )
        ]

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Return the groups of systems within which no difference was found.

        Returns
        -------
        tuple of tuple of str
            The largest such groups, systems in the order of the table. A system may be in several
            groups. Two systems that share none differ significantly.

        Raises
        ------
        InvalidInputError
            If a pair of systems was not compared.

        Notes
        -----
        These are the letters of a compact letter display: H.-P. Piepho, Journal of Computational
        and Graphical Statistics 13, 2004. That no difference was found does not show that
        systems are equal.

        Examples
        --------
        >>> from types import SimpleNamespace as Test
        >>> p_values = {("A", "B"): 0.4, ("B", "C"): 0.3, ("A", "C"): 0.001}
        >>> ComparisonTable.from_tests({
        ...     pair: Test(difference=0.1, standard_error=0.1, p_value=p)
        ...     for pair, p in p_values.items()}).groups()
        (('A', 'B'), ('B', 'C'))
        """
        names = list(dict.fromkeys(itertools.chain.from_iterable(self.pairs)))
        tested = set(map(frozenset, self.pairs))
        for a, b in itertools.combinations(names, 2):
            if frozenset((a, b)) not in tested:
                raise invalid("pairs", "hold each pair of systems", f"not {a} and {b}")
        found = zip(map(frozenset, self.pairs), self.significant.tolist(), strict=True)
        alike: dict[str, set[str]] = {name: set() for name in names}
        for pair, significant in found:
            for name in () if significant else pair:
                alike[name] |= pair - {name}
        # Each system joins all groups that it does not differ from; what is left whole is largest.
        largest: list[set[str]] = []
        for name in names:
            joined = [(group & alike[name]) | {name} for group in [*largest, set()]]
            whole = [*(group for group in largest if not group <= alike[name]), *joined]
            largest = []
            for group in sorted(whole, key=len, reverse=True):
                if not any(group <= other for other in largest):
                    largest.append(group)
        order = {name: i for i, name in enumerate(names)}
        ranked = sorted(sorted(order[name] for name in group) for group in largest)
        return tuple(tuple(names[i] for i in group) for group in ranked)

    def _ends(self, test: Comparison) -> tuple[float, float] | None:
        """Return the interval of a difference; tests of others may have none."""
        if isinstance(test, ZTest):
            interval = test.interval(1.0 - self.level)
            return interval.low, interval.high
        return (test.low, test.high) if isinstance(test, PairedBootstrapResult) else None

    @property
    def _intervals(self) -> str:
        test = self.tests[0]
        if isinstance(test, ZTest):
            law = "z" if math.isinf(test.degrees) else "t"
            return f"{100 * (1 - self.level):g} % intervals: {law}-test, {test.method}"
        if not isinstance(test, PairedBootstrapResult):
            return ""
        found = test.contrast
        return (
            f"{100 * found.confidence:g} % intervals: {found.method} bootstrap, "
            f"{found.replicates.shape[0]} replicates, {found.interval}"
        )

    @property
    def _correction(self) -> str:
        return f"Holm's correction, level {self.level:g}"

    @property
    def facts(self) -> str:
        """What the figures are, in words."""
        of = f"{self.metric}, first minus second" if self.metric else "first minus second"
        return joined_notes(of, scale_of_costs(self.normalized), self._intervals, self._correction)

    @property
    def _left(self) -> tuple[int, ...]:
        return 0, 1, 6

    def _concerned(self, caution: Caution, heads: Sequence[str]) -> Iterable[tuple[int, int]]:
        about = dict(caution.about)
        for number, pair in enumerate(self.pairs):
            if about.get("pair", name_of_pair(*pair)) == name_of_pair(*pair):
                # What is about a system stands beside its name, the rest at the interval.
                own = [i for i, name in enumerate(pair) if name == about.get("system")]
                yield from ((number, at) for at in (own if "system" in about else [2]))

    def _plain_texts(self) -> list[list[str]]:
        scale, unit = (100.0, " (%)") if self.percent else (1.0, "")
        rows = [["first", "second", f"difference{unit}", f"SE{unit}", "p", "p Holm", "significant"]]
        records, verdicts = self.records(), {True: "yes", False: "no"}
        for record in records:
            for name in ("difference", "low", "high", "standard_error"):
                record[name] = None if record[name] is None else scale * record[name]
        spreads = [record["standard_error"] for record in records if record["standard_error"]]
        # As many decimals in both columns as show three digits of the smallest standard error.
        decimals = max(0, 2 - math.floor(math.log10(min(spreads)))) if spreads else 4
        forms = (f".{decimals}f", f".{decimals}f", ".3g", ".3g")
        names = ("difference", "standard_error", "p_value", "p_holm")
        for record in records:
            cells = zip((record[name] for name in names), forms, strict=True)
            texts = ["-" if number is None else format(number, form) for number, form in cells]
            if record["low"] is not None:
                low, high = (format(record[end], forms[0]) for end in ("low", "high"))
                texts[0] = WithInterval(texts[0], f"[{low}, {high}]")
            significant = verdicts[record["significant"]]
            rows.append([record["first"], record["second"], *texts, significant])
        return rows

    def __repr__(self) -> str:
        """Lay the comparisons out as a table."""
        return "\n".join((self._laid_out(()), *self._below))


def name_of_pair(first: str, second: str) -> str:
    """Return what a caution calls a pair of systems."""
    return f"{first} and {second}"


def _known_p_value(test: Comparison) -> float:
    """Return the p-value of a test; what it cannot tell counts as no difference."""
    return 1.0 if math.isnan(test.p_value) else float(test.p_value)
