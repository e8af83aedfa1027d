"""Numbers of a text column as float64, exactly and in bulk."""

import contextlib
import math
import re

import numpy as np
import numpy.typing as npt

from bosaris_py.storage._tokens import Block, IntArray, LineNumbers, show, token_words

__all__ = ["read_numbers"]

_LONGEST_NUMBER = 64
# A sign, a point and 15 digits are 17 letters; they fill three words.
_LONGEST_DECIMAL = 24
_POWERS_OF_TEN = np.array([float(10**power) for power in range(23)])
_NUMBER_WITH_COMMA = re.compile(rb"[+-]?\d+,\d+([eE][+-]?\d+)?")


def read_numbers(
    block: Block,
    column: int,
    numbers: LineNumbers,
    first_record: int,
    rows: IntArray | None = None,
) -> npt.NDArray[np.float64]:
    """Return one column of a block as float64.

    Parameters
    ----------
    block : Block
        Lines of the file.
    column : int
        Which of its columns.
    numbers : LineNumbers
        Where the lines are, for the error message.
    first_record : int
        Number of the first line of the block, blank ones not counted.
    rows : (r,) ndarray of int, optional
        Which lines of the block; all by default.

    Returns
    -------
    (r,) ndarray of float64
        The nearest floats to the numbers as written; ``inf`` and ``nan`` in any case
        of letters are numbers too.

    Raises
    ------
    FileFormatError
        If a token is no number, or too large for one.
    """
    if rows is None:
        rows = np.arange(block.starts.shape[0])
    starts = block.starts[rows, column]
    lengths = block.stops[rows, column] - starts
    longest = int(lengths.max(initial=1))
    if longest > _LONGEST_NUMBER:
        return _one_by_one(block, column, numbers, first_record, rows)
    padded = np.zeros((starts.size, -(-longest // 8)), dtype="<u8")
    for number, chosen, word in token_words(block, starts, lengths):
        padded[slice(None) if chosen is None else chosen, number] = word
    values, is_plain = _plain_decimals(padded, lengths)
    others = np.flatnonzero(~is_plain)
    if others.size:
        values[others] = _any_numbers(
            block, column, numbers, first_record, rows[others], padded[others]
        )
    return values


def _plain_decimals(
    padded: npt.NDArray[np.uint64], lengths: IntArray
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Convert numbers such as ``-12.345`` that have at most 15 digits.

    Parameters
    ----------
    padded : (r, words) ndarray of uint64
        The letters of each token, with zeros behind them.
    lengths : (r,) ndarray of int
        The number of letters.

    Returns
    -------
    values : (r,) ndarray of float64
        The numbers.
    is_plain : (r,) ndarray of bool
        Which of them are right; the others are written in another way.

    Notes
    -----
    The digits make a whole number below 2^53, and powers of ten up to 10^22 are
    floats too, so the one division rounds once: the nearest float [1]_.

    References
    ----------
    .. [1] W. D. Clinger, "How to read floating point numbers accurately", Proc.
       PLDI, 1990, pp. 92-101.
    """
    width = min(8 * padded.shape[1], _LONGEST_DECIMAL)
    letters = np.ascontiguousarray(padded.view(np.uint8)[:, :width].T)
    whole = np.zeros(lengths.size)
    n_digits, n_behind = np.zeros((2, lengths.size), dtype=np.uint8)
    n_points = np.zeros(lengths.size, dtype=np.uint8)
    for letter in letters:
        digit = letter - np.uint8(ord("0"))
        is_digit = digit < 10
        np.copyto(whole, 10.0 * whole + digit, where=is_digit)
        n_digits += is_digit
        n_behind += is_digit & (n_points > 0)
        n_points += letter == ord(".")
    is_negative = letters[0] == ord("-")
    has_sign = is_negative | (letters[0] == ord("+"))
    is_plain = (n_digits > 0) & (n_digits <= 15) & (n_points <= 1)
    is_plain &= n_digits + n_points + has_sign == lengths
    # Of what is not plain there may be more digits than powers.
    values = whole / _POWERS_OF_TEN[np.minimum(n_behind, 22)]
    np.negative(values, out=values, where=is_negative)
    return values, is_plain


def _any_numbers(
    block: Block,
    column: int,
    numbers: LineNumbers,
    first_record: int,
    rows: IntArray,
    padded: npt.NDArray[np.uint64],
) -> npt.NDArray[np.float64]:
    """Convert numbers written in any way."""
    # float() would take 1_000, which is a typing error in a score file.
    if not (padded.view(np.uint8) == ord("_")).any():
        with contextlib.suppress(ValueError):
            texts = padded.view(f"S{8 * padded.shape[1]}").ravel()
            values = texts.astype(np.float64)
            infinite = np.flatnonzero(np.isinf(values))
            _, distinct = np.unique(texts[infinite], return_index=True)
            suspects = rows[np.sort(infinite[distinct])]
            _one_by_one(block, column, numbers, first_record, suspects)
            return values
    return _one_by_one(block, column, numbers, first_record, rows)


def _one_by_one(
    block: Block, column: int, numbers: LineNumbers, first_record: int, rows: IntArray
) -> npt.NDArray[np.float64]:
    """Convert numbers in a loop, which says where the first fault is."""
    return np.array(
        [_number(block.token(row, column), numbers, first_record + row) for row in rows.tolist()],
        dtype=np.float64,
    )


def _number(token: bytes, numbers: LineNumbers, record: int) -> float:
    """Convert one token, or say what is wrong with it."""
    if b"_" not in token:
        with contextlib.suppress(ValueError):
            value = float(token)
            if not math.isinf(value) or b"inf" in token.lower():
                return value
            text = f"{show(token)} is out of the range of floating-point numbers"
            raise numbers.error(record, text)
    text = f"{show(token)} is not a number"
    if _NUMBER_WITH_COMMA.fullmatch(token):
        text += "; write the decimal point as a point, not as a comma"
    elif token.lower() in (b"target", b"nontarget"):
        text += "; is this a Key?"
    raise numbers.error(record, text)
