"""The codes of ids, whatever the hash does."""

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosaris_py.errors import FileFormatError
from bosaris_py.storage import tokens
from bosaris_py.storage.memory import MemoryBudget
from bosaris_py.storage.tokens import (
    Block,
    DecodedIds,
    IdColumn,
    Layout,
    LineNumbers,
    cut_lines,
    read_numbers,
)


def cut(data: bytes, layout: str, separator: str | None = None) -> Block:
    """Cut lines into tokens."""
    return cut_lines(data, 1, Layout(layout, separator=separator), LineNumbers(Path("a.txt")))


def encode(names: list[bytes], per_block: int) -> tuple[list[bytes], list[int]]:
    """Give codes to names, some at a time."""
    column = IdColumn()
    codes: list[int] = []
    numbers = LineNumbers(Path("a.txt"))
    for begin in range(0, len(names), per_block):
        data = b"".join(name + b"\n" for name in names[begin : begin + per_block])
        block = cut_lines(data, 1 + begin, Layout("id"), numbers)
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


@settings(max_examples=5 * settings.default.max_examples)
@given(names=NAMES, per_block=st.integers(1, 40), weak=st.sampled_from([None, 0, 1, 3]))
def test_codes_tell_ids_apart_even_if_hashes_collide(
    names: list[bytes], per_block: int, weak: int | None
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if weak is not None:
            # A hash of one value, of two, or of four.
            shifted = weak << 62
            patch.setattr(tokens, "_hash", lambda words: (words[0] << 62) & np.uint64(shifted))
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


NUMBERS = st.one_of(
    st.floats().map(repr),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(lambda x: f"{x:.5f}"),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.from_regex(r"[+-]?[0-9]{0,20}\.?[0-9]{0,25}", fullmatch=True).filter(
        lambda text: any(letter.isdigit() for letter in text)
    ),
    st.sampled_from(["-0.0", "0", "1e5", "-.5", "5.", "inf", "-INF", "nan", "999999999999999"]),
)


@pytest.mark.slow
@given(texts=st.lists(NUMBERS, min_size=1, max_size=60))
def test_numbers_are_those_that_python_reads(texts: list[str]) -> None:
    block = cut("".join(f"{text}\n" for text in texts).encode(), "number")
    expected = np.array([float(text) for text in texts])
    if np.isinf(expected[[not re.search("inf", text, re.I) for text in texts]]).any():
        with pytest.raises(FileFormatError, match="out of the range"):
            read_numbers(block, 0)
        return
    found = read_numbers(block, 0)
    # To the last bit, the sign of zero included; a NaN is a NaN.
    assert [repr(value) for value in found.tolist()] == [repr(v) for v in expected.tolist()]
    rows = np.arange(len(texts))[::-2]
    again = read_numbers(block, 0, rows)
    np.testing.assert_array_equal(again, expected[rows])


@pytest.mark.parametrize("text", ["", "-", ".", "+-1", "1.2.3", "1_0", "1,5", "0x10", "1-", "--1"])
def test_no_numbers(text: str) -> None:
    block = cut(f"1;2\n3;{text}\n".encode(), "a b", ";")
    with pytest.raises(FileFormatError, match=r"a\.txt:2: .* is not a number"):
        read_numbers(block, 1)


WORDS = st.lists(
    st.text("ab1", min_size=1, max_size=20).map(str.encode), min_size=1, max_size=40
).filter(lambda names: len(names) > 0)


@given(names=WORDS, suffixes=st.lists(st.sampled_from([b"a", b"b1", b"ab"]), max_size=2))
def test_decoded_ids_are_sorted_and_stripped(names: list[bytes], suffixes: list[bytes]) -> None:
    block = cut(b"\n".join(names) + b"\n", "id")
    column = IdColumn()
    codes = column.encode(block, 0)
    ids = DecodedIds.of(column, codes, block.numbers, MemoryBudget(Path("a.txt"), None), suffixes)

    def stripped(name: bytes) -> str:
        fitting = [suffix for suffix in suffixes if name.endswith(suffix)]
        return name.removesuffix(fitting[0] if fitting else b"").decode()

    assert ids.names.tolist() == sorted(set(map(stripped, names)))
    assert ids.in_order(codes).tolist() == list(map(stripped, names))


@given(
    lines=st.lists(
        st.lists(st.text("ab", max_size=12), min_size=3, max_size=3), min_size=1, max_size=20
    )
)
def test_fields_at_separators(lines: list[list[str]]) -> None:
    kept = [line for line in lines if any(line)]
    data = "".join(",".join(line) + "\n" for line in lines).encode()
    block = cut(data, "a b c", ",")
    # Lines without anything are blank, and no records.
    assert len(block) == len(kept)
    found = [[block.token(row, column).decode() for column in range(3)] for row in range(len(kept))]
    assert found == kept
    full = [place for place, line in enumerate(lines, 1) if any(line)]
    assert [block.numbers[record] for record in range(len(kept))] == full


def test_optional_last_token() -> None:
    numbers = LineNumbers(Path("a.txt"))
    data = b"a b 1\n\nc d\ne f 22\ng h \n"
    block = cut_lines(data, 1, Layout("a b score", last_optional=True), numbers)
    tokens = [[block.token(row, column) for column in range(3)] for row in range(4)]
    assert tokens == [[b"a", b"b", b"1"], [b"c", b"d", b""], [b"e", b"f", b"22"], [b"g", b"h", b""]]
    assert [numbers[record] for record in range(4)] == [1, 3, 4, 5]
