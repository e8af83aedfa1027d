"""The score files of examples/japanese_vowels, and the script that makes them.

What they must hold is derived from the names of models and segments, by h5py alone.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bosaris_py import Key, Scores, eer

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "japanese_vowels"
PARTS = ("dev", "eval")
SYSTEMS = ("gaussian", "cosine")
FILES = {f"{part}_{kind}.h5" for part in PARTS for kind in ("key", "ndx", "frames")}
FILES |= {f"{part}_scores_{system}.h5" for part in PARTS for system in SYSTEMS}
FILES |= {"model_frames.h5", "model_speakers.h5", "segment_speakers.h5"}
# Of what has trials: the data set of its mask.
KINDS = {"ndx": "trial_mask"} | {f"scores_{system}": "score_mask" for system in SYSTEMS}

# From the description of the corpus in the UCI repository.
TRAIN_UTTERANCES, TEST_UTTERANCES = [30] * 9, [31, 35, 88, 44, 29, 24, 40, 50, 29]


def datasets(path: Path) -> dict[str, np.ndarray]:
    """Return every data set of an HDF5 file by its path in the file."""
    found: dict[str, Any] = {}
    with h5py.File(path, "r") as file:
        file.visititems(found.__setitem__)
        return {name: x[()] for name, x in found.items() if isinstance(x, h5py.Dataset)}


def ids(values: np.ndarray) -> list[str]:
    return [value.decode() for value in values]


def parse_model(name):
    """Return speaker and group of a model id, spk1-m01."""
    return tuple(map(int, re.fullmatch(r"spk(\d)-m(\d\d)", name).groups()))


def parse_segment(name):
    """Return part of the corpus, speaker and utterance number of a segment id, test-spk1-u001."""
    part, speaker, number = re.fullmatch(r"(train|test)-spk(\d)-u(\d{2,3})", name).groups()
    return part, int(speaker), int(number)


def documented_label(model, segment):
    """Return 1 for a target, -1 for a non-target, 0 for no trial, by the README."""
    speaker, group = parse_model(model)
    part, other, number = parse_segment(segment)
    if part == "train" and 3 * group - 2 <= number <= 3 * group:
        return 0
    return 1 if speaker == other else -1


@pytest.mark.parametrize(
    ("part", "counts", "n_tar", "n_non"),
    [("dev", TRAIN_UTTERANCES, 2430, 19440), ("eval", TEST_UTTERANCES, 3700, 29600)],
)
def test_keys_follow_from_the_names(part, counts, n_tar, n_non):
    """The index and the scores have the trials of the key; the package reads the same."""
    key = datasets(FOLDER / f"{part}_key.h5")
    models, segments = ids(key["ID/row_ids"]), ids(key["ID/column_ids"])
    assert [*map(parse_model, models)] == [(s, m) for s in range(1, 10) for m in range(1, 11)]
    of = "train" if part == "dev" else "test"
    numbers = [(of, s, u) for s, count in enumerate(counts, 1) for u in range(1, count + 1)]
    assert [*map(parse_segment, segments)] == numbers
    expected = np.array([[documented_label(m, s) for s in segments] for m in models])
    np.testing.assert_array_equal(key["trial_mask"], expected)
    assert (np.sum(expected == 1), np.sum(expected == -1)) == (n_tar, n_non)
    for kind, mask in KINDS.items():
        content = datasets(FOLDER / f"{part}_{kind}.h5")
        np.testing.assert_array_equal(content[mask], np.abs(expected))
        for which in ("ID/row_ids", "ID/column_ids"):
            assert ids(content[which]) == ids(key[which])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_scores(part, system):
    path, key = FOLDER / f"{part}_scores_{system}.h5", Key.read(FOLDER / f"{part}_key.h5")
    # The README gives 11.0 % and 9.7 % for eval. The ranges catch a wrong key, a flipped sign,
    # shuffled columns, and a dev set that was flattered by leakage.
    rate = eer(*Scores.read(path).get_tar_non(key), definition="step")
    assert 0.09 < rate < (0.15 if part == "dev" else 0.12)
    content = datasets(path)
    scores = content["scores"]
    assert scores.dtype == np.float32
    assert not scores[content["score_mask"] == 0].any()
    np.testing.assert_array_equal(scores, np.round(scores.astype(np.float64), 5).astype("f4"))
    # Ties are rare, so the trials are ranked by more than the grid.
    assert np.unique(scores).size > 0.8 * np.count_nonzero(content["score_mask"])
    assert system != "cosine" or np.abs(scores).max() <= 1.0


@pytest.mark.skipif(importlib.util.find_spec("aeon") is None, reason="aeon is not installed")
def test_the_script_reproduces_the_files_to_the_last_bit(tmp_path):
    command = [sys.executable, str(FOLDER / "make_scores.py"), "--output", str(tmp_path)]
    subprocess.run([*command, "--quiet"], check=True, cwd=ROOT, timeout=300)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    for name in FILES:
        made, committed = datasets(tmp_path / name), datasets(FOLDER / name)
        assert made.keys() == committed.keys()
        for which, values in committed.items():
            assert made[which].dtype == values.dtype
            assert made[which].tobytes() == values.tobytes(), f"{name}: {which}"
