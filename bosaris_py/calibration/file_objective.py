"""The objective of linear training on score files of any size.

The first pass keeps the target scores, which are few, and an evenly spaced sample of the
non-targets. These are read again for each evaluation, which keeps sums of loss, slopes and
curvatures only. Training starts from the optimum of the sample, so that two or three passes are
enough. Of one system a histogram is kept, whose optimum is so near that one is. Where the sample is
all there is, files are read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Self, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

import bosaris_py.numerics.linear_objective as objective
from bosaris_py._arrays import Float64Array, FloatArray, IndexArray
from bosaris_py.numerics.linear_objective import (
    LARGEST_SCORE,
    ClassMoments,
    ClassSums,
    LinearLoss,
    LinearObjective,
    TrainingObjective,
    class_moments,
)
from bosaris_py.numerics.scoring_rules import ScoringRule
from bosaris_py.numerics.threshold_grid import Cells
from bosaris_py.trials.blocks import TrialIds
from bosaris_py.trials.passes import (
    FilePasses,
    Pairs,
    ReadBlocks,
    Task,
    check_unchanged,
    reads_ahead,
)

# A scoring rule, the prior, and its log-odds.
RuleAtPrior: TypeAlias = tuple[ScoringRule, float, float]

# Non-targets in the sample, 32 MB for each system in double precision. Its optimum differs from
# that of all trials by less than a thousandth (1 / sqrt(_KEPT)), so that Newton's method, which
# doubles the number of right digits with each pass, needs two or three from there.
_KEPT = 2**22

# One in so many stays when there are too many. Not two: in a matrix of 2**k columns all
# that stay would lie in a few of them.
_THINNING = 3

# Scatters the numbers of blocks over all remainders (2**64 divided by the golden ratio).
_SCATTER = 0x9E3779B97F4A7C15


@attrs.frozen(eq=False)
class _Sample:
    """Trials at equal distances `step`, a power of `_THINNING`; all of them if that is 1."""

    step: int
    positions: npt.NDArray[np.int64]
    scores: FloatArray

    @classmethod
    def of(cls, scores: FloatArray, first: int, step: int, most: int) -> Self:
        """Take every step-th trial of a block whose first trial has the position `first`."""
        # Where these are more than `most`, the step is as large as `merge` would make it.
        while len(range(-first % step, scores.shape[1], step)) > most:
            step *= _THINNING
        start = -first % step
        positions = np.arange(first + start, first + scores.shape[1], step)
        return cls(step, positions, scores[:, start::step].copy())

    @classmethod
    def merge(cls, samples: Sequence[Self], most: int) -> Self:
        """Unite samples, with so large a step that no more than `most` trials are left."""
        # Steps are powers of one number: multiples of a larger step are in every sample.
        step = max(sample.step for sample in samples)
        while True:
            kept = [sample.positions % step == 0 for sample in samples]
            if sum(int(np.count_nonzero(chosen)) for chosen in kept) <= most:
                break
            step *= _THINNING
        chosen = list(zip(samples, kept, strict=True))
        return cls(
            step,
            np.concatenate([sample.positions[k] for sample, k in chosen]),
            np.concatenate([sample.scores[:, k] for sample, k in chosen], axis=1),
        )


# Bins for the scores of one system: their table stays in the fastest cache. Each end has room
# for this share of the first block's range.
_BINS, _ROOM = 2**13, 0.25

# With fewer at once threads would wait for each other; with more, for memory.
_BINNED_AT_ONCE = 2**18

# As in `linear_objective`, but for threads, which wait for each other between numpy's calls.
_WORK_SPACE = 2**18


@attrs.frozen(eq=False)
class _Histogram:
    """Centres of bins that hold scores; rows of number, sum, and variance times number."""

    # The variance is that of a uniform distribution inside a bin. Two halves of the scores on both
    # sides of their mean have it, too: a smooth sum over these is off by some 1e-4 of the fourth
    # power of a bin's width, in standard deviations.

    centres: Float64Array
    sums: Float64Array

    @classmethod
    def merge(cls, parts: Sequence[Self]) -> Self:
        """Unite histograms; widths are powers of two, so most centres are the same."""
        centres, at = np.unique(
            np.concatenate([part.centres for part in parts]), return_inverse=True
        )
        rows = np.concatenate([part.sums for part in parts], axis=1)
        return cls(centres, np.stack([np.bincount(at, row) for row in rows]))

    def points(self) -> tuple[Float64Array, Float64Array]:
        """Return scores that stand for all, and how many each stands for."""
        counts, sums, variances = self.sums
        # What is expected around the mean of so many.
        mean, offset = sums / counts, np.sqrt(variances * (counts - 1.0)) / counts
        return np.concatenate((mean - offset, mean + offset)), np.tile(0.5 * counts, 2)


class _Bins:
    """Counts and sums of scores in equal bins over the range of the first of them, and more."""

    def __init__(self, scores: FloatArray, low: float, high: float) -> None:
        room = _ROOM * (high - low)
        self._cells = Cells.between(low - room, high + room, _BINS, scores.dtype)
        self._sums = np.zeros((2, self._cells.n if self._cells else 0))

    def add(self, scores: FloatArray) -> None:
        """Add finite scores."""
        if self._cells is None:
            return
        for start in range(0, scores.size, _BINNED_AT_ONCE):
            part = scores[start : start + _BINNED_AT_ONCE]
            cells = self._cells.numbers(part, np.empty_like(part)).astype(np.intp)
            self._sums[0] += np.bincount(cells, minlength=self._cells.n)
            self._sums[1] += np.bincount(cells, part, minlength=self._cells.n)

    def histogram(self) -> _Histogram | None:
        """Return the histogram, or None if the range cannot be cut."""
        if self._cells is None:
            return None
        held = np.flatnonzero(self._sums[0])
        sums = np.empty((3, held.size))
        sums[:2] = self._sums[:, held]
        sums[2] = sums[0] * self._cells.width**2 / 12.0
        centres = np.float64(self._cells.low) + held * self._cells.width
        return _Histogram(centres.astype(np.float64), sums)


@attrs.frozen(eq=False)
class _ClassSummary:
    """Moments, number, a sample and a histogram of the non-targets of a task that has some."""

    moments: ClassMoments
    size: int
    sample: _Sample
    histogram: _Histogram | None


def _summarise(_: int, blocks: ReadBlocks, *, most: int) -> _ClassSummary | None:
    """Collect moments and a sample of about `most` non-targets; None if there are none."""
    moments, sizes = [], []
    samples: list[_Sample] = []
    bins: _Bins | None = None
    for rows, block in blocks:
        non = block.take_non()
        if not non.shape[1]:
            continue
        moments.append(class_moments(non))
        low, high = moments[-1].lowest[0], moments[-1].highest[0]
        if len(non) == 1 and max(-low, high) <= LARGEST_SCORE:
            bins = bins or _Bins(non, low, high)
            bins.add(non[0])
        sizes.append(non.shape[1])
        # Each block begins to count elsewhere, so that small blocks take turns. 24 bits are kept,
        # so that positions in a block do not overflow.
        first = (rows.start * _SCATTER) % 2**64 >> 40
        samples.append(_Sample.of(non, first, samples[0].step if samples else 1, most))
        # Not with each block, because all that is kept is copied.
        if sum(sample.positions.size for sample in samples) > 2 * most:
            samples = [_Sample.merge(samples, most)]
    if not samples:
        return None
    sample = _Sample.merge(samples, most)
    histogram = bins.histogram() if bins else None
    return _ClassSummary(objective.merge_moments(moments, sizes), sum(sizes), sample, histogram)


def _sum(shared: tuple[Pairs, LinearLoss], task: Task) -> ClassSums | None:
    """Sum a loss over the non-targets; None if there are none."""
    pairs, loss = shared
    parts = [loss.sum(non) for non in _non_targets(pairs, task)]
    return objective.merge_sums(parts) if parts else None


def _hardest(shared: tuple[Pairs, tuple[Float64Array, int]], task: Task) -> Float64Array:
    """Return the non-targets with the lowest weighted sums."""
    pairs, (weights, n_trials) = shared
    # The lowest of all are among the lowest of each block.
    found = np.empty((weights.size, 0))
    for non in _non_targets(pairs, task):
        best = objective.lowest(non, weights, n_trials)
        found = objective.lowest(np.concatenate((found, best), axis=1), weights, n_trials)
    return found


def _non_targets(pairs: Pairs, task: Task) -> Iterator[FloatArray]:
    """Yield the scores of the non-targets of each block that has some."""
    i, blocks = task
    for block in pairs[i].read(blocks, ahead=reads_ahead()):
        non = block.take_non()
        if non.shape[1]:
            yield non


def _count_faults(shared: tuple[Pairs, None], task: Task) -> IndexArray:
    """Count scores that cannot be trained on: by class, system, and kind."""
    (pairs, _), (i, blocks) = shared, task
    counts = np.zeros((2, len(pairs[i].scores), 2), dtype=np.int64)
    for block in pairs[i].read(blocks):
        for of_class, label in zip(counts, (1, -1), strict=True):
            magnitudes = np.abs(block.scores_of(label))
            infinite = np.isinf(magnitudes)
            of_class[:, 0] += np.count_nonzero(infinite, axis=1)
            of_class[:, 1] += np.count_nonzero(~infinite & (magnitudes > LARGEST_SCORE), axis=1)
    return counts


@attrs.frozen(eq=False, kw_only=True)
class FileObjective(LinearObjective):
    """The objective of a linear calibration or fusion of scores in files; see `from_passes`."""

    # `some_non` are all non-targets, or evenly spaced ones of `n_non`; `class_moments` are those of
    # targets and of non-targets; `points` stand for all non-targets of one system, with counts.

    passes: FilePasses
    tar: FloatArray
    some_non: FloatArray
    n_non: int
    class_moments: tuple[ClassMoments, ClassMoments]
    points: tuple[Float64Array, Float64Array] | None = None

    @classmethod
    def from_passes(
        cls, passes: FilePasses, ids: Sequence[TrialIds], rule: RuleAtPrior, *, needs_all: bool
    ) -> Self:
        """Look at all scores of one pair of files once; refuse missing ones if all are needed."""
        tasks = passes.tasks()
        summarise = partial(_summarise, most=max(1, _KEPT // max(1, len(tasks))))
        found = passes.first(summarise, ids, "training scores", tasks, needs_all=needs_all)
        tar = np.concatenate([part.tar for part in found], axis=1)
        non = [part.kept for part in found if part.kept is not None]
        sizes = [part.size for part in non]
        moments = objective.merge_moments([part.moments for part in non], sizes)
        parts = [part.histogram for part in non if part.histogram is not None]
        return cls(
            rule=rule[0],
            prior=rule[1],
            plo=rule[2],
            centre=np.zeros(len(tar)),
            spread=np.ones(len(tar)),
            passes=passes,
            tar=tar,
            some_non=_Sample.merge([part.sample for part in non], max(_KEPT, len(non))).scores,
            n_non=sum(sizes),
            class_moments=(class_moments(tar), moments),
            points=_Histogram.merge(parts).points() if len(parts) == len(non) else None,
        )

    @property
    def n_tar(self) -> int:
        """Number of target trials."""
        return int(self.tar.shape[1])

    @property
    def _is_in_memory(self) -> bool:
        return bool(self.some_non.shape[1] == self.n_non)

    def moments(self) -> tuple[ClassMoments, ClassMoments]:
        """Return the moments of targets and of non-targets, of the scores as they are."""
        return self.class_moments

    def loss(self, coefficients: Float64Array) -> LinearLoss:
        """Return the loss of trials, summed in longer blocks than in memory."""
        return attrs.evolve(super().loss(coefficients), work_space=_WORK_SPACE)

    def refuse_non_finite(self) -> None:
        """Raise with counts, for each file, of what cannot be trained on; one more pass."""
        counts = np.sum(self.passes.run(_count_faults, None, "scores that are not finite"), axis=0)
        (source,) = self.passes.pairs
        totals = {"targets": self.n_tar, "non-targets": self.n_non}
        complaints = [
            f"{count} of {total} scores of {noun} in {file.path} are {what}"
            for (noun, total), of_class in zip(totals.items(), counts, strict=True)
            for file, of_file in zip(source.scores, of_class, strict=True)
            for what, count in zip(("infinite", f"beyond {LARGEST_SCORE:g}"), of_file, strict=True)
            if count
        ]
        objective.raise_complaints(complaints)

    def thinned(self, n_trials: int) -> TrainingObjective:
        """Return the objective on about `n_trials` evenly spaced trials of each class."""
        return self._beside(self.some_non, None).thinned(n_trials)

    def condensed(self) -> TrainingObjective | None:
        """Return the objective on points that stand for the trials, nearly the same; or None."""
        if self.points is None or self._is_in_memory:
            return None
        return self._beside(self.points[0][np.newaxis], self.points[1])

    def _beside(self, non: FloatArray, weights: Float64Array | None) -> TrainingObjective:
        """Return the objective on all targets and other non-targets."""
        common = {field.name: getattr(self, field.name) for field in attrs.fields(LinearObjective)}
        return TrainingObjective(
            **common, tar=self.tar, non=non, tar_weights=None, non_weights=weights
        )

    def hardest(self, weights: Float64Array, n_trials: int) -> tuple[Float64Array, Float64Array]:
        """Return the trials that fused scores with given weights get most wrong."""
        raw = weights / self.spread
        non = self.some_non
        if not self._is_in_memory:
            found = self.passes.run(_hardest, (-raw, n_trials), "trials that are hardest")
            non = np.concatenate(found, axis=1)
        return objective.lowest(self.tar, raw, n_trials), objective.lowest(non, -raw, n_trials)

    def a_trial(self) -> Float64Array:
        """Return the scores of the first target as they are."""
        return np.asarray(self.tar[:, :1], dtype=np.float64)

    def _sums(self, coefficients: Float64Array) -> tuple[ClassSums, ClassSums]:
        loss = self.loss(coefficients)
        tar = self.loss(-coefficients).sum(self.tar)
        if self._is_in_memory:
            return tar, loss.sum(self.some_non)
        parts = self.passes.run(_sum, loss, f"objective ({self.rule.name})")
        non = objective.merge_sums([part for part in parts if part is not None])
        check_unchanged(non.total, self.n_non)
        return tar, non
