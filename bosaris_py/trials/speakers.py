"""Who speaks in the trials of a key: in a target one speaker, in a non-target two."""

from collections.abc import Callable, Mapping

import attrs
import numpy as np

from bosaris_py._arrays import AnyArray, BoolArray, IntArray, StrArray, mark_read_only
from bosaris_py._validation import describe, invalid, list_some, repetitions
from bosaris_py.trials.alignment import places_of
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import Key, as_key

SpeakersOfSide = IdMap | Mapping[str, object] | Callable[[str], object] | str | None

SpeakersLike = SpeakersOfSide | tuple[SpeakersOfSide, SpeakersOfSide]

# The speaker of each model, or of each segment; None where nobody knows.
Names = AnyArray

_SIDES = ("models", "segments")

# What names a speaker.
_NAMES = str, int, np.integer


@attrs.frozen(eq=False, repr=False)
class TrialSpeakers:
    """The speaker of each model and of each test segment of a key; made by `from_key`.

    Parameters
    ----------
    ids : (k,) ndarray of str
        The speakers, each once.
    of_models : (m,) ndarray of int
        For each model of the key, the position of its speaker in `ids`; -1 where the only model is
        a detector of spoofs, and nobody: each trial has one speaker.
    of_segments : (n,) ndarray of int
        For each segment of the key, likewise.
    """

    ids: StrArray
    of_models: IntArray
    of_segments: IntArray

    @classmethod
    def from_key(cls, key: Key, speakers: SpeakersLike = None) -> "TrialSpeakers":
        """Find the speakers of the models and segments of a key.

        Parameters
        ----------
        key : Key
            The trials.
        speakers : IdMap, dict, callable, str, or pair of these, optional
            The speakers of models and segments: a map, a function of the id, or a column of the
            key. A pair is for (models, segments), a single value for both, where it fits. By
            default each model is a speaker of its own, and a segment is of the speaker of the
            models whose target it is. Spoofs have the speaker of their model only.

        Returns
        -------
        TrialSpeakers

        Raises
        ------
        InvalidInputError
            If the speaker of a model or segment is not known, or a target has two speakers.
        """
        key = as_key(key)
        models, segments = named = speaker_names(speakers, key)
        (rows, cols), labels = key.trial_positions(), key.labels
        is_target = labels == 1
        if models is None:
            models = key.modelset.astype(object)
        if segments is None:
            segments = np.full(key.segset.size, None, dtype=object)
            segments[cols[is_target]] = models[rows[is_target]]
        used, has_map = cols[labels != -2], named[1] is not None
        found = cls._numbered(
            _complete(models, key.modelset, rows, "models"),
            _complete(segments, key.segset, used, "segments", has_map=has_map),
        )
        differs = found.of_models[rows] != found.of_segments[cols]
        if (clash := np.flatnonzero(differs & is_target)).size:
            if models.size == 1 and named[1] is not None and not isinstance(speakers, tuple):
                alone = cls._numbered(models[:0], segments)
                return attrs.evolve(alone, of_models=np.array([-1]))
            model, segment = rows[clash[0]], cols[clash[0]]
            text = f"{clash.size} target trials of two speakers, such as ({key.modelset[model]}, "
            text += f"{key.segset[segment]}), of {models[model]} and of {segments[segment]}"
            hint, given = "Do the key and the maps belong together?", {}
            if named[0] is None:
                hint, given = "Models that share a speaker need a map.", {"speakers": None}
            raise invalid("key", "have one speaker in each target trial", text, hint, **given)
        if named[0] is None and named[1] is None:
            found._refuse_recordings(key)
        return found

    @classmethod
    def from_side(cls, key: Key, speakers: SpeakersLike, side: str) -> "TrialSpeakers":
        """Find the speakers of one side of a key, where nobody asks for those of the other.

        Parameters
        ----------
        key, speakers
            As for `from_key`.
        side : {"models", "segments"}
            Which side; each id of the other one stands for itself.

        Returns
        -------
        TrialSpeakers
        """
        key = as_key(key)
        at = _SIDES.index(side)
        named = speaker_names(speakers, key)[at]
        named = key.ids[at].astype(object) if named is None else named
        known = _complete(named, key.ids[at], key.trial_positions()[at], side)
        # A tab keeps ids of the other side apart from every speaker that a file can name.
        other = np.array([f"\t{name}" for name in key.ids[1 - at]], dtype=object)
        return cls._numbered(*((known, other) if at == 0 else (other, known)))

    @classmethod
    def _numbered(cls, models: Names, segments: Names) -> "TrialSpeakers":
        """Give each speaker of models and segments a number."""
        names = np.concatenate((models, segments)).astype(np.str_)
        ids, codes = np.unique(names, return_inverse=True)
        return cls(*map(mark_read_only, (ids, *np.split(codes, [models.size]))))

    def pairs(self, models: IntArray, segments: IntArray) -> tuple[IntArray, IntArray]:
        """Return the speakers of trials: of the model and of the segment, the second maybe -1."""
        first, second = self.of_models[models], self.of_segments[segments]
        return (first, second) if self.of_models.min(initial=0) >= 0 else (second, first)

    @property
    def n_speakers(self) -> int:
        """Number of speakers."""
        return int(self.ids.size)

    def __repr__(self) -> str:
        """Show the counts."""
        sides = f"{self.of_models.size} models and {self.of_segments.size} segments"
        return f"{type(self).__name__}: {self.n_speakers} speakers of {sides}"

    def _refuse_recordings(self, key: Key) -> None:
        """Raise if ids are models and segments, and as segments are of the speakers of others."""
        # So it is where each trial has two recordings: those of one speaker are not one model.
        (rows, cols), (models, segments) = key.trial_positions(), key.ids
        cols = cols[key.labels != -2]
        at = places_of(key.modelset, key.segset)
        both = _occurring(models.size, rows) & (at >= 0) & _occurring(segments.size, cols)[at]
        other = np.flatnonzero(both & (self.of_models != self.of_segments[at]))
        if other.size:
            first, speaker = models[other[0]], self.ids[self.of_segments[at[other[0]]]]
            text = f"none, and {other.size} ids that are models and segments, such as"
            text += f" {first}, a target of model {speaker}"
            hint = 'Where models are persons and ids are alike by chance: speakers=("model", None).'
            raise invalid("speakers", "be given where models are recordings", text, hint)


def _occurring(size: int, numbers: IntArray) -> BoolArray:
    """Tell which of the numbers from 0 occur."""
    found = np.zeros(size, dtype=np.bool_)
    found[numbers] = True
    return found


def _complete(
    names: Names, ids: StrArray, used: IntArray, kind: str, *, has_map: bool = True
) -> Names:
    """Give ids without trials a speaker of their own; raise if others have none."""
    missing = np.array([name is None for name in names], dtype=np.bool_)
    without = ids[missing & _occurring(ids.size, used)]
    if without.size:
        expected, hint = f"tell the speaker of all {kind} that have trials", "Give a complete map."
        if not has_map:
            expected = "tell who speaks in segments without a target trial"
            hint = "Give speakers, for instance a column, a function of the id, or a dict."
        shown = f"no speaker of {without.size} ({list_some(without)})"
        raise invalid("speakers", expected, shown, hint)
    # A tab keeps the made-up name apart from every speaker that a file can name.
    names[missing] = [f"{kind}\t{name}" for name in ids[missing]]
    return names


def speaker_names(speakers: SpeakersLike, key: Key) -> tuple[Names | None, Names | None]:
    """Return the speakers of models and of segments; None for a side of which nothing is known."""
    # One value for both sides counts where it fits. A map without any id of a side tells nothing
    # of it, nor does a column that varies within its ids.
    pair = speakers if isinstance(speakers, tuple) else (speakers, speakers)
    if len(pair) != 2:
        raise invalid("speakers", "be one value or a pair (models, segments)", describe(speakers))
    models, segments = (_names_of_side(given, key, side) for side, given in enumerate(pair))
    sides = zip(_SIDES, pair, (models, segments), strict=True)
    silent = [(kind, given) for kind, given, names in sides if given is not None and names is None]
    if len(silent) == 2 or (silent and pair is speakers):
        kind, given = silent[0]
        got = f"a map without any of the key's {kind}"
        if isinstance(given, str):
            got = f"column {given!r}, which varies within {kind}"
        raise invalid("speakers", "tell the speakers of models or segments", got)
    return models, segments


def _names_of_side(given: object, key: Key, side: int) -> Names | None:
    """Return the speaker of each model (side 0) or segment (side 1); None if nothing is known."""
    ids, at = key.ids[side], key.trial_positions()[side]
    found: Mapping[str, object] = {}
    match given:
        case None:
            return None
        case str():
            column = key.columns.factor(given, "speakers")
            codes = np.full(ids.size, -1, dtype=np.int64)
            codes[at] = column.codes
            varies = (codes[at] != column.codes).any()
            return None if varies else np.array([*column.levels, None], dtype=object)[codes]
        case IdMap():
            pairs = {*zip(given.leftids.tolist(), given.rightids.tolist(), strict=True)}
            has_trials = {*ids[np.unique(at)].tolist()}
            if several := repetitions(sorted(n for n, _ in pairs if n in has_trials)):
                got = f"several for {len(several)} ids with trials ({list_some(several)})"
                raise invalid("speakers", "give each id one speaker", got)
            known = dict(sorted(pairs, reverse=True))
            found = {name: known[name] for name in ids.tolist() if name in known}
        case Mapping():
            found = {name: given[name] for name in ids.tolist() if name in given}
        case _ if callable(given):
            found = {name: given(name) for name in ids.tolist()}
        case _:
            expected = "be an IdMap, a dict, a function of the id or a column of the key"
            raise invalid("speakers", expected, describe(given))
    bad = [n for n, who in found.items() if type(who) is bool or not isinstance(who, _NAMES)]
    if bad:
        got = f"other values for {len(bad)} ids ({list_some(bad)})"
        raise invalid("speakers", "give text or a whole number for each id", got)
    names = [str(found[name]) if name in found else None for name in ids.tolist()]
    return np.array(names, dtype=object) if found else None
