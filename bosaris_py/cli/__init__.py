"""The command ``bosaris``: from files of scores to files of results, without a script.

Each subcommand calls one or two public functions and computes nothing itself. Results go to the
standard output; warnings, errors and progress bars go to the standard error, a line each. The exit
code is 0 when all is done, 1 if the data or a file is at fault, 2 if the command line is. It is 3
if the answer to what was asked is no, 130 after Ctrl-C, and 141 if the reader of the output went
away. No error has a traceback, unless the environment variable ``BOSARIS_DEBUG`` is 1.
"""

import argparse
import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

from bosaris_py.cli import evaluating, files, training
from bosaris_py.cli.files import say
from bosaris_py.cli.options import UsageError, in_options, make_parser
from bosaris_py.errors import BosarisError, as_message, printable

_RUN = {run.__name__: run for run in (files.check, files.convert, files.info)}
_RUN |= {run.__name__: run for run in (evaluating.case, evaluating.compare, evaluating.evaluate)}
_RUN |= {run.__name__: run for run in (evaluating.plot, evaluating.report)}
_RUN |= {run.__name__: run for run in (training.calibrate, training.fuse)}

_AGAIN = re.compile(r"Lines of (.*?) that list a trial again were left out: [^;]*")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit code: 0, 1 if the data or a file is at fault, 2 if the arguments are, 3 if the
        answer to what was asked is no (``check``), 130 if interrupted, 141 if
        the reader of the output went away.

    Examples
    --------
    >>> main(["--version"])
    bosaris_py ...
    0
    """
    args = argparse.Namespace()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Ids may have letters that the terminal lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _answer(argv, args)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except BrokenPipeError:
        _drop_output()
        return 141
    except Exception as error:
        if os.environ.get("BOSARIS_DEBUG") == "1":
            traceback.print_exc()
        say(f"error: {as_message(_message_of(error, args))}")
        _drop_output()
        return 1


def _answer(argv: Sequence[str] | None, args: argparse.Namespace) -> int:
    """Read the options into `args`, and run the subcommand; return the exit code."""
    try:
        parser = make_parser()
        words = [*(sys.argv[1:] if argv is None else argv)]
        # Columns may begin with one that has no name, such as -,segment,label.
        joined = re.sub(r"(?<=columns)\0(?=-,)", "=", "\0".join(words))
        if parser.parse_args(joined.split("\0") if words else words, args).command is not None:
            return _run(args)
        parser.print_help()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def _message_of(error: Exception, args: argparse.Namespace) -> str:
    """Return the message of an error, in options of the subcommand."""
    match error:
        case BosarisError():
            return files.message_of(error, args)
        case OSError(strerror=str() as why) if error.filename:
            return f"{error.filename}: {why}"
        case MemoryError():
            return "this takes more memory than there is; HDF5 files are read in blocks"
        case OSError() | ImportError():
            return getattr(error, "strerror", "") or str(error) or type(error).__name__
        case _:
            text = as_message(f"{type(error).__name__}: {error}")
            return (
                f"{text} (a fault of this program, please report it; BOSARIS_DEBUG=1 shows where)"
            )


def _run(args: argparse.Namespace) -> int:
    """Run a subcommand; then give its warnings, each once, and name the files that it wrote."""
    written: Iterable[str] = ()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            with files.standard_input(args):
                files.check_files(args)
                code: int = _RUN[args.command](args) or 0
            written = files.outputs_of(args).values()
        except UsageError as error:
            args.parser.error(str(error))
        except re.error as error:
            args.parser.error(f"{error} in the pattern {error.pattern!r}")
        finally:
            for line in dict.fromkeys(_line(warning, args) for warning in caught):
                if line and not any(text in line for text in args.said):
                    say(f"warning: {line}")
            # A device or a pipe is no file.
            for path in filter(os.path.isfile, written):
                say(f"wrote {printable(path)}")
    return code


def _line(warning: warnings.WarningMessage, args: argparse.Namespace) -> str:
    """Return the line of a warning: nothing of what changes no figure."""
    text, key = str(warning.message), getattr(args, "key", None)
    if key is not None:
        # Scores that stand twice are the same.
        again = f"trials that {key} lists again count once"
        text = _AGAIN.sub(lambda found: again if found[1] == key else "", text)
    return in_options(text.strip("; "), args)


def _drop_output() -> None:
    """Drop what cannot be written, which Python would try again at its exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
