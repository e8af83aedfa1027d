r"""The equal error rate as different tools define it, from two neighbouring corners of a ROC.

Along the steppy ROC the difference pmiss - pfa rises from -1 to 1, and on every
edge of it strictly, so that exactly one edge crosses zero. What tools disagree on
is the number that they make of this edge, or whether they take the edge of the
convex hull instead: footnote 5 of van Leeuwen [1]_ lists the choices.

References
----------
.. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker Recognition using
   multiple conditions in an evaluation", 2008, appendix A.
"""

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from bosaris_py._validation import describe, invalid

__all__ = ["Crossing", "EERDefinition", "check_eer_definition"]

EERDefinition: TypeAlias = Literal["rocch", "interpolated", "step"]


def check_eer_definition(definition: object, owner: str) -> None:
    """Raise unless `definition` is the name of one."""
    names = get_args(EERDefinition)
    if definition not in names:
        expected = "be one of " + ", ".join(f'"{name}"' for name in names)
        raise invalid("definition", owner, expected, describe(definition))


class Crossing(NamedTuple):
    """The edge of a steppy ROC on which pmiss - pfa changes its sign.

    Parameters
    ----------
    start, end : tuple of int or float
        Misses and false alarms where the edge begins, more false alarms than
        misses in rate, and where it ends, at least as many misses.
    tar_total, non_total : int or float
        Total weight of each class.
    """

    start: tuple[Any, Any]
    end: tuple[Any, Any]
    tar_total: int | float
    non_total: int | float

    def interpolated(self) -> float:
        """Return the rate where the straight edge meets pmiss = pfa."""
        (m0, f0), (m1, f1) = self.start, self.end
        # On a run of one class the other's rate is the answer, without rounding.
        if m0 == m1:
            return float(m0 / self.tar_total)
        if f0 == f1:
            return float(f0 / self.non_total)
        # Without rounding where counts are whole, up to the division.
        value = m0 * (f0 - f1) + f0 * (m1 - m0)
        return float(value / ((m1 - m0) * self.non_total + (f0 - f1) * self.tar_total))

    def nearest_step(self) -> float:
        """Return the mean of both rates at the step with the smallest difference.

        On a run of one class each trial is a step; where trials have fractional
        weights, how a run divides into steps is not known, and they are taken to
        be as small as one likes. Of two steps as near, the one with lower rates.
        """
        (m0, f0), (m1, f1) = self.start, self.end
        points = [self.start, self.end]
        if m0 == m1:
            points += [(m0, f) for f in _steps(m0, self.tar_total, self.non_total, f1, f0)]
        elif f0 == f1:
            points += [(m, f0) for m in _steps(f0, self.non_total, self.tar_total, m0, m1)]
        # Whole numbers are compared without rounding.
        m, f = min(points, key=self._distance)
        return float(m / self.tar_total + f / self.non_total) / 2.0

    def _distance(self, point: tuple[Any, Any]) -> tuple[Any, Any]:
        missed, accepted = point[0] * self.non_total, point[1] * self.tar_total
        return abs(missed - accepted), missed + accepted


def _steps(fixed: Any, fixed_total: Any, total: Any, low: Any, high: Any) -> list[Any]:
    """Return the steps of a run, from low to high, on both sides of the fixed rate."""
    if isinstance(low, int) and isinstance(high, int):
        # Exact where all is whole; one step more on each side where `fixed` is not.
        nearest = int(fixed * total // fixed_total)
        steps: list[Any] = [nearest, nearest + 1]
    else:
        steps = [fixed / fixed_total * total]
    return [min(max(step, low), high) for step in steps]
