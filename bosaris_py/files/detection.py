"""Which column of a text is which: by what is told, by a header, or by what columns look like.

A first line is a header if it names two roles, or has a word above numbers or above labels. Of
files without one the formats of the catalogue are tried. Where none fits, or several that would
read different things, the error has what to type.
"""

import bisect
import itertools
import re
from collections.abc import Collection, Sequence
from pathlib import Path

import attrs

from bosaris_py import _validation as check, errors
from bosaris_py.files import columns as listing, formats
from bosaris_py.files.columns import NONTARGET, TARGET, Vocabulary, classes_of
from bosaris_py.files.formats import FORMATS, Columns, Format, Look, Named, Plan, show

Row = Sequence[bytes]

_LINES_LOOKED_AT = 1000


def line_error(path: Path, line: int, text: str, **use: str | None) -> errors.FileFormatError:
    """Return an error about one line, and keywords that help."""
    return errors.FileFormatError(f"{path}:{line}: {text}", use=use, path=path)


# Cells


def _looks(rows: Sequence[Row], labels: Vocabulary | None = None) -> list[Look]:
    """Return what columns look like."""
    return [Look(filter(None, c), labels, n) for n, c in enumerate(itertools.zip_longest(*rows))]


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
    cells = formats.unquote(line.strip(b"\r\n").lstrip(b"#% "), mark) or [b""]
    names = [cell.decode(errors="replace").strip('"') for cell in cells]
    row = formats.unquote(below[0], mark) if below else []
    # Tables of R have names of rows, and no name above these.
    is_named = mark is None and not {"score", "label"}.isdisjoint(roles_of(names).values())
    if len(row) == len(names) + 1 and (is_named or Look(row[:1]).is_whole):
        names.insert(0, "")
    return mark, names


def roles_of(names: Sequence[str], looks: Sequence[Look] = ()) -> dict[int, str]:
    """Return the role of each column whose name says it; `looks` are of the cells below."""
    words = ("" if formats.FILE_NAME.search(name) else name.lower() for name in names)
    plain = [re.sub("[^a-z0-9]", "", word) for word in words]
    roles: dict[int, str] = {}
    two = {at for at, x in enumerate(looks) if len(x.words) == 2 and x.may_be("label")}
    for role, patterns in formats.NAMES.items():
        free, is_one = [x for x in range(len(names)) if x not in roles], role in ("label", "score")
        found = [[at for at in free if re.fullmatch(each, plain[at])] for each in patterns]
        if looks and is_one:
            found[1:] = [[at for at in each if looks[at].suits(role)] for each in found[1:]]
            # Of two columns of scores, or of labels, nothing tells which is meant.
            likely = [at for each in found[1:] for at in each if looks[at].may_be(role)]
            found.insert(0, [*found[0], *likely])
        elif looks and role != "side":
            found = [[at for at in each if at not in two] for each in found]
        chosen = next(filter(None, found), [])
        if looks and role == "label" and chosen and not plain[chosen[0]].startswith("label"):
            # Another column of two words of labels may be the truth, and this one a decision.
            chosen = chosen if two.intersection(free) <= {*chosen} else []
        if len({*chosen}) == 1 or (chosen and not is_one):
            roles[chosen[0]] = role
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
    cells = [Look(row[at] for row in below if at < len(row)).words for at in range(len(names))]
    recurs = any(x in cell or classes_of([x, *cell]) for x, cell in zip(lower, cells, strict=True))
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
    if not below or {*map(len, below)} != {len(first)}:
        return False
    # The index of a data frame has no name.
    is_index = not first[0] and all(row[0] for row in below)
    columns = [*zip(*rows, strict=True)]
    if is_index or any(cell in column for cell, *column in columns):
        # Above ids that all have digits a word without one is a name, also beside a label.
        numbered = [[re.search(rb"\d", cell) for cell in each] for each in columns]
        return is_index or (len(below) > 9 and any(not x and all(y) for x, *y in numbered))
    looks, is_likely = _looks(below, labels), False
    for cell, look in zip(first, looks, strict=True):
        word = cell.decode(errors="replace").lower()
        above = Look([cell], labels)
        # Names of labels, such as mated, may be words of labels, too.
        kinds = {*classes_of(look.words, look.vocabularies).values()}
        is_name = {TARGET, NONTARGET} <= kinds and word not in look.words and roles_of([word])
        is_label = above.may_be("label") and not is_name
        if above.numbers or word in formats.MISSING_WORDS or formats.odd_number(word):
            continue
        if look.has_decimals:
            return True
        # One line says little of whole numbers and of words, which may be ids.
        is_likely |= not is_label and len(below) > 1 and (bool(look.numbers) or len(kinds) > 1)
    # So may it be in a column about the trials of a format that has such columns.
    return is_likely and not (len(first) > 4 and _readings(rows, labels))


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
        looks[0].are_ids = looks[0].counts = False
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
    given = formats.named_columns(columns, len(names))
    if format is None and given is None:
        return _detect(path, lines, number, labels)
    if isinstance(given, dict) or (format is not None and format.header):
        return _by_header(path, lines, number, format or FORMATS["csv"], given, labels)
    chosen = format or formats.format_of_names(given or ())
    first_word = chosen.first_line.split(" ")[0]
    if first_word and names[0].split(" ")[0].lower() != first_word:
        text = f"the first line must begin with {first_word}, found {show(lines[0])}"
        raise line_error(path, number, text)
    variants = chosen.variants if given is None else [tuple(given)]
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
                # The header of an index has no name at first.
                skips |= bool(first_word) or (not first[0] and all(row[0] for row in rows[1:]))
                return formats.plan_of_names(chosen, variant, separator, skips_first_line=skips)
    layouts = " or ".join(f"{len(v)} ({' '.join(v)})" for v in variants)
    text = f"expected {layouts} columns, found {len(lines[0].split())}: {show(lines[0])}"
    raise line_error(path, number, text)


def _by_header(
    path: Path,
    lines: Sequence[bytes],
    number: int,
    format: Format,
    named: Named = None,
    labels: Vocabulary | None = None,
) -> Plan:
    """Find the columns by the names in the first line."""
    given = {} if named is None else named
    if isinstance(given, list) or not given.keys() <= {*formats.ROLES} or not format.header:
        expected = f"map {', '.join(formats.ROLES)} to names in the header; others keep theirs"
        hint = 'For instance {"model": "enroll", "score": "llr"}.'
        raise check.invalid("columns", expected, check.describe(named), hint)
    mark, names = cut_header(lines)
    rows = [formats.unquote(line, mark) for line in lines[1:]]
    if mark and not names[-1] and rows:
        # Hyperion's lists of trials: a separator too many, and no column below it.
        names = names[: max(len(rows[0]), len(names) - 1)]
    if repeated := check.repetitions(filter(None, names)):
        text = f"the header names {check.list_some(repeated)} more than once"
        raise line_error(path, number, text)
    lower = [name.lower() for name in names]
    roles: dict[int, str] = {}
    # What is told comes first.
    for role in sorted(formats.ROLES, key=lambda role: role not in given):
        name = given.get(role)
        # In any table names tell roles, below.
        usual = format.header.get(role, ()) * bool(format.required)
        wanted = usual if role not in given else [name] * bool(name)
        at = next((lower.index(str(w).lower()) for w in wanted if str(w).lower() in lower), None)
        if at is not None and at not in roles:
            roles[at] = role
        elif name is not None or (role in format.required and role not in given):
            text = f"no column {' or '.join(map(str, wanted))} for the {role}s in the first line"
            text += f"; its columns are {check.list_some(names, 20)}"
            raise errors.FileFormatError(f"{path}: {text}")
    if format.name == "csv":
        whole = [row for row in rows if len(row) == len(names)]
        looks = _looks(whole, labels)
        for at, role in roles_of(names, looks).items():
            if at not in roles and role not in {*given, *roles.values()}:
                roles[at] = role
        if whole and "model" not in given and "segment" not in {*given, *roles.values()}:
            known = [at for at, role in roles.items() if role == "model"]
            own = _free_ids(looks, names, roles)
            n = [len({tuple(row[x] for x in ids) for row in whole}) for ids in (known, known + own)]
            # Lines that ids of another name tell apart are not numbered.
            if own and 2 * n[0] <= max(2, len(whole)) and len(whole) < 2 * n[1]:
                if len(own) > 1 or looks[own[0]].numbers or n[1] < len(whole):
                    text = f"nothing tells the ids below the header {show(lines[0])}; use "
                    raise line_error(path, number, text + suggest(looks, names))
                roles[own[0]] = "segment"
            elif n[0] < len(whole) and (index := [at for at, x in enumerate(looks) if x.counts]):
                # The number of a line is its id where there is no other.
                roles.setdefault(index[0], "segment")
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
            return formats.plan_of_names(item, item.variants[0], skips_first_line=True)
        named = {role for role, n in item.header.items() if not lower.isdisjoint(map(str.lower, n))}
        is_comma = mark == b","
        if item.required and named >= {*item.required} and is_comma == (item.separator == ","):
            known[item.name] = len(named)
    if known:
        return _by_header(path, lines, number, FORMATS[max(known, key=lambda name: known[name])])
    table = FORMATS["csv"]
    named = _named_roles(names, [formats.unquote(line, mark) for line in lines[1:]])
    if len(named) > 1 or (not names[0] and named & {"score", "label"}):
        return _by_header(path, lines, number, table, None, labels)
    widths = {len(text.split()) for text in (lines[0], lines[0].lstrip(b"#"))}
    if lines[0].startswith(b"#") and widths != {len(lines[-1].split())}:
        plan = _detect(path, lines[1:], number + 1, labels)
        if plan.skips_first_line:
            raise line_error(path, number, f"{show(lines[0])} is above the header; take it out")
        return attrs.evolve(plan, skips_first_line=True)
    ways = _ways(lines)
    _refuse_odd(path, lines, number)
    for _, rows in ways:
        if _is_header(rows, labels):
            names, below = [cell.decode(errors="replace") for cell in rows[0]], _looks(rows[1:])
            names[0] = names[0].lstrip("#% ")
            if not {"score", "label"}.isdisjoint(roles_of(names, below).values()):
                return _by_header(path, lines, number, table, None, labels)
            sides = classes_of(names)
            if {TARGET, NONTARGET} <= {*sides.values()}:
                tar, non = sorted(names, key=lambda name: -sides[name])[:2]
                call = "evaluate({name: (tar, non)}) takes them."
                option = f"--tar '{path}#{tar}' --non '{path}#{non}' in place of other files"
                text = f"{path}: {tar} and {non} are columns of scores."
                raise errors.FileFormatError(text, path=path, call=call, option=option)
            text = f"the first line looks like a header, {show(lines[0])}; use "
            raise line_error(path, number, text + suggest(below, names))
    for separator, rows in ways:
        found = _readings(rows, labels)
        if len(found) == 1:
            return formats.plan_of_names(*found[0], separator)
        if found:
            advice = " or ".join(f"columns='{','.join(variant)}'" for _, variant in found)
            text = f"{show(lines[0])} can be read in {len(found)} ways; use {advice}"
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
        is_one = mark is None and (ways[0][0] is not None or len(rows[-1]) < len(ways))
        if is_one or any(look.may_be("score") for look in looks):
            continue
        for cells in zip(*rows, strict=False):
            faults = [formats.odd_number(cell.decode(errors="replace")) for cell in cells]
            if 2 * sum(map(bool, faults)) > len(faults):
                at = next(at for at, fault in enumerate(faults) if fault)
                raise line_error(path, number + at, f"{show(cells[at])} {faults[at]}")
    for mark, _, looks in ways:
        if mark != b"," or any(look.has_decimals for look in looks):
            continue
        pairs = [(a, b) for a, b in itertools.pairwise(looks) if a.numbers and b.is_whole]
        pairs = [(a, b) for a, b in pairs if not b.are_codes]
        # Whole numbers are not written -0, nor are they 0 in all lines.
        is_sure = any("-0" in a.words or a.words == {"0"} for a, _ in pairs)
        if is_sure or ((*looks[-2:],) in pairs and not any(look.are_ids for look in looks[:-1])):
            fault = "has a decimal comma; write a point"
            fault = fault if is_sure else f"may have{fault[3:]}, or use {suggest(looks)}"
            raise line_error(path, number, f"{show(lines[0])} {fault}")


def _free_ids(looks: Sequence[Look], names: Sequence[str], taken: Collection[int]) -> list[int]:
    """Return the columns that may be ids, of those that are nothing else: the first two vary."""
    most, sizes = max(len(look.words) for look in looks), [len(look.words) for look in looks]
    ids = [at for at, look in enumerate(looks) if at not in taken and look.may_be("model")]
    ids = [at for at in ids if not (looks[at].counts or (looks[at].is_gender and most > 3))]
    varied = [at for at in ids if sizes[at] > 1]
    if varied and most > 3:
        # A model may be alone, but not behind its segments.
        ids = varied if len(varied) > 1 else ids[: ids.index(varied[0]) + 1][-2:]
    # Below names few words behind many are of another kind, such as attacks.
    is_one = any(names) and len(ids) > 1 and sizes[ids[0]] == most > 2 * sizes[ids[1]]
    return ids[:1] if is_one else ids


def suggest(looks: Sequence[Look], names: Sequence[str] = ()) -> str:
    """Return what to type for columns, by their looks and by the names in a header."""
    names = names or [""] * len(looks)
    roles = roles_of(names, looks)
    free = [at for at in range(len(looks)) if at not in roles]
    scores = [at for at in free if looks[at].may_be("score")]
    decimals = [at for at in scores if looks[at].has_decimals]
    # Beside scores or labels that are named, whole numbers are ids.
    scores = decimals or ([] if {"score", "label"} & {*roles.values()} else scores)
    free = [at for at in free if at not in scores]
    most = max(len(look.words) for look in looks)
    labels = [at for at in free if looks[at].may_be("label") or looks[at].are_codes]
    # Words tell more than numbers, and two classes more than one.
    labels = [at for at in labels if not looks[at].numbers] or labels
    labels = [at for at in labels if len(looks[at].words) > 1] or labels
    pairs = [at for at in free if looks[at].is_pair and most > 3]
    labels = [*dict.fromkeys([*labels, *pairs])] if any(names) else labels or pairs
    ids = _free_ids(looks, names, {*roles, *scores, *labels})
    sides = [side for side in ("model", "segment") if side not in roles.values()]
    if "segment" in sides:
        roles |= dict(zip(ids, sides[-len(ids) :], strict=False))
    scores = [at for at in scores if not formats.denies(names[at])] or scores
    ways, advice = [roles], list[str]()
    for role, ats in (("score", scores[:2]), ("label", labels[:3])):
        if role not in roles.values():
            ways = [{**way, at: role} for way in ways for at in ats] or ways
    for way in ways:
        # A column without a name is named by its place.
        named = [f"{role}={names[at]}" for at, role in sorted(way.items()) if names[at]]
        places = [way.get(at, "gender" if x.is_gender else "-") for at, x in enumerate(looks)]
        columns = ",".join(named if len(named) == len(way) else places)
        denied = {role for at, role in way.items() if formats.denies(names[at])}
        advice.append(f"columns='{columns}'{formats.NEGATED * ('label' in denied)}")
    return " or ".join(advice) + formats.LOW * ("score" in denied)


def lone_score(lines: Sequence[bytes]) -> str:
    """Return the name above numbers, of which only an index is beside them; "" of others."""
    mark, names = cut_header(lines)
    rows = [formats.unquote(line, mark) for line in lines]
    looks = _looks(rows[1:])
    named = {n: look for n, look in zip(names, looks, strict=False) if n and not look.counts}
    is_lone = len(named) == 1 and {*roles_of([*named], [*named.values()]).values()} <= {"score"}
    is_lone = is_lone and all(look.numbers for look in looks) and _is_header(rows, None)
    # A distance is refused, and lines in another order than their numbers.
    index = [float(row[0]) for row in rows[1:]] if is_lone and not names[0] else []
    return "".join(n for n in named if is_lone and "dist" not in n and index == sorted(index))


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
    roles = roles_of(names, looks)
    free = {name: looks[at] for at, name in enumerate(names) if name and at not in roles}
    likely = [name for name, look in free.items() if look.may_be(role)]
    if role == "label" and not likely:
        # Words that are not known.
        likely = [name for name, look in free.items() if len(look.words) == 2 and not look.numbers]
    likely = [name for name in likely if not formats.denies(name)] or likely
    likely = sorted(likely, key=lambda name: roles_of([name]) != {0: role})[:3]
    advice = " or ".join(f"columns='{role}={name}'" for name in likely)
    caution = formats.LOW if role == "score" else formats.NEGATED
    return advice + caution * (len(likely) == 1 and formats.denies(likely[0]))


def _no_reading(
    path: Path, lines: Sequence[bytes], number: int, labels: Vocabulary | None
) -> errors.FileFormatError:
    """Return the error about lines that no format fits."""
    ways = _ways(lines)
    for rows in (rows for _, rows in ways if labels is None):
        looks = _looks(rows)
        is_known = any(classes_of([w]) for look in looks if not look.numbers for w in look.words)
        two = [at for at, look in enumerate(looks) if len(look.words) == 2]
        # The likeliest are 1 and 2, then words without digits, at the end of the line.
        for at in sorted(two, key=lambda at: (looks[at].are_codes, looks[at].is_pair, at))[::-1]:
            words = sorted(looks[at].words)
            cells = [row[at].lower() for row in rows if at < len(row)]
            is_repeated = min(cells.count(word.encode()) for word in words) > 1
            if not (looks[at].are_codes or (is_repeated and not is_known)):
                continue
            pair = dict(zip(map(listing.spell, words), (TARGET, NONTARGET), strict=True))
            if [variant[at] for _, variant in _readings(rows, pair)] == ["label"]:
                text = f"{words[0]!r} and {words[1]!r} may be labels; use "
                return line_error(path, number, text + formats.suggest_labels(words))
    rows = ways[0][1]
    # The first line from which on nothing fits.
    end = bisect.bisect(range(1, 1 + len(rows)), 0, key=lambda n: not _readings(rows[:n], labels))
    # What is wrong with more than half of the lines is no fault of a line.
    n_unlike = sum(not _readings([rows[end - 1], row], labels) for row in rows)
    if 0 < end < len(rows) and 2 * n_unlike <= len(rows):
        bad, above = rows[end], rows[end - 1]
        for at, cell in enumerate(bad):
            mended = [*bad[:at], *above[at : at + 1], *bad[at + 1 :]]
            if len(bad) == len(above) and _readings([*rows[:end], mended], labels):
                fault = f"in column {at + 1} is not like {show(above[at])} above it"
                text = f"{show(cell)} {formats.odd_number(cell.decode(errors='replace')) or fault}"
                column = [row[at].decode(errors="replace") for row in rows if at < len(row)]
                if column.count(column[end]) > 1 and column[end].isalpha():
                    advice = formats.suggest_labels(sorted({*column}))
                    text += advice and f"; use {advice}"
                return line_error(path, number + end, text)
        return line_error(path, number + end, f"{show(lines[end])} is not like the lines before it")
    if end == 0 and _readings(rows[1:], labels):
        return line_error(path, number, f"{show(lines[0])} is not like the lines below it")
    looks = _looks(max((rows for _, rows in ways), key=lambda rows: len(rows[0])))
    mark = cut_header(lines[1:])[0] if lines[1:] else None
    widths = [len(formats.unquote(line, mark)) for line in lines[:3]]
    if len(widths) == 3 and widths[0] < widths[1] == widths[2] > 1:
        return line_error(path, number, f"{show(lines[0])} is above the table; take it out")
    if len(lines) == 1 < len(looks) and all(look.numbers for look in looks):
        text = f"{show(lines[0])} has {len(looks)} numbers; write each in a line of its own"
        return line_error(path, number, text)
    text = f"nothing tells what the columns of {show(lines[0])} are; use "
    return line_error(path, number, text + suggest(looks))
