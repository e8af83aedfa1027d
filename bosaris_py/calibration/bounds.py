"""Bounds of log-likelihood-ratios: what so few trials can support, and maps that keep to it."""

from __future__ import annotations

from typing import Literal, NamedTuple, Self, get_args

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FloatArray, Given
from bosaris_py.calibration import base
from bosaris_py.calibration.linear import GaussianCalibration, LinearCalibration
from bosaris_py.calibration.pav import PAVCalibration
from bosaris_py.metrics.costs import no_llrs
from bosaris_py.trials import Sample, Scores
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers

BoundsKind = Literal["elub", "iv", "wide"]
_FOUND = (*get_args(BoundsKind), "given")

# "wide" adds a trial for so many in the smaller class, and never more than "iv".
_WIDE = 1000.0

_MAPS = LinearCalibration, PAVCalibration, GaussianCalibration


class LLRBounds(NamedTuple):
    """The lowest and the highest log-likelihood-ratio that a set of trials supports.

    Parameters
    ----------
    low, high : float
        Natural logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> bounds = bp.llr_bounds(np.linspace(0, 4, 60), np.linspace(-4, 1, 600))
    >>> print(f"{bounds.low:.2f} to {bounds.high:.2f}")
    -2.74 to 3.73
    """

    low: float
    high: float


LLRBounds.low.__doc__ = "The lowest log-likelihood-ratio that the trials support, at most 0."
LLRBounds.high.__doc__ = "The highest log-likelihood-ratio that the trials support, at least 0."


def llr_bounds(
    tar: ArrayLike | Scores,
    non: ArrayLike | Key,
    kind: BoundsKind = "elub",
    *,
    speakers: SpeakersLike = None,
) -> LLRBounds:
    r"""Return empirical lower and upper bounds of log-likelihood-ratios.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float, or scores and key
        Natural-log likelihood-ratios of validation trials; best those of `cross_fit`. No NaN. Or
        `Scores` of them, and a key.
    kind : {"elub", "iv", "wide"}, default: "elub"
        The bounds of expected utility [1]_, which are those of the Bayes error-rate; or of
        invariant verification [2]_; or wider ones where trials are few, see Notes.
    speakers : IdMap, dict, callable, str, or pair of these, optional
        As for `evaluate`, of scores and key. Speakers then count, and not trials, see Notes: the
        choice where speakers recur.

    Returns
    -------
    LLRBounds
        Natural logarithms, ``low`` at most 0 and ``high`` at least 0. Both 0 where the system
        is not better than one that always answers 0.

    Warns
    -----
    SuspectScoresWarning
        As for `bosaris_py.act_dcf`, if the values cannot be log-likelihood-ratios.

    Notes
    -----
    The upper bound is where, going up through t > 0,

    .. math:: \log \frac{(\#\{tar \ge t\} + a) / (N_T + 1)}{(\#\{non \ge t\} + b) / (N_N + 1)} < t

    first holds, or no target is left; the lower is that of both classes exchanged and negated. ELUB
    has a = 0, b = 1: one maximally misleading trial is added to each class, and beyond the bounds
    an answer of 0 has the higher expected utility. IV has a = b = 1/2. All are exact, on no grid.
    The upper ELUB is at most log(n_non + 1), the lower at least -log(n_tar + 1). Between them lie
    the thresholds at which the normalised Bayes error-rate (`act_dcf`), of the trials with those
    two, is at most 1.

    "wide" has a = b = min(1/2, n / 1000), n the number of trials of the smaller class: below 500
    the others cost more than they save.

    *Speakers.* Where speakers recur, trials say less than their number. With `speakers`, a, b and
    the ones below count in units of several trials. A target counts as :math:`N_T / K`, the targets
    of one of K speakers. A non-target counts as :math:`N_N / P`, those of one of P pairs of
    speakers who meet. So one misleading speaker is added, and one misleading pair. The bounds are
    nearer to 0, unless each speaker has one target and each pair one trial.

    References
    ----------
    .. [1] P. Vergeer et al., "Numerical likelihood ratios outputted by LR systems are often based
       on extrapolation: when to stop extrapolating?", Science & Justice 56(6), 2016.
    .. [2] I. Alberink et al., "Invariant verification bounds of likelihood ratios", 2025.

    Examples
    --------
    Of 99 targets and 99 non-targets that are apart, the odds are 99 to 1.

    >>> bounds = llr_bounds([10.0] * 99, [-10.0] * 99)
    >>> [round(bound, 4) for bound in bounds]
    [-4.5951, 4.5951]
    """
    check.check_choice(kind, BoundsKind, "kind")
    found, notes = bounds_of(tar, non, kind, speakers)
    errors.warn(notes)
    return found


def bounds_of(
    tar: Given, non: Given, kind: str, speakers: SpeakersLike = None
) -> tuple[LLRBounds, list[errors.Note]]:
    """Return what `llr_bounds` does, and what is to note of the log-likelihood-ratios."""
    if isinstance(tar, Scores):
        key = as_key(non).bona_fide()
        who = None if speakers is None else TrialSpeakers.from_key(key, speakers)
        sample = Sample.from_trials(tar, key, None, who)
    elif speakers is not None:
        hint = "Give scores and a key: llr_bounds(scores, key, speakers=...)."
        found = check.describe(speakers)
        raise check.invalid("speakers", "be left out of lists of trials", found, hint)
    else:
        sample = Sample.from_scores(tar, non)
    tar, non = sample.tar, sample.non
    # One of each unit is added: a trial, or the trials of a speaker, of a pair of speakers.
    units = (1.0, 1.0)
    if speakers is not None:
        units = (tar.size / tar.n_meetings, non.size / non.n_meetings)
    wide = min(0.5, min(tar.size, non.size) / _WIDE)
    # What is added to the counts at and beyond an LLR, of the class it speaks for and the other.
    added = {"elub": (0.0, 1.0), "iv": (0.5, 0.5), "wide": (wide, wide)}[kind]
    tar, non = tar.scores, non.scores
    low = 0.0 - _upper_bound(-non[::-1], -tar[::-1], added, units[::-1])
    return LLRBounds(low, _upper_bound(tar, non, added, units)), no_llrs(sample)


def _upper_bound(
    tar: FloatArray, non: FloatArray, added: tuple[float, float], units: tuple[float, float]
) -> float:
    """Return where the log-ratio of both tails, of ascending LLRs, first is below the diagonal."""
    # Up to each score, from the one before it, the counts and so the ratio are constant.
    ends = np.concatenate((tar[tar > 0], non[non > 0], [np.inf]))
    # The stable sort merges ascending runs.
    ends.sort(kind="stable")
    above = [side.size - np.searchsorted(side, ends) for side in (tar, non)]
    with np.errstate(divide="ignore"):
        own = np.log((above[0] + added[0] * units[0]) / (tar.size + units[0]))
        other = np.log((above[1] + added[1] * units[1]) / (non.size + units[1]))
    # Where no target is left the ratio is that of what was added, whatever the scores say.
    ratios = np.where(above[0] > 0, own - other, -np.inf)
    first = int(np.argmax(ratios < ends))
    return max(float(ends[first - 1]) if first else 0.0, float(ratios[first]))


@attrs.frozen(kw_only=True, repr=False)
class BoundedCalibration(base.ScoreMap):
    """A calibration whose log-likelihood-ratios are cut off at bounds.

    Make one with `fit`, `fit_scores` or `read`, or of a map and bounds from validation trials.

    Parameters
    ----------
    map : LinearCalibration, PAVCalibration or GaussianCalibration
        The map before the bounds.
    low, high : float
        The bounds, natural logarithms; 0 lies between them.
    bounds : {"elub", "iv", "wide", "given"}, default: "given"
        How the bounds were found.
    notes : tuple of Note
        What the training left to note; files do not keep it.

    Examples
    --------
    >>> bounded = BoundedCalibration.fit([1.0, 2.0, 2.5, 3.0], [0.0, -1.0, 1.5, -2.0])
    >>> bounded
    BoundedCalibration: llr from -5.487 to 3.78 (wide) of LinearCalibration: llr = 1.853 * score
    - 1.78, cllr 0.4276 at prior 0.5, ridge 0.0025, 4 targets, 4 non-targets
    >>> bounded.apply([1.0, 100.0]).round(3).tolist()
    [0.073, 3.78]
    """

    map: base.ScoreMap = attrs.field(**base.part(*_MAPS))
    low: float = attrs.field(**base.NUMBER)
    high: float = attrs.field(**base.NUMBER)
    bounds: str = attrs.field(default="given", validator=check.one_of(_FOUND))

    def __attrs_post_init__(self) -> None:
        """Refuse bounds without 0 between them."""
        if not self.low <= 0.0 <= self.high:
            found = f"{self.low:g} and {self.high:g}"
            raise check.invalid("low", "lie at or below 0, and `high` at or above", found)

    @classmethod
    def fit(
        cls,
        tar: ArrayLike,
        non: ArrayLike,
        *,
        calibration: type[base.ScoreMap] = LinearCalibration,
        bounds: BoundsKind = "wide",
        **options: Given,
    ) -> Self:
        """Train a map, and find bounds from what it gives to its training trials.

        Parameters
        ----------
        tar, non : (n_tar,), (n_non,) array_like of float
            Target and non-target scores, finite.
        calibration : class, default: LinearCalibration
            The class of the map.
        bounds : {"elub", "iv", "wide"}, default: "wide"
            As for `llr_bounds`, which does not know weights.
        **options
            Arguments of the ``fit`` of that class.

        Returns
        -------
        BoundedCalibration
        """
        return cls._trained(tar, non, calibration, bounds, **options)._with_warnings()

    @classmethod
    def _trained(
        cls,
        tar: ArrayLike,
        non: ArrayLike,
        calibration: type[base.ScoreMap] = LinearCalibration,
        bounds: BoundsKind = "wide",
        **options: Given,
    ) -> Self:
        check.check_choice(bounds, BoundsKind, "bounds")
        if calibration not in _MAPS:
            expected = f"be one of {', '.join(kind.__name__ for kind in _MAPS)}"
            raise check.invalid("calibration", expected, check.describe(calibration))
        tar, non = check.as_list(tar), check.as_list(non)
        fitted = calibration._trained(tar, non, **options)
        llrs = [fitted._mapped(check.as_vector(scores, "tar"))[0] for scores in (tar, non)]
        found, notes = bounds_of(llrs[0], llrs[1], bounds)
        notes = [*fitted.notes, *notes]
        return cls(map=fitted, low=found.low, high=found.high, bounds=bounds, notes=tuple(notes))

    def _content(self) -> base.Options:
        content = super()._content()
        return content | {"map": {"kind": type(self.map).__name__, **content["map"]}}

    def _mapped(self, scores: FloatArray) -> base.Mapped:
        llrs, notes = self.map._mapped(scores)
        # Far outside the training the bounds hold, so that nothing is to note.
        within = [note for note in notes if note in base.training_trials(found=True)]
        return np.clip(llrs, self.low, self.high), within

    def __repr__(self) -> str:
        """Show the bounds and the map."""
        bounds = f"llr from {self.low:.4g} to {self.high:.4g} ({self.bounds})"
        return f"BoundedCalibration: {bounds} of {self.map!r}"
