"""Files with cut ends and flipped bits: an error or an object, never anything else."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from bosaris_py.errors import FileFormatError

Arrays = dict[str, np.ndarray]
Reader = Callable[..., Arrays]

KIND_OF = {
    "ndx": "ndx",
    "key": "key",
    "scores": "scores",
    "quality": "quality_measures",
    "seg": "segment_quality",
    "id": "id_map",
}


def kind_of(path: Path) -> str:
    return KIND_OF[path.stem.split("_")[0]]


@pytest.fixture(scope="module")
def originals(
    samples: Path,
    contents: dict[str, Arrays],
    write_mat73: Callable[..., None],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, list[Path]]:
    """The samples by extension, and a file of MATLAB's version 7.3."""
    folder = tmp_path_factory.mktemp("originals")
    write_mat73(folder / "scores_73.mat", "scr", contents["scores"])
    write_mat73(folder / "key_73.mat", "key", contents["key"])
    found = sorted([*samples.iterdir(), *folder.iterdir()])
    return {end: [p for p in found if p.suffix == end] for end in (".h5", ".mat", ".txt")}


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Cut the end off, flip some bits, or overwrite some bytes."""
    changed = bytearray(data)
    what = rng.random()
    if what < 0.2:
        return data[: rng.integers(len(data))]
    if what < 0.8:
        for place in rng.integers(len(data), size=rng.choice([1, 1, 2, 8])):
            changed[place] ^= 1 << int(rng.integers(8))
        return bytes(changed)
    begin = int(rng.integers(len(data)))
    rubbish = rng.bytes(int(rng.integers(1, 64)))
    changed[begin : begin + len(rubbish)] = rubbish
    return bytes(changed)


def attempts(
    extension: str, originals: dict[str, list[Path]], folder: Path, count: int, seed: int
) -> Iterator[tuple[Path, str]]:
    """Write damaged files one after the other."""
    rng = np.random.default_rng(seed)
    path = folder / f"damaged{extension}"
    for _ in range(count):
        original = originals[extension][rng.integers(len(originals[extension]))]
        path.write_bytes(damaged(original.read_bytes(), rng))
        yield path, kind_of(original)


@pytest.mark.filterwarnings("ignore:.*(there is no line|the last line has no end|start and stop)")
@pytest.mark.filterwarnings("ignore::bosaris_py.errors.OldFormatWarning")
@pytest.mark.parametrize(
    "count", [400, pytest.param(20_000, marks=pytest.mark.slow)], ids=["some", "many"]
)
@pytest.mark.parametrize("extension", [".h5", ".mat", ".txt"])
def test_damage_is_an_error_or_harmless(
    extension: str, count: int, originals: dict[str, list[Path]], read: Reader, tmp_path: Path
) -> None:
    refused = 0
    for path, kind in attempts(extension, originals, tmp_path, count, seed=count):
        try:
            arrays = read(path, kind)
        except FileFormatError:
            refused += 1
            continue
        # What is read keeps the promises of the readers: masks hold only 0 and 1.
        for array in arrays.values():
            assert not array.flags.writeable
            if array.dtype == bool:
                assert array.view(np.uint8).max(initial=0) <= 1
    # The damage is real: many files are refused. Most bytes of the small HDF5 files are
    # padding, so the others are read.
    assert refused > 0.2 * count


@pytest.mark.filterwarnings("ignore::bosaris_py.errors.OldFormatWarning")
@pytest.mark.parametrize("extension", [".h5", ".mat"])
def test_truncation_is_noticed(
    extension: str,
    originals: dict[str, list[Path]],
    read: Reader,
    assert_same: Callable[[Arrays, Arrays], None],
    tmp_path: Path,
) -> None:
    path = tmp_path / f"cut{extension}"
    for original in originals[extension]:
        data = original.read_bytes()
        whole = read(original, kind_of(original))
        # Many lengths, and the last one, at which only padding is missing.
        for length in [*range(0, len(data), 97), len(data) - 1]:
            path.write_bytes(data[:length])
            try:
                found = read(path, kind_of(original))
            except FileFormatError:
                continue
            assert_same(found, whole)
