"""What the plans draw: totals, means and covariances of the weights."""

import itertools

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.trials.speakers import Speakers
from bosaris_py.trials.strata import SetIndex, Strata, TrialStrata, draw_picks
from bosaris_py.uncertainty.resampling import (
    IidPlan,
    PersonWeights,
    Resampling,
    SetPlan,
    TrialUnits,
    _renumber,
    check_same_trials,
    effective_errors,
)

N_DRAWS = 20_000


def weights_of(plan: object, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.array([np.concatenate(plan.draw_weights(rng)) for _ in range(N_DRAWS)])


def index_of(labels: list[int]) -> SetIndex:
    return SetIndex.from_labels(labels, len(labels), "labels")


def set_plan(labels: list[int], *, two_layer: bool) -> SetPlan:
    strata = TrialStrata.single(len(labels), 2)
    return SetPlan(index_of(labels), index_of([0, 1]), strata, two_layer=two_layer)


def check_moments(drawn: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> None:
    # Five standard deviations of a mean, and of a covariance whose products have spread < 4.
    assert np.allclose(drawn.mean(axis=0), mean, atol=5 * np.sqrt(covariance.max() / N_DRAWS))
    assert np.allclose(np.cov(drawn.T), covariance, atol=5 * 4 / np.sqrt(N_DRAWS))


def test_picks_of_n_things() -> None:
    rng = np.random.default_rng(1)
    drawn = np.array([draw_picks(4, rng) for _ in range(N_DRAWS)])
    assert set(drawn.sum(axis=1).tolist()) == {4}
    # Multinomial: variance n p (1 - p), covariance -n p^2.
    check_moments(drawn, np.ones(4), np.eye(4) - 0.25)


@pytest.mark.parametrize("n_second", [None, 7])
def test_speakers_are_drawn_replicate_by_replicate(n_second: int | None) -> None:
    """How many are drawn in one call makes no difference to the numbers."""
    persons, rng = PersonWeights(5, n_second), np.random.default_rng(2)
    first, second = persons.draw(20, np.random.default_rng(2))
    for row, other in zip(first, second, strict=True):
        assert np.array_equal(row, draw_picks(5, rng))
        if n_second is not None:
            assert np.array_equal(other, draw_picks(n_second, rng))
    assert (second is first) == (n_second is None)


def test_iid_classes_are_independent() -> None:
    drawn = weights_of(IidPlan(TrialStrata.single(3, 2)))
    covariance = np.zeros((5, 5))
    covariance[:3, :3] = np.eye(3) - 1 / 3
    covariance[3:, 3:] = np.eye(2) - 1 / 2
    check_moments(drawn, np.ones(5), covariance)


@pytest.mark.slow
def test_one_layer_gives_one_weight_to_a_set() -> None:
    labels = [0, 1, 0, 2, 2, 2]
    drawn = weights_of(set_plan(labels, two_layer=False))
    assert np.array_equal(drawn[:, 0], drawn[:, 2])
    assert np.array_equal(drawn[:, 3:5], drawn[:, [5, 5]])
    same = np.equal.outer(labels, labels)
    check_moments(drawn[:, :6], np.ones(6), same - 1 / 3)


@pytest.mark.slow
@pytest.mark.parametrize("labels", [[0, 1, 0, 1], [0, 1, 0, 0]])
def test_two_layers_by_the_law_of_total_covariance(labels: list[int]) -> None:
    drawn = weights_of(set_plan(labels, two_layer=True))[:, :4]
    sizes = np.bincount(labels)[labels]
    same = np.equal.outer(labels, labels)
    # Given c picks of a set: multinomial with c mu picks, each trial with chance 1 / mu.
    # E[c] = 1, cov(c) = same - 1/2 for two sets.
    within = np.where(same, np.eye(4) - 1 / sizes, 0.0)
    check_moments(drawn, np.ones(4), (same - 0.5) + within)
    # A set that is picked brings as many trials as it has.
    for label in (0, 1):
        members = np.equal(labels, label)
        totals = drawn[:, members].sum(axis=1)
        assert np.all(totals % members.sum() == 0)


@pytest.mark.parametrize("two_layer", [False, True])
def test_reordered_plan_is_the_same_plan_for_moved_trials(*, two_layer: bool) -> None:
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 4, 30)
    plan = set_plan(labels, two_layer=two_layer)
    order = rng.permutation(30)
    moved = plan.reordered(order, np.array([1, 0]))
    assert np.array_equal(moved.tar.labels, labels[order])
    weights, _ = moved.draw_weights(np.random.default_rng(3))
    picks = np.bincount(moved.tar.labels, weights=weights) / moved.tar.sizes
    assert np.array_equal(picks, np.rint(picks))


def test_labels_may_be_text_or_objects() -> None:
    for labels in (["b", "a", "b"], np.array(["b", "a", "b"], dtype=object), [7, 3, 7]):
        index = SetIndex.from_labels(labels, 3, "labels")
        assert index.labels.tolist() == [1, 0, 1]
        assert index.sizes.tolist() == [1, 2]


@pytest.mark.parametrize(
    "codes", [[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 1]]
)
def test_conditions_that_keep_some_weight(codes: list[int]) -> None:
    """Whatever order trials stand in."""
    strata = Strata.from_codes(np.array(codes), np.array([0.5, 0.5]))
    for weights in itertools.product([0, 1, 3], repeat=4):
        kept = {code for code, weight in zip(codes, weights, strict=True) if weight}
        assert strata.complete(np.array(weights)) == (kept == {0, 1})


def test_effective_errors_of_conditions() -> None:
    half = np.array([0.5, 0.5])
    # (1/2 x 1 + 1/2 x 30)^2 / (1/4 x 1 + 1/4 x 30); a condition without errors counts as with one.
    assert effective_errors(np.array([1, 30]), half) == pytest.approx(15.5**2 / 7.75, rel=1e-15)
    assert effective_errors(np.array([0, 30]), half) == pytest.approx(15.0**2 / 7.75, rel=1e-15)


def test_units_of_one_and_of_two_persons() -> None:
    first, second = np.array([0, 1, 2]), np.array([2, 2, 0])
    weights = np.array([1.0, 3.0, 5.0])
    one, two = TrialUnits(first, None), TrialUnits(first, second)
    assert one.part(slice(1, 3)).weights(weights, weights).tolist() == [3.0, 5.0]
    assert two.part(slice(1, 3)).weights(weights, weights).tolist() == [15.0, 5.0]
    order = np.array([2, 0, 1])
    assert one.reordered(order).weights(weights, weights).tolist() == [5.0, 1.0, 3.0]
    assert two.reordered(order).weights(weights, weights).tolist() == [5.0, 5.0, 15.0]


def test_degrees_of_freedom_are_persons_less_one() -> None:
    assert PersonWeights(5, None).degrees == 4.0


def test_numbers_of_persons_have_no_gaps() -> None:
    (first, second), present = _renumber(np.array([7, 3, 7]), np.array([5], dtype=np.intp))
    assert (first.tolist(), second.tolist(), present.tolist()) == ([2, 0, 2], [1], [3, 5, 7])
    nobody = np.zeros(0, dtype=np.intp)
    (alone,), present = _renumber(nobody)
    assert (alone.size, present.size) == (0, 0)


def judged(models: list[str], segments: list[str]) -> tuple[bp.Scores, bp.Key, Speakers]:
    """Score all trials; an id begins with its speaker."""
    is_tar = np.array([[model[0] == segment[0] for segment in segments] for model in models])
    matrix = np.arange(is_tar.size, dtype=float).reshape(is_tar.shape)
    return (
        bp.Scores(matrix, models, segments),
        bp.Key(models, segments, is_tar, ~is_tar),
        Speakers(lambda name: name[0]),
    )


def test_sets_are_the_speakers_of_models() -> None:
    scores, key, who = judged(["a1", "a2", "b1"], ["a3", "b2", "c1"])
    resampling = Resampling("one-layer")
    plan = resampling.plan(resampling.sample(scores, key, who, None))
    rng, copy = np.random.default_rng(1), np.random.default_rng(1)
    weights = np.concatenate(plan.draw_weights(rng))
    # a1 a3, a2 a3, b1 b2; then a1 b2, a1 c1, a2 b2, a2 c1, b1 a3, b1 c1: by column of the matrix.
    tar, non = draw_picks(2, copy), draw_picks(2, copy)
    sample = resampling.sample(scores, key, who, None)
    of_tar, of_non = (
        np.unique(side.persons[0], return_inverse=True)[1] for side in (sample.tar, sample.non)
    )
    assert sorted(of_non.tolist()) == [0, 0, 0, 0, 1, 1]
    assert weights.tolist() == [*tar[of_tar], *non[of_non]]


@pytest.mark.parametrize("method", ["one-layer", "two-layer"])
def test_models_of_one_speaker_are_no_sets(method: str) -> None:
    scores, key, who = judged(["a1", "a2"], ["a3", "b1", "c1"])
    with pytest.raises(InvalidInputError, match="have target trials of models of at least two"):
        Resampling(method).sample(scores, key, who, None)
    # b has a target, and no non-target.
    scores, key, who = judged(["a1", "b1"], ["a3", "b2", "c1"])
    is_non = key.non & np.array([[True], [False]])
    alone = bp.Key(*key.ids, key.tar, is_non)
    with pytest.raises(InvalidInputError, match="have non-target trials of models of at least two"):
        Resampling(method).sample(scores, alone, who, None)


@pytest.mark.parametrize("two_layer", [False, True])
def test_each_trial_of_a_set_can_be_drawn(*, two_layer: bool) -> None:
    plan = set_plan([0, 0, 1, 1], two_layer=two_layer)
    rng = np.random.default_rng(2125)
    # A trial is missing from a draw with chance 0.25 at least, and from all 200 with 1e-57 at most.
    drawn = np.array([plan.draw_weights(rng)[0] for _ in range(200)])
    assert (drawn.max(axis=0) > 0).all()
    assert set(drawn.sum(axis=1).tolist()) == {4}


def test_speakers_weights_multiply_in_each_trial() -> None:
    scores, key, who = judged(["a1", "b1", "c1"], ["a3", "b2", "c2"])
    resampling = Resampling("speaker")
    sample = resampling.sample(scores, key, who, None)
    plan = resampling.plan(sample)
    tar, non = plan.draw_weights(np.random.default_rng(3))
    picks = draw_picks(3, np.random.default_rng(3))
    one, other = sample.non.persons
    numbers = np.unique(np.concatenate([one, other]))
    code = {person: number for number, person in enumerate(numbers.tolist())}
    assert tar.tolist() == [picks[code[person]] for person in sample.tar.persons[0].tolist()]
    expected = [picks[code[i]] * picks[code[j]] for i, j in zip(one, other, strict=True)]
    assert non.tolist() == expected
    assert len(set(expected)) > 1


@pytest.mark.parametrize("lacking", [0, 1])
def test_systems_of_other_trials_are_refused(lacking: int) -> None:
    """One trial that one system only has scored, whichever it is."""
    ids, same = ["a", "b"], np.eye(2, dtype=bool)
    key = bp.Key(ids, ids, same, ~same)
    there = np.ones((2, 2), dtype=bool)
    there[0, 1] = False
    systems = [bp.Scores(np.zeros((2, 2)), ids, ids) for _ in range(2)]
    systems[lacking] = bp.Scores(np.zeros((2, 2)), ids, ids, there)
    numbers = f"{lacking} have a score in `scores_a` only and {1 - lacking} in `scores_b` only"
    with pytest.raises(TrialMismatchError, match=numbers):
        check_same_trials((systems[0], systems[1]), key)


@pytest.mark.parametrize("pigeonhole", [False, True])
def test_two_speakers_are_enough(*, pigeonhole: bool) -> None:
    """One is not: all its trials would be drawn together."""
    scores, key, who = judged(["a1", "b1"], ["a2", "b2"])
    resampling = Resampling("speaker", pigeonhole=pigeonhole)
    plan = resampling.plan(resampling.sample(scores, key, who, None))
    tar, non = plan.draw_weights(np.random.default_rng(1))
    # a1 a2, b1 b2; and the other two.
    assert (tar.size, non.size) == (2, 2)
    if pigeonhole:
        scores, key, who = judged(["a1"], ["a2", "b2"])
        with pytest.raises(InvalidInputError, match="have models of at least two speakers"):
            resampling.plan(resampling.sample(scores, key, who, None))


def test_spoofs_have_one_person_and_no_two_sides() -> None:
    scores, key, who = judged(["a1", "b1"], ["a2", "b2"])
    kinds = bp.TrialMetadata(key, {"kind": ["target", "nontarget", "spoof", "target"]})
    with pytest.raises(InvalidInputError, match="`pigeonhole` must be left out where spoofs"):
        Resampling("speaker", pigeonhole=True).kinds_sample(scores, (key, kinds), who)
