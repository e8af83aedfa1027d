"""Files of the command: how they are read and written, and the subcommands about them."""

import argparse
import contextlib
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import bosaris_py as bp
from bosaris_py.cli.options import Settings, UsageError, in_options, refuse
from bosaris_py.errors import BosarisError, FileFormatError, InvalidInputError, printable

# ---- What is printed: results on the standard output, all else on the standard error


def at_terminal() -> bool:
    """Tell whether somebody watches the progress bars."""
    return sys.stderr is not None and sys.stderr.isatty()


def say(text: object) -> None:
    """Write one line to the standard error."""
    if sys.stderr is not None:
        # Where a bar is, the module is loaded.
        if execution := sys.modules.get("bosaris_py._parallel"):
            execution.clear_bars()
        # Words of the command line may hold what no terminal should get.
        sys.stderr.write(f"bosaris: {printable(' '.join(str(text).split()))}\n")


def emit(text: str, output: str | None = None) -> None:
    """Write text to the standard output, or into a file that appears when it is complete."""
    line = text if text.endswith("\n") else f"{text}\n"
    if output is not None:
        with bp.files.replacing.replacing(output) as temporary:
            temporary.write_text(line, encoding="utf-8")
    elif sys.stdout is None:
        raise OSError("the standard output is closed; name a file by --output")
    else:
        sys.stdout.write(line)


def emit_json(content: object, output: str | None = None) -> None:
    """Write a value as JSON, in which NaN is null and an infinite number a text."""
    from bosaris_py._tables import for_json

    emit(json.dumps(for_json(content), indent=2, ensure_ascii=False, allow_nan=False), output)


TABLE_OF = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex"}


def emit_table(table: object, args: argparse.Namespace) -> None:
    """Write a table in a form, or as it is printed: at a terminal no wider than that."""
    form = args.table or TABLE_OF.get(Path(args.output or "").suffix.lower())
    if hasattr(table, f"to_{form}"):
        emit(getattr(table, f"to_{form}")(), args.output)
        return
    shown = str(table)
    if not (args.wide or args.output or sys.stdout is None or not sys.stdout.isatty()):
        from bosaris_py._tables import fitted

        shown = fitted(table, os.get_terminal_size(sys.stdout.fileno()).columns)
    emit(shown, args.output)
    if not args.output:
        # What stands below the table is not said again.
        args.said = [note.text for note in getattr(table, "notes", ())]


# ---- What is read


# The options that name files to read: several, or one.
_LISTS = ("files", "scores", "training", "apply")
_FILES = ("input", "system", "key", "mates", "metadata", "trials", "tar", "non")


@contextlib.contextmanager
def standard_input(args: argparse.Namespace) -> Iterator[None]:
    """Keep standard input in a file, which can be read twice, if a file is called -."""
    given = {name: value for name, value in vars(args).items() if name in _LISTS + _FILES and value}
    dash = re.compile(r"\A(.*=)?-(#.*)?\Z")
    words = [word for value in given.values() for word in ([value], value)[type(value) is list]]
    if not any(map(dash.match, words)):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="bosaris_py") as folder:
        content = sys.stdin.buffer.read()
        # What is packed is known by its name.
        args.copied = str(Path(folder) / ("stdin.gz" if content[:2] == b"\x1f\x8b" else "stdin"))
        Path(args.copied).write_bytes(content)

        def kept(word: str) -> str:
            return dash.sub(rf"\g<1>{args.copied}\g<2>", word)

        for name, value in given.items():
            setattr(args, name, [*map(kept, value)] if type(value) is list else kept(value))
        yield


def split_column(text: str) -> tuple[str, str]:
    """Return a file and the column of scores behind the sign #, "" if none is named."""
    path, _, column = text.rpartition("#")
    return (text, "") if not path or Path(text).exists() else (path, column)


def named_files(files: Iterable[str]) -> dict[str, str]:
    """Return files by the names of their systems: those given, or those of the files."""
    named: dict[str, str] = {}
    for text in files:
        name, sign, path = text.partition("=")
        if not sign or Path(text).exists():
            file, column = split_column(text)
            name, path = column or bp.trials.read.name_of_file(file), text
        # A name that is not UTF-8 could not be written into tables and models.
        name = name.encode("utf-8", "backslashreplace").decode("utf-8")
        if name in named:
            raise UsageError(f"two systems are called {name!r}; name them: NAME=FILE")
        named[name] = path
    return named


def score_files(args: argparse.Namespace) -> dict[str, str]:
    """Return the files of scores to judge or to train on, by the names of their systems."""
    given = vars(args)
    one = [given["system"]] if given.get("system") else []
    return named_files(given.get("scores") or given.get("training") or one)


def text_options(args: argparse.Namespace, prefix: str = "", **others: object) -> Settings:
    """Return the keywords with which text files are read, with `prefix` those of the key."""
    given = {name: getattr(args, name) for name in ("strip_suffix", "spoof", "missing", "labels")}
    given |= {name: getattr(args, prefix + name) for name in ("format", "columns")} | others
    # The columns of a file that is both are told once.
    if prefix and not given["columns"] and "label" in (args.columns or ""):
        is_both = vars(args).get("key") in score_files(args).values()
        given["columns"] = args.columns if is_both else None
    options = {name: value for name, value in given.items() if value is not None}
    return {**options, "progress": at_terminal()}


# Advice on the key: models for segments and the other way round, or no models.
_TURNED = {"--key-columns": {"model": "segment", "segment": "model"}}
_TURNED["--key-columns -"] = {"model": "-"}


def turned_columns(args: argparse.Namespace, turned: Settings) -> str:
    """Return the option that reads the columns of a key in text otherwise."""
    path = Path(split_column(vars(args).get("key") or args.trials)[0])
    with contextlib.suppress(FileFormatError):
        lines, columns = bp.files.text.first_lines(path), args.key_columns
        names = bp.files.detection.find_plan(path, lines, 1, columns=columns).names
        return f"--key-columns {shlex.quote(','.join(turned.get(name, name) for name in names))}"
    return ""


def message_of(error: BosarisError, args: argparse.Namespace) -> str:
    """Return the message of an error, in options of the subcommand."""
    of_key = args.side == "key" if args.side else str(error.path) == vars(args).get("key")
    text = in_options(str(error), args, of_key=of_key)
    option = error.option.replace(args.copied or "\0", "-")
    option = turned_columns(args, _TURNED[option]) if option in _TURNED else option
    # Not every subcommand has --tar and --non.
    words = re.findall(r"(?<!\S)--([a-z-]+)", option)
    is_known = all(word.replace("-", "_") in args for word in words)
    return f"{text} Use {option}." if option and is_known else text


def place_of_scores(args: argparse.Namespace, path: str) -> tuple[str, Settings]:
    """Return the file of scores, and how it is read; a column may stand behind the sign #."""
    file, column = split_column(path)
    if column and bp.trials.read.binary_kind(file):
        raise UsageError(f"{file} is no table, and has no column {column}")
    others = (args.columns or "").split(",") if "=" in (args.columns or "") else []
    columns = [*(each for each in others if not each.startswith("score=")), f"score={column}"]
    return file, text_options(args, columns=",".join(columns) if column else args.columns)


def with_ids(found: Any, args: argparse.Namespace, side: str) -> Any:
    """Return scores (side "score") or trials ("key") with the ids that --ids makes of theirs."""
    if not (changes := ",".join([*args.ids, *getattr(args, f"{side}_ids")])):
        return found
    try:
        return found.rename(changes, changes)
    except InvalidInputError as error:
        text = f"{changes} makes one id of several: {error.got}" if error.got else str(error)
        raise InvalidInputError(f"--ids {text}") from error


def load_labelled(args: argparse.Namespace, path: str) -> "tuple[bp.Scores, bp.Key | None]":
    """Read the scores of a file, or of a column behind the sign #, and labels beside them."""
    args.side = "key" if args.scores_in_order else "score"
    base = getattr(args, "base", None)
    file, options = place_of_scores(args, path)
    if args.scores_in_order:
        how = text_options(args, "key_", spoof="keep", extra=False)
        path = split_column(vars(args).get("key") or args.trials)[0]
        listed = bp.files.text.read_table(path, **how)
        args.side = "score"
        found, own = bp.trials.read.read_answers(file, listed, base=base, **options), None
    else:
        found, own = bp.trials.read.scores_and_labels(file, base, **options)
    return with_ids(found, args, "score"), None if own is None else with_ids(own, args, "score")


def load_scores(args: argparse.Namespace, path: str) -> "bp.Scores":
    """Read the scores of a file, or of a column behind the sign #."""
    return load_labelled(args, path)[0]


def load_key(args: argparse.Namespace) -> "bp.Key":
    """Read a key with its columns, or make one of a list of targets and the scored trials."""
    args.side = "key"
    options = text_options(args, "key_")
    if args.mates:
        file = split_column(args.mates)[0]
        is_target = getattr(bp.trials.read.read_any(file, **options), "is_target", None)
        if is_target is not None and not is_target.all():
            option = f"--key {shlex.quote(file)} in place of --mates"
            raise FileFormatError(f"{file}: its labels are not of targets alone.", option=option)
        systems = [load_scores(args, file) for file in score_files(args).values()]
        key = bp.Key.from_mates(with_ids(bp.read_trials(file, **options), args, "key"), *systems)
    else:
        key = with_ids(bp.read_key(split_column(args.key)[0], **options), args, "key")
    if args.metadata is None:
        return key
    try:
        columns = bp.read_key(args.metadata)
    except FileFormatError as error:
        what = str(error.message).partition(";")[0]
        raise FileFormatError(f"--metadata takes a key with columns: {what}") from error
    return key.with_columns_of(with_ids(columns, args, "key"))


def load_trials(args: argparse.Namespace) -> "bp.Ndx":
    """Read the list of trials."""
    args.side = "key"
    trials = bp.read_trials(split_column(args.trials)[0], **text_options(args, "key_"))
    changed: "bp.Ndx" = with_ids(trials, args, "key")
    return changed


def score_trials(cm: "bp.Scores", trials: "bp.Ndx | bp.Key") -> "bp.Scores":
    """Return the scores of trials where a countermeasure scored utterances, and say so."""
    if cm.ids[0].size != 1 or cm.ids[0][0] in trials.ids[0]:
        return cm
    say("the countermeasure scored utterances: each counts as often as it is in trials")
    return bp.trials.scores_of_segments(cm, trials)


def are_large(args: argparse.Namespace, *files: str | None) -> bool:
    """Tell whether files are so large that they must be read in blocks, as they are."""
    changed = (args.ids, args.score_ids, args.key_ids, args.mates, args.scores_in_order, args.spoof)
    if any(changed) or getattr(args, "base", None) is not None:
        return False
    return bp.trials.are_large([split_column(file)[0] for file in files if file is not None])


# ---- What is written

# How files begin that this package wrote, by their first and last bytes: HDF5, .mat, JSON, reports,
# pictures, tables. Lists of trials look like those of any other program.
_OWN = re.compile(
    rb"(\x89HDF|MATLAB 5|<!doctype html).*bosaris_py|(\x89PNG|%PDF|%!PS|<\?xml).*matplotlib|"
    rb'{\s*"format": "bosaris_py\.|{\s*"table": \[|\[\s*{\s*"first": |first +second |'
    rb"(\| )?(system|first)( \||,)|(% \\usepackage{booktabs}\n)?\\begin\{tab|system [^\n]*\n-+\n",
    re.DOTALL | re.IGNORECASE,
)


def _is_own(path: str) -> bool:
    """Tell whether this package wrote a file."""
    with Path(path).open("rb") as stream:
        seen = stream.read(2**16)
        stream.seek(-min(2**16, stream.seek(0, os.SEEK_END)), os.SEEK_END)
        return _OWN.match(seen + stream.read()) is not None


def outputs_of(args: argparse.Namespace) -> dict[str, str]:
    """Return the files that the command writes, by their options."""
    given = vars(args)
    names = ("target", "output", *["model"] * bool(given.get("training")))
    return {name: given[name] for name in names if given.get(name) is not None}


def _inputs_of(args: argparse.Namespace) -> list[str]:
    """Return the files that the command reads."""
    given = vars(args)
    listed = [named_files(given.get(name) or ()) for name in _LISTS[1:]]
    # A model is an input unless it is trained.
    names = _FILES if given.get("training") else (*_FILES, "model")
    files = [given[name] for name in names if given.get(name) is not None]
    files += [file for part in listed for file in part.values()]
    maps = filter(None, (given.get("speakers") or "").split(","))
    return [*(split_column(file)[0] for file in files), *maps]


def check_files(args: argparse.Namespace) -> None:
    """Refuse, before any work, an unknown format, an input as output, and the files of others."""
    # Other commands use what this imports.
    from bosaris_py.files import columns, detection, formats, replacing, text, writing  # noqa: F401

    given = {name for name, value in vars(args).items() if value is not None}
    for option in given & {"format", "key_format", "to"}:
        formats.find_format(getattr(args, option), option)
    suffix = Path(vars(args).get("output") or "").suffix.lower()
    is_table = args.command in ("evaluate", "compare") and not args.table
    is_odd = is_table and suffix not in ("", ".txt", *TABLE_OF)
    judges = args.command in ("evaluate", "compare", "plot", "case", "report")
    lone = args.command in ("info", "check", "convert")
    keys, listed = given & {"key", "mates", "tar", "non"}, given & {"key", "trials"}
    no_scores = listed and getattr(args, "scores", None) == []
    refuse(
        (f"--output must end in {', '.join(TABLE_OF)} or .txt; got {suffix!r}", is_odd),
        ("--key is required; a file of scores with labels may be it", judges and not keys),
        ("the following arguments are required: SCORES", no_scores),
        ("--mates takes the place of --key", {"key", "mates"} <= given),
        ("--metadata adds columns to --key", "metadata" in given and not keys & {"key", "mates"}),
        ("--mates is of scores that are judged or trained on", "mates" in given and lone),
        ("--scores-in-order needs the list or key", args.scores_in_order and not listed),
    )
    changed = args.ids or args.score_ids or args.key_ids
    refuse(("ids are changed only where scores meet trials", changed and not (keys or listed)))
    if args.mates:
        args.key = args.mates
    inputs, outputs = _inputs_of(args), outputs_of(args)
    n_files = len(set(map(os.path.realpath, outputs.values())))
    refuse(
        ("an option needs the name of a file; got ''", "" in (*inputs, *outputs.values())),
        ("--model and --output name one file", n_files < len(outputs)),
    )
    for name, path in outputs.items():
        option = "OUTPUT" if name == "target" else f"--{name}"
        read = replacing.same_file(path, inputs)
        refuse((f"{option} {path} is a file that is read: {read}; name another one", read))
        is_foreign = replacing.try_output(path) and not args.force and not _is_own(path)
        refuse((f"{option} {path} exists; --force replaces it", is_foreign))


def format_of_text(output: str, named: str | None) -> str | None:
    """Return the text format that is named, or that the extension of a file stands for."""
    suffix = Path(output.removesuffix(".gz")).suffix.lower()
    return named or {".csv": "csv", ".tsv": "nist"}.get(suffix)


def save_as(found: Any, output: str, named: str | None, **parts: "bp.Key") -> None:
    """Write an object in a text format, or else as the extension of the file says."""
    text_format = format_of_text(output, named)
    if text_format is None:
        found.save(output)
        if Path(output).suffix.lower() in (".txt", ".mat"):
            rest = [name for name in getattr(found, "columns", ()) if name != "label"]
            bp.files.writing.warn_of_rest(output, rest)
        return
    if not isinstance(found, bp.Scores | bp.Key | bp.Ndx):
        raise UsageError(f"tables are of trials and scores; {found!r} takes .h5, .mat or .txt")
    contents = {"scores": found, **parts} if isinstance(found, bp.Scores) else {"trials": found}
    bp.files.writing.write_table(output, bp.trials.to_table(**contents), text_format)


# ---- The subcommands info, check and convert


def _read_any(path: str, **options: Any) -> Any:
    """Read whatever a file holds; of text a table, or quality measures of segments."""
    lines = [] if bp.trials.read.binary_kind(path) else bp.files.text.first_lines(Path(path))
    # The first line of such measures is their number.
    if lines[1:] and lines[0].strip().isdigit() and len(lines[1].split()) == 1 + int(lines[0]):
        return bp.SegmentQuality.read_txt(path)
    return bp.trials.read_any(path, **options)


def info(args: argparse.Namespace) -> None:
    """Say what files hold, each of what format it is and what it holds."""
    # One by one: what can be read is told before a bad file ends it.
    for path in args.files:
        emit(f"{'-' if path == args.copied else path}: {_describe(split_column(path)[0], args)}")


def _describe(path: str, args: argparse.Namespace) -> str:
    """Say of what format a file is, and what it holds."""
    if binary := bp.trials.read.binary_kind(path):
        kind = binary[1].removeprefix("flat_")
        if kind in ("scores", "key", "ndx") and are_large(args, path):
            # Each block is verified.
            models, segments = (ids.size for ids in bp.trials.large.verified_ids(path, kind))
            return f"hdf5, {kind}: {models} models x {segments} segments, read in blocks"
        return f"{binary[0]}, {_read_any(path)!r}"
    if path.lower().endswith(".json"):
        return f"json, {bp.read_model(path)!r}"
    found = _read_any(path, **{"spoof": "keep", **text_options(args)})
    if isinstance(found, bp.SegmentQuality):
        return f"text, {found!r}"
    # What columns or labels tell needs no detection.
    is_told = args.columns or args.labels
    form = args.format or ("text" if is_told else bp.files.text.detect_format(path))
    pairs, sides = found.models.codes.size, (found.models.levels.size, found.segments.levels.size)
    is_map = form == "kaldi-trials" and found.is_target is None and pairs in sides
    return f"{form}, {found!r}{f', or IdMap: {pairs} pairs' if is_map else ''}"


def check(args: argparse.Namespace) -> int:
    """Say whether scores answer a list of trials; return 3 if they do not."""
    file, options = place_of_scores(args, args.system)
    if args.scores_in_order:
        scores, faults = load_scores(args, args.system), list[str]()
    else:
        scores, faults = bp.trials.read.scores_and_faults(file, **options)
        scores = with_ids(scores, args, "score")
    trials = load_trials(args)
    n_common, problems = answer_to(trials, scores)
    try:
        bp.trials.scores.frame_among(scores, trials)
        why = in_options(bp.trials.scores.why_missing(scores, trials), args)
    except bp.errors.TrialMismatchError as error:
        why = message_of(error, args)
    problems = [*faults, *problems, *filter(None, [why])]
    if args.table or str(args.output).endswith(".json"):
        emit_json({"n_common": n_common, "problems": problems}, args.output)
    else:
        emit("\n".join([f"{n_common} trials of the list have a score.", *problems]), args.output)
    if problems:
        say(in_options(f"{args.system} does not fit {args.trials}", args))
    return 3 if problems else 0


def answer_to(trials: "bp.Ndx", scores: "bp.Scores") -> tuple[int, list[str]]:
    """Return how many trials have a score, and what is wrong with the scores as an answer."""
    import numpy as np

    within = bp.trials.scores.trials_within
    scored, values, problems = scores.to_ndx(), scores.values, []
    missing, unknown = ~within(scored, trials), ~within(trials, scored)
    for which, listed, what in (
        (missing, trials, "have none"),
        (unknown, scored, "scores are of trials that the list does not have"),
    ):
        if which.any():
            shown = bp.trials.key.describe_trials(listed, which).partition(": ")[2]
            problems.append(f"{which.sum()} {what}: {shown}.")
    odd = ((np.isnan(values), "NaN"), (np.isinf(values), "infinite"))
    problems += [f"{wrong.sum()} scores are {what}." for wrong, what in odd if wrong.any()]
    if values.size > 1 and values.min() == values.max():
        problems.append("All scores are the same number.")
    return int((~missing).sum()), problems


def convert(args: argparse.Namespace) -> None:
    """Write a file in another format."""
    file, options = place_of_scores(args, args.input)
    text_format = format_of_text(args.target, args.to)
    if args.key:
        refuse(("--key gives labels to text: --to NAME, or .csv", text_format is None))
        scores, key = load_scores(args, args.input), load_key(args)
        bp.trials.scores.frame_among(scores, key)
        save_as(scores, args.target, args.to, trials=key)
        return
    readers: dict[str, Any] = {"scores": bp.read_scores, "key": bp.read_key}
    readers["trials"] = bp.read_trials
    found = readers.get(args.content, _read_any)(file, **options)
    if isinstance(found, bp.files.columns.Table):
        # From text to text, lines stay as they are.
        if text_format is not None and not args.form:
            bp.files.writing.write_table(args.target, found, text_format)
            return
        has_labels = found.is_target is not None
        content = "key" if has_labels else "trials"
        content = "scores" if found.scores is not None else content
        if content != "key" and (found.columns or has_labels):
            of_key = "; --content key takes the labels" * has_labels
            say(f"{args.target} has the {content}, nothing else of the table{of_key}")
        found = readers[content](file, **options)
    save_as(_in_matrix(found) if args.form else found, args.target, args.to)


def _in_matrix(found: Any) -> Any:
    """Return the same trials as a matrix, which the toolkit reads."""
    if isinstance(found, bp.Scores):
        return bp.Scores(found.scoremat, *found.ids, found.scoremask)
    if isinstance(found, bp.Key):
        return bp.Key(*found.ids, found.tar, found.non, found.spoof).with_columns_of(found)
    return bp.Ndx(*found.ids, found.trialmask) if isinstance(found, bp.Ndx) else found
