r"""Read and write all kinds of objects as HDF5.

Written files have exactly the toolkit's data sets and types, so MATLAB reads them:

========================  =======================================  ======================
object                    data sets                                types
========================  =======================================  ======================
`Ndx`                     ``/trial_mask``                          uint8 0, 1
`Key`                     ``/trial_mask``, ``/file_format``        int8 1, -1, 0; ``"2.0"``
`Scores`                  ``/scores``, ``/score_mask``             float32 or 64; uint8
`QualityMeasures`         ``/modelQ``, ``/segQ``, ``/score_mask``  float64; uint8
\                         ``/ID/has_row``, ``/ID/has_column``      uint8 0, 1
the four above            ``/ID/row_ids``, ``/ID/column_ids``      strings
`SegmentQuality`          ``/values``, ``/ids``                    float64; strings
`IdMap`                   ``/left_ids``, ``/right_ids``            strings
========================  =======================================  ======================

Rows are models and columns are segments, as h5dump shows them. Ids are strings of fixed length,
null-terminated, ASCII (UTF-8 if they are not ASCII). The root has the attributes ``format`` (such
as ``bosaris_py.scores``), ``format_version`` and ``created_by``. Each data set is stored in chunks
with HDF5's own checksum (Fletcher32); masks and positions are compressed with gzip. Equal content
gives equal files.

Lists of trials have a layout of this package's own: the ids as above, ``/trials/models`` and
``/trials/segments`` (integers: positions from 0 in the ids), and ``/trials/is_target`` (uint8) or
``/trials/scores``, with one element for each trial. A key with columns has the same and these:

====================================  =================================================
data set                              content
====================================  =================================================
``/columns/<kind>/names``             strings: names of the columns, in their order
``/columns/<kind>/<i>/codes``         unsigned integers: positions in the levels
``/columns/<kind>/<i>/levels``        strings: the categories
``/columns/<kind>/<i>/values``        integers or floats: of a column that is measured
====================================  =================================================

``<kind>`` is ``trial``, ``model`` or ``segment``, and ``<i>`` the number of the column from 0.

Reading takes strings of fixed and variable length, masks of any integer, boolean or float type, and
scores of any real type; float32 stays float32. A row or column may be stored as a vector. Links out
of the file, data in other files, and sizes beyond the memory are refused before data are read.
"""

import contextlib
import functools
import math
import os
import posixpath
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import h5py
import numpy as np

from bosaris_py import __version__, errors
from bosaris_py._arrays import AnyArray, FilePath, StrArray, mark_read_only
from bosaris_py._validation import as_path, list_some, safe
from bosaris_py.errors import FileFormatError, InvalidInputError, Note
from bosaris_py.files.replacing import FULL_DISK, replacing

FORMAT_VERSION = "1.0"

# What h5py, which has no types, gives: files, groups, data sets and their identifiers.
H5 = Any
# Of a column: positions in levels, and the levels; or numbers.
StoredColumn = tuple[AnyArray, StrArray] | AnyArray
# Rows of a matrix, their scores, and which of these hold.
Rows = tuple[slice, AnyArray, AnyArray]
# Arguments of the constructor of the class that was read, by name.
Arrays = dict[str, Any]


# What files hold.


class Field(NamedTuple):
    """Content of an argument of a class, its dimensions, and the names of its data set.

    Dimensions are letters: m models, n segments, k trials, q quality measures. The first name is
    written; a reader takes the first that it finds.
    """

    content: str
    dims: str
    names: tuple[str, ...]


# The toolkit; SIDEKIT, one release of which misspelt the segments; PyBOSARIS; DCA-PLDA.
_MODELS = ("ID/row_ids", "modelset", "model_names", "enroll_ids", "train_ids")
_SEGMENTS = ("ID/column_ids", "segset", "segest", "test_names", "test_ids")

# In the order in which they are written.
FIELDS = {
    "trialmask": Field("mask", "mn", ("trial_mask",)),
    # Of a key: 1 for targets, -1 for non-targets, 0 for no trial.
    "labels": Field("labels", "mn", ("trial_mask",)),
    "modelQ": Field("numbers", "qm", ("modelQ",)),
    "segQ": Field("numbers", "qn", ("segQ",)),
    "scoremat": Field("numbers", "mn", ("scores", "score_mat")),
    "scoremask": Field("mask", "mn", ("score_mask",)),
    "values": Field("numbers", "qn", ("values",)),
    "ids": Field("ids", "n", ("ids",)),
    "modelset": Field("ids", "m", _MODELS),
    "segset": Field("ids", "n", _SEGMENTS),
    "hasmodel": Field("mask", "m", ("ID/has_row", "hasmodel")),
    "hasseg": Field("mask", "n", ("ID/has_column", "hasseg")),
    "models": Field("positions", "k", ("trials/models",)),
    "segments": Field("positions", "k", ("trials/segments",)),
    "is_target": Field("mask", "k", ("trials/is_target",)),
    "scores": Field("numbers", "k", ("trials/scores",)),
    "leftids": Field("ids", "n", ("left_ids", "leftids")),
    "rightids": Field("ids", "n", ("right_ids", "rightids")),
    # Never written so: the toolkit's first format of keys had two masks.
    "tar": Field("mask", "mn", ("target_mask", "tar_mask")),
    "non": Field("mask", "mn", ("nontarget_mask", "non_mask")),
}


class Kind(NamedTuple):
    """A class of objects: its fields in the order of the toolkit's structs, and their variable.

    A file is recognised by a field, the sign. The variable is empty if no MATLAB file holds any.
    """

    class_name: str
    sign: str
    fields: tuple[str, ...]
    variable: str = ""


IDS = ("modelset", "segset")
# All true where a file of another program lacks them.
MASKS = ("hasmodel", "hasseg", "scoremask")
_TRIALS = (*IDS, "models", "segments")

# In the order in which they are looked for.
KINDS = {
    "flat_key": Kind("Key", "is_target", (*_TRIALS, "is_target")),
    "flat_scores": Kind("Scores", "scores", (*_TRIALS, "scores")),
    "flat_ndx": Kind("Ndx", "models", _TRIALS),
    "key": Kind("Key", "tar", (*IDS, "tar", "non"), "key"),
    "ndx": Kind("Ndx", "trialmask", (*IDS, "trialmask"), "ndx"),
    "scores": Kind("Scores", "scoremat", ("scoremat", *IDS, "scoremask"), "scr"),
    "segment_quality": Kind("SegmentQuality", "values", ("ids", "values"), "qual"),
    "quality_measures": Kind("QualityMeasures", "modelQ", ("modelQ", "segQ", *IDS, *MASKS), "qual"),
    "id_map": Kind("IdMap", "leftids", ("leftids", "rightids"), "idmap"),
}
COLUMN_KINDS = ("trial", "model", "segment")


def refuse_newer(where: str, version: object) -> None:
    """Refuse a later version of a format than 1, the one that there is."""
    if str(version).split(".")[0] != "1":
        text = f"is {version!r}, this installation reads {FORMAT_VERSION}; update bosaris_py"
        raise FileFormatError(f"{where} {text}")


def fit(dims: str, shape: tuple[int, ...], sizes: dict[str, int]) -> str:
    """Take the extents of dimensions that no field had before; return what is wrong with others."""
    count = math.prod(shape)
    # One measure of many ids, or many measures of one id, may be a vector.
    each = count // max(1, math.prod(sizes.get(dim, 1) for dim in dims))
    for dim, extent in zip(dims, shape if len(shape) == len(dims) else [each] * 2, strict=False):
        sizes.setdefault(dim, extent)
    wanted = tuple(sizes[dim] for dim in dims)
    if [n for n in shape if n != 1] == [n for n in wanted if n != 1] or count == 0 in wanted:
        return ""
    swapped = ". Models and segments look swapped" if shape == wanted[::-1] else ""
    return f"has shape {shape}; the ids before it ask for {wanted}{swapped}"


def as_mask(stored: AnyArray, where: str, least: int = 0) -> AnyArray:
    """Turn numbers 0 and 1 into a read-only mask; if -1 is the least, into labels of int8.

    The toolkit takes any number above 0.5 as true, and below -0.5 as non-target.
    """
    low, high = stored.min(initial=0), stored.max(initial=0)
    is_whole = stored.dtype.kind in "biu" or np.isin(stored, (-1, 0, 1)).all()
    if not (is_whole and least <= low and high <= 1):
        text = f"must hold whole numbers from {least} to 1; got {low} to {high}"
        raise FileFormatError(f"{where} {text}")
    wanted = np.int8 if least else np.bool_
    return mark_read_only(stored.view(wanted) if stored.itemsize == 1 else stored.astype(wanted))


# Reading: data sets.

# What data sets may hold, in kinds of numpy's types; O are strings of any length.
_TYPES = {"ids": "SO", "positions": "iu", "mask": "biuf", "labels": "if", "any": "biufO"}
# The filters that are known by their number, and the orders in which other programs have them:
# shuffle, gzip, lzf, Fletcher32.
_FILTERS = {2: "s", 1: "g", 32000: "l", 3: "f"}
_ORDERS = re.compile("f?s?f?[gl]?f?")


def half_of_memory() -> int:
    """Return half of the memory that the machine and its container allow."""
    limits = []
    # Control groups say "max" where there is no limit.
    with contextlib.suppress(AttributeError, ValueError, OSError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        limits.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(limits, default=2**34) // 2


@contextlib.contextmanager
def opened(path: FilePath, max_bytes: int | None = None) -> "Iterator[Source]":
    """Open a file for reading; whatever goes wrong is a FileFormatError or an OSError.

    `max_bytes` limits the memory of what is read; None stands for `half_of_memory`.
    """
    place = as_path(path)
    place.open("rb").close()
    try:
        # Readers on network folders must not fail for want of a lock. No chunk is read twice.
        with h5py.File(place, "r", locking="best-effort", rdcc_nbytes=0) as file:
            yield Source(place, file, half_of_memory() if max_bytes is None else max_bytes)
    except errors.BosarisError:
        raise
    # h5py maps the faults of a damaged file to a dozen built-in exceptions.
    except Exception as error:
        text = "damaged, no HDF5 (MATLAB's files end in .mat), or open elsewhere for writing"
        raise FileFormatError(f"{path}: {text} ({safe(error, 300)})") from error


@attrs.define(eq=False)
class Source:
    """An open file, of which only plain data sets inside it are read, within so much memory."""

    path: Path
    file: H5
    # Bytes that may still be read.
    room: int

    def error(self, name: str, text: str) -> FileFormatError:
        """Return an error about the data set `name`."""
        return FileFormatError(f"{self.path}: data set `/{safe(name)}` {text}")

    def find(self, name: str, most_links: int = 16) -> H5:
        """Return the object of a path, None if there is none; raise if a link leaves the file."""
        place = self.file
        for part in posixpath.normpath(name).strip("/").split("/"):
            match place.get(part, getlink=True) if hasattr(place, "keys") else None:
                case None:
                    return None
                case h5py.SoftLink(path=path) if most_links:
                    place = self.find(posixpath.join(place.name, path), most_links - 1)
                case h5py.HardLink():
                    place = place[part]
                case _:
                    raise self.error(name, "is reached by a link out of the file, or in a circle")
        return place

    def name_of(self, field: str) -> str | None:
        """Return the first name of a field that the file has, None if there is none."""
        return next((name for name in FIELDS[field].names if self.find(name) is not None), None)

    def attribute(self, name: str, place: H5 | None = None) -> str:
        """Return a text attribute of the root or another object, empty if there is none."""
        value = (self.file if place is None else place).attrs.get(name)
        return value.decode(errors="replace") if type(value) is np.bytes_ else ""

    @property
    def is_ours(self) -> bool:
        """Whether this package has written the file."""
        return self.attribute("format").startswith("bosaris_py.")

    @functools.cached_property
    def kinds(self) -> list[str]:
        """The kinds of `KINDS` that the file may hold."""
        found = [name for name, kind in KINDS.items() if self.name_of(kind.sign)]
        if "ndx" in found:
            # The toolkit's Ndx has the data set of its Key, where labels are of a type for -1.
            is_key = self.find("file_format") is not None
            may_be_key = is_key or self.data_set("trial_mask", "mask").data.dtype.kind in "if"
            at = found.index("ndx")
            found[at : at + 1] = ["key"] * may_be_key + ["ndx"] * (not is_key)
        # Lists with labels or scores are no lists alone.
        return found if found[1:2] != ["flat_ndx"] else [found[0], *found[2:]]

    @property
    def holds(self) -> str:
        """What the file holds, for an error."""
        return KINDS[self.kinds[0]].class_name if self.kinds else list_some(self.file) or "nothing"

    def has_times(self, name: str) -> bool:
        """Tell whether there are times, of which SIDEKIT writes -1 where there is none."""
        kind = getattr(getattr(self.find(name), "dtype", None), "kind", "")
        return kind in ("i", "f") and bool((self.data_set(name, "any").check().read() != -1).any())

    def data_set(self, name: str, content: str, found: H5 | None = None) -> "DataSet":
        """Return a plain data set of a content of `_TYPES`, unread."""
        found = self.find(name) if found is None else found
        if getattr(found, "shape", None) is None or found.is_virtual or found.external:
            raise self.error(name, "is missing, or no plain data set in this file")
        shape, dtype = found.shape, found.dtype
        # Numbers of other bits, which damage makes, would be converted.
        is_plain = dtype.kind not in "iuf" or found.id.get_type().equal(h5py.h5t.py_create(dtype))
        types = _TYPES.get(content, "iuf")
        if not is_plain or dtype.kind not in types or len(shape) not in (1, 2):
            raise self.error(name, f"cannot hold {content}: it has type {dtype}, shape {shape}")
        made = found.id.get_create_plist()
        codes = [made.get_filter(number)[0] for number in range(made.get_nfilters())]
        filters = "".join(_FILTERS.get(code, "?") for code in codes)
        if not _ORDERS.fullmatch(filters):
            raise self.error(name, "is packed otherwise than by gzip or lzf; use gzip")
        chunks: list[h5py.h5d.StoreInfo] = []
        if found.chunks:
            found.id.chunk_iter(chunks.append)
        return DataSet(self, name, content, found, filters, chunks)

    def claim(self, name: str, needed: int) -> None:
        """Refuse more bytes than may still be read."""
        self.room -= needed
        if self.room < 0:
            raise self.error(name, "needs more memory than `max_bytes`, or half of what there is")


@attrs.frozen(eq=False)
class DataSet:
    """A plain data set of numbers or text, of one or two dimensions."""

    source: Source
    name: str
    content: str
    data: H5
    # A letter of `_FILTERS` for each; places and sizes of the chunks that are stored.
    filters: str
    chunks: list[h5py.h5d.StoreInfo]

    @property
    def is_unpacked_here(self) -> bool:
        """Whether these are rows of numbers that gzip packed, which are unpacked only once."""
        is_all = self.filters in ("g", "gf") and not any(c.filter_mask for c in self.chunks)
        is_rows = is_all and self.data.chunks[1:] == self.data.shape[1:]
        return bool(is_rows and self.data.dtype.kind in "iuf")

    def check(self, *, whole: bool = True) -> "DataSet":
        """Refuse more than fits into memory, and chunks that do not unpack to their size.

        At their size the library never looks: what it reads behind the end of a short one crashes
        it, or is what the memory held before.
        """
        size, n_cells = self.data.dtype.itemsize, self.data.size * whole
        # Ids take four bytes for each character, and numbers room to be looked at.
        each = {"ids": 6 * size, "numbers": 8}.get(self.content, 2 * size)
        self.source.claim(self.name, max(n_cells * each, math.prod(self.data.chunks or ()) * size))
        for chunk in [] if self.is_unpacked_here else self.chunks:
            self._unpack(chunk)
        return self

    def _unpack(self, chunk: h5py.h5d.StoreInfo) -> bytes:
        """Return what gzip packed; refuse what has not the size of a chunk."""
        # A chunk that does not shrink may be stored without some filters.
        used = "".join(x for i, x in enumerate(self.filters) if not chunk.filter_mask >> i & 1)
        # Of a string of any length, length, address and number are stored.
        stored = self.data.dtype
        item = 16 if (self.content, stored.kind) == ("ids", "O") else stored.itemsize
        size, packing, data = chunk.size, used.strip("sf"), b""
        wanted = math.prod(self.data.chunks) * item + 4 * used.count("f")
        if packing:
            checksum = 4 * used.endswith("f")
            wanted -= checksum
            data = self.data.id.read_direct_chunk(chunk.chunk_offset)[1][: size - checksum]
            if packing == "l":
                size = _size_of_lzf(data, wanted)
            else:
                stream = zlib.decompressobj()
                data = stream.decompress(data, wanted + 1)
                size = len(data) if stream.eof else -1
        if size != wanted:
            raise self.source.error(self.name, "has chunks that do not unpack to their size")
        return data

    def read(self, rows: slice = slice(None)) -> AnyArray:
        """Return all elements, or some rows: ids, masks, labels, or numbers; all read-only."""
        found = mark_read_only(self._ids() if self.content == "ids" else self._numbers(rows))
        least, where = {"mask": 0, "labels": -1}.get(self.content), f"data set `/{self.name}`"
        return found if least is None else as_mask(found, f"{self.source.path}: {where}", least)

    def _numbers(self, rows: slice) -> AnyArray:
        """Return rows; scores become float32 or float64."""
        kind: np.dtype[np.generic] = self.data.dtype.newbyteorder("=")
        if self.content == "numbers":
            kind = np.dtype(np.float32 if kind.kind == "f" and kind.itemsize <= 4 else np.float64)
        start, stop, _ = rows.indices(self.data.shape[0])
        shape = stop - start, *self.data.shape[1:]
        if not self.is_unpacked_here:
            # The library leaves what was never written as it is.
            out = np.zeros(shape, kind)
            if out.size:
                self.data.read_direct(out, np.s_[start:stop])
            # A damaged file can hold what numpy's bool must not.
            return out.view(np.uint8) if out.dtype == np.bool_ else out
        out, sizes = np.full(shape, self.data.fillvalue, kind), self.data.chunks
        for chunk in self.chunks:
            top = chunk.chunk_offset[0] - start
            if -sizes[0] < top < len(out):
                part = np.frombuffer(self._unpack(chunk), self.data.dtype).reshape(sizes)
                place = out[max(top, 0) : top + sizes[0]]
                place[...] = part[max(-top, 0) :][: len(place)]
        return out

    def _ids(self) -> StrArray:
        """Return all ids as a vector of str."""
        if self.data.dtype.kind == "O":
            texts = [bytes(item or b"") for item in np.ravel(self.data[()])]
            # Each takes the room of the longest.
            self.source.claim(self.name, 4 * len(texts) * max(map(len, texts), default=0))
            return as_text(texts)
        # A longer type makes the library end each id where its padding begins.
        kind, size = self.data.id.get_type().copy(), self.data.dtype.itemsize + 1
        kind.set_size(size)
        kind.set_strpad(h5py.h5t.STR_NULLTERM)
        encoded = np.zeros(self.data.shape, dtype=f"S{size}")
        if encoded.size:
            self.data.id.read(h5py.h5s.ALL, h5py.h5s.ALL, encoded, mtype=kind)
        return as_text(encoded.ravel().tolist())


def as_text(encoded: Iterable[bytes]) -> StrArray:
    """Return UTF-8 as text; raise `UnicodeDecodeError` if it is none."""
    return np.array([each.decode() for each in encoded], np.str_)


def _size_of_lzf(packed: bytes, wanted: int) -> int:
    """Return how many bytes a packed chunk has, or a few more than wanted; -1 of half a one."""
    # A byte below 32 stands before that many bytes and one; others, with one or two more, before a
    # copy of bytes that were before.
    place = found = 0
    while place < len(packed) and found <= wanted:
        head, length = packed[place], packed[place] >> 5
        if length == 7:
            place, found = place + 1, found + sum(packed[place + 1 : place + 2])
        found += length + 2 if length else head + 1
        place += 2 if length else head + 2
    return found if place == len(packed) else -1


# Reading: objects.


def read(kind: str, path: FilePath, *, max_bytes: int | None = None) -> tuple[Arrays, list[Note]]:
    """Read the arrays of an object of a kind of `KINDS`, and notes on its layout.

    A key comes as `labels`, or as the masks `tar` and `non` of an old layout; a list of trials
    with its `columns`, if it has any.
    """
    arrays: Arrays = {}
    with opened(path, max_bytes) as source:
        # A list is too sparse for a matrix.
        kind = f"flat_{kind}" if f"flat_{kind}" in source.kinds else kind
        found, sizes = find_fields(source, kind)
        for name, data_set in found.items():
            dims = _dims_of(name, found)
            array = data_set.check().read().reshape([sizes[dim] for dim in dims])
            arrays[name] = array if dims == FIELDS[name].dims else array.T
        notes = [*notes_of_layout(path, kind, found)]
        if source.find("columns/trial/names") is not None:
            arrays["columns"] = {each: _read_columns(source, each) for each in COLUMN_KINDS}
        if kind == "id_map" and any(map(source.has_times, ("start", "stop"))):
            notes.append(note_of_times(path))
        is_told = source.is_ours or source.find("file_format") is not None
    for name in {*MASKS}.intersection(KINDS[kind].fields).difference(arrays):
        arrays[name] = mark_read_only(np.ones([sizes[dim] for dim in FIELDS[name].dims], bool))
    labels = arrays.get("labels", np.empty(0))
    if not is_told and labels.min(initial=0) == 0 < labels.max(initial=0):
        text = f"{path}: all trials are targets. Is it an Ndx?"
        advice = "Ndx.read and read_trials read trials without labels; the key is another file."
        notes.append(Note(errors.BosarisWarning, text, advice=advice))
    return arrays, notes


def find_fields(source: Source, kind: str) -> tuple[dict[str, DataSet], dict[str, int]]:
    """Find the data sets of an object, and the extent of each dimension; check types and shapes."""
    if source.is_ours:
        version = source.attribute("format_version") or FORMAT_VERSION
        refuse_newer(f"{source.path}: the attribute format_version", version)
    if kind not in source.kinds:
        wanted = KINDS[kind].class_name
        raise FileFormatError(f"{source.path}: expected {wanted}; the file holds {source.holds}")
    names = KINDS[kind].fields
    if kind == "key" and source.name_of("tar") is None:
        names = (*IDS, "labels")
    found: dict[str, DataSet] = {}
    sizes: dict[str, int] = {}
    # The ids tell the extents of all others.
    for name in sorted(names, key=lambda name: FIELDS[name].content != "ids"):
        if (place := source.name_of(name)) is not None:
            made = found[name] = source.data_set(place, FIELDS[name].content)
            if fault := fit(_dims_of(name, found), made.data.shape, sizes):
                raise source.error(place, fault)
        elif source.is_ours or name not in MASKS:
            raise source.error(FIELDS[name].names[0], "is missing")
    return found, sizes


def _dims_of(name: str, found: Mapping[str, DataSet]) -> str:
    """Return the dimensions of a field: SIDEKIT's quality measures lie in columns."""
    dims, models = FIELDS[name].dims, found.get("modelset")
    is_turned = "q" in dims and models is not None and models.name == "modelset"
    return dims[::-1] if is_turned else dims


def _read_columns(source: Source, where: str) -> dict[str, StoredColumn]:
    """Read all columns of one kind."""
    columns: dict[str, StoredColumn] = {}
    names = source.data_set(f"columns/{where}/names", "ids").check().read().tolist()
    for number, name in enumerate(names):
        place = f"columns/{where}/{number}"
        is_factor = source.find(f"{place}/codes") is not None
        end, content = ("codes", "positions") if is_factor else ("values", "any")
        columns[name] = values = source.data_set(f"{place}/{end}", content).check().read()
        if is_factor:
            columns[name] = values, source.data_set(f"{place}/levels", "ids").check().read()
    return columns


def note_of_times(path: FilePath) -> Note:
    """Say that an `IdMap` keeps no times, which files of SIDEKIT and its relatives have."""
    text = f"{path}: start and stop of the segments are left out: an IdMap has pairs of ids."
    return Note(errors.BosarisWarning, text)


def notes_of_layout(path: FilePath, kind: str, found: Mapping[str, DataSet]) -> tuple[Note, ...]:
    """Return a note if a key comes as two masks, or scores come without a mask."""
    text = "a key in the old layout with two masks" if "tar" in found else ""
    if kind == "scores" and "scoremask" not in found:
        text = "the file does not say which scores are valid; taking all as valid"
    return (Note(errors.BosarisWarning, f"{path}: {text}"),) if text else ()


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file, by the file's own word, else by its data sets."""
    with opened(path) as source:
        if not source.kinds:
            text = f"no object of the toolkit, but {source.holds} (from Octave: save -v7)"
            raise FileFormatError(f"{path}: {text}")
        return source.kinds[0]


def is_list(path: FilePath) -> bool:
    """Tell whether a file holds a list of trials, which fits into memory."""
    return kind_of(path).startswith("flat_")


# Writing.

# Chunks are rows of about so many bytes, and of lists so many trials, that they can be read alike.
_CHUNK_BYTES, _CHUNK_TRIALS = 2**20, 2**17
# Below this size compressed data take more bytes than plain ones.
_COMPRESS_FROM = 2**12


def write(kind: str, path: FilePath, **arrays: Any) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step.

    Of a key with columns, whose kind is trial_metadata, `labels` are the matrix for the toolkit.
    """
    stored: dict[str, AnyArray] = {}
    for name in filter(arrays.__contains__, FIELDS):
        is_double = "q" in FIELDS[name].dims
        stored[FIELDS[name].names[0]] = np.asarray(arrays[name], np.float64 if is_double else None)
    if "labels" in arrays:
        # By this the toolkit tells a key from a trial list.
        stored["file_format"] = np.array(["2.0"])
    for side, table in arrays.get("columns", {}).items():
        stored[f"columns/{side}/names"] = np.array(list(table), dtype=np.str_)
        for number, column in enumerate(table.values()):
            where = f"columns/{side}/{number}"
            if type(column) is tuple:
                stored[f"{where}/codes"], stored[f"{where}/levels"] = column
            else:
                stored[f"{where}/values"] = np.asarray(column)
    with creating(path, kind, sum(array.nbytes for array in stored.values())) as file:
        for name, array in stored.items():
            put(file, name, array)


def write_rows(path: FilePath, parts: Iterable[Rows], ids: tuple[StrArray, StrArray]) -> None:
    """Write a `Scores` of float64 block by block: rows, their scores, and which of these hold."""
    shape = ids[0].size, ids[1].size
    with creating(path, "scores", 9 * math.prod(shape)) as file:
        scores = new_data_set(file, FIELDS["scoremat"].names[0], shape, np.dtype(np.float64))
        masks = new_data_set(file, FIELDS["scoremask"].names[0], shape, np.dtype(np.uint8))
        for rows, values, mask in parts:
            scores[rows], masks[rows] = values, mask.view(np.uint8)
        for name, each in zip(IDS, ids, strict=True):
            put(file, FIELDS[name].names[0], each)


@contextlib.contextmanager
def creating(path: FilePath, kind: str, size: int) -> Iterator[H5]:
    """Give a new file of one kind to put about so many bytes of data into."""
    with replacing(path) as temporary:
        # A full disk would end the whole process inside the library.
        with contextlib.suppress(AttributeError), temporary.open("rb+") as stream:
            try:
                os.posix_fallocate(stream.fileno(), 0, size + size // 50 + 2**16)
            except OSError as error:
                if error.errno in FULL_DISK:
                    raise
        # The oldest format of the library, because MATLAB of the toolkit's days reads it.
        with h5py.File(temporary, "w", libver=("earliest", "v108")) as file:
            file.attrs["format"] = np.bytes_(f"bosaris_py.{kind}")
            file.attrs["format_version"] = np.bytes_(FORMAT_VERSION)
            file.attrs["created_by"] = np.bytes_(f"bosaris_py {__version__}")
            yield file


def put(root: H5, name: str, array: AnyArray) -> None:
    """Put an array into a data set."""
    text = None
    if array.dtype.kind == "U":
        refuse_unstorable(array, name)
        texts = [each.encode() for each in array.tolist()]
        # One byte longer than the longest, as MATLAB does.
        array = np.array(texts, f"S{1 + max(map(len, texts), default=0)}")
        text = h5py.h5t.C_S1.copy()
        text.set_size(array.itemsize)
        text.set_strpad(h5py.h5t.STR_NULLTERM)
        if not b"".join(texts).isascii():
            text.set_cset(h5py.h5t.CSET_UTF8)
    array = np.ascontiguousarray(array.view(np.uint8) if array.dtype == np.bool_ else array)
    made = new_data_set(root, name, array.shape, array.dtype, text and h5py.Datatype(text))
    if array.size:
        made.id.write(h5py.h5s.ALL, h5py.h5s.ALL, array, mtype=text)


def new_data_set(
    root: H5, name: str, shape: tuple[int, ...], dtype: np.dtype[np.generic], text: H5 = None
) -> H5:
    """Create a data set in chunks with checksums, without a time stamp."""
    options: dict[str, object] = {"track_times": False}
    if math.prod(shape):
        # Chunks of whole rows are what streaming reads at once; only longer rows are cut.
        most = _CHUNK_TRIALS if len(shape) == 1 else _CHUNK_BYTES // dtype.itemsize
        row = math.prod(shape[1:])
        chunks = (max(1, min(shape[0], most // row)), *(min(row, most) for _ in shape[1:]))
        # What is read where a chunk is lost is no id, score, label or position.
        lost = b"\xff" if text else np.nan if dtype.kind == "f" else np.iinfo(dtype.char).max
        options |= {"chunks": chunks, "fletcher32": True, "fillvalue": lost}
    if dtype.kind in "iu" and math.prod(shape) >= _COMPRESS_FROM:
        # Scores would hardly shrink. Shuffled are the bytes of positions, which change little.
        options |= {"compression": "gzip", "compression_opts": 1, "shuffle": dtype.itemsize > 1}
    return root.create_dataset(name, shape, text or dtype, **options)


def refuse_unstorable(ids: StrArray, name: str) -> None:
    """Raise if an id holds a NUL, which ends a string, or is no Unicode."""
    if re.search("[\0\ud800-\udfff]", "".join(ids.tolist())):
        raise InvalidInputError(f"an id of `{name}` holds a NUL character or is no Unicode text")
