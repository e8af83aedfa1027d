"""Where the trials of one list stand in another: the one matcher of trials.

Ids are looked up once for each list; then a trial is a whole number, and trials are
found by a table of all cells, if that is small, or by binary search of sorted numbers
in sorted numbers. numpy continues each such search where the last one ended, so
that ten million trials are found among as many in 0.2 s. Numbers that are not
sorted, because ids come in another order, need tables of one part of the cells after
the other, and twice that time.
"""

import numpy as np
import numpy.typing as npt
from attrs import frozen

from bosaris_py._validation import BoolArray
from bosaris_py.storage.trial_order import ascends, sort_codes, trial_codes
from bosaris_py.trials._frame import Frame, Positions, position_type
from bosaris_py.trials.ids import IntArray

__all__ = ["Match", "find_codes", "match_trials"]

Codes = npt.NDArray[np.int64]

# A table of all cells may have so many for each trial, and this many in any case.
_CELLS_PER_TRIAL = 2
_SMALL_TABLE = 2**20
# Of more cells a part at a time, which fits the processor's cache; the parts are numbered with
# 16 bits, and none is worth it for a few trials.
_PART_BITS = 22
_MOST_PARTS = 2**16
_TRIALS_PER_PART = 256


@frozen(eq=False)
class Match:
    """Where wanted trials stand in a list.

    Parameters
    ----------
    places : (n_found,) array of int or None
        The place of each trial that is found. None: the list is what is wanted.
    found : (n_wanted,) array of bool or None
        Which of the wanted trials are found. None: all.
    """

    places: IntArray | None
    found: BoolArray | None

    def take(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return the values of the trials that are found, in the wanted order."""
        return values if self.places is None else values[self.places]

    def reduce(self, wanted: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """Return something about the wanted trials for those that are found."""
        return wanted if self.found is None else wanted[self.found]


def match_trials(
    listed: tuple[Positions, Positions],
    wanted: tuple[Positions, Positions],
    frame: Frame,
    shape: tuple[int, int],
) -> Match:
    """Find wanted trials in a list.

    Parameters
    ----------
    listed : pair of (n,) arrays of int
        Models and segments of the list, column by column, each trial once.
    wanted : pair of (k,) arrays of int
        Models and segments that are wanted, as positions in id lists of their own.
    frame : Frame
        Where the wanted models and segments lie in the id lists of the list.
    shape : tuple of int
        Number of models and of segments in these id lists.

    Returns
    -------
    Match
    """
    models, segments = wanted
    if frame.is_identity and _same(listed, wanted):
        return Match(None, None)
    if frame.rows is not None:
        models = frame.rows[models]
    if frame.cols is not None:
        segments = frame.cols[segments]
    known = None if frame.is_complete else (models >= 0) & (segments >= 0)
    if known is not None:
        models, segments = models[known], segments[known]
    places = find_codes(
        trial_codes(*listed, shape[0]), trial_codes(models, segments, shape[0]), shape
    )
    hits = places >= 0
    if hits.all():
        return Match(places, known)
    if known is None:
        return Match(places[hits], hits)
    found = np.zeros(known.size, dtype=np.bool_)
    found[known] = hits
    return Match(places[hits], found)


def find_codes(listed: Codes, wanted: Codes, shape: tuple[int, int]) -> IntArray:
    """Return the place of each wanted code in a list of codes, -1 if it is not there.

    Parameters
    ----------
    listed : (n,) array of int64
        Codes in ascending order, each once.
    wanted : (k,) array of int64
        Codes in any order; ascending ones are found fastest.
    shape : tuple of int
        Codes lie below the product of these.
    """
    n_cells = shape[0] * shape[1]
    if n_cells <= max(_SMALL_TABLE, _CELLS_PER_TRIAL * (listed.size + wanted.size)):
        table = np.full(n_cells, -1, dtype=np.intp)
        table[listed] = np.arange(listed.size)
        return table[wanted]
    if listed.size == 0:
        return np.full(wanted.size, -1, dtype=np.intp)
    if ascends(wanted):
        return _search(listed, wanted)
    n_parts = (n_cells >> _PART_BITS) + 1
    if n_parts <= min(_MOST_PARTS, wanted.size // _TRIALS_PER_PART):
        return _find_in_parts(listed, wanted, n_parts)
    order, ascending = sort_codes(wanted)
    places = np.empty(wanted.size, dtype=np.intp)
    places[order] = _search(listed, ascending)
    return places


def _find_in_parts(listed: Codes, wanted: Codes, n_parts: int) -> IntArray:
    """Return like `find_codes`, with a table of some of the cells after the other.

    Only which part a code lies in is sorted for, which with 16 bits takes a tenth of the time of
    sorting the codes.
    """
    part_of = (wanted >> _PART_BITS).astype(np.uint16)
    order = np.argsort(part_of, kind="stable")
    stops = np.cumsum(np.bincount(part_of, minlength=n_parts))
    begins = np.arange(n_parts + 1) << _PART_BITS
    listed_edges = np.searchsorted(listed, begins)
    table = np.full(2**_PART_BITS, -1, dtype=position_type(listed.size))
    places = np.empty(wanted.size, dtype=np.intp)
    for part, stop in enumerate(stops.tolist()):
        here = order[stops[part - 1] if part else 0 : stop]
        lines = slice(listed_edges[part], listed_edges[part + 1])
        cells = listed[lines] - begins[part]
        table[cells] = np.arange(lines.start, lines.stop)
        places[here] = table[wanted[here] - begins[part]]
        table[cells] = -1
    return places


def _search(listed: Codes, wanted: Codes) -> IntArray:
    """Return like `find_codes`, for ascending codes and a list that is not empty."""
    places = np.searchsorted(listed, wanted)
    np.minimum(places, listed.size - 1, out=places)
    places[listed[places] != wanted] = -1
    return places


def _same(first: tuple[Positions, Positions], second: tuple[Positions, Positions]) -> bool:
    """Tell whether two lists of trials are equal."""
    return all(a is b or np.array_equal(a, b) for a, b in zip(first, second, strict=True))
