"""Fixtures shared by all tests."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from bosaris_py import _parallel

ROOT = Path(__file__).resolve().parent.parent

# Times vary too much between machines to fail a test. A commit has one answer: `make test-all`
# looks at more examples, and HYPOTHESIS_PROFILE=explore at others each time. A test whose examples
# are cheap asks for a multiple of `settings.default.max_examples`.
settings.register_profile("quick", max_examples=12, deadline=None, derandomize=True)
settings.register_profile("thorough", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("explore", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

# Some tests send the signal of Ctrl-C, which is ignored in the background of a shell.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Scores that a property test makes are often inverted, which the package warns of.
_MADE_SCORES = pytest.mark.filterwarnings("ignore::bosaris_py.errors.SuspectScoresWarning")


# A page cannot mark itself, nor can an example in a docstring.
_SLOW_PAGES = {
    "bosaris_py/evaluation/case.py",
    *("docs/coming_from.md", "docs/papers.md", "docs/report.md"),
    *("docs/howto/choose_calibration.md", "docs/howto/choose_interval.md", "docs/howto/plots.md"),
    *("docs/tutorials/challenge.md", "docs/tutorials/forensic.md", "docs/tutorials/fusion.md"),
    *("docs/tutorials/large.md", "docs/tutorials/verifier.md"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(_MADE_SCORES)
        if item.nodeid.split("::")[0] in _SLOW_PAGES:
            item.add_marker(pytest.mark.slow)


_open_socket = socket.socket.__init__


# An audit hook would see sockets of C too. But it runs within `sys.settrace`, where it lets another
# thread go on; Python 3.11 then stops one of two threads that coverage begins to trace at once.
def _refuse_network(opened, family=-1, *args, **options):
    # Other families are pipes between processes of one machine.
    is_network = family in {-1, socket.AF_INET, socket.AF_INET6}
    if is_network:
        msg = "no test may open a socket"
        raise RuntimeError(msg)
    _open_socket(opened, family, *args, **options)  # type: ignore[arg-type]


socket.socket.__init__ = _refuse_network  # type: ignore[assignment,method-assign]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20111209)


@pytest.fixture(scope="session")
def oracle() -> Path:
    """Folder with the outputs of the MATLAB toolkit; its README explains the keys."""
    return ROOT / "tests" / "reference" / "oracle"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder with real score sets that may not be distributed."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real score sets are not distributed; none found at ../shared/data")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _lasting_bars() -> Iterator[None]:
    """Progress bars appear at once and stay: work in tests takes less than a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_parallel, "_BAR", {"delay": 0.0, "leave": True})
        yield
