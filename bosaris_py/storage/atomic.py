"""Replace a file in one step, so that nobody ever sees half of it."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from bosaris_py._validation import FilePath
from bosaris_py.errors import InvalidInputError

# The temporary name repeats so much of the wanted one; file systems take 255 bytes in all.
_NAME_KEPT = 40

_SUFFIX_KEPT = 10


@contextlib.contextmanager
def atomic_write(path: FilePath) -> Iterator[Path]:
    """Give a temporary path whose content replaces `path` when all went well.

    The temporary file lies in the same folder, because only there can the
    operating system put it in place in one step. It is empty at first, keeps the
    extension of `path` (some writers choose the format by it), and is removed if
    the block raises. On success it is flushed to the disk, gets the permissions of
    the file it replaces, and takes its place.

    Parameters
    ----------
    path : str or path-like
        The file to write. A symbolic link is followed: its target is replaced.

    Yields
    ------
    Path
        Where to write.

    Raises
    ------
    FileNotFoundError
        If the folder of `path` does not exist.
    IsADirectoryError
        If `path` is a folder.
    PermissionError
        If `path` exists and may not be written. Replacing needs only the right to
        write into the folder, so a protected file would otherwise be lost silently.
    InvalidInputError
        If `path` is something else than a regular file, such as a device.

    Notes
    -----
    A process that is killed outright leaves the old file untouched and may leave
    the temporary one behind, named ``.<name>.<eight hex digits>.tmp<extension>``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with atomic_write(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("content")
    >>> [p.name for p in folder.iterdir()]
    ['a.txt']
    """
    target = Path(os.path.realpath(path))
    old_mode = _check_target(target)
    temporary = _create_beside(target)
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            os.fsync(stream.fileno())
        if old_mode is not None:
            temporary.chmod(stat.S_IMODE(old_mode))
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    _flush_folder(target.parent)


def _check_target(target: Path) -> int | None:
    """Return the mode of the file to be replaced, None if there is none."""
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder to write into", str(target.parent))
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not stat.S_ISREG(mode):
        raise InvalidInputError(f"{target} is not a regular file and cannot be replaced")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return mode


def _create_beside(target: Path) -> Path:
    """Create an empty file of a new name in the folder of `target`."""
    while True:
        ending = f"{secrets.token_hex(4)}.tmp{target.suffix[:_SUFFIX_KEPT]}"
        temporary = target.with_name(f".{target.name[:_NAME_KEPT]}.{ending}")
        try:
            # The mode is what open() would use, so the user's umask applies.
            descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
        except FileExistsError:
            continue
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
