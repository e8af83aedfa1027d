"""The sample: masses by hand, conditions and kinds as weighted means, `times`, parts."""

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import ROC, Conditions, Key, Sample, Scores
from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.trials.conditions import ConditionMembers
from bosaris_py.trials.sample import ScoredClass, check_same_trials, lists_of_kinds
from tests.score_strategies import score_lists, tied_scores

LIMITS = np.array([-1.0, 0.0, 0.5, 2.0, -np.inf, np.inf, 0.5, 1.0])
lists = score_lists(tied_scores)


def rates_by_mask(tar: np.ndarray, non: np.ndarray) -> np.ndarray:
    return np.array([[np.mean(tar < t) for t in LIMITS], [np.mean(non >= t) for t in LIMITS]])


def curve(sample: Sample, times: object = None) -> list[list[float]]:
    roc = sample.roc(times).corners()
    return [roc.pmiss.tolist(), roc.pfa.tolist()]


def joined(seed: int = 1) -> tuple[Scores, Key, Conditions]:
    rng, ids = np.random.default_rng(seed), [f"m{i:02}" for i in range(14)]
    tar = np.eye(14, dtype=bool)
    scores = Scores((2.0 * tar + rng.normal(size=(14, 14))).round(1), ids, ids)
    rows = np.repeat(np.arange(14)[:, None] < 5, 14, axis=1)
    return scores, Key(ids, ids, tar, ~tar), Conditions({"a": rows, "b": ~rows}, [0.3, 0.7])


def test_counts_are_divided_last() -> None:
    sample = Sample.from_scores([1.0, 2.0, 3.0], [0.0, 2.0])
    assert sample.tar.cumulated() is None
    assert sample.tar.cumulated(np.array([1, 0, 2])).tolist() == [0, 1, 1, 3]
    assert sample.rates_at_all()[0].tolist() == [[0.0, 0.0, 1 / 3, 2 / 3, 1.0]]
    assert sample.thresholds.tolist() == [-np.inf, 1.0, 2.0, 3.0, np.inf]
    assert sample.grid("all")[1:-1].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert sample.grid("ties").size == 2 + 2 * 3
    # The smaller class decides where the hull can turn.
    few = Sample.from_scores([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 2.0])
    assert few.thresholds.size == 4


@given(lists, lists)
def test_rates_and_curves_are_those_of_the_lists(tar: np.ndarray, non: np.ndarray) -> None:
    sample = Sample.from_scores(tar, non)
    np.testing.assert_array_equal(sample.rates(LIMITS), rates_by_mask(tar, non))
    np.testing.assert_array_equal(sample.rates(LIMITS[:2]), rates_by_mask(tar, non)[:, :2])
    roc = ROC.from_scores(tar, non)
    np.testing.assert_array_equal(sample.roc().misses, roc.misses)
    np.testing.assert_array_equal(sample.roc().false_alarms, roc.false_alarms)
    for name in ("thresholds", "misses", "false_alarms"):
        ours, expected = getattr(sample.hull, name), getattr(roc.convex_hull(), name)
        np.testing.assert_array_equal(ours, expected)


@st.composite
def masses(draw: st.DrawFn) -> tuple[ScoredClass, list[Fraction], np.ndarray | None]:
    """A class with groups, weights and times or without, and the mass of each listed trial."""
    n = draw(st.integers(2, 12))
    few = st.integers(1, 3)
    listed = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), float)
    weights, times = (
        draw(st.none() | st.lists(few, min_size=n, max_size=n).map(np.array)) for _ in range(2)
    )
    groups, shares = None, [1]
    if draw(st.booleans()):
        # The last of three groups has no share, the others a trial at least.
        groups = np.array(
            [0, 1, *draw(st.lists(st.integers(0, 2), min_size=n - 2, max_size=n - 2))]
        )
        shares = [Fraction(draw(few), 4), Fraction(0), Fraction(0)]
        shares[1] = 1 - shares[0]
    counts = [1] * n if weights is None else weights.tolist()
    if times is not None:
        counts = [a * b for a, b in zip(counts, times.tolist(), strict=True)]
    of = [0] * n if groups is None else groups.tolist()
    totals = [sum(c for c, g in zip(counts, of, strict=True) if g == k) for k in range(3)]
    expected = [shares[g] * Fraction(c, totals[g]) for c, g in zip(counts, of, strict=True)]
    own = None if weights is None else weights.astype(float)
    one = ScoredClass(listed, groups, np.array(shares, float), own)
    return one, expected, None if times is None else times[one.order]


@given(masses(), st.integers(1, 9))
def test_masses_are_shares_of_counts(drawn, n_thresholds: int) -> None:
    one, expected, times = drawn
    in_order = [float(expected[place]) for place in one.order]
    assert one.masses(times) == pytest.approx(in_order, rel=1e-14)
    losses = np.vstack((np.arange(one.size), np.ones(one.size)))
    naive = [np.dot(row, in_order) for row in losses]
    assert one.mean(losses, times) == pytest.approx(naive, rel=1e-14)
    cumulated = one.cumulated(times)
    if cumulated is None:
        assert (one.is_plain, times) == (True, None)
    else:
        found = cumulated / cumulated[-1]
        assert found == pytest.approx(np.append(0.0, np.cumsum(in_order)), abs=1e-14)
    # Few thresholds take another way than many.
    thresholds = np.arange(n_thresholds)[::-1] - 1.0
    masses = [*zip(expected, one.listed, strict=True)]
    below = [float(sum(mass for mass, x in masses if x < t)) for t in thresholds]
    under, over = one.shares_below(thresholds, times)
    assert under == pytest.approx(below, abs=1e-14)
    assert over == pytest.approx(1.0 - np.array(below), abs=1e-14)


@pytest.mark.parametrize("times", [[0, 0, 0], [0, 0, 1]])
@pytest.mark.filterwarnings("error")
def test_a_group_of_which_nothing_is_drawn_has_no_rates(times: list[int]) -> None:
    groups, alone = np.array([0, 0, 1]), ScoredClass(np.arange(3.0))
    one, drawn = ScoredClass(np.arange(3.0), groups, np.array([0.5, 0.5])), np.array(times)
    assert np.isnan(one.masses(drawn)).any()
    for size in (1, 9):
        assert np.isnan(one.shares_below(np.full(size, 1.0), drawn)).all()
        assert np.isnan(alone.shares_below(np.full(size, 1.0), drawn)).all() == (sum(times) == 0)
    assert np.isnan(alone.mean(np.ones(3), drawn)) == (sum(times) == 0)
    assert np.isnan(alone.take(slice(0)).shares_below(np.ones(1))).all()


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 4)), max_size=12))
def test_meetings_are_pairs_of_speakers_whoever_comes_first(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    scores = np.zeros(len(pairs))
    both, alone = (ScoredClass(scores, speakers=(first, other)) for other in (second, None))
    assert both.n_meetings == len({frozenset((a, a if b < 0 else b)) for a, b in pairs})
    assert alone.n_meetings == len({a for a, _ in pairs})
    assert ScoredClass(scores).n_meetings == 0


# ---- Trials of a key


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_conditions_are_means_of_their_rates() -> None:
    scores, key, conditions = joined()
    sample = Sample.from_trials(scores, key, conditions)
    expected = np.zeros((2, LIMITS.size))
    for rows, weight in ((slice(0, 5), 0.3), (slice(5, 14), 0.7)):
        values = scores.scoremat[rows]
        expected += weight * rates_by_mask(values[key.tar[rows]], values[key.non[rows]])
    np.testing.assert_allclose(sample.rates(LIMITS), expected, rtol=1e-14, atol=1e-15)
    # A trial of two conditions is one.
    overlapping = Conditions({"a": key, "b": key.tar}, [0.5, 0.5], overlap="allow")
    twice = Sample.from_trials(scores, key, overlapping).tar
    assert (twice.size, twice.n_trials) == (28, 14)
    plain = Sample.from_trials(scores, key)
    again = plain.weighted(conditions.members(key))
    np.testing.assert_array_equal(again.rates(LIMITS), sample.rates(LIMITS))
    only = Conditions({"targets": key.tar}, uncovered="ignore").members(key)
    with pytest.raises(InvalidInputError):
        plain.weighted(only)
    for side, listed in zip((plain.tar, plain.non), scores.get_tar_non(key), strict=True):
        assert side.listed.tolist() == listed.tolist()


def test_parts_keep_scores_speakers_and_order() -> None:
    speakers = np.array([0, 1, 2, 3]), np.array([1, 1, -1, 0])
    one = ScoredClass(np.array([4.0, 1.0, 3.0, 1.0]), weights=np.arange(4.0), speakers=speakers)
    assert one.order.tolist() == [1, 3, 2, 0]
    mask = np.array([True, False, True, True])
    for part in (one.part(mask), one.take(mask), one.take(np.array([0, 2, 3]))):
        assert part.scores.tolist() == [1.0, 3.0, 4.0]
        assert part.sorted_weights.tolist() == [3.0, 2.0, 0.0]
        assert [side.tolist() for side in part.sorted_speakers] == [[3, 2, 0], [0, -1, 1]]
    alone = ScoredClass(one.listed, speakers=(speakers[0], None))
    for part in (alone, alone.take(slice(None)), alone.part(np.ones(4, bool))):
        assert (part.sorted_speakers[0].tolist(), part.sorted_speakers[1]) == ([1, 3, 2, 0], None)


def test_speakers_are_numbers_of_any_size() -> None:
    for n in (127, 128, 129):
        ids, same = [f"{i:03}" for i in range(n)], np.eye(n, dtype=bool)
        scores = Scores(np.zeros((n, n)), ids, ids)
        sample = Sample.from_trials(scores, Key(ids, ids, same, ~same), speakers=lambda name: name)
        for side in (*sample.tar.speakers, *sample.non.speakers):
            assert np.unique(side).tolist() == list(range(n))


def test_a_class_is_divided_into_parts_with_shares() -> None:
    one = ScoredClass(np.array([3.0, 1.0, 2.0, 5.0]))
    parts = [np.array([0, 2]), np.array([1]), np.array([], np.int64), np.array([3])]
    divided = one.divided(list(zip(parts, (0.25, 0.75, 0.0, 0.0), strict=True)))
    assert divided.scores.tolist() == [1.0, 2.0, 3.0]
    assert divided.masses().tolist() == [0.75, 0.125, 0.125]
    assert (divided.n_trials, divided.shares.size) == (3, 2)
    assert one.divided([(parts[0], 1.0), (parts[1], 0.0)]).scores.tolist() == [2.0, 3.0]
    # Some trials only, and all.
    for places in (np.array([0, 2]), np.arange(4)):
        assert one.divided([(places, 1.0)]).listed.tolist() == one.listed[places].tolist()
    for scores in (one.scores, one.part(np.ones(4, bool)).scores):
        assert not scores.flags.writeable
    with pytest.raises(InvalidInputError, match="the 4 trials of the class; got position 7"):
        one.divided([(parts[1], 0.5), (np.array([7]), 0.5)])


def test_systems_must_have_scored_the_same_trials() -> None:
    scores, key, _ = joined()
    part = scores.filter(scores.modelset[1:], scores.segset, keep=True)
    check_same_trials({"a": scores, "b": scores}, key)
    check_same_trials({"a": part, "b": part}, key)
    for systems in ({"a": scores, "b": part}, {"a": part, "b": scores}):
        with pytest.raises(TrialMismatchError):
            check_same_trials(systems, key)


# ---- Kinds of non-targets


@pytest.fixture
def of_three() -> Sample:
    """Return zero-effort impostors -1, 0, .5, 1.5 and spoofs 0, 3, mixed."""
    non = ScoredClass(np.array([0.0, -1.0, 0.0, 0.5, 1.5, 3.0]))
    return Sample(ScoredClass(np.array([1.0, 2.0])), non, np.array([1, 0, 0, 0, 0, 1]))


def test_kinds_have_fixed_shares(of_three: Sample) -> None:
    assert (of_three.n_tar, of_three.n_non, of_three.n_spoof) == (2, 4, 2)
    mixed = of_three.with_shares(0.8, 0.2)
    # 2 and 1 of 4 zero-effort impostors, 1 of 2 spoofs.
    found = mixed.rates([0.5, 1.0])[1]
    assert found == pytest.approx([0.8 * 2 / 4 + 0.2 / 2, 0.8 / 4 + 0.2 / 2], rel=1e-15)
    assert mixed.roc().pfa[0] == pytest.approx(1.0, rel=1e-15)
    assert mixed.n_spoof == 2
    # A kind of share 0 is left out.
    bona, spoofs = of_three.bona_fide(), of_three.with_shares(0.0, 1.0)
    assert (bona.non.scores.tolist(), bona.n_spoof) == ([-1.0, 0.0, 0.5, 1.5], 0)
    assert spoofs.non.scores.tolist() == [0.0, 3.0]
    assert bona.bona_fide() is bona
    with pytest.raises(InvalidInputError, match="spoofs with scores"):
        bona.with_shares(0.5, 0.5)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_spoofs_of_a_key_without_some_scores() -> None:
    kinds = np.array(["target", "nontarget", "spoof", "spoof", "nontarget"])
    ids = [f"s{i}" for i in range(5)]
    key = Key.from_trials(["m"] * 5, ids, kinds)
    who = {"m": "s0"}, {name: name for name in ids}
    for lacking in (None, 2, 4):
        mask = np.arange(5) != lacking
        scores = Scores(np.arange(5.0)[None], ["m"], ids, mask[None])
        sample = Sample.from_trials(scores, key, speakers=who)
        expected = np.flatnonzero(mask & (kinds == "spoof"))
        assert sample.n_spoof == expected.size
        assert sample.non.listed[sample.kinds == 1].tolist() == expected.tolist()
        # A spoof has the speaker who is claimed, and no other.
        assert ((sample.non.speakers[1] < 0) == (sample.kinds == 1)).all()
        assert (sample.tar.speakers[1] >= 0).all()
    plain = Key.from_trials(["m"] * 2, ids[:2], [True, False])
    one = Scores(np.ones((1, 3)), ["m"], ids[:3], [[True, True, False]])
    assert Sample.from_trials(one, plain).kinds is None


def test_kinds_within_conditions(of_three: Sample) -> None:
    """Spoofs of the second condition only have the whole share of the spoofs."""
    groups = np.array([1, 0, 0, 1, 1, 1])
    non = ScoredClass(of_three.non.listed, groups, np.array([0.25, 0.75]))
    sample = Sample(of_three.tar, non, of_three.kinds)
    # Alone, too: the first condition has no spoof, and its quarter is theirs.
    np.testing.assert_array_equal(sample.with_shares(0.0, 1.0).non.masses(), [1 / 2, 1 / 2])
    alone = sample.bona_fide().non
    np.testing.assert_allclose(np.sort(alone.masses()), [1 / 8, 1 / 8, 3 / 8, 3 / 8], rtol=1e-15)
    mixed = sample.with_shares(0.5, 0.5)
    masses = np.empty(6)
    masses[mixed.non.order] = mixed.non.masses()
    np.testing.assert_allclose(masses, [1 / 4, 1 / 16, 1 / 16, 3 / 16, 3 / 16, 1 / 4], rtol=1e-15)
    # Conditions that come later divide the spoofs, too; one of share 0 goes with its kinds.
    whole, places = np.arange(2), (np.array([1, 2]), np.array([0, 3, 4, 5]))
    last = ConditionMembers("y", 1.0, whole, places[1], 0.5, 1.0)
    for share, kinds in ((0.0, [1, 0, 0, 1]), (0.5, [0, 0, 1, 0, 0, 1])):
        first = ConditionMembers("x", share, whole, places[0], 0.5, share)
        assert of_three.weighted([first, last]).kinds.tolist() == kinds
    assert mixed.take(slice(None), np.array([0, 1])).kinds.tolist() == [1, 0]
    # A spoof of two conditions is one.
    both = ConditionMembers("x", 0.5, whole, np.arange(6), 0.5, 0.5)
    assert of_three.weighted([both, last]).n_spoof == 2


# ---- What is refused, and copies


@pytest.mark.parametrize(
    "call",
    [
        lambda: Sample.from_scores([], [1.0]),
        lambda: Sample.from_scores([1.0], [np.nan]),
        lambda: Sample.from_scores([1.0], [0.0], tar_weights=[0.0]),
        lambda: Sample.from_trials(joined()[0], joined()[1].to_ndx()),
    ],
)
def test_what_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises((InvalidInputError, TypeError)):
        call()
    with pytest.raises(InvalidInputError, match="position 3"):
        ScoredClass(np.arange(3.0)).divided([(np.array([0, 3]), 1.0)])


def test_copies_and_lists_have_the_same_numbers(of_three: Sample) -> None:
    for again in (copy.deepcopy(of_three), pickle.loads(pickle.dumps(of_three))):
        assert repr(again) == repr(of_three) == "Sample: 2 targets, 4 non-targets, 2 spoofs"
        assert curve(again) == curve(of_three)
    found = {word: scores.tolist() for word, scores in lists_of_kinds(of_three).items()}
    assert found == {"target": [1, 2], "nontarget": [-1, 0, 0.5, 1.5], "spoof": [0, 3]}
    plain = Sample.from_scores([1.0], [0.0])
    assert list(lists_of_kinds(plain)) == ["target", "nontarget"]
