"""Kinds of stored objects: data sets, shapes, types, versions."""

from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import StrArray
from bosaris_py._validation import (
    FilePath,
    as_ids,
    as_mask,
    as_matrix,
    check_shape,
    list_some,
    warn_caller,
)
from bosaris_py.errors import FileFormatError, InvalidInputError, OldFormatWarning
from bosaris_py.storage._guarded_hdf5 import GuardedDataset, GuardedFile


def refuse_newer(where: str, version: object, readable: str) -> None:
    """Refuse a file in a format that this version of the package cannot know.

    `where` names the file and the entry that holds the version; `readable` is the
    newest version that can be read. A higher minor version is readable.
    """
    text = version if isinstance(version, str) else ""
    try:
        major = int(text.split(".")[0])
    except ValueError:
        message = f"{where} is {version!r}, not a version"
        raise FileFormatError(message) from None
    if major > int(readable.split(".")[0]):
        message = f"{where} is {text}, this installation reads {readable}; update bosaris_py"
        raise FileFormatError(message)


# Keys are the argument names of the constructor of the class that was read.
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]

CLASS_NAMES = {
    "ndx": "Ndx",
    "key": "Key",
    "scores": "Scores",
    "flat_ndx": "FlatNdx",
    "flat_key": "FlatKey",
    "flat_scores": "FlatScores",
    "trial_metadata": "TrialMetadata",
    "segment_quality": "SegmentQuality",
    "quality_measures": "QualityMeasures",
    "id_map": "IdMap",
}


FORMAT_VERSION = "1.0"


@attrs.frozen
class Layout:
    """Names of the data sets in one of the known layouts."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    scores: str = "scores"
    has_model: str = "hasmodel"
    has_segment: str = "hasseg"
    two_masks: tuple[str, str] | None = None
    quality_transposed: bool = False


_LAYOUTS = (
    Layout(
        rows=("ID/row_ids",),
        columns=("ID/column_ids",),
        has_model="ID/has_row",
        has_segment="ID/has_column",
        two_masks=("target_mask", "nontarget_mask"),
    ),
    # SIDEKIT and A. Nautsch's pybosaris; one release misspelt the second name.
    Layout(rows=("modelset",), columns=("segset", "segest"), quality_transposed=True),
    Layout(
        rows=("model_names",),
        columns=("test_names",),
        scores="score_mat",
        two_masks=("tar_mask", "non_mask"),
    ),
)

# Which data sets betray which kind; the first match counts.
_SIGNS = (
    (("trials/models", "trials/is_target"), "flat_key"),
    (("trials/models", "trials/scores"), "flat_scores"),
    (("trials/models",), "flat_ndx"),
    (("scores",), "scores"),
    (("score_mat",), "scores"),
    (("modelQ",), "quality_measures"),
    (("target_mask",), "key"),
    (("tar_mask",), "key"),
    (("trial_mask", "file_format"), "key"),
    (("values", "ids"), "segment_quality"),
    (("left_ids",), "id_map"),
    (("leftids",), "id_map"),
)

USE_KEY = "Read it with Key.read and call to_ndx() on the result"

USE_NDX = "cannot hold -1 for non-targets: this is an Ndx; read it with Ndx.read"


def expect_kind(source: GuardedFile, kind: str) -> None:
    """Refuse a file that says it is of another kind, or of a newer format."""
    declared = source.attribute("format") or ""
    if not declared.startswith("bosaris_py."):
        return
    found = declared.removeprefix("bosaris_py.")
    if found != kind:
        raise _wrong_kind(source, kind, CLASS_NAMES.get(found, found))
    version = source.attribute("format_version") or FORMAT_VERSION
    refuse_newer(f"{source.path}: the attribute format_version", version, FORMAT_VERSION)


def _wrong_kind(source: GuardedFile, kind: str, found: str) -> FileFormatError:
    """Return the error for a file that holds something else."""
    wanted = CLASS_NAMES[kind]
    hint = ""
    if (wanted, found) in (("Ndx", "Key"), ("FlatNdx", "FlatKey")):
        hint = f" Read it with {found}.read and call to_ndx() on the result."
    elif found == f"Flat{wanted}":
        hint = (
            f" Read it with {found}.read; to_dense() makes a matrix of it if it is not too large."
        )
    elif wanted == f"Flat{found}":
        hint = f" Read it with {found}.read and call to_flat() on the result."
    message = f"{source.path}: expected {wanted}; the file holds {found}.{hint}"
    return FileFormatError(message)


def _recognise(source: GuardedFile, kind: str) -> str:
    """Name what a file holds: a class, or else its data sets.

    If it can be taken for `kind`, that class is named.
    """
    found = [name for signs, name in _SIGNS if all(source.holds(sign) for sign in signs)]
    if found:
        return CLASS_NAMES[kind if kind in found else found[0]]
    if source.holds("trial_mask"):
        return CLASS_NAMES[kind] if kind in ("ndx", "key") else "an Ndx or Key"
    members = source.members()
    return f"`{list_some(members)}`" if members else "nothing at all"


def _missing(source: GuardedFile, kind: str, name: str) -> FileFormatError:
    """Return the error for a file that lacks a data set: of this kind, or of another."""
    found = _recognise(source, kind)
    if found == CLASS_NAMES[kind]:
        return source.error(name, "is missing")
    return _wrong_kind(source, kind, found)


def require(source: GuardedFile, kind: str, name: str) -> None:
    """Refuse a file without the data set that makes its kind."""
    if not source.holds(name):
        raise _missing(source, kind, name)
    if kind == "ndx" and source.holds("file_format"):
        raise _wrong_kind(source, kind, "Key")
    if kind == "flat_ndx" and source.holds("trials/is_target"):
        raise _wrong_kind(source, kind, "FlatKey")


def find_layout(source: GuardedFile, kind: str) -> Layout:
    """Tell the layout of a file from the data set that holds the models."""
    for layout in _LAYOUTS:
        if source.first_of(layout.rows) is not None:
            return layout
    raise _missing(source, kind, _LAYOUTS[0].rows[0])


def score_data_sets(source: GuardedFile, layout: Layout) -> tuple[str, ...]:
    """Name the data sets of scores and of their mask, which those of PyBOSARIS may lack."""
    require(source, "scores", layout.scores)
    if layout.scores == "score_mat" and not source.holds("score_mask"):
        return (layout.scores,)
    return layout.scores, "score_mask"


def warn_if_maskless(path: FilePath, data_sets: tuple[str, ...]) -> None:
    """Warn if scores come without a mask."""
    if len(data_sets) == 1:
        message = f"{path}: the file does not say which scores are valid; taking all as valid"
        warn_caller(message, OldFormatWarning)


def key_data_sets(source: GuardedFile, layout: Layout) -> tuple[str, ...]:
    """Name the data set of labels or, in old layouts, those of targets and of non-targets."""
    if layout.two_masks is not None and source.holds(layout.two_masks[0]):
        return layout.two_masks
    require(source, "key", "trial_mask")
    return ("trial_mask",)


def warn_if_two_masks(path: FilePath, data_sets: tuple[str, ...]) -> None:
    """Warn if a key comes as two masks."""
    if len(data_sets) == 2:
        message = f"{path}: a key in the old layout with two masks; save it again to update it"
        warn_caller(message, OldFormatWarning)


def check_ids(source: GuardedFile, layout: Layout) -> tuple[GuardedDataset, GuardedDataset]:
    """Check the data sets of models and segments of a layout."""
    rows = source.first_of(layout.rows) or layout.rows[0]
    columns = source.first_of(layout.columns) or layout.columns[0]
    return source.strings(rows), source.strings(columns)


def check_matrix(
    matrix: GuardedDataset, models: GuardedDataset, segments: GuardedDataset
) -> tuple[int, int]:
    """Refuse a matrix that does not fit the ids; return the shape it shall have."""
    shape = (models.count, segments.count)
    is_vector = 1 in shape and matrix.shape == (max(shape),)
    # One id without trials, or an empty object, may be stored without a second extent.
    is_empty = 0 in shape and matrix.count == 0
    if matrix.shape == shape or is_vector or is_empty:
        return shape
    text = (
        f"has shape {matrix.shape}; `/{models.name}` names {shape[0]} models and "
        f"`/{segments.name}` {shape[1]} segments"
    )
    if matrix.shape == shape[::-1]:
        text += ". Models and segments look swapped"
    raise matrix.owner.error(matrix.name, text)


@attrs.frozen(eq=False)
class MatrixChecks:
    """Models and segments of an object, and checks of whether its matrices fit them.

    Parameters
    ----------
    models, segments : (m,), (n,) array of str
        Ids of the rows and of the columns.
    """

    models: StrArray
    segments: StrArray

    @classmethod
    def of(cls, modelset: npt.ArrayLike, segset: npt.ArrayLike) -> "MatrixChecks":
        """Check the ids of an object."""
        return cls(as_ids(modelset, "modelset"), as_ids(segset, "segset"))

    def mask(self, mask: npt.ArrayLike, name: str) -> npt.NDArray[np.bool_]:
        """Return a mask of trials in C order."""
        array = as_mask(mask, name)
        self._check_shape(array, name)
        return np.ascontiguousarray(array)

    def scores(self, scores: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
        """Return a matrix with a number for each trial, as float32 or float64."""
        array = as_matrix(scores, name)
        self._check_shape(array, name)
        return array

    def classes(
        self, tar: npt.ArrayLike, non: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return the masks of targets and of non-targets, refusing trials that are both."""
        targets, nontargets = self.mask(tar, "tar"), self.mask(non, "non")
        if (targets & nontargets).any():
            message = "`tar` and `non` must be disjoint; some trials are in both"
            raise InvalidInputError(message)
        return targets, nontargets

    def measures(
        self, of_models: npt.ArrayLike, of_segments: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return quality measures of models and of segments, as many of both."""
        models = as_matrix(of_models, "modelQ")
        segments = as_matrix(of_segments, "segQ")
        count = models.shape[0]
        check_shape(models, (count, self.models.size), "modelQ", "like `modelset`")
        shape = (count, self.segments.size)
        check_shape(segments, shape, "segQ", "like `modelQ`, `segset`")
        return models.astype(np.float64, copy=False), segments.astype(np.float64, copy=False)

    def measured(
        self, models: npt.ArrayLike, segments: npt.ArrayLike
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Return which models and which segments have quality measures."""
        has_model = as_mask(models, "hasmodel")
        has_segment = as_mask(segments, "hasseg")
        check_shape(has_model, self.models.shape, "hasmodel", "like `modelset`")
        check_shape(has_segment, self.segments.shape, "hasseg", "like `segset`")
        return has_model, has_segment

    def _check_shape(self, array: npt.NDArray[Any], name: str) -> None:
        shape = (self.models.size, self.segments.size)
        like = f"({shape[0]} models, {shape[1]} segments)"
        check_shape(array, shape, name, like)
