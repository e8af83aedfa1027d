"""The trials of a key that have scores: where they stand, and their conditions.

Everything is a vector over trials, column by column, so that it does not matter
whether trials are held as a matrix or as a list.
"""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import BoolArray, FloatArray, describe, invalid
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials.conditions import ConditionMembers, Conditions
from bosaris_py.trials.forms import AnyKey, AnyScores, check_key
from bosaris_py.trials.trial_places import scored_trials
from bosaris_py.uncertainty.bootstrap import as_scores
from bosaris_py.uncertainty.strata import Strata, TrialStrata

__all__ = [
    "ScoredTrials",
    "check_conditions",
    "check_same_trials",
    "check_system",
    "refuse_missing",
]

Places = npt.NDArray[np.signedinteger[Any]]
Positions = tuple[Places, Places]


@attrs.frozen(eq=False)
class ScoredTrials:
    """Models, segments and conditions of the trials that count, of both classes.

    Parameters
    ----------
    tar, non : pair of (n,) ndarray of int
        Positions of the model and of the segment of each trial of the class.
    strata : TrialStrata
        The conditions of these trials.
    """

    tar: Positions
    non: Positions
    strata: TrialStrata
    # Places of the trials that count among those with a score; None says all.
    _tar_places: Places | None
    _non_places: Places | None

    @classmethod
    def of(
        cls, scores: AnyScores, key: AnyKey, conditions: Conditions | None, owner: str
    ) -> "ScoredTrials":
        """Find the trials of a key that have scores, and that are in a condition.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of the system.
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        conditions : Conditions or None
            Trials outside all of them are left out, if they allow that.
        owner : str
            The public function that asks, for messages.
        """
        check_system(scores, "scores", owner)
        check_key(key, owner)
        scored = scored_trials(scores, key)
        models, segments = key.trial_positions()
        labels = key.trial_labels()
        if scored is not None:
            models, segments, labels = models[scored], segments[scored], labels[scored]
        tar, non = np.flatnonzero(labels), np.flatnonzero(~labels)
        for places, what in ((tar, "targets"), (non, "non-targets")):
            if not places.size:
                raise invalid("key", owner, f"have {what} with scores", "none")
        strata = TrialStrata.single(tar.size, non.size)
        tar_places = non_places = None
        if conditions is not None:
            check_conditions(conditions, owner)
            members = conditions.scored_members(scores, key)
            strata, (tar_places, non_places) = _strata_of(members, (tar.size, non.size), owner)
            tar = tar if tar_places is None else tar[tar_places]
            non = non if non_places is None else non[non_places]
        return cls(
            (models[tar], segments[tar]),
            (models[non], segments[non]),
            strata,
            tar_places,
            non_places,
        )

    def take(self, scores: AnyScores, key: AnyKey, owner: str) -> tuple[FloatArray, FloatArray]:
        """Return target and non-target scores of the trials that count."""
        tar, non = scores.get_tar_non(key)
        return (
            as_scores(_taken(tar, self._tar_places), "target scores", owner),
            as_scores(_taken(non, self._non_places), "non-target scores", owner),
        )


def check_system(scores: object, name: str, owner: str) -> None:
    """Raise unless `scores` holds scores of trials."""
    if not isinstance(scores, AnyScores):
        raise invalid(name, owner, "be Scores", describe(scores))


def check_conditions(conditions: object, owner: str) -> None:
    """Raise unless `conditions` are Conditions."""
    if not isinstance(conditions, Conditions):
        hint = "Conditions({name: trials, ...}) or TrialMetadata.conditions(...) makes them."
        raise invalid("conditions", owner, "be Conditions", describe(conditions), hint)


def check_same_trials(systems: tuple[AnyScores, AnyScores], key: AnyKey, owner: str) -> None:
    """Raise unless the same trials of a key have scores in both systems."""
    for scores, name in zip(systems, ("scores_a", "scores_b"), strict=True):
        check_system(scores, name, owner)
    check_key(key, owner)
    mask_a, mask_b = (_scored_mask(scores, key) for scores in systems)
    only_a, only_b = np.count_nonzero(mask_a & ~mask_b), np.count_nonzero(mask_b & ~mask_a)
    if only_a or only_b:
        message = (
            f"`scores_a` and `scores_b` of {owner} must be of the same trials; of the "
            f"{key.n_trials} trials of `key`, {only_a} have a score in `scores_a` only and "
            f"{only_b} in `scores_b` only. Filter the key to the trials that both systems have "
            "scored."
        )
        raise TrialMismatchError(message)


def refuse_missing(scores: AnyScores, key: AnyKey, name: str, owner: str) -> None:
    """Raise unless each trial of a key has a score."""
    scored = scored_trials(scores, key)
    if scored is not None:
        missing = int(np.count_nonzero(~scored))
        message = (
            f"`{name}` of {owner} must have a score for every trial of `key`; "
            f"{missing} of {key.n_trials} have none. Filter the key to the trials that both "
            "systems have scored."
        )
        raise TrialMismatchError(message)


def _taken(scores: FloatArray, places: Places | None) -> FloatArray:
    return scores if places is None else scores[places]


def _strata_of(
    members: tuple[ConditionMembers, ...], sizes: tuple[int, int], owner: str
) -> tuple[TrialStrata, tuple[Places | None, Places | None]]:
    """Return the strata of the trials that are in a condition, and the places of these trials."""
    weights = np.array([item.weight for item in members])
    strata, places = [], []
    for parts, size, what in zip(
        ([item.tar for item in members], [item.non for item in members]),
        sizes,
        ("targets", "non-targets"),
        strict=True,
    ):
        codes = np.full(size, -1, dtype=np.int64)
        for number, part in enumerate(parts):
            codes[part] = number
        covered = codes >= 0
        n_covered = int(np.count_nonzero(covered))
        if n_covered == 0:
            expected = f"have {what} with scores among the trials of `key`"
            raise invalid("conditions", owner, expected, "none")
        if n_covered < sum(part.size for part in parts):
            hint = "A trial in two conditions cannot be resampled within one of them."
            found = f"{what} in several conditions"
            raise invalid("conditions", owner, "not overlap", found, hint)
        strata.append(Strata.from_codes(codes[covered], weights))
        places.append(None if n_covered == size else np.flatnonzero(covered))
    return TrialStrata(*strata), (places[0], places[1])


def _scored_mask(scores: AnyScores, key: AnyKey) -> BoolArray:
    """Tell for each trial of a key, column by column, whether it has a score."""
    scored = scored_trials(scores, key)
    return np.ones(key.n_trials, dtype=np.bool_) if scored is None else scored
