import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from bosaris_py.errors import InvalidInputError
from bosaris_py.uncertainty.decisions import (
    error_rate_interval,
    jeffreys_interval,
    rule_of_30,
    wilson_interval,
)

# Small data are quick; the warning has tests of its own, in test_few_errors.py.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

counts = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
confidences = st.floats(0.5, 0.999)


@given(counts, confidences)
def test_wilson_ends_solve_the_z_test(errors_trials, confidence):
    errors, n = errors_trials
    interval = wilson_interval(errors, n, confidence=confidence)
    independent = stats.binomtest(errors, n).proportion_ci(confidence, method="wilson")
    # scipy uses another arrangement of the same formula; at 0 and n ours are exact.
    assert interval.low == pytest.approx(independent.low, rel=1e-10, abs=1e-12)
    assert interval.high == pytest.approx(independent.high, rel=1e-10, abs=1e-12)


@given(counts, confidences)
def test_jeffreys_ends_are_beta_quantiles(errors_trials, confidence):
    errors, n = errors_trials
    interval = jeffreys_interval(errors, n, confidence=confidence)
    posterior = stats.beta(errors + 0.5, n - errors + 0.5)
    tail = (1 - confidence) / 2
    assert interval.low == (0 if errors == 0 else pytest.approx(posterior.ppf(tail), rel=1e-8))
    assert interval.high == (1 if errors == n else pytest.approx(posterior.isf(tail), rel=1e-8))


@given(counts, confidences, st.sampled_from(["jeffreys", "wilson"]))
def test_intervals_hold_the_rate_and_mirror(errors_trials, confidence, method):
    errors, n = errors_trials
    interval = error_rate_interval(errors, n, confidence=confidence, method=method)
    assert 0 <= interval.low <= interval.estimate <= interval.high <= 1
    mirrored = error_rate_interval(n - errors, n, confidence=confidence, method=method)
    # The quantiles of both tails are found by iteration, hence not to the last bit.
    assert mirrored.low == pytest.approx(1 - interval.high, abs=1e-10)


@given(counts, st.floats(1, 1000))
def test_fewer_effective_trials_widen(errors_trials, effective):
    errors, n = errors_trials
    for interval in (jeffreys_interval, wilson_interval):
        plain, wide = interval(errors, n), interval(errors, n, effective_trials=min(effective, n))
        assert wide.estimate == plain.estimate
        # Equal where effective is n, up to rounding.
        assert wide.width >= plain.width * (1 - 1e-9)


def test_normal_interval_is_equation_12():
    interval = error_rate_interval(100, 1000, confidence=0.9, method="normal")
    half = stats.norm.ppf(0.95) * math.sqrt(0.1 * 0.9 / 1000)
    # Same formula, other order.
    assert interval.low == pytest.approx(0.1 - half, rel=1e-13)
    assert interval.high == pytest.approx(0.1 + half, rel=1e-13)
    wide = error_rate_interval(100, 1000, confidence=0.9, method="normal", effective_trials=250)
    assert wide.width == pytest.approx(2 * interval.width, rel=1e-13)


@pytest.mark.parametrize(("errors", "trials"), [(0, 7), (1, 40), (12, 40), (39, 40), (7, 7)])
def test_clopper_and_pearson_against_scipy(errors, trials):
    interval = error_rate_interval(errors, trials, method="clopper-pearson")
    expected = stats.binomtest(errors, trials).proportion_ci(0.95, method="exact")
    assert (interval.low, interval.high) == pytest.approx(tuple(expected), rel=1e-10)


@pytest.mark.parametrize("method", ["jeffreys", "wilson"])
def test_coverage_at_few_errors(method):
    # The coverage is a sum over the binomial law. It jumps with the true rate, because counts are
    # whole, so it is averaged over rates that let 2 to 10 errors be expected in 500 trials.
    n = 500
    errors = np.arange(60)
    intervals = [error_rate_interval(int(k), n, method=method) for k in errors]
    low, high = (np.array([getattr(i, end) for i in intervals]) for end in ("low", "high"))
    coverage = [
        stats.binom.pmf(errors, n, p)[(low <= p) & (p <= high)].sum()
        for p in np.linspace(0.004, 0.02, 200)
    ]
    assert 0.94 < np.mean(coverage) < 0.97
    assert min(coverage) > 0.85


def test_rules_of_thumb():
    assert rule_of_30(3000) == 0.01


def test_the_rule_of_30_keeps_its_promise():
    # 30 errors expected: the observed rate is within 30 % of the true one in about 90 % of cases.
    n, p = 3000, 0.01
    inside = stats.binom.cdf(39, n, p) - stats.binom.cdf(20, n, p)
    assert 0.88 < inside < 0.93
    assert np.isclose(rule_of_30(n), p)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilson_interval(5, 4), "`errors` must not exceed `trials`, 4"),
        (lambda: wilson_interval(0, 0), "`trials` must be positive"),
        (lambda: jeffreys_interval(-1, 4), "`errors` must be finite"),
        (lambda: jeffreys_interval(1, 4, confidence=0), "`confidence`"),
        (lambda: jeffreys_interval(1, 4, effective_trials=0), "`effective_trials`"),
        (
            lambda: error_rate_interval(1, 4, method="exact"),
            '"wilson", "normal", "jeffreys", "clopper',
        ),
        (lambda: rule_of_30(-3), "`trials` must be finite and not negative"),
        (lambda: rule_of_30(0.01), "`trials` must be a number of trials; got 0.01. Is this a rate"),
        (lambda: wilson_interval(0.01, 6000), "`errors` must be a number of errors; got 0.01. Is"),
        (lambda: wilson_interval(None, 6000), "`errors` must be a number; got None"),
        (lambda: jeffreys_interval(6000, 0.01), "`trials` must be a number of trials; got 0.01"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
