"""Files of the command: how they are read and written, and the subcommands about them."""

from __future__ import annotations

import argparse
import errno
import json
import os
import re
import stat
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bosaris_py as bp
from bosaris_py.cli.options import AnswerIsNo, UsageError
from bosaris_py.errors import printable

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
    elif args.wide or args.output or sys.stdout is None or not sys.stdout.isatty():
        emit(str(table), args.output)
    else:
        from bosaris_py._tables import fitted

        emit(fitted(table, os.get_terminal_size(sys.stdout.fileno()).columns))


# ---- What is read


def split_column(text: str) -> tuple[str, str]:
    """Return a file and the column of scores behind the sign #, "" if none is named."""
    if text == "-":
        return "/dev/stdin", ""
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


def text_options(args: argparse.Namespace, prefix: str = "", **others: object) -> dict[str, Any]:
    """Return the keywords with which text files are read, with `prefix` those of the key."""
    names = ("strip_suffix", "spoof", "missing", "labels")
    given = {name: getattr(args, name) for name in names}
    given |= {name: getattr(args, prefix + name) for name in ("format", "columns")} | others
    options = {name: value for name, value in given.items() if value is not None}
    return {**options, "progress": at_terminal()}


def place_of_scores(args: argparse.Namespace, path: str) -> tuple[str, dict[str, Any]]:
    """Return the file of scores, and how it is read; a column may stand behind the sign #."""
    file, column = split_column(path)
    return file, text_options(args, columns={"score": column} if column else args.columns)


def load_scores(args: argparse.Namespace, path: str) -> bp.Scores:
    """Read the scores of a file, or of a column behind the sign #."""
    file, options = place_of_scores(args, path)
    return bp.read_scores(file, base=getattr(args, "base", None), **options)


def load_key(args: argparse.Namespace) -> bp.Key:
    """Read a key with its columns."""
    key = bp.read_key(split_column(args.key)[0], **text_options(args, "key_"))
    return key.with_columns_of(bp.read_key(args.metadata)) if args.metadata else key


def load_trials(args: argparse.Namespace) -> bp.Ndx:
    """Read the list of trials."""
    return bp.read_trials(split_column(args.trials)[0], **text_options(args, "key_"))


def score_trials(cm: bp.Scores, trials: bp.Ndx | bp.Key) -> bp.Scores:
    """Return the scores of trials where a countermeasure scored utterances, and say so."""
    if cm.ids[0].size != 1 or cm.ids[0][0] in trials.ids[0]:
        return cm
    say("the countermeasure scored utterances: each counts as often as it is in trials")
    return bp.trials.scores_of_segments(cm, trials)


def are_large(*files: str | None) -> bool:
    """Tell whether files are so large that they must be read in blocks."""
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
    systems = [given.get(name) or () for name in ("scores", "training", "apply")]
    files = [file for part in systems for file in named_files(part).values()]
    # A model is an input unless it is trained.
    model = () if given.get("training") else ("model",)
    names = ("input", "system", "key", "metadata", "trials", *model)
    files += [given[name] for name in names if given.get(name) is not None]
    if "" in files:
        raise UsageError("an input needs the name of a file; got an empty text")
    return [split_column(file)[0] for file in files] + (given.get("speakers") or "").split(",")


def check_files(args: argparse.Namespace) -> None:
    """Refuse, before any work, an unknown format, an input as output, and the files of others."""
    from bosaris_py.files import replacing
    from bosaris_py.files.formats import find_format

    for option in ("format", "key_format", "to"):
        if getattr(args, option, None):
            find_format(getattr(args, option), option)
    inputs, outputs = _inputs_of(args), outputs_of(args)
    for file in inputs:
        is_pipe = Path(file).exists() and stat.S_ISFIFO(Path(file).stat().st_mode)
        if is_pipe and not file.startswith("/dev/"):
            say(f"{file} is a pipe: waiting until something is written into it")
    if "" in outputs.values():
        raise UsageError("an output needs the name of a file; got an empty text")
    if len(set(map(os.path.realpath, outputs.values()))) < len(outputs):
        raise UsageError("--model and --output name one file")
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


def save_as(found: Any, output: str, named: str | None, **parts: Any) -> None:
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
    """Say what files hold."""
    records = (_describe(args, path) for path in args.files)
    if args.table:
        emit_json(list(records))
        return
    # One by one: what can be read is told before a bad file ends it.
    for record in records:
        emit(f"{record['file']}: {record['format']}, {record['holds']}")


def _describe(args: argparse.Namespace, path: str) -> dict[str, str]:
    """Say of what format a file is and what it holds."""
    file = split_column(path)[0]
    binary = bp.trials.read.binary_kind(file)
    if binary is not None:
        text_format, kind = binary[0], binary[1].removeprefix("flat_")
        in_blocks = kind in ("scores", "key", "ndx") and are_large(path)
        holds = _holds_large(path, kind) if in_blocks else repr(bp.trials.read_any(path))
    elif Path(path).suffix.lower() == ".json":
        text_format, holds = "json", repr(bp.read_model(path))
    else:
        from bosaris_py.files.text import detect_format

        # What columns or labels tell needs no detection, and a pipe can be read only once.
        is_told = args.columns or args.labels or file == "/dev/stdin"
        text_format = args.format or ("text" if is_told else detect_format(path))
        options = {"spoof": "nontarget", **text_options(args)}
        holds = repr(bp.trials.read_any(file, **options))
    return {"file": path, "format": text_format, "holds": holds}


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
