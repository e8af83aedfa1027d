"""Priors and costs: closed forms and refusals."""

import math
from fractions import Fraction

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics import OperatingPoint, effective_prior, logit, posterior, probit, sigmoid
from bosaris_py.numerics.priors import DecisionCosts, SpoofCosts


@given(st.floats(1e-300, 1 - 1e-9))
def test_logit_sigmoid_and_probit(p: float) -> None:
    assert logit(p) == pytest.approx(math.log(p) - math.log1p(-p), rel=1e-12, abs=1e-15)
    assert sigmoid(logit(p)) == pytest.approx(p, rel=1e-12)
    assert stats.norm.cdf(probit(p)) == pytest.approx(p, rel=1e-9)
    ends = np.array([0.0, 1.0])
    for function in (logit, probit):
        assert function(ends).tolist() == [-np.inf, np.inf]
        assert isinstance(float(function(0.5)), float)
    assert sigmoid([-np.inf, 0.0, np.inf]).tolist() == [0.0, 0.5, 1.0]
    assert sigmoid(np.zeros(1, np.float32)).dtype == np.float64


@given(st.floats(1e-9, 1 - 1e-9), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_operating_point_is_consistent(p: float, c_miss: float, c_fa: float) -> None:
    point = OperatingPoint(p, c_miss, c_fa)
    assert point.threshold == -point.plo
    assert float(sigmoid(point.plo)) == pytest.approx(point.effective_prior, rel=1e-12)
    assert point.miss_cost / point.fa_cost == pytest.approx(math.exp(point.plo), rel=1e-12)


def test_costs_of_priors_points_and_log_odds_agree() -> None:
    from_prior = DecisionCosts.from_prior([0.1, 0.5])
    from_points = DecisionCosts.from_prior([OperatingPoint(0.1), OperatingPoint(0.5)])
    from_plo = DecisionCosts.from_plo([math.log(1 / 9), 0.0])
    for name in ("miss", "fa", "plo", "thresholds", "default_cost"):
        expected = getattr(from_prior, name)
        np.testing.assert_allclose(getattr(from_points, name), expected, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(getattr(from_plo, name), expected, rtol=1e-14, atol=1e-15)
    assert DecisionCosts.from_prior(0.1).plo.shape == ()
    priors = np.arange(1, 1000) / 1000
    assert [OperatingPoint(p).plo for p in priors] == DecisionCosts.from_prior(priors).plo.tolist()


@given(st.tuples(st.integers(1, 50), st.integers(0, 50)), st.tuples(*[st.integers(1, 20)] * 3))
def test_prices_of_three_classes_are_products(parts: tuple, prices: tuple) -> None:
    priors = [Fraction(part, 101) for part in (101 - sum(parts), *parts)]
    costs = SpoofCosts(*map(float, priors), *prices)
    miss, *kinds = (prior * price for prior, price in zip(priors, prices, strict=True))
    assert costs.kind_prices == pytest.approx(list(map(float, kinds)), rel=1e-14)
    decision = costs.decision
    assert (decision.miss, decision.fa) == pytest.approx((float(miss), float(sum(kinds))))
    assert costs.kind_shares[1] == costs.spoof_share
    assert costs.spoof_share == pytest.approx(float(kinds[1] / sum(kinds)), rel=1e-14)
    assert costs.threshold == pytest.approx(math.log(sum(kinds) / miss), abs=1e-14)


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize(("bad", "other"), [(-0.5, 0.75), (1.0, 0.0), (2.0, -0.5), ("0.4", 0.3)])
def test_priors_of_three_classes_are_fractions(place: int, bad: object, other: float) -> None:
    priors: list = [other, other]
    priors.insert(place, bad)
    with pytest.raises(InvalidInputError):
        SpoofCosts(*priors)


@pytest.mark.parametrize("name", ["c_miss", "c_fa", "c_fa_spoof"])
@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan, "dear"])
def test_costs_are_positive_and_finite(name: str, bad: object) -> None:
    with pytest.raises(InvalidInputError):
        SpoofCosts(0.9, 0.05, 0.05, **{name: bad})
    if name != "c_fa_spoof":
        with pytest.raises(InvalidInputError):
            OperatingPoint(0.9, **{name: bad})


def test_published_costs() -> None:
    """(0.01, 10, 1): 0.1 to 0.99. Shim et al. 2024; ASVspoof 2019: 1 % of 95 % are impostors."""
    assert effective_prior(0.01, 10, 1) == pytest.approx(10 / 109, rel=1e-15)
    point = OperatingPoint(p_target=0.01, c_miss=10, c_fa=1)
    assert point.plo == pytest.approx(math.log(0.1 / 0.99), rel=1e-15)
    assert {point: 1}[OperatingPoint(0.01, 10.0)] == 1
    # Bayes' rule: odds of 3 times 1/9 are 1/3.
    assert posterior(math.log(3), 0.1) == pytest.approx(1 / 4, rel=1e-15)
    assert posterior([0.0, math.inf], point).tolist() == pytest.approx([0.1 / 1.09, 1.0])
    assert SpoofCosts.named("a-DCF1") == SpoofCosts(0.9, 0.05, 0.05, 1, 10, 20)
    published = SpoofCosts(0.95 * 0.99, 0.95 * 0.01, 0.05)
    assert attrs.astuple(published)[3:] == (1, 10, 10)
    assert attrs.astuple(SpoofCosts.named("ASVspoof5")) == pytest.approx(attrs.astuple(published))
    # Log-odds beyond the range of priors stay exact.
    far = DecisionCosts.from_plo([40.0])
    assert far.fa[0] == pytest.approx(math.exp(-40.0), rel=1e-15)


@pytest.mark.parametrize(
    "call",
    [
        *(lambda bad=bad: OperatingPoint(bad) for bad in (0.0, 1.0, -4.6, "high", math.nan)),
        *(lambda bad=bad: logit(bad) for bad in (1.5, [0.5, math.nan], "a")),
        lambda: probit(-0.1),
        lambda: effective_prior(1.0, 1, 1),
        lambda: posterior(math.nan, 0.5),
        *(
            lambda bad=bad: DecisionCosts.from_prior(bad)
            for bad in ([0.1, 1.0], [0.0, 0.5], [[0.1]], math.nan)
        ),
    ],
)
def test_bad_values(call) -> None:
    with pytest.raises(InvalidInputError):
        call()
