"""Base classes of trained linear maps: provenance, applying, saving."""

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import FloatArray, by_constructor
from bosaris_py._validation import FilePath, check_fraction, describe, invalid
from bosaris_py.calibration.passes import FileObjective
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.numerics.linear_objective import LinearObjective, TrainingObjective
from bosaris_py.numerics.scoring_rules import scoring_rule
from bosaris_py.numerics.training import LinearSolution, as_ridge, train_linear
from bosaris_py.storage.parameters import read_parameters, write_parameters


@attrs.frozen(repr=False)
class SavedMap:
    """A trained map whose fields are all that a file has to keep."""

    def save(self, path: FilePath) -> None:
        """Write the map and how it was trained to a JSON file.

        Parameters
        ----------
        path : str or path-like
            File to write, ending in ``.json`` in upper or lower case; replaced as a
            whole if it exists.

        Raises
        ------
        InvalidInputError
            If the name ends otherwise; nothing is written. A file of scores cannot
            be overwritten by mistake.
        """
        if Path(path).suffix.lower() != ".json":
            raise invalid("path", "end in .json", repr(str(path)))
        write_parameters(path, {"kind": type(self).__name__, **attrs.asdict(self)})

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Read a map that `save` has written.

        Parameters
        ----------
        path : str or path-like
            File to read, whatever its name.

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
        return by_constructor(self)


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


def to_numbers(values: npt.ArrayLike, name: str) -> npt.NDArray[np.float64]:
    """Convert an array, or nested lists, of real numbers to float64.

    Parameters
    ----------
    values : array_like of float
        The numbers; in lists text and booleans are refused as in `to_number`.
    name : str
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
        raise invalid(name, "be a regular array of numbers", describe(values)) from None
    floats = [to_number(item) for item in items.ravel().tolist()]
    strangers = [item for item in floats if not isinstance(item, float)]
    if strangers:
        raise invalid(name, "hold real numbers", f"among others {describe(strangers[0])}")
    return np.array(floats, dtype=np.float64).reshape(items.shape)


def finite_number(instance: object, attribute: "attrs.Attribute[float]", value: object) -> None:
    """Refuse what is not a finite number."""
    if not isinstance(value, float) or not math.isfinite(value):
        raise invalid(attribute.name, "be a finite number", describe(value))


def non_negative_number(
    instance: object, attribute: "attrs.Attribute[float]", value: float
) -> None:
    """Refuse what is not a finite number of at least zero."""
    finite_number(instance, attribute, value)
    if value < 0:
        raise invalid(attribute.name, "not be negative", describe(value))


def count(instance: object, attribute: "attrs.Attribute[int]", value: int) -> None:
    """Refuse what is not a number of trials."""
    if type(value) is not int or value < 1:
        raise invalid(attribute.name, "be a count of at least 1", describe(value))


def _prior(instance: object, attribute: "attrs.Attribute[float]", value: float) -> None:
    finite_number(instance, attribute, value)
    check_fraction(value, attribute.name)


def _objective(instance: object, attribute: "attrs.Attribute[str]", value: str) -> None:
    if not isinstance(value, str):
        raise invalid(attribute.name, "be the name of a scoring rule", describe(value))
    scoring_rule(value)


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


@attrs.frozen(kw_only=True, repr=False)
class LinearMap(TrainedMap, ABC):
    """A map to log-likelihood-ratios made of one weight for each system and an offset."""

    @classmethod
    @abstractmethod
    def _from_solution(cls, solution: LinearSolution, **training: Any) -> Self:
        """Build the map of weights that were found, with the record of the training."""

    @classmethod
    def _fit(cls, tar: FloatArray, non: FloatArray, *, ridge: float, **settings: Any) -> Self:
        """Train on scores in memory; `settings` are those of `TrainingObjective.from_scores`."""
        training = TrainingObjective.from_scores(tar, non, **settings)
        return cls._train(training, ridge=ridge)

    @classmethod
    def _fit_files(
        cls, score_files: Sequence[FilePath], key_file: FilePath, *, ridge: float, **settings: Any
    ) -> Self:
        """Train on files of scores; `settings` are those of `FileObjective.open`."""
        as_ridge(ridge)
        with ExitStack() as stack:
            training = FileObjective.open(score_files, key_file, stack=stack, **settings)
            return cls._train(training, ridge=ridge)

    @classmethod
    def _train(cls, training: LinearObjective, *, ridge: float) -> Self:
        solution = train_linear(training, ridge=ridge)
        return cls._from_solution(
            solution,
            prior=training.prior,
            objective=training.rule.name,
            objective_value=solution.objective_value,
            ridge=solution.ridge,
            n_tar=training.n_tar,
            n_non=training.n_non,
        )


def weighted_sum(
    scores: Sequence[npt.NDArray[Any]], weights: Sequence[float] | npt.ArrayLike, offset: float
) -> npt.NDArray[np.float64]:
    """Return an offset plus the scores of several systems times their weights.

    Parameters
    ----------
    scores : sequence of arrays of float32 or float64, all of one shape
        Scores of each system.
    weights : sequence of float
        One for each. Zero times an infinite score is no evidence, not NaN.
    offset : float
        What is added.

    Returns
    -------
    array of float64, of the shape of each system's scores
        NaN where a score is, or where infinite ones contradict each other. Added up in
        the order of the systems, so that the last bit is always the same.
    """
    llrs = term = None
    with np.errstate(invalid="ignore"):
        for weight, values in zip(np.asarray(weights, dtype=np.float64), scores, strict=True):
            if weight == 0.0:
                continue
            if llrs is None:
                llrs = np.multiply(values, weight, dtype=np.float64)
                llrs += offset
            else:
                term = np.multiply(values, weight, out=term, dtype=np.float64)
                llrs += term
    return np.full(scores[0].shape, offset) if llrs is None else llrs
