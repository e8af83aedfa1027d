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

from bosaris_py._validation import FilePath, as_ids, check_shape, frozen
from bosaris_py.storage._checked_matrices import MatrixChecks
from bosaris_py.storage._guarded_hdf5 import open_guarded
from bosaris_py.storage._hdf5_layouts import (
    USE_KEY,
    USE_NDX,
    check_ids,
    check_matrix,
    expect_kind,
    find_layout,
    key_data_sets,
    require,
    score_data_sets,
    warn_if_maskless,
    warn_if_two_masks,
)
from bosaris_py.storage._hdf5_output import (
    put_ids,
    put_mask,
    put_numbers,
    put_strings,
    write_hdf5,
)
from bosaris_py.storage._quality_hdf5 import (
    read_quality_measures,
    read_segment_quality,
    write_quality_measures,
    write_segment_quality,
)
from bosaris_py.storage._types import Arrays

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


def read_ndx(path: FilePath, *, max_bytes: int | None = None) -> Arrays:
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
        names = key_data_sets(source, layout)
        if len(names) == 2:
            targets, nontargets = (source.mask(name) for name in names)
            shape = check_matrix(targets, models, segments)
            check_matrix(nontargets, models, segments)
            tar, non = targets.read_mask(), nontargets.read_mask()
        else:
            mask = source.mask(names[0], copies=2)
            shape = check_matrix(mask, models, segments)
            if mask.is_unsigned:
                raise source.error(mask.name, USE_NDX)
            labels = mask.read_mask(signed=True)
            tar, non = frozen(labels == 1), frozen(labels == -1)
        arrays = {
            "modelset": models.read_strings(),
            "segset": segments.read_strings(),
            "tar": tar.reshape(shape),
            "non": non.reshape(shape),
        }
    warn_if_two_masks(path, names)
    return arrays


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
        names = score_data_sets(source, layout)
        models, segments = check_ids(source, layout)
        scores = source.numbers(names[0])
        shape = check_matrix(scores, models, segments)
        mask = source.mask(names[1]) if len(names) == 2 else None
        if mask is not None:
            check_matrix(mask, models, segments)
        valid = frozen(np.ones(shape, dtype=np.bool_)) if mask is None else mask.read_mask()
        arrays = {
            "scoremat": scores.read_numbers().reshape(shape),
            "modelset": models.read_strings(),
            "segset": segments.read_strings(),
            "scoremask": valid.reshape(shape),
        }
    warn_if_maskless(path, names)
    return arrays


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
