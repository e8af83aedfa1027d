"""Trials and their labels: Ndx and Key."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, BoolArray, mark_read_only, read_only
from bosaris_py._validation import FilePath
from bosaris_py.errors import FileFormatError, InvalidInputError, TrialMismatchError
from bosaris_py.files import hdf5
from bosaris_py.files.columns import Factor, order_trials
from bosaris_py.files.labels import KIND, KINDS, NONTARGET, SPOOF, TARGET, factor_of_kinds
from bosaris_py.trials import arguments
from bosaris_py.trials.alignment import IdList, Ids, code_ids
from bosaris_py.trials.columns import (
    NO_TABLES,
    SIDES,
    ColumnLike,
    Columns,
    OfSide,
    Tables,
    as_column,
    as_tables,
    equal_tables,
    is_of_side,
    merged,
    take_items,
    taken,
)
from bosaris_py.trials.trials import Cells, Contents, ListedTrials, Trials

LabelArray = npt.NDArray[np.int8]

_SPOOF = -2

# By label: the word, and the class of files. A negative index counts from the end.
WORDS = np.array(["", "target", "spoof", "nontarget"])
_CLASSES = np.array([0, TARGET, SPOOF, NONTARGET], dtype=np.uint8)

_DISAGREEMENT = "The keys to be merged disagree whether a trial is a target:"


@attrs.frozen(init=False, eq=False, repr=False)
class Ndx(ListedTrials):
    """The trials of an experiment: which models are tested on which segments.

    Parameters
    ----------
    modelset, segset : (m,), (n,) array_like of str
        Ids of the models and of the test segments, each once.
    trialmask : (m, n) array_like of bool, optional
        True where model and segment make a trial; by default everywhere.

    See Also
    --------
    Key : Trials of which the answer is known.

    Notes
    -----
    The toolkit checks neither that ids are unique nor the type of the mask.

    Examples
    --------
    >>> from bosaris_py.trials import Ndx
    >>> ndx = Ndx(["anna", "bert"], ["s1", "s2"], [[True, True], [False, True]])
    >>> ndx
    Ndx: 2 models x 2 segments, 3 trials
    """

    _kind = "ndx"

    def __init__(
        self, modelset: IdList, segset: IdList, trialmask: npt.ArrayLike | None = None
    ) -> None:
        ids = arguments.both_ids(modelset, segset)
        mask = None if trialmask is None else arguments.to_mask(trialmask, ids, "trialmask")
        self.__attrs_init__(*ids, None if mask is None else arguments.as_cells(mask))

    def _with(self, ids: Ids, cells: Cells, contents: Contents) -> Self:
        return self._of_fields(*ids, cells)

    @property
    def trialmask(self) -> BoolArray:
        """True where model and segment make a trial; of a list a new matrix each time."""
        return self.trial_mask

    def _in_matrices(self) -> dict[str, AnyArray]:
        return {"trialmask": self.trial_mask}

    @classmethod
    def _from_stored(cls, **arrays: AnyArray) -> Self:
        return cls._from_list(arrays, None, "") if "models" in arrays else cls(**arrays)

    @classmethod
    def read_hdf5(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read trials from an HDF5 file, whatever its name.

        Parameters
        ----------
        path, max_bytes
            As for `read`.

        Returns
        -------
        Ndx
        """
        if hdf5.kind_of(path) == "trial_metadata":
            arrays = hdf5.read_metadata(path, max_bytes=max_bytes)
            if arrays["is_target"] is not None:
                raise FileFormatError(f"{path}: expected Ndx; the file holds Key")
            return cls._from_list(arrays, None, "")
        return super().read_hdf5(path, max_bytes=max_bytes)

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList) -> Self:
        """Build an Ndx from a list of trials.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            Model and test segment of each trial.

        Returns
        -------
        Ndx
            Models and segments are sorted. A trial that is listed twice counts once.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> Ndx.from_trials(["bert", "anna", "bert"], ["s1", "s1", "s2"]).trialmask.tolist()
        [[True, False], [True, True]]
        """
        check.check_same_rows({"models": models, "segments": segments})
        return cls._from_ids(models, segments, None, "")

    def merge(self, *others: Ndx) -> Ndx:
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : Ndx
            Further objects; ``Ndx.merge(a, b)`` is ``a.merge(b)``.

        Returns
        -------
        Ndx
            The trials of any of the objects; models and segments are sorted.
        """
        return Ndx._merged(arguments.all_of_class(Ndx, self, *others), "")


@attrs.frozen(init=False, eq=False, repr=False)
class Key(ListedTrials):
    """The trials of an experiment together with the right labels, and what is known of them.

    Parameters
    ----------
    modelset, segset
        As for `Ndx`.
    tar : (m, n) array_like of bool
        True where the segment is of the model: target trials.
    non : (m, n) array_like of bool
        True where it is not: non-target trials. Where all masks are false there is no trial; two
        that are true are an error.
    spoof : (m, n) array_like of bool, optional
        True for spoofs: synthetic, converted or replayed speech of the claimed speaker.

    See Also
    --------
    Ndx : Trials without labels.

    Notes
    -----
    The toolkit checks neither that ids are unique nor that the masks are
    boolean and disjoint.

    Examples
    --------
    >>> from bosaris_py.trials import Key
    >>> key = Key(["anna", "bert"], ["s1", "s2"],
    ...           tar=[[True, False], [False, True]],
    ...           non=[[False, True], [False, False]])
    >>> key
    Key: 2 models x 2 segments, 2 targets, 1 non-targets
    >>> key = key.with_columns(gender=("model", {"anna": "f", "bert": "m"}), noise=[1, 2, 3])
    >>> key.columns["gender"].values().tolist()
    ['f', 'f', 'm']
    """

    # Of each trial 1 for a target, -1 for a non-target, -2 for a spoof: a vector of a list, else a
    # matrix.
    _labels: LabelArray = attrs.field(converter=read_only)
    _tables: Tables = attrs.field(default=NO_TABLES)

    _kind = "key"

    def __init__(
        self,
        modelset: IdList,
        segset: IdList,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        spoof: npt.ArrayLike | None = None,
    ) -> None:
        ids = arguments.both_ids(modelset, segset)
        given = {"tar": tar, "non": non} | ({} if spoof is None else {"spoof": spoof})
        labels = np.zeros([each.size for each in ids], dtype=np.int8)
        for (name, values), label in zip(given.items(), (1, -1, -2), strict=False):
            mask = arguments.to_mask(values, ids, name)
            # A trial in two masks would count twice, and no metric would notice.
            both = mask & (labels != 0)
            if both.any():
                models, segments = np.nonzero(both)
                got = arguments.name_trials(models, segments, ids)
                others = "`tar`" if name == "non" else "`tar` and `non`"
                raise check.invalid(name, f"not share trials with {others}", got)
            labels[mask] = label
        cells = arguments.as_cells(mark_read_only(labels != 0))
        self.__attrs_init__(*ids, cells, mark_read_only(labels))

    @property
    def _contents(self) -> Contents:
        return self._labels

    def _with(self, ids: Ids, cells: Cells, contents: Contents) -> Self:
        return self._carry(self._of_fields(*ids, cells, contents))

    @classmethod
    def from_trials(
        cls,
        models: IdList,
        segments: IdList,
        labels: npt.ArrayLike | Factor | Sequence[str],
        columns: Mapping[str, ColumnLike | OfSide] | None = None,
    ) -> Self:
        """Build a key from a list of trials given by their ids.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            As for `Ndx.from_trials`. A trial that is listed with two labels is an error.
        labels : (k,) array_like of bool or str
            True for a target trial, False for a non-target trial; or ``"target"``,
            ``"nontarget"``, ``"spoof"``.
        columns : mapping, optional
            What is known: of a trial one value for each, in the same order; of models or segments
            ``("model", {id: value})`` or ``("segment", {id: value})``.

        Returns
        -------
        Key

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> key = Key.from_trials(["bert", "anna"], ["s1", "s1"], ["target", "spoof"],
        ...                       {"attack": ["-", "A07"]})
        >>> key
        Key: 2 models x 1 segments, 1 targets, 0 non-targets, 1 spoofs
        >>> key.columns["attack"].values().tolist()
        ['A07', '-']
        """
        given = dict(columns or {})
        listed = {name: values for name, values in given.items() if not is_of_side(values)}
        argument = {f"columns[{name!r}]": values for name, values in listed.items()}
        same = {"models": models, "segments": segments, "labels": labels, **argument}
        check.check_same_rows(same)
        (modelset, rows), (segset, cols) = (
            code_ids(models, "models"),
            code_ids(segments, "segments"),
        )
        found = as_labels(labels)
        for what, values in (("segments", cols), ("labels", found)):
            check.check_shape(values, rows.shape, what, "like `models`")
        made = cls._listed_once((modelset, segset), rows, cols, found, "labels")
        lines = {name: as_column(values, f"columns[{name!r}]") for name, values in listed.items()}
        for name, column in lines.items():
            if len(column) != rows.size:
                expected = f"be as long as `models`, {rows.size}"
                raise check.invalid(f"columns[{name!r}]", expected, f"{len(column)}")
        if not lines:
            return made.with_columns(**given) if given else made
        order = order_trials(rows, cols, modelset.size)
        for name, column in lines.items():
            codes = column.codes if isinstance(column, Factor) else column
            clash = np.count_nonzero(order.conflicts(codes))
            if clash:
                got = f"another value in {clash} lines of column {name!r}"
                expected = "have the same columns for a trial listed twice"
                raise check.invalid("columns", expected, got)
            given[name] = take_items(column, order.order)
        return made.with_columns(**given)

    @property
    def columns(self) -> Columns:
        """What is known of the trials: a mapping of names to one value for each trial."""
        return Columns(self, self._tables)

    def with_columns(self, **columns: ColumnLike | OfSide) -> Self:
        """Return the key with further columns; one of the same name is replaced.

        Parameters
        ----------
        **columns
            As for `from_trials`; values of trials come column by column, the order of all vectors.

        Returns
        -------
        Key

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> key = Key.from_trials(["m1", "m1"], ["s1", "s2"], [True, False])
        >>> key.with_columns(length=("segment", ["short", "long"])).columns
        Columns: length by segment
        """
        added = as_tables(columns, self)
        kept = [{n: c for n, c in table.items() if n not in columns} for table in self._tables]
        tables = tuple({**old, **new} for old, new in zip(kept, added, strict=True))
        return self._of_fields(*self.ids, self.cells, self._labels, tables=tables)

    def _carry(self, made: Self) -> Self:
        """Return a key whose trials are among these, with the columns of these."""
        if not len(self.columns):
            return made
        places = [
            self.locate(made) if self._tables[0] else None,
            self.model_index.locate(made.model_index) if self._tables[1] else None,
            self.segment_index.locate(made.segment_index) if self._tables[2] else None,
        ]
        for at, what in zip(places, ("trials", "models", "segments"), strict=True):
            if at is not None and (at < 0).any():
                message = f"There are columns for {np.count_nonzero(at >= 0)} of {at.size} {what}"
                raise TrialMismatchError(f"{message}; each must have a value.")
        fields = *made.ids, made.cells, made._labels
        return self._of_fields(*fields, tables=taken(self._tables, places))

    def with_columns_of(self, other: Key) -> Key:
        """Return the key with the columns of another one, which has all its trials.

        Parameters
        ----------
        other : Key
            A key with columns.

        Returns
        -------
        Key

        Raises
        ------
        TrialMismatchError
            If there are trials, models or segments without a value.
        """
        return other._carry(self)

    def bona_fide(self) -> Self:
        """Return the key without its spoofs.

        Returns
        -------
        Key
            With the same models and segments.
        """
        return self if not self.n_spoof else self.take(self.labels != _SPOOF)

    @classmethod
    def from_speakers(
        cls,
        ids: IdList,
        speakers: Iterable[object] | Mapping[str, object] | Callable[[str], object],
    ) -> Self:
        """Compare all recordings with each other: each pair once, and none with itself.

        Parameters
        ----------
        ids : (n,) array_like of str
            Id of each recording.
        speakers : (n,) array_like, mapping or callable
            The speaker of each recording, in the order of the ids or by id.

        Returns
        -------
        Key
            Models and segments are the recordings; of a pair the first is the model. Targets are
            the pairs of one speaker.

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> key = Key.from_speakers(["a1", "a2", "b1"], ["anna", "anna", "bert"])
        >>> key.tar.tolist()
        [[False, True, False], [False, False, False], [False, False, False]]
        >>> key.n_non
        2
        """
        names = check.as_ids(ids, "ids")
        if callable(speakers):
            told = list(map(speakers, names.tolist()))
        elif isinstance(speakers, Mapping):
            told = [speakers[name] for name in names.tolist()]
        else:
            check.check_same_rows({"ids": ids, "speakers": speakers})
            told = list(speakers)
            if len(told) != names.size:
                expected = f"have the speaker of each of {names.size} recordings"
                raise check.invalid("speakers", expected, f"{len(told)}")
        # Recordings of unknown speakers would be targets of each other.
        unknown = names[[check.is_missing(speaker) for speaker in told]].tolist()
        if unknown:
            found = f"none (None or NaN) for {len(unknown)} ({check.list_some(unknown)})"
            raise check.invalid("speakers", "tell the speaker of each recording", found)
        numbers = {speaker: number for number, speaker in enumerate(dict.fromkeys(told))}
        codes = np.array([numbers[speaker] for speaker in told])
        # A recording comes before those that it is a model for.
        pairs = np.triu(np.ones((names.size, names.size), dtype=np.bool_), 1)
        same = codes[:, None] == codes
        return cls(names, names, pairs & same, pairs & ~same)

    def __eq__(self, other: object) -> bool:
        """Compare ids, trials, labels and columns."""
        same = super().__eq__(other)
        if same is True and isinstance(other, Key):
            return equal_tables(self._tables, other._tables)
        return same

    __hash__ = None

    def _in_list(self) -> dict[str, AnyArray]:
        return {"is_target": WORDS[self.labels] if self.n_spoof else self.is_target}

    def _in_matrices(self) -> dict[str, AnyArray]:
        if self.n_spoof:
            expected = "be .h5 where there are spoofs"
            raise check.invalid("path", expected, f"one for {self.n_spoof} spoofs")
        return {"tar": self.tar, "non": self.non}

    def save_hdf5(self, path: FilePath) -> None:
        """Save the key as an HDF5 file, whatever its name.

        Parameters
        ----------
        path : str or path-like
            Name of the file, which is replaced if it exists.

        Notes
        -----
        Columns, and which trials are spoofs, lie in further data sets, which the toolkit ignores;
        there spoofs are non-targets.
        """
        if not (self.n_spoof or len(self.columns)):
            super().save_hdf5(path)
            return
        tables = [dict(table) for table in self._tables]
        if self.n_spoof:
            tables[0][KIND] = factor_of_kinds(_CLASSES[self.labels])
        models, segments = self.trial_positions()
        hdf5.write_metadata(
            path,
            form="Flat" * self.is_sparse + "Key",
            modelset=self.modelset,
            segset=self.segset,
            models=models,
            segments=segments,
            is_target=self.is_target,
            matrix=None if self.is_sparse else np.sign(self._labels),
            columns={
                side: {
                    name: (column.codes, column.levels) if isinstance(column, Factor) else column
                    for name, column in table.items()
                }
                for side, table in zip(SIDES, tables, strict=True)
            },
        )

    @classmethod
    def read_hdf5(cls, path: FilePath, *, max_bytes: int | None = None) -> Self:
        """Read a key from an HDF5 file, whatever its name, with its columns.

        Parameters
        ----------
        path, max_bytes
            As for `read`.

        Returns
        -------
        Key
        """
        if hdf5.kind_of(path) != "trial_metadata":
            return super().read_hdf5(path, max_bytes=max_bytes)
        arrays = hdf5.read_metadata(path, max_bytes=max_bytes)
        try:
            return cls._from_columns(arrays, path)
        except InvalidInputError as error:
            raise FileFormatError(f"{path}: {error}") from error

    @classmethod
    def _from_columns(cls, arrays: dict[str, Any], path: FilePath) -> Self:
        """Build a key of a file with columns."""
        if arrays["is_target"] is None:
            raise FileFormatError(f"{path}: expected Key; the file holds Ndx")
        places = arrays["models"], arrays["segments"]
        # In another order the trials would be sorted, but not the columns beside them.
        if order_trials(*places, arrays["modelset"].size).order is not None:
            raise FileFormatError(f"{path}: trials must come by segment, then by model, each once")
        tables = [
            {
                name: Factor(*column) if isinstance(column, tuple) else column
                for name, column in arrays["columns"][side].items()
            }
            for side in SIDES
        ]
        labels = as_labels(arrays["is_target"])
        kinds = tables[0].get(KIND)
        if isinstance(kinds, Factor) and set(kinds.levels.tolist()) <= set(KINDS):
            is_spoof = kinds.values() == "spoof"
            if (is_spoof & (labels == 1)).any():
                raise FileFormatError(f"{path}: targets must not be spoofs")
            labels[is_spoof] = _SPOOF
            del tables[0][KIND]
        made = cls._from_list(arrays, labels, "is_target")
        sized = zip(tables, (labels.size, *made.shape), strict=True)
        if any(len(column) != size for table, size in sized for column in table.values()):
            raise FileFormatError(f"{path}: columns must have a value for each trial or id")
        return made._of_fields(*made.ids, made.cells, made._labels, tables=tuple(tables))

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        kind, arrays = super()._stored(form)
        if form == "txt" and not self.is_sparse:
            # All targets, then all non-targets, as in the toolkit.
            order = np.argsort(-self.labels, kind="stable")
            arrays |= {name: arrays[name][order] for name in ("models", "segments", "is_target")}
        return kind, arrays

    @classmethod
    def _from_stored(cls, **arrays: AnyArray) -> Self:
        if "models" not in arrays:
            return cls(**arrays)
        return cls._from_list(arrays, as_labels(arrays["is_target"]), "is_target")

    @cached_property
    def labels(self) -> LabelArray:
        """The label of each trial, column by column: 1 target, -1 non-target, -2 spoof."""
        vector = self._vector()
        assert vector is not None, "a key has labels"
        return vector

    @property
    def is_target(self) -> BoolArray:
        """Whether each trial is a target, column by column.

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> key = Key.from_trials(["bert", "anna"], ["s1", "s1"], [True, False])
        >>> key.modelset.tolist(), key.is_target.tolist()
        (['anna', 'bert'], [False, True])
        """
        return mark_read_only(self.labels == 1)

    def _mask_of_label(self, label: int) -> BoolArray:
        mask = self._labels == label
        return self._matrix(mask) if self.is_sparse else mark_read_only(mask)

    @property
    def tar(self) -> BoolArray:
        """Where target trials are: a new matrix each time."""
        return self._mask_of_label(1)

    @property
    def non(self) -> BoolArray:
        """Where non-target trials are: a new matrix each time."""
        return self._mask_of_label(-1)

    @property
    def spoof(self) -> BoolArray:
        """Where spoofs are: a new matrix each time."""
        return self._mask_of_label(_SPOOF)

    @cached_property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self._labels == 1))

    @cached_property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(np.count_nonzero(self._labels == -1))

    @cached_property
    def n_spoof(self) -> int:
        """Number of spoofs."""
        return int(np.count_nonzero(self._labels == _SPOOF))

    def _counts(self) -> str:
        spoofs = f", {self.n_spoof} spoofs" if self.n_spoof else ""
        return f"{self.n_tar} targets, {self.n_non} non-targets{spoofs}"

    def _drawn(self, at: tuple[AnyArray, ...]) -> AnyArray:
        return np.sign(self._labels[at])

    def _columns_of_trials(self) -> dict[str, AnyArray]:
        spoofs = {"spoof": self.labels == _SPOOF} if self.n_spoof else {}
        return {"target": self.is_target, **spoofs}

    def columns_of_table(self) -> dict[str, Any]:
        """Return the columns, and labels of three kinds in words.

        Returns
        -------
        dict of str to Factor or ndarray
        """
        words = {"label": Factor.from_values(WORDS[self.labels])} if self.n_spoof else {}
        return {**self.columns, **words}

    def to_ndx(self) -> Ndx:
        """Return the trials without the labels.

        Returns
        -------
        Ndx
        """
        return Ndx._of_fields(*self.ids, self.cells)

    def take(self, chosen: AnyArray) -> Self:
        """Return some of the trials, with the same models and segments.

        Parameters
        ----------
        chosen : (n_trials,) array of bool, or array of int that ascends
            Which trials, column by column.

        Returns
        -------
        Key
        """
        models, segments = (side[chosen] for side in self.trial_positions())
        made = self._listed_once(self.ids, models, segments, self.labels[chosen], "labels")
        return self._carry(made)

    def merge(self, *others: Key) -> Key:
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : Key
            As for `Ndx.merge`.

        Returns
        -------
        Key

        Raises
        ------
        TrialMismatchError
            If a trial is a target in one and a non-target in another.
        """
        objects = arguments.all_of_class(Key, self, *others)
        made = Key._merged(objects, _DISAGREEMENT)
        if not any(len(item.columns) for item in objects):
            return made
        parts = []
        for item in objects:
            at = made.locate(item)
            places = (
                np.arange(item.n_trials) if at is None else at,
                made.model_index.locate_last(item.model_index),
                made.segment_index.locate_last(item.segment_index),
            )
            parts.append((item._tables, places))
        tables = merged(parts, (made.n_trials, *made.shape))
        return Key._of_fields(*made.ids, made.cells, made._labels, tables=tables)


def as_labels(labels: object) -> LabelArray:
    """Return truth values, or the words target, nontarget and spoof, as labels."""
    if isinstance(labels, Factor):
        words, codes = labels.levels, labels.codes.astype(np.intp)
    else:
        array = np.asarray(check.as_list(labels))
        if array.dtype.kind not in "UO" or (array.size and isinstance(array[0], bool | np.bool_)):
            is_target = check.as_mask(array, "labels")
            return np.where(is_target, np.int8(1), np.int8(-1))
        words, codes = np.unique(check.as_ids(array, "labels"), return_inverse=True)
    known = {"target": 1, "nontarget": -1, "spoof": _SPOOF}
    if strange := [word for word in words.tolist() if word not in known]:
        used = np.isin(codes, np.flatnonzero(np.isin(words, strange)))
        if used.any():
            expected = "be truth values, or target, nontarget and spoof"
            raise check.invalid("labels", expected, check.list_some(map(repr, strange)))
    return np.array([known.get(word, 0) for word in words.tolist()], dtype=np.int8)[codes]


def as_ndx(ndx: object) -> Ndx | Key:
    """Return trials; raise if it is anything else."""
    if isinstance(ndx, Ndx | Key):
        return ndx
    raise check.invalid("ndx", "be an Ndx or a Key", check.describe(ndx), _misuse(ndx))


def as_key(key: object) -> Key:
    """Return a key; raise if it is anything else."""
    if isinstance(key, Key):
        return key
    expected = "be a Key, which says what the targets are"
    raise check.invalid("key", expected, check.describe(key), _misuse(key))


def _misuse(key: object) -> str:
    """Return the likely mistake where something stands in the place of a key or of trials."""
    if isinstance(key, str | os.PathLike):
        return "Read the file: read_key(path), or read_trials if it has no labels."
    if isinstance(getattr(key, "key", None), Key):
        return "Give its key: data.key."
    if hasattr(key, "columns"):
        return "Make a key of a data frame: from_frame(df).key."
    swapped = isinstance(key, list) or hasattr(key, "get_tar_non")
    return "Were scores and key swapped?" if swapped else ""


def describe_trials(trials: Trials, chosen: BoolArray) -> str:
    """Return the count and the first few of the trials under a vector mask, for a message."""
    models, segments = trials.trial_positions()
    return arguments.name_trials(models[chosen], segments[chosen], trials.ids)


def warn_unless_found(ndx: Trials, n_ids: tuple[int, int], found: BoolArray | None) -> None:
    """Warn of models, segments and trials that are missing, in the toolkit's words."""
    # `n_ids` are the numbers of models and segments that were found. `found` says which trials were
    # found, column by column, or None for all.
    n_found = ndx.n_trials if found is None else int(np.count_nonzero(found))
    if not isinstance(ndx, Key):
        arguments.warn_missing(ndx.shape, n_ids, (ndx.n_trials,), (n_found,))
        return
    wanted = ndx.n_tar, ndx.n_non
    # Where nothing is missing, the labels need not be looked at.
    n_found_of = wanted
    if found is not None and n_found < ndx.n_trials:
        counts = [int(np.count_nonzero(ndx.labels[found] == label)) for label in (1, -1)]
        n_found_of = counts[0], counts[1]
    arguments.warn_missing(ndx.shape, n_ids, wanted, n_found_of)
