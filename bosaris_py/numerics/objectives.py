r"""Training objectives of calibration and fusion: value, gradient and Hessian in one pass.

A linear map turns the scores of one or more systems into a log-likelihood-ratio
:math:`s = w^T x + b`. How good it is at a prior :math:`\pi` is judged by a
proper scoring rule, the expected cost of the posterior log-odds
:math:`s + \mathrm{logit}(\pi)`,

.. math::

    F = \frac{1}{H(\pi)} \Bigl[
        \frac{\pi}{\sum u_i} \sum_{i \in tar} u_i\, C(-s_i - \mathrm{logit}\,\pi)
        + \frac{1-\pi}{\sum v_j} \sum_{j \in non} v_j\, C(s_j + \mathrm{logit}\,\pi)
    \Bigr],

where :math:`u, v` are trial weights (1 unless given) and :math:`C` is the
loss for evidence in the wrong direction. The entropy :math:`H(\pi)` is the same
cost for a detector that always answers ``s = 0``, so F is 1 for whoever knows
only the prior and 0 for a perfect detector.

Everything is summed over the trials in blocks that stay in the processor's
cache, so memory beyond the input is a few buffers and a pass costs little more
than one exponential and one logarithm per trial.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit user guide: theory,
   algorithms and code for binary classifier score processing", 2011.
.. [2] N. Brummer and G. Doddington, "Likelihood-ratio calibration using
   prior-weighted proper scoring rules", Interspeech 2013.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen

from bosaris_py._validation import (
    FloatArray,
    as_matrix,
    as_vector,
    as_weights,
    check_not_empty,
    invalid,
    list_some,
    refuse_nan,
)
from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics.class_sums import (
    ClassMoments,
    ClassSums,
    class_moments,
    class_sums,
    lowest,
)
from bosaris_py.numerics.linear_objective import LinearObjective
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring_rules import resolve_prior, scoring_rule

__all__ = [
    "LARGEST_SCORE",
    "TrainingObjective",
    "evaluate_objective",
    "moderate_weights",
    "refuse_non_finite",
]

Float64Array: TypeAlias = npt.NDArray[np.float64]

# Training weights are scaled if the largest of a class is below this or above its inverse.
_SMALLEST_WEIGHT = 1e-100

LARGEST_SCORE = 1e150
"""Largest score that can be trained on; squares of larger ones overflow."""


@frozen(eq=False, kw_only=True)
class TrainingObjective(LinearObjective):
    r"""The objective of a linear calibration or fusion on a given training set.

    Coefficients are one weight for each system, then the offset; they act on
    the scores ``(x - centre) / spread``.

    Parameters
    ----------
    tar, non : (n_systems, n_trials) ndarray of float32 or float64
        Training scores. May be strided or read-only; they are never copied as a
        whole.
    rule : ScoringRule
        The loss.
    prior, plo : float
        Prior probability of a target and its log-odds.
    tar_weights, non_weights : (n_trials,) ndarray of float64 or None
        Positive trial weights, of any sum.
    centre, spread : (n_systems,) ndarray of float64
        Standardisation, done on the fly.
    block : int or None
        Trials in one block. The result does not depend on it but for rounding.
    """

    tar: FloatArray
    non: FloatArray
    tar_weights: Float64Array | None
    non_weights: Float64Array | None
    block: int | None = None

    @classmethod
    def from_scores(
        cls,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
        block: int | None = None,
        owner: str = "TrainingObjective",
    ) -> "TrainingObjective":
        """Check the arguments and set up the objective on scores as they are.

        Parameters
        ----------
        tar, non : (n_trials,) or (n_systems, n_trials) array_like of float
            Training scores of the two classes.
        prior : float or OperatingPoint, default: 0.5
            Prior probability of a target.
        objective : {"cllr", "brier", "boost"}, default: "cllr"
            The proper scoring rule, in any case.
        tar_weights, non_weights : (n_trials,) array_like of float or None
            Trial weights; trials of weight zero are left out.
        block : int or None
            Trials in one block; None picks a size for the cache.
        owner : str
            Whom error messages speak of.

        Returns
        -------
        TrainingObjective
            With centre 0 and spread 1.

        Raises
        ------
        InvalidInputError
            If a class is empty, the numbers of systems differ, or an argument is
            out of range. Non-finite scores are not looked for here.
        """
        rule = scoring_rule(objective, owner)
        probability, plo = resolve_prior(prior, owner)
        tar_matrix = _as_systems(tar, "tar", owner)
        non_matrix = _as_systems(non, "non", owner)
        n_systems = tar_matrix.shape[0]
        if non_matrix.shape[0] != n_systems:
            expected = f"hold the same {n_systems} systems as `tar`, one in each row"
            hint = "Scores of several systems are (n_systems, n_trials)."
            raise invalid("non", owner, expected, f"{non_matrix.shape[0]} rows", hint)
        tar_matrix, tar_used = _drop_unweighted(tar_matrix, tar_weights, "tar", owner)
        non_matrix, non_used = _drop_unweighted(non_matrix, non_weights, "non", owner)
        return cls(
            tar=tar_matrix,
            non=non_matrix,
            rule=rule,
            prior=probability,
            plo=plo,
            tar_weights=tar_used,
            non_weights=non_used,
            centre=np.zeros(n_systems),
            spread=np.ones(n_systems),
            block=block,
        )

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(self.tar.shape[1])

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(self.non.shape[1])

    def moments(self) -> tuple[ClassMoments, ClassMoments]:
        """Return the moments of targets and of non-targets, of the scores as they are."""
        tar = class_moments(self.tar, self.tar_weights)
        return tar, class_moments(self.non, self.non_weights)

    def refuse_non_finite(self, owner: str) -> None:
        """Raise with counts and positions of what cannot be trained on."""
        refuse_non_finite(self.tar, self.non, owner)

    def thinned(self, n_trials: int) -> "TrainingObjective":
        """Return the objective on about `n_trials` evenly spaced trials of each class."""
        tar_step = max(1, -(-self.tar.shape[1] // n_trials))
        non_step = max(1, -(-self.non.shape[1] // n_trials))
        return evolve(
            self,
            # Copied: many passes over scores that lie far apart would wait for the memory.
            tar=self.tar[:, ::tar_step].copy(),
            non=self.non[:, ::non_step].copy(),
            tar_weights=None if self.tar_weights is None else self.tar_weights[::tar_step],
            non_weights=None if self.non_weights is None else self.non_weights[::non_step],
        )

    def hardest(self, weights: Float64Array, n_trials: int) -> tuple[Float64Array, Float64Array]:
        """Return the trials that fused scores with given weights get most wrong."""
        raw = weights / self.spread
        return lowest(self.tar, raw, n_trials), lowest(self.non, -raw, n_trials)

    def a_trial(self) -> Float64Array:
        """Return the scores of the first target as they are."""
        return np.asarray(self.tar[:, slice(0, 1)], dtype=np.float64)

    def _sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        return (
            self._class_sums(self.tar, self.tar_weights, -coefficients),
            self._class_sums(self.non, self.non_weights, coefficients),
        )

    def _class_sums(
        self, scores: FloatArray, weights: Float64Array | None, coefficients: Float64Array
    ) -> ClassSums:
        return class_sums(
            scores,
            weights,
            coefficients,
            rule=self.rule,
            centre=self.centre,
            spread=self.spread,
            block=self.block,
        )


def _as_systems(scores: npt.ArrayLike, name: str, owner: str) -> FloatArray:
    """Return scores as a matrix with one row for each system, without a copy."""
    if np.ndim(scores) == 2:
        matrix = as_matrix(scores, name, owner)
    else:
        matrix = as_vector(scores, name, owner)[np.newaxis]
    if matrix.shape[0] == 0:
        raise invalid(name, owner, "hold the scores of at least one system", "no rows")
    check_not_empty(matrix, name, owner)
    return matrix


def _drop_unweighted(
    scores: FloatArray, weights: npt.ArrayLike | None, name: str, owner: str
) -> tuple[FloatArray, Float64Array | None]:
    """Check trial weights and leave out the trials whose weight is zero."""
    checked = as_weights(weights, scores.shape[1], f"{name}_weights", owner)
    if checked is not None:
        checked = moderate_weights(checked)
    if checked is None or checked.all():
        return scores, checked
    used = checked > 0
    return scores[:, used], checked[used]


def moderate_weights(weights: Float64Array) -> Float64Array:
    """Scale trial weights, of which only the proportions matter, if they are tiny or huge.

    Sums of huge weights would overflow, and products of tiny ones underflow. The factor
    is a power of two, so the proportions stay as they are to the last bit; only weights
    below 1e-323 of the largest become zero.

    Parameters
    ----------
    weights : (n_trials,) ndarray of float64
        Finite and not negative, not all zero.

    Returns
    -------
    (n_trials,) ndarray of float64
        As they were if the largest is of an ordinary size, else with a largest one near 1.
    """
    largest = float(weights.max())
    if _SMALLEST_WEIGHT <= largest <= 1.0 / _SMALLEST_WEIGHT:
        return weights
    with np.errstate(under="ignore"):
        scaled: Float64Array = np.ldexp(weights, -int(np.frexp(largest)[1]))
    return scaled


def evaluate_objective(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    *,
    prior: float | OperatingPoint = 0.5,
    objective: str = "cllr",
    tar_weights: npt.ArrayLike | None = None,
    non_weights: npt.ArrayLike | None = None,
) -> float:
    r"""Judge log-likelihood-ratios by the training objective of calibration and fusion.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores, natural-log likelihood-ratios; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores, likewise.
    prior : float or OperatingPoint, default: 0.5
        Prior probability of a target; of an operating point the effective prior.
    objective : {"cllr", "brier", "boost"}, default: "cllr"
        The proper scoring rule, in any case.
    tar_weights, non_weights : (n_tar,), (n_non,) array_like of float or None
        Trial weights; only their proportions within a class matter.

    Returns
    -------
    float
        Normalised cost, dimensionless: 0 for a perfect detector, 1 for one that
        knows only the prior, above 1 for one that does harm. Infinite if an
        infinite score is wrong (except brier, which is bounded).

    Raises
    ------
    InvalidInputError
        If a class is empty or contains NaN, or another argument is out of range.

    Notes
    -----
    The losses for log-odds :math:`z` against the truth are
    :math:`\log(1+e^z)` (cllr), :math:`\sigma(z)^2/2` (brier) and
    :math:`e^{z/2}` (boost); the sum is at the top of this module. At prior 0.5
    cllr is the familiar Cllr in bits. BOSARIS: ``evaluate_objective.m``.

    Examples
    --------
    >>> evaluate_objective([0.0], [0.0], prior=0.01)
    1.0
    >>> round(evaluate_objective([2.0, 4.0], [-3.0, 0.5], objective="brier"), 6)
    0.404238
    """
    owner = "evaluate_objective"
    tar_llrs, non_llrs = as_vector(tar, "tar", owner), as_vector(non, "non", owner)
    refuse_nan(tar_llrs, "tar", owner)
    refuse_nan(non_llrs, "non", owner)
    training = TrainingObjective.from_scores(
        tar_llrs,
        non_llrs,
        prior=prior,
        objective=objective,
        tar_weights=tar_weights,
        non_weights=non_weights,
        owner=owner,
    )
    return training.evaluate(np.array([1.0, 0.0])).value


def refuse_non_finite(tar: FloatArray, non: FloatArray, owner: str) -> None:
    """Raise with counts and first positions, for each system, of what cannot be trained on.

    Parameters
    ----------
    tar, non : (n_systems, n_trials) ndarray of float
        Training scores.
    owner : str
        Whom the error speaks of.

    Raises
    ------
    InvalidInputError
        If a score is NaN, infinite, or so large that its square overflows.
    """
    complaints = []
    for name, scores in (("tar", tar), ("non", non)):
        for system, row in enumerate(scores.astype(np.float64, copy=False), start=1):
            for what, bad in (
                ("NaN", np.isnan(row)),
                ("infinite", np.isinf(row)),
                (f"beyond {LARGEST_SCORE:g}", np.isfinite(row) & (np.abs(row) > LARGEST_SCORE)),
            ):
                positions = np.flatnonzero(bad)
                if positions.size:
                    where = f" of system {system}" if scores.shape[0] > 1 else ""
                    complaints.append(
                        f"{positions.size} of {row.size} scores of `{name}`{where} are {what} "
                        f"(at positions {list_some(positions.tolist())})"
                    )
    if complaints:
        message = (
            f"{owner} must be trained on finite scores; {'; '.join(complaints)}. "
            "A linear map has no use for them: leave those trials out or repair the system."
        )
        raise InvalidInputError(message)
