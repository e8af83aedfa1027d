"""The toolkit's linear fusion; several systems come as a list of Scores."""

# ruff: noqa: FBT001 -- flags are positional as in the toolkit

import logging
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FilePath, as_matrix, describe, frozen, invalid
from bosaris_py.fusion import LinearFusion, QualityFusion
from bosaris_py.matlab._arguments import (
    Systems,
    as_systems,
    check_iterations,
    matrix_of_numbers,
    require_key,
    require_ndx,
    rule_name,
    vector_of_numbers,
)
from bosaris_py.matlab.objectives import split_by_label
from bosaris_py.trials import Key, Ndx, Scores
from bosaris_py.trials.stacking import assemble, stack_scores

__all__ = [
    "apply_linear_fusion_function",
    "assemble_scr",
    "linear_fuser",
    "linear_fusion_dev_eval",
    "linear_fusion_dev_eval_from_files",
    "linear_fusion_scores",
    "linear_fusion_scores_from_files",
    "listed_files",
    "load_score_files",
    "make_classf_from_key",
    "make_initial_fusion_weights",
    "stackScores",
    "train_linear_fuser",
    "train_linear_fusion_function",
]

Float64Array = npt.NDArray[np.float64]
Fuser = Callable[[Any], Any]

logger = logging.getLogger(__name__)


def stackScores(key_or_ndx: Key | Ndx, scores_obj_array: Systems) -> Float64Array:
    """Return the scores of several systems, one in each row, for the same trials.

    Toolkit: stackScores.m; native: what ``fit_scores`` and ``apply`` do inside; differs: says which
    system lacks how many scores.
    """
    return stack_scores(as_systems(scores_obj_array, "scores_obj_array", "stackScores"), key_or_ndx)


def make_classf_from_key(key: Key) -> Float64Array:
    """Return the label of each trial of a key, 1 or -1, column by column.

    Toolkit: make_classf_from_key.m; native: none, for targets and non-targets are kept apart;
    differs: nothing.
    """
    require_key(key, "key", "make_classf_from_key")
    labels = np.where(key.tar, 1.0, -1.0).T
    return labels[(key.tar | key.non).T]


def assemble_scr(scores: npt.ArrayLike, key_or_ndx: Key | Ndx) -> Scores:
    """Put a vector of scores, column by column, back into a matrix of trials.

    Toolkit: assemble_scr.m; native: what ``apply`` does inside; differs: nothing.
    """
    return assemble(vector_of_numbers(scores, "scores", "assemble_scr"), key_or_ndx)


def make_initial_fusion_weights(numsystems: int) -> Float64Array:
    """Return the weights of the mean of several systems, and no offset.

    Toolkit: make_initial_fusion_weights.m; native: none, for training does not depend on where it
    starts; differs: nothing.
    """
    if numsystems < 1:
        owner = "make_initial_fusion_weights"
        raise invalid("numsystems", owner, "be at least 1", describe(numsystems))
    return np.append(np.full(numsystems, 1.0 / numsystems), 0.0)


@overload
def linear_fuser(w: npt.ArrayLike, scores: npt.ArrayLike) -> Float64Array: ...
@overload
def linear_fuser(w: npt.ArrayLike, scores: None = None) -> str: ...
def linear_fuser(w: npt.ArrayLike, scores: npt.ArrayLike | None = None) -> Float64Array | str:
    """Fuse scores, (n_systems, n_trials), with given weights, the offset last.

    Toolkit: linear_fuser.m; native: `LinearFusion`; differs: there is no untrained fuser, which the
    toolkit returns for empty weights. Without scores, describes the weights.

    Examples
    --------
    >>> linear_fuser([0.5, 2.0, -1.0], [[1.0, 2.0], [0.0, 1.0]]).tolist()
    [-0.5, 2.0]
    """
    weights = vector_of_numbers(w, "w", "linear_fuser")
    if weights.size < 2:
        hint = "To train a fusion use train_linear_fuser." if weights.size == 0 else ""
        expected = "hold one weight for each system, and the offset"
        raise invalid("w", "linear_fuser", expected, f"{weights.size} numbers", hint)
    if scores is None:
        listed = ", ".join(f"{weight:g}" for weight in weights[:-1])
        return f"linear fusion: weights [{listed}], offset {weights[-1]:g}"
    matrix = matrix_of_numbers(scores, "scores", "linear_fuser")
    if matrix.shape[0] != weights.size - 1:
        expected = f"hold the scores of {weights.size - 1} systems, one in each row"
        raise invalid("scores", "linear_fuser", expected, f"shape {matrix.shape}")
    fused: Float64Array = weights[:-1] @ matrix + weights[-1]
    return fused


def train_linear_fuser(
    scores: npt.ArrayLike,
    classf: npt.ArrayLike,
    prior: float,
    cstepHessian: bool,
    quiet: bool,
    niters: int,
    obj_func: Any,
) -> tuple[Fuser, float, Float64Array]:
    """Train a linear fusion on arrays: the fusion itself, the objective, and its weights.

    Toolkit: train_linear_fuser.m; native: `LinearFusion.fit`; differs: trains to the exact optimum
    whatever `niters`; `cstepHessian` and `quiet` have no effect.

    Examples
    --------
    >>> scores = [[1.0, 2.0, 3.0, 0.0, -1.0, 1.5]]
    >>> f, nxe, w = train_linear_fuser(scores, [1, 1, 1, -1, -1, -1], 0.5, True, True, 100, [])
    >>> w.round(3).tolist(), f([[2.0]]).round(3).tolist()
    ([1.977, -2.299], [1.656])
    """
    owner = "train_linear_fuser"
    check_iterations(niters, owner)
    del cstepHessian, quiet
    tar, non = split_by_label(as_matrix(scores, "scores", owner), classf, owner)
    fit = LinearFusion.fit(tar, non, prior=prior, objective=rule_name(obj_func, owner))
    return fit.apply, fit.objective_value, frozen(np.append(fit.weights, fit.offset))


def train_linear_fusion_function(
    key: Key,
    scores_obj_array: Systems,
    prior: float,
    obj_func: Any,
    niters: int,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Fuser, Float64Array]:
    """Train a linear fusion on the scores of the trials in a key: the fusion, its weights.

    Toolkit: train_linear_fusion_function.m; native: `LinearFusion.fit_scores`; differs: trains to
    the exact optimum whatever `niters`.
    """
    owner = "train_linear_fusion_function"
    require_key(key, "key", owner)
    check_iterations(niters, owner)
    del cstepHessian, quiet
    objective = rule_name(obj_func, owner)
    systems = as_systems(scores_obj_array, "scores_obj_array", owner)
    logger.info("training linear fusion of %d systems", len(systems))
    fit = LinearFusion.fit_scores(systems, key, prior=prior, objective=objective)
    logger.info("weights: %s, offset %f", " ".join(f"{w:f}" for w in fit.weights), fit.offset)
    logger.info("nxe = %g", fit.objective_value)
    return fit.apply, frozen(np.append(fit.weights, fit.offset))


def apply_linear_fusion_function(
    key_or_ndx: Key | Ndx, scores_obj_array: Systems, flin: Any
) -> Scores:
    """Fuse the scores of the trials in an index or a key.

    Toolkit: apply_linear_fusion_function.m; native: ``LinearFusion.apply``; differs: nothing.
    """
    owner = "apply_linear_fusion_function"
    if not callable(flin):
        hint = ""
        if isinstance(flin, QualityFusion):
            hint = "That is a quality fusion; use apply_quality_fusion_function."
        expected = "be what train_linear_fusion_function returns first"
        raise invalid("flin", owner, expected, describe(flin), hint)
    systems = as_systems(scores_obj_array, "scores_obj_array", owner)
    return assemble(flin(stack_scores(systems, key_or_ndx)), key_or_ndx)


def linear_fusion_scores(
    key: Key,
    scores_obj_array: Systems,
    prior: float,
    niters: int,
    obj_func: Any,
    cstepHessian: bool,
    quiet: bool,
) -> Scores:
    """Fuse scores by a fusion that is trained on themselves.

    Toolkit: linear_fusion_scores.m; native: `LinearFusion.fit_scores` and ``apply``; differs:
    trains to the exact optimum whatever `niters`.
    """
    flin, _ = train_linear_fusion_function(
        key, scores_obj_array, prior, obj_func, niters, cstepHessian, quiet
    )
    return apply_linear_fusion_function(key, scores_obj_array, flin)


def linear_fusion_dev_eval(
    key_dev: Key,
    dev_scores_obj_array: Systems,
    ndx_eval: Ndx,
    eval_scores_obj_array: Systems,
    prior: float,
    niters: int,
    obj_func: Any,
    cstepHessian: bool,
    quiet: bool,
) -> tuple[Scores, Scores]:
    """Fuse dev and eval scores by a fusion that is trained on dev.

    Toolkit: linear_fusion_dev_eval.m; native: `LinearFusion.fit_scores` and ``apply``; differs:
    trains to the exact optimum whatever `niters`.
    """
    require_ndx(ndx_eval, "ndx_eval", "linear_fusion_dev_eval")
    flin, _ = train_linear_fusion_function(
        key_dev, dev_scores_obj_array, prior, obj_func, niters, cstepHessian, quiet
    )
    return (
        apply_linear_fusion_function(key_dev, dev_scores_obj_array, flin),
        apply_linear_fusion_function(ndx_eval, eval_scores_obj_array, flin),
    )


def linear_fusion_scores_from_files(
    keyfilename: FilePath,
    scorefilenames: Sequence[FilePath],
    outfilename: FilePath,
    prior: float,
    niters: int,
    obj_func: Any,
    cstepHessian: bool,
    quiet: bool,
) -> None:
    """Fuse the scores in files by a fusion that is trained on themselves.

    Toolkit: linear_fusion_scores_from_files.m; native: ``Scores.read`` and ``save``; differs: as
    `linear_fusion_scores`.
    """
    key, systems = Key.read(keyfilename), load_score_files(scorefilenames)
    fused = linear_fusion_scores(key, systems, prior, niters, obj_func, cstepHessian, quiet)
    fused.save(outfilename)


def linear_fusion_dev_eval_from_files(
    dev_keyfilename: FilePath,
    dev_scorefilenames: Sequence[FilePath],
    eval_ndxfilename: FilePath,
    eval_scorefilenames: Sequence[FilePath],
    dev_outfilename: FilePath,
    eval_outfilename: FilePath,
    prior: float,
    niters: int,
    obj_func: Any,
    cstepHessian: bool,
    quiet: bool,
) -> None:
    """Fuse the dev and eval scores in files by a fusion that is trained on dev.

    Toolkit: linear_fusion_dev_eval_from_files.m; native: ``Scores.read`` and ``save``; differs: as
    `linear_fusion_dev_eval`.
    """
    dev, evaluation = linear_fusion_dev_eval(
        Key.read(dev_keyfilename),
        load_score_files(dev_scorefilenames),
        Ndx.read(eval_ndxfilename),
        load_score_files(eval_scorefilenames),
        prior,
        niters,
        obj_func,
        cstepHessian,
        quiet,
    )
    dev.save(dev_outfilename)
    evaluation.save(eval_outfilename)


def load_score_files(scorefilenames: Sequence[FilePath]) -> list[Scores]:
    """Read the scores of several systems; the names of the files are logged.

    Toolkit: load_score_files.m; native: ``Scores.read``; differs: returns a list.
    """
    return [Scores.read(name) for name in listed_files(scorefilenames, "load_score_files")]


def listed_files(filenames: Sequence[FilePath], owner: str) -> Iterator[FilePath]:
    """Iterate over the names of files that are to be read, and log each."""
    if isinstance(filenames, str | PathLike):
        hint = "Put the name of a single file into a list."
        raise invalid("filenames", owner, "be a list of files", describe(str(filenames)), hint)
    for name in filenames:
        logger.info("loading %s", name)
        yield name
