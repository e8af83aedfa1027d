"""Conditions: which trials they have, and what each of them weighs."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.files.columns import Factor
from bosaris_py.trials import Conditions, Key, Ndx, Scores
from bosaris_py.trials.conditions import as_conditions, checked_weights, class_weights
from tests.forms import as_list, labelled
from tests.strategies import keys

# Three models, four segments; column by column: tar non tar | non tar non | ...
LABELS = np.array([[1, -1, 1, 0], [-1, 1, -1, 1], [1, -1, 1, -1]])
MODELS, SEGMENTS = ["m1", "m2", "m3"], ["s1", "s2", "s3", "s4"]
KEY = Key(MODELS, SEGMENTS, LABELS > 0, LABELS < 0)
NOTHING = np.zeros((3, 4), dtype=bool)
EARLY = np.tile([True, True, False, False], (3, 1))
quiet = pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")


def halves(**options: object) -> Conditions:
    return Conditions({"early": EARLY, "late": ~EARLY}, **options)


def crossing(**columns: Any) -> Conditions:
    """Return the conditions that columns of the key make."""
    return Conditions.from_columns(KEY.with_columns(**columns), *columns)


def check_weights(found: tuple, tar: Any, non: Any) -> None:
    for side, expected in zip(found, (tar, non), strict=True):
        np.testing.assert_allclose(side, expected, rtol=1e-12)


@st.composite
def labelled_keys(draw: st.DrawFn) -> tuple[Key, list[str]]:
    """Make a key of at least one trial and a label for each trial."""
    key = draw(keys(1).filter(lambda key: key.n_trials > 0))
    size = key.n_trials
    return key, draw(st.lists(st.sampled_from("abc"), min_size=size, max_size=size))


@quiet
@given(labelled_keys(), st.data())
def test_equation_12_trial_by_trial(trials, data) -> None:
    key, labels = trials
    names = sorted(set(labels))
    parts = data.draw(st.lists(st.integers(1, 5), min_size=len(names), max_size=len(names)))
    weights = {name: part / sum(parts) for name, part in zip(names, parts, strict=True)}
    is_target, expected = key.is_target.tolist(), []
    for target in (True, False):
        own = [label for label, flag in zip(labels, is_target, strict=True) if flag is target]
        present = sum(weights[name] for name in set(own))
        expected.append([weights[name] / present * len(own) / own.count(name) for name in own])
    check_weights(labelled(key, labels, weights).trial_weights(key), *expected)


@pytest.mark.parametrize(
    ("conditions", "tar", "non"),
    [
        # Targets: 3 early, 3 late; non-targets: 3 early, 2 late.
        (halves(weights=[0.25, 0.75]), [0.5] * 3 + [1.5] * 3, [5 / 12] * 3 + [15 / 8] * 2),
        (halves(weights={"late": 1, "early": 0}), [0] * 3 + [1] * 3, [0] * 3 + [1] * 2),
        # What has no weight may share trials, or have none.
        (Conditions({"a": KEY, "b": EARLY, "c": NOTHING}, [1, 0, 0]), [1] * 6, [1] * 5),
        (Conditions({"a": EARLY}, uncovered="ignore"), [1] * 3 + [0] * 3, [1] * 3 + [0] * 2),
        # Trials of two conditions count in both.
        (
            Conditions({"all": KEY, "early": EARLY}, [0.5, 0.5], overlap="allow"),
            [1.5] * 3 + [0.5] * 3,
            [4 / 3] * 3 + [0.5] * 2,
        ),
    ],
)
def test_weights_by_hand(conditions: Conditions, tar: list, non: list) -> None:
    check_weights(conditions.trial_weights(KEY), tar, non)
    # Complete scores change nothing, and the weights of both classes are those.
    complete = Scores(np.zeros((3, 4)), MODELS, SEGMENTS)
    check_weights(conditions.trial_weights(KEY, complete), tar, non)
    check_weights(class_weights(conditions, None, None, KEY), tar, non)


def test_other_weights() -> None:
    conditions = halves(uncovered="ignore").with_weights({"early": 0.2, "late": 0.8})
    assert conditions.weights.tolist() == [0.2, 0.8]
    assert conditions.with_weights(None).weights.tolist() == [0.5, 0.5]
    assert [part.name for part in halves(weights=[0, 1]).members(KEY)] == ["late"]


@pytest.mark.parametrize(
    "form", [list, lambda weights: dict(zip("ba", weights[::-1], strict=True))]
)
def test_decimals_of_weights_leave_a_millionth_of_one(form) -> None:
    for rest in (-0.9e-6, 0.9e-6):
        found = checked_weights(form([0.25, 0.75 + rest]), ["a", "b"])
        assert math.fsum(found) == pytest.approx(1.0, abs=1e-16)
        assert found[1] / found[0] == pytest.approx(3 + 4 * rest, rel=1e-15)
    for rest in (-1.1e-6, 1.1e-6, math.nan, math.inf):
        with pytest.raises(InvalidInputError):
            checked_weights(form([0.25, 0.75 + rest]), ["a", "b"])
    for bad in ([1.25, -0.25], [1.0], [0.0, 0.0], ["1", "0"], [[0.5, 0.5]], [True, False]):
        with pytest.raises(InvalidInputError):
            checked_weights(bad, ["a", "b"])


# Condition b has targets only.
ONE_CLASS = Key(["m"], list("wxyz"), [[True, False, True, True]], [[False, True, False, False]])


@quiet
def test_a_condition_of_one_class_counts_for_one_rate() -> None:
    conditions = labelled(ONE_CLASS, list("aabb"), [0.25, 0.75])
    with pytest.warns(MissingTrialsWarning, match=r"without non-targets, count .*b") as caught:
        found = conditions.trial_weights(ONE_CLASS)
    # One of the two has both classes, so attacks are not what divides them.
    assert [("attacks" in str(one.message)) for one in caught] == [False]
    check_weights(found, [3 / 4, 9 / 8, 9 / 8], [1])
    assert conditions.counts(ONE_CLASS) == {"a": (1, 1), "b": (2, 0)}
    a, b = labelled(ONE_CLASS, list("aabb"), [0.25, 0.75]).members(ONE_CLASS)
    assert (a.tar_weight, a.non_weight, b.tar_weight, b.non_weight) == (0.25, 1.0, 0.75, 0.0)
    assert (a.weight, b.weight) == (0.25, 0.75)
    apart = Key(["m"], ["x", "y"], [[True, False]], [[False, True]])
    with pytest.warns(
        MissingTrialsWarning, match="without targets.* without non-targets.* attacks"
    ):
        labelled(apart, list("ab")).members(apart)


@quiet
@given(labelled_keys(), st.integers(0, 2**31))
def test_every_way_to_say_it_is_the_same(trials, seed: int) -> None:
    """The score of a trial is its label, so that vectors show where labels went."""
    key, labels = trials
    vectors = {name: np.array([label == name for label in labels]) for name in set(labels)}
    vectors = dict(sorted(vectors.items()))
    at = key.trial_positions()
    matrices = {name: np.zeros(key.shape, dtype=bool) for name in vectors}
    for name, vector in vectors.items():
        matrices[name][at] = vector
    ndxs = {name: Ndx(*key.ids, mask) for name, mask in matrices.items()}
    lists = {name: as_list(ndx) for name, ndx in ndxs.items()}
    ways = [labelled(key, labels), *map(Conditions, (vectors, matrices, ndxs, lists))]
    matrix = np.zeros(key.shape)
    matrix[at] = [ord(label) for label in labels]
    rng, scores = np.random.default_rng(seed), Scores(matrix, *key.ids)
    rows, cols = (rng.permutation(n) for n in key.shape)
    cells = np.ix_(rows, cols)
    other = Key(key.modelset[rows], key.segset[cols], key.tar[cells], key.non[cells])
    for way in ways:
        assert way.names == tuple(vectors)
        # Masks fit a key of their own order only.
        for form in (key, as_list(key)) if way in ways[1:3] else (key, as_list(key), other):
            said = scores.get_tar_non(form)
            for part in way.members(form):
                for found, values in zip((part.tar, part.non), said, strict=True):
                    np.testing.assert_array_equal(found, np.flatnonzero(values == ord(part.name)))


@pytest.mark.parametrize("n_conditions", [1, 20, 100])
@pytest.mark.parametrize("form", [as_list, lambda item: item])
def test_positions_among_scored_trials(n_conditions: int, form, rng) -> None:
    tar = rng.random((40, 50)) < 0.5
    key = Key([f"m{i:02}" for i in range(40)], [f"s{j:02}" for j in range(50)], tar, ~tar)
    labels, mask = rng.integers(0, n_conditions, 2000), rng.random((40, 50)) < 0.9
    scores = form(Scores(np.zeros((40, 50)), *key.ids, mask))
    matrix = labels.reshape(50, 40).T
    in_order = matrix.T[(tar & mask).T], matrix.T[(~tar & mask).T]
    members = labelled(key, labels).members(form(key), scores)
    assert len(members) == n_conditions
    for part in members:
        for places, values in zip((part.tar, part.non), in_order, strict=True):
            np.testing.assert_array_equal(places, np.flatnonzero(values == int(part.name)))


def test_only_scored_trials_share_the_weight() -> None:
    """(m1,s1), an early target, and (m2,s3), a late non-target, have no score."""
    mask = np.array([[0, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 1]], dtype=bool)
    scores = Scores(np.arange(12.0).reshape(3, 4), MODELS, SEGMENTS, mask)
    expected = [5 / 4] * 2 + [5 / 6] * 3, [2 / 3] * 3 + [2]
    check_weights(halves().trial_weights(KEY, scores), *expected)
    check_weights(class_weights(halves(), None, None, KEY, scores=scores), *expected)
    early, late = halves().members(KEY, scores)
    assert (early.tar.tolist(), late.non.tolist()) == ([0, 1], [3])
    with pytest.raises(TrialMismatchError):
        halves().trial_weights(KEY, Scores(np.zeros((3, 2)), MODELS, SEGMENTS[:2]))


def test_selected_keys_hold_the_trials() -> None:
    late = halves().select(KEY, "late")
    assert late == Key(MODELS, SEGMENTS, KEY.tar & ~EARLY, KEY.non & ~EARLY)
    assert late.modelset is KEY.modelset
    assert halves().select(as_list(KEY), "late") == late
    with pytest.raises(TrialMismatchError):
        Conditions({"a": KEY, "b": np.zeros((3, 4), bool)}, [1, 0]).select(KEY, "b")


@quiet
def test_products_of_factors() -> None:
    columns = {"gender": list("fmfmfmfmfmf"), "sessions": [1] * 6 + [3] * 5}
    conditions = crossing(**columns, match=Factor([0, 1] * 5 + [0], ["Y", "N", "nowhere"]))
    assert conditions.names == ("f, 1, Y", "f, 3, Y", "m, 1, N", "m, 3, N")
    assert conditions.counts(KEY)["f, 1, Y"] == (3, 0)
    # What divides the non-targets only meets the targets of what divides both.
    attack = np.where(KEY.is_target, "", [*"ABABABABABA"])
    with pytest.warns(MissingTrialsWarning, match="^attack divides .* all targets of its gender$"):
        found = crossing(gender=columns["gender"], attack=attack)
    assert found.counts(KEY) == {"f, A": (5, 1), "m, B": (1, 4)}
    with pytest.raises(InvalidInputError, match="got attack and room"):
        crossing(attack=attack, room=np.where(KEY.is_target, [*"ABABBBBBBBA"], "A"))
    with pytest.warns(MissingTrialsWarning, match="2 of 11 trials"):
        assert crossing(sex=["", *"fm" * 4, "f", ""]).names == ("", "f", "m")
    # Combinations of few trials, and more of them than an integer counts.
    letters = "abcdefghijklmnopqrstuvwx"
    many = crossing(**{letter: [f"{letter}{n:02}" for n in range(11)] for letter in letters})
    assert many.names[1] == ", ".join(f"{letter}01" for letter in letters)
    assert [part.tar.size + part.non.size for part in many.members(KEY)] == [1] * 11


def test_conditions_as_they_are_given() -> None:
    conditions, key = halves(), KEY.with_columns(sex=("segment", ["f", "m", "f", "m"]))
    assert as_conditions(None, KEY) is None
    assert as_conditions(conditions, KEY) is conditions
    assert as_conditions({"a": LABELS > 0, "b": LABELS < 0}, KEY).names == ("a", "b")
    for columns in ("sex", ["sex"], ("sex",)):
        assert as_conditions(columns, key).names == ("f", "m")
    for wrong in ([], [3], ["sex", 3], 3, np.array(["sex"]), [EARLY]):
        with pytest.raises(InvalidInputError):
            as_conditions(wrong, key)


def test_copies_are_the_same_and_read_only() -> None:
    mask = EARLY.copy()
    own = Conditions({"early": mask, "late": ~mask}, [0.25, 0.75])
    mask[:] = True
    assert own.counts(KEY) == {"early": (3, 3), "late": (3, 2)}
    for conditions in (own, labelled(KEY, list("abababababa"), [0.25, 0.75])):
        again = pickle.loads(pickle.dumps(conditions))
        assert (again.names, repr(again)) == (conditions.names, repr(conditions))
        check_weights(again.trial_weights(KEY), *conditions.trial_weights(KEY))
        part = copy.deepcopy(conditions.members(KEY))[0]
        for array in (again.weights, again.trial_weights(KEY)[0], part.tar):
            assert not array.flags.writeable


@pytest.mark.parametrize(
    "make",
    [
        *(
            lambda bad=bad: Conditions(bad)
            for bad in ({}, [EARLY], {1: EARLY}, {"a": "b"}, {"a": {}}, {"a": np.ones((3, 4))})
        ),
        *(lambda x=x: halves(**x) for x in ({"overlap": "yes"}, {"uncovered": True})),
        *(lambda x=x: halves(weights=x) for x in ("ab", {"early": 1, "late": 0, "lat": 0})),
        # Both are named "a, b, c".
        lambda: crossing(x=["a, b", "a"] * 5 + ["a"], y=["c", "b, c"] * 5 + ["b, c"]),
        lambda: Conditions.from_columns(KEY),
        lambda: halves().select(KEY, "lat"),
        lambda: halves().members(KEY.to_ndx()),
        lambda: halves().trial_weights(KEY, KEY),
        lambda: class_weights(halves(), np.ones(6), None, KEY),
        lambda: class_weights(halves(), None, np.ones(5), KEY),
        lambda: class_weights({"a": 3}, None, None, KEY),
        *(
            lambda mask=mask, name=name: getattr(Conditions({"a": mask}), name)(KEY)
            for mask in (EARLY.T, np.ones(12, dtype=bool), np.ones(10, dtype=bool))
            for name in ("members", "counts", "trial_weights")
        ),
    ],
)
def test_bad_input(make) -> None:
    with pytest.raises(InvalidInputError):
        make()


def test_weights_without_conditions_and_classes_without_trials() -> None:
    assert class_weights(None, 1, 2, KEY) == (1, 2)
    key = KEY.with_columns(half=list("abababababa"))
    expected = Conditions.from_columns(key, "half").trial_weights(key)
    check_weights(class_weights("half", None, None, key), *expected)
    only_targets = Conditions({"a": LABELS > 0}, uncovered="ignore")
    with pytest.warns(MissingTrialsWarning), pytest.raises(InvalidInputError):
        class_weights(only_targets, None, None, KEY)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Conditions({"a": KEY, "b": EARLY}),
        lambda: Conditions({"a": EARLY}),
        lambda: labelled(Ndx(["m1"], SEGMENTS), list("abab")),
        lambda: Conditions({"a": KEY} | dict.fromkeys("bc", NOTHING)),
        lambda: labelled(Ndx(["x"], ["y"]), list("a")),
    ],
)
def test_conditions_that_do_not_fit_the_key(make) -> None:
    with pytest.raises(TrialMismatchError):
        make().members(KEY)
