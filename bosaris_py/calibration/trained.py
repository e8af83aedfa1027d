"""What all trained linear maps have in common: how they came about, and their files."""

import math
from functools import partial
from os import PathLike
from typing import Any, Self

import attrs

from bosaris_py._validation import check_fraction, describe, invalid
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.numerics.objectives import scoring_rule
from bosaris_py.storage.parameters import read_parameters, write_parameters

__all__ = ["TrainedMap", "finite_number", "to_number"]


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


def _count(instance: object, attribute: "attrs.Attribute[int]", value: int) -> None:
    if type(value) is not int or value < 1:
        owner = type(instance).__name__
        raise invalid(attribute.name, owner, "be a count of at least 1", describe(value))


def _prior(instance: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    check_fraction(value, attribute.name, type(instance).__name__)


def _objective(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:
    scoring_rule(value, type(instance).__name__)


@attrs.frozen(kw_only=True, repr=False)
class TrainedMap:
    """The record of a training, with saving and reading.

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
    n_tar: int = attrs.field(validator=_count)
    n_non: int = attrs.field(validator=_count)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the map and how it was trained to a JSON file.

        Parameters
        ----------
        path : str or path-like
            File to write; replaced as a whole if it exists.
        """
        write_parameters(path, {"kind": type(self).__name__, **attrs.asdict(self)})

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read a map that `save` has written.

        Parameters
        ----------
        path : str or path-like
            File to read.

        Returns
        -------
        object of this class
            Equal to the one that was saved, to the last bit.

        Raises
        ------
        FileFormatError
            If the file holds something else.
        """
        parameters = read_parameters(path, cls.__name__)
        try:
            return cls(**parameters)
        except (TypeError, InvalidInputError) as error:
            message = f"{path}: damaged parameters of a {cls.__name__}: {error}"
            raise FileFormatError(message) from error

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that read-only arrays stay read-only."""
        fields = {field.name: getattr(self, field.name) for field in attrs.fields(type(self))}
        return partial(type(self), **fields), ()

    def _describe_training(self) -> str:
        ridge = f", ridge {self.ridge:.4g}" if self.ridge else ""
        return (
            f"{self.objective} {self.objective_value:.4g} at prior {self.prior:.4g}{ridge}, "
            f"{self.n_tar} targets, {self.n_non} non-targets"
        )
