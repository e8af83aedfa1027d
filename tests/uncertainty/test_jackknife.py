"""The jackknife over speakers: equal to a naive loop, and its formulas by hand."""

import attrs
import numpy as np
import pytest
from scipy import special, stats

from bosaris_py.errors import FewSpeakersWarning, InvalidInputError
from bosaris_py.metrics.costs import DCF, ActDCF, Brier, Cllr, MinDCF, Pfa, Pmiss
from bosaris_py.metrics.metric import AnyMetric, Metric
from bosaris_py.metrics.ranks import AUC, EER, MinCllr, PfaAt, PmissAt
from bosaris_py.metrics.third_class import ADCF, SASVEER, SPFEER, SVEER, ActADCF
from bosaris_py.numerics.priors import SpoofCosts
from bosaris_py.trials.key import Key
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.trials.scores import Scores
from bosaris_py.uncertainty import speaker_interval
from bosaris_py.uncertainty.bootstrap import bootstrap_scores
from bosaris_py.uncertainty.jackknife import Jackknife, LeftOut, few_speakers, jackknife
from tests.uncertainty.samples import make_sample, without_each

METRICS = [
    *(EER(), EER("step"), EER("interpolated"), AUC(), MinCllr(), Cllr(), Brier()),
    *(MinDCF(0.05), MinDCF([0.1, 0.01]), ActDCF(0.05), ActDCF([0.1, 0.5]), DCF(0.5, 0.1)),
    *(PmissAt(0.05), PfaAt(0.05), Pmiss(1.0), Pfa(1.0)),
]
OF_THREE = [ADCF(), ActADCF(), SVEER(), SPFEER(), SASVEER()]
GAP = Metric(lambda tar, non: float(np.mean(tar) - np.mean(non)))


def check_against_loop(metrics: list, sample: Sample, n_speakers: int) -> None:
    """Compare the values without each speaker, whose order is not that of the numbers."""
    copies = list(without_each(sample, n_speakers))
    for metric, (found, _) in zip(metrics, jackknife(metrics, sample), strict=True):
        naive = [metric.value(copy) for copy in copies]
        np.testing.assert_allclose(np.sort(found.without), np.sort(naive), rtol=0, atol=1e-12)
        assert found.value == pytest.approx(metric.value(sample), abs=1e-13)


@pytest.mark.parametrize("seed", range(12))
def test_equal_to_a_naive_loop(seed: int) -> None:
    sample = make_sample(
        np.random.default_rng(seed),
        groups=seed % 2 == 1,
        weights=seed % 3 == 1,
        one_side=seed % 4 == 3,
        ties=seed % 5 < 2,
    )
    check_against_loop(METRICS, sample, 9)


def test_masses_of_ten_equal_conditions_add_up_to_one() -> None:
    sample, tenths = make_sample(np.random.default_rng(1)), np.full(10, 0.1)
    classes = (
        attrs.evolve(one, groups=np.arange(one.size) % 10, shares=tenths)
        for one in (sample.tar, sample.non)
    )
    check_against_loop([PmissAt(0.0), PfaAt(0.0)], Sample(*classes), 9)


@pytest.mark.parametrize("seed", range(3))
def test_three_classes_equal_a_naive_loop(seed: int) -> None:
    sample = make_sample(np.random.default_rng(seed), spoofs=True, ties=seed == 1)
    check_against_loop(OF_THREE, sample, 9)


def test_a_speaker_on_both_sides_of_a_trial_is_left_out_once() -> None:
    sample = make_sample(np.random.default_rng(5))
    first, second = sample.non.speakers
    same = np.where(np.arange(first.size) % 7 == 0, first, second)
    sample = Sample(sample.tar, ScoredClass(sample.non.listed, speakers=(first, same)))
    check_against_loop([*METRICS, GAP], sample, 9)


def test_many_speakers_are_left_out_in_groups() -> None:
    rng = np.random.default_rng(6)
    sample = make_sample(rng, n_speakers=450, n_tar=900, n_non=2000)
    left = LeftOut.from_sample(sample)
    assert left.n_units == 200
    assert left.names is None
    times = np.bincount(np.concatenate([*sample.tar.speakers, *sample.non.speakers]))
    sizes = np.diff(left.tar.starts) + np.diff(left.non.starts)
    assert sizes.max() < 2 * sizes.min() + 2 * times.max()
    assert left.shares.size == np.count_nonzero(times)


def test_meetings_are_those_of_each_kind() -> None:
    sample = make_sample(np.random.default_rng(7), spoofs=True)
    kinds = [sample.non.part(sample.kinds == kind).n_meetings for kind in (0, 1)]
    found = LeftOut.from_sample(ADCF().view(sample)).meetings
    assert found == (sample.tar.n_meetings, *kinds)


def test_spoofs_alone_are_opened_by_their_speakers() -> None:
    sample = make_sample(np.random.default_rng(7), spoofs=True)
    ((found, left),) = jackknife([ActADCF(SpoofCosts(0.9, 0.0, 0.1))], sample)
    spoofs = sample.non.part(sample.kinds == 1).n_meetings
    assert [n for _, n, _ in found.unseen] == [sample.tar.n_meetings, spoofs]
    assert left.meetings[-1] == spoofs


# Three speakers without each of whom a rate of .2 is .1, .2, .3.
THREE = np.array([0.1, 0.2, 0.3])


def test_standard_error_degrees_and_ends_by_hand() -> None:
    found = Jackknife(0.2, THREE, np.ones(3) / 3, "logit", (0.0, 1.0))
    # s^2 = 2/3 (.01 + 0 + .01).
    assert found.standard_error == pytest.approx(np.sqrt(0.04 / 3), rel=1e-14)
    # (sum d^2)^2 / sum d^4 = 2, and less 1 at least 2.
    assert found.degrees == pytest.approx(2.0)
    half = stats.t.ppf(0.975, 2.0) * found.standard_error / (0.2 * 0.8)
    expected = special.expit(special.logit(0.2) + np.array([-half, half]))
    assert found.ends(0.025) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("value", [0.2, 1.0, 2.5])
def test_costs_have_the_logarithm(value: float) -> None:
    found = Jackknife(value, THREE, np.ones(3) / 3, "log", (0.0, 2e6))
    half = stats.t.ppf(0.975, 2.0) * found.standard_error / value
    assert found.ends(0.025) == pytest.approx(value * np.exp([-half, half]), rel=1e-12)


def test_a_class_without_errors_opens_the_upper_end() -> None:
    # Clopper and Pearson: 1 - a^(1/n) of a rate of 0 of n.
    found = Jackknife(
        0.0, np.zeros(20), np.ones(20) / 20, "logit", (0.0, 1.0), 0.0, ((1.0, 190, 0.0),)
    )
    assert found.ends(0.025) == pytest.approx((0.0, 1 - 0.025 ** (1 / 190)), rel=1e-12)


def test_a_bias_moves_one_end() -> None:
    """Values without one have a mean of .22: .2 is .04 too low, or, of .16, too high."""
    for last, sign in ((0.36, -1), (0.24, 1)):
        without = np.array([0.1, 0.2, last])
        found = Jackknife(0.2, without, np.ones(3) / 3, "logit", (0.0, 1.0), 1.0)
        plain = Jackknife(0.2, without, np.ones(3) / 3, "logit", (0.0, 1.0))
        # Two times the gap of the mean, and no more than a third of the way to an end.
        end = 0.2 + sign * min(2 * abs(0.2 - without.mean()), 0.2 / 3)
        half = stats.t.ppf(0.975, found.degrees) * found.standard_error / (end * (1 - end))
        moved = special.expit(special.logit(end) + sign * half)
        ends = found.ends(0.025)
        at = (sign + 1) // 2
        assert ends[at] == pytest.approx(moved, rel=1e-12)
        assert ends[1 - at] == plain.ends(0.025)[1 - at]
    far = Jackknife(0.2, np.array([0.0, 0.9, 0.9]), np.ones(3) / 3, "logit", (0.0, 1.0), 9.0)
    end = 0.2 * 2 / 3
    half = stats.t.ppf(0.975, far.degrees) * far.standard_error / (end * (1 - end))
    assert far.ends(0.025)[0] == pytest.approx(special.expit(special.logit(end) - half), rel=1e-12)


def test_trials_without_speakers_have_no_jackknife() -> None:
    with pytest.raises(InvalidInputError):
        LeftOut.from_sample(Sample.from_scores([1.0, 2.0], [0.0]))


def test_a_difference_has_student_of_k_minus_1() -> None:
    one = Jackknife(0.5, THREE + 0.3, np.ones(3) / 3)
    other = Jackknife(0.2, THREE[::-1].copy(), np.ones(3) / 3)
    difference = one.minus(other)
    assert difference.degrees == 2.0
    assert difference.value == pytest.approx(0.3)
    five = Jackknife(0.5, np.arange(5.0), np.ones(5) / 5).minus(
        Jackknife(0.2, np.ones(5), np.ones(5))
    )
    found = five.estimate(0.95, None)
    t = 0.3 / five.standard_error
    assert found.p_value() == pytest.approx(2 * stats.t.sf(t, 4), rel=1e-12)


def test_below_five_speakers_there_is_no_interval() -> None:
    found = Jackknife(0.2, THREE, np.ones(3) / 3, "logit", (0.0, 1.0)).estimate(0.95, None)
    assert found.low is None
    assert [(note.kind, note.count) for note in found.notes] == [(FewSpeakersWarning, 3)]


def test_few_speakers_are_fewer_than_a_hundred() -> None:
    """A kind as common as 3 % is in none of 99 with a chance of 5 %."""
    counts = [[note.count for note in few_speakers(n)] for n in (4, 5, 99, 100)]
    assert counts == [[4], [5], [99], []]
    # 1 - 0.05^(1/5) = 0.4507.
    assert "as common as 45 %" in few_speakers(5)[0].text


def test_one_false_alarm_more_does_not_shorten_the_interval() -> None:
    """The upper end of no false alarm is at most 1.5 times that of one."""
    n, ends = 20, []
    first, second = np.nonzero(~np.eye(n, dtype=bool))
    first, second = np.repeat(first, 4), np.repeat(second, 4)
    own = np.repeat(np.arange(n), 4)
    tar = ScoredClass(np.full(own.size, 2.0), speakers=(own, own))
    for n_alarms in (0, 1):
        scores = np.full(first.size, -2.0)
        scores[:n_alarms] = 1.0
        sample = Sample(tar, ScoredClass(scores, speakers=(first, second)))
        ((found, left),) = jackknife([Pfa(0.0)], sample)
        ends.append(found.estimate(0.95, left.names).high)
    assert ends[0] <= 1.5 * ends[1]
    assert ends[0] < 0.03


def test_deviations_have_the_names_of_speakers() -> None:
    sample = make_sample(np.random.default_rng(8))
    names = np.array([f"speaker {i}" for i in range(9)])
    sample = Sample(sample.tar, sample.non, None, names)
    ((found, left),) = jackknife([EER()], sample)
    estimate = found.estimate(0.95, left.names)
    # Sides of trials count the same: speakers of targets twice, of either side of non-targets.
    sides = (*sample.tar.speakers, *sample.non.speakers)
    shares = np.mean([np.bincount(side, minlength=9) / side.size for side in sides], axis=0)
    assert estimate.effective_units == pytest.approx(1 / (shares**2).sum(), rel=1e-12)
    deviations = estimate.deviations
    naive = np.array([EER().value(copy) for copy in without_each(sample, 9)])
    for k, name in enumerate(names):
        assert deviations[name] == pytest.approx(naive.mean() - naive[k], abs=1e-12)


@pytest.mark.parametrize(
    "metric",
    [EER(), EER("step"), AUC(), PmissAt(0.1), MinDCF(0.2), MinCllr(), Cllr(), DCF(0.5, 0.1)],
)
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_a_speaker_in_all_non_targets(metric: AnyMetric) -> None:
    """Without this one nothing is left to judge: seven values, and many replicates, remain."""
    ids = [*"abcdefgh"]
    of_a = np.zeros((8, 8), bool)
    of_a[0, 1:] = True
    key = Key(ids, ids, np.eye(8, dtype=bool), of_a)
    scores = Scores(np.random.default_rng(1).normal(size=(8, 8)) + 2 * np.eye(8), ids, ids)
    found = speaker_interval(scores, key, metric, speakers=str)
    parts = [key.filter([one], [one], keep=False) for one in ids[1:]]
    values = np.array([metric(*scores.get_tar_non(part)) for part in parts])
    assert found.n_units == 7
    assert found.deviations is not None
    assert found.deviations["a"] == 0.0
    squares = ((values.mean() - values) ** 2).sum()
    np.testing.assert_allclose(found.standard_error, np.sqrt(6 / 7 * squares), rtol=1e-12)
    drawn = bootstrap_scores(scores, key, metric, speakers=str, replications=500, rng=1)
    assert drawn.replicates is not None
    # Five standard deviations of the share without a certain one of eight.
    share = (7 / 8) ** 8
    assert abs(np.isnan(drawn.replicates).mean() - share) < 5 * np.sqrt(share * (1 - share) / 500)
