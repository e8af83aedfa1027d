"""Places of ids in other lists, matrices in the order of other ids, and checks of both.

A trial is a pair of positions. A `Frame` says where the models and segments of one object lie in
another. Where none of the ids meet, `refuse_strangers` names the change that makes them equal.
"""

import itertools
import logging
import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
from attrs import frozen

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, BoolArray, IntArray, StrArray, mark_read_only
from bosaris_py.files.columns import Codes

logger = logging.getLogger(__name__)

Item = TypeVar("Item")

IdList = ArrayLike | Sequence[str]

Ids = tuple[StrArray, StrArray]

# Side of the squares in which a matrix is transposed.
_TILE = 128


# Ids


def places_of(wanted: StrArray, ids: StrArray) -> IntArray:
    """Return the last position of each wanted id in a list, -1 for an unknown id."""
    # Most lists are sorted, and are searched faster than a dictionary is made.
    if ids.size and (ids[:-1] <= ids[1:]).all():
        places = np.searchsorted(ids, wanted, side="right") - 1
        return np.where(ids[places] == wanted, places, -1)
    known = {name: place for place, name in enumerate(ids.tolist())}
    return np.fromiter((known.get(name, -1) for name in wanted.tolist()), np.intp, wanted.size)


def code_ids(names: IdList, name: str) -> tuple[StrArray, IntArray]:
    """Split one id per trial into the sorted distinct ids and the position of each in them."""
    # Texts in a list need no conversion to numpy's four bytes per character.
    if isinstance(names, list) and set(map(type, names)) == {str}:
        listed: list[str] = names
    else:
        listed = check.as_ids(names, name).tolist()
    numbers = Codes()
    codes = np.fromiter(map(numbers.__getitem__, listed), dtype=np.intp, count=len(listed))
    ids, ranks = np.unique(check.as_ids(list(numbers), name), return_inverse=True)
    return mark_read_only(ids), ranks[codes]


def code_trials(models: IdList, segments: IdList, **said: object) -> tuple[Ids, AnyArray, AnyArray]:
    """Return the sorted ids of a list of trials, and the positions of its models and segments.

    Columns of data frames, also those of what is `said` of the trials, must have the same rows.
    """
    check.check_same_rows({"models": models, "segments": segments, **said})
    modelset, rows = code_ids(models, "models")
    segset, cols = code_ids(segments, "segments")
    check.check_shape(cols, rows.shape, "segments", "like `models`")
    return (modelset, segset), rows, cols


def as_slice(positions: IntArray) -> slice | IntArray:
    """Return ascending neighbours as a slice, other positions as they are."""
    if positions.size == 0 or not (np.diff(positions) == 1).all():
        return positions
    return slice(int(positions[0]), int(positions[-1]) + 1)


def inverse(positions: IntArray, size: int) -> IntArray:
    """Return where each of `size` items is among `positions`, -1 if it is not; -1 is no item."""
    # What is no item goes behind the last one.
    found = np.full(size + 1, -1)
    found[positions] = np.arange(positions.size)
    return found[:-1]


# Matrices


def transposed(matrix: AnyArray) -> AnyArray:
    """Return the transpose of a matrix, contiguous in memory."""
    if matrix.T.flags.c_contiguous:
        return matrix.T
    out = np.empty(matrix.shape[::-1], dtype=matrix.dtype)
    # In squares: reading column by column would fetch every cache line many times.
    for start in range(0, matrix.shape[0], _TILE):
        out[:, start : start + _TILE] = matrix[start : start + _TILE].T
    return out


def cell_numbers(cells: AnyArray) -> IntArray:
    """Return the numbers of some cells, column by column, given these or a mask."""
    return cells if cells.ndim == 1 else np.flatnonzero(transposed(cells))


def by_columns(matrix: AnyArray, mask: BoolArray | None) -> AnyArray:
    """Return the cells under a mask (None: all) as a vector, column by column."""
    flat = transposed(matrix).reshape(-1)
    # numpy reads by numbers faster than by a mask, unless it has very few cells.
    return flat if mask is None else flat[cell_numbers(mask)]


def from_columns(vector: AnyArray, cells: AnyArray | None, shape: tuple[int, int]) -> AnyArray:
    """Return the matrix with a vector, column by column, in some cells; 0 elsewhere.

    Cells are given by a mask, or by their numbers; None says all.
    """
    if cells is not None:
        given, vector = vector, np.zeros(shape[0] * shape[1], dtype=vector.dtype)
        vector[cell_numbers(cells)] = given
    return mark_read_only(vector.reshape(shape[::-1])).T


@frozen(eq=False)
class Frame:
    """Where the rows and columns that are wanted lie in a source matrix."""

    # `rows` and `cols` are positions in the source: -1 stands for one that the source does not
    # have, None for all in their order. `shape` is the number of wanted rows and columns.

    rows: IntArray | None
    cols: IntArray | None
    shape: tuple[int, int]

    @property
    def is_identity(self) -> bool:
        """Whether the source has the wanted order already."""
        return self.rows is None and self.cols is None

    @property
    def found(self) -> tuple[BoolArray, ...]:
        """Which of the wanted rows, and of the wanted columns, the source has."""
        sides = zip((self.rows, self.cols), self.shape, strict=True)
        return tuple(np.ones(n, np.bool_) if at is None else at >= 0 for at, n in sides)

    @property
    def n_found(self) -> tuple[int, ...]:
        """Number of wanted rows, and of wanted columns, that the source has."""
        return tuple(int(np.count_nonzero(each)) for each in self.found)

    def cells(self, models: IntArray, segments: IntArray) -> tuple[AnyArray, AnyArray]:
        """Return the rows and columns in the source of wanted trials, -1 where it has none."""
        rows = models if self.rows is None else self.rows[models]
        cols = segments if self.cols is None else self.cols[segments]
        return rows, cols

    def take(self, source: AnyArray) -> AnyArray:
        """Return the source in the wanted order, itself if nothing moves; missing cells are 0."""
        if self.is_identity:
            return source
        out = source if source.size else np.zeros(self.shape, source.dtype)
        for axis, at in enumerate((self.rows, self.cols)):
            if at is not None and source.size:
                # Position -1 copies some row or column, which is cleared.
                out = np.take(out, at, axis, mode="clip")
                if (lost := at < 0).any():
                    np.moveaxis(out, axis, 0)[lost] = 0
        return mark_read_only(out)

    def take_valid(self, present: BoolArray | None) -> BoolArray | None:
        """Return which wanted cells hold a value, given those of the source; None: all."""
        if present is not None:
            return self.take(present)
        return None if self.n_found == self.shape else np.logical_and.outer(*self.found)


def frame_of(wanted: Ids, found: Ids) -> Frame:
    """Tell where the models and segments of one object lie in another."""
    rows, cols = (
        None if mine is theirs or np.array_equal(mine, theirs) else places_of(mine, theirs)
        for mine, theirs in zip(wanted, found, strict=True)
    )
    return Frame(rows, cols, (wanted[0].size, wanted[1].size))


# Messages


def name_trials(models: AnyArray, segments: AnyArray, ids: Ids) -> str:
    """Return the count and the first few of some trials, for a message."""
    shown = zip(ids[0][models[:6]], ids[1][segments[:6]], strict=True)
    pairs = [f"({model}, {segment})" for model, segment in shown]
    return f"{models.size} {'trial' if models.size == 1 else 'trials'}: {check.list_some(pairs)}"


def misuse(value: object) -> str:
    """Return the likely mistake where something stands in the place of scores or of a key."""
    match value:
        case str() | os.PathLike():
            return "Read the file: read_key(path), read_trials(path) or read_scores(path)."
        case Mapping():
            return f"Give one system of it: {check.list_some(value)}."
    if hasattr(value, "columns") and not hasattr(value, "modelset"):
        return "Of a data frame take from_frame(df).key and from_frame(df).scores."
    is_other = type(value) is list or hasattr(value, "modelset")
    return "Were scores and key swapped?" if is_other else ""


def notes_of_missing(
    shape: Sequence[int], n_ids: Sequence[int], wanted: Sequence[int], found: Sequence[int]
) -> list[errors.Note]:
    """Note, in the toolkit's words, models, segments and trials that are missing."""
    # `shape` and `n_ids` are the numbers of models and segments that are wanted and found, `wanted`
    # and `found` those of trials or, of a key, of targets and of non-targets.
    ids = zip(("models", "test segments"), shape, n_ids, strict=True)
    texts = [f"{noun} reduced from {n} to {has}" for noun, n, has in ids if has < n]
    nouns = ("trials missing",) if len(wanted) == 1 else ("targets missing", "non-targets missing")
    sides = zip(wanted, found, nouns, strict=True)
    texts += [f"{n - has} of {n} {noun}" for n, has, noun in sides if has < n]
    return [errors.Note(errors.MissingTrialsWarning, "; ".join(texts))] if texts else []


def refuse_gaps(faults: Sequence[str]) -> None:
    """Raise if systems lack scores, which is said of each that does."""
    if faults:
        raise errors.TrialMismatchError(
            f"Every system must have a score for each trial; {'; '.join(faults)}. Take these "
            "trials out of the list. Or scores.set_missing_to_value(...), best after calibration."
        )


# Arguments


def instance_of(classes: tuple[type[Item], ...], value: object, name: str, expected: str) -> Item:
    """Return an object of some classes; raise, and name the likely mistake, if it is another."""
    if isinstance(value, classes):
        return value
    raise check.invalid(name, expected, check.describe(value), misuse(value))


def all_of_class(cls: type[Item], *objects: Item) -> list[Item]:
    """Return objects that are to be merged, all of which must be of the same class."""
    return [instance_of((cls,), each, "objects", f"all be {cls.__name__}") for each in objects]


def as_list_of(classes: tuple[type[Item], ...], values: object, name: str) -> list[Item]:
    """Return objects of some classes that are to be stacked, or a single one; refuse none."""
    # The order counts, in training and in application, and that of a mapping is hardly seen.
    listed = [values]
    if isinstance(values, Iterable) and not isinstance(values, str | Mapping):
        listed = list(values)
    kinds = " or ".join(cls.__name__ for cls in classes)
    if not listed:
        raise check.invalid(name, f"hold at least one {kinds}", "none")
    return [instance_of(classes, item, name, f"hold {kinds} only") for item in listed]


def both_ids(modelset: IdList, segset: IdList) -> Ids:
    """Return the ids of models and segments as arrays; each must be there once."""
    models, segments = check.as_ids(modelset, "modelset"), check.as_ids(segset, "segset")
    check.check_unique(models, "modelset")
    check.check_unique(segments, "segset")
    return models, segments


def fitted(array: AnyArray, given: ArrayLike, ids: Ids, name: str) -> AnyArray:
    """Return a matrix with a row for each model and a column for each segment; refuse others."""
    shape = ids[0].size, ids[1].size
    # An empty list fits any shape without cells.
    array = array.reshape(shape) if array.size == 0 and 0 in shape else array
    check.check_shape(array, shape, name, "(models, segments)")
    check.check_frame(given, name, *zip(("modelset", "segset"), ids, strict=True))
    return array


def to_mask(value: ArrayLike, ids: Ids, name: str) -> BoolArray:
    """Return a mask as an array."""
    return fitted(check.as_mask(value, name), value, ids, name)


def as_cells(mask: ArrayLike | None, ids: Ids, name: str) -> BoolArray | None:
    """Return which cells are trials; None for all."""
    found = None if mask is None else to_mask(mask, ids, name)
    return None if found is None or found.all() else found


# Filters


def kept(ids: StrArray, names: IdList, name: str, noun: str = "", *, keep: bool) -> IntArray:
    """Return the positions that a filter leaves; log how many of what goes, if it has a noun."""
    # Unknown ids are ignored, as in the toolkit.
    listed = {*check.as_ids(names, name).tolist()}
    is_listed = np.fromiter(map(listed.__contains__, ids.tolist()), np.bool_, ids.size)
    left = np.flatnonzero(is_listed == check.as_flag(keep, "keep"))
    if noun and left.size < ids.size:
        logger.info("Number of %s reduced from %d to %d.", noun, ids.size, left.size)
    return left


# Ids of scores and of a key that do not meet, and the changes that make them equal
#
# A change is written as the command takes it: `basename` leaves the folders out, `strip-suffix` the
# extension, `strip-suffix=TEXT` and `strip-prefix=TEXT` a text, `unicode` what is not shown, and it
# writes each letter in one way; `s/A/B/` replaces the first A, `s/A/B/g` each A, as sed does.
# Several are written with commas between them.

# As many ids of a key are tried, and compared with so many of the scores; so many of these are
# searched for in others.
_TRIED, _LOOKED_AT, _SEARCHED_FOR = 200, 1000, 3

# What stands between the parts of ids, and what ids may have too much.
_SEPARATORS = "/-_.~:| \\"
_PARTS = "^0+//", ".*_//", ".*-//", "_.*//", "-.*//", r"(?<!\d)0+(?=\d)//g"

_ALONE = {"basename": r".*[/\\]", "strip-suffix": r"(?<=[^/\\])\.[^./\\]*\Z"}
_ALONE["unicode"] = r"\A.*[^ -~].*"
_STRIPPED = {"strip-prefix": r"\A{}", "strip-suffix": r"{}\Z"}
_SED = re.compile(r"s(\W)((?:\\.|(?!\1).)+)\1((?:\\.|(?!\1).)*)\1(g?)")


def parse_changes(text: str) -> Callable[[str], str]:
    """Return the function of an id that some changes stand for."""
    rules: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str], int]] = []
    for word in re.split(r",(?=basename|strip-|unicode|s\W)", text):
        name, _, rest = word.partition("=")
        old, new, count = _ALONE.get(word, ""), _plain if word == "unicode" else "", 1
        if rest and name in _STRIPPED:
            old = _STRIPPED[name].format(re.escape(rest))
        elif found := _SED.fullmatch(word):
            mark, *parts, every = found.groups()
            old, new = (part.replace(f"\\{mark}", mark) for part in parts)
            count = 0 if every else 1
        try:
            rules.append((re.compile(old), new, count))
        except re.error:
            old = ""
        if not old:
            expected = "basename, strip-suffix[=.wav], strip-prefix=TEXT, unicode or s/A/B/"
            raise errors.InvalidInputError(f"{word!r}: expected {expected}")

    def change(name: str) -> str:
        for pattern, new, count in rules:
            name = pattern.sub(new, name, count)
        return name

    return change


def _plain(found: re.Match[str]) -> str:
    """Return a text in one form of Unicode, without what is not shown."""
    return "".join(filter(str.isprintable, unicodedata.normalize("NFKC", found[0])))


def refuse_strangers(frame: Frame, wanted: Ids, found: Ids, n_trials: int) -> None:
    """Raise if ids of scores, `found`, are others than those of the key, or numbers of lines."""
    if frame.is_identity or not all(ids.size for ids in (*wanted, *found)):
        return
    n_scores, are_lines, call, option = found[1].size, are_line_numbers(found), "", ""
    expected, got = "hold trials that have scores", "none: its ids are others"
    first = ([ids[:1] for ids in each] for each in (wanted, found))
    sides = zip(frame.n_found, ("models", "segments"), *first, strict=True)
    text = "The {} of the key are such as {!r}, of the scores such as {!r}."
    hint = " ".join(text.format(noun, *map(check.list_some, x)) for n, noun, *x in sides if not n)
    if are_lines and n_trials != n_scores and (hint or are_line_numbers(wanted)):
        # Which lines of the longer file the shorter one lacks, nothing tells.
        expected = "have as many trials as there are scores, because these have no ids"
        got = f"{n_trials} trials of the key, and {n_scores} scores"
        hint = "Give both files a column of ids, or bring them to the same lines."
    elif not hint:
        return
    elif min(_share(*pair) for pair in zip(wanted, found[::-1], strict=True)) >= 0.5:
        got = "none: models and segments have changed places"
        call = "Turn one of them round: read_key(path, columns='segment model label')."
        option = "--key-columns"
    elif found[0].tolist() == ["all"] and _share(wanted[1], found[1]) >= 0.5:
        call = "Read the key without its models: read_key(path, columns='- segment label')."
        option = "--key-columns -"
    elif n_trials == n_scores and count_lines(found):
        call = "Scores in the order of a list: trials.read.read_answers(scores, list)."
        option = "--scores-in-order"
    elif not are_line_numbers(wanted):
        call = remedy_of(wanted, found)
    raise errors.TrialMismatchError(
        argument="key", expected=expected, got=got, hint=hint, call=call, option=option
    )


def are_line_numbers(ids: Ids) -> bool:
    """Tell whether trials have the ids that readers give to lines without any."""
    # Ids ascend and are distinct, so the last of as many numbers is their count.
    segments, last = ids[1], str(ids[1].size)
    ends = [f"line-{number.zfill(len(last))}" for number in ("1", last)]
    return bool(segments[[0, -1]].tolist() == ends)


def count_lines(ids: Ids) -> bool:
    """Tell whether segments are numbers of lines, given by readers, or from 0 or 1 on."""
    numbers = [*map(str, range(ids[1].size + 1))]
    is_index = {*ids[1].tolist()} in ({*numbers[:-1]}, {*numbers[1:]})
    return is_index or are_line_numbers(ids)


def remedy_of(wanted: Ids, found: Ids, whose: str = "key") -> str:
    """Return the call that makes most of the ids equal that do not meet, and at least half."""
    pairs, plain, text = [*zip(wanted, found, strict=True)], parse_changes("unicode"), ""
    apart = [[x[places_of(x, y) < 0].tolist() for x, y in (pair, pair[::-1])] for pair in pairs]
    odd = ["unicode"] * any(plain(name) != name for side in apart for x in side for name in x)
    sides = [_alike(*([*map(plain, ids)] for ids in side)) for side in apart if all(side)]
    n_all = sum(min(map(len, side)) for side in sides)
    most = max(0, (n_all - 1) / 2)
    for words in _candidates(sides):
        tried = ",".join([*odd, *words])
        change = parse_changes(tried) if tried else str
        n_met = sum(len({*map(change, mine)} & {*map(change, theirs)}) for mine, theirs in sides)
        if n_met > most and all(_is_fit(change, *pair) for pair in pairs):
            text, most = tried, n_met
        if most >= n_all:
            break
    x = f"r'{text}'" if "\\" in text else repr(text)
    return text and f"Write scores, {whose} = scores.rename({x}, {x}), {whose}.rename({x}, {x})."


def _is_fit(change: Callable[[str], str], *ids: StrArray) -> bool:
    """Tell whether a change makes one id of no two, and of two lists half equal, or more."""
    new = [{*map(change, each.tolist())} - {""} for each in ids]
    return [*map(len, new)] == [*map(len, ids)] and _share(*new) >= 0.5


def _alike(mine: Sequence[str], theirs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return some ids, and those of the others that end with the same words, as many as can be."""
    if len(theirs) < len(mine):
        return _alike(theirs, mine)[::-1]
    tried, near = mine[:: max(1, len(mine) // _TRIED)][:_TRIED], theirs

    def end(name: str, n_words: int) -> list[str]:
        return re.split(r"[\W_]", re.sub(_ALONE["strip-suffix"], "", name))[-n_words:]

    for n_words in (1, 2, 3):
        ends = [end(name, n_words) for name in tried]
        near = [name for name in near if end(name, n_words) in ends] or near
    return [*tried], [*near[:_LOOKED_AT]]


def _share(mine: Iterable[str], theirs: Iterable[str]) -> float:
    """Return the share of the ids of the shorter list that are in both."""
    first, second = {*mine}, {*theirs}
    return len(first & second) / max(1, min(len(first), len(second)))


def _candidates(sides: Sequence[tuple[list[str], list[str]]]) -> Iterator[list[str]]:
    """Yield changes that may make the ids of each side equal, the smallest first."""
    for start in ([], ["strip-suffix"], ["basename"], ["basename", "strip-suffix"]):
        change = parse_changes(",".join(start)) if start else str
        changed = [[[*map(change, ids)] for ids in side] for side in sides]
        for mine, theirs in changed:
            rests = dict.fromkeys((*_rests(mine, theirs), *_rests(theirs, mine)))
            # Not what begins the ids themselves, as spk of spk1.
            heads = (re.sub(r"[^\W_]*\Z", "", _head(ids)) for ids in (mine, theirs))
            words = [f"strip-prefix={head}" for head in heads if head]
            yield from ([*start, *each] for each in ((), *rests, words))
        letters = [[re.split("[^A-Za-z]", _head(ids))[0] for ids in side] for side in changed]
        yield [*start, *(f"s/^{old}/{new}/" for new, old in letters if old not in ("", new))]
    for mine, theirs in sides:
        words = [f"s/{rule}" for rule in _PARTS]
        signs = [{*"".join(ids[:_TRIED])} & {*_SEPARATORS} for ids in (mine, theirs)]
        for old, new in (*itertools.product(*signs), *itertools.product(*signs[::-1])):
            mark = next(mark for mark in "/|:" if mark not in (old, new))
            before = f"\\{old}" if old in ".|\\" else old
            words.append(mark.join(("s", before, "\\\\" if new == "\\" else new, "g")))
        yield from (each for word in words for each in ([word], [word, "strip-suffix"]))


def _head(ids: Sequence[str]) -> str:
    """Return what all ids begin with; between the first and the last are the others."""
    first, last = min(ids), max(ids)
    n_same = next((at for at, letter in enumerate(first) if not last.startswith(letter, at)), None)
    return first[:n_same]


def _rests(short: Sequence[str], long: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield what some ids have before and after others, as changes."""
    # The longest are likely to be part of no other by chance.
    for name in sorted(short, key=len)[-_SEARCHED_FOR:]:
        for other in itertools.islice((other for other in long if name in other), _SEARCHED_FOR):
            before, _, after = other.partition(name)
            words = before and f"strip-prefix={before}", after and f"strip-suffix={after}"
            yield tuple(filter(None, words))
