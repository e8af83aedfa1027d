"""Scores: alignment, vectors, filling, transforming, merging, stacking; against plain loops."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.trials import Key, Ndx, Scores, scores as tested
from bosaris_py.trials.scores import assemble, scores_of_segments, stack_scores, stack_tar_non
from tests.forms import as_list, contents
from tests.strategies import keys, ndxs, scores


def listed(item: Scores, trials: Ndx | Key, *, of: bool = True) -> list[float]:
    """The scores of the trials of which something is said, column by column, by plain loops."""
    values = contents(item)
    return [values[at] for at, said in contents(trials).items() if said == of and at in values]


@pytest.fixture(autouse=True)
def quiet() -> None:
    """Missing trials are the normal case here; what is said of them is tested elsewhere."""
    warnings.simplefilter("ignore", MissingTrialsWarning)


def test_types_of_scores() -> None:
    for dtype, kept in (("f4", "f4"), ("f2", "f8"), ("i8", "f8"), (">f8", "f8")):
        assert Scores(np.ones((1, 1), dtype), ["m"], ["s"]).scoremat.dtype == kept


@given(scores(), keys())
def test_align(item: Scores, key: Key) -> None:
    ndx, aligned = key.to_ndx(), item.align_with_ndx(key)
    again = aligned.align_with_ndx(ndx)
    assert aligned == item.align_with_ndx(ndx) == again
    assert again.scoremat is aligned.scoremat
    assert [ids.tolist() for ids in aligned.ids] == [ids.tolist() for ids in ndx.ids]
    expected = {at: value for at, value in contents(item).items() if at in contents(ndx)}
    assert contents(aligned) == expected
    tar, non = item.get_tar_non(key)
    assert (tar.tolist(), non.tolist()) == (listed(item, key), listed(item, key, of=False))
    for each in (key, ndx):
        assert item.get_scores(each).tolist() == listed(item, ndx)
    assert {x.dtype for x in (tar, non, aligned.scoremat)} == {item.scoremat.dtype}


@given(scores(), ndxs(), st.sampled_from([0.0, -7.5, np.inf]))
def test_missing_scores_are_filled(item: Scores, ndx: Ndx, value: float) -> None:
    values = contents(item)
    expected = {trial: values.get(trial, value) for trial in contents(ndx)}
    assert contents(item.set_missing_to_value(ndx, value)) == expected


def test_filling_keeps_single_precision_if_it_can() -> None:
    item, ndx = Scores(np.ones((1, 1), np.float32), ["m"], ["a"]), Ndx(["m"], ["a", "b"])
    for value, dtype in ((-0.1, np.float32), (np.inf, np.float32), (1e300, np.float64)):
        filled = item.set_missing_to_value(ndx, value).scoremat
        assert (filled.dtype, filled[0, 1]) == (dtype, dtype(value))


@given(scores())
def test_transform_sees_the_scores_column_by_column(item: Scores) -> None:
    seen: list[float] = []
    same = item.transform(lambda vector: vector)
    assert same == item
    assert same.scoremat.dtype == item.scoremat.dtype
    numbered = item.transform(lambda x: (seen.extend(x.tolist()), np.arange(x.size))[1])
    everything = Ndx(item.modelset, item.segset)
    assert seen == listed(item, everything)
    assert numbered.get_scores(everything).tolist() == list(range(item.n_trials))
    np.testing.assert_array_equal(numbered.scoremask, item.scoremask)


def test_transform_may_change_the_type_and_use_its_argument_as_scratch() -> None:
    single = Scores(np.ones((1, 1), dtype=np.float32), ["m"], ["s"])
    assert single.transform(lambda s: s.astype(np.float64) / 3).scoremat[0, 0] == 1 / 3
    item = Scores([[1.0, 2.0]], ["m"], ["a", "b"])
    assert item.transform(lambda s: np.negative(s, out=s)).scoremat.tolist() == [[-1.0, -2.0]]
    assert item.scoremat.tolist() == [[1.0, 2.0]]
    for bad in (lambda s: s[:1], lambda s: s[:, None], lambda s: s * np.nan, lambda _: "no"):
        with pytest.raises(InvalidInputError):
            item.transform(bad)


def test_equality_looks_at_scores_only() -> None:
    ids, mask = (["m"], ["a", "b"]), [[True, False]]
    one = Scores([[1.0, 2.0]], *ids, mask)
    assert one == Scores([[1.0, np.nan]], *ids, mask)
    assert one == Scores(np.array([[1, 7]], dtype=np.float32), *ids, mask)
    assert one != Ndx(*ids, mask)
    rows = [[np.nan] * 2, [np.nan, 1.0], [1.0, np.nan], [2.0, 1.0]]
    for i, row in enumerate(rows):
        same = [Scores([row], *ids) == Scores([other], *ids) for other in rows]
        assert same == [i == j for j in range(4)]


def test_missing_trials_are_warned_of_at_the_line_of_the_caller() -> None:
    item = Scores([[1.0]], ["m"], ["a"])
    key = Key(["m"], ["a", "b"], [[True, False]], [[False, True]])
    for call in (item.align_with_ndx, item.get_tar_non, item.get_scores):
        with pytest.warns(MissingTrialsWarning) as caught:
            call(key)
        assert {warning.filename for warning in caught} == {__file__}
    for form in (key, as_list(key)):
        with pytest.warns(MissingTrialsWarning):
            assert contents(item.set_missing_to_value(form, -1)) == {("m", "a"): 1, ("m", "b"): -1}


# Several systems


@given(keys(), st.integers(0, 2**16))
def test_rows_are_the_systems(key: Key, seed: int) -> None:
    """Scores for all of a key, with another order of models and segments."""
    rng = np.random.default_rng(seed)
    systems = [
        Scores(
            rng.normal(size=key.shape).astype(dtype),
            *(rng.permutation(ids.copy()) for ids in key.ids),
        )
        for dtype in (np.float64, np.float32)
    ]
    assert stack_scores(systems[0], key).tolist() == stack_scores(systems[:1], key).tolist()
    stack, both = stack_scores(systems, key), stack_tar_non(systems, key)
    assert {each.dtype for each in (stack, *both)} == {np.dtype(np.float64)}
    for row, system in enumerate(systems):
        assert stack[row].tolist() == system.get_scores(key).tolist()
        for mine, theirs in zip(both, system.get_tar_non(key), strict=True):
            assert mine[row].tolist() == theirs.tolist()


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
    some = [Scores([[1.0, 2.0, 3.0][:n]], ["m"], ["a", "b", "c"][:n]) for n in (3, 2)]
    systems = [*some, Scores([], [], [])]
    with pytest.raises(TrialMismatchError, match=r"2 .* 1 of 2 .*; .* 3 .* 1 of 1 .* 2 of 2"):
        stack_tar_non(systems, key)
    with pytest.raises(TrialMismatchError, match=r"b lacks 1 of 3 trials.*; .* c lacks 3 of 3"):
        stack_scores(dict(zip("abc", systems, strict=True)), key)
    assert stack_scores({"a": some[0]}, key).tolist() == [[1.0, 2.0, 3.0]]
    with pytest.raises(TrialMismatchError):
        stack_scores([Scores([[1.0]], ["x"], ["y"])], key)
    assert tested.why_missing(some[1], key) == ""


def test_what_is_no_stack_is_refused() -> None:
    ndx, item = Ndx(["m"], ["a", "b"]), Scores([[1.0, 2.0]], ["m"], ["a", "b"])
    nan = Scores([[1.0, np.nan]], ["m"], ["a", "b"])
    for call in (
        *(lambda x=x: stack_scores(x, ndx) for x in ([], [ndx], [item, ndx], "file", [nan], nan)),
        lambda: stack_scores([item], item),
        lambda: stack_tar_non([item], ndx),
        *(lambda x=x: assemble(x, ndx) for x in ([1.0], [[1.0, 2.0]])),
    ):
        with pytest.raises(InvalidInputError):
            call()


@given(ndxs() | keys(), st.data())
def test_a_segment_has_its_score_in_each_trial(ndx: Ndx | Key, data: st.DataObject) -> None:
    segments = st.sampled_from([*ndx.segset.tolist(), "other"])
    known = data.draw(st.lists(segments, min_size=1, unique=True))
    of_one = dict(zip(known, np.arange(len(known)) + 1.0, strict=True))
    utterances = Scores.from_trials(["cm"] * len(known), known, list(of_one.values()))
    expected = {pair: of_one[pair[1]] for pair in contents(ndx) if pair[1] in of_one}
    assert contents(scores_of_segments(utterances, ndx)) == expected


def test_scores_of_utterances_are_none_of_trials() -> None:
    key = Key(["a", "b"], ["s", "t"], np.eye(2, dtype=bool), ~np.eye(2, dtype=bool))
    refused = Scores([[1.0, 2.0]], ["cm"], ["s", "x"])
    with pytest.raises(InvalidInputError):
        tested.refuse_utterances(refused, key, "cm")
    for models, segments in ((["a"], ["s"]), (["cm"], ["x"]), (["cm", "b"], ["s"])):
        tested.refuse_utterances(Scores(np.ones((len(models), 1)), models, segments), key, "cm")
    with pytest.raises(InvalidInputError):
        scores_of_segments(Scores(np.ones((2, 1)), ["a", "b"], ["s"]), key)


def test_logarithms_of_any_base_become_natural() -> None:
    item = Scores(np.array([[1.0, -0.3]], np.float32), ["m"], ["a", "b"])
    assert tested.to_natural(item, None) is item
    for base in (2, 10.0, np.e):
        found = tested.to_natural(item, base).scoremat
        expected = item.scoremat.astype(float) * np.log(base)
        np.testing.assert_allclose(found, expected, rtol=1e-15, strict=True)
    for bad in (1.0, 0.0, -2.0, np.nan, np.inf):
        with pytest.raises(InvalidInputError):
            tested.to_natural(item, bad)


def test_table_with_metadata_and_gaps() -> None:
    key = Key(["m"], ["s", "t"], [[True, False]], [[False, True]])
    key = key.with_columns(duration=("segment", [1.5, 3.0]))
    scores = Scores([[2.0, 0.0]], ["m"], ["s", "t"], [[True, False]])
    with pytest.warns(MissingTrialsWarning):
        table = tested.to_table(key, scores=scores)
    np.testing.assert_array_equal(table.scores, [2.0, np.nan])
    assert table.columns["duration"].tolist() == [1.5, 3.0]
