"""Speakers of the trials of a key, as users tell them.

A target trial has one speaker, a non-target trial two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np

from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    IndexArray,
    IntArray,
    Positions,
    StrArray,
    mark_read_only,
)
from bosaris_py._cautions import warn_caller
from bosaris_py._validation import check_choice, describe, invalid, list_some, one_of
from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.files.columns import Factor
from bosaris_py.trials.alignment import IdIndex
from bosaris_py.trials.conditions import Conditions, conditions_of_columns
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import Key, as_key

Unknown = Literal["refuse", "own"]

# A table of all pairs may have this many cells for each trial, or in any case this many
# in all; beyond, the pairs that occur are listed.
_CELLS_PER_TRIAL = 4

_SMALL_TABLE = 2**16

_EXAMPLES = 3


@attrs.frozen(eq=False, repr=False)
class TrialSpeakers:
    """The speaker of each model and of each test segment of a key; made by `of_key`.

    Parameters
    ----------
    ids : (k,) ndarray of str
        The speakers, each once.
    of_models : (m,) ndarray of int
        For each model of the key, the position of its speaker in `ids`.
    of_segments : (n,) ndarray of int
        For each segment of the key, likewise.
    """

    ids: StrArray
    of_models: IndexArray
    of_segments: IndexArray

    @classmethod
    def of_key(
        cls,
        key: Key,
        speakers: SpeakersLike = None,
        *,
        unknown: Unknown = "refuse",
        one_person: bool = True,
        one_sided: BoolArray | None = None,
    ) -> TrialSpeakers:
        """Find the speakers of the models and segments of a key.

        Parameters
        ----------
        key : Key
            The trials.
        speakers, unknown
            As for `Speakers`.
        one_person : bool, default: True
            Whether model and segment of a target trial must be of one speaker. False where both
            maps are given and the two sides are different persons.
        one_sided : ndarray of bool, optional
            For each trial, column by column, whether it has the speaker of its model only, as a
            spoof has. Segments of such trials alone need no speaker.

        Returns
        -------
        TrialSpeakers

        Warns
        -----
        MissingTrialsWarning
            If models or segments were taken for speakers of their own.
        """
        check_choice(unknown, Unknown, "unknown")
        key = as_key(key)
        maps = speaker_maps(speakers, key)
        rows, cols = key.trial_positions()
        labels = key.is_target
        target_rows, target_cols = rows[labels], cols[labels]
        models = _named(key.modelset, rows, maps[0], "models", unknown)
        if one_sided is not None:
            cols = np.unique(key.trial_positions()[1][~one_sided])
        # Where a model became a speaker of its own, its targets follow.
        of_targets = np.full(key.segset.size, None, dtype=object)
        of_targets[target_cols] = models[target_rows]
        segments = _named(key.segset, cols, maps[1], "segments", unknown, of_targets)

        persons = cls._numbered(models, segments)
        clash = persons.of_models[target_rows] != persons.of_segments[target_cols]
        if clash.any() and (one_person or maps[1] is None):
            row, col = target_rows[clash][0], target_cols[clash][0]
            found = (
                f"{np.count_nonzero(clash)} target trials of two speakers, for instance model "
                f"{key.modelset[row]} ({models[row]}) and segment {key.segset[col]} "
                f"({segments[col]})"
            )
            hint = "Do the key and the maps belong together?"
            given: dict[str, str | None] = {}
            if maps[0] is None and key.modelset.size == 1:
                hint = "For a countermeasure name sets: bootstrap(..., tar_sets=, non_sets=)."
            elif maps[0] is None:
                hint, given = "Models that share a speaker need a map.", {"speakers": None}
            raise invalid("key", "have one speaker in each target trial", found, hint, **given)
        if maps[0] is None and maps[1] is None:
            _refuse_recordings(key, rows, cols, models, segments)
        return persons

    @classmethod
    def of_models_only(
        cls, key: Key, speakers: SpeakersOfSide = None, *, unknown: Unknown = "refuse"
    ) -> TrialSpeakers:
        """Find the speakers of the models of a key, where each segment may be one of its own.

        Parameters
        ----------
        key
            As for `of_key`.
        speakers : IdMap, dict, callable or str, optional
            From model to speaker.
        unknown
            As for `of_key`.

        Returns
        -------
        TrialSpeakers
        """
        key = as_key(key)
        of_models, _ = speaker_maps((speakers, None), key)
        rows, _ = key.trial_positions()
        models = _named(key.modelset, rows, of_models, "models", unknown)
        return cls._numbered(models, key.segset.astype(object))

    @classmethod
    def of_segments_only(
        cls, key: Key, speakers: SpeakersOfSide = None, *, unknown: Unknown = "refuse"
    ) -> TrialSpeakers:
        """Find the speakers of the segments of a key, where its models are no persons.

        Parameters
        ----------
        key
            As for `of_key`; a countermeasure against spoofed speech has such trials.
        speakers : IdMap, dict, callable or str, optional
            From segment to speaker.
        unknown
            As for `of_key`.

        Returns
        -------
        TrialSpeakers
        """
        key = as_key(key)
        _, of_segments = speaker_maps((None, speakers), key)
        _, cols = key.trial_positions()
        segments = _named(key.segset, cols, of_segments, "segments", unknown)
        # A tab keeps models apart from every speaker that a file can name.
        models = np.array([f"model\t{name}" for name in key.modelset], dtype=object)
        return cls._numbered(models, segments)

    @classmethod
    def _numbered(cls, models: AnyArray, segments: AnyArray) -> TrialSpeakers:
        """Give each speaker of models and segments a number."""
        names = np.concatenate((models, segments)).astype(np.str_)
        ids, codes = np.unique(names, return_inverse=True)
        of_models, of_segments = np.split(codes, [models.size])
        return cls(*map(mark_read_only, (ids, of_models, of_segments)))

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


def refuse_same_speaker(first: Positions, second: Positions) -> None:
    """Raise unless non-target trials have two speakers each."""
    same = int(np.count_nonzero(first == second))
    if same:
        found = f"{same} with the same speaker on both sides"
        expected = "have two speakers in each non-target trial"
        raise invalid("key", expected, found, "Is the map of speakers right?")


def _refuse_recordings(
    key: Key, rows: Positions, cols: Positions, models: AnyArray, segments: AnyArray
) -> None:
    """Raise if ids are models and segments, and as segments are of the speakers of others."""
    # So it is where each trial has two recordings: those of one speaker are not one model.
    places = IdIndex(key.segset).locate_last(IdIndex(key.modelset))
    both = _occurring(key.modelset.size, rows) & (places >= 0)
    both &= _occurring(key.segset.size, cols)[places]
    other = np.flatnonzero(both)
    other = other[models[other] != segments[places[other]]]
    if other.size:
        first = other[0]
        found = (
            f"none, and {other.size} ids that are models and segments, such as "
            f"{key.modelset[first]}, a target of model {segments[places[first]]}"
        )
        raise invalid(
            "speakers",
            "be given where models are recordings",
            found,
            "Where models are persons, and these ids alike by chance, they are the first of "
            'speakers=("model", None).',
        )


def number_pairs(
    first: Positions, second: Positions, shape: tuple[int, int], *, ordered: bool
) -> tuple[IntArray, int, IntArray | None]:
    """Give a number to the pair of persons in each trial; their own numbers lie below `shape`."""
    # Also return how many numbers there are, and which cells of the table of all pairs have one,
    # None if all have. Unless the sides are `ordered`, (i, j) and (j, i) are the same pair.
    if not ordered:
        first, second = np.minimum(first, second), np.maximum(first, second)
    pairs = first.astype(np.int64)
    pairs *= shape[1]
    pairs += second
    n_cells = shape[0] * shape[1]
    if n_cells <= max(_CELLS_PER_TRIAL * pairs.size, _SMALL_TABLE):
        return pairs, n_cells, None
    listed, pairs = np.unique(pairs, return_inverse=True)
    return pairs, listed.size, listed


def _occurring(n_numbers: int, *numbers: Positions) -> BoolArray:
    """Tell which of the numbers from 0 occur."""
    found = np.zeros(n_numbers, dtype=np.bool_)
    for some in numbers:
        found[some] = True
    return found


def _named(
    ids: StrArray,
    positions: Positions,
    speakers: IdMap | None,
    kind: str,
    unknown: Unknown,
    default: AnyArray | None = None,
) -> AnyArray:
    """Return the speaker of each id; without a map those of `default`, or each its own."""
    # Unknown speakers are refused where the ids have trials, or get a name of their own.
    needed = _occurring(ids.size, positions)
    if speakers is not None:
        found = _look_up(ids, needed, speakers, kind)
    else:
        found = ids.astype(object) if default is None else default
    missing = np.array([speaker is None for speaker in found], dtype=np.bool_)
    without = ids[missing & needed].tolist()
    if without:
        count, examples = len(without), list_some(without)
        if unknown == "refuse":
            hint = 'Give a complete map; a function with `unknown` takes "own", a person for each.'
            expected = f"tell the speaker of all {kind} that have trials"
            got = f"none for {count} ({examples})"
            if speakers is None:
                got = f"none, and {count} are a target of no model ({examples})"
                hint = "Give speakers, for instance a column, a function of the id, or a dict."
                expected = f"be given, to {expected}"
            raise invalid("speakers", expected, got, hint)
        message = (
            f"The speakers of {count} {kind} are not known ({examples}); each is taken for a "
            "speaker of its own, so a standard error may be too small."
        )
        warn_caller(message, MissingTrialsWarning)
    # A tab keeps the made-up name apart from every speaker that a file can name.
    found[missing] = [f"{kind}\t{some_id}" for some_id in ids[missing]]
    return found


def _look_up(ids: StrArray, needed: BoolArray, speakers: IdMap, kind: str) -> AnyArray:
    """Return the speaker of each id, or None; an id with trials must not have several."""
    _, first, numbers = np.unique(speakers.leftids, return_index=True, return_inverse=True)
    differs = speakers.rightids != speakers.rightids[first][numbers]
    ambiguous = ids[needed & np.isin(ids, speakers.leftids[differs])]
    if ambiguous.size:
        examples = []
        for some_id in ambiguous[:_EXAMPLES].tolist():
            several = np.unique(speakers.rightids[speakers.leftids == some_id])
            examples.append(f"{some_id}: {' and '.join(several.tolist())}")
        got = f"several for {ambiguous.size} ids with trials ({list_some(examples)})"
        raise invalid("speakers", f"give each of the {kind} one speaker", got)
    positions = IdIndex(speakers.leftids).locate_last(IdIndex(ids))
    found = np.full(ids.size, None, dtype=object)
    found[positions >= 0] = speakers.rightids[positions[positions >= 0]]
    return found


SpeakersOfSide: TypeAlias = IdMap | Mapping[str, object] | Callable[[str], object] | str | None

SpeakersLike: TypeAlias = SpeakersOfSide | tuple[SpeakersOfSide, SpeakersOfSide]


ConditionsLike: TypeAlias = Conditions | str | Sequence[str] | Mapping[str, Any] | None


def as_conditions(conditions: ConditionsLike, key: Key) -> Conditions | None:
    """Return conditions, given these, named trials, or columns of the key, which are crossed."""
    if conditions is None or isinstance(conditions, Conditions):
        return conditions
    if isinstance(conditions, Mapping):
        return Conditions(conditions)
    listed = [conditions] if isinstance(conditions, str) else conditions
    names = tuple(listed) if isinstance(listed, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names):
        hint = "Labels of trials make Conditions: Conditions.from_trials(models, segments, labels)."
        raise invalid("conditions", "name columns in a list", describe(conditions), hint)
    return conditions_of_columns(as_key(key), names)


def speaker_maps(speakers: SpeakersLike, key: Key) -> tuple[IdMap | None, IdMap | None]:
    """Return the maps from model and from segment to speaker, None where nothing was said."""
    # `speakers` is an `IdMap`, a dict, a function of the id or a column of the key: one for
    # both sides, or a pair (models, segments). One for both sides counts where it fits. A map
    # without any id of a side says nothing of it, nor does a column that varies within its ids.
    is_pair = isinstance(speakers, tuple)
    pair = speakers if isinstance(speakers, tuple) else (speakers, speakers)
    if len(pair) != 2:
        raise invalid("speakers", "be one value or a pair (models, segments)", describe(speakers))
    maps = []
    for given, side, ids in zip(pair, ("models", "segments"), key.ids, strict=True):
        if is_pair and isinstance(given, IdMap):
            # Which ids it lacks is told where they are looked up.
            found: IdMap | None = given
        elif isinstance(given, str):
            positions = key.trial_positions()[0 if side == "models" else 1]
            found = _map_of_column(key.columns.factor(given), ids, positions)
            fault = f"column {given!r}, which varies within {side}"
        else:
            found = _map_of(given, ids)
            fault = f"a map without any of the key's {side}"
        if found is None and given is not None and is_pair:
            raise invalid("speakers", f"tell the speakers of the {side}", fault)
        maps.append(found)
    if pair != (None, None) and maps == [None, None]:
        raise invalid("speakers", "tell the speakers of models or segments", fault)
    return maps[0], maps[1]


def _map_of(given: object, ids: StrArray) -> IdMap | None:
    """Make a map of a dict or a function; None if it knows none of the ids."""
    if given is None or isinstance(given, IdMap):
        return None if given is None or not np.isin(ids, given.leftids).any() else given
    names: list[str] = ids.tolist()
    if isinstance(given, Mapping):
        names = [name for name in names if name in given]
        values = [given[name] for name in names]
    elif callable(given):
        values = list(map(given, names))
    else:
        expected = "be an IdMap, a dict, a function of the id or a column of the key"
        raise invalid("speakers", expected, describe(given))
    bad = [
        name
        for name, value in zip(names, values, strict=True)
        if isinstance(value, bool) or not isinstance(value, str | int | np.integer)
    ]
    if bad:
        found = f"other values for {len(bad)} ids ({list_some(bad)})"
        raise invalid("speakers", "give text or a whole number for each id", found)
    return IdMap(names, list(map(str, values))) if names else None


def _map_of_column(column: Factor, ids: StrArray, positions: Positions) -> IdMap | None:
    """Return the value of a column for each model or segment; None if it has several."""
    codes = column.codes.astype(np.int64)
    of_ids = np.full(ids.size, -1, dtype=np.int64)
    of_ids[positions] = codes
    if not np.array_equal(of_ids[positions], codes):
        return None
    known = of_ids >= 0
    return IdMap(ids[known], column.levels[of_ids[known]])


@attrs.frozen(eq=False)
class Speakers:
    """Who speaks in the trials of a key, as users say it.

    Parameters
    ----------
    speakers : IdMap, dict, callable, str, or pair of these, optional
        The speakers of models and segments: a map, a function of the id, or a column of the
        key. A pair is for (models, segments), a single value for
        both, where it fits. By default each model is a speaker of its own, and a segment is of the
        speaker of the models whose target it is.
    unknown : {"refuse", "own"}, default: "refuse"
        What to do where the speaker is not known: refuse, or take each model or segment for a
        speaker of its own, with a warning. Dependence through the unknown speakers is then left
        out of account.
    """

    speakers: SpeakersLike = None
    unknown: Unknown = attrs.field(default="refuse", validator=one_of(Unknown))

    def of_trials(
        self, key: Key, *, one_person: bool = True, one_sided: BoolArray | None = None
    ) -> TrialSpeakers:
        """Return the speakers of the models and segments of a key; see `TrialSpeakers.of_key`.

        Parameters
        ----------
        key, one_person, one_sided
            As for `TrialSpeakers.of_key`.

        Returns
        -------
        TrialSpeakers

        Raises
        ------
        InvalidInputError
            If maps do not tell the speakers.
        """
        return TrialSpeakers.of_key(
            key, self.speakers, unknown=self.unknown, one_person=one_person, one_sided=one_sided
        )

    def of_models(self, key: Key) -> TrialSpeakers:
        """Return the speakers of the models of a key; see `TrialSpeakers.of_models_only`.

        Parameters
        ----------
        key
            As for `of_trials`.

        Returns
        -------
        TrialSpeakers
        """
        of_models, _ = speaker_maps(self.speakers, key)
        return TrialSpeakers.of_models_only(key, of_models, unknown=self.unknown)
