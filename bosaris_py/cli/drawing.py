"""The subcommands that draw: plot, det, bayes, report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import bosaris_py as bp
from bosaris_py.cli import judging
from bosaris_py.cli.files import are_large, load_key, load_scores
from bosaris_py.cli.options import UsageError, named_files, split_column
from bosaris_py.cli.printing import at_terminal, say


def _results(args: argparse.Namespace) -> dict[str, Any]:
    """Evaluate each system, in blocks if its file is large."""
    systems, found = named_files(args.scores), {}
    conditions = None
    if args.conditions or not are_large(args, *systems.values(), args.key):
        key, metadata = load_key(args)
        if args.conditions:
            conditions = metadata.conditions(*args.conditions)
            say("each curve is of equalised conditions; `bosaris plot KIND --of SYSTEM` draws them")
        for name, file in systems.items():
            found[name] = bp.Results.from_scores(load_scores(args, file), key, conditions)
    else:
        for name, file in systems.items():
            found[name] = bp.Results.from_files(
                file, args.key, base=args.base, progress=at_terminal()
            )
    return found


def plot(args: argparse.Namespace) -> None:
    """Draw a plot of some kind."""
    if args.prior and args.kind in ("tippett", "ece", "pav"):
        raise UsageError(f"--prior marks nothing in a plot {args.kind}")
    if len(args.prior) > 1 and args.kind in ("det", "reliability"):
        raise UsageError(f"a plot {args.kind} has one --prior")
    if (args.speakers or args.bootstrap) and args.kind != "forest":
        raise UsageError(f"a plot {args.kind} has no intervals; `bosaris report` draws bands")
    args.plan = None
    found = judging.judge(args)
    options: dict[str, Any] = {} if args.title is None else {"title": args.title}
    if args.prior and args.kind == "reliability":
        options["prior"] = args.prior[0]
    found.plot(args.kind, system=args.of, **options).save(args.output)


def det(args: argparse.Namespace) -> None:
    """Draw a DET plot."""
    if len(args.prior) > 1:
        raise UsageError("a DET plot marks one --prior")
    prior = args.prior[0] if args.prior else None
    plot = bp.plot_det(_results(args), args.window, title=args.title, prior=prior)
    plot.save(args.output)


def bayes(args: argparse.Namespace) -> None:
    """Draw a Bayes error-rate plot."""
    if args.range and not args.range[0] < args.range[1]:
        raise UsageError("--range is LOW HIGH: the first must be below the second")
    axes = None if args.range is None else (*args.range, 0.0, 1.2)
    plot = bp.plot_bayes(_results(args), axes=axes, title=args.title, prior=args.prior or None)
    plot.save(args.output)


def report(args: argparse.Namespace) -> None:
    """Write a report."""
    if Path(args.output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"a report is HTML: --output must end in .html; got {args.output!r}")
    systems = named_files(args.scores).items()
    files = {f"scores of {name}": split_column(file)[0] for name, file in systems}
    title = {} if args.title is None else {"title": args.title}
    files |= {"key": args.key}
    with bp.storage.hashed_files() as read:
        judged = judging.judge(args)
    known = {role: read.get(Path(file).absolute(), file) for role, file in files.items()}
    who = {"author": args.author, "laboratory": args.laboratory}
    judged.report(args.output, files=known, date=args.date, **who, **title)
