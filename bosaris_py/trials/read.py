"""What users give: keys, systems by name, and files of any format.

What a file holds is found out from its content, not from its name.

HDF5 and MATLAB files say what they are by their first bytes; everything else is taken for one of
the text formats of the field.
"""

from __future__ import annotations

import glob
import itertools
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, FilePath, FloatArray, Given, mark_read_only
from bosaris_py.files import hdf5, mat
from bosaris_py.files.columns import KIND, Factor, Table, are_kinds, order_trials
from bosaris_py.files.detection import lone_score, suggest_role
from bosaris_py.files.formats import Columns, Look
from bosaris_py.files.hdf5 import half_of_memory
from bosaris_py.files.text import Labels, first_lines, read_table, refuse_conflicts
from bosaris_py.trials.alignment import Ids, name_trials
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import Key, Ndx, as_key, as_labels
from bosaris_py.trials.quality import QualityMeasures, SegmentQuality
from bosaris_py.trials.scores import Scores, to_natural
from bosaris_py.trials.trials import FileMethods

System = Scores | FilePath
SystemsLike = Mapping[str, System] | System | Sequence[System]

AnyObject = Ndx | Key | Scores | IdMap | SegmentQuality | QualityMeasures

Read = TypeVar("Read", bound=FileMethods)

# Of scores in memory: the matrix, both classes, and what sorting or training makes of them.
_COPIES = 5

_PATH = str, os.PathLike

_CLASSES: dict[str, type[AnyObject]] = {
    item._kind: item for item in (Ndx, Key, Scores, SegmentQuality, QualityMeasures, IdMap)
}


def binary_kind(path: FilePath) -> tuple[str, str] | None:
    """Return ``"hdf5"`` or ``"mat"`` and one of `hdf5.KINDS`; None for other files."""
    file = check.as_path(path)
    # A pipe can be read only once, and holds text.
    if str(file) == "-" or (file.exists() and not file.is_file()):
        return None
    with file.open("rb") as stream:
        head = stream.read(20)
    if head.startswith(b"\x89HDF"):
        return "hdf5", hdf5.kind_of(file)
    return ("mat", mat.kind_of(file)) if head.startswith((b"MATLAB", *mat.OCTAVE)) else None


def name_of_file(path: FilePath) -> str:
    """Return the name of a file without its folder and its extension, of ``a.csv.gz`` both."""
    name = Path(path).name
    return Path(name[:-3] if name.lower().endswith(".gz") else name).stem


def are_large(paths: Iterable[FilePath]) -> bool:
    """Tell whether all files are HDF5 files and together are above a tenth of memory."""
    files = list(map(Path, paths))
    if _COPIES * sum(file.stat().st_size for file in files) <= half_of_memory():
        return False
    return all(kind is not None and kind[0] == "hdf5" for kind in map(binary_kind, files))


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
        Of the class that the file is of; of text a `files.columns.Table`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from bosaris_py import Key
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "trials"
    >>> Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False]).save_hdf5(path)
    >>> read_any(path)
    Key: 1 models x 2 segments, 1 targets, 1 non-targets
    """
    found = _binary(path, options.get("max_bytes"), "an object", *_CLASSES.values())
    if found is not None:
        spoof = options.get("spoof", "keep")
        return _treat_spoofs(found, spoof) if isinstance(found, Key) else found
    table = read_table(path, **options)
    errors.warn(table.notes)
    return table


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
        A file in HDF5, of MATLAB, or in one of the text formats of the field, or ``-`` for text
        from standard input; text is decompressed if the name ends in ``.gz``.
    format : str, optional
        Name of the text format; by default it is found out.
    columns, labels
        Of text: what the columns and the words of labels are; see `files.text.read_table`.
    spoof : {"keep", "nontarget", "drop"}, default: "keep"
        What to do with spoofed trials.
    missing, strip_suffix
        Of text: what stands for a missing number, and what is taken off ids.
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
    MissingTrialsWarning
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
    found = _binary(path, max_bytes, "a Key", Key)
    if found is not None:
        return _treat_spoofs(found, spoof)
    table = read_table(
        path, format, columns, labels, spoof, missing, strip_suffix, max_bytes, progress=progress
    )
    table = _once(table, path, "label")
    if table.is_target is None:
        raise _lacks("labels, so it is no key", "label", path, scored=table.scores is not None)
    known = dict(table.columns)
    kinds = known.pop(KIND) if are_kinds(known.get(KIND)) else None
    made = as_labels(table.is_target if kinds is None else kinds)
    errors.warn(table.notes)
    return Key._from_positions(*_places(table), made).with_columns(**known)


def read_trials(path: FilePath, **options: Any) -> Ndx:
    r"""Read trials without labels from a file of any format.

    Parameters
    ----------
    path : str or path-like
        As for `read_key`.
    **options
        ``format``, ``columns`` and the other keywords of `read_key`.

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
    MissingTrialsWarning
        As for `read_key`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bosaris_py as bp
    >>> path = Path(tempfile.mkdtemp()) / "trials.txt"
    >>> _ = path.write_text("anna s1 target\nanna s2 nontarget\n")
    >>> bp.read_trials(path)
    Ndx: 1 models x 2 segments, 2 trials
    """
    found = _binary(path, options.get("max_bytes"), "an Ndx or Key", Ndx, Key)
    if found is not None:
        return Ndx._made(*found.ids, found.cells)
    table = _once(read_table(path, **{"spoof": "keep", **options}), path, "")
    errors.warn(table.notes)
    return Ndx._from_positions(*_places(table))


def read_scores(path: FilePath, *, base: float | None = None, **options: Any) -> Scores:
    r"""Read scores from a file of any format.

    Parameters
    ----------
    path : str or path-like
        As for `read_key`.
    base : float, optional
        Base of log-likelihood-ratios, such as 10, which become natural logarithms.
    **options
        ``format``, ``columns`` and the other keywords of `read_key`; spoofs are read like all
        others.

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
    MissingTrialsWarning
        As for `read_key`, or if lines have no score, as some formats allow; they are left out.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bosaris_py as bp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> _ = path.write_text("m1 s1 2.5\nm1 s2 -1.25\nm2 s2 0.75\n")
    >>> bp.read_scores(path)
    Scores: 2 models x 2 segments, 3 scores
    """
    return _scores_and_table(path, base, **options)[0]


def scores_and_labels(
    path: FilePath, base: float | None = None, **options: Any
) -> tuple[Scores, Key | None]:
    """Return the scores of a file, and the labels that a text has beside them."""
    scores, table = _scores_and_table(path, base, **options)
    if table is None or table.is_target is None:
        return scores, None
    return scores, Key._from_positions(*_places(table), as_labels(table.is_target))


def _scores_and_table(
    path: FilePath, base: float | None, **options: Any
) -> tuple[Scores, Table | None]:
    found = _binary(path, options.get("max_bytes"), "Scores", Scores)
    if found is not None:
        return to_natural(found, base), None
    # Other columns are not returned, so they are not read.
    table = _scored(read_table(path, **{"spoof": "nontarget", "extra": False, **options}), path)
    table = _once(table, path, "score")
    return _as_scores(table, base), table


def _as_scores(table: Table, base: float | None) -> Scores:
    """Return the scores of a table of trials, each once, in natural logarithms."""
    errors.warn(table.notes)
    return to_natural(Scores._from_positions(*_places(table), table.scores), base)


def _scored(table: Table, path: FilePath) -> Table:
    """Return the lines of a table that have a score."""
    if table.scores is None:
        raise _lacks("scores", "score", path)
    is_missing = np.isnan(table.scores)
    if not is_missing.any():
        return table
    text = f"{np.count_nonzero(is_missing)} of {len(table)} lines of {path} have no score."
    notes = (*table.notes, errors.Note(errors.MissingTrialsWarning, text))
    return attrs.evolve(table.take(~is_missing), notes=notes)


def _lacks(what: str, role: str, path: FilePath, *, scored: bool = False) -> errors.FileFormatError:
    """Return the error about a text without a column, with what to type."""
    advice = suggest_role(first_lines(check.as_path(path)), role)
    remedy = f"; use {advice}" if advice else "; is it a key?" if role == "score" else "."
    message = f"{path}: this file has no {what}{remedy}"
    if advice or role != "label":
        return errors.FileFormatError(message, path=path)
    call = "Key.from_mates(read_trials(path), scores) takes targets alone."
    quoted = shlex.quote(str(path))
    option = f"--mates {quoted} in place of --key if it lists targets alone"
    if scored:
        call = "evaluate({name: (path, path)}) takes scores of targets and of non-targets."
        option = f"--tar FILE --non {quoted} if these are scores of targets and of non-targets"
    return errors.FileFormatError(message, path=path, call=call, option=option)


def read_numbers(path: FilePath, **options: Any) -> FloatArray:
    r"""Read the scores of a text in the order of its lines, whatever else is in them.

    Parameters
    ----------
    path : str or path-like
        The text: a number in each line, also 0 and 1, or columns of which one holds scores.
    **options
        Keywords of `files.text.read_table`.

    Returns
    -------
    (k,) array of float
        Those of lines that have a score; `missing` among the keywords says which have none.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "mated.txt"
    >>> _ = path.write_text("0.9\n0.8\n")
    >>> read_numbers(path).tolist()
    [0.9, 0.8]
    """
    table = _scored(_unlabelled(path, **options), path)
    errors.warn(table.notes)
    return np.asarray(table.scores)


def _unlabelled(path: FilePath, **options: Any) -> Table:
    """Read a text of scores; its label, if there is one, does not count."""
    lines = ("format" not in options and first_lines(check.as_path(path))) or [b""]
    numbers = Look(map(bytes.strip, lines)).numbers
    if name := lone_score(lines):
        # Whatever the name above them is.
        options = {"columns": {"score": name, "segment": None}, **options}
    elif numbers and numbers <= {-1.0, 0.0, 1.0, 2.0}:
        # Alone in their lines, numbers that look like labels are scores.
        options = {"columns": "score", **options}
    return read_table(path, **{"spoof": "nontarget", "extra": False, **options})


def read_answers(
    path: FilePath, trials: FilePath | Table, *, base: float | None = None, **options: Any
) -> Scores:
    r"""Read scores that stand in the order of a list of trials, without ids.

    Parameters
    ----------
    path : str or path-like
        A text with one score in each line.
    trials : str, path-like or Table
        The list, a text of any format, or what `files.text.read_table` returns for it. Lines
        without a trial, such as a header, do not count.
    base : float, optional
        As for `read_scores`.
    **options
        Keywords of `files.text.read_table` for the scores.

    Returns
    -------
    Scores
        Models and segments are sorted.

    Raises
    ------
    FileFormatError
        If there are more or fewer scores than trials, or a trial listed twice has two scores.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "list.txt").write_text("1 m1 t1\n0 m1 t2\n")
    >>> _ = (folder / "answer.txt").write_text("2.5\n-1\n")
    >>> read_answers(folder / "answer.txt", folder / "list.txt")
    Scores: 1 models x 2 segments, 2 scores
    """
    listed = trials if isinstance(trials, Table) else read_table(trials, spoof="keep", extra=False)
    found = _unlabelled(path, **options)
    fault, names = "", found.segments.levels[found.segments.codes]
    if np.isin(names, listed.segments.levels).any() and names[0][:5] != "line-":
        fault = "has ids of the list: leave --scores-in-order out"
    elif "".join(names).isdigit() and [*names] != sorted(names, key=lambda x: (len(x), x)):
        fault = "numbers its lines in another order"
    elif len(found) != len(listed):
        fault = f"{len(found)} scores for a list of {len(listed)} trials"
    if fault:
        raise errors.FileFormatError(f"{path}: {fault}", path=path)
    table = attrs.evolve(listed, scores=found.scores, columns={}, notes=found.notes)
    return _as_scores(_once(_scored(table, path), path, "score"), base)


def scores_and_faults(
    path: FilePath, *, missing: str | Sequence[str] = (), **options: Any
) -> tuple[Scores, list[str]]:
    """Return the scores of a file, and what is wrong with lines of a text that have none of them.

    Lines without a score, or of a trial that stood before, are left out and told, not refused.
    """
    if binary_kind(path) is not None:
        return read_scores(path), []
    absent = ["nan", missing] if isinstance(missing, str) else ["nan", *missing]
    options = {"spoof": "nontarget", "missing": absent, "extra": False, **options}
    table = read_table(path, **options)
    errors.warn(table.notes)
    values, numbers = table.scores, table.lines
    if values is None or numbers is None:
        raise _lacks("scores", "score", path)
    ids, models, segments = _places(table)
    order = order_trials(models, segments, ids[0].size)
    differ = order.conflicts(values)
    faults = {
        "{} without a score": np.flatnonzero(np.isnan(values)),
        "{} of a trial again, with the same score": np.sort(order.repeated[~differ]),
        "{} of a trial again, with another score": np.sort(order.repeated[differ]),
    }

    def named(line: int) -> str:
        trial = ids[0][models[line]], ids[1][segments[line]]
        return f"{numbers[line]} ({trial[0]}, {trial[1]})"

    notes = [
        f"{what.format('1 line' if lines.size == 1 else f'{lines.size} lines')}: "
        f"{check.list_some(map(named, lines.tolist()))}."
        for what, lines in faults.items()
        if lines.size
    ]
    is_wanted = ~np.isnan(values)
    is_wanted[order.repeated] = False
    table = table.take(is_wanted)
    return Scores._from_positions(*_places(table), table.scores), notes


def _places(table: Table) -> tuple[Ids, AnyArray, AnyArray]:
    """Return the ids of a table, and the positions in these of each line."""
    models, segments = table.models, table.segments
    return (models.levels, segments.levels), models.codes, segments.codes


def _binary(
    path: FilePath, max_bytes: int | None, wanted: str, *classes: type[Read]
) -> Read | None:
    """Return what a binary file holds, which must be of a class; None of text."""
    binary = binary_kind(path)
    if binary is None:
        return None
    cls = _CLASSES[binary[1].removeprefix("flat_")]
    read = cls.read_mat if binary[0] == "mat" else cls.read_hdf5
    found = read(path, max_bytes=max_bytes)
    if isinstance(found, classes):
        return found
    raise errors.FileFormatError(f"{path}: expected {wanted}; the file holds {found!r}")


def _treat_spoofs(key: Key, spoof: str) -> Key:
    """Do with the spoofs of a key what is wanted."""
    check.check_choice(spoof, ("keep", "nontarget", "drop"), "spoof")
    if not key.n_spoof or spoof == "keep":
        return key
    if spoof == "drop":
        return key.bona_fide()
    labels = np.where(key.is_target, np.int8(1), np.int8(-1))
    return Key._from_vector(key.ids, key.cells, labels).with_columns_of(key)


def _once(table: Table, path: FilePath, what: str) -> Table:
    """Return the trials of a file column by column, each once."""
    # Lines of the same trial must not differ in their columns, nor in `what`: `"label"`, `"score"`
    # or nothing.
    order = order_trials(table.models.codes, table.segments.codes, table.models.levels.size)
    notes = list(table.notes)
    if order.repeated.size:
        compared: dict[str, Factor | AnyArray] = {}
        if what == "label" and table.is_target is not None:
            compared["label"] = Factor(table.is_target.view(np.uint8), ["nontarget", "target"])
        elif what == "score" and table.scores is not None:
            compared["score"] = table.scores
        refuse_conflicts(path, table, order, compared | dict(table.columns))
        ids, models, segments = _places(table)
        pairs = np.unique([models[order.repeated], segments[order.repeated]], axis=1)
        shown = name_trials(pairs[0], pairs[1], ids)
        text = f"Lines of {path} that list a trial again were left out: {shown}."
        notes.append(errors.Note(errors.MissingTrialsWarning, text))
    table = table if order.order is None else table.take(mark_read_only(order.order))
    return attrs.evolve(table, notes=tuple(notes))


# Systems


def named_systems(systems: object) -> dict[str, Scores | FilePath]:
    """Return systems by name: that of a file, or else a number."""
    match systems:
        case Scores():
            given: object = {"system": systems}
        case str() | os.PathLike():
            given = _numbered(files_of(systems))
        case list() | tuple():
            given = _numbered(systems)
        case _:
            given = systems
    if not isinstance(given, Mapping):
        expected, got = "map names to Scores or files", check.describe(systems)
        raise check.invalid("systems", expected, got, _hint(systems))
    if not given:
        raise check.invalid("systems", "hold at least one system", "none")
    named = dict(given)
    for name, scores in named.items():
        if name != str(name) or not name:
            raise check.invalid("systems", "be named by text", check.describe(name))
        if not isinstance(scores, (Scores, *_PATH)):
            expected, got = "be a Scores or a file", check.describe(scores)
            raise check.invalid(f"systems[{name!r}]", expected, got, _hint(scores))
    return named


def _numbered(listed: Sequence[Scores | FilePath]) -> dict[str, Scores | FilePath]:
    """Return the items of a list by the name of the file, or else by their number."""
    named: dict[str, Scores | FilePath] = {}
    for number, item in enumerate(listed, 1):
        # A file may have the name that a number makes.
        numbers = (f"system {place}" for place in itertools.count(number))
        names = itertools.chain([name_of_file(item)] if isinstance(item, _PATH) else [], numbers)
        named[next(name for name in names if name and name not in named)] = item
    return named


# What stands in the place of scores, by what it has; `__arrow_c_stream__` is of data frames.
_HINTS = {
    "is_target": "Did you swap `systems` and `key`?",
    "__arrow_c_stream__": "from_frame makes scores and key of a data frame.",
    "fold_of": "Give its scores: fitted.scores.",
    "scores": "Give its scores: data.scores.",
    "index": "Fuse them first: cross_fit(LinearFusion, [...], key).scores.",
}


def _hint(value: object) -> str:
    """Return what to do with something that is no scores."""
    return next((hint for name, hint in _HINTS.items() if hasattr(value, name)), "")


def files_of(path: FilePath) -> list[FilePath]:
    """Return the files of a folder, or those that fit a pattern such as ``scores/*.txt``."""
    place = Path(path)
    if place.is_dir():
        # What begins with a point is no file of scores, but one of an editor or a system.
        files = sorted(file for file in place.iterdir() if file.is_file() and file.name[0] != ".")
    elif glob.has_magic(os.fspath(path)) and not place.exists():
        files = sorted(map(Path, glob.iglob(os.fspath(path), recursive=True)))  # noqa: PTH207
    else:
        return [path]
    if not files:
        raise check.invalid("systems", "name files of scores", f"none in {os.fspath(path)!r}")
    return [*files]


def as_systems(systems: object) -> dict[str, Scores]:
    """Return the scores of systems by name; files are read."""
    named = named_systems(systems)
    return {n: read_scores(one) if isinstance(one, _PATH) else one for n, one in named.items()}


def large_files(systems: object, key: Given) -> tuple[dict[str, Given], Given] | tuple[()]:
    """Return systems and key, if all are files, and in parts or too large to be read whole."""
    if isinstance(systems, Mapping) and isinstance(key, list | tuple):
        return dict(systems), key
    named = named_systems(systems)
    files = {name: file for name, file in named.items() if isinstance(file, _PATH)}
    if not isinstance(key, _PATH) or len(files) < len(named):
        return ()
    return (files, key) if are_large([*files.values(), key]) else ()


def read_if_path(key: object) -> Key:
    """Return a key, given it or its file."""
    return read_key(key) if isinstance(key, _PATH) else as_key(key)


def numbers_of(scores: ArrayLike | FilePath) -> ArrayLike:
    """Return scores, given them or the file of their numbers."""
    return read_numbers(scores) if isinstance(scores, _PATH) else scores
