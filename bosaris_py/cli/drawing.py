"""The subcommands that draw: plot, report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bosaris_py.cli import judging
from bosaris_py.cli.options import UsageError, named_files, split_column
from bosaris_py.cli.printing import say


def plot(args: argparse.Namespace) -> None:
    """Draw a plot of some kind."""
    if args.prior and args.kind in ("tippett", "ece", "pav"):
        raise UsageError(f"--prior marks nothing in a plot {args.kind}")
    if len(args.prior) > 1 and args.kind in ("det", "reliability"):
        raise UsageError(f"a plot {args.kind} has one --prior")
    if (args.speakers or args.bootstrap) and args.kind != "forest":
        raise UsageError(f"a plot {args.kind} has no intervals; `bosaris report` draws bands")
    if args.conditions and args.of is None and args.kind in ("det", "bayes"):
        say("each curve is of equalised conditions; --of SYSTEM draws them")
    args.plan = None
    found = judging.judge(args)
    options: dict[str, Any] = {} if args.title is None else {"title": args.title}
    if args.prior and args.kind == "reliability":
        options["prior"] = args.prior[0]
    found.plot(args.kind, system=args.of, **options).save(args.output)


def report(args: argparse.Namespace) -> None:
    """Write a report."""
    if Path(args.output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"a report is HTML: --output must end in .html; got {args.output!r}")
    systems = named_files(args.scores).items()
    files = {f"scores of {name}": split_column(file)[0] for name, file in systems}
    title = {} if args.title is None else {"title": args.title}
    files |= {"key": args.key}
    judged = judging.judge(args)
    who = {"author": args.author, "laboratory": args.laboratory}
    judged.report(args.output, files=files, date=args.date, **who, **title)
