"""The toolkit's analyses of fusions: costs and proportions on dev, divergences on dev and eval."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array
from bosaris_py._validation import check_not_empty, invalid
from bosaris_py.matlab.arguments import Systems, Trials, as_list, as_matrix, require
from bosaris_py.matlab.classes import Results
from bosaris_py.matlab.lists import sprintfmatrix
from bosaris_py.numerics.priors import sigmoid
from bosaris_py.numerics.scoring import resolve_prior
from bosaris_py.trials import Key, Scores
from bosaris_py.trials.scores import stack_scores

# Share of targets that the toolkit assumes of trials without a key.
_ASSUMED_PRIOR = 0.08

logger = logging.getLogger(__name__)


def estimate_target_proportions(llrs: npt.ArrayLike, prior: float) -> Float64Array:
    """Return the mean posterior of a target of each system; `llrs` is (n_systems, n_trials).

    Toolkit: estimate_target_proportions.m; native: none; differs: nothing. If scores are calibrated
    and the prior is the true share of targets, that share is what to expect.
    """
    log_odds = _log_odds(llrs, prior)
    return np.asarray(np.mean(sigmoid(log_odds), axis=1))


def kldivergence_of_systems(
    scores: npt.ArrayLike, prior: float, key: Key | None = None
) -> Float64Array:
    r"""Compute the mean divergence, in nats, of the posteriors of each two systems.

    Toolkit: kldivergence_of_systems.m; native: none; differs: nothing. Row i, column j: of system j
    from system i, the mean of :math:`p \log(p / r) + (1-p) \log((1-p) / (1-r))`; infinite if j is
    certain of what i is not. Columns of `scores` are trials, column by column of the key if there
    is one; then each class is averaged on its own and weighted with the prior.
    """
    log_odds = _log_odds(scores, prior)
    if key is None:
        return _divergence(log_odds)
    is_target, share = _labels(log_odds, key), resolve_prior(prior)[0]
    targets, others = _divergence(log_odds[:, is_target]), _divergence(log_odds[:, ~is_target])
    return np.asarray(share * targets + (1.0 - share) * others)


def evalAll(scores: npt.ArrayLike, key: Key, prior: float) -> Float64Array:
    """Compute 100 times normalized actual and minimum DCF, and the PRBEP, of each system.

    Toolkit: evalAll.m; native: none; differs: nothing. Columns of `scores` are the trials of the
    key, column by column.
    """
    matrix = as_matrix(scores, "scores")
    is_target = _labels(matrix, key)
    rows = []
    for row in matrix:
        results = Results(row[is_target], row[~is_target])
        costs = results.get_norm_act_dcf(prior), results.get_norm_min_dcf(prior)
        rows.append([*(100.0 * cost for cost in costs), results.prbep])
    return np.array(rows)


def analyse_dev_lin_fusion(
    key: Key, scores_obj_array: Systems, scr_lin: Scores, prior: float
) -> None:
    """Compare subsystems with their linear fusion on dev.

    Toolkit: analyse_dev_lin_fusion.m; native: none; differs: nothing is printed unless logging
    shows level INFO.
    """
    systems = as_list(scores_obj_array, "scores_obj_array", Scores)
    _analyse_dev(key, [*systems, scr_lin], 1, prior)


def analyse_dev_lin_and_qual_fusion(
    key: Key, scores_obj_array: Systems, scr_lin: Scores, scr_qual: Scores, prior: float
) -> None:
    """Compare subsystems with their fusions without and with quality measures on dev.

    Toolkit: analyse_dev_lin_and_qual_fusion.m; native: none; differs: as `analyse_dev_lin_fusion`.
    """
    systems = as_list(scores_obj_array, "scores_obj_array", Scores)
    _analyse_dev(key, [*systems, scr_lin, scr_qual], 2, prior)


def _analyse_dev(key: Key, systems: list[Scores], n_fused: int, prior: float) -> None:
    """Log the figures of systems, the last of which are fusions."""
    stack = stack_scores(systems, key)
    share = key.n_tar / key.n_trials
    # With the true proportion for prior, a calibrated system finds it.
    shares = 100.0 * estimate_target_proportions(stack, share)
    heading = f"True Dev target proportion is {100.0 * share:g}%. System estimates are:"
    logger.info("%s\n%s", heading, _table(shares))
    logger.info("Analysing Dev: %i subsystems and %i fusions:", len(systems) - n_fused, n_fused)
    names = [str(number + 1) for number in range(len(systems))]
    table = _table(evalAll(stack, key, prior), names)
    logger.info("Dev all: dcf*100, mindcf*100, prbep:\n%s", table)


def analyse_eval_lin_fusion(
    key_dev: Key,
    ndx_eval: Trials,
    dev_scores_obj_array: Systems,
    eval_scores_obj_array: Systems,
    dev_lin: Scores,
    eval_lin: Scores,
) -> None:
    """Compare how subsystems and their linear fusion diverge on dev and on eval.

    Toolkit: analyse_eval_lin_fusion.m; native: none; differs: nothing is printed unless logging
    shows level INFO.
    """
    dev = as_list(dev_scores_obj_array, "dev_scores_obj_array", Scores)
    new = as_list(eval_scores_obj_array, "eval_scores_obj_array", Scores)
    _analyse_eval(key_dev, ndx_eval, [*dev, dev_lin], [*new, eval_lin], 1)


def analyse_eval_lin_and_qual_fusion(
    key_dev: Key,
    ndx_eval: Trials,
    dev_scores_obj_array: Systems,
    eval_scores_obj_array: Systems,
    dev_lin: Scores,
    eval_lin: Scores,
    dev_qual: Scores,
    eval_qual: Scores,
) -> None:
    """Compare how subsystems and their fusions diverge on dev and on eval.

    Toolkit: analyse_eval_lin_and_qual_fusion.m; native: none; differs: as
    `analyse_eval_lin_fusion`.
    """
    dev = as_list(dev_scores_obj_array, "dev_scores_obj_array", Scores)
    new = as_list(eval_scores_obj_array, "eval_scores_obj_array", Scores)
    systems = [*dev, dev_lin, dev_qual], [*new, eval_lin, eval_qual]
    _analyse_eval(key_dev, ndx_eval, *systems, 2)


def _analyse_eval(
    key: Key, ndx: Trials, dev: list[Scores], new: list[Scores], n_fused: int
) -> None:
    """Log the divergences of systems, the last of which are fusions, the linear one first."""
    if len(dev) != len(new):
        expected = f"hold the {len(dev) - n_fused} systems of `dev_scores_obj_array`"
        raise invalid("eval_scores_obj_array", expected, f"{len(new) - n_fused}")
    known, unknown = stack_scores(dev, key), stack_scores(new, ndx)
    shares = estimate_target_proportions(unknown, _ASSUMED_PRIOR)
    # Without a key of eval the share of targets is what the linear fusion estimates.
    prior = float(shares[-n_fused])
    logger.info("System Ptar estimates:\n%s", _table(100.0 * shares))
    divergence = 100.0 * kldivergence_of_systems(known, prior, key)
    logger.info("Dev score divergence:\n%s", _table(divergence))
    divergence = 100.0 * kldivergence_of_systems(unknown, prior)
    logger.info("Eval score divergence:\n%s", _table(divergence))


def _table(matrix: Float64Array, names: Sequence[str] | None = None) -> str:
    """Return a table without the end of its last line, which the logger adds."""
    return sprintfmatrix(matrix, names).removesuffix("\n")


def _log_odds(llrs: npt.ArrayLike, prior: float) -> Float64Array:
    """Return the posterior log-odds of LLRs, (n_systems, n_trials)."""
    matrix = as_matrix(llrs, "llrs")
    check_not_empty(matrix, "llrs")
    return np.asarray(matrix + np.float64(resolve_prior(prior)[1]))


def _labels(scores: npt.ArrayLike, key: Key) -> npt.NDArray[np.bool_]:
    """Return which columns of `scores` are targets."""
    labels = require("key", key, Key).is_target
    if np.shape(scores)[1] != labels.size:
        expected = f"have one column for each of the {labels.size} trials of the key"
        raise invalid("scores", expected, f"shape {np.shape(scores)}")
    return labels


def _divergence(log_odds: Float64Array) -> Float64Array:
    """Return the mean divergence of each system (columns) from each (rows)."""
    rows = []
    for system in log_odds:
        both = _excess(system, log_odds) + _excess(-system, -log_odds)
        # Rounding can leave a divergence just below zero.
        rows.append(np.maximum(both, 0.0).mean(axis=1))
    return np.array(rows)


def _excess(log_odds: Float64Array, others: Float64Array) -> Float64Array:
    """Return p log(p / r), where `log_odds` belong to p and `others` to r."""
    p = sigmoid(log_odds)
    # Infinity less infinity means equal, and stands beside p = 0 only.
    with np.errstate(invalid="ignore"):
        excess = p * (np.logaddexp(0.0, -others) - np.logaddexp(0.0, -log_odds))
    return np.where(p > 0.0, excess, 0.0)
