"""Lists of ids: checks, look-up, order.

An `IdIndex` sorts the ids of an object once; every later question ("where are
these 20,000 segments in that score matrix?") is then a binary search in
numpy, without a Python loop over ids.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from attrs import Attribute, frozen

from bosaris_py._arrays import (
    BoolArray,
    FloatArray,
    IndexArray,
    StrArray,
    mark_read_only,
    read_only,
)
from bosaris_py._validation import as_ids, as_mask, as_matrix, check_shape, check_unique


def same_ids(first: StrArray, second: StrArray) -> bool:
    """Tell whether two id lists are equal, in content and order."""
    return first is second or np.array_equal(first, second)


@frozen(eq=False)
class IdIndex:
    """A list of ids, sorted once so that ids are found by binary search.

    Parameters
    ----------
    ids : (n,) array of str
        The ids in the order of the object that they belong to.
    ordered : (n,) array of str
        The same ids in ascending order; equal ids keep their order.
    order : (n,) array of int or None
        ``ordered == ids[order]``; None if the ids are sorted already, as they
        are after a merge or in anything read from a text file.
    """

    ids: StrArray
    ordered: StrArray
    order: IndexArray | None

    @classmethod
    def of(cls, ids: StrArray) -> "IdIndex":
        """Index `ids`: O(n) if they ascend, else O(n log n)."""
        if bool((ids[:-1] <= ids[1:]).all()):
            return cls(ids, ids, None)
        order = np.argsort(ids, kind="stable")
        return cls(ids, ids[order], order)

    def has_repeated(self) -> bool:
        """Tell whether an id occurs more than once."""
        return bool((self.ordered[:-1] == self.ordered[1:]).any())

    def check_unique(self, name: str) -> None:
        """Raise if an id occurs more than once, naming the first few that do."""
        if self.has_repeated():
            check_unique(self.ids, name)

    def locate(self, wanted: "IdIndex") -> IndexArray | None:
        """Return the position in this list of each wanted id, or None for "all in order".

        Parameters
        ----------
        wanted : IdIndex
            The ids to find.

        Returns
        -------
        positions : (n_wanted,) array of int, or None
            As from `locate_last`. None says that both lists are equal, so that
            nothing needs to be moved.
        """
        return None if same_ids(self.ids, wanted.ids) else self.locate_last(wanted)

    def locate_last(self, wanted: "IdIndex") -> IndexArray:
        """Return the position in this list of each wanted id.

        Parameters
        ----------
        wanted : IdIndex
            The ids to find. Because they are sorted too, the binary searches
            run through memory in order, which makes them several times faster.

        Returns
        -------
        positions : (n_wanted,) array of int
            -1 for an id that is not in this list; the last position of an id
            that is in it several times.
        """
        if self.ids.size == 0:
            return np.full(wanted.ids.size, -1, dtype=np.intp)
        places = np.searchsorted(self.ordered, wanted.ordered, side="right") - 1
        # Where no id is smaller the place is -1, the last id, which is another one.
        absent = self.ordered[places] != wanted.ordered
        if self.order is not None:
            places = self.order[places]
        places[absent] = -1
        if wanted.order is None:
            return places
        positions = np.empty_like(places)
        positions[wanted.order] = places
        return positions

    def which_in(self, names: StrArray) -> npt.NDArray[np.bool_]:
        """Tell for each id of this list, in its order, whether it is among `names`."""
        return IdIndex.of(names).locate_last(self) >= 0


def union_of(id_lists: Sequence[StrArray]) -> IdIndex:
    """Return the sorted union of several id lists."""
    ids = np.unique(np.concatenate(id_lists))
    return IdIndex(mark_read_only(ids), ids, None)


def code_ids(names: npt.ArrayLike | Sequence[str], name: str) -> tuple[StrArray, IndexArray]:
    """Split one id per trial into the sorted distinct ids and the place of each in them.

    A hash table is four times faster here than sorting all the strings, and a
    list of str needs no conversion to numpy's four bytes per character.

    Parameters
    ----------
    names : (n,) array_like of str
        One id per trial.
    name : str
        Name of the argument and of what it belongs to, for error messages.

    Returns
    -------
    ids : (k,) array of str
        The distinct ids in ascending order.
    codes : (n,) array of int
        ``ids[codes] == names``.
    """
    if isinstance(names, list) and set(map(type, names)) == {str}:
        listed: list[str] = names
    else:
        listed = as_ids(names, name).tolist()
    distinct = sorted(set(listed))
    table = dict(zip(distinct, range(len(distinct)), strict=True))
    codes = np.fromiter(map(table.__getitem__, listed), dtype=np.intp, count=len(listed))
    return as_ids(distinct, name), codes


IdList = npt.ArrayLike | Sequence[str]


def to_matrix(value: npt.ArrayLike, name: str) -> FloatArray:
    """Return values as a read-only matrix; an empty list is a matrix without cells."""
    if isinstance(value, (list, tuple)) and len(value) == 0:
        value = np.empty((0, 0))
    return read_only(as_matrix(value, name))


def to_mask(value: npt.ArrayLike, shape: tuple[int, ...], name: str) -> BoolArray:
    """Return a mask as a read-only array; an empty list fits any shape without cells."""
    mask = as_mask(value, name)
    if mask.ndim < len(shape) and mask.size == 0 and 0 in shape:
        mask = mask.reshape(shape)
    return read_only(mask)


def to_mask_or_all(value: npt.ArrayLike | None, shape: tuple[int, ...], name: str) -> BoolArray:
    """Return a mask as a read-only array; None says all true."""
    if value is None:
        return mark_read_only(np.ones(shape, dtype=np.bool_))
    return to_mask(value, shape, name)


def check_models(instance: Any, attribute: "Attribute[Any]", _: StrArray) -> None:
    """Raise if a model occurs twice."""
    instance._model_index.check_unique(attribute.name)


def check_segments(instance: Any, attribute: "Attribute[Any]", _: StrArray) -> None:
    """Raise if a segment occurs twice."""
    instance._segment_index.check_unique(attribute.name)


def check_cells(instance: Any, attribute: "Attribute[Any]", matrix: npt.NDArray[Any]) -> None:
    """Raise unless a matrix has one row per model and one column per segment."""
    shape = (instance.modelset.size, instance.segset.size)
    check_shape(matrix, shape, attribute.name, "(models, segments)")
