"""The command: what it writes equals the library, and what goes wrong is one line and a code."""

import ast
import csv
import errno
import fcntl
import gzip
import hashlib
import json
import math
import os
import pty
import random
import re
import shlex
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import cli
from bosaris_py.cli import evaluating, files
from bosaris_py.cli.options import COMMANDS, FILE_OPTIONS, OPTIONS, in_options, make_parser
from tests.forms import described

pytestmark = pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")

ROOT = Path(__file__).resolve().parent.parent
# Two models for each of six speakers.
MODELS = [f"p{i // 2}-m{i:02}" for i in range(12)]
SEGMENTS = sorted(f"p{j % 6}-s{j:02}" for j in range(40))
MAPS = ("models.txt", "segments.h5")
BRIER = {"objective": "brier", "ridge": 0.1}
Run = Callable[..., tuple[int, str, str]]


def _make(seed: int, key: bp.Key, strength: float) -> bp.Scores:
    """Return scores of a made-up system, as text keeps them."""
    noise = np.random.default_rng(seed).normal(0, 1, key.tar.shape)
    return bp.Scores(np.round(strength * key.tar + noise, 4), MODELS, SEGMENTS)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems on dev and on eval, as text and as HDF5."""
    folder = tmp_path_factory.mktemp("made")
    speakers = [name[:2] for name in MODELS], [name[:2] for name in SEGMENTS]
    is_tar = np.equal.outer(*map(np.array, speakers))
    key = bp.Key(MODELS, SEGMENTS, is_tar, ~is_tar)
    gender = ["f" if name < "p2" else "m" for name in speakers[0]]
    table = bp.trials.to_table(
        described(key, model_columns={"gender": gender, "speaker": speakers[0]})
    )
    for part, seed in (("dev", 1), ("eval", 2)):
        key.save(folder / f"{part}_key.h5")
        bp.files.writing.write_table(folder / f"{part}_key.tsv", table, "nist")
        for name, strength in (("a", 1.5), ("b", 2.0)):
            scores = _make(10 * seed + ord(name), key, strength)
            scores.save(folder / f"{part}_{name}.h5")
            scores.save(folder / f"{part}_{name}.txt")
    bp.IdMap(MODELS, speakers[0]).save(folder / "models.txt")
    bp.IdMap(SEGMENTS, speakers[1]).save(folder / "segments.h5")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with copies of what was made."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process; return its code and what it wrote.

    Lines about files that were written are left out: `test_each_file_has_a_line` is about them.
    """

    def run_command(*words: object) -> tuple[int, str, str]:
        code = cli.main([str(word) for word in words])
        out, err = capsys.readouterr()
        return code, out, re.sub(r"(?m)^bosaris: wrote .*\n", "", err)

    return run_command


def _write(name: str, *lines: str) -> None:
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _with_spoofs() -> bp.Key:
    """Return the key of dev, in which the trials of one model are spoofs."""
    key = bp.Key.read("dev_key.h5")
    spoof = np.repeat(np.arange(12) == 11, 40).reshape(12, 40)
    return bp.Key(*key.ids, key.tar & ~spoof, key.non & ~spoof, spoof)


def _large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every HDF5 file for larger than memory."""
    monkeypatch.setattr(
        bp.trials, "are_large", lambda paths, **_: all(str(x).endswith(".h5") for x in paths)
    )


class TestHelp:
    def test_no_command(self, run: Run) -> None:
        assert run("--version") == (0, f"bosaris_py {bp.__version__}\n", "")
        code, out, err = run()
        assert (code, err) == (0, "")
        assert out == run("--help")[1]
        assert out.startswith("usage: bosaris [-h] [--version] COMMAND ...\n\nTurn detector")

    @pytest.mark.parametrize("command", COMMANDS)
    def test_help_is_one_screen(self, run, monkeypatch, command):
        monkeypatch.setenv("COLUMNS", "80")
        code, out, err = run(command, "--help")
        assert (code, err) == (0, "")
        assert f"examples:\n  bosaris {command} " in out
        assert len(out.splitlines()) <= 40
        # Its bounds are of trials; those of a case are of speakers.
        assert ("bounded (by the numbers of trials)" in out) == (command == "calibrate")
        # Options of text files are shown once, and taken everywhere.
        assert all((f"  {word} " in out) == (command == "info") for word in FILE_OPTIONS)
        assert command == "info" or "see bosaris info --help" in out
        without = {name for name, settings in OPTIONS.items() if not settings.get("help")}
        assert without == {"files", "input"}

    @pytest.mark.parametrize("word", ["--pri", "--boot", "--priors", "--metric"])
    def test_options_are_not_abbreviated(self, run: Run, word: str) -> None:
        code, out, err = run("evaluate", "dev_a.h5", "--key", "dev_key.h5", word, "1")
        assert (code, out) == (2, "")
        assert f"error: unrecognized arguments: {word}" in err

    def test_help_imports_no_number_of_the_library(self) -> None:
        code = (
            "import sys; from bosaris_py.cli import main; main(['--help'])\n"
            "assert not {'numpy', 'scipy', 'h5py', 'matplotlib'} & set(sys.modules)"
        )
        assert _process(ROOT, "-c", code) == (0, "")


class TestFiles:
    def test_info(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        bp.Key.read("dev_key.h5").save("key.mat")
        run("calibrate", "dev_a.h5", "--key", "dev_key.h5", "--model", "c.json")
        code, out, err = run("info", "dev_a.h5", "key.mat", "dev_a.txt", "dev_key.tsv", "c.json")
        assert (code, err) == (0, "")
        told = (
            "dev_a.h5: hdf5, Scores: 12 models x 40 segments, 480 scores",
            "key.mat: mat, Key: 12 models x 40 segments",
            "dev_a.txt: kaldi-scores, Table: 480 lines",
            "dev_key.tsv: nist, Table: 480 lines",
            "c.json: json, LinearCalibration: llr = ",
        )
        assert all(map(str.startswith, out.splitlines(), told))
        _write("quality.txt", "2", "s1 0.5 1", "s2 0.25 2")
        out = run("info", "quality.txt", "models.txt")[1].splitlines()
        assert out[0] == "quality.txt: text, SegmentQuality: 2 measures of 2 segments"
        assert out[1].endswith(", or IdMap: 12 pairs")
        assert run("convert", "quality.txt", "quality.h5")[0] == 0
        assert bp.SegmentQuality.read("quality.h5") == bp.SegmentQuality.read("quality.txt")
        _large(monkeypatch)
        _, out, _ = run("info", "dev_key.h5")
        assert out == "dev_key.h5: hdf5, key: 12 models x 40 segments, read in blocks\n"

    def test_there_and_back(self, run: Run) -> None:
        scores, key = bp.Scores.read("dev_a.h5"), bp.Key.read("dev_key.h5")
        for suffix in (".mat", ".txt", ".csv", ".tsv"):
            for name, item in (("dev_a", scores), ("dev_key", key)):
                assert run("convert", f"{name}.h5", f"{name}_{suffix}") == (0, "", "")
                assert run("convert", f"{name}_{suffix}", "back.h5") == (0, "", "")
                assert type(item).read("back.h5") == item

    def test_columns_and_forms(self, run: Run) -> None:
        words = ("--key", "dev_key.h5", "--to", "speechbrain-scores")
        assert run("convert", "dev_a.txt", "out", *words)[0] == 0
        table = bp.files.text.read_table("out", "speechbrain-scores")
        tar, _ = bp.Scores.read("dev_a.h5").get_tar_non(bp.Key.read("dev_key.h5"))
        np.testing.assert_array_equal(np.sort(table.scores[table.is_target]), np.sort(tar))
        assert run("convert", "dev_key.tsv", "key.csv")[0] == 0
        first, second = map(bp.files.text.read_table, ("dev_key.tsv", "key.csv"))
        assert first.models == second.models
        assert first.columns == second.columns
        lost = "bosaris: warning: k.txt: gender, speaker left out: .csv has a place for them\n"
        for words in (("dev_key.tsv",), ("key.csv", "--to", "voxceleb-trials"), ("m.h5",)):
            run("convert", "dev_key.tsv", "m.h5", "--force")
            assert run("convert", words[0], "k.txt", *words[1:], "--force") == (0, "", lost)
        assert sorted(bp.Key.read("m.h5").columns) == ["gender", "speaker"]
        for name, cls in (("dev_key.h5", bp.Key), ("dev_a.h5", bp.Scores)):
            assert run("convert", name, "d.h5", "--form", "dense", "--force")[0] == 0
            assert cls.read("d.h5") == cls.read(name)
        _write("own.txt", "same 1.5 a.wav x.wav", "diff -2 a.wav y.wav")
        words = ("--columns", "label,score,model,segment", "--labels", "same=target,diff=nontarget")
        assert run("convert", "own.txt", "own.csv", *words, "--strip-suffix", ".wav")[0] == 0
        assert run("convert", "own.csv", "own.h5", "--columns", "score=score")[0] == 0
        assert bp.Scores.read("own.h5").scoremat.tolist() == [[1.5, -2.0]]
        _write("k2", "a x nontarget", "a y target")
        assert "the key on 2 of 2" in run("fuse", "own.csv", "--key", "k2", "--model", "f.json")[2]

    def test_a_dash_is_standard_input(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        line = ("--key", "eval_key.h5", "--json")
        expected = run("evaluate", "A=eval_a.txt", *line)[1]
        Path("packed").write_bytes(gzip.compress(Path("eval_a.txt").read_bytes()))
        # Of what is no key, no file of this program is named.
        told = "bosaris: error: standard input: .* Use --tar FILE --non - if these are scores .*"
        for name, words in (("eval_a.txt", line), ("packed", line), ("packed", ("--key", "-"))):
            with open(name) as stream:  # noqa: PTH123
                monkeypatch.setattr(sys, "stdin", stream)
                out, err = run("evaluate", "A=-", *words)[1:]
            assert (out == expected) if words == line else re.fullmatch(told, err.strip())

    def test_lines_without_a_score(self, run: Run) -> None:
        _write("nan.txt", "p0-m00 p0-s00 nan", "p0-m00 p1-s01 1.0")
        code, out, err = run("convert", "nan.txt", "some.h5", "--missing", "nan")
        assert (code, out) == (0, "")
        assert err == "bosaris: warning: 1 of 2 lines of nan.txt have no score.\n"
        assert bp.Scores.read("some.h5").n_trials == 1


class TestCheck:
    def test_answers_by_its_status(self, run: Run) -> None:
        told = "480 trials of the list have a score.\n"
        assert run("check", "eval_a.h5", "--trials", "eval_key.tsv")[:2] == (0, told)
        _write("list.txt", "a x", "a y", "b x", "b z")
        _write("s.txt", "a x .5", "a y nan", "b y -9", "", "a x 2", "b q inf", "b x 1", "b x 1")
        words = ("check", "s.txt", "--trials", "list.txt", "--missing", "-9", "--json")
        code, out, err = run(*words)
        assert (code, "s.txt does not fit list.txt" in err) == (3, True)
        # Counts and lines by hand: the fourth line is empty, so that (a, x) is again in line 5.
        assert json.loads(out) == {
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
        assert run("check", "list.txt", "--trials", "list.txt")[0] == 1


class TestTraining:
    def test_calibration_equals_the_library(self, run: Run) -> None:
        code, out, err = run(
            *("calibrate", "dev_a.txt", "--key", "dev_key.tsv", "--prior", "0.1:10:1"),
            *("--model", "c.json", "--apply", "eval_a.txt", "--output", "llr.h5", "--ridge", "0"),
        )
        key, scores = bp.Key.read("dev_key.h5"), bp.Scores.read("dev_a.h5")
        point = bp.OperatingPoint(0.1, 10, 1)
        expected = bp.LinearCalibration.fit_scores(scores, key, prior=point, ridge=0.0)
        assert (code, out) == (0, f"{expected!r}\n")
        # Few errors at this prior, with the remedy of the command.
        assert err.startswith("bosaris: warning: ")
        assert "ridge=" not in err
        assert bp.read_model("c.json") == expected
        llrs = expected.apply(bp.Scores.read("eval_a.h5"))
        assert bp.Scores.read("llr.h5") == llrs
        # The saved model gives the same, later and elsewhere.
        assert run("calibrate", "--model", "c.json", "--apply", "eval_a.h5", "-o", "2.txt")[0] == 0
        assert bp.Scores.read("2.txt") == llrs

    @pytest.mark.parametrize(
        ("words", "model", "options"),
        [
            ("", "LinearCalibration", {}),
            ("--objective brier --ridge .1", "LinearCalibration", BRIER),
            ("--method bounded", "BoundedCalibration", {}),
            ("--method pav", "PAVCalibration", {}),
        ],
    )
    def test_methods(self, run: Run, words: str, model: str, options: dict[str, object]) -> None:
        line = ("--key", "dev_key.h5", *words.split(), "--model", "m.json")
        assert run("calibrate", "dev_a.h5", *line)[0] == 0
        scores, key = bp.Scores.read("dev_a.h5"), bp.Key.read("dev_key.h5")
        assert bp.read_model("m.json") == getattr(bp, model).fit_scores(scores, key, **options)

    def test_fusion_equals_the_library(self, run: Run) -> None:
        code, out, err = run(
            *("fuse", "dev_a.txt", "dev_b.h5", "--key", "dev_key.h5", "--prior", "0.05"),
            *("--ridge", "0.01", "--objective", "brier", "--model", "f.json"),
            *("--apply", "eval_a.h5", "eval_b.txt", "--trials", "eval_key.tsv", "-o", "fused.h5"),
        )
        dev, evaluation = (
            {f"dev_{name}": bp.Scores.read(f"{part}_{name}.h5") for name in "ab"}
            for part in ("dev", "eval")
        )
        expected = bp.LinearFusion.fit_scores(
            dev, bp.Key.read("dev_key.h5"), prior=0.05, ridge=0.01, objective="brier"
        )
        assert (code, out) == (0, f"{expected!r}\n")
        assert "bosaris: by place: dev_a takes eval_a.h5, dev_b takes eval_b.txt\n" in err
        fused = expected.apply(evaluation, bp.Key.read("eval_key.h5"))
        assert bp.Scores.read("fused.h5") == fused
        words = ("--apply", "eval_a.h5", "eval_b.h5", "-o", "2.csv")
        assert run("fuse", "--model", "f.json", *words)[0] == 0
        assert bp.read_scores("2.csv") == fused

    @pytest.mark.parametrize("command", ["calibrate", "fuse"])
    def test_cross_fit_equals_the_library(self, run: Run, command: str) -> None:
        names = ["dev_a", "dev_b"][: 2 if command == "fuse" else 1]
        words = ("--key", "dev_key.h5", "--cross-fit", "--speakers", "re:^p.", "--seed", "2")
        scored = ("-o", "x.h5", "--model", "m.json")
        systems = {name: bp.Scores.read(f"{name}.h5") for name in names}
        code, _, err = run(command, *(f"{name}.h5" for name in names), *words, *scored)
        assert code == 0, err
        model = bp.LinearFusion if command == "fuse" else bp.LinearCalibration
        scores = systems if command == "fuse" else systems["dev_a"]
        key = bp.Key.read("dev_key.h5")
        expected = bp.cross_fit(model, scores, key, **FIRST_TWO, rng=2)
        assert bp.Scores.read("x.h5") == expected.scores
        assert bp.read_model("m.json") == expected.final

    def test_files_larger_than_memory(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        """In blocks the trained numbers agree but for rounding; applying is exact."""
        _large(monkeypatch)
        evaluation = [bp.Scores.read(f"eval_{name}.h5") for name in "ab"]
        key = bp.Key.read("eval_key.h5")
        for command, names in (("calibrate", "a"), ("fuse", "ab")):
            trained, applied = ([f"{part}_{name}.h5" for name in names] for part in ("dev", "eval"))
            words = (*trained, "--key", "dev_key.h5", "--model", f"{command}.json")
            apply = ("--apply", *applied, "-o", f"{command}.h5", "--trials", "eval_key.h5")
            assert run(command, *words, *apply)[0] == 0
        line, fusion = bp.read_model("calibrate.json"), bp.read_model("fuse.json")
        dev = bp.Scores.read("dev_a.h5"), bp.Key.read("dev_key.h5")
        in_memory = bp.LinearCalibration.fit_scores(*dev)
        assert line.scale == pytest.approx(in_memory.scale, rel=1e-9)
        assert bp.Scores.read("calibrate.h5") == line.apply(evaluation[0])
        assert bp.Scores.read("fuse.h5") == fusion.apply(evaluation, key)

    def test_systems_with_other_trials(self, run: Run) -> None:
        """None is dropped without a word, whichever system lacks trials."""
        _write("some.txt", *Path("dev_a.txt").read_text(encoding="utf-8").splitlines()[:-5])
        run("fuse", "dev_a.txt", "dev_b.h5", "--key", "dev_key.h5", "--model", "f.json")
        apply = ("fuse", "--model", "f.json", "--apply")
        code, _, err = run(*apply, "B=eval_b.h5", "eval_a.h5", "-o", "x.h5")
        assert (code, "trained on dev_a, dev_b, in this order" in err) == (2, True)
        for systems in (("some.txt", "dev_b.h5"), ("dev_b.h5", "some.txt")):
            assert run(*apply, *systems, "-o", "x.h5")[0] == 1
        assert not Path("x.h5").exists()
        assert run(*apply, "dev_a=eval_a.h5", "eval_b.h5", "-o", "x.h5")[0] == 0
        assert run(*apply, "dev_b=eval_b.h5", "dev_a=eval_a.h5", "-o", "y.h5")[0] == 0
        assert bp.read_scores("x.h5") == bp.read_scores("y.h5")

    def test_a_tandem_and_its_fusion(self, run: Run) -> None:
        """A protocol of ASVspoof 5, and scores of both detectors on its trials."""
        rng = np.random.default_rng(3)
        lines: dict[str, list[str]] = {"protocol.trl": [], "asv.txt": [], "cm.txt": []}
        kinds = ["target", "nontarget", "spoof"] * 40
        for number, kind in enumerate(kinds):
            name = f"s{number % 8} u{number}"
            middle = "A07 spoof" if kind == "spoof" else f"bonafide {kind}"
            lines["protocol.trl"].append(f"{name} {middle}")
            lines["asv.txt"].append(f"{name} {3 * (kind != 'nontarget') + rng.normal():.5f}")
            lines["cm.txt"].append(f"{name} {3 * (kind != 'spoof') + rng.normal():.5f}")
        for name, text in lines.items():
            _write(name, *text)
        both = {name: bp.read_scores(f"{name}.txt") for name in ("asv", "cm")}
        key = bp.read_key("protocol.trl")
        words = ("asv=asv.txt", "cm=cm.txt", "--key", "protocol.trl")
        _, out, _ = run("evaluate", *words, "--plan", "ASVspoof2019-LA", "--json")
        expected = bp.evaluate(both, key, plan="ASVspoof2019-LA")
        assert json.loads(out)["table"] == json.loads(expected.to_json())["table"]
        train = ("fuse", *words, "--spoof", "keep", "--model", "m.json")
        for more, costs in (((), "ASVspoof5"), (("--costs", "a-DCF1"), "a-DCF1")):
            assert run(*train, *more)[0] == 0
            assert bp.read_model("m.json") == bp.SASVFusion.fit(key, **both, costs=costs)
        apply = ("--apply", "asv=asv.txt", "cm=cm.txt", "-o", "fused.h5")
        assert run("fuse", "--model", "m.json", *apply)[0] == 0


JUDGED = ("evaluate", "eval_a.h5", "B=eval_b.txt", "--key", "eval_key.tsv")
BY_GENDER = "--conditions gender --speakers models.txt,segments.h5"
OF_GENDER = {"conditions": ["gender"], "speakers": MAPS, "replications": 9}
FIRST_TWO = {"speakers": lambda name: name[:2]}


@pytest.fixture
def systems(folder: Path) -> tuple[dict[str, bp.Scores], bp.Key]:
    """Return what `JUDGED` judges: systems, and key with metadata."""
    named = {"eval_a": bp.Scores.read("eval_a.h5"), "B": bp.read_scores("eval_b.txt")}
    return named, bp.read_key("eval_key.tsv")


class TestEvaluate:
    def test_equals_the_library_in_every_form(self, run: Run, systems) -> None:
        points = [0.05, bp.OperatingPoint(0.01, 10, 1)]
        expected = bp.evaluate(*systems, prior=points)
        words = (*JUDGED, "--prior", "0.05,0.01:10:1")
        assert run(*words)[:2] == (0, f"{expected!r}\n")
        for suffix, form in files.TABLE_OF.items():
            text = getattr(expected, f"to_{form}")().rstrip("\n")
            assert run(*words, f"--{form}")[:2] == (0, f"{text}\n")
            assert run(*words, "-o", f"t{suffix}")[:2] == (0, "")
            assert Path(f"t{suffix}").read_text(encoding="utf-8").rstrip("\n") == text
        assert run(*words, "-o", "t.txt")[0] == 0
        assert Path("t.txt").read_text(encoding="utf-8") == f"{expected!r}\n"

    @pytest.mark.parametrize(
        ("words", "options"),
        [
            (r"--speakers re:(p\d)-", FIRST_TWO),
            (r"--speakers re:^p\d,re:p.", {"speakers": (lambda name: name[:2],) * 2}),
            ("--speakers speaker,", {"speakers": ("speaker", None)}),
            ("--speakers models.txt", {"speakers": {name: name[:2] for name in MODELS}}),
            ("--eer step", {"eer": "step"}),
            (f"{BY_GENDER} --bootstrap 9 --plan VoxSRC", {"plan": "VoxSRC", **OF_GENDER}),
            ("--cross-fit --speakers re:^p. --seed 2", {"cross_fit": True, "rng": 2, **FIRST_TWO}),
        ],
    )
    def test_options(self, run: Run, systems, words: str, options: dict[str, object]) -> None:
        if options.get("speakers") == MAPS:
            options |= {"speakers": tuple(map(bp.IdMap.read, MAPS))}
        expected = bp.evaluate(*systems, **{"rng": 0, **options})
        code, out, err = run(*JUDGED, *words.split(), "--json")
        assert code == 0, err
        assert json.loads(out)["table"] == json.loads(expected.to_json())["table"]

    @pytest.mark.parametrize(("what", "n_non"), [("nontarget", 406), ("drop", 366)])
    def test_spoofs_of_a_binary_key(self, run: Run, what: str, n_non: int) -> None:
        # Of the 40 trials of a model 34 are no targets.
        _with_spoofs().save("k.h5")
        words = ("evaluate", "dev_a.h5", "--key", "k.h5", "--spoof", what, "--json")
        row = json.loads(run(*words)[1])["table"][0]
        assert (row["n_tar"], row["n_non"], row["n_spoof"]) == (74, n_non, 0)

    def test_below_the_table(self, run: Run) -> None:
        words = ("evaluate", "dev_a.h5", "--key", "dev_key.h5")
        assert "; plan ESDD of a countermeasure" in run(*words, "--plan", "ESDD")[1]
        # The models of two speakers, and all segments, are speakers of their own.
        err = run(*words, "--speakers", "re:^p[0-3](?=-m),re:^p[0-5]")[2]
        assert "4 of 12 ids" in err
        assert "80 targets, 400 non-targets, 6 speakers" in run(*words, "--speakers", "re:^p.")[1]
        pairs = ("compare", "dev_a.h5", "dev_b.h5", "--key", "dev_key.h5")
        assert "; 6 speakers" in run(*pairs, "--speakers", "re:^p.")[1]
        # A pattern that makes one speaker of all.
        for line, told in ((words, ", 1 speaker; "), (pairs, "no interval; 1 speaker)")):
            out = run(*line, "--speakers", "re:p")[1]
            assert (told in out, re.findall(r"\d+ speakers", out)) == (True, ["5 speakers"])

    def test_files_larger_than_memory(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        words = ("evaluate", "eval_a.h5", "eval_b.h5", "--key", "eval_key.h5", "--json")
        in_memory = json.loads(run(*words)[1])
        _large(monkeypatch)
        streamed = json.loads(run(*words)[1])
        for first, second in zip(in_memory["table"], streamed["table"], strict=True):
            assert first.pop("cllr") == pytest.approx(second.pop("cllr"), rel=1e-12)
        assert in_memory == streamed

    def test_columns_of_one_file(self, run: Run) -> None:
        _write("t.csv", "model,segment,x,y,label", "a,b,1.5,2,target", "a,c,-1,1,nontarget")
        words = ("t.csv#x", "Y=t.csv#y", "--key", "t.csv", "--json")
        code, out, err = run("evaluate", *words)
        assert code == 0, err
        assert [row["system"] for row in json.loads(out)["table"]] == ["x", "Y"]


class TestOtherAnswers:
    @pytest.mark.parametrize("name", ["EER", "MinDCF", "ActDCF", "MinCllr", "Cllr", "AUC"])
    def test_comparison_equals_the_library(self, run: Run, systems, name: str) -> None:
        maps = bp.IdMap.read("models.txt"), bp.IdMap.read("segments.h5")
        metric = getattr(bp.uncertainty, name)(*[0.1] * name.endswith("DCF"))
        expected = bp.uncertainty.compare_systems(*systems, metric, speakers=maps)
        words = ("--speakers", "models.txt,segments.h5", "--prior", "0.1", "--json")
        statistic = re.sub(r"(?<=n|t)(DCF|Cllr)", r"_\1", name).lower()
        found = run("compare", *JUDGED[1:], *words, "--statistic", statistic)
        assert found[:2] == (0, expected.to_json())

    @pytest.mark.slow
    def test_case_is_that_of_the_library(self, run: Run, systems) -> None:
        words = ("--same", "he speaks", "--different", "another speaks", "--reference", "few")
        line = ("case", "1.5", "eval_b.h5", "--key", "eval_key.h5", "--speakers", "re:^p.", *words)
        code, out, _ = run(*line, "--json")
        said = {"propositions": ("he speaks", "another speaks"), "reference": "few"}
        given = (1.5, systems[0]["B"], systems[1])
        expected = bp.case_llr(*given, **said, **FIRST_TWO)
        assert (code, json.loads(out)) == (0, json.loads(json.dumps(expected.to_dict())))
        # The score and the file are logarithms to the same base.
        bp.Scores.read("eval_b.h5").transform(lambda x: x / math.log(10.0)).save("log10.h5")
        line10 = ("case", 1.5 / math.log(10.0), "log10.h5", *line[3:], "--base", "10")
        assert "\nscore 0.6514417229 (base 10), natural 1.5; " in run(*line10)[1]
        found = json.loads(run(*line10, "--json")[1])
        assert (found["score"], found["logarithms"]) == (1.5, "natural")
        assert found["llr"] == pytest.approx(json.loads(out)["llr"], rel=1e-9)

    @pytest.mark.parametrize("kind", ["det", "bayes", "tippett", "histogram"])
    def test_plots(self, run: Run, kind: str) -> None:
        one = ("eval_a.h5", "--title", "Eval", "-o", "plot.svg", "--key", "eval_key.tsv")
        more = ("--prior", "0.2:10:1", "--conditions", "gender") if kind == "bayes" else ()
        code, out, err = run("plot", kind, *one, *more)
        assert (code, out) == (0, "")
        assert "pooled" not in err
        assert Path("plot.svg").read_text(encoding="utf-8").startswith("<?xml")

    @pytest.mark.slow
    def test_report_equals_the_library(self, run: Run) -> None:
        words = ("A=eval_a.txt", "B=eval_b.h5", "--key", "eval_key.tsv", "--conditions", "gender")
        speakers = ("--speakers", "re:^p.", "--bootstrap", "20", "--date", "2026-01-31")
        code, out, _ = run("report", *words, *speakers, "--title", "T", "-o", "cli.html")
        assert (code, out) == (0, "")
        systems = {"A": bp.Scores.read("eval_a.h5"), "B": bp.Scores.read("eval_b.h5")}
        options = {"speakers": lambda name: name[:2], "replications": 20, "rng": 0}
        key = bp.read_key("eval_key.tsv")
        found = bp.evaluate(systems, key, conditions=["gender"], **options)
        names = ("eval_a.txt", "eval_b.h5", "eval_key.tsv")
        named = dict(zip(("scores of A", "scores of B", "key"), names, strict=True))
        found.report("library.html", title="T", files=named, date="2026-01-31")
        assert Path("cli.html").read_bytes() == Path("library.html").read_bytes()


# Command lines that are refused: the code, and what the line of the error names.
REFUSED = [
    ("calibrate", 2, "give SCORES and --key to train, or --model"),
    ("calibrate dev_a.h5 dev_b.h5 --key dev_key.h5 --model m.json", 2, "`bosaris fuse` joins"),
    ("calibrate dev_a.h5 --key dev_key.h5 --speakers re:. --model m.json", 2, "--cross-fit"),
    ("calibrate dev_a.h5 --key dev_key.h5 --model m.json --method pav --ridge 1", 2, "pav has no"),
    ("fuse dev_a.h5 dev_a.h5 --key dev_key.h5 --model m.json", 2, "two systems are called"),
    ("compare dev_a.h5 --key dev_key.h5", 1, "at least two systems"),
    ("info --labels same dev_a.txt", 1, "--labels must map each word"),
    ("info damaged.h5", 1, "damaged.h5: damaged"),
    ("plot det dev_a.h5 --key dev_key.h5", 2, "required: -o/--output"),
    ("plot tippett dev_a.h5 --key dev_key.h5 -o p.png --prior .1", 2, "--prior marks nothing"),
    ("plot det dev_a.h5 --key dev_key.h5 -o x.svg --bootstrap 9", 2, "`bosaris report --boot"),
    *(
        (f"plot {kind} dev_a.h5 --key dev_key.tsv -o x.svg --conditions gender", 2, "bayes or fo")
        for kind in ("tippett", "ece", "pav", "histogram", "reliability")
    ),
    ("plot forest dev_a.h5 --key dev_key.h5 -o x.svg", 2, "it needs --speakers"),
    ("evaluate dev_a.h5 --key spoofs.h5 --plan VoxSRC", 1, "--spoof drop"),
    ("plot histogram dev_a.h5 dev_b.h5 --key dev_key.h5 -o x.svg", 1, "--of must name one"),
    ("report dev_a.h5 --key dev_key.h5 -o r.pdf", 2, "--output must end in .html; got 'r.pdf'"),
    ("case 3,2 dev_a.h5 --key dev_key.h5", 2, "SCORE: '3,2': expected a number, with a point"),
    ("case inf dev_a.h5 --key dev_key.h5 --same a --different b --reference c", 1, "SCORE must be"),
    ("evaluate dev_a.h5 --key dev_key.h5 --speakers re:(", 2, "in the pattern '('"),
    ("evaluate dev_a.h5 --key dev_key.h5 --speakers no.txt", 1, "no.txt' is no file, nor a column"),
    ("evaluate dev_a.h5 --key dev_key.h5 --speakers re:QQ", 1, "matches none of the 52 ids"),
    ("evaluate dev_a.h5 --key dev_key.h5 --prior 1%", 2, "a probability is written as 0.01, not"),
    ("evaluate dev_a.h5 --key dev_key.h5 -o table.xyz", 2, "must end in .csv, .json, .md, .tex"),
    ("evaluate dev_a.h5 --key dev_key.h5 --conditions channel", 1, "--conditions must be a column"),
    ("evaluate dev_a.h5 --key dev_key.h5 -o ''", 2, "needs the name of a file"),
    ("evaluate nan.txt --key dev_key.h5", 1, "--missing nan"),
    ("evaluate dev_a.txt --key odd.txt", 1, "--key-columns"),
    ("evaluate dev_a.txt --key dev_key.h5 --key-format nope", 1, "--key-format must be one of"),
    ("evaluate dev_a.h5 --key dev_key.h5 --prior 0.1:1:1:1", 2, "expected P, or P:CMISS:CFA"),
    (
        "evaluate dev_a.h5 --key dev_key.h5 --speakers re:^p. --bootstrap 9 --seed -1",
        1,
        "a whole number from 0",
    ),
    ("evaluate dev_a.h5 --key dev_key.h5 --metadata dev_a.txt", 1, "--metadata takes a key with"),
    ("evaluate dev_a.h5 --mates models.txt", 1, "--mates must have targets with scores"),
    ("evaluate --tar dev_a.txt --non dev_b.txt --speakers models.txt", 2, "--speakers needs a key"),
    ("evaluate --tar dev_a.txt --non dev_a.txt", 2, "--tar and --non name one file"),
    ("evaluate --tar dev_a.h5 --non dev_b.txt", 1, "here a text is needed"),
    (
        "plot det --tar dev_a.txt --non dev_b.txt --conditions x -o p.svg",
        1,
        "--conditions must be left",
    ),
    ("fuse --model f.json --apply dev_a.txt short.txt -o x.h5", 1, "all systems have by --trials"),
    ("compare dev_a.h5 dev_b.h5 --key lone.txt", 1, "without a target trial; got no speaker of 1"),
    ("compare dev_a.h5 dev_b.h5 --key lone.txt", 1, "of folders: --speakers 're:^([^/]+)'."),
    (
        "plot forest dev_a.h5 --key dev_key.tsv --speakers gender -o p.svg",
        1,
        "no interval of dev_a",
    ),
    ("compare dev_a.h5 dev_b.h5 --key dev_key.h5 --eer step --statistic auc", 2, "--statistic eer"),
    ("fuse dev_a.h5 short.txt --key dev_key.h5 --model n.json", 1, "by --trials (--key, to train)"),
    ("fuse dev_a.h5 --key dev_key.h5 --model n.json --costs a-DCF1", 2, "with --spoof keep"),
    ("fuse --model f.json --apply dev_a.h5 -o x.h5", 2, "trained on 2 systems; --apply names 1"),
    ("calibrate dev_a.h5 --key dev_key.h5 --model m.txt", 2, "--model must end in .json"),
    ("calibrate --model {} --apply dev_a.h5 -o x.h5", 1, "{}: no model of this package: it lacks"),
    ("calibrate --model m.json --apply short.txt --trials odd.txt -o x.h5", 1, "--key-columns"),
    (
        "calibrate --model m.json --apply dev_a.h5 --trials models.txt -o x.h5",
        1,
        "--trials must hold",
    ),
    ("calibrate nan.txt --key dev_a.txt --model n.json", 1, "so it is no key."),
    ("convert dev_a.h5 o.h5 --key dev_key.h5", 2, "--to NAME"),
    ("convert dev_key.h5 o.h5 --ids basename", 2, "only where scores meet trials"),
    ("convert spoofs.h5 o.mat", 1, "OUTPUT must be .h5 where there are spoofs"),
    (
        "case 1 dev_a.h5 --key dev_key.h5 --same '' --different b --reference c",
        1,
        "--same and --diff",
    ),
]


@pytest.mark.parametrize(("line", "code", "message"), REFUSED, ids=[line for line, *_ in REFUSED])
def test_refused_in_one_line(folder: Path, run: Run, line: str, code: int, message: str) -> None:
    """An error is one line, in options of the command, and leaves no file."""
    _write("nan.txt", "p0-m00 p0-s00 nan", "p0-m00 p1-s01 1.0")
    _write("odd.txt", "m s 1 2 3 4 5 6")
    Path("damaged.h5").write_bytes(Path("eval_a.h5").read_bytes()[:3000])
    bp.LinearCalibration.fit([1.0, 3.0, 2.0], [0.0, 2.5, -1.0]).save("m.json")
    _with_spoofs().save("spoofs.h5")
    Path("{}").write_text("{}")
    _write("short.txt", *Path("dev_a.txt").read_text(encoding="utf-8").splitlines()[:9])
    bp.LinearFusion.from_weights([1.0, 2.0], 0.0).save("f.json")
    _write("lone.txt", "p0-m00 p0-s00 target", "p0-m00 p1-s01 nontarget")
    before = sorted(folder.rglob("*"))
    found, out, err = run(*shlex.split(line))
    *others, last = err.splitlines()
    assert (found, out) == (code, ""), err
    assert all(other.startswith("bosaris: warning: ") for other in others)
    assert message in last
    assert re.match(r"bosaris[ \w]*: error: ", last)
    assert code == 1 or f"(see bosaris {line.split()[0]} --help)" in last
    # No argument or call of Python.
    assert "NAME=VALUE" in last or not re.search(
        r"`[a-z_]+`|\w\(|\b[a-z_]+=(?![A-Z]{2})", last.replace("SCORES=", "")
    )
    assert sorted(folder.rglob("*")) == before


def _advice() -> list[str]:
    """Return the hints and the advice that stand in the sources; {x} stands for a value."""
    found = []
    for path in (ROOT / "bosaris_py").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text if "hint" in text or "advice" in text else "")):
            value, target = getattr(node, "value", None), getattr(node, "targets", [None])[0]
            if (getattr(node, "arg", None) or getattr(target, "id", "")) in ("hint", "advice"):
                parts = value.values if isinstance(value, ast.JoinedStr) else [value]
                texts = [getattr(part, "value", "") for part in parts]
                found.append("".join(t if isinstance(t, str) else "x" for t in texts))
    return [text for text in found if text]


def test_all_advice_is_of_the_command() -> None:
    """Where a script is told of an argument or a class, the command names an option, or nothing."""
    args = make_parser().parse_args(["evaluate", "a", "--key", "k"])
    listed = _advice()
    assert len(listed) > 20
    for advice in listed:
        told = in_options(f"Something is odd. {advice}", args)
        assert told.startswith("Something is odd.")
        assert not re.search(r"`[a-z_]+`|\w\(|\b[a-z_]+=(?![A-Z]{2})|[a-z]\.fit\b", told), told
    for text, told in (
        ("`replications` must be whole.", "--bootstrap must be whole."),
        ("Odd. Use columns='a b' or `labels`.", "Odd. Use --columns 'a b' or --labels."),
        ("Odd. Write key.with_columns(x=y).", "Odd."),
        ("Then take -scores.", "Swap --labels, or turn distances round by `bosaris calibrate`."),
    ):
        assert in_options(text, args) == told


def test_warnings_are_one_line_each(run: Run) -> None:
    _write("some.txt", *Path("eval_a.txt").read_text(encoding="utf-8").splitlines()[:100])
    words = ("evaluate", "some.txt", "A=some.txt", "--key", "eval_key.h5", "--allow-missing")
    # A table has them below it.
    code, out, err = run(*words)
    assert (code, err) == (0, "")
    assert "trials missing" in out or "targets missing" in out
    code, _, err = run(*words, "--csv")
    lines = err.splitlines()
    assert (code, len(set(lines))) == (0, len(lines))
    assert lines
    assert all(line.startswith("bosaris: warning: ") for line in lines)


def test_each_file_has_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", "dev_a.h5", "--key", "dev_key.h5", "--model", "c.json"]
    assert cli.main([*words, "--apply", "eval_a.h5", "-o", "llr\ns.h5"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert {"bosaris: wrote c.json", "bosaris: wrote llr\\ns.h5"} <= set(lines)
    assert cli.main(["evaluate", "eval_a.h5", "--key", "eval_key.h5", "-o", "no folder/t"]) == 1
    assert cli.main(["evaluate", "eval_a.h5", "--key", "eval_key.h5"]) == 0
    assert "wrote" not in capsys.readouterr().err


def _process(folder: Path, *words: str, **options: object) -> tuple[int, str]:
    """Run Python in a process of its own; return its code and what it wrote to standard error."""
    options |= {"cwd": folder, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    options |= {"text": True, "stderr": subprocess.PIPE, "timeout": 60}
    done = subprocess.run([sys.executable, *words], check=False, **options)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "words", ["convert dev_a.h5 new.txt", "check dev_a.h5 --trials dev_key.h5"]
)
def test_a_command_imports_what_it_needs(folder: Path, words: str) -> None:
    assert _process(folder, "-m", "bosaris_py", *words.split())[0] == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_reader_goes_away(folder: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    assert _process(folder, "-m", "bosaris_py", "info", "dev_a.h5", stdout=writing) == (141, "")
    os.close(writing)


def test_interrupt_of_an_import(folder: Path) -> None:
    """The console script runs this function, of which setup.cfg and the recipe tell."""
    code = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, *_):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from bosaris_py.__main__ import main
sys.exit(main())
"""
    assert _process(folder, "-c", code, "info", "dev_a.h5") == (130, "bosaris: interrupted\n")
    for name in ("setup.cfg", "conda/meta.yaml"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "bosaris = bosaris_py.__main__:main\n" in text


def test_disk_is_full(run: Run, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    full = Mock(side_effect=[OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) for _ in range(9)])
    before = sorted(folder.iterdir())
    monkeypatch.setattr("bosaris_py.files.replacing.os.fsync", full)
    training = ("calibrate", "dev_a.h5", "--key", "dev_key.h5", "--model", "c.json")
    drawn = ("plot", "det", *JUDGED[1:], "-o", "det.pdf")
    for words in (("convert", "dev_a.h5", "new.csv"), training, (*JUDGED, "-o", "table"), drawn):
        code, out, err = run(*words)
        assert (code, out) == (1, "")
        assert err.splitlines()[-1] == f"bosaris: error: {words[-1]}: No space left on device"
    full.side_effect = KeyboardInterrupt
    assert run("convert", "dev_a.h5", "new.h5") == (130, "", "bosaris: interrupted\n")
    assert sorted(folder.iterdir()) == before


@pytest.mark.slow
def test_transcript_of_the_page(tmp_path, monkeypatch, capsys):
    """From two text files of scores and a key to a fused, calibrated, evaluated system."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", page, flags=re.DOTALL)[1], {})
    blocks = re.findall(r"```console\n\$ (.*?)```", page, flags=re.DOTALL)
    steps = [step for block in blocks for step in re.split(r"^\$ ", block, flags=re.M)]
    assert len(steps) > 10
    for command, _, expected in (step.partition("\n") for step in steps):
        name, *words = shlex.split(command)
        assert name == "bosaris"
        code = cli.main(words)
        out, err = capsys.readouterr()
        # A processor with other instructions may add up in another order.
        written, shown = (
            re.sub(r"\d\.\d{12,}", lambda digits: f"{float(digits[0]):.12f}", text)
            for text in (out + err, expected)
        )
        assert (written, code) == (shown, int("error:" in expected)), command
    assert (tmp_path / "det.pdf").read_bytes().startswith(b"%PDF")


class TestOutputs:
    """What a command reads it never writes, and what others wrote it replaces when told to."""

    @pytest.fixture
    def inputs(self, folder: Path) -> dict[Path, bytes]:
        """The files of the folder, some under the names of outputs, and a name for two of them."""
        for suffix in ("html", "svg", "json"):
            shutil.copy("dev_key.tsv", f"key.{suffix}")
        shutil.copy("models.txt", "speakers.csv")
        shutil.copy("eval_key.h5", "b.h5")
        os.link("dev_a.txt", "hard.txt")
        Path("soft.txt").symlink_to("dev_a.txt")
        systems = [bp.Scores.read(f"dev_{name}.h5") for name in "ab"]
        bp.LinearFusion.fit_scores(systems, bp.Key.read("dev_key.h5")).save("fusion.json")
        return {path: path.read_bytes() for path in folder.iterdir()}

    @pytest.mark.parametrize("force", ["", " --force"])
    @pytest.mark.parametrize(
        "line",
        [
            "evaluate dev_a.txt --key dev_key.tsv --csv -o dev_key.tsv",
            "evaluate hard.txt --key dev_key.tsv -o dev_a.txt",
            "evaluate dev_a.txt --key dev_key.tsv -o soft.txt",
            "evaluate dev_a.h5 --key dev_key.h5 --speakers speakers.csv, -o speakers.csv",
            "convert dev_a.txt dev_a.txt --to nist",
            "calibrate dev_a.txt --key dev_key.tsv --apply eval_a.txt -o dev_key.tsv",
            "calibrate dev_a.h5 --key key.json --model key.json",
            "fuse --model fusion.json --apply eval_a.h5 eval_b.h5 --trials b.h5 -o b.h5",
            "plot det dev_a.txt --key key.svg -o key.svg",
            "report dev_a.txt --key key.html -o key.html",
        ],
    )
    def test_no_input_is_written(self, run, inputs, line, force):
        code, out, err = run(*shlex.split(line + force))
        assert (code, out) == (2, "")
        assert "is a file that is read" in err
        assert err.count("\n") == 1
        assert {path: path.read_bytes() for path in inputs} == inputs

    def test_files_of_others_are_replaced_by_force(self, run: Run) -> None:
        # Outputs are tried before the work: the key is not even looked for.
        line = "calibrate dev_a.h5 --key nowhere.h5 --model nowhere/m.json"
        assert "No such folder" in run(*line.split())[2]
        words = ("evaluate", "dev_a.h5", "--key", "dev_key.h5", "-o", "notes.txt")
        Path("notes.txt").write_text("the system and the first ideas of matplotlib\n")
        code, _, err = run(*words)
        assert code == 2
        # Nothing tells scores in text, which this program writes too, from those of others.
        assert "notes.txt exists; --force replaces it" in err
        assert Path("notes.txt").read_text().startswith("the system")
        assert run(*words, "--force")[0] == 0
        # Now it is a table of this program. An empty file is nobody's.
        Path("empty.txt").touch()
        assert run(*words)[0] == run(*words[:-1], "empty.txt")[0] == 0

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("line", "names"),
        [
            ("evaluate dev_a.h5 --key dev_key.h5 -o", "o.txt o.csv o.md o.tex o.json"),
            ("compare dev_a.h5 dev_b.h5 --key dev_key.h5 --speakers re:^.. -o", "o.txt o.csv"),
            ("plot det dev_a.h5 --key dev_key.h5 -o", "o.png o.svg o.pdf"),
            ("report dev_a.h5 --key dev_key.h5 -o", "o.html"),
            ("convert dev_a.h5", "o.h5 o.mat"),
            ("calibrate dev_a.h5 --key dev_key.h5 --model", "o.json"),
        ],
    )
    def test_own_outputs_are_replaced(self, run: Run, line: str, names: str) -> None:
        for name in names.split():
            assert [run(*line.split(), name)[0] for _ in range(2)] == [0, 0], name


# What file systems allow in a name: no UTF-8, formulas, controls, letters to the left, markup.
NAMES = ["\udcff{日本", "$$", r"$\frac$a|b", "a\n\rb\x1b[31m\u202e<b>"]


class TestNoTraceback:
    """What goes wrong is a line, also where it is a fault of this program."""

    @pytest.mark.slow
    @pytest.mark.parametrize("name", NAMES)
    def test_names_in_every_subcommand(self, run: Run, name: str) -> None:
        for old in ("dev_a", "dev_b"):
            shutil.copy(f"{old}.txt", f"{old}{name}.txt")
        a, b, key = f"dev_a{name}.txt", f"dev_b{name}.txt", ("--key", "dev_key.h5")
        for words in (
            ("info", a),
            ("convert", a, f"c{name}.h5"),
            ("evaluate", a, *key, "-o", f"e{name}.csv"),
            ("evaluate", a, *key, "--json"),
            ("compare", a, b, *key, "--speakers", "re:^..", "-o", f"c{name}.csv"),
            ("calibrate", a, *key, "--model", f"m{name}.json", "--apply", b, "-o", f"n{name}.h5"),
            ("fuse", a, b, *key, "--model", f"f{name}.json"),
            ("plot", "det", a, *key, "-o", f"d{name}.svg", "--title", name),
            ("evaluate", a, *key, "--plan", "VoxSRC"),
        ):
            code, _, err = run(*words)
            assert code == 0, words
            assert all(line.startswith("bosaris: warning: ") for line in err.splitlines()), err
        # Names come back, halves of surrogates as what can be written.
        system = f"dev_a{name}".encode("utf-8", "backslashreplace").decode()
        with Path(f"e{name}.csv").open(newline="", encoding="utf-8") as stream:
            assert [row["system"] for row in csv.DictReader(stream)] == [system]
        assert bp.LinearFusion.read(f"f{name}.json").system_names[0] == system

    def test_a_fault_of_the_program(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        words = ("evaluate", "dev_a.h5", "--key", "dev_key.h5")
        monkeypatch.setattr(evaluating, "judge", lambda _: np.empty(2**50))
        code, _, err = run(*words)
        assert (code, "memory" in err) == (1, True)
        monkeypatch.setattr(evaluating, "judge", lambda _: {}["no\nkey"])
        code, out, err = run(*words)
        assert (code, out, err.count("\n"), "KeyError" in err) == (1, "", 1, True)
        monkeypatch.setenv("BOSARIS_DEBUG", "1")
        assert "Traceback" in run(*words)[2]

    def test_closed_output(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", None)
        code = cli.main(["info", "dev_a.h5"])
        assert code == 1
        monkeypatch.setattr(sys, "stderr", None)
        assert cli.main(["info", "--nothing"]) == 2
        # What is in a file needs no output.
        assert cli.main(["evaluate", "dev_a.h5", "--key", "dev_key.h5", "-o", "o.csv"]) == 0


JUDGED_TWICE = "X=eval_a.txt ECAPA=eval_b.txt --key eval_key.tsv"
SPEAKERS = "--speakers re:^(p.)"
LINES = [
    f"evaluate {JUDGED_TWICE} --prior 0.01,0.05 {SPEAKERS}",
    f"evaluate {JUDGED_TWICE} --conditions gender {SPEAKERS} --bootstrap 20",
    f"compare eval_a.txt {JUDGED_TWICE} {SPEAKERS}",
    f"case 0.5 eval_b.txt --key eval_key.h5 {SPEAKERS} --same one --different two --reference few",
]


def _at_terminal(columns: int, words: list[str], *, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the command in this process with its output at a terminal; return what it shows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with os.fdopen(slave, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        assert cli.main(words) == 0
        stream.flush()
        os.set_blocking(master, False)
        shown = b""
        while True:
            try:
                part = os.read(master, 2**16)
            except BlockingIOError:
                break
            shown += part
    os.close(master)
    return shown.decode()


@pytest.mark.parametrize("line", LINES)
def test_no_line_wraps_at_80_columns(line, folder, monkeypatch):
    shown = _at_terminal(80, shlex.split(line), monkeypatch=monkeypatch)
    assert shown.strip()
    assert [row for row in shown.splitlines() if len(row) > 80] == []


def test_wide_is_what_a_pipe_gets(folder, monkeypatch, capsys):
    words = shlex.split(LINES[2])
    assert cli.main(words) == 0
    piped = capsys.readouterr().out
    assert max(map(len, piped.splitlines())) > 80
    narrow = _at_terminal(80, words, monkeypatch=monkeypatch)
    wide = _at_terminal(80, [*words, "--wide"], monkeypatch=monkeypatch)
    # A terminal ends lines by two signs.
    assert wide.replace("\r\n", "\n") == piped
    # Where a table fits, with its note, nothing changes.
    assert _at_terminal(5000, words, monkeypatch=monkeypatch) == wide
    # Nothing is lost: each figure and each end of an interval is there.
    assert set(re.findall(r"\d+\.\d+", narrow)) == set(re.findall(r"\d+\.\d+", piped))
    assert cli.main([*words, "-o", "table.txt"]) == 0
    assert Path("table.txt").read_text() == piped


# Command lines that nobody should write: each ends with a line and a code, no file is lost.
SEED = 2125
GOOD = ["dev_a.txt", "dev_a.h5", "dev_b.h5", "dev_key.h5", "dev_key.tsv"]
BAD = "model.json page.html empty.txt noise.h5 noise.json words.txt folder none.txt - / . $$"
ODD = "NAME=dev_a.h5 =dev_a.h5 NAME= dev_a.txt#x a\udcff.txt \u202e.h5"
FILES = [*GOOD, *BAD.split(), *ODD.split(" "), "", "\n", "a" * 300]
WORDS = "%s{}%n $(x) re:( re:^.. re: gender nothing VoxSRC SRE18 x<=y 1,2 0.1,0.5 , a=b \0 eer<=2%"
NUMBERS = "0 -1 1e999 nan inf 0.5 0.01 2 eer ∞ NaN model,segment,score score basename s|a|b|g"
VALUES = ["", *NUMBERS.split(), *WORDS.split(), "9" * 40]


@pytest.fixture
def odd_folder(folder: Path) -> Path:
    """A folder with good files and others."""
    bp.LinearCalibration.fit([1.0, 3.0, 2.0], [0.0, 2.5, -1.0]).save("model.json")
    Path("page.html").write_text("<html>mine</html>")
    Path("empty.txt").touch()
    Path("words.txt").write_text("these are\nno scores at all\n")
    for name in ("noise.h5", "noise.json"):
        Path(name).write_bytes(np.random.default_rng(SEED).bytes(500))
    Path("folder").mkdir()
    Path("folder/mine.txt").write_text("mine")
    return folder


def odd_line(rng: random.Random) -> list[str]:
    """Return a subcommand with files and values of all kinds in all places."""
    command = rng.choice([*COMMANDS])
    words = [command]
    for word in [*COMMANDS[command]["options"].replace(" --force", "").split(), *FILE_OPTIONS]:
        name = word.rstrip("!")
        settings = {**OPTIONS, **FILE_OPTIONS}[name]
        good = [*map(str, settings.get("choices") or ())]
        if not name.startswith("--"):
            good = good or (["1.5"] if settings.get("type") is float else GOOD)
            pool = good if rng.random() < 0.7 else FILES
            words += rng.choices(pool, k=rng.choice((1, 2)) if "nargs" in settings else 1)
        elif word.endswith("!") or rng.random() < (0.15 if name in OPTIONS else 0.05):
            words.append(name)
            if settings.get("action", "extend") in ("extend", "append"):
                pool = FILES if settings.get("metavar") == "FILE" else VALUES
                words.append(rng.choice(good if good and rng.random() < 0.9 else pool))
    # The good ones in some lines, so that they come far.
    for i, word in enumerate(words):
        if word == "--key" and rng.random() < 0.8:
            words[i + 1] = "dev_key.h5"
    if rng.random() < 0.1:
        words.insert(rng.randrange(len(words) + 1), rng.choice(["--", "--nothing", "-x", *VALUES]))
    return words


def content(folder: Path) -> dict[Path, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_odd_lines(odd_folder, count, capsys, monkeypatch):
    rng = random.Random(SEED + count)
    before, codes = content(odd_folder), set()
    for _ in range(count):
        words = odd_line(rng)
        with open("empty.txt") as nothing:  # noqa: PTH123
            monkeypatch.setattr(sys, "stdin", nothing)
            code = cli.main(words)
        _, err = capsys.readouterr()
        codes.add(code)
        assert code in (0, 1, 2, 3), words
        assert "Traceback" not in err, words
        # The name of an exception is in the line of a fault of the program only.
        assert not re.search(r"\b[A-Z][a-zA-Z]+(Error|Exception)\b", err), (words, err)
        found = [line for line in err.splitlines() if re.match(r"bosaris[ \w-]*: error: ", line)]
        assert len(found) == (code in (1, 2)), (words, err)
        # What this package wrote may be replaced; nothing of others, and nothing that was read.
        after = content(odd_folder)
        mine = {path: found for path, found in before.items() if path.suffix in (".html", ".txt")}
        assert mine.items() <= after.items(), words
        for path in after.keys() - before.keys():
            path.unlink()
        assert not list(odd_folder.rglob("*.bosaris_py")), words
    assert codes >= {1, 2}
