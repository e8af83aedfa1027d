"""NISTIR 7722, DeLong et al. and Wu et al. against loops over all pairs, triples and draws."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import FewErrorsWarning, InvalidInputError, TrialMismatchError
from tests.score_strategies import score_lists, tied_scores

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


def kernel(tar: np.ndarray, non: np.ndarray) -> np.ndarray:
    """Return 1, 1/2 or 0 for all pairs: (n_tar, n_non)."""
    t, n = tar[:, np.newaxis], non
    return (t > n) + 0.5 * (t == n)


def chance_both_first(a: float, b: float, other: float) -> float:
    """Return the chance that a and b both outrank `other` if coins decide among equal scores."""
    if a < other or b < other:
        return 0.0
    return {0: 1.0, 1: 0.5, 2: 1 / 3}[int(a == other) + int(b == other)]


@settings(deadline=None)
@given(score_lists(tied_scores, max_size=9), score_lists(tied_scores, max_size=9))
def test_equation_14_against_all_triples(tar, non):
    """NISTIR 7722, equations 12 to 14, by going through all triples of scores."""
    area = kernel(tar, non).mean()
    ttn = np.mean([chance_both_first(a, b, n) for a, b, n in itertools.product(tar, tar, non)])
    nnt = np.mean([chance_both_first(-a, -b, -t) for a, b, t in itertools.product(non, non, tar)])
    total = area - area**2 + (tar.size - 1) * (ttn - area**2) + (non.size - 1) * (nnt - area**2)
    # Both sum numbers of order 1 that cancel; the variance itself is at most 1/4.
    expected = max(total, 0) / (tar.size * non.size)
    assert unc.auc_standard_error(tar, non) ** 2 == pytest.approx(expected, rel=1e-12, abs=1e-14)


@settings(deadline=None)
@given(st.integers(2, 12), st.integers(2, 12), st.integers(0, 2**32 - 1))
def test_delong_against_all_pairs(n_tar, n_non, seed):
    rng = np.random.default_rng(seed)
    tar, non = rng.integers(0, 6, (3, n_tar)) + 1.0, rng.integers(0, 6, (3, n_non)) * 1.0
    found = unc.delong(tar, non)
    # DeLong et al. 1988, equations 3 to 6.
    pairs = [kernel(t, n) for t, n in zip(tar, non, strict=True)]
    of_tar, of_non = (np.array([one.mean(axis=axis) for one in pairs]) for axis in (1, 0))
    expected = np.cov(of_tar) / n_tar + np.cov(of_non) / n_non
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.auc, [one.mean() for one in pairs], rtol=1e-13)
    alone = unc.delong(tar[1], non[1])
    np.testing.assert_allclose(alone.covariance, expected[1:2, 1:2], rtol=1e-12, atol=1e-15)
    assert alone.auc.tolist() == [found.auc[1]]


def test_delong_comparison(rng):
    found = unc.delong(rng.normal(1, 1, (3, 200)), rng.normal(0, 1, (3, 300)))
    test, c = found.compare(2, 0), found.covariance
    assert test.value == found.auc[2] - found.auc[0]
    error = math.sqrt(c[2, 2] + c[0, 0] - 2 * c[0, 2])
    assert test.standard_error == pytest.approx(error, rel=1e-12)
    assert test.p_value() == pytest.approx(2 * stats.norm.sf(abs(test.z)), rel=1e-12)
    assert found.compare(0, 0).p_value() == 1
    np.testing.assert_allclose(found.standard_errors**2, np.diag(c), rtol=1e-14)
    assert f"{found.auc[1]:.4f} +- {found.standard_errors[1]:.2g}" in repr(found)


@pytest.mark.filterwarnings("default")
def test_areas_without_variance_are_pointed_out():
    with pytest.warns(FewErrorsWarning):
        assert unc.auc_standard_error([3.0, 4.0], [1.0, 2.0]) == 0
    # Coins still decide among equal scores.
    assert unc.auc_standard_error([1.0], [1.0]) == 0.5
    with pytest.warns(FewErrorsWarning):
        test = unc.delong([[1.0, 2.0], [-1.0, -2.0]], [[0.0, 0.5], [0.0, 0.5]]).compare()
    assert (test.value, test.standard_error, test.p_value()) == (1.0, 0.0, 1.0)
    assert test.low <= 0.0 <= test.high
    assert test.p_value(alternative="greater") == 0.5


def miss_rate_error(errors, method="upper-bound", sets=None):
    """Return the standard error of a miss rate, given which targets are missed."""
    tar = np.where(np.asarray(errors), -1.0, 1.0)
    options = {} if sets is None else {"tar_sets": sets, "non_sets": [0, 1]}
    return unc.dcf_standard_error(tar, [-1.0, -1.0], unc.Pmiss(0.0), method=method, **options)


def test_equation_4_of_wu_without_covariance(rng):
    tar, non = rng.normal(2, 1, 500), rng.normal(-2, 1, 900)
    point = bp.OperatingPoint(0.01, 10, 1)
    pmiss, pfa = np.mean(tar < 0.3), np.mean(non >= 0.3)
    expected = math.sqrt(0.1**2 * pmiss * (1 - pmiss) / 500 + 0.99**2 * pfa * (1 - pfa) / 900)
    found = unc.dcf_standard_error(tar, non, unc.DCF(0.3, point, normalize=False))
    assert found == pytest.approx(expected, rel=1e-12)
    assert unc.dcf_standard_error(tar, non, unc.DCF(0.3, point)) == pytest.approx(10 * found)
    actual = unc.dcf_standard_error(tar, non, unc.ActDCF(point))
    assert actual == pytest.approx(
        unc.dcf_standard_error(tar, non, unc.DCF(point.threshold, point))
    )
    # Of several points, each at its own threshold, the variance of the mean loss.
    both = unc.ActDCF([0.1, 0.5])
    loss_tar = sum(miss * (tar < t) for t, miss, _ in both.points)
    loss_non = sum(fa * (non >= t) for t, _, fa in both.points)
    expected = math.sqrt(loss_tar.var() / 500 + loss_non.var() / 900)
    assert unc.dcf_standard_error(tar, non, both) == pytest.approx(expected, rel=1e-12)


SETS = [[1, 0], [1, 1], [0, 0]]


def test_sets_of_equal_size_are_the_variance_of_all_draws():
    labels, errors = np.repeat(["a", "b", "c"], 2), np.ravel(SETS) == 1
    # 27 draws of three sets, and for each 4^3 draws of two trials from each of them.
    draws = list(itertools.product(SETS, repeat=3))
    one = [np.mean(draw) for draw in draws]
    two = [
        np.mean(trials)
        for draw in draws
        for trials in itertools.product(*[itertools.product(s, repeat=2) for s in draw])
    ]
    for method, rates in (("one-layer", one), ("two-layer", two)):
        error = miss_rate_error(errors, method, labels)
        assert error**2 == pytest.approx(np.var(rates), rel=1e-13)
        # Each trial its own set: nothing but single trials.
        alone = miss_rate_error(errors, method, range(6))
        assert alone == pytest.approx(miss_rate_error(errors), rel=1e-12)


@pytest.mark.parametrize("method", ["one-layer", "two-layer"])
def test_unequal_sets_agree_with_the_bootstrap_to_first_order(method, rng):
    sizes = rng.integers(1, 60, 150)
    errors = rng.binomial(sizes, rng.beta(2, 8, 150))
    trials = np.concatenate([np.arange(n) < k for n, k in zip(sizes, errors, strict=True)])
    error = miss_rate_error(trials, method, np.repeat(np.arange(150), sizes))
    drawn = rng.integers(0, 150, (5_000, 150))
    wrong = errors[drawn]
    if method == "two-layer":
        wrong = rng.binomial(sizes[drawn], (errors / sizes)[drawn])
    # 1 % from 5,000 replications, three times; 1/150 from linearisation.
    assert error == pytest.approx(np.std(wrong.sum(1) / sizes[drawn].sum(1)), rel=0.04)


def test_normality():
    sample = np.random.default_rng(0).normal(size=200)
    expected = stats.shapiro(sample)
    found = unc.normality_test(sample)
    assert (found.w, found.p_value) == (expected.statistic, expected.pvalue)
    assert unc.normality_test(sample**2).p_value < 1e-6


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: unc.auc_standard_error([1.0], [math.nan]), "non"),
        (lambda: unc.delong([1.0], [0.0, 1.0]), "tar"),
        (lambda: unc.delong(np.ones((1, 2, 2)), [0.0, 1.0]), "tar"),
        (lambda: unc.delong([1.0, math.nan], [0.0, 1.0]), "tar"),
        (lambda: unc.dcf_standard_error([1.0], [0.0], unc.EER()), "metric"),
        (lambda: miss_rate_error([True, False], "one-layer"), "tar_sets"),
        (lambda: miss_rate_error([True, False], sets=[1, 2]), "tar_sets"),
        (lambda: unc.normality_test([1.0, 2.0]), "sample"),
        (lambda: unc.normality_test([1.0, 1.0, 1.0]), "sample"),
    ],
)
def test_bad_input(call, argument):
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert caught.value.argument == argument
    with pytest.raises(TrialMismatchError):
        unc.delong(np.eye(2), np.eye(3))
