"""Ids of a text column as small numbers, found without a Python object for each line."""

from collections.abc import Sequence

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._validation import frozen
from bosaris_py.storage._ids import character_codes, decode_ids
from bosaris_py.storage._limits import MemoryBudget
from bosaris_py.storage._tokens import (
    Block,
    IntArray,
    LineNumbers,
    WordArray,
    show,
    token_words,
)

__all__ = ["DecodedIds", "IdColumn"]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
# Longer ids go one by one, so that a single one cannot blow up the arrays of all.
_LONGEST_ID = 256
_FIRST_ROOM = 1024
_FIRST_BITS = 12


@attrs.define(eq=False)
class IdColumn:
    """The ids of one column, numbered in the order in which they turn up.

    Ids are found by a hash of 64 bits and then compared byte by byte, so the numbers
    are right even if two ids share a hash; such ids, and very long ones, are kept in a
    dictionary. The length of a column is its number of distinct ids.
    """

    _count: int = attrs.field(default=0, init=False)
    _ids: list[bytes] = attrs.field(factory=list, init=False)
    _odd_codes: dict[bytes, int] = attrs.field(factory=dict, init=False)
    # What is known of the id of each code: its hash, length and words. Behind the last
    # code there is room for more.
    _hashes: WordArray = attrs.field(init=False)
    _lengths: IntArray = attrs.field(init=False)
    _id_words: list[WordArray] = attrs.field(factory=list, init=False)
    # From the upper bits of a hash to a code, or to -1. A code whose place is taken lies
    # in one of the next places, before the first that is free.
    _table: npt.NDArray[np.int32] = attrs.field(init=False)
    _table_shift: np.uint64 = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start without ids, but with room for some."""
        self._hashes = np.zeros(_FIRST_ROOM, dtype=np.uint64)
        self._lengths = np.full(_FIRST_ROOM, -1)
        self._new_table()

    def __len__(self) -> int:
        """Return the number of distinct ids."""
        return self._count

    @property
    def ids(self) -> list[bytes]:
        """The distinct ids; the place of an id is its code."""
        known = len(self._ids)
        if known < self._count:
            self._ids += self._letters(slice(known, self._count)).tolist()
            for name, code in self._odd_codes.items():
                self._ids[code] = name
        return self._ids

    def letters(self) -> npt.NDArray[np.bytes_] | None:
        """Return the distinct ids as an array; None if they do not all fit into one."""
        return None if self._odd_codes else self._letters(slice(0, self._count))

    def _letters(self, part: slice) -> npt.NDArray[np.bytes_]:
        """Return some ids as an array of bytes, empty where an id is in the dictionary."""
        words = np.zeros((part.stop - part.start, max(1, len(self._id_words))), dtype="<u8")
        for number, column in enumerate(self._id_words):
            words[:, number] = column[part]
        return words.view(f"S{8 * words.shape[1]}").ravel()

    def encode(self, block: Block, column: int) -> IntArray:
        """Return the codes of one column of a block, giving new codes to new ids.

        Parameters
        ----------
        block : Block
            Lines of the file.
        column : int
            Which of its columns.

        Returns
        -------
        (lines,) ndarray of int
            Indices into `ids`.
        """
        starts = np.ascontiguousarray(block.starts[:, column])
        lengths = block.stops[:, column] - starts
        is_long = lengths > _LONGEST_ID
        if not is_long.any():
            return self._encode(block, starts, lengths)
        codes = np.empty(starts.size, dtype=np.intp)
        is_short = ~is_long
        codes[is_short] = self._encode(block, starts[is_short], lengths[is_short])
        self._encode_singly(codes, np.flatnonzero(is_long), block, starts, lengths)
        return codes

    def _encode(self, block: Block, starts: IntArray, lengths: IntArray) -> IntArray:
        """Return the codes of tokens that are not too long."""
        hashes = lengths.astype(np.uint64) * _MULTIPLIER
        words = list(token_words(block, starts, lengths))
        for _, chosen, word in words:
            if chosen is None:
                hashes = _mix(hashes, word)
            else:
                hashes[chosen] = _mix(hashes[chosen], word)
        # One of the two columns of most files is constant over long runs.
        is_head = np.concatenate(([True], hashes[1:] != hashes[:-1]))[: hashes.size]
        heads = np.flatnonzero(is_head)
        if 4 * heads.size > hashes.size:
            codes = self._look_up(hashes, block, starts, lengths)
        else:
            head_codes = self._look_up(hashes[heads], block, starts[heads], lengths[heads])
            codes = np.repeat(head_codes, np.diff(np.append(heads, hashes.size)))
        is_same = self._lengths[codes] == lengths
        for number, chosen, word in words:
            if number == len(self._id_words):
                # No known id is so long; the lengths have told them apart already.
                break
            if chosen is None:
                is_same &= self._id_words[number][codes] == word
            else:
                is_same[chosen] &= self._id_words[number][codes[chosen]] == word
        if not is_same.all():
            self._encode_singly(codes, np.flatnonzero(~is_same), block, starts, lengths)
        return codes

    def _encode_singly(
        self, codes: IntArray, which: IntArray, block: Block, starts: IntArray, lengths: IntArray
    ) -> None:
        """Set the codes of the tokens `which` by a dictionary of their bytes."""
        for token in which.tolist():
            start = starts[token]
            name = block.data[start : start + lengths[token]].tobytes()
            code = self._odd_codes.get(name)
            if code is None:
                code = self._odd_codes[name] = self._count
                self._count += 1
            codes[token] = code
        # The places of these codes are never looked up; their lengths stay -1.
        self._make_room(self._count)

    def _look_up(
        self,
        hashes: WordArray,
        block: Block,
        starts: IntArray,
        lengths: IntArray,
    ) -> IntArray:
        """Return the code that each hash stands for, making new ones."""
        slots = (hashes >> self._table_shift).astype(np.intp)
        codes = self._table[slots].astype(np.intp)
        strays = np.flatnonzero((self._hashes[codes] != hashes) & (codes >= 0))
        while strays.size:
            slots[strays] = (slots[strays] + 1) & (self._table.size - 1)
            codes[strays] = self._table[slots[strays]]
            found = codes[strays]
            strays = strays[(self._hashes[found] != hashes[strays]) & (found >= 0)]
        missed = np.flatnonzero(codes < 0)
        if missed.size:
            _, first, inverse = np.unique(hashes[missed], return_index=True, return_inverse=True)
            codes[missed] = self._count + inverse
            chosen = missed[first]
            self._add(hashes[chosen], block, starts[chosen], lengths[chosen])
        return codes

    def _add(
        self,
        hashes: WordArray,
        block: Block,
        starts: IntArray,
        lengths: IntArray,
    ) -> None:
        """Give codes to new ids, whose hashes differ."""
        old = self._count
        self._count += hashes.size
        new = slice(old, self._count)
        self._make_room(self._count)
        self._hashes[new] = hashes
        self._lengths[new] = lengths
        for number, chosen, word in token_words(block, starts, lengths):
            if number == len(self._id_words):
                self._id_words.append(np.zeros(self._hashes.size, dtype=np.uint64))
            self._id_words[number][new if chosen is None else old + chosen] = word
        if 2 * self._count > self._table.size:
            self._new_table()
        else:
            self._enter(np.arange(old, self._count))

    def _make_room(self, count: int) -> None:
        """Double the arrays until they hold `count` ids."""
        room = self._hashes.size
        if count <= room:
            return
        while room < count:
            room *= 2
        more = room - self._hashes.size
        zeros = np.zeros(more, dtype=np.uint64)
        self._hashes = np.append(self._hashes, zeros)
        self._lengths = np.append(self._lengths, np.full(more, -1))
        self._id_words = [np.append(words, zeros) for words in self._id_words]

    def _new_table(self) -> None:
        """Make a table of which at most a quarter is taken."""
        bits = max(_FIRST_BITS, (4 * self._count).bit_length())
        self._table = np.full(1 << bits, -1, dtype=np.int32)
        self._table_shift = np.uint64(64 - bits)
        self._enter(np.flatnonzero(self._lengths[: self._count] >= 0))

    def _enter(self, codes: IntArray) -> None:
        """Enter codes into the table."""
        slots = (self._hashes[codes] >> self._table_shift).astype(np.intp)
        while codes.size:
            is_free = self._table[slots] < 0
            # Of several codes for one place, the last gets it.
            self._table[slots[is_free]] = codes[is_free]
            outside = self._table[slots] != codes
            codes, slots = codes[outside], (slots[outside] + 1) & (self._table.size - 1)


def _mix(hashes: WordArray, words: WordArray) -> WordArray:
    """Stir one more word into each hash, so that its upper bits depend on all of it."""
    mixed = (hashes ^ words) * _MULTIPLIER
    mixed ^= mixed >> _SHIFT
    mixed *= _MULTIPLIER
    return mixed


@attrs.frozen(eq=False)
class DecodedIds:
    """The distinct ids of a column as text.

    Parameters
    ----------
    names : (n,) ndarray of str
        The ids in ascending order.
    rank : (codes,) ndarray of int32
        The place in `names` of each code; several codes may stand for one id.
    """

    names: npt.NDArray[np.str_]
    rank: npt.NDArray[np.int32]

    @classmethod
    def of(
        cls,
        column: IdColumn,
        codes: npt.NDArray[np.integer],
        numbers: LineNumbers,
        budget: MemoryBudget,
        suffixes: Sequence[bytes] = (),
    ) -> "DecodedIds":
        """Decode and sort the ids of a column.

        Parameters
        ----------
        column : IdColumn
            The ids.
        codes : (records,) ndarray of int
            Where they occur, for error messages.
        numbers : LineNumbers
            In which lines that is.
        budget : MemoryBudget
            What the arrays may take.
        suffixes : sequence of bytes, optional
            The first that fits is taken off the end of an id.

        Returns
        -------
        DecodedIds
            The ids.

        Raises
        ------
        FileFormatError
            If an id is not in UTF-8, or could not be written as text again.
        """
        letters = column.letters()
        if letters is None or character_codes(letters).max(initial=0) > 127:
            names = [_without(name, suffixes) for name in column.ids] if suffixes else column.ids
            return cls.decode(names, codes, numbers, budget)
        longest = int(np.strings.str_len(letters).max(initial=1))
        budget.claim(8 * longest * letters.size, f"a list of {letters.size} ids")
        letters = _without_suffixes(letters, suffixes)
        # As numbers of eight bytes, the first the most significant, ids sort as texts do.
        words = letters.view(">u8").reshape(letters.size, letters.itemsize // 8).astype(np.uint64)
        # What all ids have in common, such as an extension, does not order them.
        words = words[:, (words != words[:1]).any(axis=0) | (np.arange(words.shape[1]) == 0)]
        order = np.lexsort(words.T[::-1])
        words = words[order]
        is_new = np.ones(letters.size, dtype=np.bool_)
        is_new[1:] = (words[1:] != words[:-1]).any(axis=1)
        rank = np.empty(letters.size, dtype=np.int32)
        rank[order] = np.cumsum(is_new, dtype=np.int32) - np.int32(1)
        return cls(frozen(decode_ids(letters[order[is_new]])), rank)

    @classmethod
    def decode(
        cls,
        ids: Sequence[bytes],
        codes: npt.NDArray[np.integer],
        numbers: LineNumbers,
        budget: MemoryBudget,
    ) -> "DecodedIds":
        """Decode and sort ids.

        Parameters
        ----------
        ids : sequence of bytes
            The id of each code; ids may be equal.
        codes : (records,) ndarray of int
            Where they occur, for error messages.
        numbers : LineNumbers
            In which lines that is.
        budget : MemoryBudget
            What the arrays may take.

        Returns
        -------
        DecodedIds
            The ids.

        Raises
        ------
        FileFormatError
            If an id is not in UTF-8, or could not be written as text again.
        """
        # Four bytes for each character of the longest id, here and where they are used.
        longest = max(map(len, ids), default=1)
        budget.claim(8 * longest * len(ids), f"a list of {len(ids)} ids")
        # UTF-8 sorts like the characters do, and much faster.
        distinct = sorted(set(ids))
        texts: list[str] = []
        for name in distinct:
            try:
                text = name.decode()
            except UnicodeDecodeError:
                message = f"the id {show(name)} is not in UTF-8"
                raise numbers.error(_first(codes, ids, name), message) from None
            fault = "" if name.isascii() else _fault_of_id(text)
            if fault:
                raise numbers.error(_first(codes, ids, name), f"the id {text!r} {fault}")
            texts.append(text)
        place = dict(zip(distinct, range(len(distinct)), strict=True))
        rank = np.fromiter(map(place.__getitem__, ids), dtype=np.int32, count=len(ids))
        return cls(frozen(np.array(texts, dtype=np.str_)), rank)

    def name_of(self, code: int) -> str:
        """Return the id of one code."""
        return str(self.names[self.rank[code]])

    def in_order(self, codes: npt.NDArray[np.integer]) -> npt.NDArray[np.str_]:
        """Return the ids of all records."""
        return frozen(self.names[self.rank[codes]])


def _without(name: bytes, suffixes: Sequence[bytes]) -> bytes:
    """Take the first fitting suffix off an id."""
    for suffix in suffixes:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def _without_suffixes(
    letters: npt.NDArray[np.bytes_], suffixes: Sequence[bytes]
) -> npt.NDArray[np.bytes_]:
    """Take the first fitting suffix off each id."""
    if not suffixes:
        return letters
    stripped = letters.copy()
    is_open = np.ones(letters.size, dtype=np.bool_)
    lengths = np.strings.str_len(letters)
    for suffix in suffixes:
        fits = np.flatnonzero(is_open & np.strings.endswith(letters, suffix))
        is_open[fits] = False
        if not fits.size:
            continue
        cells = character_codes(stripped[fits])
        cells[np.arange(cells.shape[1]) >= (lengths[fits] - len(suffix))[:, np.newaxis]] = 0
        stripped[fits] = cells.view(letters.dtype).ravel()
    return stripped


def _first(codes: npt.NDArray[np.integer], ids: Sequence[bytes], name: bytes) -> int:
    """Return the first record with an id."""
    return int(np.argmax(codes == ids.index(name)))


def _fault_of_id(text: str) -> str:
    """Say what is wrong with an id that could not be written as text again."""
    if text.startswith("\ufeff"):
        return "starts with a byte order mark; were files joined?"
    if any(letter.isspace() and not letter.isascii() for letter in text):
        return "holds a blank that is none in ASCII; write blanks or tabs between columns"
    return ""
