"""The codes of ids, whatever the hash does."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosaris_py.storage import _token_ids
from bosaris_py.storage._token_ids import IdColumn
from bosaris_py.storage._tokens import LineNumbers, cut_into_columns


def encode(names: list[bytes], per_block: int) -> tuple[list[bytes], list[int]]:
    """Give codes to names, some at a time."""
    column = IdColumn()
    codes: list[int] = []
    numbers = LineNumbers(Path("a.txt"))
    for begin in range(0, len(names), per_block):
        data = b"".join(name + b"\n" for name in names[begin : begin + per_block])
        block = cut_into_columns(data, 1 + begin, 1, "id", numbers)
        codes += column.encode(block, 0).tolist()
    return column.ids, codes


NAMES = st.lists(
    st.one_of(
        st.binary(min_size=1, max_size=3).map(lambda b: bytes(33 + byte % 90 for byte in b)),
        st.integers(1, 40).map(lambda n: b"x" * n),
        st.sampled_from(
            [b"y" * 256, b"y" * 257, b"y" * 600, b"z" * 300, b"12345678", b"123456789"]
        ),
    ),
    max_size=40,
)


@settings(max_examples=150)
@given(names=NAMES, per_block=st.integers(1, 40), weak=st.sampled_from([None, 0, 1, 3]))
def test_codes_tell_ids_apart_even_if_hashes_collide(
    names: list[bytes], per_block: int, weak: int | None
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if weak is not None:
            # A hash of one value, of two, or of four.
            patch.setattr(
                _token_ids, "_mix", lambda hashes, words: (hashes ^ words) & np.uint64(weak)
            )
            patch.setattr(_token_ids, "_MULTIPLIER", np.uint64(0))
        ids, codes = encode(names, per_block)
    assert len(set(ids)) == len(ids)
    assert [ids[code] for code in codes] == names
    assert set(ids) == set(names)


def test_many_ids_over_many_blocks() -> None:
    rng = np.random.default_rng(7)
    names = [f"id{number}".encode() for number in rng.integers(0, 3000, 20000)]
    ids, codes = encode(names, 1111)
    assert [ids[code] for code in codes] == names
    assert len(ids) == len(set(names))


def test_runs_and_cycles() -> None:
    # The two columns of a file in column-major order.
    runs = [f"seg{i}".encode() for i in range(50) for _ in range(40)]
    cycles = [f"model{i}".encode() for _ in range(50) for i in range(40)]
    for names in (runs, cycles):
        ids, codes = encode(names, 333)
        assert [ids[code] for code in codes] == names


def test_line_numbers() -> None:
    numbers = LineNumbers(Path("a.txt"))
    numbers.add(1, 3)
    numbers.add(np.array([5, 9]), 2)
    numbers.add(10, 2)
    assert [numbers[record] for record in range(7)] == [1, 2, 3, 5, 9, 10, 11]
    assert str(numbers.error(4, "wrong")) == "a.txt:9: wrong"
