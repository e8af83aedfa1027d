"""The rule of 30 in training: theory paper, section 2.1.2."""

import warnings

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py._cautions import collected
from bosaris_py.errors import BosarisWarning, FewErrorsWarning, FewTrainingErrorsWarning
from bosaris_py.numerics.priors import sigmoid

pytestmark = pytest.mark.filterwarnings("error::bosaris_py.errors.FewTrainingErrorsWarning")

RNG = np.random.default_rng(1)
FEW = RNG.normal(2, 1, 40), RNG.normal(0, 1, 4000)
MIXED = RNG.normal(1, 1, 200), RNG.normal(0, 1, 400)
MANY = RNG.normal(2, 1, 3000), RNG.normal(0, 1, 30_000)


def counted(fitted: bp.LinearCalibration, prior: float, scores: tuple) -> tuple[int, int]:
    """Count errors of Bayes decisions, trial by trial."""
    tar, non = map(fitted.apply, scores)
    threshold = -np.log(prior / (1 - prior))
    return sum(x < threshold for x in tar), sum(x >= threshold for x in non)


@pytest.mark.slow
def test_counts_and_range_of_priors() -> None:
    with collected() as found:
        fitted = bp.LinearCalibration.fit(*MIXED, prior=0.01)
    (caution,) = found
    misses, alarms = counted(fitted, 0.01, MIXED)
    assert alarms < 30 <= misses
    assert caution.category is FewTrainingErrorsWarning
    assert issubclass(FewTrainingErrorsWarning, FewErrorsWarning)
    assert caution.figures == ("false alarms",)
    assert caution.count == alarms
    assert f"{misses} misses and {alarms} false alarms" in caution.finding
    # The naive way: try all priors, in steps finer than the three digits that are printed.
    grid = sigmoid(np.linspace(-4, 4, 40_001))
    carried = [p for p in grid if min(counted_at(fitted, p)) >= 30]
    assert (
        f"of both kinds only at priors from {carried[0]:.3g} to {carried[-1]:.3g}."
        in caution.finding
    )


def counted_at(fitted: bp.LinearCalibration, prior: float) -> tuple[int, int]:
    tar, non = map(fitted.apply, MIXED)
    threshold = -np.log(prior / (1 - prior))
    return np.count_nonzero(tar < threshold), np.count_nonzero(non >= threshold)


def test_fewer_than_thirty_targets_carry_no_prior() -> None:
    with pytest.warns(FewTrainingErrorsWarning, match="of both kinds at no prior"):
        bp.LinearCalibration.fit(FEW[0][:29], FEW[1], prior=0.1)


def test_large_sets_and_the_default_prior_are_silent() -> None:
    for prior in (0.5, bp.OperatingPoint(0.5), 0.2):
        bp.LinearCalibration.fit(*MANY, prior=prior)
    # The default names no operating point; a ridge is the remedy.
    bp.LinearCalibration.fit(*FEW)
    bp.LinearCalibration.fit(*FEW, prior=0.001, ridge="weak")


def test_of_an_operating_point_and_of_other_maps() -> None:
    # 0.01 at costs 10 and 1 is an effective prior of 0.0917.
    with pytest.warns(FewTrainingErrorsWarning, match="At prior 0.09174 "):
        bp.LinearCalibration.fit(*FEW, prior=bp.OperatingPoint(0.01, 10, 1), offset=0.0)
    two = [np.stack((x, x + RNG.normal(size=x.size))) for x in FEW]
    for options in ({}, {"nonnegative": True}):
        with pytest.warns(FewTrainingErrorsWarning) as caught:
            bp.LinearFusion.fit(*two, prior=0.001, **options)
        assert len(caught) == 1


def test_separable_data_are_warned_of_as_such() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BosarisWarning)
        bp.LinearCalibration.fit([2.0, 3.0], [0.0, 1.0], prior=0.1)
    assert [one.category.__name__ for one in caught] == ["SeparableDataWarning"]
