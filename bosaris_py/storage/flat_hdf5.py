"""HDF5 files of the flat forms: lists of trials instead of matrices.

This layout is this package's own; the MATLAB toolkit does not read it.

====================  ==========================================  ===========================
object                data sets                                   types
====================  ==========================================  ===========================
all                   ``/ID/row_ids``, ``/ID/column_ids``         strings: models, segments
all                   ``/trials/models``, ``/trials/segments``    int32, int64 if that is too
                                                                  short: positions from 0 in
                                                                  the two lists of ids
`FlatKey`             ``/trials/is_target``                       uint8 0, 1
`FlatScores`          ``/trials/scores``                          float32 or float64
====================  ==========================================  ===========================

The data sets in ``/trials`` have one dimension and one element for each trial. Trials are
written by segment, then by model, each once; a reader takes them in any order. Chunks
are of 131,072 trials in all of these data sets, so that a range of trials can be read
from each without touching others. Positions and labels are compressed with gzip, scores
are not. Strings, and the attributes ``format`` (``bosaris_py.flat_key`` and so on),
``format_version`` and ``created_by``, are as in the files with matrices; reading is
guarded in the same way.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, as_ids, as_mask, as_vector
from bosaris_py.storage._guarded_hdf5 import GuardedDataset, GuardedFile, open_guarded
from bosaris_py.storage._hdf5_layouts import check_ids, expect_kind, find_layout, require
from bosaris_py.storage._hdf5_output import put_array, put_ids, write_hdf5
from bosaris_py.storage._types import Arrays

__all__ = [
    "read_flat_key",
    "read_flat_ndx",
    "read_flat_scores",
    "write_flat_key",
    "write_flat_ndx",
    "write_flat_scores",
]

_CHUNK = 2**17
# The fastest level; positions that ascend shrink to a hundredth at any.
_GZIP_LEVEL = 1


def read_flat_ndx(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the trial list of a `FlatNdx` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Refuse a file whose arrays need more memory; None stands for the memory of
        the machine, together with a check that stored bytes back what is declared.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, `models` and `segments` (k,) of int; all
        read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_guarded(path, max_bytes) as source:
        return _read_trials(source, "flat_ndx", None)


def read_flat_key(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the trials and labels of a `FlatKey` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_flat_ndx`.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, `models` and `segments` (k,) of int,
        `is_target` (k,) of bool; all read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_guarded(path, max_bytes) as source:
        return _read_trials(source, "flat_key", "is_target")


def read_flat_scores(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the trials and scores of a `FlatScores` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_flat_ndx`.

    Returns
    -------
    dict
        `scores` (k,) of float32 or float64, `modelset` (m,) and `segset` (n,) of str,
        `models` and `segments` (k,) of int; all read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_guarded(path, max_bytes) as source:
        return _read_trials(source, "flat_scores", "scores")


def write_flat_ndx(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    models: npt.ArrayLike,
    segments: npt.ArrayLike,
) -> None:
    """Write a `FlatNdx` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models.
    segset : (n,) array_like of str
        Ids of the segments.
    models, segments : (k,) array_like of int
        The trials: positions in the lists of ids.

    Raises
    ------
    InvalidInputError
        If an id cannot be encoded.
    OSError
        If the file cannot be written.
    """
    _write_trials(path, "flat_ndx", (modelset, segset), (models, segments), {})


def write_flat_key(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    models: npt.ArrayLike,
    segments: npt.ArrayLike,
    is_target: npt.ArrayLike,
) -> None:
    """Write a `FlatKey` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models.
    segset : (n,) array_like of str
        Ids of the segments.
    models, segments : (k,) array_like of int
        The trials: positions in the lists of ids.
    is_target : (k,) array_like of bool
        True for targets.

    Raises
    ------
    InvalidInputError
        If an id cannot be encoded, or labels are not boolean.
    OSError
        If the file cannot be written.
    """
    labels = as_mask(is_target, "is_target", "FlatKey").astype(np.uint8)
    ids, trials = (modelset, segset), (models, segments)
    _write_trials(path, "flat_key", ids, trials, {"is_target": labels})


def write_flat_scores(
    path: FilePath,
    *,
    scores: npt.ArrayLike,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    models: npt.ArrayLike,
    segments: npt.ArrayLike,
) -> None:
    """Write a `FlatScores` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    scores : (k,) array_like of float
        The score of each trial; float32 is kept.
    modelset : (m,) array_like of str
        Ids of the models.
    segset : (n,) array_like of str
        Ids of the segments.
    models, segments : (k,) array_like of int
        The trials: positions in the lists of ids.

    Raises
    ------
    InvalidInputError
        If an id cannot be encoded.
    OSError
        If the file cannot be written.
    """
    values = as_vector(scores, "scores", "FlatScores")
    ids, trials = (modelset, segset), (models, segments)
    _write_trials(path, "flat_scores", ids, trials, {"scores": values})


def _read_trials(source: GuardedFile, kind: str, content: str | None) -> Arrays:
    """Check all data sets of a file, then read them."""
    expect_kind(source, kind)
    columns = ["models", "segments"]
    for name in [*columns, content] if content else columns:
        require(source, kind, f"trials/{name}")
    models, segments = check_ids(source, find_layout(source, kind))
    positions = {name: source.integers(f"trials/{name}") for name in columns}
    values = None
    if content == "is_target":
        values = source.mask(f"trials/{content}")
    elif content is not None:
        values = source.numbers(f"trials/{content}")
    vectors = [*positions.values()] + ([] if values is None else [values])
    for vector in vectors:
        _check_vector(vector, vectors[0])
    arrays: dict[str, npt.NDArray[Any]] = {
        "modelset": models.read_strings(),
        "segset": segments.read_strings(),
    }
    for name, vector in positions.items():
        arrays[name] = vector.read_integers()
    if content is not None and values is not None:
        arrays[content] = values.read_mask() if content == "is_target" else values.read_numbers()
    return arrays


def _check_vector(vector: GuardedDataset, first: GuardedDataset) -> None:
    """Refuse a data set that is no vector with an element for each trial."""
    if len(vector.shape) != 1:
        raise vector.owner.error(
            vector.name, f"must have one dimension; its shape is {vector.shape}"
        )
    if vector.shape != first.shape:
        text = f"has {vector.count} elements; `/{first.name}` has {first.count}"
        raise vector.owner.error(vector.name, text)


def _write_trials(
    path: FilePath,
    kind: str,
    ids: tuple[npt.ArrayLike, npt.ArrayLike],
    positions: tuple[npt.ArrayLike, npt.ArrayLike],
    contents: dict[str, npt.NDArray[Any]],
) -> None:
    """Write ids, positions and what is said of the trials."""
    owner = kind.title().replace("_", "")
    models, segments = as_ids(ids[0], "modelset", owner), as_ids(ids[1], "segset", owner)
    columns = dict(zip(("models", "segments"), map(np.asarray, positions), strict=True))

    def fill(file: Any) -> None:
        put_ids(file, models, segments)
        for name, vector in {**columns, **contents}.items():
            _put_vector(file, f"trials/{name}", vector, compressed=name != "scores")

    write_hdf5(path, kind, fill)


def _put_vector(root: Any, name: str, vector: npt.NDArray[Any], *, compressed: bool) -> None:
    """Put an element for each trial, in chunks of the same number of trials everywhere."""
    options: dict[str, Any] = {}
    if vector.size:
        options["chunks"] = (min(vector.size, _CHUNK),)
    if vector.size and compressed:
        options.update(compression="gzip", compression_opts=_GZIP_LEVEL, shuffle=True)
    put_array(root, name, vector, **options)
