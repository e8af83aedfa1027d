"""Subcommands that judge or list: each is the library's call, with a status for the answer."""

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py.cli import main
from bosaris_py.cli.listing import answer_to
from tests.forms import as_list

pytestmark = [
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning"),
    pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning"),
]

MODELS = [f"p{i // 2}-m{i:02}" for i in range(16)]
SEGMENTS = sorted(f"p{j % 8}-s{j:02}" for j in range(48))
WHO = ["--speakers", "re:^p[0-9]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bp.Scores:
    """LLRs of eight speakers, their key and the list of their trials."""
    monkeypatch.chdir(tmp_path)
    tar = np.array([[m[:2] == s[:2] for s in SEGMENTS] for m in MODELS])
    noise = np.random.default_rng(1).normal(size=tar.shape)
    scores = bp.Scores(4 * tar - 2 + 1.5 * noise, MODELS, SEGMENTS)
    key = bp.Key(MODELS, SEGMENTS, tar, ~tar)
    key.save("key.txt")
    key.to_ndx().save("trials.txt")
    scores.save("llrs.h5")
    return scores


def speaker(name: str) -> str:
    return name[:2]


def test_check_answers_by_its_status(folder: bp.Scores, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "llrs.h5", "--trials", "trials.txt"]) == 0
    assert capsys.readouterr().out == "768 trials of the list have a score.\n"
    # A key is a list of trials, too.
    assert main(["check", "llrs.h5", "--trials", "key.txt"]) == 0
    capsys.readouterr()
    mask = np.ones((16, 48), dtype=bool)
    mask[0, :3] = False
    values = np.where(mask, folder.scoremat, 0.0)
    values[5, 5] = np.inf
    bp.Scores(values, MODELS, SEGMENTS, mask).save("short.h5")
    assert main(["check", "short.h5", "--trials", "trials.txt", "--json"]) == 3
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["n_common"] == 765
    missing, infinite = found["problems"]
    assert missing.startswith(f"3 have none: (p0-m00, {SEGMENTS[0]})")
    assert infinite == "1 scores are infinite."
    assert "short.h5 does not fit trials.txt" in err


def test_check_tells_of_other_trials_and_of_constant_scores(
    folder: bp.Scores, capsys: pytest.CaptureFixture[str]
) -> None:
    bp.Scores(np.ones((1, 2)), ["x"], ["y", "z"]).save("other.h5")
    assert main(["check", "other.h5", "--trials", "trials.txt"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "0 trials of the list have a score."
    assert lines[1].startswith("768 have none: ")
    assert lines[2].startswith("2 scores are of trials that the list does not have: (x, y), (x, z)")
    assert lines[3] == "All scores are the same number."
    assert lines[4].startswith("No trial has a score. The models of the key are such as 'p0-m00', ")


@pytest.mark.parametrize("name", ["scores.txt", "scores.txt.gz"])
def test_check_lists_all_that_is_wrong_with_lines(
    name: str, folder: bp.Scores, capsys: pytest.CaptureFixture[str]
) -> None:
    """Counts and lines by hand: the fourth line is empty, so that (a, x) is again in line 5."""
    Path("list.txt").write_text("a x\na y\nb x\nb z\n")
    lines = "a x .5\na y nan\nb y -9\n\na x 2\nb q inf\nb x 1\nb x 1\n"
    with (gzip.open if name.endswith("gz") else open)(name, "wt") as stream:
        stream.write(lines)
    assert main(["check", name, "--trials", "list.txt", "--missing", "-9", "--json"]) == 3
    assert json.loads(capsys.readouterr().out) == {
        "n_common": 2,
        "problems": [
            "2 lines without a score: 2 (a, y), 3 (b, y).",
            "1 line of a trial again, with the same score: 8 (b, x).",
            "1 line of a trial again, with another score: 5 (a, x).",
            "2 have none: (a, y), (b, z).",
            "1 scores are of trials that the list does not have: (b, q).",
            "1 scores are infinite.",
        ],
    }
    Path("good.csv").write_text("model,segment,score\na,x,1\na,y,2\nb,x,3\nb,z,4\n")
    assert main(["check", "good.csv", "--trials", "list.txt"]) == 0
    assert main(["check", "list.txt", "--trials", "list.txt"]) == 1
    assert "this file has no scores" in capsys.readouterr().err


def test_case_is_that_of_the_library(folder: bp.Scores, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--same", "he speaks", "--different", "another speaks", "--reference", "8 speakers"]
    command = ["case", "1.5", "llrs.h5", "--key", "key.txt", *WHO, *words]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = bp.case_llr(
        1.5,
        folder,
        bp.read_key("key.txt"),
        propositions=("he speaks", "another speaks"),
        reference="8 speakers",
        speakers=speaker,
    )
    assert found["log10_lr"] == expected.log10_lr
    assert found == json.loads(json.dumps(expected.to_dict()))
    assert main([*command, "--output", "case.txt"]) == 0
    assert Path("case.txt").read_text(encoding="utf-8").startswith(str(expected)[:40])


@pytest.mark.parametrize("kind", ["tippett", "histogram", "det"])
def test_plot_draws_the_kind(folder: bp.Scores, kind: str) -> None:
    command = ["plot", kind, "llrs.h5", "--key", "key.txt", "-o", f"{kind}.svg", "--title", "One"]
    one = ["--of", "llrs"] if kind == "histogram" else []
    assert main([*command, *one]) == 0
    assert "<svg" in Path(f"{kind}.svg").read_text(encoding="utf-8")


def test_an_unknown_kind_is_one_line(folder: bp.Scores, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", "tipet", "llrs.h5", "--key", "key.txt", "-o", "x.svg"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "tippett" in line
    assert not Path("x.svg").exists()


def test_bounded_is_the_recommended_map(
    folder: bp.Scores, capsys: pytest.CaptureFixture[str]
) -> None:
    train = ["calibrate", "llrs.h5", "--key", "key.txt", "--method", "bounded"]
    assert main([*train, "--model", "m.json"]) == 0
    expected = bp.BoundedCalibration.fit_scores(folder, bp.read_key("key.txt"))
    assert bp.read_model("m.json") == expected
    assert main(["calibrate", "--model", "m.json", "--apply", "llrs.h5", "-o", "out.h5"]) == 0
    applied = bp.read_scores("out.h5").scoremat
    np.testing.assert_array_equal(applied, expected.apply(folder).scoremat)
    assert main([*train, "--ridge", "0", "--model", "plain.json"]) == 0
    plain = bp.BoundedCalibration.fit_scores(folder, bp.read_key("key.txt"), ridge=0.0)
    assert bp.read_model("plain.json") == plain


def test_cross_fit_is_that_of_the_library(
    folder: bp.Scores, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["evaluate", "llrs.h5", "--key", "key.txt", "--cross-fit", *WHO, "--seed", "2"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    key = bp.read_key("key.txt")
    expected = bp.evaluate({"llrs": folder}, key, cross_fit=True, speakers=speaker, rng=2)
    assert found["table"] == json.loads(json.dumps(expected.records()))


def test_the_command_alone_is_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: bosaris")
    assert "check" in out


@pytest.fixture
def tandem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A protocol of ASVspoof 5, and scores of both detectors on its trials."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    protocol, asv, cm = [], [], []
    for i in range(10):
        trials = [(f"u{j}_{i}", "target" if i == j else "nontarget") for j in range(10)]
        trials += [(f"t{i}_{k}", "target") for k in range(4)]
        trials += [(f"f{i}_{k}", "spoof") for k in range(6)]
        for segment, kind in trials:
            middle = "A07 spoof" if kind == "spoof" else f"bonafide {kind}"
            protocol.append(f"s{i} {segment} {middle}")
            asv.append(f"s{i} {segment} {3 * (kind != 'nontarget') + rng.normal():.5f}")
            cm.append(f"s{i} {segment} {3 * (kind != 'spoof') + rng.normal():.5f}")
    for name, lines in (("protocol.trl", protocol), ("asv.txt", asv), ("cm.txt", cm)):
        Path(name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    return tmp_path


def test_a_plan_of_two_detectors(tandem: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["evaluate", "asv=asv.txt", "cm=cm.txt", "--key", "protocol.trl"]
    both = {name: bp.read_scores(f"{name}.txt") for name in ("asv", "cm")}
    key = bp.read_key("protocol.trl")
    assert main([*words, "--plan", "ASVspoof2019-LA", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["table"]
    assert found == json.loads(bp.evaluate(both, key, plan="ASVspoof2019-LA").to_json())["table"]


def test_a_spoof_aware_fusion_has_costs_of_asvspoof5(
    tandem: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fuse", "asv=asv.txt", "cm=cm.txt", "--key", "protocol.trl", "--spoof", "keep"]
    both = {name: bp.read_scores(f"{name}.txt") for name in ("asv", "cm")}
    key = bp.read_key("protocol.trl")
    for more, costs in (([], "ASVspoof5"), (["--costs", "a-DCF1"], "a-DCF1")):
        assert main([*words, *more, "--model", "m.json"]) == 0
        assert bp.read_model("m.json") == bp.SASVFusion.fit(key, **both, costs=costs)
    Path("m.json").unlink()
    files = ["--apply", "asv=asv.txt", "cm=cm.txt", "-o", "fused.h5"]
    assert main([*words, *files]) == 0
    assert not Path("m.json").exists()
    capsys.readouterr()


def test_a_ridge_is_a_number_or_weak(folder: bp.Scores, capsys: pytest.CaptureFixture[str]) -> None:
    train = ["calibrate", "llrs.h5", "--key", "key.txt", "--model", "m.json"]
    key = bp.read_key("key.txt")
    for words, ridge in (([], 0.0), (["--ridge", "weak"], "weak"), (["--ridge", "0.1"], 0.1)):
        assert main([*train, *words]) == 0
        expected = bp.LinearCalibration.fit_scores(folder, key, ridge=ridge)
        assert bp.read_model("m.json") == expected
    capsys.readouterr()
    assert main([*train, "--ridge", "strong"]) == 2
    assert "'strong': expected a number, or weak" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        # Options that would change nothing.
        (
            "calibrate --model m.json --apply llrs.h5 -o x.h5 --prior 0.1 --ridge 1",
            "--ridge is for",
        ),
        (
            "calibrate --model m.json --apply llrs.h5 -o x.h5 --method pav",
            "--method is for training",
        ),
        ("calibrate llrs.h5 --key key.txt --model m.json --method pav --prior 0.1", "pav has no"),
        ("plot tippett llrs.h5 --key key.txt -o x.svg --prior 0.1", "--prior marks nothing in a"),
        ("plot det llrs.h5 --key key.txt -o x.svg --prior 0.1,0.2", "a plot det has one --prior"),
        ("plot ece llrs.h5 --key key.txt -o x.svg --bootstrap 9", "a plot ece has no intervals"),
        # What may have been meant.
        ("compare a b --key key.txt --metric cllr", "unrecognized arguments: --metric cllr"),
        ("evaluate a --key key.txt --priors 0.1", "unrecognized arguments: --priors 0.1"),
        (
            "case 3,2 llrs.h5 --key key.txt",
            "SCORE: '3,2': expected a number, with a point in place",
        ),
        # Arguments by the names that the command has for them.
        (
            "case inf llrs.h5 --key key.txt --same a --different b --reference c",
            "SCORE must be fini",
        ),
        ("plot histogram A=llrs.h5 B=llrs.h5 --key key.txt -o x.svg", "--of must name one"),
        ("plot no llrs.h5 --key key.txt -o x.svg", "KIND must be one of"),
        ("plot det llrs.h5 --key key.txt -o x.jpg", "--output must end in one of .pdf"),
    ],
)
def test_what_is_refused_and_how(
    folder: bp.Scores, capsys: pytest.CaptureFixture[str], line: str, message: str
) -> None:
    assert main(line.split()) in (1, 2)
    assert message in capsys.readouterr().err


def test_a_far_score_and_its_bound(folder: bp.Scores, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--same", "he speaks", "--different", "another speaks", "--reference", "8 speakers"]
    command = ["case", "99", "llrs.h5", "--key", "key.txt", *WHO, *words]
    assert main(command) == 0
    err = capsys.readouterr().err
    assert "The bound limits its LLR." in err
    assert "--method bounded" not in err


def test_a_cost_of_hundreds_of_digits(
    folder: bp.Scores, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.transform(lambda llrs: llrs * 1e300).save("huge.h5")
    assert main(["evaluate", "huge.h5", "--key", "key.txt"]) == 0
    assert "e+29" in (table := capsys.readouterr().out)
    assert max(map(len, table.splitlines())) < 110


def test_check_says_why_no_trial_has_a_score(
    folder: bp.Scores, capsys: pytest.CaptureFixture[str]
) -> None:
    for path, models, why in (
        ("turned.h5", None, "The models of the key are such as"),
        ("wav.h5", [f"{model}.wav" for model in MODELS], "models of the scores end with '.wav'"),
    ):
        if models is None:
            bp.Scores(folder.scoremat.T, SEGMENTS, MODELS).save(path)
        else:
            bp.Scores(folder.scoremat, models, SEGMENTS).save(path)
        assert main(["check", path, "--trials", "trials.txt"]) == 3
        assert why in capsys.readouterr().out


def test_trials_without_a_value_of_a_condition(
    folder: bp.Scores, capsys: pytest.CaptureFixture[str]
) -> None:
    key = bp.read_key("key.txt")
    lines = ["model,segment,label,room"]
    for number, (model, segment) in enumerate((m, s) for m in MODELS for s in SEGMENTS):
        label = "target" if model[:2] == segment[:2] else "nontarget"
        lines.append(f"{model},{segment},{label},{'' if number < 5 else 'ab'[number % 2]}")
    Path("rooms.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = ["llrs.h5", "--key", "rooms.csv", "--conditions", "room"]
    assert main(["evaluate", *command]) == 0
    assert f"5 of {key.n_trials} trials have no value in column 'room'" in capsys.readouterr().err
    assert main(["plot", "det", *command, "-o", "d.svg"]) == 0
    assert "each curve is of equalised conditions" in capsys.readouterr().err


def test_a_tandem_keeps_spoofs_and_a_fusion_has_no_method(
    folder: bp.Scores, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(1)
    lines = {"key": ["model,segment,label"], "asv": [], "cm": []}
    for number, label in enumerate(["target", "nontarget", "spoof"] * 40):
        name = f"p{number % 8} {label}{number}"
        lines["key"].append(f"{name.replace(' ', ',')},{label}")
        lines["asv"].append(f"{name} {rng.normal(-2 if label == 'nontarget' else 2):.3f}")
        lines["cm"].append(f"{name} {rng.normal(-2 if label == 'spoof' else 2):.3f}")
    for name, text in lines.items():
        Path(f"{name}.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    words = ["evaluate", "asv=asv.csv", "cm=cm.csv", "--plan", "ASVspoof2019-LA"]
    assert main([*words, "--key", "key.csv"]) == 0
    assert "min t-DCF" in capsys.readouterr().out
    command = ["fuse", "llrs.h5", "--key", "key.txt", "--prior", "0.01", "--model", "f.json"]
    assert main(command) == 0
    assert "Train on more trials, or with --ridge weak." in capsys.readouterr().err


def test_answer_to_trials() -> None:
    """Two of three trials lack a score, one score is of no trial, in any form."""
    key = bp.Ndx.from_trials(["m1", "m1", "m2"], ["s1", "s2", "s1"])
    scores = bp.Scores.from_trials(["m1", "m3"], ["s1", "s1"], [1.0, 2.0])
    for some_key, some_scores in itertools.product((key, as_list(key)), (scores, as_list(scores))):
        assert answer_to(some_key, some_scores) == (
            1,
            [
                "2 have none: (m2, s1), (m1, s2).",
                "1 scores are of trials that the list does not have: (m3, s1).",
            ],
        )
    fitting = scores.filter(["m1"], ["s1"], keep=True)
    assert answer_to(key.filter(["m1"], ["s1"], keep=True), fitting) == (1, [])
    assert answer_to(bp.Ndx(*fitting.ids), fitting) == (1, [])


def test_answer_of_no_use() -> None:
    key = bp.Ndx(["anna"], ["s1", "s2"])
    for row, problems in (
        ([1.0, np.nan], ["1 scores are NaN."]),
        ([1.0, -np.inf], ["1 scores are infinite."]),
        ([2.0, 2.0], ["All scores are the same number."]),
    ):
        assert answer_to(key, bp.Scores([row], *key.ids)) == (2, problems)
    # What is under the mask is no score.
    count, problems = answer_to(key, bp.Scores([[1.0, np.nan]], *key.ids, [[True, False]]))
    assert (count, len(problems)) == (1, 1)
    count, problems = answer_to(key, bp.Scores([[1.0, 2.0]], ["bert"], ["s1", "s2"]))
    assert (count, problems[-1][:21]) == (0, "No trial has a score.")
