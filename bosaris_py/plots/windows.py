"""The plane of a DET plot: the window that it shows, its ticks, and the probit scale of its axes.

The scale is not registered with matplotlib; hand an instance to the axes:
``axes.set_xscale(ProbitScale())``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
import scipy
from matplotlib.axis import Axis
from matplotlib.font_manager import FontProperties
from matplotlib.scale import FuncTransform, ScaleBase
from matplotlib.textpath import TextPath
from matplotlib.ticker import Formatter, Locator, MaxNLocator, NullFormatter, NullLocator
from matplotlib.transforms import Transform

from bosaris_py._arrays import BoolArray, Float64Array
from bosaris_py._validation import describe, invalid
from bosaris_py.evaluation import Results
from bosaris_py.metrics.curves import smallest_measurable_rate

Limits: TypeAlias = tuple[float, float]
# A false-alarm rate and a miss rate.
Point: TypeAlias = tuple[float, float]


def _to_rates_of(values: Iterable[float] | None) -> tuple[float, ...]:
    """Return numbers as they are, or NaN where they are none."""
    try:
        return tuple(map(float, values or ()))
    except (TypeError, ValueError):
        return (math.nan,)


def _to_limits(values: Iterable[float]) -> Limits:
    rates = _to_rates_of(values)
    return (rates[0], rates[1]) if len(rates) == 2 else (math.nan, math.nan)


def _to_labels(labels: Iterable[str] | None) -> tuple[str, ...]:
    return tuple(map(str, labels or ()))


@attrs.frozen
class DETWindow:
    """The part of the plane that a DET plot shows.

    Parameters
    ----------
    pfa_limits, pmiss_limits : (float, float)
        Lowest and highest false-alarm rate and miss rate shown, strictly between 0 and 1.
    xticks, yticks : sequence of float, optional
        Where the ticks of the false-alarm axis and of the miss axis are: ascending
        probabilities. By default at round numbers.
    xticklabels, yticklabels : sequence of str, optional
        Their labels, one for each tick. By default the ticks in per cent.

    Notes
    -----
    Names and order as in the toolkit's ``make_plot_window_from_values.m``.

    Examples
    --------
    >>> DETWindow((0.01, 0.4), (0.01, 0.4), xticks=[0.01, 0.1, 0.4]).xticks
    (0.01, 0.1, 0.4)
    """

    pfa_limits: Limits = attrs.field(converter=_to_limits)
    pmiss_limits: Limits = attrs.field(converter=_to_limits)
    xticks: tuple[float, ...] = attrs.field(default=None, converter=_to_rates_of)
    xticklabels: tuple[str, ...] = attrs.field(default=None, converter=_to_labels)
    yticks: tuple[float, ...] = attrs.field(default=None, converter=_to_rates_of)
    yticklabels: tuple[str, ...] = attrs.field(default=None, converter=_to_labels)

    def __attrs_post_init__(self) -> None:
        """Check rates, and the number of labels."""
        # On a probit scale, 0 and 1 are infinitely far away.
        limits = "be two probabilities with 0 < lower < upper < 1"
        ticks = "be ascending probabilities within (0, 1)"
        for name, rates, expected in (
            ("pfa_limits", self.pfa_limits, limits),
            ("pmiss_limits", self.pmiss_limits, limits),
            ("xticks", self.xticks, ticks),
            ("yticks", self.yticks, ticks),
        ):
            if [*rates] != sorted({*rates}) or not all(0.0 < rate < 1.0 for rate in rates):
                percent = any(1.0 < rate <= 100.0 for rate in rates)
                hint = "Percentages must be divided by 100." if percent else ""
                raise invalid(name, expected, describe(rates), hint)
        for name, places, labels in (
            ("xticklabels", self.xticks, self.xticklabels),
            ("yticklabels", self.yticks, self.yticklabels),
        ):
            if labels and len(labels) != len(places):
                got = f"{len(labels)} for {len(places)} ticks"
                raise invalid(name, "have one label for each tick", got)


# Ticks of the toolkit's windows, in Det_Plot.m; labels only where they are not the plain per cent.
_OLD = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)

_OLD_LABELS = ("0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "30", "40")

_BIG = (5e-6, 5e-5, 5e-4, 0.005, 0.025, 0.1, 0.25, 0.5, 0.72, 0.88, 0.96, 0.99)

_BIG_LABELS = ("5e-4", "5e-3", "0.05", "0.5", "2.5", "10", "25", "50", "72", "88", "96", "99")

WINDOWS: Mapping[str, DETWindow] = MappingProxyType(
    {
        "new": DETWindow(
            pfa_limits=(5e-6, 5e-3),
            pmiss_limits=(0.01, 0.99),
            xticks=(1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3),
            xticklabels=("1e-3", "2e-3", "5e-3", "0.01", "0.02", "0.05", "0.1", "0.2"),
            yticks=(0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98),
        ),
        "old": DETWindow((5e-4, 0.5), (5e-4, 0.5), _OLD, _OLD_LABELS, _OLD, _OLD_LABELS),
        # As in the toolkit, without the first tick along the false alarms.
        "big": DETWindow((5e-6, 0.99), (5e-6, 0.99), _BIG[1:], _BIG_LABELS[1:], _BIG, _BIG_LABELS),
        "sre10": DETWindow(
            pfa_limits=(3e-6, 0.5),
            pmiss_limits=(3e-4, 0.9),
            xticks=(1e-5, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4),
            yticks=(0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8),
        ),
    }
)

"""The four windows of the MATLAB toolkit: ``old`` for NIST evaluations up to 2008 and for
error-rates of some per cent, ``new`` for very low false-alarm rates (SRE 2010), ``sre10`` between
both, and ``big`` for almost everything."""


def find_window(window: str | DETWindow) -> DETWindow:
    """Return a window as it is, or the ready-made one of a name."""
    if isinstance(window, DETWindow):
        return window
    try:
        return WINDOWS[window]
    except (KeyError, TypeError):
        known = ", ".join(f"'{name}'" for name in WINDOWS)
        expected = f"be one of {known}, 'auto', or a DETWindow"
        raise invalid("window", expected, describe(window)) from None


def window_around(systems: Iterable[Results], points: Iterable[Point] = ()) -> DETWindow:
    """Return a window that shows where the curves of systems can be measured, and some points.

    From a third of the error-rate that shows 30 errors up to where the last curve gets there. Both
    axes have the same limits, so that a slope of -1 means equal variances.
    """
    judged = list(systems)
    eers = [results.eer for results in judged]
    highest = 0.5 if max(eers) < 0.25 else 0.99
    # Of separable scores there is no curve, and any window will do.
    best = min((eer for eer in eers if eer > 0.0), default=0.1)
    sizes = [results.n_non for results in judged], [results.n_tar for results in judged]
    pfa, pmiss = (min(smallest_measurable_rate(max(n)) / 3.0, best / 3.0, 0.1) for n in sizes)
    # Where curves enter at the top and leave at the bottom, and the same for the sides.
    right, top = 3.0 * max(*eers, pfa), 3.0 * max(*eers, pmiss)
    right = min(max(right, *(x.roc.threshold_at(pmiss=pmiss).pfa for x in judged)), highest)
    top = min(max(top, *(x.roc.threshold_at(pfa=pfa).pmiss for x in judged)), highest)
    # No curve is to the left of where the best one enters.
    left = min(x.roc.threshold_at(pmiss=top).pfa for x in judged)
    bottom = min(x.roc.threshold_at(pfa=right).pmiss for x in judged)
    low = min(max(pfa, min(left, best / 3.0)), max(pmiss, min(bottom, best / 3.0)))
    # Rates of 0 and 1 are in no window.
    shown = [rates for rates in points if 0.0 < min(rates) <= max(rates) < 0.98]
    low = min(low, *map(min, shown)) if shown else low
    high = max(right, top, *(1.02 * max(rates) for rates in shown))
    limits = _step_down(0.98 * low), high
    return DETWindow(limits, limits)


def _step_down(rate: float) -> float:
    """Return the next lower rate of 1, 2, 5, 10, ..."""
    decade = 10.0 ** math.floor(math.log10(rate))
    return decade * max(digit for digit in (1.0, 2.0, 5.0) if digit * decade <= rate * 1.0000001)


# Where probabilities of 0 and 1 are drawn: far outside any axes, so that lines to
# them leave through the edge, yet finite. ndtri of the smallest float is -38.5.
_PAST_THE_EDGE = 40.0

# Limits beyond these cannot be asked for; a scale from 0 to 1 would be infinitely long.
_SMALLEST_LIMIT = 1e-9

_LIMITS_WITHOUT_DATA = (1e-3, 1.0 - 1e-3)

# Fewer ticks do not show the scale, more of them touch.
_FEWEST_TICKS, _MOST_TICKS = 3, 10

# Preferred ticks crowd when the view is this much longer than what they cover.
_LARGEST_ZOOM_OUT = 2.5

_DECADES = 10.0 ** -np.arange(1, 10)


def _to_deviates(rates: npt.ArrayLike) -> Float64Array:
    """Map probabilities to standard normal deviates; 0 and 1, and beyond, to finite ends."""
    probabilities = np.clip(np.asarray(rates, dtype=np.float64), 0.0, 1.0)
    return np.clip(scipy.special.ndtri(probabilities), -_PAST_THE_EDGE, _PAST_THE_EDGE)


def _to_rates(deviates: npt.ArrayLike) -> Float64Array:
    return np.asarray(scipy.special.ndtr(np.asarray(deviates, dtype=np.float64)))


class ProbitScale(ScaleBase):
    """A matplotlib axis scale on which normally distributed scores make a straight DET curve.

    Parameters
    ----------
    axis : matplotlib.axis.Axis, optional
        Ignored; matplotlib's own way to make a scale passes it.

    Notes
    -----
    A probability is drawn at its probit, the inverse of the standard normal distribution function;
    data, limits and ticks stay probabilities. Lines to 0 and 1 run off the edge of the axes, and
    limits beyond (0, 1) are replaced by the nearest sensible ones.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().subplots()
    >>> axes.set_xscale(ProbitScale())
    >>> axes.set_xlim(0.001, 0.5)
    (0.001, 0.5)
    """

    name = "probit"

    def __init__(self, axis: Axis | None = None) -> None:
        self._transform = FuncTransform(_to_deviates, _to_rates)

    def get_transform(self) -> Transform:
        """Return the transform from probabilities to standard normal deviates."""
        return self._transform

    def set_default_locators_and_formatters(self, axis: Axis) -> None:
        """Label round probabilities in per cent; no minor ticks."""
        axis.set_major_locator(ProbitLocator())
        axis.set_major_formatter(PercentFormatter())
        axis.set_minor_locator(NullLocator())
        axis.set_minor_formatter(NullFormatter())

    def limit_range_for_scale(self, vmin: float, vmax: float, minpos: float) -> tuple[float, float]:
        """Return the limits, those at or beyond 0 and 1 replaced."""
        # The smallest positive number of the data decides how near to 0 and 1 the new ones are.
        margin = minpos if _SMALLEST_LIMIT < minpos < _LIMITS_WITHOUT_DATA[0] else 1e-6
        return _apart(_keep_inside(vmin, margin), _keep_inside(vmax, margin))

    def val_in_range(self, val: npt.ArrayLike) -> bool | BoolArray:  # type: ignore[override]
        """Tell if values can be drawn: from 0 to 1, both included."""
        inside: bool | BoolArray = (np.asarray(val) >= 0.0) & (np.asarray(val) <= 1.0)
        return inside


def _keep_inside(limit: float, margin: float) -> float:
    if limit < _SMALLEST_LIMIT:
        return margin
    return 1.0 - margin if limit > 1.0 - _SMALLEST_LIMIT else limit


def _apart(first: float, second: float) -> tuple[float, float]:
    """Return two limits as they are, or if they are equal two around them."""
    if first != second:
        return first, second
    # Equal steps on paper; equal steps of the probability could reach 0 or 1.
    deviate = scipy.special.ndtri(first)
    return float(scipy.special.ndtr(deviate - 0.1)), float(scipy.special.ndtr(deviate + 0.1))


def _rank_of(rate: float) -> int:
    """Return how soon a tick gives way: 1, 10 and 50 %, 0.5 and 5 %, 2 %, others."""
    digits = f"{min(rate, 1.0 - rate):.1e}"[:3]
    return ("1.0", "5.0", "2.0").index(digits) if digits in ("1.0", "5.0", "2.0") else 3


@functools.lru_cache(maxsize=1000)
def _size_in_points(text: str, points: float) -> tuple[float, float]:
    box = TextPath((0.0, 0.0), text, size=points, prop=FontProperties()).get_extents()
    return box.width, box.height


class ProbitLocator(Locator):
    """Ticks at given probabilities, or at round ones if the view has become another one.

    Parameters
    ----------
    ticks : iterable of float, default: ()
        Preferred ticks. They are replaced when so small a part of the axis is
        shown that fewer than three are seen, or so large a part that they crowd.
    """

    def __init__(self, ticks: Iterable[float] = ()) -> None:
        self.ticks = np.array(sorted(ticks), dtype=np.float64)

    def __call__(self) -> list[float]:
        """Return the ticks for the current view, those left out whose labels would touch."""
        axis: Axis = self.axis  # type: ignore[assignment]
        ticks = self.tick_values(*sorted(axis.get_view_interval()))
        side = 0 if axis is axis.axes.xaxis else 1
        points = float(axis.get_major_ticks(1)[0].label1.get_fontsize())
        texts = axis.get_major_formatter().format_ticks(ticks)
        # The windows of the toolkit have ticks that nearly touch.
        gap = (0.24 if self.ticks.size else 0.5) * points
        half = [0.5 * (_size_in_points(text, points)[side] + gap) for text in texts]
        places = np.tile([axis.axes.get_xlim()[0], axis.axes.get_ylim()[0]], (len(ticks), 1))
        places[:, side] = ticks
        centres = axis.axes.transData.transform(places)[:, side] * 72.0 / axis.axes.figure.dpi
        kept: list[int] = []
        for i in np.argsort([_rank_of(tick) for tick in ticks], kind="stable").tolist():
            if all(abs(centres[i] - centres[j]) >= half[i] + half[j] for j in kept):
                kept.append(i)
        return [ticks[i] for i in sorted(kept)]

    def tick_values(self, vmin: float, vmax: float) -> list[float]:
        """Return the ticks for a view from `vmin` to `vmax`."""
        in_view = _between(self.ticks, vmin, vmax)
        if in_view.size and (in_view.size >= _FEWEST_TICKS or in_view.size == self.ticks.size):
            low, high = np.clip([vmin, vmax], _SMALLEST_LIMIT, 1.0 - _SMALLEST_LIMIT)
            span = scipy.special.ndtri(high) - scipy.special.ndtri(low)
            covered = np.ptp(scipy.special.ndtri(self.ticks))
            if covered == 0.0 or covered * _LARGEST_ZOOM_OUT >= span:
                return [*self.ticks.tolist()]
        # Round probabilities p and 1 - p, the more of them the shorter the view is.
        for digits in (np.arange(1.0, 10.0), [1.0, 2.0, 5.0], [1.0]):
            small = np.outer(_DECADES, digits).ravel()
            small = small[small < 0.5]
            ticks = _between(np.sort(np.concatenate((small, [0.5], 1.0 - small))), vmin, vmax)
            if ticks.size <= _MOST_TICKS:
                break
        # A view so short that the scale is almost linear in it.
        if ticks.size < _FEWEST_TICKS:
            ticks = _between(np.asarray(MaxNLocator(5).tick_values(vmin, vmax)), vmin, vmax)
        return [*ticks.tolist()]

    def nonsingular(self, v0: float, v1: float) -> tuple[float, float]:
        """Return limits for an axis without data or with a single value."""
        low, high = sorted((v0, v1))
        if not (np.isfinite(low) and np.isfinite(high)):
            return _LIMITS_WITHOUT_DATA
        # What lies at or beyond 0 and 1, limit_range_for_scale brings back.
        return _apart(low, high) if 0.0 < low < 1.0 else (low, high)


def _between(ticks: Float64Array, low: float, high: float) -> Float64Array:
    # Limits come back from matplotlib through the transform and its inverse.
    margin = 1e-9 * (high - low)
    return ticks[(ticks >= low - margin) & (ticks <= high + margin)]


class PercentFormatter(Formatter):
    """Labels in per cent, without the sign.

    Parameters
    ----------
    labels : mapping of float to str, optional
        Labels of certain ticks, to be written in another way than ``5e-4`` or ``12.5``.
    """

    def __init__(self, labels: dict[float, str] | None = None) -> None:
        self.labels = {} if labels is None else dict(labels)

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a tick at probability `x`."""
        return self.labels.get(
            float(x), np.format_float_positional(100.0 * x, precision=10, trim="-")
        )
