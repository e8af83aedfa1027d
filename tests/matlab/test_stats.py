"""All that the oracle's stats_*.npz hold, through the toolkit's names.

Tolerance 1e-12 as its README states, unless said otherwise. Superfluous vertices, which the toolkit
leaves on straight edges of the hull, are why curves are compared rather than vertices.
"""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import bosaris_py
import bosaris_py.matlab as b
from bosaris_py.errors import BosarisWarning, InvalidInputError

ATOL = 1e-12
FOLDER = Path(__file__).parents[1] / "reference" / "oracle"
SETS = sorted(path.stem.removeprefix("stats_") for path in FOLDER.glob("stats_*.npz"))

# What the files hold: a new key has to be written here, and tested below.
KEYS = {
    *("tar", "non", "plo", "priors", "thresholds", "eer", "prbep", "cllr", "min_cllr"),
    *("rocch_pmiss", "rocch_pfa", "area_under_rocch"),
    *("pavx_y", "pavx_ghat", "pavx_width", "pavx_height"),
    *("roc_pmiss", "roc_pfa", "filter_roc_pmiss", "filter_roc_pfa"),
    *(f"opt_loglr_{o}_{c}" for o in ("raw", "laplace") for c in ("tar", "non")),
    *("act_dcf", "act_pmiss", "act_pfa", "act_dcf_norm"),
    *("min_dcf", "min_pmiss", "min_pfa", "min_dcf_norm", "fmin_prbep", "fmin_eer"),
    *("dcf_at_threshold_p01", "dcf_at_threshold_p01_norm"),
    *(f"fasteval_{k}" for k in ("actdcf", "mindcf", "prbep", "eer")),
    *(f"results_{k}" for k in ("act_dcf", "min_dcf", "norm_act_dcf", "norm_min_dcf")),
    *("results_eer", "results_prbep"),
    *(f"rocchdet_{w}_{k}" for w in ("old", "sre10") for k in ("x", "y")),
    *("rocchdet_old_eer", "rocchdet_mindcf_w01_09", "rocchdet_dps"),
    *("rocchdet_limits_old", "rocchdet_limits_sre10"),
    *("ndcf_axes", "ndcf_plo", "ndcf_actDCF", "ndcf_minDCF"),
    *(f"ndcf_{w}_{k}_curve" for w in ("act", "min") for k in ("miss", "fa")),
    *("ndcf_dr30fa_index", "ndcf_dr30miss_index", "detplot_dr30_pfa", "detplot_dr30_pmiss"),
}

Record = dict[str, np.ndarray]

pytestmark = pytest.mark.filterwarnings("ignore:.*area under the ROC")


@pytest.fixture(params=SETS)
def record(request: pytest.FixtureRequest, oracle: Path) -> Record:
    with np.load(oracle / f"stats_{request.param}.npz") as file:
        return {name: file[name] for name in file.files}


@pytest.fixture
def scores(record: Record) -> tuple[np.ndarray, np.ndarray]:
    return np.atleast_1d(record["tar"]), np.atleast_1d(record["non"])


Scores = tuple[np.ndarray, np.ndarray]


def close(actual: object, expected: np.ndarray, atol: float = ATOL) -> None:
    np.testing.assert_allclose(
        np.atleast_1d(actual), np.atleast_1d(expected), rtol=0, atol=atol, strict=True
    )


def test_there_are_sets() -> None:
    assert len(SETS) == 14


def test_the_tests_below_name_every_key(record: Record) -> None:
    assert set(record) == KEYS


def test_rocch(record: Record, scores: Scores) -> None:
    pmiss, pfa = b.rocch(*scores)
    toolkit = np.atleast_1d(record["rocch_pmiss"]), np.atleast_1d(record["rocch_pfa"])
    # Along a hull Pmiss - Pfa rises strictly: a common parameter of both curves.
    close(np.interp(toolkit[0] - toolkit[1], pmiss - pfa, pmiss), toolkit[0])
    close(np.interp(pmiss - pfa, toolkit[0] - toolkit[1], toolkit[1]), pfa)
    close(b.rocch2eer(*toolkit), record["eer"])
    counts = toolkit[0] * scores[0].size, toolkit[1] * scores[1].size
    # Counts are up to 2500 times larger than rates, and so are their rounding errors.
    close(b.rocch2eer(*counts), record["prbep"], atol=1e-10)
    close(b.area_under_rocch(*toolkit), record["area_under_rocch"])
    close(b.area_under_rocch(pmiss, pfa), record["area_under_rocch"])


def test_pavx(record: Record) -> None:
    fitted, width, height = b.pavx(record["pavx_y"])
    close(fitted, record["pavx_ghat"])
    assert width.sum() == record["pavx_y"].size
    assert (np.diff(height) > 0).all()
    # What rounding kept apart in the toolkit has one height here.
    toolkit = np.repeat(record["pavx_height"], np.atleast_1d(record["pavx_width"]).astype(int))
    close(np.repeat(height, width), toolkit)


def test_compute_roc_and_filter_roc_point_by_point(record: Record, scores: Scores) -> None:
    curve = b.compute_roc(*scores)
    close(curve[0], record["roc_pmiss"])
    close(curve[1], record["roc_pfa"])
    pmiss, pfa = b.filter_roc(*curve)
    close(pmiss, record["filter_roc_pmiss"])
    close(pfa, record["filter_roc_pfa"])


def test_scalars(record: Record, scores: Scores) -> None:
    for name in ("eer", "prbep", "cllr", "min_cllr"):
        close(getattr(b, name)(*scores), record[name])
    # The native one leaves out what the toolkit adds for ranks.
    assert abs(bosaris_py.min_cllr(*scores) - record["min_cllr"]) < 1e-6


@pytest.mark.parametrize("option", ["raw", "laplace"])
def test_opt_loglr(record: Record, scores: Scores, option: str) -> None:
    tar, non = b.opt_loglr(*scores, option)
    close(tar, record[f"opt_loglr_{option}_tar"])
    close(non, record[f"opt_loglr_{option}_non"])


def test_opt_loglr_is_laplace_by_default(record: Record, scores: Scores) -> None:
    close(b.opt_loglr(*scores)[0], record["opt_loglr_laplace_tar"])


def test_fast_actDCF(record: Record, scores: Scores) -> None:
    dcf, pmiss, pfa = b.fast_actDCF(*scores, record["plo"])
    close(dcf, record["act_dcf"])
    close(pmiss, record["act_pmiss"])
    close(pfa, record["act_pfa"])
    close(b.fast_actDCF(*scores, record["plo"], True)[0], record["act_dcf_norm"])


def test_fast_minDCF(record: Record, scores: Scores) -> None:
    dcf, pmiss, pfa, prbep, eer = b.fast_minDCF(*scores, record["plo"])
    close(dcf, record["min_dcf"])
    close(b.fast_minDCF(*scores, record["plo"], True)[0], record["min_dcf_norm"])
    close(prbep, record["fmin_prbep"])
    close(eer, record["fmin_eer"])
    # Where two vertices cost the same up to rounding, either may be reported.
    hull = bosaris_py.ROC.from_scores(*scores).convex_hull()
    unique = np.abs(hull.llr[None, :] + record["plo"][:, None]).min(axis=1) > ATOL
    close(pmiss[unique], record["min_pmiss"][unique])
    close(pfa[unique], record["min_pfa"][unique])


def test_fastEval(record: Record, scores: Scores) -> None:
    actual, minimum, prbep, eer = b.fastEval(*scores, record["priors"])
    close(actual, record["fasteval_actdcf"])
    close(minimum, record["fasteval_mindcf"])
    close(prbep, record["fasteval_prbep"])
    close(eer, record["fasteval_eer"])
    one = b.fastEval(*scores, float(record["priors"][0]))
    close(one[0], record["fasteval_actdcf"][:1])


def test_dcf_at_threshold(record: Record, scores: Scores) -> None:
    for normalize, key in ((False, "dcf_at_threshold_p01"), (True, "dcf_at_threshold_p01_norm")):
        dcf = b.dcf_at_threshold(*scores, 0.1, record["thresholds"], normalize)
        close(dcf, record[key])


def test_Results(record: Record, scores: Scores) -> None:
    results = b.Results(*scores)
    for method in ("act_dcf", "min_dcf", "norm_act_dcf", "norm_min_dcf"):
        close(getattr(results, f"get_{method}")(record["priors"]), record[f"results_{method}"])
    close(results.get_eer(), record["results_eer"])
    close(results.get_prbep(), record["results_prbep"])
    assert (results.num_tar(), results.num_non()) == (scores[0].size, scores[1].size)


@pytest.mark.parametrize("name", ["old", "sre10"])
def test_rocchdet(record: Record, scores: Scores, name: str) -> None:
    """The same points, or with superfluous vertices in the toolkit points of the same curve."""
    limits = record[f"rocchdet_limits_{name}"].tolist()
    dps = int(record["rocchdet_dps"])
    x, y, eer, cost = b.rocchdet(*scores, [0.1, 0.9], *limits, dps)
    toolkit_x, toolkit_y = (np.atleast_1d(record[f"rocchdet_{name}_{axis}"]) for axis in "xy")
    # The toolkit's probit loses digits as probabilities become tiny; here the least is 3e-6.
    atol = 1e-11
    if x.size == toolkit_x.size:
        close(x, toolkit_x, atol)
        close(y, toolkit_y, atol)
    else:
        assert toolkit_x.size > x.size
        hull = b.rocch(*scores)
        pmiss, pfa = norm.cdf(toolkit_y), norm.cdf(toolkit_x)
        close(np.interp(pmiss - pfa, hull[0] - hull[1], hull[0]), pmiss, atol)
    if name == "old":
        close(eer, record["rocchdet_old_eer"])
        close(cost, record["rocchdet_mindcf_w01_09"])


def test_rocchdet_defaults(record: Record, scores: Scores) -> None:
    x, y, _, cost = b.rocchdet(*scores)
    again = b.rocchdet(*scores, None, 0.0005, 0.5, 0.0005, 0.5, 100)
    assert cost is None
    np.testing.assert_array_equal(x, again[0])
    np.testing.assert_array_equal(y, again[1])


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_numbers_behind_the_Norm_DCF_Plot(record: Record, scores: Scores) -> None:
    plot = b.Norm_DCF_Plot(record["ndcf_axes"])
    plot.set_system(*scores)
    hull = bosaris_py.ROC.from_scores(*scores).convex_hull()
    # Where two vertices cost the same up to rounding, either may be reported.
    plo = record["ndcf_plo"]
    unique = np.abs(hull.llr[None, :] + plo[:, None]).min(axis=1) > ATOL
    for curve, key in (
        ("dcf_curve_act", "actDCF"),
        ("dcf_curve_min", "minDCF"),
        ("miss_rate_act", "act_miss_curve"),
        ("fa_rate_act", "act_fa_curve"),
        ("miss_rate_min", "min_miss_curve"),
        ("fa_rate_min", "min_fa_curve"),
    ):
        getattr(plot, f"plot_{curve}")("k")
        x, y = plot.ax.lines[-1].get_data()
        close(x[::10], plo)
        shown = unique if "rate_min" in curve else np.ones_like(unique)
        close(y[::10][shown], record[f"ndcf_{key}"][shown])
    for kind in ("fa", "miss"):
        n_lines, index = len(plot.ax.lines), int(record[f"ndcf_dr30{kind}_index"])
        getattr(plot, f"plot_DR30_{kind}")("k*")
        marks = [line.get_xdata() for line in plot.ax.lines[n_lines:]]
        if marks:
            np.testing.assert_allclose(marks[0], x[index], atol=ATOL)
        else:
            assert index in (-1, 0, x.size - 1)


def test_rule_of_30_of_the_Det_Plot(record: Record, scores: Scores) -> None:
    plot = b.Det_Plot("big")
    plot.set_system(*scores)
    for kind, axis in (("fa", 0), ("miss", 1)):
        rate = float(record[f"detplot_dr30_p{kind}"])
        if 5e-6 <= rate <= 0.99:
            getattr(plot, f"plot_DR30_{kind}")("k")
            assert plot.ax.lines[-1].get_xydata()[:, axis].tolist() == [rate, rate]
        else:
            with pytest.warns(BosarisWarning, match="will not be plotted"):
                getattr(plot, f"plot_DR30_{kind}")("k")


REFUSED = [
    lambda: b.fast_actDCF([1.0], [0.0], [1.0, 0.0]),
    lambda: b.fast_actDCF([1.0], [0.0], [np.nan]),
    lambda: b.fast_actDCF([[1.0, 2.0]], [0.0], 0.0),
    lambda: b.fastEval([1.0], [0.0], -2.0),
    lambda: b.dcf_at_threshold([1.0], [0.0], 10, [0.0]),
    lambda: b.rocch2eer([1.0, 0.0], [0.0, 1.0]),
    lambda: b.rocch2eer([0.0, 1.0], [0.0, 1.0]),
    lambda: b.area_under_rocch([0.0, 1.0], [1.0]),
    lambda: b.filter_roc([], []),
    lambda: b.rocchdet([1.0], [0.0], None, 0.05, 50),
    lambda: b.rocchdet([1.0], [0.0], None, pmiss_min=0.6),
    lambda: b.rocchdet([1.0], [0.0], [1.0]),
    lambda: b.rocchdet([1.0], [0.0], dps=0),
    lambda: b.pavx([]),
    lambda: b.pavx([np.inf]),
    lambda: b.opt_loglr([1.0], [0.0], "Laplace"),
    lambda: b.compute_roc([np.nan], [0.0]),
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInputError):
        call()


def test_pavx_of_real_values_is_the_best_rising_fit(rng: np.random.Generator) -> None:
    """No step can be improved: every mean of neighbours that could be pooled rises."""
    y = rng.normal(size=200) + np.linspace(0, 2, 200)
    fitted, width, height = b.pavx(y)
    edges = np.concatenate(([0], np.cumsum(width)))
    means = [y[i:j].mean() for i, j in itertools.pairwise(edges)]
    np.testing.assert_allclose(height, means, rtol=1e-12)
    assert (np.diff(fitted) >= 0).all()
    # Within a step every head is at least as high as its tail, or it would be two steps.
    for i, j in itertools.pairwise(edges):
        assert all(y[i:k].mean() >= y[k:j].mean() - 1e-12 for k in range(i + 1, j))


def test_infinite_scores_have_optimal_llrs() -> None:
    """Ranks matter only: infinities are the outermost scores."""
    infinite = b.opt_loglr([0.0, np.inf], [-np.inf, 1.0])
    finite = b.opt_loglr([0.0, 2.0], [-1.0, 1.0])
    np.testing.assert_array_equal(infinite, finite)
