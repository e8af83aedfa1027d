"""The classes of trials, answers and scores: a function that takes one form takes them all."""

from bosaris_py._validation import describe, invalid
from bosaris_py.trials.key import Key
from bosaris_py.trials.ndx import Ndx
from bosaris_py.trials.scores import Scores

__all__ = [
    "AnyKey",
    "AnyNdx",
    "AnyScores",
    "check_key",
    "check_ndx",
    "check_scores",
]

AnyNdx = Ndx | Key
AnyKey = Key
AnyScores = Scores


def check_ndx(ndx: object, owner: str) -> None:
    """Raise unless `ndx` holds trials."""
    if not isinstance(ndx, AnyNdx):
        raise invalid("ndx", owner, "be an Ndx or a Key", describe(ndx))


def check_key(key: object, owner: str) -> None:
    """Raise unless `key` holds trials with their answers."""
    if not isinstance(key, AnyKey):
        raise invalid("key", owner, "be a Key, which says what the targets are", describe(key))


def check_scores(scores: object, owner: str) -> None:
    """Raise unless `scores` holds scores of trials."""
    if not isinstance(scores, AnyScores):
        raise invalid("scores", owner, "be a Scores", describe(scores))
