"""The test of one system against a stated value, against the interval that it inverts."""

import math

import numpy as np
import pytest
from scipy import special

from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.uncertainty.bootstrap_result import IntervalKind, normal_interval
from tests.crossed_trials import CrossedExperiment

pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.DegenerateReplicatesWarning"),
]
KINDS: tuple[IntervalKind, ...] = ("percentile", "basic", "ratio", "normal")


def test_row_el_of_table_i() -> None:
    # Wu et al. 2017, Table I: estimate and standard error of system EL, and section IX's claims.
    found = normal_interval(0.022199, 0.001952, 0.95, "Table I")
    test = found.test(0.03)
    assert (test.lies, found.test(0.02).lies) == ("below", "contains")
    assert test.z == pytest.approx((0.022199 - 0.03) / 0.001952, rel=1e-12)
    assert test.p_value == pytest.approx(2 * special.ndtr(test.z), rel=1e-9)


def test_p_agrees_with_intervals_of_unequal_sides() -> None:
    rng = np.random.default_rng(1)
    draws = rng.random((10_000, 3))
    for low, high, value in draws.tolist():
        low, high = -low, 1.0 + high
        estimate = 0.5
        found = unc.Interval(estimate, low, high, 0.3, 0.9, "any")
        stated = 4.0 * value - 1.5
        test = found.test(stated)
        assert (test.p_value < 0.1) == (not low <= stated <= high) == (test.lies != "contains")
        one_sided = found.test(stated, "less").p_value, found.test(stated, "greater").p_value
        assert sum(one_sided) == pytest.approx(1.0, rel=1e-12)
        assert test.p_value == pytest.approx(2 * min(one_sided), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
def test_p_agrees_however_few_replicates_there_are(level: float) -> None:
    """Ends of few replicates are steps: beyond them p is below 1 - confidence, if by little."""
    rng = np.random.default_rng(3)
    tar, non = rng.normal(1.0, 1.0, 40), rng.normal(-1.0, 1.0, 60)
    for kind in ("percentile", "basic", "ratio"):
        result = unc.bootstrap(
            tar, non, unc.DCF(0, 0.5, 1, 1), interval=kind, confidence=level, replications=100,
            rng=1,
        )  # fmt: skip
        for stated in np.linspace(result.low - 0.01, result.high + 0.01, 201).tolist():
            test = result.test(stated)
            outside = not result.low <= stated <= result.high
            assert (test.p_value < 1.0 - level) == outside == (test.lies != "contains")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_p_agrees_with_the_interval_of_replicates(kind: IntervalKind) -> None:
    rng = np.random.default_rng(2)
    for seed in range(40):
        tar, non = rng.normal(1.0, 1.0, 60), rng.normal(0.0, 1.0, 80)
        result = unc.bootstrap(tar, non, unc.AUC(), interval=kind, replications=199, rng=seed)
        spread = float(result.standard_error)
        for stated in (result.estimate + spread * rng.normal(0.0, 2.0, 10)).tolist():
            test = result.test(stated)
            outside = not result.low <= stated <= result.high
            assert (test.p_value < 0.05) == outside == (test.lies != "contains")
            assert test.z == pytest.approx((result.estimate - stated) / spread, rel=1e-12)
            # Intervals end where the statistic does: no AUC is above 1.
            if kind == "normal" and stated < 1:
                assert test.p_value == pytest.approx(2 * special.ndtr(-abs(test.z)), rel=1e-6)


def test_p_agrees_with_the_studentised_interval_of_speakers() -> None:
    rng = np.random.default_rng(3)
    data = CrossedExperiment(n_speakers=24, tar_mean=2.0).draw(rng)
    result = unc.bootstrap_scores(
        data.scores,
        data.key,
        unc.EER(),
        speakers=(data.model_speakers, data.segment_speakers),
        replications=300,
        rng=4,
    )
    assert result.interval == "student"
    middle, width = result.estimate, result.high - result.low
    for stated in (middle + width * rng.uniform(-1.0, 1.0, 40)).tolist():
        test = result.test(stated)
        assert (test.p_value < 0.05) == (not result.low <= stated <= result.high)
        # The one-sided p is the tail of the end that lies on this value.
        side = "less" if stated > middle else "greater"
        tail = result.test(stated, side).p_value
        if 1e-3 < tail < 0.4:
            ends = result.interval_of("student", 1.0 - 2.0 * tail)
            near = result.interval_of("student", 1.0 - 2.0 * (tail * 0.98))
            end, wider = (ends[1], near[1]) if side == "less" else (ends[0], near[0])
            assert min(end, wider) <= stated <= max(end, wider)


def test_no_p_of_replicates_is_below_two_over_their_number() -> None:
    rng = np.random.default_rng(5)
    tar, non = rng.normal(1.0, 1.0, 50), rng.normal(0.0, 1.0, 50)
    result = unc.bootstrap(tar, non, unc.AUC(), interval="percentile", replications=99, rng=1)
    assert result.test(0.1).p_value == pytest.approx(2 / 99, rel=1e-6)
    assert result.test(0.1, "greater").p_value == pytest.approx(1 / 99, rel=1e-6)
    assert result.test(0.1, "less").p_value == pytest.approx(1 - 1 / 99, rel=1e-6)


@pytest.mark.slow
def test_level_for_independent_trials() -> None:
    # A rate of 0.1 of 3000 trials: 300 errors, where Wilson's interval is as good as normal.
    errors = np.random.default_rng(6).binomial(3000, 0.1, 10_000)
    tests = {n: unc.error_rate_interval(n, 3000).test(0.1) for n in np.unique(errors).tolist()}
    rejected = np.mean([tests[n].p_value < 0.05 for n in errors.tolist()])
    # Three standard errors of 10,000 tests: 0.0065.
    assert rejected == pytest.approx(0.05, abs=0.0065)


def test_what_does_not_vary() -> None:
    found = unc.Interval(0.2, 0.2, 0.2, 0.0, 0.95, "any")
    assert (found.test(0.2).z, found.test(0.2).p_value) == (0.0, 1.0)
    assert (found.test(0.3).z, found.test(0.3).p_value) == (-math.inf, 0.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, "0.1.2", None])
def test_the_value_is_a_number(value: object) -> None:
    with pytest.raises(InvalidInputError, match="`value` must"):
        unc.Interval(0.2, 0.1, 0.3, 0.05, 0.95, "any").test(value)  # type: ignore[arg-type]


def test_one_number_at_a_time() -> None:
    result = unc.bootstrap([1.0, 2.0, 3.0], [0.0, 1.5], unc.ErrorRates(1.0), replications=50, rng=1)
    with pytest.raises(InvalidInputError, match="one number"):
        result.test(0.1)
