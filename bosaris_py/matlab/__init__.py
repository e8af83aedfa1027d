"""The MATLAB BOSARIS Toolkit's own names, argument orders, return orders and defaults.

For scripts that are ported line by line: each name here is a few lines on top of the rest of the
package, which new code better uses itself. Docstrings say which file of the toolkit a name stands
for, what is behind it here, and what differs. Where the toolkit has a defect, what is here is
right, and the docstring says so.

What differs everywhere: vectors have one dimension, and an array of one row or column is taken for
one. Cells and arrays of objects are lists. Objects cannot be changed once they are made, and are
checked then, so ``validate`` has nothing to do. Warnings about data are Python warnings, the rest
is logged by the logger ``bosaris_py``. Training goes on to the exact optimum, whatever number of
iterations is given.
"""

# ruff: noqa: F403 -- each module has some of the names
import importlib
from typing import TYPE_CHECKING, Any

from bosaris_py.matlab.classes import *
from bosaris_py.matlab.classes import METHODS as _METHODS, _as_function
from bosaris_py.matlab.fusion import *
from bosaris_py.matlab.stats import *
from bosaris_py.numerics import (
    effective_prior as effective_prior,
    logit as logit,
    probit as probit,
    sigmoid as sigmoid,
)
from bosaris_py.trials import Key as Key, Ndx as Ndx, Scores as Scores

if TYPE_CHECKING:
    from bosaris_py.matlab.drawing import *

# What draws is imported when it is used: numbers need no matplotlib.
_DRAWING = frozenset({"Det_Plot", "Norm_DCF_Plot", "dcfplot", "detplot"})

# The native names among the toolkit's.
_NATIVE = {"Id_Map", "Key", "Ndx", "Quality", "Scores", "Seg_Quality"}
_NATIVE |= {"effective_prior", "logit", "probit", "sigmoid"}

_HOMES = {f"{__name__}.{part}" for part in ("classes", "fusion", "stats")}
_here = {n for n, v in globals().items() if n[0] != "_" and getattr(v, "__module__", 0) in _HOMES}

__all__ = sorted(_here | _NATIVE | _DRAWING | _METHODS)


def __getattr__(name: str) -> Any:
    if name in _METHODS:
        return _as_function(name)
    if name in _DRAWING:
        return getattr(importlib.import_module("bosaris_py.matlab.drawing"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
