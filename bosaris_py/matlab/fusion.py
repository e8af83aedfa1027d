"""The toolkit's fusion functions: stacking, linear fusion, quality fusion, the same from files.

"Exact optimum" in what differs: `niters`, `cstepHessian`, `quiet` and first weights have no effect.
"""

# ruff: noqa: FBT001 -- flags are positional as in the toolkit
# Arguments stand in the order of the toolkit's functions, which differs from one to the other.
from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FilePath, FloatArray, mark_read_only
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.fusion.quality_fusion import form_from_triangle, quality_term
from bosaris_py.matlab import arguments as given
from bosaris_py.matlab.arguments import Qualities, Systems, Trials, require
from bosaris_py.matlab.classes import Quality
from bosaris_py.trials import Key, Ndx, QualityMeasures, Scores
from bosaris_py.trials.quality import mix_measures, stack_quality
from bosaris_py.trials.scores import assemble, stack_scores

_T = TypeVar("_T")

# What a trained fusion is: of scores, and of scores, quality measures and trials.
Fuser = Callable[[ArrayLike], ArrayLike]
QualityFuser = Callable[[ArrayLike, QualityMeasures, Trials], FloatArray]

# Prior, objective and iterations of a training, as `trainer` takes them.
Options = tuple[float, object, int]

logger = logging.getLogger(__name__)


def stackScores(key_or_ndx: Trials, scores_obj_array: Systems) -> FloatArray:
    """Return the scores of several systems, one in each row, for the same trials.

    Toolkit: stackScores.m; native: none; differs: says which system lacks how many scores.
    """
    return stack_scores(scores_obj_array, key_or_ndx)


def make_classf_from_key(key: Key) -> FloatArray:
    """Return the label of each trial of a key, 1 or -1, column by column.

    Toolkit: make_classf_from_key.m; native: none; differs: nothing.
    """
    return np.where(require("key", key, Key).is_target, 1.0, -1.0)


def assemble_scr(scores: ArrayLike, key_or_ndx: Trials) -> Scores:
    """Put a vector of scores, column by column, back into a matrix of trials.

    Toolkit: assemble_scr.m; native: what ``apply`` does inside; differs: nothing.
    """
    return assemble(given.as_vector(scores, "scores"), key_or_ndx)


def make_initial_fusion_weights(numsystems: int) -> FloatArray:
    """Return the weights of the mean of several systems, and no offset.

    Toolkit: make_initial_fusion_weights.m; native: none; differs: nothing.
    """
    n_systems = given.as_whole(numsystems, "numsystems", least=1)
    return np.append(np.full(n_systems, 1.0 / n_systems), 0.0)


def linear_fuser(w: ArrayLike, scores: ArrayLike | None = None) -> FloatArray | str:
    """Fuse scores, (n_systems, n_trials), with given weights, the offset last.

    Toolkit: linear_fuser.m; native: `LinearFusion`; differs: there is no untrained fuser, which the
    toolkit returns for empty weights. Without scores, describes the weights.

    Examples
    --------
    >>> linear_fuser([0.5, 2.0, -1.0], [[1.0, 2.0], [0.0, 1.0]]).tolist()
    [-0.5, 2.0]
    """
    weights = given.as_vector(w, "w")
    if scores is None:
        listed = ", ".join(f"{weight:g}" for weight in weights[:-1])
        return f"linear fusion: weights [{listed}], offset {weights[-1]:g}"
    return np.asarray(weights[:-1] @ given.as_matrix(scores, "scores") + weights[-1])


def train_linear_fuser(
    scores: ArrayLike,
    classf: ArrayLike,
    prior: float,
    cstepHessian: bool,
    quiet: bool,
    niters: int,
    obj_func: object,
) -> tuple[Fuser, float, FloatArray]:
    """Train a linear fusion on arrays: the fusion itself, the objective, and its weights.

    `scores` has shape (n_systems, n_trials). `classf` has n_trials labels: 1 for targets, -1 for
    non-targets, 0 for trials to leave out. `prior` is a probability; `obj_func` is [] for Cllr, or
    "cllr", "brier" or "boost". `cstepHessian`, `quiet` and `niters` have no effect. Always returns
    three results: ``f(scores)`` gives LLRs of shape (n_trials,), ``nxe`` is a float, the objective
    at the optimum, and ``w`` has shape (n_systems + 1,), the offset last.

    Toolkit: train_linear_fuser.m; native: `LinearFusion.fit` with ``ridge=0``; differs: exact
    optimum, where the toolkit's optimiser stops early.
    """
    tar, non = given.split_by_label(given.as_matrix(scores, "scores"), classf)
    fit = given.trainer(LinearFusion.fit, prior, obj_func, niters)(tar, non)
    return fit.apply, fit.objective_value, mark_read_only(np.append(fit.weights, fit.offset))


def train_linear_fusion_function(
    key: Key,
    scores_obj_array: Systems,
    prior: float,
    obj_func: object,
    niters: int,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Fuser, FloatArray]:
    """Train a linear fusion on the scores of the trials in a key: the fusion, its weights.

    Toolkit: train_linear_fusion_function.m; native: `LinearFusion`; differs: exact optimum.
    """
    fit = _train_linear(key, scores_obj_array, (prior, obj_func, niters))
    return fit.apply, mark_read_only(np.append(fit.weights, fit.offset))


def _train_linear(key: Key, systems: Systems, options: Options) -> LinearFusion:
    logger.info("training linear fusion")
    fit = given.trainer(LinearFusion.fit_scores, *options)(systems, key)
    logger.info("weights: %s, offset %f", " ".join(f"{w:f}" for w in fit.weights), fit.offset)
    logger.info("nxe = %g", fit.objective_value)
    return fit


def apply_linear_fusion_function(
    key_or_ndx: Trials, scores_obj_array: Systems, flin: Fuser
) -> Scores:
    """Fuse the scores of the trials in an index or a key.

    Toolkit: apply_linear_fusion_function.m; native: ``LinearFusion.apply``; differs: nothing.
    """
    return assemble(flin(stack_scores(scores_obj_array, key_or_ndx)), key_or_ndx)


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
    fit = _train_linear(key, scores_obj_array, (prior, obj_func, niters))
    return assemble(fit.apply(stack_scores(scores_obj_array, key)), key)


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

    Both lists have one Scores for each system, in the same order, with a score for each trial:
    missing ones are an error. `ndx_eval` is an Ndx, ``key.to_ndx()`` of a key. `prior` is a
    probability; `obj_func` is [] for Cllr, or "cllr", "brier" or "boost". `niters`, `cstepHessian`
    and `quiet` have no effect. Returns two Scores, of the trials of `key_dev` and of `ndx_eval`.
    Figures of the first are too good, which is warned of.

    Toolkit: linear_fusion_dev_eval.m; native: `LinearFusion`; differs: exact optimum, where the
    toolkit's optimiser stops early.
    """
    require("ndx_eval", ndx_eval, Ndx)
    fit = _train_linear(key_dev, dev_scores_obj_array, (prior, obj_func, niters))
    return fit.apply(dev_scores_obj_array, key_dev), fit.apply(eval_scores_obj_array, ndx_eval)


def linear_fusion_scores_from_files(
    keyfilename: FilePath,
    scorefilenames: Sequence[FilePath],
    outfilename: FilePath,
    prior: float,
    niters: int,
    obj_func: object,
    cstepHessian: bool,
    quiet: bool,
) -> None:
    """Fuse the scores in files by a fusion that is trained on themselves.

    Toolkit: linear_fusion_scores_from_files.m; native: ``Scores.read``; differs: exact optimum.
    """
    key, systems = Key.read(keyfilename), load_score_files(scorefilenames)
    fused = linear_fusion_scores(key, systems, prior, niters, obj_func, cstepHessian, quiet)
    given.save_all([fused], [outfilename], keyfilename, scorefilenames)


def linear_fusion_dev_eval_from_files(
    dev_keyfilename: FilePath,
    dev_scorefilenames: Sequence[FilePath],
    eval_ndxfilename: FilePath,
    eval_scorefilenames: Sequence[FilePath],
    dev_outfilename: FilePath,
    eval_outfilename: FilePath,
    prior: float,
    niters: int,
    obj_func: object,
    cstepHessian: bool,
    quiet: bool,
) -> None:
    """Fuse the dev and eval scores in files by a fusion that is trained on dev.

    Toolkit: linear_fusion_dev_eval_from_files.m; native: ``Scores.read``; differs: exact optimum.
    """
    dev = Key.read(dev_keyfilename), load_score_files(dev_scorefilenames)
    new = Ndx.read(eval_ndxfilename), load_score_files(eval_scorefilenames)
    fused = linear_fusion_dev_eval(*dev, *new, prior, niters, obj_func, cstepHessian, quiet)
    read = dev_keyfilename, dev_scorefilenames, eval_ndxfilename, eval_scorefilenames
    given.save_all(fused, (dev_outfilename, eval_outfilename), *read)


def stackQ(key_or_ndx: Trials, quality_obj_array: Qualities) -> QualityMeasures:
    """Put the quality measures of several objects one below the other, for the same trials.

    Toolkit: stackQ.m; native: none, `QualityFusion` does it; differs: nothing.
    """
    return stack_quality(quality_obj_array, key_or_ndx)


def spliceQ(scrQ1: QualityMeasures, scrQ2: QualityMeasures, key_or_ndx: Trials) -> QualityMeasures:
    """Put the quality measures of two objects one below the other, for the same trials.

    Toolkit: spliceQ.m; native: as `stackQ`; differs: nothing.
    """
    return stack_quality([scrQ1, scrQ2], key_or_ndx)


def applyQtrans(qual: QualityMeasures, Qtrans: ArrayLike) -> QualityMeasures:
    """Replace q quality measures by p linear combinations; the matrix is p x q.

    Toolkit: applyQtrans.m; native: the argument `qtrans` of `QualityFusion`; differs: nothing.
    """
    return mix_measures(qual, Qtrans)


def AWB_sparse(qual: QualityMeasures, ndx: Trials, w: ArrayLike) -> FloatArray:
    """Evaluate the quality term of each trial, for weights that fill a lower triangle.

    Toolkit: AWB_sparse.m; native: `QualityFusion`; differs: weights are always needed.
    """
    aligned = qual.align_with_ndx(ndx)
    # A measure of 1 is added to those of models and of segments, for linear terms and offset.
    form = form_from_triangle(given.as_vector(w, "w"))
    check.check_shape(
        form, (aligned.n_measures + 1,) * 2, "w", "as a triangle and its mirror image"
    )
    return quality_term(form, aligned.modelQ, aligned.segQ, *ndx.trial_positions())


def qfuser_linear(w: ArrayLike, scores: ArrayLike, scrQ: Quality, ndx: Trials) -> FloatArray:
    """Fuse the scores and quality measures of all trials with given weights.

    Toolkit: qfuser_linear.m; native: `QualityFusion`; differs: there is no untrained fuser, which
    the toolkit returns for empty weights, and so no fifth argument, where that would start.

    The weights are those of the systems, an offset, and a lower triangle of (q + 1) (q + 2) / 2 for
    q quality measures, column by column. Scores are as `stackScores` returns them.
    """
    systems, vector = given.as_matrix(scores, "scores"), given.as_vector(w, "w")
    n_systems = len(systems)
    fused = vector[:n_systems] @ systems + vector[n_systems]
    return np.asarray(fused + AWB_sparse(scrQ, ndx, vector[n_systems + 1 :]))


def qfuser_backoff(
    w: ArrayLike, scores: ArrayLike, scrQ: Quality, ndx: Trials, backoff: Scores | ArrayLike
) -> FloatArray:
    """Fuse like `qfuser_linear`; trials without quality measures get other scores.

    Toolkit: qfuser_backoff.m; native: ``QualityFusion.apply``; differs: `backoff` may be a Scores.
    """
    fused = qfuser_linear(w, scores, scrQ, ndx)
    spare = stack_scores(backoff, ndx)[0] if isinstance(backoff, Scores) else np.ravel(backoff)
    check.check_shape(spare, fused.shape, "backoff", "the trials")
    # The toolkit's order of trials is that of MATLAB's matrices: the model runs fastest.
    covered = scrQ.align_with_ndx(ndx).scoremask.T[ndx.trial_mask.T]
    if n := int(np.count_nonzero(~covered)):
        text = f"Quality missing for {n} of {covered.size} trials, substituting backoff scores."
        errors.warn([errors.Note(errors.MissingTrialsWarning, text, count=n)])
    return np.where(covered, fused, spare)


def train_qfuser(
    scores: ArrayLike,
    scrQ: Quality,
    key: Key,
    quiet: bool,
    w0: ArrayLike,
    cstepHessian: bool,
    niters: int,
    obj_func: object,
    prior: float,
) -> tuple[QualityFuser, float, FloatArray]:
    """Train a quality fusion on stacked scores: the fusion, the objective, and its weights.

    Toolkit: train_qfuser.m; native: `QualityFusion.fit_scores`; differs: exact optimum; the last
    weight, a second offset, is 0. The fusion takes what `qfuser_linear` takes after the weights.
    """
    # fit_scores takes objects; the stack holds their trials column by column.
    systems = [assemble(row, key) for row in given.as_matrix(scores, "scores")]
    fit = given.trainer(QualityFusion.fit_scores, prior, obj_func, niters)(systems, [scrQ], key)
    return partial(qfuser_linear, fit.toolkit_weights), fit.objective_value, fit.toolkit_weights


def train_quality_fusion_function(
    key: Key,
    scores_obj_array: Systems,
    quality_obj_array: Qualities,
    Qtrans: ArrayLike,
    wlin: ArrayLike,
    prior: float,
    obj_func: object,
    niters: int,
    cstepHessian: bool,
    quiet: bool,
) -> QualityFusion:
    """Train a quality fusion on the trials of a key.

    Toolkit: train_quality_fusion_function.m; native: `QualityFusion`; differs: exact optimum, so
    that the first weights `wlin` have no effect.
    """
    options = prior, obj_func, niters
    return _train_quality(key, scores_obj_array, quality_obj_array, Qtrans, options)


def _train_quality(
    key: Key, systems: Systems, qualities: Qualities, qtrans: ArrayLike, options: Options
) -> QualityFusion:
    check.check_not_empty(np.asarray(qtrans), "Qtrans")
    logger.info("training quality fusion, Qtrans = %s", np.asarray(qtrans).tolist())
    train = given.trainer(QualityFusion.fit_scores, *options)
    fit = train(systems, qualities, key, qtrans=qtrans)
    logger.info("nxe = %g", fit.objective_value)
    return fit


def apply_quality_fusion_function(
    key_or_ndx: Trials,
    scores_obj_array: Systems,
    quality_obj_array: Qualities,
    Qtrans: ArrayLike,
    fqual: QualityFusion,
    scr_lin: Scores,
) -> Scores:
    """Fuse the scores of the trials in an index or a key, with their quality measures.

    Toolkit: apply_quality_fusion_function.m; native: ``QualityFusion.apply``; differs: `Qtrans`
    must be that of the training. Trials without quality get their scores in `scr_lin`.
    """
    require("fqual", fqual, QualityFusion)
    # The fusion knows its own matrix; in the toolkit another one would give wrong scores silently.
    if not np.array_equal(given.as_matrix(Qtrans, "Qtrans"), np.asarray(fqual.qtrans)):
        raise check.invalid("Qtrans", "be that of the training", check.describe(Qtrans))
    backoff = require("scr_lin", scr_lin, Scores)
    return fqual.apply(scores_obj_array, quality_obj_array, key_or_ndx, backoff=backoff)


def linear_and_quality_fusion_scores(
    key: Key,
    scores_obj_array: Systems,
    quality_obj_array: Qualities,
    Qtrans: ArrayLike,
    prior: float,
    niters: int,
    obj_func: object,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Scores, Scores]:
    """Fuse scores without and with quality measures, trained on themselves.

    Toolkit: linear_and_quality_fusion_scores.m; native: `QualityFusion`; differs: exact optimum.
    """
    options, quality = (prior, obj_func, niters), quality_obj_array
    linear = _train_linear(key, scores_obj_array, options)
    fqual = _train_quality(key, scores_obj_array, quality, Qtrans, options)
    # Trials without quality measures get the scores of the linear fusion.
    fused = linear.apply(scores_obj_array, key)
    return fused, fqual.apply(scores_obj_array, quality, key, backoff=fused)


def linear_and_quality_fusion_dev_eval(
    key_dev: Key,
    dev_scores_obj_array: Systems,
    dev_quality_obj_array: Qualities,
    Qtrans: ArrayLike,
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
    options = prior, obj_func, niters
    dev, new = (key_dev, dev_scores_obj_array), (ndx_eval, eval_scores_obj_array)
    linear = _train_linear(*dev, options)
    fqual = _train_quality(*dev, dev_quality_obj_array, Qtrans, options)
    dev_lin, eval_lin = (linear.apply(systems, trials) for trials, systems in (dev, new))
    dev_qual = fqual.apply(dev[1], dev_quality_obj_array, key_dev, backoff=dev_lin)
    eval_qual = fqual.apply(new[1], eval_quality_obj_array, ndx_eval, backoff=eval_lin)
    return dev_lin, eval_lin, dev_qual, eval_qual


def linear_and_quality_fusion_scores_from_files(
    keyfilename: FilePath,
    scorefilenames: Sequence[FilePath],
    qualfilenames: Sequence[FilePath],
    Qtrans: ArrayLike,
    lin_outfilename: FilePath,
    qfuse_outfilename: FilePath,
    prior: float,
    niters: int,
    obj_func: object,
    cstepHessian: bool,
    quiet: bool,
) -> None:
    """Fuse the scores in files without and with quality measures, trained on themselves.

    Toolkit: linear_and_quality_fusion_scores_from_files.m; native: none; differs: exact optimum.
    """
    data = Key.read(keyfilename), load_score_files(scorefilenames), load_qual_files(qualfilenames)
    fused = linear_and_quality_fusion_scores(
        *data, Qtrans, prior, niters, obj_func, cstepHessian, quiet
    )
    read = keyfilename, scorefilenames, qualfilenames
    given.save_all(fused, (lin_outfilename, qfuse_outfilename), *read)


def linear_and_quality_fusion_dev_eval_from_files(
    dev_keyfilename: FilePath,
    dev_scorefilenames: Sequence[FilePath],
    dev_qualfilenames: Sequence[FilePath],
    Qtrans: ArrayLike,
    eval_ndxfilename: FilePath,
    eval_scorefilenames: Sequence[FilePath],
    eval_qualfilenames: Sequence[FilePath],
    dev_lin_outfilename: FilePath,
    dev_qfuse_outfilename: FilePath,
    eval_lin_outfilename: FilePath,
    eval_qfuse_outfilename: FilePath,
    prior: float,
    niters: int,
    obj_func: object,
    cstepHessian: bool,
    quiet: bool,
) -> None:
    """Fuse the dev and eval scores in files without and with quality measures, trained on dev.

    Toolkit: linear_and_quality_fusion_dev_eval_from_files.m; native: ``Scores.read``; differs:
    exact optimum. The order of the output files is dev without and with quality, then eval.
    """
    dev = Key.read(dev_keyfilename), load_score_files(dev_scorefilenames)
    dev_quality = load_qual_files(dev_qualfilenames)
    new = Ndx.read(eval_ndxfilename), load_score_files(eval_scorefilenames)
    new_quality = load_qual_files(eval_qualfilenames)
    data = (*dev, dev_quality, Qtrans, *new, new_quality)
    fused = linear_and_quality_fusion_dev_eval(*data, prior, niters, obj_func, cstepHessian, quiet)
    # Dev and eval of one fusion, then of the other; the arguments begin with both of dev.
    linear = dev_lin_outfilename, eval_lin_outfilename
    read = dev_keyfilename, dev_scorefilenames, dev_qualfilenames
    read_too = eval_ndxfilename, eval_scorefilenames, eval_qualfilenames
    outputs = *linear, dev_qfuse_outfilename, eval_qfuse_outfilename
    given.save_all(fused, outputs, *read, *read_too)


def load_score_files(scorefilenames: Sequence[FilePath]) -> list[Scores]:
    """Read the scores of several systems; the names of the files are logged.

    Toolkit: load_score_files.m; native: ``Scores.read``; differs: returns a list.
    """
    return _load(Scores.read, scorefilenames)


def load_qual_files(qualfilenames: Sequence[FilePath]) -> list[QualityMeasures]:
    """Read the quality measures in several files, whose names are logged.

    Toolkit: load_qual_files.m; native: ``QualityMeasures.read``; differs: returns a list.
    """
    return _load(QualityMeasures.read, qualfilenames)


def _load(read: Callable[[FilePath], _T], filenames: Sequence[FilePath]) -> list[_T]:
    names = [filenames] if isinstance(filenames, str) else filenames
    logger.info("loading %s", ", ".join(map(str, names)))
    return [read(name) for name in names]
