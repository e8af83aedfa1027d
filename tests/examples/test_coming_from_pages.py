"""Pages for people who come from other tools: each name of ours is there, and bounds hold."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bosaris_py as bp
from bosaris_py import evaluation, plots, sklearn, uncertainty

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["coming_from.md", "coming_from_speech.md"]
ROOMS: list[Any] = [bp, evaluation, plots, uncertainty, bp.Results, bp.LinearFusion.fit]
# Arguments, members of what another cell names, and the heads of two columns.
OTHERS = {"prior", "convex_hull", "pmiss", "pfa", "dev_pav", "lir"}


def names(page: str) -> list[str]:
    """Return the code in the second column of the tables."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    cells = [row[1] for row in rows if len(row) > 1]
    found = {code for cell in cells for code in re.findall(r"`([^`]+)`", cell)}
    return sorted(code for code in found if not re.search(r'[="<]|cpu', code))


def resolves(code: str) -> bool:
    """Tell whether a public name, or one below it, has this path."""
    path = re.sub(r"\(.*", "", code).removeprefix("bosaris_py.").split(".")
    for place in [*ROOMS, sklearn]:
        for part in path:
            place = getattr(place, part, None)
        if place is not None:
            return True
    return False


@pytest.mark.parametrize("page", PAGES)
def test_names_are_there(page: str) -> None:
    found = names(page)
    assert len(found) > 20
    assert [code for code in found if not resolves(code) and code not in OTHERS] == []


def kaldi_eer(tar: np.ndarray, non: np.ndarray) -> float:
    """Count as the page says that Kaldi's program does."""
    tar, non = np.sort(tar), np.sort(non)
    for missed in range(tar.size):
        accepted = int(non.size * missed / tar.size)
        if non[non.size - 1 - accepted] < tar[missed]:
            return missed / tar.size
    return 1.0


@pytest.mark.parametrize(("n_tar", "n_non"), [(40, 300), (300, 40), (100, 100)])
def test_eer_of_kaldi_is_a_step_off_at_most(n_tar: int, n_non: int) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        tar, non = rng.normal(1, 1, n_tar), rng.normal(-1, 1, n_non)
        off = kaldi_eer(tar, non) - bp.eer(tar, non, definition="step")
        assert abs(off) <= 1 / min(n_tar, n_non) + 1e-12
