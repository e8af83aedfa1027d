"""Tippett and ECE curves as statistics: values, replicates by speaker, bands, their coverage."""

import re
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import ECECurve, Results, TippettCurve
from bosaris_py.uncertainty import ECE, EER, ErrorRates, Tippett, bootstrap, bootstrap_scores
from tests.crossed_trials import CrossedExperiment

LLR = (-1.0, 0.0, 0.5)
PLO = (-2.0, 0.0, 3.0)


@pytest.fixture
def scores(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(1, 2, 80).round(1), rng.normal(-1, 2, 200).round(1)


def test_values_are_those_of_the_curves(scores: Any, rng: np.random.Generator) -> None:
    weights = {"tar_weights": rng.uniform(0, 2, 80), "non_weights": rng.uniform(0, 2, 200)}
    for options in ({}, weights):
        results = Results(*scores, **options)
        tippett, ece = TippettCurve.from_results(results, LLR), ECECurve.from_results(results, PLO)
        pmiss, pfa = Tippett(LLR)(*scores, **options)
        np.testing.assert_allclose(1 - pmiss, tippett.tar_above, rtol=1e-12)
        np.testing.assert_allclose(pfa, tippett.non_above, rtol=1e-12)
        np.testing.assert_allclose(ECE(PLO)(*scores, **options), ece.ece, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
@pytest.mark.parametrize("statistic", [ECE(PLO), Tippett(LLR)], ids=repr)
@pytest.mark.parametrize("sides", [{}, {"pigeonhole": True}], ids=["one person", "two persons"])
def test_replicates_by_speaker_are_those_of_a_plain_function(statistic: Any, sides: Any) -> None:
    """The same rng draws the same weights, whatever is computed from them, at each point."""
    trials = CrossedExperiment(n_speakers=12, tar_mean=1, non_mean=-1).draw(
        np.random.default_rng(1)
    )

    def plain(tar: Any, non: Any, tar_weights: Any = None, non_weights: Any = None) -> Any:
        return statistic(tar, non, tar_weights, non_weights)

    options: Any = {
        **sides,
        "replications": 20,
        "speakers": (trials.model_speakers, trials.segment_speakers),
    }
    fast = bootstrap_scores(trials.scores, trials.key, statistic, rng=3, **options)
    slow = bootstrap_scores(trials.scores, trials.key, plain, rng=3, **options)
    np.testing.assert_allclose(fast.replicates, slow.replicates, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fast.estimate, slow.estimate, rtol=1e-12)
    assert fast.replicates.std(axis=0).min() > 0


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_tippett_band_is_of_shares_above(scores: Any) -> None:
    curve = Tippett(LLR)
    result = bootstrap(*scores, curve, replications=200, rng=1)
    rates = bootstrap(*scores, ErrorRates(LLR), replications=200, rng=1)
    band = curve.band(result)
    np.testing.assert_allclose(result.low, rates.low)
    np.testing.assert_allclose(band.low, [1 - rates.high[0], rates.low[1]])
    np.testing.assert_allclose(band.high, [1 - rates.low[0], rates.high[1]])
    (tar, non), (same, below) = band.of("above"), band.of("crossing")
    np.testing.assert_allclose(below, (1 - non[1], 1 - non[0]))
    np.testing.assert_array_equal(same, tar)
    assert (band.method, band.confidence) == ("iid", 0.95)


@pytest.mark.parametrize("curve", [Tippett(LLR), ECE(PLO)])
def test_bands_of_other_results_are_refused(curve: Any, scores: Any) -> None:
    with pytest.raises(InvalidInputError, match="`result` must be a BootstrapResult; got 3"):
        curve.band(3)
    other = bootstrap(*scores, EER(), replications=20, rng=1)
    with pytest.raises(InvalidInputError, match=r"must be of this curve, .*; got values"):
        curve.band(other)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_tippett_band_by_speaker(rng: np.random.Generator) -> None:
    """Student's t on the probit scale; 12 speakers without an error leave 1 - 0.025^(1/12)."""
    trials = CrossedExperiment(n_speakers=12, tar_mean=1, non_mean=-1).draw(rng)
    maps = {"speakers": (trials.model_speakers, trials.segment_speakers)}
    statistic = Tippett([-1e3, 0.0, 1e3])
    result = bootstrap_scores(trials.scores, trials.key, statistic, rng=3, **maps)
    band = statistic.band(result)
    tar, non = band.of("above")
    np.testing.assert_array_equal(
        [*tar, *non], [band.low[0], band.high[0], band.low[1], band.high[1]]
    )
    tar, non = band.of("crossing")
    np.testing.assert_array_equal([*tar, *non][2:], [1 - band.high[1], 1 - band.low[1]])
    np.testing.assert_array_equal(tar, [band.low[0], band.high[0]])
    none = 1 - 0.025 ** (1 / 12)
    np.testing.assert_allclose(band.low[:, [0, 2]], [[1 - none, 0], [1 - none, 0]], rtol=1e-12)
    np.testing.assert_allclose(band.high[:, [0, 2]], [[1, none], [1, none]], rtol=1e-12)
    step = 0.5 * result.replicates[result.replicates > 0].min()
    probits = special.ndtri(np.clip(result.replicates[:, :, 1], step, 1 - step))
    half = np.sqrt(12 / 11) * stats.t.ppf(0.975, 11) * probits.std(axis=0, ddof=1)
    middle = special.ndtri(np.asarray(result.estimate)[:, 1])
    ends = special.ndtr(np.array([middle - half, middle + half]))
    np.testing.assert_allclose(band.low[:, 1], [1 - ends[1, 0], ends[0, 1]], rtol=1e-9)
    np.testing.assert_allclose(band.high[:, 1], [1 - ends[0, 0], ends[1, 1]], rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tippett([1.0, 1.0]), "`thresholds` must be strictly ascending"),
        (lambda: ECE([0.0, -1.0]), "`plo` must be strictly ascending"),
        (lambda: ECE([0.0, 1000.0]), "`plo` must lie within +-700"),
    ],
)
def test_bad_grids(make: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        make()


def test_cross_entropies_of_conditions_that_weigh_differently(rng: np.random.Generator) -> None:
    """Each condition's mean cost, whatever its size, by the weights of the conditions."""
    tar, non = rng.normal(1, 1, 30), rng.normal(-1, 1, 50)
    labels = np.arange(30) % 3 == 0, np.arange(50) % 2 == 0
    result = bootstrap(
        tar,
        non,
        ECE(PLO),
        tar_conditions=np.where(labels[0], "b", "a"),
        non_conditions=np.where(labels[1], "b", "a"),
        condition_weights={"a": 0.2, "b": 0.8},
        replications=2,
        rng=1,
    )
    expected = []
    for plo in PLO:
        prior = special.expit(plo)
        costs = np.logaddexp(0, -tar - plo), np.logaddexp(0, non + plo)
        means = [
            0.2 * cost[~is_b].mean() + 0.8 * cost[is_b].mean()
            for cost, is_b in zip(costs, labels, strict=True)
        ]
        expected.append((prior * means[0] + (1 - prior) * means[1]) / np.log(2))
    assert result.estimate == pytest.approx(expected, rel=1e-12)
