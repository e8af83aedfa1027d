"""The subcommands that train and apply maps of scores: calibrate, fuse."""

from __future__ import annotations

import argparse
from typing import Any

import bosaris_py as bp
from bosaris_py.cli.files import are_large, load_key, load_scores, of_trials, save_as
from bosaris_py.cli.options import UsageError, named_files
from bosaris_py.cli.printing import at_terminal, emit, say


def _check_training(args: argparse.Namespace) -> None:
    """Refuse options that neither train nor apply."""
    if bool(args.training) != (args.key is not None):
        raise UsageError("SCORES and --key go together: they train")
    if not args.training and args.model is None:
        raise UsageError("give SCORES and --key to train, or --model to apply what was trained")
    if bool(args.apply) != (args.output is not None):
        raise UsageError("--apply and --output go together")
    unset: dict[str, object] = {"prior": [], "objective": "cllr", "ridge": None, "method": "linear"}
    given = [f"--{name}" for name, value in unset.items() if getattr(args, name, value) != value]
    if given and not args.training:
        raise UsageError(f"SCORES and --key are missing: {', '.join(given)} is for training")
    if args.model is None and not args.apply:
        raise UsageError("say what is to become of the training: --model, --apply or both")


def _train(args: argparse.Namespace, cls: Any) -> Any:
    """Train a map on files, in blocks if they are large, and save it if that is asked for."""
    if cls is bp.LinearFusion and args.spoof == "keep":
        return _train_spoof_aware(args)
    is_fusion = cls is bp.LinearFusion
    if not is_fusion and len(args.training) > 1:
        raise UsageError("a calibration has one file of scores; `bosaris fuse` joins several")
    named = named_files(args.training)
    files = list(named.values())
    settings: dict[str, Any] = {}
    if cls is bp.PAVCalibration:
        if args.prior or args.objective != "cllr" or args.ridge is not None:
            raise UsageError("--method pav has no --prior, --objective and --ridge")
    else:
        if len(args.prior) > 1:
            raise UsageError("a training has one --prior")
        settings = {"prior": args.prior[0] if args.prior else 0.5, "objective": args.objective}
        # That of a bounded calibration is the recommended one.
        if args.ridge is not None or cls is not bp.BoundedCalibration:
            settings["ridge"] = args.ridge or 0.0
    if hasattr(cls, "fit_files") and are_large(args, *files, args.key):
        source = named if is_fusion else files[0]
        model = cls.fit_files(source, args.key, **settings, progress=at_terminal())
    else:
        key = load_key(args)
        scores = {name: load_scores(args, file) for name, file in named.items()}
        model = cls.fit_scores(
            scores if is_fusion else next(iter(scores.values())), key, **settings
        )
    if args.model is not None:
        model.save(args.model)
    return model


def _train_spoof_aware(args: argparse.Namespace) -> Any:
    """Train a fusion of a verifier and a countermeasure, and save it if that is asked for."""
    if args.prior or args.objective != "cllr":
        raise UsageError("with --spoof keep, --costs take the place of --prior and --objective")
    scores = {name: load_scores(args, file) for name, file in _both(args.training).items()}
    key = load_key(args)
    model = bp.SASVFusion.fit(
        key,
        asv=scores["asv"],
        cm=of_trials(scores["cm"], key),
        costs=args.costs or "ASVspoof5",
        ridge=0.0 if args.ridge is None else args.ridge,
    )
    if args.model is not None:
        model.save(args.model)
    return model


def _both(given: list[str]) -> dict[str, str]:
    """Return the files of a verifier and a countermeasure by these names."""
    systems = named_files(given)
    if set(systems) != {"asv", "cm"}:
        raise UsageError(
            "a fusion with --spoof keep has two files, asv=FILE and cm=FILE; got "
            f"{', '.join(systems)}"
        )
    return systems


_METHODS = {"linear": "LinearCalibration", "bounded": "BoundedCalibration", "pav": "PAVCalibration"}


def calibrate(args: argparse.Namespace) -> None:
    """Train a calibration, apply one, or both."""
    _check_training(args)
    model = (
        _train(args, getattr(bp, _METHODS[args.method]))
        if args.training
        else bp.read_model(args.model)
    )
    if args.apply:
        _apply_calibration(args, model)
    # Last: a reader of the output that goes away must not cost the files.
    emit(repr(model))


def _apply_calibration(args: argparse.Namespace, model: object) -> None:
    if len(args.apply) > 1:
        raise UsageError("a calibration is of one system: --apply takes one file")
    (file,) = named_files(args.apply).values()
    if isinstance(model, bp.LinearCalibration) and are_large(args, file):
        model.apply_file(file, args.output, ndx_file=args.trials, progress=at_terminal())
        return
    if not isinstance(model, bp.LinearCalibration | bp.BoundedCalibration | bp.PAVCalibration):
        raise UsageError(f"{args.model} is no calibration: {model!r}")
    scores = load_scores(args, file)
    if args.trials is not None:
        scores = scores.align_with_ndx(bp.read_trials(args.trials))
    save_as(model.apply(scores), args.output, args.to)


def _systems_in_order(given: list[str], trained: tuple[str, ...] | None) -> list[str]:
    """Return the files to fuse in the order of the training; refuse names that are not of it."""
    systems = named_files(given)
    names = list(systems)
    if trained is None or len(names) != len(trained):
        return list(systems.values())
    if set(names) == set(trained):
        return [systems[name] for name in trained]
    # Files may have any name, but what is called NAME=FILE must be what was trained on.
    explicit = [
        name if systems[name] != text else "" for name, text in zip(names, given, strict=True)
    ]
    if any(name not in ("", old) for name, old in zip(explicit, trained, strict=True)):
        raise UsageError(
            f"the fusion was trained on {', '.join(trained)}, in this order; --apply has "
            f"{', '.join(names)}"
        )
    # Nothing but their places tells which system is which.
    say(
        "by place: "
        + ", ".join(
            f"{old} takes {systems[name]}" for old, name in zip(trained, names, strict=True)
        )
    )
    return list(systems.values())


def fuse(args: argparse.Namespace) -> None:
    """Train a fusion, apply one, or both."""
    _check_training(args)
    model = _train(args, bp.LinearFusion) if args.training else bp.read_model(args.model)
    if args.apply:
        _apply_fusion(args, model)
    emit(repr(model))


def _apply_fusion(args: argparse.Namespace, model: object) -> None:
    if not isinstance(model, bp.LinearFusion | bp.SASVFusion):
        raise UsageError(f"{args.model} is no linear or spoof-aware fusion: {model!r}")
    systems: dict[str, Any]
    if isinstance(model, bp.SASVFusion):
        systems = dict(sorted(_both(args.apply).items()))
    else:
        systems = {"score_files": _systems_in_order(args.apply, model.system_names)}
    files = systems.get("score_files", [*systems.values()])
    if args.trials is not None and are_large(args, *files, args.trials):
        where: dict[str, Any] = {"ndx_file": args.trials, "output_file": args.output}
        model.apply_files(**systems, **where, progress=at_terminal())
        return
    scores = [load_scores(args, file) for file in files]
    if args.trials is not None:
        trials = bp.read_trials(args.trials)
    else:
        trials, *others = map(lambda item: item.to_ndx(), scores)
        # Fusion itself refuses systems that lack trials of the first.
        if any(other.n_trials > trials.n_trials for other in others):
            counts = ", ".join(
                f"{part.n_trials} trials ({file})"
                for part, file in zip((trials, *others), files, strict=True)
            )
            message = f"the files to fuse have scores of {counts}: say which by --trials"
            raise bp.errors.TrialMismatchError(message)
    if isinstance(model, bp.SASVFusion):
        fused = model.apply(asv=scores[0], cm=of_trials(scores[1], trials), ndx=trials)
    else:
        fused = model.apply(scores, trials)
    save_as(fused, args.output, args.to)
