"""The bilinear form of quality fusion: toolkit, hand calculation, and its lazy design."""

import numpy as np

from bosaris_py.fusion.quality_fusion import form_from_triangle, measure_scale, quality_term


def test_triangle_goes_down_the_columns_and_counts_the_diagonal_twice():
    form = form_from_triangle([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert form.tolist() == [[2.0, 2.0, 3.0], [2.0, 8.0, 5.0], [3.0, 5.0, 12.0]]


def test_term_by_hand():
    """2 * 3 * 5 + 7 * (3 + 5) + 11."""
    form = np.array([[2.0, 7.0], [7.0, 11.0]])
    each = np.zeros(1, np.int64)
    assert quality_term(form, np.array([[3.0]]), np.array([[5.0]]), each, each).tolist() == [97.0]


def test_scale_counts_both_sides_the_same():
    """Measures 0, 2 and 5, 5, 5: centre (1 + 5) / 2; variance half of (9+1)/2 + 4."""
    centre, spread = measure_scale(np.array([[0.0, 2.0]]), np.array([[5.0, 5.0, 5.0]]))
    np.testing.assert_allclose([centre[0], spread[0] ** 2], [3.0, 4.5], rtol=1e-15)
    for constant, expected in ((0.0, 1.0), (0.1, 0.1), (-7.0, 7.0)):
        _, spread = measure_scale(np.full((1, 3), constant), np.full((1, 4), constant))
        assert spread.tolist() == [expected]
