"""Files as people have them: each is read rightly, or refused with what to type.

The files of ``tests/reference/cases/python``, most of which the command reads in its own test, are
after public reports; those of `ONE`, `TWO` and `LISTS` are written by the test.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.trials.read import read_answers, read_any, read_numbers

CASES = Path(__file__).parents[1] / "reference" / "cases" / "python"


def typed(read: Callable[..., Any], path: Path, **options: Any) -> Any:
    """Read a file as it is or, if that is refused, with the first options that the error names."""
    try:
        return read(path, **options)
    except FileFormatError as error:
        text = str(error)
    assert len(text) < len(str(path)) + 260
    told = dict(re.findall(r"(columns|labels|missing)='([^']*)'", text)[::-1])
    assert told.keys() - options.keys(), text
    return typed(read, path, **{**told, **options})


def classes(scores: Path, key: Path) -> tuple[list[float], list[float]]:
    """The scores of both classes, sorted."""
    tar, non = typed(bp.read_scores, scores).get_tar_non(typed(bp.read_key, key))
    return sorted(tar.tolist()), sorted(non.tolist())


def test_lines_without_ids_meet_no_ids_that_are_numbers(tmp_path: Path) -> None:
    """Which number a line has, and in which order a list is, nothing tells; ids are not ignored."""
    (bare := tmp_path / "s.txt").write_text("1.5\n-2.5\n0.5\n")
    (named := tmp_path / "n.txt").write_text("2 1.5\n3 -2.5\n1 0.5\n")
    (key := tmp_path / "k.txt").write_text("2 bonafide\n3 spoof\n1 bonafide\n")
    with pytest.raises(TrialMismatchError) as caught:
        bp.evaluate(bp.read_scores(bare), bp.read_key(key))
    assert caught.value.option == "--scores-in-order"
    assert read_answers(bare, key).get_tar_non(bp.read_key(key))[1].tolist() == [-2.5]
    with pytest.raises(FileFormatError, match="has ids of the list"):
        read_answers(named, key)


@pytest.mark.filterwarnings("ignore:5 speakers")
def test_an_end_above_the_cost_without_detector_is_not_told() -> None:
    """Of five speakers, 9 of 10 targets missed; a cost that is not normalized has another bound."""
    scores, key = bp.read_scores(CASES / "c03_scores.txt"), bp.read_key(CASES / "c03_protocol.txt")
    told = [
        str(bp.evaluate(scores, key, speakers="speaker", normalize=normalize))
        for normalize in (True, False)
    ]
    assert re.search(r"0\.9000 \[0\.\d{4}, > 1\]", told[0])
    assert "> 1" not in told[1]


# Eight trials: two models, four segments.
SCORES = [2.5, -0.5, 1.25, -3.0, 0.75, -1.0, 3.5, -2.25]
IS_TARGET = [True, False, True, False, False, True, True, False]
ROWS = [
    {"i": i, "m": f"m{i % 2}", "u": f"u{i:02}", "x": x, "y": int(y), "d": float(y)}
    for i, (x, y) in enumerate(zip(SCORES, IS_TARGET, strict=True))
]
TRIALS = sorted(zip(SCORES, IS_TARGET, strict=True))
RIGHT = [x for x, y in TRIALS if y], [x for x, y in TRIALS if not y]


def text_of(header: str, line: str, words: str = "target|nontarget") -> str:
    """A text with a line for each trial; `w` is its label in words."""
    target, other = words.split("|")
    rows = [line.format(**row, w=target if row["y"] else other) for row in ROWS]
    return "".join(f"{row}\n" for row in ([header] if header else []) + rows)


# Scores and labels in one file: header, line, words of labels.
ONE: list[tuple[str, ...]] = [
    ("score,label", "{x},{y}"),
    ("label,score", "{y},{x}"),
    ("Score;Label", "{x};{w}"),
    ("label\tllr", "{d}\t{x}"),
    ("filename,score,label", "{u}.wav,{x},{w}", "bonafide|spoof"),
    ("file|cm_score|cm_label", "{u}|{x}|{w}", "real|fake"),
    ("enroll,test,label,cosine", "{m},{u},{y},{x}"),
    ("utt1 utt2 score same", "{m} {u} {x} {y}"),
    ("Label,LR", "{w},{x}", "SS|DS"),
    ("Label,LR", "{w},{x}", "A|B"),
    ('"model","segment","label","score"', '"{m}","{u}","{w}","{x}"'),
    (",speaker,filename,label,score", "{i},{m},{u},{w},{x}", "bonafide|spoof"),
    ("# score label", "{x} {y}"),
    ("foo,bar", "{x},{w}", "same|different"),
    ("", "{x} {y}"),
    ("", "{y} {x}"),
    ("", "{w} {x}", "same|different"),
    ("", "{x}\t{w}", "mated|non-mated"),
    ("", "{x} {w}", "Target|NonTarget"),
    ("", "{x} {w}", "1|2"),
    ("", "{u} {x} {w}", "real|fake"),
    ("", "{u} {w} {x}", "genuine|spoof"),
    ("", "{m} {u} {x} {w}", "same|different"),
    ("", "{m} {u} {d} {x}"),
    ("", "{m}, {u}, {y}, {x}"),
    ("", "{m} {u} {w} {x}", "1|2"),
]


@pytest.mark.parametrize("case", ONE, ids=str)
def test_scores_beside_labels(case: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text_of(*case))
    assert classes(path, path) == RIGHT
    assert "trials" not in repr(typed(read_any, path, spoof="nontarget"))


# Scores and a key, of which one may have no models, or a header.
TWO = [
    ("a,b,score", "{m},{u},{x}", "", "{m} {u} {w}", "target|nontarget"),
    ("filename,score", "{u},{x}", "filename,label", "{u},{w}", "bonafide|spoof"),
    ("", "{u} {x}", "", "S{m} {u} - A07 {w}", "bonafide|spoof"),
    ("utt,score", "{u},{x}", "", "S{m} {u} - - {w}", "bonafide|spoof"),
    ("", "{x}", "", "{y}"),
    ("score", "{x}", "label", "{w}", "same|different"),
    ("", "{m} {u} {x}", "", "{m} {u} {d}"),
    ("", "{m} {u} {x}", "", "{m} {u} {w}", "1|2"),
    ("", "{m} {u} {x}", "", "{w} {m} {u}", "same|diff"),
    ("", "{u} -1 {x}", "", "{u} {w}", "genuine|spoof"),
    ("", "1{i:03} {u} {x}", "", "1{i:03} f {u} a {w}", "target|nontarget"),
    ("", "1{i:03} 2{i:03} {x}", "", "1{i:03} 2{i:03} {y}"),
    ("enrollment_id test_id score", "{m} {u} {x}", "enroll;trial;key", "{m};{u};{w}", "tgt|imp"),
    ("", "{m};{u};{x}", "spk1,spk2,target", "{m},{u},{y}"),
]


@pytest.mark.parametrize("case", TWO, ids=str)
def test_scores_and_a_key(case: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "scores").write_text(text_of(*case[:2]))
    (tmp_path / "key").write_text(text_of(*case[2:]))
    assert classes(tmp_path / "scores", tmp_path / "key") == RIGHT


# Lists, with the count of their trials.
LISTS = {
    "enroll,test\ns1,t1\ns1,t2\n": 2,
    "model\tsegment\nm\ts\n": 1,
    "spk1 utt1\nspk1 utt2\nspk2 utt1\n": 3,
    "1001 2001\n1002 2001\n": 2,
    "1001 tabc a\n1001 tabd b\n": 2,
    "2001 f tabc.sph b\n2002 f tabd.sph a\n": 2,
    "id1,id2\n7,8\n9,10\n": 2,
    # A comment is no trial, a line of ids no header.
    "# all trials of May\nm s\nm t\n": 2,
    "spk1 utt2 target\na b nontarget\n": 2,
}


@pytest.mark.parametrize("text", LISTS)
def test_lists(text: str, tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text(text)
    assert bp.read_trials(path).n_trials == LISTS[text]
    with pytest.raises(FileFormatError, match="no scores"):
        bp.read_scores(path)


# What only looks like a number, or like a text; one sentence says what it is.
ODD = {
    "m s 0,5\nm t -1,25\n": "decimal comma",
    "m,s,0,512\nm,t,-1,25\n": "decimal comma",
    "u00 0,5\nu01 1,5\n": "decimal comma",
    "0,5\n1,25\n": "decimal comma",
    "1,2674\n-0,5351\n": "decimal comma; write a point$",
    "enroll,test,score\nm,s,1,5\n": "Is a comma decimal",
    'a,b,score\nm,s,="1.5"\nm,t,="2"\n': "Excel",
    "m s 0x1f\nm t 0x20\n": "hexadecimal",
    "|model|segment|score|\n|---|---|---|\n|m|s|1.5|\n": "rule below a header",
    "m s np.float64(0.5)\n": "numpy",
    "m s tensor(0.5, device='cuda:0')\n": "array",
    "u0 tensor([[0.5]])\n": "array",
    "m s [0.5]\nm t [1.5]\n": "list",
    "m,s,(0.5,)\n": "list",
    '[{"score": 0.5, "label": 1}]\n': "JSON",
    '[\n  {"score": 0.5}\n]\n': "JSON",
    "m s 50%\nm t 3%\n": "per cent",
    "m s \u22120.5\nm t \u22121.5\n": "minus",
    "m s 1'000.5\nm t 2'000.5\n": "thousands",
    "m s '0.5'\n": "quotes",
}


@pytest.mark.parametrize("text", ODD)
def test_numbers_that_are_none(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text(text, encoding="utf-8")
    for read in (bp.read_scores, read_numbers):
        with pytest.raises(FileFormatError, match=ODD[text]) as caught:
            read(path)
        assert len(str(caught.value)) < len(str(path)) + 200
    for save, suffix, told in (
        (np.save, "npy", "numpy.* a line for each trial"),
        (np.savez, "npz", "zip"),
    ):
        save(tmp_path / f"a.{suffix}", [0.5])
        with pytest.raises(FileFormatError, match=told):
            bp.read_scores(tmp_path / f"a.{suffix}")


def test_two_files_of_numbers() -> None:
    files = CASES / "c13_genuine.txt", CASES / "c13_impostor.txt"
    for pair in (files, tuple(map(str, files))):
        (row,) = bp.evaluate({"a": pair}).to_dict()
        assert (row["n_tar"], row["n_non"]) == (10, 30)
        assert row["eer"] == pytest.approx(1 / 15)


def test_keys_of_mates() -> None:
    scores = bp.read_scores(CASES / "c13_all_scores.txt")
    key = bp.Key.from_mates(bp.read_trials(CASES / "c13_pairs_of_mates.txt"), scores)
    pairs = [(f"m{i}", f"s{i}") for i in range(20)]
    assert bp.Key.from_mates(pairs, scores) == key
    assert bp.Key.from_mates([pair[::-1] for pair in pairs], scores) == key
    with pytest.raises(TrialMismatchError, match=r"20 of 20 mates .* scores\.rename"):
        bp.Key.from_mates(pairs, scores.rename(*2 * ["s/$/.wav/"]))
    for wrong in ((scores, pairs), (pairs, pairs), (["m1"], scores), (None, scores), (key, scores)):
        with pytest.raises(InvalidInputError, match=r"`(mates|trials)` must be"):
            bp.Key.from_mates(*wrong)
    # A pair without a score is a target that lacks one.
    assert bp.Key.from_mates([*pairs, ("x", "y")], scores).n_tar == key.n_tar + 1


@pytest.mark.parametrize("lines", ["0 1 1 0", "-1 1 1 -1", "1 2 2 0", "1 1 1 1", "llr 0 - 1 1"])
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.MissingTrialsWarning")
def test_numbers_alone_are_scores_where_no_label_can_be(lines: str, tmp_path: Path) -> None:
    """Decisions; what has none is left out if that is told."""
    answer, listed = tmp_path / "a", tmp_path / "list"
    answer.write_text(lines.replace(" ", "\n") + "\n")
    listed.write_text("a x\na y\nb x\nb y\n")
    wanted = [float(word) for word in lines.split() if word not in ("llr", "-")]
    assert read_numbers(answer, missing="-").tolist() == wanted
    found = read_answers(answer, listed, missing="-")
    assert sorted(found.get_scores(found.to_ndx())) == sorted(wanted)
