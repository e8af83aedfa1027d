"""Configuration of Sphinx. Build with `make docs`: every warning is an error."""

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util.nodes import make_refnode

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS)]

import pages  # noqa: E402

from bosaris_py import __version__ as version  # noqa: E402 -- the package of this tree

project, project_copyright = "bosaris_py", "2026, the bosaris_py developers"
extensions = ["myst_parser", "numpydoc", "sphinx_copybutton"]
extensions += ["sphinx.ext.autodoc", "sphinx.ext.autosummary"]
exclude_patterns, templates_path = ["_build", "_drawn"], ["_templates"]
html_static_path, html_css_files, html_js_files = ["_static"], ["layout.css"], ["names.js"]
html_title, html_theme, html_show_sourcelink = f"bosaris_py {version}", "pydata_sphinx_theme", False
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
html_sidebars: dict[str, list[str]] = {"*": [], "gallery/**": []}
copybutton_prompt_text, copybutton_prompt_is_regexp = r">>> |\.\.\. |\$ ", True
myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors, autosummary_generate, numpydoc_show_class_members = 3, True, False
nitpicky, autodoc_typehints, autodoc_member_order = True, "none", "bysource"
nitpick_ignore_regex = [("py:obj", "[a-z_]+"), ("py:class", r"attr\..*Frozen\w+")]  # fields
default_role, toc_object_entries_show_parents, html_math_renderer = "autolink", "hide", "mathml"
LAYERS = ["", "uncertainty.", "plots.", "evaluation.", "errors.", "trials.", "files.text."]


def add_picture(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Show, of what draws, the picture of the gallery that is called as it is."""
    kind = re.fullmatch(r"bosaris_py\.(?:plots\.)?(?:plot_(\w+)|(\w+)Plot)", name)
    stems = [script.stem for script in pages.SCRIPTS if kind]
    if stem := next((s for s in stems if s.startswith((kind[1] or kind[2]).lower())), None):
        page = f"/gallery/generated/{stem}"
        lines += ["", f".. image:: {page}.svg", f"   :alt: {stem}", "", f"Code: :doc:`{page}`.", ""]


def link_name(app: Any, env: Any, node: Any, content: Any, origin: str = "") -> Any:
    """Link a name that stands without its layer."""
    objects = env.get_domain("py").objects
    for path in (f"bosaris_py.{layer}{node['reftarget']}" for layer in LAYERS):
        if path in objects and (page := objects[path].docname) != origin:
            place = app.builder, origin or node["refdoc"], page, objects[path].node_id
            return make_refnode(*place, content, title=path)
    return None


def link_literals(app: Any, doctree: nodes.document, docname: str) -> None:
    """Link each literal that is a public name, such as `Results.from_scores(scores, key)`."""
    linked = {x for link in doctree.findall(nodes.reference) for x in link.findall(nodes.literal)}
    for literal in {*doctree.findall(nodes.literal)} - linked:
        name = re.fullmatch(r"(?:bosaris_py\.|bp\.)?([A-Za-z_][\w.]*)(\(.*\))?", literal.astext())
        if name:
            node = {"reftarget": re.sub(r"^unc\.", "uncertainty.", name[1])}
            link = link_name(app, app.env, node, literal.deepcopy(), docname)
            literal.parent.replace(literal, link or literal)


def write_formula(translator: Any, node: nodes.Node) -> None:
    """Write a formula as MathML, of a line or in lines of its own."""
    block = isinstance(node, nodes.math_block)
    formula = convert(node.astext(), display="block" if block else "inline")
    translator.body.append(f'<div class="math">{formula}</div>' if block else formula)
    raise nodes.SkipNode


def setup(app: Any) -> None:
    """Connect what Sphinx itself does not know."""
    app.connect("builder-inited", lambda app: pages.build())
    app.connect("source-read", pages.show)
    app.connect("autodoc-process-docstring", add_picture, priority=900)  # after numpydoc
    app.connect("missing-reference", link_name)
    app.connect("doctree-resolved", link_literals)
    app.add_html_math_renderer("mathml", (write_formula, None), (write_formula, None))
