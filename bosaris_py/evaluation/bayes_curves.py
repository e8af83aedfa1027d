"""The numbers of a normalized Bayes error-rate plot."""

import functools

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import as_vector, describe, frozen, invalid
from bosaris_py.evaluation.results import Results
from bosaris_py.evaluation.rule_of_30 import smallest_measurable_rate
from bosaris_py.numerics.priors import DecisionCosts

__all__ = ["LARGEST_PLO", "BayesCurves"]

Float64Array = npt.NDArray[np.float64]

# Past this the smaller of the two priors is no longer a normal floating-point number.
LARGEST_PLO = 700.0


@attrs.frozen(eq=False, repr=False)
class BayesCurves:
    r"""Error-rates of one detector over a range of operating points.

    Scores are taken as natural-log likelihood-ratios. *Actual* rates are those
    at the Bayes threshold ``-plo``, *minimum* rates those at the threshold that
    the evaluator finds to be best. Make one with `from_results`. All arrays
    have the shape of `plo` and are read-only.

    Parameters
    ----------
    plo : (k,) ndarray of float64
        Prior log-odds, ascending: the horizontal axis.
    act_pmiss, act_pfa : (k,) ndarray of float64
        Miss and false-alarm rate of Bayes decisions.
    min_pmiss, min_pfa : (k,) ndarray of float64
        Miss and false-alarm rate at the best threshold.
    n_tar, n_non : int
        Number of trials.

    Notes
    -----
    Normalized means over :math:`\min(\pi, 1-\pi)`, the error-rate of the better
    decision made without a detector: theory paper [1]_, equations (19) to (23).
    The numbers behind the toolkit's ``Norm_DCF_Plot.m``.

    References
    ----------
    .. [1] N. Brummer and E. de Villiers, "The BOSARIS Toolkit: Theory, Algorithms
       and Code for Surviving the New DCF", 2011, arXiv:1304.2865, section 2.5.4.

    Examples
    --------
    >>> results = Results([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0])
    >>> curves = BayesCurves.from_results(results, [-1.5, 0.0, 1.5])
    >>> curves.act_dcf.round(4).tolist()
    [1.8272, 0.6667, 0.6667]
    >>> curves.min_dcf.round(4).tolist()
    [0.3333, 0.3333, 0.3333]
    """

    plo: Float64Array
    act_pmiss: Float64Array
    act_pfa: Float64Array
    min_pmiss: Float64Array
    min_pfa: Float64Array
    n_tar: int
    n_non: int

    @classmethod
    def from_results(cls, results: Results, plo: npt.ArrayLike) -> "BayesCurves":
        """Read the error-rates of a detector at each operating point.

        Parameters
        ----------
        results : Results
            The detector.
        plo : (k,) array_like of float
            Prior log-odds, strictly ascending, within +-700.

        Returns
        -------
        BayesCurves

        Raises
        ------
        InvalidInputError
            If `plo` is not one-dimensional, ascending and within +-700.

        Notes
        -----
        O(k log n) time for n trials, once the convex hull is known.
        """
        owner = "BayesCurves"
        log_odds = as_vector(plo, "plo", owner).astype(np.float64)
        if log_odds.size == 0 or not (np.diff(log_odds) > 0).all():
            raise invalid("plo", owner, "be strictly ascending", describe(log_odds))
        if not (np.abs(log_odds) <= LARGEST_PLO).all():
            expected = f"lie within +-{LARGEST_PLO:g}"
            raise invalid("plo", owner, expected, f"{log_odds[0]:g} to {log_odds[-1]:g}")
        costs = DecisionCosts.from_plo(log_odds)
        best = results.rocch.best_vertices(costs)
        pmiss, pfa = results.error_rates_at(costs.thresholds)
        return cls(
            frozen(log_odds),
            frozen(pmiss),
            frozen(pfa),
            frozen(results.rocch.pmiss[best]),
            frozen(results.rocch.pfa[best]),
            results.n_tar,
            results.n_non,
        )

    def __repr__(self) -> str:
        """Say how many operating points there are, and where."""
        return (
            f"BayesCurves: {self.plo.size} operating points, "
            f"plo {self.plo[0]:g} ... {self.plo[-1]:g}"
        )

    @functools.cached_property
    def _costs(self) -> DecisionCosts:
        return DecisionCosts.from_plo(self.plo)

    def _share(self, price: Float64Array, rate: Float64Array) -> Float64Array:
        """Return the part of the normalized error-rate that one kind of error makes."""
        return frozen(price * rate / self._costs.default_cost)

    def _cost(self, pmiss: Float64Array, pfa: Float64Array) -> Float64Array:
        return frozen(self._costs.cost(pmiss, pfa, normalize=True))

    @functools.cached_property
    def act_dcf(self) -> Float64Array:
        """Normalized Bayes error-rate; 0 perfect, 1 without a detector, above 1 misleading."""
        return self._cost(self.act_pmiss, self.act_pfa)

    @functools.cached_property
    def min_dcf(self) -> Float64Array:
        """Normalized minimum error-rate over all thresholds, in [0, 1]."""
        return self._cost(self.min_pmiss, self.min_pfa)

    @functools.cached_property
    def act_miss_rate(self) -> Float64Array:
        """The misses' part of `act_dcf`."""
        return self._share(self._costs.miss, self.act_pmiss)

    @functools.cached_property
    def act_fa_rate(self) -> Float64Array:
        """The false alarms' part of `act_dcf`."""
        return self._share(self._costs.fa, self.act_pfa)

    @functools.cached_property
    def min_miss_rate(self) -> Float64Array:
        """The misses' part of `min_dcf`."""
        return self._share(self._costs.miss, self.min_pmiss)

    @functools.cached_property
    def min_fa_rate(self) -> Float64Array:
        """The false alarms' part of `min_dcf`."""
        return self._share(self._costs.fa, self.min_pfa)

    @property
    def dr30_fa_index(self) -> int | None:
        """Index of the first operating point with 30 false alarms or more; None if there is none.

        To the left of it there are too few false alarms for a meaningful
        evaluation. Counted at the best threshold.
        """
        enough = self.min_pfa >= smallest_measurable_rate(self.n_non)
        return int(np.argmax(enough)) if enough.any() else None

    @property
    def dr30_miss_index(self) -> int | None:
        """Index of the last operating point with 30 misses or more; None if there is none.

        To the right of it there are too few misses for a meaningful evaluation.
        """
        enough = self.min_pmiss >= smallest_measurable_rate(self.n_tar)
        return int(np.flatnonzero(enough)[-1]) if enough.any() else None
