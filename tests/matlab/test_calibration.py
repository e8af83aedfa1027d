"""The toolkit's calibration functions against its recorded runs, and on Scores and files."""

# ruff: noqa: FBT003 -- flags are positional as in the toolkit

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py
import bosaris_py.matlab as b
from bosaris_py.errors import InvalidInputError, MissingTrialsWarning

FOLDER = Path(__file__).parents[1] / "reference" / "oracle"
RECORD = json.loads((FOLDER / "calibration_linear.json").read_text())
PAV_SETS = sorted(path.stem for path in FOLDER.glob("pavcal_*.npz"))


def train(run: dict[str, Any], niters: int) -> tuple[np.ndarray, np.ndarray, Any]:
    with np.load(FOLDER / f"stats_{run.get('dataset', 'gauss')}.npz") as file:
        tar, non = np.atleast_1d(file["tar"]), np.atleast_1d(file["non"])
    objective = b.make_objective_function_from_name(run.get("objective", "cllr").upper())
    prior = run.get("prior", 0.1)
    return tar, non, b.train_linear_calibration(tar, non, prior, objective, niters, True)


# Some sets separate the classes or have scores of the wrong sign, which is warned about.
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize(
    "run", RECORD["runs"], ids=lambda run: f"{run['dataset']}-{run['objective']}-{run['prior']}"
)
def test_train_linear_calibration(run: dict[str, Any]) -> None:
    """Weights to 1e-6 of the exact ones; the native test knows where there are none."""
    tar, non, (f, nxe, w) = train(run, run["maxiters"])
    labels = np.repeat([1.0, -1.0], [tar.size, non.size])
    calibrated = np.concatenate((f(tar), f(non)))
    judged = b.evaluate_objective(run["objective"], calibrated, labels, run["prior"])
    assert judged == pytest.approx(nxe, rel=0, abs=1e-12)
    np.testing.assert_allclose(f(tar), w[0] * tar + w[1], rtol=1e-12, atol=1e-12)
    at_toolkits = [scores * run["w"][0] + run["w"][1] for scores in (tar, non)]
    close = pytest.approx(run["obj_at_w"], rel=0, abs=1e-12)
    joined = np.concatenate(at_toolkits)
    assert b.evaluate_objective(run["objective"], joined, labels, run["prior"]) == close
    assert b.cllr(*at_toolkits) == pytest.approx(run["cllr_after"], rel=1e-9, abs=1e-12)
    if "w_exact" in run:
        np.testing.assert_allclose(w, run["w_exact"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("step", RECORD["gauss_prior01_maxiters_trace"], ids=str)
def test_training_goes_to_the_optimum_whatever_the_number_of_iterations(step):
    _, _, (_, nxe, w) = train({}, step["maxiters"])
    assert nxe <= step["nxe"] + 1e-15
    if step["maxiters"] >= 10:
        np.testing.assert_allclose(w, step["w"], rtol=1e-3)


# Recorded offsets of .1 make maps fall between pools.
@pytest.mark.filterwarnings("ignore:The map falls")
@pytest.mark.parametrize("name", PAV_SETS)
def test_pav_calibration(name: str) -> None:
    with np.load(FOLDER / f"{name}.npz") as file:
        record = {key: np.atleast_1d(file[key]) for key in file.files}
    for k, small_val in enumerate(record["small_vals"].tolist()):
        pav_trans, score_bounds, llr_bounds = b.pav_calibration(
            record["tar"], record["non"], small_val
        )
        np.testing.assert_allclose(score_bounds, record["score_bounds"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(llr_bounds, record[f"llr_bounds_{k}"], rtol=0, atol=1e-12)
        for scores in ("tar", "non", "grid"):
            llrs = pav_trans(record[scores])
            np.testing.assert_allclose(llrs, record[f"{scores}_llr_{k}"], rtol=0, atol=1e-12)


@pytest.fixture
def trials(rng: np.random.Generator) -> Callable[[], tuple[b.Scores, b.Key]]:
    """Make scores of 6 x 20 trials with one score missing, and their key."""

    def make() -> tuple[b.Scores, b.Key]:
        ids = [f"m{i}" for i in range(6)], [f"s{j}" for j in range(20)]
        tar = rng.random((6, 20)) < 0.3
        scored = np.arange(120).reshape(6, 20) != 43
        scores = rng.normal(size=tar.shape) + 2.0 * tar
        return b.Scores(scores, *ids, scored), b.Key(*ids, tar, ~tar)

    return make


Trials = Callable[[], tuple[b.Scores, b.Key]]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_linear_calibrate_scores(trials: Trials, caplog: pytest.LogCaptureFixture) -> None:
    (dev, key), (evaluation, eval_key) = trials(), trials()
    calibration = bosaris_py.LinearCalibration.fit_scores(dev, key, prior=0.1, ridge=0)
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        calibrated = b.linear_calibrate_scores(dev, key, [], 100, 0.1, False)
    assert calibrated == calibration.apply(dev.align_with_ndx(key))
    results, number = b.Results(calibrated, key), r"= ([\d.e-]+)"
    costs = results.get_norm_act_dcf(0.1), results.get_norm_min_dcf(0.1)
    expected = *costs, results.prbep, calibration.objective_value
    told = [*map(float, re.findall(number, caplog.messages[-1]))]
    assert told == pytest.approx(expected, rel=1e-5)
    ndx = eval_key.to_ndx()
    both = b.linear_calibrate_scores_dev_eval(dev, evaluation, key, ndx, None, 100, 0.1, False)
    assert both == (calibrated, calibration.apply(evaluation.align_with_ndx(ndx)))


def test_missing_trials_are_filled_if_wanted(trials: Trials) -> None:
    scr, key = trials()
    with pytest.warns(MissingTrialsWarning) as caught:
        filled = b.linear_calibrate_scores(scr, key, [], 100, 0.5, True)
    assert filled.scoremask.all()
    assert filled.scoremat[2, 3] == 0.0
    assert all(warning.filename == __file__ for warning in caught), "points at the caller"


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_pav_calibrate_scores(trials: Trials, caplog: pytest.LogCaptureFixture) -> None:
    (dev, key), (evaluation, eval_key) = trials(), trials()
    calibration = bosaris_py.PAVCalibration.fit_scores(dev, key, score_offset=1e-6)
    with caplog.at_level(logging.INFO, logger="bosaris_py"):
        calibrated = b.pav_calibrate_scores(dev, key, 0.1, 1e-6, False)
    assert calibrated == calibration.apply(dev.align_with_ndx(key))
    assert caplog.messages[-1].startswith("norm_act_dcf = ")
    assert "nxe" not in caplog.messages[-1]
    ndx = eval_key.to_ndx()
    both = b.pav_calibrate_scores_dev_eval(dev, evaluation, key, ndx, 0.1, 1e-6, False)
    assert both == (calibrated, calibration.apply(evaluation.align_with_ndx(ndx)))


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_from_files(trials: Trials, tmp_path: Path) -> None:
    (dev, key), (evaluation, eval_key) = trials(), trials()
    ndx = eval_key.to_ndx()
    paths = [tmp_path / f"{n}.mat" for n in range(6)]
    for item, path in zip((key, ndx, dev, evaluation), paths, strict=False):
        item.save(path)
    out = paths[4:]
    b.linear_calibrate_scores_from_files(paths[0], paths[2], out[0], [], 100, 0.1, False)
    expected = b.linear_calibrate_scores(dev, key, [], 100, 0.1, False)
    assert b.Scores.read(out[0]) == expected
    b.linear_calibrate_scores_dev_eval_from_files(*paths, "boost", 100, 0.1, True)
    both = b.linear_calibrate_scores_dev_eval(dev, evaluation, key, ndx, "boost", 100, 0.1, True)
    assert tuple(map(b.Scores.read, out)) == both


def test_refused(trials: Trials) -> None:
    scr, key = trials()
    for call, message in (
        (lambda: b.pav_calibrate_scores_dev_eval(scr, scr, key, key, 0.5, 0, False), "ndx_eval"),
        (lambda: b.train_linear_calibration([1.0], [0.0], 100, [], 1, True), "prior"),
        (lambda: b.evaluate_objective("cllr", [1.0], [2], 0.5), "classf"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            call()


def test_dummies_of_pav_lie_at_the_outermost_scores() -> None:
    """If those are beyond 1e6: every training score then lies between the dummies."""
    pav_trans, score_bounds, _ = b.pav_calibration([2e6, 3.0], [0.0, 1.0], 0.0)
    assert (score_bounds[0], score_bounds[-1]) == (-2e6, 2e6)
    assert np.isfinite(pav_trans([-3e6, 2e6, 3e6])).all()
