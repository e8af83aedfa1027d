"""Base class of the plots of systems: the system to draw, its lines, bands and conditions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib import cbook
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import is_color_like
from matplotlib.lines import Line2D

from bosaris_py._arrays import Float64Array
from bosaris_py._notes import warn_caller
from bosaris_py._validation import describe, invalid, safe
from bosaris_py.errors import InvalidInputError, PlotRangeWarning
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.condition_table import pooled
from bosaris_py.plots import looks
from bosaris_py.plots.display import Entry, Plot, Text
from bosaris_py.plots.looks import Settings
from bosaris_py.plots.shown_systems import Chosen
from bosaris_py.trials.conditions import ConditionsLike, as_conditions
from bosaris_py.trials.key import Key, as_key
from bosaris_py.trials.sample import Sample
from bosaris_py.trials.scores import Scores, check_scores
from bosaris_py.uncertainty.bands import Band, BandKind

# What a format string decides, by naming it or by leaving it out.
_STYLED = ("color", "linestyle", "marker")

_NO_MARKER = (None, "None", "none", "", " ")

_COLOUR_LETTERS = frozenset("bgrcmykwC")


def _require(name: str, value: object, kind: type, hint: str = "") -> None:
    if not isinstance(value, kind):
        noun = "string" if kind is str else f"{kind.__name__} object"
        raise invalid(name, f"be a {noun}", describe(value), hint)


def _refuse_set(label: object) -> None:
    if isinstance(label, set):
        raise invalid("label", "be a string", describe(label), "A set {...} has no order.")


class Look(NamedTuple):
    """What the caller of a plot_* method wants a line to look like."""

    style: Text
    label: Text
    keywords: Settings
    # Thin and faint, because errors are few; it is a part of a line, not a look of its own.
    pale: bool = False


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


class Sheet(Plot):
    """Draws lines of one system after another on one Axes."""

    def __init__(self, ax: Axes, title: str | None) -> None:
        super().__init__(ax, title)
        self._results: Results | None = None
        self._name, self._number = "", 0
        ax.grid(visible=True, linewidth=0.6, alpha=0.6)
        ax.set_axisbelow(True)

    def _choose(self, chosen: Chosen) -> None:
        """Give systems their colours in the order in which they came, and the looks asked for."""
        names = self._drawn.names
        names += [name for name in chosen.given if name and name not in names]
        self._drawn.looks.update(chosen.looks)
        self._drawn.others.update(chosen.others)

    def _set_system(self, results: Results, name: str = "") -> None:
        """Choose the system that is drawn from now on."""
        _require("results", results, Results, "Use set_system for arrays of scores.")
        self._name_system(name)
        # Last: bad arguments leave the system of before.
        self._results = results
        self._chosen(results)

    def _name_system(self, name: str) -> None:
        """Choose the look and the name of what is drawn from now on."""
        _require("name", name, str)
        if name.startswith("_"):
            expected = "not begin with an underscore"
            hint = "Matplotlib leaves such labels out of legends."
            raise invalid("name", expected, describe(name), hint)
        self._name = name
        names = self._drawn.names
        # Systems without a name are never the same system.
        if not (name and name in names):
            names.append(name)
        self._number = names.index(name) if name else len(names) - 1

    def _chosen(self, results: Results) -> None:
        """Do what else the choice of a system means."""

    def _system(self) -> Results:
        if self._results is None:
            message = "This plot has no system to draw. Call set_system(tar, non, name) first."
            raise InvalidInputError(message)
        return self._results

    @property
    def _look(self) -> looks.SystemLook:
        """The look of the current system."""
        if self._name:
            return self._look_of(self._name)
        return looks.system_look(self._number, self.ax)

    @property
    def _is_other(self) -> bool:
        """Whether the current system is grey, because others are highlighted."""
        return self._name in self._drawn.others

    def _say_of_system(self, text: str) -> None:
        """Write a note about the current system below the horizontal axis."""
        if not self._is_other:
            self._say(f"{safe(self._name)}: {text}" if self._name else text)

    def _say_infinite(self, what: str = "") -> None:
        """Say how many scores of the current system are infinite, if any are."""
        sample = self._system().sample
        if not sample.in_files:
            classes = {"target": sample.tar.listed, "non-target": sample.non.listed}
            found = [
                f"{count} {noun}{'s' * (count > 1)} at {sign}inf"
                for noun, scores in classes.items()
                for sign, infinity in (("-", -np.inf), ("+", np.inf))
                if (count := int((scores == infinity).sum()))
            ]
            if found:
                self._say_of_system(f"{', '.join(found)}{what}")

    def _system_label(self, label: Text, kind: str = "") -> Text:
        """Put the name of the current system before a legend entry."""
        _refuse_set(label)
        if self._is_other:
            return None
        if label is None:
            # The first curve of a system names it.
            named = any(entry.name == self._name for entry in self._drawn.entries.values())
            if named or kind not in self._curves_of_systems:
                return None
            return looks.as_name(self._name)
        if label.startswith("_"):
            return None
        return looks.as_name(self._name, label)

    def _note(self, artist: Artist, kind: str, label: Text, *, plain: bool) -> None:
        """Remember an artist, and what the legend is to say of it."""
        self.artists.setdefault(kind, []).append(artist)
        if label is not None and self._drawn.names and label.startswith(self._name):
            text = label.removeprefix(self._name).strip()
            self._drawn.entries[artist] = Entry(self._name, text, kind, plain)

    def _system_band(
        self,
        ends: tuple[Float64Array, Float64Array],
        x: npt.ArrayLike,
        label: Text,
        keywords: Settings,
    ) -> Axes:
        """Shade what lies between the ends of a band, in the colour of the current system."""
        self._system()
        if self._is_other:
            return self.ax
        # Below all lines; without an edge, which would look like a curve.
        settings: Settings = {"facecolor": self._look.colour, "alpha": 0.2, "linewidth": 0.0}
        settings |= cbook.normalize_kwargs(keywords, PolyCollection)
        entry = self._system_label(label)
        area = self.ax.fill_between(x, *ends, **settings)
        area.set_label(entry or "_nolegend_")
        self._note(area, "band", entry, plain=not keywords)
        return self.ax

    def _system_line(self, kind: str, x: npt.ArrayLike, y: npt.ArrayLike, look: Look) -> Axes:
        """Draw a line or point of the current system, in its look and under its name."""
        if self._is_other:
            return self._other_line(kind, x, y)
        look = look._replace(label=self._system_label(look.label, kind))
        return self._line(kind, x, y, look, self._look)

    def _draw(
        self,
        kind: str,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        label: Text = "_nolegend_",
        **keywords: object,
    ) -> None:
        """Draw a line of the current system; one without length is a dot."""
        ends = [np.ravel(part) for part in (x, y)]
        if kind in self._curves_of_systems and all((part == part[:1]).all() for part in ends):
            keywords.setdefault("marker", "o")
        self._system_line(kind, x, y, Look(None, label, keywords))

    def _draw_once(
        self, kind: str, x: npt.ArrayLike, y: npt.ArrayLike, label: Text = None, **keywords: object
    ) -> None:
        """Draw a line that belongs to no system, in the colour of text."""
        if kind not in self.artists:
            self._line(kind, x, y, Look(None, label, {"color": looks.text_colour(), **keywords}))
            if label:
                self._drawn.lines.extend(self.artists[kind])

    def _each_of(self, chosen: Chosen) -> Iterator[tuple[str, Results]]:
        """Yield each system when it is the current one; add the legend after the last."""
        self._choose(chosen)
        for name, results in chosen.results.items():
            self._set_system(results, name)
            yield name, results
        self._name_others()

    def _name_others(self) -> None:
        """Count the systems that are grey in the legend."""
        count = len(self._drawn.others)
        if count:
            settings = {"color": looks.pale_colour(self.ax), "linewidth": 0.8}
            self._line("others", [], [], Look(None, f"{count} other{'s' * (count > 1)}", settings))

    def _other_line(self, kind: str, x: npt.ArrayLike, y: npt.ArrayLike) -> Axes:
        """Draw a curve of a system that is not highlighted: thin, grey and below all others."""
        if kind in self._curves_of_systems or "marker" not in self._looks.get(kind, {}):
            settings = {"color": self._look.colour, "linewidth": 0.8, "zorder": 1.6}
            settings |= {"marker": "", "linestyle": "-"}
            self._line(kind, x, y, Look(None, "_nolegend_", settings))
        return self.ax

    def _line(
        self,
        kind: str,
        x: npt.ArrayLike,
        y: npt.ArrayLike,
        look: Look,
        system: looks.SystemLook | None = None,
    ) -> Axes:
        """Draw one line or point: `look` wins over that of its kind, and that over the system's."""
        style, label, keywords, _ = look
        _refuse_set(label)
        keywords = cbook.normalize_kwargs(keywords, Line2D)
        settings: Settings = {} if system is None else {"color": system.colour}
        settings |= self._looks.get(kind, {})
        marker, colour = settings.get("marker"), settings.get("color")
        # Who decides on one of them does not want the rest of a system's look.
        plain = style is None and not any(name in keywords for name in _STYLED)
        if system is not None and plain and marker is None:
            dash = system.dash if settings.get("linestyle", "-") == "-" else settings["linestyle"]
            settings |= {"linestyle": dash, **system.marker, **system.rest}
            if look.pale:
                settings |= {"linewidth": 0.8, "alpha": 0.45, "marker": ""}
        if style is None:
            if marker is not None:
                # Points lie on lines of their own colour.
                settings["linestyle"] = "none"
                if "markerfacecolor" not in settings:
                    settings |= {"markeredgewidth": 0.7, "markeredgecolor": self.ax.get_facecolor()}
        else:
            hint = "Name other line properties; set_system chooses the system."
            _require("style", style, str, hint)
            # Matplotlib would let properties win over the format string.
            for property_name in _STYLED:
                settings.pop(property_name, None)
            names_colour = not _COLOUR_LETTERS.isdisjoint(style) or is_color_like(style)
            if colour is not None and not names_colour:
                settings["color"] = colour
        settings = looks.scaled(settings) | keywords
        if "markevery" in settings and not np.isfinite(np.add(x, y)).any():
            # Matplotlib fails to space markers on a line without points.
            del settings["markevery"]
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
        self._note(line, kind, label if system is not None else None, plain=plain)
        if system is not None:
            self._drawn.lines.append(line)
        return self.ax


class Canvas(Sheet, ABC):
    """Base of the plots of error-rates: marks of the rule of 30, conditions."""

    # Legend entries of the marks of 30 false alarms and of 30 misses.
    _dr30_labels: ClassVar[tuple[str, str]]

    def __repr__(self) -> str:
        """Say how many lines and bands were drawn and which system is next."""
        system = "no system yet" if self._results is None else f"current system {self._name!r}"
        return f"{type(self).__name__}: {self._counts()}, {system}"

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
        What was drawn before stays. Each system has the next colour and marker; a name that was set
        before keeps them. A property cycle that you have set in matplotlib gives the colours.
        """
        self.set_system_from_results(Results(tar, non), name)

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
        self.set_system_from_results(Results.from_scores(scores, key, conditions), name)

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
        self, scores: Scores, key: Key, conditions: ConditionsLike, name: str = "", **keywords: Any
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
        ConditionWarning
            If conditions have trials of one class only: no curve, but a part in the equalised
            one. Those of weight 0 have no curve either, and their trials are not pooled.
        PlotRangeWarning
            For each curve that lies outside of the axes.

        Notes
        -----
        Figures 1 and 2 of van Leeuwen 2008, see `bosaris_py.Conditions`. The equalised system is
        the current one afterwards. `evaluate` has the numbers.
        """
        check_scores(scores)
        key = as_key(key)
        given = as_conditions(conditions, key)
        if given is None:
            raise invalid("conditions", "be named", "None")
        sample = Sample.from_trials(scores, key)
        members = given.scored_members(scores, key)
        mixture = Results.from_sample(sample.weighted(members))
        # "lw" and "linewidth" are one property; the caller's wins over the ones below.
        keywords = cbook.normalize_kwargs(keywords, Line2D)
        for item in members:
            # One class alone has no curve; the mixture takes its rate of the other from
            # the remaining conditions.
            if item.tar.size and item.non.size:
                alone = sample.take(item.tar, item.non)
                self.set_system_from_results(Results.from_sample(alone), item.name)
                self._plot_curve(**({"linewidth": 0.9} | keywords))
        self.set_system_from_results(Results.from_sample(pooled(sample, members)), name)
        colour = looks.text_colour()
        dashed = {"color": colour, "linestyle": (0, (4, 2)), "linewidth": 1.4}
        self._plot_curve(label="pooled", **(dashed | keywords))
        # Drawn last: it lies on top, and is the current system from now on.
        self.set_system_from_results(mixture, name)
        thick = {"color": colour, "linewidth": 2.2}
        return self._plot_curve(label="equalised", **(thick | keywords))

    def plot_DR30_fa(self, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        """Mark where there are 30 false alarms: to the left of the mark there are too few.

        The rule of 30, see `bosaris_py.uncertainty.rule_of_30`. A DET plot gets a thin vertical
        line with its margin shaded, a Bayes plot a triangle on the minimum curve.

        Parameters
        ----------
        style, label, **keywords
            As in `DETPlot.plot_steppy_det`, with the same warning of a mark that is not in view.
            With a style or a colour a DET plot has only the line. By default without a legend
            entry; a triangle has the colour of its system.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        A mark that is not in view is not drawn. The toolkit marks an end of Bayes plots instead.
        """
        return self._mark_30_errors("DR30_fa", Look(style, label, keywords))

    def plot_DR30_miss(self, style: Text = None, label: Text = None, **keywords: object) -> Axes:
        """Mark where there are 30 misses: below the line of a DET plot there are too few.

        On a Bayes plot there are too few to the right of the triangle.

        Parameters
        ----------
        style, label, **keywords
            As in `plot_DR30_fa`, with the same warning.

        Returns
        -------
        matplotlib.axes.Axes
        """
        return self._mark_30_errors("DR30_miss", Look(style, label, keywords))

    def plot_DR30_both(
        self, style_fa: Text = None, style_miss: Text = None, **keywords: object
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

    def _say_no_error(self, where: str = "") -> None:
        """Say which rates are possible where the current system makes no error."""
        results = self._system()
        pfa, pmiss = highest_rates(results)
        self._say_of_system(
            f"no error in {results.n_tar} targets and {results.n_non} non-targets. The true rates "
            f"are below {100.0 * pmiss:.2g} % of misses and {100.0 * pfa:.2g} % of false alarms "
            f"(95 % each, independent trials).{where}"
        )

    @abstractmethod
    def _plot_curve(self, label: str = "", **keywords: object) -> Axes:
        """Draw the main curve of the current system."""

    @abstractmethod
    def _mark_30_errors(self, kind: str, look: Look) -> Axes:
        """Mark where there are 30 errors of a kind, "DR30_fa" or "DR30_miss"."""


def highest_rates(results: Results) -> tuple[float, float]:
    """Return the rates of false alarms and of misses that no error allows: (1 - rate)^n = 0.05."""
    return 1.0 - 0.05 ** (1.0 / results.n_non), 1.0 - 0.05 ** (1.0 / results.n_tar)


def check_band(band: object, kind: BandKind) -> None:
    """Raise unless `band` is around a curve of this kind."""
    if not isinstance(band, Band) or band.kind != kind:
        hint = "uncertainty.bootstrap_bands makes one."
        raise invalid("band", f'be of kind="{kind}"', describe(band), hint)
