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
from typing import Literal

import attrs
import numpy as np

from bosaris_py import _arrays as arrays, _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray, mark_read_only
from bosaris_py.files.columns import Factor
from bosaris_py.trials.key import Key, Ndx, as_key, describe_trials
from bosaris_py.trials.scores import Scores, scored_trials, trials_within
from bosaris_py.trials.trials import Trials

WeightsLike = Mapping[str, float] | Sequence[float] | FloatArray

# The trials of each condition, as lists or masks.
SubsetsLike = Mapping[str, Ndx | Key | ArrayLike]

Overlap = Literal["error", "allow"]
Uncovered = Literal["error", "ignore"]

_NOUNS = ("targets", "non-targets")

# Between the values of several factors in the name of a condition.
_SEPARATOR = ", "

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

    Examples
    --------
    >>> import bosaris_py as bp
    >>> trials = ["anna", "anna", "bert", "bert"], ["s1", "s2", "s1", "s2"]
    >>> noise = ["quiet", "loud", "quiet", "loud"]
    >>> key = bp.Key.from_trials(*trials, [True, False, False, True], {"noise": noise})
    >>> conditions = bp.Conditions.from_columns(key, "noise")
    >>> [(part.name, part.tar.size, part.non.size) for part in conditions.members(key)]
    [('loud', 1, 1), ('quiet', 1, 1)]
    """

    name: str
    weight: float
    tar: IntArray = attrs.field(converter=arrays.read_only)
    non: IntArray = attrs.field(converter=arrays.read_only)
    tar_weight: float
    non_weight: float

    __reduce__ = arrays.by_constructor


def checked_weights(weights: WeightsLike | None, names: Sequence[str]) -> FloatArray:
    """Return one weight for each name, not negative and with sum one; None says equal weights."""
    if weights is None:
        return mark_read_only(np.full(len(names), 1.0 / len(names)))
    if isinstance(weights, Mapping):
        if weights.keys() != {*names}:
            expected = f"name every condition ({check.list_some(names, 20)})"
            got, hint = check.list_some(map(repr, weights)), "The weight 0 drops a condition."
            raise check.invalid("weights", expected, got, hint)
        weights = [weights[name] for name in names]
    values = np.asarray(weights)
    if values.dtype.kind not in "iuf" or values.shape != (len(names),):
        expected = f"be a number for each of the {len(names)} conditions"
        raise check.invalid("weights", expected, check.describe(weights))
    total = values.sum()
    if not ((values >= 0).all() and abs(total - 1.0) <= _SUM_TOLERANCE):
        hint = "Divide them by their sum if only proportions matter." if total > 0 else ""
        got = f"{check.list_some(values.tolist())}, of sum {total:g}"
        raise check.invalid("weights", "not be negative, and sum to one", got, hint)
    # Exactly one, not 0.9999999999 because of decimals.
    # fsum is exact, so that the order of the conditions does not matter.
    return mark_read_only(values / math.fsum(values))


def name_of_all(weights: ArrayLike) -> str:
    """Say what conditions are together, whose error-rates are averaged by these weights."""
    # Weights such as 0.3333333 are equal but for their decimals.
    return "equalised" if np.ptp(weights) < _SUM_TOLERANCE else "weighted"


def shares_of(weights: Sequence[float], parts: Sequence[IntArray]) -> list[float]:
    """Divide the weights of the conditions that have trials by their sum."""
    # Equations 3 and 4 sum over the conditions with trials of the class. Divided by the sum of
    # their weights these sum to one again; NIST does the same for partitions without targets.
    present = [weight if part.size else 0.0 for weight, part in zip(weights, parts, strict=True)]
    total = math.fsum(present)
    return [weight / total if total else 0.0 for weight in present]


def masses(
    counts: AnyArray, groups: AnyArray | None = None, shares: FloatArray | None = None
) -> FloatArray:
    """Return the mass of each trial of a class: its part of the share of its group.

    That is equation 12, in which a trial counts a number of times. A class without groups is one
    of share 1; masses are NaN where a group has no counts.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        if groups is None or shares is None:
            return np.asarray(counts / counts.sum())
        totals = np.bincount(groups, counts, minlength=shares.size)
        return np.asarray(counts * np.where(shares > 0, shares / totals, 0.0)[groups])


def _read_only(parts: Iterable[Trials | AnyArray]) -> tuple[Trials | AnyArray, ...]:
    return tuple(p if isinstance(p, Trials) else arrays.read_only(p) for p in parts)


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
    this class; a condition of one class only counts for one of the two error-rates, with a warning.
    NIST does the same where it averages miss rates over partitions with targets, false-alarm rates
    over partitions with non-targets.

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
    weights: FloatArray
    # Lists of trials and masks; or, where `_trials` are given, ascending positions among these.
    _parts: tuple[Trials | AnyArray, ...] = attrs.field(converter=_read_only)
    _trials: Trials | None = None
    overlap: str = "error"
    uncovered: str = "error"
    # What the columns that made them say of these trials.
    notes: tuple[errors.Note, ...] = ()

    def __init__(
        self,
        subsets: SubsetsLike,
        weights: WeightsLike | None = None,
        *,
        overlap: Overlap = "error",
        uncovered: Uncovered = "error",
    ) -> None:
        given: object = subsets
        if not isinstance(given, Mapping):
            hint = "Labels of trials are a column of the key: Conditions.from_columns(key, name)."
            got = check.describe(given)
            raise check.invalid("subsets", "map names to trials or masks", got, hint)
        check.check_choice(overlap, Overlap, "overlap")
        check.check_choice(uncovered, Uncovered, "uncovered")
        parts = [_as_subset(subset, f"subsets[{n!r}]") for n, subset in subsets.items()]
        names = _checked_names(subsets)
        weights = checked_weights(weights, names)
        self.__attrs_init__(names, weights, parts, None, overlap, uncovered)

    @classmethod
    def _made(
        cls, names: Iterable[str], weights: WeightsLike | None, *fields: object
    ) -> Conditions:
        """Make an object of its fields."""
        made, checked = cls.__new__(cls), _checked_names(names)
        made.__attrs_init__(checked, checked_weights(weights, checked), *fields)  # type: ignore[arg-type]
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
            such as attacks, meet all trials of the other class in each condition, or those that
            have its values of the other columns.

        Warns
        -----
        MissingTrialsWarning
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
        errors.warn(made.notes)
        return made

    @classmethod
    def _from_columns(cls, key: Key, names: Sequence[str]) -> Conditions:
        """Cross columns; what `from_columns` warns of are notes."""
        if not names:
            raise check.invalid("names", "name at least one column", "none")
        made, notes = cls.crossed(key, *names), list[errors.Note]()
        factors = {name: key.columns.factor(name) for name in names}
        free = _undivided(key, factors)
        if all(free):
            got = f"{free[0][0]} and {free[1][0]}"
            raise check.invalid("conditions", "not divide each class by another column", got)
        for name, factor in factors.items():
            n_blank = int(factor.counts()[factor.levels == ""].sum())
            if n_blank and name not in (*free[0], *free[1]):
                text = f"{n_blank} of {len(factor)} trials have no value in column {name!r}; they"
                text += " are a condition of their own, with its weight."
                notes.append(errors.Note(errors.MissingTrialsWarning, text))
        for whole, undivided, noun in zip(_classes(None, key), free, _NOUNS, strict=True):
            if undivided:
                own = [name for name in names if name not in undivided]
                text = f"{_SEPARATOR.join(undivided)} divides one class only: each row has all "
                text += noun + f" of its {_SEPARATOR.join(own)}" * bool(own)
                notes.append(errors.Note(errors.MissingTrialsWarning, text))
                held, parts = made._with_whole(key, whole, [factors[name] for name in own])
                return cls._made(held, None, parts, made._trials, "allow", "ignore", tuple(notes))
        rules = "error", "error"
        return cls._made(made.names, None, made._parts, made._trials, *rules, tuple(notes))

    def _with_whole(
        self, key: Key, whole: BoolArray, own: Sequence[Factor]
    ) -> tuple[list[str], list[IntArray]]:
        """Return names and trials of conditions, with all trials of a class that `own` allow."""
        codes = _crossed(own)[0] if own else np.zeros(key.n_trials, np.int64)
        parts = self._lines(key)
        # What the other class does not have is a condition of its own.
        has_other = np.array([not whole[part].all() for part in parts])
        group = np.array([codes[part[0]] for part in parts])
        chosen = np.flatnonzero(has_other | ~np.isin(group, group[has_other])).tolist()
        wider = [np.union1d(parts[n], np.flatnonzero(whole & (codes == group[n]))) for n in chosen]
        return [self.names[n] for n in chosen], wider

    @classmethod
    def crossed(cls, key: Key, *names: str) -> Conditions:
        """Make a condition of each combination of values; columns divide both classes."""
        codes, combinations = _crossed([key.columns.factor(name, "conditions") for name in names])
        # Numbers of one or two bytes are sorted in linear time.
        order = np.argsort(codes.astype(np.min_scalar_type(len(combinations))), kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=len(combinations)))
        return cls._made(combinations, None, np.split(order, ends[:-1]), key.to_ndx())

    def __repr__(self) -> str:
        """Show names and weights."""
        shown = zip(self.names, self.weights.tolist(), strict=True)
        return f"Conditions: {check.list_some((f'{name} ({w:.4g})' for name, w in shown), 6)}"

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
        return self._made(self.names, weights, *attrs.astuple(self, recurse=False)[2:])

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

    def members(self, key: Key, scores: Scores | None = None) -> tuple[ConditionMembers, ...]:
        """Tell where the trials of each condition stand among the targets and non-targets.

        Parameters
        ----------
        key : Key
            Which trials are targets and which non-targets.
        scores : Scores, optional
            Scores of at least some of the key's trials; None counts all trials.

        Returns
        -------
        tuple of ConditionMembers
            One for each condition of positive weight, with positions in the vectors of all targets
            and all non-targets of the key, column by column; or in those that
            ``scores.get_tar_non(key)`` returns.

        Raises
        ------
        TrialMismatchError
            If a trial is in several conditions or in none, unless that is allowed, or a condition
            has no trial.

        Warns
        -----
        MissingTrialsWarning
            If conditions have trials of one class only.
        """
        members, notes = self.noted_members(scores, as_key(key))
        errors.warn(notes)
        return members

    def noted_members(
        self, scores: Scores | None, key: Key
    ) -> tuple[tuple[ConditionMembers, ...], list[errors.Note]]:
        """Return what `members` does, and in place of warnings notes."""
        lines = self._lines(key)
        counted = np.flatnonzero(self.weights > 0).tolist()
        parts = [lines[number] for number in counted]
        several = np.bincount(np.concatenate(parts), minlength=key.n_trials) > 1
        if self.overlap == "error" and several.any():
            shown = f"as do {describe_trials(key, several)}. Say overlap='allow' to count them"
            raise errors.TrialMismatchError(
                f"A trial must not be of several conditions, {shown} in each."
            )
        without = np.bincount(np.concatenate(lines), minlength=key.n_trials) == 0
        if self.uncovered == "error" and without.any():
            shown = f"to none belong {describe_trials(key, without)}. Say uncovered='ignore' to"
            raise errors.TrialMismatchError(
                f"Each trial must be of a condition; {shown} leave them out."
            )
        tar, non = (_among(chosen, parts) for chosen in _classes(scores, key))
        names = [self.names[number] for number in counted]
        # Conditions of weight 0 are dropped before, so that these may be empty.
        for name, part, *scored in zip(names, parts, tar, non, strict=True):
            if not any(map(np.size, scored)):
                lacks = "no trial with a score" if part.size else "no trial of the key"
                hint = "The weight 0 leaves a condition out."
                raise errors.TrialMismatchError(f"Condition {name!r} has {lacks}. {hint}")
        notes = [*self.notes, *_lacking(names, tar, non)]
        weights = self.weights[counted].tolist()
        shares = shares_of(weights, tar), shares_of(weights, non)
        return tuple(map(ConditionMembers, names, weights, tar, non, *shares)), notes

    def trial_weights(
        self, key: Key, scores: Scores | None = None
    ) -> tuple[FloatArray, FloatArray]:
        r"""Return the weight of each trial, van Leeuwen's :math:`\beta` (equation 12).

        Parameters
        ----------
        key, scores
            As for `members`. Conditions share their weight among trials with scores.

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
        members = self.members(key, scores)
        n_tar, n_non = map(np.count_nonzero, _classes(scores, key))
        tar = _spread(int(n_tar), [(part.tar, part.tar_weight) for part in members])
        return tar, _spread(int(n_non), [(part.non, part.non_weight) for part in members])

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
            raise errors.TrialMismatchError(f"Condition {name!r} has no trial of the key.")
        return key.take(lines)

    def _lines(self, key: Key) -> list[IntArray]:
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
    if not listed or any(str(name) != name for name in listed):
        got = check.list_some(listed) or "none"
        raise check.invalid("subsets", "name conditions with text", got)
    if repeated := check.repetitions(listed):
        hint = f"Values of factors must not hold {_SEPARATOR!r}."
        raise check.invalid("names", "be different", check.list_some(repeated), hint)
    return listed


def _as_subset(subset: ArrayLike | Ndx | Key, name: str) -> Ndx | Key | BoolArray:
    """Return the trials or the mask of one condition."""
    if isinstance(subset, Ndx | Key):
        return subset
    by_id = "Of a frame of models by segments take Ndx(frame.index, frame.columns, frame)."
    check.refuse_series(subset, name, by_id)
    return arrays.read_only(check.as_mask(subset, name))


def _mask_of(subset: Trials | AnyArray, key: Key) -> BoolArray:
    """Tell for each trial of the key whether it is in a subset."""
    # Objects with ids fit any key; a mask fits keys of its shape only.
    if isinstance(subset, Trials):
        return trials_within(subset, key)
    if subset.shape == (key.n_trials,):
        return subset
    check.check_shape(subset, key.shape, "subsets", "like the key, or a value for each trial")
    return np.asarray(subset[key.trial_positions()])


def _classes(scores: Scores | None, key: Key) -> tuple[BoolArray, BoolArray]:
    """Tell for each trial whether it is a target, and a non-target, with a score."""
    scored = None if scores is None else scored_trials(scores, key)
    tar, non = key.is_target, ~key.is_target
    return (tar, non) if scored is None else (tar & scored, non & scored)


def _undivided(key: Key, factors: Mapping[str, Factor]) -> tuple[list[str], list[str]]:
    """Return the columns that leave the targets whole, and those that do so with the others."""
    found: tuple[list[str], list[str]] = ([], [])
    for name, factor in factors.items():
        tar = np.bincount(factor.codes[key.is_target], minlength=factor.levels.size)
        sides = tar, factor.counts() - tar
        for free, own, other in zip(found, sides, sides[::-1], strict=True):
            if np.count_nonzero(own) == 1 and other[own == 0].any():
                free.append(name)
                break
    return found


def _among(chosen: BoolArray, parts: Sequence[IntArray]) -> list[IntArray]:
    """Return where the trials of each condition stand among those that are chosen."""
    place = np.cumsum(chosen) - 1
    return [mark_read_only(place[part[chosen[part]]]) for part in parts]


def _spread(size: int, parts: Sequence[tuple[IntArray, float]]) -> FloatArray:
    """Give each trial of a class its condition's share, divided among the condition's trials."""
    groups = np.repeat(np.arange(len(parts)), [places.size for places, _ in parts])
    shares = np.array([share for _, share in parts])
    own = masses(np.ones(groups.size), groups, shares)
    # A trial of several conditions has the sum.
    weights = np.bincount(np.concatenate([at for at, _ in parts]), own, minlength=size)
    # N of equation 12 counts the trials that are in some condition.
    return mark_read_only(weights * np.count_nonzero(weights))


def _crossed(factors: Sequence[Factor]) -> tuple[AnyArray, list[str]]:
    """Return the number of the combination of each trial, and the names of those that occur."""
    codes, names = np.zeros(len(factors[0]), np.int64), [""]
    for factor in factors:
        # Combinations that occur are not more than there are trials, so that products are int64.
        size = max(1, factor.levels.size)
        occurs, codes = _occurring(codes * size + factor.codes, len(names) * size)
        pairs = zip(*(side.tolist() for side in np.divmod(occurs, size)), strict=True)
        names = [f"{names[one]}{_SEPARATOR}{factor.levels[other]}" for one, other in pairs]
    return codes, [name.removeprefix(_SEPARATOR) for name in names]


def _occurring(codes: AnyArray, size: int) -> tuple[AnyArray, AnyArray]:
    """Return the numbers below `size` that occur, and the rank of each among them."""
    if size > max(_SMALL_TABLE, codes.size):
        return np.unique(codes, return_inverse=True)
    occurs = np.bincount(codes, minlength=size) > 0
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def _lacking(
    names: Sequence[str], tar: Sequence[IntArray], non: Sequence[IntArray]
) -> list[errors.Note]:
    """Note which conditions have trials of one class only."""
    clauses = []
    for parts, noun, rate in ((tar, "targets", "false-alarm"), (non, "non-targets", "miss")):
        if without := [name for name, part in zip(names, parts, strict=True) if not part.size]:
            text = (
                f"{len(without)} of {len(names)} conditions, without {noun}, count for the {rate}"
            )
            clauses.append(f"{text} rate only ({check.list_some(map(repr, without))})")
    if clauses and not any(one.size and other.size for one, other in zip(tar, non, strict=True)):
        clauses[-1] += ". Conditions with all targets in each, as for attacks, take overlap='allow'"
    return [errors.Note(errors.MissingTrialsWarning, "; ".join(clauses))] if clauses else []


# What functions take as `conditions`

ConditionsLike = Conditions | str | Sequence[str] | SubsetsLike | None


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
    conditions: ConditionsLike,
    tar_weights: ArrayLike | None,
    non_weights: ArrayLike | None,
    key: Key,
    *,
    scores: Scores | None = None,
) -> tuple[ArrayLike | None, ArrayLike | None]:
    """Return the weights of the trials, from conditions or as the caller gave them, not both."""
    given = as_conditions(conditions, key)
    if given is None:
        return tar_weights, non_weights
    if tar_weights is not None or non_weights is not None:
        raise check.invalid("weights", "be left out where there are `conditions`", "weights")
    classes = given.trial_weights(key, scores)
    for noun, weights in zip(_NOUNS, classes, strict=True):
        if weights.size and not weights.any():
            raise check.invalid("conditions", f"have {noun} in some condition", "none")
    return classes
