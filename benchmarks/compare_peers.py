"""Compare bosaris_py with other libraries: the same work, on the same data, side by side.

Every job runs in a process of its own, on one core: time is the processor's, the best of several
runs; memory is the peak beyond the input. Results are compared with those of bosaris_py. A
library that is not installed is left out with a line; one that runs out of time or memory is
tried on fewer trials.

    pip install '.[bench]'
    python benchmarks/compare_peers.py                            writes docs/peers_table.md
    python benchmarks/compare_peers.py --tasks eer,cllr --limit 20 --output -
    python benchmarks/compare_peers.py --tasks eer --keep         renews one task of the page

Libraries that cannot live together are found in other environments:
``--python /some/venv/bin/python``, as often as needed; each needs only numpy, scipy and the peer.
"""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers.jobs import MODULES, SHRINKING, SIZES, TASKS, Task, write_data
from timing import machine

from bosaris_py.numerics.objective import evaluate_objective

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OURS = MODULES[0]
ONE_CORE = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
MEGABYTE = 1e6


@dataclass(frozen=True)
class Library:
    """A library that can be imported, and where."""

    module: str
    python: str
    name: str
    version: str
    jobs: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """What became of one job: figures, or why there are none."""

    library: Library
    job: str
    size: str
    failure: str = ""
    seconds: float = float("nan")
    peak: int = 0
    values: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The library, and how it did it if it can in several ways."""
        variant = self.job.partition("/")[2]
        return f"{self.library.name}, {variant}" if variant else self.library.name


def ask(python: str, *arguments: str, limit: float, memory: int) -> dict[str, Any]:
    """Run the worker and return its answer; raise RuntimeError with the reason if it has none."""
    environment = os.environ | ONE_CORE | {"PEERS_MEMORY": str(memory)}
    environment["PYTHONPATH"] = os.pathsep.join((str(HERE), str(ROOT)))
    command = [python, "-m", "peers.worker", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, env=environment, timeout=limit, check=False, text=True
        )
    except subprocess.TimeoutExpired:
        message = f"more than {limit:.0f} s"
        raise RuntimeError(message) from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        # Messages can have several lines; the first of the last exception names its class.
        named = [line for line in lines if re.match(r"[\w.]+(Error|Exception)\b", line)] or lines
        raise RuntimeError("out of memory" if "MemoryError" in named[-1] else named[-1][:160])
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def find_libraries(pythons: list[str], memory: int) -> Iterator[Library]:
    """Look for every library in one interpreter after the other."""
    for module in MODULES:
        for python in pythons:
            try:
                found = ask(python, module, limit=120, memory=memory)
            except RuntimeError as error:
                reason = str(error)
            else:
                yield Library(module, python, found["library"], found["version"], found["jobs"])
                break
        else:
            print(f"{module.removeprefix('with_')} is left out: {reason}", file=sys.stderr)


def run(library: Library, job: str, sizes: tuple[str, ...], limits: argparse.Namespace) -> Outcome:
    """Do a job at the largest size that it finishes."""
    failures = []
    for size in sizes:
        print(f"{library.name}: {job}, {size} ...", file=sys.stderr)
        try:
            found = ask(
                library.python,
                library.module,
                job,
                size,
                str(limits.folder),
                limit=limits.limit,
                memory=limits.memory,
            )
        except RuntimeError as error:
            failures.append(str(error))
            # Fewer trials help only where time or memory is short.
            if not failures[-1].startswith(("more than", "out of memory")):
                break
        else:
            values = tuple(found["values"])
            remark = f"at {count(sizes[0])} trials {failures[0]}" if failures else ""
            return Outcome(library, job, size, remark, found["seconds"], found["peak"], values)
    return Outcome(library, job, sizes[0], "; then ".join(dict.fromkeys(failures)))


def count(size: str) -> str:
    """Write the number of trials of a size."""
    return " + ".join(f"{n:,}" for n in SIZES[size])


def objective(task: str, size: str, coefficients: tuple[float, ...], folder: Path) -> float:
    """Judge a calibration or fusion by the objective that it was to minimise."""
    tar, non = np.load(folder / f"{size}-tar.npy"), np.load(folder / f"{size}-non.npy")
    *weights, offset = coefficients
    llrs = (np.asarray(weights) @ scores[: len(weights)] + offset for scores in (tar, non))
    return evaluate_objective(*llrs, prior=0.01 if task.endswith("001") else 0.5)


def deviation(task: str, ours: Outcome, theirs: Outcome, folder: Path) -> float:
    """Return how far a result is from ours, relative to the largest number in it."""
    if task.startswith(("calibration", "fusion")):
        mine = objective(task, ours.size, ours.values, folder)
        return abs(objective(task, theirs.size, theirs.values, folder) - mine) / mine
    mine_all, theirs_all = np.array(ours.values), np.array(theirs.values)
    return float(np.abs(theirs_all - mine_all).max() / np.abs(mine_all).max())


def compare(task: str, libraries: list[Library], limits: argparse.Namespace) -> Iterator[str]:
    """Write the table of one task; the first row of what is yielded is its summary."""
    ours = next(library for library in libraries if library.module == OURS)
    sizes = TASKS[task].sizes
    outcomes = [
        run(library, name, sizes, limits)
        for library in libraries
        if library is not ours
        for name, job in library.jobs.items()
        if job["task"] == task
    ]
    needed = {outcome.size for outcome in outcomes if outcome.values} | {sizes[0]}
    mine = {size: run(ours, task, (size,), limits) for size in needed}
    rows, finished = [], []
    for theirs in sorted(outcomes, key=lambda o: (SIZES[o.size][1] * -1, o.seconds)):
        label = f"{theirs.name} {theirs.library.version}"
        if not theirs.values:
            rows.append(f"| {label} | {count(theirs.size)} | | | | {theirs.failure} |")
            continue
        reference = mine[theirs.size]
        faster = theirs.seconds / reference.seconds
        job = theirs.library.jobs[theirs.job]
        off = deviation(task, reference, theirs, limits.folder)
        allowed = job["agreement"] or TASKS[task].agreement
        remarks = [job["because"], theirs.failure]
        if not off <= allowed:
            remarks.insert(0, f"**does not agree** within {allowed:.0e}")
        if theirs.size == sizes[0] and off <= allowed:
            finished.append((faster, theirs, reference))
        rows.append(
            f"| {label} | {count(theirs.size)} | {faster:.1f} | {memory(theirs, reference)} | "
            f"{off:.0e} | {'; '.join(filter(None, remarks))} |".replace(" 0e+00 ", " 0 ")
        )
    yield summarise(TASKS[task], finished)
    yield from (f"### {TASKS[task].title}", "")
    yield "| library | targets + non-targets | time | memory | differs by | remark |"
    yield "|---|---|---:|---:|---:|---|"
    yield from rows
    yield ""


def memory(theirs: Outcome, ours: Outcome) -> str:
    """Write peak memory beyond the input of both."""
    return f"{theirs.peak / MEGABYTE:,.0f} MB ({ours.peak / MEGABYTE:,.0f})"


def summarise(task: Task, finished: list[tuple[float, Outcome, Outcome]]) -> str:
    """Write one row about the fastest peer that came to the same result."""
    if not finished:
        return f"| {task.title} | | | | |"
    faster, fastest, ours = min(finished, key=lambda entry: entry[0])
    leanest = min(theirs.peak for _, theirs, _ in finished) / MEGABYTE
    wanted = "" if task.required is None else f"{task.required:.0f}"
    return (
        f"| {task.title} | {fastest.name} | {faster:.1f} | {wanted} | "
        f"{ours.peak / MEGABYTE:,.0f} / {leanest:,.0f} MB |"
    )


def page(tables: dict[str, list[str]]) -> str:
    """Put the tables of tasks together: their summaries first."""
    n_tar, n_non = SIZES[SHRINKING[0]]
    ordered = [tables[task.title] for task in TASKS.values() if task.title in tables]
    return "\n".join(
        (
            "<!-- Made by benchmarks/compare_peers.py; do not edit. -->",
            "",
            f"{n_tar:,} target and {n_non:,} non-target scores in double precision unless said, "
            f"Python {platform.python_version()}. {machine()}.",
            "",
            "| task | fastest peer with the same result | its time / ours | goal | "
            "our peak memory / the least of a peer |",
            "|---|---|---:|---:|---:|",
            *(table[0] for table in ordered),
            "",
            *(line for table in ordered for line in table[1:]),
        )
    )


def read_page(path: Path) -> dict[str, list[str]]:
    """Take the tables of tasks from a page that was written before."""
    summaries: dict[str, str] = {}
    tables: dict[str, list[str]] = {}
    title = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            title = line.removeprefix("### ")
            tables[title] = [summaries[title]]
        if title:
            tables[title].append(line)
        elif line.startswith("| "):
            summaries[line.split(" | ")[0].removeprefix("| ")] = line
    return tables


def earlier(before: list[str], now: list[str]) -> list[str]:
    """Return the rows of libraries that are not there now, marked as those of an earlier run."""
    known = {row.split()[1] for row in now[3:] if row.startswith("| ")}
    rows = []
    for row in before[3:]:
        if row.startswith("| ") and row.split()[1] not in {"library", *known}:
            cells, _, remark = row.removesuffix(" |").rpartition("| ")
            remarks = [remark for remark in remark.split("; ") if remark not in {"", "earlier run"}]
            rows.append(f"{cells}| {'; '.join([*remarks, 'earlier run'])} |")
    return rows


def main() -> None:
    """Read the command line, measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", default=",".join(TASKS), help="which, by commas")
    parser.add_argument("--libraries", default="", help="only these modules of peers/, by commas")
    parser.add_argument("--python", action="append", default=[], help="another interpreter")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each job")
    parser.add_argument("--memory", type=float, default=12.0, help="gigabytes for each job")
    parser.add_argument("--keep", action="store_true", help="leave other tasks in the page")
    parser.add_argument("--output", default=str(ROOT / "docs" / "peers_table.md"))
    options = parser.parse_args()
    options.memory = int(options.memory * 1e9)
    chosen = options.libraries.split(",") if options.libraries else list(MODULES)
    libraries = [
        library
        for library in find_libraries([sys.executable, *options.python], options.memory)
        if library.module in {OURS, *chosen}
    ]
    tables = read_page(Path(options.output)) if options.keep else {}
    with tempfile.TemporaryDirectory() as folder:
        options.folder = Path(folder)
        write_data(options.folder)
        for name in options.tasks.split(","):
            title = TASKS[name].title
            rows = list(compare(name, libraries, options))
            tables[title] = rows[:-1] + earlier(tables.get(title, []), rows) + rows[-1:]
            # At once, so that nothing is lost if somebody stops it.
            if options.output != "-":
                text = page(tables)
                Path(options.output).write_text(text, encoding="utf-8")
    if options.output == "-":
        print(page(tables))


if __name__ == "__main__":
    main()
