"""The axis scale of DET plots: probabilities drawn at their standard normal deviates.

Nothing is registered with matplotlib; hand an instance to the axes:
``axes.set_xscale(ProbitScale())``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axis import Axis
from matplotlib.scale import FuncTransform, ScaleBase
from matplotlib.ticker import Formatter, Locator, MaxNLocator, NullFormatter, NullLocator
from matplotlib.transforms import Transform
from scipy import special

from bosaris_py._arrays import Float64Array
from bosaris_py.plots.looks import rank_of, thin_out

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
    return np.clip(special.ndtri(probabilities), -_PAST_THE_EDGE, _PAST_THE_EDGE)


def _to_rates(deviates: npt.ArrayLike) -> Float64Array:
    return np.asarray(special.ndtr(np.asarray(deviates, dtype=np.float64)))


class ProbitScale(ScaleBase):
    """A matplotlib axis scale on which normally distributed scores make a straight DET curve.

    Parameters
    ----------
    axis : matplotlib.axis.Axis, optional
        Ignored; matplotlib's own way to make a scale passes it.

    Notes
    -----
    A probability is drawn at its probit, the inverse of the standard normal distribution
    function; data, limits and ticks stay probabilities. 0 and 1 are legal data: lines to them
    run off the edge of the axes. (Values outside [0, 1] are drawn as 0 or 1.) Limits beyond
    (0, 1) are replaced by the nearest sensible ones, so that panning and zooming never fail.

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

    def val_in_range(self, val: Any) -> Any:
        """Tell if values can be drawn: from 0 to 1, both included."""
        values = np.asarray(val)
        inside = (values >= 0.0) & (values <= 1.0)
        return bool(inside) if values.ndim == 0 else inside


def _keep_inside(limit: float, margin: float) -> float:
    if limit < _SMALLEST_LIMIT:
        return margin
    return 1.0 - margin if limit > 1.0 - _SMALLEST_LIMIT else limit


def _apart(first: float, second: float) -> tuple[float, float]:
    """Return two limits as they are, or if they are equal two around them."""
    if first != second:
        return first, second
    # Equal steps on paper; equal steps of the probability could reach 0 or 1.
    deviate = special.ndtri(first)
    return float(special.ndtr(deviate - 0.1)), float(special.ndtr(deviate + 0.1))


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

    def __call__(self) -> Any:
        """Return the ticks for the current view."""
        low, high = sorted(self.axis.get_view_interval())  # type: ignore[union-attr]
        ticks = self.tick_values(low, high)
        labels = self.axis.major.formatter.format_ticks(ticks)  # type: ignore[union-attr]
        return thin_out(ticks, labels, [rank_of(tick) for tick in ticks], self.axis)

    def tick_values(self, vmin: float, vmax: float) -> Any:
        """Return the ticks for a view from `vmin` to `vmax`."""
        in_view = _between(self.ticks, vmin, vmax)
        if in_view.size and (in_view.size >= _FEWEST_TICKS or in_view.size == self.ticks.size):
            span = special.ndtri(np.clip([vmin, vmax], _SMALLEST_LIMIT, 1.0 - _SMALLEST_LIMIT))
            covered = special.ndtri(self.ticks[-1]) - special.ndtri(self.ticks[0])
            if covered == 0.0 or covered * _LARGEST_ZOOM_OUT >= span[1] - span[0]:
                return self.ticks
        # Round probabilities p and 1 - p, the more of them the shorter the view is.
        for digits in (np.arange(1.0, 10.0), [1.0, 2.0, 5.0], [1.0]):
            small = np.outer(_DECADES, digits).ravel()
            small = small[small < 0.5]
            ladder = np.sort(np.concatenate((small, [0.5], 1.0 - small)))
            ticks = _between(ladder, vmin, vmax)
            if ticks.size <= _MOST_TICKS:
                break
        # A view so short that the scale is almost linear in it.
        if ticks.size < _FEWEST_TICKS:
            ticks = _between(np.asarray(MaxNLocator(5).tick_values(vmin, vmax)), vmin, vmax)
        return ticks

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

    def format_data_short(self, value: float) -> str:
        """Return a probability as shown beside the mouse pointer."""
        return f"{100.0 * value:.4g}%"
