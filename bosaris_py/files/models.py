"""Trained maps as JSON: readable by people, and unable to run code.

A file looks like this::

    {
      "format": "bosaris_py.parameters",
      "format_version": "1.0",
      "created_by": "bosaris_py 0.2.0",
      "kind": "LinearCalibration",
      "parameters": {
        "scale": 1.25,
        "offset": -0.5
      }
    }

Numbers have as many digits as are needed to read back the same float64. JSON has no infinities and
no NaN; they are the strings ``"Infinity"``, ``"-Infinity"`` and ``"NaN"``.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bosaris_py import __version__, _validation as check, errors
from bosaris_py._arrays import FilePath
from bosaris_py.files.hdf5 import FORMAT_VERSION, refuse_newer
from bosaris_py.files.replacing import replacing

_FORMAT = "bosaris_py.parameters"

# Fields that version 0.1 does not know; it overlooks entries beside the parameters.
LATER = ("low_score", "high_score", "low_scores", "high_scores", "system_names")

# What a file must have beside its format.
_PARTS = {"format_version": str, "kind": str, "parameters": dict, "training_scores": dict}

_WORDS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def write(path: FilePath, parameters: Mapping[str, object]) -> None:
    """Write parameters, whose entry ``"kind"`` names their class, to a JSON file, in one step.

    Arrays and tuples come back as lists, float32 as the float of the same value.
    """
    kept = {name: _to_json(value, name) for name, value in parameters.items()}
    later = {name: kept.pop(name) for name in LATER if name in kept}
    content = {
        "format": _FORMAT,
        "format_version": FORMAT_VERSION,
        "created_by": f"bosaris_py {__version__}",
        "kind": kept.pop("kind"),
        "parameters": kept,
        **({"training_scores": later} if later else {}),
    }
    text = json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False)
    with replacing(path) as temporary:
        temporary.write_text(f"{text}\n", encoding="utf-8", newline="\n")


def read(path: FilePath) -> tuple[str, dict[str, Any]]:
    """Read the name of the class that a JSON file is of, and its parameters."""
    try:
        # Editors of Windows put a mark of the byte order in front.
        content = _from_json(json.loads(check.as_path(path).read_text("utf-8-sig")))
    # Errors of UTF-8 and of JSON are values, too.
    except (ValueError, RecursionError) as error:
        raise errors.FileFormatError(f"{path}: this is no JSON ({error})") from error
    found = {"training_scores": {}, **(content if isinstance(content, dict) else {})}
    if found.get("format") != _FORMAT:
        raise errors.FileFormatError(
            f'{path}: no model of this package: it lacks "format": "{_FORMAT}"'
        )
    for name, kind in _PARTS.items():
        if not isinstance(found.get(name), kind):
            what = "a text" if kind is str else "an object"
            got = check.describe(found[name]) if name in found else "none"
            raise errors.FileFormatError(f'{path}: "{name}" of a model must be {what}; got {got}')
    refuse_newer(f'{path}: "format_version"', found["format_version"])
    return found["kind"], found["parameters"] | found["training_scores"]


def _to_json(value: object, name: str) -> object:
    """Return a value as JSON can hold it."""
    match value:
        case np.ndarray() | np.generic():
            return _to_json(value.tolist(), name)
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case Mapping():
            return {str(key): _to_json(item, f"{name}.{key}") for key, item in value.items()}
        case list() | tuple():
            return [_to_json(item, name) for item in value]
        case None | bool() | int() | float() | str() if value not in _WORDS:
            return value
    raise check.invalid(name, "be a number, text, or a list of these", check.describe(value))


def _from_json(value: Any) -> Any:
    """Return a value with its infinities restored."""
    match value:
        case list():
            return [_from_json(item) for item in value]
        case dict():
            # Version 0.3 noted whether the training scores came from a map.
            return {name: _from_json(item) for name, item in value.items() if name != "of_llrs"}
    return _WORDS.get(value, value)
