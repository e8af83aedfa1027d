"""What all plots are: an Axes with the lines of systems, their names, a legend, a file."""

from __future__ import annotations

import inspect
import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import is_color_like
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.text import Text as Label
from matplotlib.transforms import ScaledTranslation
from matplotlib.typing import ColorType, LegendLocType

from bosaris_py._arrays import BoolArray, Float64Array
from bosaris_py._notes import Note, warn
from bosaris_py._validation import FilePath, as_path, describe, invalid, safe
from bosaris_py.errors import BosarisWarning, InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.rows import pooled
from bosaris_py.files.replacing import replacing
from bosaris_py.plots import looks
from bosaris_py.plots.looks import Settings
from bosaris_py.plots.systems import PROPERTIES, Chosen
from bosaris_py.trials.conditions import ConditionsLike, as_conditions
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores, check_scores

# A title, a style or a legend entry, which need not be given.
Text: TypeAlias = str | None
Keywords: TypeAlias = Mapping[str, object]

NO_KEYWORDS: Keywords = MappingProxyType({})
# What a format string decides, by naming it or by leaving it out.
_STYLED = ("color", "linestyle", "marker")
_COLOUR_LETTERS = frozenset("bgrcmykwC")

# More names at the ends of curves cannot be read.
_MOST_NAMED = 24
_CORNERS: tuple[LegendLocType, ...] = (
    "upper right",
    "lower left",
    "upper left",
    "lower right",
    "center right",
    "upper center",
    "lower center",
)


def check_text(value: object, name: str) -> None:
    """Raise unless a text is one, or not given."""
    if not (value is None or isinstance(value, str)):
        raise invalid(name, "be a string", describe(value))


class Plot:
    """A plot on one Axes: what each function that draws returns. A notebook shows it.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where it draws; None for a new figure.
    size : (float, float)
        Width and height of a new figure in inches.
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
    >>> plot.ax.get_xlabel()
    'log10 likelihood-ratio'
    """

    _word: ClassVar[str] = "Plot"
    # Default properties of the lines, by kind. A kind with a marker is a point.
    _looks: ClassVar[Mapping[str, Settings]] = {}
    # Kinds of curves, the first of which names a system.
    _curves_of_systems: ClassVar[tuple[str, ...]] = ()
    # Whether curves end apart, so that their names stand there.
    _named_at_ends: ClassVar[bool] = False

    def __init__(self, ax: Axes | None, size: tuple[float, float], title: Text = None) -> None:
        check_text(title, "title")
        # Whether the figure may become wider, and higher, for names and legends.
        self._widens = ax is None and not looks.has_own_width()
        self._lengthens = ax is None
        self.ax = looks.make_axes(ax, size)
        self.artists: dict[str, list[Artist]] = {}
        # Names number the colours; lines of systems with a label, by name.
        self._names: list[str] = []
        self._entries: dict[Line2D, str] = {}
        self._obstacles: list[Artist] = []
        self._chosen_looks: dict[str, Settings] = {}
        self._grey: frozenset[str] = frozenset()
        self._notes: list[str] = []
        self._results: Results | None = None
        self._name, self._number = "", 0
        self.ax.grid(visible=True, linewidth=0.6, alpha=0.6)
        self.ax.set_axisbelow(True)
        if title is not None:
            self.ax.set_title(looks.as_written(safe(title, 200)))

    @property
    def figure(self) -> Figure:
        """The figure that the Axes belongs to."""
        # An Axes may lie in a subfigure; the figure of that is the whole one.
        figure: Figure = self.ax.figure.figure
        return figure

    def _repr_png_(self) -> bytes:
        """Return the picture that a notebook shows."""
        return looks.png(self.figure)

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
            The file: .pdf, .png or .svg. It replaces an older one when it is complete.
        dpi : float, default: 200
            Dots per inch of a PNG.

        Raises
        ------
        OSError
            If the file cannot be written.

        Notes
        -----
        The same plot gives the same file, byte for byte, with the same version of matplotlib.
        """
        extension = as_path(path).suffix.lower()
        if extension not in looks.METADATA:
            known = ", ".join(looks.METADATA)
            raise invalid("path", f"end in one of {known}", describe(str(path)))
        with replacing(path) as temporary:
            # In memory first: on a full disk matplotlib's PDF ends in an AttributeError.
            temporary.write_bytes(looks.picture(self.figure, extension, dpi))

    def __repr__(self) -> str:
        """Say how many lines and bands were drawn, and of how many systems."""
        counts = {"line": 0, "band": 0, "system": len(self._names)}
        for kind, artists in self.artists.items():
            counts["band" if kind == "band" else "line"] += len(artists)
        words = {noun: f"{n} {noun}{'s' * (n != 1)}" for noun, n in counts.items()}
        bands = f", {words['band']}" if counts["band"] else ""
        return f"{self._word}: {words['line']}{bands} of {words['system']}"

    # ---- Systems

    def _each_of(self, chosen: Chosen) -> Iterator[tuple[str, Results]]:
        """Yield each system when it is the current one."""
        self._names = [name for name in chosen.given if name]
        self._chosen_looks, self._grey = chosen.looks, chosen.grey
        for name, results in chosen.results.items():
            self._set_system(results, name)
            yield name, results
        if count := len(self._grey):
            pale = {"color": looks.pale_colour(self.ax), "linewidth": 0.8}
            self._key("others", f"{count} other{'s' * (count > 1)}", pale)

    def _set_system(self, results: Results, name: str = "") -> None:
        """Choose the system that is drawn from now on."""
        given: object = results
        if not isinstance(given, Results):
            hint = "Use set_system for arrays of scores."
            raise invalid("results", "be a Results object", describe(given), hint)
        check_text(name, "name")
        if name.startswith("_"):
            hint = "Matplotlib leaves such labels out of legends."
            raise invalid("name", "not begin with an underscore", describe(name), hint)
        # Systems without a name are never the same system.
        if not (name and name in self._names):
            self._names.append(name)
        self._name, self._results = name, results
        self._number = self._names.index(name) if name else len(self._names) - 1

    def _system(self) -> Results:
        if self._results is None:
            message = "This plot has no system to draw. Call set_system(tar, non, name) first."
            raise InvalidInputError(message)
        return self._results

    @property
    def _is_grey(self) -> bool:
        """Whether the current system does not stand out."""
        return self._name in self._grey

    @property
    def _colour(self) -> ColorType:
        """The colour of the current system."""
        own = looks.system_look(self._number, self.ax) | self._chosen_looks.get(self._name, {})
        colour: ColorType = own["color"]
        return colour

    def _say(self, note: str) -> None:
        """Add a note below the horizontal axis, once, with the name of the system."""
        said = f"{safe(self._name)}: {note}" if self._name else note
        if not self._is_grey and said not in self._notes:
            self._notes.append(said)

    def _say_infinite(self, what: str = "") -> None:
        """Say how many scores of the current system are infinite, if any are."""
        sample = self._system().sample
        if sample.in_files:
            return
        classes = {"target": sample.tar.listed, "non-target": sample.non.listed}
        found = [
            f"{count} {noun}{'s' * (count > 1)} at {sign}inf"
            for noun, scores in classes.items()
            for sign, infinity in (("-", -np.inf), ("+", np.inf))
            if (count := int((scores == infinity).sum()))
        ]
        if found:
            self._say(f"{', '.join(found)}{what}")

    # ---- Lines

    def _look_of(self, kind: str) -> Settings:
        """Return the properties of a line of the current system."""
        default = self._looks.get(kind, {})
        if self._is_grey:
            return {"color": looks.pale_colour(self.ax), "linewidth": 0.8, "zorder": 1.6}
        wanted = self._chosen_looks.get(self._name, {})
        allowed = {*(PROPERTIES[:3] if "marker" in default else PROPERTIES)}
        # The strokes of a kind tell it from others.
        allowed -= {"linestyle"} & {*default}
        own = {name: value for name, value in wanted.items() if name in allowed}
        return looks.system_look(self._number, self.ax) | default | own

    def _label(self, label: Text, kind: str) -> str:
        """Return the legend entry of a line of the current system, after its name."""
        check_text(label, "label")
        if label is None:
            # The first curve of a system names it.
            named = self._name in self._entries.values() or kind not in self._curves_of_systems
            label = "_" if named else ""
        hidden = self._is_grey or label.startswith("_")
        return (not hidden and looks.as_name(self._name, label)) or "_nolegend_"

    def _line(
        self,
        kind: str,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        style: Text = None,
        label: Text = None,
        keywords: Keywords = NO_KEYWORDS,
        *,
        own: bool = True,
    ) -> Axes:
        """Draw a line or point of the current system; or one of none, in the colour of text."""
        check_text(style, "style")
        wanted = looks.checked(keywords, Line2D)
        default = self._looks.get(kind, {})
        marker = default.get("marker")
        if own and self._is_grey and marker is not None and kind not in self._curves_of_systems:
            return self.ax
        entry = self._label(label, kind) if own else label or "_nolegend_"
        settings = self._look_of(kind) if own else {"color": looks.text_colour(), **default}
        paper = self.ax.get_facecolor()
        if marker is not None and kind not in self._curves_of_systems:
            # Points stand out from lines of their own colour; hollow ones show no line within.
            edge = {} if "markerfacecolor" in settings else {"markeredgecolor": paper}
            settings = {"markeredgewidth": 0.7} | edge | settings | {"linestyle": "none"}
            if settings.get("markerfacecolor") == "none":
                settings |= {"markerfacecolor": paper, "markeredgewidth": 1.1}
        styles = () if style is None else (style,)
        if style is not None:
            # Matplotlib would let properties win over the format string.
            named = not _COLOUR_LETTERS.isdisjoint(style) or is_color_like(style)
            kept = {"color": settings["color"]} if not named else {}
            dropped = (*_STYLED, "markeredgecolor", "markerfacecolor", "markeredgewidth")
            settings = {k: v for k, v in settings.items() if k not in dropped} | kept
        settings = looks.scaled(settings) | wanted | {"label": entry}
        try:
            (line,) = self.ax.plot(np.atleast_1d(x), np.atleast_1d(y), *styles, **settings)
        except ValueError as error:
            if style is None:
                raise
            expected = "be a matplotlib format string such as 'r--'"
            hint = "A legend entry is given as label=..."
            raise invalid("style", expected, describe(style), hint) from error
        if marker is not None and line.get_marker() in (None, "None", ""):
            # A style that names only a colour means a line to matplotlib; a point needs a marker.
            line.set(marker=marker, linestyle="none")
        self.artists.setdefault(kind, []).append(line)
        if own:
            self._obstacles.append(line)
            if entry != "_nolegend_":
                self._entries[line] = self._name
        return self.ax

    def _key(self, kind: str, text: str, keywords: Keywords = NO_KEYWORDS) -> None:
        """Explain a kind of lines or marks in the legend, once."""
        if not any(line.get_label() == text for line in self.ax.lines):
            self._line(kind, [], [], None, text, keywords, own=False)

    def _band(
        self,
        ends: tuple[Float64Array, Float64Array],
        x: npt.ArrayLike,
        where: BoolArray,
        label: Text = "_nolegend_",
        keywords: Keywords = NO_KEYWORDS,
    ) -> Axes:
        """Shade what lies between the ends of a band, where enough errors are left."""
        self._system()
        wanted = looks.checked(keywords, PolyCollection)
        entry = self._label(label, "band")
        if not self._is_grey:
            # Below all lines; without an edge, which would look like a curve.
            settings: Settings = {"facecolor": self._colour, "alpha": 0.2, "linewidth": 0.0}
            settings |= wanted
            area = self.ax.fill_between(x, *ends, where=where, label=entry, **settings)
            self.artists.setdefault("band", []).append(area)
        return self.ax

    # ---- Legends

    @property
    def _has_room(self) -> bool:
        """Whether a layout makes room beside the Axes; many panels would lose theirs."""
        return self.figure.get_layout_engine() is not None and len(self.figure.axes) <= 2

    def _finish(self, *, legend: bool | str = True) -> None:
        """Write the notes; name the curves at their ends, and the rest in a legend."""
        if self._notes:
            looks.write_below(self.ax, self._notes)
        handles, labels = self.ax.get_legend_handles_labels()
        at_ends = self._named_at_ends and self._has_room and len(self._entries) <= _MOST_NAMED
        if legend is True and at_ends:
            self._label_ends({})
            handles = [handle for handle in handles if handle not in self._entries]
            labels = [str(handle.get_label()) for handle in handles]
        if legend and handles:
            self._add_legend(handles, labels, {}, "" if legend is True else str(legend))

    @looks.one_at_a_time
    def display_legend(self, **legend_keywords: object) -> Axes:
        """Add a legend of all lines with a label, also of those drawn by others; call it last.

        It lies where it covers no curve: in a corner, or beside the Axes, or below it in a figure
        of given width.

        Parameters
        ----------
        **legend_keywords
            Passed to matplotlib's ``Axes.legend``; ``loc`` says where it lies.

        Returns
        -------
        matplotlib.axes.Axes

        Warns
        -----
        BosarisWarning
            If no line has a label, so that there is no legend.
        """
        known = inspect.signature(Legend).parameters
        for name, value in legend_keywords.items():
            if name not in known:
                raise invalid(name, "be an option of a legend", f"{name}={describe(value)}")
        handles, labels = self.ax.get_legend_handles_labels()
        if handles:
            self._add_legend(handles, labels, legend_keywords, "")
        else:
            message = "Nothing was drawn with a label, so there is no legend."
            advice = 'Give the plot_* methods a label; "" shows the name of the system alone.'
            warn([Note(BosarisWarning, message, advice=advice)])
        return self.ax

    def _add_legend(
        self, handles: Sequence[Artist], labels: Sequence[str], keywords: Keywords, place: str
    ) -> None:
        """Put a legend where it covers no line: in a corner, else beside or below the Axes."""
        settings: Settings = {"fontsize": looks.letters("small"), "borderaxespad": 0.9}
        settings |= keywords
        if "loc" in keywords:
            self.ax.legend(handles, labels, **settings)
            return
        # Only a layout tells how large the Axes is.
        self.figure.draw_without_rendering()
        frame = self.ax.get_window_extent()
        # Below all that is written below the axis.
        depth = (frame.y0 - self.ax.get_tightbbox().y0) / self.figure.dpi  # type: ignore[union-attr]
        legend = self.ax.legend(handles, labels, loc="upper right", **settings)
        if not place:
            for corner in _CORNERS:
                legend.set_loc(corner)
                box = legend.get_window_extent()
                fits = box.width < 0.7 * frame.width and box.height < 0.7 * frame.height
                texts = [text.get_window_extent() for text in self.ax.texts]
                free = fits and not box.count_overlaps(texts)
                if free and not looks.covers(box.padded(0.01 * frame.width), self._obstacles):
                    return
            if not self._has_room:
                legend.set_loc("best")
                return
        size, dpi = self.figure.get_size_inches(), self.figure.dpi
        if place == "beside" or (not place and self._widens):
            settings |= {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0}
            per_row = 1.5 * settings["fontsize"] / 72.0
            settings["ncols"] = math.ceil(len(handles) * per_row / (0.9 * size[1]))
            legend = self.ax.legend(handles, labels, **settings)
            if self._widens:
                size[0] += legend.get_window_extent().width / dpi + 0.2
        else:
            lower = ScaledTranslation(0.0, -depth, self.figure.dpi_scale_trans)
            settings |= {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "frameon": False}
            settings["bbox_transform"] = self.ax.transAxes + lower
            for ncols in range(min(len(handles), 4), 0, -1):
                legend = self.ax.legend(handles, labels, **settings, ncols=ncols)
                box = legend.get_window_extent()
                if box.width <= 0.95 * dpi * size[0]:
                    break
            if self._lengthens:
                size[1] += box.height / dpi + 0.3
        self.figure.set_size_inches(*size.tolist())

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
        self._label_ends(looks.checked(text_keywords, Label))
        return self.ax

    def _label_ends(self, wanted: Settings) -> None:
        curves: dict[str, list[Line2D]] = {}
        for number, (line, name) in enumerate(self._entries.items()):
            curves.setdefault(name or f"{number}", []).append(line)
        settings: Settings = {"fontsize": looks.letters("small"), "va": "center"}
        settings |= {"xycoords": "axes fraction", "annotation_clip": False}
        most, notes = 30 if self._widens or not self._lengthens else 16, []
        for name, lines in curves.items():
            # Of several curves of a system, all that is said is its name.
            label = looks.as_name(name) if len(lines) > 1 else str(lines[0].get_label())
            colour, dash = lines[0].get_color(), lines[0].get_linestyle()
            stroke = {"arrowstyle": "-", "linewidth": 0.6, "linestyle": dash, "color": colour}
            shown = settings | {"color": colour, "arrowprops": stroke | {"relpos": (0, 0.5)}}
            # What is in brackets has a line of its own, where there is no room for both.
            parts = label.replace(" (", "\n(").split("\n") if len(label) > most else [label]
            text = "\n".join(textwrap.fill(part, most) for part in parts)
            note = self.ax.annotate(text, (1, 0), (1.04, 0.5), **(shown | wanted))
            notes.append((lines[0], note))
        if self._widens and notes:
            widest = max(Label.get_window_extent(note).width for _, note in notes)
            width, height = self.figure.get_size_inches()
            self.figure.set_size_inches(width + widest / self.figure.dpi + 0.1, height)
        # Places are known only after a layout, in which the names take their room.
        self.figure.draw_without_rendering()
        frame, to_axes = self.ax.get_window_extent(), self.ax.transAxes.inverted()
        ends = []
        for line, note in notes:
            points = self.ax.transData.transform(line.get_xydata())
            seen = points[[frame.contains(x, y) for x, y in points]]
            note.set_visible(bool(seen.size))
            if seen.size:
                note.xy = tuple(to_axes.transform(seen[seen[:, 0].argmax()]).tolist())
                ends.append(note)
        # Of curves that leave below, the first one has the highest name: strokes do not cross.
        ends.sort(key=lambda note: (round(note.xy[1], 2), -note.xy[0]))
        sizes = [1.1 * Label.get_window_extent(note).height / frame.height for note in ends]
        heights = looks.spread([note.xy[1] for note in ends], sizes)
        for note, height in zip(ends, heights, strict=True):
            note.set_position((1.04, height))


class ErrorRatePlot(Plot, ABC):
    """Base of DET and Bayes plots: systems are set, then drawn line by line."""

    # Legend entries of the marks of 30 false alarms and of 30 misses.
    _dr30_labels: ClassVar[tuple[str, str]]
    _named_at_ends = True

    def set_system(self, tar: npt.ArrayLike, non: npt.ArrayLike, name: str = "") -> None:
        """Choose the system that is drawn from now on, by its scores.

        Parameters
        ----------
        tar, non : (n_tar,) and (n_non,) array_like of float
            Scores of targets and of non-targets; no NaN, +-inf allowed.
        name : str, default: ""
            Comes first in all legend entries of the system.

        Notes
        -----
        What was drawn before stays. Each system has the next colour; a name that was set before
        keeps its own. A property cycle that you have set in matplotlib gives the colours.
        """
        self._set_system(Results(tar, non), name)

    def set_system_from_scores(
        self, scores: Scores, key: Key, name: str = "", *, conditions: ConditionsLike = None
    ) -> None:
        """Choose the system that is drawn from now on, by its scores of the trials in a key.

        Parameters
        ----------
        scores, key
            As for `Results.from_scores`, errors and warnings included.
        name : str, default: ""
            As in `set_system`.
        conditions : str, list of str or Conditions, optional
            Draw the curves of the weighted means of the conditions' error-rates.
        """
        self._set_system(Results.from_scores(scores, key, conditions), name)

    def set_system_from_results(self, results: Results, name: str = "") -> None:
        """Choose the system that is drawn from now on, by its results.

        Parameters
        ----------
        results : Results
            The system's results, possibly of weighted trials.
        name : str, default: ""
            As in `set_system`.
        """
        self._set_system(results, name)

    def plot_conditions(
        self,
        scores: Scores,
        key: Key,
        conditions: ConditionsLike,
        name: str = "",
        **keywords: object,
    ) -> Axes:
        """Draw each condition, its trials pooled with the others', and the equalised ones.

        Equalised conditions: thick, in the colour of text. Pooled trials: dashed. Single
        conditions: thin and coloured. Legend entries name them.

        Parameters
        ----------
        scores, key
            As in `set_system_from_scores`, errors and warnings included.
        conditions : str, list of str or Conditions
            Columns of the key, which are crossed, or the conditions and their weights.
        name : str, default: ""
            As in `set_system`, for the pooled and the equalised curve.
        **keywords
            Matplotlib's line properties, for all curves.

        Returns
        -------
        matplotlib.axes.Axes

        Warns
        -----
        BosarisWarning
            If conditions have trials of one class only: no curve, but a part in the equalised
            one; or if a curve lies outside of the axes.

        Notes
        -----
        Figures 1 and 2 of van Leeuwen 2008, see `bosaris_py.Conditions`. The equalised system is
        the current one afterwards. `evaluate` has the numbers.
        """
        wanted = looks.checked(keywords, Line2D)
        check_scores(scores)
        key = as_key(key)
        given = as_conditions(conditions, key)
        if given is None:
            raise invalid("conditions", "be named", "None")
        sample = Sample.from_trials(scores, key)
        members, lacking = given.noted_members(scores, key)
        # One class alone has no curve; the mixture takes its rate of the other from the rest.
        curves = [
            (item.name, "", sample.take(item.tar, item.non), {"linewidth": 0.9})
            for item in members
            if item.tar.size and item.non.size
        ]
        ink: Settings = {"color": looks.text_colour()}
        dashed = ink | {"linestyle": (0, (4, 2)), "linewidth": 1.4}
        curves.append((name, "pooled", pooled(sample, members), dashed))
        curves.append((name, "equalised", sample.weighted(members), ink | {"linewidth": 2.2}))
        notes = [*sample.notes, *lacking]
        for system, label, part, look in curves:
            self._set_system(Results.from_sample(part), system)
            notes += self._curve(None, label, look | wanted)
        warn(notes)
        return self.ax

    def plot_DR30_fa(self, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        """Mark where there are 30 false alarms: to the left of the mark there are too few.

        The rule of 30, see `bosaris_py.uncertainty.rule_of_30`. A DET plot gets a vertical line, a
        Bayes plot a mark on the minimum curve.

        Parameters
        ----------
        style, label, **keywords
            As in `DETPlot.plot_steppy_det`, with the same warning of a mark that is not in view;
            by default without a legend entry.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        A mark that is not in view is not drawn. The toolkit marks an end of Bayes plots instead.
        """
        warn(self._mark_30_errors("DR30_fa", style, label, keywords))
        return self.ax

    def plot_DR30_miss(self, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        """Mark where there are 30 misses: below the line of a DET plot there are too few.

        On a Bayes plot there are too few to the right of the mark.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_DR30_fa`, with the same warning.

        Returns
        -------
        matplotlib.axes.Axes
        """
        warn(self._mark_30_errors("DR30_miss", style, label, keywords))
        return self.ax

    def plot_DR30_both(
        self, style_fa: str | None = None, style_miss: str | None = None, **keywords: object
    ) -> Axes:
        """Draw both marks of Doddington's rule of 30, with legend entries.

        Parameters
        ----------
        style_fa, style_miss : str, optional
            Format strings of the marks of false alarms and of misses.
        **keywords
            Matplotlib's line properties, for both.

        Returns
        -------
        matplotlib.axes.Axes
        """
        fa_label, miss_label = self._dr30_labels
        self.plot_DR30_fa(style_fa, fa_label, **keywords)
        return self.plot_DR30_miss(style_miss, miss_label, **keywords)

    def _say_no_error(self) -> None:
        """Say which rates are possible where the current system makes no error."""
        results = self._system()
        # The rate that no error in n trials allows: (1 - rate)^n = 0.05.
        pmiss, pfa = (100.0 * (1.0 - 0.05 ** (1.0 / n)) for n in (results.n_tar, results.n_non))
        self._say(
            f"no error in {results.n_tar} targets and {results.n_non} non-targets. The true rates "
            f"are below {pmiss:.2g} % of misses and {pfa:.2g} % of false alarms "
            "(95 % each, independent trials)."
        )

    @abstractmethod
    def _curve(self, style: Text, label: Text, keywords: Keywords) -> list[Note]:
        """Draw the main curve of the current system."""

    @abstractmethod
    def _mark_30_errors(
        self, kind: str, style: Text, label: Text, keywords: Keywords
    ) -> list[Note]:
        """Mark where there are 30 errors of a kind, "DR30_fa" or "DR30_miss"."""


def outside(what: str, value: float, limits: tuple[float, float], artist: str) -> list[Note]:
    """Say, in the toolkit's words, that a value lies outside of an axis, if it does."""
    low, high = limits
    if low <= value <= high:
        return []
    text = f"{what} of {value:f} is not between {low:f} and {high:f}. {artist} will not be plotted."
    return [Note(BosarisWarning, text)]
