"""Distributions of standard errors, and the numbers of Wu et al. 2016 that follow from them."""

import numpy as np
import pytest
from scipy import stats

from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from tests.uncertainty.naive_bootstrap import (
    scores_with_set_effects,
    variance_of_mean,
    with_sets_where_used,
)

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
distribute = with_sets_where_used(unc.standard_error_distribution)
resample = with_sets_where_used(unc.bootstrap)

SCORES = scores_with_set_effects(np.random.default_rng(81), (30, 20), (40, 30))
KEYWORDS = {"tar_sets": SCORES[2], "non_sets": SCORES[3]}


@pytest.mark.parametrize("method", ["iid", "one-layer", "two-layer"])
def test_around_the_closed_form(method: str) -> None:
    tar, non, tar_sets, non_sets = SCORES
    runs = distribute(
        tar, non, unc.DCF(1.0, 0.01, 10, 1), method=method, runs=200, rng=82, **KEYWORDS
    )
    variance = 0.1**2 * variance_of_mean(tar < 1.0, tar_sets, method)
    variance += 0.99**2 * variance_of_mean(non >= 1.0, non_sets, method)
    # 200 runs of 2000: the mean is known to 1 / sqrt(2 * 400000) = 0.11 %; 5 of these.
    # The mean of a standard deviation is less than its square root says by 1 / (4 B).
    assert runs.mean == pytest.approx(np.sqrt(variance), rel=0.006)
    # Replicates are nearly normal: relative spread 1 / sqrt(2 B), known to 5 % from 200 runs.
    assert runs.relative_error == pytest.approx(1.96 / np.sqrt(4000), rel=0.25)
    assert runs.relative_error_of_estimate == pytest.approx(
        1.96 * np.mean(runs.standard_errors) / runs.estimate, rel=1e-12
    )
    assert runs.low < runs.mean < runs.high
    assert runs.normality_test().p_value > 1e-3
    assert runs.method in repr(runs)


def test_each_run_is_a_bootstrap() -> None:
    tar, non, *_ = SCORES
    runs = distribute(tar, non, unc.EER(), runs=3, replications=300, rng=83)
    children = np.random.default_rng(83).spawn(3)
    singles = [resample(tar, non, unc.EER(), replications=300, rng=c) for c in children]
    assert runs.standard_errors.tolist() == [single.standard_error for single in singles]
    assert runs.estimate == singles[0].estimate


def test_interval_is_definition_2() -> None:
    tar, non, *_ = SCORES
    runs = distribute(tar, non, unc.DCF(1.0, 0.01, 10, 1), runs=40, replications=100, rng=84)
    ordered = np.sort(runs.standard_errors)
    # 40 * 0.025 = 1 and 40 * 0.975 = 39 are whole.
    assert runs.low == pytest.approx(ordered[:2].mean(), rel=1e-15)
    assert runs.high == pytest.approx(ordered[-2:].mean(), rel=1e-15)


@pytest.mark.slow
def test_workers_do_not_matter() -> None:
    tar, non, *_ = SCORES
    runs = [
        distribute(
            tar,
            non,
            unc.DCF(1.0, 0.01, 10, 1),
            method="two-layer",
            runs=10,
            rng=85,
            workers=workers,
            **KEYWORDS,
        ).standard_errors
        for workers in (1, 2)
    ]
    assert np.array_equal(*runs)


@pytest.mark.parametrize("method", ["iid", "one-layer", "two-layer"])
def test_threshold_counted_twice_as_the_papers_do_with_integers(method: str) -> None:
    rng = np.random.default_rng(86)
    tar, non = rng.integers(2, 8, 60), rng.integers(0, 6, 90)
    sets = {"tar_sets": np.arange(60) % 6, "non_sets": np.arange(90) % 9}
    statistic = unc.DCF(4, p_target=0.5, c_miss=1, c_fa=1)
    common = {"method": method, "runs": 100, "rng": 87, **sets}
    twice = distribute(tar, non, statistic, count_threshold_twice=True, **common)
    once = distribute(tar, non, statistic, **common)
    assert once.estimate == pytest.approx((np.mean(tar < 4) + np.mean(non >= 4)) / 2, rel=1e-15)
    # Equation (2): both sums include the threshold.
    assert twice.estimate == pytest.approx((np.mean(tar <= 4) + np.mean(non >= 4)) / 2, rel=1e-15)
    variance = variance_of_mean(tar <= 4, sets["tar_sets"], method) / 4
    variance += variance_of_mean(non >= 4, sets["non_sets"], method) / 4
    # 0.16 % for 100 runs of 2000; 5 of these.
    assert twice.mean == pytest.approx(np.sqrt(variance), rel=0.008)


@pytest.mark.parametrize(
    ("standard_error", "estimate", "percent"),
    [
        # Table I: estimates and standard errors of the two-layer bootstrap.
        (0.001952, 0.022199, 17.23),
        (0.002897, 0.040098, 14.16),
        (0.004301, 0.098744, 8.54),
        (0.005092, 0.236771, 4.22),
        # Table II: standard errors and means of the distributions, one-layer bootstrap.
        (0.292555e-4, 0.001859, 3.08),
        (0.446791e-4, 0.002730, 3.21),
        (0.677488e-4, 0.004150, 3.20),
        (0.759175e-4, 0.004646, 3.20),
        # Table III: means of the distributions, two-layer bootstrap.
        (0.002031, 0.028996, 13.73),
        (0.009645, 0.455384, 4.15),
    ],
)
def test_relative_errors_of_wu(standard_error: float, estimate: float, percent: float) -> None:
    # Printed from unrounded numbers: both factors are known to half a unit of their last digit.
    slack = 100 * 1.96 * (0.5e-6 / estimate + standard_error * 0.5e-6 / estimate**2) + 0.005
    assert 100 * unc.relative_error(standard_error, estimate) == pytest.approx(percent, abs=slack)


@pytest.mark.parametrize(
    ("analytic", "bootstrap", "percent"),
    [(0.000376, 0.000367, 2.64), (0.000491, 0.000489, 0.37), (0.000542, 0.000545, 0.62),
     (0.001445, 0.001538, 6.41), (0.001860, 0.001888, 1.51)],
)  # fmt: skip
def test_relative_errors_of_nistir_7722(analytic: float, bootstrap: float, percent: float) -> None:
    # Table 2: both are printed to six digits, which moves the ratio by up to 2 * 0.5e-6 / SE.
    slack = 100 * 1e-6 / analytic + 0.005
    found = 100 * abs(bootstrap - analytic) / analytic
    assert found == pytest.approx(percent, abs=slack)


def sample_with(mean: float, sd: float) -> np.ndarray:
    """Five hundred values with exactly this mean and unbiased standard deviation."""
    values = stats.norm.ppf((np.arange(500) + 0.5) / 500)
    values = (values - values.mean()) / values.std(ddof=1)
    return mean + sd * values


# Table II, in units of 1e-4: mean and standard error of one- and of two-layer bootstrap.
TABLE_II = {
    "EL": ((18.59, 0.292555), (19.75, 0.329929)),
    "LZ": ((27.30, 0.446791), (28.70, 0.460217)),
    "PB": ((41.50, 0.677488), (42.88, 0.675055)),
    "CH": ((46.46, 0.759175), (51.72, 0.819121)),
}


@pytest.mark.parametrize("system", TABLE_II)
def test_comparisons_of_section_viii_b(system: str) -> None:
    one_layer, two_layer = (sample_with(*row) for row in TABLE_II[system])
    # "All p-values for the four systems are close to one."
    test = unc.z_test_of_means(one_layer, two_layer, alternative="greater")
    assert test.p_value > 0.99
    assert unc.z_test_of_means(one_layer, two_layer, alternative="less").p_value < 1e-6
    # "The p-values of the two-tailed F-test are greater than 5 % except for System EL,
    # where it is 0.73 %."
    p_value = unc.f_test_of_variances(one_layer, two_layer).p_value
    if system == "EL":
        assert 100 * p_value == pytest.approx(0.73, abs=0.005)
    else:
        assert p_value > 0.05


def test_tests_hold_their_level() -> None:
    rng = np.random.default_rng(88)
    z_alarms = f_alarms = 0
    for _ in range(2000):
        x, y = rng.normal(size=200), rng.normal(size=100)
        z_alarms += unc.z_test_of_means(x, y).p_value < 0.05
        f_alarms += unc.f_test_of_variances(x, y).p_value < 0.05
    assert stats.binomtest(z_alarms, 2000, 0.05).pvalue > 1e-3
    assert stats.binomtest(f_alarms, 2000, 0.05).pvalue > 1e-3


def test_one_sided_tails_add_up() -> None:
    x, y = sample_with(0, 1), sample_with(0, 1.1)
    less = unc.f_test_of_variances(x, y, alternative="less").p_value
    greater = unc.f_test_of_variances(x, y, alternative="greater").p_value
    assert less + greater == pytest.approx(1.0, rel=1e-12)
    assert unc.f_test_of_variances(x, y).p_value == pytest.approx(2 * less, rel=1e-12)
    assert unc.f_test_of_variances(y, x).p_value == pytest.approx(2 * less, rel=1e-12)


def test_distributions_are_taken_as_they_are() -> None:
    tar, non, *_ = SCORES
    runs = [
        distribute(tar, non, unc.DCF(1.0, 0.01, 10, 1), method=m, runs=50, rng=1, **KEYWORDS)
        for m in ("iid", "two-layer")
    ]
    assert unc.z_test_of_means(*runs, alternative="less").p_value < 1e-6
    assert unc.f_test_of_variances(*runs).ratio < 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"runs": 1}, "`runs` .* at least 2; got 1"),
        ({"replications": 0}, "`replications` .* at least 2 .*; got 0"),
        ({"confidence": 1.5}, "`confidence` .* between 0 and 1"),
        ({"method": "three-layer"}, "`method`"),
        ({"statistic": unc.ErrorRates(0.0)}, "be a number; got 2 values"),
        (
            {"statistic": unc.EER(), "count_threshold_twice": True},
            "be a DCF if the threshold is counted twice",
        ),
    ],
)
def test_bad_input(changes: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {
        "tar": [1.0, 2.0],
        "non": [0.0],
        "statistic": unc.DCF(0.5, 0.01, 10, 1),
    }
    with pytest.raises(InvalidInputError, match=message):
        distribute(**(arguments | changes))


def test_undefined_replicates_are_refused() -> None:
    def first_weight(t: object, n: object, tw: np.ndarray, nw: object) -> float:
        return float(tw[0]) if tw[0] else np.nan

    with pytest.raises(InvalidInputError, match="defined on all replicates; got undefined"):
        distribute([1.0, 2.0], [0.0], first_weight, runs=3, replications=40, rng=0)


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        ([1.0, 2.0], "3 to 5000 values; got 2"),
        (np.arange(5001.0), "3 to 5000 values; got 5001"),
        ([1.0, 1.0, 1.0], "not be constant"),
        ([1.0, 2.0, np.nan], "not hold NaN"),
        ([[1.0, 2.0]], "one-dimensional"),
    ],
)
def test_bad_samples(sample: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        unc.normality_test(sample)


def test_bad_samples_of_the_comparisons() -> None:
    with pytest.raises(InvalidInputError, match=r"`second` .* at least 2 values; got 1"):
        unc.z_test_of_means([1.0, 2.0], [1.0])
    with pytest.raises(InvalidInputError, match=r"`first` .* not be constant"):
        unc.f_test_of_variances([1.0, 1.0], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="`alternative`"):
        unc.f_test_of_variances([1.0, 3.0], [1.0, 2.0], alternative="more")
