r"""The conditions of trials, as resampling needs them: strata with a fixed weight each.

Where conditions are weighted, an error-rate is

.. math::

    P = \sum_\alpha w_\alpha \frac{e_\alpha}{n_\alpha},

with :math:`e_\alpha` errors in :math:`n_\alpha` trials of condition :math:`\alpha`. How
much a condition counts is decided by whoever evaluates, and so is its number of trials;
neither is a matter of luck. Trials are therefore resampled within their condition, and
where a replicate gives a condition another number of trials, because sets or speakers
are picked, :math:`w_\alpha` is divided by that number: the same metric of other trials.
"""

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    FloatArray,
    by_constructor,
    describe,
    frozen,
    invalid,
    list_some,
    read_only,
)
from bosaris_py.numerics.sorted_scores import SortedScores
from bosaris_py.uncertainty.randomness import draw_picks
from bosaris_py.uncertainty.sets import SetIndex, as_labels

__all__ = ["SortedStrata", "Strata", "TrialStrata", "effective_errors", "slices_of", "weighted_sum"]

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Order = npt.NDArray[np.intp]

# Weights of conditions sum to one, up to what their decimals leave.
_SUM_TOLERANCE = 1e-6


class SortedStrata(NamedTuple):
    """The scores of one class, condition by condition, each sorted.

    Parameters
    ----------
    parts : tuple of SortedScores
        The scores of each condition, unweighted.
    shares : (k,) ndarray of float64
        Weight of each condition in the class; they sum to one.
    """

    parts: tuple[SortedScores, ...]
    shares: Float64Array

    @property
    def slices(self) -> list[slice]:
        """Where the weights of each condition stand, if they are ordered like the parts."""
        return slices_of([part.size for part in self.parts])

    @property
    def values(self) -> FloatArray:
        """All scores, condition by condition."""
        if len(self.parts) == 1:
            return self.parts[0].values
        return np.concatenate([part.values for part in self.parts])


@attrs.frozen(eq=False, repr=False)
class Strata:
    """Which condition each trial of one class belongs to, and what the condition weighs.

    Parameters
    ----------
    labels : (n,) ndarray of unsigned int, or None
        Number of each trial's condition, from 0; None if there is one condition only.
    sizes : (k,) ndarray of int64
        Number of trials in each condition, at least one.
    shares : (k,) ndarray of float64
        Weight of each condition in the class; they sum to one.
    """

    labels: npt.NDArray[Any] | None = attrs.field(converter=attrs.converters.optional(read_only))
    sizes: IntArray = attrs.field(converter=read_only)
    shares: Float64Array = attrs.field(converter=read_only)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that arrays stay read-only."""
        return by_constructor(self)

    @classmethod
    def single(cls, n_trials: int) -> Self:
        """All trials alike: no conditions."""
        return cls(None, frozen(np.array([n_trials])), frozen(np.ones(1)))

    @classmethod
    def from_codes(cls, codes: npt.NDArray[Any], weights: Float64Array) -> Self:
        """Leave out the conditions that have no trials of this class, and share out the rest.

        Parameters
        ----------
        codes : (n,) ndarray of int
            Number of each trial's condition.
        weights : (k,) ndarray of float64
            Weight of each condition, one of those that occur positive.
        """
        counts = np.bincount(codes, minlength=weights.size)
        present = np.flatnonzero(counts)
        if present.size == 1:
            return cls.single(codes.size)
        numbers = np.zeros(weights.size, dtype=np.min_scalar_type(present.size - 1))
        numbers[present] = np.arange(present.size)
        shares = weights[present] / weights[present].sum()
        return cls(frozen(numbers[codes]), frozen(counts[present]), frozen(shares))

    def __repr__(self) -> str:
        """Say how many conditions there are and how large."""
        smallest, largest = int(self.sizes.min()), int(self.sizes.max())
        return f"Strata: {self.n_strata} conditions of {smallest} to {largest} trials"

    @property
    def n_strata(self) -> int:
        """Number of conditions."""
        return int(self.sizes.size)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(self.sizes.sum())

    @property
    def factors(self) -> Float64Array:
        """Weight of a single trial of each condition."""
        return np.asarray(self.shares / self.sizes)

    @functools.cached_property
    def _in_order(self) -> bool:
        """Whether trials stand condition by condition."""
        return self.labels is None or not bool(np.any(self.labels[1:] < self.labels[:-1]))

    @functools.cached_property
    def _order(self) -> Order:
        """Positions of the trials, condition by condition."""
        labels = np.zeros(self.n_trials, np.uint8) if self.labels is None else self.labels
        return np.argsort(labels, kind="stable")

    def members(self) -> list[Order]:
        """Return the positions of the trials of each condition, ascending."""
        return np.split(self._order, np.cumsum(self.sizes)[:-1])

    def split(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """Return the values of the trials of each condition."""
        if self.labels is None:
            return [values]
        return [values[positions] for positions in self.members()]

    def reordered(self, order: Order) -> "Strata":
        """Take the trials in another order."""
        if self.labels is None:
            return self
        return Strata(frozen(self.labels[order]), self.sizes, self.shares)

    def arranged(self, scores: FloatArray) -> tuple[SortedStrata, Order]:
        """Sort the scores of each condition; return them, and the order that does it."""
        if self.labels is None:
            order = np.argsort(scores, kind="stable")
        else:
            order = np.concatenate(
                [
                    positions[np.argsort(scores[positions], kind="stable")]
                    for positions in self.members()
                ]
            )
        values = frozen(scores[order])
        parts = tuple(SortedScores(values[part]) for part in slices_of(self.sizes.tolist()))
        return SortedStrata(parts, self.shares), order

    def sorted(self, scores: FloatArray) -> SortedStrata:
        """Sort the scores of each condition."""
        parts = (SortedScores(frozen(np.sort(part))) for part in self.split(scores))
        return SortedStrata(tuple(parts), self.shares)

    def trial_weights(self) -> Float64Array | None:
        """Return what each trial weighs, of one in all; None if there is one condition."""
        return None if self.labels is None else self.factors[self.labels]

    def totals(self, weights: npt.NDArray[Any]) -> Float64Array:
        """Add up a number for each trial within conditions: (k,)."""
        if self.labels is None:
            return np.array([weights.sum()], dtype=np.float64)
        totals = np.bincount(self.labels, weights=weights, minlength=self.n_strata)
        return np.asarray(totals, dtype=np.float64)

    def complete(self, weights: Weights) -> bool:
        """Tell if each condition has kept some weight."""
        if self.labels is None:
            return bool(weights.any())
        if self._in_order:
            return all(weights[part].any() for part in slices_of(self.sizes.tolist()))
        return bool(self.totals(weights).all())

    def weigh(self, weights: Weights) -> Weights:
        """Give each condition its share of one; with one condition weights stay as they are.

        Parameters
        ----------
        weights : (n,) ndarray
            How often each trial was picked; no condition without any.
        """
        if self.labels is None:
            return weights
        return np.asarray((self.shares / self.totals(weights))[self.labels] * weights)

    def draw_picks(self, rng: np.random.Generator) -> IntArray:
        """Pick as many trials of each condition as it has; return how often each was picked."""
        if self.labels is None:
            return draw_picks(int(self.sizes[0]), rng)
        picks = np.concatenate([draw_picks(size, rng) for size in self.sizes.tolist()])
        if self._in_order:
            return picks
        placed = np.empty_like(picks)
        placed[self._order] = picks
        return placed

    def cells(self, sets: SetIndex) -> SetIndex:
        """Return the trials of each set and condition: cell (s, c) has the number s k + c.

        Cells may be empty.
        """
        if self.labels is None:
            return sets
        labels = sets.labels * self.n_strata + self.labels
        sizes = np.bincount(labels, minlength=sets.n_sets * self.n_strata)
        return SetIndex(frozen(labels), frozen(sizes))


class TrialStrata(NamedTuple):
    """The conditions of the trials of both classes.

    Parameters
    ----------
    tar, non : Strata
        Those of each class.
    """

    tar: Strata
    non: Strata

    @classmethod
    def single(cls, n_tar: int, n_non: int) -> "TrialStrata":
        """No conditions."""
        return cls(Strata.single(n_tar), Strata.single(n_non))

    @classmethod
    def from_labels(
        cls,
        tar_labels: npt.ArrayLike | None,
        non_labels: npt.ArrayLike | None,
        weights: Mapping[Any, float] | None,
        sizes: tuple[int, int],
        owner: str,
    ) -> "TrialStrata":
        """Make strata of the arguments `tar_conditions`, `non_conditions`, `condition_weights`.

        Parameters
        ----------
        tar_labels, non_labels : array_like of str or int, or None
            Label of each trial's condition.
        weights : mapping or None
            Weight of each label; equal ones by default.
        sizes : tuple of two ints
            Number of trials of each class.
        owner : str
            The public function that asks, for messages.
        """
        names = ("tar_conditions", "non_conditions")
        if tar_labels is None and non_labels is None:
            if weights is not None:
                hint = "Give the condition of each trial in `tar_conditions` and `non_conditions`."
                expected = "be left out where there are no conditions"
                raise invalid("condition_weights", owner, expected, describe(weights), hint)
            return cls.single(*sizes)
        arrays = []
        for labels, name, size in zip((tar_labels, non_labels), names, sizes, strict=True):
            if labels is None:
                hint = "Conditions weight both classes; give the label of each trial."
                raise invalid(name, owner, "be given like the other one", "None", hint)
            array = as_labels(labels, name, owner)
            if array.size != size:
                expected = f"have one label for each of the {size} trials"
                raise invalid(name, owner, expected, f"{array.size} labels")
            arrays.append(array)
        levels, codes = np.unique(np.concatenate(arrays), return_inverse=True)
        shares = _condition_weights(weights, levels, owner)
        split = np.split(codes, [sizes[0]])
        return cls(*(Strata.from_codes(part, shares) for part in split))

    @property
    def is_single(self) -> bool:
        """Whether there is but one condition in either class."""
        return self.tar.labels is None and self.non.labels is None

    def trial_weights(self) -> tuple[Float64Array | None, Float64Array | None]:
        """Return what each trial weighs in each class; None where there is one condition."""
        return self.tar.trial_weights(), self.non.trial_weights()

    def reordered(self, tar_order: Order, non_order: Order) -> "TrialStrata":
        """Take the trials in another order."""
        return TrialStrata(self.tar.reordered(tar_order), self.non.reordered(non_order))

    def complete(self, tar_weights: Weights, non_weights: Weights) -> bool:
        """Tell if each condition of each class has kept some weight."""
        return self.tar.complete(tar_weights) and self.non.complete(non_weights)

    def weigh(
        self, tar_weights: Weights, non_weights: Weights
    ) -> tuple[Float64Array, Float64Array]:
        """Return float64 weights in which each condition has its share, see `Strata.weigh`."""
        return (
            self.tar.weigh(tar_weights).astype(np.float64, copy=False),
            self.non.weigh(non_weights).astype(np.float64, copy=False),
        )


def _condition_weights(
    weights: Mapping[Any, float] | None, levels: npt.NDArray[Any], owner: str
) -> Float64Array:
    """Return the weight of each label."""
    names = levels.tolist()
    if weights is None:
        return np.full(len(names), 1.0 / len(names))
    name = "condition_weights"
    given: object = weights
    if not isinstance(given, Mapping):
        expected = "map the label of each condition to its weight"
        raise invalid(name, owner, expected, describe(weights), "For instance {'f': 0.5, 'm': 0.5}")
    missing = [label for label in names if label not in weights]
    unused = [label for label in weights if label not in names]
    for labels, found in ((missing, "none for {}"), (unused, "conditions without trials: {}")):
        if labels:
            expected = "name the conditions of the trials and no others"
            raise invalid(name, owner, expected, found.format(list_some(labels)))
    try:
        values = np.array([weights[label] for label in names], dtype=np.float64)
    except (TypeError, ValueError):
        raise invalid(name, owner, "be numbers", describe(list(weights.values()))) from None
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise invalid(name, owner, "be finite and positive", list_some(values.tolist()))
    if abs(values.sum() - 1.0) > _SUM_TOLERANCE:
        raise invalid(name, owner, "sum to one", f"{values.sum():g}")
    return values


def weighted_sum(terms: Sequence[Any], shares: Float64Array) -> Any:
    """Add up terms with a weight each; a single one, which weighs one, stays as it is."""
    if len(terms) == 1:
        return terms[0]
    total = shares[0] * terms[0]
    for term, share in zip(terms[1:], shares[1:], strict=True):
        total = total + share * term
    return total


def effective_errors(errors: npt.NDArray[Any], factors: Float64Array) -> Float64Array:
    r"""Return how many errors of equal weight would leave a weighted rate as uncertain.

    :math:`(\sum_\alpha f_\alpha e_\alpha)^2 / \sum_\alpha f_\alpha^2 \max(e_\alpha, 1)`
    for :math:`e_\alpha` errors of trials that weigh :math:`f_\alpha` each: the number of
    errors if there is one condition. A condition without errors counts as uncertain as
    one with a single error, so that a small one with a large weight is noticed.

    Parameters
    ----------
    errors : (k, ...) ndarray of int
        Number of errors in each condition.
    factors : (k,) ndarray of float64
        Weight of one trial of each condition.

    Returns
    -------
    (...) ndarray of float64
    """
    if factors.size == 1:
        return np.asarray(errors[0], dtype=np.float64)
    total = np.tensordot(factors, errors, axes=1)
    return np.asarray(total**2 / np.tensordot(factors**2, np.maximum(errors, 1), axes=1))


def slices_of(sizes: Sequence[int]) -> list[slice]:
    """Return the places of parts of these sizes that follow one another."""
    ends = list(itertools.accumulate(sizes))
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
