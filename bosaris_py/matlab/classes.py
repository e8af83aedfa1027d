"""The toolkit's classes, its logger, its lists and maps of names, its way to print a matrix.

MATLAB calls a method also as ``display_legend(plot)``, so the methods are functions, too. Names
such as filter and save, which mean something else in Python, are not among them.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TextIO, TypeVar

import attrs
import numpy as np

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import (
    Answer,
    AnyArray,
    ArrayLike,
    BoolArray,
    FilePath,
    FloatArray,
    StrArray,
)
from bosaris_py.evaluation import Results as NativeResults
from bosaris_py.files.replacing import replacing
from bosaris_py.files.text import read_words
from bosaris_py.matlab.arguments import flat, require
from bosaris_py.numerics.priors import PriorLike
from bosaris_py.trials import IdMap, Key, Ndx, QualityMeasures, Scores, SegmentQuality
from bosaris_py.trials.scores import joined_scores
from bosaris_py.trials.trials import FileMethods

# The toolkit's names of classes that are called otherwise here.
Seg_Quality = SegmentQuality

Quality = QualityMeasures

Id_Map = IdMap

# A number at each prior, or the number at the only one.
Figures = FloatArray | float


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

    def __init__(self, first: Scores | ArrayLike, second: Key | ArrayLike) -> None:
        # As in the toolkit: Results(scr, key) or Results(tar, non).
        if isinstance(first, Scores):
            first, second, notes = joined_scores(first, require("key", second, Key))
            errors.warn(notes)
        super().__init__(flat(first), flat(np.asarray(second)))

    def get_act_dcf(self, prior: PriorLike) -> Answer:
        """Return the actual DCF at a probability of targets."""
        return self.act_dcf(prior, normalize=False)

    def get_norm_act_dcf(self, prior: PriorLike) -> Answer:
        """Return the normalized actual DCF at a probability of targets."""
        return self.act_dcf(prior, normalize=True)

    def get_min_dcf(self, prior: PriorLike) -> Answer:
        """Return the minimum DCF at a probability of targets."""
        return self.min_dcf(prior, normalize=False)

    def get_norm_min_dcf(self, prior: PriorLike) -> Answer:
        """Return the normalized minimum DCF at a probability of targets."""
        return self.min_dcf(prior, normalize=True)

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
    def Pmiss(self) -> FloatArray:
        """Miss rates at the vertices of the convex hull, as of `rocch`."""
        return self.rocch.pmiss

    @property
    def Pfa(self) -> FloatArray:
        """False-alarm rates at the vertices of the convex hull."""
        return self.rocch.pfa

    numtar, numnon, pb = map(property, (num_tar, num_non, get_prbep))


def seg_qual_to_qual(model_segqual: Seg_Quality, test_segqual: Seg_Quality) -> Quality:
    """Combine the quality measures of models with those of test segments.

    Toolkit: seg_qual_to_qual.m; native: `QualityMeasures.from_segment_quality`; differs: nothing.
    """
    return QualityMeasures.from_segment_quality(model_segqual, test_segqual)


def validate(obj: object, warn: bool = True) -> bool:  # noqa: FBT001, FBT002 -- as in the toolkit
    """Tell that an object of trials is valid.

    Toolkit: the method validate of every class; native: none, objects are checked when they are
    made; differs: a function only, and `warn` has no effect.
    """
    return bool(require("obj", obj, FileMethods))


# ---- Lists and maps of names

# Whole numbers with more digits than float64 holds are not written out: 2**53 has 16.
_MOST_DIGITS = 15

_Trials = TypeVar("_Trials", Key, Ndx)


class KeyValueMap(NamedTuple):
    """The toolkit's struct of a map: keys, of which equal ones give the last, and their values."""

    keySet: ArrayLike
    values: ArrayLike


# A map may be a struct of the toolkit, read as a dict, or a dict that is itself the map.
MapLike = KeyValueMap | IdMap | Mapping[str, ArrayLike]


def _look_up(given: MapLike, wanted: StrArray) -> tuple[AnyArray, BoolArray]:
    """Return the values of the keys that are in a map, and which are."""
    if isinstance(given, IdMap):
        given = KeyValueMap(given.leftids, given.rightids)
    elif isinstance(given, Mapping):
        is_struct = set(given) == {"keySet", "values"} and np.ndim(given["keySet"])
        listed = {"keySet": [*given], "values": np.array([*given.values()])}
        given = KeyValueMap(**(given if is_struct else listed))
    keys, values = check.as_ids(given.keySet, "keySet"), np.asarray(given.values)
    check.check_shape(values, keys.shape, "values", "`keySet`")
    # Of equal keys the last stays.
    places = {key: place for place, key in enumerate(keys.tolist())}
    found = np.array([places.get(key, -1) for key in wanted.tolist()], dtype=np.int64)
    return values[found[found >= 0]], found >= 0


def read_list(filename: FilePath) -> list[str]:
    """Read a list of names, separated by white space, from a text file.

    Toolkit: read_list.m; native: none; differs: returns a list.
    """
    return read_words(filename)


def save_list(filename: FilePath, names: ArrayLike) -> None:
    """Write a list of names to a text file, one in each line.

    Toolkit: save_list.m; native: none; differs: refuses names that `read_list` would take apart.
    """
    ids = check.as_ids(names, "list").tolist()
    if broken := [name for name in ids if name.split() != [name]]:
        raise check.invalid(
            "list", "hold names without white space", check.list_some(map(repr, broken))
        )
    with replacing(filename) as temporary:
        Path(temporary).write_text("".join(f"{name}\n" for name in ids), encoding="utf-8")


def read_map(filename: FilePath) -> KeyValueMap:
    """Read a map from a text file with a key and a value in each line.

    Toolkit: read_map.m; native: `IdMap.read_txt`; differs: names the line that is not right.
    """
    pairs = IdMap.read_txt(filename)
    return KeyValueMap(pairs.leftids, pairs.rightids)


def maplookup(
    map: MapLike, keys: ArrayLike, *, nargout: int = 1
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
    wanted = check.as_ids(keys, "keys")
    values, is_present = _look_up(map, wanted)
    if nargout == 2:
        return values, is_present
    if missing := wanted[~is_present].tolist():
        raise errors.InvalidInputError(
            f"{len(missing)} of keys not in map: {check.list_some(missing)}"
        )
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
    models = ndx_or_key.modelset
    segments, in_source = _look_up(src_map, models)
    renamed, in_target = _look_up(dst_map, check.as_ids(segments, "src_map"))
    names = dict(zip(models[in_source][in_target].tolist(), renamed.tolist(), strict=True))
    gone = models[in_source][~in_target]
    for count, text in (
        (int(np.sum(~in_source)), "Keeping %i model name(s) unchanged."),
        (gone.size, "Discarding %i row(s) in score matrix."),
    ):
        if count:
            errors.warn([errors.Note(errors.MissingTrialsWarning, text % count, count=count)])
    kept = ndx_or_key.filter(gone, ndx_or_key.segset[:0], keep=False)
    return kept.rename(models=lambda name: names.get(name, name))


def sprintfmatrix(X: ArrayLike, rowid: Sequence[object] | None = None) -> str:
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


# ---- The logger, in terms of Python's: levels that are bits, sinks that are handlers

_PACKAGE_LOGGER = logging.getLogger("bosaris_py")

_logger = logging.getLogger(__name__)

# The toolkit's levels are bits, of which a sink takes any; Python's are ranks, of which a handler
# takes all from one up. The rank of each bit, the most severe first.
_RANKS = {1: 50, 2: 40, 4: 30, 8: 30, 16: 20, 32: 20, 64: 10, 128: 10}

_ALL = 255


# The handlers of all sinks.
_SINKS: set[logging.Handler] = set()


def _check_level(level: int) -> int:
    if level not in range(_ALL + 1):
        raise check.invalid(
            "level", "be a sum of the levels of Logger, 0 to 255", check.describe(level)
        )
    return int(level)


def _bits(record: logging.LogRecord) -> int:
    """Return the bits of a record; of what has none its rank decides."""
    by_rank = {rank: bit for bit, rank in reversed(_RANKS.items())}
    return int(getattr(record, "bosaris_bits", by_rank.get(record.levelno, 0)))


class _Format(logging.Formatter):
    """Formatter of messages, whose lines the handler ends."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text; the toolkit's classes log through log_info, which says so."""
        text = super().format(record).removesuffix("\n")
        return f"Info: {text}" if record.name.startswith("bosaris_py.trials") else text


_show_warning: Callable[..., None] = warnings.showwarning


def _log_and_show(message: object, category: type[Warning], *place: object, **rest: object) -> None:
    """Log a warning of the package, then show it as before."""
    if issubclass(category, errors.BosarisWarning):
        log_warning("%s", message)
    _show_warning(message, category, *place, **rest)


def _listen() -> None:
    """Let all messages and warnings come to the sinks while there are some."""
    global _show_warning
    # Every sink filters for itself, so nothing may be held back before.
    _PACKAGE_LOGGER.setLevel(logging.DEBUG if _SINKS else logging.NOTSET)
    if _SINKS and warnings.showwarning is not _log_and_show:
        _show_warning, warnings.showwarning = warnings.showwarning, _log_and_show
    elif not _SINKS and warnings.showwarning is _log_and_show:
        warnings.showwarning = _show_warning


class Logger:
    """Sinks for the messages of the package: files and streams, each with the levels it takes.

    Toolkit: @Logger; native: Python's `logging`, logger ``bosaris_py``; differs: takes effect when
    a sink is added, without a global variable. Warnings about data, which Python shows as it shows
    all warnings, go to the sinks too. The level `None` is called `None_`.

    Examples
    --------
    >>> logger = Logger()
    >>> logger.add_stdout(Logger.Info + Logger.Warning)
    >>> logger.log(Logger.Info, "%d trials", 12)
    12 trials
    >>> logger.clear()
    """

    None_, Major_Error, Error, Warning, Minor_Warning = 0, 1, 2, 4, 8
    Info, Minor_Info, Debug_1, Debug_2, All = 16, 32, 64, 128, _ALL

    def __init__(self) -> None:
        self._sinks: dict[object, logging.Handler] = {}

    def log(self, level: int, fmt: str, *args: object) -> None:
        """Send a message, formatted as by sprintf, to all sinks that take its level."""
        logprint(level, fmt, *args)

    def add_fid(self, fid: TextIO, level: int = _ALL) -> None:
        """Add an open text file, which stays open when it is removed."""
        self._add(id(fid), lambda: logging.StreamHandler(fid), level)

    def add_filename(self, filename: FilePath, level: int = _ALL) -> None:
        """Add a file by its name; it is opened for writing at once, and closed on removal."""
        path = Path(filename)
        self._add(path, lambda: logging.FileHandler(path, "w", encoding="utf-8"), level)

    def add_stdout(self, level: int = _ALL) -> None:
        """Add standard output."""
        self._add("stdout", lambda: logging.StreamHandler(sys.stdout), level)

    def add_stderr(self, level: int = _ALL) -> None:
        """Add standard error."""
        self._add("stderr", lambda: logging.StreamHandler(sys.stderr), level)

    def rm_fid(self, fid: TextIO) -> None:
        """Remove an open text file."""
        self._remove(id(fid))

    def rm_filename(self, filename: FilePath) -> None:
        """Remove a file by its name, and close it."""
        self._remove(Path(filename))

    def rm_stdout(self) -> None:
        """Remove standard output."""
        self._remove("stdout")

    def rm_stderr(self) -> None:
        """Remove standard error."""
        self._remove("stderr")

    def clear(self) -> None:
        """Remove all sinks."""
        for sink in list(self._sinks):
            self._remove(sink)

    def validate(self) -> bool:
        """Tell that the object is valid."""
        return True

    def _add(self, sink: object, make: Callable[[], logging.Handler], level: int) -> None:
        # Checked before a file is opened, which empties it.
        wanted = _check_level(level)
        if sink in self._sinks:
            errors.warn([errors.Note(errors.BosarisWarning, "That is among the sinks already.")])
            return
        self._sinks[sink] = handler = make()
        handler.addFilter(lambda record: bool(wanted & _bits(record)))
        handler.setFormatter(_Format())
        _PACKAGE_LOGGER.addHandler(handler)
        _SINKS.add(handler)
        _listen()

    def _remove(self, sink: object) -> None:
        if sink not in self._sinks:
            errors.warn([errors.Note(errors.BosarisWarning, "That is not among the sinks.")])
            return
        handler = self._sinks.pop(sink)
        _PACKAGE_LOGGER.removeHandler(handler)
        _SINKS.discard(handler)
        handler.close()
        _listen()


def logprint(level: int, fmt: str, *args: object) -> None:
    """Send a message of a level, formatted as by sprintf, to the sinks.

    Toolkit: logprint.m; native: Python's `logging`; differs: without a sink, Python shows warnings
    and errors on standard error, and drops the rest.
    """
    bits = _check_level(level)
    # The most severe bit set gives the Python level; 0 disables the message.
    rank = max((rank for bit, rank in _RANKS.items() if bits & bit), default=0)
    if not args:
        # For sprintf two per cent signs are one, for Python's logging only with values.
        with suppress(TypeError, ValueError):
            fmt %= ()
    if rank:
        _logger.log(rank, fmt, *args, extra={"bosaris_bits": bits})


def log_info(fmt: str, *args: object) -> None:
    """Send a message of level Info, after "Info: ".

    Toolkit: log_info.m; native: Python's `logging`; differs: as `logprint`.
    """
    logprint(Logger.Info, f"Info: {fmt}", *args)


def log_warning(fmt: str, *args: object) -> None:
    """Send a message of level Warning, after "Warning: ".

    Toolkit: log_warning.m; native: Python's `logging`; differs: as `logprint`.
    """
    logprint(Logger.Warning, f"Warning: {fmt}", *args)


def log_error(fmt: str, *args: object) -> None:
    """Send a message of level Error, after "Error: ".

    Toolkit: log_error.m; native: Python's `logging`; differs: as `logprint`.
    """
    logprint(Logger.Error, f"Error: {fmt}", *args)


# ---- Methods as functions

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
        return getattr(obj, name)(*arguments)

    method.__name__ = name
    method.__doc__ = f"Call a method as a function, as in MATLAB: ``obj.{name}(...)``."
    return method
