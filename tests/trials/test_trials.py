"""A full grid, a mask and a list of the same trials give the same answers, in memory and files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bosaris_py as bp
from bosaris_py import Conditions, Key, Ndx, Results, Scores
from bosaris_py.errors import InvalidInputError
from bosaris_py.trials import trials
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


@given(scores(), keys(), FORMS, id_lists(), id_lists(), st.booleans())
def test_objects_alone(item, key, form, models, segments, keep) -> None:
    for one in (item, key, key.to_ndx(), item.to_ndx()):
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
def test_unions(one: Key, other: Key, form, other_form) -> None:
    merged = one.to_ndx().merge(other.to_ndx())
    assert form(one.to_ndx()).merge(other_form(other.to_ndx())) == merged


IDS = [f"{i}" for i in range(10)]
CELLS = st.sets(st.integers(0, 99), max_size=40) | st.just(set(range(100)))


def pairs_of(ndx: Ndx) -> list[tuple[str, str]]:
    models, segments = ndx.trial_positions()
    return list(zip(ndx.modelset[models].tolist(), ndx.segset[segments].tolist(), strict=True))


@given(
    listed=CELLS,
    wanted=CELLS,
    order=st.permutations(range(10)),
    form=FORMS,
    other_form=FORMS,
    search=st.booleans(),
)
def test_trials_of_one_in_another(listed, wanted, order, form, other_form, *, search: bool) -> None:
    """Against a dictionary; ids in another order, one unknown; by a table or by a search."""
    masks = np.zeros((2, 10, 10), dtype=bool)
    for mask, cells in zip(masks, (listed, wanted), strict=True):
        mask.T.reshape(-1)[list(cells)] = True
    source = form(Ndx(IDS, IDS, masks[0]))
    asked = other_form(Ndx([IDS[at] if at else "unknown" for at in order], IDS, masks[1]))
    with pytest.MonkeyPatch.context() as patch:
        if search:
            patch.setattr(trials, "_SMALL_TABLE", 0)
            patch.setattr(trials, "_CELLS_PER_TRIAL", 0)
        found = source.locate(asked)
    places = {trial: at for at, trial in enumerate(pairs_of(source))}
    expected = [places.get(trial, -1) for trial in pairs_of(asked)]
    assert (list(range(len(expected))) if found is None else found.tolist()) == expected
    same = order == list(range(10)) or not (listed and wanted)
    assert same or found is not None


def test_a_list_of_all_cells_is_a_grid() -> None:
    values = np.arange(6.0).reshape(2, 3)
    models, segments = np.repeat(["a", "b"], 3), np.tile(["s", "t", "u"], 2)
    made = Scores.from_trials(models, segments, values.ravel())
    assert made.cells is None
    assert made == Scores(values, ["a", "b"], ["s", "t", "u"])
    part = Ndx.from_trials(models[1:], segments[1:])
    assert part.is_sparse
    assert part.filter(["b"], ["t", "u"], keep=True).cells is None


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
    with pytest.raises(InvalidInputError):
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
        sexes = renamed.columns.factor("sex").values().reshape(renamed.shape, order="F")
        np.testing.assert_array_equal(sexes, [["f", "f"], ["m", "m"]])
        assert renamed.is_sparse == made.is_sparse
        assert renamed.rename(str.lower, lambda name: name[:2]) == made
        with pytest.raises(InvalidInputError):
            made.rename(models=lambda _: "one")


MODELS, SEGMENTS = ["anna", "bert"], ["s1", "s2", "s3"]
MASK = np.array([[True, False, True], [True, True, False]])
VALUES = np.array([[0.1, 0.0, 1 / 3], [-np.inf, 1e-300, 0.0]])


@pytest.mark.parametrize("form", [as_list, as_matrix])
def test_tables_with_commas_come_back(tmp_path: Path, form) -> None:
    for dtype in ("f4", "f8"):
        item = Scores(VALUES.astype(dtype), MODELS, SEGMENTS, MASK)
        form(item).save(tmp_path / "x.csv")
        assert bp.read_scores(tmp_path / "x.csv") == item
    key = Key(MODELS, SEGMENTS, MASK & (VALUES > 0), MASK & ~(VALUES > 0))
    form(key).save(tmp_path / "key.csv")
    lines = (tmp_path / "key.csv").read_text().splitlines()
    assert lines[:3] == ["model,segment,label", "anna,s1,target", "bert,s1,nontarget"]
    assert bp.read_key(tmp_path / "key.csv") == key
    form(key).to_ndx().save(tmp_path / "trials.csv")
    assert bp.read_trials(tmp_path / "trials.csv") == key.to_ndx()


def test_digits_as_asked_for(tmp_path: Path) -> None:
    item = Scores([[1 / 3]], ["m"], ["s"])
    item.save(tmp_path / "x.csv", number_format="%.2f")
    assert (tmp_path / "x.csv").read_text() == "model,segment,score\nm,s,0.33\n"
    with pytest.raises(InvalidInputError):
        item.save(tmp_path / "x.h5", number_format="%.2f")


def test_what_a_table_would_lose_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    for item in (
        Ndx(MODELS, SEGMENTS, [[True, True, True], [False, False, False]]),
        Scores(VALUES, MODELS, SEGMENTS, [[True, False, False]] * 2),
        Ndx(["a,b"], ["s"]),
        bp.IdMap(["a"], ["b"]),
    ):
        with pytest.raises(InvalidInputError):
            item.save(path)
    assert not path.exists()
