"""Parameters of trained objects as JSON: readable by people, and unable to run code.

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

Numbers are written with as many digits as are needed to read back the same float64. JSON has no
infinities and no NaN; they are the strings ``"Infinity"``, ``"-Infinity"`` and ``"NaN"``, which
therefore cannot be values themselves.
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
from bosaris_py.storage.atomic import atomic_write, open_unchanged
from bosaris_py.storage.memory import MemoryBudget, within_memory
from bosaris_py.storage.schema import refuse_newer

_FORMAT = "bosaris_py.parameters"

_FORMAT_VERSION = "1.0"

# Fields that version 0.1 does not know; it overlooks entries beside the parameters.
LATER = ("low_score", "high_score", "low_scores", "high_scores", "system_names", "of_llrs")

# A longer text holds no model; and what Python makes of a letter at most, in bytes.
_MOST_BYTES, _BYTES_OF_LETTER = 2**27, 20

# Lists and objects inside each other; no model needs a dozen.
_MOST_LEVELS = 64

_FROM_WORD = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}


def write_parameters(path: FilePath, parameters: Mapping[str, object]) -> None:
    """Write parameters, whose entry ``"kind"`` names their class, to a JSON file, in one step.

    Arrays and tuples come back as lists, float32 as the float of the same value.
    """
    kind = parameters.get("kind")
    if not isinstance(kind, str) or not kind:
        raise invalid("parameters", 'have text in "kind"', describe(kind))
    kept = {name: _to_json(value, str(name)) for name, value in parameters.items()}
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
    with atomic_write(path) as temporary:
        temporary.write_text(f"{text}\n", encoding="utf-8", newline="\n")


def read_parameters(path: FilePath, kind: str) -> dict[str, Any]:
    """Read the parameters of the class `kind` from a JSON file, without ``"kind"``."""
    found, parameters = read_any_parameters(path)
    if found != kind:
        raise FileFormatError(f"{path}: expected {kind}; the file holds {safe(found)}")
    return parameters


def read_any_parameters(path: FilePath) -> tuple[str, dict[str, Any]]:
    """Read the parameters of whatever class a JSON file is of, and the name of the class."""
    file_path = as_path(path)
    hooks: Any = {"object_pairs_hook": _refuse_repetition, "parse_constant": _refuse_constant}
    try:
        with within_memory(file_path):
            with open_unchanged(file_path) as stream:
                encoded = stream.read(_MOST_BYTES + 1)
            if len(encoded) > _MOST_BYTES:
                raise ValueError(f"more than {_MOST_BYTES} bytes; these are no parameters")
            MemoryBudget(file_path, None).claim(_BYTES_OF_LETTER * len(encoded), "the text")
            # Editors of Windows put a mark of the byte order in front.
            content = json.loads(encoded.decode("utf-8-sig"), **hooks)
            is_object = isinstance(content, dict)
            parameters: Any = _from_json(content.get("parameters")) if is_object else None
            later: Any = _from_json(content.get("training_scores", {})) if is_object else None
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{file_path}: no JSON text in UTF-8") from error
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{file_path}:{error.lineno}: no valid JSON: {error.msg}") from error
    except RecursionError as error:
        raise FileFormatError(f"{file_path}: lists in lists, too deep for parameters") from error
    except ValueError as error:
        raise FileFormatError(f"{file_path}: {error}") from error
    if not is_object or content.get("format") != _FORMAT:
        message = f'{file_path}: JSON, but not of this package: "format" is not "{_FORMAT}"'
        raise FileFormatError(message)
    refuse_newer(f'{file_path}: "format_version"', content.get("format_version"), _FORMAT_VERSION)
    for name, entry in (("parameters", parameters), ("training_scores", later)):
        if not isinstance(entry, dict):
            raise FileFormatError(f'{file_path}: the entry "{name}" is missing or no object')
    kind = str(content.get("kind"))
    return kind, {**later, **parameters}


def _refuse_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Build a JSON object, refusing a name that occurs twice."""
    # Python's JSON takes the last one in silence.
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
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str) and value not in _FROM_WORD:
        return value
    if isinstance(value, Mapping):
        return {str(key): _to_json(item, f"{name}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(item, name) for item in value]
    raise invalid(name, "be a number, text, or a list of these", describe(value))


def _from_json(value: object, level: int = 0) -> Any:
    """Return a value with its infinities restored."""
    if level > _MOST_LEVELS:
        # The limit of recursion differs between versions of Python, and with who calls.
        raise RecursionError
    if isinstance(value, str):
        return _FROM_WORD.get(value, value)
    if isinstance(value, list):
        return [_from_json(item, level + 1) for item in value]
    if isinstance(value, dict):
        return {key: _from_json(item, level + 1) for key, item in value.items()}
    return value
