"""The toolkit's logging in terms of Python's: levels that are bits, sinks that are handlers."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, TextIO

from bosaris_py._notes import Note, warn
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.errors import BosarisWarning

_PACKAGE_LOGGER = logging.getLogger("bosaris_py")

_logger = logging.getLogger(__name__)

# The toolkit's levels are bits, of which a sink takes any; Python's are ranks, of which a handler
# takes all from one up. The rank of each bit, the most severe first.
_RANKS = {1: 50, 2: 40, 4: 30, 8: 30, 16: 20, 32: 20, 64: 10, 128: 10}

_ALL = 255


def _check_level(level: int) -> int:
    if level not in range(_ALL + 1):
        raise invalid("level", "be a sum of the levels of Logger, 0 to 255", describe(level))
    return int(level)


class _Format(logging.Formatter):
    """Formatter of messages, whose lines the handler ends."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text; the toolkit's classes log through log_info, which says so."""
        text = super().format(record).removesuffix("\n")
        return f"Info: {text}" if record.name.startswith("bosaris_py.trials") else text


class _Sink(logging.Filter):
    """Filter that passes records with one of the wanted bits."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits = bits

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether the record is wanted; of what has no bits its rank decides."""
        of_rank = next((bit for bit, rank in _RANKS.items() if rank == record.levelno), 0)
        return bool(self.bits & getattr(record, "bosaris_bits", of_rank))


_show_warning: Callable[..., None] = warnings.showwarning


def _log_and_show(
    message: object, category: type[Warning], *place: object, **named: object
) -> None:
    """Log a warning of the package, then show it as before."""
    if issubclass(category, BosarisWarning):
        log_warning("%s", message)
    _show_warning(message, category, *place, **named)


def _listen() -> None:
    """Let all messages and warnings come to the sinks while there are some."""
    global _show_warning
    handlers = _PACKAGE_LOGGER.handlers
    if any(isinstance(each, _Sink) for handler in handlers for each in handler.filters):
        # Every sink filters for itself, so nothing may be held back before.
        _PACKAGE_LOGGER.setLevel(logging.DEBUG)
        if warnings.showwarning is not _log_and_show:
            _show_warning, warnings.showwarning = warnings.showwarning, _log_and_show
    else:
        _PACKAGE_LOGGER.setLevel(logging.NOTSET)
        if warnings.showwarning is _log_and_show:
            warnings.showwarning = _show_warning


class Logger:
    """Sinks for the messages of the package: files and streams, each with the levels it takes.

    Toolkit: @Logger; native: Python's `logging`, logger ``bosaris_py``; differs: takes effect when
    a sink is added, without a global variable. Warnings about data, which Python shows as it shows
    all warnings, go to the sinks too. The level `None` is called `None_`.

    Examples
    --------
    >>> logger = Logger()
    >>> logger.add_stdout(Logger.Info + Logger.Warning)
    >>> logger.log(Logger.Info, "%d trials", 12)
    12 trials
    >>> logger.clear()
    """

    None_: ClassVar[int] = 0
    Major_Error: ClassVar[int] = 1
    Error: ClassVar[int] = 2
    Warning: ClassVar[int] = 4
    Minor_Warning: ClassVar[int] = 8
    Info: ClassVar[int] = 16
    Minor_Info: ClassVar[int] = 32
    Debug_1: ClassVar[int] = 64
    Debug_2: ClassVar[int] = 128
    All: ClassVar[int] = _ALL

    def __init__(self) -> None:
        self._sinks: dict[object, logging.Handler] = {}

    def log(self, level: int, fmt: str, *args: object) -> None:
        """Send a message, formatted as by sprintf, to all sinks that take its level."""
        logprint(level, fmt, *args)

    def add_fid(self, fid: TextIO, level: int = _ALL) -> None:
        """Add an open text file, which stays open when it is removed."""
        self._add(id(fid), lambda: logging.StreamHandler(fid), level)

    def add_filename(self, filename: FilePath, level: int = _ALL) -> None:
        """Add a file by its name; it is opened for writing at once, and closed on removal."""
        path = Path(filename)
        self._add(path, lambda: logging.FileHandler(path, "w", encoding="utf-8"), level)

    def add_stdout(self, level: int = _ALL) -> None:
        """Add standard output."""
        self._add("stdout", lambda: logging.StreamHandler(sys.stdout), level)

    def add_stderr(self, level: int = _ALL) -> None:
        """Add standard error."""
        self._add("stderr", lambda: logging.StreamHandler(sys.stderr), level)

    def rm_fid(self, fid: TextIO) -> None:
        """Remove an open text file."""
        self._remove(id(fid))

    def rm_filename(self, filename: FilePath) -> None:
        """Remove a file by its name, and close it."""
        self._remove(Path(filename))

    def rm_stdout(self) -> None:
        """Remove standard output."""
        self._remove("stdout")

    def rm_stderr(self) -> None:
        """Remove standard error."""
        self._remove("stderr")

    def clear(self) -> None:
        """Remove all sinks."""
        for sink in list(self._sinks):
            self._remove(sink)

    def validate(self) -> bool:
        """Tell that the object is valid."""
        return True

    def _add(self, sink: object, make: Callable[[], logging.Handler], level: int) -> None:
        # Checked before a file is opened, which empties it.
        wanted = _Sink(_check_level(level))
        if sink in self._sinks:
            warn([Note(BosarisWarning, "That is among the sinks already.")])
            return
        self._sinks[sink] = handler = make()
        handler.addFilter(wanted)
        handler.setFormatter(_Format())
        _PACKAGE_LOGGER.addHandler(handler)
        _listen()

    def _remove(self, sink: object) -> None:
        handler = self._sinks.pop(sink, None)
        if handler is None:
            warn([Note(BosarisWarning, "That is not among the sinks.")])
            return
        _PACKAGE_LOGGER.removeHandler(handler)
        handler.close()
        _listen()


def logprint(level: int, fmt: str, *args: object) -> None:
    """Send a message of a level, formatted as by sprintf, to the sinks.

    Toolkit: logprint.m; native: Python's `logging`; differs: without a sink, Python shows warnings
    and errors on standard error, and drops the rest.
    """
    bits = _check_level(level)
    # The most severe bit set gives the Python level; 0 disables the message.
    rank = max((rank for bit, rank in _RANKS.items() if bits & bit), default=0)
    if not args:
        # For sprintf two per cent signs are one, for Python's logging only with values.
        with suppress(TypeError, ValueError):
            fmt %= ()
    if rank:
        _logger.log(rank, fmt, *args, extra={"bosaris_bits": bits})


def log_info(fmt: str, *args: object) -> None:
    """Send a message of level Info, after "Info: ".

    Toolkit: log_info.m; native: Python's `logging`; differs: as `logprint`.
    """
    logprint(Logger.Info, f"Info: {fmt}", *args)


def log_warning(fmt: str, *args: object) -> None:
    """Send a message of level Warning, after "Warning: ".

    Toolkit: log_warning.m; native: Python's `logging`; differs: as `logprint`.
    """
    logprint(Logger.Warning, f"Warning: {fmt}", *args)


def log_error(fmt: str, *args: object) -> None:
    """Send a message of level Error, after "Error: ".

    Toolkit: log_error.m; native: Python's `logging`; differs: as `logprint`.
    """
    logprint(Logger.Error, f"Error: {fmt}", *args)
