"""The command ``bosaris``: from files of scores to files of results, without a script.

Each subcommand calls one or two public functions and computes nothing itself. The parser is
argparse: it comes with Python, so that nothing more has to be installed where scores are judged,
and the subcommands need nothing that it lacks. Results go to the standard output; warnings, errors
and progress bars go to the standard error, a line each. The exit code is 0, 1 if the data or a
file is at fault, 2 if the command line is, 130 after Ctrl-C, and 141 if the reader of the output
went away.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

# The public names are imported when they are first used: --help waits for none of them.
import bosaris_py as bp
from bosaris_py._version import __version__
from bosaris_py.errors import BosarisError

# What a file is written as if its extension says so and no format is named.
_FORMAT_OF = {".csv": "csv", ".tsv": "nist"}

_PLOT_FILE = "figure to write: .pdf, .png or .svg"


class _UsageError(Exception):
    """Options that do not go together."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


# What options mean


def _points(text: str) -> list[Any]:
    """Return operating points: P_target, or P_target:C_miss:C_fa, separated by commas."""
    try:
        numbers = [[float(part) for part in point.split(":")] for point in text.split(",")]
        points = [bp.OperatingPoint(*point) for point in numbers]
    except (TypeError, ValueError) as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from None
    # A probability alone stays a number, as in a script.
    return [
        point.p_target if len(parts) == 1 else point
        for point, parts in zip(points, numbers, strict=True)
    ]


def _pairs(text: str) -> dict[str, str]:
    """Return what is written as ``name=value,name=value``."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(sign for _, sign, _ in pairs):
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE, separated by commas")
    return {name: value for name, _, value in pairs}


def _label_words(text: str) -> dict[str, Any]:
    """Return the meaning of words: target, nontarget, spoof or drop."""
    meanings = {"target": True, "nontarget": False, "spoof": "spoof", "drop": None}
    try:
        return {word: meanings[meaning] for word, meaning in _pairs(text).items()}
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"{error} is none of {', '.join(meanings)}") from None


def _column_names(text: str) -> Any:
    """Return columns from left to right, or names by role as in ``score=cosine``."""
    if "=" not in text:
        return text.replace(",", " ")
    return {role: name or None for role, name in _pairs(text).items()}


def _split_column(text: str) -> tuple[str, str]:
    """Return a file and the column of scores behind the sign #, "" if none is named."""
    path, _, column = text.rpartition("#")
    return (text, "") if not path or Path(text).exists() else (path, column)


def _systems(files: Iterable[str]) -> dict[str, str]:
    """Return files by the names of their systems: those given, or those of the files."""
    named: dict[str, str] = {}
    for text in files:
        name, sign, path = text.partition("=")
        if not sign or Path(text).exists():
            file, column = _split_column(text)
            base = Path(file).name.removesuffix(".gz")
            name, path = column or Path(base).stem, text
        if name in named:
            message = f"two systems are called {name!r}; name them: NAME=FILE"
            raise _UsageError(message)
        named[name] = path
    return named


# Reading and writing


def _at_terminal() -> bool:
    """Tell whether somebody watches the progress bars."""
    return sys.stderr is not None and sys.stderr.isatty()


def _text_options(args: argparse.Namespace, **others: Any) -> dict[str, Any]:
    """Return the keywords with which text files are read."""
    given = {"strip_suffix": args.strip_suffix, "side": args.side, "spoof": args.spoof, **others}
    options = {name: value for name, value in given.items() if value is not None}
    return {**options, "progress": _at_terminal()}


def _load_scores(args: argparse.Namespace, path: str) -> Any:
    file, column = _split_column(path)
    columns = {"score": column} if column else args.columns
    options = _text_options(args, format=args.format, columns=columns, labels=args.labels)
    return bp.trials.load_scores(file, **options)


def _load_key(args: argparse.Namespace) -> tuple[Any, Any]:
    options = {"format": args.key_format, "columns": args.key_columns, "labels": args.labels}
    key, metadata = bp.trials.load_key(args.key, **_text_options(args, **options))
    if getattr(args, "metadata", None):
        metadata = bp.TrialMetadata.read(args.metadata)
    return key, metadata


def _are_large(args: argparse.Namespace, *files: str | None) -> bool:
    """Tell whether files are so large that they must be read in blocks."""
    most = None if args.memory is None else args.memory * 1e9
    named = [_split_column(file)[0] for file in files if file is not None]
    return bp.trials.are_large(named, max_bytes=most)


def _emit(text: str, output: str | None = None) -> None:
    """Write text to the standard output, or into a file that appears when it is complete."""
    line = text if text.endswith("\n") else f"{text}\n"
    if output is not None:
        with bp.storage.atomic_write(output) as temporary:
            temporary.write_text(line, encoding="utf-8")
    elif sys.stdout is not None:
        sys.stdout.write(line)


def _emit_json(content: Any, output: str | None = None) -> None:
    _emit(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False), output)


def _text_format(output: str, named: str | None) -> str | None:
    """Return the text format that is named, or that the extension of a file stands for."""
    return named or _FORMAT_OF.get(Path(output.removesuffix(".gz")).suffix.lower())


def _save(found: Any, output: str, text_format: str | None, **parts: Any) -> None:
    """Write an object in a text format, or else as the extension of the file says."""
    text_format = _text_format(output, text_format)
    if text_format is None:
        found.save(output)
        return
    if isinstance(found, bp.TrialTable):
        table = found
    elif isinstance(found, bp.TrialMetadata):
        table = bp.to_table(found.trials, metadata=found)
    elif isinstance(found, bp.Scores | bp.FlatScores):
        table = bp.to_table(scores=found, **parts)
    else:
        table = bp.to_table(found)
    bp.storage.formats.write_table(output, table, text_format)


# The subcommands


def _info(args: argparse.Namespace) -> None:
    records = (_describe(args, path) for path in args.files)
    if args.json:
        _emit_json(list(records))
        return
    # One by one: what can be read is told before a bad file ends it.
    for record in records:
        _emit(f"{record['file']}: {record['format']}, {record['holds']}")


def _describe(args: argparse.Namespace, path: str) -> dict[str, Any]:
    """Say of what format a file is and what it holds."""
    binary = bp.trials.files.binary_kind(path)
    if binary is None and Path(path).suffix.lower() == ".json":
        return {"file": path, "format": "json", "holds": repr(bp.read_model(path))}
    if binary is None:
        text_format = args.format or bp.storage.formats.detect_format(path)
        options = _text_options(args, columns=args.columns, labels=args.labels)
        found: Any = bp.trials.load(path, **{"spoof": "nontarget", **options})
        return {"file": path, "format": text_format, "holds": repr(found)}
    kind = binary[1].removeprefix("flat_")
    if kind in ("scores", "key", "ndx") and _are_large(args, path):
        found, models, segments = bp.storage.rows.describe(path, kind)
        holds = f"{found.kind}: {models.size} models x {segments.size} segments, read in blocks"
        return {"file": path, "format": binary[0], "holds": holds}
    return {"file": path, "format": binary[0], "holds": repr(bp.trials.load(path))}


def _convert(args: argparse.Namespace) -> None:
    is_text = bp.trials.files.binary_kind(args.input) is None
    text_format = _text_format(args.output, args.to)
    words = {"format": args.format, "columns": args.columns, "labels": args.labels}
    options = _text_options(args, **words)
    content, parts = args.content, {}
    if args.key is not None:
        parts["trials"], metadata = _load_key(args)
        parts["metadata"] = metadata if metadata.names else None
        content = content or "scores"
    if is_text and not content:
        found: Any = bp.trials.load(args.input, **options)
        content = "scores" if found.scores is not None else "trials"
        content = "key" if content == "trials" and found.is_target is not None else content
    # From text to text, lines stay as they are.
    if not is_text or text_format is None or args.content or args.key or args.form:
        found = _loaders(content)(args.input, **options)
    if args.form is not None:
        found = getattr(found, f"to_{args.form}", lambda: found)()
    _save(found, args.output, args.to, **parts)


def _loaders(content: str | None) -> Callable[..., Any]:
    """Return what reads the scores, the key, its metadata, the trials or all of a file."""
    trials = bp.trials
    readers: dict[str | None, Callable[..., Any]] = {
        None: trials.load,
        "scores": trials.load_scores,
        "key": lambda path, **options: trials.load_key(path, **options)[0],
        "metadata": lambda path, **options: trials.load_key(path, **options)[1],
        "trials": trials.load_trials,
    }
    return readers[content]


def _check_training(args: argparse.Namespace) -> None:
    """Refuse options that neither train nor apply."""
    if bool(args.scores) != (args.key is not None):
        raise _UsageError("SCORES and --key go together: they train")
    if not args.scores and args.model is None:
        raise _UsageError("give SCORES and --key to train, or --model to apply what was trained")
    if bool(args.apply) != (args.output is not None):
        raise _UsageError("--apply and --output go together")
    if args.model is None and not args.apply:
        raise _UsageError("say what is to become of the training: --model, --apply or both")


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    if len(args.prior) > 1:
        raise _UsageError("a training has one --prior")
    prior = args.prior[0] if args.prior else 0.5
    return {"prior": prior, "objective": args.objective, "ridge": args.ridge}


def _train(args: argparse.Namespace, cls: Any) -> Any:
    """Train a map on files, in blocks if they are large, and save it if that is asked for."""
    is_fusion = cls is bp.LinearFusion
    if not is_fusion and len(args.scores) > 1:
        raise _UsageError("a calibration has one file of scores; `bosaris fuse` joins several")
    files = list(_systems(args.scores).values())
    settings = {} if cls is bp.PAVCalibration else _settings(args)
    if hasattr(cls, "fit_files") and _are_large(args, *files, args.key):
        source = files if is_fusion else files[0]
        model = cls.fit_files(source, args.key, **settings, progress=_at_terminal())
    else:
        key, _ = _load_key(args)
        scores = [_load_scores(args, file) for file in files]
        model = cls.fit_scores(scores if is_fusion else scores[0], key, **settings)
    if args.model is not None:
        model.save(args.model)
    return model


def _calibrate(args: argparse.Namespace) -> None:
    _check_training(args)
    cls = bp.PAVCalibration if args.method == "pav" else bp.LinearCalibration
    model = _train(args, cls) if args.scores else bp.read_model(args.model)
    _emit(repr(model))
    if args.apply is None:
        return
    if isinstance(model, bp.LinearCalibration) and _are_large(args, args.apply):
        model.apply_file(args.apply, args.output, ndx_file=args.trials, progress=_at_terminal())
        return
    if not isinstance(model, bp.LinearCalibration | bp.PAVCalibration):
        raise _UsageError(f"{args.model} is no calibration: {model!r}")
    scores = _load_scores(args, args.apply)
    if args.trials is not None:
        scores = scores.align_with_ndx(bp.trials.load_trials(args.trials))
    _save(model.apply(scores), args.output, args.to)


def _fuse(args: argparse.Namespace) -> None:
    _check_training(args)
    model = _train(args, bp.LinearFusion) if args.scores else bp.read_model(args.model)
    _emit(repr(model))
    if not args.apply:
        return
    if not isinstance(model, bp.LinearFusion):
        raise _UsageError(f"{args.model} is no linear fusion: {model!r}")
    files = list(_systems(args.apply).values())
    if args.trials is not None and _are_large(args, *files, args.trials):
        model.apply_files(files, args.trials, args.output, progress=_at_terminal())
        return
    scores = [_load_scores(args, file) for file in files]
    if args.trials is not None:
        trials = bp.trials.load_trials(args.trials)
    else:
        trials = bp.trials.scores.scored_ndx(scores[0])
    _save(model.apply(scores, trials), args.output, args.to)


def _speakers(text: str) -> Any:
    """Return who speaks: a map in a file, a pattern of ids, a column, or a pair of these."""

    def of_side(word: str) -> Any:
        if not word.startswith("re:"):
            return bp.IdMap.read(word) if Path(word).is_file() else word or None
        try:
            pattern = re.compile(word[3:])
        except re.error as error:
            message = f"--speakers: {error} in the pattern {word[3:]!r}"
            raise _UsageError(message) from error
        # Its first group, or all that matches; an id without a match is a speaker of its own.
        return lambda name: (
            found[min(1, pattern.groups)] if (found := pattern.search(name)) else name
        )

    sides = tuple(map(of_side, text.split(",")))
    return sides[0] if len(sides) == 1 else sides


def _judged_by(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options that evaluate and compare have in common."""
    speakers = None if args.speakers is None else _speakers(args.speakers)
    return {"speakers": speakers, "rng": args.seed}


def _evaluate(args: argparse.Namespace) -> None:
    systems, options = _systems(args.scores), {}
    if args.prior:
        options["priors"] = args.prior
    needs_trials = args.plan or args.conditions or args.speakers or args.bootstrap
    if not needs_trials and _are_large(args, *systems.values(), args.key):
        found = bp.evaluate_files(systems, args.key, **options, progress=_at_terminal())
    else:
        found = bp.evaluate(
            {name: _load_scores(args, file) for name, file in systems.items()},
            _load_key(args),
            plan=args.plan,
            conditions=args.conditions,
            replications=args.bootstrap,
            **_judged_by(args),
            **options,
        )
    _emit(_table_text(found, args.table), args.output)


def _table_text(table: Any, form: str | None) -> str:
    """Return a table as it prints, or in the format that is asked for."""
    text: str = repr(table) if form is None else getattr(table, f"to_{form}")()
    return text


_STATISTICS: Mapping[str, Callable[[Any], Any]] = {
    "eer": lambda point: bp.uncertainty.EER(),
    "min_dcf": lambda point: bp.uncertainty.MinDCF(point, normalize=True),
    "act_dcf": lambda point: bp.uncertainty.ActDCF(point, normalize=True),
    "min_cllr": lambda point: bp.uncertainty.MinCllr(),
    "cllr": lambda point: bp.uncertainty.Cllr(),
    "auc": lambda point: bp.uncertainty.AUC(),
}


def _compare(args: argparse.Namespace) -> None:
    if len(args.prior) > 1:
        raise _UsageError("systems are compared at one --prior")
    key, metadata = _load_key(args)
    conditions = metadata.conditions(*args.conditions) if args.conditions else None
    found = bp.uncertainty.compare_systems(
        {name: _load_scores(args, file) for name, file in _systems(args.scores).items()},
        (key, metadata),
        _STATISTICS[args.statistic](args.prior[0] if args.prior else 0.01),
        conditions=conditions,
        replications=args.bootstrap,
        progress=_at_terminal(),
        **_judged_by(args),
    )
    _emit(_table_text(found, args.table), args.output)


def _results(args: argparse.Namespace) -> dict[str, Any]:
    """Judge each system, in blocks if its file is large."""
    systems, found = _systems(args.scores), {}
    conditions = None
    if args.conditions or not _are_large(args, *systems.values(), args.key):
        key, metadata = _load_key(args)
        if args.conditions:
            conditions = metadata.conditions(*args.conditions)
        for name, file in systems.items():
            found[name] = bp.Results.from_scores(_load_scores(args, file), key, conditions)
    else:
        for name, file in systems.items():
            found[name] = bp.Results.from_files(file, args.key, progress=_at_terminal())
    return found


def _det(args: argparse.Namespace) -> None:
    plot = bp.DETPlot(args.window, args.title)
    for name, results in _results(args).items():
        plot.set_system_from_results(results, name)
        plot.plot_steppy_det(label="")
        for point in args.prior:
            plot.plot_mindcf_point(point)
    plot.display_legend()
    plot.save(args.output)


def _bayes(args: argparse.Namespace) -> None:
    plot = bp.BayesPlot((*args.range, 0.0, 1.2), args.title)
    for name, results in _results(args).items():
        plot.set_system_from_results(results, name)
        plot.plot_dcf_curve_act(label="")
        plot.plot_dcf_curve_min()
    for point in args.prior:
        plot.plot_operating_point(
            point if isinstance(point, bp.OperatingPoint) else bp.logit(point)
        )
    plot.display_legend()
    plot.save(args.output)


def _primary_cost(args: argparse.Namespace) -> None:
    cost = bp.primary_cost_of_files(
        args.scores,
        args.key,
        args.plan,
        score_format=args.format,
        key_format=args.key_format,
        only=args.only,
        compatibility=args.compatibility,
    )
    if args.json:
        _emit_json(cost.to_dict(), args.output)
    else:
        _emit(str(cost), args.output)


# The parser


def _add_text_options(parser: argparse.ArgumentParser, *, key: bool = True) -> None:
    group = parser.add_argument_group("text files", "needed only where a format is not recognised")
    group.add_argument("--format", metavar="NAME", help="format of the scores; see docs/formats")
    group.add_argument(
        "--columns",
        type=_column_names,
        metavar="NAMES",
        help="columns from left to right (model,segment,score,label,-), or the names in the "
        "header of those with unusual ones (score=cosine)",
    )
    if key:
        group.add_argument("--key-format", metavar="NAME", help="format of the key")
        group.add_argument("--key-columns", type=_column_names, metavar="NAMES")
    group.add_argument(
        "--labels",
        type=_label_words,
        metavar="WORD=MEANING",
        help="what labels mean: target, nontarget, spoof or drop (same=target,different=nontarget)",
    )
    group.add_argument("--strip-suffix", metavar="TEXT", help="take this off the end of ids: .wav")
    group.add_argument("--side", choices=("column", "join", "ignore"), help="sides of calls")
    group.add_argument("--spoof", choices=("error", "nontarget", "drop"), help="the third class")
    parser.add_argument(
        "--memory",
        type=float,
        metavar="GB",
        help="read HDF5 files in blocks if they take more (default: half of the memory)",
    )


def _add_systems(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scores",
        nargs="+",
        metavar="SCORES",
        help="of each system FILE, NAME=FILE, or NAME=FILE#COLUMN",
    )
    parser.add_argument("--key", required=True, metavar="FILE", help="which trials are targets")
    parser.add_argument("--metadata", metavar="FILE", help="columns about the trials (.h5)")
    parser.add_argument(
        "--conditions",
        type=lambda text: text.split(","),
        metavar="COLUMN[,COLUMN]",
        help="weigh the conditions alike that these columns of key or metadata make",
    )
    _add_points(parser)
    _add_text_options(parser)


def _add_points(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--prior",
        type=_points,
        action="extend",
        default=[],
        metavar="P[:C_MISS:C_FA]",
        help="operating points, separated by commas: probability of a target, costs",
    )


def _add_output(parser: argparse.ArgumentParser, **options: Any) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", **options)


def _add_training(parser: argparse.ArgumentParser, *, many: bool) -> None:
    parser.add_argument("scores", nargs="*", metavar="SCORES", help="scores to train on")
    parser.add_argument("--key", metavar="FILE", help="which of their trials are targets")
    parser.add_argument("--model", metavar="FILE", help=".json: written if trained, else read")
    parser.add_argument(
        "--apply", nargs="+" if many else None, metavar="SCORES", help="scores to turn into llrs"
    )
    _add_output(parser, help="file of the llrs: .h5, .mat, .txt, .csv, .tsv")
    parser.add_argument("--to", metavar="NAME", help="text format of the llrs")
    parser.add_argument("--trials", metavar="FILE", help="trials to write: an Ndx or a key")
    _add_points(parser)
    parser.add_argument("--objective", default="cllr", help="cllr (default), brier or boost")
    parser.add_argument("--ridge", type=float, default=0.0, help="strength of a ridge penalty")
    _add_text_options(parser)


def _add_judging(parser: argparse.ArgumentParser, replications: int) -> None:
    _add_systems(parser)
    parser.add_argument(
        "--speakers",
        metavar="WHO[,WHO]",
        help="speakers of models and of segments: a column, a file of pairs (id, speaker), or "
        "re:PATTERN whose group is the speaker in an id",
    )
    parser.add_argument(
        "--bootstrap",
        type=int,
        default=replications,
        metavar="N",
        help="replicates of a bootstrap by speaker (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="of random numbers (default: 0)")
    forms = parser.add_mutually_exclusive_group()
    for form in ("json", "csv", "markdown", "latex"):
        words: dict[str, Any] = {
            "action": "store_const",
            "const": form,
            "help": f"write {form}, all digits",
        }
        forms.add_argument(f"--{form}", dest="table", **words)
    _add_output(parser, help="write into a file")


def _evaluate_options(parser: argparse.ArgumentParser) -> None:
    _add_judging(parser, 0)
    parser.add_argument("--plan", metavar="NAME", help="add its published cost: SRE18-CMN2, ...")


def _compare_options(parser: argparse.ArgumentParser) -> None:
    _add_judging(parser, 2000)
    parser.add_argument("--statistic", choices=_STATISTICS, default="eer", help="default: eer")


def _info_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="write JSON")
    _add_text_options(parser, key=False)


def _convert_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="INPUT")
    parser.add_argument("output", metavar="OUTPUT", help=".h5, .mat, .txt, .csv, .tsv")
    parser.add_argument("--to", metavar="NAME", help="text format to write; see docs/formats")
    parser.add_argument(
        "--content", choices=("scores", "key", "trials", "metadata"), help="what to take"
    )
    parser.add_argument("--key", metavar="FILE", help="write its trials and labels with scores")
    parser.add_argument("--form", choices=("flat", "dense"), help="a list of trials or a matrix")
    _add_text_options(parser)


def _calibrate_options(parser: argparse.ArgumentParser) -> None:
    _add_training(parser, many=False)
    parser.add_argument("--method", choices=("linear", "pav"), default="linear")


def _fuse_options(parser: argparse.ArgumentParser) -> None:
    _add_training(parser, many=True)


def _det_options(parser: argparse.ArgumentParser) -> None:
    _add_systems(parser)
    _add_output(parser, required=True, help=_PLOT_FILE)
    parser.add_argument("--window", default="old", help="new, old (default), big or sre10")
    parser.add_argument("--title")


def _bayes_options(parser: argparse.ArgumentParser) -> None:
    _add_systems(parser)
    _add_output(parser, required=True, help=_PLOT_FILE)
    parser.add_argument(
        "--range",
        type=float,
        nargs=2,
        default=(-10.0, 0.0),
        metavar=("LOW", "HIGH"),
        help="prior log-odds to show",
    )
    parser.add_argument("--title")


def _primary_cost_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scores", metavar="SCORES", help="file of scores")
    parser.add_argument("--key", required=True, metavar="FILE", help="which trials are targets")
    parser.add_argument("--plan", required=True, metavar="NAME", help="SRE18-CMN2, VoxSRC, ...")
    parser.add_argument(
        "--only", type=_pairs, metavar="COLUMN=VALUE", help="judge only trials with this value"
    )
    parser.add_argument(
        "--compatibility", choices=("nist",), help="with the quirks of NIST's scorer"
    )
    parser.add_argument("--json", action="store_true", help="write JSON")
    _add_output(parser, help="write into a file")
    parser.add_argument("--format", metavar="NAME", help="format of the scores")
    parser.add_argument("--key-format", metavar="NAME", help="format of the key")


# Function, its options, what it does, and examples.
_COMMANDS: Mapping[str, tuple[Callable[..., None], Callable[..., None], str, str]] = {
    "info": (
        _info,
        _info_options,
        "say what files hold",
        "bosaris info key.tsv scores.h5 fusion.json",
    ),
    "convert": (
        _convert,
        _convert_options,
        "write a file in another format",
        "bosaris convert scores.txt scores.h5\n"
        "bosaris convert key.h5 key.tsv\n"
        "bosaris convert scores.h5 scores.txt --key key.h5 --to speechbrain-scores",
    ),
    "evaluate": (
        _evaluate,
        _evaluate_options,
        "judge systems: a table of their figures",
        "bosaris evaluate A=a.txt B=b.txt --key key.tsv --prior 0.01,0.05\n"
        "bosaris evaluate a.h5 b.h5 --key key.tsv --speakers gender --bootstrap 2000 --json\n"
        "bosaris evaluate X=scores.csv#xvector E=scores.csv#ecapa --key scores.csv",
    ),
    "compare": (
        _compare,
        _compare_options,
        "compare each pair of systems by a test",
        "bosaris compare a.h5 b.h5 --key key.h5 --statistic min_dcf --prior 0.01 \\\n"
        "    --speakers models.txt,segments.txt",
    ),
    "calibrate": (
        _calibrate,
        _calibrate_options,
        "turn scores into log-likelihood-ratios",
        "bosaris calibrate dev.txt --key dev_key.txt --model calibration.json\n"
        "bosaris calibrate --model calibration.json --apply eval.txt -o llrs.h5",
    ),
    "fuse": (
        _fuse,
        _fuse_options,
        "join the scores of several systems",
        "bosaris fuse dev_a.h5 dev_b.h5 --key dev_key.h5 --model fusion.json \\\n"
        "    --apply eval_a.h5 eval_b.h5 -o fused.h5\n"
        "bosaris fuse --model fusion.json --apply new_a.h5 new_b.h5 -o new.h5",
    ),
    "det": (
        _det,
        _det_options,
        "draw a DET plot",
        "bosaris det A=a.h5 B=b.h5 --key key.h5 -o det.pdf --prior 0.01",
    ),
    "bayes": (
        _bayes,
        _bayes_options,
        "draw a Bayes error-rate plot",
        "bosaris bayes A=a.h5 B=b.h5 --key key.h5 -o bayes.pdf --range -6 2",
    ),
    "primary-cost": (
        _primary_cost,
        _primary_cost_options,
        "compute the cost that an evaluation publishes",
        "bosaris primary-cost output.tsv --key key.tsv --plan SRE18-CMN2",
    ),
}


def _make_parser() -> _Parser:
    description = "Calibrate, fuse and judge detectors whose scores are log-likelihood-ratios."
    parser = _Parser(prog="bosaris", description=description)
    parser.add_argument("--version", action="version", version=f"bosaris_py {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (run, add_options, purpose, examples) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=purpose,
            description=f"{purpose[0].upper()}{purpose[1:]}.",
            epilog="examples:\n" + "".join(f"  {line}\n" for line in examples.splitlines()),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        add_options(command)
        command.set_defaults(run=run, parser=command)
    return parser


# Running


def _say(text: object) -> None:
    """Write one line to the standard error."""
    if sys.stderr is not None:
        sys.stderr.write(f"bosaris: {' '.join(str(text).split())}\n")


def _describe_error(error: Exception) -> str:
    """Return the message of an error, without the number that the system gives it."""
    if isinstance(error, OSError) and error.strerror and not isinstance(error, BosarisError):
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit code: 0, 1 if the data or a file is at fault, 2 if the arguments are, 130 if
        interrupted, 141 if nobody reads the output any more.

    Examples
    --------
    >>> main(["--version"])
    bosaris_py ...
    0
    """
    shown = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            _say(f"warning: {message}")

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            args = _make_parser().parse_args(argv)
            args.run(args)
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as stop:
        return int(stop.code or 0)
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except BrokenPipeError:
        _drop_output()
        return 141
    except _UsageError as error:
        _say(f"error: {error} (see {args.parser.prog} --help)")
        return 2
    except MemoryError:
        _say("error: this takes more memory than there is; see --memory")
        return 1
    except (BosarisError, OSError) as error:
        _say(f"error: {_describe_error(error)}")
        _drop_output()
        return 1
    return 0


def _drop_output() -> None:
    """Drop what cannot be written, which Python would try again at its exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
