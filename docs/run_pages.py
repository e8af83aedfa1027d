"""Run the examples of pages when the documentation is built, and show what they draw.

Each figure that a block of code makes or changes is inserted below the block, each report is a
link and a frame, and every picture of the documentation gets a copy for dark pages. Tests
compare the printed output of the same examples; here a failing example fails the build.
"""

import colorsys
import contextlib
import doctest
import io
import os
import re
import shutil
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from docutils import nodes
from matplotlib.figure import Figure
from PIL import Image
from sphinx.util import logging

import bosaris_py as bp
from bosaris_py.plots.looks import _ON_DARK, _ON_LIGHT

DOCS = Path(__file__).resolve().parent
DRAWN = DOCS / "_drawn"
# What makes a page worth a run; other pages print only.
DRAWS = re.compile(
    r"^(?:>>>|\.\.\.) .*(?:plot\w*\(|\.(?:det|bayes)\(|(?:DET|Bayes)Plot\(|Figure\(|\.report\()",
    re.MULTILINE,
)
# Names of lines that a description holds.
MOST_NAMES = 8
# The ground of the theme's dark pages.
GROUND = "#14181e"
_FENCE = re.compile(r"^(`{3,}|:{3,}|<!--)")
_HEX = re.compile(r"#([0-9a-fA-F]{6})\b")
_logger = logging.getLogger(__name__)


class Block(NamedTuple):
    """A fence or a hidden comment with examples: its last line, and its examples."""

    last: int
    examples: list[doctest.Example]


class Made:
    """Figures and reports that examples make, seen where they are constructed or written."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []
        self.reports: list[Path] = []

    @contextlib.contextmanager
    def watch(self) -> Iterator[None]:
        """Note what is made within the block, but not the drawings inside a report."""
        construct, write = Figure.__init__, bp.Evaluation.report
        inside = []

        def constructed(figure: Figure, *args: Any, **keywords: Any) -> None:
            construct(figure, *args, **keywords)
            if not inside:
                self.figures.append(figure)

        def written(evaluation: Any, path: Any, **keywords: Any) -> None:
            inside.append(path)
            try:
                write(evaluation, path, **keywords)
            finally:
                inside.pop()
            self.reports.append(Path(path))

        Figure.__init__, bp.Evaluation.report = constructed, written
        try:
            yield
        finally:
            Figure.__init__, bp.Evaluation.report = construct, write


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page that have examples, in their order."""
    lines = text.splitlines()
    ends, closing = [], ""
    for number, line in enumerate(lines):
        if closing:
            if line.rstrip().endswith(closing) if closing == "-->" else line.rstrip() == closing:
                ends.append(number)
                closing = ""
        elif (match := _FENCE.match(line)) and not line.rstrip().endswith("-->"):
            closing = "-->" if match[1] == "<!--" else match[1]
    examples = doctest.DocTestParser().get_examples(text)
    found = []
    for first, last in zip([-1, *ends], ends, strict=False):
        if inside := [example for example in examples if first < example.lineno <= last]:
            found.append(Block(last, inside))
    return found


def description(figure: Figure) -> str:
    """Return what the figure shows, in words, for those who do not see it."""
    panels = []
    for axes in figure.axes:
        if axes.has_data():
            ends = [label for label in (axes.get_ylabel(), axes.get_xlabel()) if label]
            names = list(dict.fromkeys(map(str, axes.get_legend_handles_labels()[1])))
            if len(names) > MOST_NAMES:
                names[MOST_NAMES:] = [f"and {len(names) - MOST_NAMES} more"]
            words = axes.get_title() or " over ".join(ends) or "panel"
            panels.append(words + (f": {', '.join(names)}" if names else ""))
    return re.sub(r"[\s\"\[\]$\\]+", " ", "; ".join(panels)).strip() or "plot"


def dark(svg: str) -> str:
    """Return a drawing for a dark page: greys are turned over, colours are those for black."""
    of_system = {light: other for light, other in zip(_ON_LIGHT, _ON_DARK, strict=True)}

    def turned(match: re.Match[str]) -> str:
        colour = match[1].lower()
        if colour == "ffffff":
            return GROUND
        if other := of_system.get(colour):
            return f"#{other}"
        red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4))
        hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
        # Nothing is darker than the ground.
        lightness = 0.09 + 0.91 * (1.0 - lightness)
        back = colorsys.hls_to_rgb(hue, lightness, saturation)
        return "#" + "".join(f"{round(255 * part):02x}" for part in back)

    # Black is the default of SVG: letters do not name it.
    svg = svg.replace('<g id="figure_1">', '<g id="figure_1" style="fill: #000000">', 1)
    return _HEX.sub(turned, svg)


def darken_pixels(source: Path, target: Path) -> None:
    """Write the dark copy of a picture of pixels: lightness is turned over, hues stay."""
    with Image.open(source) as picture:
        pixels = np.asarray(picture.convert("RGB"), dtype=float)
    ends = pixels.max(axis=2, keepdims=True) + pixels.min(axis=2, keepdims=True)
    ground = np.array([int(GROUND[i : i + 2], 16) for i in (1, 3, 5)])
    turned = ground + (pixels + 255.0 - ends) * (255.0 - ground) / 255.0
    Image.fromarray(turned.round().astype(np.uint8)).save(target)


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.redirect_stdout(io.StringIO()):
        figure.savefig(path, metadata={"Date": None}, bbox_inches="tight", pad_inches=0.05)


def run(docname: str, text: str) -> dict[int, str]:
    """Run the examples of a page; return Markdown by the line below which it belongs."""
    space: dict[str, Any] = {"__name__": "__main__"}
    made, inserted, count = Made(), {}, 0
    reported: list[str] = []
    with (
        contextlib.chdir(DOCS.parent),
        warnings.catch_warnings(),
        made.watch(),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        for block in blocks(text):
            made.reports.clear()
            for example in block.examples:
                code = compile(example.source, f"<{docname}>", "single")
                try:
                    exec(code, space)
                except Exception:
                    if example.exc_msg is None:
                        raise
            pieces = []
            for figure in made.figures:
                if figure.stale and any(axes.has_data() for axes in figure.axes):
                    count += 1
                    path = DRAWN / f"{docname}-{count}.svg"
                    _save(figure, path)
                    figure.stale = False
                    pieces.append(f"![{description(figure)}](/_drawn/{docname}-{count}.svg)")
            for report in made.reports:
                number = sum(report.stem == name for name in reported)
                reported.append(report.stem)
                stem = f"{docname}-{report.stem}{f'-{number + 1}' if number else ''}"
                target = DRAWN / f"{stem}.html"
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(report, target)
                up = "../" * docname.count("/")
                address = f"{up}_drawn/{stem}.html"
                pieces.append(
                    f'<p><a href="{address}">Open this report</a></p>\n'
                    f'<iframe class="report" loading="lazy" title="The report that these lines '
                    f'write" src="{address}"></iframe>'
                )
            if pieces:
                inserted[block.last] = "\n\n".join(pieces)
    return inserted


def show(app: Any, docname: str, source: list[str]) -> None:
    """Insert what a page draws, before Sphinx reads the page."""
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".md" or not DRAWS.search(source[0]):
        return
    try:
        inserted = run(docname, source[0])
    except Exception:
        _logger.warning("an example fails: %s", traceback.format_exc(limit=-3), location=docname)
        return
    lines = source[0].splitlines()
    for number in sorted(inserted, reverse=True):
        lines[number + 1 : number + 1] = ["", inserted[number], ""]
    source[0] = "\n".join(lines) + "\n"


def add_dark(app: Any, doctree: nodes.document) -> None:
    """Give each picture of the pages a copy for dark pages beside it."""
    base = Path(app.env.doc2path(app.env.docname)).parent
    for image in list(doctree.findall(nodes.image)):
        uri = image["uri"]
        if (
            not uri.endswith((".svg", ".png"))
            or "://" in uri
            or {"only-light", "only-dark"} & {*image["classes"]}
        ):
            continue
        path = DOCS / uri.lstrip("/") if uri.startswith("/") else base / uri
        relative = Path(os.path.normpath(path)).relative_to(DOCS)
        inside = relative.relative_to("_drawn") if relative.parts[0] == "_drawn" else relative
        target = DRAWN / "dark" / inside
        if not target.exists() or target.stat().st_mtime < path.stat().st_mtime:
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".png":
                darken_pixels(path, target)
            else:
                target.write_text(dark(path.read_text(encoding="utf-8")), encoding="utf-8")
        other = image.deepcopy()
        other["uri"] = f"/_drawn/dark/{inside.as_posix()}"
        image["classes"].append("only-light")
        other["classes"].append("only-dark")
        image.parent.insert(image.parent.index(image) + 1, other)


def copy_reports(app: Any, error: Exception | None) -> None:
    """Put the reports beside the pages."""
    if error is None and app.builder.format == "html":
        for report in DRAWN.rglob("*.html"):
            target = Path(app.outdir) / "_drawn" / report.relative_to(DRAWN)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(report, target)


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx; pictures are known before the collector of images looks for them."""
    app.connect("source-read", show)
    app.connect("doctree-read", add_dark, priority=100)
    app.connect("build-finished", copy_reports)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    for name in sys.argv[1:]:
        sys.stdout.write(f"{name}: {run(name, (DOCS / f'{name}.md').read_text())}\n")
