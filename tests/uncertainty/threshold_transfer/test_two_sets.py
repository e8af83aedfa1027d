"""Costs at the threshold of another set, against a plain loop over drawn speakers."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import (
    FewErrorsWarning,
    FewSpeakersWarning,
    InvalidInputError,
    TrialMismatchError,
)
from bosaris_py.evaluation.transfer import ThresholdRule, midpoint
from bosaris_py.numerics import OperatingPoint
from bosaris_py.trials import Conditions, Key, Scores
from bosaris_py.uncertainty.threshold_transfer.draws import DrawnSet, draw_thresholds, draw_weights
from bosaris_py.uncertainty.threshold_transfer.result import FIGURES

RULES = ("eer", "min-cost", "fmr=0.15", "fnmr=0.2", "bayes")
POINT = OperatingPoint(0.3, 2.0, 1.0)

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


def verification(rng, names, *, ties=False):
    """A set in which each speaker has two models and two segments, and all meet."""
    models = [f"{name}-m{i}" for name in names for i in (1, 2)]
    segments = [f"{name}-s{i}" for name in names for i in (1, 2)]
    same = np.repeat(np.repeat(np.eye(len(names), dtype=bool), 2, axis=0), 2, axis=1)
    habits = rng.normal(size=(2, len(names)))
    values = rng.normal(size=same.shape) + np.where(same, 1.5, -1.5)
    values += np.repeat(habits[0], 2)[:, None] + np.repeat(habits[1], 2)
    if ties:
        values = np.round(values)
    return Scores(values, models, segments), Key(models, segments, same, ~same)


def countermeasure(rng, names, n=12):
    """Utterances of each speaker, genuine and spoofed; one model stands for the detector."""
    who = np.repeat(names, n)
    ids = [f"{name}-u{i}" for i, name in enumerate(who)]
    genuine = rng.random(who.size) < 0.5
    habits = dict(zip(names, rng.normal(size=len(names)), strict=True))
    values = rng.normal(size=who.size) + 2.0 * genuine + [habits[name] for name in who]
    listed = ["detector"] * who.size
    return Scores.from_trials(listed, ids, values), Key.from_trials(listed, ids, genuine)


def speaker(trial_id):
    return trial_id.split("-")[0]


def trials_of(scores, key):
    """Scores, targets, and the two speakers of each trial; one where both are alike."""
    models, segments = key.trial_positions()
    first = np.array([speaker(name) for name in key.modelset])[models]
    second = np.array([speaker(name) for name in key.segset])[segments]
    tar, non = scores.get_tar_non(key)
    is_target = np.asarray(key.is_target)
    values = np.empty(is_target.size)
    values[is_target], values[~is_target] = tar, non
    return values, is_target, first, second


def naive_choice(values, is_target, weights, rule, point):
    """The best of all thresholds between the scores of trials that count."""
    counts = weights > 0
    values, is_target, weights = values[counts], is_target[counts], weights[counts]
    scores = np.unique(values)
    known = ThresholdRule.parse(rule)
    total = [weights[is_target].sum(), weights[~is_target].sum()]
    miss, alarm = point.p_target * point.c_miss, (1 - point.p_target) * point.c_fa
    best = None
    for low, high in zip(np.append(-np.inf, scores), np.append(scores, np.inf), strict=True):
        m = weights[is_target & (values < high)].sum() / total[0]
        f = weights[~is_target & (values >= high)].sum() / total[1]
        judged = {
            "eer": (round(abs(m - f), 12), m + f),
            "min-cost": (round(miss * m + alarm * f, 12), m),
            "fmr": (round(f - known.rate, 12) > 0, m, -f),
            "fnmr": (round(m - known.rate, 12) > 0, f, -m),
        }[known.kind]
        if best is None or judged < best[0]:
            best = judged, midpoint(low, high)
    return best[1]


def weights_of(first, second, names, row):
    number = {name: i for i, name in enumerate(names)}
    one = row[[number[name] for name in first]]
    other = row[[number[name] for name in second]]
    return np.where(first == second, one, one * other)


def rates_of(values, is_target, weights, threshold):
    miss = weights[is_target & (values < threshold)].sum() / weights[is_target].sum()
    alarm = weights[~is_target & (values >= threshold)].sum() / weights[~is_target].sum()
    return miss, alarm


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["pairs", "ties", "utterances"])
def test_replicates_are_those_of_a_loop(rule, kind, rng):
    dev_names = [f"d{i}" for i in range(9)]
    test_names = [f"t{i}" for i in range(7)] + (["d1", "d2", "d3"] if kind == "ties" else [])
    if kind == "utterances":
        dev, test = (countermeasure(rng, names) for names in (dev_names, test_names))
        who = (None, speaker)
    else:
        dev, test = (verification(rng, n, ties=kind == "ties") for n in (dev_names, test_names))
        who = speaker
    with pytest.warns(FewSpeakersWarning):
        found = unc.transfer(
            dev, test, rule=rule, point=POINT, speakers=who, replications=60, rng=4
        )
    of_dev, of_test = draw_weights(*found._sets, 60, 4)
    minima = unc.MinDCF(POINT)
    parts = trials_of(*dev), trials_of(*test)
    if kind == "utterances":  # the model is nobody
        parts = tuple((v, t, second, second) for v, t, _, second in parts)
    held = found._replicates
    checked = 0
    for row in range(60):
        (v, t, a, b), (x, y, c, d) = parts
        w = weights_of(a, b, found._sets[0].names, of_dev[row])
        u = weights_of(c, d, found._sets[1].names, of_test[row])
        if not all(part.sum() for part in (w[t], w[~t], u[y], u[~y])):
            assert np.isnan(held.both["cost"][row])
            continue
        checked += 1
        chosen = found.threshold
        if rule != "bayes":
            chosen = naive_choice(v, t, w, rule, POINT)
        assert held.both["threshold"][row] == chosen
        miss, alarm = rates_of(x, y, u, chosen)
        # Fractions of whole numbers, divided once.
        assert held.both["frr"][row] == pytest.approx(miss, abs=1e-14)
        assert held.both["far"][row] == pytest.approx(alarm, abs=1e-14)
        cost = 0.6 * miss + 0.7 * alarm
        least = minima(x[y], x[~y], u[y], u[~y])
        assert held.both["cost"][row] == pytest.approx(cost, abs=1e-14)
        assert held.both["own_minimum"][row] == pytest.approx(least, abs=1e-14)
        assert held.both["regret"][row] == pytest.approx(cost - least, abs=1e-14)
        miss, alarm = rates_of(x, y, u, found.threshold)
        assert held.test["hter"][row] == pytest.approx((miss + alarm) / 2, abs=1e-14)
    assert checked > 40


@pytest.mark.parametrize("rule", ["eer", "min-cost", "fmr=0.15", "fnmr=0.2"])
def test_replicates_of_equal_weight_choose_what_the_data_do(rule, rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    found = unc.transfer(*sets, rule=rule, point=POINT, speakers=speaker, replications=2)
    ones = np.ones((1, 25), dtype=int)
    prices = np.array([[0.6, 0.7]])
    same = draw_thresholds(found._sets[0], ThresholdRule.parse(rule), prices, ones)
    assert same[0, 0] == found.threshold


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["eer", "min-cost", "fmr=0.15", "fnmr=0.2"])
def test_conditions_are_weighted_in_replicates_too(rule, rng):
    sets, conditions = [], []
    for x in "dt":
        scores, key = verification(rng, [f"{x}{i}" for i in range(24)])
        even = np.arange(48)[:, None] % 4 < 2
        masks = {"even": key.trial_mask & even, "odd": key.trial_mask & ~even}
        sets.append((scores, key))
        conditions.append(Conditions(masks, {"even": 0.8, "odd": 0.2}))
    found = unc.transfer(
        *sets, rule=rule, point=POINT, speakers=speaker, conditions=tuple(conditions),
        replications=20, rng=1,
    )  # fmt: skip
    results = bp.Results.from_scores(*sets[1], conditions[1])
    frr, far = results.error_rates_at(found.threshold)
    assert (found.frr, found.far) == (frr, far)
    for row, (of_dev, of_test) in enumerate(zip(*draw_weights(*found._sets, 20, 1), strict=True)):
        lists = []
        for (scores, key), one, row_weights in zip(
            sets, found._sets, (of_dev, of_test), strict=True
        ):
            values, target, a, b = trials_of(scores, key)
            weights = weights_of(a, b, one.names, row_weights).astype(float)
            odd = key.trial_positions()[0] % 4 >= 2
            for share, part in ((0.8, ~odd), (0.2, odd)):
                for of_class in (target, ~target):
                    weights[part & of_class] *= share / weights[part & of_class].sum()
            lists.append((values, target, weights))
        chosen = naive_choice(*lists[0], rule, POINT)
        assert found._replicates.both["threshold"][row] == pytest.approx(chosen, abs=1e-12)
        miss, alarm = rates_of(*lists[1], chosen)
        assert found._replicates.both["cost"][row] == pytest.approx(
            0.6 * miss + 0.7 * alarm, abs=1e-12
        )


def test_speakers_of_both_sets_have_one_weight(rng):
    names = [f"p{i}" for i in range(30)]
    dev, test = verification(rng, names[:20]), verification(rng, names[10:])
    found = unc.transfer(dev, test, speakers=speaker, replications=50, rng=2)
    of_dev, of_test = draw_weights(*found._sets, 50, 2)
    sets = found._sets
    common = np.intersect1d(sets[0].names, sets[1].names)
    assert common.size == 10
    places = [np.searchsorted(one.names, common) for one in sets]
    assert np.array_equal(of_dev[:, places[0]], of_test[:, places[1]])
    # Each group is drawn among itself, so its counts add up to its size.
    assert np.all(of_dev.sum(axis=1) == 20)
    assert np.all(of_test.sum(axis=1) == 20)
    other = np.setdiff1d(np.arange(20), places[0])
    assert not np.array_equal(of_dev[:, other], of_test[:, np.setdiff1d(np.arange(20), places[1])])


def test_a_single_speaker_of_both_sets_is_drawn_with_others(rng):
    names = [f"p{i}" for i in range(41)]
    dev, test = verification(rng, names[:21]), verification(rng, names[20:])
    found = unc.transfer(dev, test, speakers=speaker, replications=200, rng=2)
    of_dev, of_test = draw_weights(*found._sets, 200, 2)
    place = [list(one.names).index("p20") for one in found._sets]
    assert np.array_equal(of_dev[:, place[0]], of_test[:, place[1]])
    assert of_dev[:, place[0]].std() > 0.5


# ---- Acceptance: AASIST and ECAPA-TDNN on ASVspoof 2019 LA


@pytest.fixture(scope="module")
def aasist():
    """The scores of the countermeasure by utterance, and the speaker of each."""
    sets, who = [], {}
    for part in bp.load_example("asvspoof2019_la"):
        table = part.trials
        codes, at = np.unique(table.segments.codes, return_index=True)
        ids, listed = table.segments.levels[codes], ["aasist"] * codes.size
        genuine = table.columns["label"].values()[at] != "spoof"
        scores = Scores.from_trials(listed, ids, table.columns["aasist"][at])
        sets.append((scores, Key.from_trials(listed, ids, genuine)))
        speakers = table.columns["speaker"].values()[at]
        who |= dict(zip(ids.tolist(), speakers.tolist(), strict=True))
    return sets, who


# In percent, from the scores by an independent script: alpha, transferred, own minimum.
AASIST = [(0.1, 1.828, 0.522), (0.5, 2.463, 0.819), (0.9, 1.349, 0.514)]
ECAPA = [(0.1, 1.448, 1.424), (0.5, 1.473, 1.414), (0.9, 0.470, 0.469)]


@pytest.mark.parametrize(("alpha", "cost", "own"), AASIST)
def test_aasist_from_dev_to_eval(aasist, alpha, cost, own):
    (dev, test), _ = aasist
    found = bp.transfer(dev=dev, test=test, rule="min-cost", point=OperatingPoint(1 - alpha))
    assert round(100 * found.cost, 3) == cost
    assert round(100 * found.own_minimum, 3) == own
    assert found.regret == found.cost - found.own_minimum
    if alpha == 0.5:
        assert round(found.threshold, 4) == 0.9696
        assert found.hter == found.cost
        assert round(100 * found.frr, 2) == 0.22
        assert round(100 * found.far, 2) == 4.71
        by_eer = bp.transfer(dev=dev, test=test, rule="eer")
        assert round(100 * by_eer.hter, 2) == 4.45


@pytest.mark.parametrize(("alpha", "cost", "own"), ECAPA)
def test_ecapa_from_dev_to_eval(alpha, cost, own):
    dev, test = bp.load_example("asvspoof2019_la")
    sets = [(part.scores["ecapa"], part) for part in (dev, test)]
    found = bp.transfer(*sets, rule="min-cost", point=1 - alpha)
    # The last digit of the issue is rounded upwards in one cell.
    assert 100 * found.cost == pytest.approx(cost, abs=6e-4)
    assert 100 * found.own_minimum == pytest.approx(own, abs=6e-4)


def test_intervals_of_aasist(aasist):
    (dev, test), who = aasist
    found = bp.transfer(
        dev=dev, test=test, rule="min-cost", speakers=who, replications=500,
        interval="percentile", rng=3,
    )  # fmt: skip
    assert found.n_speakers == (20, 67)
    # Ends of 500 draws: of the test set within 0.05, of both within 0.6 points.
    alone = found.interval("hter", drawn="test")
    assert (100 * alone.low, 100 * alone.high) == pytest.approx((2.19, 2.75), abs=0.05)
    assert (100 * found.low, 100 * found.high) == pytest.approx((1.29, 5.95), abs=0.6)
    assert found.low == found.interval("hter").low == found.interval().low


# ---- Closed forms


def test_closed_form_by_speaker_is_that_of_speaker_errors(rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    found = unc.transfer(*sets, rule="min-cost", point=POINT, speakers=speaker)
    errors = unc.speaker_errors(*sets[1], found.threshold, speakers=speaker)
    interval = found.interval("cost", drawn="test")
    expected = errors.dcf_interval(POINT)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert interval.standard_error == pytest.approx(expected.standard_error, rel=1e-12)


def test_closed_form_of_utterances_is_the_jackknife(rng):
    """The variance of leave-one-speaker-out rates, to first order of the weights."""
    sets = [countermeasure(rng, [f"{x}{i}" for i in range(22)], 15) for x in "dt"]
    found = unc.transfer(*sets, point=POINT, speakers=(None, speaker))
    values, target, _, who = trials_of(*sets[1])
    shifts = []
    for name in np.unique(who):
        kept = (who != name).astype(float)
        miss, alarm = rates_of(values, target, kept, found.threshold)
        shifts.append(0.6 * (miss - found.frr) + 0.7 * (alarm - found.far))
    expected = math.sqrt(21 / 22 * np.sum(np.square(shifts)))
    interval = found.interval("cost", drawn="test")
    assert interval.standard_error == pytest.approx(expected, rel=1e-12)


def test_without_speakers_trials_are_independent(rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    found = unc.transfer(*sets)
    counts = unc.ErrorCounts.from_scores(*sets[1], found.threshold)
    assert found.errors == counts
    assert found.interval("hter", drawn="test") == unc.hter_interval(counts)
    assert found.interval("cost", drawn="test").low == pytest.approx(
        unc.hter_interval(counts).low, rel=1e-12
    )
    far = found.interval("far", drawn="test")
    assert far == unc.error_rate_interval(counts.false_alarms, counts.n_non)
    assert found.low == found.interval("cost", method="trials").low < found.cost
    least = unc.transfer(*sets, rule="min-cost")
    assert math.isnan(least.low)
    with pytest.raises(InvalidInputError, match="replications"):
        least.interval("hter")


def best_of(thresholds, rates, rule, kept):
    """The outermost threshold of a rule that keeps to another rate, or difference of rates."""
    miss, alarm = np.array(rates).T
    if rule == "fmr":
        return thresholds[np.flatnonzero(alarm <= kept + 1e-12)[0]]
    if rule == "fnmr":
        return thresholds[np.flatnonzero(miss <= kept + 1e-12)[-1]]
    return thresholds[np.flatnonzero(miss - alarm >= kept)[0]]


def naive_of_both(found, sets, rule, kept, ends):
    """Zou and Donner's ends of a cost, given those of the test set and what dev leaves open."""
    (values, target, *_), test = (trials_of(*one) for one in sets)
    scores, ones = np.unique(values), np.ones(values.size)
    edges = zip(np.append(-np.inf, scores), np.append(scores, np.inf), strict=True)
    thresholds = np.array([midpoint(*pair) for pair in edges])
    rates = [rates_of(values, target, ones, t) for t in thresholds]
    moved = [best_of(thresholds, rates, rule, by) for by in kept]
    weights = np.ones(test[0].size)
    prices = np.array([POINT.p_target * POINT.c_miss, (1 - POINT.p_target) * POINT.c_fa])
    costs = [prices @ rates_of(test[0], test[1], weights, t) for t in moved]
    value = found.cost
    return (
        value - math.hypot(value - ends[0], max(value - min(costs), 0)),
        value + math.hypot(ends[1] - value, max(max(costs) - value, 0)),
        sorted(moved),
    )


@pytest.mark.parametrize("rule", ["eer", "fmr=0.15", "fnmr=0.2"])
def test_closed_form_of_both_counts_what_dev_leaves_open(rule, rng):
    """By leave-one-speaker-out rates of dev, and a search among all thresholds."""
    sets = [countermeasure(rng, [f"{x}{i}" for i in range(22)], 15) for x in "dt"]
    found = unc.transfer(*sets, rule=rule, point=POINT, speakers=(None, speaker))
    values, target, _, who = trials_of(*sets[0])
    names, kind = np.unique(who), rule.partition("=")[0]
    of_all = np.array(rates_of(values, target, np.ones(who.size), found.threshold))
    of_fewer = [rates_of(values, target, (who != n).astype(float), found.threshold) for n in names]
    sign = {"eer": (1, -1), "fmr": (0, 1), "fnmr": (1, 0)}[kind]
    shifts = (np.array(of_fewer) - of_all) @ sign
    half = stats.t(21).ppf(0.975) * math.sqrt(21 / 22 * np.sum(shifts**2))
    kept = -half, half
    if kind != "eer":
        asked, rate = ThresholdRule.parse(rule).rate, of_all[int(kind == "fmr")]
        kept = asked * math.exp(-half / rate), asked * math.exp(half / rate)
    alone = found.interval("cost", drawn="test")
    low, high, moved = naive_of_both(found, sets, kind, kept, (alone.low, alone.high))
    both = found.interval("cost")
    assert (both.low, both.high) == pytest.approx((low, high), rel=1e-9)
    assert (found.low, found.high) == (both.low, both.high)
    at = found.interval("threshold")
    assert (at.low, at.high) == pytest.approx(moved, rel=1e-12)
    assert at.low < found.threshold < at.high
    assert both.standard_error > alone.standard_error
    # A one-sided end is that of a two-sided interval of twice the level.
    upper = found.interval("cost", confidence=0.9).high
    assert both.upper(0.95) == pytest.approx(upper, rel=1e-12)
    assert found.records()[0]["frr_low"] == found.interval("frr").low


def test_closed_form_of_both_by_trials(rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(12)]) for x in "dt"]
    found = unc.transfer(*sets, rule="eer", point=POINT)
    dev = found.chosen
    error = math.sqrt(dev.frr * (1 - dev.frr) / 48 + dev.far * (1 - dev.far) / (24 * 22))
    half = stats.norm.ppf(0.975) * error
    alone = found.interval("cost", drawn="test")
    low, high, _ = naive_of_both(found, sets, "eer", (-half, half), (alone.low, alone.high))
    both = found.interval("cost")
    assert (both.low, both.high) == pytest.approx((low, high), rel=1e-9)


def test_closed_form_of_both_by_speaker_pairs(rng):
    """The kept rate of dev has the interval of `speaker_errors`."""
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    found = unc.transfer(*sets, rule="fmr=0.15", point=POINT, speakers=speaker)
    rate = unc.speaker_interval(*sets[0], unc.FMR(found.threshold), speakers=speaker)
    kept = [0.15 * found.chosen.far / end for end in (rate.high, rate.low)]
    alone = found.interval("cost", drawn="test")
    low, high, _ = naive_of_both(found, sets, "fmr", kept, (alone.low, alone.high))
    both = found.interval("cost")
    assert (both.low, both.high) == pytest.approx((low, high), rel=1e-9)


def test_what_has_no_closed_form_of_both_is_refused(rng):
    names = [f"x{i}" for i in range(25)]
    sets = [verification(rng, part) for part in (names, names[:5] + [f"t{i}" for i in range(20)])]
    found = unc.transfer(*sets, speakers=speaker)
    with pytest.raises(InvalidInputError, match="speakers in common; got 0, with 5 such"):
        found.interval("cost")
    assert math.isnan(found.low)
    # As if all trials were independent it has one.
    assert found.interval("cost", method="trials").low < found.cost
    with pytest.raises(InvalidInputError, match="'speakers' or 'trials' with both"):
        found.interval("hter", method="naive")
    with pytest.raises(InvalidInputError, match="be a rate or a cost in closed form"):
        found.interval("regret")
    alike = [bp.Results([1, 2], [0, 1])] * 2
    with pytest.raises(InvalidInputError, match="`method` must have speakers"):
        unc.transfer(*alike).interval("threshold", method="speakers")


def test_a_rate_that_dev_has_no_error_of_is_wide_open(rng):
    """Ties leave no threshold with a false alarm within the rate."""
    lists = [1.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0]
    found = unc.transfer(bp.Results(*lists), bp.Results(*lists), rule="fmr=0.5")
    at = found.interval("threshold")
    assert (at.low, at.high) == (-math.inf, math.inf)
    assert (found.interval("frr").high, found.interval("far").high) == (1.0, 1.0)


@pytest.mark.parametrize("replications", [0, 50])
def test_the_least_cost_has_the_interval_of_a_minimum(replications, rng):
    """Percentiles of a minimum lie too low: 86 % of 250 sets of 20 speakers were covered."""
    names = [[f"{part}{i}" for i in range(25)] for part in "de"]
    sets = [verification(rng, some) for some in names]
    options = {"speakers": speaker, "replications": replications, "rng": 1, "point": POINT}
    found = bp.transfer(*sets, **options)
    right = unc.speaker_interval(*sets[1], unc.MinDCF(POINT), speakers=speaker)
    for drawn in ("both", "test"):
        interval = found.interval("own_minimum", drawn=drawn)
        ends = interval.low, interval.high, interval.upper(0.9)
        assert ends == pytest.approx((right.low, right.high, right.upper(0.9)), rel=1e-12)


def test_a_regret_may_be_chance(rng):
    """The lower end mirrors the upper one at the regret, which replicates lie above."""
    names = [[f"{part}{i}" for i in range(25)] for part in "de"]
    sets = [verification(rng, some) for some in names]
    options = {"speakers": speaker, "replications": 99, "rng": 1}
    found = bp.transfer(*sets, rule="min-cost", **options)
    held = found._replicates.both["regret"]
    assert found.regret > 0
    interval = found.interval("regret")
    # The 97.5 % quantile of 99 replicates is the 97th.
    assert interval.low == max(2 * found.regret - np.sort(held)[96], 0.0) == 0.0
    assert interval.high >= np.sort(held)[96] > 2 * found.regret


def test_sets_without_errors_leave_all_costs_open(rng):
    names = [[f"{part}{i}" for i in range(25)] for part in "de"]
    sets = []
    for some in names:
        _, key = verification(rng, some)
        sets.append((Scores(np.where(key.tar, 5.0, -5.0), key.modelset, key.segset), key))
    found = bp.transfer(*sets, speakers=speaker, replications=50, rng=1)
    # Both rates are at most 1 - .025^(1/25), each of the price 1/2.
    most = 1 - 0.025 ** (1 / 25)
    assert found.interval("own_minimum").high == pytest.approx(most, rel=1e-12)
    # Of replicates both distances add up as standard errors do.
    for figure in ("cost", "regret", "own_minimum"):
        interval = found.interval(figure, method="corrected")
        assert interval.low == 0.0
        assert interval.high == pytest.approx(most / math.sqrt(2), rel=1e-12)


def test_counts_of_errors_are_no_interval_of_weighted_rates(rng):
    names = [[f"{part}{i}" for i in range(25)] for part in "de"]
    sets, conditions = [], []
    for some in names:
        scores, key = verification(rng, some)
        even = np.tile(np.arange(50) % 2 == 0, (50, 1))
        masks = {
            "even": bp.Ndx(key.modelset, key.segset, even),
            "odd": bp.Ndx(key.modelset, key.segset, ~even),
        }
        sets.append((scores, key))
        conditions.append(Conditions(masks, {"even": 0.9, "odd": 0.1}))
    weighted = bp.transfer(*sets, conditions=tuple(conditions))
    results = [
        bp.Results(tar, non, tar_weights=rng.random(tar.size))
        for tar, non in (scores.get_tar_non(key) for scores, key in sets)
    ]
    for found in (weighted, bp.transfer(*results)):
        for drawn in ("both", "test"):
            with pytest.raises(InvalidInputError, match="by speaker where trials weigh"):
                found.interval("frr", drawn=drawn)
        with pytest.raises(InvalidInputError, match="by speaker where trials weigh"):
            found.compare(found, "hter")
        assert math.isnan(found.low)
        assert found.records()[0]["frr_low"] is None
    by_speaker = bp.transfer(*sets, conditions=tuple(conditions), speakers=speaker)
    assert by_speaker.interval("frr").estimate == weighted.frr


def test_the_bayes_threshold_is_not_drawn(rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    found = unc.transfer(*sets, rule="bayes", speakers=speaker)
    assert found.low == found.interval("cost", drawn="test").low
    drawn = unc.transfer(*sets, rule="bayes", speakers=speaker, replications=50, rng=1)
    assert drawn.interval("hter").low == drawn.interval("hter", drawn="test").low


def test_a_class_without_errors_leaves_the_end_open(rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    apart = [(Scores(np.where(k.tar, 50.0, 0.0) + s.scoremat, *k.ids), k) for s, k in sets]
    found = unc.transfer(*apart, speakers=speaker, replications=40, rng=1)
    assert found.hter == 0.0
    # Of 25 speakers of either class, each rate may be 1 - 0.025^(1/25), and counts half.
    most = 0.5 * (1 - 0.025 ** (1 / 25))
    assert found.low == 0.0
    assert found.high == pytest.approx(math.hypot(most, most), rel=1e-12)


# ---- Two systems


def two_systems(rng, n=25):
    sets = [verification(rng, [f"{x}{i}" for i in range(n)]) for x in "dt"]
    others = []
    for scores, key in sets:
        noise = rng.normal(size=scores.scoremat.shape)
        others.append((Scores(scores.scoremat + noise, *key.ids), key))
    return sets, others


def test_the_four_tests_of_the_paper(rng):
    sets, others = two_systems(rng)
    a, b = unc.transfer(*sets), unc.transfer(*others)
    decided = [
        unc.Decisions.from_scores(*some[1], one.threshold) for some, one in ((sets, a), (others, b))
    ]
    for method in ("independent", "dependent", "stricter", "naive", "class"):
        assert a.compare(b, "hter", method=method) == unc.hter_z_test(*decided, method=method)
    assert a.compare(b) == unc.dcf_z_test(*decided, OperatingPoint(0.5))


@pytest.mark.parametrize("figure", FIGURES)
def test_the_paired_test_draws_both_systems_alike(figure, rng):
    sets, others = two_systems(rng)
    options = {"speakers": speaker, "replications": 80, "point": POINT}
    a, b = unc.transfer(*sets, rng=5, **options), unc.transfer(*others, rng=5, **options)
    test = a.compare(b, figure)
    spread = np.std(a._replicates.both[figure] - b._replicates.both[figure], ddof=1)
    assert test.standard_error == pytest.approx(spread, rel=1e-12)
    assert test.degrees == 24
    assert test.difference == getattr(a, figure) - getattr(b, figure)
    # A system with other draws is drawn once more.
    for other in (
        unc.transfer(*others, rng=6, **options),
        unc.transfer(*others, speakers=speaker, point=POINT),
    ):
        assert a.compare(other, figure, method="paired") == test
    assert a.compare(a, figure).p_value == 1.0


def test_systems_on_other_trials_are_not_paired(rng):
    sets, _ = two_systems(rng)
    a = unc.transfer(*sets, speakers=speaker, replications=20, rng=1)
    fewer, _ = two_systems(rng, 24)
    with pytest.raises(TrialMismatchError, match="same trials of the dev set"):
        a.compare(unc.transfer(*fewer, speakers=speaker, replications=20, rng=1))


# ---- Bengio and Mariethoz 2004: tables 1 to 6, from the rates of tables 1 and 4

RATES = {
    "A": (0.0250, 400, 0.0115, 112000),
    "B": (0.0275, 400, 0.0195, 112000),
    "C": (0.096, 5825, 0.131, 57748),
    "D": (0.078, 5825, 0.158, 57748),
}
# The printed HTERs, in percent. That of model A, 1.825, and of C, 11.35, were rounded otherwise.
PRINTED = {"A": (1.82, 0.006), "B": (2.35, 0.006), "C": (11.4, 0.06), "D": (11.8, 0.06)}
# Tables 2 and 5: full widths in percent of eqs 13, 18 and 17; None: not from printed rates.
WIDTHS = {
    ("A", 0.90): (1.285, 0.131, 0.105),
    ("A", 0.95): (1.531, None, 0.125),
    ("A", 0.99): (None, 0.206, 0.164),
    ("C", 0.90): (0.676, 0.414, 0.436),
    ("C", 0.95): (0.805, 0.493, 0.519),
    ("C", 0.99): (1.058, 0.648, 0.682),
}
# Tables 3 and 6: confidence in percent, standard deviation.
TESTS = {
    ("A", "B"): {"independent": (64.7, 0.0057), "naive": (100.0, 0.0006), "class": (100.0, 0.0005)},
    ("C", "D"): {"independent": (89.1, 0.0028), "naive": (None, 0.0018), "class": (100.0, 0.0019)},
}


def printed_model(name):
    return unc.Transfer.from_counts(unc.ErrorCounts.from_rates(*RATES[name]), rule="eer")


@pytest.mark.parametrize("name", list(RATES))
def test_tables_1_and_4(name):
    found, (hter, rounding) = printed_model(name), PRINTED[name]
    assert (found.frr, found.far) == pytest.approx(RATES[name][::2], rel=1e-14)
    assert 100 * found.hter == pytest.approx(hter, abs=rounding)
    assert math.isnan(found.threshold)
    assert math.isnan(found.regret)


@pytest.mark.parametrize(("name", "confidence"), list(WIDTHS))
def test_tables_2_and_5(name, confidence):
    printed = zip(("trials", "naive", "class"), WIDTHS[name, confidence], strict=True)
    for method, width in printed:
        interval = printed_model(name).interval(
            "hter", drawn="test", confidence=confidence, method=method
        )
        assert width is None or round(100 * interval.width, 3) == width


@pytest.mark.parametrize("pair", list(TESTS))
def test_tables_3_and_6(pair):
    a, b = map(printed_model, pair)
    for method, (confidence, sigma) in TESTS[pair].items():
        test = a.compare(b, "hter", method=method)
        assert round(test.standard_error, 4) == sigma
        assert confidence is None or round(100 * test.confidence, 1) == confidence
    # The dependent column takes decisions, which rates do not tell.
    with pytest.raises(InvalidInputError, match="dependent"):
        a.compare(b, "hter", method="dependent")


# ---- Input


def test_sets_that_share_ids_need_speakers(rng):
    sets = [countermeasure(rng, ["p0", "p1"], 300), countermeasure(rng, ["p0", "p1"], 300)]
    sets = [(s, k) for s, k in sets]
    with pytest.raises(InvalidInputError, match=r"speakers .* in dev and in test") as caught:
        unc.transfer(*sets, replications=10)
    assert caught.value.argument == "speakers"
    # Nothing is drawn, so nothing has to be known.
    assert unc.transfer(*sets).replications == 0


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ({"dev": 3}, "dev"),
        ({"test": ([1.0, 2.0], [0.0, 1.0])}, "test"),
        ({"rule": "best"}, "rule"),
        ({"rule": "fmr=0.00001"}, "rule"),
        ({"confidence": 95}, "confidence"),
        ({"replications": -1}, "replications"),
        ({"replications": 1}, "replications"),
        ({"interval": "student"}, "interval"),
        ({"point": 0.0}, "p_target"),
    ],
)
def test_bad_arguments_are_named(change, argument, rng):
    dev, test = (verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt")
    with pytest.raises(InvalidInputError) as caught:
        unc.transfer(**{"dev": dev, "test": test, "speakers": speaker, **change})
    assert caught.value.argument == argument


def test_results_have_no_speakers(rng):
    tar, non = rng.normal(1, 1, 90), rng.normal(-1, 1, 200)
    results = bp.Results(tar, non)
    found = unc.transfer(results, bp.Results(tar, non))
    assert found.hter == pytest.approx((np.mean(tar < found.threshold) + found.far) / 2, rel=1e-14)
    with pytest.raises(InvalidInputError, match="have speakers"):
        unc.transfer(results, results, replications=10)


def test_files_are_read(rng, tmp_path):
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    files = []
    for name, pair in zip(("dev", "test"), sets, strict=True):
        paths = [tmp_path / f"{name}_{kind}.h5" for kind in ("scores", "key")]
        for part, path in zip(pair, paths, strict=True):
            part.save(path)
        files.append(tuple(map(str, paths)))
    options = {"speakers": speaker, "replications": 30, "rng": 1}
    assert repr(unc.transfer(*files, **options)) == repr(unc.transfer(*sets, **options))


def test_few_errors_and_few_speakers_are_said(rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(6)]) for x in "dt"]
    with pytest.warns(FewErrorsWarning) as heard:
        unc.transfer(*sets, speakers=speaker)
    kinds = [item.category for item in heard]
    assert FewSpeakersWarning in kinds
    assert FewErrorsWarning in kinds


def test_a_threshold_that_rests_on_few_errors_is_said(rng):
    tar, non = rng.normal(1, 1, 900), rng.normal(-1, 1, 2000)
    results = bp.Results(tar, non)
    with pytest.warns(FewErrorsWarning, match="threshold of dev rests on 4 errors"):
        unc.transfer(results, results, rule="fmr=0.002")
    with pytest.warns(FewErrorsWarning, match="threshold of dev rests on 9 errors"):
        unc.transfer(results, results, rule="fnmr=0.01")


def test_the_text_says_how_the_threshold_was_chosen(rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    text = repr(unc.transfer(*sets, rule="min-cost", speakers=speaker, replications=30, rng=1))
    assert "the midpoint of the gap" in text
    assert "rule min-cost on dev" in text
    assert "25 speakers of dev, 25 of test" in text


def test_records_are_plain_and_complete(rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    found = unc.transfer(*sets, speakers=speaker, replications=30, rng=1)
    (row,) = found.records()
    for figure in FIGURES[1:]:
        assert row[f"{figure}_low"] <= row[f"{figure}_high"]
    assert (row["cost"], row["cost_low"]) == (found.cost, found.low)
    (plain,) = unc.transfer(*sets, rule="min-cost").records()
    assert plain.keys() == row.keys()
    assert plain["hter_low"] is None
    assert "HTER" in found.to_markdown()


def test_a_drawn_set_needs_two_speakers():
    rng = np.random.default_rng(1)
    some, alone = countermeasure(rng, ["d0", "d1"], 30), countermeasure(rng, ["t0"], 30)
    with pytest.raises(InvalidInputError, match="at least two speakers"):
        unc.transfer(some, alone, speakers=(None, speaker))


def test_names_of_drawn_speakers_are_kept(rng):
    sets = [verification(rng, [f"{x}{i}" for i in range(25)]) for x in "dt"]
    found = unc.transfer(*sets, speakers=speaker)
    assert all(isinstance(one, DrawnSet) for one in found._sets)
    assert sorted(found._sets[0].names) == sorted(f"d{i}" for i in range(25))
    assert len(list(itertools.chain(*(one.names for one in found._sets)))) == 50
