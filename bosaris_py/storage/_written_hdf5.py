"""Create an HDF5 file such that a full disk is an error, not a crash.

When writing fails, the HDF5 library cannot write what it still holds in memory either;
it then leaves the file half closed, and closing the rest ends the whole process with a
segmentation fault. So the library never learns of it: it writes through an object that
keeps the first error to itself and takes everything that follows without storing it.
When the library has closed the file in good order, the error is raised.
"""

import contextlib
import io
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import h5py

from bosaris_py._validation import FilePath

__all__ = ["create_hdf5"]


def create_hdf5(
    temporary: Path, path: FilePath, fill: Callable[[Any], None], **options: Any
) -> None:
    """Let a function put its data sets into a new HDF5 file.

    Parameters
    ----------
    temporary : Path
        An empty file; it becomes the HDF5 file.
    path : str or path-like
        Name of the file for error messages.
    fill : callable
        Is given the open `h5py.File`. It runs in a thread of its own.
    **options
        For `h5py.File`.

    Raises
    ------
    OSError
        If the file cannot be written, for instance because the disk is full. What
        `fill` raises passes through.

    Notes
    -----
    Why a thread: Python runs the handlers of signals, such as the one that raises
    `KeyboardInterrupt`, in the main thread, between any two steps of Python code. There
    it could come out of the writing object in the midst of the library's work.
    """

    def create() -> None:
        with _Sink.opened(temporary) as sink:
            try:
                with h5py.File(sink, "w", **options) as file:
                    fill(file)
            except Exception:
                # The library may stumble over what was not stored; the cause is this.
                sink.raise_error(path)
                raise
            sink.raise_error(path)

    _run_undisturbed(create)


def _run_undisturbed(task: Callable[[], None]) -> None:
    """Run a task where no signal can interrupt it, and wait for its end."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        future: Future[None] | None = None
        # There are no new threads any more when the interpreter shuts down.
        with contextlib.suppress(RuntimeError):
            future = pool.submit(task)
        if future is None:
            task()
        else:
            future.result()


class _Sink(io.RawIOBase):
    """A file for the HDF5 library in which nothing ever fails.

    Parameters
    ----------
    stream : io.FileIO
        The file, unbuffered.
    """

    def __init__(self, stream: io.FileIO) -> None:
        self.stream = stream
        self.error: OSError | None = None
        self.position = 0

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: Path) -> Iterator["_Sink"]:
        """Open a file that exists."""
        with io.FileIO(path, "r+") as stream:
            yield cls(stream)

    def raise_error(self, path: FilePath) -> None:
        """Raise the first error, if there was one, about the file the user named."""
        if self.error is not None:
            code = self.error.errno or 0
            raise OSError(code, os.strerror(code), os.fspath(path)) from self.error

    @contextlib.contextmanager
    def _kept(self) -> Iterator[None]:
        """Keep an error of the operating system for later."""
        try:
            yield
        except OSError as error:
            self.error = error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place in the file; beyond the end, too."""
        base = self._size() if whence == os.SEEK_END else 0
        self.position = base + offset
        return self.position

    def tell(self) -> int:
        """Return the place in the file."""
        return self.position

    def readinto(self, buffer: Any) -> int:
        """Read what was written before; zeros if it was not stored."""
        view = memoryview(buffer)
        count = 0
        with self._kept():
            self.stream.seek(self.position)
            count = self.stream.readinto(view) or 0
        view[count:] = bytes(len(view) - count)
        self.position += len(view)
        return len(view)

    def write(self, data: Any) -> int:
        """Write, unless that failed before."""
        rest = memoryview(data)
        length = len(rest)
        if self.error is None:
            with self._kept():
                self.stream.seek(self.position)
                while rest:
                    rest = rest[self.stream.write(rest) :]
        self.position += length
        return length

    def truncate(self, size: int | None = None) -> int:
        """Set the length of the file, unless writing failed before."""
        length = self.position if size is None else size
        if self.error is None:
            with self._kept():
                self.stream.truncate(length)
        return length

    def flush(self) -> None:
        """Do nothing: no bytes are held back."""

    def _size(self) -> int:
        size = 0
        with self._kept():
            size = os.fstat(self.stream.fileno()).st_size
        return size
