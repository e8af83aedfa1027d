"""What metrics need of the scores of one detector, and scores pooled over weighted conditions.

Scores may lie in memory (`ScoreLists`), in files (`StreamedScores`) or be divided into conditions
(`ConditionMixture`). Metrics ask for the two sizes, the ROC, Cllr and error-rates at fixed
thresholds: the abstract members of `Evidence`.
"""

from __future__ import annotations

import abc
import functools
import math
from collections.abc import Iterable, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    Float64Array,
    FloatArray,
    IndexArray,
    IntArray,
    Readable,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import invalid
from bosaris_py.numerics.cllr import mean_bits
from bosaris_py.numerics.counts import as_trials, count_between
from bosaris_py.numerics.roc import ROC, all_within
from bosaris_py.trials import ConditionMembers, Conditions
from bosaris_py.trials.conditions import check_conditions
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.scores import AnyScores, class_scores


class Evidence(metaclass=Readable):
    """The trials of one detector, as far as its metrics depend on them.

    Implementations are frozen, can be pickled, and check their scores when they are made. What is
    costly is computed when first asked for, and kept.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        """Show the counts."""
        return f"{type(self).__name__}: {self.n_tar} targets, {self.n_non} non-targets"

    @property
    @abc.abstractmethod
    def n_tar(self) -> int:
        """Number of target trials, those of weight 0 left out."""

    @property
    @abc.abstractmethod
    def n_non(self) -> int:
        """Number of non-target trials, those of weight 0 left out."""

    @property
    @abc.abstractmethod
    def roc(self) -> ROC:
        """The steppy ROC."""

    @property
    @abc.abstractmethod
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""

    def _within(self, low: float, high: float) -> bool:
        """Tell whether all scores lie in a range; False if that is not known."""
        return False

    @abc.abstractmethod
    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds.

        Parameters
        ----------
        thresholds : ndarray of float64
            Accept iff score >= threshold; any shape and order, no NaN.

        Returns
        -------
        pmiss, pfa : ndarray of float64, shaped like `thresholds`
        """


def count_below(at: IntArray, between: IntArray) -> IntArray:
    """Return the counts below each threshold, then of all, from those at and between thresholds."""
    below: IntArray = np.cumsum(between)
    below[1:] += np.cumsum(at)
    return below


@attrs.frozen(eq=False)
class Share(abc.ABC):
    """The trials of one class in one condition, and what its mean counts."""

    weight: float

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """Number of trials."""

    @abc.abstractmethod
    def below(self, thresholds: Float64Array) -> IntArray:
        """Count the scores below thresholds that ascend."""

    @abc.abstractmethod
    def roc(self, target_scores: Float64Array, *, is_tar: bool) -> ROC:
        """Return a part of a ROC that has these trials only."""

    @abc.abstractmethod
    def mean_bits(self, sign: float) -> float:
        """Return the mean of log2(1 + exp(sign * score))."""

    def mean_rate(self, thresholds: Float64Array, *, is_below: bool) -> Float64Array:
        """Return the weighted share of scores below, or from, thresholds that ascend."""
        counts = self.below(thresholds)
        if not is_below:
            counts = self.size - counts
        return self.weight * (counts / self.size)


@attrs.frozen(eq=False)
class ListedShare(Share):
    """Trials whose scores lie in memory."""

    scores: FloatArray = attrs.field(converter=read_only)

    @property
    def size(self) -> int:
        """Number of trials."""
        return self.scores.size

    def below(self, thresholds: Float64Array) -> IntArray:
        """Count the scores below thresholds that ascend."""
        return count_below(*count_between(thresholds, self.scores))[:-1]

    def roc(self, target_scores: Float64Array, *, is_tar: bool) -> ROC:
        """Return a part of a ROC that has these trials only."""
        lists = (self.scores, np.empty(0)) if is_tar else (np.empty(0), self.scores)
        return ROC.at_target_scores(target_scores, *lists)

    def mean_bits(self, sign: float) -> float:
        """Return the mean of log2(1 + exp(sign * score))."""
        return mean_bits(self.scores, None, sign=sign)


@attrs.frozen(eq=False, init=False, repr=False)
class ConditionMixture(Evidence):
    r"""Scores whose error-rates are the weighted means of those of their conditions.

    Parameters
    ----------
    tar, non
        As for `bosaris_py.Results`.
    members : sequence of ConditionMembers
        Where the trials of each condition stand in `tar` and `non`, see `Conditions.members`. Other
        trials do not count.

    See Also
    --------
    bosaris_py.Results.from_scores : Takes a Conditions and makes this.

    Notes
    -----
    With the shares :math:`w_\alpha` of the conditions, which in each class sum to
    one over the conditions that have trials of it,

    .. math::

        P_{miss}(\theta) = \sum_\alpha w_\alpha P_{miss}^\alpha(\theta), \qquad
        P_{fa}(\theta) = \sum_\alpha w_\alpha P_{fa}^\alpha(\theta)

    and the two sums of Cllr are averaged likewise [1]_ (equations 3, 4 and 9 to 11). That is the
    same as weighting each trial (equations 13 to 22). Here each condition is counted at all target
    scores, and its counts are added with the factor :math:`w_\alpha N / N_\alpha`. Minimum Cllr,
    minimum DCF and the EER are those of this one ROC: one threshold for all conditions.

    `n_tar` and `n_non` count trials, not weights. Apply the rule of 30 to each condition.

    References
    ----------
    .. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker Recognition using
       multiple conditions in an evaluation", 2008.
    """

    _tar: tuple[ListedShare, ...]
    _non: tuple[Share, ...]
    n_tar: int
    n_non: int

    def __init__(
        self, tar: npt.ArrayLike, non: npt.ArrayLike, members: Sequence[ConditionMembers]
    ) -> None:
        tar_shares, n_tar = _divide(tar, [(item.tar, item.tar_weight) for item in members], "tar")
        non_shares, n_non = _divide(non, [(item.non, item.non_weight) for item in members], "non")
        self.__attrs_init__(tar_shares, non_shares, n_tar, n_non)

    @classmethod
    def from_shares(cls, tar: Iterable[ListedShare], non: Iterable[Share]) -> "ConditionMixture":
        """Take conditions that share no trial; those without weight or trials do not count.

        Parameters
        ----------
        tar, non : iterable of Share
            The trials of each class.

        Returns
        -------
        ConditionMixture
        """
        own = tuple(share for share in tar if share.size and share.weight > 0)
        others = tuple(share for share in non if share.size and share.weight > 0)
        for shares, noun in ((own, "targets"), (others, "non-targets")):
            if not shares:
                raise invalid("conditions", f"have {noun} in some condition", "none")
        mixture = cls.__new__(cls)
        n_tar, n_non = sum(s.size for s in own), sum(s.size for s in others)
        mixture.__attrs_init__(own, others, n_tar, n_non)
        return mixture

    @classmethod
    def from_scores(
        cls, scores: AnyScores, key: AnyKey, conditions: Conditions
    ) -> "ConditionMixture":
        """Take the scores of the trials of a key, divided into conditions.

        Parameters
        ----------
        scores, key, conditions
            As for `Results.from_scores <bosaris_py.Results.from_scores>`.

        Returns
        -------
        ConditionMixture

        Raises
        ------
        TrialMismatchError
            As for `Results.from_scores <bosaris_py.Results.from_scores>`.

        Warns
        -----
        MissingTrialsWarning, ConditionWarning
            As for `Results.from_scores <bosaris_py.Results.from_scores>`.
        """
        check_conditions(conditions)
        tar, non = class_scores(scores, key)
        members = conditions.scored_members(scores, key)
        for noun, trials, shares in (
            ("targets", tar, [item.tar_weight for item in members]),
            ("non-targets", non, [item.non_weight for item in members]),
        ):
            if trials.size and not any(shares):
                raise invalid("conditions", f"have {noun} in some condition", "none")
        return cls(tar, non, members)

    def __repr__(self) -> str:
        """Show the counts."""
        return (
            f"ConditionMixture: {self.n_tar} targets of {len(self._tar)} conditions, "
            f"{self.n_non} non-targets of {len(self._non)}"
        )

    @functools.cached_property
    def roc(self) -> ROC:
        """The weighted sum of the conditions' ROCs."""
        target_scores = np.unique(
            np.concatenate([share.scores for share in self._tar]).astype(np.float64)
        )
        # Both classes of a condition are weighted apart, because each has shares of its own.
        # Van Leeuwen (2008), equation 12: a condition counts with its share over its trials.
        parts = []
        for share in self._tar:
            factor = share.weight * self.n_tar / share.size
            parts.append(share.roc(target_scores, is_tar=True).weighted(factor, 0.0))
        for other in self._non:
            factor = other.weight * self.n_non / other.size
            parts.append(other.roc(target_scores, is_tar=False).weighted(0.0, factor))
        return functools.reduce(ROC.__add__, parts)

    @functools.cached_property
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""
        # Van Leeuwen (2008), equations 9 to 11: both sums of Cllr are averaged over conditions.
        bits = [s.weight * s.mean_bits(-1.0) for s in self._tar]
        bits += [s.weight * s.mean_bits(1.0) for s in self._non]
        return math.fsum(bits) / 2.0

    def _within(self, low: float, high: float) -> bool:
        """Tell whether all scores lie in a range; False where some are in files."""
        lists = [s.scores for s in (*self._tar, *self._non) if isinstance(s, ListedShare)]
        return len(lists) == len(self._tar + self._non) and all_within(low, high, *lists)

    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds.

        Parameters
        ----------
        thresholds : ndarray of float64
            As for ``Evidence.error_rates``.

        Returns
        -------
        pmiss, pfa : ndarray of float64, shaped like `thresholds`
            Weighted means of the conditions' error-rates.
        """
        # Counting wants ascending thresholds, each once.
        limits, positions = np.unique(thresholds, return_inverse=True)
        # Van Leeuwen (2008), equations 3 and 4.
        zero, tar, non = np.zeros(limits.size), self._tar, self._non
        pmiss = sum((share.mean_rate(limits, is_below=True) for share in tar), start=zero)
        pfa = sum((share.mean_rate(limits, is_below=False) for share in non), start=zero)
        shape = np.shape(thresholds)
        return pmiss[positions].reshape(shape), pfa[positions].reshape(shape)


def _divide(
    scores: npt.ArrayLike, parts: Sequence[tuple[IndexArray, float]], name: str
) -> tuple[tuple[ListedShare, ...], int]:
    """Divide the scores of one class into those of each condition; count those that count."""
    array, _ = as_trials(scores, None, name)
    shares, counted = [], np.zeros(array.size, dtype=np.bool_)
    for positions, weight in parts:
        # Positions ascend, so the last one tells whether all are there.
        if positions.size and positions[-1] >= array.size:
            expected = f"belong to the {array.size} scores of `{name}`"
            raise invalid("members", expected, f"position {positions[-1]}")
        if positions.size and weight > 0:
            shares.append(ListedShare(weight, mark_read_only(array[positions])))
            counted[positions] = True
    if not shares:
        what = "targets" if name == "tar" else "non-targets"
        raise invalid("members", f"have {what} in some condition", "none")
    return tuple(shares), int(np.count_nonzero(counted))
