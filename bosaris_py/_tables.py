"""Print rows of text as an aligned table."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def text_table(
    rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,), rules: Collection[int] = ()
) -> list[str]:
    """Return the lines of a table whose first row is the head.

    Columns are two spaces apart; those named in `left` are aligned to the left, the
    others to the right. A rule stands before each row that `rules` names.
    """
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
