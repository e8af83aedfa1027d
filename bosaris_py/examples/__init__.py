"""Score sets inside the package; README.md beside this file says who made them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import attrs
import numpy as np

from bosaris_py._validation import check_choice
from bosaris_py.files import hdf5
from bosaris_py.files.columns import Factor
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
    key_with_spoofs : Key
        All trials, with their attacks.
    scores : mapping of str to Scores
        The scores of each system on all trials.
    quality : SegmentQuality
        A measure of each test segment.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> test = bp.load_example("asvspoof2019_la").eval
    >>> list(test.scores), list(test.key.columns)
    (['xvector', 'ecapa'], ['gender', 'speaker'])
    """

    key: Key
    key_with_spoofs: Key
    scores: Mapping[str, Scores]
    quality: SegmentQuality


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
    Models are named by their speaker, so ``speakers=("model", "speaker")`` names both sides.
    ``key_with_spoofs`` has spoofed speech, too, and the columns ``attack`` and ``aasist``.

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
    >>> test.key_with_spoofs
    Key: 48 models x 71237 segments, 5370 targets, 33327 non-targets, 63882 spoofs
    """
    check_choice(name, tuple(_SETS), "name")
    return Example(_part(name, "dev"), _part(name, "eval"))


def _part(name: str, part: str) -> ExamplePart:
    """Read one file, whose trials have their labels in a column."""
    systems, measure, columns = _SETS[name]
    stored = hdf5.read("ndx", Path(__file__).with_name(f"{name}_{part}.h5"))[0]
    ids, places = (stored["modelset"], stored["segset"]), (stored["models"], stored["segments"])
    of_trials = stored["columns"]["trial"]
    known = {
        column: (side, Factor(*values) if isinstance(values, tuple) else values)
        for side in ("model", "segment")
        for column, values in stored["columns"][side].items()
    }
    labels = as_labels(Factor(*of_trials["label"]))
    plain = Key._from_positions(ids, *places, labels)
    whole = plain.with_columns(**known)
    key = plain.with_columns(**{column: known[column] for column in columns}).bona_fide()
    key = key.filter(ids[0], ids[1][np.unique(key.trial_positions()[1])], keep=True)
    scores = {system: assemble(of_trials[system], whole) for system in systems}
    quality = SegmentQuality(ids[1], np.asarray(known[measure][1], float))
    return ExamplePart(key=key, key_with_spoofs=whole, scores=scores, quality=quality)
