"""The toolkit's plots: what it drew, drawn by its own commands, and its two scripts."""

import json
import warnings
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy import special

import bosaris_py.matlab as b
from bosaris_py.errors import BosarisWarning, InvalidInputError
from bosaris_py.plots import DETWindow


@pytest.fixture(scope="module")
def drawings(oracle: Path) -> dict[str, Any]:
    return json.loads((oracle / "plots.json").read_text())


@pytest.fixture
def gauss(oracle: Path) -> tuple[np.ndarray, np.ndarray]:
    with np.load(oracle / "stats_gauss.npz") as file:
        return file["tar"], file["non"]


Gauss = tuple[np.ndarray, np.ndarray]


def legend(plot: Any) -> list[str]:
    return [text.get_text() for text in plot.ax.get_legend().get_texts()]


def compare(plot: Any, recorded: dict[str, Any], warp: Any, skip: tuple[int, ...] = ()) -> None:
    """Compare lines by colour, style, marker and data, `warp` undoing the scale of the record."""
    assert len(plot.ax.lines) == len(recorded["lines"])
    for number, (line, expected) in enumerate(zip(plot.ax.lines, recorded["lines"], strict=True)):
        # Matplotlib's g is a darker green, its c a darker cyan.
        assert to_rgb(line.get_color()) == pytest.approx(expected["color"], abs=0.5)
        assert line.get_linestyle().lower() == expected["linestyle"]
        assert line.get_marker().lower() == expected["marker"]
        if number in skip:
            continue
        for data, key in ((line.get_xdata(), "x"), (line.get_ydata(), "y")):
            found = warp(np.asarray(data, dtype=float))
            if "npoints" in expected:
                assert len(found) == expected["npoints"]
                found = found[::50]
            # Both infinities are null in the record.
            wanted = np.array([np.nan if v is None else v for v in np.atleast_1d(expected[key])])
            found = np.where(np.isinf(found), np.nan, found)
            # The toolkit's probit loses digits as probabilities become tiny.
            np.testing.assert_allclose(found, wanted.astype(float), rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["new", "old", "big", "sre10"])
def test_Det_Plot(drawings: dict[str, Any], gauss: Gauss, name: str) -> None:
    recorded = drawings[f"det_{name}"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        plot = b.Det_Plot(b.Det_Plot.make_plot_window_from_string(name), f"T {name}")
        plot.set_system(*gauss, "sys")
        plot.plot_DR30_fa("c--", "30 FA")
        plot.plot_DR30_miss(["k--"], "30 miss")
        mindcf = plot.plot_mindcf_point(0.5, "b*", "mindcf")
        plot.plot_mindcf_point(0.001, "r*", "not drawn")
        plot.plot_DR30_both("r", "g")
        plot.plot_steppy_det("b", "steppy")
        plot.plot_rocch_det("r", " ")
        plot.display_legend()
    assert "".join(f"Warning: {w.message}\n" for w in caught) == recorded["log"]
    assert all(issubclass(w.category, BosarisWarning) and w.filename == __file__ for w in caught)
    assert [text.strip() for text in legend(plot)] == [t.strip() for t in recorded["legend"]]
    # The hull is sampled in another way; tests/plots compare it.
    compare(plot, recorded, special.ndtri, skip=(len(recorded["lines"]) - 1,))
    window = b.Det_Plot.make_plot_window_from_string(name)
    for limits in ("pfa_limits", "pmiss_limits"):
        assert getattr(window, limits) == tuple(recorded["window"][limits])
    minimum, pmiss, pfa, *_ = b.fast_minDCF(*gauss, 0.0, normalize=True)
    assert mindcf == (minimum, pmiss, pfa)


def test_window_of_values(drawings: dict[str, Any]) -> None:
    stored = drawings["det_old"]["window"]
    order = ("pfa_limits", "pmiss_limits", "xticks", "xticklabels", "yticks", "yticklabels")
    window = b.Det_Plot.make_plot_window_from_values(*(stored[name] for name in order))
    assert isinstance(window, DETWindow)
    assert list(window.xticks or ()) == stored["xticks"]
    assert b.Det_Plot(window).plot.window is window
    assert "strcmp (window_name, 'new')" in drawings["bad_window_error"]
    with pytest.raises(InvalidInputError):
        b.Det_Plot.make_plot_window_from_string("mine")


def test_Norm_DCF_Plot(drawings: dict[str, Any], gauss: Gauss) -> None:
    recorded = drawings["norm_dcf"]
    plot = b.Norm_DCF_Plot([-8, 2, 0, 1.2], "norm title")
    plot.set_system(*gauss, "sys")
    plot.plot_curves([1] * 8, ["b", "g", "r", "b--", "g--", "r--", "k*", ["ko"]])
    plot.plot_operating_point(b.logit(0.01), "m--", "op")
    with pytest.warns(BosarisWarning) as caught:
        plot.plot_operating_point(5, "m--", "not drawn")
    plot.display_legend()
    assert f"Warning: {caught[0].message}\n" == recorded["log"]
    assert legend(plot) == recorded["legend"]
    compare(plot, recorded, lambda values: values)
    assert drawings["norm_bad_axes"] == "Illegal parameters xmin and xmax."
    with pytest.raises(InvalidInputError):
        b.Norm_DCF_Plot([2, -8, 0, 1.2])
    assert drawings["norm_bad_lineinfo"].startswith("assert (length (line_info)")
    for mask in ([1] * 8, [1, 2]):
        with pytest.raises(InvalidInputError):
            plot.plot_curves(mask, ["b"])


def test_every_curve_of_the_Norm_DCF_Plot(gauss: Gauss) -> None:
    plot = b.Norm_DCF_Plot([], "title")
    assert plot.ax.get_xlim() == (-10.0, 0.0), "[] stands for the default"
    plot.set_system(*gauss)
    for kind in (f"{k}_{w}" for k in ("dcf_curve", "miss_rate", "fa_rate") for w in ("act", "min")):
        getattr(plot, f"plot_{kind}")(["r", "LineWidth", 3], kind)
        line = plot.ax.lines[-1]
        assert to_rgb(line.get_color()) == (1.0, 0.0, 0.0)
        assert (line.get_linewidth(), line.get_label()) == (3, kind)
    plot.plot_DR30_both("k*", ["Marker", "o"])
    plot.plot_DR30_fa(["k--", "LineWidth", 3])
    assert [line.get_marker() for line in plot.ax.lines[-3:-1]] == ["*", "o"]
    assert [line.get_linewidth() for line in plot.ax.lines[-3:]] == [1.2, 1.2, 3]
    # All numbers are log-odds here, those between 0 and 1 too.
    wide = b.Norm_DCF_Plot([-5, 5, 0, 1])
    wide.plot_operating_point(0.5, "k")
    np.testing.assert_allclose(wide.ax.lines[0].get_xdata(), 0.5, rtol=1e-14)


def draw(*arguments: Any) -> Any:
    plot = b.Det_Plot("old", ax=plt.figure().add_subplot())
    plot.set_system([1.0, 2.0, 3.0], [0.0, 1.5, 0.5], "a")
    plot.plot_steppy_det(*arguments)
    plt.close("all")
    return plot.ax.lines[0]


def test_arguments_of_lines() -> None:
    line = draw(["LineWidth", 2, "Color", [1, 0, 0]])
    assert (line.get_linewidth(), to_rgb(line.get_color())) == (2, (1.0, 0.0, 0.0))
    assert draw(["rV", "MarkerSize", 8]).get_marker() == "v"
    assert draw("b").get_label() == "_nolegend_"
    for bad in (["b", 2, 3], [3], ["r", "LineWidth", 2, 4, 5], {"b", "LineWidth", 2}, 3):
        with pytest.raises(InvalidInputError, match="plot_args"):
            draw(bad)
    with pytest.raises(InvalidInputError):
        b.Det_Plot("old").plot_mindcf_point(0.1, "k*")


def test_plots_draw_on_given_axes() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    det, dcf = b.Det_Plot("old", ax=left), b.Norm_DCF_Plot([], "title", ax=right)
    assert (det.ax, dcf.ax) == (left, right)
    assert det.figure is dcf.figure is figure
    assert right.get_title() == "title"
    plt.close(figure)


def test_curve_from_roc_and_sample() -> None:
    plot = b.Det_Plot("old")
    plot.plot_det_from_roc([0.0, 0.1, 1.0], [1.0, 0.2, 0.0], ["r--", "LineWidth", 2], "theory")
    assert plot.ax.lines[0].get_xydata()[1].tolist() == [0.2, 0.1]
    plot.set_system([1.0], [0.0], "sys")
    plot.plot_det_from_roc([0.0, 1.0], [1.0, 0.0], "b", "curve")
    plot.plot_det_from_roc([0.0, 1.0], [1.0, 0.0], "b")
    plot.display_legend()
    assert legend(plot) == ["theory", "sys curve"]
    with pytest.raises(InvalidInputError, match="Pmiss"):
        plot.plot_det_from_roc([0, 100], [100, 0], "g")
    assert len(b.Det_Plot.test_this().ax.lines) == 2


@pytest.mark.slow
def test_scripts_that_draw_from_files(tmp_path: Path, gauss: Gauss) -> None:
    labels = np.arange(1000) < 200
    scr = b.Scores(np.concatenate(gauss)[np.newaxis], ["m"], [f"s{j}" for j in range(1000)])
    key = b.Key(["m"], scr.segset, labels[np.newaxis], ~labels[np.newaxis])
    files = tmp_path / "scr.h5", tmp_path / "key.h5"
    for item, path in zip((scr, key), files, strict=True):
        item.save(path)
    with pytest.warns(BosarisWarning, match="mindcf point"):
        b.detplot(*files, tmp_path / "a.pdf", 0.001, "title", "curve")
    # MATLAB adds the extension when it prints.
    b.detplot(*files, tmp_path / "b", 0.5)
    assert not (tmp_path / "b").exists()
    four = [files[i] for i in (1, 1, 0, 0)]
    b.dcfplot(*four, tmp_path / "c.pdf")
    b.dcfplot(*four, tmp_path / "d.pdf", "title", -5, 5, 0, 1.4, 0.1)
    for name in "abcd":
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")
