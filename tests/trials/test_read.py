"""Keys, trials, scores and systems as users give them: files of any format, lists, mappings."""

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bosaris_py import IdMap, Key, Ndx, Scores, SegmentQuality
from bosaris_py.errors import FileFormatError, InvalidInputError, MissingTrialsWarning
from bosaris_py.trials import are_large, read, read_any, read_key, read_scores, read_trials
from bosaris_py.trials.read import scores_and_faults, scores_and_labels
from tests.forms import as_list

MODELS, SEGMENTS = ["m1", "m2"], ["s1", "s2", "s3"]
TAR = np.array([[True, False, False], [False, True, False]])
KEY = Key(MODELS, SEGMENTS, TAR, ~TAR)
SCORES = Scores(np.arange(6.0).reshape(2, 3) / 3, MODELS, SEGMENTS)
OBJECTS = {"ndx": KEY.to_ndx(), "key": KEY, "scores": SCORES}
OBJECTS |= {f"flat {name}": as_list(item) for name, item in OBJECTS.items()}
OBJECTS |= {"quality": SegmentQuality(SEGMENTS, [[1.0, 2.0, 3.0]])}
OBJECTS |= {"map": IdMap(MODELS, ["anna", "bert"])}


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("form", ["hdf5", "mat"])
def test_content_tells_the_class_whatever_the_name(tmp_path: Path, name: str, form: str) -> None:
    found = OBJECTS[name]
    path = tmp_path / "file.dat"
    getattr(found, f"save_{form}")(path)
    again = read_any(path)
    assert type(again) is type(found)
    assert again == found


@pytest.mark.parametrize("suffix", [".h5", ".mat", ".txt"])
def test_key_scores_and_trials_of_any_format(tmp_path: Path, suffix: str) -> None:
    for name in ("key", "scores", "ndx", "map"):
        OBJECTS[name].save(tmp_path / f"{name}{suffix}")
    assert read_key(tmp_path / f"key{suffix}") == KEY
    assert read_scores(tmp_path / f"scores{suffix}") == SCORES
    assert read_trials(tmp_path / f"ndx{suffix}") == KEY.to_ndx()
    if suffix == ".h5":
        wrong = [(read_key, "scores"), (read_scores, "key"), (read_trials, "scores")]
        for reader, name in [*wrong, (read_scores, "map")]:
            with pytest.raises(FileFormatError, match=r"expected .* holds"):
                reader(tmp_path / f"{name}.h5")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_pipes_lose_nothing(tmp_path: Path) -> None:
    """Such as ``<(zcat key.gz)`` in a shell: what was looked at cannot be read again."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("m1 s1 target\nm1 s2 nontarget\n",))
    writer.start()
    key = read_key(path)
    writer.join()
    assert key == Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False])


def test_large_are_hdf5_files_above_a_tenth_of_memory(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "scores.h5"
    SCORES.save(path)
    assert not are_large([path])
    monkeypatch.setattr(read, "half_of_memory", lambda: 5 * path.stat().st_size)
    assert not are_large([path])
    shutil.copy(path, tmp_path / "copy.h5")
    assert are_large([path, tmp_path / "copy.h5"])
    SCORES.save(tmp_path / "scores.txt")
    assert not are_large([path, tmp_path / "scores.txt"])


# Texts

Write = Callable[[str], Path]

NIST_KEY = """modelid\tsegmentid\tside\ttargettype\tgender
m2\ts1\ta\ttarget\tf
m1\ts2\ta\tnontarget\tm
m1\ts1\tb\ttarget\tm
"""
LINES = "m2 s1 3.5\nm1 s2 -1.0\nm1 s1 0.5\n"


@pytest.fixture
def write(tmp_path: Path) -> Write:
    path = tmp_path / "a.txt"
    return lambda content: (path.write_text(content), path)[1]


def test_key_and_metadata_in_one_order(write: Write) -> None:
    key = read_key(write(NIST_KEY))
    # Column by column: (m1, s1), (m2, s1), (m1, s2).
    assert key.is_target.tolist() == [True, True, False]
    assert key.columns.factor("gender").values().tolist() == ["m", "f", "m"]
    assert key.columns.factor("side").values().tolist() == ["b", "a", "a"]
    assert read_trials(write(NIST_KEY)) == key.to_ndx()
    tar, non = read_scores(write(LINES)).get_tar_non(key)
    assert (tar.tolist(), non.tolist()) == ([0.5, 3.5], [-1.0])
    assert scores_and_labels(write(LINES)) == (read_scores(write(LINES)), None)
    labelled = write("m2 s1 3.5 target\nm1 s2 -1.0 nontarget\nm1 s1 0.5 target\n")
    _, own = scores_and_labels(labelled, columns="model segment score label")
    assert own.labels.tolist() == key.labels.tolist()


def test_lines_repeated_with_the_same_content_and_without_a_score(write: Write) -> None:
    with pytest.warns(MissingTrialsWarning, match=r"left out: 1 trial: \(m1, s1\)"):
        key = read_key(write(NIST_KEY + "m1\ts1\tb\ttarget\tm\n"))
    assert key.n_trials == 3
    with pytest.warns(MissingTrialsWarning):
        scores = read_scores(write(LINES + "m1 s2 -1\n"))
    assert scores.to_ndx() == key.to_ndx()
    with pytest.warns(MissingTrialsWarning, match="1 of 2 lines"):
        assert read_scores(write("m1 s1 1.5\nm2 s1\n")).modelset.tolist() == ["m1"]


def lines_of(template: str, header: str = "") -> str:
    """Six trials of three models, by turns targets, with ranks, genders and another 0 or 1."""
    rows = ([1001 + j // 2, j, 0.5 - j, j % 2, j // 3, "mfm"[j // 2]] for j in range(6))
    lines = (template.format(*row, ("same", "diff", "sibling")[row[1] % 3]) for row in rows)
    return "\n".join([header] * bool(header) + [*lines, ""])


BAD: list[tuple[Callable[..., Any], str, str]] = [
    (read_key, NIST_KEY + "m1\ts1\tb\tnontarget\tm\n", r":5: trial m1 s1 .* label"),
    (read_key, NIST_KEY + "m1\ts1\ta\ttarget\tm\n", r":5: trial m1 s1 .* side"),
    (read_trials, NIST_KEY + "m1\ts1\tb\ttarget\tf\n", r":5: trial m1 s1 .* gender"),
    (read_scores, LINES + "m1 s1 0.25\n", r":4: trial m1 s1 .* is 0.25 here and 0.5 in line 3"),
    (read_key, LINES, "has no labels, so it is no key"),
    (read_scores, "1 a b\n0 a c\n", r"has no scores; is it a key\?$"),
    (read_scores, "a 12 target\na 13 nontarget\n", r"has no scores; is it a key\?$"),
    (read_scores, lines_of("s{0} u{1} {1} {2}"), "'model,segment,-,score'"),
    (read_scores, lines_of("{0} Q0 {5} tb{1} {1} {2} run"), "'model,-,gender,segment,-,score,-'"),
    (read_key, lines_of("s{0} u{1} {3} {5}"), "'model,segment,label,gender'"),
    (read_key, lines_of("s{0} u{1} {3} {4}"), "model,segment,label,-' or .*model,segment,-,label'"),
    (read_key, lines_of("s{0} u{1} {6}"), "labels='diff=nontarget,same=target,sibling=drop'"),
    (read_key, lines_of("{1},{6}", "file,label"), "use labels='diff=nontarget,same=target,sibling"),
    (read_scores, lines_of("{1},{2},{3}", "file,spoof_score,label"), "spoof_score' if it is high"),
    (read_scores, lines_of("{1},{2},{2}", "file,score,llr"), "score=score' or .*score=llr'"),
    (read_key, lines_of("{1},{3},{4}", "file,label,target"), "'label=label' or .*'label=target'"),
    (read_key, lines_of("{1},{3},{4}", "file,match,expected"), "label=match' or .*label=expected'"),
    (read_key, lines_of("{1},{3}", "file,not_same"), "label=not_same' and labels='0=target"),
    (read_scores, lines_of("x{0},u{1},{2},{3}", "a,b,score,label"), "'model=a,segment=b,score="),
    (read_scores, ",score\n7,0.5\n3,1.5\n5,2.5\n", "columns='segment,score'"),
    (read_scores, "genuine,impostor\n1.5,0.5\n2.5,-1\n", "are columns of scores"),
    (read_scores, "1.5 2.5 3.5\n", "has 3 numbers; write each in a line"),
]


@pytest.mark.parametrize(("reader", "content", "message"), BAD)
def test_bad_files(reader: Callable[..., Any], content: str, message: str, write: Write) -> None:
    with pytest.raises(FileFormatError, match=message):
        reader(write(content))


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
@pytest.mark.parametrize("missing", ["none", ["none"], ("-", "none")])
def test_words_for_no_score(missing: Any, write: Write) -> None:
    """Lines without a score, of a trial again, and again with another score are told apart."""
    lines = ["model,segment,score", "m,s,1.5", "m,t,none", "m,u,nan"]
    more = [*lines, "m,s,1.5", "m,v,2.5", "m,v,3.5"]
    scores, faults = scores_and_faults(write("\n".join([*more, ""])), missing=missing)
    assert scores.get_scores(Ndx(["m"], ["s", "v"])).tolist() == [1.5, 2.5]
    assert [fault.split()[0] for fault in faults] == ["2", "1", "1"]
    # A column that is told is none of what its name says.
    assert read_scores(write("id,label\nx,0.5\n"), columns="score=label").n_trials == 1
    plain = write("\n".join([*lines[:3], ""]))
    assert read_scores(plain, missing=missing).segset.tolist() == ["s"]
    scores, faults = scores_and_faults(plain, missing=missing)
    assert (scores.segset.tolist(), len(faults)) == (["s"], 1)


# Systems


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (SCORES, ["system"]),
        ({"a": SCORES, "b": "c.h5"}, ["a", "b"]),
        (Path("x/c.txt.gz"), ["c"]),
        ((SCORES, "c.h5", Path("d/c.h5"), "e.txt"), ["system 1", "c", "system 3", "e"]),
    ],
)
def test_names_of_systems(given: Any, names: list[str]) -> None:
    assert list(read.named_systems(given)) == names
    for wrong in (KEY, 3, [], {"": SCORES}, {1: SCORES}, {"a": KEY}):
        with pytest.raises(InvalidInputError):
            read.named_systems(wrong)


def test_systems_in_files(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", ".hidden"):
        SCORES.save_txt(tmp_path / name)
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert read.files_of(tmp_path) == read.files_of(tmp_path / "*.txt") == files
    assert read.files_of(tmp_path / "c.txt") == [tmp_path / "c.txt"]
    for name in ("*.csv", "empty"):
        (tmp_path / "empty").mkdir(exist_ok=True)
        with pytest.raises(InvalidInputError):
            read.files_of(tmp_path / name)
    assert read.as_systems([files[0], SCORES]) == {"a": SCORES, "system 2": SCORES}
    KEY.save(tmp_path / "key.h5")
    assert read.read_if_path(tmp_path / "key.h5") == read.read_if_path(KEY) == KEY
    # Files of text, and small ones, are read whole.
    for systems, key in ((files, tmp_path / "key.h5"), (SCORES, KEY), (files, KEY)):
        assert read.large_files(systems, key) == ()
