"""Does training have an optimum? Against an exact answer in integers, on many small problems."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

from bosaris_py.errors import SeparableDataWarning
from bosaris_py.fusion import LinearFusion
from bosaris_py.numerics import training
from bosaris_py.numerics.linear_objective import TrainingObjective
from bosaris_py.numerics.scoring_rules import OBJECTIVES
from bosaris_py.numerics.separability import _as_integers, _separating_direction, proves_optimum


def separable_exactly(tar, non):
    """Try all weights at which K trials tie, in integers; None if trials vary in fewer directions.

    If the classes can be separated weakly, the weights that do so form a pointed cone, and on
    each of its edges K trials in general position have the threshold for their score.
    """
    points = np.vstack((tar.T, non.T)).astype(np.int64)
    pairs = np.array(list(itertools.combinations(range(len(points)), 2)))
    differences = np.unique(points[pairs[:, 0]] - points[pairs[:, 1]], axis=0)
    if np.linalg.matrix_rank(differences) < points.shape[1]:
        return None
    if points.shape[1] == 2:
        weights = differences[:, ::-1] * [1, -1]
    else:
        weights = np.cross(differences[:, np.newaxis], differences).reshape(-1, 3)
    weights = np.unique(weights[weights.any(axis=1)], axis=0)
    weights = np.vstack((weights, -weights))
    lowest, highest = (weights @ tar.astype(int)).min(1), (weights @ non.astype(int)).max(1)
    return bool((lowest >= highest).any())


def has_warned(tar, non, **settings):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LinearFusion.fit(tar, non, **settings)
    return any(warning.category is SeparableDataWarning for warning in caught)


def problems(seed, n_problems, n_systems, most_trials, *, factors=(1,)):
    """Draw integer scores with many ties; `factors` multiply single scores."""
    rng = np.random.default_rng(seed)
    while n_problems:
        half = rng.integers(1, 6)
        tar, non = (
            rng.integers(-half, half + 1, (n_systems, size)) + shift
            for size, shift in zip(
                rng.integers(1, most_trials, 2), (rng.integers(0, 2 * half + 1), 0), strict=True
            )
        )
        tar, non = (x * rng.choice(factors, x.shape) for x in (tar, non))
        truth = separable_exactly(tar, non)
        if truth is not None:
            n_problems -= 1
            yield tar.astype(float), non.astype(float), truth


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "n_problems", "n_systems", "most_trials", "factors"),
    [
        (1, 150, 2, 60, (1,)),
        (2, 150, 2, 14, (0, 0, 1, 10, 1000, 100_000)),
        (3, 60, 3, 9, (1,)),
        (4, 60, 3, 9, (0, 0, 1, 100, 1000)),
    ],
)
def test_neither_silence_nor_false_alarm(seed, n_problems, n_systems, most_trials, factors):
    silent, false, n_separable = [], [], 0
    drawn = problems(seed, n_problems, n_systems, most_trials, factors=factors)
    for number, (tar, non, truth) in enumerate(drawn):
        n_separable += truth
        prior = (0.5, 0.01, 0.9, 1e-4)[number % 4]
        for objective in OBJECTIVES:
            warned = has_warned(tar, non, prior=prior, objective=objective)
            silent += [(number, objective)] * (truth and not warned)
            false += [(number, objective)] * (warned and not truth)
    assert silent == false == []
    # Both kinds must have been drawn in numbers.
    assert 0.15 * n_problems < n_separable < 0.85 * n_problems


FAR = (
    [[20.0, 0.0], [-10.0, 0.0]],
    [[1000.0, 0, 2000, 0, 0, 2000, -1000, -1000, 0], [0, 0, 0, 0, 0, -0.01, 0.01, 0.01, 0.01]],
)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_ties_among_scores_of_very_different_size(objective):
    """Weights -1 and -150000 give targets 1.5e6 - 20 and 0, and no non-target more than 0."""
    with pytest.warns(SeparableDataWarning):
        fusion = LinearFusion.fit(*FAR, prior=0.01, objective=objective)
    assert np.abs(fusion.weights).max() < 10


@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize(
    "mixing",
    [np.eye(3), np.diag([1e3, 1e-3, 1.0]), np.vstack((np.eye(3), [1, -1, 0]))],
    ids=["alone", "scaled", "collinear"],
)
def test_cutting_planes(mixing, separable, rng, monkeypatch):
    """Large sets, decided by the linear program alone; a feature that two targets have.

    No linear mixing of the systems changes whether the classes are separated.
    """
    monkeypatch.setattr(training, "proves_optimum", lambda *_: False)
    asked = []
    hardest = TrainingObjective.hardest

    def counted(self, weights, n_trials):
        asked.append(n_trials)
        return hardest(self, weights, n_trials)

    monkeypatch.setattr(TrainingObjective, "hardest", counted)
    tar, non = np.zeros((3, 30_000)), np.zeros((3, 40_000))
    tar[:2], non[:2] = rng.normal(1, 1, (2, 30_000)), rng.normal(0, 1, (2, 40_000))
    tar[2, [123, 4567]] = 1.0
    non[2, 29_999] = 0.0 if separable else 1.0
    assert has_warned(mixing @ tar, mixing @ non) is separable
    assert asked
    assert max(asked) < 5000


def test_collinear_and_separable(rng):
    """The exact program is asked within the span of systems that differ."""
    tar, non = np.array(FAR[0]), np.array(FAR[1])
    tar, non = (np.vstack((x, x[0] - 3 * x[1])) for x in (tar, non))
    assert has_warned(tar, non)
    tar, non = rng.normal(1, 1, (2, 50)), rng.normal(0, 1, (2, 60))
    tar, non = (np.vstack((x, 0.3 * x[0] - 0.7 * x[1])) for x in (tar, non))
    assert not has_warned(tar, non)


def test_proof_of_an_optimum(rng):
    tar, non = rng.normal(1, 1, (2, 500)), rng.normal(0, 1, (2, 700))
    fusion = LinearFusion.fit(tar, non)
    training = TrainingObjective.from_scores(tar, non)
    there = training.evaluate(np.append(fusion.weights, fusion.offset))
    radius = np.sqrt(1 + np.square(np.hstack((tar, non))).sum(axis=0).max())
    assert proves_optimum(there.gradient, there.hessian, there.value, radius)
    # Far from it the gradient proves nothing; nor do derivatives that have overflowed.
    away = training.evaluate(np.zeros(3))
    assert not proves_optimum(away.gradient, away.hessian, away.value, radius)
    assert not proves_optimum(there.gradient, there.hessian * np.nan, there.value, radius)
    assert not proves_optimum(there.gradient, there.hessian * 0, there.value, radius)


@pytest.mark.parametrize(
    "row", [[1.0, 2.0**60], [1.0, 0.0, -1.0], [5e-324, 1.5], [0.75, 2.0**-60], [3.0, -(2.0**40)]]
)
def test_integers_keep_the_proportions_of_doubles(row):
    found = _as_integers(np.array([row]))[0].tolist()
    factor = found[0] / Fraction(row[0])
    assert factor > 0
    assert found == [factor * Fraction(x) for x in row]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_radius_of_the_proof_is_that_of_the_furthest_trial(sign, rng, monkeypatch):
    """Whatever side of the centre the furthest trial lies on."""
    tar, non = sign * (rng.normal(1, 1, (2, 50))), sign * rng.normal(0, 1, (2, 60))
    tar[0, 3], non[1, 5] = -20.0 * sign, -30.0 * sign
    radii = []
    monkeypatch.setattr(training, "proves_optimum", lambda *found: not radii.append(found[3]))
    training.train_linear(TrainingObjective.from_scores(tar, non), ridge=0.0)
    # Both classes count the same in the centre and the spread.
    centre = (tar.mean(axis=1) + non.mean(axis=1))[:, np.newaxis] / 2
    variance = (((tar - centre) ** 2).mean(axis=1) + ((non - centre) ** 2).mean(axis=1)) / 2
    furthest = np.abs(np.hstack((tar, non)) - centre).max(axis=1) / np.sqrt(variance)
    assert radii == [pytest.approx(np.sqrt(1 + furthest @ furthest), rel=1e-12)]


def test_a_solver_with_tolerances_takes_an_overlap_for_a_gap() -> None:
    """Why the simplex is exact: the classes overlap by 1e-9 in every direction that separates."""
    tar = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    non = np.array([[1e-9, 1e-9], [-1.0, 0.0], [0.0, -1.0]])
    rows = np.vstack((np.c_[tar, -np.ones(3)], np.c_[-non, np.ones(3)]))
    found = optimize.linprog(-rows.sum(axis=0), -rows, np.zeros(6), bounds=[(-1, 1)] * 3)
    assert -found.fun > 1.0
    assert _separating_direction(rows, None) is None
