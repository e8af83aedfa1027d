"""What files say must be what the same files say that are read into memory."""

import contextlib
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import BayesPlot, DETPlot, Key, Results, Scores
from bosaris_py.errors import (
    BosarisWarning,
    FileFormatError,
    InvalidInputError,
    MissingTrialsWarning,
    OldFormatWarning,
)
from bosaris_py.evaluation.curves import BayesCurves
from bosaris_py.trials import large, large_sample
from bosaris_py.trials.large import TrialFiles
from bosaris_py.trials.large_sample import LargeSample
from tests.edited_hdf5 import edited
from tests.forms import as_list
from tests.strategies import keys, scores

SOME = [-np.inf, -2.0, -0.25, 0.0, 0.1, 1.5, np.inf]


def judge(call: Callable[[], Results]) -> tuple[Any, list[str]]:
    """Return all that a result says, or None if there is none, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            results = call()
        except InvalidInputError:
            return None, []
        said = describe(results)
    return said, [str(warning.message) for warning in caught]


def describe(results: Results) -> dict[str, Any]:
    """Return counts, and numbers that follow from them alone, for exact comparison."""
    roc = results.roc
    return {
        "sizes": (results.n_tar, results.n_non),
        "thresholds": roc.thresholds.tolist(),
        "misses": roc.misses.tolist(),
        "false_alarms": roc.false_alarms.tolist(),
        "metrics": (results.eer, results.min_cllr, results.auc),
        "rates": [rate.tolist() for rate in results.error_rates_at(SOME)],
        "costs": results.act_dcf([0.01, 0.1, 0.5]).tolist(),
    }


def trials(
    rng: np.random.Generator,
    shape: tuple[int, int] = (40, 30),
    *,
    dtype: type = np.float64,
    share: float = 1.0,
) -> tuple[Scores, Key]:
    """Make scores with ties, and a key, that is a matrix full of trials or not."""
    models = [f"m{i:03}" for i in range(shape[0])]
    segments = [f"s{i:03}" for i in range(shape[1])]
    is_tar = rng.random(shape) < 0.1
    is_trial = rng.random(shape) < share
    values = (rng.normal(size=shape) * 2 + 4 * is_tar - 2).round(1).astype(dtype)
    key = Key(models, segments, is_tar & is_trial, ~is_tar & is_trial)
    return Scores(values, models, segments), key


@contextlib.contextmanager
def blocks_of(n_rows: int | None) -> Iterator[None]:
    """Read so many rows at a time, or trials of a list; None leaves it to the files."""

    def cut(self: large.FileTrials) -> list[slice]:
        size = self.key.shape[0]
        return [slice(i, min(i + n_rows, size)) for i in range(0, max(1, size), n_rows)]

    with pytest.MonkeyPatch.context() as patch:
        if n_rows:
            patch.setattr(large.FileTrials, "cut", cut)
        yield


@pytest.fixture
def saved(tmp_path: Path) -> Callable[[Scores, Key], tuple[Path, Path]]:
    """Save scores and a key, and return where."""

    def save(scores: Scores, key: Key) -> tuple[Path, Path]:
        paths = tmp_path / "scores.h5", tmp_path / "key.h5"
        scores.save(paths[0])
        key.save(paths[1])
        return paths

    return save


FORMS = ["matrices", "lists", "a list of scores", "a list as key"]


def in_form(form: str, scores: Scores, key: Key) -> tuple[Scores | Scores, Key | Key]:
    return (
        as_list(scores) if form in ("lists", "a list of scores") else scores,
        as_list(key) if form in ("lists", "a list as key") else key,
    )


@given(scores(), keys(), st.sampled_from([None, 1, 2, 4]), st.sampled_from(FORMS))
def test_any_scores_and_any_key(
    tmp_path_factory: pytest.TempPathFactory,
    scores: Scores,
    key: Key,
    block_rows: int | None,
    form: str,
) -> None:
    """Ids that overlap in part, in any order; missing scores; junk where there is no score."""
    folder = tmp_path_factory.mktemp("files")
    judged, by = in_form(form, scores, key)
    judged.save(folder / "scores.h5")
    by.save(folder / "key.h5")
    in_memory = judge(lambda: Results.from_scores(judged, by))
    with blocks_of(block_rows):
        streamed = judge(lambda: Results.from_files(folder / "scores.h5", folder / "key.h5"))
    assert streamed == in_memory


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("block_rows", [None, 1, 7])
def test_blocks_change_nothing(
    rng: np.random.Generator, saved: Any, dtype: type, share: float, block_rows: int | None
) -> None:
    scores, key = trials(rng, dtype=dtype, share=share)
    with blocks_of(block_rows):
        results = Results.from_files(*saved(scores, key))
    expected = Results.from_scores(scores, key)
    assert describe(results) == describe(expected)
    # Sums over other blocks are rounded differently.
    assert results.cllr == pytest.approx(expected.cllr, rel=1e-14)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lists(
    rng: np.random.Generator,
    saved: Any,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    dtype: type,
    *,
    ordered: bool,
) -> None:
    """Ids in the same order or another; some ids on one side only."""
    scores, key = trials(rng, share=0.4, dtype=dtype)
    rows, cols = rng.permutation(40)[:35], rng.permutation(30)[:28]
    if ordered:
        rows, cols = np.sort(rows), np.sort(cols)
    present = rng.random((35, 28)) < 0.9
    some = Scores(
        np.where(present, scores.scoremat[np.ix_(rows, cols)], 0),
        scores.modelset[rows],
        scores.segset[cols],
        present,
    )
    judged, by = in_form(form, some, key)
    paths = saved(judged, by)
    with pytest.warns(MissingTrialsWarning) as in_memory:
        expected = Results.from_scores(judged, by)
    for block_rows in (None, 3):
        with pytest.warns(MissingTrialsWarning) as caught, blocks_of(block_rows):
            results = Results.from_files(*paths)
        assert describe(results) == describe(expected)
        assert results.cllr == pytest.approx(expected.cllr, rel=1e-13)
        assert [str(one.message) for one in caught] == [str(one.message) for one in in_memory]


def test_plots_need_no_scores(rng: np.random.Generator, saved: Any) -> None:
    """The curves are those of the scores in memory, and no file is read for them."""
    scores, key = trials(rng)
    paths = saved(scores, key)
    streamed, expected = Results.from_files(*paths), Results.from_scores(scores, key)
    for path in paths:
        path.unlink()
    drawn = []
    for results in (streamed, expected):
        det, bayes = DETPlot("big"), BayesPlot()
        for plot in (det, bayes):
            plot.set_system_from_results(results, "system")
        det.plot_steppy_det()
        det.plot_rocch_det()
        det.plot_mindcf_point(0.1)
        det.plot_DR30_both()
        bayes.plot_curves(np.ones(8, dtype=bool))
        artists = [*det.artists.values(), *bayes.artists.values()]
        drawn.append([artist.get_xydata().tolist() for kind in artists for artist in kind])
    assert drawn[0] == drawn[1]


def test_ids_in_another_order(
    rng: np.random.Generator, saved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of small chunks, so that each block needs several of them."""
    scores, key = trials(rng, (300, 20))
    rows, cols = rng.permutation(300)[:250], rng.permutation(20)[:18]
    shuffled = Scores(
        scores.scoremat[np.ix_(rows, cols)], scores.modelset[rows], scores.segset[cols]
    )
    paths = saved(shuffled, key)
    with h5py.File(paths[1], "r+") as file:
        mask = file["trial_mask"][()]
        del file["trial_mask"]
        file.create_dataset("trial_mask", data=mask, chunks=(16, 20), compression="gzip")
    with pytest.warns(MissingTrialsWarning) as in_memory:
        expected = describe(Results.from_scores(shuffled, key))
    for block_rows in (None, 40):
        with pytest.warns(MissingTrialsWarning) as caught, blocks_of(block_rows):
            results = Results.from_files(*paths)
        assert [str(one.message) for one in caught] == [str(one.message) for one in in_memory]
        assert describe(results) == expected


def test_several_files_are_one_set_of_trials(rng: np.random.Generator, tmp_path: Path) -> None:
    """In float32 and float64, with ids of their own."""
    parts = [trials(rng, (10, 12), dtype=np.float32), trials(rng, (3, 50), share=0.5)]
    names = []
    for i, (part, key) in enumerate(parts):
        names.append((tmp_path / f"scores{i}.h5", tmp_path / f"key{i}.h5"))
        part.save(names[-1][0])
        key.save(names[-1][1])
    streamed = Results.from_files([a for a, _ in names], [b for _, b in names])
    lists = [part.get_tar_non(key) for part, key in parts]
    together = Results(*(np.concatenate(side) for side in zip(*lists, strict=True)))
    assert describe(streamed) == describe(together)
    assert streamed.cllr == pytest.approx(together.cllr, rel=1e-13)


def test_no_trial_counts_twice(rng: np.random.Generator, saved: Any, tmp_path: Path) -> None:
    """A file may come with several keys, but with each once, under whatever name."""
    scores, key = trials(rng)
    score_file, key_file = saved(scores, key)
    link = tmp_path / "link.h5"
    link.symlink_to(score_file)
    with pytest.raises(InvalidInputError, match=r"`score_files` must hold each file once"):
        Results.from_files([score_file, link], [key_file, key_file])
    parts = []
    for i, models in enumerate((key.modelset[::2], key.modelset[1::2])):
        parts.append(tmp_path / f"part{i}.h5")
        key.filter(models, key.segset, keep=True).save(parts[-1])
    results = Results.from_files([score_file, score_file], parts)
    assert describe(results) == describe(Results.from_scores(scores, key))


def test_progress_is_shown_for_both_passes(
    rng: np.random.Generator, saved: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    Results.from_files(*saved(*trials(rng)), progress=True)
    shown = capsys.readouterr().err
    assert "non-target scores: 100%" in shown
    assert "target scores: 100%" in shown


def test_nan_is_counted_over_all_blocks(rng: np.random.Generator, saved: Any) -> None:
    scores, key = trials(rng, share=0.5)
    values = scores.scoremat.copy()
    values[~(key.tar | key.non)] = np.nan
    paths = saved(Scores(values, scores.modelset, scores.segset), key)
    assert describe(Results.from_files(*paths)) == describe(Results.from_scores(scores, key))
    bad = np.argwhere(key.tar | key.non)[[5, -1]]
    values[tuple(bad.T)] = np.nan
    paths = saved(Scores(values, scores.modelset, scores.segset), key)
    first = rf"\({scores.modelset[bad[0, 0]]}, {scores.segset[bad[0, 1]]}\)"
    for block_rows in (None, 3):
        with (
            pytest.raises(InvalidInputError, match=f"got NaN for 2 trials, the first {first}"),
            blocks_of(block_rows),
        ):
            Results.from_files(*paths)


@pytest.mark.parametrize("what", ["targets", "non-targets"])
def test_a_class_without_scores(rng: np.random.Generator, saved: Any, what: str) -> None:
    scores, key = trials(rng)
    empty = np.zeros_like(key.tar)
    masks = {"targets": (empty, key.non), "non-targets": (key.tar, empty)}[what]
    paths = saved(scores, Key(key.modelset, key.segset, *masks))
    with pytest.raises(InvalidInputError, match=f"hold {what} that have scores; got none"):
        Results.from_files(*paths)


def test_blocks_without_targets_are_fine(rng: np.random.Generator, saved: Any) -> None:
    scores, key = trials(rng)
    few = key.tar.copy()
    few[1:] = False
    sparse = Key(key.modelset, key.segset, few, key.non)
    with blocks_of(1):
        results = Results.from_files(*saved(scores, sparse))
    assert describe(results) == describe(Results.from_scores(scores, sparse))


def test_files_must_come_in_pairs(rng: np.random.Generator, saved: Any) -> None:
    scores, key = saved(*trials(rng))
    with pytest.raises(InvalidInputError, match="as many files as there are score files, 2; got 1"):
        Results.from_files([scores, scores], key)


@pytest.mark.parametrize("files", [None, 3, [], b"scores.h5", [None], {"a": 1}.values()])
def test_what_is_no_name_of_a_file_is_refused(files: Any) -> None:
    for name, arguments in (
        ("score_files", (files, "key.h5")),
        ("key_files", ("scores.h5", files)),
    ):
        with pytest.raises(
            InvalidInputError, match=rf"`{name}` must be the name of a file, or sev"
        ):
            Results.from_files(*arguments)


@pytest.mark.parametrize(("side", "repeated"), [("row", "m000"), ("column", "s000")])
def test_repeated_ids_are_refused(
    rng: np.random.Generator, saved: Any, side: str, repeated: str
) -> None:
    paths = saved(*trials(rng))
    with edited(paths[0]) as file:
        ids = file[f"ID/{side}_ids"][()]
        ids[1] = ids[0]
        file[f"ID/{side}_ids"][...] = ids
    with pytest.raises(InvalidInputError, match=repeated):
        Results.from_files(*paths)


def test_swapped_files_are_named(rng: np.random.Generator, saved: Any) -> None:
    scores, key = saved(*trials(rng))
    with pytest.raises(FileFormatError, match="expected Scores; the file holds Key"):
        Results.from_files(key, scores)


def _transpose(file: Any) -> None:
    data = file["scores"][()].T
    del file["scores"]
    file["scores"] = data


def _lose_a_row(file: Any) -> None:
    data = file["scores"][()][1:]
    del file["scores"]
    file["scores"] = data


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_transpose, r"`/scores` has shape \(30, 40\).* Models and segments look swapped"),
        (_lose_a_row, r"`/scores` has shape \(39, 30\); the ids"),
    ],
)
def test_a_matrix_that_does_not_fit_its_ids(
    rng: np.random.Generator, saved: Any, damage: Callable[[Any], None], message: str
) -> None:
    paths = saved(*trials(rng))
    with h5py.File(paths[0], "r+") as file:
        damage(file)
    with pytest.raises(FileFormatError, match=message):
        Results.from_files(*paths)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_files_without_an_id_in_common(rng: np.random.Generator, saved: Any, form: str) -> None:
    scores, key = trials(rng)
    strangers = Scores(scores.scoremat, [f"x{name}" for name in scores.modelset], scores.segset)
    with pytest.raises(InvalidInputError, match="hold targets that have scores; got none"):
        Results.from_files(*saved(*in_form(form, strangers, key)))


def test_old_layouts(rng: np.random.Generator, saved: Any) -> None:
    """A key with two masks, scores without a mask."""
    scores, key = trials(rng, share=0.5)
    paths = saved(scores, key)
    for path, change in ((paths[1], _to_two_masks), (paths[0], _to_pybosaris)):
        with edited(path) as file:
            change(file)
    with pytest.warns(OldFormatWarning) as caught:
        results = Results.from_files(*paths)
    assert len(caught) == 2
    assert all(issubclass(warning.category, BosarisWarning) for warning in caught)
    assert describe(results) == describe(Results.from_scores(scores, key))


def _to_two_masks(file: Any) -> None:
    labels = file["trial_mask"][()]
    del file["trial_mask"], file["file_format"]
    file["target_mask"], file["nontarget_mask"] = labels == 1, (labels == -1).astype("u1")


def _to_pybosaris(file: Any) -> None:
    file.move("scores", "score_mat")
    file.move("ID/row_ids", "model_names")
    file.move("ID/column_ids", "test_names")
    del file["score_mask"], file["ID"]


@pytest.mark.parametrize("form", FORMS)
def test_threads_and_processes_change_nothing(
    rng: np.random.Generator, saved: Any, form: str
) -> None:
    """Not even the last bit of Cllr."""
    paths = saved(*in_form(form, *trials(rng, (200, 30), share=0.7)))
    with blocks_of(7):
        found = [Results.from_files(*paths, workers=n) for n in (1, 3)]
    with ProcessPoolExecutor(2) as executor:
        found.append(Results.from_files(*paths, executor=executor))
    assert describe(found[0]) == describe(found[1]) == describe(found[2])
    assert found[0].cllr == found[1].cllr
    assert found[2].cllr == pytest.approx(found[0].cllr, rel=1e-14)


def _die(*_: object) -> None:
    os._exit(1)


def test_a_killed_process_leaves_no_result(
    rng: np.random.Generator, saved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_sample, "_count_blocks", _die)
    with ProcessPoolExecutor(2) as executor, pytest.raises(BrokenProcessPool):
        Results.from_files(*saved(*trials(rng)), executor=executor)


def test_thresholds_that_were_not_counted_cost_one_more_pass(
    rng: np.random.Generator, saved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores, key = trials(rng)
    results = Results.from_files(*saved(scores, key), prior=[0.123, 0.9])
    expected = Results.from_scores(scores, key)
    passes = []
    pass_over = TrialFiles.pass_over

    def counted(self: Any, *args: Any, **options: Any) -> Any:
        passes.append(options["label"])
        return pass_over(self, *args, **options)

    monkeypatch.setattr(TrialFiles, "pass_over", counted)
    assert results.act_dcf([0.123, 0.9]).tolist() == expected.act_dcf([0.123, 0.9]).tolist()
    log_odds = np.linspace(-10, 0, 1001)
    curves, others = (BayesCurves.from_results(r, log_odds) for r in (results, expected))
    assert curves.act_dcf.tolist() == others.act_dcf.tolist()
    assert results.error_rates_at([-np.inf])[1].tolist() == [1.0]
    assert not passes
    for thresholds in ([-0.999, 0.0, 0.333], [np.inf], [[-np.inf], [7.5]]):
        found, wanted = (r.error_rates_at(thresholds) for r in (results, expected))
        assert [side.tolist() for side in found] == [side.tolist() for side in wanted]
    assert 1 <= len(passes) <= 3


def test_sample_survives_pickling(rng: np.random.Generator, saved: Any) -> None:
    paths = saved(*trials(rng))
    sample = LargeSample.from_files(TrialFiles.open([([paths[0]], paths[1])]))
    copy = pickle.loads(pickle.dumps(sample))
    assert describe(Results.from_sample(copy)) == describe(Results.from_sample(sample))


@pytest.mark.parametrize("form", ["matrices", "a list as key"])
@pytest.mark.parametrize(("module", "during"), [(large, "_look"), (large_sample, "_count_blocks")])
@pytest.mark.parametrize("change", ["touch", "truncate", "grow"])
def test_a_file_that_changes_is_noticed(
    rng: np.random.Generator,
    saved: Any,
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType,
    during: str,
    form: str,
    change: str,
) -> None:
    """In either pass, and by the time alone."""
    paths = saved(*in_form(form, *trials(rng, (400, 30))))
    work = getattr(module, during)

    def disturbed(*args: Any) -> Any:
        with paths[0].open("r+b") as file:
            if change != "touch":
                size = paths[0].stat().st_size
                file.truncate(size // 2 if change == "truncate" else size + 4)
        paths[0].touch()
        return work(*args)

    monkeypatch.setattr(module, during, disturbed)
    with pytest.raises(FileFormatError, match=r"scores.h5: changed while it was being read"):
        Results.from_files(*paths)


@pytest.mark.parametrize(
    ("options", "message"), [({"workers": 0}, "workers"), ({"prior": 1.5}, "prior")]
)
def test_bad_arguments(
    rng: np.random.Generator, saved: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Results.from_files(*saved(*trials(rng)), **options)


@pytest.mark.parametrize("form", ["matrices", "lists", "lists of scores", "list of trials"])
@pytest.mark.parametrize("block_rows", [None, 1, 5])
@pytest.mark.parametrize("is_key", [False, True])
def test_blocks_of_two_systems_against_dictionaries(
    tmp_path: Path, form: str, block_rows: int | None, *, is_key: bool
) -> None:
    """Both lack scores, each others, and have their ids in an order of their own."""
    rng = np.random.default_rng(16)
    labels = rng.choice([-1, -1, -1, 0, 1], (12, 9))
    ids = np.array([f"m{i}" for i in range(12)]), np.array([f"s{j}" for j in range(9)])
    key = Key(*ids, labels == 1, labels == -1)
    (as_list(key) if "trials" in form or form == "lists" else key).save(tmp_path / "key.h5")
    files: list[Path] = []
    cells: list[dict[tuple[int, int], float]] = [{}, {}]
    for number, known in enumerate(cells):
        rows, cols = rng.permutation(12)[number:], rng.permutation(9)[number:]
        mask, values = rng.random((rows.size, cols.size)) < 0.8, rng.normal(size=(12, 9)).round(1)
        values = values[: rows.size, : cols.size]
        scores = Scores(values, ids[0][rows], ids[1][cols], scoremask=mask)
        files.append(tmp_path / f"{number}.h5")
        (as_list(scores) if "scores" in form or form == "lists" else scores).save(files[-1])
        for i, j in np.argwhere(mask):
            known[int(rows[i]), int(cols[j])] = values[i, j]
    with blocks_of(block_rows):
        part = large.open_trials(files, tmp_path / "key.h5", is_key=is_key)
        read = list(part.read(part.cut()))
    both = cells[0].keys() & cells[1].keys()
    for label in (1, -1):
        pairs = [pair for block in read for pair in block.scores_with(label).T.tolist()]
        wanted = [[cells[0][c], cells[1][c]] for c in both if labels[c] == label]
        assert sorted(pairs) == sorted(wanted)
    places = {tuple(place) for place in np.argwhere(labels).tolist()}
    sizes = [np.count_nonzero(labels == n) for n in (1, -1)]
    scored = [sum(labels[c] == n for c in both) for n in (1, -1)]
    lacks = [len(places - known.keys()) for known in cells]
    assert sum(block.counts() for block in read).tolist() == [*sizes, *scored, *lacks]
