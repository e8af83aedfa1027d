r"""Conditions: named subsets of the trials, each of which shall count as intended.

Evaluations mix conditions (sex, microphone, language, ...) in accidental proportions.
Van Leeuwen [1]_ gives each condition :math:`\alpha` a weight :math:`w_\alpha`, whatever
its number of trials:

.. math::

    P_{miss}(\theta) = \sum_\alpha w_\alpha P_{miss}^\alpha(\theta), \qquad
    P_{fa}(\theta) = \sum_\alpha w_\alpha P_{fa}^\alpha(\theta)

which is the same as giving each trial of condition :math:`\alpha` the weight

.. math::

    \beta^\alpha_{tar} = w_\alpha \Big/ \frac{N^\alpha_{tar}}{N_{tar}}, \qquad
    \beta^\alpha_{non} = w_\alpha \Big/ \frac{N^\alpha_{non}}{N_{non}}

References
----------
.. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker Recognition using
   multiple conditions in an evaluation", 2008, equations 1 to 4 and 12.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import (
    BoolArray,
    describe,
    frozen,
    invalid,
    list_some,
)
from bosaris_py.errors import TrialMismatchError
from bosaris_py.storage.factors import Factor
from bosaris_py.trials._condition_rules import Lacking, Overlap, Rules, Uncovered
from bosaris_py.trials._condition_subsets import (
    Labels,
    Subsets,
    as_names,
    as_subset,
    product_of,
    trial_factor,
)
from bosaris_py.trials.condition_members import (
    ConditionMembers,
    WeightsLike,
    as_condition_weights,
    spread,
)
from bosaris_py.trials.forms import AnyKey, AnyNdx, AnyScores, check_key, check_ndx, check_scores
from bosaris_py.trials.trial_places import scored_trials, take_trials

__all__ = ["ConditionMembers", "Conditions", "Lacking", "Uncovered"]

Float64Array = npt.NDArray[np.float64]


@attrs.frozen(eq=False, init=False, repr=False)
class Conditions:
    """Named subsets of the trials with a weight each, for condition-weighted metrics.

    Parameters
    ----------
    subsets : mapping of str to Ndx, Key, FlatNdx, FlatKey or array_like of bool
        The trials of each condition, by name. Objects with ids are matched by
        id, and trials that a key does not have do not matter. A mask has the
        shape of the key's matrix, or one value for each trial of the key, column
        by column, and fits keys of this shape only.
    weights : mapping of str to float, or sequence of float, optional
        The weight of each condition, by name or in the order of `subsets`; not
        negative, with sum one. Equal by default. A condition of weight 0 is
        dropped: its trials do not count, and it may be empty.
    overlap : {"error", "allow"}, default: "error"
        What to do with trials that are in several conditions; where allowed,
        they count in each of them.
    uncovered : {"error", "ignore"}, default: "error"
        What to do with trials of the key that are in no condition; where
        ignored, they do not count.
    lacking : {"warn", "ignore", "error"}, default: "warn"
        What to do with conditions that have targets only or non-targets only.
        They count for one of the two error-rates.

    Raises
    ------
    InvalidInputError
        If there is no condition, a weight is missing, negative or for an unknown
        name, the weights do not sum to one, or a subset is neither an object with
        trials nor a mask.

    See Also
    --------
    TrialMetadata.conditions : Conditions by columns such as gender.

    Notes
    -----
    Which trials a condition has is found out when the conditions meet a key, in
    the methods that take one. These raise `TrialMismatchError` for trials in two
    conditions or in none, with counts and the first of them, and for conditions
    that have no trial of the key.

    In each class the weights are divided by the sum of those of the conditions
    that have trials of this class. NIST does the same where it averages
    miss rates over partitions with targets, false-alarm rates over partitions
    with non-targets.

    Examples
    --------
    >>> from bosaris_py.trials import Key
    >>> key = Key(["anna", "bert"], ["s1", "s2", "s3"],
    ...           tar=[[True, False, True], [False, True, False]],
    ...           non=[[False, True, False], [True, False, True]])
    >>> women = [[True, True, True], [False, False, False]]
    >>> men = [[False, False, False], [True, True, True]]
    >>> conditions = Conditions({"women": women, "men": men})
    >>> conditions
    Conditions: women (0.5), men (0.5)
    >>> conditions.counts(key)
    {'women': (2, 1), 'men': (1, 2)}
    >>> tar_weights, non_weights = conditions.trial_weights(key)
    >>> tar_weights.tolist()
    [0.75, 1.5, 0.75]
    """

    names: tuple[str, ...]
    weights: Float64Array
    _subsets: Subsets | Labels
    _rules: Rules

    def __init__(
        self,
        subsets: Mapping[str, AnyNdx | npt.ArrayLike],
        weights: WeightsLike | None = None,
        *,
        overlap: Overlap = "error",
        uncovered: Uncovered = "error",
        lacking: Lacking = "warn",
    ) -> None:
        listed: object = subsets
        if not isinstance(listed, Mapping):
            hint = "Conditions.from_labels takes a label for each trial."
            expected = "map names to trials or masks"
            raise invalid("subsets", "Conditions", expected, describe(listed), hint)
        names = as_names(subsets)
        members = tuple(as_subset(name, subset) for name, subset in subsets.items())
        rules = Rules(overlap, uncovered, lacking)
        self._set(names, weights, Subsets(members), rules)

    def _set(
        self,
        names: tuple[str, ...],
        weights: WeightsLike | None,
        subsets: Subsets | Labels,
        rules: Rules,
    ) -> None:
        """Check the weights and set all fields."""
        self.__attrs_init__(names, as_condition_weights(weights, names), subsets, rules)

    @classmethod
    def _made(cls, *fields: Any) -> "Conditions":
        """Make an object of its fields, not of subsets."""
        conditions = cls.__new__(cls)
        conditions._set(*fields)
        return conditions

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call that builds the object again, so that arrays stay read-only."""
        return type(self)._made, (self.names, self.weights, self._subsets, self._rules)

    @classmethod
    def from_labels(
        cls,
        trials: AnyNdx,
        labels: Factor | npt.ArrayLike | Sequence[object],
        weights: WeightsLike | None = None,
        *,
        uncovered: Uncovered = "error",
        lacking: Lacking = "warn",
    ) -> "Conditions":
        """Make conditions of one label for each trial.

        Parameters
        ----------
        trials : Ndx, Key, FlatNdx or FlatKey
            The trials that are labelled. Other keys are matched with them by id.
        labels : Factor or (n_trials,) array_like of str, int or bool
            The name of each trial's condition, column by column.
        weights : mapping of str to float, or sequence of float, optional
            The weight of each condition, by name or in the order of the names
            (that of the levels: ascending, unless a `Factor` has another); equal
            by default.
        uncovered : {"error", "ignore"}, default: "error"
            What to do with trials of a key that are not labelled.
        lacking : {"warn", "ignore", "error"}, default: "warn"
            What to do with conditions that have trials of one class only.

        Returns
        -------
        Conditions
            One for each label that occurs.

        Raises
        ------
        InvalidInputError
            If there is not one label for each trial, or weights are bad as for the
            class.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> Conditions.from_labels(Ndx(["anna", "bert"], ["s1"]), ["f", "m"], [0.25, 0.75])
        Conditions: f (0.25), m (0.75)
        """
        return cls._from_factors(trials, {"labels": labels}, weights, uncovered, lacking)

    @classmethod
    def from_factors(
        cls,
        trials: AnyNdx,
        factors: Mapping[str, Factor | npt.ArrayLike | Sequence[object]],
        weights: WeightsLike | None = None,
        *,
        uncovered: Uncovered = "error",
        lacking: Lacking = "warn",
    ) -> "Conditions":
        """Make a condition of each combination of several factors, such as gender x phone match.

        Parameters
        ----------
        trials : Ndx, Key, FlatNdx or FlatKey
            The trials that are described. Other keys are matched with them by id.
        factors : mapping of str to Factor or (n_trials,) array_like
            The value of each trial in each factor, column by column.
        weights : mapping of str to float, or sequence of float, optional
            The weight of each combination that occurs, by name or in order; equal
            by default.
        uncovered : {"error", "ignore"}, default: "error"
            What to do with trials of a key that are not described.
        lacking : {"warn", "ignore", "error"}, default: "warn"
            What to do with conditions that have trials of one class only.

        Returns
        -------
        Conditions
            One for each combination that occurs. The names are the values, in the
            order of the factors, separated by ``", "``; those of the last factor
            run fastest.

        Raises
        ------
        InvalidInputError
            If there is no factor, not one value for each trial, or weights are bad
            as for the class.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> Conditions.from_factors(
        ...     Ndx(["anna", "bert"], ["s1", "s2"]),
        ...     {"gender": ["f", "m", "f", "m"], "phone_match": ["N", "N", "Y", "N"]},
        ... ).names
        ('f, N', 'f, Y', 'm, N')
        """
        listed: object = factors
        if not isinstance(listed, Mapping) or not listed:
            expected = "map at least one name to values"
            raise invalid("factors", "Conditions.from_factors", expected, describe(listed))
        return cls._from_factors(trials, factors, weights, uncovered, lacking)

    @classmethod
    def _from_factors(
        cls,
        trials: AnyNdx,
        factors: Mapping[str, Any],
        weights: WeightsLike | None,
        uncovered: str,
        lacking: str,
    ) -> "Conditions":
        check_ndx(trials, "Conditions")
        checked = [trial_factor(name, values, trials) for name, values in factors.items()]
        product = product_of(checked)
        names = tuple(str(level) for level in product.levels)
        rules = Rules("error", uncovered, lacking)
        return cls._made(as_names(names), weights, Labels(trials, product), rules)

    def __repr__(self) -> str:
        """Show names and weights."""
        shown = zip(self.names, self.weights.tolist(), strict=True)
        return f"Conditions: {list_some((f'{name} ({w:.4g})' for name, w in shown), 6)}"

    def __len__(self) -> int:
        """Return the number of conditions."""
        return len(self.names)

    def with_weights(self, weights: WeightsLike | None) -> "Conditions":
        """Return the same conditions with other weights.

        Parameters
        ----------
        weights : mapping of str to float, or sequence of float, optional
            The weight of each condition; None says equal.

        Returns
        -------
        Conditions

        Raises
        ------
        InvalidInputError
            If weights are bad as for the class.
        """
        return self._made(self.names, weights, self._subsets, self._rules)

    def counts(self, key: AnyKey) -> dict[str, tuple[int, int]]:
        """Count the trials of each condition, without any of the checks.

        Parameters
        ----------
        key : Key or FlatKey
            Which trials are targets and which non-targets.

        Returns
        -------
        dict of str to (int, int)
            Numbers of targets and of non-targets, for conditions without trials
            and of weight 0, too.

        Raises
        ------
        InvalidInputError
            If a mask does not fit the key.
        """
        check_key(key, "Conditions.counts")
        labels = key.trial_labels()
        result = {}
        for name, places in zip(self.names, self._subsets.assign(key).places(), strict=True):
            n_tar = int(np.count_nonzero(labels[places]))
            result[name] = (n_tar, places.size - n_tar)
        return result

    def counted_trials(self, key: AnyKey) -> BoolArray:
        """Tell which trials are in a condition of positive weight, without any of the checks.

        Parameters
        ----------
        key : Key or FlatKey
            All trials.

        Returns
        -------
        (n_trials,) ndarray of bool
            Column by column. A mask for `Conditions`, or an index of vectors of trials.

        Raises
        ------
        InvalidInputError
            If a mask does not fit the key.
        """
        check_key(key, "Conditions.counted_trials")
        counted = np.zeros(key.n_trials, dtype=np.bool_)
        for weight, places in zip(self.weights, self._subsets.assign(key).places(), strict=True):
            if weight > 0:
                counted[places] = True
        return frozen(counted)

    def members(self, key: AnyKey) -> tuple[ConditionMembers, ...]:
        """Tell where the trials of each condition stand among the targets and non-targets.

        Parameters
        ----------
        key : Key or FlatKey
            Which trials are targets and which non-targets.

        Returns
        -------
        tuple of ConditionMembers
            One for each condition of positive weight, with positions in the
            vectors of all targets and all non-targets of the key, column by column.

        Raises
        ------
        TrialMismatchError
            If a trial is in several conditions or in none, unless that is allowed,
            or a condition has no trial.
        InvalidInputError
            If a mask does not fit the key.

        Warns
        -----
        ConditionWarning
            If conditions have trials of one class only.
        """
        check_key(key, "Conditions.members")
        return self._members(key)

    def scored_members(self, scores: AnyScores, key: AnyKey) -> tuple[ConditionMembers, ...]:
        """Tell where the scored trials of each condition stand; see `members`.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of at least some of the key's trials.
        key : Key or FlatKey
            Which trials are targets and which non-targets.

        Returns
        -------
        tuple of ConditionMembers
            Like `members`, with positions in the vectors that
            ``scores.get_tar_non(key)`` returns. Only trials with a score count.

        Raises
        ------
        TrialMismatchError, InvalidInputError
            As for `members`.

        Warns
        -----
        ConditionWarning
            As for `members`.
        """
        check_scores(scores, "Conditions.scored_members")
        check_key(key, "Conditions.scored_members")
        return self._members(key, scored_trials(scores, key))

    def trial_weights(self, key: AnyKey) -> tuple[Float64Array, Float64Array]:
        r"""Return the weight of each trial, van Leeuwen's :math:`\beta` (equation 12).

        Parameters
        ----------
        key : Key or FlatKey
            Which trials are targets and which non-targets.

        Returns
        -------
        tar_weights : (n_tar,) ndarray of float64
            For the targets in the order of ``get_tar_non``: column by column.
        non_weights : (n_non,) ndarray of float64
            For the non-targets.

        Raises
        ------
        TrialMismatchError, InvalidInputError
            As for `members`.

        Warns
        -----
        ConditionWarning
            As for `members`.

        Notes
        -----
        In each class the weights sum to the number of trials that count, so that
        their mean over these is one; equal shares of trials and weights give ones.
        """
        check_key(key, "Conditions.trial_weights")
        return spread(self._members(key), key.n_tar, key.n_non)

    def scored_weights(self, scores: AnyScores, key: AnyKey) -> tuple[Float64Array, Float64Array]:
        """Return the weight of each trial that has a score; see `trial_weights`.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of at least some of the key's trials.
        key : Key or FlatKey
            Which trials are targets and which non-targets.

        Returns
        -------
        tar_weights, non_weights : ndarray of float64
            As long as the vectors that ``scores.get_tar_non(key)`` returns, and in
            their order. Conditions share their weight among trials with scores.

        Raises
        ------
        TrialMismatchError, InvalidInputError
            As for `members`.

        Warns
        -----
        ConditionWarning
            As for `members`.
        """
        check_scores(scores, "Conditions.scored_weights")
        check_key(key, "Conditions.scored_weights")
        scored = scored_trials(scores, key)
        n_tar, n_non = key.n_tar, key.n_non
        if scored is not None:
            n_tar = int(np.count_nonzero(scored & key.trial_labels()))
            n_non = int(np.count_nonzero(scored)) - n_tar
        return spread(self._members(key, scored), n_tar, n_non)

    def select(self, key: AnyKey, name: str) -> AnyKey:
        """Return the trials of one condition.

        Parameters
        ----------
        key : Key or FlatKey
            All trials.
        name : str
            The condition.

        Returns
        -------
        Key or FlatKey
            Of the same form and with the same models and segments as `key`.

        Raises
        ------
        InvalidInputError
            If there is no such condition, or a mask does not fit the key.
        TrialMismatchError
            If the condition has no trial of the key.
        """
        check_key(key, "Conditions.select")
        if name not in self.names:
            expected = f"be one of the conditions ({list_some(self.names, 20)})"
            raise invalid("name", "Conditions.select", expected, describe(name))
        places = self._subsets.assign(key).places()[self.names.index(name)]
        if places.size == 0:
            message = f"Condition {name!r} has no trial of the key."
            raise TrialMismatchError(message)
        return take_trials(key, places)

    def _members(
        self, key: AnyKey, scored: BoolArray | None = None
    ) -> tuple[ConditionMembers, ...]:
        """Return the members among the trials under a mask, or among all."""
        return self._rules.members(key, self._subsets, self.names, self.weights, scored)
