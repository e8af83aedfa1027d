"""A full grid, a mask and a list of the same trials give the same answers, in memory and files."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bosaris_py as bp
from bosaris_py import Conditions, Key, Ndx, Results, Scores
from bosaris_py._arrays import read_only
from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.trials import IdMap, QualityMeasures, SegmentQuality, trials
from tests import strategies
from tests.forms import as_list, as_matrix, contents
from tests.strategies import id_lists, id_maps, keys, names, ndxs, quality_measures, scores

FORMS = st.sampled_from([as_list, as_matrix])
pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")


@given(scores(), keys(), FORMS, FORMS)
def test_scores_of_a_key(item: Scores, key: Key, form, key_form) -> None:
    asked, found = key_form(key), form(item)
    for mine, theirs in zip(found.get_tar_non(asked), item.get_tar_non(key), strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)
    np.testing.assert_array_equal(found.get_scores(asked), item.get_scores(key), strict=True)
    assert found.align_with_ndx(asked) == item.align_with_ndx(key)
    assert found.set_missing_to_value(asked, 0.25) == item.set_missing_to_value(key, 0.25)
    assert found.transform(np.negative) == -item


@given(scores(), keys(), keys(), FORMS, id_lists(), id_lists(), st.booleans())
def test_objects_alone(item, key, other, form, models, segments, keep) -> None:
    for one in (item, key, key.to_ndx(), item.to_ndx()):
        same = form(one)
        assert same == one
        assert as_matrix(same) == as_list(one)
        assert same.to_frame().equals(one.to_frame())
        assert repr(same) == repr(one)
        assert same.filter(models, segments, keep) == one.filter(models, segments, keep)
    merged = key.to_ndx().merge(other.to_ndx())
    assert form(key).to_ndx().merge(other.to_ndx()) == merged


@given(
    st.one_of(*(st.tuples(some, some, some) for some in (ndxs(), keys(), scores()))),
    *(FORMS, id_lists(), id_lists(), st.booleans()),
)
def test_filters_and_unions_are_those_of_dictionaries(items, form, models, segments, keep) -> None:
    items = [form(item) for item in items]
    one, others, cls = items[0], items[1:], type(items[0])
    filtered = one.filter(models, segments, keep)
    assert contents(filtered) == {
        (m, s): said
        for (m, s), said in contents(one).items()
        if {m in models, s in segments} == {keep}
    }
    for old, new, listed in zip(one.ids, filtered.ids, (models, segments), strict=True):
        assert new.tolist() == [name for name in old if (name in listed) == keep]
    union, clashes = {}, 0
    for part in map(contents, items):
        shared = part.keys() & union.keys()
        clashes += sum(cls is Scores or part[pair] != union[pair] for pair in shared)
        union |= part
    if clashes:
        with pytest.raises(TrialMismatchError):
            cls.merge(*items)
        return
    merged = one.merge(*others)
    assert contents(merged) == union
    assert merged == cls.merge(*others, one) == cls.merge(one.merge(others[0]), others[1])
    assert merged.modelset.tolist() == sorted({m for item in items for m in item.modelset.tolist()})


@given(
    st.dictionaries(st.tuples(names(), names()), st.floats(allow_nan=False), max_size=10), st.data()
)
def test_lists_are_dictionaries(values, data: st.DataObject) -> None:
    """Trials may be repeated, if what is said of them is the same."""
    again = data.draw(st.lists(st.sampled_from(sorted(values)))) if values else []
    models, segments = ([pair[side] for pair in (*values, *again)] for side in (0, 1))
    listed = np.array([values[pair] for pair in (*values, *again)], float)
    assert contents(Scores.from_trials(models, segments, listed)) == values
    key, ndx = Key.from_trials(models, segments, listed > 0), Ndx.from_trials(models, segments)
    assert contents(key) == {pair: value > 0 for pair, value in values.items()}
    assert contents(ndx) == dict.fromkeys(values, True)
    assert [ids.tolist() for ids in ndx.ids] == [sorted({*models}), sorted({*segments})]


IDS = [f"{i}" for i in range(10)]
CELLS = st.sets(st.integers(0, 99), max_size=40) | st.just(set(range(100)))


@given(listed=CELLS, wanted=CELLS, order=st.permutations(range(10)), form=FORMS, other_form=FORMS)
def test_trials_of_one_in_another(listed, wanted, order, form, other_form) -> None:
    """Against a dictionary; ids in another order, one unknown."""
    masks = np.zeros((2, 10, 10), dtype=bool)
    for mask, cells in zip(masks, (listed, wanted), strict=True):
        mask.T.reshape(-1)[list(cells)] = True
    source = form(Ndx(IDS, IDS, masks[0]))
    asked = other_form(Ndx([IDS[at] if at else "unknown" for at in order], IDS, masks[1]))
    found = source.locate(asked)
    places = {trial: at for at, trial in enumerate(contents(source))}
    expected = [places.get(trial, -1) for trial in contents(asked)]
    assert (list(range(len(expected))) if found is None else found.tolist()) == expected
    same = order == list(range(10)) or not (listed and wanted)
    assert same or found is not None


def test_a_list_of_all_cells_is_a_grid() -> None:
    models, segments = np.repeat(["a", "b"], 3), np.tile(["s", "t", "u"], 2)
    assert Ndx.from_trials(models, segments).cells is None
    part = Ndx.from_trials(models[1:], segments[1:])
    assert part.is_sparse
    assert part.filter(["b"], ["t", "u"], keep=True).cells is None
    assert part.merge(Ndx.from_trials(models[:1], segments[:1])).cells is None


def test_a_matrix_is_not_copied_and_none_is_made_that_does_not_fit(monkeypatch) -> None:
    values = np.arange(6.0).reshape(2, 3)
    values.setflags(write=False)
    made = Scores(values.view(), ["a", "b"], ["s", "t", "u"])
    assert np.shares_memory(made.scoremat, made.align_with_ndx(Ndx(*made.ids)).scoremat)
    ids = [f"{i}" for i in range(10**4)]
    key = Key.from_trials(ids, ids, np.arange(10**4) % 2 == 0)
    made = Scores.from_trials(ids, ids, np.arange(10**4) % 7 + 0.0)
    assert Results.from_scores(made, key, Conditions({"all": key})).n_tar == 5 * 10**3
    monkeypatch.setattr(trials.hdf5, "half_of_memory", lambda: 10**8)
    with pytest.raises(InvalidInputError):
        made.scoremat  # noqa: B018


@pytest.mark.parametrize("form", [as_list, as_matrix])
def test_renamed_trials_keep_what_is_known(form) -> None:
    same = np.eye(2, dtype=bool)
    key = form(Key(["anna", "bert"], ["s1", "s2"], same, ~same))
    made = key.with_columns(sex=("model", ["f", "m"]), noise=["a", "b", "c", "d"])
    renamed = made.rename(models=str.upper, segments=lambda name: f"{name}.wav")
    assert [ids.tolist() for ids in renamed.ids] == [["ANNA", "BERT"], ["s1.wav", "s2.wav"]]
    np.testing.assert_array_equal(renamed.labels, key.labels)
    assert renamed.columns["sex"].values().tolist() == ["f", "m", "f", "m"]
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
    for bad in (Ndx(["a,b"], ["s"]), bp.IdMap(["a"], ["b"])):
        with pytest.raises(InvalidInputError):
            bad.save(tmp_path / "bad.csv")
    assert not (tmp_path / "bad.csv").exists()


BINARY = [".h5", ".hdf5", ".mat", ".H5", ".Mat"]
TEXT = [".txt", ".TXT"]
WRITTEN = ndxs() | keys() | scores() | strategies.segment_qualities() | id_maps()


def save_and_read(item: Any, extension: str) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"a.b{extension}"
        item.save(path)
        again = type(item).read(path)
    # Objects are made of what the readers return, without a further look at matrices.
    for name, array in again._fields().items():
        if isinstance(array, np.ndarray):
            assert read_only(array) is array
            # Of a matrix in which all cells are trials there is no mask.
            assert name == "cells" or array.dtype.kind == item._fields()[name].dtype.kind
    return again


@settings(max_examples=2 * settings.default.max_examples)
@given(WRITTEN | quality_measures(), st.sampled_from(BINARY))
def test_binary_files_give_the_object_back(item: Any, extension: str) -> None:
    again = save_and_read(item, extension)
    assert again == item
    assert repr(again) == repr(item)
    if isinstance(item, Scores):
        assert again.scoremat.dtype == item.scoremat.dtype


def as_text_holds(item: Any) -> Any:
    """Return what text can hold of an object: ids of trials only, in sorted order."""
    if isinstance(item, IdMap | SegmentQuality):
        return item
    mask = item.scoremask if isinstance(item, Scores) else item.to_ndx().trialmask
    return item.merge().filter(
        item.modelset[mask.any(axis=1)], item.segset[mask.any(axis=0)], keep=True
    )


@pytest.mark.filterwarnings("ignore:.*there is no line")
@settings(max_examples=3 * settings.default.max_examples)
@given(WRITTEN, st.sampled_from(TEXT))
def test_text_gives_the_object_back(item: Any, extension: str) -> None:
    again = save_and_read(item, extension)
    if isinstance(item, Scores) and item.scoremat.dtype == np.float32:
        # Text says nothing of the precision; the shortest text that names a
        # float32 gives it back when it is made a float32 again.
        again = again.transform(lambda s: s.astype(np.float32))
    assert again == as_text_holds(item)


OBJECTS: list[Any] = [
    Ndx(["m"], ["s"]),
    Key(["m"], ["s"], [[True]], [[False]]),
    Scores([[1.0]], ["m"], ["s"]),
    SegmentQuality(["s"], [[1.0]]),
    QualityMeasures(["m"], ["s"], [[1.0]], [[2.0]]),
    IdMap(["m"], ["s"]),
]


@pytest.mark.parametrize("item", OBJECTS, ids=lambda item: type(item).__name__)
def test_any_format_by_its_method_and_by_known_names_only(item: Any, tmp_path: Path) -> None:
    for name in ("scores.tsv", "dir.mat/x", ".h5", "a.h5.gz"):
        for call in (item.save, type(item).read):
            with pytest.raises(InvalidInputError):
                call(tmp_path / name)
    assert not list(tmp_path.iterdir())
    for form in ("hdf5", "mat", "txt"):
        if form == "txt" and isinstance(item, QualityMeasures):
            for call in (item.save, item.save_txt, QualityMeasures.read_txt):
                with pytest.raises(InvalidInputError):
                    call(tmp_path / "quality.txt")
            continue
        path = tmp_path / f"no_extension_{form}"
        getattr(item, f"save_{form}")(str(path))
        assert getattr(type(item), f"read_{form}")(str(path)) == item


def test_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    item = Scores(np.zeros((20, 30)), [f"m{i}" for i in range(20)], [f"s{j}" for j in range(30)])
    for extension in (".h5", ".mat", ".txt"):
        path = tmp_path / f"large{extension}"
        item.save(path)
        assert Scores.read(path, max_bytes=10**6).merge() == item.merge()
        with pytest.raises(FileFormatError, match="large"):
            Scores.read(path, max_bytes=1000)
    # Content that no object may have is an error of the file.
    path.write_text("1\nseg 1\nseg 2\n")
    with pytest.raises(FileFormatError, match=r"large\.txt"):
        SegmentQuality.read(path)
