"""Names of systems in pictures: shown as they are, or escaped; never a tag, never an error.

A name that is a formula is drawn as one, as matplotlib does; what is none is drawn as written.
"""

import inspect
import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.text import Text

import bosaris_py as bp
from bosaris_py import plots
from bosaris_py.evaluation import SystemTable
from tests.contracts.test_hostile_names import row
from tests.test_tables import HOSTILE

RNG = np.random.default_rng(8)
TAR, NON, SPOOF = RNG.normal(2, 1, 60), RNG.normal(-2, 1.5, 200), RNG.normal(0, 1, 80)
RESULTS = bp.Results(TAR, NON)


def conditions(name: str) -> SystemTable:
    return SystemTable([("", row(each)) for each in (name, "b", "pooled", "equalised")])


# No formulas that can be drawn.
BROKEN = ("$$", r"$\frac$", "$x", "a $ b $ c", r"\$")
# How each function is given a name.
DRAWN: dict[str, Callable[[str], Any]] = {
    **{
        f"plot_{kind}": lambda name, kind=kind: getattr(plots, f"plot_{kind}")({name: RESULTS})
        for kind in ("det", "bayes", "ece", "pav", "reliability", "tippett")
    },
    "plot_forest": lambda name: plots.plot_forest(conditions(name)),
    "plot_a_dcf": lambda name: plots.plot_a_dcf({name: (TAR, NON, SPOOF)}),
}
# Their words are those of the package, but for titles, which are the user's own text.
WITHOUT_NAMES = {
    "plot_histogram",
}  # fmt: skip


def test_every_plot_is_here() -> None:
    functions = {name for name in plots.__all__ if inspect.isfunction(getattr(plots, name))}
    assert functions - {"style"} == {*DRAWN, *WITHOUT_NAMES}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.filterwarnings("ignore:Glyph .* missing from font")
@pytest.mark.parametrize("kind", DRAWN)
def test_names_are_text(kind: str) -> None:
    """No name breaks the picture, makes it larger without end, or is another element of it."""
    plain = tags_of(DRAWN[kind]("plain"))
    for name in (*HOSTILE.values(), *BROKEN):
        plot = DRAWN[kind](name)
        assert all(len(text.get_text()) <= 500 for text in plot.figure.findobj(Text))
        found = tags_of(plot)
        assert found <= plain | {"text", "tspan"}, name[:30]
    plt.close("all")


def tags_of(plot: Any) -> set[str]:
    """Return the elements of the picture, which must be XML that can be read."""
    stream = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        plot.figure.savefig(stream, format="svg")
    root = ET.fromstring(stream.getvalue())
    plt.close(plot.figure)
    return {re.sub("{.*}", "", element.tag) for element in root.iter()}
