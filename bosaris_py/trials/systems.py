"""What is judged together: named systems, a key with its metadata, and who speaks in the trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from bosaris_py._arrays import Positions, StrArray
from bosaris_py._validation import describe, invalid, list_some
from bosaris_py.storage.factors import Factor
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import AnyKey, check_key
from bosaris_py.trials.metadata import TrialMetadata
from bosaris_py.trials.scores import AnyScores, FlatScores, Scores

SpeakersOfSide: TypeAlias = IdMap | Mapping[str, Any] | Callable[[str], Any] | str | None

SpeakersLike: TypeAlias = SpeakersOfSide | tuple[SpeakersOfSide, SpeakersOfSide]

SystemsLike: TypeAlias = Mapping[str, AnyScores] | AnyScores | Iterable[AnyScores]


def as_systems(systems: SystemsLike) -> dict[str, AnyScores]:
    """Return systems by name; a single one, or several without names, are numbered."""
    given: Any = systems
    if isinstance(given, (Scores, FlatScores)):
        named = {"system": given}
    elif isinstance(given, Mapping):
        named = dict(given)
    elif isinstance(given, (list, tuple)):
        named = {f"system {number}": item for number, item in enumerate(given, start=1)}
    else:
        hint = "Did you swap `systems` and `key`?" if isinstance(given, AnyKey) else ""
        raise invalid("systems", "map names to Scores or FlatScores", describe(given), hint)
    if not named:
        raise invalid("systems", "hold at least one system", "none")
    name: Any
    for name, scores in named.items():
        if not isinstance(name, str) or not name:
            raise invalid("systems", "be named by text", describe(name))
        if not isinstance(scores, (Scores, FlatScores)):
            raise invalid(f"systems[{name!r}]", "be a Scores or FlatScores", describe(scores))
    return named


def split_key(key: Any) -> tuple[AnyKey, TrialMetadata | None]:
    """Return a key and its metadata, given a key, a pair of both, or what has both."""
    if isinstance(key, AnyKey):
        return key, None
    pair = (key.key, key.metadata) if hasattr(key, "key") and hasattr(key, "metadata") else key
    if not isinstance(pair, tuple) or len(pair) != 2:
        check_key(key)
    check_key(pair[0])
    if not isinstance(pair[1], (TrialMetadata, type(None))):
        raise invalid("key", "have a TrialMetadata beside the Key", describe(pair[1]))
    return pair


def as_conditions(conditions: Any, metadata: TrialMetadata | None) -> Conditions | None:
    """Return conditions, given these, named trials, or columns of the metadata."""
    if conditions is None or isinstance(conditions, Conditions):
        return conditions
    if isinstance(conditions, Mapping):
        return Conditions(conditions)
    names = (conditions,) if isinstance(conditions, str) else tuple(conditions)
    return _described(metadata, "conditions").conditions(*names)


def speaker_maps(
    speakers: SpeakersLike, key: AnyKey, metadata: TrialMetadata | None = None
) -> tuple[IdMap | None, IdMap | None]:
    """Return the maps from model and from segment to speaker, None where nothing was said.

    `speakers` is an `IdMap`, a dict, a function of the id or a column of the metadata: one for
    both sides, or a pair (models, segments). One for both sides counts where it fits. A map
    without any id of a side says nothing of it, nor does a column that varies within its ids.
    """
    is_pair = isinstance(speakers, tuple)
    pair = speakers if isinstance(speakers, tuple) else (speakers, speakers)
    if len(pair) != 2:
        raise invalid("speakers", "be one value or a pair (models, segments)", describe(speakers))
    sides = zip(pair, ("models", "segments"), key.ids, strict=True)
    maps = []
    for given, side, ids in sides:
        if isinstance(given, str):
            described = _described(metadata, "speakers").for_trials(key)
            positions = key.trial_positions()[0 if side == "models" else 1]
            found = _map_of_column(described.factor(given), ids, positions)
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


def _described(metadata: TrialMetadata | None, name: str) -> TrialMetadata:
    """Return the metadata that a name of a column needs."""
    if metadata is None:
        hint = "Pass the pair that read_key returns, (key, metadata), as `key`."
        raise invalid(name, "be no name of a column where there is no metadata", "one", hint)
    return metadata


def _map_of(given: Any, ids: StrArray) -> IdMap | None:
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
        expected = "be an IdMap, a dict, a function of the id or a column of the metadata"
        raise invalid("speakers", expected, describe(given))
    bad = [name for name, value in zip(names, values, strict=True) if not _is_id(value)]
    if bad:
        found = f"other values for {len(bad)} ids ({list_some(bad)})"
        raise invalid("speakers", "give text or a whole number for each id", found)
    return IdMap(names, list(map(str, values))) if names else None


def _is_id(value: object) -> bool:
    return isinstance(value, (str, int, np.integer)) and not isinstance(value, bool)


def _map_of_column(column: Factor, ids: StrArray, positions: Positions) -> IdMap | None:
    """Return the value of a column for each model or segment; None if it has several."""
    codes = column.codes.astype(np.int64)
    of_ids = np.full(ids.size, -1, dtype=np.int64)
    of_ids[positions] = codes
    if not np.array_equal(of_ids[positions], codes):
        return None
    known = of_ids >= 0
    return IdMap(ids[known], column.levels[of_ids[known]])
