"""The toolkit's plots, and its two scripts that draw from files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import FloatArray
from bosaris_py._validation import FilePath, describe, invalid
from bosaris_py.evaluation import Results
from bosaris_py.matlab.arguments import flat, vector_of_numbers
from bosaris_py.numerics import logit
from bosaris_py.plots import BayesPlot, DETPlot, DETWindow
from bosaris_py.plots.bayes import AXES, CURVES, to_plo
from bosaris_py.plots.canvas import Look
from bosaris_py.plots.windows import find_window
from bosaris_py.trials import Key, Scores

PlotArgs = str | Sequence[object]

# Prior of the operating point that dcfplot marks: the "new DCF" of NIST SRE 2010.
_DCF_PRIOR = 0.001


# Lines of the rule of 30 have one width, whichever errors they show.
_DR30_WIDTH = 1.2


def _line(plot_args: object, legend_string: str | None = None) -> dict[str, Any]:
    """Return MATLAB's line arguments, ``{'b--', 'LineWidth', 2}``, as matplotlib takes them."""
    if not (plot_args is None or isinstance(plot_args, str | list | tuple)):
        hint = "Write ['b', 'LineWidth', 2]."
        if isinstance(plot_args, frozenset | set):
            hint = "Braces make a set, without order: write ['b', 'LineWidth', 2]."
        elif isinstance(plot_args, int):
            hint = "Systems have no index: set_system chooses the one that is drawn."
        raise invalid("plot_args", "be a line style or a list", describe(plot_args), hint)
    listed = [] if plot_args is None else plot_args
    listed = [listed] if isinstance(listed, str) else list(listed)
    # Names and values come in pairs; an odd one out is the style, which stands first.
    style = listed.pop(0) if len(listed) % 2 else None
    names = listed[::2]
    if not all(isinstance(name, str) for name in [*names, *([] if style is None else [style])]):
        expected = "be a line style, or a list of one with names and values of line properties"
        raise invalid("plot_args", expected, describe(plot_args))
    # MATLAB takes the marker of the toolkit's demo, 'rV', in either case.
    style = style and style.replace("V", "v")
    # MATLAB's names of properties are matplotlib's but for capital letters.
    keywords = {name.lower(): value for name, value in zip(names, listed[1::2], strict=True)}
    # Those whose counterpart has another name. The legend has an entry for each text not empty.
    shown = keywords.pop("handlevisibility", "on") != "off"
    label = keywords.pop("displayname", "")
    if "markerindices" in keywords:
        keywords["markevery"] = (np.ravel(keywords.pop("markerindices")) - 1).tolist()
    return {
        "style": style,
        "label": (shown and (legend_string or label)) or "_nolegend_",
        **keywords,
    }


def _rates(values: npt.ArrayLike, name: str) -> FloatArray:
    rates = vector_of_numbers(values, name)
    if rates.size == 0 or not ((rates >= 0.0) & (rates <= 1.0)).all():
        hint = "Percentages must be divided by 100." if (rates > 1.0).any() else ""
        raise invalid(name, "hold rates between 0 and 1", describe(rates.tolist()), hint)
    return rates


class _Plot:
    """Methods of both plots of the toolkit; the native plot is the attribute `plot`."""

    plot: DETPlot | BayesPlot
    _dr30_labels: ClassVar[tuple[str, str]]

    @property
    def ax(self) -> Any:
        """The matplotlib Axes, to be changed at will."""
        return self.plot.ax

    @property
    def figure(self) -> Any:
        """The matplotlib Figure, which pyplot knows nothing of."""
        return self.plot.figure

    def __repr__(self) -> str:
        """Say what was drawn."""
        return f"{type(self).__name__} around {self.plot!r}"

    def _repr_png_(self) -> bytes:
        """Return the picture that a notebook shows."""
        return self.plot._repr_png_()

    def show(self) -> None:
        """Show the picture now (not in the toolkit)."""
        self.plot.show()

    def set_system(self, tar: npt.ArrayLike, non: npt.ArrayLike, sys_name: str = "") -> None:
        """Choose the system that is drawn from now on, by its scores."""
        self.plot.set_system(flat(tar), flat(non), sys_name)

    def set_system_from_scores(self, scr: Scores, key: Key, sys_name: str = "") -> None:
        """Choose the system that is drawn from now on, by its scores of the trials in a key."""
        self.plot.set_system_from_scores(scr, key, sys_name)

    def set_system_from_results(self, results: Results, sys_name: str = "") -> None:
        """Choose the system that is drawn from now on, by its results (not in the toolkit)."""
        self.plot.set_system_from_results(results, sys_name)

    def plot_DR30_fa(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Mark where there are 30 false alarms."""
        self.plot.plot_DR30_fa(**{"linewidth": _DR30_WIDTH, **_line(plot_args, legend_string)})

    def plot_DR30_miss(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Mark where there are 30 misses."""
        self.plot.plot_DR30_miss(**{"linewidth": _DR30_WIDTH, **_line(plot_args, legend_string)})

    def plot_DR30_both(self, plot_args_fa: PlotArgs, plot_args_miss: PlotArgs) -> None:
        """Mark where there are 30 false alarms and 30 misses, with legend entries."""
        fa_label, miss_label = self._dr30_labels
        self.plot_DR30_fa(plot_args_fa, fa_label)
        self.plot_DR30_miss(plot_args_miss, miss_label)

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

    Toolkit: @Det_Plot; native: `DETPlot`, the attribute `plot`; differs: steps of scores tied
    between the classes are one slanted stroke. A window may be given by its name, and `ax`, the
    matplotlib Axes to draw on, for instance that of ``plt.subplots()``.

    Examples
    --------
    >>> plot = Det_Plot(Det_Plot.make_plot_window_from_string("old"), "two systems")
    >>> plot.set_system([1.0, 2.0, 3.0], [0.0, 1.5, 0.5], "A")
    >>> plot.plot_steppy_det(["b", "LineWidth", 2], "steps")
    >>> plot.display_legend()
    >>> plot
    Det_Plot around DETPlot: 1 lines, current system 'A'
    """

    plot: DETPlot
    _dr30_labels = ("pfa DR30", "pmiss DR30")

    def __init__(
        self, plot_window: DETWindow | str, plot_title: str | None = None, *, ax: Any = None
    ) -> None:
        self.plot = DETPlot(plot_window, plot_title, ax)

    @staticmethod
    def make_plot_window_from_string(window_name: str) -> DETWindow:
        """Return the window of a name: "new", "old", "big" or "sre10"."""
        return find_window(window_name)

    @staticmethod
    def make_plot_window_from_values(
        pfa_limits: Sequence[float],
        pmiss_limits: Sequence[float],
        xticks: Sequence[float],
        xticklabels: Sequence[str],
        yticks: Sequence[float],
        yticklabels: Sequence[str],
    ) -> DETWindow:
        """Return a window of given limits, ticks and labels; all rates are fractions."""
        return DETWindow(
            pfa_limits=pfa_limits,
            pmiss_limits=pmiss_limits,
            xticks=xticks,
            xticklabels=xticklabels,
            yticks=yticks,
            yticklabels=yticklabels,
        )

    def plot_steppy_det(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Draw the DET curve as it is, in steps."""
        self.plot.plot_steppy_det(**_line(plot_args, legend_string))

    def plot_rocch_det(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Draw the DET curve of the ROC's convex hull."""
        self.plot.plot_rocch_det(**_line(plot_args, legend_string))

    def plot_det_from_roc(
        self,
        Pmiss: npt.ArrayLike,
        Pfa: npt.ArrayLike,
        plot_args: PlotArgs,
        legend_string: str | None = None,
    ) -> None:
        """Draw a curve of known error-rates, as fractions; there need not be a system."""
        # The native plots know no curve without scores, so the line is drawn as they draw theirs.
        pmiss, pfa = _rates(Pmiss, "Pmiss"), _rates(Pfa, "Pfa")
        if pmiss.size != pfa.size:
            raise invalid("Pfa", f"have as many points as `Pmiss`, {pmiss.size}", f"{pfa.size}")
        line = _line(plot_args, legend_string)
        style, label = line.pop("style"), self.plot._system_label(line.pop("label"))
        self.plot._line("det_from_roc", pfa, pmiss, Look(style, label, line))

    def plot_mindcf_point(
        self, prior: float, plot_args: PlotArgs, legend_string: str | None = None
    ) -> tuple[float, float, float]:
        """Mark the point of minimum DCF; return the normalized minimum, Pmiss and Pfa."""
        self.plot.plot_mindcf_point(prior, **_line(plot_args, legend_string))
        results = self.plot._system()
        best = results.min_dcf_threshold(prior)
        return float(results.min_dcf(prior, normalize=True)), best.pmiss, best.pfa

    @staticmethod
    def test_this() -> Det_Plot:
        """Draw a sample, and return it."""
        rng = np.random.default_rng(0)
        plot = Det_Plot("old", "sample")
        plot.set_system(rng.normal(3.0, 1.0, 1000), rng.normal(0.0, 1.0, 10_000), "sample")
        plot.plot_steppy_det("b", "steps")
        plot.plot_rocch_det("r--", "hull")
        plot.plot_mindcf_point(0.1, "k*", "min dcf")
        plot.plot_DR30_both("c--", "m--")
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
        self, axes: Sequence[float] = AXES, plot_title: str | None = None, *, ax: Any = None
    ) -> None:
        self.plot = BayesPlot(flat(axes) if np.size(axes) else AXES, plot_title, ax)

    def plot_dcf_curve_act(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Draw the normalized actual DCF."""
        self.plot.plot_dcf_curve_act(**_line(plot_args, legend_string))

    def plot_dcf_curve_min(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Draw the normalized minimum DCF."""
        self.plot.plot_dcf_curve_min(**_line(plot_args, legend_string))

    def plot_miss_rate_act(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Draw the misses' part of the actual DCF."""
        self.plot.plot_miss_rate_act(**_line(plot_args, legend_string))

    def plot_miss_rate_min(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Draw the misses' part of the minimum DCF."""
        self.plot.plot_miss_rate_min(**_line(plot_args, legend_string))

    def plot_fa_rate_act(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Draw the false alarms' part of the actual DCF."""
        self.plot.plot_fa_rate_act(**_line(plot_args, legend_string))

    def plot_fa_rate_min(self, plot_args: PlotArgs, legend_string: str | None = None) -> None:
        """Draw the false alarms' part of the minimum DCF."""
        self.plot.plot_fa_rate_min(**_line(plot_args, legend_string))

    def plot_operating_point(
        self, plo: float, plot_args: PlotArgs, legend_string: str | None = None
    ) -> None:
        """Draw a vertical line at prior log-odds."""
        line = _line(plot_args, legend_string)
        # All numbers are log-odds here, those between 0 and 1 too.
        look = Look(line.pop("style"), line.pop("label"), line)
        self.plot._operating_line(to_plo(plo), look)

    def plot_curves(self, plot_mask: npt.ArrayLike, line_info: Sequence[PlotArgs]) -> None:
        """Draw any of eight curves and points, with line arguments for each one that is drawn.

        In the order of `BayesPlot.plot_curves`, with its legend entries.
        """
        flags = np.asarray(plot_mask)
        if flags.shape != (len(CURVES),) or not np.isin(flags, (0, 1)).all():
            raise invalid("plot_mask", f"be {len(CURVES)} flags", describe(plot_mask))
        n_drawn = np.count_nonzero(flags)
        if isinstance(line_info, str | set) or len(line_info) != n_drawn:
            expected = f"hold line arguments for each of the {n_drawn} flags set"
            raise invalid("line_info", expected, describe(line_info))
        lines = [_line(plot_args) for plot_args in line_info]
        for line in lines:
            # The native method makes the entries itself.
            del line["label"]
        self.plot.plot_curves(flags, lines)


def detplot(
    scorefilename: FilePath,
    keyfilename: FilePath,
    outfilename: FilePath,
    prior: float,
    plot_title: str | None = None,
    curve_label: str = "",
) -> None:
    """Draw the DET curve of the scores in a file, and its point of minimum DCF, to a PDF file.

    Toolkit: detplot.m; native: `DETPlot`; differs: a file name may end in .png or .svg too.
    """
    # The toolkit's own choice of window and styles.
    plot = Det_Plot(Det_Plot.make_plot_window_from_string("sre10"), plot_title)
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
    plot_title: str | None = None,
    xmin: float = AXES[0],
    xmax: float = AXES[1],
    ymin: float = AXES[2],
    ymax: float = AXES[3],
    prior: float = _DCF_PRIOR,
) -> None:
    """Draw the normalized Bayes error-rates of dev and eval scores in files to a PDF file.

    Toolkit: dcfplot.m; native: `BayesPlot`; differs: each of the last five arguments has its
    default, where the toolkit fails if only some are given.
    """
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
