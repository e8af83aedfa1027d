"""Scores alone, one per line, in the order of a trial list."""

from __future__ import annotations

import attrs
import numpy as np

from bosaris_py._arrays import mark_read_only
from bosaris_py._validation import FilePath, as_path, describe, invalid
from bosaris_py.errors import TrialMismatchError
from bosaris_py.storage._guarded_hdf5 import MemoryBudget, within_memory
from bosaris_py.storage.text import formatter, row_slices, write_parts
from bosaris_py.storage.tokens import Layout, LineNumbers, cut_blocks, read_blocks, read_numbers
from bosaris_py.storage.trial_table import TrialTable


def read_answers(
    path: FilePath, trials: TrialTable, *, max_bytes: int | None = None, progress: bool = False
) -> TrialTable:
    r"""Read a file that has one score in each line, such as answer.txt of SdSV.

    Nothing in such a file says to which trials the scores belong, except their order.

    Parameters
    ----------
    path : str or path-like
        The file.
    trials : TrialTable
        The trial list in whose order the scores are.
    max_bytes : int, optional
        Refuse a file whose contents would take more memory than this.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    TrialTable
        The trial list with the scores.

    Raises
    ------
    FileFormatError
        If a line has not one number.
    TrialMismatchError
        If the file has not as many scores as there are trials.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py import TrialTable
    >>> from bosaris_py.storage.formats import read_answers
    >>> trials = TrialTable.from_trials(["m1", "m2"], ["s1", "s1"])
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "answer.txt"
    >>> _ = path.write_text("-6.12\n3.5\n")
    >>> read_answers(path, trials).scores.tolist()
    [-6.12, 3.5]
    """
    if not isinstance(trials, TrialTable):
        raise invalid("trials", "be a TrialTable", describe(trials))
    numbers = LineNumbers(as_path(path))
    budget = MemoryBudget(as_path(path), max_bytes)
    parts = [np.empty(0)]
    with within_memory(path):
        blocks = read_blocks(path, progress=progress)
        for block in cut_blocks(blocks, Layout("score"), numbers, budget):
            values = read_numbers(block, 0)
            if np.isnan(values).any():
                raise block.error(int(np.argmax(np.isnan(values))), "the score is NaN")
            budget.claim(16 * values.size, "the scores")
            parts.append(values)
    if numbers.count != len(trials):
        message = f"{path}: {numbers.count} scores for a list of {len(trials)} trials"
        raise TrialMismatchError(message)
    return attrs.evolve(trials, scores=mark_read_only(np.concatenate(parts)))


def write_answers(path: FilePath, table: TrialTable, *, number_format: str | None = None) -> None:
    """Write the scores of a table alone, one in each line.

    Parameters
    ----------
    path : str or path-like
        The file, which is replaced in one step.
    table : TrialTable
        Scores in the order of the trial list: see `bosaris_py.TrialTable.in_order_of`.
    number_format : str, optional
        As for `write_table`.

    Raises
    ------
    InvalidInputError
        If the table has no scores, or some are missing.
    OSError
        If the file cannot be written.
    """
    if not isinstance(table, TrialTable):
        raise invalid("table", "be a TrialTable", describe(table))
    if table.scores is None:
        raise invalid("table", "have scores", repr(table))
    scores = table.scores
    is_missing = np.isnan(scores)
    if is_missing.any():
        found = f"{np.count_nonzero(is_missing)} missing of {scores.size}"
        raise invalid("table", "have all scores", found)
    form = formatter(number_format)
    parts = (map(form, scores[part].tolist()) for part in row_slices(scores.size))
    write_parts(path, ("\n".join(part) + "\n" for part in parts))
