"""A full grid, a mask and a list of the same trials give the same answers."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import Conditions, Key, Ndx, Results, Scores
from tests.forms import as_list, as_matrix
from tests.strategies import id_lists, keys, scores

FORMS = st.sampled_from([as_list, as_matrix])
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")


@given(scores(), keys(), FORMS, FORMS)
def test_scores_of_a_key(item: Scores, key: Key, form, key_form) -> None:
    asked, found = key_form(key), form(item)
    for mine, theirs in zip(found.get_tar_non(asked), item.get_tar_non(key), strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)
    np.testing.assert_array_equal(found.get_scores(asked), item.get_scores(key), strict=True)
    assert found.align_with_ndx(asked) == item.align_with_ndx(key)
    filled = found.set_missing_to_value(asked, 0.25)
    assert filled == item.set_missing_to_value(key, 0.25)
    assert filled.n_trials == key.n_trials
    assert filled.is_sparse == asked.is_sparse or filled.n_trials == 0


@given(scores(), keys(), FORMS, id_lists(), id_lists(), st.booleans())
def test_objects_alone(item, key, form, models, segments, keep) -> None:
    for one in (item, key, key.to_ndx()):
        same = form(one)
        assert same == one
        assert as_matrix(same) == as_list(one)
        assert same.records() == one.records()
        assert repr(same) == repr(one)
        assert same.filter(models, segments, keep) == one.filter(models, segments, keep)
    assert form(item).transform(np.negative) == -item
    assert form(key).to_ndx() == key.to_ndx()
    np.testing.assert_array_equal(form(key).labels, key.labels)


@given(keys(), keys(), FORMS, FORMS)
def test_trials_of_one_in_another(one: Key, other: Key, form, other_form) -> None:
    expected, found = one.locate(other), form(one).locate(other_form(other))
    assert (expected is None) == (found is None)
    if expected is not None:
        np.testing.assert_array_equal(found, expected)
    merged = one.to_ndx().merge(other.to_ndx())
    assert form(one.to_ndx()).merge(other_form(other.to_ndx())) == merged


def test_a_list_of_all_cells_is_a_grid() -> None:
    values = np.arange(6.0).reshape(2, 3)
    models, segments = np.repeat(["a", "b"], 3), np.tile(["s", "t", "u"], 2)
    made = Scores.from_trials(models, segments, values.ravel())
    assert made.cells is None
    assert made == Scores(values, ["a", "b"], ["s", "t", "u"])
    assert Ndx.from_trials(models[1:], segments[1:]).is_sparse


def test_a_full_matrix_is_not_copied() -> None:
    values = np.arange(6.0).reshape(2, 3)
    values.setflags(write=False)
    made = Scores(values.view(), ["a", "b"], ["s", "t", "u"])
    assert np.shares_memory(made.scoremat, made.align_with_ndx(Ndx(*made.ids)).scoremat)


def test_a_list_makes_no_matrix_that_does_not_fit() -> None:
    ids = [f"{i}" for i in range(10**6)]
    key = Key.from_trials(ids, ids, np.arange(10**6) % 2 == 0)
    made = Scores.from_trials(ids, ids, np.arange(10**6) % 7 + 0.0)
    results = Results.from_scores(made, key, Conditions({"all": key}))
    assert (results.n_tar, results.n_non) == (5 * 10**5, 5 * 10**5)
    with pytest.raises(ValueError, match="half of the memory"):
        made.scoremat  # noqa: B018


def test_renamed_trials_keep_what_is_known() -> None:
    same = np.eye(2, dtype=bool)
    key = Key(["anna", "bert"], ["s1", "s2"], same, ~same)
    for form in (as_list, as_matrix):
        made = form(key).with_columns(sex=("model", ["f", "m"]), noise=["a", "b", "c", "d"])
        renamed = made.rename(models=str.upper, segments=lambda name: f"{name}.wav")
        assert renamed.modelset.tolist() == ["ANNA", "BERT"]
        assert renamed.segset.tolist() == ["s1.wav", "s2.wav"]
        np.testing.assert_array_equal(renamed.labels, key.labels)
        assert renamed.columns.by_id("sex") == {"ANNA": "f", "BERT": "m"}
        assert renamed.is_sparse == made.is_sparse
        assert renamed.rename(str.lower, lambda name: name[:2]) == made
        with pytest.raises(ValueError, match="each id once"):
            made.rename(models=lambda _: "one")
