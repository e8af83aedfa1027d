"""The toolkit's analysis of a fusion: what it prints is logged, and returned as values."""

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import as_matrix, invalid
from bosaris_py.evaluation import Results, SystemComparison, SystemDivergence
from bosaris_py.matlab._arguments import Systems, as_systems, require_key
from bosaris_py.matlab.lists import sprintfmatrix
from bosaris_py.numerics.divergence import estimate_target_proportions, kl_divergence
from bosaris_py.trials import Key, Ndx, Scores
from bosaris_py.trials.stacking import stack_scores

__all__ = [
    "analyse_dev_lin_and_qual_fusion",
    "analyse_dev_lin_fusion",
    "analyse_eval_lin_and_qual_fusion",
    "analyse_eval_lin_fusion",
    "estimate_target_proportions",
    "evalAll",
    "kldivergence_of_systems",
]

Float64Array = npt.NDArray[np.float64]

# What the toolkit assumes of trials without a key.
_ASSUMED_PRIOR = 0.08

logger = logging.getLogger(__name__)


def kldivergence_of_systems(
    scores: npt.ArrayLike, prior: float, key: Key | None = None
) -> Float64Array:
    """Compute the divergence, in nats, of each two systems' posteriors; row: reference.

    Toolkit: kldivergence_of_systems.m; native: `SystemDivergence`; differs: nothing. Columns of
    `scores` are trials, column by column of the key if there is one.
    """
    if key is None:
        return kl_divergence(scores, prior)
    return kl_divergence(scores, prior, is_target=_is_target(key, "kldivergence_of_systems"))


def evalAll(scores: npt.ArrayLike, key: Key, prior: float) -> Float64Array:
    """Compute 100 times normalized actual and minimum DCF, and the PRBEP, of each system.

    Toolkit: evalAll.m; native: `SystemComparison`; differs: nothing. Columns of `scores` are the
    trials of the key, column by column.
    """
    is_target = _is_target(key, "evalAll")
    matrix = as_matrix(scores, "scores", "evalAll")
    if matrix.shape[1] != is_target.size:
        expected = f"have one column for each of the {is_target.size} trials of the key"
        hint = "Is it transposed?" if matrix.shape[0] == is_target.size else ""
        raise invalid("scores", "evalAll", expected, f"shape {matrix.shape}", hint)
    rows = []
    for row in matrix:
        results = Results(row[is_target], row[~is_target])
        costs = (dcf(prior, normalize=True) for dcf in (results.act_dcf, results.min_dcf))
        rows.append([*(100.0 * cost for cost in costs), results.prbep])
    return np.array(rows)


def _is_target(key: Key, owner: str) -> npt.NDArray[np.bool_]:
    require_key(key, "key", owner)
    labels: npt.NDArray[np.bool_] = key.tar.T[(key.tar | key.non).T]
    return labels


def analyse_dev_lin_fusion(
    key: Key, scores_obj_array: Systems, scr_lin: Scores, prior: float
) -> SystemComparison:
    """Compare subsystems with their linear fusion on dev.

    Toolkit: analyse_dev_lin_fusion.m; native: `SystemComparison`, which is returned too; differs:
    nothing is printed unless logging shows level INFO.
    """
    return _analyse_dev(key, scores_obj_array, [scr_lin], prior, "analyse_dev_lin_fusion")


def analyse_dev_lin_and_qual_fusion(
    key: Key,
    scores_obj_array: Systems,
    scr_lin: Scores,
    scr_qual: Scores,
    prior: float,
) -> SystemComparison:
    """Compare subsystems with their fusions without and with quality measures on dev.

    Toolkit: analyse_dev_lin_and_qual_fusion.m; native: `SystemComparison`, which is returned too;
    differs: nothing is printed unless logging shows level INFO.
    """
    owner = "analyse_dev_lin_and_qual_fusion"
    return _analyse_dev(key, scores_obj_array, [scr_lin, scr_qual], prior, owner)


def _analyse_dev(
    key: Key, scores: Systems, fusions: list[Scores], prior: float, owner: str
) -> SystemComparison:
    systems = as_systems(scores, "scores_obj_array", owner)
    comparison = SystemComparison.from_scores([*systems, *fusions], key, prior=prior)
    logger.info(
        "True Dev target proportion is %g%%. System estimates are:\n%s",
        100.0 * comparison.target_proportion,
        _table(100.0 * comparison.estimated_proportions),
    )
    logger.info(
        "Analysing Dev: %i subsystems and %i fusions:",
        len(systems),
        len(comparison.names) - len(systems),
    )
    figures = (100.0 * comparison.act_dcf, 100.0 * comparison.min_dcf, comparison.prbep)
    table = _table(np.column_stack(figures), comparison.names)
    logger.info("Dev all: dcf*100, mindcf*100, prbep:\n%s", table)
    return comparison


def analyse_eval_lin_fusion(
    key_dev: Key,
    ndx_eval: Ndx | Key,
    dev_scores_obj_array: Systems,
    eval_scores_obj_array: Systems,
    dev_lin: Scores,
    eval_lin: Scores,
) -> SystemDivergence:
    """Compare how subsystems and their linear fusion diverge on dev and on eval.

    Toolkit: analyse_eval_lin_fusion.m; native: `SystemDivergence`, which is returned too; differs:
    nothing is printed unless logging shows level INFO.
    """
    owner = "analyse_eval_lin_fusion"
    dev = [*as_systems(dev_scores_obj_array, "dev_scores_obj_array", owner), dev_lin]
    evaluation = [*as_systems(eval_scores_obj_array, "eval_scores_obj_array", owner), eval_lin]
    return _analyse_eval(key_dev, ndx_eval, dev, evaluation, eval_lin)


def analyse_eval_lin_and_qual_fusion(
    key_dev: Key,
    ndx_eval: Ndx | Key,
    dev_scores_obj_array: Systems,
    eval_scores_obj_array: Systems,
    dev_lin: Scores,
    eval_lin: Scores,
    dev_qual: Scores,
    eval_qual: Scores,
) -> SystemDivergence:
    """Compare how subsystems and their fusions diverge on dev and on eval.

    Toolkit: analyse_eval_lin_and_qual_fusion.m; native: `SystemDivergence`, which is returned too;
    differs: nothing is printed unless logging shows level INFO.
    """
    owner = "analyse_eval_lin_and_qual_fusion"
    dev = as_systems(dev_scores_obj_array, "dev_scores_obj_array", owner)
    evaluation = as_systems(eval_scores_obj_array, "eval_scores_obj_array", owner)
    dev, evaluation = [*dev, dev_lin, dev_qual], [*evaluation, eval_lin, eval_qual]
    return _analyse_eval(key_dev, ndx_eval, dev, evaluation, eval_lin)


def _analyse_eval(
    key: Key, ndx: Ndx | Key, dev: list[Scores], evaluation: list[Scores], eval_lin: Scores
) -> SystemDivergence:
    """Compare systems at the share of targets that the linear fusion estimates."""
    linear = stack_scores([eval_lin], ndx)
    estimate = float(estimate_target_proportions(linear, _ASSUMED_PRIOR)[0])
    divergence = SystemDivergence.from_scores(
        dev, key, evaluation, ndx, prior=estimate, assumed_prior=_ASSUMED_PRIOR
    )
    for heading, matrix in (
        ("System Ptar estimates:", 100.0 * divergence.estimated_proportions),
        ("Dev score divergence:", 100.0 * divergence.dev),
        ("Eval score divergence:", 100.0 * divergence.evaluation),
    ):
        logger.info("%s\n%s", heading, _table(matrix))
    return divergence


def _table(matrix: npt.ArrayLike, names: Sequence[str] | None = None) -> str:
    """Return a table whose last line whoever logs it will end."""
    return sprintfmatrix(matrix, names).removesuffix("\n")
