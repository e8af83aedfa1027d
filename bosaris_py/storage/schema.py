"""Kinds of stored objects: classes, fields, dimensions, data sets, layouts and versions.

`KINDS` says what the arguments of each class hold, `LAYOUTS` where HDF5 files keep them. The
modules `hdf5` and `mat` have one reader and one writer for all kinds, which follow these tables.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, BoolArray, StrArray
from bosaris_py._validation import as_ids, as_mask, as_matrix, check_shape, describe, invalid
from bosaris_py.errors import FileFormatError, InvalidInputError

# Keys are the argument names of the constructor of the class that was read.
Arrays: TypeAlias = dict[str, AnyArray]

FORMAT_VERSION = "1.0"


@attrs.frozen
class Field:
    """Content of an argument (ids, numbers, positions or mask), and its dimensions.

    Dimensions are letters: m models, n segments, k trials, q quality measures.
    """

    content: str
    dims: str


@attrs.frozen
class Kind:
    """A class of objects: its fields, and which of them a file may lack."""

    class_name: str
    # In the order of the toolkit's structs.
    fields: Mapping[str, Field]
    # Name of the struct in MATLAB files; None if there is no such format.
    variable: str | None = None
    optional: frozenset[str] = frozenset()


_IDS = {"modelset": Field("ids", "m"), "segset": Field("ids", "n")}
_TRIALS = {**_IDS, "models": Field("positions", "k"), "segments": Field("positions", "k")}
_MASK = Field("mask", "mn")

KINDS = {
    "ndx": Kind("Ndx", {**_IDS, "trialmask": _MASK}, "ndx"),
    "key": Kind("Key", {**_IDS, "tar": _MASK, "non": _MASK}, "key"),
    "scores": Kind(
        "Scores", {"scoremat": Field("numbers", "mn"), **_IDS, "scoremask": _MASK}, "scr"
    ),
    "flat_ndx": Kind("FlatNdx", _TRIALS),
    "flat_key": Kind("FlatKey", {**_TRIALS, "is_target": Field("mask", "k")}),
    "flat_scores": Kind("FlatScores", {**_TRIALS, "scores": Field("numbers", "k")}),
    # The columns of metadata follow their own layout, see `hdf5.read_metadata`.
    "trial_metadata": Kind(
        "TrialMetadata",
        {**_TRIALS, "is_target": Field("mask", "k")},
        optional=frozenset({"is_target"}),
    ),
    "segment_quality": Kind(
        "SegmentQuality", {"ids": Field("ids", "n"), "values": Field("numbers", "qn")}, "qual"
    ),
    # Early releases of the toolkit wrote no masks, which are all true then.
    "quality_measures": Kind(
        "QualityMeasures",
        {
            "modelQ": Field("numbers", "qm"),
            "segQ": Field("numbers", "qn"),
            **_IDS,
            "hasmodel": Field("mask", "m"),
            "hasseg": Field("mask", "n"),
            "scoremask": _MASK,
        },
        "qual",
        # `hasmodel` decides for `hasseg` too.
        optional=frozenset({"hasmodel", "scoremask"}),
    ),
    "id_map": Kind("IdMap", {"leftids": Field("ids", "n"), "rightids": Field("ids", "n")}, "idmap"),
}

# A key in HDF5 is one matrix of labels: 1 for targets, -1 for non-targets, 0 for no trial.
LABELS = Field("mask", "mn")


@attrs.frozen
class Layout:
    """Names of the data sets of each field in one of the known layouts of HDF5 files."""

    # The first name is written; a reader takes the first that it finds.
    data_sets: Mapping[str, tuple[str, ...]]
    may_lack: frozenset[str] = frozenset()
    quality_transposed: bool = False


# In the order in which they are written.
_TOOLKIT = {
    "trialmask": ("trial_mask",),
    "labels": ("trial_mask",),
    "modelQ": ("modelQ",),
    "segQ": ("segQ",),
    "scoremat": ("scores",),
    "scoremask": ("score_mask",),
    "values": ("values",),
    "ids": ("ids",),
    "modelset": ("ID/row_ids",),
    "segset": ("ID/column_ids",),
    "hasmodel": ("ID/has_row",),
    "hasseg": ("ID/has_column",),
    "models": ("trials/models",),
    "segments": ("trials/segments",),
    "is_target": ("trials/is_target",),
    "scores": ("trials/scores",),
    "leftids": ("left_ids", "leftids"),
    "rightids": ("right_ids", "rightids"),
    # Never written: the toolkit's first format of keys had two masks.
    "tar": ("target_mask",),
    "non": ("nontarget_mask",),
}

TOOLKIT = Layout(_TOOLKIT)

LAYOUTS = (
    TOOLKIT,
    # SIDEKIT and A. Nautsch's pybosaris; one release misspelt the second name.
    Layout(
        {
            **_TOOLKIT,
            "modelset": ("modelset",),
            "segset": ("segset", "segest"),
            "hasmodel": ("hasmodel",),
            "hasseg": ("hasseg",),
            # Its keys are always one matrix.
            "tar": (),
            "non": (),
        },
        quality_transposed=True,
    ),
    # PyBOSARIS, whose scores may come without a mask.
    Layout(
        {
            **_TOOLKIT,
            "modelset": ("model_names",),
            "segset": ("test_names",),
            "hasmodel": ("hasmodel",),
            "hasseg": ("hasseg",),
            "scoremat": ("score_mat",),
            "tar": ("tar_mask",),
            "non": ("non_mask",),
        },
        may_lack=frozenset({"scoremask"}),
    ),
)

# Data sets by which the kind of an HDF5 file is recognised, in order of precedence.
SIGNS = (
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

# Fields by which the kind of a MATLAB struct is recognised.
STRUCT_SIGNS = {
    "trialmask": "ndx",
    "tar": "key",
    "scoremat": "scores",
    "modelQ": "quality_measures",
    "values": "segment_quality",
    "leftids": "id_map",
}

_TYPES = {
    "ids": ("U", "hold strings"),
    "numbers": ("f", "hold real numbers"),
    "positions": ("iu", "hold whole numbers"),
    "mask": ("b", "be boolean"),
}


def refuse_newer(where: str, version: object, readable: str) -> None:
    """Refuse a file in a format that this version of the package cannot know.

    `where` names the file and the entry that holds the version; `readable` is the
    newest version that can be read. A higher minor version is readable.
    """
    text = version if isinstance(version, str) else ""
    try:
        major = int(text.split(".")[0])
    except ValueError:
        raise FileFormatError(f"{where} is {version!r}, not a version") from None
    if major > int(readable.split(".")[0]):
        message = f"{where} is {text}, this installation reads {readable}; update bosaris_py"
        raise FileFormatError(message)


def check_fields(kind: str, arrays: Mapping[str, Any]) -> None:
    """Refuse arrays whose types or shapes no class has, before a file is begun."""
    # Extent of each dimension, and the field that set it.
    extents: dict[str, tuple[int, str]] = {}
    fields = KINDS[kind].fields
    for name in sorted(fields, key=lambda name: fields[name].content != "ids"):
        array, dims = arrays[name], fields[name].dims
        types, expected = _TYPES[fields[name].content]
        if array.dtype.kind not in types:
            raise invalid(name, expected, describe(array))
        if array.ndim == len(dims):
            for dim, extent in zip(dims, array.shape, strict=True):
                extents.setdefault(dim, (extent, f"`{name}`"))
        shape = tuple(extents[dim][0] if dim in extents else 0 for dim in dims)
        like = ", ".join(extents[dim][1] for dim in dims if dim in extents)
        check_shape(array, shape, name, f"like {like}")


@attrs.frozen(eq=False)
class MatrixChecks:
    """Models and segments of an object, and checks of whether its matrices fit them."""

    models: StrArray
    segments: StrArray

    @classmethod
    def of(cls, modelset: npt.ArrayLike, segset: npt.ArrayLike) -> "MatrixChecks":
        """Check the ids of an object."""
        return cls(as_ids(modelset, "modelset"), as_ids(segset, "segset"))

    def mask(self, mask: npt.ArrayLike, name: str) -> BoolArray:
        """Return a mask of trials in C order."""
        array = as_mask(mask, name)
        self._check_shape(array, name)
        return np.ascontiguousarray(array)

    def scores(self, scores: npt.ArrayLike, name: str) -> AnyArray:
        """Return a matrix with a number for each trial, as float32 or float64."""
        array = as_matrix(scores, name)
        self._check_shape(array, name)
        return array

    def classes(self, tar: npt.ArrayLike, non: npt.ArrayLike) -> tuple[BoolArray, BoolArray]:
        """Return the masks of targets and of non-targets, refusing trials that are both."""
        targets, nontargets = self.mask(tar, "tar"), self.mask(non, "non")
        if (targets & nontargets).any():
            raise InvalidInputError("`tar` and `non` must be disjoint; some trials are in both")
        return targets, nontargets

    def _check_shape(self, array: AnyArray, name: str) -> None:
        shape = (self.models.size, self.segments.size)
        like = f"({shape[0]} models, {shape[1]} segments)"
        check_shape(array, shape, name, like)
