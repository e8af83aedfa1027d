"""Linear maps applied to score files of any size, block by block, into another file."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from bosaris_py._arrays import Float64Array
from bosaris_py._execution import whole_number
from bosaris_py._validation import FilePath, invalid
from bosaris_py.calibration.passes import FilePasses, lacking, one_file
from bosaris_py.calibration.trained import weighted_sum
from bosaris_py.storage.rows import (
    FlatFile,
    FlatReader,
    MatrixFile,
    RowReader,
    ScoredList,
    ScoredRows,
    describe,
    row_blocks,
    write_score_list,
    write_score_rows,
)
from bosaris_py.storage.trial_table import trial_codes
from bosaris_py.trials.alignment import IdIndex
from bosaris_py.trials.blocks import TrialBlock, TrialBlocks, TrialCounts, TrialIds

MappedBlock: TypeAlias = tuple[TrialBlock, Float64Array, npt.NDArray[np.bool_]]

_HDF5 = (".h5", ".hdf5")


class _Blocks(Protocol):
    """Trials and their scores, read by blocks."""

    def cut(self, block_rows: int | None = None) -> list[slice]: ...
    def read(self, blocks: Sequence[slice]) -> Iterator[TrialBlock]: ...


@attrs.frozen(eq=False)
class _AllOfMatrix:
    """A score matrix by itself, with a trial wherever there is a score."""

    file: MatrixFile

    def cut(self, block_rows: int | None = None) -> list[slice]:
        return row_blocks(self.file.shape, [self.file], block_rows)

    def read(self, blocks: Sequence[slice]) -> Iterator[TrialBlock]:
        with RowReader(self.file) as reader:
            for rows in blocks:
                scores, valid = reader.read_scores(rows), reader.read_valid(rows)
                labels = np.ones(scores.shape, dtype=np.int8) if valid is None else valid
                yield TrialBlock(rows, labels.view(np.int8), (scores,), None)


@attrs.frozen(eq=False)
class _AllOfList:
    """A list of scores by itself."""

    file: FlatFile

    def cut(self, block_rows: int | None = None) -> list[slice]:
        # Rows are those of matrices.
        del block_rows
        return self.file.chunks()

    def read(self, blocks: Sequence[slice]) -> Iterator[TrialBlock]:
        with FlatReader(self.file) as reader:
            for part in blocks:
                cells, scores = reader.read_positions(part), reader.read_scores(part)
                labels = np.ones(scores.size, dtype=np.int8)
                yield TrialBlock(part, labels, (scores,), None, cells)


def _open_all(path: FilePath) -> tuple[_AllOfMatrix | _AllOfList, TrialIds]:
    """Look into a score file."""
    blocks: _AllOfMatrix | _AllOfList
    file, models, segments = describe(path, "scores")
    blocks = _AllOfList(file) if isinstance(file, FlatFile) else _AllOfMatrix(file)
    IdIndex.of(models).check_unique(f"modelset of {blocks.file.path}")
    IdIndex.of(segments).check_unique(f"segset of {blocks.file.path}")
    return blocks, TrialIds(models, segments, models.size, segments.size)


@attrs.define(eq=False)
class _Mapped:
    """The scores of a file after a linear map, and what is wrong with them.

    Parameters
    ----------
    blocks : TrialBlocks, _AllOfMatrix or _AllOfList
        The files.
    ids : TrialIds
        The ids of the trials.
    weights : (n_systems,) array of float64
        Factor of each system's scores.
    offset : float
        What is added.
    needs_all : bool
        Refuse trials that have no score.
    """

    blocks: _Blocks
    ids: TrialIds
    weights: Float64Array
    offset: float
    needs_all: bool
    counts: TrialCounts = attrs.field(factory=TrialCounts)

    def blocks_of(self, cut: Sequence[slice], *, progress: bool) -> Iterator[MappedBlock]:
        """Yield blocks, their log-likelihood-ratios, and where these are valid.

        Raises in the end if they are worth nothing.

        Parameters
        ----------
        cut : sequence of slice
            The blocks.
        progress : bool
            Show a progress bar.
        """
        n_bad, first_bad = 0, (0, 0)
        blocks = tqdm(self.blocks.read(cut), total=len(cut), desc="scores", disable=not progress)
        for block in blocks:
            self.counts += block.count()
            if self.needs_all and self._n_missing and isinstance(self.blocks, TrialBlocks):
                raise lacking(FilePasses(self.blocks), is_key=False)
            # What lies where there is no trial may be anything.
            with np.errstate(over="ignore"):
                llrs = weighted_sum(block.scores, self.weights, self.offset)
            mask = block.scored_labels() != 0
            if not mask.all():
                llrs[~mask] = 0.0
            # The minimum of an array is NaN if anything is.
            if np.isnan(llrs.min(initial=0.0)):
                places = np.argwhere(np.isnan(llrs))
                if not n_bad:
                    first_bad = block.trial_at(*places[0].tolist())
                n_bad += len(places)
            yield block, llrs, mask
        self.ids.refuse_nan(self.counts)
        if n_bad:
            row, col = first_bad
            found = (
                f"infinite evidence for and against at {n_bad} of {self._n_scored} trials, the "
                f"first ({self.ids.modelset[row]}, {self.ids.segset[col]})"
            )
            raise invalid("score_files", "not contradict each other", found)

    @property
    def _n_scored(self) -> int:
        return self.counts.scored_tar + self.counts.scored_non

    @property
    def _n_missing(self) -> int:
        return self.counts.n_tar + self.counts.n_non - self._n_scored


def _as_rows(parts: Iterator[MappedBlock]) -> Iterator[ScoredRows]:
    for block, llrs, mask in parts:
        assert isinstance(block.rows, slice)
        yield block.rows, llrs, mask


def _as_lists(parts: Iterator[MappedBlock]) -> Iterator[ScoredList]:
    for block, llrs, mask in parts:
        if block.cells is not None:
            models, segments = block.cells
            yield models[mask], segments[mask], llrs[mask]
        else:
            rows, segments = np.nonzero(mask)
            assert isinstance(block.rows, slice)
            yield rows + block.rows.start, segments, llrs[mask]


def _in_order(parts: Iterator[ScoredList], n_models: int) -> Iterator[ScoredList]:
    """Yield all trials at once, by segment, then by model."""
    columns = list(zip(*parts, strict=True))
    if not columns:
        return
    models, segments, llrs = (np.concatenate(column) for column in columns)
    order = np.argsort(trial_codes(models, segments, n_models))
    yield models[order], segments[order], llrs[order]


def write_llrs(
    score_files: Sequence[FilePath],
    ndx_file: FilePath | None,
    output_file: FilePath,
    *,
    weights: npt.ArrayLike,
    offset: float,
    needs_all: bool,
    block_rows: int | None,
    progress: bool,
) -> None:
    """Write the weighted sums of the scores in files into another file.

    Parameters
    ----------
    score_files : sequence of str or path-like
        HDF5 files with the scores of each system.
    ndx_file : str, path-like or None
        HDF5 file with the trials to write; None, for one system only: all that have scores.
    output_file : str or path-like
        The HDF5 file to write; it appears when it is complete.
    weights : (n_systems,) array_like of float
        Factor of each system's scores.
    offset : float
        What is added.
    needs_all : bool
        Refuse trials that have no score.
    block_rows : int or None
        Rows that are read at once.
    progress : bool
        Show a progress bar.

    Raises
    ------
    InvalidInputError
        If an argument is bad, ids are repeated, a score is NaN, or infinite ones
        contradict each other.
    TrialMismatchError
        If scores are missing and all are needed.
    FileFormatError
        If a file is damaged, foreign, or changes while it is read.
    OSError
        If the output cannot be written.

    Warns
    -----
    MissingTrialsWarning
        If trials have no score, with counts.
    """
    if block_rows is not None:
        block_rows = whole_number(block_rows, 1, "block_rows")
    extension = Path(one_file(output_file, "output_file")).suffix
    if extension.lower() not in _HDF5:
        found = repr(str(output_file))
        raise invalid("output_file", f"end in {' or '.join(_HDF5)}", found)
    blocks: TrialBlocks | _AllOfMatrix | _AllOfList
    is_key = False
    if ndx_file is None:
        blocks, ids = _open_all(score_files[0])
        form = blocks.file
    else:
        trials = one_file(ndx_file, "ndx_file")
        if os.path.realpath(output_file) == os.path.realpath(trials):
            expected = "be another file than `ndx_file`, whose content would be lost"
            raise invalid("output_file", expected, repr(str(output_file)))
        blocks, ids = TrialBlocks.open(score_files, trials, is_key=False)
        form = blocks.trials
        is_key = form.kind in ("key", "flat_key")
    factors = np.asarray(weights, dtype=np.float64)
    mapped = _Mapped(blocks, ids, factors, offset, needs_all)
    parts = mapped.blocks_of(blocks.cut(block_rows), progress=progress)
    all_ids = {"modelset": ids.modelset, "segset": ids.segset}
    if isinstance(form, MatrixFile):
        write_score_rows(output_file, _as_rows(parts), **all_ids)
    else:
        lists = _as_lists(parts)
        if isinstance(blocks, TrialBlocks) and not all(
            isinstance(file, FlatFile) for file in blocks.scores
        ):
            # Matrices are read by rows, lists are in the order of columns.
            lists = _in_order(lists, ids.modelset.size)
        write_score_list(output_file, lists, most=form.n_trials, **all_ids)
    ids.warn_missing(mapped.counts, is_key=is_key)
