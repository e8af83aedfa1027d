"""Figures of a validation: by their definitions, by the metrics, and by textbook intervals."""

import math

import numpy as np
import pytest
from scipy import stats

from bosaris_py import (
    Key,
    LinearCalibration,
    Results,
    Scores,
    cross_fit,
    optimal_llrs,
    uncertainty as unc,
    validate,
)
from bosaris_py.errors import FewSpeakersWarning
from bosaris_py.evaluation.validation import _METRICS, validation_figures
from bosaris_py.trials import Sample
from tests.calibration.test_cross_fitting import simulated

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")

SCORES, KEY, SPEAKERS = simulated(n_speakers=20)


@pytest.fixture(scope="module")
def validated():
    return validate(SCORES, KEY, speakers=SPEAKERS, rng=1)


def on_diagonal(llrs):
    """Return scores whose diagonal are the targets, and their key."""
    ids, same = [f"s{i:02}" for i in range(len(llrs))], np.eye(len(llrs), dtype=bool)
    return Scores(llrs, ids, ids), Key(ids, ids, same, ~same)


def brier(tar, non):
    """Return the mean squared error of posteriors at even odds, over 1/4."""
    errors = (1 - 1 / (1 + np.exp(-tar))) ** 2, (1 / (1 + np.exp(-non))) ** 2
    return (errors[0].mean() + errors[1].mean()) / 2 / 0.25


def test_figures_are_their_definitions(validated):
    tar, non = SCORES.get_tar_non(KEY)
    results = Results(tar, non)
    expected = {
        "misleading_tar": np.mean(tar < 0),
        "misleading_non": np.mean(non > 0),
        "cllr": results.cllr,
        "min_cllr": results.min_cllr,
        "calibration_loss": results.calibration_loss,
        "brier": brier(tar, non),
        "min_brier": brier(*optimal_llrs(tar, non)),
        "mean_inverse_lr_tar": np.exp(-tar).mean(),
        "mean_lr_non": np.exp(non).mean(),
        "mean_log10_lr_tar": np.log10(np.exp(tar)).mean(),
        "mean_log10_lr_non": np.log10(np.exp(non)).mean(),
    }
    found = {name: one.value for name, one in validated.figures.items()}
    # devPAV has tests with its curve.
    assert {*found} == {*expected, "dev_pav", "linear_loss"}
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)
    plain = validation_figures(Sample.from_scores(tar, non))
    assert {n: one.value for n, one in plain.items()} == pytest.approx(
        {n: value for n, value in found.items() if n != "linear_loss"}, rel=1e-12
    )
    assert all(one.low is None for one in plain.values())
    twice = Sample.from_scores(tar, non, np.full(tar.size, 2.0), np.full(non.size, 3.0))
    weighted = {n: one.value for n, one in validation_figures(twice).items()}
    assert weighted == pytest.approx({n: one.value for n, one in plain.items()}, rel=1e-12)


def test_intervals_are_by_the_jackknife_over_speakers(validated):
    for name, metric in _METRICS.items():
        alone = unc.speaker_interval(SCORES, KEY, metric, speakers=SPEAKERS)
        found = validated.figures[name]
        assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high), name
    content = validated.to_dict()
    assert (content["cllr_low"], content["dev_pav_high"]) == (validated.figures["cllr"].low, None)
    assert (content["n_tar"], content["n_speakers"], content["seed"]) == (120, 20, 1)


def test_the_loss_to_a_line_is_a_difference_of_two_systems(validated):
    """The median over eleven divisions of the speakers."""
    lines = [
        cross_fit(LinearCalibration, SCORES, KEY, speakers=SPEAKERS, rng=child).scores
        for child in np.random.default_rng(1).spawn(11)
    ]
    cllr = validated.figures["cllr"].value
    losses = [cllr - Results.from_scores(line, KEY).cllr for line in lines]
    found = validated.figures["linear_loss"]
    assert found.value == pytest.approx(np.median(losses), abs=1e-12)
    compared = {"llrs": SCORES, "line": lines[int(np.argsort(losses)[5])]}
    (row,) = unc.compare_systems(compared, KEY, unc.Cllr(), speakers=SPEAKERS).rows
    ends = row.difference.low, row.difference.high
    assert (found.low, found.high) == pytest.approx(ends, rel=1e-9)


def test_the_mean_of_llrs_has_the_interval_of_students_t():
    """One target of each of 30 speakers, so that the deviation is the textbook's."""
    llrs = np.random.default_rng(1).normal(size=(30, 30)) + 4.0 * np.eye(30) - 2.0
    found = validate(*on_diagonal(llrs)).figures["mean_log10_lr_tar"]
    own = np.diag(llrs) / math.log(10.0)
    squares = (own - own.mean()) ** 2
    degrees = np.sqrt(29 * (squares.sum() ** 2 / (squares**2).sum() - 1))
    half = stats.t.ppf(0.975, degrees) * own.std(ddof=1) / math.sqrt(30)
    assert (found.low, found.high) == pytest.approx((own.mean() - half, own.mean() + half))


@pytest.mark.slow
def test_the_loss_to_a_line_is_that_of_miscalibration_and_covers_zero_without():
    """The true map is 2 s of these scores: both classes normal, two deviations of 1 apart."""
    raw = 2.0 * np.eye(60) - 1.0 + np.random.default_rng(5).normal(size=(60, 60))
    for scale, is_calibrated in ((2.0, True), (6.0, False)):
        loss = validate(*on_diagonal(scale * raw), rng=1).figures["linear_loss"]
        assert (loss.low <= 0.0 <= loss.high) is is_calibrated


@pytest.mark.slow
def test_calibrated_llrs_have_expected_likelihood_ratios_of_one():
    # N(2, 4) and N(-2, 4) are calibrated; means of exp(N(-2, 4)) have a variance of e^4 - 1.
    rng = np.random.default_rng(3)
    sample = Sample.from_scores(rng.normal(2, 2, 10**6), rng.normal(-2, 2, 10**6))
    found, error = validation_figures(sample), math.sqrt((math.exp(4) - 1) / 10**6)
    assert found["mean_lr_non"].value == pytest.approx(1, abs=4 * error)
    assert found["mean_inverse_lr_tar"].value == pytest.approx(1, abs=4 * error)
    assert found["dev_pav"].value < 0.15
    assert found["calibration_loss"].value < 1e-3


def test_infinite_llrs_have_values_and_no_intervals():
    infinite = Scores(np.where(KEY.tar, np.inf, SCORES.scoremat), *KEY.ids)
    found = validate(infinite, KEY, speakers=SPEAKERS).figures
    assert "linear_loss" not in found
    assert (found["mean_log10_lr_tar"].value, found["mean_inverse_lr_tar"].value) == (math.inf, 0)
    assert found["mean_log10_lr_tar"].low is None
    assert found["misleading_tar"].high > 0.0


def test_few_speakers_are_warned_of_once():
    scores, key, speakers = simulated(n_speakers=4)
    with pytest.warns(FewSpeakersWarning) as caught:
        found = validate(scores, key, speakers=speakers)
    assert len(caught) == 1
    assert all(one.low is None for one in found.figures.values())
    assert "4 speakers; too few for intervals" in repr(found)


def test_what_it_prints(validated):
    lines = repr(validated).splitlines()
    assert lines[0].endswith(", 20 speakers; 95 % intervals, seed 1")
    # What misleads comes first.
    assert [line.split("  ")[0] for line in lines[1:4]] == [
        "targets with LR < 1 (%)",
        "non-targets with LR > 1 (%)",
        "Cllr",
    ]
    cllr = validated.figures["cllr"]
    ends = ["Cllr", f"{cllr.value:.4g}", f"[{cllr.low:.4g},", f"{cllr.high:.4g}]"]
    assert lines[3].split() == ends
    assert next(line for line in lines if line.startswith("devPAV")).endswith("no interval")
