"""Configuration of Sphinx. Build with `make docs`: every warning is an error."""

import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import attrs
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util.nodes import make_refnode

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import gallery  # noqa: E402

from bosaris_py._version import __version__  # noqa: E402 -- the package of this tree, not another

project = "bosaris_py"
author = "The bosaris_py developers"
project_copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "method_tables",
    "myst_parser",
    "numpydoc",
    "run_pages",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
]
# Browsers draw MathML themselves: the pages need neither a script nor the network for formulas.
html_math_renderer = "mathml"
# The module in which attrs keeps it is not one that attrs documents. `use` is a field of an error,
# which Sphinx takes for the name of a type.
nitpick_ignore = [("py:class", "attr.exceptions.FrozenInstanceError"), ("py:obj", "use")]
# The button copies what one types, without prompts and without output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
# Tables are included by pages.
exclude_patterns = ["_build", "_drawn", "*_table.md"]
templates_path = ["_templates"]

# Links to the documentation of numpy and others would need the network at every build, and
# a build without it would fail, so there are none: types are plain text.
nitpicky = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# The contents of a page of a class have no room for the class in each entry.
toc_object_entries_show_parents = "hide"

# `name` in a docstring links to a public name if there is one, and is emphasized otherwise.
default_role = "autolink"
autosummary_generate = True

# The templates list the members of a class, with their whole docstrings.
numpydoc_show_class_members = False

# What cannot be judged from the source alone (see pyproject.toml) is judged here, on the
# imported objects: every parameter and every return value of a public name is documented.
_pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_left_out = set(_pyproject["tool"]["numpydoc_validation"]["checks"])
# PR03 is left to the source: the fields that attrs collects from a base come first in the
# signature, which does not matter, because they are keyword-only.
numpydoc_validation_checks = (_left_out - {"PR01", "PR02", "RT01", "YD01"}) | {"PR03"}
# An object, not a class: it has the docstring of its class, but takes no parameters.
# Fields of a named tuple get their docstrings from Python.
# Errors have the parameters of their root.
numpydoc_validation_exclude = {
    r"^bosaris_py\.PLANS$",
    r"^bosaris_py\.LLRBounds\.(low|high)$",
    r"^bosaris_py\.errors\.(?!BosarisError)",
}

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = f"bosaris_py {version}"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
}
# Versions side by side: DOCS_SITE is the address above them, which has docs/versions.json, too.
# Without it the pages offer no switch, and need no network.
if site := os.environ.get("DOCS_SITE"):
    html_theme_options |= {
        "switcher": {"json_url": f"{site}/versions.json", "version_match": version},
        "check_switcher": False,
        "navbar_end": ["version-switcher", "theme-switcher"],
    }
# Pages without a section of their own need no column for it.
html_sidebars = {page: [] for page in ("index", "start", "demo", "gallery")}
html_show_sourcelink = False
html_static_path = ["_static"]
# A page of its own, which needs no network: teach.html beside the landing page.
html_extra_path = ["teaching"]
html_css_files = ["layout.css"]
html_js_files = ["names.js"]


def _of_names() -> dict[str, tuple[str, list[str]]]:
    """Return guide and example of each name, from the sections of the pages in docs/api."""
    found = {}
    for page in (ROOT / "docs" / "api").glob("*.rst"):
        sections = re.split(r"(?m)^Guide: (:(?:doc|ref):`.*`)$", page.read_text(encoding="utf-8"))[
            1:
        ]
        for guide, text in zip(sections[::2], sections[1::2], strict=True):
            example = re.search(r"(?ms)^>>> .*?(?=\n\n|\Z)", text)
            for name in re.findall(r"(?m)^ {4}([A-Za-z_][\w.]*)$", text):
                found[f"bosaris_py.{name}"] = guide, example[0].splitlines() if example else []
    return found


OF_NAMES = _of_names()

# Pictures of classes that a picture shows without calling them first.
PICTURES = dict.fromkeys(
    ("LinearCalibration", "PAVCalibration", "GaussianCalibration"), "calibration_map"
) | {"BoundedCalibration": "bounds", "LLRBounds": "bounds"}


# What people look for under another spelling than that of the name; main entries are found first.
SEARCHED = {
    "bosaris_py.act_dcf": "actDCF, actual DCF, Cdet",
    "bosaris_py.cllr": "log-likelihood-ratio cost",
    "bosaris_py.eer": "equal error rate, EER",
    "bosaris_py.min_cllr": "minCllr, minimum Cllr",
    "bosaris_py.min_dcf": "minDCF, minimum DCF, min DCF, Cmin",
    "bosaris_py.evaluate": "table of metrics",
    "bosaris_py.plot_det": "DET curve, DET plot",
    "bosaris_py.plot_bayes": "Bayes error-rate plot, normalized DCF plot",
}


def _name_guide(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Add the guide that explains a class or function and, if it has none, an example."""
    guide, example = OF_NAMES.get(name, ("", []))
    if example and not any(">>>" in line for line in lines):
        lines += ["", ".. rubric:: Examples", "", *example]
    # What draws has a picture: the first one of the gallery that calls it.
    short = name.rpartition(".")[2]
    drawn = re.compile(rf"\b({short}|plot_{short.removesuffix('Plot').lower()})\(")
    draws = name in OF_NAMES and re.search(r"^plot_|Plot$|^style$", short)
    scripts = (script for script in gallery.SCRIPTS if draws)
    shown = (each.stem for each in scripts if drawn.search(each.read_text(encoding="utf-8")))
    picture = PICTURES.get(short) if name in OF_NAMES else None
    if stem := picture or next(shown, None):
        page = f"/gallery/generated/{stem}"
        lines += ["", f".. image:: {page}.svg", f"   :alt: {stem.replace('_', ' ')}", ""]
        lines += [f"The code of the picture: :doc:`{page}`.", ""]
    if guide:
        lines += ["", f"Explained in {guide}.", ""]
    if name in SEARCHED:
        entries = ", ".join(f"! {entry}" for entry in SEARCHED[name].split(", "))
        lines[:0] = [f".. index:: {entries}", ""]


def _keep_fields_plain(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Leave the name of a field without a link: the class, on the same page, describes it."""
    owner = sys.modules.get(node.get("py:module"))
    for part in (node.get("py:class") or "").split("."):
        owner = getattr(owner, part, None)
    is_field = attrs.has(owner) and node["reftarget"] in attrs.fields_dict(owner)
    return contnode if is_field else None


# A link to a script of the gallery, which is there before any picture is drawn.
_TO_SCRIPT = r"\]\(((?:\.\./)*gallery)/(\w+)\.py\)"


def _show_gallery(app: Any, docname: str, source: list[str]) -> None:
    """Turn links to scripts of the gallery into those to pages; alone in a line, into pictures."""
    text = re.sub(rf"(?m)^(\[[^]]+){_TO_SCRIPT}$", r"!\1](\2/generated/\3.svg)", source[0])
    source[0] = re.sub(_TO_SCRIPT, r"](\1/generated/\2.md)", text)


# A literal may leave out the layer of its name.
LAYERS = (
    "",
    "uncertainty.",
    "plots.",
    "evaluation.",
    "errors.",
    "trials.",
    "files.text.",
    "files.writing.",
    "sklearn.",
)


def _documented(env: Any, name: str) -> tuple[str, Any] | None:
    """Return under which path a public name is documented, and where."""
    objects = env.get_domain("py").objects
    paths = (f"bosaris_py.{layer}{name}" for layer in LAYERS)
    return next(((path, objects[path]) for path in paths if path in objects), None)


def _link_top_level(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Link a name that the top level has, too, to its page, which stands under its layer."""
    if node.get("refdomain") != "py" or not (found := _documented(env, node["reftarget"])):
        return None
    path, entry = found
    return make_refnode(
        app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, title=path
    )


def _link_literals(app: Any, doctree: nodes.document, docname: str) -> None:
    """Link each literal that is a public name, such as `Results.from_scores(scores, key)`."""
    for literal in list(doctree.findall(nodes.literal)):
        match = re.fullmatch(r"(?:bosaris_py\.|bp\.)?([A-Za-z_][\w.]*)(\(.*\))?", literal.astext())
        if match is None or isinstance(literal.parent, nodes.reference):
            continue
        name = re.sub(r"^unc\.", "uncertainty.", match[1])
        path, entry = _documented(app.env, name) or ("", None)
        if entry is None or entry.docname == docname:
            continue
        uri = f"{app.builder.get_relative_uri(docname, entry.docname)}#{entry.node_id}"
        link = nodes.reference("", "", internal=True, refuri=uri, reftitle=path)
        literal.replace_self(link)
        link += literal


# Characters of a line beside the navigation, in letters of the usual size and in smaller ones.
LINE, SMALL_LINE = 98, 122


def _strip_code(app: Any, doctree: nodes.document) -> None:
    """Remove the empty line with which doctests in Markdown end; make room for long lines."""
    for block in doctree.findall(nodes.literal_block):
        if block.rawsource == block.astext():
            block.rawsource = block.rawsource.rstrip()
            block[:] = [nodes.Text(block.rawsource)]
        longest = max(map(len, block.astext().splitlines()), default=0)
        if longest > LINE:
            block["classes"].append("wide" if longest <= SMALL_LINE else "wrapped")


def _write_inline_mathml(translator: Any, node: nodes.Node) -> None:
    """Write a formula of a line of text."""
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _write_block_mathml(translator: Any, node: nodes.Node) -> None:
    """Write a formula that has lines of its own."""
    translator.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Connect what Sphinx itself does not know."""
    app.connect("builder-inited", lambda app: gallery.build())
    app.connect("source-read", _show_gallery)
    app.connect("autodoc-process-docstring", _name_guide, priority=900)  # after numpydoc
    app.connect("missing-reference", _keep_fields_plain)
    app.connect("missing-reference", _link_top_level)
    app.connect("doctree-read", _strip_code)
    app.connect("doctree-resolved", _link_literals)
    app.add_html_math_renderer("mathml", (_write_inline_mathml, None), (_write_block_mathml, None))
