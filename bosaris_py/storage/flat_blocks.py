"""Lists of trials in HDF5 files, read a stretch at a time by any process that sees them.

`describe_flat` passes over the positions of a file in the layout of
`bosaris_py.storage.flat_hdf5` once, and returns its ids and a `FlatFile`: a small value
that says how to read stretches of it, and where in it a trial would be::

    file, modelset, segset = describe_flat("scores.h5", "flat_scores")
    with FlatReader(file) as reader:
        for trials in stretches(file):
            models, segments = reader.read_positions(trials)
            scores = reader.read_scores(trials)

The trials must be in the order in which this package writes them: then those of two
files are found in each other stretch by stretch, in memory that does not grow with them.
"""

from pathlib import Path
from typing import Any, TypeAlias

import attrs
import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, by_constructor, frozen, read_only
from bosaris_py.storage._guarded_hdf5 import (
    GuardedDataset,
    GuardedFile,
    check_mask_values,
    open_guarded,
)
from bosaris_py.storage._hdf5_layouts import check_ids, expect_kind, find_layout, require
from bosaris_py.storage._types import CLASS_NAMES
from bosaris_py.storage.blocks import Ids
from bosaris_py.storage.file_reader import FileReader, FileStamp
from bosaris_py.storage.trial_order import ascends, trial_codes

__all__ = ["STRETCH", "FlatFile", "FlatReader", "describe_flat", "is_flat", "stretches"]

Codes: TypeAlias = npt.NDArray[np.int64]
Positions: TypeAlias = npt.NDArray[np.signedinteger[Any]]

# Trials that are read at once: as many as the files keep together.
STRETCH = 2**17

_CONTENTS = {"flat_scores": ("scores",), "flat_key": ("is_target",), "flat_ndx": ()}


@attrs.frozen(eq=False)
class FlatFile:
    """How to read the trials listed in one file, without its ids.

    Parameters
    ----------
    stamp : FileStamp
        The file.
    kind : str
        ``"flat_scores"``, ``"flat_key"`` or ``"flat_ndx"``.
    shape : tuple of int
        Number of models and segments.
    n_trials : int
        Length of the list.
    item_size : int
        Bytes of one value in memory.
    stretch : int
        Trials that are read at once.
    first_codes : (k,) array of int64
        Code of the first trial of each stretch, ascending; see
        `bosaris_py.storage.trial_order.trial_codes`.
    """

    stamp: FileStamp
    kind: str
    shape: tuple[int, int]
    n_trials: int
    item_size: int
    stretch: int
    first_codes: Codes = attrs.field(converter=read_only)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that arrays stay read-only."""
        return by_constructor(self)

    @property
    def path(self) -> Path:
        """The file."""
        return self.stamp.path


def stretches(file: FlatFile) -> list[slice]:
    """Return the ranges of trials that are read at once."""
    return [
        slice(start, min(start + file.stretch, file.n_trials))
        for start in range(0, file.n_trials, file.stretch)
    ]


def is_flat(path: FilePath) -> bool:
    """Tell whether a file lists trials, whatever else it says of them.

    Parameters
    ----------
    path : str or path-like
        The HDF5 file.

    Raises
    ------
    FileFormatError
        If it is damaged or no HDF5 file.
    FileNotFoundError
        If there is no such file.
    """
    with open_guarded(Path(path)) as source:
        declared = source.attribute("format") or ""
        return declared.startswith("bosaris_py.flat_") or source.holds("trials/models")


def describe_flat(path: FilePath, *kinds: str) -> tuple[FlatFile, Ids, Ids]:
    """Describe a file of one of the flat forms for reading it by stretches.

    Parameters
    ----------
    path : str or path-like
        The HDF5 file.
    *kinds : str
        What it may be, of ``"flat_scores"``, ``"flat_key"`` and ``"flat_ndx"``.

    Returns
    -------
    file : FlatFile
        How to read it with a `FlatReader`.
    modelset, segset : array of str
        Its ids.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign or of another kind, or its trials are not in
        column-major order, each once.
    FileNotFoundError
        If there is no such file.
    """
    stamp = FileStamp.of(path)
    with open_guarded(stamp.path) as source:
        kind = kinds[0]
        if len(kinds) > 1:
            kind = "flat_key" if source.holds("trials/is_target") else "flat_ndx"
        expect_kind(source, kind)
        matrices = _open_columns(source, kind)
        models, segments = check_ids(source, find_layout(source, kind))
        for matrix in matrices:
            if matrix.shape != matrices[0].shape or len(matrix.shape) != 1:
                text = f"has shape {matrix.shape}; `/{matrices[0].name}` {matrices[0].shape}"
                raise source.error(matrix.name, f"{text}; each must have an element for each trial")
        modelset, segset = models.read_strings(), segments.read_strings()
        item_size = 1
        if kind == "flat_scores":
            item_size = _score_type(matrices[2]).itemsize
        count = matrices[0].count
    shape = (modelset.size, segset.size)
    none = np.empty(0, dtype=np.int64)
    unindexed = FlatFile(stamp, kind, shape, count, item_size, STRETCH, none)
    with FlatReader(unindexed) as reader:
        codes = _index(reader)
    return attrs.evolve(unindexed, first_codes=frozen(codes)), modelset, segset


def _open_columns(source: GuardedFile, kind: str) -> list[GuardedDataset]:
    """Check the types of positions and contents; no memory is claimed for them."""
    columns = []
    for name in ("models", "segments", *_CONTENTS[kind]):
        path = f"trials/{name}"
        require(source, kind, path)
        found = source.find(path)
        if name == "scores":
            checked = source.check_dataset(found, path, {"integer", "float"}, "real numbers")
        elif name == "is_target":
            checked = source.check_dataset(found, path, {"integer", "enumeration"}, "a mask")
            if checked.type_class == "enumeration" and checked.dataset.dtype != np.bool_:
                raise source.error(path, "must hold a mask; it is of an enumeration type")
        else:
            checked = source.check_dataset(found, path, {"integer"}, "whole numbers")
        if checked.item_size > 8:
            raise source.error(path, f"holds numbers of {checked.item_size} bytes; 8 is the most")
        columns.append(checked)
    return columns


def _score_type(column: GuardedDataset) -> np.dtype[Any]:
    """Return the type that scores have in memory: float32 if stored so or shorter."""
    is_short = column.type_class == "float" and column.item_size <= 4
    return np.dtype(np.float32 if is_short else np.float64)


def _position_type(column: GuardedDataset) -> np.dtype[Any]:
    """Return the type that positions have in memory: that of the file, but not uint64.

    Numpy has no integers for what uint64 and int64 add up to; too large ones stay too large.
    """
    stored: np.dtype[Any] = column.dataset.dtype.newbyteorder("=")
    return np.dtype(np.int64) if stored == np.uint64 else stored


def _index(reader: "FlatReader") -> Codes:
    """Check that all trials are in order, and return the code of the first of each stretch."""
    file, last, firsts = reader.file, -1, []
    for trials in stretches(file):
        models, segments = reader.read_positions(trials)
        for name, places, size in zip(
            ("models", "segments"), (models, segments), file.shape, strict=True
        ):
            if places.min() < 0 or places.max() >= size:
                raise reader.error(name, f"must hold positions from 0 to {size - 1}")
        codes = trial_codes(models, segments, file.shape[0])
        if codes[0] <= last or not ascends(codes):
            text = (
                "lists trials twice or in another order than by segment, then by model; "
                f"read the file with {CLASS_NAMES[file.kind]}.read and save it again"
            )
            raise reader.error("models", text)
        firsts.append(int(codes[0]))
        last = int(codes[-1])
    return np.array(firsts, dtype=np.int64)


class FlatReader(FileReader):
    """Reads stretches of a list of trials; a context manager that opens and closes its file.

    Parameters
    ----------
    file : FlatFile
        The file, as `describe_flat` described it.

    Raises
    ------
    FileFormatError
        On entry, if the file is not the one that was described; while reading, if it
        cannot be read or holds illegal values; on exit, if it has changed meanwhile.
    """

    def __init__(self, file: FlatFile) -> None:
        super().__init__(file.stamp)
        self.file = file

    def _find_data_sets(self, source: GuardedFile) -> list[GuardedDataset]:
        return _open_columns(source, self.file.kind)

    def error(self, name: str, text: str) -> Exception:
        """Return an error about a column of the list."""
        return self._matrices[0].owner.error(f"trials/{name}", text)

    def read_positions(self, trials: slice) -> tuple[Positions, Positions]:
        """Read the models and segments of some trials.

        Parameters
        ----------
        trials : slice
            Which of the list.

        Returns
        -------
        models, segments : (k,) arrays of int
            Positions in the ids of the file.
        """
        models, segments = (
            self._read(matrix, _position_type(matrix), trials) for matrix in self._matrices[:2]
        )
        return models, segments

    def read_codes(self, trials: slice) -> Codes:
        """Read the codes of some trials, which ascend."""
        return trial_codes(*self.read_positions(trials), self.file.shape[0])

    def read_scores(self, trials: slice) -> npt.NDArray[Any]:
        """Read the scores of some trials, as float32 or float64."""
        return self._read(self._matrices[2], _score_type(self._matrices[2]), trials)

    def read_labels(self, trials: slice) -> npt.NDArray[np.int8]:
        """Read labels: 1 for targets and, in a trial list, for all, -1 for non-targets."""
        if self.file.kind == "flat_ndx":
            return np.ones(trials.stop - trials.start, dtype=np.int8)
        matrix = self._matrices[2]
        kind, dtype = None, matrix.dataset.dtype
        if matrix.item_size == 1:
            # Bytes as they are stored, also those of an enumeration, which may be rotten.
            kind = matrix.dataset.id.get_type()
            dtype = np.dtype(np.uint8 if matrix.is_unsigned else np.int8)
        stored = self._read(matrix, dtype, trials, kind)
        where = f"{self.file.path}: data set `/{matrix.name}`, from trial {trials.start},"
        is_target = check_mask_values(stored, where)
        labels = 2 * is_target.astype(np.int8)
        labels -= 1
        return labels

    def _read(
        self, matrix: GuardedDataset, dtype: Any, trials: slice, kind: Any = None
    ) -> npt.NDArray[Any]:
        out = np.empty(trials.stop - trials.start, dtype=dtype)
        if out.size == 0:
            return out
        with self._reading(f"trials {trials.start} to {trials.stop - 1} of `/{matrix.name}`"):
            space = matrix.dataset.id.get_space()
            space.select_hyperslab((trials.start,), out.shape)
            matrix.dataset.id.read(h5py.h5s.create_simple(out.shape), space, out, mtype=kind)
        return out
