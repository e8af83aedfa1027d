"""What the benchmark scripts share: time, peak memory, and a printed line."""

import contextlib
import platform
import subprocess
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def seconds(
    function: Callable[[], object], repeats: int = 5, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the shortest time of several runs; the others were disturbed.

    With `clock=time.process_time` it is the time of the processor, which does not count waiting
    for others; it is the same for what runs in one thread and reads no files.
    """
    times = []
    for _ in range(repeats):
        start = clock()
        function()
        times.append(clock() - start)
    return min(times)


def peak_bytes(function: Callable[[], object]) -> int:
    """Return the most memory that numpy and Python held beyond what was there before."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def gaussian_scores(n_tar: int, n_non: int) -> tuple[np.ndarray, np.ndarray]:
    """Return scores with an EER near 7 %, not calibrated."""
    rng = np.random.default_rng(0)
    return rng.normal(3.0, 1.0, n_tar), rng.normal(0.0, 1.0, n_non)


def vector_extensions() -> list[str]:
    """Return those that numpy found beyond the ones it was built for, and may use."""
    return list(np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", []))


def processor() -> str:
    """Name the processor, as far as the system tells."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return f"{line.partition(':')[2].strip()} ({platform.machine()})"
    return platform.processor() or platform.machine()


def machine() -> str:
    """Say what the processor is, and what its sort can do, on which many ratios depend.

    numpy.sort has vector code for some levels of instructions; without, it takes about ten times
    as long, and so does whatever a library is compared with that sorts.
    """
    scores = np.random.default_rng(0).normal(size=10**6)
    rates = []
    for dtype in (np.float32, np.float64):
        typed = scores.astype(dtype)
        elapsed = seconds(lambda typed=typed: np.sort(typed), clock=time.process_time)
        rates.append(f"{1e9 * elapsed / typed.size:.1f} ns per {np.dtype(dtype).name}")
    return (
        f"{processor()} with {' '.join(vector_extensions()) or 'no vector extensions'}. "
        f"numpy {np.__version__}, whose sort of 10^6 takes {' and '.join(rates)}"
    )


def report(name: str, ratio: float, reference: str, remark: str = "") -> None:
    """Print one result as a ratio to something measured in the same run."""
    print(f"{name:58s} {ratio:7.2f} x {reference}{'  ' + remark if remark else ''}")


def into_page(script: str, lines: list[str], made_of: Path = ROOT) -> None:
    """Put the table of a script into docs/evidence.md, with date and commit of what it shows."""
    page = ROOT / "docs" / "evidence.md"
    command = ["git", "log", "-1", "--abbrev=8", "--format=%as, commit %h", "--", str(made_of)]
    when = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    before, mark, rest = page.read_text(encoding="utf-8").partition(f"<!-- {script} -->\n")
    after = rest.partition("<!-- end -->")[2]
    made = f"Made by `benchmarks/{script}.py`, {when.strip()}. "
    text = [before + mark, made + lines[0], *lines[1:], "", f"<!-- end -->{after}"]
    page.write_text("\n".join(text), encoding="utf-8")
