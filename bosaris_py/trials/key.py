"""The answers: which trials are targets and which are not."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from attrs import Attribute, field, frozen

from bosaris_py._validation import BoolArray, as_ids, as_mask, check_shape, invalid
from bosaris_py._validation import frozen as mark_read_only
from bosaris_py.errors import TrialMismatchError
from bosaris_py.storage import hdf5, mat, text
from bosaris_py.storage.formats import TrialTable
from bosaris_py.trials._base import IdUnion, TrialMatrix, check_same_class, name_trials
from bosaris_py.trials._fields import IdList, check_cells, to_mask
from bosaris_py.trials._files import Storage, TextFileMethods
from bosaris_py.trials._frame import Frame, Positions, extract, true_positions
from bosaris_py.trials.ids import code_ids
from bosaris_py.trials.ndx import Ndx

if TYPE_CHECKING:
    from bosaris_py.trials.flat_key import FlatKey

__all__ = ["Key"]


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
    _storage: ClassVar[Storage] = Storage(
        read_hdf5=hdf5.read_key,
        write_hdf5=hdf5.write_key,
        read_mat=mat.read_key,
        write_mat=mat.write_key,
        read_txt=text.read_key,
        write_txt=text.write_key,
    )

    def __init__(
        self, modelset: IdList, segset: IdList, tar: npt.ArrayLike, non: npt.ArrayLike
    ) -> None:
        models = as_ids(modelset, "modelset", "Key")
        segments = as_ids(segset, "segset", "Key")
        shape = (models.size, segments.size)
        self.__attrs_init__(
            models,
            segments,
            to_mask(tar, shape, "tar", "Key"),
            to_mask(non, shape, "non", "Key"),
        )

    @non.validator
    def _check_disjoint(self, attribute: "Attribute[Any]", non: BoolArray) -> None:
        """Raise if a trial is both target and non-target."""
        both = self.tar & non
        if both.any():
            trials = name_trials(both, self.modelset, self.segset)
            raise invalid("non", "Key", "not share trials with `tar`", trials)

    @classmethod
    def from_trials(
        cls,
        models: IdList,
        segments: IdList,
        is_target: npt.ArrayLike,
    ) -> Self:
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
        owner = f"{cls.__name__}.from_trials"
        modelset, rows = code_ids(models, "models", owner)
        segset, cols = code_ids(segments, "segments", owner)
        labels = as_mask(is_target, "is_target", owner)
        check_shape(cols, rows.shape, "segments", owner, "like `models`")
        check_shape(labels, rows.shape, "is_target", owner, "like `models`")
        tar = np.zeros((modelset.size, segset.size), dtype=np.bool_)
        non = np.zeros_like(tar)
        tar[rows[labels], cols[labels]] = True
        non[rows[~labels], cols[~labels]] = True
        both = tar & non
        if both.any():
            found = f"both True and False for {name_trials(both, modelset, segset)}"
            raise invalid("is_target", owner, "be the same for a trial listed twice", found)
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
        from bosaris_py.trials.flat_key import FlatKey

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
        from bosaris_py.trials.flat_key import FlatKey

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
