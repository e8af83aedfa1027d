"""Which column of a text is which: by what is told, by a header, or by what columns look like.

A first line is a header if it names two roles, or has a word above numbers or above labels. Of
files without one the formats of the catalogue are tried. Where none fits, or several that would
read different things, the error has what to type.
"""

import bisect
import contextlib
import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import attrs

from bosaris_py import _validation as check, errors
from bosaris_py.files import columns as listing, formats
from bosaris_py.files.columns import NONTARGET, TARGET, Vocabulary, classes_of
from bosaris_py.files.formats import FORMATS, Columns, Format, Plan, Told, plan_of_names, show

Row = Sequence[bytes]

_LINES_LOOKED_AT, _LONGEST_LOOKED_AT = 1000, 1000


def line_error(path: Path, line: int, text: str, **use: str | None) -> errors.FileFormatError:
    """Return an error about one line, and keywords that help."""
    return errors.FileFormatError(f"{path}:{line}: {text}", use=use, path=path)


# Cells


class Look:
    """What the cells of a column have in common, some of which may be words of `labels`."""

    def __init__(self, cells: Iterable[bytes], labels: Vocabulary | None = None) -> None:
        self.words = {c[:_LONGEST_LOOKED_AT].decode(errors="replace").lower() for c in cells}
        self.vocabularies = [*([] if labels is None else [labels]), *listing.VOCABULARIES]
        self.is_told = labels is not None and bool(classes_of(self.words, [labels]))
        present = self.words - formats.MISSING_WORDS
        digits = "".join(present)
        self.numbers: set[float] = set()
        with contextlib.suppress(ValueError):
            self.numbers = set(map(float, () if "_" in digits else present))
        # Unsigned whole numbers may be ids, and are taken for such if all are of one length.
        self.is_whole = bool(self.numbers) and digits.isdigit()
        self.are_ids = self.is_whole and len({*map(len, present)}) == 1 and len(min(present)) > 3
        self.has_decimals = bool(self.numbers) and not re.sub("[+-]", "", digits).isdigit()
        # Some code of labels, such as 1 and 2, if not that of 1 and 0; none of them is missing.
        is_coded = bool(self.numbers) and self.words == present
        self.is_truth = is_coded and self.numbers <= {-1.0, 0.0, 1.0}
        is_other = is_coded and self.numbers <= {0.0, 1.0, 2.0} and len(self.numbers) > 1
        self.are_codes = self.is_truth or is_other

    @property
    def is_pair(self) -> bool:
        """Whether the column has two words without digits, or H1 and H2, which may be labels."""
        return len(self.words) == 2 and all(w.isalpha() or w in "h0 h1 h2" for w in self.words)

    def may_be(self, role: str) -> bool:
        """Tell whether the column may be one of scores, of labels or of ids."""
        if role == "score":
            return bool(self.numbers) and not (self.are_codes or self.are_ids or self.is_told)
        is_label = bool(classes_of(self.words, self.vocabularies))
        return is_label if role == "label" else not (is_label or self.is_truth or self.has_decimals)


def _looks(rows: Sequence[Row], labels: Vocabulary | None = None) -> list[Look]:
    """Return what columns look like."""
    return [Look(filter(None, cells), labels) for cells in itertools.zip_longest(*rows)]


def _ways(lines: Sequence[bytes]) -> list[tuple[bytes | None, Sequence[Row]]]:
    """Return the ways to cut lines, the likeliest first: at blanks, or at a mark."""
    most = formats.MOST_WORDS
    blanks = [formats.unquote(x, None) if b'"' in x else x.split(None, most) for x in lines]
    marks = [mark for mark in (b"\t", b",", b";", b"|") if mark in lines[0]]
    ways: list[tuple[bytes | None, Sequence[Row]]]
    ways = [(mark, [formats.unquote(line, mark) for line in lines]) for mark in marks]
    # A table may have blanks behind its commas.
    cells = [cell for row in blanks for cell in row[:-1]]
    is_table = bool(marks) and any(all(cell.endswith(mark) for cell in cells) for mark in marks)
    return [*ways, (None, blanks)] if is_table else [(None, blanks), *ways]


# Headers


def cut_header(lines: Sequence[bytes]) -> tuple[bytes | None, list[str]]:
    """Return the separator of a header, the first of some lines, and its names."""
    line, *below = lines
    mark = next((mark for mark in (b"\t", b",", b";", b"|") if mark in line), None)
    names = formats.unquote(line.strip(b"\r\n").lstrip(b"#% "), mark) or [b""]
    row = formats.unquote(below[0], mark) if below else []
    # Tables of R have names of rows, and no name above these.
    if len(row) == len(names) + 1 and Look(row[:1]).is_whole:
        names.insert(0, b"")
    return mark, [name.decode(errors="replace").strip('"') for name in names]


def roles_of(names: Sequence[str], looks: Sequence[Look] = ()) -> dict[int, str]:
    """Return the role of each column whose name says it; `looks` are of the cells below."""
    words = ("" if formats.FILE_NAME.search(name) else name.lower() for name in names)
    plain = [re.sub("[^a-z0-9]", "", word) for word in words]
    roles: dict[int, str] = {}
    for role, patterns in formats.NAMES.items():
        for rank, pattern in enumerate(patterns):
            found = [at for at, name in enumerate(plain) if re.fullmatch(pattern, name)]
            found = [at for at in found if at not in roles]
            if rank and looks and role in ("label", "score"):
                # Words of labels need not be known.
                n_words = 2 if role == "label" else 0
                found = [
                    a
                    for a in found
                    if looks[a].may_be(role)
                    or len(looks[a].words) == n_words
                    or (role == "score" and all(map(formats.odd_number, looks[a].words)))
                ]
            # Of two columns of scores nothing tells which is meant.
            if found and (role not in ("label", "score") or len(found) == 1):
                roles[found[0]] = role
            if found:
                break
    place = {role: at for at, role in roles.items()}
    if looks and {"model", "segment", "label"} <= place.keys():
        # The speaker of a list for countermeasures is no model.
        is_weak = re.fullmatch(formats.NAMES["model"][-1], plain[place["model"]])
        if is_weak and classes_of(looks[place["label"]].words, [listing.DETECTION]):
            del roles[place["model"]]
    return roles


def _named_roles(names: Sequence[str], below: Sequence[Row]) -> set[str]:
    """Return the roles that a first line names, if it is unlike the rows below."""
    lower = [name.lower() for name in names]
    cells = [
        {row[at].decode(errors="replace").lower() for row in below if at < len(row)}
        for at in range(len(names))
    ]
    pairs = zip(lower, cells, strict=True)
    recurs = any(name in column or classes_of([name, *column]) for name, column in pairs)
    found = set()
    for at, role in roles_of(names).items():
        # Above spk2 the cell spk1 is no name; target is a name, and a label.
        stem = lower[at].rstrip("0123456789")
        has_digit = stem != lower[at]
        is_like = not below or recurs or any(cell.startswith(stem) for cell in cells[at])
        is_word = lower[at] in cells[at] or (role == "label" and bool(classes_of([lower[at]])))
        if not (is_word or (has_digit and is_like)):
            found.add(role)
    # Numbers are no names.
    return set() if any(Look([name.encode()]).numbers for name in lower) else found


def _is_header(rows: Sequence[Row], labels: Vocabulary | None) -> bool:
    """Tell whether a first line has a word above numbers or above labels of two classes."""
    first, *below = rows
    recurs = any(cell in column for cell, *column in zip(*rows, strict=False))
    if not below or recurs or {*map(len, below)} != {len(first)}:
        return False
    looks, is_likely = _looks(below, labels), False
    if not first[0] and all(row[0] for row in below):
        # The index of a data frame has no name.
        return True
    for cell, look in zip(first, looks, strict=True):
        word = cell.decode(errors="replace").lower()
        above = Look([cell], labels)
        # Names of labels, such as mated, may be words of labels, too.
        sides = {*classes_of(look.words, look.vocabularies).values()} - {listing.SPOOF}
        is_name = len(sides) == 2 and word not in look.words and roles_of([word]) == {0: "label"}
        is_label = above.may_be("label") and not is_name
        if above.numbers or is_label or word in formats.MISSING_WORDS or formats.odd_number(word):
            continue
        if look.has_decimals:
            return True
        # One line says little of whole numbers and of words, which may be ids.
        n_classes = len({*classes_of(look.words, look.vocabularies).values()})
        is_likely |= len(below) > 1 and (bool(look.numbers) or n_classes > 1)
    # So may it be in a column about the trials of a format that has such columns.
    return is_likely and not (len(first) > 4 and _readings(rows, labels))


def _counts(rows: Sequence[Row], at: int) -> bool:
    """Tell whether a column numbers the lines."""
    numbers = [b"%d" % n for n in range(len(rows) + 1)]
    return [row[at] for row in rows] in (numbers[:-1], numbers[1:])


# Formats without a header


def _fits(format: Format, role: str, look: Look, *, may_be_whole: bool) -> bool:
    """Tell whether a column looks like one of a role of a format."""
    if role == "score":
        return look.may_be(role) and (may_be_whole or not look.is_whole)
    if role == "label":
        return look.is_told or bool(classes_of(look.words, format.vocabularies))
    if role in ("model", "segment") or role in (format.same or ()):
        return look.may_be(role)
    if role in formats.WORDS_OF:
        return look.words <= formats.WORDS_OF[role]
    return bool(look.numbers) if role in format.numbers else not look.has_decimals


def _readings(
    rows: Sequence[Row], labels: Vocabulary | None, tried: Collection[Format] = FORMATS.values()
) -> list[tuple[Format, tuple[str, ...]]]:
    """Return the ways in which formats without a header read the first lines."""
    widths, looks = set(map(len, rows)), _looks(rows, labels)
    if len(looks) == 1:
        looks[0].are_ids = False
    # Models of old lists are whole numbers; scores that are may lead where all is a number.
    all_numbers = all(look.numbers for look in looks)
    found = []
    for item, variant in ((each, v) for each in tried for v in each.variants):
        width = len(variant)
        is_short = item.last_optional and widths == {width - 1, width}
        if item.first_line or not (widths == {width} or is_short):
            continue
        # Without a model each segment is there once, or hardly more often, unlike attacks.
        at = {name: variant.index(name) for name in ("segment", "attack") if name in variant}
        n_words = {name: len(looks[place].words) for name, place in at.items()}
        if "model" not in variant and (
            2 * n_words.get("segment", len(rows)) <= len(rows)
            or ("segment" not in at and len(rows) > 3 and 2 * n_words.get("attack", 0) > len(rows))
        ):
            continue
        places = [variant.index(name) for name in item.same or ()]
        fits = all(
            _fits(item, role, look, may_be_whole=all_numbers or 0 < at == width - 1)
            for at, (role, look) in enumerate(zip(variant, looks, strict=False))
        )
        # Where equal ids make a target, one must be there; else they may be something else.
        if fits and (not places or any(row[places[0]] == row[places[1]] for row in rows)):
            found.append((item, variant))
    special = [each for each in found if not formats.WORDS_OF.keys().isdisjoint(each[1])]
    usual = [each for each in found if each[0].name not in formats.LAST]
    distinct: dict[object, tuple[Format, tuple[str, ...]]] = {}
    for item, variant in special or usual or found:
        words = looks[variant.index("label")].words if "label" in variant and not labels else ()
        classes = frozenset(classes_of(words, item.vocabularies).items())
        distinct.setdefault((variant, classes), (item, variant))
    return [*distinct.values()]


# Plans


def find_plan(
    path: Path,
    lines: Sequence[bytes],
    number: int,
    format: Format | None = None,
    columns: Columns | None = None,
    labels: Vocabulary | None = None,
) -> Plan:
    """Find out which column is which, or say what the file lacks or has too much.

    Parameters
    ----------
    path : path
        The file, for messages.
    lines : sequence of bytes
        Its first lines, the first of which has a `number`.
    number : int
        The number of the first line.
    format : Format, optional
        The format, if it is known.
    columns : str, sequence of str, or mapping, optional
        What the columns are.
    labels : Vocabulary, optional
        Words of labels that the caller gives.

    Returns
    -------
    Plan
    """
    lines = lines[:_LINES_LOOKED_AT]
    names = cut_header(lines)[1]
    told = formats.as_told(columns, len(names))
    if format is None and told is None:
        return _detect(path, lines, number, labels)
    if isinstance(told, dict) or (format is not None and format.header):
        return _by_header(path, lines, number, format or FORMATS["csv"], told, labels)
    chosen = format or formats.format_of_names(told or ())
    first_word = chosen.first_line.split(" ")[0]
    if first_word and names[0].split(" ")[0].lower() != first_word:
        text = f"the first line must begin with {first_word}, found {show(lines[0])}"
        raise line_error(path, number, text)
    variants = chosen.variants if told is None else [tuple(told)]
    # At blanks first: only spreadsheets write other tables without a header.
    for separator, rows in sorted(_ways(lines), key=lambda way: way[0] is not None):
        last_optional = chosen.last_optional and separator is None
        # Of several layouts the one that the cells look like.
        likely = [v for _, v in _readings(rows, labels, [chosen])] if len(variants) > 1 else ()
        for variant in (*likely, *variants):
            if len(rows[0]) in (len(variant), len(variant) - last_optional):
                first = [cell.decode(errors="replace") for cell in rows[0]]
                named, roles = _named_roles(first, rows[1:]), roles_of(first)
                in_place = {role for at, role in roles.items() if variant[at : at + 1] == (role,)}
                skips = len(named) > 1 or bool(named & in_place & {"label", "score"})
                skips |= bool(first_word)
                return plan_of_names(chosen, variant, separator, skips_first_line=skips)
    layouts = " or ".join(f"{len(v)} ({' '.join(v)})" for v in variants)
    text = f"expected {layouts} columns, found {len(lines[0].split())}: {show(lines[0])}"
    raise line_error(path, number, text)


def _by_header(
    path: Path,
    lines: Sequence[bytes],
    number: int,
    format: Format,
    told: Told = None,
    labels: Vocabulary | None = None,
) -> Plan:
    """Find the columns by the names in the first line."""
    given = {} if told is None else told
    if isinstance(given, list) or not given.keys() <= {*formats.ROLES} or not format.header:
        expected = f"map {', '.join(formats.ROLES)} to names in the header; others keep theirs"
        hint = 'For instance {"model": "enroll", "score": "llr"}.'
        raise check.invalid("columns", expected, check.describe(told), hint)
    mark, names = cut_header(lines)
    rows = [formats.unquote(line, mark) for line in lines[1:]]
    if mark and not names[-1] and rows:
        # Hyperion's lists of trials: a separator too many, and no column below it.
        names = names[: max(len(rows[0]), len(names) - 1)]
    if repeated := check.repetitions(filter(None, names)):
        raise line_error(
            path, number, f"the header names {check.list_some(repeated)} more than once"
        )
    lower = [name.lower() for name in names]
    roles: dict[int, str] = {}
    # What is told comes first.
    for role in sorted(formats.ROLES, key=lambda role: role not in given):
        name = given.get(role)
        wanted = format.header.get(role, ()) if role not in given else [name] * bool(name)
        at = next((lower.index(str(w).lower()) for w in wanted if str(w).lower() in lower), None)
        if at is not None and at not in roles:
            roles[at] = role
        elif name is not None or (role in format.required and role not in given):
            text = f"no column {' or '.join(map(str, wanted))} for the {role}s in the first line"
            raise errors.FileFormatError(
                f"{path}: {text}; its columns are {check.list_some(names, 20)}"
            )
    if format.name == "csv":
        whole = [row for row in rows if len(row) == len(names)]
        for at, role in roles_of(names, _looks(whole, labels)).items():
            if at not in roles and role not in {*given, *roles.values()}:
                roles[at] = role
    # Nobody could ask for a column without a name.
    found = tuple((roles.get(at), name or "-") for at, name in enumerate(names))
    return Plan(format, found, mark, skips_first_line=True)


def _detect(path: Path, lines: Sequence[bytes], number: int, labels: Vocabulary | None) -> Plan:
    """Find out the format from the first lines, by their header or by what columns look like."""
    mark, names = cut_header(lines)
    lower = {name.lower() for name in names}
    known: dict[str, int] = {}
    for item in FORMATS.values():
        first = item.first_line.split(" ")
        if first[0] and first[0] == names[0].lower() and len(first) == len(names):
            return plan_of_names(item, item.variants[0], skips_first_line=True)
        named = {role for role, n in item.header.items() if not lower.isdisjoint(map(str.lower, n))}
        is_comma = mark == b","
        if item.required and named >= {*item.required} and is_comma == (item.separator == ","):
            known[item.name] = len(named)
    if known:
        return _by_header(path, lines, number, FORMATS[max(known, key=lambda name: known[name])])
    table = FORMATS["csv"]
    if len(_named_roles(names, [formats.unquote(line, mark) for line in lines[1:]])) > 1:
        return _by_header(path, lines, number, table, None, labels)
    if lines[0].startswith(b"#") and len(lines[0].split()) != len(lines[-1].split()):
        plan = _detect(path, lines[1:], number + 1, labels)
        if plan.skips_first_line:
            raise line_error(path, number, f"{show(lines[0])} is above the header; take it out")
        return attrs.evolve(plan, skips_first_line=True)
    ways = _ways(lines)
    _refuse_odd(path, lines, number)
    for _, rows in ways:
        if _is_header(rows, labels):
            names, below = [cell.decode(errors="replace") for cell in rows[0]], _looks(rows[1:])
            roles = roles_of(names, below)
            free = [at for at in range(len(below)) if at not in roles]
            is_left = "score" not in roles.values() and any(below[at].has_decimals for at in free)
            # Whose ids have other names, must tell them; numbers of lines are none.
            own = [at for at in free if not (below[at].has_decimals or _counts(rows[1:], at))]
            ids = {tuple(row[at] for at in own) for row in rows[1:]}
            is_left |= {"model", "segment"}.isdisjoint(roles.values()) and 2 * len(ids) > len(rows)
            if not is_left and not {"score", "label"}.isdisjoint(roles.values()):
                return _by_header(path, lines, number, table, None, labels)
            text = f"the first line looks like a header, {show(lines[0])}; use "
            raise line_error(path, number, text + suggest(below, names))
    for separator, rows in ways:
        found = _readings(rows, labels)
        if len(found) == 1:
            return plan_of_names(*found[0], separator)
        if found:
            told = " or ".join(f"columns='{','.join(variant)}'" for _, variant in found)
            text = f"{show(lines[0])} can be read in {len(found)} ways; use {told}"
            raise line_error(path, number, text)
    raise _no_reading(path, lines, number, labels)


# Refusals, with what to type


def _refuse_odd(path: Path, lines: Sequence[bytes], number: int) -> None:
    """Raise where what must be a number is none, such as 0,5 or tensor(0.5)."""
    for at, line in ((0, lines[0]), (len(lines) - 1, lines[-1])):
        if found := formats.ODD_IN_LINE.search(line.decode(errors="replace").strip()):
            fault = formats.odd_number(found[1]) or formats.NO_LINE
            raise line_error(path, number + at, f"{show(found[1].encode())} {fault}")
    ways = [(mark, rows, _looks(rows)) for mark, rows in _ways(lines)]
    for mark, rows, looks in ways:
        # In 5,1 the comma may separate columns.
        if any(look.may_be("score") for look in looks) or (mark is None and len(looks) < len(ways)):
            continue
        for cells in zip(*rows, strict=False):
            faults = [formats.odd_number(cell.decode(errors="replace")) for cell in cells]
            if 2 * sum(map(bool, faults)) > len(faults):
                at = next(at for at, fault in enumerate(faults) if fault)
                raise line_error(path, number + at, f"{show(cells[at])} {faults[at]}")
    for mark, _, looks in ways:
        is_whole = len(looks) > 1 and bool(looks[-2].numbers) and looks[-1].is_whole
        others = [look for look in looks if look.has_decimals or look.are_ids]
        if mark == b"," and is_whole and not others and not looks[-1].are_codes:
            text = f"{show(lines[0])} may have a decimal comma; write a point, or use "
            raise line_error(path, number, text + suggest(looks))


def suggest(looks: Sequence[Look], names: Sequence[str] = ()) -> str:
    """Return what to type for columns, by their looks and by the names in a header."""
    roles = roles_of(names, looks)
    free = [at for at in range(len(looks)) if at not in roles]
    scores = [at for at in free if looks[at].may_be("score")]
    decimals = [at for at in scores if looks[at].has_decimals]
    # Beside scores or labels that are named, whole numbers are ids.
    scores = decimals or ([] if {"score", "label"} & {*roles.values()} else scores)
    free = [at for at in free if at not in scores]
    most = max(len(look.words) for look in looks)
    labels = [at for at in free if looks[at].may_be("label") or looks[at].are_codes]
    labels = labels or [at for at in free if looks[at].is_pair and most > 3]
    if labels and "label" not in roles.values():
        roles[labels[0]] = "label"
    # An index of lines has no name.
    ids = [x for x in free if x not in labels and not ("" in names[x:][:1] and looks[x].numbers)]
    if {"model", "segment"}.isdisjoint(roles.values()):
        sides = ("segment",) if len(ids) == 1 else ("model", "segment")
        roles |= dict(zip(ids, sides, strict=False))
    # A column without a name is told by its place.
    told = list[str]()
    for at in scores[:2] if scores and "score" not in roles.values() else [-1]:
        chosen = {**roles, at: "score"} if at >= 0 else roles
        named = [f"{role}={names[x]}" for x, role in sorted(chosen.items()) if names and names[x]]
        places = [chosen.get(at, "-") for at in range(len(looks))]
        told.append(",".join(named if len(named) == len(chosen) else places))
    of_labels = [names[at] for at, role in roles.items() if names and role == "label"]
    ending = formats.NEGATED * any(map(formats.denies_target, of_labels))
    return " or ".join(f"columns='{columns}'{ending}" for columns in told)


def suggest_role(lines: Sequence[bytes], role: str) -> str:
    """Return what to type for a column of a table that may have a role, but another name."""
    mark, names = cut_header(lines) if lines else (None, [])
    rows = [formats.unquote(line, mark) for line in lines[1:]]
    if {*map(len, rows)} != {len(names)}:
        return ""
    whole = _ways(lines)[0][1]
    if not (_named_roles(names, rows) or _is_header(whole, None)):
        pairs = [look.words for look in _looks(whole) if look.is_pair and len(whole) > 2]
        if role == "score" or not pairs:
            return ""
        return f"{suggest(_looks(whole))} and {formats.suggest_labels([*pairs[-1]])}"
    looks = _looks(rows)
    likely = [name for name, look in zip(names, looks, strict=True) if look.may_be(role)]
    if role == "label" and not likely:
        # Words that are not known.
        free = {*range(len(names))} - {*roles_of(names, looks)}
        likely = [names[at] for at in free if len(looks[at].words) == 2 and not looks[at].numbers]
    told = " or ".join(f"columns='{role}={name}'" for name in likely[:3])
    return told + formats.NEGATED * (
        role == "label" and len(likely) == 1 and formats.denies_target(likely[0])
    )


def _no_reading(
    path: Path, lines: Sequence[bytes], number: int, labels: Vocabulary | None
) -> errors.FileFormatError:
    """Return the error about lines that no format fits."""
    ways = _ways(lines)
    for rows in (rows for _, rows in ways if labels is None):
        looks = _looks(rows)
        is_known = any(classes_of([w]) for look in looks if not look.numbers for w in look.words)
        # The likeliest are 1 and 2, then words without digits, at the end of the line.
        pairs = [
            ((look.are_codes, all(map(str.isalpha, look.words)), at), sorted(look.words))
            for at, look in enumerate(looks)
            if len(look.words) == 2
        ]
        for (is_code, _, at), words in sorted(pairs, reverse=True):
            cells = [row[at].lower() for row in rows if at < len(row)]
            is_repeated = min(cells.count(word.encode()) for word in words) > 1
            if not (is_code or (is_repeated and not is_known)):
                continue
            pair = dict(zip(map(listing.spell, words), (TARGET, NONTARGET), strict=True))
            if [variant[at] for _, variant in _readings(rows, pair)] == ["label"]:
                text = f"{words[0]!r} and {words[1]!r} may be labels; use "
                return line_error(path, number, text + formats.suggest_labels(words))
    rows = ways[0][1]
    # The first line from which on nothing fits.
    end = bisect.bisect(range(1, 1 + len(rows)), 0, key=lambda n: not _readings(rows[:n], labels))
    if 0 < end < len(rows):
        bad, above = rows[end], rows[end - 1]
        for at, cell in enumerate(bad):
            mended = [*bad[:at], *above[at : at + 1], *bad[at + 1 :]]
            if len(bad) == len(above) and _readings([*rows[:end], mended], labels):
                fault = f"in column {at + 1} is not like {show(above[at])} above it"
                text = f"{show(cell)} {formats.odd_number(cell.decode(errors='replace')) or fault}"
                return line_error(path, number + end, text)
        return line_error(path, number + end, f"{show(lines[end])} is not like the lines before it")
    if end == 0 and _readings(rows[1:], labels):
        return line_error(path, number, f"{show(lines[0])} is not like the lines below it")
    looks = _looks(max((rows for _, rows in ways), key=lambda rows: len(rows[0])))
    mark = cut_header(lines[1:])[0] if lines[1:] else None
    widths = [len(formats.unquote(line, mark)) for line in lines[:3]]
    if len(widths) == 3 and widths[0] < widths[1] == widths[2] > 1:
        return line_error(path, number, f"{show(lines[0])} is above the table; take it out")
    text = f"nothing tells what the columns of {show(lines[0])} are; use "
    return line_error(path, number, text + suggest(looks))
