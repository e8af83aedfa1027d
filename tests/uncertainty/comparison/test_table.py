"""Groups of systems without a difference that was found, against all subsets."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError
from bosaris_py.uncertainty import ComparisonTable


def _table(p_values):
    """Make a table of pairs with these p-values."""
    return ComparisonTable.from_tests(
        {
            pair: SimpleNamespace(difference=0.1, standard_error=0.1, p_value=p)
            for pair, p in p_values.items()
        }
    )


def _naive_groups(names, different):
    """Return all subsets without a difference that no larger one holds."""
    subsets = [
        set(subset)
        for size in range(1, len(names) + 1)
        for subset in itertools.combinations(names, size)
        if not any(frozenset(pair) in different for pair in itertools.combinations(subset, 2))
    ]
    return {frozenset(each) for each in subsets if not any(each < other for other in subsets)}


@pytest.mark.parametrize("n_systems", [2, 3, 5, 7])
def test_groups_are_the_largest_subsets_without_a_difference(n_systems):
    rng = np.random.default_rng(n_systems)
    names = [f"s{i}" for i in range(n_systems)]
    pairs = list(itertools.combinations(names, 2))
    for _ in range(25):
        # Corrected for 21 tests, 1e-6 is significant at 5 % and .9 is not.
        p_values = {pair: 1e-6 if rng.random() < 0.5 else 0.9 for pair in pairs}
        different = {frozenset(pair) for pair, p in p_values.items() if p < 0.5}
        groups = _table(p_values).groups()
        assert len(groups) == len(set(groups))
        assert {frozenset(group) for group in groups} == _naive_groups(names, different)


def test_groups_keep_the_order_of_the_table():
    table = _table({("B", "A"): 1e-6, ("B", "C"): 0.9, ("A", "C"): 0.9})
    assert table.groups() == (("B", "C"), ("A", "C"))


def test_a_pair_that_was_not_compared_is_refused():
    table = _table({("A", "B"): 0.9, ("A", "C"): 0.9})
    with pytest.raises(InvalidInputError, match="not B and C"):
        table.groups()
