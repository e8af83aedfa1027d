"""Files of the command: how they are read and written, and the subcommands about them."""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import bosaris_py as bp
from bosaris_py.cli.options import AnswerIsNo, Settings, UsageError, refuse
from bosaris_py.errors import InvalidInputError, printable

if TYPE_CHECKING:
    from bosaris_py._arrays import FloatArray

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
        from bosaris_py.files.replacing import replacing

        with replacing(output) as temporary:
            temporary.write_text(line, encoding="utf-8")
    elif sys.stdout is None:
        raise OSError(errno.EBADF, "the standard output is closed; name a file by --output")
    else:
        sys.stdout.write(line)


def emit_json(content: object, output: str | None = None) -> None:
    """Write a value as JSON, in which NaN is null and an infinite number a text."""
    from bosaris_py._tables import for_json

    told = for_json(content)
    emit(json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False), output)


TABLE_OF = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex"}


def table_form(args: argparse.Namespace) -> str | None:
    """Return the form of a table that is asked for, or that the extension of the output says."""
    suffix = Path(args.output or "").suffix.lower()
    if args.table is None and suffix not in ("", ".txt", *TABLE_OF):
        expected = f"--output must end in {', '.join(TABLE_OF)}, or .txt for the table as printed"
        raise UsageError(f"{expected}; got {args.output!r}")
    return args.table or TABLE_OF.get(suffix)


def wants_json(args: argparse.Namespace) -> bool:
    """Tell whether JSON is asked for, by an option or by the extension of the output."""
    return bool(args.table) or Path(args.output or "").suffix.lower() == ".json"


def emit_table(table: object, args: argparse.Namespace, form: str | None) -> None:
    """Write a table in a form, or as it is printed: at a terminal no wider than that."""
    if form is not None:
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
    words = [word for value in given.values() for word in ([value], value)[type(value) is list]]
    if not any(re.fullmatch(r"(.*=)?-(#.*)?", word) for word in words):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="bosaris_py") as folder:
        args.copied = str(Path(folder) / "stdin")
        with open(args.copied, "wb") as copy:  # noqa: PTH123
            shutil.copyfileobj(sys.stdin.buffer, copy)

        def kept(word: str) -> str:
            return re.sub(r"\A(.*=)?-(#.*)?\Z", rf"\g<1>{args.copied}\g<2>", word)

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


def text_options(args: argparse.Namespace, prefix: str = "", **others: object) -> Settings:
    """Return the keywords with which text files are read, with `prefix` those of the key."""
    names = ("strip_suffix", "spoof", "missing", "labels")
    given = {name: getattr(args, name) for name in names}
    given |= {name: getattr(args, prefix + name) for name in ("format", "columns")} | others
    if prefix and given["columns"] is None and _is_one_file(args) and "label" in args.columns:
        given["columns"] = args.columns
    options = {name: value for name, value in given.items() if value is not None}
    return {**options, "progress": at_terminal()}


def _is_one_file(args: argparse.Namespace) -> bool:
    """Tell whether scores with columns that are told are in the file of the key."""
    given = vars(args)
    files = [given.get("system"), *(given.get("scores") or ()), *(given.get("training") or ())]
    return (
        args.columns is not None and given.get("key") in named_files(filter(None, files)).values()
    )


def place_of_scores(args: argparse.Namespace, path: str) -> tuple[str, Settings]:
    """Return the file of scores, and how it is read; a column may stand behind the sign #."""
    file, column = split_column(path)
    return file, text_options(args, columns={"score": column} if column else args.columns)


AnyTrials = TypeVar("AnyTrials", "bp.Scores", "bp.Key", "bp.Ndx")


def with_ids(found: AnyTrials, args: argparse.Namespace, side: str) -> AnyTrials:
    """Return scores (side "score") or trials ("key") with the ids that --ids makes of theirs."""
    if not (changes := [*args.ids, *getattr(args, f"{side}_ids")]):
        return found
    change = ",".join(changes)
    try:
        return found.rename(change, change)
    except InvalidInputError as error:
        told = f"--ids {change} makes one id of several: {error.got}"
        raise InvalidInputError(told) from error


def load_numbers(args: argparse.Namespace, path: str) -> FloatArray:
    """Read numbers, one a line, in their order."""
    file, options = place_of_scores(args, path)
    return bp.trials.read.read_numbers(file, **options)


def load_labelled(args: argparse.Namespace, path: str) -> tuple[bp.Scores, bp.Key | None]:
    """Read the scores of a file, or of a column behind the sign #, and labels beside them."""
    args.side = "score"
    base = getattr(args, "base", None)
    file, options = place_of_scores(args, path)
    own = None
    if args.scores_in_order:
        from bosaris_py.files.text import read_table

        how = text_options(args, "key_", spoof="keep", extra=False)
        listed = read_table(split_column(args.key or args.trials)[0], **how)
        found = bp.trials.read.read_answers(file, listed, base=base, **options)
    else:
        found, own = bp.trials.read.scores_and_labels(file, base, **options)
    return with_ids(found, args, "score"), None if own is None else with_ids(own, args, "score")


def load_scores(args: argparse.Namespace, path: str) -> bp.Scores:
    """Read the scores of a file, or of a column behind the sign #."""
    return load_labelled(args, path)[0]


def load_key(args: argparse.Namespace) -> bp.Key:
    """Read a key with its columns."""
    if args.mates:
        return _key_of_mates(args)
    args.side = "key"
    key = with_ids(
        bp.read_key(split_column(args.key)[0], **text_options(args, "key_")), args, "key"
    )
    if args.metadata is None:
        return key
    return key.with_columns_of(with_ids(bp.read_key(args.metadata), args, "key"))


def _key_of_mates(args: argparse.Namespace) -> bp.Key:
    """Return a key whose targets are the listed pairs, and the other scored trials not."""
    listed = bp.read_trials(split_column(args.mates)[0], **text_options(args, "key_"))
    files = getattr(args, "scores", None) or getattr(args, "training", None) or [args.system]
    systems = [load_scores(args, file) for file in named_files(files).values()]
    return bp.Key.from_mates(with_ids(listed, args, "key"), *systems)


def load_trials(args: argparse.Namespace) -> bp.Ndx:
    """Read the list of trials."""
    args.side = "key"
    trials = bp.read_trials(split_column(args.trials)[0], **text_options(args, "key_"))
    return with_ids(trials, args, "key")


def score_trials(cm: bp.Scores, trials: bp.Ndx | bp.Key) -> bp.Scores:
    """Return the scores of trials where a countermeasure scored utterances, and say so."""
    if cm.ids[0].size != 1 or cm.ids[0][0] in trials.ids[0]:
        return cm
    say("the countermeasure scored utterances: each counts as often as it is in trials")
    return bp.trials.scores_of_segments(cm, trials)


def are_large(args: argparse.Namespace, *files: str | None) -> bool:
    """Tell whether files are so large that they must be read in blocks, as they are."""
    changed = (args.ids, args.score_ids, args.key_ids, args.mates, args.scores_in_order)
    if any(changed) or getattr(args, "base", None) is not None:
        return False
    return bp.trials.are_large([split_column(file)[0] for file in files if file is not None])


# ---- What is written

# How files begin that this package wrote, by their first and last bytes: HDF5, .mat, JSON, reports,
# pictures, tables. Lists of trials look like those of any other program.
_OWN = re.compile(
    rb"(\x89HDF|MATLAB 5|<!doctype html).*bosaris_py|(\x89PNG|%PDF|%!PS|<\?xml).*matplotlib|"
    rb'{\s*"format": "bosaris_py\.|{\s*"table": \[|\[\s*{\s*"first": |'
    rb"(system|first),|\| (system|first) \||\\begin\{tab|system [^\n]*\n-+\n|first +second ",
    re.DOTALL | re.IGNORECASE,
)

_LOOKED_AT = 2**16


def outputs_of(args: argparse.Namespace) -> dict[str, str]:
    """Return the files that the command writes, by their options."""
    given = vars(args)
    names = ("target", "output", *["model"] * bool(given.get("training")))
    return {name: given[name] for name in names if given.get(name) is not None}


def _inputs_of(args: argparse.Namespace) -> list[str]:
    """Return the files that the command reads."""
    given = vars(args)
    systems = [given.get(name) or () for name in _LISTS[1:]]
    files = [file for part in systems for file in named_files(part).values()]
    # A model is an input unless it is trained.
    names = _FILES if given.get("training") else (*_FILES, "model")
    files += [given[name] for name in names if given.get(name) is not None]
    maps = filter(None, (given.get("speakers") or "").split(","))
    return [*(split_column(file)[0] for file in files), *maps]


def check_files(args: argparse.Namespace) -> None:
    """Refuse, before any work, an unknown format, an input as output, and the files of others."""
    from bosaris_py.files import replacing
    from bosaris_py.files.formats import find_format

    for option in ("format", "key_format", "to"):
        if getattr(args, option, None):
            find_format(getattr(args, option), option)
    given = {name for name in ("key", "mates", "tar") if getattr(args, name, None) is not None}
    judges = args.command in ("evaluate", "compare", "plot", "case", "report")
    listed = getattr(args, "key", None) or getattr(args, "trials", None)
    lone = args.command in ("info", "check", "convert")
    refuse(
        ("the following arguments are required: --key", judges and not given),
        ("the following arguments are required: SCORES", listed and vars(args).get("scores") == []),
        ("--mates takes the place of --key", {"key", "mates"} <= given),
        ("--mates is of scores that are judged or trained on", args.mates and lone),
        ("--scores-in-order needs the list or key", args.scores_in_order and (lone or not listed)),
    )
    if args.mates:
        args.key = args.mates
    inputs, outputs = _inputs_of(args), outputs_of(args)
    n_files = len(set(map(os.path.realpath, outputs.values())))
    refuse(
        ("an input needs the name of a file; got an empty text", "" in inputs),
        ("an output needs the name of a file; got an empty text", "" in outputs.values()),
        ("--model and --output name one file", n_files < len(outputs)),
    )
    for name, path in outputs.items():
        option = "OUTPUT" if name == "target" else f"--{name}"
        if read := replacing.same_file(path, inputs):
            raise UsageError(f"{option} {path} is a file that is read: {read}; name another one")
        if replacing.try_output(path) and not args.force and not _is_own(path):
            what = "no table, picture, report, model, HDF5 or MATLAB file that this program wrote"
            raise UsageError(f"{option} {path} exists, and is {what}; --force replaces it")


def _is_own(path: str) -> bool:
    """Tell whether this package wrote a file."""
    with Path(path).open("rb") as stream:
        seen = stream.read(_LOOKED_AT)
        stream.seek(-min(_LOOKED_AT, stream.seek(0, os.SEEK_END)), os.SEEK_END)
        return _OWN.match(seen + stream.read()) is not None


# What a file is written as if its extension says so and no format is named.
_FORMAT_OF = {".csv": "csv", ".tsv": "nist"}


def format_of_text(output: str, named: str | None) -> str | None:
    """Return the text format that is named, or that the extension of a file stands for."""
    return named or _FORMAT_OF.get(Path(output.removesuffix(".gz")).suffix.lower())


def save_as(found: Any, output: str, named: str | None, **parts: bp.Key) -> None:
    """Write an object in a text format, or else as the extension of the file says."""
    text_format = format_of_text(output, named)
    if text_format is None:
        found.save(output)
        return
    from bosaris_py.files.writing import write_table

    is_scores = isinstance(found, bp.Scores)
    table = bp.trials.to_table(scores=found, **parts) if is_scores else bp.trials.to_table(found)
    write_table(output, table, text_format)


# ---- The subcommands info, check and convert


def info(args: argparse.Namespace) -> None:
    """Say what files hold, each of what format it is and what it holds."""
    # One by one: what can be read is told before a bad file ends it.
    for path in args.files:
        file, shown = split_column(path)[0], "-" if path == args.copied else path
        if binary := bp.trials.read.binary_kind(file):
            text_format, kind = binary[0], binary[1].removeprefix("flat_")
            in_blocks = kind in ("scores", "key", "ndx") and are_large(args, path)
            holds = _holds_large(path, kind) if in_blocks else repr(bp.trials.read_any(path))
        elif Path(path).suffix.lower() == ".json":
            text_format, holds = "json", repr(bp.read_model(path))
        else:
            from bosaris_py.files.text import detect_format

            # What columns or labels tell needs no detection.
            is_told = args.columns or args.labels
            text_format = args.format or ("text" if is_told else detect_format(path))
            holds = repr(bp.trials.read_any(file, **{"spoof": "keep", **text_options(args)}))
        emit(f"{shown}: {text_format}, {holds}")


def _holds_large(path: str, kind: str) -> str:
    """Say what a large file holds, of which each block is verified."""
    from bosaris_py.trials.large import verified_ids

    models, segments = verified_ids(path, kind)
    return f"{kind}: {models.size} models x {segments.size} segments, read in blocks"


def check(args: argparse.Namespace) -> None:
    """Say whether scores answer a list of trials."""
    file, options = place_of_scores(args, args.system)
    scores, faults = bp.trials.read.scores_and_faults(file, **options)
    n_common, problems = answer_to(load_trials(args), scores)
    problems = [*faults, *problems]
    if wants_json(args):
        emit_json({"n_common": n_common, "problems": problems}, args.output)
    else:
        emit("\n".join([f"{n_common} trials of the list have a score.", *problems]), args.output)
    if problems:
        raise AnswerIsNo(f"{args.system} does not fit {args.trials}")


def answer_to(trials: bp.Ndx, scores: bp.Scores) -> tuple[int, list[str]]:
    """Return how many trials have a score, and what is wrong with the scores as an answer."""
    import numpy as np

    from bosaris_py.trials.key import describe_trials
    from bosaris_py.trials.scores import trials_within, why_none_scored

    scored, values = scores.to_ndx(), scores.values
    missing, unknown = ~trials_within(scored, trials), ~trials_within(trials, scored)
    problems = [
        f"{which.sum()} {what}: {describe_trials(listed, which).partition(': ')[2]}."
        for which, what, listed in (
            (missing, "have none", trials),
            (unknown, "scores are of trials that the list does not have", scored),
        )
        if which.any()
    ]
    for wrong, what in ((np.isnan(values), "NaN"), (np.isinf(values), "infinite")):
        if wrong.any():
            problems.append(f"{wrong.sum()} scores are {what}.")
    if values.size > 1 and values.min() == values.max():
        problems.append("All scores are the same number.")
    if missing.all():
        why = why_none_scored(scores, trials) or "Are the ids written alike in both files?"
        problems.append(f"No trial has a score. {why}")
    return int((~missing).sum()), problems


def convert(args: argparse.Namespace) -> None:
    """Write a file in another format."""
    file, options = place_of_scores(args, args.input)
    is_text = bp.trials.read.binary_kind(file) is None
    text_format = format_of_text(args.target, args.to)
    content: str | None = args.content or ("scores" if args.key else None)
    # From text to text, lines stay as they are.
    if is_text and text_format is not None and not (content or args.form):
        from bosaris_py.files.text import read_table
        from bosaris_py.files.writing import write_table

        write_table(args.target, read_table(file, **options), text_format)
        return
    parts = {"trials": load_key(args)} if args.key else {}
    if is_text and not content:
        table: Any = bp.trials.read_any(file, **options)
        content = "key" if table.is_target is not None else "trials"
        content = "scores" if table.scores is not None else content
    readers: dict[str | None, Any] = {None: bp.trials.read_any, "trials": bp.read_trials}
    readers |= {"scores": bp.read_scores, "key": bp.read_key}
    found = readers[content](file, **options)
    save_as(_in_matrix(found) if args.form else found, args.target, args.to, **parts)


def _in_matrix(found: object) -> object:
    """Return the same trials as a matrix, which the toolkit reads."""
    if isinstance(found, bp.Scores):
        return bp.Scores(found.scoremat, *found.ids, found.scoremask)
    if isinstance(found, bp.Key):
        matrix = bp.Key(*found.ids, found.tar, found.non, found.spoof)
        return matrix.with_columns_of(found)
    return bp.Ndx(*found.ids, found.trialmask) if isinstance(found, bp.Ndx) else found
