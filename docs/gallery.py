"""Run the scripts of the gallery and write a page for each, with its picture and its code.

Each script in ``docs/gallery`` ends with a matplotlib figure named ``figure``. The first line of
its docstring is the title; the last sentence, "See PAGE.", names the guide that explains it.
"""

import ast
import contextlib
import re
import runpy
import warnings
from pathlib import Path

from matplotlib.figure import Figure

from bosaris_py.errors import FewErrorsWarning

DOCS = Path(__file__).resolve().parent
# In the order in which a reader needs them.
ORDER = {
    "Overview": "overview",
    "DET plots": "det det_marks det_paper highlight error_rates",
    "Bayes error-rate plots": "bayes two_panels dark_slide",
    "Calibration": "histogram calibration_map bounds pav ece reliability tippett",
    "Uncertainty": "det_band bayes_band tippett_band intervals forest_intervals difference",
    "Spoofed speech": "spoof_det spoof_prior",
    "Conditions and speakers": "det_conditions forest_conditions",
    "Figures of the papers": "paper_bayes paper_hull paper_histogram paper_intervals "
    "paper_conditions paper_weighting",
}
SCRIPTS = [DOCS / "gallery" / f"{name}.py" for names in ORDER.values() for name in names.split()]
TITLE = re.compile(r"^# (.*)$", re.MULTILINE)


def draw(script: Path) -> Figure:
    """Run a script from the top of the repository, and return its figure."""
    with contextlib.chdir(DOCS.parent), warnings.catch_warnings():
        # Examples have nine speakers, or 67, and curves go on to where errors are few.
        warnings.simplefilter("ignore", FewErrorsWarning)
        figure = runpy.run_path(str(script))["figure"]
    assert isinstance(figure, Figure), script
    return figure


def parts(script: Path) -> tuple[str, str, str, str]:
    """Return title, text, page of the guide, and code of a script."""
    source = script.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(source)) or ""
    title, text = docstring.split(".\n\n", 1)
    text, guide = re.fullmatch(r"(.*) See (\S+)\.", " ".join(text.split())).groups()
    return title, text, guide, source.split('"""\n\n', 1)[1]


def page(script: Path) -> str:
    """Return the page of a script in Markdown."""
    title, text, guide, code = parts(script)
    heading = TITLE.search((DOCS / f"{guide}.md").read_text(encoding="utf-8"))[1]
    return (
        f"# {title}\n\n{text}\n\n![{title}]({script.stem}.svg)\n\n```python\n{code}```\n\n"
        f"Explained in: [{heading}](../../{guide}.md).\n"
    )


def build(folder: Path = DOCS / "gallery" / "generated") -> None:
    """Write pictures, pages and the list of thumbnails; what is newer than its script stays."""
    folder.mkdir(exist_ok=True)
    thumbnails = []
    for heading, names in ORDER.items():
        thumbnails.append(f"## {heading}\n\n::::{{container}} gallery\n")
        for name in names.split():
            script = DOCS / "gallery" / f"{name}.py"
            target, text = folder / f"{name}.md", page(script)
            if not target.exists() or target.stat().st_mtime < script.stat().st_mtime:
                draw(script).savefig(folder / f"{name}.svg")
            if not target.exists() or target.read_text(encoding="utf-8") != text:
                target.write_text(text, encoding="utf-8")
            title, path = TITLE.search(text)[1], f"gallery/generated/{name}"
            thumbnails.append(f"[![]({path}.svg) {title}]({path}.md)\n")
        thumbnails.append("::::\n")
    pages = "".join(f"gallery/generated/{script.stem}\n" for script in SCRIPTS)
    thumbnails.append(f"```{{toctree}}\n:hidden:\n\n{pages}```\n")
    (folder / "thumbnails.txt").write_text("\n".join(thumbnails), encoding="utf-8")


if __name__ == "__main__":
    build()
