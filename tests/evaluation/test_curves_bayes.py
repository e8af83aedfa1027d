"""The numbers of Bayes error-rate plots, against the toolkit and against their laws."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results
from bosaris_py.evaluation.curves import BayesCurves, smallest_measurable_rate
from bosaris_py.metrics import act_dcf, min_dcf
from bosaris_py.numerics import sigmoid
from tests.score_strategies import score_lists

FIELDS = {
    "act_dcf": "actDCF",
    "act_miss_rate": "act_miss_curve",
    "act_fa_rate": "act_fa_curve",
    "min_dcf": "minDCF",
    "min_miss_rate": "min_miss_curve",
    "min_fa_rate": "min_fa_curve",
}


def _oracle_sets() -> list[str]:
    folder = Path(__file__).parents[1] / "reference" / "oracle"
    return sorted(path.stem for path in folder.glob("stats_*.npz"))


@pytest.mark.parametrize("name", _oracle_sets())
def test_curves_and_dr30_points_are_the_toolkits(oracle: Path, name: str) -> None:
    with np.load(oracle / f"{name}.npz") as file:
        record = {key: file[key] for key in file.files if key.startswith(("ndcf", "tar", "non"))}
    grid = np.linspace(record["ndcf_axes"][0], record["ndcf_axes"][1], 1001)
    results = Results(np.atleast_1d(record["tar"]), np.atleast_1d(record["non"]))
    curves = BayesCurves.from_results(results, grid)
    # The record holds every tenth point.
    np.testing.assert_allclose(curves.plo[::10], record["ndcf_plo"], rtol=0, atol=1e-12)
    for ours, theirs in FIELDS.items():
        expected = record[f"ndcf_{theirs}"]
        np.testing.assert_allclose(getattr(curves, ours)[::10], expected, rtol=0, atol=1e-12)
    indices = [-1 if i is None else i for i in (curves.dr30_fa_index, curves.dr30_miss_index)]
    assert indices == [record["ndcf_dr30fa_index"], record["ndcf_dr30miss_index"]]


def test_dr30_points_of_another_range(oracle: Path) -> None:
    drawn = json.loads((oracle / "plots.json").read_text())["norm_dcf"]
    with np.load(oracle / "stats_gauss.npz") as file:
        results = Results(file["tar"], file["non"])
    curves = BayesCurves.from_results(results, np.linspace(-8, 2, 1001))
    assert curves.dr30_fa_index == drawn["dr30FA_index1"] - 1
    assert curves.dr30_miss_index == drawn["dr30Miss_index1"] - 1


@given(score_lists(), score_lists())
def test_curves_are_the_metrics_and_their_parts_add_up(tar: np.ndarray, non: np.ndarray) -> None:
    plo = np.linspace(-9, 9, 19)
    curves = BayesCurves.from_results(Results(tar, non), plo)
    # On its way through the prior a threshold is rounded, so it must not lie at a score.
    clear = ~np.isclose(np.concatenate((tar, non))[:, None], -plo, atol=1e-9).any(axis=0)
    priors = sigmoid(plo[clear])
    if clear.any():
        expected = act_dcf(tar, non, priors, normalize=True)
        np.testing.assert_allclose(curves.act_dcf[clear], expected, rtol=1e-9)
    expected = min_dcf(tar, non, sigmoid(plo), normalize=True)
    np.testing.assert_allclose(curves.min_dcf, expected, rtol=1e-9, atol=1e-15)
    # Sums of two rounded products of numbers up to exp(9).
    np.testing.assert_allclose(curves.act_miss_rate + curves.act_fa_rate, curves.act_dcf)
    np.testing.assert_allclose(curves.min_miss_rate + curves.min_fa_rate, curves.min_dcf)
    assert (curves.min_dcf <= curves.act_dcf * (1 + 1e-12)).all()
    assert (curves.min_dcf <= 1 + 1e-12).all()


def test_normalization_by_hand() -> None:
    # At plo = -log 4 the threshold is log 4, the prior 1/5 and the better blind cost 1/5.
    # Miss rate 1/2 (the score 1), false-alarm rate 1/4 (the score 2).
    results = Results([1.0, 3.0], [-1.0, -2.0, 0.0, 2.0])
    curves = BayesCurves.from_results(results, [-np.log(4.0)])
    assert curves.act_miss_rate[0] == pytest.approx(0.5, rel=1e-15)
    assert curves.act_fa_rate[0] == pytest.approx(4 * 0.25, rel=1e-15)
    assert curves.act_dcf[0] == pytest.approx(1.5, rel=1e-15)


def test_dr30_points_count_errors(rng: np.random.Generator) -> None:
    results = Results(rng.normal(2, 2, 1000), rng.normal(-2, 2, 4000))
    curves = BayesCurves.from_results(results, np.linspace(-10, 10, 1001))
    false_alarms = np.rint(curves.min_pfa * 4000)
    misses = np.rint(curves.min_pmiss * 1000)
    fa, miss = curves.dr30_fa_index, curves.dr30_miss_index
    assert fa is not None
    assert miss is not None
    assert false_alarms[fa] >= 30 > false_alarms[:fa].max()
    assert misses[miss] >= 30 > misses[miss + 1 :].max()


def test_no_dr30_point_with_fewer_than_30_trials() -> None:
    curves = BayesCurves.from_results(Results(np.zeros(29), np.zeros(29)), [-1.0, 0.0, 1.0])
    assert curves.dr30_fa_index is None
    assert curves.dr30_miss_index is None
    assert smallest_measurable_rate(29) > 1


def test_extreme_operating_points_stay_finite() -> None:
    curves = BayesCurves.from_results(Results([1.0, -1.0], [0.0, 2.0]), [-700.0, 0.0, 700.0])
    assert np.isfinite(curves.act_dcf).all()
    # With no score beyond 700, all decisions are those without a detector.
    np.testing.assert_allclose(curves.act_dcf[[0, 2]], 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("plo", "message"),
    [
        ([0.0, 0.0], "`plo` must be strictly ascending"),
        ([1.0, 0.0], "must be strictly ascending"),
        ([], "must be strictly ascending"),
        ([0.0, np.nan], "must be strictly ascending"),
        ([-701.0, 0.0], r"must lie within +-700; got -701 to 0"),
        ([0.0, np.inf], "must lie within"),
        (0.0, "must be one-dimensional"),
    ],
)
def test_bad_operating_points(plo: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        BayesCurves.from_results(Results([1.0], [0.0]), plo)
