"""Results say the same as every single function; conditions by fractions and averaged rates."""

import copy
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import bosaris_py
from bosaris_py import Conditions, Key, Results, Sample, Scores, optimal_llrs
from bosaris_py.errors import FewErrorsWarning, InvalidInputError, MissingTrialsWarning
from bosaris_py.metrics.ranks import EER
from tests.forms import labelled
from tests.score_strategies import finite_scores, priors, score_lists

TAR, NON = np.array([1.0, 3.0, 4.0]), np.array([-2.0, 0.0, 2.0])


@given(score_lists(finite_scores), score_lists(finite_scores), priors)
def test_same_numbers_through_every_entry(tar: np.ndarray, non: np.ndarray, prior: float) -> None:
    results = Results(tar, non)
    for name in ("eer", "prbep", "auc", "cllr", "min_cllr"):
        expected = getattr(bosaris_py, name)(tar, non)
        assert getattr(results, name) == pytest.approx(expected, rel=1e-14, abs=1e-15)
    for normalize in (False, True):
        for name in ("act_dcf", "min_dcf"):
            function = getattr(bosaris_py, name)
            assert getattr(results, name)(prior, normalize) == function(tar, non, prior, normalize)
    assert (results.n_tar, results.n_non) == (tar.size, non.size)


def test_plain_records() -> None:
    results = Results(TAR, NON)
    record = results.to_dict()
    assert json.loads(json.dumps(record)) == record
    assert (record["n_tar"], record["eer_threshold"]) == (3, results.eer_threshold)
    # Trials without weight are no trials.
    weighted = Results([1.0, 2.0, 3.0], [0.0, 0.5], tar_weights=[0.0, 2.0, 1.0])
    assert weighted.n_tar == 2
    assert weighted.to_dict() == Results([2.0, 2.0, 3.0], [0.0, 0.5]).to_dict() | {"n_tar": 2}


@pytest.mark.parametrize("weights", [None, np.array([0.5, 0.0, 2.0])])
def test_pickled_and_copied_results_say_the_same(weights) -> None:
    results = Results(TAR, NON, non_weights=weights)
    for _ in ("before it is used", "after"):
        for twin in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results)):
            assert twin.to_dict() == Results(TAR, NON, non_weights=weights).to_dict()
        results.to_dict()
    assert Results.from_sample(results.sample).to_dict() == results.to_dict()
    # Nor do scores change that are changed afterwards.
    tar, non, weights = TAR.copy(), NON.copy(), np.array([1.0, 2.0, 0.5])
    results = Results(tar, non, non_weights=weights)
    expected = Results(TAR, NON, non_weights=[1.0, 2.0, 0.5]).to_dict()
    tar[:], non[:], weights[:] = 0.0, 0.0, 7.0
    assert results.to_dict() == expected


def test_thresholds_at_several_rates() -> None:
    """Targets 1 to 4, non-targets 0 to 3: a quarter of the latter is one, the highest."""
    results = Results([1.0, 2.0, 3.0, 4.0], [0.0, 1.5, 2.5, -1.0])
    first, second = results.threshold_at(pfa=[0.25, 0.5])
    assert (first, first.pmiss, first.pfa) == (2.0, 0.25, 0.25)
    assert (second, second.pmiss, second.pfa) == (1.0, 0.0, 0.5)
    assert results.threshold_at(pmiss=np.array([0.25]))[0] == 2.0
    with pytest.warns(FewErrorsWarning, match="4 non-targets cannot show a pfa of 0.001; the lo"):
        assert results.threshold_at(pfa=0.001) == 3.0
    few = r"4 non-targets .* pfa of 0.0101 at effective prior"
    for cost in (results.act_dcf, results.min_dcf):
        for prior in (0.01, [0.1, 0.01]):
            with pytest.warns(FewErrorsWarning, match=few):
                cost(prior)
    with pytest.raises(InvalidInputError, match="per cent"):
        results.threshold_at(pfa=[5.0])
    for limits in ({}, {"pfa": 0.5, "pmiss": 0.5}):
        with pytest.raises(InvalidInputError, match="exactly one of them"):
            results.threshold_at(**limits)


# ---- Weighted conditions


def in_a_row(parts: dict[str, tuple[list[float], list[float]]]) -> tuple[Scores, Key, np.ndarray]:
    """Lay conditions out as one model tested on many segments; return the label of each trial."""
    values = [value for tar, non in parts.values() for value in (*tar, *non)]
    same = np.array([[c == 0 for pair in parts.values() for c in (0, 1) for _ in pair[c]]])
    labels = np.array([name for name, (tar, non) in parts.items() for _ in (*tar, *non)])
    ids = ["m"], [f"{number:04}" for number in range(len(values))]
    return Scores(np.array([values]), *ids), Key(*ids, same, ~same), labels


A = ([0.5, 2.0], [-2.0, 0.5])
B = ([-1.5, 1.0, 4.0, 5.0], [-3.0, -1.0, 0.5, 3.0])


@pytest.mark.parametrize("form", ["mixture", "trial weights", "repeated trials"])
def test_two_conditions_by_hand(form: str) -> None:
    r"""Two conditions with 2 and 4 trials per class, with ties, for which EERs differ.

    t is a target and n a non-target, A of two trials and B of four::

        score   -3  -2  -1.5  -1     0.5      1   2   3   4   5
        trial   nB  nA   tB   nB  tA nA nB   tB  tA  nB  tB  tB

    Of equal weight, a trial of A steps the rates by 2/8 and one of B by 1/8, as if each trial of A
    had been tried twice. (pmiss, pfa) in eighths, rejecting what is below a score::

        -3 (0, 8)  -2 (0, 7)  -1.5 (0, 5)  -1 (1, 5)  0.5 (1, 4)
         1 (3, 1)   2 (4, 1)     3 (6, 1)   4 (6, 0)    5 (7, 0)  above (8, 0)

    Vertices of the hull: (0, 8), (0, 5), (3, 1), (6, 0), (8, 0).
    """
    scores, key, labels = in_a_row({"A": A, "B": B})
    conditions = labelled(key, labels)
    weights = dict(zip(("tar_weights", "non_weights"), conditions.trial_weights(key), strict=True))
    results = {
        "mixture": lambda: Results.from_scores(scores, key, conditions),
        "trial weights": lambda: Results(*scores.get_tar_non(key), **weights),
        "repeated trials": lambda: Results([*A[0] * 2, *B[0]], [*A[1] * 2, *B[1]]),
    }[form]()
    hull = np.array([(0, 8), (0, 5), (3, 1), (6, 0), (8, 0)]) / 8
    np.testing.assert_allclose([results.rocch.pmiss, results.rocch.pfa], hull.T, rtol=1e-15)
    rates = {-np.inf: (0, 8), -2.0: (0, 7), 0.5: (1, 4), 0.75: (3, 1), np.inf: (8, 0)}
    for threshold, eighths in rates.items():
        found = results.error_rates_at(threshold)
        np.testing.assert_allclose(found, np.array(eighths) / 8, rtol=1e-15)
    # From (0, 5) to (3, 1), 5 - 4/3 x = x; from (1, 4) to (3, 1), 4 - 3/2 (x - 1) = x; and (3, 1)
    # is nearer to the diagonal than (1, 4): the mean of its rates.
    definitions = {"rocch": Fraction(15, 7), "interpolated": Fraction(11, 5), "step": 2}
    for definition, eighth in definitions.items():
        found = EER(definition).value(results.sample)
        assert found == pytest.approx(float(Fraction(eighth) / 8), rel=1e-14)
    # 5 - 4/3 x = r x gives the miss rate in eighths.
    for ratio, eighth in {2.0: 2 * Fraction(3, 2), 0.5: Fraction(1, 2) * Fraction(30, 11)}.items():
        found = results.rocch.unequal_error_rate(ratio)
        assert found == pytest.approx(float(eighth / 8), rel=1e-14)
    # Thresholds log(9) = 2.2, 0, -2.2: (6, 1), (1, 4), (0, 7).
    for prior, actual, minimum in (
        (0.1, Fraction(6 * 1 + 1 * 9, 80), Fraction(6 * 1 + 0 * 9, 80)),
        (0.5, Fraction(1 + 4, 16), Fraction(3 + 1, 16)),
        (0.9, Fraction(0 * 9 + 7 * 1, 80), Fraction(0 * 9 + 5 * 1, 80)),
    ):
        costs = results.act_dcf(prior, normalize=False), results.min_dcf(prior, normalize=False)
        assert costs == pytest.approx((float(actual), float(minimum)), rel=1e-14)
        # Without a detector the cost is that of the rarer class.
        normalized = float(minimum / min(Fraction(str(prior)), 1 - Fraction(str(prior))))
        assert results.min_dcf(prior) == pytest.approx(normalized, rel=1e-14)
    # A trial of A counts 2/8, one of B 1/8.
    cllr = sum(
        share * sum(np.log2(1 + np.exp(np.array([-x for x in tar] + non))))
        for (tar, non), share in ((A, 1 / 8), (B, 1 / 16))
    )
    assert results.cllr == pytest.approx(cllr, rel=1e-14)
    # PAV pools (3, 4) and (3, 1) eighths of targets and non-targets; other pools are pure.
    pools = ((3 / 8, 4 / 8), (3 / 8, 1 / 8))
    least = sum((t * np.log2(1 + n / t) + n * np.log2(1 + t / n)) / 2 for t, n in pools)
    assert results.min_cllr == pytest.approx(least, rel=1e-14)
    # Eighths of non-targets below each target of A, twice, and of B, half of those at it.
    area = 2 * (4 + Fraction(3, 2) + 7) + 3 + 7 + 8 + 8
    assert results.auc == pytest.approx(float(area / 64), rel=1e-14)
    # As many misses as false alarms: that of the EER, times the trials of a class.
    assert results.prbep == pytest.approx(results.n_tar * 15 / 56, rel=1e-14)
    tar_llrs, non_llrs = optimal_llrs(*scores.get_tar_non(key), **weights)
    low, high = np.log(3 / 4), np.log(3 / 1)
    # In the order of A's, then B's trials.
    np.testing.assert_allclose(tar_llrs, [low, high, low, high, np.inf, np.inf], rtol=1e-14)
    np.testing.assert_allclose(non_llrs, [-np.inf, low, -np.inf, low, low, high], rtol=1e-14)


def mixture(**options: object) -> tuple[Scores, Key, Conditions]:
    """Return conditions of which one has no non-targets."""
    parts = {"a": ([1.0, 2.0], [0.0]), "b": ([3.0], []), "c": ([0.5], [-1.0])}
    scores, key, labels = in_a_row(parts)
    return scores, key, labelled(key, labels, **options)


def test_a_condition_of_one_class_counts_for_one_rate() -> None:
    with pytest.warns(MissingTrialsWarning, match="without non-targets"):
        results = Results.from_scores(*mixture())
    # Targets: thirds of (1, 2), (3), (0.5); non-targets: halves of (0), (-1).
    pmiss, pfa = results.error_rates_at([0.0, 1.5])
    np.testing.assert_allclose(pmiss, [0, 1 / 3 + 1 / 6], rtol=1e-15)
    np.testing.assert_allclose(pfa, [0.5, 0], rtol=1e-15)
    dropped = Results.from_scores(*mixture(weights=[0.5, 0, 0.5]))
    assert (dropped.n_tar, dropped.n_non) == (3, 2)


def test_trials_without_score_have_no_share() -> None:
    scores, key, conditions = mixture()
    mask = np.arange(key.n_trials)[None] > 0  # not the target 1.0 of a
    partial = Scores(scores.scoremat, scores.modelset, scores.segset, mask)
    with pytest.warns(MissingTrialsWarning, match="1 of 4 targets missing"):
        results = Results.from_scores(partial, key, conditions)
    # A third of a is now the target 2.0 alone.
    assert results.error_rates_at(1.5)[0] == pytest.approx(1 / 3)
    assert results.n_tar == 3


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_conditions_that_do_not_fit() -> None:
    scores, key, conditions = mixture()
    _, non = scores.get_tar_non(key)
    for members in (conditions.members(key), ()):
        with pytest.raises(InvalidInputError):
            Sample.from_scores([1.0], non).weighted(members)
    only = Conditions({"all": key.tar}, uncovered="ignore")
    with pytest.raises(InvalidInputError, match=r"`conditions` .* have non-targets in"):
        Results.from_scores(scores, key, only)
