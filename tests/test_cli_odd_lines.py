"""Command lines that nobody should write: each ends with a line and a code, and no file is lost."""

import hashlib
import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import cli
from bosaris_py.cli.options import COMMANDS, FILE_OPTIONS, OPTIONS
from tests.forms import described

SEED = 2125
FILES = [
    *("a.txt", "a.h5", "b.h5", "key.h5", "key.tsv", "metadata.h5", "model.json", "page.html"),
    *("empty.txt", "noise.h5", "noise.json", "words.txt", "folder", "none.txt", "", "-", "/", "."),
    *("NAME=a.h5", "=a.h5", "NAME=", "a.txt#x", "a\udcff.txt", "$$", "\n", "\u202e.h5", "a" * 300),
]
GOOD = FILES[:6]
NUMBERS = ",0,-1,1e999,nan,inf,0.5,0.01,2,eer,∞,NaN"
WORDS = "%s{}%n $(x) re:( re:^.. re: gender nothing VoxSRC SRE18 x<=y 1,2 0.1,0.5 , a=b \0 eer<=2%"
VALUES = [
    *NUMBERS.split(","),
    *WORDS.split(),
    "model,segment,score",
    "score",
    "9" * 40,
    "basename",
    "s|a|b|g",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with good files and others."""
    monkeypatch.chdir(tmp_path)
    models, segments = [f"p{i % 4}-m{i}" for i in range(8)], [f"p{i % 4}-s{i}" for i in range(20)]
    is_tar = np.arange(8)[:, None] % 4 == np.arange(20) % 4
    key = bp.Key(models, segments, is_tar, ~is_tar)
    rng = np.random.default_rng(SEED)
    for name in "ab":
        scores = bp.Scores(rng.normal(2.0 * is_tar, 1.0), models, segments)
        scores.save(f"{name}.h5")
        scores.save(f"{name}.txt")
    key.save("key.h5")
    metadata = described(key, model_columns={"gender": [*"fm"] * 4})
    metadata.save("metadata.h5")
    bp.files.writing.write_table("key.tsv", bp.trials.to_table(metadata), "nist")
    bp.LinearCalibration.fit([1.0, 3.0, 2.0], [0.0, 2.5, -1.0]).save("model.json")
    Path("page.html").write_text("<html>mine</html>")
    Path("empty.txt").touch()
    Path("words.txt").write_text("these are\nno scores at all\n")
    for name in ("noise.h5", "noise.json"):
        Path(name).write_bytes(rng.bytes(500))
    Path("folder").mkdir()
    Path("folder/mine.txt").write_text("mine")
    return tmp_path


def odd_line(rng: random.Random) -> list[str]:
    """Return a subcommand with files and values of all kinds in all places."""
    command = rng.choice([*COMMANDS])
    words = [command]
    for word in [*COMMANDS[command]["options"].replace(" --force", "").split(), *FILE_OPTIONS]:
        name, must = word.rstrip("!"), word.endswith("!")
        if not name.startswith("--"):
            settings = OPTIONS[name]
            pool = [*map(str, settings.get("choices") or ())]
            pool = pool or (["1.5"] if settings.get("type") is float else GOOD)
            pool = pool if rng.random() < 0.7 else FILES
            words += rng.choices(pool, k=rng.choice((1, 2)) if "nargs" in settings else 1)
        elif must or rng.random() < (0.15 if name in OPTIONS else 0.05):
            settings = {**OPTIONS, **FILE_OPTIONS}[name]
            words.append(name)
            if settings.get("action", "extend") in ("extend", "append"):
                files = settings.get("metavar") == "FILE"
                pool = FILES if files and rng.random() < 0.9 else VALUES
                good = [*map(str, settings.get("choices", ()))]
                words.append(rng.choice(good if good and rng.random() < 0.9 else pool))
    # The good ones in some lines, so that they come far.
    for i, word in enumerate(words):
        if word == "--key" and rng.random() < 0.8:
            words[i + 1] = "key.h5"
    if rng.random() < 0.1:
        words.insert(rng.randrange(len(words) + 1), rng.choice(["--", "--nothing", "-x", *VALUES]))
    return words


def content(folder: Path) -> dict[Path, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_odd_lines(folder, count, capsys, monkeypatch):
    rng = random.Random(SEED + count)
    before, codes = content(folder), set()
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
        after = content(folder)
        mine = {path: found for path, found in before.items() if path.suffix in (".html", ".txt")}
        assert mine.items() <= after.items(), words
        for path in after.keys() - before.keys():
            path.unlink()
        assert not list(folder.rglob("*.bosaris_py")), words
    assert codes >= {1, 2}
