"""The options of the command: what each means, which subcommand has which, and their help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import bosaris_py as bp
from bosaris_py._version import __version__
from bosaris_py.errors import printable


class UsageError(Exception):
    """Options that do not go together."""


class AnswerIsNo(Exception):
    """What was asked for was found not to be so."""


def _points(text: str) -> list[float | bp.OperatingPoint]:
    """Return operating points: P_target, or P_target:C_miss:C_fa, separated by commas."""
    try:
        numbers = [[float(part) for part in point.split(":")] for point in text.split(",")]
        points = [bp.OperatingPoint(*point) for point in numbers]
    except (TypeError, ValueError) as error:
        told = "a probability is written as 0.01, not 1%" if "%" in text else str(error)
        told = told.replace("`p_target`", "a probability")
        raise argparse.ArgumentTypeError(f"{text!r}: {told}") from None
    # A probability alone stays a number, as in a script.
    pairs = zip(points, numbers, strict=True)
    return [point.p_target if len(parts) == 1 else point for point, parts in pairs]


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        point = ", with a point in place of the comma" if "," in text else ""
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number{point}") from None


def _ridge(text: str) -> float | str:
    """Return the strength of a ridge, or the word for the recommended one."""
    return text if text == "weak" else _number(text)


def _names(text: str) -> list[str]:
    return text.split(",")


def _pairs(text: str) -> dict[str, str]:
    """Return what is written as ``name=value,name=value``."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(sign for _, sign, _ in pairs):
        example = "such as score=cosine, or H1=target,H2=nontarget"
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE between commas, {example}")
    return {name: value for name, _, value in pairs}


def _label_words(text: str) -> dict[str, bool | str | None]:
    """Return the meaning of words: target, a kind of non-targets, or drop."""
    meanings: dict[str, bool | str | None] = {"target": True, "nontarget": False, "drop": None}
    meanings["spoof"] = "spoof"
    try:
        return {word: meanings[meaning] for word, meaning in _pairs(text).items()}
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"{error} is none of {', '.join(meanings)}") from None


def _column_names(text: str) -> str | dict[str, str | None]:
    """Return columns from left to right, or names by role as in ``score=cosine``."""
    if "=" not in text:
        return text.replace(",", " ")
    return {role: name or None for role, name in _pairs(text).items()}


KINDS = ("det", "bayes", "tippett", "ece", "pav", "reliability", "histogram", "forest")

# What systems are compared by, and its metric.
STATISTICS = {
    **{"eer": "EER", "min_dcf": "MinDCF", "act_dcf": "ActDCF"},
    **{"min_cllr": "MinCllr", "cllr": "Cllr", "auc": "AUC"},
}

_EERS = ("rocch", "interpolated", "step")
_FLAG = {"action": "store_true"}
_FILE = {"metavar": "FILE"}
_TEXT = {"metavar": "TEXT"}
_NAME = {"metavar": "NAME"}
_POINTS = {"type": _points, "action": "extend", "default": [], "metavar": "P[:CM:CF],.."}
_ROLES = {"type": _column_names, "metavar": "NAMES"}
_WORDS = {"type": _label_words, "metavar": "WORD=MEANING,.."}
_METHODS = {"choices": ("linear", "bounded", "pav"), "default": "linear"}
_COLUMNS = {"type": _names, "metavar": "COLUMN,.."}
_SPOOFS = {"choices": ("error", "nontarget", "keep", "drop")}
_SYSTEMS = {"nargs": "+", "metavar": "SCORES"}

OPTIONS: Mapping[str, Mapping[str, Any]] = {
    # Positional
    "files": dict(_FILE, nargs="+"),
    "input": dict(metavar="INPUT"),
    "target": dict(metavar="OUTPUT", help="file to write: .h5, .mat, .txt, .csv, .tsv"),
    "scores": dict(_SYSTEMS, help="FILE, NAME=FILE or NAME=FILE#COLUMN"),
    "system": dict(metavar="SCORES", help="file of scores"),
    "training": dict(_SYSTEMS, nargs="*", help="scores to train on"),
    "kind": dict(metavar="KIND", help=", ".join(KINDS)),
    "score": dict(type=_number, metavar="SCORE", help="score of the comparison"),
    # Trials, and what is known of them
    "--key": dict(_FILE, help="which trials are targets"),
    "--metadata": dict(_FILE, help="columns about trials (.h5), if the key has none"),
    "--trials": dict(_FILE, help="a list of trials, or a key"),
    "--conditions": dict(_COLUMNS, help="columns that make conditions"),
    "--speakers": dict(metavar="WHO[,WHO]", help="a column, a file (id, speaker), or re:PATTERN"),
    "--allow-missing": dict(_FLAG, help="allow that over half of the key has no score"),
    "--blind": dict(_FLAG, help="refuse missing trials without their counts"),
    # Figures
    "--prior": dict(_POINTS, help="probability of a target, and costs"),
    "--base": dict(type=_number, metavar="NUMBER", help="scores are logarithms of base 10, say"),
    "--plan": dict(_NAME, help="the cost of an evaluation: VoxSRC, .."),
    "--eer": dict(_NAME, choices=_EERS, help="rocch (default), interpolated or step"),
    "--statistic": dict(_NAME, choices=STATISTICS, default="eer", help=", ".join(STATISTICS)),
    "--bootstrap": dict(type=int, metavar="N", help="replicates of a bootstrap by speaker"),
    "--seed": dict(type=int, default=0, help="of random numbers (default: 0)"),
    "--fail-if-worse": dict(_FLAG, help="status 3 if the first is significantly worse"),
    "--same": dict(_TEXT, help="the proposition of one source"),
    "--different": dict(_TEXT, help="the proposition of two sources"),
    "--reference": dict(_TEXT, help="the reference set, and why it is relevant"),
    # Training
    "--model": dict(_FILE, help=".json: written if trained, else read"),
    "--apply": dict(_SYSTEMS, help="scores to turn into llrs"),
    "--method": dict(_NAME, **_METHODS, help="linear (default); bounded, for courts; or pav"),
    "--objective": dict(_NAME, help="cllr (default), brier or boost"),
    "--ridge": dict(type=_ridge, help="a number, or weak (default)"),
    "--costs": dict(_NAME, help="with spoofs: ASVspoof5 (default) or a-DCF1"),
    "--cross-fit": dict(_FLAG, help="each trial by a map trained without its speakers"),
    # Output
    "--output": dict(_FILE, help="file to write"),
    "--force": dict(_FLAG, help="replace an existing file, whoever wrote it"),
    "--to": dict(_NAME, help="text format to write"),
    "--content": dict(choices=("scores", "key", "trials"), help="what to take"),
    "--form": dict(choices=("dense",), help="a matrix, which the toolkit reads, not a list"),
    "--wide": dict(_FLAG, help="one line for each row, wider than the terminal"),
    "--title": dict(_TEXT, help="of the picture or the report"),
    "--date": dict(_TEXT, help="date to name (default: none)"),
    "--author": dict(_TEXT, default="", help="to name below the head"),
    "--laboratory": dict(_TEXT, default="", help="to name below the head"),
    "--validate": dict(_FLAG, help="begin with the validation of a forensic method"),
    "--of": dict(metavar="SYSTEM", help="draw this system only"),
    **{
        f"--{form}": dict(action="store_const", dest="table", const=form, help=f"write {form}")
        for form in ("json", "csv", "markdown", "latex")
    },
}

# How text is read whose form is not recognised; every subcommand that reads has these.
FILE_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "--format": dict(_NAME, help="text format of the scores"),
    "--key-format": dict(_NAME, help="text format of the key"),
    "--columns": dict(_ROLES, help="of scores: model,segment,score,- in order, or score=cosine"),
    "--key-columns": dict(_ROLES, help="likewise, of the key"),
    "--labels": dict(_WORDS, help="target, nontarget, spoof or drop: same=target,other=nontarget"),
    "--strip-suffix": dict(_TEXT, help="take this off the end of ids: .wav"),
    "--spoof": dict(_SPOOFS, help="what to do with spoofed trials"),
    "--missing": dict(metavar="WORD", help="what stands for a missing score: nan"),
}


class Command(NamedTuple):
    """One subcommand: its purpose, its options (! if required) and examples."""

    purpose: str
    options: str
    examples: tuple[str, ...]


_JUDGED = "scores --key! --metadata --conditions --speakers --prior --base --blind"
_TABLE = "--json --csv --markdown --latex --wide --output --force"
_TRAINING = (
    "training --key --metadata --prior --objective --ridge --cross-fit --speakers --seed --model "
    "--apply --trials --base --output --force --to"
)

COMMANDS: Mapping[str, Command] = {
    "evaluate": Command(
        "Evaluate systems: a table of figures.",
        f"{_JUDGED} --allow-missing --plan --eer --cross-fit --bootstrap --seed {_TABLE}",
        ("A=a.txt B=b.txt --key key.tsv", "a.h5 --key key.h5 --conditions attack --prior 0.01"),
    ),
    "compare": Command(
        "Compare each pair of systems by a test.",
        f"{_JUDGED} --statistic --fail-if-worse {_TABLE}",
        ("a.h5 b.h5 --key key.h5 --statistic min_dcf --speakers 're:^[^/]+'",),
    ),
    "calibrate": Command(
        "Turn scores into log-likelihood-ratios.",
        f"{_TRAINING} --method",
        ("dev.txt --key key.txt --model c.json", "--model c.json --apply eval.txt -o llrs.h5"),
    ),
    "fuse": Command(
        "Join the scores of several systems.",
        f"{_TRAINING} --costs",
        ("a.h5 b.h5 --key key.h5 --model f.json", "--model f.json --apply c.h5 d.h5 -o fused.h5"),
    ),
    "plot": Command(
        f"Draw a plot: {', '.join(KINDS)}.",
        f"kind {_JUDGED} --of --bootstrap --seed --output! --force --title",
        ("det A=a.h5 B=b.h5 --key key.h5 -o det.pdf --prior 0.01",),
    ),
    "convert": Command(
        "Write a file in another format.",
        "input target --to --content --key --metadata --form --force",
        ("scores.txt scores.h5", "scores.h5 new.txt --key key.h5 --to speechbrain-scores"),
    ),
    "info": Command("Say what files hold.", "files --json", ("key.tsv scores.h5 fusion.json",)),
    "check": Command(
        "Say whether scores answer a list of trials; labels need not be known.",
        "system --trials! --json --output --force",
        ("scores.txt --trials trials.txt",),
    ),
    "case": Command(
        "Compute the likelihood-ratio of one comparison from a reference set.",
        "score system --key! --same! --different! --reference! --metadata --speakers --base "
        "--json --wide --output --force",
        ("3.2 a.txt --key k.txt --same 'he speaks' --different 'another' --reference '60 men'",),
    ),
    "report": Command(
        "Write a report: one HTML file with tables, cautions and drawings.",
        f"{_JUDGED} --plan --validate --bootstrap --seed --output! --force --title --date "
        "--author --laboratory",
        ("A=a.h5 B=b.h5 --key key.h5 --speakers 're:^[^-]+' -o report.html",),
    ),
}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        told = printable(" ".join(message.split()))
        self.exit(2, f"{self.prog}: error: {told} (see {self.prog} --help)\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse ignores that a disk is full.
        stream = file or sys.stderr
        if message and stream is not None:
            stream.write(message)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command and of its subcommands."""
    purpose = "Turn detector scores into log-likelihood-ratios, fuse systems, and evaluate them."
    parser = _Parser(prog="bosaris", description=purpose)
    parser.add_argument("--version", action="version", version=f"bosaris_py {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    for name, (purpose, options, examples) in COMMANDS.items():
        lines = "".join(f"\n  bosaris {name} {example}" for example in examples)
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
        forms = command.add_mutually_exclusive_group()
        for word in options.split():
            flags = ("-o", "--output") if word.startswith("--output") else (word.rstrip("!"),)
            settings = dict(OPTIONS[flags[-1]], **({"required": True} if word[-1] == "!" else {}))
            (forms if "const" in settings else command).add_argument(*flags, **settings)
        text = command.add_argument_group("files of text")
        hidden = {} if name == "info" else {"help": argparse.SUPPRESS}
        for word, of_text in FILE_OPTIONS.items():
            text.add_argument(word, **{**of_text, **hidden})
        command.set_defaults(parser=command)
    return parser
