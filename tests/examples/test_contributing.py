"""The table "Where is what" of CONTRIBUTING.md names modules that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_where_is_what() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = page.split("## Where is what")[1].split("\n## ")[0]
    paths = re.findall(r"`([\w/]+(?:\.\w+|/))`", table)
    assert len(paths) > 25
    for path in paths:
        assert (ROOT / path).exists() or (ROOT / "bosaris_py" / path).exists(), path
