"""Draw the pictures of conditions.md, by running the examples of that page.

Run with ``python docs/draw_conditions.py``; ``--output`` names another folder.
"""

import argparse
import doctest
from pathlib import Path

DOCS = Path(__file__).parent


def main() -> None:
    """Run the page and save its plots."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--output", type=Path, default=DOCS / "images")
    output = parser.parse_args().output
    page = (DOCS / "conditions.md").read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(page, {}, "conditions.md", None, 0)
    # Prints what differs from the page, if anything does.
    doctest.DocTestRunner(verbose=False).run(examples, clear_globs=False)
    for name in ("det", "bayes"):
        examples.globs[name].save(output / f"conditions_{name}.png", dpi=110)


if __name__ == "__main__":
    main()
