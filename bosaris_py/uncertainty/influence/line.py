"""The interval of a trained line's log-likelihood-ratio at one score, in closed form."""

from __future__ import annotations

import functools
import math

import numpy as np
import scipy

from bosaris_py._arrays import Float64Array, FloatArray
from bosaris_py._validation import check_fraction
from bosaris_py.calibration.linear import LinearCalibration
from bosaris_py.numerics.moments import class_moments, pool_classes
from bosaris_py.numerics.newton import Ridge, ridge_strengths
from bosaris_py.numerics.scoring import scoring_rule
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.bootstrap_result import Interval, student_quantiles
from bosaris_py.uncertainty.influence.losses import Losses
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_FOR_INTERVAL,
    METHOD,
    SpeakerInfluence,
    check_influences,
)
from bosaris_py.uncertainty.statistics.statistic import WhichClass


def losses_of_llr(
    line: LinearCalibration, score: float, sample: ListedSample, ridge: Ridge
) -> Losses:
    """Return what the trials of the training set add to the log-likelihood-ratio at a score."""
    # With log-odds m = w z + v + logit P of standardised scores z, the objective is
    # P mean softplus(-m) + (1 - P) mean softplus(m) + r/2 w^2 + c/2 v^2. A trial of weight f moves
    # its optimum by -H^{-1} g f. Here g has the factor -P sigma(-m) for targets, (1 - P) sigma(m)
    # for non-targets; the penalties follow centre and spread of the scores, which f moves, too.
    lists = sample.lists
    weights = [
        np.full(scores.size, 1.0 / scores.size) if given is None else given / given.sum()
        for scores, given in zip(lists, sample.trial_weights, strict=True)
    ]
    moments = [class_moments(s[None, :], w) for s, w in zip(lists, weights, strict=True)]
    centres, covariance = pool_classes(*moments)
    centre, spread = float(centres[0]), math.sqrt(float(covariance[0, 0]))
    # Penalties are of the objective relative to its value without scores, the entropy.
    entropy = scoring_rule("cllr").entropy(line.prior)
    n_smaller = min(scores.size for scores in lists)
    strengths = [entropy * strength for strength in ridge_strengths(ridge, n_smaller)]
    priors = line.prior, 1.0 - line.prior
    plo = float(scipy.special.logit(line.prior))
    hessian = np.diag(strengths)
    for price, scores, weight in zip(priors, lists, weights, strict=True):
        posterior = scipy.special.expit(line.scale * scores + line.offset + plo)
        z = (scores - centre) / spread
        curvature = price * weight * posterior * (1.0 - posterior)
        moment = float(curvature @ z)
        hessian += [[float(curvature @ (z * z)), moment], [moment, float(curvature.sum())]]
    effect = np.linalg.solve(hessian, ((score - centre) / spread, 1.0))
    w, v = line.scale * spread, line.offset + line.scale * centre

    def loss(which: WhichClass, scores: FloatArray) -> Float64Array:
        given, sign = np.asarray(scores, dtype=np.float64), (1.0, -1.0)[which]
        wrong = scipy.special.expit(-sign * (line.scale * given + line.offset + plo))
        pull = sign * priors[which] * wrong * (effect[0] * (given - centre) / spread + effect[1])
        # How the trial moves the centre, half of both means, and the variance about it.
        away = (given - float(moments[which].mean[0])) / spread
        apart = float(moments[0].mean[0] - moments[1].mean[0]) / spread
        scatter = float(moments[which].scatter[0, 0]) / spread**2
        moved = 0.5 * away
        spread_out = 0.5 * (away**2 - scatter) + sign * 0.5 * apart * away
        push = effect[0] * (strengths[0] * w * spread_out + strengths[1] * v * moved)
        return np.asarray(pull - push - effect[1] * strengths[1] * w * moved)

    losses = functools.partial(loss, 0), functools.partial(loss, 1)
    return Losses(*losses, float(line.apply(score)), (0.0, 0.0), (-math.inf, math.inf))


def llr_interval(
    line: LinearCalibration, score: float, sample: ListedSample, ridge: Ridge, confidence: float
) -> Interval:
    """Return the interval of a line's log-likelihood-ratio, given the set that trained it.

    By Student's t, with the degrees of `speaker_interval`. The line is of the objective ``"cllr"``
    and of this ridge; the sample has its pairs of speakers, of whom few are warned of.
    """
    tail = 0.5 - 0.5 * check_fraction(confidence, "confidence")
    influence = SpeakerInfluence.of(losses_of_llr(line, score, sample, ridge), sample)
    check_influences({"log-likelihood-ratio": influence}, FEWEST_FOR_INTERVAL)
    value, error = influence.estimate, influence.standard_error
    half = student_quantiles(tail, influence.degrees)[1] * error
    return Interval(value, value - half, value + half, error, confidence, METHOD)
