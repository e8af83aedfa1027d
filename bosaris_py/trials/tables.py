"""Trials and scores as tables, and which trials scores and a key have in common."""

from __future__ import annotations

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._arrays import BoolArray, FloatArray
from bosaris_py.files.columns import Factor
from bosaris_py.files.text import Table
from bosaris_py.trials.columns import Column
from bosaris_py.trials.key import Key, Ndx, as_key, as_ndx
from bosaris_py.trials.scores import (
    Scores,
    scored_ndx,
    scored_trials,
    trials_within,
    why_none_scored,
)

# Trials of each kind that a comparison names.
_SHOWN = 5

Pair = tuple[str, str]


def to_table(trials: Ndx | Key | None = None, *, scores: Scores | None = None) -> Table:
    """Return trials, scores or both as a table, which can be written in any text format.

    Parameters
    ----------
    trials : Ndx or Key, optional
        The trials; labels and columns are those of a key. By default all that have scores.
    scores : Scores, optional
        The scores. Trials without one have NaN.

    Returns
    -------
    Table
        One line for each trial, column by column.

    Warns
    -----
    MissingTrialsWarning
        If trials have no scores.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False])
    >>> bp.trials.to_table(key)
    Table: 2 lines, 1 models x 2 segments, 1 targets, 1 non-targets
    """
    if trials is None:
        if scores is None:
            raise check.invalid("trials", "be given where there are no `scores`", "None")
        trials = scored_ndx(scores)
    trials = as_ndx(trials)
    values: FloatArray | None = None
    if scores is not None:
        found = scored_trials(scores, trials)
        values = scores.get_scores(trials)
        if found is not None and not found.all():
            present = values
            values = np.full(trials.n_trials, np.nan, dtype=present.dtype)
            values[found] = present
    columns: dict[str, Column] = {}
    if isinstance(trials, Key):
        columns |= trials.columns_of_table()
    models, segments = trials.trial_positions()
    labels = trials.is_target if isinstance(trials, Key) else None
    sides = models, trials.modelset, segments, trials.segset
    left, right = Factor.of_distinct(*sides[:2]), Factor.of_distinct(*sides[2:])
    return Table(left, right, labels, values, columns)


@attrs.frozen(kw_only=True)
class TrialComparison:
    """The trials of scores beside those of a key.

    Parameters
    ----------
    n_common : int
        Trials of the key that have a score.
    n_tar_missing, n_non_missing : int
        Targets and non-targets of the key that have none.
    n_unknown : int
        Scores of trials that the key does not have.
    missing, unknown : tuple of (model, segment)
        The first five of these trials, column by column.
    has_labels : bool
        Whether labels of the trials are known; without, `n_non_missing` counts all that is missing.
    n_infinite : int
        Scores that are infinite.
    n_nan : int
        Scores that are NaN, which no metric takes.
    is_constant : bool
        Whether all of several scores are the same.
    why_none : str
        In what the ids differ, if no trial has a score.
    """

    n_common: int
    n_tar_missing: int
    n_non_missing: int
    missing: tuple[Pair, ...]
    n_unknown: int
    unknown: tuple[Pair, ...]
    has_labels: bool = True
    n_infinite: int = 0
    n_nan: int = 0
    is_constant: bool = False
    why_none: str = ""

    @property
    def n_missing(self) -> int:
        """Number of trials of the key that have no score."""
        return self.n_tar_missing + self.n_non_missing

    @property
    def is_equal(self) -> bool:
        """Whether both have the same trials."""
        return not self.n_missing and not self.n_unknown

    @property
    def lines(self) -> list[str]:
        """The counts and the first examples, in a few sentences."""
        lines = [f"{self.n_common} trials of the {self._whose} have a score."]
        if self.n_missing:
            classes = f" ({self.n_tar_missing} targets, {self.n_non_missing} non-targets)"
            lines.append(
                f"{self.n_missing} have none{classes if self.has_labels else ''}: "
                f"{_names(self.missing, self.n_missing)}."
            )
        if self.n_unknown:
            lines.append(
                f"{self.n_unknown} scores are of trials that the {self._whose} does not have: "
                f"{_names(self.unknown, self.n_unknown)}."
            )
        return lines

    @property
    def _whose(self) -> str:
        return "key" if self.has_labels else "list"

    @property
    def problems(self) -> list[str]:
        """What is wrong with the scores as an answer to these trials; empty if nothing is."""
        found = self.lines[1:]
        if self.n_nan:
            found.append(f"{self.n_nan} scores are NaN.")
        if self.n_infinite:
            found.append(f"{self.n_infinite} scores are infinite.")
        if self.is_constant:
            found.append("All scores are the same number.")
        if not self.n_common:
            why = self.why_none or "Are the ids written alike in both files?"
            found.append(f"No trial has a score. {why}")
        return found

    def __str__(self) -> str:
        """Return `lines`, one below the other."""
        return "\n".join(self.lines)


def compare_trials(scores: Scores, key: Ndx | Key) -> TrialComparison:
    """Tell which trials scores and a key, or a list, have in common, and which only one has.

    Parameters
    ----------
    scores : Scores
        The scores.
    key : Ndx or Key
        The trials that are to be judged; labels need not be known.

    Returns
    -------
    TrialComparison
        Counts and first examples; printed it is a short report.

    Notes
    -----
    Scores that the key lacks are usual: a system may score all pairs. Trials of the key
    without a score are a gap that no metric counts.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False])
    >>> scores = bp.Scores.from_trials(["m1", "m2"], ["s1", "s1"], [2.0, 0.5])
    >>> print(bp.compare_trials(scores, key))
    1 trials of the key have a score.
    1 have none (0 targets, 1 non-targets): (m1, s2).
    1 scores are of trials that the key does not have: (m2, s1).
    """
    has_labels = not isinstance(key, Ndx)
    key = as_key(key) if has_labels else as_ndx(key)
    scored = scored_ndx(scores)
    is_missing = ~trials_within(scored, key)
    is_unknown = ~trials_within(key, scored)
    n_missing = int(np.count_nonzero(is_missing))
    n_tar_missing = 0
    if isinstance(key, Key):
        n_tar_missing = int(np.count_nonzero(is_missing & key.is_target))
    values = scores.values
    return TrialComparison(
        n_common=key.n_trials - n_missing,
        n_tar_missing=n_tar_missing,
        n_non_missing=n_missing - n_tar_missing,
        missing=_first_pairs(key, is_missing),
        n_unknown=int(np.count_nonzero(is_unknown)),
        unknown=_first_pairs(scored, is_unknown),
        has_labels=has_labels,
        n_infinite=int(np.count_nonzero(np.isinf(values))),
        n_nan=int(np.count_nonzero(np.isnan(values))),
        is_constant=bool(values.size > 1 and values.min() == values.max()),
        why_none=why_none_scored(scores, key) if n_missing == key.n_trials else "",
    )


def _first_pairs(trials: Ndx | Key, chosen: BoolArray) -> tuple[Pair, ...]:
    """Return the first trials under a vector mask."""
    models, segments = trials.trial_positions()
    lines = np.flatnonzero(chosen)[:_SHOWN].tolist()
    return tuple(
        (str(trials.modelset[models[line]]), str(trials.segset[segments[line]])) for line in lines
    )


def _names(pairs: tuple[Pair, ...], count: int) -> str:
    """Return pairs in words, with an ellipsis if there are more."""
    text = check.list_some((f"({model}, {segment})" for model, segment in pairs), _SHOWN)
    return f"{text}, ..." if count > len(pairs) else text
