"""Scores of several systems as one array, and back."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py.errors import InvalidInputError, TrialMismatchError
from bosaris_py.trials import Key, Ndx, Scores
from bosaris_py.trials.scores import assemble, stack_scores, stack_tar_non
from tests.strategies import keys, ndxs


def complete(key: Key, rng: np.random.Generator, dtype: type = np.float64) -> Scores:
    """Scores for all of a key, with another order of models and segments."""
    models = rng.permutation(key.modelset.tolist())
    segments = rng.permutation(key.segset.tolist())
    values = rng.standard_normal((len(models), len(segments))).astype(dtype)
    return Scores(values, models, segments)


@given(keys(), st.integers(0, 2**16))
def test_rows_are_the_systems(key: Key, seed: int) -> None:
    rng = np.random.default_rng(seed)
    systems = [complete(key, rng), complete(key, rng, np.float32)]
    stack = stack_scores(systems, key)
    tar, non = stack_tar_non(systems, key)
    assert stack.dtype == tar.dtype == np.float64
    for row, system in enumerate(systems):
        assert stack[row].tolist() == system.get_scores(key).tolist()
        one, other = system.get_tar_non(key)
        assert tar[row].tolist() == one.tolist()
        assert non[row].tolist() == other.tolist()


@given(ndxs() | keys(), st.sampled_from([np.float32, np.float64]))
def test_assemble_undoes_stack(ndx: Ndx | Key, dtype: type) -> None:
    vector = np.arange(ndx.n_trials, dtype=dtype)
    item = assemble(vector, ndx)
    assert item.scoremat.dtype == dtype
    assert item.align_with_ndx(ndx) == item
    assert stack_scores([item], ndx).tolist() == [vector.tolist()]
    assert not item.scoremat[~item.scoremask].any()


def test_missing_scores_are_counted_for_every_system() -> None:
    key = Key(["m"], ["a", "b", "c"], [[True, False, False]], [[False, True, True]])
    whole = Scores([[1.0, 2.0, 3.0]], ["m"], ["a", "b", "c"])
    half = Scores([[1.0, 2.0]], ["m"], ["a", "b"])
    none = Scores([], [], [])
    message = (
        r"system 2 lacks 1 of 2 non-targets; "
        r"system 3 lacks 1 of 1 targets and 2 of 2 non-targets\."
    )
    with pytest.raises(TrialMismatchError, match=message):
        stack_tar_non([whole, half, none], key)
    message = r"system 2 lacks 1 of 3 trials; system 3 lacks 3 of 3 trials\."
    with pytest.raises(TrialMismatchError, match=message):
        stack_scores([whole, half, none], key)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda n, s: stack_scores([], n), r"`systems` must hold at least one"),
        (lambda n, s: stack_scores([n], n), r"must hold Scores only; got Ndx"),
        (lambda n, s: stack_scores([s], s), r"`ndx` must be an Ndx or a Key"),
        (lambda n, s: stack_tar_non([s], n), r"`key` must be a Key"),
        (lambda n, s: stack_scores([s], s), r"`ndx` must be"),
        (lambda n, s: assemble([1.0], n), r"have one score for each of the 2 trials; got 1"),
        (lambda n, s: assemble([[1.0, 2.0]], n), r"`vector` must be one-dimensional"),
    ],
)
def test_refused(call: Callable[[Ndx, Scores], object], message: str) -> None:
    ndx = Ndx(["m"], ["a", "b"])
    with pytest.raises(InvalidInputError, match=message):
        call(ndx, Scores([[1.0, 2.0]], ["m"], ["a", "b"]))


def test_one_system_stands_for_a_list_of_it() -> None:
    key = Key(["m"], ["a", "b"], [[True, False]], [[False, True]])
    scores = Scores([[1.0, 2.0]], ["m"], ["a", "b"])
    assert stack_scores(scores, key).tolist() == [[1.0, 2.0]]
    assert [each.tolist() for each in stack_tar_non(scores, key)] == [[[1.0]], [[2.0]]]


def test_nan_is_refused() -> None:
    ndx = Ndx(["m"], ["a", "b"])
    with pytest.raises(InvalidInputError, match=r"NaN for 1 trial: \(m, b\)"):
        stack_scores([Scores([[1.0, np.nan]], ["m"], ["a", "b"])], ndx)


def test_like_the_toolkit(oracle: Path) -> None:
    """fusion_quality.npz: the toolkit's stackScores of two systems on 12 x 25 trials."""
    stored = np.load(oracle / "fusion_quality.npz")
    shape = stored["dev_s1"].shape
    models = [f"m{i:02d}" for i in range(shape[0])]
    segments = [f"s{j:02d}" for j in range(shape[1])]
    key = Key(models, segments, stored["dev_tar"].astype(bool), stored["dev_non"].astype(bool))
    systems = [Scores(stored[f"dev_s{k}"], models, segments) for k in (1, 2)]
    assert stack_scores(systems, key).tolist() == stored["stack_scores"].tolist()
