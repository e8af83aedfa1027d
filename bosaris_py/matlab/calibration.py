"""The toolkit's calibration functions and training objectives.

"Exact optimum" in what differs: `niters` and `quiet` have no effect.
"""

# ruff: noqa: FBT001 -- flags are positional as in the toolkit
from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

import bosaris_py.numerics.scoring as native
from bosaris_py._arrays import Float64Array, mark_read_only
from bosaris_py._validation import FilePath
from bosaris_py.calibration import LinearCalibration, PAVCalibration
from bosaris_py.errors import InvalidInputError
from bosaris_py.matlab import arguments as given
from bosaris_py.matlab.arguments import Trials, flat, objective_name, require
from bosaris_py.matlab.classes import Results
from bosaris_py.numerics.scoring import OBJECTIVES
from bosaris_py.trials import Key, Ndx, Scores

# What `apply` of a calibration is: LLRs in the shape of the scores.
Map = Callable[[npt.ArrayLike], object]

logger = logging.getLogger(__name__)


def train_linear_calibration(
    tar: npt.ArrayLike, non: npt.ArrayLike, prior: float, obj_func: object, niters: int, quiet: bool
) -> tuple[Map, float, Float64Array]:
    """Train scale and offset: the map itself, the objective, and [scale, offset].

    Toolkit: train_linear_calibration.m; native: `LinearCalibration.fit` with ``ridge=0``; differs:
    exact optimum; the map keeps the shape of its scores.

    Examples
    --------
    >>> f, nxe, w = train_linear_calibration([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], 0.5, [], 100, True)
    >>> w.round(3).tolist(), float(f(2.0).round(3))
    ([1.977, -2.299], 1.656)
    """
    fit = given.trainer(LinearCalibration.fit, prior, obj_func, niters)(flat(tar), flat(non))
    return fit.apply, fit.objective_value, mark_read_only(np.array([fit.scale, fit.offset]))


def linear_calibrate_scores(
    scr: Scores, key: Key, obj_func: object, niters: int, prior: float, addzeros: bool
) -> Scores:
    """Calibrate scores by a linear map that is trained on themselves.

    Toolkit: linear_calibrate_scores.m; native: `LinearCalibration`; differs: exact optimum.
    """
    fit = _fit_linear(scr, key, prior, obj_func, niters)
    return _calibrated(fit, scr, key, prior, addzeros)


def linear_calibrate_scores_dev_eval(
    scr_dev: Scores,
    scr_eval: Scores,
    key_dev: Key,
    ndx_eval: Ndx,
    obj_func: object,
    niters: int,
    prior: float,
    addzeros: bool,
) -> tuple[Scores, Scores]:
    """Calibrate dev and eval scores by a linear map that is trained on dev.

    Toolkit: linear_calibrate_scores_dev_eval.m; native: `LinearCalibration`; differs: exact
    optimum.
    """
    require("ndx_eval", ndx_eval, Ndx)
    fit = _fit_linear(scr_dev, key_dev, prior, obj_func, niters)
    dev = _calibrated(fit, scr_dev, key_dev, prior, addzeros)
    return dev, _calibrated(fit, scr_eval, ndx_eval, prior, addzeros)


def linear_calibrate_scores_from_files(
    keyfilename: FilePath,
    scorefilename: FilePath,
    outfilename: FilePath,
    obj_func: object,
    niters: int,
    prior: float,
    addzeros: bool,
) -> None:
    """Calibrate the scores in a file by a linear map that is trained on themselves.

    Toolkit: linear_calibrate_scores_from_files.m; native: ``Scores.read``; differs: exact optimum.
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
    obj_func: object,
    niters: int,
    prior: float,
    addzeros: bool,
) -> None:
    """Calibrate the dev and eval scores in files by a linear map that is trained on dev.

    Toolkit: linear_calibrate_scores_dev_eval_from_files.m; native: none; differs: exact optimum.
    """
    scores = Scores.read(dev_scorefilename), Scores.read(eval_scorefilename)
    trials = Key.read(dev_keyfilename), Ndx.read(eval_ndxfilename)
    calibrated = linear_calibrate_scores_dev_eval(
        *scores, *trials, obj_func, niters, prior, addzeros
    )
    given.save_all(calibrated, (dev_outfilename, eval_outfilename))


def pav_calibration(
    tar: npt.ArrayLike, non: npt.ArrayLike, small_val: float
) -> tuple[Map, Float64Array, Float64Array]:
    """Train a rising map by PAV: the map itself, its score bounds, its LLR bounds.

    Toolkit: pav_calibration.m; native: `PAVCalibration.fit`; differs: the map goes on beyond its
    bounds, where the toolkit's is an error. The two dummies that keep LLRs finite are at +-1e6 as
    there, or at the outermost training score if that is beyond.

    Examples
    --------
    >>> pav_trans, score_bounds, llr_bounds = pav_calibration([1.0, 2.0], [0.0, 1.5], 0.0)
    >>> score_bounds.tolist(), llr_bounds.tolist()
    ([-1000000.0, 1000000.0], [0.0, 0.0])
    """
    fit = PAVCalibration.fit(flat(tar), flat(non), score_offset=small_val)
    return fit.apply, fit.score_bounds, fit.llr_bounds


def pav_calibrate_scores(
    scr: Scores, key: Key, prior: float, score_offset: float, addzeros: bool
) -> Scores:
    """Calibrate scores by a PAV map that is trained on themselves.

    Toolkit: pav_calibrate_scores.m; native: `PAVCalibration`; differs: nothing. The prior matters
    for the logged figures only.
    """
    return _calibrated(_fit_pav(scr, key, score_offset), scr, key, prior, addzeros)


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

    Toolkit: pav_calibrate_scores_dev_eval.m; native: as `pav_calibrate_scores`; differs: nothing.
    """
    require("ndx_eval", ndx_eval, Ndx)
    fit = _fit_pav(scr_dev, key_dev, score_offset)
    dev = _calibrated(fit, scr_dev, key_dev, prior, addzeros)
    return dev, _calibrated(fit, scr_eval, ndx_eval, prior, addzeros)


def _fit_linear(
    scr: Scores, key: Key, prior: float, obj_func: object, niters: int
) -> LinearCalibration:
    logger.info("training calibration")
    fit = given.trainer(LinearCalibration.fit_scores, prior, obj_func, niters)(scr, key)
    logger.info("weights: scaling %f, offset %f", fit.scale, fit.offset)
    return fit


def _fit_pav(scr: Scores, key: Key, score_offset: float) -> PAVCalibration:
    logger.info("training calibration")
    return PAVCalibration.fit_scores(scr, key, score_offset=score_offset)


def _calibrated(
    fit: LinearCalibration | PAVCalibration,
    scr: Scores,
    trials: Trials,
    prior: float,
    addzeros: bool,
) -> Scores:
    """Apply a calibration to trials; with a key, log how good it is."""
    logger.info("calibrating scores")
    calibrated: Scores = fit.apply(scr.align_with_ndx(trials))
    # The toolkit shows figures for the training scores only: the key of eval is not there.
    if isinstance(trials, Key):
        logger.info("displaying calibration results")
        # Not Results(scr, key), which would warn of missing trials again.
        masks = trials.tar & calibrated.scoremask, trials.non & calibrated.scoremask
        results = Results(*(calibrated.scoremat[mask] for mask in masks))
        act, least = results.get_norm_act_dcf(prior), results.get_norm_min_dcf(prior)
        nxe = f", nxe = {fit.objective_value:g}" if isinstance(fit, LinearCalibration) else ""
        figures = "norm_act_dcf = %g, norm_min_dcf = %g, prbep = %g%s"
        logger.info(figures, act, least, results.prbep, nxe)
    # After calibration 0 says that there is no evidence.
    return calibrated.set_missing_to_value(trials, 0.0) if addzeros else calibrated


def make_objective_function_from_name(name: str) -> str:
    """Return the objective of a name: "cllr", "brier" or "boost", in any case.

    Toolkit: make_objective_function_from_name.m; native: the argument `objective`; differs: what is
    returned is the name in small letters; `evaluate_objective` evaluates it.
    """
    objective = objective_name(name).lower()
    if objective not in OBJECTIVES:
        raise InvalidInputError('name must be "cllr" or "brier" or "boost"')
    return objective


def evaluate_objective(
    objective: object, scores: npt.ArrayLike, classf: npt.ArrayLike, prior: float
) -> float:
    """Evaluate log-likelihood-ratios by a training objective; 1 is reached without a detector.

    Toolkit: evaluate_objective.m; native: `numerics.scoring.evaluate_objective`; differs:
    labels of 0 are allowed, and such trials do not count.

    Examples
    --------
    >>> evaluate_objective("cllr", [0.0, 0.0, 0.0], [1, -1, -1], 0.5)
    1.0
    """
    # Labels split the scores of any number of systems; here there is one.
    tar, non = given.split_by_label(given.as_vector(scores, "scores")[np.newaxis], classf)
    rule = objective_name(objective)
    return native.evaluate_objective(tar[0], non[0], prior=prior, objective=rule)


def test_binary_classifier(
    objective: object,
    classf: npt.ArrayLike,
    prior: float,
    system: Callable[[object], npt.ArrayLike],
    input_data: object,
) -> float:
    """Apply a trained map to scores, and evaluate what comes out by a training objective.

    Toolkit: test_binary_classifier.m; native: none; differs: nothing.
    """
    return evaluate_objective(objective, system(input_data), classf, prior)


# Not for pytest, which would collect it wherever everything is imported from here.
test_binary_classifier.__test__ = False  # type: ignore[attr-defined]
