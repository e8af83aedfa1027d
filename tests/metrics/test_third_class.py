"""Metrics of three classes against a naive count of all thresholds, and published data."""

from fractions import Fraction

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import a_dcf, act_a_dcf, sasv_eer, spf_eer, sv_eer
from bosaris_py.errors import BosarisWarning, InvalidInputError, Note
from bosaris_py.metrics.costs import act_dcf, min_dcf
from bosaris_py.metrics.third_class import BonafideEER, sample_of_three
from bosaris_py.numerics.priors import SPOOF_COSTS, OperatingPoint, SpoofCosts
from bosaris_py.trials.sample import Sample
from bosaris_py.uncertainty import ADCF, SASVEER, SPFEER, SVEER, ActADCF, Metric


def prices(costs):
    pairs = ((costs.p_target, costs.c_miss), (costs.p_nontarget, costs.c_fa))
    pairs += ((costs.p_spoof, costs.c_fa_spoof),)
    return [Fraction(p).limit_denominator(10**6) * Fraction(c) for p, c in pairs]


def naive_a_dcf(tar, non, spoof, costs):
    """Count all thresholds with fractions, as the definition says."""
    miss, alarm, fake = prices(costs)
    found = []
    for threshold in [*tar, *non, *spoof, np.inf]:
        cost = miss * Fraction(sum(x < threshold for x in tar), len(tar))
        cost += alarm * Fraction(sum(x >= threshold for x in non), len(non))
        cost += fake * Fraction(sum(x >= threshold for x in spoof), len(spoof))
        found.append(cost)
    return min(found) / min(miss, alarm + fake)


def some_lists(rng):
    levels, sizes = rng.integers(2, 12), rng.integers(1, 9, size=3)
    shifts = rng.integers(0, 4, size=3) * [1, 0, 1]
    return [
        (rng.integers(0, levels, size=size) + shift).astype(float).tolist()
        for size, shift in zip(sizes, shifts, strict=True)
    ]


@pytest.mark.parametrize("costs", ["a-DCF1", "ASVspoof5"])
def test_min_a_dcf_is_that_of_a_naive_count_of_all_thresholds(costs):
    rng = np.random.default_rng(1)
    for _ in range(25):
        lists = some_lists(rng)
        expected = float(naive_a_dcf(*lists, SPOOF_COSTS[costs]))
        # A few roundings of numbers of about one.
        assert a_dcf(*lists, costs) == pytest.approx(expected, abs=1e-14)
        shuffled = [rng.permutation(part) for part in lists]
        for function in (a_dcf, act_a_dcf, sv_eer, spf_eer, sasv_eer):
            assert function(*lists) == function(*shuffled)


def test_actual_cost_counts_at_the_bayes_threshold():
    rng = np.random.default_rng(3)
    tar, non, spoof = rng.normal(3, 2, 40), rng.normal(-3, 2, 50), rng.normal(-1, 2, 60)
    limit = np.log((0.05 * 10 + 0.05 * 20) / 0.9)
    expected = 0.9 * np.mean(tar < limit) + 0.5 * np.mean(non >= limit) + np.mean(spoof >= limit)
    # Sums in another order.
    assert act_a_dcf(tar, non, spoof) == pytest.approx(expected / 0.9, rel=1e-14)
    unscaled = act_a_dcf(tar, non, spoof, normalize=False)
    assert unscaled == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("spoof", [None, []])
@pytest.mark.parametrize("normalize", [True, False])
def test_without_spoofs_the_digits_are_those_of_two_classes(spoof, normalize):
    rng = np.random.default_rng(4)
    tar, non = rng.normal(2, 1, 300), rng.normal(-2, 1, 500)
    costs, point = SpoofCosts(0.99, 0.01, 0.0, 1.0, 10.0), OperatingPoint(0.99, 1.0, 10.0)
    given = {"normalize": normalize}
    assert a_dcf(tar, non, spoof, costs, **given) == min_dcf(tar, non, point, **given)
    assert act_a_dcf(tar, non, spoof, costs, **given) == act_dcf(tar, non, point, **given)


@pytest.mark.parametrize(
    "make",
    [
        lambda: a_dcf([1.0], [0.0], []),
        lambda: a_dcf([1.0], [0.0], None),
        lambda: a_dcf([1.0], None, [0.0]),
        lambda: spf_eer([1.0], [0.0], None),
        lambda: SpoofCosts(0.9, 0.2, 0.05),
        lambda: SpoofCosts.named("asvspoof5"),
    ],
)
def test_bad_input(make):
    with pytest.raises(InvalidInputError):
        make()


@pytest.mark.parametrize("costs", ["a-DCF1", "ASVspoof5"])
@pytest.mark.parametrize("normalize", [True, False])
def test_a_cost_is_that_of_the_errors_of_each_kind(costs, normalize):
    rng, shares = np.random.default_rng(6), [float(x) for x in prices(SPOOF_COSTS[costs])]
    scale = min(shares[0], shares[1] + shares[2]) if normalize else 1.0
    for _ in range(20):
        lists = [np.array(part) for part in some_lists(rng)]
        for metric in (ADCF(costs, normalize=normalize), ActADCF(costs, normalize=normalize)):
            view = metric.view(sample_of_three(*lists))
            parts, limit = metric.openings(view), metric.limit(view)
            assert [part.place for part in parts] == [0, 1, 2]
            assert [part.price for part in parts] == pytest.approx([x / scale for x in shares])
            rates = [np.mean(lists[0] < limit), *(np.mean(one >= limit) for one in lists[1:])]
            assert [part.rate for part in parts] == pytest.approx(rates, abs=1e-15)
    least, most = ADCF(costs, normalize=normalize).bounds
    assert (least, most) == (0.0, pytest.approx(min(shares[0], sum(shares[1:])) / scale))
    assert ADCF(costs).scale == "log"


@pytest.mark.parametrize("definition", ["rocch", "interpolated", "step"])
def test_equal_error_rates_are_those_of_the_kinds(definition):
    rng = np.random.default_rng(7)
    for _ in range(20):
        tar, non, spoof = some_lists(rng)
        three, how = sample_of_three(tar, non, spoof), {"definition": definition}
        found = [metric(definition).value(three) for metric in (SVEER, SPFEER, SASVEER)]
        expected = [bp.eer(tar, other, **how) for other in (non, spoof, [*non, *spoof])]
        assert found == pytest.approx(expected, abs=1e-15)
        # Of a countermeasure alone all non-targets are spoofs, whatever they are called.
        for one in (sample_of_three(tar, spoof, None), sample_of_three(tar, None, spoof)):
            assert BonafideEER(definition).value(one) == pytest.approx(expected[1], abs=1e-15)
        with pytest.raises(InvalidInputError):
            BonafideEER(definition).value(three)
    alone = attrs.evolve(sample_of_three(tar, non, None), kinds=np.zeros(len(non), int))
    assert Metric(bp.eer).value(alone) == bp.eer(tar, non)
    noted = attrs.evolve(three, notes=(Note(BosarisWarning, "something"),))
    assert all(metric().view(noted).notes == noted.notes for metric in (SVEER, SASVEER, ADCF))


def test_without_spoofs_the_openings_are_those_of_two_classes(rng):
    """A share of spoofs of zero asks for no spoof."""
    sample = Sample.from_scores(rng.normal(1.0, 1.0, 30), rng.normal(-1.0, 1.0, 40))
    metric = ActADCF(SpoofCosts(0.9, 0.1, 0.0, 1.0, 10.0, 20.0))
    missed, accepted = metric.openings(sample)
    assert accepted.rate == np.mean(sample.non.listed >= metric.limit(sample))
    assert missed.rate == np.mean(sample.tar.listed < metric.limit(sample))
