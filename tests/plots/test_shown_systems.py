"""Order, looks, legends and highlights of plots of several systems."""

import re
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.plots import (
    plot_bayes,
    plot_det,
    plot_ece,
    plot_pav,
    plot_reliability,
    plot_tippett,
)
from bosaris_py.plots.looks import system_look

DRAW = {
    plot_det: "steppy_det",
    plot_bayes: "dcf_curve_act",
    plot_tippett: "tar",
    plot_ece: "act",
    plot_pav: "pav",
}
ALL = [*DRAW, plot_reliability]


@pytest.fixture(scope="module")
def systems() -> dict[str, Results]:
    """Five systems, the second of which is the best and the last the worst."""
    rng = np.random.default_rng(5)
    non = rng.normal(-2, 2, 1000)
    means = {"a": 2.0, "b": 5.0, "c": 3.0, "d": 4.0, "e": 1.0}
    return {name: Results(rng.normal(mean, 2, 200), non) for name, mean in means.items()}


def _names(plot: Any) -> list[str]:
    texts = [text.get_text() for text in plot.ax.get_legend().get_texts()]
    return list(dict.fromkeys(text[0] for text in texts if re.match(r"[a-e]( |$)", text)))


@pytest.mark.parametrize("draw", ALL)
def test_order(draw: Any, systems: dict[str, Results]) -> None:
    best_first = sorted(systems, key=lambda name: systems[name].eer)
    assert best_first == ["b", "d", "c", "a", "e"]
    assert _names(draw(systems, order="eer")) == best_first
    assert _names(draw(systems, order=["c", "a"])) == ["c", "a", "b", "d", "e"]
    assert _names(draw(systems)) == [*systems]
    by_cllr = sorted(systems, key=lambda name: systems[name].cllr)
    assert _names(draw(systems, order="cllr")) == by_cllr


@pytest.mark.parametrize(("draw", "kind"), DRAW.items())
def test_a_system_keeps_its_colour_in_any_order(
    draw: Any, kind: str, systems: dict[str, Results]
) -> None:
    colours = []
    for order in (None, "eer"):
        plot = draw(systems, order=order)
        found = {
            line.get_label().split(" ")[0]: to_hex(line.get_color())
            for line in plot.artists[kind]
            if line.get_label()[0] != "_"
        }
        colours.append(found)
    assert colours[0] == colours[1]
    own = {name: to_hex(system_look(i, plot.ax).colour) for i, name in enumerate(systems)}
    assert colours[0] == own


@pytest.mark.parametrize("draw", ALL)
def test_the_others_are_grey(draw: Any, systems: dict[str, Results]) -> None:
    plot = draw(systems, highlight=["b", "e"])
    assert _names(plot) == ["b", "e"]
    assert "3 others" in [text.get_text() for text in plot.ax.get_legend().get_texts()]
    coloured = {to_hex(system_look(number, plot.ax).colour) for number in (1, 4)}
    for number in (0, 2, 3):
        hidden = to_hex(system_look(number, plot.ax).colour)
        assert hidden not in {to_hex(line.get_color()) for line in plot.ax.lines} - coloured
    grey = [line for line in plot.ax.lines if line.get_zorder() < 1.7 and line.get_zorder() > 1.5]
    assert len(grey) >= 3
    # Grey on white: 72 % of white and 28 % of black.
    assert to_rgb(grey[0].get_color()) == pytest.approx((0.72,) * 3)
    assert "1 other" in [
        text.get_text()
        for text in draw(systems, highlight=["a", "b", "c", "d"]).ax.get_legend().get_texts()
    ]


@pytest.mark.parametrize(("draw", "kind"), DRAW.items())
def test_looks_of_a_system(draw: Any, kind: str, systems: dict[str, Results]) -> None:
    wanted = {"a": {"c": "red", "lw": 3.0}, "c": {"linestyle": "--", "marker": "*"}}
    plot = draw(systems, looks=wanted)
    lines = {line.get_label().split(" ")[0]: line for line in plot.artists[kind]}
    assert to_rgb(lines["a"].get_color()) == (1, 0, 0)
    assert lines["a"].get_linewidth() == 3.0
    assert (lines["c"].get_linestyle(), lines["c"].get_marker()) == ("--", "*")
    assert lines["b"].get_color() == system_look(1, plot.ax).colour


@pytest.mark.parametrize("draw", ALL)
def test_no_legend(draw: Any, systems: dict[str, Results]) -> None:
    assert draw(systems, legend=False).ax.get_legend() is None
    beside = draw(systems, legend="beside")
    beside.figure.draw_without_rendering()
    assert beside.ax.get_legend().get_window_extent().x0 >= beside.ax.get_window_extent().x1


def test_bands_of_grey_systems_are_left_out(systems: dict[str, Results]) -> None:
    plot = plot_det(systems, highlight="b", prior=0.5)
    assert len(plot.artists["eer_point"]) == 1
    assert len(plot.artists["steppy_det"]) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": "err"}, "`order` must be one of 'eer', 'cllr', 'min_cllr', or a list of names"),
        ({"order": ["z"]}, r"`order` must name systems of the plot \('a', 'b'"),
        ({"order": 3}, "`order` must be a name or a list of names; got 3"),
        ({"highlight": "aa"}, "`highlight` must name systems of the plot .*; got 'aa'"),
        ({"highlight": {"a"}}, "`highlight` must be a name or a list of names; got {'a'}"),
        ({"looks": {"z": {}}}, "`looks` must name systems of the plot"),
        ({"looks": "red"}, "`looks` must map names of systems to properties"),
        ({"looks": {"a": "red"}}, "`looks` must map .*; got 'red' for a"),
        ({"looks": {"a": {"colour": "red"}}}, "`looks` must have color, .*; got 'colour'"),
        ({"legend": "left"}, "`legend` must be True, False, 'beside', 'below', 'direct'; got"),
    ],
)
def test_wrong_options(systems: dict[str, Results], options: dict[str, Any], message: str) -> None:
    for draw in (plot_det, plot_tippett):
        with pytest.raises(InvalidInputError, match=message):
            draw(systems, **options)
