"""Looks of systems, figures that show themselves in a notebook, and settings for print."""

from __future__ import annotations

import contextlib
import functools
import importlib
import io
import itertools
import math
import re
import sys
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple, ParamSpec, TypeAlias, TypeVar

import matplotlib as mpl
import numpy as np
import scipy
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.layout_engine import ConstrainedLayoutEngine as _Constrained
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.mathtext import MathTextParser
from matplotlib.patches import PathPatch
from matplotlib.textpath import TextPath
from matplotlib.transforms import Bbox
from matplotlib.typing import ColorType, LineStyleType

from bosaris_py._arrays import Float64Array
from bosaris_py._validation import describe, invalid, safe
from bosaris_py.errors import printable

# Contrast of 3 and more to white and to light grey, or to black and to dark grey. Any two have a
# CIEDE2000 distance of 20 and more, and of 10 as deuteranopes and protanopes see them.
_ON_LIGHT = "0072b2", "cc4a00", "228855", "2200ee", "ff0066", "883377", "990022", "8866ff"
_ON_DARK = "56b4e9", "ff8c1a", "119977", "eeaabb", "ccdd99", "8866ee", "ee3344", "00ffff"

# Properties of lines, texts and legends by name, and the settings of matplotlib as a whole.
Settings: TypeAlias = dict[str, Any]
RCParams: TypeAlias = dict[Any, Any]

# Matplotlib has one set of settings for all threads: one of them draws at a time.
_DRAWING = threading.RLock()
_Arguments = ParamSpec("_Arguments")
_Made = TypeVar("_Made")

# What holds everywhere, not for a drawing.
_OF_PROCESS = ("backend", "backend_fallback", "interactive", "toolbar", "date.epoch")

# Eight looks are a round. Nine markers, so that in the next round no colour has its marker again.
_ROUND = 8
_MARKERS = ("", "o", "s", "^", "D", "v", "P", "X", "d")
_DASHES: tuple[LineStyleType, ...] = ("-", (0, (5, 1, 1, 1)), (0, (1, 1)), (0, (8, 2)))

# Legends of more entries, or of a larger share of the Axes, lie beside it; the largest share of
# the Axes' height that a legend above the lines may take.
_LONG_LEGEND, _LARGE_LEGEND, _HEADROOM = 8, 0.2, 0.3
_PLACES: Any = (
    "upper right",
    "lower left",
    "upper left",
    "lower right",
    "upper center",
    "lower center",
)

# Metadata that leave out the date, so that the same plot is the same file byte for byte.
METADATA: dict[str, dict[str, None]] = {
    ".pdf": {"CreationDate": None},
    ".png": {},
    ".svg": {"Date": None},
    ".eps": {},
}

# Without a salt, SVG has new names each time; publishers refuse fonts of type 3.
_FILES: RCParams = {"svg.hashsalt": "bosaris_py", "pdf.fonttype": 42, "ps.fonttype": 42}

_STYLES: dict[str, RCParams] = {
    # One column of a two-column paper.
    "paper": {
        "figure.figsize": (3.3, 3.3),
        "font.size": 7.0,
        "axes.titlesize": 8.0,
        "axes.linewidth": 0.6,
        "lines.linewidth": 1.0,
        "lines.markersize": 4.0,
        "savefig.dpi": 300.0,
        **_FILES,
    }
}


# Least size of letters, in points.
SMALLEST = 6.0

# How many blocks of `style` are open, in whatever threads, and what was set before the first.
_open_styles: list[RCParams] = []


def one_at_a_time(function: Callable[_Arguments, _Made]) -> Callable[_Arguments, _Made]:
    """Let one thread run any of the functions that draw: a decorator."""

    @functools.wraps(function)
    def call(*args: _Arguments.args, **named: _Arguments.kwargs) -> _Made:
        with _DRAWING:
            return function(*args, **named)

    return call


def style(name: str) -> contextlib.AbstractContextManager[None]:
    """Return matplotlib's settings for print, to be used in a ``with`` statement.

    Parameters
    ----------
    name : {"paper"}
        "paper": figures 3.3 inches wide, one column of two, with letters of 7 points, and of 6 in
        legends, which lie below the plot.

    Returns
    -------
    context manager
        Plots that are made within have these settings, in all threads. They end with the last block
        that is open.

    Examples
    --------
    >>> from bosaris_py.plots import DETPlot, style
    >>> with style("paper"):
    ...     plot = DETPlot()
    >>> plot.figure.get_size_inches().tolist()
    [3.3, 3.3]
    """
    if name not in _STYLES:
        known = ", ".join(f"'{known}'" for known in _STYLES)
        raise invalid("name", f"be one of {known}", describe(name))
    return _styled(_STYLES[name])


@contextlib.contextmanager
def _styled(settings: RCParams) -> Iterator[None]:
    with _DRAWING:
        before: RCParams = {key: mpl.rcParams[key] for key in settings}
        _open_styles.append(before)
        mpl.rcParams.update(settings)
    try:
        yield
    finally:
        with _DRAWING:
            # Threads need not leave in the order in which they came.
            before = _open_styles[0]
            _open_styles.pop()
            if not _open_styles:
                mpl.rcParams.update(before)


@contextlib.contextmanager
def for_report() -> Iterator[None]:
    """Give the settings of drawings in a report, whatever the user has set."""
    # Not `rcdefaults`, which catches the warnings of all threads.
    settings: RCParams = {k: v for k, v in mpl.rcParamsDefault.items() if k not in _OF_PROCESS}
    settings |= {"figure.figsize": (4.6, 4.6), "font.size": 9.0, "font.family": ["DejaVu Sans"]}
    # Names are no formulas; of points that a screen cannot tell apart one is enough.
    settings |= {"text.parse_math": False, "path.simplify_threshold": 0.3}
    with _DRAWING, mpl.rc_context(settings):
        yield


@functools.cache
def _letters() -> frozenset[int]:
    """Return the letters that drawings of a report can have: their font comes with matplotlib."""
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def drawable(text: str) -> str:
    """Return a text in which letters that no drawing can show are escaped."""
    return "".join(
        sign if ord(sign) in _letters() else sign.encode("unicode_escape").decode()
        for sign in printable(text)
    )


def as_written(text: str) -> str:
    """Return a text that is drawn as it is written where it is no formula that can be drawn."""
    text = printable(text)
    if not mpl.rcParams["text.parse_math"] or not is_math_text(text):
        return text
    try:
        MathTextParser("path").parse(text)
    except ValueError:
        return text.replace("$", r"\$")
    return text


def as_name(name: object, more: str = "", *, most: int = 80) -> str:
    """Return a name as it is drawn, of at most so many letters, and what follows it."""
    return as_written(f"{safe(name, most)} {more}".strip())


def letters(size: str) -> float:
    """Return a named size of letters in points; less than 6 cannot be read in print."""
    return max(SMALLEST, FontProperties(size=size).get_size_in_points())


def text_colour() -> ColorType:
    """Return the colour of what belongs to no system."""
    colour: ColorType = mpl.rcParams["text.color"]
    return colour


def pale_colour(axes: Axes) -> ColorType:
    """Return the grey of systems that do not stand out, on the background of an Axes."""
    paper, ink = np.array(to_rgb(axes.get_facecolor())), np.array(to_rgb(text_colour()))
    return tuple((0.72 * paper + 0.28 * ink).tolist())


class SystemLook(NamedTuple):
    """Colour, dashes and marker of all lines of one system, and the rest that a caller wants."""

    colour: ColorType
    dash: LineStyleType
    marker: Settings
    rest: Settings

    def changed(self, wanted: Mapping[str, Any]) -> SystemLook:
        """Return the look with the properties that a caller wants."""
        rest = dict(wanted)
        colour, dash = rest.pop("color", self.colour), rest.pop("linestyle", self.dash)
        marker = self.marker
        if "marker" in rest:
            marker = {**(marker or _marker(0)), "marker": rest.pop("marker")}
        if "markersize" in rest and marker:
            marker = {**marker, "markersize": rest["markersize"]}
        rest.pop("markersize", None)
        return SystemLook(colour, dash, marker, rest)


def _marker(number: int) -> Settings:
    """Return the settings of markers along a line."""
    return {
        "marker": _MARKERS[number % len(_MARKERS)],
        "markersize": 4.0,
        # Shares of the diagonal of the Axes; those of several systems must not coincide.
        "markevery": (0.03 * (number % 7), 0.21),
    }


def system_look(number: int, axes: Axes) -> SystemLook:
    """Return the look of a system by its number; no two of the first 24 look alike."""
    red, green, blue = to_rgb(axes.get_facecolor())
    ours = _ON_LIGHT if 0.3 * red + 0.6 * green + 0.1 * blue > 0.5 else _ON_DARK
    colours: Sequence[ColorType] = [f"#{code}" for code in ours]
    # A cycle that the user has chosen wins.
    if mpl.rcParams["axes.prop_cycle"] != mpl.rcParamsDefault["axes.prop_cycle"]:
        colours = mpl.rcParams["axes.prop_cycle"].by_key().get("color", colours)
    marker = _marker(number) | {"markerfacecolor": axes.get_facecolor()}
    dash = _DASHES[number // _ROUND % len(_DASHES)]
    return SystemLook(colours[number % len(colours)], dash, marker if marker["marker"] else {}, {})


def scaled(settings: Settings) -> Settings:
    """Return properties of a line with its widths and sizes in proportion to the letters."""
    factor = mpl.rcParams["font.size"] / mpl.rcParamsDefault["font.size"]
    sizes = ("linewidth", "markersize", "markeredgewidth")
    return settings | {name: factor * settings[name] for name in sizes if name in settings}


def add_legend(
    axes: Axes,
    handles: Sequence[Artist],
    labels: Sequence[str],
    lines: Sequence[Line2D | PathPatch],
    keywords: Settings,
    *,
    headroom: bool,
    place: str = "",
) -> None:
    """Put a legend where it covers no line: on the Axes, above its lines, beside or below it."""
    # Short handles would not show the dashes that tell curves apart.
    size = letters("x-small" if len(handles) > _LONG_LEGEND else "small")
    settings: Settings = {"loc": "best", "fontsize": size, "handlelength": 2.8} | keywords
    if "loc" in keywords:
        axes.legend(handles, labels, **settings)
    elif place or len(handles) > _LONG_LEGEND:
        _legend_aside(axes, handles, labels, keywords, place)
    else:
        figure = axes.figure.figure
        if len(figure.axes) > 1:
            # Only a layout tells how large one of several Axes is.
            figure.draw_without_rendering()
        axes.apply_aspect()
        frame = axes.get_window_extent()
        legend = axes.legend(handles, labels, **settings)
        box = legend.get_window_extent()
        if box.width * box.height <= _LARGE_LEGEND * frame.width * frame.height:
            # What matplotlib finds best heeds bands as much as lines.
            for corner in ("best", *_PLACES):
                legend.set_loc(corner)
                if not covers(legend.get_window_extent().padded(0.02 * frame.width), lines):
                    return
        if headroom:
            for name, ncols in itertools.product(("small", "x-small"), (3, 2, 1)):
                above = settings | {"loc": "upper center", "ncols": ncols}
                above |= {"fontsize": letters(name)} | keywords
                box = axes.legend(handles, labels, **above).get_window_extent()
                share = 0.04 + 1.1 * box.height / frame.height
                if share < _HEADROOM and box.width < 0.98 * frame.width:
                    low, high = axes.get_ylim()
                    axes.set_ylim(low, high + (high - low) * share / (1.0 - share))
                    return
        _legend_aside(axes, handles, labels, keywords, place)


def covers(box: Bbox, lines: Sequence[Line2D | PathPatch]) -> bool:
    """Tell whether a part of a line lies in a box."""
    for line in lines:
        path = line.get_transform().transform_path(line.get_path())
        if path.intersects_bbox(box, filled=False) or box.count_contains(path.vertices):
            return True
    return False


def _legend_aside(
    axes: Axes, handles: Sequence[Artist], labels: Sequence[str], keywords: Settings, place: str
) -> None:
    """Put a legend below the Axes if that was asked for or the width is given, else beside it."""
    figure = axes.figure.figure
    keeps_width = getattr(figure, "keeps_width", bool(_open_styles))
    below = place == "below" or (keeps_width and not place)
    if below and len(figure.axes) == 1 and isinstance(figure.get_layout_engine(), _Constrained):
        _legend_below(axes, handles, labels, keywords)
    else:
        _legend_beside(axes, handles, labels, keywords)


def _legend_below(
    axes: Axes, handles: Sequence[Artist], labels: Sequence[str], keywords: Settings
) -> None:
    """Put a legend into a strip below the plot, by which a figure of ours grows in height."""
    figure = axes.figure.figure
    engine: Any = figure.get_layout_engine()
    width, height = figure.get_size_inches()
    # Without the strip of an earlier call.
    height -= vars(figure).get("_bosaris_strip", 0.0)
    size = letters("x-small" if len(handles) > _LONG_LEGEND else "small")
    settings: Settings = {
        "loc": "lower center",
        "bbox_to_anchor": (0.5, 0.0),
        "bbox_transform": figure.transFigure,
        "borderaxespad": 0.3,
        "columnspacing": 1.2,
        "frameon": False,
        "labelspacing": 0.3,
        "fontsize": size,
        "handlelength": 2.8,
    }
    settings |= keywords
    # Handles and gaps take about five letters of the width.
    letters_of_width = int(72.0 * width / (0.55 * size)) - 5
    texts = [textwrap.fill(label, max(letters_of_width, 12)) for label in labels]
    room = figure.bbox.width
    widest = axes.legend(handles, texts, **(settings | {"ncols": 1})).get_window_extent().width
    columns = min(max(int(1.1 * room / widest), 1), len(handles))
    for ncols in range(columns, 0, -1):
        legend = axes.legend(handles, texts, **({"ncols": ncols} | settings))
        box = legend.get_window_extent()
        if box.width <= room or ncols == 1:
            break
    strip = (box.height + 0.6 * size * figure.dpi / 72.0) / figure.dpi
    whole = height
    if isinstance(figure, _ShownFigure):
        whole += strip
        figure.set_size_inches(width, whole)
        vars(figure)["_bosaris_strip"] = strip
    share = min(strip / whole, 0.8)
    engine.set(rect=(0.0, share, 1.0, 1.0 - share))
    legend.set_in_layout(False)
    # It lies within the figure, which need not be widened for it.
    vars(legend)["_bosaris_within"] = True


def _legend_beside(
    axes: Axes, handles: Sequence[Artist], labels: Sequence[str], keywords: Settings
) -> None:
    """Put a legend beside the Axes, outside of the layout, from which it would take its room."""
    # Letters of "small" have 0.83 of the size of the font, those of "x-small" 0.69; lines are 1.4.
    height = 72.0 * axes.figure.figure.get_size_inches()[1] / (1.4 * mpl.rcParams["font.size"])
    small = len(handles) <= 0.8 * height / 0.83
    settings: Settings = {
        "loc": "upper left",
        "bbox_to_anchor": (1.01, 1.0),
        "borderaxespad": 0.0,
        "labelspacing": 0.4 if small else 0.25,
        "fontsize": letters("small" if small else "x-small"),
        "handlelength": 2.8,
        "ncols": 1 if small else math.ceil(len(handles) / max(0.8 * height / 0.69, 9.0)),
    }
    legend = axes.legend(handles, labels, **(settings | keywords))
    # Between several Axes there is no room but that of the layout.
    figure = axes.figure.figure
    legend.set_in_layout(len(figure.axes) > 1 and figure.get_layout_engine() is not None)


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Move ascending heights within [0, 1] apart, as little as it takes."""
    # If the k-th is moved down by k gaps they need only ascend: the PAV algorithm.
    steps = gap * np.arange(len(heights))
    fitted = scipy.optimize.isotonic_regression(np.asarray(heights) - steps).x if heights else steps
    room = max(1.0 - gap * (len(heights) - 1), 0.0)
    return [*(np.clip(fitted, 0.0, room) + steps)]


def outside_legends(figure: Figure) -> list[Legend]:
    """Return the legends that lie outside of the layout, for which a picture must be widened."""
    legends = [axes.get_legend() for axes in figure.axes]
    return [
        legend
        for legend in legends
        if legend is not None
        and not legend.get_in_layout()
        and "_bosaris_within" not in vars(legend)
    ]


def save_options(figure: Figure) -> Settings:
    """Return keywords of ``savefig`` such that a legend outside of the Axes is not cut off."""
    legends = outside_legends(figure)
    artists = [*Figure.get_default_bbox_extra_artists(figure), *legends]
    return {"bbox_inches": "tight", "bbox_extra_artists": artists} if legends else {}


def write(figure: Figure, stream: BinaryIO, extension: str, dpi: float) -> None:
    """Write a picture that is the same, byte for byte, each time."""
    with _DRAWING, mpl.rc_context(_FILES):
        options: Settings = {"format": extension[1:], "dpi": dpi, "metadata": METADATA[extension]}
        options |= save_options(figure)
        if extension != ".eps":
            figure.savefig(stream, **options)
            return
        buffer = io.BytesIO()
        with _opaque(figure):
            figure.savefig(buffer, **options)
        # The only line that depends on the day.
        stream.write(re.sub(rb"(?m)^%%CreationDate: .*\n", b"", buffer.getvalue(), count=1))


@contextlib.contextmanager
def _opaque(figure: Figure) -> Iterator[None]:
    """Give transparent artists the colours that they have on paper; PostScript knows no others."""
    kept: list[tuple[Artist, Any, Settings]] = []
    for artist in figure.findobj(lambda artist: isinstance(artist.get_alpha(), float)):
        parts = {
            part: getattr(artist, f"get_{part}")()
            for part in ("color", "facecolor", "edgecolor")
            if hasattr(artist, f"get_{part}")
        }
        # Where nothing is drawn, nothing is to be.
        drawn = {part: old for part, old in parts.items() if to_rgba_array(old)[:, 3].any()}
        kept.append((artist, artist.get_alpha(), drawn))
    for artist, alpha, parts in kept:
        axes = getattr(artist, "axes", None)
        paper = to_rgba_array((axes or figure).get_facecolor())
        artist.set_alpha(None)
        for part, old in parts.items():
            mixed = alpha * to_rgba_array(old) + (1.0 - alpha) * paper
            mixed[:, 3] = 1.0
            getattr(artist, f"set_{part}")(mixed if len(mixed) > 1 else tuple(mixed[0]))
    try:
        yield
    finally:
        for artist, alpha, parts in kept:
            artist.set_alpha(alpha)
            for part, old in parts.items():
                getattr(artist, f"set_{part}")(old)


def write_below(axes: Axes, notes: Sequence[str]) -> None:
    """Write notes below the label of the horizontal axis, instead of those that are there."""
    size = letters("x-small")
    width = 72.0 * axes.figure.figure.get_size_inches()[0]
    text = "\n".join(
        textwrap.fill(as_written(note), int(0.85 * width / (0.52 * size))) for note in notes
    )
    written = vars(axes).get("_bosaris_notes")
    if written is None:
        places: Settings = {"xycoords": axes.xaxis.label, "textcoords": "offset points"}
        places |= {"annotation_clip": False, "ha": "center", "va": "top", "fontsize": size}
        written = axes.annotate(text, (0.5, 0.0), (0.0, -2.0), **places)
        vars(axes)["_bosaris_notes"] = written
    written.set_text(text)


def picture(figure: Figure, extension: str, dpi: float) -> bytes:
    """Return what `write` writes."""
    buffer = io.BytesIO()
    write(figure, buffer, extension, dpi)
    return buffer.getvalue()


def png(figure: Figure) -> bytes:
    """Return the picture that a notebook shows."""
    return picture(figure, ".png", 110.0)


@one_at_a_time
def svg(figure: Figure) -> str:
    """Return the text of an SVG file; legends outside of the Axes lie below, for narrow screens."""
    for legend in outside_legends(figure):
        axes: Any = legend.axes
        labels = [text.get_text() for text in legend.get_texts()]
        # Letters of "x-small" are about 0.4 of the font's size wide, and handles nine letters.
        room = 72.0 * figure.get_size_inches()[0] / (0.4 * mpl.rcParams["font.size"])
        below = axes.legend(
            legend.legend_handles,
            labels,
            loc="upper center",
            bbox_to_anchor=(0.5, 0.0),
            bbox_transform=figure.transFigure,
            ncols=max(1, int(room / (9 + max(map(len, labels))))),
            fontsize=letters("x-small"),
            handlelength=2.8,
            borderaxespad=0.0,
        )
        below.set_in_layout(False)
    return picture(figure, ".svg", 72.0).decode()


def show(figure: Figure) -> None:
    """Show a figure in a notebook, or in a window of pyplot."""
    shell = sys.modules.get("IPython")
    if shell is not None and hasattr(shell.get_ipython(), "kernel"):
        shell.display.display(shell.display.Image(png(figure)))
        return
    # Only now: who never shows a window does not need pyplot.
    pyplot = importlib.import_module("matplotlib.pyplot")
    canvas = pyplot.figure(figsize=figure.get_size_inches()).canvas
    canvas.figure = figure
    figure.set_canvas(canvas)
    pyplot.show()


class _ShownFigure(Figure):
    """A figure that a notebook shows, without pyplot."""

    # Whether it was made in a style of a given width.
    keeps_width = False

    def _repr_png_(self) -> bytes:
        return png(self)

    def draw(self, renderer: RendererBase) -> None:
        engine = self.get_layout_engine()
        # Saving draws twice. The first time all methods of the renderer that draw are replaced:
        # only the layout is wanted.
        if engine is not None and "draw_path" in vars(renderer):
            engine.execute(self)
            for axes in self.axes:
                # A layout leaves squares as wide as their room.
                axes.apply_aspect()
        else:
            super().draw(renderer)

    def savefig(self, fname: Any, **keywords: Any) -> None:
        with _DRAWING, mpl.rc_context(_FILES):
            super().savefig(fname, **(save_options(self) | keywords))

    def get_default_bbox_extra_artists(self) -> list[Artist]:
        return [*super().get_default_bbox_extra_artists(), *outside_legends(self)]


class _ShownAxes(Axes):
    """Axes that a notebook shows: what the plot functions return."""

    def _repr_png_(self) -> bytes:
        return png(self.figure.figure)


def new_figure(size: tuple[float, float]) -> Figure:
    """Return a figure of `size` inches that a notebook shows and that pyplot does not know."""
    figure = _ShownFigure(figsize=size, layout="constrained")
    figure.keeps_width = bool(_open_styles)
    return figure


def make_axes(ax: object, size: tuple[float, float]) -> Axes:
    """Return `ax`, or the Axes of a new figure of `size` inches that pyplot does not know."""
    if ax is None:
        wanted = mpl.rcParams["figure.figsize"]
        if list(wanted) != list(mpl.rcParamsDefault["figure.figsize"]):
            # The width that the user has set, in the proportions of the plot.
            size = (wanted[0], wanted[0] * (size[1] / size[0]))
        return new_figure(size).add_subplot(axes_class=_ShownAxes)
    # A plot is as good as its Axes.
    ax = getattr(ax, "ax", ax)
    if not isinstance(ax, Axes):
        hint = ""
        if isinstance(ax, Figure):
            hint = "Pass what its method subplots() returns."
        elif isinstance(ax, np.ndarray):
            hint = "Pass one of them, such as axes.flat[0]."
        raise invalid("ax", "be a matplotlib Axes", describe(ax), hint)
    if ax.name != "rectilinear":
        raise invalid("ax", "have two straight axes", f"a {ax.name} projection")
    return ax


def rank_of(rate: float) -> int:
    """Return how soon a tick gives way: 1, 10 and 50 %, 0.5 and 5 %, 2 %, others."""
    digits = f"{min(rate, 1.0 - rate):.1e}"[:3]
    return ("1.0", "5.0", "2.0").index(digits) if digits in ("1.0", "5.0", "2.0") else 3


@functools.lru_cache(maxsize=1000)
def _size_in_points(text: str, points: float) -> tuple[float, float]:
    box = TextPath((0.0, 0.0), text, size=points, prop=FontProperties()).get_extents()
    return box.width, box.height


def name_lines(axes: Axes, names: Mapping[float, str], height: float = 0.0) -> None:
    """Write names beside upright lines, at a share of their height, or higher if they touch."""
    size = letters("x-small")
    per_point = axes.figure.dpi / 72.0
    frame = axes.get_window_extent()
    taken: list[Bbox] = []
    for x, name in sorted(names.items()):
        width, tall = (per_point * length for length in _size_in_points(name, size))
        left = float(axes.transData.transform((x, 0.0))[0]) + 2.0 * per_point
        # On the other side of the line where the frame ends.
        side = "left" if left + width <= frame.x1 else "right"
        left -= 0.0 if side == "left" else width + 4.0 * per_point
        foot = frame.y0 + height * frame.height + 3.0 * per_point
        box = Bbox.from_bounds(left, foot, width, tall)
        while box.count_overlaps(taken):
            box = box.translated(0.0, tall + 2.0 * per_point)
        taken.append(box)
        offset = 2.0 if side == "left" else -2.0, (box.y0 - frame.y0) / per_point
        axes.annotate(
            name,
            (x, 0.0),
            offset,
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            fontsize=size,
            ha=side,
        )


def thin_out(
    ticks: Float64Array, labels: Iterable[str], ranks: Sequence[float], axis: Any, *, gap: float
) -> Float64Array:
    """Leave out ticks whose labels would be nearer than `gap` times the size of their letters.

    Of two, that of the higher rank goes.
    """
    axes: Axes = axis.axes
    is_x = axis.axis_name == "x"
    points = float(axis.get_major_ticks(1)[0].label1.get_fontsize())
    per_point = axes.figure.dpi / 72.0
    pixels = np.array([_size_in_points(text, points)[0 if is_x else 1] for text in labels])
    half = ((pixels / 2.0 + gap / 2.0 * points) * per_point).tolist()
    centres = axes.transData.transform(
        np.stack((ticks, np.full(ticks.size, axes.get_ylim()[0])), 1)
        if is_x
        else np.stack((np.full(ticks.size, axes.get_xlim()[0]), ticks), 1)
    )[:, 0 if is_x else 1].tolist()
    kept: list[int] = []
    for i in np.argsort(ranks, kind="stable").tolist():
        if all(abs(centres[i] - centres[j]) >= half[i] + half[j] for j in kept):
            kept.append(i)
    return ticks[sorted(kept)]
