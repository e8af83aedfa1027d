"""Subcommands that judge: evaluate, compare, case, plot, report."""

import argparse
import math
import re
import warnings
from pathlib import Path

import attrs

import bosaris_py as bp
from bosaris_py.cli import files
from bosaris_py.cli.options import Settings, UsageError, in_options, refuse
from bosaris_py.errors import InvalidInputError, SuspectScoresWarning, printable


def speakers_of(text: str | None, key: "bp.Key") -> "bp.trials.speakers.SpeakersLike":
    """Return who speaks: a map in a file, a pattern of ids, a column, or a pair of these."""
    if text is None:
        return None
    words, (models, segments) = text.split(","), (ids.tolist() for ids in key.ids)
    refuse(("--speakers takes one value, or two for models and segments", len(words) > 2))
    if len(words) == 1:
        return _speakers(text, models + segments, key)
    return _speakers(words[0], models, key), _speakers(words[1], segments, key)


def _speakers(word: str, ids: list[str], key: "bp.Key") -> "bp.trials.speakers.SpeakersOfSide":
    if not word.startswith("re:"):
        if Path(word).is_file():
            return bp.IdMap.read(word)
        if word and word not in ("model", "segment", *key.columns):
            text = f"--speakers: {word!r} is no file, nor a column of the key"
            raise InvalidInputError(f"{text} ({', '.join(key.columns) or 'it has none'}).")
        return word or None
    pattern = re.compile(word[3:])
    without = [name for name in ids if not pattern.search(name)]
    if len(without) == len(ids):
        text = f"--speakers: {word[3:]!r} matches none of the {len(ids)} ids, such as "
        raise InvalidInputError(f"{text}{', '.join(ids[:3])}.")
    if without:
        text = f"{word[3:]!r} does not match {len(without)} of {len(ids)} ids, such as {without[0]}"
        files.say(f"--speakers: {text}: each is a speaker of its own")
    # Its first group, or all that matches.
    return lambda name: found[min(1, pattern.groups)] if (found := pattern.search(name)) else name


def judge(args: argparse.Namespace) -> "bp.Evaluation":
    """Evaluate systems, in blocks if their files are large."""
    given = vars(args)
    names = ("prior", "eer", "plan", "cross_fit", "allow_missing", "conditions")
    options: Settings = {name: given[name] for name in names if given.get(name)}
    options |= {"replications": args.bootstrap} if args.bootstrap else {}
    if given.get("tar") or given.get("non"):
        return _judge_lists(args, options)
    systems = files.named_files(args.scores)
    in_blocks = not {*options} - {"prior", "eer", "allow_missing"} and not args.speakers
    if in_blocks and files.are_large(args, *systems.values(), args.key):
        return bp.evaluate(systems, args.key, progress=files.at_terminal(), **options)
    loaded = {name: files.load_labelled(args, file) for name, file in systems.items()}
    scores = {name: found for name, (found, _) in loaded.items()}
    is_tandem = "plan" in options and bp.PLANS[args.plan].detectors == 2
    # There is no tandem without spoofs.
    args.spoof = args.spoof or ("keep" if is_tandem else None)
    key = files.load_key(args)
    if is_tandem and "cm" in scores:
        scores["cm"] = files.score_trials(scores["cm"], key)
    options |= {"speakers": speakers_of(args.speakers, key), "rng": args.seed}
    options["progress"] = files.at_terminal() and len(systems) > 1
    found = bp.evaluate(scores, key, **options)
    notes = *found.notes, *bp.trials.scores.contradictions(loaded, key)
    shown = (attrs.evolve(note, text=in_options(note.text, args)) for note in notes)
    return attrs.evolve(found, notes=tuple(shown))


def _judge_lists(args: argparse.Namespace, options: Settings) -> "bp.Evaluation":
    """Evaluate the scores of targets and of non-targets in two files."""
    is_odd = None in (args.tar, args.non) or args.scores or args.key
    refuse(
        ("--tar and --non go together, without SCORES and --key", is_odd),
        ("--tar and --non name one file; FILE#COLUMN is a column of it", args.tar == args.non),
        ("--speakers needs a key", args.speakers),
    )
    named = [*files.named_files([args.tar]).items(), *files.named_files([args.non]).items()]
    places = [files.place_of_scores(args, path) for _, path in named]
    unit = math.log(args.base or math.e)
    tar, non = (unit * bp.trials.read.read_numbers(file, **how) for file, how in places)
    return bp.evaluate({named[0][0]: (tar, non)}, **options)


def evaluate(args: argparse.Namespace) -> None:
    """Evaluate systems."""
    found = judge(args)
    # The notes below the table name options of the command.
    shown = (attrs.evolve(note, text=in_options(note.text, args)) for note in found.notes)
    files.emit_table(attrs.evolve(found, notes=tuple(shown)), args)


def compare(args: argparse.Namespace) -> None:
    """Compare each pair of systems by a test."""
    refuse(
        ("systems are compared at one --prior", len(args.prior) > 1),
        ("--eer is a definition of --statistic eer", args.eer and args.statistic != "eer"),
    )
    unc, point = bp.uncertainty, args.prior[0] if args.prior else 0.01
    metrics: Settings = {"min_dcf": unc.MinDCF(point), "act_dcf": unc.ActDCF(point)}
    metrics |= {"eer": unc.EER(args.eer or "rocch"), "min_cllr": unc.MinCllr()}
    metrics |= {"cllr": unc.Cllr(), "auc": unc.AUC()}
    key, named = files.load_key(args), files.named_files(args.scores)
    systems = {name: files.load_scores(args, file) for name, file in named.items()}
    how: Settings = {"speakers": speakers_of(args.speakers, key), "conditions": args.conditions}
    files.emit_table(unc.compare_systems(systems, key, metrics[args.statistic], **how), args)


def case(args: argparse.Namespace) -> None:
    """Compute the likelihood-ratio of one comparison."""
    key = files.load_key(args)
    scores, base = files.load_scores(args, args.system), args.base or math.e
    how: Settings = {"propositions": (args.same, args.different), "reference": args.reference}
    how["speakers"] = speakers_of(args.speakers, key)
    found = attrs.evolve(bp.case_llr(math.log(base) * args.score, scores, key, **how), base=base)
    if args.table or str(args.output).endswith(".json"):
        files.emit_json(found.to_dict(), args.output)
    else:
        files.emit_table(found, args)


def plot(args: argparse.Namespace) -> None:
    """Draw a plot of some kind."""
    kind, is_forest = args.kind, args.kind == "forest"
    asked = (args.speakers or args.bootstrap) and not is_forest
    pooled = args.conditions and kind not in ("det", "bayes", "forest")
    bands = "bands are drawn by `bosaris report --bootstrap`"
    refuse(
        (f"--prior marks nothing in {kind}", args.prior and kind in ("tippett", "ece", "pav")),
        (f"a plot {kind} has one --prior", len(args.prior) > 1 and kind in ("det", "reliability")),
        (f"--speakers and --bootstrap are for a plot forest, not {kind}; {bands}", asked),
        (f"--conditions are for a plot det, bayes or forest, not {kind}", pooled),
        ("a plot forest shows intervals: it needs --speakers", is_forest and not args.speakers),
    )
    if args.conditions and args.of is None and args.scores and not is_forest:
        (args.of, *others) = files.named_files(args.scores)
        if others:
            args.of = None
            files.say("curves are of all trials pooled; --of SYSTEM draws those of its conditions")
    # A title is no formula.
    title = args.title and printable(args.title).replace("$", r"\$")
    options: Settings = {"title": title} if title else {}
    if args.prior and kind == "det":
        options["marks"] = ("eer", "dr30", "min", "act")
    if args.prior and kind == "reliability":
        options["prior"] = args.prior[0]
    if kind in ("det", "histogram"):
        # Ranks need no calibration.
        warnings.filterwarnings("ignore", "not calibrated", SuspectScoresWarning)
    judge(args).plot(kind, system=args.of, **options).save(args.output)


def report(args: argparse.Namespace) -> None:
    """Write a report."""
    if Path(args.output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"a report is HTML: --output must end in .html; got {args.output!r}")
    systems = files.named_files(args.scores).items()
    named = {f"scores of {name}": files.split_column(file)[0] for name, file in systems}
    named["key"] = args.key
    # What came from standard input has no name.
    named = {what: file for what, file in named.items() if file != args.copied}
    options = {x: y for x in ("title", "author", "laboratory", "validate") if (y := vars(args)[x])}
    judge(args).report(args.output, files=named, date=args.date, **options)
