import contextlib
import errno
import os
import re
import secrets
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bosaris_py as bp
from bosaris_py.errors import InvalidInputError
from bosaris_py.files import replacing as module
from bosaris_py.files.replacing import replacing


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt, SystemExit])
def test_fault_leaves_the_old_file_and_nothing_else(tmp_path, fault):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def write_half() -> None:
        with replacing(target) as temporary:
            temporary.write_text("half of the ne")
            raise fault

    with pytest.raises(fault):
        write_half()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.slow
def test_killed_process_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "scores.txt"
    target.write_text("old")
    program = (
        "import os, sys\n"
        "from bosaris_py.files.replacing import replacing\n"
        "with replacing(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    root = Path(__file__).resolve().parents[2]
    run = subprocess.run([sys.executable, "-c", program, str(target)], check=False, cwd=root)
    assert run.returncode == -9
    assert target.read_text() == "old"
    (rest,) = set(tmp_path.iterdir()) - {target}
    assert rest.name.startswith(".scores.txt.")
    assert list(tmp_path.glob("*.txt")) == [target]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o4711])
def test_private_file_stays_private_while_it_is_replaced(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(mode)
    with replacing(target) as temporary:
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    assert stat.S_IMODE(target.stat().st_mode) == mode


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files away"
)
def test_owner_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    os.chown(target, 12345, 23456)
    target.chmod(0o2750)
    with replacing(target) as temporary:
        temporary.write_text("new")
    found = target.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (12345, 23456, 0o2750)


@pytest.mark.parametrize(("code", "name"), [(errno.ENOSPC, "a.txt"), (errno.EIO, None)])
def test_a_full_disk_is_that_of_the_file(tmp_path: Path, code: int, name: str | None) -> None:
    """Other errors without a name may be those of a file that is read."""
    with pytest.raises(OSError) as caught, replacing(tmp_path / "a.txt"):  # noqa: PT011
        raise OSError(code, "no name")
    assert caught.value.filename == (name and str(tmp_path / name))


def test_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    real = tmp_path / "folder" / "real.txt"
    real.parent.mkdir()
    real.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    with replacing(link) as temporary:
        temporary.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="needs a special file")
def test_special_file_is_refused(tmp_path: Path) -> None:
    """A pipe of our own: a superuser whose check fails would replace a device of the machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(InvalidInputError, match="not a regular file"), replacing(pipe):
        pass
    assert pipe.is_fifo()


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write everything"
)
def test_protected_file_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    target.chmod(0o444)
    with pytest.raises(PermissionError), replacing(target):
        pass


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.FewErrorsWarning")
def test_no_input_of_a_call_is_its_output(tmp_path: Path) -> None:
    scores, key = tmp_path / "a.h5", tmp_path / "k.html"
    bp.Scores([[0.5, 1.5]], ["m"], ["s", "t"]).save(scores)
    (tmp_path / "b.h5").symlink_to(scores)
    before = scores.read_bytes()
    line = bp.LinearCalibration.fit([1.0, 3.0, 2.0], [0.0, 2.5, -1.0])
    with pytest.raises(InvalidInputError, match="`output_file` must be another file than"):
        line.apply_file(scores, tmp_path / "b.h5")
    assert scores.read_bytes() == before
    key.write_text("m s target\nm t nontarget\n")
    judged = bp.evaluate(scores, key)
    with pytest.raises(InvalidInputError, match="`path` must be another file than"):
        judged.report(key, files={"key": key})
    assert key.read_text() == "m s target\nm t nontarget\n"


def test_files_of_other_programs_are_left_alone(tmp_path: Path) -> None:
    names = (".thesis-draft.cafebabe.tmp", ".a.txt.0123abcd.tmp", ".a.txt.0123abcd.bosaris_py")
    for name in names:
        (tmp_path / name).write_text("kept")
        os.utime(tmp_path / name, (time.time() - 9 * 86400,) * 2)
    with replacing(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
    assert {path.name for path in tmp_path.iterdir()} == {*names, "a.txt"}


@pytest.mark.skipif(os.name != "posix", reason="errors of POSIX")
@pytest.mark.parametrize(
    ("name", "code", "is_passed_over"),
    [
        *(
            ("fsync", errno.EINVAL, True),
            ("fsync", errno.ENOTSUP, True),
            ("fsync", errno.EIO, False),
        ),
        *(("chmod", errno.EPERM, True), ("chmod", errno.ENOTSUP, True), ("chmod", errno.EIO, True)),
    ],
)
def test_file_systems_without_flushing_or_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: int, *, is_passed_over: bool
) -> None:
    """FUSE, CIFS and exFAT cannot do all that others can."""
    target = tmp_path / "a.txt"
    target.write_text("old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, name, refuse)
    if name == "chmod":
        # What pathlib calls.
        monkeypatch.setattr(Path, name, refuse)
    with contextlib.ExitStack() as stack:
        if not is_passed_over:
            stack.enter_context(pytest.raises(OSError, match=re.escape(os.strerror(code))))
        with replacing(target) as temporary:
            temporary.write_text("new")
    assert target.read_text() == ("new" if is_passed_over else "old")
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_planted_temporary_file_is_not_followed(tmp_path, monkeypatch):
    # Who guesses the name must not choose what is written into.
    secret = tmp_path / "secret"
    secret.write_text("kept")
    (tmp_path / ".a.txt.00000000.bosaris_py").symlink_to(secret)
    monkeypatch.setattr(secrets, "token_hex", lambda _: "00000000")
    with pytest.raises(FileExistsError), replacing(tmp_path / "a.txt"):
        pass
    assert secret.read_text() == "kept"


def test_an_output_is_tried_without_a_trace(tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("seven b")
    assert module.try_output(old) == 7
    assert module.try_output(tmp_path / "new.txt") == 0
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_text() == "seven b"
