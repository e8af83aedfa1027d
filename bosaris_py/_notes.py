"""Notes: what a result says of itself, such as few errors or scores that are no LLRs.

Below the public functions nothing warns. A result carries its notes; the public function warns once
at its end.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from bosaris_py._cautions import warn_caller


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


def warn(notes: Iterable[Note]) -> None:
    """Warn once of each kind, at the line that called the package."""
    said: set[type[Warning]] = set()
    for note in notes:
        if note.kind not in said:
            said.add(note.kind)
            warn_caller(note.text, note.kind, note.advice, count=note.count)
