"""Ranks of systems with confidence: which places each of several systems may have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from bosaris_py._tables import Table, joined_notes
from bosaris_py.uncertainty.multiplicity.corrections import WORDS, Correction


@attrs.frozen(eq=False, repr=False)
class RankIntervals(Table):
    """Which ranks systems may have, all at once; made by `ComparisonTable.rank_intervals`.

    Parameters
    ----------
    names : tuple of str
        The systems.
    low, high : tuple of int
        The best and the worst rank that each may have; 1 is the best system.
    level : float
        The chance that the interval of any system misses its rank.
    correction : str
        How the comparisons were corrected.
    metric : str
        By what systems are ranked.
    """

    names: tuple[str, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    level: float
    correction: Correction
    metric: str = ""

    @property
    def best(self) -> tuple[str, ...]:
        """The systems that may be the best one: none of the others is surely better."""
        return tuple(name for name, rank in zip(self.names, self.low, strict=True) if rank == 1)

    def records(self) -> list[dict[str, Any]]:
        """Return the ranks as dicts.

        Returns
        -------
        list of dict
            ``system``, ``rank_low``, ``rank_high``, ``may_be_best``, ``metric``, ``confidence`` and
            ``correction``.
        """
        return [
            {
                "system": name,
                "rank_low": low,
                "rank_high": high,
                "may_be_best": low == 1,
                "metric": self.metric or None,
                "confidence": 1.0 - self.level,
                "correction": self.correction,
            }
            for name, low, high in zip(self.names, self.low, self.high, strict=True)
        ]

    @property
    def _note(self) -> str:
        of_all = f"ranks of all systems, {100 * (1 - self.level):g} % confidence"
        return joined_notes(self.metric, of_all, WORDS[self.correction])

    @property
    def _left(self) -> tuple[int, ...]:
        return 0, 2

    def _texts(self) -> list[list[str]]:
        rows = [["system", "rank", "may be the best"]]
        for name, low, high in zip(self.names, self.low, self.high, strict=True):
            rank = f"{low}" if low == high else f"{low} to {high}"
            rows.append([name, rank, "yes" if low == 1 else "no"])
        return rows


def surely_better(
    pairs: Sequence[tuple[str, str]], p_values: np.ndarray, level: float, *, larger_is_better: bool
) -> list[tuple[str, str]]:
    """Return pairs (better, worse), given p-values of each difference above zero, then below."""
    above, below = np.split(np.asarray(p_values) <= level, 2)
    first, second = (above, below) if larger_is_better else (below, above)
    found = [pair for pair, sure in zip(pairs, first.tolist(), strict=True) if sure]
    return found + [(b, a) for (a, b), sure in zip(pairs, second.tolist(), strict=True) if sure]


def count_ranks(
    names: Sequence[str],
    better: Sequence[tuple[str, str]],
    level: float,
    correction: Correction,
    metric: str,
) -> RankIntervals:
    """Count who is surely better, and surely worse, by pairs (better, worse)."""
    # Mogstad et al.: ranks from 1 + those surely better to n - those surely worse.
    above, below = (
        [sum(pair[side] == name for pair in better) for name in names] for side in (1, 0)
    )
    low, high = (tuple(1 + n for n in above), tuple(len(names) - n for n in below))
    return RankIntervals(tuple(names), low, high, level, correction, metric)
