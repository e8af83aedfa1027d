"""Trials looked up in lists of trials, whichever way is taken."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.trials import alignment
from bosaris_py.trials.alignment import find_codes


def looked_up(listed: np.ndarray, wanted: np.ndarray) -> list[int]:
    """Return places as a dictionary knows them."""
    places = {code: place for place, code in enumerate(listed.tolist())}
    return [places.get(code, -1) for code in wanted.tolist()]


@given(
    listed=st.sets(st.integers(0, 99), max_size=40),
    wanted=st.lists(st.integers(0, 99), max_size=40) | st.permutations(range(100)),
    way=st.sampled_from(["table", "search", "parts"]),
)
def test_all_ways_find_the_same(listed: set[int], wanted: list[int], way: str) -> None:
    codes = np.array(sorted(listed), dtype=np.int64)
    asked = np.array(wanted, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        if way != "table":
            patch.setattr(alignment, "_SMALL_TABLE", 0)
            patch.setattr(alignment, "_CELLS_PER_TRIAL", 0)
        patch.setattr(alignment, "_PART_BITS", 3)
        patch.setattr(alignment, "_TRIALS_PER_PART", 1 if way == "parts" else 1000)
        assert find_codes(codes, asked, (10, 10)).tolist() == looked_up(codes, asked)


@pytest.mark.parametrize("upto", [4_000_000, 9_000_000])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_many_cells(rng: np.random.Generator, upto: int, *, is_sorted: bool) -> None:
    # More cells than a table may have, and parts that hold no trial at all.
    shape = (3000, 3000)
    listed = np.unique(rng.integers(0, upto, 20_000))
    wanted = np.concatenate((listed[::3], rng.integers(0, 9_000_000, 5000)))
    wanted = np.sort(wanted) if is_sorted else rng.permutation(wanted)
    assert find_codes(listed, wanted, shape).tolist() == looked_up(listed, wanted)


def test_places_of_items_of_which_some_are_absent() -> None:
    assert alignment.inverse(np.array([2, -1, 0]), 4).tolist() == [2, -1, 0, -1]
    assert alignment.inverse(np.array([-1, -1]), 2).tolist() == [-1, -1]


@pytest.mark.parametrize("n_ids", [1, 49, 50, 51, 99, 100, 1000])
def test_any_number_of_ids_is_compared(n_ids: int) -> None:
    wanted = np.array([f"id{i:04}" for i in range(n_ids)])
    found = np.strings.add(wanted, ".wav")
    use: dict[str, str | None] = {}
    said = alignment.why_strange(wanted, found, "segments", ("the scores", "the key"), use)
    assert "The segments of the key end with '.wav', such as 'id0000.wav'" in said
    assert use == {"strip_suffix": ".wav"}
