"""The answers as a list: which trials are targets and which are not."""

from functools import cached_property
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from bosaris_py._validation import BoolArray, StrArray, as_mask, invalid
from bosaris_py.storage import flat_hdf5, flat_text
from bosaris_py.storage.formats import TrialTable
from bosaris_py.storage.trial_order import TrialOrder
from bosaris_py.trials._base import check_same_class
from bosaris_py.trials._fields import IdList, check_models, check_segments
from bosaris_py.trials._files import Storage, TextFileMethods
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
from bosaris_py.trials.flat_ndx import FlatNdx
from bosaris_py.trials.key import Key

__all__ = ["FlatKey"]


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
    _storage: ClassVar[Storage] = Storage(
        read_hdf5=flat_hdf5.read_flat_key,
        write_hdf5=flat_hdf5.write_flat_key,
        read_txt=flat_text.read_flat_key,
        write_txt=flat_text.write_flat_key,
    )

    def __init__(
        self,
        modelset: IdList,
        segset: IdList,
        models: npt.ArrayLike,
        segments: npt.ArrayLike,
        is_target: npt.ArrayLike,
    ) -> None:
        labels = as_mask(is_target, "is_target", "FlatKey")
        columns = order_columns(
            (modelset, segset), (models, segments), labels, "is_target", "FlatKey"
        )
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
        owner = f"{cls.__name__}.from_trials"
        labels = as_mask(is_target, "is_target", owner)
        columns = columns_from_trials((models, segments), labels, "is_target", owner)
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
            raise invalid("table", f"{cls.__name__}.from_table", "have labels", repr(table))
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
        check_cell_count(self._shape, max_cells, "FlatKey.to_dense")
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
