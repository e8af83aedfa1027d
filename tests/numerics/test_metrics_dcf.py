"""Actual DCF and error-rates at thresholds: counting by hand, and published figures."""

import csv
import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.numerics import OperatingPoint, act_dcf, error_rates_at, min_dcf
from bosaris_py.numerics.priors import DecisionCosts
from tests.score_strategies import any_scores, priors, score_lists, weighted_scores


@given(score_lists(), score_lists(), st.lists(any_scores, min_size=1, max_size=20))
def test_error_rates_count_trials(tar: np.ndarray, non: np.ndarray, limits: list[float]) -> None:
    """Few thresholds are counted by passes and many by sorting; both are the definition."""
    pmiss, pfa = error_rates_at(tar, non, limits)
    assert pmiss.tolist() == [np.mean(tar < limit) for limit in limits]
    assert pfa.tolist() == [np.mean(non >= limit) for limit in limits]
    assert Results(tar, non).error_rates_at(limits[0]) == (pmiss[0], pfa[0])
    assert error_rates_at(tar, non, limits[0]) == (pmiss[0], pfa[0])


@given(weighted_scores(), weighted_scores(), st.lists(any_scores, min_size=1, max_size=20))
def test_whole_weights_are_repeated_trials(tar, non, limits: list[float]) -> None:
    weighted = error_rates_at(tar[0], non[0], limits, tar_weights=tar[1], non_weights=non[1])
    repeated = error_rates_at(np.repeat(*tar), np.repeat(*non), limits)
    np.testing.assert_array_equal(weighted, repeated)


@given(score_lists(), score_lists(), priors)
def test_minimum_never_exceeds_actual(tar: np.ndarray, non: np.ndarray, prior: float) -> None:
    slack = 1e-15
    for normalize in (False, True):
        minimum = min_dcf(tar, non, prior, normalize)
        assert minimum <= act_dcf(tar, non, prior, normalize) * (1 + 1e-14) + slack
    assert min_dcf(tar, non, prior, normalize=True) <= 1 + slack


@given(score_lists(), score_lists(), st.lists(priors, min_size=1, max_size=12))
def test_priors_in_any_order_and_repeated(tar, non, values: list[float]) -> None:
    repeated = [*values, *values[::-1]]
    one_by_one = [act_dcf(tar, non, value) for value in repeated]
    np.testing.assert_array_equal(act_dcf(tar, non, repeated), one_by_one)
    np.testing.assert_array_equal(Results(tar, non).act_dcf(repeated), one_by_one)
    np.testing.assert_array_equal(
        min_dcf(tar, non, repeated), [min_dcf(tar, non, value) for value in repeated]
    )


def test_toolkit_edge_cases(oracle: Path) -> None:
    """Scores on thresholds, unsorted and infinite log-odds. Repeated ones the toolkit miscounts."""
    cases = json.loads((oracle / "edge_cases.json").read_text())
    used = 0
    for case in cases:
        if case["name"] not in ("fast_actDCF", "fast_minDCF") or case["error"]:
            continue
        plo = np.array(case["in"]["plo"], dtype=float)
        if case["name"] == "fast_actDCF" and np.unique(plo).size < plo.size:
            continue
        used += 1
        tar, non = (np.array(case["in"][name], dtype=float) for name in ("tar", "non"))
        costs = DecisionCosts.from_plo(plo)
        finite = np.isfinite(plo)
        dcf = (act_dcf if case["name"] == "fast_actDCF" else min_dcf)(tar, non, costs)
        np.testing.assert_allclose(dcf, np.array(case["out"]["dcf"], float), atol=1e-12)
        if case["name"] == "fast_actDCF":
            pmiss, pfa = error_rates_at(tar, non, -plo)
            recorded = np.array([case["out"]["pmiss"], case["out"]["pfa"]], dtype=float)
            np.testing.assert_allclose((pmiss, pfa), recorded, atol=1e-12)
            normalized = np.array(case["out"]["dcf_norm"], dtype=float)[finite]
            ours = act_dcf(tar, non, DecisionCosts.from_plo(plo[finite]), normalize=True)
            np.testing.assert_allclose(ours, normalized, atol=1e-12)
    assert used >= 8


def test_a_score_on_the_threshold_is_accepted() -> None:
    assert error_rates_at([2.0], [2.0], 2.0) == (0.0, 1.0)
    assert error_rates_at([-0.0], [0.0], 0.0) == (0.0, 1.0)
    assert error_rates_at([0.0], [-0.0], -0.0) == (0.0, 1.0)


def test_float32_scores_meet_float64_thresholds_in_float64() -> None:
    """0.7 in float32 lies below 0.7 in float64."""
    single = np.array([0.7], dtype=np.float32)
    assert error_rates_at(single, single, 0.7) == (1.0, 0.0)
    assert error_rates_at(single, single, [0.7] * 20)[0].tolist() == [1.0] * 20


def test_operating_point_costs_by_hand() -> None:
    """T=[2,5], N=[-1,3] at (0.01, 10, 1): threshold 2.29, so Pmiss=Pfa=1/2."""
    cost = act_dcf([2.0, 5.0], [-1.0, 3.0], OperatingPoint(0.01, 10, 1))
    assert float(cost) == pytest.approx(0.01 * 10 * 0.5 + 0.99 * 0.5, rel=1e-15)
    normalized = act_dcf([2.0, 5.0], [-1.0, 3.0], OperatingPoint(0.01, 10, 1), normalize=True)
    assert float(normalized) == pytest.approx(10 * 0.545, rel=1e-14)


def test_published_costs_of_evalita_2009(shared_data: Path) -> None:
    """Figures published with ROCAnalysis.jl, to 16 digits."""
    tar, non = [], []
    with gzip.open(shared_data / "evalita2009_ru" / "trials.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            (tar if row["target"].upper() in ("TRUE", "1", "TARGET") else non).append(
                float(row["score"])
            )
    assert (len(tar), len(non)) == (15252, 9600)
    results = Results(tar, non)
    published = [
        (DecisionCosts.from_plo(-math.log(9.9)), 0.03291547867387523, 0.03173675448189074),
        (OperatingPoint(0.01, 10, 1), 0.035877871754524004, 0.034593062385260914),
        (OperatingPoint(0.5, 10, 1), 0.23094942466561763, 0.21843024685287174),
    ]
    for point, actual, minimum in published:
        assert float(results.act_dcf(point)) == pytest.approx(actual, abs=1e-12)
        assert float(results.min_dcf(point)) == pytest.approx(minimum, abs=1e-12)


def test_nan_threshold_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="`thresholds` must not hold NaN"):
        error_rates_at([1.0], [0.0], math.nan)
