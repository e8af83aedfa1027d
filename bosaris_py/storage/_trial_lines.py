"""The lines of text files that list trials: two ids, and what is said of the trial."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, warn_caller
from bosaris_py.errors import BosarisWarning, FileFormatError
from bosaris_py.storage._limits import MemoryBudget
from bosaris_py.storage._token_ids import DecodedIds, IdColumn
from bosaris_py.storage._token_numbers import read_numbers
from bosaris_py.storage._tokens import Block, LineNumbers, cut_into_columns, read_blocks, show

__all__ = ["TrialLines", "read_labelled_lines", "read_lines", "read_scored_lines"]

_LABELS = {b"target": True, b"nontarget": False}


@attrs.frozen(eq=False)
class TrialLines:
    """The two id columns of a file."""

    models: DecodedIds
    segments: DecodedIds
    model_codes: npt.NDArray[np.int32]
    segment_codes: npt.NDArray[np.int32]
    numbers: LineNumbers
    budget: MemoryBudget

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of models and segments."""
        return self.models.names.size, self.segments.names.size

    def cells(self, *, item_size: int) -> npt.NDArray[np.intp]:
        """Return the place of each record in a matrix of this shape, in C order.

        The matrix is refused if its `item_size` bytes per cell are too many.
        """
        rows, columns = self.shape
        what = f"a matrix of {rows} models x {columns} segments for {self.model_codes.size} trials"
        self.budget.claim(item_size * rows * columns, what)
        return self.models.rank[self.model_codes] * columns + self.segments.rank[self.segment_codes]

    def conflict(
        self,
        cells: npt.NDArray[np.intp],
        in_conflict: npt.NDArray[np.bool_],
        contents: npt.NDArray[Any],
    ) -> FileFormatError:
        """Return the error for a trial that occurs with different contents.

        Parameters
        ----------
        cells : (records,) ndarray of int
            The cell of each record.
        in_conflict : (records,) ndarray of bool
            Which records belong to cells with a conflict.
        contents : (records,) ndarray
            What the records say about their trials.
        """
        first = int(np.argmax(in_conflict))
        same_trial = np.flatnonzero(cells == cells[first])
        second = int(same_trial[contents[same_trial] != contents[first]][0])
        return self.disagreement(first, second, contents[first], contents[second])

    def disagreement(
        self, first: int, second: int, before: object, here: object
    ) -> FileFormatError:
        """Return the error for a trial that two records tell different things about."""
        model = self.models.name_of(int(self.model_codes[first]))
        segment = self.segments.name_of(int(self.segment_codes[first]))
        text = f"trial {model} {segment} is {here} here and {before} in line {self.numbers[first]}"
        return self.numbers.error(second, text)


def read_lines(
    path: FilePath,
    layout: str,
    max_bytes: int | None,
    keep: Callable[[Block, LineNumbers, int], None] | None = None,
    *,
    progress: bool,
) -> TrialLines:
    """Read a file of two ids a line; `keep` takes the third column of each block."""
    file_path = Path(path)
    numbers = LineNumbers(file_path)
    columns = (IdColumn(), IdColumn())
    codes: tuple[list[npt.NDArray[np.int32]], ...] = ([], [])
    records = 0
    for line, data in read_blocks(file_path, progress=progress):
        block = cut_into_columns(data, line, len(layout.split()), layout, numbers)
        for number, column in enumerate(columns):
            codes[number].append(column.encode(block, number).astype(np.int32))
        if keep is not None:
            keep(block, numbers, records)
        records += block.starts.shape[0]
    if records == 0:
        message = f"{file_path}: there is no line in this file; was it cut off?"
        warn_caller(message, BosarisWarning)
    budget = MemoryBudget(file_path, max_bytes)
    both = [np.concatenate(part) if part else np.empty(0, dtype=np.int32) for part in codes]
    ids = [
        DecodedIds.of(column, column_codes, numbers, budget)
        for column, column_codes in zip(columns, both, strict=True)
    ]
    return TrialLines(ids[0], ids[1], both[0], both[1], numbers, budget)


def read_labelled_lines(
    path: FilePath, max_bytes: int | None, *, progress: bool
) -> tuple[TrialLines, npt.NDArray[np.bool_]]:
    """Read a file of trials with labels; return the trials and which lines are targets."""
    labels = IdColumn()
    codes: list[npt.NDArray[Any]] = []

    def keep_labels(block: Block, numbers: LineNumbers, first: int) -> None:
        known = len(labels.ids)
        new_codes = labels.encode(block, 2)
        codes.append(new_codes.astype(np.int16))
        strangers = [
            code
            for code in range(known, len(labels.ids))
            if labels.ids[code].lower() not in _LABELS
        ]
        if strangers:
            # Codes are given by the length of a label first, not line by line.
            row = int(np.argmax(np.isin(new_codes, strangers)))
            label = labels.ids[new_codes[row]]
            hint = "; are these scores?" if _is_number(label) else ""
            text = f"the label must be target or nontarget, found {show(label)}{hint}"
            raise numbers.error(first + row, text)

    layout = "model segment target|nontarget"
    trials = read_lines(path, layout, max_bytes, keep_labels, progress=progress)
    is_target_label = np.array([_LABELS[label.lower()] for label in labels.ids], dtype=np.bool_)
    is_target = is_target_label[np.concatenate(codes)] if codes else is_target_label
    return trials, is_target


def read_scored_lines(
    path: FilePath, max_bytes: int | None, *, progress: bool
) -> tuple[TrialLines, npt.NDArray[np.float64]]:
    """Read a file of trials with scores; return the trials and the scores."""
    parts: list[npt.NDArray[np.float64]] = []

    def keep_scores(block: Block, numbers: LineNumbers, first: int) -> None:
        parts.append(read_numbers(block, 2, numbers, first))

    layout = "model segment score"
    trials = read_lines(path, layout, max_bytes, keep_scores, progress=progress)
    values = np.concatenate(parts) if parts else np.empty(0)
    return trials, values


def _is_number(token: bytes) -> bool:
    """Tell whether a token looks like a score."""
    try:
        float(token)
    except ValueError:
        return False
    return True
