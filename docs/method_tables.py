"""Put a table of members first on the page of each class, calls with what must be given.

Constructors of frozen records list all fields; most people call a method such as ``fit`` instead.
The table shows it before the constructor.
"""

from typing import Any

from docutils import nodes
from sphinx import addnodes

HEADS = "Call", "What it does"


def call(signature: addnodes.desc_signature, owner: str) -> str:
    """Return a call with the parameters that have no default."""
    name = "".join(part.astext() for part in signature.findall(addnodes.desc_name))
    made = any(
        "classmethod" in part.astext() for part in signature.findall(addnodes.desc_annotation)
    )
    lists = list(signature.findall(addnodes.desc_parameterlist))
    text = f"{owner}.{name}" if made else f".{name}"
    if not lists:
        return text
    given = [each.astext() for each in lists[0].findall(addnodes.desc_parameter)]
    needed = [each for each in given if "=" not in each and not each.startswith(("*", "/"))]
    rest = ["..."] if len(needed) < len([each for each in given if each not in "*/"]) else []
    return f"{text}({', '.join(needed + rest)})"


def rows(owner: addnodes.desc) -> list[tuple[str, str, nodes.Node]]:
    """Return address, call and summary of each member; what makes an object first."""
    name = next(iter(owner.findall(addnodes.desc_name))).astext()
    found = []
    for member in owner[-1].children:
        if isinstance(member, addnodes.desc) and (ids := member[0]["ids"]):
            summary = next(iter(member[-1].findall(nodes.paragraph)), nodes.paragraph())
            found.append((ids[0], call(member[0], name), summary))
    return sorted(found, key=_rank)


def _rank(row: tuple[str, str, nodes.Node]) -> tuple[bool, ...]:
    """Put training first, then what makes an object otherwise, methods, and attributes."""
    text = row[1]
    return text.startswith("."), "(" not in text, ".fit(" not in text, ".fit_" not in text


def table(members: list[tuple[str, str, nodes.Node]]) -> nodes.table:
    """Return the table, each call linked to its description."""

    def row(*cells: nodes.Node) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))

    body = nodes.tbody()
    for address, text, summary in members:
        link = nodes.reference("", "", nodes.literal(text, text), internal=True, refid=address)
        what = nodes.inline("", "", *(part.deepcopy() for part in summary.children))
        body += row(link, what)
    head = nodes.thead("", row(*(nodes.Text(text) for text in HEADS)))
    columns = [nodes.colspec(colwidth=width) for width in (45, 55)]
    group = nodes.tgroup("", *columns, head, body, cols=2)
    return nodes.table("", group, classes=["members"])


def add_table(app: Any, doctree: nodes.document) -> None:
    """Put the table before the class, if it has members."""
    if not app.env.docname.startswith("api/generated/"):
        return
    for owner in list(doctree.findall(addnodes.desc)):
        if owner.get("objtype") in ("class", "exception") and (members := rows(owner)):
            owner.parent.insert(owner.parent.index(owner), table(members))


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx, before links of summaries are resolved."""
    app.connect("doctree-read", add_table, priority=200)
    return {"parallel_read_safe": True}
