r"""Bootstraps of a metric: trials, sets of trials or speakers are drawn, and the metric made anew.

A replicate is another set of masses: how often each trial was drawn. A metric makes the values of
many replicates at a time, which are `bosaris_py.metrics.metric.Rows`. The interval takes quantiles
of the replicates, or z standard errors. Two systems may meet the same draws: the estimate is then
their difference, with the correlation of both [2]_ (section IX).

References
----------
.. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "Measurement uncertainties in
   speaker recognition evaluation", NISTIR 7722, 2010.
.. [2] J. C. Wu et al., "The impact of data dependence on speaker recognition evaluation",
   IEEE/ACM TASLP 25, 2017, doi:10.1109/TASLP.2016.2614725.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, FloatArray, IntArray, Rng
from bosaris_py._parallel import progress_bar, whole_number
from bosaris_py.metrics.metric import AnyMetric, AnySystem, Rows, as_metric
from bosaris_py.trials.conditions import ConditionsLike
from bosaris_py.trials.key import Key
from bosaris_py.trials.sample import Sample, ScoredClass, check_same_trials
from bosaris_py.trials.speakers import SpeakersLike, TrialSpeakers
from bosaris_py.uncertainty.draws import Method, draw_from, speakers_present
from bosaris_py.uncertainty.estimate import Estimate, IntervalKind
from bosaris_py.uncertainty.jackknife import few_speakers
from bosaris_py.uncertainty.lazy import lazy_draws
from bosaris_py.uncertainty.proportions import notes_of_few

# Numbers of a block of replicates: it and its work arrays take some 16 MB each.
_BLOCK_CELLS, _MOST_ROWS = 2**21, 500

# Replications, so that a typing error does not run for a year.
_MOST = 10**7


def _replications(value: object) -> int:
    return whole_number(value, 2, "replications", _MOST)


@attrs.frozen
class Resampling:
    """How replicates are drawn, and what interval is made of them."""

    method: Method = attrs.field(validator=check.one_of(Method))
    replications: int = attrs.field(converter=_replications)
    interval: IntervalKind = attrs.field(validator=check.one_of(IntervalKind))
    confidence: float
    rng: np.random.Generator = attrs.field(converter=check.as_generator)
    progress: bool = False

    def __attrs_post_init__(self) -> None:
        """Raise if a number is out of range."""
        check.check_fraction(self.confidence, "confidence")

    def speakers(self, key: Key, speakers: SpeakersLike) -> TrialSpeakers | None:
        """Return the speakers that are drawn, of models only for sets."""
        if self.method == "iid":
            return None
        if self.method == "speaker":
            return TrialSpeakers.from_key(key, speakers)
        return TrialSpeakers.from_side(key, speakers, "models")

    def few_speakers(self, view: Sample) -> list[errors.Note]:
        """Note few speakers, if these are drawn."""
        return few_speakers(speakers_present(view).size) if self.method == "speaker" else []

    def replicates(self, metric: AnyMetric, views: Sequence[Sample]) -> list[FloatArray]:
        """Draw the values of a metric, of each system on the same draws."""
        # Some metrics of one system need no whole replicates: `lazy_draws` tells which.
        lazy = lazy_draws(metric, views[0], self.method) if len(views) == 1 else None
        if lazy is None:
            return self.values_of_draws(metric.values, views)
        return [np.concatenate([lazy.draw(size, self.rng) for size in self._blocks(lazy.block)])]

    def values_of_draws(
        self, function: Callable[[Rows], FloatArray], views: Sequence[Sample]
    ) -> list[FloatArray]:
        """Draw the values of a function of rows, of each system on the same draws."""
        draws = draw_from(self.method, views)
        points = max(view.thresholds.size * view.non.shares.size for view in views)
        points = max(points, draws.row_size)
        found: list[list[FloatArray]] = [[] for _ in views]
        for size in self._blocks(min(_MOST_ROWS, max(1, _BLOCK_CELLS // points))):
            for values, rows in zip(found, draws.rows(size, self.rng), strict=True):
                values.append(function(rows))
        return [np.concatenate(values) for values in found]

    def _blocks(self, size: int) -> Iterator[int]:
        """Yield the sizes of blocks of replicates, and move the bar."""
        starts = range(0, self.replications, size)
        for start in progress_bar(starts, shown=self.progress, unit="block"):
            yield min(size, self.replications - start)

    def estimate(self, metric: AnyMetric, views: Sequence[Sample]) -> Estimate:
        """Estimate a metric, or of two systems the difference."""
        value, *others = [metric.computed(view) for view in views]
        drawn, *against = self.replicates(metric, views)
        notes, bounds, correlation = degenerate([drawn, *against]), metric.bounds, None
        notes += self.few_speakers(views[0])
        if against:
            bounds, correlation = (-np.inf, np.inf), _correlation(drawn, against[0])
            value, drawn = value - others[0], drawn - against[0]
        else:
            notes += few_errors(metric, views[0])
        return Estimate.from_replicates(
            value,
            drawn,
            interval=self.interval,
            bounds=bounds,
            confidence=self.confidence,
            method=f"{self.method} bootstrap, {self.interval}",
            n_units=speakers_present(views[0]).size if self.method == "speaker" else None,
            correlation=correlation,
            notes=tuple(notes),
        )


def _correlation(first: FloatArray, second: FloatArray) -> float:
    """Return the correlation of the replicates that are finite; 0 where one does not vary."""
    known = np.isfinite(first) & np.isfinite(second)
    a, b = first[known], second[known]
    spread = float(a.std() * b.std())
    return float(np.mean((a - a.mean()) * (b - b.mean()))) / spread if spread else 0.0


def degenerate(replicates: Sequence[FloatArray]) -> list[errors.Note]:
    """Note replicates that lost a class."""
    count = int(sum(np.count_nonzero(~np.isfinite(one)) for one in replicates))
    if not count:
        return []
    text = (
        f"{count} of {replicates[0].size} bootstrap replicates are degenerate: a class or a "
        "condition lost its trials, or the metric is not finite. Standard error and interval leave "
        "them out."
    )
    return [errors.Note(errors.FewErrorsWarning, text, count=count)]


def few_errors(metric: AnyMetric, view: Sample) -> list[errors.Note]:
    """Note the error-rate of a metric that rests on the fewest errors, if these are few."""
    if metric.unit == "bits":
        return []
    sizes = view.n_tar, view.n_non, view.n_spoof
    names = "miss rate", "false-alarm rate", "false-alarm rate"
    counts = [
        (rate * sizes[place], names[place])
        for _, rate, place in metric.openings(view)
        if sizes[place] and np.isfinite(rate)
    ]
    return notes_of_few({name: n for n, name in [min(counts)]}) if counts else []


def bootstrap(
    tar: ArrayLike,
    non: ArrayLike,
    metric: object,
    *,
    method: Literal["iid", "one-layer", "two-layer"] = "iid",
    tar_sets: ArrayLike | None = None,
    non_sets: ArrayLike | None = None,
    replications: int = 2000,
    interval: IntervalKind = "percentile",
    confidence: float = 0.95,
    rng: Rng = None,
    progress: bool = False,
) -> Estimate:
    r"""Estimate the standard error and a confidence interval of a metric of two lists of scores.

    Parameters
    ----------
    tar, non : (n_tar,), (n_non,) array_like of float
        Scores of the two classes; no NaN, +-inf allowed.
    metric : metric or callable
        Such as ``unc.EER()``, or a function ``f(tar, non)``.
    method : {"iid", "one-layer", "two-layer"}, default: "iid"
        ``"iid"``: pick trials, Algorithm I of [1]_ and NISTIR 7722. ``"one-layer"``: pick sets of
        trials, Algorithm II. ``"two-layer"``: pick sets, and trials within each set picked,
        Algorithm III, which [1]_ recommends.
    tar_sets, non_sets : (n_tar,), (n_non,) array_like, optional
        The label of the set of each trial, text or whole numbers; for the last two methods.
    replications : int, default: 2000
        Number of replicates; 2000 is what [1]_ found to suffice.
    interval : {"percentile", "normal"}, default: "percentile"
        Quantiles of the replicates by definition 2 of Hyndman and Fan, see `quantile`; or the value
        -+ z standard errors.
    confidence : float, default: 0.95
        Strictly between 0 and 1.
    rng : int, numpy.random.Generator or SeedSequence, optional
        Source of the randomness; equal seeds give equal replicates.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    Estimate
        With all replicates.

    Raises
    ------
    InvalidInputError
        If sets are missing, or given where trials are picked.

    Warns
    -----
    FewErrorsWarning
        If an error-rate rests on fewer than 30 errors, or replicates lost a class.

    References
    ----------
    .. [1] J. C. Wu et al., "The impact of data dependence on speaker recognition evaluation",
       IEEE/ACM TASLP 25, 2017, doi:10.1109/TASLP.2016.2614725.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(1)
    >>> tar, non = 2 + rng.normal(size=500), rng.normal(size=5000)
    >>> found = unc.bootstrap(tar, non, unc.EER(), rng=2)
    >>> bool(found.low < found.value < found.high), found.replicates.size
    (True, 2000)
    """
    how = Resampling(method, replications, interval, confidence, rng, progress)
    chosen, sample = as_metric(metric), drawn_lists(tar, non, method, tar_sets, non_sets)
    found = how.estimate(chosen, [chosen.view(sample)])
    errors.warn([*chosen.notes(sample), *found.notes])
    return found


def drawn_lists(
    tar: ArrayLike,
    non: ArrayLike,
    method: Method,
    tar_sets: ArrayLike | None,
    non_sets: ArrayLike | None,
) -> Sample:
    """Return the sample of two lists of scores, with the sets that a method draws."""
    given = {"tar_sets": tar_sets, "non_sets": non_sets}
    check.check_class_rows(tar, non, **given)
    sample = Sample.from_scores(tar, non)
    if method == "iid":
        for name, sets in given.items():
            if sets is not None:
                hint = 'Sets take method="one-layer" or "two-layer".'
                raise check.invalid(name, 'be left out with method="iid"', "labels", hint)
        return sample
    tar_class = _with_sets(sample.tar, tar_sets, "tar_sets")
    return Sample(tar_class, _with_sets(sample.non, non_sets, "non_sets"))


def _with_sets(one: ScoredClass, sets: ArrayLike | None, name: str) -> ScoredClass:
    return ScoredClass(one.listed, speakers=(set_numbers(sets, one.size, name), None))


def set_numbers(labels: ArrayLike | None, n_trials: int | None, name: str) -> IntArray:
    """Return the number of the set of each trial, by labels that name at least two sets."""
    if labels is None:
        hint = 'Give the label of each trial\'s set, or use method="iid".'
        raise check.invalid(name, "be given when sets are resampled", "None", hint)
    # numpy would make the text "1" of the number 1, and "None" of a missing label.
    given = labels if isinstance(labels, np.ndarray) else np.array(labels, dtype=object)
    if given.dtype.kind == "O" and given.ndim and len({type(one) for one in given.tolist()}) == 1:
        given = np.array(given.tolist())
    if given.ndim != 1 or given.dtype.kind not in "iuUSTb":
        expected = "be a list of labels, all text or all whole numbers, without missing ones"
        raise check.invalid(name, expected, check.describe(labels))
    if n_trials is not None and given.size != n_trials:
        expected = f"have one label for each of the {n_trials} trials"
        raise check.invalid(name, expected, f"{given.size} labels")
    values, numbers = np.unique(given, return_inverse=True)
    if values.size < 2:
        raise check.invalid(name, "name at least two sets", f"{values.size}")
    return numbers


def bootstrap_scores(
    scores: AnySystem,
    key: Key,
    metric: object,
    *,
    against: AnySystem | None = None,
    method: Method = "speaker",
    speakers: SpeakersLike = None,
    conditions: ConditionsLike = None,
    replications: int = 2000,
    interval: IntervalKind = "percentile",
    confidence: float = 0.95,
    rng: Rng = None,
    progress: bool = False,
) -> Estimate:
    r"""Estimate the standard error and a confidence interval of a metric of a score matrix.

    Parameters
    ----------
    scores : Scores, or mapping of two
        Scores of the system; of two detectors in tandem ``{"asv": verifier, "cm":
        countermeasure}``.
    key : Key
        Which trials are targets and which non-targets.
    metric : metric or callable
        As for `bootstrap`.
    against : Scores, optional
        Another system on the same trials, which meets the same draws: the estimate is that of the
        difference, this system minus the other, with the correlation of both.
    method : {"speaker", "iid", "one-layer", "two-layer"}, default: "speaker"
        ``"speaker"``: pick speakers, each with all trials on either side. The others are those of
        `bootstrap`; a set is all target trials, or all non-target trials, of the models of one
        speaker, as in [1]_.
    speakers : optional
        A column of the key, a pair (of models, of segments), a mapping or a function of the id;
        by default models and segments are speakers themselves.
    conditions : optional
        Conditions with weights: the metric is the weighted one, on the data and in each replicate.
    replications, interval, confidence, rng, progress
        As for `bootstrap`.

    Returns
    -------
    Estimate
        With all replicates.

    Raises
    ------
    TrialMismatchError
        If the systems have scores of different trials.

    Warns
    -----
    FewErrorsWarning
        As for `bootstrap`.
    FewSpeakersWarning
        If there are fewer than 100 speakers, which are drawn.

    See Also
    --------
    speaker_interval : The interval by the jackknife, without random numbers.

    Notes
    -----
    A target trial of speaker i counts as often as i was picked, :math:`w_i`; a non-target trial
    with a model of speaker i and a segment of speaker j :math:`w_i w_j` times. So misses and false
    alarms vary together as they do when new speakers are recorded.

    References
    ----------
    .. [1] J. C. Wu et al., "The impact of data dependence on speaker recognition evaluation",
       IEEE/ACM TASLP 25, 2017, doi:10.1109/TASLP.2016.2614725.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py import uncertainty as unc
    >>> speakers, same = [f"speaker{i}" for i in range(120)], np.eye(120, dtype=bool)
    >>> habits = 1.5 * np.random.default_rng(1).normal(size=(120, 1))
    >>> scores = Scores(4.0 * same + habits + habits.T, speakers, speakers)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> by_speaker = unc.bootstrap_scores(scores, key, unc.Cllr(), rng=2)
    >>> by_trial = unc.bootstrap_scores(scores, key, unc.Cllr(), method="iid", rng=2)
    >>> bool(by_speaker.standard_error > 1.5 * by_trial.standard_error)
    True
    """
    how = Resampling(method, replications, interval, confidence, rng, progress)
    chosen = as_metric(metric)
    systems = [scores] if against is None else [scores, against]
    if against is not None:
        both = chosen.detectors(scores, "scores") | chosen.detectors(against, "against")
        check_same_trials(both, key)
    who = how.speakers(key, speakers)
    samples = [chosen.joined(one, key, conditions, who) for one in systems]
    found = how.estimate(chosen, [chosen.view(one) for one in samples])
    notes = [*chosen.notes(chosen.view(samples[0])), *found.notes]
    if against is not None:
        others = chosen.notes(chosen.view(samples[1]))
        notes += [attrs.evolve(note, about="against") for note in others]
    errors.warn(notes)
    return found
