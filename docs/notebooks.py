"""Write tutorials and scripts of the gallery as notebooks, whose cells are run.

Prose becomes cells of Markdown, examples become code without prompts. A plot that a page draws is
the last expression of its cell, so that a notebook shows it.
"""

import doctest
import io
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gallery
import nbclient
import nbformat
from traitlets.config import Config

DOCS = Path(__file__).resolve().parent
TUTORIALS = [
    path.stem for path in sorted((DOCS / "tutorials").glob("*.md")) if path.stem != "index"
]
_FENCE = re.compile(r"^(`{3,}python\n.*?^`{3,}|<!--\n.*?-->)$", re.MULTILINE | re.DOTALL)
_DRAWN = re.compile(r"^(\w+) = (?:bp|plots)\.plot_\w+\(")
# Pages beside a tutorial are not beside a notebook.
_LINK = re.compile(r"\[([^]]*)\]\((?!https?:)[^)]*\)")
_CELL = re.compile(r"[^\s\"]*ipykernel_\d+/\d+\.py:(\d+)")
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
# Figures that pyplot does not know are pictures for a notebook only after this.
_INLINE = "%matplotlib inline\n"


def of_page(text: str) -> dict[str, Any]:
    """Return the notebook of a page."""
    cells, done = [], 0
    for fence in _FENCE.finditer(text):
        examples = doctest.DocTestParser().get_examples(fence[0])
        if examples:
            cells += [_prose(text[done : fence.start()]), *_codes(examples)]
            done = fence.end()
    return _notebook([*cells, _prose(text[done:])])


def of_script(script: Path, picture: str) -> dict[str, Any]:
    """Return the notebook of a script whose figure is known, as the text of an SVG file."""
    title, prose, _, code = gallery.parts(script)
    shown = {"image/svg+xml": picture, "text/plain": "<Figure>"}
    output = {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": shown}
    cell = _code(f"{_INLINE}{code}figure") | {"execution_count": 1, "outputs": [output]}
    return _notebook([_prose(f"# {title}\n\n{prose}"), cell])


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with the outputs of its cells, run in a new kernel."""
    book = nbformat.reads(json.dumps(notebook), as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # Files of this machine instead of its network; kernels in one folder would take the same.
        files = Config(KernelManager={"transport": "ipc", "ip": f"{folder}/kernel"})
        client = nbclient.NotebookClient(book, timeout=600, record_timing=False, config=files)
        client.execute(cwd=str(DOCS.parent))
    # The kernel names the lines of a cell by a temporary file.
    return json.loads(_CELL.sub(r"line \1", nbformat.writes(book)))


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write a notebook."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def build(folder: Path = DOCS / "_drawn" / "notebooks") -> None:
    """Write all notebooks; what is newer than its page or picture stays."""
    for name in TUTORIALS:
        page, target = DOCS / "tutorials" / f"{name}.md", folder / f"{name}.ipynb"
        if not target.exists() or target.stat().st_mtime < page.stat().st_mtime:
            write(target, run(of_page(page.read_text(encoding="utf-8"))))
    for script in gallery.SCRIPTS:
        picture = DOCS / "gallery" / "generated" / f"{script.stem}.svg"
        target = picture.with_suffix(".ipynb")
        if not target.exists() or target.stat().st_mtime < picture.stat().st_mtime:
            write(target, of_script(script, picture.read_text(encoding="utf-8")))


def link(app: Any, docname: str, source: list[str]) -> None:
    """Add a link to the notebook of a tutorial below its page."""
    folder, _, name = docname.partition("/")
    if folder == "tutorials" and name in TUTORIALS:
        source[0] += f"\n{{download}}`This page as a notebook <../_drawn/notebooks/{name}.ipynb>`\n"


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx; pictures of the gallery are drawn before."""
    app.connect("builder-inited", lambda app: build(), priority=900)
    app.connect("source-read", link)
    return {"parallel_read_safe": True}


def _codes(examples: list[doctest.Example]) -> Iterator[dict[str, Any]]:
    """Yield a cell for each example that shows something, with the ones before it."""
    source = io.StringIO()
    for example in examples:
        source.write(re.sub(r"\s*# doctest: .*", "", example.source))
        if drawn := _DRAWN.match(example.source):
            source.write(drawn[1])
        shows = example.want and not example.source.startswith("print(")
        if drawn or shows or example.exc_msg or example is examples[-1]:
            cell = _code(source.getvalue().rstrip())
            if example.exc_msg:
                cell["metadata"] = {"tags": ["raises-exception"]}
            yield cell
            source = io.StringIO()


def _prose(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": _LINK.sub(r"\1", text).strip()}


def _code(source: str) -> dict[str, Any]:
    empty: dict[str, Any] = {"metadata": {}, "execution_count": None, "outputs": []}
    return {"cell_type": "code", "source": source, **empty}


def _notebook(cells: list[dict[str, Any]]) -> dict[str, Any]:
    filled = [cell for cell in cells if cell["source"]]
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(filled)]
    metadata = {"kernelspec": _KERNEL}
    return {"cells": numbered, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
