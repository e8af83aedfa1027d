"""Bands: curves as statistics, held against the engine and against single-point bootstraps."""

import pickle
import re
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import special, stats

from bosaris_py.errors import FewErrorsWarning, InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.curves import BayesCurves
from bosaris_py.numerics.roc import ROC
from bosaris_py.trials import Key, Scores
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.bands import ActDCFCurve, DCFBand, DETBand, DETCurve, MinDCFCurve
from bosaris_py.uncertainty.bootstrapping import bootstrap, bootstrap_scores
from bosaris_py.uncertainty.statistics.class_means import ActDCF, ErrorRates
from bosaris_py.uncertainty.statistics.roc_functions import MinDCF
from bosaris_py.uncertainty.statistics.statistic import Statistic
from tests.crossed_trials import CrossedExperiment
from tests.score_strategies import finite_scores, weighted_scores
from tests.uncertainty.naive_bootstrap import with_sets_where_used

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
resample = with_sets_where_used(bootstrap)

PFA = [0.0, 0.05, 0.1, 0.25, 1 / 3, 0.5, 0.75, 1.0]
PLO = [-3.0, -0.5, 0.0, 0.5, 2.0]
CURVES = [DETCurve(PFA), ActDCFCurve(PLO), MinDCFCurve(PLO)]
each_curve = pytest.mark.parametrize("curve", CURVES, ids=lambda curve: type(curve).__name__)
Curve = DETCurve | ActDCFCurve | MinDCFCurve


@pytest.fixture
def scores(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihood-ratios with ties."""
    return rng.normal(2, 2, 60).round(1), rng.normal(-2, 2, 200).round(1)


@pytest.fixture
def sets() -> dict[str, np.ndarray]:
    return {"tar_sets": np.repeat(np.arange(6), 10), "non_sets": np.repeat(np.arange(8), 25)}


def test_det_curve_by_hand() -> None:
    # Thresholds 4, 3, 2, 1 let 0, 1, 1, 2 of four non-targets through.
    tar, non = [1.0, 2.0, 3.0, 4.0], [-1.0, 0.0, 1.5, 3.5]
    curve = DETCurve([0.0, 0.2, 0.25, 0.49, 0.5, 1.0])
    assert curve(tar, non).tolist() == [0.75, 0.75, 0.25, 0.25, 0.0, 0.0]


def test_det_curve_rejects_a_tie_with_its_non_targets() -> None:
    # Nothing but rejecting all keeps pfa below the tied half.
    assert DETCurve([0.25, 0.5])([1.0, 1.0], [1.0, 0.0]).tolist() == [1.0, 0.0]


@given(data=st.data())
def test_det_curve_is_that_of_the_engine(data: st.DataObject) -> None:
    tar, tar_weights = data.draw(weighted_scores(finite_scores))
    non, non_weights = data.draw(weighted_scores(finite_scores))
    weights = {"tar_weights": tar_weights, "non_weights": non_weights}
    roc = ROC.from_scores(tar, non, **weights)
    expected = [roc.threshold_at(pfa=pfa).pmiss for pfa in PFA]
    assert DETCurve(PFA)(tar, non, **weights).tolist() == expected


@each_curve
@given(data=st.data())
def test_weights_on_sorted_scores_mean_repeated_trials(
    curve: Statistic, data: st.DataObject
) -> None:
    tar, tar_weights = data.draw(weighted_scores(finite_scores))
    non, non_weights = data.draw(weighted_scores(finite_scores))
    sample = ListedSample.from_scores(tar, non).arranged()
    tar_sorted, tar_order = sample.tar.sorted, sample.tar.order
    non_sorted, non_order = sample.non.sorted, sample.non.order
    evaluate = curve.evaluator(tar_sorted, non_sorted)
    tar_counts = tar_weights.astype(np.int64)[tar_order]
    non_counts = non_weights.astype(np.int64)[non_order]
    if not (tar_counts.any() and non_counts.any()):
        return
    found = evaluate(tar_counts, non_counts)
    expected = curve(
        np.repeat(tar_sorted.values, tar_counts), np.repeat(non_sorted.values, non_counts)
    )
    # Sums of the same few counts in another order.
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)


def test_dcf_curves_are_those_of_the_bayes_plot(scores: tuple[np.ndarray, np.ndarray]) -> None:
    curves = BayesCurves.from_results(Results(*scores), PLO)
    # One formula, evaluated in two ways.
    np.testing.assert_allclose(ActDCFCurve(PLO)(*scores), curves.act_dcf, rtol=1e-14)
    np.testing.assert_allclose(MinDCFCurve(PLO)(*scores), curves.min_dcf, rtol=1e-14)


def test_thresholds_lie_exactly_at_the_log_odds() -> None:
    # A score of 0.1 is accepted at plo -0.1; the prior itself could not tell.
    assert ActDCFCurve([-0.1])([0.1], [-5.0]).tolist() == [0.0]


def test_default_grids_cover_the_plots() -> None:
    assert ActDCFCurve().plo == MinDCFCurve().plo
    assert ActDCFCurve().plo[0] == -10.0
    assert ActDCFCurve().plo[-1] == 10.0
    # The widest window goes from 5e-6 to 0.99.
    assert DETCurve().pfa[0] < 5e-6
    assert DETCurve().pfa[-1] > 0.99


@pytest.mark.parametrize("method", ["iid", "one-layer", "two-layer"])
@each_curve
def test_band_is_made_of_the_bootstraps_intervals(
    curve: Curve, method: str, scores: tuple[np.ndarray, np.ndarray], sets: dict[str, np.ndarray]
) -> None:
    result = resample(*scores, curve, method=method, replications=200, rng=1, **sets)
    band = curve.band(result)
    assert result.replicates.shape == (200, *curve.shape)
    values = band.pmiss if isinstance(band, DETBand) else band.dcf
    np.testing.assert_array_equal(values, curve(*scores))
    np.testing.assert_array_equal(band.low, result.low)
    np.testing.assert_array_equal(band.high, result.high)
    np.testing.assert_array_equal(band.pfa if isinstance(band, DETBand) else band.plo, _x(curve))
    assert (band.low <= band.high).all()
    assert (band.method, band.confidence) == (method, 0.95)


def _x(curve: Curve) -> tuple[float, ...]:
    return curve.pfa if isinstance(curve, DETCurve) else curve.plo


def test_dcf_bands_are_the_intervals_of_the_costs(
    scores: tuple[np.ndarray, np.ndarray], sets: dict[str, np.ndarray]
) -> None:
    """The same resampled trials, priors instead of log-odds."""
    # Scores have one decimal, so no trial lies where the rounding of a prior could move it.
    plo = [-3.05, -0.55, 0.05, 2.05]
    options = {"method": "two-layer", "replications": 300, "rng": 5} | sets
    priors = 1 / (1 + np.exp(-np.array(plo)))
    for curve, kind in ((ActDCFCurve(plo), ActDCF), (MinDCFCurve(plo), MinDCF)):
        band = curve.band(resample(*scores, curve, **options))
        alone = resample(*scores, kind(priors, normalize=True), **options)
        assert band.interval == alone.interval
        # Priors differ in the last bits.
        np.testing.assert_allclose(band.low, alone.low, rtol=1e-13)
        np.testing.assert_allclose(band.high, alone.high, rtol=1e-13)


def test_bands_by_speaker(rng: np.random.Generator) -> None:
    """The curves' replicates are those of single points, on the same speaker weights."""
    trials = CrossedExperiment(n_speakers=12).draw(rng)
    options = {
        "speakers": (trials.model_speakers, trials.segment_speakers),
        "replications": 40,
        "rng": 7,
    }
    plo = [-2.05, 0.55]
    priors = 1 / (1 + np.exp(-np.array(plo)))
    for curve, statistic in (
        (ActDCFCurve(plo), ActDCF(priors, normalize=True)),
        (MinDCFCurve(plo), MinDCF(priors, normalize=True)),
        (DETCurve([0.01, 0.1]), _miss_rates_within_limits),
    ):
        found = bootstrap_scores(trials.scores, trials.key, curve, **options)
        expected = bootstrap_scores(trials.scores, trials.key, statistic, **options)
        # Another order of summation.
        np.testing.assert_allclose(found.replicates, expected.replicates, rtol=1e-12)
        band = curve.band(found)
        assert band.method == "speaker"
        # Student's interval of the replicates, on the probit scale or the logarithmic one.
        to, back = (np.log, np.exp)
        if isinstance(curve, DETCurve):
            to, back = special.ndtri, special.ndtr
        # Without errors: half of the least step.
        step = 0.5 * found.replicates[found.replicates > 0].min()
        values = to(np.clip(found.replicates, step, None))
        centre = to(found.estimate)
        if isinstance(curve, MinDCFCurve):
            centre = 2 * centre - values.mean(axis=0)
        n = int(found.degrees) + 1
        half = np.sqrt(n / (n - 1)) * stats.t.ppf(0.975, n - 1) * values.std(axis=0, ddof=1)
        # Where many replicates show no errors, what 12 speakers leave open.
        none = (found.replicates <= 0).mean(axis=0) >= 0.025
        low = np.where(none, found.low, back(centre - half))
        high = np.where(none, np.maximum(found.high, 1 - 0.025 ** (1 / n)), back(centre + half))
        np.testing.assert_allclose((band.low, band.high), (low, high), rtol=1e-9)


def _miss_rates_within_limits(
    tar: np.ndarray, non: np.ndarray, tar_weights: np.ndarray, non_weights: np.ndarray
) -> np.ndarray:
    """Try every target score as a threshold."""
    rates = []
    for allowed in (0.01, 0.1):
        best = 1.0
        for threshold in tar:
            if non_weights[non >= threshold].sum() <= allowed * non_weights.sum():
                best = min(best, tar_weights[tar < threshold].sum() / tar_weights.sum())
        rates.append(best)
    return np.array(rates)


def test_det_band_against_a_plain_loop(rng: np.random.Generator) -> None:
    """Spread of the miss rate at one false-alarm rate, resampled by hand."""
    tar, non = rng.normal(2, 1, 80), rng.normal(0, 1, 300)
    n_replicates, allowed = 2000, 0.1
    plain = np.empty(n_replicates)
    for i in range(n_replicates):
        t, n = rng.choice(tar, tar.size), np.sort(rng.choice(non, non.size))
        # The 31st largest non-target and all below it must be rejected.
        plain[i] = np.mean(t <= n[-31])
    curve = DETCurve([allowed])
    result = resample(tar, non, curve, replications=n_replicates, rng=rng)
    # Two standard deviations of 2000 replicates each: 2 * sqrt(2) / sqrt(4000), and room.
    assert result.standard_error[0] == pytest.approx(plain.std(ddof=1), rel=0.07)
    # Means: the same, four of their standard errors.
    margin = 4 * plain.std() * np.sqrt(2 / n_replicates)
    assert result.replicates.mean() == pytest.approx(plain.mean(), abs=margin)


def test_det_band_covers_more_than_the_fixed_threshold(rng: np.random.Generator) -> None:
    """The threshold is found anew, so the non-targets add to the spread of the miss rate."""
    tar, non = rng.normal(2, 1, 2000), rng.normal(0, 1, 200)
    threshold = ROC.from_scores(tar, non).threshold_at(pfa=0.05)
    fixed = resample(tar, non, ErrorRates(float(threshold)), rng=1)
    found = resample(tar, non, DETCurve([0.05]), rng=1)
    assert found.standard_error[0] > 2 * fixed.standard_error[0]


def test_minimum_band_is_basic_and_the_others_percentile() -> None:
    assert MinDCFCurve().default_interval == "basic"
    assert ActDCFCurve().default_interval == DETCurve().default_interval == "percentile"


@each_curve
def test_bands_are_frozen_and_curves_compare_by_value(
    curve: Curve, scores: tuple[np.ndarray, np.ndarray]
) -> None:
    again = pickle.loads(pickle.dumps(curve))
    assert again == curve
    assert hash(again) == hash(curve)
    band = curve.band(resample(*scores, curve, replications=50, rng=1))
    with pytest.raises(AttributeError):
        band.low = band.high  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        band.low[0] = 0.0


def test_workers_do_not_change_a_band(scores: tuple[np.ndarray, np.ndarray]) -> None:
    curve = MinDCFCurve(PLO)
    alone = resample(*scores, curve, replications=120, rng=3)
    together = resample(*scores, curve, replications=120, rng=3, workers=2)
    np.testing.assert_array_equal(alone.replicates, together.replicates)


def test_repr(scores: tuple[np.ndarray, np.ndarray]) -> None:
    curve = MinDCFCurve(PLO)
    band = curve.band(resample(*scores, curve, confidence=0.9, replications=50, rng=1))
    assert isinstance(band, DCFBand)
    assert repr(band) == (
        "DCFBand: 90 % pointwise basic band of min DCF, plo -3 ... 2; iid bootstrap"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DETCurve([0.1, 0.1]), "`pfa` must be strictly ascending"),
        (lambda: DETCurve([]), "`pfa` must be strictly ascending"),
        (lambda: DETCurve([0.1, np.nan]), "`pfa` must be strictly ascending"),
        (lambda: DETCurve(0.1), "`pfa` must be one-dimensional"),
        (lambda: DETCurve([-0.1, 0.5]), "`pfa` must lie in [0, 1]; got -0.1 to 0.5."),
        (lambda: DETCurve([1, 5, 10]), "got 1 to 10. Percentages must be divided by 100."),
        (lambda: ActDCFCurve([0, -1]), "`plo` must be strictly ascending"),
        (lambda: MinDCFCurve([np.nan]), "`plo` must lie within +-700"),
        (lambda: MinDCFCurve([0.0, 701.0]), "`plo` must lie within +-700"),
    ],
)
def test_bad_grids(make: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        make()  # type: ignore[operator]


@each_curve
def test_results_of_something_else(curve: Curve, scores: tuple[np.ndarray, np.ndarray]) -> None:
    message = "`result` must be a BootstrapResult; got 0.5."
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        curve.band(0.5)  # type: ignore[arg-type]
    result = resample(*scores, ActDCF(0.5), replications=10, rng=1)
    message = f"`result` must be of this curve, with {len(_x(curve))} values; got"
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        curve.band(result)


@pytest.mark.parametrize("pmiss", [0.0, 1.0])
def test_a_band_of_speakers_of_whom_none_varies(pmiss: float) -> None:
    # What none of six speakers shows has a rate r with (1 - r)^6 = 0.025 at most.
    names = [f"p{i}" for i in range(6)]
    tar = np.eye(6, dtype=bool)
    scores = Scores(np.where(tar, 5.0, -5.0) * (1 - 2 * pmiss), names, names)
    curve = DETCurve([0.25, 0.5])
    band = curve.band(bootstrap_scores(scores, Key(names, names, tar, ~tar), curve, rng=1))
    rare = 1 - 0.025 ** (1 / 6)
    assert band.pmiss.tolist() == [pmiss, pmiss]
    np.testing.assert_allclose(band.low, max(pmiss - rare, 0), rtol=1e-12)
    np.testing.assert_allclose(band.high, min(pmiss + rare, 1), rtol=1e-12)


@pytest.mark.parametrize("method", ["one-layer", "two-layer"])
def test_curve_of_costs_of_sets(
    scores: tuple[np.ndarray, np.ndarray], sets: dict[str, np.ndarray], method: str
) -> None:
    # No score has a threshold's value.
    plo = [-2.05, 0.55]
    options = {"method": method, "replications": 10, "rng": 2, **sets}
    found = bootstrap(*scores, ActDCFCurve(plo), **options)
    priors = 1 / (1 + np.exp(-np.array(plo)))
    expected = bootstrap(*scores, ActDCF(priors, normalize=True), **options)
    np.testing.assert_allclose(found.replicates, expected.replicates, rtol=1e-12)


def test_no_band_without_width_where_nobody_is_missed() -> None:
    """What 15 speakers do not show may have a chance of 1 - 0.025^(1/15)."""
    trials = CrossedExperiment(15, 1, 3, tar_mean=3.0).draw(np.random.default_rng(21))
    curve = DETCurve([0.05, 0.5, 0.9])
    found = bootstrap_scores(
        trials.scores, trials.key, curve, replications=100, rng=3,
        speakers=(trials.model_speakers, trials.segment_speakers),
    )  # fmt: skip
    band = curve.band(found)
    assert band.pmiss[-1] == found.high[-1] == 0
    assert (band.low[-1], band.high[-1]) == pytest.approx((0.0, 1 - 0.025 ** (1 / 15)))
    costs = ActDCFCurve([-1.0, 8.0])
    scores = trials.scores.transform(lambda x: np.sign(x) * 20.0)
    key = trials.key
    tar, non = (key.tar & (trials.scores.scoremat > 0)), (key.non & (trials.scores.scoremat < 0))
    perfect = Key(key.modelset, key.segset, tar, non)
    found = bootstrap_scores(
        scores, perfect, costs, replications=100, rng=3,
        speakers=(trials.model_speakers, trials.segment_speakers),
    )  # fmt: skip
    band = costs.band(found)
    greatest = np.asarray(costs.bounds[1])
    assert np.allclose(band.low, 0)
    assert band.high == pytest.approx((1 - 0.025 ** (1 / 15)) * greatest)


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        # 20 false alarms above the first threshold, 100 at the other; over 30 misses at both.
        (DETCurve([0.001]), "The false-alarm rate rests on 20 errors."),
        (DETCurve([0.001, 0.005]), "1 of 2 false-alarm rates rest on few errors, from 20."),
        (DETCurve([0.005]), ""),
        (DETCurve(), ""),
        # Above 3 lie 27 of the non-targets: 20,000 times ndtr(-3).
        (ActDCFCurve([-3.0]), "The false-alarm rate rests on 27 errors."),
        (ActDCFCurve([-1.0]), ""),
        (ActDCFCurve(), ""),
        (MinDCFCurve([-9.0]), "The false-alarm rate rests on "),
        (MinDCFCurve([-1.0]), ""),
        (MinDCFCurve(), ""),
    ],
)
def test_few_errors_are_warned_of_at_points_that_are_named(curve: Curve, message: str) -> None:
    tar, non = (
        mean + special.ndtri((np.arange(count) + 0.5) / count)
        for mean, count in ((1.5, 2000), (0.0, 20_000))
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bootstrap(tar, non, curve, replications=10, rng=1)
    found = [str(one.message) for one in caught if one.category is FewErrorsWarning]
    assert len(found) == bool(message)
    assert all(text.startswith(message) for text in found)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")
@pytest.mark.parametrize("seed", [0, 2, 5])
def test_bands_of_two_replicates_have_ends_in_order(seed: int) -> None:
    """Upper ends fall with the curve; a later lower end had been left above them."""
    rng = np.random.default_rng(seed)
    owners = np.repeat(np.arange(12), 3)
    same = np.arange(12)[:, None] == owners
    llrs = np.where(same, 1.5, -1.5) + rng.normal(0, 0.7, 12)[:, None]
    llrs = llrs + rng.normal(0, 1, same.shape)
    models, segments = [f"s{i}" for i in range(12)], [f"u{i}" for i in range(36)]
    trials = Scores(llrs, models, segments), Key(models, segments, same, ~same)
    curve = DETCurve()
    found = bootstrap_scores(*trials, curve, replications=2, confidence=0.5, rng=1)
    band = curve.band(found)
    assert np.all(band.low <= band.high)
