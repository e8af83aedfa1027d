"""Kinds of stored objects: classes, fields, dimensions, data sets, layouts and versions.

`FIELDS` says what the arguments of classes hold and where HDF5 files keep them, `KINDS` which of
them each class has. The modules `hdf5` and `mat` have one reader and one writer for all kinds,
which follow these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import attrs

from bosaris_py._arrays import AnyArray
from bosaris_py._validation import check_shape, describe, invalid
from bosaris_py.errors import FileFormatError

# Keys are the argument names of the constructor of the class that was read.
Arrays: TypeAlias = dict[str, AnyArray]

FORMAT_VERSION = "1.0"


@attrs.frozen
class Field:
    """Content of an argument of a class, its dimensions, and its data sets in HDF5 files.

    The content is ids, numbers, positions or a mask. Dimensions are letters: m models, n segments,
    k trials, q quality measures.
    """

    content: str
    dims: str
    # The first name is written; a reader takes the first that it finds.
    data_sets: tuple[str, ...]


# In the order in which they are written.
FIELDS = {
    "trialmask": Field("mask", "mn", ("trial_mask",)),
    # A key in HDF5: 1 for targets, -1 for non-targets, 0 for no trial.
    "labels": Field("mask", "mn", ("trial_mask",)),
    "modelQ": Field("numbers", "qm", ("modelQ",)),
    "segQ": Field("numbers", "qn", ("segQ",)),
    "scoremat": Field("numbers", "mn", ("scores",)),
    "scoremask": Field("mask", "mn", ("score_mask",)),
    "values": Field("numbers", "qn", ("values",)),
    "ids": Field("ids", "n", ("ids",)),
    "modelset": Field("ids", "m", ("ID/row_ids",)),
    "segset": Field("ids", "n", ("ID/column_ids",)),
    "hasmodel": Field("mask", "m", ("ID/has_row",)),
    "hasseg": Field("mask", "n", ("ID/has_column",)),
    "models": Field("positions", "k", ("trials/models",)),
    "segments": Field("positions", "k", ("trials/segments",)),
    "is_target": Field("mask", "k", ("trials/is_target",)),
    "scores": Field("numbers", "k", ("trials/scores",)),
    "leftids": Field("ids", "n", ("left_ids", "leftids")),
    "rightids": Field("ids", "n", ("right_ids", "rightids")),
    # Never written so: the toolkit's first format of keys had two masks.
    "tar": Field("mask", "mn", ("target_mask",)),
    "non": Field("mask", "mn", ("nontarget_mask",)),
}


@attrs.frozen
class Layout:
    """One of the known layouts of HDF5 files: the names of data sets, and what it may lack."""

    data_sets: Mapping[str, tuple[str, ...]]
    may_lack: frozenset[str] = frozenset()
    quality_transposed: bool = False


_TOOLKIT = {name: field.data_sets for name, field in FIELDS.items()}
_OTHERS = {**_TOOLKIT, "hasmodel": ("hasmodel",), "hasseg": ("hasseg",)}

LAYOUTS = (
    Layout(_TOOLKIT),
    # SIDEKIT and A. Nautsch's pybosaris; one release misspelt the second name. Keys are
    # always one matrix.
    Layout(
        _OTHERS | {"modelset": ("modelset",), "segset": ("segset", "segest"), "tar": (), "non": ()},
        quality_transposed=True,
    ),
    # PyBOSARIS, whose scores may come without a mask.
    Layout(
        _OTHERS
        | {
            "modelset": ("model_names",),
            "segset": ("test_names",),
            "scoremat": ("score_mat",),
            "tar": ("tar_mask",),
            "non": ("non_mask",),
        },
        may_lack=frozenset({"scoremask"}),
    ),
    # DCA-PLDA, whose scores never have a mask; its early releases named models by `train_ids`.
    Layout(
        _OTHERS
        | {"modelset": ("enroll_ids", "train_ids"), "segset": ("test_ids",), "tar": (), "non": ()},
        may_lack=frozenset({"scoremask"}),
    ),
)


@attrs.frozen
class Kind:
    """A class of objects, and the names of its fields in the order of the toolkit's structs."""

    class_name: str
    fields: tuple[str, ...]
    # Name of the struct in MATLAB files; None if there is no such format.
    variable: str | None = None
    # What a file may lack.
    optional: frozenset[str] = frozenset()


_IDS = ("modelset", "segset")
_TRIALS = (*_IDS, "models", "segments")

KINDS = {
    "ndx": Kind("Ndx", (*_IDS, "trialmask"), "ndx"),
    "key": Kind("Key", (*_IDS, "tar", "non"), "key"),
    "scores": Kind("Scores", ("scoremat", *_IDS, "scoremask"), "scr"),
    "flat_ndx": Kind("FlatNdx", _TRIALS),
    "flat_key": Kind("FlatKey", (*_TRIALS, "is_target")),
    "flat_scores": Kind("FlatScores", (*_TRIALS, "scores")),
    # Its columns follow a layout of their own, see `hdf5.read_metadata`.
    "trial_metadata": Kind(
        "TrialMetadata", (*_TRIALS, "is_target"), optional=frozenset({"is_target"})
    ),
    "segment_quality": Kind("SegmentQuality", ("ids", "values"), "qual"),
    # Early releases of the toolkit wrote no masks, which are all true then; `hasmodel`
    # decides for `hasseg` too.
    "quality_measures": Kind(
        "QualityMeasures",
        ("modelQ", "segQ", *_IDS, "hasmodel", "hasseg", "scoremask"),
        "qual",
        frozenset({"hasmodel", "scoremask"}),
    ),
    "id_map": Kind("IdMap", ("leftids", "rightids"), "idmap"),
}

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

    `where` names the file and the entry that holds the version; `readable` is the newest version
    that can be read. A higher minor version is readable.
    """
    text = version if isinstance(version, str) else ""
    try:
        major = int(text.split(".")[0])
    except ValueError:
        raise FileFormatError(f"{where} is {version!r}, not a version") from None
    if major > int(readable.split(".")[0]):
        message = f"{where} is {text}, this installation reads {readable}; update bosaris_py"
        raise FileFormatError(message)


def check_fields(kind: str, arrays: Mapping[str, AnyArray]) -> None:
    """Refuse arrays whose types or shapes no class has, before a file is begun."""
    # Extent of each dimension, and the field that set it.
    extents: dict[str, tuple[int, str]] = {}
    for name in sorted(KINDS[kind].fields, key=lambda name: FIELDS[name].content != "ids"):
        array, dims = arrays[name], FIELDS[name].dims
        types, expected = _TYPES[FIELDS[name].content]
        if array.dtype.kind not in types:
            raise invalid(name, expected, describe(array))
        if array.ndim == len(dims):
            for dim, extent in zip(dims, array.shape, strict=True):
                extents.setdefault(dim, (extent, f"`{name}`"))
        shape = tuple(extents[dim][0] if dim in extents else 0 for dim in dims)
        like = ", ".join(extents[dim][1] for dim in dims if dim in extents)
        check_shape(array, shape, name, f"like {like}")
