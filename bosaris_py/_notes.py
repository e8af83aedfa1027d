"""Notes, what a result says of itself, and the warnings of a call, given once, at its line.

Python's own ways to catch warnings hold for all threads; these hold for the call only.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import attrs

from bosaris_py.errors import LONGEST_MESSAGE, as_message, printable

_PACKAGE = f"{Path(__file__).parent}{os.sep}"


@attrs.frozen
class Caution:
    """A warning on its way to the caller: what was found, what that means, and of what it is."""

    category: type[Warning]
    finding: str
    advice: str = ""
    figures: tuple[str, ...] = ()
    count: float | None = None
    # Kind and name of what it is about, the outermost first: system, condition, pair, part.
    about: tuple[tuple[str, str], ...] = ()

    def record(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        about = dict(self.about)
        return {
            "category": self.category.__name__,
            "system": about.get("system"),
            "condition": about.get("condition"),
            "figures": [*self.figures],
            "count": self.count,
            "message": " ".join(lines_of([self])),
        }


def lines_of(cautions: Iterable[Caution]) -> list[str]:
    """Return what cautions have found, a line for each thing they are about, then their advice."""
    found: dict[str, dict[str, None]] = {}
    advice: dict[str, None] = {}
    for caution in cautions:
        label = "".join(f"{name}: " for _, name in caution.about)
        found.setdefault(label, {})[caution.finding] = None
        if caution.advice:
            advice[caution.advice] = None
    # What is found alike of several things is said once.
    alike: dict[str, list[str]] = {}
    for label, findings in found.items():
        alike.setdefault(_in_sentences(findings), []).append(label.removesuffix(": "))
    named = ((", ".join(filter(None, labels)), text) for text, labels in alike.items())
    lines = [f"{about}: {text}" if about else text for about, text in named]
    return [printable(line) for line in (*lines, *advice)]


def _in_sentences(findings: Iterable[str]) -> str:
    """Join findings; some have the words of the toolkit, without a full stop."""
    first, *rest = findings
    for text in rest:
        first = f"{first} {text}" if first.endswith((".", ":")) else f"{first}; {text}"
    return first


def _text_of(found: Sequence[Caution]) -> str:
    """Return the lines of cautions, or of many the worst and what else they are about."""
    lines = " ".join(lines_of(found))
    if len(lines) <= LONGEST_MESSAGE:
        return lines
    worst = min(found, key=lambda one: math.inf if one.count is None else one.count).about
    others: dict[str, dict[str, None]] = {}
    for first, *parts in ([name for _, name in one.about] for one in found if one.about):
        others.setdefault(first, {})[": ".join(parts)] = None
    named = (
        f"{name} ({', '.join(parts)})" if any(parts) else name for name, parts in others.items()
    )
    shown = [one for one in found if one.about == worst]
    return f"{' '.join(lines_of(shown))} Warned of: {', '.join(named)}."


def _warn(found: Sequence[Caution]) -> None:
    """Give one warning of each category."""
    level, frame = 1, sys._getframe()
    # attrs compiles constructors into files that do not exist.
    ours = (_PACKAGE, "<attrs generated", contextlib.__file__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(ours):
        frame, level = frame.f_back, level + 1
    for category in dict.fromkeys(caution.category for caution in found):
        text = _text_of([caution for caution in found if caution.category is category])
        warnings.warn(as_message(text), category, stacklevel=level)


# What becomes of a warning in this call. Python's own ways to catch one hold for all threads.
_listener: ContextVar[Callable[[Sequence[Caution]], None]] = ContextVar("listener", default=_warn)


def warn_caller(
    finding: str,
    category: type[Warning],
    advice: str = "",
    figures: Iterable[str] = (),
    count: float | None = None,
) -> None:
    """Warn at the line that called into this package, however deep we are in it."""
    _listener.get()([Caution(category, finding, advice, tuple(figures), count)])


@contextlib.contextmanager
def _heard_by(listener: Callable[[Sequence[Caution]], None]) -> Iterator[None]:
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextlib.contextmanager
def collected() -> Iterator[list[Caution]]:
    """Collect the warnings of a block; none of them goes further."""
    caught: list[Caution] = []
    with _heard_by(caught.extend):
        yield caught


@contextlib.contextmanager
def hushed(*categories: type[Warning]) -> Iterator[None]:
    """Drop the warnings of a block that are of some categories; others pass."""
    outer = _listener.get()
    with _heard_by(
        lambda found: outer([one for one in found if not issubclass(one.category, categories)])
    ):
        yield


@contextlib.contextmanager
def advised(by: Mapping[type[Warning], str]) -> Iterator[None]:
    """Give the advice of a door in place of that for scripts, by category of the warning."""
    outer = _listener.get()

    def changed(one: Caution) -> Caution:
        return attrs.evolve(one, advice=by.get(one.category, one.advice)) if one.advice else one

    with _heard_by(lambda found: outer([*map(changed, found)])):
        yield


@contextlib.contextmanager
def cautions(**about: str) -> Iterator[list[Caution]]:
    """Collect the warnings of a block, say what they are about, and give them when it has ended.

    Blocks can be nested: the outermost gives one warning of each category. A block that fails
    gives none.
    """
    with collected() as found:
        yield found
    named = (attrs.evolve(one, about=(*about.items(), *one.about)) for one in found)
    found[:] = dict.fromkeys(named)
    _listener.get()(found)


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
