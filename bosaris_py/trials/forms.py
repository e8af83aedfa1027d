"""The classes of trials, answers and scores: a function that takes one form takes them all."""

from bosaris_py._validation import describe, invalid
from bosaris_py.trials._missing import AnyKey, AnyNdx, check_key
from bosaris_py.trials._missing import check_trials as check_ndx
from bosaris_py.trials.flat_scores import FlatScores
from bosaris_py.trials.scores import Scores

__all__ = [
    "AnyKey",
    "AnyNdx",
    "AnyScores",
    "check_key",
    "check_ndx",
    "check_scores",
]

AnyScores = Scores | FlatScores


def check_scores(scores: object, owner: str) -> None:
    """Raise unless `scores` holds scores of trials."""
    if not isinstance(scores, AnyScores):
        raise invalid("scores", owner, "be a Scores object", describe(scores))
