"""How much memory the contents of a file may take before reading is refused."""

import os
from pathlib import Path

from attrs import define, field

from bosaris_py.errors import FileFormatError

__all__ = ["MemoryBudget", "format_bytes", "machine_memory"]

_FALLBACK_MEMORY = 16 * 2**30


def machine_memory() -> int:
    """Return the physical memory in bytes, or 16 GiB where it cannot be found out."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _FALLBACK_MEMORY


def format_bytes(count: int) -> str:
    """Return a number of bytes in words, in powers of 1000."""
    size = float(count)
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} PB"


@define
class MemoryBudget:
    """Bytes that the arrays of one file may still take.

    Parameters
    ----------
    path : Path
        The file, for the error message.
    max_bytes : int or None
        The caller's limit; None stands for the physical memory of the machine.
    """

    path: Path
    max_bytes: int | None
    spent: int = field(default=0, init=False)

    def claim(self, count: int, what: str) -> None:
        """Take `count` bytes for `what`, or refuse to go on.

        Parameters
        ----------
        count : int
            Bytes of memory that `what` needs.
        what : str
            The thing that needs them, as the error shall name it.

        Raises
        ------
        FileFormatError
            If the file as a whole would take more than the limit.
        """
        self.spent += count
        limit = machine_memory() if self.max_bytes is None else self.max_bytes
        if self.spent <= limit:
            return
        source = "this machine has" if self.max_bytes is None else "`max_bytes` allows"
        message = (
            f"{self.path}: {what} needs {format_bytes(count)} of memory "
            f"({format_bytes(self.spent)} with the rest of the file), "
            f"{source} {format_bytes(limit)}"
        )
        raise FileFormatError(message)
