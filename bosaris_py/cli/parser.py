"""The parser of the command: which subcommand has which options, and what its help says."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from bosaris_py._version import __version__
from bosaris_py.cli import judging, listing, training
from bosaris_py.cli.options import OPTIONS
from bosaris_py.errors import printable


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        told = printable(" ".join(message.split()))
        self.exit(2, f"{self.prog}: error: {told} (see {self.prog} --help)\n")

    def refuse(self, words: list[str]) -> NoReturn:
        """Refuse words that no option takes."""
        self.error(f"unrecognized arguments: {' '.join(words)}")

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse ignores that a disk is full.
        stream = file or sys.stderr
        if message and stream is not None:
            stream.write(message)


_TEXT = "--format --columns --labels --strip-suffix --spoof --missing --memory"
_KEY = "--key! --key-format --key-columns"
_SYSTEMS = f"scores {_KEY} --metadata --conditions --prior --base --blind {_TEXT}"
_TABLE = "--speakers --json --csv --markdown --latex --wide --output --force"
_TRAINING = (
    "training --key --key-format --key-columns --model --apply --output --force --to --trials "
    f"--prior --objective --ridge {_TEXT}"
)


# In which part of the help an option stands.
_GROUPS: Mapping[str, str] = {
    "trials": "--key --metadata --trials --conditions --speakers --blind",
    "figures": "--prior --base --plan --eer --statistic "
    "--costs --cross-fit --bootstrap --seed --same --different --reference",
    "questions that the status answers": "--fail-if-worse",
    "training": "--model --apply --method --objective --ridge",
    "files of text, and large files": f"{_TEXT} --key-format --key-columns",
    "output": "--output --force --to --content --form --json --csv --markdown --latex --wide "
    "--title --date --author --laboratory --of",
}

# What the help of each subcommand says: its purpose, then examples.
_HELP: Mapping[str, tuple[str, ...]] = {
    "info": ("Say what files hold.", "bosaris info key.tsv scores.h5 fusion.json"),
    "check": (
        "Say whether scores answer a list of trials; labels need not be known.",
        "bosaris check scores.txt --trials trials.txt",
    ),
    "case": (
        "Compute the likelihood-ratio of one comparison from a reference set.",
        "bosaris case 3.2 scores.txt --key key.txt --speakers 're:^[^-]+' "
        "--same 'the suspect speaks' --different 'somebody else speaks' --reference '60 speakers'",
    ),
    "plot": (
        "Draw a plot: det, bayes, tippett, ece, pav, reliability, histogram or forest.",
        "bosaris plot det A=a.h5 B=b.h5 --key key.h5 -o det.pdf --prior 0.01",
        "bosaris plot tippett A=a.h5 B=b.h5 --key key.h5 -o tippett.pdf",
    ),
    "convert": (
        "Write a file in another format.",
        "bosaris convert scores.txt scores.h5",
        "bosaris convert key.h5 key.tsv",
        "bosaris convert scores.h5 scores.txt --key key.h5 --to speechbrain-scores",
    ),
    "evaluate": (
        "Evaluate systems: a table of metrics, plots and paired tests.",
        "bosaris evaluate A=a.txt B=b.txt --key key.tsv --prior 0.01,0.05",
        "bosaris evaluate a.h5 b.h5 --key key.tsv --conditions gender --json",
        "bosaris evaluate a.h5 --key key.h5 --speakers models.txt,segments.txt --bootstrap 2000",
        "bosaris evaluate X=scores.csv#xvector E=scores.csv#ecapa --key scores.csv",
    ),
    "compare": (
        "Compare each pair of systems by a test.",
        "bosaris compare a.h5 b.h5 --key key.h5 --statistic min_dcf --prior 0.01",
        "bosaris compare a.h5 b.h5 c.h5 --key key.h5 --speakers 're:^[^/]+'",
    ),
    "calibrate": (
        "Turn scores into log-likelihood-ratios.",
        "bosaris calibrate dev.txt --key dev_key.txt --model calibration.json",
        "bosaris calibrate --model calibration.json --apply eval.txt -o llrs.h5",
    ),
    "fuse": (
        "Join the scores of several systems.",
        "bosaris fuse dev_a.h5 dev_b.h5 --key dev_key.h5 --model fusion.json",
        "bosaris fuse --model fusion.json --apply eval_a.h5 eval_b.h5 -o fused.h5",
        "bosaris fuse asv=dev_asv.txt cm=dev_cm.txt --key dev.trl --spoof keep --model sasv.json",
    ),
    "report": (
        "Write a report: one HTML file with tables, cautions and drawings.",
        "bosaris report A=a.h5 B=b.h5 --key key.h5 -o report.html",
        "bosaris report a.h5 --key key.h5 --conditions gender --bootstrap 2000 -o report.html",
    ),
}


# What runs, and its options; those with ! are required.
COMMANDS: Mapping[str, tuple[Callable[[argparse.Namespace], None], str]] = {
    "info": (listing.info, f"files --json {_TEXT}"),
    "check": (
        listing.check,
        f"system --trials! --key-format --key-columns --json --output --force {_TEXT}",
    ),
    "case": (
        judging.case,
        f"score system {_KEY} --metadata --speakers --same! --different! --reference! --json "
        f"--wide --output --force {_TEXT}",
    ),
    "plot": (
        judging.plot,
        f"kind {_SYSTEMS} --of --speakers --bootstrap --seed --output! --force --title",
    ),
    "convert": (
        listing.convert,
        f"input target --force --to --content --key --form --key-format --key-columns {_TEXT}",
    ),
    "evaluate": (
        judging.evaluate,
        f"{_SYSTEMS} --plan --eer --cross-fit --bootstrap --seed {_TABLE}",
    ),
    "compare": (judging.compare, f"{_SYSTEMS} --statistic --fail-if-worse {_TABLE}"),
    "calibrate": (training.calibrate, f"{_TRAINING} --method"),
    "fuse": (training.fuse, f"{_TRAINING} --costs"),
    "report": (
        judging.report,
        f"{_SYSTEMS} --plan --speakers --bootstrap --seed --output! --force --title --date "
        "--author --laboratory",
    ),
}


def make_parser() -> _Parser:
    """Return the parser, whose subcommands know what runs them."""
    description = (
        "Turn detector scores into log-likelihood-ratios, fuse systems, and evaluate them."
    )
    parser = _Parser(prog="bosaris", description=description)
    parser.add_argument("--version", action="version", version=f"bosaris_py {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, (run, options) in COMMANDS.items():
        purpose, *examples = _HELP[name]
        command = commands.add_parser(
            name,
            help=purpose,
            description=purpose,
            epilog="\n  ".join(["examples:", *examples]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        groups = {
            title: command.add_argument_group(title)
            for title, members in _GROUPS.items()
            if {*members.split()} & {*options.replace("!", "").split()}
        }
        forms = groups["output"].add_mutually_exclusive_group() if "--json" in options else None
        title_of = {word: title for title, members in _GROUPS.items() for word in members.split()}
        for word in options.split():
            flags = ("-o", "--output") if word.startswith("--output") else (word.rstrip("!"),)
            words = OPTIONS[flags[-1]] | ({"required": True} if word.endswith("!") else {})
            group = groups[title_of[flags[-1]]] if flags[-1] in title_of else command
            (forms if forms and "const" in words else group).add_argument(*flags, **words)
        command.set_defaults(run=run, parser=command)
    return parser
