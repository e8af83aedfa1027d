"""The toolkit's analyses of fusions: costs and proportions on dev, divergences on dev and eval."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, FloatArray, Weighting
from bosaris_py._notes import hushed
from bosaris_py.errors import SuspectScoresWarning
from bosaris_py.matlab import arguments
from bosaris_py.matlab.classes import Results
from bosaris_py.matlab.lists import sprintfmatrix
from bosaris_py.numerics.priors import OperatingPoint, sigmoid
from bosaris_py.numerics.scoring import resolve_prior
from bosaris_py.trials import Key, Ndx, Scores
from bosaris_py.trials.scores import stack_scores

# Share of targets that the toolkit assumes of trials without a key.
_ASSUMED_PRIOR = 0.08

# Cells of the three-way arrays that are made for a block of trials.
_BLOCK_CELLS = 2**18

# Subsystems and their fusions.
_WithFusions = tuple[arguments.Systems, list[Scores]]

_SAME = attrs.cmp_using(eq=np.array_equal)

logger = logging.getLogger(__name__)


@attrs.frozen
class DevAnalysis:
    """Subsystems, then their fusions, on the trials of a key.

    Parameters
    ----------
    n_tar, n_non : int
        Number of targets and of non-targets.
    estimated_proportions : (n_systems,) ndarray of float64
        Which share of the trials each system takes for targets.
    act_dcf, min_dcf : (n_systems,) ndarray of float64
        Normalized costs.
    prbep : (n_systems,) ndarray of float64
        Precision-recall break-even point, a number of errors.
    """

    n_tar: int
    n_non: int
    estimated_proportions: Float64Array = attrs.field(eq=_SAME)
    act_dcf: Float64Array = attrs.field(eq=_SAME)
    min_dcf: Float64Array = attrs.field(eq=_SAME)
    prbep: Float64Array = attrs.field(eq=_SAME)


@attrs.frozen
class EvalAnalysis:
    """How far subsystems and their fusions are apart on dev, and on trials without a key.

    Parameters
    ----------
    estimated_proportions : (n_systems,) ndarray of float64
        Which share of the new trials each system takes for targets.
    prior : float
        Prior with which the divergences were computed.
    dev, evaluation : (n_systems, n_systems) ndarray of float64
        Mean divergence, in nats, of the posteriors of the system in the column from those of the
        system in the row.
    """

    estimated_proportions: Float64Array = attrs.field(eq=_SAME)
    prior: float
    dev: Float64Array = attrs.field(eq=_SAME)
    evaluation: Float64Array = attrs.field(eq=_SAME)


def kldivergence_of_systems(
    scores: npt.ArrayLike, prior: float, key: Key | None = None
) -> Float64Array:
    """Compute the divergence, in nats, of each two systems' posteriors; row: reference.

    Toolkit: kldivergence_of_systems.m; native: none; differs: nothing. Columns of `scores` are
    trials, column by column of the key if there is one.
    """
    is_target = None if key is None else arguments.require("key", key, Key).is_target
    return kl_divergence(scores, prior, is_target=is_target)


def evalAll(scores: npt.ArrayLike, key: Key, prior: float) -> Float64Array:
    """Compute 100 times normalized actual and minimum DCF, and the PRBEP, of each system.

    Toolkit: evalAll.m; native: none; differs: nothing. Columns of `scores` are the trials of the
    key, column by column.
    """
    is_target = arguments.require("key", key, Key).is_target
    matrix = check.as_matrix(scores, "scores")
    if matrix.shape[1] != is_target.size:
        expected = f"have one column for each of the {is_target.size} trials of the key"
        hint = "Is it transposed?" if matrix.shape[0] == is_target.size else ""
        raise check.invalid("scores", expected, f"shape {matrix.shape}", hint)
    rows = []
    for row in matrix:
        results = Results(row[is_target], row[~is_target])
        costs = (dcf(prior, normalize=True) for dcf in (results.act_dcf, results.min_dcf))
        rows.append([*(100.0 * cost for cost in costs), results.prbep])
    return np.array(rows)


def analyse_dev_lin_fusion(
    key: Key, scores_obj_array: arguments.Systems, scr_lin: Scores, prior: float
) -> DevAnalysis:
    """Compare subsystems with their linear fusion on dev.

    Toolkit: analyse_dev_lin_fusion.m; native: none; differs: returns the numbers; nothing is
    printed unless logging shows level INFO.
    """
    return _analyse_dev(key, scores_obj_array, [scr_lin], prior)


def analyse_dev_lin_and_qual_fusion(
    key: Key, scores_obj_array: arguments.Systems, scr_lin: Scores, scr_qual: Scores, prior: float
) -> DevAnalysis:
    """Compare subsystems with their fusions without and with quality measures on dev.

    Toolkit: analyse_dev_lin_and_qual_fusion.m; native: none; differs: returns the numbers.
    """
    return _analyse_dev(key, scores_obj_array, [scr_lin, scr_qual], prior)


def _analyse_dev(
    key: Key, scores: arguments.Systems, fusions: list[Scores], prior: float
) -> DevAnalysis:
    systems = arguments.as_systems(scores, "scores_obj_array")
    stack = stack_scores([*systems, *fusions], key)
    share = key.n_tar / key.n_trials
    # With the true proportion for prior, a calibrated system finds it.
    shares = estimate_target_proportions(stack, share)
    # Raw scores stand beside the fusion on purpose.
    with hushed(SuspectScoresWarning):
        table = evalAll(stack, key, prior)
    logger.info(
        "True Dev target proportion is %g%%. System estimates are:\n%s",
        100.0 * share,
        _table(100.0 * shares),
    )
    logger.info("Analysing Dev: %i subsystems and %i fusions:", len(systems), len(fusions))
    names = [str(number + 1) for number in range(len(table))]
    logger.info("Dev all: dcf*100, mindcf*100, prbep:\n%s", _table(table, names))
    actual, least, prbep = table.T
    return DevAnalysis(key.n_tar, key.n_non, shares, actual / 100.0, least / 100.0, prbep)


def analyse_eval_lin_fusion(
    key_dev: Key,
    ndx_eval: Ndx | Key,
    dev_scores_obj_array: arguments.Systems,
    eval_scores_obj_array: arguments.Systems,
    dev_lin: Scores,
    eval_lin: Scores,
) -> EvalAnalysis:
    """Compare how subsystems and their linear fusion diverge on dev and on eval.

    Toolkit: analyse_eval_lin_fusion.m; native: none; differs: returns the numbers; nothing is
    printed unless logging shows level INFO.
    """
    dev, evaluation = (dev_scores_obj_array, [dev_lin]), (eval_scores_obj_array, [eval_lin])
    return _analyse_eval(key_dev, ndx_eval, dev, evaluation)


def analyse_eval_lin_and_qual_fusion(
    key_dev: Key,
    ndx_eval: Ndx | Key,
    dev_scores_obj_array: arguments.Systems,
    eval_scores_obj_array: arguments.Systems,
    dev_lin: Scores,
    eval_lin: Scores,
    dev_qual: Scores,
    eval_qual: Scores,
) -> EvalAnalysis:
    """Compare how subsystems and their fusions diverge on dev and on eval.

    Toolkit: analyse_eval_lin_and_qual_fusion.m; native: none; differs: returns the numbers.
    """
    dev = dev_scores_obj_array, [dev_lin, dev_qual]
    evaluation = eval_scores_obj_array, [eval_lin, eval_qual]
    return _analyse_eval(key_dev, ndx_eval, dev, evaluation)


def _analyse_eval(
    key: Key, ndx: Ndx | Key, dev: _WithFusions, evaluation: _WithFusions
) -> EvalAnalysis:
    known = stack_scores([*arguments.as_systems(dev[0], "dev_scores_obj_array"), *dev[1]], key)
    systems = arguments.as_systems(evaluation[0], "eval_scores_obj_array")
    new = stack_scores([*systems, *evaluation[1]], ndx)
    if len(known) != len(new):
        expected = f"hold the {len(known) - len(dev[1])} systems of `dev_scores_obj_array`"
        raise check.invalid("eval_scores_obj_array", expected, f"{len(systems)}")
    shares = estimate_target_proportions(new, _ASSUMED_PRIOR)
    # Without a key of eval the share of targets is what the linear fusion estimates.
    prior = float(shares[len(systems)])
    found = EvalAnalysis(
        shares, prior, kldivergence_of_systems(known, prior, key), kl_divergence(new, prior)
    )
    for heading, matrix in (
        ("System Ptar estimates:", 100.0 * found.estimated_proportions),
        ("Dev score divergence:", 100.0 * found.dev),
        ("Eval score divergence:", 100.0 * found.evaluation),
    ):
        logger.info("%s\n%s", heading, _table(matrix))
    return found


def _table(matrix: npt.ArrayLike, names: Sequence[str] | None = None) -> str:
    """Return a table without the end of its last line, which the logger adds."""
    return sprintfmatrix(matrix, names).removesuffix("\n")


def estimate_target_proportions(llrs: npt.ArrayLike, prior: float | OperatingPoint) -> Float64Array:
    """Return the mean posterior of a target of each system; `llrs` is (n_systems, n_trials).

    Toolkit: estimate_target_proportions.m; native: none; differs: nothing. If scores are calibrated
    and the prior is the true share of targets, that share is what to expect.
    """
    _, plo = resolve_prior(prior)
    matrix = _as_llrs(llrs)
    return np.array([np.mean(sigmoid(row + plo)) for row in matrix.astype(np.float64, copy=False)])


def kl_divergence(
    llrs: npt.ArrayLike, prior: float | OperatingPoint, *, is_target: Weighting = None
) -> Float64Array:
    r"""Return the mean divergence in nats of the posteriors of each two systems.

    Row i, column j: of system j from system i, the mean of :math:`p \log(p / r) + (1-p) \log((1-p)
    / (1-r))`, computed from log-odds; infinite if j is certain of what i is not. With `is_target`
    each class is averaged on its own and weighted with the prior. BOSARIS:
    ``kldivergence_of_systems.m``.
    """
    probability, plo = resolve_prior(prior)
    matrix = _as_llrs(llrs)
    if is_target is None:
        return _mean_divergence(matrix, plo)
    labels = check.as_mask(is_target, "is_target")
    if labels.shape != matrix.shape[1:]:
        expected = f"have one label for each of the {matrix.shape[1]} trials"
        raise check.invalid("is_target", expected, f"shape {labels.shape}")
    if labels.all() or not labels.any():
        raise check.invalid("is_target", "name trials of both classes", check.describe(labels))
    of_targets = _mean_divergence(matrix[:, labels], plo)
    of_others = _mean_divergence(matrix[:, ~labels], plo)
    return np.asarray(probability * of_targets + (1.0 - probability) * of_others)


def _as_llrs(llrs: npt.ArrayLike) -> FloatArray:
    matrix = check.as_matrix(llrs, "llrs")
    check.check_not_empty(matrix, "llrs")
    check.refuse_nan(matrix, "llrs")
    return matrix


def _mean_divergence(llrs: FloatArray, plo: float) -> Float64Array:
    """Return the mean over trials for each two systems, in blocks of trials."""
    n_systems, n_trials = llrs.shape
    total = np.zeros((n_systems, n_systems))
    step = max(1, _BLOCK_CELLS // n_systems**2)
    for start in range(0, n_trials, step):
        log_odds = llrs[:, start : start + step] + np.float64(plo)
        # Systems of the rows, systems of the columns, trials.
        both = _expected_excess(log_odds) + _expected_excess(-log_odds)
        # Rounding can leave a divergence just below zero.
        total += np.maximum(both, 0.0).sum(axis=2)
    return np.asarray(total / n_trials)


def _expected_excess(log_odds: Float64Array) -> Float64Array:
    """Return for each two systems p log(p / r), where `log_odds` belong to p and r."""
    # -log of the posteriors.
    surprise = np.logaddexp(0.0, -log_odds)
    p = sigmoid(log_odds)[:, np.newaxis]
    # Infinity less infinity means equal, and stands beside p = 0 only.
    with np.errstate(invalid="ignore"):
        excess = p * (surprise[np.newaxis] - surprise[:, np.newaxis])
    return np.asarray(np.where(p > 0.0, excess, 0.0))
