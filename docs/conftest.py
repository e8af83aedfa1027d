"""Pages show what a terminal shows: warnings of the package stand in the output of their line."""

import sys
import warnings

import pytest

from bosaris_py.errors import BosarisWarning, FewTrainingErrorsWarning


@pytest.fixture(autouse=True)
def _warnings_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print each warning, once a page."""
    shown = set()

    def show(message: Warning | str, category: type[Warning], *place: object) -> None:
        line = f"{category.__name__}: {message}\n"
        if line not in shown:
            shown.add(line)
            sys.stdout.write(line)

    # pytest puts its own filters back after each page.
    warnings.filterwarnings("always", category=BosarisWarning)
    # As in setup.cfg: training sets of examples are small.
    warnings.filterwarnings("ignore", category=FewTrainingErrorsWarning)
    monkeypatch.setattr(warnings, "showwarning", show)
