"""Text files of quality measures: a line for each segment, below one with their number."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, as_matrix, check_shape, frozen, invalid
from bosaris_py.errors import FileFormatError
from bosaris_py.storage._limits import MemoryBudget
from bosaris_py.storage._text_output import formatter, words, write_parts
from bosaris_py.storage._token_ids import DecodedIds, IdColumn
from bosaris_py.storage._token_numbers import read_numbers
from bosaris_py.storage._tokens import (
    LineNumbers,
    cut_into_columns,
    line_error,
    read_blocks,
    show,
)
from bosaris_py.storage._types import Arrays

__all__ = ["read_segment_quality", "write_segment_quality"]


def read_segment_quality(
    path: FilePath, *, max_bytes: int | None = None, progress: bool = False
) -> Arrays:
    """Read the quality measures of segments of a `SegmentQuality` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Refuse a file whose arrays need more memory; None stands for the memory of
        the machine.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    dict
        `ids` (n,) of str and `values` (q, n) of float64, in the order of the file; both
        read-only.

    Raises
    ------
    FileFormatError
        If the first line is not the number of measures, a line has another number of
        columns, a measure is no number, an id is repeated or not in UTF-8, or the
        matrix is too large.
    FileNotFoundError
        If there is no such file.
    """
    file_path = Path(path)
    numbers = LineNumbers(file_path)
    column = IdColumn()
    codes: list[npt.NDArray[Any]] = []
    parts: list[npt.NDArray[np.float64]] = []
    count: int | None = None
    records = 0
    budget = MemoryBudget(file_path, max_bytes)
    for line, data in read_blocks(file_path, progress=progress):
        if count is None:
            count, used, data = _cut_first_line(file_path, line, data)
            line += used
            if count is None:
                continue
        layout = " ".join(["id", *(f"measure{number + 1}" for number in range(min(count, 3)))])
        layout += " ..." if count > 3 else ""
        block = cut_into_columns(data, line, 1 + count, layout, numbers)
        codes.append(column.encode(block, 0))
        measures = [read_numbers(block, 1 + row, numbers, records) for row in range(count)]
        records += codes[-1].size
        budget.claim(16 * count * codes[-1].size, "the matrix of measures")
        parts.append(np.array(measures).reshape(count, codes[-1].size))
    if count is None:
        message = f"{file_path}: empty; the first line must be the number of measures"
        raise FileFormatError(message)
    all_codes = np.concatenate(codes) if codes else np.empty(0, dtype=np.intp)
    ids = DecodedIds.of(column, all_codes, numbers, budget)
    if len(column.ids) < all_codes.size:
        _, first = np.unique(all_codes, return_index=True)
        again = int(np.setdiff1d(np.arange(all_codes.size), first)[0])
        before = int(first[all_codes[again]])
        text = f"the id {show(column.ids[all_codes[again]])} was already in line {numbers[before]}"
        raise numbers.error(again, text)
    values = np.concatenate(parts, axis=1) if parts else np.empty((count, 0))
    return {"ids": ids.in_order(all_codes), "values": frozen(values)}


def write_segment_quality(
    path: FilePath,
    *,
    ids: npt.ArrayLike,
    values: npt.ArrayLike,
    number_format: str | None = None,
) -> None:
    """Write a `SegmentQuality` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    ids : (n,) array_like of str
        Ids of the segments.
    values : (q, n) array_like of float
        Their quality measures.
    number_format : str or None, optional
        How a measure becomes text, in the way of the ``%`` operator. None stands for the
        shortest text that reads back to the same float64.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, an id is empty or holds blanks, a measure is NaN, or
        `number_format` does not format one number.
    OSError
        If the file cannot be written.
    """
    owner = "SegmentQuality"
    names = words(ids, "ids", owner)
    measures = as_matrix(values, "values", owner)
    check_shape(measures, (measures.shape[0], len(names)), "values", owner, "like `ids`")
    if np.isnan(measures).any():
        found = f"NaN at {np.count_nonzero(np.isnan(measures))} of {measures.size} positions"
        raise invalid("values", owner, "not hold NaN", found)
    form = formatter(number_format)

    def lines() -> Iterator[str]:
        yield f"{measures.shape[0]}\n"
        for name, column in zip(names, measures.T.astype(np.float64), strict=True):
            yield " ".join([name, *map(form, column.tolist())]) + "\n"

    write_parts(path, lines())


def _cut_first_line(path: Path, line: int, data: bytes) -> tuple[int | None, int, bytes]:
    """Take the number of measures off the first line that is not blank.

    Returns that number (None if all lines are blank), the number of lines taken, and
    the rest.
    """
    used = 0
    while data:
        first, _, data = data.partition(b"\n")
        used += 1
        if not first.strip():
            continue
        if not first.strip().isdigit() or len(first.strip()) > 9:
            text = f"the first line must be the number of measures, found {show(first)}"
            raise line_error(path, line + used - 1, text)
        return int(first), used, data
    return None, used, data
