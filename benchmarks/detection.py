"""Time of finding out the format of a text, over that of a plain split of the same bytes.

    python benchmarks/detection.py

Each text has four megabytes. Formats are found out from its first megabyte or its first line, so
the ratio falls with the size; at most 10 is wanted. What no format fits is refused, which takes as
long as what one fits.
"""

import contextlib
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bosaris_py.errors import BosarisError
from bosaris_py.storage.formats import detect_format

SIZE, REPEATS, MOST = 4_000_000, 5, 10.0
LINES = {
    "one line of short words": "a ",
    "one line of fields": "a,",
    "one word": "a",
    "lines of short words": "a " * 20 + "\n",
    "lines of a thousand words": "a " * 1000 + "\n",
    "scores": "model1 segment1 0.25\n",
    "labels and trials": "1 model1.wav segment1.wav\n",
    "comma-separated, no header": "a,b,1\n",
}


def seconds(call: Callable[[], Any]) -> float:
    """Return the least time of a call that may be refused."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        with contextlib.suppress(BosarisError):
            call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Print the ratio of each text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.txt"
        for name, line in LINES.items():
            text = (line * (SIZE // len(line)) + "\n").encode()
            # An odd last line of those that are looked at is searched for by halves.
            for kind, tail in (("", text), (", one odd", text[: 30 * len(line)] + b"?\n" + text)):
                path.write_bytes(tail)
                split = seconds(tail.split)
                found = seconds(lambda: detect_format(path))
                told = "" if found <= MOST * split else "  MORE THAN WANTED"
                print(f"{name + kind:40} {1e3 * found:8.1f} ms {found / split:8.2f}{told}")


if __name__ == "__main__":
    main()
