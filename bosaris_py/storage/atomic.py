"""Replace a file in one step, and notice files that change while they are read.

A reader sees the old file or the new one, never a part.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from io import BufferedReader
from pathlib import Path
from typing import Self

import attrs

from bosaris_py._validation import FilePath, as_path, invalid
from bosaris_py.errors import FileFormatError, InvalidInputError

# The temporary name repeats so much of the wanted one; file systems take 255 bytes in all.
_NAME_KEPT = 40

# What file systems say (FUSE, CIFS, exFAT) that cannot flush, or that keep no permissions.
_NO_FLUSH, _NO_MODES = (errno.EINVAL, errno.ENOTSUP), (errno.EPERM, errno.ENOTSUP)

# Errors of writing alone, which say nothing of the file.
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


@attrs.frozen
class FileStamp:
    """Absolute path of a file, and what changes with its content."""

    path: Path
    size: int
    # Time of the last change in ns, as programs may set it, and as the system sets it.
    modified: int
    changed: int
    inode: int
    # A file that another one replaced has no name any more; its content is what it was.
    links: int

    @classmethod
    def of(cls, path: FilePath, descriptor: int | None = None) -> Self:
        """Return the stamp of a file, or of the one that is open, as it is now."""
        absolute = as_path(path).absolute()
        status = absolute.stat() if descriptor is None else os.fstat(descriptor)
        times = status.st_mtime_ns, status.st_ctime_ns
        return cls(absolute, status.st_size, *times, status.st_ino, status.st_nlink)

    def check(self, descriptor: int | None = None) -> None:
        """Raise `FileFormatError` if the file is not the same any more."""
        try:
            now = type(self).of(self.path, descriptor)
        except FileNotFoundError as error:
            raise FileFormatError(f"{self.path}: deleted while it was being read") from error
        if now.links != self.links:
            # That, too, sets the time of the system.
            now = attrs.evolve(now, links=self.links, changed=self.changed)
        if now == self:
            return
        change = "changed"
        if now.size != self.size:
            change += f" from {self.size} to {now.size} bytes"
        message = f"{self.path}: {change} while it was being read; wait until it is complete"
        raise FileFormatError(message)


@attrs.frozen
class ReadFile:
    """A file that was read, with the SHA-256 of the bytes that were read; see `hashed_files`."""

    # As it was given.
    path: Path
    # Which file it was.
    stamp: FileStamp
    # In hexadecimal digits.
    sha256: str

    def __fspath__(self) -> str:
        """Return the path of the file."""
        return str(self.path)

    __str__ = __fspath__


_read: ContextVar[dict[Path, ReadFile] | None] = ContextVar("read", default=None)


@contextlib.contextmanager
def hashed_files() -> Iterator[dict[Path, ReadFile]]:
    r"""Take the SHA-256 of each regular file that is read within a block, by its absolute path.

    Yields
    ------
    dict of Path to ReadFile
        Filled as files are read. A file that changes between two readings is a `FileFormatError`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py import read_scores
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> _ = path.write_text("m1 s1 2.5\n")
    >>> with hashed_files() as read:
    ...     scores = read_scores(path)
    >>> read[path].sha256[:8]
    'd29b1907'
    """
    read: dict[Path, ReadFile] = {}
    token = _read.set(read)
    try:
        yield read
    finally:
        _read.reset(token)


@contextlib.contextmanager
def open_unchanged(path: Path) -> Iterator[BufferedReader]:
    """Open a file for reading; raise if it changes before it is closed, pipes excepted."""
    with path.open("rb") as stream:
        if not stream.seekable():
            yield stream
            return
        stamp, read = FileStamp.of(path, stream.fileno()), _read.get()
        found = None if read is None else read.get(stamp.path)
        if found is not None:
            found.stamp.check(stream.fileno())
        elif read is not None:
            found = ReadFile(path, stamp, hashlib.file_digest(stream, "sha256").hexdigest())
            stream.seek(0)
        yield stream
        stamp.check(stream.fileno())
        if read is not None and found is not None:
            read[stamp.path] = found


def digest_of(file: FilePath) -> str:
    """Return the SHA-256 of a file that was read; of another one take it now, and say so."""
    if isinstance(file, ReadFile):
        return file.sha256
    path = as_path(file, "files")
    if not stat.S_ISREG(path.stat().st_mode):
        return "not a regular file"
    with open_unchanged(path) as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return f"{digest} (file named by the user, not read here)"


@contextlib.contextmanager
def atomic_write(path: FilePath) -> Iterator[Path]:
    """Give a temporary path whose content replaces `path` when all went well.

    The temporary file ``.<name>.<eight hex digits>.bosaris_py`` lies in the same folder, because
    only there can the operating system put it in place in one step. It is empty at first, has the
    permissions of the old file, and is removed if the block raises. On success it is flushed to the
    disk, gets the owner (where that is allowed) of the file it replaces, and takes its place. A
    symbolic link is followed. Nothing else in the folder is touched. A protected file is a
    PermissionError, although replacing needs only the right to write into the folder. A process
    that is killed outright leaves the old file untouched.
    """
    target = Path(os.path.realpath(as_path(path)))
    old = _check_target(target)
    # A new file gets the mode that open() would use; until it takes the place of an old one,
    # it is private.
    temporary = _create_beside(target, 0o666 if old is None else 0o600)
    try:
        yield temporary
        with temporary.open("rb+") as stream, _suppress(*_NO_FLUSH):
            os.fsync(stream.fileno())
        if old is not None:
            _take_over(temporary, old)
        temporary.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            error.filename = str(path)
        raise
    _flush_folder(target.parent)


def try_output(path: FilePath) -> int:
    """Raise as `atomic_write` would at its beginning; return the size of the old file, or 0."""
    target = Path(os.path.realpath(as_path(path)))
    old = _check_target(target)
    _create_beside(target, 0o600).unlink()
    return 0 if old is None else old.st_size


def same_file(path: FilePath, others: Iterable[FilePath | None]) -> FilePath | None:
    """Return which of other files is the same one, by whatever name; None if there is none."""
    for other in others:
        with contextlib.suppress(OSError):
            if other is not None and Path(path).samefile(other):
                return other
    return None


def refuse_inputs(path: FilePath, inputs: Iterable[FilePath | None], name: str) -> None:
    """Raise if the file to be written is one that the same call reads."""
    if (read := same_file(path, inputs)) is not None:
        expected = "be another file than those that are read, whose content would be lost"
        raise invalid(name, expected, repr(os.fspath(read)))


def _check_target(target: Path) -> os.stat_result | None:
    """Return the status of the file to be replaced, None if there is none."""
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder to write into", str(target.parent))
    try:
        status = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInputError(f"{target} is not a regular file and cannot be replaced")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return status


def _take_over(path: Path, old: os.stat_result) -> None:
    """Give a file owner and permissions of an older one."""
    mode, new = stat.S_IMODE(old.st_mode), path.stat()
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.chown(path, old.st_uid, old.st_gid)
        except OSError:
            # Those of another group, or of another owner, may do what all others may.
            if new.st_gid != old.st_gid:
                mode = mode & ~0o070 | (mode & 0o007) << 3
    with _suppress(*_NO_MODES):
        path.chmod(mode)


@contextlib.contextmanager
def _suppress(*codes: int) -> Iterator[None]:
    """Pass over these errors of the operating system."""
    try:
        yield
    except OSError as error:
        if error.errno not in codes:
            raise


def _create_beside(target: Path, mode: int) -> Path:
    """Create an empty file of a new name in the folder of `target`."""
    while True:
        temporary = target.with_name(
            f".{target.name[:_NAME_KEPT]}.{secrets.token_hex(4)}.bosaris_py"
        )
        try:
            descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        except FileExistsError:
            continue
        except OSError as error:
            # Nobody has asked for a file of that name.
            error.filename = str(target)
            raise
        os.close(descriptor)
        return temporary


def _flush_folder(folder: Path) -> None:
    """Make the renaming itself survive a power cut, where the system can do that."""
    if os.name != "posix":
        return
    # Some network file systems cannot flush a folder; the file is in place all the same.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
