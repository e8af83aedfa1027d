"""Notebooks of tutorials and of the gallery: cells in order, and all of them run."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "docs"))
gallery = importlib.import_module("gallery")
notebooks = importlib.import_module("notebooks")
sys.path.remove(str(ROOT / "docs"))

PAGE = """# Title

See [a page](../other.md) or [a site](https://example.org).

<!--
>>> import bosaris_py as bp

-->

```python
>>> x = [1.0, 2.0]  # doctest: +ELLIPSIS
>>> len(x)
2
>>> for value in x:
...     print(value)
1.0
2.0
>>> plot = bp.plot_det({"A": (x, [0.0])})
>>> y = 1

```

```console
$ bosaris
```

```python
>>> bp.eer("text", x)
Traceback (most recent call last):
bosaris_py.errors.InvalidInputError: ...

```

The end.
"""


def shown(notebook: dict[str, Any]) -> list[bool]:
    """Tell of each cell of code whether it shows a picture."""
    return [
        any("image/png" in output.get("data", {}) for output in cell["outputs"])
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def test_cells_end_where_something_is_shown() -> None:
    notebook = notebooks.of_page(PAGE)
    found = [(cell["cell_type"], cell["source"]) for cell in notebook["cells"]]
    assert found == [
        ("markdown", "# Title\n\nSee a page or [a site](https://example.org)."),
        ("code", "import bosaris_py as bp"),
        ("code", "x = [1.0, 2.0]\nlen(x)"),
        ("code", "for value in x:\n    print(value)"),
        ("code", 'plot = bp.plot_det({"A": (x, [0.0])})\nplot'),
        ("code", "y = 1"),
        ("markdown", "```console\n$ bosaris\n```"),
        ("code", 'bp.eer("text", x)'),
        ("markdown", "The end."),
    ]
    assert notebook["cells"][-2]["metadata"] == {"tags": ["raises-exception"]}
    assert [cell["id"] for cell in notebook["cells"]] == [f"cell-{i}" for i in range(9)]


def test_a_script_comes_with_its_picture() -> None:
    prose, code = notebooks.of_script(gallery.SCRIPTS[1], "<svg/>")["cells"]
    assert prose["source"].startswith("# DET plot of two systems\n\nMisses against false alarms")
    assert code["source"].startswith("%matplotlib inline\nimport bosaris_py as bp\n")
    assert code["source"].endswith(".figure\nfigure")
    assert code["outputs"][0]["data"]["image/svg+xml"] == "<svg/>"


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.parametrize("name", notebooks.TUTORIALS)
def test_tutorials_run(name: str) -> None:
    """Lines that fail end the run; a plot that is drawn is shown."""
    page = (ROOT / "docs" / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    notebook = notebooks.run(notebooks.of_page(page))
    drawn = page.count(" = plots.plot_") + page.count(" = bp.plot_")
    assert sum(shown(notebook)) == drawn
    assert "ipykernel_" not in str(notebook)


@pytest.mark.network
@pytest.mark.slow
def test_the_gallery_runs_in_a_notebook() -> None:
    """One kernel: each cell shows its figure. All scripts run in the tests of the gallery."""
    chosen = gallery.SCRIPTS[1::12]
    scripts = [notebooks.of_script(script, "")["cells"][1] for script in chosen]
    cells = [cell | {"id": f"of-{i}", "outputs": []} for i, cell in enumerate(scripts)]
    notebook = notebooks.of_page("") | {"cells": cells}
    assert all(shown(notebooks.run(notebook)))
