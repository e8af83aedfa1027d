r"""Bootstrap replicates of minimum DCF and EER, drawn only where they matter.

An i.i.d. replicate of a ROC is a multinomial draw of how often each score was
picked. Cut the distinct target scores into two halves, and both halves again,
down to single scores: a multinomial draw is then a binomial draw at each cut,
given how many picks fell to the piece that is cut. The minimum of a cost does
not ask for all of these draws. At the edges of a piece the cost is known; inside
it the cost is at least

    (misses at the left edge, false alarms at the right edge),

so a piece whose bound cannot beat the best edge is never cut. A replicate takes
some hundred binomial draws, for ten million scores hardly more than for ten
thousand, and its distribution is exactly that of the plain bootstrap.

The convex-hull EER is the maximum over the prior of that minimum, a concave
function of the prior, and is found on the same lazily drawn replicate.

Where conditions are weighted, a piece holds the trials of each condition, and a cut
is a binomial draw for each. Costs and bounds are sums over conditions.
"""

from typing import NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen
from bosaris_py.uncertainty.weighted_curve import ClassEdges, CurveIndex

__all__ = ["ClassTree", "LazyCurve"]

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Weights = npt.NDArray[np.int64] | npt.NDArray[np.float64]

# Two costs closer than this are one cost that was rounded in two ways.
_ROUNDING = 2.0**-45


@attrs.frozen(eq=False)
class ClassTree:
    """How the trials of one class divide when the distinct target scores are halved.

    Parameters
    ----------
    sizes : (k,) ndarray of int64
        Number of trials of each condition.
    factors : (k,) ndarray of float64
        Weight of a trial of each condition; not used if there is one condition.
    shares : tuple of (n, k) ndarray of float64
        For each level of cuts, from the whole down to pairs of neighbouring target
        scores: the share of each piece's trials of each condition that lies in its left
        half.
    """

    sizes: IntArray
    factors: Float64Array
    shares: tuple[Float64Array, ...]

    @classmethod
    def from_edges(cls, class_edges: ClassEdges, step: int) -> "ClassTree":
        """Arrange the counts; every `step`-th edge lies below a distinct target score."""
        sizes = class_edges.sizes
        counts = [
            np.diff(edges[::step], prepend=0, append=size)
            for edges, size in zip(class_edges.edges, sizes.tolist(), strict=True)
        ]
        return cls(sizes, frozen(class_edges.shares / sizes), _shares(np.column_stack(counts)))

    @property
    def total(self) -> float:
        """Weight of all trials: their number, or one if conditions are weighted."""
        return float(self.sizes[0]) if self.sizes.size == 1 else 1.0

    def weigh(self, counts: IntArray) -> Weights:
        """Return the weight of so many trials of each condition, row by row."""
        if self.sizes.size == 1:
            return counts[:, 0]
        # Not by BLAS, whose sums may depend on how many threads it has.
        return np.asarray(np.einsum("ij,j->i", counts, self.factors))

    def rate(self, weights: Weights) -> Float64Array:
        """Return weights as shares of the total."""
        return np.asarray(weights / self.total)


class _Pieces(NamedTuple):
    """Pieces of several replicates that are not decided yet; one entry each."""

    replicate: IntArray
    node: IntArray
    # Number of trials of each condition: one row for each piece.
    targets: IntArray
    others: IntArray
    # Weight of targets below the left edge, and of non-targets above the right edge.
    misses: Float64Array
    false_alarms: Float64Array

    @classmethod
    def whole(cls, n_replicates: int, tar: ClassTree, non: ClassTree) -> "_Pieces":
        """One piece for each replicate, which holds everything."""
        zeros = np.zeros(n_replicates, dtype=np.int64)
        targets, others = (np.tile(tree.sizes, (n_replicates, 1)) for tree in (tar, non))
        nothing = np.zeros(n_replicates)
        return cls(np.arange(n_replicates), zeros, targets, others, nothing, nothing)

    def where(self, chosen: BoolArray) -> "_Pieces":
        """Keep some of the pieces."""
        positions = np.flatnonzero(chosen)
        return _Pieces._make(field.take(positions, axis=0) for field in self)

    def joined(self, *others: "_Pieces") -> "_Pieces":
        """Append other pieces."""
        return _Pieces(*map(np.concatenate, zip(self, *others, strict=True)))

    def cut(
        self, tar: ClassTree, non: ClassTree, level: int, rng: np.random.Generator
    ) -> tuple["_Pieces", "_Pieces"]:
        """Draw how the picks of each piece divide between its two halves."""
        left_targets = rng.binomial(self.targets, tar.shares[level].take(self.node, axis=0))
        left_others = rng.binomial(self.others, non.shares[level].take(self.node, axis=0))
        right_others = self.others - left_others
        left = _Pieces(
            self.replicate,
            2 * self.node,
            left_targets,
            left_others,
            self.misses,
            self.false_alarms + non.weigh(right_others),
        )
        right = _Pieces(
            self.replicate,
            2 * self.node + 1,
            self.targets - left_targets,
            right_others,
            self.misses + tar.weigh(left_targets),
            self.false_alarms,
        )
        return left, right

    @property
    def mixed(self) -> BoolArray:
        """Tell which pieces hold both classes; in others an edge is the best point."""
        return np.asarray(self.targets.any(axis=1) & self.others.any(axis=1))


@attrs.frozen(eq=False)
class LazyCurve:
    """A ROC's counts, arranged for lazy draws of i.i.d. bootstrap replicates.

    Parameters
    ----------
    tar, non : ClassTree
        The counts of each class.
    """

    tar: ClassTree
    non: ClassTree

    @classmethod
    def from_index(cls, index: CurveIndex) -> "LazyCurve":
        """Arrange the counts between target scores.

        Between the thresholds at two neighbouring target scores lie the trials at the
        lower one and the non-targets in the gap above it.
        """
        return cls(ClassTree.from_edges(index.tar, 1), ClassTree.from_edges(index.non, 2))

    def draw_min_costs(
        self, n_replicates: int, miss_cost: float, fa_cost: float, rng: np.random.Generator
    ) -> Float64Array:
        """Draw replicates of the minimum over thresholds of a cost of the error-rates.

        Parameters
        ----------
        n_replicates : int
            How many to draw.
        miss_cost, fa_cost : float
            Price of a miss rate and of a false-alarm rate of one.
        rng : Generator
            Source of randomness.

        Returns
        -------
        (n_replicates,) ndarray of float64
        """
        per_miss, per_fa = miss_cost / self.tar.total, fa_cost / self.non.total
        best = np.full(n_replicates, min(miss_cost, fa_cost))
        pieces = _Pieces.whole(n_replicates, self.tar, self.non)
        for level in range(len(self.tar.shares)):
            left, right = pieces.cut(self.tar, self.non, level, rng)
            np.minimum.at(
                best, left.replicate, per_miss * right.misses + per_fa * left.false_alarms
            )
            to_beat = best[left.replicate]
            kept = [
                half.where(
                    half.mixed & (per_miss * half.misses + per_fa * half.false_alarms < to_beat)
                )
                for half in (left, right)
            ]
            pieces = kept[0].joined(kept[1])
            if pieces.replicate.size == 0:
                break
        return best

    def draw_eers(self, n_replicates: int, rng: np.random.Generator) -> Float64Array:
        r"""Draw replicates of the EER on the ROC's convex hull.

        Parameters
        ----------
        n_replicates : int
            How many to draw.
        rng : Generator
            Source of randomness.

        Returns
        -------
        (n_replicates,) ndarray of float64

        Notes
        -----
        Write :math:`g(\pi)` for the minimum cost of a replicate at prior
        :math:`\pi`. The edges drawn so far bound it from above by
        :math:`\bar g`, whose maximum :math:`\bar e = \bar g(\pi^*)` bounds the
        EER; the corners of the uncut pieces bound it at :math:`\pi^*` from
        below by :math:`\underline e`. The maximum of :math:`g` lies where
        :math:`\bar g \ge \underline e`, an interval of priors. A piece that
        costs at least :math:`\bar e` at both ends of the interval costs at
        least that inside it too, so it decides nothing and is dropped.
        """
        bracket = _Bracket.start(n_replicates)
        pieces = _Pieces.whole(n_replicates, self.tar, self.non)
        done = pieces.where(np.zeros(n_replicates, dtype=np.bool_))
        n_levels = len(self.tar.shares)
        for level in range(n_levels):
            left, right = pieces.cut(self.tar, self.non, level, rng)
            pieces = left.joined(right)
            cuttable = pieces.mixed & (level + 1 < n_levels)
            # Pieces that need no cut stay as points of the curve.
            done = done.joined(pieces.where(~cuttable))
            pieces = pieces.where(cuttable)
            pieces, done = self._narrow(bracket, pieces, done)
            if pieces.replicate.size == 0:
                break
        return bracket.value

    def _narrow(
        self, bracket: "_Bracket", pieces: _Pieces, done: _Pieces
    ) -> tuple[_Pieces, _Pieces]:
        """Update the bracket by the known points; drop what can no longer decide."""
        replicate = np.concatenate((pieces.replicate, done.replicate))
        pmiss, pfa, width, height = self._rates(pieces, done)
        edge_replicate = np.concatenate((replicate, replicate))
        edge_pmiss = np.concatenate((pmiss, pmiss + width))
        edge_pfa = np.concatenate((pfa + height, pfa))
        bracket.take_in(edge_replicate, edge_pmiss, edge_pfa)

        n_cuttable = pieces.replicate.size
        upper = bracket.value
        prior = bracket.prior[pieces.replicate]
        floor = upper.copy()
        corner = pfa[:n_cuttable] + prior * (pmiss[:n_cuttable] - pfa[:n_cuttable])
        np.minimum.at(floor, pieces.replicate, corner)

        lowest, highest = bracket.prior_range(floor, edge_replicate, edge_pmiss, edge_pfa)
        n_pieces = replicate.size
        cheapest = np.full(n_pieces, np.inf)
        for ends in (lowest, highest):
            prior = ends[replicate]
            cost = pfa + prior * (pmiss - pfa)
            # A piece that is not cut any more is as cheap as its cheaper edge.
            cost[n_cuttable:] += np.minimum(
                ((1.0 - prior) * height)[n_cuttable:], (prior * width)[n_cuttable:]
            )
            np.minimum(cheapest, cost, out=cheapest)
        kept = cheapest < upper[replicate]
        # Where nothing is left to cut, the maximum is found.
        unfinished = np.zeros(upper.size, dtype=np.bool_)
        unfinished[pieces.replicate[kept[:n_cuttable]]] = True
        kept &= unfinished[replicate]
        return pieces.where(kept[:n_cuttable]), done.where(kept[n_cuttable:])

    def _rates(
        self, pieces: _Pieces, done: _Pieces
    ) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
        """Return miss rate left, false-alarm rate right, and the extent in both directions."""
        return (
            self.tar.rate(np.concatenate((pieces.misses, done.misses))),
            self.non.rate(np.concatenate((pieces.false_alarms, done.false_alarms))),
            self.tar.rate(self.tar.weigh(np.concatenate((pieces.targets, done.targets)))),
            self.non.rate(self.non.weigh(np.concatenate((pieces.others, done.others)))),
        )


@attrs.frozen(eq=False)
class _Bracket:
    """For each replicate two points of its curve, either side of pmiss = pfa.

    The line between them meets the diagonal at `value`, the best bound of the
    EER so far, and is the iso-cost line of `prior`. Arrays are updated in
    place.
    """

    # Points with fewer misses than false alarms, and with at least as many.
    low_pmiss: Float64Array
    low_pfa: Float64Array
    high_pmiss: Float64Array
    high_pfa: Float64Array

    @classmethod
    def start(cls, n_replicates: int) -> "_Bracket":
        """Begin with accepting and rejecting everything."""
        zeros, ones = np.zeros(n_replicates), np.ones(n_replicates)
        return cls(zeros.copy(), ones.copy(), ones, zeros)

    @property
    def prior(self) -> Float64Array:
        """Prior at which the two points cost the same."""
        low = self.low_pmiss - self.low_pfa
        high = self.high_pmiss - self.high_pfa
        return (self.low_pfa - self.high_pfa) / (high - low)

    @property
    def value(self) -> Float64Array:
        """What they cost there: the height at which their line meets the diagonal."""
        return self.low_pfa + self.prior * (self.low_pmiss - self.low_pfa)

    def take_in(self, replicate: IntArray, pmiss: Float64Array, pfa: Float64Array) -> None:
        """Move the bracket to the maximum over priors of the minimum over these points.

        Each round asks which point is cheapest at the prior of the present
        bracket, and puts it into the bracket. The prior moves monotonically
        along the hull's edges, so this ends.
        """
        rising = pmiss - pfa
        while replicate.size:
            value = self.value
            cost = pfa + self.prior[replicate] * rising
            cheapest = value.copy()
            np.minimum.at(cheapest, replicate, cost)
            improved = cheapest < value * (1.0 - _ROUNDING)
            # Of several equally cheap points any one will do.
            hits = np.flatnonzero((cost == cheapest[replicate]) & improved[replicate])
            chosen = np.zeros(value.size, dtype=np.int64)
            chosen[replicate[hits]] = hits
            for ends, below in (
                ((self.low_pmiss, self.low_pfa), True),
                ((self.high_pmiss, self.high_pfa), False),
            ):
                moved = np.flatnonzero(improved)
                moved = moved[(rising[chosen[moved]] < 0) == below]
                ends[0][moved] = pmiss[chosen[moved]]
                ends[1][moved] = pfa[chosen[moved]]
            again = improved[replicate]
            replicate = replicate[again]
            pmiss, pfa, rising = pmiss[again], pfa[again], rising[again]

    def prior_range(
        self, floor: Float64Array, replicate: IntArray, pmiss: Float64Array, pfa: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return the lowest and highest prior at which no known point costs less than `floor`."""
        everyone = np.arange(floor.size)
        replicate = np.concatenate((replicate, everyone, everyone))
        pmiss = np.concatenate((pmiss, self.low_pmiss, self.high_pmiss))
        pfa = np.concatenate((pfa, self.low_pfa, self.high_pfa))
        slope = pmiss - pfa
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = (floor[replicate] - pfa) / slope
        lowest, highest = np.zeros(floor.size), np.ones(floor.size)
        rises, falls = np.flatnonzero(slope > 0), np.flatnonzero(slope < 0)
        np.maximum.at(lowest, replicate[rises], limit[rises])
        np.minimum.at(highest, replicate[falls], limit[falls])
        return lowest, highest


def _shares(counts: IntArray) -> tuple[Float64Array, ...]:
    """Return the share of the left half in each piece, level by level from the top."""
    n_cells, n_columns = counts.shape
    n_levels = max(1, int(n_cells - 1).bit_length())
    below = np.zeros((2**n_levels + 1, n_columns), dtype=np.int64)
    np.cumsum(counts, axis=0, out=below[1 : n_cells + 1])
    below[n_cells + 1 :] = below[n_cells]
    shares = []
    for level in range(n_levels, 0, -1):
        edges, middles = below[:: 2**level], below[2 ** (level - 1) :: 2**level]
        inside = np.diff(edges, axis=0)
        share = np.zeros(inside.shape)
        np.divide(middles - edges[:-1], inside, out=share, where=inside > 0)
        shares.append(frozen(share))
    return tuple(shares)
