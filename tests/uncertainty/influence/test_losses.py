"""One error-rate as a metric: at a fixed threshold, or while the other rate is kept."""

import math

import numpy as np
import pytest

from bosaris_py import Key, OperatingPoint, Scores, uncertainty as unc
from bosaris_py.errors import FewErrorsWarning, InvalidInputError
from bosaris_py.trials.sample import ListedSample
from bosaris_py.uncertainty.influence.losses import KeptRate, has_losses, losses_of
from bosaris_py.uncertainty.statistics.class_means import Brier, MeanActDCF
from tests.crossed_trials import CrossedExperiment, CrossedTrials

quiet = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


def crossed(seed: int, n_speakers: int = 12) -> CrossedTrials:
    experiment = CrossedExperiment(n_speakers, 1, 3, tar_mean=1.0, non_mean=-1.0)
    return experiment.draw(np.random.default_rng(seed))


def maps(data: CrossedTrials) -> dict[str, object]:
    return {"speakers": (data.model_speakers, data.segment_speakers)}


@quiet
@pytest.mark.parametrize("threshold", [-0.5, 0.0, 0.5])
def test_rates_are_those_of_speaker_errors(threshold: float) -> None:
    data = crossed(1)
    errors = unc.speaker_errors(data.scores, data.key, threshold, **maps(data))
    rates = (unc.FNMR(threshold), errors.pmiss, errors.pmiss_standard_error), (
        unc.FMR(threshold), errors.pfa, errors.pfa_standard_error
    )  # fmt: skip
    for rate, value, error in rates:
        found = unc.speaker_interval(data.scores, data.key, rate, **maps(data))
        assert found.estimate == pytest.approx(value, rel=1e-12)
        assert found.standard_error == pytest.approx(error, rel=1e-12)
        boot = unc.bootstrap_scores(
            data.scores, data.key, rate, replications=200, rng=1, **maps(data)
        )
        assert (boot.interval, boot.estimate) == ("student", found.estimate)
        assert boot.low < found.estimate < boot.high


@quiet
def test_replicates_are_those_of_error_rates() -> None:
    data = crossed(2)
    options = {"replications": 60, "rng": 3} | maps(data)
    both = unc.bootstrap_scores(data.scores, data.key, unc.ErrorRates(0.3), **options)
    for number, rate in enumerate((unc.FNMR(0.3), unc.FMR(0.3))):
        found = unc.bootstrap_scores(data.scores, data.key, rate, **options)
        assert np.array_equal(found.replicates, both.replicates[:, number])


@pytest.mark.parametrize("decimals", [0, 1, 6])
@pytest.mark.parametrize("limit", [0.0, 0.02, 0.05, 0.25, 0.9])
def test_kept_rates_by_trying_all_thresholds(decimals: int, limit: float) -> None:
    rng = np.random.default_rng(4)
    tar, non = (np.round(rng.normal(m, 1.0, n), decimals) for m, n in ((1.0, 20), (0.0, 40)))
    thresholds = np.append(np.unique(np.concatenate((tar, non))), np.inf)
    rates = [(np.mean(tar < t), np.mean(non >= t)) for t in thresholds]
    assert unc.FNMRAt(limit)(tar, non) == min(miss for miss, alarm in rates if alarm <= limit)
    assert unc.FMRAt(limit)(tar, non) == min(alarm for miss, alarm in rates if miss <= limit)


@quiet
@pytest.mark.parametrize("limit", [0.0, 0.03, 0.2])
def test_replicates_by_speaker_are_those_of_weighted_trials(limit: float) -> None:
    """The miss rate as a point of the DET curve; both as what weights of trials give."""
    data = crossed(5)
    options = {"replications": 120, "rng": 6} | maps(data)
    curve = unc.bootstrap_scores(data.scores, data.key, unc.DETCurve([limit]), **options)
    found = unc.bootstrap_scores(data.scores, data.key, unc.FNMRAt(limit), **options)
    assert np.array_equal(found.replicates, curve.replicates[:, 0], equal_nan=True)

    def weighted(tar, non, tar_weights, non_weights):
        return unc.FMRAt(limit)(tar, non, tar_weights, non_weights)

    slow = unc.bootstrap_scores(data.scores, data.key, weighted, **options)
    found = unc.bootstrap_scores(data.scores, data.key, unc.FMRAt(limit), **options)
    assert found.replicates == pytest.approx(slow.replicates, abs=1e-12, nan_ok=True)


def test_losses_have_the_slope_of_the_hull() -> None:
    """Points (pfa, pmiss) of the hull: (1, 0), (1/2, 0), (0, 1/2), (0, 1)."""
    sample = ListedSample.from_scores([1.0, 3.0], [0.0, 2.0])
    # At a false-alarm rate of 0.2 the slope is (1/2) / (1/2): a false alarm costs a miss.
    found = losses_of(unc.FNMRAt(0.2), sample)
    assert found.tar(np.array([1.0, 3.0])).tolist() == [1.0, 0.0]
    assert found.non(np.array([0.0, 3.0])).tolist() == [0.0, 1.0]
    assert found.estimate == 0.5
    # At a false-alarm rate of 0.7 all targets are accepted: the hull is flat.
    assert losses_of(unc.FNMRAt(0.7), sample).non(np.array([3.0])).tolist() == [0.0]


def test_ends_add_up_as_errors_do() -> None:
    """Point (0.02, 0.3) of a curve; 0.01 to 0.08 are four times less, and half the rate."""
    pmiss, pfa = np.array([0.0, 0.2, 0.3, 0.6, 1.0]), np.array([1.0, 0.04, 0.02, 0.005, 0.0])
    kept = KeptRate(unc.FNMRAt(0.02), 1.0, (0.3, 0.02), (pmiss, pfa))
    assert [kept.read(x) for x in (0.04, 0.02, 0.005, 0.0)] == [0.2, 0.3, 0.6, 1.0]
    low, high = kept.ends((0.25, 0.4), (0.01, 0.08), 0.0)
    assert (low, high) == pytest.approx((0.3 - math.hypot(0.05, 0.1), 0.3 + math.hypot(0.1, 0.3)))
    low, high = kept.ends((0.25, 0.4), (0.01, 0.08), -0.5)
    assert low == pytest.approx(0.3 - math.sqrt(0.05**2 + 0.1**2 - 0.05 * 0.1))
    # Without a false alarm no threshold keeps to the rate for sure.
    none = KeptRate(unc.FNMRAt(0.001), 1.0, (1.0, 0.0), (pmiss, pfa))
    assert none.ends((0.9, 1.0), (0.0, 0.1), 0.0)[1] == 1.0


def test_few_errors_are_said() -> None:
    data = CrossedExperiment(30, 1, 2).draw(np.random.default_rng(7))
    options = {"replications": 20, "rng": 1} | maps(data)
    with pytest.warns(FewErrorsWarning) as caught:
        unc.bootstrap_scores(data.scores, data.key, unc.FNMRAt(0.001), **options)
    assert any("false-alarm rate rests on" in str(one.message) for one in caught)
    # Misses alone make a false non-match rate.
    with pytest.warns(FewErrorsWarning) as caught:
        unc.bootstrap_scores(data.scores, data.key, unc.FNMR(0.0), **options)
    assert not any("false-alarm" in str(one.message) for one in caught)


@quiet
def test_systems_differ_in_a_rate() -> None:
    """Each system may have its own threshold; a kept rate must be the same."""
    data = crossed(8)
    same = data.scores.transform(lambda x: x + 1.0)
    both = data.scores, same, data.key
    for rate in (unc.FMR, unc.FNMR):
        found = unc.speaker_z_test(*both, rate(0.2), rate(1.2), **maps(data))
        assert (found.difference, found.p_value) == (0.0, 1.0)
        assert unc.speaker_z_test(*both, rate(0.2), **maps(data)).difference != 0
    found = unc.speaker_z_test(*both, unc.FNMRAt(0.1), **maps(data))
    assert (found.difference, found.p_value) == (0.0, 1.0)
    with pytest.raises(InvalidInputError, match="the same prior and costs"):
        unc.speaker_z_test(*both, unc.FNMRAt(0.1), unc.FNMRAt(0.2), **maps(data))
    with pytest.raises(InvalidInputError, match="the same prior and costs"):
        unc.speaker_z_test(*both, unc.FMR(0.2), unc.FNMR(0.2), **maps(data))


@pytest.mark.parametrize("rate", [-0.1, 1.0, 5.0, math.nan, "x"])
def test_bad_rates(rate: object) -> None:
    for statistic in (unc.FNMRAt, unc.FMRAt):
        with pytest.raises(InvalidInputError, match="`rate` must"):
            statistic(rate)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")
def test_a_new_loss_has_the_interval_of_its_speakers_and_its_own_words():
    """One class is all that a metric takes: the halved Brier score has half of all its numbers."""

    class Half(Brier):
        words = "half a Brier score"
        bounds = 0.0, 2.0

        def loss(self, which, scores):
            return 0.5 * super().loss(which, scores)

    rng, (ids, same) = np.random.default_rng(2), ([f"s{i}" for i in range(30)], np.eye(30) > 0)
    asked = Scores(rng.normal(4.0 * same - 2.0), ids, ids), Key(ids, ids, same, ~same)
    half, whole = (unc.speaker_interval(*asked, one) for one in (Half(), Brier()))
    assert half.standard_error == pytest.approx(0.5 * whole.standard_error, rel=1e-12)
    assert half.high == pytest.approx(0.5 * whole.high, rel=1e-12)
    noisy = Scores(asked[0].scoremat + rng.normal(size=(30, 30)), ids, ids)
    compared = unc.compare_systems([asked[0], noisy], asked[1], Half())
    assert compared.metric == "half a Brier score"


def test_a_derived_class_has_no_losses_of_its_base() -> None:
    """The maximum of costs varies otherwise than their mean."""

    class Worst(MeanActDCF):
        def combine(self, tar_means, non_means):
            return self._together.combine(tar_means, non_means).max(axis=1)

    points = OperatingPoint(0.5), OperatingPoint(0.1)
    assert has_losses(MeanActDCF(points))
    assert not has_losses(Worst(points))
