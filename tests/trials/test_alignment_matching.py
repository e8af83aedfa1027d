"""Trials looked up in lists of trials, whichever way is taken."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import Ndx
from bosaris_py.trials import alignment, trials
from tests.forms import as_list

IDS = [f"{i}" for i in range(10)]


def ndx_of(cells: set[int], *, is_list: bool) -> Ndx:
    mask = np.zeros((10, 10), dtype=bool)
    mask.T.reshape(-1)[list(cells)] = True
    ndx = Ndx(IDS, IDS, mask)
    return as_list(ndx) if is_list else ndx


@given(
    listed=st.sets(st.integers(0, 99), max_size=40) | st.just(set(range(100))),
    wanted=st.sets(st.integers(0, 99), max_size=40) | st.just(set(range(100))),
    order=st.permutations(range(10)),
    lists=st.tuples(st.booleans(), st.booleans()),
    search=st.booleans(),
)
def test_all_ways_find_the_same(
    listed: set[int], wanted: set[int], order: list[int], lists: tuple[bool, bool], *, search: bool
) -> None:
    """Against a dictionary; ids in another order, some unknown."""
    source = ndx_of(listed, is_list=lists[0])
    asked = ndx_of(wanted, is_list=lists[1])
    names = [IDS[at] if at else "unknown" for at in order]
    asked = Ndx._make((np.array(names), asked.segset), asked.cells, None)
    places = {trial: at for at, trial in enumerate(trials_of(source))}
    with pytest.MonkeyPatch.context() as patch:
        if search:
            patch.setattr(trials, "_SMALL_TABLE", 0)
            patch.setattr(trials, "_CELLS_PER_TRIAL", 0)
        found = source.locate(asked)
    expected = [places.get(trial, -1) for trial in trials_of(asked)]
    assert (list(range(len(expected))) if found is None else found.tolist()) == expected


def trials_of(ndx: Ndx) -> list[tuple[str, str]]:
    models, segments = ndx.trial_positions()
    return list(zip(ndx.modelset[models].tolist(), ndx.segset[segments].tolist(), strict=True))


def test_places_of_items_of_which_some_are_absent() -> None:
    assert alignment.inverse(np.array([2, -1, 0]), 4).tolist() == [2, -1, 0, -1]
    assert alignment.inverse(np.array([-1, -1]), 2).tolist() == [-1, -1]


@pytest.mark.parametrize("n_ids", [1, 49, 50, 51, 99, 100, 1000])
def test_any_number_of_ids_is_compared(n_ids: int) -> None:
    wanted = np.array([f"id{i:04}" for i in range(n_ids)])
    found = np.strings.add(wanted, ".wav")
    use: dict[str, str | None] = {}
    said = alignment.why_strange(wanted, found, "segments", use)
    assert "The segments of the scores end with '.wav', such as 'id0000.wav'" in said
    assert use == {"strip_suffix": ".wav"}
