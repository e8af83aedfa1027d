"""The half-normal plot of influences: each speaker, line, band and names."""

import attrs
import numpy as np
import pytest

from bosaris_py import plots
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError

RNG = np.random.default_rng(3)
TABLE = unc.InfluenceTable(
    np.array([f"s{i}" for i in range(20)]),
    0.5 * np.array(sorted(RNG.normal(size=20), key=abs))[::-1],
    0.5 * np.array(sorted(RNG.normal(size=20), key=abs))[::-1],
)


def test_each_speaker_is_a_point_at_its_quantile() -> None:
    plot = plots.plot_influences(TABLE, n_named=3, title="who")
    drawn = np.concatenate([p.get_xydata() for p in plot.artists["speaker"]])
    expected = np.stack((TABLE.quantiles, np.abs(TABLE.influences)), axis=1)
    assert np.allclose(drawn[np.lexsort(drawn.T)], expected[np.lexsort(expected.T)])
    assert [text.get_text() for text in plot.ax.texts] == ["s0", "s1", "s2"]
    line = plot.ax.lines[0]
    assert line.get_ydata()[1] == pytest.approx(TABLE.scale * line.get_xdata()[1])
    band = plot.ax.collections[0].get_paths()[0].vertices
    low, high = TABLE.band()
    assert band[:, 1].max() == pytest.approx(high.max())
    assert set(np.round(low, 12)) <= set(np.round(band[:, 1], 12))
    assert plot.ax.get_title() == "who"
    labels = [text.get_text() for text in plot.get_legend().get_texts()]
    assert "raises it by targets (goat)" in labels


def test_a_difference_has_no_goats() -> None:
    table = attrs.evolve(TABLE, is_difference=True)
    plot = table.plot()
    labels = [text.get_text() for text in plot.get_legend().get_texts()]
    assert "raises it by targets" in labels
    assert plot.get_ylabel() == "change of the difference without the speaker"


def test_others_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="`influences`"):
        plots.plot_influences([1.0, 2.0])  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="`n_named`"):
        plots.plot_influences(TABLE, n_named=-1)
