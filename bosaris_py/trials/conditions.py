r"""Weighted conditions: named groups of trials, and the weights they give to each trial.

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

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    IndexArray,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import as_mask, describe, invalid, list_some, warn_caller
from bosaris_py.errors import ConditionWarning, TrialMismatchError
from bosaris_py.storage.factors import Factor
from bosaris_py.trials.base import as_factor
from bosaris_py.trials.key import AnyKey, AnyNdx, check_key
from bosaris_py.trials.key import check_trials as check_ndx
from bosaris_py.trials.scores import (
    AnyScores,
    check_scores,
    describe_trials,
    scored_trials,
    take_trials,
    trial_places,
    trials_within,
)

WeightsLike: TypeAlias = Mapping[str, float] | Sequence[float] | npt.NDArray[np.floating[Any]]

# What the decimals of weights such as 0.3333333333 may leave.
_SUM_TOLERANCE = 1e-6


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
        Its share in the miss rate and in the false-alarm rate: its weight,
        divided by the weights of all conditions that have trials of the class;
        0 if it has none itself.
    """

    name: str
    weight: float
    tar: IndexArray = attrs.field(converter=read_only)
    non: IndexArray = attrs.field(converter=read_only)
    tar_weight: float
    non_weight: float

    __reduce__ = by_constructor


def any_of(parts: Iterable[IndexArray], size: int) -> slice | BoolArray:
    """Return an index of the positions that some part holds, among `size` of them.

    Parameters
    ----------
    parts : iterable of (n,) ndarray of int
        The positions, for instance the targets of each condition.
    size : int
        Number of all positions.

    Returns
    -------
    slice or (size,) ndarray of bool
        A slice if all are held, so that indexing makes no copy.
    """
    held = np.zeros(size, dtype=np.bool_)
    for part in parts:
        held[part] = True
    return slice(None) if held.all() else held


def spread(
    members: Sequence[ConditionMembers], n_tar: int, n_non: int
) -> tuple[Float64Array, Float64Array]:
    """Give each trial its condition's share, divided among the trials of the condition."""
    result = []
    for size, parts in (
        (n_tar, [(item.tar, item.tar_weight) for item in members]),
        (n_non, [(item.non, item.non_weight) for item in members]),
    ):
        weights = np.zeros(size)
        for places, share in parts:
            if places.size:
                weights[places] += share / places.size
        weights *= np.count_nonzero(weights)
        result.append(mark_read_only(weights))
    return result[0], result[1]


def shares_of(weights: Sequence[float], parts: Sequence[IndexArray]) -> list[float]:
    """Divide the weights of the conditions that have trials by their sum."""
    present = [weight if part.size else 0.0 for weight, part in zip(weights, parts, strict=True)]
    total = math.fsum(present)
    return [weight / total if total else 0.0 for weight in present]


def as_condition_weights(weights: WeightsLike | None, names: tuple[str, ...]) -> Float64Array:
    """Return one weight for each name, not negative and with sum one."""
    if weights is None:
        return mark_read_only(np.full(len(names), 1.0 / len(names)))
    if isinstance(weights, Mapping):
        known = frozenset(names)
        unknown = [name for name in weights if name not in known]
        if unknown:
            expected = f"name conditions that exist ({list_some(names, 20)})"
            raise invalid("weights", expected, list_some(map(repr, unknown)))
        missing = [name for name in names if name not in weights]
        if missing:
            hint = "The weight 0 drops a condition."
            found = f"none for {list_some(map(repr, missing))}"
            raise invalid("weights", "name every condition", found, hint)
        weights = [weights[name] for name in names]
    try:
        values = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise invalid("weights", "be numbers", describe(weights)) from None
    if values.shape != (len(names),):
        expected = f"be one for each of the {len(names)} conditions"
        raise invalid("weights", expected, describe(values))
    if not (np.isfinite(values) & (values >= 0)).all():
        bad = names[int(np.argmin(np.isfinite(values) & (values >= 0)))]
        found = f"{values[names.index(bad)]:g} for {bad!r}"
        raise invalid("weights", "be finite and not negative", found)
    total = math.fsum(values)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        hint = "Divide them by their sum if only proportions matter." if total > 0 else ""
        raise invalid("weights", "sum to one", f"the sum {total:g}", hint)
    return mark_read_only(values / total)


_SEPARATOR = ", "

# So few conditions are looked for one by one; sorting costs as much as twenty looks.
_FEW_LEVELS = 20

# The number of a combination is an int64.
_MOST_CODES = 2**63 - 1


class Assignment(ABC):
    """Which trials of a key each condition has."""

    @property
    @abstractmethod
    def uncovered(self) -> BoolArray | None:
        """The trials that are in no condition; None if there are none."""

    @abstractmethod
    def overlapping(self, numbers: Sequence[int]) -> BoolArray | None:
        """Return the trials that are in several of these conditions; None if there are none."""

    @abstractmethod
    def places(self, chosen: BoolArray | None = None) -> list[IndexArray]:
        """Return the places of the trials of each condition among those under a mask, or all."""


@attrs.frozen(eq=False)
class _Masks(Assignment):
    """A mask of the key's trials for each condition."""

    masks: list[BoolArray]

    @property
    def uncovered(self) -> BoolArray | None:
        return _unless_none(~np.logical_or.reduce(self.masks))

    def overlapping(self, numbers: Sequence[int]) -> BoolArray | None:
        once, again = (np.zeros(self.masks[0].size, dtype=np.bool_) for _ in range(2))
        for number in numbers:
            again |= once & self.masks[number]
            once |= self.masks[number]
        return _unless_none(again)

    def places(self, chosen: BoolArray | None = None) -> list[IndexArray]:
        parts = self.masks if chosen is None else [mask[chosen] for mask in self.masks]
        return [np.flatnonzero(part) for part in parts]


@attrs.frozen(eq=False)
class _Codes(Assignment):
    """The number of the condition of each trial; `n_levels` for those of none."""

    codes: npt.NDArray[Any]
    n_levels: int
    absent: BoolArray | None

    @property
    def uncovered(self) -> BoolArray | None:
        return self.absent

    def overlapping(self, numbers: Sequence[int]) -> BoolArray | None:
        return None

    def places(self, chosen: BoolArray | None = None) -> list[IndexArray]:
        codes = self.codes if chosen is None else self.codes[chosen]
        if self.n_levels <= _FEW_LEVELS:
            return [np.flatnonzero(codes == number) for number in range(self.n_levels)]
        # Numbers of one or two bytes are sorted in linear time.
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=self.n_levels))[: self.n_levels]
        return np.split(order, ends)[: self.n_levels]


def _unless_none(mask: BoolArray) -> BoolArray | None:
    """Return a mask if it holds anything."""
    return mask if mask.any() else None


@attrs.frozen(eq=False)
class Subsets:
    """Conditions as lists of trials or masks."""

    subsets: tuple[Any, ...]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call that marks masks as read-only again."""
        return _restored_subsets, (self.subsets,)

    def assign(self, key: AnyKey) -> Assignment:
        """Find the trials of each condition among those of a key."""
        return _Masks([self._mask(subset, key) for subset in self.subsets])

    def _mask(self, subset: Any, key: AnyKey) -> BoolArray:
        """Tell for each trial of the key whether it is in a subset."""
        if not isinstance(subset, np.ndarray):
            return trials_within(subset, key)
        shape = (key.modelset.size, key.segset.size)
        if subset.shape == (key.n_trials,):
            return subset
        if subset.shape == shape:
            return np.asarray(subset[key.trial_positions()])
        expected = f"have the shape {shape} of the key, or one value for each of its trials"
        hint = "Did you swap models and segments?" if subset.shape == shape[::-1] else ""
        found = f"shape {subset.shape} and {key.n_trials} trials"
        raise invalid("subsets", expected, found, hint)


@attrs.frozen(eq=False)
class Labels:
    """Conditions as one label for each trial of a list."""

    trials: AnyNdx
    factor: Factor

    def assign(self, key: AnyKey) -> Assignment:
        """Find the trials of each condition among those of a key."""
        places = trial_places(self.trials, key)
        n_levels = self.factor.levels.size
        codes = self.factor.codes
        uncovered = None
        if places is not None:
            absent = places < 0
            # The level of nowhere is -1 as well: there is at least one trial.
            codes = codes[places].astype(np.min_scalar_type(n_levels), copy=False)
            if absent.any():
                codes[absent] = n_levels
                uncovered = absent
        return _Codes(codes, n_levels, uncovered)


def _restored_subsets(subsets: tuple[Any, ...]) -> Subsets:
    """Build a definition from what a pickle has just made."""
    return Subsets(
        tuple(mark_read_only(item) if isinstance(item, np.ndarray) else item for item in subsets)
    )


def as_names(names: Any) -> tuple[str, ...]:
    """Return names of conditions, each once and at least one."""
    listed = tuple(names)
    if not listed:
        raise invalid("subsets", "name at least one condition", "none")
    for name in listed:
        if not isinstance(name, str):
            raise invalid("subsets", "name conditions with text", describe(name))
    repeated = sorted(name for name, count in Counter(listed).items() if count > 1)
    if repeated:
        hint = f"Values of factors must not hold {_SEPARATOR!r}."
        raise invalid("names", "be different", list_some(repeated), hint)
    return listed


def as_subset(name: str, subset: Any) -> Any:
    """Return the trials or the mask of one condition."""
    if isinstance(subset, AnyNdx):
        return subset
    if isinstance(subset, (str, Mapping)):
        raise invalid(f"subsets[{name!r}]", "be trials or a mask", describe(subset))
    mask = as_mask(subset, f"subsets[{name!r}]")
    if mask.ndim not in (1, 2):
        expected = "have one dimension (trials) or two (models, segments)"
        raise invalid(f"subsets[{name!r}]", expected, describe(mask))
    return read_only(mask)


def trial_factor(name: str, values: Any, trials: AnyNdx) -> Factor:
    """Return one value per trial as a factor."""
    factor = as_factor(values, name)
    if len(factor) != trials.n_trials:
        expected = f"have one value for each of the {trials.n_trials} trials"
        raise invalid(name, expected, f"{len(factor)}")
    return factor


def product_of(factors: Sequence[Factor]) -> Factor:
    """Return the combinations of several factors that occur."""
    if len(factors) > 2 and math.prod(f.levels.size for f in factors) > _MOST_CODES:
        # Those that occur among the first factors are not more than there are trials.
        return product_of((product_of(factors[:-1]), factors[-1]))
    codes = factors[0].codes.astype(np.int64)
    n_codes = factors[0].levels.size
    for factor in factors[1:]:
        codes *= factor.levels.size
        codes += factor.codes
        n_codes *= factor.levels.size
    if n_codes <= max(2**16, codes.size):
        occurs = np.flatnonzero(np.bincount(codes, minlength=n_codes))
        table = np.zeros(n_codes, dtype=np.min_scalar_type(max(1, occurs.size)))
        table[occurs] = np.arange(occurs.size)
        places = table[codes]
    else:
        occurs, places = np.unique(codes, return_inverse=True)
    columns = []
    for factor in reversed(factors):
        occurs, level = np.divmod(occurs, max(1, factor.levels.size))
        columns.append(factor.levels[level].tolist())
    names = [_SEPARATOR.join(texts) for texts in zip(*reversed(columns), strict=True)]
    return Factor(mark_read_only(places), as_names(names))


Overlap: TypeAlias = Literal["error", "allow"]

Uncovered: TypeAlias = Literal["error", "ignore"]

Lacking: TypeAlias = Literal["warn", "ignore", "error"]


def _one_of(choices: tuple[str, ...]) -> Any:
    """Return an attrs validator of an option of Conditions."""

    def check(_: object, attribute: "attrs.Attribute[str]", value: object) -> None:
        if value not in choices:
            expected = f"be one of {', '.join(map(repr, choices))}"
            raise invalid(attribute.name, expected, describe(value))

    return check


@attrs.frozen
class Rules:
    """What is done about trials that conditions divide badly; the options of `Conditions`."""

    overlap: str = attrs.field(validator=_one_of(get_args(Overlap)))
    uncovered: str = attrs.field(validator=_one_of(get_args(Uncovered)))
    lacking: str = attrs.field(validator=_one_of(get_args(Lacking)))

    def members(
        self,
        key: AnyKey,
        subsets: Subsets | Labels,
        names: Sequence[str],
        weights: npt.NDArray[np.float64],
        scored: BoolArray | None = None,
    ) -> tuple[ConditionMembers, ...]:
        """Find the trials of all conditions of positive weight among those of a key.

        Parameters
        ----------
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        subsets : Subsets or Labels
            What the conditions are.
        names : sequence of str
            Their names.
        weights : (k,) ndarray of float64
            Their weights.
        scored : (n_trials,) ndarray of bool, optional
            Only these trials of the key count.

        Returns
        -------
        tuple of ConditionMembers

        Raises
        ------
        TrialMismatchError
            If a condition has no trial, or a rule is broken.
        """
        assigned = subsets.assign(key)
        counted = [number for number, weight in enumerate(weights.tolist()) if weight > 0]
        labels = key.trial_labels()
        among_tar = assigned.places(labels if scored is None else labels & scored)
        among_non = assigned.places(~labels if scored is None else scored & ~labels)
        parts = [
            _Part(names[number], float(weights[number]), among_tar[number], among_non[number])
            for number in counted
        ]
        if any(part.is_empty for part in parts):
            everywhere = assigned.places()
            _refuse_empty(parts, [everywhere[number].size for number in counted], len(names))
        if self.overlap == "error":
            _refuse_overlap(key, assigned.overlapping(counted))
        if self.uncovered == "error":
            _refuse_uncovered(key, assigned.uncovered)
        self._report_lacking(parts)
        tar_shares = shares_of([part.weight for part in parts], [part.tar for part in parts])
        non_shares = shares_of([part.weight for part in parts], [part.non for part in parts])
        return tuple(
            ConditionMembers(
                part.name,
                part.weight,
                mark_read_only(part.tar),
                mark_read_only(part.non),
                tar_share,
                non_share,
            )
            for part, tar_share, non_share in zip(parts, tar_shares, non_shares, strict=True)
        )

    def _report_lacking(self, parts: Sequence["_Part"]) -> None:
        """Say which conditions have trials of one class only."""
        if self.lacking == "ignore":
            return
        no_tar = [part.name for part in parts if not part.tar.size]
        no_non = [part.name for part in parts if not part.non.size]
        clauses = []
        for names, noun, rate in (
            (no_tar, "targets", "false-alarm"),
            (no_non, "non-targets", "miss"),
        ):
            if names:
                one = len(names) == 1
                have, count = ("condition has", "counts") if one else ("conditions have", "count")
                clauses.append(
                    f"{len(names)} {have} no {noun} and {count} for the {rate} rate only "
                    f"({list_some(names)})"
                )
        if not clauses:
            return
        message = "; ".join(clauses)
        if self.lacking == "error":
            raise TrialMismatchError(message)
        warn_caller(message, ConditionWarning)


class _Part(NamedTuple):
    """One condition: its trials as positions in the vectors of both classes."""

    name: str
    weight: float
    tar: IndexArray
    non: IndexArray

    @property
    def is_empty(self) -> bool:
        return not (self.tar.size or self.non.size)


def _refuse_empty(parts: Sequence[_Part], sizes: Sequence[int], n_conditions: int) -> None:
    """Raise for conditions without trials; `sizes` counts those without score, too."""
    empty = [part.name for part, size in zip(parts, sizes, strict=True) if not size]
    if not empty:
        unscored = list_some(part.name for part in parts if part.is_empty)
        message = f"No trial of these conditions has a score: {unscored}."
        raise TrialMismatchError(message)
    verb = "has" if len(empty) == 1 else "have"
    message = (
        f"{len(empty)} of {n_conditions} conditions {verb} no trial of the key "
        f"({list_some(empty)}). The weight 0 leaves a condition out."
    )
    raise TrialMismatchError(message)


def _refuse_overlap(key: AnyKey, trials: BoolArray | None) -> None:
    """Raise if trials are in several conditions."""
    if trials is not None:
        message = (
            f"A trial must not belong to several conditions, as do {describe_trials(key, trials)}. "
            f"Say overlap='allow' to count them in each."
        )
        raise TrialMismatchError(message)


def _refuse_uncovered(key: AnyKey, trials: BoolArray | None) -> None:
    """Raise if trials are in no condition."""
    if trials is not None:
        message = (
            f"Each trial of the key must belong to a condition; to none belong "
            f"{describe_trials(key, trials)}. Say uncovered='ignore' to leave them out."
        )
        raise TrialMismatchError(message)


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
            raise invalid("subsets", expected, describe(listed), hint)
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
            raise invalid("factors", expected, describe(listed))
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
        check_ndx(trials)
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
        check_key(key)
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
        check_key(key)
        counted = np.zeros(key.n_trials, dtype=np.bool_)
        for weight, places in zip(self.weights, self._subsets.assign(key).places(), strict=True):
            if weight > 0:
                counted[places] = True
        return mark_read_only(counted)

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
        check_key(key)
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
        check_scores(scores)
        check_key(key)
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
        check_key(key)
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
        check_scores(scores)
        check_key(key)
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
        check_key(key)
        if name not in self.names:
            expected = f"be one of the conditions ({list_some(self.names, 20)})"
            raise invalid("name", expected, describe(name))
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


# Weights of the targets and of the non-targets; None says one each.
ClassWeights = tuple[npt.ArrayLike | None, npt.ArrayLike | None]


def check_conditions(conditions: object) -> None:
    """Raise unless `conditions` says what each condition weighs."""
    if not isinstance(conditions, Conditions):
        hint = (
            "Make one of labels, Conditions.from_labels(key, labels), or of columns of a "
            "TrialMetadata, metadata.conditions('gender')."
        )
        raise invalid("conditions", "be a Conditions object", describe(conditions), hint)


def class_weights(
    conditions: Conditions | None,
    tar_weights: npt.ArrayLike | None,
    non_weights: npt.ArrayLike | None,
    key: AnyKey,
    *,
    scores: AnyScores | None = None,
) -> ClassWeights:
    """Return the weights of the trials, from conditions or as the caller gave them.

    Parameters
    ----------
    conditions : Conditions or None
        If given, each condition weighs what it shall weigh.
    tar_weights, non_weights : array_like of float or None
        The caller's own weights; not together with `conditions`.
    key : Key or FlatKey
        Which trials are targets and which non-targets.
    scores : Scores or FlatScores, optional
        If given, only trials with a score count; else all trials of the key.

    Returns
    -------
    tar_weights, non_weights : array_like of float or None
        In the order of ``get_tar_non``. Those of conditions sum to the number of
        trials in each class.

    Raises
    ------
    InvalidInputError
        If `conditions` is something else or has trials of one class only, or weights
        are given as well.
    """
    if conditions is None:
        return tar_weights, non_weights
    check_conditions(conditions)
    for name, weights in (("tar_weights", tar_weights), ("non_weights", non_weights)):
        if weights is not None:
            raise invalid(name, "be left out where there are `conditions`", "weights")
    if scores is None:
        weights_of_classes = conditions.trial_weights(key)
    else:
        weights_of_classes = conditions.scored_weights(scores, key)
    for noun, weights in zip(("targets", "non-targets"), weights_of_classes, strict=True):
        if weights.size and not weights.any():
            raise invalid("conditions", f"have {noun} in some condition", "none")
    return weights_of_classes
