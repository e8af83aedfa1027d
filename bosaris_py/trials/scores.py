"""Scores of trials: Scores as a matrix, FlatScores as a list.

What methods of `Scores` and `FlatScores` have in common where at least one of the two
sides is a list. Each class says where the trials stand in it; the rest is the same.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from numbers import Real
from typing import ClassVar, Self, overload

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from bosaris_py._arrays import BoolArray, FloatArray, Positions, StrArray, mark_read_only
from bosaris_py._validation import as_ids, as_vector, check_shape, describe, invalid
from bosaris_py.errors import TrialMismatchError
from bosaris_py.storage import text
from bosaris_py.storage.formats import TrialTable
from bosaris_py.storage.trial_table import TrialOrder
from bosaris_py.trials.alignment import (
    Frame,
    blocks,
    extract,
    extract_by_rows,
    insert,
    match_trials,
    position_type,
    true_positions,
)
from bosaris_py.trials.base import (
    MAX_CELLS,
    FlatTrials,
    IdUnion,
    TrialMatrix,
    check_cell_count,
    check_same_class,
    columns_from_trials,
    gather,
    merge_columns,
    name_listed,
    name_trials,
    order_columns,
    scatter,
)
from bosaris_py.trials.files import NumberFileMethods, Storage
from bosaris_py.trials.ids import (
    IdList,
    check_cells,
    check_models,
    check_segments,
    code_ids,
    to_mask_or_all,
    to_matrix,
)
from bosaris_py.trials.key import (
    AnyKey,
    AnyNdx,
    FlatKey,
    Key,
    check_key,
    check_trials,
    warn_missing,
    warn_missing_counts,
    warn_missing_listed,
)
from bosaris_py.trials.ndx import FlatNdx, Ndx


@frozen(eq=False)
class ListedScores:
    """The scores that an object has of the trials of an Ndx or a Key.

    Parameters
    ----------
    ndx : Ndx, Key, FlatNdx or FlatKey
        The trials that are wanted.
    frame : Frame
        Where its models and segments lie in the object with the scores.
    values : (n_found,) array of float
        The scores, column by column of `ndx`.
    found : (n_trials,) array of bool or None
        Which trials have a score. None: all.
    """

    ndx: AnyNdx
    frame: Frame
    values: FloatArray
    found: BoolArray | None

    @property
    def n_missing(self) -> int:
        """Number of trials without a score."""
        return self.ndx.n_trials - int(self.values.size)

    def refuse_nan(self, name: str) -> None:
        """Raise with the count and the first of the trials whose score is NaN."""
        # In blocks, to need no mask as long as the scores.
        if any(np.isnan(self.values[part]).any() for part in blocks(self.values.size, 1)):
            models, segments = self.positions()
            bad = np.isnan(self.values)
            trials = name_listed(models[bad], segments[bad], self.ndx.modelset, self.ndx.segset)
            raise invalid(name, "not hold NaN where there is a trial", f"NaN for {trials}")

    def warn(self) -> None:
        """Warn of models, segments and trials that are missing."""
        n_models, n_segments = self.frame.n_rows_found, self.frame.n_cols_found
        warn_missing_listed(self.ndx, n_models, n_segments, self.found)

    def positions(self) -> tuple[Positions, Positions]:
        """Return the positions in `ndx` of the trials that have scores."""
        models, segments = self.ndx.trial_positions()
        if self.found is None:
            return models, segments
        return mark_read_only(models[self.found]), mark_read_only(segments[self.found])

    def split(self, key: AnyKey) -> tuple[FloatArray, FloatArray]:
        """Return target and non-target scores; `key` is the `ndx` of this object."""
        labels = key.trial_labels()
        if self.found is not None:
            labels = labels[self.found]
        return self.values[labels], self.values[~labels]

    def filled(self, value: float) -> FloatArray:
        """Return a score for every trial: `value` for those that have none."""
        if self.found is None:
            return self.values
        # float32 unless the value is too large for it.
        dtype = np.result_type(self.values, np.min_scalar_type(value))
        filled = np.full(self.found.size, value, dtype=dtype)
        filled[self.found] = self.values
        return mark_read_only(filled)


def as_number(value: object, name: str) -> float:
    """Return `value` as a float; raise if it is none, or NaN."""
    if not isinstance(value, Real) or np.isnan(float(value)):
        raise invalid(name, "be a number", describe(value))
    return float(value)


def transformed(func: Callable[[FloatArray], npt.ArrayLike], before: FloatArray) -> FloatArray:
    """Return what a function makes of scores; refuse another number of them, and NaN."""
    after = as_vector(func(before), "func")
    if after.size != before.size:
        expected = f"return one score for each of the {before.size} that it is given"
        raise invalid("func", expected, f"{after.size}")
    if np.isnan(after).any():
        count = np.count_nonzero(np.isnan(after))
        found = f"NaN for {count} of {after.size} scores"
        raise invalid("func", "not return NaN", found)
    return after


@frozen(init=False, eq=False, repr=False)
class Scores(TrialMatrix, NumberFileMethods):
    """Scores of a detector: one row per model, one column per test segment.

    Parameters
    ----------
    scoremat : (m, n) array_like of float
        The scores; larger means more like a target. float32 stays float32, any
        other real type becomes float64.
    modelset : (m,) array_like of str
        Ids of the models, each once.
    segset : (n,) array_like of str
        Ids of the test segments, each once.
    scoremask : (m, n) array_like of bool, optional
        True where `scoremat` holds a score; by default everywhere. What lies
        under a false mask is not content: it is ignored by every method and by
        comparisons.

    Raises
    ------
    InvalidInputError
        If an id occurs twice, the mask is not boolean, or a shape is wrong.

    See Also
    --------
    Key : The answers that scores are judged by.
    FlatScores : The same as a list, for trials too sparse for a matrix.

    Notes
    -----
    The matrix comes first, as in the toolkit. The object and its arrays are
    read-only; methods return new objects. Arrays that others could write to are
    copied on construction.

    Wherever trials become a vector they come column by column: the model index
    runs fastest.

    Scores may be infinite, which is legal for every metric that counts or ranks;
    the toolkit refuses infinite scores of trials. NaN is accepted outside the
    trials only, as in the toolkit.

    Examples
    --------
    >>> from bosaris_py.trials import Scores
    >>> scores = Scores([[1.5, -2.0], [0.5, 3.0]], ["anna", "bert"], ["s1", "s2"])
    >>> scores
    Scores: 2 models x 2 segments, 4 scores
    """

    scoremat: FloatArray = field(validator=check_cells)
    modelset: StrArray = field(validator=check_models)
    segset: StrArray = field(validator=check_segments)
    scoremask: BoolArray = field(validator=check_cells)

    _matrices: ClassVar[tuple[str, ...]] = ("scoremat", "scoremask")
    _storage: ClassVar[Storage] = Storage("scores", text.read_scores, text.write_scores)

    def __init__(
        self,
        scoremat: npt.ArrayLike,
        modelset: IdList,
        segset: IdList,
        scoremask: npt.ArrayLike | None = None,
    ) -> None:
        models = as_ids(modelset, "modelset")
        segments = as_ids(segset, "segset")
        shape = (models.size, segments.size)
        self.__attrs_init__(
            to_matrix(scoremat, "scoremat"),
            models,
            segments,
            to_mask_or_all(scoremask, shape, "scoremask"),
        )

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList, scores: npt.ArrayLike) -> Self:
        """Build a score matrix from a list of scored trials.

        Parameters
        ----------
        models : (k,) array_like of str
            Model of each trial.
        segments : (k,) array_like of str
            Test segment of each trial.
        scores : (k,) array_like of float
            Score of each trial.

        Returns
        -------
        Scores
            Models and segments are sorted, as after reading a text file. A trial
            that is listed twice with the same score counts once.

        Raises
        ------
        InvalidInputError
            If the lists differ in length, or a trial is listed with two
            different scores.

        Examples
        --------
        >>> from bosaris_py.trials import Scores
        >>> scores = Scores.from_trials(["bert", "anna"], ["s1", "s2"], [1.5, -2.0])
        >>> scores.scoremask.tolist()
        [[False, True], [True, False]]
        """
        modelset, rows = code_ids(models, "models")
        segset, cols = code_ids(segments, "segments")
        values = as_vector(scores, "scores")
        check_shape(cols, rows.shape, "segments", "like `models`")
        check_shape(values, rows.shape, "scores", "like `models`")
        matrix = np.zeros((modelset.size, segset.size), dtype=values.dtype)
        mask = np.zeros(matrix.shape, dtype=np.bool_)
        matrix[rows, cols] = values
        mask[rows, cols] = True
        # Of several scores the last one is in the matrix now; others differ from it.
        stored = matrix[rows, cols]
        differs = (stored != values) & ~(np.isnan(stored) & np.isnan(values))
        if differs.any():
            clash = np.zeros_like(mask)
            clash[rows[differs], cols[differs]] = True
            found = f"different scores for {name_trials(clash, modelset, segset)}"
            raise invalid("scores", "be the same for a trial listed twice", found)
        return cls(mark_read_only(matrix), modelset, segset, mark_read_only(mask))

    @classmethod
    def from_table(cls, table: TrialTable, *, max_cells: int = 10**8) -> Self:
        """Build Scores from the lines of a text file.

        Parameters
        ----------
        table : TrialTable
            The lines.
        max_cells : int, default: 10**8
            The largest number of models times segments that is wanted.

        Returns
        -------
        Scores
            As `FlatScores.from_table`, as a matrix.

        Raises
        ------
        InvalidInputError
            If the table has no scores, a trial has two different ones, or the matrix would
            have more cells.

        Warns
        -----
        DuplicateTrialWarning
            As `FlatScores.from_table`.
        """
        # The flat form is built on this module.

        dense = FlatScores.from_table(table).to_dense(max_cells=max_cells)
        return cls(**dense._arrays())

    @cached_property
    def n_scores(self) -> int:
        """Number of scores: of cells where the mask is true."""
        return int(np.count_nonzero(self.scoremask))

    @property
    def _present(self) -> BoolArray | None:
        """The mask, or None if it is true everywhere and nothing needs to look at it."""
        return None if self.n_scores == self.scoremask.size else self.scoremask

    def _counts(self) -> str:
        return f"{self.n_scores} scores"

    def __eq__(self, other: object) -> bool:
        """Compare ids, mask and the values where the mask is true."""
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Scores)
        if not (
            np.array_equal(self.modelset, other.modelset)
            and np.array_equal(self.segset, other.segset)
            and np.array_equal(self.scoremask, other.scoremask)
        ):
            return False
        if self.scoremat is other.scoremat:
            return True
        for block in blocks(*self._shape):
            mine, theirs = self.scoremat[block], other.scoremat[block]
            differs = (mine != theirs) & self.scoremask[block]
            if differs.any() and not (
                np.isnan(mine[differs]).all() and np.isnan(theirs[differs]).all()
            ):
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    @overload
    def align_with_ndx(self, ndx: Ndx | Key) -> Self: ...
    @overload
    def align_with_ndx(self, ndx: FlatNdx | FlatKey) -> "FlatScores": ...

    def align_with_ndx(self, ndx: AnyNdx) -> "Self | FlatScores":
        """Bring the scores into the order of an Ndx or a Key and keep its trials only.

        Parameters
        ----------
        ndx : Ndx, Key, FlatNdx or FlatKey
            The trials that are wanted.

        Returns
        -------
        Scores or FlatScores
            With exactly the models and segments of `ndx`, in its order; rows and
            columns without scores are 0 under a false mask. The mask is true
            where `ndx` has a trial and this object a score. For a FlatNdx or FlatKey
            a list of those trials.

        Raises
        ------
        InvalidInputError
            If the score of a trial is NaN; says how many and which.

        Warns
        -----
        MissingTrialsWarning
            If models, segments or trials of `ndx` have no scores, with counts.

        Notes
        -----
        O(size of the matrix) time. float32 scores stay float32; the toolkit
        converts them to double precision. Infinite scores pass; the toolkit
        refuses them.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx, Scores
        >>> scores = Scores([[1.0, 2.0]], ["anna"], ["s1", "s2"])
        >>> scores.align_with_ndx(Ndx(["anna"], ["s2"])).scoremat.tolist()
        [[2.0]]
        """
        check_trials(ndx)
        if isinstance(ndx, FlatTrials):
            listed = self._listed(ndx)
            listed.warn()
            return _as_flat(listed)
        frame = self._frame_for(ndx)
        trials = ndx._trials()
        valid = frame.take_valid(self._present)
        mask = trials if valid is None else trials & valid
        values = frame.take(self.scoremat)
        for block in blocks(*frame.shape):
            bad = np.isnan(values[block])
            if bad.any() and (bad & mask[block]).any():
                self._refuse_nan(frame, ndx)
        warn_missing(ndx, frame.n_rows_found, frame.n_cols_found, mask)
        return type(self)(values, ndx.modelset, ndx.segset, mark_read_only(mask))

    def get_tar_non(self, key: AnyKey, *, any_order: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return the target scores and the non-target scores.

        Parameters
        ----------
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        any_order : bool, optional
            Return the scores in whatever order is fastest, for statistics that
            do not depend on it; else column by column of the key.

        Returns
        -------
        tar : (n_tar,) array of float
            Scores of the target trials, float32 or float64 as in `scoremat`.
        non : (n_non,) array of float
            Scores of the non-target trials.

        Raises
        ------
        InvalidInputError
            If the score of a trial is NaN; says how many and which.

        Warns
        -----
        MissingTrialsWarning
            If trials of the key have no scores, with counts; they are left out.

        Examples
        --------
        >>> from bosaris_py.trials import Key, Scores
        >>> scores = Scores([[1.5, -2.0], [0.5, 3.0]], ["anna", "bert"], ["s1", "s2"])
        >>> key = Key(["anna", "bert"], ["s1", "s2"],
        ...           tar=[[True, False], [False, True]],
        ...           non=[[False, True], [True, False]])
        >>> tar, non = scores.get_tar_non(key)
        >>> tar.tolist(), non.tolist()
        ([1.5, 3.0], [0.5, -2.0])
        """
        check_key(key)
        if isinstance(key, FlatTrials):
            listed = self._listed(key)
            listed.warn()
            return listed.split(key)
        frame = self._frame_for(key)
        tar, non = self._vectors(frame, (key.tar, key.non), key, any_order=any_order)
        warn_missing_counts(key, frame.n_rows_found, frame.n_cols_found, (tar.size, non.size))
        return tar, non

    def get_scores(self, ndx: AnyNdx) -> FloatArray:
        """Return the scores of the trials of an Ndx or a Key, column by column.

        Parameters
        ----------
        ndx : Ndx, Key, FlatNdx or FlatKey
            The trials that are wanted.

        Returns
        -------
        (k,) array of float
            The scores that exist, in column-major order of `ndx`.

        Raises
        ------
        InvalidInputError
            If the score of a trial is NaN; says how many and which.

        Warns
        -----
        MissingTrialsWarning
            If trials of `ndx` have no scores, with counts; they are left out.
        """
        check_trials(ndx)
        if isinstance(ndx, FlatTrials):
            listed = self._listed(ndx)
            if listed.n_missing:
                listed.warn()
            return listed.values
        frame = self._frame_for(ndx)
        trials = ndx._trials()
        (vector,) = self._vectors(frame, (trials,), ndx)
        if vector.size < ndx.n_trials:
            valid = frame.take_valid(self._present)
            mask = trials if valid is None else trials & valid
            warn_missing(ndx, frame.n_rows_found, frame.n_cols_found, mask)
        return vector

    @overload
    def set_missing_to_value(self, ndx: Ndx | Key, value: float) -> Self: ...
    @overload
    def set_missing_to_value(self, ndx: FlatNdx | FlatKey, value: float) -> "FlatScores": ...

    def set_missing_to_value(self, ndx: AnyNdx, value: float) -> "Self | FlatScores":
        """Align with an Ndx or a Key and give all trials without score one value.

        Parameters
        ----------
        ndx : Ndx, Key, FlatNdx or FlatKey
            The trials that are wanted.
        value : float
            The score for trials that have none. For log-likelihood-ratios 0
            says "no evidence"; it says something else for uncalibrated scores.

        Returns
        -------
        Scores or FlatScores
            In the form of `ndx`, with its models and segments and a score for every trial.

        Raises
        ------
        InvalidInputError
            If `value` or the score of a trial is NaN.

        Warns
        -----
        MissingTrialsWarning
            If trials have been filled, with counts.
        """
        check_trials(ndx)
        fill = as_number(value, "value")
        trials = ndx.to_ndx() if isinstance(ndx, AnyKey) else ndx
        if isinstance(trials, FlatTrials):
            listed = self._listed(trials)
            listed.warn()
            return _as_flat(ListedScores(trials, listed.frame, listed.filled(fill), None))
        aligned = self.align_with_ndx(trials)
        missing = trials.trialmask & ~aligned.scoremask
        if not missing.any():
            return aligned
        # float32 unless the value is too large for it.
        dtype = np.result_type(aligned.scoremat, np.min_scalar_type(fill))
        matrix = aligned.scoremat.astype(dtype)
        matrix[missing] = fill
        return type(self)(mark_read_only(matrix), trials.modelset, trials.segset, trials.trialmask)

    def transform(self, func: Callable[[FloatArray], npt.ArrayLike]) -> Self:
        """Apply a function to all scores, for instance a calibration.

        Parameters
        ----------
        func : callable
            Takes the scores as a vector, column by column, and returns as many
            numbers.

        Returns
        -------
        Scores
            With the new scores under the same mask. The matrix is float32 only
            if it was and `func` returns float32.

        Raises
        ------
        InvalidInputError
            If `func` returns another number of scores, or NaN.

        Examples
        --------
        >>> from bosaris_py.trials import Scores
        >>> scores = Scores([[1.0, 2.0]], ["anna"], ["s1", "s2"])
        >>> scores.transform(lambda s: 2 * s + 1).scoremat.tolist()
        [[3.0, 5.0]]
        """
        frame = Frame(None, None, self._shape)
        (before,) = extract(frame, self.scoremat, None, (self.scoremask,))
        after = transformed(func, before)
        matrix = self.scoremat.astype(np.result_type(self.scoremat, after))
        insert(matrix, self.scoremask, after)
        return type(self)(mark_read_only(matrix), self.modelset, self.segset, self.scoremask)

    def to_flat(self) -> "FlatScores":
        """Return the scores as a list.

        Returns
        -------
        FlatScores
            Models and segments in the same order.
        """
        # The flat form is built on this module.

        trials = true_positions(self.scoremask)
        (values,) = extract(Frame(None, None, self._shape), self.scoremat, None, (self.scoremask,))
        return FlatScores(mark_read_only(values), self.modelset, self.segset, *trials)

    def merge(self, *others: "Scores") -> "Scores":
        """Unite the scores of several objects, for instance of the parts of a split job.

        Parameters
        ----------
        *others : Scores
            Objects to be merged with this one. ``Scores.merge(a, b, c)`` and
            ``a.merge(b, c)`` mean the same.

        Returns
        -------
        Scores
            The scores of all objects; models and segments are sorted. float32
            only if all of them are.

        Raises
        ------
        InvalidInputError
            If one of the objects is not a Scores.
        TrialMismatchError
            If two objects have a score for the same trial.

        Notes
        -----
        The toolkit adds the matrices, so that what lies under a false mask of one
        object corrupts a score of another; here only scores are copied.
        """
        objects = (self, *others)
        check_same_class(Scores, objects)
        union = IdUnion.of(objects)
        matrix = np.zeros(union.shape, dtype=np.result_type(*(s.scoremat for s in objects)))
        mask = np.zeros(union.shape, dtype=np.bool_)
        clash = np.zeros(union.shape, dtype=np.bool_)
        for item in objects:
            frame, parts = union.place(item)
            for block, cells in parts:
                before, added = mask[cells], frame.take(item.scoremask, block)
                if (before & added).any():
                    clash[cells] |= before & added
                matrix[cells] = np.where(added, frame.take(item.scoremat, block), matrix[cells])
                mask[cells] = before | added
        if clash.any():
            trials = name_trials(clash, union.models.ids, union.segments.ids)
            message = f"The scores to be merged hold two scores for {trials}."
            raise TrialMismatchError(message)
        return Scores(
            mark_read_only(matrix), union.models.ids, union.segments.ids, mark_read_only(mask)
        )

    def _places(self, ndx: AnyNdx) -> "tuple[Frame, Positions, Positions, BoolArray | None]":
        """Tell where the trials of an Ndx or a Key lie, and which of them have a score.

        Returns
        -------
        frame : Frame
            Where its models and segments lie.
        rows, cols : (n_found,) arrays of int
            Cells of the trials with a score, column by column of `ndx`.
        found : (n_trials,) array of bool or None
            Which trials have one; None says all.
        """
        frame = self._frame_for(ndx)
        rows, cols = ndx.trial_positions()
        if frame.rows is not None:
            rows = frame.rows[rows]
        if frame.cols is not None:
            cols = frame.cols[cols]
        if frame.is_complete and self._present is None:
            return frame, rows, cols, None
        found = np.asarray((rows >= 0) & (cols >= 0))
        if self._present is not None and found.any():
            # Position -1 reads some cell, which the comparison above has excluded.
            (scored,) = gather((self.scoremask,), rows, cols)
            found &= scored
        if found.all():
            return frame, rows, cols, None
        return frame, rows[found], cols[found], found

    def _scored(self, ndx: AnyNdx) -> BoolArray | None:
        """Tell which trials of an Ndx or a Key have a score; None says all."""
        return self._places(ndx)[-1]

    def _listed(self, ndx: AnyNdx) -> ListedScores:
        """Return the scores of the trials of an Ndx or a Key as a vector; refuse NaN."""
        frame, rows, cols, found = self._places(ndx)
        (values,) = gather((self.scoremat,), rows, cols)
        listed = ListedScores(ndx, frame, mark_read_only(values), found)
        listed.refuse_nan("scoremat")
        return listed

    def _vectors(
        self, frame: Frame, masks: Sequence[BoolArray], ndx: Ndx | Key, *, any_order: bool = False
    ) -> list[FloatArray]:
        """Return the scores under each mask, which has the order of `ndx`; refuse NaN."""
        take = extract_by_rows if any_order else extract
        vectors = take(frame, self.scoremat, self._present, masks)
        for vector in vectors:
            # In blocks, to need no mask as long as the scores.
            if any(np.isnan(vector[block]).any() for block in blocks(vector.size, 1)):
                self._refuse_nan(frame, ndx)
        return vectors

    def _refuse_nan(self, frame: Frame, ndx: Ndx | Key) -> None:
        """Raise with the count and the first of the trials whose score is NaN."""
        trials = ndx._trials()
        valid = frame.take_valid(self._present)
        bad = np.isnan(frame.take(self.scoremat)) & trials
        if valid is not None:
            bad &= valid
        found = f"NaN for {name_trials(bad, ndx.modelset, ndx.segset)}"
        raise invalid("scoremat", "not hold NaN where there is a trial", found)


def _as_flat(listed: ListedScores) -> "FlatScores":
    """Make an object of scores of trials that are a list."""
    # The flat form is built on this module.

    ndx = listed.ndx
    return FlatScores(listed.values, ndx.modelset, ndx.segset, *listed.positions())


@frozen(init=False, eq=False, repr=False)
class FlatScores(FlatTrials, NumberFileMethods):
    """Scores of a detector as a list of trials.

    For trials too sparse for a matrix. Whatever takes a `Scores` takes this too, and
    gives the same numbers; a `Key` or `FlatKey` may go with either.

    Parameters
    ----------
    scores : (k,) array_like of float
        The score of each trial; larger means more like a target. float32 stays float32,
        any other real type becomes float64.
    modelset : (m,) array_like of str
        Ids of the models, each once.
    segset : (n,) array_like of str
        Ids of the test segments, each once.
    models : (k,) array_like of int
        The model of each trial: its position in `modelset`, from 0.
    segments : (k,) array_like of int
        The test segment of each trial: its position in `segset`.

    Raises
    ------
    InvalidInputError
        If an id occurs twice, a position does not fit the ids, or a trial is listed with two
        different scores.

    Warns
    -----
    DuplicateTrialWarning
        If a trial is listed more than once with the same score; it counts once.

    See Also
    --------
    Scores : The same as a matrix.

    Notes
    -----
    The scores come first, as in `Scores`. Trials are put into the order that every vector of
    trials has: by segment, then by model. A trial takes eight bytes beside its score. The
    object and its arrays are read-only; methods return new objects. Arrays that others could
    write to are copied on construction.

    Scores may be infinite. NaN is accepted for trials that nobody asks for.

    Examples
    --------
    >>> from bosaris_py.trials import FlatScores
    >>> scores = FlatScores([1.5, 3.0], ["anna", "bert"], ["s1", "s2"],
    ...                     models=[0, 1], segments=[0, 1])
    >>> scores
    FlatScores: 2 models x 2 segments, 2 scores
    >>> scores.to_dense().scoremask.tolist()
    [[True, False], [False, True]]
    """

    scores: FloatArray = field()
    modelset: StrArray = field(validator=check_models)
    segset: StrArray = field(validator=check_segments)
    models: Positions = field()
    segments: Positions = field()

    _content = ("scores", "scores")
    _storage: ClassVar[Storage] = Storage(
        "flat_scores", text.read_flat_scores, text.write_flat_scores
    )

    def __init__(
        self,
        scores: npt.ArrayLike,
        modelset: IdList,
        segset: IdList,
        models: npt.ArrayLike,
        segments: npt.ArrayLike,
    ) -> None:
        values = as_vector(scores, "scores")
        columns = order_columns((modelset, segset), (models, segments), values, "scores")
        self.__attrs_init__(
            columns.contents, columns.modelset, columns.segset, columns.models, columns.segments
        )

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList, scores: npt.ArrayLike) -> Self:
        """Build a FlatScores from a list of scored trials given by their ids.

        Parameters
        ----------
        models : (k,) array_like of str
            Model of each trial.
        segments : (k,) array_like of str
            Test segment of each trial.
        scores : (k,) array_like of float
            Score of each trial.

        Returns
        -------
        FlatScores
            Models and segments are sorted, as after reading a text file. A trial
            that is listed twice with the same score counts once.

        Raises
        ------
        InvalidInputError
            If the lists differ in length, or a trial is listed with two
            different scores.

        Warns
        -----
        DuplicateTrialWarning
            If a trial is listed more than once, or the same two segments in both orders, as two
            trials; with counts and the first few.

        Examples
        --------
        >>> from bosaris_py.trials import FlatScores
        >>> scores = FlatScores.from_trials(["bert", "anna"], ["s1", "s2"], [1.5, -2.0])
        >>> scores.models.tolist(), scores.scores.tolist()
        ([1, 0], [1.5, -2.0])
        """
        values = as_vector(scores, "scores")
        columns = columns_from_trials((models, segments), values, "scores")
        found = cls(
            columns.contents, columns.modelset, columns.segset, columns.models, columns.segments
        )
        return found._checked_for_swaps()

    @classmethod
    def from_table(cls, table: TrialTable) -> Self:
        """Build a FlatScores from the lines of a text file.

        Parameters
        ----------
        table : TrialTable
            The lines, with scores. Those whose score is missing are left out, as are labels
            and other columns.

        Returns
        -------
        FlatScores
            The scores, with the ids of the table.

        Raises
        ------
        InvalidInputError
            If the table has no scores, or a trial is listed with two different ones.

        Warns
        -----
        DuplicateTrialWarning
            If a trial is listed more than once, or the same two segments in both orders, as two
            trials; with counts and the first few.
        """
        if table.scores is None:
            raise invalid("table", "have scores", repr(table))
        is_missing = np.isnan(table.scores)
        if is_missing.any():
            table = table.take(~is_missing)
        assert table.scores is not None, "taking lines keeps the scores"
        found = cls(table.scores, table.modelset, table.segset, table.models, table.segments)
        return found._checked_for_swaps()

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return int(self.scores.size)

    def _counts(self) -> str:
        return f"{self.n_scores} scores"

    def _scored(self, ndx: AnyNdx) -> BoolArray | None:
        """Tell which trials of an Ndx or a Key have a score; None says all."""
        return self._match(ndx.trial_positions(), self._frame_for(ndx)).found

    def _listed(self, ndx: AnyNdx) -> ListedScores:
        """Return the scores of the trials of an Ndx or a Key; refuse NaN."""
        frame = self._frame_for(ndx)
        match = self._match(ndx.trial_positions(), frame)
        values = self.scores if match.places is None else self.scores[match.places]
        listed = ListedScores(ndx, frame, mark_read_only(values), match.found)
        listed.refuse_nan("scores")
        return listed

    @overload
    def align_with_ndx(self, ndx: FlatNdx | FlatKey) -> "FlatScores": ...
    @overload
    def align_with_ndx(self, ndx: Ndx | Key) -> Scores: ...

    def align_with_ndx(self, ndx: AnyNdx) -> "FlatScores | Scores":
        """Bring the scores into the order of an Ndx or a Key and keep its trials only.

        Parameters
        ----------
        ndx : Ndx, Key, FlatNdx or FlatKey
            The trials that are wanted.

        Returns
        -------
        FlatScores or Scores
            In the form of `ndx`: a list for a FlatNdx or FlatKey, a matrix for an Ndx or Key.
            With exactly the models and segments of `ndx`, in its order, and those of its
            trials that this object has a score for.

        Raises
        ------
        InvalidInputError
            If the score of a trial is NaN; says how many and which.

        Warns
        -----
        MissingTrialsWarning
            If models, segments or trials of `ndx` have no scores, with counts.

        Notes
        -----
        Ten million trials are found among as many in about half a second, if the ids of
        both objects are sorted.

        Examples
        --------
        >>> from bosaris_py.trials import FlatNdx, FlatScores
        >>> scores = FlatScores.from_trials(["anna", "anna"], ["s1", "s2"], [1.0, 2.0])
        >>> scores.align_with_ndx(FlatNdx.from_trials(["anna"], ["s2"])).scores.tolist()
        [2.0]
        """
        check_trials(ndx)
        listed = self._listed(ndx)
        listed.warn()
        return in_form_of_ndx(listed)

    def get_tar_non(self, key: AnyKey, *, any_order: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return the target scores and the non-target scores.

        Parameters
        ----------
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        any_order : bool, optional
            As in `Scores.get_tar_non`; a list is read fastest column by column of the key.

        Returns
        -------
        tar : (n_tar,) array of float
            Scores of the target trials, float32 or float64 as in `scores`.
        non : (n_non,) array of float
            Scores of the non-target trials.

        Raises
        ------
        InvalidInputError
            If the score of a trial is NaN; says how many and which.

        Warns
        -----
        MissingTrialsWarning
            If trials of the key have no scores, with counts; they are left out.

        Examples
        --------
        >>> from bosaris_py.trials import FlatKey, FlatScores
        >>> trials = (["anna", "bert", "bert"], ["s1", "s1", "s2"])
        >>> scores = FlatScores.from_trials(*trials, [1.5, 0.5, 3.0])
        >>> tar, non = scores.get_tar_non(FlatKey.from_trials(*trials, [True, False, True]))
        >>> tar.tolist(), non.tolist()
        ([1.5, 3.0], [0.5])
        """
        check_key(key)
        listed = self._listed(key)
        listed.warn()
        return listed.split(key)

    def get_scores(self, ndx: AnyNdx) -> FloatArray:
        """Return the scores of the trials of an Ndx or a Key, column by column.

        Parameters
        ----------
        ndx : Ndx, Key, FlatNdx or FlatKey
            The trials that are wanted.

        Returns
        -------
        (k,) array of float
            The scores that exist, in column-major order of `ndx`.

        Raises
        ------
        InvalidInputError
            If the score of a trial is NaN; says how many and which.

        Warns
        -----
        MissingTrialsWarning
            If trials of `ndx` have no scores, with counts; they are left out.
        """
        check_trials(ndx)
        listed = self._listed(ndx)
        if listed.n_missing:
            listed.warn()
        return listed.values

    @overload
    def set_missing_to_value(self, ndx: FlatNdx | FlatKey, value: float) -> "FlatScores": ...
    @overload
    def set_missing_to_value(self, ndx: Ndx | Key, value: float) -> Scores: ...

    def set_missing_to_value(self, ndx: AnyNdx, value: float) -> "FlatScores | Scores":
        """Align with an Ndx or a Key and give all trials without score one value.

        Parameters
        ----------
        ndx : Ndx, Key, FlatNdx or FlatKey
            The trials that are wanted.
        value : float
            The score for trials that have none. For log-likelihood-ratios 0
            says "no evidence"; it says something else for uncalibrated scores.

        Returns
        -------
        FlatScores or Scores
            In the form of `ndx`, with its models and segments and a score for every trial.

        Raises
        ------
        InvalidInputError
            If `value` or the score of a trial is NaN.

        Warns
        -----
        MissingTrialsWarning
            If trials have been filled, with counts.
        """
        check_trials(ndx)
        fill = as_number(value, "value")
        listed = self._listed(ndx.to_ndx() if isinstance(ndx, AnyKey) else ndx)
        listed.warn()
        filled = ListedScores(listed.ndx, listed.frame, listed.filled(fill), None)
        return in_form_of_ndx(filled)

    def transform(self, func: Callable[[FloatArray], npt.ArrayLike]) -> Self:
        """Apply a function to all scores, for instance a calibration.

        Parameters
        ----------
        func : callable
            Takes the scores as a vector, column by column, and returns as many
            numbers.

        Returns
        -------
        FlatScores
            The same trials with the new scores: float32 only if they were and `func`
            returns float32.

        Raises
        ------
        InvalidInputError
            If `func` returns another number of scores, or NaN.

        Examples
        --------
        >>> from bosaris_py.trials import FlatScores
        >>> scores = FlatScores.from_trials(["anna", "anna"], ["s1", "s2"], [1.0, 2.0])
        >>> scores.transform(lambda s: 2 * s + 1).scores.tolist()
        [3.0, 5.0]
        """
        after = transformed(func, self.scores)
        dtype = np.result_type(self.scores, after)
        return type(self)(
            after if after.dtype == dtype else mark_read_only(after.astype(dtype)),
            self.modelset,
            self.segset,
            self.models,
            self.segments,
        )

    def to_dense(self, *, max_cells: int = MAX_CELLS) -> Scores:
        """Return the scores as a matrix.

        Parameters
        ----------
        max_cells : int, default: 10**8
            The largest number of models times segments that is wanted. A cell takes nine
            bytes, or five for float32 scores.

        Returns
        -------
        Scores
            Models and segments in the same order; 0 under a false mask where there is no
            trial.

        Raises
        ------
        InvalidInputError
            If the matrix would have more cells.
        """
        check_cell_count(self._shape, max_cells)
        mask = scatter(self, np.ones(self.n_scores, dtype=np.bool_))
        return Scores(scatter(self, self.scores), self.modelset, self.segset, mask)

    def merge(self, *others: "FlatScores") -> "FlatScores":
        """Unite the scores of several objects, for instance of the parts of a split job.

        Parameters
        ----------
        *others : FlatScores
            Objects to be merged with this one. ``FlatScores.merge(a, b, c)`` and
            ``a.merge(b, c)`` mean the same.

        Returns
        -------
        FlatScores
            The scores of all objects; models and segments are sorted. float32
            only if all of them are.

        Raises
        ------
        InvalidInputError
            If one of the objects is not a FlatScores.
        TrialMismatchError
            If two objects have a score for the same trial.
        """
        objects = (self, *others)
        check_same_class(FlatScores, objects)
        fault = "The scores to be merged hold two scores for"
        values = [item.scores for item in objects]
        merged = merge_columns(objects, values, TrialOrder.repeats, fault)
        return FlatScores(
            merged.contents, merged.modelset, merged.segset, merged.models, merged.segments
        )


def in_form_of_ndx(listed: ListedScores) -> FlatScores | Scores:
    """Make an object of scores of trials: a list if the trials are one, else a matrix."""
    ndx = listed.ndx
    models, segments = listed.positions()
    if isinstance(ndx, FlatTrials):
        return FlatScores(listed.values, ndx.modelset, ndx.segset, models, segments)
    mask = ndx._trials()
    if listed.found is not None:
        mask = np.zeros(mask.shape, dtype=np.bool_)
        mask[models, segments] = True
    matrix = np.zeros(mask.shape, dtype=listed.values.dtype)
    matrix[models, segments] = listed.values
    return Scores(mark_read_only(matrix), ndx.modelset, ndx.segset, mark_read_only(mask))


AnyScores = Scores | FlatScores


def check_scores(scores: object) -> None:
    """Raise unless `scores` holds scores of trials."""
    if not isinstance(scores, AnyScores):
        raise invalid("scores", "be a Scores object", describe(scores))


def trial_places(source: AnyNdx, wanted: AnyNdx) -> Positions | None:
    """Return the place of each wanted trial in the vector of trials of another list.

    Parameters
    ----------
    source : Ndx, Key, FlatNdx or FlatKey
        The list in which trials are looked up by their ids.
    wanted : Ndx, Key, FlatNdx or FlatKey
        The trials that are looked up.

    Returns
    -------
    (n_wanted,) array of int, or None
        Places in the column-major vector of the trials of `source`, -1 for a
        trial that it does not have. None: both list the same trials in the same
        order.
    """
    if source is wanted:
        return None
    listed, frame = source.trial_positions(), source._frame_for(wanted)
    match = match_trials(listed, wanted.trial_positions(), frame, source._shape)
    if match.found is None or match.places is None:
        return match.places
    places: Positions = np.full(wanted.n_trials, -1, dtype=position_type(source.n_trials))
    places[match.found] = match.places
    return places


def trials_within(source: AnyNdx, wanted: AnyNdx) -> BoolArray:
    """Tell for each wanted trial, column by column, whether another list has it."""
    frame = source._frame_for(wanted)
    positions = wanted.trial_positions()
    if isinstance(source, (FlatNdx, FlatKey)):
        found = match_trials(source.trial_positions(), positions, frame, source._shape).found
        return np.ones(wanted.n_trials, dtype=np.bool_) if found is None else found
    matrix = source._trials()
    if matrix.size == 0:
        return np.zeros(wanted.n_trials, dtype=np.bool_)
    models, segments = positions
    if frame.rows is not None:
        models = frame.rows[models]
    if frame.cols is not None:
        segments = frame.cols[segments]
    # Position -1 reads some cell.
    within: BoolArray = gather((matrix,), models, segments)[0]
    if not frame.is_complete:
        within &= (models >= 0) & (segments >= 0)
    return within


def scored_trials(scores: AnyScores, key: AnyKey) -> BoolArray | None:
    """Tell for each trial of a key, column by column, whether it has a score; None says all."""
    return scores._scored(key)


def take_trials(key: AnyKey, places: npt.NDArray[np.intp]) -> AnyKey:
    """Return a key of the same form and ids with the trials at ascending places only."""
    models, segments = key.trial_positions()
    models, segments = models[places], segments[places]
    labels = key.trial_labels()[places]
    if isinstance(key, FlatKey):
        trials = mark_read_only(models), mark_read_only(segments)
        return FlatKey(key.modelset, key.segset, *trials, mark_read_only(labels))
    tar = np.zeros((key.modelset.size, key.segset.size), dtype=np.bool_)
    non = np.zeros_like(tar)
    tar[models[labels], segments[labels]] = True
    non[models[~labels], segments[~labels]] = True
    return Key(key.modelset, key.segset, mark_read_only(tar), mark_read_only(non))


def describe_trials(trials: AnyNdx, chosen: BoolArray) -> str:
    """Return the count and the first few of the trials under a vector mask, for a message."""
    models, segments = trials.trial_positions()
    return name_listed(models[chosen], segments[chosen], trials.modelset, trials.segset)
