"""What is said when an argument holds no trials, or an object lacks some that are wanted."""

import numpy as np

from bosaris_py._validation import BoolArray, describe, invalid, warn_caller
from bosaris_py.errors import MissingTrialsWarning
from bosaris_py.trials.flat_key import FlatKey
from bosaris_py.trials.flat_ndx import FlatNdx
from bosaris_py.trials.key import Key
from bosaris_py.trials.ndx import Ndx

__all__ = [
    "AnyKey",
    "AnyNdx",
    "check_key",
    "check_trials",
    "warn_missing",
    "warn_missing_counts",
    "warn_missing_listed",
]

AnyNdx = Ndx | Key | FlatNdx | FlatKey
AnyKey = Key | FlatKey


def check_trials(ndx: object, owner: str) -> None:
    """Raise unless `ndx` is an Ndx or a Key, dense or flat."""
    if not isinstance(ndx, AnyNdx):
        raise invalid("ndx", owner, "be an Ndx or a Key", describe(ndx))


def check_key(key: object, owner: str) -> None:
    """Raise unless `key` is a Key or a FlatKey."""
    if not isinstance(key, AnyKey):
        raise invalid("key", owner, "be a Key, which says what the targets are", describe(key))


def warn_missing_counts(
    ndx: AnyNdx, n_models: int, n_segments: int, n_found: tuple[int, ...]
) -> None:
    """Warn, in the toolkit's words, about models, segments and trials that are missing.

    Parameters
    ----------
    ndx : Ndx, Key, FlatNdx or FlatKey
        What was wanted.
    n_models, n_segments : int
        Number of its models and segments that were found.
    n_found : tuple of int
        Number of trials found; for a key, of targets and of non-targets.
    """
    counts = [
        (ndx.modelset.size, n_models, "models reduced from {wanted} to {found}"),
        (ndx.segset.size, n_segments, "testsegs reduced from {wanted} to {found}"),
    ]
    if isinstance(ndx, AnyKey):
        n_tar, n_non = n_found
        counts.append((ndx.n_tar, n_tar, "{missing} of {wanted} targets missing."))
        counts.append((ndx.n_non, n_non, "{missing} of {wanted} non-targets missing."))
    else:
        counts.append((ndx.n_trials, n_found[0], "{missing} of {wanted} trials missing"))
    for wanted, found, message in counts:
        if found < wanted:
            text = message.format(wanted=wanted, found=found, missing=wanted - found)
            warn_caller(text, MissingTrialsWarning)


def warn_missing(ndx: Ndx | Key, n_models: int, n_segments: int, mask: BoolArray) -> None:
    """Warn like `warn_missing_counts`; `mask` says which of the cells were found."""
    n_trials = int(np.count_nonzero(mask))
    if isinstance(ndx, Key):
        n_tar = ndx.n_tar
        if n_trials < ndx.n_trials:
            n_tar = int(np.count_nonzero(mask & ndx.tar))
        warn_missing_counts(ndx, n_models, n_segments, (n_tar, n_trials - n_tar))
    else:
        warn_missing_counts(ndx, n_models, n_segments, (n_trials,))


def warn_missing_listed(
    ndx: AnyNdx, n_models: int, n_segments: int, found: BoolArray | None
) -> None:
    """Warn like `warn_missing_counts`; `found` says which trials were found, None all."""
    n_trials = ndx.n_trials if found is None else int(np.count_nonzero(found))
    if isinstance(ndx, AnyKey):
        n_tar = ndx.n_tar
        if found is not None:
            n_tar = int(np.count_nonzero(found & ndx.trial_labels()))
        warn_missing_counts(ndx, n_models, n_segments, (n_tar, n_trials - n_tar))
    else:
        warn_missing_counts(ndx, n_models, n_segments, (n_trials,))
