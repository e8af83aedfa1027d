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
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar, Self, TypeAlias, TypeVar

import attrs
import numpy as np
import numpy.typing as npt
import scipy

import bosaris_py.trials.alignment as align
from bosaris_py._arrays import AnyArray, BoolArray, FloatArray, IntArray, Positions
from bosaris_py._notes import Note, warn
from bosaris_py._parallel import run_tasks, whole_number
from bosaris_py._validation import FilePath, as_path, check_unique, describe, invalid, log_of_base
from bosaris_py.errors import FileFormatError
from bosaris_py.files import hdf5
from bosaris_py.files.hdf5 import FIELDS, IDS
from bosaris_py.trials.alignment import Frame, Ids
from bosaris_py.trials.key import Key, Ndx
from bosaris_py.trials.scores import Scores

Result = TypeVar("Result")

# 1 for a target or a trial, -1 for a non-target, 0 for no trial.
Labels: TypeAlias = npt.NDArray[np.int8]

# Contents of rows of a matrix, and where there are any (None: everywhere).
Held: TypeAlias = tuple[AnyArray, BoolArray | None]

# Cells that are read at once where only their checksums are wanted.
_VERIFIED = 2**22

# Bytes of scores in a block: few enough to stay in the processor's cache. Where the rows of a file
# come in another order, each block reads many chunks, and is so many times larger.
_BLOCK_BYTES, _SCATTERED = 2**22, 16

# Blocks are done in so many tasks, whatever the workers, each of which opens the files once.
_TASKS = 64

# Of so many non-targets a sample is kept, from whose optimum training starts.
KEPT = 2**22


@attrs.frozen(eq=False)
class MatrixFile:
    """How to read rows of the matrix in a file: scores, or the labels of a key or an Ndx."""

    path: Path
    # Size of the file and when it changed.
    stamp: tuple[int, int]
    # Of `KINDS`; or scored: a label wherever there is a score.
    kind: str
    shape: tuple[int, int]
    # Name and content of each data set.
    data_sets: list[tuple[str, str]]
    # Rows that the file keeps together, and bytes of a score.
    chunk: int
    item_size: int
    # On an old layout.
    notes: tuple[Note, ...] = ()

    def check_unchanged(self) -> None:
        """Raise if the file is another one than when it was opened first."""
        if not self.path.exists() or _stamp(self.path) != self.stamp:
            message = "changed while it was being read; wait until it is complete"
            raise FileFormatError(f"{self.path}: {message}")

    def verify(self) -> None:
        """Read all rows, whose checksums are compared."""
        step = max(1, _VERIFIED // max(1, self.shape[1]))
        with ExitStack() as stack:
            read = self.opened(stack)
            for start in range(0, self.shape[0], step):
                read(slice(start, min(start + step, self.shape[0])))

    def opened(self, stack: ExitStack) -> Callable[[slice | Positions], Held]:
        """Open the file until the stack ends; return what reads rows."""
        source = stack.enter_context(hdf5.opened(self.path))
        found = [source.data_set(name, content) for name, content in self.data_sets]
        return functools.partial(self._held, found)

    def _held(self, found: list[hdf5.DataSet], rows: slice | Positions) -> Held:
        first, last = found[0], found[-1]
        if self.kind == "scores":
            valid = None if first is last else self._rows(last.read, rows)
            return self._rows(first.read, rows), None if valid is None or valid.all() else valid
        if self.kind == "scored":
            if first is last:
                return np.ones(self._rows(first.read, rows).shape, np.int8), None
            return self._rows(last.read, rows).view(np.int8), None
        if first is last:
            return self._rows(first.read, rows).view(np.int8), None
        tar, non = (self._rows(mask.read, rows) for mask in found)
        if (tar & non).any():
            raise last.source.error(last.name, f"shares trials with `/{first.name}`")
        return tar.view(np.int8) - non.view(np.int8), None

    def _rows(self, read: Callable[[slice], AnyArray], rows: slice | Positions) -> AnyArray:
        """Read rows; scattered ones chunk by chunk, each once."""
        n_rows, n_cols = self.shape
        if isinstance(rows, slice):
            # One row, or an empty matrix, may be stored as a vector.
            whole = n_rows == 1 or not n_rows * n_cols
            return read(slice(None) if whole else rows).reshape(rows.stop - rows.start, n_cols)
        out = np.zeros((rows.size, n_cols), read(slice(0, 0)).dtype)
        chunks = rows // self.chunk
        for number in np.unique(chunks).tolist():
            start = number * self.chunk
            part = self._rows(read, slice(start, min(start + self.chunk, n_rows)))
            out[chunks == number] = part[rows[chunks == number] - start]
        return out


def open_matrix(path: FilePath, kind: str) -> tuple[MatrixFile, Ids]:
    """Look into a file: return how to read its matrix, and its ids."""
    place = as_path(path).absolute()
    stamp = _stamp(place)
    with hdf5.opened(place) as source:
        if kind == "trials":
            kind = "key" if source.kinds[:1] == ["key"] else "ndx"
        found, _ = hdf5.find_fields(source, kind)
        notes = hdf5.notes_of_layout(path, kind, found)
        models, segments = (found.pop(name).check().read() for name in IDS)
        sets = [found[name].check(whole=False) for name in FIELDS if name in found]
        chunks = [(each.data.chunks or (1,))[0] if each.data.ndim == 2 else 1 for each in sets]
        names = [(each.name, each.content) for each in sets]
        chunk, size = min(max(chunks), max(1, models.size)), sets[0].data.dtype.itemsize
    shape = models.size, segments.size
    return MatrixFile(place, stamp, kind, shape, names, chunk, size, notes), (models, segments)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


@attrs.frozen(eq=False)
class _List:
    """A list of trials in memory, in sparse matrices whose rows are read like those of a file."""

    # The scores, or the labels, which are 0 where there is no trial; and where there are scores
    # (None: everywhere).
    contents: scipy.sparse.csr_array
    present: scipy.sparse.csr_array | None
    kind: str
    # Of a block, whose bytes count.
    item_size: int
    chunk: ClassVar[int] = 1

    @classmethod
    def from_cells(
        cls,
        at: tuple[AnyArray, AnyArray],
        shape: tuple[int, int],
        contents: AnyArray,
        kind: str,
        item_size: int = 1,
    ) -> Self:
        """Put what is said of some cells into a matrix."""
        held = np.ones(contents.size, np.bool_)
        is_scored = kind == "scores"
        present = scipy.sparse.csr_array((held, at), shape=shape) if is_scored else None
        return cls(scipy.sparse.csr_array((contents, at), shape=shape), present, kind, item_size)

    @classmethod
    def from_lines(cls, lines: Positions, n: int, contents: AnyArray, kind: str) -> Self:
        """Give each of n trials a row of its own."""
        return cls.from_cells((lines, np.zeros_like(lines)), (n, 1), contents, kind, 8)

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
        given = self.scores if scores is None else scores
        # The minimum of an array is NaN if anything is.
        if not any(np.isnan(each.min(initial=0)) for each in given):
            return np.empty((0, 2), np.int64)
        bad = np.logical_or.reduce([np.isnan(each) for each in given])
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
    sources : sequence of MatrixFile or list of trials
        What gives rows: of labels first, then of the scores of each file. Where all files are
        lists, a row is a trial.
    frames : sequence of Frame
        Where the rows and columns of the key are in each of these.
    order : ndarray of int, optional
        In which rows are read, that of the first score file; None is that of the key.
    factor : float, optional
        What makes natural logarithms of the scores.
    """

    ids: Ids
    n_found: tuple[int, int]
    sources: Sequence[MatrixFile | _List]
    frames: Sequence[Frame]
    order: Positions | None
    factor: float | None

    def cut(self) -> list[slice]:
        """Cut the rows into blocks of whole chunks."""
        n_rows, n_cols = self.sources[0].shape
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
                labels, _ = key(align.as_slice(rows))
                pairs = zip(systems, self.frames, strict=True)
                scores, valid = zip(*(_aligned(*pair, rows) for pair in pairs), strict=True)
                if self.factor is not None:
                    scores = tuple(self.factor * each.astype(np.float64) for each in scores)
                yield Block(rows, labels, scores, valid)

    def refuse_nan(self, bad: IntArray) -> None:
        """Raise if there are trials, by row and column, whose score is NaN."""
        if len(bad):
            first = f"({self.ids[0][bad[0, 0]]}, {self.ids[1][bad[0, 1]]})"
            got = f"NaN for {len(bad)} of them, the first {first}"
            raise invalid("scores", "not hold NaN where there is a trial", got)

    def missing(self, counts: IntArray) -> list[Note]:
        """Note models, segments and trials without scores, given the sum of `Block.counts`."""
        n_classes = 2 if self.sources[0].kind == "key" else 1
        wanted, found = counts[:4].reshape(2, 2)[:, :n_classes].tolist()
        sizes = self.ids[0].size, self.ids[1].size
        return align.notes_of_missing(sizes, self.n_found, wanted, found)


def _aligned(read: Callable[[slice | Positions], Held], frame: Frame, rows: Positions) -> Held:
    """Read the scores of rows of the key, 0 where there is no score, and where there is one."""
    at, shape = None, (rows.size, frame.shape[1])
    if frame.rows is not None:
        places = frame.rows[rows]
        known = places >= 0
        rows = places[known]
        at = None if known.all() else np.where(known, np.cumsum(known) - 1, -1)
    inner = Frame(at, frame.cols, shape)
    values, valid = read(align.as_slice(rows))
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
    listed = list(map(hdf5.is_list, paths))
    sources: list[MatrixFile | _List]
    if all(listed):
        # A matrix may be too large: each trial has a row of its own.
        systems = list(map(Scores.read, score_files))
        no_file = trial_file is None
        trials = systems[0].to_ndx() if no_file else read_list(paths[-1], is_key=is_key)
        n, sources = trials.n_trials, []
        for system in systems:
            values, found = system.found_in(trials)
            lines = np.arange(n) if found is None else np.flatnonzero(found)
            sources.append(_List.from_lines(lines, n, values, "scores"))
        sources.append(_List.from_lines(np.arange(n), n, _labels(trials), trials._kind))
        known = [each.ids for each in (*systems, trials)]
    else:
        kind = "scored" if trial_file is None else "key" if is_key else "trials"
        kinds = [*["scores"] * len(score_files), kind]
        sources, known = map(list, zip(*map(_open, paths, kinds), strict=True))
    for each, path in zip(known, paths, strict=True):
        for side in each:
            check_unique(side, f"ids of {path}")
    ids = known[-1]
    frames = [align.frame_of(ids, own) for own in known[:-1]]
    for frame, own in zip(frames, known[:-1], strict=True):
        if is_key:
            align.refuse_strangers(frame, ids, own)
    both = map(np.logical_and.reduce, zip(*(frame.found for frame in frames), strict=True))
    n_models, n_segments = (int(np.count_nonzero(each)) for each in both)
    first = frames[0].rows if is_key and not listed[0] else None
    order = None if first is None else np.argsort(first, kind="stable")
    if all(listed):
        frames = [Frame(None, None, sources[-1].shape)] * len(frames)
    sources.insert(0, sources.pop())
    return FileTrials(ids, (n_models, n_segments), sources, frames, order, factor)


def _open(path: FilePath, kind: str) -> tuple[MatrixFile | _List, Ids]:
    """Read a list of trials, or look into a file that holds a matrix; return also its ids."""
    if not hdf5.is_list(path):
        matrix, ids = open_matrix(path, "scores" if kind == "scored" else kind)
        warn(matrix.notes)
        return (attrs.evolve(matrix, kind=kind) if kind == "scored" else matrix), ids
    if kind == "scores":
        scores = Scores.read(path)
        at = scores.trial_positions()
        return _List.from_cells(at, scores.shape, scores.values, kind), scores.ids
    trials = read_list(path, is_key=kind == "key")
    at, labels = trials.trial_positions(), _labels(trials)
    return _List.from_cells(at, trials.shape, labels, trials._kind), trials.ids


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
        return type(self), (self.parts, self.workers, None, self.progress)

    def step(self, n_kept: int) -> int:
        """Return which of so many non-targets are to be taken that about `n_kept` are."""
        # An odd number, or in a matrix of 2**k columns all would lie in a few of them.
        return sum(math.prod(part.sources[0].shape) for part in self.parts) // n_kept | 1

    def pass_over(
        self, function: Callable[..., Result], *shared: object, label: str
    ) -> Iterator[tuple[int, Result]]:
        """Yield the part, and ``function(blocks, *shared)``, of each task in their order."""
        cuts = [part.cut() for part in self.parts]
        # What runs elsewhere needs no ids.
        bare = [attrs.evolve(part, ids=(np.empty(0, np.str_),) * 2) for part in self.parts]
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
        passed: list[list[tuple[IntArray, IntArray, FloatArray, list[Result]]]]
        passed = [[] for _ in self.parts]
        for number, found in self.pass_over(_look, keep, label=label):
            passed[number].append(found)
        totals, tar, kept, notes = [], list[FloatArray](), list[Result](), list[Note]()
        for part, parts in zip(self.parts, passed, strict=True):
            counts, nan, targets, others = zip(*parts, strict=True)
            part.refuse_nan(np.concatenate(nan))
            totals.append(np.sum(counts, axis=0))
            # Before a class without scores is refused: ids that do not match are often the reason.
            notes += part.missing(totals[-1])
            tar += targets
            kept += itertools.chain(*others)
        if all_scored:
            refuse_missing(totals[0])
        n_tar, n_non, scored_tar, scored_non = np.sum([n[:4] for n in totals], axis=0).tolist()
        for noun, n_scored in (("targets", scored_tar), ("non-targets", scored_non)):
            if not n_scored:
                hint = "" if n_non else f"All {n_tar} trials are targets: is it an Ndx?"
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
    align.refuse_gaps(
        [f"system {i} lacks {has_not} of {n} trials" for i, has_not in lacks if has_not]
    )


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
    if len({*real}) < len(real):
        raise invalid("score_files", "hold each file once", "one twice with the same key")
    return [([score], key) for score, key in zip(scores, keys, strict=True)]


def as_paths(paths: object, name: str) -> list[FilePath]:
    """Return one or several names of files as a list."""
    is_one = isinstance(paths, str | os.PathLike)
    given = [paths] if is_one else list(paths) if isinstance(paths, Iterable) else []
    listed = [path for path in given if isinstance(path, str | os.PathLike)]
    if not listed or len(listed) < len(given):
        raise invalid(name, "be the name of a file, or several of them", describe(paths))
    return listed
