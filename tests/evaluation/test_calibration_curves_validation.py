"""Tests of the figures of a validation report."""

import math

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.evaluation import Results, validate
from bosaris_py.metrics import cllr, min_cllr, optimal_llrs

RNG = np.random.default_rng(3)
TAR, NON = np.round(RNG.normal(2, 2, 80), 1), np.round(RNG.normal(-1, 2, 120), 1)


def brier_by_posteriors(tar, non):
    """Return the mean squared error of posteriors at even odds, over 1/4."""
    tar_errors, non_errors = (1 - 1 / (1 + np.exp(-tar))) ** 2, (1 / (1 + np.exp(-non))) ** 2
    return (tar_errors.mean() + non_errors.mean()) / 2 / 0.25


def dev_pav_by_sum(tar, non):
    """Return the mean distance of the PAV line from the diagonal, by a fine sum, log10."""
    llrs = np.concatenate(optimal_llrs(tar, non))
    scores = np.concatenate((tar, non))
    kept = np.isfinite(llrs)
    order = np.argsort(scores[kept], kind="stable")
    x, y = scores[kept][order], llrs[kept][order]
    fine = np.linspace(x[0], x[-1], 200_001)
    return np.abs(np.interp(fine, x, y) - fine).mean() / math.log(10)


def test_figures_are_their_definitions():
    found = validate(Results(TAR, NON))
    best_tar, best_non = optimal_llrs(TAR, NON)
    expected = {
        "n_tar": 80,
        "n_non": 120,
        "cllr": cllr(TAR, NON),
        "min_cllr": min_cllr(TAR, NON),
        "calibration_loss": cllr(TAR, NON) - min_cllr(TAR, NON),
        "brier": brier_by_posteriors(TAR, NON),
        "min_brier": brier_by_posteriors(best_tar, best_non),
        "dev_pav": dev_pav_by_sum(TAR, NON),
        "misleading_tar": np.mean(TAR < 0),
        "misleading_non": np.mean(NON > 0),
        "mean_inverse_lr_tar": np.exp(-TAR).mean(),
        "mean_lr_non": np.exp(NON).mean(),
        "mean_log10_lr_tar": np.log10(np.exp(TAR)).mean(),
        "mean_log10_lr_non": np.log10(np.exp(NON)).mean(),
    }
    assert list(found.to_dict()) == list(expected)
    for name, value in expected.items():
        # The sum has 200 000 steps.
        tolerance = 1e-4 if name == "dev_pav" else 1e-12
        assert getattr(found, name) == pytest.approx(value, rel=tolerance), name
    assert found.calibration_loss == Results(TAR, NON).calibration_loss


@pytest.mark.slow
def test_calibrated_llrs_have_expected_likelihood_ratios_of_one():
    # N(2, 4) and N(-2, 4) are calibrated; means of exp(N(-2, 4)) have a variance of e^4 - 1.
    found = validate(Results(RNG.normal(2, 2, 10**6), RNG.normal(-2, 2, 10**6)))
    error = math.sqrt((math.exp(4) - 1) / 10**6)
    assert found.mean_lr_non == pytest.approx(1, abs=4 * error)
    assert found.mean_inverse_lr_tar == pytest.approx(1, abs=4 * error)
    assert found.dev_pav < 0.15
    assert found.calibration_loss < 1e-3


def test_separated_and_infinite_llrs():
    found = validate(Results([1.0, 2.0], [-1.0, -2.0]))
    assert math.isnan(found.dev_pav)
    assert (found.misleading_tar, found.min_brier) == (0, 0)
    infinite = validate(Results([np.inf, 1.0, -1.0], [-np.inf, 0.5]))
    assert (infinite.cllr, infinite.mean_log10_lr_tar) == (Results(
        [np.inf, 1.0, -1.0], [-np.inf, 0.5]).cllr, np.inf)  # fmt: skip


def test_a_printed_line_for_each_figure():
    lines = str(validate(Results(TAR, NON))).splitlines()
    assert lines[0].startswith("80 targets, 120 non-targets")
    assert len(lines) == 14
    assert "few misleading trials decide them" in lines[-1]


@pytest.mark.parametrize(
    "results", [[TAR, NON], Results(TAR, NON, tar_weights=np.full(80, 2.0)), None]
)
def test_bad_input(results):
    with pytest.raises(InvalidInputError, match="`results` must hold two lists without weights"):
        validate(results)
