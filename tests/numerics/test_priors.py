"""Priors and costs: closed forms, the toolkit's values, and refusals."""

import json
import math
from fractions import Fraction
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics import OperatingPoint, effective_prior, logit, probit, sigmoid
from bosaris_py.numerics.priors import DecisionCosts, SpoofCosts


def _case(oracle: Path, name: str) -> dict:
    cases = json.loads((oracle / "classes.json").read_text())
    return next(case for case in cases if case["name"] == name)


def test_effective_prior_as_the_toolkit(oracle: Path) -> None:
    case = _case(oracle, "effective_prior")
    ours = [effective_prior(*args) for args in case["in"]["args"]]
    np.testing.assert_allclose(ours, case["out"], rtol=1e-15)


def test_maths_as_the_toolkit(oracle: Path) -> None:
    case = _case(oracle, "maths")
    x = np.array([-np.inf, *case["in"]["x"][1:-1], np.inf], dtype=float)
    p = np.array(case["in"]["p"], dtype=float)
    np.testing.assert_allclose(sigmoid(x), np.array(case["out"]["sigmoid"], float), atol=1e-12)
    inner = (p > 0) & (p < 1)
    # The toolkit forms 2p-1 for its probit, which costs half the digits at 1e-10.
    for ours, name, rtol in ((logit, "logit", 1e-14), (probit, "probit", 1e-8)):
        recorded = np.array(case["out"][name], dtype=object)[inner].astype(float)
        np.testing.assert_allclose(ours(p[inner]), recorded, rtol=rtol, atol=1e-15)
        assert (ours(0.0), ours(1.0)) == (-np.inf, np.inf)


def test_effective_prior_is_the_fraction() -> None:
    exact = Fraction(1, 100) * 10 / (Fraction(1, 100) * 10 + Fraction(99, 100))
    assert effective_prior(0.01, 10, 1) == pytest.approx(float(exact), rel=1e-15)


@given(st.floats(1e-9, 1 - 1e-9), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_operating_point_is_consistent(p: float, c_miss: float, c_fa: float) -> None:
    point = OperatingPoint(p, c_miss, c_fa)
    assert point.threshold == -point.plo
    assert float(sigmoid(point.plo)) == pytest.approx(point.effective_prior, rel=1e-12)
    assert point.miss_cost / point.fa_cost == pytest.approx(math.exp(point.plo), rel=1e-12)


def test_nist_operating_point_by_hand() -> None:
    """(0.01, 10, 1): plo = log(0.1 / 0.99)."""
    point = OperatingPoint(p_target=0.01, c_miss=10, c_fa=1)
    assert point.plo == pytest.approx(math.log(0.1 / 0.99), rel=1e-15)
    assert point == OperatingPoint(0.01, 10.0)
    assert hash(point) == hash(OperatingPoint(0.01, 10.0))


@given(st.floats(-700, 700))
def test_logit_inverts_sigmoid_where_floats_can(x: float) -> None:
    p = float(sigmoid(x))
    if 1e-300 < p < 0.999:
        # Near p = 0.999 a rounding of p moves its logit by about 1000 times as much.
        assert float(logit(p)) == pytest.approx(x, rel=1e-12, abs=1e-12)


def test_costs_of_priors_points_and_log_odds_agree() -> None:
    from_prior = DecisionCosts.from_prior([0.1, 0.5])
    from_points = DecisionCosts.from_prior([OperatingPoint(0.1), OperatingPoint(0.5)])
    from_plo = DecisionCosts.from_plo([math.log(1 / 9), 0.0])
    for name in ("miss", "fa", "plo", "thresholds", "default_cost"):
        expected = getattr(from_prior, name)
        if name in ("miss", "fa", "plo"):
            assert not expected.flags.writeable
            assert not getattr(from_plo, name).flags.writeable
        np.testing.assert_allclose(getattr(from_points, name), expected, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(getattr(from_plo, name), expected, rtol=1e-14, atol=1e-15)
    assert DecisionCosts.from_prior(0.1).plo.shape == ()


def test_prices_of_three_classes_by_hand() -> None:
    """0.9 of a miss, 0.05 x 10 of a false alarm, 0.05 x 20 of a spoof."""
    costs = SpoofCosts(0.9, 0.05, 0.05, 1.0, 10.0, 20.0)
    assert (costs.miss_price, *costs.kind_prices) == pytest.approx((0.9, 0.5, 1.0))
    assert costs.spoof_share == pytest.approx(2 / 3)
    assert costs.kind_shares == pytest.approx((1 / 3, 2 / 3))
    assert costs.threshold == pytest.approx(math.log(1.5 / 0.9))
    assert float(costs.decision.default_cost) == pytest.approx(0.9)
    assert SpoofCosts(0.5, 0.5, 0.0).kind_shares == (1.0, 0.0)


def test_names_stand_for_published_priors_and_costs() -> None:
    """Shim et al. 2024, first set; ASVspoof 2019: 1 % of 95 % are impostors."""
    assert SpoofCosts.named("a-DCF1") == SpoofCosts(0.9, 0.05, 0.05, 1, 10, 20)
    published = SpoofCosts(0.95 * 0.99, 0.95 * 0.01, 0.05)
    assert attrs.astuple(published)[3:] == (1, 10, 10)
    assert attrs.astuple(SpoofCosts.named("ASVspoof5")) == pytest.approx(attrs.astuple(published))


@given(st.tuples(st.integers(1, 50), st.integers(0, 50)), st.tuples(*[st.integers(1, 20)] * 3))
def test_prices_of_three_classes_are_products(parts: tuple, prices: tuple) -> None:
    priors = [Fraction(part, 101) for part in (101 - sum(parts), *parts)]
    costs = SpoofCosts(*map(float, priors), *prices)
    miss, *kinds = (prior * price for prior, price in zip(priors, prices, strict=True))
    assert costs.kind_priors == tuple(map(float, priors[1:]))
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


def test_log_odds_beyond_the_range_of_priors_stay_exact() -> None:
    costs = DecisionCosts.from_plo([40.0])
    assert costs.fa[0] == pytest.approx(math.exp(-40.0), rel=1e-15)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: OperatingPoint(0.0), "`p_target` must lie strictly between"),
        (lambda: OperatingPoint(-4.6), "prior log-odds or a percentage"),
        (lambda: OperatingPoint("high"), "be a number between 0 and 1; got 'high'"),
        (lambda: OperatingPoint(0.1, c_miss=0), "`c_miss` must be positive"),
        (lambda: OperatingPoint(0.1, c_fa=math.inf), "`c_fa`"),
        (lambda: OperatingPoint(0.1, c_fa="dear"), "be a number"),
        (lambda: effective_prior(1.0, 1, 1), "strictly between"),
        (lambda: logit(1.5), r"lie in \[0, 1\]; got 1.5. Percentages"),
        (lambda: logit([0.5, math.nan]), r"lie in \[0, 1\]; got nan"),
        (lambda: logit("a"), "`p` must be numbers; got 'a'"),
        (lambda: probit(-0.1), r"lie in \[0, 1\]; got -0.1"),
        (lambda: DecisionCosts.from_prior([0.1, 1.0]), "strictly between 0 and 1; got"),
        (lambda: DecisionCosts.from_prior([[0.1]]), "one-dimensional"),
        (lambda: DecisionCosts.from_prior(math.nan), "strictly between"),
    ],
)
def test_bad_values(call, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()
