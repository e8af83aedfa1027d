"""Keys, scores and metadata from the text formats of the field, and tables from them."""

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FilePath,
    FloatArray,
    describe,
    frozen,
    invalid,
    list_some,
    warn_caller,
)
from bosaris_py.errors import (
    DuplicateTrialWarning,
    FileFormatError,
    MissingTrialsWarning,
)
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.formats import ReadOptions, TrialTable, read_table
from bosaris_py.storage.trial_order import order_trials
from bosaris_py.trials._flat import MAX_CELLS, warn_swapped
from bosaris_py.trials.flat_key import FlatKey
from bosaris_py.trials.flat_ndx import FlatNdx
from bosaris_py.trials.flat_scores import FlatScores
from bosaris_py.trials.forms import AnyKey, AnyNdx, AnyScores, check_ndx, check_scores
from bosaris_py.trials.key import Key
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.ndx import Ndx

__all__ = ["read_key", "read_scores", "read_trials", "scored_ndx", "to_table"]

# A matrix is made if it is small, or if at least one cell in so many is a trial.
_SMALL_MATRIX = 10**6
_CELLS_PER_TRIAL = 4


def read_key(
    path: FilePath,
    *,
    format: str | None = None,
    form: str | None = None,
    **options: Unpack[ReadOptions],
) -> tuple[AnyKey, TrialMetadata]:
    r"""Read trials with their answers from one of the text formats of the field.

    Parameters
    ----------
    path : str or path-like
        The file; decompressed if its name ends in ``.gz``.
    format : str, optional
        Name of the format; by default it is found out.
    form : {"flat", "dense"}, optional
        Whether the key is a list or a matrix. By default a matrix if that has at most a
        million cells, or at most four for each trial and 10**8 in all; else a list.
    **options
        Keywords of `storage.formats.read_table`: ``columns``, ``labels``, ``spoof``, ``side``,
        ``strip_suffix``, ``missing``, ``numbers``, ``extra``, ``max_bytes``, ``progress``.

    Returns
    -------
    key : Key or FlatKey
        The trials; models and segments are sorted.
    metadata : TrialMetadata
        The other columns of the file, for the trials of `key`.

    Raises
    ------
    FileFormatError
        If the file is not what the format says, has no labels, or lists a trial twice
        with different labels or other columns.
    InvalidInputError
        If an argument is not what it must be.
    FileNotFoundError
        If there is no such file.

    Warns
    -----
    DuplicateTrialWarning
        If trials are listed more than once, or the same two segments in both orders.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import bosaris_py as bp
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "key.tsv"
    >>> _ = path.write_text(
    ...     "modelid\tsegmentid\ttargettype\tgender\n"
    ...     "m1\ts1\ttarget\tf\nm1\ts2\tnontarget\tf\nm2\ts2\ttarget\tm\n"
    ... )
    >>> key, metadata = bp.read_key(path)
    >>> key
    Key: 2 models x 2 segments, 2 targets, 1 non-targets
    >>> metadata.factor("gender").values().tolist()
    ['f', 'f', 'm']
    """
    _check_form(form, "read_key")
    table = read_table(path, format, **options)
    if table.is_target is None:
        message = f"{path}: this file has no labels, so it is no key; read_trials reads trials"
        raise FileFormatError(message)
    table = _once(table, path, "labels")
    assert table.is_target is not None, "taking lines keeps the labels"
    flat = FlatKey(table.modelset, table.segset, table.models, table.segments, table.is_target)
    key = flat.to_dense() if _is_dense(flat._shape, flat.n_trials, form) else flat
    return key, TrialMetadata(key, table.columns)


def read_trials(
    path: FilePath,
    *,
    format: str | None = None,
    form: str | None = None,
    **options: Unpack[ReadOptions],
) -> tuple[AnyNdx, TrialMetadata]:
    """Read trials without answers from one of the text formats of the field.

    Parameters
    ----------
    path, format, form, **options
        As for `read_key`.

    Returns
    -------
    ndx : Ndx or FlatNdx
        The trials; models and segments are sorted. Labels and scores are left out.
    metadata : TrialMetadata
        The other columns of the file, for the trials of `ndx`.

    Raises
    ------
    FileFormatError
        If the file is not what the format says, or lists a trial twice with different
        columns.
    InvalidInputError
        If an argument is not what it must be.

    Warns
    -----
    DuplicateTrialWarning
        If trials are listed more than once, or the same two segments in both orders.
    """
    _check_form(form, "read_trials")
    table = _once(read_table(path, format, **options), path, "")
    flat = FlatNdx(table.modelset, table.segset, table.models, table.segments)
    ndx = flat.to_dense() if _is_dense(flat._shape, flat.n_trials, form) else flat
    return ndx, TrialMetadata(ndx, table.columns)


def read_scores(
    path: FilePath,
    *,
    format: str | None = None,
    form: str | None = None,
    **options: Unpack[ReadOptions],
) -> AnyScores:
    r"""Read scores from one of the text formats of the field.

    Parameters
    ----------
    path : str or path-like
        The file; decompressed if its name ends in ``.gz``.
    format : str, optional
        Name of the format; by default it is found out.
    form : {"flat", "dense"}, optional
        Whether the scores are a list or a matrix; by default as for `read_key`.
    **options
        Keywords of `storage.formats.read_table`, as for `read_key`.

    Returns
    -------
    Scores or FlatScores
        The scores; models and segments are sorted. Labels and other columns are left out.

    Raises
    ------
    FileFormatError
        If the file is not what the format says, has no scores, or lists a trial twice
        with different scores.
    InvalidInputError
        If an argument is not what it must be.
    FileNotFoundError
        If there is no such file.

    Warns
    -----
    DuplicateTrialWarning
        If trials are listed more than once, or the same two segments in both orders.
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
    _check_form(form, "read_scores")
    if options.get("extra") is None:
        options["extra"] = ()
    # Labels say nothing here, so neither do spoofs.
    options.setdefault("spoof", "nontarget")
    table = read_table(path, format, **options)
    if table.scores is None:
        message = f"{path}: this file has no scores; what is a score can be told by `columns`"
        raise FileFormatError(message)
    is_missing = np.isnan(table.scores)
    if is_missing.any():
        message = f"{np.count_nonzero(is_missing)} of {len(table)} lines of {path} have no score."
        warn_caller(message, MissingTrialsWarning)
        table = table.take(~is_missing)
    table = _once(table, path, "scores")
    assert table.scores is not None, "taking lines keeps the scores"
    flat = FlatScores(table.scores, table.modelset, table.segset, table.models, table.segments)
    return flat.to_dense() if _is_dense(flat._shape, flat.n_scores, form) else flat


def to_table(
    trials: AnyNdx | None = None,
    *,
    scores: AnyScores | None = None,
    metadata: TrialMetadata | None = None,
) -> TrialTable:
    """Return trials, scores or both as a table, which can be written in any text format.

    Parameters
    ----------
    trials : Ndx, Key, FlatNdx or FlatKey, optional
        The trials; labels are those of a key. By default all that have scores.
    scores : Scores or FlatScores, optional
        The scores. Trials without one have NaN.
    metadata : TrialMetadata, optional
        Describes the trials; its columns become columns of the table.

    Returns
    -------
    TrialTable
        One line for each trial, column by column.

    Raises
    ------
    InvalidInputError
        If an argument is not what it must be, or neither trials nor scores are given.
    TrialMismatchError
        If the metadata do not describe all the trials.

    Warns
    -----
    MissingTrialsWarning
        If trials have no scores.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False])
    >>> bp.to_table(key)
    TrialTable: 2 lines, 1 models x 2 segments, 1 targets, 1 non-targets
    """
    owner = "to_table"
    if scores is not None:
        check_scores(scores, owner)
    if trials is None:
        if scores is None:
            raise invalid("trials", owner, "be given where there are no `scores`", "None")
        trials = scored_ndx(scores)
    check_ndx(trials, owner)
    values: FloatArray | None = None
    if scores is not None:
        found = scores._scored(trials)
        present = scores.get_scores(trials)
        values = present
        if found is not None and not found.all():
            values = np.full(trials.n_trials, np.nan, dtype=present.dtype)
            values[found] = present
    columns = {}
    if metadata is not None:
        if not isinstance(metadata, TrialMetadata):
            raise invalid("metadata", owner, "be a TrialMetadata", describe(metadata))
        described = metadata.for_trials(trials)
        columns = {name: described.column(name) for name in described.names}
    models, segments = trials.trial_positions()
    labels = trials.trial_labels() if isinstance(trials, (Key, FlatKey)) else None
    return TrialTable(trials.modelset, models, trials.segset, segments, labels, values, columns)


def scored_ndx(scores: AnyScores) -> AnyNdx:
    """Return the trials that have scores, in the form of the scores."""
    if isinstance(scores, FlatScores):
        return FlatNdx(scores.modelset, scores.segset, scores.models, scores.segments)
    return Ndx(scores.modelset, scores.segset, scores.scoremask)


def _check_form(form: object, owner: str) -> None:
    """Raise unless `form` is one that there is."""
    if form not in (None, "flat", "dense"):
        raise invalid("form", owner, 'be "flat", "dense" or None', describe(form))


def _is_dense(shape: tuple[int, int], n_trials: int, form: str | None) -> bool:
    """Tell whether trials are to be a matrix."""
    if form is not None:
        return form == "dense"
    n_cells = shape[0] * shape[1]
    return n_cells <= max(_SMALL_MATRIX, min(MAX_CELLS, _CELLS_PER_TRIAL * n_trials))


def _once(table: TrialTable, path: FilePath, what: str) -> TrialTable:
    """Return the trials of a table column by column, each once.

    Parameters
    ----------
    table : TrialTable
        The lines of a file.
    path : str or path-like
        The file, for error messages.
    what : str
        What lines must not contradict each other about: ``"labels"``, ``"scores"`` or
        nothing. Extra columns must not in any case.
    """
    order = order_trials(table.models, table.segments, table.modelset.size)
    if order.repeated.size:
        contents: dict[str, object] = dict(table.columns)
        if what == "labels":
            contents["label"] = table.is_target
        elif what == "scores":
            contents["score"] = table.scores
        for name, column in contents.items():
            values = column.codes if isinstance(column, Factor) else np.asarray(column)
            bad = order.conflicts(values)
            if bad.any():
                hint = '; pass side="join"' if name == "side" else ""
                shown = _name(table, order.repeated[bad])
                message = f"{path}: trials are listed again with another {name}{hint}: {shown}"
                raise FileFormatError(message)
        shown = _name(table, order.repeated)
        message = f"Lines of {path} that list a trial again were left out: {shown}."
        warn_caller(message, DuplicateTrialWarning)
    said = {"labels": table.is_target, "scores": table.scores}.get(what)
    warn_swapped((table.modelset, table.segset), (table.models, table.segments), said, what)
    return table if order.order is None else table.take(frozen(order.order))


def _name(table: TrialTable, lines: npt.NDArray[Any]) -> str:
    """Return the number of lines and the first few of their trials."""
    pairs = (
        f"({table.modelset[table.models[line]]}, {table.segset[table.segments[line]]})"
        for line in lines[:6].tolist()
    )
    return f"{lines.size} ({list_some(pairs)})"
