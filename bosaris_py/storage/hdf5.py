r"""HDF5 files in the layout of the MATLAB toolkit.

Written files have exactly the toolkit's data sets and types, so MATLAB reads them:

========================  =======================================  ======================
object                    data sets                                types
========================  =======================================  ======================
`Ndx`                     ``/trial_mask``                          uint8 0, 1
`Key`                     ``/trial_mask``, ``/file_format``        int8 1, -1, 0; ``"2.0"``
`Scores`                  ``/scores``, ``/score_mask``             float32 or 64; uint8
`QualityMeasures`         ``/modelQ``, ``/segQ``, ``/score_mask``  float64; uint8
\                         ``/ID/has_row``, ``/ID/has_column``      uint8 0, 1
the four above            ``/ID/row_ids``, ``/ID/column_ids``      strings
`SegmentQuality`          ``/values``, ``/ids``                    float64; strings
`IdMap`                   ``/left_ids``, ``/right_ids``            strings
========================  =======================================  ======================

Rows are models and columns are segments, as h5dump shows them. Ids are strings of
fixed length, null-terminated, ASCII (UTF-8 if they are not ASCII). The root carries
the attributes ``format`` (such as ``bosaris_py.scores``), ``format_version`` and
``created_by``, which the toolkit ignores. Matrices up to about a megabyte are one
chunk, as the toolkit writes them; larger ones are cut into blocks of whole rows of
about a megabyte. Scores are not compressed (it saves less than a fifth and costs
several times the time), masks are, with gzip. The same content gives the same file,
bit for bit.

Reading is tolerant: strings of fixed and variable length, however padded, as vectors,
rows or columns; masks of any integer, boolean or float type; scores of any real type
(float32 stays float32); a matrix of one row or column stored as a vector; the
toolkit's old keys with two masks; and the flat layouts that SIDEKIT and its
descendants (``/modelset``, ``/segset``) and PyBOSARIS (``/model_names``,
``/test_names``, ``/score_mat``) write. Whatever a score file never holds (links,
data in other files, other types, a size that the file does not back) is refused
before any data are read.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import as_ids, as_matrix, check_shape, frozen, warn_caller
from bosaris_py.errors import OldFormatWarning
from bosaris_py.storage._checked_matrices import MatrixChecks
from bosaris_py.storage._guarded_hdf5 import GuardedDataset, open_guarded
from bosaris_py.storage._hdf5_layouts import (
    USE_KEY,
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
from bosaris_py.storage._types import Arrays, PathLike

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


def read_ndx(path: PathLike, *, max_bytes: int | None = None) -> Arrays:
    """Read the trial list of an `Ndx` file.

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
        `modelset` (m,) and `segset` (n,) of str, `trialmask` (m, n) of bool; all
        read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_guarded(path, max_bytes) as source:
        expect_kind(source, "ndx")
        layout = find_layout(source, "ndx")
        require(source, "ndx", "trial_mask")
        models, segments = check_ids(source, layout)
        mask = source.mask("trial_mask", copies=2)
        shape = check_matrix(mask, models, segments)
        trials = mask.read_mask(signed=not mask.is_unsigned)
        if trials.dtype != np.bool_:
            if (trials < 0).any():
                raise source.error("trial_mask", f"holds -1: this is a Key. {USE_KEY}")
            trials = frozen(trials.view(np.bool_))
        return {
            "modelset": models.read_strings(),
            "segset": segments.read_strings(),
            "trialmask": trials.reshape(shape),
        }


def read_key(path: PathLike, *, max_bytes: int | None = None) -> Arrays:
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

    Warns
    -----
    OldFormatWarning
        If targets and non-targets are in two masks, as in the toolkit's first format.

    Notes
    -----
    The toolkit takes any mask above 0.5 as target and below -0.5 as non-target, and so
    reads an Ndx file as a key full of targets. Here other values than 1, -1 and 0 are
    refused, and so is a mask of an unsigned type, which cannot mark non-targets.
    """
    with open_guarded(path, max_bytes) as source:
        expect_kind(source, "key")
        layout = find_layout(source, "key")
        models, segments = check_ids(source, layout)
        is_old = layout.two_masks is not None and source.holds(layout.two_masks[0])
        if is_old:
            targets, nontargets = (source.mask(name) for name in layout.two_masks or ())
            shape = check_matrix(targets, models, segments)
            check_matrix(nontargets, models, segments)
            tar, non = targets.read_mask(), nontargets.read_mask()
        else:
            require(source, "key", "trial_mask")
            mask = source.mask("trial_mask", copies=2)
            shape = check_matrix(mask, models, segments)
            if mask.is_unsigned:
                text = "cannot hold -1 for non-targets: this is an Ndx; read it with Ndx.read"
                raise source.error("trial_mask", text)
            labels = mask.read_mask(signed=True)
            tar, non = frozen(labels == 1), frozen(labels == -1)
        arrays = {
            "modelset": models.read_strings(),
            "segset": segments.read_strings(),
            "tar": tar.reshape(shape),
            "non": non.reshape(shape),
        }
    if is_old:
        message = f"{path}: a key in the old layout with two masks; save it again to update it"
        warn_caller(message, OldFormatWarning)
    return arrays


def read_scores(path: PathLike, *, max_bytes: int | None = None) -> Arrays:
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
        `scoremat` (m, n) of float32 if stored so or shorter, else of float64;
        `modelset` (m,) and `segset` (n,) of str; `scoremask` (m, n) of bool; all
        read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.

    Warns
    -----
    OldFormatWarning
        If the file does not say which scores are valid, as those of PyBOSARIS; all are
        taken as valid then.

    Notes
    -----
    A mask takes no time to convert: bytes that are only 0 and 1 *are* numpy's bool.
    """
    with open_guarded(path, max_bytes) as source:
        expect_kind(source, "scores")
        layout = find_layout(source, "scores")
        require(source, "scores", layout.scores)
        models, segments = check_ids(source, layout)
        scores = source.numbers(layout.scores)
        shape = check_matrix(scores, models, segments)
        is_maskless = layout.scores == "score_mat" and not source.holds("score_mask")
        mask = None if is_maskless else source.mask("score_mask")
        if mask is not None:
            check_matrix(mask, models, segments)
        valid = frozen(np.ones(shape, dtype=np.bool_)) if mask is None else mask.read_mask()
        arrays = {
            "scoremat": scores.read_numbers().reshape(shape),
            "modelset": models.read_strings(),
            "segset": segments.read_strings(),
            "scoremask": valid.reshape(shape),
        }
    if is_maskless:
        message = f"{path}: the file does not say which scores are valid; taking all as valid"
        warn_caller(message, OldFormatWarning)
    return arrays


def read_segment_quality(path: PathLike, *, max_bytes: int | None = None) -> Arrays:
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
    with open_guarded(path, max_bytes) as source:
        expect_kind(source, "segment_quality")
        require(source, "segment_quality", "values")
        require(source, "segment_quality", "ids")
        ids, values = source.strings("ids"), source.numbers("values")
        shape = _check_columns(values, ids, "segments")
        return {"ids": ids.read_strings(), "values": values.read_numbers().reshape(shape)}


def read_quality_measures(path: PathLike, *, max_bytes: int | None = None) -> Arrays:
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


def read_id_map(path: PathLike, *, max_bytes: int | None = None) -> Arrays:
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

    Notes
    -----
    The start and stop frames that SIDEKIT keeps beside the ids are not read.
    """
    with open_guarded(path, max_bytes) as source:
        expect_kind(source, "id_map")
        left_name = source.first_of(("left_ids", "leftids"))
        right_name = source.first_of(("right_ids", "rightids"))
        require(source, "id_map", left_name or "left_ids")
        require(source, "id_map", right_name or "right_ids")
        left, right = source.strings(left_name or ""), source.strings(right_name or "")
        if left.count != right.count:
            text = f"has {right.count} ids, `/{left_name}` {left.count}; they must be pairs"
            raise source.error(right.name, text)
        return {"leftids": left.read_strings(), "rightids": right.read_strings()}


def write_ndx(
    path: PathLike,
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
        If shapes do not fit, or an id holds a NUL character.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of("Ndx", modelset, segset)
    mask = checks.mask(trialmask, "trialmask")

    def fill(root: Any) -> None:
        put_mask(root, "trial_mask", mask.view(np.uint8))
        put_ids(root, checks.models, checks.segments)

    write_hdf5(path, "ndx", fill)


def write_key(
    path: PathLike,
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
        If shapes do not fit, a trial is in both masks, or an id holds a NUL character.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of("Key", modelset, segset)
    targets, nontargets = checks.classes(tar, non)
    labels = targets.view(np.int8) - nontargets.view(np.int8)

    def fill(root: Any) -> None:
        put_mask(root, "trial_mask", labels)
        put_strings(root, "file_format", np.array(["2.0"]))
        put_ids(root, checks.models, checks.segments)

    write_hdf5(path, "key", fill)


def write_scores(
    path: PathLike,
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
        The scores; float32 stays float32, everything else becomes float64.
    modelset : (m,) array_like of str
        Ids of the models (rows).
    segset : (n,) array_like of str
        Ids of the segments (columns).
    scoremask : (m, n) array_like of bool
        Which scores are valid.

    Raises
    ------
    InvalidInputError
        If shapes do not fit, or an id holds a NUL character.
    OSError
        If the file cannot be written.
    """
    checks = MatrixChecks.of("Scores", modelset, segset)
    scores = checks.scores(scoremat, "scoremat")
    mask = checks.mask(scoremask, "scoremask")

    def fill(root: Any) -> None:
        put_numbers(root, "scores", scores)
        put_mask(root, "score_mask", mask.view(np.uint8))
        put_ids(root, checks.models, checks.segments)

    write_hdf5(path, "scores", fill)


def write_segment_quality(path: PathLike, *, ids: npt.ArrayLike, values: npt.ArrayLike) -> None:
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
    path: PathLike,
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


def write_id_map(path: PathLike, *, leftids: npt.ArrayLike, rightids: npt.ArrayLike) -> None:
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
        If lengths differ, or an id holds a NUL character.
    OSError
        If the file cannot be written.
    """
    left, right = as_ids(leftids, "leftids", "IdMap"), as_ids(rightids, "rightids", "IdMap")
    check_shape(right, left.shape, "rightids", "IdMap", "like `leftids`")

    def fill(root: Any) -> None:
        put_strings(root, "left_ids", left)
        put_strings(root, "right_ids", right)

    write_hdf5(path, "id_map", fill)


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
