"""Subcommands that judge: evaluate, compare, case, plot, report."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bosaris_py as bp
from bosaris_py.cli import printing
from bosaris_py.cli.files import are_large, load_key, load_scores, of_trials
from bosaris_py.cli.options import STATISTICS, AnswerIsNo, UsageError, named_files, split_column
from bosaris_py.cli.printing import say


def speakers_of(text: str | None, key: bp.Key) -> Any:
    """Return who speaks: a map in a file, a pattern of ids, a column, or a pair of these."""
    if text is None:
        return None
    words = text.split(",")
    sides = [key.modelset.tolist(), key.segset.tolist()]
    sides = [sides[0] + sides[1]] if len(words) == 1 else sides

    def of_side(word: str, ids: Sequence[str]) -> Any:
        if not word.startswith("re:"):
            if Path(word).is_file():
                return bp.IdMap.read(word)
            if word and word not in ("model", "segment", *key.columns):
                names = ", ".join(key.columns) or "it has none"
                raise bp.errors.InvalidInputError(
                    f"--speakers must be a column of the key ({names}), a file of pairs (id, "
                    f"speaker) or re:PATTERN; got {word!r}, and there is no such file."
                )
            return word or None
        try:
            pattern = re.compile(word[3:])
        except re.error as error:
            raise UsageError(f"--speakers: {error} in the pattern {word[3:]!r}") from error
        if not any(map(pattern.search, ids)):
            raise bp.errors.InvalidInputError(
                f"--speakers: the pattern {word[3:]!r} matches none of the {len(ids)} ids, such as "
                f"{', '.join(ids[:3])}."
            )
        # Its first group, or all that matches; an id without a match is a speaker of its own.
        return lambda name: (
            found[min(1, pattern.groups)] if (found := pattern.search(name)) else name
        )

    if len(words) > 2:
        raise UsageError("--speakers takes one value, or two for models and segments")
    found = tuple(map(of_side, words, sides))
    return found[0] if len(found) == 1 else found


def evaluate(args: argparse.Namespace) -> None:
    """Evaluate systems."""
    form = printing.table_form(args, *printing.TABLES)
    printing.emit(printing.table_text(judge(args), args, form), args.output)


def judge(args: argparse.Namespace) -> bp.Evaluation:
    """Evaluate systems, in blocks if their files are large."""
    systems, options = named_files(args.scores), {}
    if args.prior:
        options["prior"] = args.prior
    options |= {"eer": args.eer} if vars(args).get("eer") else {}
    needs_trials = args.plan or args.conditions or args.speakers or args.bootstrap
    needs_trials = needs_trials or getattr(args, "cross_fit", False)
    if not needs_trials and are_large(args, *systems.values(), args.key):
        options |= {"base": args.base, "progress": printing.at_terminal()}
        return bp.evaluate_files(systems, args.key, **options)
    scores = {name: load_scores(args, file) for name, file in systems.items()}
    is_tandem = args.plan is not None and bp.evaluation.PLANS[args.plan].detectors == 2
    if is_tandem:
        # There is no tandem without spoofs.
        args.spoof = args.spoof or "keep"
    key = load_key(args)
    if is_tandem and "cm" in scores:
        scores["cm"] = of_trials(scores["cm"], key)
    return bp.evaluate(
        scores,
        key,
        plan=args.plan,
        conditions=args.conditions,
        replications=args.bootstrap or 0,
        cross_fit=True if getattr(args, "cross_fit", False) else None,
        progress=printing.at_terminal() and len(systems) > 1,
        speakers=speakers_of(args.speakers, key),
        rng=args.seed,
        **options,
    )


def compare(args: argparse.Namespace) -> None:
    """Compare each pair of systems by a test."""
    if len(args.prior) > 1:
        raise UsageError("systems are compared at one --prior")
    if len(args.scores) < 2:
        raise UsageError("give at least two systems")
    form = printing.table_form(args, *printing.TABLES)
    key = load_key(args)
    conditions = list(args.conditions) if args.conditions else None
    found = bp.uncertainty.compare_systems(
        {name: load_scores(args, file) for name, file in named_files(args.scores).items()},
        key,
        STATISTICS[args.statistic](args.prior[0] if args.prior else 0.01),
        conditions=conditions,
        speakers=speakers_of(args.speakers, key),
    )
    printing.emit(printing.table_text(found, args, form), args.output)
    if args.fail_if_worse:
        record = found.records()[0]
        # Of the area under the ROC more is better.
        sign = -1.0 if args.statistic == "auc" else 1.0
        if record["significant"] and sign * record["difference"] > 0:
            raise AnswerIsNo(f"{record['first']} is significantly worse than {record['second']}")


def case(args: argparse.Namespace) -> None:
    """Compute the likelihood-ratio of one comparison."""
    form = printing.table_form(args, "json")
    key = load_key(args)
    found = bp.case_llr(
        args.score,
        load_scores(args, args.system),
        key,
        propositions=(args.same, args.different),
        reference=args.reference,
        speakers=speakers_of(args.speakers, key),
    )
    if form:
        printing.emit_json(found.to_dict(), args.output)
    else:
        printing.emit(printing.table_text(found, args), args.output)


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
    found = judge(args)
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
    judged = judge(args)
    who = {"author": args.author, "laboratory": args.laboratory}
    judged.report(args.output, files=files, date=args.date, **who, **title)
