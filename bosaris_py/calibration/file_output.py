"""Linear maps applied to score files of any size, block by block, into another file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from bosaris_py._execution import whole_number
from bosaris_py._validation import invalid
from bosaris_py.calibration.file_objective import FilePasses, lacking, one_file
from bosaris_py.calibration.linear_map import weighted_sum
from bosaris_py.storage.blocks import MatrixFile, RowReader, describe_scores, row_blocks
from bosaris_py.storage.score_output import ScoredRows, write_score_rows
from bosaris_py.trials._files import FilePath
from bosaris_py.trials.file_blocks import TrialBlock, TrialBlocks, TrialCounts, TrialIds
from bosaris_py.trials.ids import IdIndex

__all__ = ["write_llrs"]

Float64Array: TypeAlias = npt.NDArray[np.float64]

_HDF5 = (".h5", ".hdf5")


class _Blocks(Protocol):
    """Trials and their scores, read by blocks of rows."""

    def cut(self, block_rows: int | None = None) -> list[slice]: ...
    def read(self, blocks: Sequence[slice]) -> Iterator[TrialBlock]: ...


@attrs.frozen(eq=False)
class _AllScores:
    """A score file by itself, with a trial wherever there is a score."""

    file: MatrixFile

    @classmethod
    def open(cls, path: FilePath) -> tuple[Self, TrialIds]:
        file, models, segments = describe_scores(path)
        IdIndex.of(models).check_unique("modelset", str(file.path))
        IdIndex.of(segments).check_unique("segset", str(file.path))
        return cls(file), TrialIds(models, segments, models.size, segments.size)

    def cut(self, block_rows: int | None = None) -> list[slice]:
        return row_blocks(self.file.shape, [self.file], block_rows)

    def read(self, blocks: Sequence[slice]) -> Iterator[TrialBlock]:
        with RowReader(self.file) as reader:
            for rows in blocks:
                scores, valid = reader.read_scores(rows), reader.read_valid(rows)
                labels = np.ones(scores.shape, dtype=np.int8) if valid is None else valid
                yield TrialBlock(rows, labels.view(np.int8), (scores,), None)


@attrs.define(eq=False)
class _Mapped:
    """The scores of a file after a linear map, and what is wrong with them.

    Parameters
    ----------
    blocks : TrialBlocks or _AllScores
        The files.
    ids : TrialIds
        The ids of the trials.
    weights : (n_systems,) array of float64
        Factor of each system's scores.
    offset : float
        What is added.
    needs_all : bool
        Refuse trials that have no score.
    owner : str
        What the caller called, for error messages.
    """

    blocks: _Blocks
    ids: TrialIds
    weights: Float64Array
    offset: float
    needs_all: bool
    owner: str
    counts: TrialCounts = attrs.field(factory=TrialCounts)

    def rows(self, cut: Sequence[slice], *, progress: bool) -> Iterator[ScoredRows]:
        """Yield all rows; raise in the end if they are worth nothing.

        Parameters
        ----------
        cut : sequence of slice
            The blocks.
        progress : bool
            Show a progress bar.
        """
        n_bad, first_bad = 0, (0, 0)
        blocks = tqdm(self.blocks.read(cut), total=len(cut), desc="scores", disable=not progress)
        for rows, block in zip(cut, blocks, strict=True):
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
                    first_bad = (rows.start + int(places[0, 0]), int(places[0, 1]))
                n_bad += len(places)
            yield rows, llrs, mask
        self.ids.refuse_nan(self.counts, self.owner)
        if n_bad:
            row, col = first_bad
            found = (
                f"infinite evidence for and against at {n_bad} of {self._n_scored} trials, the "
                f"first ({self.ids.modelset[row]}, {self.ids.segset[col]})"
            )
            raise invalid("score_files", self.owner, "not contradict each other", found)

    @property
    def _n_scored(self) -> int:
        return self.counts.scored_tar + self.counts.scored_non

    @property
    def _n_missing(self) -> int:
        return self.counts.n_tar + self.counts.n_non - self._n_scored


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
    owner: str,
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
    owner : str
        What the caller called, for error messages.

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
        block_rows = whole_number(block_rows, 1, "block_rows", owner)
    extension = Path(one_file(output_file, "output_file", owner)).suffix
    if extension.lower() not in _HDF5:
        found = repr(str(output_file))
        raise invalid("output_file", owner, f"end in {' or '.join(_HDF5)}", found)
    blocks: _Blocks
    if ndx_file is None:
        blocks, ids = _AllScores.open(score_files[0])
        is_key = False
    else:
        trials = one_file(ndx_file, "ndx_file", owner)
        blocks, ids = TrialBlocks.open(score_files, trials, owner=owner, is_key=False)
        is_key = blocks.trials.kind == "key"
    factors = np.asarray(weights, dtype=np.float64)
    mapped = _Mapped(blocks, ids, factors, offset, needs_all, owner)
    rows = mapped.rows(blocks.cut(block_rows), progress=progress)
    write_score_rows(output_file, rows, modelset=ids.modelset, segset=ids.segset)
    ids.warn_missing(mapped.counts, is_key=is_key)
