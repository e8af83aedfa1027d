"""The command ``bosaris``: from files of scores to files of results, without a script.

Each subcommand calls one or two public functions and computes nothing itself. The parser is
argparse: it comes with Python, so that nothing more has to be installed where scores are evaluated,
and the subcommands need nothing that it lacks. Results go to the standard output; warnings, errors
and progress bars go to the standard error, a line each. The exit code is 0 when all is done, 1 if
the data or a file is at fault, 2 if the command line is. It is 3 if the answer to what was asked is
no, 130 after Ctrl-C, and 141 if the reader of the output went away. No error has a traceback,
unless the environment variable ``BOSARIS_DEBUG`` is 1.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from bosaris_py import errors
from bosaris_py.cli.files import check_formats, check_outputs, outputs_of
from bosaris_py.cli.options import OPTIONS, AnswerIsNo, UsageError
from bosaris_py.cli.parser import make_parser
from bosaris_py.cli.printing import say
from bosaris_py.errors import BosarisError, as_keyword, as_message, printable

# Keywords whose options have another name.
_SPELLED = {
    "max_bytes": "memory",
    "name": "conditions",
    "replications": "bootstrap",
    "rng": "seed",
    "system": "of",
}


# Hints of the command in place of those for scripts, by argument.
_HINTS = {
    "speakers": "Give a column, a complete file of pairs, or re:PATTERN, which takes an id without "
    "a match for a person of its own.",
    "llrs": "An interval needs their means. Bound them: `bosaris calibrate --method bounded`.",
    "path": "--to names another text format, which may be compressed (.gz).",
}


# Its advice in place of that for scripts, by category of the warning.
_ADVICE: dict[type[Warning], str] = {
    errors.SuspectScoresWarning: "Calibrate them first with `bosaris calibrate`, or trust the EER, "
    "minDCF and minCllr only.",
    errors.ExtrapolationWarning: "There the map is a line that no trial supports; --method bounded "
    "of `bosaris calibrate` limits it.",
    errors.UncertainPlanWarning: "Give columns by --metadata, or a key that has them.",
    errors.DuplicateTrialWarning: "List each trial once.",
    errors.OldFormatWarning: "A list of trials has no labels; the key is another file.",
}


_CLASSES = {"tar": "targets", "non": "non-targets"}


def _message(error: Exception, args: argparse.Namespace | None) -> str:
    """Return the message of an error, in which arguments are the options of the subcommand."""
    if not isinstance(error, BosarisError):
        if isinstance(error, OSError) and error.strerror:
            return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        return str(error) or type(error).__name__
    given = vars(args) if args else {}
    key = given.get("key")
    of_key = key is not None and str(error.path) == key
    outputs = outputs_of(args) if args else {}

    def spell(name: str, value: object = None) -> str:
        if key is not None and name in _CLASSES:
            return f"the {_CLASSES[name]} of {key}"
        option = _SPELLED.get(name, name)
        option = f"key_{option}" if of_key and f"key_{option}" in given else option
        if name == "path" and len(outputs) == 1:
            (option,) = outputs
        if option not in given:
            return as_keyword(name, value)
        if option in OPTIONS:
            return str(OPTIONS[option].get("metavar", option))
        flag = f"--{option.replace('_', '-')}"
        return flag if value is None else f"{flag} {value}"

    return as_message(error.text(spell, _HINTS))


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
    shown = set()
    args = None

    def show(message: Warning | str, *_: object, **__: object) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            say(f"warning: {message}")

    if isinstance(sys.stdout, io.TextIOWrapper):
        # Ids may have letters that the terminal lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            parser = make_parser()
            args, unknown = parser.parse_known_args(argv)
            if unknown:
                getattr(args, "parser", parser).refuse(unknown)
            if not hasattr(args, "run"):
                parser.print_help()
                return _end(0)
            if getattr(args, "blind", False):
                warnings.simplefilter("error", errors.MissingTrialsWarning)
            check_formats(args)
            try:
                check_outputs(args)
                few = (
                    "--method bounded or --ridge weak"
                    if hasattr(args, "method")
                    else "--ridge weak"
                )
                of_few: dict[type[Warning], str] = {
                    errors.FewTrainingErrorsWarning: f"Train on more trials, or with {few}."
                }
                # `bosaris --help` needs no numpy.
                from bosaris_py._notes import advised

                with advised(_ADVICE | of_few):
                    args.run(args)
            except UsageError as error:
                args.parser.error(str(error))
            except AnswerIsNo:
                _say_written(args)
                raise
            _say_written(args)
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as stop:
        return _end(int(stop.code or 0))
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    except BrokenPipeError:
        _drop_output()
        return 141
    except AnswerIsNo as answer:
        say(answer)
        return 3
    except MemoryError:
        say("error: this takes more memory than there is; see --memory")
        return 1
    except (BosarisError, OSError, ImportError) as error:
        _tell_where()
        say(f"error: {_message(error, args)}")
        _drop_output()
        return 1
    except errors.MissingTrialsWarning:
        say("error: trials of the key have no score; --blind does not tell how many or which")
        return 1
    except Exception as error:
        _tell_where()
        told = as_message(str(error))
        say(
            f"error: {type(error).__name__}: {told} (a fault of this program, please report it; "
            f"{_DEBUG}=1 shows where)"
        )
        _drop_output()
        return 1
    return 0


def _say_written(args: argparse.Namespace) -> None:
    """Name the files that were written; a device or a pipe is none."""
    for path in outputs_of(args).values():
        if Path(path).is_file():
            say(f"wrote {printable(path)}")


# Set to 1, this environment variable shows where errors come from.
_DEBUG = "BOSARIS_DEBUG"


def _tell_where() -> None:
    """Show the traceback of an error if that is asked for."""
    if os.environ.get(_DEBUG, "0") not in ("", "0") and sys.stderr is not None:
        traceback.print_exc()


def _end(code: int) -> int:
    """Return the exit code of a help text, or of bad options; 1 if it cannot be written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return 141
    except OSError as error:
        say(f"error: {_message(error, None)}")
        _drop_output()
        return 1
    return code


def _drop_output() -> None:
    """Drop what cannot be written, which Python would try again at its exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
