"""Ids as bytes and as text: what files can store, and how it is read again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray, StrArray
from bosaris_py.errors import InvalidInputError

BytesArray = npt.NDArray[np.bytes_]

# The longest id, in characters, that is written, and in bytes that is read.
LONGEST_ID = 4096
LONGEST_STORED_ID = 4 * LONGEST_ID


def decode_ids(encoded: BytesArray) -> StrArray:
    """Decode UTF-8 into the narrowest array that holds all strings."""
    if encoded.size == 0:
        return np.empty(0, dtype=np.str_)
    width = max(1, int(np.strings.str_len(encoded).max()))
    if width > LONGEST_STORED_ID:
        raise ValueError(f"an id of {width} bytes; {LONGEST_STORED_ID} is the most")
    if character_codes(encoded).max(initial=0) < 128:
        return encoded.astype(f"U{width}")
    return np.strings.decode(encoded, "utf-8")


def character_codes(strings: AnyArray) -> AnyArray:
    """Return the bytes or code points of strings as a matrix, NUL behind each end."""
    item = np.uint8 if strings.dtype.kind == "S" else np.uint32
    if strings.size == 0:
        return np.empty((0, 1), dtype=item)
    return np.ascontiguousarray(strings).view(item).reshape(strings.size, -1)


def cut_at_null(encoded: BytesArray) -> BytesArray:
    """End every string at its first NUL, as C does."""
    # Programs in C leave rubbish in the buffer behind it, which numpy would keep.
    letters = character_codes(encoded)
    ended = letters == 0
    if not (ended[:, :-1] & ~ended[:, 1:]).any():
        return encoded
    cleaned = np.where(np.logical_or.accumulate(ended, axis=1), np.uint8(0), letters)
    return np.ascontiguousarray(cleaned).view(encoded.dtype).ravel()


def refuse_unstorable(ids: StrArray, name: str) -> None:
    """Raise if an id is longer than what is read again, or holds a NUL, which ends a string."""
    if ids.dtype.itemsize > 4 * LONGEST_ID and int(np.strings.str_len(ids).max(initial=0)) > (
        LONGEST_ID
    ):
        message = f"an id of `{name}` is longer than {LONGEST_ID} characters, which is the most"
        raise InvalidInputError(message)
    codes = character_codes(ids)
    if ((codes[:, :-1] == 0) & (codes[:, 1:] != 0)).any():
        message = f"an id of `{name}` holds a NUL character, which files cannot store"
        raise InvalidInputError(message)
