"""Equivalence and "not worse" against the t-test that they shift, computed by hand."""

import math

import attrs
import numpy as np
import pytest
from scipy import stats

from bosaris_py import Key, Scores
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from tests.crossed_trials import CrossedExperiment

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")


@pytest.fixture(scope="module")
def drawn():
    experiment = CrossedExperiment(n_speakers=40, tar_mean=1.5, non_mean=-1.5)
    return experiment.draw_systems(np.random.default_rng(3), n_systems=2, shared=0.9)


@pytest.fixture(scope="module")
def how(drawn):
    return {"speakers": (drawn[0].model_speakers, drawn[0].segment_speakers)}


def _ask(drawn, how, statistic, **options):
    a, b = drawn
    return unc.equivalence_test(a.scores, b.scores, a.key, statistic, **how, **options)


@pytest.mark.parametrize("statistic", [unc.EER(), unc.Cllr(), unc.ActDCF(0.3)])
@pytest.mark.parametrize("margin", [0.003, 0.02, 0.3])
def test_is_two_shifted_t_tests(drawn, how, statistic, margin):
    a, b = drawn
    plain = unc.speaker_z_test(a.scores, b.scores, a.key, statistic, **how)
    law = stats.t(plain.degrees)
    upper = law.cdf((plain.difference - margin) / plain.standard_error)
    lower = law.sf((plain.difference + margin) / plain.standard_error)
    found = _ask(drawn, how, statistic, margin=margin)
    assert found.p_value == pytest.approx(max(upper, lower, plain.least_p / 2), rel=1e-9)
    not_worse = _ask(drawn, how, statistic, margin=margin, question="not worse")
    assert not_worse.p_value == pytest.approx(max(upper, plain.least_p / 2), rel=1e-9)
    ends = plain.interval(0.9)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))
    # The answer is that of the interval of 1 - 2 level.
    assert found.shown == (-margin < found.low and found.high < margin)
    assert not_worse.shown == (not_worse.high < margin)


@pytest.mark.parametrize("statistic", [unc.EER(), unc.Cllr(), unc.AUC()])
def test_relative_margin_is_one_of_the_log_ratio(drawn, how, statistic):
    a, b = drawn
    found = _ask(drawn, how, statistic, relative=0.1)
    one, two = (
        unc.speaker_z_test(x.scores, y.scores, a.key, statistic, **how) for x, y in ((a, b), (b, a))
    )
    losses = one.first.estimate, two.first.estimate
    assert found.change == pytest.approx(losses[0] / losses[1] - 1.0)
    # The variance of log A - log B: V_A / A^2 + V_B / B^2 - 2 C / (A B), with 2 C = V_A + V_B - V.
    v_a, v_b, v = (t.standard_error**2 for t in (one, one, one))
    v_a, v_b = one.first.standard_error**2, two.first.standard_error**2
    shared = v_a + v_b - v
    variance = v_a / losses[0] ** 2 + v_b / losses[1] ** 2 - shared / (losses[0] * losses[1])
    quantile = stats.t(found.degrees).ppf(0.95)
    half = 0.5 * (math.log1p(found.high) - math.log1p(found.low)) / quantile
    # Variances of pairs are greater ones of two sums, which is not linear: within a hundredth.
    assert half == pytest.approx(math.sqrt(variance), rel=0.01)


def test_area_that_is_less_is_worse(drawn, how):
    a, b = drawn
    found = _ask(drawn, how, unc.AUC(), margin=0.01)
    assert found.change == pytest.approx(found.second - found.first)
    areas = [unc.speaker_interval(x.scores, a.key, unc.AUC(), **how).estimate for x in (a, b)]
    assert (found.first, found.second) == pytest.approx(tuple(areas))


def test_system_beside_itself_is_equivalent(drawn, how):
    a = drawn[0]
    found = unc.equivalence_test(a.scores, a.scores, a.key, unc.EER(), margin=1e-6, **how)
    assert found.shown
    assert (found.change, found.low, found.high) == (0.0, 0.0, 0.0)


def test_no_answer_is_not_called_equal_or_different(drawn, how):
    text = repr(_ask(drawn, how, unc.EER(), margin=1e-9))
    assert "equivalent: not shown" in text
    assert "equal" not in text


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("equivalent", "equivalent: shown; 0.11 and 0.1, first worse by 0.01 (80 % interval"),
        ("not worse", "first not worse: shown; 0.11 and 0.1, first worse by 0.01 (80 % interval"),
    ],
)
def test_words_are_those_of_the_question(drawn, how, question, words):
    """At a level of 0.1 the interval has 1 - 2 * 0.1."""
    found = _ask(drawn, how, unc.EER(), margin=0.05, level=0.1, question=question)
    numbers = {"first": 0.11, "second": 0.1, "change": 0.01, "low": -0.02, "high": 0.04}
    within = "+-0.05" if question == "equivalent" else "at most 0.05"
    assert repr(attrs.evolve(found, **numbers, p_value=0.03)) == (
        f"{words} -0.02 to 0.04; margin {within}), p 0.03"
    )


@pytest.mark.parametrize("perfect", [0, 1])
def test_share_of_zero_is_refused(drawn, how, perfect):
    """One system has no error, so that its EER is 0, and the ratio to it is none."""
    key, sides = drawn[0].key, [each.scores for each in drawn]
    sides[perfect] = Scores(sides[perfect].scoremat + 100.0 * key.tar, *sides[perfect].ids)
    with pytest.raises(InvalidInputError, match="`relative` must be of metrics above 0"):
        unc.equivalence_test(*sides, key, unc.EER(), relative=0.1, **how)


def test_planner(drawn, how):
    found = _ask(drawn, how, unc.Cllr(), margin=0.01)
    k, error = 40, found.contrast.standard_error
    reach = stats.norm.ppf(0.95) + stats.norm.ppf(0.9)
    assert found.speakers_needed().estimate == math.ceil(k * (reach * error / 0.01) ** 2)
    not_worse = _ask(drawn, how, unc.Cllr(), margin=0.01, question="not worse")
    reach = stats.norm.ppf(0.95) + stats.norm.ppf(0.8)
    assert not_worse.speakers_needed().estimate == math.ceil(k * (reach * error / 0.01) ** 2)
    relative = _ask(drawn, how, unc.Cllr(), relative=0.05)
    assert relative.speakers_needed() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "`margin` must be given, or `relative`"),
        ({"margin": 0.1, "relative": 0.1}, "`margin` must be given, or `relative`"),
        ({"margin": 0.0}, "`margin`"),
        ({"relative": 5}, "per cent"),
        ({"margin": 0.1, "level": 0.5}, "`level`"),
        ({"margin": 0.1, "question": "equal"}, "`question`"),
    ],
)
def test_refused(drawn, how, options, message):
    with pytest.raises(InvalidInputError, match=message):
        _ask(drawn, how, unc.EER(), **options)


def _without_errors(rng, n_speakers):
    """Two systems that decide all trials rightly, with other scores; each pair has one trial."""
    names = [f"s{i:03d}" for i in range(n_speakers)]
    same = np.eye(n_speakers, dtype=bool)
    llrs = (np.where(same, 6.0, -6.0) + rng.uniform(-1, 1, same.shape) for _ in "ab")
    return [Scores(x, names, names) for x in llrs], Key(names, names, same, ~same)


@pytest.mark.parametrize(("statistic", "most"), [(unc.EER(), 0.5), (unc.FNMR(0.0), 1.0)])
def test_few_speakers_without_errors_show_no_equivalence(statistic, most, rng):
    """If the rates of all speakers differ by m, K speakers show none with the chance (1 - m)^K."""
    (a, b), key = _without_errors(rng, 5)
    found = unc.equivalence_test(a, b, key, statistic, margin=0.01)
    assert found.p_value == pytest.approx((1 - 0.01 / most) ** 5, rel=1e-12)
    assert not found.shown
    assert found.high == -found.low == pytest.approx(most * (1 - 0.05**0.2), rel=1e-12)
    # Of the difference 1 - .025^(1/5) of the greatest is left open, .52 of it.
    ends = unc.speaker_z_test(a, b, key, statistic).interval()
    assert (ends.low, ends.high) == pytest.approx((-0.5218 * most, 0.5218 * most), rel=1e-4)
    assert unc.equivalence_test(a, b, key, statistic, margin=most).shown
    # The same scores are alike for sure.
    assert unc.equivalence_test(a, a, key, statistic, margin=0.01).shown
    assert unc.speaker_z_test(a, a, key, statistic).interval().width == 0.0


def test_many_speakers_without_errors_show_equivalence(rng):
    (a, b), key = _without_errors(rng, 300)
    found = unc.equivalence_test(a, b, key, unc.EER(), margin=0.01, question="not worse")
    assert found.p_value == pytest.approx(0.98**300, rel=1e-12)
    assert found.shown


def test_equal_errors_leave_a_ratio_open(rng):
    """Both miss one target of 40 and nothing else, with other scores: the rates are 1/40."""
    (a, b), key = _without_errors(rng, 40)
    wrong = [x.scoremat.copy() for x in (a, b)]
    for values in wrong:
        values[3, 3] = -20.0
    a, b = (Scores(values, key.modelset, key.segset) for values in wrong)
    found = unc.equivalence_test(a, b, key, unc.FNMR(0.0), relative=0.5)
    # A ratio of 1 / 1.5 is a difference of 1/40 - 1/60.
    assert found.p_value == pytest.approx((1 - 1 / 120) ** 40, rel=1e-12)
    assert found.high == pytest.approx(40 * (1 - 0.05 ** (1 / 40)), rel=1e-12)
    assert found.low == -1.0
    assert "margin -33.33% to +50.00%" in repr(found)


@pytest.mark.parametrize(("method", "units"), [("speaker", 12), ("iid", 12)])
def test_replicates_of_equal_decisions_leave_a_difference_open(method, units, rng):
    """Of 12 speakers, or targets, 1 - .025^(1/12) of the greatest difference is not seen."""
    (a, b), key = _without_errors(rng, 12)
    found = unc.paired_bootstrap(a, b, key, unc.FNMR(0.0), method=method, replications=99, rng=1)
    half = 1 - 0.025 ** (1 / units)
    assert (found.low, found.high) == pytest.approx((-half, half), rel=1e-12)
    assert found.p_value == 1.0
    same = unc.paired_bootstrap(a, a, key, unc.FNMR(0.0), method=method, replications=99, rng=1)
    assert (same.low, same.high) == (0.0, 0.0)
