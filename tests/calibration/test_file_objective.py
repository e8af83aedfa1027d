"""Calibration and fusion of files must be those of the same files read into memory."""

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import h5py
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import Key, LinearCalibration, LinearFusion, Ndx, Scores
from bosaris_py.calibration import file_objective
from bosaris_py.calibration.file_objective import FileObjective
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
from bosaris_py.numerics.objective import TrainingObjective
from bosaris_py.numerics.scoring import OBJECTIVES, scoring_rule
from bosaris_py.trials import blocks, passes
from bosaris_py.trials.passes import FilePasses, Where
from tests.forms import as_list, evolve
from tests.strategies import keys, scores

FIT = LinearCalibration.fit_files
FUSE = LinearFusion.fit_files

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
    monkeypatch.setattr(file_objective, "_KEPT", 40)


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
        patch.setattr(file_objective, "_KEPT", kept)
        found = outcome(lambda: fit(files, key_path, block_rows=block_rows))
    expected = outcome(in_memory)
    assert found[1] == expected[1]
    if isinstance(expected[0], type):
        assert issubclass(found[0], expected[0])
    else:
        assert_same(found[0], expected[0])


@pytest.mark.parametrize(("n_systems", "most"), [(1, 4), (2, 4)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("nothing_kept")
def test_large_sets_start_nearby(
    rng: np.random.Generator,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    n_systems: int,
    most: int,
    dtype: type,
) -> None:
    """One pass over 40,000 trials to look, and some to evaluate."""
    monkeypatch.setattr(file_objective, "_KEPT", 20_000)
    systems, key = trials(rng, (200, 200), n_systems=n_systems, dtype=dtype)
    paths, key_path = save(tmp_path, systems, key)
    labels = []
    run = FilePasses.run

    def counted(self: Any, function: Any, setting: Any, label: str, *tasks: Any) -> Any:
        labels.append(label)
        return run(self, function, setting, label, *tasks)

    monkeypatch.setattr(FilePasses, "run", counted)
    if n_systems == 1:
        found, expected = FIT(paths[0], key_path), LinearCalibration.fit_scores(systems[0], key)
    else:
        found, expected = FUSE(paths, key_path), LinearFusion.fit_scores(systems, key)
    assert_same(found, expected)
    assert labels[0] == "training scores"
    assert 1 <= labels.count("objective (cllr)") == len(labels) - 1 <= most


@pytest.mark.parametrize("block_rows", [1, 7, 200])
def test_a_sample_is_evenly_spaced(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_rows: int
) -> None:
    """Each quarter of the rows, and of the columns, gives about a quarter of it."""
    monkeypatch.setattr(file_objective, "_KEPT", 2000)
    shape = (200, 128)
    cells = np.arange(200 * 128).reshape(shape)
    ids = [f"m{i}" for i in range(200)], [f"s{i}" for i in range(128)]
    is_tar = cells % 1000 == 0
    paths, key_path = save(tmp_path, [Scores(cells, *ids)], Key(*ids, is_tar, ~is_tar))
    chosen = open_files(paths, key_path, block_rows=block_rows).non[0]
    assert 600 < chosen.size <= 2000
    assert np.unique(chosen).size == chosen.size
    rows, columns = np.divmod(chosen.astype(int), 128)
    assert np.unique(columns).size > 100
    for places, size in ((rows, 200), (columns, 128)):
        quarters = np.bincount(places * 4 // size, minlength=4) / chosen.size
        assert quarters == pytest.approx(np.full(4, 0.25), abs=0.06)


def open_files(paths: list[Path], key_path: Path, **settings: Any) -> FileObjective:
    opened, ids = FilePasses.open([(paths, key_path)], Where(**settings))
    return FileObjective.from_passes(opened, ids, (scoring_rule("cllr"), 0.5, 0.0), needs_all=False)


@pytest.mark.usefixtures("nothing_kept")
def test_all_that_training_asks(rng: np.random.Generator, tmp_path: Path) -> None:
    """Each answer of the objective of files is that of the same scores in memory."""
    systems, key = trials(rng, n_systems=2)
    of_files: TrainingObjective = open_files(*save(tmp_path, systems, key), block_rows=3)
    lists = [system.get_tar_non(key) for system in systems]
    tar, non = (np.array(side) for side in zip(*lists, strict=True))
    in_memory: TrainingObjective = TrainingObjective.from_scores(tar, non)
    assert (of_files.n_tar, of_files.n_non) == (tar.shape[1], non.shape[1])
    for mine, other in zip(of_files.moments(), in_memory.moments(), strict=True):
        for field in attrs.fields(type(mine)):
            np.testing.assert_allclose(
                getattr(mine, field.name), getattr(other, field.name), rtol=1e-12, atol=1e-13
            )
    centre, spread = np.array([0.5, -1.0]), np.array([2.0, 3.0])
    of_files, in_memory = (
        evolve(one, centre=centre, spread=spread) for one in (of_files, in_memory)
    )
    for point in ([1.0, 0.5, -0.3], [-2.0, 0.0, 1e4]):
        mine, other = (one.evaluate(np.array(point)) for one in (of_files, in_memory))
        for field in attrs.fields(type(mine)):
            np.testing.assert_allclose(
                getattr(mine, field.name), getattr(other, field.name), rtol=1e-12, atol=1e-13
            )
    of_files.refuse_non_finite()


@pytest.mark.parametrize("n_systems", [1, 2])
@pytest.mark.parametrize(
    ("n_threads", "workers"), [(3, 1), pytest.param(1, 2, marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("nothing_kept")
def test_threads_and_processes_change_nothing(
    rng: np.random.Generator,
    tmp_path: Path,
    n_systems: int,
    n_threads: int,
    workers: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not even the last bit, of anything that the result depends on."""
    systems, key = trials(rng, (200, 20), n_systems=n_systems, share=0.6)
    paths, key_path = save(tmp_path, systems, key)
    monkeypatch.setattr(passes, "n_threads", lambda: 1)
    one = open_files(paths, key_path, block_rows=7)
    monkeypatch.setattr(passes, "n_threads", lambda: n_threads)
    two = open_files(paths, key_path, block_rows=7, workers=workers)
    assert np.array_equal(one.non, two.non)
    assert np.array_equal(one.tar, two.tar)
    point = np.array([0.7, 0.4, -1.0])[-n_systems - 1 :]
    pairs = list(zip(one.moments(), two.moments(), strict=True))
    for mine, other in [*pairs, (one.evaluate(point), two.evaluate(point))]:
        for field in attrs.fields(type(mine)):
            assert np.array_equal(getattr(mine, field.name), getattr(other, field.name))


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


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_kept")
def test_separable_but_for_ties(tmp_path: Path) -> None:
    """Fused scores touch: the direction separates the classes but for equal scores."""
    ids = [f"m{i}" for i in range(12)], [f"s{i}" for i in range(12)]
    rows, cols = np.divmod(np.arange(144), 12)
    is_tar = (rows > 6).reshape(12, 12)
    # Targets have the first score 0 or 1, non-targets 0 or -1; the second says nothing.
    first = np.where(is_tar, 1.0, -1.0) * (cols.reshape(12, 12) > 2)
    second = np.sin(np.arange(144.0)).reshape(12, 12)
    systems = [Scores(first, *ids), Scores(second, *ids)]
    key = Key(*ids, is_tar, ~is_tar)
    found = outcome(lambda: FUSE(*save(tmp_path, systems, key), block_rows=2))
    expected = outcome(lambda: LinearFusion.fit_scores(systems, key))
    assert found[1] == expected[1]
    assert [category for category, _ in found[1]] == [SeparableDataWarning]
    assert_same(found[0], expected[0])


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
    text = f"system 1 lacks {n_tar} of {key.n_tar} targets and {n_non} of {key.n_non} non-targets"
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


@pytest.mark.parametrize("block_rows", [None, 3])
def test_scores_that_cannot_be_trained_on(
    rng: np.random.Generator, tmp_path: Path, block_rows: int | None
) -> None:
    systems, key = trials(rng, n_systems=2)
    values = systems[1].scoremat.copy()
    values[tuple(np.argwhere(key.non)[[3, 500]].T)] = [np.inf, -np.inf]
    values[tuple(np.argwhere(key.tar)[7])] = -1e200
    broken = Scores(values, key.modelset, key.segset)
    paths, key_path = save(tmp_path, [systems[0], broken], key)
    text = (
        f"A linear map must be trained on finite scores; 1 of {key.n_tar} scores of "
        f"targets in {paths[1]} are beyond 1e\\+150; 2 of {key.n_non} scores of non-targets in "
        f"{paths[1]} are infinite. "
    )
    with pytest.raises(InvalidInputError, match=text):
        FUSE(paths, key_path, block_rows=block_rows)
    huge = np.where(key.non, systems[0].scoremat * 1e200, 0.0)
    Scores(huge, key.modelset, key.segset).save(paths[1])
    with pytest.raises(InvalidInputError, match=f"{key.n_non} scores of non-targets .* beyond"):
        FIT(paths[1], key_path, block_rows=block_rows)
    values[tuple(np.argwhere(key.non)[0])] = np.nan
    Scores(values, key.modelset, key.segset).save(paths[1])
    with pytest.raises(InvalidInputError, match="NaN for 1 trial, the first"):
        FIT(paths[1], key_path, block_rows=block_rows)


def test_bad_arguments(rng: np.random.Generator, tmp_path: Path) -> None:
    systems, key = trials(rng)
    (path,), key_path = save(tmp_path, systems, key)
    for settings, text in (
        ({"block_rows": 0}, "`block_rows` must be a whole number"),
        ({"workers": 0}, "`workers` must be a whole number"),
        ({"prior": 1.0}, "`prior`"),
        ({"objective": "hinge"}, "`objective`"),
        ({"ridge": -1.0}, "`ridge`"),
    ):
        with pytest.raises(InvalidInputError, match=text):
            FIT(path, key_path, **settings)
    with pytest.raises(InvalidInputError, match=r"`score_file` must be the name of a file"):
        FIT([path], key_path)
    with pytest.raises(InvalidInputError, match="Put the files of all systems into a list"):
        FUSE(str(path), key_path)
    with pytest.raises(InvalidInputError, match="hold at least one file"):
        FUSE([], key_path)
    with pytest.raises(FileNotFoundError):
        FIT(tmp_path / "none.h5", key_path)
    with pytest.raises(FileFormatError, match="expected Scores; the file holds Key"):
        FIT(key_path, key_path)


@pytest.mark.parametrize("what", ["targets", "non-targets"])
def test_a_class_without_scores(rng: np.random.Generator, tmp_path: Path, what: str) -> None:
    systems, key = trials(rng)
    empty = np.zeros_like(key.tar)
    masks = {"targets": (empty, key.non), "non-targets": (key.tar, empty)}[what]
    (path,), key_path = save(tmp_path, systems, Key(key.modelset, key.segset, *masks))
    with pytest.raises(InvalidInputError, match=f"hold {what} that have scores; got none"):
        FIT(path, key_path, block_rows=1)


@pytest.mark.usefixtures("nothing_kept")
def test_blocks_without_trials(rng: np.random.Generator, tmp_path: Path) -> None:
    """All non-targets in the last row, all targets in two others."""
    (system,), key = trials(rng)
    tar, non = np.zeros_like(key.tar), np.zeros_like(key.tar)
    tar[[3, 20]], non[39] = True, True
    sparse = Key(key.modelset, key.segset, tar, non)
    (path,), key_path = save(tmp_path, [system], sparse)
    found = outcome(lambda: FIT(path, key_path, block_rows=1))
    expected = outcome(lambda: LinearCalibration.fit_scores(system, sparse))
    assert found[1] == expected[1]
    assert_same(found[0], expected[0])


@pytest.mark.usefixtures("nothing_kept")
@pytest.mark.parametrize("change", ["rewritten", "truncated", "deleted"])
def test_a_file_that_changes_between_passes(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    systems, key = trials(rng)
    (path,), key_path = save(tmp_path, systems, key)
    run = FilePasses.run

    def run_and_change(self: Any, function: Any, setting: Any, label: str, *tasks: Any) -> Any:
        result = run(self, function, setting, label, *tasks)
        if change == "rewritten":
            Scores(systems[0].scoremat * 2, key.modelset, key.segset).save(path)
        elif change == "truncated":
            os.truncate(path, path.stat().st_size - 100)
        else:
            path.unlink(missing_ok=True)
        return result

    monkeypatch.setattr(FilePasses, "run", run_and_change)
    with pytest.raises(FileFormatError, match=r"scores0\.h5: (changed|deleted)"):
        FIT(path, key_path)


@pytest.mark.usefixtures("nothing_kept")
def test_another_number_of_trials_in_a_later_pass(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if size and time of a file stay the same."""
    systems, key = trials(rng)
    (path,), key_path = save(tmp_path, systems, key)
    monkeypatch.setattr(blocks.RowReader, "read_valid", None_then_false())
    with pytest.raises(FileFormatError, match="non-targets, the first 1"):
        FIT(path, key_path)


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


def test_a_damaged_file(rng: np.random.Generator, tmp_path: Path) -> None:
    systems, key = trials(rng)
    (path,), key_path = save(tmp_path, systems, key)
    with h5py.File(path, "r+") as file:
        del file["score_mask"]
        file["score_mask"] = np.ones((3, 3), dtype=np.uint8)
    with pytest.raises(FileFormatError, match=r"shape \(3, 3\)"):
        FIT(path, key_path)


def test_progress_is_shown_for_each_pass(
    rng: np.random.Generator, tmp_path: Path, capsys: pytest.CaptureFixture[str], nothing_kept: None
) -> None:
    systems, key = trials(rng)
    (path,), key_path = save(tmp_path, systems, key)
    FIT(path, key_path, progress=True)
    shown = capsys.readouterr().err
    assert "training scores: 100%" in shown
    assert "objective (cllr): 100%" in shown


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
    calibration.apply_file(folder / "scores.h5", folder / "llrs.h5", block_rows=block_rows)
    found = Scores.read(folder / "llrs.h5")
    assert found == calibration.apply(system)
    assert found.scoremat.dtype == np.float64
    assert not found.scoremat[~found.scoremask].any()


@given(scores())
def test_a_calibrated_list(tmp_path_factory: pytest.TempPathFactory, system: Scores) -> None:
    folder = tmp_path_factory.mktemp("files")
    listed = as_list(system)
    listed.save(folder / "scores.h5")
    CALIBRATION.apply_file(folder / "scores.h5", folder / "llrs.h5")
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
        CALIBRATION.apply_file(
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
        fused.apply_files(paths, key_path, tmp_path / "fused.h5", block_rows=block_rows)
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
    fusion(0.3, -1.7).apply_files(paths, ndx_path, tmp_path / "fused.h5", block_rows=7)
    assert Scores.read(tmp_path / "fused.h5") == fusion(0.3, -1.7).apply(systems, ndx)
    forms[1](fewer).save(paths[1])
    lost = int((key.tar | key.non)[rows[0]].sum())
    with pytest.raises(TrialMismatchError, match=f"system 2 lacks {lost} of {ndx.n_trials} trials"):
        fusion(0.3, -1.7).apply_files(paths, ndx_path, tmp_path / "other.h5")
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
        (lambda: line.apply(systems[0]), lambda out: line.apply_file(paths[0], out, **options)),
        (
            lambda: fused.apply(systems, key),
            lambda out: fused.apply_files(paths, ndx_path, out, **options),
        ),
    ):
        with pytest.warns(ExtrapolationWarning, match="2 of .*, -80, by 1.4 of") as expected:
            in_memory()
        with pytest.warns(ExtrapolationWarning) as found:
            in_files(tmp_path / "llrs.h5")
        assert [str(item.message) for item in found] == [str(item.message) for item in expected]


def test_a_list_is_what_save_writes(rng: np.random.Generator, tmp_path: Path) -> None:
    """The same layout, with more than one chunk; also if some trials have no score."""
    values = rng.normal(size=(400, 700))
    models, segments = [f"m{i:03}" for i in range(400)], [f"s{i:03}" for i in range(700)]
    system = as_list(Scores(values, models, segments, values != values[0, 0]))
    system.save(tmp_path / "scores.h5")
    CALIBRATION.apply_file(tmp_path / "scores.h5", tmp_path / "llrs.h5")
    CALIBRATION.apply(system).save(tmp_path / "saved.h5")
    assert layout(tmp_path / "llrs.h5") == layout(tmp_path / "saved.h5")
    assert layout(tmp_path / "llrs.h5")["trials/scores"][2] == (2**17,)
    ndx = as_list(Ndx(*system.ids))
    ndx.save(tmp_path / "ndx.h5")
    fewer = as_list(Scores(values[2:], models[2:], segments))
    fewer.save(tmp_path / "scores.h5")
    with pytest.warns(MissingTrialsWarning, match="models reduced from 400 to 398|1400 of"):
        CALIBRATION.apply_file(
            tmp_path / "scores.h5", tmp_path / "llrs.h5", ndx_file=tmp_path / "ndx.h5"
        )
    found = Scores.read(tmp_path / "llrs.h5")
    assert found.n_trials == 398 * 700
    assert np.array_equal(found.values, CALIBRATION.apply(fewer).values)


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
    CALIBRATION.apply_file(path, tmp_path / "llrs.h5")
    CALIBRATION.apply(system).save(tmp_path / "saved.h5")
    found = layout(tmp_path / "llrs.h5")
    assert found == layout(tmp_path / "saved.h5")
    assert found["scores"][2] == (187, 700)
    assert found["score_mask"][3] == "gzip"


def test_no_models_or_segments(tmp_path: Path) -> None:
    Scores(np.empty((0, 3)), [], ["a", "b", "c"]).save(tmp_path / "scores.h5")
    CALIBRATION.apply_file(tmp_path / "scores.h5", tmp_path / "llrs.h5")
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
            fused.apply_files(paths, key_path, output, block_rows=block_rows)
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
            fusion(1.0, 2.0).apply_files(paths, key_path, output)
    for output in (key_path, link, paths[0]):
        with pytest.raises(InvalidInputError, match=message):
            CALIBRATION.apply_file(paths[0], output, ndx_file=key_path)
    assert Key.read(key_path) == key
    assert [Scores.read(path) for path in paths] == systems


def test_bad_arguments_of_apply(rng: np.random.Generator, tmp_path: Path) -> None:
    systems, key = trials(rng)
    (path,), key_path = save(tmp_path, systems, key)
    apply_file, output = CALIBRATION.apply_file, tmp_path / "llrs.h5"
    with pytest.raises(InvalidInputError, match=r"`block_rows` .* at least 1; got 0"):
        apply_file(path, output, block_rows=0)
    with pytest.raises(InvalidInputError, match=r"`output_file` must end in \.h5 or \.hdf5"):
        apply_file(path, tmp_path / "llrs.txt")
    with pytest.raises(InvalidInputError, match=r"`ndx_file` must be the name of a file"):
        apply_file(path, output, ndx_file=key)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"`score_files` .* the scores of 2 systems, as in"):
        fusion(1.0, 2.0).apply_files([path], key_path, output)
    with pytest.raises(FileNotFoundError, match="No such folder"):
        apply_file(path, tmp_path / "none" / "llrs.h5")
    with pytest.raises(FileFormatError, match="expected Scores; the file holds Key"):
        apply_file(key_path, output)
    with h5py.File(path, "r+") as file:
        file["ID/row_ids"][1] = file["ID/row_ids"][0]
    with pytest.raises(InvalidInputError, match="m000"):
        apply_file(path, output)
    assert not output.exists()


@pytest.mark.parametrize("change", ["rewritten", "truncated"])
def test_a_file_that_changes_while_it_is_applied_to(
    rng: np.random.Generator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    (system,), key = trials(rng, (200, 300))
    (path,), _ = save(tmp_path, [system], key)
    read_scores = blocks.RowReader.read_scores

    def read_and_change(self: Any, rows: Any) -> Any:
        found = read_scores(self, rows)
        if rows.start == 0 and change == "rewritten":
            system.transform(np.negative).save(path)
        elif rows.start == 0:
            os.truncate(path, path.stat().st_size // 2)
        return found

    monkeypatch.setattr(blocks.RowReader, "read_scores", read_and_change)
    with pytest.raises(FileFormatError, match=r"scores0\.h5"):
        CALIBRATION.apply_file(path, tmp_path / "llrs.h5", block_rows=20)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["key.h5", "scores0.h5"]


def test_progress_of_applying_to_a_file(
    rng: np.random.Generator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (system,), key = trials(rng)
    (path,), _ = save(tmp_path, [system], key)
    output = tmp_path / "llrs.h5"
    CALIBRATION.apply_file(str(path), str(output), block_rows=7, progress=True)
    assert Scores.read(output) == CALIBRATION.apply(system)
    assert "scores: 100%" in capsys.readouterr().err


@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 1000)), min_size=1, max_size=8),
    st.integers(1, 40),
)
def test_a_sample_is_the_same_thinned_before_or_after_it_is_united(
    blocks: list[tuple[int, int]], most: int
) -> None:
    parts = [(np.arange(size, dtype=np.float64)[np.newaxis], first) for size, first in blocks]
    # Blocks that begin far apart can have one common position each, which no step takes away.
    most = max(most, len(parts))
    sample = file_objective._Sample
    early, late = (
        sample.merge([sample.of(scores, first, 1, limit) for scores, first in parts], most)
        for limit in (most, 10**9)
    )
    assert early.step == late.step
    np.testing.assert_array_equal(early.positions, late.positions)
    np.testing.assert_array_equal(early.scores, late.scores)
