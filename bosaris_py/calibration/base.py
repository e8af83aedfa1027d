"""The base of all trained maps: their fields, files and notes, and how they meet scores."""

from __future__ import annotations

import functools
import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import ClassVar, Self

import attrs
import numpy as np

from bosaris_py import _arrays as arrays, _validation as check, errors
from bosaris_py._arrays import ArrayLike, BoolArray, FilePath, FloatArray, Given, Weighting
from bosaris_py._parallel import progress_bar
from bosaris_py.files import hdf5, models
from bosaris_py.files.columns import trial_codes
from bosaris_py.files.hdf5 import is_list
from bosaris_py.files.replacing import refuse_inputs
from bosaris_py.numerics import OperatingPoint, newton, scoring as losses
from bosaris_py.numerics.newton import LinearSolution, Ridge
from bosaris_py.trials import Key, Scores, large
from bosaris_py.trials.conditions import ConditionsLike, class_weights
from bosaris_py.trials.scores import assemble, joined_scores

# Options by name: of a training, of a field, of a map in a file.
Options = dict[str, Given]
# Scores of several systems, of one shape.
Rows = FloatArray | Sequence[FloatArray]
# Log-likelihood-ratios, and notes on the scores.
Mapped = tuple[FloatArray, list[errors.Note]]

# Training on fewer trials of a class, or errors of a kind, is uncertain: theory paper, 2.1.2.
FEWEST = 30

# Scores are far outside those of the training if they are away by more than this share of
# their range.
_FAR = 0.2


# ---- Fields, which a file may damage: settings of attrs.field


def _field(convert: Callable[[Given, str], object], **settings: object) -> Options:
    """Return the settings of a field whose values are converted, or refused by its name."""
    converter: Given = attrs.Converter(
        lambda value, field: convert(value, field.name), takes_field=True
    )
    return {"converter": converter, **settings}


def _or_none(field: Options) -> Options:
    return {**field, "default": None, "converter": attrs.converters.optional(field["converter"])}


def _array(n_dims: int) -> Options:
    """Return the settings of a field that is a finite array, read-only."""

    def finite(values: ArrayLike, name: str) -> FloatArray:
        array = check.as_float_array(values, name).astype(np.float64)
        if array.ndim != n_dims or not array.size or not np.isfinite(array).all():
            raise check.invalid(name, f"be finite, in {n_dims} dimensions", check.describe(values))
        array.setflags(write=False)
        return array

    return _field(finite, eq=attrs.cmp_using(np.array_equal))


def number(expected: str, is_allowed: Callable[[float], bool]) -> Options:
    """Return the settings of a field that is a number."""
    return _field(lambda value, name: check.as_number(value, name, expected, is_allowed))


def _count(value: object, name: str) -> int:
    return int(check.as_number(value, name, "be a count", lambda n: n >= 0 and n % 1 == 0))


def part(*kinds: type[Map]) -> Options:
    """Return the settings of a field that is a map, built of its fields if it comes from a file."""
    named = {kind.__name__: kind for kind in kinds}

    def built(value: Given, name: str) -> Map:
        if isinstance(value, dict):
            fields = {"kind": kinds[0].__name__, **value}
            kind = named.get(fields.pop("kind"))
            value = value if kind is None else kind._from_fields(fields)
        if type(value) not in kinds:
            raise check.invalid(name, f"be one of {', '.join(named)}", check.describe(value))
        return value  # type: ignore[no-any-return]

    return _field(built)


NOTES: Options = {"default": (), "converter": tuple, "eq": False}
NUMBER = number("be finite", math.isfinite)
NUMBER_OR_NONE = _or_none(NUMBER)
NOT_NEGATIVE = _field(check.as_nonnegative)
FRACTION = _field(check.check_fraction)
RULE = _field(lambda value, _: losses.scoring_rule(value).name)
COUNT = _field(_count)
VECTOR, MATRIX = _array(1), _array(2)
VECTOR_OR_NONE, MATRIX_OR_NONE = _or_none(VECTOR), _or_none(MATRIX)
NAMES_OR_NONE = _or_none(_field(lambda names, name: tuple(map(str, check.listed(names, name)))))


# ---- Maps


@attrs.frozen(kw_only=True, repr=False)
class Map:
    """A trained map, whose fields are all that a file has to keep, but for its notes."""

    # Whether spoofs are a class of their own.
    takes_spoofs: ClassVar[bool] = False
    takes_qualities: ClassVar[bool] = False

    notes: tuple[errors.Note, ...] = attrs.field(**NOTES)

    def _with_warnings(self) -> Self:
        """Warn of what the training left to note."""
        errors.warn(self.notes)
        return self

    def save(self, path: FilePath) -> None:
        """Write the map and how it was trained to a JSON file.

        Parameters
        ----------
        path : str or path-like
            File to write, ending in ``.json`` in upper or lower case; replaced as a
            whole if it exists.
        """
        if check.as_path(path).suffix.lower() != ".json":
            raise check.invalid("path", "end in .json", repr(str(path)))
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
            return cls._from_fields(parameters)
        except errors.InvalidInputError as error:
            # Fields of a file are no arguments.
            fault = str(error).replace("`", '"')
            message = f"{path}: damaged parameters of a {cls.__name__}: {fault}"
            raise errors.FileFormatError(message) from error

    @classmethod
    def _from_fields(cls, fields: Options) -> Self:
        """Build a map of its fields, of which none may be missing or unknown."""
        known = {field.name: field.default for field in attrs.fields(cls) if field.name != "notes"}
        needed = {name for name, default in known.items() if default is attrs.NOTHING}
        faults = {"lacks": needed - fields.keys(), "has no": fields.keys() - known.keys()}
        if lacks := [f"{word} {check.list_some(sorted(x), 20)}" for word, x in faults.items() if x]:
            raise errors.InvalidInputError(f"a {cls.__name__} {' and '.join(lacks)}")
        return cls(**fields)

    __reduce__ = arrays.by_constructor


class ScoreMap(Map):
    """A calibration: a map of each score to a log-likelihood-ratio."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def _trained(cls, *classes: Given, **options: Given) -> Self:
        """Train on targets and non-targets as `fit` does, without a warning."""

    @classmethod
    def fit_scores(
        cls, scores: Scores, key: Key, *, conditions: ConditionsLike = None, **options: Given
    ) -> Self:
        """Train the map on the scores of the trials in a key.

        Parameters
        ----------
        scores : Scores
            Scores of at least some of the key's trials.
        key : Key
            Which trials are targets and which non-targets.
        conditions : str, list of str or Conditions, optional
            Train with the weights of these conditions, or of columns of the key, instead of in
            proportion to their numbers of trials; not together with weights of trials.
        **options
            As for `fit`; weights of the scored trials, column by column of the key.

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
        return cls._trained_on(scores, key, conditions=conditions, **options)._with_warnings()

    @classmethod
    def _trained_on(cls, scores: Scores, key: Key, **options: Given) -> Self:
        """Train as `fit_scores` does, without a warning of the training."""
        *classes, missing = joined_scores(scores, key)
        trained = cls._trained(*classes, **weighted(options, key, scores))
        return attrs.evolve(trained, notes=(*missing, *trained.notes))

    def apply(self, x: Scores | ArrayLike) -> Given:
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
        SuspectScoresWarning
            If scores lie far outside those of the training, of a line, or if these are the trials
            of the training, whose figures are too good.
        """
        found: list[errors.Note] = []

        def mapped(scores: ArrayLike) -> FloatArray:
            llrs, notes = self._mapped(check.as_vector(scores, "x"))
            found.extend(notes)
            return llrs

        if isinstance(x, Scores):
            result: object = x.transform(mapped)
        else:
            array = check.as_float_array(x, "x")
            result = mapped(array.ravel()).reshape(array.shape)[()]
        errors.warn(found)
        return result

    @abstractmethod
    def _mapped(self, scores: FloatArray) -> Mapped:
        """Return the log-likelihood-ratios of scores, NaN refused, and notes on these."""


def weighted(options: Options, key: Key, scores: Scores | None = None) -> Options:
    """Return the options of a training with weights of trials in place of conditions."""
    if (conditions := options.pop("conditions", None)) is None:
        return options
    given = options.get("tar_weights"), options.get("non_weights")
    tar_weights, non_weights = class_weights(conditions, *given, key, scores=scores)
    return {**options, "tar_weights": tar_weights, "non_weights": non_weights}


def few_trials(n_tar: int, n_non: int) -> list[errors.Note]:
    """Note a training on few trials of a class."""
    if min(n_tar, n_non) >= FEWEST:
        return []
    text = f"Trained on {n_tar} targets and {n_non} non-targets; {FEWEST} of both are needed."
    advice = "Train on more trials."
    count = min(n_tar, n_non)
    return [errors.Note(errors.FewErrorsWarning, text, count=count, advice=advice)]


def training_trials(found: object) -> list[errors.Note]:
    """Note that a map meets the trials of its training, if it does."""
    text = "The map was trained on these very trials: figures of the result are too good."
    advice = "Cross-fitting, or other trials, tell how good the map is."
    return [errors.Note(errors.SuspectScoresWarning, text, advice=advice)] if found else []


# ---- Maps of rows of scores, which may stand in files larger than memory


@attrs.define
class Met:
    """The scores of a system that a map met, beside those of its training, if these are known.

    `low` and `high` are the range of the training, `lowest` and `highest` that of the scores.
    """

    low: float | None
    high: float | None
    n_scores: int = 0
    n_far: int = 0
    lowest: float = math.inf
    highest: float = -math.inf

    def count(self, scores: FloatArray) -> None:
        """Count scores, and those far outside the training."""
        if not scores.size:
            return
        lowest, highest = float(scores.min()), float(scores.max())
        self.n_scores += scores.size
        self.lowest, self.highest = min(self.lowest, lowest), max(self.highest, highest)
        if self.low is None or self.high is None or self.low == self.high:
            return
        # Of more trials than those of the training a few always lie a little outside.
        margin = _FAR * (self.high - self.low)
        if lowest < self.low - margin or highest > self.high + margin:
            finite = scores[np.isfinite(scores)].astype(np.float64)
            far = np.maximum(self.low - finite, finite - self.high) > margin
            self.n_far += int(np.count_nonzero(far))

    def is_all(self, n_trials: int) -> bool:
        """Tell whether these are so many scores of exactly the range of the training."""
        return self.n_scores == n_trials and (self.lowest, self.highest) == (self.low, self.high)

    def notes(self, about: str = "", advice: str = "") -> list[errors.Note]:
        """Note scores far outside those of the training."""
        if not self.n_far:
            return []
        text = (
            f"{self.n_far} of {self.n_scores} scores, which go from {self.lowest:.4g} to "
            f"{self.highest:.4g}, lie far outside those of the training, "
            f"{self.low:.4g} to {self.high:.4g}."
        )
        return [errors.Note(errors.SuspectScoresWarning, text, about, self.n_far, advice)]


def weighted_sum(rows: Rows, weights: Sequence[float] | FloatArray, offset: float) -> FloatArray:
    """Return an offset plus the scores of several systems, of one shape, times their weights."""
    llrs = np.full(rows[0].shape, offset)
    # Eq. 30 of the theory paper without quality. In the order of the systems, so that the last
    # bit is the same for blocks of any size; zero times an infinite score is no evidence.
    with np.errstate(invalid="ignore", over="ignore"):
        for weight, row in zip(weights, rows, strict=True):
            if weight:
                llrs += np.float64(weight) * row
    return llrs


class RowMap(Map):
    """A map of the scores of one or several systems, a row each, also in files of any size."""

    __slots__ = ()

    @abstractmethod
    def _llrs(self, rows: Rows) -> FloatArray:
        """Return the LLRs of rows, NaN where a score is or where infinite ones contradict."""

    @abstractmethod
    def _met(self) -> list[Met]:
        """Return what counts the scores of each system."""

    @abstractmethod
    def _notes_on(self, met: Sequence[Met]) -> list[errors.Note]:
        """Note scores far outside those of the training, or that these are they."""

    def _mapped(self, rows: FloatArray) -> Mapped:
        """Return the log-likelihood-ratios of scores, (n_systems, n), and notes on these."""
        met = self._met()
        for number, (row, each) in enumerate(zip(rows, met, strict=True), start=1):
            check.refuse_nan(row, "x" if len(met) == 1 else f"x, system {number},")
            each.count(row)
        llrs = self._llrs(rows)
        # No score is NaN here, so that NaN comes from infinite scores of opposite signs.
        if n_bad := int(np.isnan(llrs).sum()):
            raise _contradiction("x", n_bad, llrs.size)
        return llrs, self._notes_on(met)

    def _write(
        self,
        score_files: Sequence[FilePath],
        trial_file: FilePath | None,
        output_file: FilePath,
        *,
        needs_all: bool = True,
        progress: bool,
    ) -> None:
        """Write what the map makes of the scores in files into another file.

        Without `trial_file` all scores of the one system are written. Trials without score are
        refused if all are needed, and warned of otherwise.
        """
        if check.as_path(output_file, "output_file").suffix.lower() not in (".h5", ".hdf5"):
            raise check.invalid("output_file", "end in .h5 or .hdf5", repr(str(output_file)))
        trials = [] if trial_file is None else [check.as_path(trial_file, "ndx_file")]
        refuse_inputs(output_file, (*score_files, *trials), "output_file")
        files = large.open_trials(score_files, trials[0] if trials else None)
        met, wanted = self._met(), (trials or score_files)[0]
        blocks = self._blocks(files, met, needs_all=needs_all, progress=progress)
        if not is_list(wanted):
            hdf5.write_rows(output_file, blocks, files.ids)
        else:
            listed = large.read_list(wanted) if trials else Scores.read(wanted).to_ndx()
            n_models, cells, llrs = listed.shape[0], [], []
            own = trial_codes(*listed.trial_positions(), n_models)
            # Where all files are lists, a row is a trial.
            in_rows = bool(trials) and all(map(is_list, score_files))
            for rows, values, mask in blocks:
                at, segments = np.nonzero(mask)
                at += rows.start
                cells.append(own[at] if in_rows else trial_codes(at, segments, n_models))
                llrs.append(values[mask])
            codes = np.concatenate(cells)
            found, in_order = np.isin(own, codes), np.concatenate(llrs)[np.argsort(codes)]
            assemble(in_order, listed, None if found.all() else found).save_hdf5(output_file)
        errors.warn(self._notes_on(met))

    def _blocks(
        self, files: large.FileTrials, met: Sequence[Met], *, needs_all: bool, progress: bool
    ) -> Iterator[tuple[slice, FloatArray, BoolArray]]:
        """Yield rows, their log-likelihood-ratios, and where there are any."""
        counts, nan, n_bad, cut = [], [], 0, files.cut()
        bar = progress_bar(files.read(cut), total=len(cut), desc="scores", shown=progress)
        for rows, block in zip(cut, bar, strict=True):
            mask = block.scored != 0
            # What lies where there is no trial may be anything.
            llrs = np.where(mask, self._llrs(block.scores), 0.0)
            for each, values in zip(met, block.scores, strict=True):
                each.count(values[mask])
            counts.append(block.counts())
            nan.append(block.nan())
            n_bad += int(np.isnan(llrs).sum())
            yield rows, llrs, mask
        # Raised here, while the output is not complete, so that it never appears.
        files.refuse_nan(np.concatenate(nan))
        total = np.sum(counts, axis=0)
        if needs_all:
            large.refuse_missing(total)
        if n_bad:
            raise _contradiction("score_files", n_bad, int(total[2] + total[3]))
        errors.warn(files.missing(total))


def _contradiction(name: str, n_bad: int, n_trials: int) -> errors.InvalidInputError:
    found = f"infinite evidence for and against at {n_bad} of {n_trials} trials"
    return check.invalid(name, "not contradict itself", found)


# ---- Maps that are trained by optimisation


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


# The record of a map that was given.
NOT_TRAINED: Options = {
    **{"prior": 0.5, "objective": "cllr", "objective_value": 0.0},
    **{"ridge": 0.0, "n_tar": 0, "n_non": 0},
}


def record(training: losses.TrainingObjective, solution: LinearSolution) -> Options:
    """Return the fields of a `TrainedMap`, and what is to note of the training."""
    n_tar, n_non = training.n_tar, training.n_non
    notes = few_trials(n_tar, n_non) or _few_errors(training, solution)
    return {
        "prior": training.prior,
        "objective": training.rule.name,
        "objective_value": solution.objective_value,
        "ridge": solution.ridge,
        "n_tar": n_tar,
        "n_non": n_non,
        "notes": [*solution.notes, *notes],
    }


def _few_errors(training: losses.TrainingObjective, solution: LinearSolution) -> list[errors.Note]:
    """Note a training, on data in memory, with few errors of a kind at its prior."""
    # Classes that are apart have none, which has been noted.
    is_apart = any("are separable" in note.text for note in solution.notes)
    if is_apart or training.non.in_files or not solution.weights.any():
        return []
    found = {}
    for name, scores, is_error in (
        ("misses", training.tar.scores, np.less),
        ("false alarms", training.non.scores, np.greater_equal),
    ):
        # Of many trials the first have enough.
        for part in (scores[:, :10_000], scores):
            llrs = weighted_sum(part, solution.weights, solution.offset)
            found[name] = int(np.count_nonzero(is_error(llrs, -training.plo)))
            if found[name] >= FEWEST:
                break
    few = [f"{count} {name}" for name, count in found.items() if count < FEWEST]
    text = (
        f"At prior {training.prior:.4g} the training data have {' and '.join(few)}; "
        f"{FEWEST} of both kinds are needed."
    )
    advice, least = "Train on more trials.", min(found.values())
    return [errors.Note(errors.FewErrorsWarning, text, count=least, advice=advice)] if few else []


@attrs.frozen(kw_only=True, repr=False)
class LinearMap(TrainedMap):
    """A map to log-likelihood-ratios made of one weight for each system and an offset."""

    # Whether a trial without a score of a system is an error, and not left out.
    _needs_all: ClassVar[bool]

    @classmethod
    def fit(
        cls,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        tar_weights: Weighting = None,
        non_weights: Weighting = None,
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
        ConvergenceWarning
            If some weights put no target below a non-target, so that no finite optimum exists. The
            result is that of a penalty v / (2n), v the variance of the log-likelihood-ratios and n
            the number of trials of the smaller class (of a calibration a ridge of 1/n): they stay
            near the log(n) that so few trials can support. Also if a system is constant (its
            weight is 0; of a calibration the offset is 0, too, as in the toolkit), if systems are
            collinear (the shortest of the equally good standardised weights are returned), or
            with "brier" if hard decisions are best, or if the prior is so close to 0 or 1 (1e-10)
            that lower values may have been missed.
        SuspectScoresWarning
            If the scale of a calibration is negative, or the targets of a system to fuse score far
            lower than the non-targets: labels swapped, or distances for scores? Also if there are
            more systems than trials of both classes: arrays transposed?
        FewErrorsWarning
            If a class has fewer than 30 trials, or with Bayes decisions at the prior the trained
            map makes fewer than 30 errors of a kind on data in memory (theory paper, section
            2.1.2).

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
        return cls._trained(tar, non, nonnegative=nonnegative, **options)._with_warnings()

    @classmethod
    def _trained(
        cls, tar: Given, non: Given, *, nonnegative: bool = False, **options: Given
    ) -> Self:
        """Train as `fit` does, without a warning."""
        ridge = options.pop("ridge", "weak")
        check.check_class_rows(tar, non, **options)
        rows = cls._as_systems(tar, "tar"), cls._as_systems(non, "non")
        training = losses.TrainingObjective.from_scores(*rows, **options)
        train = newton.train_nonnegative if nonnegative else newton.train_linear
        return cls._from_training(training, train(training, ridge=ridge))

    @classmethod
    def fit_files(
        cls,
        score_files: Given,
        key_file: FilePath,
        *,
        prior: float | OperatingPoint = 0.5,
        objective: str = "cllr",
        ridge: Ridge = "weak",
        workers: int = 1,
        executor: Executor | None = None,
        progress: bool = False,
    ) -> Self:
        """Train a calibration's scale, or a fusion's weights, and the offset, on files of any size.

        The result is that of `fit_scores` but for rounding (1e-12), and does not depend on
        threads or workers at all.

        Parameters
        ----------
        score_files : str or path-like; of a fusion a mapping of str to path, or a sequence
            HDF5 file of the scores of at least some of the key's trials. Of a fusion the files of
            all systems, for every trial of the key; names are kept.
        key_file : str or path-like
            HDF5 file of the key. Ids may come in any order; rows in the same order are read faster.
        prior, objective, ridge
            As for `fit`.
        workers : int, default: 1
            Number of threads.
        executor : concurrent.futures.Executor, optional
            What reads blocks in their place: processes, or ``client.get_executor()`` of a Dask
            cluster whose machines see the files under the same names.
        progress : bool, default: False
            Show a progress bar for each pass.

        Returns
        -------
        object of this class

        Raises
        ------
        TrialMismatchError
            If a system to fuse lacks scores of the key's trials.
        FileFormatError
            If a file is damaged, foreign, or changes while it is read.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score; a calibration leaves them out.
        ConvergenceWarning, SuspectScoresWarning
            As for `fit`.

        Notes
        -----
        Memory: the target scores, a sample of up to four million non-targets' scores, and a few
        megabytes for each system and worker. One pass over the files collects these. Usually two
        more evaluate the objective, none if the sample holds all non-targets, six with "brier".
        Worker processes are worth it from some 10^8 trials on.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from bosaris_py import Key, LinearCalibration, Scores
        >>> folder = Path(tempfile.mkdtemp())
        >>> scores = Scores([[1.0, 0.0, -1.0], [1.5, 2.0, 3.0]], ["a", "b"], ["x", "y", "z"])
        >>> tar = [[True, False, False], [False, True, True]]
        >>> non = [[False, True, True], [True, False, False]]
        >>> scores.save(folder / "scores.h5")
        >>> Key(["a", "b"], ["x", "y", "z"], tar, non).save(folder / "key.h5")
        >>> LinearCalibration.fit_files(folder / "scores.h5", folder / "key.h5", ridge=0)
        LinearCalibration: llr = 1.977 * score - 2.299, cllr 0.543 at prior 0.5,
        3 targets, 3 non-targets
        """
        # Arguments are checked before files are opened and read for minutes.
        newton.ridge_strengths(ridge, 1)
        rule, (probability, plo) = losses.scoring_rule(objective), losses.resolve_prior(prior)
        paths = cls._as_files(score_files), check.as_path(key_file, "key_file")
        files = large.TrialFiles.open(
            [paths], workers=workers, executor=executor, progress=progress
        )
        summarise = functools.partial(_summary, step=files.step(large.KEPT))
        tar, n_non, found, missing = files.first_pass(
            summarise, "training scores", all_scored=cls._needs_all
        )
        errors.warn(missing)
        moments, sizes, some = zip(*found, strict=True)
        non = losses.TrainingClass(np.concatenate(some, axis=1))
        if non.n_trials < n_non:
            known = losses.merge_moments(moments, sizes)
            non = _ClassInFiles(non.scores, files=files, count=n_non, known=known)
        training = losses.TrainingObjective(
            rule=rule, prior=probability, plo=plo, tar=losses.TrainingClass(tar), non=non
        )
        solution = newton.train_linear(training, ridge=ridge)
        return cls._from_training(training, solution, score_files)._with_warnings()

    @staticmethod
    @abstractmethod
    def _as_systems(scores: ArrayLike, name: str) -> FloatArray:
        """Return the scores of one class as an array of the right shape."""

    @staticmethod
    @abstractmethod
    def _as_files(score_files: Given) -> list[FilePath]:
        """Return the files of all systems."""

    @classmethod
    @abstractmethod
    def _from_training(
        cls, training: losses.TrainingObjective, solution: LinearSolution, systems: object = None
    ) -> Self:
        """Build the map of weights that were found, with the record of the training."""


@attrs.frozen(eq=False)
class _ClassInFiles(losses.TrainingClass):
    """Non-targets of which some are in memory, from whose optimum training starts."""

    files: large.TrialFiles = attrs.field(kw_only=True)
    count: int = attrs.field(kw_only=True)
    known: losses.ClassMoments = attrs.field(kw_only=True)
    in_files: ClassVar[bool] = True

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return self.count

    def moments(self) -> losses.ClassMoments:
        """Return mean, scatter and range."""
        return self.known

    def sum(self, loss: losses.LinearLoss) -> losses.ClassSums:
        """Return the sum of a loss over all trials, in a pass over the files."""
        return self.files.sum(loss.sum, f"objective ({loss.rule.name})")


def _summary(scores: FloatArray, step: int) -> tuple[losses.ClassMoments, int, FloatArray]:
    """Return the moments and the number of non-targets, (n_systems, n), and some of them."""
    return losses.class_moments(scores), scores.shape[1], large.evenly(scores, step)
