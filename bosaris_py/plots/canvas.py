"""What DET and Bayes plots have in common: an Axes, systems to draw, a legend, a file."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias

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
from bosaris_py.trials.key import AnyKey, check_key
from bosaris_py.trials.scores import AnyScores, check_scores

LineKeywords: TypeAlias = dict[str, Any]

# What a format writes into its files unless told not to; the same plot shall be the same file.
_DATELESS: dict[str, dict[str, None]] = {
    ".pdf": {"CreationDate": None},
    ".png": {},
    ".svg": {"Date": None},
}

_KINDS: dict[type, str] = {
    str: "a string",
    Conditions: "a Conditions object",
    Results: "a Results object",
}

# What a format string decides, by naming it or by leaving it out.
_STYLED = ("color", "linestyle", "marker")

_POINT = {"linestyle": "none", "markeredgecolor": "black", "markeredgewidth": 0.7}

_NO_MARKER = (None, "None", "none", "", " ")

# Of systems that share a colour because there are more of them than colours.
_ROUND_STYLES: tuple[Any, ...] = ("-", (0, (5, 1, 1, 1)), (0, (1, 1)))

_LONG_LEGEND = 8

_COLOUR_LETTERS = frozenset("bgrcmykwC")


def make_axes(ax: object, size: tuple[float, float]) -> Axes:
    """Return `ax`, or the Axes of a new figure that pyplot knows nothing of.

    `size` is the width and height of the new figure in inches.
    """
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


def warn_outside(what: str, value: float, limits: tuple[float, float], consequence: str) -> None:
    """Warn in the toolkit's words that something lies outside of the axes."""
    message = f"{what} of {value:f} is not between {limits[0]:f} and {limits[1]:f}. {consequence}"
    warn_caller(message, PlotRangeWarning)


class Canvas(ABC):
    """Base of the plots: draws lines of one system after another on one Axes.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    title : str or None
        Title of the Axes; None leaves it as it is.

    Attributes
    ----------
    ax : matplotlib.axes.Axes
        Where everything is drawn; a normal Axes, to be changed at will.
    artists : dict of str to list of Artist
        What was drawn so far: for each kind of line its artists in the order of
        drawing. A kind is the name of a method without ``plot_``, such as
        ``"steppy_det"``. Lines are matplotlib's Line2D, bands its PolyCollection.
    """

    # How lines look unless told otherwise, by kind. A kind with a marker is a point.
    _looks: ClassVar[Mapping[str, LineKeywords]] = MappingProxyType({})
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
        # That of a subfigure is the whole.
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
        tar : (n_tar,) array_like of float
            Target scores; no NaN, +-inf allowed.
        non : (n_non,) array_like of float
            Non-target scores, likewise.
        name : str, default: ""
            Comes first in all legend entries of the system.

        Raises
        ------
        InvalidInputError
            If a class is empty or a score is NaN.

        Notes
        -----
        What was drawn before stays. Lines without a colour of their own get that
        of their system, the next one of matplotlib's property cycle; a name that
        was set before keeps its colour.
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
            Comes first in all legend entries of the system.
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
        check_scores(scores)
        check_key(key)
        self.set_system_from_results(Results.from_scores(scores, key, conditions), name)

    def plot_conditions(
        self,
        scores: AnyScores,
        key: AnyKey,
        conditions: Conditions,
        name: str = "",
        **line_keywords: Any,
    ) -> Axes:
        """Draw each condition, its trials pooled with the others', and the equalised ones.

        The curve of the equalised conditions, each with its weight, is drawn thick
        and black; that of the pooled trials, in which large conditions count more,
        dashed; those of the single conditions thin and coloured, from the eleventh on
        with dashes and dots as well. Legend entries name them.

        Parameters
        ----------
        scores : Scores or FlatScores
            Scores of at least some of the key's trials.
        key : Key or FlatKey
            Which trials are targets and which non-targets.
        conditions : Conditions
            The conditions and their weights.
        name : str, default: ""
            Of the system; comes first in the legend entries of the pooled and the
            equalised curve.
        **line_keywords
            Matplotlib's line properties, for all curves.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InvalidInputError
            If `conditions` is something else, or as in `set_system_from_scores`.

        Warns
        -----
        ConditionWarning
            If conditions have trials of one class only. They have no curve of their
            own, but take part in the equalised one. Those of weight 0 have none
            either, and their trials are not pooled.
        MissingTrialsWarning
            If the key holds trials without score.
        PlotRangeWarning
            For each curve that lies outside of the axes.

        Notes
        -----
        As in figures 1 and 2 of van Leeuwen [1]_; "equalised" is his condition-weighted
        analysis, with whatever weights. It is the current system afterwards, so that
        `plot_mindcf_point` and the like mark it. The same conditions are the rows of
        `bosaris_py.evaluation.condition_table`.

        References
        ----------
        .. [1] D. A. van Leeuwen, "A note on performance metrics for Speaker Recognition
           using multiple conditions in an evaluation", 2008.
        """
        check_scores(scores)
        check_key(key)
        _require("conditions", conditions, Conditions)
        tar, non = scores.get_tar_non(key)
        members = conditions.scored_members(scores, key)
        mixture = Results.from_evidence(ConditionMixture(tar, non, members))
        keywords = cbook.normalize_kwargs(line_keywords, Line2D)
        for item in members:
            if item.tar.size and item.non.size:
                self.set_system(tar[item.tar], non[item.non], item.name)
                thin = {"linewidth": 0.9, "linestyle": self._style_of_round()}
                self._plot_curve(**(thin | keywords))
        all_tar = tar[any_of((item.tar for item in members), tar.size)]
        all_non = non[any_of((item.non for item in members), non.size)]
        self.set_system(all_tar, all_non, name)
        dashed = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.4}
        self._plot_curve(label="pooled", **(dashed | keywords))
        self.set_system_from_results(mixture, name)
        thick = {"color": "black", "linewidth": 2.2}
        return self._plot_curve(label="equalised", **(thick | keywords))

    def _style_of_round(self) -> Any:
        """Return what tells the current system from the one with the same colour before it."""
        n_colours = len(mpl.rcParams["axes.prop_cycle"].by_key().get("color", "k"))
        return _ROUND_STYLES[int(self._colour[1:]) // n_colours % len(_ROUND_STYLES)]

    @abstractmethod
    def _plot_curve(self, label: str = "", **line_keywords: Any) -> Axes:
        """Draw the main curve of the current system."""

    @abstractmethod
    def plot_DR30_fa(
        self, style: str | None = None, label: str | None = None, **line_keywords: Any
    ) -> Axes:
        """Mark where false alarms become fewer than 30."""

    @abstractmethod
    def plot_DR30_miss(
        self, style: str | None = None, label: str | None = None, **line_keywords: Any
    ) -> Axes:
        """Mark where misses become fewer than 30."""

    def plot_DR30_both(
        self, style_fa: str | None = None, style_miss: str | None = None, **line_keywords: Any
    ) -> Axes:
        """Draw both marks of Doddington's rule of 30, with legend entries.

        Parameters
        ----------
        style_fa, style_miss : str, optional
            Matplotlib's short format strings of the marks of false alarms and of misses.
        **line_keywords
            Matplotlib's line properties, for both.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        InvalidInputError
            If no system is set or a style is not a format string.

        Warns
        -----
        PlotRangeWarning
            For each mark that is not in view. It is not drawn.
        """
        fa_label, miss_label = self._dr30_labels
        self.plot_DR30_fa(style_fa, fa_label, **line_keywords)
        return self.plot_DR30_miss(style_miss, miss_label, **line_keywords)

    def set_system_from_results(self, results: Results, name: str = "") -> None:
        """Choose the system that is drawn from now on, by its results.

        What the results know of the scores then serves all metrics and plots.

        Parameters
        ----------
        results : Results
            The system's results, possibly of weighted trials.
        name : str, default: ""
            Comes first in all legend entries of the system.

        Raises
        ------
        InvalidInputError
            If it is something else.
        """
        _require("results", results, Results, "Use set_system for arrays of scores.")
        _require("name", name, str)
        if name.startswith("_"):
            expected = "not begin with an underscore"
            hint = "Matplotlib leaves such labels out of legends."
            raise invalid("name", expected, describe(name), hint)
        self._results = results
        self._name = name
        self._n_systems += not (name and name in self._colours)
        self._colours.setdefault(name, f"C{self._n_systems - 1}")

    def _system(self) -> Results:
        if self._results is None:
            message = "This plot has no system to draw. Call set_system(tar, non, name) first."
            raise InvalidInputError(message)
        return self._results

    @property
    def _colour(self) -> str:
        """The colour of the current system."""
        return self._colours[self._name] if self._name else f"C{self._n_systems - 1}"

    def _system_label(self, label: str | None) -> str | None:
        """Put the name of the current system before a legend entry."""
        return None if label is None else f"{self._name} {label}".strip()

    def _check_band(self, band: object, kind: type, curve: str) -> None:
        """Raise unless `band` is of the kind that the method of a curve makes."""
        if not isinstance(band, kind):
            hint = f"{curve}(...).band(result) makes one of a bootstrap's result."
            expected = f"be a {kind.__name__}"
            raise invalid("band", expected, describe(band), hint)

    def _system_band(
        self,
        x: npt.ArrayLike,
        low: npt.ArrayLike,
        high: npt.ArrayLike,
        *,
        label: str | None,
        keywords: LineKeywords,
    ) -> Axes:
        """Shade what lies between two curves, in the colour of the current system."""
        self._system()
        # Below all lines; without an edge, which would look like a curve.
        settings: LineKeywords = {"facecolor": self._colour, "alpha": 0.2, "linewidth": 0.0}
        settings |= cbook.normalize_kwargs(keywords, PolyCollection)
        settings["label"] = self._system_label(label) or "_nolegend_"
        self.artists.setdefault("band", []).append(self.ax.fill_between(x, low, high, **settings))
        return self.ax

    def _system_line(
        self,
        kind: str,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        style: str | None,
        label: str | None,
        keywords: LineKeywords,
    ) -> Axes:
        """Draw a line or point of the current system, in its colour and under its name."""
        own = {"color": self._colour}
        return self._line(kind, x, y, style, self._system_label(label), keywords, own)

    def _line(
        self,
        kind: str,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        style: str | None,
        label: str | None,
        keywords: LineKeywords,
        own: Mapping[str, Any] = MappingProxyType({}),
    ) -> Axes:
        """Draw one line or point.

        `style` and `keywords` win over the look of this kind of line, and that over what
        is the system's `own`.
        """
        settings: LineKeywords = {**own, **self._looks.get(kind, {})}
        marker, colour = settings.get("marker"), settings.get("color")
        if style is None:
            if marker is not None:
                settings |= _POINT
        else:
            _require("style", style, str, "Name other line properties.")
            for property_name in _STYLED:
                settings.pop(property_name, None)
            if not _has_colour(style) and colour is not None:
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

    def display_legend(self, **legend_keywords: Any) -> Axes:
        """Add a legend of all lines that have a label, also of those drawn by others.

        Parameters
        ----------
        **legend_keywords
            Passed to matplotlib's ``Axes.legend``, for instance ``loc``.

        Returns
        -------
        matplotlib.axes.Axes

        Warns
        -----
        BosarisWarning
            If no line has a label, so that there is no legend.

        Notes
        -----
        Call it last. It lies where it covers least.
        """
        handles, labels = self.ax.get_legend_handles_labels()
        if handles:
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
            The file: .pdf, .png or .svg. One that exists is replaced, but only when
            the new one is complete.
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
        Files hold no date, so the same plot gives the same file, if drawn by the same
        version of matplotlib.
        """
        extension = Path(path).suffix.lower()
        if extension not in _DATELESS:
            known = ", ".join(_DATELESS)
            raise invalid("path", f"end in one of {known}", describe(str(path)))
        # Without a salt, matplotlib makes up new names for the elements of each SVG file.
        with mpl.rc_context({"svg.hashsalt": "bosaris_py"}), atomic_write(path) as temporary:
            self.figure.savefig(
                temporary, format=extension[1:], dpi=dpi, metadata=_DATELESS[extension]
            )


def _require(name: str, value: object, kind: type, hint: str = "") -> None:
    if not isinstance(value, kind):
        raise invalid(name, f"be {_KINDS[kind]}", describe(value), hint)


def _has_colour(style: str) -> bool:
    return not _COLOUR_LETTERS.isdisjoint(style) or is_color_like(style)
