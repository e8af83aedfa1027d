"""Tandems of two detectors against naive counts of all (pairs of) thresholds."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError

PRICES = Fraction(9405, 10000), Fraction(95, 1000), Fraction(1, 2)


def _share(chosen, n):
    return Fraction(sum(chosen), n)


def _rates(asv, threshold):
    tar, non, spoof = asv
    return (
        _share((x < threshold for x in tar), len(tar)),
        _share((x >= threshold for x in non), len(non)),
        _share((x >= threshold for x in spoof), len(spoof)),
    )


def naive_t_dcf(asv, cm, threshold, form):
    """Count all thresholds of the countermeasure, by the formula with three products."""
    miss, alarm, fake = PRICES
    bona, spoof = [*cm[0], *cm[1]], cm[2]
    pmiss, pfa, accepted = _rates(asv, threshold)
    costs = []
    for limit in [*bona, *spoof, np.inf]:
        rejected = _share((x < limit for x in bona), len(bona))
        passed = _share((x >= limit for x in spoof), len(spoof))
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
        pmiss, pfa, accepted = _rates(asv, threshold)
        for limit in {*bona, *spoof, np.inf}:
            kept = _share((x >= limit for x in bona), len(bona))
            passed = _share((x >= limit for x in spoof), len(spoof))
            three = 1 - kept * (1 - pmiss), kept * pfa, passed * accepted
            found.append((max(three) - min(three), max(three), sum(three) / 3))
    return float(min(found)[-1])


def _some_lists(rng):
    levels, shifts = rng.integers(2, 9), (rng.integers(1, 5), 0, 1)
    sizes = rng.integers(1, 7, size=3)

    def detector(shift):
        return [
            (rng.integers(0, levels, size=size) + extra).astype(float).tolist()
            for size, extra in zip(sizes, shift, strict=True)
        ]

    return detector(shifts), detector((shifts[0], shifts[0], 0))


@pytest.mark.slow
def test_t_dcf_is_that_of_a_naive_count_of_all_thresholds():
    rng, refused = np.random.default_rng(1), 0
    for number in range(1600):
        asv, cm = _some_lists(rng)
        form = ("revised", "legacy")[number % 2]
        threshold = float(bp.ROC.from_scores(*asv[:2]).eer_threshold)
        cost, default = naive_t_dcf(asv, cm, threshold, form)
        pmiss, pfa, _ = _rates(asv, threshold)
        if PRICES[0] - PRICES[0] * pmiss - PRICES[1] * pfa <= 0 or default == 0:
            refused += 1
            with pytest.raises(InvalidInputError):
                bp.t_dcf(asv=asv, cm=cm, form=form)
            continue
        # A few roundings of numbers of about one.
        found = bp.t_dcf(asv=asv, cm=cm, form=form)
        assert found == pytest.approx(float(cost / default), abs=1e-13, rel=1e-13)
    # At least 1,000 sets count.
    assert refused <= 600


def test_actual_t_dcf_counts_at_the_bayes_threshold():
    rng = np.random.default_rng(2)
    asv = [rng.normal(m, 1, n) for m, n in ((3, 50), (0, 60), (1.5, 70))]
    cm = [rng.normal(m, 1, n) for m, n in ((2, 90), (-2, 80))]
    found = bp.tandem_cost(asv=asv, cm=cm, asv_threshold=1.5, normalize=False)
    limit = np.log(found.c2 / found.c1)
    expected = found.c0 + found.c1 * np.mean(cm[0] < limit) + found.c2 * np.mean(cm[1] >= limit)
    # Sums in another order.
    assert found.actual == pytest.approx(expected, rel=1e-14)
    assert found.actual == bp.act_t_dcf(asv=asv, cm=cm, asv_threshold=1.5, normalize=False)
    assert found.minimum <= found.actual


@pytest.mark.slow
def test_t_eer_is_that_of_a_naive_count_of_all_pairs_of_thresholds():
    rng = np.random.default_rng(3)
    for _ in range(1000):
        asv, cm = _some_lists(rng)
        assert float(bp.t_eer(asv=asv, cm=cm)) == naive_t_eer(asv, cm)


def test_the_order_of_lines_does_not_matter():
    rng = np.random.default_rng(4)
    for _ in range(50):
        asv, cm = _some_lists(rng)
        shuffled = [[rng.permutation(part) for part in one] for one in (asv, cm)]
        assert bp.t_eer(asv=asv, cm=cm) == bp.t_eer(asv=shuffled[0], cm=shuffled[1])


def test_a_t_eer_keeps_its_thresholds_and_rates():
    asv = [2.0, 3.0, 4.0, 5.0], [0.0, 1.0, 1.0, 2.0], [0.0, 3.0, 4.0, 5.0]
    found = bp.t_eer(asv=asv, cm=([1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.5, 1.5]))
    again = pickle.loads(pickle.dumps(found))
    for one in (found, again):
        assert one == (one.pmiss + one.pfa + one.pfa_spoof) / 3
        assert "asv_threshold=" in repr(one)
    assert (again.asv_threshold, again.cm_threshold) == (found.asv_threshold, found.cm_threshold)


LISTS = ([1.0, 2.0], [0.0, 1.0], [0.0, 2.0])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(asv=LISTS[:2], cm=LISTS), "`asv` must be lists of scores of three classes"),
        (dict(asv=LISTS, cm=LISTS[:1]), r"`cm` must be lists of .* Give cm=\(bonafide, spoof\)"),
        (dict(asv=LISTS, cm=LISTS, form="old"), "`form` must be one of"),
        (dict(asv=LISTS, cm=LISTS, asv_threshold="EER"), 'must be one of "eer"'),
        (dict(asv=LISTS, cm=LISTS, asv_threshold=9.0), "better than to reject every trial"),
        (
            dict(asv=([1.0], [0.0], [0.0]), cm=LISTS, asv_threshold=1.0),
            "leave a cost that can be normalized by",
        ),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(InvalidInputError, match=message):
        bp.t_dcf(**given)


@pytest.fixture(scope="module")
def asvspoof():
    trials = bp.load_example("asvspoof2019_la").eval.trials
    labels = trials.columns["label"].values()
    _, first = np.unique(trials.segments.codes, return_index=True)

    def lists(name, lines=slice(None)):
        scores, some = np.asarray(trials.columns[name], float)[lines], labels[lines]
        return [scores[some == kind] for kind in ("target", "nontarget", "spoof")]

    tar, non, spoof = lists("aasist", first)
    return lists("ecapa"), lists("aasist"), (np.concatenate((tar, non)), spoof)


def test_t_dcf_on_asvspoof_2019(asvspoof):
    asv, by_trial, by_utterance = asvspoof
    # Worked out from the formula with public scores. A public kit prints 0.1503, which takes the
    # rate of rejected spoofs for that of accepted ones.
    assert bp.t_dcf(asv=asv, cm=by_trial) == pytest.approx(0.08730, abs=1e-5)
    assert bp.t_dcf(asv=asv, cm=by_utterance) == pytest.approx(0.0747, abs=5e-5)


def test_a_verifier_worse_than_none_is_refused():
    """C1 < 0: so many errors cost more than rejecting every trial (Kinnunen et al. 2020)."""
    asv = [0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], [2.0, 3.0]
    cm = [1.0, 2.0], [0.0, 1.5]
    costs = bp.SpoofCosts(0.1, 0.85, 0.05, 1.0, 10.0, 10.0)
    # Misses of 1/2 and false alarms of 3/4: C1 = .1 - (.05 + 8.5 * 3/4).
    message = r"so that C1 is above 0; got C1 = -6.325 at threshold 2. Its threshold, or the order"
    for function in (bp.t_dcf, bp.act_t_dcf, bp.tandem_cost):
        with pytest.raises(InvalidInputError, match=message):
            function(asv=asv, cm=cm, costs=costs, asv_threshold=2.0)


def test_tied_scores_at_the_thresholds_do_not_depend_on_the_order_of_lines():
    rng = np.random.default_rng(11)
    for _ in range(30):
        # Of few levels, so that ties are at each threshold.
        asv = [rng.integers(0, 3, 12) + shift for shift in (1, 0, 1)]
        cm = [rng.integers(0, 3, 12) + shift for shift in (1, 1, 0)]
        found = bp.tandem_cost(asv=asv, cm=cm)
        order = [rng.permutation(12) for _ in range(3)]
        again = [[part[way] for part, way in zip(side, order, strict=True)] for side in (asv, cm)]
        assert bp.tandem_cost(asv=again[0], cm=again[1]) == found
        rate, other = (bp.t_eer(asv=a, cm=c) for a, c in ((asv, cm), again))
        assert (rate, rate.asv_threshold, rate.cm_threshold) == (
            other,
            other.asv_threshold,
            other.cm_threshold,
        )
