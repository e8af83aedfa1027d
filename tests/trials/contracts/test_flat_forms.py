"""Lists of trials: order, repeated trials, and the same meaning as matrices."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import (
    DuplicateTrialWarning,
    InvalidInputError,
    MissingTrialsWarning,
    TrialMismatchError,
)
from bosaris_py.trials import FlatKey, FlatNdx, FlatScores, Key, Ndx, Scores
from tests.strategies import id_lists, keys, ndxs, scores

# Whether all ids are found is another test's business.
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")

M, S = ["m1", "m2"], ["s1", "s2", "s3"]
FLAT_OF = {Ndx: FlatNdx, Key: FlatKey, Scores: FlatScores}


def column_major(mask: np.ndarray) -> tuple[list[int], list[int]]:
    """Return the true cells of a mask, one at a time, models running fastest."""
    cells = [(i, j) for j in range(mask.shape[1]) for i in range(mask.shape[0]) if mask[i, j]]
    return [i for i, _ in cells], [j for _, j in cells]


class TestOrder:
    @given(
        trials=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), unique=True),
        data=st.data(),
    )
    def test_any_order_becomes_column_major(
        self, trials: list[tuple[int, int]], data: st.DataObject
    ) -> None:
        ids = [f"m{i}" for i in range(4)], [f"s{j}" for j in range(4)]
        shuffled = data.draw(st.permutations(trials))
        values = [10.0 * i + j for i, j in shuffled]
        found = FlatScores(values, *ids, [i for i, _ in shuffled], [j for _, j in shuffled])
        expected = sorted(trials, key=lambda trial: (trial[1], trial[0]))
        assert list(zip(found.models.tolist(), found.segments.tolist(), strict=True)) == expected
        assert found.scores.tolist() == [10.0 * i + j for i, j in expected]

    def test_positions_are_short(self) -> None:
        ndx = FlatNdx(M, S, np.array([1, 0], dtype=np.uint64), [2, 2])
        assert ndx.models.dtype == ndx.segments.dtype == np.int32

    def test_scores_keep_their_type(self) -> None:
        for dtype in (np.float32, np.float64):
            found = FlatScores(np.array([2, 1], dtype), M, S, [1, 0], [0, 0])
            assert found.scores.dtype == dtype
            assert found.scores.tolist() == [1.0, 2.0]

    def test_no_trials(self) -> None:
        key = FlatKey(M, S, [], [], [])
        assert (key.n_trials, key.n_tar, key.n_non) == (0, 0, 0)
        assert not key.to_dense().tar.any()
        assert FlatNdx([], [], [], []).to_dense().trialmask.shape == (0, 0)


BAD: list[tuple[Callable[[], object], str]] = [
    (lambda: FlatNdx(["m", "m"], S, [0], [0]), "`modelset` must .* once"),
    (lambda: FlatNdx(M, S, ["m1"], [0]), "be positions in `modelset`, .*there is from_trials"),
    (lambda: FlatNdx(M, S, [0.0], [0]), "`models` must be positions"),
    (lambda: FlatNdx(M, S, [True], [0]), "`models` must be positions"),
    (lambda: FlatNdx(M, S, [[0]], [0]), "`models` must be one-dimensional"),
    (
        lambda: FlatNdx(M, S, [0, 2], [0, 0]),
        r"`models` .* positions in `modelset`, from 0 to 1; got 2 for item 1 \(1 of 2",
    ),
    (lambda: FlatNdx(M, S, [0], [-1]), "`segments` .* from 0 to 2; got -1 for item 0"),
    (lambda: FlatNdx(M, [], [0], [0]), "`segments` must fit `segset`.*is empty"),
    (lambda: FlatNdx(M, S, [0, 1], [0]), "`segments` .* one position for each of the 2 trials"),
    (lambda: FlatKey(M, S, [0], [0], [1]), "`is_target` must be boolean"),
    (lambda: FlatKey(M, S, [0], [0], [True, False]), "`is_target` must have one value"),
    (
        lambda: FlatKey(M, S, [0, 1, 0], [1, 1, 1], [True, True, False]),
        r"`is_target` .* the same for a trial listed twice; got .* 1 trial: \(m1, s2\)",
    ),
    (
        lambda: FlatScores([1.0, 1.0, 2.0], M, S, [0, 1, 0], [1, 1, 1]),
        r"`scores` .* the same for a trial listed twice; got .* 1 trial: \(m1, s2\)",
    ),
    (lambda: FlatScores([1.0], M, S, [0, 1], [0, 0]), "`scores` must have one value"),
    (lambda: FlatScores([[1.0]], M, S, [0], [0]), "`scores` must be one-dim"),
    (
        lambda: FlatKey.from_trials(["m", "m"], ["s", "s"], [True, False]),
        r"`is_target` .* 1 trial: \(m, s\).$",
    ),
    (
        lambda: FlatKey.from_trials(["m"] * 6, ["s"] * 6, [True, *[False] * 5]),
        r"different values for 1 trial: \(m, s\) in 5 lines.$",
    ),
    (lambda: FlatNdx.from_trials(["m", "m"], ["s"]), "`segments` must"),
    (
        lambda: FlatNdx(M, S, [0], [0]).to_dense(max_cells=5),
        "`max_cells` must be at least 6, for 2 models x 3 segments; got 5",
    ),
    (lambda: FlatKey(M, S, [0], [0], [True]).to_dense(max_cells=5), "`max_cells`"),
    (lambda: FlatNdx(M, S, [[0], [0, 1]], [0]), "`models` .* different lengths"),
    (lambda: FlatNdx(M, S, np.ma.array([0], mask=[1]), [0]), "got a masked array"),
    (
        lambda: FlatNdx(M, S, [0], [0]).to_dense(max_cells=None),  # type: ignore[arg-type]
        "`max_cells` must be a number of cells; got None",
    ),
    (lambda: FlatScores([1], M, S, [0], [0]).to_dense(max_cells=5), "`max_cells`"),
    (
        lambda: FlatScores([1], M, S, [0], [0]).transform(lambda x: x * np.nan),
        "`func` must not return NaN; got NaN for 1 of 1",
    ),
    (
        lambda: FlatScores([1], M, S, [0], [0]).transform(lambda _: [1, 2]),
        "`func` must return one score for each",
    ),
    (
        lambda: FlatScores([1], M, S, [0], [0]).get_tar_non(FlatNdx(M, S, [0], [0])),  # type: ignore[arg-type]
        "`key` must be a Key, which says what the targets are",
    ),
    (
        lambda: FlatScores([1], M, S, [0], [0]).align_with_ndx("ndx"),  # type: ignore[call-overload]
        "`ndx` must be an Ndx or a Key",
    ),
    (
        lambda: FlatScores([1], M, S, [0], [0]).set_missing_to_value(
            FlatNdx(M, S, [0], [0]), float("nan")
        ),
        "`value` must be a number",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_input_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()


class TestTrialsListedTwice:
    """The same trial again, or the same two segments the other way round."""

    @pytest.mark.parametrize(
        "build",
        [
            lambda models, segments: FlatNdx(M, S, models, segments),
            lambda models, segments: FlatKey(M, S, models, segments, [True, True, True]),
            lambda models, segments: FlatScores([5.0, 5.0, 5.0], M, S, models, segments),
            # NaN agrees with itself.
            lambda models, segments: FlatScores([np.nan] * 3, M, S, models, segments),
        ],
    )
    def test_counts_once(self, build: Callable[..., Any]) -> None:
        with pytest.warns(DuplicateTrialWarning, match=r"left out, 1 trial: \(m2, s1\)") as record:
            found = build([1, 0, 1], [0, 1, 0])
        assert len(record) == 1
        assert (found.models.tolist(), found.segments.tolist()) == ([1, 0], [0, 1])

    def test_by_ids(self) -> None:
        models, segments = ["b", "a", "b"], ["x", "x", "x"]
        for build in (
            lambda: FlatNdx.from_trials(models, segments),
            lambda: FlatKey.from_trials(models, segments, [True, False, True]),
            lambda: FlatScores.from_trials(models, segments, [1, 2, 1]),
        ):
            with pytest.warns(DuplicateTrialWarning, match=r"1 trial: \(b, x\)"):
                assert build().models.tolist() == [0, 1]

    def test_first_few_are_named(self) -> None:
        models = [0] * 20
        with pytest.warns(DuplicateTrialWarning, match=r"10 trials: \(m, s0\), .*\.\.\."):
            FlatNdx(["m"], [f"s{j}" for j in range(10)], models, [*range(10), *range(10)])


@given(ndxs() | keys() | scores())
def test_flat_and_back(dense: Any) -> None:
    flat = dense.to_flat()
    assert type(flat) is FLAT_OF[type(dense)]
    mask = dense.scoremask if isinstance(dense, Scores) else dense.trial_mask
    assert tuple(map(np.ndarray.tolist, flat.trial_positions())) == column_major(mask)
    again = flat.to_dense()
    assert again.to_flat() == flat
    if not isinstance(dense, Scores):
        assert again == dense
    else:
        # What lies under a false mask is not kept.
        np.testing.assert_array_equal(again.scoremask, dense.scoremask)
        np.testing.assert_array_equal(again.scoremat[mask], dense.scoremat[mask])


@given(keys())
def test_positions_and_labels_are_those_of_the_matrix(key: Key) -> None:
    flat = key.to_flat()
    for form in (key, flat):
        models, segments = form.trial_positions()
        assert (models.tolist(), segments.tolist()) == column_major(key.tar | key.non)
        assert form.trial_labels().tolist() == key.tar[models, segments].tolist()
        assert (form.n_tar, form.n_non) == (key.tar.sum(), key.non.sum())
        assert form.n_trials == form.n_tar + form.n_non
    assert flat.to_ndx().to_dense() == key.to_ndx()


def lookup(scores: Scores) -> dict[tuple[str, str], float]:
    """Return the scores by ids."""
    return {
        (str(model), str(segment)): float(scores.scoremat[i, j])
        for i, model in enumerate(scores.modelset)
        for j, segment in enumerate(scores.segset)
        if scores.scoremask[i, j]
    }


@given(scores=scores(), key=keys())
def test_alignment_by_hand(scores: Scores, key: Key) -> None:
    """A dictionary of ids is another way to find scores."""
    known = lookup(scores)
    models, segments = column_major(key.tar | key.non)
    wanted = [
        (str(key.modelset[i]), str(key.segset[j])) for i, j in zip(models, segments, strict=True)
    ]
    expected = [known[trial] for trial in wanted if trial in known]
    labels = dict(zip(wanted, key.trial_labels().tolist(), strict=True))
    tar = [known[trial] for trial in wanted if trial in known and labels[trial]]
    non = [known[trial] for trial in wanted if trial in known and not labels[trial]]
    for some_scores in (scores, scores.to_flat()):
        for some_key in (key, key.to_flat()):
            assert some_scores.get_scores(some_key).tolist() == expected
            found = some_scores.get_tar_non(some_key)
            assert (found[0].tolist(), found[1].tolist()) == (tar, non)
            aligned = some_scores.align_with_ndx(some_key)
            assert type(aligned) is (Scores if isinstance(some_key, Key) else FlatScores)
            assert aligned.modelset.tolist() == key.modelset.tolist()
            assert aligned.get_scores(some_key).tolist() == expected
            filled = some_scores.set_missing_to_value(some_key.to_ndx(), 0.25)
            assert filled.get_scores(some_key).tolist() == [
                known.get(trial, 0.25) for trial in wanted
            ]


@given(item=ndxs() | keys() | scores(), models=id_lists(), segments=id_lists(), keep=st.booleans())
def test_filter_is_that_of_the_matrix(
    item: Any,
    models: list[str],
    segments: list[str],
    keep: bool,  # noqa: FBT001
) -> None:
    assert item.to_flat().filter(models, segments, keep) == (
        item.filter(models, segments, keep).to_flat()
    )


@given(data=st.data(), strategy=st.sampled_from([ndxs(), keys(), scores()]))
def test_merge_is_that_of_the_matrix(data: st.DataObject, strategy: Any) -> None:
    items = data.draw(st.lists(strategy, min_size=1, max_size=3))
    flat = [item.to_flat() for item in items]
    try:
        expected = type(items[0]).merge(*items)
    except TrialMismatchError as error:
        with pytest.raises(TrialMismatchError, match=re.escape(str(error))):
            type(flat[0]).merge(*flat)
    else:
        assert type(flat[0]).merge(*flat) == expected.to_flat()


def test_merge_takes_objects_of_one_form() -> None:
    flat = FlatNdx(M, S, [0], [0])
    with pytest.raises(InvalidInputError, match="must all be FlatNdx"):
        flat.merge(flat.to_dense())  # type: ignore[arg-type]


@given(scores=scores())
def test_transform_is_that_of_the_matrix(scores: Scores) -> None:
    def double(values: Any) -> Any:
        return 2 * values + 1

    assert scores.to_flat().transform(double) == scores.transform(double).to_flat()


class TestNan:
    scores = FlatScores([np.nan, 1.0, np.nan], M, S, [0, 1, 1], [0, 0, 2])

    def test_of_wanted_trials_is_counted_and_named(self) -> None:
        for key in (FlatKey(M, S, [0, 1, 1], [0, 0, 2], [True, False, True]), Ndx(M, S)):
            with pytest.raises(
                InvalidInputError,
                match=r"`scores` must not hold NaN .* 2 trials: \(m1, s1\), \(m2,",
            ):
                self.scores.get_scores(key)

    def test_of_other_trials_does_no_harm(self) -> None:
        assert self.scores.get_scores(FlatNdx(M, S, [1], [0])).tolist() == [1.0]


def test_missing_trials_are_counted() -> None:
    scores = FlatScores([1.0, 2.0], M, S, [0, 1], [0, 1])
    key = FlatKey(["m1", "m3"], ["s1", "s2"], [0, 0, 1], [0, 1, 1], [True, False, True])
    for some_key in (key, key.to_dense()):
        with pytest.warns(MissingTrialsWarning) as record:
            scores.get_tar_non(some_key)
        assert [str(each.message) for each in record] == [
            "models reduced from 2 to 1",
            "1 of 2 targets missing.",
            "1 of 1 non-targets missing.",
        ]


class TestManyIds:
    """A matrix of these trials would have 10^10 cells."""

    n_ids = 100_000

    def list_of(self, order: np.ndarray) -> FlatScores:
        """Return scores of trials scattered over all ids; ids in some order."""
        models = np.array([f"m{i:06}" for i in range(self.n_ids)])
        segments = np.array([f"s{j:06}" for j in range(self.n_ids)])
        places = np.argsort(order)
        trials = np.arange(1000)
        rows, cols = trials * 7919 % self.n_ids, trials * 104_729 % self.n_ids
        return FlatScores(trials, models[order], segments[order], places[rows], places[cols])

    @pytest.mark.slow
    def test_in_another_order(self) -> None:
        plain = self.list_of(np.arange(self.n_ids))
        other = self.list_of(np.random.default_rng(0).permutation(self.n_ids))
        ndx = FlatNdx(plain.modelset, plain.segset, plain.models, plain.segments)
        assert other.align_with_ndx(ndx) == plain
        shuffled = FlatNdx(other.modelset, other.segset, other.models, other.segments)
        assert plain.align_with_ndx(shuffled) == other
        assert other.filter(plain.modelset, plain.segset, keep=True) == other
        assert FlatScores.merge(other) == plain

    def test_some_trials(self) -> None:
        plain = self.list_of(np.arange(self.n_ids))
        chosen = slice(None, None, 3)
        ndx = FlatNdx(plain.modelset, plain.segset, plain.models[chosen], plain.segments[chosen])
        assert plain.get_scores(ndx).tolist() == plain.scores[chosen].tolist()
        found = plain.align_with_ndx(ndx)
        assert found.align_with_ndx(plain_ndx(plain)) == found

    def test_too_many_for_a_matrix(self) -> None:
        with pytest.raises(InvalidInputError, match="must be at least 10000000000"):
            self.list_of(np.arange(self.n_ids)).to_dense()


def plain_ndx(scores: FlatScores) -> FlatNdx:
    return FlatNdx(scores.modelset, scores.segset, scores.models, scores.segments)
