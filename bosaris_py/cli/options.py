"""The options of the command: what each means, which subcommand has which, and their help."""

import argparse
import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import bosaris_py as bp
from bosaris_py import __version__, errors


class UsageError(Exception):
    """Options that do not go together."""


def refuse(*faults: tuple[str, object]) -> None:
    """Raise the first of some messages that holds."""
    for text, is_so in faults:
        if is_so:
            raise UsageError(text)


# The keywords of argparse for an option.
Settings = dict[str, Any]


def _points(text: str) -> "list[float | bp.OperatingPoint]":
    """Return operating points: P_target, or P_target:C_miss:C_fa, separated by commas."""
    try:
        numbers = [[float(part) for part in point.split(":")] for point in text.split(",")]
        points = [bp.OperatingPoint(*point) for point in numbers]
    except errors.InvalidInputError as error:
        fault = str(error).replace("`p_target`", "a probability").replace("`", "")
        raise argparse.ArgumentTypeError(f"{text!r}: {fault}") from None
    except (TypeError, ValueError):
        fault = "expected P, or P:CMISS:CFA, with commas between several"
        fault = "a probability is written as 0.01, not 1%" if "%" in text else fault
        raise argparse.ArgumentTypeError(f"{text!r}: {fault}") from None
    # A probability alone stays a number, as in a script.
    pairs = zip(points, numbers, strict=True)
    return [point.p_target if len(parts) == 1 else point for point, parts in pairs]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        point = ", with a point in place of the comma" if "," in text else ""
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number{point}") from None


_TYPES: dict[str, Callable[[str], object]] = {"points": _points, "number": _number}
_TYPES["whole number"] = int
_TYPES["ridge"] = lambda text: text if text == "weak" else _number(text)
_TYPES["names"] = lambda text: text.split(",")

_TEXTS = tomllib.loads(Path(__file__).with_name("options.toml").read_text(encoding="utf-8"))

OPTIONS: dict[str, Settings] = _TEXTS["options"]

FILE_OPTIONS: dict[str, Settings] = _TEXTS["text"]

# Each subcommand: its purpose, its options and examples.
COMMANDS: dict[str, Settings] = _TEXTS["commands"]

# Arguments of the library whose options have another name, of which a subcommand has one.
_SPELLED = {"replications": "bootstrap", "rng": "seed", "system": "of", "path": "target output"}
_SPELLED |= {"table": "input", "x": "apply", "score_files": "apply", "output_file": "output"}
_SPELLED |= {"ndx": "trials", "ndx_file": "trials", "systems": "scores training"}

_SPEAKERS = (
    "Use --speakers with a column, file or re:PATTERN; of folders: --speakers 're:^([^/]+)'."
)

# What scripts are told, and what the command says in its place.
_PHRASES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r"Then take -scores\.", "Swap --labels, or turn distances round by `bosaris calibrate`."),
    ("BoundedCalibration", "`bosaris calibrate --method bounded`"),
    (r"`max_bytes`, ([\d,]+; by default|or) half", "half"),
    (r"For instance \{.*", ""),
    (r"a Generator that can spawn, a whole number or None", "a whole number from 0"),
    (r"(be left out [^;]*); got .*", r"\1."),
    (r"`rows` must .* interval; got none for", "There is no interval of"),
    ("`propositions` must be two texts", "--same and --different must be texts"),
    (r"`folds` must .* speakers, (\d+); got (\d+)", r"\2 folds need \2 speakers, not \1"),
    (r"Write .*rename\((r?.(.*?).), \1\), .*?\1\)", lambda x: f"Use --ids {shlex.quote(x[2])}"),
    (r"Take these .* list\.", "List trials that all systems have by --trials (--key, to train)."),
    (r"Filter the key\.", "Leave these trials out of the key."),
    (r"Give the key columns: .*", "Give a key with columns, or --metadata."),
    ("Ndx.read and read_trials read trials without labels;", "A list of trials has no labels;"),
    ("Give speakers, for instance .*", _SPEAKERS),
    (r"Without spoofs judge .*", "Or leave the spoofs out: --spoof drop."),
)

_ARGUMENT = re.compile(
    r"`(?P<name>\w+)`|\b(?P<keyword>[a-z_]+)=(?P<value>'[^']*'|\"[^\"]*\"|[\w.]*\w|)"
)

_QUOTED = re.compile(r"(?<!\w)(['\"]).*?\1(?!\w)")

# A call, an argument or a name of Python; not what the command itself writes as role=NAME.
_OF_SCRIPTS = re.compile(r"\w\(|(?<!-)\b[a-z_]+=(?![A-Z]{2})|`[a-z_]+`")


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
    # What is read from standard input is kept in a file.
    text = text.replace(given.get("copied") or "\0", "standard input")

    def spelled(found: re.Match[str]) -> str:
        name = found["name"] or found["keyword"]
        if given.get("key") is not None and name in ("tar", "non"):
            return f"the {'targets' if name == 'tar' else 'non-targets'} of {given['key']}"
        if name == "key":
            # Mates stand in its place, and so may a list of trials.
            name = next((each for each in ("mates", "key", "trials") if given.get(each)), "")
        if not name:
            return "the list of trials"
        option = next((x for x in _SPELLED.get(name, name).split() if x in given), name)
        if of_key and f"key_{option}" in given:
            option = f"key_{option}"
        if option not in given or (found["keyword"] and option in OPTIONS):
            return str(found["name"] or found[0])
        if option in OPTIONS:
            return str(OPTIONS[option].get("metavar", option))
        flag = f"--{option.replace('_', '-')}"
        if not found["value"] or given[option] is False:
            return flag
        value = found["value"].strip("'\"")
        return flag + " ="[value[:1] == "-"] + shlex.quote(value)

    for phrase, words in _PHRASES:
        text = re.sub(phrase, words, text)
    # What is shown in quotes ends no sentence.
    text = _QUOTED.sub(lambda shown: shown[0].replace(" ", "\0"), _ARGUMENT.sub(spelled, text))
    first, *rest = re.split(r"(?<=[.?!]) ", text)
    # Advice that is no option of this subcommand is for scripts.
    kept = " ".join([first, *(part for part in rest if not _OF_SCRIPTS.search(part))])
    return kept.replace("\0", " ")


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        line = errors.printable(" ".join(message.split()))
        self.exit(2, f"{self.prog}: error: {line} (see {self.prog} --help)\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command and of its subcommands."""
    purpose = "Turn detector scores into log-likelihood-ratios, fuse systems, and evaluate them."
    parser = _Parser(prog="bosaris", description=purpose)
    parser.add_argument("--version", action="version", version=f"bosaris_py {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    for name, about in COMMANDS.items():
        purpose, options = about["purpose"], about["options"]
        lines = "".join(f"\n  bosaris {name} {example}" for example in about["examples"])
        where = "" if name == "info" else "\noptions of text files: see bosaris info --help"
        needed = [word.rstrip("!") for word in options.split() if word[0] != "-" or word[-1] == "!"]
        shown = [f"{word} " * (word[0] == "-") + OPTIONS[word]["metavar"] for word in needed]
        command = commands.add_parser(
            name,
            help=purpose,
            usage=f"bosaris {name} {' '.join(shown)} [options]",
            description=purpose,
            epilog=f"examples:{lines}{where}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        for word, read in _TYPES.items():
            command.register("type", word, read)
        forms = command.add_mutually_exclusive_group()
        for word in options.split():
            flags = ("-o", "--output") if word.startswith("--output") else (word.rstrip("!"),)
            # In place of --key may stand --mates, or --tar and --non.
            is_needed = word[-1] == "!" and word != "--key!"
            settings = OPTIONS[flags[-1]] | ({"required": True} if is_needed else {})
            (forms if "const" in settings else command).add_argument(*flags, **settings)
        text = command.add_argument_group("files of text")
        hidden = {} if name == "info" else {"help": argparse.SUPPRESS}
        for word, of_text in FILE_OPTIONS.items():
            text.add_argument(word, **of_text | hidden)
        command.set_defaults(parser=command, said=(), copied="", side="")
    return parser
