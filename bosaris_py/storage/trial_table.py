"""Lists of trials: their order, and the table of trials that a text file becomes.

A trial is one whole number, its code, made of the positions of its model and segment in the lists
of ids. Codes ascend in column-major order, so all work is sorting and comparing whole numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    FloatArray,
    Int32Array,
    IntArray,
    Positions,
    Readable,
    StrArray,
    by_constructor,
    mark_read_only,
    read_only,
)
from bosaris_py.errors import TrialMismatchError
from bosaris_py.storage.factors import Factor, as_positions

# So few runs of ascending codes are merged faster than sorted.
_FEW_RUNS = 64

_PIECE = 2**16


def trial_codes(models: Positions, segments: Positions, n_models: int) -> IntArray:
    """Return ``segments * n_models + models``: codes in column-major order."""
    codes = segments.astype(np.int64)
    codes *= n_models
    codes += models
    return codes


def ascends(codes: IntArray) -> bool:
    """Tell whether every code is larger than the one before."""
    return bool((codes[1:] > codes[:-1]).all())


def _are_in_order(models: Positions, segments: Positions, n_models: int) -> bool:
    """Tell whether the codes of a list of trials ascend, from pieces that stay in the cache."""
    starts = range(0, models.size, _PIECE)
    # Of a list that is not in order the first few tell it.
    pieces = (slice(100), *(slice(start, start + _PIECE + 1) for start in starts))
    return all(ascends(trial_codes(models[x], segments[x], n_models)) for x in pieces)


def sort_codes(codes: IntArray) -> tuple[npt.NDArray[np.intp], IntArray]:
    """Return the stable order that sorts codes, which are not negative, and the sorted codes."""
    # A code and its position mostly fit into one number together, and numpy sorts numbers much
    # faster than it finds their order; unless they are in a few runs, which it merges.
    n_bits = max(1, codes.size - 1).bit_length()
    n_runs = 1 + np.count_nonzero(codes[1:] < codes[:-1])
    if n_runs <= _FEW_RUNS or int(codes.max(initial=0)) >> (63 - n_bits):
        order = np.argsort(codes, kind="stable")
        return order, codes[order]
    packed = codes << n_bits
    packed |= np.arange(codes.size)
    packed.sort()
    return packed & ((1 << n_bits) - 1), packed >> n_bits


def disagree(first: AnyArray, second: AnyArray) -> npt.NDArray[np.bool_]:
    """Tell where two arrays differ. NaN agrees with NaN."""
    differs: npt.NDArray[np.bool_] = first != second
    if first.dtype.kind == "f":
        differs &= ~(np.isnan(first) & np.isnan(second))
    return differs


@attrs.frozen(eq=False)
class TrialOrder:
    """How a list of trials is brought into column-major order, each trial once.

    `order` has the first line of each trial, in the new order; None if the list is in order.
    `repeated` are the lines that list a trial again, `first` the line that lists it first.
    """

    order: npt.NDArray[np.intp] | None
    repeated: npt.NDArray[np.intp]
    first: npt.NDArray[np.intp]

    def conflicts(self, contents: AnyArray) -> npt.NDArray[np.bool_]:
        """Tell for each repeated line whether its content differs from that of the first."""
        return disagree(contents[self.first], contents[self.repeated])


def order_trials(models: Positions, segments: Positions, n_models: int) -> TrialOrder:
    """Find the column-major order of a list of trials, and the lines that repeat one.

    One pass if the list is in order already; otherwise one sort of whole numbers.
    """
    none = np.empty(0, dtype=np.intp)
    if _are_in_order(models, segments, n_models):
        return TrialOrder(None, none, none)
    order, codes = sort_codes(trial_codes(models, segments, n_models))
    is_new = np.ones(codes.size, dtype=np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=is_new[1:])
    if is_new.all():
        return TrialOrder(order, none, none)
    again = np.flatnonzero(~is_new)
    first = order[is_new]
    # Of the distinct trials before a repeated line, the last is the same as it.
    which = np.searchsorted(np.flatnonzero(is_new), again) - 1
    return TrialOrder(first, order[again], first[which])


ExtraColumn = Factor | FloatArray


@attrs.frozen(init=False, eq=False, repr=False)
class TrialTable(metaclass=Readable):
    """The trials of a text file in the order of its lines.

    Nothing is sorted out yet: lines that are repeated are all there, and scores may be missing. A
    table becomes a `Key` or `Scores`, or their flat forms, by `from_table`.

    Parameters
    ----------
    modelset : (m,) array_like of str
        Ids of the models, each once.
    models : (k,) array_like of int
        The model of each line, as a position in `modelset`.
    segset : (n,) array_like of str
        Ids of the test segments, each once.
    segments : (k,) array_like of int
        The test segment of each line, as a position in `segset`.
    is_target : (k,) array_like of bool, optional
        True for target trials; None if the file has no labels.
    scores : (k,) array_like of float, optional
        The scores, NaN where a line has none; None if the file has no scores.
    columns : mapping of str to Factor or (k,) array_like of float, optional
        The other columns of the file by name.

    Examples
    --------
    >>> from bosaris_py import TrialTable
    >>> table = TrialTable.from_trials(["anna", "bert"], ["s1", "s1"], is_target=[True, False])
    >>> table
    TrialTable: 2 lines, 2 models x 1 segments, 1 targets, 1 non-targets
    >>> table.take([1]).model_ids()
    array(['bert'], dtype='<U4')
    """

    modelset: StrArray
    models: Int32Array
    segset: StrArray
    segments: Int32Array
    is_target: BoolArray | None
    scores: FloatArray | None
    columns: Mapping[str, ExtraColumn]

    def __init__(
        self,
        modelset: npt.ArrayLike | Sequence[str],
        models: npt.ArrayLike,
        segset: npt.ArrayLike | Sequence[str],
        segments: npt.ArrayLike,
        is_target: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        columns: Mapping[str, Factor | npt.ArrayLike] | None = None,
    ) -> None:
        model_ids = _as_unique_ids(modelset, "modelset")
        segment_ids = _as_unique_ids(segset, "segset")
        hint = "TrialTable.from_trials takes ids."
        rows = as_positions(models, "modelset", model_ids.size, "models", np.int32, hint)
        cols = as_positions(segments, "segset", segment_ids.size, "segments", np.int32, hint)
        sized: dict[str, Any] = {"segments": cols}
        if is_target is not None:
            is_target = sized["is_target"] = read_only(check.as_mask(is_target, "is_target"))
        if scores is not None:
            scores = sized["scores"] = read_only(check.as_vector(scores, "scores"))
        extra: dict[str, ExtraColumn] = {}
        for name, values in ({} if columns is None else columns).items():
            at = f"columns[{name!r}]"
            if not isinstance(values, Factor) and np.asarray(values).dtype.kind in "USOT":
                column = "df[name].to_numpy()" if check.is_column(values) else "texts"
                hint = f"Make a Factor of texts: Factor.from_values({column})."
                raise check.invalid(
                    at, "hold real numbers or be a Factor", check.describe(values), hint
                )
            extra[name] = (
                values if isinstance(values, Factor) else read_only(check.as_vector(values, at))
            )
            sized[at] = extra[name]
        for argument, column in sized.items():
            if len(column) != rows.size:
                raise check.invalid(
                    argument, f"have {rows.size} items like `models`", str(len(column))
                )
        self.__attrs_init__(model_ids, rows, segment_ids, cols, is_target, scores, extra)

    __reduce__ = by_constructor
    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_trials(
        cls,
        models: npt.ArrayLike | Sequence[str],
        segments: npt.ArrayLike | Sequence[str],
        *,
        is_target: npt.ArrayLike | None = None,
        scores: npt.ArrayLike | None = None,
        columns: Mapping[str, Factor | npt.ArrayLike] | None = None,
    ) -> "TrialTable":
        """Build a table from one model and one segment per line.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            Model and test segment of each line.
        is_target, scores, columns : optional
            As for the class.

        Returns
        -------
        TrialTable
            With sorted lists of ids.
        """
        named = {"models": models, "segments": segments, "is_target": is_target, "scores": scores}
        extra = {f"columns[{name!r}]": values for name, values in (columns or {}).items()}
        check.check_same_rows({**named, **extra})
        left = Factor.from_values(check.as_ids(models, "models"))
        right = Factor.from_values(check.as_ids(segments, "segments"))
        return cls(left.levels, left.codes, right.levels, right.codes, is_target, scores, columns)

    def __len__(self) -> int:
        """Return the number of lines."""
        return int(self.models.size)

    def __repr__(self) -> str:
        """Return the counts in one line."""
        text = f"TrialTable: {len(self)} lines, {self.modelset.size} models x "
        text += f"{self.segset.size} segments"
        if self.is_target is not None:
            n_tar = int(np.count_nonzero(self.is_target))
            text += f", {n_tar} targets, {len(self) - n_tar} non-targets"
        if self.scores is not None:
            text += f", {np.count_nonzero(~np.isnan(self.scores))} scores"
        if self.columns:
            text += f", columns {', '.join(self.columns)}"
        return text

    def __eq__(self, other: object) -> bool:
        """Compare the lines of both; a missing score equals a missing score."""
        if not isinstance(other, TrialTable):
            return NotImplemented
        return (
            list(self.columns) == list(other.columns)
            and all(equal_columns(self.columns[name], other.columns[name]) for name in self.columns)
            and equal_columns(self.is_target, other.is_target)
            and equal_columns(self.scores, other.scores)
            and Factor(self.models, self.modelset) == Factor(other.models, other.modelset)
            and Factor(self.segments, self.segset) == Factor(other.segments, other.segset)
        )

    def model_ids(self) -> StrArray:
        """Return the id of the model of each line.

        Returns
        -------
        (k,) array of str
            Read-only.
        """
        return mark_read_only(self.modelset[self.models])

    def segment_ids(self) -> StrArray:
        """Return the id of the test segment of each line.

        Returns
        -------
        (k,) array of str
            Read-only.
        """
        return mark_read_only(self.segset[self.segments])

    def factor(self, name: str) -> Factor:
        """Return a column of text.

        Parameters
        ----------
        name : str
            One of `columns` that does not hold numbers.

        Returns
        -------
        Factor

        Raises
        ------
        InvalidInputError
            If there is no such column, or it holds numbers.

        Examples
        --------
        >>> import bosaris_py as bp
        >>> bp.load_example("asvspoof2019_la").dev.trials.factor("attack").levels.tolist()[:3]
        ['A01', 'A02', 'A03']
        """
        column = self.columns.get(name)
        if isinstance(column, Factor):
            return column
        known = [other for other, held in self.columns.items() if isinstance(held, Factor)]
        expected = f"name a column of text ({check.list_some(map(repr, known)) or 'there is none'})"
        found = check.describe(name) if column is None else f"numbers in {name!r}"
        raise check.invalid("name", expected, found, check.nearest(name, known))

    def take(self, lines: npt.ArrayLike) -> "TrialTable":
        """Return a table of other lines.

        Parameters
        ----------
        lines : (j,) array_like of int, or (k,) array_like of bool
            Which lines, in any order and more than once.

        Returns
        -------
        TrialTable
            Ids that occur no more are left out.
        """
        chosen = np.asarray(lines)
        if chosen.dtype != np.bool_:
            chosen = chosen.astype(np.intp)

        def taken(column: Any) -> Any:
            if column is None or isinstance(column, Factor):
                return None if column is None else column.take(chosen)
            return mark_read_only(column[chosen])

        modelset, models = _used(self.modelset, self.models[chosen])
        segset, segments = _used(self.segset, self.segments[chosen])
        columns = {name: taken(column) for name, column in self.columns.items()}
        return TrialTable(
            modelset, models, segset, segments, taken(self.is_target), taken(self.scores), columns
        )

    def get_tar_non(self) -> tuple[FloatArray, FloatArray]:
        """Return the scores of targets and of non-targets, in the order of the lines.

        Returns
        -------
        tar, non : ndarray of float
            Lines without a score are left out.
        """
        if self.is_target is None or self.scores is None:
            found = "no labels" if self.is_target is None else "no scores"
            raise check.invalid("self", "have labels and scores", f"a table with {found}")
        has_score = ~np.isnan(self.scores)
        tar = self.scores[self.is_target & has_score]
        return mark_read_only(tar), mark_read_only(self.scores[~self.is_target & has_score])

    def in_order_of(self, trials: "TrialTable") -> "TrialTable":
        """Return the scores of this table for the trials of another, in its order.

        Parameters
        ----------
        trials : TrialTable
            A list of trials, such as the one that an evaluation handed out.

        Returns
        -------
        TrialTable
            Ids and columns of the list with the scores of this table.

        Raises
        ------
        TrialMismatchError
            If this table lacks some of the trials.
        """
        if self.scores is None:
            raise check.invalid("self", "have scores", "a table without scores")
        order = order_trials(self.models, self.segments, self.modelset.size)
        bad = order.conflicts(self.scores)
        if bad.any():
            shown = check.list_some(map(self._name, order.repeated[bad][:6].tolist()))
            found = f"{np.count_nonzero(bad)} repeated trials with another score: {shown}"
            raise check.invalid("self", "have one score for each trial", found)
        lines = slice(None) if order.order is None else order.order
        width = self.modelset.size
        mine = trial_codes(self.models[lines], self.segments[lines], width)
        rows = _find(self.modelset, trials.modelset)[trials.models]
        cols = _find(self.segset, trials.segset)[trials.segments]
        positions = _find(mine, trial_codes(rows, cols, width))
        absent = (rows < 0) | (cols < 0) | (positions < 0)
        if absent.any():
            shown = check.list_some(map(trials._name, np.flatnonzero(absent)[:6].tolist()))
            count = f"{np.count_nonzero(absent)} of {len(trials)}"
            raise TrialMismatchError(f"{count} trials have no score: {shown}.")
        scores = self.scores[lines][positions]
        return attrs.evolve(trials, scores=mark_read_only(scores), is_target=None)

    def _name(self, line: int) -> str:
        """Return the ids of a line, for messages."""
        return f"({self.modelset[self.models[line]]}, {self.segset[self.segments[line]]})"


def _as_unique_ids(values: npt.ArrayLike | Sequence[str], name: str) -> StrArray:
    """Return a list of ids, each once."""
    ids = check.as_ids(values, name)
    if not bool((ids[:-1] < ids[1:]).all()):
        check.check_unique(ids, name)
    return ids


def equal_columns(first: Factor | AnyArray | None, second: Factor | AnyArray | None) -> bool:
    """Compare two columns, of which either may be absent."""
    if first is None or second is None:
        return first is second
    if isinstance(first, Factor) or isinstance(second, Factor):
        return bool(first == second) if type(first) is type(second) else False
    return np.array_equal(first, second, equal_nan=first.dtype.kind == "f")


def _used(ids: StrArray, positions: Int32Array) -> tuple[StrArray, Int32Array]:
    """Leave out the ids at which no position points."""
    is_used = np.zeros(ids.size, dtype=np.bool_)
    is_used[positions] = True
    if is_used.all():
        return ids, mark_read_only(positions)
    new = np.cumsum(is_used, dtype=np.int32) - np.int32(1)
    return mark_read_only(ids[is_used]), mark_read_only(new[positions])


def _find(listed: AnyArray, wanted: AnyArray) -> IntArray:
    """Return the position of each wanted id or code, -1 if it is not there."""
    if listed.size == 0:
        return np.full(wanted.size, -1, dtype=np.int64)
    order = np.argsort(listed, kind="stable")
    ranks = np.searchsorted(listed, wanted, sorter=order)
    found = order[np.minimum(ranks, listed.size - 1)].astype(np.int64)
    found[listed[found] != wanted] = -1
    return found
