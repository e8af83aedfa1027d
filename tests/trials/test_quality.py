"""Quality measures: alignment, filtering, merging; stacked like the toolkit's; the mask."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.fusion import QualityFusion, quality_systems
from bosaris_py.trials import Key, Ndx, QualityMeasures, Scores, SegmentQuality
from bosaris_py.trials.quality import mix_measures, quality_of_trials, stack_quality
from tests import forms
from tests.forms import as_list
from tests.strategies import id_lists, keys, ndxs, quality_measures, segment_qualities


def columns_of(item: SegmentQuality) -> dict[str, list[float]]:
    """The measures of each segment."""
    return dict(zip(item.ids.tolist(), item.values.T.tolist(), strict=True))


@given(segment_qualities(), id_lists(), st.booleans())
def test_segments(item: SegmentQuality, ids: list[str], keep: bool) -> None:  # noqa: FBT001
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        aligned = item.align_with_ids(ids)
    columns = columns_of(item)
    assert aligned.ids.tolist() == ids
    assert columns_of(aligned) == {name: columns.get(name, [0.0] * item.n_measures) for name in ids}
    expected = len(ids) < item.ids.size or bool(set(ids) - set(columns))
    assert [warning.category for warning in caught] == [MissingTrialsWarning] * expected
    kept, rest = item.filter(ids, keep), item.filter(ids, not keep)
    assert kept.ids.tolist() == [name for name in item.ids if (name in ids) == keep]
    merged = SegmentQuality.merge(kept, rest)
    assert merged.ids.tolist() == [*kept.ids, *rest.ids]
    assert columns_of(merged) == columns
    assert merged.align_with_ids(item.ids) == item
    if item.ids.size:
        with pytest.raises(TrialMismatchError):
            item.merge(item)
    with pytest.raises(TrialMismatchError):
        item.merge(SegmentQuality([], np.zeros((4, 0))))


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


def test_the_mask_follows_the_flags() -> None:
    # The toolkit refuses to align this object, which its own files give back.
    flags = {"hasmodel": [True, False], "hasseg": [True, False]}
    item = QualityMeasures(
        ["a", "b"], ["s", "t"], [[1, np.nan]], [[2, np.nan]], **flags, scoremask=np.ones((2, 2)) > 0
    )
    assert item.scoremask.tolist() == [[True, False], [False, False]]
    assert repr(item).endswith("1 measures of 1 trials")
    with pytest.warns(MissingTrialsWarning) as caught:
        aligned = item.align_with_ndx(Ndx(["b", "a"], ["s"]))
    assert [len(str(one.message).split("; ")) for one in caught] == [2]
    assert aligned.modelQ.tolist() == [[0.0, 1.0]]
    assert aligned.scoremask.tolist() == [[False], [True]]


@given(quality_measures(), ndxs() | keys())
def test_align_measures(item: QualityMeasures, ndx: Ndx | Key) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingTrialsWarning)
        aligned = item.align_with_ndx(ndx)
        assert aligned.align_with_ndx(ndx) == aligned
    assert [ids.tolist() for ids in aligned.ids] == [ids.tolist() for ids in ndx.ids]
    before, after = contents(item), contents(aligned)
    for side, ids in zip(("models", "segments"), ndx.ids, strict=True):
        assert after[side] == {n: q for n, q in before[side].items() if n in ids.tolist()}
    assert after["trials"] == before["trials"] & forms.contents(ndx).keys()
    assert not aligned.modelQ[:, ~aligned.hasmodel].any()
    assert not aligned.segQ[:, ~aligned.hasseg].any()


@given(quality_measures(), id_lists(), id_lists(), st.booleans())
def test_filter_measures(item, models, segments, keep):
    before, after = contents(item), contents(item.filter(models, segments, keep))
    for side, ids in (("models", models), ("segments", segments)):
        assert after[side] == {n: q for n, q in before[side].items() if (n in ids) == keep}
    left = {t for t in before["trials"] if {t[0] in models, t[1] in segments} == {keep}}
    assert after["trials"] == left


@given(quality_measures(), quality_measures())
def test_merge_measures(a: QualityMeasures, b: QualityMeasures) -> None:
    shared = set(a.modelset) & set(b.modelset) or set(a.segset) & set(b.segset)
    if shared or a.n_measures != b.n_measures:
        with pytest.raises(TrialMismatchError, match="objects to be merged"):
            a.merge(b)
        return
    merged = contents(QualityMeasures.merge(a, b))
    assert merged == {name: one | contents(b)[name] for name, one in contents(a).items()}


@pytest.mark.parametrize(("extension", "bad"), [("h5", np.nan), ("txt", -np.inf)])
def test_not_finite_measures_are_refused_where_they_are_wanted(tmp_path, bad, extension) -> None:
    """As NaN scores: an object or a file may hold them, what needs them names the ids."""
    item, path = SegmentQuality(["s", "t"], [1.0, bad]), tmp_path / f"quality.{extension}"
    item.save(path)
    read = SegmentQuality.read(path)
    np.testing.assert_array_equal(read.values, item.values)
    key = Key(["m"], ["s", "t"], [[True, False]], [[False, True]])
    scores, of_models = Scores([[1.0, -1.0]], ["m"], ["s", "t"]), SegmentQuality(["m"], [0.0])
    for use in (
        lambda: read.align_with_ids(["s", "t"]),
        lambda: QualityMeasures.from_segment_quality(of_models, read).align_with_ndx(key),
        lambda: quality_systems(scores, {"noise": (None, read)}, key),
        lambda: QualityFusion.fit_scores(scores, read, key),
    ):
        with pytest.raises(InvalidInputError, match=r"\(t\)"):
            use()
    # What does not need them does not ask.
    assert read.filter(["s"], keep=True).align_with_ids(["s"]).values.tolist() == [[1.0]]


NDX = Ndx(["a", "b"], ["x", "y", "z"], [[True, True, False], [True, True, True]])
QUALITY = QualityMeasures(
    ["b", "a"], ["z", "y", "x"], [[2.0, 1.0]], [[30.0, 20.0, 10.0]], hasseg=[True, False, True]
)


def test_aligned_and_masks_joined() -> None:
    shown = [[True, True, True], [False, True, True]]
    more = QualityMeasures(*NDX.ids, [[5.0, 6.0], [7.0, 8.0]], np.zeros((2, 3)), scoremask=shown)
    with pytest.warns(MissingTrialsWarning) as caught:
        stacked = stack_quality([QUALITY, more], NDX)
    parts = [part for warning in caught for part in str(warning.message).split("; ")]
    assert [part[:4] for part in parts] == ["test", "2 of", "1 of"]
    assert stacked.modelQ.tolist() == [[1.0, 2.0], [5.0, 6.0], [7.0, 8.0]]
    assert stacked.segQ[0].tolist() == [10.0, 0.0, 30.0]
    assert stacked.hasseg.tolist() == [True, False, True]
    assert stacked.scoremask.tolist() == [[True, False, False], [False, False, True]]
    # The same of a list of trials, without a matrix.
    with pytest.warns(MissingTrialsWarning):
        listed = quality_of_trials([QUALITY, more], as_list(NDX))
    assert (listed.n_measures, listed.n_missing) == (3, 3)
    at = NDX.trial_positions()
    np.testing.assert_array_equal((listed.models, listed.segments), at)
    np.testing.assert_array_equal(listed.covered, stacked.scoremask[at])
    assert [x.tolist() for x in (listed.modelQ, listed.segQ)] == [
        x.tolist() for x in (stacked.modelQ, stacked.segQ)
    ]


def test_segments_only() -> None:
    segments = SegmentQuality(["z", "x", "y"], [3.0, 1.0, 2.0])
    stacked = stack_quality([segments], NDX)
    assert stacked.modelQ.tolist() == [[0.0, 0.0]]
    assert stacked.segQ.tolist() == [[1.0, 2.0, 3.0]]
    np.testing.assert_array_equal(stacked.scoremask, NDX.trialmask)
    both = QualityMeasures.from_segment_quality(SegmentQuality(["m"], [[4.0]]), segments)
    assert both == QualityMeasures(["m"], ["z", "x", "y"], [[4.0]], [[3.0, 1.0, 2.0]])
    for by_id in ({"z": 3.0, "x": 1.0, "y": 2.0}, pd.Series([3.0, 1.0, 2.0], index=list("zxy"))):
        assert SegmentQuality(by_id) == segments
    two = SegmentQuality({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    assert two.values.tolist() == [[1.0, 3.0], [2.0, 4.0]]


def test_mixing() -> None:
    mixed = mix_measures(QUALITY, [[2.0], [-1.0]])
    assert mixed.modelQ.tolist() == [[4.0, 2.0], [-2.0, -1.0]]
    assert mixed.segQ.tolist() == [[60.0, 40.0, 20.0], [-30.0, -20.0, -10.0]]
    np.testing.assert_array_equal(mixed.scoremask, QUALITY.scoremask)


NAN = SegmentQuality(["x", "y", "z"], [[1.0, np.nan, 1.0]])


@pytest.mark.parametrize(
    "call",
    [
        *(lambda x=x: stack_quality(x, NDX) for x in ([], [3.0], {"x": "loud"}, [NAN])),
        lambda: stack_quality([QUALITY], QUALITY),
        *(
            lambda x=x: mix_measures(QUALITY, x)
            for x in (np.ones((2, 3)), np.ones((1, 2)), np.ones((0, 1)), [1.0], [[np.nan]])
        ),
        lambda: SegmentQuality(["x", "y"], [1.0, 2.0, 3.0]),
        lambda: SegmentQuality(["x", "y"]),
        lambda: SegmentQuality(["x", "x"], [1.0, 2.0]),
        lambda: SegmentQuality(["x", "y"], pd.Series([1.0, 2.0], index=["x", "y"])),
        lambda: QualityMeasures(["m"], ["s"], [[1.0, 2.0]], [[1.0]]),
    ],
)
def test_what_is_refused(call) -> None:
    with pytest.raises(InvalidInputError):
        call()
    with pytest.raises(InvalidInputError, match=r"`segQ` .* \(1, 1\) .*; got \(2, 1\)"):
        QualityMeasures(["m"], ["s"], [[1.0]], [[1.0], [2.0]])
