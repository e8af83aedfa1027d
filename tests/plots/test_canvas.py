"""What both plots share: choosing systems, styles, legends, files, the Axes given."""

import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from bosaris_py.errors import BosarisWarning, InvalidInputError, MissingTrialsWarning
from bosaris_py.evaluation import Results
from bosaris_py.plots import BayesPlot, DETPlot
from bosaris_py.plots.looks import spread, system_look
from bosaris_py.trials import Key, Scores

PLOTS = [DETPlot, BayesPlot]
CURVES = {
    DETPlot: ["steppy_det", "rocch_det", "DR30_fa", "DR30_miss"],
    BayesPlot: [
        "dcf_curve_act",
        "dcf_curve_min",
        "miss_rate_act",
        "miss_rate_min",
        "fa_rate_act",
        "fa_rate_min",
        "DR30_fa",
        "DR30_miss",
    ],
}
ALL_CURVES = [(plot, kind) for plot, kinds in CURVES.items() for kind in kinds]


def _make(kind: type, results: Results | None = None, **keywords: Any) -> Any:
    plot = kind(**keywords)
    if results is not None:
        plot.set_system_from_results(results, "sys")
    return plot


def _legend_texts(plot: Any) -> list[str]:
    legend = plot.ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("kind", PLOTS)
def test_the_axes_given_are_the_axes_used(kind: type, results: Results) -> None:
    figure = Figure()
    axes = figure.subplots(1, 2)[1]
    plot = _make(kind, results, ax=axes, title="Title")
    assert plot.ax is axes
    assert plot.figure is figure
    assert axes.get_title() == "Title"
    for name in CURVES[kind]:
        assert getattr(plot, f"plot_{name}")(label="") is axes
    assert plot.display_legend() is axes
    assert list(axes.lines) == [line for lines in plot.artists.values() for line in lines]


@pytest.mark.parametrize("kind", PLOTS)
def test_axes_of_a_subfigure(kind: type) -> None:
    figure = Figure()
    axes = figure.subfigures(1, 2)[0].subplots()
    assert _make(kind, ax=axes).figure is figure


@pytest.mark.parametrize("kind", PLOTS)
def test_no_title_leaves_the_axes_title_alone(kind: type) -> None:
    axes = Figure().subplots()
    axes.set_title("mine")
    _make(kind, ax=axes)
    assert axes.get_title() == "mine"


@pytest.mark.parametrize(("kind", "name"), ALL_CURVES)
def test_plotting_needs_a_system(kind: type, name: str) -> None:
    plot = kind()
    message = "This plot has no system to draw. Call set_system"
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        getattr(plot, f"plot_{name}")()
    assert len(plot.ax.lines) == 0


@pytest.mark.parametrize("kind", PLOTS)
def test_three_ways_to_set_a_system_draw_the_same(kind: type, rng: np.random.Generator) -> None:
    tar, non = rng.normal(3, 1, 40), rng.normal(0, 1, 60)
    mask = np.arange(100).reshape(10, 10) % 5 < 2
    matrix = np.empty((10, 10))
    matrix[mask], matrix[~mask] = tar, non
    names = [f"m{i}" for i in range(10)], [f"s{i}" for i in range(10)]
    plots = [kind() for _ in range(3)]
    plots[0].set_system(tar, non, "A")
    plots[1].set_system_from_scores(Scores(matrix, *names), Key(*names, mask, ~mask), "A")
    plots[2].set_system_from_results(Results(tar, non), "A")
    for name in CURVES[kind][:2]:
        lines = []
        for plot in plots:
            getattr(plot, f"plot_{name}")(label="curve")
            lines.append(plot.artists[name][0])
        for line in lines[1:]:
            np.testing.assert_array_equal(line.get_xydata(), lines[0].get_xydata())
            assert line.get_label() == "A curve"


def test_missing_trials_are_reported() -> None:
    models, segments = ["m"], ["s1", "s2", "s3"]
    key = Key(models, segments, [[True, False, True]], [[False, True, False]])
    scores = Scores([[1.0, 0.0]], models, ["s1", "s2"])
    with pytest.warns(MissingTrialsWarning) as caught:
        DETPlot().set_system_from_scores(scores, key, "A")
    assert all(warning.filename == __file__ for warning in caught)


@pytest.mark.parametrize("kind", PLOTS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], [1.0]), "`tar` must hold at least one score"),
        (([1.0], [np.nan]), "`non` must not hold NaN"),
    ],
)
def test_bad_scores_change_nothing(
    kind: type, arguments: tuple[list[float], list[float]], message: str
) -> None:
    plot = kind()
    plot.set_system([1.0, 2.0], [0.0, 1.5], "good")
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        plot.set_system(*arguments, "bad")
    assert "current system 'good'" in repr(plot)


@pytest.mark.parametrize(("kind", "name"), ALL_CURVES)
def test_styles_labels_and_line_keywords(kind: type, name: str, results: Results) -> None:
    plot = _make(kind, results)
    draw = getattr(plot, f"plot_{name}")
    draw("r--", "first", lw=3)
    draw(style="k", label="second")
    draw(label="third", color="tab:green", alpha=0.5)
    draw("--", "", zorder=9)
    draw()
    own = system_look(0, plot.ax).colour
    first, second, third, fourth, fifth = plot.artists[name]
    assert [line.get_label() for line in plot.artists[name]] == [
        "sys first",
        "sys second",
        "sys third",
        "sys",
        "_nolegend_",
    ]
    assert to_rgb(first.get_color()) == (1, 0, 0)
    assert first.get_linewidth() == 3
    if "DR30" not in name or kind is DETPlot:
        assert first.get_linestyle() == "--"
    assert to_rgb(second.get_color()) == (0, 0, 0)
    assert (third.get_color(), third.get_alpha()) == ("tab:green", 0.5)
    # Without a style, the rule of 30 is marked in a DET plot once for all systems.
    shared = "DR30" in name and kind is DETPlot
    assert (fourth.get_color(), fourth.get_zorder()) == (own, 9)
    assert fifth.get_color() == (mpl.rcParams["text.color"] if shared else own)


@pytest.mark.parametrize("name", ["DR30_fa", "DR30_miss"])
def test_points_are_markers_whatever_the_style(name: str, results: Results) -> None:
    plot = _make(BayesPlot, results, axes=(-8, 2, 0, 1.2))
    draw = getattr(plot, f"plot_{name}")
    for keywords in ({}, {"style": "r"}, {"style": "k*"}, {"marker": "d"}):
        draw(**keywords)
    default, coloured, star, diamond = plot.artists[name]
    assert [line.get_linestyle() for line in plot.artists[name]] == ["None"] * 4
    assert default.get_marker() == coloured.get_marker() == (">" if name == "DR30_fa" else "<")
    assert (star.get_marker(), diamond.get_marker()) == ("*", "d")


@pytest.mark.parametrize(("kind", "name"), ALL_CURVES)
@pytest.mark.parametrize("style", ["my system", "--r-", ["r"], 3])
def test_bad_styles(kind: type, name: str, style: object, results: Results) -> None:
    plot = _make(kind, results)
    message = r"`style` must be a .*string"
    with pytest.raises(InvalidInputError, match=message):
        getattr(plot, f"plot_{name}")(style)
    assert len(plot.ax.lines) == 0
    assert plot.artists == {}


@pytest.mark.parametrize("kind", PLOTS)
def test_each_system_has_the_next_colour_of_the_cycle(kind: type, results: Results) -> None:
    plot = kind()
    for number in range(12):
        plot.set_system_from_results(results, f"system {number}")
        for name in CURVES[kind][:2]:
            getattr(plot, f"plot_{name}")()
    for name in CURVES[kind][:2]:
        colours = [line.get_color() for line in plot.artists[name]]
        assert colours == [system_look(number, plot.ax).colour for number in range(12)]
    plot.figure.draw_without_rendering()


@pytest.mark.parametrize("kind", PLOTS)
def test_legend_holds_labelled_lines_also_those_of_others(kind: type, results: Results) -> None:
    plot = _make(kind, results)
    first, second = CURVES[kind][:2]
    getattr(plot, f"plot_{first}")(label="curve")
    getattr(plot, f"plot_{second}")()
    plot.ax.plot([0.1], [0.1], "o", label="my point")
    plot.display_legend(loc="lower left", title="Systems")
    assert _legend_texts(plot) == ["sys curve", "my point"]
    assert plot.ax.get_legend().get_title().get_text() == "Systems"


@pytest.mark.parametrize("kind", PLOTS)
def test_no_labels_no_legend(kind: type, results: Results) -> None:
    plot = _make(kind, results)
    getattr(plot, f"plot_{CURVES[kind][0]}")(label="_nolegend_")
    with pytest.warns(BosarisWarning, match='Give the plot_. methods a label; "" shows'):
        plot.display_legend()
    assert plot.ax.get_legend() is None


@pytest.mark.parametrize("kind", PLOTS)
def test_a_name_keeps_its_colour(kind: type) -> None:
    plot = kind()
    draw = getattr(plot, f"plot_{CURVES[kind][0]}")
    for name in ("a", "b", "a", "", "", "b", "c"):
        plot.set_system([1.0, 2.0], [0.0, 1.5], name)
        draw()
    colours = [line.get_color() for line in plot.ax.lines]
    numbers = [0, 1, 0, 2, 3, 1, 4]
    assert colours == [system_look(number, plot.ax).colour for number in numbers]


@pytest.mark.parametrize("kind", PLOTS)
def test_names_that_legends_would_swallow(kind: type) -> None:
    with pytest.raises(InvalidInputError, match="not begin with an underscore; got '_a'"):
        kind().set_system([1.0], [0.0], "_a")


@pytest.mark.parametrize("kind", PLOTS)
@pytest.mark.parametrize("projection", ["polar", "3d"])
def test_axes_of_other_projections(kind: type, projection: str) -> None:
    axes = Figure().add_subplot(projection=projection)
    with pytest.raises(InvalidInputError, match=f"two straight axes; got a {projection}"):
        kind(ax=axes)


@pytest.mark.parametrize("kind", PLOTS)
def test_label_without_a_name(kind: type) -> None:
    plot = kind()
    plot.set_system([1.0, 2.0], [0.0, 1.5])
    draw = getattr(plot, f"plot_{CURVES[kind][0]}")
    draw(label="curve")
    draw(label="")
    plot.display_legend()
    assert _legend_texts(plot) == ["curve"]


@pytest.mark.parametrize("kind", PLOTS)
@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("a.svg", b"<?xml"),
        pytest.param("a.pdf", b"%PDF", marks=pytest.mark.slow),
        pytest.param("a.png", b"\x89PNG", marks=pytest.mark.slow),
        pytest.param("A.PDF", b"%PDF", marks=pytest.mark.slow),
        pytest.param("a.eps", b"%!PS", marks=pytest.mark.slow),
    ],
)
def test_saving_gives_the_same_file_each_time(
    kind: type, name: str, start: bytes, results: Results, tmp_path: Path
) -> None:
    contents = []
    for folder in ("first", "second"):
        path = tmp_path / folder / name
        path.parent.mkdir()
        plot = _make(kind, results, title="Title")
        for curve in CURVES[kind][:2]:
            getattr(plot, f"plot_{curve}")(label="curve")
        plot.display_legend()
        plot.save(str(path) if folder == "first" else path)
        contents.append(path.read_bytes())
        assert [entry.name for entry in path.parent.iterdir()] == [name]
    assert contents[0].startswith(start)
    assert contents[0] == contents[1]
    assert re.search(rb"20\d\d-\d\d-\d\d|D:20\d\d", contents[0]) is None


@pytest.mark.slow
def test_eps_has_the_colours_of_shaded_areas(
    results: Results, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plot = _make(DETPlot, results)
    plot.plot_steppy_det(label="curve")
    plot.plot_DR30_fa()
    plot.ax.fill_between([-1.0, 1.0], [-1.0, -1.0], color=(0.0, 0.0, 1.0), alpha=0.25)
    plot.ax.axhspan(-2.0, -1.5, facecolor=(0.0, 0.0, 0.0), alpha=0.1, linewidth=0.0)
    plot.display_legend()
    plot.figure.draw_without_rendering()
    before = _colours(plot.figure)
    plot.save(tmp_path / "a.eps")
    assert not [record for record in caplog.records if "transparen" in record.message]
    text = (tmp_path / "a.eps").read_text(encoding="latin-1")
    assert "0.75 0.75 1 setrgbcolor" in text
    assert "0.9 setgray" in text or "0.9 0.9 0.9 setrgbcolor" in text
    assert str(tmp_path) not in text
    # The figure itself is as it was.
    assert _colours(plot.figure) == before


def _colours(figure: Figure) -> list[tuple[str, ...]]:
    parts = ("alpha", "color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor")
    return [
        tuple(str(getattr(artist, f"get_{part}", str)()) for part in parts)
        for artist in figure.findobj()
    ]


def test_resolution_of_png(results: Results, tmp_path: Path) -> None:
    plot = _make(DETPlot, results)
    plot.save(tmp_path / "a.png", dpi=50)
    # The header of a PNG holds width and height in bytes 16 to 23: 6 inches of 50 dots.
    header = (tmp_path / "a.png").read_bytes()[16:24]
    assert [int.from_bytes(header[:4]), int.from_bytes(header[4:])] == [300, 300]


@pytest.mark.parametrize("name", ["plot.jpg", "plot", "plot.pdf.gz", ".png"])
def test_unknown_extension(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInputError, match=r"must end in one of \.pdf, \.png, \.svg, \.eps; got "
    ):
        DETPlot().save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_failed_saving_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plot.pdf"
    path.write_text("old")
    plot = BayesPlot()

    def fail(file: Path, content: bytes) -> None:
        file.write_text("half a fi")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(OSError, match="No space left"):
        plot.save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_saving_into_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        DETPlot().save(tmp_path / "none" / "plot.pdf")


@pytest.mark.slow
def test_pyplot_is_never_touched(tmp_path: Path) -> None:
    code = f"""
import sys
from bosaris_py.plots import BayesPlot, DETPlot
from bosaris_py.plots.looks import system_look
import matplotlib
def settings():
    # Asking for the backend would make matplotlib choose one, with pyplot's help.
    return {{name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}}
before = settings()
for plot in (DETPlot(), BayesPlot()):
    plot.set_system([1.0, 2.0, 3.0], [-1.0, 0.0, 1.5], "A")
    plot.plot_DR30_both() if isinstance(plot, BayesPlot) else plot.plot_steppy_det(label="x")
    plot.display_legend()
    plot.save({str(tmp_path / "plot.png")!r})
    plot.save({str(tmp_path / "plot.svg")!r})
assert settings() == before
assert "matplotlib.pyplot" not in sys.modules, "pyplot was imported"
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("kind", PLOTS)
def test_nothing_is_cut_off(kind: type) -> None:
    for title in (None, "Title"):
        plot = kind(title=title)
        buffer = io.BytesIO()
        plot.figure.savefig(buffer, dpi=100)
        width, height = plot.figure.get_size_inches() * 100
        axes: Axes = plot.ax
        box = axes.get_tightbbox()
        assert box is not None
        assert 0 <= box.x0 < box.x1 <= width
        assert 0 <= box.y0 < box.y1 <= height


@pytest.mark.parametrize("kind", [DETPlot, BayesPlot])
def test_curves_are_named_at_their_ends(kind: type, rng: np.random.Generator) -> None:
    plot = kind()
    non = rng.normal(-2, 2, 2000)
    for i in range(9):
        plot.set_system(rng.normal(1 + i / 9, 2, 300), non, f"system {i}")
        plot._plot_curve()
    assert plot.label_curves(fontsize=8) is plot.ax
    plot.figure.draw_without_rendering()
    assert sorted(text.get_text() for text in plot.ax.texts) == [f"system {i}" for i in range(9)]
    frame = plot.ax.get_window_extent()
    for text in plot.ax.texts:
        assert text.xyann[0] > 1
        # At the end of its own curve.
        line = next(ln for ln in plot.ax.lines if ln.get_label() == text.get_text())
        assert text.get_color() == line.get_color()
        ends = np.abs(
            plot.ax.transData.transform(line.get_xydata()) - plot.ax.transAxes.transform(text.xy)
        )
        assert ends.max(axis=1).min() < 1e-6
    heights = sorted(text.xyann[1] for text in plot.ax.texts)
    assert np.diff(heights).min() * frame.height >= 1.2 * 8 * plot.figure.dpi / 72 - 1e-6
    assert 0 <= heights[0] <= heights[-1] <= 1 + 1e-9


def test_heights_are_spread_as_little_as_it_takes() -> None:
    assert spread([], 0.1) == []
    np.testing.assert_allclose(spread([0.2, 0.5], 0.1), [0.2, 0.5])
    np.testing.assert_allclose(spread([0.5, 0.5, 0.5], 0.1), [0.4, 0.5, 0.6])
    np.testing.assert_allclose(spread([0.95, 1.0], 0.1), [0.9, 1.0])
