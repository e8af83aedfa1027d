"""The files of the command: how they are read, which may be written, and in what format."""

from __future__ import annotations

import argparse
import os
import re
import stat
from pathlib import Path
from typing import Any

import bosaris_py as bp
from bosaris_py.cli.options import UsageError, named_files, split_column
from bosaris_py.cli.printing import at_terminal, say

# What a file is written as if its extension says so and no format is named.
_FORMAT_OF = {".csv": "csv", ".tsv": "nist"}


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
    columns = {"score": column} if column else args.columns
    return file, text_options(args, columns=columns)


def load_scores(args: argparse.Namespace, path: str) -> bp.Scores:
    """Read the scores of a file, or of a column behind the sign #."""
    file, options = place_of_scores(args, path)
    return bp.read_scores(file, base=getattr(args, "base", None), **options)


def load_key(args: argparse.Namespace) -> bp.Key:
    """Read a key with its columns."""
    key = bp.read_key(args.key, **text_options(args, "key_"))
    if getattr(args, "metadata", None):
        return key.with_columns_of(bp.read_key(args.metadata))
    return key


def of_trials(cm: Any, trials: Any) -> Any:
    """Return the scores of trials where a countermeasure scored utterances, and say so."""
    if cm.ids[0].size != 1 or cm.ids[0][0] in trials.ids[0]:
        return cm
    say("the countermeasure scored utterances: each counts as often as it is in trials")
    return bp.trials.scores_of_segments(cm, trials)


def are_large(args: argparse.Namespace, *files: str | None) -> bool:
    """Tell whether files are so large that they must be read in blocks."""
    most = None if args.memory is None else args.memory * 1e9
    named = [split_column(file)[0] for file in files if file is not None]
    return bp.trials.are_large(named, max_bytes=most)


def check_formats(args: argparse.Namespace) -> None:
    """Refuse an unknown format under the option that names it, before anything is trained."""
    from bosaris_py.files.formats import find_format

    for option in ("format", "key_format", "to"):
        if getattr(args, option, None):
            find_format(getattr(args, option), option)


def format_of_text(output: str, named: str | None) -> str | None:
    """Return the text format that is named, or that the extension of a file stands for."""
    return named or _FORMAT_OF.get(Path(output.removesuffix(".gz")).suffix.lower())


# How files begin that this package wrote, by their first and last bytes: HDF5, .mat, JSON, reports,
# pictures, tables. Lists of trials look like those of any other program.
_OWN = re.compile(
    rb"(\x89HDF|MATLAB 5|<!doctype html).*bosaris_py|(\x89PNG|%PDF|%!PS|<\?xml).*matplotlib|"
    rb'{\s*"format": "bosaris_py\.|{\s*"table": \[|\[\s*{\s*"first": |'
    rb"(system|first),|\| (system|first) \||\\begin\{tabular\}|system [^\n]*\n-+\n|first +second "
    rb"|[^\n]*\nplan [0-9a-f]{8};",
    re.DOTALL | re.IGNORECASE,
)


_LOOKED_AT = 2**16


def outputs_of(args: argparse.Namespace) -> dict[str, str]:
    """Return the files that the command writes, by their options."""
    given = vars(args)
    names = ("target", "output", *["model"] * bool(given.get("training")))
    return {name: given[name] for name in names if given.get(name) is not None}


def check_outputs(args: argparse.Namespace) -> None:
    """Refuse, before any work, to write into an input, or in place of what others wrote."""
    given = vars(args)
    systems = [given.get(name) or () for name in ("scores", "training", "apply")]
    files = [file for part in systems for file in named_files(part).values()]
    # A model is an input unless it is trained.
    model = "output" if given.get("training") else "input"
    names = ("input", "system", "key", "metadata", "trials", *["model"] * (model == "input"))
    files += [given[name] for name in names if given.get(name) is not None]
    if "" in files:
        raise UsageError("an input needs the name of a file; got an empty text")
    inputs = [split_column(file)[0] for file in files] + (given.get("speakers") or "").split(",")
    for file in inputs:
        if stat.S_ISFIFO(Path(file).stat().st_mode if Path(file).exists() else 0) and not (
            file.startswith("/dev/")
        ):
            say(f"{file} is a pipe: waiting until something is written into it")
    from bosaris_py.files import replacing

    outputs = outputs_of(args)
    if "" in outputs.values():
        raise UsageError("an output needs the name of a file; got an empty text")
    if len(set(map(os.path.realpath, outputs.values()))) < len(outputs):
        raise UsageError("--model and --output name one file")
    for name, path in outputs.items():
        option = f"--{name}".replace("--target", "OUTPUT")
        if read := replacing.same_file(path, inputs):
            raise UsageError(f"{option} {path} is a file that is read: {read}; name another one")
        if replacing.try_output(path) and not args.force:
            with Path(path).open("rb") as stream:
                seen = stream.read(_LOOKED_AT)
                stream.seek(-min(_LOOKED_AT, stream.seek(0, os.SEEK_END)), os.SEEK_END)
                seen += stream.read()
            if not _OWN.match(seen):
                raise UsageError(
                    f"{option} {path} exists, and is no table, picture, report, model, HDF5 or "
                    "MATLAB file that this program wrote; --force replaces it"
                )


def save_as(found: Any, output: str, text_format: str | None, **parts: Any) -> None:
    """Write an object in a text format, or else as the extension of the file says."""
    text_format = format_of_text(output, text_format)
    if text_format is None:
        found.save(output)
        return
    from bosaris_py.files.writing import write_table

    if isinstance(found, bp.Scores):
        table = bp.trials.to_table(scores=found, **parts)
    else:
        table = bp.trials.to_table(found)
    write_table(output, table, text_format)
