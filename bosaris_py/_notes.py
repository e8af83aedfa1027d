"""Notes: what a result says of itself; a public function warns of them once, at its end."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Collection, Iterable
from pathlib import Path

import attrs

_PACKAGE = f"{Path(__file__).parent}{os.sep}"


@attrs.frozen
class Note:
    """One thing that a result says of itself.

    Parameters
    ----------
    kind : type of BosarisWarning
        The warning that says it.
    text : str
        One sentence or two.
    about : str, optional
        What it is about, such as a system; by default the result.
    count : float, optional
        The number that the text is about, such as of speakers.
    advice : str, optional
        What may be done.
    """

    kind: type[Warning]
    text: str
    about: str = ""
    count: float | None = None
    advice: str = ""


def lines_about(notes: Iterable[Note]) -> list[str]:
    """Return the texts of notes, each once, and before it what it is about."""
    about: dict[str, dict[str, None]] = {}
    for note in notes:
        about.setdefault(note.text, {})[note.about] = None
    return [
        ": ".join(filter(None, (", ".join(filter(None, which)), text)))
        for text, which in about.items()
    ]


def said_of_all(notes: Iterable[Note], names: Collection[str]) -> list[Note]:
    """Return notes, each once; one that holds for every name is about all of them."""
    listed = [*dict.fromkeys(notes)]
    about: dict[tuple[type[Warning], str], set[str]] = {}
    for note in listed:
        about.setdefault((note.kind, note.text), set()).add(note.about)
    alike = {which for which, found in about.items() if found >= {*names}}
    plain = (attrs.evolve(n, about="") if (n.kind, n.text) in alike else n for n in listed)
    return [*dict.fromkeys(plain)]


def warn(notes: Iterable[Note]) -> None:
    """Give one warning of each kind, at the line that called the package."""
    listed = [*notes]
    level, frame = 1, sys._getframe()
    # attrs compiles constructors into files that do not exist.
    ours = (_PACKAGE, "<attrs generated", contextlib.__file__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame, level = frame.f_back, level + 1
    for kind in dict.fromkeys(note.kind for note in listed):
        found = [note for note in listed if note.kind is kind]
        advice = dict.fromkeys(note.advice for note in found if note.advice)
        # The advice, for scripts, stands on lines of its own: the command has other words.
        text = "\n".join(("; ".join(lines_about(found)), *advice))
        warnings.warn(text, kind, stacklevel=level)
