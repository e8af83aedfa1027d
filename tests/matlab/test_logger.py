"""The toolkit's Logger on top of Python's logging."""

import io
import logging
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bosaris_py.matlab as b
from bosaris_py.errors import BosarisWarning, InvalidInputError


@pytest.fixture
def logger() -> Iterator[b.Logger]:
    logger = b.Logger()
    yield logger
    logger.clear()
    assert logging.getLogger("bosaris_py").level == logging.NOTSET


def test_levels_are_the_toolkits() -> None:
    names = ("Major_Error", "Error", "Warning", "Minor_Warning", "Info", "Minor_Info")
    levels = [getattr(b.Logger, name) for name in (*names, "Debug_1", "Debug_2")]
    assert levels == [1, 2, 4, 8, 16, 32, 64, 128]
    assert (b.Logger.None_, b.Logger.All) == (0, sum(levels))


def test_each_sink_takes_its_levels(logger: b.Logger) -> None:
    some, everything, nothing = io.StringIO(), io.StringIO(), io.StringIO()
    logger.add_fid(some, b.Logger.Minor_Info + b.Logger.Error)
    logger.add_fid(everything)
    logger.add_fid(nothing, b.Logger.None_)
    logger.log(b.Logger.Info, "%d of %s", 3, "five")
    logger.log(b.Logger.Minor_Info, "minor")
    logger.log(b.Logger.None_, "nobody hears this")
    b.log_error("bad %g", 0.5)
    b.log_warning("odd")
    b.log_info("fine")
    b.logprint(b.Logger.Debug_2, "deep")
    assert some.getvalue() == "minor\nError: bad 0.5\n"
    assert everything.getvalue() == (
        "3 of five\nminor\nError: bad 0.5\nWarning: odd\nInfo: fine\ndeep\n"
    )
    assert nothing.getvalue() == ""
    logger.rm_fid(some)
    b.log_error("gone")
    assert "gone" not in some.getvalue()
    assert not some.closed
    assert logger.validate()


def test_messages_of_the_package_are_heard(logger: b.Logger, tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    logger.add_filename(path, b.Logger.Info)
    b.Ndx(["a", "b"], ["s"]).filter(["a"], ["s"], keep=True)
    logger.rm_filename(path)
    assert path.read_text() == "Info: Number of models reduced from 2 to 1.\n"


def test_standard_streams(logger: b.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    logger.add_stdout(b.Logger.Info)
    logger.add_stderr(b.Logger.Warning)
    b.log_info("to out")
    b.log_warning("to err")
    logger.rm_stdout()
    logger.rm_stderr()
    assert capsys.readouterr() == ("Info: to out\n", "Warning: to err\n")


def test_twice_or_never(logger: b.Logger) -> None:
    logger.add_stdout()
    with pytest.warns(BosarisWarning, match=r"That is among the sinks already"):
        logger.add_stdout()
    with pytest.warns(BosarisWarning, match=r"rm_stderr: that is not among the sinks"):
        logger.rm_stderr()


def test_messages_are_formatted_as_by_sprintf(logger: b.Logger) -> None:
    stream = io.StringIO()
    logger.add_fid(stream, np.int64(b.Logger.Info))
    logger.log(np.int64(b.Logger.Info), "50%% done")
    logger.log(b.Logger.Info, "%d%% done", 50)
    # A message that is no format stays as it is.
    b.logprint(b.Logger.Info, "50% done")
    # The end of a line belongs to the sink.
    b.log_info("table\n")
    logger.log(b.Logger.Info, "%s", b.sprintfmatrix([[1, 2]]))
    assert stream.getvalue() == "50% done\n50% done\n50% done\nInfo: table\n1  2\n"


@pytest.mark.parametrize("level", [-1, 256, 1.5, "Info", True])
def test_levels_that_are_none(logger: b.Logger, level: object) -> None:
    with pytest.raises(InvalidInputError, match="be a sum of the levels of Logger, 0 to 255"):
        logger.add_stdout(level)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match=r"`level`"):
        logger.log(level, "text")  # type: ignore[arg-type]


@pytest.mark.parametrize("first", ["stdout", "stderr"])
def test_the_level_of_before_comes_back_with_the_last_sink(first: str) -> None:
    package = logging.getLogger("bosaris_py")
    package.setLevel(logging.ERROR)
    one, other = b.Logger(), b.Logger()
    try:
        one.add_stdout()
        other.add_stderr()
        assert package.level == logging.DEBUG
        (one.rm_stdout if first == "stdout" else other.rm_stderr)()
        assert package.level == logging.DEBUG
        (other.rm_stderr if first == "stdout" else one.rm_stdout)()
        assert package.level == logging.ERROR
        one.add_stdout()
        package.setLevel(logging.INFO)
        one.rm_stdout()
        assert package.level == logging.INFO, "set meanwhile by the user"
    finally:
        package.setLevel(logging.NOTSET)


def test_a_level_set_by_the_user_is_kept_while_it_suffices(logger: b.Logger) -> None:
    package = logging.getLogger("bosaris_py")
    package.setLevel(5)
    try:
        logger.add_stdout()
        assert package.level == 5
        logger.rm_stdout()
    finally:
        package.setLevel(logging.NOTSET)
