"""Ndx: construction, filtering, merging."""

import numpy as np
from hypothesis import given, strategies as st

from bosaris_py.trials import Ndx
from tests.strategies import id_lists, names, ndxs


def trials_of(ndx: Ndx) -> set[tuple[str, str]]:
    """The trials as pairs of ids, by plain loops."""
    return {
        (model, segment)
        for i, model in enumerate(ndx.modelset.tolist())
        for j, segment in enumerate(ndx.segset.tolist())
        if ndx.trialmask[i, j]
    }


def test_all_trials_by_default() -> None:
    assert Ndx(["a", "b"], ["s"]).trialmask.tolist() == [[True], [True]]


def test_empty() -> None:
    for empty in (Ndx([], []), Ndx([], [], []), Ndx([], ["s"])):
        assert empty.n_trials == 0
    assert Ndx([], ["s"]).trialmask.shape == (0, 1)


def test_representation_counts() -> None:
    assert repr(Ndx(["a", "b"], ["s"], [[True], [False]])) == "Ndx: 2 models x 1 segments, 1 trials"


@given(st.lists(st.tuples(names(), names()), max_size=10))
def test_from_trials(pairs: list[tuple[str, str]]) -> None:
    ndx = Ndx.from_trials([m for m, _ in pairs], [s for _, s in pairs])
    assert trials_of(ndx) == set(pairs)
    assert ndx.modelset.tolist() == sorted({m for m, _ in pairs})
    assert ndx.segset.tolist() == sorted({s for _, s in pairs})


@given(ndxs(), id_lists(), id_lists(), st.booleans())
def test_filter(ndx: Ndx, models: list[str], segments: list[str], keep: bool) -> None:  # noqa: FBT001
    filtered = ndx.filter(models, segments, keep)
    expected = {
        (m, s) for m, s in trials_of(ndx) if (m in models) == keep and (s in segments) == keep
    }
    assert trials_of(filtered) == expected
    assert filtered.modelset.tolist() == [m for m in ndx.modelset if (m in models) == keep]
    assert filtered.segset.tolist() == [s for s in ndx.segset if (s in segments) == keep]


@given(ndxs(), id_lists())
def test_what_is_kept_and_what_is_not_make_the_whole(ndx: Ndx, models: list[str]) -> None:
    kept = ndx.filter(models, ndx.segset, keep=True)
    rest = ndx.filter(models, [], keep=False)
    assert kept.modelset.size + rest.modelset.size == ndx.modelset.size
    assert Ndx.merge(kept, rest) == Ndx.merge(ndx)


@given(ndxs(), ndxs(), ndxs())
def test_merge(a: Ndx, b: Ndx, c: Ndx) -> None:
    merged = Ndx.merge(a, b, c)
    assert trials_of(merged) == trials_of(a) | trials_of(b) | trials_of(c)
    assert merged == Ndx.merge(c, a, b)
    assert merged == Ndx.merge(Ndx.merge(a, b), c) == a.merge(b.merge(c))
    assert merged.modelset.tolist() == sorted({*a.modelset, *b.modelset, *c.modelset})


@given(ndxs())
def test_merge_with_itself_changes_nothing(ndx: Ndx) -> None:
    assert ndx.merge(ndx) == Ndx.merge(ndx)


def test_equality_is_of_content() -> None:
    mask = np.array([[True, False]])
    ndx = Ndx(["a"], ["s", "t"], mask)
    assert ndx == Ndx(np.array(["a"], dtype="U9"), ("s", "t"), mask.tolist())
    assert ndx != Ndx(["a"], ["t", "s"], mask)
    assert ndx != Ndx(["a"], ["s", "t"])
    assert ndx != "ndx"
