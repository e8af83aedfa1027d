"""The command ``bosaris``: from files of scores to files of results, without a script.

Each subcommand calls one or two public functions and computes nothing itself. Results go to the
standard output; warnings, errors and progress bars go to the standard error, a line each. The exit
code is 0 when all is done, 1 if the data or a file is at fault, 2 if the command line is. It is 3
if the answer to what was asked is no, 130 after Ctrl-C, and 141 if the reader of the output went
away. No error has a traceback, unless the environment variable ``BOSARIS_DEBUG`` is 1.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from bosaris_py.cli import files, judging, training
from bosaris_py.cli.files import say
from bosaris_py.cli.options import OPTIONS, AnswerIsNo, UsageError, make_parser
from bosaris_py.errors import BosarisError, MissingTrialsWarning, as_message, printable

_RUN = {
    **{name: getattr(files, name) for name in ("info", "check", "convert")},
    **{name: getattr(judging, name) for name in ("evaluate", "compare", "case", "plot", "report")},
    **{name: getattr(training, name) for name in ("calibrate", "fuse")},
}

# Arguments of the library whose options have another name.
_SPELLED = {
    "name": "conditions",
    "replications": "bootstrap",
    "rng": "seed",
    "system": "of",
    "path": "output",
}

# What scripts are told, and what the command says in its place.
_PHRASES = (
    (r"(for instance )?with LinearCalibration\.fit", "by `bosaris calibrate`"),
    (r"evaluate them by eer, min_dcf and min_cllr", "trust the EER, minDCF and minCllr only"),
    ("BoundedCalibration", "`bosaris calibrate --method bounded`"),
    (
        r"Give the key columns: key\.with_columns\(\.\.\.\)",
        "Give a key with columns, or --metadata",
    ),
    ("Ndx.read and read_trials read trials without labels;", "A list of trials has no labels;"),
    (r"\bcross_fit\b", "--cross-fit"),
    (r"for instance a column, a function of the id, or a dict", "a column, a file or re:PATTERN"),
)

_ARGUMENT = re.compile(
    r"`(?P<name>\w+)`|\b(?P<keyword>[a-z_]+)=(?P<value>'[^']*'|\"[^\"]*\"|[\w.]*)"
)

# A call, an argument or a name of Python; not what the command itself writes as role=NAME.
_OF_SCRIPTS = re.compile(r"\w\(|\b[a-z_]+=(?![A-Z]{2})|`[a-z_]+`")

# Set to 1, this environment variable shows where errors come from.
_DEBUG = "BOSARIS_DEBUG"


def in_options(text: str, args: argparse.Namespace, *, of_key: bool = False) -> str:
    """Return a message of the library in which arguments are options of the subcommand.

    Parameters
    ----------
    text : str
        The message, with arguments as `name` in backticks or as name=value.
    args : argparse.Namespace
        The options of the subcommand.
    of_key : bool, default: False
        Whether the message is about the file of the key.

    Returns
    -------
    str
    """
    given = vars(args)

    def spelled(found: re.Match[str]) -> str:
        name = found["name"] or found["keyword"]
        if given.get("key") is not None and name in ("tar", "non"):
            return f"the {'targets' if name == 'tar' else 'non-targets'} of {given['key']}"
        option = _SPELLED.get(name, name)
        if of_key and f"key_{option}" in given:
            option = f"key_{option}"
        if option not in given or (found["keyword"] and option in OPTIONS):
            return str(found["name"] or found[0])
        if option in OPTIONS:
            return str(OPTIONS[option].get("metavar", option))
        value = (found["value"] or "").strip("'\"")
        return f"--{option.replace('_', '-')} {value}".rstrip()

    for phrase, told in _PHRASES:
        text = re.sub(phrase, told, text)
    first, *rest = re.split(r"(?<=[.?!]) ", _ARGUMENT.sub(spelled, text))
    # Advice that is no option of this subcommand is for scripts.
    return " ".join([first, *(part for part in rest if not _OF_SCRIPTS.search(part))])


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
        answer to what was asked is no (``check``, ``--fail-if-worse``), 130 if interrupted, 141 if
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
        if os.environ.get(_DEBUG, "0") not in ("", "0") and sys.stderr is not None:
            traceback.print_exc()
        say(f"error: {as_message(_told(error, args))}")
        _drop_output()
        return 1


def _answer(argv: Sequence[str] | None, args: argparse.Namespace) -> int:
    """Read the options into `args`, and run the subcommand; return the exit code."""
    try:
        parser = make_parser()
        _, unknown = parser.parse_known_args(argv, args)
        if unknown:
            getattr(args, "parser", parser).error(f"unrecognized arguments: {' '.join(unknown)}")
        if args.command is None:
            parser.print_help()
        else:
            _run(args)
    except SystemExit as stop:
        return int(stop.code or 0)
    except AnswerIsNo as answer:
        say(answer)
        return 3
    return 0


def _told(error: Exception, args: argparse.Namespace) -> str:
    """Return the message of an error, in options of the subcommand."""
    if isinstance(error, BosarisError):
        of_key = error.path is not None and str(error.path) == getattr(args, "key", None)
        return in_options(str(error), args, of_key=of_key)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "this takes more memory than there is; HDF5 files are read in blocks"
    if isinstance(error, MissingTrialsWarning):
        return "trials of the key have no score; --blind does not tell how many or which"
    if isinstance(error, OSError | ImportError):
        return str(error) or type(error).__name__
    told = as_message(f"{type(error).__name__}: {error}")
    return f"{told} (a fault of this program, please report it; {_DEBUG}=1 shows where)"


def _run(args: argparse.Namespace) -> None:
    """Run a subcommand; then give its warnings, each once, and name the files that it wrote."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if getattr(args, "blind", False):
            warnings.simplefilter("error", MissingTrialsWarning)
        is_done = False
        try:
            files.check_files(args)
            _RUN[args.command](args)
            is_done = True
        except UsageError as error:
            args.parser.error(str(error))
        except AnswerIsNo:
            is_done = True
            raise
        finally:
            lines = (in_options(str(warning.message), args) for warning in caught)
            for line in dict.fromkeys(lines):
                say(f"warning: {line}")
            for path in files.outputs_of(args).values() if is_done else ():
                # A device or a pipe is no file.
                if Path(path).is_file():
                    say(f"wrote {printable(path)}")


def _drop_output() -> None:
    """Drop what cannot be written, which Python would try again at its exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
