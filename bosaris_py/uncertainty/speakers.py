"""Who speaks in which trial, and sums of trials by speaker and by pair of speakers.

A target trial has one speaker, a non-target trial two. Trials that share a
speaker, on whichever side, are dependent; everything that takes this into
account starts from the sums of this module.
"""

import functools
from typing import Any, Literal, get_args

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import StrArray, describe, frozen, invalid, list_some, warn_caller
from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.trials.forms import AnyKey, check_key
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.ids import IdIndex, IntArray
from bosaris_py.uncertainty.estimates import check_choice
from bosaris_py.uncertainty.scored_trials import ScoredTrials

__all__ = ["SpeakerTrials", "TrialSpeakers", "Unknown"]

Float64Array = npt.NDArray[np.float64]
Unknown = Literal["refuse", "own"]

# A table of all pairs may have this many cells for each trial, or in any case this many
# in all; beyond, the pairs that occur are listed.
_CELLS_PER_TRIAL = 4
_SMALL_TABLE = 2**16

_EXAMPLES = 3


@attrs.frozen(eq=False, repr=False)
class TrialSpeakers:
    """The speaker of each model and of each test segment of a key.

    Make one with `of_key`. Arrays are read-only.

    Parameters
    ----------
    ids : (k,) ndarray of str
        The speakers, each once.
    of_models : (m,) ndarray of int
        For each model of the key, the position of its speaker in `ids`.
    of_segments : (n,) ndarray of int
        For each segment of the key, the position of its speaker in `ids`.
    """

    ids: StrArray
    of_models: IntArray
    of_segments: IntArray

    @classmethod
    def of_key(
        cls,
        key: AnyKey,
        model_speakers: IdMap | None = None,
        segment_speakers: IdMap | None = None,
        *,
        unknown: Unknown = "refuse",
        one_person: bool = True,
        owner: str = "TrialSpeakers.of_key",
    ) -> "TrialSpeakers":
        """Find the speakers of the models and segments of a key.

        Parameters
        ----------
        key : Key or FlatKey
            The trials.
        model_speakers : IdMap, optional
            From model to speaker. By default each model is a speaker of its own.
        segment_speakers : IdMap, optional
            From test segment to speaker. By default the speaker of a segment is
            that of the models whose target it is.
        unknown : {"refuse", "own"}, default: "refuse"
            What to do with models and segments whose speaker is not known:
            refuse, or take each for a speaker of its own, with a warning.
            Dependence through the unknown speakers is then left out of account.
        one_person : bool, default: True
            Whether model and segment of a target trial must be of one speaker. False
            where both maps are given and the two sides are different persons.
        owner : str
            The function to be named in error messages.

        Returns
        -------
        TrialSpeakers

        Raises
        ------
        InvalidInputError
            If a speaker is not known and `unknown` is "refuse", a segment is the
            target of several speakers, a map gives a model or segment with trials
            several speakers, or the speakers contradict the key.

        Warns
        -----
        MissingTrialsWarning
            If models or segments were taken for speakers of their own.
        """
        check_choice(unknown, get_args(Unknown), "unknown", owner)
        check_key(key, owner)
        rows, cols = key.trial_positions()
        models_needed, segments_needed = (
            _occurring(rows, key.modelset),
            _occurring(cols, key.segset),
        )
        models = _named(key.modelset, model_speakers, models_needed, "model_speakers", owner)
        labels = key.trial_labels()
        target_rows, target_cols = rows[labels], cols[labels]
        if segment_speakers is None:
            segments = np.full(key.segset.size, None, dtype=object)
            segments[target_cols] = models[target_rows]
        else:
            segments = _named(
                key.segset, segment_speakers, segments_needed, "segment_speakers", owner
            )
        _settle(models, key.modelset, models_needed, "models", unknown, owner)
        if segment_speakers is None:
            # Where a model's speaker became its own name, its targets follow.
            segments[target_cols] = models[target_rows]
        _settle(segments, key.segset, segments_needed, "segments", unknown, owner)

        speakers = cls._numbered(models, segments)
        clash = speakers.of_models[target_rows] != speakers.of_segments[target_cols]
        if clash.any() and (one_person or segment_speakers is None):
            row, col = target_rows[clash][0], target_cols[clash][0]
            found = (
                f"{np.count_nonzero(clash)} target trials of two speakers, for instance model "
                f"{key.modelset[row]} ({models[row]}) and segment {key.segset[col]} "
                f"({segments[col]})"
            )
            hint = "Do the key and the maps belong together?"
            if model_speakers is None:
                hint = "Models that share a speaker need `model_speakers`."
            raise invalid("key", owner, "have one speaker in each target trial", found, hint)
        return speakers

    @classmethod
    def of_models_only(
        cls,
        key: AnyKey,
        model_speakers: IdMap | None = None,
        *,
        unknown: Unknown = "refuse",
        owner: str = "TrialSpeakers.of_models_only",
    ) -> "TrialSpeakers":
        """Find the speakers of the models of a key, where segments do not matter.

        Parameters
        ----------
        key : Key or FlatKey
            The trials.
        model_speakers : IdMap, optional
            From model to speaker. By default each model is a speaker of its own.
        unknown : {"refuse", "own"}, default: "refuse"
            What to do with models whose speaker is not known.
        owner : str
            The function to be named in error messages.

        Returns
        -------
        TrialSpeakers
            In which each segment is a speaker of its own.
        """
        check_key(key, owner)
        needed = _occurring(key.trial_positions()[0], key.modelset)
        models = _named(key.modelset, model_speakers, needed, "model_speakers", owner)
        _settle(models, key.modelset, needed, "models", unknown, owner)
        return cls._numbered(models, key.segset.astype(object))

    @classmethod
    def _numbered(cls, models: npt.NDArray[Any], segments: npt.NDArray[Any]) -> "TrialSpeakers":
        """Give each speaker of models and segments a number."""
        names = np.concatenate((models, segments)).astype(np.str_)
        ids, codes = np.unique(names, return_inverse=True)
        return cls(frozen(ids), frozen(codes[: models.size]), frozen(codes[models.size :]))

    @property
    def n_speakers(self) -> int:
        """Number of speakers."""
        return int(self.ids.size)

    def __repr__(self) -> str:
        """Show the counts."""
        return (
            f"TrialSpeakers: {self.n_speakers} speakers of {self.of_models.size} models and "
            f"{self.of_segments.size} segments"
        )


@attrs.frozen(eq=False)
class SpeakerTrials:
    """The speakers of trials, and sums over the trials of a speaker or of a pair.

    Parameters
    ----------
    tar : (n_tar,) ndarray of int
        Speaker of each target trial.
    first, second : (n_non,) ndarray of int
        Speaker of the model and of the segment of each non-target trial.
    n_numbers : int
        Speakers are numbered below this.
    """

    tar: IntArray
    first: IntArray
    second: IntArray
    n_numbers: int

    @classmethod
    def of(cls, speakers: TrialSpeakers, trials: ScoredTrials, owner: str) -> "SpeakerTrials":
        """Look up the speakers; each non-target trial must have two."""
        (tar_rows, _), (non_rows, non_cols) = trials.tar, trials.non
        first, second = speakers.of_models[non_rows], speakers.of_segments[non_cols]
        same = int(np.count_nonzero(first == second))
        if same:
            found = f"{same} with the same speaker on both sides"
            hint = "Is the map of speakers right?"
            expected = "have two speakers in each non-target trial"
            raise invalid("key", owner, expected, found, hint)
        return cls(speakers.of_models[tar_rows], first, second, speakers.n_speakers)

    @functools.cached_property
    def present(self) -> npt.NDArray[np.bool_]:
        """Which speakers take part in trials."""
        found = np.zeros(self.n_numbers, dtype=np.bool_)
        for numbers in (self.tar, self.first, self.second):
            found[numbers] = True
        return found

    @property
    def n_speakers(self) -> int:
        """Number of speakers who take part in trials."""
        return int(np.count_nonzero(self.present))

    def of_targets(self, values: Float64Array) -> Float64Array:
        """Add up a number for each target trial by speaker: (n_numbers,)."""
        return np.asarray(np.bincount(self.tar, values, minlength=self.n_numbers), np.float64)

    def of_non_targets(self, values: Float64Array) -> Float64Array:
        """Add up a number for each non-target trial by speaker: (n_numbers,).

        Each trial counts for the speaker of its model and for that of its segment.
        """
        sums = np.bincount(self.first, values, minlength=self.n_numbers)
        sums += np.bincount(self.second, values, minlength=self.n_numbers)
        return np.asarray(sums, np.float64)

    def pair_squares(self, values: Float64Array) -> float:
        """Add up a number for each non-target trial by pair of speakers; sum the squares.

        Trials (i, j) and (j, i) are of the same pair.
        """
        pairs = np.minimum(self.first, self.second).astype(np.int64)
        pairs *= self.n_numbers
        pairs += np.maximum(self.first, self.second)
        n_cells = self.n_numbers**2
        if n_cells > max(_CELLS_PER_TRIAL * pairs.size, _SMALL_TABLE):
            listed, pairs = np.unique(pairs, return_inverse=True)
            n_cells = listed.size
        sums = np.bincount(pairs, values, minlength=n_cells)
        return float(np.dot(sums, sums))


def _occurring(positions: npt.NDArray[Any], ids: StrArray) -> npt.NDArray[np.bool_]:
    """Tell which ids occur at these positions."""
    found = np.zeros(ids.size, dtype=np.bool_)
    found[positions] = True
    return found


def _named(
    ids: StrArray,
    speakers: IdMap | None,
    needed: npt.NDArray[np.bool_],
    name: str,
    owner: str,
) -> npt.NDArray[Any]:
    """Return the speaker of each id as objects; None where it is not in the map.

    An id with trials must not have several.
    """
    if speakers is None:
        return ids.astype(object)
    if not isinstance(speakers, IdMap):
        raise invalid(name, owner, "be an IdMap", describe(speakers))
    _, first, numbers = np.unique(speakers.leftids, return_index=True, return_inverse=True)
    differs = speakers.rightids != speakers.rightids[first][numbers]
    torn = ids[needed & np.isin(ids, speakers.leftids[differs])]
    if torn.size:
        examples = []
        for name_of_id in torn[:_EXAMPLES].tolist():
            several = np.unique(speakers.rightids[speakers.leftids == name_of_id])
            examples.append(f"{name_of_id}: {' and '.join(several.tolist())}")
        got = f"several for {torn.size} ids with trials ({list_some(examples)})"
        raise invalid(name, owner, "give each id one speaker", got)
    places = IdIndex.of(speakers.leftids).locate_last(IdIndex.of(ids))
    found = np.full(ids.size, None, dtype=object)
    found[places >= 0] = speakers.rightids[places[places >= 0]]
    return found


def _settle(
    found: npt.NDArray[Any],
    ids: StrArray,
    needed: npt.NDArray[np.bool_],
    kind: str,
    unknown: Unknown,
    owner: str,
) -> None:
    """Give unknown speakers a name of their own, in place, or refuse those with trials."""
    missing = np.array([speaker is None for speaker in found], dtype=np.bool_)
    lacking = missing & needed
    if lacking.any():
        count, examples = int(np.count_nonzero(lacking)), list_some(ids[lacking].tolist())
        if unknown == "refuse":
            argument = f"{kind[:-1]}_speakers"
            hint = 'Give a complete map, or say unknown="own" to take each for a person of its own.'
            expected = f"tell the speaker of all {kind} that have trials"
            raise invalid(argument, owner, expected, f"none for {count} ({examples})", hint)
        message = (
            f"The speakers of {count} {kind} are not known ({examples}); each is taken for a "
            "speaker of its own, so a standard error may be too small."
        )
        warn_caller(message, MissingTrialsWarning)
    # A tab keeps the made-up name apart from every speaker that a file can name.
    found[missing] = [f"{kind}\t{name}" for name in ids[missing]]
