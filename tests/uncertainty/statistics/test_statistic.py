"""The statistics: the numbers of the engine, and the same from weights on sorted scores."""

import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bosaris_py
from bosaris_py import OperatingPoint, uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.numerics.rocch import eer_of_hull
from bosaris_py.trials.sample import ListedSample
from tests.score_strategies import finite_scores, weighted_scores

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

POINT = OperatingPoint(0.01, 10, 1)
STATISTICS = [
    unc.DCF(0.0, 0.01, 10, 1),
    unc.DCF(0.5, p_target=0.3, c_miss=1, c_fa=2, normalize=True),
    unc.ActDCF(0.5),
    unc.ActDCF([0.1, 0.9, 0.5]),
    unc.ActDCF(POINT, normalize=True),
    unc.MinDCF(0.2),
    unc.MinDCF(POINT, normalize=True),
    unc.MinDCF([0.1, 0.9]),
    unc.EER(),
    unc.AUC(),
    unc.Cllr(),
    unc.MinCllr(),
    unc.ErrorRates(0.5),
    unc.ErrorRates([1.0, -1.0, 0.0]),
]
each_statistic = pytest.mark.parametrize("statistic", STATISTICS, ids=repr)

TAR = np.array([0.5, 1.0, 1.0, 2.5, 3.0])
NON = np.array([-2.0, -0.5, 0.5, 0.5, 1.0, 2.0])


def test_values_are_those_of_the_functions() -> None:
    assert unc.ActDCF(POINT)(TAR, NON) == bosaris_py.act_dcf(TAR, NON, POINT)
    assert unc.MinDCF(POINT)(TAR, NON) == bosaris_py.min_dcf(TAR, NON, POINT)
    assert unc.MinDCF(0.1, normalize=True)(TAR, NON) == bosaris_py.min_dcf(
        TAR, NON, 0.1, normalize=True
    )
    assert unc.EER()(TAR, NON) == bosaris_py.eer(TAR, NON)
    assert unc.AUC()(TAR, NON) == bosaris_py.auc(TAR, NON)
    assert unc.Cllr()(TAR, NON) == bosaris_py.cllr(TAR, NON)
    assert unc.MinCllr()(TAR, NON) == bosaris_py.min_cllr(TAR, NON)


def test_costs_and_rates_by_hand() -> None:
    # At 1.0: one of five targets below, two of six non-targets at or above.
    assert unc.ErrorRates(1.0)(TAR, NON).tolist() == [1 / 5, 2 / 6]
    assert unc.ErrorRates([1.0, 9.0])(TAR, NON).tolist() == [[1 / 5, 1.0], [2 / 6, 0.0]]
    cost = 10 * 0.01 / 5 + 0.99 * 2 / 6
    assert unc.DCF(1.0, 0.01, 10, 1)(TAR, NON) == pytest.approx(cost, rel=1e-15)
    # Without a detector: reject everything, 0.1.
    assert unc.DCF(1.0, 0.01, 10, 1, normalize=True)(TAR, NON) == pytest.approx(
        cost / 0.1, rel=1e-15
    )


def test_prior_and_costs_of_a_dcf_have_no_defaults() -> None:
    for values in ((2.0,), (2.0, 0.05), (2.0, 0.05, 1.0)):
        with pytest.raises(TypeError, match=r"missing .* argument.*'c_fa'"):
            unc.DCF(*values)
    # The same scale as the same prior elsewhere.
    point = bosaris_py.OperatingPoint(0.05)
    cost = unc.DCF(point.threshold, 0.05, 1, 1)(TAR, NON)
    assert cost == pytest.approx(bosaris_py.act_dcf(TAR, NON, 0.05), rel=1e-15)


def test_threshold_is_compared_in_float64() -> None:
    # The nearest float32 to 0.7 lies below 0.7, so this target is missed.
    tar = np.array([0.7, 2.0], dtype=np.float32)
    assert unc.ErrorRates(0.7)(tar, [0.0]).tolist() == [0.5, 0.0]
    result = unc.bootstrap(tar, [0.0], unc.ErrorRates(0.7), replications=10, rng=0)
    assert result.estimate.tolist() == [0.5, 0.0]
    assert set(result.replicates[:, 0].tolist()) <= {0.0, 0.5, 1.0}


@each_statistic
@given(data=st.data())
def test_weights_on_sorted_scores_mean_repeated_trials(
    statistic: unc.Statistic, data: st.DataObject
) -> None:
    tar, tar_weights = data.draw(weighted_scores(finite_scores))
    non, non_weights = data.draw(weighted_scores(finite_scores))
    sample = ListedSample.from_scores(tar, non).arranged()
    tar_sorted, tar_order = sample.tar.sorted, sample.tar.order
    non_sorted, non_order = sample.non.sorted, sample.non.order
    evaluate = statistic.evaluator(tar_sorted, non_sorted)
    found = evaluate(tar_weights[tar_order], non_weights[non_order])
    repeated = statistic(np.repeat(tar, tar_weights), np.repeat(non, non_weights))
    # The same sums in another order.
    assert np.shape(found) == statistic.shape
    assert np.allclose(found, repeated, rtol=1e-12, atol=1e-12)


@each_statistic
def test_fractional_weights_agree_with_the_engine(
    statistic: unc.Statistic, rng: np.random.Generator
) -> None:
    tar, non = rng.normal(1, 1, 60).round(1), rng.normal(0, 1, 90).round(1)
    tar_weights, non_weights = rng.exponential(size=60), rng.exponential(size=90)
    sample = ListedSample.from_scores(tar, non).arranged()
    tar_sorted, tar_order = sample.tar.sorted, sample.tar.order
    non_sorted, non_order = sample.non.sorted, sample.non.order
    found = statistic.evaluator(tar_sorted, non_sorted)(
        tar_weights[tar_order], non_weights[non_order]
    )
    expected = statistic(tar, non, tar_weights, non_weights)
    assert np.allclose(found, expected, rtol=1e-11, atol=1e-12)


@each_statistic
def test_value_lies_within_the_bounds_and_has_the_shape(statistic: unc.Statistic) -> None:
    for tar, non in ((TAR, NON), ([9.0], [-9.0]), ([-9.0], [9.0]), ([0.0], [0.0])):
        value = statistic(tar, non)
        low, high = statistic.bounds
        assert np.shape(value) == statistic.shape
        assert np.all(np.asarray(low) <= value)
        # Reached up to rounding.
        assert np.all(value <= np.asarray(high) * (1 + 1e-15))


@each_statistic
def test_frozen_equal_and_picklable(statistic: unc.Statistic) -> None:
    copy = pickle.loads(pickle.dumps(statistic))
    assert copy == statistic
    assert hash(copy) == hash(statistic)
    assert repr(copy) == repr(statistic)
    with pytest.raises(AttributeError):
        statistic.anything = 1  # type: ignore[attr-defined]


def test_different_statistics_differ() -> None:
    assert unc.DCF(1.0, 0.01, 10, 1) != unc.DCF(2.0, 0.01, 10, 1)
    assert unc.MinDCF([0.1, 0.2]) != unc.MinDCF([0.1, 0.3])
    assert unc.EER() != unc.AUC()


def test_minima_have_basic_intervals() -> None:
    kinds = {type(s).__name__: s.default_interval for s in STATISTICS}
    assert kinds == {
        "DCF": "percentile",
        "ActDCF": "percentile",
        "MinDCF": "basic",
        "EER": "basic",
        "AUC": "percentile",
        "Cllr": "percentile",
        "MinCllr": "basic",
        "ErrorRates": "percentile",
    }


def test_eer_of_hull_needs_no_sorted_points() -> None:
    # The two useless decisions and (0.1, 0.3), (0.3, 0.1): the hull meets the diagonal at 0.2.
    points = np.array([[0.3, 0.1], [0.0, 1.0], [0.9, 0.9], [0.1, 0.3], [1.0, 0.0]])
    assert eer_of_hull(*points.T) == pytest.approx(0.2, rel=1e-15)
    assert eer_of_hull(np.array([0.0]), np.array([0.0])) == 0.0
    assert eer_of_hull(np.array([1.0]), np.array([1.0])) == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: unc.DCF(np.nan, 0.01, 10, 1), "`threshold` must be a number; got NaN"),
        (lambda: unc.DCF("high", 0.01, 10, 1), "`threshold` must be a number"),
        (lambda: unc.DCF(0.0, 1.0, 10, 1), "`p_target` .* strictly between 0 and 1"),
        (lambda: unc.DCF(0.0, 0.01, 10, 0.0), "`c_fa` .* positive"),
        (lambda: unc.ActDCF(0.0), "strictly between 0 and 1"),
        (lambda: unc.MinDCF([0.5, 2.0]), "strictly between 0 and 1"),
        (lambda: unc.ErrorRates([]), "at least one threshold"),
        (lambda: unc.ErrorRates([1.0, np.nan]), "must be a number; got NaN"),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make()  # type: ignore[operator]
