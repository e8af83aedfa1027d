"""Conditions: which trials they have, and what each of them weighs."""

import copy
import math
import pickle
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from bosaris_py.errors import (
    ConditionWarning,
    InvalidInputError,
    MissingTrialsWarning,
    TrialMismatchError,
)
from bosaris_py.files.columns import Factor
from bosaris_py.trials import Conditions, Key, Ndx, Scores
from bosaris_py.trials.conditions import as_conditions, checked_weights, class_weights, shares_of
from tests.forms import as_list, labelled
from tests.strategies import keys

# Three models, four segments; column by column: tar non tar | non tar non | ...
LABELS = np.array([[1, -1, 1, 0], [-1, 1, -1, 1], [1, -1, 1, -1]])
MODELS, SEGMENTS = ["m1", "m2", "m3"], ["s1", "s2", "s3", "s4"]
KEY = Key(MODELS, SEGMENTS, LABELS > 0, LABELS < 0)
EARLY = np.tile([True, True, False, False], (3, 1))


def halves(**options: object) -> Conditions:
    return Conditions({"early": EARLY, "late": ~EARLY}, **options)


@st.composite
def labelled_keys(draw: st.DrawFn) -> tuple[Key, list[str]]:
    """Make a key of at least one trial and a label for each trial."""
    key = draw(keys(1).filter(lambda key: key.n_trials > 0))
    size = key.n_trials
    return key, draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))


def reordered(key: Key, rng: np.random.Generator) -> Key:
    """Return the same trials with models and segments in another order."""
    rows, cols = rng.permutation(key.modelset.size), rng.permutation(key.segset.size)
    cells = np.ix_(rows, cols)
    return Key(key.modelset[rows], key.segset[cols], key.tar[cells], key.non[cells])


class TestWeights:
    def test_equation_12(self):
        """Targets: 3 early, 3 late; non-targets: 3 early, 2 late. w = 1/4, 3/4.

        Column by column the targets are (m1,s1), (m3,s1), (m2,s2), (m1,s3), (m3,s3), (m2,s4).
        """
        tar, non = halves(weights=[0.25, 0.75]).trial_weights(KEY)
        early_tar, late_tar = Fraction(1, 4) / Fraction(3, 6), Fraction(3, 4) / Fraction(3, 6)
        early_non, late_non = Fraction(1, 4) / Fraction(3, 5), Fraction(3, 4) / Fraction(2, 5)
        np.testing.assert_allclose(tar, [float(early_tar)] * 3 + [float(late_tar)] * 3, rtol=1e-15)
        np.testing.assert_allclose(non, [float(early_non)] * 3 + [float(late_non)] * 2, rtol=1e-15)

    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConditionWarning")
    @given(labelled_keys(), st.data())
    def test_equation_12_trial_by_trial(self, trials, data):
        key, labels = trials
        names = sorted(set(labels))
        parts = data.draw(st.lists(st.integers(1, 5), min_size=len(names), max_size=len(names)))
        weights = {name: part / sum(parts) for name, part in zip(names, parts, strict=True)}
        conditions = labelled(key, labels, weights)
        is_target = key.is_target.tolist()
        for target, found in zip((True, False), conditions.trial_weights(key), strict=True):
            own = [label for label, flag in zip(labels, is_target, strict=True) if flag is target]
            present = sum(weights[name] for name in set(own))
            expected = [weights[name] / present * len(own) / own.count(name) for name in own]
            np.testing.assert_allclose(found, expected, rtol=1e-12)

    def test_dropped_conditions_may_share_trials_with_others(self):
        masks = {"early": EARLY, "all": np.ones_like(EARLY)}
        some = Conditions(masks, weights=[1, 0], uncovered="ignore")
        alone = Conditions({"early": EARLY}, uncovered="ignore")
        for found, expected in zip(some.trial_weights(KEY), alone.trial_weights(KEY), strict=True):
            np.testing.assert_array_equal(found, expected)

    def test_dropped_conditions_leave_the_rest_as_if_alone(self):
        tar, non = halves(weights={"late": 1, "early": 0}).trial_weights(KEY)
        np.testing.assert_array_equal(tar, [0, 0, 0, 1, 1, 1])
        np.testing.assert_array_equal(non, [0, 0, 0, 1, 1])
        assert [part.name for part in halves(weights=[0, 1]).members(KEY)] == ["late"]

    def test_trials_in_two_conditions_count_in_both(self):
        conditions = Conditions(
            {"all": KEY, "early": EARLY}, [0.5, 0.5], overlap="allow", uncovered="error"
        )
        tar, _ = conditions.trial_weights(KEY)
        np.testing.assert_allclose(tar, 6 * np.array([0.5 / 6 + 0.5 / 3] * 3 + [0.5 / 6] * 3))

    def test_trials_in_no_condition_count_nothing(self):
        tar, non = Conditions({"early": EARLY}, uncovered="ignore").trial_weights(KEY)
        np.testing.assert_array_equal(tar, [1, 1, 1, 0, 0, 0])
        np.testing.assert_array_equal(non, [1, 1, 1, 0, 0])

    def test_with_weights(self):
        conditions = halves(uncovered="ignore").with_weights({"early": 0.2, "late": 0.8})
        assert conditions.weights.tolist() == [0.2, 0.8]
        assert conditions.with_weights(None).weights.tolist() == [0.5, 0.5]


class TestOneClassOnly:
    """Condition b has targets only."""

    KEY = Key(["m"], list("wxyz"), [[True, False, True, True]], [[False, True, False, False]])
    LABELS = ("a", "a", "b", "b")

    def test_it_counts_for_one_rate_and_is_reported(self):
        conditions = labelled(self.KEY, self.LABELS)
        with pytest.warns(
            ConditionWarning, match=r"1 condition has no non-targets .* miss rate only \(b\)"
        ) as caught:
            tar, non = conditions.trial_weights(self.KEY)
        assert caught[0].filename == __file__
        np.testing.assert_allclose(tar, [1.5, 0.75, 0.75])
        np.testing.assert_array_equal(non, [1])
        assert conditions.counts(self.KEY) == {"a": (1, 1), "b": (2, 0)}

    def test_shares(self):
        conditions = labelled(self.KEY, self.LABELS, [0.25, 0.75], lacking="ignore")
        a, b = conditions.members(self.KEY)
        assert (a.tar_weight, a.non_weight, b.tar_weight, b.non_weight) == (0.25, 1.0, 0.75, 0.0)
        assert (a.weight, b.weight) == (0.25, 0.75)

    def test_it_can_be_an_error(self):
        with pytest.raises(TrialMismatchError, match="no non-targets"):
            labelled(self.KEY, self.LABELS, lacking="error").members(self.KEY)

    def test_both_classes_are_reported_at_once(self):
        key = Key(["m"], ["x", "y"], [[True, False]], [[False, True]])
        with pytest.warns(ConditionWarning, match="no targets .* false-alarm.*; .* no non-targets"):
            labelled(key, ["a", "b"]).members(key)


class TestMembers:
    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConditionWarning")
    @given(labelled_keys())
    def test_every_way_to_say_it_is_the_same(self, trials):
        key, labels = trials
        names = sorted(set(labels))
        vectors = {name: np.array([label == name for label in labels]) for name in names}
        models, segments = key.trial_positions()
        matrices = {}
        for name, vector in vectors.items():
            matrices[name] = np.zeros(key.tar.shape, dtype=bool)
            matrices[name][models[vector], segments[vector]] = True
        ways = [
            labelled(key, labels),
            labelled(key.to_ndx(), Factor.from_values(labels)),
            Conditions(vectors),
            Conditions(matrices),
            Conditions({n: Ndx(key.modelset, key.segset, m) for n, m in matrices.items()}),
            Conditions({n: as_list(Ndx(*key.ids, m)) for n, m in matrices.items()}),
            labelled(as_list(key), labels),
        ]
        assert all(way.names == tuple(names) for way in ways)
        first, *others = (way.members(form) for form in (key, as_list(key)) for way in ways)
        for way in others:
            for one, other in zip(first, way, strict=True):
                np.testing.assert_array_equal(one.tar, other.tar)
                np.testing.assert_array_equal(one.non, other.non)

    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConditionWarning")
    @given(labelled_keys(), st.integers(0, 2**31))
    def test_positions_are_those_of_the_vectors(self, trials, seed):
        """The score of a trial is its label, so the vectors show where labels went."""
        key, labels = trials
        models, segments = key.trial_positions()
        matrix = np.zeros(key.tar.shape)
        matrix[models, segments] = [ord(label) for label in labels]
        scores = Scores(matrix, key.modelset, key.segset)
        other = reordered(key, np.random.default_rng(seed))
        tar, non = scores.get_tar_non(other)
        conditions = labelled(key, labels)
        for part in conditions.members(other):
            assert set(tar[part.tar]) | set(non[part.non]) == {ord(part.name)}
            np.testing.assert_array_equal(part.tar, np.flatnonzero(tar == ord(part.name)))
            np.testing.assert_array_equal(part.non, np.flatnonzero(non == ord(part.name)))

    @pytest.mark.parametrize("n_conditions", [1, 20, 21, 100])
    def test_any_number_of_conditions(self, n_conditions, rng):
        """Few are looked for one by one, many are sorted; some trials have no score."""
        tar = rng.random((40, 50)) < 0.5
        key = Key([f"m{i:02}" for i in range(40)], [f"s{j:02}" for j in range(50)], tar, ~tar)
        labels = rng.integers(0, n_conditions, 2000)
        mask = rng.random((40, 50)) < 0.9
        scores = Scores(np.zeros((40, 50)), key.modelset, key.segset, mask)
        conditions = labelled(key, labels, lacking="ignore")
        matrix = labels.reshape(50, 40).T
        in_order = matrix.T[(tar & mask).T], matrix.T[(~tar & mask).T]
        members = conditions.scored_members(scores, key)
        assert len(members) == n_conditions
        for part in members:
            for places, values in zip((part.tar, part.non), in_order, strict=True):
                np.testing.assert_array_equal(places, np.flatnonzero(values == int(part.name)))

    def test_selected_key_holds_the_trials(self):
        late = halves().select(KEY, "late")
        np.testing.assert_array_equal(late.tar, KEY.tar & ~EARLY)
        np.testing.assert_array_equal(late.non, KEY.non & ~EARLY)
        assert late.modelset is KEY.modelset

    def test_selected_flat_key_is_flat(self):
        late = halves().select(as_list(KEY), "late")
        assert isinstance(late, Key)
        assert late == halves().select(KEY, "late")

    def test_ids_are_matched_among_many(self):
        """Trials are found by binary search where a table of all pairs would be large."""
        size = 3000
        ids = [f"{number:04}" for number in range(size)]
        diagonal = Key(ids, ids, np.eye(size, dtype=bool), np.zeros((size, size), dtype=bool))
        labels = ["even" if number % 2 == 0 else "odd" for number in range(size)]
        conditions = labelled(diagonal, labels, lacking="ignore")
        flipped = Key(ids[::-1], ids, diagonal.tar[::-1], diagonal.non)
        even, odd = conditions.members(flipped)
        assert (even.tar % 2 == 0).all()
        assert odd.tar.size == size // 2


class TestScores:
    SCORES = Scores(
        np.arange(12.0).reshape(3, 4),
        MODELS,
        SEGMENTS,
        np.array([[0, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 1]], dtype=bool),
    )

    def test_only_scored_trials_share_the_weight(self):
        """(m1,s1), an early target, and (m2,s3), a late non-target, have no score."""
        with pytest.warns(MissingTrialsWarning):
            tar, non = self.SCORES.get_tar_non(KEY)
        tar_weights, non_weights = halves().scored_weights(self.SCORES, KEY)
        assert (tar_weights.size, non_weights.size) == (tar.size, non.size)
        np.testing.assert_allclose(tar_weights, 5 * np.array([0.5 / 2] * 2 + [0.5 / 3] * 3))
        np.testing.assert_allclose(non_weights, 4 * np.array([0.5 / 3] * 3 + [0.5]))
        early, late = halves().scored_members(self.SCORES, KEY)
        assert early.tar.tolist() == [0, 1]
        assert late.non.tolist() == [3]

    @pytest.mark.parametrize("flat_scores", [False, True])
    @pytest.mark.parametrize("flat_key", [False, True])
    def test_any_form_gives_the_same(self, flat_scores, flat_key):
        scores = as_list(self.SCORES) if flat_scores else self.SCORES
        key = as_list(KEY) if flat_key else KEY
        conditions = Conditions({"early": EARLY, "late": Ndx(MODELS, SEGMENTS, ~EARLY)})
        for one, other in zip(
            conditions.scored_weights(scores, key),
            halves().scored_weights(self.SCORES, KEY),
            strict=True,
        ):
            np.testing.assert_array_equal(one, other)

    def test_complete_scores_change_nothing(self):
        scores = Scores(np.zeros((3, 4)), MODELS, SEGMENTS)
        for one, other in zip(
            halves().scored_weights(scores, KEY), halves().trial_weights(KEY), strict=True
        ):
            np.testing.assert_array_equal(one, other)

    def test_conditions_of_which_nothing_is_scored(self):
        scores = Scores(np.zeros((3, 2)), MODELS, SEGMENTS[:2])
        with pytest.raises(TrialMismatchError, match=r"No trial of these conditions .* late"):
            halves().scored_weights(scores, KEY)


def crossing(**columns: Any) -> Conditions:
    """Return the conditions that columns of the key make."""
    return Conditions.from_columns(KEY.with_columns(**columns), *columns)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.ConditionWarning")
class TestNames:
    def test_products_of_factors(self):
        conditions = crossing(
            gender=list("fmfmfmfmfmf"),
            match=Factor([0, 1] * 5 + [0], ["Y", "N"]),
            sessions=[1] * 6 + [3] * 5,
        )
        assert conditions.names == ("f, Y, 1", "f, Y, 3", "m, N, 1", "m, N, 3")
        assert len(conditions) == 4

    def test_many_combinations_of_few_trials(self):
        factors = {letter: [f"{letter}{number}" for number in range(11)] for letter in "abcdefg"}
        conditions = crossing(**factors)
        assert conditions.names[1] == "a1, b1, c1, d1, e1, f1, g1"
        assert [part.tar.size + part.non.size for part in conditions.members(KEY)] == [1] * 11

    def test_more_combinations_than_an_integer_counts(self):
        """11^24 combinations; all factors but the first are the same for two trials."""
        names = [f"factor {number:02}" for number in range(24)]
        values = [min(number, 9) for number in range(11)]
        factors = dict.fromkeys(names, Factor(values, [f"v{n}" for n in range(11)]))
        factors[names[0]] = Factor(range(11), [f"v{n:02}" for n in range(11)])
        conditions = crossing(**factors)
        assert conditions.names[1] == ", ".join(["v01", *["v1"] * 23])
        assert conditions.names[-2:] == tuple(
            ", ".join([first, *["v9"] * 23]) for first in ("v09", "v10")
        )
        assert [part.tar.size + part.non.size for part in conditions.members(KEY)] == [1] * 11

    def test_levels_that_do_not_occur_are_no_conditions(self):
        factor = Factor([0] * 11, ["here", "nowhere"])
        assert labelled(KEY, factor).names == ("here",)

    def test_representation(self):
        assert repr(halves()) == "Conditions: early (0.5), late (0.5)"


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies_are_the_same_and_read_only(duplicate):
    for conditions in (
        halves(weights=[0.25, 0.75], overlap="allow", uncovered="ignore", lacking="error"),
        labelled(KEY, list("abababababa"), [0.25, 0.75]),
    ):
        again = duplicate(conditions)
        assert (again.names, repr(again)) == (conditions.names, repr(conditions))
        for one, other in zip(again.trial_weights(KEY), conditions.trial_weights(KEY), strict=True):
            np.testing.assert_array_equal(one, other)
        with pytest.raises(ValueError, match="read-only"):
            again.weights[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            again.trial_weights(KEY)[0][0] = 1
        (part, _) = duplicate(conditions.members(KEY))
        with pytest.raises(ValueError, match="read-only"):
            part.tar[0] = 1


def test_masks_are_copied():
    mask = EARLY.copy()
    conditions = Conditions({"early": mask, "late": ~mask})
    mask[:] = True
    assert conditions.counts(KEY) == {"early": (3, 3), "late": (3, 2)}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Conditions({}), "name at least one condition"),
        (lambda: Conditions([EARLY]), "map names to trials or masks"),
        (lambda: Conditions({1: EARLY}), "name conditions with text; got 1"),
        (lambda: Conditions({"a": "b"}), r"`subsets\['a'\]` must be trials or a mask"),
        (lambda: Conditions({"a": np.ones((3, 4))}), "be boolean"),
        (lambda: Conditions({"a": np.ones((3, 4, 1), dtype=bool)}), "one dimension"),
        (lambda: halves(overlap="yes"), '`overlap` must be one of "error", "allow"'),
        (lambda: halves(uncovered=True), "`uncovered` .* got True"),
        (lambda: halves(lacking="no"), "`lacking`"),
        (lambda: halves(weights=[0.5, 0.6]), "sum to one; got the sum 1.1. Divide them by"),
        (lambda: halves(weights=[0, 0]), "sum to one; got the sum 0"),
        (lambda: halves(weights=[1.5, -0.5]), "not negative; got -0.5 for 'late'"),
        (lambda: halves(weights=[np.nan, 1]), "got nan for 'early'"),
        (lambda: halves(weights=[1]), "one for each of the 2 conditions"),
        (lambda: halves(weights="ab"), "be numbers"),
        (lambda: halves(weights={"early": 0.5, "lat": 0.5}), r"exist \(early, late\); got 'lat'"),
        (lambda: halves(weights={"early": 1}), "none for 'late'. The weight 0 drops"),
        (
            lambda: crossing(x=["a, b", "a"] * 5 + ["a"], y=["c", "b, c"] * 5 + ["b, c"]),
            "be different; got a, b, c. Values of factors must not hold ', '",
        ),
        (lambda: Conditions.from_columns(KEY), "at least one column"),
        (
            lambda: halves(weights={"early": 1, 3: 0, "lat": 0}),
            r"exist \(early, late\); got 3, 'lat'",
        ),
        (lambda: as_conditions([EARLY], KEY), "name columns in a list"),
        (lambda: halves().select(KEY, "lat"), r"conditions \(early, late\); got 'lat'"),
        (lambda: halves().members(KEY.to_ndx()), "be a Key"),
        (lambda: halves().scored_weights(KEY, KEY), "be a Scores"),
        (lambda: halves().trial_weights(KEY.to_ndx()), "`key` must be a Key"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Conditions({"a": KEY, "b": EARLY}),
            r"several conditions, as do 6 trials: \(m1, s1\), \(m2, s1\).* overlap='allow'",
        ),
        (
            lambda: Conditions({"a": EARLY}),
            r"to none belong 5 trials: \(m1, s3\), .*, \(m3, s4\). Say uncovered='ignore'",
        ),
        (
            lambda: labelled(Ndx(["m1"], SEGMENTS), list("abab")),
            r"to none belong 8 trials: \(m2, s1\)",
        ),
        (
            lambda: Conditions({"a": KEY, "b": np.zeros((3, 4), dtype=bool)}),
            r"1 of 2 conditions has no trial of the key \(b\)",
        ),
        (lambda: labelled(Ndx(["x"], ["y"]), ["a"]), "1 of 1 conditions has no trial"),
    ],
)
def test_conditions_that_do_not_fit_the_key(make, message):
    with pytest.raises(TrialMismatchError, match=message):
        make().members(KEY)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (EARLY.T, r"shape \(3, 4\) of the key.* got shape \(4, 3\) .* Did you swap"),
        (np.ones(12, dtype=bool), r"got shape \(12,\) and 11 trials"),
    ],
)
def test_masks_that_do_not_fit_the_key(mask, message):
    for method in ("members", "counts", "trial_weights"):
        with pytest.raises(InvalidInputError, match=message):
            getattr(Conditions({"a": mask}), method)(KEY)


def test_an_empty_condition_of_weight_zero_is_none():
    nothing = np.zeros((3, 4), dtype=bool)
    conditions = Conditions({"a": KEY, "b": nothing}, [1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(conditions.trial_weights(KEY)[0], np.ones(6))
    with pytest.raises(TrialMismatchError, match="'b' has no trial"):
        conditions.select(KEY, "b")


def test_overlap_with_a_condition_of_weight_zero_is_none():
    conditions = Conditions({"a": KEY, "b": EARLY}, [1, 0], overlap="error")
    np.testing.assert_array_equal(conditions.trial_weights(KEY)[0], np.ones(6))
    with pytest.raises(TrialMismatchError, match="must not belong to several conditions"):
        Conditions({"a": KEY, "b": EARLY}, [0.5, 0.5], overlap="error").trial_weights(KEY)


def test_weights_of_both_classes():
    """As functions take them that know either conditions or weights."""
    scores = TestScores.SCORES
    for given_scores in (None, scores):
        found = class_weights(halves(), None, None, KEY, scores=given_scores)
        expected = (
            halves().trial_weights(KEY)
            if given_scores is None
            else halves().scored_weights(scores, KEY)
        )
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    assert class_weights(None, 1, 2, KEY) == (1, 2)
    for given_weights in ((np.ones(6), None), (None, np.ones(5))):
        with pytest.raises(InvalidInputError, match="be left out where there are `conditions`"):
            class_weights(halves(), *given_weights, KEY)
    only_targets = Conditions({"a": LABELS > 0}, uncovered="ignore")
    with (
        pytest.warns(ConditionWarning),
        pytest.raises(InvalidInputError, match="have non-targets in some condition; got none"),
    ):
        class_weights(only_targets, None, None, KEY)


@given(hnp.arrays(np.bool_, (3, 4)))
def test_counts_need_no_valid_conditions(mask):
    found = Conditions({"a": mask, "b": KEY}).counts(KEY)
    expected = int((mask & KEY.tar).sum()), int((mask & KEY.non).sum())
    assert found == {"a": expected, "b": (6, 5)}


def test_conditions_as_they_are_given() -> None:
    conditions = halves()
    assert as_conditions(None, KEY) is None
    assert as_conditions(conditions, KEY) is conditions
    by_name = as_conditions({"a": LABELS > 0, "b": LABELS < 0}, KEY)
    assert by_name is not None
    assert by_name.names == ("a", "b")
    key = KEY.with_columns(sex=("segment", ["f", "m", "f", "m"]))
    for columns in ("sex", ["sex"], ("sex",)):
        of_column = as_conditions(columns, key)
        assert of_column is not None
        assert of_column.names == ("f", "m")
    for wrong in ([], [3], 3, np.array(["sex"])):
        with pytest.raises(InvalidInputError, match="`conditions` must name columns in a list"):
            as_conditions(wrong, key)


@pytest.mark.parametrize(
    "form", [list, lambda weights: dict(zip("ba", weights[::-1], strict=True))]
)
def test_decimals_of_weights_leave_a_millionth_of_one(form) -> None:
    for rest in (-0.9e-6, 0.0, 0.9e-6):
        found = checked_weights(form([0.25, 0.75 + rest]), ["a", "b"])
        assert math.fsum(found) == pytest.approx(1.0, abs=1e-16)
        assert found[1] / found[0] == pytest.approx(3 + 4 * rest, rel=1e-15)
    for rest in (-1.1e-6, 1.1e-6, math.nan, math.inf):
        with pytest.raises(InvalidInputError):
            checked_weights(form([0.25, 0.75 + rest]), ["a", "b"])
    for bad in ([1.25, -0.25], [1.0], [0.0, 0.0], ["1", "0"], [[0.5, 0.5]], [True, False]):
        with pytest.raises(InvalidInputError):
            checked_weights(bad, ["a", "b"])
    assert checked_weights(None, "abcd").tolist() == [0.25] * 4
    assert shares_of([0.5, 0.25, 0.25], [np.arange(3), np.arange(0), np.arange(1)]) == [
        2 / 3,
        0,
        1 / 3,
    ]
    assert shares_of([0.5, 0.5], [np.arange(0)] * 2) == [0, 0]
