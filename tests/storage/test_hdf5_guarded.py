"""What a file of unknown origin must not make the reader do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bosaris_py.errors import FileFormatError
from bosaris_py.storage import hdf5, mat
from bosaris_py.storage.hdf5.chunks import fletcher32
from bosaris_py.storage.hdf5.guarded import GuardedDataset, check_mask_values
from bosaris_py.storage.memory import format_bytes, machine_memory

ROWS, COLUMNS = np.array([b"m1", b"m2"]), np.array([b"s1", b"s2", b"s3"])


@pytest.fixture
def craft(tmp_path: Path) -> Callable[..., Path]:
    """Write a good file of scores, change it, and return its path."""

    def write_file(change: Callable[[Any], None]) -> Path:
        path = tmp_path / "crafted.h5"
        with h5py.File(path, "w") as file:
            file["ID/row_ids"], file["ID/column_ids"] = ROWS, COLUMNS
            file["scores"] = np.ones((2, 3))
            file["score_mask"] = np.ones((2, 3), dtype="u1")
            change(file)
        return path

    return write_file


def replace(name: str, **options: Any) -> Callable[[Any], None]:
    """Put another data set in the place of one."""

    def change(file: Any) -> None:
        del file[name]
        file.create_dataset(name, **options)

    return change


def link(name: str, target: Any) -> Callable[[Any], None]:
    """Put a link in the place of a data set or group."""

    def change(file: Any) -> None:
        file.move(name, "elsewhere")
        file[name] = target

    return change


def virtual(file: Any) -> None:
    del file["scores"]
    layout = h5py.VirtualLayout(shape=(2, 3), dtype="f8")
    layout[...] = h5py.VirtualSource("other.h5", "scores", shape=(2, 3))
    file.create_virtual_dataset("scores", layout)


def named_type(file: Any) -> None:
    del file["scores"]
    file["scores"] = np.dtype("f8")


def group(file: Any) -> None:
    del file["scores"]
    file.create_group("scores")


def enumeration(file: Any) -> None:
    del file["score_mask"]
    kind = h5py.enum_dtype({"no": 0, "yes": 1}, basetype="i1")
    file.create_dataset("score_mask", data=np.ones((2, 3), dtype="i1"), dtype=kind)


def sequences(file: Any) -> None:
    del file["scores"]
    file.create_dataset("scores", (2, 3), dtype=h5py.vlen_dtype(np.float64))


HUGE = (2**20, 2**20)

REFUSED = {
    "soft link": (link("scores", h5py.SoftLink("/elsewhere")), "soft link"),
    "external link": (link("scores", h5py.ExternalLink("/etc/passwd", "/x")), "external link"),
    "external group": (link("ID", h5py.ExternalLink("other.h5", "/ID")), "external link"),
    "soft link in a circle": (link("ID", h5py.SoftLink("/ID")), "soft link"),
    "virtual": (virtual, "is virtual"),
    "external storage": (
        replace("scores", shape=(2, 3), dtype="f8", external=[("/etc/passwd", 0, 48)]),
        "stored in another file",
    ),
    "compound": (replace("scores", shape=(2, 3), dtype=[("a", "f8")]), "of compound type"),
    "complex": (replace("scores", shape=(2, 3), dtype="c16"), "of (compound|unknown) type"),
    "opaque": (replace("scores", shape=(2, 3), dtype="V8"), "of opaque type"),
    "reference": (replace("scores", shape=(2, 3), dtype=h5py.ref_dtype), "of reference type"),
    "region": (replace("scores", shape=(2, 3), dtype=h5py.regionref_dtype), "reference type"),
    "array": (replace("scores", shape=(2, 3), dtype=("f8", (2,))), "of array type"),
    "sequences": (sequences, "of variable-length sequence type"),
    "text": (replace("scores", data=np.full((2, 3), b"1.5")), "of string type"),
    "numbers as ids": (replace("ID/row_ids", data=np.arange(2)), "must hold text"),
    "enumeration": (enumeration, "an enumeration type"),
    "long double": (replace("scores", data=np.ones((2, 3), "g")), "floats of 16 bytes"),
    "rank 3": (replace("scores", data=np.ones((1, 2, 3))), "has 3 dimensions"),
    "scalar": (replace("scores", data=1.0), r"has shape \(\)"),
    "group": (group, "is a group or a type"),
    "named type": (named_type, "is a group or a type"),
    "huge and empty": (
        replace("scores", shape=HUGE, dtype="f8", chunks=(1024, 1024)),
        r"claims 8\.8 TB, but only 0 bytes are stored",
    ),
    "huge and compressed": (
        replace("scores", shape=HUGE, dtype="f8", chunks=(1024, 1024), compression="gzip"),
        "claims",
    ),
    "huge mask": (replace("score_mask", shape=HUGE, dtype="u1", chunks=(1024, 1024)), "claims"),
    "huge ids": (replace("ID/row_ids", shape=(2**40,), dtype="S8", chunks=(1024,)), "claims"),
    "huge chunk": (
        replace("scores", shape=(2, 3), maxshape=(None, None), dtype="f8", chunks=(2**14, 2**14)),
        r"chunks of 2\.15 GB",
    ),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_refused_before_any_data_are_read(
    craft: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    change, message = REFUSED[fault]
    path = craft(change)

    def fail(*_: object, **__: object) -> None:
        pytest.fail("data were read")

    for method in ("read_numbers", "read_mask", "read_strings"):
        monkeypatch.setattr(GuardedDataset, method, fail)
    with pytest.raises(FileFormatError, match=message) as caught:
        hdf5.read("scores", path)
    assert str(path) in str(caught.value)


def test_the_good_file_of_these_tests_is_read(craft: Callable[..., Path]) -> None:
    assert hdf5.read("scores", craft(lambda _: None))["scoremat"].shape == (2, 3)


def test_limit_of_the_caller(craft: Callable[..., Path]) -> None:
    path = craft(lambda _: None)
    # 6 scores of 8 bytes; a mask as stored and as read; ids of 2 bytes six times over.
    needed = 6 * 8 + 2 * 6 + 6 * 2 * (2 + 3)
    assert hdf5.read("scores", path, max_bytes=needed)
    with pytest.raises(FileFormatError, match=r"data set `/score_mask` needs 12 bytes.*max_bytes"):
        hdf5.read("scores", path, max_bytes=needed - 1)
    with pytest.raises(FileFormatError, match="data set `/ID/row_ids`"):
        hdf5.read("scores", path, max_bytes=1)


def test_limit_is_the_memory_of_the_machine_by_default(
    craft: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bosaris_py.storage.memory.machine_memory", lambda: 200)
    monkeypatch.setattr("bosaris_py.storage.memory.HARMLESS_BYTES", 0)
    monkeypatch.setattr("bosaris_py.storage.hdf5.guarded.HARMLESS_BYTES", 0)
    with pytest.raises(FileFormatError, match=r"half of the memory of this machine.* is 100 bytes"):
        hdf5.read("scores", craft(lambda _: None))


def test_empty_data_set_may_be_as_large_as_the_caller_says(
    craft: Callable[..., Path], tmp_path: Path
) -> None:
    # A mask of zeros that was never written takes no room; with a limit that is fine.
    shape = (2**13, 2**14)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["ID/row_ids"] = np.arange(shape[0]).astype("S")
        file["ID/column_ids"] = np.arange(shape[1]).astype("S")
        file.create_dataset("trial_mask", shape, "u1", chunks=(1024, 1024))
    with pytest.raises(FileFormatError, match=r"claims 134 MB.*give `max_bytes`"):
        hdf5.read("ndx", tmp_path / "a.h5")
    assert not hdf5.read("ndx", tmp_path / "a.h5", max_bytes=2**29)["trialmask"].any()


def test_one_long_string_cannot_blow_up_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        ids = np.array(["x" * 16_000] + ["a"] * 25_000, dtype=object)
        for name in ("left_ids", "right_ids"):
            file.create_dataset(name, data=ids, dtype=h5py.string_dtype())
    # As an array of fixed width: 16 kB for each of 25001 ids, and four times that as text.
    with pytest.raises(FileFormatError, match="an array of ids needs 2 GB"):
        hdf5.read("id_map", path, max_bytes=10**9)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        # The library would allocate 3.2 GB before it finds the first fault, and would not
        # come back from the third.
        ("length", b"\xc0", "a string of 32212254[0-9]* bytes in a file of 12208"),
        ("address", b"\x77", "no heap of strings at"),
        ("object", b"\x63\0\0", "no string of [0-9]+ bytes where one should be"),
        ("heap size", b"\x88", "a heap of [0-9]+ bytes in a file of 12208"),
        ("number", b"\x42", "no string of [0-9]+ bytes where one should be"),
        ("object size", b"\xff", "a string of [0-9]+ bytes that ends behind its heap"),
    ],
)
def test_damaged_strings_of_variable_length(
    samples: Path, tmp_path: Path, place: str, value: bytes, message: str
) -> None:
    data = bytearray((samples / "key_ids_vlen.h5").read_bytes())
    with h5py.File(samples / "key_ids_vlen.h5") as file:
        element = file["ID/column_ids"].id.get_offset()
    heap = int.from_bytes(data[element + 4 : element + 12], "little")
    where = {
        "length": element + 3,
        "address": element + 4,
        "object": element + 12,
        "heap size": heap + 8 + 6,
        # Of the first object of the heap, an id of the models, and of its first column.
        "number": heap + 16,
        "object size": heap + 16 + 8 + 2,
    }[place]
    data[where : where + len(value)] = value
    path = tmp_path / "a.h5"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=message):
        hdf5.read("key", path)


def test_unknown_compression_of_strings_of_variable_length(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for name in ("left_ids", "right_ids"):
            data = np.array(["a", "b"], dtype=object)
            file.create_dataset(name, data=data, dtype=h5py.string_dtype(), compression="lzf")
    with pytest.raises(FileFormatError, match="compressed with filter 32000"):
        hdf5.read("id_map", path)


def test_compression_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = ROWS, COLUMNS
        data = np.ones((2, 3), dtype="u1")
        file.create_dataset("trial_mask", data=data, compression="lzf")
    monkeypatch.setattr(h5py.h5z, "filter_avail", lambda code: False)
    with pytest.raises(FileFormatError, match=r"filter 32000 \('lzf'\), which this installation"):
        hdf5.read("ndx", path)


def test_bytes_that_are_no_bool_do_not_become_one(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = ROWS, COLUMNS
        file["trial_mask"] = np.ones((2, 3), dtype=bool)
        place = file["trial_mask"].id.get_offset()
    with path.open("rb+") as stream:
        stream.seek(place + 4)
        stream.write(b"\x02")
    with pytest.raises(FileFormatError, match=r"1 of 6 values are others \(2\).*\(1, 1\)"):
        hdf5.read("ndx", path)


def test_damage_found_while_reading_is_chained(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["ID/row_ids"], file["ID/column_ids"] = ROWS, COLUMNS
        data = np.ones((2, 3), dtype="u1")
        file.create_dataset("trial_mask", data=data, chunks=(2, 3), fletcher32=True)
        place = file["trial_mask"].id.get_chunk_info(0).byte_offset
    with path.open("rb+") as stream:
        stream.seek(place)
        stream.write(b"\x00")
    with pytest.raises(FileFormatError, match="damaged, truncated") as caught:
        hdf5.read("ndx", path)
    assert isinstance(caught.value.__cause__, OSError)


def test_files_are_closed_after_errors(craft: Callable[..., Path]) -> None:
    path = craft(link("scores", h5py.SoftLink("/elsewhere")))
    with pytest.raises(FileFormatError):
        hdf5.read("scores", path)
    # An open file could not be opened for writing.
    with h5py.File(path, "r+"):
        pass


def test_sizes_in_words() -> None:
    sizes = [0, 999, 1000, 123_456, 8.8e12, 1e18]
    words = ["0 bytes", "999 bytes", "1 kB", "123 kB", "8.8 TB", "1e+03 PB"]
    assert [format_bytes(int(size)) for size in sizes] == words


def test_memory_of_the_machine_where_it_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: str) -> int:
        raise ValueError

    assert machine_memory() > 2**20
    monkeypatch.setattr("os.sysconf", fail)
    assert machine_memory() == 2**34


def put(name: str, target: Any) -> Callable[[Any], None]:
    """Put a link under a name that the reader does not use."""

    def change(file: Any) -> None:
        file[name] = target

    return change


def unused_virtual(file: Any) -> None:
    layout = h5py.VirtualLayout(shape=(2, 3), dtype="f8")
    layout[...] = h5py.VirtualSource("other.h5", "scores", shape=(2, 3))
    file.create_virtual_dataset("notes/virtual", layout)


def unused_external_storage(file: Any) -> None:
    options = {"shape": (2, 3), "dtype": "f8", "external": [("/etc/passwd", 0, 48)]}
    file.create_dataset("ID/notes/table", **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("notes", h5py.ExternalLink("/etc/passwd", "/x")), "`/notes` is .* external link"),
        (put("ID/notes", h5py.ExternalLink("a.h5", "/x")), "`/ID/notes` is .* external link"),
        (put("a/b/c/notes", h5py.SoftLink("/scores")), "`/a/b/c/notes` is .* soft link"),
        (put("notes", h5py.SoftLink("/nowhere")), "`/notes` is .* soft link"),
        (unused_virtual, "`/notes/virtual` is virtual"),
        (unused_external_storage, "`/ID/notes/table` is stored in another file"),
    ],
)
def test_what_leads_out_of_the_file_is_refused_even_if_unused(
    craft: Callable[..., Path], change: Callable[[Any], None], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        hdf5.read("scores", craft(change))


def test_what_leads_out_of_a_matlab_file_is_refused_too(
    tmp_path: Path, contents: dict[str, Any], write_mat73: Callable[..., None]
) -> None:
    path = tmp_path / "a.mat"
    write_mat73(path, "scr", contents["scores"])
    assert mat.read("scores", path)
    with h5py.File(path, "r+") as file:
        file["#refs#/notes"] = h5py.ExternalLink("/etc/passwd", "/x")
    with pytest.raises(FileFormatError, match="external link"):
        mat.read("scores", path)


def test_plain_objects_that_the_reader_does_not_use_are_no_fault(
    craft: Callable[..., Path],
) -> None:
    def change(file: Any) -> None:
        file["notes/table"] = np.zeros(3, dtype=[("a", "f8"), ("b", "i4")])
        file["notes/type"] = np.dtype("f8")
        # A circle, and another name for the same group.
        file["notes/again"] = file["/"]
        file["more"] = file["notes"]

    assert hdf5.read("scores", craft(change))["scoremat"].shape == (2, 3)


def test_number_of_objects_is_limited(
    craft: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = craft(lambda file: file.create_group("a/b"))
    # ID with its two lists, scores, score_mask, a and b.
    monkeypatch.setattr("bosaris_py.storage.hdf5.guarded._MOST_OBJECTS", 7)
    assert hdf5.read("scores", path)
    for limit in (1, 6):
        monkeypatch.setattr("bosaris_py.storage.hdf5.guarded._MOST_OBJECTS", limit)
        with pytest.raises(FileFormatError, match=f"more than {limit} objects"):
            hdf5.read("scores", path)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.float64])
@pytest.mark.parametrize("value", [-128, -2, 2, 127])
def test_labels_beyond_one_are_refused(dtype: type, value: int) -> None:
    labels = np.array([[1, -1, 0], [0, value, 1]], dtype=dtype)
    with pytest.raises(FileFormatError, match=rf"1 of 6 .* \({value}\S*\), the first at \(1, 1\)"):
        check_mask_values(labels, "here", signed=True)


@pytest.mark.parametrize("size", [1, 2, 1000, 131_069, 131_070, 131_075, 400_001])
def test_checksum_is_that_of_the_library(size: int, tmp_path: Path) -> None:
    """Of more than 65535 words the weights begin again, modulo 65535."""
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    with h5py.File(tmp_path / "sum.h5", "w") as file:
        stored = file.create_dataset("x", data=data, chunks=(size,), fletcher32=True)
        file.flush()
        _, chunk = stored.id.read_direct_chunk((0,))
    assert chunk[:-4] == data.tobytes()
    assert fletcher32(data.tobytes()) == int.from_bytes(chunk[-4:], "little")
