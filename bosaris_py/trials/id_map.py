"""Pairs of ids, for instance of models and the speakers that they belong to."""

from __future__ import annotations

from typing import Self

import numpy as np
from attrs import field, frozen

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import IntArray, StrArray, mark_read_only, read_only
from bosaris_py.trials.alignment import IdList, all_of_class, kept, places_of
from bosaris_py.trials.trials import FileMethods

_REPEATED = "The {} id list contains duplicate identifiers."


@frozen(init=False, eq=False, repr=False)
class IdMap(FileMethods):
    """Pairs of ids, for instance each model with its speaker.

    Parameters
    ----------
    leftids : (n,) array_like of str
        The left id of each pair.
    rightids : (n,) array_like of str
        The right id of each pair.

    Warns
    -----
    MissingTrialsWarning
        If a left id occurs more than once: of such pairs the last one counts when left ids are
        mapped.

    Notes
    -----
    The toolkit also warns on construction if a right id occurs more than once,
    as it does in every map from models to speakers. Here that warning comes from
    `map_right_to_left`, where it matters. An empty map is valid; in the toolkit it
    is not.

    Examples
    --------
    >>> from bosaris_py.trials import IdMap
    >>> speakers = IdMap(["anna_1", "anna_2", "bert_1"], ["anna", "anna", "bert"])
    >>> speakers.map_left_to_right(["bert_1", "anna_2"]).tolist()
    ['bert', 'anna']
    """

    leftids: StrArray = field(converter=read_only)
    rightids: StrArray = field(converter=read_only)

    _kind = "id_map"

    def __init__(self, leftids: IdList, rightids: IdList) -> None:
        check.check_same_rows({"leftids": leftids, "rightids": rightids})
        lefts, rights = check.as_ids(leftids, "leftids"), check.as_ids(rightids, "rightids")
        check.check_shape(rights, lefts.shape, "rightids", "like `leftids`")
        self.__attrs_init__(lefts, rights)
        if _repeats(self.leftids):
            errors.warn([errors.Note(errors.MissingTrialsWarning, _REPEATED.format("left"))])

    def __repr__(self) -> str:
        """Return the counts in one line."""
        return f"IdMap: {self.leftids.size} pairs"

    def map_left_to_right(self, ids: IdList) -> StrArray:
        """Return the right ids that belong to some left ids.

        Parameters
        ----------
        ids : (k,) array_like of str
            Left ids, in any order, repeated or not.

        Returns
        -------
        (k,) array of str
            The right id of each, in the same order. Shorter if some are not in the map, so check
            lengths, or heed the warning, before pairing them. Where a left id is in the map more
            than once its last pair counts.

        Warns
        -----
        MissingTrialsWarning
            If ids are not in the map, with their number.

        Notes
        -----
        The toolkit documents the last pair too, but finds the first one in
        MATLAB since release 2012b.
        """
        return _mapped(self.leftids, self.rightids, ids)

    def map_right_to_left(self, ids: IdList) -> StrArray:
        """Return the left ids that belong to some right ids.

        Parameters
        ----------
        ids : (k,) array_like of str
            Right ids.

        Returns
        -------
        (k,) array of str
            As for `map_left_to_right`.

        Warns
        -----
        MissingTrialsWarning
            If a right id of the map occurs more than once.
        MissingTrialsWarning
            As for `map_left_to_right`.
        """
        if _repeats(self.rightids):
            errors.warn([errors.Note(errors.MissingTrialsWarning, _REPEATED.format("right"))])
        return _mapped(self.rightids, self.leftids, ids)

    def filter_on_left(self, ids: IdList, keep: bool) -> Self:  # noqa: FBT001
        """Keep only, or remove, the pairs whose left id is listed.

        Parameters
        ----------
        ids : (k,) array_like of str
            Left ids; unknown ones are ignored.
        keep : bool
            True keeps the pairs in the list, False the others. May be given by position.

        Returns
        -------
        IdMap
            The remaining pairs in their old order.
        """
        return self._at(kept(self.leftids, ids, "ids", keep=keep))

    def filter_on_right(self, ids: IdList, keep: bool) -> Self:  # noqa: FBT001
        """Keep only, or remove, the pairs whose right id is listed.

        Parameters
        ----------
        ids, keep
            As for `filter_on_left`, of right ids.

        Returns
        -------
        IdMap
        """
        return self._at(kept(self.rightids, ids, "ids", keep=keep))

    def merge(self, *others: "IdMap") -> "IdMap":
        """Append the pairs of other maps.

        Parameters
        ----------
        *others : IdMap
            Further maps; ``IdMap.merge(a, b)`` and ``a.merge(b)`` mean the same.

        Returns
        -------
        IdMap
            The pairs of all maps, one after the other. Of pairs with the same left id the last one
            counts.

        Warns
        -----
        MissingTrialsWarning
            If two of the maps share a left id.
        """
        objects = all_of_class(IdMap, self, *others)
        # An id that one map repeats has been warned about; here only ids of two maps count.
        distinct = [np.unique(item.leftids) for item in objects]
        if _repeats(np.concatenate(distinct)):
            errors.warn(
                [errors.Note(errors.MissingTrialsWarning, "idmaps being merged share ids.")]
            )
        sides = zip(*((item.leftids, item.rightids) for item in objects), strict=True)
        # The constructor would warn again.
        return IdMap._made(*(np.concatenate(side) for side in sides))

    def _at(self, places: IntArray) -> Self:
        return self._made(self.leftids[places], self.rightids[places])


def _repeats(ids: StrArray) -> bool:
    """Tell whether an id occurs more than once."""
    return len({*ids.tolist()}) < ids.size


def _mapped(source: StrArray, target: StrArray, ids: IdList) -> StrArray:
    """Return what belongs to `ids`, warning about those that are not in the source."""
    wanted = check.as_ids(ids, "ids")
    positions = places_of(wanted, source)
    found = positions[positions >= 0]
    if found.size < wanted.size:
        missing = wanted.size - found.size
        message = f"{missing} ids could not be mapped because they were not present in the map."
        errors.warn([errors.Note(errors.MissingTrialsWarning, message)])
    return mark_read_only(target[found])
