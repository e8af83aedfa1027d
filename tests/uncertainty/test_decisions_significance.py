"""Bengio and Mariethoz 2004: every cell of tables 2, 3, 5 and 6 that printed rates decide."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from bosaris_py.errors import FewErrorsWarning, InvalidInputError, TrialMismatchError
from bosaris_py.numerics import OperatingPoint
from bosaris_py.trials import Key, Scores
from bosaris_py.uncertainty.decisions import (
    Decisions,
    Disagreements,
    ErrorCounts,
    dcf_interval,
    dcf_z_test,
    hter_interval,
    hter_z_test,
)

# Tables 1 and 4: (FRR, client accesses, FAR, impostor accesses), and the rounding of the rates.
# Model A has 10 misses in 400 trials, so printed rates give rise to warnings.
RATES = {
    "A": (0.0250, 400, 0.0115, 112000, 0.00005),
    "B": (0.0275, 400, 0.0195, 112000, 0.00005),
    "C": (0.096, 5825, 0.131, 57748, 0.0005),
    "D": (0.078, 5825, 0.158, 57748, 0.0005),
}
# The paper's figure 2 rounds the normal quantiles.
PAPER_QUANTILES = {0.90: 1.645, 0.95: 1.960, 0.99: 2.576}

# Tables 2 and 5, in percent: full widths of the intervals.
WIDTHS = {
    ("A", 0.90): {"hter": 1.285, "naive": 0.131, "class": 0.105},
    ("A", 0.95): {"hter": 1.531, "naive": 0.156, "class": 0.125},
    ("A", 0.99): {"hter": 2.013, "naive": 0.206, "class": 0.164},
    ("C", 0.90): {"hter": 0.676, "naive": 0.414, "class": 0.436},
    ("C", 0.95): {"hter": 0.805, "naive": 0.493, "class": 0.519},
    ("C", 0.99): {"hter": 1.058, "naive": 0.648, "class": 0.682},
}
# Tables 3 and 6: confidence in percent, standard deviation. The second column of table 6 is
# headed sigma squared, but holds sigma.
TESTS = {
    ("A", "B"): {"independent": (64.7, 0.0057), "naive": (100.0, 0.0006), "class": (100.0, 0.0005)},
    ("C", "D"): {"independent": (89.1, 0.0028), "naive": (98.9, 0.0018), "class": (100.0, 0.0019)},
}
# Two cells do not follow from the printed rates: the paper computed them from rates with more
# digits. One differs by the paper's rounding of the quantile 2.5758 to 2.576.
WIDTH_BY_ROUNDED_RATES = {("A", 0.95, "naive")}
WIDTH_BY_ROUNDED_QUANTILE = {("A", 0.99, "hter")}
TEST_BY_ROUNDED_RATES = {("C", "D", "naive")}

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


def model(name: str) -> ErrorCounts:
    return ErrorCounts.from_rates(*RATES[name][:4])


def models_within_rounding(name: str) -> list[ErrorCounts]:
    """The corners of the box of rates that print as those of the paper."""
    pmiss, n_tar, pfa, n_non, half = RATES[name]
    return [
        ErrorCounts.from_rates(pmiss + x, n_tar, pfa + y, n_non)
        for x, y in itertools.product((-half, half), repeat=2)
    ]


@pytest.mark.parametrize(("name", "confidence"), list(WIDTHS))
@pytest.mark.parametrize("method", ["hter", "naive", "class"])
def test_tables_2_and_5(name, confidence, method):
    printed = WIDTHS[name, confidence][method]
    width = 100 * hter_interval(model(name), confidence=confidence, method=method).width
    if (name, confidence, method) in WIDTH_BY_ROUNDED_RATES:
        assert round(width, 3) != printed
        widths = [
            100 * hter_interval(errors, confidence=confidence, method=method).width
            for errors in models_within_rounding(name)
        ]
        assert min(widths) < printed + 0.0005
        assert max(widths) > printed - 0.0005
    elif (name, confidence, method) in WIDTH_BY_ROUNDED_QUANTILE:
        assert round(width, 3) != printed
        exact = stats.norm.ppf(0.5 + confidence / 2)
        assert round(width * PAPER_QUANTILES[confidence] / exact, 3) == printed
    else:
        assert round(width, 3) == printed


@pytest.mark.parametrize("pair", list(TESTS))
@pytest.mark.parametrize("method", ["independent", "naive", "class"])
def test_tables_3_and_6(pair, method):
    confidence, sigma = TESTS[pair][method]
    test = hter_z_test(model(pair[0]), model(pair[1]), method=method)
    assert round(test.standard_error, 4) == sigma
    if (*pair, method) in TEST_BY_ROUNDED_RATES:
        assert round(100 * test.confidence, 1) != confidence
        corners = itertools.product(*map(models_within_rounding, pair))
        values = [100 * hter_z_test(a, b, method=method).confidence for a, b in corners]
        assert min(values) < confidence < max(values)
    else:
        assert round(100 * test.confidence, 1) == confidence


@pytest.mark.parametrize(
    ("pair", "confidence", "sigma", "rounding"),
    [(("A", "B"), 69.2, 0.0052, 0.00005), (("C", "D"), 98.8, 0.0016, 0.00005)],
)
def test_dependent_columns_agree_with_the_halved_difference(pair, confidence, sigma, rounding):
    # The disagreements are not printed, so eq. 16 cannot be recomputed. But sigma and delta are,
    # and they fit the difference of the HTERs, not twice that as figure 2 of the paper has it.
    gaps = [abs(a.hter - b.hter) for a, b in itertools.product(*map(models_within_rounding, pair))]
    z = stats.norm.ppf(0.5 + confidence / 200)
    low, high = z * (sigma - rounding), z * (sigma + rounding)
    assert low < max(gaps)
    assert high > min(gaps)
    assert not (low < 2 * max(gaps) and high > 2 * min(gaps))


def test_equation_14_from_its_own_constants():
    # Eq. 14 writes the squares of 0.99 and of 10 * 0.01 as divisors 0.99^-2 and 100.
    errors = ErrorCounts(misses=559, n_tar=5825, false_alarms=7565, n_non=57748)
    variance = errors.pfa * (1 - errors.pfa) / (0.99**-2 * 57748)
    variance += errors.pmiss * (1 - errors.pmiss) / (100 * 5825)
    interval = dcf_interval(errors, OperatingPoint(0.01, 10, 1))
    # Same arithmetic in another order.
    assert interval.standard_error == pytest.approx(math.sqrt(variance), rel=1e-13)
    assert interval.estimate == pytest.approx(0.1 * errors.pmiss + 0.99 * errors.pfa, rel=1e-13)


def test_hter_is_the_dcf_of_equal_prices():
    errors, other = ErrorCounts(50, 900, 70, 2000), ErrorCounts(60, 900, 64, 2000)
    even = OperatingPoint(0.5)
    hter, dcf = hter_interval(errors), dcf_interval(errors, even)
    assert (hter.low, hter.high) == (dcf.low, dcf.high)
    assert hter_z_test(errors, other).p_value == dcf_z_test(errors, other, even).p_value
    # Normalized, the cost of deciding without a detector, 1/2, becomes 1.
    assert dcf_interval(errors, even, normalize=True).low == pytest.approx(2 * dcf.low, rel=1e-14)


def test_dependent_test_on_a_small_example():
    # Targets: A misses 1, 2, 3; B misses 3. Non-targets: A accepts 1; B accepts 1, 2.
    a = Decisions([False, False, False, True], [True, False, False, False, False])
    b = Decisions([True, True, False, True], [True, True, False, False, False])
    test = hter_z_test(a, b, method="dependent")
    # Eq. 16: (2 - 0) / 8 + (0 - 1) / 10 and 2 / (4 * 16) + 1 / (4 * 25).
    assert test.difference == pytest.approx(0.15, rel=1e-15)
    assert test.standard_error == pytest.approx(math.sqrt(2 / 64 + 1 / 100), rel=1e-15)
    assert test.z == pytest.approx(test.difference / test.standard_error, rel=1e-15)
    assert test.p_value == pytest.approx(2 * stats.norm.sf(test.z), rel=1e-13)
    assert test.confidence == 1 - test.p_value
    counted = Disagreements.between(a, b)
    assert counted == Disagreements(2, 0, 4, 0, 1, 5)
    assert hter_z_test(counted, method="dependent").p_value == test.p_value
    # The cost of both errors at even odds is the half total error rate.
    assert dcf_z_test(counted, None, OperatingPoint(0.5, 1, 1)).z == pytest.approx(
        test.z, rel=1e-12
    )
    both = [hter_z_test(a, b, method=m) for m in ("independent", "dependent")]
    stricter = hter_z_test(a, b, method="stricter")
    assert stricter.p_value == max(each.p_value for each in both)


def test_difference_of_the_dependent_test_is_that_of_the_costs(rng):
    point = OperatingPoint(0.1, 3, 2)
    for _ in range(20):
        a, b = (Decisions(rng.random(50) < 0.7, rng.random(80) < 0.3) for _ in range(2))
        tests = [dcf_z_test(a, b, point, method=m) for m in ("dependent", "independent")]
        # Sums of at most 130 fractions in different orders.
        assert tests[0].difference == pytest.approx(tests[1].difference, abs=1e-13)
        swapped = dcf_z_test(b, a, point, method="dependent")
        assert swapped.z == -tests[0].z
        assert swapped.p_value == tests[0].p_value


def test_one_sided_p_values_share_the_two_sided_one():
    a, b = ErrorCounts(40, 400, 500, 6000), ErrorCounts(50, 400, 560, 6000)
    less, greater, both = (
        hter_z_test(a, b, alternative=side).p_value for side in ("less", "greater", "two-sided")
    )
    assert less < 0.5 < greater
    assert less + greater == pytest.approx(1, rel=1e-15)
    assert both == 2 * less


def test_identical_systems_do_not_differ():
    decisions = Decisions(np.ones(40, bool), np.zeros(50, bool))
    for method in ("independent", "dependent", "stricter", "naive", "class"):
        test = hter_z_test(decisions, decisions, method=method)
        assert (test.difference, test.z, test.p_value) == (0, 0, 1)


def test_a_difference_without_variance_is_not_certain():
    # Of both systems' 20 trials of a class half are errors: SE^2 = 2 * 1/4 * 1/4 * (1/10 + 1/10).
    perfect, useless = ErrorCounts(0, 10, 0, 10), ErrorCounts(10, 10, 10, 10)
    test = hter_z_test(perfect, useless)
    assert test.standard_error == pytest.approx(math.sqrt(1 / 40), rel=1e-12)
    assert test.z == pytest.approx(-math.sqrt(40), rel=1e-12)
    # Of two disagreements the signs are alike by chance half of the time.
    pair = Decisions([True, True], [False]), Decisions([False, False], [False])
    for side, least in (("two-sided", 0.5), ("less", 0.25), ("greater", 0.25)):
        dependent = hter_z_test(*pair, alternative=side)
        assert dependent.method == "dependent"
        assert dependent.p_value >= least
    assert hter_z_test(*pair).interval().low < 0 < hter_z_test(*pair).interval().high


def test_two_systems_without_errors_may_differ():
    """Each rate is at most the limit of Clopper and Pearson, 1 - 0.025^(1/n), the other's 0."""
    point = OperatingPoint(0.2, 1, 1)
    sizes = [(200, 500), (100, 300)]
    a, b = (ErrorCounts(0, n_tar, 0, n_non) for n_tar, n_non in sizes)
    most = [0.2 * (1 - 0.025 ** (1 / t)) + 0.8 * (1 - 0.025 ** (1 / n)) for t, n in sizes]
    test = dcf_z_test(a, b, point)
    assert (test.difference, test.standard_error, test.p_value) == (0, 0, 1)
    low, high = test.interval().low, test.interval().high
    assert (low, high) == pytest.approx((-most[1], most[0]), rel=1e-12)
    # As the intervals of each system's cost.
    assert (-low, high) == (dcf_interval(b, point).high, dcf_interval(a, point).high)
    # Nothing but misses: a may have fewer, b too.
    worst = ErrorCounts(200, 200, 0, 500)
    interval = dcf_z_test(worst, worst, point).interval(0.9)
    most = 0.2 * (1 - 0.05 ** (1 / 200)) + 0.8 * (1 - 0.05 ** (1 / 500))
    assert (interval.low, interval.high) == pytest.approx((-most, most), rel=1e-12)
    # Decisions that agree on 40 and 50 trials, right or wrong, may disagree on others.
    alike = Decisions(np.arange(40) < 20, np.arange(50) < 20)
    interval = hter_z_test(alike, alike).interval()
    most = 1 - (0.025 ** (1 / 40) + 0.025 ** (1 / 50)) / 2
    assert (interval.low, interval.high) == pytest.approx((-most, most), rel=1e-12)
    # One disagreement is a spread.
    other = Decisions(np.arange(40) < 21, np.arange(50) < 20)
    found = hter_z_test(other, alike)
    assert found.left_open == ((), ())
    assert found.interval().high == pytest.approx(found.difference + 1.959963984540054 / 80)


def test_no_errors_leave_room_for_some():
    # Clopper and Pearson: 1 - 0.025^(1/n), for both rates.
    limits = [1 - 0.025 ** (1 / n) for n in (400, 1000)]
    interval = hter_interval(ErrorCounts(0, 400, 0, 1000))
    assert (interval.low, interval.high) == pytest.approx((0, sum(limits) / 2), rel=1e-12)
    worst = hter_interval(ErrorCounts(400, 400, 1000, 1000))
    assert (worst.low, worst.high) == pytest.approx((1 - sum(limits) / 2, 1), rel=1e-12)


def test_independent_test_has_the_size_it_claims(rng):
    # 4000 pairs of systems with true rates 0.1 and 0.2, on other trials each: at level 5 % the
    # number of rejections is binomial; 1 % of such counts would be judged as too many or too few.
    misses, alarms = rng.binomial(400, 0.1, (4000, 2)), rng.binomial(600, 0.2, (4000, 2))
    rejections = sum(
        hter_z_test(ErrorCounts(m[0], 400, f[0], 600), ErrorCounts(m[1], 400, f[1], 600)).p_value
        < 0.05
        for m, f in zip(misses, alarms, strict=True)
    )
    assert stats.binomtest(rejections, 4000, 0.05).pvalue > 0.01


def test_counts_from_scores_key_and_decisions_agree():
    scores = Scores([[1.5, -2.0, 0.0], [0.5, 3.0, np.inf]], ["m1", "m2"], ["s1", "s2", "s3"])
    key = Key(
        ["m1", "m2"],
        ["s1", "s2", "s3"],
        tar=[[True, False, False], [False, True, False]],
        non=[[False, True, True], [True, False, True]],
    )
    expected = ErrorCounts(misses=0, n_tar=2, false_alarms=3, n_non=4)
    # The score 0.0 equals the threshold, so it is accepted.
    assert ErrorCounts.from_scores(scores, key, 0.0) == expected
    assert Decisions.from_scores(scores, key, 0.0).counts == expected
    assert ErrorCounts.at_threshold([1.5, 3.0], [0.5, -2.0, 0.0, np.inf], 0.0) == expected


def test_float32_scores_are_compared_in_float64():
    # 0.7 in float32 is below 0.7 in float64, so it is rejected.
    single = np.array([0.7, 0.8], dtype=np.float32)
    assert ErrorCounts.at_threshold(single, single, 0.7).misses == 1


@pytest.mark.filterwarnings("default")
def test_few_errors_are_pointed_out():
    with pytest.warns(FewErrorsWarning, match="The miss rate rests on 10 errors"):
        hter_interval(ErrorCounts(10, 400, 1288, 112000))
    with pytest.warns(FewErrorsWarning, match="false-alarm rate rests on 29 errors") as caught:
        hter_z_test(ErrorCounts(30, 400, 29, 400), ErrorCounts(30, 400, 30, 400))
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("error")
def test_thirty_errors_are_enough():
    hter_interval(ErrorCounts(30, 400, 30, 400))


def test_missing_scores_cannot_be_paired():
    scores = Scores([[1.0, 2.0]], ["m"], ["s1", "s2"], scoremask=[[True, False]])
    key = Key(["m"], ["s1", "s2"], tar=[[True, False]], non=[[False, True]])
    with (
        pytest.warns(UserWarning, match="1 of 1 non-targets missing"),
        pytest.raises(TrialMismatchError, match="1 of 2 have none"),
    ):
        Decisions.from_scores(scores, key, 0.0)


GOOD = ErrorCounts(30, 100, 40, 100)
DECISIONS = Decisions([True, False], [True])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ErrorCounts(5, 4, 0, 1), "`misses` must not exceed `n_tar`, 4"),
        (lambda: ErrorCounts(0, 0, 0, 1), "`n_tar` must be at least 1"),
        (lambda: ErrorCounts(-1, 4, 0, 1), "`misses` must be finite and not"),
        (lambda: ErrorCounts("x", 4, 0, 1), "must be a number; got 'x'"),
        (lambda: ErrorCounts(1, 4, math.nan, 1), "must be finite and not negative; got nan"),
        (lambda: ErrorCounts.from_rates(2.5, 4, 0.1, 9), "Percentages must be divided by 100"),
        (lambda: hter_interval(GOOD, confidence=1.0), "`confidence` must lie"),
        (lambda: hter_interval(GOOD, confidence=95), "`confidence` .* got 95"),
        (lambda: hter_interval(GOOD, method="dcf"), '"hter", "naive", "class"; got \'dcf\''),
        (lambda: hter_interval((1, 2, 3, 4)), "`errors` must be ErrorCounts"),
        (lambda: hter_z_test(GOOD, None), "`b` must be ErrorCounts or Decisions"),
        (lambda: hter_z_test(GOOD, GOOD, method="dependent"), "Counts of errors do not tell"),
        (lambda: hter_z_test(GOOD, GOOD, alternative="two"), "`alternative`"),
        (lambda: dcf_interval(GOOD, 0.5), "`cost` must have attributes p_target"),
        (lambda: dcf_z_test(GOOD, GOOD, OperatingPoint(0.5), method="naive"), "`method`"),
        (lambda: Decisions([0, 1], [True]), "`tar_accepted` must be boolean"),
        (lambda: Decisions([True], []), "`non_accepted` must hold at least one"),
        (lambda: Decisions([[True]], [True]), "must be one-dimensional"),
        (lambda: Decisions.at_threshold([1.0, math.nan], [0.0], 0.0), "`tar` .* not hold NaN"),
        (lambda: Decisions.at_threshold([1.0], [0.0], math.nan), "`threshold` .* got NaN"),
        (lambda: Disagreements(3, 3, 5, 0, 0, 1), "`n_tar` must be at least 1"),
        (lambda: Disagreements(0, 0, 1, 3, 3, 5), "`n_non` must be at least 1"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_unpaired_decisions():
    other = Decisions([True, False, True], [True])
    with pytest.raises(TrialMismatchError, match="2 targets and 1 non-targets against 3 and 1"):
        hter_z_test(DECISIONS, other, method="dependent")


def test_results_print_well():
    # SE^2 = (0.3 * 0.7 + 0.4 * 0.6) / 400, so SE = 0.0335 and 1.96 SE = 0.0657.
    assert repr(hter_interval(GOOD)) == (
        "0.35 (95 % interval 0.2843 to 0.4157, standard error 0.034; hter)"
    )
    assert "z 0, p 1 (two-sided; independent)" in repr(hter_z_test(GOOD, GOOD))
    assert repr(DECISIONS) == (
        "Decisions on 3 trials; ErrorCounts: 1 of 2 targets missed, 1 of 1 non-targets accepted"
    )
