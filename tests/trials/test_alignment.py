"""Finding ids, against a dictionary; moving matrices and vectors of them, cell by cell."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.trials import Key, Ndx, Scores, alignment
from bosaris_py.trials.alignment import (
    Frame,
    by_columns,
    code_ids,
    frame_of,
    from_columns,
    places_of,
)
from tests.strategies import names

LISTS = st.lists(names(), max_size=8)


def array(ids: list[str]) -> np.ndarray:
    return np.array(ids, dtype=np.str_)


@given(own=LISTS, wanted=LISTS)
def test_ids_are_found_at_their_last_place(own: list[str], wanted: list[str]) -> None:
    table = {name: place for place, name in enumerate(own)}
    expected = [table.get(name, -1) for name in wanted]
    assert places_of(array(wanted), array(own)).tolist() == expected
    frame = frame_of((array(wanted), array(own)), (array(own), array(own)))
    assert frame.cols is None
    assert (frame.rows is None) == (own == wanted)
    # A prefix must not match: numpy pads strings to a common width.
    known, asked = array(["model_1", "model_10"]), array(["model_10", "model", "model_100"])
    assert places_of(asked, known).tolist() == [1, -1, -1]


@given(st.lists(names(), max_size=12), st.sampled_from([list, array]))
def test_codes_give_the_names_back(listed: list[str], form) -> None:
    ids, codes = code_ids(form(listed), "models")
    assert ids.tolist() == sorted(set(listed))
    assert [ids[code] for code in codes] == listed


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, Frame]:
    """A source with cells of 0, and a frame."""
    shape = draw(st.tuples(st.integers(0, 7), st.integers(0, 7)))
    numbers = np.arange(shape[0] * shape[1]) % 5
    values = np.array(numbers.reshape(shape), order=draw(st.sampled_from("CF")))

    def positions(size: int) -> np.ndarray | None:
        places = st.lists(st.integers(-1, size - 1), max_size=8)
        return draw(st.none() | places.map(lambda p: np.array(p, dtype=np.intp)))

    rows, cols = positions(shape[0]), positions(shape[1])
    sizes = (n if at is None else at.size for at, n in zip((rows, cols), shape, strict=True))
    return values, Frame(rows, cols, tuple(sizes))


def naive_take(source: np.ndarray, frame: Frame) -> np.ndarray:
    """Cell by cell; what the source lacks is 0."""
    out = np.zeros(frame.shape, dtype=source.dtype)
    for i, j in np.ndindex(*frame.shape):
        row = i if frame.rows is None else frame.rows[i]
        col = j if frame.cols is None else frame.cols[j]
        if row >= 0 and col >= 0:
            out[i, j] = source[row, col]
    return out


@given(cases())
def test_a_frame_moves_every_cell(case: tuple[np.ndarray, Frame]) -> None:
    values, frame = case
    for source in (values, values > 1):
        taken = frame.take(source)
        np.testing.assert_array_equal(taken, naive_take(source, frame))
        assert taken.dtype == source.dtype
        assert not frame.is_identity or taken is source
    valid = naive_take(np.ones(values.shape, bool), frame)
    found = frame.take_valid(None)
    assert valid.all() if found is None else np.array_equal(found, valid)
    assert np.array_equal(frame.take_valid(values > 1), naive_take(values > 1, frame))


@given(cases())
def test_vectors_come_column_by_column_and_go_back(case: tuple[np.ndarray, Frame]) -> None:
    values, _ = case
    for mask in (None, values > 1, np.asfortranarray(values > 1)):
        everywhere = np.ones(values.shape, bool) if mask is None else mask
        cells = [(i, j) for j in range(values.shape[1]) for i in range(values.shape[0])]
        expected = [values[at] for at in cells if everywhere[at]]
        vector = by_columns(values, mask)
        assert vector.tolist() == expected
        whole = np.where(everywhere, values, 0)
        np.testing.assert_array_equal(from_columns(vector, mask, values.shape), whole)
        numbers = np.flatnonzero(everywhere.T)
        np.testing.assert_array_equal(from_columns(vector, numbers, values.shape), whole)


def test_places_of_items_of_which_some_are_absent() -> None:
    assert alignment.inverse(np.array([2, -1, 0]), 4).tolist() == [2, -1, 0, -1]
    assert alignment.inverse(np.array([-1, -1]), 2).tolist() == [-1, -1]


IDS = np.array(["a", "b"]), np.array(["s", "t", "u"])
KEY = Key(["a"], ["s", "t"], [[True, False]], [[False, True]])


@pytest.mark.parametrize("n", [0, 1, 5, 6, 20])
def test_the_first_five_trials_are_named(n: int) -> None:
    at = np.arange(n) % 6
    shown = alignment.name_trials(at % 2, at % 3, IDS)
    assert shown.split()[:2] == [str(n), "trial:" if n == 1 else "trials:"]
    assert shown.count("(b, t)") == (n >= 2)
    assert shown.count("(a, t)") == (n >= 5)
    assert shown.endswith("...") == (n > 5)


def test_what_is_missing_is_warned_of_one_by_one() -> None:
    for wanted, found, n in (
        ((5,), (5,), 0),
        ((5,), (4,), 1),
        ((2, 3), (1, 3), 1),
        ((2, 3), (1, 2), 2),
    ):
        for n_ids, n_more in (((2, 3), 0), ((1, 3), 1), ((2, 1), 1), ((0, 0), 2)):
            notes = alignment.notes_of_missing((2, 3), n_ids, wanted, found)
            parts = [part for note in notes for part in note.text.split("; ")]
            assert len(parts) == n + n_more
            assert {note.kind for note in notes} <= {MissingTrialsWarning}
    alignment.refuse_gaps([])
    with pytest.raises(TrialMismatchError):
        alignment.refuse_gaps(["system 1 lacks 1 of 2 trials"])


def test_one_object_or_some_are_a_list() -> None:
    one, ndx = Scores([[1.0]], ["a"], ["s"]), Ndx(["a"], ["s"])
    for some, n in ((one, 1), ([one], 1), ((one, one), 2), (iter([one, one]), 2)):
        assert alignment.as_list_of((Scores,), some, "systems") == [one] * n
    assert alignment.as_list_of((Scores, Ndx), [one, ndx], "systems") == [one, ndx]
    for bad in ([], [one, ndx], ndx, "file", {"x": one}, None):
        with pytest.raises(InvalidInputError):
            alignment.as_list_of((Scores,), bad, "systems")
    assert alignment.all_of_class(Scores, one, one) == [one, one]
    with pytest.raises(InvalidInputError):
        alignment.all_of_class(Scores, one, ndx)


def test_ids_occur_once_on_each_side() -> None:
    assert [ids.tolist() for ids in alignment.both_ids(["a"], ["a", "b"])] == [["a"], ["a", "b"]]
    for bad in ((["a", "a"], ["s"]), (["a"], ["s", "s"])):
        with pytest.raises(InvalidInputError):
            alignment.both_ids(*bad)


def test_an_empty_list_has_any_shape_without_cells() -> None:
    for models, segments in (([], ["s"]), (["m"], []), ([], [])):
        assert Scores([], models, segments).shape == (len(models), len(segments))
        assert Ndx(models, segments, []).cells is None
    for bad in ([], [[True, True]], [True] * 6, np.ones((3, 2), bool)):
        with pytest.raises(InvalidInputError):
            alignment.to_mask(bad, IDS, "x")
        with pytest.raises(InvalidInputError):
            Scores(np.array(bad, float), *IDS)


def test_a_full_mask_says_all() -> None:
    mask = np.ones((2, 3), dtype=bool)
    assert alignment.as_cells(None, IDS, "x") is alignment.as_cells(mask, IDS, "x") is None
    mask[1, 2] = False
    assert alignment.as_cells(mask, IDS, "x").tolist() == mask.tolist()
