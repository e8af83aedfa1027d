"""The base of all trained maps: notes, saving, reading, applying, and notes of a training."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import BoolArray, Float64Array, FloatArray, Given, by_constructor
from bosaris_py._notes import Note, warn
from bosaris_py._validation import FilePath, as_path, invalid
from bosaris_py.files import models
from bosaris_py.numerics.newton import LinearSolution, Ridge, train_linear, train_nonnegative
from bosaris_py.numerics.priors import OperatingPoint
from bosaris_py.numerics.scoring import TrainingObjective, scoring_rule
from bosaris_py.trials import Conditions, Scores
from bosaris_py.trials.conditions import class_weights
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.scores import joined_scores

# Options by name: of a training, of a field, of a map in a file.
Options: TypeAlias = dict[str, Given]
Weights: TypeAlias = npt.ArrayLike | None

# Training on fewer trials of a class, or errors of a kind, is uncertain: theory paper, 2.1.2.
FEWEST = 30

# Scores are far outside those of the training if they are away by more than this share of
# their range.
_FAR = 0.2

# Scores that a map is applied to at once stay in the cache, where a look at the range costs little.
BLOCK = 1 << 16


# ---- Fields, which a file may damage: settings of attrs.field


def _field(convert: Callable[[Given, str], object], **settings: object) -> Options:
    """Return the settings of a field whose values are converted, or refused by its name."""
    converter: Given = attrs.Converter(
        lambda value, field: convert(value, field.name), takes_field=True
    )
    return {"converter": converter, **settings}


def _or_none(field: Options) -> Options:
    return {**field, "default": None, "converter": attrs.converters.optional(field["converter"])}


def _finite(values: npt.ArrayLike, name: str, n_dims: int) -> Float64Array:
    """Return a finite array that is read-only."""
    array = check.as_float_array(values, name).astype(np.float64)
    if array.ndim != n_dims or not array.size or not np.isfinite(array).all():
        raise invalid(name, f"be finite numbers in {n_dims} dimensions", check.describe(values))
    array.setflags(write=False)
    return array


def _number(value: object, name: str) -> float:
    return check.as_number(value, name, "be finite", math.isfinite)


def _count(value: object, name: str) -> int:
    return int(check.as_number(value, name, "be a count", lambda n: n >= 0 and n % 1 == 0))


NOTES: Options = {"default": (), "converter": tuple, "eq": False}
NUMBER = _field(_number)
NUMBER_OR_NONE = _or_none(NUMBER)
NOT_NEGATIVE = _field(check.as_nonnegative)
FRACTION = _field(check.check_fraction)
RULE = _field(lambda value, _: scoring_rule(value).name)
COUNT = _field(_count)
VECTOR = _field(lambda values, name: _finite(values, name, 1), eq=attrs.cmp_using(np.array_equal))
VECTOR_OR_NONE = _or_none(VECTOR)
MATRIX = _field(lambda values, name: _finite(values, name, 2), eq=attrs.cmp_using(np.array_equal))
MATRIX_OR_NONE = _or_none(MATRIX)


# ---- Maps


@attrs.frozen(kw_only=True, repr=False)
class Map:
    """A trained map, whose fields are all that a file has to keep, but for its notes."""

    # Whether spoofs are a class of their own.
    takes_spoofs: ClassVar[bool] = False

    notes: tuple[Note, ...] = attrs.field(**NOTES)

    def _told(self) -> Self:
        """Warn of what the training left to note."""
        warn(self.notes)
        return self

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

    def _content(self) -> Options:
        """Return the fields by name, as a file keeps them."""
        return attrs.asdict(self, filter=attrs.filters.exclude("notes"))

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
            message = f"{path}: expected {cls.__name__}; the file holds {check.safe(kind)}"
            raise errors.FileFormatError(message)
        return cls._built(parameters, path)

    @classmethod
    def _built(cls, parameters: Options, path: FilePath) -> Self:
        """Build a map of the parameters in a file, which an error then names."""
        try:
            return cls(**parameters)
        except (TypeError, errors.InvalidInputError) as error:
            message = f"{path}: damaged parameters of a {cls.__name__}: {error}"
            raise errors.FileFormatError(message) from error

    __reduce__ = by_constructor


class ScoreMap(Map):
    """A calibration: a map of each score to a log-likelihood-ratio."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def _trained(cls, *classes: Given, **options: Given) -> Self:
        """Train on targets and non-targets as `fit` does, without a warning."""

    @classmethod
    def fit_scores(
        cls,
        scores: Scores,
        key: Key,
        *,
        conditions: Conditions | None = None,
        tar_weights: Weights = None,
        non_weights: Weights = None,
        **options: Given,
    ) -> Self:
        """Train the map on the scores of the trials in a key.

        Parameters
        ----------
        scores : Scores
            Scores of at least some of the key's trials.
        key : Key
            Which trials are targets and which non-targets.
        conditions : Conditions, optional
            Train with the weights of these conditions, instead of in proportion to
            their numbers of trials; not together with weights of trials.
        tar_weights, non_weights : array_like of float, optional
            As for `fit`; weights of the scored trials, column by column of the key.
        **options
            As for `fit`.

        Returns
        -------
        object of this class

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score; they are left out.
        BosarisWarning
            As for `fit`.
        """
        weights = {"tar_weights": tar_weights, "non_weights": non_weights}
        return cls._trained_on(scores, key, conditions=conditions, **weights, **options)._told()

    @classmethod
    def _trained_on(
        cls, scores: Scores, key: Key, conditions: Conditions | None = None, **options: Given
    ) -> Self:
        """Train as `fit_scores` does, without a warning of the training."""
        key = as_key(key)
        *classes, missing = joined_scores(scores, key)
        trained = cls._trained(*classes, **weighted(options, conditions, key, scores))
        return attrs.evolve(trained, notes=(*missing, *trained.notes))

    def apply(self, x: Scores | npt.ArrayLike) -> Given:
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

        Warns
        -----
        ExtrapolationWarning
            If scores lie far outside those of the training, of a line.
        SuspectScoresWarning
            If these are the trials of the training, whose figures are too good.
        """
        found: list[Note] = []

        def mapped(scores: npt.ArrayLike) -> Float64Array:
            llrs, notes = self._mapped(check.as_vector(scores, "x"))
            found.extend(notes)
            return llrs

        if isinstance(x, Scores):
            result: object = x.transform(mapped)
        else:
            array = check.as_float_array(x, "x")
            result = mapped(array.ravel()).reshape(array.shape)[()]
        warn(found)
        return result

    @abstractmethod
    def _mapped(self, scores: FloatArray) -> tuple[Float64Array, list[Note]]:
        """Return the log-likelihood-ratios of scores, NaN refused, and notes on these."""


@attrs.frozen(kw_only=True, repr=False)
class TrainedMap(Map):
    """The record of a training by optimisation; `LinearCalibration` describes its fields."""

    prior: float = attrs.field(**FRACTION)
    objective: str = attrs.field(**RULE)
    objective_value: float = attrs.field(**NUMBER)
    ridge: float = attrs.field(**NOT_NEGATIVE)
    n_tar: int = attrs.field(**COUNT)
    n_non: int = attrs.field(**COUNT)

    def _describe_training(self) -> str:
        if not self.n_tar:
            return "given, not trained"
        ridge = f", ridge {self.ridge:.4g}" if self.ridge else ""
        return (
            f"{self.objective} {self.objective_value:.4g} at prior {self.prior:.4g}{ridge}, "
            f"{self.n_tar} targets, {self.n_non} non-targets"
        )


@attrs.frozen(kw_only=True, repr=False)
class LinearMap(TrainedMap):
    """A map to log-likelihood-ratios made of one weight for each system and an offset."""

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
        ridge: Ridge = "weak",
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
        ridge : float or "weak", default: "weak"
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
        options: Options = {"prior": prior, "objective": objective, "ridge": ridge}
        options |= {"tar_weights": tar_weights, "non_weights": non_weights}
        return cls._trained(tar, non, nonnegative=nonnegative, **options)._told()

    @classmethod
    def _trained(
        cls,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        *,
        ridge: Ridge = "weak",
        nonnegative: bool = False,
        tar_weights: Weights = None,
        non_weights: Weights = None,
        **options: Given,
    ) -> Self:
        """Train as `fit` does, without a warning."""
        check.check_class_rows(tar, non, tar_weights=tar_weights, non_weights=non_weights)
        classes = cls._as_systems(tar, "tar"), cls._as_systems(non, "non")
        options |= {"tar_weights": tar_weights, "non_weights": non_weights}
        training = TrainingObjective.from_scores(*classes, **options)
        train = train_nonnegative if nonnegative else train_linear
        return cls._from_training(training, train(training, ridge=ridge))

    @staticmethod
    @abstractmethod
    def _as_systems(scores: npt.ArrayLike, name: str) -> FloatArray:
        """Return the scores of one class as an array of the right shape."""

    @classmethod
    @abstractmethod
    def _from_training(cls, training: TrainingObjective, solution: LinearSolution) -> Self:
        """Build the map of weights that were found, with the record of the training."""


# The record of a map that was given.
NOT_TRAINED: Options = {
    **{"prior": 0.5, "objective": "cllr", "objective_value": 0.0},
    **{"ridge": 0.0, "n_tar": 0, "n_non": 0},
}


def record(training: TrainingObjective, solution: LinearSolution) -> Options:
    """Return the fields of a `TrainedMap`, and what is to note of the training."""
    n_tar, n_non = training.n_tar, training.n_non
    notes = few_trials(n_tar, n_non) or few_errors(training, solution)
    return {
        "prior": training.prior,
        "objective": training.rule.name,
        "objective_value": solution.objective_value,
        "ridge": solution.ridge,
        "n_tar": n_tar,
        "n_non": n_non,
        "notes": [*solution.notes, *notes],
    }


def few_errors(training: TrainingObjective, solution: LinearSolution) -> list[Note]:
    """Note a training, on data in memory, with few errors of a kind at its prior."""
    # Classes that are apart have none, which has been noted.
    is_apart = any(note.kind is errors.SeparableDataWarning for note in solution.notes)
    if is_apart or training.non.in_files or not solution.weights.any():
        return []
    limit = -training.plo
    found = {
        "misses": _some(training.tar.scores, solution, lambda llrs: llrs < limit),
        "false alarms": _some(training.non.scores, solution, lambda llrs: llrs >= limit),
    }
    if min(found.values()) >= FEWEST:
        return []
    counts = " and ".join(f"{count} {name}" for name, count in found.items() if count < FEWEST)
    text = (
        f"At prior {training.prior:.4g} the training data have {counts}; {FEWEST} of both kinds "
        "are needed."
    )
    advice, least = "Train on more trials.", min(found.values())
    return [Note(errors.FewTrainingErrorsWarning, text, count=least, advice=advice)]


def _some(
    scores: FloatArray, solution: LinearSolution, is_error: Callable[[Float64Array], BoolArray]
) -> int:
    """Count errors among fused scores, (n_systems, n_trials), until they are enough."""
    count = 0
    for begin in range(0, scores.shape[1], BLOCK):
        part = scores[:, begin : begin + BLOCK]
        wrong = is_error(weighted_sum(part, solution.weights, solution.offset))
        count += int(np.count_nonzero(wrong))
        if count >= FEWEST:
            break
    return count


def weighted(
    options: Options, conditions: Conditions | None, key: Key, scores: Scores | None = None
) -> Options:
    """Return the options of a training with the weights of conditions among them."""
    if conditions is None:
        return options
    given = options.get("tar_weights"), options.get("non_weights")
    tar_weights, non_weights = class_weights(conditions, *given, key, scores=scores)
    return {**options, "tar_weights": tar_weights, "non_weights": non_weights}


def few_trials(n_tar: int, n_non: int) -> list[Note]:
    """Note a training on few trials of a class."""
    if min(n_tar, n_non) >= FEWEST:
        return []
    text = f"Trained on {n_tar} targets and {n_non} non-targets; {FEWEST} of both are needed."
    advice = "Train on more trials, or take BoundedCalibration."
    count = min(n_tar, n_non)
    return [Note(errors.FewTrainingErrorsWarning, text, count=count, advice=advice)]


def training_trials(found: object) -> list[Note]:
    """Note that a map meets the trials of its training, if it does."""
    text = "The map was trained on these very trials: figures of the result are too good."
    advice = "Cross-fitting, or other trials, tell how good the map is."
    return [Note(errors.SuspectScoresWarning, text, advice=advice)] if found else []


@attrs.define
class Met:
    """The scores of a system that a map met, beside those of its training, if these are known.

    `low` and `high` are the range of the training, `lowest` and `highest` that of the scores.
    """

    low: float | None
    high: float | None
    n_scores: int = 0
    lowest: float = math.inf
    highest: float = -math.inf
    n_far: int = 0
    farthest: float = math.nan
    distance: float = 0.0

    def count(self, scores: FloatArray, lowest: float, highest: float) -> None:
        """Count scores, which go from the lowest to the highest."""
        self.n_scores += scores.size
        self.lowest, self.highest = min(self.lowest, lowest), max(self.highest, highest)
        if self.low is None or self.high is None or self.low == self.high:
            return
        # Of more trials than those of the training a few always lie a little outside.
        margin = _FAR * (self.high - self.low)
        if lowest >= self.low - margin and highest <= self.high + margin:
            return
        finite = scores[np.isfinite(scores)].astype(np.float64)
        outside = np.maximum(self.low - finite, finite - self.high)
        self.n_far += int(np.count_nonzero(outside > margin))
        if outside.size and (distance := float(outside.max())) > self.distance:
            self.farthest, self.distance = float(finite[outside.argmax()]), distance

    def is_all(self, n_trials: int) -> bool:
        """Tell whether these are so many scores of exactly the range of the training."""
        return self.n_scores == n_trials and (self.lowest, self.highest) == (self.low, self.high)

    def notes(self, about: str = "", advice: str = "") -> list[Note]:
        """Note scores far outside those of the training."""
        if not self.n_far or self.low is None or self.high is None:
            return []
        text = (
            f"{self.n_far} of {self.n_scores} scores lie far outside those of the training, "
            f"{self.low:.4g} to {self.high:.4g}; the farthest, {self.farthest:.4g}, by "
            f"{self.distance / (self.high - self.low):.2g} of their range."
        )
        return [Note(errors.ExtrapolationWarning, text, about, self.n_far, advice)]


def weighted_sum(
    scores: FloatArray | Sequence[FloatArray], weights: FloatArray, offset: float
) -> Float64Array:
    """Return an offset plus the scores of several systems, of one shape, times their weights."""
    # NaN where a score is, or where infinite ones contradict each other.
    llrs = term = None
    with np.errstate(invalid="ignore", over="ignore"):
        # Eq. 30 of the theory paper without quality. In the order of the systems, so that the
        # last bit is the same for blocks of any size.
        for weight, values in zip(weights, scores, strict=True):
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


def map_rows(
    scores: FloatArray, weights: FloatArray, offset: float, met: Sequence[Met]
) -> Float64Array:
    """Return weighted sums of scores, (n_systems, n_trials), which are counted; refuse NaN."""
    llrs = np.empty(scores.shape[1])
    for begin in range(0, llrs.size, BLOCK):
        part = scores[:, begin : begin + BLOCK]
        for system, (row, one) in enumerate(zip(part, met, strict=True), start=1):
            lowest, highest = float(row.min()), float(row.max())
            # The maximum of an array is NaN if anything is.
            if math.isnan(highest):
                check.refuse_nan(scores[system - 1], f"x, system {system}," if met[1:] else "x")
            one.count(row, lowest, highest)
        llrs[begin : begin + BLOCK] = weighted_sum(part, weights, offset)
    return llrs
