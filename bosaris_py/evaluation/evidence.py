"""What `Results` needs to know of the trials that it judges, and the plain case of it.

Scores may lie in memory, in files, or be a mixture of conditions; the metrics do
not care. They ask for the two sizes, the ROC, Cllr, and error-rates at fixed
thresholds, and those are the abstract members of `Evidence`.
"""

import abc
import functools

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import FloatArray, read_only
from bosaris_py.numerics.cllr import mean_bits
from bosaris_py.numerics.counting import as_trials
from bosaris_py.numerics.dcf import share_above, sorted_error_rates
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.sorted_scores import SortedScores

__all__ = ["Evidence", "ScoreLists"]

Float64Array = npt.NDArray[np.float64]

# Questions about error-rates after which a sort of the non-targets has paid.
_COUNTS_PER_SORT = 8


class Evidence(abc.ABC):
    """The trials of one detector, as far as its metrics depend on them.

    Implementations are frozen, can be pickled, and check their scores when they
    are made. What is costly is computed when first asked for, and kept.
    """

    __slots__ = ()

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
            Miss and false-alarm rates.
        """


@attrs.frozen(eq=False, init=False, repr=False)
class ScoreLists(Evidence):
    """Two lists of scores in memory, with or without weights.

    The targets are kept sorted, the non-targets as they came; arrays that others
    could change are copied.

    Parameters
    ----------
    tar : (n_tar,) array_like of float
        Target scores; no NaN, +-inf allowed.
    non : (n_non,) array_like of float
        Non-target scores, likewise.
    tar_weights, non_weights : array_like of float, optional
        Trial weights, finite and not negative; one each by default.
    owner : str, default: "ScoreLists"
        What the caller called, for error messages.

    Raises
    ------
    InvalidInputError
        If a class is empty, a score is NaN, or a weight is bad.
    """

    tar: SortedScores
    non: FloatArray = attrs.field(converter=read_only)
    non_weights: Float64Array | None = attrs.field(
        default=None, converter=attrs.converters.optional(read_only)
    )
    # How often error-rates were asked for: a memory of the work, not of the trials.
    _asked: list[int] = attrs.field(factory=lambda: [0])

    def __init__(
        self,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
        *,
        owner: str = "ScoreLists",
    ) -> None:
        ordered = SortedScores.from_scores(tar, tar_weights, name="tar", owner=owner)
        self.__attrs_init__(ordered, *as_trials(non, non_weights, "non", owner))

    def __repr__(self) -> str:
        """Show the counts."""
        return f"ScoreLists: {self.n_tar} targets, {self.n_non} non-targets"

    @property
    def n_tar(self) -> int:
        """Number of target trials, those of weight 0 left out."""
        return self.tar.size

    @property
    def n_non(self) -> int:
        """Number of non-target trials, those of weight 0 left out."""
        if self.non_weights is None:
            return self.non.size
        return int(np.count_nonzero(self.non_weights))

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC."""
        return ROC.from_sorted_targets(self.tar, self.non, self.non_weights)

    @functools.cached_property
    def _non_sorted(self) -> SortedScores:
        owner = "ScoreLists"
        return SortedScores.from_scores(self.non, self.non_weights, name="non", owner=owner)

    @functools.cached_property
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""
        miss_bits = mean_bits(self.tar.values, self.tar.weights, sign=-1.0)
        fa_bits = mean_bits(self.non, self.non_weights, sign=1.0)
        return (miss_bits + fa_bits) / 2.0

    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds.

        Parameters
        ----------
        thresholds : ndarray of float64
            Accept iff score >= threshold; any shape and order, no NaN.

        Returns
        -------
        pmiss, pfa : ndarray of float64, shaped like `thresholds`
            Miss and false-alarm rates.
        """
        self._asked[0] += 1
        if self._asked[0] > _COUNTS_PER_SORT:
            return sorted_error_rates(self.tar, self._non_sorted, thresholds)
        pmiss: Float64Array = self.tar.weight_below(thresholds) / self.tar.total
        return pmiss, share_above(self.non, self.non_weights, thresholds)
