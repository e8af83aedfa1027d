"""Calibration by a line against the toolkit, closed forms, and the laws it must obey."""

import contextlib
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from bosaris_py import errors
from bosaris_py.calibration import GaussianCalibration, LinearCalibration
from bosaris_py.fusion import LinearFusion
from bosaris_py.metrics import cllr
from bosaris_py.numerics.scoring import OBJECTIVES, TrainingObjective, evaluate_objective

ORACLE = Path(__file__).resolve().parent.parent / "reference" / "oracle"
RECORD = json.loads((ORACLE / "calibration_linear.json").read_text())
RUNS = RECORD["runs"]
NO_MINIMUM = ("separated", "inverted")
# Runs whose brier objective keeps falling towards hard decisions; the toolkit's optimiser ran off
# there too, to scales of 30 to 566.
HARD_DECISIONS = {(name, p) for name in ("gauss", "mini_overlap") for p in (0.01, 0.001)}
HARD_DECISIONS.add(("mini_overlap", 0.1))


def describe_run(run):
    return f"{run['dataset']}-{run['prior']}-{run['objective']}"


EXACT = [run for run in RUNS if "w_exact" in run]
CONSTANT = [run for run in RUNS if run["dataset"] == "constant"]
SEPARABLE = [run for run in RUNS if run["dataset"] in NO_MINIMUM]
BRIER = [run for run in RUNS if run not in [*EXACT, *CONSTANT, *SEPARABLE]]


def load(run):
    with np.load(ORACLE / f"stats_{run['dataset']}.npz") as arrays:
        return arrays["tar"], arrays["non"]


def settings(run):
    return {"prior": run["prior"], "objective": run["objective"]}


def gradient(calibration, tar, non, **weights):
    """Gradient of the plain objective with respect to scale and offset."""
    training = TrainingObjective.from_scores(
        tar, non, prior=calibration.prior, objective=calibration.objective, **weights
    )
    return training.evaluate(np.array([calibration.scale, calibration.offset])).gradient


def coefficients(calibration):
    return np.array([calibration.scale, calibration.offset])


@pytest.mark.parametrize("run", EXACT, ids=describe_run)
def test_exact_optimum(run):
    tar, non = load(run)
    calibration = LinearCalibration.fit(tar, non, ridge=0, **settings(run))
    # Two Newton solutions of the same problem: rounding, divided by the curvature.
    np.testing.assert_allclose(coefficients(calibration), run["w_exact"], atol=1e-12)
    assert calibration.objective_value == pytest.approx(run["nxe_exact"], rel=1e-13)
    # The toolkit stops when it expects a decrease below 1.5e-8.
    assert calibration.objective_value == pytest.approx(run["nxe"], abs=2e-8)
    assert calibration.objective_value <= run["nxe"] + 1e-14
    assert np.abs(gradient(calibration, tar, non)).max() < 1e-14


@pytest.mark.parametrize("run", BRIER, ids=describe_run)
def test_brier_is_never_worse_than_the_toolkit(run):
    tar, non = load(run)
    assert run["objective"] == "brier"
    is_hard = (run["dataset"], run["prior"]) in HARD_DECISIONS
    with pytest.warns(errors.ConvergenceWarning) if is_hard else contextlib.nullcontext():
        calibration = LinearCalibration.fit(tar, non, ridge=0, **settings(run))
    assert calibration.objective_value <= run["nxe"] + 1e-14
    assert np.abs(gradient(calibration, tar, non)).max() < 1e-13
    value = evaluate_objective(calibration.apply(tar), calibration.apply(non), **settings(run))
    assert value == pytest.approx(calibration.objective_value, rel=1e-12)


@pytest.mark.parametrize("run", SEPARABLE, ids=describe_run)
def test_separable_scores(run):
    """The toolkit goes on to a scale of 15 to 56; here a ridge of 1/n keeps it moderate."""
    tar, non = load(run)
    expected = errors.ConvergenceWarning if run["dataset"] == "separated" else errors.BosarisWarning
    with pytest.warns(expected) as caught:
        calibration = LinearCalibration.fit(tar, non, ridge=0, **settings(run))
    assert sum(w.category is errors.ConvergenceWarning for w in caught) == 1
    smaller = min(tar.size, non.size)
    assert calibration.ridge == 1 / smaller
    assert math.copysign(1, calibration.scale) == math.copysign(1, run["w"][0])
    # Log-likelihood-ratios that n trials can support: about log(n), for each loss.
    llrs = np.concatenate((calibration.apply(tar), -calibration.apply(non)))
    assert 1.0 < llrs.max() < 3 * math.log(smaller)
    # It is the optimum of the penalised objective.
    penalty = np.array([calibration.ridge * calibration.scale * balanced_spread(tar, non) ** 2, 0])
    assert np.abs(gradient(calibration, tar, non) + penalty).max() < 1e-13
    # The toolkit's own solution has the value it reported, by our objective.
    toolkit = (run["w"][0] * x + run["w"][1] for x in (tar, non))
    assert evaluate_objective(*toolkit, **settings(run)) == pytest.approx(run["nxe"], abs=1e-15)


def balanced_spread(tar, non):
    """Return the standard deviation of the scores, both classes counting the same."""
    centre = (tar.mean() + non.mean()) / 2
    return math.sqrt((np.mean((tar - centre) ** 2) + np.mean((non - centre) ** 2)) / 2)


@pytest.mark.parametrize("run", CONSTANT, ids=describe_run)
def test_constant_scores(run):
    with pytest.warns(errors.ConvergenceWarning):
        calibration = LinearCalibration.fit(*load(run), ridge=0, **settings(run))
    assert coefficients(calibration).tolist() == run["w"] == [0, 0]
    assert calibration.objective_value == pytest.approx(1.0, abs=1e-15)
    assert calibration.apply([3.0, np.inf]).tolist() == [0.0, 0.0]


@pytest.fixture
def overlapping(rng):
    return rng.normal(2.0, 1.0, 60), rng.normal(0.0, 1.5, 90)


@pytest.mark.parametrize(
    ("model", "options"), [(LinearCalibration, {"ridge": 0}), (GaussianCalibration, {})]
)
def test_weight_two_is_a_trial_given_twice(model, options, overlapping):
    tar, non = overlapping
    times = np.arange(non.size) % 4
    weighted = model.fit(tar, non, tar_weights=np.full(60, 0.3), non_weights=times, **options)
    repeated = model.fit(tar, np.repeat(non, times), **options)
    np.testing.assert_allclose(coefficients(weighted), coefficients(repeated), rtol=1e-12)
    assert weighted.n_tar == 60
    assert weighted.n_non == np.count_nonzero(times)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_ridge(objective, overlapping):
    tar, non = overlapping
    spread = balanced_spread(tar, non)
    scales = []
    for ridge in (0.0, 0.01, 1.0, 1e4):
        calibration = LinearCalibration.fit(tar, non, objective=objective, ridge=ridge)
        penalty = [ridge * calibration.scale * spread**2, 0.0]
        assert np.abs(gradient(calibration, tar, non) + penalty).max() < 1e-13
        assert calibration.ridge == ridge
        scales.append(calibration.scale)
    assert scales == sorted(scales, reverse=True)
    # At the end the detector is ignored: scale and offset near 0, the offset unpenalised.
    assert abs(calibration.scale) < 1e-3
    assert calibration.objective_value == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_weak_ridge(objective, overlapping):
    """The gradient of the two penalties in the docstring, with n = 30 targets."""
    tar, non = overlapping[0][:30], overlapping[1]
    calibration = LinearCalibration.fit(tar, non, objective=objective, prior=0.2, ridge="weak")
    assert calibration.ridge == pytest.approx(0.01 / 30)
    midway = 0.5 * (tar.mean() + non.mean())
    llr = calibration.scale * midway + calibration.offset
    of_scale = 0.01 / 30 * calibration.scale * balanced_spread(tar, non) ** 2
    penalty = [of_scale + llr * midway / 30, llr / 30]
    assert np.abs(gradient(calibration, tar, non) + penalty).max() < 1e-13


def test_a_weak_ridge_needs_no_overlap_and_keeps_to_the_middle():
    """Of one trial each a distance of 2 apart, deviation 1: w (1 + exp w) log 2 = 100, by hand."""
    calibration = LinearCalibration.fit([2.0], [0.0], ridge="weak")
    assert -calibration.offset / calibration.scale == pytest.approx(1.0)
    # The slope of log2(1 + exp(-w)) is -1 / ((1 + exp w) log 2); that of the penalty w / 100.
    scale = optimize.brentq(lambda w: w * (1 + math.exp(w)) * math.log(2) - 100, 0, 9)
    assert calibration.scale == pytest.approx(scale, rel=1e-9)


# The second and the third touch: still no optimum.
APART = [([1.0], [0.0]), ([1.0, 2.0], [1.0, 0.0]), ([1.0, 1.0], [1.0, 0.0])]
APART += [([1e-9, 3.0], [0.0, -1.0]), (np.linspace(5, 9, 1000), np.linspace(-9, -5, 10_000))]


@pytest.mark.parametrize(("tar", "non"), APART)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_separable_is_recognised_exactly(tar, non, objective):
    with pytest.warns(errors.ConvergenceWarning):
        calibration = LinearCalibration.fit(tar, non, objective=objective, prior=0.1, ridge=0)
    assert 0 < calibration.objective_value < 1
    assert np.isfinite(coefficients(calibration)).all()


def test_apply_keeps_shape_and_infinities(overlapping):
    calibration = LinearCalibration.fit(*overlapping, prior=0.1, ridge=0)
    scores = np.array([[1.0, np.inf, 0.25], [-np.inf, -0.0, 1e300]])
    with pytest.warns(errors.SuspectScoresWarning):
        llrs = calibration.apply(scores)
    assert llrs.shape == (2, 3)
    assert llrs.dtype == np.float64
    np.testing.assert_array_equal(llrs, calibration.scale * scores + calibration.offset)
    assert calibration.apply([]).shape == (0,)
    assert calibration.apply(2) == calibration.scale * 2 + calibration.offset
    # float32 scores are raised to double precision before anything is done.
    single = np.array([0.1, 0.7], dtype=np.float32)
    assert calibration.apply(single).tolist() == calibration.apply(single.astype(float)).tolist()
    # A line that is known: 2 * 0.5 + 1 = 2; nothing was trained.
    line = LinearCalibration.from_line(2.0, 1.0)
    assert line.apply([0.5, -0.5]).tolist() == [2.0, 0.0]
    assert repr(line).endswith("given, not trained")
    assert line.notes == ()
    with pytest.raises(errors.InvalidInputError):
        LinearCalibration.from_line(math.nan, 0.0)


def test_calibration_of_real_posteriors(shared_data):
    """Figures that the data's README gives, computed by another program, to its digits.

    The test set is mismatched: the calibration makes it worse, from 0.126 to 0.688.
    """
    with np.load(shared_data / "spkverif_luferrer" / "spkr_verif.npz") as arrays:
        sets = {}
        for part in ("trn", "tst"):
            scores = np.diff(arrays[f"{part}_logpost"].astype(float), axis=1)[:, 0]
            target = arrays[f"{part}_target"].astype(bool)
            sets[part] = scores[target], scores[~target]
    calibration = LinearCalibration.fit(*sets["trn"], ridge=0)
    assert calibration.scale == pytest.approx(1.408637, abs=1e-6)
    assert calibration.offset == pytest.approx(4.678186, abs=1e-6)
    assert calibration.objective_value == pytest.approx(0.05475, abs=5e-6)
    assert cllr(*map(calibration.apply, sets["tst"])) == pytest.approx(0.68799, abs=5e-6)
    assert np.linalg.norm(gradient(calibration, *sets["trn"])) < 1e-12


def test_hard_decisions_heed_weights_and_collinear_systems() -> None:
    """The least weighted sum of both error-rates, times 1/2 over the entropy 1/4."""
    rng = np.random.default_rng(6)
    tar, non = rng.normal(1.0, 1.3, 21), rng.normal(-1.0, 1.0, 30)
    weights = [rng.integers(0, 4, scores.size) for scores in (tar, non)]
    named = {"tar_weights": weights[0], "non_weights": weights[1]}
    costs = [
        np.average(tar < limit, weights=weights[0]) + np.average(non >= limit, weights=weights[1])
        for limit in tar
    ]
    twice = [[tar, tar], [non, non]]
    for system, model in (([tar, non], LinearCalibration), (twice, LinearFusion)):
        with pytest.warns(errors.ConvergenceWarning):
            found = model.fit(*system, objective="brier", ridge=0, **named)
        assert sum("hard decisions" in note.text for note in found.notes) == 1
        assert found.objective_value == pytest.approx(2.0 * min(costs), rel=1e-12)


RNG = np.random.default_rng(4)
TAR, NON = RNG.normal(2.0, 1.0, 60), RNG.normal(-1.0, 1.5, 90)


def test_gaussian_is_the_closed_form():
    found = GaussianCalibration.fit(TAR, NON, target_share=0.3)
    variance = 0.3 * TAR.var() + 0.7 * NON.var()
    scale = (TAR.mean() - NON.mean()) / variance
    assert found.scale == pytest.approx(scale, rel=1e-12)
    assert found.offset == pytest.approx(-scale * (TAR.mean() + NON.mean()) / 2, rel=1e-12)
    both = np.append(TAR, NON)
    assert (found.low_score, found.high_score) == (both.min(), both.max())


def test_gaussian_distances_are_warned_of():
    with pytest.warns(errors.SuspectScoresWarning, match="negative"):
        falling = GaussianCalibration.fit(-TAR, -NON)
    assert falling.scale == -GaussianCalibration.fit(TAR, NON).scale
    # Means that differ by less than three standard errors, and few trials, are no evidence.
    for classes in ((NON[::2], NON[1::2]), (NON[1::2], NON[::2]), (-TAR[:30], -NON)):
        GaussianCalibration.fit(*classes)
    good, alike = {"tar": TAR, "non": NON}, {"tar": [1], "non": [0]}
    for bad in (alike, {"tar": [1, np.inf]}, {"target_share": 1}, {"tar_weights": [1]}):
        with pytest.raises(errors.InvalidInputError):
            GaussianCalibration.fit(**(good | bad))
