"""Public names of a package that are imported when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def public_names(
    package: str, names: Mapping[str, str], modules: Iterable[str] = ()
) -> tuple[dict[str, list[str]], list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return the homes, ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    names : mapping of str to str
        Names, with spaces between them, by the module that has them: inside the package, or with
        its full name. The stub ``__init__.pyi`` lists the same for type checkers.
    modules : iterable of str, optional
        As for `on_demand`.
    """
    homes = {
        module if module.startswith("bosaris_py.") else f"{package}.{module}": listed.split()
        for module, listed in names.items()
    }
    listed = sorted({name for of_module in homes.values() for name in of_module})
    return homes, listed, *on_demand(package, homes, modules)


def on_demand(
    package: str, homes: Mapping[str, Iterable[str]], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names live elsewhere.

    Parameters
    ----------
    package : str
        ``__name__`` of the package.
    homes : mapping of str to iterable of str
        Names by the module that has them. The stub ``__init__.pyi`` lists the same for type
        checkers; tests/contracts/test_packaging.py compares them.
    modules : iterable of str, optional
        Modules inside the package that can be reached as attributes.
    """
    home_of = {name: home for home, names in homes.items() for name in names}
    reachable = frozenset(modules)

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

    return __getattr__, __dir__
