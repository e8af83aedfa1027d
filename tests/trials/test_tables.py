"""Tables of trials, and which trials of a key have scores."""

import numpy as np
import pytest

from bosaris_py.errors import InvalidInputError, MissingTrialsWarning
from bosaris_py.trials import Key, Scores, compare_trials, to_table
from tests.forms import as_list


def test_table_with_metadata_and_gaps() -> None:
    key = Key(["m"], ["s", "t"], [[True, False]], [[False, True]])
    key = key.with_columns(duration=("segment", [1.5, 3.0]))
    scores = Scores([[2.0, 0.0]], ["m"], ["s", "t"], [[True, False]])
    with pytest.warns(MissingTrialsWarning):
        table = to_table(key, scores=scores)
    np.testing.assert_array_equal(table.scores, [2.0, np.nan])
    duration = table.columns["duration"]
    assert isinstance(duration, np.ndarray)
    assert duration.tolist() == [1.5, 3.0]
    assert len(to_table(scores=scores)) == 1
    with pytest.raises(InvalidInputError, match="`ndx` must be"):
        to_table()


class TestComparison:
    def test_counts_and_examples(self) -> None:
        key = Key.from_trials(["m1", "m1", "m2"], ["s1", "s2", "s1"], [True, True, False])
        scores = Scores.from_trials(["m1", "m3"], ["s1", "s1"], [1.0, 2.0])
        for some_key in (key, as_list(key)):
            for some_scores in (scores, as_list(scores)):
                found = compare_trials(some_scores, some_key)
                assert found.n_common == 1
                assert (found.n_tar_missing, found.n_non_missing) == (1, 1)
                assert found.missing == (("m2", "s1"), ("m1", "s2"))
                assert (found.n_unknown, found.unknown) == (1, (("m3", "s1"),))
                assert "2 have none (1 targets, 1 non-targets): (m2, s1), (m1, s2)." in str(found)

    def test_either_side_alone_may_have_more(self) -> None:
        all_trials = (["m1", "m1", "m2"], ["s1", "s2", "s1"])
        key = Key.from_trials(*all_trials, [True, True, False])
        fewer = Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, True])
        scores = Scores.from_trials(*all_trials, [1.0, 2.0, 3.0])
        found = compare_trials(scores, fewer)
        assert (found.n_missing, found.n_unknown) == (0, 1)
        found = compare_trials(scores.filter(["m1"], ["s1", "s2"], keep=True), key)
        assert (found.n_missing, found.n_unknown) == (1, 0)

    def test_equal(self) -> None:
        key = Key.from_trials(["m1"], ["s1"], [True])
        found = compare_trials(Scores([[1.0]], ["m1"], ["s1"]), key)
        assert not found.problems
        assert str(found) == "1 trials of the key have a score."

    def test_arguments(self) -> None:
        key = Key.from_trials(["m1"], ["s1"], [True])
        with pytest.raises(InvalidInputError, match="`scores`"):
            compare_trials(key, key)  # type: ignore[arg-type]
