"""Trials, their labels, and columns of what is known of them: Ndx and Key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self, TypeGuard

import attrs
import numpy as np

import bosaris_py.trials.alignment as align
from bosaris_py import _arrays as arrays, _validation as check, errors
from bosaris_py._arrays import AnyArray, ArrayLike, BoolArray, FilePath, Given, IntArray, StrArray
from bosaris_py.files import columns as listing, hdf5
from bosaris_py.files.columns import Factor
from bosaris_py.files.hdf5 import StoredColumn
from bosaris_py.trials.alignment import IdList, Ids
from bosaris_py.trials.trials import Trials

# The word of each label: 1 is a target; -1, a non-target, and -2, a spoof, count from the end.
WORDS = np.array(["", "target", "spoof", "nontarget"])
_LABELS = {"target": 1, "nontarget": -1, "spoof": -2}

# Categories, or numbers.
Column = Factor | AnyArray

# One value for each trial, or what a column of models or segments has for each id.
ColumnLike = Factor | ArrayLike | Sequence[object]
OfSide = tuple[str, Mapping[str, object] | ColumnLike]

# What a column may describe; each known column has the place of that in this list.
SIDES = ("trial", "model", "segment")
Known = Mapping[str, tuple[int, Column]]

# What is no list of values, or an array already.
_KEPT = str, bytes, Mapping, set, frozenset, np.ndarray


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
        self, modelset: IdList, segset: IdList, trialmask: ArrayLike | None = None
    ) -> None:
        ids = align.both_ids(modelset, segset)
        self.__attrs_init__(*ids, align.as_cells(trialmask, ids, "trialmask"))

    @property
    def _contents(self) -> AnyArray:
        return np.broadcast_to(np.True_, self.shape if self.cells is None else self.cells.shape)

    @classmethod
    def _made(cls, *fields: object, **named: object) -> Self:
        # Of trials nothing is said.
        return super()._made(*fields[:3], **named)

    @property
    def trialmask(self) -> BoolArray:
        """True where model and segment make a trial; of a list a new matrix each time."""
        return self.trial_mask

    def _in_matrices(self, form: str) -> dict[str, AnyArray]:
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
        return Ndx._merged(align.all_of_class(Ndx, self, *others))

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
    _contents: IntArray = attrs.field(converter=arrays.read_only)
    _known: Known = attrs.field(factory=dict)

    _kind, _listed, _argument = "key", "is_target", "labels"

    def __init__(
        self,
        modelset: IdList,
        segset: IdList,
        tar: ArrayLike,
        non: ArrayLike,
        spoof: ArrayLike | None = None,
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
        cells = align.as_cells(labels != 0, ids, "tar")
        self.__attrs_init__(*ids, cells, arrays.mark_read_only(labels))

    @classmethod
    def from_trials(
        cls,
        models: IdList,
        segments: IdList,
        labels: ArrayLike | Factor | Sequence[str],
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
        check.check_mapping(columns or {}, "columns", "values")
        given = dict(columns or {})
        listed = {name: values for name, values in given.items() if not is_of_side(values)}
        lines = {f"columns[{name!r}]": values for name, values in listed.items()}
        ids, rows, cols = align.code_trials(models, segments, labels=labels, **lines)
        found = as_labels(labels)
        check.check_shape(found, rows.shape, "labels", "like `models`")
        made = cls._from_positions(ids, rows, cols, found)
        order = listing.order_trials(rows, cols, ids[0].size)
        for name, values in listed.items():
            column = as_column(values, name, rows.size)
            if clash := np.count_nonzero(order.conflicts(column)):
                got = f"another value in {clash} lines of column {name!r}"
                raise check.invalid("columns", "be the same for a trial listed twice", got)
            given[name] = take_items(column, order.order)
        return made.with_columns(**given)

    @property
    def columns(self) -> Columns:
        """What is known of the trials: a mapping of names to one value for each trial."""
        return Columns(self, self._known)

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
        added = {name: _as_known(name, values, self) for name, values in columns.items()}
        return self._with_known({**self._known, **added})

    def _with_known(self, known: Known) -> Self:
        return self._made(*self.ids, self.cells, self._contents, known=known)

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
        places, known = other._places_of(self) if other._known else [], {}
        for name, (side, column) in other._known.items():
            at = places[side]
            if (absent := at < 0).any():
                message = f"Column {name!r} has no value for {absent.sum()} of {at.size}"
                raise errors.TrialMismatchError(f"{message} {SIDES[side]}s; each must have one.")
            known[name] = side, take_items(column, at)
        return self._with_known(known) if known else self

    def _places_of(self, wanted: Key) -> list[AnyArray]:
        """Return the places here of the trials, the models and the segments of another key."""
        frame = align.frame_of(wanted.ids, self.ids)
        at = self.locate(wanted, frame)
        trials = np.arange(self.n_trials) if at is None else at
        return [trials, *frame.cells(*map(np.arange, wanted.shape))]

    def _filtered(self, rows: IntArray, cols: IntArray, ids: Ids) -> Self:
        return super()._filtered(rows, cols, ids).with_columns_of(self)

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
        made = self._from_vector(self.ids, self._codes[chosen], self.labels[chosen])
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
        given = speakers.get if isinstance(speakers, Mapping) else speakers
        if isinstance(speakers, Mapping) and (unknown := {*names.tolist()} - {*speakers}):
            expected = "name the speaker of each recording"
            raise check.invalid("speakers", expected, f"none of {check.list_some(sorted(unknown))}")
        if callable(given):
            given = list(map(given, names.tolist()))
        check.check_same_rows({"ids": ids, "speakers": given})
        codes = as_factor(given, "speakers", names.size).codes
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
        if isinstance(mates, Trials):
            align.instance_of((Ndx,), mates, "mates", "be an Ndx, or pairs of ids")
        for each in trials:
            align.instance_of((Trials,), each, "trials", "be Ndx or Scores")
        listed, *others = map(_pairs_of, (mates, *trials))
        both = {*listed, *(pair[::-1] for pair in listed)}
        known = dict.fromkeys(pair for part in others for pair in part)
        strange = [pair for pair in listed if not {pair, pair[::-1]} & known.keys()]
        if strange and known:
            # Mates come in either order.
            listed_ids, ids = (np.unique([*pairs]) for pairs in (both, known))
            if call := align.remedy_of((listed_ids,) * 2, (ids,) * 2, "mates"):
                text = f"{len(strange)} of {len(listed)} mates have other ids than the trials."
                raise errors.TrialMismatchError(text, call=call)
        known |= dict.fromkeys(strange)
        models, segments = ([pair[side] for pair in known] for side in (0, 1))
        return cls.from_trials(models, segments, [pair in both for pair in known])

    def _agrees(self, other: Self) -> bool:
        mine, theirs = self.columns, other.columns
        return (
            super()._agrees(other)
            and mine.keys() == theirs.keys()
            and all(listing.equal_columns(column, theirs[name]) for name, column in mine.items())
        )

    def _kinds(self) -> Factor:
        return Factor.from_values(WORDS[self.labels])

    def _in_matrices(self, form: str) -> dict[str, AnyArray]:
        if form == "hdf5":
            return {"labels": self._contents}
        if self.n_spoof:
            expected = "be .h5 where there are spoofs"
            raise check.invalid("path", expected, f"one for {self.n_spoof} spoofs")
        return {"tar": self.tar, "non": self.non}

    def _stored(self, form: str) -> tuple[str, dict[str, AnyArray]]:
        kind, arrays = super()._stored(form)
        if "models" in arrays:
            arrays["is_target"] = self._kinds().values() if self.n_spoof else self.is_target
        if form == "txt":
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
        known = dict(self._known)
        if self.n_spoof:
            known[listing.KIND] = 0, self._kinds()
        if not known:
            super().save_hdf5(path)
            return
        columns: dict[str, dict[str, StoredColumn]] = {side: {} for side in SIDES}
        for name, (side, x) in known.items():
            columns[SIDES[side]][name] = (x.codes, x.levels) if isinstance(x, Factor) else x
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
            cells = align.as_cells(arrays["labels"] != 0, ids, "labels")
            return cls._made(*ids, cells, arrays["labels"])
        if "is_target" in arrays:
            arrays["is_target"] = as_labels(arrays["is_target"])
        if columns is None:
            return super()._from_stored(**arrays)
        # In another order the trials would be sorted, but not the columns beside them.
        places = arrays["models"], arrays["segments"]
        if listing.order_trials(*places, arrays["modelset"].size).order is not None:
            raise check.invalid("trials", "come by segment, then by model, each once", "others")
        known: dict[str, tuple[int, Column]] = {
            name: (side, x if isinstance(x, np.ndarray) else Factor(*x))
            for side, word in enumerate(SIDES)
            for name, x in columns[word].items()
        }
        _, kinds = known.get(listing.KIND, (0, None))
        if listing.are_kinds(kinds):
            is_spoof = kinds.values() == "spoof"
            if (is_spoof & (arrays["is_target"] == 1)).any():
                raise check.invalid("trials", "not be targets and spoofs", "such")
            arrays["is_target"] = np.where(is_spoof, np.int8(-2), arrays["is_target"])
            del known[listing.KIND]
        return super()._from_stored(**arrays)._with_known(known)

    # Labels

    @cached_property
    def labels(self) -> IntArray:
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
        return arrays.mark_read_only(self.labels == 1)

    def _mask_of_label(self, label: int) -> BoolArray:
        mask = self._contents == label
        return self._matrix(mask) if self.is_sparse else arrays.mark_read_only(mask)

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
        labels = self.labels if chosen is None else self.labels[chosen]
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
        places = [made._places_of(item) for item in objects] if self._known else []
        known: dict[str, tuple[int, Column]] = {}
        for name, (side, _) in self._known.items():
            if not all(name in item._known and item._known[name][0] == side for item in others):
                continue
            values = np.full((made.n_trials, *made.shape)[side], None, dtype=object)
            for item, at in zip(objects, places, strict=True):
                column, before = item._known[name][1], values[at[side]]
                own = np.asarray(column.values() if isinstance(column, Factor) else column, object)
                if (clash := (before != None) & (before != own)).any():  # noqa: E711
                    message = f"The objects to be merged have other values in column {name!r}"
                    raise errors.TrialMismatchError(f"{message} for {clash.sum()} {SIDES[side]}s.")
                values[at[side]] = own
            known[name] = side, as_column(values.tolist(), name, values.size)
        return made._with_known(known)

    # Tables and display

    def _counts(self) -> str:
        spoofs = f", {self.n_spoof} spoofs" if self.n_spoof else ""
        return f"{self.n_tar} targets, {self.n_non} non-targets{spoofs}"

    def _columns(self) -> dict[str, AnyArray]:
        spoofs = {"spoof": self.labels == -2} if self.n_spoof else {}
        return {"target": self.is_target, **spoofs}

    def _further_columns(self) -> Mapping[str, Column]:
        return {**self.columns, **({"label": self._kinds()} if self.n_spoof else {})}


def _pairs_of(trials: Trials | Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the models and segments of trials, or pairs as they are given."""
    if not isinstance(trials, Trials):
        pairs = np.array(check.listed(trials, "mates"), dtype=object)
        if pairs.shape[1:] != (2,):
            raise check.invalid("mates", "be an Ndx, or pairs of ids", check.describe(trials))
        ids = check.as_ids(pairs.ravel(), "mates").tolist()
        return [*zip(ids[::2], ids[1::2], strict=True)]
    sides = zip(trials.ids, trials.trial_positions(), strict=True)
    return [*zip(*(ids[places].tolist() for ids, places in sides), strict=True)]


def as_labels(labels: object) -> IntArray:
    """Return truth values, or the words target, nontarget and spoof, as labels."""
    if not isinstance(labels, Factor):
        array = np.asarray(check.as_list(labels))
        if array.dtype.kind not in "UO" or (array.size and type(array.flat[0]) in (bool, np.bool_)):
            return np.where(check.as_mask(array, "labels"), np.int8(1), np.int8(-1))
        labels = Factor.from_values(check.as_ids(array, "labels"))
    numbers = np.array([_LABELS.get(word, 0) for word in labels.levels.tolist()], dtype=np.int8)
    found = numbers[labels.codes]
    if not found.all():
        strange = labels.levels[np.unique(labels.codes[found == 0])].tolist()
        expected = "be truth values, or target, nontarget and spoof"
        hint = f"Say which word means a target: np.array(labels) == {strange[-1]!r}."
        raise check.invalid("labels", expected, check.list_some(map(repr, strange)), hint)
    return found


def as_ndx(ndx: object) -> Ndx | Key:
    """Return trials; raise if it is anything else."""
    classes: tuple[type[Ndx | Key], ...] = Ndx, Key
    return align.instance_of(classes, ndx, "ndx", "be an Ndx or a Key")


def as_key(key: object) -> Key:
    """Return a key; raise if it is anything else."""
    return align.instance_of((Key,), key, "key", "be a Key, which says what the targets are")


def describe_trials(trials: Trials, chosen: BoolArray) -> str:
    """Return the count and the first few of the trials under a vector mask, for a message."""
    models, segments = trials.trial_positions()
    return align.name_trials(models[chosen], segments[chosen], trials.ids)


# Columns


@attrs.frozen(eq=False, repr=False)
class Columns(Mapping[str, Column]):
    """The columns of a key: a mapping of names to one value for each trial.

    Notes
    -----
    Text and truth values are kept as a `Factor`: one or two bytes for each trial, whatever the
    length of the text. Numbers are kept in their type, as read-only arrays, and may be NaN where
    nothing is known. What belongs to a model or a segment is stored once for each of them.
    ``"model"`` and ``"segment"`` are the ids, unless a column is so named.
    """

    _trials: Trials
    _known: Known

    def __getitem__(self, name: str) -> Column:
        """Return a column with one value for each trial, column by column."""
        if name in self._known:
            side, column = self._known[name]
        elif name in SIDES[1:]:
            side = SIDES.index(name)
            ids = self._trials.ids[side - 1]
            column = Factor.unchecked(np.arange(ids.size), ids)
        else:
            raise KeyError(f"{name!r} is no column ({', '.join(self) or 'there is none'})")
        return take_items(column, self._trials.trial_positions()[side - 1] if side else None)

    def __iter__(self) -> Iterator[str]:
        """Return the names."""
        return iter(self._known)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._known)

    def __repr__(self) -> str:
        """Show the names."""
        named = (f"{check.safe(name)} by {SIDES[side]}" for name, (side, _) in self._known.items())
        return f"Columns: {', '.join(named) or 'none'}"

    def factor(self, name: str, argument: str = "name") -> Factor:
        """Return a column of categories with one value for each trial.

        Parameters
        ----------
        name : str
            A column of text, truth values or whole numbers.
        argument : str, default: "name"
            What an error calls the name.

        Returns
        -------
        Factor
            Column by column. Whole numbers become their text.

        Raises
        ------
        InvalidInputError
            If there is no such column, or it holds measured quantities.
        """
        column = self.get(name)
        if column is None:
            hint = "" if len(self) else "Give the key columns: key.with_columns(...)."
            expected = f"be a column ({', '.join(self) or 'there is none'})"
            raise check.invalid(argument, expected, check.describe(name), hint)
        if isinstance(column, Factor):
            return column
        if column.dtype.kind == "f":
            hint = "Add a column of classes, such as 'short' and 'long'."
            raise check.invalid(argument, "name categories", f"numbers in column {name!r}", hint)
        return Factor.from_values(column)


def take_items(column: Column, positions: AnyArray | slice | None) -> Column:
    """Return the values at some positions; None says all."""
    if positions is None:
        return column
    if isinstance(column, Factor):
        return column.take(positions)
    return arrays.mark_read_only(column[positions])


def is_of_side(values: object) -> TypeGuard[tuple[str, object]]:
    """Tell whether a column is one of models or of segments."""
    return type(values) is tuple and len(values) == 2 and str(values[0]) in SIDES[1:]


def _as_known(name: str, values: Given, trials: Trials) -> tuple[int, Column]:
    """Return a column as it is given: values of trials, or (side, values by id); and its side."""
    argument, side = f"columns[{name!r}]", 0
    if not name:
        raise check.invalid("columns", "be named by text", check.describe(name))
    if is_of_side(values):
        side = SIDES.index(values[0])
        values = _in_order(values[1], argument, SIDES[side], trials.ids[side - 1])
    else:
        hint = "Key.from_trials takes columns in the order of the ids that it is given."
        check.refuse_series(values, argument, hint)
    return side, as_column(values, argument, (trials.n_trials, *trials.shape)[side])


def _in_order(values: Given, name: str, side: str, ids: StrArray) -> Given:
    """Return the values of a mapping, or of a Series with ids as its index, in order of the ids."""
    index = check.row_labels(values)
    if index is None and not isinstance(values, Mapping):
        return values
    found = dict(values if index is None else zip(index, values, strict=True))
    if len(found) < len(values):
        raise check.invalid(name, "have each id once", "some twice")
    absent = [one for one in ids.tolist() if one not in found]
    if absent and len(absent) == ids.size:
        remedy = f"A dict {{id: value}}, or a Series with ids as its index, gives each {side}"
        check.refuse_series(values, name, f"{remedy} its own.", side)
    if absent:
        got = f"none for {len(absent)} of {ids.size}: {check.list_some(absent)}"
        raise check.invalid(name, f"have a value for each {side}", got)
    return [found[one] for one in ids.tolist()]


def as_column(values: Given, name: str, size: int) -> Column:
    """Return a column: numbers as a read-only array, everything else as a factor."""
    if np.ma.is_masked(values):
        raise check.invalid(name, "have a value for each item", "masked values", "Take .filled().")
    if hasattr(values, "__iter__") and not isinstance(values, _KEPT):
        # numpy would make text of numbers among texts.
        values = list(values)
        kinds = set(map(type, values))
        if all(issubclass(kind, int | float | np.number) and kind is not bool for kind in kinds):
            values = np.array(values)
    dtype = getattr(values, "dtype", np.dtype(object)).newbyteorder("=")
    if dtype.kind not in "fiu":
        return as_factor(values, name, size)
    check.check_shape(values, (size,), name, "of the trials or ids")
    if dtype.kind == "f":
        # float16 is slow in numpy, and longer types differ between machines.
        dtype = np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return arrays.read_only(values.astype(dtype, copy=False))


def as_factor(values: Given, name: str, size: int) -> Factor:
    """Return categories as a factor; errors tell which argument held others."""
    try:
        # What goes by position has been refused before, with the way that it should take.
        listed = list(values) if check.is_column(values) else values
        column = values if isinstance(values, Factor) else Factor.from_values(listed)
    except errors.InvalidInputError as error:
        raise errors.InvalidInputError(f"`{name}` of {error}") from None
    if len(column) != size:
        raise check.invalid(name, f"have {size} values", f"{len(column)}")
    return column
