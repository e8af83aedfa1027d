"""HDF5 files of quality measures, in the layout of the MATLAB toolkit."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, as_ids, as_matrix, check_shape, frozen
from bosaris_py.storage._checked_matrices import MatrixChecks
from bosaris_py.storage._guarded_hdf5 import GuardedDataset, open_guarded
from bosaris_py.storage._hdf5_layouts import (
    check_ids,
    check_matrix,
    expect_kind,
    find_layout,
    require,
)
from bosaris_py.storage._hdf5_output import (
    put_array,
    put_ids,
    put_mask,
    put_numbers,
    put_strings,
    write_hdf5,
)
from bosaris_py.storage._types import Arrays

__all__ = [
    "read_quality_measures",
    "read_segment_quality",
    "write_quality_measures",
    "write_segment_quality",
]


def read_segment_quality(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the quality measures of segments of a `SegmentQuality` file.

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
        `ids` (n,) of str and `values` (q, n) of float; both read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_guarded(path, max_bytes) as source:
        expect_kind(source, "segment_quality")
        require(source, "segment_quality", "values")
        require(source, "segment_quality", "ids")
        ids, values = source.strings("ids"), source.numbers("values")
        shape = _check_columns(values, ids, "segments")
        return {"ids": ids.read_strings(), "values": values.read_numbers().reshape(shape)}


def read_quality_measures(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
    """Read the model and segment measures of a `QualityMeasures` file.

    Parameters
    ----------
    path : str or path-like
        The file.
    max_bytes : int or None, optional
        Limit for the memory of the arrays, as for `read_segment_quality`.

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
    Where the file lacks a mask it is all true, as in the toolkit; the presence of
    ``has_row`` decides for both vectors. Unlike the toolkit, which writes ``/score_mask``
    and then ignores it, the mask is honoured: an object in which a model has no measures
    survives saving and reading.
    """
    with open_guarded(path, max_bytes) as source:
        expect_kind(source, "quality_measures")
        layout = find_layout(source, "quality_measures")
        require(source, "quality_measures", "modelQ")
        models, segments = check_ids(source, layout)
        model_values, segment_values = source.numbers("modelQ"), source.numbers("segQ")
        across = layout.quality_transposed
        model_shape = _check_columns(model_values, models, "models", transposed=across)
        segment_shape = _check_columns(segment_values, segments, "segments", transposed=across)
        if model_shape[0] != segment_shape[0]:
            text = (
                f"has {segment_shape[0]} measures for each segment, "
                f"`/modelQ` {model_shape[0]} for each model"
            )
            raise source.error("segQ", text)
        has_model = has_segment = mask = None
        if source.holds(layout.has_model):
            has_model, has_segment = source.mask(layout.has_model), source.mask(layout.has_segment)
            _check_vector(has_model, models, "models")
            _check_vector(has_segment, segments, "segments")
        if source.holds("score_mask"):
            mask = source.mask("score_mask")
            check_matrix(mask, models, segments)
        shape = (models.count, segments.count)
        return {
            "modelset": models.read_strings(),
            "segset": segments.read_strings(),
            "modelQ": _read_columns(model_values, model_shape, transposed=across),
            "segQ": _read_columns(segment_values, segment_shape, transposed=across),
            "hasmodel": _read_mask_or_true(has_model, shape[:1]),
            "hasseg": _read_mask_or_true(has_segment, shape[1:]),
            "scoremask": _read_mask_or_true(mask, shape),
        }


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
        If shapes do not fit, or an id holds a NUL character.
    OSError
        If the file cannot be written.
    """
    names = as_ids(ids, "ids", "SegmentQuality")
    measures = as_matrix(values, "values", "SegmentQuality")
    shape = (measures.shape[0], names.size)
    check_shape(measures, shape, "values", "SegmentQuality", "like `ids`")

    def fill(root: Any) -> None:
        put_numbers(root, "values", measures.astype(np.float64, copy=False))
        put_strings(root, "ids", names)

    write_hdf5(path, "segment_quality", fill)


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
        If shapes do not fit, or an id holds a NUL character.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of("QualityMeasures", modelset, segset)
    model_values, segment_values = checks.measures(modelQ, segQ)
    has_model, has_segment = checks.measured(hasmodel, hasseg)
    mask = checks.mask(scoremask, "scoremask")

    def fill(root: Any) -> None:
        put_numbers(root, "modelQ", model_values)
        put_numbers(root, "segQ", segment_values)
        put_mask(root, "score_mask", mask.view(np.uint8))
        put_ids(root, checks.models, checks.segments)
        put_array(root, "ID/has_row", has_model.astype(np.uint8))
        put_array(root, "ID/has_column", has_segment.astype(np.uint8))

    write_hdf5(path, "quality_measures", fill)


def _check_columns(
    values: GuardedDataset, ids: GuardedDataset, what: str, *, transposed: bool = False
) -> tuple[int, int]:
    """Refuse measures that do not fit the ids; return the shape (measures, ids)."""
    shape = values.shape
    if len(shape) == 1:
        # One measure of many ids, or many measures of one id.
        shape = (1, shape[0]) if shape[0] == ids.count else (shape[0], 1)
    elif len(shape) == 2 and transposed:
        shape = (shape[1], shape[0])
    if len(shape) == 2 and shape[1] == ids.count:
        return shape
    text = f"has shape {values.shape}; `/{ids.name}` names {ids.count} {what}"
    if len(shape) == 2 and shape[0] == ids.count:
        text += ". Rows and columns look swapped"
    raise values.owner.error(values.name, text)


def _check_vector(mask: GuardedDataset, ids: GuardedDataset, what: str) -> None:
    """Refuse a vector (or a matrix of one row) that does not fit the ids."""
    if mask.count != ids.count or (len(mask.shape) == 2 and min(mask.shape) > 1):
        text = f"has shape {mask.shape}; `/{ids.name}` names {ids.count} {what}"
        raise mask.owner.error(mask.name, text)


def _read_columns(
    values: GuardedDataset, shape: tuple[int, int], *, transposed: bool
) -> npt.NDArray[Any]:
    """Read measures as (measures, ids)."""
    numbers = values.read_numbers()
    if transposed and numbers.ndim == 2:
        return frozen(np.ascontiguousarray(numbers.T))
    return numbers.reshape(shape)


def _read_mask_or_true(mask: GuardedDataset | None, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Read a mask that a file may lack."""
    if mask is None:
        return frozen(np.ones(shape, dtype=np.bool_))
    return mask.read_mask().reshape(shape)
