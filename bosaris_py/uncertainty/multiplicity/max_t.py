r"""The largest t of several differences: corrections that know how the tests depend on each other.

All differences share their draws. The corrected p-value of the largest t is the share of draws
whose largest t is as large. The next one is compared with the largest of the others, and so on,
step by step: J. P. Romano and M. Wolf, Econometrica 73, 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import attrs
import numpy as np

from bosaris_py._arrays import Float64Array

# Signs of this many speakers are all tried; of more, so many at random, fewer of many pairs.
_MOST_EXACT = 13
_MOST_DRAWS, _FEWEST_DRAWS = 9_999, 999
_MOST_NUMBERS = 2**24

# Equal sums differ by rounding, which this exceeds many times; t is of the order of one.
_SLACK = 1e-9

# Signs have a seed of their own, so that a table is the same each time.
_SEED = 20050707


def signs_of(k: int, rounds: range, rng: np.random.Generator | None) -> Float64Array:
    """Return the signs of k speakers in some rounds, a row each: random ones, or all in order."""
    if rng is None:
        # The bits of the number of a round say whose systems are swapped; numbers are int64.
        flips = (np.asarray(rounds, dtype=np.int64)[:, np.newaxis] >> np.arange(k)) & 1
    else:
        flips = rng.integers(0, 2, size=(len(rounds), k), dtype=np.int8)
    return np.asarray(1.0 - 2.0 * flips)


@attrs.frozen(eq=False)
class CommonDraws:
    """The t of m differences, and t of the same differences if systems were alike."""

    # `students` (m,) and `draws` (B, m) keep their signs. `exact`: these are all draws there are,
    # the observed one among them.

    students: Float64Array
    draws: Float64Array
    exact: bool = False

    @classmethod
    def of_signs(cls, influences: Sequence[Float64Array]) -> Self:
        """Flip the signs of the influences of each speaker, of all differences at once."""
        # Systems that are alike may be swapped for any speaker. The sum of squares does not change.
        shares = np.stack(influences, axis=1)
        size = np.sqrt(np.einsum("kj,kj->j", shares, shares))
        shares = shares / np.where(size > 0, size, 1.0)
        k, m = shares.shape
        exact = k <= _MOST_EXACT
        n_draws = 2**k if exact else min(max(_MOST_NUMBERS // m, _FEWEST_DRAWS), _MOST_DRAWS)
        signs = signs_of(k, range(n_draws), None if exact else np.random.default_rng(_SEED))
        return cls(shares.sum(axis=0), signs @ shares, exact)

    @classmethod
    def of_replicates(cls, estimates: Float64Array, replicates: Float64Array) -> Self:
        """Take t of replicates (B, m), each of the same trials for all differences."""
        known = replicates[np.isfinite(replicates).all(axis=1)]
        if len(known) < 2:
            return cls(np.zeros(estimates.size), np.zeros((1, estimates.size)))
        error = known.std(axis=0, ddof=1)
        error = np.where(error > 0, error, 1.0)
        return cls(estimates / error, (known - estimates) / error)

    def corrected(self, alternative: str, p_values: Float64Array) -> Float64Array:
        """Return the corrected p-values of tests, none below its own."""
        turned = {"two-sided": np.abs, "less": np.negative, "greater": np.positive}[alternative]
        found = self._step_down(turned(self.students), turned(self.draws))
        return np.maximum(found, p_values)

    def of_directions(self) -> Float64Array:
        """Return corrected p-values of m differences above zero, and of as many below: (2 m,)."""
        return self._step_down(
            np.concatenate([self.students, -self.students]), np.hstack([self.draws, -self.draws])
        )

    def _step_down(self, students: Float64Array, draws: Float64Array) -> Float64Array:
        order = np.argsort(-students, kind="stable")
        # Of each in this order, the largest among it and those behind it.
        largest = np.maximum.accumulate(draws[:, order[::-1]], axis=1)[:, ::-1]
        beyond = np.count_nonzero(largest >= students[order] - _SLACK, axis=0)
        # The observed t is one of the draws, so that p is never 0.
        p = beyond / len(draws) if self.exact else (beyond + 1.0) / (len(draws) + 1.0)
        adjusted = np.empty(students.size)
        adjusted[order] = np.maximum.accumulate(p)
        return adjusted
