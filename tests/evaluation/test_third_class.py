"""Metrics of three classes against a naive count of all thresholds, and published data."""

from fractions import Fraction

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError

A_DCF1 = bp.SpoofCosts(0.9, 0.05, 0.05, 1.0, 10.0, 20.0)


def _exact_prices(costs):
    pairs = ((costs.p_target, costs.c_miss), (costs.p_nontarget, costs.c_fa))
    pairs += ((costs.p_spoof, costs.c_fa_spoof),)
    return [Fraction(p).limit_denominator(10**6) * Fraction(c) for p, c in pairs]


def naive_a_dcf(tar, non, spoof, costs):
    """Count all thresholds with fractions, as the definition says."""
    miss, alarm, fake = _exact_prices(costs)
    best = None
    for threshold in [*tar, *non, *spoof, np.inf]:
        cost = miss * Fraction(sum(x < threshold for x in tar), len(tar))
        cost += alarm * Fraction(sum(x >= threshold for x in non), len(non))
        cost += fake * Fraction(sum(x >= threshold for x in spoof), len(spoof))
        best = cost if best is None else min(best, cost)
    return best / min(miss, alarm + fake)


def _some_lists(rng):
    levels = rng.integers(2, 12)
    sizes = rng.integers(1, 9, size=3)
    shifts = rng.integers(0, 4, size=3) * [1, 0, 1]
    return [
        (rng.integers(0, levels, size=size) + shift).astype(float).tolist()
        for size, shift in zip(sizes, shifts, strict=True)
    ]


def test_min_a_dcf_is_that_of_a_naive_count_of_all_thresholds():
    rng = np.random.default_rng(1)
    for number in range(1000):
        costs = ("a-DCF1", "ASVspoof5")[number % 2]
        lists = _some_lists(rng)
        expected = float(naive_a_dcf(*lists, bp.SpoofCosts.named(costs)))
        # A few roundings of numbers of about one.
        assert bp.a_dcf(*lists, costs) == pytest.approx(expected, abs=1e-14)


def test_the_order_of_lines_does_not_matter():
    rng = np.random.default_rng(2)
    for _ in range(50):
        lists = _some_lists(rng)
        shuffled = [rng.permutation(part) for part in lists]
        for function in (bp.a_dcf, bp.act_a_dcf, bp.sv_eer, bp.spf_eer, bp.sasv_eer):
            assert function(*lists) == function(*shuffled)


def test_actual_cost_counts_at_the_bayes_threshold():
    rng = np.random.default_rng(3)
    tar, non, spoof = rng.normal(3, 2, 40), rng.normal(-3, 2, 50), rng.normal(-1, 2, 60)
    limit = np.log((0.05 * 10 + 0.05 * 20) / 0.9)
    expected = 0.9 * np.mean(tar < limit) + 0.5 * np.mean(non >= limit) + np.mean(spoof >= limit)
    # Sums in another order.
    assert bp.act_a_dcf(tar, non, spoof) == pytest.approx(expected / 0.9, rel=1e-14)
    unscaled = bp.act_a_dcf(tar, non, spoof, normalize=False)
    assert unscaled == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("spoof", [None, []])
@pytest.mark.parametrize("normalize", [True, False])
def test_without_spoofs_the_digits_are_those_of_two_classes(spoof, normalize):
    rng = np.random.default_rng(4)
    tar, non = rng.normal(2, 1, 300), rng.normal(-2, 1, 500)
    costs, point = bp.SpoofCosts(0.99, 0.01, 0.0, 1.0, 10.0), bp.OperatingPoint(0.99, 1.0, 10.0)
    given = {"normalize": normalize}
    assert bp.a_dcf(tar, non, spoof, costs, **given) == bp.min_dcf(tar, non, point, **given)
    assert bp.act_a_dcf(tar, non, spoof, costs, **given) == bp.act_dcf(tar, non, point, **given)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        (([1.0], [0.0], []), "`spoof` must hold scores, of prior 0.05 in the costs; got none"),
        (([1.0], [0.0], None), "`spoof` must hold scores"),
        (([1.0], None, [0.0]), "`non` must hold scores, of prior 0.05"),
    ],
)
def test_a_class_of_positive_prior_has_scores(lists, message):
    with pytest.raises(InvalidInputError, match=message):
        bp.a_dcf(*lists)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: bp.SpoofCosts(0.9, 0.2, 0.05), "the priors` must add up to 1; got 1.15"),
        (lambda: bp.SpoofCosts(0.9, -0.05, 0.15), r"must lie in \[0, 1\)"),
        (lambda: bp.SpoofCosts(0.9, 0.05, 0.05, c_fa_spoof=0.0), "c_fa_spoof` must be positive"),
        (lambda: bp.SpoofCosts.named("asvspoof5"), "or the name of some"),
        (lambda: bp.SpoofCosts.named(0.05), "must be SpoofCosts, or the name of some"),
        (lambda: bp.spf_eer([1.0], [0.0], None), "`spoof` must hold scores"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


@pytest.fixture(scope="module")
def asvspoof():
    trials = bp.load_example("asvspoof2019_la").eval.trials
    labels = trials.columns["label"].values()
    asv, cm = (np.asarray(trials.columns[name], float) for name in ("ecapa", "aasist"))
    scores = -np.logaddexp(np.log(0.5) - (27.25 * asv - 12.34), np.log(0.5) - cm)
    lists = [scores[labels == name] for name in ("target", "nontarget", "spoof")]
    return lists, scores, trials.columns["attack"].values()


def test_figures_of_a_naive_count_on_asvspoof_2019(asvspoof):
    # Counted by a program that knows all thresholds and shares no code with this one.
    lists, _, _ = asvspoof
    assert round(bp.a_dcf(*lists, "a-DCF1"), 10) == 0.0482270669
    assert round(bp.a_dcf(*lists, "ASVspoof5"), 10) == 0.0625550350
    assert round(bp.act_a_dcf(*lists, "ASVspoof5"), 10) == 0.1090513309


@pytest.mark.parametrize(
    ("function", "percent"),
    [
        (bp.sv_eer, (1.6385, 1.6387, 1.6292)),
        (bp.spf_eer, (2.6628, 2.6629, 2.6116)),
        (bp.sasv_eer, (2.4021, 2.4022, 2.3487)),
    ],
)
def test_equal_error_rates_on_asvspoof_2019(asvspoof, function, percent):
    for definition, expected in zip(("step", "interpolated", "rocch"), percent, strict=True):
        assert round(100 * function(*asvspoof[0], definition=definition), 4) == expected


def test_a_dcf_by_attack_on_asvspoof_2019(asvspoof):
    (tar, non, _), scores, attacks = asvspoof
    names = sorted(set(attacks) - {"bonafide", "-"})
    found = {name: bp.a_dcf(tar, non, scores[attacks == name], "ASVspoof5") for name in names}
    ranked = sorted(found, key=found.__getitem__)
    assert ranked[:2] == ["A09", "A14"]
    assert ranked[-2:] == ["A12", "A10"]
    published = {"A10": 0.093367, "A12": 0.084626, "A09": 0.024598, "A14": 0.026629}
    assert {name: round(found[name], 6) for name in published} == published
