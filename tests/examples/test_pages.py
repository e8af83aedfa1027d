"""Pages that people read first: their lines run, their links and tables lead somewhere."""

import doctest
import re
import runpy
import subprocess
import sys
from functools import reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import evaluation, plots, sklearn, uncertainty

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# Written by `make docs`.
MADE = {"generated", "_build", "_drawn"}


# README, CONTRIBUTING, links


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")  # they are cosines
def test_readme(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The lines run in an empty folder, and so does the command below them; two screens."""
    monkeypatch.chdir(tmp_path)
    outcome = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert outcome.attempted == 8
    assert outcome.failed == 0
    (line,) = re.findall(r"^    (bosaris .*)$", README, flags=re.MULTILINE)
    command = [sys.executable, "-m", "bosaris_py", *line.split()[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "1.63" in done.stdout
    assert len(README.splitlines()) <= 90
    pictures = re.findall(r'src(?:set)?="([^"]+)"', README)
    assert pictures
    assert all((ROOT / picture).exists() for picture in pictures)


def test_links_lead_to_files_that_are_not_made() -> None:
    dead = []
    pages = [p for p in (ROOT / "docs").rglob("*.md") if MADE.isdisjoint(p.parts)]
    for page in [*ROOT.glob("*.md"), *pages]:
        for link in re.findall(r"\]\(<?([^)>#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            target = page.parent / link
            if "://" not in link and not (target.exists() and MADE.isdisjoint(target.parts)):
                dead.append(f"{page.relative_to(ROOT)}: {link}")
    assert dead == []


def test_where_is_what() -> None:
    """The table of CONTRIBUTING.md names modules that exist."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.split("## Where is what")[1].split("\n## ")[0]
    paths = re.findall(r"`([\w/]+(?:\.\w+|/))`", table)
    assert len(paths) > 25
    for path in paths:
        assert (ROOT / path).exists() or (ROOT / "bosaris_py" / path).exists(), path


# Pages for people who come from other tools

ROOMS: list[Any] = [bp, evaluation, plots, uncertainty, sklearn, bp.Results, bp.LinearFusion.fit]
# Arguments, members of what another cell names, and the heads of two columns.
OTHERS = {"prior", "convex_hull", "pmiss", "pfa", "dev_pav", "lir"}


def resolves(code: str) -> bool:
    """Tell whether a public name, or one below it, has this path."""
    path = re.sub(r"\(.*", "", code).removeprefix("bosaris_py.").split(".")
    return any(reduce(lambda x, part: getattr(x, part, None), path, room) for room in ROOMS)


COMING_FROM = (ROOT / "docs" / "coming_from.md").read_text(encoding="utf-8")


def test_names_are_there() -> None:
    """The code in the second column of the tables of names."""
    text = COMING_FROM.split("## SpeechBrain")[1]
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    cells = [row[1] for row in rows if len(row) > 1]
    found = {code for cell in cells for code in re.findall(r"`([^`]+)`", cell)}
    names = {code for code in found if not re.search(r'[="<]|cpu', code)}
    assert len(names) > 50
    assert [code for code in names - OTHERS if not resolves(code)] == []


# Two targets have no 30 errors to mark.
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_each_line_for_users_of_five_tools_runs(tmp_path, monkeypatch):
    """The second column of their tables; words stand where there is no line."""
    monkeypatch.chdir(tmp_path)
    models, segments = ["m1", "m2"], ["a", "b", "c"]
    is_tar = np.array([[True, False, False], [False, True, False]])
    key = bp.Key(models, segments, is_tar, ~is_tar)
    scores = bp.Scores(np.arange(6.0).reshape(2, 3), models, segments)
    key.save("key.h5")
    scores.save("scores.h5")
    key.to_ndx().save("ndx.h5")
    bp.IdMap(models, models).save("map.h5")
    names = ["trials", "scores", "ws.score", "norm.score"]
    texts = dict.fromkeys(names, "m1 a 2.5 target\nm1 b 1.5 nontarget\n")
    texts |= {"eer.txt": "2.5 target\n1.5 nontarget\n", "bob.txt": "1 2.5\n-1 0.5\n"}
    _ = [Path(name).write_text(text) for name, text in texts.items()]
    tar, non = np.arange(3.0, 203.0), np.arange(-200.0, 8.0)
    space = {
        **{"np": np, "key": key, "ndx": key.to_ndx(), "scores": scores, "is_tar": is_tar},
        **{"models": models, "segments": segments, "t": ["target", "nontarget"], "tar": tar},
        **{"matrix": scores.scoremat, "mask": scores.scoremask, "non": non, "dev": (tar, non)},
        **{name: bp.Scores([[1.0]], [name], ["a"]) for name in "abc"},
        **{"tars": [tar, tar % 7], "nons": [non, non % 5], "test": (tar, non)},
        **{"m": ["m1", "m1"], "s": ["a", "b"], "seconds": dict.fromkeys([*models, *segments], 2.0)},
    }
    exec("from bosaris_py import *; from bosaris_py import matlab, uncertainty", space)
    text = COMING_FROM.split("## Kaldi")[1].split("## SpeechBrain")[0]
    rows = re.findall(r"^\| (.*?) \| (.*?) \| (?:.* )?\|$", text, re.MULTILINE)
    assert len(rows) > 60
    for left, right in rows:
        found = re.findall(r"`([^`]*)`", right)
        assert found or re.search("^(?:none|Here|---|.this script.*)$", right), left
        for line in found:
            exec(line, space)


# Pictures: of the gallery, of the README

DOCS = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "pages.py")))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
@pytest.mark.parametrize("script", DOCS.SCRIPTS, ids=lambda script: script.stem)
def test_scripts_of_the_gallery(script: Path) -> None:
    assert len(script.read_text(encoding="utf-8").splitlines()) < 40
    assert all(axes.has_data() and axes.get_xlabel() for axes in DOCS.draw(script).axes)
    guide, title, page = DOCS.page(script)
    assert (ROOT / "docs" / f"{guide}.md").exists()
    assert page.startswith(f"# {title}\n")
