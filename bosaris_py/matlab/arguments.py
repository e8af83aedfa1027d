"""Arguments and results as the toolkit's functions have them; MATLAB's syntax for methods."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from bosaris_py import _validation, metrics
from bosaris_py._arrays import FloatArray
from bosaris_py._validation import FilePath, as_matrix, describe, invalid, refuse_nan
from bosaris_py.numerics.scoring import ScoringRule
from bosaris_py.trials import Key, Ndx, QualityMeasures, Scores, SegmentQuality

T = TypeVar("T")

# In MATLAB a single object is an array of objects.
Systems = Iterable[Scores] | Scores

Qualities = Iterable[QualityMeasures] | QualityMeasures

# The likely mistake where one kind of object came in the place of another.
_HINTS: dict[tuple[type, type], str] = {
    (Key, Ndx): "An Ndx does not say which trials are targets.",
    (Ndx, Key): "Write key.to_ndx().",
}


def ends_as(function: Callable[..., object], n_given: int) -> Callable[[T], T]:
    """Let a signature go on as that of `function` after its first `n_given` parameters."""
    rest = list(inspect.signature(function).parameters.values())[n_given:]

    def decorate(wrapper: Any) -> Any:
        found = inspect.signature(wrapper)
        own = [p for p in found.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        wrapper.__signature__ = found.replace(parameters=own + rest)
        return wrapper

    return decorate


def require(name: str, value: object, kind: type[T]) -> T:
    """Return `value`; raise unless it is a Key, an Ndx, or whatever `kind` is."""
    if not isinstance(value, kind):
        noun = "an Ndx" if kind is Ndx else f"a {kind.__name__}"
        raise invalid(name, f"be {noun}", describe(value), _HINTS.get((kind, type(value)), ""))
    return value


def as_systems(scores: object, name: str) -> list[Scores]:
    """Return a list of Scores, one for each system; a single Scores is one system."""
    return _as_list(scores, name, Scores, "Scores")


def as_qualities(qualities: object, name: str) -> list[QualityMeasures]:
    """Return a list of quality measures; those of a single object are a list of one."""
    # The fusion refuses a SegmentQuality with a message of its own.
    return _as_list(qualities, name, QualityMeasures | SegmentQuality, "Quality")


def _as_list(items: object, name: str, kind: Any, noun: str) -> list[Any]:
    if isinstance(items, kind):
        return [items]
    if not isinstance(items, Iterable) or isinstance(items, set):
        raise invalid(name, f"be a list of {noun}", describe(items))
    return list(items)


def flat(values: Any) -> Any:
    """Return an array of one row or one column, as MATLAB's vectors are, in one dimension."""
    is_matrix = isinstance(values, np.ndarray) and values.ndim == 2
    return values.ravel() if is_matrix and (1 in values.shape or not values.size) else values


def _of_vectors(metric: Callable[..., float]) -> Callable[..., float]:
    """Return a metric that also takes scores of one row or one column."""

    @functools.wraps(metric)
    def flattened(*scores: npt.ArrayLike, **keywords: object) -> float:
        return metric(*map(flat, scores), **{name: flat(keywords[name]) for name in keywords})

    return flattened


cllr, eer, prbep = map(_of_vectors, (metrics.cllr, metrics.eer, metrics.prbep))


def as_vector(values: npt.ArrayLike, name: str) -> FloatArray:
    """Return a vector, also of what has one row or one column."""
    return _validation.as_vector(flat(values), name)


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


def split_by_label(scores: FloatArray, classf: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Split scores, (n_systems, n_trials), into targets and non-targets; label 0 is neither."""
    labels = as_vector(classf, "classf")
    if labels.size != scores.shape[1]:
        expected = f"have one label for each of the {scores.shape[1]} trials"
        raise invalid("classf", expected, f"{labels.size}")
    unknown = labels[~np.isin(labels, (-1.0, 0.0, 1.0))]
    if unknown.size:
        expected = "hold 1 for targets, -1 for non-targets and 0 for trials to be ignored"
        raise invalid("classf", expected, f"among others {unknown[0]:g}")
    if labels.size and labels.min() == 0.0:
        hint = "Labels 1 and 0? Write 2 * classf - 1."
        raise invalid("classf", "hold -1 for non-targets; 0 is ignored", "only 1 and 0", hint)
    return scores[:, labels > 0], scores[:, labels < 0]


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


def as_whole(value: Any, name: str, least: int = 0, hint: str = "") -> int:
    """Return a whole number, which MATLAB keeps as a float."""
    is_real = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not is_real or value != value // 1 or value < least:
        raise invalid(name, f"be a whole number, {least} or more", describe(value), hint)
    return int(value)


def check_iterations(niters: object) -> None:
    """Raise unless `niters` is a count.

    Nothing depends on it, but the toolkit's functions have it in different places, so that a prior
    or an objective in its place says that arguments are out of order.
    """
    as_whole(niters, "niters", hint="Are the arguments in the order of this function? They differ.")


def save_all(scores: Sequence[Scores], filenames: Sequence[FilePath]) -> None:
    """Write each of several results to its file."""
    for result, filename in zip(scores, filenames, strict=True):
        result.save(filename)


# In MATLAB a method is called as a function too, ``display_legend(plot)``. Names such as filter
# and save, which mean something else in Python, are not among them.
_NAMES = """
    align_with_ids align_with_ndx display_legend filter_on_left filter_on_right get_act_dcf
    get_eer get_min_dcf get_norm_act_dcf get_norm_min_dcf get_prbep get_scores get_tar_non
    map_left_to_right map_right_to_left num_non num_tar plot_DR30_both plot_DR30_fa
    plot_DR30_miss plot_curves plot_dcf_curve_act plot_dcf_curve_min plot_det_from_roc
    plot_fa_rate_act plot_fa_rate_min plot_mindcf_point plot_miss_rate_act plot_miss_rate_min
    plot_operating_point plot_rocch_det plot_steppy_det save_as_pdf save_hdf5 save_mat save_txt
    set_missing_to_value set_system set_system_from_scores to_ndx transform
"""

METHODS = frozenset(_NAMES.split())


def as_function(name: str) -> Callable[..., Any]:
    """Return the function that calls the method of a name."""

    def method(obj: object, *arguments: object) -> Any:
        return getattr(obj, name)(*arguments)

    method.__name__ = name
    method.__doc__ = f"Call a method as a function, as in MATLAB: ``obj.{name}(...)``."
    return method


class Several(tuple[Any, ...]):
    """Results of a function that has several, of which MATLAB takes the first by itself."""

    __slots__ = ()
    # numpy's numbers then leave the multiplication to this class.
    __array_ufunc__ = None

    def _refuse(self, *arguments: object, **keywords: object) -> NoReturn:
        raise TypeError(
            f"These are {len(self)} results, where MATLAB takes the first by itself: "
            "write `first, *_ = ...`, or `...[0]`."
        )

    __call__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = __float__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __pow__ = __abs__ = __round__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = _refuse


def of_several(function: Callable[..., tuple[object, ...]]) -> Callable[..., Several]:
    """Return a function whose tuple says what to write if it is used as one result."""

    @functools.wraps(function)
    def with_hint(*arguments: object, **keywords: object) -> Several:
        return Several(function(*arguments, **keywords))

    return with_hint
