"""The subcommands that train and apply maps of scores: calibrate, fuse."""

import argparse
from typing import Any

import bosaris_py as bp
from bosaris_py.cli import files
from bosaris_py.cli.evaluating import speakers_of
from bosaris_py.cli.files import are_large, emit, load_key, load_scores, load_trials, named_files
from bosaris_py.cli.options import Settings, UsageError, in_options, refuse

# A class of maps, or one of its maps.
Map = Any

# Options that say something of the training only.
_OF_TRAINING = ("prior", "objective", "ridge", "costs", "cross_fit", "speakers", "method")


def _check_training(args: argparse.Namespace) -> None:
    """Refuse options that do not go together, or that would change nothing."""
    trains, applies = bool(args.training), bool(args.apply or args.cross_fit)
    is_json = str(args.model or ".json").lower().endswith(".json")
    given = [f"--{name.replace('_', '-')}" for name in _OF_TRAINING if getattr(args, name, None)]
    refuse(
        ("SCORES and --key go together: they train", trains != bool(args.key)),
        ("give SCORES and --key to train, or --model to apply it", not (trains or args.model)),
        (f"SCORES and --key are missing: {', '.join(given)} is for training", given and not trains),
        ("a training has one --prior", len(args.prior) > 1),
        ("--cross-fit scores the trials of training: no --apply", args.cross_fit and args.apply),
        ("--speakers divides the trials for --cross-fit", args.speakers and not args.cross_fit),
        ("--output goes with --apply or --cross-fit", applies != bool(args.output)),
        (f"--model must end in .json; got {args.model!r}", trains and not is_json),
        ("name a file by --model, or what to score by --apply", not (args.model or args.output)),
    )


def _model(args: argparse.Namespace, kinds: Map, chosen: Map, **settings: Map) -> Map:
    """Return a map of some kinds: the chosen one trained and written, or that of a file."""
    model = _train(args, chosen, **settings) if args.training else bp.read_model(args.model)
    if not isinstance(model, kinds):
        raise UsageError(f"{args.model} is of another kind, which `bosaris info` shows")
    if args.training and args.model is not None:
        model.save(args.model)
    # What is applied is of other trials, if these are listed.
    args.key = args.key if args.trials is None else None
    return model


def _train(args: argparse.Namespace, model: Map, **settings: Map) -> Map:
    """Train a map on files; write cross-fitted scores, if that is asked for."""
    named = named_files(args.training)
    is_one = not issubclass(model, bp.LinearFusion | bp.SASVFusion)
    text = "a calibration has one file of scores; `bosaris fuse` joins several"
    refuse((text, is_one and len(named) > 1))
    settings |= {"prior": args.prior[0] if args.prior else None, "objective": args.objective}
    settings = {k: v for k, v in (settings | {"ridge": args.ridge}).items() if v is not None}
    in_blocks = hasattr(model, "fit_files") and not args.cross_fit
    if in_blocks and are_large(args, *named.values(), args.key):
        source = next(iter(named.values())) if is_one else named
        return model.fit_files(source, args.key, progress=files.at_terminal(), **settings)
    key = load_key(args)
    loaded = {name: files.load_labelled(args, file) for name, file in named.items()}
    bp.errors.warn(bp.trials.scores.contradictions(loaded, key))
    systems: Settings = {name: scores for name, (scores, _) in loaded.items()}
    if model is bp.SASVFusion:
        systems["cm"] = files.score_trials(systems["cm"], key)
    scores = next(iter(systems.values())) if is_one else systems
    if args.cross_fit:
        who = {"speakers": speakers_of(args.speakers, key), "rng": args.seed}
        found = bp.cross_fit(model, scores, key, **who, **settings)
        files.say(f"cross-fitted by {len(found.fold_of)} speakers")
        files.save_as(found.scores, args.output, args.to)
        return found.final
    if model is bp.SASVFusion:
        return model.fit(key, **systems, **settings)
    return model.fit_scores(scores, key, **settings)


def calibrate(args: argparse.Namespace) -> None:
    """Train a calibration, apply one, or both."""
    _check_training(args)
    if args.method == "pav" and (args.prior or args.objective or args.ridge is not None):
        raise UsageError("--method pav has no --prior, --objective and --ridge")
    linear = bp.BoundedCalibration if args.method == "bounded" else bp.LinearCalibration
    chosen = bp.PAVCalibration if args.method == "pav" else linear
    model = _model(args, bp.calibration.base.ScoreMap, chosen)
    if args.apply:
        _apply_calibration(args, model)
    # Last: a reader of the output that goes away must not cost the files.
    emit(repr(model))


def _apply_calibration(args: argparse.Namespace, model: Map) -> None:
    refuse(("a calibration is of one system: --apply takes one file", len(args.apply) > 1))
    (file,) = named_files(args.apply).values()
    if hasattr(model, "apply_file") and are_large(args, file):
        model.apply_file(file, args.output, ndx_file=args.trials, progress=files.at_terminal())
        return
    scores = load_scores(args, file)
    if args.trials is not None:
        trials = load_trials(args)
        bp.trials.scores.frame_among(scores, trials)
        scores = scores.align_with_ndx(trials)
    files.save_as(model.apply(scores), args.output, args.to)


def fuse(args: argparse.Namespace) -> None:
    """Train a fusion, apply one, or both."""
    _check_training(args)
    how: Settings = {"chosen": bp.LinearFusion}
    refuse(("--costs is for a fusion with --spoof keep", args.costs and args.spoof != "keep"))
    if args.training and args.spoof == "keep":
        text = "with --spoof keep, --costs take the place of --prior, --objective"
        refuse((text, args.prior or args.objective))
        _both(args.training)
        how = {"chosen": bp.SASVFusion, "costs": args.costs or "ASVspoof5"}
    model = _model(args, bp.LinearFusion | bp.SASVFusion, **how)
    if args.apply:
        _apply_fusion(args, model)
    emit(repr(model))


def _both(given: list[str]) -> dict[str, str]:
    """Return the files of a verifier and a countermeasure by these names."""
    systems = named_files(given)
    text = "a fusion with --spoof keep has two files, asv=FILE and cm=FILE"
    refuse((f"{text}; got {', '.join(systems)}", {*systems} != {"asv", "cm"}))
    return {name: systems[name] for name in ("asv", "cm")}


def _systems_in_order(args: argparse.Namespace, trained: tuple[str, ...] | None) -> list[str]:
    """Return the files to fuse in the order of the training; refuse names that are not of it."""
    given, systems = args.apply, named_files(args.apply)
    paths = list(systems.values())
    if trained is None or len(systems) != len(trained):
        return paths
    if set(systems) == set(trained):
        return [systems[name] for name in trained]
    # Files may have any name, but what is called NAME=FILE must be what was trained on.
    names = zip(systems.items(), given, trained, strict=True)
    text = f"the fusion was trained on {', '.join(trained)}, in this order"
    is_other = any(path != text and name != old for (name, path), text, old in names)
    refuse((f"{text}; --apply has {', '.join(systems)}", is_other))
    # Nothing but their places tells which system is which.
    by_place = ", ".join(f"{old} takes {file}" for old, file in zip(trained, paths, strict=True))
    files.say(in_options(f"by place: {by_place}", args))
    return paths


def _apply_fusion(args: argparse.Namespace, model: Map) -> None:
    is_sasv = isinstance(model, bp.SASVFusion)
    named = _both(args.apply) if is_sasv else {}
    paths = [*named.values()] or _systems_in_order(args, model.system_names)
    n_systems = 2 if is_sasv else model.n_systems
    text = f"the fusion was trained on {n_systems} systems; --apply names {len(paths)}"
    refuse((text, len(paths) != n_systems))
    if args.trials is not None and are_large(args, *paths, args.trials):
        where: Settings = {**named} or {"score_files": paths}
        where |= {"ndx_file": args.trials, "output_file": args.output}
        model.apply_files(**where, progress=files.at_terminal())
        return
    scores = [load_scores(args, file) for file in paths]
    trials = scores[0].to_ndx() if args.trials is None else load_trials(args)
    # Fusion itself refuses systems that lack trials of the first.
    if args.trials is None and any(part.n_trials > trials.n_trials for part in scores):
        text = f"the files to fuse have scores of other trials than {paths[0]}"
        raise bp.errors.TrialMismatchError(f"{text}: say which by --trials")
    if is_sasv:
        fused = model.apply(asv=scores[0], cm=files.score_trials(scores[1], trials), ndx=trials)
    else:
        fused = model.apply(scores, trials)
    files.save_as(fused, args.output, args.to)
