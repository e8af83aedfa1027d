"""The subcommands about files: info, check, convert."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import bosaris_py as bp
from bosaris_py.cli import files
from bosaris_py.cli.options import AnswerIsNo
from bosaris_py.cli.printing import emit, emit_json, table_form


def info(args: argparse.Namespace) -> None:
    """Say what files hold."""
    records = (_describe(args, path) for path in args.files)
    if args.table:
        emit_json(list(records))
        return
    # One by one: what can be read is told before a bad file ends it.
    for record in records:
        emit(f"{record['file']}: {record['format']}, {record['holds']}")


def _describe(args: argparse.Namespace, path: str) -> dict[str, Any]:
    """Say of what format a file is and what it holds."""
    binary = bp.trials.read.binary_kind(path)
    if binary is None and Path(path).suffix.lower() == ".json":
        return {"file": path, "format": "json", "holds": repr(bp.read_model(path))}
    if binary is None:
        from bosaris_py.files.text import detect_format

        # What columns or labels tell needs no detection.
        told = args.format or ("text" if args.columns or args.labels else None)
        text_format = told or detect_format(path)
        found: Any = bp.trials.read_any(path, **{"spoof": "nontarget", **files.text_options(args)})
        return {"file": path, "format": text_format, "holds": repr(found)}
    kind = binary[1].removeprefix("flat_")
    if kind in ("scores", "key", "ndx") and files.are_large(args, path):
        from bosaris_py.trials.large import verified_ids

        models, segments = verified_ids(path, kind)
        holds = f"{kind}: {models.size} models x {segments.size} segments, read in blocks"
        return {"file": path, "format": binary[0], "holds": holds}
    return {"file": path, "format": binary[0], "holds": repr(bp.trials.read_any(path))}


def check(args: argparse.Namespace) -> None:
    """Say whether scores answer a list of trials."""
    form = table_form(args, "json")
    file, options = files.place_of_scores(args, args.system)
    scores, faults = bp.trials.read.scores_and_faults(file, **options)
    trials = bp.read_trials(args.trials, **files.text_options(args, "key_"))
    n_common, problems = answer_to(trials, scores)
    problems = [*faults, *problems]
    if form:
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
    problems = []
    if missing.any():
        names = describe_trials(trials, missing).partition(": ")[2]
        problems.append(f"{missing.sum()} have none: {names}.")
    if unknown.any():
        names = describe_trials(scored, unknown).partition(": ")[2]
        strange = "scores are of trials that the list does not have"
        problems.append(f"{unknown.sum()} {strange}: {names}.")
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
    is_text = bp.trials.read.binary_kind(args.input) is None
    text_format = files.format_of_text(args.target, args.to)
    options = files.text_options(args)
    content: str | None = args.content
    parts: dict[str, Any] = {}
    found: Any
    # From text to text, lines stay as they are.
    if is_text and text_format is not None and not (content or args.key or args.form):
        from bosaris_py.files.text import read_table
        from bosaris_py.files.writing import write_table

        write_table(args.target, read_table(args.input, **options), text_format)
        return
    if args.key is not None:
        parts["trials"] = files.load_key(args)
        content = content or "scores"
    if is_text and not content:
        found = bp.trials.read_any(args.input, **options)
        content = "scores" if found.scores is not None else "trials"
        content = "key" if content == "trials" and found.is_target is not None else content
    found = _reader(content)(args.input, **options)
    if args.form is not None and isinstance(found, bp.Ndx | bp.Key | bp.Scores):
        found = _in_matrix(found)
    files.save_as(found, args.target, args.to, **parts)


def _reader(content: str | None) -> Callable[..., Any]:
    """Return what reads the scores, the key, the trials or all of a file."""
    readers: dict[str | None, Callable[..., Any]] = {
        None: bp.trials.read_any,
        "scores": bp.read_scores,
        "key": bp.read_key,
        "trials": bp.read_trials,
    }
    return readers[content]


def _in_matrix(found: bp.Ndx | bp.Key | bp.Scores) -> bp.Ndx | bp.Key | bp.Scores:
    """Return the same trials as a matrix, which the toolkit reads."""
    if isinstance(found, bp.Scores):
        return bp.Scores(found.scoremat, *found.ids, found.scoremask)
    if isinstance(found, bp.Ndx):
        return bp.Ndx(*found.ids, found.trialmask)
    matrix = bp.Key(*found.ids, found.tar, found.non, found.spoof)
    return matrix.with_columns_of(found)
