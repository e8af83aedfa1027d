r"""The bilinear form that turns quality measures of model and segment into a score.

Quality-dependent fusion adds to the weighted scores of a trial

.. math:: [q; 1]^T S\, [r; 1],

where q holds the quality measures of the model, r those of the test segment, and S
is symmetric, so that the two sides can change roles (eq. 30 of [1]_). The form is linear in
the distinct entries of S. Training it is therefore linear training on more inputs, the
*features* of a trial: for each entry (i, j) below the diagonal
:math:`q_i r_j + q_j r_i`, for each on it :math:`q_i r_i`. The last entry of S is an offset.

References
----------
.. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit user guide: theory, algorithms and
   code for binary classifier score processing", 2011.
"""

from __future__ import annotations

import math
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen

from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, IndexArray, Int32Array
from bosaris_py._validation import as_matrix, as_vector, invalid
from bosaris_py.numerics.linear_objective import TrainingObjective, pool_classes
from bosaris_py.numerics.training import LinearSolution, train_linear

# Trials of which the measures are gathered at once: they stay in the processor's cache.
_BLOCK_TRIALS = 2**13

# A feature of which less than this share of the variance is its own, not a combination of
# the inputs before it, is redundant.
_REDUNDANT = 1e-10

# What varies by less than this, relative to its size, is constant but for rounding. Features
# of standardised measures have a size of about 1.
_CONSTANT = 8 * float(np.finfo(np.float64).eps)


def n_form_weights(n_measures: int) -> int:
    """Return the number of distinct entries of the form for so many measures, the offset too."""
    return (n_measures + 1) * (n_measures + 2) // 2


def _lower_triangle(size: int) -> tuple[IndexArray, IndexArray]:
    """Return rows and columns of a lower triangle, column after column."""
    cols, rows = np.triu_indices(size)
    return rows, cols


def form_from_triangle(triangle: npt.ArrayLike) -> Float64Array:
    r"""Build the symmetric form from the toolkit's weights.

    Parameters
    ----------
    triangle : ((q + 1) (q + 2) / 2,) array_like of float
        The lower triangle of a matrix L, column after column.

    Returns
    -------
    (q + 1, q + 1) ndarray of float64
        :math:`L + L^T`: weights on the diagonal count twice.

    Raises
    ------
    InvalidInputError
        If no triangle has so many weights.

    Examples
    --------
    >>> form_from_triangle([1.0, 2.0, 3.0]).tolist()
    [[2.0, 2.0], [2.0, 6.0]]
    """
    weights = as_vector(triangle, "triangle")
    size = (math.isqrt(8 * weights.size + 1) - 1) // 2
    if weights.size == 0 or size * (size + 1) // 2 != weights.size:
        expected = "have (q + 1) (q + 2) / 2 weights for q measures"
        raise invalid("triangle", expected, f"{weights.size}")
    lower = np.zeros((size, size))
    lower[_lower_triangle(size)] = weights
    return lower + lower.T


def triangle_from_form(form: npt.ArrayLike) -> Float64Array:
    """Return the toolkit's weights of a symmetric form; undoes `form_from_triangle`."""
    lower = np.array(form, dtype=np.float64)
    np.fill_diagonal(lower, 0.5 * lower.diagonal())
    return np.asarray(lower[_lower_triangle(len(lower))])


def _with_ones(measures: npt.ArrayLike) -> Float64Array:
    """Return measures, one column for each id, with a row of ones below."""
    matrix = np.asarray(measures, dtype=np.float64)
    return np.vstack((matrix, np.ones(matrix.shape[1])))


def quality_term(
    form: Float64Array, model_measures: FloatArray, segment_measures: FloatArray
) -> Float64Array:
    """Evaluate the form for every combination of a model and a segment, (m, n).

    The measures are (q, m) and (q, n).
    """
    return np.asarray(_with_ones(model_measures).T @ (form @ _with_ones(segment_measures)))


def trial_quality_term(
    form: Float64Array,
    model_measures: FloatArray,
    segment_measures: FloatArray,
    models: Int32Array,
    segments: Int32Array,
) -> Float64Array:
    """Evaluate the form for trials, given by the positions of their models and segments.

    Memory beyond the result is a block of trials, however many models and segments there are.
    """
    left, right = _with_ones(model_measures), form @ _with_ones(segment_measures)
    term = np.empty(models.size)
    for start in range(0, models.size, _BLOCK_TRIALS):
        part = slice(start, start + _BLOCK_TRIALS)
        term[part] = np.einsum("it,it->t", left[:, models[part]], right[:, segments[part]])
    return term


def fuse_trials(
    weights: npt.ArrayLike,
    scores: npt.ArrayLike,
    model_measures: npt.ArrayLike,
    segment_measures: npt.ArrayLike,
) -> Float64Array:
    """Fuse trials with the weights of the toolkit's quality fusion.

    Parameters
    ----------
    weights : (K + 1 + (q + 1) (q + 2) / 2,) array_like of float
        Weights of the systems, offset, and the lower triangle as `form_from_triangle`
        takes it.
    scores : (K, t) array_like of float
        Scores of the systems.
    model_measures : (q, t) array_like of float
        Measures of the model of each trial.
    segment_measures : (q, t) array_like of float
        Measures of the segment of each trial.

    Returns
    -------
    (t,) ndarray of float64
        Fused scores.

    Raises
    ------
    InvalidInputError
        If numbers of weights, trials or measures do not fit together.

    Notes
    -----
    BOSARIS: ``qfuser_linear.m``.

    Examples
    --------
    One system, one measure; the last weight is one half of an offset.

    >>> fuse_trials([2.0, 0.5, 0.0, 1.0, 0.25], [[1.0]], [[3.0]], [[4.0]]).tolist()
    [10.0]
    """
    systems = as_matrix(scores, "scores")
    models = as_matrix(model_measures, "model_measures")
    segments = as_matrix(segment_measures, "segment_measures")
    n_trials, n_measures = systems.shape[1], len(models)
    for name, measures in (("model_measures", models), ("segment_measures", segments)):
        if measures.shape != (n_measures, n_trials):
            expected = f"hold {n_measures} measures of {n_trials} trials"
            raise invalid(name, expected, f"shape {measures.shape}")
    vector = as_vector(weights, "weights")
    n_linear = len(systems) + 1
    if vector.size != n_linear + n_form_weights(n_measures):
        expected = f"have {n_linear} + {n_form_weights(n_measures)} weights"
        raise invalid("weights", expected, f"{vector.size}")
    form = form_from_triangle(vector[n_linear:])
    quality = np.einsum("it,it->t", _with_ones(models), form @ _with_ones(segments))
    return np.asarray(vector[: n_linear - 1] @ systems + vector[n_linear - 1] + quality)


def measure_scale(
    model_measures: FloatArray, segment_measures: FloatArray
) -> tuple[Float64Array, Float64Array]:
    """Return centre and spread of each measure, models and segments counting the same.

    Of a constant measure the spread is its magnitude instead, or 1.
    """
    # The same shift and scale on both sides leave the form symmetric; different ones would not.
    sides = [np.asarray(side, np.float64) for side in (model_measures, segment_measures)]
    centre = 0.5 * sum(side.mean(axis=1) for side in sides)
    squares = [np.square(side - centre[:, np.newaxis]).mean(axis=1) for side in sides]
    spread = np.sqrt(0.5 * (squares[0] + squares[1]))
    largest = np.maximum(*(np.abs(side).max(axis=1) for side in sides))
    constant = spread <= _CONSTANT * largest
    spread[constant] = np.where(largest[constant] > 0.0, largest[constant], 1.0)
    return centre, spread


def in_raw_units(form: Float64Array, centre: Float64Array, spread: Float64Array) -> Float64Array:
    """Rewrite a form on ``(q - centre) / spread`` as one that gives the same values on q."""
    # With [q'; 1] = A [q; 1] the form S on q' is A^T S A on q.
    standardise = np.diag(np.append(1.0 / spread, 1.0))
    standardise[:-1, -1] = -centre / spread
    return np.asarray(standardise.T @ form @ standardise)


@frozen(eq=False)
class QualityDesign:
    """Scores and quality features of one class, the features made as they are needed.

    Behaves like a matrix with one row for each system, then one for each feature, and one
    column for each trial, of which only blocks of columns can be taken. Memory beyond the
    scores is two small integers for each trial, however many features there are.

    Parameters
    ----------
    scores : (K, t) ndarray of float
        Scores of the systems.
    models, segments : (t,) ndarray of int32
        Positions of each trial's model and segment in the measures.
    model_measures, segment_measures : (q + 1, m), (q + 1, n) ndarray of float64
        Standardised measures, with a row of ones below.
    entries : tuple of (int, int)
        The entries (i, j) of the form whose features are the rows below the scores.
    """

    scores: FloatArray
    models: Int32Array
    segments: Int32Array
    model_measures: Float64Array
    segment_measures: Float64Array
    entries: tuple[tuple[int, int], ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of trials."""
        return len(self), self.scores.shape[1]

    def __len__(self) -> int:
        return len(self.scores) + len(self.entries)

    def __getitem__(self, part: tuple[slice, slice]) -> Float64Array:
        """Return a block of trials; the first slice must take all rows."""
        every, trials = part
        if every != slice(None):
            message = f"only blocks of trials can be taken; got rows {every}"
            raise IndexError(message)
        scores = self.scores[:, trials]
        rows = np.empty((len(self), scores.shape[1]))
        rows[: len(scores)] = scores
        q = self.model_measures[:, self.models[trials]]
        r = self.segment_measures[:, self.segments[trials]]
        # Each entry below the diagonal stands for two of S in (30) of [1].
        for row, (i, j) in zip(rows[len(scores) :], self.entries, strict=True):
            np.multiply(q[i], r[j], out=row)
            if i != j:
                row += q[j] * r[i]
        return rows

    def keep(self, kept: BoolArray) -> "QualityDesign":
        """Return the design with some of the entries only."""
        chosen = zip(self.entries, kept, strict=True)
        return evolve(self, entries=tuple(entry for entry, flag in chosen if flag))


class QualitySolution(NamedTuple):
    """A trained quality fusion.

    `linear` has the weights of the systems, then those of the features. The last entry of
    `form`, which is on standardised measures, is 0, as the offset is apart.
    """

    linear: LinearSolution
    form: Float64Array


def form_entries(n_measures: int) -> tuple[tuple[int, int], ...]:
    """Return the entries of the form without the offset, those of a single measure first."""
    # Of redundant features the earlier are kept: better a term of one measure than a product.
    single = [(n_measures, j) for j in range(n_measures)]
    return (*single, *((i, j) for j in range(n_measures) for i in range(j, n_measures)))


def has_too_few_points(measures: FloatArray) -> bool:
    """Tell if a side, (q, ids), has fewer distinct columns than measures that vary, plus one."""
    left = measures
    for _ in range(np.count_nonzero(np.ptp(measures, axis=1))):
        left = left[:, (left != left[:, :1]).any(axis=0)]
        if not left.size:
            return True
    return False


def train_quality(
    objective: TrainingObjective, ridge: float, *, few_points: bool = False
) -> QualitySolution:
    r"""Train the weights of systems and form together.

    Both classes of the objective are a `QualityDesign`, on the same measures, with all entries
    of `form_entries`, and finite. `ridge` and warnings are those of `train_linear`; the
    features count like systems. A feature that is constant, or a linear combination of scores
    and earlier features, as it is when a measure does not vary on one side, gets the weight
    zero. What is left has one optimum.

    With `few_points` on a side measures are collinear by chance, not by what they are, and other
    ids will show it: only constant features are left out, and weights are the shortest.
    """
    _, covariance = pool_classes(*objective.moments())
    tar, non = cast("QualityDesign", objective.tar), cast("QualityDesign", objective.non)
    if few_points:
        kept = covariance.diagonal()[len(tar.scores) :] > _CONSTANT**2
    else:
        kept = _independent(covariance, len(tar.scores))
    tar, non = tar.keep(kept), non.keep(kept)
    reduced = evolve(
        objective,
        tar=cast("FloatArray", tar),
        non=cast("FloatArray", non),
        centre=np.zeros(len(tar)),
        spread=np.ones(len(tar)),
    )
    solution = train_linear(reduced, ridge=ridge, n_features=len(tar.entries))
    size = len(tar.model_measures)
    form = np.zeros((size, size))
    for weight, (i, j) in zip(solution.weights[len(tar.scores) :], tar.entries, strict=True):
        form[i, j] = form[j, i] = weight
    return QualitySolution(linear=solution, form=form)


def _independent(covariance: Float64Array, n_systems: int) -> BoolArray:
    """Tell which features vary, and not only with the systems and the features before them."""
    variance = covariance.diagonal()
    residual = covariance.copy()
    kept = np.zeros(variance.size, dtype=np.bool_)
    for index, total in enumerate(variance):
        own = residual[index, index]
        constant = index >= n_systems and total <= _CONSTANT**2
        if constant or own <= _REDUNDANT * total:
            continue
        kept[index] = True
        # What this input explains of the others is taken from their covariance.
        residual -= np.outer(residual[index], residual[index]) / own
    return kept[n_systems:]
