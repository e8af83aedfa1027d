r"""Proper scoring rules as losses on log-odds, and the objectives of training that they make.

A linear map turns the scores of one or more systems into a log-likelihood-ratio
:math:`s = w^T x + b`. How good it is at a prior :math:`\pi` is the expected cost of the posterior
log-odds :math:`s + \mathrm{logit}(\pi)`,

.. math::

    F = \frac{1}{H(\pi)} \Bigl[
        \frac{\pi}{\sum u_i} \sum_{i \in tar} u_i\, C(-s_i - \mathrm{logit}\,\pi)
        + \frac{1-\pi}{\sum v_j} \sum_{j \in non} v_j\, C(s_j + \mathrm{logit}\,\pi)
    \Bigr],

where :math:`u, v` are trial weights (1 unless given) and :math:`C` is the loss of a scoring
rule. The entropy :math:`H(\pi)` is the same cost for a detector with ``s = 0`` on every trial.
So F is 1 for a detector that knows only the prior and 0 for a perfect one.

All sums come block by block, so the scores may lie in memory or in files.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit user guide: theory,
   algorithms and code for binary classifier score processing", 2011.
.. [2] N. Brummer and G. Doddington, "Likelihood-ratio calibration using
   prior-weighted proper scoring rules", Interspeech 2013.
"""

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from attrs import Factory, evolve, field, frozen

from bosaris_py import _validation as check
from bosaris_py._arrays import ArrayLike, BoolArray, FloatArray, Weighting
from bosaris_py.numerics.priors import OperatingPoint

# Trials of a block: what is made of them stays in a processor's second cache.
BLOCK = 2**14

# Fills in the slopes and curvatures of a loss, and puts into the place of the log-odds the losses
# or, if these are logarithms, what they are the log1p of.
Kernel = Callable[[FloatArray, FloatArray, FloatArray], object]

# Each factor 1 + t is rounded by 1e-16 or so: little of a logarithm as large as this.
_LEAST_IN_FACTORS = 0.1

# What kernels take: exp() of it is finite, and so is its square root times anything sensible.
# Beyond it losses that use exp() are exactly linear (cllr) or constant (brier).
LARGEST_LOG_ODDS = 700.0


def _cllr(log_odds: FloatArray, slope: FloatArray, curvature: FloatArray) -> None:
    """Fill in e^z, sigma(z) and sigma(z) sigma(-z)."""
    # The arrays serve as work space for each other.
    np.exp(log_odds, out=log_odds)
    np.add(log_odds, 1.0, out=curvature)
    np.divide(log_odds, curvature, out=slope)
    np.divide(slope, curvature, out=curvature)


def _brier(log_odds: FloatArray, slope: FloatArray, curvature: FloatArray) -> None:
    """Fill in q^2/2, q^2 (1-q) and q^2 (1-q) (2-3q), where q = sigma(z)."""
    np.exp(log_odds, out=slope)
    np.add(slope, 1.0, out=curvature)
    np.divide(slope, curvature, out=log_odds)
    np.square(log_odds, out=slope)
    np.divide(slope, curvature, out=slope)
    np.multiply(log_odds, -3.0, out=curvature)
    np.add(curvature, 2.0, out=curvature)
    np.multiply(curvature, slope, out=curvature)
    np.square(log_odds, out=log_odds)
    np.multiply(log_odds, 0.5, out=log_odds)


def _boost(log_odds: FloatArray, slope: FloatArray, curvature: FloatArray) -> None:
    """Fill in e^(z/2), e^(z/2)/2 and e^(z/2)/4."""
    np.exp(0.5 * log_odds, out=log_odds)
    np.multiply(log_odds, 0.5, out=slope)
    np.multiply(log_odds, 0.25, out=curvature)


def sum_log1p(terms: FloatArray) -> float:
    """Return the sum of log(1 + t) over terms t >= 0, with a logarithm for 16 of them."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if float(terms.sum()) >= _LEAST_IN_FACTORS * terms.size:
            factors = terms + 1.0
            whole = factors.size - factors.size % 16
            products = np.multiply.reduce(factors[:whole].reshape(16, -1), axis=0)
            total = float(np.log(products).sum() + np.log(factors[whole:]).sum())
        else:
            # (1 + a) (1 + b) = 1 + (a + b + ab): of small terms nothing is lost beside the 1.
            products, total = terms, 0.0
            for _ in range(4):
                half = products.size // 2
                first, second = products[:half], products[half : 2 * half]
                total += float(np.log1p(products[2 * half :]).sum())
                products = first * second
                products += first
                products += second
            total += float(np.log1p(products).sum())
        # A product can overflow where no term does.
        return total if total < math.inf else float(np.log1p(terms).sum())


def _cllr_entropy(prior: float) -> float:
    return -prior * math.log(prior) - (1.0 - prior) * math.log1p(-prior)


@frozen
class ScoringRule:
    """A proper scoring rule as a loss on posterior log-odds against the truth.

    `entropy` is the expected loss of a detector that knows only the prior. `growth` is what the
    loss grows by per unit beyond the largest log-odds that the kernel takes: 0, 1, or infinite if
    it takes any.
    """

    name: str
    kernel: Kernel = field(repr=False)
    entropy: Callable[[float], float] = field(repr=False)
    growth: float
    convex: bool = True
    is_logarithm: bool = False

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by name."""
        return scoring_rule, (self.name,)

    def sum(
        self,
        log_odds: FloatArray,
        slope: FloatArray,
        curvature: FloatArray,
        weights: FloatArray | None = None,
    ) -> float:
        """Return the sum of the losses, and fill in slopes and curvatures, times the weights.

        The log-odds, of any size, are overwritten.
        """
        beyond = np.zeros(1)
        if self.growth < math.inf and log_odds.max() > LARGEST_LOG_ODDS:
            if self.growth:
                beyond = np.maximum(log_odds - LARGEST_LOG_ODDS, 0.0)
            np.minimum(log_odds, LARGEST_LOG_ODDS, out=log_odds)
        self.kernel(log_odds, slope, curvature)
        if weights is None:
            total = sum_log1p(log_odds) if self.is_logarithm else float(log_odds.sum())
            return total + float(beyond.sum())
        losses = np.log1p(log_odds, out=log_odds) if self.is_logarithm else log_odds
        losses += beyond
        for values in (losses, slope, curvature):
            values *= weights
        # Not as a product of vectors, for which BLAS would wait for threads.
        return float(losses.sum())


_RULES = {
    "cllr": ScoringRule("cllr", _cllr, _cllr_entropy, growth=1.0, is_logarithm=True),
    "brier": ScoringRule("brier", _brier, lambda p: 0.5 * p * (1.0 - p), 0.0, convex=False),
    "boost": ScoringRule("boost", _boost, lambda p: 2.0 * math.sqrt(p * (1.0 - p)), math.inf),
}

# Names of the known training objectives.
OBJECTIVES: tuple[str, ...] = tuple(_RULES)


def scoring_rule(name: str) -> ScoringRule:
    """Look up a scoring rule by its name in any case; refuse unknown names."""
    rule = _RULES.get(str(name).lower())
    if rule is None:
        expected = f"be one of {', '.join(OBJECTIVES)}"
        raise check.invalid("objective", expected, check.describe(name))
    return rule


def resolve_prior(prior: float | OperatingPoint) -> tuple[float, float]:
    """Return the (effective) prior that a `prior` argument means, and its log-odds."""
    point = prior if isinstance(prior, OperatingPoint) else OperatingPoint(prior)
    return point.effective_prior, point.plo


# ---- Cllr


def mean_bits(scores: FloatArray, sign: float) -> float:
    """Return the mean of log2(1 + exp(sign * score)); inf beyond the largest float."""
    return sum_of_nats(scores, sign) / math.log(2.0) / scores.size


def sum_of_nats(scores: FloatArray, sign: float) -> float:
    """Return the sum of log(1 + exp(sign * score))."""
    # Training has several arrays of a block, this has one.
    step, total = 4 * BLOCK, 0.0
    work = np.empty(min(step, scores.size))
    for start in range(0, scores.size, step):
        block = scores[start : start + step]
        with np.errstate(over="ignore"):
            terms = np.multiply(block, sign, out=work[: block.size], dtype=np.float64)
            own = sum_log1p(np.exp(terms, out=terms))
            total += own if own < math.inf else float(softplus(block, sign).sum())
    return total


def softplus(scores: FloatArray, sign: float) -> FloatArray:
    """Return log(1 + exp(sign * score)) for scores of any size."""
    # max(x, 0) + log1p(exp(-|x|)): no exponential overflows, no small term is rounded to zero.
    x = np.multiply(scores, sign, dtype=np.float64)
    costs = np.log1p(np.exp(-np.abs(x)))
    costs += np.maximum(x, 0.0)
    return np.asarray(costs)


# ---- Objectives of training


@frozen(eq=False)
class ClassMoments:
    """Mean, scatter and range of the scores of one class, an entry for each system.

    The scatter is the weighted mean of the products of deviations from the mean, (n_systems,
    n_systems). The range is NaN or infinite if and only if a score is; only it means anything then.
    """

    mean: FloatArray
    scatter: FloatArray
    lowest: FloatArray
    highest: FloatArray


def class_moments(scores: FloatArray, weights: FloatArray | None = None) -> ClassMoments:
    """Compute mean, scatter and range of each system's scores, (n_systems, n_trials), in a pass."""
    parts, sizes = [], []
    # A row of ones: one product gives sums and sums of products.
    design = np.ones((scores.shape[0] + 1, min(BLOCK, scores.shape[1])))
    for start in range(0, scores.shape[1], BLOCK):
        block = scores[:, start : start + BLOCK]
        away = design[:, : block.shape[1]]
        size = block.shape[1] if weights is None else weights[start : start + BLOCK].sum()
        with np.errstate(over="ignore", invalid="ignore"):
            # A first mean is near enough that nothing cancels, however far the scores are from 0.
            first = block.mean(axis=1, dtype=np.float64)
            np.subtract(block, first[:, np.newaxis], out=away[:-1])
            weighed = away[:-1] if weights is None else away[:-1] * weights[start : start + BLOCK]
            products = np.dot(weighed, away.T) / size
            shift = products[:, -1]
            scatter = products[:, :-1] - np.outer(shift, shift)
        ends = (end.astype(np.float64) for end in (block.min(axis=1), block.max(axis=1)))
        parts.append(ClassMoments(first + shift, scatter, *ends))
        sizes.append(float(size))
    return merge_moments(parts, sizes)


def merge_moments(parts: Sequence[ClassMoments], sizes: Sequence[float]) -> ClassMoments:
    """Merge the moments of several sets of trials of such total weights."""
    shares = np.asarray(sizes, dtype=np.float64) / sum(sizes)
    # The mean of the first is taken off, so that a large common part does not round the rest.
    first = parts[0].mean
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.stack([part.mean - first for part in parts])
        mean = shares @ away
        between = away.T @ (shares[:, np.newaxis] * (away - mean))
        within = np.tensordot(shares, np.stack([part.scatter for part in parts]), axes=1)
    lowest = np.min([part.lowest for part in parts], axis=0)
    highest = np.max([part.highest for part in parts], axis=0)
    return ClassMoments(first + mean, within + between, lowest, highest)


def pool_classes(tar: ClassMoments, non: ClassMoments) -> tuple[FloatArray, FloatArray]:
    """Return centre and covariance of the scores, both classes counting the same."""
    centre = 0.5 * (tar.mean + non.mean)
    half = 0.5 * (tar.mean - non.mean)
    return centre, 0.5 * (tar.scatter + non.scatter) + np.outer(half, half)


def moderate_weights(weights: FloatArray | None) -> FloatArray | None:
    """Scale trial weights, of which only the proportions matter, by a power of two."""
    if weights is None:
        return None
    # Sums of huge weights would overflow, and products of tiny ones underflow.
    with np.errstate(under="ignore"):
        return np.asarray(np.ldexp(weights, -int(np.frexp(weights.max())[1])))


# Trials of each class in the parts whose optimum is the start for larger ones, and how much larger
# these must be. With the last a full set takes two or three passes: `benchmarks/ratios.py`.
_PARTS, _TIMES_MORE = (2**12, 2**16, 2**20), 4

# Largest score that can be trained on: squares of larger ones overflow.
LARGEST_SCORE = 1e150
USABLE = f"hold finite scores of at most {LARGEST_SCORE:g}"


@frozen(eq=False)
class ClassSums:
    """A loss and its derivatives, summed over trials of one class; sums of several parts add up.

    `derivatives` is the sum of the curvatures times the outer products of the inputs, with the sum
    of the slopes times the inputs as last row. `worst` is the highest log-odds against the truth,
    `total` the sum of the trial weights.
    """

    loss: float
    derivatives: FloatArray
    worst: float
    total: float

    def __add__(self, other: "ClassSums") -> "ClassSums":
        """Add the sums over other trials."""
        loss, total = self.loss + other.loss, self.total + other.total
        with np.errstate(over="ignore", invalid="ignore"):
            derivatives = self.derivatives + other.derivatives
        return ClassSums(loss, derivatives, max(self.worst, other.worst), total)


@frozen(eq=False)
class LinearLoss:
    """The loss of a linear map on scores less their `centre`.

    The coefficients, weights and an offset, give the log-odds against the truth.
    """

    coefficients: FloatArray
    rule: ScoringRule
    centre: FloatArray

    def sum(self, scores: FloatArray, weights: FloatArray | None = None) -> ClassSums:
        """Sum loss and derivatives over trials of one class, (n_systems, n_trials)."""
        n_trials, size = scores.shape[1], self.coefficients.size
        block, centre = max(1, min(n_trials, BLOCK)), self.centre[:, np.newaxis]
        # Rows of scores less their centre, and ones for the offset; the same times the curvature,
        # and the slope: their products are Hessian and gradient.
        design, factors = np.ones((size, block)), np.empty((size + 1, block))
        log_odds = np.empty(block)
        losses, worst, derivatives = [], -math.inf, np.zeros((size + 1, size))
        # Overflow means an infinite value, which the minimiser steps back from.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            for start in range(0, n_trials, block):
                part = slice(start, min(start + block, n_trials))
                n = part.stop - start
                x, g, z = design[:, :n], factors[:, :n], log_odds[:n]
                np.subtract(scores[:, part], centre, out=x[:-1])
                np.dot(self.coefficients, x, out=z)
                worst = max(worst, float(z.max()))
                own = None if weights is None else weights[part]
                losses.append(self.rule.sum(z, g[-1], g[-2], own))
                np.multiply(x[:-1], g[-2], out=g[:-2])
                # Row by row: a product of matrices takes longer where there are few rows.
                derivatives += [np.dot(x, row) for row in g]
        total = float(n_trials) if weights is None else float(weights.sum())
        return ClassSums(math.fsum(losses), derivatives, worst, total)


@frozen(eq=False)
class TrainingClass:
    """The training scores of one class, (n_systems, n_trials), and what each trial weighs.

    Scores are of float32 or float64, strided or read-only; they are never copied as a whole. Trial
    weights are positive, of any sum, or None.
    """

    scores: FloatArray
    weights: FloatArray | None = None
    # Whether these are some of the trials, and the others stay in files.
    in_files: ClassVar[bool] = False

    @classmethod
    def checked(cls, scores: ArrayLike, weights: Weighting, name: str) -> "TrainingClass":
        """Check scores and weights, without a copy, and leave out trials of weight zero."""
        two = np.ndim(scores) == 2
        matrix = check.as_matrix(scores, name) if two else check.as_vector(scores, name)[None]
        check.check_not_empty(matrix, name)
        given = check.as_weights(weights, matrix.shape[1], f"{name}_weights")
        moderate = moderate_weights(given)
        if moderate is None or moderate.all():
            return cls(matrix, moderate)
        return cls(matrix[:, moderate > 0], moderate[moderate > 0])

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(self.scores.shape[1])

    def moments(self) -> ClassMoments:
        """Return mean, scatter and range."""
        return class_moments(self.scores, self.weights)

    def sum(self, loss: LinearLoss) -> ClassSums:
        """Return the sum of a loss over all trials."""
        return loss.sum(self.scores, self.weights)

    def thinned(self, n_trials: int) -> "TrainingClass":
        """Return about so many evenly spaced trials."""
        step = max(1, -(-self.scores.shape[1] // n_trials))
        # Copied: many passes over scores that lie far apart would wait for the memory.
        weights = None if self.weights is None else self.weights[::step]
        return TrainingClass(self.scores[:, ::step].copy(), weights)


@frozen(eq=False)
class LocalModel:
    """A training objective at one point; its value is infinite where it overflows.

    `overlap` is the highest fused non-target score minus the lowest fused target score: zero or
    below if the point separates the classes.
    """

    value: float
    gradient: FloatArray
    hessian: FloatArray
    overlap: float


@frozen(eq=False, kw_only=True)
class TrainingObjective:
    """The objective of a linear calibration or fusion on a training set, with its penalties.

    A point is a weight along each of some directions, then the offset at the `centre` of the
    scores. `chain` makes weights of systems and the offset of it. `stiffness` is the Hessian of the
    penalties, and `variance` that of half the variance of the fused scores. By default a point is
    the weights of the scores as they are, and there is no penalty.
    """

    rule: ScoringRule
    prior: float
    plo: float
    tar: TrainingClass
    non: TrainingClass
    centre: FloatArray = Factory(lambda self: np.zeros(len(self.tar.scores)), takes_self=True)
    chain: FloatArray = Factory(lambda self: np.eye(self.centre.size + 1), takes_self=True)
    stiffness: FloatArray = Factory(lambda self: np.zeros_like(self.chain), takes_self=True)
    variance: FloatArray = Factory(lambda self: np.zeros_like(self.chain), takes_self=True)

    @classmethod
    def from_scores(
        cls,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
    ) -> "TrainingObjective":
        """Check the arguments and set up the objective on scores as they are.

        Scores are (n_trials,) or (n_systems, n_trials). Trials of weight zero are left out.
        Non-finite scores are not looked for here.
        """
        rule, (probability, plo) = scoring_rule(objective), resolve_prior(prior)
        targets = TrainingClass.checked(tar, tar_weights, "tar")
        others = TrainingClass.checked(non, non_weights, "non")
        n_systems, n_rows = len(targets.scores), len(others.scores)
        if n_rows != n_systems:
            expected = f"have one row for each of the {n_systems} systems in `tar`"
            hint = "Of `tar` and `non` rows are systems, columns trials."
            raise check.invalid("non", expected, f"{n_rows} rows", hint)
        if n_systems == 1:
            check.refuse_labels(targets.scores[0], others.scores[0])
        return cls(rule=rule, prior=probability, plo=plo, tar=targets, non=others)

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return self.tar.n_trials

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return self.non.n_trials

    @property
    def origin(self) -> FloatArray:
        """The point of a detector that knows only the prior."""
        return np.zeros(self.chain.shape[1])

    def with_systems(self, kept: BoolArray) -> "TrainingObjective":
        """Return the objective of some of the systems, of the scores as they are."""
        tar, non = (evolve(one, scores=one.scores[kept]) for one in (self.tar, self.non))
        return TrainingObjective(rule=self.rule, prior=self.prior, plo=self.plo, tar=tar, non=non)

    def parts(self) -> list["TrainingObjective"]:
        """Return objectives on ever more trials, whose optima are starts on the way to all."""
        size = max(self.n_tar, self.n_non)
        sizes = [n_trials for n_trials in _PARTS if size > _TIMES_MORE * n_trials]
        if self.non.in_files:
            sizes.append(self.non.scores.shape[1])
        return [evolve(self, tar=self.tar.thinned(n), non=self.non.thinned(n)) for n in sizes]

    def weights(self, point: FloatArray) -> tuple[FloatArray, float]:
        """Return the weights, and the offset for scores as they are, at a point."""
        coefficients = self.chain @ point
        weights = coefficients[:-1]
        return weights, float(coefficients[-1] - weights @ self.centre)

    def penalty(self, point: FloatArray) -> float:
        """Return the penalty at a point."""
        return 0.5 * float(point @ self.stiffness @ point)

    def deviation(self, point: FloatArray) -> float:
        """Return the standard deviation of the fused scores, in log-likelihood-ratio."""
        return math.sqrt(max(0.0, float(point @ self.variance @ point)))

    def damped(self, strength: float) -> "TrainingObjective":
        """Return the objective with a penalty on the variance of the fused scores."""
        # With 1/n the log-likelihood-ratios of n separated trials grow to about log n, as far as
        # so many trials can support them. Unlike a ridge this does not depend on how systems are
        # correlated, or mixed.
        return evolve(self, stiffness=self.stiffness + strength * self.variance)

    def evaluate(self, point: FloatArray) -> LocalModel:
        """Return value, gradient and Hessian at a point, in one pass over the trials."""
        posterior = self.chain @ point
        posterior[-1] += self.plo
        # Posterior log-odds of a target are evidence against the truth of non-targets only.
        tar = self.tar.sum(LinearLoss(-posterior, self.rule, self.centre))
        non = self.non.sum(LinearLoss(posterior, self.rule, self.centre))
        # The two factors of F at the top of this module. Log-odds against the truth of targets
        # fall with the coefficients, hence the sign of their gradient.
        entropy = self.rule.entropy(self.prior)
        tar_price, non_price = self.prior / entropy, (1.0 - self.prior) / entropy
        # Where the objective overflows its derivatives are NaN; the value says enough.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            tar_means, non_means = tar.derivatives / tar.total, non.derivatives / non.total
            gradient = non_price * non_means[-1] - tar_price * tar_means[-1]
            hessian = (
                self.chain.T @ (tar_price * tar_means + non_price * non_means)[:-1] @ self.chain
            )
            loss = tar_price * (tar.loss / tar.total) + non_price * (non.loss / non.total)
            return LocalModel(
                value=loss + self.penalty(point),
                gradient=self.chain.T @ gradient + self.stiffness @ point,
                hessian=0.5 * (hessian + hessian.T) + self.stiffness,
                overlap=tar.worst + non.worst,
            )


def refuse_non_finite(tar: FloatArray, non: FloatArray) -> None:
    """Raise if a score, (n_systems, n_trials), is NaN, infinite or beyond `LARGEST_SCORE`."""
    for name, scores in (("tar", tar), ("non", non)):
        # NaN fails the test.
        bad = ~(np.abs(scores) <= np.float64(LARGEST_SCORE))
        if bad.any():
            system, trial = np.argwhere(bad)[0]
            found = f"{scores[system, trial]:g} at position {trial} of system {system + 1}"
            n_bad = f"{np.count_nonzero(bad)} of {bad.size} are others"
            hint = "Leave those trials out or repair the system."
            raise check.invalid(name, USABLE, f"{found}; {n_bad}", hint)


def evaluate_objective(
    tar: ArrayLike, non: ArrayLike, *, prior: float | OperatingPoint = 0.5, objective: str = "cllr"
) -> float:
    r"""Return the training objective of LLRs: 0 for perfect ones, 1 for a detector without scores.

    The losses for log-odds :math:`z` against the truth are :math:`\log(1+e^z)` (cllr),
    :math:`\sigma(z)^2/2` (brier) and :math:`e^{z/2}` (boost); the sum is at the top of this module.
    At prior 0.5 cllr is Cllr in bits. Infinite if an infinite score is wrong (except brier).
    BOSARIS: ``evaluate_objective.m``.
    """
    for llrs, name in ((tar, "tar"), (non, "non")):
        check.refuse_nan(check.as_vector(llrs, name), name)
    training = TrainingObjective.from_scores(tar, non, prior=prior, objective=objective)
    return training.evaluate(np.array([1.0, 0.0])).value
