"""Thresholds that a development set chooses, against a look at every threshold there is."""

import math

import numpy as np
import pytest
from bosaris_py.trials.strata import TrialStrata

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.transfer import ThresholdRule, choose_threshold, midpoint, rates_at
from bosaris_py.numerics import OperatingPoint
from bosaris_py.trials import Key, Scores
from bosaris_py.trials.sample import ListedSample

RULES = ("eer", "min-cost", "fmr=0.1", "fnmr=0.2")
POINT = OperatingPoint(0.3, 2.0, 1.0)


def every_threshold(tar, non):
    """Each way to decide: the gap of scores it leaves open, miss rate, false-alarm rate."""
    scores = np.unique(np.concatenate((tar, non)).astype(float))
    lows, highs = np.append(-np.inf, scores), np.append(scores, np.inf)
    rates = [(np.mean(tar < t), np.mean(non >= t)) for t in highs]
    return list(zip(lows, highs, *zip(*rates, strict=True), strict=True))


def naive_choice(tar, non, rule, point):
    """The gap that a rule chooses, among all of them."""
    known = ThresholdRule.parse(rule)
    gaps = every_threshold(tar, non)
    costs = {
        "eer": lambda m, f: (round(abs(m - f), 12), m + f),
        "min-cost": lambda m, f: (
            round(point.p_target * point.c_miss * m + (1 - point.p_target) * point.c_fa * f, 12),
            m,
        ),
        "fmr": lambda m, f: (f > known.rate, m, -f),
        "fnmr": lambda m, f: (m > known.rate, f, -m),
    }
    return min(gaps, key=lambda gap: costs[known.kind](*gap[2:]))


@pytest.mark.parametrize("rule", RULES)
def test_the_choice_is_the_best_of_all_thresholds(rule, rng):
    for trial in range(60):
        tar = rng.normal(1.0, 1.0, rng.integers(10, 40))
        non = rng.normal(-1.0, 1.0, rng.integers(12, 40))
        if trial % 2:  # with ties
            tar, non = np.round(tar), np.round(non)
        chosen = choose_threshold(
            ListedSample.from_scores(tar, non), ThresholdRule.parse(rule), POINT
        )
        low, high, frr, far = naive_choice(tar, non, rule, POINT)
        assert (chosen.frr, chosen.far) == (frr, far)
        assert (chosen.low, chosen.high) == (low, high)
        assert chosen.value == midpoint(low, high)
        assert (np.mean(tar < chosen.value), np.mean(non >= chosen.value)) == (frr, far)


def test_the_gap_between_separated_classes_is_halved():
    sample = ListedSample.from_scores([1.0, 2.0], [-1.0, -3.0])
    for rule in ("eer", "min-cost"):
        chosen = choose_threshold(sample, ThresholdRule.parse(rule), OperatingPoint(0.5))
        assert (chosen.low, chosen.value, chosen.high) == (-1.0, 0.0, 1.0)
        assert (chosen.frr, chosen.far) == (0.0, 0.0)
        assert chosen.is_midpoint


def test_where_one_decision_is_best_for_all_trials_the_threshold_is_infinite():
    # Inverted scores: it is best to reject all where targets are rare, else to accept all.
    sample = ListedSample.from_scores([-2.0, -1.0], [1.0, 2.0])
    for prior, value in ((0.1, math.inf), (0.9, -math.inf)):
        chosen = choose_threshold(sample, ThresholdRule("min-cost"), OperatingPoint(prior))
        assert chosen.value == value
        assert not chosen.is_midpoint


def test_infinite_scores_are_decided_as_their_rates_say():
    tar, non = [math.inf, 1.0, -math.inf], [-math.inf, -math.inf, 0.0, math.inf]
    for rule in ("eer", "min-cost", "fmr=0.3", "fnmr=0.4"):
        sample = ListedSample.from_scores(tar, non)
        chosen = choose_threshold(sample, ThresholdRule.parse(rule), OperatingPoint(0.5))
        assert rates_at(sample, chosen.value) == (chosen.frr, chosen.far)


def test_float32_scores_choose_what_their_float64_values_do(rng):
    tar, non = rng.normal(1, 1, 50).astype(np.float32), rng.normal(-1, 1, 90).astype(np.float32)
    for rule in RULES:
        pair = [
            choose_threshold(
                ListedSample.from_scores(*lists), ThresholdRule.parse(rule), OperatingPoint(0.5)
            )
            for lists in ((tar, non), (tar.astype(float), non.astype(float)))
        ]
        assert pair[0] == pair[1]


@pytest.mark.parametrize("rule", RULES)
def test_weighted_conditions_choose_as_trials_in_proportion(rule, rng):
    # Conditions of equal weight; one has twice the trials, so the other's count twice.
    tar, non = rng.normal(1, 1, 30), rng.normal(-1, 1, 60)
    conditions = np.arange(30) >= 20, np.arange(60) >= 40
    strata = TrialStrata.from_labels(*(c.astype(int) for c in conditions), None, (30, 60))
    weighted = ListedSample.from_scores(tar, non, strata=strata)
    repeated = [np.concatenate((x, x[c])) for x, c in zip((tar, non), conditions, strict=True)]
    rule = ThresholdRule.parse(rule)
    found = choose_threshold(weighted, rule, POINT)
    expected = choose_threshold(ListedSample.from_scores(*repeated), rule, POINT)
    # Rates are sums of fractions in another order.
    assert (found.frr, found.far) == pytest.approx((expected.frr, expected.far), abs=1e-14)
    assert (found.low, found.high) == (expected.low, expected.high)


@pytest.mark.parametrize("rule", RULES)
def test_files_choose_as_memory_does(rule, rng, tmp_path):
    models = [f"m{i}" for i in range(6)]
    segments = [f"s{i}" for i in range(30)]
    pairs = [(m, s) for m in models for s in segments]
    is_target = np.array([int(m[1:]) == int(s[1:]) % 6 for m, s in pairs])
    values = rng.normal(size=len(pairs)) + 2.0 * is_target
    listed, ids = zip(*pairs, strict=True)
    key = Key.from_trials(listed, ids, is_target)
    scores = Scores.from_trials(listed, ids, values)
    key.save(tmp_path / "key.h5")
    scores.save(tmp_path / "scores.h5")
    streamed = Results.from_files(tmp_path / "scores.h5", tmp_path / "key.h5").sample
    known = ThresholdRule.parse(rule)
    assert choose_threshold(streamed, known, POINT) == choose_threshold(
        ListedSample.of(scores, key), known, POINT
    )


def test_the_bayes_threshold_does_not_depend_on_dev():
    sample = ListedSample.from_scores([1.0, 2.0], [0.0, -1.0])
    chosen = choose_threshold(sample, ThresholdRule.parse("bayes"), OperatingPoint(0.1, 10, 1))
    # log((1 - p) C_fa / (p C_miss)) = log(0.9)
    assert chosen.value == pytest.approx(math.log(0.9), rel=1e-14)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("best", "fmr=RATE"),
        (0.001, "fmr=RATE"),
        ("fmr", "fmr=RATE"),
        ("fmr=1%", "0.1 % is written as 0.001"),
        ("fnmr=0", "between 0 and 1"),
        ("fmr=nan", "between 0 and 1"),
        ("eer=0.1", "fmr=RATE"),
    ],
)
def test_a_rule_that_is_none(rule, message):
    with pytest.raises(InvalidInputError, match=message) as caught:
        ThresholdRule.parse(rule)
    assert caught.value.argument == "rule"


def test_a_rate_that_so_few_trials_cannot_show(rng):
    sample = ListedSample.from_scores(rng.normal(1, 1, 40), rng.normal(-1, 1, 300))
    with pytest.raises(InvalidInputError, match=r"300 non-targets .* at least 0\.00334"):
        choose_threshold(sample, ThresholdRule.parse("fmr=0.0001"), OperatingPoint(0.5))
    with pytest.raises(InvalidInputError, match=r"40 targets .* at least 0\.025"):
        choose_threshold(sample, ThresholdRule.parse("fnmr=0.02"), OperatingPoint(0.5))
    # The least rate that can be shown is one.
    chosen = choose_threshold(sample, ThresholdRule.parse(f"fmr={1 / 300}"), OperatingPoint(0.5))
    assert chosen.far == 1 / 300
