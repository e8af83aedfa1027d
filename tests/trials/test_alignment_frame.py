"""Moving matrices and turning them into vectors, against plain numpy indexing."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.trials import alignment
from bosaris_py.trials.alignment import Frame, from_columns


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, Frame, np.ndarray]:
    """A source with its mask, a frame, and a mask of what is wanted in that frame."""
    shape = draw(st.tuples(st.integers(0, 7), st.integers(0, 7)))
    order = draw(st.sampled_from("CF"))
    values = np.arange(1.0, 1 + shape[0] * shape[1]).reshape(shape, order=order)
    present = np.asarray(np.arange(values.size).reshape(shape) % 5 != 3, order=order)

    def positions(size: int) -> np.ndarray | None:
        places = st.lists(st.integers(-1, size - 1), max_size=8)
        return draw(st.none() | places.map(lambda p: np.array(p, dtype=np.intp)))

    rows, cols = positions(shape[0]), positions(shape[1])
    wanted_shape = (
        shape[0] if rows is None else rows.size,
        shape[1] if cols is None else cols.size,
    )
    seed = draw(st.integers(0, 2**16))
    wanted = np.random.default_rng(seed).random(wanted_shape) < 0.6
    return values, present, Frame(rows, cols, wanted_shape), wanted


def naive_take(source: np.ndarray, frame: Frame) -> np.ndarray:
    """Cell by cell; what the source lacks is 0."""
    out = np.zeros(frame.shape, dtype=source.dtype)
    for i in range(frame.shape[0]):
        for j in range(frame.shape[1]):
            row = i if frame.rows is None else frame.rows[i]
            col = j if frame.cols is None else frame.cols[j]
            if row >= 0 and col >= 0:
                out[i, j] = source[row, col]
    return out


@pytest.fixture(autouse=True, params=[3, 2**17])
def small_and_large_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test with blocks of one size or the other, whose results must agree."""
    monkeypatch.setattr(alignment, "_TILE", request.param)
    monkeypatch.setattr(alignment, "_STRIP_CELLS", 5 * request.param)
    monkeypatch.setattr(alignment.blocks, "__defaults__", (2 * request.param,))


@given(cases())
def test_take_moves_every_cell(case: tuple) -> None:
    values, present, frame, _ = case
    for source in (values, present):
        before = source.copy()
        taken = frame.take(source)
        assert np.array_equal(taken, naive_take(source, frame))
        assert taken.dtype == source.dtype
        assert np.array_equal(source, before)


@given(cases())
def test_valid_cells_are_present_and_found(case: tuple) -> None:
    values, present, frame, _ = case
    assert np.array_equal(frame.take_valid(present), naive_take(present, frame))
    everywhere = frame.take_valid(None)
    expected = naive_take(np.ones(values.shape, dtype=bool), frame)
    if everywhere is None:
        assert expected.all()
    else:
        assert np.array_equal(everywhere, expected)


@given(cases())
def test_extraction_is_column_major(case: tuple) -> None:
    values, present, frame, wanted = case
    mask = wanted & naive_take(present, frame)
    expected = naive_take(values, frame).T[mask.T]
    assert np.array_equal(frame.by_columns(values, mask), expected)
    whole = frame.by_columns(values, None)
    assert np.array_equal(whole, naive_take(values, frame).T.ravel())


@given(cases())
def test_a_matrix_of_columns(case: tuple) -> None:
    values, present, _, _ = case
    frame = Frame(None, None, values.shape)
    made = from_columns(frame.by_columns(values, present), present, values.shape)
    assert np.array_equal(made, np.where(present, values, 0.0))
    assert np.array_equal(from_columns(frame.by_columns(values, None), None, values.shape), values)


def test_identity_shares_memory() -> None:
    values = np.zeros((3, 4))
    assert Frame(None, None, (3, 4)).take(values) is values


def test_result_keeps_the_memory_order_of_the_source() -> None:
    frame = Frame(np.array([1, 0]), np.array([2, 1, 0]), (2, 3))
    values = np.arange(6.0).reshape(2, 3)
    assert frame.take(values).flags.c_contiguous
    assert frame.take(np.asfortranarray(values)).flags.f_contiguous
