"""What all trained linear maps have in common: how they came about."""

import math

import attrs

from bosaris_py._validation import check_fraction, describe, invalid
from bosaris_py.calibration.saved import SavedMap
from bosaris_py.numerics.objectives import scoring_rule

__all__ = ["TrainedMap", "count", "finite_number", "to_number"]


def to_number(value: float) -> float:
    """Convert to a float; what is not a number is left to the validator."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def finite_number(instance: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    """Refuse what is not a finite number."""
    if not math.isfinite(value):
        raise invalid(attribute.name, type(instance).__name__, "be a finite number", f"{value}")


def count(instance: object, attribute: "attrs.Attribute[int]", value: int) -> None:
    """Refuse what is not a number of trials."""
    if type(value) is not int or value < 1:
        owner = type(instance).__name__
        raise invalid(attribute.name, owner, "be a count of at least 1", describe(value))


def _prior(instance: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    check_fraction(value, attribute.name, type(instance).__name__)


def _objective(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:
    scoring_rule(value, type(instance).__name__)


@attrs.frozen(kw_only=True, repr=False)
class TrainedMap(SavedMap):
    """The record of a training by optimisation, with saving and reading.

    Parameters
    ----------
    prior : float
        Effective prior at which the map was optimised.
    objective : str
        The proper scoring rule that was minimised: cllr, brier or boost.
    objective_value : float
        The normalised objective on the training scores: 0 for a perfect detector,
        1 for one that knows only the prior. The ridge penalty is not included.
    ridge : float
        The ridge that was used.
    n_tar, n_non : int
        Number of training trials with a weight above zero.
    """

    prior: float = attrs.field(converter=to_number, validator=_prior)
    objective: str = attrs.field(validator=_objective)
    objective_value: float = attrs.field(converter=to_number, validator=finite_number)
    ridge: float = attrs.field(converter=to_number, validator=finite_number)
    n_tar: int = attrs.field(validator=count)
    n_non: int = attrs.field(validator=count)

    def _describe_training(self) -> str:
        ridge = f", ridge {self.ridge:.4g}" if self.ridge else ""
        return (
            f"{self.objective} {self.objective_value:.4g} at prior {self.prior:.4g}{ridge}, "
            f"{self.n_tar} targets, {self.n_non} non-targets"
        )
