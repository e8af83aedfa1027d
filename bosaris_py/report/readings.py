"""What the script of a report reads off its curves: numbers of each system, and its controls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import numpy as np
import scipy

from bosaris_py._arrays import Float64Array
from bosaris_py._tables import html_name, html_table
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.curves import BayesCurves
from bosaris_py.numerics.priors import DecisionCosts, OperatingPoint

# Prior log-odds of the slider, 0.1 % to 99.9 %; operating points are added.
_LOG_ODDS = np.linspace(-7.0, 7.0, 71)

# So many points of a DET curve can be read, evenly spaced within these probits.
_POINTS = 60
_FARTHEST = 4.0

_HEAD = (
    "<tr><th>system</th><th>misses (%)</th><th>false alarms (%)</th><th>actual cost</th>"
    "<th>minimum cost</th></tr>"
)
_NOTE = (
    "decisions at the threshold that the prior implies for log-likelihood-ratios; costs are "
    "normalized. What is unticked is not drawn"
)


def controls(results: Mapping[str, Results], points: Iterable[float | OperatingPoint]) -> str:
    """Return a slider of the prior and a table of systems, hidden until a script fills them.

    Parameters
    ----------
    results : mapping of str to Results
        The systems, each of which has a row with the numbers of its curves.
    points : iterable of float or OperatingPoint
        Operating points, at the first of which the slider begins.

    Returns
    -------
    str
        HTML.
    """
    costs = list(points)
    marked = np.ravel(DecisionCosts.from_prior(costs).plo) if costs else np.zeros(1)
    log_odds = np.unique(np.append(_LOG_ODDS, marked))
    rows = "".join(
        f'<tr class="s{number}" data-det="{_det(found)}" data-bayes="{_bayes(found, log_odds)}">'
        '<td><label><input type="checkbox" checked> <span class="swatch"></span> '
        f"<span>{html_name(name)}</span></label></td>{'<td></td>' * 4}</tr>"
        for number, (name, found) in enumerate(results.items())
    )
    first = int(np.searchsorted(log_odds, marked[0]))
    return (
        '<div id="prior" hidden><label for="plo">Prior of a target</label>'
        f'<input id="plo" type="range" min="0" max="{log_odds.size - 1}" value="{first}" '
        f'data-plo="{numbers(log_odds, 6)}"><output for="plo"></output></div>'
        f'<div id="readings" class="wide" hidden>{html_table(_HEAD, [rows], _NOTE)}</div>'
    )


def numbers(values: Iterable[float], digits: int = 4) -> str:
    """Return numbers for an attribute, as short as SVG writes them: without a leading nought."""
    texts = (f"{value + 0.0:.{digits}g}" for value in values)
    # A nought before a point or in an exponent says nothing.
    return " ".join(re.sub(r"(?<=e-)0|^(-?)0(?=\.)", r"\1", text) for text in texts)


def _det(results: Results) -> str:
    """Return false-alarm rate, miss rate and threshold of points of the DET curve."""
    roc = results.roc
    ends = np.isfinite(roc.thresholds)
    curve = np.stack((roc.pfa, roc.pmiss, roc.thresholds))[:, ends]
    if not curve.size:
        return ""
    probits = np.clip(scipy.special.ndtri(curve[:2]), -_FARTHEST, _FARTHEST)
    way = np.append(0.0, np.cumsum(np.abs(np.diff(probits)).sum(axis=0)))
    chosen = np.searchsorted(way, np.linspace(0.0, way[-1], _POINTS))
    return _triples(curve[:, np.unique(chosen)])


def _bayes(results: Results, log_odds: Float64Array) -> str:
    """Return miss rate, false-alarm rate and minimum cost at each of the prior log-odds."""
    curves = BayesCurves.from_results(results, log_odds)
    return _triples(np.stack((curves.act_pmiss, curves.act_pfa, curves.min_dcf)))


def _triples(columns: Float64Array) -> str:
    return numbers(columns.T.ravel().tolist(), 3)
