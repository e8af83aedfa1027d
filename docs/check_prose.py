"""Check the prose of README, documentation and docstrings against the rules for writers.

A sentence has at most 30 words, and words that hide the actor or the meaning are not used
(CONTRIBUTING.md). Run with ``python docs/check_prose.py [FILE ...]``; the exit code is 1 if
something is found.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MOST_WORDS = 30
# Mannered words, and passives of speech that hide who does what.
AVOIDED = re.compile(
    r"\b(nobody|whoever|peculiar|sober|luck|habits|(?:is|are) (?:said|told) by)\b", re.IGNORECASE
)
_BLOCKS = re.MULTILINE | re.DOTALL
Passage = tuple[int, str]


def markdown(text: str) -> Iterator[Passage]:
    """Yield line number and text of each paragraph, without code, tables, formulas and headings."""
    text = re.sub(r"(`{3,}|~{3,}).*?\n *\1|\$\$.*?\$\$|<!--.*?-->", _blank, text, flags=re.DOTALL)
    for number, paragraph in _paragraphs(text):
        first = paragraph.lstrip()
        if not (first.startswith(("|", "#", ">>>", "![")) or paragraph.startswith("    ")):
            yield number, paragraph


def docstrings(source: str) -> Iterator[Passage]:
    """Yield line number and text of each paragraph of the docstrings of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
            start = node.body[0].lineno if text else 0
            # Directives and examples in a block of their own are no prose.
            plain = re.sub(
                r"::\n\n(?: +[^\n]*\n?|\n)+|^\.\. math::.*?(?=\n\S|\Z)",
                _blank,
                text or "",
                flags=_BLOCKS,
            )
            for number, paragraph in _paragraphs(plain):
                if not re.match(r"\s*(>>>|\.\. |bosaris )|.*\n\s*---|\s*===", paragraph):
                    yield start + number - 1, paragraph


def sentences(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph; the items of a list are sentences of their own."""
    for item in re.split(r"\n\s*(?:[-*]|\d+\.) ", "\n" + paragraph):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(item.split()))
        plain = re.sub(r"`[^`]*`|\$[^$]*\$|:math:", "x", plain)
        yield from re.split(r"(?<=[.!?:;])\s+(?=[A-Z(`x])", plain)


def complaints(paragraph: str) -> Iterator[str]:
    """Yield what is wrong with a paragraph."""
    for sentence in sentences(paragraph):
        words = re.findall(r"[^\W_][\w'.-]*", sentence)
        if len(words) > MOST_WORDS:
            yield f"{len(words)} words: {sentence[:70]}..."
    for match in AVOIDED.finditer(paragraph):
        yield f'avoid "{match[0]}"'


def _blank(match: re.Match[str]) -> str:
    """Keep the lines of what is left out, so that numbers of lines stay right."""
    return "\n" * match[0].count("\n")


def _paragraphs(text: str) -> Iterator[Passage]:
    """Yield the first line and the text of each block between empty lines."""
    number = 1
    for block in re.split(r"(\n\s*\n)", text):
        if block.strip():
            yield number, block
        number += block.count("\n")


def main() -> int:
    """Print what is wrong, one line each."""
    paths = [Path(name) for name in sys.argv[1:]]
    if not paths:
        paths = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bosaris_py/**/*.py")]
        paths = [path for path in paths if not path.name.endswith("_table.md")]
    found = 0
    for path in sorted(paths):
        if "_build" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        for number, paragraph in (docstrings if path.suffix == ".py" else markdown)(text):
            for complaint in complaints(paragraph):
                found += 1
                sys.stdout.write(f"{path}:{number}: {complaint}\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
