"""The likelihood-ratio of one comparison, and the validation of a system, for a report."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._arrays import FloatArray
from bosaris_py._html import card, scale_drawing
from bosaris_py._notes import cautions, collected, hushed, warn, warn_caller
from bosaris_py._tables import Records
from bosaris_py.calibration import LinearCalibration, LLRBounds, cross_fit, llr_bounds
from bosaris_py.calibration.bounds import BoundsKind, weak_unless_given
from bosaris_py.calibration.cross_fitting import Folds
from bosaris_py.errors import BosarisWarning, InvalidInputError
from bosaris_py.evaluation import Results, Validation, validate
from bosaris_py.files.replacing import digest_of
from bosaris_py.metrics.costs import Brier, Cllr, Pfa, Pmiss
from bosaris_py.metrics.metric import AnyMetric, Losses, LossMetric, Metric, Scale
from bosaris_py.metrics.ranks import MinCllr
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores, to_natural
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers
from bosaris_py.uncertainty.jackknife import jackknife

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


@attrs.frozen(kw_only=True, repr=False)
class CaseLLR(Records):
    """The likelihood-ratio of one comparison; made by `case_llr`. It prints as a statement.

    Parameters
    ----------
    llr : float
        Natural-log likelihood-ratio, within the bounds.
    low, high : float or None
        Its interval, natural logarithms, within the bounds; None below 5 speakers.
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
    seed : int
        What `case_llr` needs as ``rng`` to give the same bounds.
    by_division : tuple of float
        The log-likelihood-ratio within the bounds of each division into folds; `llr` is their
        median. There is one without bounds, and where each fold is one speaker.
    """

    llr: float
    low: float | None
    high: float | None
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
    def log10_low(self) -> float | None:
        """The decimal logarithm of the lower end of the interval."""
        return None if self.low is None else self.low / math.log(10.0)

    @property
    def log10_high(self) -> float | None:
        """The decimal logarithm of the upper end of the interval."""
        return None if self.high is None else self.high / math.log(10.0)

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
            if there are none, and so are the ends of the interval.
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
        known = [end for end in (self.log10_low, self.log10_high) if end is not None]
        low, high = known or [self.log10_lr] * 2
        limit = max(6.0, *(abs(x) + 0.5 for x in (self.log10_lr, low, high) if math.isfinite(x)))
        return card(repr(self), scale_drawing(self.log10_lr, low, high, limit))

    def __repr__(self) -> str:
        """State the likelihood-ratio, the propositions, the reference set and the limits."""
        interval = natural = "no interval"
        if self.log10_low is not None and self.log10_high is not None:
            ends = f"{self.log10_low:.2f} to {self.log10_high:.2f}"
            interval = f"{100 * self.confidence:g} % interval {ends}"
            natural = f"{self.low:.3f} to {self.high:.3f}"
        how = "interval: the map without each speaker in turn"
        if self.low is None:
            how = f"no interval: {self.n_speakers} speakers are too few"
        if self.bounds is not None:
            each = "each speaker left out"
            if self.folds != "speaker":
                lowest, highest = (end(self.by_division) / math.log(10.0) for end in (min, max))
                each = (
                    f"{self.folds} folds, median of {len(self.by_division)} divisions of the "
                    f"speakers with log10 LRs from {lowest:.2f} to {highest:.2f}, seed {self.seed}"
                )
            how = f"bounds: {each}; {how}"
        lines = [
            f"log10 LR {self.log10_lr:.2f} ({interval}); natural log {self.llr:.3f} ({natural})",
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
    key: Key,
    *,
    propositions: Sequence[str] | None = None,
    reference: str | None = None,
    model: Any = LinearCalibration,
    speakers: SpeakersLike = None,
    bounds: BoundsKind | None = "elub",
    folds: Folds = 5,
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
    ExtrapolationWarning
        If the score is far outside the reference scores.
    FewSpeakersWarning
        If the reference set has fewer than 100 speakers; below 5 there is no interval.
    MissingTrialsWarning, SeparableDataWarning
        As for the ``fit_scores`` of the calibration. Maps without some speakers do not warn.

    Notes
    -----
    The interval is by the jackknife: the calibration is trained again without each speaker, at most
    200 times, see :doc:`/uncertainty`.

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
    >>> ids, same = [f"speaker {i}" for i in range(100)], np.eye(100, dtype=bool)
    >>> noise = np.random.default_rng(1).normal(size=(100, 100))
    >>> scores, key = Scores(2.0 * same + noise, ids, ids), Key(ids, ids, same, ~same)
    >>> told = {"propositions": ("the suspect speaks", "another man of the region speaks"),
    ...         "reference": "100 men, telephone"}
    >>> found = case_llr(2.5, scores, key, **told)
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
    trained = model.fit_scores(scores, key, **of_fit)
    found: list[LLRBounds] = []
    n_divisions = 1 if folds == "speaker" else _DIVISIONS
    for child in check.as_generator(seed).spawn(n_divisions):
        if bounds is None:
            break
        # The map of all speakers has warned.
        with hushed(BosarisWarning):
            fitted = cross_fit(
                model, scores, key, folds=folds, speakers=speakers, rng=child, **of_fit
            )
            found.append(llr_bounds(fitted.scores, key, bounds, speakers=speakers))
    limits = LLRBounds(*np.median(found, axis=0).tolist()) if found else None
    ends = limits or (-math.inf, math.inf)
    with collected() as caught:
        unbounded = float(trained.apply(value))
    for caution in caught:
        finding, advice = caution.finding, caution.advice
        if limits is not None and not limits.low <= unbounded <= limits.high:
            # The advice to take a bounded map is for those who have no bounds.
            finding, advice = f"{finding} The bound limits its LLR.", ""
        warn_caller(finding, caution.category, advice)
    sample = Sample.from_trials(scores, key, None, TrialSpeakers.from_key(key, speakers))
    # The ridge that separable classes get depends on the number of trials.
    strength = getattr(trained, "ridge", 0.0)
    fixed = {**of_fit, "ridge": strength} if strength and of_fit.get("ridge") != "weak" else of_fit

    def llr(tar: FloatArray, non: FloatArray) -> float:
        # A map without a speaker whose classes are apart is no worse than any other.
        with hushed(BosarisWarning):
            return float(model.fit(tar, non, **fixed).apply(value))

    ((left_out, _),) = jackknife([Metric(llr)], sample)
    estimate = left_out.estimate(check.check_fraction(confidence, "confidence"), None)
    warn(estimate.notes)
    interval: list[float] | list[None] = [None, None]
    if estimate.low is not None:
        interval = np.clip([estimate.low, estimate.high], *ends).tolist()
    within = float(np.clip(unbounded, *ends))
    return CaseLLR(
        llr=within,
        low=interval[0],
        high=interval[1],
        confidence=confidence,
        unbounded=unbounded,
        bounds=limits,
        score=value,
        propositions=(told[0], told[1]),
        reference=reference,
        n_tar=sample.n_tar,
        n_non=sample.n_non,
        n_speakers=_count_speakers(sample),
        calibration=trained,
        file_hashes=hashes,
        folds=folds,
        seed=seed,
        by_division=tuple(float(np.clip(unbounded, *pair)) for pair in found) or (within,),
    )


def _count_speakers(sample: Sample) -> int:
    sides = [side for one in (sample.tar, sample.non) for side in one.speakers or ()]
    return int(np.unique(np.concatenate([side for side in sides if side is not None])).size)


@attrs.frozen
class _MeanLog10(LossMetric):
    """Mean of log10 likelihood-ratios over the targets, or over the non-targets."""

    targets: bool
    label: ClassVar[str] = "mean log10 LR"
    scale: ClassVar[Scale] = "identity"

    @property
    def bounds(self) -> tuple[float, float]:
        """Any number."""
        return -math.inf, math.inf

    def losses(self, sample: Sample) -> Losses:
        """Compute the logarithm of each trial of the class, and 0 for the others."""
        scores = sample.tar.scores, sample.non.scores
        tar, non = (one.astype(np.float64) / math.log(10.0) for one in scores)
        return (tar, np.zeros(non.size)) if self.targets else (np.zeros(tar.size), non)


# What has an interval.
_FIGURES: dict[str, AnyMetric] = {
    "cllr": Cllr(),
    "min_cllr": MinCllr(),
    "brier": Brier(),
    "misleading_tar": Pmiss(0.0),
    # A likelihood-ratio of one misleads nobody.
    "misleading_non": Pfa(math.ulp(0.0)),
    "mean_log10_lr_tar": _MeanLog10(targets=True),
    "mean_log10_lr_non": _MeanLog10(targets=False),
}


@cautions()
def validate_scores(
    llrs: Scores,
    key: Key,
    *,
    speakers: SpeakersLike = None,
    confidence: float = 0.95,
    rng: check.Rng = 0,
    base: float | None = None,
) -> Validation:
    """Compute the figures of a validation report, with intervals by speakers.

    Parameters
    ----------
    llrs : Scores
        Natural-log likelihood-ratios; best those of `cross_fit`.
    key : Key
        Which trials are targets and which non-targets.
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
        Figures as of `validate`, and ``linear_loss``: Cllr less that of a line that is cross-fitted
        by speakers (`cross_fit`), which is fair also of few trials; of eleven divisions into folds
        the median. There are no ``intervals`` of what a PAV map adds to another figure, which fits
        the trials too well, nor of mean likelihood-ratios, which single trials decide. Below 5
        speakers there are none.

    Warns
    -----
    FewSpeakersWarning
        If there are fewer than 100 speakers.
    MissingTrialsWarning
        If the key holds trials without score; they are left out.

    Notes
    -----
    Intervals are by the jackknife over speakers, as those of `uncertainty.speaker_interval`; that
    of ``linear_loss`` is that of a difference of two systems.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> ids, same = [f"speaker {i}" for i in range(100)], np.eye(100, dtype=bool)
    >>> llrs = 4.0 * same - 2.0 + 2.0 * np.random.default_rng(1).normal(size=(100, 100))
    >>> found = validate_scores(Scores(llrs, ids, ids), Key(ids, ids, same, ~same))
    >>> low, high = found.intervals["cllr"]
    >>> low < found.cllr < high
    True
    """
    only_key = as_key(key)
    llrs = to_natural(llrs, base)
    figures = validate(Results.from_scores(llrs, only_key))
    if not math.isfinite(figures.mean_log10_lr_tar - figures.mean_log10_lr_non):
        hint = (
            "An interval needs their means. Bound them, as by BoundedCalibration, or take "
            "evaluation.validate(results), which has no intervals."
        )
        raise check.invalid("llrs", "be finite", "infinite log-likelihood-ratios", hint)
    seed, level = check.as_seed(rng), check.check_fraction(confidence, "confidence")
    who = TrialSpeakers.from_key(key, speakers)
    sample = Sample.from_trials(llrs, key, None, who)
    found = [left_out for left_out, _ in jackknife([*_FIGURES.values()], sample)]
    estimates = {
        name: left_out.estimate(level, None) for name, left_out in zip(_FIGURES, found, strict=True)
    }
    warn(estimates["cllr"].notes)
    linear_loss = None
    with hushed(BosarisWarning):
        try:
            lines = [
                cross_fit(LinearCalibration, llrs, key, speakers=speakers, rng=child).scores
                for child in check.as_generator(seed).spawn(_DIVISIONS)
            ]
        except InvalidInputError:
            # Too few speakers for folds.
            lines = []
    if lines:
        costs = [Results.from_scores(line, only_key).cllr for line in lines]
        middle = lines[int(np.argsort(costs)[_DIVISIONS // 2])]
        ((line, _),) = jackknife([Cllr()], Sample.from_trials(middle, key, None, who))
        estimates["linear_loss"] = found[0].minus(line).estimate(level, None)
        linear_loss = estimates["linear_loss"].value
    return attrs.evolve(
        figures,
        linear_loss=linear_loss,
        intervals={
            name: (one.low, one.high)
            for name, one in estimates.items()
            if one.low is not None and one.high is not None
        },
        confidence=level,
        n_speakers=_count_speakers(sample),
        seed=seed,
    )
