"""SegmentQuality: alignment, filtering, merging."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.trials import SegmentQuality
from tests.strategies import id_lists, segment_qualities


def columns_of(item: SegmentQuality) -> dict[str, list[float]]:
    """The measures of each segment."""
    return dict(zip(item.ids.tolist(), item.values.T.tolist(), strict=True))


@given(segment_qualities(), id_lists())
def test_align(item: SegmentQuality, ids: list[str]) -> None:
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
def test_filter(item: SegmentQuality, ids: list[str], keep: bool) -> None:  # noqa: FBT001
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


def test_representation_counts() -> None:
    assert repr(SegmentQuality(["a"], [[1], [2]])) == "SegmentQuality: 2 measures of 1 segments"
    assert repr(SegmentQuality([], [])) == "SegmentQuality: 0 measures of 0 segments"
