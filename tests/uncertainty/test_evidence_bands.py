"""Tippett and ECE curves as statistics: values, replicates by speaker, bands, their coverage."""

import math
import re
from typing import Any

import numpy as np
import pytest
from scipy import special

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


@pytest.mark.parametrize("method", ["iid", "speaker"])
def test_replicates_are_those_of_plain_functions(method: Any) -> None:
    """The same rng draws the same weights, whatever is computed from them."""
    trials = CrossedExperiment(n_speakers=12).draw(np.random.default_rng(1))
    statistic = ECE(PLO)

    def plain(tar: Any, non: Any, tar_weights: Any = None, non_weights: Any = None) -> float:
        return float(statistic(tar, non, tar_weights, non_weights)[1])

    options: Any = {"method": method, "replications": 20, "rng": 3}
    if method == "speaker":
        options |= {
            "model_speakers": trials.model_speakers,
            "segment_speakers": trials.segment_speakers,
        }
    fast = bootstrap_scores(trials.scores, trials.key, statistic, **options)
    slow = bootstrap_scores(trials.scores, trials.key, plain, **options)
    if method == "speaker":
        np.testing.assert_allclose(fast.replicates[:, 1], slow.replicates, rtol=1e-12)
    assert fast.estimate[1] == pytest.approx(slow.estimate, rel=1e-12)


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
    with pytest.raises(InvalidInputError, match=r"must be of this curve, of shape .*; got values"):
        curve.band(other)


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_speaker_bands_cover_where_bands_of_trials_do_not() -> None:
    """80 dependent speakers: the true shares and cross-entropies are known from the law."""
    law = CrossedExperiment(tar_mean=2.0, non_mean=-2.0)
    llr, plo = (0.0, 1.0), (-1.5, 0.0, 1.5)
    common = law.model**2 + law.segment**2 + law.noise**2
    deviations = (
        math.sqrt(common + law.goat**2),
        math.sqrt(common + law.lamb**2 + law.wolf**2 + law.pair**2),
    )
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    costs = [
        (weights * np.logaddexp(0, sign * (mean + sd * nodes + np.array(plo)[:, None]))).sum(axis=1)
        for sign, mean, sd in ((-1, 2.0, deviations[0]), (1, -2.0, deviations[1]))
    ]
    prior = special.expit(np.array(plo))
    truths = (
        (Tippett(llr), np.array([law.error_rates(x) for x in llr]).T),
        (ECE(plo), (prior * costs[0] + (1 - prior) * costs[1]) / math.log(2)),
    )
    rng = np.random.default_rng(5)
    held: dict[str, list[np.ndarray]] = {"speaker": [], "iid": []}
    for _ in range(120):
        trials = law.draw(rng)
        speakers = {
            "model_speakers": trials.model_speakers,
            "segment_speakers": trials.segment_speakers,
        }
        for method, found in held.items():
            options: Any = {"method": method, "replications": 300, "rng": rng, "interval": "normal"}
            options |= speakers if method == "speaker" else {}
            for statistic, truth in truths:
                result = bootstrap_scores(trials.scores, trials.key, statistic, **options)
                found.append(((result.low <= truth) & (truth <= result.high)).ravel()[-2:])
    # The last points of each curve: non-targets above an LLR, cross-entropies at even odds and
    # above. 480 intervals of 95 %, dependent within a data set: a standard error of 2 %.
    assert 0.90 <= np.mean(held["speaker"]) <= 0.99
    assert np.mean(held["iid"]) < 0.60
