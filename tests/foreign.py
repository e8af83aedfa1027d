"""A plugin of pytest: within the package each message is in letters that no code can know.

Errors and warnings are written in full-width letters. What a test reads, from an error, a warning,
the output of a command or a file, is written back. A test passes in spite of it unless the package
compares, splits or replaces words of a message.
"""

import functools
import string
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bosaris_py import _cautions, errors
from bosaris_py._cautions import lines_of
from bosaris_py.report import cautions

_FOREIGN = {ord(letter): ord(letter) + 0xFEE0 for letter in string.ascii_letters}
_ENGLISH = {foreign: letter for letter, foreign in _FOREIGN.items()}
_PACKAGE = str(Path(errors.__file__).parent)


def _for_tests(text: Callable[..., str]) -> Callable[..., str]:
    """Translate what is asked for outside of the package."""

    @functools.wraps(text)
    def call(*args: Any, **named: Any) -> str:
        found = text(*args, **named)
        is_inside = sys._getframe(1).f_code.co_filename.startswith(_PACKAGE)
        return found if is_inside else found.translate(_ENGLISH)

    return call


def pytest_configure() -> None:
    patch = pytest.MonkeyPatch()
    text, lines, read = (errors.BosarisError.text, lines_of, pytest.CaptureFixture.readouterr)

    def foreign_lines(found: Any) -> list[str]:
        return [line.translate(_FOREIGN) for line in lines(found)]

    def read_in_english(self: Any) -> Any:
        return type(found := read(self))(*(stream.translate(_ENGLISH) for stream in found))

    patch.setattr(errors.BosarisError, "text", lambda *args: text(*args).translate(_FOREIGN))
    for module in (_cautions, cautions):
        patch.setattr(module, "lines_of", foreign_lines)
    for cls in (errors.BosarisError, errors.BosarisWarning):
        patch.setattr(cls, "__str__", _for_tests(cls.__str__))
    patch.setattr(Path, "read_text", _for_tests(Path.read_text))
    patch.setattr(pytest.CaptureFixture, "readouterr", read_in_english)
