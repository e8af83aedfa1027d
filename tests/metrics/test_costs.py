"""Costs: fractions by hand, every threshold tried, published figures, laws."""

import csv
import gzip
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from bosaris_py import OperatingPoint, Results, act_dcf, cllr, error_rates_at, min_dcf
from bosaris_py.errors import InvalidInputError
from bosaris_py.metrics.costs import DCF, ActDCF, Brier, Cllr, MinDCF, Pfa, Pmiss
from bosaris_py.metrics.metric import Opening
from bosaris_py.numerics.priors import DecisionCosts
from bosaris_py.trials.sample import Sample
from tests.score_strategies import any_scores, finite_scores, naive_points, priors, score_lists

NIST = OperatingPoint(0.01, 10, 1)


def test_fractions_by_hand() -> None:
    """Targets 2 and 5, non-targets -1 and 3: at the Bayes threshold of 2.29 half of both err."""
    tar, non = [2.0, 5.0], [-1.0, 3.0]
    assert act_dcf(tar, non, NIST, normalize=False) == pytest.approx(0.545, rel=1e-15)
    assert act_dcf(tar, non, NIST) == pytest.approx(5.45, rel=1e-15)
    assert ActDCF(NIST)(tar, non) == pytest.approx(5.45, rel=1e-15)
    assert DCF(2.29, NIST)(tar, non) == pytest.approx(5.45, rel=1e-15)
    # At 5 nothing is accepted wrongly: .1 / 2.
    assert min_dcf(tar, non, NIST, normalize=False) == pytest.approx(0.05, rel=1e-15)
    assert MinDCF(NIST)(tar, non) == pytest.approx(0.5, rel=1e-15)
    assert (Pmiss(3.0)(tar, non), Pfa(3.0)(tar, non)) == (0.5, 0.5)


def test_several_points_are_the_mean_of_their_costs() -> None:
    rng = np.random.default_rng(3)
    tar, non = rng.normal(2, 2, 50), rng.normal(-2, 2, 90)
    points = [0.01, NIST, 0.5]
    for cls in (ActDCF, MinDCF):
        mean = np.mean([cls(point)(tar, non) for point in points])
        assert cls(points)(tar, non) == pytest.approx(mean, rel=1e-14)
    assert MinDCF(points).label == "minDCF(0.01), (0.01, 10, 1), (0.5)"
    assert repr(MinDCF(np.float32(0.5))) == repr(MinDCF([0.5])) == repr(MinDCF(np.array([0.5])))
    assert MinDCF(points).bounds == pytest.approx((0.0, 1.0))
    assert MinDCF(0.01, normalize=False).bounds == (0.0, 0.01)


def test_a_score_on_the_threshold_is_accepted() -> None:
    for tar, non, limit in ((2.0, 2.0, 2.0), (-0.0, 0.0, 0.0), (0.0, -0.0, -0.0)):
        assert error_rates_at([tar], [non], limit) == (0.0, 1.0)
    # 0.7 in float32 lies below 0.7 in float64, for few thresholds and for many.
    single = np.array([0.7], dtype=np.float32)
    assert error_rates_at(single, single, 0.7) == (1.0, 0.0)
    assert error_rates_at(single, single, [0.7] * 20)[0].tolist() == [1.0] * 20
    with pytest.raises(InvalidInputError, match="NaN"):
        error_rates_at([1.0], [0.0], math.nan)


@given(score_lists(), score_lists(), st.lists(any_scores, min_size=1, max_size=20))
def test_error_rates_count_trials(tar: np.ndarray, non: np.ndarray, limits: list[float]) -> None:
    pmiss, pfa = error_rates_at(tar, non, limits)
    assert pmiss.tolist() == [np.mean(tar < limit) for limit in limits]
    assert pfa.tolist() == [np.mean(non >= limit) for limit in limits]
    assert Results(tar, non).error_rates_at(limits[0]) == (pmiss[0], pfa[0])
    assert (Pmiss(limits[0])(tar, non), Pfa(limits[0])(tar, non)) == (pmiss[0], pfa[0])


@given(score_lists(), score_lists(), priors)
def test_the_minimum_tries_every_threshold(tar, non, prior: float) -> None:
    points = [(Fraction(0), Fraction(1)), *naive_points(tar, non)]
    least = min(prior * float(m) + (1 - prior) * float(f) for m, f in points)
    assert min_dcf(tar, non, prior, normalize=False) == pytest.approx(least, rel=1e-12, abs=1e-15)
    found = MinDCF(prior, normalize=False)(tar, non)
    assert found == pytest.approx(least, rel=1e-12, abs=1e-15)
    assert MinDCF(prior)(tar, non) <= 1.0


@given(score_lists(), score_lists(), st.lists(priors, min_size=1, max_size=12))
def test_priors_in_any_order_and_repeated(tar, non, values: list[float]) -> None:
    repeated = [*values, *values[::-1]]
    for function in (act_dcf, min_dcf):
        one_by_one = [function(tar, non, value) for value in repeated]
        np.testing.assert_array_equal(function(tar, non, repeated), one_by_one)


def test_what_errors_cost_and_how_many_there_are() -> None:
    sample = Sample.from_scores([2.0, 5.0], [-1.0, 3.0])
    assert MinDCF(0.5).openings(sample) == [Opening(1.0, 0.0, 0), Opening(1.0, 0.5, 1)]
    assert ActDCF(0.5, normalize=False).openings(sample) == [
        *(Opening(0.5, 0.0, 0), Opening(0.5, 0.5, 1))
    ]
    assert Pmiss(3.0).openings(sample) == [Opening(1.0, 0.5, 0)]
    # Log-odds of nothing cost a bit, of log 3 against the truth two.
    wrong = Sample.from_scores([0.0], [math.log(3)])
    assert Cllr().openings(wrong) == [Opening(0.5, 1.0, 0), Opening(0.5, pytest.approx(2.0), 1)]


@pytest.mark.parametrize(
    ("metric", "bounds", "scale", "unit"),
    [
        # At prior 1/5 a miss costs 1, a false alarm 4; not normalized a fifth of that.
        (DCF(1.0, 0.2), (0, 5), "log", ""),
        (ActDCF(0.2, normalize=False), (0, 1), "log", ""),
        (ActDCF([0.2, 0.5]), (0, 3.5), "log", ""),
        (MinDCF([0.2, 0.5]), (0, 1), "log", ""),
        (MinDCF([0.2, 0.5], normalize=False), (0, 0.35), "log", ""),
        (Pmiss(1.0), (0, 1), "logit", "%"),
        (Pfa(1.0), (0, 1), "logit", "%"),
        (Cllr(), (0, math.inf), "log", "bits"),
        (Brier(), (0, 4), "log", ""),
    ],
)
def test_where_values_lie_and_what_they_are_made_of(metric, bounds, scale, unit) -> None:
    assert metric.bounds == pytest.approx(bounds, rel=1e-15)
    assert (metric.scale, metric.unit) == (scale, unit)
    sample = Sample.from_scores([0.0, 1.0, 3.0, 4.0], [0.5, 1.0, 2.0])
    openings = metric.openings(sample)
    assert [opening.place for opening in openings] in ([0, 1], [0, 1] * 2, [0], [1], [])
    if openings:
        total = sum(opening.price * opening.rate for opening in openings)
        assert total == pytest.approx(metric.value(sample), rel=1e-14)


def test_edge_cases_of_the_toolkit(oracle: Path) -> None:
    """Scores on thresholds, unsorted and infinite log-odds. Repeated ones the toolkit miscounts."""
    cases = json.loads((oracle / "edge_cases.json").read_text())
    used = {"fast_actDCF": 0, "fast_minDCF": 0, "cllr": 0}
    for case in cases:
        name, given, out = case["name"], case["in"], case["out"]
        if name not in used or case["error"] or "NaN" in given["tar"]:
            continue
        tar, non = (np.array(given[side], dtype=float) for side in ("tar", "non"))
        used[name] += 1
        if name == "cllr":
            assert cllr(tar, non) == pytest.approx(float(out["cllr"][0]), rel=1e-14)
            continue
        plo = np.array(given["plo"], dtype=float)
        if name == "fast_actDCF" and np.unique(plo).size < plo.size:
            continue
        function = act_dcf if name == "fast_actDCF" else min_dcf
        dcf = function(tar, non, DecisionCosts.from_plo(plo), normalize=False)
        np.testing.assert_allclose(dcf, np.array(out["dcf"], float), atol=1e-12)
        if name == "fast_actDCF":
            rates = np.array([out["pmiss"], out["pfa"]], dtype=float)
            np.testing.assert_allclose(error_rates_at(tar, non, -plo), rates, atol=1e-12)
    assert min(used.values()) >= 4


def test_published_costs_of_evalita_2009(shared_data: Path) -> None:
    """Figures published with ROCAnalysis.jl, to 16 digits."""
    tar, non = [], []
    with gzip.open(shared_data / "evalita2009_ru" / "trials.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            is_target = row["target"].upper() in ("TRUE", "1", "TARGET")
            (tar if is_target else non).append(float(row["score"]))
    results = Results(tar, non)
    published = [
        (DecisionCosts.from_plo(-math.log(9.9)), 0.03291547867387523, 0.03173675448189074),
        (NIST, 0.035877871754524004, 0.034593062385260914),
        (OperatingPoint(0.5, 10, 1), 0.23094942466561763, 0.21843024685287174),
    ]
    for point, actual, minimum in published:
        assert float(results.act_dcf(point, normalize=False)) == pytest.approx(actual, abs=1e-12)
        assert float(results.min_dcf(point, normalize=False)) == pytest.approx(minimum, abs=1e-12)


# ---- Cllr and the Brier score


@pytest.mark.parametrize(
    ("tar", "non", "expected"),
    [
        ([0.0], [0.0], 1.0),
        ([math.inf], [-math.inf], 0.0),
        ([-math.inf, 1.0], [0.0], math.inf),
        # log2(1 + exp(-40)) does not round to zero.
        ([40.0], [-40.0], math.log1p(math.exp(-40.0)) / math.log(2)),
        ([-1e5], [0.0], (1e5 / math.log(2) + 1) / 2),
        # log2(1 + 3) and log2(1 + 1).
        ([-math.log(3)], [0.0], 1.5),
    ],
)
def test_cllr_by_hand(tar: list[float], non: list[float], expected: float) -> None:
    assert cllr(tar, non) == pytest.approx(expected, rel=1e-15)
    assert Cllr()(tar, non, [1.0] * len(tar)) == pytest.approx(expected, rel=1e-14)


def test_a_trial_without_weight_costs_nothing() -> None:
    assert cllr([-math.inf, 0.0], [0.0], tar_weights=[0.0, 1.0]) == 1.0
    sample = Sample.from_scores([-math.inf, 0.0], [0.0])
    assert Cllr().value(sample, (np.array([0, 1]), np.array([1]))) == 1.0


@given(score_lists(finite_scores), score_lists(finite_scores), st.floats(0.1, 10))
def test_cllr_of_swapped_classes(tar: np.ndarray, non: np.ndarray, factor: float) -> None:
    swapped = cllr(-factor * non, -factor * tar)
    assert cllr(factor * tar, factor * non) == pytest.approx(swapped, rel=1e-14)


@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_calibrated_gaussian_llrs(rng: np.random.Generator, spread: float) -> None:
    """Targets N(s^2/2, s^2), non-targets N(-s^2/2, s^2): the expectation by quadrature."""
    density, n = norm(spread**2 / 2, spread), 200_000
    ends = density.mean() - 12 * spread, density.mean() + 12 * spread
    bits, _ = quad(lambda x: np.logaddexp(0, -x) / math.log(2) * density.pdf(x), *ends)
    brier, _ = quad(lambda x: 4 / (1 + math.exp(x)) ** 2 * density.pdf(x), *ends)
    tar, non = density.rvs(n, random_state=rng), -density.rvs(n, random_state=rng)
    sigma = np.std(np.logaddexp(0, -tar)) / math.log(2) / math.sqrt(2 * n)
    assert cllr(tar, non) == pytest.approx(bits, abs=4 * sigma)
    assert Brier()(tar, non) == pytest.approx(brier, abs=4 * 4 / math.sqrt(2 * n))


def test_brier_by_hand() -> None:
    """Posteriors of the wrong class 1/4 and 1/2: 2 (1/16 + 1/4); certain and wrong: 4."""
    assert Brier()([math.log(3)], [0.0]) == pytest.approx(2 * (1 / 16 + 1 / 4), rel=1e-15)
    assert Brier()([-math.inf], [math.inf]) == 4.0
    assert Brier()([0.0], [0.0]) == 1.0
