"""The likelihood-ratio of one comparison, for a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._arrays import FloatArray, Given
from bosaris_py._notes import warn
from bosaris_py.calibration import LinearCalibration, LLRBounds
from bosaris_py.calibration.bounds import BoundsKind, bounds_of
from bosaris_py.calibration.cross_fitting import Folds, cross_fitted
from bosaris_py.files.replacing import digest_of
from bosaris_py.metrics.metric import Metric
from bosaris_py.trials.key import Key
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers
from bosaris_py.uncertainty.estimate import Estimate
from bosaris_py.uncertainty.jackknife import jackknife

_LOG_10 = math.log(10.0)

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

# What a dict has as it is.
_LLRS = ("llr", "low", "high", "log10_lr", "log10_low", "log10_high", "verbal")
_FIELDS = ("score", "reference", "n_tar", "n_non", "n_speakers", "folds", "seed")

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

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> ids, same = [f"speaker {i}" for i in range(120)], np.eye(120, dtype=bool)
    >>> values = 3.0 * same + np.random.default_rng(1).normal(size=same.shape)
    >>> scores, key = bp.Scores(values, ids, ids), bp.Key(ids, ids, same, ~same)
    >>> told = {"propositions": ("the suspect speaks", "another speaks"), "reference": "120 men"}
    >>> case = bp.case_llr(2.5, scores, key, **told)
    >>> print(f"log10 LR {case.log10_lr:.2f}")
    log10 LR 1.36
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

    def _within(self, llr: float) -> float:
        return float(np.clip(llr, *(self.bounds or _NO_BOUNDS)))

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
        end = None if self.is_at_bound else self.estimate.low
        return None if end is None else self._within(end)

    @property
    def high(self) -> float | None:
        """The upper end of the interval; see `low`."""
        end = None if self.is_at_bound else self.estimate.high
        return None if end is None else self._within(end)

    @property
    def log10_lr(self) -> float:
        """The decimal logarithm of the likelihood-ratio."""
        return self.llr / _LOG_10

    @property
    def log10_low(self) -> float | None:
        """The decimal logarithm of `low`."""
        return None if self.low is None else self.low / _LOG_10

    @property
    def log10_high(self) -> float | None:
        """The decimal logarithm of `high`."""
        return None if self.high is None else self.high / _LOG_10

    @property
    def verbal(self) -> str:
        """The likelihood-ratio in the words of the ENFSI guideline of 2015."""
        for least, words in _VERBAL:
            if abs(self.log10_lr) >= least:
                return f"{words} for proposition {1 if self.llr > 0 else 2}"
        return "no support for either proposition"

    def to_dict(self) -> dict[str, object]:
        """Return the numbers and texts of the statement as plain values.

        Returns
        -------
        dict
            Decimal logarithms begin with ``log10``; all others are natural. ``unbounded`` is what
            the map gives. The bounds are None if there are none, and so are the ends of the
            interval.
        """
        low, high = self.bounds or (None, None)
        found = {name: getattr(self, name) for name in (*_LLRS, *_FIELDS)}
        found |= {"confidence": self.estimate.confidence, "unbounded": self.estimate.value}
        found |= {"lowest_bound": low, "highest_bound": high, "calibration": repr(self.calibration)}
        found |= {name: list(getattr(self, name)) for name in ("propositions", "by_division")}
        return found | {"file_hashes": dict(self.file_hashes)}

    def __repr__(self) -> str:
        """State the likelihood-ratio, the propositions, the reference set and the limits."""
        lines = [
            self._stated,
            f"proposition 1: {self.propositions[0]}",
            f"proposition 2: {self.propositions[1]}",
            f"reference set: {self.reference}; {self.n_tar} trials of one speaker, {self.n_non} of "
            f"two, {self.n_speakers} speakers",
            f"score {self.score:.4g}; {self.calibration!r}",
            self._how,
        ]
        if self.bounds is None:
            lines.append("no bounds: the reference set may not support a likelihood-ratio so large")
        else:
            limits = " to ".join(f"{bound / _LOG_10:.2f}" for bound in self.bounds)
            without = f"at the bound, without it {self.estimate.value / _LOG_10:.2f}"
            state = without if self.is_at_bound else "within"
            lines.append(f"the reference set supports log10 LRs from {limits}: {state}")
        return "\n".join([*lines, *(f"{n}: SHA-256 {h}" for n, h in self.file_hashes.items())])

    @property
    def _stated(self) -> str:
        """The likelihood-ratio, with its interval if it has one."""
        if self.is_at_bound:
            limit = f"at {'least' if self.llr < self.estimate.value else 'most'}"
            return (
                f"log10 LR {limit} {self.log10_lr:.2f}: the bound of the reference set, "
                f"no interval; natural log {limit} {self.llr:.3f}"
            )
        if self.low is None or self.high is None:
            return f"log10 LR {self.log10_lr:.2f} (no interval); natural log {self.llr:.3f}"
        return (
            f"log10 LR {self.log10_lr:.2f} ({100 * self.estimate.confidence:g} % interval "
            f"{self.log10_low:.2f} to {self.log10_high:.2f}); natural log {self.llr:.3f} "
            f"({self.low:.3f} to {self.high:.3f})"
        )

    @property
    def _how(self) -> str:
        """How the interval and the bounds were made."""
        how = "interval: the map without each speaker in turn"
        if self.estimate.low is None:
            how = f"no interval: {self.n_speakers} speakers are too few"
        if self.bounds is None:
            return how
        if self.folds == "speaker":
            return f"bounds: each speaker left out; {how}"
        lowest, highest = min(self.by_division) / _LOG_10, max(self.by_division) / _LOG_10
        return (
            f"bounds: {self.folds} folds, median of {len(self.by_division)} divisions of the "
            f"speakers with log10 LRs from {lowest:.2f} to {highest:.2f}, seed {self.seed}; {how}"
        )


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
    rng: check.Rng = 0,
    files: Sequence[check.FilePath] = (),
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
    >>> told = {"propositions": ("the suspect speaks", "another man of the region speaks"),
    ...         "reference": "100 men, telephone"}
    >>> found = case_llr(2.5, scores, key, **told)
    >>> found.verbal
    'moderate support for proposition 1'
    """
    first, second = _two_texts(propositions)
    if not str(reference).strip():
        hint = "Say whose scores these are and why they are relevant."
        raise check.invalid("reference", "be a text on the reference set", "none", hint)
    value = check.as_number(score, "score", "be finite", math.isfinite)
    level = check.check_fraction(confidence, "confidence")
    if bounds is not None:
        check.check_choice(bounds, BoundsKind, "bounds")
    hashes = {str(file): digest_of(file) for file in files}
    seed = rng if isinstance(rng, int) else int(check.as_generator(rng).integers(2**31))
    trained = model.fit_scores(scores, key, **options)
    found = []
    if bounds is not None:
        for child in divisions(seed, folds):
            # The map of all speakers has warned.
            fitted, _ = cross_fitted(model, scores, key, folds, speakers, child, None, **options)
            found.append(bounds_of(fitted.scores, key, bounds, speakers)[0])
    limits = LLRBounds(*np.median(found, axis=0).tolist()) if found else None
    mapped, heard = trained._mapped(np.array([value]))
    unbounded = float(mapped[0])
    sample = Sample.from_trials(scores, key, None, TrialSpeakers.from_key(key, speakers))
    # The ridge that separable classes get depends on the number of trials.
    strength = getattr(trained, "ridge", 0.0)
    if strength and options.get("ridge", "weak") != "weak":
        options["ridge"] = strength

    def llr(tar: FloatArray, non: FloatArray) -> float:
        # A map without a speaker whose classes are apart is no worse than any other.
        return float(model._trained(tar, non, **options)._mapped(np.array([value]))[0][0])

    ((left_out, _),) = jackknife([Metric(llr)], sample)
    estimate = left_out.estimate(level, None)
    within = [float(np.clip(unbounded, *pair)) for pair in found]
    case = CaseLLR(
        estimate=estimate,
        bounds=limits,
        score=value,
        propositions=(first, second),
        reference=str(reference),
        n_tar=sample.n_tar,
        n_non=sample.n_non,
        n_speakers=sample.n_speakers,
        calibration=trained,
        file_hashes=hashes,
        folds=folds,
        seed=seed,
        by_division=tuple(within or [unbounded]),
    )
    # The advice to take a bounded map is for those who have no bounds.
    more, keeps = ("", True) if not case.is_at_bound else (" The bound limits its LLR.", False)
    far = [attrs.evolve(note, text=note.text + more, advice=note.advice * keeps) for note in heard]
    warn([*far, *estimate.notes])
    return case


def _two_texts(propositions: Sequence[str]) -> tuple[str, str]:
    """Return both propositions."""
    # A set has no order, and a text is no pair of texts.
    told = list(propositions) if isinstance(propositions, list | tuple) else []
    if len(told) != 2 or not all(str(text).strip() for text in told):
        hint = "A likelihood-ratio is of two propositions and means nothing without them."
        raise check.invalid("propositions", "be two texts", check.describe(propositions), hint)
    return str(told[0]), str(told[1])


def divisions(seed: int, folds: Folds) -> list[np.random.Generator]:
    """Return what divides the speakers into folds, each time in another way."""
    return check.as_generator(seed).spawn(1 if folds == "speaker" else _DIVISIONS)
