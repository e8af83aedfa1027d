"""The toolkit's calibration functions; the order of their arguments is not always the same."""

# ruff: noqa: FBT001 -- flags are positional as in the toolkit

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, frozen
from bosaris_py.calibration import LinearCalibration, PAVCalibration
from bosaris_py.evaluation import Results
from bosaris_py.matlab._arguments import (
    check_iterations,
    require_key,
    require_ndx,
    require_scores,
    rule_name,
)
from bosaris_py.trials import Key, Ndx, Scores

__all__ = [
    "linear_calibrate_scores",
    "linear_calibrate_scores_dev_eval",
    "linear_calibrate_scores_dev_eval_from_files",
    "linear_calibrate_scores_from_files",
    "pav_calibrate_scores",
    "pav_calibrate_scores_dev_eval",
    "pav_calibration",
    "train_linear_calibration",
]

Vector = npt.NDArray[np.float64]
Calibration = LinearCalibration | PAVCalibration

logger = logging.getLogger(__name__)


def train_linear_calibration(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    prior: float,
    obj_func: Any,
    niters: int,
    quiet: bool,
) -> tuple[Callable[[npt.ArrayLike], Any], float, Vector]:
    """Train scale and offset: the map itself, the objective, and [scale, offset].

    Toolkit: train_linear_calibration.m; native: `LinearCalibration.fit`; differs: trains to the
    exact optimum whatever `niters`; the map keeps the shape of its scores; `quiet` has no effect.

    Examples
    --------
    >>> f, nxe, w = train_linear_calibration([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], 0.5, [], 100, True)
    >>> w.round(3).tolist(), float(f(2.0).round(3))
    ([1.977, -2.299], 1.656)
    """
    owner = "train_linear_calibration"
    check_iterations(niters, owner)
    del quiet
    fit = LinearCalibration.fit(tar, non, prior=prior, objective=rule_name(obj_func, owner))
    return fit.apply, fit.objective_value, frozen(np.array([fit.scale, fit.offset]))


def linear_calibrate_scores(
    scr: Scores, key: Key, obj_func: Any, niters: int, prior: float, addzeros: bool
) -> Scores:
    """Calibrate scores by a linear map that is trained on themselves.

    Toolkit: linear_calibrate_scores.m; native: `LinearCalibration.fit_scores` and ``apply``;
    differs: trains to the exact optimum whatever `niters`.
    """
    fit = _fit_linear(scr, key, obj_func, niters, prior, "linear_calibrate_scores")
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
    owner = "linear_calibrate_scores_dev_eval"
    require_ndx(ndx_eval, "ndx_eval", owner)
    require_scores(scr_eval, "scr_eval", owner)
    fit = _fit_linear(scr_dev, key_dev, obj_func, niters, prior, owner)
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
) -> tuple[Callable[[npt.ArrayLike], Any], Vector, Vector]:
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
    fit = _fit_pav(scr, key, score_offset, "pav_calibrate_scores")
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
    owner = "pav_calibrate_scores_dev_eval"
    require_ndx(ndx_eval, "ndx_eval", owner)
    require_scores(scr_eval, "scr_eval", owner)
    fit = _fit_pav(scr_dev, key_dev, score_offset, owner)
    return (
        _calibrated(fit, scr_dev, key_dev, addzeros=addzeros, prior=prior),
        _calibrated(fit, scr_eval, ndx_eval, addzeros=addzeros),
    )


def _fit_linear(
    scr: Scores, key: Key, obj_func: Any, niters: int, prior: float, owner: str
) -> LinearCalibration:
    require_scores(scr, "scr", owner)
    require_key(key, "key", owner)
    check_iterations(niters, owner)
    objective = rule_name(obj_func, owner)
    logger.info("training calibration")
    fit = LinearCalibration.fit_scores(scr, key, prior=prior, objective=objective)
    logger.info("weights: scaling %f, offset %f", fit.scale, fit.offset)
    return fit


def _fit_pav(scr: Scores, key: Key, score_offset: float, owner: str) -> PAVCalibration:
    require_scores(scr, "scr", owner)
    require_key(key, "key", owner)
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
