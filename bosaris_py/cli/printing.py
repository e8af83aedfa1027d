"""What the command says: results on the standard output, all else on the standard error."""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
from pathlib import Path

from bosaris_py.cli.options import UsageError
from bosaris_py.errors import printable

TABLE_OF = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex"}
TABLES = tuple(TABLE_OF.values())


def at_terminal() -> bool:
    """Tell whether somebody watches the progress bars."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(text: object) -> None:
    """Write one line to the standard error."""
    if sys.stderr is not None:
        # Where a bar is, the module is loaded.
        if execution := sys.modules.get("bosaris_py._parallel"):
            execution.clear_bars()
        # Words of the command line may hold what no terminal should get.
        sys.stderr.write(f"bosaris: {printable(' '.join(str(text).split()))}\n")


def emit(text: str, output: str | None = None) -> None:
    """Write text to the standard output, or into a file that appears when it is complete."""
    line = text if text.endswith("\n") else f"{text}\n"
    if output is not None:
        from bosaris_py.files.replacing import replacing

        with replacing(output) as temporary:
            temporary.write_text(line, encoding="utf-8")
    elif sys.stdout is None:
        raise OSError(errno.EBADF, "the standard output is closed; name a file by --output")
    else:
        sys.stdout.write(line)


def emit_json(content: object, output: str | None = None) -> None:
    """Write a value as JSON, in which NaN is null and an infinite number a text."""
    from bosaris_py._tables import for_json

    told = for_json(content)
    emit(json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False), output)


def table_form(args: argparse.Namespace, *forms: str) -> str | None:
    """Return the form of a table that is asked for, or that the extension of the output says."""
    suffix = "" if args.output is None else Path(args.output).suffix.lower()
    if args.table is not None or suffix in ("", ".txt"):
        form: str | None = args.table
        return form
    known = {ending: form for ending, form in TABLE_OF.items() if form in forms}
    if suffix not in known:
        raise UsageError(
            f"--output must end in {', '.join(known)}, or .txt for the table as it is printed; "
            f"got {args.output!r}"
        )
    return known[suffix]


def terminal_width() -> int:
    """Return how many letters a line of the terminal has, 0 where the output goes elsewhere."""
    if sys.stdout is None or not sys.stdout.isatty():
        return 0
    return os.get_terminal_size(sys.stdout.fileno()).columns


def table_text(table: object, args: argparse.Namespace, form: str | None = None) -> str:
    """Return what is shown of a table or a text: in the form asked for, or as the terminal is."""
    if form is not None:
        text: str = getattr(table, f"to_{form}")()
        return text
    is_written = getattr(args, "output", None) is not None
    width = 0 if args.wide or is_written else terminal_width()
    if not width:
        return str(table)
    from bosaris_py._tables import fitted

    return fitted(table, width)
