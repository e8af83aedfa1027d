"""The command ``bosaris``: from files of scores to files of results, without a script.

Each subcommand calls one or two public functions and computes nothing itself. The parser is
argparse: it comes with Python, so that nothing more has to be installed where scores are evaluated,
and the subcommands need nothing that it lacks. Results go to the standard output; warnings, errors
and progress bars go to the standard error, a line each. The exit code is 0 when all is done, 1 if
the data or a file is at fault, 2 if the command line is. It is 3 if the answer to what was asked is
no, 130 after Ctrl-C, and 141 if the reader of the output went away. No error has a traceback,
unless the environment variable ``BOSARIS_DEBUG`` is 1.
"""

from __future__ import annotations

import argparse
import errno
import io
import json
import os
import re
import stat
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

# The public names are imported when they are first used: --help waits for none of them.
import bosaris_py as bp
from bosaris_py import errors
from bosaris_py._version import __version__
from bosaris_py.errors import BosarisError, as_keyword, as_message

# What a file is written as if its extension says so and no format is named.
_FORMAT_OF = {".csv": "csv", ".tsv": "nist"}
_TABLE_OF = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex"}
_TABLES = tuple(_TABLE_OF.values())


class _UsageError(Exception):
    """Options that do not go together."""


class _AnswerIsNo(Exception):
    """What was asked for was found not to be so."""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse what is none of the choices, and name the one that it may have been."""
        if action.choices is not None and value not in action.choices:
            from bosaris_py._validation import nearest

            known = [str(choice) for choice in action.choices]
            meant = f" {nearest(str(value), known)}".rstrip()
            told = f"invalid choice: {value!r}.{meant} Choose from {', '.join(known)}"
            raise argparse.ArgumentError(action, told)

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse ignores that a disk is full.
        stream = file or sys.stderr
        if message and stream is not None:
            stream.write(message)


# What options mean


def _points(text: str) -> list[Any]:
    """Return operating points: P_target, or P_target:C_miss:C_fa, separated by commas."""
    try:
        numbers = [[float(part) for part in point.split(":")] for point in text.split(",")]
        points = [bp.OperatingPoint(*point) for point in numbers]
    except (TypeError, ValueError) as error:
        told = "a probability is written as 0.01, not 1%" if "%" in text else error
        raise argparse.ArgumentTypeError(f"{text!r}: {told}") from None
    # A probability alone stays a number, as in a script.
    return [
        point.p_target if len(parts) == 1 else point
        for point, parts in zip(points, numbers, strict=True)
    ]


def _size(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = -1.0
    if not size >= 0.0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of gigabytes")
    return size


def _ridge(text: str) -> Any:
    """Return the strength of a ridge, or the word for the recommended one."""
    if text == "weak":
        return text
    try:
        return float(text)
    except ValueError:
        message = f"{text!r}: expected a number, or weak"
        raise argparse.ArgumentTypeError(message) from None


def _names(text: str) -> list[str]:
    return text.split(",")


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
            name, path = column or bp.trials.files.name_of_file(file), text
        # A name that is not UTF-8 could not be written into tables and models.
        name = name.encode("utf-8", "backslashreplace").decode("utf-8")
        if name in named:
            raise _UsageError(f"two systems are called {name!r}; name them: NAME=FILE")
        named[name] = path
    return named


# Reading and writing


def _at_terminal() -> bool:
    """Tell whether somebody watches the progress bars."""
    return sys.stderr is not None and sys.stderr.isatty()


def _text_options(args: argparse.Namespace, **others: Any) -> dict[str, Any]:
    """Return the keywords with which text files are read."""
    names = ("strip_suffix", "side", "spoof", "missing")
    given = {**{name: getattr(args, name) for name in names}, **others}
    options = {name: value for name, value in given.items() if value is not None}
    return {**options, "progress": _at_terminal()}


def _load_scores(args: argparse.Namespace, path: str) -> Any:
    file, column = _split_column(path)
    columns = {"score": column} if column else args.columns
    options = _text_options(args, format=args.format, columns=columns, labels=args.labels)
    return bp.read_scores(file, **options)


def _load_key(args: argparse.Namespace, prefix: str = "") -> tuple[Any, Any]:
    options = {"format": args.key_format, "columns": args.key_columns, "labels": args.labels}
    path: str = getattr(args, f"{prefix}key")
    described = getattr(args, f"{prefix}metadata", None)
    key, metadata = bp.read_key(path, **_text_options(args, **options))
    if described:
        metadata = bp.TrialMetadata.read(described)
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
    elif sys.stdout is None:
        raise OSError(errno.EBADF, "the standard output is closed; name a file by --output")
    else:
        sys.stdout.write(line)


def _emit_json(content: Any, output: str | None = None) -> None:
    _emit(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False), output)


def _table_form(args: argparse.Namespace, *forms: str) -> str | None:
    """Return the form of a table that is asked for, or that the extension of the output says."""
    suffix = "" if args.output is None else Path(args.output).suffix.lower()
    if args.table is not None or suffix in ("", ".txt"):
        form: str | None = args.table
        return form
    known = {ending: form for ending, form in _TABLE_OF.items() if form in forms}
    if suffix not in known:
        raise _UsageError(
            f"--output must end in {', '.join(known)}, or .txt for the table as it is printed; "
            f"got {args.output!r}"
        )
    return known[suffix]


def _check_formats(args: argparse.Namespace) -> None:
    """Refuse an unknown format under the option that names it, before anything is trained."""
    for option in ("format", "key_format", "to"):
        if getattr(args, option, None):
            bp.storage.formats.catalogue.find_format(getattr(args, option), option)


def _text_format(output: str, named: str | None) -> str | None:
    """Return the text format that is named, or that the extension of a file stands for."""
    return named or _FORMAT_OF.get(Path(output.removesuffix(".gz")).suffix.lower())


# How files begin that this package wrote, by their first and last bytes: HDF5, .mat, JSON, reports,
# pictures, tables. Lists of trials look like those of any other program.
_OWN = re.compile(
    rb"(\x89HDF|MATLAB 5|<!doctype html).*bosaris_py|(\x89PNG|%PDF|%!PS|<\?xml).*matplotlib|"
    rb'{\s*"format": "bosaris_py\.|{\s*"table": \[|{\s*"plan": .*"fingerprint"|\[\s*{\s*"first": |'
    rb"(system|first),|\| (system|first) \||\\begin\{tabular\}|system [^\n]*\n-+\n|first +second "
    rb"|[^\n]*\nplan [0-9a-f]{8};",
    re.DOTALL | re.IGNORECASE,
)
_LOOKED_AT = 2**16


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse, before any work, to write into an input, or in place of what others wrote."""
    given = vars(args)
    systems = [given.get(name) or () for name in ("scores", "training", "apply")]
    files = [file for part in systems for file in _systems(part).values()]
    # A model is an input unless it is trained.
    model = "output" if given.get("training") else "input"
    names = ("input", "system", "key", "metadata", "trials", *["model"] * (model == "input"))
    names += ("dev", "test", "dev_key", "dev_metadata")
    names += ("asv", "cm")
    files += [given[name] for name in names if given.get(name)]
    inputs = [_split_column(file)[0] for file in files] + (given.get("speakers") or "").split(",")
    for file in inputs:
        if stat.S_ISFIFO(Path(file).stat().st_mode if Path(file).exists() else 0) and not (
            file.startswith("/dev/")
        ):
            _say(f"{file} is a pipe: waiting until something is written into it")
    names = ("target", "output", *["model"] * (model == "output"))
    outputs = {name: given[name] for name in names if given.get(name) is not None}
    if "" in outputs.values():
        raise _UsageError("an output needs the name of a file; got an empty text")
    if len(set(map(os.path.realpath, outputs.values()))) < len(outputs):
        raise _UsageError("--model and --output name one file")
    for name, path in outputs.items():
        option = f"--{name}".replace("--target", "OUTPUT")
        if read := bp.storage.atomic.same_file(path, inputs):
            raise _UsageError(f"{option} {path} is a file that is read: {read}; name another one")
        if bp.storage.atomic.try_output(path) and not args.force:
            with Path(path).open("rb") as stream:
                seen = stream.read(_LOOKED_AT)
                stream.seek(-min(_LOOKED_AT, stream.seek(0, os.SEEK_END)), os.SEEK_END)
                seen += stream.read()
            if not _OWN.match(seen):
                raise _UsageError(
                    f"{option} {path} exists, and is no table, picture, report, model, HDF5 or "
                    "MATLAB file that this program wrote; --force replaces it"
                )


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
    if args.table:
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
        # What columns or labels tell needs no detection.
        told = args.format or ("text" if args.columns or args.labels else None)
        text_format = told or bp.storage.formats.detect_format(path)
        words = {"format": args.format, "columns": args.columns, "labels": args.labels}
        options = _text_options(args, **words)
        found: Any = bp.trials.read_any(path, **{"spoof": "nontarget", **options})
        return {"file": path, "format": text_format, "holds": repr(found)}
    kind = binary[1].removeprefix("flat_")
    if kind in ("scores", "key", "ndx") and _are_large(args, path):
        found, models, segments = bp.storage.rows.describe(path, kind)
        with bp.storage.rows.FileReader(found) as reader:
            reader.verify()
        holds = f"{found.kind}: {models.size} models x {segments.size} segments, read in blocks"
        return {"file": path, "format": binary[0], "holds": holds}
    return {"file": path, "format": binary[0], "holds": repr(bp.trials.read_any(path))}


def _check(args: argparse.Namespace) -> None:
    scores = _load_scores(args, args.system)
    words = {"format": args.key_format, "columns": args.key_columns, "labels": args.labels}
    trials, _ = bp.read_trials(
        args.trials, **{"spoof": "nontarget", **_text_options(args, **words)}
    )
    found = bp.compare_trials(scores, trials)
    if args.table:
        _emit_json({"n_common": found.n_common, "problems": found.problems}, args.output)
    else:
        _emit("\n".join([found.lines[0], *found.problems]), args.output)
    if found.problems:
        raise _AnswerIsNo(f"{args.system} does not fit {args.trials}")


def _list(args: argparse.Namespace) -> None:
    named = {
        "plans": {name: plan.title for name, plan in bp.evaluation.PLANS.items()},
        "formats": {
            name: layout.description for name, layout in bp.storage.formats.FORMATS.items()
        },
    }[args.what]
    if args.table:
        _emit_json(named)
        return
    width = max(map(len, named))
    _emit("\n".join(f"{name:<{width}}  {text}" for name, text in named.items()))


def _convert(args: argparse.Namespace) -> None:
    is_text = bp.trials.files.binary_kind(args.input) is None
    text_format = _text_format(args.target, args.to)
    words = {"format": args.format, "columns": args.columns, "labels": args.labels}
    options = _text_options(args, **words)
    content, parts = args.content, {}
    if args.key is not None:
        parts["trials"], metadata = _load_key(args)
        parts["metadata"] = metadata if metadata.names else None
        content = content or "scores"
    if is_text and not content:
        found: Any = bp.trials.read_any(args.input, **options)
        content = "scores" if found.scores is not None else "trials"
        content = "key" if content == "trials" and found.is_target is not None else content
    # From text to text, lines stay as they are.
    if not is_text or text_format is None or args.content or args.key or args.form:
        found = _reader(content)(args.input, **options)
    if args.form is not None:
        found = getattr(found, f"to_{args.form}", lambda: found)()
    _save(found, args.target, args.to, **parts)


def _reader(content: str | None) -> Callable[..., Any]:
    """Return what reads the scores, the key, its metadata, the trials or all of a file."""
    readers: dict[str | None, Callable[..., Any]] = {
        None: bp.trials.read_any,
        "scores": bp.read_scores,
        "key": lambda path, **options: bp.read_key(path, **options)[0],
        "metadata": lambda path, **options: bp.read_key(path, **options)[1],
        "trials": lambda path, **options: bp.read_trials(path, **options)[0],
    }
    return readers[content]


def _check_training(args: argparse.Namespace) -> None:
    """Refuse options that neither train nor apply."""
    if bool(args.training) != (args.key is not None):
        raise _UsageError("SCORES and --key go together: they train")
    if not args.training and args.model is None:
        raise _UsageError("give SCORES and --key to train, or --model to apply what was trained")
    if bool(args.apply) != (args.output is not None):
        raise _UsageError("--apply and --output go together")
    if args.model is None and not args.apply:
        raise _UsageError("say what is to become of the training: --model, --apply or both")


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    if len(args.prior) > 1:
        raise _UsageError("a training has one --prior")
    prior = args.prior[0] if args.prior else 0.5
    ridge = 0.0 if args.ridge is None else args.ridge
    return {"prior": prior, "objective": args.objective, "ridge": ridge}


def _train(args: argparse.Namespace, cls: Any) -> Any:
    """Train a map on files, in blocks if they are large, and save it if that is asked for."""
    if cls is bp.LinearFusion and args.spoof == "keep":
        return _train_spoof_aware(args)
    is_fusion = cls is bp.LinearFusion
    if not is_fusion and len(args.training) > 1:
        raise _UsageError("a calibration has one file of scores; `bosaris fuse` joins several")
    named = _systems(args.training)
    files = list(named.values())
    settings = {} if cls is bp.PAVCalibration else _settings(args)
    if cls is bp.BoundedCalibration and args.ridge is None:
        # Its own ridge is the recommended one.
        del settings["ridge"]
    if hasattr(cls, "fit_files") and _are_large(args, *files, args.key):
        source = named if is_fusion else files[0]
        model = cls.fit_files(source, args.key, **settings, progress=_at_terminal())
    else:
        key, _ = _load_key(args)
        scores = {name: _load_scores(args, file) for name, file in named.items()}
        model = cls.fit_scores(
            scores if is_fusion else next(iter(scores.values())), key, **settings
        )
    if args.model is not None:
        model.save(args.model)
    return model


def _train_spoof_aware(args: argparse.Namespace) -> Any:
    """Train a fusion of a verifier and a countermeasure, and save it if that is asked for."""
    if args.prior or args.objective != "cllr":
        raise _UsageError("with --spoof keep, --costs take the place of --prior and --objective")
    scores = {name: _load_scores(args, file) for name, file in _both(args.training).items()}
    ridge = 0.0 if args.ridge is None else args.ridge
    key = _load_key(args)
    scores["cm"] = _of_trials(scores["cm"], key[0])
    model = bp.SASVFusion.fit(key, **scores, costs=args.costs, ridge=ridge)
    if args.model is not None:
        model.save(args.model)
    return model


def _of_trials(cm: Any, trials: Any) -> Any:
    """Return the scores of trials where a countermeasure scored utterances, and say so."""
    if cm.ids[0].size != 1 or cm.ids[0][0] in trials.ids[0]:
        return cm
    _say("the countermeasure scored utterances: each counts as often as it is in trials")
    return bp.trials.scores_of_segments(cm, trials)


def _both(given: list[str]) -> dict[str, str]:
    """Return the files of a verifier and a countermeasure by these names."""
    systems = _systems(given)
    if set(systems) != {"asv", "cm"}:
        raise _UsageError(
            "a fusion with --spoof keep has two files, asv=FILE and cm=FILE; got "
            f"{', '.join(systems)}"
        )
    return systems


def _calibrate(args: argparse.Namespace) -> None:
    _check_training(args)
    model = (
        _train(args, getattr(bp, _METHODS[args.method]))
        if args.training
        else bp.read_model(args.model)
    )
    if args.apply:
        _apply_calibration(args, model)
    # Last: a reader of the output that goes away must not cost the files.
    _emit(repr(model))


_METHODS = {"linear": "LinearCalibration", "bounded": "BoundedCalibration", "pav": "PAVCalibration"}


def _apply_calibration(args: argparse.Namespace, model: Any) -> None:
    if len(args.apply) > 1:
        raise _UsageError("a calibration is of one system: --apply takes one file")
    (file,) = _systems(args.apply).values()
    if isinstance(model, bp.LinearCalibration) and _are_large(args, file):
        model.apply_file(file, args.output, ndx_file=args.trials, progress=_at_terminal())
        return
    if not isinstance(model, bp.LinearCalibration | bp.BoundedCalibration | bp.PAVCalibration):
        raise _UsageError(f"{args.model} is no calibration: {model!r}")
    scores = _load_scores(args, file)
    if args.trials is not None:
        scores = scores.align_with_ndx(bp.read_trials(args.trials)[0])
    _save(model.apply(scores), args.output, args.to)


def _systems_in_order(given: list[str], trained: tuple[str, ...] | None) -> list[str]:
    """Return the files to fuse in the order of the training; refuse names that are not of it."""
    systems = _systems(given)
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
        raise _UsageError(
            f"the fusion was trained on {', '.join(trained)}, in this order; --apply has "
            f"{', '.join(names)}"
        )
    return list(systems.values())


def _fuse(args: argparse.Namespace) -> None:
    _check_training(args)
    model = _train(args, bp.LinearFusion) if args.training else bp.read_model(args.model)
    if args.apply:
        _apply_fusion(args, model)
    _emit(repr(model))


def _apply_fusion(args: argparse.Namespace, model: Any) -> None:
    if not isinstance(model, bp.LinearFusion | bp.SASVFusion):
        raise _UsageError(f"{args.model} is no linear or spoof-aware fusion: {model!r}")
    systems: dict[str, Any]
    if isinstance(model, bp.SASVFusion):
        systems = dict(sorted(_both(args.apply).items()))
    else:
        systems = {"score_files": _systems_in_order(args.apply, model.system_names)}
    files = systems.get("score_files", [*systems.values()])
    if args.trials is not None and _are_large(args, *files, args.trials):
        where: dict[str, Any] = {"ndx_file": args.trials, "output_file": args.output}
        model.apply_files(**systems, **where, progress=_at_terminal())
        return
    scores = [_load_scores(args, file) for file in files]
    if args.trials is not None:
        trials = bp.read_trials(args.trials, spoof="nontarget")[0]
    else:
        trials, *others = map(bp.trials.scores.scored_ndx, scores)
        # Fusion itself refuses systems that lack trials of the first.
        if any(other.n_trials > trials.n_trials for other in others):
            counts = ", ".join(str(part.n_trials) for part in (trials, *others))
            message = f"the files to fuse have scores of {counts} trials: say which by --trials"
            raise bp.errors.TrialMismatchError(message)
    if isinstance(model, bp.SASVFusion):
        fused = model.apply(asv=scores[0], cm=_of_trials(scores[1], trials), ndx=trials)
    else:
        fused = model.apply(scores, trials)
    _save(fused, args.output, args.to)


def _speakers(text: str, key: Any, metadata: Any) -> Any:
    """Return who speaks: a map in a file, a pattern of ids, a column, or a pair of these."""
    words = text.split(",")
    sides = [[*key.modelset, *key.segset]] if len(words) == 1 else key.ids

    def of_side(word: str, ids: Sequence[str]) -> Any:
        if not word.startswith("re:"):
            if Path(word).is_file():
                return bp.IdMap.read(word)
            if word and word not in ("model", "segment", *metadata.names):
                names = ", ".join(metadata.names) or "it has none"
                raise bp.errors.InvalidInputError(
                    f"--speakers must be a column of the key ({names}), a file of pairs (id, "
                    f"speaker) or re:PATTERN; got {word!r}, and there is no such file."
                )
            return word or None
        try:
            pattern = re.compile(word[3:])
        except re.error as error:
            raise _UsageError(f"--speakers: {error} in the pattern {word[3:]!r}") from error
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
        raise _UsageError("--speakers takes one value, or two for models and segments")
    found = tuple(map(of_side, words, sides))
    return found[0] if len(found) == 1 else found


def _judged_by(args: argparse.Namespace, key: Any, metadata: Any) -> dict[str, Any]:
    """Return the options that evaluate and compare have in common."""
    speakers = None if args.speakers is None else _speakers(args.speakers, key, metadata)
    return {"speakers": speakers, "rng": args.seed}


def _evaluate(args: argparse.Namespace) -> None:
    form = _table_form(args, *_TABLES)
    if args.claim and not args.bootstrap:
        raise _UsageError("--claim is tested by replicates: give --bootstrap and --speakers")
    found = _judge(args)
    claims = found.claims(*args.claim) if args.claim else None
    _emit(_table_text(found, form), args.output)
    if claims is not None:
        for row in claims.rows:
            _say(
                f"{row.system}: {row.claim} is {row.verdict} ({row.estimate:.4g}, one-sided end "
                f"{row.end:.4g}, p {row.p_holm:.2g})"
            )
        if not claims.shown:
            raise _AnswerIsNo("not all claims are shown")


def _judge(args: argparse.Namespace) -> Any:
    """Evaluate systems, in blocks if their files are large."""
    systems, options = _systems(args.scores), {}
    if args.prior:
        options["priors"] = args.prior
    options |= {name: vars(args)[name] for name in ("eer", "sort") if vars(args).get(name)}
    needs_trials = args.plan or args.conditions or args.speakers or args.bootstrap
    needs_trials = needs_trials or getattr(args, "cross_fit", False)
    if not needs_trials and _are_large(args, *systems.values(), args.key):
        return bp.evaluate_files(systems, args.key, **options, progress=_at_terminal())
    scores = {name: _load_scores(args, file) for name, file in systems.items()}
    key, metadata = _load_key(args)
    return bp.evaluate(
        scores,
        (key, metadata),
        plan=args.plan,
        conditions=args.conditions,
        replications=args.bootstrap or 0,
        cross_fit=True if getattr(args, "cross_fit", False) else None,
        progress=_at_terminal() and len(systems) > 1,
        **_judged_by(args, key, metadata),
        **options,
    )


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
    if len(args.scores) < 2:
        raise _UsageError("give at least two systems")
    form = _table_form(args, *_TABLES)
    key, metadata = _load_key(args)
    conditions = metadata.conditions(*args.conditions) if args.conditions else None
    found = bp.uncertainty.compare_systems(
        {name: _load_scores(args, file) for name, file in _systems(args.scores).items()},
        (key, metadata),
        _STATISTICS[args.statistic](args.prior[0] if args.prior else 0.01),
        conditions=conditions,
        replications=2000 if args.bootstrap is None else args.bootstrap,
        correction=args.correction,
        progress=_at_terminal(),
        **_judged_by(args, key, metadata),
    )
    text = _table_text(found, form)
    if len(found.pairs) > 1 and form not in ("csv", "json"):
        text = f"{text.rstrip()}\n\n{_table_text(found.rank_intervals(), form)}"
    _emit(text, args.output)
    if args.fail_if_worse:
        record = found.records()[0]
        # Of the area under the ROC more is better.
        sign = -1.0 if args.statistic == "auc" else 1.0
        if record["significant"] and sign * record["difference"] > 0:
            raise _AnswerIsNo(f"{record['first']} is significantly worse than {record['second']}")


def _transfer(args: argparse.Namespace) -> None:
    if len(args.prior) > 1:
        raise _UsageError("costs are compared at one --prior")
    form = _table_form(args, *_TABLES)
    point = args.prior[0] if args.prior else 0.5
    options = {"rule": args.rule, "point": point, "rng": args.seed}
    files = args.dev, args.dev_key, args.test, args.key
    needs_trials = args.conditions or args.speakers or args.bootstrap
    if not needs_trials and _are_large(args, *files):
        progress = _at_terminal()
        sets = (bp.Results.from_files(*pair, progress=progress) for pair in (files[:2], files[2:]))
        found = bp.transfer(*sets, **options)
    else:
        keys = _load_key(args, "dev_"), _load_key(args)
        scores = [_load_scores(args, file) for file in (args.dev, args.test)]
        if args.speakers is not None:
            # What a file or a pattern says holds for both sets.
            _, options["speakers"] = (_speakers(args.speakers, *pair) for pair in keys)
        found = bp.transfer(
            dev=(scores[0], keys[0]),
            test=(scores[1], keys[1]),
            conditions=args.conditions,
            replications=args.bootstrap or 0,
            **options,
        )
    _emit(_table_text(found, form), args.output)


def _validate(args: argparse.Namespace) -> None:
    key, metadata = _load_key(args)
    how = _judged_by(args, key, metadata)
    if args.bootstrap is not None:
        how["replications"] = args.bootstrap
    found = bp.validate_scores(_load_scores(args, args.system), (key, metadata), **how)
    if args.table:
        _emit_json(found.to_dict(), args.output)
    else:
        _emit(str(found), args.output)


def _case(args: argparse.Namespace) -> None:
    key, metadata = _load_key(args)
    how = _judged_by(args, key, metadata)
    if args.bootstrap is not None:
        how["replications"] = args.bootstrap
    found = bp.case_llr(
        args.score,
        _load_scores(args, args.system),
        (key, metadata),
        propositions=(args.same, args.different),
        reference=args.reference,
        **how,
    )
    if args.table:
        _emit_json(found.to_dict(), args.output)
    else:
        _emit(str(found), args.output)


def _plot(args: argparse.Namespace) -> None:
    args.plan = args.speakers = args.bootstrap = None
    args.seed = 0
    found = _judge(args)
    options = {} if args.title is None else {"title": args.title}
    found.plot(args.kind, system=args.of, **options).save(args.output)


def _tandem(args: argparse.Namespace) -> None:
    form = _table_form(args, *_TABLES)
    pair = _load_key(args)
    how = _judged_by(args, *pair)
    found = bp.uncertainty.tandem_table(
        pair,
        asv=_load_scores(args, args.asv),
        cm=_of_trials(_load_scores(args, args.cm), pair[0]),
        costs=args.costs,
        form=args.form,
        replications=args.bootstrap or 0,
        **how,
    )
    _emit(_table_text(found, form), args.output)


def _results(args: argparse.Namespace) -> dict[str, Any]:
    """Evaluate each system, in blocks if its file is large."""
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
    if len(args.prior) > 1:
        raise _UsageError("a DET plot marks one --prior")
    prior = args.prior[0] if args.prior else None
    plot = bp.plot_det(_results(args), args.window, title=args.title, prior=prior)
    plot.save(args.output)


def _bayes(args: argparse.Namespace) -> None:
    axes = None if args.range is None else (*args.range, 0.0, 1.2)
    plot = bp.plot_bayes(_results(args), axes=axes, title=args.title, prior=args.prior or None)
    plot.save(args.output)


def _primary_cost(args: argparse.Namespace) -> None:
    form = _table_form(args, "json")
    given = {name: getattr(args, name) for name in ("columns", "key_columns", "labels")}
    cost = bp.primary_cost_of_files(
        args.system,
        args.key,
        args.plan,
        score_format=args.format,
        key_format=args.key_format,
        only=args.only,
        compatibility=args.compatibility,
        **_text_options(args, **given),
    )
    if form:
        _emit_json(cost.to_dict(), args.output)
    else:
        _emit(str(cost), args.output)


def _report(args: argparse.Namespace) -> None:
    if Path(args.output).suffix.lower() not in (".html", ".htm"):
        raise _UsageError(f"a report is HTML: --output must end in .html; got {args.output!r}")
    systems = _systems(args.scores).items()
    files = {f"scores of {name}": _split_column(file)[0] for name, file in systems}
    title = {} if args.title is None else {"title": args.title}
    files |= {"key": args.key}
    with bp.storage.hashed_files() as read:
        judged = _judge(args)
    known = {role: read.get(Path(file).absolute(), file) for role, file in files.items()}
    who = {"author": args.author, "laboratory": args.laboratory}
    if args.judged_by and not args.criteria:
        raise _UsageError("--judged-by is for --criteria")
    matrix = judged.criteria(*args.criteria, judged_by=args.judged_by) if args.criteria else ()
    judged.report(args.output, files=known, date=args.date, criteria=matrix, **who, **title)
    if matrix:
        _emit(repr(matrix))
        if not matrix.passed:
            raise _AnswerIsNo("not all criteria are met")


# The parser

_FILE: dict[str, Any] = {"metavar": "FILE"}
_NAME: dict[str, Any] = {"metavar": "NAME"}

_OPTIONS: Mapping[str, dict[str, Any]] = {
    # Positional
    "files": dict(nargs="+", metavar="FILE"),
    "input": dict(metavar="INPUT"),
    "target": dict(metavar="OUTPUT", help="file to write: .h5, .mat, .txt, .csv, .tsv"),
    "scores": dict(nargs="+", metavar="SCORES", help="FILE, NAME=FILE or NAME=FILE#COLUMN"),
    "system": dict(metavar="SCORES", help="file of scores"),
    "dev": dict(metavar="DEV", help="file of dev scores"),
    "test": dict(metavar="TEST", help="file of test scores"),
    "training": dict(nargs="*", metavar="SCORES", help="scores to train on"),
    "what": dict(choices=("plans", "formats"), help="what to list"),
    "kind": dict(metavar="KIND", help="det, bayes, tippett, ece, pav, reliability, histogram, ..."),
    "score": dict(type=float, metavar="SCORE", help="score of the comparison"),
    # A tandem
    "--asv": dict(_FILE, help="scores of the verifier"),
    "--cm": dict(_FILE, help="scores of the countermeasure, on the same trials"),
    "--costs": dict(default="ASVspoof5", help="ASVspoof5 (default) or a-DCF1"),
    "--t-dcf": dict(
        choices=("revised", "legacy"), default="revised", dest="form", help="form of the t-DCF"
    ),
    # A case
    "--same": dict(metavar="TEXT", help="the proposition of one source"),
    "--different": dict(metavar="TEXT", help="the proposition of two sources"),
    "--reference": dict(metavar="TEXT", help="what the reference set is, and why it is relevant"),
    "--of": dict(metavar="SYSTEM", help="draw this system only"),
    # Trials, and what is known of them
    "--key": dict(_FILE, help="which trials are targets"),
    "--dev-key": dict(_FILE, help="which trials of dev are targets"),
    "--dev-metadata": dict(_FILE, help="columns about the trials of dev (.h5)"),
    "--rule": dict(
        default="eer",
        metavar="RULE",
        help="how dev chooses: eer (default), min-cost, fmr=RATE, fnmr=RATE or bayes",
    ),
    "--metadata": dict(_FILE, help="columns about the trials (.h5), if the key has none"),
    "--trials": dict(_FILE, help="trials to write: an Ndx or a key"),
    "--conditions": dict(type=_names, metavar="COLUMN,...", help="columns that make conditions"),
    "--speakers": dict(
        metavar="WHO[,WHO]",
        help="speakers of models and of segments: a column, a file of pairs (id, speaker), or "
        "re:PATTERN, whose group is the speaker in an id",
    ),
    "--prior": dict(
        type=_points,
        action="extend",
        default=[],
        metavar="P[:C_MISS:C_FA],...",
        help="operating points: probability of a target, and costs",
    ),
    "--plan": dict(_NAME, help="of an evaluation, whose published cost to compute: VoxSRC, ..."),
    "--only": dict(type=_pairs, metavar="COLUMN=VALUE", help="judge only these trials"),
    "--compatibility": dict(choices=("nist",), help="with the quirks of NIST's scorer"),
    "--correction": dict(
        choices=("max-t", "holm", "by"), help="of the p-values (default: see compare_systems)"
    ),
    "--statistic": dict(choices=_STATISTICS, default="eer", help="to compare (default: eer)"),
    "--eer": dict(
        choices=("rocch", "interpolated", "step"), help="which equal error-rate (default: rocch)"
    ),
    "--sort": dict(metavar="COLUMN", help="the lowest first: eer, min_dcf(0.05), ..."),
    "--fail-if-worse": dict(
        action="store_true",
        help="exit with status 3 if the first system is significantly worse than the second",
    ),
    "--claim": dict(
        action="append",
        metavar="CLAIM",
        help="exit with status 3 unless this is shown: 'eer<=2%%', 'cllr<=0.3', ...",
    ),
    "--criteria": dict(
        type=_names,
        action="extend",
        metavar="CRITERION,...",
        help="validation matrix; exit with status 3 unless all are met: 'cllr<=0.3,eer<=2%%'",
    ),
    "--judged-by": dict(
        choices=("estimate", "end"),
        help="what decides a criterion (default: the one-sided end with --bootstrap)",
    ),
    "--author": dict(metavar="TEXT", default="", help="to name below the head"),
    "--laboratory": dict(metavar="TEXT", default="", help="to name below the head"),
    "--bootstrap": dict(type=int, metavar="N", help="replicates of a bootstrap by speaker"),
    "--seed": dict(type=int, default=0, help="of random numbers (default: 0)"),
    # Training
    "--model": dict(_FILE, help=".json: written if trained, else read"),
    "--apply": dict(nargs="+", metavar="SCORES", help="scores to turn into llrs"),
    "--method": dict(
        choices=("linear", "bounded", "pav"),
        default="linear",
        help="linear (default); bounded, a line with a weak ridge and bounds, which is recommended "
        "for few data; or pav",
    ),
    "--objective": dict(default="cllr", help="cllr (default), brier or boost"),
    "--ridge": dict(
        type=_ridge, help="strength of a ridge penalty, or weak (default: 0; bounded: weak)"
    ),
    "--cross-fit": dict(
        action="store_true",
        help="calibrate each trial by a line that was trained without its speakers",
    ),
    # Plots
    "--window": dict(default="auto", help="auto (default), new, old, big or sre10"),
    "--range": dict(type=float, nargs=2, metavar=("LOW", "HIGH"), help="prior log-odds to show"),
    "--title": dict(metavar="TEXT"),
    "--date": dict(metavar="TEXT", help="date to name (default: none)"),
    # Files
    "--output": dict(_FILE, help="file to write"),
    "--blind": dict(
        action="store_true",
        help="refuse systems that lack trials of the key, without the counts, which tell "
        "labels of a hidden key",
    ),
    "--force": dict(action="store_true", help="replace an existing file, whoever wrote it"),
    "--to": dict(_NAME, help="text format to write; see the page on formats"),
    "--content": dict(choices=("scores", "key", "trials", "metadata"), help="what to take"),
    "--form": dict(choices=("flat", "dense"), help="a list of trials or a matrix"),
    "--memory": dict(
        type=_size,
        metavar="GB",
        help="read HDF5 files in blocks if they take more (default: half of the memory)",
    ),
    # Text that is not recognised
    "--format": dict(_NAME, help="text format of the scores; see the page on formats"),
    "--key-format": dict(_NAME, help="text format of the key"),
    "--columns": dict(
        type=_column_names,
        metavar="NAMES",
        help="of scores, from left to right (model,segment,score,label,-), or by role where the "
        "header has other names (score=cosine)",
    ),
    "--key-columns": dict(type=_column_names, metavar="NAMES", help="likewise, of the key"),
    "--labels": dict(
        type=_label_words,
        metavar="WORD=MEANING,...",
        help="what words mean: target, nontarget, spoof or drop (same=target,other=nontarget)",
    ),
    "--strip-suffix": dict(metavar="TEXT", help="take this off the end of ids: .wav"),
    "--side": dict(choices=("column", "join", "ignore"), help="sides of telephone calls"),
    "--spoof": dict(
        choices=("error", "nontarget", "keep", "drop"), help="trials of the third class"
    ),
    "--missing": dict(metavar="WORD", help="what stands for a missing score: nan"),
    **{
        f"--{form}": dict(action="store_const", dest="table", const=form, help=f"write {form}")
        for form in ("json", "csv", "markdown", "latex")
    },
}

_WORDS = "--format --columns --labels --strip-suffix --side --spoof --missing"
_TEXT = f"{_WORDS} --memory"
_KEY = "--key! --key-format --key-columns"
_SYSTEMS = f"scores {_KEY} --metadata --conditions --prior --blind {_TEXT}"
_TABLE = "--speakers --bootstrap --seed --json --csv --markdown --latex --output --force"
_TRAINING = (
    "training --key --key-format --key-columns --model --apply --output --force --to --trials "
    f"--prior --objective --ridge {_TEXT}"
)

# What the help of each subcommand says: its purpose, then examples.
_HELP: Mapping[str, tuple[str, ...]] = {
    "info": ("Say what files hold.", "bosaris info key.tsv scores.h5 fusion.json"),
    "check": (
        "Say whether scores answer a list of trials; labels need not be known.",
        "bosaris check scores.txt --trials trials.txt",
    ),
    "list": ("List plans or formats.", "bosaris list plans", "bosaris list formats --json"),
    "validate": (
        "Compute the figures of a validation report of log-likelihood-ratios.",
        "bosaris validate llrs.txt --key key.txt --speakers 're:^[^-]+'",
    ),
    "case": (
        "Compute the likelihood-ratio of one comparison from a reference set.",
        "bosaris case 3.2 scores.txt --key key.txt --speakers 're:^[^-]+' "
        "--same 'the suspect speaks' --different 'somebody else speaks' --reference '60 speakers'",
    ),
    "tandem": (
        "Evaluate a verifier and a countermeasure in tandem: t-EER, t-DCF.",
        "bosaris tandem --asv asv.txt --cm cm.txt --key protocol.trl --spoof keep",
        "bosaris tandem --asv asv.txt --cm cm.txt --key protocol.trl --spoof keep "
        "--speakers models.txt,segments.txt --bootstrap 1000",
    ),
    "plot": (
        "Draw a plot of some kind.",
        "bosaris plot tippett A=a.h5 B=b.h5 --key key.h5 -o tippett.pdf",
    ),
    "convert": (
        "Write a file in another format.",
        "bosaris convert scores.txt scores.h5",
        "bosaris convert key.h5 key.tsv",
        "bosaris convert scores.h5 scores.txt --key key.h5 --to speechbrain-scores",
    ),
    "evaluate": (
        "Evaluate systems: a table of metrics, plots and paired tests.",
        "bosaris evaluate A=a.txt B=b.txt --key key.tsv --prior 0.01,0.05",
        "bosaris evaluate a.h5 b.h5 --key key.tsv --conditions gender --json",
        "bosaris evaluate a.h5 --key key.h5 --speakers models.txt,segments.txt --bootstrap 2000",
        "bosaris evaluate X=scores.csv#xvector E=scores.csv#ecapa --key scores.csv",
    ),
    "compare": (
        "Compare each pair of systems by a test.",
        "bosaris compare a.h5 b.h5 --key key.h5 --statistic min_dcf --prior 0.01",
        "bosaris compare a.h5 b.h5 c.h5 --key key.h5 --speakers 're:^[^/]+'",
    ),
    "transfer": (
        "Evaluate test scores at the threshold that dev scores choose.",
        "bosaris transfer dev.txt test.txt --dev-key dev_key.txt --key test_key.txt --rule eer",
        "bosaris transfer dev.h5 test.h5 --dev-key dev_key.h5 --key key.h5 --rule fmr=0.001 "
        "--speakers 're:^[^-]+' --bootstrap 2000",
    ),
    "calibrate": (
        "Turn scores into log-likelihood-ratios.",
        "bosaris calibrate dev.txt --key dev_key.txt --model calibration.json",
        "bosaris calibrate --model calibration.json --apply eval.txt -o llrs.h5",
    ),
    "fuse": (
        "Join the scores of several systems.",
        "bosaris fuse dev_a.h5 dev_b.h5 --key dev_key.h5 --model fusion.json",
        "bosaris fuse --model fusion.json --apply eval_a.h5 eval_b.h5 -o fused.h5",
        "bosaris fuse asv=dev_asv.txt cm=dev_cm.txt --key dev.trl --spoof keep --model sasv.json",
    ),
    "det": ("Draw a DET plot.", "bosaris det A=a.h5 B=b.h5 --key key.h5 -o det.pdf --prior 0.01"),
    "bayes": (
        "Draw a Bayes error-rate plot.",
        "bosaris bayes A=a.h5 B=b.h5 --key key.h5 -o bayes.pdf --range -6 2",
    ),
    "primary-cost": (
        "Compute the cost that an evaluation publishes.",
        "bosaris primary-cost output.tsv --key key.tsv --plan SRE18-CMN2",
    ),
    "report": (
        "Write a report: one HTML file with tables, cautions and drawings.",
        "bosaris report A=a.h5 B=b.h5 --key key.h5 -o report.html",
        "bosaris report a.h5 --key key.h5 --conditions gender --bootstrap 2000 -o report.html",
    ),
}

# What runs, and its options; those with ! are required.
_COMMANDS: Mapping[str, tuple[Callable[[argparse.Namespace], None], str]] = {
    "info": (_info, f"files --json {_TEXT}"),
    "check": (
        _check,
        f"system --trials! --key-format --key-columns --json --output --force {_TEXT}",
    ),
    "list": (_list, "what --json"),
    "validate": (
        _validate,
        f"system {_KEY} --metadata --speakers --bootstrap --seed --json --output --force {_TEXT}",
    ),
    "case": (
        _case,
        f"score system {_KEY} --metadata --speakers --same! --different! --reference! --bootstrap "
        f"--seed --json --output --force {_TEXT}",
    ),
    "tandem": (_tandem, f"--asv! --cm! {_KEY} --metadata --costs --t-dcf {_TEXT} {_TABLE}"),
    "plot": (_plot, f"kind {_SYSTEMS} --of --output! --force --title"),
    "convert": (
        _convert,
        f"input target --force --to --content --key --form --key-format --key-columns {_TEXT}",
    ),
    "evaluate": (_evaluate, f"{_SYSTEMS} --plan --eer --sort --claim --cross-fit {_TABLE}"),
    "compare": (_compare, f"{_SYSTEMS} --statistic --correction --fail-if-worse {_TABLE}"),
    "transfer": (
        _transfer,
        f"dev test --dev-key! {_KEY} --dev-metadata --metadata --rule --prior --conditions "
        f"{_TEXT} {_TABLE}",
    ),
    "calibrate": (_calibrate, f"{_TRAINING} --method"),
    "fuse": (_fuse, f"{_TRAINING} --costs"),
    "det": (_det, f"{_SYSTEMS} --output! --force --window --title"),
    "bayes": (_bayes, f"{_SYSTEMS} --output! --force --range --title"),
    "primary-cost": (
        _primary_cost,
        f"system {_KEY} --plan! --only --compatibility {_WORDS} --json --output --force",
    ),
    "report": (
        _report,
        f"{_SYSTEMS} --plan --speakers --bootstrap --seed --output! --force --title --date "
        "--author --laboratory --criteria --judged-by",
    ),
}


def _make_parser() -> _Parser:
    description = "Calibrate, fuse and judge detectors whose scores are log-likelihood-ratios."
    parser = _Parser(prog="bosaris", description=description)
    parser.add_argument("--version", action="version", version=f"bosaris_py {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, (run, options) in _COMMANDS.items():
        purpose, *examples = _HELP[name]
        command = commands.add_parser(
            name,
            help=purpose,
            description=purpose,
            epilog="\n  ".join(["examples:", *examples]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        groups = [command, *([command.add_mutually_exclusive_group()] if "json" in options else [])]
        for word in options.split():
            flags = ("-o", "--output") if word.startswith("--output") else (word.rstrip("!"),)
            words = _OPTIONS[flags[-1]] | ({"required": True} if word.endswith("!") else {})
            groups[-1 if "const" in words else 0].add_argument(*flags, **words)
        command.set_defaults(run=run, parser=command)
    return parser


# Running


def _say(text: object) -> None:
    """Write one line to the standard error."""
    if sys.stderr is not None:
        sys.stderr.write(f"bosaris: {' '.join(str(text).split())}\n")


# Keywords whose options have another name.
_SPELLED = {
    "max_bytes": "memory",
    "name": "conditions",
    "replications": "bootstrap",
    "priors": "prior",
    "rng": "seed",
    "model_speakers": "speakers",
    "segment_speakers": "speakers",
}

# Hints of the command in place of those for scripts, by argument.
_HINTS = dict.fromkeys(
    ("speakers", "model_speakers", "segment_speakers"),
    "Give a column, a complete file of pairs, or re:PATTERN, which takes an id without a match for "
    "a person of its own.",
)
_CLASSES = {"tar": "targets", "non": "non-targets"}


def _message(error: Exception, args: argparse.Namespace | None) -> str:
    """Return the message of an error, in which arguments are the options of the subcommand."""
    if not isinstance(error, BosarisError):
        if isinstance(error, OSError) and error.strerror:
            return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
        return str(error) or type(error).__name__
    given = vars(args) if args else {}
    key = given.get("key")
    of_key = key is not None and str(error.path) == key

    def spell(name: str, value: object = None) -> str:
        if key is not None and name in _CLASSES:
            return f"the {_CLASSES[name]} of {key}"
        option = _SPELLED.get(name, name)
        option = f"key_{option}" if of_key and f"key_{option}" in given else option
        if option not in given:
            return as_keyword(name, value)
        flag = f"--{option.replace('_', '-')}"
        return flag if value is None else f"{flag} {value}"

    return as_message(error.text(spell, _HINTS))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Returns
    -------
    int
        The exit code: 0, 1 if the data or a file is at fault, 2 if the arguments are, 3 if the
        answer to what was asked is no (``--fail-if-worse``, ``--claim``,
        ``--criteria``), 130 if interrupted, 141
        if the reader of the output went away.

    Examples
    --------
    >>> main(["--version"])
    bosaris_py ...
    0
    """
    shown = set()
    args = None

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:
            shown.add(str(message))
            _say(f"warning: {message}")

    if isinstance(sys.stdout, io.TextIOWrapper):
        # Ids may have letters that the terminal lacks.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = show
            parser = _make_parser()
            args = parser.parse_args(argv)
            if not hasattr(args, "run"):
                parser.print_help()
                return _end(0)
            if getattr(args, "blind", False):
                warnings.simplefilter("error", errors.MissingTrialsWarning)
            _check_formats(args)
            try:
                _check_outputs(args)
                args.run(args)
            except _UsageError as error:
                args.parser.error(str(error))
            if sys.stdout is not None:
                sys.stdout.flush()
    except SystemExit as stop:
        return _end(int(stop.code or 0))
    except KeyboardInterrupt:
        _say("interrupted")
        return 130
    except BrokenPipeError:
        _drop_output()
        return 141
    except _AnswerIsNo as answer:
        _say(answer)
        return 3
    except MemoryError:
        _say("error: this takes more memory than there is; see --memory")
        return 1
    except (BosarisError, OSError, ImportError) as error:
        _tell_where()
        _say(f"error: {_message(error, args)}")
        _drop_output()
        return 1
    except errors.MissingTrialsWarning:
        _say("error: trials of the key have no score; --blind does not tell how many or which")
        return 1
    except Exception as error:
        _tell_where()
        told = as_message(str(error))
        _say(
            f"error: {type(error).__name__}: {told} (a fault of this program, please report it; "
            f"{_DEBUG}=1 shows where)"
        )
        _drop_output()
        return 1
    return 0


# Set to 1, this environment variable shows where errors come from.
_DEBUG = "BOSARIS_DEBUG"


def _tell_where() -> None:
    """Show the traceback of an error if that is asked for."""
    if os.environ.get(_DEBUG, "0") not in ("", "0") and sys.stderr is not None:
        traceback.print_exc()


def _end(code: int) -> int:
    """Return the exit code of a help text, or of bad options; 1 if it cannot be written."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return 141
    except OSError as error:
        _say(f"error: {_message(error, None)}")
        _drop_output()
        return 1
    return code


def _drop_output() -> None:
    """Drop what cannot be written, which Python would try again at its exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with Path(os.devnull).open("w") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())
