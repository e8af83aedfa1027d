"""Public names of a package that are imported when they are first used (PEP 562)."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, names: Mapping[str, str], modules: str = ""
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    names : mapping of str to str
        Names, with spaces between them, by the module that has them: inside the package, or with
        its full name.
    modules : str, optional
        Modules inside the package that can be reached as attributes, with spaces between them.
    """
    home_of = {
        name: home if home.startswith("bosaris_py") else f"{package}.{home}"
        for home, listed in names.items()
        for name in listed.split()
    }
    reachable = modules.split()

    def __getattr__(name: str) -> Any:
        if name in home_of:
            value = getattr(importlib.import_module(home_of[name]), name)
            setattr(sys.modules[package], name, value)
            return value
        if name in reachable:
            return importlib.import_module(f"{package}.{name}")
        message = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[package])

    def __dir__() -> list[str]:
        return sorted({*sys.modules[package].__all__, *reachable})

    return sorted(home_of), __getattr__, __dir__
