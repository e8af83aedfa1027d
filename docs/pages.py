"""Draw the gallery and the pictures of pages. ``python docs/pages.py NAME`` draws one for README.

A script in docs/gallery ends with a figure named ``figure``; it begins "Title: Text. See PAGE."
"""

import contextlib
import doctest
import io
import re
import runpy
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

from matplotlib import rc_context
from matplotlib.figure import Figure

SAVING = {"savefig.bbox": "tight", "svg.hashsalt": "bosaris_py"}
DOCS = Path(__file__).resolve().parent
SCRIPTS = sorted((DOCS / "gallery").glob("*.py"))
SCRIPT = re.compile(r'"""(.+?): (.+) See (\S+)\."""\n\n(.+)', re.DOTALL)
DRAWS = r"(?m)^(?:>>>|\.\.\.) .*(?:plot\w*\(|(?:DET|Bayes)Plot\(|Figure\()"
BLOCK = re.compile(r"^(?:```python|<!--)\n(.*?)^(?:```|-->)$", re.MULTILINE | re.DOTALL)


def draw(script: Path) -> Figure:
    """Run a script from the top of the repository, and return its figure."""
    with contextlib.chdir(DOCS.parent):
        return runpy.run_path(str(script))["figure"]


def page(script: Path) -> tuple[str, str, str]:
    """Return the guide of a script, its title, and its page in Markdown."""
    title, text, guide, code = SCRIPT.fullmatch(script.read_text(encoding="utf-8")).groups()
    shown = f"# {title}\n\n{text}\n\n![{title}]({script.stem}.svg)\n\n```python\n{code}```\n"
    return guide, title, f"{shown}\nExplained in [](../../{guide}.md).\n"


@rc_context(SAVING)
def build() -> None:
    """Write the gallery, with what scripts warn of; a picture newer than its script stays."""
    folder, pages = DOCS / "gallery" / "generated", sorted((*page(each), each) for each in SCRIPTS)
    folder.mkdir(exist_ok=True)
    index = "# Gallery\n\nClick for code. Save with `figure.savefig`.\n\n::::{container} gallery\n"
    for _, title, text, script in pages:
        drawn = folder / f"{script.stem}.svg"
        if not drawn.exists() or drawn.stat().st_mtime < script.stat().st_mtime:
            with warnings.catch_warnings(record=True) as found:
                draw(script).savefig(drawn)
            text += "".join(f"\n- It warns: {w.message} ({w.category.__name__})\n" for w in found)
            drawn.with_suffix(".md").write_text(text, encoding="utf-8")
        index += f"\n[![]({script.stem}.svg) {title}]({script.stem}.md)\n"
    stems = "\n".join(script.stem for *_, script in pages)
    index += f"\n::::\n\n```{{toctree}}\n:hidden:\n\n{stems}\n```\n"
    (folder / "index.md").write_text(index, encoding="utf-8")
    for name in ("CONTRIBUTING", "CHANGELOG"):
        (folder / f"{name.lower()}.md").write_text(f"```{{include}} ../../../{name}.md\n```\n")


@rc_context(SAVING)
def shown(figure: Figure, stem: str) -> str:
    """Save a figure, and return the line that shows it, with words for who cannot see it."""
    (DOCS / "_drawn").mkdir(exist_ok=True)
    figure.savefig(DOCS / "_drawn" / f"{stem}.svg")
    figure.stale = False
    words = "; ".join(axes.get_title() or axes.get_ylabel() for axes in figure.axes)
    return f"\n\n![{re.sub(r'[^ -Z^-~]|[$]', '', words)}](/_drawn/{stem}.svg)\n"


def show(app: Any, docname: str, source: list[str]) -> None:
    """Run the examples of a page that draws, and show each picture below the block that draws it.

    Links to scripts become links to their pages, alone in a line pictures; output is not printed.
    """
    link = r"\]\(((?:\.\./)*gallery)/(\w+)\.py\)"
    text = re.sub(rf"(?m)^(\[[^]]+){link}$", r"!\1](\2/generated/\3.svg)", source[0])
    source[0] = text = re.sub(link, r"](\1/generated/\2.md)", text).replace("\n\n```\n", "\n```\n")
    if not re.search(DRAWS, text) or docname.startswith(("api/", "gallery/")):
        return
    space, parts, end = {}, [], 0
    watched = mock.patch.object(Figure, "__init__", autospec=True, side_effect=Figure.__init__)
    printed, told = contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(record=True)
    with contextlib.chdir(DOCS.parent), printed, told, watched as made:
        for block in BLOCK.finditer(text):
            for example in doctest.DocTestParser().get_examples(block[1]):
                count = len(made.call_args_list)
                with contextlib.suppress(*[Exception] * (example.exc_msg is not None)):
                    exec(compile(example.source, docname, "single"), space)
                if ".report(" in example.source:
                    del made.call_args_list[count:]
            figures = (call.args[0] for call in made.call_args_list)
            new = [each for each in figures if each.stale and any(a.has_data() for a in each.axes)]
            stem = f"{docname.replace('/', '-')}-{len(parts)}"
            parts.append(text[end : block.end()])
            parts += (shown(figure, f"{stem}-{i}") for i, figure in enumerate(new))
            end = block.end()
    source[0] = "".join([*parts, text[end:]])


if __name__ == "__main__":
    with rc_context(SAVING):
        for stem in sys.argv[1:]:
            draw(DOCS / "gallery" / f"{stem}.py").savefig(DOCS / "images" / f"{stem}.svg")
