"""Ids as arrays of bytes and of characters."""

from typing import Any

import numpy as np
import numpy.typing as npt

from bosaris_py.errors import InvalidInputError

__all__ = ["character_codes", "cut_at_null", "decode_ids", "refuse_nul"]


def decode_ids(encoded: npt.NDArray[np.bytes_]) -> npt.NDArray[np.str_]:
    """Decode UTF-8 into the narrowest array that holds all strings."""
    if encoded.size == 0:
        return np.empty(0, dtype=np.str_)
    width = max(1, int(np.strings.str_len(encoded).max()))
    if character_codes(encoded).max(initial=0) < 128:
        return encoded.astype(f"U{width}")
    return np.strings.decode(encoded, "utf-8")


def character_codes(strings: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the bytes or code points of strings as a matrix, NUL behind each end."""
    item = np.uint8 if strings.dtype.kind == "S" else np.uint32
    if strings.size == 0:
        return np.empty((0, 1), dtype=item)
    return np.ascontiguousarray(strings).view(item).reshape(strings.size, -1)


def cut_at_null(encoded: npt.NDArray[np.bytes_]) -> npt.NDArray[np.bytes_]:
    """End every string at its first NUL, as C does.

    Programs in C leave rubbish in the buffer behind it, which numpy would keep.
    """
    letters = character_codes(encoded)
    ended = letters == 0
    if not (ended[:, :-1] & ~ended[:, 1:]).any():
        return encoded
    cleaned = np.where(np.logical_or.accumulate(ended, axis=1), np.uint8(0), letters)
    return np.ascontiguousarray(cleaned).view(encoded.dtype).ravel()


def refuse_nul(ids: npt.NDArray[np.str_], name: str) -> None:
    """Raise if an id holds a NUL character, which ends a string in most formats."""
    codes = character_codes(ids)
    if ((codes[:, :-1] == 0) & (codes[:, 1:] != 0)).any():
        message = f"an id of `{name}` holds a NUL character, which files cannot store"
        raise InvalidInputError(message)
