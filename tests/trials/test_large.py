"""What files say must be what the same files say that are read into memory."""

import contextlib
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from bosaris_py import Key, Results, Sample, Scores, evaluate
from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.metrics.costs import MinDCF
from bosaris_py.metrics.ranks import AUC, EER, PmissAt
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
        except (InvalidInputError, TrialMismatchError):
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


def trials(rng, shape=(40, 30), *, dtype=np.float64, share=1.0):
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
        size = self.shape[0]
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
def test_any_scores_and_any_key(tmp_path_factory, scores, key, block_rows, form):
    """Ids that overlap in part, in any order; missing scores; junk where there is no score."""
    folder = tmp_path_factory.mktemp("files")
    judged, by = in_form(form, scores, key)
    judged.save(folder / "scores.h5")
    by.save(folder / "key.h5")
    in_memory = judge(lambda: Results.from_scores(judged, by))
    with blocks_of(block_rows):
        streamed = judge(lambda: Results.from_files(folder / "scores.h5", folder / "key.h5"))
    assert streamed == in_memory


def test_thresholds_that_were_not_counted_cost_one_more_pass(rng, saved, monkeypatch):
    scores, key = trials(rng)
    results = Results.from_files(*saved(scores, key), prior=[0.123, 0.9])
    expected = Results.from_scores(scores, key)
    passes, totals = [], TrialFiles.totals
    monkeypatch.setattr(TrialFiles, "totals", lambda *x: (passes.append(x[2]), totals(*x))[1])
    assert results.act_dcf([0.123, 0.9]).tolist() == expected.act_dcf([0.123, 0.9]).tolist()
    assert results.error_rates_at([-np.inf])[1].tolist() == [1.0]
    assert not passes
    for thresholds in ([-0.999, 0.0, 0.333], [np.inf], [[-np.inf], [7.5]]):
        found, wanted = (r.error_rates_at(thresholds) for r in (results, expected))
        assert [side.tolist() for side in found] == [side.tolist() for side in wanted]
    assert 1 <= len(passes) <= 3


@given(st.data())
def test_the_step_eer_knows_ties(tmp_path_factory: pytest.TempPathFactory, data: Any) -> None:
    """Of non-targets too, between two target scores, and of infinite ones."""
    few = st.sampled_from([-np.inf, 0.0, 1.0, 2.0, 3.0, np.inf])
    tar, non = (data.draw(st.lists(few, min_size=1, max_size=9)) for _ in range(2))
    values, ids = np.array([tar + non]), [f"{i}" for i in range(len(tar + non))]
    is_target = np.arange(values.size)[None] < len(tar)
    folder = tmp_path_factory.mktemp("ties")
    Scores(values, ["m"], ids).save(folder / "s.h5")
    Key(["m"], ids, is_target, ~is_target).save(folder / "k.h5")
    sample = LargeSample.from_files(TrialFiles.open([([folder / "s.h5"], folder / "k.h5")]))
    assert EER("step").value(sample) == EER("step").value(Sample.from_scores(tar, non))


def test_a_sample_in_files_has_all_metrics_and_survives_pickling(rng, saved):
    paths = saved(*trials(rng))
    sample = LargeSample.from_files(TrialFiles.open([([paths[0]], paths[1])]))
    whole = Sample.from_trials(Scores.read(paths[0]), Key.read(paths[1]))
    for metric in (*map(EER, ("rocch", "interpolated", "step")), AUC(), MinDCF(0.1), PmissAt(0.1)):
        assert metric.value(sample) == pytest.approx(metric.value(whole), rel=1e-13)
    copy = pickle.loads(pickle.dumps(sample))
    assert describe(Results.from_sample(copy)) == describe(Results.from_sample(sample))


@pytest.mark.parametrize(("module", "during"), [(large, "_look"), (large_sample, "_count")])
@pytest.mark.parametrize("change", ["touch", "truncate"])
def test_a_file_that_changes_is_noticed(saved, monkeypatch, module, during, change):
    """In either pass, and by the time alone."""
    paths = saved(*trials(np.random.default_rng(1)))
    work = getattr(module, during)

    def disturbed(*args: Any) -> Any:
        if change == "truncate":
            os.truncate(paths[0], paths[0].stat().st_size // 2)
        paths[0].touch()
        return work(*args)

    monkeypatch.setattr(module, during, disturbed)
    with pytest.raises(FileFormatError, match=r"scores.h5: changed while it was being read"):
        Results.from_files(*paths)


@pytest.mark.parametrize("form", ["matrices", "lists", "lists of scores", "list of trials"])
@pytest.mark.parametrize("block_rows", [None, 1, 5])
@pytest.mark.parametrize("is_key", [False, True])
def test_blocks_of_two_systems_against_dictionaries(tmp_path, form, block_rows, *, is_key):
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


@pytest.mark.parametrize("form", ["matrices", "lists"])
def test_threads_and_processes_change_nothing(rng, saved, form):
    """Not even the last bit of Cllr."""
    paths = saved(*in_form(form, *trials(rng, (60, 30), share=0.7)))
    with blocks_of(7):
        found = [Results.from_files(*paths, workers=n) for n in (1, 3)]
    with ProcessPoolExecutor(2) as executor:
        found.append(Results.from_files(*paths, executor=executor))
    assert describe(found[0]) == describe(found[1]) == describe(found[2])
    assert found[0].cllr == found[1].cllr
    assert found[2].cllr == pytest.approx(found[0].cllr, rel=1e-14)


def test_several_files_are_one_set_of_trials(rng: np.random.Generator, tmp_path: Path) -> None:
    """In float32 and float64; a file with several keys, but with each once under any name."""
    parts = [trials(rng, (10, 12), dtype=np.float32), trials(rng, (3, 50), share=0.5)]
    two, key = ["m000", "m001"], parts[0][1]
    halves = key.filter(two, [], keep=False), key.filter(two, key.segset, keep=True)
    names = [tmp_path / f"{n}.h5" for n in range(5)]
    for item, name in zip((*(part for part, _ in parts), *halves, parts[1][1]), names, strict=True):
        item.save(name)
    streamed = Results.from_files([names[0], names[0], names[1]], names[2:])
    lists = [part.get_tar_non(key) for part, key in parts]
    together = Results(*(np.concatenate(side) for side in zip(*lists, strict=True)))
    assert describe(streamed) == describe(together)
    assert streamed.cllr == pytest.approx(together.cllr, rel=1e-13)
    (row,) = evaluate({"a": [names[0], names[0], names[1]]}, names[2:], prior=0.1).to_dict()
    figures = streamed.eer, streamed.act_dcf(0.1)
    assert (row["eer"], row["act_dcf(0.1)"]) == pytest.approx(figures, rel=1e-13)
    (tmp_path / "link.h5").symlink_to(names[0])
    with pytest.raises(InvalidInputError):
        Results.from_files([names[0], tmp_path / "link.h5"], [names[2], names[2]])


def test_nan_is_counted_over_all_blocks(rng: np.random.Generator, saved: Any) -> None:
    scores, key = trials(rng, share=0.5)
    values = scores.scoremat.copy()
    values[~(key.tar | key.non)] = np.nan
    paths = saved(Scores(values, *scores.ids), key)
    assert describe(Results.from_files(*paths)) == describe(Results.from_scores(scores, key))
    bad = np.argwhere(key.tar | key.non)[[5, -1]]
    values[tuple(bad.T)] = np.nan
    paths = saved(Scores(values, *scores.ids), key)
    first = rf"2 of them, .* \({scores.modelset[bad[0, 0]]}, {scores.segset[bad[0, 1]]}\)"
    for block_rows in (None, 3):
        with pytest.raises(InvalidInputError, match=first), blocks_of(block_rows):
            Results.from_files(*paths)


@pytest.mark.parametrize(
    ("at", "name", "change", "error"),
    [
        (0, "scores", np.transpose, FileFormatError),
        (0, "ID/row_ids", lambda ids: ids[[0, *range(ids.size - 1)]], InvalidInputError),
        (1, "trial_mask", lambda labels: np.minimum(labels, 0), InvalidInputError),
        (1, "trial_mask", lambda labels: np.maximum(labels, 0), InvalidInputError),
    ],
)
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_damaged_files(rng, saved, at, name, change, error):
    paths = saved(*trials(rng))
    with edited(paths[at]) as file:
        data = change(file[name][()])
        del file[name]
        file[name] = data
    with pytest.raises(error) as caught:
        Results.from_files(*paths)
    # A key without non-targets may be an Ndx.
    assert ("Ndx" in str(caught.value)) == (name == "trial_mask" and data.min() == 0)
    paths[0].write_bytes(paths[1].read_bytes())
    with pytest.raises(FileFormatError):
        Results.from_files(*paths)


def test_arguments(rng: np.random.Generator, saved: Any, capsys: Any) -> None:
    scores, key = saved(*trials(rng))
    for options in ({"workers": 0}, {"prior": 1.5}):
        with pytest.raises(InvalidInputError):
            Results.from_files(scores, key, **options)
    for files in ([scores, scores], None, 3, [], b"scores.h5", [None]):
        with pytest.raises(InvalidInputError):
            Results.from_files(files, key)
        with pytest.raises(InvalidInputError):
            Results.from_files(scores, files)
    Results.from_files(scores, key, progress=True)
    assert capsys.readouterr().err.count("100%") >= 2


def test_what_training_asks_of_files(rng: np.random.Generator, saved: Any, tmp_path: Path) -> None:
    """Sums over blocks, in natural logarithms; trials without scores are refused."""
    scores, key = trials(rng, dtype=np.float32)
    paths = saved(scores, key)
    with blocks_of(7):
        files = TrialFiles.open([([paths[0], paths[0]], paths[1])], base=4.0)
        tar, n_non, *_ = files.first_pass(lambda x: x, "x", all_scored=True)
        sums = files.sum(lambda x: [x.sum(axis=1)], "x")
    expected, non = scores.get_tar_non(key)
    assert (n_non, tar.shape, len(sums)) == (non.size, (2, expected.size), 6)
    np.testing.assert_array_equal(np.sort(tar[1]), np.log(4.0) * np.sort(expected).astype(float))
    np.testing.assert_allclose(
        sum(sums), np.log(4.0) * non.astype(float).sum().repeat(2), rtol=1e-12
    )
    part = scores.filter(scores.modelset[1:], scores.segset, keep=True)
    part.save(tmp_path / "part.h5")
    files = TrialFiles.open([([paths[0], tmp_path / "part.h5"], paths[1])])
    with pytest.raises(TrialMismatchError, match="2 lacks 30 of 1200 trials"):
        files.first_pass(lambda x: x, "x", all_scored=True)
    with pytest.raises(InvalidInputError):
        large.open_trials([], paths[1])
    for item in (key, as_list(key)):
        item.save(tmp_path / "again.h5")
        ids = large.verified_ids(tmp_path / "again.h5", "key")
        assert [side.tolist() for side in ids] == [side.tolist() for side in key.ids]
    # All scores of the first file are trials, if none are named.
    whole = large.open_trials([paths[0]], None)
    assert sum(block.scored.astype(bool).sum() for block in whole.read(whole.cut())) == 1200
    Scores(scores.scoremat, *scores.ids, key.tar).save(tmp_path / "part.h5")
    whole = large.open_trials([tmp_path / "part.h5"], None)
    assert sum(block.labels.sum() for block in whole.read(whole.cut())) == key.n_tar
    assert whole.missing(sum(block.counts() for block in whole.read(whole.cut()))) == []
    spoofed = Key.from_trials(["m", "m", "m"], ["a", "b", "c"], ["target", "nontarget", "spoof"])
    spoofed.save(tmp_path / "spoofs.h5")
    with pytest.raises(FileFormatError):
        large.open_trials([paths[0]], tmp_path / "spoofs.h5", is_key=True)
    as_list(spoofed.to_ndx()).save(tmp_path / "ndx.h5")
    assert large.read_list(tmp_path / "ndx.h5") == spoofed.to_ndx()
