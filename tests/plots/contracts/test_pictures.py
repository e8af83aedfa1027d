"""Pictures measured: ticks that do not touch, room for the curves, contrast, looks apart."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from bosaris_py.evaluation import Results
from bosaris_py.plots import (
    plot_bayes,
    plot_det,
    plot_ece,
    plot_histogram,
    plot_pav,
    plot_reliability,
    plot_tippett,
)
from bosaris_py.plots.looks import _ON_DARK, _ON_LIGHT

THEMES: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": dict(matplotlib.style.library["dark_background"]),
    "own colours on dark": {
        key: value
        for key, value in matplotlib.style.library["dark_background"].items()
        if key != "axes.prop_cycle"
    },
    "grey": {"figure.facecolor": "0.9", "axes.facecolor": "0.9", "savefig.facecolor": "0.9"},
}
FEW = [(1, 6.0, "light"), (12, 3.3, "dark"), (24, 2.5, "grey"), (6, 2.5, "own colours on dark")]
ALL = list(itertools.product((1, 2, 6, 12, 24), (2.5, 3.3, 6.0), THEMES))


def draw(kind: str, count: int, inches: float, theme: str) -> Any:
    """Draw so many systems with all marks."""
    rng = np.random.default_rng(3)
    non = rng.normal(-2, 1.5, 4000)
    systems = {
        f"system {i}": Results(rng.normal(1.5 + 2 * i / count, 1.5, 400), non) for i in range(count)
    }
    size = {"figure.figsize": (inches, inches)} | ({} if inches == 6.0 else {"font.size": 7.0})
    with mpl.rc_context(THEMES[theme] | size):
        if kind == "det":
            plot: Any = plot_det(systems, "big", prior=0.1)
            plot.plot_rocch_det()
        else:
            plot = plot_bayes(systems, prior=0.1)
        plot.figure.draw_without_rendering()
    return plot


def luminance(colour: Any) -> float:
    """Relative luminance, WCAG 2.1."""
    channels = np.asarray(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: Any, other: Any) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _tick_labels(ax: Axes) -> Iterator[list[Text]]:
    axes = [ax, *ax.child_axes]
    for one in axes:
        yield [label for label in one.get_xticklabels() if label.get_text()]
    yield [label for label in ax.get_yticklabels() if label.get_text()]


def check_axes(ax: Axes) -> None:
    """Measure ticks, room and contrast of texts."""
    for labels in _tick_labels(ax):
        assert len(labels) >= 2
        boxes = [label.get_window_extent() for label in labels]
        for one, other in itertools.combinations(boxes, 2):
            assert not one.overlaps(other)
    # The legend may lie beside the figure, but the axes keep their room within it.
    figure, box = ax.figure.bbox, ax.get_window_extent()
    assert min(box.width / figure.width, box.height / figure.height) >= 0.55
    for text in (ax.xaxis.label, ax.yaxis.label, *itertools.chain(*_tick_labels(ax))):
        assert contrast(text.get_color(), ax.get_facecolor()) >= 3.0
    check_legend(ax)


def check_legend(ax: Axes) -> None:
    """A legend covers no vertex and no marker of a curve; thin lines of reference it may."""
    box = ax.get_legend().get_window_extent()
    for line in ax.lines:
        if line.get_alpha() is None and len(line.get_xdata()) != 2:
            drawn = line.get_transform().transform(line.get_path().vertices)
            assert not box.count_contains(drawn[np.isfinite(drawn).all(axis=1)]), line


def check(plot: Any) -> None:
    """Measure a picture."""
    check_axes(plot.ax)
    background = plot.ax.get_facecolor()
    curves = [
        line
        for kind, lines in plot.artists.items()
        if kind in ("steppy_det", "rocch_det", "dcf_curve_act", "dcf_curve_min")
        for line in lines
        if line.get_alpha() is None
    ]
    for line in curves:
        assert contrast(line.get_color(), background) >= 3.0
    looks = {
        (str(c.get_color()), str(c._unscaled_dash_pattern), c.get_marker(), c.get_linewidth())
        for c in curves
    }
    assert len(looks) == len(curves)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.PlotRangeWarning")
@pytest.mark.parametrize("kind", ["det", "bayes"])
@pytest.mark.parametrize(("count", "inches", "theme"), ALL)
def test_all_pictures(kind: str, count: int, inches: float, theme: str) -> None:
    check(draw(kind, count, inches, theme))


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.PlotRangeWarning")
@pytest.mark.parametrize("kind", ["det", "bayes"])
@pytest.mark.parametrize(("count", "inches", "theme"), FEW)
def test_some_pictures(kind: str, count: int, inches: float, theme: str) -> None:
    check(draw(kind, count, inches, theme))


LLR_PLOTS = [plot_ece, plot_pav, plot_reliability, plot_tippett]


@pytest.mark.parametrize("plot", LLR_PLOTS)
@pytest.mark.parametrize(("count", "inches", "theme"), FEW)
def test_pictures_of_llrs(plot: Any, count: int, inches: float, theme: str) -> None:
    rng = np.random.default_rng(3)
    non = rng.normal(-2, 2, 400)
    systems = {
        f"system {i}": Results(rng.normal(2 - i / 30, 2, 100), non) for i in range(min(count, 12))
    }
    size = {"figure.figsize": (inches, inches)} | ({} if inches == 6.0 else {"font.size": 7.0})
    with mpl.rc_context(THEMES[theme] | size):
        for axes in (plot(systems), plot_histogram(systems["system 0"], prior=0.1)):
            axes.figure.draw_without_rendering()
            check_axes(axes)
            for line in axes.lines:
                if line.get_alpha() is None and line.get_linestyle() != "None":
                    assert contrast(line.get_color(), axes.get_facecolor()) >= 3.0


# On linear RGB: Machado, Oliveira and Fernandes, "A physiologically-based model for simulation of
# color vision deficiency", IEEE TVCG 15, 2009, severity 1.
DEUTERANOPE = np.array(
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
)
PROTANOPE = np.array(
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
     [-0.003882, -0.048116, 1.051998]]
)  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def _lab(colour: str, seen_by: np.ndarray) -> list[float]:
    """CIE L*a*b* of a colour."""
    channels = np.asarray(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(seen_by @ linear, 0, 1) / [0.9505, 1.0, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116).tolist()
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


def ciede2000(one: list[float], other: list[float]) -> float:
    """CIEDE2000 with all weights 1, equation by equation of Sharma, Wu and Dalal (2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    a1, a2 = (1 + g) * a1, (1 + g) * a2
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1 = math.degrees(math.atan2(b1, a1)) % 360
    h2 = math.degrees(math.atan2(b2, a2)) % 360
    turn, h = h2 - h1, h1 + h2
    if c1 * c2 == 0:
        turn = 0.0
    else:
        if turn > 180:
            turn -= 360
        elif turn < -180:
            turn += 360
        if abs(h1 - h2) > 180:
            h += 360 if h < 360 else -360
        h /= 2
    light, c = (l1 + l2) / 2, (c1 + c2) / 2
    t = 1.0
    for share, times, shift in ((-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63)):
        t += share * math.cos(math.radians(times * h + shift))
    s_l = 1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2)
    s_c, s_h = 1 + 0.045 * c, 1 + 0.015 * c * t
    angle = 60 * math.exp(-(((h - 275) / 25) ** 2))
    r = -math.sin(math.radians(angle)) * 2 * math.sqrt(c**7 / (c**7 + 25**7))
    of_l, of_c = (l2 - l1) / s_l, (c2 - c1) / s_c
    of_h = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / s_h
    return math.sqrt(of_l**2 + of_c**2 + of_h**2 + r * of_c * of_h)


# Sharma, Wu and Dalal, "The CIEDE2000 color-difference formula", Color Res. Appl. 30, 2005,
# table 1: pairs 1, 4, 7, 9, 11, 13, 17 to 20, 25, 28 and 34.
PUBLISHED = [
    ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
    ((50, -1.3802, -84.2814), (50, 0, -82.7485), 1.0),
    ((50, 0, 0), (50, -1, 2), 2.3669),
    ((50, 2.49, -0.001), (50, -2.49, 0.0009), 7.1792),
    ((50, 2.49, -0.001), (50, -2.49, 0.0011), 7.2195),
    ((50, -0.001, 2.49), (50, 0.0009, -2.49), 4.8045),
    ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ((50, 2.5, 0), (61, -5, 29), 22.8977),
    ((50, 2.5, 0), (56, -27, -3), 31.903),
    ((50, 2.5, 0), (58, 24, 15), 19.4535),
    ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ((22.7233, 20.0904, -46.694), (23.0331, 14.973, -42.5619), 2.0373),
    ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
]


@pytest.mark.parametrize(("one", "other", "expected"), PUBLISHED)
def test_the_distance_of_colours_is_the_published_one(one: Any, other: Any, expected: Any) -> None:
    # The table has four digits.
    assert ciede2000(one, other) == pytest.approx(expected, abs=5e-5)
    assert ciede2000(other, one) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("seen_by", "least"),
    [(np.eye(3), 20.0), (DEUTERANOPE, 10.0), (PROTANOPE, 10.0)],
    ids=["all cones", "deuteranope", "protanope"],
)
@pytest.mark.parametrize("palette", [_ON_LIGHT, _ON_DARK])
def test_colours_are_apart_for_all_eyes(
    palette: tuple[str, ...], seen_by: np.ndarray, least: float
) -> None:
    seen = [_lab(f"#{code}", seen_by) for code in palette]
    assert len(set(palette)) == 8
    assert min(ciede2000(*pair) for pair in itertools.combinations(seen, 2)) >= least
