"""The toolkit's fusion with quality measures; several of these come as a list of Quality."""

# ruff: noqa: FBT001 -- flags are positional as in the toolkit

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, as_matrix, as_vector, describe, invalid, warn_caller
from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.matlab._arguments import (
    Qualities,
    Systems,
    as_qualities,
    as_systems,
    check_iterations,
    matrix_of_numbers,
    require_key,
    require_ndx,
    require_scores,
    rule_name,
    vector_of_numbers,
)
from bosaris_py.matlab.fusion import listed_files, load_score_files
from bosaris_py.numerics.quality_form import form_from_triangle, fuse_trials, quality_term
from bosaris_py.trials import Key, Ndx, QualityMeasures, Scores
from bosaris_py.trials.quality_stacking import mix_measures, stack_quality
from bosaris_py.trials.stacking import assemble, stack_scores

__all__ = [
    "AWB_sparse",
    "applyQtrans",
    "apply_quality_fusion_function",
    "linear_and_quality_fusion_dev_eval",
    "linear_and_quality_fusion_dev_eval_from_files",
    "linear_and_quality_fusion_scores",
    "linear_and_quality_fusion_scores_from_files",
    "load_qual_files",
    "qfuser_backoff",
    "qfuser_linear",
    "spliceQ",
    "stackQ",
    "train_qfuser",
    "train_quality_fusion_function",
]

Float64Array = npt.NDArray[np.float64]
Trials = Key | Ndx
QualityFuser = Callable[[npt.ArrayLike, QualityMeasures, Trials], Float64Array]

logger = logging.getLogger(__name__)


def stackQ(key_or_ndx: Trials, quality_obj_array: Qualities) -> QualityMeasures:
    """Put the quality measures of several objects one below the other, for the same trials.

    Toolkit: stackQ.m; native: what ``fit_scores`` and ``apply`` of `QualityFusion` do inside;
    differs: nothing.
    """
    return stack_quality(as_qualities(quality_obj_array, "quality_obj_array", "stackQ"), key_or_ndx)


def spliceQ(scrQ1: QualityMeasures, scrQ2: QualityMeasures, key_or_ndx: Trials) -> QualityMeasures:
    """Put the quality measures of two objects one below the other, for the same trials.

    Toolkit: spliceQ.m; native: as `stackQ`; differs: nothing.
    """
    return stack_quality([scrQ1, scrQ2], key_or_ndx)


def applyQtrans(qual: QualityMeasures, Qtrans: npt.ArrayLike) -> QualityMeasures:
    """Replace q quality measures by p linear combinations; the matrix is p x q.

    Toolkit: applyQtrans.m; native: the argument `qtrans` of `QualityFusion`; differs: nothing.
    """
    return mix_measures(qual, Qtrans)


def AWB_sparse(qual: QualityMeasures, ndx: Trials, w: npt.ArrayLike) -> Float64Array:
    """Evaluate the quality term of each trial, for weights that fill a lower triangle.

    Toolkit: AWB_sparse.m; native: `QualityFusion`; differs: weights are always needed.
    """
    aligned = qual.align_with_ndx(ndx)
    form = form_from_triangle(vector_of_numbers(w, "w", "AWB_sparse"))
    if len(form) != aligned.n_measures + 1:
        n_weights = (aligned.n_measures + 1) * (aligned.n_measures + 2) // 2
        expected = f"hold {n_weights} weights for {aligned.n_measures} measures"
        raise invalid("w", "AWB_sparse", expected, f"{np.size(w)}")
    return _columns(quality_term(form, aligned.modelQ, aligned.segQ), ndx)


def qfuser_linear(
    w: npt.ArrayLike, scores: npt.ArrayLike, scrQ: QualityMeasures, ndx: Trials
) -> Float64Array:
    """Fuse the scores and quality measures of all trials with given weights.

    Toolkit: qfuser_linear.m; native: `QualityFusion`; differs: there is no untrained fuser, which
    the toolkit returns for empty weights, and so no fifth argument, where that would start.

    Parameters
    ----------
    w : (n_systems + 1 + (q + 1) (q + 2) / 2,) array_like of float
        Weights of the systems, offset, and a lower triangle column by column.
    scores : (n_systems, n_trials) array_like of float
        Scores, as `stackScores` returns them.
    scrQ : Quality
        The q quality measures of the trials.
    ndx : Ndx or Key
        The trials.
    """
    owner = "qfuser_linear"
    weights = vector_of_numbers(w, "w", owner)
    systems = matrix_of_numbers(scores, "scores", owner)
    aligned = scrQ.align_with_ndx(ndx)
    segments, models = np.nonzero(_mask(ndx).T)
    return fuse_trials(weights, systems, aligned.modelQ[:, models], aligned.segQ[:, segments])


def qfuser_backoff(
    w: npt.ArrayLike,
    scores: npt.ArrayLike,
    scrQ: QualityMeasures,
    ndx: Trials,
    backoff: Scores | npt.ArrayLike,
) -> Float64Array:
    """Fuse like `qfuser_linear`; trials without quality measures get other scores.

    Toolkit: qfuser_backoff.m; native: ``QualityFusion.apply``; differs: nothing. `backoff` holds a
    score for each trial, column by column, or is a Scores.
    """
    fused = qfuser_linear(w, scores, scrQ, ndx)
    covered = _columns(scrQ.align_with_ndx(ndx).scoremask, ndx)
    if isinstance(backoff, Scores):
        spare = stack_scores([backoff], ndx)[0]
    else:
        spare = vector_of_numbers(backoff, "backoff", "qfuser_backoff")
    if spare.shape != fused.shape:
        expected = f"hold a score for each of the {fused.size} trials"
        raise invalid("backoff", "qfuser_backoff", expected, f"shape {spare.shape}")
    n_missing = int(np.count_nonzero(~covered))
    if n_missing:
        message = (
            f"Quality missing for {n_missing} of {covered.size} trials, "
            "substituting backoff scores."
        )
        warn_caller(message, MissingTrialsWarning)
    return np.where(covered, fused, spare)


def train_qfuser(
    scores: npt.ArrayLike,
    scrQ: QualityMeasures,
    key: Key,
    quiet: bool,
    w0: npt.ArrayLike,
    cstepHessian: bool,
    niters: int,
    obj_func: Any,
    prior: float,
) -> tuple[QualityFuser, float, Float64Array]:
    """Train a quality fusion on stacked scores: the fusion, the objective, and its weights.

    Toolkit: train_qfuser.m; native: `QualityFusion.fit_scores`; differs: trains to the exact
    optimum whatever `niters` and `w0`; of the weights the last, a second offset, is 0. The fusion
    takes scores, quality measures and trials as `qfuser_linear` does.
    """
    owner = "train_qfuser"
    require_key(key, "key", owner)
    check_iterations(niters, owner)
    del quiet, w0, cstepHessian
    systems = [assemble(row, key) for row in matrix_of_numbers(scores, "scores", owner)]
    objective = rule_name(obj_func, owner)
    fit = QualityFusion.fit_scores(systems, [scrQ], key, prior=prior, objective=objective)
    weights = fit.toolkit_weights

    def fuse(scores: npt.ArrayLike, scrQ: QualityMeasures, ndx: Trials) -> Float64Array:
        return qfuser_linear(weights, scores, scrQ, ndx)

    return fuse, fit.objective_value, weights


def train_quality_fusion_function(
    key: Key,
    scores_obj_array: Systems,
    quality_obj_array: Qualities,
    Qtrans: npt.ArrayLike,
    wlin: npt.ArrayLike,
    prior: float,
    obj_func: Any,
    niters: int,
    cstepHessian: bool,
    quiet: bool,
) -> QualityFusion:
    """Train a quality fusion on the trials of a key.

    Toolkit: train_quality_fusion_function.m; native: `QualityFusion.fit_scores`, what is returned;
    differs: trains to the exact optimum whatever `niters` and `wlin`.
    """
    owner = "train_quality_fusion_function"
    require_key(key, "key", owner)
    check_iterations(niters, owner)
    del cstepHessian, quiet
    systems = as_systems(scores_obj_array, "scores_obj_array", owner)
    qualities = as_qualities(quality_obj_array, "quality_obj_array", owner)
    weights = as_vector(wlin, "wlin", owner)
    if weights.size != len(systems) + 1 or not np.isfinite(weights).all():
        expected = f"hold {len(systems)} weights and an offset, all finite"
        raise invalid("wlin", owner, expected, describe(weights.tolist()))
    return _train(key, systems, qualities, Qtrans, prior, rule_name(obj_func, owner), None)


def _train(
    key: Key,
    systems: Sequence[Scores],
    qualities: Sequence[QualityMeasures],
    qtrans: npt.ArrayLike,
    prior: float,
    objective: str,
    linear: LinearFusion | None,
) -> QualityFusion:
    if np.size(qtrans) == 0:
        hint = "To take the measures as they are give an identity matrix."
        owner = "train_quality_fusion_function"
        raise invalid("Qtrans", owner, "not be empty", describe(qtrans), hint)
    logger.info("training quality fusion of %d systems", len(systems))
    logger.info("Qtrans = %s", np.asarray(qtrans).tolist())
    fit = QualityFusion.fit_scores(
        systems, qualities, key, qtrans=qtrans, prior=prior, objective=objective, linear=linear
    )
    logger.info("nxe = %g", fit.objective_value)
    return fit


def apply_quality_fusion_function(
    key_or_ndx: Trials,
    scores_obj_array: Systems,
    quality_obj_array: Qualities,
    Qtrans: npt.ArrayLike,
    fqual: Any,
    scr_lin: Scores,
) -> Scores:
    """Fuse the scores of the trials in an index or a key, with their quality measures.

    Toolkit: apply_quality_fusion_function.m; native: ``QualityFusion.apply``; differs: `Qtrans`
    must be that of the training. Trials without quality get their scores in `scr_lin`.
    """
    owner = "apply_quality_fusion_function"
    if not isinstance(fqual, QualityFusion):
        expected = "be what train_quality_fusion_function returns"
        raise invalid("fqual", owner, expected, describe(fqual))
    if not np.array_equal(as_matrix(Qtrans, "Qtrans", owner), np.asarray(fqual.qtrans)):
        raise invalid("Qtrans", owner, "be that of the training", describe(Qtrans))
    require_scores(scr_lin, "scr_lin", owner)
    systems = as_systems(scores_obj_array, "scores_obj_array", owner)
    qualities = as_qualities(quality_obj_array, "quality_obj_array", owner)
    return fqual.apply(systems, qualities, key_or_ndx, backoff=scr_lin)


def linear_and_quality_fusion_scores(
    key: Key,
    scores_obj_array: Systems,
    quality_obj_array: Qualities,
    Qtrans: npt.ArrayLike,
    prior: float,
    niters: int,
    obj_func: Any,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Scores, Scores]:
    """Fuse scores without and with quality measures, trained on themselves.

    Toolkit: linear_and_quality_fusion_scores.m; native: `LinearFusion` and `QualityFusion`;
    differs: trains to the exact optimum whatever `niters`.
    """
    del cstepHessian, quiet
    owner = "linear_and_quality_fusion_scores"
    systems = as_systems(scores_obj_array, "scores_obj_array", owner)
    qualities = as_qualities(quality_obj_array, "quality_obj_array", owner)
    linear, fqual = _train_both(key, systems, qualities, Qtrans, prior, niters, obj_func, owner)
    return linear.apply(systems, key), fqual.apply(systems, qualities, key)


def linear_and_quality_fusion_dev_eval(
    key_dev: Key,
    dev_scores_obj_array: Systems,
    dev_quality_obj_array: Qualities,
    Qtrans: npt.ArrayLike,
    ndx_eval: Ndx,
    eval_scores_obj_array: Systems,
    eval_quality_obj_array: Qualities,
    prior: float,
    niters: int,
    obj_func: Any,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Scores, Scores, Scores, Scores]:
    """Fuse without and with quality, trained on dev: dev and eval without, dev and eval with.

    Toolkit: linear_and_quality_fusion_dev_eval.m; native: `LinearFusion` and `QualityFusion`;
    differs: trains to the exact optimum whatever `niters`.
    """
    del cstepHessian, quiet
    owner = "linear_and_quality_fusion_dev_eval"
    require_ndx(ndx_eval, "ndx_eval", owner)
    dev = as_systems(dev_scores_obj_array, "dev_scores_obj_array", owner)
    dev_quality = as_qualities(dev_quality_obj_array, "dev_quality_obj_array", owner)
    new = as_systems(eval_scores_obj_array, "eval_scores_obj_array", owner)
    new_quality = as_qualities(eval_quality_obj_array, "eval_quality_obj_array", owner)
    linear, fqual = _train_both(key_dev, dev, dev_quality, Qtrans, prior, niters, obj_func, owner)
    return (
        linear.apply(dev, key_dev),
        linear.apply(new, ndx_eval),
        fqual.apply(dev, dev_quality, key_dev),
        fqual.apply(new, new_quality, ndx_eval),
    )


def _train_both(
    key: Key,
    systems: Sequence[Scores],
    qualities: Sequence[QualityMeasures],
    qtrans: npt.ArrayLike,
    prior: float,
    niters: int,
    obj_func: Any,
    owner: str,
) -> tuple[LinearFusion, QualityFusion]:
    require_key(key, "key", owner)
    check_iterations(niters, owner)
    objective = rule_name(obj_func, owner)
    logger.info("training linear fusion of %d systems", len(systems))
    linear = LinearFusion.fit_scores(systems, key, prior=prior, objective=objective)
    return linear, _train(key, systems, qualities, qtrans, prior, objective, linear)


def linear_and_quality_fusion_scores_from_files(
    keyfilename: FilePath,
    scorefilenames: Sequence[FilePath],
    qualfilenames: Sequence[FilePath],
    Qtrans: npt.ArrayLike,
    lin_outfilename: FilePath,
    qfuse_outfilename: FilePath,
    prior: float,
    niters: int,
    obj_func: Any,
    cstepHessian: bool,
    quiet: bool,
) -> None:
    """Fuse the scores in files without and with quality measures, trained on themselves.

    Toolkit: linear_and_quality_fusion_scores_from_files.m; native: ``Scores.read`` and ``save``;
    differs: as `linear_and_quality_fusion_scores`.
    """
    fused = linear_and_quality_fusion_scores(
        Key.read(keyfilename),
        load_score_files(scorefilenames),
        load_qual_files(qualfilenames),
        Qtrans,
        prior,
        niters,
        obj_func,
        cstepHessian,
        quiet,
    )
    for scores, name in zip(fused, (lin_outfilename, qfuse_outfilename), strict=True):
        scores.save(name)


def linear_and_quality_fusion_dev_eval_from_files(
    dev_keyfilename: FilePath,
    dev_scorefilenames: Sequence[FilePath],
    dev_qualfilenames: Sequence[FilePath],
    Qtrans: npt.ArrayLike,
    eval_ndxfilename: FilePath,
    eval_scorefilenames: Sequence[FilePath],
    eval_qualfilenames: Sequence[FilePath],
    dev_lin_outfilename: FilePath,
    dev_qfuse_outfilename: FilePath,
    eval_lin_outfilename: FilePath,
    eval_qfuse_outfilename: FilePath,
    prior: float,
    niters: int,
    obj_func: Any,
    cstepHessian: bool,
    quiet: bool,
) -> None:
    """Fuse the dev and eval scores in files without and with quality measures, trained on dev.

    Toolkit: linear_and_quality_fusion_dev_eval_from_files.m; native: ``Scores.read`` and ``save``;
    differs: as `linear_and_quality_fusion_dev_eval`. Note the order of the output files: dev
    without and with quality, then eval.
    """
    dev_lin, eval_lin, dev_qual, eval_qual = linear_and_quality_fusion_dev_eval(
        Key.read(dev_keyfilename),
        load_score_files(dev_scorefilenames),
        load_qual_files(dev_qualfilenames),
        Qtrans,
        Ndx.read(eval_ndxfilename),
        load_score_files(eval_scorefilenames),
        load_qual_files(eval_qualfilenames),
        prior,
        niters,
        obj_func,
        cstepHessian,
        quiet,
    )
    dev_lin.save(dev_lin_outfilename)
    dev_qual.save(dev_qfuse_outfilename)
    eval_lin.save(eval_lin_outfilename)
    eval_qual.save(eval_qfuse_outfilename)


def load_qual_files(qualfilenames: Sequence[FilePath]) -> list[QualityMeasures]:
    """Read the quality measures in several files, whose names are logged.

    Toolkit: load_qual_files.m; native: ``QualityMeasures.read``; differs: returns a list.
    """
    return [QualityMeasures.read(name) for name in listed_files(qualfilenames, "load_qual_files")]


def _mask(ndx: Trials) -> npt.NDArray[np.bool_]:
    return ndx.trialmask if isinstance(ndx, Ndx) else ndx.tar | ndx.non


def _columns(matrix: npt.NDArray[Any], ndx: Trials) -> npt.NDArray[Any]:
    """Return the cells of the trials, column by column."""
    vector: npt.NDArray[Any] = matrix.T[_mask(ndx).T]
    return vector
