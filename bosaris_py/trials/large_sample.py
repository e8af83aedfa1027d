"""A sample in files larger than memory: all target scores, and counts of the non-targets."""

import functools
import math
from typing import ClassVar

import attrs
import numpy as np

from bosaris_py._arrays import ArrayLike, FloatArray, IntArray, mark_read_only
from bosaris_py.numerics import scoring
from bosaris_py.numerics.priors import DecisionCosts, PriorLike
from bosaris_py.numerics.roc import both_sides, count_among, count_below, distinct
from bosaris_py.trials.large import TrialFiles, evenly
from bosaris_py.trials.sample import Grid, Sample, ScoredClass, Times

# Of so many non-targets a sample shows whether they look like log-likelihood-ratios.
_LOOKED_AT = 2**12

# Log-odds of the horizontal axis of a Bayes plot: counted at once, they save it a pass.
_PLO = np.linspace(-10.0, 0.0, 1001)


@attrs.frozen(eq=False, repr=False)
class _CountedClass(ScoredClass):
    """A class of which some scores are kept, the lowest and the highest among them."""

    count: int = attrs.field(kw_only=True)

    @property
    def size(self) -> int:
        """Number of trials."""
        return self.count


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

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bosaris_py as bp
    >>> test, folder = bp.load_example("asvspoof2019_la").eval, Path(tempfile.mkdtemp())
    >>> test.scores["xvector"].save(folder / "scores.h5")
    >>> test.key.save(folder / "key.h5")
    >>> results = bp.Results.from_files(folder / "scores.h5", folder / "key.h5")
    >>> print(f"{results.eer:.4f}")
    0.0243
    """

    files: TrialFiles = attrs.field(kw_only=True)
    limits: FloatArray = attrs.field(kw_only=True)
    below: IntArray = attrs.field(kw_only=True)
    fa_bits: float = attrs.field(kw_only=True)
    in_files: ClassVar[bool] = True

    @classmethod
    def from_files(cls, files: TrialFiles, prior: PriorLike | None = None) -> "LargeSample":
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
        below, nats = _count_all(files, limits)
        non = _CountedClass(np.concatenate(some), count=n_non)
        return cls(
            ScoredClass(ordered),
            non,
            # The executor may have ended when rates are asked for later.
            files=attrs.evolve(files, executor=None),
            limits=limits,
            below=below,
            fa_bits=nats / math.log(2.0) / n_non,
            notes=tuple(notes),
        )

    @property
    def _at_targets(self) -> bool:
        return True

    def _count(self, thresholds: FloatArray) -> tuple[IntArray, IntArray]:
        """Return the numbers of trials below thresholds, which are among the limits."""
        misses = count_below(self.tar.scores, thresholds)
        misses[-1] = self.tar.size
        inner = self.below[np.searchsorted(self.limits, thresholds[1:-1])]
        # The first accepts all, and the last rejects scores of inf, too.
        return misses, np.concatenate(([0], inner, [self.non.size]))

    def rates_at_all(
        self, times: Times = None, grid: Grid = "hull"
    ) -> tuple[FloatArray, FloatArray]:
        """Return both error-rates at the thresholds that matter, as rows of one.

        Parameters
        ----------
        times : None
            Trials of files count once.
        grid : {"hull", "ties", "all"}, default: "hull"
            Of "all" only those where the curve crosses the diagonal, which takes another pass.

        Returns
        -------
        pmiss, pfa : (1, k) ndarray of float64
        """
        if grid != "all":
            return super().rates_at_all(times, grid)
        roc = self.roc()
        misses, alarms = roc.misses, roc.false_alarms
        # The first point past the diagonal; before it, between two target scores, are more.
        past = int(np.argmax(misses * self.non.size >= alarms * self.tar.size))
        low, high = roc.thresholds[past - 1 : past + 1].tolist()
        between = functools.partial(_between, low=low, high=high, is_last=past == misses.size - 1)
        found = np.concatenate(self.files.sum(between, "steps of the curve"))
        steps, n_at = np.unique(found, return_counts=True)
        more = alarms[past] + np.cumsum(n_at[::-1])[::-1]
        misses = np.insert(misses, past, np.full(steps.size, misses[past - 1]))
        alarms = np.insert(alarms, past, more)
        return (misses / self.tar.size)[None], (alarms / self.non.size)[None]

    @property
    def bits(self) -> tuple[float, float]:
        """Mean cost of the scores of both classes as log-likelihood-ratios, in bits."""
        return scoring.mean_bits(self.tar.scores, -1.0), self.fa_bits

    def rates(self, thresholds: ArrayLike, times: Times = None) -> tuple[FloatArray, FloatArray]:
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
        counted, below = self.limits, self.below
        if not np.isin(limits, np.append(counted, -np.inf)).all():
            counted = np.unique(limits)
            below, _ = _count_all(self.files, counted)
        # Nothing lies below -inf, which is not among the thresholds of targets.
        places = np.minimum(np.searchsorted(counted, limits), counted.size - 1)
        rejected = np.where(limits == -np.inf, 0, below[places])
        misses = count_below(self.tar.scores, limits)
        return misses / self.tar.size, (self.non.size - rejected) / self.non.size


def _some(scores: FloatArray, step: int) -> FloatArray:
    """Return a few non-targets, with the lowest and the highest."""
    ends = np.array([scores.min(), scores.max()], scores.dtype)
    return np.concatenate((evenly(scores, step)[0], ends))


def _between(scores: FloatArray, low: float, high: float, *, is_last: bool) -> list[FloatArray]:
    """Return the scores from one threshold to below the next, which may be the last."""
    return [scores[(scores >= low) & ((scores < high) | is_last)]]


def _count_all(files: TrialFiles, thresholds: FloatArray) -> tuple[IntArray, float]:
    """Count all non-targets below thresholds, and sum their costs."""
    total = files.sum(functools.partial(_count, thresholds), "non-targets")
    return total[:-1].astype(np.int64), float(total[-1])


def _count(thresholds: FloatArray, scores: FloatArray) -> FloatArray:
    """Count scores below thresholds, and sum their costs; floats hold all counts."""
    (own,) = scores
    return np.append(count_among(own, thresholds), scoring.sum_of_nats(own, sign=1.0))
