"""A sample in files larger than memory: all target scores, and counts of the non-targets."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from bosaris_py._arrays import Float64Array, FloatArray, IntArray, by_constructor, mark_read_only
from bosaris_py.errors import FileFormatError
from bosaris_py.numerics.hull import ROCCH
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.roc import ROC, both_sides, count_below, distinct, with_ends
from bosaris_py.numerics.scoring import mean_bits, mean_of_nats, sums_of_nats
from bosaris_py.trials.large import Block, TrialFiles, evenly
from bosaris_py.trials.sample import Grid, Sample, ScoredClass, Times

# Of so many non-targets a sample shows whether they look like log-likelihood-ratios.
_LOOKED_AT = 2**12

# Log-odds of the horizontal axis of a Bayes plot: counted at once, they save it a pass.
_PLO = np.linspace(-10.0, 0.0, 1001)


def _some(scores: FloatArray, step: int) -> FloatArray:
    """Return a few non-targets, with the lowest and the highest."""
    ends = np.array([scores.min(), scores.max()], scores.dtype)
    return np.concatenate((evenly(scores, step)[0], ends))


@attrs.frozen(eq=False, repr=False)
class _CountedClass(ScoredClass):
    """A class of which some scores are kept, the lowest and the highest among them."""

    __reduce__ = by_constructor

    @property
    def size(self) -> int:
        """Number of trials."""
        return self.n_trials


@attrs.frozen(eq=False, repr=False)
class LargeSample(Sample):
    """The scored trials of one system in files of any size; made by `from_files`.

    Parameters
    ----------
    tar, non : object
        The target scores; of the non-targets their number, and some.
    kinds, speaker_ids : None
        Not known of files.
    files : TrialFiles
        What reads the files again.
    limits : (k,) ndarray of float64
        Where non-targets were counted, ascending.
    below : (k,) ndarray of int
        Non-targets below each of them.
    fa_bits : float
        Mean of log2(1 + exp(score)) of the non-targets.
    notes : tuple of Note
        What is missing from the files.
    """

    files: TrialFiles = attrs.field(kw_only=True)
    limits: Float64Array = attrs.field(kw_only=True)
    below: IntArray = attrs.field(kw_only=True)
    fa_bits: float = attrs.field(kw_only=True)
    in_files: ClassVar[bool] = True

    __reduce__ = by_constructor

    @classmethod
    def from_files(cls, files: TrialFiles, prior: PriorLike | None = None) -> LargeSample:
        """Pass over files twice: for the targets, and to count non-targets.

        Parameters
        ----------
        files : TrialFiles
            Opened keys with a score file beside each.
        prior : float, (k,) array_like of float, OperatingPoint or sequence of them, optional
            Operating points at whose Bayes thresholds non-targets are counted, too.

        Returns
        -------
        LargeSample

        Raises
        ------
        FileFormatError
            If a file is damaged, or changes while it is read.
        InvalidInputError
            If a class has no scores, or a score is NaN.
        """
        keep = functools.partial(_some, step=files.step(_LOOKED_AT))
        tar, n_non, some, notes = files.first_pass(keep, "target scores", all_scored=False)
        ordered = mark_read_only(np.sort(tar[0]))
        wanted = [both_sides(distinct(ordered)), DecisionCosts.from_plo(_PLO).thresholds]
        if prior is not None:
            wanted.append(np.ravel(DecisionCosts.from_prior(prior).thresholds))
        limits = mark_read_only(np.unique(np.concatenate(wanted)))
        below, nats = _count_all(files, limits, n_non)
        non = _CountedClass(np.concatenate(some), n_trials=n_non)
        return cls(
            ScoredClass(ordered),
            non,
            # The executor may have ended when rates are asked for later.
            files=attrs.evolve(files, executor=None),
            limits=limits,
            below=below,
            fa_bits=mean_of_nats(nats, n_non),
            notes=tuple(notes),
        )

    def roc(self, times: Times = None) -> ROC:
        """Return the steppy ROC.

        Parameters
        ----------
        times : None
            Trials of files count once.

        Returns
        -------
        ROC
        """
        thresholds = with_ends(both_sides(distinct(self.tar.scores)))
        misses = count_below(self.tar.scores, thresholds)
        inner = self.below[np.searchsorted(self.limits, thresholds[1:-1])]
        # The first accepts all, and the last rejects scores of inf, too.
        below = np.concatenate(([0], inner, [self.non.size]))
        misses[-1] = self.tar.size
        return ROC(*map(mark_read_only, (thresholds, misses, self.non.size - below)))

    @functools.cached_property
    def hull(self) -> ROCCH:
        """The convex hull of the ROC."""
        return self.roc().convex_hull()

    def rates_at_all(
        self, times: Times = None, grid: Grid = "hull"
    ) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at the thresholds that matter, as rows of one.

        Parameters
        ----------
        times : None
            Trials of files count once.
        grid : {"hull", "ties", "all"}, default: "hull"
            Each non-target between two target scores is a step of "all".

        Returns
        -------
        pmiss, pfa : (1, k) ndarray of float64
        """
        roc = self.roc()
        misses, alarms = roc.misses, roc.false_alarms
        if grid == "all":
            # Of a run of non-targets the two steps that are nearest to the diagonal.
            ends = np.append(np.where(np.diff(misses) == 0, alarms[1:], alarms[:-1]), alarms[-1])
            near = misses * self.non.size // self.tar.size
            steps = [np.clip(near + one, ends, alarms) for one in (1, 0)]
            misses, alarms = np.repeat(misses, 3), np.stack((alarms, *steps), axis=1).ravel()
        return (misses / self.tar.size)[None], (alarms / self.non.size)[None]

    @property
    def bits(self) -> tuple[float, float]:
        """Mean cost of the scores of both classes as log-likelihood-ratios, in bits."""
        return mean_bits(self.tar.scores, -1.0), self.fa_bits

    def rates(
        self, thresholds: npt.ArrayLike, times: Times = None
    ) -> tuple[Float64Array, Float64Array]:
        """Return both error-rates at given thresholds; read the files again for other ones.

        Parameters
        ----------
        thresholds : array_like of float
            Accept iff score >= threshold; any shape and order, no NaN.
        times : None
            Trials of files count once.

        Returns
        -------
        pmiss, pfa : ndarray of float64, shaped like ``thresholds``
        """
        limits = np.asarray(thresholds, np.float64)
        asked, positions = np.unique(limits, return_inverse=True)
        counted, below = self.limits, self.below
        if not np.isin(asked, [-np.inf, *counted]).all():
            counted, (below, _) = asked, _count_all(self.files, asked, self.non.size)
        # Nothing lies below -inf, which is not among the thresholds of targets.
        places = np.minimum(np.searchsorted(counted, asked), counted.size - 1)
        rejected = np.where(asked == -np.inf, 0, below[places])[positions].reshape(limits.shape)
        misses = count_below(self.tar.scores, asked)[positions].reshape(limits.shape)
        return misses / self.tar.size, (self.non.size - rejected) / self.non.size


def _count_all(
    files: TrialFiles, thresholds: Float64Array, n_non: int
) -> tuple[IntArray, list[float]]:
    """Count all non-targets below thresholds, and return the costs of each block."""
    below, counted, nats = np.zeros(thresholds.size, np.int64), 0, []
    passed = files.pass_over(_count_blocks, thresholds, label="non-target scores")
    for _, (part, n, costs) in passed:
        below += part
        counted += n
        nats += costs
    if counted != n_non:
        found = f"a pass found {counted} non-targets, the first {n_non}"
        raise FileFormatError(f"{found}: a file has changed meanwhile")
    return below, nats


def _count_blocks(
    blocks: Iterable[Block], thresholds: Float64Array
) -> tuple[IntArray, int, list[float]]:
    below, counted, nats = np.zeros(thresholds.size, np.int64), 0, []
    for block in blocks:
        scores = np.sort(block.scores_with(-1)[0])
        below += count_below(scores, thresholds)
        counted += scores.size
        nats += sums_of_nats(scores, sign=1.0)
    return below, counted, nats
