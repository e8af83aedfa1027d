"""The scores of a detector as a list."""

from collections.abc import Callable
from typing import ClassVar, Self, overload

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from bosaris_py._validation import BoolArray, FloatArray, StrArray, as_vector, invalid
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.storage import flat_hdf5, flat_text
from bosaris_py.storage.formats import TrialTable
from bosaris_py.storage.trial_order import TrialOrder
from bosaris_py.trials._base import check_same_class
from bosaris_py.trials._fields import IdList, check_models, check_segments
from bosaris_py.trials._files import NumberFileMethods, Storage
from bosaris_py.trials._flat import (
    MAX_CELLS,
    FlatTrials,
    check_cell_count,
    columns_from_trials,
    merge_columns,
    order_columns,
    scatter,
)
from bosaris_py.trials._frame import Positions
from bosaris_py.trials._listed import ListedScores, as_number, transformed
from bosaris_py.trials._missing import AnyKey, AnyNdx, check_key, check_trials
from bosaris_py.trials.flat_key import FlatKey
from bosaris_py.trials.flat_ndx import FlatNdx
from bosaris_py.trials.key import Key
from bosaris_py.trials.ndx import Ndx
from bosaris_py.trials.scores import Scores

__all__ = ["FlatScores", "in_form_of_ndx"]


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
        read_hdf5=flat_hdf5.read_flat_scores,
        write_hdf5=flat_hdf5.write_flat_scores,
        read_txt=flat_text.read_flat_scores,
        write_txt=flat_text.write_flat_scores,
    )

    def __init__(
        self,
        scores: npt.ArrayLike,
        modelset: IdList,
        segset: IdList,
        models: npt.ArrayLike,
        segments: npt.ArrayLike,
    ) -> None:
        values = as_vector(scores, "scores", "FlatScores")
        columns = order_columns(
            (modelset, segset), (models, segments), values, "scores", "FlatScores"
        )
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
        owner = f"{cls.__name__}.from_trials"
        values = as_vector(scores, "scores", owner)
        columns = columns_from_trials((models, segments), values, "scores", owner)
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
            raise invalid("table", f"{cls.__name__}.from_table", "have scores", repr(table))
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
        listed.refuse_nan("scores", "FlatScores")
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
        check_trials(ndx, "FlatScores.align_with_ndx")
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
        check_key(key, "FlatScores.get_tar_non")
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
        check_trials(ndx, "FlatScores.get_scores")
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
        owner = "FlatScores.set_missing_to_value"
        check_trials(ndx, owner)
        fill = as_number(value, "value", owner)
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
        after = transformed(func, self.scores, "FlatScores.transform")
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
        check_cell_count(self._shape, max_cells, "FlatScores.to_dense")
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
