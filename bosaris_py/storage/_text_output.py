"""Ids and numbers as text, and text in files that are replaced in one step."""

import gzip
import io
import math
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy.typing as npt

from bosaris_py._validation import FilePath, as_ids, invalid, list_some
from bosaris_py.errors import InvalidInputError
from bosaris_py.storage.atomic import atomic_write

__all__ = ["formatter", "words", "write_parts"]

# A file starts with a byte order mark or not; an id that does so would lose it.
_UNPRINTABLE = re.compile("[\x00-\x1f]|^\ufeff")


def words(ids: npt.ArrayLike, name: str, owner: str) -> list[str]:
    """Return ids as a list, refusing those that a column of text cannot hold."""
    array = as_ids(ids, name, owner)
    names: list[str] = array.tolist()
    bad = [text for text in names if text.split() != [text] or _UNPRINTABLE.search(text)]
    if bad:
        found = f"{len(bad)} others ({list_some(map(repr, bad))})"
        hint = "Blanks separate the columns of a text file; save as .h5 instead."
        raise invalid(name, owner, "hold words without blanks", found, hint)
    return names


def formatter(number_format: str | None, owner: str = "write_scores") -> Callable[[float], str]:
    """Return the function that turns a score into text."""
    if number_format is None:
        return float.__repr__
    try:
        sample: Any = number_format % 1.5
        is_word = isinstance(sample, str) and math.isfinite(float(sample))
        # A whole number, such as "%d" makes, has no infinity.
        number_format % math.inf
    except (TypeError, ValueError, OverflowError):
        is_word = False
    if not is_word:
        expected = 'format one number with %, for instance "%f" or "%.9g"'
        raise invalid("number_format", owner, expected, repr(number_format))
    return number_format.__mod__


def write_parts(path: FilePath, parts: Iterable[str]) -> None:
    """Write a text that comes in parts and put the file in place.

    A file whose name ends in ``.gz`` is compressed, without a time stamp: the same text
    gives the same bytes.
    """
    compressed = Path(path).suffix.lower() == ".gz"
    with atomic_write(path) as temporary, temporary.open("wb") as on_disk:
        target: Any = on_disk
        if compressed:
            target = gzip.GzipFile(filename="", mode="wb", fileobj=on_disk, mtime=0)
        try:
            with io.TextIOWrapper(target, encoding="utf-8", newline="\n") as stream:
                stream.writelines(parts)
                stream.flush()
        except UnicodeEncodeError as error:
            message = f"{path}: an id cannot be encoded as UTF-8: {error}"
            raise InvalidInputError(message) from error
