"""What files of trials hold: kinds of objects, their fields, and the names of their data sets."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import attrs

from bosaris_py._arrays import AnyArray
from bosaris_py.errors import FileFormatError

# Keys are the argument names of the constructor of the class that was read.
Arrays: TypeAlias = dict[str, AnyArray]


@attrs.frozen
class Field:
    """Content of an argument of a class, its dimensions, and the names of its data set.

    Dimensions are letters: m models, n segments, k trials, q quality measures. The first name is
    written; a reader takes the first that it finds.
    """

    content: str
    dims: str
    names: tuple[str, ...]


# The toolkit; SIDEKIT, one release of which misspelt the segments; PyBOSARIS; DCA-PLDA.
_MODELS = ("ID/row_ids", "modelset", "model_names", "enroll_ids", "train_ids")
_SEGMENTS = ("ID/column_ids", "segset", "segest", "test_names", "test_ids")

# In the order in which they are written.
FIELDS = {
    "trialmask": Field("mask", "mn", ("trial_mask",)),
    # Of a key: 1 for targets, -1 for non-targets, 0 for no trial.
    "labels": Field("mask", "mn", ("trial_mask",)),
    "modelQ": Field("numbers", "qm", ("modelQ",)),
    "segQ": Field("numbers", "qn", ("segQ",)),
    "scoremat": Field("numbers", "mn", ("scores", "score_mat")),
    "scoremask": Field("mask", "mn", ("score_mask",)),
    "values": Field("numbers", "qn", ("values",)),
    "ids": Field("ids", "n", ("ids",)),
    "modelset": Field("ids", "m", _MODELS),
    "segset": Field("ids", "n", _SEGMENTS),
    "hasmodel": Field("mask", "m", ("ID/has_row", "hasmodel")),
    "hasseg": Field("mask", "n", ("ID/has_column", "hasseg")),
    "models": Field("positions", "k", ("trials/models",)),
    "segments": Field("positions", "k", ("trials/segments",)),
    "is_target": Field("mask", "k", ("trials/is_target",)),
    "scores": Field("numbers", "k", ("trials/scores",)),
    "leftids": Field("ids", "n", ("left_ids", "leftids")),
    "rightids": Field("ids", "n", ("right_ids", "rightids")),
    # Never written so: the toolkit's first format of keys had two masks.
    "tar": Field("mask", "mn", ("target_mask", "tar_mask")),
    "non": Field("mask", "mn", ("nontarget_mask", "non_mask")),
}


@attrs.frozen
class Kind:
    """A class of objects: its fields in the order of the toolkit's structs, and their variable."""

    class_name: str
    fields: tuple[str, ...]
    # Name of the struct in MATLAB files; None if there is no such format.
    variable: str | None = None
    # Masks that are all true where a file of another program lacks them.
    optional: tuple[str, ...] = ()


IDS = ("modelset", "segset")
_TRIALS = (*IDS, "models", "segments")

KINDS = {
    "ndx": Kind("Ndx", (*IDS, "trialmask"), "ndx"),
    "key": Kind("Key", (*IDS, "tar", "non"), "key"),
    "scores": Kind("Scores", ("scoremat", *IDS, "scoremask"), "scr"),
    "flat_ndx": Kind("Ndx", _TRIALS),
    "flat_key": Kind("Key", (*_TRIALS, "is_target")),
    "flat_scores": Kind("Scores", (*_TRIALS, "scores")),
    "trial_metadata": Kind("TrialMetadata", (*_TRIALS, "is_target"), None, ("is_target",)),
    "segment_quality": Kind("SegmentQuality", ("ids", "values"), "qual"),
    # Early releases of the toolkit wrote no masks.
    "quality_measures": Kind(
        "QualityMeasures",
        ("modelQ", "segQ", *IDS, "hasmodel", "hasseg", "scoremask"),
        "qual",
        ("hasmodel", "hasseg", "scoremask"),
    ),
    "id_map": Kind("IdMap", ("leftids", "rightids"), "idmap"),
}

# Data sets by which the kind of a file is recognised, in order of precedence.
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


# What data sets may hold: kinds of numpy's types (O: strings of any length), and the same in words.
TYPES = {
    "ids": ("SO", "text"),
    "numbers": ("iuf", "real numbers"),
    "positions": ("iu", "whole numbers"),
    "mask": ("biuf", "a mask"),
}

# A file with this data set is of a kind that holds more than what was asked for.
SIGNS_OF_KEYS = {"ndx": ("file_format", "key"), "flat_ndx": ("trials/is_target", "flat_key")}


def fit(
    name: str,
    shape: tuple[int, ...],
    sizes: dict[str, int],
    error: Callable[[str], FileFormatError],
) -> tuple[int, ...]:
    """Return the shape of a field in memory; raise if it is not of the extents before it."""
    dims, count = FIELDS[name].dims, math.prod(shape)
    if "q" in dims and "q" not in sizes:
        # One measure of many ids, or many measures of one id, may be a vector.
        is_one = shape == (sizes[dims[-1]],)
        sizes["q"] = shape[0] if len(shape) == 2 else 1 if is_one else count
    wanted = tuple(sizes.setdefault(dim, count) for dim in dims)
    is_vector = 1 in (len(shape), len(wanted)) and dims != "k"
    long, wanted_long = ([n for n in extents if n != 1] for extents in (shape, wanted))
    is_empty = 0 in wanted and count == 0
    if shape == wanted or is_empty or (is_vector and long == wanted_long):
        return wanted
    text = f"has shape {shape}; the ids before it ask for {wanted}"
    swapped = ". Models and segments look swapped" if shape == wanted[::-1] else ""
    raise error(text + swapped)
