"""Trials of a key or trial list with the scores that files hold for them, block by block.

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
from typing import Any, Self, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import StrArray, invalid, warn_caller
from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.storage.blocks import (
    MatrixFile,
    RowReader,
    describe_key,
    describe_scores,
    describe_trials,
    row_blocks,
)
from bosaris_py.trials._files import FilePath
from bosaris_py.trials._frame import Frame
from bosaris_py.trials.ids import IdIndex, IntArray

__all__ = ["TrialBlock", "TrialBlocks", "TrialCounts", "TrialIds"]

Item = TypeVar("Item")
Labels = npt.NDArray[np.int8]

# Blocks of rows that lie scattered in a file are so many times larger: each block
# reads every chunk that any of its rows is in.
_SCATTERED = 16


@attrs.frozen
class TrialCounts:
    """How many trials there are of each kind, and of how many there are scores.

    Parameters
    ----------
    n_tar, n_non : int
        Target and non-target trials of the key. A trial list counts as targets.
    scored_tar, scored_non : int
        Those that have a score in every file.
    nan : int
        Those whose score is NaN in some file.
    first_nan : tuple of int or None
        Row and column of the first of these.
    """

    n_tar: int = 0
    n_non: int = 0
    scored_tar: int = 0
    scored_non: int = 0
    nan: int = 0
    first_nan: tuple[int, int] | None = None

    def __add__(self, other: "TrialCounts") -> "TrialCounts":
        """Add the counts of other blocks, which come later."""
        return TrialCounts(
            self.n_tar + other.n_tar,
            self.n_non + other.n_non,
            self.scored_tar + other.scored_tar,
            self.scored_non + other.scored_non,
            self.nan + other.nan,
            other.first_nan if self.first_nan is None else self.first_nan,
        )


@attrs.frozen(eq=False)
class TrialIds:
    """The ids of the trials of a `TrialBlocks`, which itself has none.

    Parameters
    ----------
    modelset, segset : array of str
        Ids of the key or trial list.
    n_models, n_segments : int
        Number of them that all score files have.
    """

    modelset: StrArray
    segset: StrArray
    n_models: int
    n_segments: int

    def warn_missing(self, counts: TrialCounts, *, is_key: bool) -> None:
        """Warn of models, segments and trials without scores, as `Scores.get_tar_non` does.

        Parameters
        ----------
        counts : TrialCounts
            Those of all blocks.
        is_key : bool
            Whether the trials are those of a key.

        Warns
        -----
        MissingTrialsWarning
            If anything is missing.
        """
        lines = [
            (self.modelset.size, self.n_models, "models reduced from {wanted} to {found}"),
            (self.segset.size, self.n_segments, "testsegs reduced from {wanted} to {found}"),
        ]
        if is_key:
            targets = "{missing} of {wanted} targets missing."
            nontargets = "{missing} of {wanted} non-targets missing."
            lines.append((counts.n_tar, counts.scored_tar, targets))
            lines.append((counts.n_non, counts.scored_non, nontargets))
        else:
            lines.append((counts.n_tar, counts.scored_tar, "{missing} of {wanted} trials missing"))
        for wanted, found, message in lines:
            if found < wanted:
                text = message.format(wanted=wanted, found=found, missing=wanted - found)
                warn_caller(text, MissingTrialsWarning)

    def refuse_nan(self, counts: TrialCounts, owner: str) -> None:
        """Raise if a score of a trial is NaN.

        Parameters
        ----------
        counts : TrialCounts
            Those of all blocks.
        owner : str
            What the caller called.

        Raises
        ------
        InvalidInputError
            With the number of such trials, and the first of them.
        """
        if counts.first_nan is None:
            return
        row, col = counts.first_nan
        noun = "trial" if counts.nan == 1 else "trials"
        got = f"NaN for {counts.nan} {noun}, the first ({self.modelset[row]}, {self.segset[col]})"
        raise invalid("scores", owner, "not hold NaN where there is a trial", got)


@attrs.frozen(eq=False)
class TrialBlock:
    """Some rows of a key or trial list and the scores of their trials.

    The arrays may be buffers: they hold until the next block is read.

    Parameters
    ----------
    rows : slice or (r,) array of int
        Which rows of the key or trial list these are.
    labels : (r, n) array of int8
        1 for targets (of a trial list: trials), -1 for non-targets, 0 for no trial.
    scores : tuple of (r, n) arrays of float32 or float64
        The scores in each file.
    valid : (r, n) array of bool or None
        Where all files have a score; None: everywhere.
    """

    rows: slice | IntArray
    labels: Labels
    scores: tuple[npt.NDArray[Any], ...]
    valid: npt.NDArray[np.bool_] | None

    def scored_labels(self) -> Labels:
        """Return the labels, 0 where a score is missing."""
        return self.labels if self.valid is None else self.labels * self.valid

    def scores_of(self, label: int) -> npt.NDArray[Any]:
        """Return the scores of all trials of one kind that have a score in every file.

        Parameters
        ----------
        label : int
            1 for targets or trials, -1 for non-targets.

        Returns
        -------
        (n_files, n_found) array of float
            Row by row; float64 unless all files hold float32.
        """
        chosen = np.flatnonzero(self.scored_labels() == label)
        dtype = np.result_type(*self.scores)
        found = np.empty((len(self.scores), chosen.size), dtype=dtype)
        for out, matrix in zip(found, self.scores, strict=True):
            np.take(matrix.ravel(), chosen, out=out, mode="clip")
        return found

    def count(self) -> TrialCounts:
        """Count the trials, those that have scores, and the scores that are NaN."""
        n_tar, n_non = _count_labels(self.labels)
        if self.valid is None:
            scored_tar, scored_non = n_tar, n_non
        else:
            scored_tar, scored_non = _count_labels(self.scored_labels())
        n_nan, first = 0, None
        # The minimum of an array is NaN if anything is.
        if any(np.isnan(matrix.min(initial=0)) for matrix in self.scores):
            bad = np.isnan(self.scores[0])
            for matrix in self.scores[1:]:
                bad |= np.isnan(matrix)
            bad &= self.scored_labels() != 0
            places = np.argwhere(bad)
            n_nan = len(places)
            if n_nan:
                row = int(places[0, 0])
                start = self.rows.start + row if isinstance(self.rows, slice) else self.rows[row]
                first = (int(start), int(places[0, 1]))
        return TrialCounts(n_tar, n_non, scored_tar, scored_non, n_nan, first)


def _count_labels(labels: Labels) -> tuple[int, int]:
    """Return how many labels are 1, and how many -1."""
    n_trials = int(np.count_nonzero(labels))
    n_tar = int(np.count_nonzero(labels == 1))
    return n_tar, n_trials - n_tar


@attrs.frozen(eq=False)
class TrialBlocks:
    """How to read the trials of a key or trial list, and their scores, by blocks of rows.

    Make one with `open`.

    Parameters
    ----------
    trials : MatrixFile
        The key or trial list.
    scores : tuple of MatrixFile
        The score files.
    frames : tuple of Frame
        Where the rows and columns of the trials lie in each of these.
    order : (m,) array of int or None
        The order in which rows of the trials are read; None: as they are stored.
    """

    trials: MatrixFile
    scores: tuple[MatrixFile, ...]
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
        describe_file = describe_key if is_key else describe_trials
        trials, modelset, segset = describe_file(trial_file)
        wanted = _index(modelset, segset, trials.path)
        files, frames = [], []
        for path in score_files:
            file, models, segments = describe_scores(path)
            rows, cols = _index(models, segments, file.path)
            frame = Frame(rows.locate(wanted[0]), cols.locate(wanted[1]), trials.shape)
            files.append(file)
            frames.append(frame)
        order = None
        if any_order and frames[0].rows is not None:
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

    def cut(self, block_rows: int | None = None) -> list[slice]:
        """Cut the rows into blocks.

        Parameters
        ----------
        block_rows : int, optional
            Rows in a block; by default about four megabytes of scores.

        Returns
        -------
        list of slice
            What `read` takes; the same for the same files.
        """
        files = (self.trials, *self.scores)
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
        with ExitStack() as stack:
            trials = stack.enter_context(RowReader(self.trials))
            readers = [stack.enter_context(RowReader(file)) for file in self.scores]
            for block in blocks:
                rows = self._rows(block)
                labels = trials.read_labels(rows)
                scores, valid = [], None
                for reader, frame in zip(readers, self.frames, strict=True):
                    scores.append(_read_scores(reader, frame, rows))
                    found = _read_valid(reader, frame, rows)
                    if found is not None:
                        valid = found if valid is None else valid & found
                yield TrialBlock(rows, labels, tuple(scores), valid)

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
        with ExitStack() as stack:
            readers = [stack.enter_context(RowReader(file)) for file in self.scores]
            for block in blocks:
                rows = self._rows(block)
                yield tuple(
                    _read_scores(reader, frame, rows)
                    for reader, frame in zip(readers, self.frames, strict=True)
                )

    def _rows(self, block: slice) -> slice | IntArray:
        return _consecutive(block if self.order is None else self.order[block])


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
