"""Cllr and minimum Cllr: definition, extremes, laws, and a closed form."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from bosaris_py.evaluation import Results
from bosaris_py.numerics import cllr, min_cllr, optimal_llrs
from tests.score_strategies import finite_scores, score_lists, weighted_scores


def _naive(tar: np.ndarray, non: np.ndarray) -> float:
    miss = math.fsum(np.logaddexp(0, -tar)) / tar.size
    return (miss + math.fsum(np.logaddexp(0, non)) / non.size) / (2 * math.log(2))


@given(score_lists(finite_scores), score_lists(finite_scores))
def test_definition(tar: np.ndarray, non: np.ndarray) -> None:
    assert cllr(tar, non) == pytest.approx(_naive(tar, non), rel=1e-14)
    assert Results(tar, non).cllr == pytest.approx(cllr(tar, non), rel=1e-14)


@pytest.mark.parametrize("size", [16, 160, 1024 + 5, 2**17 + 16 + 1])
@pytest.mark.parametrize("height", [0.0, 4.0, 9.0, 25.0, 36.0, 45.0, 700.0])
def test_small_costs_are_as_exact_as_large_ones(
    rng: np.random.Generator, size: int, height: float
) -> None:
    # Above 4 a mean cost is less than 0.01, above 36 a float cannot hold 1 plus it.
    tar, non = rng.normal(height, 1, size), rng.normal(-height, 1, size)
    assert cllr(tar, non) == pytest.approx(_naive(tar, non), rel=2e-13, abs=0)


def test_many_blocks(rng: np.random.Generator) -> None:
    tar, non = rng.normal(2, 3, 30_011), rng.normal(-2, 3, 50_021)
    assert cllr(tar, non) == pytest.approx(_naive(tar, non), rel=1e-13)
    single = tar.astype(np.float32), non.astype(np.float32)
    exact = _naive(*(scores.astype(np.float64) for scores in single))
    assert cllr(*single) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("size", [1.0, 40.0, 200.0, 5000.0])
def test_sums_of_any_size_are_exact(size: float, rng: np.random.Generator) -> None:
    """Also where products of several terms overflow, and where all terms are tiny."""
    tar, non = rng.uniform(-size, size, 8000), rng.uniform(-size, size, 4000)
    assert cllr(tar, non) == pytest.approx(_naive(tar, non), rel=1e-13, abs=0)
    certain, sure = 30.0 + np.abs(tar), -30.0 - np.abs(non)
    assert cllr(certain, sure) == pytest.approx(_naive(certain, sure), rel=1e-13, abs=0)


@given(score_lists(), score_lists())
def test_minimum_never_exceeds_actual(tar: np.ndarray, non: np.ndarray) -> None:
    least = min_cllr(tar, non)
    assert least <= cllr(tar, non) + 1e-14
    assert 0 <= least <= 1 + 1e-14
    assert Results(tar, non).min_cllr == least


@given(score_lists(), score_lists())
def test_minimum_is_the_cllr_of_the_optimal_llrs(tar: np.ndarray, non: np.ndarray) -> None:
    llrs = optimal_llrs(tar, non)
    assert min_cllr(tar, non) == pytest.approx(cllr(*llrs), abs=1e-13)
    # Calibrated already: a second round changes nothing.
    again = optimal_llrs(*llrs)
    np.testing.assert_allclose(again[0], llrs[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(again[1], llrs[1], rtol=1e-12, atol=1e-12)
    order = np.argsort(np.concatenate((tar, non)), kind="stable")
    rising = np.concatenate(llrs)[order]
    assert np.all(rising[1:] >= rising[:-1])


@given(score_lists(), score_lists())
def test_optimal_posteriors_keep_the_share_of_targets(tar: np.ndarray, non: np.ndarray) -> None:
    """Pooling keeps weighted means, so posteriors average to the share of targets."""
    llrs = np.concatenate(optimal_llrs(tar, non))
    prior_odds = tar.size / non.size
    posterior = 1 / (1 + np.exp(-llrs) / prior_odds)
    assert posterior.mean() == pytest.approx(tar.size / (tar.size + non.size), rel=1e-12)


@given(weighted_scores(finite_scores), weighted_scores(finite_scores))
def test_whole_weights_are_repeated_trials(tar, non) -> None:
    weights = {"tar_weights": tar[1], "non_weights": non[1]}
    repeated = np.repeat(*tar), np.repeat(*non)
    assert cllr(tar[0], non[0], **weights) == pytest.approx(cllr(*repeated), rel=1e-13)
    assert min_cllr(tar[0], non[0], **weights) == pytest.approx(min_cllr(*repeated), abs=1e-14)
    results = Results(tar[0], non[0], **weights)
    assert results.cllr == pytest.approx(cllr(*repeated), rel=1e-13)


@pytest.mark.parametrize("size", [2, 2**16])
@pytest.mark.parametrize("weight", [None, 1.0, 1.5])
def test_infinite_where_a_sum_exceeds_all_numbers(size: int, weight: float | None) -> None:
    """Within a block of scores and, in the second case, of sums of blocks only."""
    non = np.full(size, 1.7e308 / (size / 2))
    weights = None if weight is None else np.full(size, weight)
    assert cllr([0.0], non, non_weights=weights) == math.inf
    assert cllr(-non, [0.0], tar_weights=weights) == math.inf


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
def test_a_huge_wrong_llr_costs_its_share(rng: np.random.Generator) -> None:
    """The square of the gap of the means, which tells inverted scores, is beyond all numbers."""
    non = np.append(rng.normal(-1.0, 1.0, 49), 1e200)
    assert cllr(rng.normal(1.0, 1.0, 50), non) == pytest.approx(1e200 / math.log(2) / 100)


def test_weightless_infinite_cost_does_not_count() -> None:
    weighted = cllr([-math.inf, 0.0], [0.0], tar_weights=[0.0, 1.0])
    assert weighted == 1.0


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
def test_values_by_hand(tar: list[float], non: list[float], expected: float) -> None:
    assert cllr(tar, non) == pytest.approx(expected, rel=1e-15)


def test_toolkit_edge_cases(oracle: Path) -> None:
    cases = json.loads((oracle / "edge_cases.json").read_text())
    recorded = [c for c in cases if c["name"] == "cllr" and "NaN" not in c["in"]["tar"]]
    assert len(recorded) == 4
    for case in recorded:
        tar, non = (np.array(case["in"][name], dtype=float) for name in ("tar", "non"))
        assert cllr(tar, non) == pytest.approx(float(case["out"]["cllr"][0]), rel=1e-14)


@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_calibrated_gaussian_llrs(rng: np.random.Generator, spread: float) -> None:
    """Targets N(s^2/2, s^2), non-targets N(-s^2/2, s^2): the expectation by quadrature."""
    density = norm(spread**2 / 2, spread)
    expected, _ = quad(
        lambda x: np.logaddexp(0, -x) / math.log(2) * density.pdf(x),
        density.mean() - 12 * spread,
        density.mean() + 12 * spread,
    )
    n = 200_000
    tar, non = density.rvs(n, random_state=rng), -density.rvs(n, random_state=rng)
    sigma = np.std(np.logaddexp(0, -tar)) / math.log(2) / math.sqrt(2 * n)
    assert cllr(tar, non) == pytest.approx(expected, abs=4 * sigma)
    # PAV over-fits a little: below Cllr, but by much less than a percent here.
    assert 0.99 * cllr(tar, non) < min_cllr(tar, non) < cllr(tar, non)


@given(score_lists(finite_scores), score_lists(finite_scores), st.floats(0.1, 10))
def test_sign_swap(tar: np.ndarray, non: np.ndarray, factor: float) -> None:
    assert cllr(factor * tar, factor * non) == pytest.approx(
        cllr(-factor * non, -factor * tar), rel=1e-14
    )
