"""The toolkit's fusion functions: stacking, linear fusion, quality fusion, the same from files.

"Exact optimum" in what differs: `niters`, `cstepHessian`, `quiet` and first weights have no effect.
"""

# ruff: noqa: FBT001 -- flags are positional as in the toolkit
# Arguments stand in the order of the toolkit's functions, which differs from one to the other.
from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from os import PathLike
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, Float64Array, mark_read_only
from bosaris_py._notes import warn_caller
from bosaris_py._validation import FilePath, as_matrix, describe, invalid
from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.fusion.quality_fusion import form_from_triangle, fuse_trials, quality_term
from bosaris_py.matlab.arguments import (
    Qualities,
    Systems,
    as_qualities,
    as_systems,
    as_vector,
    as_whole,
    check_iterations,
    ends_as,
    matrix_of_numbers,
    require,
    rule_name,
    save_all,
    split_by_label,
    vector_of_numbers,
)
from bosaris_py.trials import Key, Ndx, QualityMeasures, Scores
from bosaris_py.trials.quality import mix_measures, stack_quality
from bosaris_py.trials.scores import assemble, stack_scores

Trials = Key | Ndx
Fuser = Callable[[Any], Any]
QualityFuser = Callable[[npt.ArrayLike, QualityMeasures, Trials], Float64Array]
# Trials, the scores of each system for them, and their quality measures.
_Set = tuple[Trials, list[Scores], list[QualityMeasures]]

logger = logging.getLogger(__name__)


def stackScores(key_or_ndx: Trials, scores_obj_array: Systems) -> Float64Array:
    """Return the scores of several systems, one in each row, for the same trials.

    Toolkit: stackScores.m; native: none; differs: says which system lacks how many scores.
    """
    return stack_scores(as_systems(scores_obj_array, "scores_obj_array"), key_or_ndx)


def make_classf_from_key(key: Key) -> Float64Array:
    """Return the label of each trial of a key, 1 or -1, column by column.

    Toolkit: make_classf_from_key.m; native: none; differs: nothing.
    """
    return np.where(require("key", key, Key).is_target, 1.0, -1.0)


def assemble_scr(scores: npt.ArrayLike, key_or_ndx: Trials) -> Scores:
    """Put a vector of scores, column by column, back into a matrix of trials.

    Toolkit: assemble_scr.m; native: what ``apply`` does inside; differs: nothing.
    """
    return assemble(vector_of_numbers(scores, "scores"), key_or_ndx)


def make_initial_fusion_weights(numsystems: int) -> Float64Array:
    """Return the weights of the mean of several systems, and no offset.

    Toolkit: make_initial_fusion_weights.m; native: none; differs: nothing.
    """
    n_systems = as_whole(numsystems, "numsystems", least=1)
    return np.append(np.full(n_systems, 1.0 / n_systems), 0.0)


@overload
def linear_fuser(w: npt.ArrayLike, scores: npt.ArrayLike) -> Float64Array: ...


@overload
def linear_fuser(w: npt.ArrayLike, scores: None = None) -> str: ...


def linear_fuser(w: npt.ArrayLike, scores: npt.ArrayLike | None = None) -> Float64Array | str:
    """Fuse scores, (n_systems, n_trials), with given weights, the offset last.

    Toolkit: linear_fuser.m; native: `LinearFusion`; differs: there is no untrained fuser, which the
    toolkit returns for empty weights. Without scores, describes the weights.

    Examples
    --------
    >>> linear_fuser([0.5, 2.0, -1.0], [[1.0, 2.0], [0.0, 1.0]]).tolist()
    [-0.5, 2.0]
    """
    weights = vector_of_numbers(w, "w")
    if weights.size < 2:
        hint = "To train a fusion use train_linear_fuser." if weights.size == 0 else ""
        expected = "hold one weight for each system, and the offset"
        raise invalid("w", expected, f"{weights.size} numbers", hint)
    if scores is None:
        listed = ", ".join(f"{weight:g}" for weight in weights[:-1])
        return f"linear fusion: weights [{listed}], offset {weights[-1]:g}"
    matrix = matrix_of_numbers(scores, "scores")
    if matrix.shape[0] != weights.size - 1:
        expected = f"hold the scores of {weights.size - 1} systems, one in each row"
        raise invalid("scores", expected, f"shape {matrix.shape}")
    fused: Float64Array = weights[:-1] @ matrix + weights[-1]
    return fused


def train_linear_fuser(
    scores: npt.ArrayLike,
    classf: npt.ArrayLike,
    prior: float,
    cstepHessian: bool,
    quiet: bool,
    niters: int,
    obj_func: object,
) -> tuple[Fuser, float, Float64Array]:
    """Train a linear fusion on arrays: the fusion itself, the objective, and its weights.

    Toolkit: train_linear_fuser.m; native: `LinearFusion.fit`; differs: exact optimum.
    """
    check_iterations(niters)
    tar, non = split_by_label(as_matrix(scores, "scores"), classf)
    fit = LinearFusion.fit(tar, non, prior=prior, objective=rule_name(obj_func))
    return fit.apply, fit.objective_value, mark_read_only(np.append(fit.weights, fit.offset))


def train_linear_fusion_function(
    key: Key,
    scores_obj_array: Systems,
    prior: float,
    obj_func: object,
    niters: int,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Fuser, Float64Array]:
    """Train a linear fusion on the scores of the trials in a key: the fusion, its weights.

    Toolkit: train_linear_fusion_function.m; native: `LinearFusion`; differs: exact optimum.
    """
    require("key", key, Key)
    check_iterations(niters)
    objective = rule_name(obj_func)
    systems = as_systems(scores_obj_array, "scores_obj_array")
    logger.info("training linear fusion of %d systems", len(systems))
    fit = LinearFusion.fit_scores(systems, key, prior=prior, objective=objective)
    logger.info("weights: %s, offset %f", " ".join(f"{w:f}" for w in fit.weights), fit.offset)
    logger.info("nxe = %g", fit.objective_value)
    return fit.apply, mark_read_only(np.append(fit.weights, fit.offset))


def apply_linear_fusion_function(
    key_or_ndx: Trials, scores_obj_array: Systems, flin: object
) -> Scores:
    """Fuse the scores of the trials in an index or a key.

    Toolkit: apply_linear_fusion_function.m; native: ``LinearFusion.apply``; differs: nothing.
    """
    if not callable(flin):
        is_quality = isinstance(flin, QualityFusion)
        hint = "That is a quality fusion; use apply_quality_fusion_function." if is_quality else ""
        expected = "be what train_linear_fusion_function returns first"
        raise invalid("flin", expected, describe(flin), hint)
    systems = as_systems(scores_obj_array, "scores_obj_array")
    return assemble(flin(stack_scores(systems, key_or_ndx)), key_or_ndx)


def linear_fusion_scores(
    key: Key,
    scores_obj_array: Systems,
    prior: float,
    niters: int,
    obj_func: object,
    cstepHessian: bool,
    quiet: bool,
) -> Scores:
    """Fuse scores by a fusion that is trained on themselves.

    Toolkit: linear_fusion_scores.m; native: `LinearFusion`; differs: exact optimum.
    """
    options = prior, obj_func, niters, cstepHessian, quiet
    flin, _ = train_linear_fusion_function(key, scores_obj_array, *options)
    return apply_linear_fusion_function(key, scores_obj_array, flin)


def linear_fusion_dev_eval(
    key_dev: Key,
    dev_scores_obj_array: Systems,
    ndx_eval: Ndx,
    eval_scores_obj_array: Systems,
    prior: float,
    niters: int,
    obj_func: object,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Scores, Scores]:
    """Fuse dev and eval scores by a fusion that is trained on dev.

    Toolkit: linear_fusion_dev_eval.m; native: `LinearFusion`; differs: exact optimum.
    """
    require("ndx_eval", ndx_eval, Ndx)
    options = prior, obj_func, niters, cstepHessian, quiet
    flin, _ = train_linear_fusion_function(key_dev, dev_scores_obj_array, *options)
    return (
        apply_linear_fusion_function(key_dev, dev_scores_obj_array, flin),
        apply_linear_fusion_function(ndx_eval, eval_scores_obj_array, flin),
    )


@ends_as(linear_fusion_scores, 2)
def linear_fusion_scores_from_files(
    keyfilename: FilePath,
    scorefilenames: Sequence[FilePath],
    outfilename: FilePath,
    *options: Any,
    **named: Any,
) -> None:
    """Fuse the scores in files by a fusion that is trained on themselves.

    Toolkit: linear_fusion_scores_from_files.m; native: ``Scores.read``; differs: exact optimum. The
    rest of the arguments is that of `linear_fusion_scores`.
    """
    key, systems = Key.read(keyfilename), load_score_files(scorefilenames)
    linear_fusion_scores(key, systems, *options, **named).save(outfilename)


@ends_as(linear_fusion_dev_eval, 4)
def linear_fusion_dev_eval_from_files(
    dev_keyfilename: FilePath,
    dev_scorefilenames: Sequence[FilePath],
    eval_ndxfilename: FilePath,
    eval_scorefilenames: Sequence[FilePath],
    dev_outfilename: FilePath,
    eval_outfilename: FilePath,
    *options: Any,
    **named: Any,
) -> None:
    """Fuse the dev and eval scores in files by a fusion that is trained on dev.

    Toolkit: linear_fusion_dev_eval_from_files.m; native: ``Scores.read``; differs: exact optimum.
    The rest of the arguments is that of `linear_fusion_dev_eval`.
    """
    dev = Key.read(dev_keyfilename), load_score_files(dev_scorefilenames)
    evaluation = Ndx.read(eval_ndxfilename), load_score_files(eval_scorefilenames)
    fused = linear_fusion_dev_eval(*dev, *evaluation, *options, **named)
    save_all(fused, (dev_outfilename, eval_outfilename))


def stackQ(key_or_ndx: Trials, quality_obj_array: Qualities) -> QualityMeasures:
    """Put the quality measures of several objects one below the other, for the same trials.

    Toolkit: stackQ.m; native: none, `QualityFusion` does it; differs: nothing.
    """
    return stack_quality(as_qualities(quality_obj_array, "quality_obj_array"), key_or_ndx)


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
    # A measure of 1 is added to those of models and of segments, for linear terms and offset.
    form = form_from_triangle(vector_of_numbers(w, "w"))
    if len(form) != aligned.n_measures + 1:
        n_weights = (aligned.n_measures + 1) * (aligned.n_measures + 2) // 2
        expected = f"hold {n_weights} weights for {aligned.n_measures} measures"
        raise invalid("w", expected, f"{np.size(w)}")
    return _columns(quality_term(form, aligned.modelQ, aligned.segQ), ndx)


def qfuser_linear(
    w: npt.ArrayLike, scores: npt.ArrayLike, scrQ: QualityMeasures, ndx: Trials
) -> Float64Array:
    """Fuse the scores and quality measures of all trials with given weights.

    Toolkit: qfuser_linear.m; native: `QualityFusion`; differs: there is no untrained fuser, which
    the toolkit returns for empty weights, and so no fifth argument, where that would start.

    The weights are those of the systems, an offset, and a lower triangle of (q + 1) (q + 2) / 2 for
    q quality measures, column by column. Scores are as `stackScores` returns them.
    """
    weights = vector_of_numbers(w, "w")
    systems = matrix_of_numbers(scores, "scores")
    aligned = scrQ.align_with_ndx(ndx)
    models, segments = ndx.trial_positions()
    return fuse_trials(weights, systems, aligned.modelQ[:, models], aligned.segQ[:, segments])


def qfuser_backoff(
    w: npt.ArrayLike,
    scores: npt.ArrayLike,
    scrQ: QualityMeasures,
    ndx: Trials,
    backoff: Scores | npt.ArrayLike,
) -> Float64Array:
    """Fuse like `qfuser_linear`; trials without quality measures get other scores.

    Toolkit: qfuser_backoff.m; native: ``QualityFusion.apply``; differs: `backoff` may be a Scores.
    """
    fused = qfuser_linear(w, scores, scrQ, ndx)
    covered = _columns(scrQ.align_with_ndx(ndx).scoremask, ndx)
    if isinstance(backoff, Scores):
        spare = stack_scores([backoff], ndx)[0]
    else:
        spare = vector_of_numbers(backoff, "backoff")
    if spare.shape != fused.shape:
        expected = f"hold a score for each of the {fused.size} trials"
        raise invalid("backoff", expected, f"shape {spare.shape}")
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
    obj_func: object,
    prior: float,
) -> tuple[QualityFuser, float, Float64Array]:
    """Train a quality fusion on stacked scores: the fusion, the objective, and its weights.

    Toolkit: train_qfuser.m; native: `QualityFusion.fit_scores`; differs: exact optimum; the last
    weight, a second offset, is 0. The fusion takes what `qfuser_linear` takes after the weights.
    """
    require("key", key, Key)
    check_iterations(niters)
    # fit_scores takes objects; the stack holds their trials column by column.
    systems = [assemble(row, key) for row in matrix_of_numbers(scores, "scores")]
    fit = QualityFusion.fit_scores(systems, [scrQ], key, prior=prior, objective=rule_name(obj_func))
    weights = fit.toolkit_weights
    return partial(qfuser_linear, weights), fit.objective_value, weights


def train_quality_fusion_function(
    key: Key,
    scores_obj_array: Systems,
    quality_obj_array: Qualities,
    Qtrans: npt.ArrayLike,
    wlin: npt.ArrayLike,
    prior: float,
    obj_func: object,
    niters: int,
    cstepHessian: bool,
    quiet: bool,
) -> QualityFusion:
    """Train a quality fusion on the trials of a key.

    Toolkit: train_quality_fusion_function.m; native: `QualityFusion`; differs: exact optimum.
    """
    dev = _set(require("key", key, Key), scores_obj_array, quality_obj_array)
    check_iterations(niters)
    # First weights that training does not need; of the wrong number they tell a mistake.
    weights, n_systems = as_vector(wlin, "wlin"), len(dev[1])
    if weights.size != n_systems + 1 or not np.isfinite(weights).all():
        expected = f"hold {n_systems} weights and an offset, all finite"
        raise invalid("wlin", expected, describe(weights.tolist()))
    return _train(dev, Qtrans, prior, rule_name(obj_func), None)


def _train(
    dev: _Set, qtrans: npt.ArrayLike, prior: float, objective: str, linear: LinearFusion | None
) -> QualityFusion:
    trials, systems, qualities = dev
    key = require("key", trials, Key)
    if np.size(qtrans) == 0:
        hint = "To take the measures as they are give an identity matrix."
        raise invalid("Qtrans", "not be empty", describe(qtrans), hint)
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
    fqual: object,
    scr_lin: Scores,
) -> Scores:
    """Fuse the scores of the trials in an index or a key, with their quality measures.

    Toolkit: apply_quality_fusion_function.m; native: ``QualityFusion.apply``; differs: `Qtrans`
    must be that of the training. Trials without quality get their scores in `scr_lin`.
    """
    if not isinstance(fqual, QualityFusion):
        raise invalid("fqual", "be what train_quality_fusion_function returns", describe(fqual))
    # The fusion knows its own matrix; in the toolkit another one would give wrong scores silently.
    if not np.array_equal(as_matrix(Qtrans, "Qtrans"), np.asarray(fqual.qtrans)):
        raise invalid("Qtrans", "be that of the training", describe(Qtrans))
    require("scr_lin", scr_lin, Scores)
    ndx, systems, qualities = _set(key_or_ndx, scores_obj_array, quality_obj_array)
    return fqual.apply(systems, qualities, ndx, backoff=scr_lin)


def linear_and_quality_fusion_scores(
    key: Key,
    scores_obj_array: Systems,
    quality_obj_array: Qualities,
    Qtrans: npt.ArrayLike,
    prior: float,
    niters: int,
    obj_func: object,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Scores, Scores]:
    """Fuse scores without and with quality measures, trained on themselves.

    Toolkit: linear_and_quality_fusion_scores.m; native: `QualityFusion`; differs: exact optimum.
    """
    sets = [_set(key, scores_obj_array, quality_obj_array)]
    without, with_quality = _fuse_both(sets, Qtrans, prior, niters, obj_func)
    return without, with_quality


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
    obj_func: object,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Scores, Scores, Scores, Scores]:
    """Fuse without and with quality, trained on dev: dev and eval without, dev and eval with.

    Toolkit: linear_and_quality_fusion_dev_eval.m; native: `QualityFusion`; differs: exact optimum.
    """
    require("ndx_eval", ndx_eval, Ndx)
    sets = [
        _set(key_dev, dev_scores_obj_array, dev_quality_obj_array, "dev_"),
        _set(ndx_eval, eval_scores_obj_array, eval_quality_obj_array, "eval_"),
    ]
    dev_lin, eval_lin, dev_qual, eval_qual = _fuse_both(sets, Qtrans, prior, niters, obj_func)
    return dev_lin, eval_lin, dev_qual, eval_qual


def _set(ndx: Trials, scores: Systems, qualities: Qualities, part: str = "") -> _Set:
    systems = as_systems(scores, f"{part}scores_obj_array")
    return ndx, systems, as_qualities(qualities, f"{part}quality_obj_array")


def _fuse_both(
    sets: Sequence[_Set], qtrans: npt.ArrayLike, prior: float, niters: int, obj_func: object
) -> list[Scores]:
    """Train both fusions on the first set, fuse all: first without quality measures."""
    trials, systems, _ = sets[0]
    key = require("key", trials, Key)
    check_iterations(niters)
    objective = rule_name(obj_func)
    logger.info("training linear fusion of %d systems", len(systems))
    # Trials without quality measures get the scores of the linear fusion.
    linear = LinearFusion.fit_scores(systems, key, prior=prior, objective=objective)
    fqual = _train(sets[0], qtrans, prior, objective, linear)
    without = [linear.apply(scores, ndx) for ndx, scores, _ in sets]
    return without + [fqual.apply(scores, quality, ndx) for ndx, scores, quality in sets]


@ends_as(linear_and_quality_fusion_scores, 4)
def linear_and_quality_fusion_scores_from_files(
    keyfilename: FilePath,
    scorefilenames: Sequence[FilePath],
    qualfilenames: Sequence[FilePath],
    Qtrans: npt.ArrayLike,
    lin_outfilename: FilePath,
    qfuse_outfilename: FilePath,
    *options: Any,
    **named: Any,
) -> None:
    """Fuse the scores in files without and with quality measures, trained on themselves.

    Toolkit: linear_and_quality_fusion_scores_from_files.m; native: none; differs: exact optimum.
    The rest of the arguments is that of `linear_and_quality_fusion_scores`.
    """
    key, systems = Key.read(keyfilename), load_score_files(scorefilenames)
    arguments = (key, systems, load_qual_files(qualfilenames), Qtrans, *options)
    fused = linear_and_quality_fusion_scores(*arguments, **named)
    save_all(fused, (lin_outfilename, qfuse_outfilename))


@ends_as(linear_and_quality_fusion_dev_eval, 7)
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
    *options: Any,
    **named: Any,
) -> None:
    """Fuse the dev and eval scores in files without and with quality measures, trained on dev.

    Toolkit: linear_and_quality_fusion_dev_eval_from_files.m; native: ``Scores.read``; differs:
    exact optimum. The order of the output files is dev without and with quality, then eval; the
    rest of the arguments is that of `linear_and_quality_fusion_dev_eval`.
    """
    dev = Key.read(dev_keyfilename), load_score_files(dev_scorefilenames)
    dev_quality = load_qual_files(dev_qualfilenames)
    evaluation = Ndx.read(eval_ndxfilename), load_score_files(eval_scorefilenames)
    new_quality = load_qual_files(eval_qualfilenames)
    arguments = (*dev, dev_quality, Qtrans, *evaluation, new_quality, *options)
    fused = linear_and_quality_fusion_dev_eval(*arguments, **named)
    # Dev and eval of one fusion, then of the other; the arguments begin with both of dev.
    outputs = dev_lin_outfilename, eval_lin_outfilename
    save_all(fused, (*outputs, dev_qfuse_outfilename, eval_qfuse_outfilename))


def load_score_files(scorefilenames: Sequence[FilePath]) -> list[Scores]:
    """Read the scores of several systems; the names of the files are logged.

    Toolkit: load_score_files.m; native: ``Scores.read``; differs: returns a list.
    """
    return [Scores.read(name) for name in _logged(scorefilenames)]


def _logged(filenames: Sequence[FilePath]) -> Iterator[FilePath]:
    """Iterate over the names of files that are to be read; log each before it is."""
    if isinstance(filenames, str | PathLike):
        hint = "Put the name of a single file into a list."
        raise invalid("filenames", "be a list of files", describe(str(filenames)), hint)
    for name in filenames:
        logger.info("loading %s", name)
        yield name


def load_qual_files(qualfilenames: Sequence[FilePath]) -> list[QualityMeasures]:
    """Read the quality measures in several files, whose names are logged.

    Toolkit: load_qual_files.m; native: ``QualityMeasures.read``; differs: returns a list.
    """
    return [QualityMeasures.read(name) for name in _logged(qualfilenames)]


def _columns(matrix: AnyArray, ndx: Trials) -> AnyArray:
    """Return the cells of the trials, column by column."""
    # The toolkit's order of trials is that of MATLAB's matrices: the model runs fastest.
    vector: AnyArray = matrix.T[ndx.trial_mask.T]
    return vector
