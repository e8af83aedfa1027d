"""The toolkit's lists and maps of names, and its way to print a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, BoolArray, StrArray
from bosaris_py._notes import Note, warn
from bosaris_py._validation import (
    FilePath,
    as_ids,
    as_matrix,
    check_shape,
    describe,
    invalid,
    list_some,
)
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning
from bosaris_py.files.cells import read_words
from bosaris_py.files.replacing import replacing
from bosaris_py.matlab.arguments import require
from bosaris_py.trials import IdMap, Key, Ndx

# Whole numbers with more digits than float64 holds are not written out: 2**53 has 16.
_MOST_DIGITS = 15

_Trials = TypeVar("_Trials", Key, Ndx)


def _to_keys(values: npt.ArrayLike) -> StrArray:
    return as_ids(values, "keySet")


@attrs.frozen(eq=False)
class KeyValueMap:
    """The toolkit's struct of a map: keys, of which equal ones give the last, and their values."""

    keySet: StrArray = attrs.field(converter=_to_keys)
    values: AnyArray = attrs.field(converter=np.asarray)

    def __attrs_post_init__(self) -> None:
        """Raise unless there is one value for each key."""
        check_shape(self.values, self.keySet.shape, "values", "`keySet`")


# A map may be a struct of the toolkit, read as a dict, or a dict that is itself the map.
MapLike = KeyValueMap | IdMap | Mapping[str, npt.ArrayLike]


def _as_map(given: MapLike, name: str) -> KeyValueMap:
    if isinstance(given, IdMap):
        return KeyValueMap(given.leftids, given.rightids)
    if isinstance(given, Mapping):
        is_struct = set(given) == {"keySet", "values"} and np.ndim(given["keySet"])
        pairs = (
            (given["keySet"], given["values"]) if is_struct else (list(given), [*given.values()])
        )
        return KeyValueMap(*pairs)
    return require(name, given, KeyValueMap)


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


def maplookup(
    map: MapLike, keys: npt.ArrayLike, *, nargout: int = 1
) -> AnyArray | tuple[AnyArray, BoolArray]:
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
    if nargout not in (1, 2):
        raise invalid("nargout", "be 1 or 2", describe(nargout))
    wanted = as_ids(keys, "keys")
    values, is_present = _look_up(_as_map(map, "map"), wanted)
    if nargout == 2:
        return values, is_present
    if not is_present.all():
        missing = wanted[~is_present]
        message = f"{missing.size} of keys not in map: {list_some(missing.tolist())}"
        raise InvalidInputError(message)
    return values


def _look_up(table: KeyValueMap, wanted: StrArray) -> tuple[AnyArray, BoolArray]:
    """Return the values of the keys that are there, and which are."""
    # Of equal keys the last stays.
    places = {key: place for place, key in enumerate(table.keySet.tolist())}
    found = np.array([places.get(key, -1) for key in wanted.tolist()], dtype=np.int64)
    return table.values[found[found >= 0]], found >= 0


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
    models = ndx_or_key.modelset
    segments, in_source = _look_up(_as_map(src_map, "src_map"), models)
    renamed, in_target = _look_up(_as_map(dst_map, "dst_map"), as_ids(segments, "src_map"))
    names = dict(zip(models[in_source][in_target].tolist(), renamed.tolist(), strict=True))
    gone = models[in_source][~in_target]
    for count, text in (
        (int(np.sum(~in_source)), "Keeping %i model name(s) unchanged."),
        (gone.size, "Discarding %i row(s) in score matrix."),
    ):
        if count:
            warn([Note(MissingTrialsWarning, text % count, count=count)])
    kept = ndx_or_key.filter(gone, ndx_or_key.segset[:0], keep=False)
    return kept.rename(models=lambda name: names.get(name, name))


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
