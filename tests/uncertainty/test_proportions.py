"""Bengio and Mariethoz 2004: tables 2, 3, 5 and 6, and what decisions without variation tell."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import FewErrorsWarning, InvalidInputError
from bosaris_py.uncertainty import Decisions, ErrorCounts

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

POINT = bp.OperatingPoint(0.01, 10, 1)

# Tables 1 and 4: FRR, client accesses, FAR, impostor accesses; and the rounding of the rates.
RATES = {
    "A": (0.0250, 400, 0.0115, 112000, 0.00005),
    "B": (0.0275, 400, 0.0195, 112000, 0.00005),
    "C": (0.096, 5825, 0.131, 57748, 0.0005),
    "D": (0.078, 5825, 0.158, 57748, 0.0005),
}
# Tables 2 and 5, in per cent: lengths of the intervals, by method.
METHODS = ("hter", "naive", "class")
LENGTHS = {
    ("A", 0.90): (1.285, 0.131, 0.105),
    ("A", 0.95): (1.531, 0.156, 0.125),
    ("A", 0.99): (2.013, 0.206, 0.164),
    ("C", 0.90): (0.676, 0.414, 0.436),
    ("C", 0.95): (0.805, 0.493, 0.519),
    ("C", 0.99): (1.058, 0.648, 0.682),
}
# Tables 3 and 6: confidence in per cent, standard deviation. The second column of table 6 is headed
# sigma squared, but holds sigma.
TESTS = {
    ("A", "B"): {"independent": (64.7, 0.0057), "naive": (100.0, 0.0006), "class": (100.0, 0.0005)},
    ("C", "D"): {"independent": (89.1, 0.0028), "naive": (98.9, 0.0018), "class": (100.0, 0.0019)},
}
# What the paper computed from rates with more digits than it prints, and its quantile 2.576.
BY_ROUNDED_RATES = {("A", 0.95, "naive"), ("C", "D", "naive")}
BY_ROUNDED_QUANTILE = {("A", 0.99, "hter")}


def model(name: str) -> ErrorCounts:
    return ErrorCounts.from_rates(*RATES[name][:4])


def within_rounding(name: str) -> list[ErrorCounts]:
    """Return the corners of the box of rates that print as those of the paper."""
    pmiss, n_tar, pfa, n_non, half = RATES[name]
    corners = itertools.product((-half, half), repeat=2)
    return [ErrorCounts.from_rates(pmiss + x, n_tar, pfa + y, n_non) for x, y in corners]


@pytest.mark.parametrize(("name", "confidence"), list(LENGTHS))
@pytest.mark.parametrize("method", METHODS)
def test_tables_2_and_5(name, confidence, method):
    def length(errors):
        found = unc.hter_interval(errors, confidence=confidence, method=method)
        return 100 * (found.high - found.low)

    printed = LENGTHS[name, confidence][METHODS.index(method)]
    cell, exact = (name, confidence, method), length(model(name))
    if cell in BY_ROUNDED_RATES:
        lengths = [length(errors) for errors in within_rounding(name)]
        assert min(lengths) - 0.0005 < printed < max(lengths) + 0.0005
    elif cell in BY_ROUNDED_QUANTILE:
        assert round(exact * 2.576 / stats.norm.ppf(0.995), 3) == printed != round(exact, 3)
    else:
        assert round(exact, 3) == printed


@pytest.mark.parametrize("pair", list(TESTS))
@pytest.mark.parametrize("method", ["independent", "naive", "class"])
def test_tables_3_and_6(pair, method):
    def delta(a, b):
        return 100 * (1 - unc.hter_z_test(a, b, method=method).p_value())

    printed, sigma = TESTS[pair][method]
    a, b = map(model, pair)
    assert round(unc.hter_z_test(a, b, method=method).standard_error, 4) == sigma
    if (*pair, method) in BY_ROUNDED_RATES:
        corners = itertools.product(*map(within_rounding, pair))
        deltas = [delta(*corner) for corner in corners]
        assert min(deltas) < printed < max(deltas)
    else:
        assert round(delta(a, b), 1) == printed


def test_equation_14_from_its_own_constants():
    # It writes the squares of 0.99 and of 10 * 0.01 as divisors 0.99^-2 and 100.
    errors = ErrorCounts(misses=559, n_tar=5825, false_alarms=7565, n_non=57748)
    variance = errors.pfa * (1 - errors.pfa) / (0.99**-2 * 57748)
    variance += errors.pmiss * (1 - errors.pmiss) / (100 * 5825)
    found = unc.dcf_interval(errors, POINT, normalize=False)
    assert found.standard_error == pytest.approx(math.sqrt(variance), rel=1e-13)
    assert found.value == pytest.approx(0.1 * errors.pmiss + 0.99 * errors.pfa, rel=1e-13)
    assert unc.dcf_interval(errors, POINT).high == pytest.approx(10 * found.high, rel=1e-13)
    # Of several points the mean cost; the HTER is the cost of equal prices.
    both = [unc.dcf_interval(errors, prior).value for prior in (0.5, POINT)]
    assert unc.dcf_interval(errors, [0.5, POINT]).value == pytest.approx(np.mean(both), rel=1e-13)
    hter, dcf = unc.hter_interval(errors), unc.dcf_interval(errors, 0.5, normalize=False)
    assert (hter.low, hter.high) == (dcf.low, dcf.high)


def test_equation_16_on_a_small_example():
    # Targets: A misses 1, 2, 3; B misses 3. Non-targets: A accepts 1; B accepts 1, 2.
    a = Decisions([False, False, False, True], [True, False, False, False, False])
    b = Decisions([True, True, False, True], [True, True, False, False, False])
    test = unc.hter_z_test(a, b)
    assert test.method == "dependent"
    # (2 - 0) / 8 + (0 - 1) / 10 and 2 / (4 * 16) + 1 / (4 * 25).
    assert test.value == pytest.approx(0.15, rel=1e-15)
    assert test.standard_error == pytest.approx(math.sqrt(2 / 64 + 1 / 100), rel=1e-15)
    assert test.p_value() == pytest.approx(2 * stats.norm.sf(test.z), rel=1e-13)
    swapped = unc.dcf_z_test(b, a, 0.5)
    assert (swapped.z, swapped.p_value()) == pytest.approx((-test.z, test.p_value()), rel=1e-13)
    both = [unc.hter_z_test(a, b, method=m).standard_error for m in ("independent", "dependent")]
    assert unc.hter_z_test(a, b, method="stricter").standard_error == max(both)


def test_no_errors_leave_room_for_some():
    # Clopper and Pearson: 1 - 0.025^(1/n), for both rates.
    most = sum(1 - 0.025 ** (1 / n) for n in (400, 1000)) / 2
    found = unc.hter_interval(ErrorCounts(0, 400, 0, 1000))
    assert (found.low, found.high) == pytest.approx((0, most), rel=1e-12)
    worst = unc.hter_interval(ErrorCounts(400, 400, 1000, 1000))
    assert (worst.low, worst.high) == pytest.approx((1 - most, 1), rel=1e-12)
    # Beside a spread it adds in squares.
    found = unc.hter_interval(ErrorCounts(40, 400, 0, 1000))
    half = math.hypot(1.959963984540054 * found.standard_error, (1 - 0.025**0.001) / 2)
    assert found.high == pytest.approx(0.05 + half, rel=1e-12)


def test_two_systems_without_errors_may_differ():
    point, sizes = bp.OperatingPoint(0.2), [(200, 500), (100, 300)]
    a, b = (ErrorCounts(0, n_tar, 0, n_non) for n_tar, n_non in sizes)
    most = [0.2 * (1 - 0.025 ** (1 / t)) + 0.8 * (1 - 0.025 ** (1 / n)) for t, n in sizes]
    test = unc.dcf_z_test(a, b, point, normalize=False)
    assert (test.value, test.standard_error, test.z, test.p_value()) == (0, 0, 0, 1)
    assert (test.low, test.high) == pytest.approx((-most[1], most[0]), rel=1e-12)
    # Decisions that agree on 40 and 50 trials, right or wrong, may disagree on others.
    alike = Decisions(np.arange(40) < 20, np.arange(50) < 20)
    found = unc.hter_z_test(alike, alike)
    most = 1 - (0.025 ** (1 / 40) + 0.025 ** (1 / 50)) / 2
    assert (found.low, found.high) == pytest.approx((-most, most), rel=1e-12)
    for method in ("independent", "stricter", "naive", "class"):
        assert unc.hter_z_test(alike, alike, method=method).p_value() == 1


def test_a_difference_without_variance_is_not_certain():
    # Of both systems' 20 trials of a class half are errors: SE^2 = 2 * 1/4 * 1/4 * (1/10 + 1/10).
    test = unc.hter_z_test(ErrorCounts(0, 10, 0, 10), ErrorCounts(10, 10, 10, 10))
    assert test.standard_error == pytest.approx(math.sqrt(1 / 40), rel=1e-12)
    # Of two disagreements the signs are alike by chance half of the time.
    pair = unc.hter_z_test(Decisions([True] * 2, [False]), Decisions([False] * 2, [False]))
    assert (pair.p_value(), pair.p_value(alternative="less")) == (0.5, 0.25)
    assert pair.interval(0.6)[1] == 0
    assert pair.interval(0.4)[1] < 0


counts = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts, st.floats(0.5, 0.999))
def test_wilson_ends_solve_the_z_test(errors_trials, confidence):
    errors, n = errors_trials
    found = unc.error_rate_interval(errors, n, confidence=confidence)
    expected = stats.binomtest(errors, n).proportion_ci(confidence, method="wilson")
    assert unc.error_rate_interval(0, n, method="wilson").p_value(0.0) == 1.0
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-10, abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1
    mirrored = unc.error_rate_interval(n - errors, n, confidence=confidence)
    assert mirrored.low == pytest.approx(1 - found.high, abs=1e-10)
    # A rate at an end is rejected at the level of the interval.
    if errors:
        assert found.p_value(found.low) == pytest.approx(1 - confidence, rel=1e-6)


def test_normal_interval_is_equation_12():
    found = unc.error_rate_interval(100, 1000, confidence=0.9, method="normal")
    half = stats.norm.ppf(0.95) * math.sqrt(0.1 * 0.9 / 1000)
    assert (found.low, found.high) == pytest.approx((0.1 - half, 0.1 + half), rel=1e-13)


def test_the_rule_of_30_keeps_its_promise():
    # 30 errors expected: the observed rate is within 30 % of the true one in about 90 % of cases.
    assert (unc.rule_of_30(3000), unc.rule_of_30(0.01)) == (0.01, 3000)
    assert 0.88 < stats.binom.cdf(39, 3000, 0.01) - stats.binom.cdf(20, 3000, 0.01) < 0.93


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_against_independent_formulas(only_a, only_b):
    n = only_a + only_b
    a, b = np.arange(n + 1) >= only_a, (np.arange(n + 1) < only_a) | (np.arange(n + 1) == n)
    pair = Decisions(a, [True]), Decisions(b, [True])
    exact = stats.binomtest(only_a, n, 0.5).pvalue if n else 1.0
    found = {m: unc.mcnemar_test(*pair, method=m) for m in ("exact", "mid-p", "chi2", "corrected")}
    assert (found["exact"].only_a_errs, found["exact"].only_b_errs) == (only_a, only_b)
    assert found["exact"].p_value == pytest.approx(exact, rel=1e-10)
    mid = exact - stats.binom.pmf(only_a, n, 0.5) if only_a != only_b else 1.0
    assert found["mid-p"].p_value == pytest.approx(mid, rel=1e-9)
    # Equations (9) and (10): z = (n_a - n_b) / sqrt(n_a + n_b), and two tails of it.
    for method, shift in (("chi2", 0), ("corrected", 1)):
        z = max(abs(only_a - only_b) - shift, 0) / math.sqrt(n) if n else 0
        assert found[method].p_value == pytest.approx(2 * stats.norm.sf(z), rel=1e-9)


def test_mcnemar_counts_the_classes_that_are_asked_for():
    a = Decisions([False, False, True], [True, False, True, True])
    b = Decisions([True, True, False], [True, True, False, False])
    for classes, expected in {"tar": (2, 1), "non": (2, 1), "both": (4, 2)}.items():
        test = unc.mcnemar_test(a, b, classes=classes)
        assert (test.only_a_errs, test.only_b_errs) == expected
        assert unc.mcnemar_test(b, a, classes=classes).p_value == test.p_value


RNG = np.random.default_rng(1)
MODELS, SEGMENTS = [f"m{i}" for i in range(8)], [f"s{i}" for i in range(12)]
TAR = RNG.random((8, 12)) < 0.4
KEY = bp.Key(MODELS, SEGMENTS, TAR, ~TAR)
ACCEPTED = RNG.random((8, 12)) < np.where(TAR, 0.8, 0.3)
FIRST = np.repeat(np.arange(8) < 3, 12).reshape(8, 12)
SCORES = bp.Scores(ACCEPTED.astype(float), MODELS, SEGMENTS)


def test_van_leeuwen_equations_5_6_19_and_20():
    conditions = bp.Conditions({"a": FIRST, "b": ~FIRST}, {"a": 0.7, "b": 0.3})
    found = Decisions.from_scores(SCORES, KEY, 0.5, conditions=conditions)
    pmiss = pfa = 0.0
    for mask, weight in ((FIRST, 0.7), (~FIRST, 0.3)):
        pmiss += weight * (mask & TAR & ~ACCEPTED).sum() / (mask & TAR).sum()
        pfa += weight * (mask & ~TAR & ACCEPTED).sum() / (mask & ~TAR).sum()
    assert (found.pmiss, found.pfa) == pytest.approx((pmiss, pfa), rel=1e-12)
    cost = found.cost(POINT, normalize=False)
    assert cost == pytest.approx(0.1 * pmiss + 0.99 * pfa, rel=1e-12)
    assert found.cost(POINT) == pytest.approx(10 * cost, rel=1e-12)
    assert pickle.loads(pickle.dumps(found)).pmiss == found.pmiss
    plain = Decisions.from_scores(SCORES, KEY, 0.5)
    assert plain.counts == found.counts
    assert plain.counts.misses == (TAR & ~ACCEPTED).sum()
    assert (plain.pmiss, plain.pfa) == plain.counts.rates
    both = bp.Conditions({"all": TAR | ~TAR, "a": FIRST}, [0.5, 0.5], overlap="allow")
    for call in (
        lambda: unc.hter_z_test(found, plain),
        lambda: Decisions.from_scores(SCORES, KEY, 0.5, conditions=both),
    ):
        with pytest.raises(InvalidInputError):
            call()


def test_counts_at_a_threshold():
    # A score that equals the threshold is accepted. 0.7 in float32 is below 0.7 in float64.
    expected = ErrorCounts(misses=0, n_tar=2, false_alarms=3, n_non=4)
    assert ErrorCounts.at_threshold([1.5, 3.0], [0.5, -2.0, 0.0, np.inf], 0.0) == expected
    single = np.array([0.7, 0.8], dtype=np.float32)
    assert ErrorCounts.at_threshold(single, single, 0.7).misses == 1


@pytest.mark.parametrize("errors", [(0.1, 0.2), (0.5, 0), (0, 0.99)])
def test_rates_in_place_of_counts_are_pointed_out(errors):
    with pytest.warns(bp.errors.SuspectScoresWarning):
        ErrorCounts(errors[0], 10, errors[1], 20)
    ErrorCounts(0, 10, 0, 20)
    ErrorCounts(1, 10, 0, 20)


@pytest.mark.filterwarnings("default")
def test_few_errors_are_pointed_out():
    with pytest.warns(FewErrorsWarning, match="The miss rate rests on 10 errors") as caught:
        unc.hter_interval(ErrorCounts(10, 400, 1288, 112000))
    assert caught[0].filename == __file__
    assert not unc.hter_interval(ErrorCounts(30, 400, 30, 400)).notes


GOOD = ErrorCounts(30, 100, 40, 100)
DECISIONS = Decisions([True, False], [True])


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda: ErrorCounts(5, 4, 0, 1), "misses"),
        (lambda: ErrorCounts(0, 0, 0, 1), "n_tar"),
        (lambda: ErrorCounts.from_rates(2.5, 4, 0.1, 9), "pmiss"),
        (lambda: unc.error_rate_interval(5, 4), "errors"),
        (lambda: unc.error_rate_interval(1, 0.01), "trials"),
        (lambda: unc.error_rate_interval(1, 4, method="exact"), "method"),
        (lambda: unc.rule_of_30(0), "trials_or_rate"),
        (lambda: unc.hter_interval(GOOD, confidence=95), "confidence"),
        (lambda: unc.hter_interval((1, 2, 3, 4)), "errors"),
        (lambda: unc.hter_z_test(GOOD, None), "b"),
        (lambda: unc.hter_z_test(GOOD, GOOD, method="dependent"), "a and b"),
        (lambda: unc.dcf_z_test(GOOD, GOOD, 0.5, method="naive"), "method"),
        (lambda: unc.mcnemar_test(GOOD, GOOD), "a and b"),
        (lambda: Decisions([0, 1], [True]), "tar_accepted"),
        (lambda: Decisions([True], []), "non_accepted"),
        (lambda: Decisions.at_threshold([1.0], [0.0], math.nan), "threshold"),
    ],
)
def test_bad_input(call, argument):
    with pytest.raises(InvalidInputError) as caught:
        call()
    assert caught.value.argument == argument


def test_decisions_on_other_trials_are_no_pair():
    with pytest.raises(bp.errors.TrialMismatchError):
        unc.hter_z_test(DECISIONS, Decisions([True, False, True], [True]), method="dependent")
    partial = bp.Scores(ACCEPTED.astype(float), MODELS, SEGMENTS, scoremask=FIRST)
    with pytest.raises(bp.errors.TrialMismatchError):
        Decisions.from_scores(partial, KEY, 0.5)
