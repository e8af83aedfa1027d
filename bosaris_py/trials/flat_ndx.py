"""The trials that are to be scored, as a list."""

from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from bosaris_py._validation import StrArray
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
from bosaris_py.trials.ndx import Ndx

__all__ = ["FlatNdx"]


@frozen(init=False, eq=False, repr=False)
class FlatNdx(FlatTrials, TextFileMethods):
    """The trials of an experiment as a list, for lists too sparse for a matrix.

    Whatever takes an `Ndx` takes this too, and gives the same numbers.

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

    Raises
    ------
    InvalidInputError
        If an id occurs twice, or a position does not fit the ids.

    Warns
    -----
    DuplicateTrialWarning
        If a trial is listed more than once; it counts once.

    See Also
    --------
    Ndx : The same as a matrix.
    FlatKey : Trials of which the answer is known, as a list.

    Notes
    -----
    Trials are put into the order that every vector of trials has: by segment, then by
    model. Positions take four bytes each. The object and its arrays are read-only; methods
    return new objects. Arrays that others could write to are copied on construction.

    Examples
    --------
    >>> from bosaris_py.trials import FlatNdx
    >>> ndx = FlatNdx(["anna", "bert"], ["s1", "s2"], models=[1, 0], segments=[1, 0])
    >>> ndx
    FlatNdx: 2 models x 2 segments, 2 trials
    >>> ndx.to_dense().trialmask.tolist()
    [[True, False], [False, True]]
    """

    modelset: StrArray = field(validator=check_models)
    segset: StrArray = field(validator=check_segments)
    models: Positions = field()
    segments: Positions = field()

    _storage: ClassVar[Storage] = Storage(
        read_hdf5=flat_hdf5.read_flat_ndx,
        write_hdf5=flat_hdf5.write_flat_ndx,
        read_txt=flat_text.read_flat_ndx,
        write_txt=flat_text.write_flat_ndx,
    )

    def __init__(
        self, modelset: IdList, segset: IdList, models: npt.ArrayLike, segments: npt.ArrayLike
    ) -> None:
        columns = order_columns((modelset, segset), (models, segments), None, "", "FlatNdx")
        self.__attrs_init__(columns.modelset, columns.segset, columns.models, columns.segments)

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList) -> Self:
        """Build a FlatNdx from a list of trials given by their ids.

        Parameters
        ----------
        models : (k,) array_like of str
            Model of each trial.
        segments : (k,) array_like of str
            Test segment of each trial.

        Returns
        -------
        FlatNdx
            Models and segments are sorted, as after reading a text file. A trial
            that is listed twice counts once.

        Raises
        ------
        InvalidInputError
            If the lists differ in length.

        Warns
        -----
        DuplicateTrialWarning
            If a trial is listed more than once, or the same two segments in both orders, as two
            trials; with counts and the first few.

        Examples
        --------
        >>> from bosaris_py.trials import FlatNdx
        >>> ndx = FlatNdx.from_trials(["bert", "anna", "bert"], ["s1", "s1", "s2"])
        >>> ndx.models.tolist(), ndx.segments.tolist()
        ([0, 1, 1], [0, 0, 1])
        """
        owner = f"{cls.__name__}.from_trials"
        columns = columns_from_trials((models, segments), None, "", owner)
        found = cls(columns.modelset, columns.segset, columns.models, columns.segments)
        return found._checked_for_swaps()

    @classmethod
    def from_table(cls, table: TrialTable) -> Self:
        """Build a FlatNdx from the lines of a text file.

        Parameters
        ----------
        table : TrialTable
            The lines. Labels, scores and other columns are left out.

        Returns
        -------
        FlatNdx
            The trials, with the ids of the table.

        Warns
        -----
        DuplicateTrialWarning
            If a trial is listed more than once, or the same two segments in both orders, as two
            trials; with counts and the first few.
        """
        found = cls(table.modelset, table.segset, table.models, table.segments)
        return found._checked_for_swaps()

    def _counts(self) -> str:
        return f"{self.n_trials} trials"

    def to_dense(self, *, max_cells: int = MAX_CELLS) -> Ndx:
        """Return the trials as a matrix.

        Parameters
        ----------
        max_cells : int, default: 10**8
            The largest number of models times segments that is wanted. A cell takes a byte.

        Returns
        -------
        Ndx
            Models and segments in the same order.

        Raises
        ------
        InvalidInputError
            If the matrix would have more cells.
        """
        check_cell_count(self._shape, max_cells, "FlatNdx.to_dense")
        mask = scatter(self, np.ones(self.n_trials, dtype=np.bool_))
        return Ndx(self.modelset, self.segset, mask)

    def merge(self, *others: "FlatNdx") -> "FlatNdx":
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : FlatNdx
            Objects to be merged with this one. ``FlatNdx.merge(a, b, c)`` and
            ``a.merge(b, c)`` mean the same.

        Returns
        -------
        FlatNdx
            The trials of any of the objects; models and segments are sorted.

        Raises
        ------
        InvalidInputError
            If one of the objects is not a FlatNdx.
        """
        objects = (self, *others)
        check_same_class(FlatNdx, objects)
        merged = merge_columns(objects, None, TrialOrder.conflicts, "")
        return FlatNdx(merged.modelset, merged.segset, merged.models, merged.segments)
