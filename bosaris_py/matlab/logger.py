"""The toolkit's logging in terms of Python's: levels that are bits, sinks that are handlers."""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, TextIO

import numpy as np

from bosaris_py._notes import warn_caller
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.errors import BosarisWarning

_PACKAGE_LOGGER = logging.getLogger("bosaris_py")

_logger = logging.getLogger(__name__)

# The toolkit's levels are bits, of which a sink takes any; Python's are ranks, of which a handler
# takes all from one up. Each level has its nearest of the other kind.
_RANKS = {
    1: logging.CRITICAL,
    2: logging.ERROR,
    4: logging.WARNING,
    8: logging.WARNING,
    16: logging.INFO,
    32: logging.INFO,
    64: logging.DEBUG,
    128: logging.DEBUG,
}

# Of two bits with the same rank the more severe, which comes first.
_BITS = {rank: bit for bit, rank in reversed(_RANKS.items())}

_PREFIXES = {2: "Error: ", 4: "Warning: ", 16: "Info: "}

_ALL = 255


def _check_level(level: object) -> int:
    if isinstance(level, bool) or not isinstance(level, int | np.integer) or not 0 <= level <= _ALL:
        raise invalid("level", "be a sum of the levels of Logger, 0 to 255", describe(level))
    return int(level)


def _log(level: int, text: str, args: tuple[object, ...]) -> None:
    bits = _check_level(level)
    # The most severe bit set gives the Python level; 0 disables the message.
    ranks = [rank for bit, rank in _RANKS.items() if bits & bit]
    if ranks:
        # The handler ends the line.
        text = text.removesuffix("\n")
        if not args:
            # For sprintf two per cent signs are one, for Python's logging only with values.
            with suppress(TypeError, ValueError):
                text %= ()
        _logger.log(max(ranks), text, *args, extra={"bosaris_bits": bits})


class _Sink(logging.Filter):
    """Filter that passes records with one of the wanted bits."""

    # The level that the package's logger had before it was lowered for the sinks, and what
    # showed warnings before.
    level_before: ClassVar[int | None] = None
    shown_before: ClassVar[Any] = None

    def __init__(self, bits: int) -> None:
        super().__init__()
        self.bits = bits

    def filter(self, record: logging.LogRecord) -> bool:
        bits = getattr(record, "bosaris_bits", None)
        return bool(self.bits & (_BITS.get(record.levelno, 0) if bits is None else bits))


def _log_and_show(
    message: object, category: type[Warning], *place: object, **keywords: object
) -> None:
    """Log a warning of the package, then show it as before."""
    if issubclass(category, BosarisWarning):
        _log(Logger.Warning, f"{_PREFIXES[Logger.Warning]}%s", (message,))
    _Sink.shown_before(message, category, *place, **keywords)


class _Format(logging.Formatter):
    """Formatter that puts "Info: " before what the toolkit's classes log through log_info."""

    def format(self, record: logging.LogRecord) -> str:
        text = super().format(record).removesuffix("\n")
        # Other modules log figures, which the toolkit prints as they are.
        is_toolkits = record.name.startswith("bosaris_py.trials")
        return f"{_PREFIXES[Logger.Info]}{text}" if is_toolkits else text


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
        _log(level, fmt, args)

    def add_fid(self, fid: TextIO, level: int = _ALL) -> None:
        """Add an open text file, which stays open when it is removed."""
        self._add(id(fid), lambda: logging.StreamHandler(fid), level)

    def add_filename(self, filename: FilePath, level: int = _ALL) -> None:
        """Add a file by its name; it is opened for writing at once, and closed on removal."""
        path = Path(filename)
        self._add(path, lambda: logging.FileHandler(path, mode="w", encoding="utf-8"), level)

    def add_stdout(self, level: int = _ALL) -> None:
        """Add standard output."""
        self._add("stdout", lambda: logging.StreamHandler(sys.stdout), level)

    def add_stderr(self, level: int = _ALL) -> None:
        """Add standard error."""
        self._add("stderr", lambda: logging.StreamHandler(sys.stderr), level)

    def rm_fid(self, fid: TextIO) -> None:
        """Remove an open text file."""
        self._remove(id(fid), "rm_fid")

    def rm_filename(self, filename: FilePath) -> None:
        """Remove a file by its name, and close it."""
        self._remove(Path(filename), "rm_filename")

    def rm_stdout(self) -> None:
        """Remove standard output."""
        self._remove("stdout", "rm_stdout")

    def rm_stderr(self) -> None:
        """Remove standard error."""
        self._remove("stderr", "rm_stderr")

    def clear(self) -> None:
        """Remove all sinks."""
        for sink in list(self._sinks):
            self._remove(sink, "clear")

    def validate(self) -> bool:
        """Tell that the object is valid."""
        return True

    def _add(self, sink: object, make: Callable[[], logging.Handler], level: int) -> None:
        # Checked before the file is opened, which empties it.
        bits = _check_level(level)
        if sink in self._sinks:
            warn_caller("That is among the sinks already.", BosarisWarning)
            return
        self._sinks[sink] = handler = make()
        handler.addFilter(_Sink(bits))
        handler.setFormatter(_Format())
        _PACKAGE_LOGGER.addHandler(handler)
        if warnings.showwarning is not _log_and_show:
            _Sink.shown_before, warnings.showwarning = warnings.showwarning, _log_and_show
        # Every sink filters for itself, so nothing may be held back before.
        if _PACKAGE_LOGGER.getEffectiveLevel() > logging.DEBUG:
            _Sink.level_before = _PACKAGE_LOGGER.level
            _PACKAGE_LOGGER.setLevel(logging.DEBUG)

    def _remove(self, sink: object, method: str) -> None:
        handler = self._sinks.pop(sink, None)
        if handler is None:
            warn_caller(f"Logger.{method}: that is not among the sinks.", BosarisWarning)
            return
        _PACKAGE_LOGGER.removeHandler(handler)
        handler.close()
        left = any(isinstance(f, _Sink) for h in _PACKAGE_LOGGER.handlers for f in h.filters)
        # The last sink to go restores all, unless the user has set something else meanwhile.
        if not left and warnings.showwarning is _log_and_show:
            warnings.showwarning = _Sink.shown_before
        if not left and _Sink.level_before is not None:
            if _PACKAGE_LOGGER.level == logging.DEBUG:
                _PACKAGE_LOGGER.setLevel(_Sink.level_before)
            _Sink.level_before = None


def logprint(level: int, fmt: str, *args: object) -> None:
    """Send a message of a level, formatted as by sprintf, to the sinks.

    Toolkit: logprint.m; native: Python's `logging`; differs: without a sink, Python shows warnings
    and errors on standard error, and drops the rest.
    """
    _log(level, fmt, args)


def log_info(fmt: str, *args: object) -> None:
    """Send a message of level Info, after "Info: ".

    Toolkit: log_info.m; native: Python's `logging`; differs: as `logprint`.
    """
    _log(Logger.Info, f"{_PREFIXES[Logger.Info]}{fmt}", args)


def log_warning(fmt: str, *args: object) -> None:
    """Send a message of level Warning, after "Warning: ".

    Toolkit: log_warning.m; native: Python's `logging`; differs: as `logprint`.
    """
    _log(Logger.Warning, f"{_PREFIXES[Logger.Warning]}{fmt}", args)


def log_error(fmt: str, *args: object) -> None:
    """Send a message of level Error, after "Error: ".

    Toolkit: log_error.m; native: Python's `logging`; differs: as `logprint`.
    """
    _log(Logger.Error, f"{_PREFIXES[Logger.Error]}{fmt}", args)
