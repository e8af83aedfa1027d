"""What training needs to know of an objective, wherever its scores are."""

from abc import ABC, abstractmethod
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen

from bosaris_py.numerics.class_sums import ClassMoments, ClassSums
from bosaris_py.numerics.scoring_rules import ScoringRule

__all__ = ["Evaluation", "LinearObjective"]

Float64Array: TypeAlias = npt.NDArray[np.float64]


@frozen(eq=False)
class Evaluation:
    """A training objective at one point.

    Parameters
    ----------
    value : float
        The objective; infinite where it overflows.
    gradient : (d,) ndarray of float64
        First derivatives.
    hessian : (d, d) ndarray of float64
        Second derivatives, symmetric.
    overlap : float
        Highest minus lowest: the highest fused non-target score minus the lowest
        fused target score. Zero or below if the point separates the classes.
    """

    value: float
    gradient: Float64Array
    hessian: Float64Array
    overlap: float


@frozen(eq=False, kw_only=True)
class LinearObjective(ABC):
    """The objective of a linear calibration or fusion.

    Coefficients are one weight for each system, then the offset; they act on
    the scores ``(x - centre) / spread``.

    Parameters
    ----------
    rule : ScoringRule
        The loss.
    prior, plo : float
        Prior probability of a target and its log-odds.
    centre, spread : (n_systems,) ndarray of float64
        Standardisation, done on the fly.
    """

    rule: ScoringRule
    prior: float
    plo: float
    centre: Float64Array
    spread: Float64Array

    @property
    def n_systems(self) -> int:
        """Number of systems, one less than there are coefficients."""
        return len(self.centre)

    @property
    @abstractmethod
    def n_tar(self) -> int:
        """Number of target trials."""

    @property
    @abstractmethod
    def n_non(self) -> int:
        """Number of non-target trials."""

    @abstractmethod
    def moments(self) -> tuple[ClassMoments, ClassMoments]:
        """Return the moments of targets and of non-targets, of the scores as they are."""

    @abstractmethod
    def refuse_non_finite(self, owner: str) -> None:
        """Raise with counts of what cannot be trained on.

        Parameters
        ----------
        owner : str
            Whom the error speaks of.

        Raises
        ------
        InvalidInputError
            If a score is NaN, infinite, or so large that its square overflows.
        """

    @abstractmethod
    def thinned(self, n_trials: int) -> "LinearObjective":
        """Return the objective on about `n_trials` evenly spaced trials of each class."""

    @abstractmethod
    def hardest(self, weights: Float64Array, n_trials: int) -> tuple[Float64Array, Float64Array]:
        """Return the trials that fused scores with given weights get most wrong.

        Parameters
        ----------
        weights : (n_systems,) ndarray of float64
            Weights of the standardised scores.
        n_trials : int
            How many trials of each class to return, at most.

        Returns
        -------
        tar, non : (n_systems, n) ndarray of float64
            Scores, as they are, of the targets with the lowest fused scores and of the
            non-targets with the highest, in no particular order.
        """

    @abstractmethod
    def a_trial(self) -> Float64Array:
        """Return the scores of some training trial as they are, (n_systems, 1)."""

    @abstractmethod
    def _sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        """Return the sums of targets, then of non-targets.

        Parameters
        ----------
        coefficients : (n_systems + 1,) ndarray of float64
            Weights and offset that give the posterior log-odds for a target.
        """

    def standardised(self, centre: Float64Array, spread: Float64Array) -> Self:
        """Return the same objective with other coordinates for the coefficients."""
        return evolve(self, centre=centre, spread=spread)

    def with_rule(self, rule: ScoringRule) -> Self:
        """Return the objective with another loss on the same scores."""
        return evolve(self, rule=rule)

    def evaluate(self, coefficients: Float64Array) -> Evaluation:
        """Return value, gradient and Hessian at `coefficients`, in one pass.

        Parameters
        ----------
        coefficients : (n_systems + 1,) ndarray of float64
            Weights, then the offset.

        Returns
        -------
        Evaluation
            Value and derivatives, with the classes' overlap along the weights.
        """
        posterior = coefficients.copy()
        posterior[-1] += self.plo
        tar, non = self._sums(posterior)
        entropy = self.rule.entropy(self.prior)
        # Overflow means an infinite value, which every minimiser steps back from.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            tar_price = self.prior / entropy
            non_price = (1.0 - self.prior) / entropy
            tar_means, non_means = tar.derivatives / tar.total, non.derivatives / non.total
            hessian = tar_price * tar_means[:-1] + non_price * non_means[:-1]
            return Evaluation(
                value=tar_price * (tar.loss / tar.total) + non_price * (non.loss / non.total),
                gradient=non_price * non_means[-1] - tar_price * tar_means[-1],
                hessian=0.5 * (hessian + hessian.T),
                overlap=tar.worst + non.worst,
            )
