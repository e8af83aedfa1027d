"""Which part of the plane a DET plot shows, and where its ticks are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from bosaris_py._validation import describe, invalid


def _to_numbers(values: Any) -> Any:
    """Return a tuple of floats, or what cannot be one as it is for the validator to refuse."""
    try:
        return None if values is None else tuple(float(value) for value in values)
    except (TypeError, ValueError):
        return values


def _to_texts(values: Any) -> Any:
    if values is None or isinstance(values, str):
        return values
    return tuple(str(value) for value in values)


def _check_probabilities(field: "attrs.Attribute[Any]", values: Any, expected: str) -> None:
    """Raise unless `values` is a tuple of ascending probabilities within (0, 1)."""
    good = isinstance(values, tuple) and list(values) == sorted(set(values))
    if not (good and all(0.0 < value < 1.0 for value in values)):
        percent = isinstance(values, tuple) and any(1.0 < value <= 100.0 for value in values)
        hint = "Percentages must be divided by 100." if percent else ""
        raise invalid(field.name, expected, describe(values), hint)


def _check_limits(window: "DETWindow", field: "attrs.Attribute[Any]", limits: Any) -> None:
    expected = "be two probabilities with 0 < lower < upper < 1"
    _check_probabilities(field, limits, expected)
    if len(limits) != 2:
        raise invalid(field.name, expected, describe(limits))


def _check_ticks(window: "DETWindow", field: "attrs.Attribute[Any]", ticks: Any) -> None:
    if ticks is not None:
        _check_probabilities(field, ticks, "be ascending probabilities within (0, 1)")


def _check_labels(window: "DETWindow", field: "attrs.Attribute[Any]", labels: Any) -> None:
    ticks = window.xticks if field.name == "xticklabels" else window.yticks
    expected = "have one label for each tick"
    if isinstance(labels, str):
        raise invalid(field.name, expected, describe(labels))
    if labels is not None and (ticks is None or len(ticks) != len(labels)):
        got = f"{len(labels)} for {'no' if ticks is None else len(ticks)} ticks"
        raise invalid(field.name, expected, got)


@attrs.frozen
class DETWindow:
    """The part of the plane that a DET plot shows.

    Parameters
    ----------
    pfa_limits, pmiss_limits : (float, float)
        Lowest and highest false-alarm rate and miss rate shown, strictly between
        0 and 1.
    xticks, yticks : sequence of float, optional
        Where the ticks of the false-alarm axis and of the miss axis are: ascending
        probabilities. By default at round numbers.
    xticklabels, yticklabels : sequence of str, optional
        Their labels, one for each tick. By default the ticks in per cent.

    Raises
    ------
    InvalidInputError
        If a limit or tick is not a probability, limits or ticks do not ascend,
        or the number of labels is not that of the ticks.

    Notes
    -----
    Names and order as in the toolkit's ``make_plot_window_from_values.m``. Its four
    ready-made windows are in `WINDOWS`.

    Examples
    --------
    >>> DETWindow((0.01, 0.4), (0.01, 0.4), xticks=[0.01, 0.1, 0.4]).xticks
    (0.01, 0.1, 0.4)
    """

    pfa_limits: tuple[float, float] = attrs.field(converter=_to_numbers, validator=_check_limits)
    pmiss_limits: tuple[float, float] = attrs.field(converter=_to_numbers, validator=_check_limits)
    xticks: tuple[float, ...] | None = attrs.field(
        default=None, converter=_to_numbers, validator=_check_ticks
    )
    xticklabels: tuple[str, ...] | None = attrs.field(
        default=None, converter=_to_texts, validator=_check_labels
    )
    yticks: tuple[float, ...] | None = attrs.field(
        default=None, converter=_to_numbers, validator=_check_ticks
    )
    yticklabels: tuple[str, ...] | None = attrs.field(
        default=None, converter=_to_texts, validator=_check_labels
    )


_NEW_PFA = (1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3)

_NEW_PMISS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98)

_OLD = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4)

_BIG = (5e-6, 5e-5, 5e-4, 0.005, 0.025, 0.1, 0.25, 0.5, 0.72, 0.88, 0.96, 0.99)

_SRE10_PFA = (1e-5, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)

_SRE10_PMISS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)

_OLD_LABELS = ("0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "30", "40")

_BIG_LABELS = ("5e-4", "5e-3", "0.05", "0.5", "2.5", "10", "25", "50", "72", "88", "96", "99")

WINDOWS: Mapping[str, DETWindow] = MappingProxyType(
    {
        "new": DETWindow(
            pfa_limits=(5e-6, 5e-3),
            pmiss_limits=(0.01, 0.99),
            xticks=_NEW_PFA,
            xticklabels=("1e-3", "2e-3", "5e-3", "0.01", "0.02", "0.05", "0.1", "0.2"),
            yticks=_NEW_PMISS,
        ),
        "old": DETWindow(
            pfa_limits=(5e-4, 0.5),
            pmiss_limits=(5e-4, 0.5),
            xticks=_OLD,
            xticklabels=_OLD_LABELS,
            yticks=_OLD,
            yticklabels=_OLD_LABELS,
        ),
        "big": DETWindow(
            pfa_limits=(5e-6, 0.99),
            pmiss_limits=(5e-6, 0.99),
            xticks=_BIG[1:],
            xticklabels=_BIG_LABELS[1:],
            yticks=_BIG,
            yticklabels=_BIG_LABELS,
        ),
        "sre10": DETWindow(
            pfa_limits=(3e-6, 0.5), pmiss_limits=(3e-4, 0.9), xticks=_SRE10_PFA, yticks=_SRE10_PMISS
        ),
    }
)

"""The four windows of the MATLAB toolkit: ``old`` for NIST evaluations up to 2008 and for
error-rates of some per cent, ``new`` for very low false-alarm rates (SRE 2010), ``sre10`` between
both, and ``big`` for almost everything."""


def find_window(window: str | DETWindow) -> DETWindow:
    """Return a window as it is, or the ready-made one of a name.

    Parameters
    ----------
    window : str or DETWindow
        "new", "old", "big", "sre10", or a window.

    Returns
    -------
    DETWindow

    Raises
    ------
    InvalidInputError
        If there is no window of that name.
    """
    if isinstance(window, DETWindow):
        return window
    try:
        return WINDOWS[window]
    except (KeyError, TypeError):
        known = ", ".join(f"'{name}'" for name in WINDOWS)
        expected = f"be one of {known}, or a DETWindow"
        raise invalid("window", expected, describe(window)) from None
