"""DET windows: the toolkit's four, and what a window refuses."""

import json
import re
from pathlib import Path

import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.plots import WINDOWS, DETPlot, DETWindow
from bosaris_py.plots.windows import find_window


@pytest.mark.parametrize("name", ["new", "old", "big", "sre10"])
def test_windows_are_the_toolkits(oracle: Path, name: str) -> None:
    recorded = json.loads((oracle / "plots.json").read_text())[f"det_{name}"]["window"]
    window = WINDOWS[name]
    for field in ("pfa_limits", "pmiss_limits", "xticks", "yticks"):
        assert list(getattr(window, field)) == recorded[field]
    # The toolkit pads its labels with blanks.
    plot = DETPlot(window)
    plot.figure.draw_without_rendering()
    for axis, field in ((plot.ax.xaxis, "xticklabels"), (plot.ax.yaxis, "yticklabels")):
        labels = [label.get_text() for label in axis.get_ticklabels()]
        assert labels == [label.strip() for label in recorded[field]]


def test_there_are_four_and_they_cannot_be_changed() -> None:
    assert set(WINDOWS) == {"new", "old", "big", "sre10"}
    with pytest.raises(TypeError):
        WINDOWS["mine"] = WINDOWS["old"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        WINDOWS["old"].pfa_limits = (0.1, 0.2)  # type: ignore[misc]


def test_windows_compare_by_content() -> None:
    again = DETWindow([0.1, 0.2], [0.1, 0.2], [0.1], ["ten"], yticks=[0.2])
    assert again == DETWindow((0.1, 0.2), (0.1, 0.2), (0.1,), ("ten",), yticks=(0.2,))
    assert find_window(again) is again


@pytest.mark.parametrize(
    ("window", "got"),
    [
        ("sre08", "'sre08'"),
        ("OLD", "'OLD'"),
        (None, "None"),
        (["old"], "['old']"),
        ((0.1, 0.2), "(0.1, 0.2)"),
    ],
)
def test_unknown_window(window: object, got: str) -> None:
    expected = f"must be one of 'new', 'old', 'big', 'sre10', 'auto', or a DETWindow; got {got}"
    with pytest.raises(InvalidInputError, match=re.escape(expected)):
        DETPlot(window)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pfa_limits": (0.0, 0.5)}, "`pfa_limits` must be two probabilities"),
        ({"pmiss_limits": (0.5, 1.0)}, "`pmiss_limits` must be two probabilities"),
        ({"pfa_limits": (0.5, 0.1)}, "0 < lower < upper < 1; got (0.5, 0.1)"),
        ({"pfa_limits": (0.1, 0.1)}, "0 < lower < upper < 1"),
        ({"pfa_limits": (0.1, 40)}, "Percentages must be divided by 100"),
        ({"pfa_limits": (0.1, 0.2, 0.3)}, "two probabilities"),
        ({"pfa_limits": 0.1}, "two probabilities with 0 < lower < upper < 1; got 0.1"),
        ({"pfa_limits": None}, "two probabilities with 0 < lower < upper < 1; got None"),
        ({"pfa_limits": (0.1, float("nan"))}, "two probabilities"),
        ({"pfa_limits": "ab"}, "two probabilities"),
        ({"xticks": (0.1, 1.0)}, "`xticks` must be ascending probabilities"),
        ({"yticks": (0.2, 0.1)}, "`yticks` must be ascending probabilities"),
        ({"yticks": (1, 2, 5)}, "Percentages must be divided by 100"),
        ({"xticks": ["a"]}, "`xticks` must be ascending probabilities"),
        ({"xticks": ("a",)}, "`xticks` must be ascending probabilities"),
        ({"xticks": (0.1,), "xticklabels": ("1", "2")}, "one label for each tick; got 2 for 1"),
        ({"yticklabels": ("1",)}, "one label for each tick; got 1 for no ticks"),
        ({"xticks": (0.1,), "xticklabels": "1"}, "one label for each tick; got '1'"),
    ],
)
def test_bad_windows(arguments: dict[str, object], message: str) -> None:
    good = {"pfa_limits": (0.1, 0.2), "pmiss_limits": (0.1, 0.2)}
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        DETWindow(**(good | arguments))
