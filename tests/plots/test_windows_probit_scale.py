"""The probit scale as a normal matplotlib axis: data, limits, ticks, zoom, pan, pickling."""

import io
import pickle

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.backend_bases import MouseButton
from matplotlib.figure import Figure
from scipy import special

from bosaris_py.plots import PercentFormatter, ProbitLocator, ProbitScale


@pytest.fixture
def axes() -> Axes:
    axes = Figure(figsize=(4, 4)).subplots()
    axes.set_xscale(ProbitScale())
    axes.set_yscale(ProbitScale())
    return axes


def _draw(axes: Axes) -> None:
    axes.figure.savefig(io.BytesIO(), format="png")
    axes.figure.savefig(io.BytesIO(), format="pdf")


def test_transform_is_the_probit_and_its_inverse() -> None:
    transform = ProbitScale().get_transform()
    p = np.array([1e-300, 1e-20, 1e-6, 0.1, 0.5, 0.9])
    deviates = transform.transform(p)
    np.testing.assert_array_equal(deviates, special.ndtri(p))
    # The normal distribution's tail multiplies a rounding of the deviate x by x**2.
    np.testing.assert_allclose(transform.inverted().transform(deviates), p, rtol=1e-12)
    np.testing.assert_array_equal(transform.inverted().inverted().transform(p), deviates)


def test_zero_one_and_beyond_are_drawn_past_any_edge() -> None:
    deviates = ProbitScale().get_transform().transform([-0.5, 0.0, 1e-300, 1.0, 2.0])
    assert np.isfinite(deviates).all()
    assert deviates[0] == deviates[1] < deviates[2] < -37
    assert deviates[3] == deviates[4] > special.ndtri(1 - 1e-16)


def test_nan_stays_nan() -> None:
    assert np.isnan(ProbitScale().get_transform().transform([np.nan])).all()


def test_lines_to_zero_and_one_run_off_the_edge(axes: Axes) -> None:
    axes.plot([0.0, 0.1, 1.0], [1.0, 0.1, 0.0])
    axes.scatter([0.0, 1.0, 0.3], [0.5, 0.0, 0.2])
    axes.annotate("end", (0.0, 1.0))
    axes.axvline(0.02)
    axes.fill_between([0.0, 0.1, 1.0], [0.0, 0.0, 0.0], [1.0, 0.5, 0.2])
    axes.set_xlim(0.01, 0.4)
    axes.set_ylim(0.01, 0.4)
    _draw(axes)


@pytest.mark.parametrize(
    "points", [[], [0.3], [0.0], [1.0], [0.0, 1.0], [1e-7, 0.2], [0.4, 0.6], [np.nan, 0.2]]
)
def test_autoscale_stays_inside(axes: Axes, points: list[float]) -> None:
    axes.plot(points, points, "o")
    axes.relim()
    axes.autoscale()
    _draw(axes)
    for limits in (axes.get_xlim(), axes.get_ylim()):
        assert 0.0 < limits[0] < limits[1] < 1.0


@pytest.mark.parametrize("limits", [(0.0, 1.0), (-1.0, 0.5), (0.2, 7.0), (-3.0, -2.0), (1.0, 0.0)])
def test_impossible_limits_are_replaced(axes: Axes, limits: tuple[float, float]) -> None:
    axes.set_xlim(*limits)
    _draw(axes)
    low, high = sorted(axes.get_xlim())
    assert 0.0 < low < high < 1.0
    # An inverted axis stays inverted.
    assert (axes.get_xlim()[0] > axes.get_xlim()[1]) == (limits[0] > limits[1])


@pytest.mark.parametrize("limit", [0.0, 0.3, 1.0])
def test_equal_limits_are_spread_with_matplotlibs_own_warning(axes: Axes, limit: float) -> None:
    with pytest.warns(UserWarning, match="identical"):
        axes.set_xlim(limit, limit)
    _draw(axes)
    assert 0.0 < axes.get_xlim()[0] < axes.get_xlim()[1] < 1.0


def test_limits_that_are_possible_are_kept(axes: Axes) -> None:
    assert axes.set_xlim(3e-6, 0.999) == (3e-6, 0.999)


@pytest.mark.slow
def test_panning_and_zooming(axes: Axes) -> None:
    axes.plot([0.0, 0.1, 1.0], [1.0, 0.1, 0.0])
    axes.set_xlim(0.001, 0.5)
    axes.set_ylim(0.001, 0.5)
    for distance in (50, -500, 400, 500, 500):
        axes.start_pan(100, 100, MouseButton.LEFT)
        axes.drag_pan(MouseButton.LEFT, None, 100 + distance, 100 - distance)
        axes.end_pan()
        _draw(axes)
        assert 0.0 < axes.get_xlim()[0] < axes.get_xlim()[1] < 1.0
    axes.set_xlim(0.1, 0.1001)
    _draw(axes)


def test_values_in_range_are_those_that_can_be_drawn() -> None:
    scale = ProbitScale()
    assert scale.val_in_range(0.0) is True
    assert scale.val_in_range(1.5) is False
    assert scale.val_in_range(np.array([-0.1, 0.0, 0.5, 1.0, np.nan])).tolist() == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_figures_can_be_pickled(axes: Axes) -> None:
    axes.plot([0.1, 0.2], [0.2, 0.1])
    copy = pickle.loads(pickle.dumps(axes.figure))
    _draw(copy.axes[0])
    assert copy.axes[0].get_xscale() == "probit"


def test_no_minor_ticks(axes: Axes) -> None:
    axes.set_xlim(0.001, 0.5)
    axes.figure.draw_without_rendering()
    assert axes.get_xticks(minor=True).size == 0


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((0.01, 0.6), [0.01, 0.02, 0.05, 0.1, 0.2, 0.5]),
        ((0.4, 0.6), [0.4, 0.5, 0.6]),
        ((1e-5, 0.995), [1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99]),
        ((0.8, 0.999), [0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999]),
        ((0.1, 0.12), [0.1, 0.104, 0.108, 0.112, 0.116, 0.12]),
    ],
)
def test_round_ticks_for_any_part_of_the_axis(
    limits: tuple[float, float], expected: list[float]
) -> None:
    np.testing.assert_allclose(ProbitLocator().tick_values(*limits), expected, rtol=1e-12)


def test_preferred_ticks_are_kept_until_few_are_seen() -> None:
    locator = ProbitLocator([0.001, 0.01, 0.1, 0.4])
    for limits in ((5e-4, 0.5), (0.005, 0.5)):
        assert locator.tick_values(*limits).tolist() == [0.001, 0.01, 0.1, 0.4]
    assert locator.tick_values(0.05, 0.2).tolist() == pytest.approx(
        [0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.2]
    )
    assert ProbitLocator([0.25]).tick_values(0.1, 0.5).tolist() == [0.25]


def test_labels_are_per_cent() -> None:
    formatter = PercentFormatter({5e-6: "5e-4"})
    labels = [formatter(p) for p in (5e-6, 1e-3, 0.025, 0.3, 0.995, 1 - 1e-3)]
    assert labels == ["5e-4", "0.1", "2.5", "30", "99.5", "99.9"]
    assert formatter.format_data_short(0.01234) == "1.234%"


def test_scale_takes_an_axis_as_matplotlibs_own_scales_do(axes: Axes) -> None:
    axes.set_xscale(ProbitScale(axes.xaxis))
    assert axes.get_xscale() == "probit"


def test_nothing_is_registered(axes: Axes) -> None:
    with pytest.raises(ValueError, match="probit"):
        axes.set_xscale("probit")
