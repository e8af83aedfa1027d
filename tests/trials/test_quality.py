"""Quality measures: alignment, filtering, merging; stacked like the toolkit's; the mask."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.fusion import QualityFusion, quality_systems
from bosaris_py.trials import Key, Ndx, QualityMeasures, Scores, SegmentQuality
from bosaris_py.trials.quality import mix_measures, stack_quality
from tests.strategies import id_lists, keys, ndxs, quality_measures, segment_qualities


def columns_of(item: SegmentQuality) -> dict[str, list[float]]:
    """The measures of each segment."""
    return dict(zip(item.ids.tolist(), item.values.T.tolist(), strict=True))


@given(segment_qualities(), id_lists())
def test_align_segments(item: SegmentQuality, ids: list[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        aligned = item.align_with_ids(ids)
    columns = columns_of(item)
    assert aligned.ids.tolist() == ids
    assert columns_of(aligned) == {name: columns.get(name, [0.0] * item.n_measures) for name in ids}
    expected = []
    if len(ids) < item.ids.size:
        expected.append(f"Number of segments reduced from {item.ids.size} to {len(ids)}")
    missing = len(set(ids) - set(columns))
    if missing:
        expected.append(f"{missing} of {len(ids)} ids don't have quality values")
    assert [str(warning.message) for warning in caught] == expected
    assert {warning.category for warning in caught} <= {MissingTrialsWarning}


@given(segment_qualities(), id_lists(), st.booleans())
def test_filter_segments(item: SegmentQuality, ids: list[str], keep: bool) -> None:  # noqa: FBT001
    filtered = item.filter(ids, keep)
    assert filtered.ids.tolist() == [name for name in item.ids if (name in ids) == keep]
    columns = columns_of(item)
    assert all(columns[name] == column for name, column in columns_of(filtered).items())


@given(segment_qualities(), id_lists())
def test_parts_merge_to_the_whole(item: SegmentQuality, ids: list[str]) -> None:
    merged = SegmentQuality.merge(item.filter(ids, keep=True), item.filter(ids, keep=False))
    assert columns_of(merged) == columns_of(item)
    assert merged.align_with_ids(item.ids) == item


def test_merge_appends() -> None:
    a = SegmentQuality(["z", "a"], [[1, 2]])
    b = SegmentQuality(["m"], [[3]])
    assert a.merge(b) == SegmentQuality(["z", "a", "m"], [[1, 2, 3]])


def test_not_finite_values_matter_only_where_they_are_wanted() -> None:
    item = SegmentQuality(["a", "b"], [[np.nan, 2.0]])
    with pytest.warns(MissingTrialsWarning, match="reduced from 2 to 1"):
        assert item.align_with_ids(["b"]).values.tolist() == [[2.0]]


def contents(item: QualityMeasures) -> dict[str, Any]:
    """Measures by model and by segment, where there are any, and the usable trials."""
    models, segments = item.modelset.tolist(), item.segset.tolist()
    return {
        "models": {m: item.modelQ[:, i].tolist() for i, m in enumerate(models) if item.hasmodel[i]},
        "segments": {s: item.segQ[:, j].tolist() for j, s in enumerate(segments) if item.hasseg[j]},
        "trials": {
            (models[i], segments[j]) for i, j in zip(*np.nonzero(item.scoremask), strict=True)
        },
    }


@given(quality_measures())
def test_mask_is_false_without_measures(item: QualityMeasures) -> None:
    assert not item.scoremask[~item.hasmodel].any()
    assert not item.scoremask[:, ~item.hasseg].any()


def test_mask_follows_the_flags() -> None:
    # The toolkit refuses to align this object, which its own files give back.
    item = QualityMeasures(
        ["a", "b"], ["s"], [[1, np.nan]], [[2]], hasmodel=[True, False], scoremask=[[True], [True]]
    )
    assert item.scoremask.tolist() == [[True], [False]]
    with pytest.warns(MissingTrialsWarning) as caught:
        aligned = item.align_with_ndx(Ndx(["b", "a"], ["s"]))
    assert [str(warning.message) for warning in caught] == [
        "models reduced from 2 to 1",
        "1 of 2 trials missing",
    ]
    assert aligned.modelQ.tolist() == [[0.0, 1.0]]
    assert aligned.scoremask.tolist() == [[False], [True]]


def test_mask_follows_the_flags_of_segments() -> None:
    item = QualityMeasures(
        ["a"], ["s", "t"], [[1]], [[2, np.nan]], hasseg=[True, False], scoremask=[[True, True]]
    )
    assert item.scoremask.tolist() == [[True, False]]


@given(quality_measures(), ndxs() | keys())
def test_align_measures(item: QualityMeasures, ndx: Ndx | Key) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingTrialsWarning)
        aligned = item.align_with_ndx(ndx)
        assert aligned.align_with_ndx(ndx) == aligned
    assert aligned.modelset.tolist() == ndx.modelset.tolist()
    assert aligned.segset.tolist() == ndx.segset.tolist()
    before, after = contents(item), contents(aligned)
    assert after["models"] == {
        m: q for m, q in before["models"].items() if m in ndx.modelset.tolist()
    }
    assert after["segments"] == {
        s: q for s, q in before["segments"].items() if s in ndx.segset.tolist()
    }
    trials = ndx if isinstance(ndx, Ndx) else ndx.to_ndx()
    wanted = {
        (trials.modelset[i], trials.segset[j])
        for i, j in zip(*np.nonzero(trials.trialmask), strict=True)
    }
    assert after["trials"] == before["trials"] & wanted
    assert not aligned.modelQ[:, ~aligned.hasmodel].any()
    assert not aligned.segQ[:, ~aligned.hasseg].any()


@given(quality_measures(), id_lists(), id_lists(), st.booleans())
def test_filter_measures(
    item: QualityMeasures,
    models: list[str],
    segments: list[str],
    keep: bool,  # noqa: FBT001
) -> None:
    before, after = contents(item), contents(item.filter(models, segments, keep))
    assert after["models"] == {m: q for m, q in before["models"].items() if (m in models) == keep}
    assert after["segments"] == {
        s: q for s, q in before["segments"].items() if (s in segments) == keep
    }
    assert after["trials"] == {
        (m, s) for m, s in before["trials"] if (m in models) == keep and (s in segments) == keep
    }


@given(quality_measures(), quality_measures())
def test_merge_measures(a: QualityMeasures, b: QualityMeasures) -> None:
    shared = set(a.modelset) & set(b.modelset) or set(a.segset) & set(b.segset)
    if shared or a.n_measures != b.n_measures:
        with pytest.raises(TrialMismatchError, match="objects to be merged"):
            a.merge(b)
        return
    merged, first, second = contents(QualityMeasures.merge(a, b)), contents(a), contents(b)
    for name in ("models", "segments", "trials"):
        assert merged[name] == first[name] | second[name]


@given(segment_qualities(), segment_qualities())
def test_from_segment_quality(models: SegmentQuality, segments: SegmentQuality) -> None:
    if models.n_measures != segments.n_measures:
        return
    item = QualityMeasures.from_segment_quality(models, segments)
    assert (item.modelset.tolist(), item.segset.tolist()) == (
        models.ids.tolist(),
        segments.ids.tolist(),
    )
    assert item.modelQ is models.values
    assert item.segQ is segments.values
    assert item.scoremask.all()
    assert item.hasmodel.all()
    assert item.hasseg.all()


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
@pytest.mark.parametrize("extension", ["h5", "mat", "txt"])
def test_not_finite_measures_are_refused_where_they_are_wanted(
    tmp_path: Path, bad: float, extension: str
) -> None:
    """As NaN scores: an object or a file may hold them, what needs them names the ids."""
    item, path = SegmentQuality(["s", "t"], [1.0, bad]), tmp_path / f"quality.{extension}"
    if extension == "txt":
        path.write_text(f"1\ns 1.0\nt {bad}\n")
    else:
        item.save(path)
    read = SegmentQuality.read(path)
    np.testing.assert_array_equal(read.values, item.values)
    key = Key(["m"], ["s", "t"], [[True, False]], [[False, True]])
    scores = Scores([[1.0, -1.0]], ["m"], ["s", "t"])
    of_models = SegmentQuality(["m"], [0.0])
    for use in (
        lambda: read.align_with_ids(["s", "t"]),
        lambda: QualityMeasures.from_segment_quality(of_models, read).align_with_ndx(key),
        lambda: quality_systems(scores, {"noise": (None, read)}, key),
        lambda: QualityFusion.fit_scores(scores, read, key),
    ):
        with pytest.raises(InvalidInputError, match=r"\(t\)"):
            use()
    # What does not need them does not ask.
    alone = read.filter(["s"], keep=True)
    assert alone.align_with_ids(["s"]).values.tolist() == [[1.0]]


def test_representation_of_measures() -> None:
    item = QualityMeasures(["a"], ["s", "t"], [[1]], [[2, 3]], hasseg=[False, True])
    assert repr(item) == "QualityMeasures: 1 models x 2 segments, 1 measures of 1 trials"


@pytest.mark.parametrize("repeated", ["column", "row"])
def test_a_repeated_mask_says_more_than_flags_that_it_does_not_follow(repeated: str) -> None:
    """What a mask of one repeated row or column says is what its copy says."""
    flags = {"hasmodel": [True, False], "hasseg": [True, True, False]}
    ids, measures = (["a", "b"], ["s", "t", "u"]), ([[1, np.nan]], [[2, 3, np.nan]])
    shown = [[True], [False]] if repeated == "column" else [True, True, False]
    mask = np.broadcast_to(shown, (2, 3))
    item = QualityMeasures(*ids, *measures, **flags, scoremask=mask)
    assert item._mask is None
    assert item._counts() == "1 measures of 2 trials"
    assert not item.scoremask[1].any()
    assert not item.scoremask[:, 2].any()
    again = pickle.loads(pickle.dumps(item))
    assert again.hasseg.tolist() == flags["hasseg"]
    assert again == item
    fewer = QualityMeasures(*ids, *measures, **flags, scoremask=np.array([[1, 0, 0], [0] * 3]) > 0)
    assert fewer._mask is not None
    assert fewer._counts() == "1 measures of 1 trials"
    assert pickle.loads(pickle.dumps(fewer)) == fewer


def test_spliced_like_the_toolkit(oracle):
    """fusion_quality.npz: stackQ of two objects with one measure each."""
    with np.load(oracle / "fusion_quality.npz") as record:
        models, segments = [f"m{i}" for i in range(12)], [f"s{i}" for i in range(25)]
        key = Key(models, segments, record["dev_tar"] > 0, record["dev_non"] > 0)
        parts = [
            QualityMeasures(models, segments, record["dev_mq"][[row]], record["dev_sq"][[row]])
            for row in (0, 1)
        ]
        stacked = stack_quality(parts, key)
        np.testing.assert_array_equal(stacked.modelQ, record["spliced_modelQ"])
        np.testing.assert_array_equal(stacked.segQ, record["spliced_segQ"])
        np.testing.assert_array_equal(stacked.scoremask, record["spliced_scoremask"] > 0)


@pytest.fixture
def ndx():
    return Ndx(["a", "b"], ["x", "y", "z"], [[True, True, False], [True, True, True]])


@pytest.fixture
def quality():
    return QualityMeasures(
        ["b", "a"], ["z", "y", "x"], [[2.0, 1.0]], [[30.0, 20.0, 10.0]], hasseg=[True, False, True]
    )


def test_aligned_and_masks_joined(ndx, quality):
    more = QualityMeasures(
        ["a", "b"],
        ["x", "y", "z"],
        [[5.0, 6.0], [7.0, 8.0]],
        np.zeros((2, 3)),
        scoremask=[[True, True, True], [False, True, True]],
    )
    with pytest.warns(MissingTrialsWarning) as caught:
        stacked = stack_quality([quality, more], ndx)
    assert [str(warning.message) for warning in caught] == [
        "test segments reduced from 3 to 2",
        "2 of 5 trials missing",
        "1 of 5 trials missing",
    ]
    assert all(warning.filename == __file__ for warning in caught)
    assert stacked.modelQ.tolist() == [[1.0, 2.0], [5.0, 6.0], [7.0, 8.0]]
    assert stacked.segQ[0].tolist() == [10.0, 0.0, 30.0]
    assert stacked.hasseg.tolist() == [True, False, True]
    assert stacked.scoremask.tolist() == [[True, False, False], [False, False, True]]


def test_segments_only(ndx):
    stacked = stack_quality([SegmentQuality(["z", "x", "y"], [[3.0, 1.0, 2.0]])], ndx)
    assert stacked.modelQ.tolist() == [[0.0, 0.0]]
    assert stacked.segQ.tolist() == [[1.0, 2.0, 3.0]]
    np.testing.assert_array_equal(stacked.scoremask, ndx.trialmask)


def test_mixing(quality):
    mixed = mix_measures(quality, [[2.0], [-1.0]])
    assert mixed.modelQ.tolist() == [[4.0, 2.0], [-2.0, -1.0]]
    assert mixed.segQ.tolist() == [[60.0, 40.0, 20.0], [-30.0, -20.0, -10.0]]
    np.testing.assert_array_equal(mixed.scoremask, quality.scoremask)


def test_bad_lists_and_mixtures(ndx, quality):
    nan = SegmentQuality(["x", "y", "z"], [[1.0, np.nan, 1.0]])
    for qualities in ([], [3.0], {"x": "loud"}, [nan]):
        with pytest.raises(InvalidInputError):
            stack_quality(qualities, ndx)
    with pytest.raises(InvalidInputError):
        stack_quality([quality], quality)
    for qtrans in (np.ones((2, 3)), np.ones((1, 2)), np.ones((0, 1)), [1.0], [[np.nan]]):
        with pytest.raises(InvalidInputError):
            mix_measures(quality, qtrans)


def test_one_measure_is_a_list_of_numbers():
    assert SegmentQuality(["x", "y"], [1.0, 2.0]) == SegmentQuality(["x", "y"], [[1.0, 2.0]])
    assert SegmentQuality(["x", "y"], np.array([1.0, 2.0])).n_measures == 1
    with pytest.raises(InvalidInputError):
        SegmentQuality(["x", "y"], [1.0, 2.0, 3.0])
