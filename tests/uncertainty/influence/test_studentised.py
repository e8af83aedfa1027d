"""Arrays of rates and costs by speaker: each number has the interval that it has alone."""

from typing import Any

import numpy as np
import pytest

from bosaris_py import Key, OperatingPoint, Scores, uncertainty as unc
from bosaris_py.errors import FewSpeakersWarning
from bosaris_py.uncertainty.statistics.statistic import Statistic

pytestmark = pytest.mark.filterwarnings(
    "ignore::bosaris_py.errors.FewErrorsWarning", "ignore::bosaris_py.errors.FewSpeakersWarning"
)

POINTS = (0.1, OperatingPoint(0.01, 10, 1), 0.5)
ARRAYS: list[tuple[Statistic, list[Statistic]]] = [
    (unc.ErrorRates(0.5), [unc.FNMR(0.5), unc.FMR(0.5)]),
    (unc.ErrorRates([0.0, 1.5]), [unc.FNMR(0.0), unc.FNMR(1.5), unc.FMR(0.0), unc.FMR(1.5)]),
    (unc.ActDCF(POINTS), [unc.ActDCF(point) for point in POINTS]),
    (unc.MinDCF(POINTS, normalize=True), [unc.MinDCF(point, normalize=True) for point in POINTS]),
]


def trials(n_speakers: int = 25, seed: int = 1, shift: float = 3.0) -> tuple[Scores, Key]:
    """Two models and two segments of each speaker; all meet."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_speakers), 2)
    same = who[:, None] == who
    habits = rng.normal(0.0, 0.5, n_speakers)[who]
    values = shift * same - 1.5 + habits[:, None] + habits + rng.normal(size=same.shape)
    models, segments = ([f"{w}{side}{i}" for i, w in enumerate(who)] for side in "mt")
    return Scores(values, models, segments), Key(models, segments, same, ~same)


OPTIONS: dict[str, Any] = {
    "speakers": lambda name: name.replace("t", "m").partition("m")[0],
    "replications": 300,
    "rng": 7,
}


@pytest.mark.parametrize(("array", "numbers"), ARRAYS, ids=lambda one: type(one).__name__)
def test_each_number_has_the_interval_that_it_has_alone(
    array: Statistic, numbers: list[Statistic]
) -> None:
    """The same speakers are drawn for one seed: equal to the last bit, at other levels too."""
    scores, key = trials()
    together = unc.bootstrap_scores(scores, key, array, **OPTIONS)
    alone = [unc.bootstrap_scores(scores, key, one, **OPTIONS) for one in numbers]
    assert together.interval == "student"
    assert np.shape(together.low) == array.shape
    for name in ("low", "high"):
        assert getattr(together, name).ravel().tolist() == [getattr(one, name) for one in alone]
    assert together.upper(0.9).ravel().tolist() == [one.upper(0.9) for one in alone]
    assert [row["high"] for row in together.records()] == [one.high for one in alone]


@pytest.mark.parametrize(("array", "numbers"), ARRAYS, ids=lambda one: type(one).__name__)
def test_each_difference_is_tested_as_if_alone(array: Statistic, numbers: list[Statistic]) -> None:
    """Interval and p-value of each number of two systems on the same trials."""
    scores, key = trials()
    noise = np.random.default_rng(3).normal(size=scores.scoremat.shape)
    other = Scores(scores.scoremat + 0.7 * noise, scores.modelset, scores.segset)
    together = unc.paired_bootstrap(scores, other, key, array, **OPTIONS)
    alone = [unc.paired_bootstrap(scores, other, key, one, **OPTIONS) for one in numbers]
    assert np.shape(together.p_value) == array.shape
    assert np.ravel(together.p_value).tolist() == [one.p_value for one in alone]
    for name in ("low", "high"):
        assert getattr(together, name).ravel().tolist() == [getattr(one, name) for one in alone]
    outside = (together.low > 0) | (together.high < 0)
    assert (outside == (together.p_value < 0.05)).all()


def test_a_rate_without_errors_ends_where_the_speakers_leave_it() -> None:
    """What happened to none of K speakers has at most the chance 1 - .025^(1/K)."""
    scores, key = trials(shift=60.0)
    found = unc.bootstrap_scores(scores, key, unc.ErrorRates([20.0, 0.0]), **OPTIONS)
    assert found.estimate[0].tolist() == [0.0, 0.0]
    assert found.low[0].tolist() == [0.0, 0.0]
    assert found.high[0] == pytest.approx(1.0 - 0.025 ** (1 / 25), rel=1e-12)
    assert found.low[1, 1] < found.estimate[1, 1] < found.high[1, 1]


def test_of_many_thresholds_the_intervals_are_percentiles() -> None:
    """A hundred numbers have a formula each; more are a curve, as the docstring says."""
    scores, key = trials()
    at = np.linspace(-1.0, 1.0, 51)
    assert unc.bootstrap_scores(scores, key, unc.ErrorRates(at[:50]), **OPTIONS).interval == (
        "student"
    )
    many = unc.bootstrap_scores(scores, key, unc.ErrorRates(at), **OPTIONS)
    assert many.interval == "percentile"
    ends = np.quantile(many.replicates, [0.025, 0.975], axis=0, method="averaged_inverted_cdf")
    assert np.array_equal(ends, [many.low, many.high])


def test_by_trial_and_for_functions_the_intervals_are_as_before() -> None:
    """No speakers, no formula."""
    scores, key = trials()
    for statistic in (unc.ErrorRates([0.0, 1.0]), unc.ActDCF([0.1, 0.5])):
        by_trial = unc.bootstrap_scores(
            scores, key, statistic, method="iid", replications=300, rng=7
        )
        assert by_trial.interval == "percentile"

    def means(tar: Any, non: Any, tar_weights: Any, non_weights: Any) -> Any:
        return [np.average(tar, weights=tar_weights), np.average(non, weights=non_weights)]

    assert unc.bootstrap_scores(scores, key, means, **OPTIONS).interval == "percentile"
    with pytest.raises(ValueError, match="no curves"):
        unc.bootstrap_scores(scores, key, unc.DETCurve(), interval="student", **OPTIONS)


def test_the_warning_counts_the_number_with_the_fewest_speakers() -> None:
    """The miss rate at -1 rests on fewer speakers than the one at 2."""
    scores, key = trials()
    fewest = []
    for statistic in (unc.FNMR(-1.0), unc.ErrorRates([2.0, -1.0])):
        with pytest.warns(FewSpeakersWarning) as caught:
            unc.bootstrap_scores(scores, key, statistic, **OPTIONS)
        (few,) = [one for one in caught if "effective speakers" in str(one.message)]
        fewest.append(str(few.message))
    assert fewest[0] == fewest[1]
