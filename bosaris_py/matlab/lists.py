"""The toolkit's lists and maps of names, and its way to print a matrix."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, BoolArray, StrArray, mark_read_only
from bosaris_py._notes import warn_caller
from bosaris_py._validation import FilePath, as_ids, as_matrix, describe, invalid, list_some
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning
from bosaris_py.files.cells import read_words
from bosaris_py.files.replacing import replacing
from bosaris_py.trials import IdMap, Key, Ndx
from bosaris_py.trials.alignment import IdIndex

_Trials = TypeVar("_Trials", Ndx, Key)

_MASKS: dict[type, tuple[str, ...]] = {Ndx: ("trialmask",), Key: ("tar", "non")}


def _to_keys(values: npt.ArrayLike) -> StrArray:
    return as_ids(values, "keySet")


@attrs.frozen(eq=False)
class KeyValueMap:
    """The toolkit's struct of a map: keys, of which equal ones give the last, and their values."""

    keySet: StrArray = attrs.field(converter=_to_keys)
    values: AnyArray = attrs.field(converter=np.asarray)

    @values.validator
    def _check_values(self, attribute: object, values: AnyArray) -> None:
        """Raise unless there is one value for each key."""
        if values.shape != self.keySet.shape:
            expected = f"hold one value for each of the {self.keySet.size} keys"
            raise invalid("values", expected, describe(values))


MapLike = KeyValueMap | IdMap | Mapping[str, object]


def _as_map(given: object, name: str) -> KeyValueMap:
    if isinstance(given, KeyValueMap):
        return given
    if isinstance(given, IdMap):
        return KeyValueMap(given.leftids, given.rightids)
    if isinstance(given, Mapping):
        # A struct of the toolkit, saved and read as a dict, or a dict that is itself the map.
        if set(given) == {"keySet", "values"} and not isinstance(given["keySet"], str):
            return KeyValueMap(given["keySet"], given["values"])
        return KeyValueMap(list(given), list(given.values()))
    raise invalid(name, "be what read_map returns, an IdMap or a dict", describe(given))


def read_list(filename: FilePath) -> list[str]:
    """Read a list of names, separated by white space, from a text file.

    Toolkit: read_list.m; native: none; differs: returns a list.
    """
    return read_words(filename)


def save_list(filename: FilePath, names: npt.ArrayLike) -> None:
    """Write a list of names to a text file, one in each line.

    Toolkit: save_list.m; native: none; differs: refuses names that `read_list` would take apart.
    """
    ids = as_ids(names, "list").tolist()
    broken = [name for name in ids if name.split() != [name]]
    if broken:
        raise invalid("list", "hold names without white space", list_some(map(repr, broken)))
    with replacing(filename) as temporary:
        Path(temporary).write_text("".join(f"{name}\n" for name in ids), encoding="utf-8")


def read_map(filename: FilePath) -> KeyValueMap:
    """Read a map from a text file with a key and a value in each line.

    Toolkit: read_map.m; native: `IdMap.read_txt`; differs: names the line that is not right.
    """
    pairs = IdMap.read_txt(filename)
    return KeyValueMap(pairs.leftids, pairs.rightids)


def maplookup(map: MapLike, keys: npt.ArrayLike, *, nargout: int = 1) -> Any:
    """Look up the values of keys: values, or for two outputs values and which are present.

    Toolkit: maplookup.m; native: ``IdMap.map_left_to_right``; differs: MATLAB sees how many outputs
    are wanted, here `nargout` says it. With one, missing keys are an error; with two, they are left
    out of the values.

    Examples
    --------
    >>> maplookup({"a": "1", "b": "2"}, ["b", "a"]).tolist()
    ['2', '1']
    >>> values, is_present = maplookup({"a": "1"}, ["b", "a"], nargout=2)
    >>> values.tolist(), is_present.tolist()
    (['1'], [False, True])
    """
    table = _as_map(map, "map")
    wanted = as_ids(keys, "keys")
    positions = IdIndex(table.keySet).locate_last(IdIndex(wanted))
    is_present: BoolArray = mark_read_only(positions >= 0)
    values = mark_read_only(table.values[positions[is_present]])
    if nargout == 2:
        return values, is_present
    if nargout != 1:
        raise invalid("nargout", "be 1 or 2", describe(nargout))
    n_missing = int(np.count_nonzero(~is_present))
    if n_missing:
        message = f"{n_missing} of keys not in map: {list_some(wanted[~is_present].tolist())}"
        raise InvalidInputError(message)
    return values


def map_mod_names(ndx_or_key: _Trials, src_map: MapLike, dst_map: MapLike) -> _Trials:
    """Rename models: each to what the second map makes of its segment in the first map.

    Toolkit: map_mod_names.m; native: none; differs: refuses maps that give two models the same
    name, for instance models of one segment. Models that are not in the first map keep their names;
    those whose segment is not in the second map are removed.

    Examples
    --------
    >>> ndx = Ndx(["old", "older"], ["s1"])
    >>> training = {"old": "segment1", "older": "segment2"}
    >>> names = {"segment1": "new", "segment2": "newer"}
    >>> map_mod_names(ndx, training, names).modelset.tolist()
    ['new', 'newer']
    """
    masks = _MASKS.get(type(ndx_or_key))
    if masks is None:
        raise invalid("ndx_or_key", "be an Ndx or a Key", describe(ndx_or_key))
    models = ndx_or_key.modelset
    segments, in_source = maplookup(_as_map(src_map, "src_map"), models, nargout=2)
    renamed, in_target = maplookup(_as_map(dst_map, "dst_map"), segments, nargout=2)
    gone = models[in_source][~in_target]
    n_unchanged = int(np.count_nonzero(~in_source))
    if n_unchanged:
        warn_caller(f"Keeping {n_unchanged} model name(s) unchanged.", MissingTrialsWarning)
    if gone.size:
        warn_caller(f"Discarding {gone.size} row(s) in score matrix.", MissingTrialsWarning)
    # Names of any length: a fixed-width array would cut those that are longer.
    names = models.astype(object)
    names[np.flatnonzero(in_source)[in_target]] = renamed
    stays = np.isin(models, gone, invert=True)
    new_names = names[stays].tolist()
    # The toolkit would make a set of models with a name twice, in which only one is found.
    shared = sorted(name for name, count in Counter(new_names).items() if count > 1)
    if shared:
        merged = models[stays][[name == shared[0] for name in new_names]].tolist()
        raise InvalidInputError(
            f"`src_map` and `dst_map` must give each model a name of its own; got "
            f"{len(shared)} shared ({list_some(shared)}), the first by {list_some(merged)}."
        )
    fields = [new_names, ndx_or_key.segset]
    return type(ndx_or_key)(*fields, *(getattr(ndx_or_key, mask)[stays] for mask in masks))


# Whole numbers with more digits than float64 holds are not written out: 2**53 has 16.
_MOST_DIGITS = 15


def sprintfmatrix(X: npt.ArrayLike, rowid: Sequence[object] | None = None) -> str:
    r"""Write a matrix as text, one line for each row, possibly with a name before each.

    Toolkit: sprintfmatrix.m; native: none; differs: columns are those of GNU Octave's num2str,
    where MATLAB's may be wider or narrower.

    Examples
    --------
    >>> print(sprintfmatrix([[1, 2], [3, 4]], ["a", "b"]), end="")
    a: 1  2
    b: 3  4
    """
    matrix = as_matrix(np.atleast_2d(np.asarray(X)), "X")
    if rowid is not None and len(rowid) != matrix.shape[0]:
        expected = f"have one name for each of the {matrix.shape[0]} rows"
        raise invalid("rowid", expected, f"{len(rowid)}")
    is_finite = np.isfinite(matrix)
    finite = matrix[is_finite]
    digits = int(np.floor(np.log10(np.abs(finite).max()))) if finite.any() else 0
    if digits <= _MOST_DIGITS and np.array_equal(finite, np.rint(finite)):
        # num2str's widths: two blanks, a sign or digit more; three letters for Inf and NaN.
        width, form = digits + 3 if is_finite.all() else max(digits + 3, 5), ".0f"
    else:
        precision = min(max(digits + 5, 5), _MOST_DIGITS + 1)
        width, form = precision + 7, f".{precision}g"
    lines = ("".join(f"{value:{form}}".rjust(width) for value in row) for row in matrix.tolist())
    # MATLAB writes what is not finite with capital letters.
    rows = [line.replace("nan", "NaN").replace("inf", "Inf") for line in lines]
    # num2str cuts the blanks that all rows begin with.
    margin = min((len(row) - len(row.lstrip()) for row in rows), default=0)
    names = [""] * len(rows) if rowid is None else [f"{name}: " for name in rowid]
    return "".join(f"{name}{row[margin:]}\n" for name, row in zip(names, rows, strict=True))
