"""How much memory reading one file may take."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from functools import cached_property
from numbers import Real
from pathlib import Path

import attrs

try:
    import resource
except ImportError:
    # There are no such limits on Windows.
    resource = None  # type: ignore[assignment]

from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.errors import FileFormatError

_FALLBACK_MEMORY = 16 * 2**30

# Where control groups of version 2 and 1 tell the limit of a container.
_CONTAINER_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")

# Files that claim at most this much are harmless whatever they claim.
HARMLESS_BYTES = 2**26


def machine_memory() -> int:
    """Return the physical memory in bytes, or 16 GiB where it cannot be found out."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _FALLBACK_MEMORY


def usable_memory() -> int:
    """Return half of the memory that this process may take: of machine, container and ulimit."""
    limits = [machine_memory()]
    for place in _CONTAINER_LIMITS:
        # Version 2 says "max" and version 1 a number beyond all machines where there is none.
        with contextlib.suppress(OSError, ValueError):
            limits.append(int(Path(place).read_text()))
    if resource is not None:
        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        limits += [limit] if limit != resource.RLIM_INFINITY else []
    return min(limits) // 2


def format_bytes(count: int) -> str:
    """Return a number of bytes in words, in powers of 1000."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} PB"


@attrs.define
class MemoryBudget:
    """Bytes that reading one file may still take; None: half of the `usable_memory`."""

    path: Path
    max_bytes: int | None
    spent: int = attrs.field(default=0, init=False)
    _shared: int = attrs.field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        """Refuse a limit that is no number."""
        given: object = self.max_bytes
        if not isinstance(given, Real | None):
            raise invalid("max_bytes", "be a number of bytes", describe(given))

    @cached_property
    def _limit(self) -> int:
        return usable_memory() if self.max_bytes is None else self.max_bytes

    def claim(self, count: int, what: str) -> None:
        """Take `count` bytes for `what`, or raise if the file takes more than the limit."""
        self.spent += count
        # Finding out the limit takes as long as reading a small file.
        if self.max_bytes is None and self.spent <= HARMLESS_BYTES:
            return
        if self.spent <= self._limit:
            return
        source = "`max_bytes` allows"
        if self.max_bytes is None:
            source = "half of the memory of this machine, container or process is"
        raise FileFormatError(
            f"{self.path}: {what} needs {format_bytes(count)} of memory "
            f"({format_bytes(self.spent)} with the rest of the file), "
            f"{source} {format_bytes(self._limit)}"
        )

    def claim_once(self, count: int, what: str) -> None:
        """Take memory that is used again for each part of a file: what the largest part needs."""
        if count > self._shared:
            self.claim(count - self._shared, what)
            self._shared = count


@contextlib.contextmanager
def within_memory(path: FilePath) -> Iterator[None]:
    """Turn `MemoryError` into the error about a file that is too large."""
    try:
        yield
    except MemoryError as error:
        message = f"{path}: reading needs more memory than this process may take"
        raise FileFormatError(message) from error
