"""What pages draw is found: each figure once, below the lines that draw it; dark copies."""

import importlib.util
import re
from pathlib import Path

import pytest

pytest.importorskip("sphinx")

ROOT = Path(__file__).resolve().parents[2]
_spec = importlib.util.spec_from_file_location("run_pages", ROOT / "docs" / "run_pages.py")
assert _spec is not None
assert _spec.loader is not None
run_pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(run_pages)

PAGE = """# Title

```python
>>> import bosaris_py as bp
>>> from bosaris_py import plots
>>> det = bp.DETPlot("old")

```

<!--
>>> hidden = [1.0, 2.0], [0.0, 1.5]

-->

```python
>>> det.set_system(*hidden, "A")
>>> _ = det.plot_steppy_det(label="A")
>>> for _ in range(2):
...     drawn = plots.plot_tippett({"A": hidden})

```

```python
>>> print("drawn again?")
drawn again?

```

```python
>>> _ = det.plot_rocch_det(label="hull")
>>> bp.eer("text", [1.0])
Traceback (most recent call last):
bosaris_py.errors.InvalidInputError: ...

```
"""


@pytest.mark.slow
def test_figures_stand_below_the_lines_that_draw_them(tmp_path, monkeypatch):
    monkeypatch.setattr(run_pages, "DRAWN", tmp_path)
    inserted = run_pages.run("page", PAGE)
    lines = PAGE.splitlines()
    # The empty plot is not shown; a plot that is drawn on again is shown again.
    closing = [number for number, line in enumerate(lines) if line == "```"]
    assert {number: text.count("![") for number, text in inserted.items()} == {
        closing[1]: 3,
        closing[3]: 1,
    }
    assert len(list(tmp_path.glob("page-*.svg"))) == 4
    assert "Miss probability" in inserted[closing[1]]


def test_an_example_that_fails_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(run_pages, "DRAWN", tmp_path)
    with pytest.raises(ZeroDivisionError):
        run_pages.run("page", "```python\n>>> 1 / 0\n\n```\n")


def test_dark_drawings_have_the_ground_of_the_page_and_colours_for_it():
    first, other = run_pages._ON_LIGHT[0], run_pages._ON_DARK[0]
    svg = f'<g id="figure_1"><a style="fill: #ffffff"/><b fill="#{first}"/><c fill="#b0b0b0"/></g>'
    found = re.findall("#[0-9a-f]{6}", run_pages.dark(svg))
    # Letters, ground, system, grid: 1 - .69 of the scale above the ground.
    assert found == ["#ffffff", run_pages.GROUND, f"#{other}", "#5f5f5f"]


def test_pages_that_draw_are_those_with_a_call():
    for line in (">>> bp.plot_det(x)", "...     det = x.det()", ">>> evaluation.report(path)"):
        assert run_pages.DRAWS.search(f"text\n{line}\n")
    assert not run_pages.DRAWS.search(">>> results.eer\n`plot_det(x)`\n")
