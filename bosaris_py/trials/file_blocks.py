"""Trials of a key or trial list with the scores that files hold for them, block by block.

Matrices are read by rows, and lists by stretches. Where both occur, the lists are put
into the rows of matrices, for which each task reads them through.

For files that are larger than memory, or that many workers read at once. Ids are
aligned once; after that rows are read and no id is looked at again::

    blocks = TrialBlocks.open(["a.h5", "b.h5"], "key.h5", owner="LinearFusion.fit_files")
    for block in blocks.read(blocks.cut()):
        tar = block.scores_of(1)  # (2, number of targets with both scores)
        non = block.scores_of(-1)

A `TrialBlocks` is small and can be sent to worker processes and to other machines that
see the files under the same names; it holds positions, neither ids nor scores.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, StrArray, invalid
from bosaris_py.storage.blocks import (
    Ids,
    MatrixFile,
    describe_key,
    describe_scores,
    describe_trials,
    row_blocks,
)
from bosaris_py.storage.flat_blocks import STRETCH, FlatFile, describe_flat, is_flat
from bosaris_py.storage.row_reader import RowReader
from bosaris_py.trials._flat_blocks import ListRows, listed_blocks
from bosaris_py.trials._frame import Frame
from bosaris_py.trials._trial_block import Labels, TrialBlock, TrialCounts, TrialIds
from bosaris_py.trials.ids import IdIndex, IntArray

__all__ = ["Labels", "TrialBlock", "TrialBlocks", "TrialCounts", "TrialIds"]

Item = TypeVar("Item")

AnyFile: TypeAlias = MatrixFile | FlatFile
Rows: TypeAlias = slice | IntArray

_TRIAL_LISTS = ("flat_key", "flat_ndx")
# Trials of a block of a list.
_LIST_BLOCK = 4 * STRETCH
# Blocks of rows that lie scattered in a file are so many times larger: each block
# reads every chunk that any of its rows is in.
_SCATTERED = 16


@attrs.frozen(eq=False)
class TrialBlocks:
    """How to read the trials of a key or trial list, and their scores, by blocks.

    Make one with `open`.

    Parameters
    ----------
    trials : MatrixFile or FlatFile
        The key or trial list.
    scores : tuple of MatrixFile or FlatFile
        The score files.
    frames : tuple of Frame
        Where the rows and columns of the trials lie in each of these.
    order : (m,) array of int or None
        The order in which rows of the trials are read; None: as they are stored.
    """

    trials: AnyFile
    scores: tuple[AnyFile, ...]
    frames: tuple[Frame, ...]
    order: IntArray | None = None

    @classmethod
    def open(
        cls,
        score_files: Sequence[FilePath],
        trial_file: FilePath,
        *,
        owner: str,
        any_order: bool = False,
        is_key: bool = True,
    ) -> tuple[Self, TrialIds]:
        """Look into the files and align their ids.

        Parameters
        ----------
        score_files : sequence of str or path-like
            HDF5 files with scores, at least one.
        trial_file : str or path-like
            HDF5 file with the key or, unless `is_key`, the trial list.
        owner : str
            What the caller called, for error messages.
        any_order : bool, optional
            Read rows in the order of the first score file, which is faster where it
            is another than that of the trials.
        is_key : bool, optional
            Refuse a trial list.

        Returns
        -------
        blocks : TrialBlocks
        ids : TrialIds

        Raises
        ------
        InvalidInputError
            If ids are repeated, or there are no score files.
        FileFormatError
            If a file is damaged, foreign or of another kind.
        FileNotFoundError
            If a file does not exist.
        """
        if not len(score_files):
            raise invalid("score_files", owner, "hold at least one file", "none")
        trials, modelset, segset = _describe_trials(trial_file, is_key=is_key)
        wanted = _index(modelset, segset, trials.path)
        files, frames = [], []
        for path in score_files:
            file, models, segments = _describe_scores(path)
            rows, cols = _index(models, segments, file.path)
            frame = Frame(rows.locate(wanted[0]), cols.locate(wanted[1]), trials.shape)
            files.append(file)
            frames.append(frame)
        order = None
        if any_order and frames[0].rows is not None and isinstance(files[0], MatrixFile):
            order = np.argsort(frames[0].rows, kind="stable")
        blocks = cls(trials, tuple(files), tuple(frames), order)
        n_models, n_segments = (
            _n_in_all([part[side] for part in ((f.rows, f.cols) for f in frames)], ids.size)
            for side, ids in enumerate((modelset, segset))
        )
        return blocks, TrialIds(modelset, segset, n_models, n_segments)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of models (rows) and segments (columns) of the trials."""
        return self.trials.shape

    @property
    def n_cells(self) -> int:
        """Number of trials that are looked at, or of cells where there may be one."""
        if self._are_lists:
            assert isinstance(self.trials, FlatFile)
            return self.trials.n_trials
        return self.shape[0] * self.shape[1]

    @property
    def _are_lists(self) -> bool:
        """Whether all files are lists of trials."""
        return all(isinstance(file, FlatFile) for file in (self.trials, *self.scores))

    def cut(self, block_rows: int | None = None) -> list[slice]:
        """Cut the rows, or the list of trials if there are only lists, into blocks.

        Parameters
        ----------
        block_rows : int, optional
            Rows in a block; by default about four megabytes of scores. Of lists, about
            as many trials as that many rows hold on average.

        Returns
        -------
        list of slice
            What `read` takes; the same for the same files.
        """
        if self._are_lists:
            return _cut_list(self.n_cells, self.shape[0], block_rows)
        files = [file for file in (self.trials, *self.scores) if isinstance(file, MatrixFile)]
        blocks = row_blocks(self.shape, files, block_rows)
        is_scattered = self.order is not None or any(f.rows is not None for f in self.frames)
        if block_rows is None and is_scattered and blocks:
            step = _SCATTERED * blocks[0].stop
            blocks = row_blocks(self.shape, files, step)
        return blocks

    def read(self, blocks: Sequence[slice]) -> Iterator[TrialBlock]:
        """Read some of the blocks, each while the one before is being used.

        Parameters
        ----------
        blocks : sequence of slice
            Some of what `cut` returned.

        Returns
        -------
        iterator of TrialBlock
            Its arrays hold until the next one is asked for.

        Raises
        ------
        FileFormatError
            If a file cannot be read, or changes until the last block has been used.
        """
        return _read_ahead(self._blocks(blocks))

    def _blocks(self, blocks: Sequence[slice]) -> Iterator[TrialBlock]:
        if self._are_lists:
            yield from listed_blocks(self.trials, self.scores, self.frames, blocks)
            return
        with ExitStack() as stack:
            rows = [self._rows(block) for block in blocks]
            identity = Frame(None, None, self.shape)
            trials = _enter(stack, self.trials, identity, rows)
            readers = [
                _enter(stack, file, frame, rows)
                for file, frame in zip(self.scores, self.frames, strict=True)
            ]
            for some in rows:
                labels = trials.read_labels(some)
                scores, valid = [], None
                for reader in readers:
                    scores.append(reader.read_scores(some))
                    found = reader.read_valid(some)
                    if found is not None:
                        valid = found if valid is None else valid & found
                yield TrialBlock(some, labels, tuple(scores), valid)

    def read_scores(self, blocks: Sequence[slice]) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        """Read the scores alone, when it is known already which of them are trials.

        Parameters
        ----------
        blocks : sequence of slice
            Some of what `cut` returned.

        Returns
        -------
        iterator of tuple of (r, n) arrays of float32 or float64
            As `TrialBlock.scores`; the memory is the caller's until the next are read.

        Raises
        ------
        FileFormatError
            As for `read`.
        """
        return _read_ahead(self._scores(blocks))

    def _scores(self, blocks: Sequence[slice]) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        if self._are_lists:
            for block in listed_blocks(self.trials, self.scores, self.frames, blocks):
                yield block.scores
            return
        with ExitStack() as stack:
            rows = [self._rows(block) for block in blocks]
            readers = [
                _enter(stack, file, frame, rows)
                for file, frame in zip(self.scores, self.frames, strict=True)
            ]
            for some in rows:
                yield tuple(reader.read_scores(some) for reader in readers)

    def _rows(self, block: slice) -> slice | IntArray:
        return _consecutive(block if self.order is None else self.order[block])


@attrs.frozen(eq=False)
class _MatrixRows:
    """Reads rows of the wanted trials in a file that holds a matrix."""

    reader: RowReader
    frame: Frame

    def read_labels(self, rows: Rows) -> Labels:
        return self.reader.read_labels(rows)

    def read_scores(self, rows: Rows) -> npt.NDArray[Any]:
        return _read_scores(self.reader, self.frame, rows)

    def read_valid(self, rows: Rows) -> npt.NDArray[np.bool_] | None:
        return _read_valid(self.reader, self.frame, rows)


def _enter(
    stack: ExitStack, file: AnyFile, frame: Frame, rows: Sequence[Rows]
) -> _MatrixRows | ListRows:
    """Open a file of which some rows will be read."""
    if isinstance(file, FlatFile):
        return ListRows.read(file, frame, rows)
    whole = frame.rows is None and all(file.has_whole_chunks(some) for some in rows)
    return _MatrixRows(stack.enter_context(RowReader(file, whole_chunks=whole)), frame)


def _describe_trials(path: FilePath, *, is_key: bool) -> tuple[AnyFile, Ids, Ids]:
    """Describe a key or, unless `is_key`, whatever lists trials."""
    if is_flat(path):
        return describe_flat(path, "flat_key") if is_key else describe_flat(path, *_TRIAL_LISTS)
    return describe_key(path) if is_key else describe_trials(path)


def _describe_scores(path: FilePath) -> tuple[AnyFile, Ids, Ids]:
    return describe_flat(path, "flat_scores") if is_flat(path) else describe_scores(path)


def _cut_list(n_trials: int, n_models: int, block_rows: int | None) -> list[slice]:
    """Cut a list of trials into blocks."""
    step = _LIST_BLOCK
    if block_rows is not None:
        step = max(1, round(n_trials * min(1.0, block_rows / max(1, n_models))))
    return [slice(start, min(start + step, n_trials)) for start in range(0, n_trials, step)]


def _read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items, each computed by a thread while the one before is being used.

    HDF5 reads and unpacks without holding up the interpreter.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        coming = pool.submit(_next, items)
        while True:
            # What reading raises is raised here, where the item is wanted.
            found = coming.result()
            if not found:
                return
            coming = pool.submit(_next, items)
            yield found[0]


def _next(items: Iterator[Item]) -> list[Item]:
    """Return the next item in a list, which is empty if there is none."""
    return list(islice(items, 1))


def _index(models: StrArray, segments: StrArray, path: Path) -> tuple[IdIndex, IdIndex]:
    """Index the ids of a file, each of which must occur once."""
    rows, cols = IdIndex.of(models), IdIndex.of(segments)
    rows.check_unique("modelset", str(path))
    cols.check_unique("segset", str(path))
    return rows, cols


def _n_in_all(positions: Sequence[IntArray | None], size: int) -> int:
    """Return how many of `size` ids have a position in all files."""
    known = np.ones(size, dtype=np.bool_)
    for places in positions:
        if places is not None:
            known &= places >= 0
    return int(np.count_nonzero(known))


def _consecutive(rows: slice | IntArray) -> slice | IntArray:
    """Return rows as a slice if they are consecutive."""
    if isinstance(rows, slice) or rows.size == 0:
        return rows
    if rows[-1] - rows[0] == rows.size - 1 and (np.diff(rows) == 1).all():
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


def _read_scores(reader: RowReader, frame: Frame, rows: slice | IntArray) -> npt.NDArray[Any]:
    """Read rows of a score file in the order of the trials, 0 where it has no such cell."""
    if frame.rows is None:
        scores = reader.read_scores(rows)
    else:
        places = frame.rows[rows]
        known = places >= 0
        scores = reader.read_scores(_consecutive(places[known]))
        if not known.all():
            found = scores
            scores = np.zeros((places.size, found.shape[1]), dtype=found.dtype)
            scores[known] = found
    if frame.cols is None:
        return scores
    if scores.shape[1] == 0:
        return np.zeros((scores.shape[0], frame.cols.size), dtype=scores.dtype)
    return np.take(scores, frame.cols, axis=1, mode="clip")


def _read_valid(
    reader: RowReader, frame: Frame, rows: slice | IntArray
) -> npt.NDArray[np.bool_] | None:
    """Tell in the order of the trials which cells of rows hold scores; None: all."""
    if frame.rows is None:
        n_rows = rows.stop - rows.start if isinstance(rows, slice) else rows.size
        row_known = np.ones(n_rows, dtype=np.bool_)
        valid = reader.read_valid(rows)
    else:
        places = frame.rows[rows]
        row_known = places >= 0
        valid = reader.read_valid(_consecutive(places[row_known]))
    col_known = np.ones(frame.shape[1], dtype=np.bool_) if frame.cols is None else frame.cols >= 0
    if valid is None:
        if row_known.all() and col_known.all():
            return None
        return np.logical_and.outer(row_known, col_known)
    framed = np.zeros((row_known.size, col_known.size), dtype=np.bool_)
    if valid.size:
        if frame.cols is not None:
            valid = np.take(valid, frame.cols, axis=1, mode="clip") & col_known
        framed[row_known] = valid
    return framed
