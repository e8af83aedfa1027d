"""Score files larger than memory: blocks of rows whose counts and sums add up.

A file holds a matrix of models by segments. Ids are aligned once. After that a block is some rows
of the key with the scores of the same trials, and what is asked of all trials is a sum over blocks,
taken by any executor in any order. Results depend neither on the executor nor on its workers.

A first pass over the blocks keeps the target scores, which are few. Ranks need no more of the
non-targets than how many lie below each target score, and up to it: a second pass counts them.
Training needs sums of a loss, one pass for each.

Lists of trials fit into memory. A list beside a matrix is put into the rows of the matrix.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from typing import ClassVar, Self, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt
import scipy

from bosaris_py._arrays import AnyArray, BoolArray, FloatArray, IntArray, Positions
from bosaris_py._notes import Note, warn
from bosaris_py._parallel import run_tasks, whole_number
from bosaris_py._validation import FilePath, describe, invalid, log_of_base
from bosaris_py.errors import FileFormatError
from bosaris_py.files import hdf5
from bosaris_py.files.hdf5 import is_list
from bosaris_py.files.rows import Held, MatrixFile, open_matrix
from bosaris_py.trials.alignment import (
    Frame,
    IdIndex,
    Ids,
    as_slice,
    notes_of_missing,
    refuse_gaps,
    refuse_strangers,
)
from bosaris_py.trials.key import Key, Ndx
from bosaris_py.trials.scores import Scores
from bosaris_py.trials.trials import Trials

Result = TypeVar("Result")

# 1 for a target or a trial, -1 for a non-target, 0 for no trial.
Labels: TypeAlias = npt.NDArray[np.int8]

# Bytes of scores in a block: few enough to stay in the processor's cache. Where the rows of a file
# come in another order, each block reads many chunks, and is so many times larger.
_BLOCK_BYTES, _SCATTERED = 2**22, 16

# Blocks are done in so many tasks, whatever the workers, each of which opens the files once.
_TASKS = 64

# Of so many non-targets a sample is kept, from whose optimum training starts.
KEPT = 2**22


@attrs.frozen(eq=False)
class _List:
    """A list of trials in memory, in sparse matrices whose rows are read like those of a file."""

    # The scores, or the labels, which are 0 where there is no trial; and where there are scores
    # (None: everywhere).
    contents: scipy.sparse.csr_array
    present: scipy.sparse.csr_array | None = None
    # Of a block, whose bytes count.
    item_size: int = 1
    kind: str = "scores"
    chunk: ClassVar[int] = 1

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, cols = self.contents.shape
        return rows, cols

    def check_unchanged(self) -> None:
        """Do nothing: the list is in memory."""

    def verify(self) -> None:
        """Do nothing: the list was read whole."""

    def opened(self, stack: ExitStack) -> Callable[[slice | Positions], Held]:
        """Return what makes rows."""
        return self._rows

    def _rows(self, rows: slice | Positions) -> Held:
        present = None if self.present is None else self.present[rows].toarray()
        return self.contents[rows].toarray(), present


def _as_rows(trials: Trials, contents: AnyArray, *, is_scored: bool = False) -> _List:
    """Put what is said of the trials of a list into the rows of a matrix."""
    at, shape = trials.trial_positions(), trials.shape
    held = np.ones(contents.size, np.bool_)
    present = scipy.sparse.csr_array((held, at), shape=shape) if is_scored else None
    return _List(scipy.sparse.csr_array((contents, at), shape=shape), present, kind=trials._kind)


def _as_column(contents: AnyArray, found: BoolArray | None, kind: str) -> _List:
    """Give each trial a row of its own."""
    present = None if found is None else scipy.sparse.csr_array(found[:, None])
    return _List(scipy.sparse.csr_array(contents[:, None]), present, 8, kind)


def _in_order(scores: Scores, key: Key | Ndx) -> _List:
    """Return the scores of the trials of a list, 0 where there is none."""
    values, found = scores.found_in(key)
    full = values if found is None else np.zeros(key.n_trials, values.dtype)
    if found is not None:
        full[found] = values
    return _as_column(full, found, "scores")


def _labels(trials: Key | Ndx) -> Labels:
    """Return the label of each trial, column by column; of trials without labels 1."""
    return np.sign(trials._vector().astype(np.int8))


def read_list(path: FilePath, *, is_key: bool = False) -> Key | Ndx:
    """Read a list of trials, of a key if there are labels."""
    if not is_key and hdf5.kind_of(path) == "flat_ndx":
        return Ndx.read(path)
    key = Key.read(path)
    if is_key and key.n_spoof:
        hint = "Read it with read_key, or save key.bona_fide()."
        raise FileFormatError(f"{path}: spoofs are not told from non-targets. {hint}")
    return key


def verified_ids(path: FilePath, kind: str) -> Ids:
    """Read all of a file of scores, a key or an Ndx, by rows, and return its ids."""
    source, ids = _open(path, kind)
    source.verify()
    return ids


# ---- Blocks of trials


@attrs.frozen(eq=False)
class Block:
    """Some trials of a key and their scores: rows of matrices, or a part of a list."""

    # Which rows of the key these are.
    rows: Positions
    labels: Labels
    # The scores of each file, and where it has any (None: everywhere).
    scores: tuple[AnyArray, ...]
    valid: tuple[BoolArray | None, ...]

    @functools.cached_property
    def scored(self) -> Labels:
        """The labels, 0 where a file lacks the score."""
        known = [mask for mask in self.valid if mask is not None]
        return functools.reduce(np.multiply, known, self.labels)

    def scores_with(self, label: int) -> FloatArray:
        """Return the scores, (n_files, n), of the trials with a label that all files have."""
        chosen = self.scored == label
        found = [each[chosen] for each in self.scores]
        return found[0][None] if len(found) == 1 else np.stack(found)

    def counts(self) -> IntArray:
        """Count targets and non-targets, those with all scores, and what each file lacks."""
        found = [np.count_nonzero(a == n) for a in (self.labels, self.scored) for n in (1, -1)]
        lacks = [0 if m is None else np.count_nonzero(self.labels[~m]) for m in self.valid]
        return np.array(found + lacks, np.int64)

    def nan(self, scores: Sequence[AnyArray] | None = None) -> IntArray:
        """Return rows and columns of trials that have a score which is NaN."""
        # The minimum of an array is NaN if anything is.
        given = self.scores if scores is None else scores
        suspect = [each for each in given if np.isnan(each.min(initial=0))]
        if not suspect:
            return np.empty((0, 2), np.int64)
        bad = np.logical_or.reduce([np.isnan(each) for each in suspect])
        at, cols = np.nonzero(bad & (self.scored != 0))
        return np.stack((self.rows[at], cols), axis=1)


@attrs.frozen(eq=False)
class FileTrials:
    """The trials of a key, and score files beside it.

    Parameters
    ----------
    ids : pair of ndarray of str
        Models and segments of the key.
    n_found : (int, int)
        How many of them all score files have.
    key : MatrixFile or list of trials
        What gives rows of labels. Where all files are lists, a row is a trial.
    scores : sequence of the same
        What gives rows of scores.
    frames : sequence of Frame
        Where the rows and columns of the key are in each of these.
    order : ndarray of int, optional
        In which rows are read, that of the first score file; None is that of the key.
    factor : float, optional
        What makes natural logarithms of the scores.
    """

    ids: Ids
    n_found: tuple[int, int]
    key: MatrixFile | _List
    scores: Sequence[MatrixFile | _List]
    frames: Sequence[Frame]
    order: Positions | None
    factor: float | None

    @property
    def sources(self) -> list[MatrixFile | _List]:
        """What is read by rows: the key, then the scores."""
        return [self.key, *self.scores]

    @property
    def n_cells(self) -> int:
        """Number of cells where there may be a trial."""
        return math.prod(self.key.shape)

    def cut(self) -> list[slice]:
        """Cut the rows into blocks of whole chunks."""
        n_rows, n_cols = self.key.shape
        scattered = self.order is not None or any(f.rows is not None for f in self.frames)
        row_bytes = max(1, n_cols) * max(each.item_size for each in self.sources)
        # A chunk larger than a block would be read again for each block.
        chunk = max(each.chunk for each in self.sources)
        most = _BLOCK_BYTES * (_SCATTERED if scattered else 1)
        step = max(1, most // row_bytes // chunk) * chunk
        return [slice(start, min(start + step, n_rows)) for start in range(0, max(1, n_rows), step)]

    def read(self, blocks: Iterable[slice]) -> Iterator[Block]:
        """Read some of the blocks."""
        with ExitStack() as stack:
            key, *systems = (each.opened(stack) for each in self.sources)
            for block in blocks:
                rows = np.r_[block] if self.order is None else self.order[block]
                labels, _ = key(as_slice(rows))
                pairs = zip(systems, self.frames, strict=True)
                scores, valid = zip(*(_aligned(*pair, rows) for pair in pairs), strict=True)
                if self.factor is not None:
                    scores = tuple(self.factor * each.astype(np.float64) for each in scores)
                yield Block(rows, labels, scores, valid)

    def refuse_nan(self, bad: IntArray) -> None:
        """Raise if there are trials, by row and column, whose score is NaN."""
        if len(bad):
            first = f"({self.ids[0][bad[0, 0]]}, {self.ids[1][bad[0, 1]]})"
            noun = "trial" if len(bad) == 1 else "trials"
            got = f"NaN for {len(bad)} {noun}, the first {first}"
            raise invalid("scores", "not hold NaN where there is a trial", got)

    def missing(self, counts: IntArray) -> list[Note]:
        """Note models, segments and trials without scores, given the sum of `Block.counts`."""
        wanted, found = counts[:4].reshape(2, 2)[:, : 2 if self.key.kind == "key" else 1].tolist()
        return notes_of_missing((self.ids[0].size, self.ids[1].size), self.n_found, wanted, found)


def _aligned(read: Callable[[slice | Positions], Held], frame: Frame, rows: Positions) -> Held:
    """Read the scores of rows of the key, 0 where there is no score, and where there is one."""
    at, shape = None, (rows.size, frame.shape[1])
    if frame.rows is not None:
        places = frame.rows[rows]
        known = places >= 0
        rows = places[known]
        at = None if known.all() else np.where(known, np.cumsum(known) - 1, -1)
    inner = Frame(at, frame.cols, shape)
    values, valid = read(as_slice(rows))
    return inner.take(values), inner.take_valid(valid)


def open_trials(
    score_files: Sequence[FilePath],
    trial_file: FilePath | None,
    factor: float | None = None,
    *,
    is_key: bool = False,
) -> FileTrials:
    """Look into score files and the trials beside them, and align their ids.

    The rows of a key are read in the order of the first score file, which is faster; those of other
    trials in their own. Without `trial_file`, all scores of the first file are trials.
    """
    if not score_files:
        raise invalid("score_files", "hold at least one file", "none")
    paths = [*score_files, score_files[0] if trial_file is None else trial_file]
    listed = list(map(is_list, paths))
    sources: list[MatrixFile | _List]
    if all(listed):
        # A matrix may be too large: each trial has a row of its own.
        systems, trials = list(map(Scores.read, score_files)), read_list(paths[-1], is_key=is_key)
        labels = _as_column(_labels(trials), None, trials._kind)
        sources = [*(_in_order(each, trials) for each in systems), labels]
        known = [each.ids for each in (*systems, trials)]
    else:
        kind = "scored" if trial_file is None else "key" if is_key else "trials"
        kinds = [*["scores"] * len(score_files), kind]
        sources, known = map(list, zip(*map(_open, paths, kinds), strict=True))
    *others, wanted = (list(map(IdIndex, each)) for each in known)
    for index, path in zip([*others, wanted], paths, strict=True):
        for each in index:
            each.check_unique(f"ids of {path}")
    ids, frames = known[-1], []
    for own, mine in zip(known, others, strict=False):
        rows, cols = (a.locate(b) for a, b in zip(mine, wanted, strict=True))
        frames.append(Frame(rows, cols, (ids[0].size, ids[1].size)))
        if is_key:
            refuse_strangers(frames[-1], ids, own)
    found = map(np.logical_and.reduce, zip(*(frame.found for frame in frames), strict=True))
    n_models, n_segments = map(np.count_nonzero, found)
    first = frames[0].rows if is_key and not listed[0] else None
    order = None if first is None else np.argsort(first, kind="stable")
    if all(listed):
        frames = [Frame(None, None, sources[-1].shape)] * len(frames)
    n_found = int(n_models), int(n_segments)
    return FileTrials(ids, n_found, sources[-1], sources[:-1], frames, order, factor)


def _open(path: FilePath, kind: str) -> tuple[MatrixFile | _List, Ids]:
    """Read a list of trials, or look into a file that holds a matrix; return also its ids."""
    if not is_list(path):
        matrix, ids = open_matrix(path, "scores" if kind == "scored" else kind)
        warn(matrix.notes)
        return (attrs.evolve(matrix, kind=kind) if kind == "scored" else matrix), ids
    if kind == "scores":
        scores = Scores.read(path)
        return _as_rows(scores, scores.values, is_scored=True), scores.ids
    trials = read_list(path, is_key=kind == "key")
    return _as_rows(trials, _labels(trials)), trials.ids


# ---- Passes over all blocks


@attrs.frozen(eq=False)
class TrialFiles:
    """Keys with the score files beside each, read block by block.

    Parameters
    ----------
    parts : tuple of FileTrials
        Each key, with the score files beside it.
    workers : int
        Number of threads.
    executor : concurrent.futures.Executor, optional
        What runs tasks in their place: processes, or other machines that see the same files.
    progress : bool
        Whether a bar is shown for each pass.
    """

    parts: tuple[FileTrials, ...]
    workers: int = 1
    executor: Executor | None = None
    progress: bool = False

    @classmethod
    def open(
        cls,
        files: Iterable[tuple[Sequence[FilePath], FilePath]],
        base: float | None = None,
        *,
        workers: int = 1,
        executor: Executor | None = None,
        progress: bool = False,
    ) -> Self:
        """Align the ids of score files and the key beside them, once or several times."""
        workers = whole_number(workers, 1, "workers")
        factor = None if base is None else log_of_base(base)
        opened = [open_trials(scores, key, factor, is_key=True) for scores, key in files]
        return cls(tuple(opened), workers, executor, progress)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle without the executor, which is of this process."""
        return type(self), (self.parts, self.workers)

    def step(self, n_kept: int) -> int:
        """Return which of so many non-targets are to be taken that about `n_kept` are."""
        # An odd number, or in a matrix of 2**k columns all would lie in a few of them.
        step = sum(part.n_cells for part in self.parts) // n_kept
        return 1 if step == 0 else step | 1

    def pass_over(
        self, function: Callable[..., Result], *shared: object, label: str
    ) -> Iterator[tuple[int, Result]]:
        """Yield the part, and ``function(blocks, *shared)``, of each task in their order."""
        cuts = [part.cut() for part in self.parts]
        # What runs elsewhere needs no ids.
        none = (np.empty(0, np.str_), np.empty(0, np.str_))
        bare = [attrs.evolve(part, ids=none) for part in self.parts]
        # The same for any number of workers.
        n_each = -(-sum(map(len, cuts)) // _TASKS)
        tasks = [
            (number, blocks[start : start + n_each])
            for number, blocks in enumerate(cuts)
            for start in range(0, len(blocks), n_each)
        ]
        found = run_tasks(
            functools.partial(_run, function, shared),
            [(bare[number], blocks) for number, blocks in tasks],
            workers=self.workers,
            executor=self.executor,
            label=label,
            progress=self.progress,
        )
        return zip((number for number, _ in tasks), found, strict=True)

    def first_pass(
        self, keep: Callable[[FloatArray], Result], label: str, *, all_scored: bool
    ) -> tuple[FloatArray, int, list[Result], list[Note]]:
        """Return target scores, (n_files, n_tar), the number of non-targets, what is kept, notes.

        `keep` gets the scores, (n_files, n), of the non-targets of each block. Refused are NaN, a
        class without scores and, with `all_scored`, trials that lack a score.
        """
        counts = [np.zeros(4 + len(part.scores), np.int64) for part in self.parts]
        nan: list[list[IntArray]] = [[np.empty((0, 2), np.int64)] for _ in self.parts]
        tar, kept = [], []
        for number, (found, bad, targets, others) in self.pass_over(_look, keep, label=label):
            counts[number] += found
            nan[number].append(bad)
            tar.append(targets)
            kept += others
        for part, bad_ones in zip(self.parts, nan, strict=True):
            part.refuse_nan(np.concatenate(bad_ones))
        if all_scored:
            refuse_missing(counts[0])
        # Before a class without scores is refused: ids that do not match are often the reason.
        pairs = zip(self.parts, counts, strict=True)
        notes = [note for part, found in pairs for note in part.missing(found)]
        n_tar, n_non, scored_tar, scored_non = np.sum(
            [found[:4] for found in counts], axis=0
        ).tolist()
        for noun, n_scored in (("targets", scored_tar), ("non-targets", scored_non)):
            if not n_scored:
                alone = noun == "non-targets" and not n_non
                hint = f"All {n_tar} trials are targets: is it an Ndx?" if alone else ""
                raise invalid("key_file", f"hold {noun} that have scores", "none", hint)
        return np.concatenate(tar, axis=1), scored_non, kept, notes

    def sums(self, function: Callable[[FloatArray], Result], label: str) -> list[Result]:
        """Return ``function(scores)`` of the non-targets, (n_files, n), of each block with some."""
        return [one for _, found in self.pass_over(_each, function, label=label) for one in found]


def _run(
    function: Callable[..., Result],
    shared: tuple[object, ...],
    task: tuple[FileTrials, list[slice]],
) -> Result:
    part, blocks = task
    try:
        return function(part.read(blocks), *shared)
    finally:
        # That a file has changed explains whatever failed.
        for source in part.sources:
            source.check_unchanged()


def _each(blocks: Iterable[Block], function: Callable[[FloatArray], Result]) -> list[Result]:
    lists = (block.scores_with(-1) for block in blocks)
    return [function(non) for non in lists if non.size]


def _look(
    blocks: Iterable[Block], keep: Callable[[FloatArray], Result]
) -> tuple[IntArray, IntArray, FloatArray, list[Result]]:
    """Return counts, NaN, target scores, and what is kept of the non-targets."""
    counts, nan, tar, kept = [], [], [], []
    for block in blocks:
        counts.append(block.counts())
        nan.append(block.nan())
        tar.append(block.scores_with(1))
        kept += _each([block], keep)
    return np.sum(counts, axis=0), np.concatenate(nan), np.concatenate(tar, axis=1), kept


def refuse_missing(counts: IntArray) -> None:
    """Raise if a system lacks scores; `counts` are those of `Block.counts`."""
    n, lacks = counts[0] + counts[1], enumerate(counts[4:], 1)
    refuse_gaps([f"system {i} lacks {has_not} of {n} trials" for i, has_not in lacks if has_not])


def evenly(scores: FloatArray, step: int) -> FloatArray:
    """Return every step-th trial, at least one of a block; copied, so that the block is free."""
    return scores[:, (scores.shape[1] // 2) % step :: step].copy()


def as_pairs(score_files: object, key_files: object) -> list[tuple[list[FilePath], FilePath]]:
    """Put each score file beside its key; each pair may come once."""
    scores, keys = as_paths(score_files, "score_files"), as_paths(key_files, "key_files")
    if len(scores) != len(keys):
        expected = f"be as many files as there are score files, {len(scores)}"
        raise invalid("key_files", expected, f"{len(keys)}")
    real = [tuple(map(os.path.realpath, pair)) for pair in zip(scores, keys, strict=True)]
    twice = [path for path, pair in zip(scores, real, strict=True) if real.count(pair) > 1]
    if twice:
        got = f"{os.fspath(twice[0])} twice with the same key"
        hint = "All of its trials would count twice."
        raise invalid("score_files", "hold each file once", got, hint)
    return [([score], key) for score, key in zip(scores, keys, strict=True)]


def as_paths(paths: object, name: str) -> list[FilePath]:
    """Return one or several names of files as a list."""
    is_one = isinstance(paths, str | os.PathLike)
    given = [paths] if is_one else list(paths) if isinstance(paths, Iterable) else []
    listed = [path for path in given if isinstance(path, str | os.PathLike)]
    if not listed or len(listed) < len(given):
        raise invalid(name, "be the name of a file, or several of them", describe(paths))
    return listed
