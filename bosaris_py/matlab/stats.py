"""The toolkit's statistics: costs at priors, ROC and hull, PAV, divergences of systems; maths."""

# ruff: noqa: FBT001, FBT002 -- flags are positional as in the toolkit
from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy

from bosaris_py import _validation as check, metrics
from bosaris_py._arrays import BoolArray, Float64Array, IndexArray, IntArray, mark_read_only
from bosaris_py.errors import InvalidInputError
from bosaris_py.matlab.arguments import (
    Systems,
    Trials,
    as_list,
    as_matrix,
    as_vector,
    as_whole,
    flat,
    require,
)
from bosaris_py.matlab.classes import Figures, Results, sprintfmatrix
from bosaris_py.numerics import ROC, probit
from bosaris_py.numerics.priors import DecisionCosts, sigmoid
from bosaris_py.numerics.scoring import resolve_prior
from bosaris_py.trials import Key, Scores
from bosaris_py.trials.scores import stack_scores

# What the toolkit adds to the optimal LLR for each rank, over the number of trials.
_RANK_STEP = 1e-6

# Share of targets that the toolkit assumes of trials without a key.
_ASSUMED_PRIOR = 0.08

logger = logging.getLogger(__name__)


def eer(tar: npt.ArrayLike, non: npt.ArrayLike) -> float:
    """Compute the equal error rate on the convex hull, a fraction.

    Toolkit: eer.m; native: `bosaris_py.eer`; differs: nothing.
    """
    return metrics.eer(flat(tar), flat(non))


def prbep(tar: npt.ArrayLike, non: npt.ArrayLike) -> float:
    """Compute the precision-recall break-even point, a number of errors.

    Toolkit: prbep.m; native: `bosaris_py.prbep`; differs: nothing.
    """
    return metrics.prbep(flat(tar), flat(non))


def cllr(tar: npt.ArrayLike, non: npt.ArrayLike) -> float:
    """Compute Cllr in bits.

    Toolkit: cllr.m; native: `bosaris_py.cllr`; differs: refuses empty classes and NaN.
    """
    return metrics.cllr(flat(tar), flat(non))


def neglogsigmoid(log_odds: npt.ArrayLike) -> Figures:
    """Compute -log(sigmoid(x)) = log(1 + exp(-x)).

    Toolkit: neglogsigmoid.m; native: none; differs: for x above 37 the value is exp(-x), where the
    toolkit rounds it to 0. That of NaN is NaN, as in the toolkit.
    """
    # numpy warns of NaN, which passes through.
    with np.errstate(invalid="ignore"):
        value: Figures = np.logaddexp(0.0, -np.asarray(log_odds, dtype=np.float64))[()]
    return value


def fast_actDCF(
    tar: npt.ArrayLike, non: npt.ArrayLike, plo: npt.ArrayLike, normalize: bool = False
) -> tuple[Figures, Figures, Figures]:
    """Compute the actual DCF, Pmiss and Pfa at ascending prior log-odds.

    Toolkit: fast_actDCF.m; native: `act_dcf`, which takes priors in any order; differs: repeated
    values of `plo` give repeated results, where the toolkit's Pmiss becomes negative.

    Examples
    --------
    >>> dcf, pmiss, pfa = fast_actDCF([1.0, 2.0], [0.0, 1.0], [0.0, 0.0])
    >>> pmiss.tolist(), pfa.tolist()
    ([0.0, 0.0], [1.0, 1.0])
    """
    # The toolkit sorts thresholds and scores together, so it asks for ascending prior log-odds.
    costs = _costs(plo, ascending=True)
    # At the Bayes threshold -plo: theory paper, equations (13) and (17).
    pmiss, pfa = Results(tar, non).error_rates_at(costs.thresholds)
    return _cost(costs, pmiss, pfa, normalize=normalize), pmiss, pfa


def fast_minDCF(
    tar: npt.ArrayLike, non: npt.ArrayLike, plo: npt.ArrayLike, normalize: bool = False
) -> tuple[Figures, Figures, Figures, float, float]:
    """Compute the minimum DCF, its Pmiss and Pfa, the PRBEP and the EER at prior log-odds.

    Toolkit: fast_minDCF.m; native: `min_dcf` and `Results`; differs: the minimum DCF is no column,
    but has the shape of `plo`.

    Examples
    --------
    >>> min_dcf, pmiss, pfa, prbep, eer = fast_minDCF([1.0, 3.0], [0.0, 2.0], 0.0)
    >>> float(min_dcf), float(pmiss), float(pfa), prbep, eer
    (0.25, 0.0, 0.5, 0.5, 0.25)
    """
    costs = _costs(plo, ascending=False)
    hull = Results(tar, non).rocch
    # The minimum lies on a vertex of the hull: theory paper, equation (25).
    best = hull.best_vertices(costs)
    pmiss, pfa = hull.pmiss[best], hull.pfa[best]
    return _cost(costs, pmiss, pfa, normalize=normalize), pmiss, pfa, hull.prbep, hull.eer


def fastEval(
    tar: npt.ArrayLike, non: npt.ArrayLike, prior: npt.ArrayLike
) -> tuple[Figures, Figures, float, float]:
    """Compute normalized actual and minimum DCF at a prior, PRBEP, and EER.

    Toolkit: fastEval.m; native: `Results`; differs: priors need not ascend.
    """
    results = Results(tar, non)
    costs = DecisionCosts.from_prior(flat(prior))
    actual, minimum = (dcf(costs, normalize=True) for dcf in (results.act_dcf, results.min_dcf))
    return actual, minimum, results.prbep, results.eer


def dcf_at_threshold(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    prior: float,
    thresholds: npt.ArrayLike,
    normalize: bool = False,
) -> Figures:
    """Compute the DCF at thresholds that do not follow from the prior.

    Toolkit: dcf_at_threshold.m; native: `error_rates_at`; differs: nothing.
    """
    # An array of thresholds needs one prior; the native functions take arrays of priors.
    costs = DecisionCosts.from_prior(check.check_fraction(prior, "prior"))
    pmiss, pfa = Results(tar, non).error_rates_at(flat(thresholds))
    return costs.cost(pmiss, pfa, normalize=normalize)


def _costs(plo: npt.ArrayLike, *, ascending: bool) -> DecisionCosts:
    values = as_vector(np.atleast_1d(np.asarray(flat(plo))), "plo")
    if ascending and (np.diff(values) < 0).any():
        raise InvalidInputError("Parameter plo must be in ascending order.")
    return DecisionCosts.from_plo(values.reshape(np.shape(flat(plo))))


def _cost(
    costs: DecisionCosts, pmiss: Float64Array, pfa: Float64Array, *, normalize: bool
) -> Float64Array:
    # At infinite prior log-odds the normalized cost is 0/0, NaN as in the toolkit.
    with np.errstate(invalid="ignore"):
        return costs.cost(pmiss, pfa, normalize=normalize)


def compute_roc(
    true_scores: npt.ArrayLike, false_scores: npt.ArrayLike
) -> tuple[Float64Array, Float64Array]:
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
    pmiss, pfa = np.zeros(order.size + 1), np.ones(order.size + 1)
    pmiss[1:] = np.cumsum(is_target) / n_tar
    pfa[1:] = 1.0 - np.cumsum(~is_target) / n_non
    return pmiss, pfa


def _ranked(tar: npt.ArrayLike, non: npt.ArrayLike) -> tuple[IndexArray, int, int]:
    """Return the ascending order of all scores, targets before equal non-targets."""
    targets, others = as_vector(tar, "tar"), as_vector(non, "non")
    check.refuse_labels(targets, others)
    check.check_not_empty(targets, "tar")
    check.check_not_empty(others, "non")
    return np.argsort(np.append(targets, others), kind="stable"), targets.size, others.size


def filter_roc(pm: npt.ArrayLike, pfa: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Drop the points inside horizontal and vertical runs of a staircase.

    Toolkit: filter_roc.m; native: `ROC.pmiss` and `ROC.pfa` hold no others; differs: nothing.
    """
    miss, alarm = _curve(pm, pfa)
    # Where the run of equal values ends to which each point belongs. From corner to corner the
    # last point of the run is kept, or the next one where the run ends at once.
    ends = np.maximum(_run_ends(miss), _run_ends(alarm)).tolist()
    kept = [0]
    while (end := ends[kept[-1]]) < miss.size:
        kept.append(end - 1 if end - 1 > kept[-1] else end)
    if kept[-1] < miss.size - 1:
        kept.append(miss.size - 1)
    return miss[kept], alarm[kept]


def _run_ends(values: Float64Array) -> IndexArray:
    changes = np.append(np.flatnonzero(np.diff(values)) + 1, values.size)
    return changes[np.searchsorted(changes, np.arange(values.size), side="right")]


def _curve(pmiss: npt.ArrayLike, pfa: npt.ArrayLike) -> tuple[Float64Array, Float64Array]:
    """Return the vertices of a curve, whose Pmiss rises and whose Pfa falls."""
    miss = as_vector(pmiss, "pmiss").astype(np.float64)
    alarm = as_vector(pfa, "pfa").astype(np.float64)
    if miss.size != alarm.size or miss.size == 0:
        expected = f"have as many points as `pmiss`, {miss.size}, and at least one"
        raise check.invalid("pfa", expected, f"{alarm.size}")
    if not (np.diff(miss) >= 0).all():
        hint = "Are `pmiss` and `pfa` swapped?"
        raise check.invalid("pmiss", "not decrease", check.describe(miss), hint)
    if not (np.diff(alarm) <= 0).all():
        raise check.invalid("pfa", "not increase", check.describe(alarm))
    return miss, alarm


def rocch(
    tar_scores: npt.ArrayLike, nontar_scores: npt.ArrayLike
) -> tuple[Float64Array, Float64Array]:
    """Compute the vertices of the ROC's convex hull: Pmiss, Pfa.

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


def rocch2eer(pmiss: npt.ArrayLike, pfa: npt.ArrayLike) -> float:
    """Compute the EER from the vertices of a convex hull, or the PRBEP if they are counts.

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


def area_under_rocch(pmiss: npt.ArrayLike, pfa: npt.ArrayLike) -> float:
    """Compute the area under Pfa over Pmiss: 0 for perfect, 0.5 for useless scores.

    Toolkit: area_under_rocch.m; native: none (`auc` is the other area, under the ROC itself);
    differs: refuses a Pfa that increases, which the toolkit means to do.
    """
    miss, alarm = _curve(pmiss, pfa)
    # Exact, because the edges of the hull are straight.
    return float(np.trapezoid(alarm, miss))


def rocchdet(
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
    dcfweights: npt.ArrayLike | None = None,
    pfa_min: float = 0.0005,
    pfa_max: float = 0.5,
    pmiss_min: float = 0.0005,
    pmiss_max: float = 0.5,
    dps: int = 100,
) -> tuple[Float64Array, Float64Array, float, float | None]:
    """Sample the convex hull for a DET plot: x, y in probits, EER, minimum of a weighted cost.

    Toolkit: rocchdet.m; native: `DETPlot.plot_rocch_det`, which spaces its points better; differs:
    no superfluous vertices; tiny Pfa keep full precision in their probits.

    Examples
    --------
    >>> x, y, eer, cost = rocchdet([1.0, 3.0], [0.0, 2.0], [0.5, 0.5], dps=4)
    >>> x.size, eer, cost
    (5, 0.25, 0.25)
    """
    for low, high, name in ((pfa_min, pfa_max, "pfa"), (pmiss_min, pmiss_max, "pmiss")):
        if not 0.0 < low < high < 1.0:
            hint = "Percentages must be divided by 100."
            expected = "be two probabilities with 0 < lower < upper < 1"
            raise check.invalid(f"{name} limits", expected, f"{low} and {high}", hint)
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
    pfa = np.linspace(first, last, as_whole(dps, "dps", 1) + 1)
    pmiss = pmiss_1 + (pfa - pfa_1) / slope
    x, y = (probit(rates[:, first >= last].T.ravel()) for rates in (pfa, pmiss))
    cost = None
    if dcfweights is not None and np.size(dcfweights):
        weights = as_vector(dcfweights, "dcfweights")
        check.check_shape(weights, (2,), "dcfweights", "of pmiss and pfa")
        cost = float((weights[0] * hull.pmiss + weights[1] * hull.pfa).min())
    return x, y, hull.eer, cost


def pavx(y: npt.ArrayLike) -> tuple[Float64Array, IntArray, Float64Array]:
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
    if not np.isfinite(values).all():
        raise check.invalid("y", "be finite", check.describe(values))
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


def opt_loglr(
    tar_scores: npt.ArrayLike, nontar_scores: npt.ArrayLike, option: str = "laplace"
) -> tuple[Float64Array, Float64Array]:
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
    elif option == "raw":
        llrs = np.concatenate(metrics.optimal_llrs(scores[:n_tar], scores[n_tar:]))
    else:
        raise check.invalid("option", "be 'laplace' or 'raw'", check.describe(option))
    # In the order of all scores, so that equal optimal LLRs keep the order of their scores.
    llrs[order] += np.arange(1, order.size + 1) * (_RANK_STEP / order.size)
    return mark_read_only(llrs[:n_tar]), mark_read_only(llrs[n_tar:])


def min_cllr(tar_scores: npt.ArrayLike, nontar_scores: npt.ArrayLike) -> float:
    """Compute the Cllr of the optimal log-likelihood-ratios, in bits.

    Toolkit: min_cllr.m; native: `bosaris_py.min_cllr`, without what `opt_loglr` adds for ranks;
    differs: refuses empty classes. That addition moves the result by up to 1e-6.
    """
    return cllr(*opt_loglr(tar_scores, nontar_scores, "raw"))


# Analyses of systems and of their fusions


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
        raise check.invalid("eval_scores_obj_array", expected, f"{len(new) - n_fused}")
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
    check.check_not_empty(matrix, "llrs")
    return np.asarray(matrix + np.float64(resolve_prior(prior)[1]))


def _labels(scores: npt.ArrayLike, key: Key) -> BoolArray:
    """Return which columns of `scores` are targets."""
    labels = require("key", key, Key).is_target
    if np.shape(scores)[1] != labels.size:
        expected = f"have one column for each of the {labels.size} trials of the key"
        raise check.invalid("scores", expected, f"shape {np.shape(scores)}")
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
