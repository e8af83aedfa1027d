"""Ten inputs at which pictures used to be empty: each has something to see, or says why not."""

from typing import Any

import numpy as np
import pytest

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

INF = np.inf
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
PLOTS = [plot_det, plot_bayes, plot_tippett, plot_ece, plot_pav, plot_reliability]
LOUD = (
    "ignore::bosaris_py.errors.PlotRangeWarning",
    "ignore::bosaris_py.errors.SuspectScoresWarning",
)


def _notes(plot: Any) -> str:
    return " ".join(" ".join(plot._drawn.notes).split())


def _is_seen(plot: Any) -> bool:
    """Whether a mark or a stroke of a system lies in the frame."""
    frame = plot.ax.get_window_extent().padded(1.0)
    for line in plot._drawn.lines:
        path = line.get_transform().transform_path(line.get_path())
        points = path.vertices[np.isfinite(path.vertices).all(axis=1)]
        crosses = len({*map(tuple, points)}) > 1 and path.intersects_bbox(frame, filled=False)
        if crosses or (line.get_marker() != "None" and frame.count_contains(points)):
            return True
    return False


@pytest.mark.filterwarnings(LOUD[0])
@pytest.mark.filterwarnings(LOUD[1])
@pytest.mark.parametrize("draw", PLOTS)
@pytest.mark.parametrize("name", TEN)
@pytest.mark.parametrize("systems", ["A", "AB"])
def test_something_is_seen(draw: Any, name: str, systems: str) -> None:
    plot = draw(dict.fromkeys(systems, TEN[name]))
    plot.figure.draw_without_rendering()
    assert _is_seen(plot) or _notes(plot)
    # What the legend lists is drawn.
    for handle in plot.ax.get_legend_handles_labels()[0]:
        assert np.isfinite(handle.get_xydata()).all(axis=1).any() or not handle.get_xydata().size


@pytest.mark.filterwarnings(LOUD[0])
@pytest.mark.filterwarnings(LOUD[1])
@pytest.mark.parametrize("name", TEN)
def test_histograms(name: str) -> None:
    plot = plot_histogram(TEN[name])
    plot.figure.draw_without_rendering()
    tar, non = (np.array(scores) for scores in TEN[name])
    for scores, noun in ((tar, "targets"), (non, "non-targets")):
        for infinity, side in ((-INF, "below"), (INF, "above")):
            share = np.mean(scores == infinity)
            text = f"{100 * share:.3g} % of {scores.size} {noun} {side} the bins"
            assert (text in _notes(plot)) == (share > 0)


@pytest.mark.filterwarnings(LOUD[0])
def test_separable_scores_have_the_limits_of_their_rates() -> None:
    rng = np.random.default_rng(1)
    systems = {
        "apart": Results(rng.normal(20, 1, 200), rng.normal(-20, 1, 2000)),
        "usual": Results(rng.normal(2, 2, 200), rng.normal(-2, 2, 2000)),
    }
    plot = plot_det(systems)
    # No error in n trials at 95 %: (1 - rate)^n = 0.05.
    ((pfa, pmiss),) = plot.artists["separable_point"][0].get_xydata()
    assert ((1 - pfa) ** 2000, (1 - pmiss) ** 200) == pytest.approx((0.05, 0.05))
    for note in (_notes(plot), _notes(plot_bayes(systems))):
        assert "apart: no error in 200 targets and 2000 non-targets." in note
        assert "below 1.5 % of misses and 0.15 % of false alarms (95 % each" in note
        assert "usual" not in note
    (low, high) = plot.window.pfa_limits
    assert low < pfa < pmiss < high
    texts = [text.get_text() for text in plot.ax.get_legend().get_texts()]
    assert texts[0] == "apart (no error)"
    handle = plot.ax.get_legend().legend_handles[0]
    assert handle.get_linestyle() == "None"


def test_notes_are_in_the_picture_below_the_label() -> None:
    plot = plot_ece({"A": TEN["targets at -inf"], "B": TEN["one error"]})
    plot.figure.draw_without_rendering()
    assert _notes(plot) == "A: 1 target at -inf, so that the actual entropy is infinite"
    (note,) = (text for text in plot.ax.texts if "infinite" in text.get_text())
    box, label = note.get_window_extent(), plot.ax.xaxis.label.get_window_extent()
    assert plot.figure.bbox.y0 <= box.y0 < box.y1 <= label.y0
    assert plot.figure.bbox.x0 <= box.x0 < box.x1 <= plot.figure.bbox.x1
    labels = [text.get_text() for text in plot.ax.get_legend().get_texts()]
    assert labels == ["A after PAV", "B actual", "B after PAV", "no LLRs"]


def test_infinite_scores_are_counted() -> None:
    for draw in (plot_tippett, plot_pav):
        plot = draw({"A": TEN["right infinities"]})
        assert "A: 1 target at +inf, 1 non-target at -inf" in _notes(plot)
