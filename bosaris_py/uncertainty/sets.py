"""Sets of scores that belong together, because one speaker or one model made them."""

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import describe, frozen, invalid, list_some
from bosaris_py.uncertainty.randomness import Rng, as_generator

__all__ = ["EqualSizeSets", "SetIndex", "as_labels", "equal_size_sets"]

IntArray = npt.NDArray[np.int64]

_FEWEST_SETS = 2


@attrs.frozen(eq=False, repr=False)
class SetIndex:
    """Which set each trial of one class belongs to.

    Parameters
    ----------
    labels : (n,) ndarray of int64
        Number of each trial's set, from 0.
    sizes : (n_sets,) ndarray of int64
        Number of trials in each set, at least one.
    """

    labels: IntArray
    sizes: IntArray

    @classmethod
    def from_labels(
        cls, labels: npt.ArrayLike | None, n_trials: int, name: str, owner: str
    ) -> "SetIndex":
        """Give each set a number; there must be two sets or more, and a label for each trial."""
        if labels is None:
            hint = 'Give the label of each trial\'s set, or use method="iid".'
            raise invalid(name, owner, "be given when sets are resampled", "None", hint)
        array = as_labels(labels, name, owner)
        if array.size != n_trials:
            expected = f"have one label for each of the {n_trials} trials"
            raise invalid(name, owner, expected, f"{array.size} labels")
        _, numbers, sizes = np.unique(array, return_inverse=True, return_counts=True)
        if sizes.size < _FEWEST_SETS:
            expected = f"name at least {_FEWEST_SETS} sets"
            raise invalid(name, owner, expected, f"{sizes.size}", "One set shows no variation.")
        return cls(frozen(numbers.astype(np.int64)), frozen(sizes.astype(np.int64)))

    def __repr__(self) -> str:
        """Say how many sets there are and how large."""
        smallest, largest = int(self.sizes.min()), int(self.sizes.max())
        return f"SetIndex: {self.sizes.size} sets of {smallest} to {largest} trials"

    @property
    def n_sets(self) -> int:
        """Number of sets."""
        return int(self.sizes.size)

    def reordered(self, order: npt.NDArray[np.intp]) -> "SetIndex":
        """Take the trials in another order."""
        return SetIndex(frozen(self.labels[order]), self.sizes)


@attrs.frozen(eq=False, repr=False)
class EqualSizeSets:
    """A choice of trials that leaves sets of equal size.

    Parameters
    ----------
    mask : (n,) ndarray of bool
        Which trials are kept.
    size : int
        Number of trials in each set that is kept.
    n_sets : int
        Number of sets that are kept.
    """

    mask: npt.NDArray[np.bool_]
    size: int
    n_sets: int

    @property
    def n_kept(self) -> int:
        """Number of trials that are kept."""
        return self.size * self.n_sets

    def __repr__(self) -> str:
        """Say what is kept."""
        total = self.mask.size
        return f"EqualSizeSets: {self.n_sets} sets of {self.size}, {self.n_kept} of {total} trials"


def as_labels(labels: npt.ArrayLike, name: str, owner: str) -> npt.NDArray[Any]:
    """Return labels that can be sorted; equal ones, and no others, stay equal."""
    if not isinstance(labels, np.ndarray):
        # numpy would make the text "1" of the number 1, and "None" of a missing label.
        labels = np.array(labels, dtype=object)
    array = labels.astype(object) if labels.dtype.kind == "T" else labels
    if array.ndim != 1 or array.dtype.kind not in "iuUSObf":
        raise _not_labels(array, name, owner)
    if array.dtype.kind in "Of":
        missing = np.array([_is_missing(label) for label in array.tolist()], dtype=np.bool_)
        if missing.any():
            positions = np.flatnonzero(missing)
            found = (
                f"none (None or NaN) for {positions.size} of {array.size} trials "
                f"(positions {list_some(positions.tolist())})"
            )
            hint = "Leave these trials out, or give each a set of its own."
            raise invalid(name, owner, "tell the set of each trial", found, hint)
    if array.dtype.kind == "f":
        raise _not_labels(array, name, owner)
    return _number_objects(array, name, owner) if array.dtype.kind == "O" else array


def _number_objects(array: npt.NDArray[Any], name: str, owner: str) -> npt.NDArray[Any]:
    """Give labels of any type a number each; those of different types differ."""
    kinds = {type(label) for label in array.tolist()}
    if any(issubclass(kind, (float, np.floating)) for kind in kinds):
        raise _not_labels(array, name, owner)
    # In order where there is one, so that a list and an array give the same replicates.
    if all(issubclass(kind, str) for kind in kinds):
        return array.astype(np.str_)
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
        return np.array(array.tolist())
    numbers: dict[Any, int] = {}
    try:
        coded = [
            numbers.setdefault((isinstance(label, (bool, np.bool_)), label), len(numbers))
            for label in array.tolist()
        ]
    except TypeError:
        raise _not_labels(array, name, owner) from None
    return np.array(coded, dtype=np.int64)


def _not_labels(array: npt.NDArray[Any], name: str, owner: str) -> Exception:
    expected = "be a one-dimensional list of labels, text or whole numbers"
    return invalid(name, owner, expected, describe(array))


def _is_missing(label: Any) -> bool:
    """Tell whether a label is None, NaN, or another library's mark of a missing value."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
    except ValueError:  # an array
        return False


def equal_size_sets(sets: npt.ArrayLike, *, rng: Rng = None) -> EqualSizeSets:
    """Keep as many trials as possible such that all sets have the same size.

    Parameters
    ----------
    sets : (n,) array_like of str or int
        Label of each trial's set.
    rng : Generator, int or None, keyword-only
        Decides which trials of the larger sets are kept.

    Returns
    -------
    EqualSizeSets
        With a mask of the trials to keep. Sets smaller than the size chosen
        are dropped, larger ones are sampled without replacement.

    Raises
    ------
    InvalidInputError
        If there are fewer than two sets, a label is missing, or `rng` is no source of
        randomness.

    Notes
    -----
    Wu et al. 2016 ([1]_, section IX) choose the size by trial and error. It has
    an exact answer: with the sizes in descending order, the j largest sets keep
    at most j times the size of the j-th, and only these products compete. At
    least two sets are kept; of equally good choices the one with more sets.

    Throwing away trials is needed only to repeat the paper's bootstraps to the
    letter: `bootstrap` takes sets of any size.

    References
    ----------
    .. [1] J. C. Wu, A. F. Martin, C. S. Greenberg and R. N. Kacker, "The impact
       of data dependence on speaker recognition evaluation", IEEE/ACM TASLP 25,
       2017, doi:10.1109/TASLP.2016.2614725.

    Examples
    --------
    >>> chosen = equal_size_sets(["a"] * 5 + ["b"] * 4 + ["c"], rng=0)
    >>> chosen
    EqualSizeSets: 2 sets of 4, 8 of 10 trials
    """
    owner = "equal_size_sets"
    generator = as_generator(rng, owner)
    labels = as_labels(sets, "sets", owner)
    index = SetIndex.from_labels(labels, labels.size, "sets", owner)
    descending = np.sort(index.sizes)[::-1]
    kept = descending * np.arange(1, descending.size + 1)
    # The last of equal products has the most sets.
    n_sets = descending.size - int(np.argmax(kept[: _FEWEST_SETS - 2 : -1]))
    size = int(descending[n_sets - 1])
    # In random order within each set, the first `size` trials are a random choice.
    order = np.lexsort((generator.random(index.labels.size), index.labels))
    starts = np.cumsum(index.sizes) - index.sizes
    rank = np.arange(order.size) - np.repeat(starts, index.sizes)
    chosen = (rank < size) & (np.repeat(index.sizes, index.sizes) >= size)
    mask = np.zeros(order.size, dtype=np.bool_)
    mask[order[chosen]] = True
    return EqualSizeSets(frozen(mask), size, n_sets)
