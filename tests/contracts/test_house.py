"""Sizes of the house: how much code there is, and what it does without."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import bosaris_py as bp

PACKAGE, IMPORTS = Path(bp.__file__).parent, (ast.Import, ast.ImportFrom)


def lines_of_code(source: str, nodes: list[ast.AST]) -> int:
    """Count the lines of a module that are neither docstrings, nor comments, nor empty."""
    documented: set[int] = set()
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            documented |= {*range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)}
    lines = enumerate(map(str.strip, source.splitlines()), 1)
    return sum(bool(text) and text[0] != "#" and n not in documented for n, text in lines)


@cache
def figures() -> dict[str, float]:
    """Return what is counted."""
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    walked = [[*ast.walk(ast.parse(source))] for source in sources]
    code = [*map(lines_of_code, sources, walked)]
    nodes = [node for each in walked for node in each]
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    signatures = [f.args.posonlyargs + f.args.args + f.args.kwonlyargs for f in functions]

    def words(pattern: str) -> int:
        return len(re.findall(pattern, "\n".join(sources)))

    def percent(statements: list[ast.stmt]) -> float:
        return 100 * sum(s.end_lineno - s.lineno + 1 for s in statements) / sum(code)

    return {
        "lines of code": sum(code),
        "modules": sum(map(bool, code)),
        "lines of the longest module": max(code),
        "arguments of the widest signature": max(map(len, signatures)),
        "per cent of raising": percent(
            [n for n in nodes if isinstance(n, ast.If) and isinstance(n.body[-1], ast.Raise)]
        ),
        "per cent of imports": percent([n for n in nodes if isinstance(n, IMPORTS)]),
        "functions named of_...": sum(
            re.match(r"_*of(_(?!rates$)|$)", f.name) is not None for f in functions
        ),
        "isinstance": words(r"\bisinstance\("),
        "Any": words(r"\bAny\b"),
        "overloads": words("@overload"),
        "machinery": words(r"metaclass=(?!ABCMeta)|Unpack\[|TypedDict|ContextVar"),
        "public names": len({*bp.__all__, *bp.uncertainty.__all__}),
    }


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("lines of code", 18_000),
        ("modules", 95),
        ("lines of the longest module", 420),
        ("arguments of the widest signature", 16),
        ("per cent of raising", 6.5),
        ("per cent of imports", 7.549),
        ("functions named of_...", 0),
        ("isinstance", 200),
        ("Any", 70),
        ("overloads", 0),
        ("machinery", 0),
        # With the five of bosaris_py.sklearn 160.
        ("public names", 155),
    ],
)
def test_figures_are_within_their_limits(name: str, limit: float) -> None:
    assert figures()[name] <= limit
