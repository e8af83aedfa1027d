"""The toolkit's calibration functions and objectives."""

# ruff: noqa: FBT001 -- flags are positional as in the toolkit
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, mark_read_only
from bosaris_py._validation import FilePath, as_vector, invalid
from bosaris_py.calibration import LinearCalibration, PAVCalibration
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.matlab.arguments import (
    check_iterations,
    require_key,
    require_ndx,
    require_scores,
    rule_name,
)
from bosaris_py.numerics import linear_objective, scoring_rules
from bosaris_py.numerics.scoring_rules import ScoringRule
from bosaris_py.trials import Key, Ndx, Scores

Calibration = LinearCalibration | PAVCalibration

logger = logging.getLogger(__name__)


def train_linear_calibration(
    tar: npt.ArrayLike, non: npt.ArrayLike, prior: float, obj_func: Any, niters: int, quiet: bool
) -> tuple[Callable[[npt.ArrayLike], Any], float, Float64Array]:
    """Train scale and offset: the map itself, the objective, and [scale, offset].

    Toolkit: train_linear_calibration.m; native: `LinearCalibration.fit`; differs: trains to the
    exact optimum whatever `niters`; the map keeps the shape of its scores; `quiet` has no effect.

    Examples
    --------
    >>> f, nxe, w = train_linear_calibration([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], 0.5, [], 100, True)
    >>> w.round(3).tolist(), float(f(2.0).round(3))
    ([1.977, -2.299], 1.656)
    """
    check_iterations(niters)
    del quiet
    fit = LinearCalibration.fit(tar, non, prior=prior, objective=rule_name(obj_func))
    return fit.apply, fit.objective_value, mark_read_only(np.array([fit.scale, fit.offset]))


def linear_calibrate_scores(
    scr: Scores, key: Key, obj_func: Any, niters: int, prior: float, addzeros: bool
) -> Scores:
    """Calibrate scores by a linear map that is trained on themselves.

    Toolkit: linear_calibrate_scores.m; native: `LinearCalibration.fit_scores` and ``apply``;
    differs: trains to the exact optimum whatever `niters`.
    """
    fit = _fit_linear(scr, key, obj_func, niters, prior)
    return _calibrated(fit, scr, key, addzeros=addzeros, prior=prior)


def linear_calibrate_scores_dev_eval(
    scr_dev: Scores,
    scr_eval: Scores,
    key_dev: Key,
    ndx_eval: Ndx,
    obj_func: Any,
    niters: int,
    prior: float,
    addzeros: bool,
) -> tuple[Scores, Scores]:
    """Calibrate dev and eval scores by a linear map that is trained on dev.

    Toolkit: linear_calibrate_scores_dev_eval.m; native: `LinearCalibration.fit_scores` and
    ``apply``; differs: trains to the exact optimum whatever `niters`.
    """
    require_ndx(ndx_eval, "ndx_eval")
    require_scores(scr_eval, "scr_eval")
    fit = _fit_linear(scr_dev, key_dev, obj_func, niters, prior)
    return (
        _calibrated(fit, scr_dev, key_dev, addzeros=addzeros, prior=prior),
        _calibrated(fit, scr_eval, ndx_eval, addzeros=addzeros),
    )


def linear_calibrate_scores_from_files(
    keyfilename: FilePath,
    scorefilename: FilePath,
    outfilename: FilePath,
    obj_func: Any,
    niters: int,
    prior: float,
    addzeros: bool,
) -> None:
    """Calibrate the scores in a file by a linear map that is trained on themselves.

    Toolkit: linear_calibrate_scores_from_files.m; native: ``Scores.read`` and ``save``; differs:
    as `linear_calibrate_scores`.
    """
    key, scr = Key.read(keyfilename), Scores.read(scorefilename)
    linear_calibrate_scores(scr, key, obj_func, niters, prior, addzeros).save(outfilename)


def linear_calibrate_scores_dev_eval_from_files(
    dev_keyfilename: FilePath,
    eval_ndxfilename: FilePath,
    dev_scorefilename: FilePath,
    eval_scorefilename: FilePath,
    dev_outfilename: FilePath,
    eval_outfilename: FilePath,
    obj_func: Any,
    niters: int,
    prior: float,
    addzeros: bool,
) -> None:
    """Calibrate the dev and eval scores in files by a linear map that is trained on dev.

    Toolkit: linear_calibrate_scores_dev_eval_from_files.m; native: ``Scores.read`` and ``save``;
    differs: as `linear_calibrate_scores_dev_eval`.
    """
    dev, evaluation = linear_calibrate_scores_dev_eval(
        Scores.read(dev_scorefilename),
        Scores.read(eval_scorefilename),
        Key.read(dev_keyfilename),
        Ndx.read(eval_ndxfilename),
        obj_func,
        niters,
        prior,
        addzeros,
    )
    dev.save(dev_outfilename)
    evaluation.save(eval_outfilename)


def pav_calibration(
    tar: npt.ArrayLike, non: npt.ArrayLike, small_val: float
) -> tuple[Callable[[npt.ArrayLike], Any], Float64Array, Float64Array]:
    """Train a rising map by PAV: the map itself, its score bounds, its LLR bounds.

    Toolkit: pav_calibration.m; native: `PAVCalibration.fit`; differs: the map goes on beyond its
    bounds, where the toolkit's is an error. The two dummies that keep LLRs finite are at -1e6 and
    1e6, or at the outermost training score if that is beyond; in the toolkit such a score would
    have no dummy outside of it.

    Examples
    --------
    >>> pav_trans, score_bounds, llr_bounds = pav_calibration([1.0, 2.0], [0.0, 1.5], 0.0)
    >>> score_bounds.tolist(), llr_bounds.tolist()
    ([-1000000.0, 1000000.0], [0.0, 0.0])
    """
    fit = PAVCalibration.fit(tar, non, score_offset=small_val)
    return fit.apply, fit.score_bounds, fit.llr_bounds


def pav_calibrate_scores(
    scr: Scores, key: Key, prior: float, score_offset: float, addzeros: bool
) -> Scores:
    """Calibrate scores by a PAV map that is trained on themselves.

    Toolkit: pav_calibrate_scores.m; native: `PAVCalibration.fit_scores` and ``apply``; differs:
    nothing. The prior matters for the logged figures only.
    """
    fit = _fit_pav(scr, key, score_offset)
    return _calibrated(fit, scr, key, addzeros=addzeros, prior=prior)


def pav_calibrate_scores_dev_eval(
    scr_dev: Scores,
    scr_eval: Scores,
    key_dev: Key,
    ndx_eval: Ndx,
    prior: float,
    score_offset: float,
    addzeros: bool,
) -> tuple[Scores, Scores]:
    """Calibrate dev and eval scores by a PAV map that is trained on dev.

    Toolkit: pav_calibrate_scores_dev_eval.m; native: `PAVCalibration.fit_scores` and ``apply``;
    differs: nothing. The prior matters for the logged figures only.
    """
    require_ndx(ndx_eval, "ndx_eval")
    require_scores(scr_eval, "scr_eval")
    fit = _fit_pav(scr_dev, key_dev, score_offset)
    return (
        _calibrated(fit, scr_dev, key_dev, addzeros=addzeros, prior=prior),
        _calibrated(fit, scr_eval, ndx_eval, addzeros=addzeros),
    )


def _fit_linear(
    scr: Scores, key: Key, obj_func: Any, niters: int, prior: float
) -> LinearCalibration:
    require_scores(scr, "scr")
    require_key(key, "key")
    check_iterations(niters)
    objective = rule_name(obj_func)
    logger.info("training calibration")
    fit = LinearCalibration.fit_scores(scr, key, prior=prior, objective=objective)
    logger.info("weights: scaling %f, offset %f", fit.scale, fit.offset)
    return fit


def _fit_pav(scr: Scores, key: Key, score_offset: float) -> PAVCalibration:
    require_scores(scr, "scr")
    require_key(key, "key")
    logger.info("training calibration")
    return PAVCalibration.fit_scores(scr, key, score_offset=score_offset)


def _calibrated(
    fit: Calibration, scr: Scores, ndx: Key | Ndx, *, addzeros: bool, prior: float | None = None
) -> Scores:
    """Apply a calibration to the trials of `ndx`; at a prior, log how good it is."""
    logger.info("calibrating scores")
    calibrated = fit.apply(scr.align_with_ndx(ndx))
    if prior is not None and isinstance(ndx, Key):
        logger.info("displaying calibration results")
        results = Results(*_tar_non(calibrated, ndx))
        figures = (
            f"norm_act_dcf = {results.act_dcf(prior, normalize=True):g}, "
            f"norm_min_dcf = {results.min_dcf(prior, normalize=True):g}, "
            f"prbep = {results.prbep:g}"
        )
        if isinstance(fit, LinearCalibration):
            figures += f", nxe = {fit.objective_value:g}"
        logger.info("%s", figures)
    # After calibration 0 says that there is no evidence.
    return calibrated.set_missing_to_value(ndx, 0.0) if addzeros else calibrated


def _tar_non(aligned: Scores, key: Key) -> tuple[Any, Any]:
    """Return target and non-target scores that were warned about before, in any order."""
    return (
        aligned.scoremat[key.tar & aligned.scoremask],
        aligned.scoremat[key.non & aligned.scoremask],
    )


def make_objective_function_from_name(name: Any) -> ScoringRule:
    """Return the objective of a name: "cllr", "brier" or "boost", in any case.

    Toolkit: make_objective_function_from_name.m; native: the argument `objective` takes the name
    itself; differs: what is returned cannot be called; `evaluate_objective` evaluates it.
    """
    known = scoring_rules.OBJECTIVES
    if not isinstance(name, str) or name.lower() not in known:
        message = 'name must be "cllr" or "brier" or "boost"'
        raise InvalidInputError(message)
    return scoring_rules.scoring_rule(name)


def evaluate_objective(
    objective: Any, scores: npt.ArrayLike, classf: npt.ArrayLike, prior: float
) -> float:
    """Judge log-likelihood-ratios by a training objective; 1 is reached without a detector.

    Toolkit: evaluate_objective.m; native:
    `bosaris_py.numerics.linear_objective.evaluate_objective`;
    differs: labels of 0 are allowed, and such trials do not count.

    Examples
    --------
    >>> evaluate_objective("cllr", [0.0, 0.0, 0.0], [1, -1, -1], 0.5)
    1.0
    """
    llrs = as_vector(scores, "scores")
    tar, non = split_by_label(llrs[np.newaxis], classf)
    rule = rule_name(objective)
    return linear_objective.evaluate_objective(tar[0], non[0], prior=prior, objective=rule)


def test_binary_classifier(
    objective: Any,
    classf: npt.ArrayLike,
    prior: float,
    system: Callable[[Any], npt.ArrayLike],
    input_data: Any,
) -> float:
    """Apply a trained map to scores, and judge what comes out by a training objective.

    Toolkit: test_binary_classifier.m; native: none; differs: nothing.
    """
    return evaluate_objective(objective, system(input_data), classf, prior)


# Not for pytest, which would collect it wherever everything is imported from here.
test_binary_classifier.__test__ = False  # type: ignore[attr-defined]


def split_by_label(
    scores: npt.NDArray[np.floating[Any]], classf: npt.ArrayLike
) -> tuple[npt.NDArray[np.floating[Any]], npt.NDArray[np.floating[Any]]]:
    """Split scores, (n_systems, n_trials), into targets and non-targets; label 0 is neither."""
    labels = as_vector(classf, "classf")
    if labels.size != scores.shape[1]:
        expected = f"have one label for each of the {scores.shape[1]} trials"
        raise invalid("classf", expected, f"{labels.size}")
    strange = labels[~np.isin(labels, (-1.0, 0.0, 1.0))]
    if strange.size:
        expected = "hold 1 for targets, -1 for non-targets and 0 for trials to be ignored"
        raise invalid("classf", expected, f"among others {strange[0]:g}")
    return scores[:, labels > 0], scores[:, labels < 0]
