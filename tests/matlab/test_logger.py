"""The toolkit's Logger on top of Python's logging."""

import io
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bosaris_py.matlab as b
from bosaris_py.errors import InvalidInputError


@pytest.fixture
def logger() -> Iterator[b.Logger]:
    logger = b.Logger()
    yield logger
    logger.clear()
    assert logging.getLogger("bosaris_py").level == logging.NOTSET


def test_each_sink_takes_its_levels(logger: b.Logger) -> None:
    some, everything, nothing = (io.StringIO() for _ in range(3))
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
    said = "3 of five", "minor", "Error: bad 0.5", "Warning: odd", "Info: fine", "deep"
    assert everything.getvalue() == "\n".join((*said, ""))
    assert nothing.getvalue() == ""
    levels = "Major_Error Error Warning Minor_Warning Info Minor_Info Debug_1 Debug_2"
    assert [getattr(b.Logger, name) for name in levels.split()] == [2**i for i in range(8)]
    assert (b.Logger.None_, b.Logger.All) == (0, 255)
    for level in (-1, 256, 1.5, "Info"):
        with pytest.raises(InvalidInputError):
            logger.add_stdout(level)
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


@pytest.mark.slow
def test_a_log_file_gets_the_warnings(tmp_path: Path) -> None:
    """The lines of a record of an evaluation that matter most; Python shows them all the same."""
    path = tmp_path / "log.txt"
    code = f"""
import warnings
import bosaris_py.matlab as b
shown = warnings.showwarning
logger = b.Logger()
logger.add_filename({str(path)!r}, b.Logger.Warning)
b.Scores([[1.0]], ["m"], ["s"]).align_with_ndx(b.Ndx(["m"], ["s", "t"]))
warnings.warn("of another package")
logger.clear()
assert warnings.showwarning is shown
warnings.warn("later")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    log = path.read_text()
    assert all(line.startswith("Warning: ") for line in log.splitlines())
    assert "1 of 2 trials missing" in log
    for text in ("1 of 2 trials missing", "of another package", "later"):
        assert text in done.stderr
