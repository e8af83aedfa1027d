"""PAV calibration: the toolkit's outputs to 1e-12, and the laws of a rising map."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.calibration import PAVCalibration
from bosaris_py.errors import FileFormatError, InvalidInputError, SuspectScoresWarning
from bosaris_py.metrics import cllr, min_cllr, optimal_llrs
from bosaris_py.trials import Key, Scores
from tests.score_strategies import finite_scores, score_lists

SETS = [
    "constant",
    "extreme",
    "few_targets",
    "inverted",
    "mini_overlap",
    "mini_tie",
    "separated",
    "ties",
]
ATOL = 1e-12


def test_every_recorded_set_is_used(oracle: Path) -> None:
    recorded = {path.stem.removeprefix("pavcal_") for path in oracle.glob("pavcal_*.npz")}
    assert recorded == set(SETS)


# Recorded offsets of .1 make maps fall between pools.
@pytest.mark.filterwarnings("ignore:The map falls")
@pytest.mark.parametrize("name", SETS)
def test_as_the_toolkit(oracle: Path, name: str) -> None:
    record = np.load(oracle / f"pavcal_{name}.npz")
    tar, non = np.atleast_1d(record["tar"]), np.atleast_1d(record["non"])
    for k, score_offset in enumerate(record["small_vals"].tolist()):
        calibration = PAVCalibration.fit(tar, non, score_offset=score_offset)
        np.testing.assert_allclose(calibration.score_bounds, record["score_bounds"], atol=ATOL)
        np.testing.assert_allclose(calibration.llr_bounds, record[f"llr_bounds_{k}"], atol=ATOL)
        for scores in ("tar", "non", "grid"):
            expected = np.atleast_1d(record[f"{scores}_llr_{k}"])
            ours = calibration.apply(np.atleast_1d(record[scores]))
            np.testing.assert_allclose(ours, expected, rtol=0, atol=ATOL)


def test_outside_the_dummies_the_map_goes_on(oracle: Path) -> None:
    """The toolkit fails at x >= 1e6 and x < -1e6; inside it agrees with us."""
    calibration = PAVCalibration.fit([1.0, 2.0], [0.0, 1.5])
    cases = json.loads((oracle / "edge_cases.json").read_text())
    used = [c for c in cases if c["name"].startswith("pav_calibration([1 2],[0 1.5],0)")]
    assert len(used) == 13
    for case in used:
        x = float(case["in"]["x"][0])
        if np.isnan(x):
            continue
        ours = calibration.apply([x])
        expected = 0.0 if case["error"] else float(case["out"][0])
        np.testing.assert_allclose(ours, [expected], atol=ATOL)
    assert calibration.apply([-np.inf, np.inf]).tolist() == [0.0, 0.0]


def test_bounds_by_hand() -> None:
    """T=[1,3,4], N=[-2,0,2] with dummies: pools {-2,0,dummy}, {1,2}, {3,4,dummy}."""
    calibration = PAVCalibration.fit([1.0, 3.0, 4.0], [-2.0, 0.0, 2.0])
    # Each class has four trials then; pools hold targets/non-targets 1/2, 1/1, 2/1.
    expected = np.repeat(np.log([1 / 2, 1 / 1, 2 / 1]), 2)
    np.testing.assert_allclose(calibration.llr_bounds, expected, atol=1e-15)
    assert calibration.score_bounds.tolist() == [-1e6, 0.0, 1.0, 2.0, 3.0, 1e6]
    np.testing.assert_allclose(calibration.apply(2.5), np.log(2) / 2, rtol=1e-15)


def test_an_offset_that_makes_the_map_fall_is_warned_of() -> None:
    """The pools of the set above are log 2 apart: more than half of that falls."""
    trials = [1.0, 3.0, 4.0], [-2.0, 0.0, 2.0]
    rising = PAVCalibration.fit(*trials, score_offset=0.49 * np.log(2))
    assert np.all(np.diff(rising.llr_bounds) > 0)
    with pytest.warns(SuspectScoresWarning, match="falls between 2 of its 3 pools"):
        PAVCalibration.fit(*trials, score_offset=0.51 * np.log(2))


@given(score_lists(finite_scores), score_lists(finite_scores), st.floats(0, 1e-3))
def test_map_rises_and_is_finite(tar: np.ndarray, non: np.ndarray, score_offset: float) -> None:
    calibration = PAVCalibration.fit(tar, non, score_offset=score_offset)
    grid = np.sort(np.concatenate((tar, non, np.linspace(-60, 60, 25))))
    llrs = calibration.apply(grid)
    assert np.all(np.isfinite(llrs))
    # Pools are distinct ratios of small counts, far more than 2e-3 apart.
    assert np.all(np.diff(llrs) >= -1e-12)
    assert llrs.max() <= np.log(non.size + 1) + score_offset + 1e-12
    assert llrs.min() >= -np.log(tar.size + 1) - score_offset - 1e-12


@given(score_lists(finite_scores), score_lists(finite_scores))
def test_dummies_cost_little(tar: np.ndarray, non: np.ndarray) -> None:
    """On the training trials: between the optimum and the cost of saying nothing."""
    calibration = PAVCalibration.fit(tar, non)
    calibrated = cllr(calibration.apply(tar), calibration.apply(non))
    assert calibrated >= min_cllr(tar, non) - 1e-12


def test_large_sets_approach_the_optimum(rng: np.random.Generator) -> None:
    tar, non = rng.normal(2, 1, 20_000), rng.normal(0, 1, 20_000)
    calibration = PAVCalibration.fit(tar, non)
    optimum = optimal_llrs(tar, non)[0]
    inner = np.isfinite(optimum) & (np.abs(optimum) < 3)
    # One trial more in pools of at least hundreds.
    np.testing.assert_allclose(calibration.apply(tar)[inner], optimum[inner], atol=0.02)


def test_scores_far_out_do_not_pass_the_dummies() -> None:
    calibration = PAVCalibration.fit([3e7, 4e7], [-5e7, 1e7])
    # The dummies sit at the outermost magnitude, 5e7: pools 1/2 and 2/1 of 3 each.
    np.testing.assert_allclose(calibration.apply([1e7, 3e7]), np.log([0.5, 2.0]), rtol=1e-15)


def test_shape_is_kept_and_input_left_alone(rng: np.random.Generator) -> None:
    calibration = PAVCalibration.fit(rng.normal(1, 1, 50), rng.normal(0, 1, 60))
    x = rng.normal(size=(3, 4)).astype(np.float32)
    before = x.copy()
    assert calibration.apply(x).shape == (3, 4)
    assert type(calibration.apply(0.5)) is np.float64
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(calibration.apply(x).ravel(), calibration.apply(x.ravel()))


def test_on_score_matrices() -> None:
    models, segments = ["a", "b"], ["s", "t", "u"]
    scores = Scores(
        np.array([[3.0, -2.0, 1.0], [0.0, 4.0, 99.0]]),
        models,
        segments,
        np.array([[True, True, True], [True, True, False]]),
    )
    key = Key(
        models,
        segments,
        np.array([[True, False, True], [False, True, False]]),
        np.array([[False, True, False], [True, False, False]]),
    )
    calibration = PAVCalibration.fit_scores(scores, key)
    assert calibration == PAVCalibration.fit([1.0, 3.0, 4.0], [-2.0, 0.0])
    calibrated = calibration.apply(scores)
    np.testing.assert_array_equal(
        calibrated.scoremat[scores.scoremask], calibration.apply(scores.scoremat[scores.scoremask])
    )
    assert not calibrated.scoremask[1, 2]


@given(score_lists(finite_scores), score_lists(finite_scores))
def test_saved_map_is_the_same(tmp_path_factory, tar: np.ndarray, non: np.ndarray) -> None:
    path = tmp_path_factory.mktemp("pav") / "pav.json"
    calibration = PAVCalibration.fit(tar, non, score_offset=1e-6)
    calibration.save(path)
    again = PAVCalibration.read(path)
    assert again == calibration
    with pytest.raises(ValueError, match="read-only"):
        again.llr_bounds[0] = 0


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pav.json"
    path.write_text('{"kind": "SomethingElse"}')
    with pytest.raises(FileFormatError):
        PAVCalibration.read(path)


@pytest.mark.parametrize(
    ("tar", "non", "score_offset", "message"),
    [
        ([], [1.0], 0.0, "at least one score"),
        ([1.0], [], 0.0, "at least one score"),
        ([1.0, np.nan], [0.0], 0.0, r"NaN at 1 of 2 positions \(1\)"),
        ([1.0, np.inf], [0.0], 0.0, "must be finite; got 1 infinite"),
        ([1.0], [0.0], -0.1, "`score_offset` .* not negative; got -0.1"),
        ([1.0], [0.0], np.nan, "`score_offset`"),
    ],
)
def test_bad_input(tar, non, score_offset: float, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        PAVCalibration.fit(tar, non, score_offset=score_offset)


def test_nan_cannot_be_calibrated() -> None:
    with pytest.raises(InvalidInputError, match="NaN at 1 of 1"):
        PAVCalibration.fit([1.0], [0.0]).apply([np.nan])
