"""The toolkit's statistics, calibration and training objectives, and analyses of systems.

"Exact optimum" in what differs: `niters` and `quiet` have no effect.
"""

# ruff: noqa: FBT001, FBT002 -- flags are positional as in the toolkit
from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import numpy as np
import scipy

import bosaris_py.numerics.scoring as native
from bosaris_py import _arrays as arrays, _validation as check, errors, metrics
from bosaris_py._arrays import Answer, ArrayLike, BoolArray, FilePath, FloatArray, IntArray
from bosaris_py.calibration import LinearCalibration, PAVCalibration
from bosaris_py.matlab import arguments as given
from bosaris_py.matlab.arguments import Systems, Trials, as_vector, flat, require
from bosaris_py.matlab.classes import Figures, Results, sprintfmatrix
from bosaris_py.numerics import ROC, probit
from bosaris_py.numerics.priors import DecisionCosts, sigmoid
from bosaris_py.numerics.scoring import OBJECTIVES, resolve_prior
from bosaris_py.trials import Key, Ndx, Scores
from bosaris_py.trials.scores import joined_scores, stack_scores

# Pmiss and Pfa, or what is of targets and of non-targets.
Pair = tuple[FloatArray, FloatArray]

# What `apply` of a calibration is: LLRs in the shape of the scores.
Map = Callable[[ArrayLike], ArrayLike]

# What the toolkit adds to the optimal LLR for each rank, over the number of trials.
_RANK_STEP = 1e-6

# Share of targets that the toolkit assumes of trials without a key.
_ASSUMED_PRIOR = 0.08

logger = logging.getLogger(__name__)


def eer(tar: ArrayLike, non: ArrayLike) -> float:
    """Compute the equal error rate on the convex hull, a fraction.

    `tar` and `non` are vectors of scores: of one dimension, one row or one column, in any order.
    Returns a float from 0 to 0.5, not per cent.

    Toolkit: eer.m; native: `bosaris_py.eer`; differs: nothing.
    """
    return metrics.eer(flat(tar), flat(non))


def prbep(tar: ArrayLike, non: ArrayLike) -> float:
    """Compute the precision-recall break-even point, a number of errors.

    Toolkit: prbep.m; native: `bosaris_py.prbep`; differs: nothing.
    """
    return metrics.prbep(flat(tar), flat(non))


def cllr(tar: ArrayLike, non: ArrayLike) -> float:
    """Compute Cllr in bits.

    `tar` and `non` are vectors of LLRs, natural logarithms: of one dimension, one row or one
    column. Returns a float; 1 is that of a system that tells nothing.

    Toolkit: cllr.m; native: `bosaris_py.cllr`; differs: refuses empty classes and NaN.
    """
    return metrics.cllr(flat(tar), flat(non))


def neglogsigmoid(log_odds: ArrayLike) -> Answer:
    """Compute -log(sigmoid(x)) = log(1 + exp(-x)).

    Toolkit: neglogsigmoid.m; native: none; differs: for x above 37 the value is exp(-x), where the
    toolkit rounds it to 0. That of NaN is NaN, as in the toolkit.
    """
    # numpy warns of NaN, which passes through.
    with np.errstate(invalid="ignore"):
        return np.logaddexp(0.0, -np.asarray(log_odds, dtype=np.float64))[()]


def fast_actDCF(
    tar: ArrayLike, non: ArrayLike, plo: ArrayLike, normalize: bool = False
) -> tuple[Figures, Figures, Figures]:
    """Compute the actual DCF, Pmiss and Pfa at ascending prior log-odds.

    `tar` and `non` are vectors of LLRs. `plo` is a number or a vector of logits, in ascending
    order: ``logit(0.01)``, not 0.01. Returns three results; each is a number for a number, and
    otherwise has shape (n,) for n prior log-odds. The threshold is -plo. Costs are not divided by
    those of a system that tells nothing unless `normalize` is true.

    Toolkit: fast_actDCF.m; native: `act_dcf`, which takes priors in any order and normalizes by
    default; differs: repeated values of `plo` give repeated results, where the toolkit's Pmiss
    becomes negative.

    Examples
    --------
    >>> dcf, pmiss, pfa = fast_actDCF([1.0, 2.0], [0.0, 1.0], [0.0, 0.0])
    >>> pmiss.tolist(), pfa.tolist()
    ([0.0, 0.0], [1.0, 1.0])
    """
    # The toolkit sorts thresholds and scores together, so it asks for ascending prior log-odds.
    if (np.diff(np.ravel(plo)) < 0).any():
        raise errors.InvalidInputError("Parameter plo must be in ascending order.")
    costs = DecisionCosts.from_plo(flat(plo))
    # At the Bayes threshold -plo: theory paper, equations (13) and (17).
    pmiss, pfa = Results(tar, non).error_rates_at(costs.thresholds)
    # At infinite prior log-odds the normalized cost is 0/0, NaN as in the toolkit.
    with np.errstate(invalid="ignore"):
        return costs.cost(pmiss, pfa, normalize=normalize), pmiss, pfa


def fast_minDCF(
    tar: ArrayLike, non: ArrayLike, plo: ArrayLike, normalize: bool = False
) -> tuple[Figures, Figures, Figures, float, float]:
    """Compute the minimum DCF, its Pmiss and Pfa, the PRBEP and the EER at prior log-odds.

    `tar` and `non` are vectors of scores. `plo` is a number or a vector of logits, in any order:
    ``logit(0.01)``, not 0.01. Always returns five results. The first three are numbers for a
    number, and otherwise have shape (n,) for n prior log-odds; PRBEP and EER are floats. Costs are
    not divided by those of a system that tells nothing unless `normalize` is true.

    Toolkit: fast_minDCF.m; native: `min_dcf`, which takes priors and normalizes by default, and
    `Results`; differs: the minimum DCF is no column, but has the shape of Pmiss and Pfa.

    Examples
    --------
    >>> min_dcf, pmiss, pfa, prbep, eer = fast_minDCF([1.0, 3.0], [0.0, 2.0], 0.0)
    >>> float(min_dcf), float(pmiss), float(pfa), prbep, eer
    (0.25, 0.0, 0.5, 0.5, 0.25)
    """
    costs, hull = DecisionCosts.from_plo(flat(plo)), Results(tar, non).rocch
    # The minimum lies on a vertex of the hull: theory paper, equation (25).
    best = hull.best_vertices(costs)
    pmiss, pfa = hull.pmiss[best], hull.pfa[best]
    with np.errstate(invalid="ignore"):
        dcf = costs.cost(pmiss, pfa, normalize=normalize)
    return dcf, pmiss, pfa, hull.prbep, hull.eer


def fastEval(
    tar: ArrayLike, non: ArrayLike, prior: ArrayLike
) -> tuple[Figures, Figures, float, float]:
    """Compute normalized actual and minimum DCF at a prior, PRBEP, and EER.

    `tar` and `non` are vectors of LLRs; `prior` is a probability, or a vector of n. Returns four
    results: the costs are numbers or have shape (n,), PRBEP and EER are floats.

    Toolkit: fastEval.m; native: `Results`; differs: priors need not ascend.
    """
    results, costs = Results(tar, non), DecisionCosts.from_prior(flat(prior))
    return results.act_dcf(costs), results.min_dcf(costs), results.prbep, results.eer


def dcf_at_threshold(
    tar: ArrayLike, non: ArrayLike, prior: float, thresholds: ArrayLike, normalize: bool = False
) -> Figures:
    """Compute the DCF at thresholds that do not follow from the prior.

    Toolkit: dcf_at_threshold.m; native: `error_rates_at`; differs: nothing.
    """
    # An array of thresholds needs one prior; the native functions take arrays of priors.
    costs = DecisionCosts.from_prior(check.check_fraction(prior, "prior"))
    pmiss, pfa = Results(tar, non).error_rates_at(flat(thresholds))
    return costs.cost(pmiss, pfa, normalize=normalize)


def compute_roc(true_scores: ArrayLike, false_scores: ArrayLike) -> Pair:
    """Compute Pmiss and Pfa after each score, with ties not merged.

    Toolkit: compute_roc.m; native: `ROC`, which makes one slanted step of equal scores; differs:
    nothing. Of equal scores the targets come first.

    Examples
    --------
    >>> pmiss, pfa = compute_roc([1.0], [1.0])
    >>> pmiss.tolist(), pfa.tolist()
    ([0.0, 1.0, 1.0], [1.0, 1.0, 0.0])
    """
    # Pmiss is the share of targets up to each score, Pfa that of non-targets beyond it.
    order, n_tar, n_non = _ranked(true_scores, false_scores)
    is_target = order < n_tar
    pmiss = np.append(0.0, np.cumsum(is_target) / n_tar)
    return pmiss, np.append(1.0, 1.0 - np.cumsum(~is_target) / n_non)


def _ranked(tar: ArrayLike, non: ArrayLike) -> tuple[IntArray, int, int]:
    """Return the ascending order of all scores, targets before equal non-targets."""
    targets, others = as_vector(tar, "tar"), as_vector(non, "non")
    check.refuse_labels(targets, others)
    check.check_not_empty(targets, "tar")
    check.check_not_empty(others, "non")
    return np.argsort(np.append(targets, others), kind="stable"), targets.size, others.size


def filter_roc(pm: ArrayLike, pfa: ArrayLike) -> Pair:
    """Drop the points inside horizontal and vertical runs of a staircase.

    Toolkit: filter_roc.m; native: `ROC.pmiss` and `ROC.pfa` hold no others; differs: nothing.
    """
    miss, alarm = (rates.tolist() for rates in _curve(pm, pfa))
    kept = [0]
    for i, point in enumerate(zip(miss, alarm, strict=True)):
        # A corner is the last point before both rates have changed.
        if point[0] != miss[kept[-1]] and point[1] != alarm[kept[-1]]:
            kept.append(max(i - 1, kept[-1] + 1))
    kept += [len(miss) - 1] * (kept[-1] < len(miss) - 1)
    return np.take(miss, kept), np.take(alarm, kept)


def _curve(pmiss: ArrayLike, pfa: ArrayLike) -> Pair:
    """Return the vertices of a curve, whose Pmiss rises and whose Pfa falls."""
    miss, alarm = (
        np.asarray(rates, float) for rates in (as_vector(pmiss, "pmiss"), as_vector(pfa, "pfa"))
    )
    check.check_not_empty(miss, "pmiss")
    check.check_shape(alarm, miss.shape, "pfa", "of `pmiss`")
    if (np.diff(miss) < 0).any() or (np.diff(alarm) > 0).any():
        got = f"{check.describe(miss)}, and `pfa` {check.describe(alarm)}"
        hint = "Are `pmiss` and `pfa` swapped?"
        raise check.invalid("pmiss", "not decrease, and `pfa` not increase", got, hint)
    return miss, alarm


def rocch(tar_scores: ArrayLike, nontar_scores: ArrayLike) -> Pair:
    """Compute the vertices of the ROC's convex hull: Pmiss, Pfa.

    Takes vectors of scores. Returns two arrays of shape (n_vertices,), fractions: Pmiss ascends
    from 0 to 1, Pfa descends from 1 to 0.

    Toolkit: rocch.m; native: `ROC.convex_hull`; differs: has no superfluous vertices on straight
    edges, which the toolkit's rounding leaves there.

    Examples
    --------
    >>> pmiss, pfa = rocch([1.0, 3.0], [0.0, 2.0])
    >>> pmiss.tolist(), pfa.tolist()
    ([0.0, 0.0, 0.5, 1.0], [1.0, 0.5, 0.0, 0.0])
    >>> rocch2eer(pmiss, pfa), area_under_rocch(pmiss, pfa)
    (0.25, 0.125)
    """
    hull = Results(tar_scores, nontar_scores).rocch
    return hull.pmiss, hull.pfa


def rocch2eer(pmiss: ArrayLike, pfa: ArrayLike) -> float:
    """Compute the EER from the vertices of a convex hull, or the PRBEP if they are counts.

    `pmiss`, which must not decrease, and `pfa`, which must not increase, are vectors of one length,
    such as those of `rocch`; counts are rates times numbers of trials. Returns a float.

    Toolkit: rocch2eer.m; native: `ROCCH.eer` and `ROCCH.prbep`; differs: nothing.
    """
    miss, alarm = _curve(pmiss, pfa)
    rise, fall = np.diff(miss), -np.diff(alarm)
    slanted = (rise > 0) & (fall > 0)
    # Where the line through both ends of an edge has equal coordinates. The hull is convex, so the
    # largest of them is the point with Pmiss = Pfa: theory paper, equation (26) for rates, (29)
    # for counts.
    crossings = (miss[1:] * alarm[:-1] - miss[:-1] * alarm[1:])[slanted] / (rise + fall)[slanted]
    return float(crossings.max(initial=0.0))


def area_under_rocch(pmiss: ArrayLike, pfa: ArrayLike) -> float:
    """Compute the area under Pfa over Pmiss: 0 for perfect, 0.5 for useless scores.

    Toolkit: area_under_rocch.m; native: none (`auc` is the other area, under the ROC itself);
    differs: refuses a Pfa that increases, which the toolkit means to do.
    """
    miss, alarm = _curve(pmiss, pfa)
    # Exact, because the edges of the hull are straight.
    return float(np.trapezoid(alarm, miss))


def rocchdet(
    tar: ArrayLike,
    non: ArrayLike,
    dcfweights: ArrayLike | None = None,
    pfa_min: float = 0.0005,
    pfa_max: float = 0.5,
    pmiss_min: float = 0.0005,
    pmiss_max: float = 0.5,
    dps: int = 100,
) -> tuple[FloatArray, FloatArray, float, float | None]:
    """Sample the convex hull for a DET plot: x, y in probits, EER, minimum of a weighted cost.

    Toolkit: rocchdet.m; native: `DETPlot.plot_rocch_det`, which spaces its points better; differs:
    no superfluous vertices; tiny Pfa keep full precision in their probits.

    Examples
    --------
    >>> x, y, eer, cost = rocchdet([1.0, 3.0], [0.0, 2.0], [0.5, 0.5], dps=4)
    >>> x.size, eer, cost
    (5, 0.25, 0.25)
    """
    if not (0.0 < pfa_min < pfa_max < 1.0 and 0.0 < pmiss_min < pmiss_max < 1.0):
        got = f"{pfa_min} and {pfa_max}, {pmiss_min} and {pmiss_max}"
        raise check.invalid("limits", "be probabilities with 0 < lower < upper < 1", got)
    hull = Results(tar, non).rocch
    slanted = (np.diff(hull.pfa) < 0.0) & (np.diff(hull.pmiss) > 0.0)
    (pfa_1, pmiss_1), (pfa_2, pmiss_2) = (
        (hull.pfa[ends][slanted], hull.pmiss[ends][slanted]) for ends in (np.s_[:-1], np.s_[1:])
    )
    slope = (pfa_2 - pfa_1) / (pmiss_2 - pmiss_1)
    # Where each edge enters and leaves the window; its Pfa falls from end to end.
    at_bottom = pfa_1 + (np.maximum(pmiss_min, pmiss_1) - pmiss_1) * slope
    at_top = pfa_1 + (np.minimum(pmiss_max, pmiss_2) - pmiss_1) * slope
    first = np.minimum(np.minimum(pfa_1, pfa_max), at_bottom)
    last = np.maximum(np.maximum(pfa_2, pfa_min), at_top)
    pfa = np.linspace(first, last, given.as_whole(dps, "dps", 1) + 1)
    pmiss = pmiss_1 + (pfa - pfa_1) / slope
    x, y = (probit(rates[:, first >= last].T.ravel()) for rates in (pfa, pmiss))
    cost = None
    if dcfweights is not None and np.size(dcfweights):
        price_miss, price_fa = as_vector(dcfweights, "dcfweights")
        cost = float((price_miss * hull.pmiss + price_fa * hull.pfa).min())
    return x, y, hull.eer, cost


def pavx(y: ArrayLike) -> tuple[FloatArray, IntArray, FloatArray]:
    """Fit a rising sequence by least squares: fitted values, widths and heights of its steps.

    Toolkit: pavx.m; native: `optimal_llrs`, which pools trials by score; differs: exact for labels
    0 and 1, so two steps never have the same height. For other numbers steps whose means are equal
    but for rounding may be cut elsewhere; the fitted values agree.

    Examples
    --------
    >>> fitted, width, height = pavx([1, 0, 1])
    >>> fitted.tolist(), width.tolist(), height.tolist()
    ([0.5, 0.5, 1.0], [2, 1], [0.5, 1.0])
    """
    values = as_vector(y, "y").astype(np.float64)
    check.check_not_empty(values, "y")
    if np.isin(values, (0.0, 1.0)).all() and 0.0 < values.sum() < values.size:
        # PAV and the convex hull of the ROC are one thing (theory paper, section 3.2): with the
        # positions as scores the steps are the edges of the hull, and their counts are exact.
        ones, zeros = np.flatnonzero(values), np.flatnonzero(values == 0.0)
        hull = ROC.from_scores(ones, zeros).convex_hull()
        rise = np.diff(hull.misses)
        width = rise - np.diff(hull.false_alarms)
        height = rise / width
    else:
        fit = scipy.optimize.isotonic_regression(values)
        width = np.diff(fit.blocks).astype(np.int64)
        height = fit.x[fit.blocks[:-1]]
    return np.repeat(height, width), width, height


def opt_loglr(tar_scores: ArrayLike, nontar_scores: ArrayLike, option: str = "laplace") -> Pair:
    """Replace scores by their optimal log-likelihood-ratios: those of targets, of non-targets.

    Toolkit: opt_loglr.m; native: `optimal_llrs`, without what follows; differs: refuses unknown
    options. "laplace" adds a target and a non-target at either end, so that all values are finite;
    "raw" does not. Ranks, times 1e-6 over the number of trials, keep different scores different.

    Examples
    --------
    >>> tar, non = opt_loglr([1.0, 3.0], [0.0, 2.0], "raw")
    >>> tar.round(5).tolist(), non.round(5).tolist()
    ([0.0, inf], [-inf, 0.0])
    """
    check.check_choice(option, ("laplace", "raw"), "option")
    order, n_tar, n_non = _ranked(tar_scores, nontar_scores)
    scores = np.concatenate((np.ravel(tar_scores), np.ravel(nontar_scores)))
    if option == "laplace":
        # Only the order matters, so ranks leave room for scores beyond the outermost.
        ranks = np.unique(scores, return_inverse=True)[1].astype(np.float64)
        top = ranks.max()
        tar_llrs, non_llrs = metrics.optimal_llrs(
            np.append(ranks[:n_tar], (-2.0, top + 1.0)), np.append(ranks[n_tar:], (-1.0, top + 2.0))
        )
        # The posteriors are those of the larger set, their prior is that of the original one.
        prior_change = np.log((n_tar + 2) / (n_non + 2)) - np.log(n_tar / n_non)
        llrs = np.concatenate((tar_llrs[:-2], non_llrs[:-2])) + prior_change
    else:
        llrs = np.concatenate(metrics.optimal_llrs(scores[:n_tar], scores[n_tar:]))
    # In the order of all scores, so that equal optimal LLRs keep the order of their scores.
    llrs[order] += np.arange(1, order.size + 1) * (_RANK_STEP / order.size)
    return arrays.mark_read_only(llrs[:n_tar]), arrays.mark_read_only(llrs[n_tar:])


def min_cllr(tar_scores: ArrayLike, nontar_scores: ArrayLike) -> float:
    """Compute the Cllr of the optimal log-likelihood-ratios, in bits.

    Takes vectors of scores, which need not be LLRs: of one dimension, one row or one column.
    Returns a float.

    Toolkit: min_cllr.m; native: `bosaris_py.min_cllr`, without what `opt_loglr` adds for ranks;
    differs: refuses empty classes. That addition moves the result by up to 1e-6.
    """
    return cllr(*opt_loglr(tar_scores, nontar_scores, "raw"))


# ---- Calibration and training objectives


def train_linear_calibration(
    tar: ArrayLike, non: ArrayLike, prior: float, obj_func: object, niters: int, quiet: bool
) -> tuple[Map, float, FloatArray]:
    """Train scale and offset: the map itself, the objective, and [scale, offset].

    `tar` and `non` are vectors of scores; `prior` is a probability; `obj_func` is [] for Cllr, or
    "cllr", "brier" or "boost". `niters` and `quiet` have no effect. Always returns three results:
    ``f(scores)`` maps scores of any shape to LLRs of that shape, ``nxe`` is a float, the objective
    at the optimum, and ``w`` has shape (2,): ``f(scores)`` is ``w[0] * scores + w[1]``.

    Toolkit: train_linear_calibration.m; native: `LinearCalibration.fit` with ``ridge=0``; differs:
    exact optimum, where the toolkit's optimiser stops early; its f returns a column.

    Examples
    --------
    >>> f, nxe, w = train_linear_calibration([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], 0.5, [], 100, True)
    >>> w.round(3).tolist(), float(f(2.0).round(3))
    ([1.977, -2.299], 1.656)
    """
    fit = given.trainer(LinearCalibration.fit, prior, obj_func, niters)(flat(tar), flat(non))
    return fit.apply, fit.objective_value, arrays.mark_read_only(np.array([fit.scale, fit.offset]))


def linear_calibrate_scores(
    scr: Scores, key: Key, obj_func: object, niters: int, prior: float, addzeros: bool
) -> Scores:
    """Calibrate scores by a linear map that is trained on themselves.

    `prior` is a probability; `obj_func` is [] for Cllr, or "cllr", "brier" or "boost"; `niters` has
    no effect. Returns Scores with the ids and trials of `key`. Trials without a score stay without;
    if `addzeros` is true, their LLR is 0. Figures of these LLRs are too good, which is warned of.

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
    calibrated = linear_calibrate_scores(scr, key, obj_func, niters, prior, addzeros)
    given.save_all([calibrated], [outfilename], keyfilename, scorefilename)


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
    mapped = linear_calibrate_scores_dev_eval(*scores, *trials, obj_func, niters, prior, addzeros)
    read = dev_keyfilename, eval_ndxfilename, dev_scorefilename, eval_scorefilename
    given.save_all(mapped, (dev_outfilename, eval_outfilename), *read)


def pav_calibration(
    tar: ArrayLike, non: ArrayLike, small_val: float
) -> tuple[Map, FloatArray, FloatArray]:
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
        results = Results(*joined_scores(calibrated, trials)[:2])
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
    objective = str(name).lower()
    if objective not in OBJECTIVES:
        raise errors.InvalidInputError('name must be "cllr" or "brier" or "boost"')
    return objective


def evaluate_objective(
    objective: object, scores: ArrayLike, classf: ArrayLike, prior: float
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
    rule = given.objective_name(objective)
    return native.evaluate_objective(tar[0], non[0], prior=prior, objective=rule)


def test_binary_classifier(
    objective: object, classf: ArrayLike, prior: float, system: Map, input_data: ArrayLike
) -> float:
    """Apply a trained map to scores, and evaluate what comes out by a training objective.

    Toolkit: test_binary_classifier.m; native: none; differs: nothing.
    """
    return evaluate_objective(objective, system(input_data), classf, prior)


# Not for pytest, which would collect it wherever everything is imported from here.
test_binary_classifier.__test__ = False  # type: ignore[attr-defined]


# ---- Analyses of systems and of their fusions


def estimate_target_proportions(llrs: ArrayLike, prior: float) -> FloatArray:
    """Return the mean posterior of a target of each system; `llrs` is (n_systems, n_trials).

    Toolkit: estimate_target_proportions.m; native: none; differs: nothing. If scores are calibrated
    and the prior is the true share of targets, that share is what to expect.
    """
    return np.asarray(np.mean(sigmoid(_log_odds(llrs, prior)), axis=1))


def kldivergence_of_systems(scores: ArrayLike, prior: float, key: Key | None = None) -> FloatArray:
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


def evalAll(scores: ArrayLike, key: Key, prior: float) -> FloatArray:
    """Compute 100 times normalized actual and minimum DCF, and the PRBEP, of each system.

    Toolkit: evalAll.m; native: none; differs: nothing. Columns of `scores` are the trials of the
    key, column by column.
    """
    matrix = given.as_matrix(scores, "scores")
    is_target = _labels(matrix, key)
    rows = [fastEval(row[is_target], row[~is_target], prior)[:3] for row in matrix]
    return np.array(rows) * (100.0, 100.0, 1.0)


def analyse_dev_lin_fusion(
    key: Key, scores_obj_array: Systems, scr_lin: Scores, prior: float
) -> None:
    """Compare subsystems with their linear fusion on dev.

    Toolkit: analyse_dev_lin_fusion.m; native: none; differs: nothing is printed unless logging
    shows level INFO.
    """
    _analyse_dev(key, scores_obj_array, [scr_lin], prior)


def analyse_dev_lin_and_qual_fusion(
    key: Key, scores_obj_array: Systems, scr_lin: Scores, scr_qual: Scores, prior: float
) -> None:
    """Compare subsystems with their fusions without and with quality measures on dev.

    Toolkit: analyse_dev_lin_and_qual_fusion.m; native: none; differs: as `analyse_dev_lin_fusion`.
    """
    _analyse_dev(key, scores_obj_array, [scr_lin, scr_qual], prior)


def _analyse_dev(key: Key, systems: Systems, fused: list[Scores], prior: float) -> None:
    """Log the figures of systems and of their fusions."""
    stack = _with(systems, fused, key)
    share, n_systems = key.n_tar / key.n_trials, len(stack) - len(fused)
    # With the true proportion for prior, a calibrated system finds it.
    shares = _table(100.0 * estimate_target_proportions(stack, share))
    heading = f"True Dev target proportion is {100.0 * share:g}%. System estimates are:"
    logger.info("%s\n%s", heading, shares)
    logger.info("Analysing Dev: %i subsystems and %i fusions:", n_systems, len(fused))
    table = _table(evalAll(stack, key, prior), range(1, len(stack) + 1))
    logger.info("Dev all: dcf*100, mindcf*100, prbep:\n%s", table)


def _with(systems: Systems, fused: list[Scores], trials: Trials) -> FloatArray:
    """Return the scores of systems and of their fusions, one in each row."""
    return np.concatenate((stack_scores(systems, trials), stack_scores(fused, trials)))


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
    dev, new = (dev_scores_obj_array, [dev_lin]), (eval_scores_obj_array, [eval_lin])
    _analyse_eval(_with(*dev, key_dev), _with(*new, ndx_eval), 1, key_dev)


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
    dev, new = (
        (dev_scores_obj_array, [dev_lin, dev_qual]),
        (eval_scores_obj_array, [eval_lin, eval_qual]),
    )
    _analyse_eval(_with(*dev, key_dev), _with(*new, ndx_eval), 2, key_dev)


def _analyse_eval(known: FloatArray, unknown: FloatArray, n_fused: int, key: Key) -> None:
    """Log the divergences of systems, the last of which are fusions, the linear one first."""
    if len(known) != len(unknown):
        expected = f"hold the {len(known) - n_fused} systems of `dev_scores_obj_array`"
        raise check.invalid("eval_scores_obj_array", expected, f"{len(unknown) - n_fused}")
    shares = estimate_target_proportions(unknown, _ASSUMED_PRIOR)
    logger.info("System Ptar estimates:\n%s", _table(100.0 * shares))
    # Without a key of eval the share of targets is what the linear fusion estimates.
    prior = float(shares[-n_fused])
    divergences = (
        kldivergence_of_systems(known, prior, key),
        kldivergence_of_systems(unknown, prior),
    )
    for part, found in zip(("Dev", "Eval"), divergences, strict=True):
        logger.info("%s score divergence:\n%s", part, _table(100.0 * found))


def _table(matrix: FloatArray, names: Sequence[object] | None = None) -> str:
    """Return a table without the end of its last line, which the logger adds."""
    return sprintfmatrix(matrix, names).removesuffix("\n")


def _log_odds(llrs: ArrayLike, prior: float) -> FloatArray:
    """Return the posterior log-odds of LLRs, (n_systems, n_trials)."""
    matrix = given.as_matrix(llrs, "llrs")
    check.check_not_empty(matrix, "llrs")
    return np.asarray(matrix + np.float64(resolve_prior(prior)[1]))


def _labels(scores: ArrayLike, key: Key) -> BoolArray:
    """Return which columns of `scores` are targets."""
    labels = require("key", key, Key).is_target
    if np.shape(scores)[1] != labels.size:
        expected = f"have one column for each of the {labels.size} trials of the key"
        raise check.invalid("scores", expected, f"shape {np.shape(scores)}")
    return labels


def _divergence(log_odds: FloatArray) -> FloatArray:
    """Return the mean divergence of each system (columns) from each (rows)."""
    # Rounding can leave a divergence just below zero.
    both = (_excess(one, log_odds) + _excess(-one, -log_odds) for one in log_odds)
    return np.array([np.maximum(found, 0.0).mean(axis=1) for found in both])


def _excess(log_odds: FloatArray, others: FloatArray) -> FloatArray:
    """Return p log(p / r), where `log_odds` belong to p and `others` to r."""
    p = sigmoid(log_odds)
    # Infinity less infinity means equal, and stands beside p = 0 only.
    with np.errstate(invalid="ignore"):
        excess = p * (np.logaddexp(0.0, -others) - np.logaddexp(0.0, -log_odds))
    return np.where(p > 0.0, excess, 0.0)
