"""Checks of arguments that many of the toolkit's functions have."""

from typing import Any

import numpy as np

from bosaris_py._validation import describe, invalid
from bosaris_py.numerics.objectives import ScoringRule
from bosaris_py.trials import Key, Ndx, Scores

__all__ = ["check_iterations", "require_key", "require_ndx", "require_scores", "rule_name"]


def rule_name(obj_func: Any, owner: str) -> str:
    """Return the name of an objective: a name, what a name was turned into, or [] for cllr."""
    if isinstance(obj_func, ScoringRule):
        return obj_func.name
    if isinstance(obj_func, str):
        return obj_func
    if obj_func is None or np.size(obj_func) == 0:
        return "cllr"
    expected = "be what make_objective_function_from_name returns, or [] for cllr"
    raise invalid("obj_func", owner, expected, describe(obj_func))


def check_iterations(niters: Any, owner: str) -> None:
    """Raise unless `niters` counts something, which tells that arguments are in order."""
    if isinstance(niters, bool) or not isinstance(niters, int | np.integer) or niters < 0:
        hint = "Are the arguments in the order of this function? They differ."
        raise invalid("niters", owner, "be a whole number, 0 or more", describe(niters), hint)


def require_key(key: Any, name: str, owner: str) -> None:
    """Raise unless `key` is a Key."""
    if not isinstance(key, Key):
        hint = "An Ndx does not say which trials are targets." if isinstance(key, Ndx) else ""
        raise invalid(name, owner, "be a Key", describe(key), hint)


def require_ndx(ndx: Any, name: str, owner: str) -> None:
    """Raise unless `ndx` is an Ndx."""
    if not isinstance(ndx, Ndx):
        hint = "Write key.to_ndx()." if isinstance(ndx, Key) else ""
        raise invalid(name, owner, "be an Ndx", describe(ndx), hint)


def require_scores(scores: Any, name: str, owner: str) -> None:
    """Raise unless `scores` is a Scores."""
    if not isinstance(scores, Scores):
        raise invalid(name, owner, "be a Scores", describe(scores))
