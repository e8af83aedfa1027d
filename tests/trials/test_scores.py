"""Scores: alignment, vectors, filling, transforming, merging, stacking; against plain loops."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.trials import Key, Ndx, Scores
from bosaris_py.trials.scores import (
    assemble,
    refuse_utterances,
    scores_of_segments,
    stack_scores,
    stack_tar_non,
    to_natural,
    to_table,
)
from tests.forms import as_list
from tests.strategies import id_lists, keys, names, ndxs, scores, scores_on


def values_of(item: Scores) -> dict[tuple[str, str], float]:
    """The score of each trial that has one, by plain loops."""
    return {
        (model, segment): float(item.scoremat[i, j])
        for i, model in enumerate(item.modelset.tolist())
        for j, segment in enumerate(item.segset.tolist())
        if item.scoremask[i, j]
    }


def listed(item: Scores, mask: np.ndarray, target: Ndx | Key) -> list[float]:
    """The scores under a mask of another object, column by column, by plain loops."""
    values = values_of(item)
    return [
        values[model, segment]
        for j, segment in enumerate(target.segset.tolist())
        for i, model in enumerate(target.modelset.tolist())
        if mask[i, j] and (model, segment) in values
    ]


@pytest.fixture(autouse=True)
def quiet() -> None:
    """Missing trials are the normal case here; what is said of them is tested elsewhere."""
    warnings.simplefilter("ignore", MissingTrialsWarning)


def test_all_scores_by_default() -> None:
    assert Scores([[1, 2]], ["m"], ["a", "b"]).scoremask.all()
    assert repr(Scores([], [], [])) == "Scores: 0 models x 0 segments, 0 scores"


def test_types_of_scores() -> None:
    for given_type, kept in (
        (np.float32, np.float32),
        (np.float64, np.float64),
        (np.float16, np.float64),
        (np.int64, np.float64),
        (">f8", np.float64),
    ):
        assert Scores(np.ones((1, 1), dtype=given_type), ["m"], ["s"]).scoremat.dtype == kept


@given(scores(), ndxs())
def test_align(item: Scores, ndx: Ndx) -> None:
    aligned = item.align_with_ndx(ndx)
    assert aligned.modelset.tolist() == ndx.modelset.tolist()
    assert aligned.segset.tolist() == ndx.segset.tolist()
    values = values_of(item)
    wanted = {
        (m, s)
        for i, m in enumerate(ndx.modelset.tolist())
        for j, s in enumerate(ndx.segset.tolist())
        if ndx.trialmask[i, j]
    }
    assert values_of(aligned) == {t: v for t, v in values.items() if t in wanted}
    assert aligned.scoremat.dtype == item.scoremat.dtype


@given(scores(), ndxs())
def test_align_twice_is_align_once(item: Scores, ndx: Ndx) -> None:
    aligned = item.align_with_ndx(ndx)
    again = aligned.align_with_ndx(ndx)
    assert again == aligned
    assert again.scoremat is aligned.scoremat


@given(scores(), keys())
def test_align_with_a_key_is_align_with_its_trials(item: Scores, key: Key) -> None:
    assert item.align_with_ndx(key) == item.align_with_ndx(key.to_ndx())


@given(scores(), keys())
def test_vectors_are_column_major(item: Scores, key: Key) -> None:
    tar, non = item.get_tar_non(key)
    assert tar.tolist() == listed(item, key.tar, key)
    assert non.tolist() == listed(item, key.non, key)
    assert item.get_scores(key).tolist() == listed(item, key.tar | key.non, key)
    assert item.get_scores(key.to_ndx()).tolist() == item.get_scores(key).tolist()
    assert tar.dtype == non.dtype == item.scoremat.dtype


@given(st.data(), st.sampled_from([np.float32, np.float64]))
def test_order_of_the_key_not_of_the_scores(data: st.DataObject, dtype: type) -> None:
    key = data.draw(keys(min_size=2))
    shape = (key.modelset.size, key.segset.size)
    item = Scores(np.arange(shape[0] * shape[1], dtype=dtype).reshape(shape), *ids(key))
    models = data.draw(st.permutations(key.modelset.tolist()))
    segments = data.draw(st.permutations(key.segset.tolist()))
    moved = item.align_with_ndx(Ndx(models, segments))
    for one, other in zip(item.get_tar_non(key), moved.get_tar_non(key), strict=True):
        assert one.tolist() == other.tolist()


def ids(item: Key) -> tuple[np.ndarray, np.ndarray]:
    return item.modelset, item.segset


@given(scores(), ndxs(), st.sampled_from([0.0, -7.5, np.inf]))
def test_missing_scores_are_filled(item: Scores, ndx: Ndx, value: float) -> None:
    filled = item.set_missing_to_value(ndx, value)
    assert np.array_equal(filled.scoremask, ndx.trialmask)
    values = values_of(item)
    for trial, score in values_of(filled).items():
        assert score == values.get(trial, value)


def test_filling_a_key_fills_all_its_trials() -> None:
    key = Key(["m"], ["a", "b", "c"], [[True, False, False]], [[False, True, False]])
    item = Scores([[5.0, 9.0]], ["m"], ["a", "c"])
    with pytest.warns(MissingTrialsWarning, match="1 of 2 trials missing"):
        filled = item.set_missing_to_value(key, -1)
    assert values_of(filled) == {("m", "a"): 5.0, ("m", "b"): -1.0}


def test_filling_keeps_single_precision_if_it_can() -> None:
    item = Scores(np.ones((1, 1), dtype=np.float32), ["m"], ["a"])
    ndx = Ndx(["m"], ["a", "b"])
    for value, dtype in ((-0.1, np.float32), (np.inf, np.float32), (1e300, np.float64)):
        filled = item.set_missing_to_value(ndx, value)
        assert filled.scoremat.dtype == dtype
        assert filled.scoremat[0, 1] == dtype(value)


@given(scores())
def test_transform_sees_the_scores_column_by_column(item: Scores) -> None:
    seen: list[float] = []

    def number(vector: np.ndarray) -> np.ndarray:
        seen.extend(vector.tolist())
        return np.arange(vector.size)

    numbered = item.transform(number)
    everything = Ndx(item.modelset, item.segset)
    assert seen == listed(item, everything.trialmask, everything)
    assert numbered.get_scores(everything).tolist() == list(range(item.n_trials))
    np.testing.assert_array_equal(numbered.scoremask, item.scoremask)


@given(scores())
def test_transform_by_the_identity(item: Scores) -> None:
    same = item.transform(lambda vector: vector)
    assert same == item
    assert same.scoremat.dtype == item.scoremat.dtype


def test_transform_to_double_precision() -> None:
    item = Scores(np.ones((1, 1), dtype=np.float32), ["m"], ["s"])
    assert item.transform(lambda s: s.astype(np.float64) / 3).scoremat[0, 0] == 1 / 3


def test_transform_may_use_its_argument_as_scratch() -> None:
    item = Scores([[1.0, 2.0]], ["m"], ["a", "b"])

    def negate(vector: np.ndarray) -> np.ndarray:
        vector *= -1
        return vector

    assert item.transform(negate).scoremat.tolist() == [[-1.0, -2.0]]
    assert item.scoremat.tolist() == [[1.0, 2.0]]


@given(scores(), scores(), scores())
def test_merge(a: Scores, b: Scores, c: Scores) -> None:
    parts = [values_of(item) for item in (a, b, c)]
    union = {trial: value for part in parts for trial, value in part.items()}
    if len(union) < sum(map(len, parts)):
        with pytest.raises(TrialMismatchError, match=r"hold two scores for \d+ trial"):
            Scores.merge(a, b, c)
        return
    merged = Scores.merge(a, b, c)
    assert values_of(merged) == union
    assert merged == c.merge(a, b) == Scores.merge(Scores.merge(a, b), c) == a.merge(b.merge(c))
    doubles = [item.scoremat.dtype == np.float64 for item in (a, b, c)]
    assert merged.scoremat.dtype == (np.float64 if any(doubles) else np.float32)


@given(scores(), id_lists())
def test_parts_of_scores_merge_to_the_scores(item: Scores, models: list[str]) -> None:
    kept = item.filter(models, item.segset, keep=True)
    rest = item.filter(models, [], keep=False)
    assert Scores.merge(kept, rest) == Scores.merge(item)


@given(scores(), id_lists(), id_lists(), st.booleans())
def test_filter(
    item: Scores,
    models: list[str],
    segments: list[str],
    keep: bool,  # noqa: FBT001
) -> None:
    expected = {
        (m, s): value
        for (m, s), value in values_of(item).items()
        if (m in models) == keep and (s in segments) == keep
    }
    assert values_of(item.filter(models, segments, keep)) == expected


@given(st.dictionaries(st.tuples(names(), names()), st.floats(), max_size=10), st.data())
def test_from_trials(values: dict[tuple[str, str], float], data: st.DataObject) -> None:
    again = data.draw(st.lists(st.sampled_from(sorted(values)))) if values else []
    trials = [*values, *again]
    item = Scores.from_trials(
        [m for m, _ in trials], [s for _, s in trials], [values[trial] for trial in trials]
    )
    found = values_of(item)
    assert found.keys() == values.keys()
    assert np.array_equal(list(found.values()), [values[t] for t in found], equal_nan=True)


@given(st.data())
def test_what_lies_under_a_false_mask_never_matters(data: st.DataObject) -> None:
    """Two objects that differ only there give the same results everywhere."""
    models, segments = data.draw(id_lists(1)), data.draw(id_lists(1))
    clean = data.draw(scores_on(models, segments))
    junk = data.draw(hnp.arrays(np.float64, (len(models), len(segments)), elements=st.floats()))
    with np.errstate(over="ignore", invalid="ignore"):
        noise = junk.astype(clean.scoremat.dtype)
    dirty = Scores(
        np.where(clean.scoremask, clean.scoremat, noise), models, segments, clean.scoremask
    )
    key, other = data.draw(keys()), data.draw(scores())
    assert dirty == clean
    assert dirty.align_with_ndx(key) == clean.align_with_ndx(key)
    assert dirty.set_missing_to_value(key, 0.5) == clean.set_missing_to_value(key, 0.5)
    assert dirty.get_scores(key).tolist() == clean.get_scores(key).tolist()
    assert dirty.transform(np.negative) == clean.transform(np.negative)
    everything_filled = dirty.set_missing_to_value(Ndx(models, segments), 0.0)
    assert not np.isnan(everything_filled.scoremat).any()
    try:
        merged = clean.merge(other)
    except TrialMismatchError:
        return
    assert dirty.merge(other) == merged
    assert not np.isnan(merged.scoremat).any()


def test_equality_looks_at_scores_only() -> None:
    mask = [[True, False]]
    one = Scores([[1.0, 2.0]], ["m"], ["a", "b"], mask)
    assert one == Scores([[1.0, np.nan]], ["m"], ["a", "b"], mask)
    assert one == Scores(np.array([[1, 7]], dtype=np.float32), ["m"], ["a", "b"], mask)
    assert one != Scores([[1.5, 2.0]], ["m"], ["a", "b"], mask)
    assert one != Scores([[1.0, 2.0]], ["m"], ["a", "b"])
    assert one != Scores([[1.0, 2.0]], ["m"], ["a", "c"], mask)
    assert one != Ndx(["m"], ["a", "b"], mask)
    nan = Scores([[np.nan]], ["m"], ["a"])
    assert nan == Scores([[np.nan]], ["m"], ["a"])
    assert nan != Scores([[0.0]], ["m"], ["a"])


def test_warnings_point_at_the_line_of_the_caller() -> None:
    item = Scores([[1.0]], ["m"], ["a"])
    key = Key(["m"], ["a", "b"], [[True, False]], [[False, True]])
    calls = [
        lambda: item.align_with_ndx(key),
        lambda: item.get_tar_non(key),
        lambda: item.get_scores(key),
        lambda: item.set_missing_to_value(key, 0),
    ]
    for call in calls:
        with pytest.warns(MissingTrialsWarning) as caught:
            call()
        assert {warning.filename for warning in caught} == {__file__}
        assert {warning.lineno for warning in caught} == {call.__code__.co_firstlineno}


def test_complete_scores_do_not_warn(recwarn: pytest.WarningsRecorder) -> None:
    warnings.simplefilter("always")
    item = Scores([[1.0, 2.0, 3.0]], ["m"], ["a", "b", "c"])
    item.get_tar_non(Key(["m"], ["c", "a"], [[True, False]], [[False, True]]))
    assert not recwarn.list


def test_every_clash_of_a_merge_is_named() -> None:
    # The third object clashes with the first elsewhere than the second does.
    first = Scores([[1.0, 2.0]], ["m"], ["s", "t"])
    second = Scores([[1.0, 0.0]], ["m"], ["s", "t"], [[True, False]])
    third = Scores([[0.0, 1.0]], ["m"], ["s", "t"], [[False, True]])
    message = r"^The scores to be merged hold two scores for [12] trials?: \(m, s\)"
    with pytest.raises(TrialMismatchError, match=message):
        first.merge(second, third)
    with pytest.raises(TrialMismatchError, match=message):
        as_list(first).merge(as_list(second), as_list(third))


def test_equal_scores_lack_a_value_at_the_same_places() -> None:
    ids = ["m"], ["a", "b"]
    both, first, none = (Scores([row], *ids) for row in ([np.nan] * 2, [np.nan, 1.0], [2.0, 1.0]))
    assert both == Scores([[np.nan, np.nan]], *ids)
    assert first == Scores([[np.nan, 1.0]], *ids)
    for one, other in ((both, first), (first, none), (both, none)):
        assert one != other
        assert other != one


def test_scores_of_another_class_are_not_equal() -> None:
    class Others(Scores):
        """Of what a caller derives."""

    given = [[1.0]], ["m"], ["s"]
    assert Scores(*given) == Scores(*given)
    assert Scores(*given) != Others(*given)
    assert Others(*given) != Scores(*given)
    assert Others(*given) == Others(*given)


# Several systems


def complete(key: Key, rng: np.random.Generator, dtype: type = np.float64) -> Scores:
    """Scores for all of a key, with another order of models and segments."""
    models = rng.permutation(key.modelset.tolist())
    segments = rng.permutation(key.segset.tolist())
    values = rng.standard_normal((len(models), len(segments))).astype(dtype)
    return Scores(values, models, segments)


@given(keys(), st.integers(0, 2**16))
def test_rows_are_the_systems(key: Key, seed: int) -> None:
    rng = np.random.default_rng(seed)
    systems = [complete(key, rng), complete(key, rng, np.float32)]
    stack = stack_scores(systems, key)
    tar, non = stack_tar_non(systems, key)
    assert stack.dtype == tar.dtype == np.float64
    for row, system in enumerate(systems):
        assert stack[row].tolist() == system.get_scores(key).tolist()
        one, other = system.get_tar_non(key)
        assert tar[row].tolist() == one.tolist()
        assert non[row].tolist() == other.tolist()


@given(ndxs() | keys(), st.sampled_from([np.float32, np.float64]))
def test_assemble_undoes_stack(ndx: Ndx | Key, dtype: type) -> None:
    vector = np.arange(ndx.n_trials, dtype=dtype)
    item = assemble(vector, ndx)
    assert item.scoremat.dtype == dtype
    assert item.align_with_ndx(ndx) == item
    assert stack_scores([item], ndx).tolist() == [vector.tolist()]
    assert not item.scoremat[~item.scoremask].any()


def test_missing_scores_are_counted_for_every_system() -> None:
    key = Key(["m"], ["a", "b", "c"], [[True, False, False]], [[False, True, True]])
    whole = Scores([[1.0, 2.0, 3.0]], ["m"], ["a", "b", "c"])
    half = Scores([[1.0, 2.0]], ["m"], ["a", "b"])
    none = Scores([], [], [])
    message = (
        r"system 2 lacks 1 of 2 non-targets; "
        r"system 3 lacks 1 of 1 targets and 2 of 2 non-targets\."
    )
    with pytest.raises(TrialMismatchError, match=message):
        stack_tar_non([whole, half, none], key)
    message = r"system 2 lacks 1 of 3 trials; system 3 lacks 3 of 3 trials\."
    with pytest.raises(TrialMismatchError, match=message):
        stack_scores([whole, half, none], key)


def test_what_is_no_stack_is_refused() -> None:
    ndx, item = Ndx(["m"], ["a", "b"]), Scores([[1.0, 2.0]], ["m"], ["a", "b"])
    nan = Scores([[1.0, np.nan]], ["m"], ["a", "b"])
    for systems, trials in (([], ndx), ([ndx], ndx), ([item], item), ([nan], ndx), (nan, ndx)):
        with pytest.raises(InvalidInputError):
            stack_scores(systems, trials)
    with pytest.raises(InvalidInputError):
        stack_tar_non([item], ndx)
    for vector in ([1.0], [[1.0, 2.0]]):
        with pytest.raises(InvalidInputError):
            assemble(vector, ndx)


def test_one_system_stands_for_a_list_of_it() -> None:
    key = Key(["m"], ["a", "b"], [[True, False]], [[False, True]])
    scores = Scores([[1.0, 2.0]], ["m"], ["a", "b"])
    assert stack_scores(scores, key).tolist() == [[1.0, 2.0]]
    assert [each.tolist() for each in stack_tar_non(scores, key)] == [[[1.0]], [[2.0]]]


@given(ndxs() | keys(), st.data())
def test_a_segment_has_its_score_in_each_trial(ndx: Ndx | Key, data: st.DataObject) -> None:
    known = data.draw(st.lists(st.sampled_from([*ndx.segset.tolist(), "other"]), unique=True))
    of_one = dict(zip(known, np.arange(len(known)) + 1.0, strict=True))
    if not known:
        return
    utterances = Scores.from_trials(["cm"] * len(known), known, list(of_one.values()))
    found = values_of(scores_of_segments(utterances, ndx))
    rows, cols = (x.tolist() for x in ndx.trial_positions())
    pairs = zip(ndx.modelset[rows].tolist(), ndx.segset[cols].tolist(), strict=True)
    assert found == {pair: of_one[pair[1]] for pair in pairs if pair[1] in of_one}


def test_scores_of_utterances_are_none_of_trials() -> None:
    key = Key(["a", "b"], ["s", "t"], np.eye(2, dtype=bool), ~np.eye(2, dtype=bool))
    refused = Scores([[1.0, 2.0]], ["cm"], ["s", "x"])
    with pytest.raises(InvalidInputError):
        refuse_utterances(refused, key, "cm")
    for models, segments in ((["a"], ["s"]), (["cm"], ["x"]), (["cm", "b"], ["s"])):
        refuse_utterances(Scores(np.ones((len(models), 1)), models, segments), key, "cm")
    with pytest.raises(InvalidInputError):
        scores_of_segments(Scores(np.ones((2, 1)), ["a", "b"], ["s"]), key)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithms_of_any_base_become_natural(dtype: type) -> None:
    item = Scores(np.array([[1.0, -0.3]], dtype), ["m"], ["a", "b"])
    assert to_natural(item, None) is item
    for base in (2, 10.0, np.e):
        found = to_natural(item, base).scoremat
        np.testing.assert_allclose(found, item.scoremat.astype(float) * np.log(base), rtol=1e-15)
        assert found.dtype == np.float64
    for bad in (1.0, 0.0, -2.0, np.nan, np.inf):
        with pytest.raises(InvalidInputError):
            to_natural(item, bad)


def test_like_the_toolkit(oracle: Path) -> None:
    """fusion_quality.npz: the toolkit's stackScores of two systems on 12 x 25 trials."""
    stored = np.load(oracle / "fusion_quality.npz")
    shape = stored["dev_s1"].shape
    models = [f"m{i:02d}" for i in range(shape[0])]
    segments = [f"s{j:02d}" for j in range(shape[1])]
    key = Key(models, segments, stored["dev_tar"].astype(bool), stored["dev_non"].astype(bool))
    systems = [Scores(stored[f"dev_s{k}"], models, segments) for k in (1, 2)]
    assert stack_scores(systems, key).tolist() == stored["stack_scores"].tolist()


def test_table_with_metadata_and_gaps() -> None:
    key = Key(["m"], ["s", "t"], [[True, False]], [[False, True]])
    key = key.with_columns(duration=("segment", [1.5, 3.0]))
    scores = Scores([[2.0, 0.0]], ["m"], ["s", "t"], [[True, False]])
    with pytest.warns(MissingTrialsWarning):
        table = to_table(key, scores=scores)
    np.testing.assert_array_equal(table.scores, [2.0, np.nan])
    duration = table.columns["duration"]
    assert isinstance(duration, np.ndarray)
    assert duration.tolist() == [1.5, 3.0]
    assert len(to_table(scores=scores)) == 1
    with pytest.raises(InvalidInputError, match="`ndx` must be"):
        to_table()
