"""Replace a file in one step: a reader sees the old file or the new one, never a part."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from bosaris_py._validation import FilePath, as_path
from bosaris_py.errors import InvalidInputError

# The temporary name repeats so much of the wanted one; file systems take 255 bytes in all.
_NAME_KEPT = 40

# Errors of writing alone, which say nothing of the file.
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextlib.contextmanager
def atomic_write(path: FilePath) -> Iterator[Path]:
    """Give a temporary path whose content replaces `path` when all went well.

    The temporary file ``.<name>.<eight hex digits>.tmp`` lies in the same folder, because only
    there can the operating system put it in place in one step. It is empty at first, has the
    permissions of the old file, and is removed if the block raises. On success it is flushed to the
    disk, gets the owner (where that is allowed) of the file it replaces, and takes its place. A
    symbolic link is followed. A protected file is a PermissionError, although replacing needs only
    the right to write into the folder. A process that is killed outright leaves the old file
    untouched.
    """
    target = Path(os.path.realpath(as_path(path)))
    old = _check_target(target)
    # A new file gets the mode that open() would use; until it takes the place of an old one,
    # it is private.
    temporary = _create_beside(target, 0o666 if old is None else 0o600)
    try:
        yield temporary
        with temporary.open("rb+") as stream:
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
    path.chmod(mode)


def _create_beside(target: Path, mode: int) -> Path:
    """Create an empty file of a new name in the folder of `target`."""
    while True:
        temporary = target.with_name(f".{target.name[:_NAME_KEPT]}.{secrets.token_hex(4)}.tmp")
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
