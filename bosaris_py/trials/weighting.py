"""The weights of the trials that a calibration or a fusion is trained on."""

import numpy.typing as npt

from bosaris_py._validation import describe, invalid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.forms import AnyKey, AnyScores

__all__ = ["ClassWeights", "check_conditions", "class_weights"]

# Weights of the targets and of the non-targets; None says one each.
ClassWeights = tuple[npt.ArrayLike | None, npt.ArrayLike | None]


def check_conditions(conditions: object, owner: str) -> None:
    """Raise unless `conditions` says what each condition weighs."""
    if not isinstance(conditions, Conditions):
        hint = (
            "Make one of labels, Conditions.from_labels(key, labels), or of columns of a "
            "TrialMetadata, metadata.conditions('gender')."
        )
        raise invalid("conditions", owner, "be a Conditions object", describe(conditions), hint)


def class_weights(
    conditions: Conditions | None,
    tar_weights: npt.ArrayLike | None,
    non_weights: npt.ArrayLike | None,
    key: AnyKey,
    *,
    scores: AnyScores | None = None,
    owner: str,
) -> ClassWeights:
    """Return the weights of the trials, from conditions or as the caller gave them.

    Parameters
    ----------
    conditions : Conditions or None
        If given, each condition weighs what it shall weigh.
    tar_weights, non_weights : array_like of float or None
        The caller's own weights; not together with `conditions`.
    key : Key or FlatKey
        Which trials are targets and which non-targets.
    scores : Scores or FlatScores, optional
        If given, only trials with a score count; else all trials of the key.
    owner : str
        Whom error messages speak of.

    Returns
    -------
    tar_weights, non_weights : array_like of float or None
        In the order of ``get_tar_non``. Those of conditions sum to the number of
        trials in each class.

    Raises
    ------
    InvalidInputError
        If `conditions` is something else or has trials of one class only, or weights
        are given as well.
    """
    if conditions is None:
        return tar_weights, non_weights
    check_conditions(conditions, owner)
    for name, weights in (("tar_weights", tar_weights), ("non_weights", non_weights)):
        if weights is not None:
            raise invalid(name, owner, "be left out where there are `conditions`", "weights")
    if scores is None:
        weights_of_classes = conditions.trial_weights(key)
    else:
        weights_of_classes = conditions.scored_weights(scores, key)
    for noun, weights in zip(("targets", "non-targets"), weights_of_classes, strict=True):
        if weights.size and not weights.any():
            raise invalid("conditions", owner, f"have {noun} in some condition", "none")
    return weights_of_classes
