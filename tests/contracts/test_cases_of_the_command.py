"""Files as people have them, given to the command: the right figures, or a refusal that helps.

The right numbers are those of scikit-learn's curve, or counted by hand; see `cases/README.md`.
"""

import json
import re
import shlex
from pathlib import Path

import pytest
import scipy

import bosaris_py as bp
from bosaris_py import cli
from bosaris_py.errors import BosarisError

CASES = Path(__file__).parents[1] / "reference" / "cases" / "python"

C01, C04 = (10, 30, 10.0, 6.67), (18, 90, 16.67, 12.32)
# A command line, its numbers of targets and of non-targets, and the EER in per cent: interpolated,
# and of the convex hull.
RIGHT = {
    "c01 header": ("c01_filename_score.csv --key c01_filename_label.csv", *C01),
    "c01 one file": ("c01_score_label.csv --key c01_score_label.csv", *C01),
    "c03 csv": ("c03_scores.csv --key c03_protocol.txt", *C01),
    "c03 words": ("c03_scores.txt --key c03_key_real_fake.txt", *C01),
    "c03": ("c03_two_logits.txt --columns segment,-,score --key c03_protocol.txt", *C01),
    "c04": ("c04a_scores.txt --key c04a_key.lst --ids basename,strip-suffix", *C04),
    "c04 key only": (
        "c04a_scores.txt --key c04a_key.lst --key-ids s|test/||,strip-suffix=.wav",
        *C04,
    ),
    "c04 folders": ("c04b_scores.txt --key c04b_key.lst --ids basename", *C04),
    "c06 right": ("c06_scores.txt --key c06_key_right.txt", 20, 380, 1.05, 1.0),
    "c06 swapped": ("c06_scores.txt --key c06_key_swapped.txt", 380, 20, 98.95, 50.0),
    "c09 a dash": (
        "c03_scores.txt --key c03_protocol.txt --key-columns -,segment,-,attack,label",
        *C01,
    ),
    "c12 label score": ("c12_label_score.txt --key c12_label_score.txt", *C01),
    "c12 score label": ("c12_score_label.txt --key c12_score_label.txt", *C01),
    "c13 two files": ("--tar c13_genuine.txt --non c13_impostor.txt", *C01),
    "c13 mates": ("c13_all_scores.txt --mates c13_pairs_of_mates.txt", 20, 380, 1.05, 1.0),
    "c14": ("c14_scores_in_order.txt --key c14_list.txt --scores-in-order", 8, 56, 1.79, 1.56),
    "c18 decimals": ("c18_scores.txt --key c18_key_decimals.txt", 2, 2, 0.0, 0.0),
}

# A command line, and what its line of the error or the notes below its table must hold.
TOLD = {
    "evaluate c04a_scores.txt --key c04a_key.lst": "--ids strip-prefix=test/,strip-suffix=.wav",
    "evaluate c04b_scores.txt --key c04b_key.lst": "--ids basename",
    "check c04b_scores.txt --trials c04b_key.lst": "--ids basename",
    "fuse c04b_scores.txt --key c04b_key.lst --model m.json": "--ids basename",
    "evaluate c04b_scores.txt --key c04b_key.lst --ids s/.*/x/": "one id of several",
    "evaluate c04b_scores.txt --key c04b_key.lst --ids folder": "expected basename",
    "evaluate c06_scores.txt --key c06_key_swapped.txt": "swapped",
    "calibrate c07_scores.txt --key c07_key.txt --model m.json": "2 non-targets",
    "evaluate --tar c13_genuine.txt": "--tar and --non go together",
    "evaluate c13_genuine.txt --key c13_impostor.txt --mates c13_impostor.txt": "--mates takes",
    "evaluate c14_scores_in_order.txt --key c13_pairs_of_mates.txt --scores-in-order": "64 scores",
    "evaluate c06_scores.txt --mates c06_key_right.txt": "--key c06_key_right.txt in place of",
    "check c06_scores.txt --columns segment,model,score --trials c06_key_right.txt": ",model,label",
    "evaluate c14_scores_in_order.txt": "--key is required",
    "check c14_scores_in_order.txt --trials c14_list.txt --scores-in-order": "64 trials of the",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin in a folder of links to the files of the cases."""
    monkeypatch.chdir(tmp_path)
    for file in CASES.iterdir():
        Path(file.name).symlink_to(file)


def rows_of(words: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, float]]:
    code = cli.main(["evaluate", *shlex.split(words), "--json"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out)["table"]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("case", RIGHT)
def test_figures_are_right(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    words, n_tar, n_non, *eers = RIGHT[case]
    for definition, eer in zip(("interpolated", "rocch"), eers, strict=True):
        (row,) = rows_of(f"{words} --eer {definition}", capsys)
        assert (row["n_tar"], row["n_non"]) == (n_tar, n_non)
        assert row["eer"] == pytest.approx(eer / 100, abs=6e-5)


@pytest.mark.parametrize("line", TOLD)
def test_what_is_said_helps(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(shlex.split(line))
    out, err = capsys.readouterr()
    assert TOLD[line] in out + err
    assert not re.search(r"\w\(|`[a-z_]+`", re.sub(r"\d\d?\.?\d* \(|EER \(%\)|DCF\(", "", err))


def test_each_attack_meets_all_bona_fide_trials(capsys: pytest.CaptureFixture[str]) -> None:
    """c08: the figures by hand, of 10 bona fide trials against those of each attack."""
    words = "c03_scores.txt --key c03_protocol.txt --conditions attack --eer"
    for definition, wanted in (("interpolated", [0.1, 0.1, 0.1]), ("rocch", [0.05, 0.05, 0.1])):
        rows = {row["condition"]: row for row in rows_of(f"{words} {definition}", capsys)}
        found = [rows[f"A0{number}"] for number in (7, 8, 9)]
        assert [row["n_tar"] for row in found] == [10] * 3
        assert [row["eer"] for row in found] == pytest.approx(wanted)


def test_speakers_of_a_countermeasure_are_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    """c20: each trial has one speaker, and each figure an interval; also by the bootstrap."""
    words = "c03_scores.txt --key c03_protocol.txt --speakers speaker"
    for more in ("", " --bootstrap 20", " --cross-fit"):
        (row,) = rows_of(words + more, capsys)
        assert row["eer_low"] < row["eer"] < row["eer_high"]


def test_first_screen_of_a_verification_list(capsys: pytest.CaptureFixture[str]) -> None:
    """c11: pairs in both orders; the table has two lines below it at most, and nothing else."""
    assert cli.main(shlex.split("evaluate c11_scores.txt --key c11_list.txt")) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert len(out.splitlines()) <= 3 + 2


def test_sparse_matrices_are_refused() -> None:
    sparse = scipy.sparse.csr_array([[1.0]])
    for call in (lambda: bp.Scores(sparse, ["a"], ["s"]), lambda: bp.Ndx(["a"], ["s"], sparse > 0)):
        with pytest.raises(BosarisError, match=r"\.toarray\(\)"):
            call()


@pytest.mark.parametrize(
    ("words", "eer", "figure", "value"),
    [
        ("r.csv --key r.csv --labels SS=target,DS=nontarget", 0.25, "cllr", 1.152783),
        ("--tar gen.txt --non imp.txt", 1 / 7, "min_cllr", 0.287358),
    ],
)
def test_tables_of_the_toolkits_users(words, eer, figure, value, monkeypatch, capsys) -> None:
    """Of the cases D1, LRs as they stand, and D3: right values as their list has them."""
    monkeypatch.chdir(CASES.parent / "matlab" / "tables")
    (row,) = rows_of(words, capsys)
    assert row["eer"] == pytest.approx(eer)
    assert row[figure] == pytest.approx(value, abs=1e-6)
