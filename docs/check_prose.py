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
# Words with a plainer one: evaluate, note, say or show, "is not an LLR". The list of changes keeps
# those of its time.
PLAINER = re.compile(
    r"\b(judg(?:es?|ed|ing)|heed(?:s|ed|ing)?|tells|(?:is|are) no LLRs?)\b", re.IGNORECASE
)
# How sentences of pages begin without their subject: "What is written has", "Below 0 it is".
STARTS = re.compile(r"(?:\A|(?<=[.!?;:])\s+)(What|Below 0)\b(?![^.?!]*\?)")
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


def manners(paragraph: str, *, page: bool) -> Iterator[str]:
    """Yield words with a plainer one, and how sentences of a page should not begin."""
    for match in PLAINER.finditer(paragraph):
        yield f'avoid "{match[0]}"'
    for match in STARTS.finditer(paragraph) if page else ():
        yield f'do not begin with "{match[1]}": {paragraph[match.start() :].strip()[:60]}...'


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
        page = path.suffix == ".md"
        for number, paragraph in (markdown if page else docstrings)(text):
            more = () if path.name == "CHANGELOG.md" else manners(paragraph, page=page)
            for complaint in [*complaints(paragraph), *more]:
                found += 1
                sys.stdout.write(f"{path}:{number}: {complaint}\n")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
