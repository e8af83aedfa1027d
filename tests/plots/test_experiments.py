"""Figures of the papers' experiments: what is drawn, number by number."""

import numpy as np
import pytest

from bosaris_py import plots
from bosaris_py import uncertainty as unc
from bosaris_py.errors import FewErrorsWarning, InvalidInputError

RNG = np.random.default_rng(1)
SETS = np.repeat(np.arange(20), 30)
TAR = 3 + 0.5 * np.repeat(RNG.normal(size=20), 30) + RNG.normal(size=600)
NON = 0.5 * np.repeat(RNG.normal(size=20), 30) + RNG.normal(size=600)
COST = unc.DCF(1.5, 0.01, 10, 1)


@pytest.fixture(scope="module")
def results() -> dict[str, unc.BootstrapResult]:
    sets = {"tar_sets": SETS, "non_sets": SETS}
    return {
        "iid": unc.bootstrap(TAR, NON, COST, rng=1),
        "one-layer": unc.bootstrap(TAR, NON, COST, method="one-layer", rng=1, **sets),
    }


@pytest.mark.parametrize("bins", ["auto", 15, "fd"])
def test_histograms_have_the_same_bins(results: dict, bins: int | str) -> None:
    plot = plots.plot_replicates(results, bins=bins, xlabel="DCF")
    everything = np.concatenate([one.replicates for one in results.values()])
    for patch, result in zip(plot.ax.patches, results.values(), strict=True):
        outline = patch.get_path().vertices
        found = np.unique(outline[:, 0])
        edges = np.linspace(everything.min(), everything.max(), found.size)
        assert np.allclose(found, edges, rtol=1e-12)
        assert bins != 15 or found.size == 16
        counts, _ = np.histogram(result.replicates, found)
        assert outline[:, 1].max() == counts.max()
    # One system: one line, at its estimate.
    (line,) = plot.ax.lines
    assert line.get_xdata()[0] == results["iid"].estimate
    assert plot.get_xlabel() == "DCF"
    texts = [text.get_text() for text in plot.get_legend().get_texts()]
    assert sorted(texts) == ["estimate", "iid", "one-layer"]


def test_several_systems_have_a_line_each(results: dict) -> None:
    other = unc.bootstrap(TAR - 0.5, NON, COST, rng=1)
    plot = plots.plot_replicates({"A": results["iid"], "B": other})
    drawn = [line.get_xdata()[0] for line in plot.ax.lines]
    assert drawn == [results["iid"].estimate, other.estimate]


def test_replicates_that_do_not_vary() -> None:
    with pytest.warns(FewErrorsWarning):
        still = unc.bootstrap([5.0] * 9, [-5.0] * 9, COST, replications=20, rng=1)
    assert plots.plot_replicates({"A": still}).ax.patches


def test_line_of_agreement_is_that_of_least_squares() -> None:
    x = RNG.uniform(1, 2, 12)
    y = 0.98 * x + 0.01 + 0.02 * RNG.normal(size=12)
    plot = plots.plot_agreement(x, y, names=list("abcdefghijkl"))
    slope = np.cov(x, y)[0, 1] / np.var(x, ddof=1)
    intercept = y.mean() - slope * x.mean()
    (text,) = [text.get_text() for text in plot.get_legend().get_texts()]
    assert text == f"slope {slope:.3g}, intercept {intercept:.3g}"
    diagonal, fitted, points = plot.ax.lines
    ends = fitted.get_xdata()
    assert np.allclose(fitted.get_ydata(), slope * ends + intercept, rtol=1e-12)
    assert np.array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert np.array_equal(points.get_xdata(), x)
    assert [text.get_text() for text in plot.ax.texts] == list("abcdefghijkl")


def test_deviations_are_equations_13_17_and_18() -> None:
    """Bengio and Mariéthoz, Figure 3: FAR .1, FRR .2, NC 100."""
    plot = plots.plot_hter_deviations(0.1, 0.2, 100, ratios=[1, 20])
    n = 2100
    rate = (0.1 * 2000 + 0.2 * 100) / n
    expected = [
        np.sqrt(0.1 * 0.9 / (4 * 2000) + 0.2 * 0.8 / (4 * 100)),
        np.sqrt(0.15 * 0.85 / n),
        np.sqrt(rate * (1 - rate) / n),
        np.sqrt(0.2 * 0.8 / 100),
        np.sqrt(0.1 * 0.9 / 2000),
    ]
    found = [line.get_ydata()[1] for line in plot.ax.lines]
    assert found == pytest.approx(expected, rel=1e-12)
    assert (plot.ax.get_xscale(), plot.ax.get_yscale()) == ("log", "log")
    assert len(plots.plot_hter_deviations(0.1, 0.2, 100).ax.lines[0].get_xdata()) == 60


def test_bad_input() -> None:
    for given in ({}, [1.0], None):
        with pytest.raises(InvalidInputError, match="`results` must map names"):
            plots.plot_replicates(given)
    with pytest.raises(InvalidInputError, match=r"results\['A'\]` must be a BootstrapResult"):
        plots.plot_replicates({"A": 0.1})
    rates = unc.bootstrap(TAR, NON, unc.ErrorRates(1.5), replications=10, rng=1)
    with pytest.raises(InvalidInputError, match="of one number; got 2 values"):
        plots.plot_replicates({"A": rates})
    with pytest.raises(InvalidInputError, match="as many numbers as `first`"):
        plots.plot_agreement([1.0, 2.0], [1.0])
    with pytest.raises(InvalidInputError, match="two different ones"):
        plots.plot_agreement([1.0, 1.0], [1.0, 2.0])
    with pytest.raises(InvalidInputError, match="hold 2 names; got 1"):
        plots.plot_agreement([1.0, 2.0], [1.0, 2.0], names=["a"])
    with pytest.raises(InvalidInputError, match="`ratios` must be positive"):
        plots.plot_hter_deviations(0.1, 0.2, 100, ratios=[0.0])
