"""Blocks of trials read from files, and their counts of targets, non-targets and missing scores.

For files that are larger than memory, or that many workers read at once. Ids are
aligned once; after that rows are read and no id is looked at again::

    blocks = TrialBlocks.open(["a.h5", "b.h5"], "key.h5")
    for block in blocks.read(blocks.cut()):
        tar = block.scores_of(1)  # (2, number of targets with both scores)
        non = block.scores_of(-1)

A `TrialBlocks` is small and can be sent to worker processes and to other machines that see the
files under the same names; it holds positions, neither ids nor scores.

Matrices are read by rows. If all files are lists, the trials of the key are taken chunk by chunk,
and those of the score files that may be the same are searched among them. If some files hold
matrices, lists are put into the rows of these.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, BoolArray, Positions, StrArray
from bosaris_py._validation import FilePath, invalid
from bosaris_py.files.columns import trial_codes
from bosaris_py.files.hdf5 import CHUNK_TRIALS
from bosaris_py.files.rows import (
    AnyFile,
    FlatFile,
    FlatReader,
    MatrixFile,
    RowReader,
    Rows,
    describe,
    row_blocks,
)
from bosaris_py.trials.alignment import Frame, IdIndex, as_slice, inverse, refuse_strangers
from bosaris_py.trials.arguments import warn_missing

Labels = npt.NDArray[np.int8]

# Eight labels -1 as one number.
_EIGHT_NON = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

# If more than one word of eight cells in so many differs, a pass over all cells is as fast.
_WORDS_PER_ODD_ONE = 8

# Trials of a block of a list.
_LIST_BLOCK = 4 * CHUNK_TRIALS

# Blocks of rows that lie scattered in a file are so many times larger: each block
# reads every chunk that any of its rows is in.
_SCATTERED = 16


@attrs.frozen
class TrialCounts:
    """How many trials there are of each kind, and of how many there are scores."""

    # `n_tar` and `n_non` count the trials of the key, those of a trial list as targets, and
    # `scored_tar` and `scored_non` the ones that have a score in every file. `nan` counts the
    # trials whose score is NaN in some file; `first_nan` is the row and column of the first.

    n_tar: int = 0
    n_non: int = 0
    scored_tar: int = 0
    scored_non: int = 0
    nan: int = 0
    first_nan: tuple[int, int] | None = None

    def __add__(self, other: "TrialCounts") -> "TrialCounts":
        """Add the counts of other blocks, which come later."""
        sums: dict[str, Any] = {
            field.name: getattr(self, field.name) + getattr(other, field.name)
            for field in attrs.fields(TrialCounts)[:-1]
        }
        first = other.first_nan if self.first_nan is None else self.first_nan
        return TrialCounts(**sums, first_nan=first)


@attrs.frozen(eq=False)
class TrialIds:
    """The ids of the trials of a `TrialBlocks`, and how many of them all score files have."""

    modelset: StrArray
    segset: StrArray
    n_models: int
    n_segments: int

    def warn_missing(self, counts: TrialCounts, *, is_key: bool) -> None:
        """Warn of models, segments and trials without scores, as `Scores.get_tar_non` does."""
        n_classes = 2 if is_key else 1
        wanted = (counts.n_tar, counts.n_non)[:n_classes]
        found = (counts.scored_tar, counts.scored_non)[:n_classes]
        shape = self.modelset.size, self.segset.size
        warn_missing(shape, (self.n_models, self.n_segments), wanted, found)

    def refuse_nan(self, counts: TrialCounts) -> None:
        """Raise if a score of a trial is NaN, with the number of such trials and the first."""
        if counts.first_nan is None:
            return
        row, col = counts.first_nan
        noun = "trial" if counts.nan == 1 else "trials"
        got = f"NaN for {counts.nan} {noun}, the first ({self.modelset[row]}, {self.segset[col]})"
        raise invalid("scores", "not hold NaN where there is a trial", got)


@attrs.frozen(eq=False)
class TrialBlock:
    """Some trials of a key or trial list, and their scores."""

    # The arrays may be buffers: they hold until the next block is read. `rows` says which rows of
    # the key these are. The matrices have these rows: `labels` are 1 for targets (of a trial list:
    # trials), -1 for non-targets, 0 for no trial; `scores` are those of each file; `valid` says
    # where all files have one (None: everywhere). If key and scores are lists, `cells` are the
    # model and segment of each trial, `rows` is a part of the list, and there are vectors in place
    # of matrices.

    rows: slice | Positions
    labels: Labels
    scores: tuple[AnyArray, ...]
    valid: npt.NDArray[np.bool_] | None
    cells: tuple[AnyArray, AnyArray] | None = None

    @functools.cached_property
    def scored_labels(self) -> Labels:
        """The labels, 0 where a score is missing."""
        return self.labels if self.valid is None else self.labels * self.valid

    @functools.cached_property
    def few_others(self) -> Positions | None:
        """The cells that are no non-targets with a score, or None if they are many."""
        return _cells_of_others(self.scored_labels)

    def scores_of(self, label: int) -> AnyArray:
        """Return (n_files, n) scores of the trials of one kind that have one in every file."""
        # `label` is 1 for targets or trials, -1 for non-targets. The scores come row by row, as
        # float64 unless all files hold float32.
        labels, others = self.scored_labels.reshape(-1), self.few_others
        chosen: AnyArray
        # Targets are few: only the cells that are no non-targets are looked at.
        if label == -1 or others is None:
            chosen = labels == label
        else:
            chosen = others[labels[others] == label]
        found = [matrix.reshape(-1)[chosen] for matrix in self.scores]
        return found[0][np.newaxis] if len(found) == 1 else np.stack(found)

    def take_non(self) -> AnyArray:
        """Return the scores of non-targets as `scores_of`, but in any order and in their memory."""
        if self.few_others is None:
            return self.scores_of(-1)
        found = [without(matrix, self.few_others) for matrix in self.scores]
        return found[0][np.newaxis] if len(found) == 1 else np.stack(found)

    def count(self) -> TrialCounts:
        """Count the trials, those that have scores, and the scores that are NaN."""
        scored_tar, scored_non = _count_labels(self.scored_labels, self.few_others)
        n_tar, n_non = scored_tar, scored_non
        if self.valid is not None:
            n_tar, n_non = _count_labels(self.labels, _cells_of_others(self.labels))
        n_nan, first = 0, None
        # The minimum of an array is NaN if anything is.
        if any(np.isnan(matrix.min(initial=0)) for matrix in self.scores):
            bad = np.isnan(self.scores[0])
            for matrix in self.scores[1:]:
                bad |= np.isnan(matrix)
            bad &= self.scored_labels != 0
            positions = np.argwhere(bad)
            n_nan = len(positions)
            if n_nan:
                first = self.trial_at(*positions[0])
        return TrialCounts(n_tar, n_non, scored_tar, scored_non, n_nan, first)

    def trial_at(self, row: int, col: int = 0) -> tuple[int, int]:
        """Return the model and the segment of a trial of this block."""
        if self.cells is not None:
            models, segments = self.cells
            return int(models[row]), int(segments[row])
        if isinstance(self.rows, slice):
            return self.rows.start + int(row), int(col)
        return int(self.rows[row]), int(col)


def without(matrix: AnyArray, cells: Positions) -> AnyArray:
    """Return a matrix without some cells, as a vector in its memory and in any order."""
    vector = matrix.reshape(-1)
    if not cells.size:
        return vector
    # These cells are filled with the last of those that stay.
    n_kept = vector.size - cells.size
    tail = np.ones(cells.size, dtype=np.bool_)
    tail[cells[cells >= n_kept] - n_kept] = False
    vector[cells[cells < n_kept]] = vector[n_kept:][tail]
    return vector[:n_kept]


def _count_labels(labels: Labels, others: Positions | None) -> tuple[int, int]:
    """Return how many labels are 1, and how many -1; `others` are the cells of all but these."""
    if others is not None:
        n_tar = np.count_nonzero(labels.reshape(-1)[others] == 1)
        return int(n_tar), labels.size - others.size
    n_tar = np.count_nonzero(labels == 1)
    return int(n_tar), int(np.count_nonzero(labels) - n_tar)


def _cells_of_others(labels: Labels) -> Positions | None:
    """Return the cells whose label is not -1, or None if there are many."""
    vector = labels.reshape(-1)
    n_words = vector.size // 8
    # Most keys have few targets and no gaps: eight cells at once are looked at.
    words = np.flatnonzero(vector[: 8 * n_words].view(np.uint64) != _EIGHT_NON)
    if words.size > n_words // _WORDS_PER_ODD_ONE:
        return None
    cells = np.add.outer(8 * words, np.arange(8)).ravel()
    cells = np.concatenate((cells, np.arange(8 * n_words, vector.size)))
    others: Positions = cells[vector[cells] != -1]
    return others


def listed_blocks(
    files: Sequence[FlatFile], frames: Sequence[Frame], blocks: Sequence[slice]
) -> Iterator[TrialBlock]:
    """Yield chunks of the trials in the first list with their scores in the others."""
    # `frames` say where the models and segments of the trials are in each of these.
    with ExitStack() as stack:
        key, *readers = (stack.enter_context(FlatReader(file)) for file in files)
        for block in blocks:
            models, segments = key.read_positions(block)
            labels = key.read_labels(block)
            values, valid = [], None
            for reader, frame in zip(readers, frames, strict=True):
                found, is_found = _find(reader, frame, models, segments)
                values.append(found)
                valid = _both(valid, None if is_found.all() else is_found)
            yield TrialBlock(block, labels, tuple(values), valid, (models, segments))


def _blocks_of_scores(file: AnyFile, blocks: Sequence[slice]) -> Iterator[TrialBlock]:
    """Yield blocks of a score file by itself, with a trial wherever there is a score."""
    with FlatReader(file) if isinstance(file, FlatFile) else RowReader(file) as reader:
        for block in blocks:
            scores, cells, valid = reader.read_scores(block), None, None
            if isinstance(reader, FlatReader):
                cells = reader.read_positions(block)
            else:
                valid = reader.read_valid(block)
            labels = np.ones(scores.shape, np.int8) if valid is None else valid.view(np.int8)
            yield TrialBlock(block, labels, (scores,), None, cells)


def _both(first: BoolArray | None, second: BoolArray | None) -> BoolArray | None:
    """Return where two masks are true; None says everywhere."""
    if first is None or second is None:
        return second if first is None else first
    return first & second


def _find(
    reader: FlatReader, frame: Frame, models: Positions, segments: Positions
) -> tuple[AnyArray, BoolArray]:
    """Return the scores of trials, 0 where there is none, and where there is one."""
    file = reader.file
    rows, cols = frame.cells(models, segments)
    wanted = trial_codes(rows, cols, file.shape[0])
    if not frame.is_complete:
        wanted[(rows < 0) | (cols < 0)] = -1
    # Sorted codes lie in one chunk after the other, so that each chunk is read about once.
    order = None
    if not (wanted[1:] >= wanted[:-1]).all():
        order = np.argsort(wanted, kind="stable")
        wanted = wanted[order]
    dtype = np.dtype(np.float32 if file.item_size == 4 else np.float64)
    scores = np.zeros(wanted.size, dtype=dtype)
    is_found = np.zeros(wanted.size, dtype=np.bool_)
    # The wanted trials that lie in each chunk, if they are anywhere.
    ends = np.append(np.searchsorted(wanted, file.first_codes), wanted.size)
    parts = file.chunks()
    for number in np.flatnonzero(np.diff(ends)).tolist():
        part, chunk = slice(int(ends[number]), int(ends[number + 1])), parts[number]
        # The lists often hold the same trials in the same order; then nothing is searched.
        codes = reader.read_codes(chunk)
        if np.array_equal(codes, wanted[part]):
            is_found[part], scores[part] = True, reader.read_scores(chunk)
            continue
        lines = np.searchsorted(codes, wanted[part])
        np.minimum(lines, codes.size - 1, out=lines)
        hits = codes[lines] == wanted[part]
        is_found[part] = hits
        scores[part] = np.where(hits, reader.read_scores(chunk)[lines], dtype.type(0))
    if order is None:
        return scores, is_found
    unordered, is_found_unordered = np.empty_like(scores), np.empty_like(is_found)
    unordered[order], is_found_unordered[order] = scores, is_found
    return unordered, is_found_unordered


@attrs.frozen(eq=False)
class ListRows:
    """Trials of a list, put into rows of a matrix."""

    # Row `i` of those that are held has the `cols` and `contents` (labels or scores) from
    # `starts[i]` to `starts[i + 1]`. `held_at` says which of the rows held each row of the matrix
    # is, -1 if it was not asked for; `n_cols` is the number of columns.

    starts: Positions
    cols: Positions
    contents: AnyArray
    held_at: Positions
    n_cols: int

    @classmethod
    def read(cls, file: FlatFile, frame: Frame, blocks: Sequence[Rows]) -> Self:
        """Read a list through, and keep the trials of some rows."""
        # `frame` says where the rows and columns of the matrix lie in the ids of the list.
        n_rows, n_cols = frame.shape
        everything = np.arange(n_rows)
        rows = np.concatenate([everything[:0], *(everything[block] for block in blocks)])
        held_at = np.full(n_rows, -1, dtype=np.intp)
        held_at[rows] = np.arange(rows.size)
        of_model = inverse(rows if frame.rows is None else frame.rows[rows], file.shape[0])
        of_segment = inverse(np.arange(n_cols) if frame.cols is None else frame.cols, file.shape[1])
        found: list[tuple[AnyArray, AnyArray, AnyArray]] = []
        with FlatReader(file) as reader:
            read_contents = reader.read_scores if file.kind == "flat_scores" else reader.read_labels
            # The list is read once, whatever rows are asked for: its trials come by segment.
            for chunk in file.chunks():
                models, segments = reader.read_positions(chunk)
                at, cols = of_model[models], of_segment[segments]
                kept = np.flatnonzero((at >= 0) & (cols >= 0))
                if kept.size:
                    found.append((at[kept], cols[kept], read_contents(chunk)[kept]))
            # The type of no contents at all.
            nothing = np.empty(0, dtype=np.int32)
            found.append((nothing, nothing, read_contents(slice(0, 0))))
        at, cols, contents = (np.concatenate(part) for part in zip(*found, strict=True))
        # Sorted by row, the trials of a block are one part of the list.
        order = np.argsort(at, kind="stable")
        starts = np.searchsorted(at[order], np.arange(rows.size + 1))
        return cls(starts, cols[order], contents[order], held_at, n_cols)

    def _put(self, rows: Rows, contents: AnyArray) -> AnyArray:
        """Return rows of the matrix, 0 where there is no trial."""
        held = self.held_at[rows]
        matrix = np.zeros((held.size, self.n_cols), dtype=contents.dtype)
        if held.size:
            # The rows of a block are held one after the other.
            first, last = int(held[0]), int(held[-1]) + 1
            part = slice(int(self.starts[first]), int(self.starts[last]))
            at = np.repeat(np.arange(held.size), np.diff(self.starts[first : last + 1]))
            matrix[at, self.cols[part]] = contents[part]
        return matrix

    def read_scores(self, rows: Rows) -> AnyArray:
        """Return the scores, or labels, of one of the blocks, 0 where there is none."""
        return self._put(rows, self.contents)

    read_labels = read_scores

    def read_valid(self, rows: Rows) -> BoolArray:
        """Tell where there is a trial."""
        return self._put(rows, np.broadcast_to(np.True_, self.cols.shape))


Item = TypeVar("Item")


@attrs.frozen(eq=False)
class TrialBlocks:
    """How to read the trials of a key or trial list, and their scores, by blocks."""

    # Made by `open`. `frames` say where the rows and columns of the trials lie in each of the score
    # files. Rows are read in `order`, or as they are stored if that is None. Scores are multiplied
    # by `factor`, which makes logarithms of another base natural, as `to_natural` does in memory.

    trials: AnyFile
    scores: tuple[AnyFile, ...]
    frames: tuple[Frame, ...]
    order: Positions | None = None
    factor: float | None = None

    @classmethod
    def open(
        cls,
        score_files: Sequence[FilePath],
        trial_file: FilePath | None,
        *,
        any_order: bool = False,
        is_key: bool = True,
    ) -> tuple[Self, TrialIds]:
        """Look into the HDF5 files and align their ids."""
        # With `any_order`, rows are read in the order of the first score file. A trial list is
        # refused if `is_key`. Without `trial_file`, the first score file has a trial wherever it
        # has a score.
        if not len(score_files):
            raise invalid("score_files", "hold at least one file", "none")
        kinds = ("key",) if is_key else ("key", "ndx")
        if trial_file is None:
            trial_file, kinds = score_files[0], ("scores",)
        trials, modelset, segset = describe(trial_file, *kinds)
        wanted = _index(modelset, segset, trials.path)
        if kinds == ("scores",):
            alone = cls(trials, (trials,), (Frame(None, None, trials.shape),))
            return alone, TrialIds(modelset, segset, *trials.shape)
        files, frames = [], []
        for path in score_files:
            file, models, segments = describe(path, "scores")
            rows, cols = _index(models, segments, file.path)
            frame = Frame(rows.locate(wanted[0]), cols.locate(wanted[1]), trials.shape)
            if is_key:
                refuse_strangers(frame, (modelset, segset), (models, segments))
            files.append(file)
            frames.append(frame)
        order = None
        # Reading a compressed file in another order unpacks its chunks again and again.
        if any_order and frames[0].rows is not None and isinstance(files[0], MatrixFile):
            order = np.argsort(frames[0].rows, kind="stable")
        blocks = cls(trials, tuple(files), tuple(frames), order)
        n_models = _n_in_all([frame.rows for frame in frames], modelset.size)
        n_segments = _n_in_all([frame.cols for frame in frames], segset.size)
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
        """Cut the rows, or the list of trials if there are only lists, into blocks for `read`."""
        # Blocks have `block_rows` rows, by default about four megabytes of scores. Of lists, they
        # have about as many trials as that many rows hold on average.
        if self._are_lists:
            return _cut_list(self.n_cells, self.shape[0], block_rows)
        files = [file for file in (self.trials, *self.scores) if isinstance(file, MatrixFile)]
        blocks = row_blocks(self.shape, files, block_rows)
        is_scattered = self.order is not None or any(f.rows is not None for f in self.frames)
        if block_rows is None and is_scattered and blocks:
            blocks = row_blocks(self.shape, files, _SCATTERED * blocks[0].stop)
        return blocks

    def read(self, blocks: Sequence[slice], *, ahead: bool = True) -> Iterator[TrialBlock]:
        """Read some of the blocks, with `ahead` each while the one before is being used."""
        # The arrays of a block hold until the next one is asked for. Raises FileFormatError if a
        # file cannot be read, or changes until the last block has been used.
        found = (self._natural(block) for block in self._blocks(blocks))
        return _read_ahead(found) if ahead else found

    def read_scores(
        self, blocks: Sequence[slice], *, ahead: bool = True
    ) -> Iterator[tuple[AnyArray, ...]]:
        """Read like `read`, but scores alone, when it is known which of them are trials."""
        # Their memory is the caller's until the next are read.
        found = self._blocks(blocks, scores_only=True)
        scores = (self._natural(block).scores for block in found)
        return _read_ahead(scores) if ahead else scores

    def _natural(self, block: TrialBlock) -> TrialBlock:
        if self.factor is None:
            return block
        scores = tuple(self.factor * each.astype(np.float64) for each in block.scores)
        return attrs.evolve(block, scores=scores)

    def _blocks(
        self, blocks: Sequence[slice], *, scores_only: bool = False
    ) -> Iterator[TrialBlock]:
        if self.trials is self.scores[0]:
            yield from _blocks_of_scores(self.trials, blocks)
            return
        files = (self.trials, *self.scores)
        lists = [file for file in files if isinstance(file, FlatFile)]
        if len(lists) == len(files):
            yield from listed_blocks(lists, self.frames, blocks)
            return
        with ExitStack() as stack:
            rows = [self._rows(block) for block in blocks]
            identity = Frame(None, None, self.shape)
            trials = None if scores_only else _enter(stack, self.trials, identity, rows)
            readers = [
                _enter(stack, file, frame, rows)
                for file, frame in zip(self.scores, self.frames, strict=True)
            ]
            for some in rows:
                labels, valid = np.empty((0, 0), np.int8), None
                if trials is not None:
                    labels = trials.read_labels(some)
                    for reader in readers:
                        valid = _both(valid, reader.read_valid(some))
                scores = tuple(reader.read_scores(some) for reader in readers)
                yield TrialBlock(some, labels, scores, valid)

    def _rows(self, block: slice) -> slice | Positions:
        return as_slice(block if self.order is None else self.order[block])


@attrs.frozen(eq=False)
class _MatrixRows:
    """Reads rows of the wanted trials in a file that holds a matrix."""

    reader: RowReader
    frame: Frame

    def _rows_in_file(self, rows: Rows) -> tuple[Rows, Frame]:
        """Return the rows of the file, and where the wanted rows and columns lie in these."""
        n_cols, at = self.frame.shape[1], None
        if self.frame.rows is None:
            n_rows = rows.stop - rows.start if isinstance(rows, slice) else rows.size
            return rows, Frame(None, self.frame.cols, (n_rows, n_cols))
        positions = self.frame.rows[rows]
        known = positions >= 0
        if not known.all():
            at = np.where(known, np.cumsum(known) - 1, -1)
        return as_slice(positions[known]), Frame(at, self.frame.cols, (known.size, n_cols))

    def read_labels(self, rows: Rows) -> Labels:
        """Return the labels, of a file that has the order of the trials."""
        return self.reader.read_labels(rows)

    def read_scores(self, rows: Rows) -> AnyArray:
        """Return the scores, 0 where the file has no such cell."""
        in_file, frame = self._rows_in_file(rows)
        scores = self.reader.read_scores(in_file)
        # Those who read may write into it.
        return scores if frame.is_identity else frame.copy_of(scores)

    def read_valid(self, rows: Rows) -> BoolArray | None:
        """Tell which cells hold scores; None: all."""
        in_file, frame = self._rows_in_file(rows)
        return frame.take_valid(self.reader.read_valid(in_file))


def _enter(
    stack: ExitStack, file: AnyFile, frame: Frame, rows: Sequence[Rows]
) -> _MatrixRows | ListRows:
    """Open a file of which some rows will be read."""
    if isinstance(file, FlatFile):
        return ListRows.read(file, frame, rows)
    return _MatrixRows(stack.enter_context(RowReader(file)), frame)


def _cut_list(n_trials: int, n_models: int, block_rows: int | None) -> list[slice]:
    """Cut a list of trials into blocks."""
    step = _LIST_BLOCK
    if block_rows is not None:
        step = max(1, round(n_trials * min(1.0, block_rows / max(1, n_models))))
    return [slice(start, min(start + step, n_trials)) for start in range(0, n_trials, step)]


def _read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield items, each computed by a thread while the one before is being used."""
    # HDF5 reads and unpacks without holding up the interpreter.
    with ThreadPoolExecutor(max_workers=1) as pool:
        coming = pool.submit(list, islice(items, 1))
        # What reading raises is raised here, where the item is wanted; an empty list ends it.
        while found := coming.result():
            coming = pool.submit(list, islice(items, 1))
            yield found[0]


def _index(models: StrArray, segments: StrArray, path: Path) -> tuple[IdIndex, IdIndex]:
    """Index the ids of a file, each of which must occur once."""
    rows, cols = IdIndex(models), IdIndex(segments)
    rows.check_unique(f"modelset of {path}")
    cols.check_unique(f"segset of {path}")
    return rows, cols


def _n_in_all(positions: Sequence[Positions | None], size: int) -> int:
    """Return how many of `size` ids have a position in all files."""
    known = [found >= 0 for found in positions if found is not None]
    return int(np.count_nonzero(np.logical_and.reduce(known))) if known else size
