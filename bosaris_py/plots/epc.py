"""Expected performance curves: the test error at the thresholds that dev chooses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Unpack

import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from bosaris_py._validation import describe, invalid
from bosaris_py.plots.canvas import Sheet
from bosaris_py.plots.display import Plot
from bosaris_py.plots.looks import Settings, make_axes, one_at_a_time
from bosaris_py.plots.shown_systems import Chosen, Styling
from bosaris_py.uncertainty.threshold_transfer.result import Transfer

_SIZE = (6.0, 4.5)


class _EPCSheet(Sheet):
    """Expected performance curves of several systems; what each kind of line looks like."""

    _curves_of_systems = ("act",)
    _looks: ClassVar[dict[str, Settings]] = {
        "act": {"linestyle": "-", "linewidth": 1.6},
        "min": {"linestyle": ":", "linewidth": 1.2},
    }
    _has_headroom = True


@one_at_a_time
def plot_epc(
    transfers: Mapping[str, Transfer] | Transfer,
    ax: Axes | None = None,
    *,
    alphas: npt.ArrayLike | None = None,
    minimum: bool = False,
    title: str | None = None,
    **styling: Unpack[Styling],
) -> Plot:
    """Draw expected performance curves: what systems cost where dev chooses their thresholds.

    Parameters
    ----------
    transfers : mapping of str to Transfer, or Transfer
        What `bosaris_py.transfer` returned, by name of the system; whatever its rule and point.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure.
    alphas : (k,) array_like of float, optional
        As for ``Transfer.epc``.
    minimum : bool, default: False
        Draw, dotted, what thresholds of the test set itself would cost.
    title, **styling
        As for `bosaris_py.plot_det`.

    Returns
    -------
    plots.Plot
        At each alpha the cost alpha FAR + (1 - alpha) FRR on the test set, in per cent. Systems
        with replicates have a band, both sets drawn: an interval at each alpha.

    Examples
    --------
    >>> import warnings
    >>> import bosaris_py as bp
    >>> dev, test = bp.Results([1.0, 3.0], [-2.0, 2.0]), bp.Results([0.0, 4.0], [-1.0, 1.0])
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", bp.errors.FewErrorsWarning)
    ...     plot = plot_epc({"A": bp.transfer(dev, test)}, alphas=[0.2, 0.5, 0.8])
    >>> plot.get_ylabel()
    'cost on the test set'
    """
    found: object = transfers
    named = {"": found} if isinstance(found, Transfer) else found
    if not (isinstance(named, Mapping) and named):
        raise invalid("transfers", "map names to what `transfer` returned", describe(transfers))
    for name, item in named.items():
        if not isinstance(item, Transfer):
            expected = "be what `transfer` returned"
            raise invalid(f"transfers[{name!r}]", expected, describe(item))
    # Of all curves, before anything is drawn.
    curves = {str(name): item.epc(alphas) for name, item in named.items()}
    chosen = Chosen.of({str(name): item.results for name, item in named.items()}, styling)
    sheet = _EPCSheet(make_axes(ax, _SIZE), title)
    sheet.ax.set_xlabel("alpha, the share of the false-alarm rate")
    sheet.ax.set_ylabel("cost on the test set")
    highest = 0.0
    for name, _ in sheet._each_of(chosen):
        curve = curves[name]
        if curve.high is not None:
            sheet._system_band(curve, curve.alphas, None, {})
            highest = max(highest, float(curve.high.max()))
        sheet._draw("act", curve.alphas, curve.cost, "dev chooses" if minimum else "")
        if minimum:
            sheet._draw("min", curve.alphas, curve.own_minimum, "own minimum")
        highest = max(highest, float(curve.cost.max()))
    sheet.ax.set_xlim(0.0, 1.0)
    sheet.ax.set_ylim(0.0, 1.08 * highest if highest > 0 else 0.01)
    sheet.ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    return sheet._finish(legend=chosen.legend)
