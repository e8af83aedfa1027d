"""Which systems a plot has: their order, their looks, their bands, and those that stand out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import attrs
import numpy as np
import numpy.typing as npt
from matplotlib.lines import Line2D

from bosaris_py._validation import describe, invalid, list_some
from bosaris_py.evaluation import Results
from bosaris_py.numerics.priors import DecisionCosts, PriorLike, sigmoid
from bosaris_py.plots import looks
from bosaris_py.plots.looks import Settings
from bosaris_py.uncertainty.bands import Band, BandKind

Systems: TypeAlias = Mapping[str, Results | tuple[npt.ArrayLike, npt.ArrayLike]] | Results
# Properties of matplotlib's lines by name of the system.
Looks: TypeAlias = Mapping[str, Mapping[str, object]] | None
Names: TypeAlias = str | Sequence[str] | None

# What a caller may choose for all lines of a system; for its points, the first three.
PROPERTIES = ("color", "alpha", "zorder", "linestyle", "linewidth", "marker", "markersize")


def results_of(systems: Systems) -> dict[str, Results]:
    """Return results by name, of what a plot of several systems takes."""
    expected = "be a mapping from names to Results or to (tar, non)"
    given: object = {"": systems} if isinstance(systems, Results) else systems
    if not isinstance(given, Mapping) or not given:
        raise invalid("systems", expected, describe(systems))
    found = {}
    for name, value in given.items():
        match value:
            case Results():
                found[str(name)] = value
            case (tar, non):
                found[str(name)] = Results(tar, non)
            case _:
                raise invalid("systems", expected, f"{describe(value)} for {name}")
    return found


def bands_of(
    bands: Mapping[str, Band] | None, names: Iterable[str], kind: BandKind
) -> dict[str, Band]:
    """Return bands by the names of the systems of a plot, to which all must belong."""
    found = dict(bands or {})
    check_names([*found], [*names], "bands")
    for band in found.values():
        check_band(band, kind)
    return found


def check_band(band: object, kind: BandKind) -> None:
    """Raise unless `band` is around a curve of this kind."""
    if getattr(band, "kind", None) != kind:
        hint = "uncertainty.bootstrap_bands makes one."
        raise invalid("band", f'be of kind="{kind}"', describe(band), hint)


def log_odds(prior: PriorLike | None) -> list[float]:
    """Return the prior log-odds of operating points; without any, none."""
    return [] if prior is None else np.ravel(DecisionCosts.from_prior(prior).plo).tolist()


def per_cent(plo: float) -> str:
    """Return the prior at log-odds as it is written beside a line."""
    return f"{100.0 * sigmoid(plo):.3g} %"


def check_names(value: Names, given: Sequence[str], argument: str) -> list[str]:
    """Return names that a caller chose, each of which the plot must have."""
    names = [value] if isinstance(value, str) else [*(value or ())]
    for name in names:
        if name not in given:
            expected = f"name systems of the plot ({list_some(map(repr, given), 20)})"
            raise invalid(argument, expected, describe(name))
    return names


def in_order(
    given: Sequence[str], order: Names, ranks: Mapping[str, Callable[[str], float]]
) -> list[str]:
    """Return names by a figure, or those first that a caller named."""
    if isinstance(order, str):
        if order not in ranks:
            known = ", ".join(map(repr, ranks))
            raise invalid("order", f"be one of {known}, or a list of names", describe(order))
        return sorted(given, key=ranks[order])
    return [*dict.fromkeys([*check_names(order, given, "order"), *given])]


@attrs.frozen(eq=False)
class Chosen:
    """Systems in the order in which they are drawn, and how.

    Parameters
    ----------
    results : dict of str to Results
        Those that are grey come first, so that they lie below.
    given : list of str
        Names as they came, which number the colours.
    looks : dict of str to dict
        Properties of lines, by their full names.
    grey : frozenset of str
        Names of systems that do not stand out.
    legend : bool or str
        As for `plot_det`.
    """

    results: dict[str, Results]
    given: list[str]
    looks: dict[str, Settings]
    grey: frozenset[str]
    legend: bool | str


def choose(
    systems: Systems, wanted: Looks, order: Names, highlight: Names, *, legend: bool | str
) -> Chosen:
    """Check the options of a plot before anything is drawn, and put its systems in order."""
    judged = results_of(systems)
    given = [*judged]
    if legend not in (True, False, "beside", "below"):
        raise invalid("legend", "be True, False, 'beside' or 'below'", describe(legend))
    strong = check_names(highlight, given, "highlight") or given
    grey = frozenset(given) - {*strong}
    ranks: dict[str, Callable[[str], float]] = {
        "eer": lambda name: judged[name].eer,
        "cllr": lambda name: judged[name].cllr,
        "min_cllr": lambda name: judged[name].min_cllr,
    }
    names = sorted(in_order(given, order, ranks), key=lambda name: name not in grey)
    check_names([*(wanted or {})], given, "looks")
    found = {name: looks.checked(each, Line2D) for name, each in (wanted or {}).items()}
    for properties in found.values():
        for key in properties:
            if key not in PROPERTIES:
                raise invalid("looks", f"have {', '.join(PROPERTIES)}", describe(key))
    return Chosen({name: judged[name] for name in names}, given, found, grey, legend)
