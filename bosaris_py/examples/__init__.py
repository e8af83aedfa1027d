"""Score sets inside the package; README.md beside this file says who made them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import attrs
import numpy as np

from bosaris_py._validation import describe, invalid
from bosaris_py.files import hdf5
from bosaris_py.files.columns import Factor
from bosaris_py.files.text import Table
from bosaris_py.trials.columns import as_factor, take_items
from bosaris_py.trials.key import Key, as_labels
from bosaris_py.trials.quality import SegmentQuality
from bosaris_py.trials.scores import Scores, assemble

# Columns of the files: a score of each system, the measure of each segment, and columns.
_SETS = {
    "asvspoof2019_la": (("xvector", "ecapa"), "aasist", ("gender", "speaker")),
    "forensic": (("system",), "seconds", ("reference_speaker", "speaker")),
}


@attrs.frozen(eq=False, kw_only=True)
class ExamplePart:
    """The dev set or the eval set of an example.

    Parameters
    ----------
    key : Key
        Target and non-target trials; of ASVspoof these are bona fide.
    scores : mapping of str to Scores
        The scores of each system on these trials.
    quality : SegmentQuality
        A measure of each test segment.
    trials : Table
        All trials, also of kinds that the key leaves out, with all columns.
    """

    key: Key
    scores: Mapping[str, Scores]
    quality: SegmentQuality
    trials: Table


class Example(NamedTuple):
    """What `load_example` gives: ``dev``, to train maps with, and ``eval``, to evaluate them."""

    dev: ExamplePart
    eval: ExamplePart


def load_example(name: str) -> Example:
    """Load scores that come with the package.

    Parameters
    ----------
    name : {"asvspoof2019_la", "forensic"}
        Which set.

    Returns
    -------
    dev, eval : ExamplePart
        Two parts, which have no speaker in common; also by these names. Nothing is downloaded.

    Notes
    -----
    ``"asvspoof2019_la"`` is real speech [1]_: scores of two speaker verifiers, the PLDA score of
    x-vectors and the cosine of ECAPA-TDNN embeddings, in the protocol of SASV 2022. Its measure is
    the score of the countermeasure AASIST; columns are ``gender`` and ``speaker`` of the segment.
    Models are named by their speaker, so ``speakers=("model", "speaker")`` names both sides. The
    table ``trials`` also has spoofed speech. Its columns are ``label`` (target, nontarget or
    spoof), ``xvector``, ``ecapa``, ``gender``, ``speaker``, ``attack`` and ``aasist``.

    ``"forensic"`` is simulated: 60 speakers in each part, two recordings in each of two sessions,
    and the scores of one system, which are no calibrated log-likelihood-ratios. Its measure is the
    duration in seconds; columns are ``reference_speaker`` and ``speaker``.

    References
    ----------
    .. [1] X. Wang et al., "ASVspoof 2019: A large-scale public database of synthesized, converted
       and replayed speech", Computer Speech & Language 64, 2020. The README beside the files names
       all sources and licences.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> dev, test = bp.load_example("asvspoof2019_la")
    >>> test.key
    Key: 48 models x 7355 segments, 5370 targets, 33327 non-targets
    >>> tar, non = test.scores["ecapa"].get_tar_non(test.key)
    >>> print(f"{bp.eer(tar, non):.2%}")
    1.63%
    >>> len(test.trials), test.trials.columns["attack"].levels.size
    (102579, 14)
    """
    given: object = name
    if not isinstance(given, str) or given not in _SETS:
        expected = f"be an example ({', '.join(map(repr, _SETS))})"
        raise invalid("name", expected, describe(name))
    return Example(_part(name, "dev"), _part(name, "eval"))


def _part(name: str, part: str) -> ExamplePart:
    """Read one file, and take the trials of the key from it."""
    systems, measure, (of_model, of_segment) = _SETS[name]
    stored = hdf5.read_metadata(Path(__file__).with_name(f"{name}_{part}.h5"))
    places = stored["models"], stored["segments"]
    left, right = Factor(places[0], stored["modelset"]), Factor(places[1], stored["segset"])
    sides = {"trial": slice(None), "model": places[0], "segment": places[1]}
    columns = {
        column: take_items(Factor(*values) if isinstance(values, tuple) else values, at)
        for side, at in sides.items()
        for column, values in stored["columns"][side].items()
    }
    label = as_factor(columns["label"], "label").values()
    table = Table(left, right, label == "target", columns=columns)
    lines = table.take(label != "spoof")
    ids = lines.models.levels, lines.segments.levels
    codes = lines.models.codes, lines.segments.codes
    key = Key._from_positions(ids, *codes, as_labels(lines.is_target), "labels")
    scores = {system: assemble(np.asarray(lines.columns[system]), key) for system in systems}
    known = {}
    for column, side in ((of_model, 0), (of_segment, 1)):
        values = as_factor(lines.columns[column], column).values()
        by_id = dict(zip(ids[side][codes[side]].tolist(), values.tolist(), strict=True))
        known[column] = (("model", "segment")[side], by_id)
    measures = np.zeros(ids[1].size)
    measures[codes[1]] = np.asarray(lines.columns[measure])
    quality = SegmentQuality(ids[1], measures[None, :])
    key = key.with_columns(**known)
    return ExamplePart(key=key, scores=scores, quality=quality, trials=table)
