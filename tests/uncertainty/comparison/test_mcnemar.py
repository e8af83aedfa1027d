import itertools
import math

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from bosaris_py.errors import FewErrorsWarning, InvalidInputError, TrialMismatchError
from bosaris_py.numerics import OperatingPoint
from bosaris_py.trials import Key, Scores
from bosaris_py.uncertainty.comparison.mcnemar import mcnemar_test
from bosaris_py.uncertainty.comparison.speaker_z_test import speaker_z_test
from bosaris_py.uncertainty.comparison.table import ComparisonTable, holm
from bosaris_py.uncertainty.decisions import Decisions, Disagreements, ErrorCounts
from tests.crossed_trials import CrossedExperiment
from tests.uncertainty.naive_speakers import speaker_covariance

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")

COST = OperatingPoint(0.5)


def pair(only_a, only_b):
    return Disagreements(only_a, only_b, 1000, 0, 0, 1)


# ---------------------------------------------------------------------- McNemar


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_against_independent_formulas(only_a, only_b):
    n = only_a + only_b
    exact = stats.binomtest(only_a, n, 0.5).pvalue if n else 1.0
    # Both sum the same binomial probabilities, by different routes.
    assert mcnemar_test(pair(only_a, only_b)).p_value == pytest.approx(exact, rel=1e-10)
    mid = min(1.0, exact - stats.binom.pmf(only_a, n, 0.5)) if only_a != only_b else None
    if mid is not None:
        assert mcnemar_test(pair(only_a, only_b), method="mid-p").p_value == pytest.approx(
            mid, rel=1e-9
        )
    if n:
        for method, shift in (("chi2", 0), ("corrected", 1)):
            statistic = max(abs(only_a - only_b) - shift, 0) ** 2 / n
            p_value = mcnemar_test(pair(only_a, only_b), method=method).p_value
            assert p_value == pytest.approx(stats.chi2.sf(statistic, 1), rel=1e-9)


def test_mid_p_of_an_even_division():
    # Half of P(3 or more of 6) + P(3 or less), each with half of P(3): 1.
    assert mcnemar_test(pair(3, 3), method="mid-p").p_value == pytest.approx(1.0, rel=1e-15)


@pytest.mark.parametrize("method", ["exact", "mid-p", "chi2", "corrected"])
def test_no_disagreement_says_nothing(method):
    assert mcnemar_test(pair(0, 0), method=method).p_value == 1


def test_mcnemar_counts_the_classes_that_are_asked_for():
    a = Decisions([False, False, True], [True, False, True, True])
    b = Decisions([True, True, False], [True, True, False, False])
    # Only A errs on targets 1, 2 and on non-targets 3, 4; only B on target 3 and non-target 2.
    counts = {"tar": (2, 1), "non": (2, 1), "both": (4, 2)}
    for classes, expected in counts.items():
        test = mcnemar_test(a, b, classes=classes)
        assert (test.only_a_errs, test.only_b_errs) == expected
        swapped = mcnemar_test(b, a, classes=classes)
        assert swapped.p_value == test.p_value
    assert repr(mcnemar_test(a, b, classes="tar")) == (
        "McNemar: only the first errs on 2 trials, only the second on 1, p 1 (exact)"
    )


@attrs.frozen
class Cost:
    threshold: float = 0.0
    p_target: float = 0.05
    c_miss: float = 1.0
    c_fa: float = 1.0


def two_systems(rng, **law):
    a, b = CrossedExperiment(**law).draw_systems(rng, n_systems=2, shared=0.5)
    maps = {"speakers": (a.model_speakers, a.segment_speakers)}
    return a, b, maps


def naive_z(a, b, cost):
    """Difference and its standard error from all pairs of trials with a common speaker."""
    key = a.key
    of_model = a.model_speakers.map_left_to_right(key.modelset)
    of_segment = a.segment_speakers.map_left_to_right(key.segset)
    gaps = {True: [], False: []}
    who = {True: [], False: []}
    for i, j in itertools.product(range(key.modelset.size), range(key.segset.size)):
        is_target = bool(key.tar[i, j])
        errors = [(s.scores.scoremat[i, j] >= cost.threshold) != is_target for s in (a, b)]
        gaps[is_target].append(int(errors[0]) - int(errors[1]))
        who[is_target].append({of_model[i], of_segment[j]})
    price = {True: cost.p_target * cost.c_miss, False: (1 - cost.p_target) * cost.c_fa}
    difference = sum(price[c] * np.mean(gaps[c]) for c in gaps)
    parts = [
        (price[c] * (g - np.mean(gaps[c])) / len(gaps[c]), 1.0 / len(gaps[c]), c, s)
        for c in gaps
        for g, s in zip(gaps[c], who[c], strict=True)
    ]
    return difference, math.sqrt(speaker_covariance(parts).sum())


def test_speaker_z_test_against_all_pairs_of_trials(rng):
    a, b, maps = two_systems(rng, n_speakers=9, n_models=1, n_segments=2, noise=2.0)
    test = speaker_z_test(a.scores, b.scores, a.key, Cost(), **maps)
    assert test.method == "speaker pairs"
    difference, error = naive_z(a, b, Cost())
    assert test.difference == pytest.approx(difference, rel=1e-11)
    assert test.standard_error == pytest.approx(error, rel=1e-10)
    swapped = speaker_z_test(b.scores, a.scores, a.key, Cost(), **maps)
    assert swapped.z == pytest.approx(-test.z, rel=1e-12)


def test_systems_may_have_their_own_thresholds(rng):
    a, b, maps = two_systems(rng, n_speakers=12)
    shifted = b.scores.transform(lambda x: x + 1.5)
    moved = speaker_z_test(a.scores, shifted, a.key, Cost(), Cost(1.5), **maps)
    plain = speaker_z_test(a.scores, b.scores, a.key, Cost(), **maps)
    # Adding 1.5 and comparing with 1.5 may differ from comparing with 0 only within rounding.
    assert moved == plain


def test_order_of_the_scores_does_not_matter(rng):
    a, b, maps = two_systems(rng, n_speakers=12)
    order = rng.permutation(b.scores.segset.size)
    shuffled = Scores(b.scores.scoremat[:, order], b.scores.modelset, b.scores.segset[order])
    assert speaker_z_test(a.scores, shuffled, a.key, Cost(), **maps) == speaker_z_test(
        a.scores, b.scores, a.key, Cost(), **maps
    )


# -------------------------------------------------------------------------- Holm


def naive_holm(p_values, level):
    """Holm's procedure as it is told: reject the smallest p while p <= level / remaining."""
    rejected = [False] * len(p_values)
    remaining = len(p_values)
    for index in sorted(range(len(p_values)), key=lambda i: p_values[i]):
        if p_values[index] > level / remaining:
            break
        rejected[index] = True
        remaining -= 1
    return rejected


# Multiples of a power of two, so that p * m and level / m round alike.
exact_p = st.integers(0, 4096).map(lambda k: k / 4096)


@given(st.lists(exact_p, min_size=1, max_size=12), st.sampled_from([1 / 16, 3 / 64, 1 / 4]))
def test_holm_is_the_step_down_procedure(p_values, level):
    adjusted, given_p = holm(p_values), np.array(p_values)
    tolerance_free = [abs(p * m - level) > 1e-9 for p in p_values for m in range(1, 13)]
    if all(tolerance_free):
        assert (adjusted <= level).tolist() == naive_holm(p_values, level)
    assert (adjusted >= given_p).all()
    assert (adjusted <= np.minimum(1, len(p_values) * given_p)).all()
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_holm_by_hand():
    # 4 * 0.01, 2 * 0.04, 3 * 0.02, 0.5.
    adjusted = holm([0.01, 0.04, 0.02, 0.5])
    np.testing.assert_allclose(adjusted, [0.04, 0.08, 0.06, 0.5], rtol=1e-15)


def test_table_of_comparisons(rng):
    a, b, maps = two_systems(rng, n_speakers=8)
    tests = {
        ("first system", "B"): speaker_z_test(a.scores, b.scores, a.key, Cost(), **maps),
        ("first system", "same"): speaker_z_test(a.scores, a.scores, a.key, Cost(), **maps),
    }
    table = ComparisonTable.from_tests(tests, level=0.1)
    lines = repr(table).splitlines()
    assert lines[0].split() == [
        "first",
        "second",
        "difference",
        "SE",
        "p",
        "p",
        "Holm",
        "significant",
    ]
    assert lines[1].startswith("first system  B ")
    standard_error, *others = lines[2].split()[-4:]
    assert (float(standard_error), others) == (0.0, ["1", "1", "no"])
    said = "first minus second; 90 % intervals: t-test, speaker pairs; Holm's correction, level 0.1"
    assert lines[3] == f"({said})"
    p_values = [test.p_value for test in tests.values()]
    assert [row["p_value"] for row in table.records()] == p_values
    assert (table.level, table.significant.tolist()) == (0.1, [p < 0.05 for p in p_values])


# --------------------------------------------------------------------- bad input


@pytest.mark.filterwarnings("default")
def test_few_disagreements_are_pointed_out(rng):
    a, _, maps = two_systems(rng, n_speakers=4)
    with pytest.warns(FewErrorsWarning, match="difference of the miss rates rests on 0 errors"):
        assert speaker_z_test(a.scores, a.scores, a.key, Cost(), **maps).p_value == 1


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("scarce", "what"), [(0, "miss"), (1, "false-alarm")])
def test_disagreements_are_counted_in_each_class(rng, scarce, what):
    a, _, maps = two_systems(rng, n_speakers=9)
    values, which = a.scores.scoremat.copy(), (a.key.tar, a.key.non)
    # All decisions on one class differ, and two on the other.
    values[which[1 - scarce]] *= -1
    few = np.argwhere(which[scarce])[:2]
    values[tuple(few.T)] *= -1
    b = Scores(values, a.scores.modelset, a.scores.segset)
    with pytest.warns(FewErrorsWarning, match=f"difference of the {what} rates rests on 2 errors"):
        speaker_z_test(a.scores, b, a.key, Cost(), **maps)


def test_unpaired_lists():
    ids = ["a", "b"], ["x", "y"]
    key = Key(*ids, np.eye(2, dtype=bool), ~np.eye(2, dtype=bool))
    full = Scores(np.eye(2), *ids)
    partial = Scores(np.eye(2), *ids, scoremask=[[True, False], [True, True]])
    with pytest.raises(TrialMismatchError, match=r"`scores_b` .* 1 of 4 have none"):
        speaker_z_test(full, partial, key, Cost())
    with pytest.raises(TrialMismatchError, match="must be decisions on the same trials"):
        mcnemar_test(Decisions([True], [True]), Decisions([True], [True, False]))


COUNTS = ErrorCounts(1, 2, 1, 2)
EYE = Scores(np.eye(2), ["a", "b"], ["x", "y"])
KEY = Key(["a", "b"], ["x", "y"], np.eye(2, dtype=bool), ~np.eye(2, dtype=bool))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mcnemar_test(COUNTS, COUNTS), "`a` must be Decisions"),
        (lambda: mcnemar_test(pair(1, 2), method="z"), '"exact", "mid-p", "chi2", "corrected"'),
        (lambda: mcnemar_test(pair(1, 2), classes="all"), '"both", "tar", "non"'),
        (
            lambda: mcnemar_test(pair(1.5, 4.5)),
            'be whole numbers with method="exact"; got 1.5, 4.5',
        ),
        (lambda: ComparisonTable.from_tests({("A", "B"): None}, level=1), "`level`"),
        (lambda: ComparisonTable.from_tests({}), "`tests`"),
        (lambda: speaker_z_test(EYE, np.eye(2), KEY, Cost()), "`scores_b` must be Scores"),
        (lambda: speaker_z_test(EYE, EYE, EYE, Cost()), "`key` must be a Key"),
        (
            lambda: speaker_z_test(EYE, EYE, KEY, Cost(), Cost(p_target=0.1)),
            "`statistic_b` .* same prior and costs",
        ),
        (lambda: speaker_z_test(EYE, EYE, KEY, 0.5), "`statistic` must have a threshold"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
