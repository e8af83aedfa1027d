"""Expected performance curves: the lines are the numbers of `Transfer.epc`."""

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError
from bosaris_py.plots import plot_epc

ALPHAS = [0.1, 0.3, 0.5, 0.7, 0.9]

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")


@pytest.fixture
def transfers(rng):
    found = {}
    ids = [f"p{i}" for i in range(24)]
    same = np.eye(24, dtype=bool)
    for name, mean in (("A", 1.0), ("B", 1.5)):
        sets = []
        for part in ("dev", "test"):
            names = [f"{part}-{one}" for one in ids]
            values = rng.normal(size=same.shape) + mean * np.where(same, 1, -1)
            sets.append((bp.Scores(values, names, names), bp.Key(names, names, same, ~same)))
        found[name] = bp.transfer(*sets, speakers=lambda name: name, replications=40, rng=1)
    return found


def test_lines_and_bands_are_those_of_the_curves(transfers):
    axes = plot_epc(transfers, alphas=ALPHAS, minimum=True, title="two")
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "A dev chooses",
        "A own minimum",
        "B dev chooses",
        "B own minimum",
    ]
    for name, transfer in transfers.items():
        curve = transfer.epc(ALPHAS)
        for label, costs in (("dev chooses", curve.cost), ("own minimum", curve.own_minimum)):
            line = lines[f"{name} {label}"]
            assert np.array_equal(line.get_xdata(), ALPHAS)
            assert np.array_equal(line.get_ydata(), costs)
    assert len(axes.collections) == 2
    highest = max(transfer.epc(ALPHAS).high.max() for transfer in transfers.values())
    assert axes.get_ylim() == pytest.approx((0.0, 1.08 * highest))
    assert axes.get_title() == "two"


def test_one_system_needs_no_name_and_no_replicates(rng):
    lists = rng.normal(1, 1, 80), rng.normal(-1, 1, 300)
    found = bp.transfer(bp.Results(*lists), bp.Results(*lists))
    axes = plot_epc(found, alphas=ALPHAS)
    assert not axes.collections
    assert axes.get_legend() is None
    (line,) = axes.get_lines()
    assert np.array_equal(line.get_ydata(), found.epc(ALPHAS).cost)


def test_the_axes_given_are_those_returned(transfers):
    plot = plot_epc(transfers["A"], alphas=ALPHAS)
    assert plot_epc(transfers["B"], plot.ax, alphas=ALPHAS).ax is plot.ax


@pytest.mark.parametrize(
    ("transfers", "message"), [({}, "map names"), (3, "map names"), ({"A": 3}, "be what")]
)
def test_what_is_no_transfer(transfers, message):
    with pytest.raises(InvalidInputError, match=message):
        plot_epc(transfers)


def test_printed_rates_have_no_curve():
    counts = unc.Transfer.from_counts(unc.ErrorCounts(3, 40, 5, 60))
    with pytest.raises(InvalidInputError, match="have scores"):
        plot_epc({"A": counts})
