"""Thresholds of another set: exact fractions, every threshold tried, and a loop over speakers."""

import functools
import math
import warnings

import attrs
import numpy as np
import pytest
import scipy

from bosaris_py import errors
from bosaris_py.metrics.costs import MinDCF
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.trials.key import Key
from bosaris_py.trials.scores import Scores
from bosaris_py.uncertainty.jackknife import Jackknife
from bosaris_py.uncertainty.transfer import transfer as normalized

# Formulas are those of costs as they are.
transfer = functools.partial(normalized, normalize=False)

pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
]

POINT = OperatingPoint(0.3, 2.0, 1.0)
RULES = ["eer", "min-cost", "bayes", {"pfa": 0.15}]
FIGURES = ["threshold", "pmiss", "pfa", "hter", "cost", "own_minimum", "regret"]


def speaker(name):
    return name.split("-")[0]


def verification(rng, names, *, shift=0.0, ties=False):
    """A set in which each speaker has one model and two segments, and all meet."""
    segments = [f"{name}-s{i}" for name in names for i in (1, 2)]
    same = np.repeat(np.eye(len(names), dtype=bool), 2, axis=1)
    habits = rng.normal(size=(2, len(names)))
    values = rng.normal(size=same.shape) + np.where(same, 2.0, -2.0) + shift
    values += habits[0][:, None] + np.repeat(habits[1], 2)
    if ties:
        values = np.round(values)
    return Scores(values, names, segments), Key(names, segments, same, ~same)


def countermeasure(rng, names, n=9):
    """Utterances of each speaker, genuine and spoofed; one model stands for the detector."""
    ids = [f"{name}-u{i}" for name in names for i in range(n)]
    genuine = np.arange(len(ids)) % 3 == 0
    values = rng.normal(size=len(ids)) + 2.0 * genuine
    values += np.repeat(rng.normal(size=len(names)), n)
    key = Key(["detector"], ids, genuine[None], ~genuine[None])
    return Scores(values[None], ["detector"], ids), key


def lists_without(scores, key, name):
    """The scores of both classes in which a speaker speaks on neither side."""
    models, segments = (np.array([speaker(i) != name for i in ids]) for ids in key.ids)
    kept = models[:, None] & segments
    return scores.scoremat[key.tar & kept], scores.scoremat[key.non & kept]


# ---- The choice of a threshold


@pytest.mark.parametrize(
    ("rule", "threshold", "pmiss", "pfa"),
    [
        # Of dev: 0 non, 1 tar, 2 non, 4 tar; both rates are 1/2 between 1 and 2.
        ("eer", 1.5, 1 / 3, 2 / 3),
        # At prior 1/4, costs are 3/8 to 1, 3/8 + 1/8 to 2, 1/8 above and 1/4 above 4.
        ("min-cost", 3.0, 2 / 3, 1 / 3),
        ({"pfa": 0.5}, 0.5, 0.0, 2 / 3),
        ("bayes", math.log(3), 1 / 3, 2 / 3),
    ],
)
def test_exact_fractions(rule, threshold, pmiss, pfa):
    dev, test = ([1.0, 4.0], [0.0, 2.0]), ([1.0, 2.0, 5.0], [0.0, 2.0, 4.0])
    found = transfer(dev, test, rule=rule, prior=0.25)
    rates = found.threshold, found.pmiss, found.pfa
    assert rates == pytest.approx((threshold, pmiss, pfa), rel=1e-15)
    assert found.hter == pytest.approx((pmiss + pfa) / 2, rel=1e-15)
    assert found.cost == pytest.approx(pmiss / 4 + 3 * pfa / 4, rel=1e-15)
    # Above 4 two of three targets are missed.
    assert found.own_minimum == pytest.approx(1 / 6, rel=1e-15)
    assert found.regret == pytest.approx(found.cost - 1 / 6, rel=1e-15)


def naive_threshold(tar, non, rule):
    """The best of all thresholds between two scores, each tried."""
    scores = np.unique(np.concatenate((tar, non)))
    best = None
    for low, high in zip(np.append(-np.inf, scores), np.append(scores, np.inf), strict=True):
        m, f = np.mean(tar < high), np.mean(non >= high)
        judged = {
            "eer": (round(abs(m - f), 12), round(m + f, 12), -m),
            "min-cost": (round(0.6 * m + 0.7 * f, 12), m),
        }.get(str(rule), (f > 0.15, m))
        if best is None or judged < best[0]:
            middle = (low + high) / 2
            best = judged, middle
    return best[1]


@pytest.mark.parametrize("rule", ["eer", "min-cost", {"pfa": 0.15}])
@pytest.mark.parametrize("ties", [False, True])
def test_the_best_of_all_thresholds(rule, ties, rng):
    for _ in range(30):
        tar, non = rng.normal(1, 1, rng.integers(10, 40)), rng.normal(-1, 1, rng.integers(12, 40))
        if ties:
            tar, non = np.round(tar), np.round(non)
        found = transfer((tar, non), (tar, non), rule=rule, prior=POINT)
        assert found.threshold == naive_threshold(tar, non, rule)
        assert found.pmiss == np.mean(tar < found.threshold)
        assert found.regret >= 0.0


def test_of_two_thresholds_as_near_the_one_with_fewer_errors():
    """At pmiss = 1/2, pfa = 2/3 and 1/3 are as near."""
    assert transfer(lists := ([0.0, 9.0], [1.0, 2.0, 3.0]), lists).threshold == 2.5


def test_one_decision_for_all_trials_and_infinite_scores():
    """Of inverted scores it is best to reject all where targets are rare, else to accept all."""
    lists = [-2.0, -1.0], [1.0, 2.0]
    for prior, value in ((0.1, math.inf), (0.9, -math.inf)):
        assert transfer(lists, lists, rule="min-cost", prior=prior).threshold == value
    lists = [math.inf, 1.0, -math.inf], [-math.inf, -math.inf, 0.0, math.inf]
    assert transfer(lists, lists, rule="min-cost").threshold == 0.5
    # Between neighbours there is no number: the upper one is the threshold.
    for low in (1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 0.0):
        lists_of_two = [np.nextafter(low, 9.0)], [low]
        near = transfer(lists_of_two, lists_of_two)
        assert (near.threshold, near.pmiss, near.pfa) == (lists_of_two[0][0], 0.0, 0.0)
    # No threshold rejects a non-target of inf.
    assert transfer(lists, lists, rule={"pfa": 0.24 + 0.01}).pfa == 0.25


# ---- Intervals


def naive_ends(figure, found, variance, degrees, tail, n):
    """Ends by the formulas at the head of `jackknife`: the openings are those of test."""
    value, half = found[figure], scipy.stats.t.isf(tail, degrees) * math.sqrt(variance)
    most = {"cost": 1.3, "own_minimum": 0.6}.get(figure, 1.0)
    if figure in ("threshold", "regret"):
        least, most = (-np.inf, np.inf) if figure == "threshold" else (0.0, 1.3)
        return max(value - half, least), min(value + half, most)
    low = high = value
    if value > 0 and figure in ("pmiss", "pfa"):
        ends = [scipy.special.logit(value) + s * half / (value * (1 - value)) for s in (-1, 1)]
        low, high = scipy.special.expit(ends)
    elif value > 0:
        low, high = (value * math.exp(s * half / value) for s in (-1, 1))
    prices = {"pmiss": (1, 0), "pfa": (0, 1), "hter": (0.5, 0.5)}.get(figure, (0.6, 0.7))
    rates = found["least"] if figure == "own_minimum" else (found["pmiss"], found["pfa"])
    move = sum(
        price * math.exp(-2 * count * rate) * (1 - tail ** (1 / count))
        for price, count, rate in zip(prices, n, rates, strict=True)
    )
    return low, min(math.hypot(high - value, move) + value, most)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kind", ["pairs", "ties", "utterances", "apart"])
def test_a_loop_over_speakers(rule, kind, rng):
    names = [f"d{i}" for i in range(9)], [f"t{i}" for i in range(7)]
    if kind == "utterances":
        dev, test = (countermeasure(rng, some) for some in names)
        n = 7, 7
    else:
        dev, test = (verification(rng, some, ties=kind == "ties") for some in names)
        # Pairs of speakers, in either order.
        n = 7, 7 * 6 // 2
    if kind == "apart":
        dev, test = ((Scores(s.scoremat + 50.0 * k.tar, *k.ids), k) for s, k in (dev, test))
    found = transfer(dev, test, rule=rule, prior=POINT, speakers=speaker)

    whole = [scores.get_tar_non(key) for scores, key in (dev, test)]
    options = {"rule": rule, "prior": POINT}
    plain = attrs.asdict(transfer(*whole, **options), recurse=False)
    of_dev = [transfer(lists_without(*dev, name), whole[1], **options) for name in names[0]]
    of_test = []
    for name in names[1]:
        tar, non = lists_without(*test, name)
        one = {"threshold": plain["threshold"], "pmiss": np.mean(tar < plain["threshold"])}
        one["pfa"] = np.mean(non >= plain["threshold"])
        one["hter"] = (one["pmiss"] + one["pfa"]) / 2
        one["cost"] = 0.6 * one["pmiss"] + 0.7 * one["pfa"]
        one["own_minimum"] = MinDCF(POINT, normalize=False)(tar, non)
        of_test.append(one | {"regret": one["cost"] - one["own_minimum"]})
    limits = np.append(np.unique(whole[1][0]), np.inf)
    rates = [(np.mean(whole[1][0] < t), np.mean(whole[1][1] >= t)) for t in limits]
    plain["least"] = min(rates, key=lambda pair: (round(0.6 * pair[0] + 0.7 * pair[1], 12), pair))

    for figure in FIGURES:
        estimate, difference = getattr(found, figure), figure == "regret"
        left_out = [getattr(one, figure) for one in of_dev], [one[figure] for one in of_test]
        parts = [
            Jackknife(0.0, np.array(one), np.ones(1), is_difference=difference) for one in left_out
        ]
        variance = sum(one.standard_error**2 for one in parts)
        assert estimate.value == pytest.approx(plain[figure], rel=1e-14, abs=1e-15)
        # Each of 9 speakers has an 18th of the trials of both sets, each of 7 a 14th.
        assert estimate.n_units == 16
        assert estimate.effective_units == pytest.approx(1 / (9 / 18**2 + 7 / 14**2), rel=1e-12)
        assert set(estimate.deviations) == {*names[0], *names[1]}
        if variance < 1e-28:
            assert (estimate.standard_error or 0.0) < 1e-14
            degrees, variance = min(one.degrees for one in parts), 0.0
        else:
            assert estimate.standard_error == pytest.approx(math.sqrt(variance), rel=1e-12)
            # Satterthwaite.
            degrees = variance**2 / sum(one.standard_error**4 / one.degrees for one in parts)
            assert estimate.degrees == pytest.approx(degrees, rel=1e-9)
        for confidence in (0.95, 0.8):
            tail = 0.5 - 0.5 * confidence
            ends = naive_ends(figure, plain, variance, degrees, tail, n)
            assert estimate.interval(confidence) == pytest.approx(ends, rel=1e-9, abs=1e-12)


def test_a_threshold_of_infinity_has_no_interval(rng):
    names = [f"x{i}" for i in range(12)]
    dev, test = (verification(rng, [a + name for name in names]) for a in "dt")
    # The highest score is a non-target's.
    dev = Scores(dev[0].scoremat + 50.0 * dev[1].non, *dev[1].ids), dev[1]
    with pytest.warns(errors.SuspectScoresWarning, match="^dev: The area"):
        found = transfer(dev, test, rule="min-cost", prior=0.01, speakers=speaker)
    assert found.threshold.value == math.inf
    assert found.threshold.low is None
    assert found.pmiss.value == 1.0
    assert found.cost.value == pytest.approx(0.01, rel=1e-15)


def test_few_speakers(rng):
    dev, test = (verification(rng, [f"{a}{i}" for i in range(n)]) for a, n in (("d", 4), ("t", 9)))
    with pytest.warns(errors.FewSpeakersWarning):
        found = transfer(dev, test, speakers=speaker)
    for figure in FIGURES:
        assert (getattr(found, figure).low, getattr(found, figure).standard_error) == (None, None)


def test_few_errors_of_either_set(rng):
    dev = rng.normal(3, 1, 900), rng.normal(-3, 1, 2000)
    test = rng.normal(0, 1, 900), rng.normal(0, 1, 2000)
    with pytest.warns(errors.FewErrorsWarning):
        found = transfer(dev, test, rule={"pfa": 0.002})
    assert [note.about for note in found.notes] == ["dev"]
    assert not transfer(test, test).notes


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        *(({"test": ([1.0, 2.0], [0.0, 1.0])}, "test"), ({"prior": 0.0}, "p_target")),
        *(({"rule": x}, "rule") for x in ("best", {"pfa": 1e-5}, {"pfa": 5}, {"pmiss": 0.1})),
        ({"speakers": lambda name: name[1:].split("-")[0]}, "speakers"),
        ({"speakers": lambda name: name.split("-")[0].replace("t0", "d0")}, "speakers"),
    ],
)
def test_bad_arguments_are_named(change, argument, rng):
    dev, test = (verification(rng, [f"{x}{i}" for i in range(8)]) for x in "dt")
    with pytest.raises(errors.InvalidInputError) as caught:
        transfer(**{"dev": dev, "test": test, "speakers": speaker, **change})
    assert caught.value.argument == argument


def test_values_are_the_same_with_and_without_speakers(rng):
    dev, test = (verification(rng, [f"{x}{i}" for i in range(8)]) for x in "dt")
    found, plain = transfer(dev, test, speakers=speaker), transfer(dev, test)
    assert all(getattr(found, figure).value == getattr(plain, figure) for figure in FIGURES)
    assert [len(repr(one).splitlines()) for one in (found, plain)] == [9, 9]
    # Divided by .6, the cost of accepting none.
    old, new = (f(dev, test, prior=POINT, speakers=speaker) for f in (transfer, normalized))
    for figure in FIGURES:
        one, other = ([x.value, *x.interval()] for x in (getattr(y, figure) for y in (old, new)))
        scale = 0.6 if figure in FIGURES[4:] else 1.0
        assert one == pytest.approx([scale * x for x in other], rel=1e-9)
    assert "costs are normalized" in repr(new)


@pytest.mark.parametrize("rule", ["eer", "bayes"])
def test_inverted_scores_and_those_that_are_no_llrs(rule, rng):
    """What rests on Bayes decisions tells of scores that are none."""
    good = rng.normal(2, 2, 60), rng.normal(-2, 2, 60)
    shifted, turned = [part + 50.0 for part in good], good[::-1]
    for test, told in ((good, False), (shifted, rule == "bayes"), (turned, True)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = transfer(good, test, rule=rule)
        kinds = {note.kind for note in found.notes if note.about == "test"}
        assert (errors.SuspectScoresWarning in kinds) == told
        assert {one.category for one in caught} == {note.kind for note in found.notes}
