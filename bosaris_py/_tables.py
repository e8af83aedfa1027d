"""Tables: aligned text, footnotes, and the ways out to data frames, files, papers and notebooks."""

from __future__ import annotations

import abc
import csv
import html
import importlib
import io
import itertools
import json
import math
import re
import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import FilePath
from bosaris_py.files.replacing import replacing
from bosaris_py.numerics.roc import EERDefinition

# A row of a table: numbers, texts and truth values by the name of their column.
Record = dict[str, Any]

_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}"}
)

# What makes a link, a tag, code or a column in Markdown. A sign < that a letter cannot follow
# stays: p < 0.05.
_MARKDOWN = re.compile(r"[\\|`]|\](?=[(\[:])|\*|\b_|_\b|<(?=[A-Za-z/!?])|&(?=[#\w]+;)")


class WithInterval(str):
    """A printed number and its interval, which a page may set apart."""

    parts: tuple[str, str]

    def __new__(cls, number: str, interval: str) -> WithInterval:
        """Join both by a space."""
        self = super().__new__(cls, f"{number} {interval}")
        self.parts = number, interval
        return self


# So many letters of a name are shown in HTML, in which a browser lays out longer ones for minutes.
_LONGEST_NAME = 200


def text_table(
    rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,), rules: Collection[int] = ()
) -> list[str]:
    """Return the lines of a table whose first row is the head.

    Columns are two spaces apart; those named in `left` are aligned to the left, the
    others to the right. A rule stands before each row that `rules` names.
    """
    rows = [[x if x.isprintable() else errors.printable(x) for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for number, row in enumerate(rows):
        if number in rules:
            lines.append("-" * (sum(widths) + 2 * (len(widths) - 1)))
        cells = zip(row, widths, strict=True)
        lines.append(
            "  ".join(
                cell.ljust(width) if column in left else cell.rjust(width)
                for column, (cell, width) in enumerate(cells)
            )
        )
    return lines


def narrow_table(
    rows: Sequence[Sequence[str]], width: int, *, left: Collection[int] = (0,)
) -> list[str]:
    """Return the lines of a table that is at most `width` wide; its first row is the head.

    Intervals stand below their values. Columns that do not fit beside the others come in groups
    below each other, and each group has the names, which are the first columns of `left`.
    """
    n_names = next((i for i in range(len(rows[0])) if i not in left), len(rows[0]))
    n_names = max(1, min(n_names, len(rows[0]) - 1))
    # Names get half of the width, and numbers the other half.
    longest = max(1, width // 2 // n_names - 2)
    cells = [
        [_broken(cell, longest if i < n_names else width // 2) for i, cell in enumerate(row)]
        for row in rows
    ]
    widths = [max(len(x) for cell in column for x in cell) for column in zip(*cells, strict=True)]
    names = list(range(n_names))
    groups = [list(names)]
    for column in range(n_names, len(widths)):
        taken = [*groups[-1], column]
        if len(groups[-1]) > n_names and sum(widths[i] + 2 for i in taken) - 2 > width:
            groups.append([*names, column])
        else:
            groups[-1] = taken
    lines: list[str] = []
    for group in groups:
        lines += [""] if lines else []
        for number, row in enumerate(cells):
            for line in itertools.zip_longest(*(row[i] for i in group), fillvalue=""):
                texts = (
                    text.ljust(widths[i]) if i in left else text.rjust(widths[i])
                    for i, text in zip(group, line, strict=True)
                )
                lines.append("  ".join(texts).rstrip())
            if number == 0:
                lines.append("-" * (sum(widths[i] + 2 for i in group) - 2))
    return lines


def _broken(cell: str, longest: int) -> list[str]:
    """Return the lines of a cell: a value and its interval, or parts of a long name."""
    parts = cell.parts if isinstance(cell, WithInterval) else (cell,)
    return [x for part in parts for x in textwrap.wrap(errors.printable(part), longest) or [""]]


def fitted(shown: object, width: int) -> str:
    """Return what an object prints as, in lines of at most `width` where words allow it."""
    text = str(shown)
    if isinstance(shown, Table):
        below = "\n".join(shown._below)
        body = text.removesuffix(below).rstrip()
        if max(map(len, body.split("\n"))) > width:
            body = "\n".join(narrow_table(shown._texts(), width, left=shown._left))
        text = f"{body}\n{below}" if below else body
    return "\n".join(part for line in text.split("\n") for part in _wrapped(line, width))


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line in parts; those after the first begin below its last column of text."""
    columns = list(re.finditer(r"\S {2,}(?=\S)", line[: width // 2]))
    indent = columns[-1].end() if columns else len(line) - len(line.lstrip())
    wrap = textwrap.TextWrapper(width, subsequent_indent=" " * indent, break_on_hyphens=False)
    wrap.break_long_words = False
    return wrap.wrap(line) or [line]


def scale_of_costs(normalized: bool | None) -> str:  # noqa: FBT001
    """Say below a table whether its costs are normalized; nothing where it has none."""
    if normalized is None:
        return ""
    return "costs are normalized" if normalized else "costs are not normalized"


# What an equal error-rate is taken from, by the name of its definition.
_EER_OF = {
    "rocch": "EER of the ROC's convex hull",
    "interpolated": "EER interpolated on the steppy ROC",
    "step": "EER of the step of the ROC where both rates are nearest",
}


def words_of_eer(definition: EERDefinition) -> str:
    """Say below a table which equal error-rate it has."""
    return _EER_OF[definition]


def joined_notes(*notes: str) -> str:
    """Join what is said below a table."""
    # Some name systems, conditions or columns, which come from the files of others.
    text = errors.joined(notes)
    text = text if text.endswith("..") else text.removesuffix(".")
    return text if text.isprintable() else errors.printable(text)


def or_none(value: object) -> object:
    """Return None in place of NaN, which JSON lacks and tables must not hide."""
    return None if value != value else value


def for_json(value: object) -> object:
    """Return plain values that any JSON parser takes: NaN as null, infinity as text."""
    match value:
        case Mapping():
            return {str(name): for_json(item) for name, item in value.items()}
        case list() | tuple():
            return [for_json(item) for item in value]
        case float() if math.isinf(value):
            return str(value)
    return or_none(value)


def import_pandas(method: str) -> ModuleType:
    """Import pandas, for a method that needs it."""
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        message = f"{method}() needs pandas, which is not installed; to_dict() does without."
        raise ImportError(message) from error


class Table(abc.ABC):
    """What every table can do with its rows.

    Data frames, CSV and JSON are exact, as `to_dict` is; the printed table, Markdown, LaTeX and
    HTML are for reading: rounded, with an EER in per cent.
    """

    __slots__ = ()

    @abc.abstractmethod
    def to_dict(self) -> list[Record]:
        """Return the rows as dicts of plain values.

        Returns
        -------
        list of dict
            Errors are fractions, all digits are given; None where a number is not defined.
        """

    def to_frame(self) -> Any:
        """Return the rows as a pandas DataFrame; pandas is imported by this call.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return import_pandas("to_frame").DataFrame(self.to_dict())

    @property
    def _left(self) -> tuple[int, ...]:
        """The columns of text, aligned to the left."""
        return (0,)

    @property
    def _rules(self) -> tuple[int, ...]:
        """The rows of `_texts` before which the printed table has a line."""
        return ()

    @property
    def _note(self) -> str:
        """What the figures are, said below the table in each form that is for reading."""
        return ""

    @property
    def _below(self) -> Sequence[str]:
        """The lines of the note, as they are printed."""
        return (f"({self._note})",) if self._note else ()

    def _best(self) -> Collection[tuple[int, int]]:
        """Return row and column, both from 0, of the cells that are best of their column."""
        return ()

    @abc.abstractmethod
    def _texts(self) -> list[list[str]]:
        """Return the printed cells: the head, then the rows."""

    def __repr__(self) -> str:
        """Lay the rows out as a table, with what they are below."""
        lines = text_table(self._texts(), left=self._left, rules=self._rules)
        return "\n".join([*map(str.rstrip, lines), *self._below])

    def to_csv(self, path: FilePath | None = None) -> str:
        """Return the rows as CSV, all digits given, and write them to a file.

        Parameters
        ----------
        path : str or path-like, optional
            The file, which is replaced in one step.

        Returns
        -------
        str
            The text; a value that is not defined is an empty cell.

        Notes
        -----
        Names are written as they are. A spreadsheet may compute one that begins with ``=``, ``+``,
        ``-`` or ``@``: import such a file as text.
        """
        rows = self.to_dict()
        names = dict.fromkeys(name for row in rows for name in row)
        lines = []
        # Quoted is what has a sign of the writer's own line end. Of a name with a bare carriage
        # return other readers would make two rows.
        for row in ({name: name for name in names}, *rows):
            csv.DictWriter(stream := io.StringIO(), names, lineterminator="\r\n").writerow(row)
            lines.append(stream.getvalue().removesuffix("\r\n") + "\n")
        return _written("".join(lines), path)

    def to_json(self, path: FilePath | None = None) -> str:
        """Return the rows as JSON, all digits given, and write them to a file.

        Parameters
        ----------
        path
            As for `to_csv`.

        Returns
        -------
        str
            The text; null where a number is not defined, infinity as text.
        """
        text = json.dumps(for_json(self._content()), indent=1, allow_nan=False)
        return _written(f"{text}\n", path)

    def _content(self) -> object:
        """Return what JSON holds."""
        return self.to_dict()

    def to_markdown(self) -> str:
        """Return the printed table in Markdown.

        Returns
        -------
        str
        """
        head, *rows = [
            [_MARKDOWN.sub(_escape, errors.printable(cell)) for cell in row]
            for row in self._texts()
        ]
        rule = ["---" if column in self._left else "--:" for column in range(len(head))]
        lines = "".join(f"| {' | '.join(row)} |\n" for row in (head, rule, *rows))
        note = _MARKDOWN.sub(_escape, self._note)
        return lines + (f"\n({note})\n" if note else "")

    def to_latex(self, caption: str = "") -> str:
        r"""Return the printed table for LaTeX, best values in bold; a comment names the package.

        Parameters
        ----------
        caption : str, default: ""
            What stands above the table, which then is a ``table``; else it is a ``tabular``.

        Returns
        -------
        str
        """
        head, *rows = [
            [errors.printable(cell).translate(_LATEX) for cell in row] for row in self._texts()
        ]
        for number, column in self._best():
            rows[number][column] = rf"\textbf{{{rows[number][column]}}}"
        layout = "".join("l" if column in self._left else "r" for column in range(len(head)))
        # Behind the end of a row, [ and * would be taken for its arguments.
        begins = ("{}" * row[0].startswith(("[", "*")) for row in (head, *rows))
        first, *lines = [
            f"{begin}{' & '.join(row)} \\\\"
            for begin, row in zip(begins, (head, *rows), strict=True)
        ]
        body = [r"\toprule", first, r"\midrule", *lines, r"\bottomrule"]
        table = [rf"\begin{{tabular}}{{{layout}}}", *body, r"\end{tabular}"]
        if self._note:
            # A paragraph of its own, so that a long note is broken at the width of the page.
            table.append(rf"\par{{\footnotesize ({self._note.translate(_LATEX)})\par}}")
        if caption:
            above = rf"\caption{{{errors.printable(str(caption)).translate(_LATEX)}}}"
            table = [r"\begin{table}", r"\centering", above, *table, r"\end{table}"]
        return "\n".join([r"% \usepackage{booktabs}", *table, ""])

    def _repr_html_(self) -> str:
        """Return the printed table for notebooks."""
        head, *rows = self._texts()
        first = _html_row("th", head, self._left)
        best = self._best()
        lines = (
            _html_row("td", row, self._left, {column for line, column in best if line == number})
            for number, row in enumerate(rows)
        )
        return html_table(first, lines, self._note)


def html_table(head: str, rows: Iterable[str], note: str = "") -> str:
    """Return a table in HTML, whose head comes again on each page that is printed."""
    below = f'<caption style="caption-side: bottom">({html.escape(note)})</caption>'
    lines = (f"<thead>{head}</thead>", "<tbody>", *rows, "</tbody>")
    return "\n".join(("<table>", *([below] if note else []), *lines, "</table>"))


def _escape(found: re.Match[str]) -> str:
    r"""Escape a sign of Markdown: < and & as in HTML, the others by a backslash."""
    sign = found[0]
    return html.escape(sign) if sign in "<&" else f"\\{sign}"


def html_name(name: str) -> str:
    """Return a name for HTML: printable, of at most 200 letters, and its direction its own."""
    # Letters that are written to the left would else turn what follows them.
    shown = html.escape(check.safe(name, _LONGEST_NAME))
    return shown if shown.isascii() else f"<bdi>{shown}</bdi>"


def _html_cell(cell: str) -> str:
    if not isinstance(cell, WithInterval):
        return html_name(cell)
    number, interval = map(html.escape, cell.parts)
    return f'{number}<span class="interval"> {interval}</span>'


def _html_row(
    tag: str, cells: Iterable[str], left: Collection[int], bold: Collection[int] = ()
) -> str:
    parts = (
        f'<{tag} style="text-align: {"left" if i in left else "right"}'
        f'{"; font-weight: bold" if i in bold else ""}">{_html_cell(cell)}</{tag}>'
        for i, cell in enumerate(cells)
    )
    return f"<tr>{''.join(parts)}</tr>"


def _written(text: str, path: FilePath | None) -> str:
    """Write a text to a file, if one is named, and return it."""
    if path is not None:
        with replacing(path) as temporary:
            # Halves of surrogate pairs, which file names can have, are escaped.
            temporary.write_text(text, encoding="utf-8", errors="backslashreplace")
    return text
