"""Tandems of two detectors against naive counts of all (pairs of) thresholds."""

from fractions import Fraction

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.metrics.ranks import EER
from bosaris_py.metrics.tandem import TDCF, TEER, CountermeasureEER, t_dcf, t_eer, tandem_sample
from bosaris_py.numerics.priors import SPOOF_COSTS, SpoofCosts
from bosaris_py.numerics.roc import ROC
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.uncertainty.bootstrap import bootstrap_scores
from bosaris_py.uncertainty.jackknife import jackknife

PRICES = Fraction(9405, 10000), Fraction(95, 1000), Fraction(1, 2)


def share(chosen, n):
    return Fraction(sum(chosen), n)


def rates(asv, threshold):
    tar, non, spoof = asv
    return (
        share((x < threshold for x in tar), len(tar)),
        share((x >= threshold for x in non), len(non)),
        share((x >= threshold for x in spoof), len(spoof)),
    )


def naive_t_dcf(asv, cm, threshold, form, limits=None):
    """Count all thresholds of the countermeasure, by the formula with three products."""
    miss, alarm, fake = PRICES
    bona, spoof = [*cm[0], *cm[1]], cm[2]
    pmiss, pfa, accepted = rates(asv, threshold)
    costs = []
    for limit in limits or [*bona, *spoof, np.inf]:
        rejected = share((x < limit for x in bona), len(bona))
        passed = share((x >= limit for x in spoof), len(spoof))
        of_targets = rejected + (1 - rejected) * pmiss
        cost = miss * of_targets + alarm * (1 - rejected) * pfa + fake * passed * accepted
        costs.append(cost - (form == "legacy") * (miss * pmiss + alarm * pfa))
    fixed = miss * pmiss + alarm * pfa
    default = min(miss - fixed, fake * accepted) + (form == "revised") * fixed
    return min(costs), default


def naive_t_eer(asv, cm):
    """Count all pairs of thresholds, by the rule with fractions."""
    bona, spoof = [*cm[0], *cm[1]], cm[2]
    found = []
    for threshold in {*asv[0], *asv[1], *asv[2], np.inf}:
        pmiss, pfa, accepted = rates(asv, threshold)
        for limit in {*bona, *spoof, np.inf}:
            kept = share((x >= limit for x in bona), len(bona))
            passed = share((x >= limit for x in spoof), len(spoof))
            three = 1 - kept * (1 - pmiss), kept * pfa, passed * accepted
            found.append((max(three) - min(three), max(three), sum(three) / 3))
    return float(min(found)[-1])


def some_lists(rng):
    levels, shifts = rng.integers(2, 9), (rng.integers(1, 5), 0, 1)
    sizes = rng.integers(1, 7, size=3)

    def detector(shift):
        return [
            (rng.integers(0, levels, size=size) + extra).astype(float).tolist()
            for size, extra in zip(sizes, shift, strict=True)
        ]

    return detector(shifts), detector((shifts[0], shifts[0], 0))


@pytest.mark.parametrize("form", ["revised", "legacy"])
def test_t_dcf_is_that_of_a_naive_count_of_all_thresholds(form):
    rng, counted = np.random.default_rng(1), 0
    for _ in range(50):
        asv, cm = some_lists(rng)
        threshold = float(ROC.from_scores(*asv[:2]).eer_threshold)
        cost, default = naive_t_dcf(asv, cm, threshold, form)
        pmiss, pfa, _ = rates(asv, threshold)
        if PRICES[0] - PRICES[0] * pmiss - PRICES[1] * pfa <= 0 or default == 0:
            with pytest.raises(InvalidInputError):
                t_dcf(asv=asv, cm=cm, form=form)
            continue
        counted += 1
        # A few roundings of numbers of about one.
        found = t_dcf(asv=asv, cm=cm, form=form)
        assert found == pytest.approx(float(cost / default), abs=1e-13, rel=1e-13)
        at_one = naive_t_dcf(asv, cm, threshold, form, [1.0])[0] / default
        found = t_dcf(asv=asv, cm=cm, form=form, threshold=1.0)
        assert found == pytest.approx(float(at_one), abs=1e-13, rel=1e-13)
    assert counted > 25


def test_bayes_decisions_accept_from_log_c2_over_c1():
    rng = np.random.default_rng(2)
    asv = [rng.normal(m, 1, n) for m, n in ((3, 50), (0, 60), (1.5, 70))]
    cm = [rng.normal(m, 1, n) for m, n in ((2, 90), (-2, 80))]
    pmiss, pfa, accepted = map(float, rates(asv, 1.5))
    c0 = 0.9405 * pmiss + 0.095 * pfa
    limit = float(np.log(0.5 * accepted / (0.9405 - c0)))
    options = {"asv": asv, "cm": cm, "asv_threshold": 1.5}
    assert t_dcf(**options, threshold="bayes") == t_dcf(**options, threshold=limit)
    assert t_dcf(**options) <= t_dcf(**options, threshold="bayes")


def test_t_eer_is_that_of_a_naive_count_of_all_pairs_of_thresholds():
    rng = np.random.default_rng(3)
    for _ in range(20):
        asv, cm = some_lists(rng)
        assert t_eer(asv=asv, cm=cm) == naive_t_eer(asv, cm)
        shuffled = [[rng.permutation(part) for part in one] for one in (asv, cm)]
        assert t_eer(asv=shuffled[0], cm=shuffled[1]) == t_eer(asv=asv, cm=cm)


LISTS = ([1.0, 2.0], [0.0, 1.0], [0.0, 2.0])


# C1 < 0: misses of 1/2 and false alarms of 3/4 cost more than to reject every trial.
POOR = {"asv": ([0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], [2.0, 3.0]), "asv_threshold": 2.0}


@pytest.mark.parametrize(
    "given",
    [
        *({"asv": LISTS[:2]}, {"cm": LISTS[:1]}, {"form": "old"}),
        *({"asv_threshold": "EER"}, {"threshold": "eer"}),
        POOR | {"costs": SpoofCosts(0.1, 0.85, 0.05, 1.0, 10.0, 10.0)},
        # No spoof is accepted.
        {"asv": ([1.0], [0.0], [0.0]), "asv_threshold": 1.0},
    ],
)
def test_bad_input(given):
    with pytest.raises(InvalidInputError):
        t_dcf(**{"asv": LISTS, "cm": LISTS} | given)


METRICS = [
    TDCF(),
    TDCF("a-DCF1", form="legacy"),
    TDCF(asv_threshold=1.0, threshold="bayes"),
    TEER(),
    CountermeasureEER("step"),
]


@pytest.fixture(scope="module")
def sample():
    """Eight speakers: targets, impostors of others, and spoofs of one speaker."""
    rng = np.random.default_rng(4)
    classes = []
    for asv, cm, n in ((3, 2, 40), (0, 2, 60), (2, -1, 50)):
        scores = np.round(rng.normal((asv, cm), 1, (n, 2)), 1)
        first = np.arange(n) % 8
        classes.append((scores, first, (first + 1 + np.arange(n) // 8 % 7) % 8))
    (tar, who, _), (non, model, segment), (spoof, claimed, _) = classes
    others = np.concatenate((model, claimed)), np.concatenate((segment, np.full(50, -1)))
    return Sample(
        ScoredClass(tar, speakers=(who, who)),
        ScoredClass(np.concatenate((non, spoof)), speakers=others),
        np.repeat([0, 1], [60, 50]),
        np.arange(8).astype(str),
    )


def of_copies(metric, sample, tar, non):
    """Return the metric of lists in which each listed trial stands so many times."""
    lists = [(sample.tar.listed, tar)]
    lists += [(sample.non.listed[part], non[part]) for part in (slice(60), slice(60, None))]
    listed = [np.repeat(scores, times, axis=0) for scores, times in lists]
    return metric(asv=[x[:, 0] for x in listed], cm=[x[:, 1] for x in listed])


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_the_jackknife_is_a_naive_loop_over_speakers(metric, sample):
    ((found, _),) = jackknife([metric], sample)
    assert found.value == of_copies(metric, sample, np.ones(40, int), np.ones(110, int))
    (who, _), (first, second) = sample.tar.speakers, sample.non.speakers
    without = [
        of_copies(
            metric, sample, (who != k).astype(int), ((first != k) & (second != k)).astype(int)
        )
        for k in range(8)
    ]
    assert sorted(found.without.tolist()) == sorted(without)


def test_a_metric_of_two_detectors_refuses_one_and_a_class_without_trials(sample):
    one = Sample.from_scores([1.0, 2.0], [0.0, 1.0])
    without = sample.take(slice(None), np.arange(60))
    for bad in (one, without):
        with pytest.raises(InvalidInputError):
            TEER().view(bad)


def test_a_verifier_worse_than_none_is_refused_and_its_replicates_are_not_known(sample):
    metric = TDCF(asv_threshold=99.0)
    assert np.isnan(metric.computed(sample, (np.ones(40), np.ones(110))))
    with pytest.raises(InvalidInputError):
        metric.value(sample)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_two_detectors_are_joined_by_trial():
    rng, kinds = np.random.default_rng(8), np.repeat(["target", "nontarget", "spoof"], [4, 5, 6])
    models, segments = [[f"{x}{i:02}" for i in range(15)] for x in "ms"]
    pair = bp.Key.from_trials(models, segments, kinds)
    asv, cm = rng.normal(size=(2, 15))
    systems = [bp.Scores.from_trials(models, segments, x) for x in (asv, cm)]
    found = tandem_sample(*systems, pair)
    assert found.tar.listed.tolist() == np.stack((asv, cm), axis=1)[:4].tolist()
    assert found.non.listed.tolist() == np.stack((asv, cm), axis=1)[4:].tolist()
    assert found.kinds.tolist() == [0] * 5 + [1] * 6
    named = tandem_sample(*systems, pair, speakers=lambda name: name[1:])
    assert named.speaker_ids[named.tar.speakers[0]].tolist() == ["00", "01", "02", "03"]
    both, drawn = dict(zip(("asv", "cm"), systems, strict=True)), {"method": "iid", "rng": 9}
    same = bootstrap_scores(both, pair, TEER(), against=both, replications=20, **drawn)
    assert (same.value, same.standard_error) == (0, 0)
    for scores, metric in ((both, EER()), (systems[0], TEER()), ({"asv": asv}, TEER())):
        with pytest.raises(InvalidInputError):
            bootstrap_scores(scores, pair, metric, **drawn)
    with pytest.raises(InvalidInputError, match="`conditions` must be left out"):
        bootstrap_scores(both, pair, TEER(), conditions={"all": pair}, **drawn)
    fewer = bp.Scores.from_trials(models[:-1], segments[:-1], cm[:-1])
    with pytest.raises(TrialMismatchError):
        tandem_sample(systems[0], fewer, pair)
    with pytest.raises(InvalidInputError):
        tandem_sample(*systems, pair.bona_fide())


def test_least_costs_are_bounded_and_half_of_errors_are_of_each_kind(sample):
    assert (TDCF().scale, TDCF(threshold="bayes").scale) == ("logit", "log")
    assert (TDCF().bounds, TDCF(threshold=0.0).bounds) == ((0.0, 1.0), (0.0, np.inf))
    assert TDCF().costs == SPOOF_COSTS["ASVspoof5"]
    for bad in ({"costs": "unknown"}, {"threshold": np.nan}, {"asv_threshold": "best"}):
        with pytest.raises(InvalidInputError):
            TDCF(**bad)
    thirds = [(one.price, one.rate, one.place) for one in TEER().openings(sample)]
    assert thirds == [(1 / 3, TEER().value(sample), place) for place in range(3)]
    value = CountermeasureEER().value(sample)
    # 40 targets, 60 zero-effort impostors: bona fide speech, which is missed.
    prices = [(one.price, one.rate, one.place) for one in CountermeasureEER().openings(sample)]
    assert prices == [(0.2, value, 0), (0.3, value, 1), (0.5, value, 2)]
