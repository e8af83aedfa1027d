"""The figures of a validation report: how good log-likelihood-ratios are."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._notes import warn
from bosaris_py._tables import text_table
from bosaris_py.calibration import LinearCalibration
from bosaris_py.calibration.cross_fitting import cross_fitted
from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation.case import divisions
from bosaris_py.metrics.costs import Brier, Cllr, Pfa, Pmiss, no_llrs
from bosaris_py.metrics.curves import PAVCurve
from bosaris_py.metrics.metric import AnyMetric, Metric
from bosaris_py.metrics.ranks import MinCllr
from bosaris_py.trials.key import Key
from bosaris_py.trials.sample import Sample, ScoredClass
from bosaris_py.trials.scores import Scores, to_natural
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers
from bosaris_py.uncertainty.estimate import Estimate
from bosaris_py.uncertainty.jackknife import jackknife

_LOG_10 = math.log(10.0)


_MEANINGS = {
    "misleading_tar": "targets with LR < 1 (%)",
    "misleading_non": "non-targets with LR > 1 (%)",
    "cllr": "Cllr",
    "min_cllr": "minimum Cllr: discrimination",
    "calibration_loss": "Cllr - minimum Cllr: calibration",
    "linear_loss": "Cllr - Cllr of a cross-fitted line",
    "mean_log10_lr_tar": "mean log10 LR of targets",
    "mean_log10_lr_non": "mean log10 LR of non-targets",
    "mean_inverse_lr_tar": "mean 1/LR of targets (calibrated: 1)",
    "mean_lr_non": "mean LR of non-targets (calibrated: 1)",
    "brier": "Brier score at even odds, over that of no detector",
    "min_brier": "minimum Brier score: discrimination",
    "dev_pav": "devPAV, log10",
}

# What has an interval.
_METRICS: dict[str, AnyMetric] = {
    "cllr": Cllr(),
    "min_cllr": MinCllr(),
    "brier": Brier(),
    "misleading_tar": Pmiss(0.0),
    # A likelihood-ratio of one misleads nobody.
    "misleading_non": Pfa(math.ulp(0.0)),
    "mean_log10_lr_tar": Metric(lambda tar, non: np.mean(tar, dtype=np.float64) / _LOG_10),
    "mean_log10_lr_non": Metric(lambda tar, non: np.mean(non, dtype=np.float64) / _LOG_10),
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
        counts: dict[str, float | None] = {"n_tar": self.n_tar, "n_non": self.n_non}
        counts |= {"n_speakers": self.n_speakers, "seed": self.seed}
        for name, found in self.figures.items():
            counts |= {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}
        return counts

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
    for name, meaning in _MEANINGS.items():
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
    pools = [np.searchsorted(curve.lowest, scores, side="right") - 1 for scores in (tar, non)]
    tops = [
        ScoredClass(curve.llr[at], weights=None if one.is_plain else one.masses())
        for at, one in zip(pools, (sample.tar, sample.non), strict=True)
    ]
    best = Sample(tops[0], tops[1])
    with np.errstate(over="ignore"):
        inverse, other = map(float, sample.mean((np.exp(-tar), np.exp(non))))
    logs = map(float, sample.mean((tar / _LOG_10, non / _LOG_10)))
    values = {"mean_inverse_lr_tar": inverse, "mean_lr_non": other}
    values |= {"min_brier": Brier().computed(best), "dev_pav": curve.dev_pav}
    values |= zip(("mean_log10_lr_tar", "mean_log10_lr_non"), logs, strict=True)
    figures = {}
    if sample.tar.speakers is None:
        values = {n: m.computed(sample) for n, m in _METRICS.items() if n not in values} | values
    else:
        found = zip(_METRICS, jackknife([*_METRICS.values()], sample), strict=True)
        figures = {name: left.estimate(confidence, None) for name, (left, _) in found}
    plain = functools.partial(Estimate, standard_error=None, confidence=confidence)
    figures = {name: plain(value=value) for name, value in values.items()} | figures
    loss = figures["cllr"].value - figures["min_cllr"].value
    return figures | {"calibration_loss": plain(value=loss)}


def validate(
    scores: Scores,
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
            for child in divisions(seed, 5)
        ]
        samples = [Sample.from_trials(fit.scores, key, None, who).bona_fide() for fit in fits]
    except InvalidInputError:
        # Too few speakers for folds, or infinite log-likelihood-ratios.
        samples = []
    if samples:
        costs = [Cllr().computed(one) for one in samples]
        middle = samples[int(np.argsort(costs)[len(costs) // 2])]
        (own, _), (line, _) = (jackknife([Cllr()], one)[0] for one in (sample, middle))
        figures["linear_loss"] = own.minus(line).estimate(level, None)
    warn([*sample.notes, *no_llrs(sample), *figures["cllr"].notes])
    return Validation(
        figures=figures,
        n_tar=sample.n_tar,
        n_non=sample.n_non,
        n_speakers=sample.n_speakers,
        seed=seed,
    )
