"""Trials as a list, whose cells are numbers, and as a matrix with a mask."""

from typing import Any, TypeVar

import attrs
import numpy as np

from bosaris_py import Conditions, Key, Ndx, QualityMeasures, Scores

Trials = TypeVar("Trials", Ndx, Key, Scores)


def as_list(item: Trials) -> Trials:
    """Return the same trials as a list, also of a full grid."""
    models, segments = item.trial_positions()
    cells = segments.astype(np.int64) * item.modelset.size + models
    return type(item)._made(*item.ids, cells, item._vector())


def as_matrix(item: Trials) -> Trials:
    """Return the same trials as a matrix."""
    if isinstance(item, Ndx):
        return Ndx(*item.ids, item.trialmask)
    if isinstance(item, Key):
        return Key(*item.ids, item.tar, item.non, item.spoof)
    return Scores(item.scoremat, *item.ids, item.scoremask)


def contents(item: Ndx | Key | Scores) -> dict[tuple[str, str], Any]:
    """What is said of each trial, by plain loops."""
    said = {Ndx: "trial_mask", Key: "tar", Scores: "scoremat"}[type(item)]
    return {
        (model, segment): getattr(item, said)[i, j].item()
        for j, segment in enumerate(item.segset.tolist())
        for i, model in enumerate(item.modelset.tolist())
        if item.trial_mask[i, j]
    }


# The arguments of the constructors.
_ARGUMENTS = {
    Ndx: ("modelset", "segset", "trialmask"),
    Key: ("modelset", "segset", "tar", "non"),
    Scores: ("scoremat", "modelset", "segset", "scoremask"),
    QualityMeasures: ("modelset", "segset", "modelQ", "segQ", "hasmodel", "hasseg", "scoremask"),
}


def evolve(item: Any, **changes: Any) -> Any:
    """Return an object with other fields, as matrices."""
    if type(item) not in _ARGUMENTS:
        return attrs.evolve(item, **changes)
    given = {name: getattr(item, name) for name in _ARGUMENTS[type(item)]}
    return type(item)(**{**given, **changes})


def described(key, trial_columns=None, model_columns=None, segment_columns=None):
    """Return a key with columns of its trials, models and segments."""
    columns = dict(trial_columns or {})
    columns |= {name: ("model", values) for name, values in (model_columns or {}).items()}
    columns |= {name: ("segment", values) for name, values in (segment_columns or {}).items()}
    return key.with_columns(**columns)


def labelled(trials: Ndx | Key, labels: Any, weights: Any = None, **rules: Any) -> Conditions:
    """Return a condition for each label; labels are of the trials column by column."""
    values = np.asarray(labels.values() if hasattr(labels, "levels") else labels).astype(str)
    models, segments = (
        ids[at] for ids, at in zip(trials.ids, trials.trial_positions(), strict=True)
    )
    names = np.unique(values).tolist()
    parts = {n: Ndx.from_trials(models[values == n], segments[values == n]) for n in names}
    return Conditions(parts, weights, **rules)
