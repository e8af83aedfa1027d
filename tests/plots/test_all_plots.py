"""What holds of every plot: its object, the Axes given, legends, names, hostile and odd inputs."""

import inspect
import io
import itertools
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

from bosaris_py import plots
from bosaris_py.errors import BosarisWarning, InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.plots.looks import system_look
from bosaris_py.uncertainty.bands import bootstrap_bands
from bosaris_py.uncertainty.estimate import Estimate
from tests.plots.looked_at import legend_texts
from tests.test_tables import HOSTILE

INF = np.inf
# Plots of several systems, with a kind of curve that each system has.
SEVERAL = {"det": "steppy_det", "bayes": "dcf_curve_act", "tippett": "tar", "ece": "act"}
SEVERAL |= {"pav": "pav", "reliability": "pools", "a_dcf": "min"}
ALL = [*SEVERAL, "histogram", "forest"]
QUIET = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")


def some(count):
    """Return systems, each better than the one before."""
    rng = np.random.default_rng(5)
    non = rng.normal(-2, 2, 1000)
    shifts = (1 + 3 * i / count for i in range(count))
    return {f"system {i}": Results(rng.normal(x, 2, 200), non) for i, x in enumerate(shifts)}


def draw(kind: str, systems: dict[str, Any], **options: Any) -> Any:
    """Draw a plot of some kind, of systems of two classes."""
    function = getattr(plots, f"plot_{kind}")
    if kind == "histogram":
        return function(next(iter(systems.values())), **options)
    if kind == "forest":
        one = Estimate(value=0.1, standard_error=0.01, ends=lambda _: (0.08, 0.13))
        return function(dict.fromkeys(systems, one), **options)
    if kind == "a_dcf":
        lists = {n: (r.sample.tar.scores, r.sample.non.scores) for n, r in systems.items()}
        systems = {n: (tar, non[::2], non[1::2] + 1.0) for n, (tar, non) in lists.items()}
    return function(systems, **options)


def names_of(plot: Any) -> set[str]:
    """Return the names of systems at curves and in the legend."""
    texts = legend_texts(plot) + [text.get_text() for text in plot.ax.texts]
    return {text[:8] for text in texts if text.startswith("system")}


def test_every_plot_is_here() -> None:
    functions = {name for name in plots.__all__ if inspect.isfunction(getattr(plots, name))}
    assert functions == {f"plot_{kind}" for kind in ALL}


@pytest.mark.parametrize("kind", ALL)
def test_the_object(kind: str) -> None:
    # A subfigure is a part of a figure; other projections are no plane.
    axes = Figure(figsize=(9, 4), layout="constrained").subfigures(1, 2)[0].subplots()
    plot = draw(kind, some(2), ax=axes, title="T")
    assert (plot.ax, plot.figure, axes.get_title()) == (axes, axes.figure.figure, "T")
    assert plot.artists
    assert isinstance(plot, plots.Plot)
    if kind in ("det", "forest"):
        assert plot._repr_png_().startswith(b"\x89PNG")
    for wrong in (Figure(), Figure().subplots(1, 2), Figure().add_subplot(projection="polar")):
        with pytest.raises(InvalidInputError):
            draw(kind, some(2), ax=wrong)


@pytest.mark.parametrize("kind", ALL)
def test_unknown_keywords_are_refused_before_anything_is_drawn(kind: str) -> None:
    axes = Figure().subplots()
    for options in ({"titel": "T"}, {"colour": "red"}):
        with pytest.raises(TypeError, match=next(iter(options))):
            draw(kind, some(2), ax=axes, **options)
    for options in ({"looks": {"system 0": {"colour": "red"}}}, {"legend": "left"}):
        if kind in SEVERAL:
            with pytest.raises(InvalidInputError):
                draw(kind, some(2), ax=axes, **options)
    assert not axes.lines
    assert axes.get_xlabel() == ""


@pytest.mark.parametrize(("kind", "curve"), SEVERAL.items())
def test_order_looks_and_highlight(kind: str, curve: str) -> None:
    systems = some(3)
    wanted = {"system 0": {"c": "red", "lw": 3.0}, "system 2": {"ls": "--", "marker": "*"}}
    plot = draw(kind, systems, order=["system 2"], looks=wanted, legend=False)
    lines = {line.get_label()[:8]: line for line in plot.artists[curve]}
    assert [*lines] == ["system 2", "system 0", "system 1"]
    first, second, third = (lines[name] for name in systems)
    assert (to_rgb(first.get_color()), first.get_linewidth()) == ((1, 0, 0), 3.0)
    assert (third.get_linestyle(), third.get_marker()) == ("--", "*")
    # A system keeps its colour; in a Tippett plot of few, classes have theirs.
    assert kind == "tippett" or second.get_color() == system_look(1, plot.ax)["color"]
    plot = draw(kind, systems, highlight="system 1")
    assert names_of(plot) == {"system 1"}
    assert "2 others" in legend_texts(plot)
    grey = [line for line in plot.artists[curve] if to_rgb(line.get_color()) == (0.72,) * 3]
    assert len(grey) == 2
    assert all(line.get_zorder() < 2 for line in grey)


@pytest.mark.parametrize("figure", ["eer", "cllr", "min_cllr"])
def test_the_best_system_comes_first(figure):
    systems = some(3)
    best_first = sorted(systems, key=lambda name: getattr(systems[name], figure))
    lines = draw("pav", systems, order=figure, legend=False).artists["pav"]
    assert [line.get_label()[:8] for line in lines] == best_first


@pytest.mark.parametrize("kind", ["det", "tippett"])
def test_wrong_options(kind):
    wrong = [{"order": "err"}, {"order": ["z"]}, {"highlight": "z"}, {"looks": {"z": {}}}]
    for options in (*wrong, {"bands": {"z": None}}, {"bands": {"system 0": None}}):
        with pytest.raises(InvalidInputError):
            draw(kind, some(2), **options)


@pytest.mark.parametrize("kind", ["det", "bayes", "tippett", "ece", "pav", "reliability"])
def test_systems_of_arrays_and_without_a_name(kind: str) -> None:
    scores = [1.0, 3.0, -0.5], [-2.0, 0.5, -1.0]
    one, other = draw(kind, {"A": scores}), getattr(plots, f"plot_{kind}")(Results(*scores))
    for artists in zip(*(plot.artists[SEVERAL[kind]] for plot in (one, other)), strict=True):
        first, second = (line.get_xydata() for line in artists)
        np.testing.assert_array_equal(first, second)
    for wrong in ([1.0], {}, {"A": [1.0]}, {"A": 3}):
        with pytest.raises(InvalidInputError):
            getattr(plots, f"plot_{kind}")(wrong)


def test_32_systems_look_different() -> None:
    axes = Figure().subplots()
    looks = [system_look(number, axes) for number in range(32)]
    assert len({str(look) for look in looks}) == 32
    with mpl.rc_context({"axes.prop_cycle": mpl.cycler(color=["red", "lime"])}):
        assert [system_look(i, axes)["color"] for i in range(3)] == ["red", "lime", "red"]


# ---- Legends and names at the ends of curves


def contrast(one: Any, other: Any) -> float:
    """Contrast of two colours, WCAG 2.1."""
    shares = []
    for colour in (one, other):
        c = np.asarray(to_rgb(colour))
        linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        shares.append(float(linear @ [0.2126, 0.7152, 0.0722]))
    low, high = sorted(shares)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("kind", ALL)
@QUIET
def test_nothing_covers_or_touches(kind: str) -> None:
    own = {"figure.figsize": (3.3, 3.3), "font.size": 7.0}
    with mpl.rc_context(dict(matplotlib.style.library["dark_background"]) | own):
        plot = draw(kind, some(12))
        plot.figure.draw_without_rendering()
    ax, paper = plot.ax, plot.ax.get_facecolor()
    frame, (width, height) = ax.get_window_extent(), plot.figure.get_size_inches()
    assert width == 3.3
    assert frame.width >= 0.3 * plot.figure.bbox.width
    # All is within the figure.
    outer = plot.figure.get_tightbbox()
    assert -0.02 <= outer.x0 < outer.x1 <= width + 0.02
    assert -0.02 <= outer.y0 < outer.y1 <= height + 0.02
    boxes = [Text.get_window_extent(text) for text in ax.texts]
    if legend := ax.get_legend():
        boxes.append(legend.get_window_extent())
        assert not boxes[-1].overlaps(frame)
    for one, two in itertools.combinations(boxes, 2):
        # The corners of letters may meet.
        assert not one.padded(-1.0).overlaps(two.padded(-1.0))
    for axis in [ax.xaxis, ax.yaxis, *(child.xaxis for child in ax.child_axes)]:
        labels = [label for label in axis.get_ticklabels() if label.get_text()]
        for one, two in itertools.pairwise(label.get_window_extent() for label in labels):
            assert not one.overlaps(two)
    for line in ax.lines:
        assert line.get_alpha() or contrast(line.get_color(), paper) >= 3.0
    assert min(text.get_fontsize() for text in plot.figure.findobj(Text)) >= 6.0


@pytest.mark.parametrize("kind", ["det", "bayes"])
def test_names_stand_at_the_ends_of_curves(kind: str) -> None:
    plot = draw(kind, some(6))
    names = [text for text in plot.ax.texts if text.get_position()[0] == 1.04]
    lines = {line.get_label()[:8]: line for line in plot._entries}
    assert {text.get_text()[:8] for text in names} == {*lines}
    for text in names:
        assert text.get_color() == lines[text.get_text()[:8]].get_color()
        assert -1e-9 <= text.get_position()[1] <= 1 + 1e-9
        assert text.get_zorder() < plot.ax.spines["top"].get_zorder()
    # A figure without a layout has no room beside its Axes.
    inside = draw(kind, some(2), ax=Figure().subplots())
    assert any(text.startswith("system 0") for text in legend_texts(inside))


def test_legends_of_many_panels_cover_no_curve() -> None:
    figure = Figure(figsize=(7, 7), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    kinds = ("det", "bayes", "tippett", "pav")
    drawn = [draw(kind, some(3), ax=ax) for kind, ax in zip(kinds, panels, strict=True)]
    figure.draw_without_rendering()
    frames = [ax.get_window_extent() for ax in panels]
    for kind, plot in zip(kinds, drawn, strict=True):
        box = plot.ax.get_legend().get_window_extent()
        assert not box.count_overlaps(frames), kind


def test_places_of_legends() -> None:
    assert draw("det", some(2), legend=False).ax.get_legend() is None
    plot = draw("det", some(2), legend="below")
    # As when a file is written, which draws twice.
    plot.figure.draw_without_rendering()
    plot.figure.draw_without_rendering()
    legend, frame = plot.ax.get_legend().get_window_extent(), plot.ax.get_window_extent()
    assert plot.figure.bbox.y0 <= legend.y0 < legend.y1 <= frame.y0
    assert plot.figure.bbox.x0 <= legend.x0 < legend.x1 <= plot.figure.bbox.x1
    # All errors of these are outside of the window: there are no ends.
    with pytest.warns(BosarisWarning, match="outside of the window"):
        unseen = draw("det", dict.fromkeys("AB", TEN["inverted"]))
    assert not unseen.ax.texts


TEN: dict[str, tuple[list[float], list[float]]] = {
    "separable": ([3.0, 4.0, 5.0], [-5.0, -4.0, -1.0]),
    "one trial a class": ([1.0], [0.0]),
    "all equal": ([0.0, 0.0], [0.0, 0.0, 0.0]),
    "inverted": ([-2.0, -1.0], [1.0, 2.0]),
    "one error": ([1.0, 2.0, 3.0, -0.5], [-3.0, -2.0, -1.0, 0.5]),
    "targets at -inf": ([-INF, 1.0, 2.0], [-1.0, 0.0, 1.5]),
    "non-targets at +inf": ([0.0, 1.0, 2.0], [-1.0, 0.5, INF]),
    "right infinities": ([INF, 1.0, 0.0], [-INF, -1.0, 0.5]),
    "wrong infinities only": ([-INF, -INF], [INF, INF]),
    "huge": ([1e5, 3e5, -1e4], [-1e5, 1e4, -3e5]),
}


def notes_of(plot: Any) -> str:
    return " ".join(plot._said)


@QUIET
@pytest.mark.parametrize("kind", ["det", "bayes", "ece", "pav"])
@pytest.mark.parametrize("name", TEN)
def test_something_is_seen(kind: str, name: str) -> None:
    """A mark or a stroke of a system lies in the frame, or a note says why none does."""
    plot = draw(kind, dict.fromkeys("AB", TEN[name]), legend=False)
    plot.figure.draw_without_rendering()
    frame, seen = plot.ax.get_window_extent().padded(1.0), False
    drawn = (lines for kind, lines in plot.artists.items() if kind not in ("identity", "neutral"))
    for line in itertools.chain(*drawn):
        path = line.get_transform().transform_path(line.get_path())
        points = path.vertices[np.isfinite(path.vertices).all(axis=1)]
        crosses = len({*map(tuple, points)}) > 1 and path.intersects_bbox(frame, filled=False)
        seen = seen or crosses or frame.count_contains(points)
    assert seen or notes_of(plot)


@pytest.mark.parametrize("scores", [(1.0, 1.0 + 2e-16), (1e20, 1e20), (0.0, 5e-324), (-7.0, -7.0)])
def test_nearly_equal_scores_have_a_histogram(scores: tuple[float, float]) -> None:
    density, _ = plots.plot_histogram(([scores[0]], [scores[1]])).artists["density"]
    values, edges, _ = density.get_data()
    assert np.sum(values * np.diff(edges)) == pytest.approx(1.0)


@QUIET
def test_separable_scores_have_the_limits_of_their_rates() -> None:
    systems = {"apart": (np.arange(200) + 10.0, np.arange(2000) / -9.0), "usual": TEN["one error"]}
    for kind in ("det", "bayes"):
        note = notes_of(draw(kind, systems))
        # No error in n trials at 95 %: (1 - rate)^n = 0.05.
        assert "apart: no error in 200 targets and 2000 non-targets." in note
        assert "below 1.5 % of misses and 0.15 % of false alarms (95 % each" in note
        assert "usual: no error" not in note


@QUIET
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
@pytest.mark.parametrize("kind", [*SEVERAL, "forest"])
def test_names_are_text(kind: str) -> None:
    """No name breaks the picture, makes it larger without end, or is another element of it."""
    (results,) = some(1).values()
    plain = tags_of(draw(kind, {"plain": results})) | {"text", "tspan"}
    for name in (*HOSTILE.values(), "$$", r"$\frac$", "$x", "a $ b $ c", r"\$"):
        if name.startswith("_") and kind != "forest":
            with pytest.raises(InvalidInputError, match="underscore"):
                draw(kind, {name: results})
        else:
            plot = draw(kind, {name: results})
            assert all(len(text.get_text()) <= 500 for text in plot.figure.findobj(Text))
            assert tags_of(plot) <= plain, name[:30]


def tags_of(plot: Any) -> set[str]:
    """Return the elements of the picture, which must be XML that can be read."""
    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        plot.figure.savefig(stream, format="svg")
    return {element.tag.rpartition("}")[2] for element in ET.fromstring(stream.getvalue()).iter()}


@pytest.mark.parametrize("kind", ["det", "bayes", "tippett", "ece"])
def test_bands_end_where_the_rule_of_three_takes_over(kind: Any) -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(2, 2, 60), rng.normal(-2, 2, 500)
    band = bootstrap_bands(scores, kind=kind, replications=100, rng=1)
    plot = draw(kind, {"A": Results(*scores)}, bands={"A": band})
    pmiss, pfa = Results(*scores).error_rates_at(-band.x)
    values = np.atleast_2d(band.value)
    counts = {
        "det": [np.minimum(60 * values[0], 500 * band.x)],
        "bayes": [60 * pmiss + 500 * pfa],
        "tippett": [n * np.minimum(x, 1 - x) for n, x in zip((60, 500), values, strict=False)],
        "ece": [np.full(band.x.size, np.inf)],
    }[kind]
    for which, (area, count) in enumerate(zip(plot.artists["band"], counts, strict=True)):
        assert area.get_linewidth() == [0]
        assert area.get_zorder() < min(line.get_zorder() for line in plot.ax.lines)
        shown = np.unique(np.concatenate([path.vertices[:, 0] for path in area.get_paths()]))
        shown *= np.log(10) if kind in ("tippett", "ece") else 1.0
        met = np.isclose(band.x[:, None], shown[None], rtol=1e-12).any(axis=1)
        assert met.sum() > 5
        assert count[met].min() >= 3.0
        # No end of a replicate without errors, which would be a box.
        low, high = (np.atleast_2d(part)[which][met] for part in (band.low, band.high))
        assert low.min() > 0.0
        assert kind not in ("det", "tippett") or high.max() < 1.0


@pytest.mark.slow
def test_pyplot_and_settings_are_never_touched() -> None:
    code = """
import sys, matplotlib
from bosaris_py import plots
# Asking for the backend would make matplotlib choose one, with pyplot's help.
settings = lambda: {n: matplotlib.rcParams[n] for n in matplotlib.rcParams if n != "backend"}
before, systems = settings(), {"A": ([1.0, 2.0, 3.0], [-1.0, 0.0, 1.5])}
for kind in ("det", "bayes", "tippett", "ece", "pav", "reliability"):
    getattr(plots, f"plot_{kind}")(systems)._repr_png_()
assert settings() == before
assert "matplotlib.pyplot" not in sys.modules, "pyplot was imported"
matplotlib.use("agg")
plot = plots.plot_det(systems)
plot.show()
import matplotlib.pyplot as plt
assert plt.gcf() is plot.figure
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("extension", ["pdf", "png", "svg"])
def test_files(extension: str, tmp_path: Path) -> None:
    plot, path = draw("tippett", some(1)), tmp_path / f"plot.{extension}"
    plot.save(path, dpi=50)
    content = path.read_bytes()
    draw("tippett", some(1)).save(path, dpi=50)
    assert path.read_bytes() == content
    # Publishers refuse fonts of type 3.
    assert b"/Type3" not in content
    assert (b"/CIDFontType2" in content) == (extension == "pdf")
    if extension == "png":
        # The header of a PNG holds width and height: inches of 50 dots.
        found = [int.from_bytes(content[i : i + 4]) for i in (16, 20)]
        assert found == pytest.approx(50 * plot.figure.get_size_inches(), abs=1)
    with pytest.raises(InvalidInputError):
        plot.save(tmp_path / "a.jpg")
    assert [*tmp_path.iterdir()] == [path]
