"""What a block of trials read from files is, and what is counted of it."""

import functools
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import StrArray, invalid, warn_caller
from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.trials.ids import IntArray

__all__ = ["Labels", "TrialBlock", "TrialCounts", "TrialIds"]

Labels = npt.NDArray[np.int8]

_EIGHT_NON = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


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
    """Some trials of a key or trial list, and their scores.

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
    cells : tuple of arrays or None
        If key and scores are lists of trials: the model and segment of each. All other
        arrays have one dimension then, and `rows` is a part of the list.
    """

    rows: slice | IntArray
    labels: Labels
    scores: tuple[npt.NDArray[Any], ...]
    valid: npt.NDArray[np.bool_] | None
    cells: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None

    @functools.cached_property
    def _scored_labels(self) -> Labels:
        return self.labels if self.valid is None else self.labels * self.valid

    def scored_labels(self) -> Labels:
        """Return the labels, 0 where a score is missing."""
        return self._scored_labels

    @functools.cached_property
    def few_others(self) -> IntArray | None:
        """The cells that are no non-targets with a score, or None if they are many."""
        return _cells_of_others(self._scored_labels)

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
        labels, others = self._scored_labels.reshape(-1), self.few_others
        chosen: npt.NDArray[Any]
        if label == -1 or others is None:
            chosen = labels == label
        else:
            chosen = others[labels[others] == label]
        return np.stack([matrix.reshape(-1)[chosen] for matrix in self.scores])

    def count(self) -> TrialCounts:
        """Count the trials, those that have scores, and the scores that are NaN."""
        scored_tar, scored_non = _count_labels(self._scored_labels, self.few_others)
        n_tar, n_non = scored_tar, scored_non
        if self.valid is not None:
            n_tar, n_non = _count_labels(self.labels, _cells_of_others(self.labels))
        n_nan, first = 0, None
        # The minimum of an array is NaN if anything is.
        if any(np.isnan(matrix.min(initial=0)) for matrix in self.scores):
            bad = np.isnan(self.scores[0])
            for matrix in self.scores[1:]:
                bad |= np.isnan(matrix)
            bad &= self._scored_labels != 0
            places = np.argwhere(bad)
            n_nan = len(places)
            if n_nan:
                first = self._cell(*places[0])
        return TrialCounts(n_tar, n_non, scored_tar, scored_non, n_nan, first)

    def _cell(self, place: int, col: int = 0) -> tuple[int, int]:
        """Return the model and the segment of a trial of this block."""
        if self.cells is not None:
            models, segments = self.cells
            return int(models[place]), int(segments[place])
        if isinstance(self.rows, slice):
            return self.rows.start + int(place), int(col)
        return int(self.rows[place]), int(col)


def _count_labels(labels: Labels, others: IntArray | None) -> tuple[int, int]:
    """Return how many labels are 1, and how many -1; `others` are the cells of all but these."""
    if others is not None:
        n_tar = np.count_nonzero(labels.reshape(-1)[others] == 1)
        return int(n_tar), labels.size - others.size
    n_tar = np.count_nonzero(labels == 1)
    return int(n_tar), int(np.count_nonzero(labels) - n_tar)


def _cells_of_others(labels: Labels) -> IntArray | None:
    """Return the cells whose label is not -1, or None if there are many."""
    vector = labels.reshape(-1)
    n_words = vector.size // 8
    # Most keys have few targets and no gaps: eight cells at once are looked at.
    words = np.flatnonzero(vector[: 8 * n_words].view(np.uint64) != _EIGHT_NON)
    if words.size > vector.size // 64:
        return None
    cells = np.add.outer(8 * words, np.arange(8)).ravel()
    cells = np.concatenate((cells, np.arange(8 * n_words, vector.size)))
    others: IntArray = cells[vector[cells] != -1]
    return others
