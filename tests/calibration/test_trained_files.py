"""Calibration and fusion of files must be those of the same files read into memory."""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import h5py
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import Key, LinearCalibration, LinearFusion, Scores
from bosaris_py.calibration import trained
from bosaris_py.errors import (
    BosarisError,
    ConvergenceWarning,
    ExtrapolationWarning,
    FileFormatError,
    InvalidInputError,
    MissingTrialsWarning,
    SeparableDataWarning,
    TrialMismatchError,
)
from bosaris_py.numerics.scoring import OBJECTIVES
from bosaris_py.trials.large import TrialFiles
from tests.forms import as_list, evolve
from tests.strategies import keys, scores
from tests.trials.test_large import blocks_of


def in_blocks(
    call: Callable[..., Any], *args: Any, block_rows: int | None = None, **named: Any
) -> Any:
    """Call with so many rows read at a time."""
    with blocks_of(block_rows):
        return call(*args, **named)


FIT = partial(in_blocks, LinearCalibration.fit_files)
FUSE = partial(in_blocks, LinearFusion.fit_files)

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
    monkeypatch.setattr(trained, "KEPT", 40)


def trials(
    rng: np.random.Generator,
    shape: tuple[int, int] = (40, 30),
    *,
    n_systems: int = 1,
    dtype: type = np.float64,
    share: float = 1.0,
) -> tuple[list[Scores], Key]:
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
@pytest.mark.parametrize("block_rows", [None, 1, 7, 1000])
@pytest.mark.parametrize("kept", ["all", "few"])
def test_calibration_for_any_blocks(
    rng: np.random.Generator,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    dtype: type,
    share: float,
    block_rows: int | None,
    kept: str,
) -> None:
    if kept == "few":
        request.getfixturevalue("nothing_kept")
    (system,), key = trials(rng, dtype=dtype, share=share)
    (path,), key_path = save(tmp_path, [system], key)
    expected = LinearCalibration.fit_scores(system, key, prior=0.1)
    assert_same(FIT(path, key_path, prior=0.1, block_rows=block_rows), expected)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("ridge", [0.0, 0.1, "weak"])
@pytest.mark.parametrize("block_rows", [None, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("nothing_kept")
def test_fusion_by_any_objective(
    rng: np.random.Generator,
    tmp_path: Path,
    objective: str,
    ridge: float | str,
    block_rows: int | None,
) -> None:
    systems, key = trials(rng, n_systems=3, share=0.7)
    settings = {"prior": 0.2, "objective": objective, "ridge": ridge}
    fused = FUSE(*save(tmp_path, systems, key), block_rows=block_rows, **settings)
    assert_same(fused, LinearFusion.fit_scores(systems, key, **settings))


@pytest.mark.parametrize("types", [(np.float32, np.float64), (np.float64, np.float32)])
@pytest.mark.parametrize("is_list", [False, True])
def test_systems_of_different_types_are_fused(
    rng: np.random.Generator, tmp_path: Path, types: tuple[type, type], *, is_list: bool
) -> None:
    systems, key = trials(rng, n_systems=2, share=0.7)
    systems = [
        evolve(system, scoremat=system.scoremat.astype(dtype))
        for system, dtype in zip(systems, types, strict=True)
    ]
    expected = LinearFusion.fit_scores(systems, key)
    forms = [as_list(system) for system in systems] if is_list else systems
    paths, key_path = save(tmp_path, forms, as_list(key) if is_list else key)
    assert_same(FUSE(paths, key_path), expected)
    output = tmp_path / "fused.h5"
    expected.apply_files(paths, key_path, output)
    fused = Scores.read(output)
    assert fused == expected.apply(systems, key)


@given(scores(), keys(), BLOCKS, st.sampled_from([FIT, FUSE]), FORMS, FORMS, KEPT)
def test_any_scores_and_any_key(
    tmp_path_factory: pytest.TempPathFactory,
    system: Scores,
    key: Key,
    block_rows: int | None,
    fit: Callable[..., Any],
    score_form: Callable[[Any], Any],
    key_form: Callable[[Any], Any],
    kept: int,
) -> None:
    """Ids that overlap in part, missing, infinite and no scores: the same warnings or error."""
    folder = tmp_path_factory.mktemp("files")
    (path,), key_path = save(folder, [score_form(system)], key_form(key))
    files, in_memory = path, lambda: LinearCalibration.fit_scores(system, key)
    if fit == FUSE:
        files, in_memory = [path], lambda: LinearFusion.fit_scores([system], key)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trained, "KEPT", kept)
        found = outcome(lambda: fit(files, key_path, block_rows=block_rows))
    expected = outcome(in_memory)
    assert found[1] == expected[1]
    if isinstance(expected[0], type):
        assert issubclass(found[0], expected[0])
    else:
        assert_same(found[0], expected[0])


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_kept")
def test_separable_scores(rng: np.random.Generator, tmp_path: Path) -> None:
    """One system is seen from the ranges, several from the fused scores."""
    (system,), key = trials(rng)
    apart = Scores(system.scoremat + 50 * key.tar, system.modelset, system.segset)
    paths, key_path = save(tmp_path, [apart, system], key)
    for files, fit, in_memory in (
        (paths[0], FIT, lambda: LinearCalibration.fit_scores(apart, key)),
        (paths, FUSE, lambda: LinearFusion.fit_scores([apart, system], key)),
    ):
        with pytest.warns(SeparableDataWarning, match="separable"):
            expected = in_memory()
        with pytest.warns(SeparableDataWarning, match="separable"):
            found = fit(files, key_path, block_rows=3)
        assert_same(found, expected)


@pytest.mark.usefixtures("nothing_kept")
def test_constant_and_collinear_systems(rng: np.random.Generator, tmp_path: Path) -> None:
    (system,), key = trials(rng)
    constant = Scores(np.ones_like(system.scoremat), system.modelset, system.segset)
    paths, key_path = save(tmp_path, [system, constant, system], key)
    with pytest.warns(ConvergenceWarning, match="are equal and carry no information"):
        found = FIT(paths[1], key_path)
    assert (found.scale, found.offset) == (0.0, 0.0)
    with pytest.warns(ConvergenceWarning, match="Is a system given twice"):
        fused = FUSE([paths[0], paths[2]], key_path)
    single = LinearCalibration.fit_scores(system, key)
    np.testing.assert_allclose(fused.weights, [single.scale / 2] * 2, rtol=1e-9)


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
    expected = outcome(lambda: LinearCalibration.fit_scores(partial, key))
    assert found[1] == expected[1]
    assert {category for category, _ in found[1]} == {MissingTrialsWarning}
    assert_same(found[0], expected[0])
    text = f"system 1 lacks {n_tar + n_non} of {key.n_trials} trials"
    with pytest.raises(TrialMismatchError, match=text) as error:
        FUSE(paths, key_path, block_rows=3)
    assert "system 2" not in str(error.value)


def test_ids_in_another_order_in_each_file(rng: np.random.Generator, tmp_path: Path) -> None:
    systems, key = trials(rng, n_systems=2)
    for i, system in enumerate(systems):
        rows, cols = rng.permutation(40), rng.permutation(30)
        systems[i] = Scores(
            system.scoremat[np.ix_(rows, cols)], system.modelset[rows], system.segset[cols]
        )
    found = FUSE(*save(tmp_path, systems, key), block_rows=6)
    assert_same(found, LinearFusion.fit_scores(systems, key))


def None_then_false() -> Callable[[Any, slice], Any]:
    """Make a `read_valid` that says that all cells are valid once, then that row 0 is not."""
    calls = []

    def read_valid(self: Any, rows: slice) -> Any:
        calls.append(rows)
        if len(calls) == 1:
            return None
        valid = np.ones((rows.stop - rows.start, self.file.shape[1]), dtype=np.bool_)
        valid[0] = False
        return valid

    return read_valid


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
def test_a_calibrated_file_is_a_calibrated_matrix(
    tmp_path_factory: pytest.TempPathFactory, system: Scores, block_rows: int | None, scale: float
) -> None:
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


@given(scores())
def test_a_calibrated_list(tmp_path_factory: pytest.TempPathFactory, system: Scores) -> None:
    folder = tmp_path_factory.mktemp("files")
    listed = as_list(system)
    listed.save(folder / "scores.h5")
    in_blocks(CALIBRATION.apply_file, folder / "scores.h5", folder / "llrs.h5")
    found = Scores.read(folder / "llrs.h5")
    assert found == CALIBRATION.apply(listed)
    assert found.values.dtype == np.float64


@given(scores(), keys(), BLOCKS, st.sampled_from(["key", "ndx"]), FORMS, FORMS)
def test_calibrated_trials(
    tmp_path_factory: pytest.TempPathFactory,
    system: Scores,
    key: Key,
    block_rows: int | None,
    kind: str,
    score_form: Callable[[Any], Any],
    ndx_form: Callable[[Any], Any],
) -> None:
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
def test_fused_files(
    rng: np.random.Generator, tmp_path: Path, dtype: type, block_rows: int | None
) -> None:
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


@pytest.mark.parametrize("forms", [(as_list, as_list), (as_matrix, as_list), (as_list, as_matrix)])
def test_fused_lists(
    rng: np.random.Generator, tmp_path: Path, forms: tuple[Callable[[Any], Any], ...]
) -> None:
    """In another order of ids than the trials; missing scores are counted for each system."""
    (first, other), key = trials(rng, n_systems=2, share=0.3)
    rows = rng.permutation(40)
    second, fewer = (
        Scores(other.scoremat[some], key.modelset[some], key.segset) for some in (rows, rows[1:])
    )
    systems = [form(system) for form, system in zip(forms, (first, second), strict=True)]
    ndx = as_list(key).to_ndx()
    paths, ndx_path = save(tmp_path, systems, ndx)
    in_blocks(fusion(0.3, -1.7).apply_files, paths, ndx_path, tmp_path / "fused.h5", block_rows=7)
    assert Scores.read(tmp_path / "fused.h5") == fusion(0.3, -1.7).apply(systems, ndx)
    forms[1](fewer).save(paths[1])
    lost = int((key.tar | key.non)[rows[0]].sum())
    with pytest.raises(TrialMismatchError, match=f"system 2 lacks {lost} of {ndx.n_trials} trials"):
        in_blocks(fusion(0.3, -1.7).apply_files, paths, ndx_path, tmp_path / "other.h5")
    assert not (tmp_path / "other.h5").exists()


@pytest.mark.parametrize("form", [as_matrix, as_list])
@pytest.mark.parametrize("block_rows", [None, 7])
def test_far_scores(
    rng: np.random.Generator, tmp_path: Path, form: Callable[[Any], Any], block_rows: int | None
) -> None:
    """Files warn as memory does: scores outside of the trials say nothing, nor do infinite ones."""
    systems, key = trials(rng, n_systems=2, share=0.6)
    values = systems[0].scoremat.copy()
    values[~(key.tar | key.non)] = 1e9
    rows, columns = np.nonzero(key.tar | key.non)
    values[rows[[3, -1]], columns[[3, -1]]] = 70.0, -80.0
    values[rows[5], columns[5]] = np.inf
    systems[0] = Scores(values, key.modelset, key.segset, values != 1e9)
    paths, ndx_path = save(tmp_path, list(map(form, systems)), form(key.to_ndx()))
    line = evolve(CALIBRATION, low_score=-10.0, high_score=40.0)
    fused = evolve(fusion(0.3, -1.7), low_scores=[-10.0, -50.0], high_scores=[40.0, 50.0])
    options = {"block_rows": block_rows}
    for in_memory, in_files in (
        (
            lambda: line.apply(systems[0]),
            lambda out: in_blocks(line.apply_file, paths[0], out, **options),
        ),
        (
            lambda: fused.apply(systems, key),
            lambda out: in_blocks(fused.apply_files, paths, ndx_path, out, **options),
        ),
    ):
        with pytest.warns(ExtrapolationWarning, match="2 of .*, -80, by 1.4 of") as expected:
            in_memory()
        with pytest.warns(ExtrapolationWarning) as found:
            in_files(tmp_path / "llrs.h5")
        assert [str(item.message) for item in found] == [str(item.message) for item in expected]


def layout(path: Path) -> dict[str, Any]:
    """Return attributes of a file, and shape, type, chunks and compression of each data set."""
    with h5py.File(path) as file:
        found: dict[str, Any] = {"attributes": dict(file.attrs)}

        def note(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                found[name] = (item.shape, item.dtype, item.chunks, item.compression)

        file.visititems(note)
    return found


def test_the_file_is_what_save_writes(rng: np.random.Generator, tmp_path: Path) -> None:
    """The same data sets, types and chunks; large enough for these and for compression."""
    (system,), key = trials(rng, (300, 700), dtype=np.float32)
    (path,), _ = save(tmp_path, [system], key)
    in_blocks(CALIBRATION.apply_file, path, tmp_path / "llrs.h5")
    CALIBRATION.apply(system).save(tmp_path / "saved.h5")
    found = layout(tmp_path / "llrs.h5")
    assert found == layout(tmp_path / "saved.h5")
    assert found["scores"][2] == (187, 700)
    assert found["score_mask"][3] == "gzip"


def test_no_models_or_segments(tmp_path: Path) -> None:
    Scores(np.empty((0, 3)), [], ["a", "b", "c"]).save(tmp_path / "scores.h5")
    in_blocks(CALIBRATION.apply_file, tmp_path / "scores.h5", tmp_path / "llrs.h5")
    assert Scores.read(tmp_path / "llrs.h5").scoremat.shape == (0, 3)


@pytest.mark.parametrize("block_rows", [None, 3])
def test_scores_that_cannot_be_fused(
    rng: np.random.Generator, tmp_path: Path, block_rows: int | None
) -> None:
    systems, key = trials(rng, n_systems=2)
    fused = fusion(1.0, 2.0)
    mask = np.ones_like(key.tar)
    mask[7, :5] = False
    output = tmp_path / "fused.h5"
    output.write_text("as it was")

    def refuse(error: type[BosarisError], text: str, values: Any, **fields: Any) -> None:
        broken = evolve(systems[1], scoremat=values, **fields)
        paths, key_path = save(tmp_path, [systems[0], broken], key)
        with pytest.raises(error, match=text):
            in_blocks(fused.apply_files, paths, key_path, output, block_rows=block_rows)
        assert output.read_text() == "as it was"
        assert not list(tmp_path.glob(".*"))

    text = "system 2 lacks 5 of 1200 trials. Fill"
    refuse(TrialMismatchError, text, systems[1].scoremat, scoremask=mask)
    first = rf"the first \({key.modelset[30]}, {key.segset[4]}\)"
    values = systems[1].scoremat.copy()
    values[30, 4], values[31, 5] = np.nan, np.nan
    refuse(InvalidInputError, f"got NaN for 2 trials, {first}", values)
    values[30, 4], values[31, 5] = -np.inf, -np.inf
    other = systems[0].scoremat.copy()
    other[30, 4], other[31, 5] = np.inf, np.inf
    systems[0] = evolve(systems[0], scoremat=other)
    refuse(InvalidInputError, f"for and against at 2 of 1200 trials, {first}", values)


def test_no_file_that_is_read_is_replaced(rng: np.random.Generator, tmp_path: Path) -> None:
    """Also if the output is called by another name."""
    message = "`output_file` must be another file than those that are read"
    systems, key = trials(rng, n_systems=2)
    paths, key_path = save(tmp_path, systems, key)
    link = tmp_path / "link.h5"
    link.symlink_to(key_path)
    for output in (key_path, link, *paths):
        with pytest.raises(InvalidInputError, match=message):
            in_blocks(fusion(1.0, 2.0).apply_files, paths, key_path, output)
    for output in (key_path, link, paths[0]):
        with pytest.raises(InvalidInputError, match=message):
            in_blocks(CALIBRATION.apply_file, paths[0], output, ndx_file=key_path)
    assert Key.read(key_path) == key
    assert [Scores.read(path) for path in paths] == systems


def test_bad_arguments_of_apply(rng: np.random.Generator, tmp_path: Path) -> None:
    systems, key = trials(rng)
    (path,), key_path = save(tmp_path, systems, key)
    apply_file, output = CALIBRATION.apply_file, tmp_path / "llrs.h5"
    with pytest.raises(InvalidInputError, match=r"`output_file` must end in \.h5 or \.hdf5"):
        apply_file(path, tmp_path / "llrs.txt")
    with pytest.raises(InvalidInputError, match=r"`ndx_file` must be the name of a file"):
        apply_file(path, output, ndx_file=key)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"`score_files` .* the scores of 2 systems, as in"):
        in_blocks(fusion(1.0, 2.0).apply_files, [path], key_path, output)
    with pytest.raises(FileNotFoundError, match="No such folder"):
        apply_file(path, tmp_path / "none" / "llrs.h5")
    with pytest.raises(FileFormatError, match="expected Scores; the file holds Key"):
        apply_file(key_path, output)
    with h5py.File(path, "r+") as file:
        file["ID/row_ids"][1] = file["ID/row_ids"][0]
    with pytest.raises(InvalidInputError, match="m000"):
        apply_file(path, output)
    assert not output.exists()


@pytest.mark.parametrize("n_systems", [1, 2])
def test_large_sets_start_nearby(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_systems: int
) -> None:
    """One pass over 40,000 trials to look, and a few to evaluate."""
    monkeypatch.setattr(trained, "KEPT", 20_000)
    systems, key = trials(rng, (200, 200), n_systems=n_systems)
    paths, key_path = save(tmp_path, systems, key)
    labels = []
    pass_over = TrialFiles.pass_over

    def counted(self: Any, *args: Any, **options: Any) -> Any:
        labels.append(options["label"])
        return pass_over(self, *args, **options)

    monkeypatch.setattr(TrialFiles, "pass_over", counted)
    if n_systems == 1:
        found, expected = FIT(paths[0], key_path), LinearCalibration.fit_scores(systems[0], key)
    else:
        found, expected = FUSE(paths, key_path), LinearFusion.fit_scores(systems, key)
    assert_same(found, expected)
    assert labels[0] == "training scores"
    assert 1 <= labels.count("objective (cllr)") == len(labels) - 1 <= 4


@pytest.mark.parametrize("kept", [2**22, 40])
def test_scores_that_cannot_be_trained_on(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """Also if those in memory are finite."""
    monkeypatch.setattr(trained, "KEPT", kept)
    (system,), key = trials(rng)
    values = system.scoremat.copy()
    values[tuple(np.argwhere(key.non)[3])] = np.inf
    (path,), key_path = save(tmp_path, [Scores(values, *system.ids)], key)
    with pytest.raises(InvalidInputError, match="must be trained on finite scores"):
        FIT(path, key_path)


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
    assert str(found[-1].message) == "1 of 2 targets missing."
