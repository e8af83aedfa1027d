"""The command: what it writes equals the library, and what goes wrong is one line and a code."""

import csv
import errno
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import attrs
import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import cli
from bosaris_py.cli import judging, options, printing, training
from bosaris_py.cli.options import OPTIONS
from bosaris_py.cli.parser import COMMANDS
from bosaris_py.errors import BosarisWarning
from tests.forms import described

ROOT = Path(__file__).resolve().parent.parent
# Two models for each of six speakers.
MODELS = [f"p{i // 2}-m{i:02}" for i in range(12)]
SEGMENTS = sorted(f"p{j % 6}-s{j:02}" for j in range(40))
Run = Callable[..., tuple[int, str, str]]


def _make(seed: int, key: bp.Key, strength: float) -> bp.Scores:
    """Return scores of a made-up system, as text keeps them."""
    noise = np.random.default_rng(seed).normal(0, 1, key.tar.shape)
    return bp.Scores(np.round(strength * key.tar + noise, 4), MODELS, SEGMENTS)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two systems on dev and on eval, as text and as HDF5."""
    monkeypatch.chdir(tmp_path)
    speakers = [name[:2] for name in MODELS], [name[:2] for name in SEGMENTS]
    is_tar = np.equal.outer(*map(np.array, speakers))
    key = bp.Key(MODELS, SEGMENTS, is_tar, ~is_tar)
    gender = ["f" if name < "p2" else "m" for name in speakers[0]]
    metadata = described(key, model_columns={"gender": gender, "speaker": speakers[0]})
    for part, seed in (("dev", 1), ("eval", 2)):
        key.save(f"{part}_key.h5")
        table = bp.trials.to_table(metadata)
        bp.files.writing.write_table(f"{part}_key.tsv", table, "nist")
        for name, strength in (("a", 1.5), ("b", 2.0)):
            scores = _make(10 * seed + ord(name), key, strength)
            scores.save(f"{part}_{name}.h5")
            scores.save(f"{part}_{name}.txt")
    bp.IdMap(MODELS, speakers[0]).save("models.txt")
    bp.IdMap(SEGMENTS, speakers[1]).save("segments.h5")
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


def _start(folder: Path, *words: str, **options: object) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-m", "bosaris_py", *words],
        cwd=folder,
        env=environment,
        text=True,
        stderr=subprocess.PIPE,
        **options,
    )


class TestHelp:
    def test_version(self, run: Run) -> None:
        assert run("--version") == (0, f"bosaris_py {bp.__version__}\n", "")

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_has_examples(self, run: Run, command: str) -> None:
        code, out, err = run(command, "--help")
        assert (code, err) == (0, "")
        assert f"examples:\n  bosaris {command} " in out

    def test_every_option_has_a_help(self) -> None:
        # These say it by their names.
        without = {name for name, settings in OPTIONS.items() if not settings.get("help")}
        assert without == {"files", "input", "--title"}

    def test_no_command(self, run: Run) -> None:
        code, out, err = run()
        assert (code, err) == (0, "")
        assert out == run("--help")[1]

    def test_what_the_command_is_for(self, run: Run) -> None:
        _, out, _ = run("--help")
        assert out.startswith("usage: bosaris [-h] [--version] COMMAND ...\n\nTurn detector")

    @pytest.mark.parametrize("word", ["--pri", "--boot"])
    def test_options_are_not_abbreviated(self, run: Run, word: str) -> None:
        code, out, err = run("evaluate", "dev_a.h5", "--key", "dev_key.h5", word, "1")
        assert (code, out) == (2, "")
        assert "error: unrecognized arguments" in err

    def test_help_imports_no_number_of_the_library(self) -> None:
        code = (
            "import sys; from bosaris_py.cli import main; main(['--help'])\n"
            "assert not {'numpy', 'scipy', 'h5py', 'matplotlib'} & set(sys.modules)"
        )
        subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
        )


class TestInfo:
    def test_every_format(self, run: Run) -> None:
        bp.Key.read("dev_key.h5").save("key.mat")
        run("calibrate", "dev_a.h5", "--key", "dev_key.h5", "--model", "c.json")
        code, out, err = run("info", "dev_a.h5", "key.mat", "dev_a.txt", "dev_key.tsv", "c.json")
        assert (code, err) == (0, "")
        lines = out.splitlines()
        assert lines[0] == "dev_a.h5: hdf5, Scores: 12 models x 40 segments, 480 scores"
        assert lines[1].startswith("key.mat: mat, Key: 12 models x 40 segments")
        assert lines[2].startswith("dev_a.txt: kaldi-scores, Table: 480 lines")
        assert lines[3].startswith("dev_key.tsv: nist, Table: 480 lines")
        assert lines[4].startswith("c.json: json, LinearCalibration: llr = ")

    def test_json(self, run: Run) -> None:
        _, out, _ = run("info", "dev_a.h5", "--json")
        holds = "Scores: 12 models x 40 segments, 480 scores"
        assert json.loads(out) == [{"file": "dev_a.h5", "format": "hdf5", "holds": holds}]

    def test_large_files_are_not_read(self, run: Run) -> None:
        _, out, _ = run("info", "dev_a.h5", "dev_key.h5", "--memory", "0")
        assert out.splitlines() == [
            "dev_a.h5: hdf5, scores: 12 models x 40 segments, read in blocks",
            "dev_key.h5: hdf5, key: 12 models x 40 segments, read in blocks",
        ]


class TestConvert:
    def test_there_and_back(self, run: Run) -> None:
        scores, key = bp.Scores.read("dev_a.h5"), bp.Key.read("dev_key.h5")
        for name in ("a.mat", "a.txt", "a.csv", "a.tsv"):
            assert run("convert", "dev_a.h5", name) == (0, "", "")
            assert run("convert", name, "back.h5") == (0, "", "")
            assert bp.Scores.read("back.h5") == scores
        for name in ("k.mat", "k.txt", "k.csv", "k.tsv"):
            assert run("convert", "dev_key.h5", name)[0] == 0
            assert run("convert", name, "back.h5")[0] == 0
            assert bp.Key.read("back.h5") == key

    @pytest.mark.parametrize(
        "name", ["speechbrain-scores", "wespeaker-scores", "kaldi-eer", "bob-2", "csv", "nist"]
    )
    def test_scores_with_their_labels(self, run: Run, name: str) -> None:
        assert run("convert", "dev_a.txt", "out", "--key", "dev_key.h5", "--to", name)[0] == 0
        table = bp.files.text.read_table("out", name)
        expected = bp.Scores.read("dev_a.h5").get_tar_non(bp.Key.read("dev_key.h5"))
        assert table.scores is not None
        for label, classes in zip((True, False), expected, strict=True):
            found = np.sort(table.scores[table.is_target == label])
            np.testing.assert_array_equal(found, np.sort(classes))

    def test_text_to_text_keeps_lines_and_columns(self, run: Run) -> None:
        assert run("convert", "dev_key.tsv", "key.csv")[0] == 0
        first, second = map(bp.files.text.read_table, ("dev_key.tsv", "key.csv"))
        assert first.models == second.models
        assert first.columns == second.columns
        assert "gender" in second.columns

    def test_metadata_and_forms(self, run: Run) -> None:
        assert run("convert", "dev_key.tsv", "m.h5")[0] == 0
        key = bp.Key.read("m.h5")
        assert sorted(key.columns) == ["gender", "speaker"]
        assert run("convert", "m.h5", "m.csv")[0] == 0
        table = bp.files.text.read_table("m.csv")
        assert table.columns == bp.trials.to_table(key).columns
        assert run("convert", "dev_a.txt", "flat.h5")[0] == 0
        assert bp.Scores.read("flat.h5") == bp.Scores.read("dev_a.h5")
        assert run("convert", "dev_key.h5", "trials.h5", "--form", "dense")[0] == 0
        assert bp.Key.read("trials.h5") == bp.Key.read("dev_key.h5")

    def test_words_and_columns_of_ones_own(self, run: Run) -> None:
        Path("own.txt").write_text("same 1.5 a.wav x.wav\ndiff -2 a.wav y.wav\n", encoding="utf-8")
        words = ("--columns", "label,score,model,segment", "--labels", "same=target,diff=nontarget")
        assert run("convert", "own.txt", "own.csv", *words, "--strip-suffix", ".wav")[0] == 0
        text = Path("own.csv").read_text(encoding="utf-8").splitlines()
        assert sorted(text[0].split(",")) == ["label", "model", "score", "segment"]
        assert run("convert", "own.csv", "own.h5", "--columns", "score=score")[0] == 0
        assert bp.Scores.read("own.h5").scoremat.tolist() == [[1.5, -2.0]]


class TestTraining:
    def test_calibration_equals_the_library(self, run: Run) -> None:
        code, out, err = run(
            *("calibrate", "dev_a.txt", "--key", "dev_key.tsv", "--prior", "0.1:10:1"),
            *("--model", "c.json", "--apply", "eval_a.txt", "--output", "llr.h5"),
        )
        key, scores = bp.Key.read("dev_key.h5"), bp.Scores.read("dev_a.h5")
        expected = bp.LinearCalibration.fit_scores(scores, key, prior=bp.OperatingPoint(0.1, 10, 1))
        assert (code, out) == (0, f"{expected!r}\n")
        # Few errors at this prior.
        assert err.startswith("bosaris: warning: At prior 0.5263 the training data have ")
        assert err.count("\n") == 1
        assert bp.read_model("c.json") == expected
        llrs = expected.apply(bp.Scores.read("eval_a.h5"))
        assert bp.Scores.read("llr.h5") == llrs
        # The saved model gives the same, later and elsewhere.
        assert run("calibrate", "--model", "c.json", "--apply", "eval_a.h5", "-o", "2.txt")[0] == 0
        assert bp.Scores.read("2.txt") == llrs

    def test_pav(self, run: Run) -> None:
        words = ("--method", "pav", "--apply", "eval_a.h5", "-o", "llr.h5")
        assert run("calibrate", "dev_a.h5", "--key", "dev_key.h5", *words)[0] == 0
        expected = bp.PAVCalibration.fit_scores(
            bp.Scores.read("dev_a.h5"), bp.Key.read("dev_key.h5")
        )
        assert bp.Scores.read("llr.h5") == expected.apply(bp.Scores.read("eval_a.h5"))

    def test_fusion_equals_the_library(self, run: Run) -> None:
        code, out, err = run(
            *("fuse", "dev_a.txt", "dev_b.h5", "--key", "dev_key.h5", "--prior", "0.05"),
            *("--ridge", "0.01", "--objective", "brier", "--model", "f.json"),
            *("--apply", "eval_a.h5", "eval_b.txt", "--trials", "eval_key.tsv", "-o", "fused.h5"),
        )
        dev, evaluation = (
            [bp.Scores.read(f"{part}_{name}.h5") for name in "ab"] for part in ("dev", "eval")
        )
        expected = bp.LinearFusion.fit_scores(
            dev, bp.Key.read("dev_key.h5"), prior=0.05, ridge=0.01, objective="brier"
        )
        told = "bosaris: by place: dev_a takes eval_a.h5, dev_b takes eval_b.txt\n"
        assert (code, out, err) == (0, f"{expected!r}\n", told)
        fused = expected.apply(evaluation, bp.Key.read("eval_key.h5"))
        assert bp.Scores.read("fused.h5") == fused
        words = ("--apply", "eval_a.h5", "eval_b.h5", "-o", "2.csv")
        assert run("fuse", "--model", "f.json", *words)[0] == 0
        assert bp.read_scores("2.csv") == fused

    def test_files_larger_than_memory(self, run: Run) -> None:
        """In blocks the trained numbers agree but for rounding; applying is exact."""
        words = ("--key", "dev_key.h5", "--memory", "0")
        code, _, err = run(
            *("calibrate", "dev_a.h5", *words, "--model", "c.json"),
            *("--apply", "eval_a.h5", "-o", "c.h5", "--trials", "eval_key.h5"),
        )
        assert (code, err) == (0, "")
        dev, evaluation = (
            [bp.Scores.read(f"{part}_{name}.h5") for name in "ab"] for part in ("dev", "eval")
        )
        key, eval_key = bp.Key.read("dev_key.h5"), bp.Key.read("eval_key.h5")
        model = bp.read_model("c.json")
        in_memory = bp.LinearCalibration.fit_scores(dev[0], key)
        assert model.scale == pytest.approx(in_memory.scale, rel=1e-9)
        assert bp.Scores.read("c.h5") == model.apply(evaluation[0])
        code, _, err = run(
            *("fuse", "dev_a.h5", "dev_b.h5", *words, "--model", "f.json"),
            *("--apply", "eval_a.h5", "eval_b.h5", "-o", "f.h5", "--trials", "eval_key.h5"),
        )
        told = "bosaris: by place: dev_a takes eval_a.h5, dev_b takes eval_b.h5\n"
        assert (code, err) == (0, told)
        assert bp.Scores.read("f.h5") == bp.read_model("f.json").apply(evaluation, eval_key)

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (("calibrate",), "give SCORES and --key to train, or --model"),
            (("calibrate", "dev_a.h5"), "SCORES and --key go together"),
            (("calibrate", "dev_a.h5", "--key", "dev_key.h5"), "what is to become of"),
            (("fuse", "--model", "f.json", "--apply", "eval_a.h5"), "--apply and --output go"),
            (
                ("calibrate", "dev_a.h5", "dev_b.h5", "--key", "dev_key.h5", "--model", "m.json"),
                "`bosaris fuse` joins several",
            ),
            (
                *[("fuse", "dev_a.h5", "--key", "k", "--model", "m", "--prior", ".1,.2")],
                "a training has one --prior",
            ),
            (("fuse", "x/a.h5", "y/a.h5", "--key", "k", "--model", "m"), "two systems are called"),
            (("compare", "a", "--key", "k"), "at least two systems"),
            (("info", "--labels", "same", "f"), "expected NAME=VALUE"),
            (("info", "--labels", "same=yes", "f"), "'yes' is none of target, nontarget"),
            (
                ("plot", "det", "a", "--key", "k", "-o", "p.png", "--prior", "1.5"),
                "between 0 and 1",
            ),
            (
                ("plot", "det", "a", "--key", "k", "-o", "p.png", "--prior", "x"),
                "could not convert",
            ),
            (("plot", "det", "a", "--key", "k"), "required: -o/--output"),
            (("plot", "det", "a", "--key", "k", "-o", "p.png", "--prior", ".1,.2"), "one --prior"),
        ],
    )
    def test_usage(self, run: Run, words: tuple[str, ...], message: str) -> None:
        code, out, err = run(*words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
        assert f"(see bosaris {words[0]} --help)" in err

    def test_systems_with_other_trials(self, run: Run) -> None:
        """None is dropped without a word, whichever system lacks trials."""
        some = Path("dev_a.txt").read_text(encoding="utf-8").splitlines()[:-5]
        _write("some.txt", *some)
        run("fuse", "dev_a.txt", "dev_b.h5", "--key", "dev_key.h5", "--model", "f.json")
        apply = ("fuse", "--model", "f.json", "-o", "x.h5", "--apply")
        told = "trained on dev_a, dev_b, in this order"
        code, _, err = run(*apply, "B=eval_b.h5", "eval_a.h5")
        assert code == 2
        assert told in err
        assert not Path("x.h5").exists()
        fused = []
        for files in (
            ("dev_a=eval_a.h5", "eval_b.h5"),
            ("dev_a=eval_a.h5", "dev_b=eval_b.h5"),
            # Names are put right.
            ("dev_b=eval_b.h5", "dev_a=eval_a.h5"),
        ):
            assert run(*apply, *files)[0] == 0
            fused.append(bp.read_scores("x.h5"))
            Path("x.h5").unlink()
        assert fused[0] == fused[1] == fused[2]
        # What places alone tell is said: nothing else shows that files are in another order.
        _, _, err = run(*apply, "eval_b.h5", "eval_a.h5", "--force")
        assert "by place: dev_a takes eval_b.h5, dev_b takes eval_a.h5" in err
        Path("x.h5").unlink()
        for files, message in (
            (("some.txt", "dev_b.h5"), "trials (dev_b.h5): say which by --trials"),
            (("dev_b.h5", "some.txt"), "system 2 lacks "),
        ):
            code, _, err = run("fuse", "--model", "f.json", "--apply", *files, "-o", "x.h5")
            assert code == 1
            assert message in err
            assert not Path("x.h5").exists()

    def test_model_of_another_kind(self, run: Run) -> None:
        run("fuse", "dev_a.h5", "dev_b.h5", "--key", "dev_key.h5", "--model", "f.json")
        run("calibrate", "dev_a.h5", "--key", "dev_key.h5", "--model", "c.json")
        code, _, err = run("calibrate", "--model", "f.json", "--apply", "eval_a.h5", "-o", "x.h5")
        assert code == 2
        assert "is no calibration: LinearFusion" in err
        code, _, err = run("fuse", "--model", "c.json", "--apply", "eval_a.h5", "-o", "x.h5")
        assert code == 2
        assert "is no linear or spoof-aware fusion: LinearCalibration" in err


def test_json_has_names_as_they_are_and_numbers_only(capsys: pytest.CaptureFixture[str]) -> None:
    printing.emit_json({"Jürgen": 0.5})
    assert capsys.readouterr().out == '{\n  "Jürgen": 0.5\n}\n'
    printing.emit_json({"cllr": np.inf, "dev_pav": np.nan})
    assert capsys.readouterr().out == '{\n  "cllr": "inf",\n  "dev_pav": null\n}\n'


class TestReport:
    @pytest.mark.slow
    def test_equals_the_library(self, run: Run) -> None:
        words = ("A=eval_a.txt", "B=eval_b.h5", "--key", "eval_key.tsv", "--conditions", "gender")
        speakers = ("--speakers", "re:^p.", "--bootstrap", "20", "--date", "2026-01-31")
        code, out, _ = run("report", *words, *speakers, "--title", "T", "-o", "cli.html")
        assert (code, out) == (0, "")
        systems = {"A": bp.Scores.read("eval_a.h5"), "B": bp.Scores.read("eval_b.h5")}
        options = {"speakers": lambda name: name[:2], "replications": 20, "rng": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BosarisWarning)
            key = bp.read_key("eval_key.tsv")
            found = bp.evaluate(systems, key, conditions="gender", **options)
        names = ("eval_a.txt", "eval_b.h5", "eval_key.tsv")
        files = dict(zip(("scores of A", "scores of B", "key"), names, strict=True))
        found.report("library.html", title="T", files=files, date="2026-01-31")
        assert Path("cli.html").read_bytes() == Path("library.html").read_bytes()

    @pytest.mark.slow
    def test_of_large_files(self, run: Run) -> None:
        words = ("eval_a.h5", "--key", "eval_key.h5", "--memory", "0", "-o", "r.html")
        assert run("report", *words)[0] == 0
        assert "<td style" in Path("r.html").read_text()

    @pytest.mark.slow
    def test_a_pipe_is_named_without_a_hash(self, run: Run) -> None:
        os.mkfifo("pipe")
        feeder = subprocess.Popen(["/bin/sh", "-c", "cat eval_a.txt > pipe"])
        assert run("report", "A=pipe", "--key", "eval_key.h5", "-o", "r.html")[0] == 0
        assert feeder.wait() == 0
        assert "not a regular file" in Path("r.html").read_text()

    def test_unwritable(self, run: Run) -> None:
        code, _, err = run("report", "eval_a.h5", "--key", "eval_key.h5", "-o", "r.pdf")
        assert code == 2
        assert "a report is HTML: --output must end in .html; got 'r.pdf'" in err
        code, _, err = run("report", "eval_a.h5", "--key", "eval_key.h5", "-o", "no/folder.html")
        assert code == 1
        assert "No such folder to write into" in err


class TestPlots:
    @pytest.mark.parametrize("memory", [(), ("--memory", "0")])
    @pytest.mark.parametrize("command", ["det", "bayes"])
    def test_figures(self, run: Run, command: str, memory: tuple[str, ...]) -> None:
        code, out, err = run(
            *("plot", command, "first=eval_a.h5", "eval_b.h5", "--key", "eval_key.h5", *memory),
            *("-o", "plot.svg", "--prior", "0.2:10:1", "--title", "Eval"),
        )
        assert (code, out) == (0, "")
        assert all("will not be plotted" in line for line in err.splitlines())
        assert Path("plot.svg").read_text(encoding="utf-8").startswith("<?xml")

    @pytest.mark.slow
    def test_conditions(self, run: Run) -> None:
        words = ("--key", "eval_key.tsv", "--conditions", "gender", "-o", "plot.pdf")
        assert run("plot", "det", "eval_a.txt", *words)[0] == 0

    def test_other_file(self, run: Run) -> None:
        code, _, err = run("plot", "det", "eval_a.h5", "--key", "eval_key.h5", "-o", "plot.gif")
        assert code == 1
        told = "--output must end in one of .pdf, .png, .svg, .eps; got 'plot.gif'."
        assert err == f"bosaris: error: {told}\n"


JUDGED = ("evaluate", "eval_a.h5", "B=eval_b.txt", "--key", "eval_key.tsv")


@pytest.fixture
def systems(folder: Path) -> tuple[dict[str, bp.Scores], bp.Key]:
    """Return what `JUDGED` judges: systems, and key with metadata."""
    named = {"eval_a": bp.Scores.read("eval_a.h5"), "B": bp.read_scores("eval_b.txt")}
    return named, bp.read_key("eval_key.tsv")


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
class TestEvaluate:
    def test_equals_the_library_in_every_form(self, run: Run, systems) -> None:
        points = [0.05, bp.OperatingPoint(0.01, 10, 1)]
        expected = bp.evaluate(*systems, prior=points)
        words = (*JUDGED, "--prior", "0.05,0.01:10:1")
        assert run(*words)[:2] == (0, f"{expected!r}\n")
        for form in ("json", "csv", "markdown", "latex"):
            text = getattr(expected, f"to_{form}")().rstrip("\n")
            assert run(*words, f"--{form}")[:2] == (0, f"{text}\n")
            assert run(*words, f"--{form}", "-o", "table")[:2] == (0, "")
            assert Path("table").read_text(encoding="utf-8") == f"{text}\n"
        for name in ("t.csv", "t.JSON", "t.md", "t.tex"):
            text = getattr(expected, f"to_{printing.TABLE_OF[Path(name).suffix.lower()]}")()
            assert run(*words, "-o", name)[:2] == (0, "")
            assert Path(name).read_text(encoding="utf-8").rstrip("\n") == text.rstrip("\n")
        assert run(*words, "-o", "t.txt")[0] == 0
        assert Path("t.txt").read_text(encoding="utf-8") == f"{expected!r}\n"

    def test_json_is_the_table(self, run: Run, systems) -> None:
        _, out, _ = run(*JUDGED, "--json")
        assert json.loads(out)["table"] == bp.evaluate(*systems).records()

    def test_conditions_speakers_plan_and_bootstrap(self, run: Run, systems) -> None:
        maps = bp.IdMap.read("models.txt"), bp.IdMap.read("segments.h5")
        options = {"conditions": ["gender"], "speakers": maps, "replications": 20, "rng": 7}
        expected = bp.evaluate(*systems, plan="VoxSRC", **options)
        code, out, _ = run(
            *(*JUDGED, "--conditions", "gender", "--speakers", "models.txt,segments.h5"),
            *("--bootstrap", "20", "--seed", "7", "--plan", "VoxSRC", "--json"),
        )
        assert code == 0
        assert json.loads(out)["table"] == expected.records()
        assert "min_primary" in out

    @pytest.mark.parametrize(
        ("words", "speakers"),
        [
            (r"re:(p\d)-", lambda name: name[:2]),
            (r"re:^p\d,re:p.", (lambda name: name[:2], lambda name: name[:2])),
            ("speaker,", ("speaker", None)),
            ("models.txt", {name: name[:2] for name in MODELS}),
        ],
    )
    def test_who_speaks(self, run: Run, systems, words: str, speakers: object) -> None:
        expected = bp.evaluate(*systems, speakers=speakers, rng=0)
        code, out, err = run(*JUDGED, "--speakers", words, "--json")
        assert (code, json.loads(out)["table"]) == (0, expected.records()), err

    def test_files_larger_than_memory(self, run: Run) -> None:
        words = ("evaluate", "eval_a.h5", "eval_b.h5", "--key", "eval_key.h5", "--json")
        in_memory, streamed = (
            json.loads(run(*words, *more)[1]) for more in ((), ("--memory", "0"))
        )
        for first, second in zip(in_memory["table"], streamed["table"], strict=True):
            assert first.pop("cllr") == pytest.approx(second.pop("cllr"), rel=1e-12)
        assert in_memory == streamed

    def test_columns_of_one_file(self, run: Run, systems) -> None:
        key = systems[1]
        tables = {
            name: bp.trials.to_table(key, scores=scores) for name, scores in systems[0].items()
        }
        first = tables["eval_a"]
        columns = {**first.columns, "B": tables["B"].scores}
        both = attrs.evolve(first, columns=columns)
        bp.files.writing.write_table("both.csv", both, "csv")
        words = ("eval_a=both.csv#score", "both.csv#B", "--key", "both.csv", "--json")
        code, out, err = run("evaluate", *words)
        assert code == 0, err
        assert json.loads(out)["table"] == bp.evaluate(systems[0], key).records()

    @pytest.mark.slow
    def test_real_scores(self, run: Run, shared_data: Path) -> None:
        """Acceptance: to the last digit on asvspoof2019_la eval."""
        file = shared_data / "asvspoof2019_la" / "bonafide_eval.csv.gz"
        key = bp.read_key(file)
        systems = {
            name: bp.read_scores(file, columns={"score": name})
            for name in ("asv_xvector", "asv_ecapa")
        }
        expected = bp.evaluate(systems, key, conditions="gender")
        words = (f"{file}#asv_xvector", f"{file}#asv_ecapa", "--key", file, "--json")
        code, out, _ = run("evaluate", *words, "--conditions", "gender")
        assert code == 0
        assert json.loads(out)["table"] == expected.records()

    @pytest.mark.parametrize(
        ("words", "code", "message"),
        [
            (("--speakers", "re:("), 2, "in the pattern '('"),
            (("--speakers", "nobody"), 1, "must be a column of the key (gender, speaker), a file"),
            (("--speakers", "no.txt"), 1, "got 'no.txt', and there is no such file."),
            (("--speakers", "re:QQ"), 1, "pattern 'QQ' matches none of the 52 ids, such as p0-m"),
            (("--speakers", "gender,re:m1"), 1, "pattern 'm1' matches none of the 40 ids"),
            (("--speakers", "a,b,c"), 2, "one value, or two"),
            (("--bootstrap", "20"), 1, "Models that share a speaker need a map. Use --speakers."),
            (("--prior", "1%"), 2, "'1%': a probability is written as 0.01, not 1%"),
            (("-o", "table.xyz"), 2, "must end in .csv, .json, .md, .tex, or .txt"),
            (("--conditions", "channel"), 1, "--conditions must be a column (gender"),
            (("--plan", "nothing"), 1, "plan"),
            (("--bootstrap", "-1"), 1, "error: --bootstrap must"),
            (("--bootstrap", "many"), 2, "invalid int value"),
            (("--json", "--csv"), 2, "not allowed with argument"),
            (("-o", ""), 2, "an output needs the name of a file; got an empty text"),
            (("--memory", "-1"), 2, "expected a number of gigabytes"),
            (("--memory", "nan"), 2, "expected a number of gigabytes"),
            (("--memory", "all"), 2, "'all': expected a number of gigabytes"),
        ],
    )
    def test_bad_options(self, run: Run, words: tuple[str, ...], code: int, message: str) -> None:
        found, out, err = run(*JUDGED, *words)
        assert (found, out) == (code, "")
        assert message in err.splitlines()[-1]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
class TestCompare:
    def test_statistics_are_normalized(self) -> None:
        unc = bp.uncertainty
        expected = {
            "eer": unc.EER(),
            "min_dcf": unc.MinDCF(0.1),
            "act_dcf": unc.ActDCF(0.1),
            "min_cllr": unc.MinCllr(),
            "cllr": unc.Cllr(),
            "auc": unc.AUC(),
        }
        found = {name: make(0.1) for name, make in options.STATISTICS.items()}
        assert str(found) == str(expected)

    @pytest.mark.parametrize("name", options.STATISTICS)
    def test_equals_the_library(self, run: Run, systems, name: str) -> None:
        maps = bp.IdMap.read("models.txt"), bp.IdMap.read("segments.h5")
        statistic = options.STATISTICS[name](0.1)
        expected = bp.uncertainty.compare_systems(*systems, statistic, speakers=maps)
        words = ("--speakers", "models.txt,segments.h5", "--prior", "0.1")
        found = run("compare", *JUDGED[1:], *words, "--statistic", name, "--json")
        assert found[:2] == (0, expected.to_json())

    def test_two_points(self, run: Run) -> None:
        code, _, err = run("compare", *JUDGED[1:], "--prior", "0.1,0.2")
        assert (code, "at one --prior" in err) == (2, True)


def _write(name: str, *lines: str) -> None:
    Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def bad(folder: Path) -> Path:
    """Files with which something is wrong."""
    _write("nan.txt", "p0-m00 p0-s00 nan", "p0-m00 p1-s01 1.0")
    _write("words.txt", "p0-m00 p0-s00 high", "p0-m00 p1-s01 low")
    _write("other.txt", "x1 y1 0.5", "x2 y2 1.5")
    _write("targets.txt", "p0-m00 p0-s00 target", "p0-m00 p0-s06 target")
    Path("damaged.h5").write_bytes(Path("eval_a.h5").read_bytes()[:3000])
    Path("empty.txt").touch()
    (folder / "locked").mkdir()
    os.mkfifo(folder / "pipe")
    return folder


JUDGE = ("plot", "det", "SCORES", "--key", "eval_key.h5", "-o", "plot.png")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("info", "missing.h5"), "missing.h5: No such file or directory"),
        (("info", "."), "Is a directory"),
        (("info", "damaged.h5"), "damaged.h5: damaged"),
        (("info", "words.txt"), "no format fits the first lines"),
        (("plot", "det", "eval_key.h5", *JUDGE[3:]), "expected Scores; the file holds Key"),
        (("plot", "det", "eval_a.h5", "--key", "eval_a.h5", "-o", "p.png"), "expected a Key"),
        (("plot", "det", "eval_a.txt", "--key", "eval_a.txt", "-o", "p.png"), "has no labels"),
        (("plot", "det", "nan.txt", *JUDGE[3:]), "NaN"),
        (
            ("plot", "det", "eval_a.txt", "--format", "kaldi", *JUDGE[3:]),
            "--format must be one of nist",
        ),
        (("plot", "det", "other.txt", *JUDGE[3:]), "`tar`|--key|no trial"),
        (
            ("plot", "det", "eval_a.txt", "--key", "targets.txt", "-o", "p.png"),
            "--key must have non-targets with scores",
        ),
        (
            ("calibrate", "dev_a.txt", "--key", "targets.txt", "--model", "p.json"),
            "the non-targets of targets.txt must hold at least one score",
        ),
        (("calibrate", "dev_a.txt", "--key", "dev_key.h5", "--model", "p.txt"), "end in .json"),
        (("convert", "eval_a.h5", "no/such/p.h5"), "such/p.h5: No such folder|No such folder"),
        (("convert", "eval_a.h5", "pipe"), "not a regular file"),
        (("convert", "eval_a.h5", "pipe", "--to", "csv"), "not a regular file"),
        (("convert", "eval_a.h5", "locked", "--to", "csv"), "Is a directory"),
        (("convert", "eval_a.h5", "p.txt", "--to", "nope"), "--to must be one of nist"),
        (("convert", "eval_key.h5", "p.txt", "--to", "kaldi-scores"), "scor"),
        (("evaluate", "eval_a.h5", "--key", "eval_key.h5", "--plan", "XYZ"), "plan"),
    ],
)
@pytest.mark.filterwarnings("default")
def test_bad_input(bad: Path, run: Run, words: tuple[str, ...], message: str) -> None:
    before = sorted(bad.rglob("*"))
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    lines = err.splitlines()
    assert all(line.startswith("bosaris: warning: ") for line in lines[:-1])
    assert lines[-1].startswith("bosaris: error: ")
    assert any(part in lines[-1] for part in message.split("|"))
    assert sorted(bad.rglob("*")) == before


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("m s 1.5\nm t nan\n", "", "Use --missing nan."),
        ("m s 1 2 3 4 5 6\n", "", "Use --columns or --labels or --format."),
        ("m s 1\n", "--format nosuch", "error: --format must be one of"),
    ],
)
def test_errors_name_the_options(run: Run, text: str, options: str, message: str) -> None:
    Path("odd.txt").write_text(text)
    code, _, told = run(*shlex.split(f"evaluate odd.txt --key eval_key.h5 {options}"))
    assert code == 1
    assert message in told
    assert "`" not in told


def test_scores_that_a_file_does_not_tell(run: Run) -> None:
    """The advice works, also where one file holds scores and key."""
    _write("d.csv", "model,segment,x,label", "a,b,1.5,target", "a,c,-1,nontarget")
    words = ("evaluate", "d.csv", "--key", "d.csv")
    code, _, told = run(*words)
    assert code == 1
    assert "d.csv: this file has no scores; is it a key?" in told
    assert "as in score=NAME. Use --columns." in told
    assert run(*words, "--columns", "score=x")[0] == 0
    code, _, told = run(*words, "--columns", "score=x", "--bootstrap", "20")
    assert code == 1
    assert "error: --speakers must be given, to tell the speaker of all segments" in told
    assert "Give a column, a complete file of pairs, or re:PATTERN" in told


def test_errors_of_the_key_name_its_options(run: Run) -> None:
    Path("odd.txt").write_text("m s 1 2 3 4 5 6\n")
    _, _, told = run("evaluate", "eval_a.txt", "--key", "odd.txt")
    assert "Use --key-columns or --labels or --key-format." in told


@pytest.mark.parametrize(
    "words",
    [
        "evaluate eval_a.txt --key eval_key.h5 --format nope",
        "evaluate eval_a.txt --key eval_key.h5 --key-format nope",
        "convert eval_a.txt new.csv --to nope",
        # The same wrong name in two options: the one that is read first.
        "convert eval_a.txt new.csv --to nope --format nope",
        "info eval_a.txt --format nope",
        # Before the training, which may take long.
        "calibrate dev_a.h5 --key dev_key.h5 --model new.json --apply dev_a.h5 -o new.h5 --to nope",
    ],
)
def test_unknown_format(run: Run, words: str) -> None:
    code, out, err = run(*words.split())
    assert (code, out) == (1, "")
    (option,) = re.findall(r"(--\S+) nope$", words)
    assert err.startswith(f"bosaris: error: {option} must be one of nist, ")
    assert err.endswith("; got 'nope'.\n")
    assert not list(Path().glob("new.*"))


def test_info_reads_as_it_is_told(run: Run) -> None:
    """The format decides how the lines are read, and columns stand in for a format."""
    code, _, err = run("info", "eval_a.txt", "--format", "nist")
    assert code == 1
    assert "no column modelid" in err
    Path("odd.txt").write_text("m s 1 2 3\n")
    code, out, _ = run("info", "odd.txt", "--columns", "model,segment,score,-,-")
    told = "odd.txt: text, Table: 1 lines, 1 models x 1 segments, 1 scores\n"
    assert (code, out) == (0, told)


@pytest.mark.parametrize("labels", ["1 0 1 0", "target nontarget target nontarget"])
def test_bare_numbers(run: Run, labels: str) -> None:
    Path("numbers.txt").write_text("1.5\n-0.5\n2.5\n-2.0\n")
    Path("labels.txt").write_text("\n".join(labels.split()) + "\n")
    columns = ("--columns", "score", "--key-columns", "label", "--csv")
    code, out, _ = run("evaluate", "numbers.txt", "--key", "labels.txt", *columns)
    assert (code, out.splitlines()[1].split(",")[:4]) == (0, ["numbers", "2", "2", "0.0"])


def test_compressed_files_have_one_name(run: Run, folder: Path) -> None:
    for name in ("eval_a.csv.gz", "eval_a.TXT.GZ"):
        Path(name).write_bytes(gzip.compress(Path("eval_a.txt").read_bytes()))
        _, told, _ = run("evaluate", name, "--key", "eval_key.h5", "--json")
        assert json.loads(told)["table"][0]["system"] == "eval_a"
        assert [row["system"] for row in bp.evaluate(folder / name, "eval_key.h5").records()] == [
            "eval_a"
        ]


def test_lines_without_a_score(bad: Path, run: Run) -> None:
    code, out, err = run("convert", "nan.txt", "some.h5", "--missing", "nan")
    assert (code, out) == (0, "")
    assert err == "bosaris: warning: 1 of 2 lines of nan.txt have no score.\n"
    assert bp.Scores.read("some.h5").n_trials == 1


def test_warnings_are_one_line_each(bad: Path, run: Run) -> None:
    _write("some.txt", *Path("eval_a.txt").read_text(encoding="utf-8").splitlines()[:100])
    code, _, err = run("plot", "det", "some.txt", "--key", "eval_key.h5", "-o", "p.png")
    assert code == 0
    assert err.splitlines()
    assert all(line.startswith("bosaris: warning: ") for line in err.splitlines())


class TestProcess:
    """What only a process of its own shows."""

    @pytest.mark.slow
    def test_results_are_alone_on_the_output(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # A terminal without the letters of a name does not stop the command.
        monkeypatch.setenv("PYTHONIOENCODING", "ascii")
        words = ("evaluate", "日=eval_a.h5", "--key", "eval_key.h5", "--csv")
        process = _start(folder, *words, stdout=subprocess.PIPE)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        assert [line.split(",")[0] for line in out.splitlines()] == ["system", "\\u65e5"]

    @pytest.mark.slow
    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
    def test_full_disk(self, folder: Path) -> None:
        with Path("/dev/full").open("w") as full:
            process = _start(folder, "info", "dev_a.h5", stdout=full)
            _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (1, "bosaris: error: No space left on device\n")

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
    def test_reader_goes_away(self, folder: Path) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        process = _start(folder, "info", "dev_a.h5", stdout=writing)
        os.close(writing)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (141, "")

    @pytest.mark.parametrize("module", ["bosaris_py.cli", "attrs", "numpy"])
    def test_interrupt_of_an_import(self, folder: Path, module: str) -> None:
        """The console script runs this function, of which setup.cfg and the recipe tell."""
        code = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from bosaris_py.__main__ import main
sys.exit(main())
"""
        process = subprocess.run(
            [sys.executable, "-c", code, "info", "dev_a.h5"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (process.returncode, process.stdout) == (130, "")
        assert process.stderr == "bosaris: interrupted\n"
        for name in ("setup.cfg", "conda/meta.yaml"):
            text = (ROOT / name).read_text(encoding="utf-8")
            assert "bosaris = bosaris_py.__main__:main\n" in text

    @pytest.mark.slow
    @pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
    def test_interrupt_leaves_no_file(self, folder: Path) -> None:
        # A pipe without a writer keeps the command waiting, after it has opened its output.
        os.mkfifo(folder / "scores.txt")
        words = ("convert", "scores.txt", "out.h5", "--format", "kaldi-scores")
        process = _start(folder, *words, stdout=subprocess.PIPE)
        with (folder / "scores.txt").open("w") as writer:
            writer.write("m1 s1 0.5\n")
            writer.flush()
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (130, "")
        waits = "bosaris: scores.txt is a pipe: waiting until something is written into it\n"
        assert err == f"{waits}bosaris: interrupted\n"
        assert not (folder / "out.h5").exists()


def test_disk_is_full(run: Run, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = sorted(folder.iterdir())
    monkeypatch.setattr("bosaris_py.files.replacing.os.fsync", full)
    training = ("calibrate", "dev_a.h5", "--key", "dev_key.h5", "--model", "c.json")
    drawn = ("plot", "det", *JUDGED[1:], "-o", "det.pdf")
    for words in (("convert", "dev_a.h5", "new.csv"), training, (*JUDGED, "-o", "table"), drawn):
        code, out, err = run(*words)
        assert (code, out) == (1, "")
        assert err.splitlines()[-1] == f"bosaris: error: {words[-1]}: No space left on device"
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("watched", [False, True])
def test_progress_is_shown_at_a_terminal_only(
    run: Run, monkeypatch: pytest.MonkeyPatch, *, watched: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched)
    words = ("evaluate", "eval_a.h5", "--key", "eval_key.h5", "--memory", "0")
    code, out, err = run(*words)
    assert (code, "eval_a" in out) == (0, True)
    assert ("target scores" in err) == watched


def test_each_file_has_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", "dev_a.h5", "--key", "dev_key.h5", "--model", "c.json"]
    assert cli.main([*words, "--apply", "eval_a.h5", "-o", "llr\ns.h5"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert sorted(lines) == ["bosaris: wrote c.json", "bosaris: wrote llr\\ns.h5"]
    assert cli.main(["evaluate", "eval_a.h5", "--key", "eval_key.h5", "-o", "no folder/t"]) == 1
    assert "wrote" not in capsys.readouterr().err
    assert cli.main(["evaluate", "eval_a.h5", "--key", "eval_key.h5"]) == 0
    assert "wrote" not in capsys.readouterr().err


def test_interrupt_while_writing(run: Run, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bosaris_py.files.replacing.os.fsync", interrupted)
    before = sorted(folder.iterdir())
    assert run("convert", "dev_a.h5", "new.h5") == (130, "", "bosaris: interrupted\n")
    assert sorted(folder.iterdir()) == before


def test_equal_error_rate_of_another_tool(run: Run, folder: Path) -> None:
    key = bp.Key.read("eval_key.h5")
    expected = bp.evaluate(["eval_a.h5", "eval_b.h5"], key, eer="step")
    options = ["--eer", "step", "--json"]
    code, out, _ = run("evaluate", "eval_a.h5", "eval_b.h5", "--key", "eval_key.h5", *options)
    assert (code, json.loads(out)) == (0, json.loads(expected.to_json()))


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewSpeakersWarning")
def test_fail_if_worse_is_a_status(run: Run, folder: Path) -> None:
    """Scores without any information are worse than those of b; b beside them is not."""
    words = ["--key", "eval_key.tsv", "--statistic", "eer", "--speakers", "models.txt,segments.h5"]
    _make(7, bp.Key.read("eval_key.h5"), 0.0).save("eval_0.txt")
    for first, second, status in (("0", "b", 3), ("b", "0", 0)):
        files = f"eval_{first}.txt", f"eval_{second}.txt"
        plain = run("compare", *files, *words)
        assert plain[0] == 0
        code, out, err = run("compare", *files, *words, "--fail-if-worse")
        (row,) = bp.uncertainty.compare_systems(
            dict(zip(files, map(bp.read_scores, files), strict=True)),
            bp.read_key("eval_key.tsv"),
            bp.uncertainty.EER(),
            speakers=(bp.IdMap.read("models.txt"), bp.IdMap.read("segments.h5")),
        ).records()
        worse = row["significant"] and row["difference"] > 0
        assert (code, out) == (3 if worse else 0, plain[1])
        assert worse == (status == 3)
        assert ("is significantly worse than" in err) == worse


def _transcript() -> list[tuple[str, str]]:
    """Return the commands of the page on the command, with what they write."""
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL)
    steps = [
        step.partition("\n") for block in blocks for step in re.split(r"^\$ ", block, flags=re.M)
    ]
    return [(command, output) for command, _, output in steps if command]


@pytest.mark.slow
def test_transcript_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From two text files of scores and a key to a fused, calibrated, evaluated system."""
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    exec(re.search(r"```python\n(.*?)```", page, flags=re.DOTALL)[1], {})
    steps = _transcript()
    assert len(steps) > 10
    for command, expected in steps:
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
        shutil.copy("dev_key.tsv", "key.html")
        shutil.copy("dev_key.tsv", "key.svg")
        shutil.copy("dev_key.tsv", "key.json")
        bp.read_key("dev_key.tsv").save("more.h5")
        shutil.copy("models.txt", "speakers.csv")
        shutil.copy("eval_key.h5", "b.h5")
        os.link("dev_a.txt", "hard.txt")
        Path("soft.txt").symlink_to("dev_a.txt")
        systems = [bp.Scores.read(f"dev_{name}.h5") for name in "ab"]
        bp.LinearFusion.fit_scores(systems, bp.Key.read("dev_key.h5")).save("fusion.json")
        return {path: path.read_bytes() for path in folder.iterdir()}

    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
    @pytest.mark.parametrize("force", ["", " --force"])
    @pytest.mark.parametrize(
        "line",
        [
            "evaluate dev_a.txt --key dev_key.tsv --csv -o dev_key.tsv",
            "evaluate A=dev_a.txt --key dev_key.tsv -o dev_a.txt",
            "evaluate hard.txt --key dev_key.tsv -o dev_a.txt",
            "evaluate dev_a.txt --key dev_key.tsv -o soft.txt",
            "evaluate dev_a.h5 --key dev_key.h5 --speakers speakers.csv, -o speakers.csv",
            "evaluate dev_a.h5 --key dev_key.h5 --metadata more.h5 --json -o more.h5",
            "compare dev_a.txt dev_b.txt --key dev_key.tsv -o ./dev_b.txt",
            "convert dev_a.txt dev_a.txt --to nist",
            "convert dev_a.txt dev_key.tsv --key dev_key.tsv --to speechbrain-scores",
            "calibrate dev_a.txt --key dev_key.tsv --apply eval_a.txt -o dev_key.tsv",
            "calibrate dev_a.h5 --key dev_key.h5 --apply eval_a.h5 -o eval_a.h5 --memory 0",
            "calibrate dev_a.h5 --key key.json --model key.json",
            "fuse --model fusion.json --apply eval_a.h5 eval_b.h5 -o eval_b.h5",
            "fuse --model fusion.json --apply eval_a.h5 eval_b.h5 --trials b.h5 -o b.h5",
            "plot det dev_a.txt --key key.svg -o key.svg",
            "report dev_a.txt --key key.html -o key.html",
        ],
    )
    def test_no_input_is_written(
        self, run: Run, inputs: dict[Path, bytes], line: str, force: str
    ) -> None:
        code, out, err = run(*shlex.split(line + force))
        assert (code, out) == (2, "")
        assert "is a file that is read" in err
        assert err.count("\n") == 1
        assert {path: path.read_bytes() for path in inputs} == inputs

    def test_two_outputs_are_two_files(self, run: Run) -> None:
        line = "calibrate dev_a.h5 --key dev_key.h5 --model m.json --apply eval_a.h5 -o ./m.json"
        code, _, err = run(*shlex.split(line))
        assert code == 2
        assert "--model and --output name one file" in err

    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
    def test_files_of_others_are_replaced_by_force(self, run: Run) -> None:
        words = ("evaluate", "dev_a.h5", "--key", "dev_key.h5", "-o", "notes.txt")
        Path("notes.txt").write_text("the system and the first ideas of matplotlib\n")
        code, _, err = run(*words)
        assert code == 2
        assert "notes.txt exists" in err
        assert "--force" in err
        assert Path("notes.txt").read_text().startswith("the system")
        assert run(*words, "--force")[0] == 0
        # Now it is a table of this program. An empty file is nobody's.
        Path("empty.txt").touch()
        assert run(*words)[0] == run(*words[:-1], "empty.txt")[0] == 0

    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
    @pytest.mark.parametrize(
        ("line", "names"),
        [
            ("evaluate dev_a.h5 --key dev_key.h5 -o", "o.txt o.csv o.md o.tex o.json"),
            (
                "compare dev_a.h5 dev_b.h5 --key dev_key.h5 --speakers re:^.. -o",
                "o.txt o.csv o.md o.tex o.json",
            ),
            ("plot det dev_a.h5 --key dev_key.h5 -o", "o.png o.svg o.pdf o.eps"),
            ("report dev_a.h5 --key dev_key.h5 -o", "o.html"),
            ("convert dev_a.h5", "o.h5 o.mat"),
            ("calibrate dev_a.h5 --key dev_key.h5 --model", "o.json"),
        ],
    )
    def test_own_outputs_are_replaced(self, run: Run, line: str, names: str) -> None:
        for name in names.split():
            for _ in range(2):
                assert run(*line.split(), name)[0] == 0, name

    def test_outputs_are_tried_before_the_work(self, run: Run) -> None:
        # The key is not even looked for.
        for line in (
            "evaluate dev_a.h5 --key nowhere.h5 -o nowhere/o.txt",
            "calibrate dev_a.h5 --key nowhere.h5 --model nowhere/m.json",
        ):
            code, _, err = run(*line.split())
            assert code == 1
            assert "No such folder" in err


# What file systems allow in a name: no UTF-8, formulas, controls, letters to the left, markup.
NAMES = ["\udcff{日本", "$$", r"$\frac$a|b", "a\n\rb\x1b[31m\u202e<b>"]


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
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
            *[("evaluate", a, *key, "-o", f"e{name}.{form}") for form in ("csv", "md", "tex")],
            ("evaluate", a, *key, "--json"),
            ("compare", a, b, *key, "--speakers", "re:^..", "-o", f"c{name}.csv"),
            ("calibrate", a, *key, "--model", f"m{name}.json", "--apply", b, "-o", f"n{name}.h5"),
            ("fuse", a, b, *key, "--model", f"f{name}.json"),
            ("plot", "det", a, *key, "-o", f"d{name}.svg", "--title", name),
            ("plot", "bayes", a, *key, "-o", f"b{name}.png", "--title", name),
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
        def fail(*_: object, **__: object) -> None:
            raise ZeroDivisionError("by\nnothing")

        monkeypatch.setattr(judging, "judge", fail)
        words = ("evaluate", "dev_a.h5", "--key", "dev_key.h5")
        code, out, err = run(*words)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "ZeroDivisionError" in err
        monkeypatch.setenv("BOSARIS_DEBUG", "1")
        code, _, err = run(*words)
        assert code == 1
        assert "Traceback" in err

    def test_no_memory(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise MemoryError

        monkeypatch.setattr(judging, "judge", fail)
        code, out, err = run("evaluate", "dev_a.h5", "--key", "dev_key.h5")
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "--memory" in err

    @pytest.mark.parametrize("count", ["100000000000", "1" + 30 * "0"])
    def test_too_many_replicates(self, run: Run, count: str) -> None:
        words = ("--speakers", "re:^..", "--bootstrap", count)
        code, _, err = run("evaluate", "dev_a.h5", "--key", "dev_key.h5", *words)
        assert (code, err.count("\n")) == (1, 1)
        assert "--bootstrap must be a whole number" in err

    @pytest.mark.parametrize("line", ["-o ''", "--key ''"])
    def test_empty_names_of_files(self, run: Run, line: str) -> None:
        words = shlex.split(f"evaluate dev_a.h5 --key dev_key.h5 {line}")
        code, out, err = run(*words)
        assert code in (1, 2)
        assert (out, err.count("\n")) == ("", 1)
        assert "name of a file" in err

    @pytest.mark.parametrize("name", NAMES)
    def test_words_that_are_not_known(self, run: Run, name: str) -> None:
        for words in (("info", "dev_a.h5", f"--{name}"), ("info", f"none{name}")):
            code, out, err = run(*words)
            assert (code > 0, out, err.count("\n")) == (True, "", 1)
            assert err[:-1].isprintable()

    def test_closed_output(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stdout", None)
        code = cli.main(["info", "dev_a.h5"])
        assert code == 1
        monkeypatch.setattr(sys, "stderr", None)
        assert cli.main(["info", "--nothing"]) == 2
        # What is in a file needs no output.
        assert cli.main(["evaluate", "dev_a.h5", "--key", "dev_key.h5", "-o", "o.csv"]) == 0

    def test_files_come_before_prints(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        def gone(*_: object) -> None:
            raise BrokenPipeError

        monkeypatch.setattr(training, "emit", gone)
        for command, apply in (("calibrate", ["dev_a.h5"]), ("fuse", ["dev_a.h5", "dev_b.h5"])):
            output = f"{command}.h5"
            words = ("--key", "dev_key.h5", "--apply", *apply, "-o", output)
            assert run(command, *apply, *words)[0] == 141
            assert bp.Scores.read(output).scoremask.all()


def test_blind_tells_no_counts(run: Run) -> None:
    lines = Path("dev_a.txt").read_text().splitlines(keepends=True)
    Path("part.txt").write_text("".join(lines[1:]))
    words = ("evaluate", "part.txt", "--key", "dev_key.h5")
    code, _, err = run(*words)
    assert code == 0
    assert re.search(r"1 of \d+ (non-)?targets missing", err)
    code, out, err = run(*words, "--blind", "-o", "o.csv")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert not re.search(r"\d|target", err)
    assert not Path("o.csv").exists()
    assert run(*words[:1], "dev_a.txt", *words[2:], "--blind")[0] == 0


def test_the_first_group_of_a_pattern_is_the_speaker(run: Run) -> None:
    key = bp.Key.read("dev_key.h5")
    speaker = judging.speakers_of("re:^(p.)-", key)
    assert [speaker(name) for name in ("p3-m06", "x-p3")] == ["p3", "x-p3"]


def test_the_seed_counts(run: Run) -> None:
    words = ("evaluate", "dev_a.h5", "--key", "dev_key.h5", "--speakers", "re:^..", "--json")
    one, again, other = (
        run(*words, "--bootstrap", "100", "--seed", seed)[1] for seed in ("1", "1", "2")
    )
    assert one == again != other


def test_info_verifies_files_above_the_memory(run: Run) -> None:
    scores = np.random.default_rng(1).normal(size=(200, 300))
    ids = [
        [f"{side}{number}" for number in range(count)] for side, count in (("m", 200), ("s", 300))
    ]
    bp.Scores(scores, *ids).save("large.h5")
    content = bytearray(Path("large.h5").read_bytes())
    at = content.find(scores[100:101, :4].tobytes())
    at = len(content) // 2 if at < 0 else at
    content[at] ^= 1
    Path("large.h5").write_bytes(content)
    code, _, err = run("info", "large.h5", "--memory", "0")
    assert (code, err.count("\n")) == (1, 1)
    assert "large.h5" in err


def test_advice_is_that_of_the_command(tmp_path, capsys):
    """Where a script is told of a class, the command is told of a subcommand or an option."""
    rng = np.random.default_rng(1)
    models, segments = [f"m{i}" for i in range(40)], [f"s{i}" for i in range(40)]
    same = np.eye(40, dtype=bool)
    cosines = np.clip(0.6 * same + 0.1 * rng.normal(size=same.shape), -0.99, 0.99)
    bp.Scores(cosines, models, segments).save(tmp_path / "cosines.txt")
    bp.Key(models, segments, same, ~same).save(tmp_path / "key.txt")
    files = [str(tmp_path / "cosines.txt"), "--key", str(tmp_path / "key.txt")]
    assert cli.main(["evaluate", *files]) == 0
    said = capsys.readouterr().err
    assert "no log-likelihood-ratios" in said
    assert "`bosaris calibrate`" in said
    assert (
        cli.main(["calibrate", *files, "--prior", "0.01", "--model", str(tmp_path / "map.json")])
        == 0
    )
    said = capsys.readouterr().err
    assert "false alarms; 30 of both kinds are needed" in said
    assert "--method bounded or --ridge weak" in said
