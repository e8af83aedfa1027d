"""Compare the processor time of this checkout with that of an earlier commit, by turns.

Reads and writes HDF5 and text, and evaluates in memory, in a fresh process for each turn. The
figure of a task is the least of its turns; the last column is the ratio.

    python benchmarks/before_after.py d7c3ec40 --turns 7
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def tasks(folder: Path) -> dict[str, Callable[[], object]]:
    """Return what is timed, on files that are made first."""
    import numpy as np

    import bosaris_py as bp

    rng = np.random.default_rng(1)
    models, segments = [f"m{i:04d}" for i in range(1000)], [f"s{j:05d}" for j in range(2000)]
    tar = rng.random((1000, 2000)) < 0.01
    key, scores = bp.Key(models, segments, tar, ~tar), rng.normal(3.0 * tar)
    system = bp.Scores(scores, models, segments)
    key.save(folder / "key.h5")
    system.save(folder / "scores.h5")
    small = models[:100]
    system.filter(small, segments, True).save_txt(folder / "scores.txt")  # noqa: FBT003
    lists = scores[tar], scores[~tar]
    return {
        "read HDF5": lambda: (bp.Scores.read(folder / "scores.h5"), bp.Key.read(folder / "key.h5")),
        "write HDF5": lambda: system.save(folder / "again.h5"),
        "read text": lambda: bp.read_scores(folder / "scores.txt"),
        "write text": lambda: key.filter(small, segments, True).save_txt(folder / "k.txt"),  # noqa: FBT003
        "metrics": lambda: bp.Results(*lists).to_dict(0.05),
        "evaluate": lambda: bp.evaluate({"a": system}, key, prior=0.05),
        "blocks": lambda: bp.Results.from_files(folder / "scores.h5", folder / "key.h5").eer,
    }


def turn() -> None:
    """Print the processor time of each task, the least of three."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, call in tasks(Path(folder)).items():
            times = []
            for _ in range(3):
                begin = time.process_time()
                call()
                times.append(time.process_time() - begin)
            found[name] = min(times)
    sys.stdout.write(json.dumps(found))


def main() -> None:
    """Run both checkouts by turns, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default="")
    parser.add_argument("--turns", type=int, default=7)
    given = parser.parse_args()
    if not given.commit:
        turn()
        return
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        add = ["git", "worktree", "add", "--quiet", "--detach", str(before), given.commit]
        subprocess.run(add, cwd=ROOT, check=True)
        least: dict[Path, dict[str, float]] = {before: {}, ROOT: {}}
        try:
            for _ in range(given.turns):
                for root, best in least.items():
                    ran = subprocess.run(
                        [sys.executable, "-W", "ignore", str(Path(__file__).resolve())],
                        env={**os.environ, "PYTHONPATH": str(root)},
                        cwd=folder,
                        check=True,
                        capture_output=True,
                        text=True,
                    )
                    for name, seconds in json.loads(ran.stdout).items():
                        best[name] = min(seconds, best.get(name, seconds))
        finally:
            remove = ["git", "worktree", "remove", "--force", str(before)]
            subprocess.run(remove, cwd=ROOT, check=True)
    for name, seconds in least[ROOT].items():
        was = least[before][name]
        line = f"{name:12} {was:8.4f} s before {seconds:8.4f} s now {seconds / was:6.3f}\n"
        sys.stdout.write(line)


if __name__ == "__main__":
    main()
