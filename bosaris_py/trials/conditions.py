r"""Weighted conditions: named groups of trials, and the weights they give to each trial.

Evaluations mix conditions (sex, microphone, language, ...) in accidental proportions. Van Leeuwen
[1]_ gives each condition :math:`\alpha` a weight :math:`w_\alpha`, whatever its number of trials:

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

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    Positions,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._cautions import warn_caller
from bosaris_py.errors import ConditionWarning, TrialMismatchError
from bosaris_py.files.columns import Factor, TrialOrder, order_trials
from bosaris_py.trials.alignment import IdList, code_ids
from bosaris_py.trials.assignment import Labels, Subsets
from bosaris_py.trials.columns import Column, as_factor, take_items
from bosaris_py.trials.key import Key, Ndx, as_key, as_ndx, describe_trials
from bosaris_py.trials.scores import Scores, scored_trials

WeightsLike: TypeAlias = Mapping[str, float] | Sequence[float] | npt.NDArray[np.floating]


Overlap: TypeAlias = Literal["error", "allow"]


TrialOrdering: TypeAlias = Literal["columns", "rows"]


Uncovered: TypeAlias = Literal["error", "ignore"]


Lacking: TypeAlias = Literal["warn", "ignore", "error"]


# Weights of the targets and of the non-targets; None says one each.
ClassWeights = tuple[npt.ArrayLike | None, npt.ArrayLike | None]


_BY_ID = "Conditions.from_trials(models, segments, labels, key) finds trials by their ids."


# Between the values of several factors in the name of a condition.
_SEPARATOR = ", "


# The number of a combination is an int64.
_MOST_CODES = 2**63 - 1


# Combinations are counted in a table if it has at most this many entries, which take no time.
_SMALL_TABLE = 2**16


@attrs.frozen(eq=False)
class ConditionMembers:
    """Where the trials of one condition stand in the vectors of target and non-target scores.

    Parameters
    ----------
    name : str
        The condition.
    weight : float
        Its weight, as given.
    tar, non : (n,) array of int
        Ascending positions in the two vectors.
    tar_weight, non_weight : float
        Its share in the miss rate and in the false-alarm rate: its weight, divided by the weights
        of all conditions that have trials of the class; 0 if it has none itself.
    """

    name: str
    weight: float
    tar: Positions = attrs.field(converter=read_only)
    non: Positions = attrs.field(converter=read_only)
    tar_weight: float
    non_weight: float

    __reduce__ = by_constructor


# What the decimals of weights such as 0.3333333333 may leave of a sum of one.
_SUM_TOLERANCE = 1e-6


def checked_weights(
    weights: object, names: Sequence[object], argument: str = "weights", *, positive: bool = False
) -> Float64Array:
    """Return one weight for each name, with the sum one; None says equal weights."""
    if weights is None:
        return mark_read_only(np.full(len(names), 1.0 / len(names)))
    try:
        values = np.array(weights, dtype=np.float64)
        # Text and truth values would pass, too.
        if np.asarray(weights).dtype.kind in "bSU":
            raise TypeError
    except (TypeError, ValueError):
        raise check.invalid(argument, "be numbers", check.describe(weights)) from None
    if values.shape != (len(names),):
        expected = f"be one for each of the {len(names)} conditions"
        raise check.invalid(argument, expected, check.describe(values))
    fits = np.isfinite(values) & ((values > 0) if positive else (values >= 0))
    if not fits.all():
        bad = int(np.argmin(fits))
        expected = "be finite and positive" if positive else "be finite and not negative"
        raise check.invalid(argument, expected, f"{values[bad]:g} for {names[bad]!r}")
    # fsum is exact, so that the order of the conditions does not matter.
    total = math.fsum(values)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        hint = "Divide them by their sum if only proportions matter." if total > 0 else ""
        raise check.invalid(argument, "sum to one", f"the sum {total:g}", hint)
    # Exactly one, not 0.9999999999 because of decimals.
    return mark_read_only(values / total)


def shares_of(weights: Sequence[float], parts: Sequence[Positions]) -> list[float]:
    """Divide the weights of the conditions that have trials by their sum."""
    # Equations 3 and 4 sum over the conditions with trials of the class. Divided by the sum of
    # their weights these sum to one again; NIST does the same for partitions without targets.
    present = [weight if part.size else 0.0 for weight, part in zip(weights, parts, strict=True)]
    total = math.fsum(present)
    return [weight / total if total else 0.0 for weight in present]


# Weights of conditions and of trials


def as_condition_weights(weights: WeightsLike | None, names: tuple[str, ...]) -> Float64Array:
    """Return one weight for each name, not negative and with sum one."""
    if isinstance(weights, Mapping):
        known = frozenset(names)
        unknown = [name for name in weights if name not in known]
        if unknown:
            expected = f"name conditions that exist ({check.list_some(names, 20)})"
            raise check.invalid("weights", expected, check.list_some(map(repr, unknown)))
        missing = [name for name in names if name not in weights]
        if missing:
            hint = "The weight 0 drops a condition."
            found = f"none for {check.list_some(map(repr, missing))}"
            raise check.invalid("weights", "name every condition", found, hint)
        weights = [weights[name] for name in names]
    return checked_weights(weights, names)


def _spread(size: int, parts: Iterable[tuple[Positions, float]]) -> Float64Array:
    """Give each trial of a class its condition's share, divided among the condition's trials."""
    weights = np.zeros(size)
    for positions, share in parts:
        if positions.size:
            # w / N^alpha of equation 12; a trial of several conditions has the sum.
            weights[positions] += share / positions.size
    # N of equation 12 counts the trials that are in some condition.
    weights *= np.count_nonzero(weights)
    return mark_read_only(weights)


# What conditions are made of


def _as_names(names: Any) -> tuple[str, ...]:
    """Return names of conditions, each once and at least one."""
    listed = tuple(names)
    if not listed:
        raise check.invalid("subsets", "name at least one condition", "none")
    for name in listed:
        if not isinstance(name, str):
            raise check.invalid("subsets", "name conditions with text", check.describe(name))
    repeated = sorted(name for name, count in Counter(listed).items() if count > 1)
    if repeated:
        hint = f"Values of factors must not hold {_SEPARATOR!r}."
        raise check.invalid("names", "be different", check.list_some(repeated), hint)
    return listed


def _as_subset(name: str, subset: object) -> Ndx | Key | BoolArray:
    """Return the trials or the mask of one condition."""
    argument = f"subsets[{name!r}]"
    if isinstance(subset, Ndx | Key):
        return subset
    # numpy would make an array of a file name or a mapping.
    if isinstance(subset, (str, Mapping)):
        raise check.invalid(argument, "be trials or a mask", check.describe(subset))
    remedy = f"{_BY_ID} So does Ndx.from_trials of the rows of a condition."
    if hasattr(subset, "columns"):
        remedy = "Ndx(frame.index, frame.columns, frame) has its ids."
    check.refuse_series(subset, argument, remedy)
    mask = check.as_mask(subset, argument)
    if mask.ndim not in (1, 2):
        expected = "have one dimension (trials) or two (models, segments)"
        raise check.invalid(argument, expected, check.describe(mask))
    return mask


def conflicts_of(
    order: TrialOrder, columns: Mapping[str, Column | None]
) -> Iterator[tuple[str, BoolArray]]:
    """Yield the columns that differ in lines of the same trial, and which repeated lines do."""
    for name, column in columns.items():
        # Codes of a factor differ where its texts do.
        values = column.codes if isinstance(column, Factor) else np.asarray(column)
        conflicts = order.conflicts(values)
        if conflicts.any():
            yield name, conflicts


def in_order(
    models: IdList, segments: IdList, columns: Mapping[str, Column], name: str
) -> tuple[Ndx, dict[str, Column]]:
    """Return the trials of lines in any order, each once, and their columns."""
    # Raises, naming the argument, if a trial is listed again with another value.
    (modelset, rows), (segset, cols) = code_ids(models, "models"), code_ids(segments, "segments")
    check.check_shape(cols, rows.shape, "segments", "like `models`")
    for column, values in columns.items():
        if len(values) != rows.size:
            expected = f"be as long as `models`, {rows.size}"
            raise check.invalid(
                column if name == column else f"{name}[{column!r}]", expected, f"{len(values)}"
            )
    order = order_trials(rows, cols, modelset.size)
    for column, conflicts in conflicts_of(order, columns):
        found = f"another value in {np.count_nonzero(conflicts)} lines of column {column!r}"
        raise check.invalid(name, "have the same columns for a trial listed twice", found)
    taken = columns.items()
    if order.order is not None:
        taken = {key: take_items(each, order.order) for key, each in taken}.items()
    return Ndx._from_positions((modelset, segset), rows, cols), dict(taken)


def _product(factors: Sequence[Factor]) -> Factor:
    """Return the combinations of several factors that occur."""
    if len(factors) > 2 and math.prod(f.levels.size for f in factors) > _MOST_CODES:
        # Those that occur among the first factors are not more than there are trials.
        return _product((_product(factors[:-1]), factors[-1]))
    # The number of a combination has a digit for each factor, the last one runs fastest.
    codes = factors[0].codes.astype(np.int64)
    n_codes = factors[0].levels.size
    for factor in factors[1:]:
        codes *= factor.levels.size
        codes += factor.codes
        n_codes *= factor.levels.size
    if n_codes <= max(_SMALL_TABLE, codes.size):
        occurs = np.flatnonzero(np.bincount(codes, minlength=n_codes))
        table = np.zeros(n_codes, dtype=np.min_scalar_type(max(1, occurs.size)))
        table[occurs] = np.arange(occurs.size)
        numbers = table[codes]
    else:
        occurs, numbers = np.unique(codes, return_inverse=True)
    columns = []
    for factor in reversed(factors):
        occurs, level = np.divmod(occurs, max(1, factor.levels.size))
        columns.append(factor.levels[level].tolist())
    names = [_SEPARATOR.join(texts) for texts in zip(*reversed(columns), strict=True)]
    return Factor(mark_read_only(numbers), _as_names(names))


@attrs.frozen
class Rules:
    """What is done about trials that conditions divide badly; the options of `Conditions`."""

    overlap: str = attrs.field(default="error", validator=check.one_of(Overlap))
    uncovered: str = attrs.field(default="error", validator=check.one_of(Uncovered))
    lacking: str = attrs.field(default="warn", validator=check.one_of(Lacking))


@attrs.frozen(eq=False, init=False, repr=False)
class Conditions:
    """Named subsets of the trials with a weight each, for condition-weighted metrics.

    Parameters
    ----------
    subsets : mapping of str to Ndx, Key or array_like of bool
        The trials of each condition, by name. Objects with ids are matched by id, and trials that a
        key does not have do not matter. A mask has the shape of the key's matrix, or one value for
        each trial of the key, column by column, and fits keys of this shape only.
    weights : mapping of str to float, or sequence of float, optional
        The weight of each condition, by name or in the order of `subsets`; not negative, with sum
        one. Equal by default. A condition of weight 0 is dropped: its trials do not count, and it
        may be empty.
    overlap : {"error", "allow"}, default: "error"
        What to do with trials that are in several conditions; where allowed, they count in each of
        them.
    uncovered : {"error", "ignore"}, default: "error"
        What to do with trials of the key that are in no condition; where ignored, they do not
        count.
    lacking : {"warn", "ignore", "error"}, default: "warn"
        What to do with conditions that have targets only or non-targets only. They count for one of
        the two error-rates.

    See Also
    --------
    Key.with_columns : Columns such as gender, whose names stand for conditions.

    Notes
    -----
    Which trials a condition has is found out when the conditions meet a key, in
    the methods that take one. These raise `TrialMismatchError` for trials in two
    conditions or in none, with counts and the first of them, and for conditions
    that have no trial of the key.

    In each class the weights are divided by the sum of those of the conditions that have trials of
    this class. NIST does the same where it averages miss rates over partitions with targets,
    false-alarm rates over partitions with non-targets.

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
        subsets: Mapping[str, Ndx | Key | npt.ArrayLike],
        weights: WeightsLike | None = None,
        *,
        overlap: Overlap = "error",
        uncovered: Uncovered = "error",
        lacking: Lacking = "warn",
    ) -> None:
        listed: object = subsets
        if not isinstance(listed, Mapping):
            hint = "Conditions.from_labels takes a label for each trial."
            raise check.invalid(
                "subsets", "map names to trials or masks", check.describe(listed), hint
            )
        names = _as_names(subsets)
        members = tuple(_as_subset(name, subset) for name, subset in subsets.items())
        rules = Rules(overlap, uncovered, lacking)
        values = as_condition_weights(weights, names)
        self.__attrs_init__(names, values, Subsets(members), rules)

    @classmethod
    def _made(
        cls,
        names: tuple[str, ...],
        weights: WeightsLike | None,
        subsets: Subsets | Labels,
        rules: Rules,
    ) -> "Conditions":
        """Make an object of its fields, not of subsets."""
        conditions = cls.__new__(cls)
        values = as_condition_weights(weights, names)
        conditions.__attrs_init__(names, values, subsets, rules)
        return conditions

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as a call that builds the object again, so that arrays stay read-only."""
        return type(self)._made, (self.names, self.weights, self._subsets, self._rules)

    @classmethod
    def from_labels(
        cls,
        trials: Ndx | Key,
        labels: Factor | npt.ArrayLike | Sequence[object],
        weights: WeightsLike | None = None,
        *,
        order: TrialOrdering | None = None,
        uncovered: Uncovered = "error",
        lacking: Lacking = "warn",
    ) -> "Conditions":
        """Make conditions of one label for each trial.

        Parameters
        ----------
        trials : Ndx or Key
            The trials that are labelled. Other keys are matched with them by id.
        labels : Factor or (n_trials,) array_like of str, int or bool
            The name of each trial's condition.
        weights : mapping of str to float, or sequence of float, optional
            As for the class; in the order of the labels: ascending, unless a `Factor` has another.
        order : {"columns", "rows"}
            How the trials of an array follow each other, which it cannot say: column by column like
            all vectors of trials, or row by row. A `Factor`, as `Columns.factor` gives it,
            comes column by column. For a table in another order there is `from_trials`.
        uncovered, lacking
            As for the class: trials of a key that are not labelled, and conditions that have trials
            of one class only.

        Returns
        -------
        Conditions
            One for each label that occurs.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> trials = Ndx(["anna", "bert"], ["s1"])
        >>> Conditions.from_labels(trials, ["f", "m"], [0.25, 0.75], order="columns")
        Conditions: f (0.25), m (0.75)
        """
        return cls.from_factors(
            trials, {"labels": labels}, weights, order=order, uncovered=uncovered, lacking=lacking
        )

    @classmethod
    def from_trials(
        cls,
        models: IdList,
        segments: IdList,
        labels: Factor | npt.ArrayLike | Sequence[object],
        key: Ndx | Key | None = None,
        weights: WeightsLike | None = None,
        *,
        uncovered: Uncovered = "error",
        lacking: Lacking = "warn",
    ) -> "Conditions":
        """Make conditions of a table of trials in any order, such as a data frame.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            Model and test segment of each line.
        labels : Factor or (k,) array_like of str, int or bool
            The name of the condition of each line.
        key : Ndx or Key, optional
            The trials that are to be labelled, which are found by their ids; by default those of
            the table.
        weights, uncovered, lacking
            As for `from_labels`.

        Returns
        -------
        Conditions
            One for each label that occurs among the trials.

        Raises
        ------
        TrialMismatchError
            If the table lacks some of the trials of `key`, unless that is allowed.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> key = Ndx(["anna", "bert"], ["s1"])
        >>> Conditions.from_trials(["bert", "anna"], ["s1", "s1"], ["m", "f"], key).names
        ('f', 'm')
        """
        check.check_same_rows({"models": models, "segments": segments, "labels": labels})
        factor = as_factor(labels, "labels")
        trials, columns = in_order(models, segments, {"labels": factor}, "labels")
        if key is None:
            return cls.from_labels(
                trials, columns["labels"], weights, uncovered=uncovered, lacking=lacking
            )
        key = as_ndx(key)
        found = trials.locate(key)
        if found is None:
            found = np.arange(trials.n_trials)
        absent = found < 0
        if absent.any():
            if uncovered == "error":
                unlabelled = describe_trials(key, absent)
                raise TrialMismatchError(
                    f"Each trial of the key must have a label; none have {unlabelled}. "
                    "Say uncovered='ignore' to leave them out."
                )
            rows, cols = (side[~absent] for side in key.trial_positions())
            key = Ndx._from_positions(key.ids, rows, cols)
        return cls.from_labels(
            key,
            take_items(columns["labels"], found[~absent]),
            weights,
            uncovered=uncovered,
            lacking=lacking,
        )

    @classmethod
    def from_factors(
        cls,
        trials: Ndx | Key,
        factors: Mapping[str, Factor | npt.ArrayLike | Sequence[object]],
        weights: WeightsLike | None = None,
        *,
        order: TrialOrdering | None = None,
        uncovered: Uncovered = "error",
        lacking: Lacking = "warn",
    ) -> "Conditions":
        """Make a condition of each combination of several factors, such as gender x phone match.

        Parameters
        ----------
        trials
            As for `from_labels`.
        factors : mapping of str to Factor or (n_trials,) array_like
            The value of each trial in each factor.
        weights : mapping of str to float, or sequence of float, optional
            The weight of each combination that occurs.
        order, uncovered, lacking
            As for `from_labels`.

        Returns
        -------
        Conditions
            One for each combination that occurs. The names are the values, in the order of the
            factors, separated by ``", "``; those of the last factor run fastest.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> Conditions.from_factors(
        ...     Ndx(["anna", "bert"], ["s1", "s2"]),
        ...     {"gender": ["f", "m", "f", "m"], "phone_match": ["N", "N", "Y", "N"]},
        ...     order="columns",
        ... ).names
        ('f, N', 'f, Y', 'm, N')
        """
        listed: object = factors
        if not isinstance(listed, Mapping) or not listed:
            raise check.invalid(
                "factors", "map at least one name to values", check.describe(listed)
            )
        trials = as_ndx(trials)
        checked = []
        for name, values in factors.items():
            check.refuse_series(values, name, _BY_ID)
            factor = as_factor(values, name)
            if len(factor) != trials.n_trials:
                expected = f"have one value for each of the {trials.n_trials} trials"
                raise check.invalid(name, expected, f"{len(factor)}")
            if not isinstance(values, Factor):
                if order is None:
                    expected = f"tell how the trials of `{name}` follow each other"
                    hint = f'"columns": model after model in each segment; "rows". {_BY_ID}'
                    raise check.invalid("order", expected, "nothing", hint)
                check.check_choice(order, TrialOrdering, "order")
                if order == "rows":
                    # Positions of the trials row by row; sorted, those of the values by column.
                    by_rows = np.lexsort(trials.trial_positions()[::-1])
                    factor = factor.take(np.argsort(by_rows))
            checked.append(factor)
        product = _product(checked)
        names = _as_names(str(level) for level in product.levels)
        return cls._made(
            names, weights, Labels(trials, product), Rules(uncovered=uncovered, lacking=lacking)
        )

    @classmethod
    def from_columns(cls, key: Key, *names: str) -> "Conditions":
        """Make a condition of each combination of the values of columns of a key.

        Parameters
        ----------
        key : Key
            A key with columns.
        *names : str
            Columns of categories. ``"model"`` and ``"segment"`` are the ids.

        Returns
        -------
        Conditions
            With equal weights. Columns that divide one class only, such as attacks, meet all
            trials of the other class in each condition.

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> same = np.eye(2, dtype=bool)
        >>> key = Key(["anna", "bert"], ["s1", "s2"], same, ~same)
        >>> key = key.with_columns(gender=("model", {"anna": "f", "bert": "m"}))
        >>> Conditions.from_columns(key, "gender").names
        ('f', 'm')
        """
        return conditions_of_columns(key, names)

    def __repr__(self) -> str:
        """Show names and weights."""
        shown = zip(self.names, self.weights.tolist(), strict=True)
        return f"Conditions: {check.list_some((f'{name} ({w:.4g})' for name, w in shown), 6)}"

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
        """
        return self._made(self.names, weights, self._subsets, self._rules)

    def counts(self, key: Key) -> dict[str, tuple[int, int]]:
        """Count the trials of each condition, without any of the checks.

        Parameters
        ----------
        key : Key
            Which trials are targets and which non-targets.

        Returns
        -------
        dict of str to (int, int)
            Numbers of targets and of non-targets, for conditions without trials and of weight 0,
            too.
        """
        key = as_key(key)
        labels = key.is_target
        result = {}
        for name, lines in zip(self.names, self._subsets.assign(key).positions(), strict=True):
            n_tar = int(np.count_nonzero(labels[lines]))
            result[name] = (n_tar, lines.size - n_tar)
        return result

    def members(self, key: Key) -> tuple[ConditionMembers, ...]:
        """Tell where the trials of each condition stand among the targets and non-targets.

        Parameters
        ----------
        key : Key
            Which trials are targets and which non-targets.

        Returns
        -------
        tuple of ConditionMembers
            One for each condition of positive weight, with positions in the vectors of all targets
            and all non-targets of the key, column by column.

        Raises
        ------
        TrialMismatchError
            If a trial is in several conditions or in none, unless that is allowed, or a condition
            has no trial.

        Warns
        -----
        ConditionWarning
            If conditions have trials of one class only.
        """
        key = as_key(key)
        return self._members(key, None)

    def scored_members(self, scores: Scores, key: Key) -> tuple[ConditionMembers, ...]:
        """Tell where the scored trials of each condition stand; see `members`.

        Parameters
        ----------
        scores : Scores
            Scores of at least some of the key's trials.
        key
            As for `members`.

        Returns
        -------
        tuple of ConditionMembers
            Positions in the vectors that ``scores.get_tar_non(key)`` returns.

        Raises
        ------
        TrialMismatchError
            As for `members`, which warns, too.
        """
        key = as_key(key)
        return self._members(key, scored_trials(scores, key))

    def trial_weights(self, key: Key) -> tuple[Float64Array, Float64Array]:
        r"""Return the weight of each trial, van Leeuwen's :math:`\beta` (equation 12).

        Parameters
        ----------
        key : Key
            Which trials are targets and which non-targets.

        Returns
        -------
        tar_weights : (n_tar,) ndarray of float64
            For the targets in the order of ``get_tar_non``: column by column.
        non_weights : (n_non,) ndarray of float64
            For the non-targets.

        Raises
        ------
        TrialMismatchError
            As for `members`, which warns, too.

        Notes
        -----
        In each class the weights sum to the number of trials that count, so that
        their mean over these is one; equal shares of trials and weights give ones.
        """
        key = as_key(key)
        return self._trial_weights(key, None)

    def scored_weights(self, scores: Scores, key: Key) -> tuple[Float64Array, Float64Array]:
        """Return the weight of each trial that has a score; see `trial_weights`.

        Parameters
        ----------
        scores, key
            As for `scored_members`.

        Returns
        -------
        tar_weights, non_weights : ndarray of float64
            For the vectors that ``scores.get_tar_non(key)`` returns. Conditions share their weight
            among trials with scores.

        Raises
        ------
        TrialMismatchError
            As for `members`, which warns, too.
        """
        key = as_key(key)
        return self._trial_weights(key, scored_trials(scores, key))

    def select(self, key: Key, name: str) -> Key:
        """Return the trials of one condition.

        Parameters
        ----------
        key : Key
            All trials.
        name : str
            The condition.

        Returns
        -------
        Key
            With the same models and segments as `key`.

        Raises
        ------
        TrialMismatchError
            If the condition has no trial of the key.
        """
        key = as_key(key)
        if name not in self.names:
            expected = f"be one of the conditions ({check.list_some(self.names, 20)})"
            raise check.invalid("name", expected, check.describe(name))
        lines = self._subsets.assign(key).positions()[self.names.index(name)]
        if lines.size == 0:
            raise TrialMismatchError(f"Condition {name!r} has no trial of the key.")
        return key.take(lines)

    def _members(self, key: Key, scored: BoolArray | None) -> tuple[ConditionMembers, ...]:
        """Return the members among the trials under a mask, or among all."""
        assigned = self._subsets.assign(key)
        labels = key.is_target
        # Positions count trials of one class, as in the vectors of get_tar_non.
        among_tar = assigned.positions(labels if scored is None else labels & scored)
        among_non = assigned.positions(~labels if scored is None else scored & ~labels)
        stray: tuple[str, ...] = ("", "")
        if "error" in (self._rules.overlap, self._rules.uncovered):
            counted = np.flatnonzero(self.weights > 0).tolist()
            found = assigned.overlapping(counted), assigned.uncovered
            rules = self._rules.overlap, self._rules.uncovered
            stray = tuple(
                describe_trials(key, lines)
                if lines is not None and rule == "error" and lines.any()
                else ""
                for lines, rule in zip(found, rules, strict=True)
            )

        def sizes() -> list[int]:
            return [part.size for part in assigned.positions()]

        return self.checked_members(among_tar, among_non, sizes, *stray)

    def checked_members(
        self,
        among_tar: Sequence[Positions],
        among_non: Sequence[Positions],
        sizes: Callable[[], Sequence[int]],
        several: str,
        none: str,
    ) -> tuple[ConditionMembers, ...]:
        """Return the members of all conditions, given where the trials of each stand.

        `sizes` counts the trials of each, scored or not; `several` and `none` name those of
        several conditions and of none, if there are any.
        """
        counted = np.flatnonzero(self.weights > 0).tolist()
        names = [self.names[number] for number in counted]
        weights = [float(self.weights[number]) for number in counted]
        tar = [mark_read_only(among_tar[number]) for number in counted]
        non = [mark_read_only(among_non[number]) for number in counted]
        empty = [not (t.size or n.size) for t, n in zip(tar, non, strict=True)]
        if several and self._rules.overlap == "error":
            message = f"A trial must not belong to several conditions, as do {several}. "
            raise TrialMismatchError(f"{message}Say overlap='allow' to count them in each.")
        # Conditions of weight 0 are dropped before, so that these may be empty.
        if any(empty):
            # Of these, conditions without trials are named before those without scores.
            held = sizes()
            without = [name for name, n in zip(names, counted, strict=True) if not held[n]]
            unscored = [name for name, is_empty in zip(names, empty, strict=True) if is_empty]
            raise _empty_conditions(without, unscored, len(self.names))
        if none and self._rules.uncovered == "error":
            message = f"Each trial of the key must belong to a condition; to none belong {none}. "
            raise TrialMismatchError(f"{message}Say uncovered='ignore' to leave them out.")
        if self._rules.lacking != "ignore":
            _report_one_class(names, tar, non, as_error=self._rules.lacking == "error")
        shares = shares_of(weights, tar), shares_of(weights, non)
        return tuple(map(ConditionMembers, names, weights, tar, non, *shares))

    def _trial_weights(
        self, key: Key, scored: BoolArray | None
    ) -> tuple[Float64Array, Float64Array]:
        """Return the weight of each trial under a mask, or of all."""
        n_tar, n_non = key.n_tar, key.n_non
        if scored is not None:
            n_tar = int(np.count_nonzero(scored & key.is_target))
            n_non = int(np.count_nonzero(scored)) - n_tar
        members = self._members(key, scored)
        tar_weights = _spread(n_tar, [(item.tar, item.tar_weight) for item in members])
        return tar_weights, _spread(n_non, [(item.non, item.non_weight) for item in members])


def _empty_conditions(
    without: Sequence[str], unscored: Sequence[str], n_conditions: int
) -> TrialMismatchError:
    """Return the error for conditions without trials of the key or, if none is, without scores."""
    if not without:
        return TrialMismatchError(
            f"No trial of these conditions has a score: {check.list_some(unscored)}."
        )
    verb = "has" if len(without) == 1 else "have"
    return TrialMismatchError(
        f"{len(without)} of {n_conditions} conditions {verb} no trial of the key "
        f"({check.list_some(without)}). The weight 0 leaves a condition out."
    )


def _report_one_class(
    names: Sequence[str], tar: Sequence[Positions], non: Sequence[Positions], *, as_error: bool
) -> None:
    """Say which conditions have trials of one class only."""
    clauses = []
    for parts, noun, rate in ((tar, "targets", "false-alarm"), (non, "non-targets", "miss")):
        without = [name for name, part in zip(names, parts, strict=True) if not part.size]
        if without:
            one = len(without) == 1
            have, count = ("condition has", "counts") if one else ("conditions have", "count")
            clauses.append(
                f"{len(without)} {have} no {noun} and {count} for the {rate} rate only "
                f"({check.list_some([repr(name) if ',' in name else name for name in without])})"
            )
    if not clauses:
        return
    message = "; ".join(clauses)
    if not any(part.size and other.size for part, other in zip(tar, non, strict=True)):
        message += ". Conditions with all targets in each, as for attacks, take overlap='allow'"
    if as_error:
        raise TrialMismatchError(message)
    warn_caller(message, ConditionWarning)


def conditions_of_columns(key: Key, names: Sequence[str]) -> Conditions:
    """Make a condition of each combination of the values of columns of a key.

    Columns that divide one class only, such as attacks, meet all trials of the other in each.
    """
    factors = [key.columns.factor(name) for name in names]
    for name, factor in zip(names, factors, strict=True):
        n_blank = int(np.isin(factor.codes, np.flatnonzero(factor.levels == "")).sum())
        if n_blank:
            text = f"{n_blank} of {len(factor)} trials have no value in column {name!r}; they "
            warn_caller(f"{text}are a condition of their own, with its weight.", ConditionWarning)
    product = _product(factors)
    codes, is_target = product.codes, key.is_target
    levels = [np.unique(codes[chosen]) for chosen in (is_target, ~is_target)]
    pairs = (is_target, levels[0], levels[1]), (~is_target, levels[1], levels[0])
    for whole, own, others in pairs:
        if own.size == 1 and np.setdiff1d(others, own).size:
            noun = "targets" if own is levels[0] else "non-targets"
            text = f"{', '.join(names)} divides one class only: each row has all {noun}"
            warn_caller(text, ConditionWarning)
            subsets = {str(product.levels[c]): whole | (codes == c) for c in others.tolist()}
            return Conditions(subsets, overlap="allow", uncovered="ignore", lacking="ignore")
    return Conditions.from_factors(key, dict(zip(names, factors, strict=True)))


def check_conditions(conditions: object) -> None:
    """Raise unless `conditions` says what each condition weighs."""
    if not isinstance(conditions, Conditions):
        hint = "Name columns of the key, or make Conditions.from_labels(key, labels, order=...)."
        raise check.invalid(
            "conditions", "be a Conditions object", check.describe(conditions), hint
        )


def class_weights(
    conditions: Conditions | None,
    tar_weights: npt.ArrayLike | None,
    non_weights: npt.ArrayLike | None,
    key: Key,
    *,
    scores: Scores | None = None,
) -> ClassWeights:
    """Return the weights of the trials, from conditions or as the caller gave them."""
    # Not both may be given. Weights of conditions sum to the number of trials in each class, and it
    # is an error if a class has no trial in any of them. With `scores`, only trials with a score
    # count.
    if conditions is None:
        return tar_weights, non_weights
    check_conditions(conditions)
    for name, weights in (("tar_weights", tar_weights), ("non_weights", non_weights)):
        if weights is not None:
            raise check.invalid(name, "be left out where there are `conditions`", "weights")
    if scores is None:
        weights_of_classes = conditions.trial_weights(key)
    else:
        weights_of_classes = conditions.scored_weights(scores, key)
    for noun, weights in zip(("targets", "non-targets"), weights_of_classes, strict=True):
        if weights.size and not weights.any():
            raise check.invalid("conditions", f"have {noun} in some condition", "none")
    return weights_of_classes
