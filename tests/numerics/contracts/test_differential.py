"""Every rank-based metric and Cllr against exact fractions, on many small odd problems.

A problem is drawn from scores that are hard to tell apart or to keep apart: ties, neighbouring
floats, denormals, infinities, both zeros, single precision, integers, and whole-number weights.

    PROBLEMS=100000 pytest tests/numerics/contracts/test_differential.py
"""

import itertools
import math
import os
import warnings
from fractions import Fraction

import numpy as np
import pytest

import bosaris_py as bp
from tests.score_strategies import naive_hull, naive_points

POOLS = [
    np.array([-2.0, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 7.0]),
    np.array([0.0, 5e-324, 1e-310, -5e-324, 2.2250738585072014e-308, -1e-310]),
    np.array([1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 1.0 + 4e-16, 1.0 - 3e-16]),
    np.array([-np.inf, np.inf, 0.0, 1e308, -1e308, 1.7e308, 3.0]),
    np.array([16777216.0, 16777217.0, 16777218.0, 16777215.0]),
]
KINDS = (np.float64, np.float64, np.float32, np.int64)
PRIORS = (Fraction(1, 2), Fraction(1, 100), Fraction(9, 10))


def draw_problem(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Draw scores of two classes of 1 to 12 trials, and whole weights with a positive sum."""
    lists = []
    kind, pool = KINDS[rng.integers(len(KINDS))], POOLS[rng.integers(len(POOLS))]
    for _ in range(2):
        size = rng.integers(1, 13)
        scores = rng.choice(pool, size)
        if rng.random() < 0.3:
            scores = rng.normal(size=size) * 10.0 ** rng.integers(-3, 4)
        if kind is np.int64:
            scores = np.clip(np.nan_to_num(scores), -1e9, 1e9)
        with np.errstate(over="ignore"):
            lists.append(scores.astype(kind))
        weights = rng.integers(0, 4, size)
        lists.append(weights if weights.any() else weights + 1)
    return tuple(lists)


def exact_cllr(tar: np.ndarray, non: np.ndarray) -> float:
    """Cllr by an exact sum of softplus terms, which are good to some ulps."""

    def softplus(x: float) -> float:
        return max(x, 0.0) + math.log1p(math.exp(-abs(x)))

    sides = ([softplus(-float(s)) for s in tar], [softplus(float(s)) for s in non])
    if math.inf in sides[0] + sides[1]:
        return math.inf
    return float(sum(sum(map(Fraction, side)) / len(side) for side in sides) / 2) / math.log(2.0)


def check(tar: np.ndarray, non: np.ndarray, weights: dict[str, np.ndarray] | None) -> None:
    """Compare each metric of one problem; with weights against the trials repeated."""
    given = weights or {}
    all_tar = np.repeat(tar, given.get("tar_weights", 1))
    all_non = np.repeat(non, given.get("non_weights", 1))
    points, hull = naive_points(all_tar, all_non), naive_hull(all_tar, all_non)

    vertices = bp.ROC.from_scores(tar, non, **given).convex_hull()
    expected = [(m * all_tar.size, f * all_non.size) for m, f in hull]
    assert list(zip(vertices.misses, vertices.false_alarms, strict=True)) == expected

    assert bp.auc(tar, non, **given) == pytest.approx(float(area(all_tar, all_non)), abs=4e-16)
    assert bp.eer(tar, non, **given) == pytest.approx(float(crossing(hull, 1, 1)), abs=2e-16)
    errors = crossing(hull, all_tar.size, all_non.size) * all_tar.size
    assert bp.prbep(tar, non, **given) == pytest.approx(float(errors), rel=1e-15)
    for prior in PRIORS:
        least = float(
            min(prior * m + (1 - prior) * f for m, f in [(Fraction(0), Fraction(1)), *points])
        )
        assert bp.min_dcf(tar, non, float(prior), normalize=False, **given) == pytest.approx(
            least, rel=1e-15, abs=1e-16
        )
        actual = float(
            prior * rate(all_tar < -math.log(prior / (1 - prior)))
            + (1 - prior) * rate(all_non >= -math.log(prior / (1 - prior)))
        )
        assert bp.act_dcf(tar, non, float(prior), normalize=False, **given) == pytest.approx(
            actual, rel=1e-15
        )
    thresholds = np.unique(np.concatenate((tar, non))).astype(float)
    pmiss, pfa = bp.error_rates_at(tar, non, thresholds, **given)
    assert [float(rate(all_tar < t)) for t in thresholds] == pmiss.tolist()
    assert [float(rate(all_non >= t)) for t in thresholds] == pfa.tolist()
    cllr, expected_cllr = bp.cllr(tar, non, **given), exact_cllr(all_tar, all_non)
    # A sum of more than the largest float is infinite, though the mean is not.
    assert cllr == pytest.approx(expected_cllr, rel=1e-12) or (cllr, expected_cllr > 1e306) == (
        math.inf,
        True,
    )
    assert bp.min_cllr(tar, non, **given) == pytest.approx(hull_cllr(hull), rel=1e-12, abs=1e-15)


def rate(decisions: np.ndarray) -> Fraction:
    return Fraction(int(decisions.sum()), decisions.size)


def area(tar: np.ndarray, non: np.ndarray) -> Fraction:
    wins = int((tar[:, None] > non).sum()) * 2 + int((tar[:, None] == non).sum())
    return Fraction(wins, 2 * tar.size * non.size)


def crossing(hull: list[tuple[Fraction, Fraction]], n_tar: int, n_non: int) -> Fraction:
    """Find the miss rate where n_tar * pmiss = n_non * pfa on a hull."""
    for (m0, f0), (m1, f1) in itertools.pairwise(hull):
        before, after = n_tar * m0 - n_non * f0, n_tar * m1 - n_non * f1
        if after >= 0:
            return m0 + (m1 - m0) * before / (before - after)
    raise AssertionError


def hull_cllr(hull: list[tuple[Fraction, Fraction]]) -> float:
    """Cllr of the LLR log(dm / df) of each edge: what PAV gives (theory paper, section 3)."""
    terms = []
    for (m0, f0), (m1, f1) in itertools.pairwise(hull):
        misses, alarms = m1 - m0, f0 - f1
        if misses and alarms:
            terms += [
                float(misses) * math.log1p(alarms / misses),
                float(alarms) * math.log1p(misses / alarms),
            ]
    return math.fsum(terms) / (2.0 * math.log(2.0))


def test_metrics_equal_exact_fractions() -> None:
    rng = np.random.default_rng(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(int(os.environ.get("PROBLEMS", "400"))):
            tar, tar_weights, non, non_weights = problem = draw_problem(rng)
            if tar.size == non.size and any(set(x) <= {-1.0, 0.0, 1.0} for x in (tar, non)):
                continue  # refused as labels
            weights = {"tar_weights": tar_weights, "non_weights": non_weights}
            try:
                check(tar, non, weights if number % 2 else None)
            except AssertionError as error:
                error.add_note(f"problem {number}: {problem}")
                raise
