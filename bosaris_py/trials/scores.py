"""Scores of trials: Scores as a matrix, FlatScores as a list, and stacks of several systems."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import Any, Self, TypeAlias, overload

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen

import bosaris_py.trials.alignment as align
from bosaris_py import _validation as check
from bosaris_py._arrays import (
    BoolArray,
    Float64Array,
    FloatArray,
    Positions,
    StrArray,
    mark_read_only,
)
from bosaris_py._cautions import warn_caller
from bosaris_py.errors import DisjointIdsError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.trials.alignment import IdList
from bosaris_py.trials.key import (
    AnyKey,
    AnyNdx,
    FlatKey,
    FlatNdx,
    Key,
    Ndx,
    as_key,
    as_ndx,
    describe_trials,
    warn_unless_found,
)
from bosaris_py.trials.trial_sets import (
    MAX_CELLS,
    FlatTrials,
    IdLists,
    IdUnion,
    NumberFileMethods,
    TrialList,
    TrialMatrix,
    TrialRecords,
    all_of_class,
    as_list_of,
    both_ids,
    frame_of,
    name_cells,
    scatter,
    to_mask_or_all,
    to_matrix,
    warn_missing,
)

_REPEATED = "The scores to be merged hold two scores for"

_NO_NAN = "not hold NaN where there is a trial"


@frozen(eq=False)
class ListedScores:
    """The scores that an object has of the trials of an Ndx or a Key, as a vector."""

    # `frame` says where the models and segments of `ndx` lie in the object, `found` which of its
    # trials have a score (None: all); `values` are those, column by column.

    ndx: AnyNdx
    frame: align.Frame
    values: FloatArray
    found: BoolArray | None

    def warn(self) -> None:
        """Warn of models, segments and trials that are missing."""
        warn_unless_found(self.ndx, self.frame.n_found, self.found)

    def split(self, key: AnyKey) -> tuple[FloatArray, FloatArray]:
        """Return target and non-target scores; `key` is the `ndx` of this object."""
        labels = key.trial_labels()
        if self.found is not None:
            labels = labels[self.found]
        return self.values[labels], self.values[~labels]

    def filled(self, value: float) -> "ListedScores":
        """Return a score for every trial: `value` for those that have none."""
        if self.found is None:
            return self
        filled = np.full(self.found.size, value, dtype=_type_with(self.values, value))
        filled[self.found] = self.values
        return evolve(self, values=mark_read_only(filled), found=None)

    def in_form_of_ndx(self) -> "FlatScores | Scores":
        """Make an object of the scores: a list if `ndx` is one, else a matrix."""
        ndx, found = self.ndx, slice(None) if self.found is None else self.found
        if isinstance(ndx, FlatTrials):
            positions = (mark_read_only(side[found]) for side in ndx.trial_positions())
            return FlatScores(self.values, *ndx.ids, *positions)
        mask = trials = ndx.trial_mask
        if self.found is not None:
            mask = np.zeros(trials.shape, dtype=np.bool_)
            align.insert(mask, trials, self.found)
        matrix = np.zeros(mask.shape, dtype=self.values.dtype)
        align.insert(matrix, mask, self.values)
        return Scores(mark_read_only(matrix), *ndx.ids, mark_read_only(mask))


def _type_with(scores: FloatArray, value: float) -> "np.dtype[Any]":
    """Return the type for scores and a value: float32 stays unless the value is too large."""
    # min_scalar_type: 0.0 fits into float16, so that it keeps float32 scores as they are.
    return np.result_type(scores, np.min_scalar_type(value))


def _holds_nan(vector: FloatArray) -> bool:
    """Tell whether some score is NaN: then the minimum is, which needs no mask of the scores."""
    return vector.size > 0 and bool(np.isnan(vector.min()))


class ScoreMethods:
    """Methods of Scores and FlatScores: the scores of the trials of an Ndx or a Key."""

    __slots__ = ()

    def _counts(self: Any) -> str:
        return f"{self.n_scores} scores"

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList, scores: npt.ArrayLike) -> Self:
        """Build scores from a list of trials given by their ids.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            As for `Ndx.from_trials`. A trial that is listed with two scores is an error.
        scores : (k,) array_like of float
            Score of each trial.

        Returns
        -------
        Self

        Warns
        -----
        DuplicateTrialWarning
            From `FlatScores`, as from `FlatNdx.from_trials`.

        Examples
        --------
        >>> from bosaris_py.trials import Scores
        >>> scores = Scores.from_trials(["bert", "anna"], ["s1", "s2"], [1.5, -2.0])
        >>> scores.scoremask.tolist()
        [[False, True], [True, False]]
        """
        check.check_same_rows({"models": models, "segments": segments, "scores": scores})
        return cls._of_listed((models, segments), check.as_vector(scores, "scores"))

    @classmethod
    @abstractmethod
    def _of_listed(cls, ids: IdLists, scores: FloatArray) -> Self:
        """Build an object from a list of trials given by their ids, with their scores."""

    # What an attempt to set a field is told.

    @overload
    def align_with_ndx(self, ndx: Ndx | Key) -> "Scores": ...
    @overload
    def align_with_ndx(self, ndx: FlatNdx | FlatKey) -> "FlatScores": ...

    def align_with_ndx(self, ndx: AnyNdx) -> "Scores | FlatScores":
        """Bring the scores into the order of an Ndx or a Key and keep its trials only.

        Parameters
        ----------
        ndx : Ndx, Key, FlatNdx or FlatKey
            The trials that are wanted.

        Returns
        -------
        Scores or FlatScores
            In the form of `ndx`: a list for a FlatNdx or FlatKey, a matrix for an Ndx or Key. With
            exactly the models and segments of `ndx`, in its order, and those of its trials that
            this object has a score for. In a matrix, other cells are 0 under a false mask.

        Warns
        -----
        MissingTrialsWarning
            If models, segments or trials of `ndx` have no scores, with counts.

        Notes
        -----
        O(size of the matrix) time. Of lists, ten million trials are found among as many in
        about half a second, if the ids of both objects are sorted. float32 scores stay float32;
        the toolkit converts them to double precision. Infinite scores pass; the toolkit
        refuses them.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx, Scores
        >>> scores = Scores([[1.0, 2.0]], ["anna"], ["s1", "s2"])
        >>> scores.align_with_ndx(Ndx(["anna"], ["s2"])).scoremat.tolist()
        [[2.0]]
        """
        ndx = as_ndx(ndx)
        if isinstance(self, Scores) and isinstance(ndx, Ndx | Key):
            return _aligned_matrix(self, ndx)
        listed = listed_scores(self, ndx)
        listed.warn()
        return listed.in_form_of_ndx()

    def get_tar_non(self, key: AnyKey, *, any_order: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return the target scores and the non-target scores.

        Parameters
        ----------
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        any_order : bool, optional
            Return the scores in whatever order is fastest, for statistics that do not depend on it;
            else column by column of the key.

        Returns
        -------
        tar : (n_tar,) array of float
            Scores of the target trials, float32 or float64 as in the object.
        non : (n_non,) array of float
            Scores of the non-target trials.

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
        key = as_key(key)
        if isinstance(self, Scores) and isinstance(key, Key):
            frame = frame_of(key, self)
            tar, non = scores_under(self, (key.tar, key.non), key, frame, any_order=any_order)
            warn_missing(key.shape, frame.n_found, (key.n_tar, key.n_non), (tar.size, non.size))
            return tar, non
        listed = listed_scores(self, key)
        listed.warn()
        return listed.split(key)

    def get_scores(self, ndx: AnyNdx) -> FloatArray:
        """Return the scores of the trials of an Ndx or a Key, column by column.

        Parameters
        ----------
        ndx
            As for `align_with_ndx`.

        Returns
        -------
        (k,) array of float
            The scores that exist.

        Warns
        -----
        MissingTrialsWarning
            If trials of `ndx` have no scores, with counts; they are left out.
        """
        ndx = as_ndx(ndx)
        if isinstance(self, Scores) and isinstance(ndx, Ndx | Key):
            frame = frame_of(ndx, self)
            (vector,) = scores_under(self, (ndx.trial_mask,), ndx, frame)
            # Models and segments without trials are not missed here.
            if vector.size < ndx.n_trials:
                warn_unless_found(ndx, frame.n_found, _scored_cells(self, ndx, frame))
            return vector
        listed = listed_scores(self, ndx)
        if listed.values.size < ndx.n_trials:
            listed.warn()
        return listed.values

    @overload
    def set_missing_to_value(self, ndx: Ndx | Key, value: float) -> "Scores": ...
    @overload
    def set_missing_to_value(self, ndx: FlatNdx | FlatKey, value: float) -> "FlatScores": ...

    def set_missing_to_value(self, ndx: AnyNdx, value: float) -> "Scores | FlatScores":
        """Align with an Ndx or a Key and give all trials without score one value.

        Parameters
        ----------
        ndx
            As for `align_with_ndx`.
        value : float
            The score for trials that have none. For log-likelihood-ratios 0 says "no evidence"; it
            says something else for uncalibrated scores.

        Returns
        -------
        Scores or FlatScores
            In the form of `ndx`, with its models and segments and a score for every trial.

        Warns
        -----
        MissingTrialsWarning
            If trials have been filled, with counts.
        """
        ndx = as_ndx(ndx)
        filling: object = value
        if not isinstance(filling, Real) or np.isnan(float(filling)):
            raise check.invalid("value", "be a number", check.describe(value))
        trials = ndx.to_ndx() if isinstance(ndx, AnyKey) else ndx
        if isinstance(self, Scores) and isinstance(trials, Ndx):
            aligned: Scores = _aligned_matrix(self, trials)
            # Where all trials have scores the matrix is not copied.
            missing = trials.trialmask & ~aligned.scoremask
            if not missing.any():
                return aligned
            matrix = aligned.scoremat.astype(_type_with(aligned.scoremat, float(value)))
            matrix[missing] = value
            return Scores(mark_read_only(matrix), *trials.ids, trials.trialmask)
        listed = listed_scores(self, trials)
        listed.warn()
        return listed.filled(float(value)).in_form_of_ndx()

    def __neg__(self) -> Self:
        """Return the same trials with negated scores, for instance of distances."""
        return self.transform(np.negative)

    def transform(self, func: Callable[[FloatArray], npt.ArrayLike]) -> Self:
        """Apply a function to all scores, for instance a calibration.

        Parameters
        ----------
        func : callable
            Takes the scores as a vector, column by column, and returns as many numbers.

        Returns
        -------
        Scores or FlatScores
            The same trials with the new scores: float32 only if they were and `func` returns
            float32.

        Examples
        --------
        >>> from bosaris_py.trials import Scores
        >>> scores = Scores([[1.0, 2.0]], ["anna"], ["s1", "s2"])
        >>> scores.transform(lambda s: 2 * s + 1).scoremat.tolist()
        [[3.0, 5.0]]
        """
        assert isinstance(self, AnyScores)
        before = all_scores(self)
        # NaN would pass here, and be refused far from the function that made it.
        after = check.as_vector(func(before), "func")
        if after.size != before.size:
            expected = f"return one score for each of the {before.size} that it is given"
            raise check.invalid("func", expected, f"{after.size}")
        if np.isnan(after).any():
            found = f"NaN for {np.count_nonzero(np.isnan(after))} of {after.size} scores"
            raise check.invalid("func", "not return NaN", found)
        dtype = np.result_type(before, after)
        if isinstance(self, FlatScores):
            scores = after if after.dtype == dtype else mark_read_only(after.astype(dtype))
            return evolve(self, scores=scores)
        matrix = self.scoremat.astype(dtype)
        align.insert(matrix, self.scoremask, after)
        return evolve(self, scoremat=mark_read_only(matrix))


@frozen(init=False, eq=False, repr=False)
class Scores(ScoreMethods, TrialMatrix, NumberFileMethods, TrialRecords):
    """Scores of a detector: one row per model, one column per test segment.

    Parameters
    ----------
    scoremat : (m, n) array_like of float
        The scores; larger means more like a target. float32 stays float32, any other real type
        becomes float64.
    modelset, segset
        As for `Ndx`.
    scoremask : (m, n) array_like of bool, optional
        True where `scoremat` holds a score; by default everywhere. What lies under a false mask is
        not content: it is ignored by every method and by comparisons.

    See Also
    --------
    Key : The labels that scores are judged by.
    FlatScores : The same as a list, for trials too sparse for a matrix.

    Notes
    -----
    The matrix comes first, as in the toolkit. Wherever trials become a vector they come
    column by column: the model index runs fastest.

    Scores may be infinite, which is legal for every metric that counts or ranks; the toolkit
    refuses infinite scores of trials. NaN is accepted outside the trials only, as in the toolkit.

    Examples
    --------
    >>> from bosaris_py.trials import Scores
    >>> scores = Scores([[1.5, -2.0], [0.5, 3.0]], ["anna", "bert"], ["s1", "s2"])
    >>> scores
    Scores: 2 models x 2 segments, 4 scores
    """

    scoremat: FloatArray
    modelset: StrArray
    segset: StrArray
    scoremask: BoolArray

    _matrices = ("scoremat", "scoremask")
    _kind = "scores"

    def __init__(
        self,
        scoremat: npt.ArrayLike,
        modelset: IdList,
        segset: IdList,
        scoremask: npt.ArrayLike | None = None,
    ) -> None:
        ids = both_ids(modelset, segset)
        matrix = to_matrix(scoremat, "scoremat", ids)
        self.__attrs_init__(matrix, *ids, to_mask_or_all(scoremask, ids, "scoremask"))

    @classmethod
    def _of_listed(cls, ids: IdLists, scores: FloatArray) -> Self:
        modelset, segset, mask, matrix = scatter(ids, scores, "scores")
        return cls(matrix, modelset, segset, mask)

    @cached_property
    def n_scores(self) -> int:
        """Number of scores: of cells where the mask is true."""
        return int(np.count_nonzero(self.scoremask))

    def __eq__(self, other: object) -> bool:
        """Compare ids, mask and the values where the mask is true."""
        if not isinstance(other, Scores) or type(other) is not type(self):
            return NotImplemented
        names = ("modelset", "segset", "scoremask")
        if not all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names):
            return False
        if self.scoremat is other.scoremat:
            return True
        # In blocks, and only where the mask is true: what lies elsewhere is not content.
        for block in align.blocks(*self.shape):
            mine, theirs = self.scoremat[block], other.scoremat[block]
            differs = (mine != theirs) & self.scoremask[block]
            if differs.any() and not (
                np.isnan(mine[differs]).all() and np.isnan(theirs[differs]).all()
            ):
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    def _listed(self) -> dict[str, Any]:
        return self.to_flat()._listed()

    def to_flat(self) -> "FlatScores":
        """Return the scores as a list.

        Returns
        -------
        FlatScores
        """
        positions = align.true_positions(self.scoremask)
        return FlatScores(mark_read_only(all_scores(self)), *self.ids, *positions)

    def merge(self, *others: "Scores") -> "Scores":
        """Unite the scores of several objects, for instance of the parts of a split job.

        Parameters
        ----------
        *others : Scores
            Further objects; ``Scores.merge(a, b)`` is ``a.merge(b)``.

        Returns
        -------
        Scores
            The scores of all objects; models and segments are sorted. float32 only if all of them
            are.

        Raises
        ------
        TrialMismatchError
            If two objects have a score for the same trial.

        Notes
        -----
        The toolkit adds the matrices, so that what lies under a false mask of one
        object corrupts a score of another; here only scores are copied.
        """
        objects = all_of_class(Scores, self, *others)
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
                # The toolkit adds the matrices; here what lies under a false mask does no harm.
                matrix[cells] = np.where(added, frame.take(item.scoremat, block), matrix[cells])
                mask[cells] = before | added
        if clash.any():
            raise TrialMismatchError(f"{_REPEATED} {name_cells(clash, union.ids)}.")
        return Scores(mark_read_only(matrix), *union.ids, mark_read_only(mask))


@frozen(init=False, eq=False, repr=False)
class FlatScores(ScoreMethods, FlatTrials, NumberFileMethods, TrialRecords):
    """Scores of a detector as a list of trials; see `FlatNdx`.

    A `Key` or `FlatKey` may go with `Scores` or with these.

    Parameters
    ----------
    scores : (k,) array_like of float
        The score of each trial; as in `Scores`, larger means more like a target.
    modelset, segset, models, segments
        As for `FlatNdx`.

    Warns
    -----
    DuplicateTrialWarning
        As for `FlatNdx`. Two scores of a trial are an error.

    See Also
    --------
    Scores : The same as a matrix.

    Examples
    --------
    >>> from bosaris_py.trials import FlatScores
    >>> FlatScores([1.5, 3.0], ["anna", "bert"], ["s1", "s2"], models=[0, 1], segments=[0, 1])
    FlatScores: 2 models x 2 segments, 2 scores
    """

    scores: FloatArray
    modelset: StrArray
    segset: StrArray
    models: Positions
    segments: Positions

    _content = "scores"
    _kind = "flat_scores"

    def __init__(
        self,
        scores: npt.ArrayLike,
        modelset: IdList,
        segset: IdList,
        models: npt.ArrayLike,
        segments: npt.ArrayLike,
    ) -> None:
        values = check.as_vector(scores, "scores")
        trials = TrialList.checked((modelset, segset), (models, segments), values, "scores")
        self.__attrs_init__(trials.contents, *trials[:4])

    @classmethod
    def _of_listed(cls, ids: IdLists, scores: FloatArray) -> Self:
        return cls(scores, *TrialList.coded(ids, scores, "scores")[:4])

    @property
    def n_scores(self) -> int:
        """Number of scores."""
        return int(self.scores.size)

    def _listed(self) -> dict[str, Any]:
        return {**super()._listed(), "score": self.scores}

    def to_dense(self, *, max_cells: int = MAX_CELLS) -> Scores:
        """Return the scores as a matrix.

        Parameters
        ----------
        max_cells
            As for `FlatNdx.to_dense`.

        Returns
        -------
        Scores
            Models and segments in the same order; 0 under a false mask elsewhere.
        """
        everywhere = np.ones(self.n_scores, dtype=np.bool_)
        matrix, mask = self._in_matrices(max_cells, self.scores, everywhere)
        return Scores(matrix, *self.ids, mask)

    def merge(self, *others: "FlatScores") -> "FlatScores":
        """Unite the scores of several objects, for instance of the parts of a split job.

        Parameters
        ----------
        *others : FlatScores
            As for `Scores.merge`.

        Returns
        -------
        FlatScores

        Raises
        ------
        TrialMismatchError
            As for `Scores.merge`.
        """
        objects = all_of_class(FlatScores, self, *others)
        merged = TrialList.merged(objects, _REPEATED, may_repeat=False)
        return FlatScores(merged.contents, *merged[:4])


AnyScores: TypeAlias = Scores | FlatScores


def scored_ndx(scores: AnyScores) -> AnyNdx:
    """Return the trials that have scores, in the form of the scores."""
    check_scores(scores)
    if isinstance(scores, FlatScores):
        return FlatNdx(scores.modelset, scores.segset, scores.models, scores.segments)
    return Ndx(scores.modelset, scores.segset, scores.scoremask)


def check_scores(scores: object) -> None:
    """Raise unless `scores` holds scores of trials."""
    if not isinstance(scores, AnyScores):
        hint = "Were scores and key swapped?" if isinstance(scores, AnyNdx) else ""
        if isinstance(scores, str | os.PathLike):
            hint = "Read the file: read_scores(path)."
        if isinstance(scores, Mapping):
            hint = f"Give one system of it: {check.list_some(scores)}."
        elif hasattr(scores, "columns"):
            hint = "Make scores of a data frame: from_frame(df).scores."
        raise check.invalid("scores", "be a Scores object", check.describe(scores), hint)


def class_scores(
    scores: AnyScores, key: AnyKey, *, any_order: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return what `get_tar_non` does; raise, and say why, if ids of key and scores never meet."""
    check_scores(scores)
    key = as_key(key)
    align.refuse_strangers(frame_of(key, scores), key.ids, scores.ids)
    tar, non = scores.get_tar_non(key, any_order=any_order)
    if tar.size + non.size < key.n_trials and (others := _in_other_order(scores, key)):
        if not tar.size + non.size:
            expected, got = "hold targets that have scores", "none"
            raise DisjointIdsError(argument="key", expected=expected, got=got, hint=others)
        warn_caller(others, MissingTrialsWarning)
    return tar, non


def why_unscored(scores: AnyScores, key: AnyKey, *, targets: bool) -> str:
    """Say in what the ids of a class without scores differ from others; nothing if they do not."""
    chosen = key.trial_labels() == targets
    sides = zip(key.trial_positions(), key.ids, scores.ids, ("models", "segments"), strict=True)
    for places, ids, known, noun in sides:
        wanted = ids[np.unique(places[chosen])]
        if wanted.size and known.size and not np.isin(wanted, known).any():
            return align.why_strange(wanted, known, noun, ("the key", "the scores"), {})
    return ""


def why_none_scored(scores: AnyScores, ndx: AnyNdx) -> str:
    """Say in what ids differ where no trial has a score; nothing if that cannot be told."""
    try:
        align.refuse_strangers(frame_of(ndx, scores), ndx.ids, scores.ids)
    except DisjointIdsError as error:
        return error.hint
    return _in_other_order(scores, ndx)


def _in_other_order(scores: AnyScores, ndx: AnyNdx) -> str:
    """Say how many trials without a score have one as (segment, model); nothing if none has."""
    # Mostly no segment is a model, too, so nothing needs to be searched.
    rows = scores.model_index.locate_last(ndx.segment_index)
    missing = None if (rows < 0).all() else _found_in(scores, ndx)
    if missing is None:
        return ""
    models, segments = (each[~missing] for each in ndx.trial_positions())
    turned = FlatNdx(ndx.segset, ndx.modelset, segments, models)
    # A score of what is a trial, too, as where all are compared with all, belongs there.
    found, own = _found_in(scores, turned), _found_in(ndx, turned)
    if own is None:
        return ""
    count = np.count_nonzero(~own if found is None else found & ~own)
    text = (
        f"{count} trials without a score have one in the other order, (segment, model). Write "
        "both files in one order, or swap the columns of one when reading."
    )
    return text if count else ""


def all_scores(scores: AnyScores) -> FloatArray:
    """Return all scores of an object as a vector, column by column."""
    if isinstance(scores, FlatScores):
        return scores.scores
    return align.extract(
        align.Frame(None, None, scores.shape), scores.scoremat, None, (scores.scoremask,)
    )[0]


# Scores of wanted trials, of matrices


def _present(scores: Scores) -> BoolArray | None:
    """Return the mask, or None if it is true everywhere and nothing needs to look at it."""
    return None if scores.n_scores == scores.scoremask.size else scores.scoremask


def _scored_cells(scores: Scores, ndx: Ndx | Key, frame: align.Frame) -> BoolArray:
    """Return a mask of the trials of `ndx` that have a score."""
    valid = frame.take_valid(_present(scores))
    return ndx.trial_mask if valid is None else ndx.trial_mask & valid


def _refuse_nan(scores: Scores, ndx: Ndx | Key, frame: align.Frame) -> None:
    """Raise with the count and the first of the trials whose score is NaN."""
    bad = np.isnan(frame.take(scores.scoremat)) & _scored_cells(scores, ndx, frame)
    raise check.invalid("scoremat", _NO_NAN, f"NaN for {name_cells(bad, ndx.ids)}")


def _aligned_matrix(scores: Scores, ndx: Ndx | Key) -> Scores:
    """Bring a matrix into the order of another; refuse NaN and warn of what is missing."""
    frame = frame_of(ndx, scores)
    mask = _scored_cells(scores, ndx, frame)
    values = frame.take(scores.scoremat)
    # In blocks, which stay in the cache. NaN is rare, so the mask is hardly ever read.
    for block in align.blocks(*frame.shape):
        bad = np.isnan(values[block])
        if bad.any() and (bad & mask[block]).any():
            _refuse_nan(scores, ndx, frame)
    warn_unless_found(ndx, frame.n_found, mask)
    return type(scores)(values, *ndx.ids, mark_read_only(mask))


def scores_under(
    scores: Scores,
    masks: Sequence[BoolArray],
    ndx: Ndx | Key,
    frame: align.Frame,
    *,
    any_order: bool = False,
) -> list[FloatArray]:
    """Return the scores under each mask, which has the order of `ndx`; refuse NaN."""
    vectors = align.extract(frame, scores.scoremat, _present(scores), masks, any_order=any_order)
    if any(_holds_nan(vector) for vector in vectors):
        _refuse_nan(scores, ndx, frame)
    return vectors


# Scores of wanted trials, of lists or at the positions in a list


def _found_cells(
    present: BoolArray | None, ndx: AnyNdx, frame: align.Frame
) -> tuple[Positions, Positions, BoolArray | None]:
    """Return the cells of the trials that are in a matrix, and which those are (None: all)."""
    rows, cols = frame.cells(*ndx.trial_positions())
    if frame.is_complete and present is None:
        return rows, cols, None
    found = np.asarray((rows >= 0) & (cols >= 0))
    if present is not None and found.any():
        # Position -1 reads some cell, which the comparison above has excluded.
        found &= align.gather((present,), rows, cols)[0]
    return (rows, cols, None) if found.all() else (rows[found], cols[found], found)


def listed_scores(scores: Any, ndx: AnyNdx) -> ListedScores:
    """Return the scores of the trials of an Ndx or a Key as a vector; refuse NaN."""
    frame = frame_of(ndx, scores)
    if isinstance(scores, Scores):
        rows, cols, found = _found_cells(_present(scores), ndx, frame)
        (values,) = align.gather((scores.scoremat,), rows, cols)
    else:
        wanted = ndx.trial_positions()
        lines, found = align.match_trials(scores.trial_positions(), wanted, frame, scores.shape)
        values = scores.scores if lines is None else scores.scores[lines]
    if _holds_nan(values):
        # Only now is a mask made that is as long as the list of trials.
        bad = np.ones(ndx.n_trials, dtype=np.bool_) if found is None else found.copy()
        bad[bad] = np.isnan(values)
        name = "scoremat" if isinstance(scores, Scores) else "scores"
        raise check.invalid(name, _NO_NAN, f"NaN for {describe_trials(ndx, bad)}")
    return ListedScores(ndx, frame, mark_read_only(values), found)


def scored_trials(scores: AnyScores, key: AnyNdx) -> BoolArray | None:
    """Tell for each trial, column by column, whether it has a score; None says all."""
    check_scores(scores)
    return _found_in(scores, key)


# Trials of one list among those of another


def _found_in(source: AnyNdx | AnyScores, wanted: AnyNdx) -> BoolArray | None:
    """Tell for each wanted trial whether an object has it; None says all."""
    frame = frame_of(wanted, source)
    if isinstance(source, FlatTrials):
        listed = source.trial_positions()
        return align.match_trials(listed, wanted.trial_positions(), frame, source.shape)[1]
    present = _present(source) if isinstance(source, Scores) else source.trial_mask
    if frame.is_complete and present is None:
        return None
    return _found_cells(present, wanted, frame)[-1]


def find_trials(source: AnyNdx, wanted: AnyNdx) -> Positions | None:
    """Return the position of each wanted trial in the vector of trials of another list."""
    # -1 stands for a trial that `source` does not have. None: both list the same trials in the same
    # order.
    if source is wanted:
        return None
    listed, frame = source.trial_positions(), frame_of(wanted, source)
    lines, found = align.match_trials(listed, wanted.trial_positions(), frame, source.shape)
    if found is None or lines is None:
        return lines
    positions: Positions = np.full(wanted.n_trials, -1, dtype=align.position_type(source.n_trials))
    positions[found] = lines
    return positions


def trials_within(source: AnyNdx, wanted: AnyNdx) -> BoolArray:
    """Tell for each wanted trial, column by column, whether another list has it."""
    found = _found_in(source, wanted)
    return np.ones(wanted.n_trials, dtype=np.bool_) if found is None else found


# Scores of several systems, stacked for training and applying


def scores_of_segments(scores: AnyScores, ndx: AnyNdx) -> AnyScores:
    """Give each trial the score of its segment, where a countermeasure scored utterances.

    Parameters
    ----------
    scores : Scores or FlatScores
        Of one model, such as files of ``segment score`` have.
    ndx : Ndx, Key, FlatNdx or FlatKey
        The trials, in which a segment may be more than once.

    Returns
    -------
    Scores or FlatScores
        In the form of `ndx`. Trials of segments without a score have none.

    Raises
    ------
    InvalidInputError
        If there are several models.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key(["anna", "bert"], ["s1"], [[True], [False]], [[False], [True]])
    >>> of_utterances = bp.FlatScores.from_trials(["bonafide"], ["s1"], [2.5])
    >>> scores_of_segments(of_utterances, key).get_scores(key).tolist()
    [2.5, 2.5]
    """
    check_scores(scores)
    ndx = as_ndx(ndx)
    models, segments = scores.ids
    if models.size != 1:
        raise check.invalid(
            "scores", "be of one model, as those of utterances are", f"{models.size}"
        )
    flat = scores if isinstance(scores, FlatScores) else scores.to_flat()
    # Below, NaN says that there is no score.
    check.refuse_nan(flat.scores, "scores")
    of_segments = np.full(segments.size, np.nan, dtype=flat.scores.dtype)
    of_segments[flat.segments] = flat.scores
    order = np.argsort(segments)
    at = np.minimum(np.searchsorted(segments, ndx.segset, sorter=order), segments.size - 1)
    known = segments[order[at]] == ndx.segset
    values = np.where(known, of_segments[order[at]], np.nan)[ndx.trial_positions()[1]]
    found = ~np.isnan(values)
    listed = mark_read_only(values[found].astype(flat.scores.dtype))
    own = None if found.all() else found
    return ListedScores(ndx, frame_of(ndx, ndx), listed, own).in_form_of_ndx()


def refuse_utterances(scores: AnyScores, ndx: AnyNdx, name: str) -> None:
    """Raise if scores are of utterances, under one model that no trial has."""
    check_scores(scores)
    models, segments = scores.ids
    if models.size != 1 or models[0] in ndx.ids[0] or not np.isin(ndx.ids[1], segments).any():
        return
    hint = (
        "An utterance is in many trials: trials.scores_of_segments(scores, key) repeats its score."
    )
    got = f"scores of utterances, under the one model {str(models[0])!r}"
    raise check.invalid(name, "have a score for each trial", got, hint)


def to_natural(scores: AnyScores, base: float | None) -> AnyScores:
    """Return log-likelihood-ratios that have a base as natural logarithms."""
    if base is None:
        return scores
    check_scores(scores)
    factor = check.log_of_base(base)
    return scores.transform(lambda values: factor * values.astype(np.float64))


# Systems by name, in their order, or one alone.
Systems = Mapping[str, AnyScores] | Sequence[AnyScores] | AnyScores


def stack_scores(systems: Systems, ndx: AnyNdx) -> Float64Array:
    """Return the scores of several systems for the same trials: (n_systems, n_trials)."""
    # A single Scores is one system. Trials come column by column of `ndx`. Raises
    # InvalidInputError if there is no system, one is not a Scores, or a score is NaN, and
    # TrialMismatchError if systems lack scores.
    ndx = as_ndx(ndx)
    (stack,) = _stacked(systems, ndx, {"trials": ndx.n_trials})
    return stack


def stack_tar_non(systems: Systems, key: AnyKey) -> tuple[Float64Array, Float64Array]:
    """Return the target and the non-target scores of several systems, as `stack_scores`."""
    key = as_key(key)
    tar, non = _stacked(systems, key, {"targets": key.n_tar, "non-targets": key.n_non})
    return tar, non


@overload
def assemble(vector: npt.ArrayLike, ndx: Ndx | Key) -> Scores: ...


@overload
def assemble(vector: npt.ArrayLike, ndx: FlatNdx | FlatKey) -> FlatScores: ...


def assemble(vector: npt.ArrayLike, ndx: AnyNdx) -> AnyScores:
    """Put a vector of scores, one for each trial of `ndx`, back into the form of the trials."""
    # The result has the models and segments of `ndx`: a list if `ndx` is one, else a matrix, 0
    # under a false mask elsewhere.
    ndx = as_ndx(ndx)
    values = check.as_vector(vector, "vector")
    if values.size != ndx.n_trials:
        expected = f"have one score for each of the {ndx.n_trials} trials"
        raise check.invalid("vector", expected, f"{values.size}")
    return ListedScores(ndx, frame_of(ndx, ndx), values, None).in_form_of_ndx()


def _stacked(systems: Systems, ndx: AnyNdx, totals: Mapping[str, int]) -> list[Float64Array]:
    """Return one stack for each class of trials; refuse systems that lack scores."""
    # `totals` names the classes, all trials or targets and non-targets, and counts their trials.
    classes, whole = (Scores, FlatScores), "Scores of all systems"
    names: dict[int, object] = {}
    if isinstance(systems, Mapping):
        names, systems = dict(enumerate(systems)), list(systems.values())
    listed: list[AnyScores] = as_list_of(classes, systems, "systems", "Scores", whole)
    # float64, whatever the systems have: sums of products follow.
    stacks = [np.empty((len(listed), total)) for total in totals.values()]
    faults = []
    for number, item in enumerate(listed):
        if ndx.n_trials or isinstance(ndx, AnyKey):
            align.refuse_strangers(frame_of(ndx, item), ndx.ids, item.ids)
        vectors = _vectors(item, ndx, len(stacks))
        missing = [
            f"{total - vector.size} of {total} {noun}"
            for (noun, total), vector in zip(totals.items(), vectors, strict=True)
            if vector.size < total
        ]
        if missing:
            # All systems are looked at, so that one message names every gap.
            others, name = _in_other_order(item, ndx), names.get(number, number + 1)
            faults.append(f"system {name} lacks {' and '.join(missing)}. {others}".rstrip(" ."))
            continue
        for stack, vector in zip(stacks, vectors, strict=True):
            stack[number] = vector
    if faults:
        raise TrialMismatchError(
            f"Every system must have a score for each trial; {'; '.join(faults)}. "
            f"Fill them with set_missing_to_value, best after calibration, or take these "
            f"trials out of the key."
        )
    return stacks


def _vectors(scores: AnyScores, ndx: AnyNdx, n_classes: int) -> Sequence[FloatArray]:
    """Return the scores of all trials, or those of targets and of non-targets."""
    if isinstance(scores, Scores) and isinstance(ndx, Ndx | Key):
        masks = [ndx.trial_mask]
        # Both classes in one pass over the matrix.
        if n_classes > 1 and isinstance(ndx, Key):
            masks = [ndx.tar, ndx.non]
        return scores_under(scores, masks, ndx, frame_of(ndx, scores))
    listed = listed_scores(scores, ndx)
    return listed.split(ndx) if n_classes > 1 and isinstance(ndx, AnyKey) else [listed.values]
