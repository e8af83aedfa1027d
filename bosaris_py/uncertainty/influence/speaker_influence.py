r"""The influence of each speaker on a metric: standard errors in closed form, for any metric.

To first order every metric is a sum over the trials of both classes of a *loss* of each trial,

.. math::

    \theta \approx \sum_{i \in tar} f_i \ell_i + \sum_{j \in non} f_j \ell_j,

with the weight :math:`f = w_\alpha / n_\alpha` of a trial of its condition. Costs at a fixed
threshold and Cllr are such sums. Minimum DCF, EER and minimum Cllr are minima of such sums. By the
envelope theorem their derivative in the weights of trials is that of the sum at the optimum, held
fixed. The area above the ROC has the placements of DeLong et al. `SpeakerInfluence` has the sums.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Self

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array, mark_read_only
from bosaris_py._cautions import warn_caller
from bosaris_py._validation import check_fraction
from bosaris_py.errors import FewSpeakersWarning
from bosaris_py.trials.sample import ListedSample
from bosaris_py.trials.speaker_pairs import ROUNDING, GroupSums, SpeakerPairs
from bosaris_py.uncertainty.bootstrap_result import Interval, student_quantiles
from bosaris_py.uncertainty.influence.jackknife import FEW_FOR_POOLS, Jackknife
from bosaris_py.uncertainty.influence.losses import FixedCost, KeptRate, Losses, losses_of
from bosaris_py.uncertainty.statistics.roc_functions import MinCllr

# Pairs of more speakers than this are not put into a square table.
_LARGEST_TABLE = 2**11


# Weights of speakers that are multiplied at a time.
_WEIGHTS_AT_A_TIME = 2**16


METHOD = "speaker pairs"


# Fewest speakers on whom a metric should rest, for an interval and for a test.
FEWEST_FOR_INTERVAL, FEWEST_FOR_TEST = 20, 30


def check_few_speakers(effective: Mapping[str, float], fewest: int) -> bool:
    """Warn if figures, by name, rest on few speakers; return whether one does."""
    few = {name: count for name, count in effective.items() if count < fewest}
    if few:
        names, verb = ", ".join(few), "rests" if len(few) == 1 else "rest"
        ends = [f"{min(end(few.values()), fewest - 1):.2g}" for end in (min, max)]
        warn_caller(
            f"The {names} {verb} on {' to '.join(dict.fromkeys(ends))} effective speakers.",
            FewSpeakersWarning,
            f"With fewer than {fewest} a standard error is itself uncertain: intervals may be too "
            "short, p-values too small.",
            figures=few,
            count=min(*few.values(), fewest - 1),
        )
    return bool(few)


# A speaker who makes more than this share of a variance decides it.
_MOST_OF_ONE = 0.5


def check_influences(influences: "Mapping[str, SpeakerInfluence]", fewest: int) -> bool:
    """Warn if figures, by name, rest on few speakers or on one; return whether one does."""
    effective = {name: found.effective_speakers for name, found in influences.items()}
    few = check_few_speakers(effective, fewest)
    shares = {name: found.largest_share for name, found in influences.items()}
    of_one = {name: share for name, share in shares.items() if share > _MOST_OF_ONE}
    if of_one:
        percent = " to ".join(
            dict.fromkeys(f"{100 * end(of_one.values()):.0f}" for end in (min, max))
        )
        warn_caller(
            f"One speaker makes {percent} % of the variance of the {', '.join(of_one)}.",
            FewSpeakersWarning,
            "An interval says little of speakers like this one: look at the trials they are in.",
            figures=of_one,
        )
    return few or bool(of_one)


# With fewer draws of Student's t its own law is the better one.
FEWEST_DRAWS = 100


# Quantiles of drawn t are limited to this multiple of the quantile of Student's t.
_LARGEST_T = 1.5


@attrs.frozen(eq=False)
class SpeakerInfluence:
    """The influence of speakers on a metric of one system, or on a difference of two."""

    # `estimate` is the metric as a loss, see `Losses`, and `scale` the larger one if it is a
    # difference; `unseen` is the greatest mean loss of each class in which no trial lost anything,
    # `certain` that of each class in which all did.

    pairs: SpeakerPairs
    tar: GroupSums
    non: GroupSums
    estimate: float
    scale: float
    unseen: Float64Array
    certain: Float64Array
    bounds: tuple[float, float]
    is_area: bool
    kept: KeptRate | None = None
    jackknife: "Jackknife | None" = None
    # The influences on the rate that is read, and on the one that is kept, at the threshold.
    of_rates: "tuple[SpeakerInfluence, SpeakerInfluence] | None" = None

    @classmethod
    def of(cls, losses: Losses, sample: ListedSample) -> Self:
        """Add up the losses of a metric."""
        pairs = sample.pairs
        tar, non = pairs.sums(losses.of(0, sample), losses.of(1, sample), losses.part)
        means = np.array([tar.total.sum(), non.total.sum()])
        most = np.array(losses.most)
        unseen, certain = (
            np.where(np.abs(means - share * most) <= ROUNDING * most, most, 0.0)
            for share in (0.0, losses.part)
        )
        of_rates, kept = None, losses.kept
        if kept is not None:
            found = []
            for miss, alarm in ((1.0, 0.0), (0.0, 1.0)):
                rate = FixedCost(kept.threshold, miss, alarm).losses(kept.rates[int(alarm)])
                found.append(cls.of(rate, sample))
            of_rates = (found[0], found[1]) if kept.is_miss else (found[1], found[0])
        return cls(
            pairs=pairs.summary,
            tar=tar,
            non=non,
            estimate=losses.loss,
            scale=abs(losses.loss),
            unseen=unseen,
            certain=certain,
            bounds=losses.bounds,
            is_area=losses.part < 1.0,
            kept=kept,
            of_rates=of_rates,
        )

    @classmethod
    def on(cls, statistic: object, sample: ListedSample, name: str = "statistic") -> Self:
        """Return the influence on a metric; on minimum Cllr by the jackknife."""
        found = cls.of(losses_of(statistic, sample, name), sample)
        if not isinstance(statistic, MinCllr):
            return found
        # Its pools are fitted to the scores: held fixed, they tell too little of how it varies.
        rates = sample.hull.eer * sample.n_tar, sample.hull.eer * sample.n_non
        unseen = found.unseen
        if min(rates) < FEW_FOR_POOLS:
            unseen = np.array([found.bounds[1], 0.0])
        return attrs.evolve(found, jackknife=Jackknife.of(statistic, sample), unseen=unseen)

    def minus(self, other: "SpeakerInfluence") -> "SpeakerInfluence":
        """Return the influence on the difference to another system on the same trials."""
        tar, non = (
            GroupSums(*(a - b for a, b in zip(mine, its, strict=True)))
            for mine, its in ((self.tar, other.tar), (self.non, other.non))
        )
        scale = max(self.scale, other.scale)
        difference = self.estimate - other.estimate
        if abs(difference) <= ROUNDING * scale:
            difference = 0.0
        width = self.bounds[1] - other.bounds[0]
        jackknife = self.jackknife and other.jackknife and self.jackknife.minus(other.jackknife)
        nothing = np.zeros(2)
        # No class is without variation.
        return attrs.evolve(
            self,
            tar=tar,
            non=non,
            estimate=difference,
            scale=scale,
            unseen=nothing,
            certain=nothing,
            kept=None,
            of_rates=None,
            jackknife=jackknife,
            bounds=(-width, width),
        )

    def priced(self, miss: float, alarm: float, estimate: float) -> "SpeakerInfluence":
        """Return the influence if losses of targets and of non-targets cost more or less."""
        prices = np.array((miss, alarm))
        return attrs.evolve(
            self,
            tar=GroupSums(*(miss * values for values in self.tar)),
            non=GroupSums(*(alarm * values for values in self.non)),
            estimate=estimate,
            scale=estimate,
            unseen=prices * self.unseen,
            certain=prices * self.certain,
            bounds=(0.0, miss + alarm),
        )

    @property
    def influences(self) -> tuple[Float64Array, Float64Array]:
        """What each speaker's targets, and non-targets, do to the metric, by the jackknife."""
        of_tar, of_non = self.pairs.leverages
        tar, non = self.tar.residual, self.pairs.of_speakers(self.non.residual)
        return tar * of_tar, non * of_non

    @property
    def largest_share(self) -> float:
        """The share of the speaker with most of the variance in the sum of squared influences."""
        squares = np.add(*self.influences) ** 2
        total = float(squares.sum())
        return float(squares.max()) / total if total > 0 else 0.0

    @property
    def degrees_of_variance(self) -> float:
        """Degrees of a chi-square law as uncertain as the variance, at least 2."""
        squares = np.add(*self.influences) ** 2
        fourth = float(squares @ squares)
        return max(float(squares.sum()) ** 2 / fourth - 1.0, 2.0) if fourth > 0 else 2.0

    @functools.cached_property
    def covariance(self) -> Float64Array:
        r"""Covariance of the two parts of the metric, of targets and of non-targets: (2, 2).

        With the jackknife's residuals :math:`u_k` of the targets of speaker k, :math:`s_{kj}` of
        the pairs of speakers and :math:`v_k = \sum_j s_{kj}`,

        .. math::

            V_{tar} = c \sum_k u_k^2, \quad
            V_{non} = c \max\Big(\sum_k v_k^2 - \sum_{k<j} s_{kj}^2, \sum_{k<j} s_{kj}^2\Big), \quad
            C = c \sum_k u_k v_k,

        with :math:`c = (K-1)/K` and :math:`C^2 \le V_{tar} V_{non}`; see `speaker_errors`.
        """
        pairs, (u, v) = self.pairs, self.influences
        _, of_non = pairs.leverages
        both = pairs.are_two
        leverages = of_non[pairs.first[both]] * of_non[pairs.second[both]]
        s = self.non.residual[both] * np.sqrt(leverages)
        of_pairs = float(s @ s)
        var_tar, var_non = float(u @ u), max(float(v @ v) - of_pairs, of_pairs)
        limit = math.sqrt(var_tar * var_non)
        shared = min(max(float(u @ v), -limit), limit)
        found = (1.0 - 1.0 / pairs.n_speakers) * np.array([[var_tar, shared], [shared, var_non]])
        if self.jackknife is not None and found.sum() > 0:
            # What the formula says of the two classes, with the jackknife's variance of the sum.
            found *= self.jackknife.variance / found.sum()
        return mark_read_only(found)

    @functools.cached_property
    def standard_error(self) -> float:
        """Standard error of the metric; 0 if it differs from 0 by rounding only."""
        error = math.sqrt(max(float(self.covariance.sum()), 0.0))
        return error if error > ROUNDING * self.scale else 0.0

    @functools.cached_property
    def contributions(self) -> Float64Array:
        """What each speaker contributes to the metric; of its sum."""
        return self._shares(self.non.total)

    def _shares(self, of_pairs: Float64Array) -> Float64Array:
        pairs = self.pairs
        shares = self.tar.total + 0.5 * pairs.of_speakers(of_pairs)
        if pairs.has_single:
            alone = np.where(pairs.are_two, 0.0, 0.5 * of_pairs)
            shares = shares + pairs.of_speakers(alone)
        return np.where(np.abs(shares) > ROUNDING * self.scale, shares, 0.0)

    @property
    def effective_speakers(self) -> float:
        """How many speakers who contribute alike would be as many: (sum |psi|)^2 / sum psi^2."""
        size = np.abs(self.contributions)
        squares = float(size @ size)
        return float(size.sum()) ** 2 / squares if squares > 0 else 0.0

    @property
    def null_error(self) -> float:
        """Standard error of a difference; if all speakers are alike, over flips of their signs."""
        if self.standard_error > 0 or self.estimate == 0:
            return self.standard_error
        return math.sqrt(float(self.contributions @ self.contributions))

    @property
    def least_p(self) -> float:
        """The least p-value of flips of signs: 2^(1 - K) for the K speakers who contribute."""
        return min(1.0, 2.0 ** (1 - int(np.count_nonzero(self.contributions))))

    @property
    def difference(self) -> float:
        """The difference in the unit of the metric: an area is 1 minus its loss."""
        return 0.0 - self.estimate if self.is_area else self.estimate

    @functools.cached_property
    def degrees(self) -> float:
        r"""Degrees of freedom of Student's t: speakers less one, as many as their shares leave.

        Speaker k takes part in the share :math:`m_k` of the targets and :math:`n_k` of the
        non-targets, of sum one and two. With the variances of both parts of the metric,

        .. math::

            \frac{1}{\nu + 1} = \frac{V_{tar} \sum_k m_k^2 + V_{non} \sum_k n_k^2 / 4}
                                   {V_{tar} + V_{non}},

        which is :math:`1 / K` where all K speakers have as many trials; at least 1.
        """
        pairs = self.pairs
        variances = np.diag(self.covariance)
        if not variances.any():
            variances = np.ones(2)
        mass, reach = pairs.tar_mass, 0.5 * pairs.reach
        shares = np.array([mass @ mass, reach @ reach])
        effective = float(variances.sum() / (variances @ shares))
        # Equal shares differ from 1 / K by rounding.
        if effective >= pairs.n_speakers * (1.0 - ROUNDING):
            return float(max(pairs.n_speakers - 1, 1))
        return max(effective - 1.0, 1.0)

    def interval(
        self, confidence: float, method: str, students: Float64Array | None = None
    ) -> Interval:
        """Return the confidence interval of the metric, by Student's t on the logarithmic scale."""
        # The ends are \hat\theta e^{\pm t\, SE / \hat\theta}, with the t of `degrees` or the
        # quantiles of `students`, at most half as large again. A class of trials without loss, or
        # with the greatest, adds what its number of speakers leaves open: 1 - (\alpha/2)^{1/K} of
        # the greatest.
        tail = 0.5 - 0.5 * check_fraction(confidence, "confidence")
        value, error = self.estimate, self.standard_error
        remade = functools.partial(self.interval, method=method, students=students)
        if self.of_rates is not None:
            own, other = (each.interval(confidence, method) for each in self.of_rates)
            low, high = self.kept_ends((own.low, own.high), (other.low, other.high))
            return Interval(value, low, high, error, float(confidence), method, remade)
        if self.jackknife is not None:
            # That of the value without bias, and the one at fixed pools, which few errors widen.
            plain = attrs.evolve(self, jackknife=None).interval(confidence, method)
            value = max(value + self.jackknife.correction, ROUNDING)
            half = min(student_quantiles(tail, self.degrees)[1] * error / value, 700.0)
            low = min(plain.low, value * math.exp(-half))
            high = min(max(plain.high, value * math.exp(half)), self.bounds[1])
            return attrs.evolve(plain, low=low, high=high, standard_error=error, remade=remade)
        ratio = error / value if value > 0 else 0.0
        # Of few speakers one replicate may hold hardly any errors, with a t without measure.
        limit = -_LARGEST_T * student_quantiles(tail, self.degrees)[0]
        ends = np.clip(student_quantiles(tail, self.degrees, students), -limit, limit).tolist()
        low, high = (value * math.exp(min(max(-t * ratio, -700.0), 700.0)) for t in ends[::-1])
        # What has happened to none of n speakers has at most this chance: 1 - tail^(1/n).
        chances = -np.expm1(math.log(tail) / np.maximum(self.pairs.n_by_class, 1))
        low = value - math.hypot(value - low, float(self.certain @ chances))
        high = value + math.hypot(high - value, float(self.unseen @ chances))
        if self.is_area:
            value, low, high = 1.0 - value, 1.0 - high, 1.0 - low
        low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        return Interval(value, low, high, error, float(confidence), method, remade)

    def kept_ends(
        self, own: tuple[float, float], other: tuple[float, float]
    ) -> tuple[float, float]:
        """Return the ends for a rate while another one is kept, of those of both rates."""
        assert self.kept is not None
        (var_tar, shared), (_, var_non) = self.covariance
        size = math.sqrt(var_tar * var_non)
        return self.kept.ends(own, other, shared / size if size > 0 else 0.0)

    def students(self, weights: Float64Array, *, log: bool) -> Float64Array | None:
        """Return Student's t of replicates by weights of speakers, ascending; None: of no use."""
        # The metric is taken as the sum of its losses at the optimum of the data, and copies of a
        # speaker count as speakers. Of too many speakers, or without variation, that is of no use.
        k, has_none = self.pairs.n_speakers, self.standard_error == 0
        if k > _LARGEST_TABLE or has_none or self.jackknife:
            return None
        residual, mass = self._tables(self.non.residual), self._tables(self.pairs.pair_mass)
        step = max(1, _WEIGHTS_AT_A_TIME // k)
        blocks = [weights[i : i + step] for i in range(0, len(weights), step)]
        with np.errstate(all="ignore"):
            ratios = np.concatenate([self._students(w, residual, mass, log=log) for w in blocks])
        return np.sort(ratios[np.isfinite(ratios) | np.isneginf(ratios)])

    def _tables(self, values: Float64Array) -> Float64Array:
        k = self.pairs.n_speakers + self.pairs.has_single
        table = np.zeros((k, k))
        table[self.pairs.first, self.pairs.second] = values
        return table + table.T

    def _students(
        self, w: Float64Array, residual: Float64Array, mass: Float64Array, *, log: bool
    ) -> Float64Array:
        """Return the t of one block of replicates, by products of matrices."""
        # The weight of trials of one person is that of a pair with another, which is one.
        everyone = w.astype(np.float64, copy=False)
        k = self.pairs.n_speakers
        w = everyone[:, :k]
        tar_total = w @ self.pairs.tar_mass
        w_mass, w_residual = everyone @ mass, everyone @ residual
        # Sums over pairs are half of those over the symmetric table.
        non_total = np.einsum("ij,ij->i", w_mass, everyone) / 2.0
        shift_tar = (w @ self.tar.residual) / tar_total
        shift_non = np.einsum("ij,ij->i", w_residual, everyone) / (2.0 * non_total)
        w_mass, w_residual = w_mass[:, :k], w_residual[:, :k]
        residual, mass = residual[:k, :k], mass[:k, :k]
        u = self.tar.residual - shift_tar[:, None] * self.pairs.tar_mass
        u /= np.maximum(tar_total[:, None] - self.pairs.tar_mass, tar_total[:, None] / k)
        room = np.maximum(non_total[:, None] - w_mass, non_total[:, None] / k)
        v = (w_residual - shift_non[:, None] * w_mass) / room
        # s_kj^2 with the leverages of both, in three products of (residual - shift mass)^2.
        g = w / room
        squares, cross, masses = (
            np.einsum("ij,ij->i", g @ table, g) / 2.0
            for table in (residual * residual, residual * mass, mass * mass)
        )
        of_pairs = squares - 2.0 * shift_non * cross + shift_non**2 * masses
        var_tar, var_non = (np.einsum("ij,ij,ij->i", w, x, x) for x in (u, v))
        var_non = np.maximum(var_non - of_pairs, of_pairs)
        limit = np.sqrt(var_tar * var_non)
        shared = np.clip(np.einsum("ij,ij,ij->i", w, u, v), -limit, limit)
        error = np.sqrt((1.0 - 1.0 / k) * (var_tar + 2.0 * shared + var_non))
        moved = shift_tar + shift_non
        # Squares that cancel leave the root of the rounding.
        error[error <= math.sqrt(ROUNDING) * self.scale] = np.nan
        if not log:
            return np.asarray(moved / error)
        # Each of the two sums of an area is the whole: it grows as the square of their mean.
        whole = self.estimate * (2.0 if self.is_area else 1.0)
        value = whole + moved
        ratios = np.log(value / whole) * value / error
        # Without any loss log 0 lies below all others: its t has no end.
        ratios[value <= ROUNDING * whole] = -np.inf
        return np.asarray(ratios)
