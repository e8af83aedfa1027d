"""Where the trials of one list stand in another, whatever forms hold them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py._validation import BoolArray, frozen
from bosaris_py.trials._flat import gather, name_listed
from bosaris_py.trials._frame import position_type
from bosaris_py.trials._matching import match_trials
from bosaris_py.trials.flat_key import FlatKey
from bosaris_py.trials.flat_ndx import FlatNdx
from bosaris_py.trials.forms import AnyKey, AnyNdx, AnyScores
from bosaris_py.trials.key import Key

__all__ = ["describe_trials", "scored_trials", "take_trials", "trial_places", "trials_within"]

Places = npt.NDArray[np.signedinteger[Any]]


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
    listed, frame = source.trial_positions(), source._frame_for(wanted)
    match = match_trials(listed, wanted.trial_positions(), frame, source._shape)
    if match.found is None or match.places is None:
        return match.places
    places: Places = np.full(wanted.n_trials, -1, dtype=position_type(source.n_trials))
    places[match.found] = match.places
    return places


def trials_within(source: AnyNdx, wanted: AnyNdx) -> BoolArray:
    """Tell for each wanted trial, column by column, whether another list has it."""
    frame = source._frame_for(wanted)
    positions = wanted.trial_positions()
    if isinstance(source, (FlatNdx, FlatKey)):
        found = match_trials(source.trial_positions(), positions, frame, source._shape).found
        return np.ones(wanted.n_trials, dtype=np.bool_) if found is None else found
    matrix = source._trials()
    if matrix.size == 0:
        return np.zeros(wanted.n_trials, dtype=np.bool_)
    models, segments = positions
    if frame.rows is not None:
        models = frame.rows[models]
    if frame.cols is not None:
        segments = frame.cols[segments]
    # Position -1 reads some cell.
    within: BoolArray = gather((matrix,), models, segments)[0]
    if not frame.is_complete:
        within &= (models >= 0) & (segments >= 0)
    return within


def scored_trials(scores: AnyScores, key: AnyKey) -> BoolArray | None:
    """Tell for each trial of a key, column by column, whether it has a score; None says all."""
    return scores._scored(key)


def take_trials(key: AnyKey, places: npt.NDArray[np.intp]) -> AnyKey:
    """Return a key of the same form and ids with the trials at ascending places only."""
    models, segments = key.trial_positions()
    models, segments = models[places], segments[places]
    labels = key.trial_labels()[places]
    if isinstance(key, FlatKey):
        trials = frozen(models), frozen(segments)
        return FlatKey(key.modelset, key.segset, *trials, frozen(labels))
    tar = np.zeros((key.modelset.size, key.segset.size), dtype=np.bool_)
    non = np.zeros_like(tar)
    tar[models[labels], segments[labels]] = True
    non[models[~labels], segments[~labels]] = True
    return Key(key.modelset, key.segset, frozen(tar), frozen(non))


def describe_trials(trials: AnyNdx, chosen: BoolArray) -> str:
    """Return the count and the first few of the trials under a vector mask, for a message."""
    models, segments = trials.trial_positions()
    return name_listed(models[chosen], segments[chosen], trials.modelset, trials.segset)
