"""Which trials scores and a key have in common, and which only one of them has."""

import attrs
import numpy as np

from bosaris_py._validation import BoolArray, list_some
from bosaris_py.trials.forms import AnyKey, AnyNdx, AnyScores, check_key, check_scores
from bosaris_py.trials.from_tables import scored_ndx
from bosaris_py.trials.trial_places import trials_within

__all__ = ["TrialComparison", "compare_trials"]

Pair = tuple[str, str]

_SHOWN = 5


@attrs.frozen(kw_only=True)
class TrialComparison:
    """The trials of scores beside those of a key.

    Parameters
    ----------
    n_common : int
        Trials of the key that have a score.
    n_tar_missing, n_non_missing : int
        Targets and non-targets of the key that have none.
    missing : tuple of (model, segment)
        The first five of these, column by column.
    n_unknown : int
        Scores of trials that the key does not have.
    unknown : tuple of (model, segment)
        The first five of these.
    """

    n_common: int
    n_tar_missing: int
    n_non_missing: int
    missing: tuple[Pair, ...]
    n_unknown: int
    unknown: tuple[Pair, ...]

    @property
    def n_missing(self) -> int:
        """Number of trials of the key that have no score."""
        return self.n_tar_missing + self.n_non_missing

    @property
    def is_equal(self) -> bool:
        """Whether both have the same trials."""
        return not self.n_missing and not self.n_unknown

    def __str__(self) -> str:
        """Return the counts and the first examples in a few lines."""
        lines = [f"{self.n_common} trials of the key have a score."]
        if self.n_missing:
            lines.append(
                f"{self.n_missing} have none ({self.n_tar_missing} targets, {self.n_non_missing} "
                f"non-targets): {_names(self.missing, self.n_missing)}."
            )
        if self.n_unknown:
            lines.append(
                f"{self.n_unknown} scores are of trials that the key does not have: "
                f"{_names(self.unknown, self.n_unknown)}."
            )
        return "\n".join(lines)


def compare_trials(scores: AnyScores, key: AnyKey) -> TrialComparison:
    """Tell which trials scores and a key have in common, and which only one of them has.

    Parameters
    ----------
    scores : Scores or FlatScores
        The scores.
    key : Key or FlatKey
        The trials that are to be judged.

    Returns
    -------
    TrialComparison
        Counts and first examples; printed it is a short report.

    Raises
    ------
    InvalidInputError
        If an argument is not what it must be.

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
    check_scores(scores, "compare_trials")
    check_key(key, "compare_trials")
    scored = scored_ndx(scores)
    is_missing = ~trials_within(scored, key)
    is_unknown = ~trials_within(key, scored)
    n_missing = int(np.count_nonzero(is_missing))
    n_tar_missing = int(np.count_nonzero(is_missing & key.trial_labels()))
    return TrialComparison(
        n_common=key.n_trials - n_missing,
        n_tar_missing=n_tar_missing,
        n_non_missing=n_missing - n_tar_missing,
        missing=_first_pairs(key, is_missing),
        n_unknown=int(np.count_nonzero(is_unknown)),
        unknown=_first_pairs(scored, is_unknown),
    )


def _first_pairs(trials: AnyNdx, chosen: BoolArray) -> tuple[Pair, ...]:
    """Return the first trials under a vector mask."""
    models, segments = trials.trial_positions()
    places = np.flatnonzero(chosen)[:_SHOWN]
    return tuple(
        (str(trials.modelset[models[place]]), str(trials.segset[segments[place]]))
        for place in places.tolist()
    )


def _names(pairs: tuple[Pair, ...], count: int) -> str:
    """Return pairs in words, with an ellipsis if there are more."""
    text = list_some((f"({model}, {segment})" for model, segment in pairs), _SHOWN)
    return f"{text}, ..." if count > len(pairs) else text
