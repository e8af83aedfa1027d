"""A corpus of wrong files, each a good one with one size, address, count or value changed.

As a script it reads each file of a folder with every reader in one process with limits, and
prints an outcome for each: ``python corpus.py FOLDER KEY``, the key that scores are read with.
Equal names are equal files.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import resource
import struct
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np

# A field of a file: what it is, where it begins, and its bytes.
Spot = tuple[str, int, int]

MODELS, SEGMENTS = [f"m{i:02}" for i in range(12)], [f"s{i:02}" for i in range(30)]

# Beyond what the process has, in bytes, when readers are given `MAX_BYTES`; seconds for a file.
MAX_BYTES = 10**6
MOST_MEMORY = 2**28
MOST_SECONDS = 5


# HDF5: File Format Specification, version 3.0, superblock 0 and object headers 1.


def hdf5_spots(data: bytes) -> list[Spot]:
    """Return the fields of superblock, object headers, trees, and heaps."""
    spots = [(f"superblock {place}", place, 1) for place in range(8, 16)]
    spots += [(f"superblock {place}", place, 2) for place in (16, 18)]
    spots += [(f"superblock {place}", place, 8) for place in range(24, 96, 8)]
    headers = {_number(data, 64, 8)}
    for sign in (b"TREE", b"HEAP", b"SNOD", b"GCOL"):
        for begin in _places(data, sign):
            name = f"{sign.decode()} {begin}"
            if sign == b"TREE":
                spots += [(name, begin + 4, 1), (name, begin + 5, 1), (name, begin + 6, 2)]
                spots += [(f"{name} +{at}", begin + at, 8) for at in range(8, 88, 8)]
            elif sign == b"SNOD":
                spots.append((name, begin + 6, 2))
                for entry in range(begin + 8, begin + 8 + 40 * _number(data, begin + 6, 2), 40):
                    headers.add(_number(data, entry + 8, 8))
                    spots += [(f"{name} entry", entry + at, 8) for at in (0, 8, 16, 24, 32)]
            else:
                spots += [(f"{name} +{at}", begin + at, 8) for at in (8, 16, 24)]
                free = _number(data, begin + 24, 8) + _number(data, begin + 16, 8)
                if sign == b"HEAP" and free + 16 <= len(data):
                    spots += [(f"{name} free", free, 8), (f"{name} free size", free + 8, 8)]
    for header in sorted(headers):
        spots += _header_spots(data, header)
    return spots


def _header_spots(data: bytes, header: int) -> Iterator[Spot]:
    """Yield the fields of an object header and of its messages."""
    name = f"header {header}"
    yield from (
        (f"{name} +{at}", header + at, size) for at, size in ((0, 1), (2, 2), (4, 4), (8, 4))
    )
    blocks = [(header + 16, _number(data, header + 8, 4))]
    for begin, size in blocks:
        place = begin
        while place + 8 <= begin + size:
            kind, length = struct.unpack_from("<HH", data, place)
            if kind == 0x10:
                blocks.append((_number(data, place + 8, 8), _number(data, place + 16, 8)))
            # Time, comments and free space say nothing.
            if kind not in (0, 0x0D, 0x12):
                what = f"{name} message {kind} at {place}"
                yield from ((what, place + at, size) for at, size in ((0, 2), (2, 2), (4, 1)))
                yield from ((f"{what} byte {i}", place + 8 + i, 1) for i in range(min(length, 8)))
                yield from ((f"{what} word {i}", place + 8 + i, 8) for i in range(0, length - 7, 4))
            place += 8 + length


def _places(data: bytes, sign: bytes) -> list[int]:
    found, place = [], data.find(sign)
    while place >= 0:
        found.append(place)
        place = data.find(sign, place + 1)
    return found


def _number(data: bytes, begin: int, size: int) -> int:
    return int.from_bytes(data[begin : begin + size], "little")


# MATLAB 5: MAT-File Format, tags of elements; compressed ones are unpacked and packed again.


def mat_spots(data: bytes, begin: int = 128, end: int | None = None) -> Iterator[Spot]:
    """Yield the tags of all elements and the words of small ones."""
    end = len(data) if end is None else end
    while begin + 8 <= end:
        kind, size = struct.unpack_from("<II", data, begin)
        yield f"type at {begin}", begin, 2
        yield f"small size at {begin}", begin + 2, 2
        yield f"size at {begin}", begin + 4, 4
        if kind >> 16:
            begin += 8
            continue
        if kind == 14:
            yield from mat_spots(data, begin + 8, min(end, begin + 8 + size))
        elif size <= 16:
            yield from ((f"word at {at}", at, 4) for at in range(begin + 8, begin + 8 + size, 4))
        begin += 8 + size + (-size % 8 if kind != 15 else 0)


def packed_again(data: bytes) -> bytes:
    """Compress the one variable of a MATLAB file."""
    body = zlib.compress(data[128:])
    return data[:128] + struct.pack("<II", 15, len(body)) + body


def values_for(data: bytes, spot: Spot) -> list[int]:
    """Return what a field is changed to: ends of its range, neighbours, sizes of the file."""
    _, begin, size = spot
    old, most = _number(data, begin, size), 256**size
    wanted = (0, 1, old + 1, 2 * old, most - 1, most // 2, begin, len(data), 2**31 - 1, old ^ 0x10)
    return sorted({value % most for value in wanted} - {old})


def mutants(data: bytes, spots: list[Spot]) -> Iterator[tuple[str, bytes]]:
    for spot in spots:
        name, begin, size = spot
        for value in values_for(data, spot):
            changed = data[:begin] + value.to_bytes(size, "little") + data[begin + size :]
            yield f"{name} is {value:#x}", changed


# Text and JSON


def text_mutants(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield texts whose tokens and lines are replaced, left out, or repeated."""
    lines = data.splitlines(keepends=True)
    odd = (
        b"", b" ", b"\t", b"nan", b"-inf", b"1e999", b"1e-999", b"0x1p3", b"1_0", b"\xff", b"\xc3",
        b"\0", b"\x1b[2J", "\u202e\u009b".encode(), b"\xef\xbb\xbf", b"a" * 5000, b"\"", b"'", b",",
        b"#", b"%", b"9" * 400, b"-", b"target", b"\r", b"\x0b", b"\x1c", "\u2028".encode(),
        b"18446744073709551616", b"\xed\xa0\x80", b"=", b"\\",
    )  # fmt: skip
    for number in (0, len(lines) // 2, len(lines) - 1):
        tokens = lines[number].split()
        for place in range(len(tokens)):
            for token in odd:
                changed = b" ".join([*tokens[:place], token, *tokens[place + 1 :]]) + b"\n"
                body = b"".join([*lines[:number], changed, *lines[number + 1 :]])
                yield f"line {number} token {place} is {token[:12]!r}", body
        yield f"line {number} twice", b"".join([*lines[: number + 1], *lines[number:]])
        yield f"line {number} left out", b"".join([*lines[:number], *lines[number + 1 :]])
        yield f"line {number} cut", b"".join(lines[:number]) + lines[number][:3]
    yield "carriage returns", data.replace(b"\n", b"\r")
    yield "no ends of lines", data.replace(b"\n", b" ")
    yield "UTF-16", data.decode().encode("utf-16")
    yield "gzip", gzip.compress(data, mtime=0)
    yield "gzip, cut", gzip.compress(data, mtime=0)[:-9]
    yield "gzip bomb", gzip.compress(lines[0] * (2**24 // len(lines[0])), mtime=0)
    yield "long line", lines[0].rstrip() * 2**16


_ODD_JSON = (
    "null", "true", "-1", "0", "1e308", "1e999", "NaN", "Infinity", '"x"', '"\\u001b[2J\\ud800"',
    "[]", "{}", "[[]]", "[1,[2]]", "[" * 600 + "]" * 600, "[" * 10**5, "[" + "0," * 10**5 + "0]",
    '"' + "y" * 10**5 + '"',
    "1" * 5000, '{"kind": "x"}', "[null]", "[NaN]",
)  # fmt: skip


def json_mutants(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield documents in which each value is another, or each name is missing or double."""
    document = json.loads(data)

    def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        yield path
        inside = value.items() if isinstance(value, dict) else ()
        if isinstance(value, list):
            inside = list(enumerate(value))[:2]
        for name, each in inside:
            yield from places(each, (*path, name))

    for path in places(document):
        for odd in _ODD_JSON:
            copy = json.loads(data)
            if path:
                inner = copy
                for name in path[:-1]:
                    inner = inner[name]
                inner[path[-1]] = "@"
                yield f"{path} is {odd[:12]}", json.dumps(copy).replace('"@"', odd).encode()
        if path and isinstance(path[-1], str):
            inner = copy = json.loads(data)
            for name in path[:-1]:
                inner = inner[name]
            del inner[path[-1]]
            yield f"{path} is missing", json.dumps(copy).encode()
    for odd in _ODD_JSON:
        yield f"all is {odd[:12]}", odd.encode()
    text = data.decode().rstrip().rstrip("}")
    yield "many names", (text + "".join(f',"k{i}":1' for i in range(20_000)) + "}").encode()


# Good files


def good_files(folder: Path) -> dict[str, bytes]:
    """Return the bytes of a good file of each kind and format, by name."""
    import scipy.io

    import bosaris_py as bp

    rng = np.random.default_rng(7)
    shape = (12, 30)
    tar = rng.random(shape) < 0.3
    key = bp.Key(MODELS, SEGMENTS, tar, ~tar & (rng.random(shape) < 0.8))
    scores = bp.Scores(rng.standard_normal(shape) + 2 * tar, MODELS, SEGMENTS)
    key.save(folder / "key.h5")
    noise = rng.choice(["quiet", "loud"], np.count_nonzero(key.tar | key.non))
    quality = rng.random((2, 30))
    saved: dict[str, Any] = {
        "scores.h5": scores, "key.h5": key, "ndx.h5": key.to_ndx(), "list.h5": scores.to_flat(),
        "idmap.h5": bp.IdMap(MODELS, SEGMENTS[:12]),
        "segments.h5": bp.SegmentQuality(SEGMENTS, quality),
        "measures.h5": bp.QualityMeasures(MODELS, SEGMENTS, quality[:, :12], quality),
        "metadata.h5": bp.TrialMetadata(key, {"noise": noise}, {"age": np.arange(12)}),
        "scores.txt": scores, "key.txt": key, "idmap.txt": bp.IdMap(MODELS, SEGMENTS[:12]),
        "segments.txt": bp.SegmentQuality(SEGMENTS, quality),
        "map.json": bp.LinearCalibration.fit(rng.standard_normal(50) + 1, rng.standard_normal(50)),
        "pav.json": bp.PAVCalibration.fit(rng.standard_normal(9) + 1, rng.standard_normal(9)),
    }  # fmt: skip
    files = {}
    for name, each in saved.items():
        each.save(folder / name)
        files[name] = (folder / name).read_bytes()
    # As other programs write them: no checksums, strings of any length, compressed scores.
    with h5py.File(folder / "a.h5", "w") as file:
        for name, ids in (("ID/row_ids", MODELS), ("ID/column_ids", SEGMENTS)):
            file.create_dataset(name, data=ids, dtype=h5py.string_dtype())
        options = {"chunks": (5, 30), "compression": "gzip", "shuffle": True, "fletcher32": True}
        file.create_dataset("scores", data=scores.scoremat, **options)
        file.create_dataset("score_mask", data=np.ones(shape, "u1"), chunks=(6, 30))
    files["foreign.h5"] = (folder / "a.h5").read_bytes()
    fields = {"scoremat": scores.scoremat, "scoremask": scores.scoremask}
    fields |= {"modelset": np.array(MODELS, object), "segset": np.array(SEGMENTS, object)}
    scipy.io.savemat(folder / "a.mat", {"scr": fields})
    files["scores.mat"] = (folder / "a.mat").read_bytes()
    rows = [f"{m} {s} {v:.3f}\n" for m, s, v in zip(MODELS * 2, SEGMENTS, range(24), strict=False)]
    files["list.csv"] = ("model,segment,score\n" + "".join(rows).replace(" ", ",")).encode()
    return files


def _bombs(mat: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield compressed variables that unpack to more than they say, or say more than they are."""
    zeros = zlib.compress(bytes(2**27), 9)
    for size in (2**27 - 8, 2**31 - 1, 64):
        start = zlib.compressobj(9)
        body = (
            start.compress(struct.pack("<II", 14, size))
            + start.compress(bytes(2**27))
            + start.flush()
        )
        yield f"bomb of {size}", mat[:128] + struct.pack("<II", 15, len(body)) + body
    yield "zeros", mat[:128] + struct.pack("<II", 15, len(zeros)) + zeros


def corpus(folder: Path, count: int | None, seed: int = 1) -> list[Path]:
    """Write so many files of each kind, drawn at random, or all; return their paths."""
    paths, rng = [], np.random.default_rng(seed)
    for name, data in good_files(folder).items():
        stem, _, suffix = name.partition(".")
        if suffix == "h5":
            made = mutants(data, hdf5_spots(data))
        elif suffix == "mat":
            plain = list(mutants(data, list(mat_spots(data))))
            again = [(f"{what}, packed", packed_again(each)) for what, each in plain]
            made = iter([*plain, *again, *_bombs(data)])
        else:
            made = (json_mutants if suffix == "json" else text_mutants)(data)
        found = [("good", data), *made]
        if count is not None and len(found) > count:
            chosen = rng.choice(len(found) - 1, size=count - 1, replace=False) + 1
            found = [found[0], *(found[i] for i in sorted(chosen.tolist()))]
        for number, (what, content) in enumerate(found):
            path = folder / f"{stem}-{number:05}.{suffix}"
            path.write_bytes(content)
            path.with_suffix(path.suffix + ".what").write_text(what)
            paths.append(path)
    return paths


# Reading, in a process of its own


def readers(key: Path) -> dict[str, Callable[[Path], Any]]:
    """Return all readers of files by name."""
    import bosaris_py as bp
    from bosaris_py import cli, matlab
    from bosaris_py.files.text import detect_format, read_table

    classes = (
        bp.Scores, bp.Key, bp.Ndx, bp.FlatScores, bp.FlatKey, bp.FlatNdx, bp.IdMap,
        bp.SegmentQuality, bp.QualityMeasures, bp.TrialMetadata,
    )  # fmt: skip
    found: dict[str, Callable[[Path], Any]] = {}
    for each in classes:
        found[each.__name__] = lambda path, each=each: each.read(path, max_bytes=MAX_BYTES)
    for each in (bp.Scores, bp.Key, bp.FlatNdx, bp.IdMap, bp.SegmentQuality):
        found[f"{each.__name__}, text"] = lambda path, each=each: each.read_txt(
            path, max_bytes=MAX_BYTES
        )
    for name in ("read_key", "read_scores", "read_trials"):
        found[name] = lambda path, name=name: getattr(bp, name)(path, max_bytes=MAX_BYTES)
    found["read_any"] = lambda path: bp.trials.read_any(path, max_bytes=MAX_BYTES)
    found["read_model"] = bp.read_model
    found["read_list"] = matlab.read_list
    found["detect_format"] = detect_format
    found["read_table"] = lambda path: read_table(path, format="csv", max_bytes=MAX_BYTES)

    def info(path: Path) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                cli.main(["info", str(path)])
            except SystemExit as error:
                if error.code not in (0, 1, 2, None):
                    raise RuntimeError(f"exit code {error.code}") from None
        return out.getvalue()

    def agreement(path: Path) -> str:
        """Evaluate HDF5 scores as an object and as a file."""
        answers = []
        stem = path.name.partition("-")[0]
        if path.suffix != ".h5" or stem not in ("scores", "foreign", "list"):
            return ""
        cls = bp.FlatScores if stem == "list" else bp.Scores
        for call in (
            lambda: bp.Results(*cls.read(path).get_tar_non(bp.Key.read(key))),
            lambda: bp.Results.from_files(path, key),
        ):
            try:
                results = call()
                answers.append((results.eer, results.cllr))
            except bp.errors.BosarisError:
                answers.append(None)
        first, second = answers
        if (first is None) != (second is None) or (
            first is not None and not np.allclose(first, second, rtol=1e-12, atol=0)
        ):
            raise RuntimeError(f"the object gives {first}, the file {second}")
        return str(first)

    found["info"] = info
    found["agreement"] = agreement
    return found


def digest(found: Any) -> str:
    """Return a digest of whatever a reader gave, bit for bit."""
    arrays = found._arrays() if hasattr(found, "_arrays") else {}
    parts = [np.ascontiguousarray(array).tobytes() for array in arrays.values()]
    return hashlib.md5(
        b"".join(parts) + repr(found)[:10_000].encode("utf-8", "replace")
    ).hexdigest()


def _fault_of(text: str) -> str:
    """Say what is wrong with a message, nothing if it is short and printable."""
    if len(text) > 1000:
        return f"message of {len(text)} characters"
    return "" if all(letter.isprintable() for letter in text) else f"message {text[:200]!r}"


def read_one(path: Path, name: str, reader: Callable[[Path], Any]) -> dict[str, Any]:
    """Read a file; return what came out, and a fault if that is not as documented."""
    from bosaris_py.errors import BosarisError

    begin, fault = time.process_time(), ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = digest(reader(path))
        except BosarisError as error:
            outcome, fault = f"{type(error).__name__}: {error}", _fault_of(str(error))
            if "than this process may take" in str(error):
                fault = f"more memory than `max_bytes` allows: {error}"
        except Exception as error:
            outcome = fault = f"{type(error).__name__}: {error}"[:500]
    for warning in caught:
        fault = fault or _fault_of(str(warning.message))
    seconds = time.process_time() - begin
    if seconds > MOST_SECONDS:
        fault = f"{seconds:.1f} s"
    return {"file": path.name, "reader": name, "outcome": outcome, "fault": fault}


def main() -> None:
    folder, key, *only = sys.argv[1:]
    found = readers(Path(key))
    # Whatever is imported late, threads too.
    for path in sorted(Path(folder).glob("*-00000.*[!t]")):
        for name, reader in found.items():
            read_one(path, name, reader)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST_MEMORY,) * 2)
    for path in sorted(Path(folder).glob("*-?????.*")):
        if path.suffix == ".what" or (only and path.name not in only):
            continue
        # The name first, so that a crash tells of its file.
        sys.stdout.write(json.dumps({"file": path.name}) + "\n")
        sys.stdout.flush()
        for name, reader in found.items():
            sys.stdout.write(json.dumps(read_one(path, name, reader)) + "\n")


if __name__ == "__main__":
    main()
