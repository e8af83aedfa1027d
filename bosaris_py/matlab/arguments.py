"""Arguments as the toolkit's functions take them: vectors of either shape, lists of objects."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from bosaris_py import _validation as check
from bosaris_py._arrays import ArrayLike, FilePath, FloatArray
from bosaris_py.files.replacing import refuse_inputs
from bosaris_py.trials import Key, Ndx, QualityMeasures, Scores
from bosaris_py.trials.scores import Systems as Systems

T = TypeVar("T")

# In MATLAB a single object is an array of objects.
Qualities = Sequence[QualityMeasures] | QualityMeasures

Trials = Key | Ndx


def require(name: str, value: object, kind: type[T]) -> T:
    """Return `value`; raise unless it is a Key, an Ndx, or whatever `kind` is."""
    if isinstance(value, kind):
        return value
    raise check.invalid(name, f"be of class {kind.__name__}", check.describe(value))


def flat(values: ArrayLike) -> ArrayLike:
    """Return an array of one row or one column, as MATLAB's vectors are, in one dimension."""
    if isinstance(values, np.ndarray) and values.ndim == 2 and min(values.shape) <= 1:
        return values.ravel()
    return values


def as_vector(values: ArrayLike, name: str) -> FloatArray:
    """Return a vector without NaN, also of what has one row or one column."""
    vector = check.as_vector(flat(values), name)
    check.refuse_nan(vector, name)
    return vector


def as_matrix(values: ArrayLike, name: str) -> FloatArray:
    """Return a matrix without NaN."""
    matrix = check.as_matrix(values, name)
    check.refuse_nan(matrix, name)
    return matrix


def split_by_label(scores: FloatArray, classf: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Split scores, (n_systems, n_trials), into targets and non-targets; label 0 is neither."""
    labels = as_vector(classf, "classf")
    check.check_shape(labels, scores.shape[1:], "classf", "the trials")
    if not np.isin(labels, (-1.0, 0.0, 1.0)).all() or labels.min(initial=1.0) == 0.0:
        expected = "hold 1 for targets, -1 for non-targets and 0 for trials to be ignored"
        hint = "Labels 1 and 0? Write 2 * classf - 1."
        raise check.invalid("classf", expected, check.describe(labels), hint)
    return scores[:, labels > 0], scores[:, labels < 0]


def trainer(
    fit: Callable[..., T], prior: float, obj_func: object, niters: object
) -> Callable[..., T]:
    """Return a function that trains with the toolkit's options: it has no ridge.

    Nothing depends on `niters`. The toolkit's functions have it in different places, so that a
    prior or an objective in its place says that arguments are out of order.
    """
    as_whole(niters, "niters", hint="Are the arguments in the order of this function? They differ.")
    return partial(fit, prior=prior, objective=objective_name(obj_func), ridge=0.0)


def objective_name(obj_func: object) -> str:
    """Return the name of an objective; [] is cllr."""
    return "cllr" if obj_func is None or obj_func == [] else str(obj_func)


def as_whole(value: object, name: str, least: int = 0, hint: str = "") -> int:
    """Return a whole number, which MATLAB keeps as a float."""
    if isinstance(value, int | float | np.floating) and not isinstance(value, bool):
        number = float(value)
        if number >= least and number.is_integer():
            return int(number)
    raise check.invalid(name, f"be a whole number, {least} or more", check.describe(value), hint)


def save_all(
    scores: Iterable[Scores], filenames: Sequence[FilePath], *inputs: FilePath | Sequence[FilePath]
) -> None:
    """Write each of several results to its file, which is none of those that were read."""
    read = [path for each in inputs for path in np.atleast_1d(np.array(each, object))]
    for filename in filenames:
        refuse_inputs(filename, read, "outfilename")
    for result, filename in zip(scores, filenames, strict=True):
        result.save(filename)
