"""What the options of the command mean: their values, and the table of all of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import bosaris_py as bp


class UsageError(Exception):
    """Options that do not go together."""


class AnswerIsNo(Exception):
    """What was asked for was found not to be so."""


def _points(text: str) -> list[float | bp.OperatingPoint]:
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


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        point = ", with a point in place of the comma" if "," in text else ""
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number{point}") from None


def _size(text: str) -> float:
    try:
        size = float(text)
    except ValueError:
        size = -1.0
    if not size >= 0.0:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number of gigabytes")
    return size


def _ridge(text: str) -> float | str:
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
        example = "such as score=cosine, or H1=target,H2=nontarget"
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE between commas, {example}")
    return {name: value for name, _, value in pairs}


def _label_words(text: str) -> dict[str, bool | str | None]:
    """Return the meaning of words: target, a kind of non-targets, or drop."""
    from bosaris_py.files.labels import THIRD_KINDS

    meanings: dict[str, bool | str | None] = {"target": True, "nontarget": False}
    meanings |= {kind.word: kind.word for kind in THIRD_KINDS} | {"drop": None}
    try:
        return {word: meanings[meaning] for word, meaning in _pairs(text).items()}
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"{error} is none of {', '.join(meanings)}") from None


def _column_names(text: str) -> str | dict[str, str | None]:
    """Return columns from left to right, or names by role as in ``score=cosine``."""
    if "=" not in text:
        return text.replace(",", " ")
    return {role: name or None for role, name in _pairs(text).items()}


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


STATISTICS: Mapping[str, Callable[[Any], Any]] = {
    "eer": lambda point: bp.uncertainty.EER(),
    "min_dcf": lambda point: bp.uncertainty.MinDCF(point),
    "act_dcf": lambda point: bp.uncertainty.ActDCF(point),
    "min_cllr": lambda point: bp.uncertainty.MinCllr(),
    "cllr": lambda point: bp.uncertainty.Cllr(),
    "auc": lambda point: bp.uncertainty.AUC(),
}


_FILE = {"metavar": "FILE"}


_NAME = {"metavar": "NAME"}


OPTIONS: Mapping[str, dict[str, Any]] = {
    # Positional
    "files": dict(nargs="+", metavar="FILE"),
    "input": dict(metavar="INPUT"),
    "target": dict(metavar="OUTPUT", help="file to write: .h5, .mat, .txt, .csv, .tsv"),
    "scores": dict(nargs="+", metavar="SCORES", help="FILE, NAME=FILE or NAME=FILE#COLUMN"),
    "system": dict(metavar="SCORES", help="file of scores"),
    "training": dict(nargs="*", metavar="SCORES", help="scores to train on"),
    "kind": dict(
        metavar="KIND", help="det, bayes, tippett, ece, pav, reliability, histogram or forest"
    ),
    "score": dict(type=_number, metavar="SCORE", help="score of the comparison"),
    "--costs": dict(help="ASVspoof5 (default) or a-DCF1"),
    # A case
    "--same": dict(metavar="TEXT", help="the proposition of one source"),
    "--different": dict(metavar="TEXT", help="the proposition of two sources"),
    "--reference": dict(metavar="TEXT", help="what the reference set is, and why it is relevant"),
    "--of": dict(metavar="SYSTEM", help="draw this system only"),
    # Trials, and what is known of them
    "--key": dict(_FILE, help="which trials are targets"),
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
    "--statistic": dict(choices=STATISTICS, default="eer", help="to compare (default: eer)"),
    "--eer": dict(
        choices=("rocch", "interpolated", "step"), help="which equal error-rate (default: rocch)"
    ),
    "--fail-if-worse": dict(
        action="store_true",
        help="exit with status 3 if the first system is significantly worse than the second",
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
    "--title": dict(metavar="TEXT"),
    "--date": dict(metavar="TEXT", help="date to name (default: none)"),
    # Files
    "--output": dict(_FILE, help="file to write"),
    "--blind": dict(
        action="store_true",
        help="refuse systems that lack trials of the key, without the counts, which tell "
        "labels of a hidden key",
    ),
    "--wide": dict(action="store_true", help="one line for each row, wider than the terminal"),
    "--force": dict(action="store_true", help="replace an existing file, whoever wrote it"),
    "--to": dict(_NAME, help="text format to write; see the page on formats"),
    "--content": dict(choices=("scores", "key", "trials"), help="what to take"),
    "--form": dict(choices=("dense",), help="a matrix, which the toolkit reads, not a list"),
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
    "--base": dict(
        type=_number, metavar="NUMBER", help="the scores are logarithms of this base, such as 10"
    ),
    "--strip-suffix": dict(metavar="TEXT", help="take this off the end of ids: .wav"),
    "--spoof": dict(
        choices=("error", "nontarget", "keep", "drop"), help="trials of the third class"
    ),
    "--missing": dict(metavar="WORD", help="what stands for a missing score: nan"),
    **{
        f"--{form}": dict(action="store_const", dest="table", const=form, help=f"write {form}")
        for form in ("json", "csv", "markdown", "latex")
    },
}
