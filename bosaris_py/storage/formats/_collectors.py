"""Columns of a file, gathered block by block."""

from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen
from bosaris_py.errors import FileFormatError
from bosaris_py.storage._limits import MemoryBudget
from bosaris_py.storage._token_ids import DecodedIds, IdColumn
from bosaris_py.storage._token_numbers import read_numbers
from bosaris_py.storage._tokens import Block, LineNumbers, token_words
from bosaris_py.storage.factors import Factor

__all__ = ["CodeColumn", "NumberColumn", "joined_ids"]

# Sets the bit that tells lower case from upper in every byte of a word.
_LOWER_CASE = np.uint64(0x2020202020202020)


@attrs.define(eq=False)
class CodeColumn:
    """A column of ids or categories."""

    place: int
    ids: IdColumn = attrs.field(factory=IdColumn, init=False)
    _parts: list[npt.NDArray[Any]] = attrs.field(factory=list, init=False)

    def add(self, block: Block) -> None:
        """Take this column of a block."""
        codes = self.ids.encode(block, self.place)
        self._parts.append(codes.astype(np.min_scalar_type(max(0, len(self.ids) - 1))))

    def codes(self) -> npt.NDArray[Any]:
        """Return the code of each line."""
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0] if self._parts else np.empty(0, dtype=np.uint8)

    def first_line(self, name: bytes) -> int:
        """Return the first record that has this text."""
        return int(np.argmax(self.codes() == self.ids.ids.index(name)))

    def refuse_empty(self, numbers: LineNumbers, what: str) -> None:
        """Raise if the field of a line is empty."""
        letters = self.ids.letters()
        if b"" in self.ids.ids if letters is None else (letters == b"").any():
            raise numbers.error(self.first_line(b""), f"the {what} is empty")

    def decoded(
        self, numbers: LineNumbers, budget: MemoryBudget, suffixes: Sequence[bytes] = ()
    ) -> DecodedIds:
        """Return the ids as text, without the first of the suffixes that they have."""
        return DecodedIds.of(self.ids, self.codes(), numbers, budget, suffixes)

    def factor(self, numbers: LineNumbers, budget: MemoryBudget) -> Factor:
        """Return the column as categories."""
        decoded = self.decoded(numbers, budget)
        rank = decoded.rank.astype(np.min_scalar_type(max(0, decoded.names.size - 1)))
        return Factor(frozen(rank[self.codes()]), decoded.names)


def joined_ids(
    names: npt.NDArray[np.str_],
    places: npt.NDArray[np.int32],
    side: Factor,
) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.int32]]:
    """Join segments and sides to ids such as ``segment:a``; return them and their places."""
    width = max(1, side.levels.size)
    pairs = places.astype(np.int64) * width + side.codes
    is_used = np.zeros(names.size * width, dtype=np.bool_)
    is_used[pairs] = True
    used = np.flatnonzero(is_used)
    joined = np.array(
        [f"{names[pair // width]}:{side.levels[pair % width]}" for pair in used.tolist()],
        dtype=np.str_,
    )
    # Joined ids need not be in the order of their parts.
    order = np.argsort(joined, kind="stable")
    rank = np.empty(names.size * width, dtype=np.int32)
    rank[used[order]] = np.arange(used.size, dtype=np.int32)
    return frozen(joined[order]), frozen(rank[pairs])


@attrs.define(eq=False)
class NumberColumn:
    """A column of numbers, some of which may be missing."""

    place: int
    name: str
    missing: Sequence[str]
    may_be_empty: bool = False
    _parts: list[npt.NDArray[np.float64]] = attrs.field(factory=list, init=False)
    _n_nan: int = attrs.field(default=0, init=False)
    _first_nan: int = attrs.field(default=-1, init=False)

    def add(self, block: Block, numbers: LineNumbers, first_record: int) -> None:
        """Take this column of a block."""
        is_missing = self._is_missing(block)
        if is_missing is None or not is_missing.any():
            values = read_numbers(block, self.place, numbers, first_record)
            present: npt.NDArray[Any] | slice = slice(None)
        else:
            rows = np.flatnonzero(~is_missing)
            values = np.full(is_missing.size, np.nan)
            values[rows] = read_numbers(block, self.place, numbers, first_record, rows)
            present = ~is_missing
        is_nan = np.isnan(values[present])
        if is_nan.any():
            if not self._n_nan:
                is_nan = np.isnan(values)
                is_nan &= True if is_missing is None else ~is_missing
                self._first_nan = first_record + int(np.argmax(is_nan))
            self._n_nan += int(np.count_nonzero(is_nan))
        self._parts.append(values)

    def _is_missing(self, block: Block) -> npt.NDArray[np.bool_] | None:
        """Tell which lines say that there is no number."""
        if not self.missing and not self.may_be_empty:
            return None
        starts = np.ascontiguousarray(block.starts[:, self.place])
        lengths = block.stops[:, self.place] - starts
        is_missing: npt.NDArray[np.bool_] = np.zeros(starts.size, dtype=np.bool_)
        if self.may_be_empty:
            is_missing |= lengths == 0
        for text in self.missing:
            suspects = np.flatnonzero(lengths == len(text.encode()))
            if not suspects.size or not text:
                is_missing[suspects] = True
                continue
            wanted = np.frombuffer(text.encode().ljust(8, b"\0"), dtype="<u8")[0] | _LOWER_CASE
            for _, _, words in token_words(block, starts[suspects], lengths[suspects]):
                same = words | _LOWER_CASE == wanted
                is_missing[suspects[same]] = True
        return is_missing

    def values(self, numbers: LineNumbers) -> npt.NDArray[np.float64]:
        """Return all numbers, NaN where one is missing.

        Raises
        ------
        FileFormatError
            If the file says NaN where nobody said that this means "missing".
        """
        if self._n_nan:
            raise self._nan_error(numbers)
        return frozen(np.concatenate(self._parts) if self._parts else np.empty(0))

    def _nan_error(self, numbers: LineNumbers) -> FileFormatError:
        lines = "1 line" if self._n_nan == 1 else f"{self._n_nan} lines"
        text = (
            f"the {self.name} is NaN here ({lines} in all); if it says that there is none, "
            'pass missing="nan"'
        )
        return numbers.error(self._first_nan, text)
