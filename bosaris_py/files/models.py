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

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from bosaris_py._validation import FilePath, as_path, describe, invalid, repetitions, safe
from bosaris_py._version import __version__
from bosaris_py.errors import FileFormatError
from bosaris_py.files.replacing import replacing

_FORMAT, _FORMAT_VERSION = "bosaris_py.parameters", "1.0"

# Fields that version 0.1 does not know; it overlooks entries beside the parameters.
LATER = ("low_score", "high_score", "low_scores", "high_scores", "system_names")

# A longer text holds no model.
_MOST_BYTES = 2**27

_WORDS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def write(path: FilePath, parameters: Mapping[str, object]) -> None:
    """Write parameters, whose entry ``"kind"`` names their class, to a JSON file, in one step.

    Arrays and tuples come back as lists, float32 as the float of the same value.
    """
    kept = {name: _to_json(value, name) for name, value in parameters.items()}
    later = {name: kept.pop(name) for name in LATER if name in kept}
    content = {
        "format": _FORMAT,
        "format_version": _FORMAT_VERSION,
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
    file_path = as_path(path)
    with file_path.open("rb") as stream:
        encoded = stream.read(_MOST_BYTES + 1)
    try:
        if len(encoded) > _MOST_BYTES:
            raise ValueError(f"more than {_MOST_BYTES} bytes; this is no model")
        # Editors of Windows put a mark of the byte order in front.
        content = json.loads(
            encoded.decode("utf-8-sig"),
            object_pairs_hook=_refuse_repetition,
            parse_constant=_refuse_constant,
        )
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise ValueError(f'JSON, but not of this package: "format" is not "{_FORMAT}"')
        entries = [_from_json(content.get("parameters"))]
        entries.insert(0, _from_json(content.get("training_scores", {})))
        if not all(isinstance(entry, dict) for entry in entries):
            raise ValueError('the entry "parameters" is missing or no object')
    except RecursionError as error:
        raise FileFormatError(f"{file_path}: lists in lists, too deep for a model") from error
    # Errors of UTF-8 and of JSON are values, too.
    except ValueError as error:
        raise FileFormatError(f"{file_path}: {error}") from error
    refuse_newer(f'{file_path}: "format_version"', content.get("format_version"), _FORMAT_VERSION)
    return str(content.get("kind")), entries[0] | entries[1]


def refuse_newer(where: str, version: object, readable: str) -> None:
    """Refuse a version of a format whose first number is above that of the one that is known."""
    try:
        major = int(str(version).split(".")[0])
    except ValueError:
        raise FileFormatError(f"{where} is {version!r}, not a version") from None
    if major > int(readable.split(".")[0]):
        message = f"{where} is {version}, this installation reads {readable}; update bosaris_py"
        raise FileFormatError(message)


def _refuse_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a JSON object; Python's takes the last of a name that occurs twice."""
    built = dict(pairs)
    if len(built) < len(pairs):
        (repeated, *_) = repetitions(name for name, _ in pairs)
        raise ValueError(f'the name "{safe(repeated)}" occurs twice')
    return built


def _refuse_constant(name: str) -> float:
    """Refuse the infinities that Python's JSON knows and no other does."""
    raise ValueError(f"{name} is no JSON; this package writes it as a string")


def _to_json(value: object, name: str) -> Any:
    """Return a value as JSON can hold it."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Mapping):
        return {str(key): _to_json(item, f"{name}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(item, name) for item in value]
    if not isinstance(value, bool | int | float | str | None) or value in _WORDS:
        raise invalid(name, "be a number, text, or a list of these", describe(value))
    return value


def _from_json(value: Any) -> Any:
    """Return a value with its infinities restored."""
    if isinstance(value, str):
        return _WORDS.get(value, value)
    if isinstance(value, list):
        return [_from_json(item) for item in value]
    if isinstance(value, dict):
        # Version 0.3 noted whether the training scores came from a map.
        return {key: _from_json(item) for key, item in value.items() if key != "of_llrs"}
    return value
