"""Every statistic of the toolkit's recorded outputs that the numerics layer computes.

Tolerance 1e-12 as stated in the oracle's README, unless said otherwise.
"""

from pathlib import Path

import numpy as np
import pytest

from bosaris_py.evaluation import Results
from bosaris_py.metrics import (
    act_dcf,
    auc,
    cllr,
    eer,
    error_rates_at,
    min_cllr,
    min_dcf,
    optimal_llrs,
    prbep,
)
from bosaris_py.numerics import ROC
from bosaris_py.numerics.priors import DecisionCosts

SETS = [
    "constant",
    "constant_shifted",
    "few_targets",
    "gauss",
    "integer",
    "inverted",
    "mini_1t_1n",
    "mini_1t_1n_inv",
    "mini_1t_2n",
    "mini_ordered",
    "mini_overlap",
    "mini_tie",
    "separated",
    "ties",
]
ATOL = 1e-12


@pytest.fixture(params=SETS)
def record(request: pytest.FixtureRequest, oracle: Path) -> dict[str, np.ndarray]:
    with np.load(oracle / f"stats_{request.param}.npz") as file:
        return {name: np.atleast_1d(file[name]) for name in file.files}


def _close(actual: object, expected: np.ndarray) -> None:
    np.testing.assert_allclose(np.atleast_1d(actual), expected, rtol=0, atol=ATOL)


def test_every_recorded_set_is_used(oracle: Path) -> None:
    recorded = {path.stem.removeprefix("stats_") for path in oracle.glob("stats_*.npz")}
    assert recorded == set(SETS)


def test_eer_and_prbep(record: dict[str, np.ndarray]) -> None:
    tar, non = record["tar"], record["non"]
    _close(eer(tar, non), record["eer"])
    _close(prbep(tar, non), record["prbep"])
    results = Results(tar, non)
    _close(results.eer, record["results_eer"])
    _close(results.prbep, record["results_prbep"])
    _close(results.eer, record["fmin_eer"])
    _close(results.prbep, record["fmin_prbep"])


def test_hull_is_the_same_curve(record: dict[str, np.ndarray]) -> None:
    """The toolkit may keep extra vertices on straight edges, so curves are compared."""
    hull = ROC.from_scores(record["tar"], record["non"]).convex_hull()
    pmiss, pfa = record["rocch_pmiss"], record["rocch_pfa"]
    ours = set(zip(hull.pmiss.tolist(), hull.pfa.tolist(), strict=True))
    assert ours <= {(p, f) for p, f in zip(pmiss.tolist(), pfa.tolist(), strict=True)} or all(
        np.min(np.abs(pmiss - p) + np.abs(pfa - f)) < ATOL for p, f in ours
    )
    # Along the hull pmiss - pfa rises strictly: a common parameter for both curves.
    _close(np.interp(pmiss - pfa, hull.pmiss - hull.pfa, hull.pmiss), pmiss)


def test_steppy_roc_holds_only_points_of_the_toolkit(record: dict[str, np.ndarray]) -> None:
    roc = ROC.from_scores(record["tar"], record["non"]).corners()
    distance = np.abs(record["roc_pmiss"][:, None] - roc.pmiss) + np.abs(
        record["roc_pfa"][:, None] - roc.pfa
    )
    assert distance.min(axis=0).max() < ATOL
    if not np.intersect1d(record["tar"], record["non"]).size:
        _close(roc.pmiss, record["filter_roc_pmiss"])
        _close(roc.pfa, record["filter_roc_pfa"])


def test_area(record: dict[str, np.ndarray]) -> None:
    """The toolkit's area lies under the hull; without violators it is 1 - AUC."""
    hull = ROC.from_scores(record["tar"], record["non"]).convex_hull()
    area = np.trapezoid(hull.pfa, hull.pmiss)
    _close(area, record["area_under_rocch"])
    assert auc(record["tar"], record["non"]) <= 1 - area + ATOL


def test_actual_dcf(record: dict[str, np.ndarray]) -> None:
    tar, non = record["tar"], record["non"]
    costs = DecisionCosts.from_plo(record["plo"])
    _close(act_dcf(tar, non, costs, normalize=False), record["act_dcf"])
    _close(act_dcf(tar, non, costs), record["act_dcf_norm"])
    pmiss, pfa = error_rates_at(tar, non, costs.thresholds)
    _close(pmiss, record["act_pmiss"])
    _close(pfa, record["act_pfa"])
    _close(Results(tar, non).act_dcf(costs), record["act_dcf_norm"])


def test_minimum_dcf(record: dict[str, np.ndarray]) -> None:
    tar, non = record["tar"], record["non"]
    costs = DecisionCosts.from_plo(record["plo"])
    _close(min_dcf(tar, non, costs, normalize=False), record["min_dcf"])
    _close(min_dcf(tar, non, costs), record["min_dcf_norm"])
    hull = ROC.from_scores(tar, non).convex_hull()
    best = hull.best_vertices(costs)
    # Where two vertices cost the same up to rounding, either may be reported.
    unique = np.abs(hull.llr[None, :] + record["plo"][:, None]).min(axis=1) > ATOL
    _close(hull.pmiss[best][unique], record["min_pmiss"][unique])
    _close(hull.pfa[best][unique], record["min_pfa"][unique])
    exact_tie = record["plo"] == 0
    _close(hull.pmiss[best][exact_tie], record["min_pmiss"][exact_tie])


def test_dcf_at_thresholds(record: dict[str, np.ndarray]) -> None:
    pmiss, pfa = error_rates_at(record["tar"], record["non"], record["thresholds"])
    dcf = 0.1 * pmiss + 0.9 * pfa
    _close(dcf, record["dcf_at_threshold_p01"])
    _close(dcf / 0.1, record["dcf_at_threshold_p01_norm"])


def test_results_at_probabilities(record: dict[str, np.ndarray]) -> None:
    results, priors = Results(record["tar"], record["non"]), record["priors"]
    _close(results.act_dcf(priors, normalize=False), record["results_act_dcf"])
    _close(results.min_dcf(priors, normalize=False), record["results_min_dcf"])
    _close(results.act_dcf(priors), record["results_norm_act_dcf"])
    _close(results.min_dcf(priors), record["results_norm_min_dcf"])
    _close(results.act_dcf(priors), record["fasteval_actdcf"])
    _close(results.min_dcf(priors), record["fasteval_mindcf"])


def test_cllr(record: dict[str, np.ndarray]) -> None:
    _close(cllr(record["tar"], record["non"]), record["cllr"])
    _close(Results(record["tar"], record["non"]).cllr, record["cllr"])


def test_optimal_llrs_and_min_cllr(record: dict[str, np.ndarray]) -> None:
    """The toolkit adds 1e-6 * rank / number of trials to each optimal LLR; so does this test."""
    tar, non = record["tar"], record["non"]
    tar_llrs, non_llrs = optimal_llrs(tar, non)
    order = np.argsort(np.concatenate((tar, non)), kind="stable")
    rank = np.empty(order.size)
    rank[order] = np.arange(1, order.size + 1)
    shift = rank * 1e-6 / order.size
    tar_shifted, non_shifted = tar_llrs + shift[: tar.size], non_llrs + shift[tar.size :]
    _close(tar_shifted, record["opt_loglr_raw_tar"])
    _close(non_shifted, record["opt_loglr_raw_non"])
    _close(cllr(tar_shifted, non_shifted), record["min_cllr"])
    # The shift moves Cllr by at most its size, in bits.
    assert abs(min_cllr(tar, non) - record["min_cllr"][0]) < 1e-6
