"""Finding ids, against a dictionary; moving matrices and vectors of them, cell by cell."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.trials import alignment
from bosaris_py.trials.alignment import Frame, IdIndex, by_columns, code_ids, from_columns
from tests.strategies import names

LISTS = st.lists(names(), max_size=8)


def array(ids: list[str]) -> np.ndarray:
    return np.array(ids, dtype=np.str_)


@given(own=LISTS, wanted=LISTS)
def test_ids_are_found_at_their_last_place(own: list[str], wanted: list[str]) -> None:
    index, others = IdIndex(array(own)), IdIndex(array(wanted))
    table = {name: place for place, name in enumerate(own)}
    assert index.locate_last(others).tolist() == [table.get(name, -1) for name in wanted]
    assert (index.locate(others) is None) == (own == wanted)
    assert index.which_in(array(wanted)).tolist() == [name in wanted for name in own]
    assert index.has_repeated() == (len(set(own)) < len(own))
    if index.has_repeated():
        with pytest.raises(InvalidInputError):
            index.check_unique("ids")


def test_ids_of_different_width_are_compared_whole() -> None:
    # numpy pads strings to a common width; a prefix must not match.
    index = IdIndex(array(["model_1", "model_10"]))
    wanted = IdIndex(array(["model_10", "model", "model_100"]))
    assert index.locate_last(wanted).tolist() == [1, -1, -1]


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


@pytest.fixture(autouse=True, params=[3, 2**17])
def small_and_large_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test with blocks of one size or the other, whose results must agree."""
    monkeypatch.setattr(alignment, "_TILE", request.param)
    monkeypatch.setattr(alignment, "_BLOCK_CELLS", 2 * request.param)


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
    assert frame.is_complete == (found is None)
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


def test_a_matrix_keeps_its_order_in_memory() -> None:
    frame = Frame(np.array([1, 0]), np.array([2, 1, 0]), (2, 3))
    values = np.arange(6.0).reshape(2, 3)
    assert frame.take(values).flags.c_contiguous
    assert frame.take(np.asfortranarray(values)).flags.f_contiguous


def test_places_of_items_of_which_some_are_absent() -> None:
    assert alignment.inverse(np.array([2, -1, 0]), 4).tolist() == [2, -1, 0, -1]
    assert alignment.inverse(np.array([-1, -1]), 2).tolist() == [-1, -1]


@pytest.mark.parametrize("n_ids", [1, 49, 50, 51, 1000])
def test_an_ending_that_one_side_has_is_found(n_ids: int) -> None:
    wanted = array([f"id{i:04}" for i in range(n_ids)])
    use: dict[str, str | None] = {}
    said = alignment.why_strange(wanted, np.strings.add(wanted, ".wav"), "segments", use)
    assert "id0000.wav" in said
    assert use == {"strip_suffix": ".wav"}
