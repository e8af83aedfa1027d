"""Pages show what a terminal shows: warnings of the package stand in the output of their line."""

import sys
import warnings

import pytest

from bosaris_py.errors import BosarisWarning


@pytest.fixture(autouse=True)
def _warnings_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print each warning once a page."""

    def show(message: Warning | str, category: type[Warning], *place: object) -> None:
        sys.stdout.write(f"{category.__name__}: {message}\n")

    # pytest puts its own filters back after each page.
    warnings.filterwarnings("module", category=BosarisWarning)
    monkeypatch.setattr(warnings, "showwarning", show)
