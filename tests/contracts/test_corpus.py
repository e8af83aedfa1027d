"""Sixty more files as people have them, by kind: the right figures, or a refusal that helps.

Each file has the same twelve trials. A refusal names options which, typed as they stand, give the
right figures, or says in one sentence what a cell is. The figures are those of scikit-learn's curve
and of Cllr by hand.
"""

import json
import math
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import scipy

import bosaris_py as bp
from bosaris_py import cli
from bosaris_py.errors import BosarisError

SCORES = [2.5, -0.5, 1.25, -3.0, 0.75, -1.0, 3.5, -2.25, -4.125, 0.875, -1.5, 1.75]
IS_TARGET = [1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1]
TAR, NON = (np.array([x for x, y in zip(SCORES, IS_TARGET, strict=True) if y == c]) for c in (1, 0))
EER = 0.2


def cllr(tar: np.ndarray, non: np.ndarray) -> float:
    return float(np.log2(1 + np.exp(-tar)).mean() + np.log2(1 + np.exp(non)).mean()) / 2


# Likelihood-ratios may be taken as they stand.
CLLR = [pytest.approx(cllr(TAR, NON)), pytest.approx(cllr(np.exp(TAR), np.exp(NON)))]


def text_of(template: str, classes: tuple[int, ...] = (0, 1)) -> str:
    """A file of all trials: a header, if there is one, a line of fields, and words of labels."""
    template, _, words = template.partition(" @ ")
    *head, line = template.split("\n")
    target, other = (words or "target|nontarget").split("|")
    for j, (x, y) in enumerate(zip(SCORES, IS_TARGET, strict=True), 1):
        fields = {"j": j, "i": j - 1, "m": 1 + (j - 1) // 4, "t": 1 + j % 4, "x": x, "y": y}
        fields |= {"n": 1 - y, "d": float(y), "p": 2 * y - 1, "b": bool(y)}
        fields |= {"lr": math.exp(x), "l10": x / math.log(10), "dc": str(x).replace(".", ",")}
        fields |= {"z": x if j < 12 else "x"}
        fields |= {"w": target if y else other, "a": "-" if y else f"A{7 + j % 3:02}"}
        if y in classes:
            head.append(line.format(**fields))
    return "\n".join(head) + "\n"


# Scores, and a key if it is another file; then options, if there are any.
HEADERS = [
    (",enrol_id,test_id,score\n{i},{m}_a,u{j},{x}", ",enrol_id,test_id,label\n{i},{m}_a,u{j},{y}"),
    ("enroll\tprobe-id\tscore\ns{m}\tu{j}\t{x}", "enroll,probe,type\ns{m},u{j},{w} @ tgt|imp"),
    ("file,score\n{i}.wav,{x}", "file,speaker,label\n{i}.wav,Speaker {m},{w} @ bona-fide|spoof"),
    ("path,is_spoof,bonafide_score\nu{j}.flac,{n},{x}",),
    ("{x}", "model-id evaluation-file-id trial-type\ns{m} u{j} {w} @ TC|IW", "--scores-in-order"),
    ("Modell;Segment;Klasse;Wert\ns{m};u{j};{w};{x} @ gleich|ungleich",),
    ('"model" "segment" "score" "label"\n"{j}" "s{m}" "u{j}" {x} "{w}"',),
    ('# by ecapa\n"s{m}" "u{j}" {x}', '# list v1\n"s{m}" "u{j}" "{w}"'),
    ("Enroll File,Test File,Cosine Score,Same Speaker\ns{m},u{j},{x},{y}",),
    ("Unnamed: 0,spk,score\n{i},s{m},{x}", "Unnamed: 0,spk,label\n{i},s{m},{y}"),
    ("u{j} {x}", "trialid target\nu{j} {w}"),
    ("subject,impression,val\ns{m},u{j},{x}", "subject,impression,mated\ns{m},u{j},{b}"),
]  # fmt: skip
ABSENT = [
    ("Label,LR\n{w},{lr} @ H1|H2",),
    ("Hypothesis;log10LR\n{w};{l10} @ Hp|Hd", "", "--base 10"),
    ("Fall;Hypothese;LR\n{j};{w};{lr} @ H1|H2",),
    ("{x} {w} @ A|B",),
    ("s{m} u{j} {x}", "s{m} u{j} {w} @ A|B"),
    ("u{j} {x}", "s{m} u{j} {w}"),
    ("s{m} u{j} {x} {w} @ ja|nein", "s{m} u{j} {w}"),
    ("{x}", "{y} s{m}/a.wav s{m}/{j:05}.wav"),
    (",0\n{i},{x}", "s{m} u{j} {y}"),
    (",score\nu{j},{x}", ",label\nu{j},{w}"),
    ('"score"\n"u{j}" {x}', "u{j} {w} @ bonafide|spoof"),
    (",,cosine\ns{m},u{j},{x}", "s{m} u{j} {w}"),
    ("E_{j} {x}", "utt_id,speaker_id,key\nE_{j},LA_{m},{w} @ bonafide|spoof"),
    ("file,pred,prob_real,label\nu{j}.wav,{n},{x},{w} @ real|fake",),
]
IDS = [
    ("id{m}/ab/1.wav id9/{j:05}.wav {x}", "{y} /data/wav/id{m}/ab/1.wav /data/wav/id9/{j:05}.wav"),
    ("id{m}-enroll id9-s-{j} {x}", "id{m}-enroll test/id9-s-{j}.wav {y}"),
    ("id{m}_x_1.npy id{m}_y_{j}.npy {x}", "id{m}/x/1.wav id{m}/y/{j}.wav {y}"),
    ("path,score\n/home/u/flac/E_{j}.flac,{x}", "filename,cm-label\nE_{j},{w} @ bonafide|spoof"),
    ("enroll,test,score\nC:\\d\\m{m}.wav,C:\\d\\u{j}.wav,{x}", "enroll,test,label\nm{m},u{j},{w}"),
    ("SPK{m} UTT{j:02} {x}", "spk{m} d/utt{j:02}.wav {w}"),
    ("m{m} u{j:02} {x}", "spk{m}_m{m} u{j:02} {w}"),
    ("m{m}-enroll u{j}-test {x}", "m{m} u{j} {w}"),
    ("m{m} {j:05}.wav {x}", "m{m} {j} {w}"),
    ("./wav/m{m}.wav ./wav/u{j}.wav {x}", "wav/m{m}.wav wav/u{j}.wav {w}"),
    ("d\\m{m}.wav d\\u{j}.wav {x}", "d/m{m}.wav d/u{j}.wav {w}"),
    ("m{m} t{j:03} {x}", "m{m} t{j:03}.sph:a {w}"),
    ("m{m} {j} {x}", "m{m} {j:04} {w}"),
    ("m{m} u{j:02} {x}", "m{m} d{t}/u{j:02}.wav {w}"),
    ("Mu\u0308ller{m} u{j}\u200b.wav {x}", "M\u00fcller{m} u{j} {w}"),
    ("u{j} m{m} {x}", "m{m} u{j} {w}"),
    ("m{m} /exp/run/wav/{m}/u{j}.wav {x}", "m{m} u{j} {w}"),
    ("model,segment,score\nm{m},a. {j}.wav,{x}", "model,segment,label\nm{m},b c/a. {j}.wav,{w}"),
]  # fmt: skip
# What a cell is said to be; of the first, which are numbers, nothing.
KEY = "s{m} u{j} {w}"
ODD = [
    ("{m}001 ta{j:02} {x}", "{m}001 m ta{j:02} a {w}", ""),
    ("{m}001 20{j:02} {x}", "{m}001 20{j:02} {w}", ""),
    ("model;segment;score\ns{m};u{j};{dc}", KEY, "decimal comma"),
    ("model,segment,score\ns{m},u{j},\"tensor({x}, device='cuda:0')\"", KEY, "array"),
    ("s{m} u{j} ({x}+0j)", KEY, "complex"),
    ("enroll,test,similarity\ns{m},u{j},{x}%", KEY, "per cent"),
    ("s{m} u{j} score={x}", KEY, "a name before the number"),
    ("s{m} u{j} {z}", KEY, "column 3"),
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def figures(words: str, capsys: pytest.CaptureFixture[str], tries: int = 3) -> dict[str, float]:
    """Evaluate; where that is refused, type the first options that the error names."""
    code = cli.main(shlex.split(f"evaluate {words} --eer interpolated --json"))
    out, err = capsys.readouterr()
    if code == 0:
        (row,) = json.loads(out)["table"]
        return row
    assert tries, err
    assert len(err) < 480
    told = re.split(" in place of| if |[.]?\n", re.split("[Uu]se (?=--)", err)[1])[0]
    told = re.split(r" or (?=--)", told.replace(" and ", " "))[0].removesuffix(".")
    words = words.replace(" --key k", "") if told.startswith("--mates") else words
    return figures(f"{words} {told}", capsys, tries - 1)


def assert_right(row: dict[str, float]) -> None:
    assert (row["n_tar"], row["n_non"]) == (5, 7)
    assert row["eer"] == pytest.approx(EER)
    assert row["cllr"] in CLLR


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("case", [*HEADERS, *ABSENT, *IDS], ids=lambda case: case[0])
def test_headers_columns_and_ids(case: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    scores, key, options = (*case, "", "")[:3]
    Path("s").write_text(text_of(scores))
    Path("k").write_text(text_of(key or scores))
    assert_right(figures(f"s --key {'k' if key else 's'} {options}", capsys))


@pytest.mark.parametrize("case", ODD, ids=lambda case: case[0])
def test_numbers_that_are_none(
    case: tuple[str, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    scores, key, told = case
    Path("s").write_text(text_of(scores))
    Path("k").write_text(text_of(key))
    if not told:
        assert_right(figures("s --key k", capsys))
        return
    assert cli.main(["evaluate", "s", "--key", "k"]) == 1
    err = capsys.readouterr().err
    assert told in err
    assert len(err) < 160


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_lists_of_targets_and_two_files(capsys: pytest.CaptureFixture[str]) -> None:
    Path("s").write_text(text_of("s{m} u{j} {x}"))
    Path("k").write_text(text_of("s{m} u{j}", (1,)))
    assert_right(figures("s --key k", capsys))
    Path("mates").write_text(text_of("x/u{j}.png x/s{m}.png", (1,)))
    assert_right(figures("s --mates mates", capsys))
    for form in ("{x}", "genuine\n{x}", ",neg_scores\n{j},{x}", "s{m} u{j} {x}"):
        Path("g").write_text(text_of(form, (1,)))
        Path("i").write_text(text_of(form, (0,)))
        assert_right(figures("--tar g --non i", capsys))


IDS_OF = [["m1", "m2"], ["s1", "s2", "s3"]]
MASK = np.array([[True, False, False], [False, False, True]])
CELLS = [np.array(ids, object)[:, np.newaxis] for ids in IDS_OF]


def read_mat(folder: Path, variable: str = "scr", **fields: object) -> bp.Scores:
    """Save a struct, by default of scores, with other fields; read it again."""
    full = {"modelset": CELLS[0], "segset": CELLS[1]}
    full |= {"scoremask": MASK >= 0, "scoremat": MASK * 2.5}
    scipy.io.savemat(folder / "a.mat", {variable: {**full, **fields}})
    return bp.read_scores(folder / "a.mat")


CALLS = {
    "numbers": (lambda folder: read_mat(folder, modelset=np.array([[1], [2]])), "num2str"),
    "swapped": (lambda folder: read_mat(folder, scoremat=MASK.T * 1.0), "look swapped"),
    "another name": (lambda folder: read_mat(folder, "mine"), "holds mine, no struct .* scr"),
    "words": (lambda _: bp.Key.from_trials(*[["a", "b"]] * 2, ["same", "diff"]), r"\) == 'same'"),
    "codes": (lambda _: bp.Key.from_trials(*[["a", "b"]] * 2, [1, 2]), "labels == VALUE"),
    "texts": (
        lambda _: bp.Scores.from_trials(*[["a", "b"]] * 2, ["1.5"] * 2),
        r"np\.array\(x, float\)",
    ),
    "a column": (lambda _: bp.eer(np.ones((3, 1)), [0.0]), r"\.ravel\(\)"),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_and_files_of_matlab(name: str, tmp_path: Path) -> None:
    call, told = CALLS[name]
    with pytest.raises(BosarisError, match=told):
        call(tmp_path)
