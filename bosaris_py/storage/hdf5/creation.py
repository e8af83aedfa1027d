"""Create an HDF5 file so that an error of the system, such as a full disk, ends in an error.

When writing fails, the HDF5 library cannot write what it still holds in memory either. It then
leaves the file half closed, and closing the rest ends the whole process with a segmentation fault.
So the library never learns of it: it writes through a `_Sink`, and the error is raised when the
library has closed the file in good order.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import h5py

from bosaris_py._validation import FilePath

# Puts data sets into a file, all at once or in the steps of an iterator.
Filling: TypeAlias = Callable[[h5py.File], Iterable[None] | None]


def create_hdf5(temporary: Path, path: FilePath, fill: Filling, **options: object) -> None:
    """Let `fill`, in a thread of its own, put its data sets into the new HDF5 file `temporary`.

    An error that `fill` raises passes through; OSError names `path`.
    """
    given_up = threading.Event()

    def create() -> None:
        with io.FileIO(temporary, "r+") as stream:
            sink = _Sink(stream)
            try:
                with h5py.File(sink, "w", **options) as file:
                    for _ in fill(file) or ():
                        if given_up.is_set():
                            raise CancelledError
            finally:
                # The library may stumble over what was not stored; the cause is this.
                sink.raise_error(path)

    # Python runs the handlers of signals, such as the one that raises KeyboardInterrupt, in
    # the main thread, between any two steps of Python code. There it could come out of the
    # sink in the midst of the library's work; in a thread of its own it cannot.
    with ThreadPoolExecutor(max_workers=1) as pool:
        # Whatever ends the waiting, such as KeyboardInterrupt, ends the writing after a step. It
        # can come as soon as the thread begins.
        try:
            try:
                future = pool.submit(create)
            except RuntimeError:
                # There are no new threads any more when the interpreter shuts down.
                create()
            else:
                future.result()
        finally:
            given_up.set()


class _Sink(io.RawIOBase):
    """File object for h5py that keeps the first error, such as a full disk, for later."""

    def __init__(self, stream: io.FileIO) -> None:
        self.stream = stream
        self.error: OSError | None = None
        self.position = 0

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
        """Set the position in the file, beyond its end too."""
        if whence == os.SEEK_CUR:
            offset += self.position
        elif whence == os.SEEK_END:
            with self._kept():
                offset += os.fstat(self.stream.fileno()).st_size
        self.position = offset
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
