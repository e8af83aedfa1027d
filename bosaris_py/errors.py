"""Exceptions and warnings of the whole package.

Every exception derives from `BosarisError` and also from the built-in that a user would think of
first, so ``except ValueError`` keeps working. Every warning derives from `BosarisWarning`, so one
filter silences or promotes them all.
"""

from __future__ import annotations

from attrs.exceptions import FrozenInstanceError

# No message is longer; what is left out is between head and tail.
_LONGEST_MESSAGE, _TAIL = 1000, 100


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
    if len(text) > _LONGEST_MESSAGE:
        text = text[:_LONGEST_MESSAGE] + "..." + text[-_TAIL:]
    text = printable(text)
    if len(text) > _LONGEST_MESSAGE:
        text = f"{text[: _LONGEST_MESSAGE - _TAIL - 3]}...{text[-_TAIL:]}"
    return text


class BosarisError(Exception):
    """Root of all exceptions that bosaris_py raises on purpose."""

    def __str__(self) -> str:
        """Return the message, in one line of at most 1,000 printable characters."""
        return as_message(Exception.__str__(self))


class InvalidInputError(BosarisError, ValueError):
    """An argument has the wrong shape, type or value."""


class TrialMismatchError(BosarisError, ValueError):
    """Objects that must describe the same trials do not."""


class DisjointIdsError(TrialMismatchError, InvalidInputError):
    """Scores and key have no ids in common; the message says in what they differ."""


class UnknownPlanError(InvalidInputError, KeyError):
    """There is no evaluation plan of this name; the message lists the known ones."""


class FileFormatError(BosarisError, OSError):
    """A file is damaged, foreign, or not laid out as its kind must be."""


class FitError(BosarisError, RuntimeError):
    """A calibration or a fusion could not be trained."""


class FrozenObjectError(BosarisError, FrozenInstanceError):
    """An object cannot be changed; the message names the way to a changed copy.

    Parameters
    ----------
    message : str
        What was tried, and what to do.
    """

    def __init__(self, message: str) -> None:
        # That of attrs takes no message.
        AttributeError.__init__(self, message)


class BosarisWarning(UserWarning):
    """Root of all warnings: an answer exists, but look before you trust it."""

    def __str__(self) -> str:
        """Return the message, in one line of at most 1,000 printable characters."""
        return as_message(UserWarning.__str__(self))


class MissingTrialsWarning(BosarisWarning):
    """Trials, models or segments were asked for that the object does not have."""


class ConditionWarning(BosarisWarning):
    """A condition has trials of one class only, so it counts for one of the two error-rates."""


class DuplicateIdWarning(BosarisWarning):
    """An id occurs more than once where each should occur once."""


class DuplicateTrialWarning(BosarisWarning):
    """A trial is listed twice, or the same two segments are listed in both orders."""


class FewErrorsWarning(BosarisWarning):
    """An error-rate rests on fewer than 30 errors, so its standard error is itself uncertain."""


class FewSpeakersWarning(FewErrorsWarning):
    """A metric rests on few speakers: those who contribute to it, weighted by how much."""


class DegenerateReplicatesWarning(BosarisWarning):
    """A statistic is not defined on some of the bootstrap replicates."""


class OldFormatWarning(BosarisWarning):
    """A file in a superseded layout was read; saving it again updates it."""


class ConvergenceWarning(BosarisWarning):
    """The optimiser stopped before the gradient vanished."""


class SeparableDataWarning(ConvergenceWarning):
    """The training scores separate the classes, so no finite optimum exists."""


class SuspectScoresWarning(BosarisWarning):
    """Scores are hardly what a figure takes them for: lower ones speak for targets, or no llrs."""


class ExtrapolationWarning(BosarisWarning):
    """Scores lie far outside those on which a calibration was trained."""


class PlotRangeWarning(BosarisWarning):
    """A point or line lies outside the axes and was not drawn."""


class UncertainPlanWarning(BosarisWarning):
    """A cost may not be the published one: the plan's partitions are from memory, or not given."""
