"""The toolkit's training objectives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import as_vector, invalid
from bosaris_py.errors import InvalidInputError
from bosaris_py.matlab._arguments import rule_name
from bosaris_py.numerics import objectives, scoring_rules
from bosaris_py.numerics.scoring_rules import ScoringRule

__all__ = [
    "evaluate_objective",
    "make_objective_function_from_name",
    "split_by_label",
    "test_binary_classifier",
]


def make_objective_function_from_name(name: Any) -> ScoringRule:
    """Return the objective of a name: "cllr", "brier" or "boost", in any case.

    Toolkit: make_objective_function_from_name.m; native: the argument `objective` takes the name
    itself; differs: what is returned cannot be called; `evaluate_objective` evaluates it.
    """
    known = scoring_rules.OBJECTIVES
    if not isinstance(name, str) or name.lower() not in known:
        message = 'name must be "cllr" or "brier" or "boost"'
        raise InvalidInputError(message)
    return scoring_rules.scoring_rule(name, "make_objective_function_from_name")


def evaluate_objective(
    objective: Any, scores: npt.ArrayLike, classf: npt.ArrayLike, prior: float
) -> float:
    """Judge log-likelihood-ratios by a training objective; 1 is reached without a detector.

    Toolkit: evaluate_objective.m; native: `bosaris_py.numerics.objectives.evaluate_objective`;
    differs: labels of 0 are allowed, and such trials do not count.

    Examples
    --------
    >>> evaluate_objective("cllr", [0.0, 0.0, 0.0], [1, -1, -1], 0.5)
    1.0
    """
    owner = "evaluate_objective"
    llrs = as_vector(scores, "scores", owner)
    tar, non = split_by_label(llrs[np.newaxis], classf, owner)
    rule = rule_name(objective, owner)
    return objectives.evaluate_objective(tar[0], non[0], prior=prior, objective=rule)


def test_binary_classifier(
    objective: Any,
    classf: npt.ArrayLike,
    prior: float,
    system: Callable[[Any], npt.ArrayLike],
    input_data: Any,
) -> float:
    """Apply a trained map to scores, and judge what comes out by a training objective.

    Toolkit: test_binary_classifier.m; native: none; differs: nothing.
    """
    return evaluate_objective(objective, system(input_data), classf, prior)


# Not for pytest, which would collect it wherever everything is imported from here.
test_binary_classifier.__test__ = False  # type: ignore[attr-defined]


def split_by_label(
    scores: npt.NDArray[np.floating[Any]], classf: npt.ArrayLike, owner: str
) -> tuple[npt.NDArray[np.floating[Any]], npt.NDArray[np.floating[Any]]]:
    """Split scores, (n_systems, n_trials), into targets and non-targets; label 0 is neither."""
    labels = as_vector(classf, "classf", owner)
    if labels.size != scores.shape[1]:
        expected = f"have one label for each of the {scores.shape[1]} trials"
        raise invalid("classf", owner, expected, f"{labels.size}")
    strange = labels[~np.isin(labels, (-1.0, 0.0, 1.0))]
    if strange.size:
        expected = "hold 1 for targets, -1 for non-targets and 0 for trials to be ignored"
        raise invalid("classf", owner, expected, f"among others {strange[0]:g}")
    return scores[:, labels > 0], scores[:, labels < 0]
