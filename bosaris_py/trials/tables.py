"""Trials and scores as tables, and which trials scores and a key have in common."""

from __future__ import annotations

import attrs
import numpy as np

from bosaris_py import _validation as check
from bosaris_py._arrays import BoolArray
from bosaris_py.files.text import Table
from bosaris_py.trials.key import Key, Ndx, as_ndx
from bosaris_py.trials.scores import Scores, check_scores, trials_within, why_none_scored

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
    if scores is None:
        return as_ndx(trials).table()
    if trials is None:
        return scores.table()
    ndx = as_ndx(trials)
    values, found = scores.get_scores(ndx), trials_within(scores, ndx)
    filled = np.full(ndx.n_trials, np.nan, dtype=values.dtype)
    filled[found] = values
    return ndx.table(filled)


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
    def lines(self) -> list[str]:
        """The counts and the first examples, in a few sentences."""
        whose = "key" if self.has_labels else "list"
        lines = [f"{self.n_common} trials of the {whose} have a score."]
        if self.n_missing:
            classes = f" ({self.n_tar_missing} targets, {self.n_non_missing} non-targets)"
            none = f"have none{classes if self.has_labels else ''}"
            lines.append(f"{self.n_missing} {none}: {_names(self.missing, self.n_missing)}.")
        if self.n_unknown:
            strange = f"scores are of trials that the {whose} does not have"
            lines.append(f"{self.n_unknown} {strange}: {_names(self.unknown, self.n_unknown)}.")
        return lines

    @property
    def problems(self) -> list[str]:
        """What is wrong with the scores as an answer to these trials; empty if nothing is."""
        why = self.why_none or "Are the ids written alike in both files?"
        checks = (
            (self.n_nan, f"{self.n_nan} scores are NaN."),
            (self.n_infinite, f"{self.n_infinite} scores are infinite."),
            (self.is_constant, "All scores are the same number."),
            (not self.n_common, f"No trial has a score. {why}"),
        )
        return self.lines[1:] + [text for is_so, text in checks if is_so]

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
    check_scores(scores)
    trials, scored, values = as_ndx(key), scores.to_ndx(), scores.values
    missing, unknown = ~trials_within(scored, trials), ~trials_within(trials, scored)
    # Of a list without labels there is no such count.
    *n_tar, _ = trials.counts(missing)
    return TrialComparison(
        n_common=int(np.count_nonzero(~missing)),
        n_tar_missing=sum(n_tar),
        n_non_missing=int(np.count_nonzero(missing)) - sum(n_tar),
        missing=_first_pairs(trials, missing),
        n_unknown=int(np.count_nonzero(unknown)),
        unknown=_first_pairs(scored, unknown),
        has_labels=len(trials.counts()) > 1,
        n_infinite=int(np.count_nonzero(np.isinf(values))),
        n_nan=int(np.count_nonzero(np.isnan(values))),
        is_constant=bool(values.size > 1 and values.min() == values.max()),
        why_none=why_none_scored(scores, trials) if missing.all() else "",
    )


def _first_pairs(trials: Ndx | Key, chosen: BoolArray) -> tuple[Pair, ...]:
    """Return the first trials under a vector mask."""
    models, segments = (side[np.flatnonzero(chosen)[:_SHOWN]] for side in trials.trial_positions())
    return tuple(
        zip(trials.modelset[models].tolist(), trials.segset[segments].tolist(), strict=True)
    )


def _names(pairs: tuple[Pair, ...], count: int) -> str:
    """Return pairs in words, with an ellipsis if there are more."""
    text = check.list_some((f"({model}, {segment})" for model, segment in pairs), _SHOWN)
    return f"{text}, ..." if count > len(pairs) else text
