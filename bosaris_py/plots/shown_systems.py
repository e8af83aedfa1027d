"""Which systems a plot has: their order, their looks, and those that stand out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
from matplotlib import cbook
from matplotlib.lines import Line2D

from bosaris_py._validation import describe, invalid, list_some
from bosaris_py.evaluation import Results
from bosaris_py.numerics.priors import DecisionCosts, PriorLike, sigmoid
from bosaris_py.plots.looks import Settings
from bosaris_py.uncertainty.bands import Band, BandKind

Systems: TypeAlias = Mapping[str, Results | tuple[npt.ArrayLike, npt.ArrayLike]] | Results

# Properties of lines that a caller may choose for all lines of a system.
_PROPERTIES = ("color", "linestyle", "linewidth", "marker", "markersize", "alpha", "zorder")

_PLACES = ("beside", "below", "direct")

_ORDERS: dict[str, Callable[[Results], float]] = {
    "eer": lambda results: results.eer,
    "cllr": lambda results: results.cllr,
    "min_cllr": lambda results: results.min_cllr,
}


# Properties of matplotlib's lines by name of the system: color, linestyle, linewidth, marker,
# markersize, alpha, zorder.
Looks: TypeAlias = Mapping[str, Mapping[str, object]] | None


@attrs.frozen(eq=False)
class Chosen:
    """Systems in the order in which they are drawn.

    Parameters
    ----------
    results : dict of str to Results, or to what is drawn of a name
        Those that are grey come first, so that they lie below.
    given : list of str
        Names as they came, which number the colours.
    looks : dict of str to dict
        Properties of lines, by their full names.
    others : frozenset of str
        Names of systems that are grey.
    legend : bool or str
        As in `Styling`.
    """

    results: Settings
    given: list[str]
    looks: dict[str, Settings]
    others: frozenset[str]
    legend: bool | str

    @classmethod
    def of(
        cls,
        judged: Mapping[str, object],
        looks: Looks,
        legend: object,
        order: str | Sequence[str] | None,
        highlight: str | Sequence[str] | None,
    ) -> Chosen:
        """Check the options of a plot and put its systems in order."""
        given = [*judged]
        if not isinstance(legend, bool) and not (isinstance(legend, str) and legend in _PLACES):
            known = ", ".join(map(repr, _PLACES))
            raise invalid("legend", f"be True, False, {known}", describe(legend))
        wanted = _names_of(highlight, given, "highlight")
        others = frozenset(name for name in given if name not in wanted) if wanted else frozenset()
        drawn = sorted(_ordered(judged, order), key=lambda name: name not in others)
        return cls(
            {name: judged[name] for name in drawn}, given, _looks_of(looks, given), others, legend
        )


def rows_in_order(
    values: Mapping[str, float], order: object, highlight: object
) -> tuple[list[int], list[bool]]:
    """Return the rows of a plot in their order, and of each whether it stands out."""
    given = [*values]
    if order is None or not isinstance(order, str):
        names = _ordered(values, order)
    elif order == "value":
        names = sorted(given, key=lambda name: values[name])
    else:
        raise invalid("order", "be 'value' or a list of names", describe(order))
    wanted = _names_of(highlight, given, "highlight") or given
    return [given.index(name) for name in names], [name in wanted for name in names]


def _names_of(value: object, given: Sequence[str], argument: str) -> list[str]:
    """Return names of systems, each of which the plot has."""
    if value is None:
        return []
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        raise invalid(argument, "be a name or a list of names", describe(value))
    for name in names:
        if name not in given:
            expected = f"name systems of the plot ({list_some(map(repr, given), 20)})"
            raise invalid(argument, expected, describe(name))
    return list(names)


def _ordered(judged: Mapping[str, Any], order: object) -> list[str]:
    given = [*judged]
    if order is None:
        return given
    if isinstance(order, str):
        if order not in _ORDERS or not all(isinstance(item, Results) for item in judged.values()):
            known = f"one of {', '.join(map(repr, _ORDERS))}, or "
            of_systems = all(isinstance(item, Results) for item in judged.values())
            expected = f"be {known if of_systems else ''}a list of names"
            raise invalid("order", expected, describe(order))
        return sorted(given, key=lambda name: _ORDERS[order](judged[name]))
    first = _names_of(order, given, "order")
    return [*dict.fromkeys(first), *(name for name in given if name not in first)]


def _looks_of(looks: object, given: Sequence[str]) -> dict[str, Settings]:
    if looks is None:
        return {}
    expected = "map names of systems to properties, such as {'color': 'k'}"
    if not isinstance(looks, Mapping):
        raise invalid("looks", expected, describe(looks))
    _names_of([*looks], given, "looks")
    found: dict[str, Settings] = {}
    for name, properties in looks.items():
        if not isinstance(properties, Mapping):
            raise invalid("looks", expected, f"{describe(properties)} for {name}")
        full: Settings = cbook.normalize_kwargs(dict(properties), Line2D)
        for key in full:
            if key not in _PROPERTIES:
                raise invalid("looks", f"have {', '.join(_PROPERTIES)}", describe(key))
        found[name] = full
    return found


def results_of(systems: object) -> dict[str, Results]:
    """Return results by name, of what a plot of several systems takes."""
    if isinstance(systems, Results):
        return {"": systems}
    expected = "be a mapping from names to Results or to (tar, non)"
    if not isinstance(systems, Mapping) or not systems:
        raise invalid("systems", expected, describe(systems))
    for name, value in systems.items():
        if not (isinstance(value, Results) or (isinstance(value, tuple) and len(value) == 2)):
            raise invalid("systems", expected, f"{describe(value)} for {name}")
    return {
        str(name): value if isinstance(value, Results) else Results(*value)
        for name, value in systems.items()
    }


def bands_of(bands: object, systems: Iterable[str], kind: BandKind) -> dict[str, Band]:
    """Return bands by the names of the systems of a plot, to which all must belong."""
    if bands is None:
        return {}
    if not isinstance(bands, Mapping):
        raise invalid("bands", "map names of systems to bands", describe(bands))
    names = list(systems)
    found = {str(name): band for name, band in bands.items()}
    for name, band in found.items():
        if name not in names:
            expected = f"name systems of the plot ({list_some(map(repr, names), 20)})"
            raise invalid("bands", expected, describe(name))
        if not isinstance(band, Band) or band.kind != kind:
            hint = "uncertainty.bootstrap_bands makes one."
            raise invalid("bands", f'be of kind="{kind}"', describe(band), hint)
    return found


def log_odds(prior: PriorLike | None) -> list[float]:
    """Return the prior log-odds of operating points; without any, none."""
    return [] if prior is None else np.ravel(DecisionCosts.from_prior(prior).plo).tolist()


def per_cent(plo: float) -> str:
    """Return the prior at log-odds as it is written beside a line."""
    return f"{100.0 * sigmoid(plo):.3g} %"
