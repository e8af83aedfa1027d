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

from bosaris_py.numerics.cllr import mean_bits
from bosaris_py.numerics.dcf import error_rates
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.sorted_scores import SortedScores, sort_classes

__all__ = ["Evidence", "ScoreLists"]

Float64Array = npt.NDArray[np.float64]


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
    non: SortedScores

    def __init__(
        self,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        tar_weights: npt.ArrayLike | None = None,
        non_weights: npt.ArrayLike | None = None,
        *,
        owner: str = "ScoreLists",
    ) -> None:
        self.__attrs_init__(*sort_classes(tar, non, tar_weights, non_weights, owner))

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
        return self.non.size

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC."""
        return ROC.from_sorted(self.tar, self.non)

    @functools.cached_property
    def cllr(self) -> float:
        """Cost of the log-likelihood-ratios, in bits."""
        miss_bits = mean_bits(self.tar.values, self.tar.weights, sign=-1.0)
        fa_bits = mean_bits(self.non.values, self.non.weights, sign=1.0)
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
        return error_rates(self.tar, self.non, thresholds)
