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
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    Positions,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py._notes import Note, warn
from bosaris_py.errors import ConditionWarning, TrialMismatchError
from bosaris_py.files.columns import Factor
from bosaris_py.trials.key import Key, Ndx, as_key, describe_trials
from bosaris_py.trials.scores import Scores, scored_trials, trials_within
from bosaris_py.trials.trials import Trials

WeightsLike: TypeAlias = Mapping[str, float] | Sequence[float] | npt.NDArray[np.floating]

# The trials of each condition, as lists or masks.
SubsetsLike: TypeAlias = Mapping[str, Ndx | Key | npt.ArrayLike]


Overlap: TypeAlias = Literal["error", "allow"]
Uncovered: TypeAlias = Literal["error", "ignore"]
Lacking: TypeAlias = Literal["warn", "ignore", "error"]

_NOUNS = ("targets", "non-targets")

_BY_ID = "Of a frame of models by segments take Ndx(frame.index, frame.columns, frame)."

# Between the values of several factors in the name of a condition.
_SEPARATOR = ", "

_IGNORE = "Say uncovered='ignore' to leave them out."

# Combinations are counted in a table if it has at most this many entries, which take no time.
_SMALL_TABLE = 2**16

# What the decimals of weights such as 0.3333333333 may leave of a sum of one.
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


def checked_weights(weights: WeightsLike | None, names: Sequence[str]) -> Float64Array:
    """Return one weight for each name, not negative and with sum one; None says equal weights."""
    if weights is None:
        return mark_read_only(np.full(len(names), 1.0 / len(names)))
    if isinstance(weights, Mapping):
        if unknown := sorted(weights.keys() - set(names), key=str):
            expected = f"name conditions that exist ({check.list_some(names, 20)})"
            raise check.invalid("weights", expected, check.list_some(map(repr, unknown)))
        if missing := [name for name in names if name not in weights]:
            got = f"none for {check.list_some(map(repr, missing))}"
            hint = "The weight 0 drops a condition."
            raise check.invalid("weights", "name every condition", got, hint)
        weights = [weights[name] for name in names]
    values = np.asarray(weights)
    if values.dtype.kind not in "iuf":
        raise check.invalid("weights", "be numbers", check.describe(weights))
    if values.shape != (len(names),):
        expected = f"be one for each of the {len(names)} conditions"
        raise check.invalid("weights", expected, check.describe(values))
    if (bad := np.flatnonzero(~((values >= 0) & np.isfinite(values)))).size:
        got = f"{values[bad[0]]:g} for {names[bad[0]]!r}"
        raise check.invalid("weights", "be finite and not negative", got)
    # fsum is exact, so that the order of the conditions does not matter.
    total = math.fsum(values)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        hint = "Divide them by their sum if only proportions matter." if total > 0 else ""
        raise check.invalid("weights", "sum to one", f"the sum {total:g}", hint)
    # Exactly one, not 0.9999999999 because of decimals.
    return mark_read_only(values / total)


def shares_of(weights: Sequence[float], parts: Sequence[Positions]) -> list[float]:
    """Divide the weights of the conditions that have trials by their sum."""
    # Equations 3 and 4 sum over the conditions with trials of the class. Divided by the sum of
    # their weights these sum to one again; NIST does the same for partitions without targets.
    present = [weight if part.size else 0.0 for weight, part in zip(weights, parts, strict=True)]
    total = math.fsum(present)
    return [weight / total if total else 0.0 for weight in present]


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
    # Lists of trials and masks; or, where `_trials` are given, ascending positions among these.
    _parts: tuple[Trials | AnyArray, ...]
    _trials: Trials | None
    _rules: Rules
    # What the columns that made them say of these trials.
    notes: tuple[Note, ...] = ()

    def __init__(
        self,
        subsets: SubsetsLike,
        weights: WeightsLike | None = None,
        *,
        overlap: Overlap = "error",
        uncovered: Uncovered = "error",
        lacking: Lacking = "warn",
    ) -> None:
        listed: object = subsets
        if not isinstance(listed, Mapping):
            hint = "Labels of trials are a column of the key: Conditions.from_columns(key, name)."
            got = check.describe(listed)
            raise check.invalid("subsets", "map names to trials or masks", got, hint)
        names = _checked_names(subsets)
        parts = tuple(_as_subset(subset, f"subsets[{n!r}]") for n, subset in subsets.items())
        rules = Rules(overlap, uncovered, lacking)
        self.__attrs_init__(names, checked_weights(weights, names), parts, None, rules)

    @classmethod
    def _made(
        cls,
        names: Iterable[str],
        weights: WeightsLike | None,
        parts: Iterable[Trials | AnyArray],
        trials: Trials | None,
        rules: Rules,
        notes: Iterable[Note] = (),
    ) -> Conditions:
        """Make an object of its fields."""
        made, checked = cls.__new__(cls), _checked_names(names)
        kept = tuple(part if isinstance(part, Trials) else read_only(part) for part in parts)
        weighed = checked_weights(weights, checked)
        made.__attrs_init__(checked, weighed, kept, trials, rules, tuple(notes))
        return made

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle as a call that builds the object again, so that arrays stay read-only."""
        return type(self)._made, attrs.astuple(self, recurse=False)

    @classmethod
    def from_columns(cls, key: Key, *names: str) -> Conditions:
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
            With equal weights, for keys of these trials. They are named by their values, separated
            by ``", "``; those of the last column run fastest. Columns that divide one class only,
            such as attacks, meet all trials of the other class in each condition.

        Warns
        -----
        ConditionWarning
            If trials have no value, or if columns divide one class only.

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> same = np.eye(2, dtype=bool)
        >>> key = Key(["anna", "bert"], ["s1", "s2"], same, ~same)
        >>> key = key.with_columns(gender=("model", {"anna": "f", "bert": "m"}))
        >>> Conditions.from_columns(key, "gender").names
        ('f', 'm')
        """
        made = cls._from_columns(as_key(key), names)
        warn(made.notes)
        return made

    @classmethod
    def _from_columns(cls, key: Key, names: Sequence[str]) -> Conditions:
        """Cross columns; what `from_columns` warns of are notes."""
        if not names:
            raise check.invalid("names", "name at least one column", "none")
        notes = []
        factors = [key.columns.factor(name) for name in names]
        for name, factor in zip(names, factors, strict=True):
            n_blank = np.count_nonzero((factor.levels == "")[factor.codes])
            if n_blank:
                text = f"{n_blank} of {len(factor)} trials have no value in column {name!r}; they"
                text += " are a condition of their own, with its weight."
                notes.append(Note(ConditionWarning, text))
        made = cls._crossing(key.to_ndx(), factors, notes)
        lines, classes = made._lines(key), _classes(None, key)
        has = [np.array([one[part].any() for part in lines]) for one in classes]
        for whole, own, other, noun in zip(classes, has, has[::-1], _NOUNS, strict=True):
            if np.count_nonzero(own) == 1 and (other & ~own).any():
                text = f"{_SEPARATOR.join(names)} divides one class only: each row has all {noun}"
                notes.append(Note(ConditionWarning, text))
                chosen = np.flatnonzero(other).tolist()
                parts = [np.union1d(np.flatnonzero(whole), lines[n]) for n in chosen]
                found = [made.names[n] for n in chosen]
                rules = Rules("allow", "ignore", "ignore")
                return cls._made(found, None, parts, made._trials, rules, notes)
        return made

    @classmethod
    def crossed(cls, key: Key, *names: str) -> Conditions:
        """Make a condition of each combination of values; columns divide both classes."""
        return cls._crossing(key.to_ndx(), [key.columns.factor(name) for name in names], ())

    @classmethod
    def _crossing(
        cls, trials: Trials, factors: Sequence[Factor], notes: Sequence[Note]
    ) -> Conditions:
        """Make a condition of each combination of the values of trials that occurs."""
        codes, names = _crossed(factors)
        # Numbers of one or two bytes are sorted in linear time.
        order = np.argsort(codes.astype(np.min_scalar_type(len(names))), kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(names)))
        return cls._made(names, None, np.split(order, ends[:-1]), trials, Rules(), notes)

    def __repr__(self) -> str:
        """Show names and weights."""
        shown = zip(self.names, self.weights.tolist(), strict=True)
        return f"Conditions: {check.list_some((f'{name} ({w:.4g})' for name, w in shown), 6)}"

    def __len__(self) -> int:
        """Return the number of conditions."""
        return len(self.names)

    def with_weights(self, weights: WeightsLike | None) -> Conditions:
        """Return the same conditions with other weights.

        Parameters
        ----------
        weights : mapping of str to float, or sequence of float, optional
            The weight of each condition; None says equal.

        Returns
        -------
        Conditions
        """
        return self._made(self.names, weights, self._parts, self._trials, self._rules, self.notes)

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
        sides = [[int(one[at].sum()) for at in self._lines(key)] for one in _classes(None, key)]
        return dict(zip(self.names, zip(*sides, strict=True), strict=True))

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
        return self.scored_members(None, key)

    def scored_members(self, scores: Scores | None, key: Key) -> tuple[ConditionMembers, ...]:
        """Tell where the scored trials of each condition stand; see `members`.

        Parameters
        ----------
        scores : Scores or None
            Scores of at least some of the key's trials; None counts all trials.
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
        members, notes = self.noted_members(scores, as_key(key))
        warn(notes)
        return members

    def noted_members(
        self, scores: Scores | None, key: Key
    ) -> tuple[tuple[ConditionMembers, ...], list[Note]]:
        """Return what `scored_members` does, and in place of warnings notes."""
        lines, rules = self._lines(key), self._rules
        counted = np.flatnonzero(self.weights > 0).tolist()
        parts = [lines[number] for number in counted]
        times = np.bincount(np.concatenate(parts), minlength=key.n_trials)
        if rules.overlap == "error" and (times > 1).any():
            message = "A trial must not belong to several conditions, as do"
            found = f"{message} {describe_trials(key, times > 1)}."
            raise TrialMismatchError(f"{found} Say overlap='allow' to count them in each.")
        tar, non = (_among(chosen, parts) for chosen in _classes(scores, key))
        names = [self.names[number] for number in counted]
        # Conditions of weight 0 are dropped before, so that these may be empty.
        if without := [name for name, part in zip(names, parts, strict=True) if not part.size]:
            have = "has" if len(without) == 1 else "have"
            message = f"{len(without)} of {len(self)} conditions {have} no trial of the key"
            hint = "The weight 0 leaves a condition out."
            raise TrialMismatchError(f"{message} ({check.list_some(without)}). {hint}")
        sides = zip(names, tar, non, strict=True)
        if unscored := [name for name, *found in sides if not any(map(np.size, found))]:
            message = "No trial of these conditions has a score"
            raise TrialMismatchError(f"{message}: {check.list_some(unscored)}.")
        times = np.bincount(np.concatenate(lines), minlength=key.n_trials)
        if rules.uncovered == "error" and not times.all():
            message = "Each trial of the key must belong to a condition; to none belong"
            raise TrialMismatchError(f"{message} {describe_trials(key, times == 0)}. {_IGNORE}")
        lacking = "" if rules.lacking == "ignore" else _lacking(names, tar, non)
        if lacking and rules.lacking == "error":
            raise TrialMismatchError(lacking)
        notes = [*self.notes, *([Note(ConditionWarning, lacking)] if lacking else [])]
        weights = self.weights[counted].tolist()
        shares = shares_of(weights, tar), shares_of(weights, non)
        return tuple(map(ConditionMembers, names, weights, tar, non, *shares)), notes

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
        return self.scored_weights(None, key)

    def scored_weights(self, scores: Scores | None, key: Key) -> tuple[Float64Array, Float64Array]:
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
        members = self.scored_members(scores, key)
        n_tar, n_non = (int(np.count_nonzero(chosen)) for chosen in _classes(scores, key))
        tar = _spread(n_tar, [(part.tar, part.tar_weight) for part in members])
        return tar, _spread(n_non, [(part.non, part.non_weight) for part in members])

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
        lines = self._lines(key)[self.names.index(name)]
        if lines.size == 0:
            raise TrialMismatchError(f"Condition {name!r} has no trial of the key.")
        return key.take(lines)

    def _lines(self, key: Key) -> list[Positions]:
        """Return where the trials of each condition stand among those of a key, ascending."""
        if self._trials is None:
            return [np.flatnonzero(_mask_of(part, key)) for part in self._parts]
        at, parts = self._trials.locate(key), list(map(np.asarray, self._parts))
        if at is None:
            return parts
        place = np.full(self._trials.n_trials, -1)
        place[at[at >= 0]] = np.flatnonzero(at >= 0)
        moved = (np.sort(place[part]) for part in parts)
        return [part[part >= 0] for part in moved]


def _checked_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of conditions, each once and at least one."""
    listed = tuple(names)
    if not listed:
        raise check.invalid("subsets", "name at least one condition", "none")
    for name in listed:
        if str(name) != name:
            raise check.invalid("subsets", "name conditions with text", check.describe(name))
    if repeated := check.repetitions(listed):
        hint = f"Values of factors must not hold {_SEPARATOR!r}."
        raise check.invalid("names", "be different", check.list_some(repeated), hint)
    return listed


def _as_subset(subset: npt.ArrayLike | Ndx | Key, name: str) -> Ndx | Key | BoolArray:
    """Return the trials or the mask of one condition."""
    if isinstance(subset, Ndx | Key):
        return subset
    check.refuse_series(subset, name, _BY_ID)
    # numpy would make an array of a file name or a mapping.
    if isinstance(subset, str | Mapping):
        raise check.invalid(name, "be trials or a mask", check.describe(subset))
    mask = check.as_mask(subset, name)
    if mask.ndim not in (1, 2):
        raise check.invalid(name, "have one dimension, of trials, or two", check.describe(mask))
    return read_only(mask)


def _mask_of(subset: Trials | AnyArray, key: Key) -> BoolArray:
    """Tell for each trial of the key whether it is in a subset."""
    # Objects with ids fit any key; a mask fits keys of its shape only.
    if isinstance(subset, Trials):
        return trials_within(subset, key)
    if subset.shape == (key.n_trials,):
        return subset
    if subset.shape == key.shape:
        return np.asarray(subset[key.trial_positions()])
    expected = f"have the shape {key.shape} of the key, or one value for each of its trials"
    hint = "Did you swap models and segments?" if subset.shape == key.shape[::-1] else ""
    got = f"shape {subset.shape} and {key.n_trials} trials"
    raise check.invalid("subsets", expected, got, hint)


def _classes(scores: Scores | None, key: Key) -> tuple[BoolArray, BoolArray]:
    """Tell for each trial whether it is a target, and a non-target, with a score."""
    scored = None if scores is None else scored_trials(scores, key)
    tar, non = key.is_target, ~key.is_target
    return (tar, non) if scored is None else (tar & scored, non & scored)


def _among(chosen: BoolArray, parts: Sequence[Positions]) -> list[Positions]:
    """Return where the trials of each condition stand among those that are chosen."""
    place = np.cumsum(chosen) - 1
    return [mark_read_only(place[part[chosen[part]]]) for part in parts]


def _spread(size: int, parts: Sequence[tuple[Positions, float]]) -> Float64Array:
    """Give each trial of a class its condition's share, divided among the condition's trials."""
    weights = np.zeros(size)
    for positions, share in parts:
        if positions.size:
            # w / N^alpha of equation 12; a trial of several conditions has the sum.
            weights[positions] += share / positions.size
    # N of equation 12 counts the trials that are in some condition.
    weights *= np.count_nonzero(weights)
    return mark_read_only(weights)


def _crossed(factors: Sequence[Factor]) -> tuple[AnyArray, list[str]]:
    """Return the number of the combination of each trial, and the names of those that occur."""
    occurs, codes = _occurring(factors[0].codes, factors[0].levels.size)
    names = factors[0].levels[occurs].tolist()
    for factor in factors[1:]:
        # Combinations that occur are not more than there are trials, so that products are int64.
        size = max(1, factor.levels.size)
        occurs, codes = _occurring(codes * size + factor.codes, len(names) * size)
        pairs = zip(*(side.tolist() for side in np.divmod(occurs, size)), strict=True)
        names = [f"{names[one]}{_SEPARATOR}{factor.levels[other]}" for one, other in pairs]
    return codes, names


def _occurring(codes: AnyArray, size: int) -> tuple[AnyArray, AnyArray]:
    """Return the numbers below `size` that occur, and the rank of each among them."""
    if size > max(_SMALL_TABLE, codes.size):
        return np.unique(codes, return_inverse=True)
    occurs = np.bincount(codes, minlength=size) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def _lacking(names: Sequence[str], tar: Sequence[Positions], non: Sequence[Positions]) -> str:
    """Say which conditions have trials of one class only; empty if none has."""
    clauses = []
    for parts, noun, rate in ((tar, "targets", "false-alarm"), (non, "non-targets", "miss")):
        without = [name for name, part in zip(names, parts, strict=True) if not part.size]
        if without:
            one = len(without) == 1
            have, count = ("condition has", "counts") if one else ("conditions have", "count")
            shown = check.list_some(repr(name) if "," in name else name for name in without)
            text = f"{len(without)} {have} no {noun} and {count} for the {rate} rate only"
            clauses.append(f"{text} ({shown})")
    if clauses and not any(one.size and other.size for one, other in zip(tar, non, strict=True)):
        clauses[-1] += ". Conditions with all targets in each, as for attacks, take overlap='allow'"
    return "; ".join(clauses)


# What functions take as `conditions`

ConditionsLike: TypeAlias = Conditions | str | Sequence[str] | SubsetsLike | None


def as_conditions(conditions: ConditionsLike, key: Key) -> Conditions | None:
    """Return conditions, given these, named trials, or columns of the key, which are crossed."""
    match conditions:
        case None | Conditions():
            return conditions
        case Mapping():
            return Conditions(conditions)
        case str():
            return Conditions._from_columns(key, [conditions])
        case list() | tuple() if conditions and all(isinstance(name, str) for name in conditions):
            return Conditions._from_columns(key, conditions)
    hint = "Labels of trials are a column of the key: key.with_columns(name=labels)."
    raise check.invalid("conditions", "name columns in a list", check.describe(conditions), hint)


def class_weights(
    conditions: object,
    tar_weights: npt.ArrayLike | None,
    non_weights: npt.ArrayLike | None,
    key: Key,
    *,
    scores: Scores | None = None,
) -> tuple[npt.ArrayLike | None, npt.ArrayLike | None]:
    """Return the weights of the trials, from conditions or as the caller gave them, not both."""
    if conditions is None:
        return tar_weights, non_weights
    if not isinstance(conditions, Conditions):
        hint = "Columns of a key make them: Conditions.from_columns(key, name)."
        raise check.invalid("conditions", "be Conditions", check.describe(conditions), hint)
    for name, weights in (("tar_weights", tar_weights), ("non_weights", non_weights)):
        if weights is not None:
            raise check.invalid(name, "be left out where there are `conditions`", "weights")
    classes = conditions.scored_weights(scores, key)
    for noun, weights in zip(_NOUNS, classes, strict=True):
        if weights.size and not weights.any():
            raise check.invalid("conditions", f"have {noun} in some condition", "none")
    return classes
