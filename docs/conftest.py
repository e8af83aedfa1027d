"""Pages show what a terminal shows: warnings of the package stand in the output of their line."""

import sys
import warnings

import pytest

from bosaris_py.errors import BosarisWarning


@pytest.fixture(autouse=True)
def _warnings_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print each warning, once a page."""
    shown: list[str] = []

    def show(message: Warning | str, category: type[Warning], *place: object) -> None:
        shown.append(line := f"{category.__name__}: {message}\n")
        sys.stdout.write(line * (shown.count(line) == 1))

    warnings.filterwarnings("always", category=BosarisWarning)
    monkeypatch.setattr(warnings, "showwarning", show)
