"""Error-rates over the threshold, and differences over the prior."""

from typing import Any

import numpy as np
import pytest

from bosaris_py import uncertainty as unc
from bosaris_py.errors import FewErrorsWarning, InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.plots import plot_difference, plot_error_rates
from bosaris_py.trials import Key, Scores

TAR, NON = [1.0, 3.0, 3.0, 4.0], [-2.0, 0.5, 2.0, 3.0, 3.5]


def test_rates_are_shares_of_trials() -> None:
    plot = plot_error_rates({"A": (TAR, NON)})
    tar, non = np.array(TAR), np.array(NON)
    (miss,), (alarm,) = plot.artists["miss"], plot.artists["fa"]
    # Accept iff score >= threshold.
    for threshold, rate in miss.get_xydata():
        assert rate == pytest.approx(100 * np.mean(tar < threshold))
    for threshold, rate in alarm.get_xydata():
        assert rate == pytest.approx(100 * np.mean(non >= threshold))
    # Both go from 0 to 100 per cent.
    assert (miss.get_ydata()[0], miss.get_ydata()[-1]) == (0, 100)
    assert (alarm.get_ydata()[0], alarm.get_ydata()[-1]) == (100, 0)


def test_thresholds_of_priors_are_marked() -> None:
    plot = plot_error_rates(Results(TAR, NON), prior=[0.1, 0.5])
    places = [line.get_xdata()[0] for line in plot.artists["threshold"]]
    # The threshold of prior p is log((1 - p) / p).
    np.testing.assert_allclose(places, [np.log(9.0), 0.0], atol=1e-15)
    assert {"10 %", "50 %"} <= {text.get_text() for text in plot.ax.texts}
    far = plot_error_rates(Results(TAR, NON), prior=0.001)
    assert "threshold" not in far.artists
    assert "the threshold of prior 0.1 %, 6.91, is outside" in far._drawn.notes


def test_infinite_scores_are_told_of() -> None:
    plot = plot_error_rates({"A": ([1.0, np.inf], [-np.inf, 0.0]), "B": ([np.inf], [-np.inf])})
    assert plot._drawn.notes == [
        "A: 1 target at +inf, 1 non-target at -inf",
        "B: all scores are infinite",
    ]
    assert np.isfinite(plot.ax.get_xlim()).all()


@pytest.fixture(scope="module")
def paired() -> tuple[Any, Any]:
    rng, ids = np.random.default_rng(1), [f"s{i}" for i in range(30)]
    same = np.eye(30, dtype=bool)
    a, b = (Scores(d * same + rng.normal(size=(30, 30)), ids, ids) for d in (1, 6))
    curve = unc.ActDCFCurve(np.linspace(-3, 3, 13))
    key = Key(ids, ids, same, ~same)
    options: Any = {"method": "iid", "replications": 60, "rng": 1}
    # Of 30 targets few are missed.
    with pytest.warns(FewErrorsWarning):
        return unc.paired_bootstrap(a, b, key, curve, **options), curve


def test_a_difference_is_thick_where_zero_is_outside(paired: tuple[Any, Any]) -> None:
    result, curve = paired
    plot = plot_difference(result, curve, names=("A", "B"), prior=0.5)
    line, thick = plot.artists["difference"]
    np.testing.assert_array_equal(line.get_xdata(), curve.plo)
    np.testing.assert_array_equal(line.get_ydata(), result.difference)
    sure = (np.asarray(result.low) > 0) | (np.asarray(result.high) < 0)
    assert sure.sum() > 0
    np.testing.assert_array_equal(np.isfinite(thick.get_ydata()), sure)
    band = plot.artists["band"][0].get_paths()[0].vertices
    assert band[:, 1].min() == pytest.approx(np.min(result.low))
    assert band[:, 1].max() == pytest.approx(np.max(result.high))
    assert "50 %" in {text.get_text() for text in plot.ax.texts}


def test_wrong_arguments(paired: tuple[Any, Any]) -> None:
    result, curve = paired
    with pytest.raises(InvalidInputError, match="`curve` must be an ActDCFCurve or a MinDCFCurve"):
        plot_difference(result, unc.EER())  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="`difference` must be a PairedBootstrapResult"):
        plot_difference(3, curve)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"with 3 values; got values of shape \(13,\)"):
        plot_difference(result, unc.MinDCFCurve([-1, 0, 1]))


def test_counts_of_files_will_do() -> None:
    results = Results(TAR, NON)
    plot = plot_error_rates({"A": results, "B": results}, highlight="A")
    assert len(plot.artists["eer"]) == 1
