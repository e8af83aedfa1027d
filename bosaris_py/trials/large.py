"""Score files larger than memory: blocks of rows whose counts and sums add up.

A file holds a matrix of models by segments. Ids are aligned once. After that a block is some rows
of the key with the scores of the same trials, and what is asked of all trials is a sum over blocks,
taken by any executor in any order. Results depend neither on the executor nor on its workers.

A first pass over the blocks keeps the target scores, which are few. Ranks need no more of the
non-targets than how many lie below each target score, and up to it: a second pass counts them.
Training needs sums of a loss, one pass for each.

Lists of trials fit into memory. A list beside a matrix is put into the rows of the matrix.
"""

import functools
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import attrs
import numpy as np
import scipy

import bosaris_py.trials.alignment as align
from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, BoolArray, FilePath, FloatArray, IntArray
from bosaris_py._parallel import run_tasks, whole_number
from bosaris_py.files import hdf5
from bosaris_py.files.hdf5 import FIELDS, IDS
from bosaris_py.trials.alignment import Frame, Ids
from bosaris_py.trials.key import Key, Ndx
from bosaris_py.trials.scores import Scores

Result = TypeVar("Result")

# Contents of rows of a matrix, and where there are any (None: everywhere).
Held = tuple[AnyArray, BoolArray | None]

# Cells that are read at once where only their checksums are wanted.
_VERIFIED = 2**22

# Bytes of scores in a block: few enough to stay in the processor's cache. Where the rows of a file
# come in another order, each block reads many chunks, and is so many times larger.
_BLOCK_BYTES, _SCATTERED = 2**22, 16

# Blocks are done in so many tasks, whatever the workers, each of which opens the files once.
_TASKS = 16

# Of so many non-targets a sample is kept, from whose optimum training starts.
KEPT = 2**22


@attrs.frozen(eq=False)
class MatrixFile:
    """How to read rows of the matrix in a file: scores, or the labels of a key or an Ndx."""

    path: Path
    # "scores", "key" or "ndx".
    kind: str
    shape: tuple[int, int]
    # Name and content of each data set.
    data_sets: list[tuple[str, str]]
    # Rows that the file keeps together, and bytes of a score.
    chunk: int
    item_size: int

    def opened(self, stack: ExitStack) -> Callable[[slice | IntArray], Held]:
        """Open the file until the stack ends; return what reads rows."""
        source = stack.enter_context(hdf5.opened(self.path))
        found = [source.data_set(name, content) for name, content in self.data_sets]
        read = self._scores if self.kind == "scores" else self._labels
        return functools.partial(read, found[0], found[-1])

    def _scores(self, values: hdf5.DataSet, mask: hdf5.DataSet, rows: slice | IntArray) -> Held:
        valid = None if mask is values else self._rows(mask.read, rows)
        return self._rows(values.read, rows), None if valid is None or valid.all() else valid

    def _labels(self, first: hdf5.DataSet, last: hdf5.DataSet, rows: slice | IntArray) -> Held:
        if first is last:
            return self._rows(first.read, rows).view(np.int8), None
        tar, non = (self._rows(mask.read, rows) for mask in (first, last))
        if (tar & non).any():
            raise last.source.error(last.name, f"shares trials with `/{first.name}`")
        return tar.view(np.int8) - non.view(np.int8), None

    def _rows(self, read: Callable[[slice], AnyArray], rows: slice | IntArray) -> AnyArray:
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


@attrs.frozen(eq=False)
class _List:
    """A list of trials in memory, whose cells are read like the rows of a file."""

    # One more than the line of each cell, 0 where there is none.
    lines: scipy.sparse.csr_array
    # After a 0 for no line the scores or the labels: 1 for a target or a trial.
    values: AnyArray
    kind: str
    chunk: ClassVar[int] = 1

    @classmethod
    def from_trials(cls, item: Scores | Key | Ndx, trials: Key | Ndx | None = None) -> Self:
        """Put the scores, or the labels, into a matrix; those of given trials into one column."""
        own: AnyArray = item._vector()
        number, shape, found = np.arange(1, item.n_trials + 1), item.shape, None
        rows, cols = item.trial_positions()
        if trials is not None:
            if isinstance(item, Scores):
                own, found = item.found_in(trials)
            number, shape = np.arange(1, own.size + 1), (trials.n_trials, 1)
            rows = np.arange(trials.n_trials) if found is None else np.flatnonzero(found)
            cols = np.zeros_like(rows)
        lines = scipy.sparse.csr_array((number, (rows, cols)), shape=shape)
        values = own if isinstance(item, Scores) else np.sign(own.astype(np.int8))
        return cls(lines, np.pad(values, (1, 0)), item._kind)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, cols = self.lines.shape
        return rows, cols

    @property
    def item_size(self) -> int:
        """Bytes of what is held of a cell."""
        return self.values.itemsize

    def opened(self, stack: ExitStack) -> Callable[[slice | IntArray], Held]:
        """Return what makes rows."""
        return self._rows

    def _rows(self, rows: slice | IntArray) -> Held:
        lines = self.lines[rows].toarray()
        return self.values[lines], lines > 0


Source = MatrixFile | _List


def read_list(path: FilePath, *, is_key: bool = False) -> Key | Ndx:
    """Read a list of trials, of a key if there are labels."""
    if not is_key and hdf5.kind_of(path) == "flat_ndx":
        return Ndx.read(path)
    key = Key.read(path)
    if is_key and key.n_spoof:
        hint = "Read it with read_key, or save key.bona_fide()."
        raise errors.FileFormatError(f"{path}: spoofs are not told from non-targets. {hint}")
    return key


def _open(path: FilePath, kind: str, listed: Key | Ndx | None = None) -> tuple[Source, Ids]:
    """Look into a file of "scores", a "key" or "trials": return how to read rows, and its ids."""
    if hdf5.is_list(path):
        item = Scores.read(path) if kind == "scores" else read_list(path, is_key=kind == "key")
        return _List.from_trials(item, listed), item.ids
    place = check.as_path(path).absolute()
    with hdf5.opened(place) as source:
        if kind == "trials":
            kind = "key" if source.kinds[:1] == ["key"] else "ndx"
        found, _ = hdf5.find_fields(source, kind)
        errors.warn(hdf5.notes_of_layout(path, kind, found))
        models, segments = (found.pop(name).check().read() for name in IDS)
        sets = [found[name].check(whole=False) for name in FIELDS if name in found]
        chunks = [(each.data.chunks or (1,))[0] if each.data.ndim == 2 else 1 for each in sets]
        names = [(each.name, each.content) for each in sets]
        chunk, size = min(max(chunks), max(1, models.size)), sets[0].data.dtype.itemsize
    shape = models.size, segments.size
    return MatrixFile(place, kind, shape, names, chunk, size), (models, segments)


def verified_ids(path: FilePath, kind: str) -> Ids:
    """Read all of a file of scores, a key or an Ndx, whose checksums are compared; return ids."""
    source, ids = _open(path, kind)
    n_rows, step = source.shape[0], max(1, _VERIFIED // max(1, source.shape[1]))
    with ExitStack() as stack:
        read = source.opened(stack)
        for start in range(0, n_rows, step):
            read(slice(start, min(start + step, n_rows)))
    return ids


# ---- Blocks of trials


@attrs.frozen(eq=False)
class Block:
    """Some trials of a key and their scores: rows of matrices, or a part of a list."""

    # Which rows of the key these are.
    rows: IntArray
    # 1 for a target or a trial, -1 for a non-target, 0 for no trial.
    labels: IntArray
    # The scores of each file, and where it has any (None: everywhere).
    scores: tuple[AnyArray, ...]
    valid: tuple[BoolArray | None, ...]

    @functools.cached_property
    def scored(self) -> IntArray:
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

    def nan(self) -> IntArray:
        """Return rows and columns of trials that have a score which is NaN."""
        # The minimum of an array is NaN if anything is.
        if not any(np.isnan(each.min(initial=0)) for each in self.scores):
            return np.empty((0, 2), np.int64)
        bad = np.logical_or.reduce([np.isnan(each) for each in self.scores])
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
    trials : MatrixFile or list of trials, optional
        What gives rows of labels; by default all scores of the first file are trials.
    systems : sequence of MatrixFile or list of trials
        What gives rows of the scores of each file.
    frames : sequence of Frame
        Where the rows and columns of the key are in each of these.
    order : ndarray of int, optional
        In which rows are read, that of the first score file; None is that of the key.
    factor : float, optional
        What makes natural logarithms of the scores.
    stamps : dict
        Size of each file and when it changed.
    """

    ids: Ids
    n_found: tuple[int, int]
    trials: Source | None
    systems: Sequence[Source]
    frames: Sequence[Frame]
    order: IntArray | None
    factor: float | None
    stamps: dict[Path, tuple[int, int]]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.frames[0].shape

    def check_unchanged(self) -> None:
        """Raise if a file is another one than when it was opened first."""
        for path, stamp in self.stamps.items():
            if not path.exists() or _stamp(path) != stamp:
                message = "changed while it was being read; wait until it is complete"
                raise errors.FileFormatError(f"{path}: {message}")

    def cut(self) -> list[slice]:
        """Cut the rows into blocks of whole chunks."""
        n_rows, n_cols = self.shape
        sources = [*self.systems, *([] if self.trials is None else [self.trials])]
        scattered = self.order is not None or any(f.rows is not None for f in self.frames)
        row_bytes = max(1, n_cols) * max(each.item_size for each in sources)
        # A chunk larger than a block would be read again for each block.
        chunk = max(each.chunk for each in sources)
        most = _BLOCK_BYTES * (_SCATTERED if scattered else 1)
        step = max(1, most // row_bytes // chunk) * chunk
        return [slice(start, min(start + step, n_rows)) for start in range(0, max(1, n_rows), step)]

    def read(self, blocks: Iterable[slice]) -> Iterator[Block]:
        """Read some of the blocks."""
        with ExitStack() as stack:
            key = None if self.trials is None else self.trials.opened(stack)
            pairs = [(s.opened(stack), f) for s, f in zip(self.systems, self.frames, strict=True)]
            for block in blocks:
                rows = np.r_[block] if self.order is None else self.order[block]
                scores, valid = zip(*(_aligned(*pair, rows) for pair in pairs), strict=True)
                if key is not None:
                    labels, _ = key(align.as_slice(rows))
                elif valid[0] is None:
                    labels = np.ones(scores[0].shape, np.int8)
                else:
                    labels = valid[0].view(np.int8)
                if self.factor is not None:
                    scores = tuple(self.factor * each.astype(np.float64) for each in scores)
                yield Block(rows, labels, scores, valid)

    def refuse_nan(self, bad: IntArray) -> None:
        """Raise if there are trials, by row and column, whose score is NaN."""
        if len(bad):
            first = f"({self.ids[0][bad[0, 0]]}, {self.ids[1][bad[0, 1]]})"
            got = f"NaN for {len(bad)} of them, the first {first}"
            raise check.invalid("scores", "not hold NaN where there is a trial", got)

    def missing(self, counts: IntArray) -> list[errors.Note]:
        """Note models, segments and trials without scores, given the sum of `Block.counts`."""
        n_classes = 2 if self.trials is not None and self.trials.kind == "key" else 1
        wanted, found = counts[:4].reshape(2, 2)[:, :n_classes].tolist()
        sizes = self.ids[0].size, self.ids[1].size
        return align.notes_of_missing(sizes, self.n_found, wanted, found)


def _aligned(read: Callable[[slice | IntArray], Held], frame: Frame, rows: IntArray) -> Held:
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
        raise check.invalid("score_files", "hold at least one file", "none")
    paths = [*score_files, *([] if trial_file is None else [trial_file])]
    stamps = {path: _stamp(path) for path in map(Path.absolute, map(check.as_path, paths))}
    kinds = [*["scores"] * len(score_files), "key" if is_key else "trials"]
    listed = None
    if trial_file is not None and all(map(hdf5.is_list, paths)):
        # A matrix may be too large: each trial has a row of its own.
        listed = read_list(trial_file, is_key=is_key)
    opened = (_open(path, kind, listed) for path, kind in zip(paths, kinds, strict=False))
    sources, known = zip(*opened, strict=True)
    for path, both in zip(paths, known, strict=True):
        for side in both:
            check.check_unique(side, f"ids of {path}")
    # Without a file of trials those of the first file.
    last = 0 if trial_file is None else -1
    ids, own = known[last], known[: len(score_files)]
    frames = [align.frame_of(ids, mine) for mine in own]
    for frame, mine in zip(frames, own, strict=True):
        if is_key:
            align.refuse_strangers(frame, ids, mine, ids[0].size * ids[1].size)
    both = map(np.logical_and.reduce, zip(*(frame.found for frame in frames), strict=True))
    n_models, n_segments = (int(np.count_nonzero(each)) for each in both)
    first = frames[0].rows if is_key and isinstance(sources[0], MatrixFile) else None
    order = None if first is None else np.argsort(first, kind="stable")
    if listed is not None:
        frames = [Frame(None, None, (listed.n_trials, 1))] * len(frames)
    systems = sources[: len(score_files)]
    trials = None if trial_file is None else sources[-1]
    return FileTrials(ids, (n_models, n_segments), trials, systems, frames, order, factor, stamps)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


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
        factor = None if base is None else check.log_of_base(base)
        opened = [open_trials(scores, key, factor, is_key=True) for scores, key in files]
        return cls(tuple(opened), workers, executor, progress)

    def step(self, n_kept: int) -> int:
        """Return which of so many non-targets are to be taken that about `n_kept` are."""
        # An odd number, or in a matrix of 2**k columns all would lie in a few of them.
        return sum(part.shape[0] * part.shape[1] for part in self.parts) // n_kept | 1

    def totals(self, function: Callable[[Block], Result], label: str) -> list[Result]:
        """Return for each part the sum of ``function(block)`` over its blocks."""
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
            functools.partial(_total, function),
            [(bare[number], blocks) for number, blocks in tasks],
            workers=self.workers,
            executor=self.executor,
            label=label,
            progress=self.progress,
        )
        totals: dict[int, Result] = {}
        for (number, _), one in zip(tasks, found, strict=True):
            totals[number] = operator.add(totals[number], one) if number in totals else one
        return [*totals.values()]

    def first_pass(
        self, keep: Callable[[FloatArray], Result], label: str, *, all_scored: bool
    ) -> tuple[FloatArray, int, list[Result], list[errors.Note]]:
        """Return target scores, (n_files, n_tar), the number of non-targets, what is kept, notes.

        `keep` gets the scores, (n_files, n), of the non-targets of each block. Refused are NaN, a
        class without scores and, with `all_scored`, trials that lack a score.
        """
        passed = self.totals(functools.partial(_look, keep), label)
        notes = list[errors.Note]()
        for part, seen in zip(self.parts, passed, strict=True):
            part.refuse_nan(np.concatenate(seen.nan))
            # Before a class without scores is refused: ids that do not match are often the reason.
            notes += part.missing(seen.counts)
        if all_scored:
            refuse_missing(passed[0].counts)
        counts = np.sum([seen.counts[:4] for seen in passed], axis=0)
        n_tar, n_non, scored_tar, scored_non = counts.tolist()
        for noun, n_scored in (("targets", scored_tar), ("non-targets", scored_non)):
            if not n_scored:
                hint = "" if n_non else f"All {n_tar} trials are targets: is it an Ndx?"
                raise check.invalid("key_file", f"hold {noun} that have scores", "none", hint)
        tar = np.concatenate([each for seen in passed for each in seen.tar], axis=1)
        return tar, scored_non, [each for seen in passed for each in seen.kept], notes

    def sum(self, function: Callable[[FloatArray], Result], label: str) -> Result:
        """Return the sum of ``function(scores)`` over blocks of non-targets, (n_files, n)."""
        found = self.totals(functools.partial(_apply_to_non_targets, function), label)
        return functools.reduce(operator.add, found)


@attrs.frozen(eq=False)
class _Seen:
    """What the first pass found in some blocks: counts, NaN, targets, and what is kept."""

    counts: IntArray
    nan: list[IntArray]
    tar: list[FloatArray]
    kept: list[Any]

    def __add__(self, other: "_Seen") -> "_Seen":
        """Join what was found in other blocks."""
        pairs = zip(*(attrs.astuple(x, recurse=False) for x in (self, other)), strict=True)
        return _Seen(*(one + more for one, more in pairs))


def _look(keep: Callable[[FloatArray], Result], block: Block) -> _Seen:
    non = block.scores_with(-1)
    kept = [keep(non)] if non.size else []
    return _Seen(block.counts(), [block.nan()], [block.scores_with(1)], kept)


def _apply_to_non_targets(function: Callable[[FloatArray], Result], block: Block) -> Result:
    return function(block.scores_with(-1))


def _total(function: Callable[[Block], Result], task: tuple[FileTrials, list[slice]]) -> Result:
    part, blocks = task
    try:
        return functools.reduce(operator.add, map(function, part.read(blocks)))
    finally:
        # That a file has changed explains whatever failed.
        part.check_unchanged()


def refuse_missing(counts: IntArray) -> None:
    """Raise if a system lacks scores; `counts` are those of `Block.counts`."""
    n, lacks = counts[0] + counts[1], enumerate(counts[4:], 1)
    align.refuse_gaps([f"system {i} lacks {k} of {n} trials" for i, k in lacks if k])


def evenly(scores: FloatArray, step: int) -> FloatArray:
    """Return every step-th trial, at least one of a block; copied, so that the block is free."""
    return scores[:, (scores.shape[1] // 2) % step :: step].copy()


def as_pairs(score_files: object, key_files: object) -> list[tuple[list[FilePath], FilePath]]:
    """Put each score file beside its key; each pair may come once."""
    scores, keys = as_paths(score_files, "score_files"), as_paths(key_files, "key_files")
    if len(scores) != len(keys):
        expected = f"be as many files as there are score files, {len(scores)}"
        raise check.invalid("key_files", expected, f"{len(keys)}")
    real = [tuple(map(os.path.realpath, pair)) for pair in zip(scores, keys, strict=True)]
    if len({*real}) < len(real):
        raise check.invalid("score_files", "hold each file once", "one twice with the same key")
    return [([score], key) for score, key in zip(scores, keys, strict=True)]


def as_paths(paths: object, name: str) -> list[FilePath]:
    """Return one or several names of files as a list."""
    given = check.as_list(paths)
    listed = given if isinstance(given, list | tuple) else [given]
    if not listed:
        raise check.invalid(name, "hold the name of a file", "none")
    return [check.as_path(path, name) for path in listed]
