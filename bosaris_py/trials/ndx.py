"""The trials that are to be scored."""

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
import numpy.typing as npt
from attrs import field, frozen

from bosaris_py._validation import BoolArray, as_ids, check_shape
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.storage import hdf5, mat, text
from bosaris_py.storage.formats import TrialTable
from bosaris_py.trials._base import IdUnion, TrialMatrix, check_same_class
from bosaris_py.trials._fields import IdList, check_cells, to_mask_or_all
from bosaris_py.trials._files import Storage, TextFileMethods
from bosaris_py.trials._frame import Positions, true_positions
from bosaris_py.trials.ids import code_ids

if TYPE_CHECKING:
    from bosaris_py.trials.flat_ndx import FlatNdx

__all__ = ["Ndx"]


@frozen(init=False, eq=False, repr=False)
class Ndx(TrialMatrix, TextFileMethods):
    """The trials of an experiment: which models are tested on which segments.

    Parameters
    ----------
    modelset : (m,) array_like of str
        Ids of the models, each once.
    segset : (n,) array_like of str
        Ids of the test segments, each once.
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
    The object and its arrays are read-only; methods return new objects. Arrays
    that others could write to are copied on construction.

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
    _storage: ClassVar[Storage] = Storage(
        read_hdf5=hdf5.read_ndx,
        write_hdf5=hdf5.write_ndx,
        read_mat=mat.read_ndx,
        write_mat=mat.write_ndx,
        read_txt=text.read_ndx,
        write_txt=text.write_ndx,
    )

    def __init__(
        self, modelset: IdList, segset: IdList, trialmask: npt.ArrayLike | None = None
    ) -> None:
        models = as_ids(modelset, "modelset", "Ndx")
        segments = as_ids(segset, "segset", "Ndx")
        shape = (models.size, segments.size)
        mask = to_mask_or_all(trialmask, shape, "trialmask", "Ndx")
        self.__attrs_init__(models, segments, mask)

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList) -> Self:
        """Build an Ndx from a list of trials.

        Parameters
        ----------
        models : (k,) array_like of str
            Model of each trial.
        segments : (k,) array_like of str
            Test segment of each trial.

        Returns
        -------
        Ndx
            Models and segments are sorted, as after reading a text file. A trial
            that is listed twice counts once.

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
        owner = f"{cls.__name__}.from_trials"
        modelset, rows = code_ids(models, "models", owner)
        segset, cols = code_ids(segments, "segments", owner)
        check_shape(cols, rows.shape, "segments", owner, "like `models`")
        mask = np.zeros((modelset.size, segset.size), dtype=np.bool_)
        mask[rows, cols] = True
        return cls(modelset, segset, mark_read_only(mask))

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(np.count_nonzero(self.trialmask))

    @classmethod
    def from_table(cls, table: TrialTable, *, max_cells: int = 10**8) -> Self:
        """Build an Ndx from the lines of a text file.

        Parameters
        ----------
        table : TrialTable
            The lines.
        max_cells : int, default: 10**8
            The largest number of models times segments that is wanted.

        Returns
        -------
        Ndx
            As `FlatNdx.from_table`, as a matrix.

        Raises
        ------
        InvalidInputError
            If the matrix would have more cells.

        Warns
        -----
        DuplicateTrialWarning
            As `FlatNdx.from_table`.
        """
        # The flat form is built on this module.
        from bosaris_py.trials.flat_ndx import FlatNdx

        dense = FlatNdx.from_table(table).to_dense(max_cells=max_cells)
        return cls(**dense._arrays())

    def _counts(self) -> str:
        return f"{self.n_trials} trials"

    def _trials(self) -> BoolArray:
        """Return the mask of all trials."""
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
        >>> models, segments = ndx.trial_positions()
        >>> models.tolist(), segments.tolist()
        ([0, 0, 1], [0, 1, 1])
        """
        return true_positions(self.trialmask)

    def to_flat(self) -> "FlatNdx":
        """Return the trials as a list.

        Returns
        -------
        FlatNdx
            Models and segments in the same order.
        """
        # The flat form is built on this module.
        from bosaris_py.trials.flat_ndx import FlatNdx

        return FlatNdx(self.modelset, self.segset, *self.trial_positions())

    def merge(self, *others: "Ndx") -> "Ndx":
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : Ndx
            Objects to be merged with this one. ``Ndx.merge(a, b, c)`` and
            ``a.merge(b, c)`` mean the same.

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
        mask = np.zeros(union.shape, dtype=np.bool_)
        for item in objects:
            frame, parts = union.place(item)
            for block, cells in parts:
                mask[cells] |= frame.take(item.trialmask, block)
        return Ndx(union.models.ids, union.segments.ids, mark_read_only(mask))
