"""The subcommands that train and apply maps of scores: calibrate, fuse."""

from __future__ import annotations

import argparse
from typing import Any

import bosaris_py as bp
from bosaris_py.cli import files
from bosaris_py.cli.files import are_large, emit, load_key, load_scores, load_trials, named_files
from bosaris_py.cli.judging import speakers_of
from bosaris_py.cli.options import Settings, UsageError, refuse

# Options that say something of the training only.
_OF_TRAINING = ("prior", "objective", "ridge", "costs", "cross_fit", "speakers", "method")


def _check_training(args: argparse.Namespace) -> None:
    """Refuse options that do not go together, or that would change nothing."""
    trains, applies = bool(args.training), bool(args.apply or args.cross_fit)
    given = [f"--{name.replace('_', '-')}" for name in _OF_TRAINING if getattr(args, name, None)]
    refuse(
        ("SCORES and --key go together: they train", trains != bool(args.key)),
        ("give SCORES and --key to train, or --model to apply it", not (trains or args.model)),
        (f"SCORES and --key are missing: {', '.join(given)} is for training", given and not trains),
        ("a training has one --prior", len(args.prior) > 1),
        ("--cross-fit scores the trials of training: no --apply", args.cross_fit and args.apply),
        ("--speakers divides the trials for --cross-fit", args.speakers and not args.cross_fit),
        ("--output goes with --apply or --cross-fit", applies != bool(args.output)),
        ("name a file by --model, or what to score by --apply", not (args.model or args.output)),
    )


def _train(args: argparse.Namespace, model: Any, **settings: Any) -> Any:
    """Train a map on files; write it, or cross-fitted scores, if that is asked for."""
    named = named_files(args.training)
    is_one = not issubclass(model, bp.LinearFusion | bp.SASVFusion)
    if is_one and len(named) > 1:
        raise UsageError("a calibration has one file of scores; `bosaris fuse` joins several")
    settings |= {"prior": args.prior[0]} if args.prior else {}
    options = {"objective": args.objective, "ridge": args.ridge}
    settings |= {name: value for name, value in options.items() if value is not None}
    paths = list(named.values())
    can_read_blocks = hasattr(model, "fit_files") and not args.cross_fit
    if can_read_blocks and are_large(args, *paths, args.key):
        source = paths[0] if is_one else named
        trained = model.fit_files(source, args.key, progress=files.at_terminal(), **settings)
    else:
        key = load_key(args)
        systems: Settings = {name: load_scores(args, file) for name, file in named.items()}
        if model is bp.SASVFusion:
            systems["cm"] = files.score_trials(systems["cm"], key)
        scores = next(iter(systems.values())) if is_one else systems
        if args.cross_fit:
            who = {"speakers": speakers_of(args.speakers, key), "rng": args.seed}
            found = bp.cross_fit(model, scores, key, **who, **settings)
            files.save_as(found.scores, args.output, args.to)
            trained = found.final
        elif model is bp.SASVFusion:
            trained = model.fit(key, **systems, **settings)
        else:
            trained = model.fit_scores(scores, key, **settings)
    if args.model is not None:
        trained.save(args.model)
    return trained


def calibrate(args: argparse.Namespace) -> None:
    """Train a calibration, apply one, or both."""
    _check_training(args)
    methods: Settings = {
        "linear": bp.LinearCalibration,
        "bounded": bp.BoundedCalibration,
        "pav": bp.PAVCalibration,
    }
    if args.method == "pav" and (args.prior or args.objective or args.ridge is not None):
        raise UsageError("--method pav has no --prior, --objective and --ridge")
    model = (
        _train(args, methods[args.method or "linear"])
        if args.training
        else bp.read_model(args.model)
    )
    if not isinstance(model, tuple(methods.values())):
        raise UsageError(f"{args.model} is no calibration: {model!r}")
    if args.apply:
        _apply_calibration(args, model)
    # Last: a reader of the output that goes away must not cost the files.
    emit(repr(model))


def _apply_calibration(args: argparse.Namespace, model: Any) -> None:
    if len(args.apply) > 1:
        raise UsageError("a calibration is of one system: --apply takes one file")
    (file,) = named_files(args.apply).values()
    if hasattr(model, "apply_file") and are_large(args, file):
        model.apply_file(file, args.output, ndx_file=args.trials, progress=files.at_terminal())
        return
    scores = load_scores(args, file)
    if args.trials is not None:
        scores = scores.align_with_ndx(load_trials(args))
    files.save_as(model.apply(scores), args.output, args.to)


def fuse(args: argparse.Namespace) -> None:
    """Train a fusion, apply one, or both."""
    _check_training(args)
    if not args.training:
        model = bp.read_model(args.model)
    elif args.spoof == "keep":
        if args.prior or args.objective:
            raise UsageError("with --spoof keep, --costs take the place of --prior, --objective")
        _both(args.training)
        model = _train(args, bp.SASVFusion, costs=args.costs or "ASVspoof5")
    else:
        model = _train(args, bp.LinearFusion)
    if not isinstance(model, bp.LinearFusion | bp.SASVFusion):
        raise UsageError(f"{args.model} is no linear or spoof-aware fusion: {model!r}")
    if args.apply:
        _apply_fusion(args, model)
    emit(repr(model))


def _both(given: list[str]) -> dict[str, str]:
    """Return the files of a verifier and a countermeasure by these names."""
    systems = named_files(given)
    if set(systems) != {"asv", "cm"}:
        expected = "a fusion with --spoof keep has two files, asv=FILE and cm=FILE"
        raise UsageError(f"{expected}; got {', '.join(systems)}")
    return {name: systems[name] for name in ("asv", "cm")}


def _systems_in_order(given: list[str], trained: tuple[str, ...] | None) -> list[str]:
    """Return the files to fuse in the order of the training; refuse names that are not of it."""
    systems = named_files(given)
    names = list(systems)
    if trained is None or len(names) != len(trained):
        return list(systems.values())
    if set(names) == set(trained):
        return [systems[name] for name in trained]
    # Files may have any name, but what is called NAME=FILE must be what was trained on.
    pairs = zip(names, given, trained, strict=True)
    if any(systems[name] != text and name != old for name, text, old in pairs):
        told = f"the fusion was trained on {', '.join(trained)}, in this order"
        raise UsageError(f"{told}; --apply has {', '.join(names)}")
    # Nothing but their places tells which system is which.
    places = zip(trained, systems.values(), strict=True)
    files.say("by place: " + ", ".join(f"{old} takes {file}" for old, file in places))
    return list(systems.values())


def _apply_fusion(args: argparse.Namespace, model: Any) -> None:
    is_sasv = isinstance(model, bp.SASVFusion)
    systems: Settings = _both(args.apply) if is_sasv else {}
    paths = list(systems.values()) or _systems_in_order(args.apply, model.system_names)
    if args.trials is not None and are_large(args, *paths, args.trials):
        where: Settings = {"ndx_file": args.trials, "output_file": args.output}
        named = systems or {"score_files": paths}
        model.apply_files(**named, **where, progress=files.at_terminal())
        return
    scores = [load_scores(args, file) for file in paths]
    listed = [item.to_ndx() for item in scores]
    trials = listed[0] if args.trials is None else load_trials(args)
    # Fusion itself refuses systems that lack trials of the first.
    if args.trials is None and any(part.n_trials > trials.n_trials for part in listed):
        counts = zip(listed, paths, strict=True)
        told = ", ".join(f"{part.n_trials} trials ({file})" for part, file in counts)
        message = f"the files to fuse have scores of {told}: say which by --trials"
        raise bp.errors.TrialMismatchError(message)
    if is_sasv:
        fused = model.apply(asv=scores[0], cm=files.score_trials(scores[1], trials), ndx=trials)
    else:
        fused = model.apply(scores, trials)
    files.save_as(fused, args.output, args.to)
