"""How many replicates make a standard error repeatable."""

import numpy as np
import pytest

from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError

RNG = np.random.default_rng(1)
TAR, NON = RNG.normal(2, 1, 400), RNG.normal(0, 1, 900)
COST = unc.DCF(1.0, 0.5, 1, 1)
MEAN = lambda tar, non, *weights: float(np.average(tar, weights=weights[0]))  # noqa: E731


@pytest.mark.parametrize(("tolerance", "theory"), [(0.02, 1251), (0.01, 5001), (0.05, 201)])
def test_of_normal_replicates(tolerance: float, theory: int) -> None:
    """1 / (2 (B - 1)) = tolerance^2, exact in integers."""
    found = unc.replications_needed(unc.bootstrap(TAR, NON, COST, rng=1), tolerance=tolerance)
    assert found.theory == theory
    # The kurtosis of 2,000 normal replicates is known to sqrt(24 / 2000) = 0.11; 4 of these change
    # kappa - 1 = 2 by 22 %.
    assert found.pilot == pytest.approx(theory, rel=0.22)
    assert str(theory) in repr(found)


def test_pilot_solves_the_formula() -> None:
    heavy = np.concatenate((RNG.normal(0, 1, 195), [40.0, 45.0, 50.0, 60.0, -50.0]))
    result = unc.bootstrap(heavy, NON, MEAN, replications=500, rng=2)
    found = unc.replications_needed(result, tolerance=0.03)
    x = result.replicates
    kurtosis = np.mean((x - x.mean()) ** 4) / x.var(ddof=1) ** 2

    def squared(b: float) -> float:
        return (kurtosis - (b - 3) / (b - 1)) / (4 * b)

    assert squared(found.pilot) <= 0.03**2 < squared(found.pilot - 1)
    assert found.variation == pytest.approx(np.sqrt(squared(500)), rel=1e-9)
    assert found.replications == 500


def test_of_many_runs() -> None:
    """The spread that runs have shown, scaled by the number of replicates."""
    runs = unc.standard_error_distribution(TAR, NON, COST, runs=400, replications=201, rng=3)
    found = unc.replications_needed(runs)
    cv = np.std(runs.standard_errors, ddof=1) / np.mean(runs.standard_errors)
    assert found.variation == pytest.approx(cv, rel=1e-12)
    assert found.pilot == int(np.ceil(1 + 200 * (cv / 0.02) ** 2))
    # 400 runs know its square to 2 / sqrt(800) = 7 %; 4 of these.
    assert found.pilot == pytest.approx(1251, rel=0.28)


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_bad_input() -> None:
    result = unc.bootstrap(TAR, NON, COST, replications=10, rng=1)
    for tolerance in (0.0, 1.0, 2):
        with pytest.raises(InvalidInputError, match="tolerance"):
            unc.replications_needed(result, tolerance=tolerance)
    with pytest.raises(InvalidInputError, match="a BootstrapResult or a StandardErrorDistribution"):
        unc.replications_needed(0.01)
    rates = unc.bootstrap(TAR, NON, unc.ErrorRates(1.0), replications=10, rng=1)
    with pytest.raises(InvalidInputError, match="of one number; got 2"):
        unc.replications_needed(rates)
    still = unc.bootstrap([5.0] * 9, [-5.0] * 9, COST, replications=10, rng=1)
    with pytest.raises(InvalidInputError, match="replicates that differ"):
        unc.replications_needed(still)
