"""The command at a terminal of 80 columns: no row of a table wraps, and elsewhere all are wide."""

import contextlib
import fcntl
import os
import pty
import re
import shlex
import struct
import sys
import termios
import time
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import _parallel, cli
from bosaris_py.cli.printing import say
from tests.forms import described

JUDGED = "X=eval_a.txt ECAPA=eval_b.txt --key eval_key.h5"
SPEAKERS = "--speakers re:^(p.)"
LINES = [
    f"evaluate {JUDGED} --prior 0.01,0.05",
    f"evaluate {JUDGED} --prior 0.01,0.05 {SPEAKERS} --bootstrap 20",
    f"evaluate {JUDGED} --metadata metadata.h5 --conditions gender {SPEAKERS} --bootstrap 20",
    f"compare eval_a.txt {JUDGED} {SPEAKERS}",
    f"case 0.5 eval_b.txt --key eval_key.h5 {SPEAKERS} --same one --different two --reference few",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two systems on 12 models of six speakers."""
    monkeypatch.chdir(tmp_path)
    models = [f"p{i // 2}-m{i:02}" for i in range(12)]
    segments = sorted(f"p{j % 6}-s{j:02}" for j in range(40))
    is_tar = np.equal.outer([m[:2] for m in models], [s[:2] for s in segments])
    key = bp.Key(models, segments, is_tar, ~is_tar)
    key.save("eval_key.h5")
    gender = ["f" if name < "p2" else "m" for name in models]
    described(key, model_columns={"gender": gender}).save("metadata.h5")
    for name, strength in (("a", 1.5), ("b", 2.0)):
        noise = np.random.default_rng(ord(name)).normal(0, 1, is_tar.shape)
        bp.Scores(np.round(strength * is_tar + noise, 4), models, segments).save(f"eval_{name}.txt")
    return tmp_path


def _terminal(columns: int) -> tuple[int, int]:
    """Return both ends of a terminal."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    return master, slave


def _at_terminal(columns: int, words: list[str], *, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the command in this process with its output at a terminal; return what it shows."""
    master, slave = _terminal(columns)
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
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_no_line_wraps_at_80_columns(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = _at_terminal(80, shlex.split(line), monkeypatch=monkeypatch)
    assert shown.strip()
    assert [row for row in shown.splitlines() if len(row) > 80] == []


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_wide_is_what_a_pipe_gets(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = shlex.split(LINES[3])
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


def _screen(written: str) -> list[str]:
    """Return the lines that a terminal shows in the end, without blank ones."""
    lines = []
    for line in written.replace("\r\n", "\n").split("\n"):
        shown: list[str] = []
        for part in line.split("\r"):
            shown[: len(part)] = part
        lines.append("".join(shown).rstrip())
    return [line for line in lines if line]


def _of_a_bar(seconds: float, *, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a terminal gets of a bar that is interrupted by a message."""
    master, slave = _terminal(80)
    with os.fdopen(slave, "w", encoding="utf-8") as stream, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        # Other tests have bars without delay.
        patch.setattr(_parallel, "_BAR", {"delay": 1.0, "leave": False})
        with _parallel.progress_bar(total=3, desc="work", shown=True) as bar:
            time.sleep(seconds)
            bar.update()
            say("a message")
            time.sleep(0.2)
            bar.update()
    # What was written comes in parts; without a writer the terminal then has an error.
    written = b""
    with contextlib.suppress(OSError):
        while part := os.read(master, 2**16):
            written += part
    os.close(master)
    return written.decode()


@pytest.mark.parametrize(("seconds", "appears"), [(0.0, False), (1.1, True)])
def test_bars_do_not_tear_messages_and_leave_nothing(
    monkeypatch: pytest.MonkeyPatch, *, seconds: float, appears: bool
) -> None:
    written = _of_a_bar(seconds, monkeypatch=monkeypatch)
    assert ("work" in written) == appears
    assert _screen(written) == ["bosaris: a message"]
