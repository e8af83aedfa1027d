"""Base class of the plots: an Axes, the system to draw, styles, the legend, the file."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib import cbook
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import is_color_like
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bosaris_py._validation import FilePath, describe, invalid, warn_caller
from bosaris_py.errors import BosarisWarning, InvalidInputError, PlotRangeWarning
from bosaris_py.evaluation import ConditionMixture, Results
from bosaris_py.storage.atomic import atomic_write
from bosaris_py.trials import Conditions
from bosaris_py.trials.conditions import any_of
from bosaris_py.trials.key import AnyKey
from bosaris_py.trials.scores import AnyScores, check_scores, class_scores

LineKeywords: TypeAlias = dict[str, Any]
# A title, a style or a legend entry, which need not be given.
Text: TypeAlias = str | None

# Metadata that leave out the date, so that the same plot is the same file byte for byte.
_METADATA: dict[str, dict[str, None]] = {
    ".pdf": {"CreationDate": None},
    ".png": {},
    ".svg": {"Date": None},
}

# What a format string decides, by naming it or by leaving it out.
_STYLED = ("color", "linestyle", "marker")

# Points get a black edge: they lie on lines of their own colour.
_POINT = {"linestyle": "none", "markeredgecolor": "black", "markeredgewidth": 0.7}

_NO_MARKER = (None, "None", "none", "", " ")

# Line styles of the first, second, third ... time that the colour cycle starts again.
_CYCLE_STYLES: tuple[Any, ...] = ("-", (0, (5, 1, 1, 1)), (0, (1, 1)))

# Legends with more entries are set in smaller letters, else they hide the curves.
_LONG_LEGEND = 8

_COLOUR_LETTERS = frozenset("bgrcmykwC")


def _require(name: str, value: object, kind: type, hint: str = "") -> None:
    if not isinstance(value, kind):
        noun = "string" if kind is str else f"{kind.__name__} object"
        raise invalid(name, f"be a {noun}", describe(value), hint)


class Look(NamedTuple):
    """What the caller of a plot_* method wants a line to look like."""

    style: Text
    label: Text
    keywords: LineKeywords


def make_axes(ax: object, size: tuple[float, float]) -> Axes:
    """Return `ax`, or the Axes of a new figure of `size` inches that pyplot does not know."""
    if ax is None:
        return Figure(figsize=size, layout="constrained").subplots()
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


def is_outside(what: str, value: float, limits: tuple[float, float], artist: str) -> bool:
    """Tell whether a value lies outside of an axis; if so, warn in the toolkit's words."""
    low, high = limits
    if low <= value <= high:
        return False
    message = (
        f"{what} of {value:f} is not between {low:f} and {high:f}. {artist} will not be plotted."
    )
    warn_caller(message, PlotRangeWarning)
    return True


class Canvas(ABC):
    """Base of the plots: draws lines of one system after another on one Axes."""

    # Default properties of the lines, by kind. A kind with a marker is a point.
    _looks: ClassVar[dict[str, LineKeywords]]
    # Legend entries of the marks of 30 false alarms and of 30 misses.
    _dr30_labels: ClassVar[tuple[str, str]]

    def __init__(self, ax: Axes, title: str | None) -> None:
        self.ax = ax
        self.artists: dict[str, list[Artist]] = {}
        self._results: Results | None = None
        self._name = ""
        self._n_systems = 0
        self._colours: dict[str, str] = {}
        ax.grid(visible=True, color="0.85", linewidth=0.6)
        ax.set_axisbelow(True)
        if title is not None:
            ax.set_title(title)

    @property
    def figure(self) -> Figure:
        """The figure that the Axes belongs to."""
        # An Axes may lie in a subfigure; the figure of that is the whole one.
        figure: Figure = self.ax.figure.figure
        return figure

    def __repr__(self) -> str:
        """Say how many lines and bands were drawn and which system is next."""
        n_bands = len(self.artists.get("band", ()))
        n_lines = sum(len(artists) for artists in self.artists.values()) - n_bands
        bands = f", {n_bands} {'band' if n_bands == 1 else 'bands'}" if n_bands else ""
        system = "no system yet" if self._results is None else f"current system {self._name!r}"
        return f"{type(self).__name__}: {n_lines} lines{bands}, {system}"

    def set_system(self, tar: npt.ArrayLike, non: npt.ArrayLike, name: str = "") -> None:
        """Choose the system that is drawn from now on, by its scores.

        Parameters
        ----------
        tar, non : (n_tar,) and (n_non,) array_like of float
            Scores of targets and of non-targets; no NaN, +-inf allowed.
        name : str, default: ""
            Comes first in all legend entries of the system.

        Raises
        ------
        InvalidInputError
            If a class is empty or a score is NaN.

        Notes
        -----
        What was drawn before stays. Each system has the next colour of matplotlib's property
        cycle; a name that was set before keeps its colour.
        """
        self.set_system_from_results(Results(tar, non), name)

    def set_system_from_scores(
        self,
        scores: AnyScores,
        key: AnyKey,
        name: str = "",
        *,
        conditions: Conditions | None = None,
    ) -> None:
        """Choose the system that is drawn from now on, by its scores of the trials in a key.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of at least some of the key's trials.
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        name : str, default: ""
            As in `set_system`.
        conditions : Conditions, optional
            Draw the curves of the weighted means of the conditions' error-rates.

        Raises
        ------
        InvalidInputError
            If no target or no non-target has a score, or one is NaN.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score. They are left out.
        """
        self.set_system_from_results(Results.from_scores(scores, key, conditions), name)

    def set_system_from_results(self, results: Results, name: str = "") -> None:
        """Choose the system that is drawn from now on, by its results.

        Parameters
        ----------
        results : Results
            The system's results, possibly of weighted trials.
        name : str, default: ""
            As in `set_system`.

        Raises
        ------
        InvalidInputError
            If `results` is something else, or `name` begins with an underscore.
        """
        _require("results", results, Results, "Use set_system for arrays of scores.")
        _require("name", name, str)
        if name.startswith("_"):
            expected = "not begin with an underscore"
            hint = "Matplotlib leaves such labels out of legends."
            raise invalid("name", expected, describe(name), hint)
        # Set together and last: bad arguments leave the system of before.
        self._results, self._name = results, name
        # Systems without a name are never the same system.
        self._n_systems += not (name and name in self._colours)
        self._colours.setdefault(name, f"C{self._n_systems - 1}")

    def plot_conditions(
        self,
        scores: AnyScores,
        key: AnyKey,
        conditions: Conditions,
        name: str = "",
        **keywords: Any,
    ) -> Axes:
        """Draw each condition, its trials pooled with the others', and the equalised ones.

        Equalised conditions, each with its weight: thick and black. Pooled trials, in which
        large conditions count more: dashed. Single conditions: thin and coloured, from the
        eleventh on with dashes and dots as well. Legend entries name them.

        Parameters
        ----------
        scores, key
            As in `set_system_from_scores`, errors and warnings included.
        conditions : Conditions
            The conditions and their weights.
        name : str, default: ""
            As in `set_system`, for the pooled and the equalised curve.
        **keywords
            Matplotlib's line properties, for all curves.

        Returns
        -------
        matplotlib.axes.Axes

        Warns
        -----
        ConditionWarning
            If conditions have trials of one class only: no curve, but a part in the equalised
            one. Those of weight 0 have no curve either, and their trials are not pooled.
        PlotRangeWarning
            For each curve that lies outside of the axes.

        Notes
        -----
        Figures 1 and 2 of van Leeuwen [1]_; "equalised" is his condition-weighted analysis. It
        is the current system afterwards, which `plot_mindcf_point` and the like mark. The
        same conditions are the rows of `bosaris_py.evaluation.condition_table`.

        References
        ----------
        .. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker Recognition
           using multiple conditions in an evaluation", 2008.
        """
        check_scores(scores)
        _require("conditions", conditions, Conditions)
        tar, non = class_scores(scores, key)
        members = conditions.scored_members(scores, key)
        mixture = Results.from_evidence(ConditionMixture(tar, non, members))
        # "lw" and "linewidth" are one property; the caller's wins over the ones below.
        keywords = cbook.normalize_kwargs(keywords, Line2D)
        for item in members:
            # One class alone has no curve; the mixture takes its rate of the other from
            # the remaining conditions.
            if item.tar.size and item.non.size:
                self.set_system(tar[item.tar], non[item.non], item.name)
                thin = {"linewidth": 0.9, "linestyle": self._cycle_style()}
                self._plot_curve(**(thin | keywords))
        all_tar = tar[any_of((item.tar for item in members), tar.size)]
        all_non = non[any_of((item.non for item in members), non.size)]
        self.set_system(all_tar, all_non, name)
        dashed = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.4}
        self._plot_curve(label="pooled", **(dashed | keywords))
        # Drawn last: it lies on top, and is the current system from now on.
        self.set_system_from_results(mixture, name)
        thick = {"color": "black", "linewidth": 2.2}
        return self._plot_curve(label="equalised", **(thick | keywords))

    def plot_DR30_fa(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Mark where there are 30 false alarms: to the left of the mark there are too few.

        Doddington's rule of 30: figures that rest on fewer than 30 errors are hardly
        worth comparing. A DET plot has a vertical line there, a Bayes plot a triangle on
        the minimum curve, which points to the safe side.

        Parameters
        ----------
        style : str, optional
            Matplotlib's short format string, such as ``"k*"``. By default dots and dashes, or
            the triangle, in the colour of the system.
        label : str, optional
            Legend entry, which the name of the system precedes; "" gives the name alone.
            By default there is none.
        **keywords
            Matplotlib's line properties.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InvalidInputError
            If no system is set or `style` is not a format string.

        Warns
        -----
        PlotRangeWarning
            If the mark is not in view; it is not drawn. (On a Bayes plot the toolkit would mark
            an end of the axis, however many errors there are.)
        """
        return self._mark_30_errors("DR30_fa", Look(style, label, keywords))

    def plot_DR30_miss(self, style: Text = None, label: Text = None, **keywords: Any) -> Axes:
        """Mark where there are 30 misses: below the line of a DET plot there are too few.

        On a Bayes plot there are too few to the right of the triangle.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_DR30_fa`, with the same warning; by default dots, or the triangle.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._mark_30_errors("DR30_miss", Look(style, label, keywords))

    def plot_DR30_both(
        self, style_fa: Text = None, style_miss: Text = None, **keywords: Any
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

    def display_legend(self, **legend_keywords: Any) -> Axes:
        """Add a legend of all lines with a label, also of those drawn by others; call it last.

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
        handles, labels = self.ax.get_legend_handles_labels()
        if handles:
            # Short handles would not show the dashes that tell curves apart.
            defaults: dict[str, Any] = {"loc": "best", "fontsize": "small", "handlelength": 2.8}
            if len(handles) > _LONG_LEGEND:
                defaults |= {"fontsize": "x-small", "labelspacing": 0.25}
            self.ax.legend(handles, labels, **(defaults | legend_keywords))
        else:
            message = (
                "Nothing was drawn with a label, so there is no legend. Give the plot_* methods a "
                'label; "" shows the name of the system alone.'
            )
            warn_caller(message, BosarisWarning)
        return self.ax

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
        InvalidInputError
            If the extension is another one.
        OSError
            If the file cannot be written.

        Notes
        -----
        The same plot gives the same file, byte for byte, with the same version of matplotlib.
        """
        extension = Path(path).suffix.lower()
        if extension not in _METADATA:
            known = ", ".join(_METADATA)
            raise invalid("path", f"end in one of {known}", describe(str(path)))
        # Without a salt, matplotlib makes up new names for the elements of each SVG file.
        with mpl.rc_context({"svg.hashsalt": "bosaris_py"}), atomic_write(path) as temporary:
            self.figure.savefig(
                temporary, format=extension[1:], dpi=dpi, metadata=_METADATA[extension]
            )

    @abstractmethod
    def _plot_curve(self, label: str = "", **keywords: Any) -> Axes:
        """Draw the main curve of the current system."""

    @abstractmethod
    def _mark_30_errors(self, kind: str, look: Look) -> Axes:
        """Mark where there are 30 errors of a kind, "DR30_fa" or "DR30_miss"."""

    def _system(self) -> Results:
        if self._results is None:
            message = "This plot has no system to draw. Call set_system(tar, non, name) first."
            raise InvalidInputError(message)
        return self._results

    @property
    def _colour(self) -> str:
        """The colour of the current system."""
        return self._colours[self._name] if self._name else f"C{self._n_systems - 1}"

    def _cycle_style(self) -> Any:
        """Return a line style that tells systems apart when colours are used again."""
        # A colour is "C" and a number that runs on past the end of the cycle.
        n_colours = len(mpl.rcParams["axes.prop_cycle"].by_key().get("color", "k"))
        return _CYCLE_STYLES[int(self._colour[1:]) // n_colours % len(_CYCLE_STYLES)]

    def _system_label(self, label: Text) -> Text:
        """Put the name of the current system before a legend entry."""
        return None if label is None else f"{self._name} {label}".strip()

    def _system_band(
        self, band: Any, x: npt.ArrayLike, label: Text, keywords: LineKeywords
    ) -> Axes:
        """Shade what lies between the ends of a band, in the colour of the current system."""
        self._system()
        # Below all lines; without an edge, which would look like a curve.
        settings: LineKeywords = {"facecolor": self._colour, "alpha": 0.2, "linewidth": 0.0}
        settings |= cbook.normalize_kwargs(keywords, PolyCollection)
        settings["label"] = self._system_label(label) or "_nolegend_"
        area = self.ax.fill_between(x, band.low, band.high, **settings)
        self.artists.setdefault("band", []).append(area)
        return self.ax

    def _system_line(self, kind: str, x: npt.ArrayLike, y: npt.ArrayLike, look: Look) -> Axes:
        """Draw a line or point of the current system, in its colour and under its name."""
        look = look._replace(label=self._system_label(look.label))
        return self._line(kind, x, y, look, self._colour)

    def _line(
        self, kind: str, x: npt.ArrayLike, y: npt.ArrayLike, look: Look, colour: Text = None
    ) -> Axes:
        """Draw one line or point: `look` wins over that of its kind, and that over `colour`."""
        style, label, keywords = look
        settings: LineKeywords = {} if colour is None else {"color": colour}
        settings |= self._looks.get(kind, {})
        marker, colour = settings.get("marker"), settings.get("color")
        if style is None:
            settings |= {} if marker is None else _POINT
        else:
            _require("style", style, str, "Name other line properties.")
            # Matplotlib would let properties win over the format string.
            for property_name in _STYLED:
                settings.pop(property_name, None)
            names_colour = not _COLOUR_LETTERS.isdisjoint(style) or is_color_like(style)
            if colour is not None and not names_colour:
                settings["color"] = colour
        settings |= cbook.normalize_kwargs(keywords, Line2D)
        settings["label"] = label or "_nolegend_"
        format_string = [] if style is None else [style]
        try:
            (line,) = self.ax.plot(np.atleast_1d(x), np.atleast_1d(y), *format_string, **settings)
        except ValueError as error:
            if style is None:
                raise
            expected = "be a matplotlib format string such as 'r--'"
            hint = "A legend entry is given as label=..."
            raise invalid("style", expected, describe(style), hint) from error
        if marker is not None and line.get_marker() in _NO_MARKER:
            # A style that names only a colour means a line to matplotlib; a point needs a marker.
            line.set(marker=marker, linestyle="none")
        self.artists.setdefault(kind, []).append(line)
        return self.ax


def check_band(band: object, kind: type, curve: str) -> None:
    """Raise unless `band` is of the kind that the method of a curve makes."""
    if not isinstance(band, kind):
        hint = f"{curve}(...).band(result) makes one of a bootstrap's result."
        raise invalid("band", f"be a {kind.__name__}", describe(band), hint)
