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

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from attrs import evolve, field, frozen

from bosaris_py._validation import (
    FloatArray,
    as_matrix,
    as_vector,
    as_weights,
    check_fraction,
    check_not_empty,
    describe,
    invalid,
    list_some,
    refuse_nan,
)
from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics.priors import OperatingPoint

__all__ = [
    "LARGEST_SCORE",
    "OBJECTIVES",
    "ClassMoments",
    "Evaluation",
    "ScoringRule",
    "TrainingObjective",
    "class_moments",
    "evaluate_objective",
    "moderate_weights",
    "prior_entropy",
    "refuse_non_finite",
    "resolve_prior",
    "scoring_rule",
]

Float64Array: TypeAlias = npt.NDArray[np.float64]
Kernel: TypeAlias = Callable[[Float64Array, Float64Array, Float64Array, Float64Array], None]

# Numbers in the work space of one block, 1 MB: the size of a usual second-level cache. With
# smaller blocks what numpy takes for each call begins to count.
_WORK_SPACE = 2**17

# exp() of this is finite and so is its square root times anything sensible; beyond
# it the three losses that use it are exactly linear (cllr) or constant (brier).
_LARGEST_LOG_ODDS = 700.0

# Training weights are scaled if the largest of a class is below this or above its inverse.
_SMALLEST_WEIGHT = 1e-100

LARGEST_SCORE = 1e150
"""Largest score that can be trained on; squares of larger ones overflow."""


def _cllr(
    log_odds: Float64Array, loss: Float64Array, slope: Float64Array, curvature: Float64Array
) -> None:
    """Fill in log(1+e^z), sigma(z) and sigma(z) sigma(-z)."""
    np.exp(log_odds, out=loss)
    np.add(loss, 1.0, out=curvature)
    np.divide(loss, curvature, out=slope)
    np.divide(slope, curvature, out=curvature)
    np.log1p(loss, out=loss)


def _brier(
    log_odds: Float64Array, loss: Float64Array, slope: Float64Array, curvature: Float64Array
) -> None:
    """Fill in q^2/2, q^2 (1-q) and q^2 (1-q) (2-3q), where q = sigma(z)."""
    np.exp(log_odds, out=slope)
    np.add(slope, 1.0, out=curvature)
    np.divide(slope, curvature, out=loss)
    np.square(loss, out=slope)
    np.divide(slope, curvature, out=slope)
    np.multiply(loss, -3.0, out=curvature)
    np.add(curvature, 2.0, out=curvature)
    np.multiply(curvature, slope, out=curvature)
    np.square(loss, out=loss)
    np.multiply(loss, 0.5, out=loss)


def _boost(
    log_odds: Float64Array, loss: Float64Array, slope: Float64Array, curvature: Float64Array
) -> None:
    """Fill in e^(z/2), e^(z/2)/2 and e^(z/2)/4."""
    np.multiply(log_odds, 0.5, out=loss)
    np.exp(loss, out=loss)
    np.multiply(loss, 0.5, out=slope)
    np.multiply(loss, 0.25, out=curvature)


def _cllr_entropy(prior: float) -> float:
    return -prior * math.log(prior) - (1.0 - prior) * math.log1p(-prior)


def _brier_entropy(prior: float) -> float:
    return 0.5 * prior * (1.0 - prior)


def _boost_entropy(prior: float) -> float:
    return 2.0 * math.sqrt(prior * (1.0 - prior))


@frozen
class ScoringRule:
    """A proper scoring rule as a loss on posterior log-odds.

    Parameters
    ----------
    name : str
        What the user calls it.
    kernel : callable
        ``kernel(log_odds, loss, slope, curvature)`` fills the last three arrays
        with the loss for log-odds against the truth and its two derivatives.
    entropy : callable
        Expected loss of whoever answers with the prior.
    slope_at_infinity : float
        What the loss still grows by per unit beyond the largest log-odds that
        `kernel` takes; infinite if `kernel` takes any.
    convex : bool
        Whether the loss is convex in the log-odds, so that training has one
        minimum only.
    """

    name: str
    kernel: Kernel = field(repr=False)
    entropy: Callable[[float], float] = field(repr=False)
    slope_at_infinity: float
    convex: bool


_RULES = {
    rule.name: rule
    for rule in (
        ScoringRule("cllr", _cllr, _cllr_entropy, slope_at_infinity=1.0, convex=True),
        ScoringRule("brier", _brier, _brier_entropy, slope_at_infinity=0.0, convex=False),
        ScoringRule("boost", _boost, _boost_entropy, slope_at_infinity=math.inf, convex=True),
    )
}

OBJECTIVES: tuple[str, ...] = tuple(_RULES)
"""Names of the known training objectives."""


def scoring_rule(name: str, owner: str) -> ScoringRule:
    """Look up a scoring rule by its name in any case; refuse unknown names."""
    rule = _RULES.get(str(name).lower())
    if rule is None:
        known = ", ".join(repr(known) for known in OBJECTIVES)
        raise invalid("objective", owner, f"be one of {known}", describe(name))
    return rule


def resolve_prior(prior: float | OperatingPoint, owner: str) -> tuple[float, float]:
    """Return the (effective) prior that a `prior` argument means, and its log-odds."""
    if isinstance(prior, OperatingPoint):
        return prior.effective_prior, prior.plo
    number = check_fraction(prior, "prior", owner)
    return number, math.log(number) - math.log1p(-number)


def prior_entropy(prior: float | OperatingPoint, objective: str = "cllr") -> float:
    r"""Return the cost of a detector that knows only the prior.

    It is what training objectives are divided by, so that 1.0 means "learnt
    nothing from the scores".

    Parameters
    ----------
    prior : float or OperatingPoint
        Prior probability of a target, strictly between 0 and 1; of an operating
        point the effective prior.
    objective : {"cllr", "brier", "boost"}, default: "cllr"
        The proper scoring rule, in any case.

    Returns
    -------
    float
        With :math:`p` the prior: :math:`-p\log p-(1-p)\log(1-p)` nats for cllr,
        :math:`p(1-p)/2` for brier, :math:`2\sqrt{p(1-p)}` for boost.

    Raises
    ------
    InvalidInputError
        If `prior` is not in (0, 1) or `objective` is not known.

    Examples
    --------
    >>> prior_entropy(0.5, "brier")
    0.125
    """
    probability, _ = resolve_prior(prior, "prior_entropy")
    return scoring_rule(objective, "prior_entropy").entropy(probability)


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


def _sum_blocks(sums: Sequence[npt.ArrayLike]) -> Float64Array:
    """Add the sums of all blocks pairwise, so that rounding hardly grows with their number."""
    if len(sums) == 1:
        return np.asarray(sums[0])
    # numpy sums pairwise along the contiguous axis only.
    rows = np.ascontiguousarray(np.stack([np.asarray(part) for part in sums], axis=-1))
    total: Float64Array = rows.sum(axis=-1)
    return total


@frozen(eq=False)
class TrainingObjective:
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
    rule: ScoringRule
    prior: float
    plo: float
    tar_weights: Float64Array | None
    non_weights: Float64Array | None
    centre: Float64Array
    spread: Float64Array
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
    def n_systems(self) -> int:
        """Number of systems, one less than there are coefficients."""
        return len(self.tar)

    def standardised(self, centre: Float64Array, spread: Float64Array) -> "TrainingObjective":
        """Return the same objective with other coordinates for the coefficients."""
        return evolve(self, centre=centre, spread=spread)

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
        entropy = self.rule.entropy(self.prior)
        # Overflow means an infinite value, which every minimiser steps back from.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            loss_tar, sums_tar, worst_tar = self._class_sums(self.tar, self.tar_weights, -posterior)
            loss_non, sums_non, worst_non = self._class_sums(self.non, self.non_weights, posterior)
            tar_price = self.prior / entropy
            non_price = (1.0 - self.prior) / entropy
            hessian = tar_price * sums_tar[:-1] + non_price * sums_non[:-1]
            return Evaluation(
                value=tar_price * loss_tar + non_price * loss_non,
                gradient=non_price * sums_non[-1] - tar_price * sums_tar[-1],
                hessian=0.5 * (hessian + hessian.T),
                overlap=worst_tar + worst_non,
            )

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
        raw = weights / self.spread
        return _lowest(self.tar, raw, n_trials), _lowest(self.non, -raw, n_trials)

    def _class_sums(
        self, scores: FloatArray, weights: Float64Array | None, coefficients: Float64Array
    ) -> tuple[float, Float64Array, float]:
        """Average over one class whose log-odds against the truth `coefficients` give.

        Returns the mean loss; the mean curvature times the outer product of the
        inputs, with the mean slope times the inputs as last row; and the highest
        log-odds against the truth.
        """
        n_trials = scores.shape[1]
        size = coefficients.size
        # The design matrix, the same with factors, and four vectors.
        block = min(n_trials, self.block or max(1, _WORK_SPACE // (2 * size + 5)))
        centre = self.centre[:, np.newaxis]
        inverse_spread = 1.0 / self.spread[:, np.newaxis]
        # One row for each system and a row of ones for the offset.
        design = np.empty((size, block))
        design[-1] = 1.0
        # The same times the curvature, then the slope: one product with the
        # design then gives Hessian and gradient.
        factors = np.empty((size + 1, block))
        log_odds = np.empty(block)
        loss = np.empty(block)
        curvature = np.empty(block)
        losses: list[float] = []
        sums: list[Float64Array] = []
        worst = -math.inf
        x, z, c, f, g = design, log_odds, loss, curvature, factors
        inputs, slopes, weighted = x[:-1], g[-1], g[:-1]
        for start in range(0, n_trials, block):
            part = slice(start, min(start + block, n_trials))
            if (n := part.stop - part.start) < block:
                x, z, c, f, g = x[:, :n], z[:n], c[:n], f[:n], g[:, :n]
                inputs, slopes, weighted = x[:-1], g[-1], g[:-1]
            np.subtract(scores[:, part], centre, out=inputs)
            np.multiply(inputs, inverse_spread, out=inputs)
            np.dot(coefficients, x, out=z)
            highest = float(z.max())
            worst = max(worst, highest)
            if highest > _LARGEST_LOG_ODDS and math.isfinite(self.rule.slope_at_infinity):
                beyond = np.maximum(z - _LARGEST_LOG_ODDS, 0.0)
                np.minimum(z, _LARGEST_LOG_ODDS, out=z)
                self.rule.kernel(z, c, slopes, f)
                if self.rule.slope_at_infinity:
                    c += self.rule.slope_at_infinity * beyond
            else:
                self.rule.kernel(z, c, slopes, f)
            if weights is not None:
                c *= weights[part]
                slopes *= weights[part]
                f *= weights[part]
            np.multiply(x, f, out=weighted)
            losses.append(float(c.sum()))
            sums.append(g @ x.T)
        total = float(n_trials) if weights is None else float(weights.sum())
        return float(_sum_blocks(losses)) / total, _sum_blocks(sums) / total, worst


def _lowest(scores: FloatArray, weights: Float64Array, n_trials: int) -> Float64Array:
    """Return the scores of the trials with the lowest weighted sum."""
    # No shorter than what is kept, or most of the work would be to sort that again.
    block = max(n_trials, _WORK_SPACE // (4 * weights.size), 1)
    kept = np.empty((weights.size, 0))
    for start in range(0, scores.shape[1], block):
        kept = np.hstack((kept, scores[:, start : start + block]))
        if kept.shape[1] > n_trials:
            # The first trial is taken off so that a large common part does not round the rest.
            sums = weights @ (kept - kept[:, :1])
            kept = kept[:, np.argpartition(sums, n_trials - 1)[:n_trials]]
    return kept


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


@frozen(eq=False)
class ClassMoments:
    """Mean, scatter and range of the scores of one class.

    Parameters
    ----------
    mean : (n_systems,) ndarray of float64
        Weighted mean of each system.
    scatter : (n_systems, n_systems) ndarray of float64
        Weighted mean of the products of deviations from the mean.
    lowest, highest : (n_systems,) ndarray of float64
        Range; NaN or infinite if and only if a score is.
    """

    mean: Float64Array
    scatter: Float64Array
    lowest: Float64Array
    highest: Float64Array


def class_moments(
    scores: FloatArray, weights: Float64Array | None = None, *, block: int | None = None
) -> ClassMoments:
    """Compute mean, scatter and range of each system's scores in one pass.

    Parameters
    ----------
    scores : (n_systems, n_trials) ndarray of float32 or float64
        Scores of one class.
    weights : (n_trials,) ndarray of float64 or None
        Positive trial weights.
    block : int or None
        Trials in one block; None picks a size for the cache.

    Returns
    -------
    ClassMoments
        The moments. With non-finite scores only the range means anything.

    Notes
    -----
    Means and scatters of the blocks are merged as by Chan, Golub and LeVeque
    (1979). Deviations are taken from the mean of the block before, so nothing
    cancels however far the scores lie from zero: what they are off from the block's own mean is
    part of the whole scatter.
    """
    n_systems, n_trials = scores.shape
    block = min(n_trials, block or max(1, _WORK_SPACE // (2 * (n_systems + 1))))
    # A row of ones: one product gives sums and sums of products. (It is also quicker than
    # that of a matrix with its own transpose, for which BLAS takes a slow way.)
    design = np.ones((n_systems + 1, block))
    weighted = design if weights is None else np.empty_like(design)
    sizes, means, scatters, ranges = [], [], [], []
    with np.errstate(over="ignore", invalid="ignore"):
        first = origin = scores[:, :block].mean(axis=1, dtype=np.float64)
        for start in range(0, n_trials, block):
            part = slice(start, min(start + block, n_trials))
            n = part.stop - part.start
            x, y = design[:-1, :n], weighted[:, :n]
            x[...] = scores[:, part]
            ranges.append((x.min(axis=1), x.max(axis=1)))
            np.subtract(x, origin[:, np.newaxis], out=x)
            size = np.float64(n)
            if weights is not None:
                size = weights[part].sum()
                np.multiply(design[:, :n], weights[part], out=y)
            products = y @ x.T
            shift = products[-1] / size
            scatters.append(products[:-1] - size * np.outer(shift, shift))
            sizes.append(size)
            means.append(origin - first + shift)
            origin = origin + shift
        total = _sum_blocks(sizes)
        mean = _sum_blocks([n * m for n, m in zip(sizes, means, strict=True)]) / total
        between = [n * np.outer(m - mean, m - mean) for n, m in zip(sizes, means, strict=True)]
        scatter = (_sum_blocks(scatters) + _sum_blocks(between)) / total
    return ClassMoments(
        mean=first + mean,
        scatter=scatter,
        lowest=np.min([low for low, _ in ranges], axis=0),
        highest=np.max([high for _, high in ranges], axis=0),
    )


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
