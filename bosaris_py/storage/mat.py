"""MATLAB files as the toolkit saves them: one struct in one variable.

The variable is called ``ndx``, ``key``, ``scr``, ``qual`` (both quality classes) or
``idmap``; its fields are those of the toolkit's class. Files are written in MATLAB's
format of versions 5 to 7, compressed, with the types that MATLAB itself would use:
logical masks, cell columns of character rows, double or single scores. Files of version
7.3, which are HDF5 inside, are read too, and guarded in the same way.

Only plain structs are read. A class object that was saved as it is can be opened by
nothing but MATLAB; the toolkit's own save functions turn objects into structs.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.io

from bosaris_py._validation import FilePath, as_ids, as_matrix, check_shape
from bosaris_py._version import __version__
from bosaris_py.errors import InvalidInputError
from bosaris_py.storage._checked_matrices import MatrixChecks
from bosaris_py.storage._ids import refuse_nul
from bosaris_py.storage._mat_struct import VARIABLES, open_struct
from bosaris_py.storage._types import Arrays
from bosaris_py.storage.atomic import atomic_write

__all__ = [
    "read_id_map",
    "read_key",
    "read_ndx",
    "read_quality_measures",
    "read_scores",
    "read_segment_quality",
    "write_id_map",
    "write_key",
    "write_ndx",
    "write_quality_measures",
    "write_scores",
    "write_segment_quality",
]

# A variable must stay below this in versions 5 to 7.
_LARGEST_VARIABLE = 2**31
# The text at the start of the file; behind it come the version and the mark of the byte order.
_HEADER_TEXT = 116


def read_ndx(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the trial list of an `Ndx` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Refuse a file whose arrays need more memory; None stands for the memory of
        the machine.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, `trialmask` (m, n) of bool; all
        read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "ndx", max_bytes) as fields:
        models, segments = fields.ids("modelset"), fields.ids("segset")
        shape = (models.size, segments.size)
        return {
            "modelset": models,
            "segset": segments,
            "trialmask": fields.mask("trialmask", shape),
        }


def read_key(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the target and non-target trials of a `Key` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, `tar` and `non` (m, n) of bool; all
        read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "key", max_bytes) as fields:
        models, segments = fields.ids("modelset"), fields.ids("segset")
        shape = (models.size, segments.size)
        return {
            "modelset": models,
            "segset": segments,
            "tar": fields.mask("tar", shape),
            "non": fields.mask("non", shape),
        }


def read_scores(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the score matrix of a `Scores` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `scoremat` (m, n) of float32 if stored as single, else of float64; `modelset`
        (m,) and `segset` (n,) of str; `scoremask` (m, n) of bool; all read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "scores", max_bytes) as fields:
        models, segments = fields.ids("modelset"), fields.ids("segset")
        shape = (models.size, segments.size)
        return {
            "scoremat": fields.matrix("scoremat", shape),
            "modelset": models,
            "segset": segments,
            "scoremask": fields.mask("scoremask", shape),
        }


def read_segment_quality(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the quality measures of segments of a `SegmentQuality` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `ids` (n,) of str and `values` (q, n) of float; both read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "segment_quality", max_bytes) as fields:
        ids = fields.ids("ids")
        return {"ids": ids, "values": fields.matrix("values", (None, ids.size))}


def read_quality_measures(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the model and segment measures of a `QualityMeasures` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `modelset` (m,) and `segset` (n,) of str, `modelQ` (q, m) and `segQ` (q, n) of
        float, `hasmodel` (m,), `hasseg` (n,) and `scoremask` (m, n) of bool; all
        read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    A struct without ``hasmodel`` or without ``scoremask`` comes from an early release
    of the toolkit; these masks are all true then.
    """
    with open_struct(path, "quality_measures", max_bytes) as fields:
        models, segments = fields.ids("modelset"), fields.ids("segset")
        model_values = fields.matrix("modelQ", (None, models.size))
        shape = (models.size, segments.size)
        has_both = "hasmodel" in fields.names
        return {
            "modelset": models,
            "segset": segments,
            "modelQ": model_values,
            "segQ": fields.matrix("segQ", (model_values.shape[0], segments.size)),
            "hasmodel": fields.mask("hasmodel", shape[:1], optional=not has_both),
            "hasseg": fields.mask("hasseg", shape[1:], optional=not has_both),
            "scoremask": fields.mask("scoremask", shape, optional=True),
        }


def read_id_map(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the pairs of an `IdMap` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_ndx`.

    Returns
    -------
    dict
        `leftids` and `rightids` (n,) of str; both read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_struct(path, "id_map", max_bytes) as fields:
        left, right = fields.ids("leftids"), fields.ids("rightids")
        if left.size != right.size:
            text = f"has {right.size} ids, `leftids` {left.size}; they must be pairs"
            raise fields.error("rightids", text)
        return {"leftids": left, "rightids": right}


def write_ndx(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    trialmask: npt.ArrayLike,
) -> None:
    """Write an `Ndx` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    trialmask : (m, n) array_like of bool
        Which of all pairs are trials.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of("Ndx", modelset, segset)
    _write(
        path,
        "ndx",
        modelset=checks.models,
        segset=checks.segments,
        trialmask=checks.mask(trialmask, "trialmask"),
    )


def write_key(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    tar: npt.ArrayLike,
    non: npt.ArrayLike,
) -> None:
    """Write a `Key` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    tar, non : (m, n) array_like of bool
        Target and non-target trials, disjoint.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, a trial is in both masks, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of("Key", modelset, segset)
    targets, nontargets = checks.classes(tar, non)
    _write(
        path,
        "key",
        modelset=checks.models,
        segset=checks.segments,
        tar=targets,
        non=nontargets,
    )


def write_scores(
    path: FilePath,
    *,
    scoremat: npt.ArrayLike,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    scoremask: npt.ArrayLike,
) -> None:
    """Write a `Scores` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    scoremat : (m, n) array_like of float
        The scores; float32 becomes single, everything else double.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    scoremask : (m, n) array_like of bool
        Which scores are valid.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of("Scores", modelset, segset)
    _write(
        path,
        "scores",
        scoremat=checks.scores(scoremat, "scoremat"),
        modelset=checks.models,
        segset=checks.segments,
        scoremask=checks.mask(scoremask, "scoremask"),
    )


def write_segment_quality(path: FilePath, *, ids: npt.ArrayLike, values: npt.ArrayLike) -> None:
    """Write a `SegmentQuality` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    ids : (n,) array_like of str
        Ids of the segments.
    values : (q, n) array_like of float
        Their quality measures.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    names = as_ids(ids, "ids", "SegmentQuality")
    measures = as_matrix(values, "values", "SegmentQuality")
    shape = (measures.shape[0], names.size)
    check_shape(measures, shape, "values", "SegmentQuality", "like `ids`")
    _write(path, "segment_quality", ids=names, values=measures.astype(np.float64, copy=False))


def write_quality_measures(
    path: FilePath,
    *,
    modelset: npt.ArrayLike,
    segset: npt.ArrayLike,
    modelQ: npt.ArrayLike,
    segQ: npt.ArrayLike,
    hasmodel: npt.ArrayLike,
    hasseg: npt.ArrayLike,
    scoremask: npt.ArrayLike,
) -> None:
    """Write a `QualityMeasures` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    modelset : (m,) array_like of str
        Ids of the models.
    segset : (n,) array_like of str
        Ids of the segments.
    modelQ : (q, m) array_like of float
        Quality measures of the models.
    segQ : (q, n) array_like of float
        Quality measures of the segments.
    hasmodel, hasseg : (m,) and (n,) array_like of bool
        For which of them there are measures.
    scoremask : (m, n) array_like of bool
        For which trials there are measures.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of("QualityMeasures", modelset, segset)
    model_values, segment_values = checks.measures(modelQ, segQ)
    has_model, has_segment = checks.measured(hasmodel, hasseg)
    _write(
        path,
        "quality_measures",
        modelQ=model_values,
        segQ=segment_values,
        modelset=checks.models,
        segset=checks.segments,
        # The toolkit keeps these two as rows.
        hasmodel=has_model[np.newaxis],
        hasseg=has_segment[np.newaxis],
        scoremask=checks.mask(scoremask, "scoremask"),
    )


def write_id_map(path: FilePath, *, leftids: npt.ArrayLike, rightids: npt.ArrayLike) -> None:
    """Write an `IdMap` file, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    leftids, rightids : (n,) array_like of str
        The pairs.

    Raises
    ------
    InvalidInputError
        If lengths differ, or the object is too large for this format.
    OSError
        If the file cannot be written.
    """
    left, right = as_ids(leftids, "leftids", "IdMap"), as_ids(rightids, "rightids", "IdMap")
    check_shape(right, left.shape, "rightids", "IdMap", "like `leftids`")
    _write(path, "id_map", leftids=left, rightids=right)


def _write(path: FilePath, kind: str, **fields: npt.NDArray[Any]) -> None:
    """Write one struct and give the file a header without the time of day."""
    size = sum(array.nbytes for array in fields.values())
    if size >= _LARGEST_VARIABLE:
        message = f"{path}: MATLAB's format 7 ends at 2 GB for one variable; save as .h5 instead"
        raise InvalidInputError(message)
    record: dict[str, Any] = {}
    for name, array in fields.items():
        record[name] = array
        if array.dtype.kind == "U":
            refuse_nul(array, name)
            record[name] = np.empty((array.size, 1), dtype=object)
            record[name][:, 0] = array
    with atomic_write(path) as temporary:
        try:
            scipy.io.savemat(
                str(temporary), {VARIABLES[kind]: record}, appendmat=False, do_compression=True
            )
        except UnicodeEncodeError as error:
            message = f"{path}: an id cannot be encoded as UTF-8: {error}"
            raise InvalidInputError(message) from error
        text = f"MATLAB 5.0 MAT-file, written by bosaris_py {__version__}"
        with temporary.open("rb+") as stream:
            stream.write(text.ljust(_HEADER_TEXT).encode())
