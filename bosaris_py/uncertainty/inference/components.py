"""Components of variance: what speakers, their pairs, trials and runs of a training vary."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array, mark_read_only
from bosaris_py._tables import Table, joined_notes, or_none, scale_of_costs
from bosaris_py._validation import invalid
from bosaris_py.trials.conditions import Conditions
from bosaris_py.trials.inputs import KeyLike
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.scores import AnyScores
from bosaris_py.trials.speaker_pairs import SpeakerPairs, sum_by_label
from bosaris_py.trials.speakers import SpeakerOptions, Speakers
from bosaris_py.trials.strata import Strata
from bosaris_py.uncertainty.bootstrapping import metric_name
from bosaris_py.uncertainty.inference.prediction import samples_of_runs, spread_of_runs
from bosaris_py.uncertainty.influence.losses import LinearStatistic, losses_of
from bosaris_py.uncertainty.influence.speaker_influence import (
    FEWEST_FOR_INTERVAL,
    SpeakerInfluence,
    check_influences,
)
from bosaris_py.uncertainty.statistics.functions import warn_unless_fit

_SOURCES = "speakers", "pairs", "trials", "runs"

# Below this share of the product of its diagonal, a determinant of two equations is rounding.
_SINGULAR = 1e-9


@attrs.frozen(eq=False, repr=False)
class VarianceComponents(Table):
    """What the variance of a metric is made of; made by `variance_components`.

    Parameters
    ----------
    names : tuple of str
        The systems.
    estimates : (m,) ndarray of float64
        The metric of each, the mean of its runs.
    n_runs : tuple of int
        Number of runs of each.
    n_speakers : int
        Number of speakers who take part in trials.
    variances : (m, 4) ndarray of float64
        Parts of the variance of each estimate, due to speakers, pairs of speakers, trials of a pair
        and runs. An unbiased estimate may be below 0; NaN if the data do not tell.
    metric : str
        Name of the metric.
    """

    names: tuple[str, ...]
    estimates: Float64Array
    n_runs: tuple[int, ...]
    n_speakers: int
    variances: Float64Array
    metric: str = ""

    @property
    def run_variances(self) -> Float64Array:
        """Variance of a single run due to its training: (m,)."""
        return np.asarray(self.variances[:, 3] * np.array(self.n_runs))

    @property
    def standard_errors(self) -> Float64Array:
        """Root of the sum of the parts, which is 0 if they are not above 0: (m,)."""
        return np.asarray(np.sqrt(np.maximum(np.nansum(self.variances, axis=1), 0.0)))

    @property
    def shares(self) -> Float64Array:
        """Share of each part in the sum of those above 0: (m, 4); NaN if there is none."""
        above = np.maximum(self.variances, 0.0)
        with np.errstate(invalid="ignore"):
            return np.asarray(above / np.nansum(above, axis=1, keepdims=True))

    def records(self) -> list[dict[str, Any]]:
        """Return a dict for each system.

        Returns
        -------
        list of dict
            ``system``, ``metric``, ``estimate``, ``standard_error``, ``n_speakers``, ``n_runs``,
            and of each part its variance and share, such as ``speakers_variance`` and
            ``speakers_share``.
        """
        rows = []
        for i, name in enumerate(self.names):
            row = {
                "system": name,
                "metric": self.metric or None,
                "estimate": float(self.estimates[i]),
                "standard_error": float(self.standard_errors[i]),
                "n_speakers": self.n_speakers,
                "n_runs": self.n_runs[i],
            }
            for source, *numbers in zip(_SOURCES, self.variances[i], self.shares[i], strict=True):
                for what, number in zip(("variance", "share"), numbers, strict=True):
                    row[f"{source}_{what}"] = or_none(float(number))
            rows.append(row)
        return rows

    @property
    def _note(self) -> str:
        columns = zip(_SOURCES, self.variances.T, strict=True)
        sources = [source for source, column in columns if not np.isnan(column).all()]
        parts = f"shares of {', '.join(sources)} in the variance"
        return joined_notes(self.metric, parts, f"{self.n_speakers} speakers")

    def _texts(self) -> list[list[str]]:
        rows = [["system", "value", "SE", *_SOURCES]]
        for name, value, error, shares in zip(
            self.names, self.estimates, self.standard_errors, self.shares, strict=True
        ):
            told = ("-" if math.isnan(share) else f"{100 * share:.0f} %" for share in shares)
            rows.append([name, f"{value:.4f}", f"{error:.4f}", *told])
        return rows


def variance_components(
    systems: Mapping[str, AnyScores | Sequence[AnyScores]],
    key: KeyLike,
    statistic: LinearStatistic,
    *,
    conditions: Conditions | None = None,
    **speakers: Unpack[SpeakerOptions],
) -> VarianceComponents:
    r"""Divide the variance of a metric among speakers, pairs of speakers, trials and runs.

    The parts show what the next evaluation should have more of. More trials of the same speakers
    do not help where speakers make most of the variance.

    Parameters
    ----------
    systems : mapping of str to Scores or FlatScores, or to sequences of these
        Systems by name, each with its scores or with those of several runs of its training,
        ``{"a": [run1, run2, run3]}``. Each has a score of every trial.
    key, statistic, conditions
        As for `speaker_interval`; minimum Cllr is taken at fixed pools.
    speakers, model_speakers, segment_speakers, unknown
        As for `speaker_interval`; there are no `strata`.

    Returns
    -------
    VarianceComponents
        A row for each system. Pairs that have one trial each tell nothing of trials, whose part is
        then in that of the pairs, of targets in that of the speakers.

    Raises
    ------
    InvalidInputError
        If speakers and pairs cannot be told apart: at least four speakers must meet crosswise.

    Warns
    -----
    FewSpeakersWarning
        As from `speaker_interval`.

    Notes
    -----
    To first order a metric is a sum over trials of losses, see `speaker_interval`, divided here as
    in Hoeffding's decomposition of a two-way table [1]_. A target of speaker k has the loss
    :math:`b_k + e`. A non-target of speakers k and j has :math:`a_k + a_j + g_{kj} + e`. All are
    independent but for :math:`a_k` and :math:`b_k`. With the shares :math:`m_k` of the targets,
    :math:`r_k` of the non-targets of speaker k, :math:`w_{kj}` of those of a pair and :math:`f_i`
    of trial i,

    .. math::

        V = \underbrace{\sum_k (m_k^2 \sigma_b^2 + 2 m_k r_k \sigma_{ab} + r_k^2 \sigma_a^2)
            }_{\text{speakers}}
          + \underbrace{\sum_{k<j} w_{kj}^2 \sigma_g^2}_{\text{pairs}}
          + \underbrace{\sum_i f_i^2 \sigma_{e,kj}^2}_{\text{trials}}
          + \underbrace{\sigma_{run}^2 / R}_{\text{runs}}.

    K speakers with equally many trials have :math:`m_k = 1/K` and :math:`r_k = 2/K`. The variances
    are those for which the sums of squares by speaker and by pair equal their expectations, with
    :math:`\sigma_{e,kj}^2` from the trials of each pair: unbiased under the model. What recordings
    add to all trials of their speaker belongs to the speakers. What they add to the trials of one
    pair counts among trials, so that pairs may come out too small.

    The part of runs is that of `compare_runs`, a test of two methods that were trained several
    times each. Of few runs it is rough: the variance of three has two degrees.

    References
    ----------
    .. [1] A. B. Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 1, 2007,
       doi:10.1214/07-AOAS122.

    Examples
    --------
    >>> import numpy as np
    >>> import bosaris_py as bp
    >>> from bosaris_py import uncertainty as unc
    >>> rng = np.random.default_rng(1)
    >>> owners = np.repeat(np.arange(40), 3)
    >>> models, segments = [[f"{side}{i}" for i in range(120)] for side in "ms"]
    >>> same = owners[:, np.newaxis] == owners
    >>> key = bp.Key(models, segments, same, ~same)
    >>> habits = rng.normal(size=40)[owners]
    >>> def run():
    ...     noise = rng.normal(size=same.shape)
    ...     llrs = (6.0 + rng.normal(0, 0.5)) * same - 3.0 + habits + noise
    ...     return bp.Scores(llrs, models, segments)
    >>> who = {name: int(name[1:]) // 3 for name in models + segments}
    >>> unc.variance_components({"A": [run(), run(), run()]}, key, unc.Cllr(), speakers=who)
    system   value      SE  speakers  pairs  trials  runs
    A       0.1440  0.0146      60 %    0 %     5 %  35 %
    (Cllr; shares of speakers, pairs, trials, runs in the variance; 40 speakers)
    """
    who = Speakers(**speakers)
    if who.strata is not None:
        raise invalid("strata", "be left out of components of variance", "strata")
    found: dict[str, list[SpeakerInfluence]] = {}
    losses: dict[str, list[Float64Array]] = {}
    first: ListedSample | None = None
    for name, sample in samples_of_runs(systems, key, conditions, who):
        warn_unless_fit([statistic], sample, name)
        first = first or sample
        found.setdefault(name, []).append(SpeakerInfluence.on(statistic, sample))
        each = losses_of(statistic, sample)
        summed = losses.setdefault(name, [np.zeros(sample.n_tar), np.zeros(sample.n_non)])
        for which in (0, 1):
            summed[which] += each.of(which, sample)
    assert first is not None
    means = {name: SpeakerInfluence.mean_of(runs) for name, runs in found.items()}
    check_influences(means, FEWEST_FOR_INTERVAL)
    rows, values = [], []
    for name, runs in found.items():
        tar, non = (summed / len(runs) for summed in losses[name])
        parts = components_of(first.pairs, tar, non)
        of_runs = math.nan
        if len(runs) > 1:
            squares, explained = spread_of_runs(runs)
            of_runs = (squares - explained) / (len(runs) - 1) / len(runs)
        rows.append([*parts, of_runs])
        mean = means[name]
        values.append(1.0 - mean.estimate if mean.is_area else mean.estimate)
    metric = metric_name(statistic)  # type: ignore[arg-type]
    return VarianceComponents(
        tuple(found),
        mark_read_only(np.array(values)),
        tuple(map(len, found.values())),
        first.pairs.n_speakers,
        mark_read_only(np.array(rows)),
        joined_notes(metric, scale_of_costs(getattr(statistic, "normalize", None))),
    )


class _Groups(NamedTuple):
    """The trials of each speaker, or pair: share, sum of residuals, variance of that by trials."""

    mass: Float64Array
    residual: Float64Array
    noise: Float64Array
    has_noise: bool

    @classmethod
    def of(cls, losses: Float64Array, labels: np.ndarray, size: int, strata: Strata) -> "_Groups":
        """Group the losses of trials, less the mean of their condition."""
        weights = strata.trial_weights()
        if weights is None:
            weights = np.full(losses.size, 1.0 / losses.size)
            residuals = losses - losses.mean()
        else:
            residuals = losses - (strata.totals(losses) / strata.sizes)[strata.labels]
        counts = sum_by_label(labels, None, size)
        means = sum_by_label(labels, residuals, size) / np.maximum(counts, 1.0)
        squares = sum_by_label(labels, (residuals - means[labels]) ** 2, size)
        # A group of one trial is taken to vary as the others do.
        degrees = np.maximum(counts - 1.0, 0.0)
        pooled = squares.sum() / max(degrees.sum(), 1.0)
        variances = np.where(degrees > 0, squares / np.maximum(degrees, 1.0), pooled)
        noise = variances * sum_by_label(labels, weights * weights, size)
        mass, sums = (sum_by_label(labels, x, size) for x in (weights, weights * residuals))
        return cls(mass, sums, noise, bool(degrees.any()))


def components_of(
    pairs: SpeakerPairs, tar: Float64Array, non: Float64Array
) -> tuple[float, float, float]:
    """Divide the variance of the sum of the mean losses of both classes, given those of trials."""
    assert pairs.cells is not None
    of_tar, of_non = pairs.cells
    k, size = pairs.n_speakers, pairs.pair_mass.size
    numbers = np.searchsorted(pairs.present, of_tar.labels)
    targets = _Groups.of(tar, numbers, k, of_tar.strata)
    of_cells = np.zeros(of_non.size, dtype=np.int64)
    of_cells[pairs.occupied] = pairs.pairs
    others = _Groups.of(non, of_cells[of_non.labels], size, of_non.strata)
    m = targets.mass
    w = others.mass
    reach = pairs.reach
    first = pairs.first
    second = pairs.second
    u, v = targets.residual, pairs.of_speakers(others.residual)
    # u = A b and v = B a with A = diag(m) - m m' and B = diag(r) + W - r r': the expectations of
    # u'u, v'v and u'v are squares and products of these matrices, times the variances.
    squared, reached = float(m @ m), float(reach @ reach)
    of_noise = float(targets.noise @ (1.0 - 2.0 * m + squared))
    of_b = float(m * m @ (1.0 - 2.0 * m + squared))
    # What one pair adds to v'v, and to the sum of squares by pair.
    ends = 2.0 - 2.0 * (reach[first] + reach[second]) + reached
    own = 1.0 - 2.0 * w + float(w @ w)
    within = 2.0 * float(w @ (reach[first] * reach[second]))
    of_a = reached + 2.0 * float(w @ w) + reached**2 - 2.0 * float((reach**3).sum()) - 2.0 * within
    across, of_g = float(w * w @ ends), float(w * w @ own)
    both = float(m @ reach)
    of_both = both - float(m @ reach**2) - float(m * m @ reach) + both**2
    of_both -= 2.0 * float(w @ (m[first] * m[second]))
    determinant = of_a * of_g - across**2
    if determinant <= _SINGULAR * of_a * of_g or of_b <= _SINGULAR * squared:
        hint = "Each should meet several of the others, and two should have targets."
        got = f"{k} speakers in {size} pairs"
        raise invalid("key", "tell speakers from pairs, of at least four who meet", got, hint)
    var_b = (float(u @ u) - of_noise) / of_b
    by_speaker = float(v @ v) - float(others.noise @ ends)
    by_pair = float(others.residual @ others.residual) - float(others.noise @ own)
    var_a = (by_speaker * of_g - by_pair * across) / determinant
    var_g = (by_pair * of_a - by_speaker * across) / determinant
    shared = float(u @ v) / of_both if of_both > _SINGULAR * both else 0.0
    noises = [part.noise.sum() for part in (targets, others) if part.has_noise]
    return (
        squared * var_b + 2.0 * both * shared + reached * var_a,
        float(w @ w) * var_g,
        float(sum(noises)) if noises else math.nan,
    )
