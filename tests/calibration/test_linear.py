"""Linear calibration against the toolkit, closed forms, and the laws it must obey."""

import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import optimize

from bosaris_py.calibration import BoundedCalibration, LinearCalibration
from bosaris_py.errors import (
    BosarisWarning,
    ConvergenceWarning,
    ExtrapolationWarning,
    FewTrainingErrorsWarning,
    FileFormatError,
    InvalidInputError,
    MissingTrialsWarning,
    SeparableDataWarning,
)
from bosaris_py.fusion import LinearFusion
from bosaris_py.metrics import cllr
from bosaris_py.numerics import OperatingPoint, newton
from bosaris_py.numerics.objective import TrainingObjective, evaluate_objective
from bosaris_py.numerics.scoring import OBJECTIVES
from bosaris_py.trials import Key, Scores

ORACLE = Path(__file__).resolve().parent.parent / "reference" / "oracle"
RECORD = json.loads((ORACLE / "calibration_linear.json").read_text())
RUNS = RECORD["runs"]
NO_MINIMUM = ("separated", "inverted")

# Runs whose brier objective keeps falling towards hard decisions; the toolkit's
# optimiser ran off there too, to scales of 30 to 566.
HARD_DECISIONS = {(name, p) for name in ("gauss", "mini_overlap") for p in (0.01, 0.001)}
HARD_DECISIONS.add(("mini_overlap", 0.1))


def describe_run(run):
    return f"{run['dataset']}-{run['prior']}-{run['objective']}"


EXACT = [run for run in RUNS if "w_exact" in run]
CONSTANT = [run for run in RUNS if run["dataset"] == "constant"]
SEPARABLE = [run for run in RUNS if run["dataset"] in NO_MINIMUM]
BRIER = [
    run
    for run in RUNS
    if run["objective"] == "brier" and run not in CONSTANT and run not in SEPARABLE
]


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


def test_every_run_of_the_toolkit_is_accounted_for():
    assert len(RUNS) == 96
    groups = [*EXACT, *CONSTANT, *SEPARABLE, *BRIER]
    assert sorted(map(describe_run, groups)) == sorted(map(describe_run, RUNS))


@pytest.mark.parametrize("run", EXACT, ids=describe_run)
def test_exact_optimum(run):
    tar, non = load(run)
    calibration = LinearCalibration.fit(tar, non, **settings(run))
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
    if (run["dataset"], run["prior"]) in HARD_DECISIONS:
        with pytest.warns(ConvergenceWarning, match="lowest for hard decisions"):
            calibration = LinearCalibration.fit(tar, non, **settings(run))
    else:
        calibration = LinearCalibration.fit(tar, non, **settings(run))
    assert calibration.objective_value <= run["nxe"] + 1e-14
    assert np.abs(gradient(calibration, tar, non)).max() < 1e-13
    value = evaluate_objective(calibration.apply(tar), calibration.apply(non), **settings(run))
    assert value == pytest.approx(calibration.objective_value, rel=1e-12)


@pytest.mark.parametrize("run", SEPARABLE, ids=describe_run)
def test_separable_scores(run):
    """The toolkit goes on to a scale of 15 to 56; here a ridge of 1/n keeps it moderate."""
    tar, non = load(run)
    expected = SeparableDataWarning if run["dataset"] == "separated" else BosarisWarning
    with pytest.warns(expected) as caught:
        calibration = LinearCalibration.fit(tar, non, **settings(run))
    assert sum(w.category is SeparableDataWarning for w in caught) == 1
    assert len(caught) == (1 if run["dataset"] == "separated" else 2)
    smaller = min(tar.size, non.size)
    assert calibration.ridge == 1 / smaller
    assert math.copysign(1, calibration.scale) == math.copysign(1, run["w"][0])
    # Log-likelihood-ratios that n trials can support: about log(n), for each loss.
    llrs = np.concatenate((calibration.apply(tar), -calibration.apply(non)))
    assert 1.0 < llrs.max() < 3 * math.log(smaller)
    # It is the optimum of the penalised objective.
    spread = balanced_spread(tar, non)
    penalty = calibration.ridge * calibration.scale * spread**2
    slope = gradient(calibration, tar, non) + np.array([penalty, 0.0])
    assert np.abs(slope).max() < 1e-13
    # The toolkit's own solution has the value it reported, by our objective.
    value = evaluate_objective(
        *(run["w"][0] * x + run["w"][1] for x in (tar, non)), **settings(run)
    )
    assert value == pytest.approx(run["nxe"], abs=1e-15)


def balanced_spread(tar, non):
    """Return the standard deviation of the scores, both classes counting the same."""
    centre = (tar.mean() + non.mean()) / 2
    return math.sqrt((np.mean((tar - centre) ** 2) + np.mean((non - centre) ** 2)) / 2)


@pytest.mark.parametrize("run", CONSTANT, ids=describe_run)
def test_constant_scores(run):
    with pytest.warns(ConvergenceWarning, match="All training scores are equal") as caught:
        calibration = LinearCalibration.fit(*load(run), **settings(run))
    assert len(caught) == 1
    assert coefficients(calibration).tolist() == run["w"] == [0, 0]
    assert calibration.objective_value == pytest.approx(1.0, abs=1e-15)
    assert calibration.apply([3.0, np.inf]).tolist() == [0.0, 0.0]


# Of some priors the toolkit's lines have a Cllr above 1.
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")
@pytest.mark.parametrize("run", RUNS, ids=describe_run)
def test_objective_and_cllr_at_the_weights_of_the_toolkit(run):
    tar, non = load(run)
    toolkit = LinearCalibration(
        scale=run["w"][0],
        offset=run["w"][1],
        objective_value=run["nxe"],
        ridge=0.0,
        n_tar=tar.size,
        n_non=non.size,
        **settings(run),
    )
    llrs = toolkit.apply(tar), toolkit.apply(non)
    # The same sums in another order; the toolkit's last digits are rounded weights.
    value = evaluate_objective(*llrs, **settings(run))
    assert value == pytest.approx(run["obj_at_w"], rel=1e-12, abs=1e-15)
    assert cllr(*llrs) == pytest.approx(run["cllr_after"], rel=1e-12, abs=1e-15)


def test_toolkit_iterates():
    """Its accepted Newton iterates have the values it reports, and end at our optimum."""
    trace = RECORD["gauss_prior01_maxiters_trace"]
    tar, non = load({"dataset": "gauss"})
    for entry in trace:
        scale, offset = entry["w"]
        value = evaluate_objective(scale * tar + offset, scale * non + offset, prior=0.1)
        # The trace begins with 0.9999999999999989 at zero.
        assert value == pytest.approx(entry["nxe"], rel=2e-15)
    values = [entry["nxe"] for entry in trace]
    assert values == sorted(values, reverse=True)
    optimum = LinearCalibration.fit(tar, non, prior=0.1).objective_value
    assert optimum == pytest.approx(values[-1], abs=2e-8)
    assert optimum < values[-1]


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("prior", [0.5, 0.03])
def test_calibrated_gaussians(objective, prior, rng):
    """Scores N(+-s^2/2, s^2) are their own log-likelihood-ratios: scale 1, offset 0.

    The sampling error is the sandwich H^-1 G H^-1 of the estimate, where G is the
    covariance of the gradient over trials, computed here from the single trials.
    """
    n, s = 20_000, 2.0
    tar, non = rng.normal(s**2 / 2, s, n), rng.normal(-(s**2) / 2, s, n)
    calibration = LinearCalibration.fit(tar, non, prior=prior, objective=objective)
    plain = TrainingObjective.from_scores(tar, non, prior=prior, objective=objective)
    inverse = np.linalg.inv(plain.evaluate(np.array([1.0, 0.0])).hessian)
    covariance = np.zeros((2, 2))
    for scores, price in ((tar, prior), (non, 1 - prior)):
        sign = 1 if scores is non else -1
        z = sign * (scores + math.log(prior / (1 - prior)))
        q = 1 / (1 + np.exp(-z))
        slope = {"cllr": q, "brier": q**2 * (1 - q), "boost": np.exp(z / 2) / 2}[objective]
        slope *= price / (plain.rule.entropy(prior))
        covariance += np.cov(slope * np.vstack((scores, np.ones(n)))) / n
    error = np.sqrt(np.diag(inverse @ covariance @ inverse))
    # Five standard errors: one failure in a million.
    assert np.all(error < 0.2)
    assert np.all(np.abs(coefficients(calibration) - [1.0, 0.0]) < 5 * error)


@pytest.fixture
def overlapping(rng):
    return rng.normal(2.0, 1.0, 60), rng.normal(0.0, 1.5, 90)


@given(
    st.floats(1e-6, 1e6),
    st.floats(-100.0, 100.0),
    st.sampled_from(["cllr", "boost"]),
    st.sampled_from([1.0, -1.0]),
)
def test_units_of_the_scores_do_not_matter(factor, shift, objective, sign):
    """Calibrating a x + b gives the log-likelihood-ratios of calibrating x."""
    generator = np.random.default_rng(7)
    tar, non = generator.normal(2.0, 1.0, 60), generator.normal(0.0, 1.5, 90)
    plain = LinearCalibration.fit(tar, non, objective=objective, prior=0.2)
    change = lambda x: sign * factor * (x + shift)  # noqa: E731
    with warnings.catch_warnings():
        warnings.simplefilter("error" if sign > 0 else "ignore", BosarisWarning)
        warnings.simplefilter("ignore", FewTrainingErrorsWarning)
        changed = LinearCalibration.fit(change(tar), change(non), objective=objective, prior=0.2)
    assert math.copysign(1.0, changed.scale) == sign
    # A shift of 100 costs two digits of the scores.
    np.testing.assert_allclose(changed.apply(change(tar)), plain.apply(tar), atol=1e-11)
    np.testing.assert_allclose(changed.apply(change(non)), plain.apply(non), atol=1e-11)
    assert changed.objective_value == pytest.approx(plain.objective_value, rel=1e-13)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_scores_of_any_magnitude(objective, overlapping):
    tar, non = overlapping
    plain = LinearCalibration.fit(tar, non, objective=objective)
    for factor in (1e-100, 1e-6, 1e6, 1e100):
        changed = LinearCalibration.fit(factor * tar, factor * non, objective=objective)
        assert changed.scale * factor == pytest.approx(plain.scale, rel=1e-12)
        assert changed.offset == pytest.approx(plain.offset, rel=1e-12)
    far = LinearCalibration.fit(tar + 1e6, non + 1e6, objective=objective)
    # At 1e6 the scores themselves are rounded to 1e-10.
    assert far.scale == pytest.approx(plain.scale, rel=1e-9)
    np.testing.assert_allclose(far.apply(tar + 1e6), plain.apply(tar), atol=1e-8)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_outlier_is_survived(objective, overlapping):
    """A wrong score a million deviations away, hardly weighted: nothing overflows."""
    tar, non = overlapping
    tar, weights = np.append(tar, -1e6), {"tar_weights": np.append(np.ones(60), 1e-9)}
    calibration = LinearCalibration.fit(tar, non, objective=objective, **weights)
    assert calibration.scale > 0
    # Rounding of a sum of terms of up to 1e6 * 1e-9.
    assert np.abs(gradient(calibration, tar, non, **weights)).max() < 1e-13


def test_weight_two_is_a_trial_given_twice(overlapping):
    tar, non = overlapping
    times = np.arange(non.size) % 4
    weighted = LinearCalibration.fit(tar, non, tar_weights=np.full(60, 0.3), non_weights=times)
    repeated = LinearCalibration.fit(tar, np.repeat(non, times))
    np.testing.assert_allclose(coefficients(weighted), coefficients(repeated), rtol=1e-13)
    assert weighted.objective_value == pytest.approx(repeated.objective_value, rel=1e-14)
    assert weighted.n_tar == 60
    assert weighted.n_non == np.count_nonzero(times)


def test_trials_of_weight_zero_do_not_count_for_separability():
    with pytest.warns(SeparableDataWarning):
        LinearCalibration.fit([1.0, 2.0], [0.0, 0.5, 9.0], non_weights=[1.0, 1.0, 0.0])


def test_order_of_trials_does_not_matter(overlapping, rng):
    tar, non = overlapping
    plain = LinearCalibration.fit(tar, non, prior=0.1)
    mixed = LinearCalibration.fit(rng.permutation(tar), rng.permutation(non), prior=0.1)
    np.testing.assert_allclose(coefficients(mixed), coefficients(plain), rtol=1e-13)


@pytest.mark.parametrize("layout", ["strided", "read-only", "float32", "int", "list", "big-endian"])
def test_any_layout_gives_the_same(layout, rng):
    tar, non = rng.integers(-2, 9, 40).astype(float), rng.integers(-9, 3, 70).astype(float)
    change: Callable = {
        "strided": lambda x: np.repeat(x[::-1], 3)[::-3],
        "read-only": lambda x: np.frombuffer(x.tobytes()),
        "float32": lambda x: x.astype(np.float32),
        "int": lambda x: x.astype(np.int8),
        "list": np.ndarray.tolist,
        "big-endian": lambda x: x.astype(">f8"),
    }[layout]
    assert LinearCalibration.fit(change(tar), change(non)) == LinearCalibration.fit(tar, non)


def test_input_is_not_modified(overlapping, rng):
    arrays = [*overlapping, rng.uniform(0, 1, 60), rng.uniform(0, 1, 90)]
    copies = [array.copy() for array in arrays]
    calibration = LinearCalibration.fit(
        *arrays[:2], tar_weights=arrays[2], non_weights=arrays[3], objective="brier"
    )
    calibration.apply(arrays[0])
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_prior_of_an_operating_point(overlapping):
    point = OperatingPoint(0.01, 10, 1)
    calibration = LinearCalibration.fit(*overlapping, prior=point)
    assert calibration.prior == point.effective_prior
    same = LinearCalibration.fit(*overlapping, prior=point.effective_prior)
    # The log-odds of the two differ by a rounding.
    np.testing.assert_allclose(coefficients(calibration), coefficients(same), rtol=1e-14)


def test_boost_does_not_depend_on_the_prior(overlapping):
    a = LinearCalibration.fit(*overlapping, prior=0.5, objective="boost")
    b = LinearCalibration.fit(*overlapping, prior=0.001, objective="Boost")
    np.testing.assert_allclose(coefficients(a), coefficients(b), rtol=1e-12)
    assert b.objective == "boost"


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_ridge(objective, overlapping):
    tar, non = overlapping
    spread = balanced_spread(tar, non)
    scales = []
    for ridge in (0.0, 0.01, 1.0, 1e4):
        calibration = LinearCalibration.fit(tar, non, objective=objective, ridge=ridge)
        penalty = [ridge * calibration.scale * spread**2, 0.0]
        assert np.abs(gradient(calibration, tar, non) + penalty).max() < 1e-13
        # Dimensionless: millivolts for volts change nothing.
        other = LinearCalibration.fit(1000 * tar, 1000 * non, objective=objective, ridge=ridge)
        assert other.scale * 1000 == pytest.approx(calibration.scale, rel=1e-12)
        assert calibration.ridge == ridge
        scales.append(calibration.scale)
    assert scales == sorted(scales, reverse=True)
    # At the end the detector is ignored: scale and offset near 0, the offset unpenalised.
    assert abs(calibration.scale) < 1e-3
    assert calibration.objective_value == pytest.approx(1.0, abs=1e-3)


def test_a_ridge_makes_separable_data_trainable_without_a_warning():
    calibration = LinearCalibration.fit([2.0, 3.0], [0.0, 1.0], ridge=0.1)
    assert calibration.ridge == 0.1
    # Symmetric about 1.5.
    assert calibration.apply(1.5) == pytest.approx(0.0, abs=1e-14)


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
    # Scores in other units change nothing.
    moved = LinearCalibration.fit(
        2 * tar - 7, 2 * non - 7, objective=objective, prior=0.2, ridge="weak"
    )
    expected = calibration.scale / 2, calibration.offset + 3.5 * calibration.scale
    np.testing.assert_allclose(coefficients(moved), expected, rtol=1e-9)


def test_a_weak_ridge_needs_no_overlap_and_keeps_to_the_middle():
    """Of one trial each a distance of 2 apart, deviation 1: w (1 + exp w) log 2 = 100, by hand."""
    calibration = LinearCalibration.fit([2.0], [0.0], ridge="weak")
    assert -calibration.offset / calibration.scale == pytest.approx(1.0)
    # The slope of log2(1 + exp(-w)) is -1 / ((1 + exp w) log 2); that of the penalty w / 100.
    scale = optimize.brentq(lambda w: w * (1 + math.exp(w)) * math.log(2) - 100, 0, 9)
    assert calibration.scale == pytest.approx(scale, rel=1e-9)


@pytest.mark.parametrize(
    ("tar", "non"),
    [
        ([1.0], [0.0]),
        ([1.0, 2.0], [1.0, 0.0]),  # touching: still no optimum
        ([1.0, 1.0], [1.0, 0.0]),
        ([1e-9, 3.0], [0.0, -1.0]),
        (np.linspace(5, 9, 1000), np.linspace(-9, -5, 10_000)),
    ],
)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_separable_is_recognised_exactly(tar, non, objective):
    with pytest.warns(SeparableDataWarning, match="no target scores below a non-target"):
        calibration = LinearCalibration.fit(tar, non, objective=objective, prior=0.1)
    assert 0 < calibration.objective_value < 1
    assert np.isfinite(coefficients(calibration)).all()


@pytest.mark.parametrize("gap", [1e-3, 0.5])
def test_nearly_separable_has_an_optimum(gap, rng):
    """A single pair in the wrong order is enough."""
    tar = np.append(rng.uniform(1.0, 9.0, 500), -gap)
    non = np.append(rng.uniform(-9.0, -1.0, 500), gap)
    calibration = LinearCalibration.fit(tar, non)
    assert np.abs(gradient(calibration, tar, non)).max() < 1e-13
    assert calibration.ridge == 0.0


def test_inverted_scores_are_pointed_out(overlapping):
    tar, non = overlapping
    with pytest.warns(BosarisWarning, match="scale is negative .* swapped") as caught:
        inverted = LinearCalibration.fit(-tar, -non)
    assert Path(caught[0].filename) == Path(__file__)
    straight = LinearCalibration.fit(tar, non)
    np.testing.assert_allclose(inverted.apply(-tar), straight.apply(tar), rtol=1e-12)


def test_a_useless_detector_is_not_called_inverted():
    """The same scores in both classes: the scale is 0 but for rounding, of either sign."""
    scores = np.random.default_rng(3).normal(size=101)
    for sign in (1, -1):
        calibration = LinearCalibration.fit(sign * scores, sign * scores[::-1])
        np.testing.assert_allclose(coefficients(calibration), 0.0, atol=1e-14)


BAD = np.array([1.0, np.nan, 2.0, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tar": []}, "`tar` must hold at least one score"),
        ({"non": []}, "`non` must hold at least one score"),
        ({"tar": [[1.0, 2.0]]}, "`tar` must be one-dimensional"),
        ({"tar": ["a", "b"]}, "`tar` must hold real numbers"),
        ({"tar": BAD}, r"2 of 6 scores of `tar` are NaN \(at positions 1, 5\)"),
        ({"tar": BAD}, r"2 of 6 scores of `tar` are infinite \(at positions 3, 4\)"),
        ({"non": [0.0, 1e200]}, r"1 of 2 scores of `non` are beyond 1e\+150 \(at positions 1\)"),
        ({"prior": 0.0}, "`prior` .* strictly between 0 and 1"),
        ({"prior": 1.0}, "`prior` .* strictly between 0 and 1"),
        ({"prior": float("nan")}, "`prior` .* strictly between 0 and 1"),
        ({"prior": "half"}, "`prior` .* number between 0 and 1"),
        (
            {"objective": "logistic"},
            "`objective` .* one of 'cllr', 'brier', 'boost'; got 'logistic'",
        ),
        ({"tar_weights": [1.0]}, "`tar_weights` .* one weight for each of the 2 scores; got 1"),
        ({"non_weights": [1.0, -1.0]}, "`non_weights` .* not negative"),
        ({"non_weights": [0.0, 0.0]}, "`non_weights` .* not all be zero"),
        ({"ridge": -1.0}, '`ridge` must be "weak", or finite and not negative'),
        ({"ridge": np.inf}, '`ridge` must be "weak", or finite and not negative'),
        ({"ridge": None}, "`ridge` must be a number"),
        ({"ridge": "strong"}, '`ridge` must be "weak", or finite and not negative; got .strong'),
        ({"ridge": np.ones(2)}, "`ridge` must be a number"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        LinearCalibration.fit(**{"tar": [1.0, 2.0], "non": [0.0, 1.5], **arguments})


@pytest.fixture
def calibration(overlapping):
    return LinearCalibration.fit(*overlapping, prior=0.1)


def test_apply_keeps_shape_and_infinities(calibration):
    scores = np.array([[1.0, np.inf, 0.25], [-np.inf, -0.0, 1e300]])
    with pytest.warns(ExtrapolationWarning, match="1 of 6 scores .* the farthest, 1e.300"):
        llrs = calibration.apply(scores)
    assert llrs.shape == (2, 3)
    assert llrs.dtype == np.float64
    np.testing.assert_array_equal(llrs, calibration.scale * scores + calibration.offset)
    assert calibration.apply([]).shape == (0,)
    assert calibration.apply(2) == calibration.scale * 2 + calibration.offset
    # float32 scores are raised to double precision before anything is done.
    single = np.array([0.1, 0.7], dtype=np.float32)
    np.testing.assert_array_equal(
        calibration.apply(single), calibration.scale * single.astype(float) + calibration.offset
    )


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.ExtrapolationWarning")
def test_llrs_beyond_the_largest_number_are_infinite(overlapping):
    steep = LinearCalibration.fit(*(10.0**-3 * np.asarray(scores) for scores in overlapping))
    assert steep.scale > 2
    assert steep.apply([1.7e308, -1.7e308]).tolist() == [np.inf, -np.inf]
    bounded = BoundedCalibration(map=steep, low=-1.0, high=2.0)
    assert bounded.apply([1.7e308, -1.7e308]).tolist() == [2.0, -1.0]


def test_apply_refuses_nan(calibration):
    with pytest.raises(InvalidInputError, match=r"`x` .* NaN at 1 of 3"):
        calibration.apply([0.0, np.nan, 1.0])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1.0], [2.0, 3.0]], "`x` must be a regular array"),
        (np.ma.masked_array([1.0, 2.0], [False, True]), "`x` must be a plain array; .* 1 masked"),
        ({1.0, 2.0}, "`x` must be a list"),
    ],
)
def test_apply_refuses_what_is_no_array(calibration, scores, message):
    with pytest.raises(InvalidInputError, match=message):
        calibration.apply(scores)


def scored_trials(rng):
    models, segments = ["m1", "m2", "m3"], [f"s{i}" for i in range(40)]
    tar = rng.uniform(size=(3, 40)) < 0.2
    non = ~tar & (rng.uniform(size=(3, 40)) < 0.8)
    scores = Scores(rng.normal(size=(3, 40)) + 1.5 * tar, models, segments)
    return scores, Key(models, segments, tar, non)


def test_scores_and_key(rng):
    scores, key = scored_trials(rng)
    calibration = LinearCalibration.fit_scores(scores, key, prior=0.3, objective="boost")
    tar, non = scores.get_tar_non(key)
    assert calibration == LinearCalibration.fit(tar, non, prior=0.3, objective="boost")
    calibrated = calibration.apply(scores)
    assert isinstance(calibrated, Scores)
    np.testing.assert_array_equal(calibrated.scoremat, calibration.apply(scores.scoremat))
    again = LinearCalibration.fit_scores(calibrated, key, objective="boost")
    np.testing.assert_allclose(coefficients(again), [1.0, 0.0], atol=1e-13)


def test_only_what_the_mask_shows_is_calibrated(rng, calibration):
    scores, _ = scored_trials(rng)
    matrix, mask = scores.scoremat.copy(), rng.uniform(size=(3, 40)) < 0.5
    matrix[~mask] = np.nan
    masked = Scores(matrix, scores.modelset, scores.segset, mask)
    calibrated = calibration.apply(masked)
    np.testing.assert_array_equal(calibrated.scoremask, mask)
    np.testing.assert_array_equal(
        calibrated.scoremat[mask], calibration.scale * matrix[mask] + calibration.offset
    )


def test_missing_trials_are_reported_and_left_out(rng):
    scores, key = scored_trials(rng)
    part = scores.filter(["m1", "m2"], scores.segset.tolist(), keep=True)
    with pytest.warns(MissingTrialsWarning):
        calibration = LinearCalibration.fit_scores(part, key)
    with pytest.warns(MissingTrialsWarning):
        tar, non = part.get_tar_non(key)
    assert calibration == LinearCalibration.fit(tar, non)


def test_saved_and_read_again_it_is_the_same(calibration, tmp_path):
    path = tmp_path / "calibration.json"
    calibration.save(path)
    assert LinearCalibration.read(path) == calibration
    record = json.loads(path.read_text())["parameters"]
    assert record["scale"] == calibration.scale
    assert record["prior"] == 0.1
    assert record["n_non"] == 90


@pytest.mark.parametrize("text", ["", "{}", "[1, 2]", '{"kind": "LinearFusion"}', "scale = 2"])
def test_foreign_files_are_refused(text, tmp_path):
    path = tmp_path / "calibration.json"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"calibration\.json"):
        LinearCalibration.read(path)


def test_looks(overlapping):
    """The optimum itself is tested elsewhere; here it is only shown."""
    calibration = LinearCalibration.fit([1.0, 2.0, 3.0], [0.0, -1.0, 1.5], ridge=0.25)
    assert repr(calibration) == (
        f"LinearCalibration: llr = {calibration.scale:.4g} * score - {-calibration.offset:.4g}, "
        f"cllr {calibration.objective_value:.4g} at prior 0.5, ridge 0.25, "
        "3 targets, 3 non-targets"
    )


def test_cannot_be_changed(calibration):
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        calibration.scale = 2.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scale": math.inf}, "`scale` must be a finite number; got inf"),
        ({"offset": "much"}, "`offset` must be a finite number"),
        ({"prior": 2.0}, "`prior` must lie strictly"),
        ({"objective": "l2"}, "`objective` must be one of"),
        ({"n_tar": 0}, "`n_tar` must be a count of at least 1"),
    ],
)
def test_bad_records(calibration, change, message):
    with pytest.raises(InvalidInputError, match=message):
        attrs.evolve(calibration, **change)


def test_a_line_that_is_known(tmp_path):
    """2 * 0.5 + 1 = 2; nothing was trained, and the file says so."""
    line = LinearCalibration.from_line(2.0, 1.0)
    assert line.apply([0.5, -0.5]).tolist() == [2.0, 0.0]
    assert repr(line) == "LinearCalibration: llr = 2 * score + 1, given, not trained"
    line.save(tmp_path / "line.json")
    assert LinearCalibration.read(tmp_path / "line.json") == line
    with pytest.raises(InvalidInputError, match="`scale` must be a finite number"):
        LinearCalibration.from_line(math.nan, 0.0)
    with pytest.raises(InvalidInputError, match="`n_non` must be a count of at least 1"):
        attrs.evolve(line, n_tar=1)


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
    calibration = LinearCalibration.fit(*sets["trn"])
    assert calibration.scale == pytest.approx(1.408637, abs=1e-6)
    assert calibration.offset == pytest.approx(4.678186, abs=1e-6)
    assert calibration.objective_value == pytest.approx(0.05475, abs=5e-6)
    assert cllr(*map(calibration.apply, sets["tst"])) == pytest.approx(0.68799, abs=5e-6)
    assert np.linalg.norm(gradient(calibration, *sets["trn"])) < 1e-12


def test_separable_faces(shared_data):
    """Genuine users and zero-effort impostors of Replay-Attack: no error at any prior."""
    table = np.loadtxt(shared_data / "replay_bob" / "scores-train-1.txt.gz", dtype=str)
    claimed, real, scores = table[:, 0], table[:, 1], table[:, 3].astype(float)
    tar = scores[claimed == real]
    non = scores[(claimed != real) & (real != "attack")]
    assert (tar.size, non.size) == (60, 840)
    with pytest.warns(SeparableDataWarning, match=r"ridge=0\.0167"):
        calibration = LinearCalibration.fit(tar, non)
    # log(60) is 4.1.
    assert 1 < calibration.apply(tar).max() < 8
    with pytest.raises(InvalidInputError, match="7 of 300 scores of `non` are NaN"):
        LinearCalibration.fit(tar, scores[real == "attack"])


def test_hard_decisions_of_brier_are_found_and_told() -> None:
    """Accepting from -0.5 on costs one of four non-targets: 0.5 * 0.25, over the entropy 0.25."""
    with pytest.warns(ConvergenceWarning, match="lowest for hard decisions"):
        found = LinearCalibration.fit([0, 0, 5], [-3, -1, -1, 2], prior=0.5, objective="brier")
    assert found.objective_value == pytest.approx(0.5, rel=1e-12)
    assert -found.offset / found.scale == pytest.approx(-0.5)


@pytest.mark.filterwarnings("ignore:The scores of the 2 systems vary in only 1")
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
    for system, model in (
        ([tar, non], LinearCalibration),
        ([[tar, tar], [non, non]], LinearFusion),
    ):
        with pytest.warns(ConvergenceWarning, match="lowest for hard decisions"):
            found = model.fit(*system, objective="brier", **named)
        assert found.objective_value == pytest.approx(2.0 * min(costs), rel=1e-12)


def test_many_trials_are_calibrated_without_a_start_from_hard_decisions(monkeypatch) -> None:
    """Scores of a normal law have their minimum at moderate weights, from any start."""
    rng = np.random.default_rng(5)
    scores = rng.normal(1.0, 1.0, 300), rng.normal(-1.0, 1.0, 300)
    found = LinearCalibration.fit(*scores, prior=0.5, objective="brier")
    monkeypatch.setattr(newton, "_MOST_HARD", 299)
    again = LinearCalibration.fit(*scores, prior=0.5, objective="brier")
    assert (again.scale, again.offset) == pytest.approx((found.scale, found.offset), rel=1e-9)
