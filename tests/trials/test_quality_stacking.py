"""Quality measures of several objects as one: the toolkit, masks, mixing, bad input."""

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError, MissingTrialsWarning
from bosaris_py.trials import Key, Ndx, QualityMeasures, SegmentQuality
from bosaris_py.trials.quality import mix_measures, stack_quality


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


@pytest.mark.parametrize(
    ("qualities", "message"),
    [
        ([], "`qualities` must hold at least one"),
        ([3.0], "`qualities` .* QualityMeasures, SegmentQuality or numbers by id only; got 3.0"),
        ({"x": "loud"}, "`values` must hold real numbers"),
        ([SegmentQuality(["x", "y", "z"], [[1.0, np.nan, 1.0]])], r"`segQ` .* finite .* \(y\)"),
    ],
)
def test_bad_lists(ndx, qualities, message):
    with pytest.raises(InvalidInputError, match=message):
        stack_quality(qualities, ndx)


def test_trials_are_needed(quality):
    with pytest.raises(InvalidInputError, match=r"`ndx` must be an Ndx or a Key"):
        stack_quality([quality], quality)
    with pytest.raises(InvalidInputError, match=r"`ndx` must be an Ndx or a Key"):
        stack_quality(SegmentQuality(["s0"], [[1.0]]), quality)


@pytest.mark.parametrize(
    ("qtrans", "message"),
    [
        (np.ones((2, 3)), r"each of the 1 measures, and a row; got shape \(2, 3\)\.$"),
        (np.ones((1, 2)), "Is it transposed"),
        (np.ones((0, 1)), "and a row"),
        ([1.0], "two-dimensional"),
        ([[np.nan]], "be finite"),
    ],
)
def test_bad_mixing(quality, qtrans, message):
    with pytest.raises(InvalidInputError, match=message):
        mix_measures(quality, qtrans)


def test_one_measure_is_a_list_of_numbers():
    assert SegmentQuality(["x", "y"], [1.0, 2.0]) == SegmentQuality(["x", "y"], [[1.0, 2.0]])
    assert SegmentQuality(["x", "y"], np.array([1.0, 2.0])).n_measures == 1
    with pytest.raises(InvalidInputError, match="`values`"):
        SegmentQuality(["x", "y"], [1.0, 2.0, 3.0])
