"""All that the oracle's stats_*.npz hold, through the toolkit's names; analyses of systems.

Tolerance 1e-12 as its README states, unless said otherwise. Superfluous vertices, which the toolkit
leaves on straight edges of the hull, are why curves are compared rather than vertices.
"""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import logging
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import bosaris_py
import bosaris_py.matlab as b
from bosaris_py.errors import InvalidInputError

ATOL = 1e-12
FOLDER = Path(__file__).parents[1] / "reference" / "oracle"
SETS = sorted(path.stem.removeprefix("stats_") for path in FOLDER.glob("stats_*.npz"))

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


def test_scalars(record: Record, scores: Scores) -> None:
    """And curves that agree point by point."""
    plo, priors, thresholds = (record[name] for name in ("plo", "priors", "thresholds"))
    curve, results = b.compute_roc(*scores), b.Results(*scores)
    costs = ("act_dcf", "min_dcf", "norm_act_dcf", "norm_min_dcf")
    dcf, pmiss, pfa, *ranks = b.fast_minDCF(*scores, plo)
    for names, found in (
        ("roc_pmiss roc_pfa", curve),
        ("filter_roc_pmiss filter_roc_pfa", b.filter_roc(*curve)),
        ("eer prbep", (b.eer(*scores), b.prbep(*scores))),
        ("cllr min_cllr", (b.cllr(*scores), b.min_cllr(*scores))),
        ("opt_loglr_raw_tar opt_loglr_raw_non", b.opt_loglr(*scores, "raw")),
        ("opt_loglr_laplace_tar opt_loglr_laplace_non", b.opt_loglr(*scores, "laplace")),
        ("opt_loglr_laplace_tar opt_loglr_laplace_non", b.opt_loglr(*scores)),
        ("act_dcf act_pmiss act_pfa", b.fast_actDCF(*scores, plo)),
        ("act_dcf_norm", [b.fast_actDCF(*scores, plo, True)[0]]),
        ("min_dcf fmin_prbep fmin_eer", (dcf, *ranks)),
        ("min_dcf_norm", [b.fast_minDCF(*scores, plo, True)[0]]),
        ("fasteval_actdcf fasteval_mindcf fasteval_prbep", b.fastEval(*scores, priors)[:3]),
        ("fasteval_eer", b.fastEval(*scores, priors)[3:]),
        ("dcf_at_threshold_p01", [b.dcf_at_threshold(*scores, 0.1, thresholds)]),
        ("dcf_at_threshold_p01_norm", [b.dcf_at_threshold(*scores, 0.1, thresholds, True)]),
        ("results_eer results_prbep", (results.get_eer(), results.get_prbep())),
        *((f"results_{cost}", [getattr(results, f"get_{cost}")(priors)]) for cost in costs),
    ):
        for name, value in zip(names.split(), found, strict=True):
            close(value, record[name])
    close(b.fastEval(*scores, float(priors[0]))[0], record["fasteval_actdcf"][:1])
    assert (results.num_tar(), results.num_non()) == (scores[0].size, scores[1].size)
    # The native one leaves out what the toolkit adds for ranks.
    assert abs(bosaris_py.min_cllr(*scores) - record["min_cllr"]) < 1e-6
    # Where two vertices cost the same up to rounding, either may be reported.
    hull = bosaris_py.ROC.from_scores(*scores).convex_hull()
    unique = np.abs(hull.llr[None, :] + plo[:, None]).min(axis=1) > ATOL
    close(pmiss[unique], record["min_pmiss"][unique])
    close(pfa[unique], record["min_pfa"][unique])


@pytest.mark.parametrize("name", ["old", "sre10"])
def test_rocchdet(record: Record, scores: Scores, name: str) -> None:
    """The same points, or with superfluous vertices in the toolkit points of the same curve."""
    limits = record[f"rocchdet_limits_{name}"].tolist()
    dps = int(record["rocchdet_dps"])
    x, y, eer, cost = b.rocchdet(*scores, [0.1, 0.9], *limits, dps)
    toolkit_x, toolkit_y = (np.atleast_1d(record[f"rocchdet_{name}_{axis}"]) for axis in "xy")
    atol = 1e-11  # the toolkit's probit loses digits at tiny probabilities; here down to 3e-6
    if x.size == toolkit_x.size:
        close(x, toolkit_x, atol)
        close(y, toolkit_y, atol)
    else:
        assert toolkit_x.size > x.size
        hull = b.rocch(*scores)
        pmiss, pfa = norm.cdf(toolkit_y), norm.cdf(toolkit_x)
        close(np.interp(pmiss - pfa, hull[0] - hull[1], hull[0]), pmiss, atol)
    if name == "old":
        assert b.rocchdet(*scores)[3] is None
        close(eer, record["rocchdet_old_eer"])
        close(cost, record["rocchdet_mindcf_w01_09"])


REFUSED = [
    lambda: b.fast_actDCF([1.0], [0.0], [1.0, 0.0]),
    lambda: b.dcf_at_threshold([1.0], [0.0], 10, [0.0]),
    lambda: b.rocch2eer([1.0, 0.0], [0.0, 1.0]),
    lambda: b.area_under_rocch([0.0, 1.0], [1.0]),
    lambda: b.rocchdet([1.0], [0.0], None, 0.05, 50),
    lambda: b.opt_loglr([1.0], [0.0], "Laplace"),
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
    np.testing.assert_allclose(height, [y[i:j].mean() for i, j in pairwise(edges)], rtol=1e-12)
    assert (np.diff(fitted) >= 0).all()
    # Within a step every head is at least as high as its tail, or it would be two steps.
    for i, j in pairwise(edges):
        assert all(y[i:k].mean() >= y[k:j].mean() - 1e-12 for k in range(i + 1, j))


# niters, obj_func, cstepHessian, quiet
SETTINGS = (100, [], True, True)


def test_divergence_by_hand():
    posteriors = np.array([[0.5, 0.2, 0.9], [0.75, 0.1, 0.3]])
    llrs = np.log(posteriors / (1 - posteriors))
    by_trial = [
        p * np.log(p / r) + (1 - p) * np.log((1 - p) / (1 - r))
        for p, r in (posteriors, posteriors[::-1])
    ]
    expected = [[0.0, by_trial[0].mean()], [by_trial[1].mean(), 0.0]]
    np.testing.assert_allclose(b.kldivergence_of_systems(llrs, 0.5), expected, rtol=1e-12)
    key = b.Key(["m"], ["s", "t", "u"], [[True, False, False]], [[False, True, True]])
    weighted = [0.2 * x[0] + 0.8 * x[1:].mean() for x in by_trial]
    found = b.kldivergence_of_systems(llrs - b.logit(0.2), 0.2, key)
    np.testing.assert_allclose(found, [[0, weighted[0]], [weighted[1], 0]], rtol=1e-12)


def test_certain_and_extreme_posteriors():
    inf, divergence = np.inf, b.kldivergence_of_systems
    assert divergence([[inf, -inf], [inf, -inf]], 0.1).tolist() == [[0, 0], [0, 0]]
    # Who is certain may be right: log 2 is what an even guess loses. The reverse is infinite.
    found = divergence([[inf], [0.0]], 0.5)
    np.testing.assert_allclose(found, [[0.0, np.log(2)], [inf, 0.0]], rtol=1e-15)
    assert divergence([[inf], [-inf]], 0.5).tolist() == [[0, inf], [inf, 0]]
    # Posteriors that round to 1: the divergence is that of certainty, a log-odds of 100.
    found = divergence([[1000.0], [-100.0]], 0.5)
    np.testing.assert_allclose(found, [[0.0, 100.0], [1000.0, 0.0]], rtol=1e-12)


def test_of_dev(dev, caplog):
    key, systems = dev
    fused = b.linear_fusion_scores(key, systems, 0.1, *SETTINGS)
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        b.analyse_dev_lin_fusion(key, systems, fused, 0.1)
        b.analyse_dev_lin_and_qual_fusion(key, systems[0], fused, fused, 0.1)
    table = b.evalAll(b.stackScores(key, [*systems, fused]), key, 0.1)
    results = b.Results(fused, key)
    norms = results.get_norm_act_dcf(0.1), results.get_norm_min_dcf(0.1)
    assert table[2].tolist() == [100 * norms[0], 100 * norms[1], results.pb]
    assert f"{100 * key.n_tar / key.n_trials:g}%" in caplog.messages[0]
    printed = b.sprintfmatrix(table, "123").rstrip()
    assert caplog.messages[1:3] == [
        "Analysing Dev: 2 subsystems and 1 fusions:",
        f"Dev all: dcf*100, mindcf*100, prbep:\n{printed}",
    ]
    assert caplog.messages[4] == "Analysing Dev: 1 subsystems and 2 fusions:"


def test_of_eval(dev, evaluation, caplog):
    (key, systems), (eval_key, new) = dev, evaluation
    ndx = eval_key.to_ndx()
    fused = b.linear_fusion_dev_eval(key, systems, ndx, new, 0.1, *SETTINGS)
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        b.analyse_eval_lin_fusion(key, ndx, systems, new, *fused)
    stack = b.stackScores(ndx, [*new, fused[1]])
    shares = b.estimate_target_proportions(stack, 0.08)
    known = b.stackScores(key, [*systems, fused[0]])
    tables = (
        ("System Ptar estimates:", shares),
        ("Dev score divergence:", b.kldivergence_of_systems(known, shares[-1], key)),
        ("Eval score divergence:", b.kldivergence_of_systems(stack, shares[-1])),
    )
    expected = [f"{head}\n{b.sprintfmatrix(100 * table).rstrip()}" for head, table in tables]
    assert caplog.messages == expected
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        b.analyse_eval_lin_and_qual_fusion(key, ndx, systems, new, *fused, *fused)
    # The prior is still the linear fusion's estimate.
    assert caplog.messages[1].splitlines()[1].startswith(expected[1].splitlines()[1])
    with pytest.raises(InvalidInputError, match="eval_scores_obj_array"):
        b.analyse_eval_lin_fusion(key, ndx, systems, new[0], *fused)
