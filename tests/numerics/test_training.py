"""Training on large sets, and what it takes to see that no optimum exists."""

import numpy as np
import pytest
from attrs import evolve

from bosaris_py.errors import ConvergenceWarning, InvalidInputError, SeparableDataWarning
from bosaris_py.numerics import linear_objective, training
from bosaris_py.numerics.linear_objective import TrainingObjective
from bosaris_py.numerics.scoring_rules import OBJECTIVES, scoring_rule
from bosaris_py.numerics.training import train_linear, train_nonnegative, train_scale


@pytest.fixture
def passes(monkeypatch):
    """Count passes: how many trials each evaluation has looked at."""
    seen = []
    evaluate = TrainingObjective.evaluate

    def counted(self, coefficients):
        seen.append(self.tar.shape[1] + self.non.shape[1])
        return evaluate(self, coefficients)

    monkeypatch.setattr(TrainingObjective, "evaluate", counted)
    return seen


def train(tar, non, ridge=0.0, **settings):
    objective = TrainingObjective.from_scores(tar, non, **settings)
    return train_linear(objective, ridge=ridge)


def coefficients(solution):
    return np.append(solution.weights, solution.offset)


@pytest.mark.slow
@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("order", ["random", "sorted"])
def test_large_sets_start_from_subsets(objective, order, rng, passes, monkeypatch):
    tar, non = rng.normal(2.0, 1.0, (2, 20_000)), rng.normal(0.0, 1.5, (2, 600_000))
    if order == "sorted":
        tar, non = tar[:, np.argsort(tar[0])], non[:, np.argsort(non[0])]
    solution = train(tar, non, objective=objective, prior=0.1)
    full = passes.count(620_000)
    # Two or three passes; brier is minimised three times: cllr's optimum, then from two starts.
    assert full <= (9 if objective == "brier" else 3)
    monkeypatch.setattr(training, "_SUBSETS", ())
    direct = train(tar, non, objective=objective, prior=0.1)
    assert passes.count(620_000) - full > full
    np.testing.assert_allclose(coefficients(solution), coefficients(direct), rtol=1e-12)
    assert solution.objective_value == pytest.approx(direct.objective_value, rel=1e-13)


@pytest.mark.parametrize("prior", [0.5, 0.01])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("classes", ["non", "both"])
def test_points_stand_for_many_scores(prior, dtype, classes, rng, passes, monkeypatch):
    n_tar = 30_000 if classes == "both" else 3000
    tar, non = (
        rng.normal(20.0, 3.0, n_tar).astype(dtype),
        rng.normal(11.0, 4.0, 50_000).astype(dtype),
    )
    expected = train(tar, non, prior=prior)
    passes.clear()
    monkeypatch.setattr(linear_objective, "_MANY_SCORES", 20_000)
    found = train(tar, non, prior=prior)
    # One look at all scores, and a second where these are as few as here.
    assert 1 <= passes.count(tar.size + non.size) <= 2
    assert coefficients(found) == pytest.approx(coefficients(expected), rel=1e-13)
    assert found.objective_value == pytest.approx(expected.objective_value, rel=1e-14)
    # No point stands for scores of other systems, with weights, or far from most.
    far = np.append(non, dtype(1e5))
    for objective in (
        TrainingObjective.from_scores(np.stack((tar, tar)), np.stack((non, non))),
        TrainingObjective.from_scores(tar, non, tar_weights=np.full(tar.size, 2.0)),
        TrainingObjective.from_scores(tar, non, non_weights=np.full(non.size, 2.0)),
        TrainingObjective.from_scores(tar, non, objective="brier"),
        evolve(TrainingObjective.from_scores(tar, far), centre=np.array([15.0]), spread=np.ones(1)),
    ):
        assert objective.condensed() is None
    assert coefficients(train(tar, far)) == pytest.approx(
        coefficients(train(tar, far.astype(np.float64))), rel=1e-9
    )


@pytest.mark.parametrize("size", [1, 15, 16, 1000, 1007])
@pytest.mark.parametrize("mean", [-20.0, -5.0, 0.0, 300.0])
def test_sum_of_losses_is_that_of_each(size, mean, rng):
    log_odds = rng.normal(mean, 1.0, size)
    rule = scoring_rule("cllr")
    loss, slope, curvature, *others = (np.empty(size) for _ in range(5))
    rule.kernel(log_odds, loss, slope, curvature)
    with np.errstate(over="ignore"):
        total = rule.summed(log_odds.copy(), *others)
    assert total == pytest.approx(loss.sum(), rel=1e-14)
    assert np.array_equal(others, (slope, curvature))


def test_separable_subset_of_inseparable_scores(rng):
    """Only a trial that no subset contains makes the difference."""
    tar, non = rng.uniform(1.0, 3.0, 30_000), rng.uniform(-3.0, -1.0, 30_000)
    tar[12_345] = -2.0
    objective = TrainingObjective.from_scores(tar, non)
    assert objective.thinned(2**13).tar.min() > 0
    solution = train_linear(objective, ridge=0.0)
    gradient = objective.evaluate(coefficients(solution)).gradient
    assert np.abs(gradient).max() < 1e-14


def test_boosting_an_outlier_that_no_subset_contains(rng):
    """The subset's scale would give the outlier a loss beyond the largest double."""
    tar, non = rng.normal(2.0, 1.0, 30_000), rng.normal(0.0, 1.0, 30_000)
    weights = np.ones(30_000)
    tar[12_345], weights[12_345] = -5000.0, 1e-9
    objective = TrainingObjective.from_scores(tar, non, objective="boost", tar_weights=weights)
    solution = train_linear(objective, ridge=0.0)
    assert solution.weights[0] > 0
    assert np.abs(objective.evaluate(coefficients(solution)).gradient).max() < 1e-12


def test_separable_large_set(rng, passes):
    common = rng.normal(0.0, 3.0, 90_000)
    scores = np.vstack((common, common))
    scores[0, :40_000] += 0.2
    with pytest.warns(SeparableDataWarning):
        solution = train(scores[:, :40_000], scores[:, 40_000:])
    assert solution.ridge == 1 / 40_000
    assert passes.count(90_000) <= 12


def test_constant_but_for_rounding():
    """Sums of tenths in different orders differ in the last digit, and mean the same."""
    with pytest.warns(ConvergenceWarning, match="All training scores are equal"):
        solution = train([0.1 + 0.2 + 0.3, 0.6], [0.3 + 0.2 + 0.1, 0.6])
    assert coefficients(solution).tolist() == [0.0, 0.0]


def test_variance_that_underflows_is_not_called_constant():
    with pytest.warns(ConvergenceWarning, match="differ by less than 1e-140, so that .* underflow"):
        solution = train([1e-150, 3e-150, 5e-150], [0.0, 4e-150, 2e-150])
    assert coefficients(solution).tolist() == [0.0, 0.0]
    # What is as small as that allows is trained on as anything else.
    small = train([1e-139, 3e-139, 5e-139], [0.0, 4e-139, 2e-139])
    plain = train([1.0, 3.0, 5.0], [0.0, 4.0, 2.0])
    np.testing.assert_allclose(small.weights * 1e-139, plain.weights, rtol=1e-12)


@pytest.mark.parametrize("prior", [1e-300, 1e-11, 1.0 - 1e-16])
def test_brier_cannot_be_judged_at_extreme_priors(prior, rng):
    tar, non = rng.normal(1, 1, 50), rng.normal(-1, 1, 70)
    # With such trials no threshold accepts or rejects anybody for certain.
    tar[0], non[0] = -10.0, 10.0
    with pytest.warns(ConvergenceWarning, match="'brier' is flat around these weights"):
        train(tar, non, objective="brier", prior=prior)
    train(tar, non, prior=prior)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("size", [1e308, 1e-300, 5e-324])
def test_only_proportions_of_weights_matter(objective, size, rng):
    tar, non = rng.normal(1, 1, 50), rng.normal(-1, 1, 70)
    plain = train(tar, non, objective=objective)
    sized = train(tar, non, objective=objective, tar_weights=[size] * 50, non_weights=[size] * 70)
    # Sums with and without equal weights are rounded differently.
    np.testing.assert_allclose(coefficients(sized), coefficients(plain), rtol=1e-11)


def test_weights_of_any_proportion(rng):
    """What is lost among the huge ones is left out."""
    tar, non = rng.normal(1, 1, 50), rng.normal(-1, 1, 70)
    solution = train(tar, non, tar_weights=[1e308] * 49 + [1e-300])
    # Sums with and without equal weights are rounded differently.
    np.testing.assert_allclose(coefficients(solution), coefficients(train(tar[:49], non)), 1e-13)


def test_single_precision_copy_is_collinear(rng):
    tar, non = rng.normal(1, 1, 500), rng.normal(-1, 1, 700)
    copies = [np.vstack((x, x.astype(np.float32))) for x in (tar, non)]
    with pytest.warns(ConvergenceWarning, match="vary in only 1 directions"):
        solution = train(*copies)
    plain = train(tar, non)
    # Half each, but for the rounding of single precision.
    np.testing.assert_allclose(solution.weights, plain.weights[0] / 2, rtol=1e-5)


def test_nearly_collinear_systems_are_solved(rng):
    """A difference of a thousandth of a deviation is small but real."""
    tar, non = rng.normal(1, 1, 500), rng.normal(-1, 1, 700)
    tar = np.vstack((tar, tar + 1e-3 * rng.normal(size=500)))
    non = np.vstack((non, non + 1e-3 * rng.normal(size=700)))
    objective = TrainingObjective.from_scores(tar, non)
    solution = train_linear(objective, ridge=0.0)
    assert np.abs(objective.evaluate(coefficients(solution)).gradient).max() < 1e-13


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.array([1.0, np.nan], dtype=np.float32), "1 of 2 scores of `tar` are NaN"),
        (np.array([1.0, np.inf], dtype=np.float32), "1 of 2 scores of `tar` are infinite"),
        (np.array([1.0, -1e151]), r"1 of 2 scores of `tar` are beyond 1e\+150"),
    ],
)
def test_unusable_scores(scores, message):
    with pytest.raises(InvalidInputError, match=message):
        train(scores, [0.0, 3.0])


@pytest.mark.parametrize(
    ("tar", "non", "offset"),
    [
        ([0.5, 0.5, 8.0, 1.75, -24.0], [-4.0, -8.0], 3.0),
        ([-7.0, -1.0], [2.0, 5.0, 6.0, -16.0, -7.0], -3.0),
    ],
)
def test_scale_of_brier_is_not_the_nearest_minimum(tar, non, offset):
    """The way from zero ends in a minimum that is not the lowest; that from cllr's optimum not."""
    tar, non = np.array(tar), np.array(non)
    scales = np.linspace(-4.0, 4.0, 80_001)[:, np.newaxis]

    def costs(scores, sign):
        return (1 / (1 + np.exp(sign * (scales * scores + offset))) ** 2).mean(axis=1)

    # At a prior of one half the cost of ignorance is 1/4.
    values = 2.0 * (costs(tar, 1.0) + costs(non, -1.0))
    # The spread of the scores, both classes counting the same.
    centre = (tar.mean() + non.mean()) / 2.0
    variance = (np.mean((tar - centre) ** 2) + np.mean((non - centre) ** 2)) / 2.0
    penalised = values + 0.5 * 0.01 * variance * scales[:, 0] ** 2
    solution = train_scale(
        TrainingObjective.from_scores(tar, non, objective="brier"), offset=offset, ridge=0.01
    )
    best = int(np.argmin(penalised))
    assert solution.weights == pytest.approx([scales[best, 0]], abs=1e-4)
    assert solution.objective_value == pytest.approx(values[best], abs=1e-4)


def test_ridge_of_useless_systems_is_that_of_the_smaller_class():
    objective = TrainingObjective.from_scores([[0.0, -1.0, 2.0]], [[1.0, 3.0, 1.5, 2.0, 2.5]])
    solution = train_nonnegative(objective, ridge="weak")
    assert (solution.weights.tolist(), solution.offset) == ([0.0], 0.0)
    # One hundredth of a trial.
    assert solution.ridge == pytest.approx(0.01 / 3, rel=1e-15)


@pytest.mark.parametrize(("tar", "non"), [([-1.0, 2.0], [-3.0, 1.0]), ([-4.0, 1.0], [-3.0, 5.0])])
def test_scale_knows_the_range_of_all_scores(tar, non):
    found = train_scale(TrainingObjective.from_scores(tar, non), offset=0.5, ridge=0.1)
    assert (found.lowest.tolist(), found.highest.tolist()) == ([min(tar + non)], [max(tar + non)])
