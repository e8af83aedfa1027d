"""The corrections of Benjamini and Yekutieli, and of Holm."""

import numpy as np
import pytest

from bosaris_py import uncertainty as unc
from bosaris_py.errors import InvalidInputError


@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_by_finds_what_the_stepwise_rule_finds(m):
    rng = np.random.default_rng(m)
    for _ in range(50):
        p_values, level = rng.random(m) ** 4, float(rng.uniform(0.01, 0.3))
        found = unc.by_correction(p_values, level=level)
        # Theorem 1.3: the largest k with p_(k) at most k level / (m c) and all below it.
        limits = np.arange(1, m + 1) * level / (m * sum(1 / k for k in range(1, m + 1)))
        ordered = np.sort(p_values)
        below = np.flatnonzero(ordered <= limits)
        n_found = int(below[-1]) + 1 if below.size else 0
        assert int(found.significant.sum()) == n_found
        assert set(p_values[found.significant]) == set(ordered[:n_found])
        assert np.all(found.adjusted >= p_values)
        assert found.correction == "by"


def test_by_of_one_test_is_its_p_value():
    assert unc.by_correction([0.03]).adjusted.tolist() == [0.03]


def test_equal_p_values_are_corrected_alike():
    # 4 * (1 + 1/2 + 1/3 + 1/4) * .01 / 4 for the largest of equal ones.
    assert unc.by_correction([0.01] * 4).adjusted == pytest.approx([0.01 * 25 / 12] * 4)


@pytest.mark.parametrize("bad", [[], [0.5, 1.5], [np.nan]])
def test_by_refuses_what_is_no_p_value(bad):
    with pytest.raises(InvalidInputError, match="`p_values`"):
        unc.by_correction(bad)


def test_holm_by_hand():
    # 3 * .1; 2 * .3; 1 * .4, not below the one before; 2 * .6 is no probability.
    assert unc.holm_correction([0.4, 0.1, 0.3]).adjusted == pytest.approx([0.6, 0.3, 0.6])
    assert unc.holm_correction([0.6, 0.9]).adjusted.tolist() == [1.0, 1.0]
