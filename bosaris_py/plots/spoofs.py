"""Spoofed trials: costs over their prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import attrs
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from bosaris_py._arrays import Float64Array
from bosaris_py._cautions import cautions
from bosaris_py._validation import describe, invalid
from bosaris_py.evaluation.results import Results
from bosaris_py.metrics.tandem import Lists
from bosaris_py.metrics.third_class import ADCF, ActADCF, sample_of_three
from bosaris_py.numerics.priors import SpoofCosts, SpoofCostsLike
from bosaris_py.plots import looks as styles
from bosaris_py.plots.canvas import Look, Sheet
from bosaris_py.plots.display import Plot
from bosaris_py.plots.shown_systems import Chosen, Looks

_SIZE = (6.0, 4.5)

# From one spoof in a thousand trials to as many as all others.
_PRIORS = np.geomspace(0.001, 0.5, 41)


class _PriorSheet(Sheet):
    """Costs of several systems over the prior of spoofs."""

    _curves_of_systems = ("act", "min")
    _looks: ClassVar[dict[str, styles.Settings]] = {
        "act": {"linestyle": "--", "linewidth": 1.4},
        "min": {"linestyle": "-", "linewidth": 1.6},
        "prior": {"linestyle": ":", "linewidth": 0.9},
    }
    _has_headroom = True


def _at(costs: SpoofCosts, prior: float) -> SpoofCosts:
    """Return costs with another prior of spoofs, and the others in their proportion."""
    rest = (1.0 - prior) / (costs.p_target + costs.p_nontarget)
    target = costs.p_target * rest
    return attrs.evolve(costs, p_target=target, p_nontarget=1.0 - prior - target, p_spoof=prior)


@cautions()
@styles.one_at_a_time
def plot_a_dcf(
    systems: Mapping[str, Lists],
    ax: Axes | None = None,
    *,
    costs: SpoofCostsLike = "ASVspoof5",
    priors: npt.ArrayLike | None = None,
    actual: bool = True,
    title: str | None = None,
    looks: Looks = None,
    legend: bool | str = True,
    order: str | Sequence[str] | None = None,
    highlight: str | Sequence[str] | None = None,
) -> Plot:
    """Draw the architecture-agnostic detection cost over the prior of spoofs.

    Parameters
    ----------
    systems : mapping of str to (tar, non, spoof)
        Scores of the three classes, by the name of the system.
    ax : matplotlib.axes.Axes, optional
        Where to draw. By default, in a new figure.
    costs : SpoofCosts or str, default: "ASVspoof5"
        Costs, and the proportion of targets and zero-effort impostors. Its own prior of spoofs is
        marked.
    priors : (k,) array_like of float, optional
        Priors of spoofs, rising, between 0 and 1; by default 41 from 0.001 to 0.5.
    actual : bool, default: True
        Draw the cost of Bayes decisions, too, dashed: of scores as log-likelihood-ratios.
    title, looks, legend, order, highlight
        As for `bosaris_py.plot_det`.

    Returns
    -------
    plots.Plot
        Costs are normalized, so that 1 is that of the better decision without a detector.

    Raises
    ------
    InvalidInputError
        If a system has not three lists of scores, or priors do not rise between 0 and 1.

    Notes
    -----
    Log-likelihood-ratios of targets against a mixture hold for its share of spoofs only. The
    dashed line says what another prior costs if only the threshold follows it.

    Examples
    --------
    >>> plot = plot_a_dcf({"A": ([1.0, 3.0, 4.0], [-2.0, 0.5], [-1.0, 2.0])}, priors=[0.01, 0.1])
    >>> plot.get_xlabel()
    'prior of spoofs'
    """
    given, lists = SpoofCosts.named(costs), _three(systems)
    shown = _PRIORS if priors is None else np.asarray(priors, dtype=np.float64)
    inside = shown.ndim == 1 and shown.size > 1 and shown[0] > 0 and shown[-1] < 1
    if not (inside and (np.diff(shown) > 0).all()):
        raise invalid("priors", "be two or more, rising, between 0 and 1", describe(priors))
    points = [_at(given, prior) for prior in shown.tolist()]
    pooled = {name: Results(tar, np.concatenate(rest)) for name, (tar, *rest) in lists.items()}
    chosen = Chosen.of(pooled, looks, legend, order, highlight)
    sheet = _PriorSheet(styles.make_axes(ax, _SIZE), title)
    highest = 0.0
    for name, _ in sheet._each_of(chosen):
        sample = sample_of_three(*lists[name])
        kinds: dict[str, tuple[type[ADCF] | type[ActADCF], str]]
        kinds = {"min": (ADCF, "minimum" if actual else "")}
        if actual:
            kinds["act"] = ActADCF, "actual"
        for kind, (metric, label) in kinds.items():
            values = [metric(point).judge(sample) for point in points]
            sheet._draw(kind, shown, values, label)
            highest = max(highest, *values)
    top = min(max(1.08 * highest, 0.05), 1.5)
    sheet.ax.set(
        xscale="log",
        xlabel="prior of spoofs",
        ylabel="normalized a-DCF",
        xlim=(shown[0], shown[-1]),
        ylim=(0.0, top),
    )
    sheet.ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    marked = shown[0] <= given.p_spoof <= shown[-1]
    if marked:
        look = Look(None, None, {"color": styles.text_colour()})
        sheet._line("prior", [given.p_spoof, given.p_spoof], [0.0, top], look)
    sheet._finish(legend=chosen.legend)
    if marked:
        styles.name_lines(sheet.ax, {given.p_spoof: f"{100 * given.p_spoof:g} %"})
    return sheet


def _three(systems: Mapping[str, Lists]) -> dict[str, list[Float64Array]]:
    """Return the lists of each system as arrays."""
    found: object = systems
    if not (isinstance(found, Mapping) and found):
        raise invalid("systems", "map names to (tar, non, spoof)", describe(systems))
    named = {}
    for name, lists in systems.items():
        if not isinstance(lists, list | tuple) or len(lists) != 3:
            raise invalid(f"systems[{name!r}]", "be three lists of scores", describe(lists))
        named[str(name)] = [np.asarray(part, dtype=np.float64) for part in lists]
    return named
