"""Calibration and fusion of files must be those of the same files read into memory."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from bosaris_py import Key, LinearCalibration, LinearFusion, Scores
from bosaris_py.calibration import base
from bosaris_py.errors import BosarisError
from tests.forms import as_list, evolve
from tests.strategies import keys, scores
from tests.trials.test_large import blocks_of

BLOCKS = st.sampled_from([None, 1, 2])
FORMS = st.sampled_from([as_list, lambda trials: trials])
LINE = LinearCalibration.from_line(1.3, -0.7)


def drawn(rng, shape=(40, 30), *, n_systems=1, dtype=np.float64, share=1.0):
    """Make overlapping scores of some systems, and a key full of trials or not."""
    ids = [f"m{i:03}" for i in range(shape[0])], [f"s{i:03}" for i in range(shape[1])]
    is_tar, is_trial = rng.random(shape) < 0.1, rng.random(shape) < share
    values = rng.normal(size=(n_systems, *shape)) * 2 + 3 * is_tar
    systems = [Scores(each.astype(dtype), *ids) for each in values]
    return systems, Key(*ids, is_tar & is_trial, ~is_tar & is_trial)


def save(folder: Path, *items: Any) -> list[Path]:
    """Save everything, and return where."""
    paths = [folder / f"{number}.h5" for number in range(len(items))]
    for path, item in zip(paths, items, strict=True):
        item.save(path)
    return paths


def outcome(call: Callable[[], Any]) -> tuple[Any, list[tuple[type, str]]]:
    """Return a trained map, or the type of the error, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except BosarisError as error:
            return type(error), []
    return result, [(one.category, str(one.message)) for one in caught]


def assert_same(found: Any, expected: Any) -> None:
    """Compare trained maps; a weight may be off by rounding of any other."""
    assert type(found) is type(expected)
    for field in attrs.fields(type(found)):
        mine, other = getattr(found, field.name), getattr(expected, field.name)
        if other is None or isinstance(other, int | str):
            assert mine == other
        elif field.name != "notes":
            scale = np.abs(other).max() if field.name == "weights" else 1.0
            np.testing.assert_allclose(mine, other, rtol=1e-11, atol=1e-11 * scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("block_rows", [None, 7])
@pytest.mark.parametrize("kept", [2**22, 40])
def test_calibration_for_any_blocks(rng, tmp_path, monkeypatch, dtype, share, block_rows, kept):
    """With hardly any non-targets in memory each evaluation passes over the files."""
    monkeypatch.setattr(base.large, "KEPT", kept)
    (system,), key = drawn(rng, dtype=dtype, share=share)
    paths = save(tmp_path, system, key)
    with blocks_of(block_rows):
        found = LinearCalibration.fit_files(*paths, prior=0.1, ridge=0)
    assert_same(found, LinearCalibration.fit_scores(system, key, prior=0.1, ridge=0))


EMPTY = Key(["1"], ["1"], [[False]], [[False]])
STRANGERS = Scores([[0.0]], ["1"], ["2"]), EMPTY, None, True, as_list, as_list, 1


@example(*STRANGERS)
@given(scores(), keys(), BLOCKS, st.booleans(), FORMS, FORMS, st.sampled_from([2**22, 1]))
def test_any_scores_and_any_key(
    tmp_path_factory, system, key, block_rows, fuse, score_form, key_form, kept
):
    """Ids that overlap in part, missing, infinite and no scores: the same warnings or error."""
    path, key_path = save(tmp_path_factory.mktemp("files"), score_form(system), key_form(key))
    model, file, one = (
        (LinearFusion, [path], [system]) if fuse else (LinearCalibration, path, system)
    )
    with pytest.MonkeyPatch.context() as patch, blocks_of(block_rows):
        patch.setattr(base.large, "KEPT", kept)
        found = outcome(lambda: model.fit_files(file, key_path, ridge=0))
    expected = outcome(lambda: model.fit_scores(one, key, ridge=0))
    assert found[1] == expected[1]
    if isinstance(expected[0], type):
        assert issubclass(found[0], expected[0])
    else:
        assert_same(found[0], expected[0])


@given(scores(), BLOCKS, st.sampled_from([1.3, 0.0, -2.0]), FORMS)
def test_a_calibrated_file_is_a_calibrated_matrix(
    tmp_path_factory, system, block_rows, scale, form
):
    (path,) = save(tmp_path_factory.mktemp("files"), form(system))
    line, output = evolve(LINE, scale=scale), path.with_name("llrs.h5")
    with blocks_of(block_rows):
        line.apply_file(path, output)
    found = Scores.read(output)
    assert found == line.apply(form(system))
    assert found.scoremat.dtype == np.float64
    assert not found.scoremat[~found.scoremask].any()


@given(scores(), keys(), BLOCKS, st.booleans(), FORMS, FORMS)
def test_calibrated_trials(tmp_path_factory, system, key, block_rows, is_key, score_form, ndx_form):
    """Of any trials: missing ones are warned of, as by `align_with_ndx`."""
    system, ndx = score_form(system), ndx_form(key if is_key else key.to_ndx())
    path, ndx_path = save(tmp_path_factory.mktemp("files"), system, ndx)
    output = path.with_name("llrs.h5")

    def apply_file() -> Scores:
        with blocks_of(block_rows):
            LINE.apply_file(path, output, ndx_file=ndx_path)
        return Scores.read(output)

    found = outcome(apply_file)
    assert found == outcome(lambda: LINE.apply(system.align_with_ndx(ndx)))
    # A new file only if there is no error.
    assert output.exists() == (not isinstance(found[0], type))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block_rows", [None, 1, 7])
@pytest.mark.parametrize("weight", [0.0, 0.1])
def test_fused_files(rng, tmp_path, dtype, block_rows, weight):
    """To the last bit; also where a weight of zero makes an infinite score harmless."""
    systems, key = drawn(rng, n_systems=3, dtype=dtype, share=0.6)
    values = systems[1].scoremat.copy()
    values[0] = np.inf
    systems[1] = Scores(values[::-1], key.modelset[::-1], key.segset)
    fused = LinearFusion.from_weights([0.3, weight, -1.7], 0.3)
    *paths, key_path = save(tmp_path, *systems, key)
    with blocks_of(block_rows):
        fused.apply_files(paths, key_path, tmp_path / "fused.h5")
    found, expected = Scores.read(tmp_path / "fused.h5"), fused.apply(systems, key)
    assert found == expected
    assert found.scoremat.tolist() == expected.scoremat.tolist()
