"""What notebooks show of an object: its repr, a small drawing, and a table of its figures.

Drawings are inline SVG in the colour of the text, so that they fit light and dark pages. There is
no script, and names are escaped.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import AnyArray
from bosaris_py._tables import html_name
from bosaris_py.errors import printable

# So many rows and columns of a matrix are drawn, evenly spaced among all, and pixels of a cell.
MOST_ROWS, MOST_COLUMNS, _CELL = 24, 72, 4

_WIDTH = 320

# The colour of targets in all plots; other marks have that of the text.
_TARGETS = "#0072b2"


def card(text: str, drawing: str = "", rows: Iterable[Sequence[str]] = ()) -> str:
    """Return a text, a drawing below it, and a table of names and figures."""
    lines = "<br>".join(map(html.escape, map(printable, text.split("\n"))))
    cells = "".join(
        f"<tr>{''.join(f'<td>{html_name(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    table = f"<table><tbody>{cells}</tbody></table>" if cells else ""
    return f'<div><p style="font-family: monospace">{lines}</p>{drawing}{table}</div>'


def spread_of(size: int, most: int) -> npt.NDArray[np.intp]:
    """Return positions evenly spaced among all: all of them if they are few."""
    return np.unique(np.linspace(0, max(0, size - 1), min(size, most)).astype(np.intp))


def mask_drawing(cells: AnyArray) -> str:
    """Draw a matrix of cells: 1 and -1 are targets and non-targets, 0 is no trial."""
    marks = []
    for sign, colour in ((1, f'fill="{_TARGETS}"'), (-1, 'fill="currentColor" opacity="0.3"')):
        runs = []
        for y, row in enumerate(cells):
            # Neighbours are one bar.
            steps = np.flatnonzero(np.diff((row == sign).astype(np.int8), prepend=0, append=0))
            for start, stop in steps.reshape(-1, 2).tolist():
                x, wide = _CELL * start, _CELL * (stop - start)
                runs.append(f"M{x} {_CELL * y}h{wide}v{_CELL}h-{wide}z")
        if runs:
            marks.append(f'<path {colour} d="{"".join(runs)}"/>')
    height, width = (_CELL * size for size in np.shape(cells))
    frame = f'<rect width="{width}" height="{height}" fill="none" stroke="currentColor"/>'
    words = "trials by model and segment; blue are targets"
    return _drawing(width, height, [*marks, frame], words)


def scale_drawing(value: float, low: float, high: float, limit: float) -> str:
    """Draw a decimal logarithm and its interval on a scale from -limit to limit."""

    def place(number: float) -> float:
        return _WIDTH * (min(max(number, -limit), limit) + limit) / (2.0 * limit)

    ticks = range(-math.floor(limit), math.floor(limit) + 1, 2)
    marks = [f'<path stroke="currentColor" d="M0 30H{_WIDTH}"/>']
    marks += [
        f'<path stroke="currentColor" d="M{place(tick):.1f} 30v5"/><text x="{place(tick):.1f}" '
        f'y="48" font-size="11" text-anchor="middle" fill="currentColor">{tick}</text>'
        for tick in ticks
    ]
    ends = f"M{place(low):.1f} 18H{place(high):.1f}"
    marks.append(f'<path stroke="{_TARGETS}" stroke-width="5" opacity="0.5" d="{ends}"/>')
    marks.append(f'<circle fill="{_TARGETS}" r="5" cx="{place(value):.1f}" cy="18"/>')
    return _drawing(_WIDTH, 54, marks, "log10 likelihood-ratio with its interval")


def _drawing(width: float, height: float, marks: Iterable[str], words: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" '
        f'style="overflow: visible"><title>{words}</title>{"".join(marks)}</svg>'
    )
