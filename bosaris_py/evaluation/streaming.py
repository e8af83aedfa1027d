r"""Results of score files of any size, in memory that does not grow with them.

Two passes are needed and two are enough. The first collects the target scores: all
metrics depend on how many non-targets lie at and between them, and before all targets
are known no non-target can be counted. It also adds up the part of Cllr that non-targets
have. The second counts them. What is kept is a few numbers for each target.
"""

import functools
import os
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._execution import check_client, whole_number, worker_processes
from bosaris_py._validation import FilePath, by_constructor, describe, frozen, invalid, read_only
from bosaris_py.errors import FileFormatError
from bosaris_py.evaluation._streamed_passes import Counted, Looked, Passes
from bosaris_py.evaluation.evidence import Evidence
from bosaris_py.numerics.cllr import mean_bits, total_cost
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.roc import ROC
from bosaris_py.numerics.sorted_scores import SortedScores
from bosaris_py.trials.file_blocks import TrialBlocks, TrialCounts, TrialIds

__all__ = ["Files", "StreamedScores"]

Float64Array = npt.NDArray[np.float64]
Files = FilePath | Sequence[FilePath]

# The horizontal axis of a Bayes plot, unless it is told otherwise.
_PLO = (-10.0, 0.0, 1001)


@attrs.frozen(eq=False, repr=False)
class StreamedScores(Evidence):
    """What two passes over score files found out about their trials.

    Make one with `from_files`.

    Parameters
    ----------
    passes : Passes
        How to pass over the files once more.
    tar : SortedScores
        The target scores.
    thresholds : (k,) ndarray of float64
        All thresholds at which non-targets have been counted, ascending; the target
        scores are among them.
    at : (k,) ndarray of int64
        Non-targets at each of these.
    between : (k + 1,) ndarray of int64
        Non-targets below, between and above them.
    cllr : float
        Cost of the log-likelihood-ratios, in bits.
    """

    passes: Passes
    tar: SortedScores
    thresholds: Float64Array = attrs.field(converter=read_only)
    at: npt.NDArray[np.int64] = attrs.field(converter=read_only)
    between: npt.NDArray[np.int64] = attrs.field(converter=read_only)
    cllr: float

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call of the constructor, so that arrays stay read-only."""
        return by_constructor(self)

    @classmethod
    def from_files(
        cls,
        score_file: Files,
        key_file: Files,
        *,
        priors: PriorLike | None = None,
        block_rows: int | None = None,
        workers: int = 1,
        client: Any = None,
        progress: bool = False,
        owner: str = "StreamedScores.from_files",
    ) -> "StreamedScores":
        """Pass over files twice; as ``Results.from_files``.

        Parameters
        ----------
        score_file, key_file : str, path-like, or sequences of these
            HDF5 files of scores and of the keys that belong to them.
        priors : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
            Operating points whose actual costs will be asked for.
        block_rows : int, optional
            Rows (models) that are read at once.
        workers : int, default: 1
            Number of processes.
        client : dask.distributed.Client, optional
            A cluster to run on.
        progress : bool, default: False
            Show progress bars.
        owner : str, optional
            What the caller called, for error messages.

        Returns
        -------
        StreamedScores

        Raises
        ------
        InvalidInputError
            If an argument is bad, ids are repeated, no target or no non-target has a
            score, or one is NaN.
        FileFormatError
            If a file is damaged, foreign, or changes while it is read.
        RuntimeError
            If workers are lost.

        Warns
        -----
        MissingTrialsWarning
            If the key holds trials without score, with counts.
        """
        if block_rows is not None:
            block_rows = whole_number(block_rows, 1, "block_rows", owner)
        n_workers = whole_number(workers, 1, "workers", owner)
        check_client(client, n_workers, owner)
        wanted = [np.array([np.inf]), DecisionCosts.from_plo(np.linspace(*_PLO)).thresholds]
        if priors is not None:
            wanted.append(np.ravel(DecisionCosts.from_prior(priors, owner).thresholds))
        opened = [
            TrialBlocks.open([scores], key, owner=owner, any_order=True)
            for scores, key in _pair(score_file, key_file, owner)
        ]
        pairs = tuple(blocks for blocks, _ in opened)
        passes = Passes(pairs, block_rows, n_workers, client, progress)
        with worker_processes(n_workers) as pool:
            looked = passes.look(pool)
            tar, n_non = _targets([ids for _, ids in opened], looked, owner)
            values = tar.values.astype(np.float64)
            thresholds = np.unique(np.concatenate((values, *wanted)))
            counted = passes.count(thresholds, looked, pool)
        _check_count(counted, n_non)
        miss_bits = mean_bits(tar.values, None, sign=-1.0)
        bits = (miss_bits + total_cost(bit for part in looked for bit in part.bits) / n_non) / 2.0
        return cls(
            passes, tar, frozen(thresholds), frozen(counted.at), frozen(counted.between), bits
        )

    def __repr__(self) -> str:
        """Show the counts."""
        return f"StreamedScores: {self.n_tar} targets, {self.n_non} non-targets"

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return self.tar.size

    @functools.cached_property
    def n_non(self) -> int:
        """Number of non-target trials."""
        return int(self.at.sum() + self.between.sum())

    @functools.cached_property
    def _distinct(self) -> tuple[Float64Array, npt.NDArray[np.int64]]:
        """The distinct target scores, and the number of targets at each."""
        scores, counts = np.unique(self.tar.values.astype(np.float64), return_counts=True)
        return frozen(scores), frozen(counts)

    @functools.cached_property
    def roc(self) -> ROC:
        """The steppy ROC."""
        scores, tar_at = self._distinct
        places = np.searchsorted(self.thresholds, scores)
        # Gaps between target scores are those between all thresholds, put together with
        # what lies at thresholds that are no target scores.
        elsewhere = self.at.copy()
        elsewhere[places] = 0
        gaps = self.between.copy()
        gaps[:-1] += elsewhere
        starts = np.concatenate(([0], places + 1))
        return ROC(
            scores,
            tar_at,
            frozen(self.at[places]),
            frozen(np.add.reduceat(gaps, starts)),
        )

    @functools.cached_property
    def _below(self) -> npt.NDArray[np.int64]:
        """Non-targets below each threshold, then all of them."""
        return frozen(np.cumsum(self.between) + np.concatenate(([0], np.cumsum(self.at))))

    def error_rates(self, thresholds: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds.

        Where a threshold has not been counted and lies between others with non-targets
        in between, the files are read once more.

        Parameters
        ----------
        thresholds : ndarray of float64
            Accept iff score >= threshold; any shape and order, no NaN.

        Returns
        -------
        pmiss, pfa : ndarray of float64, shaped like `thresholds`
            Miss and false-alarm rates.

        Raises
        ------
        FileFormatError
            If the files must be read again and have changed.
        """
        limits = np.asarray(thresholds, dtype=np.float64)
        places = np.searchsorted(self.thresholds, limits)
        exact = self.thresholds.take(places, mode="clip") == limits
        # No non-target in the gap: the count is that at the next threshold.
        below = self._below[places]
        unknown = ~exact & (self.between[places] > 0) & np.isfinite(limits)
        below = np.where(limits == -np.inf, 0, below)
        if unknown.any():
            asked = np.unique(limits[unknown])
            counted = self.passes.count(asked, None)
            _check_count(counted, self.n_non)
            known = np.cumsum(counted.between[:-1]) + np.concatenate(
                ([0], np.cumsum(counted.at[:-1]))
            )
            below[unknown] = known[np.searchsorted(asked, limits[unknown])]
        pmiss = self.tar.count_below(limits) / self.n_tar
        pfa = (self.n_non - below) / self.n_non
        return pmiss, pfa


def _pair(score_files: Files, key_files: Files, owner: str) -> list[tuple[FilePath, FilePath]]:
    """Put each score file beside its key."""
    scores = _as_list(score_files, "score_file", owner)
    keys = _as_list(key_files, "key_file", owner)
    if len(scores) != len(keys):
        expected = f"be as many files as there are score files, {len(scores)}"
        raise invalid("key_file", owner, expected, f"{len(keys)}")
    pairs = list(zip(scores, keys, strict=True))
    seen: set[tuple[str, str]] = set()
    for pair in pairs:
        places = (os.path.realpath(pair[0]), os.path.realpath(pair[1]))
        if places in seen:
            got = f"{os.fspath(pair[0])} twice with the same key"
            hint = "All of its trials would count twice."
            raise invalid("score_file", owner, "hold each file once", got, hint)
        seen.add(places)
    return pairs


def _as_list(files: Any, name: str, owner: str) -> list[FilePath]:
    """Return names of files in a list; refuse anything else, and no file at all."""
    is_one = isinstance(files, str | os.PathLike)
    is_several = isinstance(files, Iterable) and not isinstance(files, bytes)
    listed = [files] if is_one else list(files) if is_several else []
    if not listed or not all(isinstance(file, str | os.PathLike) for file in listed):
        raise invalid(name, owner, "be the name of a file, or several of them", describe(files))
    return listed


def _targets(all_ids: list[TrialIds], looked: list[Looked], owner: str) -> tuple[SortedScores, int]:
    """Check what the first pass found; return the targets and the number of non-targets."""
    totals = [TrialCounts() for _ in all_ids]
    for part in looked:
        totals[part.pair] += part.counts
    for ids, counts in zip(all_ids, totals, strict=True):
        ids.refuse_nan(counts, owner)
    for ids, counts in zip(all_ids, totals, strict=True):
        ids.warn_missing(counts, is_key=True)
    n_tar = sum(counts.scored_tar for counts in totals)
    n_non = sum(counts.scored_non for counts in totals)
    for number, what in ((n_tar, "targets"), (n_non, "non-targets")):
        if number == 0:
            raise invalid("key_file", owner, f"hold {what} that have scores", "none")
    scores = np.concatenate([part.tar for part in looked])
    return SortedScores.from_scores(scores, name="tar", owner=owner), n_non


def _check_count(counted: Counted, n_non: int) -> None:
    """Refuse counts of another number of trials than there were in the first pass."""
    found = int(counted.at.sum() + counted.between.sum())
    if found != n_non:
        message = (
            f"a pass over the files found {found} non-targets, the first {n_non}: "
            "a file has changed meanwhile"
        )
        raise FileFormatError(message)
