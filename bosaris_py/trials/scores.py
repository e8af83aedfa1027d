"""Scores of trials, and stacks of the scores of several systems."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Self

import attrs
import numpy as np

import bosaris_py.trials.alignment as align
from bosaris_py import _arrays as arrays, _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, BoolArray, FloatArray, mark_read_only
from bosaris_py.files.columns import Table
from bosaris_py.trials.alignment import Frame, IdList
from bosaris_py.trials.key import Key, Ndx, as_key, as_ndx, describe_trials
from bosaris_py.trials.trials import Trials


@attrs.frozen(init=False, eq=False, repr=False)
class Scores(Trials):
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
    _contents: FloatArray = attrs.field(converter=arrays.read_only)

    _kind = _listed = _argument = "scores"
    _is_once = True

    def __init__(
        self,
        scoremat: ArrayLike,
        modelset: IdList,
        segset: IdList,
        scoremask: ArrayLike | None = None,
    ) -> None:
        ids = align.both_ids(modelset, segset)
        values = check.as_float_array(scoremat, "scoremat")
        matrix = align.fitted(values, scoremat, ids, "scoremat")
        self.__attrs_init__(*ids, align.as_cells(scoremask, ids, "scoremask"), matrix)

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList, scores: ArrayLike) -> Self:
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
        ids, rows, cols = align.code_trials(models, segments, scores=scores)
        values = check.as_vector(scores, "scores")
        check.check_shape(values, rows.shape, "scores", "like `models`")
        return cls._from_positions(ids, rows, cols, values)

    def _in_matrices(self, form: str) -> dict[str, AnyArray]:
        return {"scoremat": self.scoremat, "scoremask": self.scoremask}

    @property
    def values(self) -> FloatArray:
        """The score of each trial, column by column."""
        return self._vector()

    @property
    def scoremat(self) -> FloatArray:
        """The matrix of scores, as it was given; of a list a new one, with 0 for no trial."""
        return self._matrix(self._contents) if self.is_sparse else self._contents

    @property
    def scoremask(self) -> BoolArray:
        """True where `scoremat` holds a score."""
        return self.trial_mask

    def _counts(self) -> str:
        return f"{self.n_trials} scores"

    def _columns(self) -> dict[str, AnyArray]:
        return {"score": self.values}

    def to_ndx(self) -> Ndx:
        """Return the trials that have scores.

        Returns
        -------
        Ndx
        """
        return Ndx._made(*self.ids, self.cells)

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
        objects = align.all_of_class(Scores, self, *others)
        return Scores._merged(objects, "The scores to be merged hold two scores for")

    # Scores of the trials of others

    def found_in(
        self, ndx: Trials, frame: Frame | None = None
    ) -> tuple[FloatArray, BoolArray | None]:
        """Return the scores of the trials of an Ndx or a Key, and which of these have one.

        Parameters
        ----------
        ndx : Ndx or Key
            The trials that are wanted.
        frame : Frame, optional
            Where their ids are among those of the scores, if that is known.

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
        values, found = self._look_up(ndx, frame or align.frame_of(ndx.ids, self.ids))
        # If some score is NaN the minimum is, which needs no mask of the scores.
        if np.isnan(values.min(initial=0)):
            bad = np.ones(ndx.n_trials, np.bool_) if found is None else found.copy()
            bad[bad] = np.isnan(values)
            got = f"NaN for {describe_trials(ndx, bad)}"
            raise check.invalid("scores", "not hold NaN where there is a trial", got)
        return mark_read_only(values), found

    def _scored(self, ndx: Ndx | Key) -> tuple[FloatArray, BoolArray | None]:
        """Return what `found_in` does, and warn of models, segments and trials without scores."""
        frame = align.frame_of(ndx.ids, self.ids)
        values, found = self.found_in(ndx, frame)
        notes = align.notes_of_missing(ndx.shape, frame.n_found, ndx.counts(), ndx.counts(found))
        errors.warn(notes)
        return values, found

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
            values, found = self._scored(ndx)
            return assemble(values, ndx, found)
        # Where nothing moves, nothing is copied.
        frame = align.frame_of(ndx.ids, self.ids)
        matrix, present = frame.take(self._contents), frame.take_valid(self.cells)
        if np.isnan(matrix.min(initial=0)):
            self.found_in(ndx, frame)  # refuses NaN under the mask
        found = None if present is None else align.by_columns(present, ndx.cells)
        notes = align.notes_of_missing(ndx.shape, frame.n_found, ndx.counts(), ndx.counts(found))
        errors.warn(notes)
        cells = ndx.cells if present is None else mark_read_only(ndx.trial_mask & present)
        return self._made(*ndx.ids, cells, matrix)

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
        values, found = self._scored(key)
        labels = key.labels if found is None else key.labels[found]
        # Targets are mostly few, which numpy reads faster by numbers.
        return values[np.flatnonzero(labels == 1)], values[labels == -1]

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
            n_ids = align.frame_of(ndx.ids, self.ids).n_found
            errors.warn(align.notes_of_missing(ndx.shape, n_ids, ndx.counts(), ndx.counts(found)))
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
        ndx = as_ndx(ndx).to_ndx()
        filling = check.as_number(value, "value", "be a number", lambda x: x == x)
        # float32 stays unless the value is too large.
        dtype = np.result_type(self._contents, np.min_scalar_type(filling))
        aligned = self.align_with_ndx(ndx)
        if ndx.is_sparse or aligned.is_sparse:
            filled, at = np.full(ndx.n_trials, filling, dtype), ndx.locate(aligned)
            filled[slice(None) if at is None else at] = aligned.values
            return assemble(filled, ndx)
        # What lies outside the mask stays, here and in `transform`.
        filled = aligned._contents.astype(dtype)
        filled[ndx.trial_mask & ~aligned.trial_mask] = filling
        return self._made(*ndx.ids, ndx.cells, mark_read_only(filled))

    def __neg__(self) -> Self:
        """Return the same trials with negated scores, for instance of distances."""
        return self.transform(np.negative)

    def transform(self, func: Callable[[FloatArray], ArrayLike]) -> Self:
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
        if n_bad := np.count_nonzero(np.isnan(after)):
            raise check.invalid("func", "not return NaN", f"NaN for {n_bad} of {after.size} scores")
        after = after.astype(np.result_type(before, after), copy=False)
        if self.cells is None or self.is_sparse:
            return self._from_vector(self.ids, self.cells, after)
        matrix = align.transposed(self._contents).astype(after.dtype)
        matrix.reshape(-1)[self._codes] = after
        return self._made(*self.ids, self.cells, mark_read_only(matrix).T)


def assemble(vector: ArrayLike, ndx: Trials, found: BoolArray | None = None) -> Scores:
    """Give scores to the trials of `ndx`, or to those that are `found`, column by column."""
    values, cells = check.as_vector(vector, "vector"), ndx.cells
    if found is not None and not found.all():
        cells = ndx._codes[found] if ndx.is_sparse else align.from_columns(found, cells, ndx.shape)
    n_trials = ndx.n_trials if found is None else int(np.count_nonzero(found))
    if values.size != n_trials:
        expected = f"have one score for each of the {n_trials} trials"
        raise check.invalid("vector", expected, f"{values.size}")
    return Scores._from_vector(ndx.ids, cells, values)


def check_scores(scores: object, name: str = "scores") -> None:
    """Raise unless `scores` holds scores of trials."""
    align.instance_of((Scores,), scores, name, "be a Scores object")


def frame_among(scores: Scores, trials: Trials) -> align.Frame:
    """Return where models and segments of trials are among scores; refuse those that never are."""
    frame = align.frame_of(trials.ids, scores.ids)
    align.refuse_strangers(frame, trials.ids, scores.ids, trials.n_trials)
    return frame


def join(scores: Scores, key: Key) -> tuple[FloatArray, BoolArray | None, list[errors.Note]]:
    """Return what `found_in` does, and notes of what is missing.

    Raise, and say why, if ids of key and scores never meet.
    """
    frame = frame_among(scores, key)
    values, found = scores.found_in(key, frame)
    notes = align.notes_of_missing(key.shape, frame.n_found, key.counts(), key.counts(found))
    if found is not None and (why := why_missing(scores, key)):
        if not values.size:
            expected, got = "hold targets that have scores", "none"
            raise errors.TrialMismatchError(argument="key", expected=expected, got=got, hint=why)
        notes = [attrs.evolve(note, text=f"{note.text}. {why}") for note in notes]
    return values, found, notes


def contradictions(loaded: Mapping[str, tuple[Scores, Key | None]], key: Key) -> list[errors.Note]:
    """Note labels beside scores that contradict the key on more than one in a hundred trials."""
    notes = []
    for name, own in ((name, own) for name, (_, own) in loaded.items() if own is not None):
        said, found = assemble(own.is_target.astype(float), own).found_in(key)
        wrong = int(np.count_nonzero(said != key.is_target[... if found is None else found]))
        # Lists of every year have some labels that are wrong.
        if wrong > 0.01 * said.size:
            text = f"labels beside the scores contradict the key on {wrong} of {said.size} trials"
            notes.append(errors.Note(errors.SuspectScoresWarning, text, name, wrong))
    return notes


def joined_scores(scores: Scores, key: Key) -> tuple[FloatArray, FloatArray, list[errors.Note]]:
    """Return the scores of targets and of non-targets, without spoofs, and notes, as `join`."""
    check_scores(scores)
    key = as_key(key).bona_fide()
    values, found, notes = join(scores, key)
    is_target = key.is_target if found is None else key.is_target[found]
    return values[is_target], values[~is_target], notes


def why_missing(scores: Scores, ndx: Trials) -> str:
    """Say if trials have no score because of their order, (segment, model), or of other ids."""
    sizes = {n for x in (ndx, scores) for n in (x.n_trials, x.segset.size)}
    if len(sizes) == 1 and all(align.count_lines(x.ids) for x in (ndx, scores)):
        text = "Both number their lines, but otherwise, or of other models. Give both ids."
        raise errors.TrialMismatchError(text)
    # Mostly no segment is a model, too, so nothing needs to be searched.
    if not {*scores.modelset.tolist()}.isdisjoint(ndx.segset.tolist()):
        scored = trials_within(scores, ndx)
        models, segments = (each[~scored] for each in ndx.trial_positions())
        turned = Ndx._from_positions(ndx.ids[::-1], segments, models)
        # A score of what is a trial, too, as where all are compared with all, belongs there.
        if count := np.count_nonzero(trials_within(scores, turned) & ~trials_within(ndx, turned)):
            text = f"{count} trials without a score have one in the other order, (segment, model)"
            return f"{text}. Write both files in one order, or swap the columns of one"
    call = align.remedy_of(ndx.ids, scores.ids)
    return f"More trials meet with other ids. {call.removesuffix('.')}" if call else ""


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
    if scores.modelset.size != 1:
        got = f"{scores.modelset.size}"
        raise check.invalid("scores", "be of one model, as those of utterances are", got)
    at = scores.locate(Ndx._made(scores.modelset, ndx.segset, None))
    segments = ndx.trial_positions()[1]
    places = segments if at is None else at[segments]
    return assemble(scores.values[places[places >= 0]], ndx, places >= 0)


def refuse_utterances(scores: Scores, ndx: Ndx | Key, name: str) -> None:
    """Raise if scores are of utterances, under one model that no trial has."""
    check_scores(scores, name)
    models, segments = scores.ids
    if models.size == 1 and models[0] not in ndx.modelset and np.isin(ndx.segset, segments).any():
        hint = "trials.scores_of_segments(scores, key) repeats the score of an utterance."
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
Systems = Mapping[str, Scores] | Sequence[Scores] | Scores


def stack_scores(systems: Systems, ndx: Ndx | Key) -> FloatArray:
    """Return the scores of several systems for the same trials: (n_systems, n_trials)."""
    # A single Scores is one system. Trials come column by column of `ndx`. Raises
    # InvalidInputError if there is no system, one is not a Scores, or a score is NaN, and
    # TrialMismatchError if systems lack scores.
    return np.array(_complete(systems, as_ndx(ndx).to_ndx()), dtype=np.float64)


def stack_tar_non(systems: Systems, key: Key) -> tuple[FloatArray, FloatArray]:
    """Return the target and the non-target scores of several systems, as `stack_scores`."""
    key = as_key(key).bona_fide()
    rows, is_target = _complete(systems, key), key.is_target
    tar, non = (np.array([row[own] for row in rows], float) for own in (is_target, ~is_target))
    return tar, non


def _complete(systems: Systems, ndx: Ndx | Key) -> list[FloatArray]:
    """Return the scores of all trials of each system; refuse systems that lack some."""
    nouns = ("trials",) if len(ndx.counts()) == 1 else ("targets", "non-targets")
    names: Iterable[object] = itertools.count(1)
    rows, faults = [], []
    if isinstance(systems, Mapping):
        names, systems = list(systems), list(systems.values())
    for name, item in zip(names, align.as_list_of((Scores,), systems, "systems"), strict=False):
        values, found = item.found_in(ndx, frame_among(item, ndx))
        rows.append(values)
        if found is not None:
            # All systems are looked at, so that one message names every gap.
            counts = zip(ndx.counts(), ndx.counts(found), nouns, strict=True)
            lacks = [f"{n - has} of {n} {noun}" for n, has, noun in counts if has < n]
            faults.append(f"system {name} lacks {' and '.join(lacks)}")
            faults[-1] += (why := why_missing(item, ndx)) and f". {why}"
    align.refuse_gaps(faults)
    return rows


def to_table(trials: Ndx | Key | None = None, *, scores: Scores | None = None) -> Table:
    """Return trials, scores or both as a table, which can be written in any text format.

    Parameters
    ----------
    trials : Ndx or Key, optional
        The trials; labels and columns are those of a key. By default all that have scores.
    scores : Scores, optional
        The scores. Trials without one have NaN.

    Returns
    -------
    Table
        One line for each trial, column by column.

    Warns
    -----
    MissingTrialsWarning
        If trials have no scores.

    Examples
    --------
    >>> import bosaris_py as bp
    >>> key = bp.Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False])
    >>> bp.trials.to_table(key)
    Table: 2 lines, 1 models x 2 segments, 1 targets, 1 non-targets
    """
    if scores is None or trials is None:
        return (scores or as_ndx(trials))._table()
    ndx = as_ndx(trials)
    filled = np.full(ndx.n_trials, np.nan, dtype=scores.values.dtype)
    filled[trials_within(scores, ndx)] = scores.get_scores(ndx)
    return ndx._table(filled)
