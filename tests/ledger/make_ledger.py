"""Write numbers.json, the numbers of version 0.3; or take the numbers of calls that are gone out.

    python tests/ledger/make_ledger.py            # with a Python that has commit b4de7a22 installed
    python tests/ledger/make_ledger.py --prune    # here, after calls have been deleted

Each number is a hexadecimal float. The file has a line a call.
"""

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
# At the end: an installed package comes first.
sys.path.append(str(HERE.parents[1]))

import bosaris_py  # noqa: E402
from tests.ledger.calls import CALLS  # noqa: E402

LEDGER = HERE / "numbers.json"


def text_of(value: str | float) -> str:
    """Return a text without loss."""
    return value if isinstance(value, str) else float(value).hex()


def write(numbers: dict[str, str]) -> None:
    """Write a line a call, below one for its function and options."""
    nested: dict[str, dict[str, str]] = {}
    for name, line in numbers.items():
        function, _, data = name.rpartition("/")
        nested.setdefault(function, {})[data] = line
    LEDGER.write_text(json.dumps(nested, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


def stored() -> dict[str, str]:
    """Return the numbers of each call."""
    nested = json.loads(LEDGER.read_text(encoding="utf-8"))
    return {f"{function}/{of}": line for function, x in nested.items() for of, line in x.items()}


def main() -> None:
    """Compute all calls, or prune."""
    if "--prune" in sys.argv[1:]:
        write({name: line for name, line in stored().items() if name in CALLS})
        return
    if HERE.parents[1] in Path(bosaris_py.__file__).parents or not version("bosaris_py").startswith(
        "0.3"
    ):
        sys.exit("the numbers are those of an installed 0.3")
    warnings.simplefilter("ignore")
    lines = {}
    for name, call in CALLS.items():
        try:
            lines[name] = " ".join(text_of(value) for value in call.run())
        except Exception as error:
            sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
    write(lines)
    sys.stdout.write(f"{len(lines)} of {len(CALLS)} calls, {LEDGER.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
