import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError
from bosaris_py.uncertainty import equal_size_sets


@given(st.lists(st.integers(1, 12), min_size=2, max_size=12), st.randoms())
def test_keeps_as_many_trials_as_any_common_size(sizes: list[int], random: object) -> None:
    labels = [f"set {i}" for i, size in enumerate(sizes) for _ in range(size)]
    random.shuffle(labels)  # type: ignore[attr-defined]
    chosen = equal_size_sets(labels, rng=0)
    # Every size by brute force; a single set is no choice.
    by_size = {s: s * sum(size >= s for size in sizes) for s in range(1, max(sizes) + 1)}
    allowed = [kept for s, kept in by_size.items() if sum(size >= s for size in sizes) >= 2]
    assert chosen.n_kept == max(allowed)
    kept, counts = np.unique(np.array(labels)[chosen.mask], return_counts=True)
    assert kept.size == chosen.n_sets
    assert set(counts.tolist()) == {chosen.size}


def test_a_huge_set_is_not_kept_alone() -> None:
    chosen = equal_size_sets([0] * 1000 + [1, 1, 2, 2, 3])
    assert (chosen.n_sets, chosen.size) == (3, 2)


def test_of_equal_choices_the_one_with_more_sets() -> None:
    # Two sets of 4, or four of 2.
    chosen = equal_size_sets([0] * 4 + [1] * 4 + [2] * 2 + [3] * 2)
    assert (chosen.n_sets, chosen.size) == (4, 2)


def test_the_generator_decides_which_trials_and_all_are_equally_likely() -> None:
    labels = [0] * 4 + [1] * 2
    rng = np.random.default_rng(5)
    kept = sum(equal_size_sets(labels, rng=rng).mask.astype(int) for _ in range(2000))
    # Each of the first four is kept with chance 1/2: 1000 +- 5 standard deviations of 22.
    assert np.all(np.abs(kept[:4] - 1000) < 112)
    assert kept[4:].tolist() == [2000, 2000]
    masks = [equal_size_sets(labels, rng=3).mask for _ in range(2)]
    assert np.array_equal(*masks)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "a"], "at least 2 sets; got 1"),
        ([], "at least 2 sets; got 0|labels, text"),
        ([0.5, 1.5], "text or whole numbers"),
        ([["a"], ["b"]], "one-dimensional"),
    ],
)
def test_bad_input(labels: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        equal_size_sets(labels)
