"""Where the trials of one list stand in another, whatever forms hold them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import BoolArray, list_some
from bosaris_py.trials._frame import position_type
from bosaris_py.trials.forms import AnyKey, AnyNdx, AnyScores
from bosaris_py.trials.ids import IdIndex
from bosaris_py.trials.key import Key
from bosaris_py.trials.ndx import Ndx

__all__ = ["describe_trials", "scored_trials", "trial_places", "trials_within"]

Places = npt.NDArray[np.signedinteger[Any]]

# A table of all pairs of ids finds a trial at once; it may take so many cells for each trial,
# and any size up to the second number.
_CELLS_PER_TRIAL = 2
_SMALL_TABLE = 2**20


def trial_places(source: AnyNdx, wanted: AnyNdx) -> Places | None:
    """Return the place of each wanted trial in the vector of trials of another list.

    Parameters
    ----------
    source : Ndx, Key, FlatNdx or FlatKey
        The list in which trials are looked up by their ids.
    wanted : Ndx, Key, FlatNdx or FlatKey
        The trials that are looked up.

    Returns
    -------
    (n_wanted,) array of int, or None
        Places in the column-major vector of the trials of `source`, -1 for a
        trial that it does not have. None: both list the same trials in the same
        order.
    """
    if source is wanted:
        return None
    n_models = source.modelset.size
    known = _cells(*source.trial_positions(), n_models)
    models, segments, is_same = _positions_in(source, wanted)
    cells = _cells(models, segments, n_models)
    if is_same and np.array_equal(known, cells):
        return None
    if not is_same:
        cells[(models < 0) | (segments < 0)] = -1
    n_cells = n_models * source.segset.size
    if n_cells <= max(_SMALL_TABLE, _CELLS_PER_TRIAL * (known.size + cells.size)):
        # The last cell belongs to what has no cell.
        table: Places = np.full(n_cells + 1, -1, dtype=position_type(known.size))
        table[known] = np.arange(known.size, dtype=table.dtype)
        return table[cells]
    places = np.searchsorted(known, cells)
    if known.size == 0:
        return places - 1
    places[known[np.minimum(places, known.size - 1)] != cells] = -1
    return places


def trials_within(source: AnyNdx, wanted: AnyNdx) -> BoolArray:
    """Tell for each wanted trial, column by column, whether another list has it."""
    if not isinstance(source, (Ndx, Key)):
        places = trial_places(source, wanted)
        return np.ones(wanted.n_trials, np.bool_) if places is None else np.asarray(places >= 0)
    matrix = source._trials()
    if matrix.size == 0:
        return np.zeros(wanted.n_trials, dtype=np.bool_)
    models, segments, is_same = _positions_in(source, wanted)
    found: BoolArray = matrix[models, segments]
    if not is_same:
        found &= (models >= 0) & (segments >= 0)
    return found


def scored_trials(scores: AnyScores, key: AnyKey) -> BoolArray | None:
    """Tell for each trial of a key, column by column, whether it has a score; None says all."""
    return scores._scored(key)


def _positions_in(source: AnyNdx, wanted: AnyNdx) -> tuple[Places, Places, bool]:
    """Return where the ids of wanted trials stand in another list, -1 if nowhere.

    The last value tells whether both have the same ids in the same order.
    """
    rows = IdIndex.of(source.modelset).locate(IdIndex.of(wanted.modelset))
    cols = IdIndex.of(source.segset).locate(IdIndex.of(wanted.segset))
    models, segments = wanted.trial_positions()
    if rows is not None:
        models = rows[models]
    if cols is not None:
        segments = cols[segments]
    return models, segments, rows is None and cols is None


def _cells(models: Places, segments: Places, n_models: int) -> npt.NDArray[np.int64]:
    """Return the numbers of cells of the matrix of all pairs, counted column by column."""
    cells = segments.astype(np.int64)
    cells *= n_models
    cells += models
    return cells


def describe_trials(trials: AnyNdx, chosen: BoolArray) -> str:
    """Return the count and the first few of the trials under a vector mask, for a message."""
    first = np.flatnonzero(chosen)[:6]
    models, segments = trials.trial_positions()
    pairs = [
        f"({trials.modelset[model]}, {trials.segset[segment]})"
        for model, segment in zip(models[first], segments[first], strict=True)
    ]
    count = int(np.count_nonzero(chosen))
    return f"{count} {'trial' if count == 1 else 'trials'}: {list_some(pairs)}"
