"""Subcommands that judge: evaluate, compare, case, plot, report."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bosaris_py as bp
from bosaris_py.cli import files
from bosaris_py.cli.options import STATISTICS, AnswerIsNo, UsageError


def speakers_of(text: str | None, key: bp.Key) -> Any:
    """Return who speaks: a map in a file, a pattern of ids, a column, or a pair of these."""
    if text is None:
        return None
    words = text.split(",")
    if len(words) > 2:
        raise UsageError("--speakers takes one value, or two for models and segments")
    models, segments = key.modelset.tolist(), key.segset.tolist()
    if len(words) == 1:
        return _speakers(text, models + segments, key)
    return _speakers(words[0], models, key), _speakers(words[1], segments, key)


def _speakers(word: str, ids: Sequence[str], key: bp.Key) -> Any:
    if not word.startswith("re:"):
        if Path(word).is_file():
            return bp.IdMap.read(word)
        if word and word not in ("model", "segment", *key.columns):
            names = ", ".join(key.columns) or "it has none"
            raise bp.errors.InvalidInputError(
                f"--speakers must be a column of the key ({names}), a file of pairs (id, speaker) "
                f"or re:PATTERN; got {word!r}, and there is no such file."
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
    return lambda name: found[min(1, pattern.groups)] if (found := pattern.search(name)) else name


def judge(args: argparse.Namespace) -> bp.Evaluation:
    """Evaluate systems, in blocks if their files are large."""
    systems = files.named_files(args.scores)
    given = vars(args)
    options: dict[str, Any] = {"prior": args.prior, "eer": given.get("eer")}
    options |= {name: given.get(name) for name in ("plan", "cross_fit", "allow_missing")}
    options |= {"conditions": args.conditions, "replications": args.bootstrap}
    options = {name: value for name, value in options.items() if value}
    in_blocks = not {*options} - {"prior", "eer", "allow_missing"} and not args.speakers
    if in_blocks and args.base is None and files.are_large(*systems.values(), args.key):
        return bp.evaluate(systems, args.key, progress=files.at_terminal(), **options)
    scores = {name: files.load_scores(args, file) for name, file in systems.items()}
    is_tandem = args.plan is not None and bp.evaluation.PLANS[args.plan].detectors == 2
    if is_tandem:
        # There is no tandem without spoofs.
        args.spoof = args.spoof or "keep"
    key = files.load_key(args)
    if is_tandem and "cm" in scores:
        scores["cm"] = files.score_trials(scores["cm"], key)
    options |= {"speakers": speakers_of(args.speakers, key), "rng": args.seed}
    watched = files.at_terminal() and len(systems) > 1
    return bp.evaluate(scores, key, progress=watched, **options)


def evaluate(args: argparse.Namespace) -> None:
    """Evaluate systems."""
    form = files.table_form(args)
    files.emit_table(judge(args), args, form)


def statistic_of(name: str, point: float | bp.OperatingPoint) -> Any:
    """Return what is compared, at an operating point if it has one."""
    metric = getattr(bp.uncertainty, STATISTICS[name])
    return metric(point) if name.endswith("dcf") else metric()


def compare(args: argparse.Namespace) -> None:
    """Compare each pair of systems by a test."""
    if len(args.prior) > 1:
        raise UsageError("systems are compared at one --prior")
    if len(args.scores) < 2:
        raise UsageError("give at least two systems")
    form = files.table_form(args)
    key = files.load_key(args)
    systems = files.named_files(args.scores)
    found = bp.uncertainty.compare_systems(
        {name: files.load_scores(args, file) for name, file in systems.items()},
        key,
        statistic_of(args.statistic, args.prior[0] if args.prior else 0.01),
        conditions=args.conditions,
        speakers=speakers_of(args.speakers, key),
    )
    files.emit_table(found, args, form)
    if args.fail_if_worse:
        record = found.records()[0]
        # Of the area under the ROC more is better.
        sign = -1.0 if args.statistic == "auc" else 1.0
        if record["significant"] and sign * record["difference"] > 0:
            raise AnswerIsNo(f"{record['first']} is significantly worse than {record['second']}")


def case(args: argparse.Namespace) -> None:
    """Compute the likelihood-ratio of one comparison."""
    key = files.load_key(args)
    found = bp.case_llr(
        args.score,
        files.load_scores(args, args.system),
        key,
        propositions=(args.same, args.different),
        reference=args.reference,
        speakers=speakers_of(args.speakers, key),
    )
    if files.wants_json(args):
        files.emit_json(found.to_dict(), args.output)
    else:
        files.emit_table(found, args, None)


def plot(args: argparse.Namespace) -> None:
    """Draw a plot of some kind."""
    if args.prior and args.kind in ("tippett", "ece", "pav"):
        raise UsageError(f"--prior marks nothing in a plot {args.kind}")
    if len(args.prior) > 1 and args.kind in ("det", "reliability"):
        raise UsageError(f"a plot {args.kind} has one --prior")
    if (args.speakers or args.bootstrap) and args.kind != "forest":
        raise UsageError(f"a plot {args.kind} has no intervals; `bosaris report` draws bands")
    if args.conditions and args.of is None and args.kind in ("det", "bayes"):
        files.say("each curve is of equalised conditions; --of SYSTEM draws them")
    args.plan = None
    options: dict[str, Any] = {} if args.title is None else {"title": args.title}
    if args.prior and args.kind == "det":
        options["marks"] = ("eer", "dr30", "min", "act")
    if args.prior and args.kind == "reliability":
        options["prior"] = args.prior[0]
    judge(args).plot(args.kind, system=args.of, **options).save(args.output)


def report(args: argparse.Namespace) -> None:
    """Write a report."""
    if Path(args.output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"a report is HTML: --output must end in .html; got {args.output!r}")
    systems = files.named_files(args.scores).items()
    named = {f"scores of {name}": files.split_column(file)[0] for name, file in systems}
    options = {name: getattr(args, name) for name in ("title", "author", "laboratory", "validate")}
    options = {name: value for name, value in options.items() if value}
    judge(args).report(args.output, files={**named, "key": args.key}, date=args.date, **options)
