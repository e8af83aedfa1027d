"""Histograms of standard errors: bars, means and legend."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from bosaris_py.errors import InvalidInputError
from bosaris_py.plots import plot_standard_errors
from bosaris_py.uncertainty.papers.standard_errors import StandardErrorDistribution

Runs = dict[str, StandardErrorDistribution]


@pytest.fixture
def runs(rng: np.random.Generator) -> Runs:
    """Three methods as in Wu et al.'s table II, system EL: means and spreads."""
    table = {"iid": (7.0e-4, 1.1e-5), "one-layer": (1.90e-3, 3e-5), "two-layer": (1.98e-3, 3.2e-5)}
    return {
        name: StandardErrorDistribution(
            0.022, rng.normal(mean, spread, 500), mean, mean, name, 2000, 0.95
        )
        for name, (mean, spread) in table.items()
    }


def test_histograms_count_the_runs(runs: Runs) -> None:
    axes = plot_standard_errors(runs, bins=10)
    assert len(axes.patches) == 3
    for patch, distribution in zip(axes.patches, runs.values(), strict=True):
        counts, edges = np.histogram(distribution.standard_errors, bins=10)
        outline = patch.get_path().vertices
        assert outline[:, 1].max() == counts.max()
        # The ends of the outline are the smallest and the largest standard error.
        np.testing.assert_array_equal(
            [outline[:, 0].min(), outline[:, 0].max()], [edges[0], edges[-1]]
        )
    assert axes.get_ylim()[0] == 0.0
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("standard error", "number of runs")


def test_circles_are_the_means(runs: Runs) -> None:
    axes = plot_standard_errors(runs)
    (circles,) = axes.lines
    np.testing.assert_array_equal(circles.get_xdata(), [r.mean for r in runs.values()])
    np.testing.assert_array_equal(circles.get_ydata(), [0.0, 0.0, 0.0])
    assert (circles.get_color(), circles.get_marker()) == ("black", "o")


def test_legend_and_colours(runs: Runs) -> None:
    axes = plot_standard_errors(runs, title="System EL", alpha=0.5)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["iid", "one-layer", "two-layer", "means"]
    assert [patch.get_facecolor() for patch in axes.patches] == [
        to_rgba(f"C{i}", 0.5) for i in range(3)
    ]
    assert axes.get_title() == "System EL"


def test_the_axes_given_are_the_axes_used(runs: Runs) -> None:
    axes = Figure().subplots(1, 2)[0]
    assert plot_standard_errors(runs, ax=axes).ax is axes


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (dict, "from names to StandardErrorDistribution; got {}."),
        (lambda: [1.0], "from names to StandardErrorDistribution; got [1.0]."),
        (lambda: {"iid": [1.0]}, "from names to StandardErrorDistribution; got [1.0] for iid."),
    ],
)
def test_bad_distributions(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)) as caught:
        plot_standard_errors(make())
    assert "`distributions` must be a mapping" in str(caught.value)
