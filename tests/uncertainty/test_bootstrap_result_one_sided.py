"""One-sided ends are those of the two-sided interval of 2 c - 1, however it was made."""

import numpy as np
import pytest
from scipy import stats

from bosaris_py import OperatingPoint, uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.uncertainty import Interval
from tests.crossed_trials import CrossedExperiment

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")

COUNTS = unc.ErrorCounts(misses=0, n_tar=300, false_alarms=7, n_non=900)


def _drawn():
    drawn = CrossedExperiment(n_speakers=12, tar_mean=1.5).draw(np.random.default_rng(1))
    return drawn, {"speakers": (drawn.model_speakers, drawn.segment_speakers)}


def _by_speaker(confidence, statistic):
    drawn, how = _drawn()
    return unc.speaker_interval(drawn.scores, drawn.key, statistic, confidence=confidence, **how)


def _apart(confidence):
    """Return the interval of a metric of classes that are apart, of which nothing varies."""
    drawn, how = _drawn()
    cost = unc.ActDCF(OperatingPoint(0.5, 1, 1))
    far = drawn.scores.transform(lambda scores: 1e3 * np.sign(scores))
    target = drawn.key.tar | ~drawn.key.non
    apart = type(far)(np.where(target, 9.0, -9.0), far.modelset, far.segset)
    return unc.speaker_interval(apart, drawn.key, cost, confidence=confidence, **how)


INTERVALS = {
    "rate": lambda c: unc.error_rate_interval(3, 100, confidence=c),
    "normal rate": lambda c: unc.error_rate_interval(3, 100, confidence=c, method="normal"),
    "exact rate": lambda c: unc.error_rate_interval(0, 9, confidence=c, method="clopper-pearson"),
    "HTER": lambda c: unc.hter_interval(COUNTS, confidence=c),
    "DCF": lambda c: unc.dcf_interval(COUNTS, OperatingPoint(0.1, 1, 1), confidence=c),
    "z": lambda c: unc.hter_z_test(COUNTS, unc.ErrorCounts(9, 300, 9, 900)).interval(c),
    "EER": lambda c: _by_speaker(c, unc.EER()),
    "AUC": lambda c: _by_speaker(c, unc.AUC()),
    "minCllr": lambda c: _by_speaker(c, unc.MinCllr()),
    "FNMR at FMR": lambda c: _by_speaker(c, unc.FNMRAt(0.05)),
    "apart": _apart,
}


@pytest.mark.parametrize("name", INTERVALS)
def test_ends_of_the_two_sided_interval(name):
    made, both = INTERVALS[name](0.95), INTERVALS[name](0.9)
    assert (made.lower(0.95), made.upper(0.95)) == pytest.approx((both.low, both.high), rel=1e-12)
    assert (made.lower(0.975), made.upper(0.975)) == (made.low, made.high)
    # An interval that was made anew is made anew as well.
    assert both.upper(0.975) == pytest.approx(made.high, rel=1e-12)


def test_exact_upper_end_without_errors():
    # (1 - p)^n = .05.
    found = unc.error_rate_interval(0, 300, method="clopper-pearson")
    assert found.upper(0.95) == pytest.approx(1.0 - 0.05 ** (1 / 300), rel=1e-9)


def test_replicates():
    drawn, how = _drawn()
    options = {"replications": 200, "rng": 1, **how}
    found = unc.bootstrap_scores(drawn.scores, drawn.key, unc.EER(), **options)
    low, high = found.interval_of("student", 0.9)
    assert (found.lower(), found.upper()) == (low, high)
    plain = unc.bootstrap_scores(
        drawn.scores,
        drawn.key,
        unc.EER(),
        replications=200,
        rng=1,
        method="iid",
        interval="percentile",
    )
    assert plain.upper(0.95) == pytest.approx(unc.quantile(plain.replicates, 0.95))


def test_normal_quantile():
    made = unc.hter_interval(unc.ErrorCounts(40, 300, 70, 900))
    width = stats.norm.ppf(0.99) * made.standard_error
    assert made.upper(0.99) == pytest.approx(made.estimate + width)


@pytest.mark.parametrize("confidence", [0.5, 0.2, 1.0, 95])
def test_refuses_what_is_no_one_sided_confidence(confidence):
    with pytest.raises(InvalidInputError, match="`confidence`"):
        unc.error_rate_interval(3, 100).upper(confidence)


def test_interval_put_together_by_hand_has_its_own_ends_only():
    made = Interval(0.2, 0.1, 0.3, 0.05, 0.95, "by hand")
    assert made.upper(0.975) == 0.3
    with pytest.raises(InvalidInputError, match=r"be 0\.975 for an interval"):
        made.upper(0.95)
