"""Files that many processes read part by part, and that must stay the same meanwhile.

A file that is not the same as when it was described, when reading begins or when it
ends, is refused: what was read may be neither the old content nor the new.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import attrs

from bosaris_py._validation import FilePath
from bosaris_py.errors import BosarisError, FileFormatError
from bosaris_py.storage._guarded_hdf5 import GuardedDataset, GuardedFile, open_guarded

__all__ = ["FileReader", "FileStamp"]


@attrs.frozen
class FileStamp:
    """A file as it was when somebody looked at it.

    Parameters
    ----------
    path : Path
        The file, as an absolute path.
    size : int
        Its size in bytes.
    modified : int
        When it was changed last, in nanoseconds.
    """

    path: Path
    size: int
    modified: int

    @classmethod
    def of(cls, path: FilePath) -> Self:
        """Look at a file.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        FileNotFoundError
            If there is none.
        """
        absolute = Path(path).absolute()
        status = absolute.stat()
        return cls(absolute, status.st_size, status.st_mtime_ns)

    def check(self) -> None:
        """Raise `FileFormatError` if the file is not the same any more."""
        try:
            now = type(self).of(self.path)
        except FileNotFoundError as error:
            raise FileFormatError(f"{self.path}: deleted while it was being read") from error
        if now == self:
            return
        change = "changed"
        if now.size != self.size:
            change += f" from {self.size} to {now.size} bytes"
        message = f"{self.path}: {change} while it was being read; wait until it is complete"
        raise FileFormatError(message)


class FileReader(ABC):
    """Base of readers: opens a file that was described, and closes it.

    Parameters
    ----------
    stamp : FileStamp
        The file.

    Raises
    ------
    FileFormatError
        On entry, if the file is not the one that was described; on exit, if it has
        changed meanwhile.
    """

    def __init__(self, stamp: FileStamp) -> None:
        self._stamp = stamp
        self._remembers_chunks = True
        self._opened: AbstractContextManager[GuardedFile] | None = None
        self._matrices: list[GuardedDataset] = []

    @abstractmethod
    def _find_data_sets(self, source: GuardedFile) -> list[GuardedDataset]:
        """Check the data sets that will be read."""

    def __enter__(self) -> Self:
        """Open the file."""
        self._stamp.check()
        # The manager takes every error that it sees for a damaged file; errors of
        # those who use the rows are not for it to see.
        opened = open_guarded(self._stamp.path, remember_chunks=self._remembers_chunks)
        source = opened.__enter__()
        self._opened = opened
        with self._reading("opened"):
            self._matrices = self._find_data_sets(source)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file; after good work, see that it has not changed."""
        self._matrices = []
        if self._opened is not None:
            self._opened.__exit__(None, None, None)
            self._opened = None
        if error is None:
            self._stamp.check()

    @contextmanager
    def _reading(self, what: str) -> Iterator[None]:
        """Turn whatever goes wrong inside HDF5 into an error about the file."""
        try:
            yield
        except BosarisError:
            raise
        # h5py maps the faults of a damaged file to a dozen built-in exceptions.
        except Exception as error:
            detail = str(error).strip() or type(error).__name__
            message = (
                f"{self._stamp.path}: {what} cannot be read: damaged, truncated or changed "
                f"meanwhile; h5py says: {detail}"
            )
            raise FileFormatError(message) from error
