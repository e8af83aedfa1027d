"""The bootstrap of two systems on the same trials.

At fixed thresholds a trial is one of a few kinds: each system rejects it or not, at
each of its thresholds. A replicate of independent trials is a multinomial draw of how often
each kind was picked; one of sets of trials adds up the errors of both systems in each
set once. Neither takes longer for more trials.
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self, get_args

import attrs
import numpy as np
import numpy.typing as npt
from scipy import special

from bosaris_py._arrays import (
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Weights,
    mark_read_only,
)
from bosaris_py._validation import invalid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.id_map import IdMap
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.scores import AnyScores
from bosaris_py.uncertainty.bootstrap import (
    Resampling,
    ScoresMethod,
    StatisticLike,
    check_run,
    draw_replicates,
    estimate_of,
    traits_of,
    warn_of_few_errors,
)
from bosaris_py.uncertainty.bootstrap_result import (
    Alternative,
    BootstrapResult,
    IntervalKind,
    check_choice,
    check_interval,
)
from bosaris_py.uncertainty.resampling import (
    IidPlan,
    ResamplingPlan,
    SetPlan,
    SpeakerPlan,
    SpeakerWeights,
)
from bosaris_py.uncertainty.samplers import (
    OneLayerSampler,
    Sampler,
    SetTable,
    SpeakerSumsSampler,
    call_function,
    count_rejected,
)
from bosaris_py.uncertainty.statistic import Statistic, ThresholdStatistic, check_statistic
from bosaris_py.uncertainty.strata import (
    Rng,
    ScoredTrials,
    Strata,
    TrialStrata,
    Unknown,
    as_generator,
    check_same_trials,
    weighted_sum,
)

Pair = tuple[FloatArray, FloatArray]

# With more kinds of trials than this, giving weights to trials is hardly slower.
_MOST_KINDS = 2**12


@attrs.frozen(eq=False)
class JointErrors:
    """How many trials of one class are of each kind: which system errs at which threshold.

    Parameters
    ----------
    counts : (k, n_kinds) ndarray of int64
        Number of trials of each condition and kind.
    errors : (n_kinds, m) ndarray of int64
        1 where a trial of this kind is an error; a column for each threshold of the
        first system, then for each of the second.
    shares : (k,) ndarray of float64
        Weight of each condition in the class.
    """

    counts: IntArray
    errors: IntArray
    shares: Float64Array

    @classmethod
    def of(
        cls,
        scores: Pair,
        limits: tuple[Float64Array, Float64Array],
        strata: Strata,
        *,
        accepted: bool,
    ) -> Self:
        """Sort the trials of one class by kind.

        Parameters
        ----------
        scores : pair of (n,) ndarray of float
            Scores of both systems.
        limits : pair of ndarray of float64
            Their thresholds.
        strata : Strata
            The conditions of the trials.
        accepted : bool
            Whether an accepted trial is an error, else a rejected one.
        """
        n_cells = [values.size + 1 for values in limits]
        kinds = np.zeros(strata.n_trials, dtype=np.int64)
        columns = []
        for values, own, size in zip(scores, limits, n_cells, strict=True):
            order = np.argsort(own, kind="stable")
            kinds *= size
            # Accepted at this many thresholds, the lowest ones.
            kinds += np.searchsorted(
                own[order], values.astype(np.float64, copy=False), side="right"
            )
            errs = np.empty((size, own.size), dtype=np.int64)
            errs[:, order] = (np.arange(own.size) < np.arange(size)[:, None]) == accepted
            columns.append(errs)
        if strata.labels is not None:
            kinds += strata.labels.astype(np.int64) * (n_cells[0] * n_cells[1])
        n_kinds = n_cells[0] * n_cells[1]
        counts = np.bincount(kinds, minlength=strata.n_strata * n_kinds)
        errors = np.hstack(
            (np.repeat(columns[0], n_cells[1], axis=0), np.tile(columns[1], (n_cells[0], 1)))
        )
        return cls(
            mark_read_only(counts.reshape(-1, n_kinds)), mark_read_only(errors), strata.shares
        )

    def draw_rates(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw error-rates: (n_replicates, m)."""
        rates = []
        for counts in self.counts:
            kinds = np.flatnonzero(counts)
            size = int(counts.sum())
            picks = rng.multinomial(size, counts[kinds] / size, size=n_replicates)
            rates.append(np.einsum("ij,jm->im", picks, self.errors[kinds]) / size)
        return np.asarray(weighted_sum(rates, self.shares))


@attrs.frozen(eq=False)
class _BothCosts:
    """Makes the values of both systems from error-rates side by side."""

    first: ThresholdStatistic
    second: ThresholdStatistic

    def __call__(self, pmiss: Float64Array, pfa: Float64Array) -> Any:
        """Return one row for each replicate, one column for each system."""
        n_miss, n_fa = self.first.miss_limits.size, self.first.fa_limits.size
        return np.stack(
            (
                self.first.combine(pmiss[:, :n_miss], pfa[:, :n_fa]),
                self.second.combine(pmiss[:, n_miss:], pfa[:, n_fa:]),
            ),
            axis=1,
        )


@attrs.frozen(eq=False)
class JointRateSampler:
    """Statistics of the error-rates of two systems, trials picked.

    Parameters
    ----------
    tar, non : JointErrors
        Number of trials of each kind.
    combine : _BothCosts
        Makes the statistics from miss and false-alarm rates.
    """

    block: ClassVar[int] = 500

    tar: JointErrors
    non: JointErrors
    combine: _BothCosts

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates along the first axis, systems along the second."""
        pmiss = self.tar.draw_rates(n_replicates, rng)
        return np.asarray(self.combine(pmiss, self.non.draw_rates(n_replicates, rng)))


def paired_rate_sampler(
    statistics: tuple[ThresholdStatistic, ThresholdStatistic],
    tar: Pair,
    non: Pair,
    plan: ResamplingPlan,
) -> Sampler | None:
    """Make a sampler of two systems at fixed thresholds.

    Parameters
    ----------
    statistics : pair of ThresholdStatistic
        One for each system.
    tar, non : pair of (n,) ndarray of float
        Scores of both systems, in the order for which the plan was made.
    plan : ResamplingPlan
        How trials are drawn.

    Returns
    -------
    Sampler or None
        None if the plan is another one, or there are many thresholds.
    """
    first, second = statistics
    miss_limits = first.miss_limits, second.miss_limits
    fa_limits = first.fa_limits, second.fa_limits
    combine = _BothCosts(first, second)
    if isinstance(plan, IidPlan):
        if (fa_limits[0].size + 1) * (fa_limits[1].size + 1) > _MOST_KINDS:
            return None
        return JointRateSampler(
            JointErrors.of(tar, miss_limits, plan.strata.tar, accepted=False),
            JointErrors.of(non, fa_limits, plan.strata.non, accepted=True),
            combine,
        )
    if isinstance(plan, SetPlan) and not plan.two_layer:
        of_tar, of_non = plan.cells
        misses = [count_rejected(*pair, of_tar) for pair in zip(tar, miss_limits, strict=True)]
        correct = [count_rejected(*pair, of_non) for pair in zip(non, fa_limits, strict=True)]
        alarms = of_non.sizes[:, None] - np.hstack(correct)
        return OneLayerSampler(
            SetTable.from_sums(of_tar.sizes, np.hstack(misses), plan.strata.tar.shares),
            SetTable.from_sums(of_non.sizes, alarms, plan.strata.non.shares),
            combine,
        )
    return None


@attrs.frozen(eq=False, repr=False)
class PairedBootstrapResult:
    """How a metric of two systems differs, with the spread of the difference.

    Numbers are floats; for a statistic whose value is an array they are arrays of
    the same shape.

    Parameters
    ----------
    first, second : BootstrapResult
        The metric of each system. Replicate i of both is of the same resampled
        trials.
    contrast : BootstrapResult
        The difference, first minus second.
    alternative : {"two-sided", "less", "greater"}
        What counts as extreme: any difference, or one that is less or greater
        than zero.
    """

    first: BootstrapResult
    second: BootstrapResult
    contrast: BootstrapResult
    alternative: Alternative

    @property
    def difference(self) -> Any:
        """Metric of the first system minus that of the second."""
        return _plain(self.contrast.estimate)

    @property
    def standard_error(self) -> Any:
        """Standard error of the difference."""
        return self.contrast.standard_error

    @property
    def low(self) -> Any:
        """Lower end of the confidence interval of the difference."""
        return self.contrast.low

    @property
    def high(self) -> Any:
        """Upper end of the confidence interval of the difference."""
        return self.contrast.high

    @property
    def n_degenerate(self) -> int:
        """Number of replicates on which the statistic of a system is not defined."""
        return self.contrast.n_degenerate

    @property
    def _defined(self) -> npt.NDArray[np.bool_]:
        replicates = self.contrast.replicates
        flat = replicates.reshape(replicates.shape[0], -1)
        return np.asarray(np.isfinite(flat).all(axis=1))

    @property
    def correlation(self) -> Any:
        """Correlation of the two systems' replicates; NaN if one of them does not vary."""
        a, b = (result.replicates[self._defined] for result in (self.first, self.second))
        covariance = np.sum((a - a.mean(axis=0)) * (b - b.mean(axis=0)), axis=0) / (len(a) - 1)
        spread = np.multiply(self.first.standard_error, self.second.standard_error)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.clip(covariance / spread, -1.0, 1.0)
        return _plain(np.where(spread > 0, ratio, np.nan))

    @property
    def z(self) -> Any:
        """Difference over its standard error; 0 if both are zero, NaN if the latter is."""
        difference, spread = np.asarray(self.difference), np.asarray(self.standard_error)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(spread > 0, difference / spread, np.nan)
        return _plain(np.where(difference == 0, 0.0, ratio))

    @property
    def p_value(self) -> Any:
        """Chance of a z at least as extreme if the systems are alike, z being normal."""
        z = np.asarray(self.z)
        # The lower tail is used throughout: 1 - ndtr(z) would round small p to zero.
        tail = {"two-sided": -np.abs(z), "less": z, "greater": -z}[self.alternative]
        return _plain(special.ndtr(tail) * (2.0 if self.alternative == "two-sided" else 1.0))

    @property
    def replicate_p_value(self) -> Any:
        """Share of replicates whose difference lies on the other side of zero.

        Twice the smaller share if two-sided. Takes no normal distribution, but
        cannot be smaller than 1 / (B + 1): the observed difference counts as one
        replicate. The p-value that belongs to the percentile interval.
        """
        replicates = self.contrast.replicates[self._defined]
        total = replicates.shape[0] + 1.0
        below = (1.0 + np.count_nonzero(replicates <= 0, axis=0)) / total
        above = (1.0 + np.count_nonzero(replicates >= 0, axis=0)) / total
        both = np.minimum(2.0 * np.minimum(below, above), 1.0)
        return _plain({"two-sided": both, "less": above, "greater": below}[self.alternative])

    def __repr__(self) -> str:
        """Put both values, the difference and its test on a few lines."""
        if np.ndim(self.difference):
            return f"PairedBootstrapResult of differences; {self.contrast!r}"
        contrast = self.contrast
        percent = f"{100 * contrast.confidence:g} % {contrast.interval} interval"
        return (
            f"PairedBootstrapResult: {self.first.estimate:.4g} - {self.second.estimate:.4g} = "
            f"{self.difference:.4g}, standard error {self.standard_error:.2g}, {percent} "
            f"{self.low:.4g} to {self.high:.4g}, correlation {self.correlation:.2f}, "
            f"z {self.z:.3g}, p {self.p_value:.3g} ({self.alternative}; {contrast.method} "
            f"bootstrap, {contrast.replicates.shape[0]} replicates)"
        )


def paired_bootstrap(
    scores_a: AnyScores,
    scores_b: AnyScores,
    key: AnyKey,
    statistic: StatisticLike,
    statistic_b: StatisticLike | None = None,
    *,
    method: ScoresMethod = "speaker",
    model_speakers: IdMap | None = None,
    segment_speakers: IdMap | None = None,
    unknown: Unknown = "refuse",
    weights: SpeakerWeights = "multinomial",
    pigeonhole: bool = False,
    conditions: Conditions | None = None,
    alternative: Alternative = "two-sided",
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> PairedBootstrapResult:
    r"""Compare a metric of two systems by resampling both in the same way.

    What makes a set of speakers or trials hard is usually hard for both systems,
    so their errors vary together and the difference varies less than either.

    Parameters
    ----------
    scores_a, scores_b : Scores or FlatScores
        Scores of the two systems, on the same trials of `key`.
    key : Key or FlatKey
        Which trials are targets and which non-targets.
    statistic : Statistic or callable
        The metric, as for `bootstrap_scores`.
    statistic_b : Statistic or callable, optional
        That of the second system where it is another one, for instance a `DCF`
        at another threshold.
    method, model_speakers, segment_speakers, unknown, weights, pigeonhole
        How to resample, as for `bootstrap_scores`.
    conditions : Conditions, optional
        Weights of conditions, as for `bootstrap_scores`.
    alternative : {"two-sided", "less", "greater"}, default: "two-sided"
        Whether any difference counts, or only a first system whose metric is
        less or greater than that of the second.
    replications, confidence, interval, rng, workers, progress
        As for `bootstrap_scores`. The interval is that of the difference, and of
        the metric of each system.

    Returns
    -------
    PairedBootstrapResult
        Difference, its standard error and interval, correlation, z and p, and
        the result of each system. `ComparisonTable` takes it.

    Raises
    ------
    InvalidInputError
        As `bootstrap_scores`.
    TrialMismatchError
        If a trial of the key has a score in one of the systems only, or as
        `bootstrap_scores` with conditions.

    Warns
    -----
    FewErrorsWarning
        If a rate of a `DCF`, `ActDCF` or `ErrorRates` rests on fewer than 30 errors
        in either system.
    MissingTrialsWarning
        If trials of the key have no scores in either system; they are left out.
    DegenerateReplicatesWarning
        If the statistic of a system is not defined on some replicates.

    See Also
    --------
    speaker_z_test : For a cost at a fixed threshold, by a formula: more powerful.
    holm_correction : For the comparison of many systems.

    Notes
    -----
    Wu et al. [1]_ compare two systems by

    .. math::

        z = \frac{C_A - C_B}{\sqrt{SE_A^2 + SE_B^2 - 2 \rho\, SE_A SE_B}},

    where :math:`\rho` is the correlation of replicates that were made by picking the
    same trials for both. The root is the standard deviation of the difference of
    the replicates, which is how it is computed here.

    With ``method="speaker"`` the standard error of the difference is usually too large, by
    up to :math:`\sqrt 3`, and the test has less power than it could: two systems share
    the habits of speakers, which cancel, and what is left, the luck of pairs and of single
    trials, counts three times, see `bootstrap_scores`. For costs at fixed thresholds prefer
    `speaker_z_test`, or `speaker_permutation_test_scores`.

    References
    ----------
    .. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact
       of data dependence on speaker recognition evaluation", IEEE/ACM TASLP 25,
       2017, doi:10.1109/TASLP.2016.2614725.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(1)
    >>> speakers, same = [f"speaker{i}" for i in range(40)], np.eye(40, dtype=bool)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> good = 4.0 * same + rng.normal(size=(40, 40))
    >>> a, b = (Scores(m, speakers, speakers) for m in (good, good + rng.normal(size=(40, 40))))
    >>> result = unc.paired_bootstrap(a, b, key, unc.Cllr(), rng=2)
    >>> bool(result.difference < 0), bool(result.p_value < 0.05)
    (True, True)
    """
    statistics = (statistic, statistic if statistic_b is None else statistic_b)
    for candidate in statistics:
        check_statistic(candidate)
    n_replicates, n_workers = check_run(replications, workers, confidence)
    check_choice(alternative, get_args(Alternative), "alternative")
    default_interval, _ = traits_of(statistic)
    kind = default_interval if interval is None else interval
    check_interval(kind)
    generator = as_generator(rng)
    resampling = Resampling(method, model_speakers, segment_speakers, unknown, weights, pigeonhole)
    check_same_trials((scores_a, scores_b), key)
    trials = ScoredTrials.of(scores_a, key, conditions)
    plan = resampling.plan(key, trials)
    systems = [
        _System(candidate, *trials.take(scores, key))
        for candidate, scores in zip(statistics, (scores_a, scores_b), strict=True)
    ]
    estimates = [estimate_of(s.statistic, s.tar, s.non, trials.strata) for s in systems]
    shapes = [np.shape(estimate) for estimate in estimates]
    if shapes[0] != shapes[1]:
        expected = f"have a value of shape {shapes[0]}, like `statistic`"
        raise invalid("statistic_b", expected, f"{shapes[1]}")
    warn_of_few_errors(statistics, [(s.tar, s.non) for s in systems], trials.strata)
    replicates = draw_replicates(
        _sampler(systems, plan, shapes[0]),
        n_replicates,
        generator,
        workers=n_workers,
        progress=progress,
    )
    # A replicate that one system cannot use is of no use for a comparison.
    undefined = ~np.isfinite(replicates.reshape(n_replicates, -1)).all(axis=1)
    replicates[undefined] = np.nan
    bounds = [traits_of(s.statistic)[1] for s in systems]
    (low_a, high_a), (low_b, high_b) = bounds
    common: dict[str, Any] = {"method": method, "interval": kind, "confidence": float(confidence)}
    contrast = BootstrapResult.from_replicates(
        _plain(np.subtract(*estimates)),
        replicates[:, 0] - replicates[:, 1],
        told=True,
        magnitude=np.maximum(*np.abs(estimates)),
        bounds=(np.subtract(low_a, high_b), np.subtract(high_a, low_b)),
        **common,
    )
    first, second = (
        BootstrapResult.from_replicates(
            estimate, replicates[:, i].copy(), bounds=bounds[i], quiet=True, **common
        )
        for i, estimate in enumerate(estimates)
    )
    return PairedBootstrapResult(first, second, contrast, alternative)


@attrs.frozen(eq=False)
class _System:
    """Scores of one system, with the statistic that is made of them."""

    statistic: StatisticLike
    tar: FloatArray
    non: FloatArray

    def prepare(self, strata: TrialStrata, shape: tuple[int, ...]) -> "_Prepared":
        """Sort once, for many sets of weights."""
        if not isinstance(self.statistic, Statistic):
            function = _Function(self.statistic, self.tar, self.non, strata, shape)
            return _Prepared(function, None, None)
        tar_sorted, tar_order = strata.tar.arranged(self.tar)
        non_sorted, non_order = strata.non.arranged(self.non)
        return _Prepared(self.statistic.evaluator(tar_sorted, non_sorted), tar_order, non_order)


@attrs.frozen(eq=False)
class _Function:
    """A user's function of scores and weights, as a function of picks."""

    function: Callable[..., Any]
    tar: FloatArray
    non: FloatArray
    strata: TrialStrata
    shape: tuple[int, ...]

    def __call__(self, tar_weights: Weights, non_weights: Weights) -> Any:
        """Return the value for weights in the order of the trials."""
        weights = self.strata.weigh(tar_weights, non_weights)
        return call_function(self.function, self.tar, self.non, *weights, shape=self.shape)


@attrs.frozen(eq=False)
class _Prepared:
    """A function of weights, and the order in which it wants them."""

    evaluate: Callable[[Weights, Weights], Any]
    tar_order: IndexArray | None
    non_order: IndexArray | None

    def __call__(self, tar_weights: Weights, non_weights: Weights) -> Any:
        """Return the value for weights in the order of the trials."""
        if self.tar_order is not None and self.non_order is not None:
            tar_weights, non_weights = tar_weights[self.tar_order], non_weights[self.non_order]
        return self.evaluate(tar_weights, non_weights)


@attrs.frozen(eq=False)
class _PairedSampler:
    """Any statistics of several systems: draw the weights of trials once for all."""

    block: ClassVar[int] = 50

    plan: ResamplingPlan
    systems: tuple[_Prepared, ...]
    shape: tuple[int, ...]

    def draw(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        """Draw replicates along the first axis, systems along the second."""
        replicates = np.full((n_replicates, len(self.systems), *self.shape), np.nan)
        for i in range(n_replicates):
            weights = self.plan.draw_weights(rng)
            if self.plan.strata.complete(*weights):
                for j, system in enumerate(self.systems):
                    replicates[i, j] = system(*weights)
        return replicates


def _sampler(systems: list[_System], plan: ResamplingPlan, shape: tuple[int, ...]) -> Sampler:
    """Choose the fastest way to draw replicates of two systems at once."""
    if isinstance(plan, SpeakerPlan):
        sums = [
            system.statistic.speaker_sums(system.tar, system.non, plan)
            for system in systems
            if isinstance(system.statistic, Statistic)
        ]
        found = tuple(s for s in sums if s is not None)
        if len(found) == len(systems):
            return SpeakerSumsSampler(plan.persons, found)
    first, second = systems
    statistics = first.statistic, second.statistic
    if isinstance(statistics[0], ThresholdStatistic) and isinstance(
        statistics[1], ThresholdStatistic
    ):
        scores = (first.tar, second.tar), (first.non, second.non)
        sampler = paired_rate_sampler((statistics[0], statistics[1]), *scores, plan)
        if sampler is not None:
            return sampler
    return _PairedSampler(
        plan, tuple(system.prepare(plan.strata, shape) for system in systems), shape
    )


def _plain(value: Any) -> Any:
    """Return a 0-d array as a float."""
    array = np.asarray(value, dtype=np.float64)
    return float(array) if array.ndim == 0 else mark_read_only(array)
