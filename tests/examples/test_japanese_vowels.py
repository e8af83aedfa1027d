"""The score files of examples/japanese_vowels, and the script that makes them.

The committed files are looked at with h5py alone, and what they must hold is
derived here from the names of models and segments as the README of that folder
documents them, so nothing of the script or of the package judges itself.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from bosaris_py.trials import Key, Scores

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "japanese_vowels"
PARTS = ("dev", "eval")
SYSTEMS = ("gaussian", "cosine")
FILES = sorted(
    [f"{part}_{kind}.h5" for part in PARTS for kind in ("key", "ndx", "frames")]
    + [f"{part}_scores_{system}.h5" for part in PARTS for system in SYSTEMS]
    + ["model_frames.h5", "model_speakers.h5", "segment_speakers.h5"]
)

# From the description of the corpus in the UCI repository.
TRAIN_UTTERANCES = [30] * 9
TEST_UTTERANCES = [31, 35, 88, 44, 29, 24, 40, 50, 29]


def datasets(path: Path) -> dict[str, np.ndarray]:
    """Return every data set of an HDF5 file by its path in the file."""
    found: dict[str, np.ndarray] = {}

    def collect(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]

    with h5py.File(path, "r") as file:
        file.visititems(collect)
    return found


def ids(values: np.ndarray) -> list[str]:
    return [value.decode() for value in values]


def parse_model(name: str) -> tuple[int, int]:
    """Return speaker and group of a model id."""
    match = re.fullmatch(r"spk(\d)-m(\d\d)", name)
    assert match, name
    return int(match[1]), int(match[2])


def parse_segment(name: str) -> tuple[str, int, int]:
    """Return part of the corpus, speaker and utterance number of a segment id."""
    match = re.fullmatch(r"(train)-spk(\d)-u(\d\d)|(test)-spk(\d)-u(\d\d\d)", name)
    assert match, name
    part, speaker, number = (group for group in match.groups() if group)
    return part, int(speaker), int(number)


def documented_label(model: str, segment: str) -> int:
    """Return 1 for a target, -1 for a non-target, 0 for no trial, by the README."""
    speaker, group = parse_model(model)
    part, other, number = parse_segment(segment)
    if part == "train" and 3 * group - 2 <= number <= 3 * group:
        return 0
    return 1 if speaker == other else -1


def naive_error_rates(tar: np.ndarray, non: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Miss and false-alarm rate at each target score as threshold, by comparing."""
    thresholds = np.unique(tar)
    pmiss = np.array([np.mean(tar < threshold) for threshold in thresholds])
    pfa = np.array([np.mean(non >= threshold) for threshold in thresholds])
    return pmiss, pfa


def naive_eer(tar: np.ndarray, non: np.ndarray) -> float:
    """Mean of the two error-rates where they are nearest to each other."""
    pmiss, pfa = naive_error_rates(tar, non)
    nearest = np.argmin(np.abs(pmiss - pfa))
    return float(pmiss[nearest] + pfa[nearest]) / 2


def tar_non(part: str, system: str) -> tuple[np.ndarray, np.ndarray]:
    labels = datasets(FOLDER / f"{part}_key.h5")["trial_mask"]
    scores = datasets(FOLDER / f"{part}_scores_{system}.h5")["scores"].astype(np.float64)
    return scores[labels > 0], scores[labels < 0]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """Import make_scores.py, which is not in a package, from its file."""
    spec = importlib.util.spec_from_file_location("make_scores", FOLDER / "make_scores.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def corpora(script: ModuleType, rng: np.random.Generator) -> tuple[Any, Any]:
    """Random utterances of three speakers, nine to train and four to test each."""

    def draw(count: int) -> Any:
        speakers = np.repeat([1, 2, 3], count)
        frames = [
            speaker + rng.normal(size=(rng.integers(5, 12), 4)) @ np.diag([1.0, 2.0, 0.5, 3.0])
            for speaker in speakers
        ]
        return script.Utterances(frames, speakers)

    return draw(9), draw(4)


def test_the_folder_holds_the_documented_files():
    assert sorted(path.name for path in FOLDER.glob("*.h5")) == FILES
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [name for name in FILES if f"`{name}`" not in readme] == []


def test_the_files_are_small():
    assert sum((FOLDER / name).stat().st_size for name in FILES) < 1_500_000


@pytest.mark.parametrize("name", ["README.md", "LICENSE.txt"])
@pytest.mark.parametrize("needed", ["Kudo", "Toyama", "Shimbo", "10.24432/C5NS47", "CC BY 4.0"])
def test_source_and_licence_are_named(name, needed):
    assert needed in (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("part", "counts"), [("dev", TRAIN_UTTERANCES), ("eval", TEST_UTTERANCES)])
def test_ids_count_models_and_utterances_of_each_speaker(part, counts):
    key = datasets(FOLDER / f"{part}_key.h5")
    models = [parse_model(name) for name in ids(key["ID/row_ids"])]
    segments = [parse_segment(name) for name in ids(key["ID/column_ids"])]
    assert models == [(s, m) for s in range(1, 10) for m in range(1, 11)]
    own_part = "train" if part == "dev" else "test"
    assert segments == [
        (own_part, s, u) for s, count in enumerate(counts, 1) for u in range(1, count + 1)
    ]


@pytest.mark.parametrize(("part", "n_tar", "n_non"), [("dev", 2430, 19440), ("eval", 3700, 29600)])
def test_keys_follow_from_the_names(part, n_tar, n_non):
    key = datasets(FOLDER / f"{part}_key.h5")
    segments = ids(key["ID/column_ids"])
    expected = [[documented_label(m, s) for s in segments] for m in ids(key["ID/row_ids"])]
    np.testing.assert_array_equal(key["trial_mask"], expected)
    assert np.count_nonzero(key["trial_mask"] == 1) == n_tar
    assert np.count_nonzero(key["trial_mask"] == -1) == n_non


@pytest.mark.parametrize("part", PARTS)
def test_index_and_scores_have_the_trials_of_the_key(part):
    key = datasets(FOLDER / f"{part}_key.h5")
    others = {"ndx": "trial_mask"} | {f"scores_{system}": "score_mask" for system in SYSTEMS}
    for kind, mask in others.items():
        content = datasets(FOLDER / f"{part}_{kind}.h5")
        np.testing.assert_array_equal(content[mask], np.abs(key["trial_mask"]))
        for which in ("ID/row_ids", "ID/column_ids"):
            assert ids(content[which]) == ids(key[which])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_scores_lie_on_their_grid(part, system):
    content = datasets(FOLDER / f"{part}_scores_{system}.h5")
    scores = content["scores"]
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()
    assert not scores[content["score_mask"] == 0].any()
    on_grid = np.round(scores.astype(np.float64), 5).astype(np.float32)
    np.testing.assert_array_equal(scores, on_grid)
    # Ties are rare, so the trials are ranked by more than the grid.
    assert np.unique(scores).size > 0.8 * np.count_nonzero(content["score_mask"])
    if system == "cosine":
        assert np.abs(scores).max() <= 1.0


# The README gives 11.0 % and 9.7 % for eval; dev, whose background has fewer
# utterances, is no better. The ranges catch a wrong key, a flipped
# sign, shuffled columns, and a dev set that was flattered by leakage.
@pytest.mark.parametrize(
    ("part", "system", "low", "high"),
    [
        ("dev", "gaussian", 0.11, 0.15),
        ("eval", "gaussian", 0.10, 0.12),
        ("dev", "cosine", 0.09, 0.11),
        ("eval", "cosine", 0.09, 0.11),
    ],
)
def test_equal_error_rates_are_plausible(part, system, low, high):
    assert low < naive_eer(*tar_non(part, system)) < high


def test_the_systems_complement_each_other():
    """Adding both scores, scaled by their spread on dev, beats either on eval."""
    fused_tar: Any = 0.0
    fused_non: Any = 0.0
    single = []
    for system in SYSTEMS:
        spread = np.concatenate(tar_non("dev", system)).std()
        tar, non = tar_non("eval", system)
        fused_tar = fused_tar + tar / spread
        fused_non = fused_non + non / spread
        single.append(naive_eer(tar, non))
    assert naive_eer(fused_tar, fused_non) < min(single) - 0.005


def test_frame_counts_agree_with_each_other():
    models = datasets(FOLDER / "model_frames.h5")
    dev = datasets(FOLDER / "dev_frames.h5")
    evaluation = datasets(FOLDER / "eval_frames.h5")
    for segments, part in ((dev, "dev"), (evaluation, "eval")):
        assert segments["values"].dtype == np.float64
        # 7 to 29 frames, from the description of the corpus
        assert segments["values"].min() >= 7
        assert segments["values"].max() <= 29
        assert ids(segments["ids"]) == ids(datasets(FOLDER / f"{part}_key.h5")["ID/column_ids"])
    by_segment = dict(zip(ids(dev["ids"]), dev["values"][0], strict=True))
    for name, frames in zip(ids(models["ids"]), models["values"][0], strict=True):
        speaker, group = parse_model(name)
        enrolment = range(3 * group - 2, 3 * group + 1)
        assert frames == sum(by_segment[f"train-spk{speaker}-u{u:02d}"] for u in enrolment)


def test_id_maps_name_the_speakers():
    models = datasets(FOLDER / "model_speakers.h5")
    left = ids(models["left_ids"])
    assert left == ids(datasets(FOLDER / "eval_key.h5")["ID/row_ids"])
    assert ids(models["right_ids"]) == [f"spk{parse_model(name)[0]}" for name in left]
    segments = datasets(FOLDER / "segment_speakers.h5")
    left = ids(segments["left_ids"])
    columns = [ids(datasets(FOLDER / f"{part}_key.h5")["ID/column_ids"]) for part in PARTS]
    assert left == columns[0] + columns[1]
    assert ids(segments["right_ids"]) == [f"spk{parse_segment(name)[1]}" for name in left]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_package_reads_the_same_trials(part, system):
    scores = Scores.read(FOLDER / f"{part}_scores_{system}.h5")
    key = Key.read(FOLDER / f"{part}_key.h5")
    for found, expected in zip(scores.get_tar_non(key), tar_non(part, system), strict=True):
        np.testing.assert_array_equal(np.sort(found), np.sort(expected))


def test_utterances_are_numbered_within_speakers(script):
    frames = [np.zeros((2, 1))] * 9
    utterances = script.Utterances(frames, [4, 4, 2, 4, 4, 2, 4, 4, 4])
    np.testing.assert_array_equal(utterances.numbers, [1, 2, 1, 3, 4, 2, 5, 6, 7])
    np.testing.assert_array_equal(utterances.groups, [1, 1, 1, 1, 2, 1, 2, 2, 3])
    np.testing.assert_array_equal(
        script.segment_ids(utterances.select(utterances.speakers == 2), "test"),
        ["test-spk2-u001", "test-spk2-u002"],
    )


def test_models_are_enrolled_with_three_utterances_each(script, corpora):
    train, _ = corpora
    models = script.Models.enrol(train)
    np.testing.assert_array_equal(models.speakers, np.repeat([1, 2, 3], 3))
    np.testing.assert_array_equal(models.groups, np.tile([1, 2, 3], 3))
    flat = [utterance for own in models.enrolments for utterance in own]
    assert all(a is b for a, b in zip(flat, train.frames, strict=True))
    assert models.lengths.sum() == train.lengths.sum()


def test_log_density_is_that_of_a_normal_distribution(script, rng):
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    gaussian = script.Gaussian(np.array([1.0, -1.0]), covariance)
    frames = rng.normal(size=(20, 2))
    expected = multivariate_normal([1.0, -1.0], covariance).logpdf(frames)
    # Same formula through another factorisation of a well-conditioned matrix.
    np.testing.assert_allclose(gaussian.log_density(frames), expected, rtol=1e-12)


def test_adaptation_interpolates_raw_moments(script, rng):
    """The textbook form: a E[x] + (1 - a) mu, and the same for second moments."""
    prior = script.Gaussian.fit(rng.normal(size=(50, 3)))
    frames = 1.0 + rng.normal(size=(12, 3))
    adapted = prior.adapt(frames, relevance=4.0)
    weight = 12 / 16
    mean = weight * frames.mean(axis=0) + (1 - weight) * prior.mean
    second = weight * frames.T @ frames / 12 + (1 - weight) * (
        prior.covariance + np.outer(prior.mean, prior.mean)
    )
    np.testing.assert_allclose(adapted.mean, mean, rtol=1e-12)
    # The textbook form subtracts numbers near 2, which costs an absolute 1e-15.
    np.testing.assert_allclose(adapted.covariance, second - np.outer(mean, mean), atol=1e-13)


def test_adaptation_without_a_prior_is_maximum_likelihood(script, rng):
    prior = script.Gaussian(np.zeros(2), np.eye(2))
    frames = rng.normal(size=(9, 2))
    adapted = prior.adapt(frames, relevance=0.0)
    np.testing.assert_allclose(adapted.mean, frames.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(adapted.covariance, np.cov(frames.T, bias=True), rtol=1e-12)


@pytest.mark.parametrize("system", SYSTEMS)
def test_scores_do_not_depend_on_the_units_of_the_cepstra(script, corpora, rng, system):
    """Both scores are invariant to any invertible affine map of the frames."""
    train, test = corpora
    models = script.Models.enrol(train)
    matrix = rng.normal(size=(4, 4)) + 3.0 * np.eye(4)

    def mapped(utterances: Any) -> Any:
        frames = [utterance @ matrix + 5.0 for utterance in utterances.frames]
        return script.Utterances(frames, utterances.speakers)

    score = script.SYSTEMS[system]
    expected = score(train, models, test)
    found = score(mapped(train), script.Models.enrol(mapped(train)), mapped(test))
    assert found.shape == (9, 12)
    # Condition number of the map times the rounding unit, with room.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_a_model_of_the_test_utterance_itself_has_cosine_one(script, corpora):
    train, _ = corpora
    models = script.Models(np.array([1]), np.array([1]), ((train.frames[5],),))
    scores = script.cosine_scores(train, models, train)
    assert scores[0, 5] == pytest.approx(1.0, abs=1e-14)
    assert np.abs(scores).max() <= 1.0 + 1e-14
    assert np.argmax(scores) == 5


@pytest.mark.parametrize("system", SYSTEMS)
def test_dev_scores_do_not_know_the_test_utterances(script, corpora, system):
    """Replacing one utterance leaves the scores of all others of its group alone."""
    train, _ = corpora
    models = script.Models.enrol(train)
    before = script.dev_scores(script.SYSTEMS[system], models, train)
    frames = list(train.frames)
    frames[1] = frames[1] * 7.0 + 100.0
    spoilt = script.Utterances(frames, train.speakers)
    after = script.dev_scores(script.SYSTEMS[system], script.Models.enrol(spoilt), spoilt)
    same_group = (train.groups == 1) & (np.arange(27) != 1)
    np.testing.assert_array_equal(before[:, same_group], after[:, same_group])
    assert (before[:, train.groups == 2] != after[:, train.groups == 2]).any()
    np.testing.assert_array_equal(before != 0, script.dev_mask(models, train))


def test_grid_has_five_decimals_and_no_negative_zero(script):
    grid = script.on_grid(np.array([1.2345649, -0.000004, -2.5, 1 / 3]))
    assert grid.dtype == np.float32
    np.testing.assert_array_equal(grid, np.array([1.23456, 0.0, -2.5, 0.33333], dtype=np.float32))
    assert not np.signbit(grid[1])


def test_the_script_explains_what_is_missing(script, monkeypatch):
    # An entry of None makes the import fail whether or not aeon is installed.
    monkeypatch.setitem(sys.modules, "aeon.datasets", None)
    with pytest.raises(SystemExit, match=r"bosaris_py\[examples\]"):
        script.load_utterances("train")


@pytest.mark.skipif(importlib.util.find_spec("aeon") is None, reason="aeon is not installed")
def test_the_script_reproduces_the_files_to_the_last_bit(tmp_path):
    command = [sys.executable, str(FOLDER / "make_scores.py"), "--output", str(tmp_path)]
    subprocess.run([*command, "--quiet"], check=True, cwd=ROOT, timeout=300)
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
    for name in FILES:
        made, committed = datasets(tmp_path / name), datasets(FOLDER / name)
        assert made.keys() == committed.keys()
        for which, values in committed.items():
            assert made[which].dtype == values.dtype
            assert made[which].shape == values.shape
            assert made[which].tobytes() == values.tobytes(), f"{name}: {which}"
