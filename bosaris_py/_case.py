"""The likelihood-ratio of one comparison, and the validation of a system, for a report."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._arrays import Float64Array, FloatArray, Weights
from bosaris_py._cautions import cautions, collected, hushed, warn_caller
from bosaris_py._html import card, scale_drawing
from bosaris_py._tables import Records
from bosaris_py.calibration import (
    BoundedCalibration,
    LinearCalibration,
    LLRBounds,
    cross_fit,
    llr_bounds,
)
from bosaris_py.calibration.bounds import BoundsKind, weak_unless_given
from bosaris_py.calibration.cross_fitting import Folds
from bosaris_py.errors import BosarisWarning, FewErrorsWarning, InvalidInputError
from bosaris_py.evaluation import Results, Validation, validate
from bosaris_py.files.replacing import digest_of
from bosaris_py.numerics.newton import Ridge
from bosaris_py.trials.inputs import KeyLike, split_key
from bosaris_py.trials.scores import Scores, to_natural
from bosaris_py.trials.speakers import Speakers, SpeakersLike
from bosaris_py.uncertainty import FMR, FNMR, Cllr, MinCllr
from bosaris_py.uncertainty.bootstrapping import bootstrap_scores
from bosaris_py.uncertainty.comparison.paired import paired_bootstrap
from bosaris_py.uncertainty.influence.line import llr_interval
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_FOR_INTERVAL,
    check_few_speakers,
)
from bosaris_py.uncertainty.resampling import Resampling
from bosaris_py.uncertainty.statistics.class_means import Brier, LossStatistic
from bosaris_py.uncertainty.statistics.functions import StatisticLike
from bosaris_py.uncertainty.statistics.statistic import WhichClass

# Log10 likelihood-ratios from which on the words of the ENFSI guideline (2015), table 1, hold.
_VERBAL = (
    (6.0, "extremely strong support"),
    (4.0, "very strong support"),
    (3.0, "strong support"),
    (2.0, "moderately strong support"),
    (1.0, "moderate support"),
    (math.log10(2.0), "weak support"),
)

# Divisions of the speakers into folds for the bounds. Of an odd number the middle is one of them.
_DIVISIONS = 11

# Weight of a trial that a replicate does not pick, beside those of 1 and more.
_TRACE = 1e-9


@attrs.frozen(kw_only=True, repr=False)
class CaseLLR(Records):
    """The likelihood-ratio of one comparison; made by `case_llr`. It prints as a statement.

    Parameters
    ----------
    llr : float
        Natural-log likelihood-ratio, within the bounds.
    low, high : float
        Its interval, natural logarithms, within the bounds.
    confidence : float
        Nominal coverage of the interval.
    unbounded : float
        What the map gives to the score, before the bounds.
    bounds : LLRBounds or None
        The bounds, if any were asked for.
    score : float
        The score of the comparison.
    propositions : (str, str)
        What the likelihood-ratio compares.
    reference : str
        What the reference set is.
    n_tar, n_non, n_speakers : int
        Its size.
    calibration : object
        The map trained on the whole reference set.
    file_hashes : dict of str to str
        SHA-256 of each file that was named.
    folds : int or "speaker"
        Into how many folds the speakers were divided to find the bounds.
    replications : int
        Replicates behind the interval; 0 if it is that of the formula.
    seed : int
        What `case_llr` needs as ``rng`` to give the same.
    by_division : tuple of float
        The log-likelihood-ratio within the bounds of each division into folds; `llr` is their
        median. There is one without bounds, and where each fold is one speaker.
    """

    llr: float
    low: float
    high: float
    confidence: float
    unbounded: float
    bounds: LLRBounds | None
    score: float
    propositions: tuple[str, str]
    reference: str
    n_tar: int
    n_non: int
    n_speakers: int
    calibration: Any
    file_hashes: Mapping[str, str]
    folds: Folds
    replications: int
    seed: int
    by_division: tuple[float, ...]

    @property
    def lr(self) -> float:
        """The likelihood-ratio; infinite where a float cannot hold it."""
        return 10.0**self.log10_lr if self.log10_lr < sys.float_info.max_10_exp else math.inf

    @property
    def log10_lr(self) -> float:
        """The decimal logarithm of the likelihood-ratio."""
        return self.llr / math.log(10.0)

    @property
    def log10_low(self) -> float:
        """The decimal logarithm of the lower end of the interval."""
        return self.low / math.log(10.0)

    @property
    def log10_high(self) -> float:
        """The decimal logarithm of the upper end of the interval."""
        return self.high / math.log(10.0)

    @property
    def verbal(self) -> str:
        """The likelihood-ratio in the words of the ENFSI guideline of 2015."""
        for least, words in _VERBAL:
            if abs(self.log10_lr) >= least:
                return f"{words} for proposition {1 if self.llr > 0 else 2}"
        return "no support for either proposition"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and texts of the statement as plain values.

        Returns
        -------
        dict
            Decimal logarithms begin with ``log10``; all others are natural. The bounds are None
            if there are none.
        """
        derived = ("lr", "log10_lr", "log10_low", "log10_high", "verbal")
        fields = {name: getattr(self, name) for name in (*attrs.fields_dict(CaseLLR), *derived)}
        low, high = fields.pop("bounds") or (None, None)
        plain = {name: list(fields[name]) for name in ("propositions", "by_division")}
        texts = {"calibration": repr(self.calibration), "file_hashes": dict(self.file_hashes)}
        return fields | plain | texts | {"lowest_bound": low, "highest_bound": high}

    def records(self) -> list[dict[str, Any]]:
        """Return `to_dict` as the only row.

        Returns
        -------
        list of dict
        """
        return [self.to_dict()]

    def _repr_html_(self) -> str:
        """Show the statement, and the likelihood-ratio on its scale."""
        ends = self.log10_low, self.log10_high
        limit = max(6.0, *(abs(x) + 0.5 for x in (self.log10_lr, *ends) if math.isfinite(x)))
        return card(repr(self), scale_drawing(self.log10_lr, *ends, limit))

    def __repr__(self) -> str:
        """State the likelihood-ratio, the propositions, the reference set and the limits."""
        ends = f"{self.log10_low:.2f} to {self.log10_high:.2f}"
        drawn = f"{self.replications} replicates" if self.replications else "interval by formula"
        how = f"{drawn}, seed {self.seed}"
        if self.bounds is not None:
            each = "each speaker left out" if self.folds == "speaker" else f"{self.folds} folds"
            if len(self.by_division) > 1:
                lowest, highest = (end(self.by_division) / math.log(10.0) for end in (min, max))
                each += f", median of {len(self.by_division)} divisions of the speakers with log10 "
                each += f"LRs from {lowest:.2f} to {highest:.2f}"
            how = f"bounds: {each}; {how}"
        lines = [
            f"log10 LR {self.log10_lr:.2f} ({100 * self.confidence:g} % interval {ends}); "
            f"natural log {self.llr:.3f} ({self.low:.3f} to {self.high:.3f})",
            f"proposition 1: {self.propositions[0]}",
            f"proposition 2: {self.propositions[1]}",
            f"reference set: {self.reference}; {self.n_tar} trials of one speaker, {self.n_non} of "
            f"two, {self.n_speakers} speakers",
            f"score {self.score:.4g}; {self.calibration!r}",
            how,
        ]
        if self.bounds is not None:
            limits = " to ".join(f"{bound / math.log(10.0):.2f}" for bound in self.bounds)
            was = f"at the bound, without it {self.unbounded / math.log(10.0):.2f}"
            state = "within" if self.llr == self.unbounded else was
            lines.append(f"the reference set supports log10 LRs from {limits}: {state}")
        else:
            lines.append("no bounds: the reference set may not support a likelihood-ratio so large")
        lines += [f"{name}: SHA-256 {digest}" for name, digest in self.file_hashes.items()]
        return "\n".join(lines)


@cautions()
def case_llr(
    score: float,
    scores: Scores,
    key: KeyLike,
    *,
    propositions: Sequence[str] | None = None,
    reference: str | None = None,
    model: Any = LinearCalibration,
    speakers: SpeakersLike = None,
    bounds: BoundsKind | None = "elub",
    folds: Folds = 5,
    replications: int = 500,
    confidence: float = 0.95,
    rng: check.Rng = 0,
    files: Sequence[check.FilePath] = (),
    **options: Any,
) -> CaseLLR:
    """Compute the likelihood-ratio of one comparison from a reference set, for a report.

    Parameters
    ----------
    score : float
        The score of the comparison, of the system that scored the reference set.
    scores : Scores
        Scores of the reference set, which should reflect the conditions of the case.
    key : Key, or pair (key, metadata)
        Its trials of one speaker and of two.
    propositions : (str, str)
        What the likelihood-ratio compares; required.
    reference : str
        What the reference set is, and why it is relevant; required.
    model : class, default: LinearCalibration
        The calibration.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        As for `evaluate`.
    bounds : {"elub", "iv", "wide"} or None, default: "elub"
        As for `llr_bounds` with these `speakers`, of the cross-fitted reference set (`cross_fit`).
        With None the caller answers for how large the result is.
    folds : int or "speaker", default: 5
        As for `cross_fit`. Bounds of "speaker" depend on no division, but take a map for each
        pair of speakers.
    replications : int, default: 500
        Replicates of a bootstrap by speaker. In each the calibration is trained anew. With 0 the
        interval of a line has a closed form, and takes a thousandth of the time.
    confidence : float, default: 0.95
        Nominal coverage of the interval.
    rng : Generator, int or None, default: 0
        Source of randomness. The same data give the same result by default. The seed that
        is drawn from a Generator, or with None, stands in the statement.
    files : sequence of str or path-like, optional
        Files whose SHA-256 is to be reported, as they are now.
    **options
        Arguments of the ``fit`` of the calibration; ``ridge`` of a line is "weak" by default.

    Returns
    -------
    CaseLLR

    Raises
    ------
    OSError
        If a file cannot be read.

    Warns
    -----
    ExtrapolationWarning
        If the score is far outside the reference scores.
    FewSpeakersWarning
        If the reference set has fewer than 20 speakers.
    MissingTrialsWarning, SeparableDataWarning
        As for the ``fit_scores`` of the calibration. Replicates do not warn.

    Notes
    -----
    The closed form takes the influence :math:`-x^T H^{-1} g_i` of each trial on the line at the
    score x, with the Hessian H of the training objective and the gradient :math:`g_i` of the trial.
    Their sums by speaker and by pair give the standard error, see `uncertainty.speaker_interval`.

    The interval says how sure the map is at this score, given the reference set. It does
    not say whether that set is relevant to the case. Where the map is beyond a bound, ends of the
    interval are the bound as well, so both may be equal.

    Bounds of speakers who recur count one misleading speaker and one misleading pair of speakers,
    not one trial. Without `speakers` they count trials.

    Bounds depend on how the speakers are divided into folds. Each is the median over eleven
    divisions, and the statement has the range of the log-likelihood-ratio over them.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> speakers, same = [f"speaker {i}" for i in range(30)], np.eye(30, dtype=bool)
    >>> noise = np.random.default_rng(1).normal(size=(30, 30))
    >>> scores, key = Scores(2.0 * same + noise, speakers, speakers), Key(speakers, speakers, same,
    ...     ~same)
    >>> told = {"propositions": ("the suspect speaks", "another man of the region speaks"),
    ...         "reference": "30 men, telephone"}
    >>> found = case_llr(2.5, scores, key, rng=1, **told)
    >>> found.verbal
    'moderate support for proposition 1'
    """
    # A set has no order, and a text is no pair of texts.
    told: tuple[Any, ...] = tuple(propositions) if isinstance(propositions, list | tuple) else ()
    if len(told) != 2 or not all(isinstance(text, str) and text.strip() for text in told):
        hint = "A likelihood-ratio is of two propositions and means nothing without them."
        raise check.invalid("propositions", "be two texts", check.describe(propositions), hint)
    if not isinstance(reference, str) or not reference.strip():
        hint = "Say whose scores these are and why they are relevant."
        raise check.invalid(
            "reference", "be a text on the reference set", check.describe(reference), hint
        )
    value = check.as_number(score, "score", "be finite", math.isfinite)
    named: Any = files if isinstance(files, list | tuple) else [files]
    hashes = {str(file): digest_of(file) for file in named}
    if bounds is not None:
        check.check_choice(bounds, BoundsKind, "bounds")
    of_fit = weak_unless_given(model, options)
    seed = rng if isinstance(rng, int) else int(check.as_generator(rng).integers(2**31))
    found: list[LLRBounds] = []
    for child in check.as_generator(seed).spawn(
        1 if bounds is None or folds == "speaker" else _DIVISIONS
    ):
        # The first division has warned.
        with hushed(*[BosarisWarning] * bool(found)):
            fitted = cross_fit(
                model, scores, key, folds=folds, speakers=speakers, rng=child, **of_fit
            )
            tar, non = fitted.scores.get_tar_non(split_key(key)[0])
            found.append(LLRBounds(-math.inf, math.inf))
            if bounds is not None:
                found[-1] = llr_bounds(fitted.scores, key, bounds, speakers=speakers)
    trained, ends = fitted.final, LLRBounds(*np.median(found, axis=0).tolist())
    limits = None if bounds is None else ends
    with collected() as caught:
        unbounded = float(trained.apply(value))
    for caution in caught:
        finding, advice = caution.finding, caution.advice
        if limits is not None and not limits.low <= unbounded <= limits.high:
            # The advice to take a bounded map is for those who have no bounds.
            finding, advice = f"{finding} The bound limits its LLR.", ""
        warn_caller(finding, caution.category, advice)
    # The ridge that separable classes get depends on the number of trials, which replicates lower.
    # So does "weak": a trial that is not picked keeps a trace of weight, and counts.
    if model is BoundedCalibration:
        of_fit = weak_unless_given(of_fit.get("calibration", LinearCalibration), of_fit)
    is_weak = of_fit.get("ridge") == "weak"
    of_formula = None
    if not replications:
        line = trained.map if isinstance(trained, BoundedCalibration) else trained
        if not isinstance(line, LinearCalibration) or line.objective != "cllr":
            hint = 'Only lines of the objective "cllr" have a closed form.'
            raise check.invalid("replications", "be above 0 for this calibration", "0", hint)
        sample = Resampling("speaker").sample(scores, key, Speakers(speakers), None)
        ridge: Ridge = "weak" if is_weak else line.ridge
        of_formula = llr_interval(line, value, sample, ridge, confidence)
    else:
        check_few_speakers({"log-likelihood-ratio": len(fitted.fold_of)}, FEWEST_FOR_INTERVAL)
    same = {"ridge": trained.ridge} if getattr(trained, "ridge", 0.0) and not is_weak else {}
    fixed = {**of_fit, **same}

    def llr(tar: FloatArray, non: FloatArray, tar_weights: Weights, non_weights: Weights) -> float:
        # A replicate whose classes are apart is no worse than any other.
        with hushed(BosarisWarning):
            weights = {"tar_weights": tar_weights, "non_weights": non_weights}
            if is_weak and tar_weights is not None:
                weights = {name: np.maximum(given, _TRACE) for name, given in weights.items()}
            return float(model.fit(tar, non, **weights, **fixed).apply(value))

    interval = of_formula or bootstrap_scores(
        scores,
        key,
        llr,
        speakers=speakers,
        replications=replications,
        confidence=confidence,
        rng=seed,
    )
    bounded = [float(np.clip(x, *ends)) for x in (unbounded, interval.low, interval.high)]
    return CaseLLR(
        llr=bounded[0],
        low=bounded[1],
        high=bounded[2],
        confidence=confidence,
        unbounded=unbounded,
        bounds=limits,
        score=value,
        propositions=(told[0], told[1]),
        reference=reference,
        n_tar=tar.size,
        n_non=non.size,
        n_speakers=len(fitted.fold_of),
        calibration=trained,
        file_hashes=hashes,
        folds=folds,
        replications=replications,
        seed=seed,
        by_division=tuple(float(np.clip(unbounded, *pair)) for pair in found),
    )


@attrs.frozen
class _MeanLog10(LossStatistic):
    """Mean of log10 likelihood-ratios over one class."""

    of_class: WhichClass

    bounds = -math.inf, math.inf

    def loss(self, which: WhichClass, scores: FloatArray) -> Float64Array:
        """Return what each trial adds."""
        own = scores if which == self.of_class else np.zeros(scores.size)
        return np.asarray(own / math.log(10.0), dtype=np.float64)


# What has an interval: figures of which a replicate is computed in one pass or one sort.
_FIGURES: dict[str, StatisticLike] = {
    "cllr": Cllr(),
    "min_cllr": MinCllr(),
    "brier": Brier(),
    "misleading_tar": FNMR(0.0),
    # A likelihood-ratio of one misleads nobody.
    "misleading_non": FMR(math.ulp(0.0)),
}
# Of either sign, so they are studentised as differences are: to log-likelihood-ratios of 0.
_MEANS = {"mean_log10_lr_tar": _MeanLog10(0), "mean_log10_lr_non": _MeanLog10(1)}


@cautions()
def validate_scores(
    llrs: Scores,
    key: KeyLike,
    *,
    speakers: SpeakersLike = None,
    replications: int = 1000,
    confidence: float = 0.95,
    rng: check.Rng = 0,
    base: float | None = None,
) -> Validation:
    """Compute the figures of a validation report, with intervals by speakers.

    Parameters
    ----------
    llrs : Scores
        Natural-log likelihood-ratios; best those of `cross_fit`.
    key : Key, or pair (key, metadata)
        Which trials are targets and which non-targets.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        As for `evaluate`.
    replications : int, default: 1000
        Replicates of a bootstrap by speaker.
    confidence : float, default: 0.95
        Nominal coverage of the intervals.
    rng : Generator, int or None, default: 0
        As for `case_llr`.
    base : float, optional
        Base of the log-likelihood-ratios, such as 10; by default they are natural.

    Returns
    -------
    Validation
        Figures as of `validate`, and ``linear_loss``: Cllr less that of a line that is cross-fitted
        by speakers (`cross_fit`), which is fair also of few trials; of eleven divisions into folds
        the median. There are no ``intervals`` of
        what depends on a PAV map beside another figure, which fits a replicate too well, nor of
        mean likelihood-ratios, which single trials decide.

    Warns
    -----
    FewSpeakersWarning
        If there are fewer than 20 speakers.
    MissingTrialsWarning
        As for `uncertainty.bootstrap_scores`.

    Notes
    -----
    Intervals of Cllr, Brier score and shares of misleading trials are studentised by speaker, those
    of mean log-likelihood-ratios on their own scale; that of minimum Cllr is by the jackknife.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> ids, same = [f"speaker {i}" for i in range(99)], np.eye(99, dtype=bool)
    >>> llrs = 4.0 * same - 2.0 + 2.0 * np.random.default_rng(1).normal(size=(99, 99))
    >>> found = validate_scores(Scores(llrs, ids, ids), Key(ids, ids, same, ~same), rng=1)
    >>> low, high = found.intervals["cllr"]
    >>> low < found.cllr < high
    True
    """
    only_key, _ = split_key(key)
    llrs = to_natural(llrs, base)
    figures = validate(Results.from_scores(llrs, only_key))
    if not math.isfinite(figures.mean_log10_lr_tar - figures.mean_log10_lr_non):
        hint = (
            "An interval needs their means. Bound them, as by BoundedCalibration, or take "
            "evaluation.validate(results), which has no intervals."
        )
        raise check.invalid("llrs", "be finite", "infinite log-likelihood-ratios", hint)
    seed = check.as_seed(rng)
    how: dict[str, Any] = {
        "speakers": speakers,
        "replications": replications,
        "confidence": confidence,
        "rng": seed,
    }
    # Few misleading trials are no fault of a validation; its speakers are counted.
    with hushed(FewErrorsWarning):
        found = bootstrap_scores(llrs, key, list(_FIGURES.values()), **how)
    n_speakers = int(found[0].degrees) + 1
    check_few_speakers({"validation": n_speakers}, FEWEST_FOR_INTERVAL)
    intervals = {
        name: (float(result.low), float(result.high))
        for name, result in zip(_FIGURES, found, strict=True)
    }
    zeros = llrs.transform(np.zeros_like)
    # The first bootstrap has warned of what is missing, and of few speakers.
    with hushed(BosarisWarning):
        for name, mean in _MEANS.items():
            drawn = paired_bootstrap(llrs, zeros, key, mean, **how)
            intervals[name] = float(drawn.low), float(drawn.high)
    figures = attrs.evolve(
        figures,
        intervals=intervals,
        confidence=confidence,
        n_speakers=n_speakers,
        replications=replications,
        seed=seed,
    )
    with hushed(BosarisWarning):
        try:
            lines = [
                cross_fit(LinearCalibration, llrs, key, speakers=speakers, rng=child).scores
                for child in check.as_generator(seed).spawn(_DIVISIONS)
            ]
        except InvalidInputError:
            # Of too few speakers for folds.
            return figures
        costs = [Results.from_scores(line, only_key).cllr for line in lines]
        middle = lines[int(np.argsort(costs)[_DIVISIONS // 2])]
        lost = paired_bootstrap(llrs, middle, key, Cllr(), **how)
    intervals["linear_loss"] = (float(lost.low), float(lost.high))
    return attrs.evolve(figures, linear_loss=float(lost.difference), intervals=intervals)
