"""Feed readers with damaged files for a while: ``python -m tests.fuzz.fuzz TARGET SECONDS``.

With atheris the inputs are guided by the branches of the package that they reach, and new ones
stay in ``fuzz/*-corpus``; without it they are good files at random changed, by the seed that is
printed or that the environment variable ``FUZZ_SEED`` names. Whatever is not the documented error
ends the run, and the input stays in the folder ``fuzz``. Targets are those of `TARGETS`; ``all``
runs them one by one. Seconds are those of the processor.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.storage import corpus

try:
    import atheris
except ImportError:
    # It has wheels for some systems only.
    atheris = None

with atheris.instrument_imports(include=["bosaris_py"]) if atheris else contextlib.nullcontext():
    import bosaris_py as bp
    from bosaris_py import cli, matlab
    from bosaris_py.files import formats, text

    # All modules, which are loaded on demand.
    for each in bp.__all__ if atheris else ():
        getattr(bp, each)

MAX_BYTES = 10**7

# Seconds of the processor for an input and all its readers.
MOST_SECONDS = 20

# A process ends with this memory in KiB, and the next goes on: atheris never lets go of the array
# that a comparison of arrays gives.
MOST_MEMORY = 1_500_000

Reader = Callable[[Path], Any]


def of_classes(method: str, *names: str) -> list[Reader]:
    """Return the readers of some classes."""
    calls = [getattr(getattr(bp, name), method) for name in names]
    return [lambda path, call=call: call(path, max_bytes=MAX_BYTES) for call in calls]


def table(name: str) -> Reader:
    """Return the reader of one of the text formats."""
    return lambda path: text.read_table(path, format=name, max_bytes=MAX_BYTES)


def info(path: Path) -> None:
    """Let the command say what the file holds."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            cli.main(["info", str(path)])
        except SystemExit as error:
            if error.code not in (0, 1, 2, None):
                raise RuntimeError(f"exit code {error.code}") from None


_DENSE = "Scores", "Key", "Ndx", "QualityMeasures", "SegmentQuality", "IdMap"
_ALL = *_DENSE, "FlatScores", "FlatKey", "FlatNdx", "TrialMetadata"
_TEXT = *_ALL[:3], *_ALL[4:9]

# Extension of the files, good files to begin with, and readers.
TARGETS: dict[str, tuple[str, tuple[str, ...], list[Reader]]] = {
    "hdf5": (".h5", (".h5",), [*of_classes("read", *_ALL), bp.trials.read_any]),
    "mat": (".mat", (".mat",), [*of_classes("read", *_DENSE), bp.trials.read_any]),
    "text": (".txt", (".txt",), [*of_classes("read_txt", *_TEXT), matlab.read_list]),
    "formats": (
        ".txt",
        (".txt", ".csv"),
        [*map(table, formats.FORMATS), text.detect_format, bp.read_key, bp.read_scores],
    ),
    "json": (".json", (".json",), [bp.read_model]),
    "info": (".dat", ("",), [info]),
}


class Target:
    """Gives inputs to the readers of a target, and counts."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        suffix, ends, self.readers = TARGETS[name]
        good = corpus.good_files(folder)
        self.seeds = [data for file, data in good.items() if file.endswith(ends)]
        self.path = folder / f"input{suffix}"
        self.count = self.read = 0
        # Inputs that each reader took, and seconds that it took for all.
        self.taken, self.seconds = [0] * len(self.readers), [0.0] * len(self.readers)

    def __call__(self, data: bytes) -> None:
        """Read one input; what is not documented passes through."""
        self.path.write_bytes(data)
        self.count += 1
        for number, reader in enumerate(self.readers):
            begin = time.perf_counter()
            with contextlib.suppress(bp.errors.BosarisError):
                reader(self.path)
                self.taken[number] += 1
                self.read += 1
            self.seconds[number] += time.perf_counter() - begin

    def report(self) -> None:
        """Print how many inputs each reader was given, and how many it took."""
        cpu = processor_time(resource.RUSAGE_SELF)
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        sys.stdout.write(
            f"{self.name}: {self.count} inputs x {len(self.readers)} readers, {self.read} taken; "
            f"{cpu:.0f} s of the processor, at most {most} MiB\n"
        )
        for number, (taken, took) in enumerate(zip(self.taken, self.seconds, strict=True)):
            sys.stdout.write(f"  reader {number}: {taken} taken, {took:.0f} s\n")
        sys.stdout.flush()


def processor_time(who: int) -> float:
    """Return the seconds that a process, or those that it waited for, used."""
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def mutate(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Change a few places: bits, bytes, words, stretches that are repeated, cut or exchanged."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        place, length = rng.randrange(len(changed) + 1), rng.choice((1, 2, 4, 8, 40))
        kind = rng.randrange(6)
        if kind == 0 and place < len(changed):
            changed[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            value = rng.choice((0, 1, -1, 2**31 - 1, len(data), rng.getrandbits(64)))
            changed[place : place + 8] = (value % 2**64).to_bytes(8, "little")
        elif kind == 2:
            changed[place : place + length] = rng.randbytes(length)
        elif kind == 3:
            del changed[place : place + length]
        elif kind == 4:
            changed[place:place] = changed[place : place + length] * rng.choice((1, 2, 100))
        else:
            other = rng.choice(others)
            begin = rng.randrange(len(other) + 1)
            changed[place : place + length] = other[begin : begin + length]
    return bytes(changed)


def run(name: str, seconds: float) -> None:
    """Fuzz one target; say how often it was called."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        target = Target(name, folder)
        begin = time.process_time()
        try:
            if atheris:
                _run_atheris(target, folder, name, seconds)
            else:
                seed = int(os.environ.get("FUZZ_SEED") or random.randrange(2**32))
                sys.stdout.write(f"{name}: FUZZ_SEED={seed}\n")
                rng = random.Random(seed)
                while time.process_time() - begin < seconds:
                    target(mutate(rng.choice(target.seeds), target.seeds, rng))
        except SystemExit:
            pass
        except BaseException:
            kept = Path("fuzz") / f"{name}-{target.path.name}"
            kept.parent.mkdir(exist_ok=True)
            kept.write_bytes(target.path.read_bytes())
            traceback.print_exc()
            raise SystemExit(f"{name}: an undocumented error; the input is {kept}") from None
        finally:
            target.report()


def _run_atheris(target: Target, folder: Path, name: str, seconds: float) -> None:
    """Fuzz by branches; a call that takes long or much memory ends it too."""
    seeds, found, kept = folder / "seeds", Path("fuzz") / f"{name}-corpus", Path("fuzz")
    seeds.mkdir()
    found.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(target.seeds):
        (seeds / str(number)).write_bytes(data)
    begin = time.process_time()

    def call(data: bytes) -> None:
        # Time of the processor: this process may have to wait for others.
        signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
        target(data)
        # Atheris ends its process without a word to Python, so the report comes before.
        if (
            time.process_time() - begin > seconds
            or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MOST_MEMORY
        ):
            target.report()
            os._exit(0)

    def hang(*_: object) -> None:
        raise TimeoutError(f"an input takes more than {MOST_SECONDS} s")

    signal.signal(signal.SIGPROF, hang)
    # Hardly a limit on the clock: a process may wait long for the processor. 0 would be one.
    options = ["-timeout=1000000", "-rss_limit_mb=3000", "-max_len=60000"]
    options.append(f"-artifact_prefix={kept}/{name}-")
    atheris.Setup([sys.argv[0], *options, str(found), str(seeds)], call)
    atheris.Fuzz()


def in_parts(name: str, seconds: float) -> int:
    """Fuzz one target in processes, each of which goes on where the last ended; return the code."""
    code = 0
    while not code and seconds > 0:
        begin = processor_time(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "tests.fuzz.fuzz", name, f"{seconds}", "part"]
        code = subprocess.run(command).returncode
        seconds -= processor_time(resource.RUSAGE_CHILDREN) - begin
    return code


def main() -> None:
    """Run what the command line names."""
    name, seconds = sys.argv[1], float(sys.argv[2])
    if sys.argv[3:]:
        run(name, seconds)
        return
    # In other processes: atheris ends the one that it runs in.
    failed = [each for each in (TARGETS if name == "all" else [name]) if in_parts(each, seconds)]
    raise SystemExit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
