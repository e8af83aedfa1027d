"""Plots of spoofed trials: the lines are the figures of the functions."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.plots import plot_a_dcf


@pytest.fixture(scope="module")
def lists():
    rng = np.random.default_rng(1)
    return [rng.normal(mean, 2, 60) for mean in (3, -3, -1)]


def test_costs_are_those_of_each_prior(lists):
    priors = [0.01, 0.05, 0.2]
    plot = plot_a_dcf({"A": lists}, priors=priors, costs="ASVspoof5")
    assert plot.get_ylabel() == "normalized a-DCF"
    for number, prior in enumerate(priors):
        # The kit's proportion of targets and impostors is kept.
        costs = bp.SpoofCosts((1 - prior) * 0.99, (1 - prior) * 0.01, prior, 1.0, 10.0, 10.0)
        for kind, function in (("min", bp.a_dcf), ("act", bp.act_a_dcf)):
            (line,) = plot.artists[kind]
            # Priors are products of roundings.
            expected = function(*lists, costs)
            assert line.get_ydata()[number] == pytest.approx(expected, rel=1e-12)
    (marked,) = plot.artists["prior"]
    assert set(marked.get_xdata()) == {0.05}


def test_only_minima_where_scores_are_no_llrs(lists):
    far = [part * 50 for part in lists]
    with pytest.warns(bp.errors.SuspectScoresWarning) as caught:
        plot_a_dcf({"A": far}, priors=[0.1, 0.2, 0.3])
    assert len(caught) == 1
    plot = plot_a_dcf({"A": far}, actual=False, priors=[0.1, 0.2])
    assert "act" not in plot.artists
    # Outside of what is shown there is no mark.
    assert "prior" not in plot.artists


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": {}}, "`systems` must map names"),
        ({"systems": {"A": [1.0, 2.0]}}, r"`systems\['A'\]` must be three lists"),
        ({"priors": [0.2, 0.1]}, "`priors` must be two or more, rising"),
        ({"priors": [0.0, 0.1]}, "`priors` must be two or more"),
        ({"priors": 0.1}, "`priors` must be two or more"),
    ],
)
def test_bad_input(lists, change, message):
    given = {"systems": {"A": lists}, **change}
    with pytest.raises(InvalidInputError, match=message):
        plot_a_dcf(given.pop("systems"), **given)
