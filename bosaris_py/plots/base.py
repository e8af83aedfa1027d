"""What all plots are: an Axes with the lines of systems, their names, a legend, a file."""

from __future__ import annotations

import importlib
import sys
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import ClassVar, ParamSpec, Self, TypeVar

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.transforms import ScaledTranslation
from matplotlib.typing import ColorType

from bosaris_py import _validation as check, errors
from bosaris_py._arrays import ArrayLike, BoolArray, FilePath, FloatArray
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.rows import pooled
from bosaris_py.files.replacing import replacing
from bosaris_py.plots import looks
from bosaris_py.plots.looks import Legend, Pen, Settings, Text
from bosaris_py.trials import Sample, Scores
from bosaris_py.trials.conditions import ConditionsLike, as_conditions, name_of_all
from bosaris_py.trials.key import Key, as_key

Ends = tuple[FloatArray, FloatArray]
# Width and height of a new figure in inches.
Size = tuple[float, float]

PLAIN = Pen()
# What a point takes of the look of its system.
_OF_POINTS = frozenset({"color", "alpha", "zorder"})
_COLOUR_LETTERS = frozenset("bgrcmykwC")

# More names at the ends of curves cannot be read.
_MOST_NAMED = 24
# Where they begin, as a share of the width.
_NAMES_AT = 1.04


class Plot:
    """A plot on one Axes: what each function that draws returns. A notebook shows it.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where it draws; None for a new figure.
    size : (float, float)
        Width and height of a new figure in inches.
    title, xlabel, ylabel : str, optional
        Title of the plot, and labels of its axes.

    Attributes
    ----------
    ax : matplotlib.axes.Axes
        The one given, or the new one.
    figure : matplotlib.figure.Figure
        The figure that the Axes belongs to.
    artists : dict of str to list of Artist
        Lines and bands drawn so far, in order, by kind.
    notes : list of Note
        What the function that drew it has warned of.

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

    def __init__(
        self, ax: Axes | None, size: Size, title: Text = None, xlabel: str = "", ylabel: str = ""
    ) -> None:
        # Whether the height of the figure may follow legends and names.
        self._is_alone = ax is None
        self.ax = looks.make_axes(ax, size)
        # An Axes may lie in a subfigure; the figure of that is the whole one.
        self.figure: Figure = self.ax.figure.figure
        self.artists: dict[str, list[Artist]] = {}
        self.notes: list[errors.Note] = []
        # Names number the colours; lines of systems with a label, by name.
        self._names: list[str] = []
        self._entries: dict[Line2D, str] = {}
        self._chosen = looks.Chosen({}, [], {}, frozenset(), {})
        self._said: list[str] = []
        self._results: Results | None = None
        self._name, self._number = "", 0
        self.ax.grid(visible=True, linewidth=0.6, alpha=0.6)
        self.ax.set_axisbelow(True)
        # A square stands on its legend, for which a layout then leaves the room that it takes.
        self.ax.set_anchor("S")
        self.ax.set(title=title or "", xlabel=xlabel, ylabel=ylabel)

    def _repr_png_(self) -> bytes:
        """Return the picture that a notebook shows."""
        return looks.picture(self.figure, ".png", 110.0)

    def show(self) -> None:
        """Show the picture now: in a notebook below the cell, elsewhere in a window of pyplot.

        A plot that is the last expression of a cell needs no call.
        """
        shell = sys.modules.get("IPython")
        if shell is not None and hasattr(shell.get_ipython(), "kernel"):
            shell.display.display(self)
            return
        # Only now: who never shows a window does not need pyplot.
        pyplot = importlib.import_module("matplotlib.pyplot")
        canvas = pyplot.figure(figsize=self.figure.get_size_inches()).canvas
        canvas.figure = self.figure
        self.figure.set_canvas(canvas)
        pyplot.show()

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
        The same calls give the same file, byte for byte, with the same version of matplotlib. A
        second `save` of one plot moves lines by less than a hundredth of a point.
        """
        extension = check.as_path(path).suffix.lower()
        if extension not in looks.METADATA:
            known = ", ".join(looks.METADATA)
            raise check.invalid("path", f"end in one of {known}", check.describe(str(path)))
        with replacing(path) as temporary:
            # In memory first: on a full disk matplotlib's PDF ends in an AttributeError.
            temporary.write_bytes(looks.picture(self.figure, extension, dpi))

    def __repr__(self) -> str:
        """Say how many lines and bands were drawn, and of how many systems."""
        n_bands = len(self.artists.get("band", ()))
        n_lines = sum(map(len, self.artists.values())) - n_bands
        counts = {"line": n_lines, "band": n_bands, "system": len(self._names)}
        lines, bands, systems = (f"{n} {noun}{'s' * (n != 1)}" for noun, n in counts.items())
        return f"{self._word}: {lines}{f', {bands}' if n_bands else ''} of {systems}"

    # ---- Systems

    def _each_of(self, chosen: looks.Chosen) -> Iterator[tuple[str, Results]]:
        """Yield each system when it is the current one."""
        self._names = [name for name in chosen.given if name]
        self._chosen = chosen
        for name, results in chosen.results.items():
            self._set_system(results, name)
            yield name, results
        if count := len(chosen.grey):
            pale = {"color": looks.pale_colour(self.ax), "linewidth": 0.8}
            self._key("others", f"{count} other{'s' * (count > 1)}", pale)

    def _set_system(self, results: Results, name: str = "") -> None:
        """Choose the system that is drawn from now on."""
        if name.startswith("_"):
            hint = "Matplotlib leaves such labels out of legends."
            raise check.invalid("name", "not begin with an underscore", check.describe(name), hint)
        # Systems without a name are never the same system.
        if not (name and name in self._names):
            self._names.append(name)
        self._name, self._results = name, results
        self._number = self._names.index(name) if name else len(self._names) - 1

    def _system(self) -> Results:
        if self._results is None:
            message = "This plot has no system to draw. Call set_system(tar, non, name) first."
            raise errors.InvalidInputError(message)
        return self._results

    @property
    def _is_grey(self) -> bool:
        """Whether the current system does not stand out."""
        return self._name in self._chosen.grey

    @property
    def _colour(self) -> ColorType:
        """The colour of the current system."""
        own = looks.system_look(self._number, self.ax) | self._chosen.looks.get(self._name, {})
        colour: ColorType = own["color"]
        return colour

    def _say(self, note: str) -> None:
        """Add a note below the horizontal axis, once, with the name of the system."""
        said = f"{looks.as_name(self._name)}: {note}" if self._name else note
        if not self._is_grey and said not in self._said:
            self._said.append(said)

    def _say_infinite(self, what: str = "") -> None:
        """Say how many scores of the current system are infinite, if any are."""
        sample = self._system().sample
        if sample.in_files:
            return
        counts = [int(np.isinf(one.listed).sum()) for one in (sample.tar, sample.non)]
        if any(counts):
            self._say(f"{counts[0]} targets and {counts[1]} non-targets are infinite{what}")

    # ---- Lines

    def _look_of(self, kind: str) -> Settings:
        """Return the properties of a line of the current system."""
        if self._is_grey:
            return {"color": looks.pale_colour(self.ax), "linewidth": 0.8, "zorder": 1.6}
        default, own = self._looks.get(kind, {}), self._chosen.looks.get(self._name, {})
        # The strokes of a kind tell it from others.
        kept = _OF_POINTS if "marker" in default else own.keys() - ({"linestyle"} & default.keys())
        wanted = {name: value for name, value in own.items() if name in kept}
        return looks.system_look(self._number, self.ax) | default | wanted

    def _label(self, label: Text, kind: str) -> str:
        """Return the legend entry of a line of the current system, after its name."""
        if label is None:
            # The first curve of a system names it.
            named = self._name in self._entries.values() or kind not in self._curves_of_systems
            label = "_" if named else ""
        hidden = self._is_grey or label.startswith("_")
        return (not hidden and looks.as_name(self._name, label)) or "_nolegend_"

    def _line(
        self, kind: str, x: ArrayLike, y: ArrayLike, pen: Pen = PLAIN, *, own: bool = True
    ) -> Axes:
        """Draw a line or point of the current system; or one of none, in the colour of text."""
        default, paper = self._looks.get(kind, {}), self.ax.get_facecolor()
        settings = self._look_of(kind) if own else {"color": looks.text_colour(), **default}
        if "marker" in default:
            if own and self._is_grey:
                return self.ax
            # Points stand out from lines of their own colour; hollow ones show no line within.
            settings |= {"linestyle": "none", "markeredgecolor": paper, "markeredgewidth": 0.7}
            if "markerfacecolor" in default:
                settings |= {"markeredgewidth": 1.1, "markerfacecolor": paper}
                del settings["markeredgecolor"]
        styles = () if pen.style is None else (pen.style,)
        if pen.style is not None:
            # Matplotlib would let properties win over the format string.
            kept = {"linewidth", "markersize", "zorder"}
            kept |= {"color"} if _COLOUR_LETTERS.isdisjoint(pen.style) else set()
            settings = {name: value for name, value in settings.items() if name in kept}
        entry = self._label(pen.label, kind) if own else pen.label or "_nolegend_"
        settings |= pen.look | {"label": entry}
        (line,) = self.ax.plot(np.atleast_1d(x), np.atleast_1d(y), *styles, **settings)
        if "marker" in default and line.get_marker() in (None, "None", ""):
            # A style that names only a colour means a line to matplotlib; a point needs a marker.
            line.set(marker=default["marker"], linestyle="none")
        self.artists.setdefault(kind, []).append(line)
        if own and entry != "_nolegend_":
            self._entries[line] = self._name
        return self.ax

    def _key(self, kind: str, text: str, look: Settings | None = None) -> None:
        """Explain a kind of lines or marks in the legend, once."""
        if not any(line.get_label() == text for line in self.ax.lines):
            self._line(kind, [], [], Pen(None, text, look or {}), own=False)

    def _band(
        self, x: FloatArray, ends: Ends, where: BoolArray, label: Text = None, **look: object
    ) -> Axes:
        """Shade what lies between the ends of a band, where enough errors are left."""
        wanted = looks.checked(look, PolyCollection)
        if not self._is_grey:
            # Below all lines; without an edge, which would look like a curve.
            settings: Settings = {"facecolor": self._colour, "alpha": 0.2, "linewidth": 0.0}
            settings |= {**wanted, "label": self._label(label, "band")}
            area = self.ax.fill_between(x, *ends, where=where, **settings)
            self.artists.setdefault("band", []).append(area)
        return self.ax

    # ---- Legends

    def _finish(self, legend: Legend) -> Self:
        """Name the curves at their ends, and the rest in a legend, in which the notes stand."""
        handles, _ = self.ax.get_legend_handles_labels()
        # Only a layout makes room beside the Axes, and many panels would lose theirs.
        engine, few = self.figure.get_layout_engine(), len(self._entries) <= _MOST_NAMED
        names: list[Annotation] = []
        if legend is True and self._named_at_ends and engine and len(self.figure.axes) <= 2 and few:
            names = self._name_ends()
            handles = [handle for handle in handles if handle not in self._entries]
        if self._said or (legend and handles):
            self._add_legend(handles if legend else [])
        if engine and names:
            # Heights are known only after a layout, in which the names take their room.
            engine.execute(self.figure)
            self.ax.apply_aspect()
            high, (width, height) = (
                self.ax.bbox.height / self.figure.dpi,
                self.figure.get_size_inches(),
            )
            if self._is_alone:
                # A square that is narrow needs no higher figure.
                spare = self.ax.get_position(original=True).height * height - high
                self.figure.set_size_inches(width, height - spare)
            line = 1.3 * looks.letters("small") / (72.0 * high)
            sizes = [line * (1 + name.get_text().count("\n")) for name in names]
            for name, y in zip(names, looks.spread([n.xy[1] for n in names], sizes), strict=True):
                name.set_y(y)
        return self

    def display_legend(self, **legend_keywords: object) -> Axes:
        """Add a legend of all lines with a label, also of those drawn by others; call it last.

        It lies below the Axes, where it covers no curve.

        Parameters
        ----------
        **legend_keywords
            Passed to matplotlib's ``Axes.legend``; ``loc`` says where else it lies.

        Returns
        -------
        matplotlib.axes.Axes

        Warns
        -----
        BosarisWarning
            If no line has a label, so that there is no legend.
        """
        handles, _ = self.ax.get_legend_handles_labels()
        if handles:
            self._add_legend(handles, legend_keywords)
        else:
            message = "Nothing was drawn with a label, so there is no legend."
            advice = 'Give the plot_* methods a label; "" shows the name of the system alone.'
            errors.warn([errors.Note(errors.BosarisWarning, message, advice=advice)])
        return self.ax

    def _add_legend(
        self, handles: Sequence[Artist], keywords: Mapping[str, object] = PLAIN.look
    ) -> None:
        """Put the legend, headed by the notes, below all that is written below the axis."""
        size, small = looks.letters("small"), looks.letters("x-small")
        settings: Settings = {"handles": handles, "fontsize": size}
        if "loc" in keywords:
            self.ax.legend(**settings, **keywords)
            return
        frame, dpi = self.ax.get_window_extent(), self.figure.dpi
        drop = frame.y0 - (self.ax.xaxis.get_tightbbox() or frame).y0
        lower = ScaledTranslation(0.0, -drop / dpi, self.figure.dpi_scale_trans)
        # A letter is 0.6 of its size wide; a stroke with its gaps takes five sizes.
        room, count = 72.0 * 1.2 * frame.width / dpi, len(handles)
        longest = max((len(str(handle.get_label())) for handle in handles), default=0)
        columns = min(max(int(room / (size * (0.6 * longest + 5.0))), 1), 4)
        notes = [textwrap.fill(note, max(int(room / (0.6 * small)), 20)) for note in self._said]
        settings |= {"title": "\n".join(notes), "title_fontsize": small, "frameon": False}
        # As many rows as that takes, and none that is nearly empty.
        settings["ncols"] = -(-count // -(-count // columns)) if count else 1
        settings |= {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0)}
        settings["bbox_transform"] = self.ax.transAxes + lower
        legend = self.ax.legend(**{**settings, **keywords})
        (width, height), added = self.figure.get_size_inches(), legend.get_window_extent().height
        if self._is_alone:
            self.figure.set_size_inches(width, height + added / dpi)
        elif self.figure.get_layout_engine() is None:
            # Nobody else makes room.
            place = self.ax.get_position()
            place.y0 += min(1.2 * added / (dpi * height), 0.7 * place.height)
            self.ax.set_position(place)

    def _name_ends(self) -> list[Annotation]:
        """Write names beside the Axes, with strokes to the right ends of their curves."""
        most, names = 30 if self.figure.get_figwidth() > 5.0 else 16, []
        for line in self._entries:
            points = (self.ax.transScale + self.ax.transLimits).transform(line.get_xydata())
            seen = points[((points >= 0.0) & (points <= 1.0)).all(axis=1)]
            if not seen.size:
                continue
            (x, y), label = seen[seen[:, 0].argmax()].tolist(), str(line.get_label())
            # What is in brackets has a line of its own, where there is no room for both.
            parts = label.replace(" (", "\n(").split("\n") if len(label) > most else [label]
            stroke: Settings = {"linewidth": 0.6, "linestyle": line.get_linestyle(), "shrinkB": 0.0}
            stroke |= {"arrowstyle": "-", "color": line.get_color(), "relpos": (0.0, 0.5)}
            # Below the frame, on which a stroke would look like a curve that ends level.
            look: Settings = {"fontsize": looks.letters("small"), "va": "center", "zorder": 2.4}
            look |= {"xycoords": "axes fraction", "color": line.get_color(), "arrowprops": stroke}
            shown = "\n".join(textwrap.fill(part, most) for part in parts)
            names.append(self.ax.annotate(shown, (x, y), (_NAMES_AT, y), **look))
        # Of curves that leave below, the first one has the highest name: strokes do not cross.
        return sorted(names, key=lambda name: (round(name.xy[1], 2), -name.xy[0]))


_Arguments = ParamSpec("_Arguments")
_Made = TypeVar("_Made", bound=Plot)


def door(function: Callable[_Arguments, _Made]) -> Callable[_Arguments, _Made]:
    """Let one thread draw at a time, and warn at the end: a decorator."""

    @wraps(function)
    def call(*args: _Arguments.args, **named: _Arguments.kwargs) -> _Made:
        with looks.DRAWING:
            plot = function(*args, **named)
        errors.warn(plot.notes)
        return plot

    return call


class ErrorRatePlot(Plot, ABC):
    """Base of DET and Bayes plots: systems are set, then drawn line by line."""

    # Legend entries of the marks of 30 false alarms and of 30 misses.
    _dr30_labels: ClassVar[tuple[str, str]]
    _named_at_ends = True

    def set_system(self, tar: ArrayLike, non: ArrayLike, name: str = "") -> None:
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
        self, scores: Scores, key: Key, conditions: ConditionsLike, name: str = "", **look: object
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
        **look
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
        wanted = Pen(look=look).look
        key = as_key(key).bona_fide()
        sample = Sample.from_trials(scores, key)
        given = as_conditions(conditions, key)
        if given is None:
            raise check.invalid("conditions", "be named", "None")
        members, lacking = given.noted_members(scores, key)
        notes = [*sample.notes, *lacking]

        def draw(system: str, label: str, part: Sample, look: Settings) -> None:
            self._set_system(Results.from_sample(part), system)
            notes.extend(self._curve(Pen(None, label, look | wanted)))

        for item in members:
            # One class alone has no curve; the mixture takes its rate of the other from the rest.
            if item.tar.size and item.non.size:
                draw(item.name, "", sample.take(item.tar, item.non), {"linewidth": 0.9})
        ink: Settings = {"color": looks.text_colour()}
        dashed = ink | {"linestyle": (0, (4, 2)), "linewidth": 1.4}
        draw(name, "pooled", pooled(sample, members), dashed)
        mixed = name_of_all([item.weight for item in members])
        draw(name, mixed, sample.weighted(members), ink | {"linewidth": 2.2})
        errors.warn(notes)
        return self.ax

    def plot_DR30_fa(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Mark where there are 30 false alarms: to the left of the mark there are too few.

        The rule of 30, see `bosaris_py.uncertainty.rule_of_30`. A DET plot gets a vertical line, a
        Bayes plot a mark on the minimum curve.

        Parameters
        ----------
        style, label, **look
            As in `DETPlot.plot_steppy_det`, with the same warning of a mark that is not in view;
            by default without a legend entry.

        Returns
        -------
        matplotlib.axes.Axes

        Notes
        -----
        A mark that is not in view is not drawn. The toolkit marks an end of Bayes plots instead.
        """
        errors.warn(self._mark_30_errors("DR30_fa", Pen(style, label, look)))
        return self.ax

    def plot_DR30_miss(self, style: Text = None, label: Text = None, **look: object) -> Axes:
        """Mark where there are 30 misses: below the line of a DET plot there are too few.

        On a Bayes plot there are too few to the right of the mark.

        Parameters
        ----------
        style, label, **look
            As in `plot_DR30_fa`, with the same warning.

        Returns
        -------
        matplotlib.axes.Axes
        """
        errors.warn(self._mark_30_errors("DR30_miss", Pen(style, label, look)))
        return self.ax

    def plot_DR30_both(
        self, style_fa: Text = None, style_miss: Text = None, **look: object
    ) -> Axes:
        """Draw both marks of Doddington's rule of 30, with legend entries.

        Parameters
        ----------
        style_fa, style_miss : str, optional
            Format strings of the marks of false alarms and of misses.
        **look
            Matplotlib's line properties, for both.

        Returns
        -------
        matplotlib.axes.Axes
        """
        fa, miss = self._dr30_labels
        pens = {"DR30_fa": Pen(style_fa, fa, look), "DR30_miss": Pen(style_miss, miss, look)}
        for kind, pen in pens.items():
            errors.warn(self._mark_30_errors(kind, pen))
        return self.ax

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
    def _curve(self, pen: Pen) -> list[errors.Note]:
        """Draw the main curve of the current system."""

    @abstractmethod
    def _mark_30_errors(self, kind: str, pen: Pen) -> list[errors.Note]:
        """Mark where there are 30 errors of a kind, "DR30_fa" or "DR30_miss"."""


def outside(what: str, value: float, limits: tuple[float, float], artist: str) -> list[errors.Note]:
    """Say, in the toolkit's words, that a value lies outside of an axis, if it does."""
    low, high = limits
    if low <= value <= high:
        return []
    text = f"{what} of {value:f} is not between {low:f} and {high:f}. {artist} will not be plotted."
    return [errors.Note(errors.BosarisWarning, text)]
