"""The command at a terminal of 80 columns: no row of a table wraps, and elsewhere all are wide."""

import fcntl
import os
import pty
import re
import shlex
import struct
import sys
import termios
from pathlib import Path

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import cli
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
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_no_line_wraps_at_80_columns(line, folder, monkeypatch):
    shown = _at_terminal(80, shlex.split(line), monkeypatch=monkeypatch)
    assert shown.strip()
    assert [row for row in shown.splitlines() if len(row) > 80] == []


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_wide_is_what_a_pipe_gets(folder, monkeypatch, capsys):
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
