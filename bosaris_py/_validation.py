"""Arguments as arrays and numbers, and the one grammar of all error messages.

A message says what was expected, what came, and of ten traps the likely mistake::

    `scoremask` must have shape (12, 300) like `scoremat`;
    got (300, 12). Did you swap models and segments?
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, ValuesView
from pathlib import Path
from typing import Any, get_args

import numpy as np

from bosaris_py import _arrays as arrays, errors
from bosaris_py._arrays import AnyArray, ArrayLike, BoolArray, FloatArray, Rng, StrArray, Weighting

# What can be looked through once, or has no positions.
_LOOKED_AT_ONCE = (Iterator, KeysView, ValuesView)

_EXAMPLES_SHOWN = 5

# Products of the weights of a target and a non-target must neither vanish nor overflow.
_SMALLEST_WEIGHT, _LARGEST_WEIGHT = 1e-100, 1e100

NO_SET = "Braces make a set, which has no order: write a list."

_FROM_LABELS = (
    "For labels and scores there are Results.from_labels(labels, scores) and "
    "tar, non = split_by_labels(labels, scores)."
)

# From so many trials on, scores may be tied where the other list looks like labels; below the
# first number, nothing is taken for labels.
_FEW_TRIALS, _MANY_TRIALS = 4, 20

# As long as ids of files may be. In numpy's arrays each id takes the room of the longest.
_LONGEST_ID = 16384


def invalid(
    name: str, expected: str, got: str, hint: str = "", **use: str | None
) -> errors.InvalidInputError:
    """Build the error for one bad argument in the grammar of this module; `use` is what helps."""
    return errors.InvalidInputError(argument=name, expected=expected, got=got, hint=hint, use=use)


def as_path(path: object, name: str = "path") -> Path:
    """Return a path; refuse what is no name of a file, such as a list of names."""
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        text = b""
    if isinstance(text, bytes):
        raise invalid(name, "be the name of a file", describe(path))
    if not text or "\0" in text:
        raise invalid(name, "be the name of a file", "an empty text" if not text else repr(text))
    return Path(text)


def safe(text: object, most: int = 80) -> str:
    """Return a name or id for a message or a repr: printable, and not longer than `most`."""
    shown = str(text)
    shown = errors.printable(shown[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


def repetitions(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, in the order of their first occurrence."""
    return [name for name, count in Counter(names).items() if count > 1]


def describe(value: object) -> str:
    """Return a short description of `value` for an error message."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and type {value.dtype}"
    # As 1.0, not as np.float64(1.0).
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 60 else f"a {type(value).__name__} ({text[:50]}...)"


def list_some(items: Iterable[object], shown: int = _EXAMPLES_SHOWN) -> str:
    """Return the first few items, comma-separated, with an ellipsis if cut."""
    materialised = list(items)
    text = ", ".join(safe(item) for item in materialised[:shown])
    return f"{text}, ..." if len(materialised) > shown else text


def _refuse_masked(values: object, name: str) -> None:
    """Raise if values are hidden by the mask of a numpy masked array."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        found = f"a masked array with {np.count_nonzero(values.mask)} masked values"
        raise invalid(name, "be a plain array", found)
    if hasattr(values, "toarray"):
        raise invalid(name, "be a plain array", "a sparse matrix", "Take .toarray().")


def as_list(values: object) -> Any:
    """Return what an iterator, or a view of a dict, gives as a list; other values as they are."""
    return list(values) if isinstance(values, _LOOKED_AT_ONCE) else values


def listed(values: object, name: str) -> list[Any]:
    """Return what is listed as a list; a text is one item, and None none."""
    if isinstance(values, str):
        return [values]
    try:
        return [*(() if values is None else values)]  # type: ignore[misc]
    except TypeError:
        raise invalid(name, "be a list", describe(values)) from None


def check_mapping(values: object, name: str, of: str, kind: Any = object) -> None:
    """Raise unless values, of a kind, are found by name."""
    if not isinstance(values, Mapping) or not all(isinstance(x, kind) for x in values.values()):
        raise invalid(name, f"map names to {of}", describe(values))


def _refuse_set(values: object, name: str, what: str) -> None:
    """Raise for a set in place of a list."""
    if isinstance(values, set | frozenset):
        raise invalid(name, f"be a list of {what}", describe(values), NO_SET)


def row_labels(values: object) -> Any:
    """Return the index of a column or a frame of pandas; None for what has none, as in polars."""
    index = getattr(values, "index", None)
    return None if callable(index) else index


def is_column(values: object) -> bool:
    """Tell whether values are a column of a data frame, which has the order of its table."""
    return type(values).__name__ == "Series" or row_labels(values) is not None


def refuse_series(values: object, name: str, remedy: str, of: str = "trial") -> None:
    """Raise for a column of a data frame where values go by the position of trials or ids."""
    if is_column(values):
        each = "each trial in the order of the trials, column by column"
        expected = each if of == "trial" else f"each {of} in the order of the ids"
        found = f"a {type(values).__name__}, which has the order of its table"
        raise invalid(name, f"hold one value for {expected}", found, remedy)


def check_same_rows(columns: Mapping[str, object]) -> None:
    """Raise if columns of data frames that are taken together have different indexes."""
    indexes = {name: row_labels(values) for name, values in columns.items()}
    labelled = [(name, index) for name, index in indexes.items() if index is not None]
    for name, index in labelled[1:]:
        like, first = labelled[0]
        # Other lengths are refused, with their numbers, where columns become arrays.
        if len(index) == len(first) and not np.array_equal(first, index):
            hint = "Values are taken by position: bring both into one order first."
            found = f"a {type(columns[name]).__name__} with another"
            raise invalid(name, f"have the index of `{like}`", found, hint)


def check_class_rows(tar: object, non: object, **columns: object) -> None:
    """Raise if columns tar_... or non_... have another index than the scores of the class."""
    for name, scores in (("tar", tar), ("non", non)):
        own = {column: values for column, values in columns.items() if column.startswith(name)}
        check_same_rows({name: scores, **own})


def check_frame(
    values: object, name: str, rows: tuple[str, StrArray] | None, cols: tuple[str, StrArray]
) -> None:
    """Raise if a matrix is a data frame whose labels are not the ids of its rows and columns."""
    columns = getattr(values, "columns", None)
    sides = [("index", row_labels(values), rows), ("columns", columns, cols)]
    for attribute, labels, own in sides:
        if columns is None or labels is None or own is None or len(labels) != len(own[1]):
            continue
        argument, ids = own
        differ = np.flatnonzero(np.array([*map(str, labels)]) != ids)
        if differ.size:
            at = int(differ[0])
            found = f"{safe(labels[at])!r} at position {at}, where `{argument}` has "
            found += repr(safe(ids[at]))
            hint = "Give the ids of the frame, frame.index and frame.columns, or sort it."
            raise invalid(name, f"have the ids of `{argument}` as its {attribute}", found, hint)


def as_float_array(values: ArrayLike, name: str) -> FloatArray:
    """Convert to float32 (kept) or float64; refuse what cannot be a score."""
    _refuse_masked(values, name)
    values = as_list(values)
    if isinstance(values, list | tuple) and values and is_column(values[0]):
        # Systems, one a row, are paired by position.
        check_same_rows({f"{name}[{number}]": row for number, row in enumerate(values)})
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise invalid(name, "be a regular array of numbers", f"rows that differ: {error}") from None
    if array.dtype in (np.float32, np.float64):
        return array
    if array.dtype.kind in "fiu" or array.size == 0:
        return array.astype(np.float64)
    _refuse_set(values, name, "numbers")
    hint = ""
    if hasattr(values, "modelset"):
        hint = "Scores and a key belong into Results.from_scores(scores, key)."
    elif array.dtype.kind == "b":
        hint = "A boolean array looks like a mask or like labels; was it put in the wrong place?"
    if array.dtype.kind in "bUSO" and name in ("tar", "non") and not hasattr(values, "modelset"):
        hint = f"{hint} {_FROM_LABELS}".strip()
    elif array.dtype.kind in "SUO" and not hasattr(values, "modelset"):
        hint = hint or "Numbers written as text: np.array(x, float)."
    raise invalid(name, "hold real numbers", describe(array), hint)


def as_vector(values: ArrayLike, name: str) -> FloatArray:
    """Return `values` as a 1-D float array, without a copy where possible."""
    # float32 stays float32, any other real type becomes float64.
    array = as_float_array(values, name)
    if array.ndim != 1:
        hint = "A row or a column: .ravel()." if array.size == max(array.shape, default=0) else ""
        raise invalid(name, "be one-dimensional", describe(array), hint)
    return array


def as_score_lists(
    tar: ArrayLike, non: ArrayLike, tar_weights: Weighting = None, non_weights: Weighting = None
) -> tuple[FloatArray, FloatArray]:
    """Return the scores of both classes as vectors; refuse labels and scores in their place."""
    check_class_rows(tar, non, tar_weights=tar_weights, non_weights=non_weights)
    classes = as_vector(tar, "tar"), as_vector(non, "non")
    refuse_labels(*classes)
    return classes


def refuse_labels(tar: FloatArray, non: FloatArray) -> None:
    """Raise if these are not the scores of two classes, but the labels and scores of all trials."""
    # Labels are 0 and 1, -1 and 1, or 1 and 2, nothing else and both of them, for as many trials as
    # there are scores. Few scores may be such numbers by chance. Fewer than 4 always pass. Fewer
    # than 20 pass unless the scores in the other list all differ and none is such a number.
    if tar.size != non.size or tar.size < _FEW_TRIALS:
        return
    for name, labels, other, scores in (("tar", tar, "non", non), ("non", non, "tar", tar)):
        if not are_labels(labels) or are_labels(scores):
            continue
        if scores.size < _MANY_TRIALS and (
            np.isin(scores, (-1, 0, 1, labels.max())).any() or np.unique(scores).size < scores.size
        ):
            continue
        found = f"only {labels.min():g} and {labels.max():g}, for as many trials as `{other}` has"
        hint = f"Labels of all trials? {_FROM_LABELS}"
        raise invalid(name, "hold the scores of one class", found, hint)


def are_labels(values: FloatArray) -> bool:
    """Tell whether values are 0 and 1, -1 and 1, or 1 and 2, and nothing else."""
    # Most scores show in the first few that they are none.
    head = values[:8]
    if not ((head == 0) | (abs(head) == 1) | (head == 2)).all():
        return False
    low, high = values.min(), values.max()
    return (low, high) in ((0, 1), (-1, 1), (1, 2)) and bool(
        ((values == low) | (values == high)).all()
    )


def as_matrix(values: ArrayLike, name: str) -> FloatArray:
    """Return `values` as a 2-D float array, without a copy where possible."""
    array = as_float_array(values, name)
    if array.ndim != 2:
        raise invalid(name, "be two-dimensional", describe(array))
    return array


def as_mask(values: object, name: str) -> BoolArray:
    """Return `values` as a boolean array; anything but booleans is refused."""
    # Numbers are refused even if they are all 0 or 1: a matrix of scores or of +1/-1 labels in
    # the place of a mask is a common mistake, and silent if converted.
    _refuse_masked(values, name)
    array = np.asarray(values)
    if array.dtype == np.bool_:
        return array
    if array.size == 0:
        return array.astype(np.bool_)
    # .astype(bool) would make True of each word.
    is_text = array.dtype.kind in "USOT"
    hint = f"Say which means a target: {name} == VALUE."
    if is_text:
        hint = "labels == 'target' makes truth values of words."
    elif np.isin(array, (0, 1)).all():
        hint = "Of 0 and 1: .astype(bool)."
    raise invalid(name, "be boolean", describe(array), hint)


def as_ids(values: object, name: str) -> StrArray:
    """Return `values` as a read-only 1-D array of str; bytes are decoded as UTF-8."""
    _refuse_masked(values, name)
    _refuse_set(values, name, "ids")
    # numpy would make text of the numbers in a mixed list, and lose trailing NULs.
    is_array = isinstance(values, np.ndarray)
    array = np.asarray(values) if is_array else np.array(as_list(values), dtype=object)
    if array.ndim != 1:
        hint = "Ids of a MATLAB file: loadmat(path, squeeze_me=True)." if array.ndim == 2 else ""
        if isinstance(values, str) and "." in values:
            hint = "A file: read(path) of the class."
        raise invalid(name, "be a one-dimensional list of ids", describe(array), hint)
    if array.dtype.kind in "OTS":
        array = np.array([_as_id(item, name) for item in array.tolist()], dtype=np.str_)
    elif array.size == 0:
        array = np.empty(0, dtype=np.str_)
    elif array.dtype.kind != "U":
        hint = "Ids are text; write [str(i) for i in ids]."
        raise invalid(name, "hold strings", describe(array), hint)
    return arrays.read_only(array)


def _as_id(item: object, name: str) -> str:
    if isinstance(item, bytes):
        try:
            item = item.decode("utf-8")
        except UnicodeDecodeError:
            raise invalid(name, "be text in UTF-8", describe(item)) from None
    match item:
        case str():
            if "\0" in item:
                raise invalid(name, "not contain the character NUL", describe(item))
            if len(item) > _LONGEST_ID:
                expected = f"hold ids of at most {_LONGEST_ID:,} characters"
                raise invalid(name, expected, f"one of {len(item):,}")
            return item
        case np.ndarray():
            hint = "Ids of a MATLAB file: x.item() of each cell, or loadmat(path, squeeze_me=True)."
        case _ if is_missing(item):
            hint = "Ids are text; is a value missing?"
        case _:
            hint = "Ids are text; write [str(i) for i in ids]."
    raise invalid(name, "hold strings", f"among others {describe(item)}", hint)


def is_missing(value: object) -> bool:
    """Tell whether a value is None, NaN, or another library's mark of a missing one."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        # pandas.NA is neither; nor is an array, which is not missing.
        return not isinstance(value, np.ndarray)


def as_weights(values: Weighting, size: int, name: str) -> FloatArray | None:
    """Return trial weights as float64 of length `size`; None stays None."""
    if values is None:
        return None
    weights = as_float_array(values, name).astype(np.float64, copy=False)
    if weights.shape != (size,):
        expected = f"have one weight for each of the {size} scores"
        raise invalid(name, expected, describe(weights))
    if not size:
        return weights
    highest = np.maximum.reduce(weights)
    # Neither is so if one is NaN.
    if not (np.minimum.reduce(weights) >= 0 and highest < np.inf):
        good = np.isfinite(weights) & (weights >= 0)
        first = int(np.argmin(good))
        found = f"{weights[first]} at position {first} ({np.count_nonzero(~good)} bad in all)"
        raise invalid(name, "be finite and not negative", found)
    if highest == 0:
        raise invalid(name, "not all be zero", "only zeros")
    return weights


def check_weight_range(weights: FloatArray | None, name: str) -> None:
    """Raise if positive weights are so small or large that their products leave float64."""
    if weights is None or not weights.size:
        return
    smallest, largest = np.minimum.reduce(weights), np.maximum.reduce(weights)
    if smallest == 0:
        smallest = weights.min(where=weights > 0, initial=np.inf)
    if smallest < _SMALLEST_WEIGHT or largest > _LARGEST_WEIGHT:
        expected = f"lie between {_SMALLEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}, or be 0"
        raise invalid(name, expected, f"{smallest:g} to {largest:g}")


def refuse_nan(values: FloatArray, name: str) -> None:
    """Raise with counts and first positions if `values` holds NaN."""
    bad = np.isnan(values)
    if bad.any():
        positions = np.flatnonzero(bad).tolist()
        found = f"NaN at {len(positions)} of {values.size} positions ({list_some(positions)})"
        raise invalid(name, "not hold NaN", found)


def check_not_empty(values: AnyArray, name: str) -> None:
    """Raise if `values` has no elements."""
    if values.size == 0:
        raise invalid(name, "hold at least one score", "none")


def check_shape(array: AnyArray, shape: tuple[int, ...], name: str, like: str) -> None:
    """Raise unless `array` has `shape`, guessing at a swap of models and segments."""
    if array.shape != shape:
        swapped = array.ndim == 2 and array.shape == shape[::-1]
        hint = "Did you swap models and segments?" if swapped else ""
        raise invalid(name, f"have shape {shape} {like}", str(array.shape), hint)


def check_unique(ids: StrArray, name: str, hint: str = "") -> None:
    """Raise if an id occurs twice, naming the first few that do."""
    # Sorting texts takes far longer.
    if len({*ids.tolist()}) == ids.size:
        return
    values, counts = np.unique(ids, return_counts=True)
    if repeated := values[counts > 1].tolist():
        found = f"{len(repeated)} repeated ids ({list_some(repeated)})"
        raise invalid(name, "hold each id once", found, hint)


def check_choice(value: object, choices: Any, name: str) -> None:
    """Raise unless `value` is one of `choices`, a `Literal` or a sequence."""
    allowed = get_args(choices) or choices
    # Comparisons of arrays have no truth value.
    if isinstance(value, np.ndarray) or value not in allowed:
        texts = ", ".join(f'"{choice}"' for choice in allowed)
        raise invalid(name, f"be one of {texts}", describe(value))


def one_of(choices: object) -> Any:
    """Return `check_choice` as a validator of an attrs field."""
    return lambda _, attribute, value: check_choice(value, choices, attribute.name)


def as_number(
    value: object,
    name: str,
    expected: str,
    allowed: Callable[[float], bool],
    hint_if_large: str = "",
) -> float:
    """Return `value` as a float; raise unless it is a number that is allowed."""
    # Of texts and truth values float() would make numbers.
    if isinstance(value, str | bytes | bool | np.bool_):
        raise invalid(name, "be a number", describe(value))
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise invalid(name, "be a number", describe(value)) from None
    if not allowed(number):
        raise invalid(name, expected, describe(value), hint_if_large if number > 1.0 else "")
    return number


def as_flag(value: object, name: str = "normalize") -> bool:
    """Return a truth value; 0 and 1, as MATLAB writes them, are ones, and no text is."""
    if not isinstance(value, np.ndarray) and value in (0, 1):
        return bool(value)
    raise invalid(name, "be True or False", describe(value))


def log_of_base(base: object) -> float:
    """Return by what logarithms of a base are multiplied to be natural; None: they are."""
    if base is None:
        return 1.0
    number = as_number(base, "base", "be finite and above 1", lambda x: 1.0 < x < np.inf)
    return float(np.log(number))


def as_nonnegative(value: object, name: str) -> float:
    """Return `value` as a float; raise unless it is finite and not negative."""
    return as_number(value, name, "be finite and not negative", lambda x: 0.0 <= x < np.inf)


def check_fraction(value: object, name: str) -> float:
    """Return `value` as a float; raise unless it lies strictly between 0 and 1."""
    hint = "Is this a prior log-odds or a percentage?"
    return as_number(value, name, "lie strictly between 0 and 1", lambda x: 0.0 < x < 1.0, hint)


def as_generator(rng: Rng) -> np.random.Generator:
    """Return the generator to draw from, or to spawn from."""
    try:
        generator = np.random.default_rng(rng)
        generator.spawn(0)
    except (TypeError, ValueError) as error:
        expected = "be a Generator that can spawn, a whole number or None"
        raise invalid("rng", expected, describe(rng)) from error
    return generator


def as_seed(rng: Rng) -> int:
    """Return a number from which the same draws can be made several times."""
    # A child is asked, so that the generator of the caller stays where it is.
    if isinstance(rng, int | np.integer):
        return int(rng)
    return int(as_generator(rng).spawn(1)[0].integers(2**63))
