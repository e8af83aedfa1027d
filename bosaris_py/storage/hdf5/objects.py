"""Find the data sets of an object in an HDF5 file, and read and write them.

The layouts are those of `schema.LAYOUTS`; the package's page shows what is written.
"""

from __future__ import annotations

import attrs
import numpy as np

from bosaris_py._arrays import AnyArray, BoolArray, mark_read_only
from bosaris_py._cautions import warn_caller
from bosaris_py._validation import FilePath, list_some
from bosaris_py.errors import FileFormatError, OldFormatWarning
from bosaris_py.storage import schema
from bosaris_py.storage.hdf5.guarded import GuardedDataset, GuardedFile, open_guarded
from bosaris_py.storage.hdf5.writing import BY_MAP, MADE_BY, put_field, put_strings, write_hdf5

USE_KEY = "Read it with Key.read and call to_ndx() on the result"

_USE_NDX = "cannot hold -1 for non-targets: this is an Ndx; read it with Ndx.read"

# A file with this data set is of a kind that holds more than what was asked for.
_OTHER_KIND = {"ndx": ("file_format", "Key"), "flat_ndx": ("trials/is_target", "FlatKey")}


def read(
    kind: str, path: FilePath, *, max_bytes: int | None = None, notes: set[str] | None = None
) -> schema.Arrays:
    """Read the arrays of an object of a kind of `schema.KINDS`: the arguments of its constructor.

    The toolkit takes any mask above 0.5 as target and below -0.5 as non-target, and so reads an Ndx
    file as a key full of targets. Here other values than 1, -1 and 0 are refused, and so is a key
    of an unsigned type, which cannot mark non-targets. The mask of quality measures is honoured,
    which the toolkit ignores. A key of two masks, and scores without a mask, give an
    `OldFormatWarning`. So does a key of targets alone in a file that does not say that it is one.
    The start and stop frames of SIDEKIT's `IdMap` are not read. `notes` takes what made the scores,
    if the file says so.
    """
    with open_guarded(path, max_bytes) as source:
        opened = open_fields(source, kind)
        arrays = opened.read()
        if notes is not None and (maker := _maker(source)):
            notes.add(maker)
        says_what = source.holds("file_format") or source.attribute("format")
    opened.warn_of_old_layout(path)
    if kind == "key" and not says_what and arrays["tar"].any() and not arrays["non"].any():
        finding = f"{path}: all {np.count_nonzero(arrays['tar'])} trials are targets. Is it an Ndx?"
        advice = "Ndx.read and read_trials read trials without labels; the key is another file."
        warn_caller(finding, OldFormatWarning, advice)
    return arrays


def kind_of(path: FilePath) -> str:
    """Tell the kind of object in a file, by the file's own word, else by its data sets."""
    with open_guarded(path) as source:
        declared = (source.attribute("format") or "").removeprefix("bosaris_py.")
        if declared in schema.KINDS:
            return declared
        found = [name for signs, name in schema.SIGNS if all(map(source.holds, signs))]
        if found:
            return found[0]
        mask = "trial_mask"
        if not source.holds(mask):
            found_sets = list_some(source.members()) or "nothing at all"
            message = (
                f"{source.path}: none of {', '.join(schema.KINDS)}; the file holds {found_sets}"
            )
            raise FileFormatError(f"{message}. {_LAYOUT_HINT}")
        # Labels are of a type that can hold -1.
        return "ndx" if source.data_set(mask, "mask").is_unsigned else "key"


def is_from_map(path: FilePath) -> bool:
    """Tell whether a file says that a trained map has made its scores."""
    with open_guarded(path) as source:
        return _maker(source) == BY_MAP


def _maker(source: GuardedFile) -> str | None:
    """Return what the file says that made its scores."""
    try:
        return source.attribute(MADE_BY)
    # h5py has a dozen errors for what is damaged. A damaged note is none.
    except Exception:
        return None


def write(kind: str, path: FilePath, *, from_map: bool = False, **arrays: AnyArray) -> None:
    """Write an object, given by what `read` returns, replacing an existing file in one step.

    `from_map` is a note on scores: a trained map has made them.
    """
    schema.check_fields(kind, arrays)
    if kind == "key":
        arrays["labels"] = arrays.pop("tar").view(np.int8) - arrays.pop("non").view(np.int8)

    def fill(root: object) -> None:
        for name in sorted(arrays, key=list(schema.FIELDS).index):
            put_field(root, name, arrays[name])
            if name == "labels":
                # By this the toolkit tells a key from a trial list.
                put_strings(root, "file_format", np.array(["2.0"]))

    write_hdf5(path, kind, fill, from_map=from_map)


@attrs.frozen(eq=False)
class OpenedFields:
    """The data sets of an object in an open file, checked against each other and unread."""

    fields: tuple[str, ...]
    layout: schema.Layout
    data_sets: dict[str, GuardedDataset] = attrs.field(factory=dict)
    # Extent of each dimension of the fields.
    sizes: dict[str, int] = attrs.field(factory=dict)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape that a field has in memory."""
        return tuple(self.sizes[dim] for dim in schema.FIELDS[name].dims)

    def read(self) -> schema.Arrays:
        """Read all fields; masks that the file may lack and does are all true."""
        for name, data_set in self.data_sets.items():
            # These two become a second array.
            data_set.claim(2 if name in ("trialmask", "labels") else 1)
        arrays: schema.Arrays = {}
        for name in self.fields:
            shape = self.shape(name)
            if name not in self.data_sets:
                arrays[name] = mark_read_only(np.ones(shape, dtype=np.bool_))
            elif name == "labels":
                labels = self.data_sets[name].read_mask(signed=True).reshape(shape)
                arrays["tar"] = mark_read_only(labels == 1)
                arrays["non"] = mark_read_only(labels == -1)
            elif name == "trialmask":
                arrays[name] = _read_trials(self.data_sets[name]).reshape(shape)
            else:
                array = self.data_sets[name].read()
                if self._is_transposed(name) and array.ndim == 2:
                    array = mark_read_only(np.ascontiguousarray(array.T))
                arrays[name] = array.reshape(shape)
        return arrays

    def warn_of_old_layout(self, path: FilePath) -> None:
        """Warn if a key comes as two masks, or scores come without a mask."""
        if "scoremat" in self.fields and "scoremask" not in self.data_sets:
            message = f"{path}: the file does not say which scores are valid; taking all as valid"
            warn_caller(message, OldFormatWarning)
        elif "tar" in self.fields:
            message = f"{path}: a key in the old layout with two masks; save it again to update it"
            warn_caller(message, OldFormatWarning)

    def add(self, name: str, found: GuardedDataset) -> None:
        """Take in a data set, refusing one that does not fit those before it."""
        dims = schema.FIELDS[name].dims
        self.data_sets[name] = found
        if found.content == "ids":
            if self.sizes.setdefault(dims, found.count) != found.count:
                first = self._ids(dims)
                text = f"has {found.count} ids, `/{first.name}` {first.count}; they must be pairs"
                raise found.error(text)
        elif dims == "k":
            self._check_vector(found)
        elif dims == "mn":
            self._check_matrix(found)
        else:
            self._check_measures(name, found)

    def _ids(self, dim: str) -> GuardedDataset:
        """Return the data set of ids that gives the extent of a dimension."""
        return next(
            found for name, found in self.data_sets.items() if schema.FIELDS[name].dims == dim
        )

    def _is_transposed(self, name: str) -> bool:
        return self.layout.quality_transposed and "q" in schema.FIELDS[name].dims

    def _check_vector(self, found: GuardedDataset) -> None:
        """Refuse a data set that is no vector with an element for each trial."""
        if len(found.shape) != 1:
            raise found.error(f"must have one dimension; its shape is {found.shape}")
        if self.sizes.setdefault("k", found.count) != found.count:
            raise found.error(f"has {found.count} elements; `/trials/models` has {self.sizes['k']}")

    def _check_matrix(self, found: GuardedDataset) -> None:
        """Refuse a matrix that does not fit the ids."""
        shape = (self.sizes["m"], self.sizes["n"])
        is_vector = 1 in shape and found.shape == (max(shape),)
        # One id without trials, or an empty object, may be stored without a second extent.
        is_empty = 0 in shape and found.count == 0
        if found.shape == shape or is_vector or is_empty:
            return
        text = (
            f"has shape {found.shape}; `/{self._ids('m').name}` names {shape[0]} models and "
            f"`/{self._ids('n').name}` {shape[1]} segments"
        )
        if found.shape == shape[::-1]:
            text += ". Models and segments look swapped"
        raise found.error(text)

    def _check_measures(self, name: str, found: GuardedDataset) -> None:
        """Refuse measures of models or segments, or flags of who has them, that do not fit."""
        dims, shape = schema.FIELDS[name].dims, found.shape
        size, what = self.sizes[dims[-1]], "models" if dims[-1] == "m" else "segments"
        text = f"has shape {shape}; `/{self._ids(dims[-1]).name}` names {size} {what}"
        if found.content == "mask":
            # A vector may be stored as a row or column.
            if found.count != size or (len(shape) == 2 and min(shape) > 1):
                raise found.error(text)
            return
        if len(shape) == 1:
            # One measure of many ids, or many measures of one id.
            shape = (1, shape[0]) if shape[0] == size else (shape[0], 1)
        elif len(shape) == 2 and self._is_transposed(name):
            shape = shape[::-1]
        if len(shape) != 2 or shape[1] != size:
            if len(shape) == 2 and shape[0] == size:
                text += ". Rows and columns look swapped"
            raise found.error(text)
        if self.sizes.setdefault("q", shape[0]) != shape[0]:
            text = f"has {shape[0]} measures for each segment, `/modelQ` {self.sizes['q']}"
            raise found.error(f"{text} for each model")


def _read_trials(found: GuardedDataset) -> BoolArray:
    """Read the mask of a trial list, refusing that of a key."""
    trials = found.read_mask(signed=not found.is_unsigned)
    if trials.dtype != np.bool_:
        if (trials < 0).any():
            raise found.error(f"holds -1: this is a Key. {USE_KEY}")
        trials = mark_read_only(trials.view(np.bool_))
    return trials


def open_fields(source: GuardedFile, kind: str) -> OpenedFields:
    """Find the data sets of an object and check types and shapes; nothing is read yet."""
    is_own = _expect_kind(source, kind)
    fields = schema.KINDS[kind].fields
    layout = find_layout(source, kind) if "modelset" in fields else schema.LAYOUTS[0]
    if kind == "key" and source.first_of(layout.data_sets["tar"]) is None:
        fields = ("modelset", "segset", "labels")
    opened = OpenedFields(fields, layout)
    optional = schema.KINDS[kind].optional | layout.may_lack
    if kind != "trial_metadata" and is_own:
        # This package writes everything: what is missing is lost.
        optional = frozenset()
    # The ids tell the extents of all others.
    for name in sorted(fields, key=lambda name: schema.FIELDS[name].content != "ids"):
        # Early releases of the toolkit had neither of the two.
        if name == "hasseg" and "hasmodel" not in opened.data_sets:
            continue
        path = source.first_of(layout.data_sets[name])
        if path is not None:
            opened.add(name, source.data_set(path, schema.FIELDS[name].content))
        elif name not in optional:
            raise missing(source, kind, layout.data_sets[name][0])
    if kind in _OTHER_KIND and source.holds(_OTHER_KIND[kind][0]):
        raise _wrong_kind(source, kind, _OTHER_KIND[kind][1])
    if "labels" in fields and opened.data_sets["labels"].is_unsigned:
        raise opened.data_sets["labels"].error(_USE_NDX)
    return opened


def find_layout(source: GuardedFile, kind: str) -> schema.Layout:
    """Tell the layout of a file from the data set that holds the models."""
    for layout in schema.LAYOUTS:
        if source.first_of(layout.data_sets["modelset"]) is not None:
            return layout
    raise missing(source, kind, schema.FIELDS["modelset"].data_sets[0])


def _expect_kind(source: GuardedFile, kind: str) -> bool:
    """Refuse a file of another kind or a newer format; tell if this package has written it."""
    declared = source.attribute("format") or ""
    if not declared.startswith("bosaris_py."):
        return False
    found = declared.removeprefix("bosaris_py.")
    if found != kind:
        raise _wrong_kind(
            source, kind, schema.KINDS[found].class_name if found in schema.KINDS else found
        )
    version = source.attribute("format_version") or schema.FORMAT_VERSION
    if version != schema.FORMAT_VERSION:
        schema.refuse_newer(
            f"{source.path}: the attribute format_version", version, schema.FORMAT_VERSION
        )
    return True


# For files of other programs.
_LAYOUT_HINT = "The page on the file format names the data sets; others are read with h5py."


def _wrong_kind(source: GuardedFile, kind: str, found: str) -> FileFormatError:
    """Return the error for a file that holds something else."""
    wanted = schema.KINDS[kind].class_name
    hint = ""
    if (wanted, found) in (("Ndx", "Key"), ("FlatNdx", "FlatKey")):
        hint = f" Read it with {found}.read and call to_ndx() on the result."
    elif found == f"Flat{wanted}":
        hint = (
            f" Read it with {found}.read; to_dense() makes a matrix of it if it is not too large."
        )
    elif wanted == f"Flat{found}":
        hint = f" Read it with {found}.read and call to_flat() on the result."
    elif "`" in found or found == "nothing at all":
        hint = f" {_LAYOUT_HINT}"
    return FileFormatError(f"{source.path}: expected {wanted}; the file holds {found}.{hint}")


def missing(source: GuardedFile, kind: str, name: str) -> FileFormatError:
    """Return the error for a file that lacks a data set: of this kind, or of another."""
    found = _recognise(source, kind)
    if found == schema.KINDS[kind].class_name:
        return source.error(name, "is missing")
    return _wrong_kind(source, kind, found)


def _recognise(source: GuardedFile, kind: str) -> str:
    """Name the class of which a file may be, `kind` if possible, or else its data sets."""
    found = [name for signs, name in schema.SIGNS if all(source.holds(sign) for sign in signs)]
    if found:
        return schema.KINDS[kind if kind in found else found[0]].class_name
    if source.holds("trial_mask"):
        return schema.KINDS[kind].class_name if kind in ("ndx", "key") else "an Ndx or Key"
    members = source.members()
    return f"`{list_some(members)}`" if members else "nothing at all"
