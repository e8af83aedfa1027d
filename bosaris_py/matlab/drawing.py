"""The toolkit's plots, and its two scripts that draw from files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bosaris_py._arrays import ArrayLike, FilePath
from bosaris_py._validation import check_shape, describe, invalid
from bosaris_py.matlab.arguments import as_vector
from bosaris_py.matlab.classes import Results
from bosaris_py.numerics import logit, sigmoid
from bosaris_py.plots import BayesPlot, DETPlot, DETWindow
from bosaris_py.plots.det import find_window
from bosaris_py.trials import Key, Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Text = str | None
PlotArgs = str | Sequence[object]
Limits = Sequence[float]

# xmin, xmax, ymin and ymax of the Bayes plot.
_AXES = (-10.0, 0.0, 0.0, 1.2)


def _line(plot_args: PlotArgs, legend_string: Text = None) -> tuple[Text, str, dict[str, object]]:
    """Return style, legend entry and properties of ``{'b--', 'LineWidth', 2}``."""
    listed = [*plot_args] if isinstance(plot_args, list | tuple) else [plot_args]
    # Names and values come in pairs; an odd one out is the style, which stands first.
    style = listed.pop(0) if len(listed) % 2 else ""
    if any(type(word) is not str for word in (style, *listed[::2])):
        expected = "be a line style, or a list of one with names and values of line properties"
        raise invalid("plot_args", expected, describe(plot_args))
    # MATLAB's names of properties are matplotlib's but for capital letters.
    pairs = zip(listed[::2], listed[1::2], strict=True)
    keywords = {str(name).lower(): value for name, value in pairs}
    # MATLAB takes the marker of the toolkit's demo, 'rV', in either case.
    return str(style).replace("V", "v") or None, legend_string or "_nolegend_", keywords


class _Plot:
    """Methods of both plots of the toolkit; the native plot is the attribute `plot`."""

    plot: DETPlot | BayesPlot
    _dr30_labels: ClassVar[tuple[str, str]]

    @property
    def ax(self) -> Axes:
        """The matplotlib Axes, to be changed at will."""
        return self.plot.ax

    @property
    def figure(self) -> Figure:
        """The matplotlib Figure, which pyplot knows nothing of."""
        return self.plot.figure

    def show(self) -> None:
        """Show the figure in a window."""
        self.plot.show()

    def __repr__(self) -> str:
        """Say what was drawn."""
        return f"{type(self).__name__} around {self.plot!r}"

    def set_system(self, tar: ArrayLike, non: ArrayLike, sys_name: str = "") -> None:
        """Choose the system that is drawn from now on, by its scores."""
        self.set_system_from_results(Results(tar, non), sys_name)

    def set_system_from_scores(self, scr: Scores, key: Key, sys_name: str = "") -> None:
        """Choose the system that is drawn from now on, by its scores of the trials in a key."""
        self.set_system_from_results(Results(scr, key), sys_name)

    def set_system_from_results(self, results: Results, sys_name: str = "") -> None:
        """Choose the system that is drawn from now on, by its results."""
        self.plot.set_system_from_results(results, sys_name)

    def _draw(self, kind: str, plot_args: PlotArgs, legend_string: Text, **more: object) -> None:
        """Call the native method of a kind of line; `more` are its defaults and first arguments."""
        style, label, keywords = _line(plot_args, legend_string)
        method: Callable[..., object] = getattr(self.plot, f"plot_{kind}")
        method(style=style, label=label, **{**more, **keywords})

    def plot_DR30_fa(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Mark where there are 30 false alarms."""
        self._draw("DR30_fa", plot_args, legend_string, linewidth=1.2)

    def plot_DR30_miss(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Mark where there are 30 misses."""
        self._draw("DR30_miss", plot_args, legend_string, linewidth=1.2)

    def plot_DR30_both(self, plot_args_fa: PlotArgs, plot_args_miss: PlotArgs) -> None:
        """Mark where there are 30 false alarms and 30 misses, with legend entries."""
        fa, miss = self._dr30_labels
        self.plot_DR30_fa(plot_args_fa, fa)
        self.plot_DR30_miss(plot_args_miss, miss)

    def display_legend(self) -> None:
        """Add the legend; to be called last."""
        self.plot.display_legend()

    def save_as_pdf(self, outfilename: FilePath) -> None:
        """Write the figure to a file, in PDF unless its name says PNG or SVG."""
        path = Path(outfilename)
        # MATLAB adds the extension when it prints.
        self.plot.save(path if path.suffix else path.with_name(f"{path.name}.pdf"))


class Det_Plot(_Plot):
    """A DET plot.

    `plot_window` is a window or its name: "new", "old", "big" or "sre10"; limits are fractions.
    First choose a system with a method that begins with ``set_system``, then draw its lines. A
    style is text or a list, ``["b", "LineWidth", 2]``, and a legend entry may follow. `ax` is the
    matplotlib Axes to draw on. `display_legend` comes last; `save_as_pdf` or `show` shows the plot.

    Toolkit: @Det_Plot; native: `DETPlot`, the attribute `plot`; differs: steps of scores tied
    between the classes are one slanted stroke; drawing opens no window.

    Examples
    --------
    >>> plot = Det_Plot(Det_Plot.make_plot_window_from_string("old"), "two systems")
    >>> plot.set_system([1.0, 2.0, 3.0], [0.0, 1.5, 0.5], "A")
    >>> plot.plot_steppy_det(["b", "LineWidth", 2], "steps")
    >>> plot.display_legend()
    >>> plot
    Det_Plot around DETPlot: 1 line of 1 system
    """

    plot: DETPlot
    _dr30_labels = ("pfa DR30", "pmiss DR30")

    def __init__(
        self, plot_window: DETWindow | str, plot_title: Text = None, *, ax: Axes | None = None
    ) -> None:
        self.plot = DETPlot(plot_window, plot_title, ax)

    # The window of a name: "new", "old", "big" or "sre10".
    make_plot_window_from_string = staticmethod(find_window)

    # The window of pfa_limits, pmiss_limits, xticks, xticklabels, yticks, yticklabels.
    make_plot_window_from_values = DETWindow

    def plot_steppy_det(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Draw the DET curve as it is, in steps."""
        self._draw("steppy_det", plot_args, legend_string)

    def plot_rocch_det(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Draw the DET curve of the ROC's convex hull."""
        self._draw("rocch_det", plot_args, legend_string)

    def plot_det_from_roc(
        self, Pmiss: ArrayLike, Pfa: ArrayLike, plot_args: PlotArgs, legend_string: Text = None
    ) -> None:
        """Draw a curve of known error-rates, as fractions; there need not be a system."""
        pmiss, pfa = as_vector(Pmiss, "Pmiss"), as_vector(Pfa, "Pfa")
        check_shape(pfa, pmiss.shape, "Pfa", "of `Pmiss`")
        if not all(0.0 <= rate <= 1.0 for rate in (*pmiss, *pfa)):
            hint = "Percentages must be divided by 100."
            raise invalid("Pmiss and Pfa", "hold rates between 0 and 1", describe(Pmiss), hint)
        style, label, keywords = _line(plot_args, legend_string)
        named = f"{self.plot._name} {label}".strip() if legend_string else label
        (line,) = self.ax.plot(pfa, pmiss, *([] if style is None else [style]), label=named)
        line.set(**keywords)

    def plot_mindcf_point(
        self, prior: float, plot_args: PlotArgs, legend_string: Text = None
    ) -> tuple[float, float, float]:
        """Mark the point of minimum DCF; return the normalized minimum, Pmiss and Pfa."""
        self._draw("mindcf_point", plot_args, legend_string, prior=prior)
        results = self.plot._system()
        best = results.min_dcf_threshold(prior)
        return float(results.rocch.min_dcf(prior)), best.pmiss, best.pfa

    @staticmethod
    def test_this() -> Det_Plot:
        """Draw a sample, and return it."""
        rng = np.random.default_rng(0)
        plot = Det_Plot("old", "sample")
        plot.set_system(rng.normal(3.0, 1.0, 1000), rng.normal(0.0, 1.0, 10_000), "sample")
        plot.plot_steppy_det("b", "steps")
        plot.plot_rocch_det("r--", "hull")
        plot.display_legend()
        return plot


class Norm_DCF_Plot(_Plot):
    """A normalized Bayes error-rate plot; scores are taken as log-likelihood-ratios.

    Toolkit: @Norm_DCF_Plot; native: `BayesPlot`, the attribute `plot`; differs: points of the rule
    of 30 that do not exist leave no legend entry. `axes`: xmin, xmax (prior log-odds), ymin, ymax,
    or [] for the default; `ax` as for `Det_Plot`.
    """

    plot: BayesPlot
    _dr30_labels = ("FA DR30", "Miss DR30")

    def __init__(
        self, axes: Limits = _AXES, plot_title: Text = None, *, ax: Axes | None = None
    ) -> None:
        limits = as_vector(axes, "axes").tolist() or _AXES
        self.plot = BayesPlot(limits, plot_title, ax)

    def plot_dcf_curve_act(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Draw the normalized actual DCF."""
        self._draw("dcf_curve_act", plot_args, legend_string)

    def plot_dcf_curve_min(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Draw the normalized minimum DCF."""
        self._draw("dcf_curve_min", plot_args, legend_string)

    def plot_miss_rate_act(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Draw the misses' part of the actual DCF."""
        self._draw("miss_rate_act", plot_args, legend_string)

    def plot_miss_rate_min(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Draw the misses' part of the minimum DCF."""
        self._draw("miss_rate_min", plot_args, legend_string)

    def plot_fa_rate_act(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Draw the false alarms' part of the actual DCF."""
        self._draw("fa_rate_act", plot_args, legend_string)

    def plot_fa_rate_min(self, plot_args: PlotArgs, legend_string: Text = None) -> None:
        """Draw the false alarms' part of the minimum DCF."""
        self._draw("fa_rate_min", plot_args, legend_string)

    def plot_operating_point(
        self, plo: float, plot_args: PlotArgs, legend_string: Text = None
    ) -> None:
        """Draw a vertical line at prior log-odds."""
        # The native method takes numbers between 0 and 1 as a mistake.
        where = {"prior": sigmoid(plo)} if 0.0 < plo < 1.0 else {"plo": plo}
        self._draw("operating_point", plot_args, legend_string, **where)

    def plot_curves(self, plot_mask: ArrayLike, line_info: Sequence[PlotArgs]) -> None:
        """Draw any of eight curves and points, with line arguments for each one that is drawn.

        Minimum miss rate, FA rate and DCF, the same actual, 30 misses, 30 false alarms; these
        words are the legend entries.
        """
        if isinstance(line_info, str | set):
            raise invalid("line_info", "be a list", describe(line_info))
        lines = [_line(plot_args) for plot_args in line_info]
        styles = [{"style": style, **keywords} for style, _, keywords in lines]
        self.plot.plot_curves(plot_mask, styles)


def detplot(
    scorefilename: FilePath,
    keyfilename: FilePath,
    outfilename: FilePath,
    prior: float,
    plot_title: Text = None,
    curve_label: str = "",
) -> None:
    """Draw the DET curve of the scores in a file, and its point of minimum DCF, to a PDF file.

    Toolkit: detplot.m; native: `DETPlot`; differs: a file name may end in .png or .svg too.
    """
    # The toolkit's own choice of window and styles.
    plot = Det_Plot("sre10", plot_title)
    plot.set_system_from_scores(Scores.read(scorefilename), Key.read(keyfilename))
    plot.plot_steppy_det("b", curve_label)
    plot.plot_mindcf_point(prior, "k*", "min dcf")
    plot.display_legend()
    plot.save_as_pdf(outfilename)


def dcfplot(
    devkeyfilename: FilePath,
    evalkeyfilename: FilePath,
    devscrfilename: FilePath,
    evalscrfilename: FilePath,
    outfilename: FilePath,
    plot_title: Text = None,
    xmin: float = _AXES[0],
    xmax: float = _AXES[1],
    ymin: float = _AXES[2],
    ymax: float = _AXES[3],
    prior: float = 0.001,
) -> None:
    """Draw the normalized Bayes error-rates of dev and eval scores in files to a PDF file.

    Toolkit: dcfplot.m; native: `BayesPlot`; differs: each of the last five arguments has its
    default, where the toolkit fails if only some are given.
    """
    # The prior by default is that of the "new DCF" of NIST SRE 2010.
    plot = Norm_DCF_Plot((xmin, xmax, ymin, ymax), plot_title)
    plot.set_system_from_scores(Scores.read(devscrfilename), Key.read(devkeyfilename), "dev")
    plot.plot_miss_rate_act("b--", "misses")
    plot.plot_fa_rate_act("g--", "false-alarms")
    plot.plot_dcf_curve_act("r--", "act dcf")
    plot.plot_operating_point(logit(prior), "m--", "new DCF point")
    plot.set_system_from_scores(Scores.read(evalscrfilename), Key.read(evalkeyfilename), "eval")
    plot.plot_dcf_curve_min(["r", "LineWidth", 2], "min dcf")
    plot.plot_miss_rate_act("b", "misses")
    plot.plot_fa_rate_act("g", "false-alarms")
    plot.plot_dcf_curve_act("r", "act dcf")
    plot.plot_DR30_fa("k*", "FA DR30")
    plot.display_legend()
    plot.save_as_pdf(outfilename)
