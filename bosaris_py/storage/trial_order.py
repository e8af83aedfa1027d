"""The order of lists of trials: column by column, each trial once.

Works on positions in the lists of models and segments, and knows no ids. A trial is
one whole number, its code, such that codes ascend in column-major order; all work is
then sorting and comparing whole numbers.
"""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

__all__ = ["TrialOrder", "ascends", "disagree", "order_trials", "sort_codes", "trial_codes"]

Positions = npt.NDArray[np.signedinteger[Any]]
Codes = npt.NDArray[np.int64]

# Runs of ascending codes that are as long on average are merged rather than sorted.
_LONG_RUN = 16


def trial_codes(models: Positions, segments: Positions, n_models: int) -> Codes:
    """Give trials numbers: column by column of the matrix of all models and segments.

    Parameters
    ----------
    models, segments : (k,) array of int
        Positions of the model and of the segment of each trial.
    n_models : int
        Number of models.

    Returns
    -------
    (k,) array of int64
        ``segments * n_models + models``.
    """
    codes = segments.astype(np.int64)
    codes *= n_models
    codes += models
    return codes


def ascends(codes: Codes) -> bool:
    """Tell whether every code is larger than the one before."""
    return bool((codes[1:] > codes[:-1]).all())


def sort_codes(codes: Codes) -> tuple[npt.NDArray[np.intp], Codes]:
    """Return the order that sorts codes, equal ones in the order that they have, and the codes.

    Parameters
    ----------
    codes : (k,) array of int64
        Codes from 0.

    Returns
    -------
    order : (k,) array of int
        ``codes[order]`` are the sorted codes.
    sorted_codes : (k,) array of int64
        The same.

    Notes
    -----
    A code and its place mostly fit into one number together, and numpy sorts numbers much faster
    than it finds their order; unless the codes are already in runs, which it then merges.
    """
    n_bits = max(1, codes.size - 1).bit_length()
    n_runs = 1 + np.count_nonzero(codes[1:] < codes[:-1])
    if n_runs * _LONG_RUN < codes.size or int(codes.max(initial=0)) >> (63 - n_bits):
        order = np.argsort(codes, kind="stable")
        return order, codes[order]
    packed = codes << n_bits
    packed |= np.arange(codes.size)
    packed.sort()
    return packed & ((1 << n_bits) - 1), packed >> n_bits


def disagree(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Tell where two arrays differ. NaN agrees with NaN."""
    differs: npt.NDArray[np.bool_] = first != second
    if first.dtype.kind == "f":
        differs &= ~(np.isnan(first) & np.isnan(second))
    return differs


@attrs.frozen(eq=False)
class TrialOrder:
    """How a list of trials is brought into column-major order, each trial once.

    Parameters
    ----------
    order : (n,) array of int or None
        Where in the list the trials stand, in their new order; of a trial that is
        listed several times the first line. None: the list is as it shall be.
    repeated : (r,) array of int
        The lines that list a trial again.
    first : (r,) array of int
        For each of those the line that lists the same trial first.
    """

    order: npt.NDArray[np.intp] | None
    repeated: npt.NDArray[np.intp]
    first: npt.NDArray[np.intp]

    def repeats(self, contents: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Tell for each repeated line that it is one too many, whatever it says."""
        return np.ones(self.repeated.size, dtype=np.bool_)

    def conflicts(self, contents: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Tell for each repeated line whether it says something else than the first.

        Parameters
        ----------
        contents : (k,) array
            What each line of the list says of its trial. NaN agrees with NaN.
        """
        return disagree(contents[self.first], contents[self.repeated])


def order_trials(models: Positions, segments: Positions, n_models: int) -> TrialOrder:
    """Find the column-major order of a list of trials, and the lines that repeat one.

    Parameters
    ----------
    models, segments : (k,) array of int
        Positions of the model and of the segment of each trial.
    n_models : int
        Number of models.

    Returns
    -------
    TrialOrder

    Notes
    -----
    One pass if the list is in order already; else one sort of whole numbers.
    """
    none = np.empty(0, dtype=np.intp)
    codes = trial_codes(models, segments, n_models)
    if ascends(codes):
        return TrialOrder(None, none, none)
    order, codes = sort_codes(codes)
    is_new = np.ones(codes.size, dtype=np.bool_)
    np.not_equal(codes[1:], codes[:-1], out=is_new[1:])
    if is_new.all():
        return TrialOrder(order, none, none)
    again = np.flatnonzero(~is_new)
    first = order[is_new]
    # Of the distinct trials before a repeated line, the last is the same as it.
    which = np.searchsorted(np.flatnonzero(is_new), again) - 1
    return TrialOrder(first, order[again], first[which])
