"""What files of trials hold: kinds of objects, their fields, and the names of their data sets."""

from __future__ import annotations

import attrs


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
_MASKS = ("hasmodel", "hasseg", "scoremask")

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
    "quality_measures": Kind("QualityMeasures", ("modelQ", "segQ", *IDS, *_MASKS), "qual", _MASKS),
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
    "ids": ("SO", "a list of text"),
    "numbers": ("iuf", "real numbers in a matrix or list"),
    "positions": ("iu", "whole numbers in a matrix or list"),
    "mask": ("biuf", "a mask in a matrix or list"),
    "extents": ("iu", "extents"),
    "letters": ("u", "characters"),
    "any": ("biufO", "numbers or a cell array"),
}
