"""Trials and their labels: Ndx and Key."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Self

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.trials.trials as base
from bosaris_py import _validation as check
from bosaris_py._arrays import AnyArray, BoolArray, mark_read_only, read_only
from bosaris_py.trials.alignment import IdList, Ids
from bosaris_py.trials.trials import Cells, Contents, ListedTrials, Trials

LabelArray = npt.NDArray[np.int8]

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
        ids = base.both_ids(modelset, segset)
        mask = None if trialmask is None else base.to_mask(trialmask, ids, "trialmask")
        self.__attrs_init__(*ids, None if mask is None else base.as_cells(mask))

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
        return Ndx._merged(base.all_of_class(Ndx, self, *others), "")


@attrs.frozen(init=False, eq=False, repr=False)
class Key(ListedTrials):
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

    # Of each trial 1 for a target, -1 for a non-target: a vector of a list, else a matrix.
    _labels: LabelArray = attrs.field(converter=read_only)

    _kind = "key"

    def __init__(
        self, modelset: IdList, segset: IdList, tar: npt.ArrayLike, non: npt.ArrayLike
    ) -> None:
        ids = base.both_ids(modelset, segset)
        masks = base.to_mask(tar, ids, "tar"), base.to_mask(non, ids, "non")
        # A trial in both masks would count twice, and no metric would notice.
        both = masks[0] & masks[1]
        if both.any():
            models, segments = np.nonzero(both)
            got = base.name_trials(models, segments, ids)
            raise check.invalid("non", "not share trials with `tar`", got)
        labels = mark_read_only(masks[0].view(np.int8) - masks[1].view(np.int8))
        self.__attrs_init__(*ids, base.as_cells(mark_read_only(labels != 0)), labels)

    @property
    def _contents(self) -> Contents:
        return self._labels

    def _with(self, ids: Ids, cells: Cells, contents: Contents) -> Self:
        return self._of_fields(*ids, cells, contents)

    @classmethod
    def from_trials(cls, models: IdList, segments: IdList, labels: npt.ArrayLike) -> Self:
        """Build a key from a list of trials given by their ids.

        Parameters
        ----------
        models, segments : (k,) array_like of str
            As for `Ndx.from_trials`. A trial that is listed with two labels is an error.
        labels : (k,) array_like of bool
            True for a target trial, False for a non-target trial.

        Returns
        -------
        Key

        Examples
        --------
        >>> from bosaris_py.trials import Key
        >>> Key.from_trials(["bert", "anna"], ["s1", "s1"], [True, False])
        Key: 2 models x 1 segments, 1 targets, 1 non-targets
        """
        check.check_same_rows({"models": models, "segments": segments, "labels": labels})
        return cls._from_ids(models, segments, as_labels(labels), "labels")

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

    def _in_list(self) -> dict[str, AnyArray]:
        return {"is_target": self.is_target}

    def _in_matrices(self) -> dict[str, AnyArray]:
        return {"tar": self.tar, "non": self.non}

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
        """The label of each trial, column by column: 1 for a target, -1 for a non-target."""
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

    @cached_property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(np.count_nonzero(self._labels == 1))

    @cached_property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(np.count_nonzero(self._labels == -1))

    def _counts(self) -> str:
        return f"{self.n_tar} targets, {self.n_non} non-targets"

    def _drawn(self, at: tuple[AnyArray, ...]) -> AnyArray:
        return self._labels[at]

    def _columns_of_trials(self) -> dict[str, AnyArray]:
        return {"target": self.is_target}

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
        return self._listed_once(self.ids, models, segments, self.labels[chosen], "labels")

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
        return Key._merged(base.all_of_class(Key, self, *others), _DISAGREEMENT)


def as_labels(labels: npt.ArrayLike) -> LabelArray:
    """Return truth values as labels."""
    is_target = check.as_mask(labels, "labels")
    return np.where(is_target, np.int8(1), np.int8(-1))


def as_ndx(ndx: object) -> Ndx | Key:
    """Return trials given by themselves, beside their metadata, or by what `from_frame` returns."""
    found, _ = parts_of(ndx)
    if isinstance(found, Ndx | Key):
        return found
    raise check.invalid("ndx", "be an Ndx or a Key", check.describe(ndx), _misuse(ndx))


def as_key(key: object) -> Key:
    """Return a key given by itself, beside its metadata, or by what `from_frame` returns."""
    # `trials.inputs.split_key` keeps the metadata, and takes files, too.
    found, _ = parts_of(key)
    if isinstance(found, Key):
        return found
    expected = "be a Key, which says what the targets are"
    raise check.invalid("key", expected, check.describe(key), _misuse(key))


def parts_of(given: object) -> tuple[object, object]:
    """Return what stands in the place of trials and of their metadata, which may be None."""
    if isinstance(given, tuple) and len(given) == 2:
        return given
    if isinstance(given, Trials):
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


def describe_trials(trials: Trials, chosen: BoolArray) -> str:
    """Return the count and the first few of the trials under a vector mask, for a message."""
    models, segments = trials.trial_positions()
    return base.name_trials(models[chosen], segments[chosen], trials.ids)


def warn_unless_found(ndx: Trials, n_ids: tuple[int, int], found: BoolArray | None) -> None:
    """Warn of models, segments and trials that are missing, in the toolkit's words."""
    # `n_ids` are the numbers of models and segments that were found. `found` says which trials were
    # found, column by column, or None for all.
    n_found = ndx.n_trials if found is None else int(np.count_nonzero(found))
    if not isinstance(ndx, Key):
        base.warn_missing(ndx.shape, n_ids, (ndx.n_trials,), (n_found,))
        return
    # Where nothing is missing, the labels need not be looked at.
    n_tar = ndx.n_tar
    if found is not None and n_found < ndx.n_trials:
        n_tar = int(np.count_nonzero(found & ndx.is_target))
    base.warn_missing(ndx.shape, n_ids, (ndx.n_tar, ndx.n_non), (n_tar, n_found - n_tar))
