"""Ids of scores and of a key that do not meet: what is said, and the change that makes them equal.

A change is written as the command takes it: ``basename`` leaves the folders out, ``strip-suffix``
the extension, ``strip-suffix=TEXT`` and ``strip-prefix=TEXT`` a text, and ``s/A/B/`` replaces the
first A, ``s/A/B/g`` each A, as sed does. Several are written with commas between them.
"""

from __future__ import annotations

import functools
import itertools
import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from bosaris_py._arrays import StrArray
from bosaris_py._validation import list_some
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials.alignment import Frame, Ids

# As many ids of a key are tried, and compared with so many of the scores.
_TRIED, _LOOKED_AT = 200, 1000

# So many ids are searched for in others.
_SEARCHED_FOR = 3

# What stands between the parts of ids.
_SEPARATORS = "/-_.~:| \\"

_ALONE = {"basename": r".*[/\\]", "strip-suffix": r"(?<=[^/\\])\.[^./\\]*\Z"}

# What ids may have too much, and how a script takes it off.
_PARTS = {
    "^0+": "lstrip('0')",
    ".*_": "rsplit('_', 1)[-1]",
    ".*-": "rsplit('-', 1)[-1]",
    "_.*": "split('_', 1)[0]",
    "-.*": "split('-', 1)[0]",
}


def parse_changes(text: str) -> Callable[[str], str]:
    """Return the function of an id that some changes stand for; raise ValueError for others."""
    rules: list[tuple[re.Pattern[str], str, int]] = []
    for word in re.split(r",(?=basename|strip-|s\W)", text):
        name, sign, rest = word.partition("=")
        if word in _ALONE:
            rules.append((re.compile(_ALONE[word]), "", 1))
        elif rest and sign and name == "strip-suffix":
            rules.append((re.compile(rf"{re.escape(rest)}\Z"), "", 1))
        elif rest and sign and name == "strip-prefix":
            rules.append((re.compile(rf"\A{re.escape(rest)}"), "", 1))
        elif found := re.fullmatch(r"s(\W)((?:\\.|(?!\1).)+)\1((?:\\.|(?!\1).)*)\1(g?)", word):
            mark, old, new = found[1], found[2], found[3]
            old, new = (part.replace(f"\\{mark}", mark) for part in (old, new))
            rules.append((re.compile(old), new, 0 if found[4] else 1))
        else:
            raise ValueError(
                f"{word!r}: expected basename, strip-suffix[=.wav], strip-prefix=TEXT or s/A/B/"
            )

    def change(name: str) -> str:
        for pattern, new, count in rules:
            name = pattern.sub(new, name, count)
        return name

    return change


def refuse_strangers(frame: Frame, wanted: Ids, found: Ids) -> None:
    """Raise if ids of scores and key are others, or numbers of other lines."""
    # `frame` says where the ids of the key, `wanted`, are among those of the scores, `found`.
    if not all(ids.size for ids in (*wanted, *found)):
        return
    if wanted[1].size != found[1].size and all(map(_are_line_numbers, (wanted, found))):
        # Which lines of the longer file the shorter one lacks, nothing tells.
        raise TrialMismatchError(
            argument="key",
            expected="have as many lines as the scores, because trials without ids go by the "
            "number of their line",
            got=f"{wanted[1].size} lines of the key, and {found[1].size} of the scores",
            hint="Give both files a column of ids, or bring them to the same lines.",
        )
    sides = zip(frame.n_found, wanted, found, ("models", "segments"), strict=True)
    if parts := [show_both(mine, theirs, noun) for n, mine, theirs, noun in sides if not n]:
        call, option = remedy_of(wanted, found)
        if _are_line_numbers(found):
            call = "Scores in the order of a list: trials.read.read_answers(scores, list)."
            option = "--scores-in-order"
        raise TrialMismatchError(
            argument="key",
            expected="hold targets that have scores",
            got="none: its ids are others",
            hint=" ".join(parts),
            call=call,
            option=option,
        )


def _are_line_numbers(ids: Ids) -> bool:
    """Tell whether trials have the ids that readers give to lines without any."""
    # Ids ascend and are distinct, so the last of as many numbers is their count.
    models, segments = ids
    last = str(segments.size)
    ends = segments[0], segments[-1]
    return models.tolist() == ["all"] and ends == ("1".zfill(len(last)), last)


def show_both(wanted: StrArray, found: StrArray, noun: str) -> str:
    """Show ids of a key and of scores that have none in common."""
    mine, theirs = (repr(list_some(ids[:1])) for ids in (wanted, found))
    return f"The {noun} of the key are such as {mine}, of the scores such as {theirs}."


def remedy_of(wanted: Ids, found: Ids) -> tuple[str, str]:
    """Return the call, and the option of the command, that make half of the ids equal, or more."""
    whole = [(mine.tolist(), theirs.tolist()) for mine, theirs in zip(wanted, found, strict=True)]
    sides = [_alike(*side) for side in whole]
    before = [_share(*side) for side in sides]
    for words in _candidates([side for side, n in zip(sides, before, strict=True) if n < 0.5]):
        if not words:
            continue
        change = parse_changes(",".join(words))
        pairs = zip(
            ([_changed(change, ids) for ids in side] for side in sides), before, strict=True
        )
        if any(_share(*new) < max(0.5, n) for new, n in pairs):
            continue
        if all(len({*_changed(change, ids)} - {""}) == len(ids) for side in whole for ids in side):
            name = functools.reduce(_in_python, words, "name")
            renamed = "scores, key = scores.rename(f, f), key.rename(f, f)"
            return (
                f"Write f = lambda name: {name}; {renamed}.",
                f"--ids {shlex.quote(','.join(words))}",
            )
    return "", ""


def _alike(mine: Sequence[str], theirs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return some ids, and those of the others that end with the same words, as many as can be."""
    tried = mine[:: max(1, len(mine) // _TRIED)][:_TRIED]
    for n_words in (3, 2, 1):
        ends = {_end(name, n_words) for name in tried}
        if near := [name for name in theirs if _end(name, n_words) in ends]:
            break
    return [*tried], [*(near or theirs)[:_LOOKED_AT]]


def _end(name: str, n_words: int) -> tuple[str, ...]:
    """Return the last words of an id before its extension."""
    return tuple(re.split(r"[\W_]", re.sub(_ALONE["strip-suffix"], "", name))[-n_words:])


def _changed(change: Callable[[str], str], ids: Sequence[str]) -> list[str]:
    return [change(name) for name in ids]


def _share(mine: Sequence[str], theirs: Sequence[str]) -> float:
    """Return the share of the ids of the shorter list that are in both."""
    return len({*mine} & {*theirs}) / max(1, min(len(mine), len(theirs)))


def _candidates(sides: Sequence[tuple[list[str], list[str]]]) -> Iterator[list[str]]:
    """Yield changes that may make the ids of each side equal, the smallest first."""
    for start in ([], ["strip-suffix"], ["basename"], ["basename", "strip-suffix"]):
        change = parse_changes(",".join(start)) if start else str
        yield start
        for side in sides:
            mine, theirs = (_changed(change, ids) for ids in side)
            for rest in dict.fromkeys((*_rests(mine, theirs), *_rests(theirs, mine))):
                yield [*start, *rest]
            # Not what begins the ids themselves, as spk of spk1.
            heads = (re.match(r".*[\W_]", _common_head(ids)) for ids in (mine, theirs))
            yield [*start, *(f"strip-prefix={head[0]}" for head in heads if head)]
    for end in ([], ["strip-suffix"]):
        yield from ([f"s/{rule}//", *end] for rule in _PARTS)
    letters = [(_letters(mine), _letters(theirs)) for mine, theirs in sides]
    yield [f"s/^{old}/{new}/" for new, old in letters if new != old and old]
    for mine, theirs in sides:
        signs = [{*"".join(ids[:_TRIED])} & {*_SEPARATORS} for ids in (mine, theirs)]
        pairs = itertools.chain(itertools.product(*signs), itertools.product(*signs[::-1]))
        for old, new in pairs:
            mark = next(mark for mark in "/|:" if mark not in (old, new))
            before = f"\\{old}" if old in ".|\\" else old
            word = mark.join(("s", before, "\\\\" if new == "\\" else new, "g"))
            yield [word]
            yield [word, "strip-suffix"]


def _letters(ids: Sequence[str]) -> str:
    """Return the letters that all ids begin with."""
    found = re.match("[A-Za-z]*", _common_head(ids))
    return found[0] if found else ""


def _common_head(ids: Sequence[str]) -> str:
    """Return what all ids begin with; between the first and the last are the others."""
    last = max(ids)
    return max(
        (head for head in itertools.accumulate(min(ids)) if last.startswith(head)), default=""
    )


def _rests(short: Sequence[str], long: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield what some ids have before and after others, as changes."""
    # The longest are likely to be part of no other by chance.
    for name in sorted(short, key=len)[-_SEARCHED_FOR:]:
        for other in itertools.islice((other for other in long if name in other), _SEARCHED_FOR):
            before, _, after = other.partition(name)
            words = (before and f"strip-prefix={before}", after and f"strip-suffix={after}")
            if found := tuple(filter(None, words)):
                yield found


def _in_python(name: str, word: str) -> str:
    """Return the expression of a change of a name, itself an expression."""
    rule, sign, text = word.partition("=")
    if word == "basename":
        return f"{name}.replace('\\\\', '/').rsplit('/', 1)[-1]"
    if word == "strip-suffix":
        return f"{name}.rsplit('.', 1)[0]"
    if sign:
        return f"{name}.remove{rule.removeprefix('strip-')}({text!r})"
    _, old, new, _ = word.split(word[1])
    if old in _PARTS:
        return f"{name}.{_PARTS[old]}"
    if old.startswith("^"):
        return f"{name}.replace({old[1:]!r}, {new!r}, 1)"
    return f"{name}.replace({old[-1]!r}, {new[-1]!r})"
