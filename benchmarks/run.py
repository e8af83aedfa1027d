"""Run the benchmark suite here and now, without asv, and compare each with a plain operation.

    python benchmarks/run.py                                quick: 10^4 and 10^6 scores
    python benchmarks/run.py --sizes 1e7 --only Hull,Cllr   some classes, at 10^7

A line gives the time of a call, the time per score, the ratio to something that everybody knows,
measured in the same run on the same data, and the peak memory beyond the input, as a multiple of
the scores. Times are the shortest of several runs.
"""

import argparse
import importlib
import inspect
import itertools
import pkgutil
import warnings
from collections.abc import Iterator

import numpy as np
import suite
from suite._operation import Operation
from timing import machine, peak_bytes, seconds

# Repeat until so many seconds are over.
PATIENCE = 1.0


def operations() -> Iterator[type[Operation]]:
    """Yield all classes of the suite, in the order of the source."""
    for module_info in pkgutil.iter_modules(suite.__path__):
        if module_info.name.startswith("_"):
            continue
        module = importlib.import_module(f"suite.{module_info.name}")
        for name, value in list(vars(module).items()):
            if inspect.isclass(value) and issubclass(value, Operation) and name[0] != "_":
                yield value


def best(call: object, patience: float = PATIENCE) -> float:
    """Return the shortest time of as many calls as patience allows, three at least if short."""
    # Twice: the very first call may import modules, which would leave no patience for repeats.
    first = seconds(call, 2)
    repeats = int(np.clip(patience / max(first, 1e-6), 0, 1000))
    return min(first, seconds(call, repeats)) if repeats else first


def measure(operation: type[Operation], arguments: tuple[object, ...]) -> str:
    """Return the line of one operation at one combination of parameters."""
    benchmark = operation()
    benchmark.setup(*arguments)
    try:
        elapsed = best(benchmark.call)
        ratio = elapsed / (best(benchmark.plain, PATIENCE / 4) * benchmark.plain_share)
        n_scores = int(arguments[0])
        peak = peak_bytes(benchmark.call) / (8 * n_scores)
    finally:
        getattr(benchmark, "teardown", lambda *_: None)(*arguments)
    name = " ".join([operation.__name__, *map(str, arguments[1:])])
    return (
        f"{name:34s} {n_scores:>11,} {1e3 * elapsed:10.3f} ms {1e9 * elapsed / n_scores:9.2f} ns "
        f"{ratio:9.3g} x {benchmark.plain_name:24s} {peak:7.3f}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="1e4,1e6", help="numbers of scores, by commas")
    parser.add_argument("--only", default="", help="parts of class names, by commas")
    options = parser.parse_args()
    sizes = {int(float(size)) for size in options.sizes.split(",")}
    # Small samples with few errors are no news here.
    warnings.simplefilter("ignore")
    print(machine())
    print(f"{'':34s} {'scores':>11s} {'call':>13s} {'a score':>12s} {'ratio':>36s} {'memory':>7s}")
    for operation in operations():
        if not any(part in operation.__name__ for part in options.only.split(",")):
            continue
        for arguments in itertools.product(*operation.params):
            if arguments[0] in sizes or len(operation.params[0]) == 1:
                print(measure(operation, arguments), flush=True)


if __name__ == "__main__":
    main()
