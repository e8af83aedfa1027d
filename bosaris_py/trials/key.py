"""Which trials are targets and which non-targets: Key as a matrix, FlatKey as a list."""

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from attrs import Attribute, field, frozen

from bosaris_py._arrays import BoolArray, Positions, StrArray, mark_read_only
from bosaris_py._validation import as_ids, as_mask, check_shape, describe, invalid, warn_caller
from bosaris_py.errors import MissingTrialsWarning, TrialMismatchError
from bosaris_py.storage import text
from bosaris_py.storage.formats import TrialTable
from bosaris_py.storage.trial_table import TrialOrder
from bosaris_py.trials.alignment import Frame, extract, true_positions
from bosaris_py.trials.base import (
    MAX_CELLS,
    FlatTrials,
    IdUnion,
    TrialMatrix,
    check_cell_count,
    check_same_class,
    columns_from_trials,
    merge_columns,
    name_trials,
    order_columns,
    scatter,
)
from bosaris_py.trials.files import Storage, TextFileMethods
from bosaris_py.trials.ids import (
    IdList,
    check_cells,
    check_models,
    check_segments,
    code_ids,
    to_mask,
)
from bosaris_py.trials.ndx import FlatNdx, Ndx


@frozen(init=False, eq=False, repr=False)
class Key(TrialMatrix, TextFileMethods):
    """The trials of an experiment together with the right answers.

    Parameters
    ----------
    modelset : (m,) array_like of str
        Ids of the models, each once.
    segset : (n,) array_like of str
        Ids of the test segments, each once.
    tar : (m, n) array_like of bool
        True where the segment is of the model: target trials.
    non : (m, n) array_like of bool
        True where it is not: non-target trials. Where both are false there is
        no trial.

    Raises
    ------
    InvalidInputError
        If an id occurs twice, a mask is not boolean or has another shape, or a
        trial is in both masks.

    See Also
    --------
    Ndx : Trials without answers.
    FlatKey : The same as a list, for trials too sparse for matrices.

    Notes
    -----
    The object and its arrays are read-only; methods return new objects. Arrays
    that others could write to are copied on construction.

    The toolkit checks neither that ids are unique nor that the masks are
    boolean and disjoint.

    Examples
    --------
    >>> from bosaris_py.trials import Key
    >>> key = Key(["anna", "bert"], ["s1", "s2"],
    ...           tar=[[True, False], [False, True]],
    ...           non=[[False, True], [False, False]])
    >>> key
    Key: 2 models x 2 segments, 2 targets, 1 non-targets
    """

    tar: BoolArray = field(validator=check_cells)
    non: BoolArray = field(validator=check_cells)

    _matrices: ClassVar[tuple[str, ...]] = ("tar", "non")
    _storage: ClassVar[Storage] = Storage("key", text.read_key, text.write_key)

    def __init__(
        self, modelset: IdList, segset: IdList, tar: npt.ArrayLike, non: npt.ArrayLike
    ) -> None:
        models = as_ids(modelset, "modelset")
        segments = as_ids(segset, "segset")
        shape = (models.size, segments.size)
        self.__attrs_init__(
            models, segments, to_mask(tar, shape, "tar"), to_mask(non, shape, "non")
        )

    @non.validator
    def _check_disjoint(self, attribute: "Attribute[Any]", non: BoolArray) -> None:
        """Raise if a trial is both target and non-target."""
        both = self.tar & non
        if both.any():
            trials = name_trials(both, self.modelset, self.segset)
            raise invalid("non", "not share trials with `tar`", trials)

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList, is_target: npt.ArrayLike) -> Self:
        """Build a Key from a list of trials.

        Parameters
        ----------
        models : (k,) array_like of str
            Model of each trial.
        segments : (k,) array_like of str
            Test segment of each trial.
        is_target : (k,) array_like of bool
            True for a target trial, False for a non-target trial.

        Returns
        -------
        Key
            Models and segments are sorted, as after reading a text file. A trial
            that is listed twice with the same label counts once.

        Raises
        ------
        InvalidInputError
            If the lists differ in length, the labels are not boolean, or a trial
            is listed both as target and as non-target.

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> Key.from_trials(["bert", "anna"], ["s1", "s1"], [True, False])
        Key: 2 models x 1 segments, 1 targets, 1 non-targets
        """
        modelset, rows = code_ids(models, "models")
        segset, cols = code_ids(segments, "segments")
        labels = as_mask(is_target, "is_target")
        check_shape(cols, rows.shape, "segments", "like `models`")
        check_shape(labels, rows.shape, "is_target", "like `models`")
        tar = np.zeros((modelset.size, segset.size), dtype=np.bool_)
        non = np.zeros_like(tar)
        tar[rows[labels], cols[labels]] = True
        non[rows[~labels], cols[~labels]] = True
        both = tar & non
        if both.any():
            found = f"both True and False for {name_trials(both, modelset, segset)}"
            raise invalid("is_target", "be the same for a trial listed twice", found)
        return cls(modelset, segset, mark_read_only(tar), mark_read_only(non))

    @classmethod
    def from_table(cls, table: TrialTable, *, max_cells: int = 10**8) -> Self:
        """Build a Key from the lines of a text file.

        Parameters
        ----------
        table : TrialTable
            The lines.
        max_cells : int, default: 10**8
            The largest number of models times segments that is wanted.

        Returns
        -------
        Key
            As `FlatKey.from_table`, as two matrices.

        Raises
        ------
        InvalidInputError
            If the table has no labels, a trial has two different ones, or the matrices would
            have more cells.

        Warns
        -----
        DuplicateTrialWarning
            As `FlatKey.from_table`.
        """
        # The flat form is built on this module.

        dense = FlatKey.from_table(table).to_dense(max_cells=max_cells)
        return cls(**dense._arrays())

    @cached_property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self.tar))

    @cached_property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(np.count_nonzero(self.non))

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return self.n_tar + self.n_non

    def _counts(self) -> str:
        return f"{self.n_tar} targets, {self.n_non} non-targets"

    def _trials(self) -> BoolArray:
        """Return the mask of all trials."""
        return self.tar | self.non

    def trial_positions(self) -> tuple[Positions, Positions]:
        """Return where the model and the segment of each trial stand in the id lists.

        Returns
        -------
        models, segments : (n_trials,) arrays of int
            Positions in `modelset` and `segset`, column by column: the order of
            all vectors of trials. int32 unless the id lists are too long for it.
        """
        return true_positions(self._trials())

    def trial_labels(self) -> BoolArray:
        """Tell for each trial whether it is a target.

        Returns
        -------
        (n_trials,) array of bool
            True for a target, column by column like `trial_positions`.

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> key = Key(["anna", "bert"], ["s1", "s2"],
        ...           tar=[[True, False], [False, True]],
        ...           non=[[False, True], [False, False]])
        >>> key.trial_labels().tolist()
        [True, False, True]
        """
        frame = Frame(None, None, self._shape)
        (labels,) = extract(frame, self.tar, None, (self._trials(),))
        return mark_read_only(labels)

    def to_ndx(self) -> Ndx:
        """Return the trials without the answers.

        Returns
        -------
        Ndx
            Models and segments in the same order.
        """
        return Ndx(self.modelset, self.segset, mark_read_only(self._trials()))

    def to_flat(self) -> "FlatKey":
        """Return the key as a list.

        Returns
        -------
        FlatKey
            Models and segments in the same order.
        """
        # The flat form is built on this module.

        labels = self.trial_labels()
        return FlatKey(self.modelset, self.segset, *self.trial_positions(), labels)

    def merge(self, *others: "Key") -> "Key":
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : Key
            Objects to be merged with this one. ``Key.merge(a, b, c)`` and
            ``a.merge(b, c)`` mean the same.

        Returns
        -------
        Key
            The trials of any of the objects; models and segments are sorted.

        Raises
        ------
        InvalidInputError
            If one of the objects is not a Key.
        TrialMismatchError
            If a trial is a target in one and a non-target in another.
        """
        objects = (self, *others)
        check_same_class(Key, objects)
        union = IdUnion.of(objects)
        tar = np.zeros(union.shape, dtype=np.bool_)
        non = np.zeros(union.shape, dtype=np.bool_)
        for item in objects:
            frame, parts = union.place(item)
            for block, cells in parts:
                tar[cells] |= frame.take(item.tar, block)
                non[cells] |= frame.take(item.non, block)
        both = tar & non
        if both.any():
            trials = name_trials(both, union.models.ids, union.segments.ids)
            message = f"The keys to be merged disagree whether a trial is a target: {trials}."
            raise TrialMismatchError(message)
        return Key(union.models.ids, union.segments.ids, mark_read_only(tar), mark_read_only(non))


@frozen(init=False, eq=False, repr=False)
class FlatKey(FlatTrials, TextFileMethods):
    """The trials of an experiment with the right answers, as a list.

    For lists too sparse for a matrix. Whatever takes a `Key` takes this too, and
    gives the same numbers.

    Parameters
    ----------
    modelset : (m,) array_like of str
        Ids of the models, each once.
    segset : (n,) array_like of str
        Ids of the test segments, each once.
    models : (k,) array_like of int
        The model of each trial: its position in `modelset`, from 0.
    segments : (k,) array_like of int
        The test segment of each trial: its position in `segset`.
    is_target : (k,) array_like of bool
        True for a target trial, False for a non-target trial.

    Raises
    ------
    InvalidInputError
        If an id occurs twice, a position does not fit the ids, the labels are not boolean, or a
        trial is listed both as target and as non-target.

    Warns
    -----
    DuplicateTrialWarning
        If a trial is listed more than once with the same label; it counts once.

    See Also
    --------
    Key : The same as two matrices.

    Notes
    -----
    Trials are put into the order that every vector of trials has: by segment, then by
    model. A trial takes nine bytes. The object and its arrays are read-only; methods return
    new objects. Arrays that others could write to are copied on construction.

    Examples
    --------
    >>> from bosaris_py.trials import FlatKey, Scores
    >>> key = FlatKey(["anna", "bert"], ["s1", "s2"], models=[0, 1, 1], segments=[0, 0, 1],
    ...               is_target=[True, False, True])
    >>> key
    FlatKey: 2 models x 2 segments, 2 targets, 1 non-targets
    >>> scores = Scores([[1.5, -2.0], [0.5, 3.0]], ["anna", "bert"], ["s1", "s2"])
    >>> tar, non = scores.get_tar_non(key)
    >>> tar.tolist(), non.tolist()
    ([1.5, 3.0], [0.5])
    """

    modelset: StrArray = field(validator=check_models)
    segset: StrArray = field(validator=check_segments)
    models: Positions = field()
    segments: Positions = field()
    is_target: BoolArray = field()

    _content = ("is_target", "labels")
    _storage: ClassVar[Storage] = Storage("flat_key", text.read_flat_key, text.write_flat_key)

    def __init__(
        self,
        modelset: IdList,
        segset: IdList,
        models: npt.ArrayLike,
        segments: npt.ArrayLike,
        is_target: npt.ArrayLike,
    ) -> None:
        labels = as_mask(is_target, "is_target")
        columns = order_columns((modelset, segset), (models, segments), labels, "is_target")
        self.__attrs_init__(
            columns.modelset, columns.segset, columns.models, columns.segments, columns.contents
        )

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList, is_target: npt.ArrayLike) -> Self:
        """Build a FlatKey from a list of trials given by their ids.

        Parameters
        ----------
        models : (k,) array_like of str
            Model of each trial.
        segments : (k,) array_like of str
            Test segment of each trial.
        is_target : (k,) array_like of bool
            True for a target trial, False for a non-target trial.

        Returns
        -------
        FlatKey
            Models and segments are sorted, as after reading a text file. A trial
            that is listed twice with the same label counts once.

        Raises
        ------
        InvalidInputError
            If the lists differ in length, the labels are not boolean, or a trial
            is listed both as target and as non-target.

        Warns
        -----
        DuplicateTrialWarning
            If a trial is listed more than once, or the same two segments in both orders, as two
            trials; with counts and the first few.

        Examples
        --------
        >>> from bosaris_py.trials import FlatKey
        >>> FlatKey.from_trials(["bert", "anna"], ["s1", "s1"], [True, False])
        FlatKey: 2 models x 1 segments, 1 targets, 1 non-targets
        """
        labels = as_mask(is_target, "is_target")
        columns = columns_from_trials((models, segments), labels, "is_target")
        found = cls(
            columns.modelset, columns.segset, columns.models, columns.segments, columns.contents
        )
        return found._checked_for_swaps()

    @classmethod
    def from_table(cls, table: TrialTable) -> Self:
        """Build a FlatKey from the lines of a text file.

        Parameters
        ----------
        table : TrialTable
            The lines, with labels. Scores and other columns are left out.

        Returns
        -------
        FlatKey
            The trials, with the ids of the table.

        Raises
        ------
        InvalidInputError
            If the table has no labels, or a trial is listed both as target and as non-target.

        Warns
        -----
        DuplicateTrialWarning
            If a trial is listed more than once, or the same two segments in both orders, as two
            trials; with counts and the first few.
        """
        if table.is_target is None:
            raise invalid("table", "have labels", repr(table))
        found = cls(table.modelset, table.segset, table.models, table.segments, table.is_target)
        return found._checked_for_swaps()

    @cached_property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self.is_target))

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return self.n_trials - self.n_tar

    def _counts(self) -> str:
        return f"{self.n_tar} targets, {self.n_non} non-targets"

    def trial_labels(self) -> BoolArray:
        """Tell for each trial whether it is a target.

        Returns
        -------
        (n_trials,) array of bool
            The field `is_target`: True for a target, column by column like `trial_positions`.
        """
        return self.is_target

    def to_ndx(self) -> FlatNdx:
        """Return the trials without the answers.

        Returns
        -------
        FlatNdx
            Models and segments in the same order.
        """
        return FlatNdx(self.modelset, self.segset, self.models, self.segments)

    def to_dense(self, *, max_cells: int = MAX_CELLS) -> Key:
        """Return the key as a pair of matrices.

        Parameters
        ----------
        max_cells : int, default: 10**8
            The largest number of models times segments that is wanted. A cell takes two bytes.

        Returns
        -------
        Key
            Models and segments in the same order.

        Raises
        ------
        InvalidInputError
            If the matrices would have more cells.
        """
        check_cell_count(self._shape, max_cells)
        return Key(
            self.modelset,
            self.segset,
            scatter(self, self.is_target),
            scatter(self, ~self.is_target),
        )

    def merge(self, *others: "FlatKey") -> "FlatKey":
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : FlatKey
            Objects to be merged with this one. ``FlatKey.merge(a, b, c)`` and
            ``a.merge(b, c)`` mean the same.

        Returns
        -------
        FlatKey
            The trials of any of the objects; models and segments are sorted.

        Raises
        ------
        InvalidInputError
            If one of the objects is not a FlatKey.
        TrialMismatchError
            If a trial is a target in one and a non-target in another.
        """
        objects = (self, *others)
        check_same_class(FlatKey, objects)
        fault = "The keys to be merged disagree whether a trial is a target:"
        labels = [item.is_target for item in objects]
        merged = merge_columns(objects, labels, TrialOrder.conflicts, fault)
        return FlatKey(
            merged.modelset, merged.segset, merged.models, merged.segments, merged.contents
        )


AnyNdx = Ndx | Key | FlatNdx | FlatKey

AnyKey = Key | FlatKey


def check_trials(ndx: object) -> None:
    """Raise unless `ndx` is an Ndx or a Key, dense or flat."""
    if not isinstance(ndx, AnyNdx):
        raise invalid("ndx", "be an Ndx or a Key", describe(ndx))


def check_key(key: object) -> None:
    """Raise unless `key` is a Key or a FlatKey."""
    if not isinstance(key, AnyKey):
        raise invalid("key", "be a Key, which says what the targets are", describe(key))


def warn_missing_counts(
    ndx: AnyNdx, n_models: int, n_segments: int, n_found: tuple[int, ...]
) -> None:
    """Warn, in the toolkit's words, about models, segments and trials that are missing.

    Parameters
    ----------
    ndx : Ndx, Key, FlatNdx or FlatKey
        What was wanted.
    n_models, n_segments : int
        Number of its models and segments that were found.
    n_found : tuple of int
        Number of trials found; for a key, of targets and of non-targets.
    """
    counts = [
        (ndx.modelset.size, n_models, "models reduced from {wanted} to {found}"),
        (ndx.segset.size, n_segments, "testsegs reduced from {wanted} to {found}"),
    ]
    if isinstance(ndx, AnyKey):
        n_tar, n_non = n_found
        counts.append((ndx.n_tar, n_tar, "{missing} of {wanted} targets missing."))
        counts.append((ndx.n_non, n_non, "{missing} of {wanted} non-targets missing."))
    else:
        counts.append((ndx.n_trials, n_found[0], "{missing} of {wanted} trials missing"))
    for wanted, found, message in counts:
        if found < wanted:
            text = message.format(wanted=wanted, found=found, missing=wanted - found)
            warn_caller(text, MissingTrialsWarning)


def warn_missing(ndx: Ndx | Key, n_models: int, n_segments: int, mask: BoolArray) -> None:
    """Warn like `warn_missing_counts`; `mask` says which of the cells were found."""
    n_trials = int(np.count_nonzero(mask))
    if isinstance(ndx, Key):
        n_tar = ndx.n_tar
        if n_trials < ndx.n_trials:
            n_tar = int(np.count_nonzero(mask & ndx.tar))
        warn_missing_counts(ndx, n_models, n_segments, (n_tar, n_trials - n_tar))
    else:
        warn_missing_counts(ndx, n_models, n_segments, (n_trials,))


def warn_missing_listed(
    ndx: AnyNdx, n_models: int, n_segments: int, found: BoolArray | None
) -> None:
    """Warn like `warn_missing_counts`; `found` says which trials were found, None all."""
    n_trials = ndx.n_trials if found is None else int(np.count_nonzero(found))
    if isinstance(ndx, AnyKey):
        n_tar = ndx.n_tar
        if found is not None:
            n_tar = int(np.count_nonzero(found & ndx.trial_labels()))
        warn_missing_counts(ndx, n_models, n_segments, (n_tar, n_trials - n_tar))
    else:
        warn_missing_counts(ndx, n_models, n_segments, (n_trials,))
