"""Calibration and fusion of files must be those of the same files read into memory."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import Key, LinearCalibration, LinearFusion, Scores
from bosaris_py.calibration import base
from bosaris_py.errors import BosarisError, MissingTrialsWarning, TrialMismatchError
from tests.forms import as_list, evolve
from tests.strategies import keys, scores
from tests.trials.test_large import blocks_of


def in_blocks(call, *args, block_rows=None, **named):
    """Call with so many rows read at a time."""
    with blocks_of(block_rows):
        return call(*args, **named)


FIT = partial(in_blocks, LinearCalibration.fit_files, ridge=0)
FUSE = partial(in_blocks, LinearFusion.fit_files, ridge=0)

BLOCKS = st.sampled_from([None, 1, 2])


def as_matrix(trials: Any) -> Any:
    """Return trials as they are."""
    return trials


FORMS = st.sampled_from([as_list, as_matrix])

# All of the few non-targets that these trials have, or hardly any.
KEPT = st.sampled_from([2**22, 1])


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


@pytest.fixture
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep hardly any non-targets, so that each evaluation passes over the files."""
    monkeypatch.setattr(base.large, "KEPT", 40)


def trials(rng, shape=(40, 30), *, n_systems=1, dtype=np.float64, share=1.0):
    """Make overlapping scores of some systems, and a key full of trials or not."""
    models = [f"m{i:03}" for i in range(shape[0])]
    segments = [f"s{i:03}" for i in range(shape[1])]
    is_tar = rng.random(shape) < 0.1
    is_trial = rng.random(shape) < share
    systems = [
        Scores((rng.normal(size=shape) * 2 + 3 * is_tar).astype(dtype), models, segments)
        for _ in range(n_systems)
    ]
    return systems, Key(models, segments, is_tar & is_trial, ~is_tar & is_trial)


def save(folder: Path, systems: Sequence[Any], key: Any) -> tuple[list[Path], Path]:
    """Save everything, and return where."""
    paths = [folder / f"scores{i}.h5" for i in range(len(systems))]
    for path, system in zip(paths, systems, strict=True):
        system.save(path)
    key.save(folder / "key.h5")
    return paths, folder / "key.h5"


def outcome(call: Callable[[], Any]) -> tuple[Any, list[tuple[type, str]]]:
    """Return a trained map, or the type of the error, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except BosarisError as error:
            return type(error), []
    said = [(one.category, str(one.message).replace("fit_files", "fit_scores")) for one in caught]
    return result, said


def assert_same(found: Any, expected: Any) -> None:
    """Compare trained maps; a weight may be off by rounding of any other."""
    assert type(found) is type(expected)
    for field in attrs.fields(type(found)):
        if field.name == "notes":
            continue
        mine, other = getattr(found, field.name), getattr(expected, field.name)
        if other is None or isinstance(other, int | str):
            assert mine == other
        else:
            scale = 1.0
            if isinstance(found, LinearFusion) and field.name == "weights":
                scale = np.abs(other).max()
            np.testing.assert_allclose(mine, other, rtol=1e-11, atol=1e-11 * scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("block_rows", [None, 7])
@pytest.mark.parametrize("kept", ["all", "few"])
def test_calibration_for_any_blocks(rng, tmp_path, request, dtype, share, block_rows, kept):
    if kept == "few":
        request.getfixturevalue("nothing_kept")
    (system,), key = trials(rng, dtype=dtype, share=share)
    (path,), key_path = save(tmp_path, [system], key)
    expected = LinearCalibration.fit_scores(system, key, prior=0.1, ridge=0)
    assert_same(FIT(path, key_path, prior=0.1, block_rows=block_rows), expected)


@given(scores(), keys(), BLOCKS, st.sampled_from([FIT, FUSE]), FORMS, FORMS, KEPT)
def test_any_scores_and_any_key(
    tmp_path_factory, system, key, block_rows, fit, score_form, key_form, kept
):
    """Ids that overlap in part, missing, infinite and no scores: the same warnings or error."""
    folder = tmp_path_factory.mktemp("files")
    (path,), key_path = save(folder, [score_form(system)], key_form(key))
    files, in_memory = path, lambda: LinearCalibration.fit_scores(system, key, ridge=0)
    if fit == FUSE:
        files, in_memory = [path], lambda: LinearFusion.fit_scores([system], key, ridge=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base.large, "KEPT", kept)
        found = outcome(lambda: fit(files, key_path, block_rows=block_rows))
    expected = outcome(in_memory)
    assert found[1] == expected[1]
    if isinstance(expected[0], type):
        assert issubclass(found[0], expected[0])
    else:
        assert_same(found[0], expected[0])


def test_missing_scores(rng: np.random.Generator, tmp_path: Path) -> None:
    """Calibration leaves the trials out, fusion refuses them."""
    (system, other), key = trials(rng, n_systems=2)
    mask = np.ones_like(key.tar)
    mask[5:9] = False
    junk = np.where(mask, system.scoremat, np.nan)
    partial = Scores(junk, system.modelset, system.segset, mask)
    paths, key_path = save(tmp_path, [partial, other], key)
    n_tar, n_non = (int(side[5:9].sum()) for side in (key.tar, key.non))
    found = outcome(lambda: FIT(paths[0], key_path, block_rows=3))
    expected = outcome(lambda: LinearCalibration.fit_scores(partial, key, ridge=0))
    assert found[1] == expected[1]
    assert {category for category, _ in found[1]} == {MissingTrialsWarning}
    assert_same(found[0], expected[0])
    text = f"system 1 lacks {n_tar + n_non} of {key.n_trials} trials"
    with pytest.raises(TrialMismatchError, match=text) as error:
        FUSE(paths, key_path, block_rows=3)
    assert "system 2" not in str(error.value)


CALIBRATION = LinearCalibration(
    scale=1.3,
    offset=-0.7,
    prior=0.5,
    objective="cllr",
    objective_value=0.5,
    ridge=0.0,
    n_tar=1,
    n_non=1,
)


RECORD = {
    field.name: getattr(CALIBRATION, field.name)
    for field in attrs.fields(LinearCalibration)
    if field.name not in ("scale", "low_score", "high_score")
}


def fusion(*weights: float) -> LinearFusion:
    """Make a fusion of so many systems."""
    return LinearFusion(weights=weights, **{**RECORD, "offset": 0.3})


@given(scores(), BLOCKS, st.sampled_from([1.3, 0.0, -2.0]))
def test_a_calibrated_file_is_a_calibrated_matrix(tmp_path_factory, system, block_rows, scale):
    folder = tmp_path_factory.mktemp("files")
    system.save(folder / "scores.h5")
    calibration = evolve(CALIBRATION, scale=scale)
    in_blocks(
        calibration.apply_file, folder / "scores.h5", folder / "llrs.h5", block_rows=block_rows
    )
    found = Scores.read(folder / "llrs.h5")
    assert found == calibration.apply(system)
    assert found.scoremat.dtype == np.float64
    assert not found.scoremat[~found.scoremask].any()


@given(scores(), keys(), BLOCKS, st.sampled_from(["key", "ndx"]), FORMS, FORMS)
def test_calibrated_trials(tmp_path_factory, system, key, block_rows, kind, score_form, ndx_form):
    """Of any trials: missing ones are warned of, as by `align_with_ndx`."""
    folder = tmp_path_factory.mktemp("files")
    score_form(system).save(folder / "scores.h5")
    ndx = ndx_form(key if kind == "key" else key.to_ndx())
    ndx.save(folder / "ndx.h5")
    read = Scores.read

    def apply_file() -> Any:
        in_blocks(
            CALIBRATION.apply_file,
            folder / "scores.h5",
            folder / "llrs.h5",
            ndx_file=folder / "ndx.h5",
            block_rows=block_rows,
        )
        return read(folder / "llrs.h5")

    found = outcome(apply_file)
    expected = outcome(lambda: CALIBRATION.apply(score_form(system).align_with_ndx(ndx)))
    assert found == expected
    # A new file only if there is no error.
    assert (folder / "llrs.h5").exists() == (not isinstance(found[0], type))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block_rows", [None, 1, 7])
def test_fused_files(rng, tmp_path, dtype, block_rows):
    """To the last bit; also where a weight of zero makes an infinite score harmless."""
    systems, key = trials(rng, n_systems=3, dtype=dtype, share=0.6)
    values = systems[1].scoremat.copy()
    values[0] = np.inf
    systems[1] = Scores(values[::-1], key.modelset[::-1], key.segset)
    for weights in ((0.3, 0.0, -1.7), (0.3, 0.1, -1.7)):
        fused = fusion(*weights)
        paths, key_path = save(tmp_path, systems, key)
        in_blocks(fused.apply_files, paths, key_path, tmp_path / "fused.h5", block_rows=block_rows)
        expected = fused.apply(systems, key)
        found = Scores.read(tmp_path / "fused.h5")
        assert found == expected
        assert found.scoremat.tolist() == expected.scoremat.tolist()


@pytest.mark.parametrize("form", [as_list, as_matrix])
def test_missing_trials_of_a_key_of_targets_are_targets(tmp_path: Path, form: Any) -> None:
    key = form(Key(["1", "2"], ["1"], [[True], [True]], [[False], [False]]))
    system = form(Scores([[1.0]], ["1"], ["1"]))
    key.save(tmp_path / "key.h5")
    system.save(tmp_path / "scores.h5")
    with pytest.warns(MissingTrialsWarning, match="reduced from 2|1 of 2") as found:
        CALIBRATION.apply_file(
            tmp_path / "scores.h5", tmp_path / "llrs.h5", ndx_file=tmp_path / "key.h5"
        )
    assert str(found[-1].message).endswith("; 1 of 2 targets missing")
