"""Claims about figures of systems, such as ``eer<=2%``, and the table of what was shown.

A claim is shown if the one-sided end of the figure's interval is within it. With several systems
the p-values of a claim take Holm's correction. Criteria of a validation have the same grammar, and
pass or fail for each system by itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal, Self

import attrs

from bosaris_py._arrays import Readable
from bosaris_py._tables import Table, joined_notes, or_none
from bosaris_py._validation import as_number, describe, invalid, list_some, nearest
from bosaris_py.evaluation.figure_names import figure_of

_CLAIM = re.compile(r"\s*([a-z_]+(?:\([^()]*\))?)\s*(<=|>=)\s*([^\s%]+)\s*(%?)\s*")


@attrs.frozen(repr=False)
class Claim(metaclass=Readable):
    """What somebody says of a figure.

    Parameters
    ----------
    figure : str
        The column of the table of `evaluate`: ``eer``, ``cllr``, ``min_dcf(0.05)``. At one
        operating point its name may be left out.
    relation : {"<=", ">="}
        Whether the figure is said to be at most, or at least, the value.
    value : float
        A rate as a fraction.

    Examples
    --------
    >>> Claim.from_text("eer <= 2%")
    eer<=0.02
    """

    figure: str
    relation: Literal["<=", ">="]
    value: float

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read a claim.

        Parameters
        ----------
        text : str
            A figure, ``<=`` or ``>=``, and a number, which may be in per cent.

        Returns
        -------
        Claim

        Raises
        ------
        InvalidInputError
            If the text is none, or says a rate above 1.
        """
        found = _CLAIM.fullmatch(str(text))
        if found is None:
            hint = "Such as eer<=2%, cllr<=0.3 or min_dcf(0.05)<=0.1."
            raise invalid("claim", "be a figure, <= or >=, and a number", describe(text), hint)
        figure, relation, number, percent = found.groups()
        try:
            value = float(number) / (100.0 if percent else 1.0)
        except ValueError:
            raise invalid("claim", "end with a number", describe(text)) from None
        value = as_number(value, "claim", "be of a finite number, not negative", _is_cost)
        if figure_of(figure).is_rate and value > 1.0:
            hint = f"{number} % is {figure}{relation}{number}%."
            raise invalid("claim", "be of a rate of at most 1", describe(text), hint)
        return cls(figure, "<=" if relation == "<=" else ">=", value)

    def __repr__(self) -> str:
        """Write the claim as it is read."""
        return f"{self.figure}{self.relation}{self.value:g}"

    def column(self, names: Sequence[str]) -> str:
        """Return the one of some columns that the claim is about.

        Parameters
        ----------
        names : sequence of str
            Columns of a table.

        Returns
        -------
        str

        Raises
        ------
        InvalidInputError
            If it names none of them, or several.
        """
        found = [name for name in names if self.figure in {name, name.partition("(")[0]}]
        if len(found) == 1:
            return found[0]
        expected = f"name one figure of the table ({list_some(names, 20)})"
        hint = "Name the operating point." if found else nearest(self.figure, names)
        raise invalid("claim", expected, describe(self.figure), hint)


def _is_cost(value: float) -> bool:
    return math.isfinite(value) and value >= 0.0


@attrs.frozen(repr=False)
class ClaimRow(metaclass=Readable):
    """What was found of a claim about a system.

    Parameters
    ----------
    system : str
        Its name.
    claim : Claim
        What was said.
    estimate : float
        The figure of the data.
    end : float
        The one-sided end of its interval, on the side of the claim.
    p_value, p_holm : float
        Chance of such data if the figure just misses the claim, alone and after Holm's correction.
    shown : bool
        Whether the corrected p-value is at most the level.
    lies : {"below", "contains", "above"}
        Where the two-sided interval lies, seen from the value.
    """

    system: str
    claim: Claim
    estimate: float
    end: float
    p_value: float
    p_holm: float
    shown: bool
    lies: Literal["below", "contains", "above"]

    @property
    def verdict(self) -> str:
        """Whether the data show the claim, refute it, or leave it open."""
        against = "above" if self.claim.relation == "<=" else "below"
        return "shown" if self.shown else "refuted" if self.lies == against else "open"


@attrs.frozen(repr=False)
class ClaimTable(Table):
    """Claims about systems, and which of them the data show; made by `Evaluation.claims`.

    Parameters
    ----------
    rows : tuple of ClaimRow
        System by system.
    confidence : float
        Of the one-sided ends; one minus the level of the tests.
    how : str
        What the figures are, and how replicates were drawn.
    """

    rows: tuple[ClaimRow, ...]
    confidence: float
    how: str

    @property
    def shown(self) -> bool:
        """Whether all claims are shown, of all systems."""
        return all(row.shown for row in self.rows)

    def records(self) -> list[dict[str, Any]]:
        """Return one dict for each row.

        Returns
        -------
        list of dict
            Keys ``system``, ``claim``, ``estimate``, ``end``, ``p_value``, ``p_holm``, ``shown``,
            ``verdict``: shown, open or refuted; ``defined``: what the figures are, and how
            replicates were drawn.
        """
        return [
            {
                "system": row.system,
                "claim": repr(row.claim),
                **{
                    name: or_none(getattr(row, name))
                    for name in ("estimate", "end", "p_value", "p_holm")
                },
                "shown": row.shown,
                "verdict": row.verdict,
                "defined": self.how,
            }
            for row in self.rows
        ]

    @property
    def _note(self) -> str:
        level = f"level {1.0 - self.confidence:.3g}"
        several = len({row.system for row in self.rows}) > 1
        correction = f"Holm's correction for the systems, {level}" if several else level
        return (
            f"shown if the one-sided {100 * self.confidence:g} % end is within the claim; "
            f"refuted if the two-sided interval is outside; {self.how}; {correction}"
        )

    @property
    def _left(self) -> tuple[int, ...]:
        return 0, 1, 6

    def _texts(self) -> list[list[str]]:
        head = ["system", "claim", "estimate", "end", "p", "p Holm", "verdict"]
        rows = [
            [
                row.system,
                repr(row.claim),
                f"{row.estimate:.4f}",
                f"{row.end:.4f}",
                f"{row.p_value:.3g}",
                f"{row.p_holm:.3g}",
                row.verdict,
            ]
            for row in self.rows
        ]
        return [head, *rows]


# What a metric characterises, by the beginning of its name: D. Meuwly, D. Ramos and R. Haraksim, A
# guideline for the validation of likelihood ratio methods used for forensic evidence evaluation,
# Forensic Science International 276, 2017.
_CHARACTERISTICS = {
    "eer": "discriminating power",
    "min_": "discriminating power",
    "act_": "accuracy",
    "cllr": "accuracy",
}

# A criterion is judged by the metric of the data, or by the one-sided end of its interval.
JudgedBy = Literal["estimate", "end"]


@attrs.frozen(repr=False)
class CriterionRow(metaclass=Readable):
    """Whether a system passes a criterion.

    Parameters
    ----------
    system : str
        Its name.
    criterion : Claim
        What is asked for.
    estimate : float
        The metric of the data; NaN where it is not defined, which fails.
    end : float or None
        The one-sided end of its interval, on the side of the criterion, where it is judged by that.
    """

    system: str
    criterion: Claim
    estimate: float
    end: float | None = None

    @property
    def characteristic(self) -> str:
        """What the metric characterises: discriminating power or accuracy."""
        figure = self.criterion.figure
        return next(
            (text for start, text in _CHARACTERISTICS.items() if figure.startswith(start)), ""
        )

    @property
    def passed(self) -> bool:
        """Whether the number that decides is within the criterion."""
        value = self.estimate if self.end is None else self.end
        limit = self.criterion.value
        return value <= limit if self.criterion.relation == "<=" else value >= limit


@attrs.frozen(repr=False)
class CriterionTable(Table):
    """The validation matrix of systems: metric, criterion, result, pass or fail.

    Made by `Evaluation.criteria`.

    Parameters
    ----------
    rows : tuple of CriterionRow
        Criterion by criterion.
    judged_by : {"estimate", "end"}
        What decides.
    confidence : float
        Of the one-sided ends.
    how : str
        What the figures are, and how replicates were drawn.
    """

    rows: tuple[CriterionRow, ...]
    judged_by: JudgedBy
    confidence: float
    how: str = ""

    @property
    def passed(self) -> bool:
        """Whether all systems pass all criteria."""
        return all(row.passed for row in self.rows)

    def records(self) -> list[dict[str, Any]]:
        """Return one dict for each row.

        Returns
        -------
        list of dict
            Keys ``system``, ``characteristic``, ``criterion``, ``estimate``, ``end``,
            ``judged_by``, ``defined``, ``passed``. Rates are fractions.
        """
        return [
            {
                "system": row.system,
                "characteristic": row.characteristic,
                "criterion": repr(row.criterion),
                "estimate": or_none(row.estimate),
                "end": None if row.end is None else or_none(row.end),
                "judged_by": self.judged_by,
                "defined": self.how,
                "passed": row.passed,
            }
            for row in self.rows
        ]

    @property
    def _note(self) -> str:
        if self.judged_by == "estimate":
            return joined_notes("judged by the estimate, whatever its interval", self.how)
        return (
            f"judged by the one-sided {100 * self.confidence:g} % end, each system by itself; "
            f"{self.how}"
        )

    @property
    def _left(self) -> tuple[int, ...]:
        return (0, 1, 2, 5) if self.judged_by == "end" else (0, 1, 2, 4)

    def _texts(self) -> list[list[str]]:
        ends = self.judged_by == "end"
        lines = [
            ["system", "characteristic", "criterion", "estimate", *["end"][: int(ends)], "result"]
        ]
        for row in self.rows:
            percent = row.criterion.figure.endswith("eer")
            numbers = [row.estimate, *([row.end] if row.end is not None else [])]
            shown = [f"{100 * n:.2f} %" if percent else f"{n:.4f}" for n in numbers]
            limit = row.criterion.value
            limit_text = f"{100 * limit:.6g} %" if percent else f"{limit:g}"
            criterion = f"{row.criterion.figure} {row.criterion.relation} {limit_text}"
            result = "pass" if row.passed else "fail"
            lines.append([row.system, row.characteristic, criterion, *shown, result])
        return lines
