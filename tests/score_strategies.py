"""Hypothesis strategies for scores of two classes and naive reference computations."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

# Few distinct values make ties, within a class and across classes, the normal case.
tied_scores = st.sampled_from([-3.0, -1.5, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 1e-300, 7.0])
# Neighbours, denormals, and numbers that single precision rounds.
near_scores = st.sampled_from([5e-324, -5e-324, 1.0 + 4e-16, 1.0 - 3e-16, 16777217.0, 1e300])
any_scores = st.one_of(
    tied_scores,
    near_scores,
    st.floats(-1e6, 1e6, allow_nan=False, width=64),
    st.sampled_from([np.inf, -np.inf]),
)
finite_scores = st.one_of(tied_scores, st.floats(-50.0, 50.0, allow_nan=False))
priors = st.floats(1e-6, 1 - 1e-6)


def score_lists(elements=any_scores, max_size=30):
    """Lists of at least one score, as float64 arrays."""
    return st.lists(elements, min_size=1, max_size=max_size).map(np.array)


@st.composite
def weighted_scores(draw, elements=any_scores):
    """Scores with whole-number weights from 0 to 4, not all zero."""
    pairs = draw(
        st.lists(st.tuples(elements, st.integers(0, 4)), min_size=1, max_size=20).filter(
            lambda items: any(weight for _, weight in items)
        )
    )
    scores, weights = zip(*pairs, strict=True)
    return np.array(scores), np.array(weights)


def naive_points(tar: np.ndarray, non: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    """All points (pmiss, pfa) of the ROC as exact fractions, by trying every threshold."""
    values = np.unique(np.concatenate((tar, non)))
    points = [
        (
            Fraction(int(np.sum(tar < value)), tar.size),
            Fraction(int(np.sum(non >= value)), non.size),
        )
        for value in values
    ]
    return [*points, (Fraction(1), Fraction(0))]


def naive_hull(tar: np.ndarray, non: np.ndarray) -> list[tuple[Fraction, Fraction]]:
    """Vertices of the lower left convex hull, by walking along the steepest descent."""
    points = {(Fraction(0), Fraction(1)), *naive_points(tar, non)}
    hull = [(Fraction(0), Fraction(1))]
    while hull[-1] != (1, 0):
        here = hull[-1]
        ahead = [p for p in points if p[0] >= here[0] and p[1] <= here[1] and p != here]
        straight_down = [p for p in ahead if p[0] == here[0]]
        if straight_down:
            hull.append(min(straight_down, key=lambda p: p[1]))
            continue
        # Of the points in the steepest direction, the farthest ends the edge.
        hull.append(min(ahead, key=lambda p: ((p[1] - here[1]) / (p[0] - here[0]), -p[0])))
    return hull
