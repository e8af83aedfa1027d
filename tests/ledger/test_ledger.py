"""The numbers of version 0.3 do not change, but where number_changes.toml says so."""

import fnmatch
import json
import math
import tomllib
from functools import cache
from itertools import groupby
from pathlib import Path

import pytest

from tests.ledger.calls import CALLS, Kind

# The ledger is of numbers; that small sets are warned of is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore")

HERE = Path(__file__).resolve().parent
STORED: dict[str, dict[str, str]] = json.loads((HERE / "numbers.json").read_text(encoding="utf-8"))
LEDGER = {f"{function}/{of}": line for function, x in STORED.items() for of, line in x.items()}
CHANGES = tomllib.loads((HERE / "number_changes.toml").read_text(encoding="utf-8"))
ALLOWED: list[dict] = CHANGES.get("change", [])


def read(text: str) -> str | float:
    """Return a number of the ledger, or a text."""
    try:
        return float.fromhex(text)
    except ValueError:
        return text


def apart(was: float, now: float) -> float:
    """Return how far two numbers are from each other; two NaN, or one infinity, not at all."""
    if was == now or (math.isnan(was) and math.isnan(now)):
        return 0.0
    return abs(now - was) if math.isfinite(was) and math.isfinite(now) else math.inf


@cache
def difference(name: str) -> float:
    """Return 0 if a call gives what it gave, else the largest relative difference."""
    was, now = [read(text) for text in LEDGER[name].split()], CALLS[name].run()
    if len(was) != len(now):
        return math.inf
    kind = CALLS[name].kind
    # LLRs are compared with the largest of their call, numbers each with itself.
    largest = max((abs(x) for x in was if isinstance(x, float) and math.isfinite(x)), default=0)
    found = 0.0
    for before, after in zip(was, now, strict=True):
        if isinstance(before, str) or isinstance(after, str):
            found = max(found, 0 if before == after else math.inf)
            continue
        away, size = apart(before, after), largest if kind is Kind.LLRS else abs(before)
        limit = {Kind.EXACT: 0.0, Kind.NUMBER: max(1e-13 * size, 1e-15), Kind.LLRS: 1e-11 * size}
        if away > limit[kind]:
            found = max(found, away / size if size else math.inf)
    return found


def allowed(name: str) -> float:
    """Return the largest difference that the changes allow a call."""
    sizes = [float(x["size"]) for x in ALLOWED if fnmatch.fnmatchcase(name, x["calls"])]
    return max(sizes, default=0.0)


def function_of(name: str) -> str:
    """Return room and function, without options and set."""
    room, function, _ = name.split("/")
    return f"{room}/{function.split()[0]}"


FUNCTIONS = {
    function: [*names] for function, names in groupby(sorted(CALLS, key=function_of), function_of)
}


@pytest.mark.parametrize("function", [*FUNCTIONS])
def test_numbers_are_those_of_0_3(function: str) -> None:
    found = {name: (difference(name), allowed(name)) for name in FUNCTIONS[function]}
    assert {name: sizes for name, sizes in found.items() if sizes[0] > sizes[1]} == {}


def test_each_call_has_its_numbers() -> None:
    gone = sorted(LEDGER.keys() - CALLS.keys())
    assert not gone, "calls are gone: python tests/ledger/prune.py"
    assert sorted(CALLS) == sorted(LEDGER)


@pytest.mark.parametrize("change", ALLOWED, ids=lambda change: change["calls"])
def test_changes_are_still_changes(change: dict) -> None:
    assert set(change) == {"calls", "reason", "size"}
    assert change["reason"].strip()
    names = fnmatch.filter(CALLS, change["calls"])
    assert any(difference(name) for name in names), "nothing differs: delete the entry"
