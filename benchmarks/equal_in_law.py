"""Compare the law of bootstrap replicates with that of another version of the package.

Each version draws replicates of four metrics by four methods, of sets of equal and of unequal
size, from generators of its own. The two-sample Kolmogorov-Smirnov test of each pair is printed; a
p-value below .001 ends the script with an error. The other version must be installed:

    python benchmarks/equal_in_law.py --against OTHER/bin/python
"""

import argparse
import inspect
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import bosaris_py as bp
from bosaris_py import uncertainty as unc

METHODS = ("iid", "one-layer", "two-layer", "speaker")
N_SPEAKERS, N_SEGMENTS = 24, 3
LEAST_P = 0.001


def metrics():
    """Return the metrics by name; 0.3 writes operating points differently."""
    point = {"prior": 0.1}
    if "p_target" in inspect.signature(unc.DCF).parameters:
        point = {"p_target": 0.1, "c_miss": 1, "c_fa": 1}
    return {
        "DCF": unc.DCF(0.5, **point, normalize=False),
        "minimum DCF": unc.MinDCF(0.1, normalize=False),
        "EER": unc.EER(),
        "Cllr": unc.Cllr(),
    }


def trials(design):
    """Return scores, key and speakers; of unequal design some segments are not scored."""
    rng, shape = np.random.default_rng(1), (N_SPEAKERS, N_SPEAKERS * N_SEGMENTS)
    speakers = np.arange(N_SPEAKERS), np.repeat(np.arange(N_SPEAKERS), N_SEGMENTS)
    same = speakers[0][:, None] == speakers[1]
    habits = 0.7 * rng.normal(size=N_SPEAKERS)
    scores = np.where(same, 1.0, -1.0) + rng.normal(size=shape)
    scores += habits[speakers[0]][:, None] + habits[speakers[1]]
    ids = [f"m{i}" for i in range(shape[0])], [f"s{i}" for i in range(shape[1])]
    kept = np.ones(shape, dtype=bool)
    if design == "unequal":
        # Each speaker keeps a target.
        kept = (rng.random(shape) < 0.7) | (same & (np.arange(shape[1]) % N_SEGMENTS == 0))
    who = tuple(
        dict(zip(*pair, strict=True)) for pair in zip(ids, map(_texts, speakers), strict=True)
    )
    return bp.Scores(scores, *ids), bp.Key(*ids, same & kept, ~same & kept), who


def _texts(numbers):
    return [str(number) for number in numbers]


def draw(replications, seed):
    """Return the replicates by design, method and metric."""
    found = {}
    for design in ("equal", "unequal"):
        scores, key, speakers = trials(design)
        for method in METHODS:
            for name, metric in metrics().items():
                options = {"method": method, "replications": replications, "rng": seed}
                if method != "iid":
                    options["speakers"] = speakers
                drawn = unc.bootstrap_scores(scores, key, metric, **options)
                found[f"{design}, {method}, {name}"] = drawn.replicates
    return found


def drawn_by(python, replications):
    """Return the replicates of the version that another interpreter has."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "replicates.npz"
        command = [python, "-P", Path(__file__).resolve(), "--write", path]
        # From a folder without the tree, so that the installed package is taken.
        subprocess.run(
            [*map(str, command), "--replications", str(replications)],
            check=True,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin"},
        )
        with np.load(path) as stored:
            return {name: stored[name] for name in stored.files}


def main():
    """Draw by both versions, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", help="the Python of the other version")
    parser.add_argument("--replications", type=int, default=20_000)
    parser.add_argument("--write", help="only draw, and write the replicates to this file")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.write:
        np.savez(args.write, **draw(args.replications, seed=2))
        return
    if args.against is None:
        parser.error("name the Python of the other version: --against PYTHON")
    from scipy.stats import ks_2samp

    before, now = drawn_by(args.against, args.replications), draw(args.replications, seed=3)
    least = 1.0
    print(f"{'replicates':38}{'mean':>10}{'before':>10}{'SD':>10}{'before':>10}{'p':>8}")
    for name, values in now.items():
        p = ks_2samp(before[name], values).pvalue
        numbers = values.mean(), before[name].mean(), values.std(), before[name].std()
        print(f"{name:38}{''.join(f'{number:10.5f}' for number in numbers)}{p:8.4f}")
        least = min(least, p)
    print(f"least p-value {least:.4f} of {len(now)}, {args.replications} replicates each")
    if least < LEAST_P:
        sys.exit("The laws differ.")


if __name__ == "__main__":
    main()
