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
"""

from typing import NamedTuple

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen
from bosaris_py.numerics.roc import ROC

__all__ = ["LazyCurve"]

Float64Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Two costs closer than this are one cost that was rounded in two ways.
_ROUNDING = 2.0**-45


class _Pieces(NamedTuple):
    """Pieces of several replicates that are not decided yet; one entry each."""

    replicate: IntArray
    node: IntArray
    targets: IntArray
    others: IntArray
    # Targets below the left edge, and non-targets above the right edge.
    misses: IntArray
    false_alarms: IntArray

    @classmethod
    def whole(cls, n_replicates: int, n_targets: int, n_others: int) -> "_Pieces":
        """One piece for each replicate, which holds everything."""
        zeros = np.zeros(n_replicates, dtype=np.int64)
        targets, others = np.full_like(zeros, n_targets), np.full_like(zeros, n_others)
        return cls(np.arange(n_replicates), zeros, targets, others, zeros, zeros)

    def where(self, chosen: BoolArray) -> "_Pieces":
        """Keep some of the pieces."""
        positions = np.flatnonzero(chosen)
        return _Pieces(*(field.take(positions) for field in self))

    def joined(self, *others: "_Pieces") -> "_Pieces":
        """Append other pieces."""
        return _Pieces(*map(np.concatenate, zip(self, *others, strict=True)))

    def cut(
        self, tar_shares: Float64Array, non_shares: Float64Array, rng: np.random.Generator
    ) -> tuple["_Pieces", "_Pieces"]:
        """Draw how the picks of each piece divide between its two halves."""
        left_targets = rng.binomial(self.targets, tar_shares[self.node])
        left_others = rng.binomial(self.others, non_shares[self.node])
        right_others = self.others - left_others
        left = _Pieces(
            self.replicate,
            2 * self.node,
            left_targets,
            left_others,
            self.misses,
            self.false_alarms + right_others,
        )
        right = _Pieces(
            self.replicate,
            2 * self.node + 1,
            self.targets - left_targets,
            right_others,
            self.misses + left_targets,
            self.false_alarms,
        )
        return left, right

    @property
    def mixed(self) -> BoolArray:
        """Tell which pieces hold both classes; in others an edge is the best point."""
        return (self.targets > 0) & (self.others > 0)


@attrs.frozen(eq=False)
class LazyCurve:
    """A ROC's counts, arranged for lazy draws of i.i.d. bootstrap replicates.

    Parameters
    ----------
    tar_total, non_total : int
        Number of trials of each class.
    tar_shares, non_shares : tuple of ndarray of float64
        For each level of cuts, from the whole down to pairs of neighbouring
        target scores: the share of each piece's trials that lies in its left
        half.
    """

    tar_total: int
    non_total: int
    tar_shares: tuple[Float64Array, ...]
    non_shares: tuple[Float64Array, ...]

    @classmethod
    def from_roc(cls, roc: ROC) -> "LazyCurve":
        """Arrange the counts of a ROC of unweighted trials."""
        # Between the thresholds at two neighbouring target scores lie the
        # trials at the lower one and the non-targets in the gap above it.
        targets = np.concatenate(([0], roc.tar_at))
        others = np.concatenate((roc.non_between[:1], roc.non_at + roc.non_between[1:]))
        return cls(int(roc.tar_total), int(roc.non_total), _shares(targets), _shares(others))

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
        per_miss, per_fa = miss_cost / self.tar_total, fa_cost / self.non_total
        best = np.full(n_replicates, min(miss_cost, fa_cost))
        pieces = _Pieces.whole(n_replicates, self.tar_total, self.non_total)
        for tar_shares, non_shares in zip(self.tar_shares, self.non_shares, strict=True):
            left, right = pieces.cut(tar_shares, non_shares, rng)
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
        pieces = _Pieces.whole(n_replicates, self.tar_total, self.non_total)
        done = pieces.where(np.zeros(n_replicates, dtype=np.bool_))
        n_levels = len(self.tar_shares)
        for level in range(n_levels):
            left, right = pieces.cut(self.tar_shares[level], self.non_shares[level], rng)
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
            np.concatenate((pieces.misses, done.misses)) / self.tar_total,
            np.concatenate((pieces.false_alarms, done.false_alarms)) / self.non_total,
            np.concatenate((pieces.targets, done.targets)) / self.tar_total,
            np.concatenate((pieces.others, done.others)) / self.non_total,
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
    n_levels = max(1, int(counts.size - 1).bit_length())
    below = np.zeros(2**n_levels + 1, dtype=np.int64)
    np.cumsum(counts, out=below[1 : counts.size + 1])
    below[counts.size + 1 :] = below[counts.size]
    shares = []
    for level in range(n_levels, 0, -1):
        edges, middles = below[:: 2**level], below[2 ** (level - 1) :: 2**level]
        inside = np.diff(edges)
        share = np.zeros(inside.size)
        np.divide(middles - edges[:-1], inside, out=share, where=inside > 0)
        shares.append(frozen(share))
    return tuple(shares)
