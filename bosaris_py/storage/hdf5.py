r"""Read and write all kinds of objects as HDF5.

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

====================================  =================================================
data set                              content
====================================  =================================================
``/ID/row_ids``, ``/ID/column_ids``   strings: models and segments
``/trials/models``                    integers: model of each trial, its position from 0
``/trials/segments``                  integers: segment of each trial, likewise
``/trials/is_target``                 uint8 0, 1: only where the answers are known
``/columns/<kind>/names``             strings: names of the columns, in their order
``/columns/<kind>/<i>/codes``         unsigned integers: positions in the levels
``/columns/<kind>/<i>/levels``        strings: the categories
``/columns/<kind>/<i>/values``        integers or floats: of a column that is measured
====================================  =================================================

``<kind>`` is ``trial``, ``model`` or ``segment``: columns have an element for each trial,
model or segment. ``<i>`` is the number of the column from 0; names are no parts of
paths, because they may be any text. A column has either codes and levels, or values.

Trials come by segment, then by model, as in all vectors of trials. The attribute ``form``
of the root names the class that holds them: ``Ndx``, ``Key``, ``FlatNdx`` or ``FlatKey``.
Other attributes, strings, and what is refused when reading, are as in all HDF5 files of
this package. Integers are compressed with gzip, after sorting bytes by their place.
"""

from collections.abc import Callable, Mapping
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import mark_read_only
from bosaris_py._validation import FilePath, as_ids, as_mask, as_matrix, as_vector, check_shape
from bosaris_py._version import __version__
from bosaris_py.errors import FileFormatError, InvalidInputError
from bosaris_py.storage._guarded_hdf5 import (
    GuardedDataset,
    GuardedFile,
    character_codes,
    create_hdf5,
    open_guarded,
    refuse_nul,
)
from bosaris_py.storage.atomic import atomic_write
from bosaris_py.storage.factors import Factor
from bosaris_py.storage.schema import (
    FORMAT_VERSION,
    USE_KEY,
    USE_NDX,
    Arrays,
    MatrixChecks,
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

_CHUNK_BYTES = 2**20

# Below this size compressed data take more bytes than plain ones.
_COMPRESS_FROM = 2**12

# The fastest level: a mask shrinks no further at the others.
_GZIP_LEVEL = 1


def write_hdf5(path: FilePath, kind: str, fill: Callable[[Any], None]) -> None:
    """Create a file of one kind, let `fill` put its data sets, and put it in place."""
    # The oldest format of the library, because MATLAB of the toolkit's days reads it.
    versions = ("earliest", "v108")

    def fill_all(file: Any) -> None:
        put_attribute(file.id, "format", f"bosaris_py.{kind}")
        put_attribute(file.id, "format_version", FORMAT_VERSION)
        put_attribute(file.id, "created_by", f"bosaris_py {__version__}")
        fill(file)

    with atomic_write(path) as temporary:
        create_hdf5(temporary, path, fill_all, libver=versions)


def _string_type(width: int, *, is_ascii: bool) -> Any:
    """Return the HDF5 type of a null-terminated string of `width` bytes."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(width)
    kind.set_strpad(h5py.h5t.STR_NULLTERM)
    kind.set_cset(h5py.h5t.CSET_ASCII if is_ascii else h5py.h5t.CSET_UTF8)
    return kind


def put_attribute(location: Any, name: str, text: str) -> None:
    """Put a scalar text attribute of fixed length."""
    kind = _string_type(len(text) + 1, is_ascii=True)
    scalar = h5py.h5s.create(h5py.h5s.SCALAR)
    attribute = h5py.h5a.create(location, name.encode(), kind, scalar)
    attribute.write(np.array(text.encode(), dtype=f"S{len(text) + 1}"), mtype=kind)


def put_ids(root: Any, models: npt.NDArray[np.str_], segments: npt.NDArray[np.str_]) -> None:
    """Put the ids of rows and columns, in the toolkit's order."""
    put_strings(root, "ID/row_ids", models)
    put_strings(root, "ID/column_ids", segments)


def put_strings(root: Any, name: str, ids: npt.NDArray[np.str_]) -> None:
    """Put strings of fixed length, one byte longer than the longest, as MATLAB does."""
    refuse_nul(ids, name)
    is_ascii = bool(character_codes(ids).max(initial=0) < 128)
    try:
        encoded = ids.astype(np.bytes_) if is_ascii else np.strings.encode(ids, "utf-8")
    except UnicodeEncodeError as error:
        message = f"an id for `/{name}` cannot be encoded as UTF-8: {error}"
        raise InvalidInputError(message) from error
    width = 1 + (int(np.strings.str_len(encoded).max()) if ids.size else 0)
    kind = _string_type(width, is_ascii=is_ascii)
    space = h5py.h5s.create_simple(ids.shape)
    parents = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    parents.set_create_intermediate_group(True)
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_obj_track_times(False)
    dataset = h5py.h5d.create(root.id, name.encode(), kind, space, properties, lcpl=parents)
    if ids.size:
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, encoded.astype(f"S{width}"), mtype=kind)


def put_numbers(root: Any, name: str, numbers: npt.NDArray[Any]) -> None:
    """Put a matrix of numbers, in blocks of rows and uncompressed."""
    put_array(root, name, numbers, chunks=_chunk_shape(numbers.shape, numbers.dtype))


def put_mask(root: Any, name: str, mask: npt.NDArray[Any]) -> None:
    """Put a mask, in blocks of rows and compressed unless it is tiny."""
    chunks = _chunk_shape(mask.shape, mask.dtype)
    put_array(root, name, mask, chunks=chunks, **_compression(mask.size))


def new_numbers(root: Any, name: str, shape: tuple[int, int], dtype: npt.DTypeLike) -> Any:
    """Create what `put_numbers` would put, to be filled row by row."""
    chunks = _chunk_shape(shape, np.dtype(dtype))
    return root.create_dataset(name, shape, dtype, track_times=False, chunks=chunks)


def new_mask(root: Any, name: str, shape: tuple[int, int], dtype: npt.DTypeLike) -> Any:
    """Create what `put_mask` would put, to be filled row by row."""
    options = {"chunks": _chunk_shape(shape, np.dtype(dtype)), **_compression(shape[0] * shape[1])}
    return root.create_dataset(name, shape, dtype, track_times=False, **options)


def new_vector(
    root: Any, name: str, count: int, dtype: npt.DTypeLike, *, chunk: int, compressed: bool
) -> Any:
    """Create a vector in blocks, to be filled part by part; it can be made shorter."""
    options: dict[str, Any] = {}
    if count:
        options["chunks"] = (min(count, chunk),)
    if count and compressed:
        options.update(compression="gzip", compression_opts=_GZIP_LEVEL, shuffle=True)
    return root.create_dataset(name, (count,), dtype, track_times=False, **options)


def _compression(size: int) -> dict[str, Any]:
    if size < _COMPRESS_FROM:
        return {}
    return {"compression": "gzip", "compression_opts": _GZIP_LEVEL}


def put_array(root: Any, name: str, data: npt.NDArray[Any], **options: Any) -> None:
    """Put a data set without a time stamp, so that equal content gives equal files."""
    root.create_dataset(name, data=data, track_times=False, **options)


def put_vector(root: Any, name: str, vector: npt.NDArray[Any]) -> None:
    """Put one number per trial in blocks, compressed after sorting bytes by their place.

    That is for positions and codes, which change little from trial to trial; scores would
    hardly shrink.
    """
    options: dict[str, Any] = {}
    if vector.size >= _COMPRESS_FROM:
        options = {
            "chunks": (min(vector.size, _CHUNK_BYTES // vector.itemsize),),
            **_compression(vector.size),
            "shuffle": True,
        }
    put_array(root, name, vector, **options)


def _chunk_shape(shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, int] | None:
    """Return the shape of blocks of whole rows of about `_CHUNK_BYTES`.

    A block of rows is what streaming reads at once. Only if a single row is longer
    than that is it cut, too. Without elements there are no blocks.
    """
    rows, columns = shape
    if 0 in shape:
        return None
    in_block = _CHUNK_BYTES // dtype.itemsize
    return max(1, min(rows, in_block // columns)), min(columns, in_block)


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
            trials = mark_read_only(trials.view(np.bool_))
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
            tar, non = mark_read_only(labels == 1), mark_read_only(labels == -1)
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
        valid = mark_read_only(np.ones(shape, dtype=np.bool_)) if mask is None else mask.read_mask()
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
    path: FilePath, *, modelset: npt.ArrayLike, segset: npt.ArrayLike, trialmask: npt.ArrayLike
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
    checks = MatrixChecks.of(modelset, segset)
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
    checks = MatrixChecks.of(modelset, segset)
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
    checks = MatrixChecks.of(modelset, segset)
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
    left, right = as_ids(leftids, "leftids"), as_ids(rightids, "rightids")
    check_shape(right, left.shape, "rightids", "like `leftids`")

    def fill(root: Any) -> None:
        put_strings(root, "left_ids", left)
        put_strings(root, "right_ids", right)

    write_hdf5(path, "id_map", fill)


_CHUNK = 2**17

# The fastest level; positions that ascend shrink to a hundredth at any.
_FLAT_GZIP_LEVEL = 1


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
    labels = as_mask(is_target, "is_target").astype(np.uint8)
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
    values = as_vector(scores, "scores")
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
        _check_trial_vector(vector, vectors[0])
    arrays: dict[str, npt.NDArray[Any]] = {
        "modelset": models.read_strings(),
        "segset": segments.read_strings(),
    }
    for name, vector in positions.items():
        arrays[name] = vector.read_integers()
    if content is not None and values is not None:
        arrays[content] = values.read_mask() if content == "is_target" else values.read_numbers()
    return arrays


def _check_trial_vector(vector: GuardedDataset, first: GuardedDataset) -> None:
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
    models, segments = as_ids(ids[0], "modelset"), as_ids(ids[1], "segset")
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
        options.update(compression="gzip", compression_opts=_FLAT_GZIP_LEVEL, shuffle=True)
    put_array(root, name, vector, **options)


COLUMN_KINDS = ("trial", "model", "segment")

Columns = Mapping[str, Factor | npt.NDArray[Any]]


def read_metadata(path: FilePath, *, max_bytes: int | None = None) -> dict[str, Any]:
    """Read trials and their columns.

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
        `form` (str), `modelset` (m,) and `segset` (n,) of str, `models` and
        `segments` (k,) of int, `is_target` (k,) of bool or None, and `columns`: for
        each kind a dict of names to `Factor` or numeric array. All read-only.

    Raises
    ------
    FileFormatError
        If the file is damaged, foreign, of another kind, or too large.
    FileNotFoundError
        If there is no such file.
    """
    with open_guarded(path, max_bytes) as source:
        expect_kind(source, "trial_metadata")
        for name in ("trials/models", "trials/segments", "columns/trial/names"):
            require(source, "trial_metadata", name)
        model_ids, segment_ids = check_ids(source, find_layout(source, "trial_metadata"))
        trials = {name: source.integers(f"trials/{name}") for name in ("models", "segments")}
        for vector in trials.values():
            _check_metadata_vector(vector, trials["models"].count)
        labels = None
        if source.holds("trials/is_target"):
            labels = source.mask("trials/is_target")
            _check_metadata_vector(labels, trials["models"].count)
        sizes = (trials["models"].count, model_ids.count, segment_ids.count)
        return {
            "form": source.attribute("form") or "",
            "modelset": model_ids.read_strings(),
            "segset": segment_ids.read_strings(),
            **{name: vector.read_integers() for name, vector in trials.items()},
            "is_target": None if labels is None else labels.read_mask(),
            "columns": {
                kind: _read_metadata_columns(source, kind, size)
                for kind, size in zip(COLUMN_KINDS, sizes, strict=True)
            },
        }


def write_metadata(
    path: FilePath,
    *,
    form: str,
    modelset: npt.NDArray[np.str_],
    segset: npt.NDArray[np.str_],
    models: npt.NDArray[Any],
    segments: npt.NDArray[Any],
    is_target: npt.NDArray[np.bool_] | None,
    columns: Mapping[str, Columns],
) -> None:
    """Write trials and their columns, replacing an existing file in one step.

    Parameters
    ----------
    path : str or path-like
        The file.
    form : str
        Name of the class that holds the trials.
    modelset, segset : (m,) and (n,) ndarray of str
        Ids of models and segments.
    models, segments : (k,) ndarray of int
        The trials: positions in the lists of ids, column by column.
    is_target : (k,) ndarray of bool or None
        The answers, where they are known.
    columns : mapping
        For each of `COLUMN_KINDS` its columns: `Factor` or numeric array.

    Raises
    ------
    InvalidInputError
        If a text cannot be encoded.
    OSError
        If the file cannot be written.
    """

    def fill(file: Any) -> None:
        put_attribute(file.id, "form", form)
        put_ids(file, modelset, segset)
        put_vector(file, "trials/models", models)
        put_vector(file, "trials/segments", segments)
        if is_target is not None:
            put_vector(file, "trials/is_target", is_target.astype(np.uint8))
        for kind in COLUMN_KINDS:
            table = columns[kind]
            put_strings(file, f"columns/{kind}/names", np.array(list(table), dtype=np.str_))
            for number, column in enumerate(table.values()):
                where = f"columns/{kind}/{number}"
                if isinstance(column, Factor):
                    put_vector(file, f"{where}/codes", column.codes)
                    put_strings(file, f"{where}/levels", column.levels)
                elif column.dtype.kind == "f":
                    put_array(file, f"{where}/values", column)
                else:
                    put_vector(file, f"{where}/values", column)

    write_hdf5(path, "trial_metadata", fill)


def _check_metadata_vector(vector: GuardedDataset, size: int) -> None:
    """Refuse a data set that has not one element for each trial, model or segment."""
    if vector.shape != (size,):
        text = f"has shape {vector.shape}; {(size,)} is expected"
        raise vector.owner.error(vector.name, text)


def _read_metadata_columns(source: GuardedFile, kind: str, size: int) -> dict[str, Any]:
    """Read all columns of one kind."""
    names = source.strings(f"columns/{kind}/names").read_strings().tolist()
    if len(set(names)) < len(names):
        raise source.error(f"columns/{kind}/names", "names a column twice")
    return {
        name: _read_column(source, f"columns/{kind}/{number}", size)
        for number, name in enumerate(names)
    }


def _read_column(source: GuardedFile, where: str, size: int) -> Factor | npt.NDArray[Any]:
    """Read one column."""
    if not source.holds(f"{where}/codes"):
        values = source.numbers(f"{where}/values")
        _check_metadata_vector(values, size)
        is_whole = values.type_class == "integer"
        return values.read_integers() if is_whole else values.read_numbers()
    codes, levels = source.integers(f"{where}/codes"), source.strings(f"{where}/levels")
    _check_metadata_vector(codes, size)
    try:
        return Factor(codes.read_integers(), levels.read_strings())
    except InvalidInputError as error:
        message = f"{source.path}: `/{where}`: {error}"
        raise FileFormatError(message) from error


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
            _check_quality_vector(has_model, models, "models")
            _check_quality_vector(has_segment, segments, "segments")
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
    names = as_ids(ids, "ids")
    measures = as_matrix(values, "values")
    shape = (measures.shape[0], names.size)
    check_shape(measures, shape, "values", "like `ids`")

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
    checks = MatrixChecks.of(modelset, segset)
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


def _check_quality_vector(mask: GuardedDataset, ids: GuardedDataset, what: str) -> None:
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
        return mark_read_only(np.ascontiguousarray(numbers.T))
    return numbers.reshape(shape)


def _read_mask_or_true(mask: GuardedDataset | None, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Read a mask that a file may lack."""
    if mask is None:
        return mark_read_only(np.ones(shape, dtype=np.bool_))
    return mask.read_mask().reshape(shape)
