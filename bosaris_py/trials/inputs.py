"""What users give: keys, systems by name, and files of any format.

What a file holds is found out from its content, not from its name.

HDF5 and MATLAB files say what they are by their first bytes; everything else is taken for one of
the text formats of the field.
"""

from __future__ import annotations

import glob
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, mark_read_only
from bosaris_py._cautions import warn_caller
from bosaris_py._validation import FilePath
from bosaris_py.errors import DuplicateTrialWarning, FileFormatError, MissingTrialsWarning
from bosaris_py.files import hdf5, mat
from bosaris_py.files.columns import Factor, order_trials
from bosaris_py.files.hdf5 import half_of_memory
from bosaris_py.files.labels import KIND, KINDS
from bosaris_py.files.text import Columns, Labels, Table, read_table
from bosaris_py.trials.alignment import Ids
from bosaris_py.trials.arguments import name_trials
from bosaris_py.trials.columns import Column
from bosaris_py.trials.conditions import conflicts_of
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import Key, Ndx, as_key, as_labels
from bosaris_py.trials.quality import QualityMeasures, SegmentQuality
from bosaris_py.trials.saving import FileMethods
from bosaris_py.trials.scores import Scores, to_natural

SystemsLike: TypeAlias = (
    Mapping[str, Scores | FilePath]
    | Scores
    | FilePath
    | Sequence[Scores | FilePath]
    | Iterator[Scores | FilePath]
)

# What a path may be, for isinstance.
_PATH = str, os.PathLike


AnyObject: TypeAlias = Ndx | Key | Scores | IdMap | SegmentQuality | QualityMeasures

# Of scores in memory: the matrix, both classes, and what sorting or training makes of them.
_COPIES = 3

_CLASSES: dict[str, type[FileMethods]] = {
    item._kind: item for item in (*(Ndx, Key, Scores), *(SegmentQuality, QualityMeasures, IdMap))
}


def binary_kind(path: FilePath) -> tuple[str, str] | None:
    """Return ``"hdf5"`` or ``"mat"`` and one of `layout.KINDS`; None for other files."""
    file = check.as_path(path)
    # A pipe can be read only once, and holds text.
    if file.exists() and not file.is_file():
        return None
    with file.open("rb") as stream:
        head = stream.read(6)
    if head.startswith(b"\x89HDF"):
        return "hdf5", hdf5.kind_of(file)
    return ("mat", mat.kind_of(file)) if head == b"MATLAB" else None


def name_of_file(path: FilePath) -> str:
    """Return the name of a file without its folder and its extension, of ``a.csv.gz`` both."""
    name = Path(path).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def are_large(paths: Iterable[FilePath], *, max_bytes: float | None = None) -> bool:
    """Tell whether all files are HDF5 files and together take more memory than `max_bytes`.

    Scores are counted three times, because metrics and trainings hold copies.
    """
    files = list(map(Path, paths))
    most = half_of_memory() if max_bytes is None else max_bytes
    if _COPIES * sum(file.stat().st_size for file in files) <= most:
        return False
    kinds = map(binary_kind, files)
    return all(kind is not None and kind[0] == "hdf5" for kind in kinds)


def read_any(path: FilePath, **options: Any) -> AnyObject | Table:
    """Read whatever a file holds.

    Parameters
    ----------
    path : str or path-like
        A file in HDF5, of MATLAB, or in one of the text formats.
    **options
        Keywords of `files.text.read_table`, for text.

    Returns
    -------
    object
        Of the class that the file is of; of text a `files.text.Table`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py import Key
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trials"
    >>> Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False]).save_hdf5(path)
    >>> read_any(path)
    Key: 1 models x 2 segments, 1 targets, 1 non-targets
    """
    binary = binary_kind(path)
    if binary is None:
        return read_table(path, **options)
    found: AnyObject = _read(path, *binary, options.get("max_bytes"))
    return found


def read_key(
    path: FilePath,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Labels | None = None,
    spoof: str = "keep",
    missing: str | Sequence[str] = (),
    strip_suffix: str = "",
    max_bytes: int | None = None,
    progress: bool = False,
) -> Key:
    r"""Read trials with their labels from a file of any format.

    Parameters
    ----------
    path : str or path-like
        A file in HDF5, of MATLAB, or in one of the text formats of the field; text is decompressed
        if the name ends in ``.gz``.
    format : str, optional
        Name of the text format; by default it is found out.
    columns, labels, spoof, missing, strip_suffix
        Of text: what the columns and the words of labels are, what to do with spoofs, what stands
        for a missing number, and what is taken off ids; see `files.text.read_table`.
    max_bytes : int, optional
        Refuse a file whose contents would take more memory than this.
    progress : bool, default: False
        Show a progress bar while text is read.

    Returns
    -------
    Key
        The trials, with the other columns of the file; of text, models and segments are sorted.

    Raises
    ------
    FileFormatError
        If the file is damaged, not what the format says, has no labels, or lists a trial twice with
        different labels or other columns.

    Warns
    -----
    DuplicateTrialWarning
        If trials are listed more than once.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bosaris_py as bp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "key.tsv"
    >>> _ = path.write_text(
    ...     "modelid\tsegmentid\ttargettype\tgender\n"
    ...     "m1\ts1\ttarget\tf\nm1\ts2\tnontarget\tf\nm2\ts2\ttarget\tm\n"
    ... )
    >>> key = bp.read_key(path)
    >>> key
    Key: 2 models x 2 segments, 2 targets, 1 non-targets
    >>> key.columns["gender"].values().tolist()
    ['f', 'f', 'm']
    """
    found: Key | None = _binary(path, Key, "a Key", max_bytes)
    if found is not None:
        return found
    table = read_table(
        path,
        format,
        columns=columns,
        labels=labels,
        spoof=spoof,
        missing=missing,
        strip_suffix=strip_suffix,
        max_bytes=max_bytes,
        progress=progress,
    )
    if table.is_target is None:
        message = f"{path}: this file has no labels, so it is no key; read_trials reads trials"
        raise FileFormatError(message)
    table = _once(table, path, "labels")
    assert table.is_target is not None, "taking lines keeps the labels"
    columns_of_file = dict(table.columns)
    kinds = columns_of_file.get(KIND)
    is_told = isinstance(kinds, Factor) and set(kinds.levels.tolist()) <= set(KINDS)
    found_labels = as_labels(columns_of_file.pop(KIND) if is_told else table.is_target)
    key = Key._from_positions(*_places(table), found_labels, "labels")
    return key.with_columns(**columns_of_file)


def read_trials(
    path: FilePath,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    labels: Labels | None = None,
    spoof: str = "keep",
    missing: str | Sequence[str] = (),
    strip_suffix: str = "",
    max_bytes: int | None = None,
    progress: bool = False,
) -> Ndx:
    """Read trials without labels from a file of any format.

    Parameters
    ----------
    path, format, columns, labels, spoof, missing, strip_suffix, max_bytes, progress
        As for `read_key`.

    Returns
    -------
    Ndx
        The trials; of text, models and segments are sorted. Labels, scores and other columns are
        left out.

    Raises
    ------
    FileFormatError
        As for `read_key`, but labels need not be there.

    Warns
    -----
    DuplicateTrialWarning
        As for `read_key`.
    """
    found = _binary(path, Ndx | Key, "an Ndx or Key", max_bytes)
    if found is not None:
        ndx: Ndx = found.to_ndx() if isinstance(found, Key) else found
        return ndx
    table = read_table(
        path,
        format,
        columns=columns,
        labels=labels,
        spoof=spoof,
        missing=missing,
        strip_suffix=strip_suffix,
        max_bytes=max_bytes,
        progress=progress,
    )
    table = _once(table, path, "")
    return Ndx._from_positions(*_places(table))


def read_scores(
    path: FilePath,
    *,
    format: str | None = None,
    base: float | None = None,
    decision: str | None = None,
    columns: Columns | None = None,
    labels: Labels | None = None,
    spoof: str = "nontarget",
    missing: str | Sequence[str] = (),
    strip_suffix: str = "",
    max_bytes: int | None = None,
    progress: bool = False,
) -> Scores:
    r"""Read scores from a file of any format.

    Parameters
    ----------
    path, format
        As for `read_key`.
    base : float, optional
        Base of log-likelihood-ratios, such as 10, which become natural logarithms.
    decision : str, optional
        Name of a column of a text with decisions, such as those of NIST's submissions, which is
        read in place of the scores: 1 where a trial was accepted (``t``, ``true``, ``accept``,
        ``yes`` or ``1``), 0 where it was rejected (``f``, ``false``, ``reject``, ``no``, ``0``).
    columns, labels, spoof, missing, strip_suffix, max_bytes, progress
        As for `read_key`; spoofs are read like all others.

    Returns
    -------
    Scores
        The scores; of text, models and segments are sorted. Labels and other columns are left out.

    Raises
    ------
    FileFormatError
        As for `read_key`, of scores instead of labels.

    Warns
    -----
    DuplicateTrialWarning
        As for `read_key`.
    MissingTrialsWarning
        If lines have no score, as some formats allow; they are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bosaris_py as bp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> _ = path.write_text("m1 s1 2.5\nm1 s2 -1.25\nm2 s2 0.75\n")
    >>> bp.read_scores(path)
    Scores: 2 models x 2 segments, 3 scores
    """
    found: Scores | None = _binary(path, Scores, "Scores", max_bytes)
    if decision is not None and (found is not None or base is not None):
        got = "a binary file" if found is not None else "base"
        raise check.invalid("decision", "be left out but for texts without a base", got)
    if found is not None:
        return to_natural(found, base)
    table = read_table(
        path,
        format,
        columns=columns,
        labels=labels,
        spoof=spoof,
        missing=missing,
        strip_suffix=strip_suffix,
        # Other columns are not returned, so they are not read.
        extra=decision is not None,
        max_bytes=max_bytes,
        progress=progress,
    )
    if decision is not None:
        table = _decided(table, decision, path)
    if table.scores is None:
        message = f"{path}: this file has no scores; is it a key?"
        hint = "Which column holds scores can be told, as in score=NAME."
        raise FileFormatError(message, hint=hint, use={"columns": None})
    is_missing = np.isnan(table.scores)
    if is_missing.any():
        message = f"{np.count_nonzero(is_missing)} of {len(table)} lines of {path} have no score."
        warn_caller(message, MissingTrialsWarning)
        table = table.take(~is_missing)
    table = _once(table, path, "scores")
    assert table.scores is not None, "taking lines keeps the scores"
    return to_natural(Scores._from_positions(*_places(table), table.scores, "scores"), base)


_DECISIONS = dict.fromkeys(("t", "true", "accept", "yes", "1"), 1.0)
_DECISIONS |= dict.fromkeys(("f", "false", "reject", "no", "0"), 0.0)


def _decided(table: Table, name: str, path: FilePath) -> Table:
    """Return a table whose scores are the decisions of a column."""
    column = table.columns.get(name)
    if column is None:
        known = f"it has {check.list_some(table.columns)}" if table.columns else "it has no others"
        message = f"{path}: this file has no column {check.safe(name)!r} of decisions; {known}."
        raise FileFormatError(message, use={"columns": None})
    if not isinstance(column, Factor):
        column = Factor.from_values([f"{value:g}" for value in column.tolist()])
    levels = [_DECISIONS.get(text.casefold()) for text in column.levels.tolist()]
    strange = [t for t, n in zip(column.levels.tolist(), levels, strict=True) if n is None]
    if strange:
        hint = (
            "A trial was accepted (t, true, accept, yes, 1) or rejected (f, false, reject, no, 0)."
        )
        raise FileFormatError(
            f"{path}: column {check.safe(name)!r} holds {check.list_some(strange)}.", hint=hint
        )
    scores = np.array(levels, dtype=np.float64)[column.codes]
    return attrs.evolve(table, scores=scores, columns={})


def _places(table: Table) -> tuple[Ids, AnyArray, AnyArray]:
    """Return the ids of a table, and the positions in these of each line."""
    models, segments = table.models, table.segments
    return (models.levels, segments.levels), models.codes, segments.codes


def scores_and_faults(
    path: FilePath, *, missing: str | Sequence[str] = (), **options: Any
) -> tuple[Scores, list[str]]:
    """Return the scores of a file, and what is wrong with lines of a text that have none of them.

    Lines without a score, or of a trial that stood before, are left out and told, not refused.
    """
    if binary_kind(path) is not None:
        return read_scores(path), []
    options = {"spoof": "nontarget", **options}
    absent = ["nan", *([missing] if isinstance(missing, str) else missing)]
    table = read_table(path, missing=absent, extra=False, **options)
    values = table.scores
    if values is None:  # the error says so
        return read_scores(path, missing=missing, **options), []
    models, segments = table.models, table.segments
    order = order_trials(models.codes, segments.codes, models.levels.size)
    is_wanted = ~np.isnan(values)
    faults = {"{} without a score": np.flatnonzero(~is_wanted)}
    is_wanted[order.repeated] = False
    differ = order.conflicts(values)
    faults["{} of a trial again, with the same score"] = np.sort(order.repeated[~differ])
    faults["{} of a trial again, with another score"] = np.sort(order.repeated[differ])

    def named(line: int) -> str:
        names = models.levels[models.codes[line]], segments.levels[segments.codes[line]]
        return f"{table.line_number(line)} ({names[0]}, {names[1]})"

    told = [
        f"{what.format('1 line' if lines.size == 1 else f'{lines.size} lines')}: "
        f"{check.list_some(map(named, lines.tolist()))}."
        for what, lines in faults.items()
        if lines.size
    ]
    table = table.take(is_wanted)
    assert table.scores is not None, "taking lines keeps the scores"
    return Scores._from_positions(*_places(table), table.scores, "scores"), told


def _binary(path: FilePath, classes: Any, wanted: str, max_bytes: int | None) -> Any:
    """Return scores, or trials with what is known of them, in a binary file; None of text."""
    binary = binary_kind(path)
    if binary is None:
        return None
    found = _read(path, *binary, max_bytes)
    if not isinstance(found, classes):
        raise FileFormatError(f"{path}: expected {wanted}; the file holds {found!r}")
    return found


def _read(path: FilePath, form: str, kind: str, max_bytes: int | None) -> Any:
    """Read an object of a known kind from a binary file."""
    if kind == "trial_metadata":
        arrays = hdf5.read_metadata(path, max_bytes=max_bytes)
        cls = Ndx if arrays["is_target"] is None else Key
        return cls.read_hdf5(path, max_bytes=max_bytes)
    return getattr(_CLASSES[kind.removeprefix("flat_")], f"read_{form}")(path, max_bytes=max_bytes)


def _once(table: Table, path: FilePath, what: str) -> Table:
    """Return the trials of a file column by column, each once."""
    # Lines of the same trial must not differ in their columns, nor in `what`: `"labels"`,
    # `"scores"` or nothing.
    contents = {"labels": table.is_target, "scores": table.scores}.get(what)
    order = order_trials(table.models.codes, table.segments.codes, table.models.levels.size)
    if order.repeated.size:
        columns: dict[str, Column | None] = {what.removesuffix("s"): contents} if what else {}
        columns |= table.columns
        for name, conflicts in conflicts_of(order, columns):
            shown = _name_lines(table, order.repeated[conflicts])
            raise FileFormatError(f"{path}: trials are listed again with another {name}: {shown}.")
        shown = _name_lines(table, order.repeated)
        message = f"Lines of {path} that list a trial again were left out: {shown}."
        warn_caller(message, DuplicateTrialWarning)
    return table if order.order is None else table.take(mark_read_only(order.order))


def _name_lines(table: Table, lines: AnyArray) -> str:
    """Return the number of the trials in some lines and the first few, for a message."""
    ids, models, segments = _places(table)
    pairs = np.unique(np.stack([models[lines], segments[lines]]), axis=1)
    return name_trials(pairs[0], pairs[1], ids)


def named_systems(systems: object) -> Mapping[str, Scores | FilePath]:
    """Return systems by name: that of a file, or else a number."""
    given: object = systems
    named: dict[Any, Any]
    if isinstance(given, Scores):
        named = {"system": given}
    elif isinstance(given, Mapping):
        named = dict(given)
    elif isinstance(given, (list, tuple, *_PATH)):
        named = {}
        listed = given if isinstance(given, (list, tuple)) else files_of(given)
        for number, item in enumerate(listed, 1):
            name = name_of_file(item) if isinstance(item, _PATH) else ""
            # A file may have the name that a number makes.
            numbered = (f"system {place}" for place in itertools.count(number))
            names = itertools.chain([name] if name else [], numbered)
            named[next(each for each in names if each not in named)] = item
    else:
        hint = "Did you swap `systems` and `key`?" if isinstance(given, Key) else ""
        if hasattr(given, "__arrow_c_stream__"):  # pandas, polars and pyarrow
            hint = "from_frame makes scores and key of a data frame."
        elif hasattr(given, "scores"):
            hint = "Give its scores: data.scores."
        raise check.invalid("systems", "map names to Scores or files", check.describe(given), hint)
    if not named:
        raise check.invalid("systems", "hold at least one system", "none")
    for name, scores in named.items():
        if not isinstance(name, str) or not name:
            raise check.invalid("systems", "be named by text", check.describe(name))
        if not isinstance(scores, (Scores, *_PATH)):
            expected = "be a Scores or a file"
            hint = "Give its scores: fitted.scores." if hasattr(scores, "fold_of") else ""
            if isinstance(scores, list | tuple):
                hint = "Fuse them first: cross_fit(LinearFusion, [...], key).scores."
            raise check.invalid(f"systems[{name!r}]", expected, check.describe(scores), hint)
    return named


def files_of(path: FilePath) -> list[FilePath]:
    """Return the files of a folder, or those that fit a pattern such as ``scores/*.txt``."""
    place = Path(path)
    if place.is_dir():
        found = sorted(file for file in place.iterdir() if file.is_file())
        # What begins with a point is no file of scores, but one of an editor or a system.
        files = [file for file in found if not file.name.startswith(".")]
    elif glob.has_magic(os.fspath(path)) and not place.exists():
        files = sorted(map(Path, glob.iglob(os.fspath(path), recursive=True)))  # noqa: PTH207
    else:
        return [path]
    if not files:
        raise check.invalid("systems", "name files of scores", f"none in {os.fspath(path)!r}")
    return [*files]


def as_systems(systems: object) -> dict[str, Scores]:
    """Return the scores of systems by name; files are read."""
    return {
        name: read_scores(item) if isinstance(item, _PATH) else item
        for name, item in named_systems(systems).items()
    }


def large_files(systems: object, key: object) -> tuple[dict[str, FilePath], FilePath] | tuple[()]:
    """Return systems and key, if all are files, and too large to be read whole."""
    named = named_systems(systems)
    files = {name: file for name, file in named.items() if isinstance(file, _PATH)}
    if not isinstance(key, _PATH) or len(files) < len(named):
        return ()
    return (files, key) if are_large([*files.values(), key]) else ()


def read_if_path(key: object) -> Key:
    """Return a key, given it or its file."""
    return read_key(key) if isinstance(key, _PATH) else as_key(key)
