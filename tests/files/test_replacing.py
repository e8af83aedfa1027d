"""Whole files or none, and no input as an output."""

import contextlib
import errno
import os
import secrets
import signal
import stat
import time
from pathlib import Path

import pytest

import bosaris_py as bp
from bosaris_py import matlab
from bosaris_py.errors import InvalidInputError
from bosaris_py.files.replacing import replacing, try_output

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file that is to be replaced, alone in its folder."""
    path = tmp_path / "a.txt"
    path.write_text("old")
    return path


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, SystemExit])
def test_fault_leaves_the_old_file_and_nothing_else(old, fault):
    def write_half() -> None:
        with replacing(old) as temporary:
            temporary.write_text("half of the ne")
            raise fault

    with pytest.raises(fault):
        write_half()
    assert old.read_text() == "old"
    assert list(old.parent.iterdir()) == [old]


@POSIX
def test_killed_process_leaves_the_old_file(old: Path) -> None:
    pid = os.fork()
    if pid == 0:
        with replacing(old) as temporary:
            temporary.write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    assert old.read_text() == "old"
    (rest,) = set(old.parent.iterdir()) - {old}
    assert rest.match(".a.txt.*.bosaris_py")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o4711])
def test_private_file_stays_private_while_it_is_replaced(old: Path, mode: int) -> None:
    old.chmod(mode)
    with replacing(old) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    assert stat.S_IMODE(old.stat().st_mode) == mode


@pytest.mark.skipif(not IS_ROOT, reason="only the superuser gives files away")
def test_owner_is_kept(old: Path) -> None:
    os.chown(old, 12345, 23456)
    old.chmod(0o2750)
    with replacing(old) as temporary:
        temporary.write_text("new")
    found = old.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o2750)


@pytest.mark.parametrize(("code", "is_named"), [(errno.ENOSPC, True), (errno.EIO, False)])
def test_a_full_disk_is_that_of_the_file(old: Path, code: int, *, is_named: bool) -> None:
    """Other errors without a name may be those of a file that is read."""
    with pytest.raises(OSError) as caught, replacing(old):  # noqa: PT011
        raise OSError(code, "no name")
    assert caught.value.filename == (str(old) if is_named else None)


@POSIX
def test_what_is_replaced(old: Path) -> None:
    """A link stays a link; a superuser whose check fails would replace a device of the machine."""
    link, pipe = old.parent / "link.txt", old.parent / "pipe"
    link.symlink_to(old)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert old.read_text() == "new"
    os.mkfifo(pipe)
    for path, error in (
        (pipe, InvalidInputError),
        (old.parent, IsADirectoryError),
        (old / "a.txt", FileNotFoundError),
    ):
        with pytest.raises(error), replacing(path):
            pass
    assert pipe.is_fifo()
    if not IS_ROOT:
        old.chmod(0o444)
        with pytest.raises(PermissionError), replacing(old):
            pass


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.BosarisWarning")
def test_no_input_of_a_call_is_its_output(tmp_path: Path) -> None:
    scores, key, link = (tmp_path / name for name in ("a.h5", "k.h5", "b.h5"))
    bp.Scores([[0.5, 1.5]], ["m"], ["s", "t"]).save(scores)
    bp.Key(["m"], ["s", "t"], [[True, False]], [[False, True]]).save(key)
    link.symlink_to(scores)
    line = bp.LinearCalibration.fit([1.0, 3.0, 2.0], [0.0, 2.5, -1.0])
    before = scores.read_bytes(), key.read_bytes()
    for call in (
        lambda: line.apply_file(scores, link),
        lambda: bp.evaluate(scores, key).report(key, files={"key": key}),
        lambda: matlab.linear_fusion_scores_from_files(key, [scores], link, 0.5, 9, [], 1, 1),
    ):
        with pytest.raises(InvalidInputError, match="must be another file than"):
            call()
    assert (scores.read_bytes(), key.read_bytes()) == before


def test_files_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    names = (".a.txt.0123abcd.tmp", ".a.txt.0123abcd.bosaris_py")
    for name in names:
        (tmp_path / name).write_text("kept")
        os.utime(tmp_path / name, (time.time() - 9 * 86400,) * 2)
    with replacing(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
    assert {path.name for path in tmp_path.iterdir()} == {*names, "a.txt"}


@POSIX
@pytest.mark.parametrize(
    ("name", "code", "text"),
    [
        *(("fsync", code, "new") for code in (errno.EINVAL, errno.ENOTSUP)),
        ("fsync", errno.EIO, "old"),
        ("chmod", errno.EPERM, "new"),
        ("replace", errno.EIO, "old"),
    ],
)
def test_file_systems_that_cannot_do_all(old, monkeypatch, name, code, text):
    """FUSE, CIFS and exFAT neither flush nor have permissions."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, name, refuse)
    if name != "fsync":
        # What pathlib calls.
        monkeypatch.setattr(Path, name, refuse)
    with contextlib.suppress(OSError), replacing(old) as temporary:
        temporary.write_text("new")
    assert old.read_text() == text
    assert list(old.parent.iterdir()) == [old]


@POSIX
def test_a_planted_temporary_file_is_not_followed(old, monkeypatch):
    # Who guesses the name must not choose what is written into.
    (old.parent / ".new.txt.00000000.bosaris_py").symlink_to(old)
    monkeypatch.setattr(secrets, "token_hex", lambda _: "00000000")
    with pytest.raises(FileExistsError), replacing(old.parent / "new.txt"):
        pass
    assert old.read_text() == "old"


def test_an_output_is_tried_without_a_trace(old: Path) -> None:
    assert try_output(old) == 3
    assert try_output(old.parent / "new.txt") == 0
    assert list(old.parent.iterdir()) == [old]
    assert old.read_text() == "old"
