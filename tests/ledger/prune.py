"""Take the numbers of calls that are gone out of numbers.json: ``python tests/ledger/prune.py``.

Each number is a hexadecimal float, below one line for its function and options. They are those of
commit b4de7a22; the script that made them from an installed 0.3 is in the history of this folder.
"""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1]))

from tests.ledger.calls import CALLS  # noqa: E402

if __name__ == "__main__":
    LEDGER = HERE / "numbers.json"
    stored = json.loads(LEDGER.read_text(encoding="utf-8"))
    kept = {
        function: {of: line for of, line in calls.items() if f"{function}/{of}" in CALLS}
        for function, calls in stored.items()
    }
    kept = {function: calls for function, calls in kept.items() if calls}
    text = json.dumps(kept, indent=0, ensure_ascii=False)
    LEDGER.write_text(f"{text}\n", encoding="utf-8")
