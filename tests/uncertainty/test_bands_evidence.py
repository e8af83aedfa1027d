"""Tippett and ECE curves as statistics: values, replicates by speaker, bands, their coverage."""

import re
from typing import Any

import numpy as np
import pytest
from scipy import special, stats

from benchmarks import evidence_study
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import ECECurve, PAVCurve, ReliabilityCurve, Results, TippettCurve
from bosaris_py.uncertainty import (
    ECE,
    EER,
    BootstrapResult,
    ErrorRates,
    PAVMap,
    Reliability,
    Tippett,
    bootstrap,
    bootstrap_scores,
)
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
@pytest.mark.parametrize(
    "statistic", [ECE(PLO), Tippett(LLR), PAVMap(LLR), Reliability(0.3, 4)], ids=repr
)
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
        "model_speakers": trials.model_speakers,
        "segment_speakers": trials.segment_speakers,
    }
    fast = bootstrap_scores(trials.scores, trials.key, statistic, rng=3, **options)
    slow = bootstrap_scores(trials.scores, trials.key, plain, rng=3, **options)
    np.testing.assert_allclose(fast.replicates, slow.replicates, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fast.estimate, slow.estimate, rtol=1e-12)
    assert fast.replicates.std(axis=0).min() > 0


def test_pav_and_reliability_are_those_of_the_curves(scores: Any) -> None:
    results = Results(*scores)
    curve = PAVCurve.from_results(results)
    at = np.array(LLR)
    expected = curve.llr[np.searchsorted(curve.lowest, at, side="right") - 1]
    np.testing.assert_allclose(PAVMap(LLR)(*scores), special.expit(expected), rtol=1e-12)
    diagram = ReliabilityCurve.from_results(results, 0.2, bins=5)
    shares = Reliability(0.2, 5)(*scores)
    filled = np.unique(np.minimum((5 * diagram.predicted).astype(int), 4))
    np.testing.assert_allclose(shares[filled], diagram.observed, rtol=1e-12)


def test_bands_of_maps_and_diagrams(scores: Any) -> None:
    for statistic, at in ((PAVMap(LLR), LLR), (Reliability(0.3, 2), [0, 0.5, 1])):
        result = bootstrap(*scores, statistic, replications=100, rng=1)
        band = statistic.band(result)
        np.testing.assert_allclose(band.at, at)
        assert (band.low <= band.value).all()
        assert (band.value <= band.high).all()
        back = special.expit(band.high) if band.prior is None else band.high
        np.testing.assert_allclose(back, result.high)
        assert (band.prior, band.method, band.confidence) == (
            (None, "iid", 0.95) if isinstance(statistic, PAVMap) else (0.3, "iid", 0.95)
        )


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


@pytest.mark.parametrize(
    ("curve", "to", "back"),
    [
        (ECE(PLO), np.log, np.exp),
        (Tippett([-1.0, 0.0]), lambda x: np.arcsin(np.sqrt(x)), lambda x: np.sin(x) ** 2),
        (Reliability(0.3, 3), lambda x: np.arcsin(np.sqrt(x)), lambda x: np.sin(x) ** 2),
        (PAVMap([-0.5, 0.5]), lambda x: np.arcsin(np.sqrt(x)), lambda x: np.sin(x) ** 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_simultaneous_bands_against_a_plain_computation(
    curve: Any, to: Any, back: Any, rng: np.random.Generator
) -> None:
    """The quantile of the largest deviation of a replicate, in units of each point's spread."""
    scores = rng.normal(1.0, 2.0, 400), rng.normal(-1.0, 2.0, 900)
    result = bootstrap(*scores, curve, replications=200, rng=3)
    band = curve.band(result, kind="simultaneous")
    values = to(np.stack((result.estimate, *result.replicates))).reshape(201, -1)
    spread = values[1:].std(axis=0, ddof=1)
    largest = sorted(max(abs(row - values[0]) / spread) for row in values[1:])
    half = 0.5 * (largest[189] + largest[190]) * spread
    ends = [back(values[0] + sign * half).reshape(np.shape(result.estimate)) for sign in (-1, 1)]
    if isinstance(curve, Tippett):
        # Of targets the share above is one minus the miss rate.
        ends = [np.stack((1 - ends[1][0], ends[0][1])), np.stack((1 - ends[0][0], ends[1][1]))]
    if isinstance(curve, PAVMap):
        # The true map rises: an end holds for what is above or below it.
        ends = [np.maximum.accumulate(ends[0]), np.minimum.accumulate(ends[1][::-1])[::-1]]
        ends = [special.logit(end) for end in ends]
    np.testing.assert_allclose([band.low, band.high], ends, rtol=1e-9)
    assert band.kind_of_band == "simultaneous"
    pointwise = curve.band(result)
    assert pointwise.kind_of_band == "pointwise"
    assert (band.high - band.low >= pointwise.high - pointwise.low).mean() > 0.5


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_simultaneous_bands_where_there_are_no_errors(rng: np.random.Generator) -> None:
    """The last known share before, and the next one, limit what shows no errors."""
    scores = rng.normal(2.0, 1.0, 60), rng.normal(-2.0, 1.0, 200)
    curve = Tippett([-9.0, -1.0, 0.0, 1.0, 9.0])
    result = bootstrap(*scores, curve, replications=100, rng=5)
    band = curve.band(result, kind="simultaneous")
    assert band.high[:, 0].tolist() == [1.0, 1.0]
    assert band.low[:, -1].tolist() == [0.0, 0.0]
    assert 0.0 < band.high[1, -1] == band.high[1].min() < 0.3
    assert 0.5 < band.low[0, 0] == band.low[0].max() < 1.0
    diagram, overlapping = Reliability(0.5, 40), (rng.normal(1, 2, 60), rng.normal(-1, 2, 200))
    result = bootstrap(*overlapping, diagram, replications=50, rng=1)
    with_gaps = diagram.band(result, kind="simultaneous")
    unknown = (with_gaps.low == 0.0) & (with_gaps.high == 1.0)
    assert 0 < unknown.sum() < 40
    for curve_ in (curve, ECE(PLO), PAVMap(LLR), diagram):
        with pytest.raises(InvalidInputError, match="`kind` must be"):
            curve_.band(bootstrap(*scores, curve_, replications=20, rng=1), kind="all")


@pytest.mark.parametrize("curve", [Tippett(LLR), ECE(PLO), PAVMap(LLR), Reliability()])
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
    maps = {"model_speakers": trials.model_speakers, "segment_speakers": trials.segment_speakers}
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
        (lambda: PAVMap([1.0, 1.0]), "`thresholds` must be strictly ascending"),
        (lambda: Reliability(1.0), "`prior` must lie strictly between 0 and 1"),
        (lambda: Reliability(bins=1), "`bins` must be at least 2"),
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
    """80 dependent speakers: the true curves are known from the law."""
    found = evidence_study.coverage(100, 300)
    # Of 100 data sets at 5 or 10 points, dependent within a set: a standard error of 2 %.
    for name in ("Tippett", "ECE", "PAV", "reliability"):
        assert 0.89 <= found[name, "speaker"].mean() <= 0.99
        # Of 100 sets: a standard error of 2 % at 95 %.
        assert found[f"{name}, whole", "speaker"].item() >= 0.86
    assert max(found[f"{name}, whole", "iid"].item() for name in ("Tippett", "reliability")) < 0.6
    assert found["Tippett", "iid"].mean() < 0.60
    assert max(found[name, "iid"].mean() for name in ("ECE", "reliability")) < 0.80


def test_pav_band_where_pools_have_one_class() -> None:
    """A bootstrap of zeros tells nothing: there the ends of the next score hold."""
    values = np.array([0.0, 0.0, 0.4, 0.6, 1.0])
    rng = np.random.default_rng(1)
    replicates = np.stack([values] * 200)
    replicates[:, 2:4] += rng.uniform(-0.1, 0.1, (200, 2))
    replicates[:10, 1] = 0.3
    made: Any = {
        "method": "iid",
        "interval": "percentile",
        "confidence": 0.95,
        "bounds": (0.0, 1.0),
    }
    result = BootstrapResult.from_replicates(values, replicates, **made)
    band = PAVMap([-2.0, -1.0, 0.0, 1.0, 2.0]).band(result)
    inner = special.logit([result.low[2:4], result.high[2:4]])
    np.testing.assert_allclose(band.low, [-np.inf, -np.inf, *inner[0], inner[0][1]])
    np.testing.assert_allclose(band.high, [inner[1][0], inner[1][0], *inner[1], np.inf])


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
