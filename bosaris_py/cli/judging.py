"""Subcommands that judge: evaluate, compare, case, plot, report."""

from __future__ import annotations

import argparse
import math
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import bosaris_py as bp
from bosaris_py.cli import files
from bosaris_py.cli.options import Settings, UsageError, in_options, refuse
from bosaris_py.errors import InvalidInputError, SuspectScoresWarning, printable

if TYPE_CHECKING:
    from bosaris_py.metrics.metric import AnyMetric
    from bosaris_py.trials.speakers import SpeakersLike, SpeakersOfSide


def speakers_of(text: str | None, key: bp.Key) -> SpeakersLike:
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


def _speakers(word: str, ids: Sequence[str], key: bp.Key) -> SpeakersOfSide:
    if not word.startswith("re:"):
        if Path(word).is_file():
            return bp.IdMap.read(word)
        if word and word not in ("model", "segment", *key.columns):
            told = f"--speakers: {word!r} is no file, nor a column of the key"
            raise InvalidInputError(f"{told} ({', '.join(key.columns) or 'it has none'}).")
        return word or None
    try:
        pattern = re.compile(word[3:])
    except re.error as error:
        raise UsageError(f"--speakers: {error} in the pattern {word[3:]!r}") from error
    if not any(map(pattern.search, ids)):
        told = f"--speakers: {word[3:]!r} matches none of the {len(ids)} ids, such as "
        raise InvalidInputError(f"{told}{', '.join(ids[:3])}.")
    # Its first group, or all that matches; an id without a match is a speaker of its own.
    return lambda name: found[min(1, pattern.groups)] if (found := pattern.search(name)) else name


def judge(args: argparse.Namespace) -> bp.Evaluation:
    """Evaluate systems, in blocks if their files are large."""
    import attrs

    from bosaris_py.evaluation.evaluate import contradiction

    systems = files.named_files(args.scores)
    given = vars(args)
    options: Settings = {"prior": args.prior, "eer": given.get("eer")}
    options |= {name: given.get(name) for name in ("plan", "cross_fit", "allow_missing")}
    options |= {"conditions": args.conditions, "replications": args.bootstrap}
    options = {name: value for name, value in options.items() if value}
    if given.get("tar") or given.get("non"):
        return _judge_lists(args, options)
    in_blocks = not {*options} - {"prior", "eer", "allow_missing"} and not args.speakers
    if in_blocks and files.are_large(args, *systems.values(), args.key):
        return bp.evaluate(systems, args.key, progress=files.at_terminal(), **options)
    loaded = {name: files.load_labelled(args, file) for name, file in systems.items()}
    scores = {name: found for name, (found, _) in loaded.items()}
    is_tandem = args.plan is not None and bp.evaluation.PLANS[args.plan].detectors == 2
    if is_tandem:
        # There is no tandem without spoofs.
        args.spoof = args.spoof or "keep"
    key = files.load_key(args)
    if is_tandem and "cm" in scores:
        scores["cm"] = files.score_trials(scores["cm"], key)
    options |= {"speakers": speakers_of(args.speakers, key), "rng": args.seed}
    watched = files.at_terminal() and len(systems) > 1
    found = bp.evaluate(scores, key, progress=watched, **options)
    said = [
        attrs.evolve(note, about=name)
        for name, (_, own) in loaded.items()
        for note in ([] if own is None else contradiction(own, key))
    ]
    return attrs.evolve(found, notes=(*found.notes, *said))


def _judge_lists(args: argparse.Namespace, options: Settings) -> bp.Evaluation:
    """Evaluate the scores of targets and of non-targets in two files."""
    if None in (args.tar, args.non) or args.scores or args.key:
        raise UsageError("--tar and --non go together, without SCORES and --key")
    ((name, tar),) = files.named_files([args.tar]).items()
    ((_, non),) = files.named_files([args.non]).items()
    lists = files.load_numbers(args, tar), files.load_numbers(args, non)
    if args.base is not None:
        lists = lists[0] * math.log(args.base), lists[1] * math.log(args.base)
    return bp.evaluate({name: lists}, **options)


def evaluate(args: argparse.Namespace) -> None:
    """Evaluate systems."""
    import attrs

    form = files.table_form(args)
    found = judge(args)
    # The notes below the table name options of the command.
    told = (attrs.evolve(note, text=in_options(note.text, args)) for note in found.notes)
    files.emit_table(attrs.evolve(found, notes=tuple(told)), args, form)


# What systems are compared by, and its metric.
STATISTICS = {
    **{"eer": "EER", "min_dcf": "MinDCF", "act_dcf": "ActDCF"},
    **{"min_cllr": "MinCllr", "cllr": "Cllr", "auc": "AUC"},
}


def statistic_of(name: str, point: float | bp.OperatingPoint) -> AnyMetric:
    """Return what is compared, at an operating point if it has one."""
    metric: Callable[..., AnyMetric] = getattr(bp.uncertainty, STATISTICS[name])
    return metric(point) if name.endswith("dcf") else metric()


def compare(args: argparse.Namespace) -> None:
    """Compare each pair of systems by a test."""
    refuse(
        ("systems are compared at one --prior", len(args.prior) > 1),
        ("give at least two systems", len(args.scores) < 2),
    )
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


def case(args: argparse.Namespace) -> None:
    """Compute the likelihood-ratio of one comparison."""
    key = files.load_key(args)
    found = bp.case_llr(
        args.score * (1.0 if args.base is None else math.log(args.base)),
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


# Plots of the ranks of scores, which need no calibration.
_OF_RANKS = ("det", "histogram")
# Plots in which no operating point is marked.
_UNMARKED = ("tippett", "ece", "pav")


def plot(args: argparse.Namespace) -> None:
    """Draw a plot of some kind."""
    kind = args.kind
    refuse(
        (f"--prior marks nothing in a plot {kind}", args.prior and kind in _UNMARKED),
        (f"a plot {kind} has one --prior", len(args.prior) > 1 and kind in ("det", "reliability")),
        (f"a plot {kind} has no intervals", (args.speakers or args.bootstrap) and kind != "forest"),
    )
    if args.conditions and args.of is None and args.kind in ("det", "bayes"):
        files.say("each curve is of equalised conditions; --of SYSTEM draws them")
    args.plan = None
    # A title is no formula.
    title = None if args.title is None else printable(args.title).replace("$", r"\$")
    options: Settings = {} if title is None else {"title": title}
    if args.prior and args.kind == "det":
        options["marks"] = ("eer", "dr30", "min", "act")
    if args.prior and args.kind == "reliability":
        options["prior"] = args.prior[0]
    if args.kind in _OF_RANKS:
        warnings.filterwarnings("ignore", "not calibrated", SuspectScoresWarning)
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
