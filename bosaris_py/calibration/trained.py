"""Base classes of trained maps: the record of the training, saving, and applying to files."""

from __future__ import annotations

import functools
import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias, overload

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import errors
from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    FloatArray,
    Number,
    by_constructor,
    read_only,
)
from bosaris_py._html import card
from bosaris_py._notes import warn_caller
from bosaris_py._parallel import progress_bar
from bosaris_py._validation import (
    FilePath,
    as_float_array,
    as_path,
    as_vector,
    check_class_rows,
    check_fraction,
    describe,
    invalid,
    refuse_nan,
    safe,
)
from bosaris_py.files import hdf5, models
from bosaris_py.files.columns import trial_codes
from bosaris_py.files.replacing import refuse_inputs
from bosaris_py.files.rows import is_list
from bosaris_py.numerics.newton import (
    LinearSolution,
    Ridge,
    ridge_strengths,
    train_linear,
    train_nonnegative,
    warn_of_few_errors,
)
from bosaris_py.numerics.objective import (
    ClassMoments,
    ClassSums,
    LinearLoss,
    TrainingObjective,
    class_moments,
    merge_moments,
    merge_sums,
)
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring import resolve_prior, scoring_rule
from bosaris_py.trials import Conditions, Ndx, Scores
from bosaris_py.trials.conditions import class_weights
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.large import (
    KEPT,
    FileTrials,
    TrialFiles,
    evenly,
    open_trials,
    read_list,
    refuse_missing,
)
from bosaris_py.trials.scores import assemble, class_scores

Validator: TypeAlias = Callable[..., Any]
Weights: TypeAlias = npt.ArrayLike | None
# Arguments of attrs.field.
Field: TypeAlias = dict[str, Any]
# What maps the scores of several systems, of one shape, to log-likelihood-ratios.
Combine: TypeAlias = Callable[[Sequence[FloatArray]], Float64Array]

_HDF5 = (".h5", ".hdf5")


# Scores are far outside those of the training if they are away by more than this share of
# their range.
_FAR = 0.2

# Scores that a map is applied to at once.
BLOCK = 1 << 16


@attrs.frozen(repr=False)
class SavedMap:
    """A trained map whose fields are all that a file has to keep."""

    def save(self, path: FilePath) -> None:
        """Write the map and how it was trained to a JSON file.

        Parameters
        ----------
        path : str or path-like
            File to write, ending in ``.json`` in upper or lower case; replaced as a
            whole if it exists.
        """
        if as_path(path).suffix.lower() != ".json":
            raise invalid("path", "end in .json", repr(str(path)))
        models.write(path, {"kind": type(self).__name__, **self._content()})

    def _repr_html_(self) -> str:
        """Show the map, and the weight of each system."""
        return card(repr(self), rows=self._figures())

    def _figures(self) -> list[tuple[str, str]]:
        return []

    def _content(self) -> dict[str, Any]:
        """Return the fields by name."""
        return attrs.asdict(self)

    @classmethod
    def read(cls, path: FilePath) -> Self:
        """Read a map that `save` has written.

        Parameters
        ----------
        path : str or path-like
            File to read, whatever its name.

        Returns
        -------
        object of this class
            Equal to the one that was saved, to the last bit.

        Raises
        ------
        FileFormatError
            If the file holds something else.
        """
        kind, parameters = models.read(path)
        if kind != cls.__name__:
            message = f"{path}: expected {cls.__name__}; the file holds {safe(kind)}"
            raise errors.FileFormatError(message)
        return cls.built(parameters, path)

    @classmethod
    def built(cls, parameters: dict[str, Any], path: FilePath) -> Self:
        """Build a map of the parameters in a file, which an error then names."""
        try:
            return cls(**parameters)
        except (TypeError, errors.InvalidInputError) as error:
            message = f"{path}: damaged parameters of a {cls.__name__}: {error}"
            raise errors.FileFormatError(message) from error

    __reduce__ = by_constructor


class ScoreMap(ABC):
    """A map of each score to a log-likelihood-ratio."""

    __slots__ = ()

    @overload
    def apply(self, x: Scores) -> Scores: ...
    @overload
    def apply(self, x: Number) -> float: ...
    @overload
    def apply(self, x: npt.ArrayLike) -> Float64Array: ...
    def apply(self, x: Scores | npt.ArrayLike) -> Scores | float | Float64Array:
        """Turn scores into log-likelihood-ratios.

        Parameters
        ----------
        x : array_like of float, any shape, or Scores
            Scores; no NaN, +-inf allowed.

        Returns
        -------
        ndarray of float64, float, or Scores
            Natural-log likelihood-ratios, the same kind and shape as `x`. Of a
            Scores only what the mask shows is calibrated.
        """
        if isinstance(x, Scores):
            return x.transform(self._checked_llrs)
        scores = as_float_array(x, "x")
        return self._checked_llrs(scores.ravel()).reshape(scores.shape)[()]

    def _checked_llrs(self, scores: npt.ArrayLike) -> Float64Array:
        values = as_vector(scores, "x")
        refuse_nan(values, "x")
        return self._llrs(values)

    @abstractmethod
    def _llrs(self, scores: FloatArray) -> Float64Array:
        """Return the log-likelihood-ratios of scores that are not NaN."""


@attrs.define
class FarScores:
    """How many scores lie far outside those of the training, from `low` to `high` if known."""

    low: float | None
    high: float | None
    n_scores: int = 0
    n_far: int = 0
    farthest: float = math.nan
    distance: float = 0.0

    def count(self, scores: FloatArray, ends: tuple[float, float]) -> None:
        """Count scores, which go from end to end."""
        self.n_scores += scores.size
        if self.low is None or self.high is None or self.low == self.high:
            return
        # Of more trials than those of the training a few always lie a little outside.
        margin = _FAR * (self.high - self.low)
        if ends[0] >= self.low - margin and ends[1] <= self.high + margin:
            return
        finite = scores[np.isfinite(scores)].astype(np.float64)
        outside = np.maximum(self.low - finite, finite - self.high)
        if n_far := int(np.count_nonzero(outside > margin)):
            self.n_far += n_far
            at = int(np.argmax(outside))
            if outside[at] > self.distance:
                # Python's floats, which become infinite without a warning.
                self.farthest, self.distance = float(finite[at]), float(outside[at])

    def __str__(self) -> str:
        assert self.low is not None, "some are far from it"
        assert self.high is not None, "likewise"
        return (
            f"{self.n_far} of {self.n_scores} scores lie far outside those of the training, "
            f"{self.low:.4g} to {self.high:.4g}; the farthest, {self.farthest:.4g}, by "
            f"{self.distance / (self.high - self.low):.2g} of their range"
        )


class LineMap(ScoreMap):
    """A line, which goes on beyond the scores of the training."""

    __slots__ = ()

    scale: float
    offset: float
    low_score: float | None
    high_score: float | None

    def _checked_llrs(self, scores: npt.ArrayLike) -> Float64Array:
        values = as_vector(scores, "x")
        llrs = np.empty(values.size)
        limits: list[float] = []
        # In blocks that stay in the cache, where a look at the range costs little.
        for begin in range(0, values.size, BLOCK):
            part, mapped = values[begin : begin + BLOCK], llrs[begin : begin + BLOCK]
            limits += [part.min(), part.max()]
            # The maximum of an array is NaN if anything is.
            if math.isnan(limits[-1]):
                refuse_nan(values, "x")
            # Zero times an infinite score is no evidence, not NaN.
            if self.scale:
                with np.errstate(over="ignore"):
                    np.multiply(part, self.scale, out=mapped, dtype=np.float64)
                mapped += self.offset
            else:
                mapped.fill(self.offset)
        if limits:
            far = FarScores(self.low_score, self.high_score)
            far.count(values, (min(limits), max(limits)))
            self._warn_of_far(far)
        return llrs

    def _line(self) -> str:
        """Return the equation of the line."""
        sign = "-" if self.offset < 0 else "+"
        return f"llr = {self.scale:.4g} * score {sign} {abs(self.offset):.4g}"

    @staticmethod
    def _warn_of_far(far: FarScores) -> None:
        """Warn of scores far outside those of the training, if there are any."""
        if far.n_far:
            advice = "There the map is a line that no trial supports; BoundedCalibration limits it."
            warn_caller(f"{far}.", errors.ExtrapolationWarning, advice, count=far.n_far)

    def _llrs(self, scores: FloatArray) -> Float64Array:
        return weighted_sum([scores], [self.scale], self.offset)


class TrialMap(ScoreMap):
    """A map that is trained on lists of scores, hence on the scores of a key's trials."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def fit(cls, *args: Any, **kwargs: Any) -> Self:
        """Train on targets and non-targets."""

    @classmethod
    def fit_scores(
        cls,
        scores: Scores,
        key: Key,
        *,
        conditions: Conditions | None = None,
        tar_weights: Weights = None,
        non_weights: Weights = None,
        **options: Any,
    ) -> Self:
        """Train the map on the scores of the trials in a key.

        Parameters
        ----------
        scores, key, conditions, tar_weights, non_weights
            As for `LinearCalibration.fit_scores <bosaris_py.LinearCalibration.fit_scores>`.
        **options
            As for `fit`.

        Returns
        -------
        object of this class

        Warns
        -----
        MissingTrialsWarning
            As for `LinearCalibration.fit_scores`.
        """
        weights = {"tar_weights": tar_weights, "non_weights": non_weights}
        trained: Self = fit_on_trials(cls, scores, key, conditions, **weights, **options)
        return trained


def fit_on_trials(
    cls: Any, scores: Scores, key: Key, conditions: Conditions | None, **options: Any
) -> Any:
    """Train by the ``fit`` of a class on the scored trials of a key, weighted by conditions."""
    key = as_key(key)
    classes = class_scores(scores, key)
    given = options.get("tar_weights"), options.get("non_weights")
    tar_weights, non_weights = class_weights(conditions, *given, key, scores=scores)
    options |= {"tar_weights": tar_weights, "non_weights": non_weights}
    return cls.fit(*classes, **options)


def _to_number(value: Any) -> Any:
    """Convert a real number to a float; leave whatever else it is to the validator."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    # Python would convert text and booleans, too; in a file of parameters they are damage.
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return value
    try:
        return float(value)
    except OverflowError:  # an integer too large for a float
        return math.inf if abs(value) == value else -math.inf


def _as_array(values: npt.ArrayLike, field: "attrs.Attribute[Any]") -> Float64Array:
    """Convert an array, or nested lists, of real numbers as in `_to_number`; refuse all else."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return read_only(values.astype(np.float64, copy=False))
    name = field.name
    try:
        items = np.array(values, dtype=object)
    except ValueError:
        raise invalid(name, "be a regular array of numbers", describe(values)) from None
    floats = [_to_number(item) for item in items.ravel().tolist()]
    others = [item for item in floats if not isinstance(item, float)]
    if others:
        raise invalid(name, "hold real numbers", f"among others {describe(others[0])}")
    return read_only(np.array(floats, dtype=np.float64).reshape(items.shape))


def _must(expected: str, is_good: Callable[[Any], bool]) -> Validator:
    """Return a validator of an attrs field, which refuses values that are not good."""

    def check(instance: object, attribute: "attrs.Attribute[Any]", value: Any) -> None:
        if not is_good(value):
            found = describe(value.tolist() if isinstance(value, np.ndarray) else value)
            raise invalid(attribute.name, expected, found)

    return check


def _check_range(instance: Any, attribute: "attrs.Attribute[Any]", high: Any) -> None:
    if instance.low_score is not None and high < instance.low_score:
        expected = f"not be below `low_score`, {instance.low_score:g}"
        raise invalid(attribute.name, expected, f"{high:g}")


def _optional(field: Field) -> Field:
    """Return the settings of a field that may be None."""
    converter = attrs.converters.optional(field["converter"])
    return {
        **field,
        "converter": converter,
        "validator": attrs.validators.optional(field["validator"]),
    }


def _is_finite(array: Float64Array, n_dims: int) -> bool:
    return bool(array.ndim == n_dims and array.size and np.isfinite(array).all())


# Settings of fields, by what they hold. Numbers have passed `_to_number`, so that whatever is no
# float is no number; and True is an int, but no count.
_finite = _must("be a finite number", lambda x: isinstance(x, float) and math.isfinite(x))
_text = _must("be the name of a scoring rule", lambda name: isinstance(name, str))
_sign = _must("not be negative", lambda x: bool(x >= 0))
NUMBER: Field = {"converter": _to_number, "validator": _finite}
NOT_NEGATIVE: Field = {"converter": _to_number, "validator": [_finite, _sign]}
NUMBER_OR_NONE: Field = {"default": None, **_optional(NUMBER)}
# The upper end of a range whose lower end is `low_score`.
HIGH: Field = NUMBER | {"validator": (_finite, _check_range)}
HIGH_OR_NONE: Field = {"default": None, **_optional(HIGH)}
COUNT: Field = {"validator": _must("be a count of at least 1", lambda n: type(n) is int and n >= 1)}
# Of a map that was given, not trained, there are no trials.
COUNT_OR_NONE: Field = {"validator": _must("be a count", lambda n: type(n) is int and n >= 0)}

# Read-only arrays of float64, made of lists from JSON as well, and compared by their content.
_to_array: Any = attrs.Converter(_as_array, takes_field=True)
_same: Field = {"eq": attrs.cmp_using(eq=np.array_equal)}
_vector = _must("be a vector of finite numbers", lambda a: _is_finite(a, 1))
_matrix = _must("be a matrix of finite numbers", lambda a: _is_finite(a, 2))
VECTOR: Field = {**_same, "converter": _to_array, "validator": _vector}
VECTOR_OR_NONE: Field = {"default": None, **_optional(VECTOR)}
MATRIX: Field = {**_same, "converter": _to_array, "validator": _matrix}
MATRIX_OR_NONE: Field = _optional(MATRIX)


@attrs.frozen(kw_only=True, repr=False)
class TrainedMap(SavedMap):
    """The record of a training by optimisation; `LinearCalibration` describes its fields."""

    prior: float = attrs.field(**NUMBER)
    objective: str = attrs.field(validator=_text)
    objective_value: float = attrs.field(**NUMBER)
    ridge: float = attrs.field(**NOT_NEGATIVE)
    n_tar: int = attrs.field(**COUNT_OR_NONE)
    n_non: int = attrs.field(**COUNT_OR_NONE)

    def __attrs_post_init__(self) -> None:
        """Refuse a prior that is none, an unknown scoring rule, and trials of one class."""
        check_fraction(self.prior, "prior")
        if bool(self.n_tar) != bool(self.n_non):
            name = "non" if self.n_tar else "tar"
            raise invalid(f"n_{name}", "be a count of at least 1", "0")
        scoring_rule(self.objective)

    def _describe_training(self) -> str:
        if not self.n_tar:
            return "given, not trained"
        ridge = f", ridge {self.ridge:.4g}" if self.ridge else ""
        return (
            f"{self.objective} {self.objective_value:.4g} at prior {self.prior:.4g}{ridge}, "
            f"{self.n_tar} targets, {self.n_non} non-targets"
        )


@attrs.frozen(kw_only=True, repr=False)
class LinearMap(TrainedMap, ABC):
    """A map to log-likelihood-ratios made of one weight for each system and an offset."""

    # Whether trials without score are refused, which are otherwise left out with a warning.
    _needs_all: ClassVar[bool]

    @classmethod
    def fit(
        cls,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        tar_weights: Weights = None,
        non_weights: Weights = None,
        ridge: Ridge = 0.0,
        nonnegative: bool = False,
    ) -> Self:
        r"""Train a calibration's scale, or a fusion's weights, and the offset.

        Parameters
        ----------
        tar : (n_tar,) or, of a fusion, (n_systems, n_tar) array_like of float
            Target scores, finite; each column of a matrix holds the scores of one trial.
        non : (n_non,) or, of a fusion, (n_systems, n_non) array_like of float
            Non-target scores, likewise.
        prior : float or OperatingPoint, default: 0.5
            Prior probability of a target at which the log-likelihood-ratios shall serve best; of an
            operating point the effective prior. The share of targets in training does not matter.
        objective : {"cllr", "brier", "boost"}, default: "cllr"
            The proper scoring rule to minimise, in any case. "boost" does not depend on the prior.
        tar_weights, non_weights : (n_tar,), (n_non,) array_like of float, optional
            Trial weights; only their proportions within a class matter.
        ridge : float or "weak", default: 0.0
            Strength r of a penalty :math:`r/2 \sum_k (w_k d_k)^2` on the scale or weights,
            d_k the standard deviation of system k's scores, both classes counting the same. "weak",
            for few trials, is a ridge of 0.01/n, n the number of trials of the smaller class, and
            a penalty :math:`m^2/(2n)` on the log-likelihood-ratio m midway between the classes.
        nonnegative : bool, default: False
            Allow no negative weight: systems that would get one are left out, with weight 0.

        Returns
        -------
        object of this class

        Warns
        -----
        SeparableDataWarning
            If some weights put no target below a non-target, so that no finite optimum exists. The
            result is that of a penalty v / (2n), v the variance of the log-likelihood-ratios and n
            the number of trials of the smaller class (of a calibration a ridge of 1/n): they stay
            near the log(n) that so few trials can support.
        ConvergenceWarning
            If a system is constant (its weight is 0; of a calibration the offset is 0, too, as in
            the toolkit), if systems are collinear (the shortest of the equally good standardised
            weights are returned), or with "brier" if hard decisions are best, or if the prior is so
            close to 0 or 1 (1e-10) that lower values may have been missed.
        SuspectScoresWarning
            If the scale of a calibration is negative, or the targets of a system to fuse score far
            lower than the non-targets: labels swapped, or distances for scores? Also if there are
            more systems than trials of both classes: arrays transposed?
        FewTrainingErrorsWarning
            If a prior other than the default 0.5 is named, without a ridge, and with Bayes
            decisions at it the trained map makes fewer than 30 errors of a kind on data in memory
            (theory paper, section 2.1.2). The default names no operating point.

        Notes
        -----
        Minimises

        .. math::

            \frac{1}{H(\pi)} \Bigl[ \frac{\pi}{\sum u_i} \sum_{tar} u_i\, C(-s_i - \theta)
            + \frac{1-\pi}{\sum v_j} \sum_{non} v_j\, C(s_j + \theta) \Bigr]
            + \frac{r}{2} \sum_k (w_k d_k)^2,

        with :math:`s = w^T x + b`, :math:`\theta = \mathrm{logit}\,\pi` and the loss C and the
        entropy H of the objective [1]_. Trust-region Newton on standardised scores, from the
        optimum of a subset. Memory beyond the input is a megabyte or two. The brier objective is
        not convex. It is minimised from the optimum of cllr, from zero and, of one system, from
        hard decisions; the best result is kept.

        References
        ----------
        .. [1] N. Brummer and G. Doddington, "Likelihood-ratio calibration using prior-weighted
           proper scoring rules", Interspeech 2013.
        """
        check_class_rows(tar, non, tar_weights=tar_weights, non_weights=non_weights)
        classes = cls._as_systems(tar, "tar"), cls._as_systems(non, "non")
        training = TrainingObjective.from_scores(
            *classes,
            prior=prior,
            objective=objective,
            tar_weights=tar_weights,
            non_weights=non_weights,
        )
        if nonnegative:
            return cls._of_training(train_nonnegative(training, ridge=ridge), training)
        return cls._train(training, ridge)

    @staticmethod
    @abstractmethod
    def _as_systems(scores: npt.ArrayLike, name: str) -> FloatArray:
        """Return the scores of one class as an array of the right shape."""

    @classmethod
    @abstractmethod
    def _from_solution(cls, solution: LinearSolution, **training: Any) -> Self:
        """Build the map of weights that were found, with the record of the training."""

    @classmethod
    def _fit_files(
        cls,
        scores: Sequence[FilePath],
        key_file: FilePath,
        where: Mapping[str, Any],
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        ridge: Ridge = 0.0,
    ) -> Self:
        """Train on files of scores."""
        # Arguments are checked before files are opened and read for minutes.
        ridge_strengths(ridge, 1)
        rule = scoring_rule(objective)
        probability, plo = resolve_prior(prior)
        files = TrialFiles.open([(scores, as_path(key_file, "key_file"))], **where)
        summarise = functools.partial(_summary, step=files.step(KEPT))
        tar, n_non, found = files.first_pass(
            summarise, "training scores", all_scored=cls._needs_all
        )
        moments, sizes, some = zip(*found, strict=True)
        non = np.concatenate(some, axis=1)
        training = TrainingObjective(
            rule=rule,
            prior=probability,
            plo=plo,
            tar=tar,
            non=non,
            n_non=n_non,
            sum_non=None if non.shape[1] == n_non else functools.partial(_sum_losses, files, n_non),
            in_files=(class_moments(tar), merge_moments(moments, sizes)),
        )
        return cls._train(training, ridge)

    @classmethod
    def _train(cls, training: TrainingObjective, ridge: Ridge) -> Self:
        return cls._of_training(train_linear(training, ridge=ridge), training)

    @classmethod
    def _of_training(cls, solution: LinearSolution, training: TrainingObjective) -> Self:
        """Build the map of weights that were found."""
        warn_of_few_errors(solution, training)
        return cls._from_solution(
            solution,
            prior=training.prior,
            objective=training.rule.name,
            objective_value=solution.objective_value,
            ridge=solution.ridge,
            n_tar=training.n_tar,
            n_non=training.n_non,
        )


def weighted_sum(
    scores: Sequence[FloatArray], weights: npt.ArrayLike, offset: float
) -> Float64Array:
    """Return an offset plus the scores of several systems, of one shape, times their weights."""
    # NaN where a score is, or where infinite ones contradict each other.
    llrs = term = None
    with np.errstate(invalid="ignore", over="ignore"):
        # Eq. 30 of the theory paper without quality. In the order of the systems, so that the
        # last bit is the same for blocks of any size.
        for weight, values in zip(np.asarray(weights, dtype=np.float64), scores, strict=True):
            # Zero times an infinite score is no evidence, not NaN.
            if weight == 0.0:
                continue
            if llrs is None:
                llrs = np.multiply(values, weight, dtype=np.float64)
                llrs += offset
            else:
                term = np.multiply(values, weight, out=term, dtype=np.float64)
                llrs += term
    return np.full(scores[0].shape, offset) if llrs is None else llrs


def _summary(scores: FloatArray, step: int) -> tuple[ClassMoments, int, FloatArray]:
    """Return the moments and the number of non-targets, (n_systems, n), and some of them."""
    return class_moments(scores), scores.shape[1], evenly(scores, step)


def _sum_losses(files: TrialFiles, n_non: int, loss: LinearLoss) -> ClassSums:
    """Sum a loss over all non-targets in files."""
    total = merge_sums(files.sums(loss.sum, f"objective ({loss.rule.name})"))
    if total.total != n_non:
        found = f"a pass found {total.total:.0f} non-targets, the first {n_non}"
        raise errors.FileFormatError(f"{found}: a file has changed meanwhile")
    return total


def write_llrs(
    score_files: Sequence[FilePath],
    trial_file: FilePath | None,
    output_file: FilePath,
    combine: Combine,
    in_memory: Callable[[list[Scores], Key | Ndx | None], Scores],
    far: Sequence[FarScores],
    *,
    needs_all: bool,
    progress: bool,
) -> None:
    """Write what a map makes of the scores in files into another file; count those far off.

    Without `trial_file` all scores of the one system are written. Trials without score are refused
    if all are needed, and warned of otherwise. Where all files are lists, `in_memory` maps them.
    """
    if Path(as_path(output_file, "output_file")).suffix.lower() not in _HDF5:
        raise invalid("output_file", f"end in {' or '.join(_HDF5)}", repr(str(output_file)))
    trials = [] if trial_file is None else [as_path(trial_file, "ndx_file")]
    refuse_inputs(output_file, (*score_files, *trials), "output_file")
    listed = read_list(trials[0]) if trials and is_list(trials[0]) else None
    if all(map(is_list, [*score_files, *trials])):
        in_memory([Scores.read(path) for path in score_files], listed).save_hdf5(output_file)
        return
    files = open_trials(score_files, trials[0] if trials else None)
    mapped = _mapped(files, combine, far, needs_all=needs_all, progress=progress)
    if listed is None:
        hdf5.write_rows(output_file, mapped, files.ids)
        return
    cells, llrs = [], []
    for rows, values, mask in mapped:
        models, segments = np.nonzero(mask)
        cells.append(trial_codes(models + rows.start, segments, listed.shape[0]))
        llrs.append(values[mask])
    codes = np.concatenate(cells)
    found = (
        None
        if codes.size == listed.n_trials
        else np.isin(trial_codes(*listed.trial_positions(), listed.shape[0]), codes)
    )
    in_order = np.concatenate(llrs)[np.argsort(codes)]
    assemble(in_order, listed, found).save_hdf5(output_file)


def _mapped(
    files: FileTrials,
    combine: Combine,
    far: Sequence[FarScores],
    *,
    needs_all: bool,
    progress: bool,
) -> Iterator[tuple[slice, Float64Array, BoolArray]]:
    """Yield rows, their log-likelihood-ratios, and where there are any."""
    counts, nan, contradictions = [], [], []
    cut = files.cut()
    bar = progress_bar(files.read(cut), total=len(cut), desc="scores", shown=progress)
    for rows, block in zip(cut, bar, strict=True):
        mask = block.scored != 0
        # What lies where there is no trial may be anything.
        llrs = np.where(mask, combine(block.scores), 0.0)
        for each, values in zip(far, block.scores, strict=True):
            if mask.any():
                each.count(values[mask], (values[mask].min(), values[mask].max()))
        counts.append(block.counts())
        nan.append(block.nan())
        contradictions.append(block.nan([llrs]))
        yield rows, llrs, mask
    # Raised here, while the output is not complete, so that it never appears.
    files.refuse_nan(np.concatenate(nan))
    total = np.sum(counts, axis=0)
    if needs_all:
        refuse_missing(total)
    bad = np.concatenate(contradictions)
    if len(bad):
        first = f"({files.ids[0][bad[0, 0]]}, {files.ids[1][bad[0, 1]]})"
        n_trials = int(total[2] + total[3])
        where = f"{len(bad)} of {n_trials} trials, the first {first}"
        found = f"infinite evidence for and against at {where}"
        raise invalid("score_files", "not contradict each other", found)
    files.warn_missing(total)
