"""Positions of ids and trials in other lists and matrices.

Ids are sorted and looked up once for each object. After that a trial is a pair of positions, and a
`Frame` says where the models and segments of one object lie in another. Matrices are moved in
blocks; lists are searched by the number of the cell of each trial.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
from attrs import frozen

from bosaris_py._arrays import AnyArray, BoolArray, IntArray, Positions, StrArray, mark_read_only
from bosaris_py._validation import as_ids, check_unique
from bosaris_py.errors import DisjointIdsError
from bosaris_py.files.columns import ascends, sort_codes, trial_codes

IdList = npt.ArrayLike | Sequence[str]

Ids = tuple[StrArray, StrArray]

# Cells of one block: a few megabytes of values, so that a block is still in the
# cache when the next step needs it.
_BLOCK_CELLS = 2**17

# Cells gathered at once before they are read column by column: bounds the memory
# of an extraction, whatever the size of the matrix.
_STRIP_CELLS = 2**24

# Side of the squares in which a matrix is transposed.
_TILE = 128

# True cells of a mask are few if each stands for so many.
_CELLS_PER_FEW = 64

_ALL = slice(None)


# Ids

# As many ids are enough to tell that models and segments are swapped.
_SAMPLED_IDS = 1000

# As many ids of a side are tried as examples, and compared with so many of the other side.
_TRIED, _LOOKED_AT = 50, 10**5

# A table of all cells may have this many cells for each trial, or this many in any case.
_CELLS_PER_TRIAL = 2

_SMALL_TABLE = 2**20

# A larger table is made in parts that fit the processor's cache. Parts are numbered with 16
# bits. Fewer trials for each part do not pay for clearing its table.
_PART_BITS = 22

_MOST_PARTS = 2**16

_TRIALS_PER_PART = 256


@frozen(eq=False)
class IdIndex:
    """A list of ids, sorted once so that ids are found by binary search."""

    # `ordered` holds the ids in ascending order, equal ones in their old order, and `order` their
    # positions: `ordered == ids[order]`. `order` is None if the ids are sorted already, as they are
    # after a merge or in anything read from a text file.

    ids: StrArray
    ordered: StrArray
    order: Positions | None

    @classmethod
    def of(cls, ids: StrArray) -> "IdIndex":
        """Index `ids`: O(n) if they ascend, else O(n log n)."""
        # Comparing neighbours takes far less time than sorting strings, and most lists are sorted.
        if bool((ids[:-1] <= ids[1:]).all()):
            return cls(ids, ids, None)
        order = np.argsort(ids, kind="stable")
        return cls(ids, ids[order], order)

    @classmethod
    def of_union(cls, id_lists: Sequence[StrArray]) -> "IdIndex":
        """Index the sorted union of several id lists."""
        ids = np.unique(np.concatenate(id_lists))
        return cls(mark_read_only(ids), ids, None)

    def has_repeated(self) -> bool:
        """Tell whether an id occurs more than once."""
        return bool((self.ordered[:-1] == self.ordered[1:]).any())

    def check_unique(self, name: str, hint: str = "") -> None:
        """Raise if an id occurs more than once, naming the first few that do."""
        if self.has_repeated():
            check_unique(self.ids, name, hint)

    def locate(self, wanted: "IdIndex") -> Positions | None:
        """Return like `locate_last`, or None if both lists are equal and nothing moves."""
        same = self.ids is wanted.ids or np.array_equal(self.ids, wanted.ids)
        return None if same else self.locate_last(wanted)

    def locate_last(self, wanted: "IdIndex") -> Positions:
        """Return the last position in this list of each wanted id, -1 for an unknown id."""
        if self.ids.size == 0:
            return np.full(wanted.ids.size, -1, dtype=np.intp)
        # Sorted ids are searched, so that the binary searches run through memory in order,
        # which makes them several times faster.
        positions = np.searchsorted(self.ordered, wanted.ordered, side="right") - 1
        # Where no id is smaller this reads the last id (-1), which is another one.
        absent = self.ordered[positions] != wanted.ordered
        if self.order is not None:
            positions = self.order[positions]
        positions[absent] = -1
        if wanted.order is None:
            return positions
        unsorted = np.empty_like(positions)
        unsorted[wanted.order] = positions
        return unsorted

    def which_in(self, names: StrArray) -> BoolArray:
        """Tell for each id of this list, in its order, whether it is among `names`."""
        return IdIndex.of(names).locate_last(self) >= 0


def code_ids(names: IdList, name: str) -> tuple[StrArray, Positions]:
    """Split one id per trial into the sorted distinct ids and the position of each in them."""
    # A hash table is four times faster here than sorting all the strings, and a list of str
    # needs no conversion to numpy's four bytes per character.
    if isinstance(names, list) and set(map(type, names)) == {str}:
        listed: list[str] = names
    else:
        listed = as_ids(names, name).tolist()
    distinct = sorted(set(listed))
    table = dict(zip(distinct, range(len(distinct)), strict=True))
    codes = np.fromiter(map(table.__getitem__, listed), dtype=np.intp, count=len(listed))
    return as_ids(distinct, name), codes


def as_slice(positions: slice | Positions) -> slice | Positions:
    """Return ascending neighbours as a slice, other positions as they are."""
    if isinstance(positions, slice) or positions.size == 0:
        return positions
    first, last = int(positions[0]), int(positions[-1])
    if last - first == positions.size - 1 and (np.diff(positions) == 1).all():
        return slice(first, last + 1)
    return positions


def inverse(positions: Positions, size: int) -> Positions:
    """Return where each of `size` items is among `positions`, -1 if it is not; -1 is no item."""
    found = np.full(size, -1, dtype=position_type(size, positions.size))
    known = np.flatnonzero(positions >= 0)
    found[positions[known]] = known
    return found


# Matrices


def blocks(n_rows: int, n_cols: int, cells: int = _BLOCK_CELLS) -> Iterator[slice]:
    """Yield slices of rows that hold about `cells` cells each."""
    step = max(1, cells // max(1, n_cols))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def _is_transposed(matrix: AnyArray) -> bool:
    """Tell whether `matrix` lies in memory column by column."""
    return matrix.flags.f_contiguous and not matrix.flags.c_contiguous


def _columns_first(matrix: AnyArray) -> AnyArray:
    """Return the transpose of `matrix`, contiguous in memory."""
    if matrix.T.flags.c_contiguous:
        return matrix.T
    out = np.empty(matrix.shape[::-1], dtype=matrix.dtype)
    for start in range(0, matrix.shape[0], _TILE):
        out[:, start : start + _TILE] = matrix[start : start + _TILE].T
    return out


@frozen(eq=False)
class Frame:
    """Where the rows and columns that are wanted lie in a source matrix."""

    # `rows` and `cols` are positions in the source: -1 stands for one that the source does not
    # have, None for all in their order. `shape` is the number of wanted rows and columns.

    rows: Positions | None
    cols: Positions | None
    shape: tuple[int, int]

    @property
    def is_identity(self) -> bool:
        """Whether the source has the wanted order already."""
        return self.rows is None and self.cols is None

    @property
    def n_found(self) -> tuple[int, int]:
        """Number of wanted rows, and of wanted columns, that the source has."""
        (rows, cols), (n_rows, n_cols) = (self.rows, self.cols), self.shape
        n_rows = n_rows if rows is None else int(np.count_nonzero(rows >= 0))
        return n_rows, n_cols if cols is None else int(np.count_nonzero(cols >= 0))

    @property
    def is_complete(self) -> bool:
        """Whether the source has all that is wanted."""
        return self.is_identity or self.n_found == self.shape

    def cells(self, models: Positions, segments: Positions) -> tuple[AnyArray, AnyArray]:
        """Return the rows and columns in the source of wanted trials, -1 where it has none."""
        rows = models if self.rows is None else self.rows[models]
        cols = segments if self.cols is None else self.cols[segments]
        return rows, cols

    def take(self, source: AnyArray, rows: slice = _ALL, cols: slice = _ALL) -> AnyArray:
        """Return a block of the source in the wanted order; missing cells are 0 or False."""
        # This is the source itself, or a view of it, if nothing has to be moved; else a new,
        # read-only array in the memory order of the source.
        # Nothing is copied where nothing moves: a matrix may fill half of the memory.
        if self.is_identity:
            return source if rows == _ALL and cols == _ALL else source[rows, cols]
        # Only rows are moved as wholes, so a matrix that lies column by column is transposed.
        if _is_transposed(source):
            return Frame(self.cols, self.rows, self.shape[::-1]).take(source.T, cols, rows).T
        return mark_read_only(self.copy_of(source, rows, cols))

    def copy_of(self, source: AnyArray, rows: slice = _ALL, cols: slice = _ALL) -> AnyArray:
        """Return a block as `take` does where something has to be moved, but writeable."""
        row_at = None if self.rows is None else self.rows[rows]
        col_at = None if self.cols is None else self.cols[cols]
        n_rows = len(range(self.shape[0])[rows])
        n_cols = len(range(self.shape[1])[cols])
        if source.size == 0 or n_rows == 0 or n_cols == 0:
            return np.zeros((n_rows, n_cols), dtype=source.dtype)
        if col_at is None:
            # Position -1 copies some row, which is cleared below.
            out = source[:, cols][row_at]
        else:
            out = np.empty((n_rows, n_cols), dtype=source.dtype)
            # Rows that are views start where the caller's slice starts.
            first = rows.start or 0
            for block in blocks(n_rows, source.shape[1]):
                here = slice(first + block.start, first + block.stop)
                part = source[here if row_at is None else row_at[block]]
                # `clip` reads column 0 for position -1, which is cleared below, and does without
                # a check of every position.
                np.take(part, col_at, axis=1, out=out[block], mode="clip")
            if (col_at < 0).any():
                out[:, col_at < 0] = 0
        if row_at is not None and (row_at < 0).any():
            out[row_at < 0] = 0
        return out

    def take_valid(
        self, present: BoolArray | None, rows: slice = _ALL, cols: slice = _ALL
    ) -> BoolArray | None:
        """Return which cells of a block hold a value, given those of the source; None: all."""
        if present is not None:
            return self.take(present, rows, cols)
        if self.is_complete:
            return None
        # Cells that the source does not have hold nothing.
        row_found = np.ones(self.shape[0], np.bool_) if self.rows is None else self.rows >= 0
        col_found = np.ones(self.shape[1], np.bool_) if self.cols is None else self.cols >= 0
        return np.logical_and.outer(row_found[rows], col_found[cols])


# Ids that do not meet


# What two spellings of an id may differ in, and what is left of an id without that.
_SPELLINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("upper and lower case", str.casefold),
    ("the folder", lambda name: name.rpartition("/")[2]),
    ("the extension", lambda name: name.rpartition(".")[0] or name),
    ("folder and extension", lambda name: PurePosixPath(name).stem),
    ("folder, extension and case", lambda name: PurePosixPath(name).stem.casefold()),
)


def refuse_strangers(frame: Frame, wanted: Ids, found: Ids) -> None:
    """Raise if ids of scores and key are others, or numbers of other lines."""
    # `frame` says where the ids of the key, `wanted`, are among those of the scores, `found`.
    if frame.is_identity or not all(ids.size for ids in (*wanted, *found)):
        return
    if wanted[1].size != found[1].size and all(map(_are_line_numbers, (wanted, found))):
        # Which lines of the longer file the shorter one lacks, nothing tells.
        raise DisjointIdsError(
            argument="key",
            expected="have as many lines as the scores, because trials without ids go by the "
            "number of their line",
            got=f"{wanted[1].size} lines of the key, and {found[1].size} of the scores",
            hint="Give both files a column of ids, or bring them to the same lines.",
        )
    shares = [n / ids.size for n, ids in zip(frame.n_found, wanted, strict=True)]
    if min(shares) > 0.5:
        return
    use: dict[str, str | None] = {}
    if min(shares) > 0:
        return
    sides = zip(shares, wanted, found, ("models", "segments"), strict=True)
    hint = " ".join(
        why_strange(mine, theirs, noun, ("the key", "the scores"), use)
        for share, mine, theirs, noun in sides
        if not share
    )
    raise DisjointIdsError(
        argument="key",
        expected="hold targets that have scores",
        got="none: its ids are others",
        hint=hint,
        use=use,
    )


def _are_line_numbers(ids: Ids) -> bool:
    """Tell whether trials have the ids that readers give to lines without any."""
    # Ids ascend and are distinct, so the last of as many numbers is their count.
    (model, *others), segments = ids
    last = str(segments.size)
    ends = segments[0], segments[-1]
    return not others and model == "all" and ends == ("1".zfill(len(last)), last)


def why_strange(
    wanted: StrArray, found: StrArray, noun: str, whose: tuple[str, str], use: dict[str, str | None]
) -> str:
    """Say in what two lists differ that have no id in common, and add to `use` what mends it."""
    # `noun` says what the ids are of, `whose` what the wanted and the found ones belong to.
    for short, long, owner in ((wanted, found, whose[1]), (found, wanted, whose[0])):
        for at_end in (True, False):
            where, method = ("end", "removesuffix") if at_end else ("begin", "removeprefix")
            if affix := _common_affix(short, long, at_end=at_end):
                use |= {"strip_suffix": affix} if at_end else {}
                return (
                    f"The {noun} of {owner} {where} with {affix!r}, such as {str(long[0])!r}: take "
                    f"it off, for instance with id.{method}({affix!r})."
                )
    mine, others = _examples(wanted), found[:_LOOKED_AT].tolist()
    for what, spell in _SPELLINGS:
        spelled = {spell(name): name for name in others}
        pairs = [(name, spelled[spell(name)]) for name in mine if spell(name) in spelled]
        if 2 * len(pairs) > len(mine):
            return (
                f"The {noun} differ in {what}: {pairs[0][0]!r} of {whose[0]} is {pairs[0][1]!r} of "
                f"{whose[1]}. Write both alike."
            )
    return f"The {noun} of {whose[0]} are such as {mine[0]!r}, of {whose[1]} such as {others[0]!r}."


def _examples(ids: StrArray) -> list[str]:
    examples: list[str] = ids[:: 1 + ids.size // _TRIED].tolist()
    return examples


def _common_affix(short: StrArray, long: StrArray, *, at_end: bool) -> str:
    """Return what most of the short ids need at one end to be among the long ones, or nothing."""
    tried, others = _examples(short), long[:_LOOKED_AT].tolist()
    if at_end:
        rest = (b[len(a) :] for a in tried for b in others if a != b and b.startswith(a))
    else:
        rest = (b[: -len(a)] for a in tried for b in others if a and a != b and b.endswith(a))
    affix = next((text for text, _ in Counter(rest).most_common(1)), "")
    known = set(others)
    hits = sum((a + affix if at_end else affix + a) in known for a in tried)
    return affix if 2 * hits > len(tried) else ""


# Values, which of them are valid (None: all), and which of them each mask wants. The masks are
# made one by one, when they are used, so that the values stay in the cache.
_Part = tuple[AnyArray, BoolArray | None, Iterator[BoolArray]]


def extract(
    frame: Frame,
    values: AnyArray,
    present: BoolArray | None,
    masks: Sequence[BoolArray],
    *,
    any_order: bool = False,
) -> list[AnyArray]:
    """Return the values under each mask as vectors in column-major order."""
    # The masks have the shape of the frame, `values` and `present` (None: all values are valid)
    # that of the source. One pass over the matrix serves all masks. With `any_order`, the values
    # come in the order that is fastest.
    by_rows = any_order and not _is_transposed(values)
    parts = _parts_by_rows if by_rows else _parts_by_columns
    vectors = [np.empty(np.count_nonzero(mask), dtype=values.dtype) for mask in masks]
    ends = [0] * len(vectors)
    for part, valid, part_masks in parts(frame, values, present, masks):
        for index, mask in enumerate(part_masks):
            found = part[mask if valid is None else mask & valid]
            end = ends[index] + found.size
            vectors[index][ends[index] : end] = found
            ends[index] = end
    # Vectors that were allocated too long are cut, and the longer memory is given back.
    return [
        vector if end == vector.size else vector[:end].copy()
        for vector, end in zip(vectors, ends, strict=True)
    ]


def _parts_by_columns(
    frame: Frame, values: AnyArray, present: BoolArray | None, masks: Sequence[BoolArray]
) -> Iterator[_Part]:
    """Yield the transposes of some columns after the other."""
    # The matrix is transposed square by square on the way: reading it column by column as it
    # lies would fetch every cache line many times.
    for wide in blocks(frame.shape[1], frame.shape[0], _STRIP_CELLS):
        strip = frame.take(values, cols=wide)
        valid = frame.take_valid(present, cols=wide)
        for start in range(0, strip.shape[1], _TILE):
            narrow = slice(start, start + _TILE)
            yield (
                _columns_first(strip[:, narrow]),
                None if valid is None else _columns_first(valid[:, narrow]),
                (_columns_first(mask[:, wide][:, narrow]) for mask in masks),
            )


def _parts_by_rows(
    frame: Frame, values: AnyArray, present: BoolArray | None, masks: Sequence[BoolArray]
) -> Iterator[_Part]:
    """Yield some rows after the other."""
    for block in blocks(*frame.shape):
        part = frame.take(values, block), frame.take_valid(present, block)
        yield *part, (mask[block] for mask in masks)


def insert(matrix: AnyArray, mask: BoolArray, vector: AnyArray) -> None:
    """Write `vector` into `matrix`, in place, where `mask` is true, in column-major order."""
    used = 0
    for start in range(0, matrix.shape[1], _TILE):
        strip = matrix[:, start : start + _TILE]
        wanted = _columns_first(mask[:, start : start + _TILE])
        # A transpose that is a view writes through to the matrix.
        columns = _columns_first(strip)
        count = int(np.count_nonzero(wanted))
        columns[wanted] = vector[used : used + count]
        used += count
        if not np.may_share_memory(columns, matrix):
            for top in range(0, matrix.shape[0], _TILE):
                strip[top : top + _TILE] = columns[:, top : top + _TILE].T


def position_type(*sizes: int) -> "np.dtype[Any]":
    """Return the smaller of int32 and int64 that holds the positions in lists of these sizes."""
    # Four bytes instead of eight halve the memory of a list, and the time that a pass takes.
    return np.dtype(np.int32 if max(sizes, default=0) <= np.iinfo(np.int32).max else np.int64)


def true_positions(mask: BoolArray) -> tuple[Positions, Positions]:
    """Return the row and the column of each true cell of a mask, column by column."""
    dtype = position_type(*mask.shape)
    total = int(np.count_nonzero(mask))
    if total <= mask.size // _CELLS_PER_FEW and mask.flags.c_contiguous:
        # To sort so few cells takes less time than to transpose the mask.
        found = np.divmod(np.flatnonzero(mask), max(mask.shape[1], 1))
        order = np.argsort(found[1], kind="stable")
        few_rows, few_cols = (mark_read_only(side[order].astype(dtype)) for side in found)
        return few_rows, few_cols
    rows, cols = np.empty(total, dtype), np.empty(total, dtype)
    used = 0
    for wide in blocks(mask.shape[1], mask.shape[0]):
        # numpy lists true cells row by row; those of the transpose come column by column.
        strip_cols, strip_rows = np.nonzero(_columns_first(mask[:, wide]))
        part = slice(used, used + strip_rows.size)
        rows[part] = strip_rows
        np.add(strip_cols, wide.start, out=cols[part], casting="same_kind")
        used = part.stop
    return mark_read_only(rows), mark_read_only(cols)


def gather(matrices: Sequence[AnyArray], models: Positions, segments: Positions) -> list[AnyArray]:
    """Return the cells of some matrices at the positions of trials, as vectors."""
    vectors: list[AnyArray] = [np.empty(models.size, dtype=each.dtype) for each in matrices]
    # In blocks, because numpy converts positions to its own type of index.
    for block in blocks(models.size, 1):
        rows, cols = models[block], segments[block]
        for vector, matrix in zip(vectors, matrices, strict=True):
            vector[block] = matrix[rows, cols]
    return vectors


# Lists. A trial is one number, its code, and codes are found by a table of all cells, if that
# is small, or by binary search of sorted codes in sorted codes. numpy continues each such search
# where the last one ended, so that ten million trials are found among as many in 0.2 s. Codes
# that are not sorted, because ids come in another order, need tables of one part of the cells
# after the other, and twice that time.


def match_trials(
    listed: tuple[Positions, Positions],
    wanted: tuple[Positions, Positions],
    frame: Frame,
    shape: tuple[int, int],
) -> tuple[Positions | None, BoolArray | None]:
    """Find wanted trials in a list of trials, which come column by column, each once."""
    # `frame` says where the wanted models and segments lie in the id lists of the list, which have
    # the sizes in `shape`. Returns the position in the list of each trial that is found (None: the
    # list is what is wanted) and which of the wanted trials are found (None: all).
    # Scores are mostly asked for the trials that they list: comparing is faster than searching.
    if frame.is_identity and all(
        a is b or np.array_equal(a, b) for a, b in zip(listed, wanted, strict=True)
    ):
        return None, None
    models, segments = frame.cells(*wanted)
    known = None if frame.is_complete else (models >= 0) & (segments >= 0)
    if known is not None:
        models, segments = models[known], segments[known]
    positions = find_codes(
        trial_codes(*listed, shape[0]), trial_codes(models, segments, shape[0]), shape
    )
    hits = positions >= 0
    if hits.all():
        return positions, known
    if known is None:
        return positions[hits], hits
    found = np.zeros(known.size, dtype=np.bool_)
    found[known] = hits
    return positions[hits], found


def find_codes(listed: IntArray, wanted: IntArray, shape: tuple[int, int]) -> Positions:
    """Return the position of each wanted code in a list of ascending codes, -1 if it has none."""
    # Codes lie below the product of `shape`. Wanted codes that ascend are found fastest.
    n_cells = shape[0] * shape[1]
    # Reading a table costs one step for each code, a binary search about log2(n).
    if n_cells <= max(_SMALL_TABLE, _CELLS_PER_TRIAL * (listed.size + wanted.size)):
        table = np.full(n_cells, -1, dtype=np.intp)
        table[listed] = np.arange(listed.size)
        return table[wanted]
    if listed.size == 0:
        return np.full(wanted.size, -1, dtype=np.intp)
    if ascends(wanted):
        return _search(listed, wanted)
    n_parts = (n_cells >> _PART_BITS) + 1
    if n_parts <= min(_MOST_PARTS, wanted.size // _TRIALS_PER_PART):
        return _find_in_parts(listed, wanted, n_parts)
    # For few codes of many cells the tables would take longer than sorting.
    order, ascending = sort_codes(wanted)
    positions = np.empty(wanted.size, dtype=np.intp)
    positions[order] = _search(listed, ascending)
    return positions


def _find_in_parts(listed: IntArray, wanted: IntArray, n_parts: int) -> Positions:
    """Return like `find_codes`, with a table of one part of the cells after the other."""
    # Only the part that a code lies in is sorted for, which with 16 bits takes a tenth of the
    # time of sorting the codes.
    part_of = (wanted >> _PART_BITS).astype(np.uint16)
    order = np.argsort(part_of, kind="stable")
    stops = np.cumsum(np.bincount(part_of, minlength=n_parts))
    begins = np.arange(n_parts + 1) << _PART_BITS
    listed_edges = np.searchsorted(listed, begins)
    table = np.full(2**_PART_BITS, -1, dtype=position_type(listed.size))
    positions = np.empty(wanted.size, dtype=np.intp)
    for part, stop in enumerate(stops.tolist()):
        here = order[stops[part - 1] if part else 0 : stop]
        lines = slice(listed_edges[part], listed_edges[part + 1])
        cells = listed[lines] - begins[part]
        table[cells] = np.arange(lines.start, lines.stop)
        positions[here] = table[wanted[here] - begins[part]]
        # Clearing what was written is faster than a new table.
        table[cells] = -1
    return positions


def _search(listed: IntArray, wanted: IntArray) -> Positions:
    """Return like `find_codes`, for ascending codes and a list that is not empty."""
    positions = np.searchsorted(listed, wanted)
    np.minimum(positions, listed.size - 1, out=positions)
    positions[listed[positions] != wanted] = -1
    return positions
