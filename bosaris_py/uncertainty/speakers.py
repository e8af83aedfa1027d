"""Who speaks in which trial, and sums of trials by speaker and by pair of speakers.

A target trial has one speaker, a non-target trial two. Trials that share a
speaker, on whichever side, are dependent; everything that takes this into
account starts from the sums of this module.
"""

from typing import Any, Literal, get_args

import attrs
import numpy as np
import numpy.typing as npt
from scipy import sparse

from bosaris_py._validation import StrArray, describe, frozen, invalid, list_some, warn_caller
from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.trials.forms import AnyKey, check_key
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.ids import IdIndex, IntArray
from bosaris_py.uncertainty.estimates import check_choice

__all__ = ["PairTable", "TrialSpeakers", "Unknown"]

Float64Array = npt.NDArray[np.float64]
Unknown = Literal["refuse", "own"]

# Cells that are converted to float64 at a time: 8 MB.
_BLOCK_CELLS = 2**20

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

    def sum_targets(self, values: npt.NDArray[Any]) -> Float64Array:
        """Sum a matrix that is zero except at target trials by speaker.

        Parameters
        ----------
        values : (m, n) ndarray
            One value for each model and segment of the key.

        Returns
        -------
        (k,) ndarray of float64
            The sum over each speaker's models.
        """
        sums = np.zeros(self.ids.size)
        np.add.at(sums, self.of_models, values.sum(axis=1, dtype=np.float64))
        return sums

    def sum_pairs(self, values: npt.NDArray[Any]) -> "PairTable":
        """Sum a matrix by pair of speakers.

        Parameters
        ----------
        values : (m, n) ndarray
            One value for each model and segment of the key.

        Returns
        -------
        PairTable
            The sum over the models of one speaker and the segments of another.
        """
        rows, row_codes = np.unique(self.of_models, return_inverse=True)
        cols, col_codes = np.unique(self.of_segments, return_inverse=True)
        n_segments = col_codes.size
        grouping = sparse.csr_array(
            (np.ones(n_segments), (col_codes, np.arange(n_segments))),
            shape=(cols.size, n_segments),
        )
        table = np.zeros((rows.size, cols.size))
        step = max(1, _BLOCK_CELLS // max(1, n_segments))
        for start in range(0, row_codes.size, step):
            block = values[start : start + step].astype(np.float64)
            by_segment_speaker = np.asarray(grouping @ block.T).T
            np.add.at(table, row_codes[start : start + step], by_segment_speaker)
        return PairTable(table, rows, cols, self.ids.size)

    def __repr__(self) -> str:
        """Show the counts."""
        return (
            f"TrialSpeakers: {self.n_speakers} speakers of {self.of_models.size} models and "
            f"{self.of_segments.size} segments"
        )


@attrs.frozen(eq=False)
class PairTable:
    """Sums over the trials of each pair of speakers.

    Parameters
    ----------
    table : (a, b) ndarray of float64
        Sum over the trials with a model of one speaker and a segment of another.
    rows : (a,) ndarray of int
        Speaker of each row.
    cols : (b,) ndarray of int
        Speaker of each column.
    n_speakers : int
        Number of speakers in all.
    """

    table: Float64Array
    rows: IntArray
    cols: IntArray
    n_speakers: int

    @property
    def total(self) -> float:
        """Sum over all pairs."""
        return float(self.table.sum())

    def by_speaker(self) -> Float64Array:
        """Sum over all trials that a speaker takes part in, on either side: (k,)."""
        sums = np.zeros(self.n_speakers)
        sums[self.rows] += self.table.sum(axis=1)
        sums[self.cols] += self.table.sum(axis=0)
        return sums

    def of_same_speaker(self) -> Float64Array:
        """Return the sums over trials with one speaker on both sides."""
        _, in_rows, in_cols = np.intersect1d(self.rows, self.cols, return_indices=True)
        return np.asarray(self.table[in_rows, in_cols])

    def sum_of_squares(self) -> float:
        """Return the sum over unordered pairs of speakers of their squared sums.

        Trials (i, j) and (j, i) are of the same pair, so their sums are added first.
        """
        _, in_rows, in_cols = np.intersect1d(self.rows, self.cols, return_indices=True)
        both = self.table[np.ix_(in_rows, in_cols)]
        # (x + y)^2 = x^2 + y^2 + 2 x y, and each x y occurs twice in the product below.
        mixed = float(np.sum(both * both.T)) - float(np.sum(np.diag(both) ** 2))
        return float(np.sum(self.table**2)) + mixed


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
