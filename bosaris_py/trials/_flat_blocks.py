"""Blocks of trials from files that list them.

If all files are lists, the trials of the key are taken stretch by stretch, and those of
the score files that may be the same are searched among them. Both are in order, so each
stretch of scores is read about once if the ids are in the same order; in any order the
outcome is the same.

If some files hold matrices, lists are put into the rows of these.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import BoolArray
from bosaris_py.storage.blocks import MatrixFile
from bosaris_py.storage.flat_blocks import FlatFile, FlatReader, stretches
from bosaris_py.storage.trial_order import trial_codes
from bosaris_py.trials._frame import Frame, Positions
from bosaris_py.trials._trial_block import Labels, TrialBlock
from bosaris_py.trials.ids import IntArray

__all__ = ["ListRows", "listed_blocks"]

AnyArray: TypeAlias = npt.NDArray[Any]
Rows: TypeAlias = slice | IntArray


def listed_blocks(
    trials: FlatFile | MatrixFile,
    scores: Sequence[FlatFile | MatrixFile],
    frames: Sequence[Frame],
    blocks: Sequence[slice],
) -> Iterator[TrialBlock]:
    """Yield stretches of a list of trials with their scores in other lists.

    Parameters
    ----------
    trials : FlatFile
        The key or trial list.
    scores : sequence of FlatFile
        The scores.
    frames : sequence of Frame
        Where the models and segments of the trials are in each of these.
    blocks : sequence of slice
        Which of the trials.
    """
    with ExitStack() as stack:
        key, *readers = (_open(stack, file) for file in (trials, *scores))
        for block in blocks:
            models, segments = key.read_positions(block)
            labels = key.read_labels(block)
            values, valid = [], None
            for reader, frame in zip(readers, frames, strict=True):
                found, is_found = _find(reader, frame, models, segments)
                values.append(found)
                if not is_found.all():
                    valid = is_found if valid is None else valid & is_found
            yield TrialBlock(block, labels, tuple(values), valid, (models, segments))


def _open(stack: ExitStack, file: FlatFile | MatrixFile) -> FlatReader:
    assert isinstance(file, FlatFile)
    return stack.enter_context(FlatReader(file))


def _find(
    reader: FlatReader, frame: Frame, models: Positions, segments: Positions
) -> tuple[AnyArray, BoolArray]:
    """Return the scores of trials, 0 where there is none, and where there is one."""
    file = reader.file
    rows = models if frame.rows is None else frame.rows[models]
    cols = segments if frame.cols is None else frame.cols[segments]
    wanted = trial_codes(rows, cols, file.shape[0])
    if not frame.is_complete:
        wanted[(rows < 0) | (cols < 0)] = -1
    order = None
    if not (wanted[1:] >= wanted[:-1]).all():
        order = np.argsort(wanted, kind="stable")
        wanted = wanted[order]
    dtype = np.dtype(np.float32 if file.item_size == 4 else np.float64)
    scores = np.zeros(wanted.size, dtype=dtype)
    is_found = np.zeros(wanted.size, dtype=np.bool_)
    # The wanted trials that lie in each stretch, if they are anywhere.
    ends = np.append(np.searchsorted(wanted, file.first_codes), wanted.size)
    parts = stretches(file)
    for number in np.flatnonzero(np.diff(ends)).tolist():
        part, stretch = slice(int(ends[number]), int(ends[number + 1])), parts[number]
        codes = reader.read_codes(stretch)
        if np.array_equal(codes, wanted[part]):
            is_found[part], scores[part] = True, reader.read_scores(stretch)
            continue
        places = np.searchsorted(codes, wanted[part])
        np.minimum(places, codes.size - 1, out=places)
        hits = codes[places] == wanted[part]
        is_found[part] = hits
        scores[part] = np.where(hits, reader.read_scores(stretch)[places], dtype.type(0))
    if order is None:
        return scores, is_found
    unordered, is_found_unordered = np.empty_like(scores), np.empty_like(is_found)
    unordered[order], is_found_unordered[order] = scores, is_found
    return unordered, is_found_unordered


@attrs.frozen(eq=False)
class ListRows:
    """Trials of a list, put into rows of a matrix.

    Parameters
    ----------
    starts : (r + 1,) array of int
        Where each row begins in the next two; rows are those of `places`.
    cols : (k,) array of int
        The column of each trial.
    contents : (k,) array
        Its label or score.
    places : (m,) array of int
        Which of the rows each row of the matrix is, -1 if it was not asked for.
    n_cols : int
        Number of columns.
    """

    starts: IntArray
    cols: Positions
    contents: AnyArray
    places: IntArray
    n_cols: int

    @classmethod
    def read(cls, file: FlatFile, frame: Frame, blocks: Sequence[Rows]) -> Self:
        """Read a list through, and keep the trials of some rows.

        Parameters
        ----------
        file : FlatFile
            The list.
        frame : Frame
            Where the rows and columns of the matrix lie in the ids of the list.
        blocks : sequence of slice or array of int
            The rows that will be asked for.
        """
        n_rows, n_cols = frame.shape
        everything = np.arange(n_rows)
        rows = np.concatenate([everything[:0], *(everything[block] for block in blocks)])
        places = np.full(n_rows, -1, dtype=np.intp)
        places[rows] = np.arange(rows.size)
        of_model = _inverse(rows if frame.rows is None else frame.rows[rows], file.shape[0])
        of_segment = _inverse(
            np.arange(n_cols) if frame.cols is None else frame.cols, file.shape[1]
        )
        found: list[tuple[AnyArray, AnyArray, AnyArray]] = []
        with FlatReader(file) as reader:
            read_contents = reader.read_scores if file.kind == "flat_scores" else reader.read_labels
            for stretch in stretches(file):
                models, segments = reader.read_positions(stretch)
                at, cols = of_model[models], of_segment[segments]
                kept = np.flatnonzero((at >= 0) & (cols >= 0))
                if kept.size:
                    found.append((at[kept], cols[kept], read_contents(stretch)[kept]))
            # The type of no contents at all.
            nothing = np.empty(0, dtype=np.int32)
            found.append((nothing, nothing, read_contents(slice(0, 0))))
        at, cols, contents = (np.concatenate(part) for part in zip(*found, strict=True))
        order = np.argsort(at, kind="stable")
        starts = np.searchsorted(at[order], np.arange(rows.size + 1))
        return cls(starts, cols[order], contents[order], places, n_cols)

    def _trials(self, rows: Rows) -> tuple[AnyArray, AnyArray, slice, int]:
        """Return row, column and place of the trials of rows, and the number of rows."""
        places = self.places[rows]
        first, last = (int(places[0]), int(places[-1]) + 1) if places.size else (0, 0)
        part = slice(int(self.starts[first]), int(self.starts[last]))
        counts = np.diff(self.starts[first : last + 1])
        return np.repeat(np.arange(places.size), counts), self.cols[part], part, places.size

    def read_labels(self, rows: Rows) -> Labels:
        """Return the labels of one of the blocks, 0 where there is no trial."""
        return self.read_scores(rows)

    def read_scores(self, rows: Rows) -> AnyArray:
        """Return the scores of one of the blocks, 0 where there is none."""
        at, cols, part, n_rows = self._trials(rows)
        matrix = np.zeros((n_rows, self.n_cols), dtype=self.contents.dtype)
        matrix[at, cols] = self.contents[part]
        return matrix

    def read_valid(self, rows: Rows) -> BoolArray:
        """Tell where there is a trial."""
        at, cols, _, n_rows = self._trials(rows)
        matrix = np.zeros((n_rows, self.n_cols), dtype=np.bool_)
        matrix[at, cols] = True
        return matrix


def _inverse(places: IntArray, size: int) -> Positions:
    """Return which of `places` each of `size` positions is, -1 if none."""
    inverse = np.full(size, -1, dtype=np.int32)
    known = np.flatnonzero(places >= 0)
    inverse[places[known]] = known
    return inverse
