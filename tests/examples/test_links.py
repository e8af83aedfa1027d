"""Links of Markdown pages lead to files of the repository, not to those that are made of it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Written by `make docs`.
MADE = {"generated", "_build", "_drawn"}


def test_links_lead_to_files_that_are_not_made() -> None:
    dead = []
    pages = [p for p in (ROOT / "docs").rglob("*.md") if MADE.isdisjoint(p.parts)]
    for page in [*ROOT.glob("*.md"), *pages]:
        for link in re.findall(r"\]\(<?([^)>#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            target = page.parent / link
            if "://" not in link and not (target.exists() and MADE.isdisjoint(target.parts)):
                dead.append(f"{page.relative_to(ROOT)}: {link}")
    assert dead == []
