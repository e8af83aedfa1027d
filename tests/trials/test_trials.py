"""A full grid, a mask and a list of the same trials give the same answers, in memory and files."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import bosaris_py as bp
from bosaris_py import Conditions, Key, Ndx, Results, Sample, Scores
from bosaris_py._arrays import read_only
from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.trials import IdMap, QualityMeasures, SegmentQuality, trials
from tests.forms import as_list, as_matrix
from tests.strategies import (
    id_lists,
    id_maps,
    keys,
    names,
    ndxs,
    quality_measures,
    scores,
    segment_qualities,
)

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
        assert same.to_frame().equals(one.to_frame())
        assert repr(same) == repr(one)
        assert same.filter(models, segments, keep) == one.filter(models, segments, keep)
    assert form(item).transform(np.negative) == -item
    assert form(key).to_ndx() == key.to_ndx()
    np.testing.assert_array_equal(form(key).labels, key.labels)


@given(keys(), keys(), FORMS, FORMS)
def test_unions_of_forms(one: Key, other: Key, form, other_form) -> None:
    merged = one.to_ndx().merge(other.to_ndx())
    full = Ndx(*merged.ids)
    both = (form(full.filter(part, [], keep=False)) for part in ([], full.modelset[:1]))
    if full.modelset.size > 1:
        assert next(both).merge(next(both)).cells is None
    assert form(one.to_ndx()).merge(other_form(other.to_ndx())) == merged


def contents(item: Ndx | Key | Scores) -> dict[tuple[str, str], object]:
    """What is said of each trial, by plain loops."""
    said = {Ndx: "trial_mask", Key: "tar", Scores: "scoremat"}[type(item)]
    return {
        (model, segment): getattr(item, said)[i, j].item()
        for i, model in enumerate(item.modelset.tolist())
        for j, segment in enumerate(item.segset.tolist())
        if item.trial_mask[i, j]
    }


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
        if (m in models) == keep and (s in segments) == keep
    }
    assert filtered.modelset.tolist() == [m for m in one.modelset if (m in models) == keep]
    assert filtered.segset.tolist() == [s for s in one.segset if (s in segments) == keep]
    parts = one.filter(models, one.segset, keep=True), one.filter(models, [], keep=False)
    assert cls.merge(*parts) == cls.merge(one)
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
    found = contents(Key.from_trials(models, segments, listed > 0))
    assert found == {pair: value > 0 for pair, value in values.items()}
    ndx = Ndx.from_trials(models, segments)
    assert contents(ndx) == dict.fromkeys(values, True)
    assert (ndx.modelset.tolist(), ndx.segset.tolist()) == (sorted({*models}), sorted({*segments}))


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


def test_a_matrix_is_not_copied_and_none_is_made_that_does_not_fit(monkeypatch) -> None:
    values = np.arange(6.0).reshape(2, 3)
    values.setflags(write=False)
    made = Scores(values.view(), ["a", "b"], ["s", "t", "u"])
    assert np.shares_memory(made.scoremat, made.align_with_ndx(Ndx(*made.ids)).scoremat)
    ids = [f"{i}" for i in range(10**4)]
    key = Key.from_trials(ids, ids, np.arange(10**4) % 2 == 0)
    made = Scores.from_trials(ids, ids, np.arange(10**4) % 7 + 0.0)
    results = Results.from_scores(made, key, Conditions({"all": key}))
    assert (results.n_tar, results.n_non) == (5 * 10**3, 5 * 10**3)
    monkeypatch.setattr(trials.hdf5, "half_of_memory", lambda: 10**8)
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


def test_what_a_table_cannot_hold_is_refused(tmp_path: Path) -> None:
    for item in (Ndx(["a,b"], ["s"]), bp.IdMap(["a"], ["b"])):
        with pytest.raises(InvalidInputError):
            item.save(tmp_path / "x.csv")
    assert not [*tmp_path.iterdir()]


@given(scores(), keys(), FORMS)
def test_frames_have_a_row_a_trial(item: Scores, key: Key, form) -> None:
    for one, columns in (
        (item, {"score": item.values.tolist()}),
        (key, {"target": key.is_target.tolist()}),
        (key.to_ndx(), {}),
    ):
        frame = form(one).to_frame()
        assert list(frame.index) == pairs_of(one)
        assert list(frame.index.names) == ["model", "segment"]
        assert frame.to_dict("list") == columns


def test_numbers_of_lines_are_no_ids() -> None:
    """Which lines of the longer file the shorter one lacks, nothing tells."""
    keys = []
    for n in (12, 10, 9):
        same = np.arange(n)[None] % 2 == 0
        names = [str(i).zfill(len(str(n))) for i in range(1, n + 1)]
        keys.append(Key(["all"], names, same, ~same))
    item = Scores(np.ones((1, 12)), *keys[0].ids)
    assert Sample.from_trials(item, keys[0]).n_tar == 6
    for key in (*keys[1:], Key(["x"], ["y", "z"], [[True, False]], [[False, True]])):
        with pytest.raises(TrialMismatchError):
            Sample.from_trials(item, key)
    # Other names are ids.
    named = Key(["all"], [*keys[1].segset[:-1], "x"], keys[1].tar, keys[1].non)
    assert Sample.from_trials(item, named).n_tar == 5


BINARY = [".h5", ".hdf5", ".mat", ".H5", ".Mat"]
TEXT = [".txt", ".TXT"]


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
@given(
    ndxs() | keys() | scores() | segment_qualities() | quality_measures() | id_maps(),
    st.sampled_from(BINARY),
)
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
@given(ndxs() | keys() | scores() | segment_qualities() | id_maps(), st.sampled_from(TEXT))
def test_text_gives_the_object_back(item: Any, extension: str) -> None:
    again = save_and_read(item, extension)
    if isinstance(item, Scores) and item.scoremat.dtype == np.float32:
        # Text says nothing of the precision; the shortest text that names a
        # float32 gives it back when it is made a float32 again.
        again = again.transform(lambda s: s.astype(np.float32))
    assert again == as_text_holds(item)


def test_text_in_the_way_of_the_toolkit(tmp_path: Path) -> None:
    path = tmp_path / "scores.txt"
    Scores([[1 / 3]], ["m"], ["s"]).save_txt(path, number_format="%f")
    assert path.read_text() == "m s 0.333333\n"
    Scores([[1 / 3]], ["m"], ["s"]).save(path)
    assert path.read_text() == "m s 0.3333333333333333\n"
    SegmentQuality(["s"], [[1 / 3]]).save_txt(path, number_format="%.2f")
    assert path.read_text() == "1\ns 0.33\n"


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
    for name in ("scores.tsv", "noextension", "dir.mat/x", ".h5", "a.h5.gz"):
        for call in (item.save, type(item).read):
            with pytest.raises(InvalidInputError):
                call(tmp_path / name)
    assert not list(tmp_path.iterdir())
    for form, extension in (("hdf5", "h5"), ("mat", "mat"), ("txt", "txt")):
        if form == "txt" and isinstance(item, QualityMeasures):
            assert not hasattr(item, "save_txt")
            with pytest.raises(InvalidInputError):
                item.save(tmp_path / "quality.txt")
            continue
        path = tmp_path / f"no_extension_{form}"
        getattr(item, f"save_{form}")(str(path))
        assert getattr(type(item), f"read_{form}")(str(path)) == item
        path = tmp_path / f"damaged.{extension}"
        path.write_bytes(b"x y z \x00 u\nv w\n\n\xff")
        with pytest.raises(FileFormatError, match="damaged"):
            type(item).read(path)


def test_content_that_no_object_may_have_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "twice.txt"
    path.write_text("1\nseg 1\nseg 2\n")
    with pytest.raises(FileFormatError, match=r"twice\.txt"):
        SegmentQuality.read(path)


def test_a_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    item = Scores(np.zeros((20, 30)), [f"m{i}" for i in range(20)], [f"s{j}" for j in range(30)])
    for extension in (".h5", ".mat", ".txt"):
        path = tmp_path / f"large{extension}"
        item.save(path)
        assert Scores.read(path, max_bytes=10**6).merge() == item.merge()
        with pytest.raises(FileFormatError, match="large"):
            Scores.read(path, max_bytes=1000)


@pytest.mark.parametrize("cls", [bp.Ndx, bp.Key, bp.Scores, QualityMeasures, SegmentQuality, IdMap])
def test_a_file_is_read_by_read(cls: Any) -> None:
    for path in ("a.h5", Path("a.h5")):
        with pytest.raises(InvalidInputError, match=rf"{cls.__name__}\.read\('a\.h5'\)"):
            cls(path)
