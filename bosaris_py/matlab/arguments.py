"""Convert arguments as the toolkit's functions take them; small functions of the toolkit."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import FloatArray
from bosaris_py._validation import as_matrix, as_vector, describe, invalid, refuse_nan
from bosaris_py.numerics.scoring_rules import ScoringRule
from bosaris_py.trials import Key, Ndx, QualityMeasures, Scores, SegmentQuality

# In MATLAB a single object is an array of objects.
Systems = Iterable[Scores] | Scores

Qualities = Iterable[QualityMeasures] | QualityMeasures


def as_systems(scores: Any, name: str) -> list[Scores]:
    """Return a list of Scores, one for each system; a lone Scores is one system."""
    if isinstance(scores, Scores):
        return [scores]
    listed = _listed(scores)
    if listed is None:
        raise invalid(name, "be a list of Scores", describe(scores))
    return listed


def as_qualities(qualities: Any, name: str) -> list[QualityMeasures]:
    """Return a list of quality measures; those of a single object are a list of one."""
    if isinstance(qualities, QualityMeasures | SegmentQuality):
        qualities = [qualities]
    listed = _listed(qualities)
    if listed is None:
        raise invalid(name, "be a list of Quality", describe(qualities))
    return listed


def _listed(items: Any) -> list[Any] | None:
    return list(items) if isinstance(items, Iterable) else None


def vector_of_numbers(values: npt.ArrayLike, name: str) -> FloatArray:
    """Return a vector without NaN."""
    vector = as_vector(values, name)
    refuse_nan(vector, name)
    return vector


def matrix_of_numbers(values: npt.ArrayLike, name: str) -> FloatArray:
    """Return a matrix without NaN."""
    matrix = as_matrix(values, name)
    refuse_nan(matrix, name)
    return matrix


def rule_name(obj_func: Any) -> str:
    """Return the name of an objective: a name, what a name was turned into, or [] for cllr."""
    if isinstance(obj_func, ScoringRule):
        return obj_func.name
    if isinstance(obj_func, str):
        return obj_func
    if obj_func is None or np.size(obj_func) == 0:
        return "cllr"
    expected = "be what make_objective_function_from_name returns, or [] for cllr"
    raise invalid("obj_func", expected, describe(obj_func))


def check_iterations(niters: Any) -> None:
    """Raise unless `niters` counts something, which tells that arguments are in order."""
    if isinstance(niters, bool) or not isinstance(niters, int | np.integer) or niters < 0:
        hint = "Are the arguments in the order of this function? They differ."
        raise invalid("niters", "be a whole number, 0 or more", describe(niters), hint)


def require_key(key: Any, name: str) -> None:
    """Raise unless `key` is a Key."""
    if not isinstance(key, Key):
        hint = "An Ndx does not say which trials are targets." if isinstance(key, Ndx) else ""
        raise invalid(name, "be a Key", describe(key), hint)


def require_ndx(ndx: Any, name: str) -> None:
    """Raise unless `ndx` is an Ndx."""
    if not isinstance(ndx, Ndx):
        hint = "Write key.to_ndx()." if isinstance(ndx, Key) else ""
        raise invalid(name, "be an Ndx", describe(ndx), hint)


def require_scores(scores: Any, name: str) -> None:
    """Raise unless `scores` is a Scores."""
    if not isinstance(scores, Scores):
        raise invalid(name, "be a Scores", describe(scores))


def neglogsigmoid(log_odds: npt.ArrayLike) -> Any:
    """Compute -log(sigmoid(x)) = log(1 + exp(-x)).

    Toolkit: neglogsigmoid.m; native: none; differs: for x above 37 the value is exp(-x), where the
    toolkit rounds it to 0. That of NaN is NaN, as in the toolkit.
    """
    # numpy warns of NaN, which passes through.
    with np.errstate(invalid="ignore"):
        return np.logaddexp(0.0, -np.asarray(log_odds, dtype=np.float64))[()]
