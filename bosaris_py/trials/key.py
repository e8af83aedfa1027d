"""Trials and their labels: Ndx and Key as matrices, FlatNdx and FlatKey as lists."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from attrs import frozen

import bosaris_py.trials.trial_sets as trial_sets
from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, BoolArray, Positions, mark_read_only
from bosaris_py._validation import FilePath
from bosaris_py.errors import TrialMismatchError
from bosaris_py.trials.alignment import Frame, IdList, extract, true_positions


@frozen(init=False, eq=False, repr=False)
class Ndx(trial_sets.TrialMatrix, trial_sets.TextFileMethods, trial_sets.TrialRecords):
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
    FlatNdx : The same as a list, for trials too sparse for a matrix.

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

    trialmask: BoolArray

    _matrices = ("trialmask",)
    _kind = "ndx"

    def __init__(
        self, modelset: IdList, segset: IdList, trialmask: npt.ArrayLike | None = None
    ) -> None:
        ids = trial_sets.both_ids(modelset, segset)
        self.__attrs_init__(*ids, trial_sets.to_mask_or_all(trialmask, ids, "trialmask"))

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
        modelset, segset, mask, _ = trial_sets.scatter((models, segments))
        return cls(modelset, segset, mask)

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return int(np.count_nonzero(self.trialmask))

    @property
    def trial_mask(self) -> BoolArray:
        """The mask of all trials: `trialmask`."""
        return self.trialmask

    def trial_positions(self) -> tuple[Positions, Positions]:
        """Return where the model and the segment of each trial stand in the id lists.

        Returns
        -------
        models, segments : (n_trials,) arrays of int
            Positions in `modelset` and `segset`, column by column: the order of all vectors of
            trials. int32 unless the id lists are too long for it.

        Examples
        --------
        >>> from bosaris_py.trials import Ndx
        >>> ndx = Ndx(["anna", "bert"], ["s1", "s2"], [[True, True], [False, True]])
        >>> [positions.tolist() for positions in ndx.trial_positions()]
        [[0, 0, 1], [0, 1, 1]]
        """
        return true_positions(self.trialmask)

    def to_flat(self) -> "FlatNdx":
        """Return the trials as a list.

        Returns
        -------
        FlatNdx
        """
        return FlatNdx(*self.ids, *self.trial_positions())

    def merge(self, *others: "Ndx") -> "Ndx":
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
        objects = trial_sets.all_of_class(Ndx, self, *others)
        union = trial_sets.IdUnion.of(objects)
        return Ndx(*union.ids, union.merge_masks(objects, "trialmask"))


@frozen(init=False, eq=False, repr=False)
class FlatNdx(trial_sets.FlatTrials, trial_sets.TextFileMethods, trial_sets.TrialRecords):
    """The trials of an experiment as a list, for lists too sparse for a matrix.

    Whatever takes an `Ndx` takes this too, and gives the same numbers.

    Parameters
    ----------
    modelset, segset : (m,), (n,) array_like of str
        Ids of the models and of the test segments, each once.
    models, segments : (k,) array_like of int
        Positions of the model and of the segment of each trial in these lists, from 0.

    Warns
    -----
    DuplicateTrialWarning
        If a trial is listed more than once; it counts once.

    See Also
    --------
    Ndx : The same as a matrix.
    FlatKey : Trials of which the answer is known, as a list.

    Notes
    -----
    Trials are sorted by segment, then by model, the order of all vectors of trials. A position
    takes four bytes.

    Examples
    --------
    >>> from bosaris_py.trials import FlatNdx
    >>> ndx = FlatNdx(["anna", "bert"], ["s1", "s2"], models=[1, 0], segments=[1, 0])
    >>> ndx
    FlatNdx: 2 models x 2 segments, 2 trials
    >>> ndx.to_dense().trialmask.tolist()
    [[True, False], [False, True]]
    """

    _kind = "flat_ndx"

    def __init__(
        self, modelset: IdList, segset: IdList, models: npt.ArrayLike, segments: npt.ArrayLike
    ) -> None:
        self.__attrs_init__(
            *trial_sets.TrialList.checked((modelset, segset), (models, segments))[:4]
        )

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList) -> Self:
        """Build a FlatNdx from a list of trials given by their ids.

        Parameters
        ----------
        models, segments : (k,) array_like
            As for `Ndx.from_trials`.

        Returns
        -------
        FlatNdx

        Warns
        -----
        DuplicateTrialWarning
            If a trial is listed again; with counts.

        Examples
        --------
        >>> from bosaris_py.trials import FlatNdx
        >>> ndx = FlatNdx.from_trials(["bert", "anna", "bert"], ["s1", "s1", "s2"])
        >>> ndx.models.tolist(), ndx.segments.tolist()
        ([0, 1, 1], [0, 0, 1])
        """
        check.check_same_rows({"models": models, "segments": segments})
        return cls(*trial_sets.TrialList.coded((models, segments))[:4])

    def to_dense(self, *, max_cells: int = trial_sets.MAX_CELLS) -> Ndx:
        """Return the trials as a matrix.

        Parameters
        ----------
        max_cells : int, default: 10**8
            The largest size of the matrix that is wanted. A cell takes a byte: of a key two, of
            scores five or nine.

        Returns
        -------
        Ndx
        """
        return Ndx(*self.ids, *self._in_matrices(max_cells, np.ones(self.n_trials, dtype=np.bool_)))

    def merge(self, *others: "FlatNdx") -> "FlatNdx":
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : FlatNdx
            As for `Ndx.merge`, like what is returned.

        Returns
        -------
        FlatNdx
        """
        return FlatNdx(
            *trial_sets.TrialList.merged(trial_sets.all_of_class(FlatNdx, self, *others))[:4]
        )


class _Labelled(trial_sets.TrialRecords):
    """What a key says of its labels, in a table and in a line, and of trials that are none."""

    __slots__ = ()

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList, is_target: npt.ArrayLike) -> Self:
        """Build a key from a list of trials given by their ids.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            As for `Ndx.from_trials`. A trial that is listed with two labels is an error.
        is_target : (k,) array_like of bool
            True for a target trial, False for a non-target trial.

        Returns
        -------
        Self

        Warns
        -----
        DuplicateTrialWarning
            From a `FlatKey`, as from `FlatNdx.from_trials`.

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> Key.from_trials(["bert", "anna"], ["s1", "s1"], [True, False])
        Key: 2 models x 1 segments, 1 targets, 1 non-targets
        """
        check.check_same_rows({"models": models, "segments": segments, "is_target": is_target})
        return cls._of_listed((models, segments), check.as_mask(is_target, "is_target"))

    @classmethod
    @abstractmethod
    def _of_listed(cls, ids: trial_sets.IdLists, labels: BoolArray) -> Self:
        """Build a key from a list of trials given by their ids, with their labels."""

    def _listed(self: Any) -> dict[str, Any]:
        return {**super()._listed(), "target": self.trial_labels()}

    def _counts(self: Any) -> str:
        return f"{self.n_tar} targets, {self.n_non} non-targets"


_DISAGREEMENT = "The keys to be merged disagree whether a trial is a target:"


@frozen(init=False, eq=False, repr=False)
class Key(_Labelled, trial_sets.TrialMatrix, trial_sets.TextFileMethods):
    """The trials of an experiment together with the right labels.

    Parameters
    ----------
    modelset, segset
        As for `Ndx`.
    tar : (m, n) array_like of bool
        True where the segment is of the model: target trials.
    non : (m, n) array_like of bool
        True where it is not: non-target trials. Where both are false there is no trial; both true
        is an error.

    See Also
    --------
    Ndx : Trials without labels.
    FlatKey : The same as a list, for trials too sparse for matrices.

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
    """

    tar: BoolArray
    non: BoolArray

    _matrices = ("tar", "non")
    _kind = "key"

    def __init__(
        self, modelset: IdList, segset: IdList, tar: npt.ArrayLike, non: npt.ArrayLike
    ) -> None:
        ids = trial_sets.both_ids(modelset, segset)
        self.__attrs_init__(
            *ids, trial_sets.to_mask(tar, ids, "tar"), trial_sets.to_mask(non, ids, "non")
        )

    @classmethod
    def _rebuilt(cls, *arrays: AnyArray) -> Self:
        return cls._of_fields(*arrays)

    @classmethod
    def _from_file(cls, path: FilePath, arrays: dict[str, AnyArray]) -> Self:
        return super()._from_file(path, arrays)

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
        if not callable(speakers) and not isinstance(speakers, Mapping):
            check.check_same_rows({"ids": ids, "speakers": speakers})
            told = list(speakers)
            if len(told) != names.size:
                expected = f"have the speaker of each of {names.size} recordings"
                raise check.invalid("speakers", expected, f"{len(told)}")
        else:
            told = [speakers(n) if callable(speakers) else speakers[n] for n in names.tolist()]
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

    def __attrs_post_init__(self) -> None:
        """Raise if shapes do not fit, or a trial is both target and non-target."""
        super().__attrs_post_init__()
        # A trial in both masks would count twice, and no metric would notice.
        both = self.tar & self.non
        if both.any():
            raise check.invalid(
                "non", "not share trials with `tar`", trial_sets.name_cells(both, self.ids)
            )

    @classmethod
    def _of_listed(cls, ids: trial_sets.IdLists, labels: BoolArray) -> Self:
        modelset, segset, mask, tar = trial_sets.scatter(ids, labels, "is_target")
        # What is a trial and no target.
        return cls(modelset, segset, tar, mark_read_only(mask ^ tar))

    @cached_property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self.tar))

    @cached_property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(np.count_nonzero(self.non))

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return self.n_tar + self.n_non

    @property
    def trial_mask(self) -> BoolArray:
        """The mask of all trials, a new one each time."""
        # Not kept: that would be a third matrix.
        return mark_read_only(self.tar | self.non)

    def trial_positions(self) -> tuple[Positions, Positions]:
        """Return where the model and the segment of each trial stand in the id lists.

        Returns
        -------
        models, segments : (n_trials,) arrays of int
            As `Ndx.trial_positions`.
        """
        return true_positions(self.trial_mask)

    def trial_labels(self) -> BoolArray:
        """Tell for each trial whether it is a target.

        Returns
        -------
        (n_trials,) array of bool
            True for a target, column by column like `trial_positions`.

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> key = Key.from_trials(["bert", "anna"], ["s1", "s1"], [True, False])
        >>> key.modelset.tolist(), key.trial_labels().tolist()
        (['anna', 'bert'], [False, True])
        """
        (labels,) = extract(Frame(None, None, self.shape), self.tar, None, (self.trial_mask,))
        return mark_read_only(labels)

    def to_ndx(self) -> Ndx:
        """Return the trials without the labels.

        Returns
        -------
        Ndx
        """
        return Ndx(*self.ids, self.trial_mask)

    def to_flat(self) -> "FlatKey":
        """Return the key as a list.

        Returns
        -------
        FlatKey
        """
        return FlatKey._rebuilt(*self.ids, *self.trial_positions(), self.trial_labels())

    def merge(self, *others: "Key") -> "Key":
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
        objects = trial_sets.all_of_class(Key, self, *others)
        union = trial_sets.IdUnion.of(objects)
        tar, non = (union.merge_masks(objects, name) for name in ("tar", "non"))
        both = tar & non
        if both.any():
            raise TrialMismatchError(f"{_DISAGREEMENT} {trial_sets.name_cells(both, union.ids)}.")
        return Key._rebuilt(*union.ids, tar, non)


@frozen(init=False, eq=False, repr=False)
class FlatKey(_Labelled, trial_sets.FlatTrials, trial_sets.TextFileMethods):
    """The trials of an experiment with the right labels, as a list; see `FlatNdx`.

    Parameters
    ----------
    modelset, segset, models, segments
        As for `FlatNdx`.
    is_target : (k,) array_like of bool
        True for a target trial, False for a non-target trial.

    Warns
    -----
    DuplicateTrialWarning
        As for `FlatNdx`. Two labels of a trial are an error.

    See Also
    --------
    Key : The same as two matrices.

    Examples
    --------
    >>> from bosaris_py.trials import FlatKey
    >>> FlatKey(["anna", "bert"], ["s1", "s2"], models=[0, 1, 1], segments=[0, 0, 1],
    ...         is_target=[True, False, True])
    FlatKey: 2 models x 2 segments, 2 targets, 1 non-targets
    """

    is_target: BoolArray

    _content = "is_target"
    _kind = "flat_key"

    def __init__(
        self,
        modelset: IdList,
        segset: IdList,
        models: npt.ArrayLike,
        segments: npt.ArrayLike,
        is_target: npt.ArrayLike,
    ) -> None:
        labels = check.as_mask(is_target, "is_target")
        ids, positions = (modelset, segset), (models, segments)
        self.__attrs_init__(*trial_sets.TrialList.checked(ids, positions, labels, "is_target"))

    @classmethod
    def _rebuilt(cls, *arrays: AnyArray) -> Self:
        made = cls.__new__(cls)
        modelset, segset, models, segments, labels = arrays
        ids, positions = (modelset, segset), (models, segments)
        made.__attrs_init__(*trial_sets.TrialList.checked(ids, positions, labels, "is_target"))
        return made

    @classmethod
    def _of_listed(cls, ids: trial_sets.IdLists, labels: BoolArray) -> Self:
        return cls(*trial_sets.TrialList.coded(ids, labels, "is_target"))

    @cached_property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self.is_target))

    @property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return self.n_trials - self.n_tar

    def trial_labels(self) -> BoolArray:
        """Tell for each trial whether it is a target.

        Returns
        -------
        (n_trials,) array of bool
            The field `is_target`.
        """
        return self.is_target

    def to_ndx(self) -> FlatNdx:
        """Return the trials without the labels.

        Returns
        -------
        FlatNdx
        """
        return FlatNdx(*self.ids, self.models, self.segments)

    def to_dense(self, *, max_cells: int = trial_sets.MAX_CELLS) -> Key:
        """Return the key as a pair of matrices.

        Parameters
        ----------
        max_cells
            As for `FlatNdx.to_dense`.

        Returns
        -------
        Key
        """
        masks = self._in_matrices(max_cells, self.is_target, ~self.is_target)
        return Key._rebuilt(*self.ids, *masks)

    def merge(self, *others: "FlatKey") -> "FlatKey":
        """Unite the trials of several objects.

        Parameters
        ----------
        *others : FlatKey
            As for `Key.merge`.

        Returns
        -------
        FlatKey

        Raises
        ------
        TrialMismatchError
            As for `Key.merge`.
        """
        merged = trial_sets.TrialList.merged(
            trial_sets.all_of_class(FlatKey, self, *others), _DISAGREEMENT
        )
        return FlatKey._rebuilt(*merged)


AnyNdx = Ndx | Key | FlatNdx | FlatKey

AnyKey = Key | FlatKey


def as_ndx(ndx: object) -> AnyNdx:
    """Return trials given by themselves, beside their metadata, or by what `from_frame` returns."""
    found, _ = parts_of(ndx)
    if isinstance(found, AnyNdx):
        return found
    raise check.invalid("ndx", "be an Ndx or a Key", check.describe(ndx), _misuse(ndx))


def as_key(key: object) -> AnyKey:
    """Return a key given by itself, beside its metadata, or by what `from_frame` returns."""
    # `trials.inputs.split_key` keeps the metadata, and takes files, too.
    found, _ = parts_of(key)
    if isinstance(found, AnyKey):
        return found
    expected = "be a Key, which says what the targets are"
    raise check.invalid("key", expected, check.describe(key), _misuse(key))


def parts_of(given: object) -> tuple[object, object]:
    """Return what stands in the place of trials and of their metadata, which may be None."""
    if isinstance(given, tuple) and len(given) == 2:
        return given
    if isinstance(given, AnyNdx):
        return given, None
    return getattr(given, "key", given), getattr(given, "metadata", None)


def _misuse(key: object) -> str:
    """Return the likely mistake where something stands in the place of a key or of trials."""
    if isinstance(key, str | os.PathLike):
        return "Read the file: key, metadata = read_key(path), or read_trials if it has no labels."
    if hasattr(key, "metadata") and not isinstance(key, tuple):
        return "Give its key: data.key."
    if isinstance(key, tuple):
        return "read_key gives two things: key, metadata = read_key(path)."
    if hasattr(key, "columns"):
        return "Make a key of a data frame: from_frame(df).key."
    swapped = isinstance(key, list) or hasattr(key, "get_tar_non")
    return "Were scores and key swapped?" if swapped else ""


def describe_trials(trials: AnyNdx, chosen: BoolArray) -> str:
    """Return the count and the first few of the trials under a vector mask, for a message."""
    models, segments = trials.trial_positions()
    return trial_sets.name_trials(models[chosen], segments[chosen], trials.ids)


def warn_unless_found(ndx: AnyNdx, n_ids: tuple[int, int], found: BoolArray | None) -> None:
    """Warn of models, segments and trials that are missing, in the toolkit's words."""
    # `n_ids` are the numbers of models and segments that were found. `found` says which trials were
    # found: as a vector, as a matrix for a dense `ndx`, or None for all.
    n_found = ndx.n_trials if found is None else int(np.count_nonzero(found))
    if not isinstance(ndx, AnyKey):
        trial_sets.warn_missing(ndx.shape, n_ids, (ndx.n_trials,), (n_found,))
        return
    # Where nothing is missing, the labels need not be looked at.
    n_tar = ndx.n_tar
    if found is not None and n_found < ndx.n_trials:
        is_target = ndx.tar if isinstance(ndx, Key) and found.ndim == 2 else ndx.trial_labels()
        n_tar = int(np.count_nonzero(found & is_target))
    trial_sets.warn_missing(ndx.shape, n_ids, (ndx.n_tar, ndx.n_non), (n_tar, n_found - n_tar))
