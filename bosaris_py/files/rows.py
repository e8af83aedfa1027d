"""Read score matrices and lists of trials part by part; write score files likewise.

`describe` checks kind, shapes and types of an HDF5 file in any layout that `files.hdf5` reads. It
returns the ids and a `MatrixFile` or, for a list of trials, a `FlatFile`, which says how to read
the file. Other processes and machines that get it open the file themselves::

    file, modelset, segset = describe("scores.h5", "scores")
    with RowReader(file) as reader:  # of a MatrixFile
        for rows in row_blocks(file.shape, [file]):
            scores, valid = reader.read_scores(rows), reader.read_valid(rows)
    with FlatReader(file) as reader:  # of a FlatFile
        for trials in file.chunks():
            models, segments = reader.read_positions(trials)
            scores = reader.read_scores(trials)

Trials of a list must be in the order in which this package writes them. Then those of two files are
found in each other chunk by chunk, in memory that does not grow with them.

A file that has another size or time than when it was described is refused when reading begins and
when it ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    IndexArray,
    IntArray,
    Positions,
    StrArray,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import FilePath, as_path, invalid
from bosaris_py.errors import FileFormatError
from bosaris_py.files import hdf5
from bosaris_py.files.columns import ascends, trial_codes
from bosaris_py.files.hdf5 import CHUNK_TRIALS, DataSet
from bosaris_py.files.layout import FIELDS, KINDS

Rows: TypeAlias = slice | IndexArray

# Which rows these are, their scores, and where these are valid.
ScoredRows: TypeAlias = tuple[slice, FloatArray, BoolArray]

# Positions of the models and of the segments of trials, and their scores.
ScoredList: TypeAlias = tuple[Positions, Positions, FloatArray]

# Bytes of scores in a block: few enough that it is still in the processor's cache when it is used.
_BLOCK_BYTES = 2**22


@attrs.frozen
class FileStamp:
    """Absolute path of a file, and what changes with its content."""

    path: Path
    size: int
    modified: int

    @classmethod
    def of(cls, path: FilePath) -> Self:
        """Return the stamp of a file as it is now."""
        absolute = as_path(path).absolute()
        status = absolute.stat()
        return cls(absolute, status.st_size, status.st_mtime_ns)

    def check(self) -> None:
        """Raise `FileFormatError` if the file is not the same any more."""
        if not self.path.exists() or type(self).of(self.path) != self:
            message = "changed while it was being read; wait until it is complete"
            raise FileFormatError(f"{self.path}: {message}")


@attrs.frozen(eq=False)
class DescribedFile:
    """How to read one file, without its ids."""

    stamp: FileStamp
    # One of `layout.KINDS`.
    kind: str
    # Number of models (rows) and segments (columns).
    shape: tuple[int, int]
    # Paths in the file and contents of what is read.
    data_sets: tuple[tuple[str, str], ...]
    # Bytes of one value in memory.
    item_size: int

    @property
    def path(self) -> Path:
        """The file."""
        return self.stamp.path


@attrs.frozen
class MatrixFile(DescribedFile):
    """How to read rows of the matrix in a file of kind ``scores``, ``key`` or ``ndx``."""

    # Rows that the file keeps together; reading them at once is cheapest.
    chunk_rows: int


@attrs.frozen(eq=False)
class FlatFile(DescribedFile):
    """How to read the trials listed in a file of kind ``flat_scores``, ``_key`` or ``_ndx``."""

    n_trials: int
    # Code of the first trial of each chunk, ascending; see `columns.trial_codes`.
    first_codes: IntArray = attrs.field(converter=read_only)

    __reduce__ = by_constructor

    def chunks(self) -> list[slice]:
        """Return the ranges of trials that are read at once."""
        starts = range(0, self.n_trials, CHUNK_TRIALS)
        return [slice(start, min(start + CHUNK_TRIALS, self.n_trials)) for start in starts]


AnyFile: TypeAlias = MatrixFile | FlatFile


def describe(path: FilePath, *kinds: str) -> tuple[AnyFile, StrArray, StrArray]:
    """Describe a file of scores, a key or trials, for reading by parts, and return its ids."""
    stamp = FileStamp.of(path)
    file: AnyFile
    with hdf5.opened(stamp.path) as source:
        kind = _kind_of(source, kinds)
        if tuple(kinds) == ("key",) and "spoof" in _words_of_kinds(source):
            hint = "Read it with read_key, or save key.bona_fide()."
            raise FileFormatError(f"{path}: spoofs are not told from non-targets in parts. {hint}")
        found, sizes = hdf5.find_fields(source, kind)
        hdf5.warn_of_old_layout(path, kind, found)
        ids = []
        for name in ("modelset", "segset"):
            each = found.pop(name)
            each.check()
            ids.append(each.read_ids())
        shape = ids[0].size, ids[1].size
        for each in found.values():
            each.check(whole=False)
        # In the order of their fields.
        names = sorted(found, key=list(FIELDS).index)
        data_sets = tuple((found[name].name, found[name].content) for name in names)
        item_size = next(
            (e.memory_type.itemsize for e in found.values() if e.content == "numbers"), 1
        )
        described = stamp, kind, shape, data_sets, item_size
        if "k" in sizes:
            file = FlatFile(*described, sizes["k"], np.empty(0, dtype=np.int64))
        else:
            rows = [(e.data.chunks or (1,))[0] if len(e.shape) == 2 else 1 for e in found.values()]
            file = MatrixFile(*described, min(max(rows), max(1, shape[0])))
    if isinstance(file, FlatFile):
        with FlatReader(file) as reader:
            file = attrs.evolve(file, first_codes=mark_read_only(_first_codes(reader)))
    return file, ids[0], ids[1]


def _words_of_kinds(source: hdf5.Source) -> list[str]:
    """Return the words of the column that tells spoofs from other non-targets, if there is one."""
    names = _read_words(source, "columns/trial/names")
    if "kind" not in names:
        return []
    return _read_words(source, f"columns/trial/{names.index('kind')}/levels")


def _read_words(source: hdf5.Source, place: str) -> list[str]:
    if source.find(place) is None:
        return []
    words = source.data_set(place, "ids")
    words.check()
    listed: list[str] = words.read_ids().tolist()
    return listed


def _kind_of(source: hdf5.Source, kinds: Sequence[str]) -> str:
    """Tell which of some kinds, or the flat kind of one, a file is most likely of."""
    declared = source.attribute("format")
    if declared.startswith("bosaris_py.flat_") or source.find("trials/models") is not None:
        if len(kinds) == 1:
            return f"flat_{kinds[0]}"
        return "flat_key" if source.find("trials/is_target") is not None else "flat_ndx"
    if len(kinds) == 1:
        return kinds[0]
    signs = ("file_format", *FIELDS["tar"].names, *FIELDS["non"].names)
    if source.first_of(signs) is not None:
        return "key"
    # A mask that can hold -1 is taken for labels.
    mask = "trial_mask"
    is_key = source.find(mask) is not None and not source.data_set(mask, "mask").is_unsigned
    return "key" if is_key else "ndx"


def _first_codes(reader: "FlatReader") -> IntArray:
    """Check that all trials are in order; return the code of the first of each chunk."""
    file, last, firsts = reader.file, -1, []
    for trials in file.chunks():
        positions = reader.read_positions(trials)
        for matrix, found, size in zip(reader.matrices, positions, file.shape, strict=False):
            if found.min() < 0 or found.max() >= size:
                raise matrix.error(f"must hold positions from 0 to {size - 1}")
        codes = trial_codes(*positions, file.shape[0])
        if codes[0] <= last or not ascends(codes):
            raise reader.matrices[0].error(
                "lists trials twice or in another order than by segment, then by model; "
                f"read the file with {KINDS[file.kind].class_name}.read and save it again"
            )
        firsts.append(int(codes[0]))
        last = int(codes[-1])
    return np.array(firsts, dtype=np.int64)


def row_blocks(
    shape: tuple[int, int], files: Sequence[MatrixFile], block_rows: int | None = None
) -> list[slice]:
    """Cut the rows of matrices into blocks, by the files and `block_rows` alone.

    By default a block has about four megabytes of scores, a whole number of the chunks that the
    files are stored in where these are not larger.
    """
    n_rows, n_cols = shape
    if block_rows is None:
        row_bytes = max(1, n_cols) * max(file.item_size for file in files)
        step = max(1, _BLOCK_BYTES // row_bytes)
        chunk = max(file.chunk_rows for file in files)
        # A chunk larger than a block would be unpacked for each block again.
        step = max(chunk, step // chunk * chunk)
    else:
        step = block_rows
    return [slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]


class FileReader:
    """Base of readers: a context manager that opens a described file and closes it.

    On entry it refuses a file that is not the one that was described; on exit one that has changed
    meanwhile.
    """

    def __init__(self, file: DescribedFile) -> None:
        self.file = file
        self.matrices: list[DataSet] = []

    def __enter__(self) -> Self:
        """Open the file."""
        self.file.stamp.check()
        self._source = hdf5.open_source(self.file.path)
        with hdf5.reading(self.file.path):
            self.matrices = [self._source.data_set(*found) for found in self.file.data_sets]
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        """Close the file, and check that it has not changed: this may be why something failed."""
        self._source.file.close()
        if error is None or isinstance(error, Exception):
            self.file.stamp.check()

    def verify(self) -> None:
        """Read all data, whose checksums HDF5 compares."""
        for matrix in self.matrices:
            row = max(1, matrix.data.size // max(1, matrix.shape[0]))
            step = max(1, _BLOCK_BYTES // row)
            for start in range(0, matrix.shape[0], step):
                matrix.read(slice(start, min(start + step, matrix.shape[0])))


class FlatReader(FileReader):
    """Reads ranges of a list of trials."""

    file: FlatFile

    def read_positions(self, trials: slice) -> tuple[Positions, Positions]:
        """Read the models and segments of some trials, as positions in the ids of the file."""
        models, segments = (self._read(matrix, trials) for matrix in self.matrices[:2])
        return models, segments

    def read_codes(self, trials: slice) -> IntArray:
        """Read the codes of some trials, which ascend."""
        return trial_codes(*self.read_positions(trials), self.file.shape[0])

    def read_scores(self, trials: slice) -> AnyArray:
        """Read the scores of some trials, as float32 or float64."""
        return self.matrices[2].read(trials)

    def read_labels(self, trials: slice) -> npt.NDArray[np.int8]:
        """Read labels: 1 for targets and, in a trial list, for all, -1 for non-targets."""
        if self.file.kind == "flat_ndx":
            return np.ones(trials.stop - trials.start, dtype=np.int8)
        matrix = self.matrices[2]
        where = f"{self.file.path}: data set `/{matrix.name}`, from trial {trials.start},"
        return np.where(hdf5.check_mask(matrix.read(trials), where), np.int8(1), np.int8(-1))

    @staticmethod
    def _read(matrix: DataSet, trials: slice) -> AnyArray:
        """Read positions; numpy has no integers for what uint64 and int64 add up to."""
        found = matrix.read(trials)
        return found.astype(np.int64) if found.dtype == np.uint64 else found


class RowReader(FileReader):
    """Reads rows of a matrix."""

    file: MatrixFile

    def read_scores(self, rows: Rows) -> AnyArray:
        """Read some rows of scores; those that `read_valid` excludes are none."""
        return self._rows(self.matrices[0], rows)

    def read_valid(self, rows: Rows) -> BoolArray | None:
        """Read which cells of rows hold scores; None if all do."""
        if len(self.matrices) == 1:
            return None
        valid = self._mask(self.matrices[1], rows)
        return None if valid.all() else valid

    def read_labels(self, rows: Rows) -> npt.NDArray[np.int8]:
        """Read some rows of labels: 1 for targets or trials, -1 for non-targets."""
        first = self.matrices[0]
        if len(self.matrices) == 1:
            is_key = self.file.kind == "key"
            labels = self._mask(first, rows, signed=is_key or not first.is_unsigned)
            if not is_key and labels.view(np.int8).min(initial=0) < 0:
                raise first.error("holds -1: this is a Key; Key.read reads it")
            return labels.view(np.int8)
        tar, non = (self._mask(matrix, rows) for matrix in self.matrices)
        if (tar & non).any():
            raise self.matrices[1].error(f"shares trials with `/{first.name}`")
        both: npt.NDArray[np.int8] = tar.view(np.int8) - non.view(np.int8)
        return both

    def _mask(self, matrix: DataSet, rows: Rows, *, signed: bool = False) -> AnyArray:
        """Read rows of a mask as bool, or as int8 if signed."""
        where = f"{self.file.path}: data set `/{matrix.name}`, {_name_rows(rows)},"
        return hdf5.check_mask(self._rows(matrix, rows), where, signed=signed)

    def _rows(self, matrix: DataSet, rows: Rows) -> AnyArray:
        """Read rows of a data set, also of one that is stored as a vector."""
        n_columns = self.file.shape[1]
        if isinstance(rows, slice):
            # One row may be stored as a vector.
            is_row = len(matrix.shape) == 1 and self.file.shape[0] == 1
            found = matrix.read(None if is_row or not matrix.data.size else rows)
            return found.reshape(rows.stop - rows.start, n_columns)
        # Each chunk once.
        out = np.zeros((rows.size, n_columns), dtype=matrix.memory_type)
        order = np.argsort(rows, kind="stable")
        ordered = rows[order]
        ends = np.append(np.flatnonzero(np.diff(ordered // self.file.chunk_rows)) + 1, rows.size)
        start = 0
        for end in ends.tolist() if rows.size else ():
            first = int(ordered[start])
            part = self._rows(matrix, slice(first, int(ordered[end - 1]) + 1))
            out[order[start:end]] = part[ordered[start:end] - first]
            start = end
        return out


def _name_rows(rows: Rows) -> str:
    """Name rows, counted from 0, in an error message."""
    if isinstance(rows, slice):
        return f"rows {rows.start} to {rows.stop - 1}"
    return f"{rows.size} rows from {rows.min(initial=0)} to {rows.max(initial=0)}"


def write_score_rows(
    path: FilePath,
    parts: Iterable[ScoredRows],
    *,
    modelset: StrArray,
    segset: StrArray,
    dtype: npt.DTypeLike = np.float64,
) -> None:
    """Write a `Scores` file from blocks of rows, replacing an existing file in one step.

    `parts` are blocks of consecutive rows from the first to the last: where they belong, the
    scores, and which of these are valid. The arrays are not needed any more when the next part is
    asked for.
    """
    shape, types = (modelset.size, segset.size), {"scoremat": np.dtype(dtype), "scoremask": "u1"}
    size = (np.dtype(dtype).itemsize + 1) * shape[0] * shape[1]
    done = 0
    with hdf5.creating(path, "scores", size) as file:
        made = [_new_field(file, name, shape, each) for name, each in types.items()]
        for rows, values, mask in parts:
            if rows.start != done or rows.stop > modelset.size:
                raise invalid("parts", f"go on with row {done} of {modelset.size}", f"{rows}")
            done = rows.stop
            made[0][rows], made[1][rows] = values, mask.view(np.uint8)
        if done != modelset.size:
            raise invalid("parts", f"be all {modelset.size} rows", f"{done}")
        _put_ids(file, modelset, segset)


def write_score_list(
    path: FilePath,
    parts: Iterable[ScoredList],
    *,
    most: int,
    modelset: StrArray,
    segset: StrArray,
    dtype: npt.DTypeLike = np.float64,
) -> None:
    """Write a list of scores part by part, replacing an existing file in one step.

    `parts` are models, segments and scores of trials, by segment, then by model, `most` at most; as
    `write_score_rows`.
    """
    is_large = max(modelset.size, segset.size) > np.iinfo(np.int32).max
    position = np.dtype(np.int64 if is_large else np.int32)
    types = {"models": position, "segments": position, "scores": np.dtype(dtype)}
    size, done = most * sum(each.itemsize for each in types.values()), 0
    with hdf5.creating(path, "flat_scores", size) as file:
        _put_ids(file, modelset, segset)
        made = [_new_field(file, name, (most,), each) for name, each in types.items()]
        for part in parts:
            end = done + len(part[0])
            for column, values in zip(made, part, strict=True):
                column[done:end] = values
            done = end
        for column in made if done < most else ():
            column.resize((done,))


def _new_field(file: Any, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Any:
    """Create the data set of a field."""
    return hdf5.new_data_set(file, FIELDS[name].names[0], shape, dtype)


def _put_ids(file: Any, modelset: StrArray, segset: StrArray) -> None:
    """Put the ids of both sides."""
    for name, ids in (("modelset", modelset), ("segset", segset)):
        hdf5.put(file, FIELDS[name].names[0], ids)
