"""A panel for each system: what is in colour, shared limits, outer labels."""

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.plots import plot_grid, style
from bosaris_py.plots.looks import system_look
from bosaris_py.plots.panels import KINDS


@pytest.fixture(scope="module")
def systems() -> dict[str, Results]:
    rng = np.random.default_rng(5)
    non = rng.normal(-2, 2, 400)
    return {f"s{i}": Results(rng.normal(4 - i, 2, 100), non) for i in range(5)}


@pytest.mark.parametrize("kind", KINDS)
def test_each_panel_has_one_system_in_colour(kind: str, systems: dict[str, Results]) -> None:
    grid = plot_grid(systems, kind, title="All")
    assert [*grid.plots] == [*systems]
    assert repr(grid) == "PlotGrid: 5 panels"
    limits = set()
    for number, (name, plot) in enumerate(grid.plots.items()):
        assert plot.ax.get_title() == name
        assert plot.ax.get_legend() is None
        colours = {to_hex(line.get_color()) for line in plot.ax.lines}
        for other in range(5):
            own = to_hex(system_look(other, plot.ax).colour)
            assert (own in colours) == (other == number)
        limits.add((plot.ax.get_xlim(), plot.ax.get_ylim()))
        # Labels at the outer panels only: three columns.
        assert bool(plot.ax.get_ylabel()) == (number % 3 == 0)
        assert bool(plot.ax.get_xlabel()) == (number >= 2)
    assert len(limits) == 1
    assert grid.figure.get_suptitle() == "All"
    assert grid._repr_svg_().rstrip().endswith("</svg>")


@pytest.mark.slow
def test_histograms_share_their_axis(systems: dict[str, Results]) -> None:
    grid = plot_grid(systems, "histogram", columns=2, prior=0.5)
    assert len({plot.ax.get_xlim() for plot in grid.plots.values()}) == 1
    legends = [plot.ax.get_legend() is not None for plot in grid.plots.values()]
    assert legends == [True, False, False, False, False]


def test_order_and_width_of_panels(systems: dict[str, Results], tmp_path: Any) -> None:
    with style("paper"):
        grid = plot_grid(systems, "det", order=["s3"], columns=3)
    assert next(iter(grid.plots)) == "s3"
    assert grid.figure.get_size_inches()[0] == 3.3
    grid.save(tmp_path / "a.png", dpi=50)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "dett"}, "`kind` must be .*'det'"),
        ({"highlight": "s1"}, "`highlight` must be left out of a grid of panels"),
        ({"order": "best"}, "`order` must be one of 'eer'"),
    ],
)
def test_wrong_options(
    systems: dict[str, Results], arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        plot_grid(systems, **arguments)
