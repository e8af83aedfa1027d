"""Measure one job of one library in a process of its own, and print the result as JSON.

python -m peers.worker with_llreval                       lists its jobs
python -m peers.worker with_llreval eer large FOLDER      does one of them
"""

import importlib
import importlib.metadata
import json
import os
import re
import resource
import sys
import time
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

from peers.jobs import inputs, jobs_of, summary

# Go on measuring until so many seconds or runs are over.
SECONDS, RUNS = 3.0, 30


def resident(field: str) -> int:
    """Return bytes from ``/proc/self/status``: VmRSS, memory held now; VmHWM, the most so far."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"{field}:\s+(\d+) kB", status)
    return 1024 * int(found[1]) if found else 0


def forget_peak() -> None:
    """Let the kernel count the peak of memory from here on."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def describe(module: ModuleType) -> dict[str, Any]:
    """Return the library's version and its jobs."""
    jobs = {
        name: {"task": job.task, "agreement": job.agreement, "because": job.because}
        for name, (job, _) in jobs_of(module).items()
    }
    version = importlib.metadata.version(module.DISTRIBUTION)
    return {"library": module.DISTRIBUTION, "version": version, "jobs": jobs}


def measure(module: ModuleType, name: str, size: str, folder: Path) -> dict[str, Any]:
    """Run a job once for its memory and then again for its time."""
    job, function = jobs_of(module)[name]

    def prepared(size: str) -> Any:
        if job.takes == "converted":
            return module.convert(*inputs(folder, size, "pooled"))
        return inputs(folder, size, job.takes)

    # Imports and compilations that wait for the first call are no part of it.
    function(*prepared("tiny"))
    arguments = prepared(size)
    forget_peak()
    before = resident("VmRSS")
    # The processor's time: other processes on the machine shall not count.
    start = time.process_time()
    result = function(*arguments)
    times = [time.process_time() - start]
    peak = resident("VmHWM") - before
    values = summary(job.task, result)
    del result
    while len(times) < RUNS and sum(times) < SECONDS:
        start = time.process_time()
        function(*arguments)
        times.append(time.process_time() - start)
    return {"seconds": min(times), "runs": len(times), "peak": peak, "values": values}


def main() -> None:
    """Do what the arguments say, within the given memory."""
    warnings.simplefilter("ignore")
    limit = int(os.environ.get("PEERS_MEMORY", "0"))
    if limit:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # Libraries print; the answer goes to the real output.
    answer, sys.stdout = sys.stdout, sys.stderr
    module = importlib.import_module(f"peers.{sys.argv[1]}")
    if len(sys.argv) == 2:
        found = describe(module)
    else:
        name, size, folder = sys.argv[2:]
        found = measure(module, name, size, Path(folder))
    json.dump(found, answer)


if __name__ == "__main__":
    main()
