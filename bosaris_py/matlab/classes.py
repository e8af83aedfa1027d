"""The toolkit's classes, its lists and maps of names, its way to print a matrix.

MATLAB calls a method also as ``display_legend(plot)``, so the methods are functions, too. Names
such as filter and save, which mean something else in Python, are not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, BoolArray, Float64Array, FloatArray, StrArray
from bosaris_py._notes import Note, warn
from bosaris_py._validation import FilePath, as_ids, describe, invalid, list_some
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning
from bosaris_py.evaluation import Results as NativeResults
from bosaris_py.files.replacing import replacing
from bosaris_py.files.text import read_words
from bosaris_py.matlab.arguments import flat, require
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.trials import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality
from bosaris_py.trials.scores import joined_scores

# The toolkit's names of classes that are called otherwise here.
Seg_Quality = SegmentQuality

Quality = QualityMeasures

Id_Map = IdMap

# A number at each prior, or the number at the only one.
Figures = Float64Array | float

_CLASSES = (Ndx, Key, Scores, QualityMeasures, SegmentQuality, IdMap)


@attrs.frozen(eq=False, init=False, repr=False)
class Results(NativeResults):
    """The results of one system, asked for by the toolkit's methods.

    Toolkit: @Results; native: `bosaris_py.Results`, of which this is one; differs: a prior may be
    an operating point too; `tar` and `non` are in ascending order. The arguments are scores and
    key, or target and non-target scores.

    Examples
    --------
    >>> results = Results([3.0, 1.0], [0.0, 2.0])
    >>> results.tar.tolist(), results.numnon, results.pb, results.Pmiss.tolist()
    ([1.0, 3.0], 2, 0.5, [0.0, 0.0, 0.5, 1.0])
    """

    def __init__(self, first: Scores | npt.ArrayLike, second: Key | npt.ArrayLike) -> None:
        # As in the toolkit: Results(scr, key) or Results(tar, non).
        if isinstance(first, Scores):
            first, second, notes = joined_scores(first, require("key", second, Key))
            warn(notes)
        super().__init__(flat(first), flat(np.asarray(second)))

    def get_act_dcf(self, prior: PriorLike) -> Figures:
        """Return the actual DCF at a probability of targets."""
        value: Figures = self.act_dcf(prior, normalize=False)
        return value

    def get_norm_act_dcf(self, prior: PriorLike) -> Figures:
        """Return the normalized actual DCF at a probability of targets."""
        value: Figures = self.act_dcf(prior, normalize=True)
        return value

    def get_min_dcf(self, prior: PriorLike) -> Figures:
        """Return the minimum DCF at a probability of targets."""
        value: Figures = self.min_dcf(prior, normalize=False)
        return value

    def get_norm_min_dcf(self, prior: PriorLike) -> Figures:
        """Return the normalized minimum DCF at a probability of targets."""
        value: Figures = self.min_dcf(prior, normalize=True)
        return value

    def get_prbep(self) -> float:
        """Return the precision-recall break-even point, a number of errors."""
        return self.prbep

    def get_eer(self) -> float:
        """Return the equal error rate, a fraction."""
        return self.eer

    def num_tar(self) -> int:
        """Return the number of target trials."""
        return self.n_tar

    def num_non(self) -> int:
        """Return the number of non-target trials."""
        return self.n_non

    @property
    def tar(self) -> FloatArray:
        """The target scores, ascending."""
        return self.sample.tar.scores

    @property
    def non(self) -> FloatArray:
        """The non-target scores, ascending."""
        return self.sample.non.scores

    @property
    def Pmiss(self) -> Float64Array:
        """Miss rates at the vertices of the convex hull, as of `rocch`."""
        return self.rocch.pmiss

    @property
    def Pfa(self) -> Float64Array:
        """False-alarm rates at the vertices of the convex hull."""
        return self.rocch.pfa

    numtar, numnon, pb = map(property, (num_tar, num_non, get_prbep))


def seg_qual_to_qual(
    model_segqual: SegmentQuality, test_segqual: SegmentQuality
) -> QualityMeasures:
    """Combine the quality measures of models with those of test segments.

    Toolkit: seg_qual_to_qual.m; native: `QualityMeasures.from_segment_quality`; differs: nothing.
    """
    return QualityMeasures.from_segment_quality(model_segqual, test_segqual)


def validate(obj: object, warn: bool = True) -> bool:  # noqa: FBT001, FBT002 -- as in the toolkit
    """Tell that an object of trials is valid.

    Toolkit: the method validate of every class; native: none, objects are checked when they are
    made; differs: a function only, and `warn` has no effect.
    """
    if type(obj) not in _CLASSES:
        raise invalid("obj", "be an object of trials", describe(obj))
    return True


# Lists and maps of names

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
        check.check_shape(self.values, self.keySet.shape, "values", "`keySet`")


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
    matrix = check.as_matrix(np.atleast_2d(np.asarray(X)), "X")
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


# Methods as functions

_NAMES = """
    align_with_ids align_with_ndx display_legend filter_on_left filter_on_right get_act_dcf
    get_eer get_min_dcf get_norm_act_dcf get_norm_min_dcf get_prbep get_scores get_tar_non
    map_left_to_right map_right_to_left num_non num_tar plot_DR30_both plot_DR30_fa
    plot_DR30_miss plot_curves plot_dcf_curve_act plot_dcf_curve_min plot_det_from_roc
    plot_fa_rate_act plot_fa_rate_min plot_mindcf_point plot_miss_rate_act plot_miss_rate_min
    plot_operating_point plot_rocch_det plot_steppy_det save_as_pdf save_hdf5 save_mat save_txt
    set_missing_to_value set_system set_system_from_scores to_ndx transform
"""

METHODS = frozenset(_NAMES.split())


def _as_function(name: str) -> Callable[..., object]:
    """Return the function that calls the method of a name."""

    def method(obj: object, *arguments: object) -> object:
        function: Callable[..., object] = getattr(obj, name)
        return function(*arguments)

    method.__name__ = name
    method.__doc__ = f"Call a method as a function, as in MATLAB: ``obj.{name}(...)``."
    return method
