"""What all plots are: an Axes with its artists, a legend or names at curves, a file, a notebook."""

from __future__ import annotations

import inspect
import io
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from bosaris_py._notes import warn_caller
from bosaris_py._validation import FilePath, as_path, describe, invalid, safe
from bosaris_py.errors import BosarisWarning
from bosaris_py.files.replacing import replacing
from bosaris_py.plots import looks
from bosaris_py.plots.looks import Settings

# A title, a style or a legend entry, which need not be given.
Text: TypeAlias = str | None


class Entry(NamedTuple):
    """What a legend says of a line: its system, the rest of its label, and its kind."""

    name: str
    text: str
    kind: str
    # Whether it looks as all lines of its system and of its kind do.
    plain: bool


class Drawn(NamedTuple):
    """What several plots on one Axes must agree on."""

    names: list[str]
    entries: dict[Artist, Entry]
    # Rates that show 30 errors, and limits of a DET or Bayes plot, by kind.
    rates: dict[str, set[float]]
    limits: Settings
    # Of systems; a legend must not cover them.
    lines: list[Any]
    # Looks that the caller wants, by system, and the systems that are grey.
    looks: dict[str, Settings]
    others: set[str]
    # What the picture says below its axis.
    notes: list[str]


class Plot:
    """A plot on one Axes: what each function that draws returns.

    Whatever is not named here is asked of the Axes: ``plot.set_xlim(-5, 5)``, ``plot.get_title()``.
    A plot is also taken where an Axes is, such as ``ax=plot``.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where it draws.
    title : str, optional
        Title of the plot.

    Attributes
    ----------
    ax : matplotlib.axes.Axes
        The one given, or the new one.
    artists : dict of str to list of Artist
        Lines and bands drawn so far, in order, by kind.

    See Also
    --------
    bosaris_py.DETPlot, bosaris_py.BayesPlot : Plots that are drawn line by line.

    Examples
    --------
    >>> from bosaris_py.plots import plot_tippett
    >>> plot = plot_tippett({"A": ([1.0, 3.0, -0.5], [-2.0, 0.5, -1.0])})
    >>> plot
    Plot: 5 lines of 1 system
    >>> plot.get_xlabel()
    'log10 likelihood-ratio'
    """

    # Default properties of the lines, by kind. A kind with a marker is a point.
    _looks: ClassVar[dict[str, Settings]] = {}
    # Kinds of curves, the first of which names a system in the legend.
    _curves_of_systems: ClassVar[tuple[str, ...]] = ()
    # Whether the vertical axis may be longer, with room for a legend above the curves.
    _has_headroom = False

    def __init_subclass__(cls) -> None:
        """Let one thread draw at a time, by whatever method."""
        for name, method in [*vars(cls).items()]:
            if inspect.isfunction(method):
                setattr(cls, name, looks.one_at_a_time(method))

    def __init__(self, ax: Axes, title: Text = None) -> None:
        self.ax = ax
        self.artists: dict[str, list[Artist]] = {}
        # Kept with the Axes, so that a second plot there goes on where the first one stopped.
        empty = Drawn([], {}, {}, {}, [], {}, set(), [])
        self._drawn: Drawn = vars(ax).setdefault("_bosaris_drawn", empty)
        if title is not None:
            ax.set_title(looks.as_written(safe(title, 200)))

    @property
    def figure(self) -> Figure:
        """The figure that the Axes belongs to."""
        # An Axes may lie in a subfigure; the figure of that is the whole one.
        figure: Figure = self.ax.figure.figure
        return figure

    @looks.one_at_a_time
    def _repr_png_(self) -> bytes:
        """Return the picture that a notebook shows."""
        return looks.png(self.figure)

    @looks.one_at_a_time
    def _repr_svg_(self) -> str:
        """Return the same picture, as sharp as the screen."""
        return looks.picture(self.figure, ".svg", 72.0).decode()

    def show(self) -> None:
        """Show the picture now: in a notebook below the cell, elsewhere in a window of pyplot.

        A plot that is the last expression of a cell needs no call.
        """
        looks.show(self.figure)

    def save(self, path: FilePath, *, dpi: float = 200.0) -> None:
        """Write the figure to a file, in the format that the extension names.

        Parameters
        ----------
        path : str or path-like
            The file: .pdf, .png, .svg or .eps. It replaces an older one when it is complete.
        dpi : float, default: 200
            Dots per inch of a PNG.

        Raises
        ------
        OSError
            If the file cannot be written.

        Notes
        -----
        The same plot gives the same file, byte for byte, with the same version of matplotlib.
        EPS has no transparency; shaded areas get the colours that they have on the background.
        """
        extension = as_path(path).suffix.lower()
        if extension not in looks.METADATA:
            known = ", ".join(looks.METADATA)
            raise invalid("path", f"end in one of {known}", describe(str(path)))
        with replacing(path) as temporary:
            # In memory first: on a full disk matplotlib's PDF ends in an AttributeError.
            picture = io.BytesIO()
            looks.write(self.figure, picture, extension, dpi)
            temporary.write_bytes(picture.getvalue())

    def __getattr__(self, name: str) -> Any:
        """Ask the Axes."""
        # Copies and protocols ask for private names before there is an Axes.
        if name.startswith("_") or name == "ax" or not hasattr(self.ax, name):
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        return getattr(self.ax, name)

    def __dir__(self) -> list[str]:
        """List what is named here, without what the Axes has."""
        return sorted({*super().__dir__()})

    def __repr__(self) -> str:
        """Say how many lines and bands were drawn."""
        count = len(self._drawn.names)
        systems = f" of {count} {'system' if count == 1 else 'systems'}" if count else ""
        return f"Plot: {self._counts()}{systems}"

    def _counts(self) -> str:
        n_bands = len(self.artists.get("band", ()))
        n_lines = sum(len(artists) for artists in self.artists.values()) - n_bands
        bands = f", {n_bands} {'band' if n_bands == 1 else 'bands'}" if n_bands else ""
        return f"{n_lines} lines{bands}"

    def _look_of(self, name: str) -> looks.SystemLook:
        """Return the look of a system that was named before."""
        if name in self._drawn.others:
            return looks.SystemLook(looks.pale_colour(self.ax), "-", {}, {})
        look = looks.system_look(self._drawn.names.index(name), self.ax)
        return look.changed(self._drawn.looks.get(name, {}))

    def _say(self, note: str) -> None:
        """Write a note below the horizontal axis, once."""
        notes = self._drawn.notes
        if note not in notes:
            notes.append(note)
            looks.write_below(self.ax, notes)

    def _finish(self, *, legend: bool | str = True) -> Self:
        """Add a legend as `Styling` says, unless there is nothing to tell apart."""
        if legend == "direct":
            self.label_curves()
        elif legend is not False and self.ax.get_legend_handles_labels()[0]:
            self._add_legend("" if legend is True else str(legend), {})
        return self

    @looks.one_at_a_time
    def display_legend(self, **legend_keywords: object) -> Axes:
        """Add a legend of all lines with a label, also of those drawn by others; call it last.

        Where shorter, colours are listed by system and line styles by what they show. With more
        than eight entries, or where it would cover curves, it lies beside the Axes; `save` and
        notebooks widen the picture. In a `style` for print it lies below, and the width is kept.

        Parameters
        ----------
        **legend_keywords
            Passed to matplotlib's ``Axes.legend``; by default it lies where it covers least.

        Returns
        -------
        matplotlib.axes.Axes

        Warns
        -----
        BosarisWarning
            If no line has a label, so that there is no legend.
        """
        return self._add_legend("", legend_keywords)

    def _add_legend(self, place: str, keywords: Settings) -> Axes:
        """Add a legend: "below" or "beside" the Axes, or where there is room."""
        handles, labels = self._two_keys(*self.ax.get_legend_handles_labels())
        if handles:
            options = handles, labels, self._drawn.lines, keywords
            looks.add_legend(self.ax, *options, headroom=self._has_headroom, place=place)
        else:
            message = (
                "Nothing was drawn with a label, so there is no legend. Give the plot_* methods a "
                'label; "" shows the name of the system alone.'
            )
            warn_caller(message, BosarisWarning)
        return self.ax

    @looks.one_at_a_time
    def label_curves(self, **text_keywords: object) -> Axes:
        """Name the curves at their right ends, instead of a legend; call it last.

        Parameters
        ----------
        **text_keywords
            Matplotlib's text properties.

        Returns
        -------
        matplotlib.axes.Axes
        """
        curves: Settings = {}
        for line, entry in self._drawn.entries.items():
            if isinstance(line, Line2D) and entry.kind in self._curves_of_systems:
                text = looks.as_name(entry.name, entry.text)
                curves.setdefault(entry.name or text, []).append((text, line))
        settings: Settings = {"fontsize": looks.letters("small"), "va": "center"}
        settings |= text_keywords
        places: Settings = {"xycoords": "axes fraction", "annotation_clip": False}
        notes = []
        for name, lines in curves.items():
            # One curve of each system; of several, all that the name says is the system.
            (text, line), colour = lines[0], lines[0][1].get_color()
            stroke = {"arrowstyle": "-", "linewidth": 0.7, "linestyle": line.get_linestyle()}
            places["arrowprops"] = stroke | {"color": colour, "relpos": (0, 0.5)}
            shown = {"color": colour} | settings
            label = looks.as_name(name) if len(lines) > 1 else text
            notes.append((line, self.ax.annotate(label, (1, 0), (1.04, 0.5), **places, **shown)))
        # Places are known only after a layout, in which the names take their room.
        self.figure.draw_without_rendering()
        frame = self.ax.get_window_extent()
        to_axes = self.ax.transAxes.inverted()
        ends = []
        for line, note in notes:
            points = self.ax.transData.transform(line.get_xydata())
            seen = points[[frame.contains(x, y) for x, y in points]]
            note.set_visible(bool(seen.size))
            if seen.size:
                x, y = to_axes.transform(seen[seen[:, 0].argmax()]).tolist()
                note.xy = x, y
                ends.append(note)
        # Of curves that leave below, the first one has the highest name: strokes do not cross.
        ends.sort(key=lambda note: (round(note.xy[1], 2), -note.xy[0]))
        gap = 1.2 * max((float(note.get_fontsize()) for note in ends), default=0.0) / 72.0
        wanted = [note.xy[1] for note in ends]
        heights = looks.spread(wanted, gap * self.figure.dpi / frame.height)
        for note, height in zip(ends, heights, strict=True):
            note.set_position((1.04, height))
        return self.ax

    def _two_keys(self, handles: list[Artist], labels: list[str]) -> tuple[list[Artist], list[str]]:
        """List systems by their looks and kinds of lines by theirs, if that is shorter."""
        known = self._drawn.entries
        ours = {handle: known[handle] for handle in handles if handle in known}
        names = list(dict.fromkeys(entry.name for entry in ours.values()))
        kinds = {entry.text: entry.kind for entry in ours.values()}
        plain = all(entry.plain and entry.name and entry.text for entry in ours.values())
        if not plain or len(kinds) + len(names) >= len(ours):
            return handles, labels
        keys: dict[str, Artist] = {}
        for name in names:
            look = self._look_of(name)
            settings = {"color": look.colour, "linestyle": look.dash, **look.marker}
            keys[name] = Line2D([], [], **looks.scaled(settings))
        for text, kind in kinds.items():
            settings = {"color": looks.text_colour(), "linestyle": "-"} | self._looks.get(kind, {})
            if "marker" in settings:
                settings["linestyle"] = "none"
            keys[text] = Patch(alpha=0.2, facecolor=looks.text_colour())
            if kind != "band":
                keys[text] = Line2D([], [], **looks.scaled(settings))
        for handle, label in zip(handles, labels, strict=True):
            if handle not in ours:
                keys[label] = handle
        return list(keys.values()), list(keys)
