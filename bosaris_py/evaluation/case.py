"""Likelihood-ratios for a report: of one comparison, and how good those of many are."""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import FilePath, FloatArray, Given, Rng
from bosaris_py._tables import for_json, text_table
from bosaris_py.calibration import LinearCalibration, LLRBounds
from bosaris_py.calibration.base import ScoreMap
from bosaris_py.calibration.bounds import BoundsKind, bounds_of
from bosaris_py.calibration.cross_fitting import Folds, check_model, cross_fitted
from bosaris_py.files.replacing import digest_of
from bosaris_py.metrics.costs import Brier, Cllr, Pfa, Pmiss, no_llrs
from bosaris_py.metrics.curves import PAVCurve
from bosaris_py.metrics.metric import AnyMetric, Losses, LossMetric, Metric, Scale
from bosaris_py.metrics.ranks import MinCllr
from bosaris_py.trials import Key, Sample, Scores
from bosaris_py.trials.sample import ScoredClass
from bosaris_py.trials.scores import to_natural
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers
from bosaris_py.uncertainty.estimate import Estimate
from bosaris_py.uncertainty.jackknife import jackknife

__all__ = ["CaseLLR", "Validation", "case_llr", "validate"]

_LOG_10 = math.log(10.0)

# What the figures of a validation are, and the words of a likelihood-ratio.
_WORDS = tomllib.loads(Path(__file__).with_name("forensic.toml").read_text(encoding="utf-8"))

# Divisions of the speakers into folds for the bounds. Of an odd number the middle is one of them.
_DIVISIONS = 11

_NO_BOUNDS = LLRBounds(-math.inf, math.inf)


@attrs.frozen(kw_only=True, repr=False, eq=False)
class CaseLLR:
    """The likelihood-ratio of one comparison; made by `case_llr`. It prints as a statement.

    Parameters
    ----------
    estimate : Estimate
        What the map gives to the score, before the bounds: a natural-log likelihood-ratio.
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
    seed : int
        What `case_llr` needs as ``rng`` to give the same bounds.
    by_division : tuple of float
        The log-likelihood-ratio within the bounds of each division into folds; `llr` is their
        median. There is one without bounds, and where each fold is one speaker.
    counted : {"speakers", "trials"}
        What misleads once more in the bounds: a speaker and a pair of speakers, or, where nobody
        told the speakers, a trial.
    base : float, default: e
        The base to which the score was given as a logarithm, for the statement; `score` is natural.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> ids, same = [f"speaker {i}" for i in range(120)], np.eye(120, dtype=bool)
    >>> values = 3.0 * same + np.random.default_rng(1).normal(size=same.shape)
    >>> scores, key = bp.Scores(values, ids, ids), bp.Key(ids, ids, same, ~same)
    >>> words = {"propositions": ("the suspect speaks", "another speaks"), "reference": "120 men"}
    >>> case = bp.case_llr(2.5, scores, key, **words)
    >>> print(f"log10 LR {case.log10_lr:.2f}")
    log10 LR 1.36
    >>> case.counted
    'trials'
    """

    estimate: Estimate
    bounds: LLRBounds | None
    score: float
    propositions: tuple[str, str]
    reference: str
    n_tar: int
    n_non: int
    n_speakers: int
    calibration: object
    file_hashes: Mapping[str, str]
    folds: Folds
    seed: int
    by_division: tuple[float, ...]
    counted: str
    base: float = math.e

    def _within(self, llr: float) -> float:
        return float(np.clip(llr, *(self.bounds or _NO_BOUNDS)))

    def _end(self, end: float | None) -> float | None:
        return None if end is None or self.is_at_bound else self._within(end)

    @property
    def llr(self) -> float:
        """The natural-log likelihood-ratio, within the bounds."""
        return self._within(self.estimate.value)

    @property
    def is_at_bound(self) -> bool:
        """Whether the map gives more than the reference set supports."""
        return self.llr != self.estimate.value

    @property
    def low(self) -> float | None:
        """The lower end of the interval, within the bounds; None at a bound, or below 5 speakers.

        Natural logarithm, as `llr` and `high`.
        """
        return self._end(self.estimate.low)

    @property
    def high(self) -> float | None:
        """The upper end of the interval; see `low`."""
        return self._end(self.estimate.high)

    @property
    def log10_lr(self) -> float:
        """The decimal logarithm of the likelihood-ratio."""
        return self.llr / _LOG_10

    @property
    def verbal(self) -> str:
        """The likelihood-ratio in the words of the ENFSI guideline of 2015."""
        for words, least in _WORDS["verbal"].items():
            if abs(self.log10_lr) >= least:
                return f"{words} for proposition {1 if self.llr > 0 else 2}"
        return "no support for either proposition"

    def to_dict(self) -> dict[str, object]:
        """Return the numbers and texts of the statement as plain values.

        Returns
        -------
        dict
            Decimal logarithms begin with ``log10``; all others, and the score, are natural.
            ``unbounded`` is what the map gives. The bounds are None if there are none, and so are
            the ends of the interval.
        """
        llrs = {"lr": self.llr, "low": self.low, "high": self.high}
        logs = {f"log10_{n}": None if x is None else x / _LOG_10 for n, x in llrs.items()}
        lowest, highest = self.bounds or (None, None)
        found = attrs.asdict(
            self, filter=attrs.filters.exclude("estimate", "bounds", "calibration", "base")
        )
        found |= {"llr": self.llr, "low": self.low, "high": self.high, **logs}
        found |= {"verbal": self.verbal, "unbounded": self.estimate.value}
        found |= {"confidence": self.estimate.confidence, "calibration": repr(self.calibration)}
        found |= {"lowest_bound": lowest, "highest_bound": highest, "logarithms": "natural"}
        return for_json(found)  # type: ignore[return-value]

    def __repr__(self) -> str:
        """State the likelihood-ratio, the propositions, the reference set and the limits."""
        at, low, high = self.estimate.value / _LOG_10, self.low, self.high
        if self.is_at_bound:
            limit = f"at {'least' if self.log10_lr < at else 'most'}"
            stated = (
                f"log10 LR {limit} {self.log10_lr:.2f}: the bound of the reference set, "
                f"no interval; natural log {limit} {self.llr:.3f}"
            )
        elif low is None or high is None:
            stated = f"log10 LR {self.log10_lr:.2f} (no interval); natural log {self.llr:.3f}"
        else:
            stated = (
                f"log10 LR {self.log10_lr:.2f} ({100 * self.estimate.confidence:g} % interval "
                f"{low / _LOG_10:.2f} to {high / _LOG_10:.2f}); natural log {self.llr:.3f} "
                f"({low:.3f} to {high:.3f})"
            )
        how = "interval: the map without each speaker in turn"
        if self.estimate.low is None:
            how = f"no interval: {self.n_speakers} speakers are too few"
        limits = "no bounds: the reference set may not support a likelihood-ratio so large"
        if self.bounds is not None:
            limits = "the reference set supports log10 LRs from "
            limits += " to ".join(f"{bound / _LOG_10:.2f}" for bound in self.bounds)
            limits += f": at the bound, without it {at:.2f}" if self.is_at_bound else ": within"
            made, n = "each speaker left out", len(self.by_division)
            if self.folds != "speaker":
                lowest, highest = min(self.by_division) / _LOG_10, max(self.by_division) / _LOG_10
                made = (
                    f"{self.folds} folds, median of {n} divisions of the speakers with log10 LRs "
                    f"from {lowest:.2f} to {highest:.2f}, seed {self.seed}"
                )
            how = f"bounds: of {self.counted}, {made}; {how}"
        given = f"{self.score / math.log(self.base):.10g} (base {self.base:g}), natural "
        lines = (
            stated,
            *(f"proposition {n}: {text}" for n, text in enumerate(self.propositions, start=1)),
            f"reference set: {self.reference}; {self.n_tar} trials of one speaker, {self.n_non} of "
            f"two, {self.n_speakers} speakers{' (each model is one)' * (self.counted == 'trials')}",
            f"score {given * (self.base != math.e)}{self.score:.10g}; {self.calibration!r}",
            how,
            limits,
            *(f"{name}: SHA-256 {digest}" for name, digest in self.file_hashes.items()),
        )
        return "\n".join(lines)


def case_llr(
    score: float,
    scores: Scores,
    key: Key,
    *,
    propositions: Sequence[str] = (),
    reference: str = "",
    model: Given = LinearCalibration,
    speakers: SpeakersLike = None,
    bounds: BoundsKind | None = "elub",
    folds: Folds = 5,
    confidence: float = 0.95,
    rng: Rng = 0,
    files: Sequence[FilePath] = (),
    **options: Given,
) -> CaseLLR:
    """Compute the likelihood-ratio of one comparison from a reference set, for a report.

    Parameters
    ----------
    score : float
        The score of the comparison, of the system that scored the reference set.
    scores : Scores
        Scores of the reference set, which should reflect the conditions of the case.
    key : Key
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
    confidence : float, default: 0.95
        Nominal coverage of the interval.
    rng : Generator, int or None, default: 0
        Divides the speakers into folds. The same data give the same result by default. The seed
        that is drawn from a Generator, or with None, stands in the statement.
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
    SuspectScoresWarning
        If the score is far outside the reference scores.
    FewSpeakersWarning
        If the reference set has fewer than 100 speakers; below 5 there is no interval.
    MissingTrialsWarning, ConvergenceWarning
        As for the ``fit_scores`` of the calibration. Maps without some speakers do not warn.

    Notes
    -----
    The interval is by the jackknife: the calibration is trained again without each speaker, at most
    200 times, see :doc:`/howto/choose_interval`.

    The interval says how sure the map is at this score, given the reference set. It does
    not say whether that set is relevant to the case. At a bound there is none: the reference set
    supports a likelihood-ratio so large, and none larger.

    Bounds of speakers who recur count one misleading speaker and one misleading pair of speakers,
    not one trial. Without `speakers` they count trials.

    Bounds depend on how the speakers are divided into folds. Each is the median over eleven
    divisions, and the statement has the range of the log-likelihood-ratio over them.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> ids, same = [f"speaker {i}" for i in range(100)], np.eye(100, dtype=bool)
    >>> noise = np.random.default_rng(1).normal(size=(100, 100))
    >>> scores, key = Scores(2.0 * same + noise, ids, ids), Key(ids, ids, same, ~same)
    >>> words = {"propositions": ("the suspect speaks", "another man of the region speaks"),
    ...          "reference": "100 men, telephone"}
    >>> found = case_llr(2.5, scores, key, **words)
    >>> found.verbal
    'moderate support for proposition 1'
    """
    # A set has no order, and a text is no pair of texts.
    pair = propositions if isinstance(propositions, list | tuple) else ()
    if len(pair) != 2 or not all(str(text).strip() for text in pair):
        hint = "A likelihood-ratio is of two propositions and means nothing without them."
        raise check.invalid("propositions", "be two texts", check.describe(propositions), hint)
    if not str(reference).strip():
        hint = "Say whose scores these are and why they are relevant."
        raise check.invalid("reference", "be a text on the reference set", "none", hint)
    value = np.array([check.as_number(score, "score", "be finite", math.isfinite)])
    level, seed = check.check_fraction(confidence, "confidence"), check.as_seed(rng)
    check_model(model, ScoreMap)
    if weights := options.keys() & {"conditions", "tar_weights", "non_weights"}:
        raise check.invalid(weights.pop(), "be left out of a case: all trials count", "weights")
    hashes = {str(file): digest_of(file) for file in check.listed(files, "files")}
    trained = model.fit_scores(scores, key, **options)
    found = []
    if bounds is not None:
        check.check_choice(bounds, BoundsKind, "bounds")
        for child in _divisions(seed, folds):
            # The map of all speakers has warned.
            fitted, _ = cross_fitted(model, scores, key, folds, speakers, child, None, **options)
            found.append(bounds_of(fitted.scores, key, bounds, speakers)[0])
    if options.get("ridge", "weak") != "weak":
        # The ridge that separable classes get depends on the number of trials.
        options["ridge"] = getattr(trained, "ridge", options["ridge"])

    def llr(tar: FloatArray, non: FloatArray) -> float:
        # A map without a speaker whose classes are apart is no worse than any other.
        return float(model._trained(tar, non, **options)._mapped(value)[0][0])

    sample = Sample.from_trials(scores, key, None, TrialSpeakers.from_key(key, speakers))
    ((left_out, _),) = jackknife([Metric(llr)], sample)
    estimate, (_, notes) = left_out.estimate(level, None), trained._mapped(value)
    case = CaseLLR(
        estimate=estimate,
        bounds=LLRBounds(*np.median(found, axis=0).tolist()) if found else None,
        score=float(value[0]),
        propositions=(str(pair[0]), str(pair[1])),
        reference=str(reference),
        **_sizes(sample),
        calibration=trained,
        file_hashes=hashes,
        folds=folds,
        seed=seed,
        by_division=tuple(float(np.clip(estimate.value, *one)) for one in found or [_NO_BOUNDS]),
        counted="trials" if speakers is None else "speakers",
    )
    if case.is_at_bound:
        # The advice to take a bounded map is for those who have no bounds.
        text = " The bound limits its LLR."
        notes = [attrs.evolve(note, text=note.text + text, advice="") for note in notes]
    errors.warn([*notes, *estimate.notes])
    return case


def _divisions(seed: int, folds: Folds) -> list[np.random.Generator]:
    """Return what divides the speakers into folds, each time in another way."""
    return check.as_generator(seed).spawn(1 if folds == "speaker" else _DIVISIONS)


def _sizes(sample: Sample) -> dict[str, int]:
    """Count the trials of a sample, and their speakers."""
    return {name: getattr(sample, name) for name in ("n_tar", "n_non", "n_speakers")}


# ---- How good the likelihood-ratios of many trials are


@attrs.frozen
class _MeanLog10LR(LossMetric):
    """The mean decimal logarithm of the likelihood-ratios of a class: 0 targets, 1 the others."""

    place: int
    scale: ClassVar[Scale] = "identity"
    label: ClassVar[str] = "mean log10 LR"

    @property
    def bounds(self) -> tuple[float, float]:
        """Any number."""
        return _NO_BOUNDS

    def losses(self, sample: Sample) -> Losses:
        """Compute the logarithm of each sorted trial of the class."""
        tar, non = (one.scores / np.float64(_LOG_10) for one in (sample.tar, sample.non))
        return (tar, np.zeros(non.size)) if self.place == 0 else (np.zeros(tar.size), non)


# What has an interval.
_METRICS: dict[str, AnyMetric] = {
    "cllr": Cllr(),
    "min_cllr": MinCllr(),
    "brier": Brier(),
    "misleading_tar": Pmiss(0.0),
    # A likelihood-ratio of one misleads nobody.
    "misleading_non": Pfa(math.ulp(0.0)),
    "mean_log10_lr_tar": _MeanLog10LR(0),
    "mean_log10_lr_non": _MeanLog10LR(1),
}


@attrs.frozen(kw_only=True, repr=False, eq=False)
class Validation:
    """How good log-likelihood-ratios are, for a validation report; made by `validate`.

    Parameters
    ----------
    figures : dict of str to Estimate
        ``misleading_tar``, ``misleading_non``: share of the trials of the class whose
        likelihood-ratio favours the other. ``cllr``, ``min_cllr``, ``calibration_loss``: Cllr in
        bits, and its parts. ``linear_loss``: what a cross-fitted line takes off Cllr.
        ``mean_log10_lr_tar``, ``mean_log10_lr_non``: mean decimal logarithms.
        ``mean_inverse_lr_tar``, ``mean_lr_non``: both are 1 in expectation if likelihood-ratios are
        calibrated. ``brier``, ``min_brier``: mean of both classes' squared posterior errors at
        prior 0.5, over that of no detector, and after PAV. ``dev_pav``: mean distance of the PAV
        curve from the diagonal, log10 units; infinite where an infinite LLR is on the wrong side,
        NaN where the classes are apart.
    n_tar, n_non, n_speakers : int
        Numbers of trials and of speakers.
    seed : int
        What `validate` needs as ``rng`` to divide the speakers into the same folds.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> ids, same = [f"speaker {i}" for i in range(120)], np.eye(120, dtype=bool)
    >>> values = 3.0 * same + np.random.default_rng(1).normal(size=same.shape)
    >>> scores, key = bp.Scores(3.0 * values - 4.5, ids, ids), bp.Key(ids, ids, same, ~same)
    >>> figures = bp.validate(scores, key).figures
    >>> round(figures["misleading_non"].value, 3)
    0.064
    """

    figures: Mapping[str, Estimate]
    n_tar: int
    n_non: int
    n_speakers: int
    seed: int

    def to_dict(self) -> dict[str, float | None]:
        """Return the counts and the figures, the ends of intervals as ``cllr_low``, ``cllr_high``.

        Returns
        -------
        dict
        """
        found: dict[str, float | None] = attrs.asdict(self, filter=attrs.filters.include(int))
        for name, one in self.figures.items():
            found |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
        return found

    def __repr__(self) -> str:
        """Return a line for each figure."""
        level = self.figures["cllr"]
        how = f"{100 * level.confidence:g} % intervals"
        how = "too few for intervals" if level.low is None else how
        counts = f"{self.n_tar} targets, {self.n_non} non-targets, {self.n_speakers} speakers"
        lines = [line.rstrip() for line in text_table(rows_of_figures(self.figures))]
        below = "mean 1/LR and mean LR: few misleading trials decide them, read them beside Cllr"
        return "\n".join((f"{counts}; {how}, seed {self.seed}", *lines, f"({below})"))


def rows_of_figures(figures: Mapping[str, Estimate]) -> list[list[str]]:
    """Return meaning, value and interval of each figure of a validation, as texts."""
    rows = []
    for name, meaning in _WORDS["meanings"].items():
        if (one := figures.get(name)) is None:
            continue
        scale, ends = (100.0 if meaning.endswith("(%)") else 1.0), "no interval"
        if one.low is not None and one.high is not None:
            ends = f"[{scale * one.low:.4g}, {scale * one.high:.4g}]"
        rows.append([meaning, f"{scale * one.value:.4g}", ends])
    return rows


def validation_figures(sample: Sample, confidence: float = 0.95) -> dict[str, Estimate]:
    """Compute the figures of a validation; with intervals where the sample knows speakers."""
    sample = sample.bona_fide()
    tar, non = (one.scores.astype(np.float64) for one in (sample.tar, sample.non))
    curve = PAVCurve.from_sample(sample)
    # Both classes after optimal recalibration: the pool of each trial.
    best = [
        ScoredClass(
            curve.llr[np.searchsorted(curve.lowest, one.scores, side="right") - 1],
            weights=None if one.is_plain else one.masses(),
        )
        for one in (sample.tar, sample.non)
    ]
    with np.errstate(over="ignore"):
        inverse, other = map(float, sample.mean((np.exp(-tar), np.exp(non))))
    values = {"mean_inverse_lr_tar": inverse, "mean_lr_non": other, "dev_pav": curve.dev_pav}
    values["min_brier"] = Brier().computed(Sample(best[0], best[1]))
    plain = functools.partial(Estimate, standard_error=None, confidence=confidence)
    figures = {name: plain(value=value) for name, value in values.items()}
    if sample.tar.speakers is None:
        figures |= {n: plain(value=metric.computed(sample)) for n, metric in _METRICS.items()}
    else:
        found = zip(_METRICS, jackknife([*_METRICS.values()], sample), strict=True)
        figures |= {name: left.estimate(confidence, None) for name, (left, _) in found}
    loss = figures["cllr"].value - figures["min_cllr"].value
    return figures | {"calibration_loss": plain(value=loss)}


def validate(
    scores: Scores,
    key: Key,
    *,
    speakers: SpeakersLike = None,
    confidence: float = 0.95,
    rng: Rng = 0,
    base: float | None = None,
) -> Validation:
    """Compute the figures of a validation report, with intervals by speakers.

    Parameters
    ----------
    scores : Scores
        Natural-log likelihood-ratios; best those of `cross_fit`.
    key : Key
        Which trials are targets and which non-targets; spoofs are left out.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        As for `evaluate`.
    confidence : float, default: 0.95
        Nominal coverage of the intervals.
    rng : Generator, int or None, default: 0
        Divides the speakers into folds, as for `case_llr`.
    base : float, optional
        Base of the log-likelihood-ratios, such as 10; by default they are natural.

    Returns
    -------
    Validation
        There are no intervals of what a PAV map adds to another figure, which fits the trials too
        well, nor of mean likelihood-ratios, which single trials decide. Below 5 speakers there are
        none.

    Warns
    -----
    FewSpeakersWarning
        If there are fewer than 100 speakers.
    MissingTrialsWarning
        If the key holds trials without score; they are left out.
    SuspectScoresWarning
        As for `cllr` and `eer`.

    Notes
    -----
    Intervals are by the jackknife over speakers, as those of `uncertainty.speaker_interval`.

    devPAV and the loss of calibration are fitted to the trials that they judge: of few trials they
    show noise. ``linear_loss`` does not: Cllr less that of a line that is cross-fitted by speakers,
    of eleven divisions into folds the median, with the interval of a difference of two systems. It
    is left out where speakers are too few for folds, or a log-likelihood-ratio is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> ids, same = [f"speaker {i}" for i in range(100)], np.eye(100, dtype=bool)
    >>> llrs = 4.0 * same - 2.0 + 2.0 * np.random.default_rng(1).normal(size=(100, 100))
    >>> found = validate(Scores(llrs, ids, ids), Key(ids, ids, same, ~same))
    >>> cllr = found.figures["cllr"]
    >>> cllr.low < cllr.value < cllr.high
    True
    """
    seed, level = check.as_seed(rng), check.check_fraction(confidence, "confidence")
    llrs, who = to_natural(scores, base), TrialSpeakers.from_key(key, speakers)
    sample = Sample.from_trials(llrs, key, None, who).bona_fide()
    figures = validation_figures(sample, level)
    try:
        fits = [
            cross_fitted(LinearCalibration, llrs, key, 5, speakers, child, None)[0]
            for child in _divisions(seed, 5)
        ]
    except errors.InvalidInputError:
        # Too few speakers for folds, or infinite log-likelihood-ratios.
        fits = []
    if fits:
        lines = [Sample.from_trials(one.scores, key, None, who).bona_fide() for one in fits]
        middle = sorted(lines, key=Cllr().computed)[len(lines) // 2]
        (own, _), (line, _) = (jackknife([Cllr()], one)[0] for one in (sample, middle))
        figures["linear_loss"] = own.minus(line).estimate(level, None)
    errors.warn([*sample.notes, *no_llrs(sample), *figures["cllr"].notes])
    return Validation(figures=figures, seed=seed, **_sizes(sample))
