"""What all trained linear maps have in common: how they came about."""

import math
import numbers
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import check_fraction, describe, invalid
from bosaris_py.calibration.saved import SavedMap
from bosaris_py.numerics.scoring_rules import scoring_rule

__all__ = [
    "TrainedMap",
    "count",
    "finite_number",
    "non_negative_number",
    "to_number",
    "to_numbers",
]


def to_number(value: Any) -> Any:
    """Convert a real number to a float; whatever else it is is left to the validator.

    Text and booleans, which Python would convert, are no numbers here: in a file of
    parameters they are damage. Of an integer too large for a float infinity is made.
    """
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if abs(value) == value else -math.inf


def to_numbers(values: npt.ArrayLike, name: str, owner: str) -> npt.NDArray[np.float64]:
    """Convert an array, or nested lists, of real numbers to float64.

    Parameters
    ----------
    values : array_like of float
        The numbers; in lists text and booleans are refused as in `to_number`.
    name, owner : str
        The argument and its class, for error messages.

    Returns
    -------
    ndarray of float64
        The same array where it is one already.

    Raises
    ------
    InvalidInputError
        If something among `values` is no number, or lists differ in length.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return values.astype(np.float64, copy=False)
    try:
        items = np.array(values, dtype=object)
    except ValueError:
        raise invalid(name, owner, "be a regular array of numbers", describe(values)) from None
    floats = [to_number(item) for item in items.ravel().tolist()]
    strangers = [item for item in floats if not isinstance(item, float)]
    if strangers:
        raise invalid(name, owner, "hold real numbers", f"among others {describe(strangers[0])}")
    return np.array(floats, dtype=np.float64).reshape(items.shape)


def finite_number(instance: object, attribute: "attrs.Attribute[float]", value: object) -> None:
    """Refuse what is not a finite number."""
    if not isinstance(value, float) or not math.isfinite(value):
        owner = type(instance).__name__
        raise invalid(attribute.name, owner, "be a finite number", describe(value))


def non_negative_number(
    instance: object, attribute: "attrs.Attribute[float]", value: float
) -> None:
    """Refuse what is not a finite number of at least zero."""
    finite_number(instance, attribute, value)
    if value < 0:
        owner = type(instance).__name__
        raise invalid(attribute.name, owner, "not be negative", describe(value))


def count(instance: object, attribute: "attrs.Attribute[int]", value: int) -> None:
    """Refuse what is not a number of trials."""
    if type(value) is not int or value < 1:
        owner = type(instance).__name__
        raise invalid(attribute.name, owner, "be a count of at least 1", describe(value))


def _prior(instance: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    finite_number(instance, attribute, value)
    check_fraction(value, attribute.name, type(instance).__name__)


def _objective(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:
    owner = type(instance).__name__
    if not isinstance(value, str):
        raise invalid(attribute.name, owner, "be the name of a scoring rule", describe(value))
    scoring_rule(value, owner)


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
    ridge: float = attrs.field(converter=to_number, validator=non_negative_number)
    n_tar: int = attrs.field(validator=count)
    n_non: int = attrs.field(validator=count)

    def _describe_training(self) -> str:
        ridge = f", ridge {self.ridge:.4g}" if self.ridge else ""
        return (
            f"{self.objective} {self.objective_value:.4g} at prior {self.prior:.4g}{ridge}, "
            f"{self.n_tar} targets, {self.n_non} non-targets"
        )
