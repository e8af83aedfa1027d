"""Text formats of the field: reading a million lines, against numpy.loadtxt, pandas and polars.

`python benchmarks/bench_formats.py 1e7` reads ten million, and tells the peak memory. What
numpy.loadtxt makes of a file is less than a table: it leaves the ids as they are. Pandas and
polars, where they are installed, code them as categories, which is what `read_table` makes.
"""

import argparse
import contextlib
import functools
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from timing import machine, report, seconds

from bosaris_py import read_scores
from bosaris_py.files.columns import Factor, Table
from bosaris_py.files.text import read_table
from bosaris_py.files.writing import write_table

FORMATS = {
    "kaldi-scores": {"dtype": [("model", "U16"), ("segment", "U24"), ("score", "f8")]},
    "nist": {
        "dtype": [("model", "U16"), ("segment", "U24"), ("side", "U1"), ("score", "f8")],
        "delimiter": "\t",
        "skiprows": 1,
    },
    "kaldi-trials": {"dtype": [("model", "U16"), ("segment", "U24"), ("label", "U9")]},
    "voxceleb-trials": {"dtype": [("label", "i1"), ("model", "U16"), ("segment", "U24")]},
}


def write_lines(
    path: Path, format: str, n_lines: int, n_models: int, n_segments: int, *, distinct: bool = False
) -> None:
    """Write random trials, some at a time, so that writing needs no memory to speak of.

    Distinct ones are scattered by a rule, with steps that have no factor in common with 10^5.
    """
    rng = np.random.default_rng(0)
    with path.open("w") as stream:
        if format == "nist":
            stream.write("modelid\tsegmentid\tside\tLLR\n")
        for begin in range(0, n_lines, 10**6):
            count = min(10**6, n_lines - begin)
            if distinct:
                lines = np.arange(begin, begin + count)
                ids = lines * 7 % n_models, (lines // n_models * 7919 + lines * 31) % n_segments
            else:
                ids = rng.integers(0, n_models, count), rng.integers(0, n_segments, count)
            models, segments = (numbers.tolist() for numbers in ids)
            scores = rng.normal(size=count).tolist()
            rows = zip(models, segments, scores, strict=True)
            if format == "kaldi-scores":
                stream.writelines(f"spk{m:07d} spk-utt{s:09d} {x:.5f}\n" for m, s, x in rows)
            elif format == "kaldi-trials":
                labels = {False: "nontarget", True: "target"}
                stream.writelines(
                    f"spk{m:07d} spk-utt{s:09d} {labels[x > 2]}\n" for m, s, x in rows
                )
            elif format == "nist":
                stream.writelines(f"{m:07d}_sre\tseg{s:08d}.sph\ta\t{x:.5f}\n" for m, s, x in rows)
            else:
                stream.writelines(f"{x > 0:d} spk{m:07d} id/v/{s:08d}.wav\n" for m, s, x in rows)


def compare(folder: Path, n_lines: int, n_models: int, n_segments: int) -> None:
    """Read each format with both."""
    for format, options in FORMATS.items():
        path = folder / "a.txt"
        write_lines(path, format, n_lines, n_models, n_segments)
        clock = time.process_time
        reference = seconds(functools.partial(np.loadtxt, path, **options), 3, clock)
        elapsed = seconds(functools.partial(read_table, path, format), 3, clock)
        name = f"read_table {format}, {n_lines:.0e} lines, {n_models} x {n_segments} ids"
        report(name, elapsed / reference, "numpy.loadtxt", f"{elapsed:.2f} s")


def frames(path: Path) -> dict[str, Callable[[], object]]:
    """Return how libraries of data frames read a list of ids and scores."""
    ways: dict[str, Callable[[], object]] = {}
    with contextlib.suppress(ImportError):
        import pandas as pd

        kinds = {0: "category", 1: "category", 2: "f8"}
        ways["pandas"] = lambda: pd.read_csv(path, sep=" ", header=None, dtype=kinds)
    with contextlib.suppress(ImportError):
        import polars as pl

        schema = {"model": pl.Categorical, "segment": pl.Categorical, "score": pl.Float64}
        ways["polars, all its threads"] = lambda: pl.read_csv(
            path, separator=" ", has_header=False, schema=schema
        )
    return ways


def compare_frames(folder: Path, n_lines: int, n_models: int, n_segments: int) -> None:
    """Read scores with libraries of data frames; the clock's time, because polars has threads."""
    path = folder / "a.txt"
    write_lines(path, "kaldi-scores", n_lines, n_models, n_segments)
    elapsed = seconds(lambda: read_table(path, "kaldi-scores"), 3)
    for name, way in frames(path).items():
        found = f"read_table kaldi-scores, {n_lines:.0e} lines, {n_models} x {n_segments} ids"
        report(found, elapsed / seconds(way, 3), name, f"{elapsed:.2f} s")


def write(folder: Path, n_lines: int) -> None:
    """Write a table, against reading it."""
    rng = np.random.default_rng(0)
    names = [f"id{i:06d}" for i in range(1000)]
    ids = [Factor(rng.integers(0, 1000, n_lines), names) for _ in range(2)]
    table = Table(*ids, scores=rng.normal(size=n_lines))
    path = folder / "b.txt"
    writing = seconds(lambda: write_table(path, table, "kaldi-scores"), repeats=3)
    reading = seconds(lambda: read_table(path, "kaldi-scores"), repeats=3)
    report("write_table kaldi-scores", writing / reading, "reading it back", f"{writing:.2f} s")


def read_in_bounded_memory(folder: Path, n_lines: int) -> None:
    """Read many lines of 10^5 x 10^5 ids once, in a process of its own, and tell the peak."""
    for format in ("kaldi-scores", "nist"):
        path = folder / "c.txt"
        write_lines(path, format, n_lines, 10**5, 10**5, distinct=True)
        process = os.fork()
        if process == 0:
            elapsed = seconds(functools.partial(read_scores, path), repeats=1)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(f"read_scores {format}, {n_lines:.0e} lines: {elapsed:.1f} s, {peak:.2f} GiB")
            os._exit(0)
        os.waitpid(process, 0)


def main() -> None:
    """Print all ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lines", type=float, nargs="?", default=1e6)
    n_lines = int(parser.parse_args().lines)
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if n_lines <= 10**6:
            compare(folder, n_lines, 1000, 20_000)
            compare(folder, n_lines, 145_000, 145_000)
            compare_frames(folder, n_lines, 1000, 20_000)
            compare_frames(folder, n_lines, 145_000, 145_000)
            write(folder, n_lines)
        else:
            read_in_bounded_memory(folder, n_lines)


if __name__ == "__main__":
    main()
