"""Rows of the matrix in an HDF5 file: scores, or the labels of a key or an Ndx.

Files of any size are read so, some rows at a time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import AnyArray, BoolArray, Positions, StrArray
from bosaris_py._validation import FilePath, as_path
from bosaris_py.errors import FileFormatError
from bosaris_py.files import hdf5
from bosaris_py.files.hdf5 import DataSet
from bosaris_py.files.layout import FIELDS

# Contents of rows of a matrix, and where there are any (None: everywhere).
Held: TypeAlias = tuple[AnyArray, BoolArray | None]

# Cells that are read at once where only their checksums are wanted.
_VERIFIED = 2**22


@attrs.frozen(eq=False)
class MatrixFile:
    """How to read rows of the matrix in a file: scores, or the labels of a key or an Ndx."""

    path: Path
    # Size of the file and when it changed.
    stamp: tuple[int, int]
    kind: str
    shape: tuple[int, int]
    # Name and content of each data set.
    data_sets: tuple[tuple[str, str], ...]
    # Rows that the file keeps together, and bytes of a score.
    chunk: int
    item_size: int

    def check_unchanged(self) -> None:
        """Raise if the file is another one than when it was opened first."""
        if not self.path.exists() or _stamp(self.path) != self.stamp:
            message = "changed while it was being read; wait until it is complete"
            raise FileFormatError(f"{self.path}: {message}")

    def verify(self) -> None:
        """Read all rows, whose checksums HDF5 compares."""
        step = max(1, _VERIFIED // max(1, self.shape[1]))
        with ExitStack() as stack:
            read = self.opened(stack)
            for start in range(0, self.shape[0], step):
                read(slice(start, min(start + step, self.shape[0])))

    def opened(self, stack: ExitStack) -> Callable[[slice | Positions], Held]:
        """Open the file until the stack ends; return what reads rows."""
        source = stack.enter_context(hdf5.opened(self.path))
        found = [source.data_set(name, content) for name, content in self.data_sets]
        readers = {"scores": self._scores, "scored": self._scored}
        return functools.partial(readers.get(self.kind, self._labels), found)

    def _scores(self, found: list[DataSet], rows: slice | Positions) -> Held:
        scores = self._read(found[0], rows)
        if len(found) == 1:
            return scores, None
        valid = self._mask(found[1], rows)
        return scores, None if valid.all() else valid

    def _scored(self, found: list[DataSet], rows: slice | Positions) -> Held:
        """Return a label wherever there is a score."""
        if len(found) == 1:
            return np.ones(self._read(found[0], rows).shape, np.int8), None
        return self._mask(found[1], rows).view(np.int8), None

    def _labels(self, found: list[DataSet], rows: slice | Positions) -> Held:
        if len(found) == 1:
            labels = self._mask(found[0], rows, signed=not found[0].is_unsigned).view(np.int8)
            if self.kind == "ndx" and labels.min(initial=0) < 0:
                raise found[0].error("holds -1: this is a Key; Key.read reads it")
            return labels, None
        tar, non = (self._mask(mask, rows) for mask in found)
        if (tar & non).any():
            raise found[1].error(f"shares trials with `/{found[0].name}`")
        return tar.view(np.int8) - non.view(np.int8), None

    def _mask(self, data: DataSet, rows: slice | Positions, *, signed: bool = False) -> AnyArray:
        where = f"{self.path}: data set `/{data.name}`"
        return hdf5.check_mask(self._read(data, rows), where, signed=signed)

    def _read(self, data: DataSet, rows: slice | Positions) -> AnyArray:
        """Read rows; scattered ones chunk by chunk, each once."""
        n_rows, n_cols = self.shape
        if isinstance(rows, slice):
            # One row, or an empty matrix, may be stored as a vector.
            whole = n_rows == 1 or not data.shape or not data.data.size
            return data.read(None if whole else rows).reshape(rows.stop - rows.start, n_cols)
        out = np.zeros((rows.size, n_cols), data.memory_type)
        chunks = rows // self.chunk
        for number in np.unique(chunks).tolist():
            start = number * self.chunk
            part = self._read(data, slice(start, min(start + self.chunk, n_rows)))
            out[chunks == number] = part[rows[chunks == number] - start]
        return out


def open_matrix(path: FilePath, kind: str) -> tuple[MatrixFile, tuple[StrArray, StrArray]]:
    """Look into a file: return how to read its matrix, and its ids."""
    place = as_path(path).absolute()
    stamp = _stamp(place)
    if kind == "trials":
        kind = "key" if hdf5.kind_of(place) == "key" else "ndx"
    with hdf5.opened(place) as source:
        found, _ = hdf5.find_fields(source, kind)
        hdf5.warn_of_old_layout(path, kind, found)
        sides = [found.pop(name) for name in ("modelset", "segset")]
        for side in sides:
            side.check()
        ids = sides[0].read_ids(), sides[1].read_ids()
        for each in found.values():
            each.check(whole=False)
        ordered = sorted(found.items(), key=lambda item: list(FIELDS).index(item[0]))
        sets = [each for _, each in ordered]
        chunks = [(each.data.chunks or (1,))[0] if len(each.shape) == 2 else 1 for each in sets]
        matrix = MatrixFile(
            place,
            stamp,
            kind,
            (ids[0].size, ids[1].size),
            tuple((each.name, each.content) for each in sets),
            min(max(chunks), max(1, ids[0].size)),
            sets[0].memory_type.itemsize,
        )
    return matrix, ids


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def is_list(path: FilePath) -> bool:
    """Tell whether an HDF5 file holds a list of trials, which fits into memory."""
    with hdf5.opened(path) as source:
        return source.find("trials/models") is not None
