"""Exceptions and warnings of the whole package, and what a result says of itself.

Every exception derives from `BosarisError` and also from the built-in that a user would think of
first, so ``except ValueError`` keeps working. Every warning derives from `BosarisWarning`, so one
filter silences or promotes them all.
"""

import contextlib
import os
import re
import sys
import types
import warnings
from collections import abc
from pathlib import Path

import attrs

_PACKAGE = f"{Path(__file__).parent}{os.sep}"

# No message is longer; what is left out is between head and tail.
LONGEST_MESSAGE, _TAIL = 1000, 100


def printable(text: str) -> str:
    """Return a text with what is not printable escaped: controls, line ends, half surrogates."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def as_message(text: str) -> str:
    """Return a message in one line of printable characters and of bounded length."""
    # What a file says in it cannot steer a terminal or forge a line of a log.
    if len(text) > LONGEST_MESSAGE:
        text = text[:LONGEST_MESSAGE] + "..." + text[-_TAIL:]
    text = printable(text)
    if len(text) > LONGEST_MESSAGE:
        text = f"{text[: LONGEST_MESSAGE - _TAIL - 3]}...{text[-_TAIL:]}"
    return text


def as_keyword(name: str, value: object = None) -> str:
    """Return an argument, and the value that it should have, as a script has them."""
    return f"`{name}`" if value is None else f"{name}={value!r}"


class BosarisError(Exception):
    """Root of all exceptions that bosaris_py raises on purpose.

    Parameters
    ----------
    message : str, optional
        What is wrong; by default made of the argument, what is expected and what came.
    argument, expected, got : str
        Which argument is wrong, what it must do or be, and what was given.
    hint : str
        The likely mistake, or the remedy.
    use : mapping of str to object
        Arguments that help, with the value to give, or None for one of the user's own.
    path : path
        The file that is at fault, where `use` is about how to read it.
    call, option : str
        What a script does about it, and which option of the command does the same.
    """

    argument = expected = got = hint = call = option = ""
    use: abc.Mapping[str, object] = types.MappingProxyType({})
    path: object = None

    def __init__(
        self,
        message: object = "",
        *,
        argument: str = "",
        expected: str = "",
        got: str = "",
        hint: str = "",
        use: abc.Mapping[str, object] = types.MappingProxyType({}),
        path: object = None,
        call: str = "",
        option: str = "",
    ) -> None:
        super().__init__(message)
        self.message, self.argument, self.expected, self.got = message, argument, expected, got
        self.hint, self.use, self.path = hint, dict(use), path
        self.call, self.option = call, option

    def text(
        self,
        spell: abc.Callable[..., str] = as_keyword,
        hints: abc.Mapping[str, str] = types.MappingProxyType({}),
    ) -> str:
        """Return the message, in which `spell` writes arguments.

        Parameters
        ----------
        spell : callable
            What writes an argument, given its name and the value that it should have, or None.
        hints : mapping of str to str
            What takes the place of the hint, by argument.

        Returns
        -------
        str
        """
        made = f"{spell(self.argument)} must {self.expected}; got {self.got}."
        hint = self.hint and hints.get(self.argument, self.hint)
        remedies = " or ".join(spell(*remedy) for remedy in self.use.items())
        remedies = remedies and f"Use {remedies}."
        return " ".join(filter(None, (str(self.message) or made, hint, remedies, self.call)))

    def __str__(self) -> str:
        """Return the message, in one line of at most 1,000 printable characters."""
        return as_message(self.text())

    def __repr__(self) -> str:
        """Return the class and the message."""
        return f"{type(self).__name__}({str(self)!r})"


class InvalidInputError(BosarisError, ValueError):
    """An argument has the wrong shape, type or value."""


class TrialMismatchError(BosarisError, ValueError):
    """Objects that must describe the same trials do not, or have no id in common."""


class FileFormatError(BosarisError, OSError):
    """A file is damaged, foreign, or not laid out as its kind must be."""


class FitError(BosarisError, RuntimeError):
    """A calibration or a fusion could not be trained."""


class BosarisWarning(UserWarning):
    """Root of all warnings: an answer exists, but look before you trust it."""

    def __str__(self) -> str:
        """Return the message, in one line of at most 1,000 printable characters."""
        return as_message(UserWarning.__str__(self).replace("\n", " "))


class MissingTrialsWarning(BosarisWarning):
    """Trials or ids are not there, or listed twice; conditions lack a class."""


class FewErrorsWarning(BosarisWarning):
    """A rate, or the training of a map, rests on fewer than 30 errors, and is itself uncertain."""


class FewSpeakersWarning(FewErrorsWarning):
    """A metric rests on few speakers: those whom its trials have."""


class ConvergenceWarning(BosarisWarning):
    """A training has no unique finite optimum, such as of classes that are apart."""


class SuspectScoresWarning(BosarisWarning):
    """Scores are hardly what they are taken for: swapped, no llrs, or unlike the training."""


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


def lines_about(notes: abc.Iterable[Note]) -> list[str]:
    """Return the texts of notes, each once, and before it what it is about."""
    about: dict[str, dict[str, None]] = {}
    for note in notes:
        about.setdefault(note.text, {})[note.about] = None
    return [
        ": ".join(filter(None, (", ".join(filter(None, which)), text)))
        for text, which in about.items()
    ]


def joined(texts: abc.Iterable[str]) -> str:
    """Join sentences to a line, in which a semicolon is the end of all but the last."""
    line = "; ".join(filter(None, texts))
    return re.sub(r"(?<!\.)\.(?=; )", "", line).replace("?; ", "? ")


def said_of_all(notes: abc.Iterable[Note], names: abc.Collection[str]) -> list[Note]:
    """Return notes, each once; one that holds for every name is about all of them."""
    listed = [*dict.fromkeys(notes)]
    about: dict[tuple[type[Warning], str], set[str]] = {}
    for note in listed:
        about.setdefault((note.kind, note.text), set()).add(note.about)
    alike = {which for which, found in about.items() if found >= {*names}}
    plain = (attrs.evolve(n, about="") if (n.kind, n.text) in alike else n for n in listed)
    return [*dict.fromkeys(plain)]


def warn(notes: abc.Iterable[Note]) -> None:
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
        text = "\n".join((joined(lines_about(found)), *advice))
        warnings.warn(text, kind, stacklevel=level)
