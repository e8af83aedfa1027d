"""What the command says: results on the standard output, all else on the standard error."""

from __future__ import annotations

import argparse
import errno
import json
import sys
from pathlib import Path
from typing import Any

import bosaris_py as bp
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
        # Words of the command line may hold what no terminal should get.
        sys.stderr.write(f"bosaris: {printable(' '.join(str(text).split()))}\n")


def emit(text: str, output: str | None = None) -> None:
    """Write text to the standard output, or into a file that appears when it is complete."""
    line = text if text.endswith("\n") else f"{text}\n"
    if output is not None:
        with bp.storage.atomic_write(output) as temporary:
            temporary.write_text(line, encoding="utf-8")
    elif sys.stdout is None:
        raise OSError(errno.EBADF, "the standard output is closed; name a file by --output")
    else:
        sys.stdout.write(line)


def emit_json(content: Any, output: str | None = None) -> None:
    """Write a value as JSON."""
    emit(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False), output)


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


def table_text(table: Any, form: str | None) -> str:
    """Return a table as it prints, or in the format that is asked for."""
    text: str = repr(table) if form is None else getattr(table, f"to_{form}")()
    return text
