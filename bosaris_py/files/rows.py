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
from bosaris_py._notes import Note
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
    # On an old layout.
    notes: tuple[Note, ...] = ()

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
        scores = self._read(found[0].read, rows)
        if len(found) == 1:
            return scores, None
        valid = self._read(found[1].read_mask, rows)
        return scores, None if valid.all() else valid

    def _scored(self, found: list[DataSet], rows: slice | Positions) -> Held:
        """Return a label wherever there is a score."""
        if len(found) == 1:
            return np.ones(self._read(found[0].read, rows).shape, np.int8), None
        return self._read(found[1].read_mask, rows).view(np.int8), None

    def _labels(self, found: list[DataSet], rows: slice | Positions) -> Held:
        if len(found) == 1:
            signed = functools.partial(found[0].read_mask, signed=True)
            labels = self._read(signed, rows).view(np.int8)
            if self.kind == "ndx" and labels.min(initial=0) < 0:
                raise found[0].error("holds -1: this is a Key; Key.read reads it")
            return labels, None
        tar, non = (self._read(mask.read_mask, rows) for mask in found)
        if (tar & non).any():
            raise found[1].error(f"shares trials with `/{found[0].name}`")
        return tar.view(np.int8) - non.view(np.int8), None

    def _read(self, read: Callable[[slice], AnyArray], rows: slice | Positions) -> AnyArray:
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
            part = self._read(read, slice(start, min(start + self.chunk, n_rows)))
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
        notes = hdf5.notes_of_layout(path, kind, found)
        models, segments = (found.pop(name).check().read_ids() for name in ("modelset", "segset"))
        sets = [found[name].check(whole=False) for name in FIELDS if name in found]
        chunks = [(each.data.chunks or (1,))[0] if len(each.shape) == 2 else 1 for each in sets]
        matrix = MatrixFile(
            place,
            stamp,
            kind,
            (models.size, segments.size),
            tuple((each.name, each.content) for each in sets),
            min(max(chunks), max(1, models.size)),
            sets[0].memory_type.itemsize,
            notes,
        )
    return matrix, (models, segments)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
