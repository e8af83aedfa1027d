"""Bootstraps of a score matrix: by trials, by sets of trials, by speakers."""

from typing import Any, Literal, TypeAlias, get_args

import attrs
import numpy as np

from bosaris_py._execution import whole_number
from bosaris_py._validation import check_fraction, describe, invalid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.forms import AnyKey, AnyScores
from bosaris_py.trials.id_map import IdMap
from bosaris_py.uncertainty.bootstrap import (
    StatisticLike,
    estimate_of,
    make_plan,
    make_sampler,
    traits_of,
    warn_of_few_errors,
)
from bosaris_py.uncertainty.bootstrap_result import BootstrapResult, IntervalKind, check_interval
from bosaris_py.uncertainty.estimates import check_choice
from bosaris_py.uncertainty.resampling_plans import ResamplingPlan
from bosaris_py.uncertainty.running import Rng, as_generator, draw_replicates
from bosaris_py.uncertainty.scored_trials import ScoredTrials
from bosaris_py.uncertainty.speaker_plan import SpeakerPlan, SpeakerWeights
from bosaris_py.uncertainty.speakers import TrialSpeakers, Unknown
from bosaris_py.uncertainty.statistic import check_statistic

__all__ = [
    "Resampling",
    "ScoresMethod",
    "bootstrap_scores",
    "check_run",
]

ScoresMethod: TypeAlias = Literal["iid", "one-layer", "two-layer", "speaker"]

_FEWEST_REPLICATIONS = 2


def bootstrap_scores(
    scores: AnyScores,
    key: AnyKey,
    statistic: StatisticLike,
    *,
    method: ScoresMethod = "speaker",
    model_speakers: IdMap | None = None,
    segment_speakers: IdMap | None = None,
    unknown: Unknown = "refuse",
    weights: SpeakerWeights = "multinomial",
    pigeonhole: bool = False,
    conditions: Conditions | None = None,
    replications: int = 2000,
    confidence: float = 0.95,
    interval: IntervalKind | None = None,
    rng: Rng = None,
    workers: int = 1,
    progress: bool = False,
) -> BootstrapResult:
    r"""Estimate the standard error and a confidence interval of a metric of a score matrix.

    In a matrix of trials one speaker occurs in a row and in a column of trials.
    ``method="speaker"`` resamples speakers, each with all these trials; the
    other methods are those of the papers, for comparison.

    Parameters
    ----------
    scores : Scores or FlatScores
        Scores of the system.
    key : Key or FlatKey
        Which trials are targets and which non-targets.
    statistic : Statistic or callable
        As for `bootstrap`. A function gets the scores column by column of the
        key, and weights that with ``weights="exponential"`` or `conditions` are not
        whole.
    method : {"speaker", "iid", "one-layer", "two-layer"}, default: "speaker"
        ``"speaker"``: draw a weight for each speaker. ``"iid"``: pick trials.
        ``"one-layer"``: pick sets of trials. ``"two-layer"``: pick sets, and
        trials within each set picked. A set is all target trials, or all
        non-target trials, of the models of one speaker, as in [1]_.
    model_speakers : IdMap, optional
        From model to speaker. By default each model is a speaker of its own.
    segment_speakers : IdMap, optional
        From test segment to speaker. By default the speaker of a segment is
        that of the models whose target it is. Used by ``"speaker"`` only.
    unknown : {"refuse", "own"}, default: "refuse"
        What to do where the speaker is not known: refuse, or take each model or
        segment for a speaker of its own, with a warning.
    weights : {"multinomial", "exponential", "double-or-nothing"}
        The law of a speaker's weight: how often one is picked when as many are
        picked as there are; exponential with mean 1; or 0 or 2. Exponential
        weights are never zero, so no class is ever lost: the choice if targets
        are of a few speakers only. For ``"speaker"`` only.
    pigeonhole : bool, default: False
        Whether the persons on the two sides are different ones, drawn
        independently. For ``"speaker"`` only.
    conditions : Conditions, optional
        Weights of conditions: the metric is the condition-weighted one, on the data and
        in each replicate, see Notes. Trials may be in one condition only.
    replications : int, default: 2000
        Number of replicates B, at least 2. Standard errors need a few hundred,
        the ends of a 95 % interval 2000.
    confidence : float, default: 0.95
        Nominal coverage of the interval, strictly between 0 and 1.
    interval : {"percentile", "basic", "normal"}, optional
        Kind of interval; the default depends on the statistic as for `bootstrap`.
    rng : Generator, int or None
        Source of randomness. The same seed gives the same replicates, however
        many workers there are. Draws are made from children that a Generator
        spawns: its own position stays, and another call with it gives new
        replicates.
    workers : int, default: 1
        Number of processes. A script that uses several must protect its main
        part by ``if __name__ == "__main__":``.
    progress : bool, default: False
        Show a progress bar.

    Returns
    -------
    BootstrapResult
        Estimate, standard error, interval and all replicates.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, a speaker is not known, there are
        fewer than two speakers or sets, the speakers contradict the key, the
        statistic is not finite on the data, conditions overlap, or an option is out of
        range.
    TrialMismatchError
        If a trial is in no condition, unless they allow that, or a condition has no
        trial with a score.

    Warns
    -----
    FewErrorsWarning
        If a rate of a `DCF`, `ActDCF` or `ErrorRates` rests on fewer than 30 errors,
        or all replicates are alike, so that a standard error of 0 means nothing.
    MissingTrialsWarning
        If trials of the key have no scores, they are left out; or if models or
        segments were taken for speakers of their own.
    DegenerateReplicatesWarning
        If the statistic is not defined on some replicates, for instance because
        all speakers with targets, or with targets of a condition, got weight zero.
    ConditionWarning
        If conditions have trials of one class only.

    See Also
    --------
    speaker_errors : Standard error of a cost at a fixed threshold by a formula, which is
        the more accurate where speakers matter little.
    paired_bootstrap, speaker_z_test : Compare two systems.

    Notes
    -----
    Let speaker i have weight :math:`w_i`. A target trial of speaker i gets the
    weight :math:`w_i`, a non-target trial with a model of speaker i and a segment
    of speaker j gets :math:`w_i w_j`. So a speaker's habits, as a goat, a lamb or a
    wolf, appear in a replicate together, and misses and false alarms vary together
    as they do when new speakers are recorded. A target trial has one speaker, so
    its weight is not squared; that would make the miss rate's error too large by
    more than half. A speaker who is picked twice does not become two persons: no target
    trials are made of the two copies.

    With ``pigeonhole=True`` [2]_ models have the weights :math:`w_i` of the persons on
    their side, segments independent weights :math:`v_j`, and every trial the product.
    Right where rows and columns are different things, for instance languages and
    speakers; for speaker verification it makes the error of the miss rate too
    large. `segment_speakers` may then name persons who are in no model.

    What is peculiar to single pairs of speakers, beyond the speakers' habits, enters
    the variance three times [2]_; so does the luck of single trials if a pair has one
    or few of them. Where speakers' habits dominate this hardly matters. Where they are
    weak, or trials of each pair are few, the standard error is too large, by up to
    :math:`\sqrt 3`: intervals are too wide, never too narrow. `speaker_errors` counts
    pairs once and is the accurate one there. The number of speakers is what limits the
    accuracy, not that of trials.

    *Conditions.* With weights :math:`w_\alpha` of conditions, the error-rates of a
    replicate are

    .. math::

        P^* = \sum_\alpha w_\alpha \frac{\sum_{i \in \alpha} v_i e_i}{\sum_{i \in \alpha} v_i},

    where :math:`v_i` is the weight that trial i got from its speakers or from picks of it,
    and :math:`e_i` says if it is an error: weights are divided by the replicate's own
    total in each condition, and all other metrics follow in the same way. Speakers and
    sets may be of several conditions, and are drawn from all; ``"iid"`` picks trials
    within each condition, see `bootstrap`. If a condition loses all its weight the
    replicate is degenerate: with small conditions ``weights="exponential"`` is safer.

    In 300 simulated data sets of 80 speakers the nominal 95 % interval of a cost
    at a fixed threshold covers the truth 93 % of the time by speakers, 79 to 81 %
    by sets and 26 % by trials; with 10 speakers 89 % by speakers
    (``benchmarks/coverage_study.py``).

    Statistics made of sums over trials, `DCF`, `ActDCF`, `ErrorRates` and `Cllr`,
    add these sums for each pair of speakers once; a replicate is then a quadratic
    form in the weights, :math:`w^T F w`. For the others the weights are gathered on
    the sorted scores.

    References
    ----------
    .. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact
       of data dependence on speaker recognition evaluation", IEEE/ACM TASLP 25,
       2017, doi:10.1109/TASLP.2016.2614725.
    .. [2] A. B. Owen and D. Eckles, "Bootstrapping data arrays of arbitrary
       order", Annals of Applied Statistics 6, 2012, doi:10.1214/12-AOAS547.

    Examples
    --------
    >>> import numpy as np
    >>> from bosaris_py import Key, Scores
    >>> from bosaris_py import uncertainty as unc
    >>> speakers, same = [f"speaker{i}" for i in range(30)], np.eye(30, dtype=bool)
    >>> habits = np.random.default_rng(1).normal(size=(30, 1))
    >>> scores = Scores(4.0 * same + habits + habits.T, speakers, speakers)
    >>> key = Key(speakers, speakers, same, ~same)
    >>> by_speaker = unc.bootstrap_scores(scores, key, unc.Cllr(), rng=2)
    >>> by_trial = unc.bootstrap_scores(scores, key, unc.Cllr(), method="iid", rng=2)
    >>> bool(by_speaker.standard_error > 1.5 * by_trial.standard_error)
    True
    """
    owner = "bootstrap_scores"
    check_statistic(statistic, owner)
    n_replicates, n_workers = check_run(replications, workers, confidence, owner)
    default_interval, bounds = traits_of(statistic)
    kind = default_interval if interval is None else interval
    check_interval(kind, owner)
    generator = as_generator(rng, owner)
    resampling = Resampling(
        method, model_speakers, segment_speakers, unknown, weights, pigeonhole, owner
    )
    trials = ScoredTrials.of(scores, key, conditions, owner)
    plan = resampling.plan(key, trials)
    tar, non = trials.take(scores, key, owner)
    estimate = estimate_of(statistic, tar, non, trials.strata, owner)
    told = warn_of_few_errors((statistic,), ((tar, non),), trials.strata)
    sampler = make_sampler(statistic, tar, non, plan, np.shape(estimate))
    replicates = draw_replicates(
        sampler, n_replicates, generator, workers=n_workers, progress=progress
    )
    return BootstrapResult.from_replicates(
        estimate,
        replicates,
        method=method,
        interval=kind,
        confidence=float(confidence),
        bounds=bounds,
        owner=owner,
        told=told,
    )


def check_run(replications: Any, workers: Any, confidence: float, owner: str) -> tuple[int, int]:
    """Check the options of a run; return the number of replicates and of workers."""
    check_fraction(confidence, "confidence", owner)
    n_replicates = whole_number(replications, _FEWEST_REPLICATIONS, "replications", owner)
    return n_replicates, whole_number(workers, 1, "workers", owner)


@attrs.frozen
class Resampling:
    """How the trials of a key are to be resampled: the options of several functions.

    Parameters
    ----------
    method, model_speakers, segment_speakers, unknown, weights, pigeonhole
        As for `bootstrap_scores`.
    owner : str
        The public function that asks, for messages.
    """

    method: ScoresMethod
    model_speakers: IdMap | None
    segment_speakers: IdMap | None
    unknown: Unknown
    weights: SpeakerWeights
    pigeonhole: bool
    owner: str

    def __attrs_post_init__(self) -> None:
        """Check the method, and that nothing was asked for that it does not do."""
        check_choice(self.method, get_args(ScoresMethod), "method", self.owner)
        check_choice(self.weights, get_args(SpeakerWeights), "weights", self.owner)
        if self.method == "speaker":
            return
        hint = 'Did you mean method="speaker"?'
        expected = f'be left out with method="{self.method}"'
        if self.weights != "multinomial":
            raise invalid("weights", self.owner, expected, describe(self.weights), hint)
        if self.pigeonhole:
            raise invalid("pigeonhole", self.owner, expected, "True", hint)

    def plan(self, key: AnyKey, trials: ScoredTrials) -> ResamplingPlan:
        """Make the plan for the trials that have scores."""
        (tar_rows, tar_cols), (non_rows, non_cols) = trials.tar, trials.non
        if self.method == "speaker":
            speakers = TrialSpeakers.of_key(
                key,
                self.model_speakers,
                self.segment_speakers,
                unknown=self.unknown,
                one_person=not self.pigeonhole,
                owner=self.owner,
            )
            of_models, of_segments = speakers.of_models, speakers.of_segments
            return SpeakerPlan.from_persons(
                (of_models[tar_rows], of_segments[tar_cols]),
                (of_models[non_rows], of_segments[non_cols]),
                pigeonhole=self.pigeonhole,
                weighting=self.weights,
                strata=trials.strata,
                owner=self.owner,
            )
        tar_sets = non_sets = None
        if self.method != "iid":
            sets = TrialSpeakers.of_models_only(
                key, self.model_speakers, unknown=self.unknown, owner=self.owner
            ).of_models
            tar_sets, non_sets = sets[tar_rows], sets[non_rows]
            for labels, what in ((tar_sets, "target"), (non_sets, "non-target")):
                if labels.min() == labels.max():
                    expected = f"have {what} trials of models of at least two speakers"
                    raise invalid("key", self.owner, expected, "1")
        return make_plan(trials.strata, self.method, tar_sets, non_sets, self.owner)
