"""Trials and their labels: Ndx and Key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from functools import cached_property
from typing import Self

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.trials.alignment as align
from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, BoolArray, mark_read_only, read_only
from bosaris_py._notes import Note
from bosaris_py._validation import FilePath
from bosaris_py.errors import TrialMismatchError
from bosaris_py.files import columns as listing, hdf5
from bosaris_py.files.columns import Factor
from bosaris_py.files.hdf5 import StoredColumn
from bosaris_py.trials import columns as tables
from bosaris_py.trials.alignment import Frame, IdList, Ids
from bosaris_py.trials.columns import Column, ColumnLike, Columns, OfSide
from bosaris_py.trials.trials import Trials, frame_of

LabelArray = npt.NDArray[np.int8]

# By label, 1 for a target, -1 for a non-target, -2 for a spoof: the word, and the class of files. A
# negative index counts from the end.
WORDS = np.array(["", "target", "spoof", "nontarget"])
_CLASSES = np.array([0, listing.TARGET, listing.SPOOF, listing.NONTARGET], dtype=np.uint8)
_LABELS = {"target": 1, "nontarget": -1, "spoof": -2}


@attrs.frozen(init=False, eq=False, repr=False)
class Ndx(Trials):
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
        ids = align.both_ids(modelset, segset)
        self.__attrs_init__(*ids, align.as_cells(trialmask, ids, "trialmask"))

    @property
    def _contents(self) -> AnyArray:
        shape = self.cells.shape if self.cells is not None else self.shape
        return np.broadcast_to(np.True_, shape)

    @classmethod
    def _made(cls, *fields: object, **named: object) -> Self:
        # Of trials nothing is said.
        return super()._made(*fields[:3], **named)

    @property
    def trialmask(self) -> BoolArray:
        """True where model and segment make a trial; of a list a new matrix each time."""
        return self.trial_mask

    def _in_matrices(self) -> dict[str, AnyArray]:
        return {"trialmask": self.trial_mask}

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
        ids, rows, cols = align.code_trials(models, segments)
        return cls._from_positions(ids, rows, cols)

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
        return Ndx._merged(align.all_of_class(Ndx, self, *others), "")

    def to_ndx(self) -> Ndx:
        """Return the trials themselves.

        Returns
        -------
        Ndx
        """
        return self

    def counts(self, chosen: BoolArray | None = None) -> tuple[int, ...]:
        """Return the number of trials, or of those under a vector mask, in a tuple.

        Parameters
        ----------
        chosen : (n_trials,) array of bool, optional
            Which trials; by default all.

        Returns
        -------
        tuple of int
        """
        return (self.n_trials if chosen is None else int(np.count_nonzero(chosen)),)


@attrs.frozen(init=False, eq=False, repr=False)
class Key(Trials):
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

    # The label of each trial: a vector of a list, else a matrix.
    _contents: LabelArray = attrs.field(converter=read_only)
    _tables: tables.Tables = attrs.field(default=tables.NO_TABLES)

    _kind, _listed = "key", "is_target"

    def __init__(
        self,
        modelset: IdList,
        segset: IdList,
        tar: npt.ArrayLike,
        non: npt.ArrayLike,
        spoof: npt.ArrayLike | None = None,
    ) -> None:
        ids = align.both_ids(modelset, segset)
        labels = np.zeros([each.size for each in ids], dtype=np.int8)
        third = [] if spoof is None else [("spoof", spoof, -2)]
        for name, given, label in [("tar", tar, 1), ("non", non, -1), *third]:
            mask = align.to_mask(given, ids, name)
            # A trial in two masks would count twice, and no metric would notice.
            if (both := mask & (labels != 0)).any():
                rows, cols = np.nonzero(both)
                got = align.name_trials(rows, cols, ids)
                raise check.invalid(name, "not share trials with the masks before it", got)
            labels[mask] = label
        cells = align.as_cells(mark_read_only(labels != 0), ids, "tar")
        self.__attrs_init__(*ids, cells, mark_read_only(labels))

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
        listed = {name: values for name, values in given.items() if not tables.is_of_side(values)}
        lines = {f"columns[{name!r}]": values for name, values in listed.items()}
        check.check_same_rows({"models": models, "segments": segments, "labels": labels, **lines})
        ids, rows, cols = align.code_trials(models, segments)
        found = as_labels(labels)
        check.check_shape(found, rows.shape, "labels", "like `models`")
        made = cls._from_positions(ids, rows, cols, found, "labels")
        for argument, name in zip(lines, listed, strict=True):
            column = tables.as_column(listed[name], argument)
            _check_size(column, rows.size, argument)
            order = listing.order_trials(rows, cols, ids[0].size)
            if clash := np.count_nonzero(order.conflicts(column)):
                got = f"another value in {clash} lines of column {name!r}"
                expected = "have the same columns for a trial listed twice"
                raise check.invalid("columns", expected, got)
            given[name] = tables.take_items(column, order.order)
        return made.with_columns(**given) if given else made

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
        added = tables.as_tables(columns, self)
        kept = [{n: c for n, c in table.items() if n not in columns} for table in self._tables]
        return self._with_tables([{**old, **new} for old, new in zip(kept, added, strict=True)])

    def _with_tables(self, tables: Sequence[Mapping[str, Column]]) -> Self:
        return self._made(*self.ids, self.cells, self._contents, tables=tuple(tables))

    def with_columns_of(self, other: Key) -> Self:
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
        if not len(other.columns):
            return self
        frame = frame_of(self, other)
        places = [other.locate(self, frame) if other._tables[0] else None, frame.rows, frame.cols]
        for at, table, what in zip(places, other._tables, tables.SIDES, strict=True):
            if table and at is not None and (at < 0).any():
                message = f"There are columns for {np.count_nonzero(at >= 0)} of {at.size} {what}s"
                raise TrialMismatchError(f"{message}; each must have a value.")
        return self._with_tables(tables.taken(other._tables, places))

    def _filtered(self, frame: Frame, ids: Ids) -> Self:
        return super()._filtered(frame, ids).with_columns_of(self)

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
        made = self._from_positions(self.ids, models, segments, self.labels[chosen], "labels")
        return made.with_columns_of(self)

    def bona_fide(self) -> Self:
        """Return the key without its spoofs.

        Returns
        -------
        Key
            With the same models and segments.
        """
        return self if not self.n_spoof else self.take(self.labels != -2)

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
        given = speakers.__getitem__ if isinstance(speakers, Mapping) else speakers
        if callable(given):
            given = list(map(given, names.tolist()))
        check.check_same_rows({"ids": ids, "speakers": given})
        told = list(given)
        _check_size(told, names.size, "speakers")
        # Recordings of unknown speakers would be targets of each other.
        unknown = names[[check.is_missing(speaker) for speaker in told]].tolist()
        if unknown:
            found = f"none (None or NaN) for {len(unknown)} ({check.list_some(unknown)})"
            raise check.invalid("speakers", "tell the speaker of each recording", found)
        codes = np.array(list(map(listing.Codes().__getitem__, told)))
        same = codes[:, None] == codes
        # A recording comes before those that it is a model for.
        return cls(names, names, np.triu(same, 1), np.triu(~same, 1))

    @classmethod
    def from_mates(cls, mates: Trials | Iterable[tuple[str, str]], *trials: Trials) -> Self:
        """Make a key where only mated pairs are listed: all other trials are non-targets.

        Parameters
        ----------
        mates : Ndx, or iterable of pairs (str, str)
            The pairs of one person, in either order.
        *trials : Ndx or Scores
            The trials. Mates that are not among them are targets, too.

        Returns
        -------
        Key

        Examples
        --------
        >>> from bosaris_py.trials import Key, Ndx
        >>> key = Key.from_mates([("a1", "a2")], Ndx(["a1", "b1"], ["a2", "b2"]))
        >>> key.tar.tolist()
        [[True, False], [False, False]]
        """
        listed, *others = map(_pairs_of, (mates, *trials))
        both = {*listed, *(pair[::-1] for pair in listed)}
        known = dict.fromkeys(pair for part in others for pair in part)
        known |= dict.fromkeys(pair for pair in listed if not {pair, pair[::-1]} & known.keys())
        models, segments = ([pair[side] for pair in known] for side in (0, 1))
        return cls.from_trials(models, segments, [pair in both for pair in known])

    def _agrees(self, other: Self) -> bool:
        return super()._agrees(other) and tables.equal_tables(self._tables, other._tables)

    # Files

    def _in_list(self) -> AnyArray:
        return WORDS[self.labels] if self.n_spoof else self.is_target

    @classmethod
    def _as_contents(cls, values: AnyArray, name: str) -> AnyArray:
        return as_labels(values)

    def _in_matrices(self) -> dict[str, AnyArray]:
        if self.n_spoof:
            expected = "be .h5 where there are spoofs"
            raise check.invalid("path", expected, f"one for {self.n_spoof} spoofs")
        return {"tar": self.tar, "non": self.non}

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        if form == "hdf5" and not self.is_sparse:
            ids = {"modelset": self.modelset, "segset": self.segset}
            return self._kind, {**ids, "labels": self._contents}
        kind, arrays = super()._stored(form)
        if form == "txt" and not self.is_sparse:
            # All targets, then all non-targets, as in the toolkit.
            order = np.argsort(-self.labels, kind="stable")
            arrays |= {name: arrays[name][order] for name in ("models", "segments", "is_target")}
        return kind, arrays

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
        held = [dict(table) for table in self._tables]
        if self.n_spoof:
            held[0][listing.KIND] = listing.factor_of_kinds(_CLASSES[self.labels])
        columns = {
            side: {n: (x.codes, x.levels) if isinstance(x, Factor) else x for n, x in table.items()}
            for side, table in zip(tables.SIDES, held, strict=True)
        }
        trials = {**super()._stored("list")[1], "is_target": self.is_target}
        if not self.is_sparse:
            trials["labels"] = np.sign(self._contents)
        hdf5.write("trial_metadata", path, columns=columns, **trials)

    @classmethod
    def _from_stored(  # type: ignore[override]
        cls, *, columns: Mapping[str, Mapping[str, StoredColumn]] | None = None, **arrays: AnyArray
    ) -> Self:
        if "labels" in arrays:
            ids = align.both_ids(arrays["modelset"], arrays["segset"])
            cells = align.as_cells(mark_read_only(arrays["labels"] != 0), ids, "labels")
            return cls._made(*ids, cells, arrays["labels"])
        if columns is None:
            return super()._from_stored(**arrays)
        # In another order the trials would be sorted, but not the columns beside them.
        order = listing.order_trials(arrays["models"], arrays["segments"], arrays["modelset"].size)
        if order.order is not None:
            raise check.invalid("trials", "come by segment, then by model, each once", "others")
        found: list[dict[str, Column]] = [
            {n: Factor(*x) if isinstance(x, tuple) else x for n, x in columns[side].items()}
            for side in tables.SIDES
        ]
        kinds = found[0].get(listing.KIND)
        if listing.are_kinds(kinds):
            labels, is_spoof = as_labels(arrays["is_target"]), kinds.values() == "spoof"
            if (is_spoof & (labels == 1)).any():
                raise check.invalid("trials", "not be targets and spoofs", "such")
            arrays["is_target"] = WORDS[np.where(is_spoof, -2, labels)]
            del found[0][listing.KIND]
        return super()._from_stored(**arrays)._with_tables(found)

    # Labels

    @cached_property
    def labels(self) -> LabelArray:
        """The label of each trial, column by column: 1 target, -1 non-target, -2 spoof."""
        return self._vector()

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
        mask = self._contents == label
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
        return self._mask_of_label(-2)

    @cached_property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self._contents == 1))

    @cached_property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(np.count_nonzero(self._contents == -1))

    @cached_property
    def n_spoof(self) -> int:
        """Number of spoofs."""
        return int(np.count_nonzero(self._contents == -2))

    def counts(self, chosen: BoolArray | None = None) -> tuple[int, ...]:
        """Return the numbers of targets and of non-targets, or of those under a vector mask.

        Parameters
        ----------
        chosen : (n_trials,) array of bool, optional
            Which trials; by default all.

        Returns
        -------
        tuple of int
        """
        if chosen is None:
            return self.n_tar, self.n_non
        labels = self.labels[chosen]
        return int(np.count_nonzero(labels == 1)), int(np.count_nonzero(labels == -1))

    def to_ndx(self) -> Ndx:
        """Return the trials without the labels.

        Returns
        -------
        Ndx
        """
        return Ndx._made(*self.ids, self.cells)

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
        objects = align.all_of_class(Key, self, *others)
        made = Key._merged(objects, "The keys to be merged disagree whether a trial is a target:")
        if not any(len(item.columns) for item in objects):
            return made
        parts = []
        for item in objects:
            frame, at = frame_of(item, made), made.locate(item)
            sizes = item.n_trials, *item.shape
            places = [
                np.arange(size) if one is None else one
                for one, size in zip((at, frame.rows, frame.cols), sizes, strict=True)
            ]
            parts.append((item._tables, places))
        return made._with_tables(tables.merged(parts, (made.n_trials, *made.shape)))

    # Tables and display

    def _counts(self) -> str:
        spoofs = f", {self.n_spoof} spoofs" if self.n_spoof else ""
        return f"{self.n_tar} targets, {self.n_non} non-targets{spoofs}"

    def _columns(self) -> dict[str, AnyArray]:
        spoofs = {"spoof": self.labels == -2} if self.n_spoof else {}
        return {"target": self.is_target, **spoofs}

    def _further_columns(self) -> Mapping[str, Column]:
        words = {"label": Factor.from_values(WORDS[self.labels])} if self.n_spoof else {}
        return {**self.columns, **words}


def _pairs_of(trials: Trials | Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the models and segments of trials."""
    if not isinstance(trials, Trials):
        return [*trials]
    sides = zip(trials.ids, trials.trial_positions(), strict=True)
    models, segments = (ids[places].tolist() for ids, places in sides)
    return [*zip(models, segments, strict=True)]


def _check_size(column: Sized, size: int, argument: str) -> None:
    """Raise unless a column has a value for each of some trials or ids."""
    if len(column) != size:
        raise check.invalid(argument, f"have {size} values", f"{len(column)}")


def as_labels(labels: object) -> LabelArray:
    """Return truth values, or the words target, nontarget and spoof, as labels."""
    if not isinstance(labels, Factor):
        array = np.asarray(check.as_list(labels))
        if array.dtype.kind not in "UO" or (array.size and type(array[0]) in (bool, np.bool_)):
            return np.where(check.as_mask(array, "labels"), np.int8(1), np.int8(-1))
        labels = Factor.from_values(check.as_ids(array, "labels"))
    words = np.append(labels.levels, "")
    strange = [words[code] for code in np.unique(labels.codes) if words[code] not in _LABELS]
    if strange:
        expected = "be truth values, or target, nontarget and spoof"
        found = check.list_some(map(repr, map(str, strange)))
        hint = f"Say which word means a target: np.array(labels) == {str(strange[-1])!r}."
        raise check.invalid("labels", expected, found, hint)
    numbers = np.array([_LABELS.get(word, 0) for word in words.tolist()], dtype=np.int8)
    return numbers[labels.codes]


def as_ndx(ndx: object) -> Ndx | Key:
    """Return trials; raise if it is anything else."""
    classes: tuple[type[Ndx | Key], ...] = Ndx, Key
    return align.instance_of(classes, ndx, "ndx", "be an Ndx or a Key")


def as_key(key: object) -> Key:
    """Return a key; raise if it is anything else."""
    expected = "be a Key, which says what the targets are"
    return align.instance_of((Key,), key, "key", expected)


def describe_trials(trials: Trials, chosen: BoolArray) -> str:
    """Return the count and the first few of the trials under a vector mask, for a message."""
    models, segments = trials.trial_positions()
    return align.name_trials(models[chosen], segments[chosen], trials.ids)


def notes_unless_found(
    ndx: Ndx | Key, n_ids: tuple[int, int], found: BoolArray | None
) -> list[Note]:
    """Note models, segments and trials that are missing, in the toolkit's words."""
    # `n_ids` are the numbers of models and segments that were found. `found` says which trials were
    # found, column by column, or None for all.
    return align.notes_of_missing(ndx.shape, n_ids, ndx.counts(), ndx.counts(found))
