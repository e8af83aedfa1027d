"""Scores of trials, and stacks of the scores of several systems."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.trials.alignment as align
from bosaris_py import _validation as check
from bosaris_py._arrays import (
    AnyArray,
    BoolArray,
    Float64Array,
    FloatArray,
    mark_read_only,
    read_only,
)
from bosaris_py._cautions import warn_caller
from bosaris_py.errors import DisjointIdsError, MissingTrialsWarning, TrialMismatchError
from bosaris_py.trials import arguments
from bosaris_py.trials.alignment import Frame, IdList, Ids
from bosaris_py.trials.key import Key, Ndx, as_key, as_ndx, describe_trials, warn_unless_found
from bosaris_py.trials.trials import Cells, Contents, ListedTrials, Trials, frame_of

_REPEATED = "The scores to be merged hold two scores for"


@attrs.frozen(init=False, eq=False, repr=False)
class Scores(ListedTrials):
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

    # The score of each trial: a vector of a list, else a matrix.
    _values: FloatArray = attrs.field(converter=read_only)

    _kind = "scores"

    def __init__(
        self,
        scoremat: npt.ArrayLike,
        modelset: IdList,
        segset: IdList,
        scoremask: npt.ArrayLike | None = None,
    ) -> None:
        ids = arguments.both_ids(modelset, segset)
        matrix = arguments.to_matrix(scoremat, "scoremat", ids)
        mask = None if scoremask is None else arguments.to_mask(scoremask, ids, "scoremask")
        self.__attrs_init__(*ids, None if mask is None else arguments.as_cells(mask), matrix)

    @property
    def _contents(self) -> Contents:
        return self._values

    def _with(self, ids: Ids, cells: Cells, contents: Contents) -> Self:
        return self._of_fields(*ids, cells, contents)

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
        Scores

        Examples
        --------
        >>> from bosaris_py.trials import Scores
        >>> scores = Scores.from_trials(["bert", "anna"], ["s1", "s2"], [1.5, -2.0])
        >>> scores.scoremask.tolist()
        [[False, True], [True, False]]
        """
        check.check_same_rows({"models": models, "segments": segments, "scores": scores})
        return cls._from_ids(models, segments, check.as_vector(scores, "scores"), "scores")

    def _in_list(self) -> dict[str, AnyArray]:
        return {"scores": self.values}

    def _in_matrices(self) -> dict[str, AnyArray]:
        return {"scoremat": self.scoremat, "scoremask": self.scoremask}

    @classmethod
    def _from_stored(cls, **arrays: AnyArray) -> Self:
        if "models" not in arrays:
            return cls(**arrays)
        return cls._from_list(arrays, check.as_vector(arrays["scores"], "scores"), "scores")

    @property
    def values(self) -> FloatArray:
        """The score of each trial, column by column."""
        vector = self._vector()
        assert vector is not None, "scores have values"
        return vector

    @property
    def scoremat(self) -> FloatArray:
        """The matrix of scores, as it was given; of a list a new one, with 0 for no trial."""
        return self._matrix(self._values) if self.is_sparse else self._values

    @property
    def scoremask(self) -> BoolArray:
        """True where `scoremat` holds a score."""
        return self.trial_mask

    def _counts(self) -> str:
        return f"{self.n_trials} scores"

    def _columns_of_trials(self) -> dict[str, AnyArray]:
        return {"score": self.values}

    def merge(self, *others: Scores) -> Scores:
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
        objects = arguments.all_of_class(Scores, self, *others)
        return Scores._merged(objects, _REPEATED, may_repeat=False)

    # Scores of the trials of others

    def found_in(self, ndx: Trials) -> tuple[FloatArray, BoolArray | None]:
        """Return the scores of the trials of an Ndx or a Key, and which of these have one.

        Parameters
        ----------
        ndx : Ndx or Key
            The trials that are wanted.

        Returns
        -------
        values : (k,) array of float
            The scores that exist, column by column of `ndx`.
        found : (n_trials,) array of bool, or None
            Which trials have a score; None if all do.

        Raises
        ------
        InvalidInputError
            If a score is NaN.
        """
        if self.is_sparse:
            at, found = self.locate(ndx), None
            values = self._values
            if at is not None:
                found = at >= 0
                found = None if found.all() else found
                values = values[at if found is None else at[found]]
        elif ndx.is_sparse:
            values, found = self._read_cells(ndx)
        else:
            frame = frame_of(ndx, self)
            present = frame.take_valid(self.cells)
            mask = ndx.trial_mask if present is None else ndx.trial_mask & present
            values = frame.by_columns(self._values, None if mask.all() else mask)
            if present is not None and values.size < ndx.n_trials:
                found = Frame(None, None, ndx.shape).by_columns(present, ndx.cells)
            else:
                found = None
        # If some score is NaN the minimum is, which needs no mask of the scores.
        if values.size and np.isnan(values.min()):
            bad = np.ones(ndx.n_trials, dtype=np.bool_) if found is None else found.copy()
            bad[bad] = np.isnan(values)
            got = f"NaN for {describe_trials(ndx, bad)}"
            raise check.invalid("scores", "not hold NaN where there is a trial", got)
        return mark_read_only(values), found

    def _read_cells(self, ndx: Trials) -> tuple[FloatArray, BoolArray | None]:
        """Return like `found_in`, of a matrix for the trials of a list."""
        frame = frame_of(ndx, self)
        rows, cols = frame.cells(*ndx.trial_positions())
        found = None if frame.is_complete else (rows >= 0) & (cols >= 0)
        if self.cells is not None:
            # Position -1 reads some cell, which has been excluded.
            present = self.cells[rows, cols]
            found = present if found is None else found & present
        if found is None or found.all():
            return self._values[rows, cols], None
        return self._values[rows[found], cols[found]], found

    def align_with_ndx(self, ndx: Ndx | Key) -> Scores:
        """Bring the scores into the order of an Ndx or a Key and keep its trials only.

        Parameters
        ----------
        ndx : Ndx or Key
            The trials that are wanted.

        Returns
        -------
        Scores
            A list if `ndx` is one, else a matrix. With exactly the models and segments of `ndx`, in
            its order, and those of its trials that this object has a score for.

        Warns
        -----
        MissingTrialsWarning
            If models, segments or trials of `ndx` have no scores, with counts.

        Notes
        -----
        float32 scores stay float32; the toolkit converts them to double precision. Infinite scores
        pass; the toolkit refuses them.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx, Scores
        >>> scores = Scores([[1.0, 2.0]], ["anna"], ["s1", "s2"])
        >>> scores.align_with_ndx(Ndx(["anna"], ["s2"])).scoremat.tolist()
        [[2.0]]
        """
        ndx = as_ndx(ndx)
        if self.is_sparse or ndx.is_sparse:
            values, found = self.found_in(ndx)
            self._warn_missing(ndx, found)
            return assemble(values, ndx, found)
        # Where nothing moves, nothing is copied.
        frame, cells = frame_of(ndx, self), ndx.cells
        matrix, present = frame.take(self._values), frame.take_valid(self.cells)
        if matrix.size and np.isnan(matrix.min()):
            self.found_in(ndx)  # refuses NaN under the mask
        found = None
        if present is not None:
            mask = mark_read_only(ndx.trial_mask & present)
            found = Frame(None, None, ndx.shape).by_columns(mask, cells)
            cells = mask
        self._warn_missing(ndx, found)
        return self._of_fields(*ndx.ids, cells, matrix)

    def get_tar_non(self, key: Key) -> tuple[FloatArray, FloatArray]:
        """Return the target scores and the non-target scores.

        Parameters
        ----------
        key : Key
            Which trials are targets and which non-targets.

        Returns
        -------
        tar : (n_tar,) array of float
            Scores of the target trials, float32 or float64 as in the object, column by column of
            the key.
        non : (n_non,) array of float
            Scores of the non-target trials; those of spoofs are left out.

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
        values, found = self.found_in(key)
        self._warn_missing(key, found)
        labels = key.labels if found is None else key.labels[found]
        return values[labels == 1], values[labels == -1]

    def get_scores(self, ndx: Ndx | Key) -> FloatArray:
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
        values, found = self.found_in(ndx)
        # Models and segments without trials are not missed here.
        if found is not None:
            self._warn_missing(ndx, found)
        return values

    def set_missing_to_value(self, ndx: Ndx | Key, value: float) -> Scores:
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
        Scores
            With the models and segments of `ndx` and a score for each of its trials.

        Warns
        -----
        MissingTrialsWarning
            If trials have been filled, with counts.
        """
        ndx = as_ndx(ndx)
        filling: object = value
        if not isinstance(filling, Real) or np.isnan(float(filling)):
            raise check.invalid("value", "be a number", check.describe(value))
        aligned = self.align_with_ndx(ndx.to_ndx() if isinstance(ndx, Key) else ndx)
        at = aligned.locate(ndx)
        if at is None:
            return aligned
        # float32 stays unless the value is too large.
        dtype = np.result_type(aligned._values, np.min_scalar_type(float(value)))
        if not ndx.is_sparse:
            filled = aligned._values.astype(dtype)
            filled[ndx.trial_mask & ~aligned.trial_mask] = value
            return self._of_fields(*ndx.ids, ndx.cells, mark_read_only(filled))
        filled = np.full(ndx.n_trials, value, dtype=dtype)
        filled[at >= 0] = aligned._values
        return assemble(filled, ndx)

    def _warn_missing(self, ndx: Trials, found: BoolArray | None) -> None:
        """Warn of models, segments and trials that have no scores."""
        warn_unless_found(ndx, frame_of(ndx, self).n_found, found)

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
        Scores
            The same trials with the new scores: float32 only if they were and `func` returns
            float32.

        Examples
        --------
        >>> from bosaris_py.trials import Scores
        >>> scores = Scores([[1.0, 2.0]], ["anna"], ["s1", "s2"])
        >>> scores.transform(lambda s: 2 * s + 1).scoremat.tolist()
        [[3.0, 5.0]]
        """
        # A copy, which the function may write to.
        before = np.array(self.values)
        # NaN would pass here, and be refused far from the function that made it.
        after = check.as_vector(func(before), "func")
        if after.size != before.size:
            expected = f"return one score for each of the {before.size} that it is given"
            raise check.invalid("func", expected, f"{after.size}")
        if np.isnan(after).any():
            found = f"NaN for {np.count_nonzero(np.isnan(after))} of {after.size} scores"
            raise check.invalid("func", "not return NaN", found)
        after = after.astype(np.result_type(before, after), copy=False)
        if self.cells is None:
            after = align.from_columns(after, None, self.shape)
        elif not self.is_sparse:
            matrix = align.transposed(self._values).astype(after.dtype)
            matrix[align.transposed(self.cells)] = after
            after = mark_read_only(matrix).T
        return self._with(self.ids, self.cells, after)


def assemble(vector: npt.ArrayLike, ndx: Trials, found: BoolArray | None = None) -> Scores:
    """Give scores to the trials of `ndx`, or to those that are `found`, column by column."""
    values, cells = check.as_vector(vector, "vector"), ndx.cells
    n_trials = ndx.n_trials if found is None else int(np.count_nonzero(found))
    if values.size != n_trials:
        expected = f"have one score for each of the {n_trials} trials"
        raise check.invalid("vector", expected, f"{values.size}")
    if ndx.is_sparse:
        if found is not None and cells is not None:
            cells = mark_read_only(cells[found])
        return Scores._of_fields(*ndx.ids, cells, values)
    if found is not None:
        cells = align.from_columns(found, cells, ndx.shape)
    return Scores._of_fields(*ndx.ids, cells, align.from_columns(values, cells, ndx.shape))


def scored_ndx(scores: Scores) -> Ndx:
    """Return the trials that have scores."""
    check_scores(scores)
    return Ndx._of_fields(*scores.ids, scores.cells)


def check_scores(scores: object) -> None:
    """Raise unless `scores` holds scores of trials."""
    if not isinstance(scores, Scores):
        hint = "Were scores and key swapped?" if isinstance(scores, Trials) else ""
        if isinstance(scores, str | os.PathLike):
            hint = "Read the file: read_scores(path)."
        if isinstance(scores, Mapping):
            hint = f"Give one system of it: {check.list_some(scores)}."
        elif hasattr(scores, "columns") and not hint:
            hint = "Make scores of a data frame: from_frame(df).scores."
        raise check.invalid("scores", "be a Scores object", check.describe(scores), hint)


def class_scores(
    scores: Scores, key: Key, *, spoofs: bool = False
) -> tuple[FloatArray, FloatArray]:
    """Return what `get_tar_non` does; raise, and say why, if ids of key and scores never meet.

    With `spoofs` these are non-targets too.
    """
    check_scores(scores)
    key = as_key(key) if spoofs else as_key(key).bona_fide()
    align.refuse_strangers(frame_of(key, scores), key.ids, scores.ids)
    values, found = scores.found_in(key)
    scores._warn_missing(key, found)
    is_target = key.is_target if found is None else key.is_target[found]
    tar, non = values[is_target], values[~is_target]
    if tar.size + non.size < key.n_trials and (others := _in_other_order(scores, key)):
        if not tar.size + non.size:
            expected, got = "hold targets that have scores", "none"
            raise DisjointIdsError(argument="key", expected=expected, got=got, hint=others)
        warn_caller(others, MissingTrialsWarning)
    return tar, non


def why_unscored(scores: Scores, key: Key, *, targets: bool) -> str:
    """Say in what the ids of a class without scores differ from others; nothing if they do not."""
    chosen = key.is_target == targets
    sides = zip(key.trial_positions(), key.ids, scores.ids, ("models", "segments"), strict=True)
    for places, ids, known, noun in sides:
        wanted = ids[np.unique(places[chosen])]
        if wanted.size and known.size and not np.isin(wanted, known).any():
            return align.why_strange(wanted, known, noun, {})
    return ""


def why_none_scored(scores: Scores, ndx: Trials) -> str:
    """Say in what ids differ where no trial has a score; nothing if that cannot be told."""
    try:
        align.refuse_strangers(frame_of(ndx, scores), ndx.ids, scores.ids)
    except DisjointIdsError as error:
        return error.hint
    return _in_other_order(scores, ndx)


def _in_other_order(scores: Scores, ndx: Trials) -> str:
    """Say how many trials without a score have one as (segment, model); nothing if none has."""
    # Mostly no segment is a model, too, so nothing needs to be searched.
    if (scores.model_index.locate_last(ndx.segment_index) < 0).all():
        return ""
    scored = scored_trials(scores, ndx)
    if scored is None:
        return ""
    models, segments = (each[~scored] for each in ndx.trial_positions())
    turned = Ndx._listed_once(ndx.ids[::-1], segments, models, None, "")
    # A score of what is a trial, too, as where all are compared with all, belongs there.
    count = np.count_nonzero(trials_within(scores, turned) & ~trials_within(ndx, turned))
    text = (
        f"{count} trials without a score have one in the other order, (segment, model). Write "
        "both files in one order, or swap the columns of one when reading."
    )
    return text if count else ""


def scored_trials(scores: Scores, key: Trials) -> BoolArray | None:
    """Tell for each trial, column by column, whether it has a score; None says all."""
    check_scores(scores)
    found = trials_within(scores, key)
    return None if found.all() else found


def trials_within(source: Trials, wanted: Trials) -> BoolArray:
    """Tell for each wanted trial, column by column, whether another object has it."""
    at = source.locate(wanted)
    return np.ones(wanted.n_trials, dtype=np.bool_) if at is None else at >= 0


def scores_of_segments(scores: Scores, ndx: Ndx | Key) -> Scores:
    """Give each trial the score of its segment, where a countermeasure scored utterances.

    Parameters
    ----------
    scores : Scores
        Of one model, such as files of ``segment score`` have.
    ndx : Ndx or Key
        The trials, in which a segment may be more than once.

    Returns
    -------
    Scores
        Trials of segments without a score have none.

    Raises
    ------
    InvalidInputError
        If there are several models.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key(["anna", "bert"], ["s1"], [[True], [False]], [[False], [True]])
    >>> of_utterances = bp.Scores.from_trials(["bonafide"], ["s1"], [2.5])
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
    # Below, NaN says that there is no score.
    listed = scores.values
    check.refuse_nan(listed, "scores")
    of_segments = np.full(segments.size, np.nan, dtype=listed.dtype)
    of_segments[scores.trial_positions()[1]] = listed
    order = np.argsort(segments)
    at = np.minimum(np.searchsorted(segments, ndx.segset, sorter=order), segments.size - 1)
    known = segments[order[at]] == ndx.segset
    values = np.where(known, of_segments[order[at]], np.nan)[ndx.trial_positions()[1]]
    found = ~np.isnan(values)
    return assemble(values[found].astype(listed.dtype), ndx, None if found.all() else found)


def refuse_utterances(scores: Scores, ndx: Ndx | Key, name: str) -> None:
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


def to_natural(scores: Scores, base_of_logs: float | None) -> Scores:
    """Return log-likelihood-ratios that have a base as natural logarithms."""
    if base_of_logs is None:
        return scores
    check_scores(scores)
    factor = check.log_of_base(base_of_logs)
    return scores.transform(lambda values: factor * values.astype(np.float64))


# Scores of several systems, stacked for training and applying: by name, in their order, or one.
Systems: TypeAlias = Mapping[str, Scores] | Sequence[Scores] | Scores


def stack_scores(systems: Systems, ndx: Ndx | Key) -> Float64Array:
    """Return the scores of several systems for the same trials: (n_systems, n_trials)."""
    # A single Scores is one system. Trials come column by column of `ndx`. Raises
    # InvalidInputError if there is no system, one is not a Scores, or a score is NaN, and
    # TrialMismatchError if systems lack scores.
    ndx = as_ndx(ndx)
    (stack,) = _stacked(systems, ndx, {"trials": ndx.n_trials})
    return stack


def stack_tar_non(systems: Systems, key: Key) -> tuple[Float64Array, Float64Array]:
    """Return the target and the non-target scores of several systems, as `stack_scores`."""
    key = as_key(key)
    tar, non = _stacked(systems, key, {"targets": key.n_tar, "non-targets": key.n_non})
    return tar, non


def _stacked(systems: Systems, ndx: Ndx | Key, totals: Mapping[str, int]) -> list[Float64Array]:
    """Return one stack for each class of trials; refuse systems that lack scores."""
    # `totals` names the classes, all trials or targets and non-targets, and counts their trials.
    names: dict[int, object] = {}
    if isinstance(systems, Mapping):
        names, systems = dict(enumerate(systems)), list(systems.values())
    listed = arguments.as_list_of((Scores,), systems, "systems", "Scores", "Scores of all systems")
    # float64, whatever the systems have: sums of products follow.
    stacks = [np.empty((len(listed), total)) for total in totals.values()]
    faults = []
    for number, item in enumerate(listed):
        if ndx.n_trials:
            align.refuse_strangers(frame_of(ndx, item), ndx.ids, item.ids)
        values, found = item.found_in(ndx)
        vectors = [values]
        if isinstance(ndx, Key) and len(stacks) > 1:
            labels = ndx.labels if found is None else ndx.labels[found]
            vectors = [values[labels == 1], values[labels == -1]]
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
