"""Which trials there are: Ndx as a matrix, FlatNdx as a list."""

from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from bosaris_py._arrays import BoolArray, Positions
from bosaris_py._validation import as_ids
from bosaris_py.storage import text
from bosaris_py.storage.formats import TrialTable
from bosaris_py.storage.trial_table import TrialOrder
from bosaris_py.trials.alignment import IdList, true_positions
from bosaris_py.trials.base import (
    MAX_CELLS,
    FlatTrials,
    IdUnion,
    TrialList,
    TrialMatrix,
    check_cell_count,
    check_cells,
    check_same_class,
    in_cells,
    scatter,
    to_mask_or_all,
)
from bosaris_py.trials.files import Storage, TextFileMethods


@frozen(init=False, eq=False, repr=False)
class Ndx(TrialMatrix, TextFileMethods):
    """The trials of an experiment: which models are tested on which segments.

    Parameters
    ----------
    modelset, segset : (m,), (n,) array_like of str
        Ids of the models and of the test segments, each once.
    trialmask : (m, n) array_like of bool, optional
        True where model and segment make a trial; by default everywhere.

    Raises
    ------
    InvalidInputError
        If an id occurs twice, or the mask is not boolean or has another shape.

    See Also
    --------
    Key : Trials of which the answer is known.
    FlatNdx : The same as a list, for trials too sparse for a matrix.

    Notes
    -----
    The toolkit checks neither that ids are unique nor the type of the mask.

    Examples
    --------
    >>> from bosaris_py.trials import Ndx
    >>> ndx = Ndx(["anna", "bert"], ["s1", "s2"], [[True, True], [False, True]])
    >>> ndx
    Ndx: 2 models x 2 segments, 3 trials
    """

    trialmask: BoolArray = field(validator=check_cells)

    _matrices: ClassVar[tuple[str, ...]] = ("trialmask",)
    _storage: ClassVar[Storage] = Storage("ndx", text.read_ndx, text.write_ndx)

    def __init__(
        self, modelset: IdList, segset: IdList, trialmask: npt.ArrayLike | None = None
    ) -> None:
        models = as_ids(modelset, "modelset")
        segments = as_ids(segset, "segset")
        shape = (models.size, segments.size)
        mask = to_mask_or_all(trialmask, shape, "trialmask")
        self.__attrs_init__(models, segments, mask)

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList) -> Self:
        """Build an Ndx from a list of trials.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            Model and test segment of each trial.

        Returns
        -------
        Ndx
            Models and segments are sorted. A trial that is listed twice counts once.

        Raises
        ------
        InvalidInputError
            If the lists differ in length.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> Ndx.from_trials(["bert", "anna", "bert"], ["s1", "s1", "s2"]).trialmask.tolist()
        [[True, False], [True, True]]
        """
        modelset, segset, mask, _ = scatter((models, segments))
        return cls(modelset, segset, mask)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(np.count_nonzero(self.trialmask))

    @classmethod
    def from_table(cls, table: TrialTable, *, max_cells: int = 10**8) -> Self:
        """Build an Ndx from the lines of a text file, as `FlatNdx.from_table`.

        Parameters
        ----------
        table : TrialTable
            The lines.
        max_cells : int, default: 10**8
            The largest size of the matrix that is wanted.

        Returns
        -------
        Ndx

        Raises
        ------
        InvalidInputError
            As for `FlatNdx.from_table`, or if the matrix would have more cells.
        """
        dense = FlatNdx.from_table(table).to_dense(max_cells=max_cells)
        return cls(*dense.ids, dense.trialmask)

    def _counts(self) -> str:
        return f"{self.n_trials} trials"

    @property
    def trial_mask(self) -> BoolArray:
        """The mask of all trials: `trialmask`."""
        return self.trialmask

    def trial_positions(self) -> tuple[Positions, Positions]:
        """Return where the model and the segment of each trial stand in the id lists.

        Returns
        -------
        models, segments : (n_trials,) arrays of int
            Positions in `modelset` and `segset`, column by column: the order of
            all vectors of trials. int32 unless the id lists are too long for it.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> ndx = Ndx(["anna", "bert"], ["s1", "s2"], [[True, True], [False, True]])
        >>> [positions.tolist() for positions in ndx.trial_positions()]
        [[0, 0, 1], [0, 1, 1]]
        """
        return true_positions(self.trialmask)

    def to_flat(self) -> "FlatNdx":
        """Return the trials as a list.

        Returns
        -------
        FlatNdx
            Models and segments in the same order.
        """
        return FlatNdx(*self.ids, *self.trial_positions())

    def merge(self, *others: "Ndx") -> "Ndx":
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : Ndx
            Further objects; ``Ndx.merge(a, b)`` and ``a.merge(b)`` mean the same.

        Returns
        -------
        Ndx
            The trials of any of the objects; models and segments are sorted.

        Raises
        ------
        InvalidInputError
            If one of the objects is not an Ndx.
        """
        objects = (self, *others)
        check_same_class(Ndx, objects)
        union = IdUnion.of(objects)
        return Ndx(*union.ids, union.merge_masks(objects, "trialmask"))


@frozen(init=False, eq=False, repr=False)
class FlatNdx(FlatTrials, TextFileMethods):
    """The trials of an experiment as a list, for lists too sparse for a matrix.

    Whatever takes an `Ndx` takes this too, and gives the same numbers.

    Parameters
    ----------
    modelset, segset : (m,), (n,) array_like of str
        Ids of the models and of the test segments, each once.
    models, segments : (k,) array_like of int
        Positions of the model and of the segment of each trial in these lists, from 0.

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
    Trials are sorted by segment, then by model, the order of all vectors of trials. A position
    takes four bytes.

    Examples
    --------
    >>> from bosaris_py.trials import FlatNdx
    >>> ndx = FlatNdx(["anna", "bert"], ["s1", "s2"], models=[1, 0], segments=[1, 0])
    >>> ndx
    FlatNdx: 2 models x 2 segments, 2 trials
    >>> ndx.to_dense().trialmask.tolist()
    [[True, False], [False, True]]
    """

    _storage: ClassVar[Storage] = Storage("flat_ndx", text.read_flat_ndx, text.write_flat_ndx)

    def __init__(
        self, modelset: IdList, segset: IdList, models: npt.ArrayLike, segments: npt.ArrayLike
    ) -> None:
        self.__attrs_init__(*TrialList.checked((modelset, segset), (models, segments))[:4])

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList) -> Self:
        """Build a FlatNdx from a list of trials given by their ids.

        Parameters
        ----------
        models, segments : (k,) array_like
            As for `Ndx.from_trials`.

        Returns
        -------
        FlatNdx
            Models and segments are sorted. A trial that is listed twice counts once.

        Raises
        ------
        InvalidInputError
            As for `Ndx.from_trials`.

        Warns
        -----
        DuplicateTrialWarning
            If a trial is listed again, or with model and segment swapped; with counts.

        Examples
        --------
        >>> from bosaris_py.trials import FlatNdx
        >>> ndx = FlatNdx.from_trials(["bert", "anna", "bert"], ["s1", "s1", "s2"])
        >>> ndx.models.tolist(), ndx.segments.tolist()
        ([0, 1, 1], [0, 0, 1])
        """
        return cls(*TrialList.coded((models, segments))[:4])._checked_for_swaps()

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
            If a trial is listed again, or with model and segment swapped; with counts.
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
            The largest size of the matrix that is wanted. A cell takes a byte.

        Returns
        -------
        Ndx
            Models and segments in the same order.

        Raises
        ------
        InvalidInputError
            If the matrix would have more cells.
        """
        check_cell_count(self.shape, max_cells)
        return Ndx(*self.ids, in_cells(self, np.ones(self.n_trials, dtype=np.bool_)))

    def merge(self, *others: "FlatNdx") -> "FlatNdx":
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : FlatNdx
            Further objects; ``FlatNdx.merge(a, b)`` and ``a.merge(b)`` mean the same.

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
        return FlatNdx(*TrialList.merged(objects, TrialOrder.conflicts, "")[:4])
