"""Metrics as functions of rows; metrics of users."""

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.metrics.costs import Cllr, MinDCF
from bosaris_py.metrics.metric import Metric, OneRow, as_metric
from bosaris_py.metrics.ranks import EER
from bosaris_py.trials.sample import Sample, ScoredClass

TAR, NON = np.array([3.0, 1.0, 2.0]), np.array([0.0, 2.5])


def gap(tar: np.ndarray, non: np.ndarray) -> float:
    return float(np.mean(tar) - np.mean(non))


def test_a_function_of_a_user() -> None:
    metric = as_metric(gap)
    assert metric == Metric(gap)
    assert (metric.label, metric.scale, metric.bounds) == ("gap", "identity", (-np.inf, np.inf))
    assert metric(TAR, NON) == 0.75
    named = Metric(gap, scale="log", bounds=(0.0, 1.0), label="G")
    assert (named.label, named.scale, named.bounds) == ("G", "log", (0.0, 1.0))
    # Targets ascend as 1, 2, 3: scores (1, 3, 3) and (2.5,).
    times = np.array([1, 0, 2]), np.array([0, 1])
    assert metric.value(Sample.from_scores(TAR, NON), times) == pytest.approx(7 / 3 - 2.5)


def test_a_function_sees_the_scores_in_the_order_given() -> None:
    seen = []
    Metric(lambda tar, non: seen.append((tar.tolist(), non.tolist())) or 0.0)(TAR, NON)
    assert seen == [([3.0, 1.0, 2.0], [0.0, 2.5])]


def test_a_function_of_three_classes() -> None:
    sample = Sample(ScoredClass(TAR), ScoredClass(np.array([5.0, 1.0, 4.0])), np.array([1, 0, 1]))
    assert next(OneRow(sample).lists())[2].tolist() in ([5.0, 4.0], [4.0, 5.0])
    assert Metric(lambda tar, non: float(non.sum())).value(sample) == 1.0


def test_what_a_function_cannot_know() -> None:
    metric = as_metric(gap)
    weighted = Sample.from_scores(TAR, NON, tar_weights=[1.0, 2.0, 1.0])
    grouped = Sample(
        ScoredClass(TAR, np.array([0, 0, 1]), np.array([0.25, 0.75])), ScoredClass(NON)
    )
    for sample in (weighted, grouped):
        with pytest.raises(InvalidInputError, match="weights or conditions"):
            metric.value(sample)
    plain = Sample.from_scores(TAR, NON)
    with pytest.raises(InvalidInputError, match="whole numbers"):
        metric.value(plain, (np.array([0.5, 1.0, 1.0]), np.ones(2)))
    assert np.isnan(metric.value(plain, (np.zeros(3), np.ones(2))))
    with pytest.raises(InvalidInputError, match="return a number"):
        Metric(lambda tar, _: tar)(TAR, NON)


@pytest.mark.parametrize("wrong", [EER, "eer", None, 1.0])
def test_what_is_no_metric(wrong: object) -> None:
    with pytest.raises(InvalidInputError, match="`metric` must be a metric"):
        as_metric(wrong)


def test_metrics_of_the_package_stay_as_they_are() -> None:
    assert as_metric(EER()) == EER()
    assert MinDCF(0.05) == MinDCF([0.05]) != MinDCF(0.05, normalize=False)
    assert len({Cllr(), Cllr(), EER(), EER("step")}) == 3
    with pytest.raises(InvalidInputError):
        EER("brentq")
