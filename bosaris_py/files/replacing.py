"""Write whole files or none: a new file takes the place of an old one in one step."""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import FilePath

# Errors of writing alone, which come without the name of a file.
FULL_DISK = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


@contextlib.contextmanager
def replacing(path: FilePath) -> Iterator[Path]:
    """Give an empty temporary file whose content replaces `path` when all went well.

    It lies in the same folder, because only there can it be put in place in one step, and is called
    ``.<name>.<eight hex digits>.bosaris_py``. It gets the permissions of the old file and, where
    that is allowed, its owner. If the block raises it is removed; nothing else in the folder is
    touched. A symbolic link is followed. A protected file is a PermissionError.
    """
    target, old = _check_target(path)
    # Until it takes the place of an old file it is private.
    temporary = _create_beside(target, 0o666 if old is None else 0o600)
    try:
        yield temporary
        with temporary.open("rb+") as stream:
            try:
                os.fsync(stream.fileno())
            except OSError as error:
                # FUSE and its like cannot flush.
                if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                    raise
        if old is not None:
            # Where that is not allowed, the file stays ours, or private.
            with contextlib.suppress(OSError):
                os.chown(temporary, old.st_uid, old.st_gid)
            with contextlib.suppress(OSError):
                temporary.chmod(stat.S_IMODE(old.st_mode))
        temporary.replace(target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno in FULL_DISK and error.filename is None:
            error.filename = str(path)
        raise


def try_output(path: FilePath) -> int:
    """Raise as `replacing` would at its beginning; return the size of the old file, or 0."""
    target, old = _check_target(path)
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
        raise check.invalid(name, expected, repr(os.fspath(read)))


def digest_of(path: FilePath) -> str:
    """Return the SHA-256 of a file as it is now."""
    file = check.as_path(path, "files")
    if not stat.S_ISREG(file.stat().st_mode):
        return "not a regular file"
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _check_target(path: FilePath) -> tuple[Path, os.stat_result | None]:
    """Return the file that a name leads to, and the status of the one to be replaced, if any."""
    target = Path(os.path.realpath(check.as_path(path)))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "No such folder to write into", str(target.parent))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not target.exists():
        return target, None
    if not target.is_file():
        raise errors.InvalidInputError(f"{target} is not a regular file and cannot be replaced")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return target, target.stat()


def _create_beside(target: Path, mode: int) -> Path:
    """Create an empty file of a new name in the folder of `target`."""
    # File systems take 255 bytes of a name.
    made = target.with_name(f".{target.name[:40]}.{secrets.token_hex(4)}.bosaris_py")
    try:
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    except OSError as error:
        # Nobody has asked for a file of that name.
        error.filename = str(target)
        raise
    return made
